/* array_gain.h: the element that all elements of an array have in common, as a factor of the
 * pattern: its complex field and its power in the chosen polarization, and logarithms of power with
 * their derivatives for the refinement of peaks.
 *
 * Powers are divided by the square of a bound of |E| (ec_pattern_gain.share), so that rows lie in
 * [0, 1]. Of (normal . d)^2q the derivatives are closed; of any other field they are central
 * differences of the power over a step of 1e-4 on the sphere: a power pattern varies over angles a
 * thousand times as large, so their error, 1e-8 of the second derivative, moves a refined peak by
 * less than 1e-8, while a cubic spline has no third derivative that a closed form could use. The
 * power and not its logarithm is differenced, for it is smooth at a null.
 */
#ifndef EC_ARRAY_GAIN_H
#define EC_ARRAY_GAIN_H

#include "array_field.h"

#define EC_GAIN_MIN     1e-40
#define EC_GAIN_MIN_LOG (-92.1) /* -400 dB: what lies behind an element */
#define EC_GAIN_STEP    1e-4

EC_FN double ec_gain_cosine(const ec_pattern_gain *gain, ec_direction d)
{
    const double *n = gain->frame.z;
    return n[0] * d.u + n[1] * d.v + n[2] * d.w;
}

/* The unit vector of a polarization towards d, in the axes of the array. */
EC_FN void ec_gain_unit(const ec_pattern_gain *gain, ec_direction d, double unit[3])
{
    double of[3] = {d.u, d.v, d.w}, co[3], cross[3], ct, st, cp, sp;

    if (gain->polarization == EC_POLARIZATION_CO || gain->polarization == EC_POLARIZATION_CROSS) {
        bool is_co = gain->polarization == EC_POLARIZATION_CO;
        double along = is_co ? gain->copolar_cos : -gain->copolar_sin;
        double across = is_co ? gain->copolar_sin : gain->copolar_cos;
        ec_element_co_vector(d.u, d.v, d.w, co);
        ec_cross3(of, co, cross);
        for (int i = 0; i < 3; i++)
            unit[i] = along * co[i] + across * cross[i];
        return;
    }
    ec_element_angles(d.u, d.v, d.w, &ct, &st, &cp, &sp);
    if (st < 1e-14) { /* a pole: the limit along a theta cut */
        cp = gain->pole_cos;
        sp = gain->pole_sin;
    }
    bool theta = gain->polarization == EC_POLARIZATION_THETA;
    unit[0] = theta ? ct * cp : -sp;
    unit[1] = theta ? ct * sp : cp;
    unit[2] = theta ? -st : 0.0;
}

/* Field of the element towards d in the chosen polarization; |E| of the total field. */
EC_PATTERN_FN ec_c128 ec_gain_field(const ec_pattern_gain *gain, ec_direction d)
{
    ec_c128 e[3], field = {1.0, 0.0};
    double unit[3];

    if (gain->form == EC_GAIN_ONE)
        return field;
    if (gain->form == EC_GAIN_COSINE) {
        double c = ec_gain_cosine(gain, d);
        field.re = c > 1e-12 ? ec_det_exp(gain->pattern.q * ec_det_log(c)) : 0.0;
        return field;
    }
    ec_element_vector_in_f64(&gain->pattern, &gain->frame, d.u, d.v, d.w, e);
    field.re = 0.0;
    if (gain->polarization == EC_POLARIZATION_TOTAL) {
        for (int i = 0; i < 3; i++)
            field.re += e[i].re * e[i].re + e[i].im * e[i].im;
        field.re = sqrt(field.re);
        return field;
    }
    ec_gain_unit(gain, d, unit);
    for (int i = 0; i < 3; i++) {
        field.re += unit[i] * e[i].re;
        field.im += unit[i] * e[i].im;
    }
    return field;
}

/* Power of the element towards d. */
EC_PATTERN_FN double ec_gain_power(const ec_pattern_gain *gain, ec_direction d)
{
    if (gain->form == EC_GAIN_ONE)
        return 1.0;
    if (gain->form == EC_GAIN_COSINE) {
        double c = ec_gain_cosine(gain, d);
        return c > 1e-12 ? ec_det_pow(c, 2.0 * gain->pattern.q) : 0.0;
    }
    ec_c128 field = ec_gain_field(gain, d);
    return (field.re * field.re + field.im * field.im) * gain->share;
}

/* ln of the power of a pattern whose elements have the power p together, with the element's. */
EC_PATTERN_FN double ec_gain_log(const ec_pattern_gain *gain, ec_direction d, double level)
{
    if (gain->form == EC_GAIN_ONE)
        return level;
    if (gain->form == EC_GAIN_COSINE) {
        double c = ec_gain_cosine(gain, d);
        return c > 1e-12 ? level + 2.0 * gain->pattern.q * ec_det_log(c) : EC_GAIN_MIN_LOG;
    }
    double power = ec_gain_power(gain, d);
    return power > EC_GAIN_MIN ? level + ec_det_log(power) : EC_GAIN_MIN_LOG;
}

EC_FN double ec_gain_dot(ec_direction a, ec_direction b)
{
    return a.u * b.u + a.v * b.v + a.w * b.w;
}

/* Nine directions about d[0] on the plane that touches the sphere there, and the derivatives d/da,
 * d/db, d2/da2, d2/dadb, d2/db2 that follow as d[1] to d[5] along that plane. A point off by t
 * stands for the direction d[0] + t; to second order t is what a curve's own d - d[0] is along the
 * plane. */
typedef struct ec_gain_stencil {
    ec_direction to[9];
    double a[6], b[6];
} ec_gain_stencil;

