/* array_weights.c: calls of optimal weights as a script makes them, with a sentence for each
 * mistake. */
#include "array_weights_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void setup_destroy(void *setup)
{
    ec_weights_setup *own = (ec_weights_setup *)setup;

    if (!own)
        return;
    free(own->storage);
    free(own->mode);
    free(own->frequency);
    ec_pattern_elements_free(&own->array);
    free(own);
}

const ec_evaluator_def ec_evaluator_array_weights = {
    .name = "array_weights",
    .flags = EC_EVALUATOR_CAPTURABLE | EC_EVALUATOR_HAS_VJP,
    .plan = ec_weights_plan,
    .run = ec_weights_run,
    .destroy = ec_weights_destroy,
    .memory = ec_weights_memory_needs,
    .describe = ec_weights_describe,
    .config_destroy = setup_destroy,
    .gradient = ec_weights_gradient,
    .fingerprint = ec_weights_fingerprint,
};

void ec_weights_config_default(ec_weights_config *config)
{
    memset(config, 0, sizeof *config);
    config->iterations = EC_WEIGHTS_ITERATIONS;
    config->sll_db = -30.0;
}

void ec_weights_inputs_default(ec_weights_inputs *inputs)
{
    ec_weights_inputs none = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

    *inputs = none;
}

/* ---- the configuration ---- */

static int check_grid_method(const ec_weights_config *config)
{
    if (config->directions < 2 || !config->u || !config->v)
        return ec_fail(EC_ERR_ARGUMENT, "optimal: %d directions, this method needs a grid of them",
                       config->directions);
    for (int32_t i = 0; i < config->directions; i++)
        if (!isfinite(config->u[i]) || !isfinite(config->v[i]))
            return ec_fail(EC_ERR_RANGE, "optimal: direction %d is not finite", i + 1);
    if (!(config->exclude > 0.0 && config->exclude <= 2.0))
        return ec_fail(EC_ERR_RANGE,
                       "optimal: exclude_u, half of the main beam, is %g, allowed is above 0 to 2",
                       config->exclude);
    bool target = config->method == EC_WEIGHTS_LEAST_SQUARES;
    bool level = target || config->method == EC_WEIGHTS_THINNING;
    if (level && !(config->sll_db < 0.0 && config->sll_db >= -200.0))
        return ec_fail(EC_ERR_RANGE, "optimal: sll_db is %g, allowed is -200 to below 0",
                       config->sll_db);
    if (target) {
        if (!(config->flat >= 0.0 && config->flat < config->exclude))
            return ec_fail(EC_ERR_RANGE,
                           "optimal: flat_u is %g, allowed is 0 to below exclude_u, %g",
                           config->flat, config->exclude);
    } else if (config->iterations < 1 || config->iterations > 1000) {
        return ec_fail(EC_ERR_RANGE, "optimal: iterations is %d, allowed is 1 to 1000",
                       config->iterations);
    }
    return EC_OK;
}

int32_t ec_weights_parts(const ec_array_config *array)
{
    return ec_pattern_has_own(array) && array->polarization == EC_POLARIZATION_TOTAL ? 2 : 1;
}

/* The elements' fields, which thinning wants to be alike. */
static int check_elements(const ec_weights_config *config)
{
    if (!config->array)
        return EC_OK;
    ec_array_config array = *config->array;
    array.elements = config->elements;
    array.method = EC_METHOD_AUTO;
    if (config->method == EC_WEIGHTS_THINNING && ec_pattern_has_own(&array))
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "optimal: thinning is the transform of one array factor: it needs elements "
                       "that are alike, not normals or patterns of their own");
    return ec_pattern_elements_check(&array);
}

