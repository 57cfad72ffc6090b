/* detmath.h: elementary functions in float64 that give the same bits on every CPU and GPU.
 *
 * Only + - * / sqrt, comparisons, selects and bit operations are used, never a fused multiply-add,
 * so IEEE 754 fixes every result. Files that include it need -ffp-contract=off or -fmad=false.
 * Branch free: a loop over EC_LANES lanes becomes SIMD (gcc wants -O3 -fno-math-errno
 * -fno-trapping-math for that; neither changes a value). NaN payloads are not fixed.
 *
 * Method: Cody and Waite, "Software Manual for the Elementary Functions", 1980 (reductions);
 * Dekker, Numer. Math. 18, 1971 (exact products); polynomials by the Remez exchange, computed with
 * 60 digits for exactly the intervals named here.
 *
 * Largest error in ulp (tests/unit/test_detmath.c checks them): exp, log, sin, cos 1; log1p, expm1,
 * sincospi, pow, atan 2; atan2, tan, tanpi, cosh, log2, log10 3; asin, acos, sinh, tanh 4.
 * sin, cos, tan hold theirs for |x| < 1e8; then the error grows as |x| 2^-52 (radians), and beyond
 * 2^50, where a float64 holds no phase any more, they are NaN.
 */
#ifndef EC_DETMATH_H
#define EC_DETMATH_H

#include "base.h"

#include <string.h>

