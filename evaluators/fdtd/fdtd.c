/* fdtd.c: records calls, plans and runs them. */
#include "fdtd.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdtd_box_internal.h"
#include "fdtd_drive_internal.h"
#include "fdtd_final_internal.h"
#include "fdtd_line_plan_internal.h"
#include "fdtd_modes_internal.h"

/* What a fidelity has for itself. */
typedef struct level {
    ec_fdtd_model *model;
    ec_fdtd_line_plan *lines;
    ec_fdtd_setup fdtd;
    bool has_room; /* for far fields: known for some design */
} level;

/* A call's configuration. */
typedef struct setup {
    level at[2];     /* of the search; of final fidelity, without a model where it is the same */
    ec_graph *graph; /* while the call is made */
    int32_t n_in;
    ec_expr *in;
    atomic_flag told[2]; /* each level's hints */
} setup;

static bool has_final(const setup *s)
{
    return s->at[1].model != NULL;
}

static const level *level_of(const setup *s, ec_fidelity fidelity)
{
    return s->at + (fidelity != EC_SEARCH && has_final(s));
}

static void setup_destroy(void *config)
{
    setup *s = config;

    if (!s)
        return;
    for (int i = 0; i < 2; i++) {
        ec_fdtd_line_plan_destroy(&s->at[i].lines);
        ec_fdtd_model_destroy(&s->at[i].model);
    }
    free(s->in);
    free(s);
}

/* ---- calls -------------------------------------------------------------------------------------- */

void ec_fdtd_config_default(ec_fdtd_config *config)
{
    *config = (ec_fdtd_config){
        .grid = {.cells_per_wavelength = 20,
                 .growth = 1.4,
                 .largest = NAN,
                 .smallest = NAN,
                 .least_cells = 2,
                 .averaging = 1,
                 .air = NAN},
        .layers = 8,
        .pml_order = 3,
        .pml_kappa = 8,
        .pml_alpha = 0.05,
        .pml_alpha_order = 1,
        .pml_sigma = 1.1,
        .pulse_centre = NAN,
        .pulse_width = NAN,
        .courant = 0.99,
        .max_steps = 200000,
        .decay_db = 40,
        .wave = {.theta = {0, -1}, .phi = {0, -1}, .polarization = {0, -1}},
    };
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            config->wall[axis][side] = EC_FDTD_WALL_PML;
            config->grid.domain[side][axis] = (ec_fdtd_number){NAN, -1};
        }
}

static int check(const ec_fdtd_config *c)
{
    if (c->n_frequencies < 1 || !c->frequency)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: at least one frequency is needed");
    for (int32_t i = 0; i < c->n_frequencies; i++)
        if (!(c->frequency[i] > 0) || !isfinite(c->frequency[i]) ||
            (i > 0 && c->frequency[i] <= c->frequency[i - 1]))
            return ec_fail(EC_ERR_RANGE,
                           "fdtd: frequency %d is %g Hz: they must be above 0 and ascending", i + 1,
                           c->frequency[i]);
    if (c->max_steps < 1)
        return ec_fail(EC_ERR_RANGE, "fdtd: max_steps is %lld: at least 1 is needed",
                       (long long)c->max_steps);
    if (!(c->courant > 0) || !(c->courant <= 1))
        return ec_fail(EC_ERR_RANGE,
                       "fdtd: courant is %g: above 0 and at most 1 is stable (a part of the limit "
                       "of the grid's smallest cells)",
                       c->courant);
    if (c->grid.averaging < 1 || c->grid.averaging > 8)
        return ec_fail(EC_ERR_RANGE, "fdtd: averaging is %d: 1 to 8 samples are possible",
                       c->grid.averaging);
    for (int axis = 0; axis < 3; axis++)
        if ((c->wall[axis][0] == EC_FDTD_WALL_PERIODIC) !=
            (c->wall[axis][1] == EC_FDTD_WALL_PERIODIC))
            return ec_fail(EC_ERR_ARGUMENT,
                           "fdtd: only the %s wall of axis %c is periodic: both sides of an axis "
                           "are, or none",
                           c->wall[axis][0] == EC_FDTD_WALL_PERIODIC ? "low" : "high", "xyz"[axis]);
    if (c->grid.conformal && c->grid.edge_correction)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "fdtd: conformal and edge_correction do not go together: give one of them");
    for (int32_t i = 0; i < c->n_objects; i++) {
        const ec_fdtd_object *o = c->objects + i;
        if (o->material < 0 || o->material >= c->n_materials || !c->materials[o->material].metal)
            continue;
        if (o->kind == EC_FDTD_WIRE)
            return ec_fail(EC_ERR_UNSUPPORTED, "fdtd: %s: a wire is a perfect conductor",
                           o->name ? o->name : "wire");
        if (c->grid.conformal || (c->final.on && c->final.grid.conformal))
            return ec_fail(EC_ERR_UNSUPPORTED,
                           "fdtd: %s: its metal has losses, which conformal conductors do not have",
                           o->name ? o->name : "");
    }
    for (int i = 0; i < 6 && c->wave.on; i++)
        if (c->wall[i / 2][i % 2] != EC_FDTD_WALL_PML)
            return ec_fail(EC_ERR_UNSUPPORTED,
                           "fdtd: a plane wave wants absorbing walls on all sides: that at the %s "
                           "end of %c is none",
                           i % 2 ? "high" : "low", "xyz"[i / 2]);
    for (int32_t i = 0; i < c->n_ports; i++) {
        const ec_fdtd_port *p = c->ports + i;
        if (ec_fdtd_is_line(p->kind) &&
            (p->line_axis < 0 || p->line_axis > 2 || p->line_axis == p->axis ||
             (p->line_sign != 1 && p->line_sign != -1)))
            return ec_fail(EC_ERR_ARGUMENT,
                           "fdtd: port '%s': its line must run across it, along an axis of the "
                           "grid, towards +1 or -1",
                           p->name ? p->name : "");
    }
    return EC_OK;
}

