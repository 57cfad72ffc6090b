/* mimo.c: settles which sequences there can be, plans and runs channels of pairs. */
#include "mimo.h"

#include "mimo_antennas.h"
#include "mimo_coupling.h"
#include "mimo_internal.h"
#include "mimo_metrics_kernels.h"
#include "path_channels.h"
#include "path_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(mimo_gather, ec_mimo_batch)
EC_KERNEL_DECLARE(mimo_scatter, ec_mimo_batch)
EC_KERNEL_DECLARE(mimo_check, ec_mimo_check)
EC_KERNEL_DECLARE(mimo_metrics, ec_mimo_metrics)

enum {
    INPUTS = 6,
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
    double *frequency;
    ec_path_options options;
    ec_path_plan *plan;
    ec_path_sequences *sequences;
    double power_dbm, noise_dbm;
    char path[256];
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
    void *memory;
    double *tx_at, *rx_at, *sum;
    int32_t *of[2];       /* the same of each lane */
    ec_c128 *coupling[2]; /* of tx and rx; NULL: not coupled */
    void *work;
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

static double least_spacing(const ec_interval *each, int32_t n, int32_t group)
{
    double least = INFINITY;

    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n && j / group == i / group; j++) {
            double square = 0;
            for (int32_t k = 0; k < 3; k++) {
                const ec_interval *a = &each[k * n + i], *b = &each[k * n + j];
                double gap = fmax(0, fmax(a->lo - b->hi, b->lo - a->hi));
                square += gap * gap;
            }
            least = fmin(least, sqrt(square));
        }
    return least;
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

/* Antennas that stand still are checked here, once. */
static int check_fixed(const setup *s, const char *name, const end *e, const ec_interval *each)
{
    for (int32_t i = 0; e->fixed && i < e->count; i++) {
        double p[3];
        for (int32_t k = 0; k < 3; k++)
            p[k] = each[k * e->count + i].lo;
        bool on = ec_mimo_is_on_surface(&s->plan->view, p);
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
        e->spacing = least_spacing(*each, e->count, from->array > 0 ? from->array : group);
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
                return ec_fail(EC_ERR_ARGUMENT, "rx: antenna %d is at the place of tx's %d",
                               (int)r + 1, (int)t + 1);
    return EC_OK;
}

static int find_sequences(setup *s, const ec_mimo_config *config)
{
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
    int status = launched ? ec_path_discover(s->plan, &launch, &tx, &rx, &s->sequences)
                          : ec_path_enumerate(s->plan, &tx, &rx, &s->sequences);
    if (status < 0)
        return status;
    char text[200];
    ec_path_sequences_describe(s->plan, s->sequences, text, sizeof text);
    snprintf(s->path, sizeof s->path, "%s: %s", launched ? "launched" : "exhaustive", text);
    return EC_OK;
}

static int make_setup(const ec_graph *graph, const ec_mimo_config *config, setup *s,
                      ec_interval **tx, ec_interval **rx)
{
    if (!config->scene || config->scene->n_triangles == 0)
        return ec_fail(EC_ERR_ARGUMENT, "the scene has no triangles");
    if (config->receivers < 1 || config->rx.count % config->receivers != 0)
        return ec_fail(EC_ERR_ARGUMENT, "%d antennas cannot be those of %d receivers",
                       (int)config->rx.count, (int)config->receivers);
    if (config->n_frequencies < 1)
        return ec_fail(EC_ERR_ARGUMENT, "there is no frequency; at least 1 is needed");
    s->scene = config->scene;
    s->receivers = config->receivers;
    s->n_frequencies = config->n_frequencies;
    s->power_dbm = config->power_dbm;
    s->noise_dbm = config->noise_dbm;
    s->frequency = malloc((size_t)config->n_frequencies * sizeof *s->frequency);
    if (!s->frequency)
        return ec_fail(EC_ERR_MEMORY, "no memory for frequencies");
    memcpy(s->frequency, config->frequency, (size_t)config->n_frequencies * sizeof *s->frequency);
    ec_path_options_default(&s->options);
    s->options.depth = config->depth;
    s->options.diffractions = config->diffractions;
    s->options.transmissions = config->transmissions;
    s->options.inner_wedges = config->inner_wedges;
    int status = make_end(graph, "tx", &config->tx, config->tx.count, &s->tx, tx);
    if (status >= 0)
        status =
            make_end(graph, "rx", &config->rx, config->rx.count / config->receivers, &s->rx, rx);
    if (status >= 0 && config->tx.coupling)
        status = ec_mimo_coupling_create("tx", config->tx.coupling, s->tx.ports, s->n_frequencies,
                                         s->frequency, &s->tx.coupling);
    if (status >= 0 && config->rx.coupling)
        status = ec_mimo_coupling_create("rx", config->rx.coupling, s->rx.ports, s->n_frequencies,
                                         s->frequency, &s->rx.coupling);
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
        status = find_sequences(s, config);
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
    const ec_expr in[INPUTS] = {config->tx.at[0], config->tx.at[1], config->tx.at[2],
                                config->rx.at[0], config->rx.at[1], config->rx.at[2]};
    return ec_graph_call(graph, &ec_evaluator_mimo, s, INPUTS, in, call);
}

const ec_scene *ec_mimo_scene(const ec_call *call)
{
    return ((const setup *)call->config)->scene;
}

void ec_mimo_describe(const ec_call *call, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const setup *)call->config)->path);
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

