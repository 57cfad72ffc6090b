/* bench_main.c: timed cases on one backend, each with its floor: the time that the bytes at the
 * measured copy bandwidth or the operations at the measured rate would take, whichever is longer.
 * Ceilings and cases run in this one process, so a floor and its figure are of the same machine.
 *
 *   eciton_bench [--backend cpu|cuda] [--threads N] [--isa v1|v3|v4] [--csv FILE] [case words ...]
 *
 * A figure is the minimum and the median of REPEATS runs.
 */
#include "method_options.h"
#include "bench_cusolver.h"
#include "bench_kernels.h"
#include "bench_fdtd.h"
#include "bench_mimo.h"
#include "bench_scenes.h"

#include "core/executor.h"
#include "core/optimizer.h"
#include "core/small_matrix.h"
#include "core/solve.h"
#include "evaluators/array_pattern/array_pattern.h"
#include "evaluators/array_pattern/nufft.h"
#include "evaluators/mimo/bvh_kernels.h"
#include "evaluators/mimo/path_channels.h"
#include "evaluators/mimo/path_moments.h"
#include "evaluators/mimo/scene_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

EC_KERNEL_DECLARE(bench_fma_f32, bench_rate_args)
EC_KERNEL_DECLARE(bench_fma_f64, bench_rate_args)
EC_KERNEL_DECLARE(bench_sincos, bench_rate_args)
EC_KERNEL_DECLARE(bench_ray, bench_ray_args)

enum { REPEATS = 7 };

typedef struct bench {
    ec_backend *be;
    double copy;     /* bytes/s, read + write */
    double f32, f64; /* operations/s */
    double sincos;   /* /s */
    FILE *csv;
    int n_filters;
    char **filters;
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int status, const char *what)
{
    if (status >= 0)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, ec_error_text());
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one call of f, which enqueues work; sorted, REPEATS of them. */
static void timed(bench *b, void (*f)(bench *, void *), void *user, double *seconds)
{
    f(b, user); /* warm-up */
    check(b->be->ops->sync(b->be), "sync");
    for (int i = 0; i < REPEATS; i++) {
        double t = now();
        f(b, user);
        check(b->be->ops->sync(b->be), "sync");
        seconds[i] = now() - t;
    }
    qsort(seconds, REPEATS, sizeof *seconds, by_value);
}

static const char *compiler(const bench *b)
{
#if EC_HAVE_CUDA
    if (b->be->is_cuda)
        return bench_cuda_compiler();
#endif
    (void)b;
    return "gcc " __VERSION__;
}

/* `count` units in the sorted seconds; floor_seconds for the same count. */
static void report(bench *b, const char *name, const char *unit, double count,
                   const double *seconds, double floor_seconds, const char *floor_by)
{
    double best = count / seconds[0], median = count / seconds[REPEATS / 2];
    printf("%-34s %11.4g %11.4g %-14s floor %10.4g  %5.1f %% of it (%s)\n", name, best, median,
           unit, count / floor_seconds, 100 * floor_seconds / seconds[REPEATS / 2], floor_by);
    fflush(stdout);
    if (b->csv) {
        char date[16];
        time_t today = time(NULL);
        strftime(date, sizeof date, "%Y-%m-%d", gmtime(&today));
        fprintf(b->csv, "%s,%s,%d,%s,%s,%s,%s,%.6g,%.6g,%.6g,%s\n", b->be->device,
                b->be->is_cuda ? "sm_90" : ec_isa_name(b->be->isa),
                b->be->is_cuda ? 1 : b->be->threads, compiler(b), date, name, unit, best, median,
                count / floor_seconds, floor_by);
    }
}

static bool wanted(const bench *b, const char *name)
{
    for (int i = 0; i < b->n_filters; i++)
        if (strstr(name, b->filters[i]))
            return true;
    return b->n_filters == 0;
}

/* ---- ceilings ---------------------------------------------------------------------------------- */

typedef struct copy_case {
    void *to, *from;
    size_t bytes;
} copy_case;

static void run_copy(bench *b, void *user)
{
    copy_case *c = user;
    check(b->be->ops->copy(b->be, c->to, c->from, c->bytes), "copy");
}

typedef struct rate_case {
    const ec_kernel *kernel;
    bench_rate_args args;
    size_t lanes;
} rate_case;

static void run_rate(bench *b, void *user)
{
    rate_case *c = user;
    check(b->be->ops->launch(b->be, c->kernel, &c->args, c->lanes, 1), "launch");
}

static void ceilings(bench *b)
{
    double s[REPEATS];
    copy_case c = {.bytes = b->be->is_cuda ? (size_t)1 << 30 : (size_t)256 << 20};
    check(b->be->ops->alloc(b->be, c.bytes, &c.to), "alloc");
    check(b->be->ops->alloc(b->be, c.bytes, &c.from), "alloc");
    check(b->be->ops->fill(b->be, c.from, 1, c.bytes), "fill");
    timed(b, run_copy, &c, s);
    b->copy = 2 * (double)c.bytes / s[REPEATS / 2];
    b->be->ops->release(b->be, c.to);
    rate_case r = {.lanes = b->be->is_cuda ? 132 * 2048 * 8 : 4096, .args = {.out = c.from}};
    r.args.steps = b->be->is_cuda ? 2000 : 3000;
    double count = (double)r.lanes * r.args.steps * BENCH_CHAINS;
    r.kernel = &ec_kernel_bench_fma_f32;
    timed(b, run_rate, &r, s);
    b->f32 = 2 * count / s[REPEATS / 2];
    r.kernel = &ec_kernel_bench_fma_f64;
    timed(b, run_rate, &r, s);
    b->f64 = 2 * count / s[REPEATS / 2];
    r.kernel = &ec_kernel_bench_sincos;
    timed(b, run_rate, &r, s);
    b->sincos = count / s[REPEATS / 2];
    b->be->ops->release(b->be, c.from);
    printf("%s, %s, %d thread(s), ISA %s, compiler %s\n", b->be->name, b->be->device,
           b->be->is_cuda ? 1 : b->be->threads, b->be->is_cuda ? "sm" : ec_isa_name(b->be->isa),
           compiler(b));
    printf("ceilings: copy %.4g GB/s, multiply-add f32 %.4g and f64 %.4g Gop/s, sincos f32 %.4g "
           "G/s\n\n",
           1e-9 * b->copy, 1e-9 * b->f32, 1e-9 * b->f64, 1e-9 * b->sincos);
    printf("%-34s %11s %11s\n", "case", "best", "median");
}

/* ---- generations of an optimizer over a graph ----------------------------------------------------- */

typedef struct search {
    ec_graph *graph;
    ec_executor *executor;
    ec_optimizer *optimizer;
    ec_capture *capture;
    uint8_t *status;
    int32_t *stop;
    int generations;
} search;

static void one_generation(bench *b, search *s)
{
    ec_array X, XG;
    const int32_t *map = NULL;
    size_t n = 0;
    const ec_optimizer_def *def = s->optimizer->def;
    (void)b;
    check(def->propose(s->optimizer, &X, &XG, &map, &n), "propose");
    check(ec_executor_run(s->executor, &X, NULL, NULL, s->status, n, 0), "evaluate");
    ec_scores scores = {.cost = (const double *)ec_executor_output(s->executor, 0)->data,
                        .status = s->status,
                        .ld = X.ld};
    check(def->take(s->optimizer, &scores, n), "take");
}

static void run_search(bench *b, void *user)
{
    search *s = user;
    for (int g = 0; g < s->generations; g++) {
        if (s->capture) {
            check(b->be->ops->replay(b->be, s->capture), "replay");
            if (s->optimizer->def->replayed)
                s->optimizer->def->replayed(s->optimizer);
        } else {
            one_generation(b, s);
        }
    }
}

static void start_search(bench *b, search *s, const char *method, const ec_method_setting *settings,
                         const ec_gene *genes, size_t n_genes, size_t population, ec_expr cost)
{
    const ec_optimizer_def *def = ec_optimizer_find(method);
    double options[EC_METHOD_OPTIONS_MAX];
    ec_method_options(def, settings, options);
    ec_optimizer_info info = {.genes = genes,
                              .n_genes = n_genes,
                              .population = population,
                              .seed = 1,
                              .n_objectives = (size_t)ec_graph_node(s->graph, cost)->elements,
                              .options = options};
    void *memory = NULL;
    check(def->create(def, b->be, &info, &s->optimizer), "optimizer");
    size_t most = def->max_population(s->optimizer);
    check(b->be->ops->alloc(b->be, sizeof(int32_t), &memory), "alloc");
    s->stop = memory;
    check(b->be->ops->fill(b->be, s->stop, 0, sizeof(int32_t)), "fill");
    def->set_stop_flag(s->optimizer, s->stop);
    ec_executor_info plan = {
        .outputs = &cost, .n_outputs = 1, .max_candidates = most, .stop = s->stop};
    check(ec_executor_create(s->graph, b->be, &plan, &s->executor), "executor");
    check(b->be->ops->alloc(b->be, ec_lane_ld(most), &memory), "alloc");
    s->status = memory;
    for (int i = 0; i < 3; i++)
        one_generation(b, s);
    check(b->be->ops->sync(b->be), "sync");
    if (b->be->ops->capture_begin && def->capturable && def->capturable(s->optimizer) &&
        ec_executor_capturable(s->executor)) {
        check(b->be->ops->capture_begin(b->be), "capture");
        one_generation(b, s);
        check(b->be->ops->capture_end(b->be, &s->capture), "capture");
    }
}

