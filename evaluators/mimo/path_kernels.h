/* path_kernels.h: channels of many pairs of antennas, a lane a pair.
 *
 * A pair's sequences are cut into slices, one a task, so that few pairs with many sequences keep
 * a GPU busy; slices depend on the number of sequences alone and are added in their order. A
 * sequence takes some hundred operations where it has no path, which most have not; a path a ray
 * through the hierarchy for each segment and the field arithmetic for each frequency. */
#ifndef EC_PATH_KERNELS_H
#define EC_PATH_KERNELS_H

#include "../../core/kernel.h"
#include "path_antennas.h"
#include "path_field.h"
#include "path_lanes.h"
#include "path_moments.h"
#include "path_trace.h"

/* Rows of results: real and imaginary part for each frequency, then these. */
enum { EC_PATH_ROW_PATHS, EC_PATH_ROW_GRAZING, EC_PATH_ROW_UNRESOLVED, EC_PATH_ROWS };

/* Sums of slices have each real or imaginary part in so many rows: multiples of 2^-40, of 2^-80 and of
 * 2^-120, whose sums are exact while they are below 2^13. So a channel is the same bits however its
 * paths are cut into slices, and whatever sequences without a path are among them (fixed bins, after
 * Demmel and Nguyen, "Parallel reproducible summation", IEEE Trans. Comput. 64, 2015). */
enum { EC_PATH_BINS = 3 };

EC_FN void ec_path_add_binned(double x, double *row, size_t ld)
{
    const double pull[EC_PATH_BINS] = {0x1.8p12, 0x1.8p-28, 0x1.8p-68};

    for (size_t k = 0; k < EC_PATH_BINS; k++) {
        double part = (x + pull[k]) - pull[k];
        row[k * ld] += part;
        x -= part;
    }
}

typedef struct ec_path_batch {
    ec_path_view view;
    size_t n_sequences;
    const size_t *first; /* [n_sequences + 1] */
    const uint32_t *step;
    int32_t n_frequencies;
    ec_path_lanes lanes;
    double longest; /* wavelength */
    ec_path_antennas tx, rx;
    size_t n, ld, slices;
    const double *tx_at, *rx_at; /* [3][ld] m */
    uint32_t moments;            /* which are wanted (path_moments.h) */
    double size;                 /* of the scene, m: their unit of length */
    double *part;                /* [slices][ec_path_part_rows][ld] */
    double *sum;                 /* [2 n_frequencies + EC_PATH_ROWS][ld], then the moments,
                                    [n_frequencies][their number][ld] */
    const int32_t *stop;         /* on the backend: not 0: nothing is traced any more; or NULL */
} ec_path_batch;

/* Rows of a slice before its moments; of the moments of a frequency: sums in bins, the peak in one;
 * and all. */
EC_FN size_t ec_path_channel_rows(const ec_path_batch *b)
{
    return 2 * EC_PATH_BINS * (size_t)b->n_frequencies + EC_PATH_ROWS;
}

EC_FN size_t ec_path_moment_rows(uint32_t moments)
{
    size_t peak = moments >> EC_MOMENT_PEAK & 1;
    return EC_PATH_BINS * (ec_moments_count(moments) - peak) + peak;
}

EC_FN size_t ec_path_part_rows(const ec_path_batch *b)
{
    return ec_path_channel_rows(b) + (size_t)b->n_frequencies * ec_path_moment_rows(b->moments);
}

/* Adds a path of power p to the moments of a frequency. */
EC_FN void ec_path_add_moments(const ec_path_batch *b, const double weight[EC_MOMENT_SIZE],
                               double p, bool grazes, double *row)
{
    double size = sqrt(p);

    for (int m = 0; m < EC_MOMENT_SUMS; m++) {
        if (!(b->moments >> m & 1))
            continue;
        double part = m < EC_MOMENT_SIZE ? p * weight[m] : m == EC_MOMENT_SIZE || grazes ? size : 0;
        ec_path_add_binned(part, row, b->ld);
        row += EC_PATH_BINS * b->ld;
    }
    if (b->moments >> EC_MOMENT_PEAK & 1)
        *row = p > *row ? p : *row;
}

/* Adds a path to the rows of its pair. */
EC_FN void ec_path_add(const ec_path_batch *b, bool moments, size_t lane, const ec_path_course *c,
                       const double tx[3], const double rx[3], double *row)
{
    ec_ray_event event[EC_PATH_DEPTH_MAX];
    double *count = row + 2 * EC_PATH_BINS * (size_t)b->n_frequencies * b->ld;
    const ec_antenna *leaves = ec_path_antenna(&b->tx, lane),
                     *meets = ec_path_antenna(&b->rx, lane);
    double weight[EC_MOMENT_SIZE];

    if (moments)
        ec_moment_weights((c->length - ec_path_distance(tx, rx)) / b->size, c->direction[0],
                          c->direction[c->depth], weight);

    for (int32_t f = 0; f < b->n_frequencies; f++) {
        size_t table = ec_path_lane_table(&b->lanes, (size_t)f, lane);
        ec_path_events(&b->view.scene, b->lanes.face + table * (size_t)b->view.scene.n_materials,
                       c->depth, c->step, c->point, c->direction, &c->place, 1e-9 * c->length,
                       b->view.tolerance, event);
        ec_c128 h =
            ec_ray_channel(leaves, tx, event, c->depth, meets, rx, b->lanes.wavelength[table]);
        double *bins = row + 2 * EC_PATH_BINS * (size_t)f * b->ld;
        ec_path_add_binned(h.re, bins, b->ld);
        ec_path_add_binned(h.im, bins + EC_PATH_BINS * b->ld, b->ld);
        if (moments) {
            size_t before = ec_path_channel_rows(b) + (size_t)f * ec_path_moment_rows(b->moments);
            bool grazes = 2 * EC_PI * c->smooth < b->lanes.wavelength[table];
            ec_path_add_moments(b, weight, h.re * h.re + h.im * h.im, grazes, row + before * b->ld);
        }
    }
    count[EC_PATH_ROW_PATHS * b->ld] += 1;
    count[EC_PATH_ROW_GRAZING * b->ld] += 2 * EC_PI * c->smooth < b->longest ? 1 : 0;
}

