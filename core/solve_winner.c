/* solve_winner.c: polish, the choice of the winner at final fidelity, and its values. */
#include "polish.h"
#include "solve_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLISH_DEFAULT = 8 }; /* designs that are polished */
/* The polish may take as long as the search, and at least so long. */
static const double polish_least_seconds = 10;

/* ---- polish ---- */

/* Its own limit, and what is left of the run's. */
static double polish_time(const ec_solve_run *run)
{
    double used = ec_wall_seconds() - run->start;
    double own = run->info->polish_seconds > 0 ? run->info->polish_seconds
                                               : fmax(used, polish_least_seconds);

    if (run->info->seconds == 0)
        return own;
    return fmin(own, fmax(run->info->seconds - used, 0.05));
}

static void note_polish(ec_solve_run *run, double limit)
{
    const ec_result *r = run->result;

    ec_log_write(&run->messages.log, EC_LOG_INFO,
                 "polish: %d of %d designs finished, %" PRIu64 " evaluations, %.2f s",
                 (int)r->polish_finished, (int)r->polish_designs, r->polish_evaluations,
                 r->polish_seconds);
    if (r->polish_capped)
        ec_log_write(&run->messages.log, run->info->seconds > 0 ? EC_LOG_INFO : EC_LOG_WARNING,
                     "polish: ended by its time limit of %.3g s, so a longer one might find a "
                     "better design (polish_seconds = ... sets the limit)",
                     limit);
}

/* Rounds of local search and gradients on designs that have both kinds of genes, at most. */
enum { POLISH_ROUNDS = 4 };

/* Evaluations that the local search may use on each of `count` designs: without a number of the
 * user's half as many as the search, which takes less time than the search did. */
static int32_t local_evaluations(const ec_solve_run *run, size_t count)
{
    enum { LEAST = 100 };
    uint64_t share = run->stats.evaluations / 2 / count;

    if (run->info->polish_evaluations > 0)
        return run->info->polish_evaluations;
    return share < LEAST ? LEAST : share > INT32_MAX ? INT32_MAX : (int32_t)share;
}

/* Discrete genes, then real ones, and again while both kinds gain. With both kinds the local search gets
 * half of the time that is left. */
static int polish_genes(ec_solve_run *run, ec_backend *backend, ec_polish_info *info, size_t count,
                        double *genes, double *group_genes)
{
    ec_result *result = run->result;
    bool real = ec_polish_has_real(run->job), discrete = ec_polish_has_discrete(run->job);
    size_t bytes = sizeof(double) * count * (size_t)run->job->n_genes;
    double deadline = ec_wall_seconds() + info->seconds, *before = (double *)malloc(bytes + 1);
    int32_t most = info->max_evaluations, finished = 0;
    bool gains = true, capped = false;
    int status = before ? EC_OK : ec_fail(EC_ERR_MEMORY, "polish: no memory");

    for (info->round = 0; gains && info->round < POLISH_ROUNDS && status == EC_OK; info->round++) {
        uint64_t used = 0;
        if (discrete) {
            memcpy(before, genes, bytes);
            info->max_evaluations = local_evaluations(run, count);
            info->seconds = fmax(deadline - ec_wall_seconds(), 1e-6) / (real ? 2 : 1);
            status = ec_polish_discrete(run->job, backend, info, (int32_t)count, genes, group_genes,
                                        &used);
            result->polish_evaluations += used;
            capped = capped || *info->out_of_time;
            finished = *info->finished;
            gains = info->round == 0 || memcmp(before, genes, bytes) != 0;
        }
        if (!real || !gains || status < 0)
            break;
        memcpy(before, genes, bytes);
        info->max_evaluations = most;
        info->seconds = fmax(deadline - ec_wall_seconds(), 1e-6);
        status = ec_polish(run->job, info, (int32_t)count, genes, group_genes, &used);
        result->polish_evaluations += used;
        capped = capped || *info->out_of_time;
        if (discrete && used == 0) /* no gradient */
            *info->finished = finished;
        gains = discrete && !capped && memcmp(before, genes, bytes) != 0;
    }
    *info->out_of_time = capped;
    free(before);
    return status;
}

