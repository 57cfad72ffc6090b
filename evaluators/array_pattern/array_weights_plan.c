/* array_weights_plan.c: plans and runs optimal weights. */
#include "array_weights_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE_FLAGS(array_weights, ec_weights_args, EC_KERNEL_SERIAL)

typedef struct weights_evaluator {
    ec_evaluator head;
    ec_pattern_memory memory;
    ec_weights_args args;
    char path[200];
} weights_evaluator;

static const ec_weights_setup *setup_of(const ec_plan_info *info)
{
    return (const ec_weights_setup *)info->call->config;
}

void ec_weights_fill(const ec_weights_config *config, ec_weights_args *args)
{
    memset(args, 0, sizeof *args);
    args->method = (int32_t)config->method;
    args->elements = config->elements;
    args->nulls = config->nulls;
    args->interferers = config->interferers;
    args->directions = config->directions;
    args->isotropic = config->noise == EC_NOISE_ISOTROPIC;
    if (config->method == EC_WEIGHTS_LCMV)
        args->matrix = args->isotropic || args->interferers > 0;
    else
        args->matrix = config->method != EC_WEIGHTS_THINNING;
    args->iterations = config->iterations;
    args->loading = config->loading;
    args->exclude = config->exclude;
    args->flat = config->flat;
    args->filled = config->filled;
    args->clip = pow(10.0, 0.05 * config->sll_db);
    args->side_weight = pow(10.0, -0.1 * config->sll_db);
}

static size_t workspace_bytes(const ec_weights_args *args)
{
    ec_weights_work work;

    return ec_round_up(ec_weights_lay_out(args, NULL, &work) * sizeof(double), 256);
}

static void describe_path(const ec_weights_config *config, char *text, size_t size)
{
    switch (config->method) {
    case EC_WEIGHTS_LCMV:
        snprintf(text, size, "LCMV, %d elements, %d nulls, %s noise, %d interferers",
                 config->elements, config->nulls,
                 config->noise == EC_NOISE_ISOTROPIC ? "isotropic" : "white", config->interferers);
        return;
    case EC_WEIGHTS_LEAST_SQUARES:
        snprintf(text, size, "least squares to %g dB, %d elements, %d directions, %d nulls",
                 config->sll_db, config->elements, config->directions, config->nulls);
        return;
    case EC_WEIGHTS_MINIMUM_SLL:
        snprintf(text, size,
                 "minimum side lobes, %d iterations, %d elements, %d directions, "
                 "%d nulls",
                 config->iterations, config->elements, config->directions, config->nulls);
        return;
    case EC_WEIGHTS_THINNING:
        snprintf(text, size,
                 "thinning, %d of %d elements filled, %d directions, at most %d iterations",
                 config->filled, config->elements, config->directions, config->iterations);
        return;
    }
}

int ec_weights_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    const ec_weights_config *config = &setup_of(info)->config;
    weights_evaluator *ev = calloc(1, sizeof *ev);
    size_t bytes = (size_t)config->directions * sizeof(double);

    if (!ev)
        return ec_fail(EC_ERR_MEMORY, "array_weights: no memory for a plan");
    ev->head.def = &ec_evaluator_array_weights;
    ev->head.backend = backend;
    ev->memory.backend = backend;
    ec_weights_args *args = &ev->args;
    ec_weights_fill(config, args);
    for (int i = 0; i < EC_WEIGHTS_INPUTS; i++) {
        args->in[i].lo = info->range[i].lo;
        args->in[i].hi = info->range[i].hi;
    }
    const double *from = setup_of(info)->storage;
    const double **to[3] = {&args->u, &args->v, &args->w};
    int status = EC_OK;
    for (int32_t k = 0; k < 3 && status >= 0 && bytes > 0; k++)
        status = ec_pattern_upload(&ev->memory, from + (ptrdiff_t)k * config->directions, bytes,
                                   (const void **)to[k]);
    args->workspace_bytes = workspace_bytes(args);
    args->teams = ec_pattern_count_teams(info, backend, args->workspace_bytes);
    if (status >= 0)
        status = ec_pattern_reserve(&ev->memory, (size_t)args->teams * args->workspace_bytes,
                                    (void **)&args->workspace);
    if (status < 0) {
        ec_evaluator *handle = &ev->head;
        ec_weights_destroy(&handle);
        return status;
    }
    describe_path(config, ev->path, sizeof ev->path);
    ec_log_write(info->log, EC_LOG_INFO, "array_weights: %s", ev->path);
    *evaluator = &ev->head;
    return EC_OK;
}

void ec_weights_destroy(ec_evaluator **evaluator)
{
    weights_evaluator *ev = (weights_evaluator *)*evaluator;

    if (!ev)
        return;
    ec_pattern_forget(&ev->memory);
    free(ev);
    *evaluator = NULL;
}

void ec_weights_describe(const ec_evaluator *evaluator, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const weights_evaluator *)evaluator)->path);
}

void ec_weights_memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed)
{
    const ec_weights_config *config = &setup_of(info)->config;
    ec_weights_args args;

    ec_weights_fill(config, &args);
    *per_candidate = 0; /* workspaces belong to teams (threads, blocks) */
    *fixed = 3 * sizeof(double) * (size_t)config->directions + 8 * workspace_bytes(&args);
}

int ec_weights_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                   ec_array *const *out, uint8_t *status, size_t n)
{
    ec_weights_args args = ((weights_evaluator *)evaluator)->args;
    ec_backend *backend = evaluator->backend;

    args.n = n;
    args.samples = 1;
    for (int i = 0; i < EC_WEIGHTS_INPUTS; i++) {
        ec_pattern_bind_view(in[i], &args.in[i]);
        args.samples = in[i]->samples > args.samples ? in[i]->samples : args.samples;
    }
    ec_pattern_bind_target(out[EC_WEIGHTS_AMPLITUDE], &args.amplitude);
    ec_pattern_bind_target(out[EC_WEIGHTS_PHASE], &args.phase);
    args.status = status;
    args.stop = exec ? exec->stop : NULL;
    return backend->ops->launch(backend, &ec_kernel_array_weights, &args, n, 1);
}
