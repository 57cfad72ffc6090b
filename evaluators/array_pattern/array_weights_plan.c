/* array_weights_plan.c: plans and runs optimal weights. */
#include "array_weights_internal.h"

#include "array_weights_rows.h"
#include "array_power.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE_FLAGS(array_weights, ec_weights_args, EC_KERNEL_SERIAL)

enum { QUICK = 1 << 16 }; /* multiply-adds a candidate that are not worth a look at the clock */

typedef struct weights_evaluator {
    ec_evaluator head;
    ec_pattern_memory memory;
    ec_weights_args args;
    bool adjoint[EC_WEIGHTS_OUTPUTS]; /* VJP: which outputs have one */
    char path[320];
} weights_evaluator;

static const ec_weights_setup *setup_of(const ec_plan_info *info)
{
    return (const ec_weights_setup *)info->call->config;
}

/* ---- gradients ---- */

int ec_weights_gradient(const ec_call *call)
{
    ec_weights_method method = ((const ec_weights_setup *)call->config)->config.method;

    if (method == EC_WEIGHTS_MINIMUM_SLL)
        return ec_fail(
            EC_ERR_NO_GRADIENT,
            "weights of ec.optimal with method = 'minimum_sll' have no gradient: the best "
            "of several rounds changes by jumps ('least_squares' and 'lcmv' have one)");
    if (method == EC_WEIGHTS_THINNING)
        return ec_fail(
            EC_ERR_NO_GRADIENT,
            "weights of ec.optimal with method = 'thinning' have no gradient: they are 0 "
            "or 1");
    return EC_OK;
}

static int check_gradient(const ec_plan_info *info)
{
    static const char *const names[EC_WEIGHTS_INPUTS] = {
        [EC_WEIGHTS_WAVELENGTH] = "wavelength while ports are coupled",
        [EC_WEIGHTS_U0] = "look_u",
        [EC_WEIGHTS_V0] = "look_v",
        [EC_WEIGHTS_W0] = "the look direction",
        [EC_WEIGHTS_NULL_U] = "null_u",
        [EC_WEIGHTS_NULL_V] = "null_v",
        [EC_WEIGHTS_NULL_W] = "the nulls' directions",
        [EC_WEIGHTS_NOISE_U] = "interference_u",
        [EC_WEIGHTS_NOISE_V] = "interference_v",
        [EC_WEIGHTS_NOISE_W] = "the interferers' directions",
        [EC_WEIGHTS_NOISE_POWER] = "interference_db",
        [EC_WEIGHTS_START] = "start"};
    bool coupled = setup_of(info)->n_frequencies > 0;

    for (int i = EC_WEIGHTS_WAVELENGTH; i < EC_WEIGHTS_INPUTS; i++)
        if (info->wanted[i] && (i != EC_WEIGHTS_WAVELENGTH || coupled))
            return ec_fail(EC_ERR_NO_GRADIENT,
                           "weights of ec.optimal have a gradient over positions, not over %s",
                           names[i]);
    return EC_OK;
}

/* ---- what a kernel needs ---- */

/* Of the configuration; pointers and strides are left open. */
static void fill_args(const ec_weights_setup *setup, ec_weights_args *args)
{
    const ec_weights_config *config = &setup->config;
    const ec_array_config *array = &setup->array.config;
    bool own = ec_pattern_has_own(array);

    memset(args, 0, sizeof *args);
    args->method = (int32_t)config->method;
    args->elements = config->elements;
    args->nulls = config->nulls;
    args->interferers = config->interferers;
    args->directions = config->directions;
    if (config->method == EC_WEIGHTS_LCMV) {
        args->isotropic = config->noise == EC_NOISE_ISOTROPIC;
        args->matrix = args->isotropic || args->interferers > 0;
    } else {
        args->matrix = config->method != EC_WEIGHTS_THINNING;
    }
    args->iterations = config->iterations;
    args->loading = config->loading;
    args->exclude = config->exclude;
    args->flat = config->flat;
    args->filled = config->filled;
    args->clip = pow(10.0, 0.05 * config->sll_db);
    args->side_weight = pow(10.0, -0.1 * config->sll_db);
    args->parts = ec_weights_parts(array);
    args->part[0] = (int32_t)(args->parts > 1 ? EC_POLARIZATION_CO : array->polarization);
    args->part[1] = (int32_t)EC_POLARIZATION_CROSS;
    args->node_parts = own ? 2 : 1;
    args->node_part[0] = (int32_t)EC_POLARIZATION_CO;
    args->node_part[1] = (int32_t)EC_POLARIZATION_CROSS;
}