static void end_search(bench *b, search *s)
{
    if (s->capture)
        b->be->ops->capture_destroy(b->be, &s->capture);
    ec_executor_destroy(&s->executor);
    s->optimizer->def->destroy(&s->optimizer);
    b->be->ops->release(b->be, s->status);
    b->be->ops->release(b->be, s->stop);
    ec_graph_destroy(&s->graph);
}

static ec_expr rosenbrock(ec_graph *g, ec_gene *genes, int32_t n)
{
    double lo[64], hi[64];
    for (int32_t i = 0; i < n; i++) {
        lo[i] = genes[i].min = -5;
        hi[i] = genes[i].max = 10;
        genes[i].integral = false;
    }
    ec_expr x = ec_graph_variable(g, false, 0, n, lo, hi);
    ec_expr a = ec_graph_slice(g, x, 0, n - 1), b = ec_graph_slice(g, x, 1, n - 1);
    ec_expr d = ec_graph_binary(g, EC_OP_SUB, b, ec_graph_unary(g, EC_OP_SQUARE, a));
    ec_expr e = ec_graph_binary(g, EC_OP_SUB, ec_graph_number(g, 1), a);
    ec_expr t =
        ec_graph_binary(g, EC_OP_MUL, ec_graph_number(g, 100), ec_graph_unary(g, EC_OP_SQUARE, d));
    return ec_graph_unary(g, EC_OP_SUM,
                          ec_graph_binary(g, EC_OP_ADD, t, ec_graph_unary(g, EC_OP_SQUARE, e)));
}

static void case_rosenbrock(bench *b, const char *name, const char *method, size_t islands,
                            size_t population, int generations)
{
    enum { D = 30 };
    const ec_method_setting settings[] = {{"islands", (double)islands}, {NULL, 0}};
    if (!wanted(b, name))
        return;
    search s = {.generations = generations};
    ec_gene genes[D];
    double seconds[REPEATS];
    check(ec_graph_create(&s.graph), "graph");
    ec_expr cost = rosenbrock(s.graph, genes, D);
    check(cost, "graph");
    start_search(b, &s, method, settings, genes, D, population, cost);
    timed(b, run_search, &s, seconds);
    double count = (double)islands * (double)population * generations;
    /* A generation reads the parents and three random members, writes and reads the trials, and
     * writes what is accepted: 7 x 8 bytes a gene. It draws a quarter of a Philox block a gene (10
     * rounds of 10 integer operations, on half-width lanes) and does 14 operations of arithmetic. */
    double bytes = 7.0 * 8 * D * count, ops = (25.0 + 14.0) * D * count;
    double by_bytes = b->be->is_cuda ? bytes / b->copy : 0, by_ops = ops / b->f64;
    report(b, name, "individuals/s", count, seconds, by_bytes > by_ops ? by_bytes : by_ops,
           by_bytes > by_ops ? "bytes" : "operations");
    end_search(b, &s);
}

/* Squared distances from `objectives` corners of the unit cube: their front is known and wide. */
static ec_expr corner_distances(ec_graph *g, ec_gene *genes, int32_t n, int32_t objectives)
{
    double lo[64], hi[64], corner[64];
    ec_expr cost[8];
    for (int32_t i = 0; i < n; i++) {
        lo[i] = genes[i].min = 0;
        hi[i] = genes[i].max = 1;
        genes[i].integral = false;
    }
    ec_expr x = ec_graph_variable(g, false, 0, n, lo, hi);
    for (int32_t k = 0; k < objectives; k++) {
        for (int32_t i = 0; i < n; i++)
            corner[i] = i % objectives == k;
        ec_expr d = ec_graph_binary(g, EC_OP_SUB, x, ec_graph_constant(g, 1, &n, corner));
        cost[k] = ec_graph_unary(g, EC_OP_SUM, ec_graph_unary(g, EC_OP_SQUARE, d));
    }
    return ec_graph_op(g, EC_OP_CONCAT, objectives, cost, 0, NULL);
}

/* What NSGA-II costs beside a light model, an individual. */
static void case_nsga2(bench *b, const char *name, int32_t objectives, size_t population,
                       int generations)
{
    enum { D = 10 };
    if (!wanted(b, name))
        return;
    search s = {.generations = generations};
    ec_gene genes[D];
    double seconds[REPEATS];
    check(ec_graph_create(&s.graph), "graph");
    ec_expr cost = corner_distances(s.graph, genes, D, objectives);
    check(cost, "graph");
    start_search(b, &s, "nsga2", NULL, genes, D, population, cost);
    timed(b, run_search, &s, seconds);
    double count = (double)population * generations;
    /* One Philox block a gene on half-width lanes, and every second gene two powers of 60
     * operations; the order of the designs comes for nothing. */
    double ops = (100.0 + 0.5 * 120.0) * D * count;
    report(b, name, "individuals/s", count, seconds, ops / b->f64, "operations");
    end_search(b, &s);
}

/* What a method costs an individual besides its evaluation, here of next to nothing: the sum of D
 * genes' squares. Fewer generations than CMA-ES takes to converge and to start again with more. */
static void case_overhead(bench *b, const char *name, const char *method, int32_t D,
                          size_t population, int generations)
{
    enum { D_MAX = 300 };
    if (!wanted(b, name))
        return;
    search s = {.generations = generations};
    ec_gene genes[D_MAX];
    double lo[D_MAX], hi[D_MAX], seconds[REPEATS];
    for (int32_t i = 0; i < D; i++) {
        lo[i] = -1;
        hi[i] = 2;
        genes[i] = (ec_gene){.min = -1, .max = 2};
    }
    check(ec_graph_create(&s.graph), "graph");
    ec_expr x = ec_graph_variable(s.graph, false, 0, D, lo, hi);
    ec_expr cost = ec_graph_unary(s.graph, EC_OP_SUM, ec_graph_unary(s.graph, EC_OP_SQUARE, x));
    check(cost, "graph");
    start_search(b, &s, method, NULL, genes, (size_t)D, population, cost);
    timed(b, run_search, &s, seconds);
    double count = (double)population * generations;
    /* half a Philox block and an inverse normal a gene: 5 + 40 operations */
    report(b, name, "individuals/s", count, seconds, 45.0 * D * count / b->f64, "operations");
    printf("    %.2f us an individual\n", 1e6 * seconds[REPEATS / 2] / count);
    end_search(b, &s);
}

/* ---- arrays -------------------------------------------------------------------------------------- */

/* A line of `elements` real-weighted elements (x only), or a plane (x and y), sll_db as the cost. */
static ec_expr array_cost(ec_graph *g, ec_gene *genes, int32_t elements, bool plane, int32_t points,
                          double half_size)
{
    int32_t n = plane ? 2 * elements : elements;
    double *lo = malloc(((size_t)points + 2 * (size_t)n) * sizeof *lo), *hi = lo + n, *u = hi + n;
    for (int32_t i = 0; i < n; i++) {
        double at = plane ? 0 : -half_size + 2 * half_size * (i + 0.5) / elements;
        double span = plane ? half_size : half_size / elements;
        lo[i] = genes[i].min = at - span;
        hi[i] = genes[i].max = at + span;
        genes[i].integral = false;
    }
    for (int32_t i = 0; i < points; i++)
        u[i] = -1 + 2.0 * i / (points - 1);
    ec_expr x = ec_graph_variable(g, false, 0, n, lo, hi), zero = ec_graph_number(g, 0),
            one = ec_graph_number(g, 1);
    ec_array_config config;
    ec_array_config_default(&config);
    config.kind = plane ? EC_ARRAY_GRID_UV : EC_ARRAY_CUT_U;
    config.na = config.nb = points;
    config.a = config.b = u;
    config.elements = elements;
    config.tolerance = 1e-3; /* of the NUFFT path, where it is chosen */
    if (!plane) {
        config.nb = 0;
        config.b = NULL;
    }
    ec_array_inputs in = {.x = plane ? ec_graph_slice(g, x, 0, elements) : x,
                          .y = plane ? ec_graph_slice(g, x, elements, elements) : zero,
                          .z = zero,
                          .amplitude = one,
                          .phase = zero,
                          .wavelength = one,
                          .u0 = zero,
                          .v0 = zero,
                          .w0 = one};
    ec_call *call = NULL;
    check(ec_array_call(g, &config, &in, &call), "array");
    free(lo);
    double edge = plane ? 1.2 / half_size : 0.7 / half_size;
    ec_array_beam beam = {
        .look_a = NAN, .look_b = NAN, .exclude_a = edge, .exclude_b = plane ? edge : NAN};
    ec_expr cost = ec_array_sll_db(g, call, &beam);
    check(cost, "sll_db");
    return cost;
}

