/* polish_round.c: the unknowns of a round, its functions and their slopes. */
#include "polish_round.h"

#include "job_internal.h"

#include <stdlib.h>
#include <string.h>

static const double feasible = 1e-7; /* excess of a scaled row that the record accepts */

/* Neighbouring free genes of one spaced variable. */
static int32_t list_order(const ec_job *job, const ec_polish_problem *p, int32_t *order)
{
    int32_t n = 0;

    for (int32_t i = 0; i + 1 < p->n_free; i++) {
        bool same = p->grad_first[i] == p->grad_first[i + 1];
        for (int32_t v = 0; same && v < job->n_variables; v++) {
            const ec_variable *variable = &job->variables[v]->variable;
            int32_t gene =
                p->free_gene[i] - (variable->group ? p->n_genes : 0) - variable->first_gene;
            if (variable->kind == EC_VARIABLE_SPACED && gene >= 0 && gene < variable->n_genes)
                order[n++] = i;
        }
    }
    return n;
}

double ec_polish_round_row(const ec_polish_round *s, const ec_polish_row *row, int32_t e)
{
    const ec_polish_problem *p = s->problem;

    if (row->own >= 0)
        return row->sign * (p->value[e] - s->t[row->own]) / s->unit;
    return row->sign * (p->value[e] - row->limit) / row->scale;
}

void ec_polish_round_slopes(const ec_polish_round *s, const ec_polish_row *row, int32_t e,
                            double *slopes)
{
    const ec_polish_problem *p = s->problem;
    const double *slope = p->jacobian + (size_t)e * (size_t)(p->n_free + p->n_cuts);
    double factor = row->sign / (row->own >= 0 ? s->unit : row->scale);

    for (int32_t i = 0; i < p->n_free; i++)
        slopes[i] = factor * slope[i] * p->range[i];
    for (int32_t i = 0; i < p->n_cuts; i++)
        slopes[p->n_free + i] = factor * (slope[p->n_free + i] - (i == row->own)) * s->unit;
}

static bool rows_are_met(const ec_polish_round *s)
{
    const ec_polish_problem *p = s->problem;

    for (int32_t r = 1; r < p->n_rows; r++)
        for (int32_t e = p->rows[r].first; e < p->rows[r].first + p->rows[r].elements; e++) {
            double value = ec_polish_round_row(s, &p->rows[r], e);
            if (p->rows[r].equality ? fabs(value) > feasible : value > feasible)
                return false;
        }
    return true;
}

static bool are_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* Rounding must not swap two spaced genes that touch. */
void ec_polish_round_decode(ec_polish_round *s, const double *y)
{
    const ec_polish_problem *p = s->problem;

    for (int32_t i = 0; i < p->n_free; i++)
        s->genes[p->free_gene[i]] = p->low[i] + p->range[i] * fmin(fmax(y[i], 0), 1);
    for (int32_t k = 0; k < s->n_order; k++) {
        double *pair = &s->genes[p->free_gene[s->order[k]]];
        if (pair[1] < pair[0])
            pair[1] = pair[0];
    }
    for (int32_t i = 0; i < p->n_cuts; i++)
        s->t[i] = y[p->n_free + i] * s->unit;
}

void ec_polish_round_evaluate(ec_polish_round *s, const double *y, bool slopes)
{
    ec_polish_problem *p = s->problem;
    size_t n = (size_t)p->n_elements;

    if (!s->evaluated || memcmp(s->at, y, sizeof *y * (size_t)s->n) != 0) {
        memcpy(s->at, y, sizeof *y * (size_t)s->n);
        s->evaluated = true;
        s->has_slopes = false;
        s->evaluations++;
        s->ended = s->heard(s->user) || s->ended;
        ec_polish_round_decode(s, y);
        s->good = ec_polish_problem_values(p, s->genes, s->t) == EC_OK && are_finite(p->value, n);
        if (s->good && rows_are_met(s) && (!s->has_best || p->value[0] < s->best_cost)) {
            s->has_best = true;
            s->best_cost = p->value[0];
            memcpy(s->best, y, sizeof *y * (size_t)s->n);
        }
    }
    if (slopes && !s->has_slopes) {
        s->has_slopes = true;
        s->good = s->good && ec_polish_problem_jacobian(p, s->genes, s->t) == EC_OK &&
                  are_finite(p->jacobian, n * (size_t)s->n);
    }
}

/* Largest slope of a row over the range of a gene. */
static double row_slope(const ec_polish_problem *p, const ec_polish_row *row)
{
    size_t columns = (size_t)(p->n_free + p->n_cuts);
    double slope = 0;

    for (int32_t e = row->first; e < row->first + row->elements; e++)
        for (int32_t i = 0; i < p->n_free; i++)
            slope = fmax(slope, fabs(p->jacobian[(size_t)e * columns + (size_t)i] * p->range[i]));
    return isfinite(slope) ? slope : 0;
}

/* The unit of the cost and of the rows that bound it, and of each limit: their slopes. */
static double set_units(ec_polish_problem *p)
{
    double unit = row_slope(p, &p->rows[0]);

    for (int32_t r = 1; r < p->n_rows; r++) {
        double slope = row_slope(p, &p->rows[r]);
        if (p->rows[r].own >= 0)
            unit = fmax(unit, slope);
        else if (slope > 0)
            p->rows[r].scale = slope;
    }
    return unit > 0 ? unit : 1;
}

int ec_polish_round_create(ec_polish_round *s, const ec_job *job, ec_polish_problem *p,
                           const double *genes, double region)
{
    memset(s, 0, sizeof *s);
    s->problem = p;
    s->n = p->n_free + p->n_cuts;
    s->unit = set_units(p);
    size_t n = (size_t)s->n;
    s->genes = (double *)malloc(sizeof(double) * (size_t)(p->n_genes + p->n_group_genes));
    s->t = (double *)malloc(sizeof(double) * ((size_t)p->n_cuts + 1));
    s->order = (int32_t *)malloc(sizeof(int32_t) * (size_t)p->n_free);
    s->y = (double *)malloc(sizeof(double) * 5 * n);
    if (!s->genes || !s->t || !s->order || !s->y)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    s->low = s->y + n;
    s->high = s->low + n;
    s->at = s->high + n;
    s->best = s->at + n;
    memcpy(s->genes, genes, sizeof(double) * (size_t)(p->n_genes + p->n_group_genes));
    s->n_order = list_order(job, p, s->order);
    for (int32_t r = 1; r < p->n_rows; r++)
        *(p->rows[r].equality ? &s->n_equalities : &s->n_inequalities) += p->rows[r].elements;
    s->n_inequalities += s->n_order;
    for (int32_t i = 0; i < p->n_free; i++) {
        double y = (genes[p->free_gene[i]] - p->low[i]) / p->range[i];
        s->y[i] = fmin(fmax(y, 0), 1);
        s->low[i] = fmax(s->y[i] - region, 0);
        s->high[i] = fmin(s->y[i] + region, 1);
    }
    for (int32_t i = 0; i < p->n_cuts; i++) {
        s->y[p->n_free + i] = p->cuts[i].start / s->unit;
        s->low[p->n_free + i] = -HUGE_VAL;
        s->high[p->n_free + i] = HUGE_VAL;
    }
    return EC_OK;
}

void ec_polish_round_release(ec_polish_round *s)
{
    free(s->genes);
    free(s->t);
    free(s->order);
    free(s->y);
}