static size_t rows_of(const setup *s, uint32_t moments)
{
    return (2 + ec_moments_count(moments)) * (size_t)s->n_frequencies + EC_MIMO_COUNTS;
}

/* Bytes of a batch of so many lanes: places, sums, which antennas, and the workspace. */
static size_t batch_bytes(const setup *s, uint32_t moments, size_t lanes)
{
    return ec_path_channels_bytes(s->sequences, s->n_frequencies, moments, lanes) +
           (6 + rows_of(s, moments)) * ec_lane_ld(lanes) * sizeof(double) +
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

/* Pairs of all candidates that are traced at once: enough to keep the backend busy, in a share of
 * its memory. At least one pair of each candidate. */
static size_t lanes_of(const setup *s, const ec_plan_info *info)
{
    const size_t share = info->backend->is_cuda ? (size_t)1 << 30 : (size_t)1 << 26;
    size_t n = info->max_candidates > 0 ? info->max_candidates : 1, all = pairs_of(s);
    size_t most = info->memory_budget > 0 && info->memory_budget / 2 < share
                      ? info->memory_budget / 2
                      : share;
    size_t pairs = most / batch_bytes(s, moments_of(info), EC_LANE_PAD) * EC_LANE_PAD / n;
    return n * (pairs < 1 ? 1 : pairs > all ? all : pairs);
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
    ev->lanes = lanes_of(s, info);
    int status = ec_path_channels_create(s->plan, s->sequences, s->n_frequencies, s->frequency,
                                         backend, &ev->channels);
    if (status >= 0)
        status = plan_antennas(backend, &s->tx, &ev->tx, &ev->which[0]);
    if (status >= 0)
        status = plan_antennas(backend, &s->rx, &ev->rx, &ev->which[1]);
    if (status >= 0)
        status = plan_coupling(backend, s, &s->tx, &ev->coupling[0]);
    if (status >= 0)
        status = plan_coupling(backend, s, &s->rx, &ev->coupling[1]);
    if (status >= 0)
        status = backend->ops->alloc(backend, batch_bytes(s, ev->moments, ev->lanes), &ev->memory);
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
    int32_t *of = (int32_t *)(ev->sum + rows_of(s, ev->moments) * ld);
    ev->work = of + 2 * ld;
    for (int i = 0; i < 2; i++)
        ev->of[i] = ev->which[i] ? of + (size_t)i * ld : NULL;
    ev->tx.of = ev->of[0];
    ev->rx.of = ev->of[1];
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
    ec_plan_info one = *info;
    uint32_t moments = moments_of(info);

    one.max_candidates = 1;
    *per_candidate = batch_bytes(s, moments, EC_LANE_PAD) / EC_LANE_PAD;
    /* vertices with normals and curvatures, triangles with their part and their share of nodes */
    *fixed = batch_bytes(s, moments, lanes_of(s, &one)) + (size_t)scene->n_vertices * 72 +
             (size_t)scene->n_triangles * 160 + end_bytes(s, &s->tx) + end_bytes(s, &s->rx) +
             s->sequences->n * sizeof(size_t) +
             s->sequences->first[s->sequences->n] * sizeof(uint32_t);
}

static void describe(const ec_evaluator *handle, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const evaluator *)handle)->setup->path);
}

static ec_mimo_input bind_input(const ec_array *a)
{
    return (ec_mimo_input){.data = a->data,
                           .ld = a->elements > 1 ? a->ld : 0,
                           .stride = a->sample_stride,
                           .varies = (a->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP)) != 0};
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

static int check(const evaluator *ev, const ec_mimo_batch *b, size_t samples, uint8_t *status)
{
    const setup *s = ev->setup;
    ec_backend *backend = ev->head.backend;
    ec_mimo_check a = {.n_tx = b->n_tx,
                       .n_rx = b->n_rx,
                       .fixed_tx = s->tx.fixed,
                       .fixed_rx = s->rx.fixed,
                       .samples = samples,
                       .n = b->n,
                       .view = *ec_path_channels_view(ev->channels),
                       .status = status,
                       .outside = EC_CANDIDATE_OUT_OF_RANGE,
                       .bad = EC_CANDIDATE_EVALUATOR};
    if (s->tx.fixed && s->rx.fixed)
        return EC_OK;
    memcpy(a.tx, b->tx, sizeof a.tx);
    memcpy(a.rx, b->rx, sizeof a.rx);
    memcpy(a.tx_box, s->tx.box, sizeof a.tx_box);
    memcpy(a.rx_box, s->rx.box, sizeof a.rx_box);
    return backend->ops->launch(backend, &ec_kernel_mimo_check, &a, b->n, 1);
}

