/* array_config.c: the array pattern's calls and outputs as a script makes them: checks with a
 * sentence for each mistake, and the definitions that a result prints. */
#include "array_internal.h"

#include "array_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ec_evaluator_def ec_evaluator_array_pattern = {
    .name = "array_pattern",
    .flags = EC_EVALUATOR_CAPTURABLE | EC_EVALUATOR_HAS_VJP | EC_EVALUATOR_WRITES_STATUS,
    .plan = ec_pattern_plan,
    .run = ec_pattern_run,
    .destroy = ec_pattern_destroy,
    .memory = ec_pattern_memory_needs,
    .describe = ec_pattern_describe,
    .config_destroy = ec_pattern_setup_destroy,
    .spec_destroy = ec_pattern_spec_destroy,
    .pieces = ec_pattern_pieces,
    .fingerprint = ec_pattern_fingerprint,
};

/* dB over the pattern's maximum: a look direction that lies lower was meant otherwise. */
static const double LOOK_LEAST = -1.0;

static const char *const kind_names[] = {"u cut",   "u-v grid",       "theta cut",
                                         "phi cut", "theta-phi grid", "list of directions"};

void ec_array_config_default(ec_array_config *config)
{
    memset(config, 0, sizeof *config);
    config->kind = EC_ARRAY_CUT_U;
    config->frame = (ec_element_frame){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    config->precision = EC_PRECISION_AUTO;
    config->method = EC_METHOD_AUTO;
    config->planes = true;
    config->integrate = EC_INTEGRATE_SPHERE;
}

void ec_array_beam_default(ec_array_beam *beam)
{
    beam->look_a = beam->look_b = (double)NAN;
    beam->exclude_a = beam->exclude_b = (double)NAN;
}

void ec_pattern_setup_destroy(void *setup)
{
    ec_pattern_setup *own = (ec_pattern_setup *)setup;

    if (!own)
        return;
    ec_pattern_elements_free(own);
    free(own->storage);
    free(own->position);
    free(own->part);
    free(own->reach);
    free(own);
}

void ec_pattern_spec_destroy(void *spec)
{
    ec_pattern_spec *own = (ec_pattern_spec *)spec;

    if (!own)
        return;
    free(own->lines);
    free(own->directions);
    free(own->pieces);
    free(own);
}

/* ---- the grid ---- */

/* Angles are radians in a configuration and degrees in every message and in scripts. */
static double unit_of(ec_array_grid_kind kind)
{
    bool cosines =
        kind == EC_ARRAY_CUT_U || kind == EC_ARRAY_GRID_UV || kind == EC_ARRAY_DIRECTIONS;

    return cosines ? 1.0 : 180.0 / EC_PI;
}

/* unit: of the message over that of the axis and its limits. */
static int check_axis(const char *name, const double *a, int32_t n, double lo, double hi,
                      double unit)
{
    if (n < 2 || !a)
        return ec_fail(EC_ERR_ARGUMENT, "array: %s has %d values, it needs at least 2", name, n);
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(a[i]))
            return ec_fail(EC_ERR_RANGE, "array: %s[%d] is not a finite number", name, i + 1);
        if (i && !(a[i] > a[i - 1]))
            return ec_fail(EC_ERR_RANGE,
                           "array: %s must ascend, but value %d is %g and value %d is %g", name, i,
                           a[i - 1] * unit, i + 1, a[i] * unit);
    }
    if (a[0] < lo - 1e-9 || a[n - 1] > hi + 1e-9)
        return ec_fail(EC_ERR_RANGE, "array: %s runs from %g to %g, allowed is %g to %g", name,
                       a[0] * unit, a[n - 1] * unit, lo * unit, hi * unit);
    return EC_OK;
}

static int check_phi(const double *phi, int32_t n)
{
    const double degrees = 180.0 / EC_PI;
    int status = check_axis("phi_deg", phi, n, -2.0 * EC_PI, 4.0 * EC_PI, degrees);

    if (status >= 0 && phi[n - 1] - phi[0] > 2.0 * EC_PI + 1e-9)
        return ec_fail(EC_ERR_RANGE,
                       "array: phi_deg runs from %g to %g, allowed is a full turn of 360 at most",
                       phi[0] * degrees, phi[n - 1] * degrees);
    return status;
}

static int check_directions(const ec_array_config *config)
{
    if (config->na < 1 || !config->a || !config->b || !config->c)
        return ec_fail(EC_ERR_ARGUMENT, "array: the list of directions is empty");
    for (int32_t i = 0; i < config->na; i++) {
        double u = config->a[i], v = config->b[i], w = config->c[i];
        if (!(fabs(u * u + v * v + w * w - 1.0) < 1e-6))
            return ec_fail(EC_ERR_RANGE, "array: direction %d is (%g, %g, %g), not a unit vector",
                           i + 1, u, v, w);
    }
    return EC_OK;
}

static int check_grid(const ec_array_config *config)
{
    const double any = 1e6, degrees = 180.0 / EC_PI;
    int status = EC_OK;

    if (!isfinite(config->fixed))
        return ec_fail(EC_ERR_RANGE, "array: the cut's own coordinate is not a finite number");
    switch (config->kind) {
    case EC_ARRAY_CUT_U:
        if (!(fabs(config->fixed) < 1.0))
            return ec_fail(EC_ERR_RANGE, "array: v = %g of the u cut is not between -1 and 1",
                           config->fixed);
        return check_axis("u", config->a, config->na, -any, any, 1.0);
    case EC_ARRAY_GRID_UV:
        status = check_axis("u", config->a, config->na, -any, any, 1.0);
        return status < 0 ? status : check_axis("v", config->b, config->nb, -any, any, 1.0);
    case EC_ARRAY_CUT_THETA:
        return check_axis("theta_deg", config->a, config->na, -EC_PI, EC_PI, degrees);
    case EC_ARRAY_CUT_PHI:
        if (config->fixed < -1e-9 || config->fixed > EC_PI + 1e-9)
            return ec_fail(EC_ERR_RANGE,
                           "array: theta_deg of the phi cut is %g, allowed is 0 to 180",
                           config->fixed * degrees);
        return check_phi(config->a, config->na);
    case EC_ARRAY_GRID_THETA_PHI:
        status = check_axis("theta_deg", config->a, config->na, 0.0, EC_PI, degrees);
        return status < 0 ? status : check_phi(config->b, config->nb);
    case EC_ARRAY_DIRECTIONS:
        return check_directions(config);
    }
    return ec_fail(EC_ERR_ARGUMENT, "array: grid kind %d is unknown", (int)config->kind);
}

