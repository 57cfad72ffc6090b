/* polish_lp.c: interior points for the linear program of a polish's step. */
#include "polish_lp.h"

#include "../../core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 60, TILE = 4 };

static const double shortness = 1e-2;   /* of the moves, over n: h */
static const double solved = 1e-7;      /* complementarity and residuals */
static const double good_enough = 1e-4; /* of a round that gets no further */
static const double stay_inside = 0.995;
static const double free_t = 1e-10; /* a t that nothing bounds stays where it is */

/* Inequalities of one kind: slack and multiplier, their directions, what the linear system sees. */
typedef struct side {
    int32_t n;
    double *s, *z, *ds, *dz;
    double *residual; /* of the equation with the slack */
    double *goal;     /* what s dz + z ds should be */
} side;

typedef struct solver {
    const ec_polish_lp *lp;
    int32_t n, n_t, m;
    double h;
    side row, low, high, order;
    double *d, *t, *dd, *dt;
    double *dual_d, *dual_t;     /* residuals */
    double *diagonal, *beside;   /* of the tridiagonal matrix, then of its factors */
    double *scaled;              /* [m][n]: the rows through the factors */
    double *system;              /* [m][m], lower half: Cholesky's factor */
    double *columns;             /* [n_t][m]: the t's columns, solved */
    double *small;               /* [n_t][n_t] */
    double *right_d, *right_row; /* right hand sides */
    double *memory;
} solver;

static double *take(double **at, size_t n)
{
    double *from = *at;

    *at += n;
    return from;
}

static void take_side(side *k, int32_t n, double **at)
{
    double **all[] = {&k->s, &k->z, &k->ds, &k->dz, &k->residual, &k->goal};

    k->n = n;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = take(at, (size_t)n);
}

static int create(solver *v, const ec_polish_lp *lp)
{
    size_t n = (size_t)lp->n, t = (size_t)lp->n_t, m = (size_t)lp->n_rows;
    size_t sides = 6 * (m + 2 * n + (size_t)lp->n_order);
    size_t total = sides + 6 * n + 3 * t + m * n + m * m + t * m + t * t + m;

    memset(v, 0, sizeof *v);
    v->lp = lp;
    v->n = lp->n;
    v->n_t = lp->n_t;
    v->m = lp->n_rows;
    v->h = shortness / (lp->n > 0 ? lp->n : 1);
    double *at = v->memory = (double *)calloc(total + 1, sizeof(double));
    if (!at)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    take_side(&v->row, v->m, &at);
    take_side(&v->low, v->n, &at);
    take_side(&v->high, v->n, &at);
    take_side(&v->order, lp->n_order, &at);
    v->d = take(&at, n);
    v->dd = take(&at, n);
    v->dual_d = take(&at, n);
    v->diagonal = take(&at, n);
    v->beside = take(&at, n);
    v->right_d = take(&at, n);
    v->t = take(&at, t);
    v->dt = take(&at, t);
    v->dual_t = take(&at, t);
    v->scaled = take(&at, m * n);
    v->system = take(&at, m * m);
    v->columns = take(&at, t * m);
    v->small = take(&at, t * t);
    v->right_row = take(&at, m);
    return EC_OK;
}

