#include "distribution.h"

#include "random.h"

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

/* Coordinate of a point, inside (0, 1). */
static double inside(double u)
{
    return fmin(fmax(u, 0x1p-54), 1 - 0x1p-53);
}

/* Elements of one sample; coordinate i of its point is point[i * stride]. */
static void fill_sample(const ec_distribution *d, int32_t n, double tail, const double *point,
                        size_t stride, double *to)
{
    double common = 0, own = 1;
    if (d->kind == EC_DISTRIBUTION_NORMAL && d->correlation > 0) {
        common = ec_det_sqrt(d->correlation) * ec_normal(inside(point[(size_t)n * stride]));
        own = ec_det_sqrt(1 - d->correlation);
    }
    for (int32_t i = 0; i < n; i++) {
        double u = inside(point[(size_t)i * stride]);
        int32_t before = 0; /* elements that fail before this one */
        switch (d->kind) {
        case EC_DISTRIBUTION_NORMAL:
            u = tail > 0 ? tail + u * (1 - 2 * tail) : u;
            to[i] = d->mean + d->sigma * (common + own * ec_normal(u));
            break;
        case EC_DISTRIBUTION_UNIFORM:
            to[i] = d->min + u * (d->max - d->min);
            break;
        case EC_DISTRIBUTION_TRIANGULAR:
            to[i] = triangular(d, u);
            break;
        case EC_DISTRIBUTION_FAILURES:
            to[i] = u < d->probability ? 0 : 1;
            break;
        case EC_DISTRIBUTION_FAILED:
            for (int32_t k = 0; k < n; k++) {
                double other = inside(point[(size_t)k * stride]);
                before += other < u || (other == u && k < i);
            }
            to[i] = before < d->failed ? 0 : 1;
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

static int32_t elements_of(const ec_distribution *d)
{
    return d->count > 0 ? d->count : 1;
}

int32_t ec_distribution_dimensions(const ec_distribution *d)
{
    return elements_of(d) + (d->kind == EC_DISTRIBUTION_NORMAL && d->correlation > 0 ? 1 : 0);
}

int ec_distribution_fill(const ec_distribution *d, size_t n, const double *points, double *to)
{
    int32_t elements = elements_of(d);
    bool cut = d->kind == EC_DISTRIBUTION_NORMAL && d->sigma > 0 && d->limit < INFINITY;
    int status = check(d, elements);
    if (status != EC_OK)
        return status;
    double tail = cut ? normal_tail(d->limit / d->sigma) : 0;
    for (size_t s = 0; s < n; s++)
        fill_sample(d, elements, tail, points + s, n, to + s * (size_t)elements);
    return EC_OK;
}
