/* bench_path_kernels.h: what a batch of pairs does short of its fields: only the points of its paths, or
 * these and whether something is in the way. C17 and CUDA. */
#ifndef BENCH_PATH_KERNELS_H
#define BENCH_PATH_KERNELS_H

#include "core/kernel.h"
#include "evaluators/mimo/path_kernels.h"

typedef struct bench_path_args {
    ec_path_batch batch;
    bool occlusion;
    double *found; /* [slices][ld] */
} bench_path_args;

EC_FN void bench_path_lane(const bench_path_args *a, size_t lane, size_t y)
{
    const ec_path_batch *b = &a->batch;
    size_t begin = b->n_sequences * y / b->slices, end = b->n_sequences * (y + 1) / b->slices;
    double tx[3], rx[3], found = 0;

    for (size_t k = 0; k < 3; k++) {
        tx[k] = b->tx_at[k * b->ld + lane];
        rx[k] = b->rx_at[k * b->ld + lane];
    }
    for (size_t i = begin; i < end; i++) {
        size_t bit = i >> b->lanes.shift;
        const uint32_t *step = b->step + b->first[i];
        int32_t depth = (int32_t)(b->first[i + 1] - b->first[i]);
        if (!(ec_path_lane_word(&b->lanes, lane, bit >> 5) >> (bit & 31) & 1))
            continue;
        int sides = ec_path_sides(&b->view.scene, depth, step);
        for (int32_t branch = sides & 1 ? -1 : 0; branch < (sides & 2 ? EC_PATH_BRANCHES_MAX : 0);
             branch++) {
            ec_path_course course;
            ec_path_trace t;
            int is = a->occlusion ? ec_path_follow(&b->view, depth, step, tx, rx, branch, &course)
                                  : ec_path_exact(&b->view.scene, depth, step, tx, rx, branch,
                                                  b->view.tolerance, &t);
            found += is == EC_PATH_FOUND ? 1 : 0;
        }
    }
    a->found[y * b->ld + lane] = found;
}

EC_FN void bench_path_body(const bench_path_args *a, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++)
        if (lane0 + (size_t)l < a->batch.n)
            bench_path_lane(a, lane0 + (size_t)l, y);
}

#endif
