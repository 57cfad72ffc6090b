/* far_field.c: tables of far fields: memory, points that become a grid, files of several fields. */
#include "far_field_internal.h"

#include "detmath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Angles of a file that are closer than this are the same, in degrees. */
static const double SAME_ANGLE = 1e-6;
static const double LARGEST_FIELD = 1e100; /* so that powers stay finite */

/* ---- memory ---------------------------------------------------------------------------------- */

int ec_far_field_new(int32_t n_theta, int32_t n_phi, double frequency, ec_far_field **field)
{
    size_t n = (size_t)n_theta * (size_t)n_phi;
    ec_far_field *f = (ec_far_field *)calloc(1, sizeof *f);

    if (f) {
        f->n_theta = n_theta;
        f->n_phi = n_phi;
        f->frequency = frequency;
        f->theta = (double *)calloc((size_t)n_theta, sizeof *f->theta);
        f->phi = (double *)calloc((size_t)n_phi, sizeof *f->phi);
        f->e_theta = (ec_c128 *)calloc(n, sizeof *f->e_theta);
        f->e_phi = (ec_c128 *)calloc(n, sizeof *f->e_phi);
    }
    if (!f || !f->theta || !f->phi || !f->e_theta || !f->e_phi) {
        ec_far_field_destroy(&f);
        return ec_fail(EC_ERR_MEMORY, "no memory for a far field of %d x %d directions",
                       (int)n_theta, (int)n_phi);
    }
    *field = f;
    return EC_OK;
}

void ec_far_field_destroy(ec_far_field **field)
{
    if (!*field)
        return;
    free((*field)->theta);
    free((*field)->phi);
    free((*field)->e_theta);
    free((*field)->e_phi);
    free(*field);
    *field = NULL;
}

static bool is_field(ec_c128 e)
{
    return fabs(e.re) <= LARGEST_FIELD && fabs(e.im) <= LARGEST_FIELD; /* false for NaN */
}

static int check_angles(const char *name, int32_t n, const double *angle, double from, double to)
{
    for (int32_t i = 0; i < n; i++) {
        if (!(angle[i] >= from && angle[i] <= to))
            return ec_fail(EC_ERR_RANGE, "far field: %s[%d] is %.17g rad, allowed are %.4g to %.4g",
                           name, (int)i, angle[i], from, to);
        if (i > 0 && !(angle[i] > angle[i - 1]))
            return ec_fail(EC_ERR_RANGE,
                           "far field: %s has to ascend, but %s[%d] is %.17g after %.17g", name,
                           name, (int)i, angle[i], angle[i - 1]);
    }
    return EC_OK;
}

int ec_far_field_create(int32_t n_theta, const double *theta, int32_t n_phi, const double *phi,
                        const ec_c128 *e_theta, const ec_c128 *e_phi, double frequency,
                        ec_far_field **field)
{
    const double slack = 1e-12;

    if (n_theta < 2 || n_phi < 1 || n_phi > (1 << 28) / n_theta)
        return ec_fail(EC_ERR_SHAPE,
                       "far field: %d x %d directions; at least 2 thetas and 1 phi are needed, at "
                       "most 2^28 directions",
                       (int)n_theta, (int)n_phi);
    if (!theta || !phi || !e_theta)
        return ec_fail(EC_ERR_ARGUMENT, "far field: the angles or E_theta are missing");
    if (!(frequency >= 0) || isinf(frequency))
        return ec_fail(EC_ERR_RANGE, "far field: frequency %g; it is in Hz, 0 when unknown",
                       frequency);
    int status = check_angles("theta", n_theta, theta, 0, EC_PI + slack);
    if (status == EC_OK)
        status = check_angles("phi", n_phi, phi, -4 * EC_PI, 4 * EC_PI);
    if (status != EC_OK)
        return status;
    if (phi[n_phi - 1] - phi[0] > 2 * EC_PI + 1e-9)
        return ec_fail(EC_ERR_RANGE, "far field: phi goes over %.17g rad, more than a turn",
                       phi[n_phi - 1] - phi[0]);
    size_t n = (size_t)n_theta * (size_t)n_phi;
    for (size_t i = 0; i < n; i++)
        if (!is_field(e_theta[i]) || (e_phi && !is_field(e_phi[i])))
            return ec_fail(EC_ERR_RANGE,
                           "far field: the field of theta[%zu], phi[%zu] is not finite or beyond "
                           "%g",
                           i / (size_t)n_phi, i % (size_t)n_phi, LARGEST_FIELD);
    ec_far_field *f = NULL;
    status = ec_far_field_new(n_theta, n_phi, frequency, &f);
    if (status != EC_OK)
        return status;
    memcpy(f->theta, theta, (size_t)n_theta * sizeof *theta);
    memcpy(f->phi, phi, (size_t)n_phi * sizeof *phi);
    memcpy(f->e_theta, e_theta, n * sizeof *e_theta);
    if (e_phi)
        memcpy(f->e_phi, e_phi, n * sizeof *e_phi);
    *field = f;
    return EC_OK;
}

