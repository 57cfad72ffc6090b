/* array_plan.c: turns a call's configuration and outputs into kernel arguments, and runs them. */
#include "array_internal.h"

#include "array_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE_FLAGS(array_pattern, ec_pattern_args, EC_KERNEL_SERIAL)

enum {
    CUDA_TEAMS_PER_PROCESSOR = 4, /* blocks of the general kernel: each has a workspace */
    ROW_ALIGNMENT = 256,
    QUICK =
        1 << 16 /* points times elements, some 10 us a candidate: not worth a look at the clock */
};

static const ec_array_config *config_of(const ec_call *call)
{
    return &((const ec_pattern_setup *)call->config)->config;
}

static bool reads_row(const ec_pattern_spec *spec)
{
    switch (spec->kind) {
    case EC_METRIC_PATTERN:
    case EC_METRIC_DIRECTIVITY:
    case EC_METRIC_TOWARDS:
    case EC_METRIC_PIECES:
        return false;
    case EC_METRIC_LEVEL:
    case EC_METRIC_NULL_DEPTH:
        return spec->relative;
    default:
        return true;
    }
}

/* ---- what is asked for ---- */

static bool output_is_active(const ec_plan_info *info, int32_t i)
{
    return info->mode == EC_MODE_VJP ? info->adjoint[i] : info->wanted[i];
}

static int check_inputs(const ec_plan_info *info)
{
    if (info->n_in < EC_PATTERN_INPUTS)
        return ec_fail(EC_ERR_INTERNAL, "array_pattern: %d inputs, expected at least %d",
                       info->n_in, EC_PATTERN_INPUTS);
    for (int32_t i = 0; i < EC_PATTERN_INPUTS; i++)
        if (info->in[i].dtype != EC_F64)
            return ec_fail(EC_ERR_TYPE, "array_pattern: input %d is not a real number", i + 1);
    return EC_OK;
}

static bool wants(const ec_plan_info *info, int input)
{
    return info->mode == EC_MODE_VJP && info->wanted[input];
}

/* Metrics whose derivative is not offered. */
static int check_gradient(const ec_plan_info *info)
{
    const ec_call *call = info->call;
    const ec_array_config *config = config_of(call);
    bool steering =
        wants(info, EC_PATTERN_U0) || wants(info, EC_PATTERN_V0) || wants(info, EC_PATTERN_W0);

    for (int32_t i = 0; i < call->n_out; i++) {
        if (!info->adjoint[i])
            continue;
        const ec_pattern_spec *spec = (const ec_pattern_spec *)call->out[i].spec;
        if (spec->kind == EC_METRIC_FNBW)
            return ec_fail(EC_ERR_NO_GRADIENT, "fnbw_deg has no gradient; hpbw_deg has one");
        if (spec->kind == EC_METRIC_POINTING)
            return ec_fail(EC_ERR_NO_GRADIENT, "pointing_error_deg has no gradient");
        bool mean = spec->kind == EC_METRIC_SLL_MEAN;
        if (mean && isnan(spec->beam.exclude_a))
            return ec_fail(EC_ERR_NO_GRADIENT, "sll_mean_db has a gradient only over directions "
                                               "that exclude_* fixes");
        bool follows = isnan(spec->beam.look_a) || isnan(spec->beam.look_b);
        bool cut = ec_pattern_is_cut(config->kind);
        bool samples = spec->kind == EC_METRIC_SOFT || (spec->kind == EC_METRIC_NORM && !cut);
        bool moves = spec->kind == EC_METRIC_SLL || spec->kind == EC_METRIC_DIRECTIVITY ||
                     spec->kind == EC_METRIC_TOWARDS ||
                     (spec->kind == EC_METRIC_EXCESS && config->kind == EC_ARRAY_GRID_UV);
        bool simple = config->kind == EC_ARRAY_CUT_U ||
                      (spec->kind != EC_METRIC_EXCESS && config->kind == EC_ARRAY_GRID_UV);
        if (steering && follows && (mean || samples || (moves && !simple)))
            return ec_fail(
                EC_ERR_NO_GRADIENT,
                "%s has no gradient over the steering direction while the look direction "
                "follows it; give look_* a number",
                call->out[i].name);
    }
    return EC_OK;
}

