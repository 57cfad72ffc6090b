/* array_back.h: the adjoint of a whole pattern on the CPU by non-uniform FFTs of type 2.
 *
 * With seeds h_i of F over a uniform grid the adjoints of element m are sums over the grid,
 *
 *   G_m = sum_i conj(h_i) exp(2 pi j [x_m u_i + y_m v_i + z_m w_i + turn_m]),
 *
 * Re G_m for the amplitude, -2 pi a_m Im G_m for the turn, and the same with conj(h_i) u_i (v_i, w_i)
 * for x_m (y_m, z_m): modes to scattered points. The part of z w that is not linear goes through the
 * expansion of the forward path (ec_pattern_nufft), its factors now on the side of the modes. args->back
 * is planned for float64 and 1e-10 of the rms, whatever the forward path is.
 */
#ifndef EC_ARRAY_BACK_H
#define EC_ARRAY_BACK_H

#include "array_adjoint.h"

#include <string.h>

enum { EC_BACK_CHANNELS = 4 }; /* plain, times u, times v, times w */

/* Which channels the elements need: v of a cut is fixed, w of a plane a common phase. */
static inline int32_t ec_back_channels(const ec_pattern_args *args, int32_t list[EC_BACK_CHANNELS])
{
    int32_t n = 0;

    list[n++] = 0;
    list[n++] = 1;
    if (args->grid.topology != EC_PATTERN_CUT)
        list[n++] = 2;
    if (!args->planar)
        list[n++] = 3;
    return n;
}

/* j^p */
static inline ec_c128 ec_back_power(int32_t p)
{
    double sign = p & 2 ? -1.0 : 1.0;
    ec_c128 j = {p & 1 ? 0.0 : sign, p & 1 ? sign : 0.0};

    return j;
}

/* Modes of term p, [channels][points]. */
static inline void ec_back_modes(const ec_pattern_args *args, const ec_c128 *seed, int32_t p,
                                 const int32_t *channel, int32_t channels, ec_c128 *modes)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_nufft *back = args->back;
    const double *factor = (const double *)back->factor, *along[3] = {grid->u, grid->v, grid->w};
    size_t points = (size_t)grid->points;
    ec_c128 turn = ec_back_power(p);

    for (size_t i = 0; i < points; i++) {
        double s, c, f = factor ? factor[(size_t)p * points + i] : 1.0;
        ec_sincos_turns_f64(ec_turns_reduce(back->z_c * grid->w[i]), &s, &c);
        ec_c128 h = {seed[i].re * c + seed[i].im * s, seed[i].re * s - seed[i].im * c};
        double re = f * (h.re * turn.re - h.im * turn.im),
               im = f * (h.re * turn.im + h.im * turn.re);
        for (int32_t k = 0; k < channels; k++) {
            double weight = channel[k] ? along[channel[k] - 1][i] : 1.0;
            modes[(size_t)k * points + i].re = weight * re;
            modes[(size_t)k * points + i].im = weight * im;
        }
    }
}

/* Adds a term's transforms times b_p(zeta) to the sums, [channels][elements]. */
static inline void ec_back_gather(const ec_pattern_args *args, const ec_pattern_elements *el,
                                  int32_t p, int32_t channels, const ec_c128 *out, ec_c128 *sum)
{
    const ec_pattern_nufft *back = args->back;
    size_t n = (size_t)el->n;

    for (size_t m = 0; m < n; m++) {
        double zeta = back->terms > 1 ? (el->z[m] - back->z_c) / back->z_half : 0.0;
        double here = 1.0, before = 0.0;
        zeta = zeta > 1.0 ? 1.0 : zeta < -1.0 ? -1.0 : zeta;
        for (int32_t k = 1; k <= p; k++) {
            double next = back->taylor || k == 1 ? zeta * here : 2.0 * zeta * here - before;
            before = here;
            here = next;
        }
        for (size_t k = 0; k < (size_t)channels; k++) {
            sum[k * n + m].re += here * out[k * n + m].re;
            sum[k * n + m].im += here * out[k * n + m].im;
        }
    }
}

/* Adds Re(sum conj(seed_i) dF_i). memory: the tables. */
static inline void ec_back_adjoint(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   ec_pattern_adjoint *adjoint, const ec_c128 *seed, char *memory)
{
    const ec_pattern_nufft *back = args->back;
    int32_t channel[EC_BACK_CHANNELS], channels = ec_back_channels(args, channel);
    double *x = (double *)(memory + back->at_point), *y = x + el->n;
    ec_c128 *modes = (ec_c128 *)(memory + back->at_term);
    ec_c128 *out = (ec_c128 *)(memory + back->at_strength);
    ec_c128 *sum = (ec_c128 *)(memory + back->at_field);
    size_t n = (size_t)el->n;

    for (size_t m = 0; m < n; m++) {
        x[m] = el->x[m] * back->step_u;
        y[m] = el->y[m] * back->step_v;
    }
    memset(sum, 0, (size_t)channels * n * sizeof *sum);
    for (int32_t p = 0; p < back->terms; p++) {
        ec_back_modes(args, seed, p, channel, channels, modes);
        ec_nufft_io io = {.point = {x, y}, .in = modes, .out = out, .vectors = channels};
        back->plan->function(back->plan, &io, memory + back->at_work);
        ec_back_gather(args, el, p, channels, out, sum);
    }
    for (size_t m = 0; m < n; m++) {
        double s, c, dz = el->z[m] - back->z_c, g[EC_BACK_CHANNELS][2] = {{0.0}};
        ec_sincos_turns_f64(ec_turns_reduce(ec_fma(el->x[m], back->centre_u,
                                                   ec_fma(el->y[m], back->centre_v,
                                                          ec_fma(dz, back->w_c, el->turn[m])))),
                            &s, &c);
        for (int32_t k = 0; k < channels; k++) {
            ec_c128 f = sum[(size_t)k * n + m];
            g[channel[k]][0] = f.re * c - f.im * s;
            g[channel[k]][1] = f.re * s + f.im * c;
        }
        if (args->grid.topology == EC_PATTERN_CUT)
            g[2][1] = args->grid.fixed * g[0][1];
        double scale = -EC_TURN * el->amplitude[m];
        adjoint->amplitude[m] += g[0][0];
        adjoint->turn[m] += scale * g[0][1];
        adjoint->x[m] += scale * g[1][1];
        adjoint->y[m] += scale * g[2][1];
        adjoint->z[m] += scale * g[3][1];
    }
}

#endif
