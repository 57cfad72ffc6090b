/* array_pattern_expansion.c: see array_pattern_expansion.h. Plan time only: libm is allowed. */
#include "array_pattern_expansion.h"

#include <math.h>

enum { LONGEST = 2048 }; /* orders that a bound looks at */

/* Orders above both x and n by this many are below 1e-17 of the largest: the start of the backward
 * recurrence. */
static int32_t start_order(double x, int32_t n)
{
    double top = fmax(fabs(x), n);

    return (int32_t)(top + 12.0 * cbrt(top) + 24.0);
}

void ec_bessel_j(double x, int32_t n, double *j)
{
    double above = 0.0, here = 1e-300, sum = 0.0, argument = fabs(x);

    if (argument < 1e-8) { /* two terms of the series say it all */
        for (int32_t p = 0; p < n; p++)
            j[p] = p == 0 ? 1.0 : p == 1 ? 0.5 * x : 0.0;
        return;
    }
    for (int32_t p = start_order(x, n); p >= 0; p--) {
        if (p < n)
            j[p] = here;
        sum += p == 0 ? here : p % 2 == 0 ? 2.0 * here : 0.0;
        double below = 2.0 * p / argument * here - above;
        above = here;
        here = below;
        if (fabs(here) > 1e250) {
            here *= 1e-250;
            above *= 1e-250;
            sum *= 1e-250;
            for (int32_t k = p > 0 ? p : 0; k < n; k++)
                j[k] *= 1e-250;
        }
    }
    for (int32_t p = 0; p < n; p++)
        j[p] *= (x < 0.0 && p % 2 ? -1.0 : 1.0) / sum;
}

double ec_expansion_error(ec_array_expansion kind, double x, int32_t terms)
{
    double error = 0.0;

    if (x == 0.0)
        return terms > 0 ? 0.0 : 1.0;
    if (kind == EC_EXPANSION_TAYLOR) {
        double term = 1.0;
        int32_t last = terms + (int32_t)(3.0 * x) + 40;
        for (int32_t p = 0; p < last; p++) {
            error += p >= terms ? term : 0.0;
            term *= x / (p + 1);
        }
        return error;
    }
    if (terms < x || terms < 1)
        return (double)INFINITY;
    double j[LONGEST];
    int32_t n = start_order(x, terms);
    if (n > LONGEST)
        return (double)INFINITY;
    ec_bessel_j(x, n, j);
    for (int32_t p = n - 1; p >= terms; p--)
        error += 2.0 * fabs(j[p]);
    return error;
}

int32_t ec_expansion_terms(ec_array_expansion kind, double x, double tolerance, int32_t limit)
{
    for (int32_t terms = 1; terms <= limit; terms++)
        if (ec_expansion_error(kind, x, terms) <= tolerance)
            return terms;
    return limit + 1;
}

void ec_expansion_factors(ec_array_expansion kind, double y, int32_t terms, double *factor)
{
    if (kind == EC_EXPANSION_CHEBYSHEV) {
        ec_bessel_j(y, terms, factor);
        for (int32_t p = 1; p < terms; p++)
            factor[p] *= 2.0;
        return;
    }
    factor[0] = 1.0;
    for (int32_t p = 1; p < terms; p++)
        factor[p] = factor[p - 1] * y / p;
}
