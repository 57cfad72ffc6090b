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
    free(own);
}

const ec_evaluator_def ec_evaluator_array_weights = {
    .name = "array_weights",
    .flags = EC_EVALUATOR_CAPTURABLE,
    .plan = ec_weights_plan,
    .run = ec_weights_run,
    .destroy = ec_weights_destroy,
    .memory = ec_weights_memory_needs,
    .describe = ec_weights_describe,
    .config_destroy = setup_destroy,
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

static int check_config(const ec_weights_config *config)
{
    int32_t n = config->elements;

    if (n < 1 || n > EC_WEIGHTS_ELEMENTS_MAX)
        return ec_fail(EC_ERR_RANGE, "optimal: %d elements, allowed is 1 to %d", n,
                       EC_WEIGHTS_ELEMENTS_MAX);
    if (config->nulls < 0 || config->interferers < 0)
        return ec_fail(EC_ERR_ARGUMENT, "optimal: %d nulls and %d interferers", config->nulls,
                       config->interferers);
    if (config->nulls >= n)
        return ec_fail(EC_ERR_RANGE,
                       "optimal: %d nulls are more than %d elements can have: at most %d, as the "
                       "look direction takes one",
                       config->nulls, n, n - 1);
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

/* A copy of the configuration with the visible part of its grid. */
static int copy_config(const ec_weights_config *config, ec_weights_setup **setup)
{
    const double most = 16777216.0; /* phasors of one workspace: 268 MB */
    ec_weights_setup *own = calloc(1, sizeof *own);
    size_t n = has_grid(config) ? (size_t)config->directions : 0, count = 0;

    if (own)
        own->storage = malloc((3 * n + 1) * sizeof *own->storage);
    if (!own || !own->storage) {
        free(own);
        return ec_fail(EC_ERR_MEMORY, "optimal: no memory for its grid");
    }
    own->config = *config;
    if (!has_grid(config))
        own->config.directions = 0;
    else
        own->config.interferers = 0;
    double *u = own->storage, *v = u + n, *w = v + n;
    for (size_t i = 0; i < n; i++) {
        double square = 1.0 - config->u[i] * config->u[i] - config->v[i] * config->v[i];
        if (square < -1e-12)
            continue;
        u[count] = config->u[i];
        v[count] = config->v[i];
        w[count++] = sqrt(fmax(square, 0.0));
    }
    memmove(u + count, v, count * sizeof *v);
    memmove(u + 2 * count, w, count * sizeof *w);
    own->config.u = u;
    own->config.v = u + count;
    if (n > 0 && count < 2) {
        setup_destroy(own);
        return ec_fail(EC_ERR_RANGE,
                       "optimal: %d directions of the grid are visible, it needs two: "
                       "u^2 + v^2 must be at most 1",
                       (int)count);
    }
    own->config.directions = (int32_t)count;
    if ((double)count * config->elements > most) {
        setup_destroy(own);
        return ec_fail(EC_ERR_RANGE,
                       "optimal: %d directions of %d elements, their product may be at most %g",
                       (int)count, config->elements, most);
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
        status = copy_config(config, &setup);
    if (status >= 0)
        status =
            ec_graph_call(graph, &ec_evaluator_array_weights, setup, EC_WEIGHTS_INPUTS, in, &call);
    if (status < 0)
        return status;
    *amplitude = add_output(graph, call, "amplitude", config->elements, 0.0, 1e9);
    *phase = add_output(graph, call, "phase", config->elements, -EC_PI, EC_PI);
    return *amplitude < 0 ? *amplitude : *phase < 0 ? *phase : EC_OK;
}
