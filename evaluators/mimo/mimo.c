/* mimo.c: settles which sequences there can be, plans and runs channels of pairs. */
#include "mimo.h"

#include "../../core/wall_clock.h"
#include "mimo_antennas_internal.h"
#include "mimo_coupling_internal.h"
#include "mimo_internal.h"
#include "mimo_metrics_kernels.h"
#include "mimo_sight_internal.h"
#include "mimo_spacing_internal.h"
#include "mimo_spectrum_kernels.h"
#include "path_channels.h"
#include "path_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(mimo_gather, ec_mimo_batch)
EC_KERNEL_DECLARE(mimo_scatter, ec_mimo_batch)
EC_KERNEL_DECLARE(mimo_check, ec_mimo_check)
EC_KERNEL_DECLARE(mimo_metrics, ec_mimo_metrics)
EC_KERNEL_DECLARE(mimo_spectrum, ec_mimo_spectrum)

/* m: rays are traced in single precision, whose squares would overflow beyond */
static const double farthest = 1e9;

/* Inputs: coordinates of the transmitters, of the receivers, what either end sees, and frequencies
 * that are an expression. */
enum { IN_SIGHT = 6, IN_FREQUENCY = EC_MIMO_IN_FREQUENCY, INPUTS_MAX = 9 };

enum {
    EXHAUSTIVE_MAX = 256,  /* facets, surfaces and wedges of a scene that is enumerated */
    ANTENNAS_MAX = 1 << 20 /* of an end */
};

/* Of one end of the links. */
typedef struct end {
    int32_t count;
    bool fixed; /* checked when the call was made */
    double box[2][3];
    ec_mimo_antennas antennas;
    ec_c128 *coupling; /* I - S, [n_frequencies][n][n], n: of an array; NULL: not coupled */
    int32_t ports;     /* n */
    double spacing;    /* m, least; INFINITY where coupling is given */
} end;

/* A call's configuration. */
typedef struct setup {
    const ec_scene *scene;
    end tx, rx;
    int32_t receivers, n_frequencies;
    double *frequency; /* NULL: an input */
    double range[2];   /* of the frequencies, Hz */
    int sight_shift;
    ec_path_options options;
    ec_path_plan *plan;
    ec_path_sequences *sequences;
    double power_dbm, noise_dbm;
    double *power_share; /* NULL: alike */
    char path[256];
    bool told; /* path need not be logged */
} setup;

typedef struct evaluator {
    ec_evaluator head;
    const setup *setup;
    ec_path_channels *channels;
    int32_t wanted[EC_MIMO_OUTPUTS]; /* the call's output of each kind, -1: not wanted */
    uint32_t moments;                /* that these need */
    size_t lanes;                    /* of a batch at most */
    ec_path_antennas tx, rx;
    int32_t *which[2]; /* antennas of tx and rx that are not alike: the one of each; else NULL */
    size_t pace;       /* of a batch, so that a look at the interrupt comes a few times a second */
    size_t sets;       /* samples of the frequency at most that are traced at once */
    size_t tables;     /* of frequencies: candidates at most where they differ, else 1 */
    void *memory;
    double *tx_at, *rx_at, *sum;
    int32_t *of[2];       /* the same of each lane */
    ec_c128 *coupling[2]; /* of tx and rx; NULL: not coupled */
    void *work;
    ec_material_law *law; /* frequencies that are an input: on the backend */
    double *wavelength;
    ec_fresnel_face *face;
} evaluator;

/* ---- calls ---------------------------------------------------------------------------------- */

void ec_mimo_config_default(ec_mimo_config *config)
{
    const ec_mimo_end any = {.at = {-1, -1, -1}, .count = 0, .antenna = {.axis = {0, 0, 1}}};
    memset(config, 0, sizeof *config);
    config->tx = config->rx = any;
    for (int i = 0; i < 3; i++) {
        config->tx.box[0][i] = config->tx.box[1][i] = NAN;
        config->rx.box[0][i] = config->rx.box[1][i] = NAN;
    }
    config->receivers = 1;
    config->frequencies = -1;
    config->depth = 3;
    config->rays = 100000;
    config->power_dbm = config->noise_dbm = NAN;
}

static void setup_destroy(void *config)
{
    setup *s = config;
    if (!s)
        return;
    ec_path_sequences_destroy(&s->sequences);
    ec_path_plan_destroy(&s->plan);
    ec_mimo_antennas_free(&s->tx.antennas);
    ec_mimo_antennas_free(&s->rx.antennas);
    free(s->tx.coupling);
    free(s->rx.coupling);
    free(s->frequency);
    free(s->power_share);
    free(s);
}

/* The range of each antenna's coordinates, [3][count]; the caller frees it. */
static int ranges_of(const ec_graph *graph, const ec_mimo_end *from, ec_interval **made)
{
    int32_t n = from->count;
    ec_interval *each = malloc(3 * (size_t)n * sizeof *each);
    int status = each ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for %d antennas", (int)n);

    for (int32_t k = 0; k < 3 && status >= 0; k++) {
        ec_interval *row = each + (size_t)k * (size_t)n;
        status = ec_graph_ranges(graph, from->at[k], row);
        if (ec_graph_node(graph, from->at[k])->elements == 1)
            for (int32_t i = 1; i < n; i++)
                row[i] = row[0];
    }
    if (status < 0) {
        free(each);
        return status;
    }
    *made = each;
    return EC_OK;
}

static int check_end(const ec_graph *graph, const char *name, const ec_mimo_end *from)
{
    static const char axis[] = "xyz";

    if (from->count < 1 || from->count > ANTENNAS_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "%s has %d antennas; it has 1 to %d", name,
                       (int)from->count, ANTENNAS_MAX);
    for (int k = 0; k < 3; k++) {
        const ec_node *node = ec_graph_node(graph, from->at[k]);
        if (!node)
            return ec_fail(EC_ERR_ARGUMENT, "%s: %c is no expression of this graph", name, axis[k]);
        if (node->dtype == EC_C64 || node->dtype == EC_C128 ||
            (node->elements != 1 && node->elements != from->count))
            return ec_fail(EC_ERR_SHAPE,
                           "%s: %c has %d elements; it has 1 or one for each of the %d antennas",
                           name, axis[k], (int)node->elements, (int)from->count);
    }
    return EC_OK;
}

