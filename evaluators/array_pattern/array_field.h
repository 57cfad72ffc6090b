/* array_field.h: a candidate's elements in wavelengths and turns, and exact values of its pattern.
 *
 *   F(d) = sum_m a_m exp(2 pi j [x_m u + y_m v + z_m w + turn_m]),  sum |a_m| = 1
 *
 * x, y, z in wavelengths; turn_m holds the phase and the steering, -(x_m u0 + y_m v0 + z_m w0).
 * All float64: phases are reduced to half a turn before the sine is taken.
 */
#ifndef EC_ARRAY_FIELD_H
#define EC_ARRAY_FIELD_H

#include "../../core/fastmath.h"
#include "../../core/status.h"
#include "array_team.h"

#define EC_TURN 6.283185307179586476925287 /* radians */

typedef struct ec_pattern_elements {
    int32_t n;
    double *x, *y, *z, *amplitude, *turn; /* n each */
    double scale;                         /* sum of |amplitude| before division */
    double wavelength, u0, v0, w0;
} ec_pattern_elements;

typedef struct ec_direction {
    double u, v, w;
} ec_direction;

EC_FN size_t ec_pattern_elements_bytes(int32_t n)
{
    return 5 * ec_round_up((size_t)n, 8) * sizeof(double);
}

EC_FN double ec_pattern_read(const ec_pattern_view *view, size_t c, size_t s, int32_t e)
{
    return view->data[s * view->sample + (size_t)e * view->element + c * view->lane];
}

/* Candidate status of one number: finite and inside its planned range (a rounding error is
 * allowed for). */
EC_FN int ec_pattern_check(const ec_pattern_view *view, double value)
{
    double slack = 1e-9 * (fabs(view->lo) + fabs(view->hi));
    int outside = value < view->lo - slack ? EC_CANDIDATE_OUT_OF_RANGE : 0;

    outside = value > view->hi + slack ? EC_CANDIDATE_OUT_OF_RANGE : outside;
    return value - value == 0.0 ? outside : EC_CANDIDATE_EVALUATOR;
}

/* Fills the elements of candidate c in sample s and returns its status. The team's members share
 * the loop; the sum of amplitudes is taken by each of them. */
EC_PATTERN_FN int ec_pattern_gather(const ec_team *team, const ec_pattern_args *args, size_t c,
                                    size_t s, ec_pattern_elements *el)
{
    const ec_pattern_view *in = args->in;
    double wavelength = ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0);
    double sum = 0.0;
    int bad = 0;

    el->wavelength = wavelength;
    el->u0 = ec_pattern_read(&in[EC_PATTERN_U0], c, s, 0);
    el->v0 = ec_pattern_read(&in[EC_PATTERN_V0], c, s, 0);
    el->w0 = ec_pattern_read(&in[EC_PATTERN_W0], c, s, 0);
    bad |= ec_pattern_check(&in[EC_PATTERN_WAVELENGTH], wavelength);
    bad |= wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
    bad |= ec_pattern_check(&in[EC_PATTERN_U0], el->u0);
    bad |= ec_pattern_check(&in[EC_PATTERN_V0], el->v0);
    bad |= ec_pattern_check(&in[EC_PATTERN_W0], el->w0);
    EC_PATTERN_SIMD_SUM(sum)
    for (int32_t m = 0; m < el->n; m++)
        sum += fabs(ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m));
    el->scale = sum;
    bad |= sum > 1e-290 && sum < 1e290 ? 0 : EC_CANDIDATE_EVALUATOR;
    double per_wavelength = 1.0 / wavelength, share = 1.0 / sum;
    double u0 = el->u0, v0 = el->v0, w0 = el->w0;
    int32_t planar = args->planar;
    EC_PATTERN_SIMD_OR(bad)
    for (int32_t m = team->rank; m < el->n; m += team->size) {
        double x = ec_pattern_read(&in[EC_PATTERN_X], c, s, m);
        double y = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m);
        double z = ec_pattern_read(&in[EC_PATTERN_Z], c, s, m);
        double amplitude = ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m);
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m);
        bad |= ec_pattern_check(&in[EC_PATTERN_X], x) | ec_pattern_check(&in[EC_PATTERN_Y], y) |
               ec_pattern_check(&in[EC_PATTERN_Z], z) |
               ec_pattern_check(&in[EC_PATTERN_AMPLITUDE], amplitude) |
               ec_pattern_check(&in[EC_PATTERN_PHASE], phase);
        x *= per_wavelength;
        y *= per_wavelength;
        z = planar ? 0.0 : z * per_wavelength;
        el->x[m] = x;
        el->y[m] = y;
        el->z[m] = z;
        el->amplitude[m] = amplitude * share;
        el->turn[m] =
            ec_turns_reduce(ec_turns_reduce(phase / EC_TURN) - (x * u0 + y * v0 + z * w0));
    }
    ec_team_sync(team);
    return bad;
}

EC_FN double ec_pattern_phase(const ec_pattern_elements *el, ec_direction d, int32_t m)
{
    return ec_turns_reduce(
        ec_fma(el->x[m], d.u, ec_fma(el->y[m], d.v, ec_fma(el->z[m], d.w, el->turn[m]))));
}

/* F without the element factor. */
EC_PATTERN_FN ec_c128 ec_pattern_sum(const ec_pattern_elements *el, ec_direction d)
{
    double re = 0.0, im = 0.0;

    EC_PATTERN_SIMD_SUM(re, im)
    for (int32_t m = 0; m < el->n; m++) {
        double s, c;
        ec_sincos_turns_f64(ec_pattern_phase(el, d, m), &s, &c);
        re += el->amplitude[m] * c;
        im += el->amplitude[m] * s;
    }
    ec_c128 f = {re, im};
    return f;
}

/* |F|^2 and its first two derivatives along a curve with velocity d1 and acceleration d2. */
EC_PATTERN_FN void ec_pattern_power3(const ec_pattern_elements *el, ec_direction d, ec_direction d1,
                                     ec_direction d2, double p[3])
{
    double re0 = 0.0, im0 = 0.0, re1 = 0.0, im1 = 0.0, re2 = 0.0, im2 = 0.0;

    EC_PATTERN_SIMD_SUM(re0, im0, re1, im1, re2, im2)
    for (int32_t m = 0; m < el->n; m++) {
        double s, c;
        double rate = EC_TURN * (el->x[m] * d1.u + el->y[m] * d1.v + el->z[m] * d1.w);
        double bend = EC_TURN * (el->x[m] * d2.u + el->y[m] * d2.v + el->z[m] * d2.w);
        ec_sincos_turns_f64(ec_pattern_phase(el, d, m), &s, &c);
        s *= el->amplitude[m];
        c *= el->amplitude[m];
        re0 += c;
        im0 += s;
        re1 -= rate * s;
        im1 += rate * c;
        re2 -= rate * rate * c + bend * s;
        im2 += bend * c - rate * rate * s;
    }
    p[0] = re0 * re0 + im0 * im0;
    p[1] = 2.0 * (re0 * re1 + im0 * im1);
    p[2] = 2.0 * (re1 * re1 + im1 * im1 + re0 * re2 + im0 * im2);
}

#endif