/* Makes a number's expression an input, or a constant where it is one. */
static int bind(void *user, ec_fdtd_number *number, const char *what)
{
    setup *s = user;

    if (number->expr < 0) {
        number->expr = -1;
        return EC_OK;
    }
    const ec_node *n = ec_graph_node(s->graph, number->expr);
    if (!n)
        return ec_fail(EC_ERR_ARGUMENT, "%s is no expression of this graph", what);
    if (n->elements != 1 || n->dtype == EC_C64 || n->dtype == EC_C128)
        return ec_fail(EC_ERR_SHAPE, "%s: wants one real number, got %s%d", what,
                       n->elements != 1 ? "a list of " : "a complex value of ", n->elements);
    if (n->op == EC_OP_CONSTANT) {
        *number = (ec_fdtd_number){n->data[0], -1};
        return EC_OK;
    }
    int32_t at = 0;
    while (at < s->n_in && s->in[at] != number->expr)
        at++;
    if (at == s->n_in) {
        ec_expr *in = realloc(s->in, ((size_t)s->n_in + 1) * sizeof *in);
        if (in)
            s->in = in;
        ec_interval *range =
            realloc(s->at[0].model->range, ((size_t)s->n_in + 1) * sizeof *s->at[0].model->range);
        if (range)
            s->at[0].model->range = range;
        if (!in || !range)
            return ec_fail(EC_ERR_MEMORY, "no memory for a model's numbers");
        if (!isfinite(n->range.lo) || !isfinite(n->range.hi))
            return ec_fail(EC_ERR_RANGE,
                           "%s: its range is %g to %g: a grid needs finite ones (ec.declare "
                           "narrows a range)",
                           what, n->range.lo, n->range.hi);
        s->in[s->n_in] = number->expr;
        s->at[0].model->range[s->n_in++] = n->range;
    }
    number->expr = at;
    return EC_OK;
}

/* What a design has to have room for: inset < 0, nothing. */
typedef struct room {
    int32_t inset; /* of the box, as in fdtd_box_internal.h */
    const char *what;
} room;

/* Of the designs that the grid was laid for, how many can be built, with what is asked for; the sentence
 * for the first that cannot. */
static int32_t count_designs(const level *l, const room *r, int *status, char *text, size_t size)
{
    const ec_fdtd_box box = ec_fdtd_box_of(&l->fdtd, r->inset < 0 ? 0 : r->inset);
    int32_t good = 0;

    *status = EC_OK;
    for (int32_t i = 0; i == 0 || i < l->model->n_designs; i++) {
        const double *values = l->model->designs + (size_t)i * (size_t)l->model->n_numbers;
        ec_fdtd_build *build = NULL;
        int made = ec_fdtd_build_outline(&l->fdtd, values, &build);
        if (made >= 0 && r->inset >= 0)
            made = ec_fdtd_box_check(&l->fdtd, build, &box, values, r->what);
        if (build)
            ec_fdtd_build_destroy(&l->fdtd, &build);
        good += made >= 0;
        if (made < 0 && *status == EC_OK) {
            *status = made;
            snprintf(text, size, "%s", ec_error_text());
        }
    }
    return good;
}

static const room no_room = {-1, NULL};
static const room far_room = {EC_FDTD_FAR_INSET, "far field"};
static const room wave_room = {EC_FDTD_WAVE_INSET, "plane wave"};

/* Whether one of the designs that the grid was laid for can be built: if none can, why not the middle
 * one, at the call's place in a script instead of in the log of a run. */
static int check_designs(const level *l, const room *r)
{
    char text[400] = "", hint[400];
    int status;

    if (count_designs(l, r, &status, text, sizeof text) > 0)
        return EC_OK;
    const bool apart = ec_fdtd_line_apart(l->lines, hint, sizeof hint);
    return ec_fail(status, apart ? "%s (%s)" : "%s", text, hint);
}

static int plan_level(level *l)
{
    int status = ec_fdtd_line_plan_create(l->model, NULL, &l->lines);

    if (status < 0)
        return status;
    ec_fdtd_setup_init(l->model, l->lines, &l->fdtd);
    return check_designs(l, l->model->config.wave.on ? &wave_room : &no_room);
}

/* The level of final fidelity, of the same numbers. */
static int add_final(setup *s)
{
    level *final = s->at + 1;
    int status = ec_fdtd_final_model(s->at[0].model, &final->model);

    if (status >= 0)
        status = plan_level(final);
    if (status >= 0)
        status = ec_fdtd_final_check_lines(s->at[0].lines, final->lines);
    return status;
}

int ec_fdtd_call(ec_graph *graph, const ec_fdtd_config *config, ec_call **call)
{
    setup *s = calloc(1, sizeof *s);
    if (s)
        atomic_flag_clear(&s->told);
    int status = s ? check(config) : ec_fail(EC_ERR_MEMORY, "no memory for a model");

    if (status >= 0)
        status = ec_fdtd_final_check(config);
    if (status >= 0)
        status = ec_fdtd_model_create(config, &s->at[0].model);
    if (status >= 0) {
        s->graph = graph;
        status = ec_fdtd_model_numbers(s->at[0].model, bind, s);
    }
    if (status >= 0) {
        s->at[0].model->n_numbers = s->n_in;
        status = ec_fdtd_model_designs(s->at[0].model, graph, s->in);
    }
    if (status >= 0)
        status = plan_level(s->at);
    if (status >= 0 && config->final.on)
        status = add_final(s);
    if (status < 0) {
        setup_destroy(s);
        return status;
    }
    return ec_graph_call(graph, &ec_evaluator_fdtd, s, s->n_in, s->in, call);
}

/* Specs of far fields begin with this; their directions are behind it. */
typedef struct far_spec {
    ec_fdtd_what what; /* j: what is driven */
    ec_fdtd_far far;
    double direction[][2];
} far_spec;

static bool same_far(const ec_fdtd_far *a, const ec_fdtd_far *b)
{
    return a->quantity == b->quantity && a->frequency == b->frequency && a->n == b->n &&
           memcmp(a->symmetry, b->symmetry, sizeof a->symmetry) == 0 &&
           (a->n == 0 ||
            memcmp(a->direction, b->direction, (size_t)a->n * sizeof *a->direction) == 0);
}

static bool same_what(const ec_fdtd_what *a, const ec_fdtd_what *b)
{
    if (a->output == EC_FDTD_FAR && b->output == EC_FDTD_FAR &&
        !same_far(&((const far_spec *)a)->far, &((const far_spec *)b)->far))
        return false;
    return a->output == b->output && a->i == b->i && a->j == b->j && a->count == b->count &&
           a->from == b->from && a->to == b->to;
}

