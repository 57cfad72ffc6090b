/* distribution.h: tolerances and failures as random variables, for robust design.
 *
 * Values are made from points of the unit cube (sampling.h) by inversion, one dimension an element:
 * whatever fills the cube well (Latin hypercube, Sobol) fills the distributions well. Everything is
 * basic operations and detmath.h, so samples are the same on every machine.
 */
#ifndef EC_DISTRIBUTION_H
#define EC_DISTRIBUTION_H

#include "status.h"

EC_C_BEGIN

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
    double
        correlation; /* 0 to 1, between any two elements of a normal distribution; not with limit */
    double min, mode, max;
    double probability;
    int32_t failed;
} ec_distribution;

/* Of the points that it is made from: its elements, and one more with correlation. */
EC_API int32_t ec_distribution_dimensions(const ec_distribution *distribution);
/* points: [dimensions][n] in [0, 1); to: [n][elements] (elements: count, or 1). Errors: parameters out
 * of their range. */
EC_API int ec_distribution_fill(const ec_distribution *distribution, size_t n, const double *points,
                                double *to);

EC_C_END
#endif
