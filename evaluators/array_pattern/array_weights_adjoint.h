/* array_weights_adjoint.h: adjoints of optimal weights of one quadratic problem (LCMV and least
 * squares): what a change of the positions, or of the wavelength, does to the weights.
 *
 * The weights solve R w + C mu = b, C^H w = f. For an adjoint w' of the weights (the derivative over
 * Re w + j that over Im w) the same factors solve R v + C nu = w', C^H v = 0, and
 *   dL = Re(-v^H dR w + v^H db - v^H dC mu - nu^H dC^H w)
 * (the implicit function theorem; e.g. Griewank and Walther, Evaluating Derivatives, 2008, 15.2). With
 * T and Q of array_weights_solve.h: v = L^-H (I - Q Q^H) L^-1 w', nu = T^-1 Q^H L^-1 w',
 * mu = T^-1 (Q^H L^-1 b - T^-H f). R, b and C are made of rows, so
 *   dL = Re sum_i da_i^T (alpha_i v + beta_i w):
 *   sources      alpha = -q (conj(a^T w) - D), beta = -q conj(a^T v),
 *   constraints  alpha = -conj(mu),            beta = -conj(nu),
 * and da_im = 2 pi j a_im (d_i - d0) . dr_m. Loading does not depend on the positions, for |a_im|
 * of currents does not. The noise of pairs of elements is S_mn s_m conj(s_n) with a radial kernel S.
 */
#ifndef EC_ARRAY_WEIGHTS_ADJOINT_H
#define EC_ARRAY_WEIGHTS_ADJOINT_H

#include "array_weights_solve.h"

EC_FN void ec_weights_write(const ec_pattern_target *to, size_t c, size_t s, int32_t e,
                            double value)
{
    if (to->data)
        to->data[s * to->sample + (size_t)e * to->element + c * to->lane] = value;
}

/* The adjoint of the weights from those of amplitude and phase, into adjoint. */
EC_PATTERN_FN void ec_weights_seed(const ec_team *team, const ec_weights_args *args, size_t c,
                                   size_t s, ec_weights_work *work)
{
    for (int32_t m = team->rank; m < work->stride; m += team->size) {
        double re = work->best.re[m], im = work->best.im[m];
        double size = m < work->n ? sqrt(re * re + im * im) : 0.0, along = 0.0, across = 0.0;
        if (size > 0.0 && args->seed[0].data)
            along = ec_pattern_read(&args->seed[0], c, s, m) / size;
        if (size > 0.0 && args->seed[1].data)
            across = ec_pattern_read(&args->seed[1], c, s, m) / (size * size);
        work->adjoint.re[m] = size > 0.0 ? along * re - across * im : 0.0;
        work->adjoint.im[m] = size > 0.0 ? along * im + across * re : 0.0;
    }
}

/* In place x = T^-1 x of the constraints; one member. */
EC_PATTERN_FN void ec_weights_triangle(const ec_weights_work *work, ec_weights_rows x)
{
    int32_t count = work->constraints;

    for (int32_t r = count - 1; r >= 0; r--) { /* column r of T is row r of the triangle */
        ec_weights_rows t = ec_weights_row(work->triangle, r, count);
        x.re[r] /= t.re[r];
        x.im[r] /= t.re[r];
        for (int32_t k = 0; k < r; k++) {
            x.re[k] -= t.re[k] * x.re[r] - t.im[k] * x.im[r];
            x.im[k] -= t.re[k] * x.im[r] + t.im[k] * x.re[r];
        }
    }
}

/* v into adjoint, alpha and beta of the constraints. The solution has left T^-H f in column and
 * Q^H L^-1 b in the triangle's last row; its goal is spent. */
