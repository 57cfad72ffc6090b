/* pareto.h: order of designs by several costs: constrained non-domination ranks, crowding, and the
 * hypervolume that a set of designs dominates. Host memory; every cost is minimised.
 *
 * A design dominates another when none of its costs is larger and one is smaller. The ranks order
 * (Deb, Pratap, Agarwal and Meyarivan, IEEE Trans. Evol. Comput. 6 (2002), 182-197):
 *   feasible designs by non-dominated fronts, the first one rank 0; of designs with equal costs the
 *   first is in its front, the others (copies) share one rank behind the last front;
 *   then infeasible designs by violation, equal ones of one rank;
 *   then failed ones (status not 0, or a cost or violation that is no finite number), of one rank.
 *
 * Method of the sort: designs in lexicographic order are given ranks one after another (Zhang,
 * Tian, Cheng and Jin, IEEE Trans. Evol. Comput. 19 (2015), 201-213), by a binary search among the
 * fronts; who may dominate a design is read from bit sets of those not above it in each cost, 64
 * designs a word: at most O(M N^2 log N / 64) word operations. Ranks are integers, so threads change nothing.
 * Hypervolume: a sweep for two and three costs; for more, exclusive volumes of sets limited by their
 * first member (While, Bradstreet and Barone, IEEE Trans. Evol. Comput. 16 (2012), 86-95).
 */
#ifndef EC_PARETO_H
#define EC_PARETO_H

#include "status.h"

EC_C_BEGIN

/* Most costs of a design. */
enum { EC_OBJECTIVES_MAX = 16 };

typedef struct ec_pareto ec_pareto; /* memory for the sort */

/* For up to `capacity` designs of n_costs (1 to EC_OBJECTIVES_MAX) costs; threads >= 1. ERR_MEMORY. */
EC_API int ec_pareto_create(size_t capacity, int32_t n_costs, int threads, ec_pareto **pareto);
EC_API void ec_pareto_destroy(ec_pareto **pareto);

typedef struct ec_pareto_scores {
    const double *cost; /* cost k of design i at k * ld + i */
    size_t ld;
    const double *violation; /* may be NULL: none is violated */
    const uint8_t *status;   /* may be NULL: none failed */
} ec_pareto_scores;

/* Ranks of n designs (n <= capacity), as above. crowding (may be NULL): within a front the sum over the
 * costs of the distance between a design's two neighbours over the front's range, infinite at its
 * ends; 0 for designs of the other ranks. */
EC_API void ec_pareto_rank(ec_pareto *pareto, const ec_pareto_scores *scores, size_t n,
                           uint32_t *rank, double *crowding);
/* Designs from best to worst: by rank, larger crowding, index. */
EC_API void ec_pareto_order(ec_pareto *pareto, const uint32_t *rank, const double *crowding,
                            size_t n, uint32_t *order);

/* Volume of what n points (point i's costs at i * n_costs) dominate and `reference` bounds (hypervolume.c);
 * points that are not below it in every cost add nothing. NaN when more than EC_HYPERVOLUME_STEPS
 * steps would be needed, which happens from 4 costs on only (600 points of 4 costs need fewer, as do
 * 60 of 5), when a number is NaN, or without memory. */
enum { EC_HYPERVOLUME_STEPS = 200000 };
EC_API double ec_hypervolume(const double *points, size_t n, int32_t n_costs,
                             const double *reference);

EC_C_END
#endif