/* Only the evaluation: a population of fixed random designs. */
typedef struct evaluation {
    ec_executor *executor;
    ec_array X;
    uint8_t *status;
    size_t n;
} evaluation;

static void run_evaluation(bench *b, void *user)
{
    evaluation *e = user;
    (void)b;
    check(ec_executor_run(e->executor, &e->X, NULL, NULL, e->status, e->n, 0), "evaluate");
}

static void case_array(bench *b, const char *name, int32_t elements, bool plane, int32_t points,
                       double half_size, size_t n)
{
    if (!wanted(b, name))
        return;
    ec_graph *g = NULL;
    int32_t d = plane ? 2 * elements : elements;
    ec_gene *genes = malloc((size_t)d * sizeof *genes);
    double seconds[REPEATS];
    check(ec_graph_create(&g), "graph");
    ec_expr cost = array_cost(g, genes, elements, plane, points, half_size);
    evaluation e = {.n = n};
    ec_executor_info plan = {.outputs = &cost, .n_outputs = 1, .max_candidates = n};
    check(ec_executor_create(g, b->be, &plan, &e.executor), "executor");
    check(ec_array_create(b->be, &e.X, EC_F64, EC_AXIS_CANDIDATE, 1, &d, n, 1), "array");
    double *host = malloc((size_t)d * e.X.ld * sizeof *host);
    uint64_t h = 1;
    for (size_t i = 0; i < (size_t)d * e.X.ld; i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        const ec_gene *gene = &genes[i / e.X.ld];
        host[i] = gene->min + (gene->max - gene->min) * (double)(h >> 11) * 0x1p-53;
    }
    check(b->be->ops->upload(b->be, e.X.data, host, (size_t)d * e.X.ld * sizeof *host), "upload");
    void *memory = NULL;
    check(b->be->ops->alloc(b->be, e.X.ld, &memory), "alloc");
    e.status = memory;
    char path[256];
    ec_executor_path(e.executor, 0, path, sizeof path);
    timed(b, run_evaluation, &e, seconds);
    /* Real weights on a symmetric grid: half of a cut; a quarter of a u-v grid with four real
     * products. A cut's product has 4 multiply-adds (8 operations) a point and element; a grid's 4
     * multiply-adds a quarter point and element. Phasors: one sincos an element and table row. */
    double ops =
        plane ? 8.0 * (points / 2) * (points / 2) * elements : 8.0 * (points / 2) * elements;
    double phasors = plane ? 2.0 * (points / 2) * elements : 2.0 * sqrt(points) * elements;
    double floor_seconds = (double)n * (ops / b->f32 + phasors / b->sincos);
    const char *by = "operations";
    if (strstr(path, "NUFFT")) {
        /* positions read; the directions' grid as the least that an FFT can work on: written by the
         * spreading, read and written by each of two passes, read once more */
        double cells = plane ? (double)points * points : points;
        floor_seconds = (double)n * (8.0 * d + 48.0 * cells) / b->copy;
        by = "bytes";
    }
    report(b, name, "candidates/s", (double)n, seconds, floor_seconds, by);
    printf("    %s\n", path);
    free(host);
    free(genes);
    ec_array_release(b->be, &e.X);
    b->be->ops->release(b->be, e.status);
    ec_executor_destroy(&e.executor);
    ec_graph_destroy(&g);
}

static void case_line_generation(bench *b, const char *name, int generations)
{
    enum { N = 512, M = 32, U = 2001 };
    if (!wanted(b, name))
        return;
    search s = {.generations = generations};
    ec_gene genes[M];
    double seconds[REPEATS];
    check(ec_graph_create(&s.graph), "graph");
    ec_expr cost = array_cost(s.graph, genes, M, false, U, 12);
    start_search(b, &s, "lshade", NULL, genes, M, N, cost);
    timed(b, run_search, &s, seconds);
    double ops = 8.0 * (U / 2) * M * N, phasors = 2.0 * sqrt(U) * M * N;
    double floor_seconds = generations * (ops / b->f32 + phasors / b->sincos);
    report(b, name, "generations/s", generations, seconds, floor_seconds, "operations");
    printf("    %.2f us a generation%s\n", 1e6 * seconds[REPEATS / 2] / generations,
           s.capture ? ", captured" : "");
    end_search(b, &s);
}

/* ---- NUFFTs ------------------------------------------------------------------------------------- */

typedef struct nufft_case {
    ec_nufft *plan;
    ec_nufft_batch batch;
} nufft_case;

static void run_nufft(bench *b, void *user)
{
    nufft_case *c = user;
    check(ec_nufft_run(c->plan, &c->batch), "nufft");
    check(b->be->ops->sync(b->be), "nufft");
}

/* A multiply-add counts two operations. Window: coefficients a cell and axis; each cell of it adds
 * a complex number; 5 n log2 n for an FFT. */
static double nufft_operations(const ec_nufft_info *info, const ec_nufft_args *a)
{
    if (a->direct && info->type == 3)
        return 0.0; /* sines and cosines count */
    if (a->direct)
        return 4.0 * info->points * info->modes[0] * (info->dim == 2 ? info->modes[1] : 1);
    double cells = a->dim == 2 ? (double)a->width * a->width : a->width;
    double points = info->points * (4.0 * cells + 2.0 * a->dim * a->width * a->coefficients);
    if (a->inner) {
        ec_nufft_info inner = *info;
        inner.type = 2;
        inner.points = info->targets;
        return points + nufft_operations(&inner, a->inner);
    }
    double grid = (double)a->axis[0].grid * (a->dim == 2 ? a->axis[1].grid : 1);
    return points + 5.0 * grid * log2(grid);
}

/* Bytes that a GPU's transform moves: the fine grid written, transformed in two passes and read, and
 * what goes in and out. */
static double nufft_bytes(const ec_nufft_info *info, const ec_nufft_args *a)
{
    const ec_nufft_args *fft = a->inner ? a->inner : a;
    double real = info->double_precision ? 2.0 : 1.0;
    double modes = info->type == 3 ? info->targets
                                   : (double)info->modes[0] * (info->dim == 2 ? info->modes[1] : 1);
    double grid = (double)fft->axis[0].grid * (a->dim == 2 ? fft->axis[1].grid : 1);

    return real * (48.0 * (a->direct ? 0.0 : grid) + 8.0 * modes + 8.0 * info->points) +
           8.0 * info->dim * info->points;
}

/* Memory of the backend in place of the host's. */
static void *stage(bench *b, void *host, size_t bytes)
{
    void *memory = NULL;

    check(b->be->ops->alloc(b->be, bytes, &memory), "nufft");
    check(b->be->ops->upload(b->be, memory, host, bytes), "nufft");
    free(host);
    return memory;
}

static void case_nufft(bench *b, const char *name, const ec_nufft_info *info, size_t n)
{
    if (!wanted(b, name))
        return;
    size_t modes = (size_t)info->modes[0] * (size_t)(info->dim == 2 ? info->modes[1] : 1);
    size_t points = (size_t)info->points, targets = (size_t)info->targets;
    size_t real = info->double_precision ? sizeof(double) : sizeof(float);
    size_t n_in = info->type == 2 ? modes : points;
    size_t n_out = info->type == 1 ? modes : info->type == 2 ? points : targets;
    double seconds[REPEATS], *place = malloc(2 * n * (points + targets) * sizeof *place);
    char text[200], *in = calloc(n * n_in, 2 * real), *out = calloc(n * n_out, 2 * real);
    nufft_case c;
    uint64_t h = 1;
    for (size_t i = 0; i < 2 * n * (points + targets); i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        place[i] = (double)(h >> 11) * 0x1p-53 - 0.5;
        if (info->type == 3 && i >= 2 * n * points)
            place[i] *= 2.0 * info->target_span[0];
    }
    for (size_t i = 0; i < 2 * n * n_in; i += 2) /* strengths 1 */
        if (info->double_precision)
            ((double *)in)[i] = 1.0;
        else
            ((float *)in)[i] = 1.0f;
    check(ec_nufft_create(b->be, info, &c.plan), "nufft");
    place = stage(b, place, 2 * n * (points + targets) * sizeof *place);
    in = stage(b, in, n * n_in * 2 * real);
    out = stage(b, out, n * n_out * 2 * real);
    c.batch =
        (ec_nufft_batch){.n = n,
                         .vectors = 1,
                         .point = {place, place + n * points},
                         .point_stride = points,
                         .target = {place + 2 * n * points, place + 2 * n * points + n * targets},
                         .target_stride = targets,
                         .in = in,
                         .out = out};
    timed(b, run_nufft, &c, seconds);
    const ec_nufft_args *a = ec_nufft_plan_args(c.plan);
    double floor_seconds =
        (double)n * nufft_operations(info, a) / (info->double_precision ? b->f64 : b->f32);
    if (a->direct && info->type == 3)
        floor_seconds = (double)n * (double)points * (double)targets / b->sincos;
    double moved = (double)n * nufft_bytes(info, a) / b->copy;
    bool bytes = b->be->is_cuda && moved > floor_seconds;
    report(b, name, "candidates/s", (double)n, seconds, bytes ? moved : floor_seconds,
           bytes ? "bytes" : "operations");
    ec_nufft_describe(c.plan, text, sizeof text);
    printf("    %s, predicted %.3g candidates/s a thread\n", text, 1.0 / ec_nufft_cost(c.plan));
    ec_nufft_destroy(&c.plan);
    b->be->ops->release(b->be, place);
    b->be->ops->release(b->be, in);
    b->be->ops->release(b->be, out);
}

