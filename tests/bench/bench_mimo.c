#include "bench_mimo.h"

#include "bench_path_kernels.h"
#include "method_options.h"

#include "core/executor.h"
#include "core/optimizer.h"
#include "core/wall_clock.h"
#include "evaluators/matrix/matrix.h"
#include "evaluators/mimo/mimo.h"
#include "evaluators/mimo/mimo_sight_internal.h"
#include "evaluators/mimo/path_channels.h"
#include "evaluators/mimo/path_internal.h"
#include "evaluators/mimo/scene_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(bench_path, bench_path_args)

enum { REPEATS = 5, TX = 4, RX_MAX = 12, GENES = TX + RX_MAX };

typedef struct links {
    ec_backend *backend;
    ec_scene *scene;
    ec_path_plan *plan;
    ec_path_sequences *sequences;
    ec_graph *graph;
    ec_call *call;
    ec_mimo_config config;
    double frequency;
    int32_t n_rx, genes; /* genes: x of the transmitters, then of receivers that move */
    double low[GENES], high[GENES];
    size_t n;
    ec_array X;
    void *status;
} links;

static void check(int status, const char *what)
{
    if (status >= 0)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, ec_error_text());
    exit(1);
}

static void *memory(ec_backend *backend, const void *from, size_t bytes)
{
    void *to = NULL;
    check(backend->ops->alloc(backend, bytes, &to), "memory");
    if (from)
        check(backend->ops->upload(backend, to, from, bytes), "memory");
    return to;
}

/* ---- scenes ----------------------------------------------------------------------------------- */

static void add(ec_scene_builder *builder, const char *material, const ec_shape *shape)
{
    ec_material m;
    int32_t index;

    check(ec_material_by_name(material, &m), "material");
    check(ec_scene_builder_material(builder, &m, &index), "material");
    check(ec_scene_builder_shape(builder, "shape", index, shape), "shape");
}

static void add_box(ec_scene_builder *builder, const char *material, double x, double y, double z,
                    double size_x, double size_y, double size_z, bool inward)
{
    ec_shape shape;

    ec_shape_default(EC_SHAPE_BOX, &shape);
    memcpy(shape.at, (double[]){x, y, z}, sizeof shape.at);
    memcpy(shape.size, (double[]){size_x, size_y, size_z}, sizeof shape.size);
    shape.inward = inward;
    add(builder, material, &shape);
}

static void furnish(ec_scene_builder *builder)
{
    add_box(builder, "itu_concrete", 6, 4.5, 1.5, 12, 9, 3, true);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            double x = 2.5 + 3.5 * i, y = 2.5 + 4 * j;
            add_box(builder, "itu_wood", x, y, 0.72, 1.6, 0.8, 0.04, false);
            add_box(builder, "itu_wood", x - 1.1, y, 0.25, 0.4, 0.4, 0.5, false);
            add_box(builder, "itu_wood", x + 1.1, y, 0.25, 0.4, 0.4, 0.5, false);
            add_box(builder, "itu_metal", x, y, 0.85, 0.5, 0.3, 0.02, false);
        }
    add_box(builder, "pec", 11.6, 1, 0.9, 0.5, 1.2, 1.7, false);
    add_box(builder, "itu_concrete", 6, 4.5, 1.45, 0.4, 0.4, 2.8, false);
}

static void cylinder_and_plate(ec_scene_builder *builder)
{
    ec_shape shape;

    ec_shape_default(EC_SHAPE_PLATE, &shape);
    memcpy(shape.at, (double[]){30, 0, 0}, sizeof shape.at);
    memcpy(shape.size, (double[]){50, 15, 0}, sizeof shape.size);
    memcpy(shape.axis, (double[]){-1, 0, 0}, sizeof shape.axis);
    shape.divisions = 38;
    add(builder, "pec", &shape);
    ec_shape_default(EC_SHAPE_CYLINDER, &shape);
    shape.radius = 10;
    shape.length = 15;
    shape.sides = 1028;
    shape.divisions = 45;
    shape.open = true;
    add(builder, "pec", &shape);
}