/* Smallest |value| of an ascending axis. */
static double nearest_to_zero(const double *a, int32_t n)
{
    double least = fabs(a[0]);

    for (int32_t i = 1; i < n; i++)
        least = fmin(least, fabs(a[i]));
    return least;
}

/* A grid of which no direction is visible has no pattern. */
static int check_visible(const ec_array_config *config)
{
    bool surface = config->kind == EC_ARRAY_GRID_UV;

    if (!surface && config->kind != EC_ARRAY_CUT_U)
        return EC_OK;
    double u = nearest_to_zero(config->a, config->na);
    double v = surface ? nearest_to_zero(config->b, config->nb) : config->fixed;
    if (u * u + v * v <= 1.0 + 1e-12)
        return EC_OK;
    if (surface)
        return ec_fail(EC_ERR_RANGE,
                       "array: no direction of the grid is visible: u runs from %g to %g and v "
                       "from %g to %g, but u^2 + v^2 must be at most 1",
                       config->a[0], config->a[config->na - 1], config->b[0],
                       config->b[config->nb - 1]);
    return ec_fail(
        EC_ERR_RANGE,
        "array: no direction of the grid is visible: u runs from %g to %g at v = %g, but "
        "u^2 + v^2 must be at most 1",
        config->a[0], config->a[config->na - 1], config->fixed);
}

static int check_config(const ec_array_config *config)
{
    if (config->elements < 1)
        return ec_fail(EC_ERR_ARGUMENT, "array: %d elements, it needs at least one",
                       config->elements);
    int status = ec_pattern_elements_check(config);
    if (status < 0)
        return status;
    if (config->method == EC_METHOD_PRODUCT && config->kind != EC_ARRAY_CUT_U &&
        config->kind != EC_ARRAY_GRID_UV)
        return ec_fail(EC_ERR_ARGUMENT,
                       "array: method 'product' needs a u cut or a u-v grid, not a %s",
                       kind_names[config->kind]);
    if (config->method == EC_METHOD_NUFFT && config->kind != EC_ARRAY_CUT_U &&
        config->kind != EC_ARRAY_GRID_UV)
        return ec_fail(EC_ERR_ARGUMENT,
                       "array: method 'nufft' needs a u cut or a u-v grid, not a %s",
                       kind_names[config->kind]);
    if (config->terms < 0 || config->terms > EC_PATTERN_TERMS_MAX)
        return ec_fail(EC_ERR_RANGE, "array: terms = %d, allowed is 1 to %d", config->terms,
                       EC_PATTERN_TERMS_MAX);
    if (config->parts < 0 || config->parts > EC_PATTERN_SIDE_MAX)
        return ec_fail(EC_ERR_RANGE, "array: parts = %d a side, allowed is 1 to %d", config->parts,
                       EC_PATTERN_SIDE_MAX);
    if (config->parts > 0 && config->part)
        return ec_fail(EC_ERR_ARGUMENT, "array: give parts or part, not both");
    double least = config->precision == EC_PRECISION_DOUBLE ? 1e-12 : 1e-6;
    if (config->tolerance != 0.0 && !(config->tolerance >= least && config->tolerance <= 0.1))
        return ec_fail(
            EC_ERR_RANGE,
            "array: tolerance = %g; precision '%s' reaches %g, and 0.1 is the most allowed",
            config->tolerance, least < 1e-6 ? "double" : "single", least);
    status = check_grid(config);
    return status < 0 ? status : check_visible(config);
}

/* A copy of the configuration with its lists. */
static int copy_config(const ec_array_config *config, ec_pattern_setup **setup)
{
    size_t na = (size_t)config->na;
    bool list = config->kind == EC_ARRAY_DIRECTIONS;
    size_t nb = list ? na : config->b && config->nb > 0 ? (size_t)config->nb : 0;
    ec_pattern_setup *own = calloc(1, sizeof *own);

    if (own)
        own->storage = malloc((na + nb + na) * sizeof *own->storage);
    if (!own || !own->storage) {
        free(own);
        return ec_fail(EC_ERR_MEMORY, "array: no memory for its grid");
    }
    own->config = *config;
    memcpy(own->storage, config->a, na * sizeof *own->storage);
    own->config.a = own->storage;
    if (nb)
        memcpy(own->storage + na, config->b, nb * sizeof *own->storage);
    own->config.b = nb ? own->storage + na : NULL;
    own->config.nb = (int32_t)nb;
    own->config.c = NULL;
    if (list) {
        memcpy(own->storage + na + nb, config->c, na * sizeof *own->storage);
        own->config.c = own->storage + na + nb;
        own->config.nb = 1;
    } else if (ec_pattern_is_cut(config->kind)) {
        own->config.nb = 1;
    }
    if (config->part) {
        size_t bytes = (size_t)config->elements * sizeof *own->part;
        own->part = malloc(bytes);
        if (!own->part) {
            ec_pattern_setup_destroy(own);
            return ec_fail(EC_ERR_MEMORY, "array: no memory for its parts");
        }
        memcpy(own->part, config->part, bytes);
        own->config.part = own->part;
    }
    *setup = own;
    return EC_OK;
}

/* ---- inputs ---- */

int ec_pattern_check_input(const ec_graph *graph, const char *noun, const char *name, ec_expr e,
                           int32_t elements, bool scalar)
{
    const ec_node *node = ec_graph_node(graph, e);

    if (!node)
        return ec_fail(EC_ERR_ARGUMENT, "%s: %s is not an expression of this graph", noun, name);
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        return ec_fail(EC_ERR_TYPE, "%s: %s is complex, it must be real%s", noun, name,
                       strcmp(name, "amplitude") == 0 ? " (the angle goes into phase)" : "");
    if (node->elements == 1 && node->rank <= 1)
        return EC_OK;
    if (scalar)
        return ec_fail(EC_ERR_SHAPE, "%s: %s has %d elements, it must be one number", noun, name,
                       node->elements);
    if (node->rank != 1 || node->elements != elements)
        return ec_fail(EC_ERR_SHAPE, "%s: %s has %d elements, the array has %d", noun, name,
                       node->elements, elements);
    return EC_OK;
}

ec_expr ec_pattern_forward(ec_graph *graph, ec_expr u, ec_expr v)
{
    ec_expr flat = ec_graph_binary(graph, EC_OP_ADD, ec_graph_unary(graph, EC_OP_SQUARE, u),
                                   ec_graph_unary(graph, EC_OP_SQUARE, v));
    ec_expr rest = ec_graph_binary(graph, EC_OP_SUB, ec_graph_number(graph, 1.0), flat);

    return ec_graph_unary(graph, EC_OP_SQRT,
                          ec_graph_binary(graph, EC_OP_MAX, rest, ec_graph_number(graph, 0.0)));
}