static void cases_nufft(bench *b)
{
    size_t more = b->be->is_cuda ? 64 : 1; /* candidates */
    ec_nufft_info info = {
        .type = 1, .dim = 2, .modes = {256, 256}, .points = 10000, .sign = 1, .tolerance = 1e-4};
    case_nufft(b, "nufft 1 10000 on 256x256", &info, 8 * more);
    info.double_precision = true;
    info.tolerance = 1e-9;
    case_nufft(b, "nufft 1 10000 on 256x256 f64 1e-9", &info, 4 * more);
    info.double_precision = false;
    info.tolerance = 1e-4;
    info.type = 2;
    case_nufft(b, "nufft 2 10000 on 256x256", &info, 8 * more);
    info.type = 1;
    info.modes[0] = info.modes[1] = 512;
    case_nufft(b, "nufft 1 10000 on 512x512", &info, 4 * more);
    info.modes[0] = info.modes[1] = 64;
    info.points = 100;
    case_nufft(b, "nufft 1 100 on 64x64", &info, 256 * more);
    info.points = 12;
    case_nufft(b, "nufft 1 12 on 64x64", &info, 256 * more);
    info.dim = 1;
    info.modes[0] = 2048;
    info.points = 200;
    case_nufft(b, "nufft 1 200 on 2048", &info, 256 * more);
    info.dim = 2;
    info.type = 3;
    info.points = info.targets = 2000;
    info.span[0] = info.span[1] = 0.5;
    info.target_span[0] = info.target_span[1] = 64;
    case_nufft(b, "nufft 3 2000 to 2000 64x64 turns", &info, 16 * more);
}

/* ---- ant colonies -------------------------------------------------------------------------------- */

enum { ANTS = 40, ANT_GENES = 40, ANT_BITS = 8 };

/* Propose and take with given scores: what the method itself costs. */
typedef struct overhead {
    const ec_optimizer_def *def;
    ec_optimizer *optimizer;
    ec_capture *capture;
    ec_scores scores;
    int generations;
} overhead;

static void overhead_generation(overhead *o)
{
    ec_array X, XG;
    const int32_t *map = NULL;
    size_t n = 0;
    check(o->def->propose(o->optimizer, &X, &XG, &map, &n), "propose");
    check(o->def->take(o->optimizer, &o->scores, n), "take");
}

static void run_overhead(bench *b, void *user)
{
    overhead *o = user;
    for (int g = 0; g < o->generations; g++) {
        if (o->capture) {
            check(b->be->ops->replay(b->be, o->capture), "replay");
            o->def->replayed(o->optimizer);
        } else {
            overhead_generation(o);
        }
    }
}

static double *ant_options(const ec_optimizer_def *def, double colonies)
{
    double *options = malloc(def->n_options * sizeof *options);
    for (size_t i = 0; i < def->n_options; i++) {
        const char *key = def->options[i].key;
        options[i] = strcmp(key, "colonies") == 0 ? colonies
                     : strcmp(key, "bits") == 0   ? ANT_BITS
                                                  : def->options[i].initial;
    }
    return options;
}

/* Operations for the bits of an ant: an eighth of a Philox block (10 rounds of 10) and the comparison. */
static double ant_operations(void)
{
    return ANT_GENES * ANT_BITS * (100.0 / 8 + 4);
}

static void case_ants_overhead(bench *b, const char *name, uint32_t colonies, int generations)
{
    if (!wanted(b, name))
        return;
    overhead o = {.def = ec_optimizer_find("aco"), .generations = generations};
    ec_gene genes[ANT_GENES] = {{0}};
    double seconds[REPEATS], *options = ant_options(o.def, colonies);
    for (int i = 0; i < ANT_GENES; i++)
        genes[i].max = 1;
    ec_optimizer_info info = {
        .genes = genes, .n_genes = ANT_GENES, .population = ANTS, .seed = 1, .options = options};
    check(o.def->create(o.def, b->be, &info, &o.optimizer), "optimizer");
    size_t n = ec_lane_ld(o.def->max_population(o.optimizer));
    void *cost = NULL, *status = NULL;
    check(b->be->ops->alloc(b->be, n * sizeof(double), &cost), "alloc");
    check(b->be->ops->alloc(b->be, n, &status), "alloc");
    check(b->be->ops->fill(b->be, cost, 0, n * sizeof(double)), "fill");
    check(b->be->ops->fill(b->be, status, 0, n), "fill");
    o.scores = (ec_scores){.cost = cost, .status = status, .ld = n};
    overhead_generation(&o);
    if (b->be->ops->capture_begin && o.def->capturable(o.optimizer)) {
        check(b->be->ops->capture_begin(b->be), "capture");
        overhead_generation(&o);
        check(b->be->ops->capture_end(b->be, &o.capture), "capture");
    }
    timed(b, run_overhead, &o, seconds);
    double count = (double)ANTS * colonies * generations;
    report(b, name, "ants/s", count, seconds, count * ant_operations() / b->f64, "operations");
    if (o.capture)
        b->be->ops->capture_destroy(b->be, &o.capture);
    o.def->destroy(&o.optimizer);
    b->be->ops->release(b->be, cost);
    b->be->ops->release(b->be, status);
    free(options);
}

/* examples/aco_nulls.lua: three nulls of 40 elements, and the cost is never low enough. */
static ec_job *nulls_job(ec_graph *g)
{
    static const double nulls[3] = {0.25, 0.41, 0.66};
    double min[ANT_GENES] = {0}, max[ANT_GENES], matrix[2][3 * ANT_GENES];
    ec_job *job = NULL;
    ec_expr part[2];
    for (int n = 0; n < ANT_GENES; n++) {
        max[n] = 1;
        for (int i = 0; i < 3; i++) {
            double phase = EC_PI * (n - 0.5 * (ANT_GENES - 1)) * nulls[i];
            matrix[0][i * ANT_GENES + n] = cos(phase);
            matrix[1][i * ANT_GENES + n] = sin(phase);
        }
    }
    check(ec_job_create(g, "nulls", 1, &job), "job");
    ec_variable_info amplitude = {
        .name = "amplitude", .kind = EC_VARIABLE_REAL, .count = ANT_GENES, .min = min, .max = max};
    check(ec_job_add_variable(job, &amplitude), "variable");
    ec_expr a = ec_job_variable(job, 0)->value;
    for (int k = 0; k < 2; k++)
        part[k] = ec_graph_unary(g, EC_OP_SQUARE, ec_graph_matvec(g, a, 3, matrix[k]));
    ec_expr sum = ec_graph_unary(g, EC_OP_SUM, a);
    ec_expr power = ec_graph_binary(g, EC_OP_DIV, ec_graph_binary(g, EC_OP_ADD, part[0], part[1]),
                                    ec_graph_unary(g, EC_OP_SQUARE, sum));
    ec_expr level = ec_graph_binary(g, EC_OP_MUL, ec_graph_number(g, 10),
                                    ec_graph_unary(g, EC_OP_LOG10, power));
    ec_expr excess = ec_graph_binary(g, EC_OP_MAX, ec_graph_number(g, 0),
                                     ec_graph_binary(g, EC_OP_ADD, level, ec_graph_number(g, 30)));
    ec_expr cost = ec_graph_binary(g, EC_OP_ADD, ec_graph_unary(g, EC_OP_SUM, excess),
                                   ec_graph_number(g, 1e-3));
    check(ec_job_add_objective(job, "cost", cost, false, 0), "objective");
    return job;
}

typedef struct ants_search {
    ec_job *job;
    ec_solve_info info;
} ants_search;

static void run_ants(bench *b, void *user)
{
    ants_search *s = user;
    ec_result *result = NULL;
    check(ec_solve(s->job, b->be, &s->info, &result), "solve");
    ec_result_destroy(&result);
}

