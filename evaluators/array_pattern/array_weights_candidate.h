/* array_weights_candidate.h: optimal weights of one candidate: covariance, constraints, solution.
 * One source for the CPU (a team of one) and CUDA (a block). The method is in array_weights.h.
 *
 * With R = L L^H, Y = L^-1 C = Q T and f = (1, 0, .. 0) the solution is
 *   w = L^-H [ Q T^-H f + (I - Q Q^H) L^-1 b ].
 * Operations for N elements, G directions, K constraints: 4 G N^2 multiply-adds for R (half of a
 * matrix, complex), 2/3 N^3 for L, 4 K N^2 for Y, and G N sines and cosines.
 */
#ifndef EC_ARRAY_WEIGHTS_CANDIDATE_H
#define EC_ARRAY_WEIGHTS_CANDIDATE_H

#include "array_field.h"
#include "array_weights.h"
#include "array_weights_types.h"

/* A constraint whose part beyond the others is smaller than this (of its own length) depends on
 * them; a pivot below EC_WEIGHTS_SINGULAR of the diagonal's mean is rounding noise. */
#define EC_WEIGHTS_DEPENDENT 1e-7
#define EC_WEIGHTS_SINGULAR  1e-14
#define EC_WEIGHTS_LARGEST   1e9
#define EC_WEIGHTS_FLOOR     0.3 /* of Lawson's factor */

EC_FN ec_weights_rows ec_weights_row(ec_weights_rows rows, int32_t row, int32_t stride)
{
    size_t at = (size_t)row * (size_t)stride;
    ec_weights_rows one = {rows.re + at, rows.im + at};

    return one;
}

/* ---- the geometry ---- */

/* Positions in wavelengths about the centroid, and the look direction; candidate status bits. */
EC_PATTERN_FN int ec_weights_gather(const ec_team *team, const ec_weights_args *args, size_t c,
                                    size_t s, ec_weights_work *work)
{
    const ec_pattern_view *in = args->in;
    double wavelength = ec_pattern_read(&in[EC_WEIGHTS_WAVELENGTH], c, s, 0);
    double *to[3] = {work->x, work->y, work->z};
    int32_t n = work->n;
    int bad = wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;

    work->u0 = ec_pattern_read(&in[EC_WEIGHTS_U0], c, s, 0);
    work->v0 = ec_pattern_read(&in[EC_WEIGHTS_V0], c, s, 0);
    work->w0 = ec_pattern_read(&in[EC_WEIGHTS_W0], c, s, 0);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_WAVELENGTH], wavelength);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_U0], work->u0);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_V0], work->v0);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_W0], work->w0);
    for (int32_t m = team->rank; m < n; m += team->size)
        bad |= ec_pattern_check(&in[EC_WEIGHTS_START],
                                ec_pattern_read(&in[EC_WEIGHTS_START], c, s, m));
    for (int k = 0; k < 3; k++) {
        const ec_pattern_view *view = &in[EC_WEIGHTS_X + k];
        double mean = 0.0;
        for (int32_t m = 0; m < n; m++)
            mean += ec_pattern_read(view, c, s, m);
        mean /= n;
        for (int32_t m = team->rank; m < work->stride; m += team->size) {
            double p = ec_pattern_read(view, c, s, m < n ? m : 0);
            bad |= ec_pattern_check(view, p);
            to[k][m] = m < n ? (p - mean) / wavelength : 0.0;
        }
    }
    return bad;
}