/* Whether a point lies on an edge that diffracts, nearer than what paths take for one point: rays, which
 * find faces, can miss the outlines of sheets. */
static bool is_on_edge(const ec_scene *scene, double near, const double p[3])
{
    for (int32_t i = 0; i < scene->n_wedges; i++) {
        const ec_wedge *w = &scene->wedge[i];
        double along = 0, length = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            along += (p[k] - w->from[k]) * w->tangent[k];
            length += (w->to[k] - w->from[k]) * w->tangent[k];
        }
        along = fmin(fmax(along, 0), length);
        for (int k = 0; k < 3; k++) {
            double off = p[k] - w->from[k] - along * w->tangent[k];
            square += off * off;
        }
        if (square <= near * near)
            return true;
    }
    return false;
}

/* Antennas that stand still are checked here, once. */
static int check_fixed(const setup *s, const char *name, const end *e, const ec_interval *each)
{
    for (int32_t i = 0; e->fixed && i < e->count; i++) {
        double p[3];
        for (int32_t k = 0; k < 3; k++)
            p[k] = each[k * e->count + i].lo;
        bool on = ec_mimo_is_on_surface(&s->plan->view, p) ||
                  is_on_edge(s->scene, 10 * s->plan->tolerance, p);
        if (on || ec_mimo_is_inside(&s->plan->view, p))
            return ec_fail(EC_ERR_ARGUMENT,
                           "%s: antenna %d at (%.6g, %.6g, %.6g) %s; antennas are outside of "
                           "solids, inside of rooms, and off their surfaces",
                           name, (int)i + 1, p[0], p[1], p[2],
                           on ? "lies on a surface" : "is inside a solid");
    }
    return EC_OK;
}

static int make_end(const ec_graph *graph, const char *name, const ec_mimo_end *from, int32_t group,
                    end *e, ec_interval **each)
{
    static const char axis[] = "xyz";
    int status = ec_mimo_antennas_create(name, from, &e->antennas);

    if (status >= 0)
        status = ranges_of(graph, from, each);
    if (status < 0)
        return status;
    e->count = from->count;
    e->fixed = true;
    e->ports = group;
    e->spacing = INFINITY;
    if (!from->coupling)
        status = ec_mimo_spacing(graph, from->at, e->count, *each, group, &e->spacing);
    if (status < 0)
        return status;
    for (int32_t k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = 0; i < e->count; i++) {
            ec_interval r = (*each)[k * e->count + i];
            e->fixed = e->fixed && r.lo == r.hi;
            low = fmin(low, r.lo);
            high = fmax(high, r.hi);
        }
        e->box[0][k] = isnan(from->box[0][k]) ? low : from->box[0][k];
        e->box[1][k] = isnan(from->box[1][k]) ? high : from->box[1][k];
        if (from->box[0][k] > from->box[1][k])
            return ec_fail(EC_ERR_RANGE, "%s: key 'from': %c is %.6g, above 'to' with %.6g", name,
                           axis[k], from->box[0][k], from->box[1][k]);
        if (isfinite(low) && isfinite(high) && (low < -farthest || high > farthest))
            return ec_fail(EC_ERR_RANGE, "%s: %c can be from %.6g to %.6g: up to %.0g m is allowed",
                           name, axis[k], low, high, farthest);
        for (int32_t i = 0; i < e->count; i++) {
            ec_interval r = (*each)[k * e->count + i];
            if (r.lo > e->box[1][k] || r.hi < e->box[0][k])
                return ec_fail(EC_ERR_RANGE,
                               "%s: %c of antenna %d is from %.6g to %.6g, outside of the box of "
                               "keys 'from' and 'to', %.6g to %.6g",
                               name, axis[k], (int)i + 1, r.lo, r.hi, e->box[0][k], e->box[1][k]);
        }
        if (!isfinite(e->box[0][k]) || !isfinite(e->box[1][k]) || e->box[0][k] > e->box[1][k])
            return ec_fail(EC_ERR_RANGE,
                           "%s: %c can be from %.6g to %.6g: a finite range is needed", name,
                           axis[k], e->box[0][k], e->box[1][k]);
    }
    return EC_OK;
}

/* A little more than the range, which rounding may leave. */
static void widen(const ec_path_plan *plan, end *e)
{
    for (int k = 0; k < 3; k++) {
        e->box[0][k] -= plan->tolerance;
        e->box[1][k] += plan->tolerance;
    }
}

static bool same_place(const ec_interval *a, int32_t na, int32_t i, const ec_interval *b,
                       int32_t nb, int32_t j, double near)
{
    double square = 0;
    for (int32_t k = 0; k < 3; k++) {
        double d = a[k * na + i].lo - b[k * nb + j].lo;
        square += d * d;
    }
    return sqrt(square) <= near;
}

static int check_apart(const setup *s, const ec_interval *tx, const ec_interval *rx)
{
    if (!s->tx.fixed || !s->rx.fixed)
        return EC_OK;
    for (int32_t r = 0; r < s->rx.count; r++)
        for (int32_t t = 0; t < s->tx.count; t++)
            if (same_place(tx, s->tx.count, t, rx, s->rx.count, r, 10 * s->plan->tolerance))
                return ec_fail(EC_ERR_ARGUMENT,
                               "rx: antenna %d is at the place of tx's %d, (%.6g, %.6g, %.6g); "
                               "they are to be more than %.2g m apart",
                               (int)r + 1, (int)t + 1, tx[t].lo, tx[s->tx.count + t].lo,
                               tx[2 * s->tx.count + t].lo, 10 * s->plan->tolerance);
    return EC_OK;
}

/* Places of antennas that stand still, where no box was given: those of a box hold for all places in it,
 * whoever else is there. */
static int places_of(const end *e, const ec_mimo_end *from, const ec_interval *each, int32_t *n,
                     double (**places)[3])
{
    *n = 0;
    if (!e->fixed || !isnan(from->box[0][0]))
        return EC_OK;
    double(*p)[3] = malloc((size_t)e->count * sizeof *p);
    if (!p)
        return ec_fail(EC_ERR_MEMORY, "no memory for the places of antennas");
    for (int32_t i = 0; i < e->count; i++)
        for (int32_t k = 0; k < 3; k++)
            p[i][k] = each[k * e->count + i].lo;
    *places = p;
    *n = e->count;
    return EC_OK;
}