/* ---- metrics ---- */

static int upload_spec(ec_pattern_memory *memory, const ec_pattern_spec *spec,
                       ec_pattern_metric *metric)
{
    int status = EC_OK;

    memset(metric, 0, sizeof *metric);
    metric->kind = (int32_t)spec->kind;
    metric->relative = spec->relative;
    metric->n = spec->n;
    metric->look_a = spec->beam.look_a;
    metric->look_b = spec->beam.look_b;
    metric->exclude_a = spec->beam.exclude_a;
    metric->exclude_b = spec->beam.exclude_b;
    metric->shape = spec->shape;
    if (spec->lines)
        status = ec_pattern_upload(memory, spec->lines, (size_t)spec->n * sizeof *spec->lines,
                                   (const void **)&metric->lines);
    if (status >= 0 && spec->directions)
        status = ec_pattern_upload(memory, spec->directions,
                                   4 * (size_t)spec->n * sizeof *spec->directions,
                                   (const void **)&metric->directions);
    if (status >= 0 && spec->pieces)
        status =
            ec_pattern_upload(memory, spec->pieces, ((size_t)spec->n + 1) * sizeof *spec->pieces,
                              (const void **)&metric->pieces);
    return status;
}

/* Bytes of one team's workspace; sets the offsets in args. seeds: room for a complex number a sample. */
static size_t lay_out(ec_pattern_args *args, bool flood, bool seeds, bool cuda)
{
    size_t elements = ec_pattern_elements_bytes(args->elements),
           samples = (size_t)args->grid.points;
    size_t points = args->row == EC_ROW_NONE && !args->smooth ? 0 : samples;
    size_t at = ec_round_up(elements, ROW_ALIGNMENT);
    size_t tables = args->row == EC_ROW_NUFFT ? ec_pattern_nufft_bytes(args) : 0;
    size_t back = ec_pattern_back_bytes(args);

    args->at_row = at;
    at += ec_round_up(points * sizeof(float), ROW_ALIGNMENT);
    args->at_adjoint = at;
    at += args->vjp ? ec_round_up(elements, ROW_ALIGNMENT) : 0;
    args->at_field = at;
    at += seeds ? ec_round_up(samples * sizeof(ec_c128), ROW_ALIGNMENT) : 0;
    args->at_level = at;
    at += args->smooth ? ec_round_up(2 * samples * sizeof(double), ROW_ALIGNMENT) : 0;
    args->at_flood = at;
    at += flood ? ec_round_up(points, ROW_ALIGNMENT) : 0;
    args->at_queue = at;
    at += flood && !cuda ? ec_round_up(points * sizeof(int32_t), ROW_ALIGNMENT) : 0;
    args->at_tables = at;
    if (args->row == EC_ROW_PRODUCT) {
        size_t stride = ec_round_up((size_t)args->elements, 8);
        size_t size = args->double_precision ? sizeof(double) : sizeof(float);
        tables = 2 * stride * ((size_t)args->product.rows + (size_t)args->product.padded) * size;
    }
    at += ec_round_up(tables > back ? tables : back, ROW_ALIGNMENT);
    args->at_stage = at;
    args->group = 1;
    if (args->row == EC_ROW_NUFFT && args->fields && !args->smooth && args->n_metrics == 1 &&
        !cuda) {
        args->group = EC_PATTERN_GROUP;
        at += ec_round_up(EC_PATTERN_GROUP * points * sizeof(ec_c128), ROW_ALIGNMENT);
    }
    return at;
}

int32_t ec_pattern_count_teams(const ec_plan_info *info, const ec_backend *backend, size_t bytes)
{
    size_t samples = 1;
    size_t teams = backend->is_cuda ? (size_t)backend->multiprocessors * CUDA_TEAMS_PER_PROCESSOR
                                    : (size_t)backend->threads;

    for (int32_t i = 0; i < info->n_in; i++)
        samples = info->in[i].samples > samples ? info->in[i].samples : samples;
    if (info->max_candidates > 0 && teams > info->max_candidates * samples)
        teams = info->max_candidates * samples;
    if (info->memory_budget > 0 && teams > info->memory_budget / bytes)
        teams = info->memory_budget / bytes;
    return teams > 0 ? (int32_t)teams : 1;
}

