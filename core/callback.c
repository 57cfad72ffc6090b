#include "callback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct callback_config {
    ec_callback callback;
    char name[];
} callback_config;

typedef struct callback_evaluator {
    ec_evaluator head;
    const ec_callback *callback;
    bool final;
    size_t lanes;
    int32_t n_columns;
    const double **column;
    double **output;
    double
        *memory; /* columns that have to be copied or repeated, then outputs; each `lanes` values */
    uint8_t *status;
} callback_evaluator;

static void callback_destroy(ec_evaluator **evaluator)
{
    callback_evaluator *e = (callback_evaluator *)*evaluator;
    if (!e)
        return;
    free(e->column);
    free(e->output);
    free(e->memory);
    free(e->status);
    free(e);
    *evaluator = NULL;
}

static int callback_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    callback_evaluator *e = calloc(1, sizeof *e);
    if (!e)
        return ec_fail(EC_ERR_MEMORY, "no memory for a callback");
    *evaluator = &e->head;
    e->head.def = info->call->def;
    e->head.backend = backend;
    e->callback = &((const callback_config *)info->call->config)->callback;
    e->final = info->fidelity == EC_FINAL;
    e->lanes = info->max_candidates > 0 ? info->max_candidates : 1;
    for (int32_t i = 0; i < info->n_in; i++)
        e->n_columns += (int32_t)info->in[i].elements;
    size_t rows = (size_t)e->n_columns + (size_t)e->callback->n_outputs;
    e->column = calloc((size_t)e->n_columns + 1, sizeof *e->column);
    e->output = calloc((size_t)e->callback->n_outputs + 1, sizeof *e->output);
    e->memory = malloc(rows * e->lanes * sizeof *e->memory);
    e->status = malloc(e->lanes);
    if (!e->column || !e->output || !e->memory || !e->status) {
        callback_destroy(evaluator);
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for the columns", info->call->def->name);
    }
    for (int32_t k = 0; k < e->callback->n_outputs; k++)
        e->output[k] = e->memory + (size_t)(e->n_columns + k) * e->lanes;
    return EC_OK;
}

/* Columns of an input, from number `at` on. */
static int read_columns(callback_evaluator *e, const ec_array *in, int32_t at, size_t n)
{
    ec_backend *backend = e->head.backend;
    bool varies = in->axes & EC_AXIS_CANDIDATE;
    for (size_t k = 0; k < in->elements; k++) {
        size_t column = (size_t)at + k;
        const double *from = (const double *)in->data + k * in->ld;
        double *to = e->memory + column * e->lanes;
        e->column[column] = varies && backend->host_memory ? from : to;
        if (e->column[column] == from)
            continue;
        int status = backend->ops->download(backend, to, from, (varies ? n : 1) * sizeof *to);
        if (status != EC_OK)
            return status;
        for (size_t c = 1; !varies && c < n; c++)
            to[c] = to[0];
    }
    return EC_OK;
}

static int call_function(callback_evaluator *e, const ec_exec *exec, size_t n)
{
    const ec_callback *callback = e->callback;
    ec_callback_batch batch = {.n = n,
                               .n_columns = e->n_columns,
                               .n_outputs = callback->n_outputs,
                               .column = e->column,
                               .output = e->output,
                               .status = e->status,
                               .final = e->final,
                               .interrupt = exec->interrupt};
    memset(e->status, 0, n);
    for (int32_t k = 0; k < callback->n_outputs; k++)
        for (size_t c = 0; c < n; c++)
            e->output[k][c] = NAN;
    ec_fail(EC_OK, "%s", "");
    int status = callback->run(callback->user, &batch);
    if (status == EC_OK || status == EC_STOPPED)
        return status;
    if (status > 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "callback '%s': returned %d; EC_OK, EC_STOPPED and negative statuses are "
                       "allowed",
                       callback->name, status);
    const char *text = ec_error_text();
    return ec_fail(status, "callback '%s': %s", callback->name,
                   text[0] ? text : ec_status_text(status));
}

static int callback_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                        ec_array *const *out, uint8_t *status, size_t n)
{
    callback_evaluator *e = (callback_evaluator *)evaluator;
    ec_backend *backend = evaluator->backend;
    if (n > e->lanes)
        return ec_fail(EC_ERR_INTERNAL, "callback '%s': %zu designs, planned for %zu",
                       e->callback->name, n, e->lanes);
    int code = EC_OK;
    for (int32_t i = 0, at = 0; code == EC_OK && at < e->n_columns;
         at += (int32_t)in[i++]->elements)
        code = read_columns(e, in[i], at, n);
    if (code == EC_OK)
        code = call_function(e, exec, n);
    for (size_t c = 0; c < n && code == EC_OK; c++) {
        bool good = e->status[c] == 0;
        for (int32_t k = 0; k < e->callback->n_outputs; k++)
            good = good && isfinite(e->output[k][c]);
        e->status[c] = good ? 0 : EC_CANDIDATE_EVALUATOR;
        for (int32_t k = 0; k < e->callback->n_outputs && !good; k++)
            e->output[k][c] = NAN;
    }
    for (int32_t k = 0; code == EC_OK && k < e->callback->n_outputs; k++)
        if (out[k])
            code = backend->ops->upload(backend, out[k]->data, e->output[k], n * sizeof(double));
    if (code != EC_OK)
        return code;
    /* the bytes of other models are kept */
    uint8_t *before = malloc(n);
    if (!before)
        return ec_fail(EC_ERR_MEMORY, "callback '%s': no memory", e->callback->name);
    code = backend->ops->download(backend, before, status, n);
    for (size_t c = 0; c < n && code == EC_OK; c++)
        e->status[c] |= before[c];
    free(before);
    return code == EC_OK ? backend->ops->upload(backend, status, e->status, n) : code;
}