EC_PATTERN_FN void ec_gain_stencil_make(const ec_direction d[6], ec_gain_stencil *stencil)
{
    double r = sqrt(d[0].u * d[0].u + d[0].v * d[0].v);
    double c = r > 0.0 ? d[0].u / r : 1.0, s = r > 0.0 ? d[0].v / r : 0.0;
    ec_direction x = {d[0].w * c, d[0].w * s, -r}, y = {-s, c, 0.0};

    for (int k = 0; k < 9; k++) {
        double a = (k / 3 - 1) * EC_GAIN_STEP, b = (k % 3 - 1) * EC_GAIN_STEP;
        double length = 1.0 / sqrt(1.0 + a * a + b * b);
        stencil->to[k].u = (d[0].u + a * x.u + b * y.u) * length;
        stencil->to[k].v = (d[0].v + a * x.v + b * y.v) * length;
        stencil->to[k].w = (d[0].w + a * x.w + b * y.w) * length;
    }
    for (int k = 1; k < 6; k++) {
        stencil->a[k] = ec_gain_dot(d[k], x);
        stencil->b[k] = ec_gain_dot(d[k], y);
    }
}

/* A function's value, gradient and Hessian from its values at the nine directions. */
EC_PATTERN_FN void ec_gain_stencil_combine(const ec_gain_stencil *stencil, const double at[9],
                                           double g[6])
{
    const double h = EC_GAIN_STEP, *a = stencil->a, *b = stencil->b;
    double ga = (at[7] - at[1]) / (2.0 * h), gb = (at[5] - at[3]) / (2.0 * h);
    double haa = (at[7] - 2.0 * at[4] + at[1]) / (h * h);
    double hbb = (at[5] - 2.0 * at[4] + at[3]) / (h * h);
    double hab = (at[8] - at[6] - at[2] + at[0]) / (4.0 * h * h);

    g[0] = at[4];
    g[3] = haa * a[1] * a[1] + 2.0 * hab * a[1] * b[1] + hbb * b[1] * b[1];
    g[4] = haa * a[1] * a[2] + hab * (a[1] * b[2] + a[2] * b[1]) + hbb * b[1] * b[2];
    g[5] = haa * a[2] * a[2] + 2.0 * hab * a[2] * b[2] + hbb * b[2] * b[2];
    g[1] = g[2] = 0.0;
    for (int k = 1; k < 6; k++)
        g[k] += ga * a[k] + gb * b[k];
}

/* The power of the element towards d[0] and its derivatives. */
EC_PATTERN_FN void ec_gain_derivatives(const ec_pattern_gain *gain, const ec_direction d[6],
                                       double g[6])
{
    ec_gain_stencil stencil;
    double at[9];

    ec_gain_stencil_make(d, &stencil);
    for (int k = 0; k < 9; k++)
        at[k] = ec_gain_power(gain, stencil.to[k]);
    ec_gain_stencil_combine(&stencil, at, g);
}

/* Adds to ln |F|^2 and its derivatives, in the order of ec_gain_stencil, those of the element;
 * where the element has no power the sum is EC_GAIN_MIN_LOG, flat. */
EC_PATTERN_FN void ec_gain_add_log(const ec_pattern_gain *gain, const ec_direction d[6],
                                   double s[6])
{
    double g[6], scale = 1.0;

    if (gain->form == EC_GAIN_ONE)
        return;
    if (gain->form == EC_GAIN_COSINE) { /* 2q times the logarithm of the cosine */
        for (int k = 0; k < 6; k++)
            g[k] = ec_gain_cosine(gain, d[k]);
        scale = 2.0 * gain->pattern.q;
    } else {
        ec_gain_derivatives(gain, d, g);
    }
    if (!(g[0] > (gain->form == EC_GAIN_COSINE ? 1e-12 : EC_GAIN_MIN))) {
        s[0] = EC_GAIN_MIN_LOG;
        for (int k = 1; k < 6; k++)
            s[k] = 0.0;
        return;
    }
    for (int k = 1; k < 6; k++)
        g[k] /= g[0];
    s[0] += scale * ec_det_log(g[0]);
    s[1] += scale * g[1];
    s[2] += scale * g[2];
    s[3] += scale * (g[3] - g[1] * g[1]);
    s[4] += scale * (g[4] - g[1] * g[2]);
    s[5] += scale * (g[5] - g[2] * g[2]);
}

/* Multiplies |F|^2 and its two derivatives along a curve by the element's power, for the search of
 * a minimum: up to a positive factor, which keeps signs and Newton's steps. */
EC_PATTERN_FN void ec_gain_multiply(const ec_pattern_gain *gain, const ec_direction d[3],
                                    double p[3])
{
    double c = ec_gain_cosine(gain, d[0]);

    if (gain->form == EC_GAIN_ONE || (gain->form == EC_GAIN_COSINE && !(c > 1e-12)))
        return;
    if (gain->form == EC_GAIN_COSINE) { /* over c^2q */
        double q = 2.0 * gain->pattern.q, r = ec_gain_cosine(gain, d[1]) / c;
        double bend = ec_gain_cosine(gain, d[2]) / c, slope = p[1] + q * r * p[0];
        p[2] += 2.0 * q * r * p[1] + q * (bend + (q - 1.0) * r * r) * p[0];
        p[1] = slope;
        return;
    }
    ec_direction none = {0.0, 0.0, 0.0}, all[6] = {d[0], d[1], none, d[2], none, none};
    double g[6];
    ec_gain_derivatives(gain, all, g);
    p[2] = p[2] * g[0] + 2.0 * p[1] * g[1] + p[0] * g[3];
    p[1] = p[1] * g[0] + p[0] * g[1];
    p[0] *= g[0];
}

#endif