/* What the directions of the grid and the nodes of the noise are, in the making. */
typedef struct known {
    size_t count;      /* of both */
    double *direction; /* u, v, w [count] */
    double *weight;    /* [nodes] */
} known;

/* Extents over all designs, in wavelengths. */
static void measure(const ec_plan_info *info, ec_pattern_extent *extent)
{
    double *along[3] = {&extent->x, &extent->y, &extent->z};
    double shortest = info->range[EC_WEIGHTS_WAVELENGTH].lo;

    for (int k = 0; k < 3; k++) {
        const ec_interval *r = &info->range[EC_WEIGHTS_X + k];
        *along[k] = ec_pattern_is_single(info, EC_WEIGHTS_X + k) ? 0.0 : (r->hi - r->lo) / shortest;
        if (!(*along[k] <= 1e9))
            *along[k] = (double)INFINITY;
    }
    extent->planar = extent->z <= 0.0;
}

/* The isotropic noise: pairs, or nodes into list. */
static int choose_noise(weights_evaluator *ev, const ec_plan_info *info, size_t *nodes,
                        double **list)
{
    const ec_array_config *array = &setup_of(info)->array.config;
    ec_weights_args *args = &ev->args;
    ec_pattern_extent extent = {0};
    double slope;

    if (!args->isotropic)
        return EC_OK;
    measure(info, &extent);
    int status = EC_OK;
    if (args->ports.count == 0) /* coupled ports need rows */
        status = ec_pattern_power_pairs(&ev->memory, array, &extent, &args->power);
    if (status < 0)
        return status;
    if (!args->power.closed)
        return ec_pattern_power_nodes(&ev->memory, array, &extent, nodes, list);
    ec_pattern_power here = args->power;
    double first[4] = {0.0};
    if (here.samples > 0) { /* the table lies on the backend */
        ec_backend *backend = ev->memory.backend;
        status = backend->ops->download(backend, first, here.table, sizeof first);
        here.table = first;
        here.samples = 2;
    }
    args->pair_scale = 1.0 / ec_pair_kernel(&here, 0.0, &slope);
    return status;
}

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "array_weights: no memory for a plan");
}

/* |E| of the element in common towards the directions; a node's weight holds it already. */
static int upload_levels(weights_evaluator *ev, const ec_array_config *array, const known *k)
{
    size_t grid = (size_t)ev->args.directions;
    ec_weights_args host = {0};

    ec_pattern_gain_of(array, array->polarization, &host.gain);
    if (host.gain.form == EC_GAIN_ONE)
        return EC_OK;
    double *level = malloc((k->count + 1) * sizeof *level);
    if (!level)
        return no_memory();
    for (size_t i = 0; i < k->count; i++) {
        ec_direction d = {k->direction[i], k->direction[k->count + i],
                          k->direction[2 * k->count + i]};
        level[i] = i < grid ? ec_weights_level(&host, d) : 1.0;
    }
    int status = k->count > 0 ? ec_pattern_upload(&ev->memory, level, k->count * sizeof *level,
                                                  (const void **)&ev->args.level)
                              : EC_OK;
    free(level);
    return status;
}