static int find_sequences(setup *s, const ec_mimo_config *config, const ec_interval *tx_each,
                          const ec_interval *rx_each)
{
    double(*tx_place)[3] = NULL, (*rx_place)[3] = NULL;
    const ec_scene *scene = s->scene;
    ec_path_box tx, rx;
    ec_path_launch launch;
    int64_t parts = (int64_t)scene->n_facets + scene->n_surfaces +
                    (config->diffractions > 0 ? scene->n_wedges : 0);
    bool launched = config->search == EC_MIMO_LAUNCHED ||
                    (config->search == EC_MIMO_AUTO && parts > EXHAUSTIVE_MAX);

    memcpy(tx.low, s->tx.box[0], sizeof tx.low);
    memcpy(tx.high, s->tx.box[1], sizeof tx.high);
    memcpy(rx.low, s->rx.box[0], sizeof rx.low);
    memcpy(rx.high, s->rx.box[1], sizeof rx.high);
    ec_path_launch_default(&launch);
    launch.rays = config->rays;
    int status = places_of(&s->tx, &config->tx, tx_each, &launch.n_tx_places, &tx_place);
    if (status >= 0)
        status = places_of(&s->rx, &config->rx, rx_each, &launch.n_rx_places, &rx_place);
    launch.tx_place = (const double(*)[3])tx_place;
    launch.rx_place = (const double(*)[3])rx_place;
    if (status >= 0)
        status = launched ? ec_path_discover(s->plan, &launch, &tx, &rx, &s->sequences)
                          : ec_path_enumerate(s->plan, &tx, &rx, &s->sequences);
    free(tx_place);
    free(rx_place);
    if (status < 0)
        return status;
    char text[200];
    ec_path_sequences_describe(s->plan, s->sequences, text, sizeof text);
    snprintf(s->path, sizeof s->path, "%s: %s", launched ? "launched" : "exhaustive", text);
    return EC_OK;
}

/* Frequencies that are numbers. */
static int take_list(const ec_mimo_config *config, setup *s)
{
    size_t n = config->n_frequencies > 0 ? (size_t)config->n_frequencies : 0;

    if (n < 1)
        return ec_fail(EC_ERR_ARGUMENT, "there is no frequency; at least 1 is needed");
    s->n_frequencies = config->n_frequencies;
    s->frequency = malloc(n * sizeof *s->frequency);
    if (!s->frequency)
        return ec_fail(EC_ERR_MEMORY, "no memory for frequencies");
    memcpy(s->frequency, config->frequency, n * sizeof *s->frequency);
    s->range[0] = INFINITY;
    s->range[1] = 0;
    for (size_t i = 0; i < n; i++) {
        double f = s->frequency[i];
        if (!(f > 0) || !isfinite(f))
            return ec_fail(EC_ERR_ARGUMENT, "a frequency is %g Hz; it is above 0", f);
        s->range[0] = fmin(s->range[0], f);
        s->range[1] = fmax(s->range[1], f);
    }
    return EC_OK;
}

/* Frequencies that are an expression; one that is the same for all designs and samples is a list. */
static int take_range(const ec_graph *graph, const ec_mimo_config *config, setup *s)
{
    const ec_node *node = ec_graph_node(graph, config->frequencies);

    if (!node)
        return ec_fail(EC_ERR_ARGUMENT, "the frequency is no expression of this graph");
    if (node->dtype == EC_C64 || node->dtype == EC_C128 || node->rank > 1)
        return ec_fail(EC_ERR_SHAPE, "the frequency is a real number or a list of such");
    size_t n = (size_t)node->elements;
    ec_interval *each = malloc(n * sizeof *each);
    double *value = malloc(n * sizeof *value);
    bool fixed = node->axes == 0;
    int status = each && value ? ec_graph_ranges(graph, config->frequencies, each)
                               : ec_fail(EC_ERR_MEMORY, "no memory for frequencies");
    s->n_frequencies = node->elements;
    s->range[0] = INFINITY;
    s->range[1] = 0;
    for (size_t i = 0; i < n && status >= 0; i++) {
        if (!(each[i].lo > 0) || !isfinite(each[i].hi))
            status = ec_fail(EC_ERR_RANGE,
                             "the frequency can be from %.6g to %.6g Hz; it is above 0 and finite",
                             each[i].lo, each[i].hi);
        s->range[0] = fmin(s->range[0], each[i].lo);
        s->range[1] = fmax(s->range[1], each[i].hi);
        fixed = fixed && each[i].lo == each[i].hi;
        value[i] = each[i].lo;
    }
    free(each);
    if (status >= 0 && fixed)
        s->frequency = value;
    else
        free(value);
    return status;
}

/* The figures of every material at the ends of what frequencies can be. */
static int check_materials(const setup *s)
{
    for (int32_t i = 0; i < s->scene->n_materials; i++)
        for (int k = 0; k < 2; k++) {
            int status = ec_material_check(&s->scene->material[i], s->range[k]);
            if (status < 0)
                return status;
        }
    return EC_OK;
}

/* Coupling is settled with the call: one that depends on the frequency needs frequencies that are
 * known there. */
static int take_coupling(const char *name, const setup *s, const ec_touchstone *coupling, end *e)
{
    size_t n = (size_t)s->n_frequencies;

    if (!coupling)
        return EC_OK;
    if (s->frequency)
        return ec_mimo_coupling_create(name, coupling, e->ports, s->n_frequencies, s->frequency,
                                       &e->coupling);
    if (coupling->n_frequencies != 1 || coupling->frequency[0] != 0)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "%s: the coupling has figures at frequencies, the link's frequency is an "
                       "expression; give frequencies as numbers, or one matrix for all",
                       name);
    double *any = malloc(n * sizeof *any);
    if (!any)
        return ec_fail(EC_ERR_MEMORY, "no memory for frequencies");
    for (size_t i = 0; i < n; i++)
        any[i] = s->range[0];
    int status =
        ec_mimo_coupling_create(name, coupling, e->ports, s->n_frequencies, any, &e->coupling);
    free(any);
    return status;
}

