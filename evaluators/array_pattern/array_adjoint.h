/* array_adjoint.h: adjoints of the elements' positions, amplitudes and phases.
 *
 * A figure that is a maximum over directions has, by the envelope theorem, the derivative of the
 * pattern at the direction of the maximum; a beam's edge follows by implicit differentiation.
 * So every metric's adjoint is a sum of adjoints of the pattern in a few directions.
 * Each member of a team owns the elements m = rank, rank + size, ...
 */
#ifndef EC_ARRAY_ADJOINT_H
#define EC_ARRAY_ADJOINT_H

#include "array_power.h"

typedef struct ec_pattern_adjoint {
    double *x, *y, *z, *amplitude, *turn; /* of the elements in wavelengths, turns and shares */
    double scale;                         /* of the sum of amplitudes */
    double u0, v0;                        /* of a look direction that follows the steering */
} ec_pattern_adjoint;

EC_PATTERN_FN void ec_adjoint_clear(const ec_team *team, const ec_pattern_elements *el,
                                    ec_pattern_adjoint *adjoint)
{
    for (int32_t m = team->rank; m < el->n; m += team->size)
        adjoint->x[m] = adjoint->y[m] = adjoint->z[m] = adjoint->amplitude[m] = adjoint->turn[m] =
            0.0;
    adjoint->scale = adjoint->u0 = adjoint->v0 = 0.0;
}

/* Adds Re(conj(seed) dF), F the normalised pattern in direction d. */
EC_PATTERN_FN void ec_adjoint_field(const ec_team *team, const ec_pattern_elements *el,
                                    ec_pattern_adjoint *adjoint, ec_direction d, ec_c128 seed)
{
    EC_PATTERN_SIMD
    for (int32_t m = team->rank; m < el->n; m += team->size) {
        double s, c;
        ec_sincos_turns_f64(ec_pattern_phase(el, d, m), &s, &c);
        adjoint->amplitude[m] += seed.re * c + seed.im * s;
        double turn = EC_TURN * el->amplitude[m] * (seed.im * c - seed.re * s);
        adjoint->turn[m] += turn;
        adjoint->x[m] += turn * d.u;
        adjoint->y[m] += turn * d.v;
        adjoint->z[m] += turn * d.w;
    }
}

/* Adds what an adjoint seed of the field of element m means for it: e is its field. */
EC_FN void ec_adjoint_own(const ec_pattern_elements *el, ec_pattern_adjoint *adjoint, int32_t m,
                          ec_direction d, int32_t parts, const ec_c128 e[3], const ec_c128 seed[3])
{
    double s, c, re = 0.0, im = 0.0;

    ec_sincos_turns_f64(ec_pattern_phase(el, d, m), &s, &c);
    for (int32_t i = 0; i < parts; i++) { /* conj(seed) e */
        re += seed[i].re * e[i].re + seed[i].im * e[i].im;
        im += seed[i].re * e[i].im - seed[i].im * e[i].re;
    }
    adjoint->amplitude[m] += re * c - im * s;
    double turn = -EC_TURN * el->amplitude[m] * (re * s + im * c);
    adjoint->turn[m] += turn;
    adjoint->x[m] += turn * d.u;
    adjoint->y[m] += turn * d.v;
    adjoint->z[m] += turn * d.w;
}

/* Adds Re(sum conj(seed_p) dF_p) of elements of their own. */
EC_PATTERN_FN void ec_adjoint_parts(const ec_team *team, const ec_pattern_args *args,
                                    const ec_pattern_elements *el, ec_pattern_adjoint *adjoint,
                                    ec_direction d, const ec_c128 seed[3])
{
    int32_t parts = args->own.parts;
    double unit[3];

    ec_gain_unit(&args->gain, d, unit);
    for (int32_t m = team->rank; m < el->n; m += team->size) {
        ec_c128 e[3];
        ec_own_field(&args->own, m, d, parts == 1 ? unit : NULL, e);
        ec_adjoint_own(el, adjoint, m, d, parts, e, seed);
    }
}

/* Adds seed times the derivative of ln |F(d)|^2. */
EC_PATTERN_FN void ec_adjoint_log(const ec_team *team, const ec_pattern_args *args,
                                  const ec_pattern_elements *el, ec_pattern_adjoint *adjoint,
                                  ec_direction d, double seed)
{
    int32_t parts = args->own.parts ? args->own.parts : 1;
    ec_c128 f[3];

    if (args->own.parts)
        ec_own_sum(args, el, d, f);
    else
        f[0] = ec_pattern_sum(el, d);
    double p = ec_own_power(parts, f);
    if (seed == 0.0 || !(p > 1e-40))
        return;
    for (int32_t i = 0; i < parts; i++) {
        f[i].re *= 2.0 * seed / p;
        f[i].im *= 2.0 * seed / p;
    }
    if (args->own.parts)
        ec_adjoint_parts(team, args, el, adjoint, d, f);
    else
        ec_adjoint_field(team, el, adjoint, d, f[0]);
}