static bool is_complex(ec_fdtd_output o)
{
    return o == EC_FDTD_S || o == EC_FDTD_IMPEDANCE || o == EC_FDTD_LINE_IMPEDANCE ||
           o == EC_FDTD_GAMMA;
}

static bool is_silent(const ec_fdtd_setup *s, int32_t f)
{
    return ec_fdtd_is_silent(s, s->model->config.frequency[f]);
}

static bool finds_modes(ec_fdtd_output o)
{
    return o == EC_FDTD_MODES || o == EC_FDTD_Q;
}

static int check_what(const ec_fdtd_config *c, const ec_fdtd_what *w)
{
    if (w->output == EC_FDTD_CELLS)
        return EC_OK;
    if (w->j == EC_FDTD_WAVE && !c->wave.on)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: the model has no plane wave");
    if (w->j == EC_FDTD_WAVE &&
        (w->output == EC_FDTD_FAR || w->output == EC_FDTD_STEPS || w->output == EC_FDTD_DECAY))
        return EC_OK;
    if (w->i < 0 || w->i >= c->n_ports || w->j < 0 || w->j >= c->n_ports)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: there is no port %d: there are %d",
                       w->i < 0 || w->i >= c->n_ports ? w->i + 1 : w->j + 1, c->n_ports);
    const ec_fdtd_port *i = c->ports + w->i, *j = c->ports + w->j;
    if (j->kind == EC_FDTD_PROBE || j->kind == EC_FDTD_ELEMENT)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: '%s' drives nothing", j->name ? j->name : "");
    if (w->output == EC_FDTD_S && !ec_fdtd_has_waves(i))
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: '%s' is no port with a resistance: it has no waves",
                       i->name ? i->name : "");
    if ((w->output == EC_FDTD_S || w->output == EC_FDTD_BALANCE) && !ec_fdtd_has_waves(j))
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: '%s' is no port with a resistance: it has no waves",
                       j->name ? j->name : "");
    if ((w->output == EC_FDTD_LINE_IMPEDANCE || w->output == EC_FDTD_GAMMA) &&
        !ec_fdtd_is_line(i->kind))
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: '%s' is no port of a line", i->name ? i->name : "");
    if (finds_modes(w->output) && (w->count < 1 || !(w->from >= 0) || !(w->to > w->from)))
        return ec_fail(EC_ERR_RANGE,
                       "fdtd: modes from %g to %g Hz, %d of them: a band and a count "
                       "above 0 are needed",
                       w->from, w->to, w->count);
    return EC_OK;
}

/* The node of an output that is there already, -1 for none. */
static ec_expr find_output(const ec_graph *graph, const ec_call *call, const ec_fdtd_what *what)
{
    for (ec_expr e = 0; e < ec_graph_count(graph); e++) {
        const ec_node *n = ec_graph_node(graph, e);
        if (n->op == EC_OP_CALL_OUTPUT && n->call == call &&
            same_what(call->out[n->output].spec, what))
            return e;
    }
    return -1;
}

static int check_far(const ec_fdtd_config *c, const ec_fdtd_far *far)
{
    int status = check_what(c, &(ec_fdtd_what){.output = EC_FDTD_FAR, .j = far->j});
    const bool wave = far->j == EC_FDTD_WAVE;

    if (status < 0)
        return status;
    if (far->frequency < 0 || far->frequency >= c->n_frequencies)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: there is no frequency %d: there are %d",
                       far->frequency + 1, c->n_frequencies);
    if (far->quantity == EC_FDTD_FAR_EFFICIENCY ? far->n != 0
        : far->n == 0                           ? !wave
                                                : far->n < 0 || !far->direction)
        return ec_fail(EC_ERR_ARGUMENT,
                       "fdtd: a far field of a port wants directions, an efficiency none");
    for (int32_t i = 0; i < far->n; i++)
        if (!isfinite(far->direction[i][0]) || !isfinite(far->direction[i][1]))
            return ec_fail(EC_ERR_RANGE, "fdtd: direction %d of a far field is not finite", i + 1);
    if (far->quantity == EC_FDTD_FAR_RCS && !wave)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: a radar cross section is that of the plane wave");
    if (wave && (far->quantity == EC_FDTD_FAR_GAIN || far->quantity == EC_FDTD_FAR_REALIZED_GAIN ||
                 far->quantity == EC_FDTD_FAR_EFFICIENCY))
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: gain and efficiency are those of a driven port, not "
                                        "of the plane wave");
    if (!wave && far->quantity == EC_FDTD_FAR_REALIZED_GAIN &&
        !ec_fdtd_has_waves(c->ports + far->j))
        return ec_fail(EC_ERR_ARGUMENT,
                       "fdtd: '%s' is no port with a resistance: it has no realized gain",
                       c->ports[far->j].name ? c->ports[far->j].name : "");
    for (int axis = 0; axis < 3; axis++) {
        const bool open[2] = {c->wall[axis][0] == EC_FDTD_WALL_PML,
                              c->wall[axis][1] == EC_FDTD_WALL_PML};
        if (!open[0] && !open[1])
            return ec_fail(EC_ERR_UNSUPPORTED,
                           "fdtd: a far field wants an absorbing wall at one end of %c at least",
                           "xyz"[axis]);
        if (far->symmetry[axis] && open[0] && open[1])
            return ec_fail(EC_ERR_ARGUMENT,
                           "fdtd: symmetry across %c wants an electric or a magnetic wall there",
                           "xyz"[axis]);
    }
    return EC_OK;
}

/* At the place in a script, instead of when a run has been through. */
static int check_room(setup *s)
{
    for (int i = 0; i <= has_final(s); i++) {
        int status = s->at[i].has_room ? EC_OK : check_designs(s->at + i, &far_room);
        if (status < 0)
            return status;
        s->at[i].has_room = true;
    }
    return EC_OK;
}

