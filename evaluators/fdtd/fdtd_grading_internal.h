/* fdtd_grading_internal.h: lines of one axis between fixed marks, from the cell size wanted in each
 * interval.
 *
 * The size function s(x) is the smallest over all intervals of (size wanted there + slope *
 * distance), and lines lie at equal steps of the integral of dx / s within each interval. Where s =
 * s0 + slope * x the integral is log(s / s0) / slope, so neighbours have the ratio e^slope: slope
 * is the logarithm of the growth. All of it is continuous in the marks as long as the counts stay:
 * lines of a sweep move smoothly. */
#ifndef EC_FDTD_GRADING_INTERNAL_H
#define EC_FDTD_GRADING_INTERNAL_H

#include "../../core/base.h"

EC_C_BEGIN

enum { EC_FDTD_MOST_CELLS = 1 << 20 }; /* that an interval is given */

typedef struct ec_fdtd_grading {
    int32_t n;      /* intervals, at least 1 */
    double slope;   /* > 0 */
    double *at;     /* [n + 1] marks, ascending */
    double *wanted; /* [n] largest cell in each, > 0 */
    int32_t *cells; /* [n] */
    /* An interval shorter than the cell wanted in it is one short cell, and its neighbours grade
     * from there, but not from less than this. INFINITY: they ignore it. */
    double floor;
    double least;              /* no cell is smaller where its interval is not; 0: no limit */
    double factor;             /* on all sizes wanted */
    double *cap, *end, *steps; /* work: [n], [n + 1], [n] */
} ec_fdtd_grading;

/* Sets cells to what each interval needs, and returns their sum. */
int64_t ec_fdtd_grading_need(ec_fdtd_grading *g);
/* Sets cells to at least 1 each with the sum total >= n. If that is too few, short intervals are
 * ignored (a higher floor), then all sizes grow (a higher factor). */
void ec_fdtd_grading_share(ec_fdtd_grading *g, int64_t total);
/* Adds cells one by one where they are largest for what is wanted. */
void ec_fdtd_grading_add(ec_fdtd_grading *g, int64_t more);
/* Lines for the given cells: x[0] to x[sum of cells], among them the marks, bit by bit. */
void ec_fdtd_grading_place(ec_fdtd_grading *g, double *x);

EC_C_END
#endif