int ec_pattern_check_look(const ec_graph *graph, const char *noun, const char *key, ec_expr u,
                          ec_expr v)
{
    const ec_expr given[2] = {u, v};
    double least[2];

    for (int k = 0; k < 2; k++) {
        const ec_interval *r = &ec_graph_node(graph, given[k])->range;
        least[k] = r->lo > 0.0 ? r->lo : r->hi < 0.0 ? r->hi : 0.0;
        if (fabs(least[k]) > 1.0 + 1e-9)
            return ec_fail(EC_ERR_RANGE,
                           "%s: %s_%c is %g, allowed is -1 to 1; it is a sine, not an angle in "
                           "degrees",
                           noun, key, k ? 'v' : 'u', least[k]);
    }
    if (least[0] * least[0] + least[1] * least[1] > 1.0 + 1e-9)
        return ec_fail(EC_ERR_RANGE,
                       "%s: %s_u is %g and %s_v %g, outside the visible region: u^2 + v^2 must be "
                       "at most 1",
                       noun, key, least[0], key, least[1]);
    return EC_OK;
}

int ec_pattern_check_wavelength(const ec_graph *graph, const char *noun, ec_expr wavelength)
{
    const double shortest = 1e-12, longest = 1e12;
    const ec_node *node = ec_graph_node(graph, wavelength);

    if (!(node->range.hi > 0.0) || (node->op == EC_OP_CONSTANT && !(node->range.lo > 0.0)))
        return ec_fail(EC_ERR_RANGE, "%s: wavelength is %g to %g, it must be above 0", noun,
                       node->range.lo, node->range.hi);
    if (node->range.hi < shortest || node->range.lo > longest)
        return ec_fail(EC_ERR_RANGE, "%s: wavelength is %g m, allowed is %g to %g m", noun,
                       node->range.lo, shortest, longest);
    return EC_OK;
}

static int check_values(const ec_graph *graph, const ec_expr *in)
{
    const ec_node *amplitude = ec_graph_node(graph, in[EC_PATTERN_AMPLITUDE]);
    int status = ec_pattern_check_wavelength(graph, "array", in[EC_PATTERN_WAVELENGTH]);

    if (status < 0)
        return status;
    if (amplitude->range.lo == 0.0 && amplitude->range.hi == 0.0)
        return ec_fail(EC_ERR_RANGE, "array: all amplitudes are zero");
    return ec_pattern_check_look(graph, "array", "steer", in[EC_PATTERN_U0], in[EC_PATTERN_V0]);
}

/* A constant of one or `elements` numbers as `elements` of them; false: it is no constant. */
static bool read_constant(const ec_graph *graph, ec_expr e, int32_t elements, double *to)
{
    const ec_node *node = ec_graph_node(graph, e);

    if (node->op != EC_OP_CONSTANT || node->axes != 0)
        return false;
    for (int32_t m = 0; m < elements; m++)
        to[m] = node->data[node->elements > 1 ? m : 0];
    return true;
}

/* Positions that do not depend on the design, in wavelengths; false: they do. */
static bool read_positions(const ec_graph *graph, const ec_expr *in, ec_pattern_setup *setup)
{
    size_t n = (size_t)setup->config.elements;
    double wavelength;
    bool fixed = read_constant(graph, in[EC_PATTERN_WAVELENGTH], 1, &wavelength);

    for (size_t k = 0; k < 3 && fixed; k++)
        fixed = read_constant(graph, in[EC_PATTERN_X + k], setup->config.elements,
                              setup->position + k * n);
    for (size_t i = 0; i < 3 * n && fixed; i++)
        setup->position[i] /= wavelength;
    return fixed;
}

/* Middles and half widths of the ranges of one coordinate, in wavelengths; false: not finite. */
static int read_ranges(const ec_graph *graph, ec_expr e, ec_interval wavelength, size_t n,
                       double *middle, double *reach, bool *finite)
{
    bool one = ec_graph_node(graph, e)->elements == 1;
    ec_interval *each = malloc((one ? 1 : n) * sizeof *each);
    int status = each ? ec_graph_ranges(graph, e, each)
                      : ec_fail(EC_ERR_MEMORY, "array: no memory for its positions");

    for (size_t m = 0; m < n && status >= 0; m++) {
        ec_interval r = each[one ? 0 : m];
        double lo = fmin(r.lo / wavelength.lo, r.lo / wavelength.hi);
        double hi = fmax(r.hi / wavelength.lo, r.hi / wavelength.hi);
        middle[m] = 0.5 * (lo + hi);
        reach[m] = 0.5 * (hi - lo);
        *finite = *finite && reach[m] < 1e9;
    }
    free(each);
    return status;
}

/* Positions for sub-arrays, where such may serve: elements off a plane, on a grid for FFTs. */
static int keep_positions(const ec_graph *graph, const ec_expr *in, ec_pattern_setup *setup)
{
    const ec_array_config *config = &setup->config;
    ec_interval wavelength = ec_graph_node(graph, in[EC_PATTERN_WAVELENGTH])->range;
    const ec_node *z = ec_graph_node(graph, in[EC_PATTERN_Z]);
    size_t n = (size_t)config->elements;
    bool finite = wavelength.lo > 0.0;
    int status = EC_OK;

    if ((config->kind != EC_ARRAY_CUT_U && config->kind != EC_ARRAY_GRID_UV) || z->elements == 1 ||
        (config->method != EC_METHOD_AUTO && config->method != EC_METHOD_NUFFT))
        return EC_OK;
    setup->position = malloc(3 * n * sizeof *setup->position);
    if (!setup->position)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for its positions");
    if (read_positions(graph, in, setup))
        return EC_OK;
    setup->reach = malloc(3 * n * sizeof *setup->reach);
    if (!setup->reach)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for its positions");
    for (size_t k = 0; k < 3 && status >= 0; k++)
        status = read_ranges(graph, in[EC_PATTERN_X + k], wavelength, n, setup->position + k * n,
                             setup->reach + k * n, &finite);
    if (status < 0 || finite)
        return status;
    free(setup->position);
    free(setup->reach);
    setup->position = setup->reach = NULL;
    if (config->parts > 0 || config->part)
        return ec_fail(EC_ERR_ARGUMENT,
                       "array: %s needs x, y, z and a wavelength of finite ranges, in wavelengths",
                       config->part ? "part" : "parts");
    return EC_OK;
}