/* Whole searches, from the plan to the result: per_ant counts ants, else iterations. */
static void case_ants(bench *b, const char *name, uint32_t colonies, size_t generations,
                      bool per_ant)
{
    if (!wanted(b, name))
        return;
    const ec_optimizer_def *def = ec_optimizer_find("aco");
    ec_graph *g = NULL;
    double seconds[REPEATS], *options = ant_options(def, colonies);
    check(ec_graph_create(&g), "graph");
    ants_search s = {.job = nulls_job(g)};
    ec_solve_info_default(&s.info);
    s.info.method = "aco";
    s.info.population = ANTS;
    s.info.generations = generations;
    s.info.options = options;
    timed(b, run_ants, &s, seconds);
    double ants = (double)ANTS * colonies * (double)generations;
    /* bits, six rows of the product, the sum, and the levels */
    double ops = ant_operations() + 2.0 * 7 * ANT_GENES + 3 * 40.0;
    /* on a GPU a colony has one multiprocessor */
    double share = b->be->is_cuda && colonies < (uint32_t)b->be->multiprocessors
                       ? (double)b->be->multiprocessors / colonies
                       : 1;
    report(b, name, per_ant ? "ants/s" : "iterations/s", per_ant ? ants : (double)generations,
           seconds, ants * ops * share / b->f64, "operations");
    free(options);
    ec_job_destroy(&s.job);
    ec_graph_destroy(&g);
}

static void cases_ants(bench *b)
{
    int more = b->be->is_cuda ? 10 : 1;
    case_ants_overhead(b, "aco overhead 40 ants of 320 bits", 1, 2000 * more);
    case_ants_overhead(b, "aco overhead 128 colonies of 40 ants", 128, 30 * more);
    case_ants(b, "aco nulls one colony", 1, (size_t)10000 * (size_t)more, false);
    case_ants(b, "aco nulls 128 colonies", 128, b->be->is_cuda ? 200000 : 80, true);
}

/* ---- rays ------------------------------------------------------------------------------------------ */

typedef struct ray_case {
    ec_bvh_batch batch;
    const ec_kernel *kernel;
} ray_case;

static void run_ray_batch(bench *b, void *user)
{
    ray_case *c = user;
    check(b->be->ops->launch(b->be, c->kernel, &c->batch, c->batch.n, 1), "rays");
}

static void *on_backend(bench *b, const void *from, size_t bytes)
{
    void *to = NULL;
    check(b->be->ops->alloc(b->be, bytes, &to), "alloc");
    if (from)
        check(b->be->ops->upload(b->be, to, from, bytes), "upload");
    return to;
}

/* What a ray through the scene's box is expected to do at least: two multiply-adds a box and axis, 60
 * operations a triangle. */
static void report_rays(bench *b, const char *name, ray_case *c, const ec_bvh_layout_stats *s,
                        int width, int pack)
{
    double seconds[REPEATS];
    timed(b, run_ray_batch, c, seconds);
    double ops = s->node_visits * width * 12 + s->triangle_tests * pack * 60;
    report(b, name, "rays/s", (double)c->batch.n, seconds, ops * (double)c->batch.n / b->f32,
           "operations");
}

/* Closest hits of bounce rays in every layout (large meshes: in the fastest), and whether they hit at all in the fastest. */
static void case_rays(bench *b, const char *scene, void (*make)(bench_mesh *), size_t n)
{
    static const int widths[EC_BVH_LAYOUTS] = {2, 4, 8, 4, 8},
                     packs[EC_BVH_LAYOUTS] = {1, 1, 1, 4, 4};
    enum { MOST_FOR_ALL_LAYOUTS = 1000000 };
    char name[80];
    bench_mesh mesh;
    bench_rays rays;
    ray_case c = {.batch = {.n = n}};
    void *memory[9];
    snprintf(name, sizeof name, "rays %s", scene);
    if (!wanted(b, name))
        return;
    make(&mesh);
    bench_rays_bounce(&rays, &mesh, n);
    for (int i = 0; i < 3; i++) {
        c.batch.rays.origin[i] = memory[i] = on_backend(b, rays.origin[i], n * sizeof(double));
        c.batch.rays.direction[i] = memory[3 + i] =
            on_backend(b, rays.direction[i], n * sizeof(double));
    }
    c.batch.hits.t = memory[6] = on_backend(b, NULL, n * sizeof(float));
    c.batch.hits.triangle = memory[7] = on_backend(b, NULL, n * sizeof(int32_t));
    c.batch.any = memory[8] = on_backend(b, NULL, n);
    bool large = mesh.n_triangles > MOST_FOR_ALL_LAYOUTS;
    for (int objects = !large; objects >= 0; objects--) {
        const ec_bvh_info info = {.n_vertices = mesh.n_vertices,
                                  .vertex = (const double(*)[3])mesh.vertex,
                                  .n_triangles = mesh.n_triangles,
                                  .triangle = (const int32_t(*)[3])mesh.triangle,
                                  .threads = b->be->threads,
                                  .object_splits_only = objects};
        ec_bvh *bvh = NULL;
        check(ec_bvh_build(&info, &bvh), "build");
        const ec_bvh_stats *s = ec_bvh_get_stats(bvh);
        printf("  rays %s, %d triangles, %s: built in %.3f s, SAH cost %.2f, %d references, depth "
               "%d\n",
               scene, s->triangles, objects ? "no spatial splits" : "spatial splits", s->seconds,
               s->sah_cost, s->references, s->depth);
        for (int i = EC_BVH_AUTO; i < EC_BVH_LAYOUTS; i++) {
            ec_bvh_layout *layout = NULL;
            if ((i != EC_BVH_AUTO && (objects || large)) ||
                (b->be->is_cuda && (i == EC_BVH_4_SIMD || i == EC_BVH_8_SIMD)))
                continue;
            check(ec_bvh_lay_out(bvh, b->be, i, &layout), "layout");
            const ec_bvh_layout_stats *l = ec_bvh_layout_get_stats(layout);
            c.batch.view = *ec_bvh_layout_view(layout);
            int width = widths[c.batch.view.layout], pack = packs[c.batch.view.layout];
            c.batch.blocks = EC_BVH_CUDA_BLOCKS * b->be->multiprocessors;
            c.batch.next = b->be->is_cuda ? on_backend(b, NULL, sizeof *c.batch.next) : NULL;
            bool closest = i != EC_BVH_AUTO || objects || large;
            if (closest)
                printf(
                    "    layout %s: %.3f s, %d nodes, %d packets, %.1f MB, stack %d, expected %.2f "
                    "nodes and %.2f tests a ray\n",
                    l->name, l->seconds, l->nodes, l->packets, 1e-6 * (double)l->bytes, l->stack,
                    l->node_visits, l->triangle_tests);
            for (int plain = 0; closest && plain <= b->be->is_cuda; plain++) {
                c.batch.plain = plain;
                c.kernel = &ec_kernel_bvh_closest;
                snprintf(name, sizeof name, "rays %s %s%s%s", scene, l->name,
                         objects ? " no splits" : "", plain ? " plain" : "");
                report_rays(b, name, &c, l, width, pack);
            }
            if (i == EC_BVH_AUTO && !objects) {
                c.kernel = &ec_kernel_bvh_any;
                c.batch.plain = false;
                snprintf(name, sizeof name, "rays %s %s any", scene, l->name);
                report_rays(b, name, &c, l, width, pack);
            }
            b->be->ops->release(b->be, c.batch.next);
            ec_bvh_layout_destroy(&layout);
        }
        ec_bvh_destroy(&bvh);
    }
    int32_t *triangle = malloc(n * sizeof *triangle);
    size_t hits = 0;
    check(triangle ? EC_OK : ec_fail(EC_ERR_MEMORY, "out of memory"), "hits");
    check(b->be->ops->download(b->be, triangle, c.batch.hits.triangle, n * sizeof *triangle),
          "hits");
    for (size_t r = 0; r < n; r++)
        hits += triangle[r] >= 0;
    printf("    %.2f %% of the rays hit\n", 100 * (double)hits / (double)n);
    free(triangle);
    for (int i = 0; i < 9; i++)
        b->be->ops->release(b->be, memory[i]);
    bench_rays_free(&rays);
    bench_mesh_free(&mesh);
}

static void large_ball(bench_mesh *mesh)
{
    bench_mesh_ball(mesh, 1600);
}

/* ---- fields of rays -------------------------------------------------------------------------- */

typedef struct field_case {
    bench_ray_args args;
    size_t lanes;
} field_case;

static void run_fields(bench *b, void *user)
{
    field_case *c = user;
    check(b->be->ops->launch(b->be, &ec_kernel_bench_ray, &c->args, c->lanes, 1), "launch");
}

/* operations: float64 ones of a path, as valgrind's lackey counts them in x87 code. */
static void case_fields(bench *b, const char *name, bool mirror, bool edge, double operations)
{
    const double axis[3] = {0.1, 0.2, 1};
    field_case c = {.lanes = b->be->is_cuda ? (size_t)1 << 22 : (size_t)1 << 16};
    double s[REPEATS];
    void *h;

    if (!wanted(b, name))
        return;
    check(ec_antenna_init(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, axis, NULL, &c.args.tx), "antenna");
    check(ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, axis, NULL, &c.args.rx), "antenna");
    c.args.wavelength = 0.1;
    c.args.mirror = mirror;
    c.args.edge = edge;
    c.args.ld = ec_lane_ld(c.lanes);
    check(b->be->ops->alloc(b->be, 2 * c.args.ld * sizeof(double), &h), "alloc");
    c.args.h = h;
    timed(b, run_fields, &c, s);
    double count = (double)c.lanes;
    report(b, name, "paths/s", count, s, count * operations / b->f64, "f64 operations");
    b->be->ops->release(b->be, h);
}