/* ---- conversions ----------------------------------------------------------------------------- */

void ec_far_field_from_ludwig3(double phi_deg, ec_c128 co, ec_c128 cross, ec_c128 *e_theta,
                               ec_c128 *e_phi)
{
    double s, c;

    ec_det_sincospi(phi_deg / 180.0, &s, &c);
    *e_theta = (ec_c128){c * co.re + s * cross.re, c * co.im + s * cross.im};
    *e_phi = (ec_c128){c * cross.re - s * co.re, c * cross.im - s * co.im};
}

/* rhc = (co + j cross) / sqrt 2, lhc = (co - j cross) / sqrt 2 */
void ec_far_field_from_circular(double phi_deg, ec_c128 rhc, ec_c128 lhc, ec_c128 *e_theta,
                                ec_c128 *e_phi)
{
    const double h = 0.70710678118654752440;
    ec_c128 co = {h * (rhc.re + lhc.re), h * (rhc.im + lhc.im)};
    ec_c128 cross = {h * (rhc.im - lhc.im), h * (lhc.re - rhc.re)};

    ec_far_field_from_ludwig3(phi_deg, co, cross, e_theta, e_phi);
}

/* ---- points that become a grid --------------------------------------------------------------- */

int ec_far_field_add(const ec_text *text, ec_far_field_points *points, int64_t line, double theta,
                     double phi, ec_c128 e_theta, ec_c128 e_phi)
{
    if (!(theta >= -180 - SAME_ANGLE && theta <= 180 + SAME_ANGLE))
        return ec_text_wrong(text, line, "theta is %.10g degrees, expected -180 to 180", theta);
    if (!(phi >= -720 && phi <= 720))
        return ec_text_wrong(text, line, "phi is %.10g degrees, expected -720 to 720", phi);
    if (!is_field(e_theta) || !is_field(e_phi))
        return ec_text_wrong(text, line, "a field component is beyond %g", LARGEST_FIELD);
    if (points->n == points->capacity) {
        size_t capacity = 2 * points->capacity + 256;
        void *moved = realloc(points->point, capacity * sizeof *points->point);
        if (!moved)
            return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu directions", text->name, capacity);
        points->point = (ec_far_field_point *)moved;
        points->capacity = capacity;
    }
    ec_far_field_point p = {theta, phi, e_theta, e_phi, line, theta < 0};
    if (p.folded) {
        p.theta = -theta;
        p.phi = phi + 180;
        p.e_theta = (ec_c128){-e_theta.re, -e_theta.im};
        p.e_phi = (ec_c128){-e_phi.re, -e_phi.im};
        points->folded = true;
    }
    p.theta = p.theta > 180 ? 180 : p.theta;
    points->point[points->n++] = p;
    return EC_OK;
}

void ec_far_field_clear(ec_far_field_points *points)
{
    free(points->point);
    *points = (ec_far_field_points){NULL, 0, 0, false};
}