static int make_setup(const ec_graph *graph, const ec_mimo_config *config, setup *s,
                      ec_interval **tx, ec_interval **rx)
{
    if (!config->scene || config->scene->n_triangles == 0)
        return ec_fail(EC_ERR_ARGUMENT, "the scene has no triangles");
    if (config->receivers < 1 || config->rx.count % config->receivers != 0)
        return ec_fail(EC_ERR_ARGUMENT, "%d antennas cannot be those of %d receivers",
                       (int)config->rx.count, (int)config->receivers);
    s->scene = config->scene;
    s->receivers = config->receivers;
    s->power_dbm = config->power_dbm;
    s->noise_dbm = config->noise_dbm;
    if (config->power_share) {
        size_t bytes = (size_t)config->tx.count * sizeof *s->power_share;
        s->power_share = malloc(bytes);
        if (!s->power_share)
            return ec_fail(EC_ERR_MEMORY, "no memory for powers");
        memcpy(s->power_share, config->power_share, bytes);
    }
    int status = config->frequencies < 0 ? take_list(config, s) : take_range(graph, config, s);
    if (status >= 0)
        status = check_materials(s);
    if (status < 0)
        return status;
    ec_path_options_default(&s->options);
    s->options.depth = config->depth;
    s->options.diffractions = config->diffractions;
    s->options.transmissions = config->transmissions;
    s->options.inner_wedges = config->inner_wedges;
    status = make_end(graph, "tx", &config->tx, config->tx.count, &s->tx, tx);
    if (status >= 0)
        status =
            make_end(graph, "rx", &config->rx, config->rx.count / config->receivers, &s->rx, rx);
    if (status >= 0)
        status = take_coupling("tx", s, config->tx.coupling, &s->tx);
    if (status >= 0)
        status = take_coupling("rx", s, config->rx.coupling, &s->rx);
    if (status >= 0)
        status = ec_path_plan_create(s->scene, &s->options, &s->plan);
    if (status >= 0)
        status = check_fixed(s, "tx", &s->tx, *tx);
    if (status >= 0)
        status = check_fixed(s, "rx", &s->rx, *rx);
    if (status >= 0)
        status = check_apart(s, *tx, *rx);
    if (status >= 0) {
        widen(s->plan, &s->tx);
        widen(s->plan, &s->rx);
        status = find_sequences(s, config, *tx, *rx);
    }
    return status;
}

/* What either end sees, as inputs of the channels' call. */
static int look(ec_graph *graph, setup *s, ec_expr *in)
{
    const end *ends[2] = {&s->tx, &s->rx};
    int status = EC_OK;

    for (int i = 0; i < 2; i++) {
        bool varies = false;
        for (int k = 0; k < 3; k++)
            varies = varies || ec_graph_node(graph, in[3 * i + k])->axes;
        int shift = ec_mimo_sight_shift(s->sequences, ends[i]->count, varies);
        s->sight_shift = shift > s->sight_shift ? shift : s->sight_shift;
    }
    for (int i = 0; i < 2 && status >= 0; i++) {
        ec_mimo_sight_config c = {.plan = s->plan,
                                  .sequences = s->sequences,
                                  .count = ends[i]->count,
                                  .fixed = ends[i]->fixed,
                                  .back = i == 1,
                                  .shift = s->sight_shift};
        memcpy(c.box, ends[i]->box, sizeof c.box);
        status = ec_mimo_sight_call(graph, &c, in + 3 * i, &in[IN_SIGHT + i]);
    }
    return status;
}

int ec_mimo_call(ec_graph *graph, const ec_mimo_config *config, ec_call **call)
{
    ec_interval *tx = NULL, *rx = NULL;
    int status = check_end(graph, "tx", &config->tx);

    if (status >= 0)
        status = check_end(graph, "rx", &config->rx);
    if (status < 0)
        return status;
    setup *s = calloc(1, sizeof *s);
    if (!s)
        return ec_fail(EC_ERR_MEMORY, "no memory for a call of mimo");
    status = make_setup(graph, config, s, &tx, &rx);
    free(tx);
    free(rx);
    if (status < 0) {
        setup_destroy(s);
        return status;
    }
    ec_expr in[INPUTS_MAX] = {config->tx.at[0],
                              config->tx.at[1],
                              config->tx.at[2],
                              config->rx.at[0],
                              config->rx.at[1],
                              config->rx.at[2],
                              [IN_FREQUENCY] = config->frequencies};
    status = look(graph, s, in);
    if (status < 0) {
        setup_destroy(s);
        return status;
    }
    return ec_graph_call(graph, &ec_evaluator_mimo, s, s->frequency ? IN_FREQUENCY : INPUTS_MAX, in,
                         call);
}

void ec_mimo_frequency_range(const ec_call *call, double range[2])
{
    const setup *s = call->config;
    range[0] = s->range[0];
    range[1] = s->range[1];
}

const ec_scene *ec_mimo_scene(const ec_call *call)
{
    return ((const setup *)call->config)->scene;
}

void ec_mimo_describe(const ec_call *call, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const setup *)call->config)->path);
}

void ec_mimo_told(ec_call *call)
{
    setup *s = call->config;
    s->told = true;
}

bool ec_mimo_is_cut(const ec_call *call)
{
    const setup *s = call->config;
    return s->sequences->depth < s->options.depth || s->sequences->nodes_cut;
}

double ec_mimo_least_spacing(const ec_call *call)
{
    const setup *s = call->config;
    return fmin(s->tx.spacing, s->rx.spacing);
}

ec_mimo_parts ec_mimo_parts_of(const ec_call *call)
{
    const setup *s = call->config;
    return (ec_mimo_parts){.scene = s->scene,
                           .plan = s->plan,
                           .sequences = s->sequences,
                           .n_tx = s->tx.count,
                           .n_rx = s->rx.count / s->receivers,
                           .receivers = s->receivers,
                           .n_frequencies = s->n_frequencies,
                           .frequency = s->frequency,
                           .power_dbm = s->power_dbm,
                           .power_share = s->power_share,
                           .noise_dbm = s->noise_dbm};
}

const ec_antenna *ec_mimo_antenna_of(const ec_call *call, bool receives, int32_t antenna)
{
    const setup *s = call->config;
    return ec_mimo_antennas_get(receives ? &s->rx.antennas : &s->tx.antennas, antenna);
}

/* ---- outputs -------------------------------------------------------------------------------- */

typedef struct spec {
    ec_mimo_output output;
} spec;

