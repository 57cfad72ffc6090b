/* solve_result.c: the result: what it says, its memory, values afterwards. */
#include "solve_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "no feasible design found: 'gap' misses max 0.5 by 0.01; ", or nothing of a good design. */
static size_t write_fault(const ec_job *job, const ec_result *r, char *text, size_t size)
{
    const ec_constraint *worst = NULL;
    double most = 0, excess = 0;

    text[0] = '\0';
    if (r->found && r->status) {
        snprintf(text, size, "the best design of the search failed at final fidelity; ");
        return strlen(text);
    }
    if (!r->found || !(r->violation > 0))
        return 0;
    for (int32_t i = 0; i < job->n_constraints; i++) {
        const ec_constraint *c = &job->constraints[i];
        double scaled = (r->constraint[i] - c->tolerance) / c->scale;
        if (!(scaled > most))
            continue;
        most = scaled;
        excess = r->constraint[i];
        worst = c;
    }
    if (!worst) {
        snprintf(text, size, "no feasible design found; ");
        return strlen(text);
    }
    char limit[80];
    if (worst->min == worst->max)
        snprintf(limit, sizeof limit, "equal = %.6g", worst->min);
    else if (worst->min == -INFINITY)
        snprintf(limit, sizeof limit, "max = %.6g", worst->max);
    else if (worst->max == INFINITY)
        snprintf(limit, sizeof limit, "min = %.6g", worst->min);
    else
        snprintf(limit, sizeof limit, "min = %.6g, max = %.6g", worst->min, worst->max);
    snprintf(text, size, "no feasible design found: '%.80s' misses %s by %.4g%s; ", worst->name,
             limit, excess, job->n_constraints > 1 ? ", the most of all" : "");
    return strlen(text);
}

/* Why the designs of the last generation failed: "64 x the cost is not finite". */
static void write_failures(const ec_solve_run *run, char *text, size_t size)
{
    size_t used = 0;

    for (unsigned bit = 1; bit < 256 && used < size; bit *= 2) {
        size_t count = 0;
        char sentence[120];
        for (size_t i = 0; i < run->n_last; i++) {
            /* a cost that is none follows from the other kinds */
            uint8_t cause = run->elite_status[i] & (uint8_t)~EC_CANDIDATE_NOT_FINITE;
            count += (cause ? cause : run->elite_status[i]) & bit ? 1 : 0;
        }
        ec_candidate_text((uint8_t)bit, sentence, sizeof sentence);
        if (count > 0 && sentence[0])
            used += (size_t)snprintf(text + used, size - used, "%s%zu x %s", used ? ", " : "",
                                     count, sentence);
    }
}

/* "; every design failed: ...", or that none was scored. */
static void write_none(const ec_solve_run *run, char *text, size_t size)
{
    char failures[400] = "";

    if (run->generation == 0) {
        snprintf(
            text, size,
            ": the first generation of %zu designs had not been evaluated; give more time or a "
            "smaller population",
            run->max_population);
        return;
    }
    write_failures(run, failures, sizeof failures);
    if (run->result->failed == run->result->evaluations)
        snprintf(text, size, "; every design failed (%" PRIu64 "); of the last %zu: %s",
                 run->result->failed, run->n_last, failures);
    else
        snprintf(text, size, "; there is no best design");
}

void ec_solve_write_message(const ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    ec_result *r = run->result;
    size_t used = write_fault(run->job, r, r->message, sizeof r->message);
    char *text = r->message + used;
    size_t size = sizeof r->message - used;
    double value = r->found ? r->objective_final[0] : NAN;

    switch (r->stop) {
    case EC_STOP_GENERATIONS:
        snprintf(text, size, "all %zu generations were run", info->generations);
        break;
    case EC_STOP_EVALUATIONS:
        snprintf(text, size, "all %zu evaluations were used", info->evaluations);
        break;
    case EC_STOP_TIME:
        snprintf(text, size, "the time of %g s was used", info->seconds);
        break;
    case EC_STOP_TARGET:
        if (r->found && r->status)
            snprintf(text, size, "the target %.10g was reached in the search", info->target);
        else if (r->found && (run->maximize ? value < info->target : value > info->target))
            snprintf(text, size,
                     "the target %.10g was reached in the search, but %.10g at final fidelity "
                     "misses it",
                     info->target, value);
        else
            snprintf(text, size, "the target %.10g was reached", info->target);
        break;
    case EC_STOP_STAGNATION:
        snprintf(text, size,
                 run->n_objectives > 1 ? "the hypervolume did not grow in %u generations"
                                       : "no better design was found in %u generations",
                 info->stagnation);
        break;
    case EC_STOP_SPREAD:
        snprintf(text, size, "every variable's spread fell below %g of its range", info->spread);
        break;
    case EC_STOP_INTERRUPT:
        snprintf(text, size, "interrupted%s%s%s", run->polish_cut ? " in the polish" : "",
                 r->found ? "; the best design so far is kept" : "",
                 r->found && isnan(value) ? ", without figures at final fidelity" : "");
        break;
    case EC_STOP_DEVICE:
        snprintf(text, size, "the device was lost%s",
                 r->found ? "; the best design so far is kept" : "");
        break;
    case EC_STOP_ERROR:
        snprintf(text, size, "ended by an error: %.300s", run->error);
        break;
    case EC_STOP_FINISHED:
        snprintf(text, size, "the method '%s' had nothing left to try", r->method);
        break;
    case EC_STOP_NONE:
        snprintf(text, size, "the run has not ended");
        break;
    }
    if (!r->found)
        write_none(run, text + strlen(text), size - strlen(text));
    else if (run->n_objectives > 1 && r->front.n > 0)
        snprintf(text + strlen(text), size - strlen(text), "; the front has %d design%s",
                 (int)r->front.n, r->front.n == 1 ? "" : "s");
}