typedef struct plan_state {
    const ec_plan_info *info;
    const ec_array_config *config;
    ec_pattern_extent extent;
    ec_pattern_args elements; /* its gain and own */
    ec_pattern_evaluator *evaluator;
} plan_state;

static void init_args(const plan_state *state, ec_pattern_args *args)
{
    const ec_array_config *config = state->config;

    memset(args, 0, sizeof *args);
    for (int32_t i = 0; i < EC_PATTERN_INPUTS; i++) {
        args->in[i].lo = state->info->range[i].lo;
        args->in[i].hi = state->info->range[i].hi;
    }
    args->elements = config->elements;
    args->gain = state->elements.gain;
    args->own = state->elements.own;
    args->planar = state->extent.planar;
    args->compact = state->extent.compact;
    args->vjp = state->info->mode == EC_MODE_VJP;
    args->exact = args->vjp || state->info->fidelity == EC_FINAL;
    args->double_precision = config->precision == EC_PRECISION_DOUBLE ||
                             (config->precision == EC_PRECISION_AUTO && args->exact);
    args->zero_log = args->double_precision ? -64.0 : -27.0; /* 1e-14 and 1e-6 of sum |a| */
}

static void warn_density(const plan_state *state, const ec_pattern_axes *axes)
{
    if (axes->density < 4.0)
        ec_log_write(state->info->log, EC_LOG_WARNING,
                     "array: the grid has %.2g samples per wavelength/aperture; side lobes between "
                     "them go unseen in the search, give it at least 4",
                     axes->density);
    else if (isinf(state->extent.x) || isinf(state->extent.y) || isinf(state->extent.z))
        ec_log_write(state->info->log, EC_LOG_WARNING,
                     "array: a position has no finite range; final grids cannot be sized from it");
}

bool ec_pattern_odd_extent(const ec_pattern_extent *e, int32_t elements, char *text, size_t size)
{
    const double largest = 1000.0, smallest = 1e-3, widest_spacing = 10.0;
    double extent = fmax(e->x, fmax(e->y, e->z));
    bool large = extent > largest && extent > widest_spacing * elements;
    bool small = elements > 1 && extent > 0.0 && extent < smallest;

    if (!isfinite(extent) || !(large || small))
        return false;
    snprintf(text, size,
             "array: its %d elements extend over %.3g wavelengths; are positions and wavelength in "
             "the same unit?",
             elements, extent);
    return true;
}

static void warn_extent(const plan_state *state)
{
    char text[200];

    if (state->info->mode == EC_MODE_RUN &&
        ec_pattern_odd_extent(&state->extent, state->config->elements, text, sizeof text))
        ec_log_write(state->info->log, EC_LOG_WARNING, "%s", text);
}

static bool batch_floods(const plan_state *state, const int32_t *output, int32_t count)
{
    bool flood = false;

    if (state->config->kind != EC_ARRAY_GRID_UV && state->config->kind != EC_ARRAY_GRID_THETA_PHI)
        return false;
    for (int32_t k = 0; k < count; k++) {
        const ec_pattern_spec *spec =
            (const ec_pattern_spec *)state->info->call->out[output[k]].spec;
        bool sides = spec->kind == EC_METRIC_SLL || spec->kind == EC_METRIC_SLL_MEAN;
        flood = flood || (sides && isnan(spec->beam.exclude_a));
    }
    return flood;
}

/* True when an active output of the call is a mean over directions. */
static bool wants_mean(const ec_plan_info *info)
{
    bool mean = false;

    for (int32_t i = 0; i < info->call->n_out; i++) {
        const ec_pattern_spec *spec = (const ec_pattern_spec *)info->call->out[i].spec;
        mean = mean || (spec->kind == EC_METRIC_SLL_MEAN && output_is_active(info, i));
    }
    return mean;
}