/* The node of an output that the call has already, -1 if there is none. */
static ec_expr find_output(const ec_graph *graph, const ec_call *call, ec_mimo_output output)
{
    for (ec_expr e = 0; e < ec_graph_count(graph); e++) {
        const ec_node *n = ec_graph_node(graph, e);
        if (n->op == EC_OP_CALL_OUTPUT && n->call == call &&
            ((const spec *)call->out[n->output].spec)->output == output)
            return e;
    }
    return -1;
}

ec_expr ec_mimo_value(ec_graph *graph, ec_call *call, ec_mimo_output output)
{
    static const struct {
        const char *name;
        double low, high;
    } kinds[EC_MIMO_OUTPUTS] = {
        {"h", -INFINITY, INFINITY},
        {"paths", 0, INFINITY},
        {"grazing paths", 0, INFINITY},
        {"unresolved sequences", 0, INFINITY},
        {"K factor", -150, 150},
        {"mean delay", 0, INFINITY},
        {"delay spread", 0, INFINITY},
        {"azimuth spread at tx", 0, EC_MOMENT_SPREAD_MAX},
        {"elevation spread at tx", 0, EC_MOMENT_SPREAD_MAX},
        {"azimuth spread at rx", 0, EC_MOMENT_SPREAD_MAX},
        {"elevation spread at rx", 0, EC_MOMENT_SPREAD_MAX},
        {"share of grazing paths", 0, 1},
    };
    const setup *s = call->config;
    ec_call_output o = {.name = kinds[output].name,
                        .dtype = output == EC_MIMO_CHANNEL ? EC_C128 : EC_F64,
                        .range = {kinds[output].low, kinds[output].high}};
    bool counts = output >= EC_MIMO_PATHS && output < EC_MIMO_PATHS + EC_MIMO_COUNTS;
    ec_expr found = find_output(graph, call, output);
    if (found >= 0)
        return found;
    if (!counts && s->n_frequencies > 1)
        o.shape[o.rank++] = s->n_frequencies;
    if (s->receivers > 1)
        o.shape[o.rank++] = s->receivers;
    o.shape[o.rank++] = s->rx.count / s->receivers;
    o.shape[o.rank++] = s->tx.count;
    spec *own = malloc(sizeof *own);
    if (!own)
        return ec_fail(EC_ERR_MEMORY, "no memory for an output of mimo");
    own->output = output;
    o.spec = own;
    return ec_graph_call_output(graph, call, &o);
}

/* ---- plans and runs ------------------------------------------------------------------------- */

static size_t rows_of(size_t frequencies, uint32_t moments)
{
    return (2 + ec_moments_count(moments)) * frequencies + EC_MIMO_COUNTS;
}

/* Bytes of a batch of so many lanes with so many frequencies each: places, sums, which antennas, and
 * the workspace. */
static size_t batch_bytes(const setup *s, size_t frequencies, uint32_t moments, size_t lanes)
{
    return ec_path_channels_bytes(s->sequences, (int32_t)frequencies, moments, lanes) +
           (6 + rows_of(frequencies, moments)) * ec_lane_ld(lanes) * sizeof(double) +
           2 * ec_lane_ld(lanes) * sizeof(int32_t);
}

static ec_mimo_output kind_of(const ec_call *call, int32_t output)
{
    return ((const spec *)call->out[output].spec)->output;
}

/* The moments of paths that the wanted outputs come from. */
static uint32_t moments_of(const ec_plan_info *info)
{
    uint32_t moments = 0;
    for (int32_t i = 0; i < info->call->n_out; i++)
        if (info->wanted[i] && kind_of(info->call, i) >= EC_MIMO_K_FACTOR_DB)
            moments |= ec_mimo_metric_needs((int)kind_of(info->call, i) - EC_MIMO_K_FACTOR_DB);
    return moments;
}

static size_t pairs_of(const setup *s)
{
    return (size_t)s->tx.count * (size_t)s->rx.count;
}

/* Bytes of batches: enough to keep the backend busy, in a share of its memory. */
static size_t share_of(const ec_plan_info *info)
{
    const size_t share = info->backend->is_cuda ? (size_t)1 << 30 : (size_t)1 << 26;
    return info->memory_budget > 0 && info->memory_budget / 2 < share ? info->memory_budget / 2
                                                                      : share;
}

static size_t candidates_of(const ec_plan_info *info)
{
    return info->max_candidates > 0 ? info->max_candidates : 1;
}

/* Samples of the frequency that are traced at once, where places do not depend on the sample. */
static size_t sets_of(const setup *s, const ec_plan_info *info)
{
    size_t samples = 1;

    if (s->frequency || !(info->in[IN_FREQUENCY].axes & EC_AXIS_SAMPLE))
        return 1;
    for (int i = 0; i < IN_FREQUENCY; i++)
        if (info->in[i].axes & EC_AXIS_SAMPLE)
            return 1;
    samples = info->in[IN_FREQUENCY].samples;
    /* a batch keeps some lanes */
    size_t each = batch_bytes(s, (size_t)s->n_frequencies, moments_of(info), 16 * EC_LANE_PAD);
    size_t most = share_of(info) / each;
    return most < 1 ? 1 : most < samples ? most : samples;
}

/* Pairs of candidates that are traced at once. */
static size_t lanes_of(const setup *s, const ec_plan_info *info)
{
    size_t all = candidates_of(info) * pairs_of(s);
    size_t frequencies = sets_of(s, info) * (size_t)s->n_frequencies;
    size_t lanes =
        share_of(info) / batch_bytes(s, frequencies, moments_of(info), EC_LANE_PAD) * EC_LANE_PAD;
    return lanes < EC_LANE_PAD ? EC_LANE_PAD : lanes < all ? lanes : ec_lane_ld(all);
}

/* Sets of frequencies that designs have of their own: 0 where they are the call's, 1 where all
 * designs have the same. */
static size_t tables_of(const setup *s, const ec_plan_info *info)
{
    if (s->frequency)
        return 0;
    return info->in[IN_FREQUENCY].axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP) ? candidates_of(info)
                                                                             : 1;
}

static size_t spectrum_bytes(const setup *s, size_t sets, size_t tables)
{
    size_t materials = (size_t)s->scene->n_materials;
    return sets * (size_t)s->n_frequencies * tables *
           (sizeof(double) + materials * sizeof(ec_fresnel_face));
}