static int check_config(const ec_weights_config *config)
{
    int32_t n = config->elements, parts = config->array ? ec_weights_parts(config->array) : 1;
    int32_t most =
        config->method == EC_WEIGHTS_THINNING ? EC_WEIGHTS_THINNED_MAX : EC_WEIGHTS_ELEMENTS_MAX;

    if (n < 1 || n > most)
        return ec_fail(EC_ERR_RANGE, "optimal: %d elements, allowed is 1 to %d", n, most);
    if (config->nulls < 0 || config->interferers < 0)
        return ec_fail(EC_ERR_ARGUMENT, "optimal: %d nulls and %d interferers", config->nulls,
                       config->interferers);
    if (config->nulls > (n - 1) / parts)
        return ec_fail(EC_ERR_RANGE,
                       "optimal: %d nulls are more than %d elements can have: at most %d, as the "
                       "look direction takes one%s",
                       config->nulls, n, (n - 1) / parts,
                       parts > 1 ? " and each null two, one a polarization" : "");
    if (config->method == EC_WEIGHTS_THINNING && config->coupling)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "optimal: thinning has elements that are on or off, coupled ports feed all "
                       "of them; it has no coupling");
    int status = check_elements(config);
    if (status < 0)
        return status;
    if (!(config->loading >= 0.0 && isfinite(config->loading)))
        return ec_fail(EC_ERR_RANGE, "optimal: loading is %g, it must be at least 0",
                       config->loading);
    switch (config->method) {
    case EC_WEIGHTS_LCMV:
        if (config->noise != EC_NOISE_WHITE && config->noise != EC_NOISE_ISOTROPIC)
            return ec_fail(EC_ERR_ARGUMENT, "optimal: noise %d is unknown", (int)config->noise);
        return EC_OK;
    case EC_WEIGHTS_LEAST_SQUARES:
    case EC_WEIGHTS_MINIMUM_SLL:
        return check_grid_method(config);
    case EC_WEIGHTS_THINNING:
        if (config->nulls > 0)
            return ec_fail(EC_ERR_ARGUMENT, "optimal: thinning has no nulls");
        if (config->filled < 1 || config->filled > n)
            return ec_fail(EC_ERR_RANGE, "optimal: filled is %d, allowed is 1 to %d, the elements",
                           config->filled, n);
        return check_grid_method(config);
    }
    return ec_fail(EC_ERR_ARGUMENT, "optimal: method %d is unknown", (int)config->method);
}

static bool has_grid(const ec_weights_config *config)
{
    return config->method != EC_WEIGHTS_LCMV;
}

/* Whether a[0], a[stride], .. ascend in even steps. */
static bool is_even(const double *a, size_t stride, int32_t n)
{
    double span = a[(size_t)(n - 1) * stride] - a[0];

    for (int32_t i = 1; i < n - 1; i++)
        if (fabs(a[(size_t)i * stride] - (a[0] + span * i / (n - 1))) > 1e-11 * (span + fabs(a[0])))
            return false;
    return span > 0.0;
}

/* Recognises a regular grid: u by u, each with the same v. */
static void find_regular(const ec_weights_config *config, ec_weights_setup *own)
{
    const double *u = config->u, *v = config->v;
    int32_t n = config->directions, nv = 1;

    while (nv < n && u[nv] == u[0])
        nv++;
    int32_t nu = n / nv;
    if (nu < 2 || nu * nv != n)
        return;
    for (int32_t i = 0; i < n; i++)
        if (u[i] != u[i - i % nv] || v[i] != v[i % nv])
            return;
    if (!is_even(u, (size_t)nv, nu) || (nv > 1 && !is_even(v, 1, nv)))
        return;
    own->count[0] = nu;
    own->count[1] = nv;
    own->first[0] = u[0];
    own->first[1] = v[0];
    own->step[0] = (u[n - 1] - u[0]) / (nu - 1);
    own->step[1] = nv > 1 ? (v[nv - 1] - v[0]) / (nv - 1) : 0.0;
}

/* The visible part of the grid. */
static int copy_grid(const ec_weights_config *config, ec_weights_setup *own)
{
    size_t n = (size_t)config->directions, count = 0;

    own->storage = malloc((3 * n + 1) * sizeof *own->storage);
    own->mode = malloc((n + 1) * sizeof *own->mode);
    if (!own->storage || !own->mode)
        return ec_fail(EC_ERR_MEMORY, "optimal: no memory for its grid");
    double *u = own->storage, *v = u + n, *w = v + n;
    for (size_t i = 0; i < n; i++) {
        double square = 1.0 - config->u[i] * config->u[i] - config->v[i] * config->v[i];
        if (square < -1e-12)
            continue;
        u[count] = config->u[i];
        v[count] = config->v[i];
        own->mode[count] = (int32_t)i;
        w[count++] = sqrt(fmax(square, 0.0));
    }
    memmove(u + count, v, count * sizeof *v);
    memmove(u + 2 * count, w, count * sizeof *w);
    own->config.u = u;
    own->config.v = u + count;
    own->config.directions = (int32_t)count;
    if (count < 2)
        return ec_fail(EC_ERR_RANGE,
                       "optimal: %d directions of the grid are visible, it needs two: "
                       "u^2 + v^2 must be at most 1",
                       (int)count);
    if (config->method == EC_WEIGHTS_THINNING)
        find_regular(config, own);
    return EC_OK;
}