/* e(d), or its conjugate: the phasors of the elements towards d, relative to the look direction. */
EC_PATTERN_FN void ec_weights_phasors(const ec_weights_work *work, ec_direction d, bool conjugate,
                                      ec_weights_rows to)
{
    double u = d.u - work->u0, v = d.v - work->v0, w = d.w - work->w0;
    double sign = conjugate ? -1.0 : 1.0;
    const double *x = work->x, *y = work->y, *z = work->z;

    EC_PATTERN_SIMD
    for (int32_t m = 0; m < work->n; m++) {
        double sine, cosine;
        double turn = ec_turns_reduce(ec_fma(x[m], u, ec_fma(y[m], v, z[m] * w)));
        ec_sincos_turns_f64(turn, &sine, &cosine);
        to.re[m] = cosine;
        to.im[m] = sign * sine;
    }
    for (int32_t m = work->n; m < work->stride; m++)
        to.re[m] = to.im[m] = 0.0;
}

/* Direction k of three inputs u, v, w. */
EC_FN ec_direction ec_weights_given(const ec_weights_args *args, int input, size_t c, size_t s,
                                    int32_t k)
{
    ec_direction d = {ec_pattern_read(&args->in[input], c, s, k),
                      ec_pattern_read(&args->in[input + 1], c, s, k),
                      ec_pattern_read(&args->in[input + 2], c, s, k)};

    return d;
}

EC_PATTERN_FN int ec_weights_check_given(const ec_weights_args *args, int input, int count,
                                         size_t c, size_t s, int32_t k)
{
    int bad = 0;

    for (int i = input; i < input + count; i++)
        bad |= ec_pattern_check(&args->in[i], ec_pattern_read(&args->in[i], c, s, k));
    return bad;
}

/* The constraints' rows. */
EC_PATTERN_FN int ec_weights_constrain(const ec_team *team, const ec_weights_args *args, size_t c,
                                       size_t s, ec_weights_work *work)
{
    int bad = 0;

    for (int32_t r = team->rank; r < work->constraints; r += team->size) {
        ec_direction d = {work->u0, work->v0, work->w0};
        if (r > 0) {
            bad |= ec_weights_check_given(args, EC_WEIGHTS_NULL_U, 3, c, s, r - 1);
            d = ec_weights_given(args, EC_WEIGHTS_NULL_U, c, s, r - 1);
        }
        ec_weights_phasors(work, d, true, ec_weights_row(work->fixed, r, work->stride));
    }
    return bad;
}

/* Phasors of every source, with its weight in R. Padding has the weight 0. */
EC_PATTERN_FN int ec_weights_illuminate(const ec_team *team, const ec_weights_args *args, size_t c,
                                        size_t s, ec_weights_work *work)
{
    double share = args->directions > 0 ? 1.0 / args->directions : 0.0;
    int bad = 0;

    for (int32_t i = team->rank; i < work->sources; i += team->size) {
        ec_direction d = {work->u0, work->v0, work->w0};
        double q = 0.0, wanted = 0.0;
        if (i < args->directions) {
            d.u = args->u[i], d.v = args->v[i], d.w = args->w[i];
            double a = d.u - work->u0, b = d.v - work->v0, r = sqrt(a * a + b * b);
            bool inside = r < args->exclude - 1e-9; /* a direction on the edge is outside */
            if (args->method != EC_WEIGHTS_LEAST_SQUARES) {
                q = inside ? 0.0 : share;
                wanted = inside ? 0.0 : 1.0;
            } else {
                q = inside ? share : share * args->side_weight;
                double part = (r - args->flat) / (args->exclude - args->flat);
                double cosine = ec_det_cospi(0.5 * (part > 0.0 ? part : 0.0));
                wanted = inside ? cosine * cosine : 0.0;
            }
        } else if (i < args->directions + args->interferers) {
            int32_t k = i - args->directions;
            bad |= ec_weights_check_given(args, EC_WEIGHTS_NOISE_U, 4, c, s, k);
            d = ec_weights_given(args, EC_WEIGHTS_NOISE_U, c, s, k);
            q = ec_pattern_read(&args->in[EC_WEIGHTS_NOISE_POWER], c, s, k);
            bad |= q >= 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
        }
        work->q[i] = q;
        work->wanted[i] = wanted;
        ec_weights_phasors(work, d, false, ec_weights_row(work->phasor, i, work->stride));
    }
    return bad;
}

