/* polish_steps.c: a round's problem by steps of linear programs inside a trust region. */
#include "polish_lp.h"
#include "polish_round.h"
#include "wall_clock.h"

#include <stdlib.h>
#include <string.h>

static const double feasible = 1e-7;               /* excess of a scaled row that counts as met */
static const double least_radius = 1e-7;           /* of the range of a gene */
static const double least_gain = 1e-7;             /* predicted, in the round's unit */
static const double accepted = 0.1, enough = 0.25; /* gain over what was predicted */

enum { CORRECTIONS = 2 };

typedef struct steps {
    ec_polish_round *round;
    double radius;
    bool restoring; /* lowers the largest excess over the job's limits */
    int32_t n_t;    /* t's of the program: those of the round and, restoring, the excess */
    int32_t n_elements;
    double *y, *trial;
    double *row; /* [n_elements][n_free + n_t] of the program */
    double *limit, *cost, *low, *high, *gap, *move;
    double merit;           /* at y */
    double *value, *slopes; /* [n_elements] rows at y; [n_elements][n] their slopes */
    double *at_trial;       /* [n_elements] rows there */
    double *shifted;        /* [n_elements] rows at y for a correction */
    double *cost_slopes;    /* [n] */
    double *memory;
} steps;

static bool steps_create(steps *s, ec_polish_round *round)
{
    const ec_polish_problem *p = round->problem;
    size_t n = (size_t)round->n, rows = (size_t)p->n_elements, wide = n + 1;

    memset(s, 0, sizeof *s);
    s->round = round;
    s->n_elements = p->n_elements;
    double *at = s->memory = (double *)malloc(sizeof(double) * (rows * (2 * wide + 4) + 9 * wide));
    if (!at)
        return false;
    s->row = at;
    s->slopes = s->row + rows * wide;
    s->limit = s->slopes + rows * wide;
    s->value = s->limit + rows;
    s->at_trial = s->value + rows;
    s->shifted = s->at_trial + rows;
    s->y = s->shifted + rows;
    s->trial = s->y + wide;
    s->cost = s->trial + wide;
    s->low = s->cost + wide;
    s->high = s->low + wide;
    s->gap = s->high + wide;
    s->move = s->gap + wide;
    s->cost_slopes = s->move + wide;
    return true;
}

/* ---- values ---- */

/* Evaluates at y with every t at the least that its rows allow, so that the cost is a function of
 * the genes alone. A t may bound rows of another: once more for each. */
static bool lift(ec_polish_round *round, double *y)
{
    const ec_polish_problem *p = round->problem;

    for (int32_t pass = 0; pass <= p->n_cuts + 1; pass++) {
        bool moved = false;
        ec_polish_round_evaluate(round, y, false);
        if (!round->good)
            return false;
        for (int32_t c = 0; c < p->n_cuts; c++) {
            double most = -HUGE_VAL, *t = &y[p->n_free + c];
            for (int32_t r = 1; r < p->n_rows; r++)
                for (int32_t e = 0; p->rows[r].own == c && e < p->rows[r].elements; e++)
                    most =
                        fmax(most, ec_polish_round_row(round, &p->rows[r], p->rows[r].first + e));
            if (fabs(most) <= 1e-13 * (1.0 + fabs(*t)))
                continue;
            *t += p->cuts[c].direction * most;
            moved = true;
        }
        if (!moved)
            return true;
    }
    return true;
}

/* The largest excess over the job's limits at the point evaluated last. */
static double excess(const ec_polish_round *round)
{
    const ec_polish_problem *p = round->problem;
    double most = -HUGE_VAL;

    for (int32_t r = 1; r < p->n_rows; r++)
        for (int32_t e = 0; p->rows[r].own < 0 && e < p->rows[r].elements; e++)
            most = fmax(most, ec_polish_round_row(round, &p->rows[r], p->rows[r].first + e));
    return most;
}

/* The rows at the point evaluated last; an excess that counts as met is none. */
static void keep_rows(const steps *s, double *value, double *slopes)
{
    const ec_polish_problem *p = s->round->problem;

    for (int32_t r = 1; r < p->n_rows; r++)
        for (int32_t e = p->rows[r].first; e < p->rows[r].first + p->rows[r].elements; e++) {
            value[e] = ec_polish_round_row(s->round, &p->rows[r], e);
            if (p->rows[r].own < 0 && value[e] > 0.0 && value[e] <= feasible)
                value[e] = 0.0;
            if (slopes)
                ec_polish_round_slopes(s->round, &p->rows[r], e,
                                       slopes + (size_t)e * (size_t)s->round->n);
        }
}

