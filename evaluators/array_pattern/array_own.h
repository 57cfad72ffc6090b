/* array_own.h: arrays whose elements have fields of their own (embedded patterns, or normals that
 * differ), so that no common factor is left:
 *
 *   F_p(d) = sum_m a_m E_mp(d) exp(2 pi j [x_m u + y_m v + z_m w + turn_m]),  P = sum_p |F_p|^2
 *
 * with one part p for a chosen polarization and the three Cartesian components for the total field.
 * Fields are divided by a bound of |E| (ec_pattern_own.size). Of an element that a direction lies
 * behind the field is zero. Derivatives along the sphere are exact in the phases; those of the
 * fields, which vary a thousand times more slowly than the step, are central differences
 * (array_gain.h).
 */
#ifndef EC_ARRAY_OWN_H
#define EC_ARRAY_OWN_H

#include "array_gain.h"

/* Field of element m towards d: along `unit`, or with NULL all three components. */
EC_PATTERN_FN void ec_own_field(const ec_pattern_own *own, int32_t m, ec_direction d,
                                const double *unit, ec_c128 e[3])
{
    const ec_element_pattern *pattern = own->pattern + (own->patterns > 1 ? m : 0);
    const ec_element_frame *frame = own->frame + (own->frames > 1 ? m : 0);
    ec_c128 along = {0.0, 0.0};

    ec_element_vector_in_f64(pattern, frame, d.u, d.v, d.w, e);
    for (int i = 0; i < 3; i++) {
        e[i].re *= own->size;
        e[i].im *= own->size;
        if (!unit)
            continue;
        along.re += unit[i] * e[i].re;
        along.im += unit[i] * e[i].im;
    }
    if (unit)
        e[0] = along;
}

/* Phasor of element m times its amplitude. */
EC_FN ec_c128 ec_own_phasor(const ec_pattern_elements *el, ec_direction d, int32_t m)
{
    ec_c128 z;

    ec_sincos_turns_f64(ec_pattern_phase(el, d, m), &z.im, &z.re);
    z.re *= el->amplitude[m];
    z.im *= el->amplitude[m];
    return z;
}

EC_FN double ec_own_power(int32_t parts, const ec_c128 f[3])
{
    double p = 0.0;

    for (int32_t i = 0; i < parts; i++)
        p += f[i].re * f[i].re + f[i].im * f[i].im;
    return p;
}

EC_PATTERN_FN void ec_own_sum(const ec_pattern_args *args, const ec_pattern_elements *el,
                              ec_direction d, ec_c128 f[3])
{
    int32_t parts = args->own.parts;
    double unit[3];

    ec_gain_unit(&args->gain, d, unit);
    for (int32_t i = 0; i < parts; i++)
        f[i].re = f[i].im = 0.0;
    for (int32_t m = 0; m < el->n; m++) {
        ec_c128 e[3], z = ec_own_phasor(el, d, m);
        ec_own_field(&args->own, m, d, parts == 1 ? unit : NULL, e);
        for (int32_t i = 0; i < parts; i++) {
            ec_c128 product = ec_c128_multiply(z, e[i]);
            f[i].re += product.re;
            f[i].im += product.im;
        }
    }
}

/* Field of element m towards node k of the radiated power, three components. */
EC_PATTERN_FN void ec_own_radiated(const ec_pattern_args *args, int32_t m, int32_t k, ec_c128 e[3])
{
    const ec_pattern_power *power = &args->power;
    ec_direction d = {power->u[k], power->v[k], power->w[k]};

    if (!power->field) {
        ec_own_field(&args->own, m, d, NULL, e);
        return;
    }
    const float *from = power->field + 6 * (size_t)m * (size_t)power->nodes + k;
    for (int i = 0; i < 3; i++) {
        e[i].re = (double)from[2 * i * (size_t)power->nodes];
        e[i].im = (double)from[(2 * i + 1) * (size_t)power->nodes];
    }
}

/* The power P towards d[0], its gradient and Hessian over the parameters of d's derivatives, in the
 * order of ec_gain_stencil. */