/* Polishes the best distinct designs and adds them, with the key at search unknown, to `designs`. */
static int polish(ec_solve_run *run, ec_backend *backend, double *designs, size_t *n)
{
    const ec_job *job = run->job;
    size_t wanted =
        run->info->polish_designs > 0 ? (size_t)run->info->polish_designs : POLISH_DEFAULT;
    size_t count = run->distinct.n < wanted ? run->distinct.n : wanted;
    size_t n_genes = (size_t)job->n_genes, n_group = (size_t)job->n_group_genes;
    double *genes = (double *)malloc(sizeof(double) * (count * n_genes + 1));
    double *group_genes = (double *)malloc(sizeof(double) * (count * n_group + 1));
    int status = EC_OK;

    if (!genes || !group_genes) {
        free(genes);
        free(group_genes);
        return ec_fail(EC_ERR_MEMORY, "polish: no memory for %zu designs", count);
    }
    for (size_t i = 0; i < count; i++) {
        const double *row = run->distinct.genes + i * run->width;
        memcpy(genes + i * n_genes, row, n_genes * sizeof(double));
        memcpy(group_genes + i * n_group, row + n_genes, n_group * sizeof(double));
    }
    double start = ec_wall_seconds();
    bool out_of_time = false;
    int32_t finished = 0;
    char devices[EC_WORKERS_MAX * sizeof backend->name];
    ec_backend_list(backend, devices, sizeof devices);
    ec_polish_info info = {
        .max_evaluations = run->info->polish_evaluations,
        .seconds = polish_time(run),
        .out_of_time = &out_of_time,
        .finished = &finished,
        .interrupt = run->info->interrupt,
        .threads = backend->is_cuda ? 0 : backend->threads,
        .device = backend->is_cuda ? devices : NULL,
        .seed = run->result->seed,
        .memory_budget = run->info->memory_budget,
        .log = &run->messages.log,
    };
    double limit = info.seconds;
    if (count > 0)
        status = polish_genes(run, backend, &info, count, genes, group_genes);
    for (size_t i = 0; i < count && status == EC_OK; i++) {
        double *row = designs + *n * run->width;
        memcpy(row, genes + i * n_genes, n_genes * sizeof(double));
        memcpy(row + n_genes, group_genes + i * n_group, n_group * sizeof(double));
        ++*n;
    }
    if (status == EC_OK) {
        run->result->polish_designs = (int32_t)count;
        run->result->polish_finished = finished;
        run->result->polish_seconds = ec_wall_seconds() - start;
        run->result->polish_capped = out_of_time;
        note_polish(run, limit);
    }
    free(genes);
    free(group_genes);
    return status;
}

/* ---- values of the winner ---- */

int32_t ec_result_value_length(const ec_graph *graph, ec_expr expr)
{
    const ec_node *node = ec_graph_node(graph, expr);

    return node->elements * (node->axes & EC_AXIS_SAMPLE ? ec_graph_sample_count(graph, true) : 1);
}

/* Values at the best design; those that an evaluator cannot score are NaN, whatever it wrote. */
int ec_result_evaluate(const ec_job *job, const ec_result *result, ec_backend *backend,
                       ec_fidelity fidelity, int32_t n, const ec_expr *exprs, double *const *out,
                       const ec_interrupt *interrupt, ec_log *log)
{
    uint8_t failed = 0;

    if (n == 0)
        return EC_OK;
    int status = ec_evaluate_until(job->graph, backend, fidelity, n, exprs, result->genes,
                                   (size_t)result->n_genes, result->group_genes,
                                   (size_t)result->n_group_genes, out, &failed, interrupt, log);
    if (status != EC_OK || !(failed & ~EC_CANDIDATE_NOT_FINITE))
        return status;
    /* The status is that of all of them: each by itself says whose it is. */
    for (int32_t i = 0; n > 1 && i < n && status == EC_OK; i++)
        status = ec_result_evaluate(job, result, backend, fidelity, 1, exprs + i, out + i,
                                    interrupt, log);
    for (int32_t k = 0; n == 1 && k < ec_result_value_length(job->graph, exprs[0]); k++)
        out[0][k] = NAN;
    return status;
}

