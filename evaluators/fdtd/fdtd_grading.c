#include "fdtd_grading_internal.h"

/* The size function in an interval: from v0 up with the slope, flat at `top`, down to v1. */
typedef struct shape {
    double v0, v1, top, flat; /* flat: its length */
    double up, down;          /* integrals of both ramps */
} shape;

static shape shape_of(const ec_fdtd_grading *g, int32_t k)
{
    double length = g->at[k + 1] - g->at[k], slope = g->slope;
    shape s = {.v0 = g->end[k], .v1 = g->end[k + 1], .top = g->cap[k]};
    double peak = 0.5 * (s.v0 + s.v1 + slope * length);

    if (peak < s.top)
        s.top = peak;
    s.top = fmax(s.top, fmax(s.v0, s.v1)); /* a rounding below */
    s.flat = fmax(length - (s.top - s.v0 + (s.top - s.v1)) / slope, 0);
    s.up = log(s.top / s.v0) / slope;
    s.down = log(s.top / s.v1) / slope;
    return s;
}

/* From cap: the size at each mark and the steps of each interval. */
static void spread(ec_fdtd_grading *g)
{
    int32_t n = g->n;

    g->end[0] = g->cap[0];
    g->end[n] = g->cap[n - 1];
    for (int32_t k = 1; k < n; k++)
        g->end[k] = fmin(g->cap[k - 1], g->cap[k]);
    for (int32_t k = 0; k < n; k++)
        g->end[k + 1] = fmin(g->end[k + 1], g->end[k] + g->slope * (g->at[k + 1] - g->at[k]));
    for (int32_t k = n - 1; k >= 0; k--)
        g->end[k] = fmin(g->end[k], g->end[k + 1] + g->slope * (g->at[k + 1] - g->at[k]));
    for (int32_t k = 0; k < n; k++) {
        shape s = shape_of(g, k);
        g->steps[k] = s.up + s.flat / s.top + s.down;
    }
}

static double cap_of(const ec_fdtd_grading *g, int32_t k)
{
    return fmin(g->factor * g->wanted[k], fmax(g->at[k + 1] - g->at[k], g->floor));
}

/* The number of cells an interval has room for. */
static double most_of(const ec_fdtd_grading *g, int32_t k)
{
    return g->least > 0 ? floor((g->at[k + 1] - g->at[k]) / g->least * (1 + 1e-9)) : INFINITY;
}

int64_t ec_fdtd_grading_need(ec_fdtd_grading *g)
{
    int64_t sum = 0;

    for (int32_t k = 0; k < g->n; k++)
        g->cap[k] = cap_of(g, k);
    spread(g);
    for (int32_t k = 0; k < g->n; k++) {
        /* an interval of exactly so many cells is not to have one more for a rounding */
        double need = ceil(g->steps[k] * (1 - 1e-9));
        need = fmin(need, most_of(g, k));
        g->cells[k] = need < 1 ? 1 : need > EC_FDTD_MOST_CELLS ? EC_FDTD_MOST_CELLS : (int32_t)need;
        sum += g->cells[k];
    }
    return sum;
}

void ec_fdtd_grading_add(ec_fdtd_grading *g, int64_t more)
{
    while (more-- > 0) {
        int32_t where = 0;
        double most = -INFINITY;
        for (int32_t k = 0; k < g->n; k++) {
            double excess = (g->at[k + 1] - g->at[k]) / (g->cells[k] * g->wanted[k]);
            /* where all are full the least full one, all the same */
            if (g->cells[k] + 1 > most_of(g, k))
                excess = -1 / excess;
            if (excess > most) {
                most = excess;
                where = k;
            }
        }
        g->cells[where]++;
    }
}

/* The lowest value of *number, from low to high, for which total cells are enough. */
static void raise(ec_fdtd_grading *g, double *number, double low, double high, int64_t total)
{
    for (int i = 0; i < 50; i++) {
        *number = sqrt(low * high);
        if (ec_fdtd_grading_need(g) > total)
            low = *number;
        else
            high = *number;
    }
    *number = high;
}

void ec_fdtd_grading_share(ec_fdtd_grading *g, int64_t total)
{
    double shortest = INFINITY, widest = 0, floor = g->floor;

    for (int32_t k = 0; k < g->n; k++) {
        shortest = fmin(shortest, g->at[k + 1] - g->at[k]);
        widest = fmax(widest, g->wanted[k]);
    }
    if (ec_fdtd_grading_need(g) > total) {
        g->floor = INFINITY;
        if (ec_fdtd_grading_need(g) <= total)
            raise(g, &g->floor, fmax(floor, shortest), widest, total);
        else /* up to one cell in each interval */
            raise(g, &g->factor, 1, 1e12, total);
    }
    ec_fdtd_grading_add(g, total - ec_fdtd_grading_need(g));
}

/* Where an interval has more cells than the sizes wanted need, all of them are smaller, and its
 * neighbours grade from there: sizes go down until the integral is the count, or nearly so. */
static void settle(ec_fdtd_grading *g)
{
    for (int32_t k = 0; k < g->n; k++)
        g->cap[k] = cap_of(g, k);
    for (int i = 0; i < 6; i++) {
        spread(g);
        for (int32_t k = 0; k < g->n; k++) {
            double cap = g->cap[k] * fmin(1, g->steps[k] / g->cells[k]);
            g->cap[k] = fmax(cap, fmin(g->cap[k], g->floor));
        }
    }
    spread(g);
}

/* Cells of interval k, from x on, are the same where the grading made one of them too small. */
static void even_out(const ec_fdtd_grading *g, int32_t k, double *x)
{
    const double cell = (g->at[k + 1] - g->at[k]) / g->cells[k];
    double least = cell;

    for (int32_t i = 1; i <= g->cells[k]; i++)
        least = fmin(least, (i < g->cells[k] ? x[i] : g->at[k + 1]) - x[i - 1]);
    for (int32_t i = 1; i < g->cells[k] && least < g->least; i++)
        x[i] = g->at[k] + i * cell;
}

void ec_fdtd_grading_place(ec_fdtd_grading *g, double *x)
{
    settle(g);
    for (int32_t k = 0; k < g->n; k++) {
        shape s = shape_of(g, k);
        double level = s.flat / s.top, ramp = (s.top - s.v0) / g->slope;
        double *from = x;
        *x++ = g->at[k];
        for (int32_t i = 1; i < g->cells[k]; i++) {
            double u = g->steps[k] * i / g->cells[k];
            if (u < s.up)
                *x++ = g->at[k] + s.v0 * expm1(g->slope * u) / g->slope;
            else if (u < s.up + level)
                *x++ = g->at[k] + ramp + (u - s.up) * s.top;
            else
                *x++ = g->at[k + 1] - s.v1 * expm1(g->slope * (g->steps[k] - u)) / g->slope;
        }
        if (g->least > 0)
            even_out(g, k, from);
    }
    *x = g->at[g->n];
}