/* M at those frequencies of the file that the range needs. */
static int copy_coupling(const ec_touchstone *data, ec_interval f, ec_weights_setup *own)
{
    size_t n = (size_t)own->config.elements, stride = (size_t)ec_weights_stride((int32_t)n);
    int status = ec_pattern_check_coupling("optimal", data, (int32_t)n, f);

    if (status < 0)
        return status;
    int32_t first = ec_pattern_coupling_segment(data, f.lo);
    int32_t last = ec_pattern_coupling_segment(data, f.hi) + (data->n_frequencies > 1);
    size_t count = (size_t)(last - first + 1);
    own->frequency = calloc(count * (1 + 2 * n * stride), sizeof *own->frequency);
    if (!own->frequency)
        return ec_fail(EC_ERR_MEMORY, "optimal: no memory for the coupling of %d ports", (int)n);
    own->n_frequencies = (int32_t)count;
    double *matrix = own->frequency + count;
    for (size_t k = 0; k < count; k++) {
        own->frequency[k] = data->frequency[(size_t)first + k];
        for (size_t m = 0; m < n; m++, matrix += 2 * stride)
            ec_pattern_coupling_row(data, first + (int32_t)k, (int32_t)m, matrix, matrix + stride);
    }
    return EC_OK;
}

/* A copy of the configuration with the visible part of its grid; wavelength: its range. */
static int copy_config(const ec_weights_config *config, ec_interval wavelength,
                       ec_weights_setup **setup)
{
    const double most = 16777216.0; /* phasors of one workspace: 268 MB */
    const double light = 299792458.0;
    ec_weights_setup *own = calloc(1, sizeof *own);
    int status = EC_OK;

    if (!own)
        return ec_fail(EC_ERR_MEMORY, "optimal: no memory for its grid");
    own->config = *config;
    own->config.coupling = NULL;
    ec_array_config_default(&own->array.config);
    if (config->array) {
        own->array.config = *config->array;
        own->array.config.a = own->array.config.b = own->array.config.c = NULL;
        own->array.config.part = NULL;
        own->array.config.kind = EC_ARRAY_GRID_UV;
        own->array.config.integrate = EC_INTEGRATE_SPHERE;
    }
    own->array.config.elements = config->elements;
    own->config.array = &own->array.config;
    status = ec_pattern_elements_copy(&own->array);
    if (status >= 0 && config->coupling)
        status = copy_coupling(config->coupling,
                               (ec_interval){light / wavelength.hi, light / wavelength.lo}, own);
    if (has_grid(config))
        own->config.interferers = 0;
    else
        own->config.directions = 0;
    if (status >= 0 && has_grid(config))
        status = copy_grid(config, own);
    double rows = (double)own->config.directions * ec_weights_parts(&own->array.config);
    if (status >= 0 && rows * config->elements > most && own->count[0] == 0)
        status = ec_fail(
            EC_ERR_RANGE,
            "optimal: %d directions of %d elements, their product may be at most %g%s",
            own->config.directions, config->elements, most,
            config->method == EC_WEIGHTS_THINNING ? " where directions are not evenly spaced" : "");
    if (status < 0) {
        setup_destroy(own);
        return status;
    }
    *setup = own;
    return EC_OK;
}

/* ---- inputs ---- */