int ec_array_call(ec_graph *graph, const ec_array_config *config, const ec_array_inputs *inputs,
                  ec_call **call)
{
    static const char *const names[EC_PATTERN_INPUTS] = {
        "x", "y", "z", "amplitude", "phase", "wavelength", "u0", "v0", "w0"};
    static const double absent[EC_PATTERN_INPUTS] = {0, 0, 0, 1, 0, 0, 0, 0, 1};
    ec_expr in[EC_PATTERN_INPUTS] = {inputs->x,         inputs->y,     inputs->z,
                                     inputs->amplitude, inputs->phase, inputs->wavelength,
                                     inputs->u0,        inputs->v0,    inputs->w0};
    ec_pattern_setup *setup = NULL;

    int status = check_config(config);
    if (status < 0)
        return status;
    if (in[EC_PATTERN_WAVELENGTH] < 0)
        return ec_fail(EC_ERR_ARGUMENT, "array: wavelength is missing");
    bool steered = in[EC_PATTERN_U0] >= 0 || in[EC_PATTERN_V0] >= 0;
    for (int i = 0; i < EC_PATTERN_INPUTS; i++) {
        if (in[i] < 0)
            in[i] = i == EC_PATTERN_W0 && steered
                        ? ec_pattern_forward(graph, in[EC_PATTERN_U0], in[EC_PATTERN_V0])
                        : ec_graph_number(graph, absent[i]);
        status = ec_pattern_check_input(graph, "array", names[i], in[i], config->elements,
                                        i >= EC_PATTERN_WAVELENGTH);
        if (status < 0)
            return status;
    }
    status = check_values(graph, in);
    if (status < 0)
        return status;
    status = copy_config(config, &setup);
    if (status >= 0)
        status = ec_pattern_elements_copy(setup);
    if (status >= 0)
        status = keep_positions(graph, in, setup);
    if (status < 0) {
        ec_pattern_setup_destroy(setup);
        return status;
    }
    return ec_graph_call(graph, &ec_evaluator_array_pattern, setup, EC_PATTERN_INPUTS, in, call);
}

const ec_array_config *ec_array_call_config(const ec_call *call)
{
    return &((const ec_pattern_setup *)call->config)->config;
}

/* ---- outputs ---- */

/* The look direction's value on axis 0 or 1 where it is known at build time; NAN: it varies. */
static double known_look(const ec_graph *graph, const ec_call *call, const ec_array_beam *beam,
                         int axis)
{
    const ec_array_config *config = ec_array_call_config(call);
    double look = axis ? beam->look_b : beam->look_a, steer[3];

    if (!isnan(look))
        return look;
    for (int k = 0; k < 3; k++) {
        const ec_node *node = ec_graph_node(graph, call->in[EC_PATTERN_U0 + k]);
        if (node->range.lo != node->range.hi)
            return (double)NAN;
        steer[k] = node->range.lo;
    }
    double sine;
    switch (config->kind) {
    case EC_ARRAY_CUT_THETA:
        sine = steer[0] * cos(config->fixed) + steer[1] * sin(config->fixed);
        return atan2(sine, copysign(sqrt(fmax(0.0, 1.0 - sine * sine)), steer[2]));
    case EC_ARRAY_CUT_PHI:
        return atan2(steer[1], steer[0]);
    case EC_ARRAY_GRID_THETA_PHI:
        if (axis)
            return atan2(steer[1], steer[0]);
        sine = hypot(steer[0], steer[1]);
        return atan2(sine, copysign(sqrt(fmax(0.0, 1.0 - sine * sine)), steer[2]));
    default:
        return steer[axis];
    }
}

/* True when the array is known to be steered along z or against it. */
static bool is_pole(const ec_graph *graph, const ec_call *call)
{
    const ec_node *u = ec_graph_node(graph, call->in[EC_PATTERN_U0]);
    const ec_node *v = ec_graph_node(graph, call->in[EC_PATTERN_V0]);
    const double none = 1e-12;

    return fabs(u->range.lo) < none && fabs(u->range.hi) < none && fabs(v->range.lo) < none &&
           fabs(v->range.hi) < none;
}

static int check_beam(const ec_graph *graph, const ec_call *call, const char *metric,
                      const ec_array_beam *beam)
{
    const ec_array_config *config = ec_array_call_config(call);
    bool cut = ec_pattern_is_cut(config->kind);
    double lo, hi, look = known_look(graph, call, beam, 0), unit = unit_of(config->kind);

    if ((!isnan(beam->look_a) && !isfinite(beam->look_a)) ||
        (!isnan(beam->look_b) && !isfinite(beam->look_b)))
        return ec_fail(EC_ERR_RANGE, "%s: the look direction is not finite", metric);
    if (!isnan(beam->exclude_a) && !(beam->exclude_a > 0.0 && isfinite(beam->exclude_a)))
        return ec_fail(EC_ERR_RANGE, "%s: exclude is %g, it must be above 0", metric,
                       beam->exclude_a * unit);
    if (!isnan(beam->exclude_b) && !(beam->exclude_b > 0.0 && isfinite(beam->exclude_b)))
        return ec_fail(EC_ERR_RANGE,
                       "%s: the second half width of exclude is %g, it must be above 0", metric,
                       beam->exclude_b * unit);
    if (isnan(beam->exclude_a) && !isnan(beam->exclude_b))
        return ec_fail(EC_ERR_ARGUMENT, "%s: exclude has its second half width without its first",
                       metric);
    if (!cut || isnan(look))
        return EC_OK;
    if (config->kind == EC_ARRAY_CUT_PHI && isnan(beam->look_a) && is_pole(graph, call))
        return ec_fail(
            EC_ERR_ARGUMENT,
            "%s: the array is steered to theta = 0 or 180, which has no phi, so this phi "
            "cut needs look_deg, the direction of its beam",
            metric);
    ec_pattern_visible(config, &lo, &hi);
    bool circle =
        config->kind != EC_ARRAY_CUT_U && config->a[config->na - 1] - config->a[0] > 1.9 * EC_PI;
    if (lo <= hi && !circle && (look < lo - 1e-9 || look > hi + 1e-9))
        return ec_fail(EC_ERR_RANGE,
                       "%s: the look direction %g is outside the visible grid, %g to %g", metric,
                       look * unit, lo * unit, hi * unit);
    return EC_OK;
}