static double dot(const double *a, const double *b, int32_t n)
{
    double sum = 0.0;

#pragma omp simd reduction(+ : sum)
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static const double *row_of(const solver *v, int32_t r)
{
    return v->lp->row + (size_t)r * (size_t)(v->n + v->n_t);
}

/* ---- residuals ---- */

static void start(solver *v)
{
    const ec_polish_lp *lp = v->lp;

    for (int32_t i = 0; i < v->n; i++) {
        double width = lp->high[i] - lp->low[i], slack = 0.1 * width + 1e-12;
        v->d[i] = fmin(fmax(0.0, lp->low[i] + slack), fmax(lp->high[i] - slack, lp->low[i]));
        v->low.s[i] = fmax(v->d[i] - lp->low[i], slack);
        v->high.s[i] = fmax(lp->high[i] - v->d[i], slack);
        v->low.z[i] = v->high.z[i] = 1.0 / v->n;
    }
    for (int32_t r = 0; r < v->m; r++) {
        double left = lp->limit[r] - dot(row_of(v, r), v->d, v->n);
        v->row.s[r] = fmax(left, 0.1);
        v->row.z[r] = 1.0 / v->m;
    }
    for (int32_t k = 0; k < lp->n_order; k++) {
        v->order.s[k] = fmax(lp->gap[k], 0.1);
        v->order.z[k] = 1.0 / v->n;
    }
}

static double residuals(solver *v)
{
    const ec_polish_lp *lp = v->lp;
    double worst = 0.0;

    for (int32_t i = 0; i < v->n; i++)
        v->dual_d[i] = v->h * v->d[i] + lp->cost[i] + v->high.z[i] - v->low.z[i];
    for (int32_t i = 0; i < v->n_t; i++)
        v->dual_t[i] = free_t * v->t[i] + lp->cost[v->n + i];
    for (int32_t r = 0; r < v->m; r++) {
        const double *row = row_of(v, r);
        double z = v->row.z[r];
        for (int32_t i = 0; i < v->n; i++)
            v->dual_d[i] += z * row[i];
        for (int32_t i = 0; i < v->n_t; i++)
            v->dual_t[i] += z * row[v->n + i];
        v->row.residual[r] =
            dot(row, v->d, v->n) + dot(row + v->n, v->t, v->n_t) + v->row.s[r] - lp->limit[r];
        worst = fmax(worst, fabs(v->row.residual[r]));
    }
    for (int32_t k = 0; k < lp->n_order; k++) {
        int32_t i = lp->order[k];
        v->dual_d[i] += v->order.z[k];
        v->dual_d[i + 1] -= v->order.z[k];
        v->order.residual[k] = v->d[i] - v->d[i + 1] + v->order.s[k] - lp->gap[k];
        worst = fmax(worst, fabs(v->order.residual[k]));
    }
    for (int32_t i = 0; i < v->n; i++) {
        v->high.residual[i] = v->d[i] + v->high.s[i] - lp->high[i];
        v->low.residual[i] = lp->low[i] - v->d[i] + v->low.s[i];
        worst = fmax(worst, fabs(v->dual_d[i]));
    }
    for (int32_t i = 0; i < v->n_t; i++)
        worst = fmax(worst, fabs(v->dual_t[i]));
    return worst;
}

static double complementarity(const solver *v)
{
    const side *all[] = {&v->row, &v->low, &v->high, &v->order};
    double sum = 0.0;
    int32_t count = 0;

    for (int k = 0; k < 4; k++) {
        sum += dot(all[k]->s, all[k]->z, all[k]->n);
        count += all[k]->n;
    }
    return sum / count;
}

/* ---- the linear system ---- */

/* Tridiagonal matrix of the bounds and the order: unit lower bidiagonal factor and diagonal. */
static void factor_bounds(solver *v)
{
    const ec_polish_lp *lp = v->lp;

    for (int32_t i = 0; i < v->n; i++) {
        v->diagonal[i] = v->h + v->low.z[i] / v->low.s[i] + v->high.z[i] / v->high.s[i];
        v->beside[i] = 0.0;
    }
    for (int32_t k = 0; k < lp->n_order; k++) {
        double weight = v->order.z[k] / v->order.s[k];
        v->diagonal[lp->order[k]] += weight;
        v->diagonal[lp->order[k] + 1] += weight;
        v->beside[lp->order[k] + 1] = -weight;
    }
    for (int32_t i = 1; i < v->n; i++) {
        double factor = v->beside[i] / v->diagonal[i - 1];
        v->diagonal[i] -= factor * v->beside[i];
        v->beside[i] = factor;
    }
}

static void solve_lower(const solver *v, double *x)
{
    for (int32_t i = 1; i < v->n; i++)
        x[i] -= v->beside[i] * x[i - 1];
}

static void solve_bounds(const solver *v, double *x)
{
    solve_lower(v, x);
    for (int32_t i = 0; i < v->n; i++)
        x[i] /= v->diagonal[i];
    for (int32_t i = v->n - 1; i > 0; i--)
        x[i - 1] -= v->beside[i] * x[i];
}

/* Products of TILE rows with TILE rows: each is read once for TILE sums. */
static void multiply_tile(const double *a, const double *b, int32_t n, double sum[TILE][TILE])
{
    for (int i = 0; i < TILE; i++) {
        const double *x = a + (size_t)i * (size_t)n;
        const double *y0 = b, *y1 = y0 + n, *y2 = y1 + n, *y3 = y2 + n;
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (int32_t k = 0; k < n; k++) {
            s0 += x[k] * y0[k];
            s1 += x[k] * y1[k];
            s2 += x[k] * y2[k];
            s3 += x[k] * y3[k];
        }
        sum[i][0] = s0;
        sum[i][1] = s1;
        sum[i][2] = s2;
        sum[i][3] = s3;
    }
}

static void form_system(solver *v)
{
    size_t n = (size_t)v->n, m = (size_t)v->m;

    for (int32_t r = 0; r < v->m; r++) {
        double *to = v->scaled + (size_t)r * n;
        memcpy(to, row_of(v, r), n * sizeof *to);
        if (v->lp->n_order > 0)
            solve_lower(v, to);
        for (size_t i = 0; i < n; i++)
            to[i] /= sqrt(v->diagonal[i]);
    }
    for (int32_t r = 0; r < v->m; r += TILE)
        for (int32_t q = 0; q <= r; q += TILE) {
            double sum[TILE][TILE];
            const double *a = v->scaled + (size_t)r * n, *b = v->scaled + (size_t)q * n;
            bool whole = r + TILE <= v->m && q + TILE <= v->m;
            if (whole)
                multiply_tile(a, b, v->n, sum);
            for (int32_t i = 0; i < TILE && r + i < v->m; i++)
                for (int32_t k = 0; k < TILE && q + k <= r + i; k++)
                    v->system[(size_t)(r + i) * m + (size_t)(q + k)] =
                        whole ? sum[i][k] : dot(a + (size_t)i * n, b + (size_t)k * n, v->n);
        }
    for (size_t r = 0; r < m; r++)
        v->system[r * m + r] += v->row.s[r] / v->row.z[r];
}

/* Cholesky's factor in place, lower half of rows of `stride`; false when it is not positive. */
static bool factor(double *a, int32_t n, size_t stride)
{
    for (int32_t r = 0; r < n; r++) {
        double *row = a + (size_t)r * stride;
        for (int32_t q = 0; q <= r; q++) {
            const double *other = a + (size_t)q * stride;
            double sum = row[q] - dot(row, other, q);
            if (q < r)
                row[q] = sum / other[q];
            else if (!(sum > 0.0))
                return false;
            else
                row[q] = sqrt(sum);
        }
    }
    return true;
}

static void solve_factored(const double *a, int32_t n, size_t stride, double *x)
{
    for (int32_t r = 0; r < n; r++) {
        const double *row = a + (size_t)r * stride;
        x[r] = (x[r] - dot(row, x, r)) / row[r];
    }
    for (int32_t r = n - 1; r >= 0; r--) {
        const double *row = a + (size_t)r * stride;
        x[r] /= row[r];
        for (int32_t q = 0; q < r; q++)
            x[q] -= row[q] * x[r];
    }
}

/* Everything that predictor and corrector share. */
static bool factor_all(solver *v)
{
    size_t m = (size_t)v->m;

    factor_bounds(v);
    form_system(v);
    if (!factor(v->system, v->m, m))
        return false;
    for (int32_t k = 0; k < v->n_t; k++) {
        double *column = v->columns + (size_t)k * m;
        for (int32_t r = 0; r < v->m; r++)
            column[r] = row_of(v, r)[v->n + k];
        solve_factored(v->system, v->m, m, column);
    }
    for (int32_t k = 0; k < v->n_t; k++)
        for (int32_t i = 0; i < v->n_t; i++) {
            double sum = i == k ? free_t : 0.0;
            for (int32_t r = 0; r < v->m; r++)
                sum += row_of(v, r)[v->n + i] * v->columns[(size_t)k * m + (size_t)r];
            v->small[(size_t)i * (size_t)v->n_t + (size_t)k] = sum;
        }
    return factor(v->small, v->n_t, (size_t)v->n_t);
}

/* What a side adds to the right hand side: q of dz = q + (z / s) (its part of the move). */
static double share(const side *k, int32_t i)
{
    return (k->goal[i] + k->z[i] * k->residual[i]) / k->s[i];
}

/* Directions for the goals. Rows: B dd + A' dz = right, E' dz + free dt = -dual_t,
 * A dd + E dt - (s / z) dz = -(s / z) q. */
static void solve_direction(solver *v)
{
    const ec_polish_lp *lp = v->lp;
    int32_t n = v->n, m = v->m;
    double *right = v->right_d, *z = v->row.dz;

    for (int32_t i = 0; i < n; i++)
        right[i] = -v->dual_d[i] - share(&v->high, i) + share(&v->low, i);
    for (int32_t k = 0; k < lp->n_order; k++) {
        double q = share(&v->order, k);
        right[lp->order[k]] -= q;
        right[lp->order[k] + 1] += q;
    }
    memcpy(v->dd, right, (size_t)n * sizeof *right);
    solve_bounds(v, v->dd);
    for (int32_t r = 0; r < m; r++)
        z[r] = dot(row_of(v, r), v->dd, n) + share(&v->row, r) * v->row.s[r] / v->row.z[r];
    solve_factored(v->system, m, (size_t)m, z);
    for (int32_t k = 0; k < v->n_t; k++) {
        v->dt[k] = -v->dual_t[k];
        for (int32_t r = 0; r < m; r++)
            v->dt[k] -= row_of(v, r)[n + k] * z[r];
    }
    solve_factored(v->small, v->n_t, (size_t)v->n_t, v->dt);
    for (int32_t k = 0; k < v->n_t; k++)
        for (int32_t r = 0; r < m; r++)
            z[r] += v->columns[(size_t)k * (size_t)m + (size_t)r] * v->dt[k];
    for (int32_t r = 0; r < m; r++) {
        const double *row = row_of(v, r);
        for (int32_t i = 0; i < n; i++)
            right[i] -= z[r] * row[i];
    }
    memcpy(v->dd, right, (size_t)n * sizeof *right);
    solve_bounds(v, v->dd);
    for (int32_t r = 0; r < m; r++)
        v->row.ds[r] = (v->row.goal[r] - v->row.s[r] * z[r]) / v->row.z[r];
    for (int32_t i = 0; i < n; i++) {
        v->high.ds[i] = -v->high.residual[i] - v->dd[i];
        v->low.ds[i] = -v->low.residual[i] + v->dd[i];
    }
    for (int32_t k = 0; k < lp->n_order; k++)
        v->order.ds[k] = -v->order.residual[k] - v->dd[lp->order[k]] + v->dd[lp->order[k] + 1];
    side *bounds[] = {&v->low, &v->high, &v->order};
    for (int b = 0; b < 3; b++)
        for (int32_t i = 0; i < bounds[b]->n; i++)
            bounds[b]->dz[i] =
                (bounds[b]->goal[i] - bounds[b]->z[i] * bounds[b]->ds[i]) / bounds[b]->s[i];
}

/* ---- rounds ---- */

/* The longest step, at most 1, that keeps slacks and multipliers positive. */
static double longest_step(const solver *v)
{
    const side *all[] = {&v->row, &v->low, &v->high, &v->order};
    double step = 1.0;

    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < all[k]->n; i++) {
            if (all[k]->s[i] + step * all[k]->ds[i] < 0.0)
                step = -all[k]->s[i] / all[k]->ds[i];
            if (all[k]->z[i] + step * all[k]->dz[i] < 0.0)
                step = -all[k]->z[i] / all[k]->dz[i];
        }
    return step;
}