/* moments: constant where this is used, so that kernels without them have nothing of them. */
EC_FN void ec_path_pair(const ec_path_batch *b, bool moments, size_t c, size_t y)
{
    size_t bins = 2 * EC_PATH_BINS * (size_t)b->n_frequencies, rows = ec_path_part_rows(b);
    double *row = b->part + y * rows * b->ld + c;
    double tx[3], rx[3], unresolved = 0;
    int shift = b->lanes.shift;
    uint32_t seen = 0;

    if (b->stop && *b->stop)
        return;
    for (size_t k = 0; k < rows; k++)
        row[k * b->ld] = 0;
    for (size_t k = 0; k < 3; k++) {
        tx[k] = b->tx_at[k * b->ld + c];
        rx[k] = b->rx_at[k * b->ld + c];
    }
    size_t begin = b->n_sequences * y / b->slices, end = b->n_sequences * (y + 1) / b->slices;
    for (size_t i = begin; i < end; i++) {
        size_t bit = i >> shift;
        if (i == begin || i == bit >> 5 << 5 << shift)
            seen = ec_path_lane_word(&b->lanes, c, bit >> 5);
        if (seen == 0)
            i = (((bit >> 5) + 1) << 5 << shift) - 1;
        if (!(seen >> (bit & 31) & 1))
            continue;
        const uint32_t *step = b->step + b->first[i];
        int32_t depth = (int32_t)(b->first[i + 1] - b->first[i]);
        int sides = ec_path_sides(&b->view.scene, depth, step);
        bool lost = sides == 0;
        for (int32_t branch = sides & 1 ? -1 : 0; branch < (sides & 2 ? EC_PATH_BRANCHES_MAX : 0);
             branch++) {
            ec_path_course course;
            int found = ec_path_follow(&b->view, depth, step, tx, rx, branch, &course);
            lost = lost || found == EC_PATH_UNRESOLVED;
            if (found == EC_PATH_FOUND && branch >= 0)
                ec_path_see_focus(&b->view.scene, tx, rx, &course);
            if (found == EC_PATH_FOUND)
                ec_path_add(b, moments, c, &course, tx, rx, row);
        }
        unresolved += lost ? 1 : 0;
    }
    row[(bins + EC_PATH_ROW_UNRESOLVED) * b->ld] = unresolved;
}

EC_FN void ec_path_pairs_body(const ec_path_batch *b, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++)
        if (lane0 + (size_t)l < b->n)
            ec_path_pair(b, false, lane0 + (size_t)l, y);
}

EC_FN void ec_path_pairs_moments_body(const ec_path_batch *b, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++)
        if (lane0 + (size_t)l < b->n)
            ec_path_pair(b, true, lane0 + (size_t)l, y);
}

EC_FN double ec_path_sum_row(const ec_path_batch *b, size_t row, size_t c)
{
    size_t rows = ec_path_part_rows(b);
    double sum = 0;

    for (size_t k = 0; k < b->slices; k++)
        sum += b->part[(k * rows + row) * b->ld + c];
    return sum;
}

/* One row of results, of all slices. */
EC_FN void ec_path_sum_body(const ec_path_batch *b, size_t lane0, size_t y)
{
    size_t parts = 2 * (size_t)b->n_frequencies;

    for (size_t c = lane0; c < lane0 + EC_LANES && c < b->n; c++) {
        double sum = 0;
        if (y >= parts)
            sum = ec_path_sum_row(b, y - parts + parts * EC_PATH_BINS, c);
        for (size_t k = EC_PATH_BINS; y < parts && k-- > 0;)
            sum += ec_path_sum_row(b, y * EC_PATH_BINS + k, c);
        b->sum[y * b->ld + c] = sum;
    }
}

EC_FN double ec_path_peak_row(const ec_path_batch *b, size_t row, size_t c)
{
    double peak = 0;

    for (size_t k = 0; k < b->slices; k++) {
        double p = b->part[(k * ec_path_part_rows(b) + row) * b->ld + c];
        peak = p > peak ? p : peak;
    }
    return peak;
}

/* y: a moment of a frequency, of all slices. */
EC_FN void ec_path_sum_moments_body(const ec_path_batch *b, size_t lane0, size_t y)
{
    size_t n = ec_moments_count(b->moments), f = y / n, m = y % n;
    bool peak = (b->moments >> EC_MOMENT_PEAK & 1) && m == n - 1;
    size_t first = ec_path_channel_rows(b) + f * ec_path_moment_rows(b->moments) + m * EC_PATH_BINS;
    size_t to = 2 * (size_t)b->n_frequencies + EC_PATH_ROWS + y;

    for (size_t c = lane0; c < lane0 + EC_LANES && c < b->n; c++) {
        double sum = peak ? ec_path_peak_row(b, first, c) : 0;
        for (size_t k = EC_PATH_BINS; !peak && k-- > 0;)
            sum += ec_path_sum_row(b, first + k, c);
        b->sum[to * b->ld + c] = sum;
    }
}

#endif