static void cases_rays(bench *b)
{
    size_t n = b->be->is_cuda ? (size_t)1 << 23 : (size_t)1 << 18;
    case_rays(b, "cylinder and plate", bench_mesh_cylinder_plate, n);
    case_rays(b, "furnished room", bench_mesh_room, n);
    case_rays(b, "ball of 5 million", large_ball, n / 4);
    case_fields(b, "ray line of sight", false, false, 570);
    case_fields(b, "ray over a cylinder", true, false, 1100);
    case_fields(b, "ray over an edge", false, true, 3400);
    case_fields(b, "ray over a cylinder and an edge", true, true, 3920);
}

/* ---- paths ----------------------------------------------------------------------------------- */

typedef struct path_case {
    ec_path_channels *channels;
    ec_path_antennas antennas;
    void *at, *work, *sum;
    size_t n;
} path_case;

static void run_paths(bench *b, void *user)
{
    path_case *c = user;
    const double *at = c->at;
    (void)b;
    check(ec_path_channels_run(c->channels, &c->antennas, &c->antennas, at,
                               at + 3 * ec_lane_ld(c->n), c->n, c->work, c->sum),
          "paths");
}

/* Places spread evenly over a box, by the fractional parts of multiples of three roots. */
static void spread(const ec_path_box *box, size_t n, double *at)
{
    static const double root[3] = {0.41421356237309515, 0.73205080756887719, 0.2360679774997898};
    for (int d = 0; d < 3; d++)
        for (size_t i = 0; i < n; i++) {
            double x = (double)(i + 1) * root[d];
            at[(size_t)d * ec_lane_ld(n) + i] =
                box->low[d] + (x - floor(x)) * (box->high[d] - box->low[d]);
        }
}

static void add_shape(ec_scene_builder *builder, ec_shape_kind kind, double x, double y, double z,
                      double size_x, double size_y, double size_z, bool inward)
{
    ec_material pec;
    ec_shape shape;
    int32_t index;

    ec_material_pec("pec", &pec);
    check(ec_scene_builder_material(builder, &pec, &index), "material");
    ec_shape_default(kind, &shape);
    shape.at[0] = x;
    shape.at[1] = y;
    shape.at[2] = z;
    shape.size[0] = size_x;
    shape.size[1] = size_y;
    shape.size[2] = size_z;
    shape.inward = inward;
    if (kind == EC_SHAPE_PLATE) {
        shape.axis[0] = -1;
        shape.axis[2] = 0;
    } else if (kind == EC_SHAPE_CYLINDER) {
        shape.radius = size_x;
        shape.length = size_z;
        shape.sides = 1028;
        shape.open = true;
    }
    check(ec_scene_builder_shape(builder, "shape", index, &shape), "shape");
}

/* Channels of pairs with one diffraction at most, traced and added up. The floor counts 200
 * operations a sequence without a path and the 570 of a free ray a path. */
static void case_paths(bench *b, const char *name, bool room, int32_t depth, double wavelength,
                       const ec_path_box *tx, const ec_path_box *rx, uint32_t moments, size_t n)
{
    path_case c = {.n = n};
    double s[REPEATS], frequency = EC_LIGHT_SPEED / wavelength, paths = 0;
    ec_scene_builder *builder = NULL;
    ec_scene *scene = NULL;
    ec_path_plan *plan = NULL;
    ec_path_sequences *sequences = NULL;
    ec_scene_options scene_options;
    ec_path_options options;
    ec_antenna antenna;
    size_t ld = ec_lane_ld(n);
    double *at, *sum;
    char text[200];

    if (!wanted(b, name))
        return;
    check(ec_scene_builder_create(&builder), "scene");
    if (room) {
        add_shape(builder, EC_SHAPE_BOX, 3, 2, 1.35, 6, 4, 2.7, true);
        add_shape(builder, EC_SHAPE_BOX, 2.2, 2, 0.72, 1.6, 0.8, 0.04, false);
        add_shape(builder, EC_SHAPE_BOX, 5.5, 3.5, 1, 0.6, 0.5, 1.9, false);
    } else {
        add_shape(builder, EC_SHAPE_PLATE, 30, 0, 0, 50, 15, 0, false);
        add_shape(builder, EC_SHAPE_CYLINDER, 0, 0, 0, 10, 0, 15, false);
    }
    ec_scene_options_default(&scene_options);
    check(ec_scene_build(builder, &scene_options, &scene), "scene");
    ec_path_options_default(&options);
    options.depth = depth;
    options.diffractions = 1;
    check(ec_path_plan_create(scene, &options, &plan), "plan");
    check(ec_path_enumerate(plan, tx, rx, &sequences), "sequences");
    check(ec_path_channels_create(plan, sequences, 1, &frequency, b->be, &c.channels), "channels");
    ec_path_channels_want(c.channels, moments);
    check(ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, (double[3]){0, 0, 1}, NULL, &antenna),
          "antenna");
    check(ec_path_antennas_create(b->be, 1, &antenna, &c.antennas), "antennas");
    at = malloc(6 * ld * sizeof *at);
    sum = malloc(5 * ld * sizeof *sum);
    check(at && sum ? EC_OK : ec_fail(EC_ERR_MEMORY, "out of memory"), "pairs");
    spread(tx, n, at);
    spread(rx, n, at + 3 * ld);
    c.at = on_backend(b, at, 6 * ld * sizeof *at);
    c.work = on_backend(b, NULL, ec_path_channels_workspace(c.channels, n));
    c.sum = on_backend(b, NULL, (5 + EC_MOMENTS) * ld * sizeof *sum);
    timed(b, run_paths, &c, s);
    check(b->be->ops->download(b->be, sum, c.sum, 5 * ld * sizeof *sum), "pairs");
    for (size_t i = 0; i < n; i++)
        paths += sum[2 * ld + i];
    ec_path_sequences_describe(plan, sequences, text, sizeof text);
    printf("  %s: %s, %.2f paths a pair\n", name, text, paths / (double)n);
    double operations = 200.0 * (double)sequences->n * (double)n + 570 * paths;
    report(b, name, "pairs/s", (double)n, s, operations / b->f64, "f64 operations");
    b->be->ops->release(b->be, c.at);
    b->be->ops->release(b->be, c.work);
    b->be->ops->release(b->be, c.sum);
    free(at);
    free(sum);
    ec_path_antennas_destroy(b->be, &c.antennas);
    ec_path_channels_destroy(&c.channels);
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);
    ec_scene_destroy(&scene);
    ec_scene_builder_destroy(&builder);
}

static void cases_paths(bench *b)
{
    const ec_path_box tx = {{7, -40, 0}, {23, -40, 0}}, rx = {{7, 40, 0}, {23, 40, 0}};
    const ec_path_box ceiling = {{0.5, 0.5, 2.4}, {5.5, 3.5, 2.6}};
    const ec_path_box users = {{0.5, 0.4, 1.2}, {5, 3.6, 1.3}};
    size_t n = b->be->is_cuda ? 65536 : 2048;

    case_paths(b, "paths cylinder and plate", false, 3, 1, &tx, &rx, 0, n);
    case_paths(b, "paths room", true, 2, 0.0857, &ceiling, &users, 0, n / 4);
    case_paths(b, "paths room with metrics", true, 2, 0.0857, &ceiling, &users,
               (1 << EC_MOMENTS) - 1, n / 4);
}

/* ---- small matrices ------------------------------------------------------------------------------ */

typedef struct matrix_case {
    ec_small_matrix_work work;
    ec_small_matrix_task task;
    bench_cusolver *peer;
} matrix_case;

static void run_matrices(bench *b, void *user)
{
    const matrix_case *c = user;
    check(c->peer ? bench_cusolver_run(c->peer) : ec_small_matrix_run(b->be, &c->work, c->task),
          "matrices");
}

/* Nearly Gaussian elements, element-major. The numbers repeat with a period that no ld has, so that
 * matrices differ. */
