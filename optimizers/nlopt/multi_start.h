/* multi_start.h: what searches from many starts have in common: the genes that move, starts, the
 * best designs of all searches, and what a failed design counts as.
 *
 * Searches see y in [0, 1]^n, the genes that move in units of their ranges. The starts are those of
 * the script, then points drawn evenly from the box: start k depends on the seed and k only. The best
 * ELITE designs are kept, no two closer than a thousandth of every range.
 *
 * A failed design costs more than the worst that was seen so far by as much as that is above the
 * best, so that no search ever sees a NaN. A slope that is no finite number counts as 0.
 */
#ifndef EC_MULTI_START_H
#define EC_MULTI_START_H

#include "../host_population.h"

EC_C_BEGIN

enum { EC_MULTI_START_ELITE = 64 };

typedef struct ec_multi_start {
    ec_host_population designs;
    size_t n; /* genes that move */
    size_t n_limits;
    uint32_t *gene;             /* [n] their places among all genes */
    double *low, *high, *range; /* [n] */
    double *base;               /* [genes] values of those that do not */
    double *start;              /* [n_start][n], of the script */
    size_t n_start;
    uint64_t seed;
    uint32_t island;
    uint64_t bad_slopes; /* designs with a slope that was replaced by 0 */
    double worst, best;  /* finite costs so far */
    /* the best designs: rows of y in places `order`, best first */
    size_t n_elite;
    uint32_t order[EC_MULTI_START_ELITE];
    double *elite; /* [ELITE][n] */
    double elite_cost[EC_MULTI_START_ELITE], elite_violation[EC_MULTI_START_ELITE];
    /* the last generation */
    size_t taken;
    double *y; /* [n] over candidates, ld of designs */
} ec_multi_start;

/* Errors: group variables, bounds that are none, no memory. Release it whatever is returned. */
int ec_multi_start_create(ec_multi_start *m, const ec_optimizer_def *def, ec_backend *backend,
                          const ec_optimizer_info *info, size_t population);
void ec_multi_start_release(ec_multi_start *m);

/* "lbfgs: 200 runs: 180 converged, 20 not finished": how many ended how, of n kinds; and that fewer side by
 * side get farther, where none ended within the evaluations that all had together. */
void ec_multi_start_say_ends(const ec_multi_start *m, const ec_optimizer_def *def, ec_log *log,
                             const char *noun, uint64_t started, size_t n, const uint64_t *ends,
                             const char *const *texts);
/* Says that a method along gradients leaves integers where they are; how often slopes were none. */
void ec_multi_start_say_integers(const ec_optimizer_def *def, const ec_optimizer_info *info);
void ec_multi_start_say_slopes(const ec_multi_start *m, const ec_optimizer_def *def, ec_log *log);

/* Start of search `number`, [n]. */
void ec_multi_start_point(const ec_multi_start *m, uint64_t number, double *y);
/* Makes y candidate c of the next generation. */
void ec_multi_start_set(ec_multi_start *m, size_t c, const double *y);
/* Fetches scores and takes note of the n designs. *stopped as in ec_host_population_fetch. */
int ec_multi_start_fetch(ec_multi_start *m, const ec_scores *scores, size_t n, bool *stopped);
/* Of candidate c of the fetch: what a search gets to see. gradient [n] and limit_gradient [limits][n]
 * over y may be NULL. A failed design is flat. */
bool ec_multi_start_failed(const ec_multi_start *m, size_t c);
double ec_multi_start_cost(const ec_multi_start *m, size_t c);
void ec_multi_start_gradient(ec_multi_start *m, size_t c, double *gradient);
/* limit k of candidate c and its slopes; a failed design is beyond by 1. */
double ec_multi_start_limit(const ec_multi_start *m, size_t c, size_t k);
void ec_multi_start_limit_gradient(ec_multi_start *m, size_t c, size_t k, double *gradient);

/* def->elite: the best designs; without any, the failed ones of the last generation. */
int ec_multi_start_elite(const ec_multi_start *m, size_t k, double *X, double *cost,
                         double *violation, uint8_t *status, size_t *found);

/* The state as bytes: size, write, read (ERR_FORMAT when the sizes do not fit). */
size_t ec_multi_start_bytes(const ec_multi_start *m);
void ec_multi_start_write(const ec_multi_start *m, void *to);
int ec_multi_start_read(ec_multi_start *m, const void *from, size_t bytes);

EC_C_END
#endif