/* ---- the covariance ---- */

/* Row m of the noise of an isotropic field, or of none: sinc(2 d_mn), turned into the frame of the
 * look direction by the phasors in column. */
EC_PATTERN_FN void ec_weights_noise_row(const ec_weights_args *args, ec_weights_work *work,
                                        int32_t m, ec_weights_rows to)
{
    const ec_weights_rows e = work->column;

    for (int32_t k = 0; k < work->stride; k++)
        to.re[k] = to.im[k] = 0.0;
    if (args->method != EC_WEIGHTS_LCMV)
        return;
    to.re[m] = 1.0;
    for (int32_t k = 0; k < m && args->isotropic; k++) {
        double x = work->x[m] - work->x[k], y = work->y[m] - work->y[k];
        double z = work->z[m] - work->z[k], sine, cosine;
        double distance = sqrt(x * x + y * y + z * z), sinc = 1.0;
        if (distance > 1e-9) {
            ec_sincos_turns_f64(ec_turns_reduce(distance), &sine, &cosine);
            sinc = sine / (EC_TURN * distance);
        }
        to.re[k] = sinc * (e.re[m] * e.re[k] + e.im[m] * e.im[k]);
        to.im[k] = sinc * (e.im[m] * e.re[k] - e.re[m] * e.im[k]);
    }
}

/* Row m += sum of q_i conj(e_im) e_in over the sources, columns 0 .. m. */
EC_PATTERN_FN void ec_weights_source_row(const ec_weights_work *work, int32_t m, ec_weights_rows to)
{
    int32_t stride = work->stride, last = (m | 7) + 1;

    for (int32_t i = 0; i < work->sources; i += EC_WEIGHTS_TOGETHER) {
        const double *re = work->phasor.re + (size_t)i * (size_t)stride;
        const double *im = work->phasor.im + (size_t)i * (size_t)stride;
        const double *re1 = re + stride, *re2 = re1 + stride, *re3 = re2 + stride;
        const double *im1 = im + stride, *im2 = im1 + stride, *im3 = im2 + stride;
        const double *q = work->q + i;
        double a0 = q[0] * re[m], b0 = q[0] * im[m], a1 = q[1] * re1[m], b1 = q[1] * im1[m];
        double a2 = q[2] * re2[m], b2 = q[2] * im2[m], a3 = q[3] * re3[m], b3 = q[3] * im3[m];
        EC_PATTERN_SIMD
        for (int32_t n = 0; n < last; n++) {
            double r = to.re[n], j = to.im[n];
            r = ec_fma(a0, re[n], ec_fma(b0, im[n], r));
            j = ec_fma(a0, im[n], ec_fma(-b0, re[n], j));
            r = ec_fma(a1, re1[n], ec_fma(b1, im1[n], r));
            j = ec_fma(a1, im1[n], ec_fma(-b1, re1[n], j));
            r = ec_fma(a2, re2[n], ec_fma(b2, im2[n], r));
            j = ec_fma(a2, im2[n], ec_fma(-b2, re2[n], j));
            r = ec_fma(a3, re3[n], ec_fma(b3, im3[n], r));
            j = ec_fma(a3, im3[n], ec_fma(-b3, re3[n], j));
            to.re[n] = r;
            to.im[n] = j;
        }
    }
}

