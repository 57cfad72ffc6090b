/* solve_outputs.c: what a generation computes for a method that wants more than cost and
 * violation: each limit of the constraints by itself, and gradients over the genes. */
#include "solve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every element of a constraint is a limit of its own up to so many limits of a job; above it a
 * constraint is one limit a side, that of its worst element. */
enum { LIMITS_MAX = 64 };

/* ---- the method's needs ---- */

uint32_t ec_solve_needs(const ec_solve_run *run)
{
    const ec_optimizer_def *def = run->def;

    return def->needs ? def->needs(def, run->info->options) : def->flags;
}

/* ---- limits ---- */

static int add_limit(ec_solve_run *run, ec_expr expr, bool equal)
{
    if (expr < 0)
        return expr;
    size_t n = run->n_limits + 1;
    ec_expr *limits = (ec_expr *)realloc(run->limits, n * sizeof *limits);
    if (limits)
        run->limits = limits;
    bool *flags = (bool *)realloc(run->limit_equal, n * sizeof *flags);
    if (flags)
        run->limit_equal = flags;
    if (!limits || !flags)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu limits", n);
    limits[run->n_limits] = expr;
    flags[run->n_limits++] = equal;
    return EC_OK;
}

/* sign * (expr - at) / scale */
static ec_expr beyond(ec_graph *graph, const ec_constraint *c, double at, double sign)
{
    ec_expr over = ec_graph_binary(graph, EC_OP_SUB, c->expr, ec_graph_number(graph, at));

    return over < 0
               ? over
               : ec_graph_binary(graph, EC_OP_MUL, over, ec_graph_number(graph, sign / c->scale));
}

/* The elements of one side of a constraint, or its worst one. */
static int add_side(ec_solve_run *run, ec_expr side, bool equal, bool each)
{
    ec_graph *graph = run->job->graph;

    if (side < 0)
        return side;
    int32_t n = ec_graph_node(graph, side)->elements;
    if (!each && n > 1)
        return add_limit(run, ec_graph_unary(graph, EC_OP_RMAX, side), equal);
    if (ec_graph_node(graph, side)->rank != 1)
        side = ec_graph_reshape(graph, side, 1, &n);
    int status = side < 0 ? side : EC_OK;
    for (int32_t i = 0; i < n && status == EC_OK; i++)
        status = add_limit(run, ec_graph_slice(graph, side, i, 0), equal);
    return status;
}

static int add_constraint(ec_solve_run *run, const ec_constraint *c, bool each)
{
    ec_graph *graph = run->job->graph;
    bool equal = c->min == c->max;
    bool worst = !each && ec_graph_node(graph, c->expr)->elements > 1;
    int status = EC_OK;

    ec_graph_set_line(graph, c->line);
    /* The worst of many equal values has no slope at its best, so it is kept below the tolerance. */
    if (equal && !worst)
        return add_side(run, beyond(graph, c, c->max, 1), true, each);
    if (c->max < INFINITY)
        status = add_side(run, beyond(graph, c, c->max + c->tolerance, 1), false, each);
    if (status == EC_OK && c->min > -INFINITY)
        status = add_side(run, beyond(graph, c, c->min - c->tolerance, -1), false, each);
    return status;
}

static int list_limits(ec_solve_run *run)
{
    const ec_job *job = run->job;
    size_t elements = 0;
    int status = EC_OK;

    for (int32_t i = 0; i < job->n_constraints; i++) {
        const ec_constraint *c = &job->constraints[i];
        size_t sides = c->min != c->max && c->min > -INFINITY && c->max < INFINITY ? 2 : 1;
        elements += sides * (size_t)ec_graph_node(job->graph, c->expr)->elements;
    }
    for (int32_t i = 0; i < job->n_constraints && status == EC_OK; i++)
        status = add_constraint(run, &job->constraints[i], elements <= LIMITS_MAX);
    return status;
}

/* ---- rows ---- */

/* All parts, one behind the other, as one vector on the candidates. */
static ec_expr join(ec_job *job, size_t n, ec_expr *parts)
{
    ec_graph *graph = job->graph;

    for (size_t i = 0; i < n; i++) {
        const ec_node *node = ec_graph_node(graph, parts[i]);
        int32_t elements = node->elements;
        if (node->rank != 1)
            parts[i] = ec_graph_reshape(graph, parts[i], 1, &elements);
        if (parts[i] < 0)
            return parts[i];
    }
    return ec_job_on_candidates(job, ec_graph_op(graph, EC_OP_CONCAT, (int32_t)n, parts, 0, NULL));
}