/* Buffers for the values of a list of expressions. */
static int make_buffers(const ec_graph *graph, int32_t n, const ec_expr *exprs, double **values,
                        int32_t *lengths)
{
    for (int32_t i = 0; i < n; i++) {
        lengths[i] = ec_result_value_length(graph, exprs[i]);
        values[i] = (double *)malloc(sizeof(double) * (size_t)lengths[i]);
        if (!values[i])
            return ec_fail(EC_ERR_MEMORY, "solve: no memory for the values of the best design");
    }
    return EC_OK;
}

/* What needs no evaluator, after an error or a signal: the variables, and the objectives of the search. */
static int fill_from_search(ec_job *job, ec_result *result, ec_backend *backend,
                            const double *objective)
{
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)job->n_variables + 1));

    if (!exprs)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the best design");
    for (int32_t i = 0; i < job->n_objectives; i++) {
        result->objective_final[i] = NAN;
        result->objective_search[i] = objective[i];
    }
    for (int32_t i = 0; i < job->n_constraints; i++)
        result->constraint[i] = NAN;
    for (int32_t i = 0; i < job->n_records; i++)
        for (int32_t k = 0; k < result->record_length[i]; k++)
            result->record[i][k] = NAN;
    for (int32_t i = 0; i < job->n_variables; i++)
        exprs[i] = job->variables[i]->variable.value;
    int status = ec_result_evaluate(job, result, backend, EC_FINAL, job->n_variables, exprs,
                                    result->variable, NULL, NULL);
    free(exprs);
    return status;
}

/* The first n_objectives of the expressions are the objectives; where one cannot be had, they are all
 * tried once more if failed designs are. */
static int evaluate_winner(ec_solve_run *run, ec_backend *backend, ec_fidelity fidelity, int32_t n,
                           const ec_expr *exprs, double *const *values)
{
    bool missing = false;

    int status = ec_result_evaluate(run->job, run->result, backend, fidelity, n, exprs, values,
                                    &run->at_end, &run->messages.warnings);
    for (size_t k = 0; k < run->n_objectives && status == EC_OK; k++)
        missing = missing || !isfinite(values[k][0]);
    if (!missing || run->info->on_failure != EC_FAILURE_RETRY)
        return status;
    return ec_result_evaluate(run->job, run->result, backend, fidelity, n, exprs, values,
                              &run->at_end, &run->messages.warnings);
}