static void destroy(ec_evaluator **handle)
{
    evaluator *ev = (evaluator *)*handle;
    if (!ev)
        return;
    ec_backend *backend = ev->head.backend;
    ec_path_channels_destroy(&ev->channels);
    ec_path_antennas_destroy(backend, &ev->tx);
    ec_path_antennas_destroy(backend, &ev->rx);
    backend->ops->release(backend, ev->which[0]);
    backend->ops->release(backend, ev->which[1]);
    backend->ops->release(backend, ev->coupling[0]);
    backend->ops->release(backend, ev->coupling[1]);
    backend->ops->release(backend, ev->memory);
    backend->ops->release(backend, ev->law);
    backend->ops->release(backend, ev->face);
    free(ev);
    *handle = NULL;
}

static int plan_antennas(ec_backend *backend, const end *e, ec_path_antennas *antennas,
                         int32_t **which)
{
    const size_t bytes = (size_t)e->count * sizeof **which;
    void *copy = NULL;
    int status = ec_path_antennas_create(backend, e->antennas.n, e->antennas.antenna, antennas);

    if (status < 0 || !e->antennas.which)
        return status;
    status = backend->ops->alloc(backend, bytes, &copy);
    *which = copy;
    return status < 0 ? status : backend->ops->upload(backend, copy, e->antennas.which, bytes);
}

static int plan_coupling(ec_backend *backend, const setup *s, const end *e, ec_c128 **coupling)
{
    const size_t ports = (size_t)e->ports;
    const size_t bytes = (size_t)s->n_frequencies * ports * ports * sizeof **coupling;
    void *copy = NULL;

    if (!e->coupling)
        return EC_OK;
    int status = backend->ops->alloc(backend, bytes, &copy);
    *coupling = copy;
    return status < 0 ? status : backend->ops->upload(backend, copy, e->coupling, bytes);
}

/* What materials are at frequencies that are an input. */
static int plan_spectrum(evaluator *ev)
{
    const setup *s = ev->setup;
    ec_backend *backend = ev->head.backend;
    size_t n = (size_t)s->scene->n_materials;
    size_t rows = ev->sets * (size_t)s->n_frequencies * ev->tables;
    ec_material_law *law = malloc((n + 1) * sizeof *law);
    void *memory = NULL;
    int status = law ? EC_OK : ec_fail(EC_ERR_MEMORY, "mimo: no memory for a plan");

    for (size_t i = 0; i < n && status >= 0; i++)
        ec_material_law_of(&s->scene->material[i], &law[i]);
    if (status >= 0)
        status = backend->ops->alloc(backend, (n + 1) * sizeof *law, &memory);
    ev->law = memory;
    if (status >= 0 && n > 0)
        status = backend->ops->upload(backend, ev->law, law, n * sizeof *law);
    free(law);
    memory = NULL;
    if (status >= 0)
        status = backend->ops->alloc(backend, spectrum_bytes(s, ev->sets, ev->tables), &memory);
    ev->face = memory;
    ev->wavelength = memory ? (double *)(void *)(ev->face + rows * n) : NULL;
    return status;
}

static int plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **made)
{
    const ec_call *call = info->call;
    const setup *s = call->config;
    evaluator *ev = calloc(1, sizeof *ev);

    if (!ev)
        return ec_fail(EC_ERR_MEMORY, "mimo: no memory for a plan");
    ev->head.def = &ec_evaluator_mimo;
    ev->head.backend = backend;
    ev->setup = s;
    for (int i = 0; i < EC_MIMO_OUTPUTS; i++)
        ev->wanted[i] = -1;
    for (int32_t i = 0; i < call->n_out; i++)
        if (info->wanted[i])
            ev->wanted[kind_of(call, i)] = i;
    ev->moments = moments_of(info);
    ev->sets = sets_of(s, info);
    ev->tables = tables_of(s, info);
    ev->lanes = lanes_of(s, info);
    ev->pace = (size_t)EC_LANE_PAD * (size_t)(backend->threads > 0 ? backend->threads : 1);
    size_t frequencies = ev->sets * (size_t)s->n_frequencies;
    int status = ec_path_channels_create(s->plan, s->sequences, s->frequency ? s->n_frequencies : 0,
                                         s->frequency, backend, &ev->channels);
    if (status >= 0 && !s->frequency)
        status = plan_spectrum(ev);
    if (status >= 0)
        status = plan_antennas(backend, &s->tx, &ev->tx, &ev->which[0]);
    if (status >= 0)
        status = plan_antennas(backend, &s->rx, &ev->rx, &ev->which[1]);
    if (status >= 0)
        status = plan_coupling(backend, s, &s->tx, &ev->coupling[0]);
    if (status >= 0)
        status = plan_coupling(backend, s, &s->rx, &ev->coupling[1]);
    if (status >= 0)
        status = backend->ops->alloc(backend, batch_bytes(s, frequencies, ev->moments, ev->lanes),
                                     &ev->memory);
    if (status < 0) {
        ec_evaluator *handle = &ev->head;
        destroy(&handle);
        return status;
    }
    ec_path_channels_want(ev->channels, ev->moments);
    size_t ld = ec_lane_ld(ev->lanes);
    ev->tx_at = ev->memory;
    ev->rx_at = ev->tx_at + 3 * ld;
    ev->sum = ev->rx_at + 3 * ld;
    int32_t *of = (int32_t *)(ev->sum + rows_of(frequencies, ev->moments) * ld);
    ev->work = of + 2 * ld;
    for (int i = 0; i < 2; i++)
        ev->of[i] = ev->which[i] ? of + (size_t)i * ld : NULL;
    ev->tx.of = ev->of[0];
    ev->rx.of = ev->of[1];
    if (!s->told)
        ec_log_write(info->log, EC_LOG_INFO, "mimo: %s", s->path);
    *made = &ev->head;
    return EC_OK;
}

/* What a plan keeps of an end. */
static size_t end_bytes(const setup *s, const end *e)
{
    size_t ports = e->coupling ? (size_t)e->ports : 0;
    return ec_path_antennas_bytes(e->antennas.n, e->antennas.antenna) +
           (e->antennas.which ? (size_t)e->count * sizeof *e->antennas.which : 0) +
           (size_t)s->n_frequencies * ports * ports * sizeof *e->coupling;
}

