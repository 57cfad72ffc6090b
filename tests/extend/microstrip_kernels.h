/* microstrip_kernels.h: the formulas, once for the CPU and the GPU. 8 bytes read and 8 to 16 written per width, and
 * some 200 operations, of which the logarithms and exponentials are the most. */
#ifndef EC_MICROSTRIP_KERNELS_H
#define EC_MICROSTRIP_KERNELS_H

#include "core/detmath.h"
#include "core/kernel.h"
#include "core/status.h"

/* Rows of an array: element e of lane c in sample s is at data[s * sample_stride + e * ld + c * lane]; lane is 0
 * where a value has no lanes, sample_stride where it has no samples. */
typedef struct ec_microstrip_rows {
    double *data; /* NULL: nobody wants it */
    size_t ld, lane, sample_stride;
} ec_microstrip_rows;

typedef struct ec_microstrip_args {
    ec_microstrip_rows width, ohms, eps_eff;
    size_t n, elements, samples;
    double height, eps_r;
    double power;        /* b(eps_r), equation 5 */
    uint8_t *status;     /* a byte a lane */
    const int32_t *stop; /* may be NULL */
} ec_microstrip_args;

/* x^p of x above 0 */
EC_FN double ec_microstrip_power(double x, double p)
{
    return ec_det_exp(p * ec_det_log(x));
}

/* Impedance of a strip in air, ohm; u: width over height (equations 1 and 2). */
EC_FN double ec_microstrip_air(double u)
{
    const double turn = 6.283185307179586, free_space = 376.730313668;
    double f = 6 + (turn - 6) * ec_det_exp(-ec_microstrip_power(30.666 / u, 0.7528));

    return free_space / turn * ec_det_log(f / u + ec_det_sqrt(1 + 4 / (u * u)));
}

/* Equations 3 and 4. */
EC_FN double ec_microstrip_filling(double u, double eps_r, double power)
{
    double u4 = u * u * u * u, v = u / 52, w = u / 18.1;
    double a = 1 + ec_det_log((u4 + v * v) / (u4 + 0.432)) / 49 + ec_det_log(1 + w * w * w) / 18.7;

    return (eps_r + 1) / 2 + (eps_r - 1) / 2 * ec_microstrip_power(1 + 10 / u, -a * power);
}

/* A task is a strip of lanes with all of its elements and samples, so that no other writes its status. */
EC_FN void ec_microstrip_body(const ec_microstrip_args *a, size_t lane0, size_t y)
{
    int lanes = a->n - lane0 < EC_LANES ? (int)(a->n - lane0) : EC_LANES;

    (void)y;
    if (a->stop && *a->stop)
        return;
    for (size_t s = 0; s < a->samples; s++)
        for (size_t e = 0; e < a->elements; e++)
            for (int l = 0; l < lanes; l++) {
                size_t c = lane0 + (size_t)l;
                double u =
                    a->width
                        .data[s * a->width.sample_stride + e * a->width.ld + c * a->width.lane] /
                    a->height;
                bool good = u >= 0.01 && u <= 100; /* false of NaN */
                double filling = ec_microstrip_filling(u, a->eps_r, a->power);
                double ohms = ec_microstrip_air(u) / ec_det_sqrt(filling);
                if (a->ohms.data)
                    a->ohms.data[s * a->ohms.sample_stride + e * a->ohms.ld + c] =
                        good ? ohms : NAN;
                if (a->eps_eff.data)
                    a->eps_eff.data[s * a->eps_eff.sample_stride + e * a->eps_eff.ld + c] =
                        good ? filling : NAN;
                if (!good)
                    a->status[c] |= EC_CANDIDATE_EVALUATOR;
            }
}

#endif