/* R with its loading; every member gets the mean of the diagonal. */
EC_PATTERN_FN double ec_weights_covariance(const ec_team *team, const ec_weights_args *args,
                                           ec_weights_work *work)
{
    double mean = 0.0;

    for (int32_t m = team->rank; m < work->n; m += team->size) {
        double turn =
            ec_turns_reduce(work->x[m] * work->u0 + work->y[m] * work->v0 + work->z[m] * work->w0);
        ec_sincos_turns_f64(turn, &work->column.im[m], &work->column.re[m]);
    }
    ec_team_sync(team);
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        ec_weights_rows row = ec_weights_row(work->matrix, m, work->stride);
        ec_weights_noise_row(args, work, m, row);
        ec_weights_source_row(work, m, row);
    }
    ec_team_sync(team);
    for (int32_t m = 0; m < work->n; m++)
        mean += work->matrix.re[(size_t)m * (size_t)work->stride + (size_t)m];
    mean /= work->n;
    ec_team_sync(team);
    for (int32_t m = team->rank; m < work->n; m += team->size)
        work->matrix.re[(size_t)m * (size_t)work->stride + (size_t)m] += args->loading * mean;
    ec_team_sync(team);
    return mean;
}

/* R = L L^H in place (lower triangle), column by column; false: R is singular. */
EC_PATTERN_FN bool ec_weights_factor(const ec_team *team, ec_weights_work *work, double least)
{
    int32_t n = work->n;
    const ec_weights_rows column = work->column;

    for (int32_t k = 0; k < n; k++) {
        ec_weights_rows row = ec_weights_row(work->matrix, k, work->stride);
        double pivot = row.re[k];
        if (!(pivot > least))
            return false;
        double root = sqrt(pivot), scale = 1.0 / root;
        ec_team_sync(team);
        for (int32_t i = k + team->rank; i < n; i += team->size) {
            row = ec_weights_row(work->matrix, i, work->stride);
            column.re[i] = row.re[k] = i == k ? root : row.re[k] * scale;
            column.im[i] = row.im[k] = i == k ? 0.0 : row.im[k] * scale;
        }
        ec_team_sync(team);
        for (int32_t i = k + 1 + team->rank; i < n; i += team->size) {
            row = ec_weights_row(work->matrix, i, work->stride);
            double re = column.re[i], im = column.im[i];
            EC_PATTERN_SIMD
            for (int32_t j = k + 1; j <= i; j++) {
                row.re[j] = ec_fma(-re, column.re[j], ec_fma(-im, column.im[j], row.re[j]));
                row.im[j] = ec_fma(-im, column.re[j], ec_fma(re, column.im[j], row.im[j]));
            }
        }
        ec_team_sync(team);
    }
    return true;
}

/* ---- the constrained solution ---- */

/* to = L^-1 from. */
EC_PATTERN_FN void ec_weights_forward(const ec_weights_args *args, const ec_weights_work *work,
                                      ec_weights_rows from, ec_weights_rows to)
{
    for (int32_t i = 0; i < work->n; i++) {
        double re = 0.0, im = 0.0, scale = 1.0;
        if (args->matrix) {
            ec_weights_rows row = ec_weights_row(work->matrix, i, work->stride);
            EC_PATTERN_SIMD_SUM(re, im)
            for (int32_t k = 0; k < i; k++) {
                re += row.re[k] * to.re[k] - row.im[k] * to.im[k];
                im += row.re[k] * to.im[k] + row.im[k] * to.re[k];
            }
            scale = 1.0 / row.re[i];
        }
        to.re[i] = (from.re[i] - re) * scale;
        to.im[i] = (from.im[i] - im) * scale;
    }
}

/* In place x = L^-H x. */
EC_PATTERN_FN void ec_weights_backward(const ec_team *team, const ec_weights_args *args,
                                       const ec_weights_work *work, ec_weights_rows x)
{
    ec_team_sync(team);
    for (int32_t i = work->n - 1; args->matrix && i >= 0; i--) {
        ec_weights_rows row = ec_weights_row(work->matrix, i, work->stride);
        double re = x.re[i] / row.re[i], im = x.im[i] / row.re[i];
        ec_team_sync(team);
        for (int32_t k = team->rank; k <= i; k += team->size) {
            x.re[k] = k == i ? re : x.re[k] - (row.re[k] * re + row.im[k] * im);
            x.im[k] = k == i ? im : x.im[k] - (row.re[k] * im - row.im[k] * re);
        }
        ec_team_sync(team);
    }
}