/* Goals: target - s z, and in the corrector less the product of the predictor's directions. */
static void set_goals(solver *v, double target, bool correct)
{
    side *all[] = {&v->row, &v->low, &v->high, &v->order};

    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < all[k]->n; i++)
            all[k]->goal[i] = target - all[k]->s[i] * all[k]->z[i] -
                              (correct ? all[k]->ds[i] * all[k]->dz[i] : 0.0);
}

static double after_step(const solver *v, double step)
{
    const side *all[] = {&v->row, &v->low, &v->high, &v->order};
    double sum = 0.0;
    int32_t count = 0;

    for (int k = 0; k < 4; k++) {
        for (int32_t i = 0; i < all[k]->n; i++)
            sum += (all[k]->s[i] + step * all[k]->ds[i]) * (all[k]->z[i] + step * all[k]->dz[i]);
        count += all[k]->n;
    }
    return sum / count;
}

static void move(solver *v, double step)
{
    side *all[] = {&v->row, &v->low, &v->high, &v->order};

    for (int32_t i = 0; i < v->n; i++)
        v->d[i] += step * v->dd[i];
    for (int32_t i = 0; i < v->n_t; i++)
        v->t[i] += step * v->dt[i];
    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < all[k]->n; i++) {
            all[k]->s[i] += step * all[k]->ds[i];
            all[k]->z[i] += step * all[k]->dz[i];
        }
}

