/* path_kernels.h: channels of many pairs of antennas, a lane a pair.
 *
 * A pair's sequences are cut into slices, one a task, so that few pairs with many sequences keep
 * a GPU busy; slices depend on the number of sequences alone and are added in their order. A
 * sequence takes some hundred operations where it has no path, which most have not; a path a ray
 * through the hierarchy for each segment and the field arithmetic for each frequency. */
#ifndef EC_PATH_KERNELS_H
#define EC_PATH_KERNELS_H

#include "../../core/kernel.h"
#include "path_field.h"
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
    const double *wavelength;    /* [n_frequencies] m */
    const ec_fresnel_face *face; /* [n_frequencies][n_materials] */
    double longest;              /* wavelength */
    ec_antenna tx, rx;
    size_t n, ld, slices;
    const double *tx_at, *rx_at; /* [3][ld] m */
    double *part;                /* [slices][2 EC_PATH_BINS n_frequencies + EC_PATH_ROWS][ld] */
    double *sum;                 /* [2 n_frequencies + EC_PATH_ROWS][ld] */
} ec_path_batch;

/* Adds a path to the rows of its pair. */
EC_FN void ec_path_add(const ec_path_batch *b, const ec_path_course *c, const double tx[3],
                       const double rx[3], double *row)
{
    ec_ray_event event[EC_PATH_DEPTH_MAX];
    double *count = row + 2 * EC_PATH_BINS * (size_t)b->n_frequencies * b->ld;

    for (int32_t f = 0; f < b->n_frequencies; f++) {
        ec_path_events(&b->view.scene, b->face + (size_t)f * (size_t)b->view.scene.n_materials,
                       c->depth, c->step, c->point, c->direction, &c->place, 1e-9 * c->length,
                       event);
        ec_c128 h = ec_ray_channel(&b->tx, tx, event, c->depth, &b->rx, rx, b->wavelength[f]);
        double *bins = row + 2 * EC_PATH_BINS * (size_t)f * b->ld;
        ec_path_add_binned(h.re, bins, b->ld);
        ec_path_add_binned(h.im, bins + EC_PATH_BINS * b->ld, b->ld);
    }
    count[EC_PATH_ROW_PATHS * b->ld] += 1;
    count[EC_PATH_ROW_GRAZING * b->ld] += 2 * EC_PI * c->smooth < b->longest ? 1 : 0;
}

EC_FN void ec_path_pair(const ec_path_batch *b, size_t c, size_t y)
{
    size_t bins = 2 * EC_PATH_BINS * (size_t)b->n_frequencies, rows = bins + EC_PATH_ROWS;
    double *row = b->part + y * rows * b->ld + c;
    double tx[3], rx[3], unresolved = 0;

    for (size_t k = 0; k < rows; k++)
        row[k * b->ld] = 0;
    for (size_t k = 0; k < 3; k++) {
        tx[k] = b->tx_at[k * b->ld + c];
        rx[k] = b->rx_at[k * b->ld + c];
    }
    size_t end = b->n_sequences * (y + 1) / b->slices;
    for (size_t i = b->n_sequences * y / b->slices; i < end; i++) {
        const uint32_t *step = b->step + b->first[i];
        int32_t depth = (int32_t)(b->first[i + 1] - b->first[i]);
        int sides = ec_path_sides(&b->view.scene, depth, step);
        bool lost = sides == 0;
        for (int32_t branch = sides & 1 ? -1 : 0; branch < (sides & 2 ? EC_PATH_BRANCHES_MAX : 0);
             branch++) {
            ec_path_course course;
            int found = ec_path_follow(&b->view, depth, step, tx, rx, branch, &course);
            lost = lost || found == EC_PATH_UNRESOLVED;
            if (found == EC_PATH_FOUND)
                ec_path_add(b, &course, tx, rx, row);
        }
        unresolved += lost ? 1 : 0;
    }
    row[(bins + EC_PATH_ROW_UNRESOLVED) * b->ld] = unresolved;
}

EC_FN void ec_path_pairs_body(const ec_path_batch *b, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++)
        if (lane0 + (size_t)l < b->n)
            ec_path_pair(b, lane0 + (size_t)l, y);
}

EC_FN double ec_path_sum_row(const ec_path_batch *b, size_t row, size_t c)
{
    size_t rows = 2 * EC_PATH_BINS * (size_t)b->n_frequencies + EC_PATH_ROWS;
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

#endif