/* x^H y over the elements, the same for every member. */
EC_PATTERN_FN ec_c128 ec_weights_dot(const ec_team *team, int32_t n, ec_weights_rows x,
                                     ec_weights_rows y)
{
    ec_c128 sum = {0.0, 0.0};

    for (int32_t m = team->rank; m < n; m += team->size) {
        sum.re += x.re[m] * y.re[m] + x.im[m] * y.im[m];
        sum.im += x.re[m] * y.im[m] - x.im[m] * y.re[m];
    }
    sum.re = ec_team_sum(team, sum.re);
    sum.im = ec_team_sum(team, sum.im);
    return sum;
}

/* y += factor x, each member its own elements. */
EC_PATTERN_FN void ec_weights_add(const ec_team *team, int32_t n, ec_c128 factor, ec_weights_rows x,
                                  ec_weights_rows y)
{
    for (int32_t m = team->rank; m < n; m += team->size) {
        y.re[m] += factor.re * x.re[m] - factor.im * x.im[m];
        y.im[m] += factor.re * x.im[m] + factor.im * x.re[m];
    }
}

/* Takes the parts along the first `count` orthonormal rows out of y, twice, as one pass loses
 * digits; their sum goes to parts[0 .. count) of the triangle's column. */
EC_PATTERN_FN void ec_weights_reduce(const ec_team *team, ec_weights_work *work, int32_t count,
                                     ec_weights_rows y, double *part_re, double *part_im)
{
    for (int pass = 0; pass < 2; pass++)
        for (int32_t s = 0; s < count; s++) {
            ec_weights_rows q = ec_weights_row(work->solved, s, work->stride);
            ec_c128 t = ec_weights_dot(team, work->n, q, y);
            ec_c128 minus = {-t.re, -t.im};
            ec_weights_add(team, work->n, minus, q, y);
            if (part_re && team->rank == 0) {
                part_re[s] = (pass ? part_re[s] : 0.0) + t.re;
                part_im[s] = (pass ? part_im[s] : 0.0) + t.im;
            }
        }
}

/* Weights into trial; false: the constraints depend on each other. b is the row after the
 * constraints when the method has one. */
EC_PATTERN_FN bool ec_weights_solve(const ec_team *team, const ec_weights_args *args,
                                    ec_weights_work *work)
{
    int32_t n = work->n, count = work->constraints, stride = work->stride;
    bool target = args->method == EC_WEIGHTS_LEAST_SQUARES;
    ec_weights_rows x = work->trial, goal = ec_weights_row(work->solved, count, stride);

    ec_team_sync(team);
    for (int32_t r = team->rank; r < count + (target ? 1 : 0); r += team->size)
        ec_weights_forward(args, work, ec_weights_row(work->fixed, r, stride),
                           ec_weights_row(work->solved, r, stride));
    ec_team_sync(team);
    /* column r of T lies in row r of the triangle */
    for (int32_t r = 0; r < count; r++) {
        ec_weights_rows y = ec_weights_row(work->solved, r, stride);
        ec_weights_rows t = ec_weights_row(work->triangle, r, count);
        double before = ec_weights_dot(team, n, y, y).re;
        ec_weights_reduce(team, work, r, y, t.re, t.im);
        double after = ec_weights_dot(team, n, y, y).re;
        if (!(after > EC_WEIGHTS_DEPENDENT * EC_WEIGHTS_DEPENDENT * before))
            return false;
        double length = sqrt(after);
        for (int32_t m = team->rank; m < n; m += team->size) {
            y.re[m] /= length;
            y.im[m] /= length;
        }
        if (team->rank == 0)
            t.re[r] = length;
        ec_team_sync(team);
    }
    for (int32_t m = team->rank; m < n; m += team->size)
        x.re[m] = x.im[m] = 0.0;
    if (target) {
        ec_weights_reduce(team, work, count, goal, NULL, NULL);
        ec_c128 one = {1.0, 0.0};
        ec_weights_add(team, n, one, goal, x);
    }
    /* T^H s = f from the top; f = (1, 0, .. 0). The members hold s in column. */
    for (int32_t r = 0; r < count; r++) {
        ec_weights_rows t = ec_weights_row(work->triangle, r, count);
        ec_c128 sum = {r == 0 ? 1.0 : 0.0, 0.0};
        for (int32_t k = 0; k < r; k++) {
            sum.re -= t.re[k] * work->column.re[k] + t.im[k] * work->column.im[k];
            sum.im -= t.re[k] * work->column.im[k] - t.im[k] * work->column.re[k];
        }
        sum.re /= t.re[r];
        sum.im /= t.re[r];
        ec_team_sync(team);
        if (team->rank == 0) {
            work->column.re[r] = sum.re;
            work->column.im[r] = sum.im;
        }
        ec_team_sync(team);
        ec_weights_add(team, n, sum, ec_weights_row(work->solved, r, stride), x);
    }
    ec_weights_backward(team, args, work, x);
    return true;
}

