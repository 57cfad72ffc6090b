/* fastmath.h: sine and cosine of a phase in turns, for kernels that need millions of them.
 *
 * A phase is brought into turns in float64 (k x / 2 pi is x / wavelength: no pi at all), reduced
 * exactly to [-1/2, 1/2] by ec_turns_reduce, and then cast to the kernel's precision. Unlike
 * detmath.h these functions use ec_fma where the hardware has it, so the last bits differ between
 * ISA levels and backends; the error limits hold on all of them (absolute, for |t| <= 1/2):
 * float32 2.5e-7, float64 4e-16. Both functions of a turn are one odd polynomial on [-1/4, 1/4]:
 * sin(2 pi t) = sign(t) S(min(|t|, 1/2 - |t|)) and cos(2 pi t) = S(1/4 - |t|).
 * Polynomials by the Remez exchange (absolute error 4e-9 and 2e-19). The GPU's __sincosf reaches
 * only 3.6e-7 on a turn and is no faster than these on the FMA units.
 */
#ifndef EC_FASTMATH_H
#define EC_FASTMATH_H

#include "detmath.h"

/* t - nearest integer: exact, in [-1/2, 1/2]; NaN for infinity. */
EC_FN double ec_turns_reduce(double t)
{
    return t - ec_det_rint(t);
}

/* sin(2 pi u), |u| <= 1/4. */
EC_FN float ec_sin_quarter_f32(float u)
{
    float z = u * u;
    float p = 39.536705f;

    p = ec_fmaf(p, z, -76.54978f);
    p = ec_fmaf(p, z, 81.601006f);
    p = ec_fmaf(p, z, -41.341656f);
    p = ec_fmaf(p, z, 6.283185f);
    return u * p;
}

EC_FN void ec_sincos_turns_f32(float t, float *sine, float *cosine)
{
    float a = fabsf(t);
    float other = 0.5f - a;
    float folded = a < other ? a : other;

    *sine = copysignf(1.0f, t) * ec_sin_quarter_f32(folded);
    *cosine = ec_sin_quarter_f32(0.25f - a);
}

/* sin(2 pi u), |u| <= 1/4. */
EC_FN double ec_sin_quarter_f64(double u)
{
    double z = u * u;
    double p = 0.1007149500775572;

    p = ec_fma(p, z, -0.7176854436495238);
    p = ec_fma(p, z, 3.819922805679764);
    p = ec_fma(p, z, -15.09464136916418);
    p = ec_fma(p, z, 42.05869391528184);
    p = ec_fma(p, z, -76.70585975263464);
    p = ec_fma(p, z, 81.60524927607172);
    p = ec_fma(p, z, -41.34170224039975);
    p = ec_fma(p, z, 6.283185307179586);
    return u * p;
}

EC_FN void ec_sincos_turns_f64(double t, double *sine, double *cosine)
{
    double a = fabs(t);
    double other = 0.5 - a;
    double folded = a < other ? a : other;

    *sine = copysign(1.0, t) * ec_sin_quarter_f64(folded);
    *cosine = ec_sin_quarter_f64(0.25 - a);
}

#endif
