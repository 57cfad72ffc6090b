/* array_weights_solve.h: the covariance of a candidate, the constrained solution, and rounds of it.
 * One source for the CPU (a team of one) and CUDA (a block). The method is in array_weights.h.
 *
 * With R = L L^H, Y = L^-1 C = Q T and f = (1, 0, .. 0) the solution is
 *   w = L^-H [ Q T^-H f + (I - Q Q^H) L^-1 b ].
 * Operations for N elements, G directions, K constraints: 4 G N^2 multiply-adds for R (half of a
 * matrix, complex), 2/3 N^3 for L, 4 K N^2 for Y, and G N sines and cosines.
 */
#ifndef EC_ARRAY_WEIGHTS_SOLVE_H
#define EC_ARRAY_WEIGHTS_SOLVE_H

#include "array_power.h"
#include "array_weights_rows.h"

/* A constraint whose part beyond the others is smaller than this (of its own length) depends on
 * them; a pivot below EC_WEIGHTS_SINGULAR of the diagonal's mean is rounding noise. */
#define EC_WEIGHTS_DEPENDENT 1e-7
#define EC_WEIGHTS_SINGULAR  1e-14
#define EC_WEIGHTS_LARGEST   1e9
#define EC_WEIGHTS_FLOOR     0.3 /* of Lawson's factor */

/* ---- the covariance ---- */

/* Row m of the noise: of none, white, or isotropic by pairs of elements, turned into the frame of the
 * look direction. */
EC_PATTERN_FN void ec_weights_noise_row(const ec_weights_args *args, ec_weights_work *work,
                                        int32_t m, ec_weights_rows to)
{
    const ec_weights_rows e = work->steer;

    for (int32_t k = 0; k < work->stride; k++)
        to.re[k] = to.im[k] = 0.0;
    if (args->method != EC_WEIGHTS_LCMV || args->nodes > 0)
        return;
    to.re[m] = 1.0;
    for (int32_t k = 0; k < m && args->isotropic; k++) {
        double x = work->x[m] - work->x[k], y = work->y[m] - work->y[k];
        double z = work->z[m] - work->z[k], slope;
        double pair =
            args->pair_scale * ec_pair_kernel(&args->power, sqrt(x * x + y * y + z * z), &slope);
        to.re[k] = pair * (e.re[m] * e.re[k] + e.im[m] * e.im[k]);
        to.im[k] = pair * (e.im[m] * e.re[k] - e.re[m] * e.im[k]);
    }
}