/* A list of directions: both coordinates with the wanted length, those that are known visible. */
static int check_directions(const ec_graph *graph, const char *key, ec_expr u, ec_expr v,
                            int32_t count)
{
    const ec_node *nodes[2] = {ec_graph_node(graph, u), ec_graph_node(graph, v)};

    for (int k = 0; k < 2; k++) {
        if (!nodes[k])
            return ec_fail(EC_ERR_ARGUMENT, "optimal: %s_%c is missing", key, k ? 'v' : 'u');
        if (nodes[k]->dtype == EC_C64 || nodes[k]->dtype == EC_C128 || nodes[k]->rank > 1)
            return ec_fail(EC_ERR_TYPE, "optimal: %s_%c must be a list of real numbers", key,
                           k ? 'v' : 'u');
        if (nodes[k]->elements != 1 && nodes[k]->elements != count)
            return ec_fail(EC_ERR_SHAPE, "optimal: %s_%c has %d elements, expected %d", key,
                           k ? 'v' : 'u', nodes[k]->elements, count);
    }
    if (nodes[0]->op != EC_OP_CONSTANT || nodes[1]->op != EC_OP_CONSTANT)
        return EC_OK;
    for (int32_t i = 0; i < count; i++) {
        double a = nodes[0]->data[nodes[0]->elements > 1 ? i : 0];
        double b = nodes[1]->data[nodes[1]->elements > 1 ? i : 0];
        if (a * a + b * b > 1.0 + 1e-9)
            return ec_fail(
                EC_ERR_RANGE,
                "optimal: %s %d, u = %g and v = %g, is not visible: u^2 + v^2 must be at "
                "most 1",
                key, i + 1, a, b);
    }
    return EC_OK;
}

static int check_inputs(const ec_graph *graph, const ec_weights_config *config, const ec_expr *in)
{
    static const char *const names[] = {"x", "y", "z", "wavelength", "look_u", "look_v", "look_w"};
    int status = EC_OK;

    for (int i = EC_WEIGHTS_X; i <= EC_WEIGHTS_W0 && status >= 0; i++)
        status = ec_pattern_check_input(graph, "optimal", names[i], in[i], config->elements,
                                        i >= EC_WEIGHTS_WAVELENGTH);
    if (status >= 0)
        status = ec_pattern_check_wavelength(graph, "optimal", in[EC_WEIGHTS_WAVELENGTH]);
    if (status >= 0)
        status =
            ec_pattern_check_look(graph, "optimal", "look", in[EC_WEIGHTS_U0], in[EC_WEIGHTS_V0]);
    if (status >= 0)
        status = ec_pattern_check_input(graph, "optimal", "start", in[EC_WEIGHTS_START],
                                        config->elements, config->method != EC_WEIGHTS_THINNING);
    if (status >= 0 && config->nulls > 0)
        status = check_directions(graph, "null", in[EC_WEIGHTS_NULL_U], in[EC_WEIGHTS_NULL_V],
                                  config->nulls);
    if (status < 0 || config->interferers == 0 || has_grid(config))
        return status;
    status = check_directions(graph, "interference", in[EC_WEIGHTS_NOISE_U], in[EC_WEIGHTS_NOISE_V],
                              config->interferers);
    const ec_node *power = ec_graph_node(graph, in[EC_WEIGHTS_NOISE_POWER]);
    if (status >= 0 && (!power || power->rank > 1 ||
                        (power->elements != 1 && power->elements != config->interferers)))
        return ec_fail(EC_ERR_SHAPE, "optimal: interference has %d directions and %d powers",
                       config->interferers, power ? power->elements : 0);
    return status;
}

/* Value of element m of a constant; NULL: it is none. */
static const double *constant_at(const ec_graph *graph, ec_expr e, int32_t m)
{
    const ec_node *node = ec_graph_node(graph, e);

    return node->op == EC_OP_CONSTANT ? node->data + (node->elements > 1 ? m : 0) : NULL;
}

/* Two elements in one place have two rows of R that are the same, unless something else tells them
 * apart: white noise, loading, or their own fields. */
static int check_places(const ec_graph *graph, const ec_weights_config *config, const ec_expr *in)
{
    bool own = config->array && ec_pattern_has_own(config->array);
    bool white = config->method == EC_WEIGHTS_LCMV && config->noise == EC_NOISE_WHITE;

    if (own || white || config->loading > 0.0 || config->method == EC_WEIGHTS_THINNING)
        return EC_OK;
    for (int k = 0; k < 3; k++)
        if (!constant_at(graph, in[EC_WEIGHTS_X + k], 0))
            return EC_OK;
    for (int32_t m = 1; m < config->elements; m++)
        for (int32_t n = 0; n < m; n++) {
            bool same = true;
            for (int k = 0; k < 3 && same; k++)
                same = *constant_at(graph, in[EC_WEIGHTS_X + k], m) ==
                       *constant_at(graph, in[EC_WEIGHTS_X + k], n);
            if (same)
                return ec_fail(EC_ERR_ARGUMENT,
                               "optimal: elements %d and %d are in one place, so their weights are "
                               "not determined: move one, or give loading (0.01, say)",
                               n + 1, m + 1);
        }
    return EC_OK;
}

