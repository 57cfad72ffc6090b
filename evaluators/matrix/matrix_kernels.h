/* matrix_kernels.h: water-filling over given singular values, C17 and CUDA.
 *
 * With gains g_k = s_k^2 (scaled), largest first, the k best channels share a level mu = (SNR + sum 1 /
 * g_i) / k; channel k belongs to them while mu g_k > 1, and C = sum log2(mu g_i), p_i = mu - 1 / g_i.
 * dC/dg_i = p_i / (mu g_i ln 2) and dC/dSNR = 1 / (mu ln 2): the shares do not change C in first order.
 */
#ifndef EC_MATRIX_KERNELS_H
#define EC_MATRIX_KERNELS_H

#include "core/small_matrix_kernels.h"

typedef struct ec_water_args {
    ec_small_matrix_work work;     /* matrix: the singular values, rows = their number, cols = 1 */
    double square;                 /* ||H||_F^2 to scale to; 0: as they are */
    ec_small_matrix_batch adjoint; /* of the singular values; data NULL: values are asked for */
} ec_water_args;

EC_FN double ec_water_value(const ec_small_matrix_work *w, size_t lane, size_t y, int32_t k)
{
    double value, none;
    ec_small_matrix_read(&w->matrix, w, lane, y, k, 1, &value, &none);
    return value;
}

EC_FN void ec_water_lane(const ec_water_args *a, size_t lane, size_t y)
{
    const ec_small_matrix_work *w = &a->work;
    const double ln2 = 0.69314718055994530942;
    int32_t n = w->rows, used = 0;
    double snr, none, sum = 0.0, inverse = 0.0, level = 0.0, bits = 0.0;

    ec_small_matrix_read(&w->snr, w, lane, y, -1, 1, &snr, &none);
    for (int32_t k = 0; k < n; k++) {
        double s = ec_water_value(w, lane, y, k);
        sum += s * s;
    }
    double scale = a->square > 0.0 ? a->square / sum : 1.0;
    bool bad = !(sum >= 0.0 && sum <= 1.7976931348623157e308 && scale <= 1.7976931348623157e308 &&
                 snr >= 0.0 && snr <= 1.7976931348623157e308);
    for (int32_t k = 0; k < n && !bad; k++) {
        double s = ec_water_value(w, lane, y, k), g = s * s * scale;
        double next = (snr + inverse + 1.0 / g) / (k + 1);
        if (!(g > 0.0 && next * g > 1.0 && next <= 1.7976931348623157e308))
            break;
        inverse += 1.0 / g;
        level = next;
        used = k + 1;
    }
    double share = 0.0; /* sum of dC/dg_i g_i */
    for (int32_t k = 0; k < used; k++) {
        double s = ec_water_value(w, lane, y, k), g = s * s * scale;
        bits += ec_det_log2(level * g);
        share += (level - 1.0 / g) / (level * ln2);
    }
    if (w->result.data) {
        bits = bad ? (double)NAN : bits;
        ec_small_matrix_write(&w->result, w, lane, y, 1, 0, 1, &bits);
        ec_small_matrix_blame(w, lane, 1, &bad);
        return;
    }
    double seed;
    ec_small_matrix_read(&w->seed, w, lane, y, -1, 1, &seed, &none);
    for (int32_t k = 0; a->adjoint.data && k < n; k++) {
        double s = ec_water_value(w, lane, y, k), g = s * s * scale;
        double slope = k < used ? (level - 1.0 / g) / (level * g * ln2) * scale : 0.0;
        slope = a->square > 0.0 ? slope - share / sum : slope;
        slope = bad ? (double)NAN : 2.0 * s * slope * seed;
        ec_small_matrix_write(&a->adjoint, w, lane, y, n, k, 1, &slope);
    }
    if (w->snr_adjoint.data) {
        double slope = bad ? (double)NAN : used > 0 ? seed / (level * ln2) : 0.0;
        /* no power: the best channel gets the first of it */
        if (!bad && used == 0) {
            double s = ec_water_value(w, lane, y, 0);
            slope = seed * s * s * scale / ln2;
        }
        ec_small_matrix_write(&w->snr_adjoint, w, lane, y, 1, 0, 1, &slope);
    }
}

EC_FN void ec_water_body(const ec_water_args *a, size_t lane0, size_t y)
{
    if (a->work.stop && *a->work.stop)
        return;
    for (size_t c = lane0; c < lane0 + EC_LANES && c < a->work.lanes; c++)
        ec_water_lane(a, c, y);
}

#endif