int ec_solve_add_limits(ec_solve_run *run)
{
    if (!(ec_solve_needs(run) & EC_OPTIMIZER_LIMITS) || run->job->n_constraints == 0)
        return EC_OK;
    int status = list_limits(run);
    if (status < 0)
        return status;
    ec_expr *parts = (ec_expr *)malloc(sizeof *parts * run->n_limits);
    if (!parts)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu limits", run->n_limits);
    memcpy(parts, run->limits, sizeof *parts * run->n_limits);
    ec_expr all = join(run->job, run->n_limits, parts);
    free(parts);
    if (all < 0)
        return all;
    run->limit_output = run->n_outputs;
    run->outputs[run->n_outputs++] = all;
    return EC_OK;
}

/* ---- gradients ---- */

int ec_solve_explain_gradient(const ec_solve_run *run, const char *what)
{
    char reason[512], others[512];

    snprintf(reason, sizeof reason, "%s", ec_error_text());
    ec_optimizer_names(0, EC_OPTIMIZER_GRADIENT, others, sizeof others);
    return ec_fail(EC_ERR_NO_GRADIENT,
                   "solve: method '%s' needs the gradient of %s: %s; methods without: %s",
                   run->def->name, what, reason, others);
}

/* Gradient of a scalar over the variables' genes, [variables] expressions. */
static int add_gradient(ec_solve_run *run, ec_expr of, const char *what, int32_t n,
                        const ec_expr *genes, ec_expr *gradient)
{
    int status = ec_graph_gradient(run->job->graph, of, n, genes, gradient);

    return status == EC_ERR_NO_GRADIENT ? ec_solve_explain_gradient(run, what) : status;
}

static int add_gradients(ec_solve_run *run, int32_t n, const ec_expr *genes, ec_expr *gradients)
{
    ec_job *job = run->job;
    const ec_goal *goal = &job->objectives[0];
    char what[160];

    snprintf(what, sizeof what, "'%.120s' (line %d)", goal->name, (int)goal->line);
    int status = add_gradient(run, run->outputs[0], what, n, genes, gradients);
    for (size_t k = 0; k < run->n_limits && status == EC_OK; k++)
        status = add_gradient(run, run->limits[k], "the constraints", n, genes,
                              gradients + (k + 1) * (size_t)n);
    if (status < 0)
        return status;
    run->n_slopes = run->n_limits > 0 ? 2 : 1;
    run->outputs[run->n_outputs] = join(job, (size_t)n, gradients);
    if (run->n_limits > 0)
        run->outputs[run->n_outputs + 1] = join(job, run->n_limits * (size_t)n, gradients + n);
    for (int32_t i = 0; i < run->n_slopes; i++)
        if (run->outputs[run->n_outputs + i] < 0)
            return run->outputs[run->n_outputs + i];
    return EC_OK;
}

int ec_solve_add_gradients(ec_solve_run *run)
{
    const ec_job *job = run->job;
    int32_t n = 0;

    if (!(ec_solve_needs(run) & EC_OPTIMIZER_GRADIENT))
        return EC_OK;
    ec_expr *genes = (ec_expr *)malloc(sizeof *genes * ((size_t)job->n_variables + 1));
    ec_expr *gradients =
        (ec_expr *)malloc(sizeof *gradients * ((size_t)job->n_variables + 1) * (run->n_limits + 1));
    int status = genes && gradients ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory");
    for (int32_t v = 0; v < job->n_variables && status == EC_OK; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        if (!variable->group && variable->n_genes > 0)
            genes[n++] = variable->genes;
    }
    if (status == EC_OK)
        status = add_gradients(run, n, genes, gradients);
    free(genes);
    free(gradients);
    return status;
}

/* ---- of a generation ---- */

void ec_solve_choose_executor(const ec_solve_run *run, ec_scorer *scorer)
{
    const ec_optimizer_def *def = run->def;
    bool slopes = scorer->slopes && (!def->wants_gradient || def->wants_gradient(run->optimizer));

    scorer->ran = slopes ? scorer->slopes : scorer->executor;
    scorer->n_ran = run->n_outputs + (slopes ? run->n_slopes : 0);
}

static const double *rows_of(const ec_scorer *scorer, int32_t output)
{
    return (const double *)ec_executor_output(scorer->ran, output)->data;
}

void ec_solve_scores(const ec_solve_run *run, const ec_scorer *scorer, ec_scores *scores)
{
    bool limits = run->n_limits > 0, slopes = scorer->ran == scorer->slopes;

    memset(scores, 0, sizeof *scores);
    scores->status = scorer->status;
    scores->ld = ec_executor_output(scorer->ran, 0)->ld;
    scores->cost = rows_of(scorer, 0);
    scores->violation = run->job->n_constraints > 0 ? rows_of(scorer, 1) : NULL;
    scores->limit = limits ? rows_of(scorer, run->limit_output) : NULL;
    scores->cost_gradient = slopes ? rows_of(scorer, run->n_outputs) : NULL;
    scores->limit_gradient = slopes && limits ? rows_of(scorer, run->n_outputs + 1) : NULL;
}