static void build(links *l, bool room)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;

    check(ec_scene_builder_create(&builder), "scene");
    if (room)
        furnish(builder);
    else
        cylinder_and_plate(builder);
    ec_scene_options_default(&options);
    check(ec_scene_build(builder, &options, &l->scene), "scene");
    ec_scene_builder_destroy(&builder);
}

/* ---- links ------------------------------------------------------------------------------------- */

/* Antennas along x: transmitters near y = -40 or at the ceiling, receivers near y = 40 or at tables. */
static void configure(links *l, bool room)
{
    ec_mimo_config *c = &l->config;
    ec_graph *g = l->graph;
    double y[RX_MAX], x[RX_MAX];

    l->n_rx = room ? RX_MAX : 4;
    l->genes = room ? TX : 2 * TX;
    l->frequency = room ? 3.5e9 : EC_LIGHT_SPEED;
    for (int32_t i = 0; i < l->genes; i++) {
        double first = room ? 0.6 + 2.8 * i : 7 + 4.0 * (i % TX);
        l->low[i] = first;
        l->high[i] = first + (room ? 2.4 : 3.5);
    }
    for (int32_t i = 0; i < l->n_rx; i++) {
        x[i] = 0.8 + 0.9 * i;
        y[i] = 1.3 + 3.2 * (i % 3);
    }
    ec_mimo_config_default(c);
    c->scene = l->scene;
    c->n_frequencies = 1;
    c->frequency = &l->frequency;
    c->depth = room ? 2 : 3;
    c->diffractions = room ? 0 : 1;
    c->search = room ? EC_MIMO_LAUNCHED : EC_MIMO_EXHAUSTIVE;
    c->rays = 30000;
    c->tx.count = TX;
    c->tx.at[0] = ec_graph_variable(g, false, 0, TX, l->low, l->high);
    c->tx.at[1] = ec_graph_number(g, room ? 4 : -40);
    c->tx.at[2] = ec_graph_number(g, room ? 2.85 : 0);
    c->rx.count = l->n_rx;
    c->rx.at[0] = room ? ec_graph_constant(g, 1, &l->n_rx, x)
                       : ec_graph_variable(g, false, TX, TX, l->low + TX, l->high + TX);
    c->rx.at[1] = room ? ec_graph_constant(g, 1, &l->n_rx, y) : ec_graph_number(g, 40);
    c->rx.at[2] = ec_graph_number(g, room ? 1.2 : 0);
}

static double gene(const links *l, size_t design, int32_t i)
{
    double x = (double)(design + 1) * 0.6180339887498949 + 0.4142135623730951 * (i + 1);
    return l->low[i] + (x - floor(x)) * (l->high[i] - l->low[i]);
}

static double *designs_of(links *l)
{
    check(ec_array_create(l->backend, &l->X, EC_F64, EC_AXIS_CANDIDATE, 1, &l->genes, l->n, 1),
          "designs");
    double *x = calloc((size_t)l->genes * l->X.ld, sizeof *x);
    check(x ? EC_OK : ec_fail(EC_ERR_MEMORY, "out of memory"), "designs");
    for (int32_t i = 0; i < l->genes; i++)
        for (size_t k = 0; k < l->n; k++)
            x[(size_t)i * l->X.ld + k] = gene(l, k, i);
    check(l->backend->ops->upload(l->backend, l->X.data, x, (size_t)l->genes * l->X.ld * sizeof *x),
          "designs");
    return x;
}

/* ---- time -------------------------------------------------------------------------------------- */

