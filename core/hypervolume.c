/* hypervolume.c: the volume that a set of points dominates (see pareto.h). Up to three costs by a
 * sweep. With more, points are taken from the worst last cost on: what one adds to those behind it
 * is its box less what they cut out of it, and cut they all have its last cost, so that this is a
 * problem with one cost less. */
#include "pareto.h"

#include <stdlib.h>
#include <string.h>

typedef struct effort {
    size_t steps; /* taken so far */
    bool failed;
} effort;

/* Rows of n_costs numbers, sorted by their last one. */
static int compare_rows(const double *a, const double *b, int32_t n_costs)
{
    for (int32_t k = n_costs - 1; k >= 0; k--)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

static void merge_rows(const double *from, double *to, size_t first, size_t middle, size_t end,
                       int32_t n_costs)
{
    size_t width = (size_t)n_costs, a = first, b = middle;

    for (size_t i = first; i < end; i++) {
        bool left = a < middle &&
                    (b == end || compare_rows(from + a * width, from + b * width, n_costs) <= 0);
        size_t taken = left ? a++ : b++;
        memcpy(to + i * width, from + taken * width, width * sizeof *to);
    }
}

/* Sorts rows by merging; work has as much room. */
static void sort_rows(double *rows, double *work, size_t n, int32_t n_costs)
{
    size_t bytes = n * (size_t)n_costs * sizeof *rows;

    for (size_t step = 1; step < n; step *= 2) {
        for (size_t first = 0; first < n; first += 2 * step) {
            size_t middle = first + step < n ? first + step : n;
            size_t end = first + 2 * step < n ? first + 2 * step : n;
            merge_rows(rows, work, first, middle, end, n_costs);
        }
        memcpy(rows, work, bytes);
    }
}

/* ---- the staircase of two costs ---- */

/* Corners by rising x and falling y, none dominated; the area below the reference. */
typedef struct staircase {
    double *x, *y, area;
    size_t n;
} staircase;

static void staircase_add(staircase *s, double x, double y, const double *reference)
{
    size_t low = 0, high = s->n;

    while (low < high) { /* the first corner with a larger x */
        size_t middle = (low + high) / 2;
        if (s->x[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && s->y[low - 1] <= y)
        return;
    size_t first = low > 0 && s->x[low - 1] == x ? low - 1 : low, end = first;
    double left = x, height = first > 0 ? s->y[first - 1] : reference[1];
    /* to the right of x the old steps, as far as they lie above y */
    for (; end < s->n && s->y[end] >= y; end++) {
        s->area += (s->x[end] - left) * (height - y);
        left = s->x[end];
        height = s->y[end];
    }
    s->area += ((end < s->n ? s->x[end] : reference[0]) - left) * (height - y);
    memmove(s->x + first + 1, s->x + end, (s->n - end) * sizeof *s->x);
    memmove(s->y + first + 1, s->y + end, (s->n - end) * sizeof *s->y);
    s->x[first] = x;
    s->y[first] = y;
    s->n = s->n - (end - first) + 1;
}

/* Rows sorted by the third cost; work has room for two numbers more than 2 n. */
static double volume_3(const double *rows, size_t n, const double *reference, double *work)
{
    staircase s = {work, work + n + 1, 0, 0};
    double volume = 0;

    for (size_t i = 0; i < n; i++) {
        double below = i + 1 < n ? rows[3 * i + 5] : reference[2];
        staircase_add(&s, rows[3 * i], rows[3 * i + 1], reference);
        volume += s.area * (below - rows[3 * i + 2]);
    }
    return volume;
}

/* ---- any number of costs ---- */

static bool row_dominates(const double *a, const double *b, int32_t n_costs)
{
    for (int32_t k = 0; k < n_costs; k++)
        if (a[k] > b[k])
            return false;
    return true;
}

/* Keeps the rows that no other dominates; returns how many. */
static size_t keep_front(double *rows, size_t n, int32_t n_costs)
{
    size_t width = (size_t)n_costs, kept = 0;

    for (size_t i = 0; i < n; i++) {
        bool good = true;
        for (size_t j = 0; j < n && good; j++)
            /* of equal rows the first stays */
            if ((j < kept || j > i) && row_dominates(rows + j * width, rows + i * width, n_costs) &&
                (j < kept || !row_dominates(rows + i * width, rows + j * width, n_costs)))
                good = false;
        if (good)
            memmove(rows + kept++ * width, rows + i * width, width * sizeof *rows);
    }
    return kept;
}

/* rows (n of n_costs, all below the reference) are changed. */
static double volume_of(effort *used, double *rows, size_t n, int32_t n_costs,
                        const double *reference)
{
    size_t width = (size_t)n_costs, less = width - 1;
    double volume = 0;

    used->steps += n;
    used->failed = used->failed || used->steps > EC_HYPERVOLUME_STEPS;
    double *work = used->failed ? NULL : (double *)malloc(sizeof *work * (n + 2) * (width + 2));
    if (!work) {
        used->failed = true;
        return NAN;
    }
    sort_rows(rows, work, n, n_costs);
    if (n_costs == 3)
        volume = volume_3(rows, n, reference, work);
    for (size_t i = n; n_costs > 3 && i-- > 0 && !used->failed;) {
        const double *row = rows + i * width;
        double box = 1;
        for (size_t k = 0; k < less; k++)
            box *= reference[k] - row[k];
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < less; k++) {
                double other = rows[j * width + k];
                work[j * less + k] = other > row[k] ? other : row[k];
            }
        size_t left = i;
        if (less > 3) {
            used->steps += i * i / 4;
            left = used->steps > EC_HYPERVOLUME_STEPS ? i : keep_front(work, i, n_costs - 1);
        }
        box -= left > 0 ? volume_of(used, work, left, n_costs - 1, reference) : 0;
        volume += box * (reference[less] - row[less]);
    }
    free(work);
    return volume;
}

double ec_hypervolume(const double *points, size_t n, int32_t n_costs, const double *reference)
{
    int32_t wide = n_costs < 3 ? 3 : n_costs; /* one and two costs get others of 0, below 1 */
    double limit[EC_OBJECTIVES_MAX + 3];
    double *rows = (double *)malloc(sizeof *rows * (n + 1) * (size_t)wide);
    size_t kept = 0;
    bool known = rows != NULL;

    for (int32_t k = 0; k < wide; k++) {
        limit[k] = k < n_costs ? reference[k] : 1;
        known = known && limit[k] == limit[k];
    }
    for (size_t i = 0; i < n && known; i++) {
        double *row = rows + kept * (size_t)wide;
        bool below = true;
        for (int32_t k = 0; k < wide; k++) {
            row[k] = k < n_costs ? points[i * (size_t)n_costs + (size_t)k] : 0;
            known = known && row[k] == row[k];
            below = below && row[k] < limit[k];
        }
        kept += below ? 1 : 0;
    }
    effort used = {0, false};
    double volume = known && kept > 0 ? volume_of(&used, rows, kept, wide, limit) : 0;
    free(rows);
    return known && !used.failed ? volume : NAN;
}