/* True when the iterate is good to `limit`. */
static bool iterate(solver *v)
{
    double worst = (double)INFINITY;

    for (int round = 0; round < ROUNDS_MAX; round++) {
        double mu = complementarity(v);
        worst = fmax(residuals(v), mu);
        if (worst < solved)
            return true;
        if (!(worst < (double)INFINITY) || !factor_all(v))
            break;
        set_goals(v, 0.0, false);
        solve_direction(v);
        double ratio = after_step(v, longest_step(v)) / mu;
        set_goals(v, mu * fmin(ratio * ratio * ratio, 1.0), true);
        solve_direction(v);
        double step = longest_step(v);
        if (step < 1e-8)
            break;
        move(v, step < 1.0 ? stay_inside * step : 1.0);
    }
    return worst < good_enough;
}

int ec_polish_lp_solve(const ec_polish_lp *lp, double *to)
{
    solver v;

    int status = create(&v, lp);
    if (status < 0)
        return status;
    start(&v);
    if (!iterate(&v))
        status = ec_fail(EC_ERR_UNSUPPORTED, "polish: the step's linear program has no solution");
    memcpy(to, v.d, (size_t)v.n * sizeof *to);
    memcpy(to + v.n, v.t, (size_t)v.n_t * sizeof *to);
    free(v.memory);
    return status;
}
