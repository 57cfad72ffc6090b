#include "sampling.h"

#include <stdlib.h>

#include "random.h"
#include "status.h"

enum { PURPOSE = 0x5a00 }; /* of random streams: no other use of a seed has these */

/* ---- uniform numbers ------------------------------------------------------------------------- */

typedef struct place {
    double key;
    int32_t sample;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* u[samples][dimensions] in (0, 1). */
static int fill_uniform(const ec_draw *draw, int32_t dimensions, double *u)
{
    ec_random_stream stream = ec_random_make(draw->seed, draw->stream, PURPOSE + draw->set, 0);
    int32_t n = draw->samples;
    place *order = draw->sampling == EC_SAMPLING_LATIN ? malloc((size_t)n * sizeof *order) : NULL;
    if (draw->sampling == EC_SAMPLING_LATIN && !order)
        return ec_fail(EC_ERR_MEMORY, "no memory for %d samples", n);
    for (int32_t d = 0; d < dimensions; d++) {
        uint32_t words[4];
        double *column = u + d;
        for (int32_t s = 0; s < n; s++) {
            ec_random_words(&stream, (uint32_t)d, (uint32_t)s, words);
            column[(size_t)s * (size_t)dimensions] = ec_uniform_52_open(words[0], words[1]);
            if (order)
                order[s] = (place){ec_uniform_52_open(words[2], words[3]), s};
        }
        if (!order)
            continue;
        qsort(order, (size_t)n, sizeof *order, compare_places);
        for (int32_t i = 0; i < n; i++) {
            double *at = &column[(size_t)order[i].sample * (size_t)dimensions];
            double x = (i + *at) / n;
            *at = x < 1 - 0x1p-53 ? x : 1 - 0x1p-53;
        }
    }
    free(order);
    return EC_OK;
}

/* ---- distributions --------------------------------------------------------------------------- */

/* Probability of a standard normal below -depth, by bisection of its inverse. */
static double normal_tail(double depth)
{
    double low = 0, high = 0.5;
    if (!(depth < 38)) /* nothing is left of a double */
        return 0;
    for (int i = 0; i < 1100 && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (middle == low || middle == high)
            break;
        if (ec_normal(middle) < -depth)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double triangular(const ec_distribution *d, double u)
{
    double width = d->max - d->min, left = d->mode - d->min, right = d->max - d->mode;
    if (!(width > 0))
        return d->min;
    return u * width < left ? d->min + ec_det_sqrt(u * width * left)
                            : d->max - ec_det_sqrt((1 - u) * width * right);
}

/* Elements of one sample from its uniform numbers. */
static void shape_sample(const ec_distribution *d, int32_t n, double tail, const double *u,
                         double *to)
{
    double common = 0, own = 1;
    if (d->correlation > 0) {
        common = ec_det_sqrt(d->correlation) * ec_normal(u[n]);
        own = ec_det_sqrt(1 - d->correlation);
    }
    for (int32_t i = 0; i < n; i++)
        switch (d->kind) {
        case EC_DISTRIBUTION_NORMAL:
            to[i] = d->mean +
                    d->sigma *
                        (common + own * ec_normal(tail > 0 ? tail + u[i] * (1 - 2 * tail) : u[i]));
            break;
        case EC_DISTRIBUTION_UNIFORM:
            to[i] = d->min + u[i] * (d->max - d->min);
            break;
        case EC_DISTRIBUTION_TRIANGULAR:
            to[i] = triangular(d, u[i]);
            break;
        case EC_DISTRIBUTION_FAILURES:
            to[i] = u[i] < d->probability ? 0 : 1;
            break;
        case EC_DISTRIBUTION_FAILED: {
            int32_t below = 0; /* elements that fail before this one */
            for (int32_t k = 0; k < n; k++)
                below += u[k] < u[i] || (u[k] == u[i] && k < i);
            to[i] = below < d->failed ? 0 : 1;
            break;
        }
        }
}

static int check(const ec_distribution *d, int32_t elements)
{
    bool normal = d->kind == EC_DISTRIBUTION_NORMAL;
    if (normal && !(d->sigma >= 0 && d->limit > 0))
        return ec_fail(EC_ERR_RANGE, "sigma is %g, at least 0 is needed; limit is %g, above 0",
                       d->sigma, d->limit);
    if (normal && !(d->correlation >= 0 && d->correlation <= 1))
        return ec_fail(EC_ERR_RANGE, "correlation is %g, allowed are 0 to 1", d->correlation);
    if (normal && d->correlation > 0 && d->limit < INFINITY)
        return ec_fail(EC_ERR_UNSUPPORTED, "limit and correlation do not go together");
    if (d->kind == EC_DISTRIBUTION_UNIFORM && !(d->min <= d->max))
        return ec_fail(EC_ERR_RANGE, "min %g is above max %g", d->min, d->max);
    if (d->kind == EC_DISTRIBUTION_TRIANGULAR && !(d->min <= d->mode && d->mode <= d->max))
        return ec_fail(EC_ERR_RANGE, "mode %g is not between min %g and max %g", d->mode, d->min,
                       d->max);
    if (d->kind == EC_DISTRIBUTION_FAILURES && !(d->probability >= 0 && d->probability <= 1))
        return ec_fail(EC_ERR_RANGE, "probability is %g, allowed are 0 to 1", d->probability);
    if (d->kind == EC_DISTRIBUTION_FAILED && (d->failed < 0 || d->failed > elements))
        return ec_fail(EC_ERR_RANGE, "%d elements cannot fail, there are %d", d->failed, elements);
    return EC_OK;
}

int ec_distribution_draw(const ec_distribution *d, const ec_draw *draw, double *to)
{
    int32_t elements = d->count > 0 ? d->count : 1;
    int32_t dimensions = elements + (d->correlation > 0 ? 1 : 0);
    int status = check(d, elements);
    if (status != EC_OK)
        return status;
    if (draw->samples < 1)
        return ec_fail(EC_ERR_RANGE, "%d samples, at least 1 is needed", draw->samples);
    double *u = malloc((size_t)draw->samples * (size_t)dimensions * sizeof *u);
    if (!u)
        return ec_fail(EC_ERR_MEMORY, "no memory for %d samples", draw->samples);
    bool cut = d->kind == EC_DISTRIBUTION_NORMAL && d->sigma > 0 && d->limit < INFINITY;
    double tail = cut ? normal_tail(d->limit / d->sigma) : 0;
    status = fill_uniform(draw, dimensions, u);
    for (int32_t s = 0; s < draw->samples && status == EC_OK; s++)
        shape_sample(d, elements, tail, u + (size_t)s * (size_t)dimensions,
                     to + (size_t)s * (size_t)elements);
    free(u);
    return status;
}
