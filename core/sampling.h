/* sampling.h: points that fill the unit cube [0, 1)^d, for sweeps and sensitivity analysis.
 *
 *   sobol    Sobol's sequence with the direction numbers of Joe and Kuo (2008), at most 256
 *            dimensions, in Gray code order; scrambled by random lower triangular matrices and a
 *            digital shift (J. Matousek, "On the L2-discrepancy for anchored boxes", J. Complexity 14,
 *            1998), which keeps it a digital net of the same quality
 *   halton   Halton's sequence in the first primes, at most 256 dimensions; scrambled by a random
 *            permutation of each digit (A. B. Owen, "A randomized Halton algorithm in R", 2017)
 *   lhs      Latin hypercube: each of n equal cells of an axis holds one point, at a random place in
 *            it (McKay, Beckman and Conover, Technometrics 21, 1979)
 *   random   independent points
 *
 * Point i of sobol, halton and random does not depend on how many points follow, so a larger set
 * contains the smaller one. Coordinates have 32 (sobol) or 52 bits. Point 0 of the sequences without
 * scrambling is the origin. Everything random is Philox by the seed (random.h).
 */
#ifndef EC_SAMPLING_H
#define EC_SAMPLING_H

#include "status.h"

EC_C_BEGIN

typedef enum ec_sampling {
    EC_SAMPLING_SOBOL,
    EC_SAMPLING_LHS,
    EC_SAMPLING_HALTON,
    EC_SAMPLING_RANDOM
} ec_sampling;

typedef struct ec_sampling_info {
    ec_sampling method;
    int32_t dimensions; /* >= 1 */
    size_t n;           /* points, 1 to 2^32 - 1 */
    uint64_t seed;
    bool plain; /* sobol, halton: without scrambling */
} ec_sampling_info;

/* points: [dimensions][n]. ERR_ARGUMENT: more dimensions than the method has. */
EC_API int ec_sampling_fill(const ec_sampling_info *info, double *points);

EC_C_END
#endif