static ec_pattern_spec *new_spec(ec_pattern_kind kind, const ec_array_beam *beam, bool relative)
{
    ec_pattern_spec *spec = calloc(1, sizeof *spec);

    if (!spec) {
        ec_fail(EC_ERR_MEMORY, "array: no memory for an output");
        return NULL;
    }
    spec->kind = kind;
    spec->relative = relative;
    if (beam)
        spec->beam = *beam;
    else
        ec_array_beam_default(&spec->beam);
    return spec;
}

static ec_expr add_output(ec_graph *graph, ec_call *call, const char *name, ec_pattern_spec *spec,
                          int32_t n, double lo, double hi)
{
    ec_call_output output = {
        .name = name, .spec = spec, .rank = n ? 1 : 0, .dtype = EC_F64, .range = {lo, hi}};

    output.shape[0] = n;
    return ec_graph_call_output(graph, call, &output);
}

static ec_expr add_metric(ec_graph *graph, ec_call *call, const char *name, ec_pattern_kind kind,
                          const ec_array_beam *beam, double lo, double hi)
{
    ec_array_beam none;

    ec_array_beam_default(&none);
    int status = check_beam(graph, call, name, beam ? beam : &none);
    if (status < 0)
        return status;
    ec_pattern_spec *spec = new_spec(kind, beam, true);
    return spec ? add_output(graph, call, name, spec, 0, lo, hi) : EC_ERR_MEMORY;
}

ec_expr ec_array_pattern(ec_graph *graph, ec_call *call)
{
    const ec_array_config *config = ec_array_call_config(call);
    const ec_node *amplitude = ec_graph_node(graph, call->in[EC_PATTERN_AMPLITUDE]);
    ec_pattern_gain gain;

    ec_pattern_gain_of(config, config->polarization, &gain);
    double most = fmax(fabs(amplitude->range.lo), fabs(amplitude->range.hi)) * config->elements *
                  exp(0.5 * gain.peak_log);
    ec_pattern_spec *spec = new_spec(EC_METRIC_PATTERN, NULL, false);

    if (!spec)
        return EC_ERR_MEMORY;
    ec_call_output output = {.name = "pattern",
                             .spec = spec,
                             .rank = config->nb > 1 ? 2 : 1,
                             .shape = {config->na, config->nb},
                             .dtype = EC_C128,
                             .range = {-most, most}};
    return ec_graph_call_output(graph, call, &output);
}

ec_expr ec_array_sll_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    const ec_array_config *config = ec_array_call_config(call);

    if (config->kind == EC_ARRAY_DIRECTIONS && (!beam || isnan(beam->exclude_a)))
        return ec_fail(
            EC_ERR_ARGUMENT,
            "sll_db: a list of directions has no neighbours, so the main beam needs exclude");
    return add_metric(graph, call, "sll_db", EC_METRIC_SLL, beam, -200.0, 200.0);
}

ec_expr ec_array_soft_sll_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam, double soft)
{
    if (!(soft > 0.0 && isfinite(soft)))
        return ec_fail(EC_ERR_RANGE, "sll_db: soft is %g dB, it must be above 0", soft);
    if (!beam || isnan(beam->exclude_a))
        return ec_fail(EC_ERR_ARGUMENT,
                       "sll_db: soft needs exclude: a beam that ends at its first minimum has no "
                       "smooth region of side lobes");
    int status = check_beam(graph, call, "sll_db", beam);
    if (status < 0)
        return status;
    ec_pattern_spec *spec = new_spec(EC_METRIC_SOFT, beam, true);
    if (!spec)
        return EC_ERR_MEMORY;
    spec->shape = soft;
    return add_output(graph, call, "sll_db", spec, 0, -1000.0, 200.0);
}

static ec_expr add_width(ec_graph *graph, ec_call *call, const char *name, ec_pattern_kind kind,
                         const ec_array_beam *beam)
{
    const ec_array_config *config = ec_array_call_config(call);

    if (!ec_pattern_is_cut(config->kind))
        return ec_fail(EC_ERR_UNSUPPORTED, "%s: a beam width needs a cut, not a %s", name,
                       kind_names[config->kind]);
    return add_metric(graph, call, name, kind, beam, 0.0, 720.0);
}

ec_expr ec_array_hpbw_deg(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    return add_width(graph, call, "hpbw_deg", EC_METRIC_HPBW, beam);
}

ec_expr ec_array_fnbw_deg(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    return add_width(graph, call, "fnbw_deg", EC_METRIC_FNBW, beam);
}

ec_expr ec_array_directivity_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    return add_metric(graph, call, "directivity_db", EC_METRIC_DIRECTIVITY, beam, -500.0, 200.0);
}

ec_expr ec_array_sll_mean_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    if (ec_array_call_config(call)->kind == EC_ARRAY_DIRECTIONS &&
        (!beam || isnan(beam->exclude_a)))
        return ec_fail(EC_ERR_ARGUMENT, "sll_mean_db: a list of directions has no main beam of its "
                                        "own: give exclude");
    return add_metric(graph, call, "sll_mean_db", EC_METRIC_SLL_MEAN, beam, -500.0, 200.0);
}

ec_expr ec_array_towards_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    return add_metric(graph, call, "towards_db", EC_METRIC_TOWARDS, beam, -1000.0, 1000.0);
}

ec_expr ec_array_pointing_error_deg(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    return add_metric(graph, call, "pointing_error_deg", EC_METRIC_POINTING, beam, 0.0, 180.0);
}

ec_expr ec_array_dynamic_range_db(ec_graph *graph, ec_expr amplitude)
{
    const ec_node *node = ec_graph_node(graph, amplitude);

    if (!node || node->dtype == EC_C64 || node->dtype == EC_C128)
        return ec_fail(EC_ERR_TYPE, "dynamic_range_db: the amplitude is no real expression");
    if (node->elements == 1)
        return ec_graph_number(graph, 0.0);
    ec_expr size = ec_graph_unary(graph, EC_OP_ABS, amplitude);
    ec_expr most = ec_graph_unary(graph, EC_OP_RMAX, size);
    ec_expr bar =
        ec_graph_binary(graph, EC_OP_MUL, most, ec_graph_number(graph, EC_ARRAY_SWITCHED_OFF));
    ec_expr off = ec_graph_binary(graph, EC_OP_LE, size, bar);
    ec_expr least = ec_graph_unary(graph, EC_OP_RMIN, ec_graph_where(graph, off, most, size));
    ec_expr ratio = ec_graph_binary(graph, EC_OP_DIV, most, least);
    ec_expr level = ec_graph_binary(graph, EC_OP_MUL, ec_graph_unary(graph, EC_OP_LOG10, ratio),
                                    ec_graph_number(graph, 20.0));
    return ec_graph_declare(graph, level, 0.0, -20.0 * log10(EC_ARRAY_SWITCHED_OFF));
}