/* Outputs that are computed alike: complex patterns, on the grid as given; metrics of all samples by
 * their exact levels; all others. */
enum { PATTERN_BATCH, SMOOTH_BATCH, METRIC_BATCH, BATCHES };

static int batch_of(const plan_state *state, const ec_pattern_spec *spec)
{
    bool vjp = state->info->mode == EC_MODE_VJP, exact = vjp || state->info->fidelity == EC_FINAL;
    bool smooth = spec->kind == EC_METRIC_SOFT || spec->kind == EC_METRIC_NORM;

    if (spec->kind == EC_METRIC_PATTERN)
        return PATTERN_BATCH;
    if ((smooth && exact) || (spec->kind == EC_METRIC_SLL_MEAN && vjp))
        return SMOOTH_BATCH;
    return METRIC_BATCH;
}

/* Metrics output[0 .. count) as one launch. shared: grid and path of an earlier batch, or NULL. */
static int add_batch(plan_state *state, const int32_t *output, int32_t count, int kind,
                     const ec_pattern_args *shared, bool needs_row)
{
    bool pattern = kind == PATTERN_BATCH, smooth = kind == SMOOTH_BATCH;
    ec_pattern_evaluator *ev = state->evaluator;
    ec_pattern_args *args = &ev->batch[ev->n_batches];
    int32_t *index = ev->batch_output + (size_t)ev->n_batches * EC_PATTERN_METRICS_MAX;
    const ec_pattern_setup *setup = (const ec_pattern_setup *)state->info->call->config;
    ec_pattern_axes axes;
    int status = EC_OK;

    init_args(state, args);
    if (shared) {
        *args = *shared;
    } else {
        args->planar = args->planar && !pattern; /* z turns the phase of the pattern itself */
        ec_pattern_axes_use use = pattern                    ? EC_AXES_GIVEN
                                  : args->exact && needs_row ? EC_AXES_FINE
                                                             : EC_AXES_ROW;
        status = ec_pattern_axes_make(state->config, &state->extent, use, &axes);
        if (status < 0)
            return status;
        if (needs_row && !args->exact)
            warn_density(state, &axes);
        args->smooth = smooth;
        args->fields = smooth || (pattern && !args->vjp);
        if (args->fields)
            args->double_precision = smooth || state->config->precision != EC_PRECISION_SINGLE;
        status = ec_pattern_grid_make(&ev->memory, setup, &state->extent, &axes, needs_row, args,
                                      ev->path, sizeof ev->path);
        if (status >= 0 && !pattern && wants_mean(state->info))
            status = ec_pattern_weights_make(&ev->memory, state->config, &axes, args);
        if (status >= 0 && args->vjp && (pattern || smooth))
            status =
                ec_pattern_back_make(&ev->memory, setup, &axes, args, ev->path, sizeof ev->path);
        ec_pattern_axes_free(&axes);
    }
    args->n_metrics = count;
    args->accumulate = ev->n_batches > 0;
    bool directivity = false;
    for (int32_t k = 0; k < count && status >= 0; k++) {
        const ec_pattern_spec *spec =
            (const ec_pattern_spec *)state->info->call->out[output[k]].spec;
        index[k] = output[k];
        directivity = directivity || spec->kind == EC_METRIC_DIRECTIVITY;
        status = upload_spec(&ev->memory, spec, &args->metric[k]);
    }
    if (status >= 0 && directivity)
        status = ec_pattern_power_make(&ev->memory, state->config, &state->extent, args);
    if (status < 0)
        return status;
    const ec_backend *backend = ev->memory.backend;
    args->workspace_bytes = lay_out(args, batch_floods(state, output, count),
                                    smooth || (pattern && args->vjp), backend->is_cuda);
    args->teams = ec_pattern_count_teams(state->info, backend, args->workspace_bytes);
    status = ec_pattern_reserve(&ev->memory, (size_t)args->teams * args->workspace_bytes,
                                (void **)&args->workspace);
    if (status >= 0)
        ev->n_batches++;
    return status;
}