EC_PATTERN_FN void ec_weights_resolve(const ec_team *team, const ec_weights_args *args,
                                      ec_weights_work *work)
{
    int32_t count = work->constraints, n = work->n;
    ec_weights_rows v = ec_weights_row(work->solved, count, work->stride), mu = work->column;
    ec_weights_rows along = ec_weights_row(work->triangle, count, count), nu;
    bool target = args->method == EC_WEIGHTS_LEAST_SQUARES;

    nu.re = work->beta.re + work->sources;
    nu.im = work->beta.im + work->sources;
    ec_weights_forward(team, args, work, 1, work->adjoint, v);
    ec_team_sync(team);
    ec_weights_reduce(team, work, count, v, nu.re, nu.im);
    ec_weights_backward(team, args, work, v);
    ec_team_sync(team);
    for (int32_t m = team->rank; m < n; m += team->size) {
        work->adjoint.re[m] = v.re[m];
        work->adjoint.im[m] = v.im[m];
    }
    if (team->rank == 0) {
        for (int32_t r = 0; r < count; r++) {
            mu.re[r] = (target ? along.re[r] : 0.0) - mu.re[r];
            mu.im[r] = (target ? along.im[r] : 0.0) - mu.im[r];
        }
        ec_weights_triangle(work, mu);
        ec_weights_triangle(work, nu);
        for (int32_t r = 0; r < count; r++) {
            work->alpha.re[work->sources + r] = -mu.re[r];
            work->alpha.im[work->sources + r] = mu.im[r];
            nu.re[r] = -nu.re[r];
        }
    }
    ec_team_sync(team);
}

/* alpha and beta of the sources. */
EC_PATTERN_FN void ec_weights_factors(const ec_team *team, const ec_weights_args *args,
                                      ec_weights_work *work)
{
    bool target = args->method == EC_WEIGHTS_LEAST_SQUARES;
    int32_t grid = args->directions * args->parts;

    for (int32_t i = team->rank; i < work->sources; i += team->size) {
        ec_weights_rows a = ec_weights_row(work->row, i, work->stride);
        ec_c128 f = ec_weights_product(work->n, a, work->best);
        ec_c128 g = ec_weights_product(work->n, a, work->adjoint);
        double q = work->q[i];
        work->alpha.re[i] = -q * (f.re - (target && i < grid ? work->wanted[i] : 0.0));
        work->alpha.im[i] = q * f.im;
        work->beta.re[i] = -q * g.re;
        work->beta.im[i] = q * g.im;
    }
    ec_team_sync(team);
}

/* gradient_m -= 2 pi sum_i Im(a_im (alpha_i v_m + beta_i w_m)) (with d_i - less d0) over `count` rows;
 * with and less are 1 or 0. */
EC_PATTERN_FN void ec_weights_pull(const ec_team *team, const ec_weights_work *work,
                                   ec_weights_rows rows, int32_t count, double with, double less,
                                   ec_weights_rows v, ec_weights_rows w)
{
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        double g[3] = {0.0, 0.0, 0.0};
        double vr = v.re[m], vi = v.im[m], wr = w.re[m], wi = w.im[m];
        for (int32_t i = 0; i < count; i++) {
            size_t at = (size_t)i * (size_t)work->stride + (size_t)m;
            const double *d = work->place + 3 * (size_t)i;
            double ar = work->alpha.re[i], ai = work->alpha.im[i];
            double br = work->beta.re[i], bi = work->beta.im[i];
            double re = ar * vr - ai * vi + br * wr - bi * wi;
            double im = ar * vi + ai * vr + br * wi + bi * wr;
            double turn = rows.re[at] * im + rows.im[at] * re;
            g[0] += turn * (with * d[0] - less * work->u0);
            g[1] += turn * (with * d[1] - less * work->v0);
            g[2] += turn * (with * d[2] - less * work->w0);
        }
        for (int32_t k = 0; k < 3; k++)
            work->gradient[k * work->stride + m] -= EC_TURN * g[k];
    }
}

/* v and w as the currents see them: M (conj(s) x). */
EC_PATTERN_FN void ec_weights_to_currents(const ec_team *team, const ec_weights_work *work,
                                          ec_weights_rows x, ec_weights_rows to)
{
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        ec_weights_rows port = ec_weights_row(work->ports, m, work->stride);
        double re = 0.0, im = 0.0;
        for (int32_t l = 0; l < work->n; l++) {
            double c = work->steer.re[l], s = work->steer.im[l];
            double a = x.re[l] * c + x.im[l] * s, b = x.im[l] * c - x.re[l] * s;
            re += port.re[l] * a - port.im[l] * b;
            im += port.re[l] * b + port.im[l] * a;
        }
        to.re[m] = re;
        to.im[m] = im;
    }
    ec_team_sync(team);
}

/* What the noise of pairs adds: -Re(v^H dR w) with v and w turned by conj(s), which makes R the real
 * S. */