/* ---- masks ---- */

/* True when the line covers a visible direction of the grid (or might, for an unknown look). */
static bool covers(const ec_graph *graph, const ec_call *call, const ec_array_beam *beam,
                   const ec_array_mask_line *line)
{
    const ec_array_config *config = ec_array_call_config(call);
    double lo, hi, look[3], d[3];

    if (ec_pattern_is_cut(config->kind)) {
        ec_pattern_visible(config, &lo, &hi);
        return fmax(lo, line->from) <= fmin(hi, line->to);
    }
    double a = known_look(graph, call, beam, 0), b = known_look(graph, call, beam, 1);
    if (isnan(a) || isnan(b))
        return line->from <= 2.0;
    ec_pattern_direct(config, a, b, look);
    for (int32_t i = 0; i < config->na; i++) {
        for (int32_t k = 0; k < config->nb; k++) {
            bool list = config->kind == EC_ARRAY_DIRECTIONS;
            if (list) {
                d[0] = config->a[i];
                d[1] = config->b[i];
            } else if (!ec_pattern_direct(config, config->a[i], config->b[k], d)) {
                continue;
            }
            double r = hypot(d[0] - look[0], d[1] - look[1]);
            if (r >= line->from - 1e-9 && r <= line->to + 1e-9)
                return true;
        }
    }
    return false;
}

static int check_line(const ec_graph *graph, const ec_call *call, const ec_array_beam *beam,
                      const ec_array_mask_line *line, int32_t number)
{
    ec_array_grid_kind kind = ec_array_call_config(call)->kind;
    bool surface = !ec_pattern_is_cut(kind);
    double unit = surface ? 1.0 : unit_of(kind);

    if (!isfinite(line->from) || !isfinite(line->to) || !(line->from <= line->to))
        return ec_fail(EC_ERR_RANGE, "excess_db: line %d of the mask runs from %g to %g", number,
                       line->from * unit, line->to * unit);
    if (surface && line->from < 0.0)
        return ec_fail(EC_ERR_RANGE,
                       "excess_db: line %d of the mask starts at the distance %g, which "
                       "is below 0",
                       number, line->from);
    for (int k = 0; k < 2; k++) {
        bool no_max = line->max[k] == (double)INFINITY, no_min = line->min[k] == -(double)INFINITY;
        if ((!no_max && !isfinite(line->max[k])) || (!no_min && !isfinite(line->min[k])))
            return ec_fail(EC_ERR_RANGE,
                           "excess_db: a limit of line %d of the mask is not a number", number);
        if (line->max[k] < line->min[k])
            return ec_fail(EC_ERR_RANGE,
                           "excess_db: line %d of the mask allows nothing: max = %g lies below "
                           "min = %g",
                           number, line->max[k], line->min[k]);
    }
    if ((line->max[0] == (double)INFINITY) != (line->max[1] == (double)INFINITY) ||
        (line->min[0] == -(double)INFINITY) != (line->min[1] == -(double)INFINITY))
        return ec_fail(
            EC_ERR_RANGE,
            "excess_db: line %d of the mask has a limit at one end and none at the other", number);
    if (line->max[0] == (double)INFINITY && line->min[0] == -(double)INFINITY)
        return ec_fail(EC_ERR_ARGUMENT, "excess_db: line %d of the mask has neither min nor max",
                       number);
    if (!covers(graph, call, beam, line))
        return ec_fail(EC_ERR_ARGUMENT,
                       "excess_db: line %d of the mask, %g to %g, covers no visible "
                       "direction of the grid",
                       number, line->from * unit, line->to * unit);
    return EC_OK;
}

/* p: of the norm, 0 for the maximum. */
static ec_expr add_excess(ec_graph *graph, ec_call *call, const char *name,
                          const ec_array_beam *beam, bool relative, int32_t n,
                          const ec_array_mask_line *lines, double p)
{
    ec_array_beam plain;

    ec_array_beam_default(&plain);
    const ec_array_beam *used = beam ? beam : &plain;
    if (n < 1 || !lines)
        return ec_fail(EC_ERR_ARGUMENT, "excess_db: the mask has no line");
    int status = relative ? check_beam(graph, call, name, used) : EC_OK;
    for (int32_t i = 0; i < n && status >= 0; i++)
        status = check_line(graph, call, used, &lines[i], i + 1);
    if (status < 0)
        return status;
    ec_pattern_spec *spec = new_spec(p > 0.0 ? EC_METRIC_NORM : EC_METRIC_EXCESS, used, relative);
    if (!spec)
        return EC_ERR_MEMORY;
    spec->shape = p;
    spec->lines = calloc(2 * (size_t)n, sizeof *spec->lines);
    if (!spec->lines) {
        ec_pattern_spec_destroy(spec);
        return ec_fail(EC_ERR_MEMORY, "excess_db: no memory for the mask");
    }
    for (int32_t i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++) {
            const double *limit = side ? lines[i].min : lines[i].max;
            if (!isfinite(limit[0]))
                continue;
            ec_pattern_line line = {
                lines[i].from, lines[i].to, {limit[0], limit[1]}, side ? -1 : 1};
            spec->lines[spec->n++] = line;
        }
    }
    return add_output(graph, call, name, spec, 0, p > 0.0 ? 0.0 : -1000.0, 1000.0);
}

ec_expr ec_array_excess_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam, bool relative,
                           int32_t n, const ec_array_mask_line *lines)
{
    return add_excess(graph, call, "excess_db", beam, relative, n, lines, 0.0);
}

ec_expr ec_array_excess_norm_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam,
                                bool relative, int32_t n, const ec_array_mask_line *lines, double p)
{
    if (!(p >= 2.0 && p <= 1000.0))
        return ec_fail(EC_ERR_RANGE, "excess_db: p is %g, allowed are 2 to 1000", p);
    return add_excess(graph, call, "excess_db", beam, relative, n, lines, p);
}

/* ---- levels ---- */