ec_expr ec_fdtd_far_value(ec_graph *graph, ec_call *call, const ec_fdtd_far *far)
{
    static const char *const names[] = {"e_theta",       "e_phi", "directivity", "gain",
                                        "realized_gain", "rcs",   "efficiency"};
    setup *s = call->config;
    const bool complex = far->quantity <= EC_FDTD_FAR_E_PHI;
    int status = check_far(&s->at[0].model->config, far);

    if (status >= 0)
        status = check_room(s);
    if (status < 0)
        return status;
    const size_t bytes = (size_t)far->n * sizeof *far->direction;
    far_spec *own = malloc(sizeof *own + bytes);
    if (!own)
        return ec_fail(EC_ERR_MEMORY, "no memory for an output of fdtd");
    own->what = (ec_fdtd_what){.output = EC_FDTD_FAR, .j = far->j};
    own->far = *far;
    if (bytes)
        memcpy(own->direction, far->direction, bytes);
    own->far.direction = (const double(*)[2])own->direction;
    const ec_expr old = find_output(graph, call, &own->what);
    if (old >= 0) {
        free(own);
        return old;
    }
    const ec_call_output o = {.name = names[far->quantity],
                              .spec = own,
                              .dtype = complex ? EC_C128 : EC_F64,
                              .rank = far->n > 0,
                              .shape = {far->n},
                              .range = {complex ? -INFINITY : 0, INFINITY}};
    return ec_graph_call_output(graph, call, &o);
}

ec_expr ec_fdtd_value(ec_graph *graph, ec_call *call, const ec_fdtd_what *what)
{
    static const char *const names[] = {"s",     "impedance",      "steps", "balance", "cells",
                                        "modes", "line_impedance", "gamma", "far",     "decay",
                                        "q"};
    const setup *s = call->config;
    const ec_fdtd_config *c = &s->at[0].model->config;
    int status = what->output == EC_FDTD_FAR
                     ? ec_fail(EC_ERR_ARGUMENT, "fdtd: far fields are asked for by their own call")
                     : check_what(c, what);
    ec_call_output o = {.name = names[what->output],
                        .dtype = is_complex(what->output) ? EC_C128 : EC_F64,
                        .range = {0, INFINITY}};

    if (status < 0)
        return status;
    const ec_expr old = find_output(graph, call, what);
    if (old >= 0)
        return old;
    if (is_complex(what->output) || what->output == EC_FDTD_BALANCE) {
        o.rank = 1;
        o.shape[0] = c->n_frequencies;
    } else if (finds_modes(what->output)) {
        o.rank = 1;
        o.shape[0] = what->count;
        if (what->output == EC_FDTD_MODES)
            o.range = (ec_interval){what->from, what->to};
    } else if (what->output == EC_FDTD_STEPS) {
        o.range = (ec_interval){0, (double)c->max_steps};
        if (has_final(s))
            o.range.hi = fmax(o.range.hi, (double)s->at[1].model->config.max_steps);
    }
    if (o.dtype == EC_C128)
        o.range = (ec_interval){-INFINITY, INFINITY};
    ec_fdtd_what *own = malloc(sizeof *own);
    if (!own)
        return ec_fail(EC_ERR_MEMORY, "no memory for an output of fdtd");
    *own = *what;
    o.spec = own;
    return ec_graph_call_output(graph, call, &o);
}

const ec_fdtd_model *ec_fdtd_model_of(const ec_call *call)
{
    const setup *s = call->config;
    return s->at[0].model;
}

const ec_fdtd_setup *ec_fdtd_setup_of(const ec_call *call, ec_fidelity fidelity)
{
    return &level_of(call->config, fidelity)->fdtd;
}

void ec_fdtd_describe(const ec_call *call, char *text, size_t size)
{
    const setup *s = call->config;
    size_t used;

    if (!has_final(s)) {
        ec_fdtd_line_plan_describe(s->at[0].lines, text, size);
        return;
    }
    for (int i = 0; i < 2; i++) {
        used = i ? strlen(text) : 0;
        const int32_t *n = s->at[i].fdtd.shape.n;
        const int length = snprintf(text + used, size - used, "%s: %d x %d x %d = %.0f cells\n",
                                    i ? "final fidelity" : "the search", n[0], n[1], n[2],
                                    (double)n[0] * n[1] * n[2]);
        used += (size_t)(length > 0 ? length : 0);
        if (used < size)
            ec_fdtd_line_plan_describe(s->at[i].lines, text + used, size - used);
    }
}

/* ---- plans -------------------------------------------------------------------------------------- */

typedef struct evaluator {
    ec_evaluator head;
    const setup *setup;
    const level *level; /* of the plan's fidelity */
    const ec_call *call;
    ec_log *log;
    bool *wanted;
    ec_fdtd_wants wants;
    ec_fdtd_stack *stack;
    bool told; /* that more comes out than goes in */
} evaluator;

static const ec_fdtd_what *what_of(const ec_call *call, int32_t output)
{
    return call->out[output].spec;
}

static int32_t position(const int32_t *list, int32_t n, int32_t value)
{
    int32_t i = 0;
    while (i < n && list[i] != value)
        i++;
    return i;
}

static void wants_free(ec_fdtd_wants *wants)
{
    free((void *)wants->driven);
    free((void *)wants->kept);
    free((void *)wants->far);
}

/* What to drive, probes to keep and frequencies of far fields. */
static int wants_of(const ec_call *call, const bool *wanted, ec_fdtd_wants *wants)
{
    const ec_fdtd_config *c = &ec_fdtd_model_of(call)->config;
    const size_t ports = (size_t)c->n_ports + 1;
    int32_t *driven = calloc(ports, sizeof *driven), *kept = calloc(ports, sizeof *kept);
    int32_t *far = calloc((size_t)c->n_frequencies, sizeof *far);

    *wants = (ec_fdtd_wants){.driven = driven, .kept = kept, .far = far};
    if (!driven || !kept || !far)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a plan");
    for (int32_t i = 0; i < call->n_out; i++) {
        const ec_fdtd_what *w = what_of(call, i);
        if (!wanted[i] || w->output == EC_FDTD_CELLS)
            continue;
        if (position(driven, wants->n_driven, w->j) == wants->n_driven)
            driven[wants->n_driven++] = w->j;
        const int32_t probe = w->i * EC_FDTD_PORT_PROBES + EC_FDTD_VOLTAGE;
        if (finds_modes(w->output) && position(kept, wants->n_kept, probe) == wants->n_kept)
            kept[wants->n_kept++] = probe;
        if (w->output == EC_FDTD_FAR) {
            const int32_t f = ((const far_spec *)w)->far.frequency;
            if (position(far, wants->n_far, f) == wants->n_far)
                far[wants->n_far++] = f;
        }
    }
    return EC_OK;
}