/* A main beam that leaves no direction of the grid outside of it has no side lobes. */
static int check_beam(const ec_graph *graph, const ec_weights_setup *setup, const ec_expr *in)
{
    const ec_weights_config *config = &setup->config;
    const double *u0 = constant_at(graph, in[EC_WEIGHTS_U0], 0);
    const double *v0 = constant_at(graph, in[EC_WEIGHTS_V0], 0);
    int32_t outside = 0;

    if (!has_grid(config) || !u0 || !v0)
        return EC_OK;
    for (int32_t i = 0; i < config->directions; i++)
        outside += hypot(config->u[i] - *u0, config->v[i] - *v0) >= config->exclude - 1e-9;
    return outside > 0 ? EC_OK
                       : ec_fail(EC_ERR_RANGE,
                                 "optimal: no visible direction of the grid lies outside the main "
                                 "beam, exclude_u = %g about u = %g and v = %g",
                                 config->exclude, *u0, *v0);
}

static ec_expr add_output(ec_graph *graph, ec_call *call, const char *name, int32_t n, double lo,
                          double hi)
{
    ec_call_output output = {
        .name = name, .rank = 1, .shape = {n}, .dtype = EC_F64, .range = {lo, hi}};

    return ec_graph_call_output(graph, call, &output);
}

int ec_weights_call(ec_graph *graph, const ec_weights_config *config,
                    const ec_weights_inputs *inputs, ec_expr *amplitude, ec_expr *phase)
{
    ec_expr in[EC_WEIGHTS_INPUTS] = {inputs->x,
                                     inputs->y,
                                     inputs->z,
                                     inputs->wavelength,
                                     inputs->u0,
                                     inputs->v0,
                                     inputs->w0,
                                     inputs->null_u,
                                     inputs->null_v,
                                     inputs->null_w,
                                     inputs->interference_u,
                                     inputs->interference_v,
                                     -1,
                                     inputs->interference_power,
                                     inputs->start};
    const int thirds[] = {EC_WEIGHTS_W0, EC_WEIGHTS_NULL_W, EC_WEIGHTS_NOISE_W};
    ec_weights_setup *setup = NULL;
    ec_call *call = NULL;

    int status = check_config(config);
    if (status < 0)
        return status;
    if (in[EC_WEIGHTS_WAVELENGTH] < 0)
        return ec_fail(EC_ERR_ARGUMENT, "optimal: wavelength is missing");
    if (config->method == EC_WEIGHTS_THINNING && in[EC_WEIGHTS_START] < 0)
        return ec_fail(EC_ERR_ARGUMENT, "optimal: start is missing (a value for each element)");
    for (int i = 0; i < EC_WEIGHTS_INPUTS; i++)
        if (in[i] < 0 && i != EC_WEIGHTS_W0 && i != EC_WEIGHTS_NULL_W && i != EC_WEIGHTS_NOISE_W)
            in[i] = ec_graph_number(graph, 0.0);
    for (int i = 0; i < 3; i++) /* directions given by u and v lie in the forward half */
        if (in[thirds[i]] < 0)
            in[thirds[i]] = ec_pattern_forward(graph, in[thirds[i] - 2], in[thirds[i] - 1]);
    status = check_inputs(graph, config, in);
    if (status >= 0)
        status =
            copy_config(config, ec_graph_node(graph, in[EC_WEIGHTS_WAVELENGTH])->range, &setup);
    if (status >= 0)
        status = check_beam(graph, setup, in);
    if (status >= 0)
        status = check_places(graph, config, in);
    if (status < 0) {
        setup_destroy(setup);
        return status;
    }
    status = ec_graph_call(graph, &ec_evaluator_array_weights, setup, EC_WEIGHTS_INPUTS, in, &call);
    if (status < 0)
        return status;
    *amplitude = add_output(graph, call, "amplitude", config->elements, 0.0, 1e9);
    *phase = add_output(graph, call, "phase", config->elements, -EC_PI, EC_PI);
    return *amplitude < 0 ? *amplitude : *phase < 0 ? *phase : EC_OK;
}