/* Adds seed times the derivative of ln of the radiated power (array_power.h). */
EC_PATTERN_FN void ec_adjoint_power(const ec_team *team, const ec_pattern_args *args,
                                    const ec_pattern_elements *el, ec_pattern_adjoint *adjoint,
                                    double mean, double seed)
{
    const ec_pattern_power *power = &args->power;

    seed /= mean;
    if (!power->closed) {
        for (int32_t k = 0; k < power->nodes; k++) {
            ec_direction d = {power->u[k], power->v[k], power->w[k]};
            if (args->own.parts) {
                ec_c128 field[3], e[3];
                ec_power_field(args, el, k, field);
                for (int i = 0; i < 3; i++) {
                    field[i].re *= 2.0 * seed * power->weight[k];
                    field[i].im *= 2.0 * seed * power->weight[k];
                }
                for (int32_t m = team->rank; m < el->n; m += team->size) {
                    ec_own_radiated(args, m, k, e);
                    ec_adjoint_own(el, adjoint, m, d, 3, e, field);
                }
                continue;
            }
            ec_c128 f = ec_pattern_sum(el, d);
            f.re *= 2.0 * seed * power->weight[k];
            f.im *= 2.0 * seed * power->weight[k];
            ec_adjoint_field(team, el, adjoint, d, f);
        }
        return;
    }
    seed *= 2.0 * power->factor;
    for (int32_t m = team->rank; m < el->n; m += team->size) {
        double share = 0.0, turn = 0.0, x = 0.0, y = 0.0, z = 0.0, am = el->amplitude[m];
        for (int32_t n = 0; n < el->n; n++) {
            double s, c, slope, r = ec_pair_distance(el, m, n);
            double f = ec_pair_kernel(power, r, &slope);
            ec_sincos_turns_f64(ec_turns_reduce(el->turn[m] - el->turn[n]), &s, &c);
            share += el->amplitude[n] * c * f;
            turn -= EC_TURN * el->amplitude[n] * s * f;
            double pull = r > 0.0 ? el->amplitude[n] * c * slope / r : 0.0;
            x += pull * (el->x[m] - el->x[n]);
            y += pull * (el->y[m] - el->y[n]);
            z += pull * (el->z[m] - el->z[n]);
        }
        adjoint->amplitude[m] += seed * share;
        adjoint->turn[m] += seed * am * turn;
        adjoint->x[m] += seed * am * x;
        adjoint->y[m] += seed * am * y;
        adjoint->z[m] += seed * am * z;
    }
}

EC_PATTERN_FN void ec_adjoint_write(const ec_pattern_args *args, int k, size_t c, size_t s,
                                    int32_t m, double value)
{
    const ec_pattern_target *target = &args->grad[k];
    double *at = &target->data[s * target->sample + (size_t)m * target->element + c * target->lane];

    *at = args->accumulate ? *at + value : value;
}

/* From elements to the call's inputs: x / wavelength, a / sum |a|, the steering's phase. */
EC_PATTERN_FN void ec_adjoint_finish(const ec_team *team, const ec_pattern_args *args, size_t c,
                                     size_t s, const ec_pattern_elements *el,
                                     ec_pattern_adjoint *adjoint)
{
    double per_wavelength = 1.0 / el->wavelength;
    double steer[3] = {el->u0, el->v0, el->w0};
    double *position[3] = {adjoint->x, adjoint->y, adjoint->z};
    const double *place[3] = {el->x, el->y, el->z};
    double steering[3] = {adjoint->u0, adjoint->v0, 0.0}, wavelength = 0.0, common = 0.0;

    for (int32_t m = team->rank; m < el->n; m += team->size)
        for (int k = 0; k < 3; k++)
            position[k][m] = (position[k][m] - steer[k] * adjoint->turn[m]) * per_wavelength;
    ec_team_sync(team);
    if (team->rank != 0)
        return;
    for (int32_t m = 0; m < el->n; m++) {
        common += adjoint->amplitude[m] * el->amplitude[m];
        for (int k = 0; k < 3; k++) {
            steering[k] -= adjoint->turn[m] * place[k][m];
            wavelength -= position[k][m] * place[k][m];
        }
    }
    for (int32_t m = 0; m < el->n; m++) {
        if (args->planar) /* a common phase: what is left is rounding */
            adjoint->z[m] = 0.0;
        double sign = el->amplitude[m] < 0.0 ? -1.0 : el->amplitude[m] > 0.0 ? 1.0 : 0.0;
        adjoint->amplitude[m] =
            (adjoint->amplitude[m] - sign * common) / el->scale + sign * adjoint->scale;
        adjoint->turn[m] /= EC_TURN;
    }
    const double *vectors[5] = {adjoint->x, adjoint->y, adjoint->z, adjoint->amplitude,
                                adjoint->turn};
    for (int k = 0; k < 5; k++) { /* x, y, z, amplitude, phase are the first inputs */
        double sum = 0.0;
        if (!args->grad[k].data)
            continue;
        for (int32_t m = 0; m < el->n; m++) {
            sum += vectors[k][m];
            if (args->in[k].element)
                ec_adjoint_write(args, k, c, s, m, vectors[k][m]);
        }
        if (!args->in[k].element)
            ec_adjoint_write(args, k, c, s, 0, sum);
    }
    if (args->grad[EC_PATTERN_WAVELENGTH].data)
        ec_adjoint_write(args, EC_PATTERN_WAVELENGTH, c, s, 0, wavelength);
    for (int k = 0; k < 3; k++)
        if (args->grad[EC_PATTERN_U0 + k].data)
            ec_adjoint_write(args, EC_PATTERN_U0 + k, c, s, 0, steering[k]);
}

#endif