static void memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed)
{
    const setup *s = info->call->config;
    const ec_scene *scene = s->scene;
    size_t sets = sets_of(s, info), tables = tables_of(s, info);

    *per_candidate = tables > 1 ? spectrum_bytes(s, sets, 1) : 0;
    /* vertices with normals and curvatures, triangles with their part and their share of nodes */
    *fixed = batch_bytes(s, sets * (size_t)s->n_frequencies, moments_of(info), lanes_of(s, info)) +
             (size_t)scene->n_vertices * 72 + (size_t)scene->n_triangles * 160 +
             end_bytes(s, &s->tx) + end_bytes(s, &s->rx) + s->sequences->n * sizeof(size_t) +
             s->sequences->first[s->sequences->n] * sizeof(uint32_t);
}

static void describe(const ec_evaluator *handle, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const evaluator *)handle)->setup->path);
}

static ec_mimo_result bind_result(const evaluator *ev, ec_array *const *out, ec_mimo_output kind)
{
    const ec_array *a = ev->wanted[kind] < 0 ? NULL : out[ev->wanted[kind]];
    if (!a)
        return (ec_mimo_result){0};
    return (ec_mimo_result){.data = a->data,
                            .ld = a->ld,
                            .stride = a->sample_stride,
                            .varies = (a->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP)) != 0};
}

/* A run's arguments. */
typedef struct run_info {
    const int32_t *stop;
    const ec_interrupt *interrupt;
    ec_array *const *out;
    ec_path_seen seen[2];
    ec_mimo_input frequency;
    size_t tables; /* of frequencies: n where designs have their own, else 1 */
} run_info;

static int check(const evaluator *ev, const run_info *r, const ec_mimo_batch *b, size_t samples,
                 uint8_t *status)
{
    const setup *s = ev->setup;
    ec_backend *backend = ev->head.backend;
    ec_mimo_check a = {.frequency = r->frequency,
                       .n_tx = (size_t)b->n_tx,
                       .n_rx = (size_t)b->n_rx,
                       .n_frequencies = s->frequency ? 0 : (size_t)s->n_frequencies,
                       .apart = !(s->tx.fixed && s->rx.fixed),
                       .near = 10 * s->plan->tolerance,
                       .range = {s->range[0] * (1 - 1e-12), s->range[1] * (1 + 1e-12)},
                       .samples = samples,
                       .n = b->n,
                       .status = status,
                       .outside = EC_CANDIDATE_OUT_OF_RANGE,
                       .bad = EC_CANDIDATE_MISPLACED,
                       .stop = r->stop};
    if (!a.apart && a.n_frequencies == 0)
        return EC_OK;
    memcpy(a.tx, b->tx, sizeof a.tx);
    memcpy(a.rx, b->rx, sizeof a.rx);
    return backend->ops->launch(backend, &ec_kernel_mimo_check, &a, b->n, 1);
}

/* Wavelengths and materials of the batch's samples. */
static int run_spectrum(const evaluator *ev, const run_info *r, const ec_mimo_batch *b)
{
    const setup *s = ev->setup;
    ec_backend *backend = ev->head.backend;
    ec_mimo_spectrum a = {.frequency = r->frequency,
                          .range = {s->range[0] * (1 - 1e-12), s->range[1] * (1 + 1e-12)},
                          .n_frequencies = (size_t)s->n_frequencies,
                          .first_sample = b->sample,
                          .tables = r->tables,
                          .n_materials = (size_t)s->scene->n_materials,
                          .law = ev->law,
                          .wavelength = ev->wavelength,
                          .face = ev->face,
                          .stop = r->stop};
    if (s->frequency)
        return EC_OK;
    return backend->ops->launch(backend, &ec_kernel_mimo_spectrum, &a, a.tables,
                                b->sets * a.n_frequencies);
}

static int run_metrics(const evaluator *ev, const run_info *r, const ec_mimo_batch *b)
{
    ec_backend *backend = ev->head.backend;
    ec_mimo_metrics a = {.batch = *b, .moments = ev->moments, .size = ev->setup->plan->size};

    for (int m = 0; m < EC_MIMO_METRICS; m++)
        a.result[m] = bind_result(ev, r->out, (ec_mimo_output)(EC_MIMO_K_FACTOR_DB + m));
    return backend->ops->launch(backend, &ec_kernel_mimo_metrics, &a, b->lanes,
                                b->sets * (size_t)b->n_frequencies);
}

static int run_batch(const evaluator *ev, const run_info *r, const ec_mimo_batch *b)
{
    const setup *s = ev->setup;
    ec_backend *backend = ev->head.backend;
    size_t frequencies = b->sets * (size_t)b->n_frequencies;
    ec_path_own own = {.lanes = {.first = b->first,
                                 .n = b->n,
                                 .n_tx = (size_t)b->n_tx,
                                 .tx = r->seen[0],
                                 .rx = r->seen[1],
                                 .shift = s->sight_shift,
                                 .tables = r->tables,
                                 .wavelength = ev->wavelength,
                                 .face = ev->face},
                       .n_frequencies = s->frequency ? 0 : (int32_t)frequencies,
                       .longest = EC_LIGHT_SPEED / s->range[0],
                       .stop = r->stop};
    int status = backend->ops->launch(backend, &ec_kernel_mimo_gather, b, b->lanes, 1);

    if (status >= 0)
        status = ec_path_channels_run_lanes(ev->channels, &ev->tx, &ev->rx, b->tx_at, b->rx_at,
                                            b->lanes, &own, ev->work, ev->sum);
    if (status >= 0)
        status = backend->ops->launch(backend, &ec_kernel_mimo_scatter, b, b->lanes,
                                      frequencies + EC_MIMO_COUNTS);
    if (status >= 0 && ev->moments)
        status = run_metrics(ev, r, b);
    return status;
}

/* All pairs at the batch's samples. On the CPU batches are cut so that the interrupt is looked at a
 * few times a second; results do not depend on the cut. */
static int run_pairs(evaluator *ev, const run_info *r, ec_mimo_batch *b)
{
    size_t all = pairs_of(ev->setup) * b->n;
    bool looks = r->interrupt && ev->head.backend->host_memory;
    int rc = run_spectrum(ev, r, b);

    for (b->first = 0; b->first < all && rc >= 0; b->first += b->lanes) {
        size_t most = looks && ev->pace < ev->lanes ? ev->pace : ev->lanes;
        if (r->interrupt && r->interrupt->asked(r->interrupt->user))
            return EC_STOPPED;
        b->lanes = all - b->first < most ? all - b->first : most;
        b->ld = ec_lane_ld(b->lanes);
        double start = looks ? ec_wall_seconds() : 0;
        rc = run_batch(ev, r, b);
        double seconds = looks ? ec_wall_seconds() - start : 0;
        if (looks && seconds < 0.1 && b->lanes == ev->pace)
            ev->pace *= 2;
        else if (looks && seconds > 0.3 && ev->pace > EC_LANE_PAD)
            ev->pace /= 2;
    }
    return rc;
}