/* Groups the active outputs. */
static int make_batches(plan_state *state)
{
    const ec_plan_info *info = state->info;
    ec_pattern_evaluator *ev = state->evaluator;
    int32_t n = info->call->n_out;
    int32_t *output = malloc(((size_t)n + 1) * sizeof *output);
    int32_t groups = BATCHES + n / EC_PATTERN_METRICS_MAX + 1;
    int status = EC_OK;

    ev->batch = calloc((size_t)groups + 1, sizeof *ev->batch);
    ev->batch_output = calloc(((size_t)groups + 1) * EC_PATTERN_METRICS_MAX, sizeof(int32_t));
    if (!output || !ev->batch || !ev->batch_output) {
        free(output);
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    }
    for (int kind = 0; kind < BATCHES && status >= 0; kind++) {
        int32_t count = 0, first = ev->n_batches;
        bool needs_row = false;
        for (int32_t i = 0; i < n; i++) {
            const ec_pattern_spec *spec = (const ec_pattern_spec *)info->call->out[i].spec;
            if (!output_is_active(info, i) || batch_of(state, spec) != kind)
                continue;
            output[count++] = i;
            needs_row = needs_row || reads_row(spec);
        }
        for (int32_t at = 0; at < count && status >= 0; at += EC_PATTERN_METRICS_MAX) {
            int32_t left = count - at;
            status = add_batch(state, output + at,
                               left < EC_PATTERN_METRICS_MAX ? left : EC_PATTERN_METRICS_MAX, kind,
                               at > 0 ? &ev->batch[first] : NULL, needs_row);
        }
    }
    free(output);
    return status;
}

/* The evaluator, or, counted, only the bytes that it would hold. */
static int make_evaluator(ec_backend *backend, const ec_plan_info *info, bool counted,
                          ec_pattern_evaluator **evaluator)
{
    plan_state state = {.info = info, .config = config_of(info->call)};
    int status = check_inputs(info);

    if (status >= 0 && info->mode == EC_MODE_VJP)
        status = check_gradient(info);
    if (status < 0)
        return status;
    ec_pattern_evaluator *ev = calloc(1, sizeof *ev);
    if (!ev)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    ev->head.def = &ec_evaluator_array_pattern;
    ev->head.backend = backend;
    ev->memory.backend = backend;
    ev->memory.interrupt = info->interrupt;
    ev->memory.counted = counted;
    ev->n_in = info->n_in;
    ev->n_out = info->n_out;
    ev->elements = state.config->elements;
    ev->vjp = info->mode == EC_MODE_VJP;
    ev->n_adjoint = ev->vjp ? info->call->n_out : 0;
    ev->flags = calloc((size_t)ev->n_adjoint + 1, sizeof *ev->flags);
    if (ev->flags && ev->vjp)
        memcpy(ev->flags, info->adjoint, (size_t)ev->n_adjoint * sizeof *ev->flags);
    ev->adjoint = ev->flags;
    state.evaluator = ev;
    snprintf(ev->path, sizeof ev->path, "float64 sums over %d elements", ev->elements);
    ec_pattern_measure(info, state.config, &state.extent);
    if (info->fidelity == EC_SEARCH && info->log)
        warn_extent(&state);
    status = ev->flags ? ec_pattern_elements_make(&ev->memory,
                                                  (const ec_pattern_setup *)info->call->config,
                                                  &state.elements)
                       : ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    if (status >= 0)
        status = make_batches(&state);
    if (status < 0) {
        ec_evaluator *handle = &ev->head;
        ec_pattern_destroy(&handle);
        return status;
    }
    ev->memory.interrupt = NULL; /* of the plan only */
    *evaluator = ev;
    return EC_OK;
}

int ec_pattern_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    ec_pattern_evaluator *ev = NULL;
    int status = make_evaluator(backend, info, false, &ev);

    if (status < 0)
        return status;
    ec_log_write(info->log, EC_LOG_INFO, "array_pattern: %s", ev->path);
    *evaluator = &ev->head;
    return EC_OK;
}