/* ---- the methods ---- */

/* to_m = sum of conj(e_im) (re_i + j im_i) over the directions; im may be NULL. Members take 8
 * elements, a cache line, at a time. */
EC_PATTERN_FN void ec_weights_gather_field(const ec_team *team, const ec_weights_args *args,
                                           const ec_weights_work *work, const double *field_re,
                                           const double *field_im, ec_weights_rows to)
{
    for (int32_t first = 8 * team->rank; first < work->stride; first += 8 * team->size) {
        double re[8] = {0.0}, im[8] = {0.0};
        for (int32_t i = 0; i < args->directions; i++) {
            ec_weights_rows e = ec_weights_row(work->phasor, i, work->stride);
            double a = field_re[i], b = field_im ? field_im[i] : 0.0;
            if (a == 0.0 && b == 0.0)
                continue;
            EC_PATTERN_SIMD
            for (int k = 0; k < 8; k++) {
                re[k] += e.re[first + k] * a + e.im[first + k] * b;
                im[k] += e.re[first + k] * b - e.im[first + k] * a;
            }
        }
        for (int k = 0; k < 8; k++) {
            to.re[first + k] = re[k];
            to.im[first + k] = im[k];
        }
    }
}

/* b of the least squares, after the constraints: mean of q_i D_i conj(e_i). */
EC_PATTERN_FN void ec_weights_aim(const ec_team *team, const ec_weights_args *args,
                                  ec_weights_work *work)
{
    ec_team_sync(team);
    for (int32_t i = team->rank; i < args->directions; i += team->size)
        work->field[i] = work->q[i] * work->wanted[i];
    ec_team_sync(team);
    ec_weights_gather_field(team, args, work, work->field, NULL,
                            ec_weights_row(work->fixed, work->constraints, work->stride));
}

/* F of trial towards direction i. */
EC_PATTERN_FN ec_c128 ec_weights_field(const ec_weights_work *work, int32_t i)
{
    const ec_weights_rows x = work->trial, e = ec_weights_row(work->phasor, i, work->stride);
    double re = 0.0, im = 0.0;

    EC_PATTERN_SIMD_SUM(re, im)
    for (int32_t m = 0; m < work->n; m++) {
        re += e.re[m] * x.re[m] - e.im[m] * x.im[m];
        im += e.re[m] * x.im[m] + e.im[m] * x.re[m];
    }
    ec_c128 f = {re, im};
    return f;
}

