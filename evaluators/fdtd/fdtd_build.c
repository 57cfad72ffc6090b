/* fdtd_build.c: a candidate's numbers into lines, objects and a pulse; fdtd_ports.c has its ports. */
#include "fdtd_build_internal.h"

#include "fdtd_ports_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- what all candidates share ------------------------------------------------------------------ */

/* The time constant T of e^(-(t / T)^2) whose spectrum e^(-(pi f T)^2) is 20 dB down at `width`. */
static double pulse_time(double width)
{
    return sqrt(log(10)) / (EC_PI * width);
}

/* Whether a source may leave a charge behind that nothing takes away: a current into an insulated
 * conductor. */
static bool charges(const ec_fdtd_config *c)
{
    for (int32_t p = 0; p < c->n_ports; p++) {
        const ec_fdtd_port *port = c->ports + p;
        if (port->kind == EC_FDTD_CURRENT ||
            (ec_fdtd_is_line(port->kind) && port->ohms.expr < 0 && isinf(port->ohms.value)))
            return true;
    }
    return false;
}

void ec_fdtd_shape_along(ec_fdtd_shape *s, int32_t lanes)
{
    s->along[0] = (s->layers[0][0] + lanes - 1) / lanes * lanes;
    s->along[1] = s->layers[0][1] > 0 ? (s->n[0] - s->layers[0][1]) / lanes * lanes : s->pitch;
    if (s->along[1] < s->along[0])
        s->along[1] = s->along[0];
    s->slab[0] = s->along[0] + s->pitch - s->along[1];
    s->memory[0] = (int64_t)s->slab[0] * s->rows * (s->n[2] + 1);
}