/* What a step lowers: the cost over the unit, or the excess. */
static double merit(const steps *s)
{
    return s->restoring ? excess(s->round) : s->round->problem->value[0] / s->round->unit;
}

/* ---- the linear program ---- */

/* Over the region a row's linearisation moves by at most this, t's aside. */
static double row_reach(const steps *s, int32_t e)
{
    const double *slopes = s->slopes + (size_t)e * (size_t)s->round->n;
    double reach = 0.0;

    for (int32_t i = 0; i < s->round->problem->n_free; i++)
        reach += fabs(slopes[i]) * fmax(-s->low[i], s->high[i]) * s->radius;
    return reach;
}

/* Whether slopes of the row over t's, but for its own, are 0. */
static bool row_is_plain(const steps *s, int32_t e, int32_t own)
{
    const ec_polish_problem *p = s->round->problem;
    const double *slopes = s->slopes + (size_t)e * (size_t)s->round->n + p->n_free;

    for (int32_t c = 0; c < p->n_cuts; c++)
        if (c != own && slopes[c] != 0.0)
            return false;
    return true;
}

static void add_row(const steps *s, ec_polish_lp *lp, int32_t e, double value, bool relaxed)
{
    int32_t n = s->round->n, wide = s->round->problem->n_free + s->n_t;
    double *to = s->row + (size_t)lp->n_rows * (size_t)wide;
    const double *slopes = s->slopes + (size_t)e * (size_t)n;

    for (int32_t i = 0; i < n; i++)
        to[i] = slopes[i];
    if (s->restoring)
        to[n] = relaxed ? -1.0 : 0.0;
    s->limit[lp->n_rows++] = -value / s->radius;
}

/* Rows that the region can bring into play. value: at y, shifted by a correction. */
static void list_rows(const steps *s, const double *value, ec_polish_lp *lp)
{
    const ec_polish_problem *p = s->round->problem;

    for (int32_t r = 1; r < p->n_rows; r++) {
        const ec_polish_row *row = &p->rows[r];
        double floor = -HUGE_VAL;
        for (int32_t e = row->first; e < row->first + row->elements; e++)
            floor = fmax(floor, value[e] - row_reach(s, e));
        if (row->own < 0)
            floor = 0.0;
        for (int32_t e = row->first; e < row->first + row->elements; e++)
            if (value[e] + row_reach(s, e) >= floor || !row_is_plain(s, e, row->own))
                add_row(s, lp, e, value[e], row->own < 0 && s->value[e] > feasible);
    }
}

/* Solves for the step from y; *predicted: what it should lower the merit by. */
static bool plan_step(steps *s, const double *value, double *predicted)
{
    const ec_polish_round *round = s->round;
    const ec_polish_problem *p = round->problem;
    int32_t n = p->n_free;

    s->n_t = p->n_cuts + s->restoring;
    for (int32_t i = 0; i < n; i++) {
        s->low[i] = fmax((round->low[i] - s->y[i]) / s->radius, -1.0);
        s->high[i] = fmin((round->high[i] - s->y[i]) / s->radius, 1.0);
    }
    for (int32_t k = 0; k < round->n_order; k++)
        s->gap[k] = fmax(s->y[round->order[k] + 1] - s->y[round->order[k]], 0.0) / s->radius;
    ec_polish_lp lp = {.n = n,
                       .n_t = s->n_t,
                       .n_order = round->n_order,
                       .cost = s->cost,
                       .row = s->row,
                       .limit = s->limit,
                       .low = s->low,
                       .high = s->high,
                       .order = round->order,
                       .gap = s->gap};
    if (s->restoring) {
        memset(s->cost, 0, sizeof *s->cost * (size_t)(n + s->n_t));
        s->cost[n + s->n_t - 1] = 1.0;
    } else {
        memcpy(s->cost, s->cost_slopes, sizeof *s->cost * (size_t)round->n);
    }
    list_rows(s, value, &lp);
    if (ec_polish_lp_solve(&lp, s->move) < 0)
        return false;
    double gain = 0.0;
    for (int32_t i = 0; i < n + s->n_t; i++)
        gain -= s->cost[i] * s->move[i] * s->radius;
    if (s->restoring)
        gain += s->merit; /* the program's excess is counted from 0 */
    *predicted = gain;
    for (int32_t i = 0; i < round->n; i++)
        s->trial[i] = s->y[i] + s->radius * s->move[i];
    for (int32_t i = 0; i < n; i++)
        s->trial[i] = fmin(fmax(s->trial[i], round->low[i]), round->high[i]);
    return true;
}