int ec_solve_fill_values(ec_solve_run *run, ec_backend *backend, const double *objective,
                         bool left_out)
{
    ec_job *job = run->job;
    ec_result *result = run->result;
    int32_t n_objectives = job->n_objectives, n_constraints = job->n_constraints;
    int32_t n_variables = job->n_variables, n_records = job->n_records;
    int32_t n = n_objectives + n_constraints + n_variables + n_records, at = 0;
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)n + 1));
    double **values = (double **)calloc((size_t)n + 1, sizeof *values);

    result->objective_final = (double *)calloc((size_t)n_objectives + 1, sizeof(double));
    result->objective_search = (double *)calloc((size_t)n_objectives + 1, sizeof(double));
    result->constraint = (double *)calloc((size_t)n_constraints + 1, sizeof(double));
    result->variable = (double **)calloc((size_t)n_variables + 1, sizeof(double *));
    result->variable_length = (int32_t *)calloc((size_t)n_variables + 1, sizeof(int32_t));
    result->record = (double **)calloc((size_t)n_records + 1, sizeof(double *));
    result->record_length = (int32_t *)calloc((size_t)n_records + 1, sizeof(int32_t));
    int status = exprs && values && result->objective_final && result->objective_search &&
                         result->constraint && result->variable && result->variable_length &&
                         result->record && result->record_length
                     ? EC_OK
                     : ec_fail(EC_ERR_MEMORY, "solve: no memory for the best design");
    if (status == EC_OK) {
        for (int32_t i = 0; i < n_objectives; i++)
            exprs[at++] = job->objectives[i].expr;
        for (int32_t i = 0; i < n_constraints; i++)
            exprs[at++] = ec_job_margin(job, &job->constraints[i]);
        for (int32_t i = 0; i < n_variables; i++)
            exprs[at++] = job->variables[i]->variable.value;
        for (int32_t i = 0; i < n_records; i++)
            exprs[at++] = job->records[i].expr;
        for (int32_t i = 0; i < n; i++)
            status = exprs[i] < 0 ? exprs[i] : status;
    }
    if (status == EC_OK)
        status = make_buffers(job->graph, n_variables, exprs + n_objectives + n_constraints,
                              result->variable, result->variable_length);
    if (status == EC_OK)
        status =
            make_buffers(job->graph, n_records, exprs + n_objectives + n_constraints + n_variables,
                         result->record, result->record_length);
    if (status == EC_OK) {
        for (int32_t i = 0; i < n_objectives; i++)
            values[i] = &result->objective_final[i];
        for (int32_t i = 0; i < n_constraints; i++)
            values[n_objectives + i] = &result->constraint[i];
        memcpy(values + n_objectives + n_constraints, result->variable,
               sizeof *values * (size_t)n_variables);
        memcpy(values + n_objectives + n_constraints + n_variables, result->record,
               sizeof *values * (size_t)n_records);
        status = left_out ? EC_STOPPED : evaluate_winner(run, backend, EC_FINAL, n, exprs, values);
        for (int32_t i = 0; i < n_objectives; i++)
            values[i] = &result->objective_search[i];
        if (status == EC_OK && run->repeats)
            memcpy(result->objective_search, result->objective_final,
                   sizeof(double) * (size_t)n_objectives);
        else if (status == EC_OK)
            status = evaluate_winner(run, backend, EC_SEARCH, n_objectives, exprs, values);
        if (status < 0)
            ec_solve_note_error(run, status);
        if (status == EC_STOPPED)
            result->stop = EC_STOP_INTERRUPT;
        if (status != EC_OK)
            status = fill_from_search(job, result, backend, objective);
    }
    free(exprs);
    free(values);
    return status;
}

/* ---- the end of a run ---- */

/* Who competes for the first place: the best of the search, and polished ones. */
static int gather_designs(ec_solve_run *run, ec_backend *backend, double *designs, size_t *n)
{
    const ec_solve_info *info = run->info;
    size_t width = run->width;
    int status = EC_OK;

    if (run->phase == EC_PHASE_POLISHED) { /* known from a checkpoint */
        *n = run->n_designs;
        memcpy(designs, run->designs, *n * width * sizeof(double));
        return EC_OK;
    }
    *n = run->keep.n;
    if (*n > 0)
        memcpy(designs, run->keep.genes, *n * width * sizeof(double));
    bool ended = (info->interrupt && *info->interrupt) || run->result->stop == EC_STOP_ERROR;
    if (info->polish && !ended) {
        status = polish(run, backend, designs, n);
        run->polish_cut = info->interrupt && *info->interrupt;
    }
    if (status == EC_OK && run->polish_cut)
        run->result->stop = EC_STOP_INTERRUPT;
    ended = ended || (info->interrupt && *info->interrupt);
    if (status != EC_OK || ended || !info->store || run->result->stop == EC_STOP_INTERRUPT)
        return status;
    free(run->designs);
    run->designs = (double *)malloc(sizeof(double) * (*n * width + 1));
    if (!run->designs)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs");
    memcpy(run->designs, designs, *n * width * sizeof(double));
    run->n_designs = *n;
    run->phase = EC_PHASE_POLISHED;
    ec_solve_save(run);
    return EC_OK;
}