/* |F| of trial in the side-lobe directions (0 elsewhere); every member gets the highest. */
EC_PATTERN_FN double ec_weights_side_lobes(const ec_team *team, const ec_weights_args *args,
                                           ec_weights_work *work)
{
    ec_pattern_best best = {-1.0, 0.0, 0.0, 0, 0};

    for (int32_t i = team->rank; i < args->directions; i += team->size) {
        ec_c128 f = ec_weights_field(work, i);
        double re = f.re, im = f.im;
        work->field[i] = work->wanted[i] > 0.0 ? sqrt(re * re + im * im) : 0.0;
        if (work->field[i] > best.score) {
            best.score = work->field[i];
            best.a = i;
        }
    }
    ec_team_best(team, &best);
    return best.score;
}

/* Lawson's update of q; the sum of q stays 1. */
EC_PATTERN_FN void ec_weights_reweight(const ec_team *team, const ec_weights_args *args,
                                       ec_weights_work *work, double highest)
{
    double sum = 0.0;

    ec_team_sync(team);
    for (int32_t i = team->rank; i < args->directions; i += team->size) {
        double factor = work->field[i] / highest + EC_WEIGHTS_FLOOR;
        work->q[i] *= factor * factor;
        sum += work->q[i];
    }
    sum = ec_team_sum(team, sum);
    for (int32_t i = team->rank; i < args->directions; i += team->size)
        work->q[i] /= sum;
    ec_team_sync(team);
}

/* One solution of the quadratic problem into trial. */
EC_PATTERN_FN bool ec_weights_round(const ec_team *team, const ec_weights_args *args,
                                    ec_weights_work *work)
{
    if (args->matrix) {
        double mean = ec_weights_covariance(team, args, work);
        if (!ec_weights_factor(team, work, EC_WEIGHTS_SINGULAR * mean))
            return false;
    }
    return ec_weights_solve(team, args, work);
}

/* ---- thinning ---- */

/* The `filled` largest of the values in column become 1 in trial, the others 0; of equal values the
 * first. True when that changes trial. */
EC_PATTERN_FN bool ec_weights_fill_largest(const ec_team *team, const ec_weights_args *args,
                                           ec_weights_work *work)
{
    const double *value = work->column.re;
    bool changed = false;

    ec_team_sync(team);
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        int32_t before = 0;
        for (int32_t k = 0; k < work->n; k++)
            before += value[k] > value[m] || (value[k] == value[m] && k < m);
        double filled = before < args->filled ? 1.0 : 0.0;
        changed = changed || filled != work->trial.re[m];
        work->trial.re[m] = filled;
        work->trial.im[m] = 0.0;
    }
    return ec_team_any(team, changed);
}

/* F' - F of the clipped side lobes over the number of directions, into q and field; every member
 * gets the highest |F|. */
EC_PATTERN_FN double ec_weights_clip(const ec_team *team, const ec_weights_args *args,
                                     ec_weights_work *work)
{
    ec_pattern_best best = {-1.0, 0.0, 0.0, 0, 0};
    double limit = args->clip * args->filled, share = 1.0 / args->directions;

    for (int32_t i = team->rank; i < args->directions; i += team->size) {
        ec_c128 f = ec_weights_field(work, i);
        double size = work->wanted[i] > 0.0 ? sqrt(f.re * f.re + f.im * f.im) : 0.0;
        double less = size > limit ? share * (limit / size - 1.0) : 0.0;
        work->q[i] = f.re * less;
        work->field[i] = f.im * less;
        if (size > best.score) {
            best.score = size;
            best.a = i;
        }
    }
    ec_team_best(team, &best);
    ec_team_sync(team);
    return best.score;
}