EC_PATTERN_FN void ec_own_exact(const ec_pattern_args *args, const ec_pattern_elements *el,
                                const ec_direction d[6], double p[6])
{
    int32_t parts = args->own.parts;
    ec_gain_stencil stencil;
    double unit[9][3];
    ec_c128 f[3][6];

    ec_gain_stencil_make(d, &stencil);
    for (int k = 0; k < 9; k++)
        ec_gain_unit(&args->gain, stencil.to[k], unit[k]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++)
            f[i][k].re = f[i][k].im = 0.0;
    for (int32_t m = 0; m < el->n; m++) {
        double rate[6], re[3][9], im[3][9];
        ec_c128 z = ec_own_phasor(el, d[0], m);
        for (int k = 1; k < 6; k++)
            rate[k] = EC_TURN * (el->x[m] * d[k].u + el->y[m] * d[k].v + el->z[m] * d[k].w);
        for (int k = 0; k < 9; k++) {
            ec_c128 e[3];
            ec_own_field(&args->own, m, stencil.to[k], parts == 1 ? unit[k] : NULL, e);
            for (int32_t i = 0; i < parts; i++) {
                re[i][k] = e[i].re;
                im[i][k] = e[i].im;
            }
        }
        for (int32_t i = 0; i < parts; i++) {
            double er[6], ei[6];
            ec_gain_stencil_combine(&stencil, re[i], er);
            ec_gain_stencil_combine(&stencil, im[i], ei);
            for (int k = 0; k < 6; k++) {
                /* (E exp(j r))' = (E' + j r' E) exp(j r), and the same once more */
                int a = k == 5 ? 2 : 1, b = k == 3 ? 1 : 2;
                ec_c128 g = {er[k], ei[k]};
                if (k > 0) {
                    g.re -= rate[k] * ei[0];
                    g.im += rate[k] * er[0];
                }
                if (k > 2) {
                    g.re -= rate[a] * ei[b] + rate[b] * ei[a] + rate[a] * rate[b] * er[0];
                    g.im += rate[a] * er[b] + rate[b] * er[a] - rate[a] * rate[b] * ei[0];
                }
                g = ec_c128_multiply(g, z);
                f[i][k].re += g.re;
                f[i][k].im += g.im;
            }
        }
    }
    for (int k = 0; k < 6; k++)
        p[k] = 0.0;
    for (int32_t i = 0; i < parts; i++) {
        const ec_c128 *g = f[i];
        p[0] += g[0].re * g[0].re + g[0].im * g[0].im;
        for (int k = 1; k < 6; k++)
            p[k] += 2.0 * (g[0].re * g[k].re + g[0].im * g[k].im);
        p[3] += 2.0 * (g[1].re * g[1].re + g[1].im * g[1].im);
        p[4] += 2.0 * (g[1].re * g[2].re + g[1].im * g[2].im);
        p[5] += 2.0 * (g[2].re * g[2].re + g[2].im * g[2].im);
    }
}

/* |F|^2 of elements alike without their common factor, P of elements of their own. */
EC_PATTERN_FN double ec_pattern_square(const ec_pattern_args *args, const ec_pattern_elements *el,
                                       ec_direction d)
{
    ec_c128 f[3];

    if (args->own.parts) {
        ec_own_sum(args, el, d, f);
        return ec_own_power(args->own.parts, f);
    }
    f[0] = ec_pattern_sum(el, d);
    return f[0].re * f[0].re + f[0].im * f[0].im;
}

/* The same with two derivatives along a curve. */
EC_PATTERN_FN void ec_pattern_along(const ec_pattern_args *args, const ec_pattern_elements *el,
                                    const ec_direction d[3], double p[3])
{
    ec_direction none = {0.0, 0.0, 0.0}, all[6] = {d[0], d[1], none, d[2], none, none};
    double q[6];

    if (!args->own.parts) {
        ec_pattern_power3(el, d[0], d[1], d[2], p);
        return;
    }
    ec_own_exact(args, el, all, q);
    p[0] = q[0];
    p[1] = q[1];
    p[2] = q[3];
}

#endif