/* Least seconds of f, after a run of it. */
static double timed(ec_backend *backend, void (*f)(void *), void *user)
{
    double least = INFINITY;

    f(user);
    check(backend->ops->sync(backend), "sync");
    for (int i = 0; i < REPEATS; i++) {
        double begun = ec_wall_seconds();
        f(user);
        check(backend->ops->sync(backend), "sync");
        least = fmin(least, ec_wall_seconds() - begun);
    }
    return least;
}

typedef struct evaluation {
    links *l;
    ec_executor *executor;
} evaluation;

static void evaluate(void *user)
{
    evaluation *e = user;
    check(ec_executor_run(e->executor, &e->l->X, NULL, NULL, e->l->status, e->l->n, 0), "run");
}

static evaluation evaluation_of(links *l, int32_t n, const ec_expr *out)
{
    evaluation e = {.l = l};
    ec_executor_info info = {.n_outputs = n, .outputs = out, .max_candidates = l->n};
    check(ec_executor_create(l->graph, l->backend, &info, &e.executor), "executor");
    return e;
}

static double time_of(links *l, ec_expr out)
{
    evaluation e = evaluation_of(l, 1, &out);
    double seconds = timed(l->backend, evaluate, &e);
    ec_executor_destroy(&e.executor);
    return seconds;
}

/* ---- points and occlusion ------------------------------------------------------------------------ */

typedef struct tracing {
    ec_backend *backend;
    bench_path_args args;
} tracing;

static void trace(void *user)
{
    tracing *t = user;
    check(t->backend->ops->launch(t->backend, &ec_kernel_bench_path, &t->args, t->args.batch.n,
                                  t->args.batch.slices),
          "points");
}

/* Places of every pair of every design, [3][ld] of each end. */
static void *places_of(links *l, const double *x, const double *still_x, const double *still_y,
                       size_t pairs)
{
    size_t lanes = pairs * l->n, ld = ec_lane_ld(lanes);
    bool room = still_x != NULL;
    double *at = calloc(6 * ld, sizeof *at);

    check(at ? EC_OK : ec_fail(EC_ERR_MEMORY, "out of memory"), "pairs");
    for (size_t lane = 0; lane < lanes; lane++) {
        size_t t = lane / l->n % TX, r = lane / l->n / TX, c = lane % l->n;
        at[lane] = x[t * l->X.ld + c];
        at[ld + lane] = room ? 4 : -40;
        at[2 * ld + lane] = room ? 2.85 : 0;
        at[3 * ld + lane] = room ? still_x[r] : x[(TX + r) * l->X.ld + c];
        at[4 * ld + lane] = room ? still_y[r] : 40;
        at[5 * ld + lane] = room ? 1.2 : 0;
    }
    void *to = memory(l->backend, at, 6 * ld * sizeof *at);
    free(at);
    return to;
}

static ec_path_seen seen_of(const ec_array *a)
{
    return (ec_path_seen){.word = a->data,
                          .words = (size_t)a->shape[1],
                          .ld = a->ld,
                          .varies = (a->axes & EC_AXIS_CANDIDATE) != 0};
}