EC_PATTERN_FN void ec_weights_thin(const ec_team *team, const ec_weights_args *args, size_t c,
                                   size_t s, ec_weights_work *work)
{
    double least = 0.0;

    ec_team_sync(team);
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        work->column.re[m] = ec_pattern_read(&args->in[EC_WEIGHTS_START], c, s, m);
        work->trial.re[m] = 0.0;
    }
    for (int32_t round = 0; round < args->iterations; round++) {
        if (!ec_weights_fill_largest(team, args, work))
            return;
        double highest = ec_weights_clip(team, args, work);
        if (round == 0 || highest < least) {
            least = highest;
            for (int32_t m = team->rank; m < work->n; m += team->size) {
                work->best.re[m] = work->trial.re[m];
                work->best.im[m] = 0.0;
            }
        }
        ec_weights_gather_field(team, args, work, work->q, work->field, work->column);
        ec_team_sync(team);
        for (int32_t m = team->rank; m < work->n; m += team->size)
            work->column.re[m] += work->trial.re[m];
    }
}

/* Weights into best. */
EC_PATTERN_FN bool ec_weights_find(const ec_team *team, const ec_weights_args *args,
                                   ec_weights_work *work)
{
    bool repeats = args->method == EC_WEIGHTS_MINIMUM_SLL;
    double least = 0.0;

    if (args->method == EC_WEIGHTS_LEAST_SQUARES)
        ec_weights_aim(team, args, work);
    for (int32_t round = 0; round < (repeats ? args->iterations : 1); round++) {
        if (!ec_weights_round(team, args, work))
            return round > 0; /* weights that leave R singular: the best so far */
        double highest = repeats ? ec_weights_side_lobes(team, args, work) : 0.0;
        if (round == 0 || highest < least) {
            least = highest;
            for (int32_t m = team->rank; m < work->n; m += team->size) {
                work->best.re[m] = work->trial.re[m];
                work->best.im[m] = work->trial.im[m];
            }
        }
        if (!(highest > 0.0))
            break;
        ec_weights_reweight(team, args, work, highest);
    }
    return true;
}

EC_FN void ec_weights_write(const ec_pattern_target *to, size_t c, size_t s, int32_t e,
                            double value)
{
    if (to->data)
        to->data[s * to->sample + (size_t)e * to->element + c * to->lane] = value;
}

EC_PATTERN_FN void ec_weights_candidate(const ec_team *team, const ec_weights_args *args, size_t c,
                                        size_t s, double *memory)
{
    ec_weights_work work;

    ec_weights_lay_out(args, memory, &work);
    ec_team_sync(team);
    int bad = ec_weights_gather(team, args, c, s, &work);
    ec_team_sync(team);
    bad |= ec_weights_constrain(team, args, c, s, &work);
    bad |= ec_weights_illuminate(team, args, c, s, &work);
    int status =
        (ec_team_any(team, bad & EC_CANDIDATE_EVALUATOR) ? EC_CANDIDATE_EVALUATOR : 0) |
        (ec_team_any(team, bad & EC_CANDIDATE_OUT_OF_RANGE) ? EC_CANDIDATE_OUT_OF_RANGE : 0);
    if (!status && args->method == EC_WEIGHTS_THINNING)
        ec_weights_thin(team, args, c, s, &work);
    else if (!status && !ec_weights_find(team, args, &work))
        status = EC_CANDIDATE_EVALUATOR;
    bool wrong = status != 0;
    for (int32_t m = team->rank; m < work.n && !wrong; m += team->size) {
        double re = work.best.re[m], im = work.best.im[m];
        wrong = !(re * re + im * im < EC_WEIGHTS_LARGEST * EC_WEIGHTS_LARGEST);
    }
    if (ec_team_any(team, wrong) && !status)
        status = EC_CANDIDATE_EVALUATOR;
    for (int32_t m = team->rank; m < work.n; m += team->size) {
        double re = work.best.re[m], im = work.best.im[m];
        double amplitude = status ? (double)NAN : sqrt(re * re + im * im);
        double phase = status ? (double)NAN : ec_det_atan2(im, re);
        ec_weights_write(&args->amplitude, c, s, m, amplitude);
        ec_weights_write(&args->phase, c, s, m, phase);
    }
    ec_team_set_status(team, args->status, false, c, status);
}

#endif