void ec_fdtd_setup_init(const ec_fdtd_model *model, const ec_fdtd_line_plan *lines,
                        ec_fdtd_setup *setup)
{
    const ec_fdtd_config *c = &model->config;
    ec_fdtd_shape *s = &setup->shape;

    memset(setup, 0, sizeof *setup);
    setup->model = model;
    setup->lines = lines;
    setup->n_probes = ec_fdtd_line_probe(c, c->n_ports);
    for (int i = 0; i < 3; i++) {
        s->n[i] = ec_fdtd_line_cells(lines, i);
        for (int side = 0; side < 2; side++)
            s->layers[i][side] = ec_fdtd_line_layers(lines, i, side);
        s->periodic[i] = c->wall[i][0] == EC_FDTD_WALL_PERIODIC;
        s->nodes[i] =
            s->n[i] + (s->periodic[i] || c->wall[i][1] == EC_FDTD_WALL_PMC); /* PML ends in PEC */
        s->slab[i] = s->layers[i][0] + s->layers[i][1] + (s->layers[i][1] > 0);
    }
    s->pitch = (s->n[0] + EC_FDTD_LANES) / EC_FDTD_LANES * EC_FDTD_LANES;
    s->rows = s->n[1] + 1;
    s->plane = (int64_t)s->pitch * s->rows;
    /* The components of an edge lie in other sets of a cache: apart by 4 KiB and 320 bytes (640 bytes). */
    s->field = (s->plane * (s->n[2] + 3) + 1023) / 1024 * 1024 + 80;
    ec_fdtd_shape_along(s, EC_FDTD_QUAD);
    s->memory[1] = (int64_t)s->slab[1] * s->pitch * (s->n[2] + 1);
    s->memory[2] = (int64_t)s->slab[2] * s->plane;
    for (int32_t i = 0; i < c->n_materials; i++) {
        const ec_fdtd_material *m = c->materials + i;
        if (m->mu_r.expr >= 0 || m->mu_r.value != 1 || m->magnetic_conductivity.expr >= 0 ||
            m->magnetic_conductivity.value != 0)
            setup->magnetic = true;
    }
    setup->magnetic = setup->magnetic || c->grid.conformal || c->grid.edge_correction;
    const double low = c->frequency[0], high = c->frequency[c->n_frequencies - 1];
    setup->pulse = c->pulse != EC_FDTD_PULSE_AUTO ? c->pulse
                   : low < 0.2 * high ? (charges(c) ? EC_FDTD_DIFFERENTIATED : EC_FDTD_GAUSSIAN)
                                      : EC_FDTD_MODULATED;
    setup->pulse_centre = isfinite(c->pulse_centre) ? c->pulse_centre : 0.5 * (low + high);
    setup->pulse_width = isfinite(c->pulse_width)            ? c->pulse_width
                         : setup->pulse == EC_FDTD_MODULATED ? fmax(0.5 * (high - low), 0.1 * high)
                                                             : high;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static double *reals(size_t n)
{
    return calloc(n, sizeof(double));
}

static bool allocate(const ec_fdtd_setup *s, ec_fdtd_build *b)
{
    const ec_fdtd_config *c = &s->model->config;
    size_t points = 0;
    bool ok = true;

    for (int i = 0; i < 3; i++) {
        double **list[] = {b->line + i, b->id_e + i, b->id_h + i, b->be + i,
                           b->ce + i,   b->bh + i,   b->ch + i};
        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            ok = (*list[k] = reals((size_t)s->shape.n[i] + 1)) && ok;
    }
    for (int32_t i = 0; i < c->n_objects; i++)
        points += (size_t)c->objects[i].n_points;
    b->solid = calloc((size_t)c->n_objects + 1, sizeof *b->solid);
    b->medium = calloc((size_t)c->n_materials + 1, sizeof *b->medium);
    b->point = reals(2 * points + 1);
    b->run = calloc((size_t)c->n_ports + 1, sizeof *b->run);
    b->n_sources = calloc((size_t)c->n_ports + 1, sizeof *b->n_sources);
    b->source = calloc((size_t)c->n_ports + 1, sizeof *b->source);
    return ok && b->solid && b->medium && b->point && b->run && b->n_sources && b->source;
}

/* Grading of the absorbing layers at depth x (0 at their inner side, 1 at the wall) behind cells of
 * size d: b and c of psi, and kappa. */
static void absorb(const ec_fdtd_config *c, double x, double d, double dt, double *pb, double *pc,
                   double *kappa)
{
    const double best = 0.8 * (c->pml_order + 1) / (EC_FDTD_ETA0 * d);
    const double grade = pow(x, c->pml_order);
    const double sigma = c->pml_sigma * best * grade,
                 alpha = c->pml_alpha * pow(1 - x, c->pml_alpha_order);

    *kappa = 1 + (c->pml_kappa - 1) * grade;
    *pb = exp(-(sigma / *kappa + alpha) * dt / EC_FDTD_EPS0);
    /* The derivative that psi sees has 1 / kappa in it already. */
    *pc = sigma > 0 ? sigma * (*pb - 1) / (sigma + *kappa * alpha) : 0;
}

static void spacings(const ec_fdtd_setup *s, ec_fdtd_build *b)
{
    const ec_fdtd_config *c = &s->model->config;

    for (int axis = 0; axis < 3; axis++) {
        const double *x = b->line[axis];
        b->end[axis][0] = x[s->shape.layers[axis][0]];
        b->end[axis][1] = x[s->shape.n[axis] - s->shape.layers[axis][1]];
    }
    b->dt =
        ec_fdtd_line_step(s->lines, (const double *const[3]){b->line[0], b->line[1], b->line[2]});
    for (int axis = 0; axis < 3; axis++) {
        const double *x = b->line[axis];
        const int n = s->shape.n[axis];
        for (int i = 0; i <= n; i++)
            for (int half = 0; half < 2; half++) { /* node i, cell i */
                double kappa = 1;
                double *pb = (half ? b->bh : b->be)[axis] + i,
                       *pc = (half ? b->ch : b->ce)[axis] + i;
                const double at = i + 0.5 * half;
                const double d =
                    half ? (i < n ? x[i + 1] - x[i] : 0) : ec_fdtd_dual(&s->shape, x, axis, i);
                for (int side = 0; side < 2; side++) {
                    const int layers = s->shape.layers[axis][side];
                    const double depth = side ? at - (n - layers) : layers - at;
                    if (layers > 0 && depth > 0 && i + half <= n)
                        absorb(c, depth / layers, side ? x[n] - x[n - 1] : x[1] - x[0], b->dt, pb,
                               pc, &kappa);
                }
                (half ? b->id_h : b->id_e)[axis][i] = d > 0 ? 1 / (kappa * d) : 0;
            }
    }
}

/* ---- objects ------------------------------------------------------------------------------------ */

static double value_of(ec_fdtd_number n, const double *values)
{
    return ec_fdtd_number_of(n, values);
}

/* The line that an edge at x has, or x where it has none. */
static double on_line(const ec_fdtd_setup *s, int32_t owner, int axis, double x, ec_fdtd_build *b)
{
    const double *line = b->line[axis];
    const int n = s->shape.n[axis];

    if (!(x >= line[0] && x <= line[n]))
        return x;
    const double nearest = line[ec_fdtd_nearest_line(n, line, x)], moved = fabs(nearest - x);
    if (moved > ec_fdtd_line_reach(s->lines, axis))
        return x;
    if (moved > b->moved) {
        b->moved = moved;
        b->moved_axis = axis;
        b->moved_owner = owner;
    }
    return nearest;
}

/* Plane faces go to their lines. */
static void to_lines(const ec_fdtd_setup *s, const ec_fdtd_object *o, ec_fdtd_build *b,
                     ec_fdtd_solid *to)
{
    const int32_t owner = (int32_t)(o - s->model->config.objects), n = o->n_points;
    double *point = b->point + 2 * to->first_point;

    for (int i = 0; i < 3; i++) {
        const bool flat =
            to->kind == EC_FDTD_SOLID_BOX || (to->kind != EC_FDTD_SOLID_SPHERE && i == o->axis);
        if (!flat)
            continue;
        if (o->kind == EC_FDTD_WIRE && i != o->axis) { /* its middle has the line */
            const double middle = 0.5 * (to->lo[i] + to->hi[i]);
            const double shift = on_line(s, owner, i, middle, b) - middle;
            to->lo[i] += shift;
            to->hi[i] += shift;
            continue;
        }
        to->lo[i] = on_line(s, owner, i, to->lo[i], b);
        to->hi[i] = on_line(s, owner, i, to->hi[i], b);
    }
    for (int t = 0; t < 2 && to->kind == EC_FDTD_SOLID_POLYGON; t++) {
        const int axis = (o->axis + 1 + t) % 3;
        const double close = 1e-9 * (to->hi[axis] - to->lo[axis]);
        for (int32_t p = 0; p < n; p++) { /* both ends of a side across the axis, as it was */
            const int32_t next = (p + 1) % n;
            const double x = point[2 * p + t], y = point[2 * next + t];
            if (fabs(x - y) > close)
                continue;
            const double line = on_line(s, owner, axis, x, b);
            point[2 * p + t] = line;
            point[2 * next + t] = line;
        }
        to->lo[axis] = INFINITY;
        to->hi[axis] = -INFINITY;
        for (int32_t p = 0; p < n; p++) {
            to->lo[axis] = fmin(to->lo[axis], point[2 * p + t]);
            to->hi[axis] = fmax(to->hi[axis], point[2 * p + t]);
        }
    }
}

static void solid(const ec_fdtd_setup *s, const ec_fdtd_object *o, const double *values,
                  ec_fdtd_build *b, ec_fdtd_solid *to)
{
    double at[3], size[3], other[3];
    const double radius = value_of(o->radius, values), length = value_of(o->length, values);

    memset(to, 0, sizeof *to);
    to->axis = o->axis;
    to->material = o->material;
    to->metal = s->model->metal[o - s->model->config.objects];
    to->both_sides = to->metal >= 0 && s->model->config.materials[to->metal].both_sides;
    for (int i = 0; i < 3; i++) {
        at[i] = value_of(o->at[i], values);
        size[i] = value_of(o->size[i], values);
        other[i] = value_of(o->to[i], values);
        to->lo[i] = at[i];
        to->hi[i] = at[i];
    }
    to->radius = radius;
    to->inner = value_of(o->inner_radius, values);
    switch (o->kind) {
    case EC_FDTD_BOX:
    case EC_FDTD_PLATE:
        for (int i = 0; i < 3; i++) {
            const double half = o->kind == EC_FDTD_PLATE && i == o->axis ? 0 : 0.5 * size[i];
            to->lo[i] = at[i] - half;
            to->hi[i] = at[i] + half;
        }
        break;
    case EC_FDTD_CYLINDER:
    case EC_FDTD_SPHERE:
        to->kind = o->kind == EC_FDTD_SPHERE ? EC_FDTD_SOLID_SPHERE : EC_FDTD_SOLID_CYLINDER;
        for (int i = 0; i < 3; i++) {
            const double half = o->kind == EC_FDTD_CYLINDER && i == o->axis ? 0.5 * length : radius;
            to->lo[i] = at[i] - half;
            to->hi[i] = at[i] + half;
        }
        break;
    case EC_FDTD_POLYGON: {
        const int u = (o->axis + 1) % 3, v = (o->axis + 2) % 3;
        to->kind = EC_FDTD_SOLID_POLYGON;
        to->first_point = b->n_points;
        to->n_points = o->n_points;
        to->lo[u] = to->lo[v] = INFINITY;
        to->hi[u] = to->hi[v] = -INFINITY;
        for (int32_t p = 0; p < o->n_points; p++)
            for (int t = 0; t < 2; t++) {
                const int axis = t ? v : u;
                const double x = at[axis] + value_of(o->points[p][t], values);
                b->point[2 * (b->n_points + p) + t] = x;
                to->lo[axis] = fmin(to->lo[axis], x);
                to->hi[axis] = fmax(to->hi[axis], x);
            }
        to->hi[o->axis] = at[o->axis] + length;
        b->n_points += o->n_points;
        break;
    }
    case EC_FDTD_WIRE:
        for (int i = 0; i < 3; i++) {
            to->lo[i] = fmin(at[i], other[i]) - (i == o->axis ? 0 : radius);
            to->hi[i] = fmax(at[i], other[i]) + (i == o->axis ? 0 : radius);
        }
        break;
    }
    to_lines(s, o, b, to);
    /* What touches an end of the domain goes on beyond it: its surface is not there. */
    for (int i = 0; i < 3; i++) {
        const double all = b->end[i][1] - b->end[i][0];
        const bool flat =
            to->kind == EC_FDTD_SOLID_BOX || (to->kind != EC_FDTD_SOLID_SPHERE && i == o->axis);
        if (!flat || to->lo[i] == to->hi[i])
            continue;
        if (fabs(to->lo[i] - b->end[i][0]) < 1e-9 * all)
            to->lo[i] -= all;
        if (fabs(to->hi[i] - b->end[i][1]) < 1e-9 * all)
            to->hi[i] += all;
    }
    if (o->material == EC_FDTD_FREE_SPACE && o->kind == EC_FDTD_PLATE) {
        const double ohms = value_of(o->ohms, values);
        to->sheet = ohms > 0 ? 1 / ohms : 0;
    }
}

/* In the order in which later ones count: by priority, then as they were given. */
static int by_priority(const void *a, const void *b)
{
    const ec_fdtd_object *const *x = a, *const *y = b;
    if ((*x)->priority != (*y)->priority)
        return (*x)->priority < (*y)->priority ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

const ec_fdtd_object **ec_fdtd_objects_in_order(const ec_fdtd_config *c)
{
    const ec_fdtd_object **order = malloc(((size_t)c->n_objects + 1) * sizeof *order);

    for (int32_t i = 0; i < c->n_objects && order; i++)
        order[i] = c->objects + i;
    if (order)
        qsort(order, (size_t)c->n_objects, sizeof *order, by_priority);
    return order;
}

static int objects(const ec_fdtd_setup *s, const double *values, ec_fdtd_build *b)
{
    const ec_fdtd_config *c = &s->model->config;
    const ec_fdtd_object **order = ec_fdtd_objects_in_order(c);

    if (!order)
        return ec_fail(EC_ERR_MEMORY, "no memory for %d objects", c->n_objects);
    b->n_solids = c->n_objects;
    for (int32_t i = 0; i < c->n_objects; i++)
        solid(s, order[i], values, b, b->solid + i);
    free(order);
    b->n_media = c->n_materials;
    for (int32_t i = 0; i < c->n_materials; i++) {
        const ec_fdtd_material *m = c->materials + i;
        ec_fdtd_medium *to = b->medium + i;
        to->index = i;
        if (m->metal) { /* its poles are all of it */
            const double conductivity = value_of(m->conductivity, values);
            if (!(conductivity > 0) || !isfinite(conductivity))
                return ec_fail(EC_ERR_RANGE,
                               "material '%s': the conductivity of a metal is %g S/m: it must be "
                               "above 0",
                               m->name ? m->name : "", conductivity);
            const double top = c->frequency[c->n_frequencies - 1];
            const double least = 10 * 2 * EC_PI * top * EC_FDTD_EPS0;
            if (conductivity < least)
                return ec_fail(
                    EC_ERR_RANGE,
                    "material '%s': %g S/m is no metal at %g GHz, where one has at least "
                    "%.3g S/m; what conducts less has eps_r and conductivity",
                    m->name ? m->name : "", conductivity, 1e-9 * top, least);
            to->eps_r = to->mu_r = 1;
            continue;
        }
        to->eps_r = value_of(m->eps_r, values);
        to->mu_r = value_of(m->mu_r, values);
        to->sigma = value_of(m->conductivity, values);
        to->sigma_m = value_of(m->magnetic_conductivity, values);
        const double loss = value_of(m->loss_tangent, values);
        if (loss > 0)
            to->sigma += loss * 2 * EC_PI * m->loss_frequency * EC_FDTD_EPS0 * to->eps_r;
        if (!(to->eps_r > 0) || !(to->mu_r > 0) || !(to->sigma >= 0) || !(to->sigma_m >= 0))
            return ec_fail(EC_ERR_RANGE,
                           "material '%s': eps_r %g, mu_r %g, conductivity %g S/m, magnetic "
                           "conductivity %g ohm/m: the first two must be above 0, the others not "
                           "below 0",
                           m->name ? m->name : "", to->eps_r, to->mu_r, to->sigma, to->sigma_m);
        const double slow = fmin(to->eps_r, 1) * fmin(to->mu_r, 1);
        /* Corrections at the edges of plates take all that the smaller step gives. */
        const double step = c->grid.edge_correction ? c->courant : ec_fdtd_step_part(c);
        if (slow < step * step)
            return ec_fail(EC_ERR_RANGE,
                           "material '%s': eps_r %g, mu_r %g: waves faster than light need a "
                           "courant of at most %g (it is %g)",
                           m->name ? m->name : "", to->eps_r, to->mu_r,
                           c->courant * sqrt(slow) / step, c->courant);
    }
    return EC_OK;
}

/* ---- pulse -------------------------------------------------------------------------------------- */

static double pulse_middle(const ec_fdtd_setup *s)
{
    return 4.5 * pulse_time(s->pulse_width); /* -88 dB at its ends */
}

double ec_fdtd_pulse_at(const ec_fdtd_setup *s, double time)
{
    const double T = pulse_time(s->pulse_width), t = time - pulse_middle(s);
    const double g = exp(-t * t / (T * T));

    return s->pulse == EC_FDTD_GAUSSIAN         ? g
           : s->pulse == EC_FDTD_DIFFERENTIATED ? -sqrt(2) * exp(0.5) * t / T * g
                                                : g * sin(2 * EC_PI * s->pulse_centre * t);
}

double ec_fdtd_pulse_end(const ec_fdtd_setup *s)
{
    return 2 * s->pulse_width + (s->pulse == EC_FDTD_MODULATED ? s->pulse_centre : 0);
}

static int pulse(const ec_fdtd_setup *s, ec_fdtd_build *b)
{
    const double t0 = pulse_middle(s);

    const double steps = ceil(2 * t0 / b->dt);
    const int64_t most = s->model->config.max_steps;
    if (!isfinite(steps))
        return ec_fail(
            EC_ERR_RANGE,
            "the pulse has %g steps of %g s: frequencies, pulse_width and courant make it so",
            steps, b->dt);
    b->n_wave = steps < (double)most ? (int64_t)steps : most; /* the rest is never driven */
    b->wave = reals((size_t)b->n_wave + 1);
    if (!b->wave)
        return ec_fail(EC_ERR_MEMORY, "no memory for a pulse of %lld steps", (long long)b->n_wave);
    for (int64_t i = 0; i < b->n_wave; i++)
        b->wave[i] = ec_fdtd_pulse_at(s, ((double)i + 0.5) * b->dt);
    return EC_OK;
}

static double bell(double x)
{
    return exp(-x * x);
}

double ec_fdtd_pulse_level(const ec_fdtd_setup *s, double frequency)
{
    const double scale = EC_PI * pulse_time(s->pulse_width), x = scale * frequency;

    if (s->pulse == EC_FDTD_GAUSSIAN)
        return bell(x);
    if (s->pulse == EC_FDTD_DIFFERENTIATED)
        return sqrt(2) * exp(0.5) * x * bell(x);
    const double centre = scale * s->pulse_centre;
    return fabs(bell(x - centre) - bell(x + centre));
}

void ec_fdtd_raster_of(const ec_fdtd_setup *setup, const ec_fdtd_build *b,
                       ec_fdtd_structure *structure, ec_fdtd_raster_args *args)
{
    const ec_fdtd_config *c = &setup->model->config;

    *structure = (ec_fdtd_structure){.solid = b->solid,
                                     .n_solids = b->n_solids,
                                     .point = b->point,
                                     .medium = b->medium,
                                     .n_media = b->n_media,
                                     .load = b->load,
                                     .n_loads = b->n_loads,
                                     .dt = b->dt};
    *args = (ec_fdtd_raster_args){.shape = setup->shape,
                                  .structure = structure,
                                  .averaging = c->grid.averaging,
                                  .conformal = c->grid.conformal,
                                  .edge_correction = c->grid.edge_correction,
                                  .double_precision = c->double_precision};
    for (int i = 0; i < 3; i++) {
        structure->line[i] = b->line[i];
        memcpy(structure->end[i], b->end[i], sizeof b->end[i]);
        for (int side = 0; side < 2; side++)
            args->magnetic_wall[i][side] = c->wall[i][side] == EC_FDTD_WALL_PMC;
    }
}

/* ---- build -------------------------------------------------------------------------------------- */

static int outline(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build **build)
{
    ec_fdtd_build *b = calloc(1, sizeof *b);
    int status;

    *build = b;
    if (!b || !allocate(setup, b))
        return ec_fail(EC_ERR_MEMORY, "no memory for a domain's lines");
    if ((status = ec_fdtd_lay_lines(setup->lines, values, b->line)) != EC_OK)
        return status;
    spacings(setup, b);
    if ((status = objects(setup, values, b)) != EC_OK || (status = pulse(setup, b)) != EC_OK ||
        (status = ec_fdtd_ports_build(setup, values, b)) != EC_OK)
        return status;
    return ec_fdtd_poles_lay(setup, values, b);
}

int ec_fdtd_build_outline(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build **build)
{
    const int status = outline(setup, values, build);

    if (status != EC_OK)
        ec_fdtd_build_destroy(setup, build);
    return status;
}

int ec_fdtd_build_create_unless(const ec_fdtd_setup *setup, const double *values,
                                const ec_interrupt *interrupt, ec_fdtd_build **build)
{
    ec_fdtd_build *b = NULL;
    int status = outline(setup, values, &b);

    if (status == EC_OK)
        status = ec_fdtd_poles_edges(setup, interrupt, b);
    if (status == EC_OK)
        *build = b;
    else
        ec_fdtd_build_destroy(setup, &b);
    return status;
}

int ec_fdtd_build_create(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build **build)
{
    return ec_fdtd_build_create_unless(setup, values, NULL, build);
}

void ec_fdtd_build_destroy(const ec_fdtd_setup *setup, ec_fdtd_build **build)
{
    ec_fdtd_build *b = *build;

    if (!b)
        return;
    for (int i = 0; i < 3; i++) {
        double *list[] = {b->line[i], b->id_e[i], b->id_h[i], b->be[i],
                          b->ce[i],   b->bh[i],   b->ch[i]};
        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            free(list[k]);
    }
    for (int32_t p = 0; b->source && p < setup->model->config.n_ports; p++)
        free(b->source[p]);
    free(b->dispersive);
    free(b->part);
    free(b->pole);
    free(b->solid);
    free(b->medium);
    free(b->point);
    free(b->load);
    free(b->e_term);
    free(b->h_term);
    free(b->branch);
    free(b->run);
    free(b->n_sources);
    free(b->source);
    free(b->wave);
    free(b);
    *build = NULL;
}