EC_PATTERN_FN void ec_weights_pull_pairs(const ec_team *team, const ec_weights_args *args,
                                         ec_weights_work *work)
{
    const double *at[3] = {work->x, work->y, work->z};
    double look[3] = {work->u0, work->v0, work->w0};

    for (int32_t m = team->rank; m < work->n; m += team->size) {
        ec_weights_rows from[2] = {work->adjoint, work->best};
        ec_weights_rows to[2] = {work->current_v, work->current_w};
        for (int i = 0; i < 2; i++) {
            double c = work->steer.re[m], s = work->steer.im[m];
            to[i].re[m] = from[i].re[m] * c + from[i].im[m] * s;
            to[i].im[m] = from[i].im[m] * c - from[i].re[m] * s;
        }
    }
    ec_team_sync(team);
    const ec_weights_rows v = work->current_v, w = work->current_w;
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        double turn = 0.0, pull[3] = {0.0, 0.0, 0.0};
        for (int32_t n = 0; n < work->n; n++) {
            double d[3], slope, square = 0.0;
            for (int k = 0; k < 3; k++) {
                d[k] = at[k][m] - at[k][n];
                square += d[k] * d[k];
            }
            double distance = sqrt(square);
            double pair = args->pair_scale * ec_pair_kernel(&args->power, distance, &slope);
            /* Im(conj(v_m) w_n + conj(w_m) v_n) and Re of the same */
            turn += pair *
                    (v.re[m] * w.im[n] - v.im[m] * w.re[n] + w.re[m] * v.im[n] - w.im[m] * v.re[n]);
            double both =
                v.re[m] * w.re[n] + v.im[m] * w.im[n] + w.re[m] * v.re[n] + w.im[m] * v.im[n];
            double force = distance > 0.0 ? args->pair_scale * slope / distance * both : 0.0;
            for (int k = 0; k < 3; k++)
                pull[k] -= force * d[k];
        }
        for (int32_t k = 0; k < 3; k++)
            work->gradient[k * work->stride + m] += pull[k] + EC_TURN * turn * look[k];
    }
}

/* From wavelengths about the centroid to the inputs. */
EC_PATTERN_FN void ec_weights_give(const ec_weights_args *args, size_t c, size_t s, bool failed,
                                   const ec_weights_work *work)
{
    const double *at[3] = {work->x, work->y, work->z};
    double wavelength = 0.0, per = 1.0 / work->wavelength;

    for (int32_t k = 0; k < 3; k++) {
        double *g = work->gradient + k * work->stride, mean = 0.0, sum = 0.0;
        for (int32_t m = 0; m < work->n; m++)
            mean += g[m] / work->n;
        for (int32_t m = 0; m < work->n; m++) {
            double value = failed ? (double)NAN : (g[m] - mean) * per;
            wavelength -= value * at[k][m];
            sum += value;
            if (args->in[EC_WEIGHTS_X + k].element)
                ec_weights_write(&args->grad[k], c, s, m, value);
        }
        if (!args->in[EC_WEIGHTS_X + k].element)
            ec_weights_write(&args->grad[k], c, s, 0, sum);
    }
    ec_weights_write(&args->grad[3], c, s, 0, wavelength);
}

/* After ec_weights_find, with the weights in best. */
EC_PATTERN_FN void ec_weights_adjoint(const ec_team *team, const ec_weights_args *args, size_t c,
                                      size_t s, bool failed, ec_weights_work *work)
{
    int32_t rows = work->sources + work->constraints;
    bool coupled = args->ports.count > 0;

    ec_team_sync(team);
    for (int32_t m = team->rank; m < 3 * work->stride; m += team->size)
        work->gradient[m] = 0.0;
    if (!failed) {
        ec_weights_seed(team, args, c, s, work);
        ec_weights_resolve(team, args, work);
        ec_weights_factors(team, args, work);
        if (coupled) {
            ec_weights_to_currents(team, work, work->adjoint, work->current_v);
            ec_weights_to_currents(team, work, work->best, work->current_w);
            ec_weights_pull(team, work, work->plain, rows, 1.0, 0.0, work->current_v,
                            work->current_w);
            ec_weights_pull(team, work, work->row, rows, 0.0, 1.0, work->adjoint, work->best);
        } else {
            ec_weights_pull(team, work, work->row, rows, 1.0, 1.0, work->adjoint, work->best);
        }
        if (args->isotropic && args->nodes == 0)
            ec_weights_pull_pairs(team, args, work);
    }
    ec_team_sync(team);
    if (team->rank == 0)
        ec_weights_give(args, c, s, failed, work);
}

#endif