/* Seconds until the points are known, and until it is known what is in the way. */
static void time_paths(links *l, const double *x, double *points, double *occlusion)
{
    ec_backend *backend = l->backend;
    const ec_path_sequences *q = l->sequences;
    size_t pairs = (size_t)TX * (size_t)l->n_rx, lanes = pairs * l->n, ld = ec_lane_ld(lanes);
    bool room = l->genes == TX;
    const double *still_x = room ? ec_graph_node(l->graph, l->config.rx.at[0])->data : NULL;
    const double *still_y = room ? ec_graph_node(l->graph, l->config.rx.at[1])->data : NULL;
    ec_expr sights[2] = {l->call->in[6], l->call->in[7]};
    evaluation e = evaluation_of(l, 2, sights);
    ec_path_channels *channels = NULL;
    size_t slices = q->n / 32 < 1 ? 1 : q->n / 32 > 64 ? 64 : q->n / 32;

    evaluate(&e);
    if (ec_mimo_sight_words(q, ec_mimo_sight_shift(q, TX, true)) !=
        (size_t)ec_executor_output(e.executor, 0)->shape[1])
        check(ec_fail(EC_ERR_SHAPE, "other sequences than the call's"), "points");
    check(ec_path_channels_create(l->plan, q, 1, &l->frequency, backend, &channels), "channels");
    double *at = places_of(l, x, still_x, still_y, pairs);
    tracing t = {
        .backend = backend,
        .args.batch = {.view = *ec_path_channels_view(channels),
                       .n_sequences = q->n,
                       .first = memory(backend, q->first, (q->n + 1) * sizeof *q->first),
                       .step = memory(backend, q->step, (q->first[q->n] + 1) * sizeof *q->step),
                       .n = lanes,
                       .ld = ld,
                       .slices = slices,
                       .tx_at = at,
                       .rx_at = at + 3 * ld,
                       .lanes = {.n = l->n,
                                 .n_tx = TX,
                                 .tx = seen_of(ec_executor_output(e.executor, 0)),
                                 .rx = seen_of(ec_executor_output(e.executor, 1)),
                                 .shift = ec_mimo_sight_shift(q, TX, true)}},
        .args.found = memory(backend, NULL, slices * ld * sizeof(double))};
    *points = timed(backend, trace, &t);
    t.args.occlusion = true;
    *occlusion = timed(backend, trace, &t);
    backend->ops->release(backend, (void *)(uintptr_t)t.args.batch.first);
    backend->ops->release(backend, (void *)(uintptr_t)t.args.batch.step);
    backend->ops->release(backend, at);
    backend->ops->release(backend, t.args.found);
    ec_path_channels_destroy(&channels);
    ec_executor_destroy(&e.executor);
}

/* ---- the optimizer ------------------------------------------------------------------------------- */

typedef struct proposal {
    ec_optimizer *optimizer;
    const ec_array *cost;
    const uint8_t *status;
} proposal;

static void propose(void *user)
{
    proposal *p = user;
    ec_array X, XG;
    const int32_t *map = NULL;
    size_t n = 0;
    check(p->optimizer->def->propose(p->optimizer, &X, &XG, &map, &n), "propose");
    ec_scores scores = {.cost = p->cost->data, .status = p->status, .ld = X.ld};
    check(p->optimizer->def->take(p->optimizer, &scores, n), "take");
}