/* Scores of n designs with one objective at final fidelity. */
static int score_final(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                       ec_score *scores)
{
    double *cost = (double *)malloc(2 * n * sizeof *cost), *violation = cost ? cost + n : NULL;
    uint8_t *bytes = (uint8_t *)malloc(n);
    int status = cost && bytes ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs");

    if (status == EC_OK)
        status = ec_solve_score_final(run, backend, rows, n, cost, violation, bytes);
    for (size_t i = 0; i < n && status == EC_OK; i++)
        scores[i] = (ec_score){cost[i], violation[i], bytes[i]};
    free(cost);
    free(bytes);
    return status;
}

/* What became of the search's best figure, where the result shows another. */
static void note_winner(ec_solve_run *run)
{
    const ec_result *r = run->result;
    const ec_graph *graph = run->job->graph;
    size_t best = 0;
    for (size_t i = 1; i < run->keep.n; i++)
        if (ec_score_better(&run->keep.scores[i], &run->keep.scores[best]))
            best = i;
    double searched = run->keep.n > 0 ? ec_solve_seen(run, run->keep.scores[best].cost) : NAN;
    double polished = r->objective_search[0], final = r->objective_final[0];
    int32_t samples = ec_graph_sample_count(graph, false);
    int32_t others = ec_graph_sample_count(graph, true);
    char text[160];
    size_t n = 0;

    if (!(isfinite(searched) && isfinite(final)) || (searched == polished && polished == final))
        return;
    n = (size_t)snprintf(text, sizeof text, "best: %.6g in the search", searched);
    if (polished != searched)
        n += (size_t)snprintf(text + n, sizeof text - n, ", %.6g of the winner%s", polished,
                              r->polish_designs > 0 ? " (polish)" : "");
    if (final != polished)
        snprintf(text + n, sizeof text - n,
                 samples == others ? ", %.6g at final fidelity"
                                   : ", %.6g with the %d final samples",
                 final, (int)others);
    ec_log_write(&run->messages.log, EC_LOG_INFO, "%s", text);
}

/* Scores the best designs again at final fidelity, polished ones among them, and takes the winner. */
int ec_solve_choose_winner(ec_solve_run *run, ec_backend *backend)
{
    ec_result *result = run->result;
    size_t width = run->width, n = run->keep.n;
    size_t capacity = run->keep.capacity + EC_POLISH_DESIGNS_MAX, best = 0;
    double *designs = (double *)malloc(sizeof(double) * capacity * width);
    ec_score *scores = (ec_score *)calloc(capacity, sizeof *scores);
    int status =
        designs && scores ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs");

    if (status == EC_OK)
        status = gather_designs(run, backend, designs, &n);
    ec_solve_begin_end(run);
    if (status == EC_OK && n > 0)
        status = score_final(run, backend, designs, n, scores);
    bool left_out = status == EC_STOPPED;
    if (left_out)
        result->stop = EC_STOP_INTERRUPT;
    if (status != EC_OK && n > 0 && scores) {
        /* Polished ones stand behind those of the search, whose scores are known. */
        if (status < 0)
            ec_solve_note_error(run, status);
        n = run->keep.n;
        memcpy(scores, run->keep.scores, n * sizeof *scores);
        status = EC_OK;
    } else if (status == EC_OK && n > 0) {
        ec_solve_keep_final(run, designs, n, scores);
    }
    for (size_t i = 1; i < n && status == EC_OK; i++)
        if (ec_score_better(&scores[i], &scores[best]))
            best = i;
    if (status == EC_OK && n > 0) {
        result->found = true;
        result->status = scores[best].status;
        result->violation = scores[best].violation;
        memcpy(result->genes, designs + best * width, (size_t)result->n_genes * sizeof(double));
        memcpy(result->group_genes, designs + best * width + result->n_genes,
               (size_t)result->n_group_genes * sizeof(double));
        double objective = ec_solve_seen(run, scores[best].cost);
        status = ec_solve_fill_values(run, backend, &objective, left_out);
        if (status == EC_OK)
            note_winner(run);
    }
    free(designs);
    free(scores);
    return status;
}