int ec_solve_result_create(const ec_solve_run *run, ec_result **result)
{
    const ec_job *job = run->job;
    ec_result *fresh = (ec_result *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the result");
    fresh->n_objectives = job->n_objectives;
    fresh->n_constraints = job->n_constraints;
    fresh->n_variables = job->n_variables;
    fresh->n_records = job->n_records;
    fresh->n_genes = job->n_genes;
    fresh->n_group_genes = job->n_group_genes;
    fresh->genes = (double *)calloc((size_t)job->n_genes + 1, sizeof(double));
    fresh->group_genes = (double *)calloc((size_t)job->n_group_genes + 1, sizeof(double));
    if (!fresh->genes || !fresh->group_genes) {
        ec_result_destroy(&fresh);
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the result");
    }
    snprintf(fresh->backend, sizeof fresh->backend, "%s", run->backend->name);
    snprintf(fresh->device, sizeof fresh->device, "%s", run->backend->device);
    snprintf(fresh->isa, sizeof fresh->isa, "%s",
             run->backend->is_cuda ? "" : ec_isa_name(run->backend->isa));
    snprintf(fresh->method, sizeof fresh->method, "%s", run->def->name);
    fresh->seed = run->info->seed_given ? run->info->seed : job->seed;
    *result = fresh;
    return EC_OK;
}

static void front_release(ec_result *result)
{
    ec_front *front = &result->front;

    for (int32_t i = 0; front->variable && i < result->n_variables; i++)
        free(front->variable[i]);
    for (int32_t i = 0; front->record && i < result->n_records; i++)
        free(front->record[i]);
    free(front->variable);
    free(front->record);
    free(front->genes);
    free(front->objective_final);
    free(front->objective_search);
    free(front->constraint);
}

void ec_result_destroy(ec_result **handle)
{
    ec_result *result = handle ? *handle : NULL;

    if (!result)
        return;
    /* Lists of values end at the first NULL: they were made with one entry more. */
    for (int32_t i = 0; result->variable && result->variable[i]; i++)
        free(result->variable[i]);
    for (int32_t i = 0; result->record && result->record[i]; i++)
        free(result->record[i]);
    free(result->genes);
    free(result->group_genes);
    free(result->objective_final);
    free(result->objective_search);
    free(result->constraint);
    free(result->variable);
    free(result->variable_length);
    free(result->record);
    free(result->record_length);
    front_release(result);
    free(result->history);
    free(result->failures);
    free(result->failure_genes);
    free(result->failure_values);
    free(result);
    *handle = NULL;
}

/* ---- values afterwards ---- */

int ec_result_value(const ec_job *job, const ec_result *result, ec_backend *backend, ec_expr expr,
                    double **out, int32_t *length, ec_log *log)
{
    const ec_node *node = ec_graph_node(job->graph, expr);

    if (!node)
        return ec_fail(EC_ERR_ARGUMENT, "value: not an expression of this job");
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        return ec_fail(EC_ERR_TYPE, "value: the value is complex; take its abs, re, im or arg");
    if (!result->found)
        return ec_fail(EC_ERR_ARGUMENT, "value: the run has no best design");
    int known = ec_job_check_variables(job, "value", expr, result->n_genes, result->n_group_genes);
    if (known < 0)
        return known;
    int32_t n = ec_result_value_length(job->graph, expr);
    double *values = (double *)malloc(sizeof(double) * (size_t)n);
    if (!values)
        return ec_fail(EC_ERR_MEMORY, "value: no memory for %d numbers", (int)n);
    int status = ec_result_evaluate(job, result, backend, EC_FINAL, 1, &expr, &values, NULL, log);
    if (status < 0) {
        free(values);
        return status;
    }
    *out = values;
    *length = n;
    return EC_OK;
}
