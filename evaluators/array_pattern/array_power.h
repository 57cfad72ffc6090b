/* array_power.h: radiated power and directivity.
 *
 * Isotropic elements over the sphere: the mean of |F|^2 over all directions is exactly
 *   sum_mn a_m conj(a_n) sinc(2 d_mn / wavelength)
 * (e.g. Balanis, Antenna Theory, 4th ed., section 6.4), and half of it over the hemisphere that the
 * array's plane bounds. Elements cos^q in one plane: the same sum with the radial kernel
 *   1/2 int_0^1 J_0(2 pi d sqrt(1 - w^2)) w^2q dw = F(2 pi d) / (2 (2q + 1)),
 *   F(a) = Gamma(q + 3/2) (2/a)^(q + 1/2) J_(q + 1/2)(a)   (Sonine's first integral, 1880),
 * read from a table. Everything else by quadrature: arrays out of a plane over a half space, and
 * elements with a vector field, whose power counts in both polarizations.
 */
#ifndef EC_ARRAY_POWER_H
#define EC_ARRAY_POWER_H

#include "array_own.h"

/* sin(2 pi d) / (2 pi d) and its derivative over d. */
EC_FN double ec_pair_sinc(double d, double *slope)
{
    double s, c, x = EC_TURN * d;

    if (x < 1e-3) {
        *slope = EC_TURN * x * (-1.0 / 3.0 + x * x / 30.0);
        return 1.0 - x * x / 6.0 + x * x * x * x / 120.0;
    }
    ec_sincos_turns_f64(ec_turns_reduce(d), &s, &c);
    *slope = (c - s / x) / d;
    return s / x;
}

/* Radial kernel at d wavelengths and its derivative: sinc or the table's cubic. */
EC_FN double ec_pair_kernel(const ec_pattern_power *power, double d, double *slope)
{
    if (!power->samples)
        return ec_pair_sinc(d, slope);
    double t = d * power->per_step;
    int32_t i = t < power->samples - 1 ? (int32_t)t : power->samples - 2;
    const double *p = power->table + 2 * i;
    double x = t - i, h = 1.0 / power->per_step, rise = p[2] - p[0];
    double left = p[1] * h, right = p[3] * h;
    double b = 3.0 * rise - 2.0 * left - right, c = left + right - 2.0 * rise;

    *slope = (left + x * (2.0 * b + 3.0 * c * x)) * power->per_step;
    return p[0] + x * (left + x * (b + x * c));
}

EC_FN double ec_pair_distance(const ec_pattern_elements *el, int32_t m, int32_t n)
{
    double x = el->x[m] - el->x[n], y = el->y[m] - el->y[n], z = el->z[m] - el->z[n];
    return sqrt(x * x + y * y + z * z);
}

/* The field towards node k of elements of their own. */
EC_PATTERN_FN void ec_power_field(const ec_pattern_args *args, const ec_pattern_elements *el,
                                  int32_t k, ec_c128 f[3])
{
    const ec_pattern_power *power = &args->power;
    ec_direction d = {power->u[k], power->v[k], power->w[k]};

    for (int i = 0; i < 3; i++)
        f[i].re = f[i].im = 0.0;
    for (int32_t m = 0; m < el->n; m++) {
        ec_c128 e[3], z = ec_own_phasor(el, d, m);
        ec_own_radiated(args, m, k, e);
        for (int i = 0; i < 3; i++) {
            ec_c128 product = ec_c128_multiply(z, e[i]);
            f[i].re += product.re;
            f[i].im += product.im;
        }
    }
}

/* Mean of |F|^2 g^2 over the full sphere of directions (what |F(look)|^2 g^2 is divided by). */
EC_PATTERN_FN double ec_power_mean(const ec_team *team, const ec_pattern_args *args,
                                   const ec_pattern_elements *el)
{
    const ec_pattern_power *power = &args->power;
    double sum = 0.0, done = 0.0;

    if (!power->closed) {
        for (int32_t k = team->rank; k < power->nodes; k += team->size) {
            if (ec_pattern_over_after(args, el->n, &done))
                break;
            ec_direction d = {power->u[k], power->v[k], power->w[k]};
            ec_c128 f[3];
            if (args->own.parts) {
                ec_power_field(args, el, k, f);
                sum += power->weight[k] * ec_own_power(3, f);
                continue;
            }
            f[0] = ec_pattern_sum(el, d);
            sum += power->weight[k] * (f[0].re * f[0].re + f[0].im * f[0].im);
        }
        return ec_team_sum(team, sum);
    }
    double ignored, self = ec_pair_kernel(power, 0.0, &ignored);
    for (int32_t m = team->rank; m < el->n; m += team->size) {
        double pairs = 0.0;
        if (ec_pattern_over_after(args, 2.0 * m, &done))
            break;
        EC_PATTERN_SIMD_SUM(pairs)
        for (int32_t n = 0; n < m; n++) {
            double s, c, slope;
            ec_sincos_turns_f64(ec_turns_reduce(el->turn[m] - el->turn[n]), &s, &c);
            pairs +=
                el->amplitude[n] * c * ec_pair_kernel(power, ec_pair_distance(el, m, n), &slope);
        }
        sum += el->amplitude[m] * (el->amplitude[m] * self + 2.0 * pairs);
    }
    return ec_team_sum(team, sum) * power->factor;
}

#endif
