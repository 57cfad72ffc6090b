/* sampling.h: random samples of tolerances and failures, for robust design.
 *
 * A draw is a function of (seed, stream, set, sample, dimension) and nothing else, so all designs
 * of a search meet the same samples, on every machine. Each distribution is inverted from one
 * uniform number a dimension, which makes the sampling method a matter of the uniform numbers alone:
 *   random  independent
 *   latin   Latin hypercube: each dimension has one sample in each of n equal parts of its
 *           probability, in an order of its own (McKay, Beckman and Conover, "A comparison of three
 *           methods for selecting values of input variables", Technometrics 21, 1979)
 */
#ifndef EC_SAMPLING_H
#define EC_SAMPLING_H

#include "base.h"

EC_C_BEGIN

typedef enum ec_sampling { EC_SAMPLING_RANDOM, EC_SAMPLING_LATIN } ec_sampling;

typedef enum ec_distribution_kind {
    EC_DISTRIBUTION_NORMAL,     /* mean, sigma; within limit of the mean; correlation */
    EC_DISTRIBUTION_UNIFORM,    /* min, max */
    EC_DISTRIBUTION_TRIANGULAR, /* min, mode, max */
    EC_DISTRIBUTION_FAILURES,   /* each element is 0 with a probability, else 1 */
    EC_DISTRIBUTION_FAILED      /* exactly `failed` elements are 0, the others 1 */
} ec_distribution_kind;

typedef struct ec_distribution {
    ec_distribution_kind kind;
    int32_t count;             /* independent elements; 0: a single number */
    double mean, sigma, limit; /* limit: INFINITY for all of the normal distribution */
    double correlation;        /* 0 to 1, between any two elements of a normal distribution */
    double min, mode, max;
    double probability;
    int32_t failed;
} ec_distribution;

typedef struct ec_draw {
    ec_sampling sampling;
    uint64_t seed;
    uint32_t stream; /* tells quantities apart */
    uint32_t set;    /* tells sets of samples apart: 0 search, 1 final */
    int32_t samples;
} ec_draw;

/* Fills to[samples][elements] (elements: count, or 1). Errors: parameters out of their range. */
EC_API int ec_distribution_draw(const ec_distribution *distribution, const ec_draw *draw,
                                double *to);

EC_C_END
#endif