static int run_metrics(const evaluator *ev, const ec_mimo_batch *b, ec_array *const *out)
{
    ec_backend *backend = ev->head.backend;
    ec_mimo_metrics a = {.batch = *b, .moments = ev->moments, .size = ev->setup->plan->size};

    for (int m = 0; m < EC_MIMO_METRICS; m++)
        a.result[m] = bind_result(ev, out, (ec_mimo_output)(EC_MIMO_K_FACTOR_DB + m));
    return backend->ops->launch(backend, &ec_kernel_mimo_metrics, &a, b->pairs * b->n,
                                (size_t)b->n_frequencies);
}

static int run_batch(const evaluator *ev, const ec_mimo_batch *b, ec_array *const *out)
{
    ec_backend *backend = ev->head.backend;
    size_t lanes = b->pairs * b->n;
    int status = backend->ops->launch(backend, &ec_kernel_mimo_gather, b, lanes, 1);

    if (status >= 0)
        status = ec_path_channels_run(ev->channels, &ev->tx, &ev->rx, b->tx_at, b->rx_at, lanes,
                                      ev->work, ev->sum);
    if (status >= 0)
        status = backend->ops->launch(backend, &ec_kernel_mimo_scatter, b, lanes,
                                      (size_t)b->n_frequencies + EC_MIMO_COUNTS);
    if (status >= 0 && ev->moments)
        status = run_metrics(ev, b, out);
    return status;
}

static int run(ec_evaluator *handle, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n)
{
    const evaluator *ev = (const evaluator *)handle;
    const setup *s = ev->setup;
    size_t samples = 1, all = pairs_of(s);
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
        b.tx[k] = bind_input(in[k]);
        b.rx[k] = bind_input(in[3 + k]);
    }
    for (int k = 0; k < INPUTS; k++)
        samples = in[k]->samples > samples ? in[k]->samples : samples;
    int rc = check(ev, &b, samples, status);
    for (b.sample = 0; b.sample < samples && rc >= 0; b.sample++)
        for (b.first = 0; b.first < all && rc >= 0; b.first += b.pairs) {
            size_t pairs = ev->lanes / n;
            if (exec && exec->interrupt && exec->interrupt->asked(exec->interrupt->user))
                return EC_STOPPED;
            b.pairs = pairs < all - b.first ? pairs : all - b.first;
            b.ld = ec_lane_ld(b.pairs * n);
            rc = run_batch(ev, &b, out);
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
    ec_hash_bytes(hash, s->frequency, (size_t)s->n_frequencies * sizeof *s->frequency);
    add_end(hash, s, &s->tx);
    add_end(hash, s, &s->rx);
    add_array(hash, scene->vertex, (size_t)scene->n_vertices * sizeof *scene->vertex);
    add_array(hash, scene->triangle, (size_t)scene->n_triangles * sizeof *scene->triangle);
    add_array(hash, scene->part, (size_t)scene->n_triangles * sizeof *scene->part);
    for (int32_t i = 0; i < scene->n_surfaces; i++)
        ec_hash_bytes(hash, &scene->surface[i].kind, sizeof scene->surface[i].kind);
    for (int32_t i = 0; i < scene->n_facets; i++)
        ec_hash_bytes(hash, &scene->facet[i].material, sizeof scene->facet[i].material);
    for (int32_t i = 0; i < scene->n_materials; i++)
        for (int32_t f = 0; f < s->n_frequencies; f++) {
            const ec_material *m = &scene->material[i];
            int32_t kind = (int32_t)m->kind;
            ec_c128 eps = {0, 0};
            if (m->kind != EC_MATERIAL_PEC)
                ec_material_permittivity(m, s->frequency[f], &eps);
            ec_hash_bytes(hash, &kind, sizeof kind);
            ec_hash_bytes(hash, &eps, sizeof eps);
            ec_hash_bytes(hash, &m->thickness, sizeof m->thickness);
        }
    /* of sequences that rays found */
    const ec_path_sequences *q = s->sequences;
    ec_hash_bytes(hash, q->first, (q->n + 1) * sizeof *q->first);
    ec_hash_bytes(hash, q->step, q->first[q->n] * sizeof *q->step);
}

const ec_evaluator_def ec_evaluator_mimo = {.name = "mimo",
                                            .plan = plan,
                                            .run = run,
                                            .destroy = destroy,
                                            .memory = memory_needs,
                                            .describe = describe,
                                            .config_destroy = setup_destroy,
                                            .spec_destroy = free,
                                            .fingerprint = fingerprint};