/* ---- steps ---- */

static bool is_over(const ec_polish_round *round, int32_t most)
{
    return round->ended || round->evaluations >= most || ec_wall_seconds() >= round->deadline;
}

/* What the trial gained over y, -HUGE_VAL where it is no better place. */
static double gain_of_trial(steps *s)
{
    if (!lift(s->round, s->trial) || (!s->restoring && excess(s->round) > feasible))
        return -HUGE_VAL;
    return s->merit - merit(s);
}

/* The rows at y as they must look there for their linearisations to be right at the trial. */
static void shift_rows(const steps *s)
{
    const ec_polish_problem *p = s->round->problem;
    int32_t n = s->round->n;

    keep_rows(s, s->at_trial, NULL);
    for (int32_t e = p->rows[0].elements; e < p->n_elements; e++) {
        const double *slopes = s->slopes + (size_t)e * (size_t)n;
        double linear = 0.0;
        for (int32_t i = 0; i < n; i++)
            linear += slopes[i] * (s->trial[i] - s->y[i]);
        s->shifted[e] = s->at_trial[e] - linear;
    }
}

/* A step and its corrections for curvature; *ratio: what it gained over what was predicted. False
 * when there is nothing to gain. */
static bool try_step(steps *s, double *ratio)
{
    double predicted, again;

    *ratio = -HUGE_VAL;
    if (!plan_step(s, s->value, &predicted) || !(predicted > least_gain))
        return false;
    *ratio = gain_of_trial(s) / predicted;
    for (int k = 0; k < CORRECTIONS && *ratio < enough && s->round->good; k++) {
        shift_rows(s);
        if (!plan_step(s, s->shifted, &again))
            break;
        *ratio = gain_of_trial(s) / predicted;
    }
    return true;
}

/* Values and slopes at y, which was evaluated last. */
static bool look_around(steps *s)
{
    ec_polish_round *round = s->round;
    ec_polish_row cost = round->problem->rows[0];

    ec_polish_round_evaluate(round, s->y, true);
    if (!round->good)
        return false;
    cost.scale = round->unit;
    ec_polish_round_slopes(round, &cost, 0, s->cost_slopes);
    keep_rows(s, s->value, s->slopes);
    s->restoring = excess(round) > feasible;
    s->merit = merit(s);
    return true;
}

/* What the judge says of y: infeasible points by their violation, behind all others. */
typedef struct verdict {
    double cost, violation;
} verdict;

static verdict judge(const steps *s, const double *y)
{
    ec_polish_round *round = s->round;
    verdict v;

    ec_polish_round_decode(round, y);
    if (!round->judged(round->user, round->genes, &v.cost, &v.violation))
        v = (verdict){HUGE_VAL, HUGE_VAL};
    return v;
}

static bool is_better(const verdict *a, const verdict *b)
{
    return a->violation != b->violation ? a->violation < b->violation : a->cost < b->cost;
}

/* The trial is better by the rows. It is taken when the judge finds so too; if not, a shorter step
 * is tried from where the pieces were made, and elsewhere the round is over. */
static bool take_trial(steps *s, verdict *last, bool *moved)
{
    verdict now = judge(s, s->trial);

    if (!is_better(&now, last)) {
        s->radius *= 0.25;
        return !*moved;
    }
    *last = now;
    *moved = true;
    memcpy(s->y, s->trial, sizeof *s->y * (size_t)s->round->n);
    return look_around(s);
}

void ec_polish_round_steps(ec_polish_round *round, int32_t most)
{
    steps s;
    double ratio;
    bool moved = false;

    round->has_best = false;
    if (steps_create(&s, round)) {
        memcpy(s.y, round->y, sizeof(double) * (size_t)round->n);
        s.radius = round->radius;
        verdict last = judge(&s, s.y);
        bool on = lift(round, s.y) && look_around(&s);
        while (on && s.radius >= least_radius && !is_over(round, most) && try_step(&s, &ratio)) {
            if (ratio > 0.75)
                s.radius = fmin(2.0 * s.radius, 1.0);
            else if (ratio < enough)
                s.radius *= ratio > accepted ? 0.5 : 0.25;
            if (ratio > accepted)
                on = take_trial(&s, &last, &moved);
        }
        round->radius = s.radius;
        round->has_best = moved;
        if (moved)
            memcpy(round->best, s.y, sizeof(double) * (size_t)round->n);
    }
    free(s.memory);
}