EC_FN uint64_t ec_det_bits(double x)
{
#ifdef __CUDA_ARCH__
    return (uint64_t)__double_as_longlong(x);
#else
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

EC_FN double ec_det_from_bits(uint64_t bits)
{
#ifdef __CUDA_ARCH__
    return __longlong_as_double((long long)bits);
#else
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

/* a where mask is all ones, b where it is 0. */
EC_FN double ec_det_blend(uint64_t mask, double a, double b)
{
    return ec_det_from_bits((ec_det_bits(a) & mask) | (ec_det_bits(b) & ~mask));
}

/* ---- rounding; exact, so an instruction and the portable way agree ---- */

#define EC_DET_2P52 4503599627370496.0
/* Adding this to |x| < 2^51 rounds x to an integer, half to even, which the low bits then hold. */
#define EC_DET_MAGIC 6755399441055744.0

/* Nearest integer, half to even. */
EC_FN double ec_det_rint(double x)
{
#if defined(__CUDA_ARCH__)
    return rint(x);
#elif defined(__SSE4_1__)
    return __builtin_rint(x);
#else
    double a = fabs(x);
    double r = (a + EC_DET_2P52) - EC_DET_2P52;
    return copysign(a < EC_DET_2P52 ? r : a, x);
#endif
}

EC_FN double ec_det_floor(double x)
{
#if defined(__CUDA_ARCH__)
    return floor(x);
#elif defined(__SSE4_1__)
    return __builtin_floor(x);
#else
    double r = ec_det_rint(x);
    double one = r > x ? 1.0 : 0.0;
    return copysign(r - one, x);
#endif
}

EC_FN double ec_det_ceil(double x)
{
    return -ec_det_floor(-x);
}

EC_FN double ec_det_sqrt(double x)
{
    return sqrt(x);
}

/* ---- exp ---- */

#define EC_DET_LOG2_E 1.4426950408889634
#define EC_DET_LN2_HI 0.6931471805592082 /* 40 bits: its product with an exponent is exact */
#define EC_DET_LN2_LO 7.371002565167799e-13

/* 2^n for an integer -1022 <= n <= 1023. */
EC_FN double ec_det_pow2(double n)
{
    return ec_det_from_bits(ec_det_bits(n + (EC_DET_MAGIC + 1023.0)) << 52);
}

/* exp(r) - 1 for r = hi - lo, |r| <= ln(2) / 2 (polynomial error 2^-57). */
EC_FN double ec_det_expm1_reduced(double hi, double lo)
{
    double r = hi - lo;
    double p = 2.5115069339953754e-08;

    p = p * r + 2.7625405186277895e-07;
    p = p * r + 2.755722617053276e-06;
    p = p * r + 2.4801508125051345e-05;
    p = p * r + 1.9841269904800917e-04;
    p = p * r + 1.3888888927244992e-03;
    p = p * r + 8.3333333333139770e-03;
    p = p * r + 4.1666666666602850e-02;
    p = p * r + 1.6666666666666685e-01;
    p = r * r * (p * r + 0.5);
    return hi + (p - lo);
}

/* exp(x + tail) 2^shift for -746 <= x <= 711, |tail| < 2^-40, small shift. Scaling in two steps
 * rounds a subnormal result once. */
EC_FN double ec_det_exp_scaled(double x, double tail, double shift)
{
    double n = (x * EC_DET_LOG2_E + EC_DET_MAGIC) - EC_DET_MAGIC;
    double y = 1.0 + ec_det_expm1_reduced(x - n * EC_DET_LN2_HI, n * EC_DET_LN2_LO - tail);
    double exponent = n + shift;
    double half = (exponent * 0.5 + EC_DET_MAGIC) - EC_DET_MAGIC;

    return y * ec_det_pow2(half) * ec_det_pow2(exponent - half);
}

EC_FN double ec_det_exp(double x)
{
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    return ec_det_exp_scaled(x, 0.0, 0.0);
}

EC_FN double ec_det_expm1(double x)
{
    double c = x > 710.0 ? 710.0 : x;
    c = c < -45.0 ? -45.0 : c;
    double n = (c * EC_DET_LOG2_E + EC_DET_MAGIC) - EC_DET_MAGIC;
    double p = ec_det_expm1_reduced(c - n * EC_DET_LN2_HI, n * EC_DET_LN2_LO);
    double half = (n * 0.5 + EC_DET_MAGIC) - EC_DET_MAGIC;
    double s = ec_det_pow2(half), t = ec_det_pow2(n - half);
    double near = s * t * p + (s * t - 1.0);
    double far = (1.0 + p) * s * t;
    double y = n > 55.0 ? far : near;

    return x == 0.0 ? x : y;
}

/* ---- log ---- */

/* x = 2^k m with m in [sqrt(1/2), sqrt(2)), for finite x > 0. */
EC_FN double ec_det_split_log(double x, double *k)
{
    bool tiny = x < 2.2250738585072014e-308;
    double scaled = x * 18014398509481984.0; /* 2^54 */
    double normal = tiny ? scaled : x;
    /* moves the exponent's step from 1 to sqrt(1/2) */
    uint64_t u = ec_det_bits(normal) + 0x00095f6200000000u;
    double biased = ec_det_from_bits((u >> 52) | 0x4330000000000000u) - EC_DET_2P52;

    *k = biased - (tiny ? 1077.0 : 1023.0);
    return ec_det_from_bits((u & 0x000fffffffffffffu) + 0x3fe6a09e00000000u);
}

/* log(x) + extra for finite x > 0 and a small extra. log(1 + f) = 2 atanh(s), s = f / (2 + f),
 * |s| <= 0.172 (polynomial error 2^-59). */
EC_FN double ec_det_log_positive(double x, double extra)
{
    double k;
    double f = ec_det_split_log(x, &k) - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double p = 0.14796261658753787;

    p = p * z + 0.15314021183074210;
    p = p * z + 0.18183565399948410;
    p = p * z + 0.22222198554024347;
    p = p * z + 0.28571428742558763;
    p = p * z + 0.39999999999413990;
    p = z * (p * z + 0.66666666666667340);
    double half_square = 0.5 * f * f;
    double low = s * (half_square + p) + (k * EC_DET_LN2_LO + extra);
    return k * EC_DET_LN2_HI - ((half_square - low) - f);
}

/* The values of a logarithm at 0, infinity, below 0 and NaN; y elsewhere. */
EC_FN double ec_det_log_edges(double x, double y)
{
    y = x > 1.7976931348623157e308 ? x : y;
    y = x == 0.0 ? -(double)INFINITY : y;
    return x >= 0.0 ? y : (double)NAN;
}

EC_FN double ec_det_log(double x)
{
    return ec_det_log_edges(x, ec_det_log_positive(x, 0.0));
}

EC_FN double ec_det_log2(double x)
{
    double k;
    double m = ec_det_split_log(x, &k);

    /* k stays apart, so powers of 2 are exact */
    return ec_det_log_edges(x, k + ec_det_log_positive(m, 0.0) * EC_DET_LOG2_E);
}

EC_FN double ec_det_log10(double x)
{
    return ec_det_log(x) * 0.4342944819032518;
}

EC_FN double ec_det_log1p(double x)
{
    double u = 1.0 + x;
    double lost_x = x - (u - 1.0), lost_1 = 1.0 - (u - x);
    double lost = x < 1.0 ? lost_x : lost_1;
    double y = ec_det_log_edges(u, ec_det_log_positive(u, lost / u));

    return x == 0.0 ? x : y;
}

/* ---- sin, cos, tan ---- */

/* sin(r + c) for |r| <= pi/4 and a tail c (polynomial error 2^-58). */
EC_FN double ec_det_sin_reduced(double r, double c)
{
    double z = r * r;
    double p = 1.5896666048580796e-10;

    p = p * z - 2.5050755954992092e-08;
    p = p * z + 2.7557313678639110e-06;
    p = p * z - 1.9841269829771162e-04;
    p = p * z + 8.3333333333223700e-03;
    p = p * z - 1.6666666666666632e-01;
    return r + (z * r * p + (c - 0.5 * z * c));
}

/* cos(r + c), likewise (polynomial error 2^-64). */
EC_FN double ec_det_cos_reduced(double r, double c)
{
    double z = r * r;
    double p = -1.1359559381059777e-11;

    p = p * z + 2.0875721625551466e-09;
    p = p * z - 2.7557314340679530e-07;
    p = p * z + 2.4801587289443573e-05;
    p = p * z - 1.3888888888874064e-03;
    p = p * z + 4.1666666666666600e-02;
    double half = 0.5 * z, w = 1.0 - half;
    return w + (((1.0 - w) - half) + (z * z * p - r * c));
}

/* Sine and cosine of the reduced angle turned by `quarters` quarter turns (its two low bits). */
EC_FN void ec_det_turn_quarters(double r, double c, uint64_t quarters, double *sine, double *cosine)
{
    double s = ec_det_sin_reduced(r, c), t = ec_det_cos_reduced(r, c);
    uint64_t odd = 0 - (quarters & 1);

    *sine = ec_det_from_bits(ec_det_bits(ec_det_blend(odd, t, s)) ^ (quarters & 2) << 62);
    *cosine = ec_det_from_bits(ec_det_bits(ec_det_blend(odd, s, t)) ^ ((quarters + 1) & 2) << 62);
}

/* x = n pi/2 + r + c. pi/2 in pieces of 26 bits: the products with n < 2^27 are exact. */
EC_FN uint64_t ec_det_reduce_quarters(double x, double *r, double *c)
{
    x = fabs(x) <= 1125899906842624.0 ? x : (double)NAN; /* 2^50 */
    double turned = x * 0.6366197723675814 + EC_DET_MAGIC;
    double n = turned - EC_DET_MAGIC;
    double rest = (x - n * 1.5707963109016418) - n * 1.5893254712295857e-08;
    double third = n * 6.123233932053594e-17;
    double high = rest - third;
    double low = ((rest - high) - third) - n * 6.36831716351095e-25;

    *r = high + low;
    *c = (high - *r) + low;
    return ec_det_bits(turned);
}

EC_FN void ec_det_sincos(double x, double *sine, double *cosine)
{
    double r, c, s;
    uint64_t quarters = ec_det_reduce_quarters(x, &r, &c);

    ec_det_turn_quarters(r, c, quarters, &s, cosine);
    *sine = x == 0.0 ? x : s;
}

EC_FN double ec_det_sin(double x)
{
    double s, c;
    ec_det_sincos(x, &s, &c);
    return s;
}

EC_FN double ec_det_cos(double x)
{
    double s, c;
    ec_det_sincos(x, &s, &c);
    return c;
}

EC_FN double ec_det_tan(double x)
{
    double s, c;
    ec_det_sincos(x, &s, &c);
    return s / c;
}

/* sin(pi x) and cos(pi x); exact at multiples of 1/2, NaN for infinity. The reduction is exact for
 * every x; pi r is formed to 80 bits from a split of r. */
EC_FN void ec_det_sincospi(double x, double *sine, double *cosine)
{
    double d = x - 2.0 * ec_det_rint(0.5 * x); /* -1 .. 1 */
    double turned = 2.0 * d + EC_DET_MAGIC;
    double r = d - 0.5 * (turned - EC_DET_MAGIC); /* -1/4 .. 1/4 */
    double r_high = ec_det_from_bits(ec_det_bits(r) & 0xfffffffff8000000u);
    double high = 3.1415926218032837 * r_high; /* pi's first 26 bits */
    double low = 3.1415926218032837 * (r - r_high) + 3.178650954705639e-08 * r;
    double angle = high + low, s;

    ec_det_turn_quarters(angle, (high - angle) + low, ec_det_bits(turned), &s, cosine);
    *sine = x == 0.0 ? x : s;
}

EC_FN double ec_det_sinpi(double x)
{
    double s, c;
    ec_det_sincospi(x, &s, &c);
    return s;
}

EC_FN double ec_det_cospi(double x)
{
    double s, c;
    ec_det_sincospi(x, &s, &c);
    return c;
}

/* tan(pi x); an infinity at odd multiples of 1/2. */
EC_FN double ec_det_tanpi(double x)
{
    double s, c;
    ec_det_sincospi(x, &s, &c);
    return s / c;
}

/* ---- arc functions ---- */

/* atan(y / x) for x, y >= 0, or pi minus it where `mirrored`. The quotient is brought to
 * |t| <= tan(pi/8) by a turn of 0, pi/4 or pi/2 before the one division (polynomial error
 * 2^-59). */
EC_FN double ec_det_atan_quotient(double y, double x, bool mirrored)
{
    bool steep = y > 2.414213562373095 * x;
    bool middle = y > 0.41421356237309503 * x;
    double difference = y - x, sum = y + x, minus_x = -x;
    double top = middle ? difference : y;
    double bottom = middle ? sum : x;
    top = steep ? minus_x : top;
    bottom = steep ? y : bottom;
    double t = top / bottom;
    double z = t * t;
    double p = -1.7919294749658785e-02;

    p = p * z + 3.8075651197931035e-02;
    p = p * z - 5.0397427448906490e-02;
    p = p * z + 5.8479866530600576e-02;
    p = p * z - 6.6631174036218340e-02;
    p = p * z + 7.6920613823573400e-02;
    p = p * z - 9.0908978225701210e-02;
    p = p * z + 1.1111110785671460e-01;
    p = p * z - 1.4285714280239520e-01;
    p = p * z + 1.9999999999953996e-01;
    p = p * z - 3.3333333333333200e-01;
    p = t * z * p;
    double turn = mirrored ? 3.141592653589793 : 0.0;
    double turn_low = mirrored ? 1.2246467991473532e-16 : 0.0;
    double eighth = mirrored ? 2.356194490192345 : 0.7853981633974483;
    double eighth_low = mirrored ? 9.184850993605148e-17 : 3.061616997868383e-17;
    turn = middle ? eighth : turn;
    turn_low = middle ? eighth_low : turn_low;
    turn = steep ? 1.5707963267948966 : turn;
    turn_low = steep ? 6.123233995736766e-17 : turn_low;
    double signed_t = mirrored ? -t : t;
    double signed_p = mirrored ? -p : p;
    return turn + (signed_t + (signed_p + turn_low));
}

EC_FN double ec_det_atan(double x)
{
    return copysign(ec_det_atan_quotient(fabs(x), 1.0, false), x);
}

/* Angle of the point (x, y), -pi to pi, with the signs of zeros and infinities as in C. */
EC_FN double ec_det_atan2(double y, double x)
{
    double a = fabs(y), b = fabs(x);
    double larger = a > b ? a : b;
    /* keeps sums from overflowing and quotients of subnormals exact */
    double scale = larger > 1e300 ? 0x1p-60 : 1.0;
    scale = larger < 1e-280 ? 0x1p60 : scale;
    double as = a * scale, bs = b * scale;
    bool equal_edge = (a == b) & ((a == 0.0) | (a == (double)INFINITY));
    double edge_a = a == 0.0 ? 0.0 : 1.0;

    as = equal_edge ? edge_a : as;
    bs = equal_edge ? 1.0 : bs;
    bool mirrored = copysign(1.0, x) < 0.0;
    double angle = copysign(ec_det_atan_quotient(as, bs, mirrored), y);
    return (x != x) | (y != y) ? (double)NAN : angle;
}

EC_FN double ec_det_asin(double x)
{
    return ec_det_atan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

EC_FN double ec_det_acos(double x)
{
    return ec_det_atan2(sqrt((1.0 - x) * (1.0 + x)), x);
}

/* ---- hyperbolic functions ---- */

EC_FN double ec_det_cosh(double x)
{
    double a = fabs(x);
    a = a > 711.0 ? 711.0 : a;
    double half = ec_det_exp_scaled(a, 0.0, -1.0); /* exp(a) / 2 overflows no sooner than cosh */

    return half + 0.25 / half;
}

EC_FN double ec_det_sinh(double x)
{
    double a = fabs(x);
    a = a > 711.0 ? 711.0 : a;
    double small = a > 30.0 ? 30.0 : a;
    double e = ec_det_expm1(small);
    double near = 0.5 * (e + e / (e + 1.0));
    double far = ec_det_exp_scaled(a, 0.0, -1.0);

    return copysign(a > 22.0 ? far : near, x);
}

EC_FN double ec_det_tanh(double x)
{
    double a = fabs(x);
    a = a > 22.0 ? 22.0 : a;
    double e = ec_det_expm1(2.0 * a);

    return copysign(e / (e + 2.0), x);
}

/* ---- pow ---- */

/* a b = product + error, by Dekker's split at 26 bits. */
EC_FN double ec_det_two_product(double a, double b, double *error)
{
    double a_high = ec_det_from_bits(ec_det_bits(a) & 0xfffffffff8000000u);
    double b_high = ec_det_from_bits(ec_det_bits(b) & 0xfffffffff8000000u);
    double a_low = a - a_high, b_low = b - b_high;
    double product = a * b;

    *error = (((a_high * b_high - product) + a_high * b_low) + a_low * b_high) + a_low * b_low;
    return product;
}

/* log(x) as high + low to 2^-64, for finite x > 0: the series of ec_det_log_positive with s and its
 * first two terms in two words. */
EC_FN double ec_det_log_two_words(double x, double *low)
{
    double k, e;
    double f = ec_det_split_log(x, &k) - 1.0;
    double d = 2.0 + f, d_low = (2.0 - d) + f;
    double s = f / d;
    double sd = ec_det_two_product(s, d, &e);
    double s_low = (((f - sd) - e) - s * d_low) / d;
    double z = ec_det_two_product(s, s, &e);
    double z_low = e + 2.0 * s * s_low;
    double p = 0.05994587806477494;

    p = p * z + 0.05837399492896468;
    p = p * z + 0.06668159190746048;
    p = p * z + 0.07692278422983340;
    p = p * z + 0.09090909435340748;
    p = p * z + 0.11111111108766740;
    p = p * z + 0.14285714285722562;
    p = z * (p * z + 0.19999999999999990);
    double third = 0.3333333333333333;
    double u = third + p, u_low = ((third - u) + p) + 1.850371707708594e-17;
    double g = ec_det_two_product(z, u, &e);
    double g_low = e + (z * u_low + z_low * u);
    double h = ec_det_two_product(s, g, &e);
    double h_low = e + (s * g_low + s_low * g);
    double v = s + h, v_low = ((s - v) + h) + (s_low + h_low);
    double whole = k * EC_DET_LN2_HI;
    double sum = whole + 2.0 * v;
    double rest = ((whole - sum) + 2.0 * v) + (k * EC_DET_LN2_LO + 2.0 * v_low);
    double high = sum + rest;
    *low = (sum - high) + rest;
    return high;
}

/* x to the power y with the special cases of IEEE 754 (pow). */
EC_FN double ec_det_pow(double x, double y)
{
    double a = fabs(x);
    bool odd_base = !(a > 0.0 && a <= 1.7976931348623157e308); /* 0, infinity, NaN */
    double base = odd_base ? 1.0 : a;
    /* Beyond 2^64 every power of a number but 1 has over- or underflowed. */
    double exponent = y > 0x1p64 ? 0x1p64 : y;
    exponent = exponent < -0x1p64 ? -0x1p64 : exponent;
    double low, e;
    double high = ec_det_log_two_words(base, &low);
    double t = ec_det_two_product(exponent, high, &e);
    double tail = e + exponent * low;
    bool over = t > 710.0, under = t < -746.0;
    t = over ? 710.0 : t;
    t = under ? -746.0 : t;
    tail = over | under ? 0.0 : tail;
    double power = ec_det_exp_scaled(t, tail, 0.0);

    double at_zero = y > 0.0 ? 0.0 : (double)INFINITY;
    double at_infinity = y > 0.0 ? (double)INFINITY : 0.0;
    power = a == 0.0 ? at_zero : power;
    power = a == (double)INFINITY ? at_infinity : power;
    bool integer = ec_det_rint(y) == y;
    double half = 0.5 * y;
    bool odd = integer & (ec_det_rint(half) != half);
    double minus = -power;
    bool negative = copysign(1.0, x) < 0.0;
    power = negative & odd ? minus : power;
    bool no_root = (x < 0.0) & !integer & (a != (double)INFINITY);
    power = no_root ? (double)NAN : power;
    power = (x != x) | (y != y) ? (double)NAN : power;
    bool one = (y == 0.0) | (x == 1.0) | ((a == 1.0) & (fabs(y) == (double)INFINITY));
    return one ? 1.0 : power;
}

#endif
