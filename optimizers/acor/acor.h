/* acor.h: ACO_R, an ant colony for real and integral variables: what its files share.
 * Socha and Dorigo, "Ant colony optimization for continuous domains", European Journal of
 * Operational Research 185 (2008), 1155-1173.
 *
 * An archive holds the best k designs, best first. An ant chooses one of them, with a probability
 * that is Gaussian in the rank (eq. 6, deviation q k), once for all its variables; each of them is
 * then drawn from a normal distribution around that design's value, whose deviation is xi times the
 * mean distance of the archive's values to it (eq. 8). Until the archive is full, ants are uniform in
 * the box, after the start designs. A value beyond a bound goes half-way from the chosen design's
 * value to it. Integral variables take the middle of the cell of their value; their deviation never
 * falls below what changes one such variable an ant, so they do not freeze.
 *
 * Invariants. A generation is propose = acor_sample and take = acor_key, acor_rank, acor_place,
 * acor_deviation, acor_finish: always the same launches, as the generation number and the archive's
 * size lie in `control` on the backend. The archive exists twice: read at [generation & 1], written
 * at the other one. A stored violation is 0 for a feasible design, infinite (as is its cost) for a
 * failed one, so the order of designs is (violation, cost, index), the archive before the ants.
 */
#ifndef EC_ACOR_H
#define EC_ACOR_H

#include "kernel.h"
#include "optimizer.h"

EC_C_BEGIN

enum { EC_ACOR_ARCHIVE_MAX = 1024, EC_ACOR_ANTS_MAX = 1 << 16, EC_ACOR_GENES_MAX = 1 << 16 };

typedef struct ec_acor_control {
    ec_optimizer_stats stats;
    uint32_t archive; /* designs in it */
    uint32_t reserved;
} ec_acor_control;

/* What every kernel gets. Pointers are to the backend's memory. */
typedef struct ec_acor_args {
    ec_acor_control *control;
    const int32_t *stop; /* may be NULL */

    /* state: the archive, rows of pitch genes; scores [archive_max] */
    double *X[2];
    double *cost[2], *violation[2];
    uint8_t *status[2];

    /* work of one generation */
    double *deviation;                /* rows of pitch: of a design's genes */
    double *spread;                   /* [pitch] share of its range that a gene takes */
    double *U;                        /* [genes] over ants, leading dimension ld */
    double *ant_cost, *ant_violation; /* [ld] cleaned */
    uint8_t *ant_status;
    uint32_t *strip_failed; /* [ld / 32] failed ants */
    uint32_t *source;       /* [archive_max] of the next archive: design, or archive + ant */

    /* constants */
    const double *lower, *upper; /* [pitch] */
    const double *cell;          /* [pitch] width of an integral gene's cell, 0: real */
    const double *chance;        /* [archive_max] running sum of the designs' probabilities */
    const double *start;         /* rows of pitch */

    /* scores of the ants, from the caller */
    const double *cost_in, *violation_in;
    const uint8_t *status_in;
    uint32_t limit; /* ants from this one on were not evaluated */

    uint64_t seed;
    uint32_t island;
    uint32_t genes, pitch, ants, ld, archive_max, n_start;
    double xi;
    double least; /* deviation of an integral gene, in cells */
} ec_acor_args;

extern const ec_kernel ec_kernel_acor_sample, ec_kernel_acor_key, ec_kernel_acor_rank,
    ec_kernel_acor_place, ec_kernel_acor_deviation, ec_kernel_acor_finish;

EC_C_END
#endif