static const ec_evaluator_def callback_def = {.name = "callback",
                                              .flags = EC_EVALUATOR_SELF_CHUNKING,
                                              .plan = callback_plan,
                                              .run = callback_run,
                                              .destroy = callback_destroy,
                                              .config_destroy = free};

int ec_graph_callback(ec_graph *graph, const ec_callback *callback, int32_t n_in, const ec_expr *in,
                      ec_expr *outputs)
{
    const char *name = callback->name ? callback->name : "callback";
    if (!callback->run || callback->n_outputs < 1 || n_in < 1)
        return ec_fail(EC_ERR_ARGUMENT,
                       "callback '%s': a function, at least one input (%d) and at least one output "
                       "(%d) are needed",
                       name, (int)n_in, (int)callback->n_outputs);
    for (int32_t i = 0; i < n_in; i++) {
        const ec_node *node = ec_graph_node(graph, in[i]);
        if (!node)
            return ec_fail(EC_ERR_ARGUMENT, "callback '%s': input %d is no expression of the graph",
                           name, (int)i + 1);
        if (node->dtype != EC_F64)
            return ec_fail(EC_ERR_TYPE, "callback '%s': input %d is not real", name, (int)i + 1);
        if (node->axes & EC_AXIS_SAMPLE)
            return ec_fail(EC_ERR_SHAPE,
                           "callback '%s': input %d varies over samples: reduce it first", name,
                           (int)i + 1);
    }
    callback_config *config = malloc(sizeof *config + strlen(name) + 1);
    if (!config)
        return ec_fail(EC_ERR_MEMORY, "callback '%s': no memory", name);
    config->callback = *callback;
    strcpy(config->name, name);
    config->callback.name = config->name;
    ec_call *call = NULL;
    int status = ec_graph_call(graph, &callback_def, config, n_in, in, &call);
    if (status != EC_OK)
        return status;
    for (int32_t k = 0; k < callback->n_outputs; k++) {
        ec_call_output output = {
            .name = "callback", .dtype = EC_F64, .range = {-INFINITY, INFINITY}};
        outputs[k] = ec_graph_call_output(graph, call, &output);
        if (outputs[k] < 0)
            return outputs[k];
    }
    return EC_OK;
}

static int add_outputs(ec_job *job, const ec_callback *callback, const ec_expr *output,
                       int32_t n_objectives, bool constrained)
{
    int status = EC_OK;
    for (int32_t k = 0; k < callback->n_outputs && status == EC_OK; k++) {
        int32_t behind = k - n_objectives - (constrained ? 1 : 0);
        char name[32];
        if (k < n_objectives) {
            snprintf(name, sizeof name, n_objectives > 1 ? "cost_%d" : "cost", (int)k + 1);
            status = ec_job_add_objective(job, name, output[k], false, 0);
        } else if (behind < 0) {
            ec_constraint limit = {.expr = output[k], .min = -INFINITY, .max = 0, .scale = 1};
            status = ec_job_add_constraint(job, "violation", &limit);
        } else {
            snprintf(name, sizeof name, "output_%d", (int)behind + 1);
            status = ec_job_add_record(job, name, output[k], 0);
        }
    }
    return status;
}

int ec_job_add_callback(ec_job *job, const ec_callback *callback, int32_t n_objectives,
                        bool constrained)
{
    int32_t n = ec_job_variable_count(job);
    if (n < 1)
        return ec_fail(EC_ERR_ARGUMENT, "callback: add the job's variables first");
    if (n_objectives < 0 || n_objectives + (constrained ? 1 : 0) > callback->n_outputs)
        return ec_fail(EC_ERR_ARGUMENT, "callback: %d objectives%s do not fit %d outputs",
                       (int)n_objectives, constrained ? " and a violation" : "",
                       (int)callback->n_outputs);
    ec_expr *in = malloc((size_t)n * sizeof *in);
    ec_expr *output = malloc(((size_t)callback->n_outputs + 1) * sizeof *output);
    int status = in && output ? EC_OK : ec_fail(EC_ERR_MEMORY, "callback: no memory");
    for (int32_t i = 0; i < n && status == EC_OK; i++)
        in[i] = ec_job_variable(job, i)->value;
    if (status == EC_OK)
        status = ec_graph_callback(ec_job_graph(job), callback, n, in, output);
    if (status == EC_OK)
        status = add_outputs(job, callback, output, n_objectives, constrained);
    free(in);
    free(output);
    return status;
}