/* Row m += sum of q_i conj(a_im) a_in over the sources first .. last, columns 0 .. m. */
EC_PATTERN_FN void ec_weights_source_row(const ec_weights_work *work, int32_t first, int32_t last,
                                         int32_t m, ec_weights_rows to)
{
    int32_t stride = work->stride, columns = (m | 7) + 1;

    for (int32_t i = first; i < last; i += EC_WEIGHTS_TOGETHER) {
        const double *re = work->row.re + (size_t)i * (size_t)stride;
        const double *im = work->row.im + (size_t)i * (size_t)stride;
        const double *re1 = re + stride, *re2 = re1 + stride, *re3 = re2 + stride;
        const double *im1 = im + stride, *im2 = im1 + stride, *im3 = im2 + stride;
        const double *q = work->q + i;
        double a0 = q[0] * re[m], b0 = q[0] * im[m], a1 = q[1] * re1[m], b1 = q[1] * im1[m];
        double a2 = q[2] * re2[m], b2 = q[2] * im2[m], a3 = q[3] * re3[m], b3 = q[3] * im3[m];
        EC_PATTERN_SIMD
        for (int32_t n = 0; n < columns; n++) {
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

/* R += sum of q_i conj(a_i) a_i^T over the sources, lower triangle. One member alone goes by blocks of
 * sources whose rows stay in the cache while those of R pass by; in a block each member sums entries,
 * neighbours along a row side by side. */
EC_PATTERN_FN void ec_weights_add_sources(const ec_team *team, ec_weights_work *work)
{
    int32_t n = work->n, stride = work->stride;

    for (int32_t i = 0; i < work->sources && team->size == 1; i += EC_WEIGHTS_CACHED) {
        int32_t last =
            i + EC_WEIGHTS_CACHED < work->sources ? i + EC_WEIGHTS_CACHED : work->sources;
        for (int32_t m = 0; m < n; m++)
            ec_weights_source_row(work, i, last, m, ec_weights_row(work->matrix, m, stride));
    }
    ec_team_sync(team);
    for (int32_t at = team->rank; at < n * n && team->size > 1; at += team->size) {
        int32_t m = at / n, k = at % n;
        double re = 0.0, im = 0.0;
        if (k > m)
            continue;
        for (int32_t i = 0; i < work->sources; i++) {
            ec_weights_rows a = ec_weights_row(work->row, i, stride);
            double c = work->q[i] * a.re[m], s = work->q[i] * a.im[m];
            re = ec_fma(c, a.re[k], ec_fma(s, a.im[k], re));
            im = ec_fma(c, a.im[k], ec_fma(-s, a.re[k], im));
        }
        work->matrix.re[(size_t)m * (size_t)stride + (size_t)k] += re;
        work->matrix.im[(size_t)m * (size_t)stride + (size_t)k] += im;
    }
    ec_team_sync(team);
}

/* Mean of the diagonal of R, that of the currents when ports are coupled: it does not depend on the
 * positions then either. The same for every member. */
EC_PATTERN_FN double ec_weights_mean(const ec_team *team, const ec_weights_args *args,
                                     const ec_weights_work *work)
{
    double mean = 0.0;

    if (args->ports.count == 0) {
        for (int32_t m = 0; m < work->n; m++)
            mean += work->matrix.re[(size_t)m * (size_t)work->stride + (size_t)m];
        return mean / work->n;
    }
    for (int32_t i = team->rank; i < work->sources; i += team->size) {
        ec_weights_rows p = ec_weights_row(work->plain, i, work->stride);
        double power = 0.0;
        for (int32_t m = 0; m < work->n; m++)
            power += p.re[m] * p.re[m] + p.im[m] * p.im[m];
        mean += work->q[i] * power;
    }
    mean = ec_team_sum(team, mean) / work->n;
    return mean + (args->method == EC_WEIGHTS_LCMV && args->nodes == 0 ? 1.0 : 0.0);
}

/* R with its loading; every member gets the mean of the diagonal. */
EC_PATTERN_FN double ec_weights_covariance(const ec_team *team, const ec_weights_args *args,
                                           ec_weights_work *work)
{
    for (int32_t m = team->rank; m < work->n; m += team->size)
        ec_weights_noise_row(args, work, m, ec_weights_row(work->matrix, m, work->stride));
    ec_weights_add_sources(team, work);
    double mean = ec_weights_mean(team, args, work);
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
        for (int32_t i = k + 1; i < n && team->size == 1; i++) {
            row = ec_weights_row(work->matrix, i, work->stride);
            double re = column.re[i], im = column.im[i];
            EC_PATTERN_SIMD
            for (int32_t j = k + 1; j <= i; j++) {
                row.re[j] = ec_fma(-re, column.re[j], ec_fma(-im, column.im[j], row.re[j]));
                row.im[j] = ec_fma(-im, column.re[j], ec_fma(re, column.im[j], row.im[j]));
            }
        }
        int32_t left = n - k - 1; /* in a block neighbours along a row are side by side */
        for (int32_t at = team->rank; at < left * left && team->size > 1; at += team->size) {
            int32_t i = k + 1 + at / left, j = k + 1 + at % left;
            double re = column.re[i], im = column.im[i];
            if (j > i)
                continue;
            row = ec_weights_row(work->matrix, i, work->stride);
            row.re[j] = ec_fma(-re, column.re[j], ec_fma(-im, column.im[j], row.re[j]));
            row.im[j] = ec_fma(-im, column.re[j], ec_fma(re, column.im[j], row.im[j]));
        }
        ec_team_sync(team);
    }
    return true;
}

/* ---- the constrained solution ---- */

/* to = L^-1 from. */
EC_PATTERN_FN void ec_weights_forward_row(const ec_weights_args *args, const ec_weights_work *work,
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

/* The same for `count` rows: one member alone by dot products along the rows of L, a block column by
 * column, its members side by side. */
EC_PATTERN_FN void ec_weights_forward(const ec_team *team, const ec_weights_args *args,
                                      const ec_weights_work *work, int32_t count,
                                      ec_weights_rows from, ec_weights_rows to)
{
    int32_t n = work->n, stride = work->stride;

    ec_team_sync(team);
    for (int32_t r = 0; r < count && team->size == 1; r++)
        ec_weights_forward_row(args, work, ec_weights_row(from, r, stride),
                               ec_weights_row(to, r, stride));
    if (team->size == 1)
        return;
    for (int32_t k = team->rank; k < count * stride; k += team->size) {
        to.re[k] = from.re[k];
        to.im[k] = from.im[k];
    }
    ec_team_sync(team);
    for (int32_t i = 0; i < n && args->matrix; i++) {
        const double *re = work->matrix.re + i, *im = work->matrix.im + i;
        double scale = 1.0 / re[(size_t)i * (size_t)stride];
        for (int32_t r = team->rank; r < count; r += team->size) {
            to.re[r * stride + i] *= scale;
            to.im[r * stride + i] *= scale;
        }
        ec_team_sync(team);
        for (int32_t k = i + 1 + team->rank; k < n; k += team->size) {
            double a = re[(size_t)k * (size_t)stride], b = im[(size_t)k * (size_t)stride];
            for (int32_t r = 0; r < count; r++) {
                ec_weights_rows x = ec_weights_row(to, r, stride);
                x.re[k] -= a * x.re[i] - b * x.im[i];
                x.im[k] -= a * x.im[i] + b * x.re[i];
            }
        }
        ec_team_sync(team);
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

/* Weights into trial; false: the constraints depend on each other, or nothing radiates towards the
 * look direction. b is the row after the constraints when the method has one; what it has along
 * them is kept in the triangle's last row, T^-H f in column. A null that is there by itself (a row
 * of zeros) takes no part. */
EC_PATTERN_FN bool ec_weights_solve(const ec_team *team, const ec_weights_args *args,
                                    ec_weights_work *work)
{
    int32_t n = work->n, count = work->constraints, stride = work->stride;
    bool target = args->method == EC_WEIGHTS_LEAST_SQUARES;
    ec_weights_rows x = work->trial, goal = ec_weights_row(work->solved, count, stride);

    ec_weights_forward(team, args, work, count + (target ? 1 : 0), work->fixed, work->solved);
    ec_team_sync(team);
    /* column r of T lies in row r of the triangle */
    for (int32_t r = 0; r < count; r++) {
        ec_weights_rows y = ec_weights_row(work->solved, r, stride);
        ec_weights_rows t = ec_weights_row(work->triangle, r, count);
        double before = ec_weights_dot(team, n, y, y).re;
        ec_weights_reduce(team, work, r, y, t.re, t.im);
        double after = ec_weights_dot(team, n, y, y).re, length = 1.0;
        if (r == 0 || before > 0.0) {
            if (!(after > EC_WEIGHTS_DEPENDENT * EC_WEIGHTS_DEPENDENT * before))
                return false;
            length = sqrt(after);
        }
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
        ec_weights_rows t = ec_weights_row(work->triangle, count, count);
        ec_weights_reduce(team, work, count, goal, t.re, t.im);
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

/* to_m = sum of conj(a_im) (re_i + j im_i) over the rows of the grid; im may be NULL. Members take 8
 * elements, a cache line, at a time. */
EC_PATTERN_FN void ec_weights_gather_field(const ec_team *team, const ec_weights_args *args,
                                           const ec_weights_work *work, const double *field_re,
                                           const double *field_im, ec_weights_rows to)
{
    for (int32_t first = 8 * team->rank; first < work->stride; first += 8 * team->size) {
        double re[8] = {0.0}, im[8] = {0.0};
        for (int32_t i = 0; i < args->directions * args->parts; i++) {
            ec_weights_rows e = ec_weights_row(work->row, i, work->stride);
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

/* b of the least squares, after the constraints: mean of q_i D_i conj(a_i). */
EC_PATTERN_FN void ec_weights_aim(const ec_team *team, const ec_weights_args *args,
                                  ec_weights_work *work)
{
    ec_team_sync(team);
    for (int32_t i = team->rank; i < args->directions * args->parts; i += team->size)
        work->field[i] = work->q[i] * work->wanted[i];
    ec_team_sync(team);
    ec_weights_gather_field(team, args, work, work->field, NULL,
                            ec_weights_row(work->fixed, work->constraints, work->stride));
}

/* a^T x. */
EC_PATTERN_FN ec_c128 ec_weights_product(int32_t n, ec_weights_rows a, ec_weights_rows x)
{
    double re = 0.0, im = 0.0;

    EC_PATTERN_SIMD_SUM(re, im)
    for (int32_t m = 0; m < n; m++) {
        re += a.re[m] * x.re[m] - a.im[m] * x.im[m];
        im += a.re[m] * x.im[m] + a.im[m] * x.re[m];
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
        double power = 0.0;
        for (int32_t p = 0; p < args->parts; p++) {
            ec_c128 f = ec_weights_product(
                work->n, ec_weights_row(work->row, i * args->parts + p, work->stride), work->trial);
            power += f.re * f.re + f.im * f.im;
        }
        work->field[i] = work->wanted[i * args->parts] > 0.0 ? sqrt(power) : 0.0;
        if (work->field[i] > best.score) {
            best.score = work->field[i];
            best.a = i;
        }
    }
    ec_team_best(team, &best);
    return best.score;
}

/* Lawson's update of q; the sum of q over the directions stays 1. */
EC_PATTERN_FN void ec_weights_reweight(const ec_team *team, const ec_weights_args *args,
                                       ec_weights_work *work, double highest)
{
    int32_t parts = args->parts;
    double sum = 0.0;

    ec_team_sync(team);
    for (int32_t i = team->rank; i < args->directions; i += team->size) {
        double factor = work->field[i] / highest + EC_WEIGHTS_FLOOR;
        for (int32_t p = 0; p < parts; p++)
            work->q[i * parts + p] *= factor * factor;
        sum += work->q[i * parts];
    }
    sum = ec_team_sum(team, sum);
    for (int32_t i = team->rank; i < args->directions * parts; i += team->size)
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

#endif