static void destroy(ec_evaluator **handle)
{
    evaluator *ev = (evaluator *)*handle;

    if (!ev)
        return;
    ec_fdtd_stack_destroy(&ev->stack);
    wants_free(&ev->wants);
    free(ev->wanted);
    free(ev);
    *handle = NULL;
}

/* Says what a run cannot give, once a plan, and what it will have roughly, once a level. */
static void warn(setup *s, const level *l, ec_log *log)
{
    const ec_fdtd_config *c = &l->model->config;
    int32_t first = -1, last = -1;

    for (int32_t f = 0; f <= c->n_frequencies; f++) {
        const bool silent = f < c->n_frequencies && is_silent(&l->fdtd, f);
        if (silent && first < 0)
            first = f;
        if (silent)
            last = f;
        if (!silent && first >= 0) {
            ec_log_write(log, EC_LOG_WARNING,
                         "fdtd: the pulse has less than -60 dB of its peak from %.6g to %.6g GHz: "
                         "results there are NaN",
                         1e-9 * c->frequency[first], 1e-9 * c->frequency[last]);
            first = -1;
        }
    }
    char hint[400];
    const bool told = atomic_flag_test_and_set(&s->told[l - s->at]);
    int status;
    if (!told && l->has_room && l->model->n_designs > 1 &&
        count_designs(l, &far_room, &status, hint, sizeof hint) < l->model->n_designs)
        ec_log_write(log, EC_LOG_WARNING, "fdtd: some designs will fail: %s", hint);
    for (int i = 0; !told && ec_fdtd_line_hint(l->lines, i, hint, sizeof hint); i++)
        ec_log_write(log, EC_LOG_WARNING, "fdtd: %s", hint);
}

/* What finalists get, while the search is planned. */
static void tell_final(const setup *s, ec_log *log)
{
    const level *final = s->at + 1;
    const int32_t *n[2] = {s->at[0].fdtd.shape.n, final->fdtd.shape.n};
    double step[2];

    for (int i = 0; i < 2; i++)
        step[i] = 1e12 * ec_fdtd_line_plan_step(s->at[i].lines);
    ec_log_write(log, EC_LOG_INFO,
                 "fdtd: the search has %d x %d x %d cells and a time step of %.4g ps, final "
                 "fidelity %d x %d x %d cells and %.4g ps",
                 n[0][0], n[0][1], n[0][2], step[0], n[1][0], n[1][1], n[1][2], step[1]);
}

static int plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **made)
{
    const ec_call *call = info->call;
    const setup *s = call->config;
    evaluator *ev = calloc(1, sizeof *ev);
    size_t samples = 1;
    int status = EC_OK;

    if (!ev)
        return ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a plan");
    ev->head = (ec_evaluator){&ec_evaluator_fdtd, backend};
    ev->setup = s;
    ev->level = level_of(s, info->fidelity);
    ev->call = call;
    ev->log = info->log;
    ev->wanted = calloc((size_t)call->n_out + 1, sizeof *ev->wanted);
    if (!ev->wanted) {
        status = ec_fail(EC_ERR_MEMORY, "fdtd: no memory for a plan");
    } else {
        memcpy(ev->wanted, info->wanted, (size_t)call->n_out * sizeof *ev->wanted);
        status = wants_of(call, info->wanted, &ev->wants);
        for (int32_t i = 0; i < s->n_in; i++)
            samples = info->in[i].samples > samples ? info->in[i].samples : samples;
    }
    if (status >= 0)
        warn(call->config, ev->level, ev->log);
    if (status >= 0 && info->fidelity == EC_SEARCH && has_final(s))
        tell_final(s, ev->log);
    const size_t domains = info->max_candidates * samples * (size_t)ev->wants.n_driven;
    if (status >= 0 && domains > 0)
        status = ec_fdtd_stack_create(backend, &ev->level->fdtd, &ev->wants, domains,
                                      info->memory_budget, &ev->stack);
    if (status < 0) {
        ec_evaluator *handle = &ev->head;
        destroy(&handle);
        return status;
    }
    if (ev->stack) {
        char text[128];
        ec_fdtd_stack_describe(ev->stack, text, sizeof text);
        ec_log_write(ev->log, EC_LOG_INFO, "fdtd: %s", text);
    }
    *made = &ev->head;
    return EC_OK;
}

static void memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed)
{
    const level *l = level_of(info->call->config, info->fidelity);
    ec_fdtd_wants wants;

    /* One slot is enough; a plan takes more where there is room. */
    *per_candidate = 0;
    if (wants_of(info->call, info->wanted, &wants) < 0)
        wants.n_driven = wants.n_far = 0;
    *fixed = ec_fdtd_slot_bytes(&l->fdtd, &wants);
    wants_free(&wants);
}

static int estimate(const ec_call *call, ec_fidelity fidelity, const bool *wanted,
                    ec_backend *backend, ec_estimate *to)
{
    const level *l = level_of(call->config, fidelity);
    const ec_fdtd_config *c = &l->model->config;
    const int32_t *n = l->fdtd.shape.n;
    const double cells = (double)n[0] * n[1] * n[2];
    ec_fdtd_wants wants;
    ec_fdtd_stack *stack = NULL;
    ec_fdtd_build *build = NULL;
    double seconds = 0;
    int status = wants_of(call, wanted, &wants);

    to->least = to->most = wants.n_driven;
    to->finer = has_final(call->config);
    if (status >= 0 && wants.n_driven > 0 && backend) {
        const size_t domains = backend->is_cuda ? 32 : (size_t)backend->threads;
        status = ec_fdtd_build_create(&l->fdtd, l->model->designs, &build);
        if (status >= 0)
            status = ec_fdtd_stack_create(backend, &l->fdtd, &wants, domains, 0, &stack);
        if (status >= 0)
            status = ec_fdtd_stack_measure(stack, l->model->designs, &seconds);
    }
    if (status >= 0 && wants.n_driven > 0 && backend) {
        const double most = (double)c->max_steps;
        const double least = isfinite(c->decay_db) ? fmin((double)build->n_wave, most) : most;
        to->least = wants.n_driven * least * seconds;
        to->most = wants.n_driven * most * seconds;
        snprintf(to->text, sizeof to->text,
                 "%.0f cells, %d domain%s of %.3g MB a design, %.0f steps at least%s, %.0f at "
                 "most, at %.3g Mcells/s",
                 cells, wants.n_driven, wants.n_driven == 1 ? "" : "s",
                 1e-6 * (double)ec_fdtd_slot_bytes(&l->fdtd, &wants), least,
                 isfinite(c->decay_db) ? " (the pulse)" : "", most, 1e-6 * cells / seconds);
    }
    ec_fdtd_build_destroy(&l->fdtd, &build);
    ec_fdtd_stack_destroy(&stack);
    wants_free(&wants);
    return status;
}