static void *gaussian_matrices(bench *b, int elements, size_t ld, bool wide)
{
    enum { PERIOD = 1000003 };
    size_t count = (size_t)elements * ld, size = wide ? sizeof(ec_c128) : sizeof(ec_c64);
    double *normal = malloc(2 * PERIOD * sizeof *normal);
    char *host = malloc(count * size);
    uint64_t state = 1;
    void *memory = NULL;
    if (!host || !normal)
        exit(1);
    for (size_t i = 0; i < 2 * PERIOD; i++) {
        normal[i] = -2;
        for (int j = 0; j < 4; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            normal[i] += (double)(state >> 11) * 0x1p-53;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const double *x = normal + 2 * (i % PERIOD);
        if (wide)
            ((ec_c128 *)(void *)host)[i] = (ec_c128){x[0], x[1]};
        else
            ((ec_c64 *)(void *)host)[i] = (ec_c64){(float)x[0], (float)x[1]};
    }
    check(b->be->ops->alloc(b->be, count * size, &memory), "alloc");
    check(b->be->ops->upload(b->be, memory, host, count * size), "upload");
    free(host);
    free(normal);
    return memory;
}

/* Operations of a task on a matrix of n x n. */
static double matrix_operations(ec_small_matrix_task task, int n)
{
    double d = n;
    if (task == EC_SMALL_MATRIX_CAPACITY) /* a Gram matrix and its factors */
        return 8 * d * d * d / 2 + 8 * d * d * d / 6;
    if (task ==
        EC_SMALL_MATRIX_BISECTION) /* reflections, then a division a number, step and value */
        return 8 * 4 * d * d * d / 3 + 27 * d * d * 4;
    /* a product (8 operations a row) and a rotation (16) a pair; sweeps as random matrices take */
    double sweeps = n <= 4 ? 4 : n <= 8 ? 5 : n <= 16 ? 6 : n <= 32 ? 7 : 8.5;
    return sweeps * d * (d - 1) / 2 * (24 * d + 40);
}

static void case_matrix(bench *b, const char *name, ec_small_matrix_task task, int n, size_t lanes,
                        bool wide)
{
    if (!wanted(b, name))
        return;
    size_t ld = ec_lane_ld(lanes);
    int results = task == EC_SMALL_MATRIX_CAPACITY ? 1 : n;
    double seconds[REPEATS], snr = 100;
    matrix_case c = {.task = task};
    void *result = NULL, *power = NULL, *status = NULL, *scratch = NULL;
    size_t real = wide ? sizeof(double) : sizeof(float);
    check(b->be->ops->alloc(b->be, (size_t)results * ld * real, &result), "alloc");
    check(b->be->ops->alloc(b->be, ld, &status), "alloc");
    check(b->be->ops->fill(b->be, status, 0, ld), "fill");
    check(b->be->ops->alloc(b->be, sizeof snr, &power), "alloc");
    check(b->be->ops->upload(b->be, power, &snr, sizeof snr), "upload");
    c.work = (ec_small_matrix_work){.matrix = {gaussian_matrices(b, n * n, ld, wide), (int64_t)ld,
                                               1, 0, wide ? EC_C128 : EC_C64},
                                    .rows = n,
                                    .cols = n,
                                    .count = 1,
                                    .samples = 1,
                                    .wide = wide,
                                    .frobenius = true,
                                    .snr = {power, 0, 0, 0, EC_F64},
                                    .result = {result, (int64_t)ld, 1, 0, wide ? EC_F64 : EC_F32},
                                    .lanes = lanes,
                                    .status = status};
    check(b->be->ops->alloc(b->be, ec_small_matrix_scratch(b->be, &c.work, task), &scratch),
          "alloc");
    c.work.scratch = scratch;
    timed(b, run_matrices, &c, seconds);
    double bytes = (double)lanes * (double)real * (2.0 * n * n + results);
    double by_ops = (double)lanes * matrix_operations(task, n) / (wide ? b->f64 : b->f32);
    double by_bytes = bytes / b->copy;
    report(b, name, "matrices/s", (double)lanes, seconds, by_bytes > by_ops ? by_bytes : by_ops,
           by_bytes > by_ops ? "bytes" : "operations");
    b->be->ops->release(b->be, c.work.matrix.data);
    b->be->ops->release(b->be, result);
    b->be->ops->release(b->be, status);
    b->be->ops->release(b->be, power);
    b->be->ops->release(b->be, scratch);
}

/* cuSOLVER's batched Jacobi on as many matrices, values only. */
static void case_matrix_peer(bench *b, const char *name, int n, int batch)
{
    if (!wanted(b, name) || !b->be->is_cuda)
        return;
    size_t count = (size_t)(n * n) * (size_t)batch;
    void *memory = gaussian_matrices(b, n * n, (size_t)batch, false);
    ec_c64 *host = malloc(count * sizeof *host);
    char text[80] = "";
    double seconds[REPEATS];
    if (!host)
        exit(1);
    check(b->be->ops->download(b->be, host, memory, count * sizeof *host), "download");
    matrix_case c = {.peer = bench_cusolver_create(b->be, n, batch, host, text, sizeof text)};
    if (c.peer) {
        timed(b, run_matrices, &c, seconds);
        double by_ops = batch * matrix_operations(EC_SMALL_MATRIX_JACOBI, n) / b->f32;
        double by_bytes = batch * 4.0 * (2 * n * n + n) / b->copy;
        report(b, name, "matrices/s", batch, seconds, by_bytes > by_ops ? by_bytes : by_ops,
               by_bytes > by_ops ? "bytes" : "operations");
    } else {
        printf("%-34s skipped: %s\n", name, text);
    }
    bench_cusolver_destroy(&c.peer);
    b->be->ops->release(b->be, memory);
    free(host);
}

static void cases_matrix(bench *b)
{
    static const int sizes[] = {2, 4, 8, 16, 32, 64};
    /* what fills the machine for a few milliseconds */
    static const size_t on_cuda[] = {1 << 25, 1 << 24, 1 << 21, 1 << 18, 1 << 15, 1 << 12};
    static const size_t on_cpu[] = {1 << 18, 1 << 17, 1 << 14, 1 << 12, 1 << 9, 1 << 7};
    char name[64];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int n = sizes[i];
        size_t lanes = b->be->is_cuda ? on_cuda[i] : on_cpu[i];
        for (int wide = 0; wide < 2; wide++) {
            const char *type = wide ? "f64" : "f32";
            snprintf(name, sizeof name, "singular values %dx%d %s", n, n, type);
            case_matrix(b, name, EC_SMALL_MATRIX_JACOBI, n, lanes, wide);
            snprintf(name, sizeof name, "singular values %dx%d %s bisection", n, n, type);
            case_matrix(b, name, EC_SMALL_MATRIX_BISECTION, n, lanes, wide);
            snprintf(name, sizeof name, "capacity %dx%d %s", n, n, type);
            case_matrix(b, name, EC_SMALL_MATRIX_CAPACITY, n, lanes, wide);
        }
        if (n <= 32) {
            snprintf(name, sizeof name, "singular values %dx%d cuSOLVER", n, n);
            case_matrix_peer(b, name, n, 100000 >> (n > 8 ? 2 : 0));
        }
    }
}

static void run_fdtd(bench *b, void *user)
{
    (void)b;
    bench_fdtd_run(user);
}

/* Cells of all domains times steps, from runs of twice the steps: what is built before is told apart.
 * The floor is the traffic of two passes: six fields read and written and three more read in each,
 * and one byte of material an edge. */
static void case_fdtd(bench *b, const char *name, bench_fdtd_case what)
{
    double seconds[REPEATS], twice[REPEATS];

    if (!wanted(b, name))
        return;
    if (!b->be->is_cuda) { /* a processor does a share of it */
        what.domains = what.domains < 4 ? what.domains : 4;
        what.steps = what.n[0] > 200 ? 16 : 256;
    }
    const double cells =
        (double)what.n[0] * what.n[1] * what.n[2] * (double)what.domains * (double)what.steps;
    bench_fdtd *f = bench_fdtd_create(b->be, &what);
    timed(b, run_fdtd, f, seconds);
    bench_fdtd_destroy(&f);
    what.steps *= 2;
    f = bench_fdtd_create(b->be, &what);
    timed(b, run_fdtd, f, twice);
    bench_fdtd_destroy(&f);
    const double built = 2 * seconds[REPEATS / 2] - twice[REPEATS / 2];
    for (int i = 0; i < REPEATS; i++)
        seconds[i] = twice[i] - seconds[i];
    qsort(seconds, REPEATS, sizeof *seconds, by_value);
    report(b, name, "cells/s", cells, seconds, cells * 75 / b->copy, "bytes");
    printf("    built in %.3g ms a domain\n", 1e3 * built / what.domains);
}

/* The same with each launch on its own. */
static void case_fdtd_launches(bench *b, const char *name, bench_fdtd_case what)
{
    const ec_backend_ops *ops = b->be->ops;
    ec_backend_ops plain = *ops;

    plain.capture_begin = NULL;
    b->be->ops = &plain;
    case_fdtd(b, name, what);
    b->be->ops = ops;
}

