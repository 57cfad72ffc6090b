/* element_table.c: a far field as B-spline coefficients on an even grid.
 *
 * Steps: Cartesian components at the field's directions; an even grid of phi (trigonometric
 * interpolation of few even samples of a circle, else Lagrange's), then of theta; coefficients of
 * the interpolating cubic B-spline along phi and along theta. A circle is periodic; with a full
 * circle theta goes on through the poles it reaches, so both poles make a great circle periodic.
 * An end without a neighbour has the not-a-knot condition (C. de Boor, "A Practical Guide to
 * Splines", 1978, ch. IV). Periodic coefficients by the recursive filter of M. Unser, A. Aldroubi
 * and M. Eden, IEEE Trans. Signal Process. 41, 1993.
 */
#include "element_pattern.h"
#include "far_field_internal.h"

#include <stdlib.h>
#include <string.h>

static const double TURN = 6.283185307179586;
enum { ORDER = 6 };        /* points of a Lagrange interpolation */
enum { FEW_COLUMNS = 64 }; /* a circle has at least so many */
enum { LONGEST_AXIS = 1 << 20 };

/* Cartesian components over [rows][columns], and what the axes are like. */
typedef struct field_grid {
    int32_t rows, columns;
    double *theta, *phi;
    ec_c128 *e;        /* [rows][columns][3] */
    bool circle;       /* phi is periodic, with the last phi left out */
    bool north, south; /* theta goes on through 0, through pi */
} field_grid;

static void grid_free(field_grid *g)
{
    free(g->theta);
    free(g->phi);
    free(g->e);
    *g = (field_grid){.rows = 0};
}

static int grid_new(int32_t rows, int32_t columns, field_grid *g)
{
    *g = (field_grid){.rows = rows, .columns = columns};
    g->theta = (double *)calloc((size_t)rows, sizeof *g->theta);
    g->phi = (double *)calloc((size_t)columns, sizeof *g->phi);
    g->e = (ec_c128 *)calloc((size_t)rows * (size_t)columns, 3 * sizeof *g->e);
    if (g->theta && g->phi && g->e)
        return EC_OK;
    grid_free(g);
    return ec_fail(EC_ERR_MEMORY, "no memory for an element's table of %d x %d directions",
                   (int)rows, (int)columns);
}

