#include "callback.h"
#include "columns.h"

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
    ec_columns columns;
} callback_evaluator;

static void callback_destroy(ec_evaluator **evaluator)
{
    callback_evaluator *e = (callback_evaluator *)*evaluator;
    if (!e)
        return;
    ec_columns_release(&e->columns);
    free(e);
    *evaluator = NULL;
}

static int callback_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    const ec_callback *callback = &((const callback_config *)info->call->config)->callback;
    callback_evaluator *e = calloc(1, sizeof *e);
    if (!e)
        return ec_fail(EC_ERR_MEMORY, "callback '%s': no memory", callback->name);
    e->head.def = info->call->def;
    e->head.backend = backend;
    e->callback = callback;
    e->final = info->fidelity == EC_FINAL;
    *evaluator = &e->head;
    int status = ec_columns_create(&e->columns, backend, info, callback->n_outputs, callback->name);
    if (status != EC_OK)
        callback_destroy(evaluator);
    return status;
}

static int call_function(callback_evaluator *e, const ec_exec *exec, size_t n)
{
    const ec_callback *callback = e->callback;
    const ec_columns *columns = &e->columns;
    ec_callback_batch batch = {.n = n,
                               .n_columns = columns->n_columns,
                               .n_outputs = columns->n_outputs,
                               .column = columns->column,
                               .output = columns->output,
                               .status = columns->status,
                               .final = e->final,
                               .interrupt = exec->interrupt};
    ec_fail(EC_OK, "%s", ""); /* an older sentence is not the function's */
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
    int code = ec_columns_read(&e->columns, in, n);
    if (code == EC_OK)
        code = call_function(e, exec, n);
    return code == EC_OK ? ec_columns_write(&e->columns, e->callback->n_outputs, out, status,
                                            EC_CANDIDATE_EVALUATOR, n)
                         : code;
}

static const ec_evaluator_def callback_def = {.name = "callback",
                                              .flags =
                                                  EC_EVALUATOR_SELF_CHUNKING | EC_EVALUATOR_USERS,
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