/* Fields of elements of their own towards the directions, in each part, [rows][stride]. */
static void find_fields(const ec_weights_args *args, const ec_array_config *array, const known *k,
                        int threads, double *re, double *im)
{
    int32_t parts = args->parts, grid = args->directions * parts;
    int32_t rows = grid + args->nodes * args->node_parts;
    size_t stride = (size_t)ec_weights_stride(args->elements);
    ec_pattern_own own;

    ec_pattern_own_of(array, &own);
    own.size = 1.0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int32_t i = 0; i < rows; i++) {
        bool node = i >= grid;
        int32_t part =
            node ? args->node_part[(i - grid) % args->node_parts] : args->part[i % parts];
        size_t at = (size_t)(node ? args->directions + (i - grid) / args->node_parts : i / parts);
        ec_direction d = {k->direction[at], k->direction[k->count + at],
                          k->direction[2 * k->count + at]};
        ec_pattern_gain gain;
        double unit[3];
        ec_pattern_gain_of(array, (ec_array_polarization)part, &gain);
        ec_gain_unit(&gain, d, unit);
        for (int32_t m = 0; m < args->elements; m++) {
            ec_c128 e[3];
            ec_own_field(&own, m, d, unit, e);
            re[(size_t)i * stride + (size_t)m] = e[0].re;
            im[(size_t)i * stride + (size_t)m] = e[0].im;
        }
    }
}

static int upload_fields(weights_evaluator *ev, const ec_array_config *array, const known *k)
{
    ec_weights_args *args = &ev->args;
    size_t rows = (size_t)args->directions * (size_t)args->parts +
                  (size_t)args->nodes * (size_t)args->node_parts;
    size_t stride = (size_t)ec_weights_stride(args->elements), size = rows * stride;

    if (!ec_pattern_has_own(array) || rows == 0)
        return EC_OK;
    double *field = calloc(2 * size, sizeof *field);
    if (!field)
        return no_memory();
    find_fields(args, array, k, ev->memory.backend->threads, field, field + size);
    /* the noise of one element, the mean of all, is 1 */
    double noise = 0.0;
    size_t first = (size_t)args->directions * (size_t)args->parts;
    for (size_t i = first; i < rows; i++)
        for (size_t m = 0; m < stride; m++) {
            double re = field[i * stride + m], im = field[size + i * stride + m];
            noise += k->weight[(i - first) / (size_t)args->node_parts] * (re * re + im * im);
        }
    for (int32_t i = 0; i < args->nodes; i++)
        k->weight[i] *= args->elements / noise;
    int status =
        ec_pattern_upload(&ev->memory, field, size * sizeof *field, (const void **)&args->field.re);
    if (status >= 0)
        status = ec_pattern_upload(&ev->memory, field + size, size * sizeof *field,
                                   (const void **)&args->field.im);
    free(field);
    return status;
}

/* Directions and nodes with what the elements do there. */
static int make_known(weights_evaluator *ev, const ec_weights_setup *setup, size_t nodes,
                      const double *list)
{
    const double most = 16777216.0; /* as of the grid */
    ec_weights_args *args = &ev->args;
    size_t grid = (size_t)args->directions;
    known k = {.count = grid + nodes};
    int status = EC_OK;

    args->nodes = (int32_t)nodes;
    if ((double)nodes * args->node_parts * args->elements > most)
        return ec_fail(
            EC_ERR_UNSUPPORTED,
            "optimal: isotropic noise of these elements takes %d directions, times %d "
            "elements that is more than %g; bound the positions, or take noise = 'white'",
            args->nodes, args->elements, most);
    k.direction = malloc((3 * k.count + nodes + 1) * sizeof *k.direction);
    if (!k.direction)
        return no_memory();
    k.weight = k.direction + 3 * k.count;
    for (size_t i = 0; i < 3; i++) {
        if (grid > 0)
            memcpy(k.direction + i * k.count, setup->storage + i * grid,
                   grid * sizeof *k.direction);
        if (nodes > 0)
            memcpy(k.direction + i * k.count + grid, list + i * nodes, nodes * sizeof *list);
    }
    double sum = 0.0;
    for (size_t i = 0; i < nodes; i++)
        sum += list[3 * nodes + i];
    bool own = ec_pattern_has_own(&setup->array.config);
    for (size_t i = 0; i < nodes; i++)
        k.weight[i] = list[3 * nodes + i] / (own ? 1.0 : sum);
    status = upload_levels(ev, &setup->array.config, &k);
    if (status >= 0)
        status = upload_fields(ev, &setup->array.config, &k);
    const double **to[3] = {&args->u, &args->v, &args->w};
    for (size_t i = 0; i < 3 && status >= 0 && k.count > 0; i++)
        status = ec_pattern_upload(&ev->memory, k.direction + i * k.count,
                                   k.count * sizeof *k.direction, (const void **)to[i]);
    if (status >= 0 && nodes > 0)
        status = ec_pattern_upload(&ev->memory, k.weight, nodes * sizeof *k.weight,
                                   (const void **)&args->share);
    free(k.direction);
    return status;
}