static double time_optimizer(links *l, ec_expr cost)
{
    const ec_optimizer_def *def = ec_optimizer_find("rand1bin");
    double options[EC_METHOD_OPTIONS_MAX];
    ec_gene genes[GENES] = {0};
    evaluation e = evaluation_of(l, 1, &cost);
    proposal p = {.status = l->status};

    evaluate(&e);
    p.cost = ec_executor_output(e.executor, 0);
    for (int32_t i = 0; i < l->genes; i++)
        genes[i] = (ec_gene){.min = l->low[i], .max = l->high[i]};
    ec_method_options(def, NULL, options);
    ec_optimizer_info info = {.genes = genes,
                              .n_genes = (size_t)l->genes,
                              .population = l->n,
                              .seed = 1,
                              .n_objectives = 1,
                              .options = options};
    check(def->create(def, l->backend, &info, &p.optimizer), "optimizer");
    int32_t zero = 0, *stop = memory(l->backend, &zero, sizeof zero);
    def->set_stop_flag(p.optimizer, stop);
    double seconds = timed(l->backend, propose, &p);
    def->destroy(&p.optimizer);
    l->backend->ops->release(l->backend, stop);
    ec_executor_destroy(&e.executor);
    return seconds;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static void once(const char *what, double seconds)
{
    printf("  once: %-22s %10.2f ms\n", what, 1e3 * seconds);
}

static void row(const char *what, double seconds, double all)
{
    printf("  %-28s %10.3f ms %6.1f %%\n", what, 1e3 * seconds, 100 * seconds / all);
}

static void print_split(const links *l, double sight, double points, double occlusion, double h,
                        double whole, double optimizer)
{
    double all = whole + optimizer;

    printf(
        "  a generation of %zu designs, %d x %d antennas, %zu sequences: %.3f ms, %.3g pairs/s\n",
        l->n, l->n_rx, TX, l->sequences->n, 1e3 * all, (double)l->n * TX * l->n_rx / all);
    row("places and sight", sight, all);
    row("points (refine)", points, all);
    row("occlusion", occlusion - points, all);
    row("fields and sums", h - sight - occlusion, all);
    row("algebra (capacity)", whole - h, all);
    row("optimizer", optimizer, all);
}

void bench_mimo(ec_backend *backend, bool room, size_t designs)
{
    links l = {.backend = backend, .n = designs};
    ec_path_options options;
    ec_path_launch launch;
    ec_path_box tx, rx;
    double points, occlusion;

    printf("mimo %s\n", room ? "furnished room" : "cylinder and plate");
    double begun = ec_wall_seconds();
    build(&l, room);
    once("scene", ec_wall_seconds() - begun);
    check(ec_graph_create(&l.graph), "graph");
    configure(&l, room);
    ec_path_options_default(&options);
    options.depth = l.config.depth;
    options.diffractions = l.config.diffractions;
    begun = ec_wall_seconds();
    check(ec_path_plan_create(l.scene, &options, &l.plan), "plan");
    once("hierarchy, visibility", ec_wall_seconds() - begun);
    begun = ec_wall_seconds();
    check(ec_mimo_call(l.graph, &l.config, &l.call), "call");
    double call = ec_wall_seconds() - begun;
    /* the sequences of the call, once more, by themselves */
    for (int k = 0; k < 3; k++) {
        const ec_node *t = ec_graph_node(l.graph, l.config.tx.at[k]);
        const ec_node *r = ec_graph_node(l.graph, l.config.rx.at[k]);
        tx.low[k] = t->range.lo - l.plan->tolerance;
        tx.high[k] = t->range.hi + l.plan->tolerance;
        rx.low[k] = r->range.lo - l.plan->tolerance;
        rx.high[k] = r->range.hi + l.plan->tolerance;
    }
    ec_path_launch_default(&launch);
    launch.rays = l.config.rays;
    begun = ec_wall_seconds();
    check(room ? ec_path_discover(l.plan, &launch, &tx, &rx, &l.sequences)
               : ec_path_enumerate(l.plan, &tx, &rx, &l.sequences),
          "sequences");
    once(room ? "launch, discovery" : "enumeration", ec_wall_seconds() - begun);
    once("ec_mimo_call, all this", call);
    double *x = designs_of(&l);
    l.status = memory(backend, NULL, ec_lane_ld(designs));
    ec_matrix_config matrix;
    ec_matrix_config_default(&matrix);
    ec_expr h = ec_mimo_value(l.graph, l.call, EC_MIMO_CHANNEL);
    ec_expr capacity = ec_matrix_capacity(l.graph, h, ec_graph_number(l.graph, 100), &matrix);
    ec_expr cost = ec_graph_unary(l.graph, EC_OP_NEG, capacity);
    check(cost, "capacity");
    double sight = time_of(&l, l.call->in[6]) + (room ? 0 : time_of(&l, l.call->in[7]));
    double channels = time_of(&l, h), whole = time_of(&l, cost);
    time_paths(&l, x, &points, &occlusion);
    print_split(&l, sight, points, occlusion, channels, whole, time_optimizer(&l, cost));
    free(x);
    backend->ops->release(backend, l.status);
    ec_array_release(backend, &l.X);
    ec_path_sequences_destroy(&l.sequences);
    ec_path_plan_destroy(&l.plan);
    ec_graph_destroy(&l.graph);
    ec_scene_destroy(&l.scene);
}