static ec_path_seen bind_seen(const ec_array *a, size_t sample)
{
    ec_mimo_input in = ec_mimo_input_of(a);
    return (ec_path_seen){.word = in.data + sample * in.stride,
                          .words = (size_t)a->shape[1],
                          .ld = a->ld,
                          .varies = in.varies};
}

static int run(ec_evaluator *handle, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n)
{
    evaluator *ev = (evaluator *)handle;
    const setup *s = ev->setup;
    size_t samples = 1;
    run_info r = {.stop = exec ? exec->stop : NULL,
                  .interrupt = exec ? exec->interrupt : NULL,
                  .out = out,
                  .tables = 1};
    ec_mimo_batch b = {.n_tx = s->tx.count,
                       .n_rx = s->rx.count,
                       .n_frequencies = s->n_frequencies,
                       .n = n,
                       .tx_at = ev->tx_at,
                       .rx_at = ev->rx_at,
                       .tx_which = ev->which[0],
                       .rx_which = ev->which[1],
                       .tx_of = ev->of[0],
                       .rx_of = ev->of[1],
                       .sum = ev->sum,
                       .h = bind_result(ev, out, EC_MIMO_CHANNEL)};

    for (int k = 0; k < EC_MIMO_COUNTS; k++)
        b.count[k] = bind_result(ev, out, (ec_mimo_output)(EC_MIMO_PATHS + k));
    for (int k = 0; k < 3; k++) {
        b.tx[k] = ec_mimo_input_of(in[k]);
        b.rx[k] = ec_mimo_input_of(in[3 + k]);
    }
    for (int k = 0; k < (s->frequency ? IN_FREQUENCY : INPUTS_MAX); k++)
        samples = in[k]->samples > samples ? in[k]->samples : samples;
    if (!s->frequency) {
        r.frequency = ec_mimo_input_of(in[IN_FREQUENCY]);
        r.tables = r.frequency.varies ? n : 1;
    }
    int rc = check(ev, &r, &b, samples, status);
    for (b.sample = 0; b.sample < samples && rc >= 0; b.sample += b.sets) {
        b.sets = ev->sets < samples - b.sample ? ev->sets : samples - b.sample;
        for (int i = 0; i < 2; i++)
            r.seen[i] = bind_seen(in[IN_SIGHT + i], b.sample);
        rc = run_pairs(ev, &r, &b);
    }
    if (rc >= 0 && b.h.data && (ev->coupling[0] || ev->coupling[1]))
        rc = ec_mimo_coupling_run(ev->head.backend, &b.h, ev->coupling[0], ev->coupling[1],
                                  s->tx.ports, s->rx.ports, s->receivers, s->n_frequencies, samples,
                                  n);
    return rc;
}

static void add_array(ec_hash *hash, const void *data, size_t bytes)
{
    if (data)
        ec_hash_bytes(hash, data, bytes);
}

static void add_end(ec_hash *hash, const setup *s, const end *e)
{
    ec_hash_bytes(hash, &e->count, sizeof e->count);
    ec_hash_bytes(hash, e->box, sizeof e->box);
    ec_mimo_antennas_hash(&e->antennas, e->count, hash);
    add_array(hash, e->coupling,
              (size_t)s->n_frequencies * (size_t)e->ports * (size_t)e->ports * sizeof *e->coupling);
}

static void fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    const setup *s = call->config;
    const ec_scene *scene = s->scene;
    int32_t words[] = {(int32_t)kind_of(call, output),
                       s->receivers,
                       s->n_frequencies,
                       s->options.depth,
                       s->options.diffractions,
                       s->options.transmissions,
                       s->options.inner_wedges,
                       scene->n_vertices,
                       scene->n_triangles,
                       scene->n_surfaces};

    ec_hash_bytes(hash, words, sizeof words);
    ec_hash_bytes(hash, s->range, sizeof s->range);
    add_array(hash, s->frequency, (size_t)s->n_frequencies * sizeof *s->frequency);
    add_end(hash, s, &s->tx);
    add_end(hash, s, &s->rx);
    add_array(hash, scene->vertex, (size_t)scene->n_vertices * sizeof *scene->vertex);
    add_array(hash, scene->triangle, (size_t)scene->n_triangles * sizeof *scene->triangle);
    add_array(hash, scene->part, (size_t)scene->n_triangles * sizeof *scene->part);
    for (int32_t i = 0; i < scene->n_surfaces; i++)
        ec_hash_bytes(hash, &scene->surface[i].kind, sizeof scene->surface[i].kind);
    for (int32_t i = 0; i < scene->n_facets; i++)
        ec_hash_bytes(hash, &scene->facet[i].material, sizeof scene->facet[i].material);
    for (int32_t i = 0; i < scene->n_materials; i++) {
        ec_material_law law;
        ec_material_law_of(&scene->material[i], &law);
        ec_hash_bytes(hash, &law.kind, sizeof law.kind);
        ec_hash_bytes(hash, law.row, sizeof law.row);
        ec_hash_bytes(hash, &law.loss_tangent, sizeof law.loss_tangent);
        ec_hash_bytes(hash, &law.thickness, sizeof law.thickness);
    }
    /* of sequences that rays found */
    const ec_path_sequences *q = s->sequences;
    ec_hash_bytes(hash, q->first, (q->n + 1) * sizeof *q->first);
    ec_hash_bytes(hash, q->step, q->first[q->n] * sizeof *q->step);
}

const ec_evaluator_def ec_evaluator_mimo = {.name = "mimo",
                                            .flags = EC_EVALUATOR_CAPTURABLE,
                                            .plan = plan,
                                            .run = run,
                                            .destroy = destroy,
                                            .memory = memory_needs,
                                            .describe = describe,
                                            .config_destroy = setup_destroy,
                                            .spec_destroy = free,
                                            .fingerprint = fingerprint};