static int upload_ports(weights_evaluator *ev, const ec_weights_setup *setup)
{
    ec_weights_ports *ports = &ev->args.ports;
    size_t n = (size_t)setup->config.elements, count = (size_t)setup->n_frequencies;
    size_t size = 2 * count * n * (size_t)ec_weights_stride((int32_t)n);

    ports->count = setup->n_frequencies;
    if (count == 0)
        return EC_OK;
    int status = ec_pattern_upload(&ev->memory, setup->frequency, count * sizeof(double),
                                   (const void **)&ports->frequency);
    if (status >= 0)
        status = ec_pattern_upload(&ev->memory, setup->frequency + count, size * sizeof(double),
                                   (const void **)&ports->matrix);
    return status;
}

/* ---- thinning by FFT ---- */

/* Seconds of a multiply-add of complex numbers on one core, over many of them. */
static const double COST_TERM = 0.5e-9;

static int make_transform(weights_evaluator *ev, const ec_weights_setup *setup, int32_t type,
                          const ec_nufft_args **plan, double *cost)
{
    ec_nufft_info info = {.type = type,
                          .dim = setup->count[1] > 1 ? 2 : 1,
                          .modes = {setup->count[0], setup->count[1]},
                          .points = setup->config.elements,
                          .double_precision = true,
                          .sign = type == 1 ? 1 : -1,
                          .tolerance = 1e-11};
    ec_nufft **to = &ev->memory.nufft[ev->memory.n_nufft];

    int status = ec_nufft_create(ev->memory.backend, &info, to);
    if (status < 0)
        return status;
    ev->memory.n_nufft++;
    *plan = ec_nufft_plan_args(*to);
    *cost += ec_nufft_cost(*to);
    return EC_OK;
}