/* phi within a turn from 0. */
static double reduce(double phi)
{
    double p = phi - 360 * floor(phi / 360);

    return 360 - p < SAME_ANGLE ? 0 : p;
}

/* Of several points of one direction the lowest counts; two of rank 0 are a mistake. */
static int rank_of(const ec_far_field_points *points, const ec_far_field_point *p)
{
    if (p->folded)
        return 2;
    return points->folded && reduce(p->phi) != p->phi;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorted, angles that are the same taken once; returns how many are left. */
static size_t unique_angles(double *angle, size_t n)
{
    size_t kept = 0;

    qsort(angle, n, sizeof *angle, compare_doubles);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || angle[i] - angle[kept - 1] > SAME_ANGLE)
            angle[kept++] = angle[i];
    return kept;
}

/* The last of the angles that is not above. */
static size_t angle_index(const double *angle, size_t n, double value)
{
    size_t low = 0, high = n;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (angle[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef struct grid {
    double *theta, *phi; /* of all points, then unique ones; degrees */
    size_t n_theta, n_phi;
    int32_t *cell; /* [n_theta][n_phi]: its point i, -1: none, -2 - i: with other signs */
} grid;

static double grid_phi(const ec_far_field_points *points, size_t i)
{
    return points->folded ? reduce(points->point[i].phi) : points->point[i].phi;
}

static int grid_angles(const ec_text *text, int64_t line, const ec_far_field_points *points,
                       grid *g)
{
    size_t n = points->n;

    g->theta = (double *)malloc(n * sizeof *g->theta);
    g->phi = (double *)malloc(n * sizeof *g->phi);
    if (!g->theta || !g->phi)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu directions", text->name, n);
    for (size_t i = 0; i < n; i++) {
        g->theta[i] = points->point[i].theta;
        g->phi[i] = grid_phi(points, i);
    }
    g->n_theta = unique_angles(g->theta, n);
    g->n_phi = unique_angles(g->phi, n);
    if (g->n_theta < 2)
        return ec_text_wrong(text, line, "a grid with one theta, expected at least 2");
    double turn = g->phi[g->n_phi - 1] - g->phi[0];
    if (turn > 360 + SAME_ANGLE)
        return ec_text_wrong(text, line, "phi goes over %.10g degrees, expected at most 360", turn);
    size_t free_rows = points->folded ? 2 : 0; /* poles, see fill_pole */
    if (g->n_theta > n / g->n_phi + free_rows)
        return ec_text_wrong(text, line,
                             "%zu thetas and %zu phis make a grid of more than the %zu directions "
                             "given; expected each theta with each phi",
                             g->n_theta, g->n_phi, n);
    return EC_OK;
}

/* A pole is one direction: where cuts go through it, its field at a phi is that at the opposite phi
 * with other signs. */
static void fill_pole(const ec_far_field_points *points, grid *g, size_t row)
{
    int32_t *cell = g->cell + row * g->n_phi;
    bool pole = g->theta[row] <= SAME_ANGLE || g->theta[row] >= 180 - SAME_ANGLE;

    if (!points->folded || !pole)
        return;
    for (size_t k = 0; k < g->n_phi; k++) {
        double phi = reduce(g->phi[k] + 180);
        size_t other = angle_index(g->phi, g->n_phi, phi);
        /* the angle found may also be the one above, by a rounding error */
        if (other + 1 < g->n_phi && g->phi[other + 1] - phi <= SAME_ANGLE)
            other++;
        if (cell[k] == -1 && cell[other] >= 0 && fabs(g->phi[other] - phi) <= SAME_ANGLE)
            cell[k] = -2 - cell[other];
    }
}

static int grid_cells(const ec_text *text, int64_t line, const ec_far_field_points *points, grid *g)
{
    size_t cells = g->n_theta * g->n_phi;

    g->cell = (int32_t *)malloc(cells * sizeof *g->cell);
    if (!g->cell)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu directions", text->name, cells);
    memset(g->cell, -1, cells * sizeof *g->cell);
    for (size_t i = 0; i < points->n; i++) {
        const ec_far_field_point *p = &points->point[i];
        size_t row = angle_index(g->theta, g->n_theta, p->theta);
        int32_t *cell =
            &g->cell[row * g->n_phi + angle_index(g->phi, g->n_phi, grid_phi(points, i))];
        int rank = rank_of(points, p);
        if (*cell >= 0) {
            const ec_far_field_point *other = &points->point[*cell];
            int other_rank = rank_of(points, other);
            if (rank == 0 && other_rank == 0)
                return ec_text_wrong(text, p->line,
                                     "theta %.10g, phi %.10g is given twice, first in line %lld",
                                     p->theta, p->phi, (long long)other->line);
            if (rank >= other_rank)
                continue;
        }
        *cell = (int32_t)i;
    }
    fill_pole(points, g, 0);
    fill_pole(points, g, g->n_theta - 1);
    for (size_t i = 0; i < cells; i++)
        if (g->cell[i] == -1)
            return ec_text_wrong(text, line,
                                 "theta %.10g, phi %.10g is missing; expected each of %zu thetas "
                                 "with each of %zu phis",
                                 g->theta[i / g->n_phi], g->phi[i % g->n_phi], g->n_theta,
                                 g->n_phi);
    return EC_OK;
}

static int grid_field(const ec_far_field_points *points, const grid *g, double frequency,
                      ec_far_field **field)
{
    int status = ec_far_field_new((int32_t)g->n_theta, (int32_t)g->n_phi, frequency, field);

    if (status != EC_OK)
        return status;
    for (size_t i = 0; i < g->n_theta; i++)
        (*field)->theta[i] = g->theta[i] * EC_DEGREE;
    for (size_t i = 0; i < g->n_phi; i++)
        (*field)->phi[i] = g->phi[i] * EC_DEGREE;
    for (size_t i = 0; i < g->n_theta * g->n_phi; i++) {
        bool opposite = g->cell[i] < 0;
        const ec_far_field_point *p = &points->point[opposite ? -2 - g->cell[i] : g->cell[i]];
        double sign = opposite ? -1 : 1;
        (*field)->e_theta[i] = (ec_c128){sign * p->e_theta.re, sign * p->e_theta.im};
        (*field)->e_phi[i] = (ec_c128){sign * p->e_phi.re, sign * p->e_phi.im};
    }
    return EC_OK;
}

static int set_add(const ec_text *text, ec_far_field_set *set, ec_far_field *field)
{
    if (set->n == set->capacity) {
        size_t capacity = 2 * set->capacity + 8;
        void *moved = realloc(set->field, capacity * sizeof *set->field);
        if (!moved)
            return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu fields", text->name, capacity);
        set->field = (ec_far_field **)moved;
        set->capacity = capacity;
    }
    set->field[set->n++] = field;
    return EC_OK;
}

int ec_far_field_finish(const ec_text *text, int64_t line, double frequency,
                        ec_far_field_points *points, ec_far_field_set *set)
{
    grid g = {NULL, NULL, 0, 0, NULL};
    ec_far_field *field = NULL;
    int status = EC_OK;

    if (points->n == 0)
        return ec_text_wrong(text, line, "the file has no directions");
    if (!(frequency >= 0))
        status =
            ec_text_wrong(text, line, "the frequency is %g Hz, expected at least 0", frequency);
    if (status == EC_OK)
        status = grid_angles(text, line, points, &g);
    if (status == EC_OK)
        status = grid_cells(text, line, points, &g);
    if (status == EC_OK)
        status = grid_field(points, &g, frequency, &field);
    if (status == EC_OK)
        status = set_add(text, set, field);
    if (status == EC_OK)
        ec_far_field_clear(points);
    else
        ec_far_field_destroy(&field);
    free(g.theta);
    free(g.phi);
    free(g.cell);
    return status;
}

/* ---- one field of a file's ------------------------------------------------------------------- */

static bool same_frequency(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (a + b);
}

static bool same_grid(const ec_far_field *a, const ec_far_field *b)
{
    bool same = a->n_theta == b->n_theta && a->n_phi == b->n_phi;

    for (int32_t i = 0; same && i < a->n_theta; i++)
        same = fabs(a->theta[i] - b->theta[i]) <= SAME_ANGLE * EC_DEGREE;
    for (int32_t i = 0; same && i < a->n_phi; i++)
        same = fabs(a->phi[i] - b->phi[i]) <= SAME_ANGLE * EC_DEGREE;
    return same;
}

/* a += t (b - a) */
static void mix(ec_far_field *a, const ec_far_field *b, double frequency)
{
    double t = (frequency - a->frequency) / (b->frequency - a->frequency);
    size_t n = (size_t)a->n_theta * (size_t)a->n_phi;

    for (size_t i = 0; i < n; i++) {
        a->e_theta[i].re += t * (b->e_theta[i].re - a->e_theta[i].re);
        a->e_theta[i].im += t * (b->e_theta[i].im - a->e_theta[i].im);
        a->e_phi[i].re += t * (b->e_phi[i].re - a->e_phi[i].re);
        a->e_phi[i].im += t * (b->e_phi[i].im - a->e_phi[i].im);
    }
    a->frequency = frequency;
}

/* Fields below (or at) and above (or at) a frequency, and the nearest; -1: none. */
typedef struct neighbours {
    int64_t below, above, nearest;
    double lowest, highest;
} neighbours;

static neighbours find_neighbours(const ec_far_field_set *set, double frequency)
{
    neighbours at = {-1, -1, 0, INFINITY, -INFINITY};

    for (size_t i = 0; i < set->n; i++) {
        double f = set->field[i]->frequency;
        if (f <= frequency && (at.below < 0 || f > set->field[at.below]->frequency))
            at.below = (int64_t)i;
        if (f >= frequency && (at.above < 0 || f < set->field[at.above]->frequency))
            at.above = (int64_t)i;
        if (fabs(f - frequency) < fabs(set->field[at.nearest]->frequency - frequency))
            at.nearest = (int64_t)i;
        at.lowest = f < at.lowest ? f : at.lowest;
        at.highest = f > at.highest ? f : at.highest;
    }
    return at;
}

static int check_distinct(const char *name, const ec_far_field_set *set, int64_t chosen)
{
    double f = set->field[chosen]->frequency;

    for (size_t i = 0; i < set->n; i++)
        if ((int64_t)i != chosen && same_frequency(set->field[i]->frequency, f))
            return ec_fail(EC_ERR_FORMAT,
                           "%s: two fields have the frequency %.10g Hz, expected one", name, f);
    return EC_OK;
}

/* Moves the wanted field out of the set. */
static int choose(const char *name, const ec_far_field_info *info, ec_far_field_set *set,
                  ec_far_field **field)
{
    neighbours at = find_neighbours(set, info->frequency);
    int64_t chosen = at.nearest;

    if (set->n > 1 && info->frequency == 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "%s has %zu fields, from %.10g to %.10g Hz: which frequency is wanted?",
                       name, set->n, at.lowest, at.highest);
    bool any = set->n == 1 && (info->frequency == 0 || set->field[0]->frequency == 0);
    bool exact = same_frequency(set->field[chosen]->frequency, info->frequency);
    int status = any ? EC_OK : check_distinct(name, set, chosen);
    if (status != EC_OK)
        return status;
    if (!any && !exact && info->select == EC_FAR_FIELD_INTERPOLATE) {
        if (at.below < 0 || at.above < 0)
            return ec_fail(EC_ERR_RANGE,
                           "%s has fields from %.10g to %.10g Hz, %.10g Hz lies outside; the "
                           "nearest one can be asked for",
                           name, at.lowest, at.highest, info->frequency);
        ec_far_field *a = set->field[at.below];
        const ec_far_field *b = set->field[at.above];
        if (!same_grid(a, b))
            return ec_fail(EC_ERR_FORMAT,
                           "%s: the fields of %.10g and %.10g Hz have different directions, so "
                           "nothing lies between them; the nearest one can be asked for",
                           name, a->frequency, b->frequency);
        mix(a, b, info->frequency);
        chosen = at.below;
    }
    *field = set->field[chosen];
    set->field[chosen] = NULL;
    return EC_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

void ec_far_field_info_default(ec_far_field_info *info)
{
    *info = (ec_far_field_info){EC_FAR_FIELD_AUTO, 0, EC_FAR_FIELD_INTERPOLATE};
}

static const struct {
    const char *ending;
    ec_far_field_reader *read;
} formats[] = {[EC_FAR_FIELD_AUTO] = {NULL, NULL},
               [EC_FAR_FIELD_FFD] = {".ffd", ec_far_field_read_ffd},
               [EC_FAR_FIELD_CUT] = {".cut", ec_far_field_read_cut},
               [EC_FAR_FIELD_FFE] = {".ffe", ec_far_field_read_ffe},
               [EC_FAR_FIELD_FFS] = {".ffs", ec_far_field_read_ffs},
               [EC_FAR_FIELD_CSV] = {".csv", ec_far_field_read_csv}};
enum { FORMATS = sizeof formats / sizeof *formats };

static ec_far_field_format format_of(const char *name)
{
    const char *point = strrchr(name, '.');

    for (int i = 1; point && i < FORMATS; i++)
        if (strcasecmp(point, formats[i].ending) == 0)
            return (ec_far_field_format)i;
    return EC_FAR_FIELD_AUTO;
}

static int check_info(const char *name, ec_far_field_info *info)
{
    if (info->format == EC_FAR_FIELD_AUTO)
        info->format = format_of(name);
    if (info->format == EC_FAR_FIELD_AUTO)
        return ec_fail(EC_ERR_FILE,
                       "'%s': a far field is read from a file that ends in .ffd, .cut, .ffe, .ffs "
                       "or .csv",
                       name);
    if ((int)info->format < 0 || (int)info->format >= FORMATS ||
        (info->select != EC_FAR_FIELD_INTERPOLATE && info->select != EC_FAR_FIELD_NEAREST))
        return ec_fail(EC_ERR_ARGUMENT, "far field: unknown format %d or selection %d",
                       (int)info->format, (int)info->select);
    if (!(info->frequency >= 0) || isinf(info->frequency))
        return ec_fail(EC_ERR_RANGE, "far field: frequency %g Hz; 0 asks for the file's only one",
                       info->frequency);
    return EC_OK;
}

int ec_far_field_parse(const char *name, const char *bytes, size_t size,
                       const ec_far_field_info *info, ec_far_field **field)
{
    ec_far_field_info wanted;
    ec_far_field_set set = {NULL, 0, 0};
    ec_far_field_points points = {NULL, 0, 0, false};
    ec_text text;

    ec_far_field_info_default(&wanted);
    if (info)
        wanted = *info;
    int status = check_info(name, &wanted);
    if (status == EC_OK && size > EC_TEXT_LARGEST)
        status = ec_fail(EC_ERR_FILE, "'%s' has %zu bytes, at most %zu are read", name, size,
                         EC_TEXT_LARGEST);
    if (status == EC_OK)
        status = ec_text_open(name, bytes, size, &text);
    if (status != EC_OK)
        return status;
    status = formats[wanted.format].read(&text, &points, &set);
    if (status == EC_OK)
        status = choose(name, &wanted, &set, field);
    for (size_t i = 0; i < set.n; i++)
        ec_far_field_destroy(&set.field[i]);
    free(set.field);
    ec_far_field_clear(&points);
    ec_text_close(&text);
    return status;
}

int ec_far_field_read(const char *path, const ec_far_field_info *info, ec_far_field **field)
{
    char *bytes = NULL;
    size_t size = 0;
    int status = ec_text_load(path, &bytes, &size);

    if (status == EC_OK)
        status = ec_far_field_parse(path, bytes, size, info, field);
    free(bytes);
    return status;
}
