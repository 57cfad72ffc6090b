/* array_pattern_expansion.h: exp(j x zeta omega), zeta and omega in [-1, 1], as a short sum of products, so
 * that the pattern of elements off a plane is a few planar patterns:
 *
 *   Chebyshev (Jacobi and Anger):  sum_p (2 - [p = 0]) j^p J_p(x omega) T_p(zeta)
 *   Taylor (the p-series):         sum_p (j x omega zeta)^p / p!
 *
 * x = 2 pi max|z| max|w|, both centred, z in wavelengths and w a direction cosine. With P terms the
 * error is below 2 sum_{p >= P} J_p(x) for P >= x (J_p grows with its argument up to p, so omega = 1
 * is the worst) and below sum_{p >= P} x^p / p!. The number of terms for a tolerance comes from
 * these bounds.
 *
 * Sources: Abramowitz and Stegun 9.1.44, 9.1.45 (Jacobi-Anger), 9.12 (Miller's backward recurrence).
 */
#ifndef EC_ARRAY_EXPANSION_H
#define EC_ARRAY_EXPANSION_H

#include "../../core/base.h"

EC_C_BEGIN

typedef enum ec_array_expansion { EC_EXPANSION_CHEBYSHEV, EC_EXPANSION_TAYLOR } ec_array_expansion;

/* J_0(x) .. J_{n-1}(x), x finite, n >= 1. Absolute error below 1e-14 (1 + |x|). */
void ec_bessel_j(double x, int32_t n, double *j);

/* Bound of the error with `terms` terms, absolute. INFINITY where the bound does not hold (fewer
 * Chebyshev terms than x). */
double ec_expansion_error(ec_array_expansion kind, double x, int32_t terms);

/* Fewest terms with a bound <= tolerance; `limit` + 1 when more than `limit` are needed. x >= 0. */
int32_t ec_expansion_terms(ec_array_expansion kind, double x, double tolerance, int32_t limit);

/* factor[p], p < terms: what stands beside j^p T_p(zeta) or j^p zeta^p, for argument y = x omega. */
void ec_expansion_factors(ec_array_expansion kind, double y, int32_t terms, double *factor);

EC_C_END
#endif