void ec_pattern_destroy(ec_evaluator **evaluator)
{
    ec_pattern_evaluator *ev = (ec_pattern_evaluator *)*evaluator;

    if (!ev)
        return;
    ec_pattern_forget(&ev->memory);
    free(ev->batch);
    free(ev->batch_output);
    free(ev->flags);
    free(ev);
    *evaluator = NULL;
}

void ec_pattern_describe(const ec_evaluator *evaluator, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const ec_pattern_evaluator *)evaluator)->path);
}

/* What the plan would hold: workspaces belong to teams (threads, blocks), not to candidates. An error is
 * told by the plan. */
void ec_pattern_memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed)
{
    ec_plan_info quiet = *info;
    ec_log silent = {EC_LOG_ERROR, NULL, NULL};
    ec_pattern_evaluator *ev = NULL;

    quiet.log = &silent;
    *per_candidate = *fixed = 0;
    if (make_evaluator(info->backend, &quiet, true, &ev) < 0)
        return;
    *fixed = ev->memory.bytes;
    ec_evaluator *handle = &ev->head;
    ec_pattern_destroy(&handle);
}

/* ---- run ---- */

static size_t count_samples(const ec_pattern_evaluator *ev, const ec_array *const *in)
{
    size_t samples = 1;

    for (int32_t i = 0; i < ev->n_in; i++)
        samples = in[i]->samples > samples ? in[i]->samples : samples;
    return samples;
}

/* Position of output i's adjoint among the inputs (they follow the call's own, in order). */
static int32_t adjoint_input(const ec_pattern_evaluator *ev, int32_t output)
{
    int32_t at = EC_PATTERN_INPUTS;

    for (int32_t i = 0; i < output; i++)
        at += ev->adjoint[i];
    return at;
}

int ec_pattern_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                   ec_array *const *out, uint8_t *status, size_t n)
{
    ec_pattern_evaluator *ev = (ec_pattern_evaluator *)evaluator;
    ec_backend *backend = evaluator->backend;
    int result = EC_OK;
    bool undefined = exec && exec->status_undefined;
    /* one metric is one task a design: it can write the status byte */
    bool fresh = undefined && ev->n_batches == 1 && ev->batch[0].n_metrics == 1 &&
                 count_samples(ev, in) == 1;

    if (undefined && !fresh)
        result = backend->ops->fill(backend, status, 0, n);
    for (int32_t b = 0; b < ev->n_batches && result >= 0; b++) {
        ec_pattern_args args = ev->batch[b];
        const int32_t *output = ev->batch_output + (size_t)b * EC_PATTERN_METRICS_MAX;
        args.n = n;
        args.samples = count_samples(ev, in);
        args.status = status;
        args.fresh = fresh;
        args.stop = exec ? exec->stop : NULL;
        if (n < 4 * (size_t)args.group * (size_t)args.teams) /* all threads have work */
            args.group = 1;
        double work = (double)args.grid.points * args.elements;
        ec_pattern_watch watch = {.interrupt = exec ? exec->interrupt : NULL};
        args.watch = watch.interrupt && backend->host_memory && work > QUICK ? &watch : NULL;
        for (int32_t i = 0; i < EC_PATTERN_INPUTS; i++)
            ec_pattern_bind_view(in[i], &args.in[i]);
        for (int32_t k = 0; k < args.n_metrics; k++) {
            ec_pattern_bind_target(ev->vjp ? NULL : out[output[k]], &args.metric[k].out);
            if (ev->vjp)
                ec_pattern_bind_view(in[adjoint_input(ev, output[k])], &args.metric[k].seed);
        }
        for (int32_t i = 0; i < EC_PATTERN_INPUTS; i++)
            ec_pattern_bind_target(ev->vjp ? out[i] : NULL, &args.grad[i]);
        if (args.row == EC_ROW_NUFFT && backend->is_cuda)
            result = ec_pattern_nufft_run(&ev->memory, &ec_kernel_array_pattern, &args);
        else
            result = backend->ops->launch(backend, &ec_kernel_array_pattern, &args, n, 1);
        if (result >= 0 && watch.ended)
            result = EC_STOPPED;
    }
    return result;
}
