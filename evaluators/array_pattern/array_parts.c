/* array_parts.c: see array_parts.h. */
#include "array_parts.h"

#include "../../core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct numbered {
    double key; /* what the list is sorted by */
    int32_t part, element;
} numbered;

static int by_part(const void *a, const void *b)
{
    const numbered *x = (const numbered *)a, *y = (const numbered *)b;

    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static int by_key(const void *a, const void *b)
{
    const numbered *x = (const numbered *)a, *y = (const numbered *)b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static void find_bounds(const double *a, const numbered *list, int32_t n, double *lo, double *hi)
{
    *lo = *hi = a[list[0].element];
    for (int32_t m = 1; m < n; m++) {
        *lo = fmin(*lo, a[list[m].element]);
        *hi = fmax(*hi, a[list[m].element]);
    }
}

/* Cell 0 .. count - 1 of a value in [lo, hi]. */
static int32_t cell_of(double value, double lo, double hi, int32_t count)
{
    double place = hi > lo ? (value - lo) / (hi - lo) * count : 0.0;
    int32_t cell = (int32_t)place;

    return cell < 0 ? 0 : cell >= count ? count - 1 : cell;
}

static void number_cells(const double *x, const double *y, int32_t n, int32_t nx, int32_t ny,
                         numbered *list)
{
    double x_lo, x_hi, y_lo, y_hi;

    find_bounds(x, list, n, &x_lo, &x_hi);
    find_bounds(y, list, n, &y_lo, &y_hi);
    for (int32_t m = 0; m < n; m++) {
        int32_t e = list[m].element;
        list[m].part = cell_of(x[e], x_lo, x_hi, nx) * ny + cell_of(y[e], y_lo, y_hi, ny);
    }
}

/* `parts` parts of list[0 .. n), numbered from `first` on; counts differ by one at most. */
static void number_tree(const double *x, const double *y, int32_t n, int32_t first, int32_t parts,
                        numbered *list)
{
    double x_lo, x_hi, y_lo, y_hi;

    if (parts == 1) {
        for (int32_t m = 0; m < n; m++)
            list[m].part = first;
        return;
    }
    find_bounds(x, list, n, &x_lo, &x_hi);
    find_bounds(y, list, n, &y_lo, &y_hi);
    const double *along = x_hi - x_lo >= y_hi - y_lo ? x : y;
    for (int32_t m = 0; m < n; m++)
        list[m].key = along[list[m].element];
    qsort(list, (size_t)n, sizeof *list, by_key);
    int32_t left = parts / 2, count = (int32_t)((int64_t)n * left / parts);
    number_tree(x, y, count, first, left, list);
    number_tree(x, y, n - count, first + left, parts - left, list + count);
}

/* The part of each element, elements of a part together and in order. */
static void number_elements(const ec_pattern_positions *at, const ec_pattern_cut *cut,
                            numbered *list)
{
    const double *x = at->middle, *y = x + at->n;
    int32_t n = at->n;
    int64_t parts = (int64_t)cut->nx * cut->ny;

    for (int32_t m = 0; m < n; m++)
        list[m] = (numbered){.part = cut->given ? cut->given[m] : 0, .element = m};
    if (!cut->given && cut->partition == EC_PARTITION_KD)
        number_tree(x, y, n, 0, parts < n ? (int32_t)parts : n, list);
    else if (!cut->given)
        number_cells(x, y, n, cut->nx, cut->ny, list);
    qsort(list, (size_t)n, sizeof *list, by_part);
}

static void fit_plane(const ec_pattern_positions *at, const int32_t *order, int tilt,
                      ec_pattern_part *part)
{
    const double *x = at->middle, *y = x + at->n, *z = y + at->n;
    double xx = 0.0, xy = 0.0, yy = 0.0, xz = 0.0, yz = 0.0, mean = 0.0, x_c = 0.0, y_c = 0.0;

    for (int32_t k = 0; k < part->count; k++) {
        int32_t m = order[part->first + k];
        x_c += x[m] / part->count;
        y_c += y[m] / part->count;
        mean += z[m] / part->count;
    }
    for (int32_t k = 0; k < part->count; k++) {
        int32_t m = order[part->first + k];
        double dx = x[m] - x_c, dy = y[m] - y_c, dz = z[m] - mean;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
        xz += dx * dz;
        yz += dy * dz;
    }
    /* elements on a line have no slope across it: a trace of regularisation says so */
    double trace = 1e-12 * (xx + yy);
    xx += trace;
    yy += trace;
    double determinant = xx * yy - xy * xy;
    if (tilt == EC_TILT_BOTH && determinant > 0.0) {
        part->slope_x = (xz * yy - yz * xy) / determinant;
        part->slope_y = (yz * xx - xz * xy) / determinant;
    } else if (tilt == EC_TILT_X && xx > 0.0) {
        part->slope_x = xz / xx;
    } else if (tilt == EC_TILT_Y && yy > 0.0) {
        part->slope_y = yz / yy;
    }
}

/* The middle of a part's extent along an axis, reach included, and half of it. */
static double find_middle(const double *x, const double *reach, const int32_t *order,
                          const ec_pattern_part *part, double *half)
{
    double lo = (double)INFINITY, hi = -lo;

    for (int32_t k = 0; k < part->count; k++) {
        int32_t m = order[part->first + k];
        double r = reach ? reach[m] : 0.0;
        lo = fmin(lo, x[m] - r);
        hi = fmax(hi, x[m] + r);
    }
    *half = fmax(*half, 0.5 * (hi - lo) * (1.0 + 1e-9));
    return lo + 0.5 * (hi - lo);
}

/* Moves the plane into the middle of its elements; returns their largest distance from it. */
static double centre_plane(const ec_pattern_positions *at, const int32_t *order, int tilt,
                           ec_pattern_part *part, double span[2])
{
    size_t n = (size_t)at->n;
    const double *x = at->middle, *y = x + n, *z = y + n, *r = at->reach;
    double lo = (double)INFINITY, hi = -lo;

    if (tilt & EC_TILT_X)
        part->x = find_middle(x, r, order, part, &span[0]);
    if (tilt & EC_TILT_Y)
        part->y = find_middle(y, r ? r + n : NULL, order, part, &span[1]);
    for (int32_t k = 0; k < part->count; k++) {
        size_t m = (size_t)order[part->first + k];
        double dx = x[m] - part->x, dy = y[m] - part->y;
        double rest = z[m] - part->slope_x * dx - part->slope_y * dy, reach = 0.0;
        if (r)
            reach = r[2 * n + m] + fabs(part->slope_x) * r[m] + fabs(part->slope_y) * r[n + m];
        lo = fmin(lo, rest - reach);
        hi = fmax(hi, rest + reach);
    }
    part->z = 0.5 * (lo + hi);
    part->depth = 0.5 * (hi - lo) * (1.0 + 1e-9) + 1e-300;
    if (r) /* of arithmetic that rounds otherwise than the ranges' */
        part->depth += 1e-9 * (1.0 + fabs(lo) + fabs(hi));
    return part->depth;
}

int ec_pattern_parts_make(const ec_pattern_positions *at, const ec_pattern_cut *cut, int tilt,
                          ec_pattern_parts *parts)
{
    size_t n = (size_t)at->n;
    numbered *list = malloc(n * sizeof *list);

    memset(parts, 0, sizeof *parts);
    parts->order = malloc(n * sizeof *parts->order);
    parts->part = calloc(n, sizeof *parts->part);
    if (!list || !parts->order || !parts->part) {
        free(list);
        ec_pattern_parts_free(parts);
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for sub-arrays");
    }
    number_elements(at, cut, list);
    for (int32_t m = 0; m < at->n; m++) {
        parts->order[m] = list[m].element;
        if (m == 0 || list[m].part != list[m - 1].part)
            parts->part[parts->count++].first = m;
        parts->part[parts->count - 1].count++;
    }
    free(list);
    for (int32_t k = 0; k < parts->count; k++) {
        ec_pattern_part *part = &parts->part[k];
        if (tilt != EC_TILT_NONE)
            fit_plane(at, parts->order, tilt, part);
        parts->depth = fmax(parts->depth, centre_plane(at, parts->order, tilt, part, parts->span));
        parts->longest = part->count > parts->longest ? part->count : parts->longest;
        parts->slope[0] = fmax(parts->slope[0], fabs(part->slope_x));
        parts->slope[1] = fmax(parts->slope[1], fabs(part->slope_y));
    }
    return EC_OK;
}

void ec_pattern_parts_free(ec_pattern_parts *parts)
{
    free(parts->part);
    free(parts->order);
    parts->part = NULL;
    parts->order = NULL;
}