static int fill_directions(const ec_array_config *config, const char *name, ec_pattern_spec *spec,
                           int32_t n, const double *a, const double *b)
{
    bool needs_b = !ec_pattern_is_cut(config->kind);
    ec_pattern_gain gain;

    ec_pattern_gain_of(config, config->polarization, &gain);
    if (n < 1 || !a || (needs_b && !b))
        return ec_fail(EC_ERR_ARGUMENT, "%s: no direction is given%s", name,
                       n > 0 && a ? " in the second coordinate" : "");
    spec->n = n;
    spec->directions = calloc(4 * (size_t)n, sizeof *spec->directions);
    if (!spec->directions)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for its directions", name);
    for (int32_t k = 0; k < n; k++) {
        double d[3], x = a[k], y = b ? b[k] : config->fixed;
        if (!b && config->kind == EC_ARRAY_CUT_PHI) {
            x = config->fixed;
            y = a[k];
        }
        if (!isfinite(x) || !isfinite(y) || !ec_pattern_direct(config, x, y, d))
            return ec_fail(EC_ERR_RANGE, "%s: direction %d, (%g, %g), is not visible", name, k + 1,
                           x * unit_of(config->kind), y * unit_of(config->kind));
        for (int32_t i = 0; i < 3; i++)
            spec->directions[(size_t)i * (size_t)n + (size_t)k] = d[i];
        ec_direction at = {d[0], d[1], d[2]};
        spec->directions[3 * (size_t)n + (size_t)k] = ec_gain_power(&gain, at);
    }
    return EC_OK;
}

static ec_expr add_levels(ec_graph *graph, ec_call *call, const char *name, ec_pattern_kind kind,
                          const ec_array_beam *beam, bool relative, int32_t n, const double *a,
                          const double *b)
{
    ec_array_beam plain;

    ec_array_beam_default(&plain);
    int status = relative ? check_beam(graph, call, name, beam ? beam : &plain) : EC_OK;
    if (status < 0)
        return status;
    ec_pattern_spec *spec = new_spec(kind, beam, relative);
    if (!spec)
        return EC_ERR_MEMORY;
    status = fill_directions(ec_array_call_config(call), name, spec, n, a, b);
    if (status < 0) {
        ec_pattern_spec_destroy(spec);
        return status;
    }
    return add_output(graph, call, name, spec, kind == EC_METRIC_LEVEL ? n : 0, -1000.0, 1000.0);
}

ec_expr ec_array_level_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam, bool relative,
                          int32_t n, const double *a, const double *b)
{
    return add_levels(graph, call, "level_db", EC_METRIC_LEVEL, beam, relative, n, a, b);
}

ec_expr ec_array_null_depth_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam, int32_t n,
                               const double *a, const double *b)
{
    return add_levels(graph, call, "null_depth_db", EC_METRIC_NULL_DEPTH, beam, true, n, a, b);
}

/* A line that covers every direction and allows 0 dB: its excess is the pattern's maximum. */
static ec_expr highest(ec_graph *graph, ec_call *call, const char *name, const ec_array_beam *beam,
                       bool relative)
{
    bool cut = ec_pattern_is_cut(ec_array_call_config(call)->kind);
    ec_array_mask_line all = {
        cut ? -1e3 : 0.0, 1e3, {0.0, 0.0}, {-(double)INFINITY, -(double)INFINITY}};

    return add_excess(graph, call, name, beam, relative, 1, &all, 0.0);
}

ec_expr ec_array_xpol_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam)
{
    ec_array_config config = *ec_array_call_config(call);
    const ec_expr *in = call->in;
    ec_array_inputs inputs = {
        in[EC_PATTERN_X],         in[EC_PATTERN_Y],     in[EC_PATTERN_Z],
        in[EC_PATTERN_AMPLITUDE], in[EC_PATTERN_PHASE], in[EC_PATTERN_WAVELENGTH],
        in[EC_PATTERN_U0],        in[EC_PATTERN_V0],    in[EC_PATTERN_W0]};
    ec_call *part[2];

    if (!config.each && config.element.kind == (int32_t)EC_ELEMENT_KIND_ISOTROPIC)
        return ec_fail(
            EC_ERR_UNSUPPORTED,
            "xpol_db: isotropic elements have no vector field; give the array an element "
            "that has one");
    for (int k = 0; k < 2; k++) { /* the array again, in one polarization each */
        config.polarization = k ? EC_POLARIZATION_CROSS : EC_POLARIZATION_CO;
        int status = ec_array_call(graph, &config, &inputs, &part[k]);
        if (status < 0)
            return status;
    }
    ec_expr cross = highest(graph, part[1], "xpol_db", NULL, false);
    ec_expr most = highest(graph, part[0], "xpol_db", NULL, false);
    ec_expr over = highest(graph, part[0], "xpol_db", beam, true); /* the beam's peak */
    if (cross < 0 || most < 0 || over < 0)
        return EC_ERR_ARGUMENT;
    ec_expr peak = ec_graph_binary(graph, EC_OP_SUB, most, over);
    return ec_graph_binary(graph, EC_OP_MAX, ec_graph_binary(graph, EC_OP_SUB, cross, peak),
                           ec_graph_number(graph, -200.0));
}

bool ec_array_look_warning(const ec_graph *graph, ec_expr metric, double level, char *text,
                           size_t size)
{
    const ec_node *node = ec_graph_node(graph, metric);

    if (!(level < LOOK_LEAST))
        return false;
    snprintf(
        text, size,
        "%s: the look direction lies %.3g dB below the pattern's maximum: is the array steered "
        "there? (look_u, look_deg, ... of the metric look elsewhere)",
        node->call->out[node->output].name, -level);
    return true;
}

bool ec_array_extent_warning(const ec_graph *graph, const ec_call *call, char *text, size_t size)
{
    ec_array in[EC_PATTERN_INPUTS];
    ec_interval range[EC_PATTERN_INPUTS];
    ec_pattern_extent extent;
    const ec_array_config *config = ec_array_call_config(call);

    memset(in, 0, sizeof in);
    for (int i = 0; i < EC_PATTERN_INPUTS; i++) {
        const ec_node *node = ec_graph_node(graph, call->in[i]);
        in[i].elements = (size_t)node->elements;
        range[i] = node->range;
    }
    ec_plan_info info = {.in = in, .range = range};
    ec_pattern_measure(&info, config, &extent);
    return ec_pattern_odd_extent(&extent, config->elements, text, size);
}