/* Transforms instead of sums where they are predicted to be faster, or sums would not fit. */
static int choose_lattice(weights_evaluator *ev, const ec_plan_info *info)
{
    const double most = 16777216.0;
    const ec_weights_setup *setup = setup_of(info);
    ec_weights_args *args = &ev->args;
    ec_weights_lattice *grid = &args->lattice, made = {0};
    double sums = (double)args->directions * args->elements, cost = 0.0;
    bool planar = ec_pattern_is_single(info, EC_WEIGHTS_Z), host = ev->memory.backend->host_memory;

    if (args->method != EC_WEIGHTS_THINNING)
        return EC_OK;
    bool possible = setup->count[0] > 0 && planar && host;
    if (!possible && sums <= most)
        return EC_OK;
    if (!possible)
        return ec_fail(
            EC_ERR_UNSUPPORTED,
            "optimal: thinning of %d elements on %d directions needs FFTs, which %s",
            args->elements, args->directions,
            !host ? "run on the CPU (--backend cpu)"
                  : "are for elements in a plane z, and directions evenly spaced in u and v");
    int status = make_transform(ev, setup, 1, &made.to_modes, &cost);
    if (status >= 0)
        status = make_transform(ev, setup, 2, &made.to_elements, &cost);
    if (status < 0 || (sums <= most && cost >= 2.0 * sums * COST_TERM))
        return status;
    size_t n = (size_t)args->elements, modes = (size_t)setup->count[0] * (size_t)setup->count[1];
    size_t work = made.to_modes->workspace_bytes > made.to_elements->workspace_bytes
                      ? made.to_modes->workspace_bytes
                      : made.to_elements->workspace_bytes;
    for (int k = 0; k < 2; k++)
        made.count[k] = setup->count[k];
    made.step_u = setup->step[0];
    made.step_v = setup->step[1];
    made.centre_u = setup->first[0] + (setup->count[0] / 2) * setup->step[0];
    made.centre_v = setup->first[1] + (setup->count[1] / 2) * setup->step[1];
    made.at_strength = ec_round_up(2 * n * sizeof(double), 64);
    made.at_mode = made.at_strength + ec_round_up(n * sizeof(ec_c128), 64);
    made.at_work = made.at_mode + ec_round_up(modes * sizeof(ec_c128), 64);
    made.bytes = made.at_work + work;
    *grid = made;
    return ec_pattern_upload(&ev->memory, setup->mode, (size_t)args->directions * sizeof(int32_t),
                             (const void **)&grid->mode);
}

/* ---- plan ---- */

static size_t workspace_bytes(const ec_weights_args *args)
{
    ec_weights_work work;

    return ec_round_up(ec_weights_lay_out(args, NULL, &work) * sizeof(double), 256);
}

static void describe_path(const ec_weights_setup *setup, const ec_weights_args *args, char *text,
                          size_t size)
{
    const ec_weights_config *config = &setup->config;
    char more[120];

    snprintf(more, sizeof more, "%s%s%s",
             args->own.parts   ? ", elements of their own"
             : args->gain.form ? ", with the element's pattern"
                               : "",
             ec_pattern_polarization_text(&setup->array.config),
             args->ports.count > 0 ? ", coupled ports" : "");
    switch (config->method) {
    case EC_WEIGHTS_LCMV:
        snprintf(text, size, "LCMV, %d elements, %d nulls, %s noise%s, %d interferers%s",
                 config->elements, config->nulls,
                 config->noise == EC_NOISE_ISOTROPIC ? "isotropic" : "white",
                 args->nodes > 0 ? " by quadrature" : "", config->interferers, more);
        return;
    case EC_WEIGHTS_LEAST_SQUARES:
        snprintf(text, size, "least squares to %g dB, %d elements, %d directions, %d nulls%s",
                 config->sll_db, config->elements, config->directions, config->nulls, more);
        return;
    case EC_WEIGHTS_MINIMUM_SLL:
        snprintf(text, size,
                 "minimum side lobes, %d iterations, %d elements, %d directions, "
                 "%d nulls%s",
                 config->iterations, config->elements, config->directions, config->nulls, more);
        return;
    case EC_WEIGHTS_THINNING:
        snprintf(text, size,
                 "thinning%s, %d of %d elements filled, %d directions, at most %d iterations%s",
                 args->lattice.count[0] > 0 ? " by FFT" : "", config->filled, config->elements,
                 config->directions, config->iterations, more);
        return;
    }
}