static void describe(const ec_evaluator *handle, char *text, size_t size)
{
    const evaluator *ev = (const evaluator *)handle;
    const int32_t *n = ev->level->fdtd.shape.n;

    snprintf(text, size, "fdtd: %d x %d x %d cells, %s, %d domain%s a design", n[0], n[1], n[2],
             ev->level->model->config.double_precision ? "float64" : "float32", ev->wants.n_driven,
             ev->wants.n_driven == 1 ? "" : "s");
}

/* ---- runs --------------------------------------------------------------------------------------- */

#define SHORT_STEP 3    /* times that the steps of a run may differ before it is told */
#define ROUNDING   1e-6 /* of the smallest cell: edges that moved less did not */

/* A run's place for results, host memory: row of a design d = sample * n + candidate. */
typedef struct take {
    const evaluator *ev;
    const double *values;
    ec_fdtd_wave *wave; /* [port][frequency] of the domain that has ended */
    double **out; /* [output]: elements of designs, [design][elements] (pairs of complex ones) */
    uint8_t *status;
    size_t n;
    int64_t unsettled;
    double balance, efficiency; /* the highest of all domains */
    double step[2], moved; /* least and largest time step, s; the farthest move of an edge, m */
    char owner[96];        /* whose edge */
    char sentence[256];    /* of the first failure */
    int64_t failures;
} take;