ec_expr ec_array_look_level(ec_graph *graph, ec_expr metric)
{
    const ec_node *node = ec_graph_node(graph, metric);

    if (!node || node->op != EC_OP_CALL_OUTPUT || node->call->def != &ec_evaluator_array_pattern ||
        node->call->mode != EC_MODE_RUN)
        return EC_ERR_UNSUPPORTED;
    ec_call *call = node->call;
    const ec_pattern_spec *spec = (const ec_pattern_spec *)call->out[node->output].spec;
    ec_array_beam beam = spec->beam;
    double a = known_look(graph, call, &beam, 0), b = known_look(graph, call, &beam, 1);
    bool cut = ec_pattern_is_cut(ec_array_call_config(call)->kind);

    if (spec->kind == EC_METRIC_POINTING) /* its own figure says it */
        return EC_ERR_UNSUPPORTED;
    if (!spec->relative || spec->kind == EC_METRIC_PIECES || isnan(a) || (!cut && isnan(b)) ||
        ec_array_call_config(call)->kind == EC_ARRAY_DIRECTIONS)
        return EC_ERR_UNSUPPORTED;
    /* what is excluded is the beam: a difference's look direction is its null */
    if (!isnan(beam.exclude_a)) {
        ec_expr over = highest(graph, call, "excess_db", &beam, true);
        return over < 0 ? over : ec_graph_unary(graph, EC_OP_NEG, over);
    }
    ec_expr look = ec_array_level_db(graph, call, NULL, false, 1, &a, cut ? NULL : &b);
    ec_expr most = highest(graph, call, "excess_db", NULL, false);
    if (look < 0 || most < 0)
        return look < 0 ? look : most;
    return ec_graph_binary(graph, EC_OP_SUB, ec_graph_slice(graph, look, 0, 0), most);
}

/* ---- definitions ---- */

static void describe_look(const ec_array_config *config, const ec_array_beam *beam, char *text,
                          size_t size)
{
    bool surface = !ec_pattern_is_cut(config->kind);
    double unit = unit_of(config->kind);
    bool angle = unit != 1.0;

    if (isnan(beam->look_a))
        snprintf(text, size, "the steering direction");
    else if (surface)
        snprintf(text, size, "(%.6g, %.6g)%s", beam->look_a * unit, beam->look_b * unit,
                 angle ? " deg" : "");
    else
        snprintf(text, size, "%.6g%s", beam->look_a * unit, angle ? " deg" : "");
}

static void describe_beam(const ec_array_config *config, const ec_array_beam *beam, char *text,
                          size_t size)
{
    static const char *const names[] = {"u", "(u, v)", "theta", "phi", "(theta, phi)", "(u, v)"};
    double unit = unit_of(config->kind);
    bool angle = unit != 1.0;
    char look[80];

    describe_look(config, beam, look, sizeof look);
    if (isnan(beam->exclude_a))
        snprintf(text, size, "%s of the lobe that contains %s",
                 ec_pattern_is_cut(config->kind) ? "outside the first minima"
                                                 : "outside what a descending flood reaches",
                 look);
    else if (isnan(beam->exclude_b) && config->kind == EC_ARRAY_GRID_THETA_PHI)
        snprintf(text, size, "outside the cone of %.6g deg about %s", beam->exclude_a * unit, look);
    else if (isnan(beam->exclude_b))
        snprintf(text, size, "outside |%s - %s| > %.6g%s", names[config->kind], look,
                 beam->exclude_a * unit, angle ? " deg" : "");
    else
        snprintf(text, size, "outside the ellipse of half widths %.6g and %.6g%s about %s",
                 beam->exclude_a * unit, beam->exclude_b * unit, angle ? " deg" : "", look);
}

void ec_array_definition(const ec_graph *graph, ec_expr metric, char *text, size_t size)
{
    const ec_node *node = ec_graph_node(graph, metric);
    char beam[240];

    if (size)
        text[0] = '\0';
    if (!node || node->op != EC_OP_CALL_OUTPUT || node->call->def != &ec_evaluator_array_pattern ||
        node->call->mode != EC_MODE_RUN)
        return;
    const ec_array_config *config = ec_array_call_config(node->call);
    const ec_pattern_spec *spec = (const ec_pattern_spec *)node->call->out[node->output].spec;
    describe_beam(config, &spec->beam, beam, sizeof beam);
    const char *over = spec->relative ? "over the beam's peak" : "absolute, 20 log10 |F|";
    switch (spec->kind) {
    case EC_METRIC_SLL:
        snprintf(text, size, "side lobes %s, grating lobes included, over the beam's peak", beam);
        break;
    case EC_METRIC_SLL_MEAN:
        snprintf(text, size, "mean power %s, by %s, over the beam's peak", beam,
                 config->kind == EC_ARRAY_DIRECTIONS ? "number"
                 : config->kind == EC_ARRAY_CUT_U    ? "u"
                 : ec_pattern_is_cut(config->kind)   ? "angle"
                                                     : "solid angle");
        break;
    case EC_METRIC_TOWARDS:
        describe_look(config, &spec->beam, beam, sizeof beam);
        snprintf(text, size, "level towards %s, absolute, 20 log10 |F|", beam);
        break;
    case EC_METRIC_POINTING:
        describe_look(config, &spec->beam, beam, sizeof beam);
        snprintf(text, size, "angle from %s to the pattern's peak", beam);
        break;
    case EC_METRIC_HPBW:
        snprintf(text, size, "width between the half-power points of the main beam");
        break;
    case EC_METRIC_FNBW:
        snprintf(text, size, "width between the first minima on either side of the main beam");
        break;
    case EC_METRIC_DIRECTIVITY:
        describe_look(config, &spec->beam, beam, sizeof beam);
        snprintf(text, size, "directivity towards %s, power over the %s", beam,
                 config->integrate == EC_INTEGRATE_SPHERE ? "sphere" : "hemisphere");
        break;
    case EC_METRIC_EXCESS:
        if (strcmp(node->call->out[node->output].name, "xpol_db") == 0)
            snprintf(text, size, "highest level of the grid, %s", over);
        else
            snprintf(text, size, "highest excess over a mask of %d limits, levels %s", spec->n,
                     over);
        break;
    case EC_METRIC_SOFT:
        snprintf(text, size, "soft maximum (%.6g dB) of the side lobes %s, over the beam's peak",
                 spec->shape, beam);
        break;
    case EC_METRIC_NORM:
        snprintf(text, size, "%.6g-norm of the excess over a mask of %d limits, levels %s",
                 spec->shape, spec->n, over);
        break;
    case EC_METRIC_LEVEL:
        snprintf(text, size, "level at %d directions, %s", spec->n, over);
        break;
    case EC_METRIC_NULL_DEPTH:
        snprintf(text, size, "highest level at %d directions, %s", spec->n, over);
        break;
    case EC_METRIC_PATTERN:
        snprintf(text, size, "complex pattern, element factor included");
        break;
    case EC_METRIC_PIECES:
        snprintf(text, size, "%d followed maxima, %s", spec->n, over);
        break;
    }
    size_t used = size ? strlen(text) : 0;
    snprintf(text + used, size - used, "%s", ec_pattern_polarization_text(config));
}