static int make_plan(weights_evaluator *ev, const ec_plan_info *info)
{
    const ec_weights_setup *setup = setup_of(info);
    ec_weights_args *args = &ev->args;
    ec_pattern_args elements;
    size_t nodes = 0;
    double *list = NULL;

    memset(&elements, 0, sizeof elements);
    for (int i = 0; i < EC_WEIGHTS_INPUTS; i++) {
        args->in[i].lo = info->range[i].lo;
        args->in[i].hi = info->range[i].hi;
    }
    args->vjp = info->mode == EC_MODE_VJP;
    int status = upload_ports(ev, setup);
    if (status >= 0)
        status = ec_pattern_elements_make(&ev->memory, &setup->array, &elements);
    args->gain = elements.gain;
    args->own = elements.own;
    args->own.size = 1.0;
    if (status >= 0)
        status = choose_noise(ev, info, &nodes, &list);
    if (status >= 0)
        status = make_known(ev, setup, nodes, list);
    free(list);
    if (status >= 0)
        status = choose_lattice(ev, info);
    if (status < 0)
        return status;
    args->workspace_bytes = workspace_bytes(args);
    args->teams = ec_pattern_count_teams(info, ev->memory.backend, args->workspace_bytes);
    return ec_pattern_reserve(&ev->memory, (size_t)args->teams * args->workspace_bytes,
                              (void **)&args->workspace);
}

int ec_weights_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    int status = info->mode == EC_MODE_VJP ? check_gradient(info) : EC_OK;

    if (status < 0)
        return status;
    weights_evaluator *ev = calloc(1, sizeof *ev);
    if (!ev)
        return no_memory();
    ev->head.def = &ec_evaluator_array_weights;
    ev->head.backend = backend;
    ev->memory.backend = backend;
    fill_args(setup_of(info), &ev->args);
    if (info->mode == EC_MODE_VJP)
        for (int i = 0; i < EC_WEIGHTS_OUTPUTS; i++)
            ev->adjoint[i] = info->adjoint[i];
    status = make_plan(ev, info);
    if (status < 0) {
        ec_evaluator *handle = &ev->head;
        ec_weights_destroy(&handle);
        return status;
    }
    describe_path(setup_of(info), &ev->args, ev->path, sizeof ev->path);
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
    const ec_weights_setup *setup = setup_of(info);
    ec_weights_args args;

    fill_args(setup, &args);
    args.vjp = info->mode == EC_MODE_VJP;
    args.ports.count = setup->n_frequencies;
    args.lattice.count[0] = setup->count[0];
    *per_candidate = 0; /* workspaces belong to teams (threads, blocks) */
    *fixed = 3 * sizeof(double) * (size_t)args.directions + 8 * workspace_bytes(&args);
}

int ec_weights_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                   ec_array *const *out, uint8_t *status, size_t n)
{
    const weights_evaluator *ev = (const weights_evaluator *)evaluator;
    ec_weights_args args = ev->args;
    ec_backend *backend = evaluator->backend;

    args.n = n;
    args.samples = 1;
    for (int i = 0; i < EC_WEIGHTS_INPUTS; i++) {
        ec_pattern_bind_view(in[i], &args.in[i]);
        args.samples = in[i]->samples > args.samples ? in[i]->samples : args.samples;
    }
    if (args.vjp) {
        int at = EC_WEIGHTS_INPUTS;
        for (int i = 0; i < EC_WEIGHTS_OUTPUTS; i++)
            if (ev->adjoint[i])
                ec_pattern_bind_view(in[at++], &args.seed[i]);
        for (int i = EC_WEIGHTS_X; i <= EC_WEIGHTS_WAVELENGTH; i++)
            ec_pattern_bind_target(out[i], &args.grad[i]);
    } else {
        ec_pattern_bind_target(out[EC_WEIGHTS_AMPLITUDE], &args.amplitude);
        ec_pattern_bind_target(out[EC_WEIGHTS_PHASE], &args.phase);
    }
    args.status = status;
    args.stop = exec ? exec->stop : NULL;
    ec_pattern_watch watch = {.interrupt = exec ? exec->interrupt : NULL};
    double work = (double)args.elements * (args.elements + args.directions + args.nodes);
    args.watch = watch.interrupt && backend->host_memory && work > QUICK ? &watch : NULL;
    int result = backend->ops->launch(backend, &ec_kernel_array_weights, &args, n, 1);
    return result >= 0 && watch.ended ? EC_STOPPED : result;
}
