/* array_parts.c: see array_parts.h. */
#include "array_parts.h"

#include "../../core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct numbered {
    int32_t part, element;
} numbered;

static int by_part(const void *a, const void *b)
{
    const numbered *x = (const numbered *)a, *y = (const numbered *)b;

    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static void find_bounds(const double *a, int32_t n, double *lo, double *hi)
{
    *lo = *hi = a[0];
    for (int32_t m = 1; m < n; m++) {
        *lo = fmin(*lo, a[m]);
        *hi = fmax(*hi, a[m]);
    }
}

/* Cell 0 .. count - 1 of a value in [lo, hi]. */
static int32_t cell_of(double value, double lo, double hi, int32_t count)
{
    double place = hi > lo ? (value - lo) / (hi - lo) * count : 0.0;
    int32_t cell = (int32_t)place;

    return cell < 0 ? 0 : cell >= count ? count - 1 : cell;
}

static void fit_plane(const double *position, int32_t n, const int32_t *order,
                      ec_pattern_part *part)
{
    const double *x = position, *y = position + n, *z = position + 2 * n;
    double xx = 0.0, xy = 0.0, yy = 0.0, xz = 0.0, yz = 0.0, mean = 0.0;

    for (int32_t k = 0; k < part->count; k++) {
        int32_t m = order[part->first + k];
        part->x += x[m] / part->count;
        part->y += y[m] / part->count;
        mean += z[m] / part->count;
    }
    for (int32_t k = 0; k < part->count; k++) {
        int32_t m = order[part->first + k];
        double dx = x[m] - part->x, dy = y[m] - part->y, dz = z[m] - mean;
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
    if (determinant > 0.0) {
        part->slope_x = (xz * yy - yz * xy) / determinant;
        part->slope_y = (yz * xx - xz * xy) / determinant;
    }
}

/* Moves the plane into the middle of its elements; returns their largest distance from it. */
static double centre_plane(const double *position, int32_t n, const int32_t *order,
                           ec_pattern_part *part, double span[2])
{
    const double *x = position, *y = position + n, *z = position + 2 * n;
    double lo = (double)INFINITY, hi = -lo;

    for (int32_t k = 0; k < part->count; k++) {
        int32_t m = order[part->first + k];
        double dx = x[m] - part->x, dy = y[m] - part->y;
        double rest = z[m] - part->slope_x * dx - part->slope_y * dy;
        lo = fmin(lo, rest);
        hi = fmax(hi, rest);
        span[0] = fmax(span[0], fabs(dx));
        span[1] = fmax(span[1], fabs(dy));
    }
    part->z = 0.5 * (lo + hi);
    part->depth = 0.5 * (hi - lo) * (1.0 + 1e-9) + 1e-300;
    return part->depth;
}

int ec_pattern_parts_make(const double *position, int32_t n, const int32_t *given, int32_t nx,
                          int32_t ny, bool planes, ec_pattern_parts *parts)
{
    const double *x = position, *y = position + n;
    numbered *list = malloc((size_t)n * sizeof *list);
    double x_lo, x_hi, y_lo, y_hi;

    memset(parts, 0, sizeof *parts);
    parts->order = malloc((size_t)n * sizeof *parts->order);
    parts->part = calloc((size_t)n, sizeof *parts->part);
    if (!list || !parts->order || !parts->part) {
        free(list);
        ec_pattern_parts_free(parts);
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for sub-arrays");
    }
    find_bounds(x, n, &x_lo, &x_hi);
    find_bounds(y, n, &y_lo, &y_hi);
    for (int32_t m = 0; m < n; m++) {
        list[m].element = m;
        list[m].part =
            given ? given[m] : cell_of(x[m], x_lo, x_hi, nx) * ny + cell_of(y[m], y_lo, y_hi, ny);
    }
    qsort(list, (size_t)n, sizeof *list, by_part);
    for (int32_t m = 0; m < n; m++) {
        parts->order[m] = list[m].element;
        if (m == 0 || list[m].part != list[m - 1].part)
            parts->part[parts->count++].first = m;
        parts->part[parts->count - 1].count++;
    }
    free(list);
    for (int32_t k = 0; k < parts->count; k++) {
        ec_pattern_part *part = &parts->part[k];
        if (planes)
            fit_plane(position, n, parts->order, part);
        parts->depth =
            fmax(parts->depth, centre_plane(position, n, parts->order, part, parts->span));
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