static ec_c128 *grid_at(const field_grid *g, int32_t row, int32_t column)
{
    return g->e + 3 * ((size_t)row * (size_t)g->columns + (size_t)column);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static bool is_even(const double *angle, int32_t n)
{
    double step = n > 1 ? (angle[n - 1] - angle[0]) / (n - 1) : 0;

    for (int32_t i = 0; i < n; i++)
        if (!(fabs(angle[i] - (angle[0] + i * step)) <= 1e-6 * step))
            return false;
    return true;
}

static double smallest_step(const double *angle, int32_t n)
{
    double least = INFINITY;

    for (int32_t i = 1; i < n; i++)
        least = angle[i] - angle[i - 1] < least ? angle[i] - angle[i - 1] : least;
    return least;
}

static double largest_step(const double *angle, int32_t n)
{
    double most = 0;

    for (int32_t i = 1; i < n; i++)
        most = angle[i] - angle[i - 1] > most ? angle[i] - angle[i - 1] : most;
    return most;
}

/* How many phis a circle has without the last one that repeats the first; 0: no circle. */
static int32_t circle_columns(const ec_far_field *f)
{
    double span = f->phi[f->n_phi - 1] - f->phi[0];

    if (f->n_phi == 1)
        return 1;
    if (span >= TURN - 1e-6)
        return f->n_phi - 1;
    return TURN - span <= 1.5 * largest_step(f->phi, f->n_phi) ? f->n_phi : 0;
}

/* Steps of an even grid in place of uneven ones: the smallest step, at most four times as many. */
static int32_t even_steps(const double *angle, int32_t n, double range)
{
    double steps = range / smallest_step(angle, n), most = 4.0 * n;

    steps = ceil((steps < most ? steps : most) - 1e-6);
    return (int32_t)(steps < LONGEST_AXIS ? steps : LONGEST_AXIS);
}

/* ---- Cartesian components -------------------------------------------------------------------- */

static void to_cartesian(double theta, double phi, ec_c128 a, ec_c128 b, ec_c128 e[3])
{
    double st, ct, sp, cp;

    ec_det_sincos(theta, &st, &ct);
    ec_det_sincos(phi, &sp, &cp);
    e[0] = (ec_c128){ct * cp * a.re - sp * b.re, ct * cp * a.im - sp * b.im};
    e[1] = (ec_c128){ct * sp * a.re + cp * b.re, ct * sp * a.im + cp * b.im};
    e[2] = (ec_c128){-st * a.re, -st * a.im};
}

/* The field at its own directions; one phi becomes FEW_COLUMNS. */
static int grid_of_field(const ec_far_field *f, field_grid *g)
{
    int32_t circle = circle_columns(f);
    bool symmetric = circle == 1;
    int32_t columns = symmetric ? FEW_COLUMNS : circle ? circle : f->n_phi;
    int status = grid_new(f->n_theta, columns, g);

    if (status != EC_OK)
        return status;
    g->circle = circle > 0;
    g->north = g->circle && f->theta[0] <= f->theta[1] - f->theta[0] + 1e-9;
    double last = f->theta[f->n_theta - 1];
    g->south = g->circle && EC_PI - last <= last - f->theta[f->n_theta - 2] + 1e-9;
    for (int32_t i = 0; i < g->rows; i++)
        g->theta[i] = f->theta[i];
    for (int32_t k = 0; k < columns; k++)
        g->phi[k] = symmetric ? k * (TURN / FEW_COLUMNS) : f->phi[k];
    for (int32_t i = 0; i < g->rows; i++)
        for (int32_t k = 0; k < columns; k++) {
            size_t at = (size_t)i * (size_t)f->n_phi + (size_t)(symmetric ? 0 : k);
            to_cartesian(g->theta[i], g->phi[k], f->e_theta[at], f->e_phi[at], grid_at(g, i, k));
        }
    return EC_OK;
}

/* ---- an even grid of phi --------------------------------------------------------------------- */

static void add_scaled(ec_c128 to[3], const ec_c128 from[3], double weight)
{
    for (int i = 0; i < 3; i++) {
        to[i].re += weight * from[i].re;
        to[i].im += weight * from[i].im;
    }
}

/* Weights of n points x for the value at `at`. */
static void lagrange(const double *x, int32_t n, double at, double *weight)
{
    for (int32_t i = 0; i < n; i++) {
        weight[i] = 1;
        for (int32_t k = 0; k < n; k++)
            if (k != i)
                weight[i] *= (at - x[k]) / (x[i] - x[k]);
    }
}

/* The last of n ascending points that is not above `at`; -1 when all are. */
static int32_t last_not_above(const double *x, int32_t n, double at)
{
    int32_t low = -1, high = n;

    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (x[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int32_t clamped(int32_t value, int32_t low, int32_t high)
{
    value = value > high ? high : value;
    return value < low ? low : value;
}

/* The trigonometric polynomial through n even samples of a circle, at `factor` n points. */
static void refine_circle(const field_grid *from, field_grid *to)
{
    int32_t n = from->columns, factor = to->columns / n;

    for (int32_t t = 0; t < to->columns; t++) { /* point t of the kernel */
        double weight = 1;
        for (int32_t m = 1; 2 * m <= n; m++)
            weight += (2 * m == n ? 1 : 2) * ec_det_cospi(2.0 * m * t / to->columns);
        for (int32_t i = 0; i < to->rows; i++)
            for (int32_t k = 0; k < n; k++)
                add_scaled(grid_at(to, i, (k * factor + t) % to->columns), grid_at(from, i, k),
                           weight / n);
    }
}

/* Lagrange interpolation along phi; around a circle when it is one. */
static void resample_phi(const field_grid *from, field_grid *to)
{
    int32_t n = from->columns, order = n < ORDER ? n : ORDER;

    for (int32_t k = 0; k < to->columns; k++) {
        double at = to->phi[k], x[ORDER] = {0}, weight[ORDER];
        int32_t column[ORDER];
        int32_t first = last_not_above(from->phi, n, at) - order / 2 + 1;
        first = from->circle ? first : clamped(first, 0, n - order);
        for (int32_t j = 0; j < order; j++) {
            int32_t c = first + j, turns = c < 0 ? -1 : c >= n ? 1 : 0;
            column[j] = c - turns * n;
            x[j] = from->phi[column[j]] + turns * TURN;
        }
        lagrange(x, order, at, weight);
        for (int32_t i = 0; i < to->rows; i++)
            for (int32_t j = 0; j < order; j++)
                add_scaled(grid_at(to, i, k), grid_at(from, i, column[j]), weight[j]);
    }
}

static int even_phi(field_grid *g)
{
    double span = g->circle ? TURN : g->phi[g->columns - 1] - g->phi[0];
    double extra = TURN - (g->phi[g->columns - 1] - g->phi[0]); /* the step that closes a circle */
    int32_t n = g->columns, columns = n;
    bool even = is_even(g->phi, n);

    if (g->circle) {
        even = even && fabs(extra * n - TURN) <= 1e-6 * TURN;
        if (!even)
            columns = even_steps(g->phi, n, TURN);
        if (even && n < FEW_COLUMNS)
            columns = n * ((FEW_COLUMNS + n - 1) / n);
        columns = columns < FEW_COLUMNS ? FEW_COLUMNS : columns;
        /* the opposite of each phi is needed */
        columns = even && n < FEW_COLUMNS && columns % 2 ? 2 * columns : columns + columns % 2;
    } else {
        columns = even ? n : even_steps(g->phi, n, span) + 1;
        columns = columns < 4 ? 4 : columns;
    }
    if (even && columns == n)
        return EC_OK;
    field_grid to;
    int status = grid_new(g->rows, columns, &to);
    if (status != EC_OK)
        return status;
    to.circle = g->circle;
    to.north = g->north;
    to.south = g->south;
    memcpy(to.theta, g->theta, (size_t)g->rows * sizeof *g->theta);
    for (int32_t k = 0; k < columns; k++)
        to.phi[k] = g->phi[0] + k * (span / (g->circle ? columns : columns - 1));
    if (g->circle && even && n < FEW_COLUMNS)
        refine_circle(g, &to);
    else
        resample_phi(g, &to);
    grid_free(g);
    *g = to;
    return EC_OK;
}

/* ---- an even grid of theta ------------------------------------------------------------------- */

/* Row i of a grid that goes on through the poles, -rows .. 2 rows: its theta on the great circle,
 * the row and whether the opposite column is meant. */
static double row_beyond(const field_grid *g, int32_t i, int32_t *row, bool *opposite)
{
    int32_t n = g->rows;
    int32_t on_north = g->theta[0] < 1e-9, on_south = EC_PI - g->theta[n - 1] < 1e-9;

    *opposite = i < 0 || i >= n;
    if (i < 0) {
        *row = -i - 1 + on_north;
        return -g->theta[*row];
    }
    if (i >= n) {
        *row = 2 * n - 1 - i - on_south;
        return TURN - g->theta[*row];
    }
    *row = i;
    return g->theta[i];
}

static void resample_theta(const field_grid *from, field_grid *to)
{
    int32_t n = from->rows, half = from->columns / 2;
    int32_t before = from->north && n > ORDER ? ORDER / 2 : from->north ? n - 1 : 0;
    int32_t after = from->south && n > ORDER ? ORDER / 2 : from->south ? n - 1 : 0;
    int32_t order = n + before + after < ORDER ? n + before + after : ORDER;
    double *x = to->theta; /* the angles of `to` are set last */

    for (int32_t i = 0; i < to->rows; i++) {
        double at = x[i], near[ORDER] = {0}, weight[ORDER];
        int32_t row[ORDER];
        bool opposite[ORDER];
        int32_t first = last_not_above(from->theta, n, at) - order / 2 + 1;
        first = clamped(first, -before, n + after - order);
        for (int32_t j = 0; j < order; j++)
            near[j] = row_beyond(from, first + j, &row[j], &opposite[j]);
        lagrange(near, order, at, weight);
        for (int32_t k = 0; k < to->columns; k++)
            for (int32_t j = 0; j < order; j++) {
                int32_t column = opposite[j] ? (k + half) % from->columns : k;
                add_scaled(grid_at(to, i, k), grid_at(from, row[j], column), weight[j]);
            }
    }
}

static int even_theta(field_grid *g)
{
    int32_t n = g->rows;
    double from = g->north ? 0 : g->theta[0], to = g->south ? EC_PI : g->theta[n - 1];
    bool fits = g->theta[0] - from < 1e-9 && to - g->theta[n - 1] < 1e-9;
    bool even = is_even(g->theta, n);

    if (even && fits && n >= 4)
        return EC_OK;
    double mean = (g->theta[n - 1] - g->theta[0]) / (n - 1);
    int32_t steps =
        even ? (int32_t)ceil((to - from) / mean - 1e-6) : even_steps(g->theta, n, to - from);
    steps = steps < 3 ? 3 : steps;
    field_grid fresh;
    int status = grid_new(steps + 1, g->columns, &fresh);
    if (status != EC_OK)
        return status;
    fresh.circle = g->circle;
    fresh.north = g->north;
    fresh.south = g->south;
    memcpy(fresh.phi, g->phi, (size_t)g->columns * sizeof *g->phi);
    for (int32_t i = 0; i <= steps; i++)
        fresh.theta[i] = from + (to - from) * i / steps;
    resample_theta(g, &fresh);
    grid_free(g);
    *g = fresh;
    return EC_OK;
}

/* ---- coefficients ---------------------------------------------------------------------------- */

/* Coefficients c of the periodic cubic B-spline through s[0 .. n-1], in place. */
static void periodic_spline(ec_c128 *s, int32_t n)
{
    const double z = -0.26794919243112270647; /* sqrt(3) - 2 */
    int32_t reach = n < 60 ? n : 60;          /* z^60 < 1e-34 */
    ec_c128 sum = {0, 0};
    double power = 1, closed = 1;

    for (int32_t k = 0; k < n && fabs(closed) > 1e-40; k++)
        closed *= z;
    for (int32_t k = 0; k < reach; k++, power *= z) {
        sum.re += power * s[(n - k) % n].re;
        sum.im += power * s[(n - k) % n].im;
    }
    s[0] = (ec_c128){sum.re / (1 - closed), sum.im / (1 - closed)};
    for (int32_t i = 1; i < n; i++) {
        s[i].re += z * s[i - 1].re;
        s[i].im += z * s[i - 1].im;
    }
    sum = (ec_c128){0, 0};
    power = 1;
    for (int32_t k = 0; k < reach; k++, power *= z) {
        sum.re += power * s[(n - 1 + k) % n].re;
        sum.im += power * s[(n - 1 + k) % n].im;
    }
    s[n - 1] = (ec_c128){-z * sum.re / (1 - closed), -z * sum.im / (1 - closed)};
    for (int32_t i = n - 2; i >= 0; i--) {
        s[i].re = z * (s[i + 1].re - s[i].re);
        s[i].im = z * (s[i + 1].im - s[i].im);
    }
    for (int32_t i = 0; i < n; i++) {
        s[i].re *= 6;
        s[i].im *= 6;
    }
}

/* One part (re or im, stride 2) of s[-1 .. n]: samples 0 .. n-1, n >= 4, become coefficients with
 * the two beyond the ends. Not a knot: the third derivative goes on through points 1 and n-2, so
 * the second differences of coefficients and of samples are equal there. work: n. */
static void open_spline(double *s, int32_t n, double *work)
{
    double first = s[0], second = s[2], last = s[2 * (n - 1)], before = s[2 * (n - 2)];
    double c1 = second - (first - 2 * second + s[4]) / 6;
    double c2 = before - (last - 2 * before + s[2 * (n - 3)]) / 6;

    /* c[i-1] + 4 c[i] + c[i+1] = 6 s[i] for i = 2 .. n-3, by elimination */
    s[2] = c1;
    work[1] = 0;
    for (int32_t i = 2; i <= n - 3; i++) {
        double pivot = 4 - work[i - 1];
        work[i] = 1 / pivot;
        s[2 * i] = (6 * s[2 * i] - s[2 * (i - 1)]) / pivot;
    }
    s[2 * (n - 2)] = c2;
    for (int32_t i = n - 3; i >= 2; i--)
        s[2 * i] -= work[i] * s[2 * (i + 1)];
    s[0] = 6 * second - 4 * s[2] - s[4];
    s[-2] = 6 * first - 4 * s[0] - s[2];
    s[2 * (n - 1)] = 6 * before - 4 * s[2 * (n - 2)] - s[2 * (n - 3)];
    s[2 * n] = 6 * last - 4 * s[2 * (n - 1)] - s[2 * (n - 2)];
}

/* line[1 .. n] are samples; line[0] and line[n + 1] get the coefficients beyond. */
static void line_spline(ec_c128 *line, int32_t n, bool periodic, double *work)
{
    if (periodic) {
        periodic_spline(line + 1, n);
        line[0] = line[n];
        line[n + 1] = line[1];
        return;
    }
    open_spline(&line[1].re, n, work);
    open_spline(&line[1].im, n, work);
}

/* Coefficients along phi: rows become columns + 3 (circle, one more for the last step) or
 * columns + 2 long. */
static void spline_phi(const field_grid *g, int32_t columns, ec_c128 *node, ec_c128 *line,
                       double *work)
{
    int32_t n = g->columns;

    for (int32_t i = 0; i < g->rows; i++)
        for (int c = 0; c < 3; c++) {
            for (int32_t k = 0; k < n; k++)
                line[k + 1] = grid_at(g, i, k)[c];
            line_spline(line, n, g->circle, work);
            if (g->circle)
                line[n + 2] = line[2];
            ec_c128 *to = node + 3 * (size_t)(i + 1) * (size_t)columns + c;
            for (int32_t k = 0; k < columns; k++)
                to[3 * (size_t)k] = line[k];
        }
}

/* A meridian, gone on through the poles it reaches, as one line: how its row `at` is reached. */
typedef struct meridian {
    int32_t first, length; /* rows first .. first + length - 1, those beyond a pole included */
    bool periodic;
} meridian;

static meridian meridian_of(const field_grid *g)
{
    int32_t n = g->rows;

    if (g->north && g->south)
        return (meridian){0, 2 * (n - 1), true};
    if (g->north)
        return (meridian){-(n - 1), 2 * n - 1, false};
    if (g->south)
        return (meridian){0, 2 * n - 1, false};
    return (meridian){0, n, false};
}

static ec_c128 *meridian_node(const field_grid *g, int32_t columns, ec_c128 *node, int32_t row,
                              int32_t column)
{
    int32_t last = g->rows - 1, r = row < 0 ? -row : row > last ? 2 * last - row : row;
    int32_t k = r == row ? column : (column + g->columns / 2) % g->columns;

    return node + 3 * ((size_t)(r + 1) * (size_t)columns + (size_t)k);
}

/* Coefficients along theta of one column k (0: the one before the first), rows -1 .. rows. */
static void spline_meridian(const field_grid *g, int32_t columns, ec_c128 *node, int32_t k,
                            ec_c128 *line, double *work, ec_c128 *result)
{
    meridian m = meridian_of(g);

    for (int c = 0; c < 3; c++) {
        for (int32_t i = 0; i < m.length; i++)
            line[i + 1] = meridian_node(g, columns, node, m.first + i, k)[c];
        line_spline(line, m.length, m.periodic, work);
        for (int32_t i = -1; i <= g->rows; i++)
            result[3 * (size_t)(i + 1) + (size_t)c] = line[i - m.first + 1];
    }
}

/* The columns of a circle are solved before any is replaced, since each needs its opposite. */
static void spline_theta(const field_grid *g, int32_t columns, ec_c128 *node, ec_c128 *line,
                         double *work, ec_c128 *result)
{
    int32_t unique = g->circle ? g->columns : columns, rows = g->rows + 2;

    for (int32_t k = 0; k < unique; k++)
        spline_meridian(g, columns, node, k, line, work, result + 3 * (size_t)rows * (size_t)k);
    for (int32_t k = 0; k < columns; k++)
        for (int32_t i = 0; i < rows; i++)
            memcpy(node + 3 * ((size_t)i * (size_t)columns + (size_t)k),
                   result + 3 * ((size_t)rows * (size_t)(k % unique) + (size_t)i),
                   3 * sizeof *node);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void describe(const field_grid *g, int32_t columns, ec_element_grid *to)
{
    const double slack = 1e-9;
    double theta_span = g->theta[g->rows - 1] - g->theta[0];
    double phi_span = g->circle ? TURN : g->phi[g->columns - 1] - g->phi[0];
    int32_t phi_steps = g->circle ? g->columns : g->columns - 1;

    *to = (ec_element_grid){.rows = g->rows + 2,
                            .columns = columns,
                            .theta0 = g->theta[0],
                            .phi0 = g->phi[0],
                            .rows_per_rad = (g->rows - 1) / theta_span,
                            .columns_per_rad = phi_steps / phi_span,
                            .theta_low = g->theta[0] - slack,
                            .theta_high = g->theta[g->rows - 1] + slack,
                            .phi_span = phi_span + slack};
}

static int fit(const field_grid *g, ec_element_pattern *pattern)
{
    int32_t columns = g->columns + (g->circle ? 3 : 2), rows = g->rows + 2;
    size_t length = 3 * (size_t)rows * (size_t)columns;
    size_t longest = (size_t)(2 * g->rows > columns ? 2 * g->rows : columns) + 4;
    ec_c128 *node = (ec_c128 *)calloc(length, sizeof *node);
    ec_c128 *result = (ec_c128 *)calloc(length, sizeof *result);
    ec_c64 *single = (ec_c64 *)calloc(length, sizeof *single);
    ec_c128 *line = (ec_c128 *)calloc(longest, sizeof *line);
    double *work = (double *)calloc(longest, sizeof *work);
    bool ok = node && result && single && line && work;

    if (ok) {
        spline_phi(g, columns, node, line, work);
        spline_theta(g, columns, node, line, work, result);
        for (size_t i = 0; i < length; i++)
            single[i] = (ec_c64){(float)node[i].re, (float)node[i].im};
        *pattern = (ec_element_pattern){
            .kind = EC_ELEMENT_KIND_TABLE, .node_f64 = node, .node_f32 = single};
        describe(g, columns, &pattern->grid);
    } else {
        free(node);
        free(single);
    }
    free(result);
    free(line);
    free(work);
    return ok ? EC_OK
              : ec_fail(EC_ERR_MEMORY, "no memory for an element's table of %d x %d directions",
                        (int)rows, (int)columns);
}

int ec_element_table_create(const ec_far_field *field, ec_element_pattern *pattern)
{
    field_grid g;
    int status = grid_of_field(field, &g);

    if (status == EC_OK)
        status = even_phi(&g);
    if (status == EC_OK)
        status = even_theta(&g);
    if (status == EC_OK)
        status = fit(&g, pattern);
    grid_free(&g);
    return status;
}

void ec_element_table_destroy(ec_element_pattern *pattern)
{
    /* the pointers are const for those who borrow the table */
    free((void *)(uintptr_t)pattern->node_f64);
    free((void *)(uintptr_t)pattern->node_f32);
    *pattern = (ec_element_pattern){.kind = EC_ELEMENT_KIND_ISOTROPIC};
}

size_t ec_element_table_length(const ec_element_pattern *pattern)
{
    return 3 * (size_t)pattern->grid.rows * (size_t)pattern->grid.columns;
}