static void cases_fdtd(bench *b)
{
    static const struct {
        const char *name;
        bench_fdtd_case what;
    } cases[] = {{"128 of 100x100x25 metal walls", {{100, 100, 25}, 0, 128, 1024, 0, false}},
                 {"one of 100x100x25 metal walls", {{100, 100, 25}, 0, 1, 4096, 0, false}},
                 {"128 of 116x116x41 8 absorbing layers", {{116, 116, 41}, 8, 128, 512, 0, false}},
                 {"16 of 32x32x32 metal walls", {{32, 32, 32}, 0, 16, 4096, 0, false}},
                 {"one of 32x32x32 metal walls", {{32, 32, 32}, 0, 1, 4096, 0, false}},
                 {"one of 256^3 metal walls", {{256, 256, 256}, 0, 1, 512, 16, false}},
                 {"one of 256^3 8 absorbing layers", {{256, 256, 256}, 8, 1, 512, 16, false}},
                 {"one of 512^3 8 absorbing layers", {{512, 512, 512}, 8, 1, 256, 16, false}}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_fdtd_case what = cases[i].what;
        char name[96];
        snprintf(name, sizeof name, "fdtd %s", cases[i].name);
        case_fdtd(b, name, what);
        what.off_chip = true;
        snprintf(name, sizeof name, "fdtd off chip, %s", cases[i].name);
        if (b->be->is_cuda && what.n[0] < 200)
            case_fdtd(b, name, what);
        snprintf(name, sizeof name, "fdtd off chip without graphs, %s", cases[i].name);
        if (b->be->is_cuda && what.n[0] < 200 && what.domains == 1)
            case_fdtd_launches(b, name, what);
    }
}

/* A stack that is split over workers against one of them alone: those of the list that --backend
 * names, else all devices, or two workers on the only one. */
static void case_fdtd_workers(bench *b, const char *name, bench_fdtd_case what)
{
    double alone[REPEATS], split[REPEATS];
    char list[256];
    ec_backend_info info = {.name = list};
    bench one = *b, all = *b;

    if (!wanted(b, name))
        return;
    if (!b->be->is_cuda) {
        what.domains = 4;
        what.steps = 256;
        info.threads = b->be->threads;
        info.isa = ec_isa_name(b->be->isa);
    }
    if (b->be->n_workers > 0)
        ec_backend_list(b->be, list, sizeof list);
    else if (b->be->is_cuda && ec_backend_cuda_count() > 1)
        snprintf(list, sizeof list, "cuda:all");
    else
        snprintf(list, sizeof list, "%s,%s", b->be->name, b->be->name);
    check(ec_backend_create(&info, &all.be), list);
    info.name = b->be->name;
    check(ec_backend_create(&info, &one.be), info.name);
    bench_fdtd *f = bench_fdtd_create(one.be, &what);
    timed(&one, run_fdtd, f, alone);
    bench_fdtd_destroy(&f);
    f = bench_fdtd_create(all.be, &what);
    timed(&all, run_fdtd, f, split);
    bench_fdtd_destroy(&f);
    const double cells =
        (double)what.n[0] * what.n[1] * what.n[2] * (double)what.domains * (double)what.steps;
    report(&all, name, "cells/s", cells, split, cells * 75 / b->copy / (all.be->n_workers + 1),
           "bytes, of all");
    ec_backend_list(all.be, list, sizeof list);
    printf("    %s: %.3g s, %s alone %.3g s, %.2f times as fast\n", list, split[REPEATS / 2],
           one.be->name, alone[REPEATS / 2], alone[REPEATS / 2] / split[REPEATS / 2]);
    ec_backend_destroy(&all.be);
    ec_backend_destroy(&one.be);
}

int main(int argc, char **argv)
{
    bench b = {0};
    ec_backend_info info = {.name = "auto"};
    const char *csv = NULL;
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--backend") == 0)
            info.name = argv[i + 1];
        else if (strcmp(argv[i], "--threads") == 0)
            info.threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--isa") == 0)
            info.isa = argv[i + 1];
        else if (strcmp(argv[i], "--csv") == 0)
            csv = argv[i + 1];
        else
            break;
    }
    if (i < argc && strncmp(argv[i], "--", 2) == 0) {
        fprintf(stderr,
                "usage: %s [--backend B] [--threads N] [--isa L] [--csv FILE] [case words]\n",
                argv[0]);
        return 2;
    }
    b.filters = argv + i;
    b.n_filters = argc - i;
    check(ec_backend_create(&info, &b.be), "backend");
    if (csv && !(b.csv = fopen(csv, "w"))) {
        fprintf(stderr, "bench: %s cannot be written\n", csv);
        return 1;
    }
    if (b.csv)
        fprintf(b.csv, "device,isa,threads,compiler,date,case,unit,best,median,floor,floor_by\n");
    ceilings(&b);
    if (b.be->is_cuda) {
        case_rosenbrock(&b, "rand1bin rosenbrock N=1e5 D=30", "rand1bin", 1, 100000, 100);
        case_rosenbrock(&b, "lshade rosenbrock N=1e5 D=30", "lshade", 1, 100000, 50);
        case_rosenbrock(&b, "rand1bin rosenbrock N=1000 D=30", "rand1bin", 1, 1000, 500);
        case_rosenbrock(&b, "rand1bin rosenbrock 100 islands N=1000 D=30", "rand1bin", 100, 1000,
                        100);
        case_rosenbrock(&b, "lshade rosenbrock 100 islands N=1000 D=30", "lshade", 100, 1000, 50);
        case_array(&b, "plane 100 on 128x128 sll_db", 100, true, 128, 5, 65536);
        case_array(&b, "line 32 on 2001 sll_db", 32, false, 2001, 12, 65536);
        case_array(&b, "line 32 on 2001 sll_db N=512", 32, false, 2001, 12, 512);
        case_array(&b, "plane 1000 on 256x256 sll_db", 1000, true, 256, 11, 8192);
        case_array(&b, "plane 10000 on 512x512 sll_db", 10000, true, 512, 35, 1000);
        case_array(&b, "line 2000 on 8001 sll_db", 2000, false, 8001, 500, 4096);
        case_line_generation(&b, "lshade 512 lines 32 on 2001", 500);
        case_nsga2(&b, "nsga2 M=2 N=1000 D=10", 2, 1000, 50);
        case_nsga2(&b, "nsga2 M=2 N=10000 D=10", 2, 10000, 10);
        case_nsga2(&b, "nsga2 M=3 N=10000 D=10", 3, 10000, 10);
        case_overhead(&b, "acor D=30 N=1024", "acor", 30, 1024, 500);
        case_overhead(&b, "cmaes D=30 N=1024", "cmaes", 30, 1024, 10);
    } else {
        case_rosenbrock(&b, "rand1bin rosenbrock N=1000 D=30", "rand1bin", 1, 1000, 200);
        case_rosenbrock(&b, "lshade rosenbrock N=1000 D=30", "lshade", 1, 1000, 200);
        case_rosenbrock(&b, "rand1bin rosenbrock N=100 D=30", "rand1bin", 1, 100, 2000);
        case_rosenbrock(&b, "rand1bin rosenbrock 10 islands N=100 D=30", "rand1bin", 10, 100, 200);
        case_array(&b, "line 32 on 2001 sll_db", 32, false, 2001, 12, 512);
        case_array(&b, "plane 100 on 128x128 sll_db", 100, true, 128, 5, 256);
        case_array(&b, "plane 1000 on 256x256 sll_db", 1000, true, 256, 11, 64);
        case_array(&b, "plane 10000 on 512x512 sll_db", 10000, true, 512, 35, 16);
        case_array(&b, "line 2000 on 8001 sll_db", 2000, false, 8001, 500, 64);
        case_line_generation(&b, "lshade 512 lines 32 on 2001", 10);
        case_nsga2(&b, "nsga2 M=2 N=100 D=10", 2, 100, 200);
        case_nsga2(&b, "nsga2 M=2 N=1000 D=10", 2, 1000, 30);
        case_nsga2(&b, "nsga2 M=2 N=10000 D=10", 2, 10000, 5);
        case_nsga2(&b, "nsga2 M=3 N=100 D=10", 3, 100, 200);
        case_nsga2(&b, "nsga2 M=3 N=1000 D=10", 3, 1000, 30);
        case_nsga2(&b, "nsga2 M=3 N=10000 D=10", 3, 10000, 5);
        case_overhead(&b, "cmaes D=10 N=20", "cmaes", 10, 20, 15);
        case_overhead(&b, "cmaes D=30 N=20", "cmaes", 30, 20, 30);
        case_overhead(&b, "cmaes D=100 N=20", "cmaes", 100, 20, 50);
        case_overhead(&b, "cmaes D=300 N=24", "cmaes", 300, 24, 30);
        case_overhead(&b, "cmaes D=30 N=1024", "cmaes", 30, 1024, 10);
        case_overhead(&b, "acor D=30 N=32", "acor", 30, 32, 1000);
        case_overhead(&b, "acor D=30 N=1024", "acor", 30, 1024, 50);
    }
    cases_ants(&b);
    cases_nufft(&b);
    cases_rays(&b);
    cases_paths(&b);
    cases_fdtd(&b);
    case_fdtd_workers(&b, "fdtd workers 64 of 100x100x25",
                      (bench_fdtd_case){{100, 100, 25}, 0, 64, 4096, 0, false});
    if (wanted(&b, "mimo cylinder and plate"))
        bench_mimo(b.be, false, b.be->is_cuda ? 1000 : 128);
    if (wanted(&b, "mimo furnished room"))
        bench_mimo(b.be, true, b.be->is_cuda ? 1000 : 64);
    cases_matrix(&b);
    if (b.csv)
        fclose(b.csv);
    ec_backend_destroy(&b.be);
    return 0;
}