static ec_c128 quotient(ec_c128 a, ec_c128 b)
{
    const double d = b.re * b.re + b.im * b.im;
    return (ec_c128){(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d};
}

/* Power out of all ports over that into port j. */
static double balance_at(const take *t, int32_t j, int32_t f)
{
    const ec_fdtd_config *c = &t->ev->level->model->config;
    const ec_c128 a = t->wave[(size_t)j * (size_t)c->n_frequencies + (size_t)f].a;
    double sum = 0;

    for (int32_t p = 0; p < c->n_ports; p++)
        if (ec_fdtd_has_waves(c->ports + p)) {
            const ec_c128 b = t->wave[(size_t)p * (size_t)c->n_frequencies + (size_t)f].b;
            sum += b.re * b.re + b.im * b.im;
        }
    return is_silent(&t->ev->level->fdtd, f) ? NAN : sum / (a.re * a.re + a.im * a.im);
}

/* An output over frequency. */
static void fill_curve(const take *t, const ec_fdtd_what *w, double *to)
{
    const ec_fdtd_config *c = &t->ev->level->model->config;

    for (int32_t f = 0; f < c->n_frequencies; f++) {
        const ec_fdtd_wave *i = t->wave + (size_t)w->i * (size_t)c->n_frequencies + f;
        const ec_fdtd_wave *j = t->wave + (size_t)w->j * (size_t)c->n_frequencies + f;
        if (w->output == EC_FDTD_BALANCE) {
            to[f] = balance_at(t, w->j, f);
            continue;
        }
        const ec_c128 q = w->output == EC_FDTD_S           ? quotient(i->b, j->a)
                          : w->output == EC_FDTD_IMPEDANCE ? quotient(j->v, j->i)
                          : w->output == EC_FDTD_GAMMA     ? i->gamma
                                                           : i->impedance;
        const bool silent = is_silent(&t->ev->level->fdtd, f);
        to[2 * f] = silent ? NAN : q.re;
        to[2 * f + 1] = silent ? NAN : q.im;
    }
}

static double square(ec_c128 x)
{
    return x.re * x.re + x.im * x.im;
}

static int fill_far(take *t, const ec_fdtd_far *far, const double *values, const ec_fdtd_result *r,
                    double *to)
{
    const evaluator *ev = t->ev;
    const ec_fdtd_setup *s = &ev->level->fdtd;
    const ec_fdtd_config *c = &s->model->config;
    const int32_t f = far->frequency, slot = position(ev->wants.far, ev->wants.n_far, f);
    const bool phasor = far->quantity <= EC_FDTD_FAR_E_PHI;
    const ec_fdtd_drive drive = ec_fdtd_drive_of(s, r, t->wave, far->j, f);
    const double known = drive.known ? 1 : NAN; /* nothing is where the pulse has nothing */
    double twice = 1;

    for (int axis = 0; axis < 3; axis++)
        twice *= far->symmetry[axis] ? 2 : 1;
    const double accepted = twice * drive.accepted, offered = twice * drive.offered;
    const ec_c128 unit = drive.unit;
    const double radiated = twice * ec_fdtd_far_power(r->build, &r->faces, slot);
    if (far->j != EC_FDTD_WAVE)
        t->efficiency = fmax(t->efficiency, known * radiated / accepted);
    if (far->quantity == EC_FDTD_FAR_EFFICIENCY) {
        *to = known * radiated / accepted;
        return EC_OK;
    }
    const double back[1][2] = {
        {ec_fdtd_number_of(c->wave.theta, values), ec_fdtd_number_of(c->wave.phi, values)}};
    const int32_t n = far->n > 0 ? far->n : 1;
    const double(*direction)[2] = far->n > 0 ? far->direction : back;
    ec_c128(*e)[2] = malloc((size_t)n * sizeof *e);
    int status =
        e ? ec_fdtd_far_fields(s, r->build, &r->faces, slot, c->frequency[f], n, direction, e)
          : ec_fail(EC_ERR_MEMORY, "no memory for a far field");
    for (int32_t i = 0; i < n && status >= 0; i++) {
        if (ec_fdtd_far_is_behind(c, far->symmetry, direction[i]))
            e[i][0] = e[i][1] = (ec_c128){0, 0};
        const double all = square(e[i][0]) + square(e[i][1]);
        const double density = 4 * EC_PI * all / (2 * EC_FDTD_ETA0);
        if (phasor) {
            const ec_c128 q = quotient(e[i][far->quantity == EC_FDTD_FAR_E_PHI], unit);
            to[2 * i] = known * q.re;
            to[2 * i + 1] = known * q.im;
        } else {
            to[i] = known * (far->quantity == EC_FDTD_FAR_RCS ? 4 * EC_PI * all / square(unit)
                             : far->quantity == EC_FDTD_FAR_DIRECTIVITY ? density / radiated
                             : far->quantity == EC_FDTD_FAR_GAIN        ? density / accepted
                                                                        : density / offered);
        }
    }
    free(e);
    return status;
}

static int fill_output(take *t, const ec_fdtd_what *w, const double *values,
                       const ec_fdtd_result *r, double *to)
{
    const ec_fdtd_config *c = &t->ev->level->model->config;

    switch (w->output) {
    case EC_FDTD_S:
    case EC_FDTD_IMPEDANCE:
    case EC_FDTD_BALANCE:
    case EC_FDTD_LINE_IMPEDANCE:
    case EC_FDTD_GAMMA:
        fill_curve(t, w, to);
        return EC_OK;
    case EC_FDTD_FAR:
        return fill_far(t, &((const far_spec *)w)->far, values, r, to);
    case EC_FDTD_STEPS:
        *to = (double)r->steps;
        return EC_OK;
    case EC_FDTD_DECAY:
        *to = -10 * log10(r->decay);
        return EC_OK;
    case EC_FDTD_MODES:
    case EC_FDTD_Q: {
        const int32_t at = position(t->ev->wants.kept, t->ev->wants.n_kept,
                                    w->i * EC_FDTD_PORT_PROBES + EC_FDTD_VOLTAGE);
        const double *series = r->series + (size_t)at * (size_t)c->max_steps;
        int found = ec_fdtd_modes(series, r->steps, r->dt, w->from, w->to, w->count, to);
        if (w->output == EC_FDTD_Q && found >= 0) {
            const int64_t over = r->build->n_wave < r->steps ? r->build->n_wave : r->steps;
            ec_fdtd_quality(series + over, r->steps - over, r->dt, w->count, to);
        }
        return found < 0 ? found : EC_OK;
    }
    default:
        return EC_OK;
    }
}

/* Whether a wanted output is what comes out of ports, or is radiated, with j driven. */
static bool wants_power(const evaluator *ev, int32_t j)
{
    for (int32_t o = 0; o < ev->call->n_out; o++) {
        const ec_fdtd_what *w = what_of(ev->call, o);
        if (ev->wanted[o] && w->j == j &&
            (w->output == EC_FDTD_S || w->output == EC_FDTD_IMPEDANCE ||
             w->output == EC_FDTD_BALANCE || w->output == EC_FDTD_FAR))
            return true;
    }
    return false;
}

static void done(void *user, size_t design, int32_t driven, const ec_fdtd_result *r)
{
    take *t = user;
    const evaluator *ev = t->ev;
    const double *values = t->values + design * (size_t)ev->setup->n_in;
    int status = r->status;

    if (status >= 0)
        status = ec_fdtd_waves(&ev->level->fdtd, values, r, t->wave);
    const int32_t j = ev->wants.driven[driven];
    const ec_fdtd_config *c = &ev->level->model->config;
    if (status >= 0 && j != EC_FDTD_WAVE && ec_fdtd_has_waves(c->ports + j) && wants_power(ev, j))
        for (int32_t f = 0; f < c->n_frequencies; f++)
            t->balance = fmax(t->balance, balance_at(t, j, f));
    for (int32_t o = 0; o < ev->call->n_out && status >= 0; o++) {
        const ec_fdtd_what *w = what_of(ev->call, o);
        if (ev->wanted[o] && w->output != EC_FDTD_CELLS && w->j == ev->wants.driven[driven]) {
            const ec_call_output *out = ev->call->out + o;
            const size_t words =
                (size_t)(out->rank ? out->shape[0] : 1) * (out->dtype == EC_C128 ? 2 : 1);
            status = fill_output(t, w, values, r, t->out[o] + design * words);
        }
    }
    if (status >= 0 && !r->settled && isfinite(ev->level->model->config.decay_db))
        t->unsettled++;
    if (r->build) {
        t->step[0] = t->step[1] > 0 ? fmin(t->step[0], r->dt) : r->dt;
        t->step[1] = fmax(t->step[1], r->dt);
        if (r->build->moved > t->moved) {
            t->moved = r->build->moved;
            ec_fdtd_owner_text(&ev->level->model->config, r->build->moved_owner, t->owner);
        }
    }
    if (status < 0) {
        if (t->failures++ == 0)
            snprintf(t->sentence, sizeof t->sentence, "%s", ec_error_text());
        t->status[design % t->n] |= EC_CANDIDATE_EVALUATOR;
    }
}

/* Numbers of all designs: [sample * n + candidate][input]. */
static int gather(const evaluator *ev, const ec_array *const *in, size_t n, size_t samples,
                  double *values)
{
    ec_backend *backend = ev->head.backend;
    const size_t n_in = (size_t)ev->setup->n_in;

    for (size_t k = 0; k < n_in; k++) {
        const ec_array *a = in[k];
        const size_t bytes = ec_array_bytes(a);
        double *here = malloc(bytes);
        int status = here ? backend->ops->download(backend, here, a->data, bytes)
                          : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for %zu designs", n);
        const bool varies = a->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP);
        for (size_t s = 0; s < samples && status >= 0; s++)
            for (size_t c = 0; c < n; c++)
                values[(s * n + c) * n_in + k] =
                    here[(a->samples > 1 ? s * a->sample_stride : 0) + (varies ? c : 0)];
        free(here);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

/* Results of designs into an output array. */
static int scatter(const evaluator *ev, const double *from, size_t words, size_t n, size_t samples,
                   const ec_array *to)
{
    ec_backend *backend = ev->head.backend;
    const size_t bytes = ec_array_bytes(to);
    const size_t parts = to->dtype == EC_C128 ? 2 : 1;
    const bool varies = to->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP);
    double *here = calloc(1, bytes);
    int status = here ? EC_OK : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for %zu designs", n);

    for (size_t s = 0; s < (to->samples > 1 ? samples : 1) && status >= 0; s++)
        for (size_t c = 0; c < (varies ? n : 1); c++)
            for (size_t w = 0; w < words; w++)
                here[(s * to->sample_stride + w / parts * to->ld + c) * parts + w % parts] =
                    from[(s * n + c) * words + w];
    if (status >= 0)
        status = backend->ops->upload(backend, to->data, here, bytes);
    free(here);
    return status;
}

/* What a run's grids did to its designs. */
static void tell(const take *t)
{
    ec_log *log = t->ev->log;

    if (t->step[1] > SHORT_STEP * t->step[0])
        ec_log_write(log, EC_LOG_INFO,
                     "fdtd: time steps of designs are %.3g to %.3g ps: edges that come close make "
                     "small cells (`smallest` limits them)",
                     1e12 * t->step[0], 1e12 * t->step[1]);
    if (t->moved > ROUNDING * ec_fdtd_line_finest(t->ev->level->lines))
        ec_log_write(log, EC_LOG_INFO,
                     "fdtd: edges were moved to their lines by up to %s, of %s the farthest",
                     ec_fdtd_length_of(t->moved).text, t->owner);
}

/* What is passive gives no more than it gets: said once a plan. */
static void warn_excess(evaluator *ev, const take *t)
{
    static const double most = 1.02, much = 1.05;

    if (ev->told || !(t->balance > most || t->efficiency > most))
        return;
    ev->told = true;
    const ec_fdtd_config *c = &ev->level->model->config;
    bool lines = false;
    for (int32_t p = 0; p < c->n_ports; p++)
        lines = lines || ec_fdtd_is_line(c->ports[p].kind);
    ec_log_write(
        ev->log, EC_LOG_WARNING,
        "fdtd: %.4g times as much %s as goes in: %sa higher decay_db or "
        "more max_steps let the fields decay, a finer grid is more exact",
        t->balance > most ? t->balance : t->efficiency,
        t->balance > most ? "comes out of the ports" : "is radiated",
        t->balance > much && lines
            ? "a line that does not go on into an absorbing wall behind its port, or a measuring "
              "plane (`plane`) at or behind what the line ends at, make it so; "
            : "");
}

static int run(ec_evaluator *handle, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n)
{
    evaluator *ev = (evaluator *)handle;
    const setup *s = ev->setup;
    const ec_fdtd_config *c = &ev->level->model->config;
    ec_backend *backend = ev->head.backend;
    const ec_call *call = ev->call;
    size_t samples = 1;
    int rc = EC_OK;

    for (int32_t i = 0; i < s->n_in; i++)
        samples = in[i]->samples > samples ? in[i]->samples : samples;
    const size_t designs = n * samples;
    double *values = calloc(designs * (size_t)s->n_in + 1, sizeof *values);
    uint8_t *bad = calloc(n, 1), *old = calloc(n, 1);
    take t = {.ev = ev, .values = values, .status = bad, .n = n};
    t.out = calloc((size_t)call->n_out + 1, sizeof *t.out);
    t.wave = calloc((size_t)c->n_ports * (size_t)c->n_frequencies + 1, sizeof *t.wave);
    if (!values || !bad || !old || !t.out || !t.wave)
        rc = ec_fail(EC_ERR_MEMORY, "fdtd: no memory for %zu designs", n);
    for (int32_t o = 0; o < call->n_out && rc >= 0; o++) {
        const ec_call_output *q = call->out + o;
        const size_t words = (size_t)(q->rank ? q->shape[0] : 1) * (q->dtype == EC_C128 ? 2 : 1);
        if (!ev->wanted[o])
            continue;
        t.out[o] = malloc(designs * words * sizeof *t.out[o]);
        if (!t.out[o]) {
            rc = ec_fail(EC_ERR_MEMORY, "fdtd: no memory for %zu designs", n);
            break;
        }
        const int32_t *cells = ev->level->fdtd.shape.n;
        for (size_t i = 0; i < designs * words; i++)
            t.out[o][i] = what_of(call, o)->output == EC_FDTD_CELLS
                              ? (double)cells[0] * cells[1] * cells[2]
                              : NAN;
    }
    if (rc >= 0)
        rc = gather(ev, in, n, samples, values);
    if (rc >= 0 && ev->stack)
        rc = ec_fdtd_stack_run(ev->stack, designs, values, done, &t, exec ? exec->interrupt : NULL);
    for (int32_t o = 0; o < call->n_out && rc == EC_OK; o++) {
        const ec_call_output *q = call->out + o;
        const size_t words = (size_t)(q->rank ? q->shape[0] : 1) * (q->dtype == EC_C128 ? 2 : 1);
        if (ev->wanted[o] && out[o])
            rc = scatter(ev, t.out[o], words, n, samples, out[o]);
    }
    if (rc == EC_OK && t.failures > 0) {
        rc = backend->ops->download(backend, old, status, n);
        for (size_t i = 0; i < n; i++)
            old[i] |= bad[i];
        if (rc == EC_OK)
            rc = backend->ops->upload(backend, status, old, n);
        ec_log_write(ev->log, EC_LOG_WARNING, "fdtd: %lld of %zu domains failed; the first: %s",
                     (long long)t.failures, designs * (size_t)ev->wants.n_driven, t.sentence);
    }
    if (rc == EC_OK && t.unsettled > 0)
        ec_log_write(ev->log, EC_LOG_WARNING,
                     "fdtd: %lld of %zu domains still rang at max_steps = %lld: their results are "
                     "cut off",
                     (long long)t.unsettled, designs * (size_t)ev->wants.n_driven,
                     (long long)c->max_steps);
    if (rc == EC_OK) {
        tell(&t);
        warn_excess(ev, &t);
    }
    for (int32_t o = 0; t.out && o < call->n_out; o++)
        free(t.out[o]);
    free(t.out);
    free(t.wave);
    free(values);
    free(bad);
    free(old);
    return rc;
}

const ec_evaluator_def ec_evaluator_fdtd = {.name = "fdtd",
                                            .flags = EC_EVALUATOR_SELF_CHUNKING,
                                            .plan = plan,
                                            .run = run,
                                            .destroy = destroy,
                                            .memory = memory_needs,
                                            .describe = describe,
                                            .config_destroy = setup_destroy,
                                            .spec_destroy = free,
                                            .estimate = estimate};
