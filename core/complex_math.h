/* complex_math.h: complex numbers of double precision for kernels: C17's _Complex is not part of
 * what C and CUDA share.
 *
 * Products and quotients are the plain formulas: no operand is scaled, so magnitudes should lie
 * between 1e-150 and 1e150. */
#ifndef EC_COMPLEX_MATH_H
#define EC_COMPLEX_MATH_H

#include "fastmath.h"

EC_FN ec_c128 ec_c128_of(double re, double im)
{
    ec_c128 z;

    z.re = re;
    z.im = im;
    return z;
}

EC_FN ec_c128 ec_c128_add(ec_c128 a, ec_c128 b)
{
    return ec_c128_of(a.re + b.re, a.im + b.im);
}

EC_FN ec_c128 ec_c128_subtract(ec_c128 a, ec_c128 b)
{
    return ec_c128_of(a.re - b.re, a.im - b.im);
}

EC_FN ec_c128 ec_c128_scale(double s, ec_c128 a)
{
    return ec_c128_of(s * a.re, s * a.im);
}

EC_FN ec_c128 ec_c128_multiply(ec_c128 a, ec_c128 b)
{
    return ec_c128_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

EC_FN ec_c128 ec_c128_divide(ec_c128 a, ec_c128 b)
{
    double inverse = 1.0 / (b.re * b.re + b.im * b.im);

    return ec_c128_of((a.re * b.re + a.im * b.im) * inverse, (a.im * b.re - a.re * b.im) * inverse);
}

/* The root with re >= 0, or, where that is 0, the one whose im has the sign of z's. */
EC_FN ec_c128 ec_c128_sqrt(ec_c128 z)
{
    double t = sqrt(0.5 * (sqrt(z.re * z.re + z.im * z.im) + fabs(z.re)));
    double other = t > 0.0 ? 0.5 * z.im / t : 0.0;

    if (z.re >= 0.0)
        return ec_c128_of(t, other);
    return ec_c128_of(fabs(other), copysign(t, z.im));
}

/* j^quarters a. */
EC_FN ec_c128 ec_c128_quarter_turns(ec_c128 a, int32_t quarters)
{
    ec_c128 b = quarters & 1 ? ec_c128_of(-a.im, a.re) : a;

    return quarters & 2 ? ec_c128_of(-b.re, -b.im) : b;
}

/* exp(j 2 pi turns). */
EC_FN ec_c128 ec_c128_phasor(double turns)
{
    ec_c128 z;

    ec_sincos_turns_f64(ec_turns_reduce(turns), &z.im, &z.re);
    return z;
}

/* ---- real 3-vectors and complex ones --------------------------------------------------------- */

EC_FN double ec_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

EC_FN void ec_cross3(const double a[3], const double b[3], double to[3])
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

EC_FN ec_c128 ec_c128_dot3_real(const double a[3], const ec_c128 e[3])
{
    return ec_c128_of(a[0] * e[0].re + a[1] * e[1].re + a[2] * e[2].re,
                      a[0] * e[0].im + a[1] * e[1].im + a[2] * e[2].im);
}

/* sum of a_i b_i, neither conjugated. */
EC_FN ec_c128 ec_c128_dot3(const ec_c128 a[3], const ec_c128 b[3])
{
    return ec_c128_add(ec_c128_add(ec_c128_multiply(a[0], b[0]), ec_c128_multiply(a[1], b[1])),
                       ec_c128_multiply(a[2], b[2]));
}

#endif
