/* backends_aco.c: ant colonies give the same bits on every backend.
 *
 * Scores are given: a hash of generation and candidate, with failures, NaN and violations among
 * them. For the same scores every proposed design, all statistics and at the end the whole state
 * are compared byte for byte with a run on the plain CPU (one thread, baseline ISA), once launched
 * eagerly and once replayed from a capture where the backend has them. */
#include "backends.h"

#include "core/job.h"
#include "core/optimizer.h"
#include "core/solve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATIONS = 60, OPTIONS = 9 };

typedef struct aco_setup {
    size_t binary, set, integers, reals; /* genes of each kind */
    size_t ants;
    double options[OPTIONS];
    size_t n_start;
} aco_setup;

/* ---- given scores ---- */

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Costs fall slowly for the first generations, so that a colony goes on to improve, and then do not;
 * they tie now and then. */
static void given_scores(uint32_t generation, size_t n, double *cost, double *violation,
                         uint8_t *status)
{
    uint32_t progress = generation < GENERATIONS / 2 ? generation : GENERATIONS / 2;

    for (uint32_t c = 0; c < n; c++) {
        uint32_t h = mix(generation * 0x9e3779b9u + mix(c + 1));
        uint32_t kind = h & 31u, value = mix(h);
        cost[c] = (double)(value >> 20) / 64.0 + 200.0 - 2.0 * progress;
        violation[c] = kind >= 6 && kind < 14 ? (double)(value & 0xffu) / 16.0 : 0.0;
        status[c] = kind == 0 ? EC_CANDIDATE_EVALUATOR : 0;
        if (kind == 1)
            cost[c] = NAN;
        if (kind == 2)
            cost[c] = -INFINITY;
        if (kind == 3)
            violation[c] = NAN;
        if (kind == 4)
            cost[c] = -0.0;
        if (kind == 5)
            violation[c] = -1.0;
    }
}

/* ---- one optimizer with its scores on one backend ---- */

typedef struct aco_run {
    ec_backend *backend;
    const ec_optimizer_def *def;
    ec_optimizer *optimizer;
    void *cost, *violation, *status; /* on the backend */
    double *host_cost, *host_violation, *genes;
    uint8_t *host_status;
    size_t room;
    ec_array X;
    size_t n;
} aco_run;

static void aco_run_close(aco_run *run)
{
    if (run->optimizer)
        run->def->destroy(&run->optimizer);
    run->backend->ops->release(run->backend, run->cost);
    run->backend->ops->release(run->backend, run->violation);
    run->backend->ops->release(run->backend, run->status);
    free(run->host_cost);
    free(run->host_violation);
    free(run->host_status);
    free(run->genes);
}

static int create(const aco_setup *setup, aco_run *run)
{
    size_t n = setup->binary + setup->set + setup->integers + setup->reals + 1, at = 0;
    ec_gene *genes = (ec_gene *)calloc(n, sizeof *genes);
    double *start = (double *)calloc(setup->n_start * n + 1, sizeof *start);
    ec_optimizer_info info;

    EC_CHECK(genes && start, "memory");
    for (size_t i = 0; i < setup->binary; i++, at++) {
        genes[at].max = 1.0;
        genes[at].integral = true;
    }
    for (size_t i = 0; i < setup->set; i++, at++) {
        genes[at].max = 1.0;
        genes[at].integral = true;
        genes[at].set = i < setup->set / 3 ? 1 : 2;
        genes[at].ones = i < setup->set / 3 ? (uint32_t)setup->set / 8 : (uint32_t)setup->set / 2;
    }
    for (size_t i = 0; i < setup->integers; i++, at++) {
        genes[at].min = -0.5 - (double)i;
        genes[at].max = 9.5 + (double)(i * i * 31);
        genes[at].integral = true;
    }
    for (size_t i = 0; i < setup->reals; i++, at++) {
        genes[at].min = -1.0 - (double)i / 7.0;
        genes[at].max = i % 5 == 4 ? genes[at].min : 3.0 / (double)(i + 1);
    }
    genes[at].min = genes[at].max = 0.25; /* a fixed one at the end */
    for (size_t i = 0; i < setup->n_start * n; i++)
        start[i] = (double)(i % 11) / 3.0 - 2.0;
    memset(&info, 0, sizeof info);
    info.genes = genes;
    info.n_genes = n;
    info.population = setup->ants;
    info.seed = 0x123456789abcdefu;
    info.island = 3;
    info.options = setup->options;
    info.start = start;
    info.n_start = setup->n_start;
    int status = run->def->create(run->def, run->backend, &info, &run->optimizer);
    free(genes);
    free(start);
    EC_CHECK_CALL(status);
    return 0;
}

static int aco_run_open(aco_run *run, const aco_setup *setup, ec_backend *backend)
{
    memset(run, 0, sizeof *run);
    run->backend = backend;
    run->def = ec_optimizer_find("aco");
    EC_CHECK(run->def != NULL && run->def->n_options == OPTIONS, "no method aco");
    if (create(setup, run))
        return 1;
    run->room = ec_lane_ld(run->def->max_population(run->optimizer));
    EC_CHECK_CALL(backend->ops->alloc(backend, run->room * sizeof(double), &run->cost));
    EC_CHECK_CALL(backend->ops->alloc(backend, run->room * sizeof(double), &run->violation));
    EC_CHECK_CALL(backend->ops->alloc(backend, run->room, &run->status));
    run->host_cost = (double *)malloc(run->room * sizeof(double));
    run->host_violation = (double *)malloc(run->room * sizeof(double));
    run->host_status = (uint8_t *)malloc(run->room);
    EC_CHECK(run->host_cost && run->host_violation && run->host_status, "memory");
    return 0;
}

static int aco_run_scores(aco_run *run, uint32_t generation)
{
    const ec_backend_ops *ops = run->backend->ops;

    given_scores(generation, run->room, run->host_cost, run->host_violation, run->host_status);
    EC_CHECK_CALL(ops->upload(run->backend, run->cost, run->host_cost, run->room * sizeof(double)));
    EC_CHECK_CALL(
        ops->upload(run->backend, run->violation, run->host_violation, run->room * sizeof(double)));
    EC_CHECK_CALL(ops->upload(run->backend, run->status, run->host_status, run->room));
    return 0;
}

/* Enqueues a generation; `cut` designs at its end count as not evaluated. */
static int aco_run_enqueue(aco_run *run, size_t cut)
{
    ec_scores scores;
    ec_array XG;
    const int32_t *map;

    memset(&scores, 0, sizeof scores);
    scores.cost = (const double *)run->cost;
    scores.violation = (const double *)run->violation;
    scores.status = (const uint8_t *)run->status;
    scores.ld = run->room;
    EC_CHECK_CALL(run->def->propose(run->optimizer, &run->X, &XG, &map, &run->n));
    EC_CHECK(run->n > cut && run->n <= run->room, "n = %zu", run->n);
    EC_CHECK_CALL(run->def->take(run->optimizer, &scores, run->n - cut));
    return 0;
}

/* The designs that were proposed last, rows of run->n. */
static int fetch_designs(aco_run *run)
{
    const ec_array *X = &run->X;

    free(run->genes);
    run->genes = (double *)malloc(X->elements * run->n * sizeof(double));
    EC_CHECK(run->genes, "memory");
    for (size_t g = 0; g < X->elements; g++)
        EC_CHECK_CALL(run->backend->ops->download(run->backend, run->genes + g * run->n,
                                                  (const double *)X->data + g * X->ld,
                                                  run->n * sizeof(double)));
    return 0;
}

static int compare_designs(uint32_t generation, aco_run *run, aco_run *plain)
{
    if (fetch_designs(run) || fetch_designs(plain))
        return 1;
    EC_CHECK(run->n == plain->n, "n = %zu, not %zu", run->n, plain->n);
    for (size_t i = 0; i < run->n * run->X.elements; i++)
        EC_CHECK(memcmp(&run->genes[i], &plain->genes[i], sizeof(double)) == 0,
                 "generation %u, candidate %zu, gene %zu: %.17g, not %.17g", generation, i % run->n,
                 i / run->n, run->genes[i], plain->genes[i]);
    return 0;
}

static int compare_stats(uint32_t generation, const aco_run *run, const aco_run *plain)
{
    ec_optimizer_stats got, want;

    EC_CHECK_CALL(run->backend->ops->download(run->backend, &got, run->def->stats(run->optimizer),
                                              sizeof got));
    EC_CHECK_CALL(plain->backend->ops->download(plain->backend, &want,
                                                plain->def->stats(plain->optimizer), sizeof want));
    EC_CHECK(memcmp(&got, &want, sizeof got) == 0,
             "generation %u: best %.17g/%.17g (not %.17g/%.17g), spread %.17g (%.17g), failed "
             "%llu (%llu), feasible %u (%u), evaluations %llu (%llu)",
             generation, got.best_cost, got.best_violation, want.best_cost, want.best_violation,
             got.spread, want.spread, (unsigned long long)got.failed,
             (unsigned long long)want.failed, got.feasible, want.feasible,
             (unsigned long long)got.evaluations, (unsigned long long)want.evaluations);
    return 0;
}

static int compare_states(aco_run *run, aco_run *plain)
{
    void *got = NULL, *want = NULL;
    size_t got_bytes, want_bytes, at = 0;

    EC_CHECK_CALL(run->def->save(run->optimizer, &got, &got_bytes));
    EC_CHECK_CALL(plain->def->save(plain->optimizer, &want, &want_bytes));
    bool same = got_bytes == want_bytes && memcmp(got, want, got_bytes) == 0;
    while (!same && at < got_bytes && at < want_bytes &&
           ((const char *)got)[at] == ((const char *)want)[at])
        at++;
    /* what one backend saved, another one loads */
    int loaded = run->def->load(run->optimizer, want, want_bytes);
    free(got);
    free(want);
    EC_CHECK(same, "saved states differ from byte %zu on", at);
    EC_CHECK(loaded == EC_OK, "%s", ec_error_text());
    return 0;
}

/* ---- generations, eager or replayed ---- */

static int replay_generation(aco_run *run, ec_capture **capture)
{
    ec_backend *backend = run->backend;

    if (*capture) {
        run->n = run->def->replayed(run->optimizer);
    } else {
        EC_CHECK_CALL(backend->ops->capture_begin(backend));
        int failed = aco_run_enqueue(run, 0);
        EC_CHECK_CALL(backend->ops->capture_end(backend, capture));
        if (failed)
            return 1;
    }
    EC_CHECK_CALL(backend->ops->replay(backend, *capture));
    return 0;
}

static int run_generations(aco_run *run, aco_run *plain, ec_capture **capture)
{
    for (uint32_t g = 0; g < GENERATIONS; g++) {
        size_t cut = g + 1 == GENERATIONS ? 3 : 0;
        bool replay = capture && g > 0 && cut == 0;
        if (aco_run_scores(run, g) || aco_run_scores(plain, g) || aco_run_enqueue(plain, cut))
            return 1;
        EC_CHECK(!replay || run->def->capturable(run->optimizer), "not capturable");
        if (replay ? replay_generation(run, capture) : aco_run_enqueue(run, cut))
            return 1;
        if (compare_designs(g, run, plain) || compare_stats(g, run, plain))
            return 1;
    }
    return compare_states(run, plain);
}

static int run_both(const aco_setup *setup, ec_backend *backend, ec_backend *cpu, bool replay)
{
    aco_run run, plain;
    ec_capture *capture = NULL;

    int failed = aco_run_open(&run, setup, backend);
    failed = aco_run_open(&plain, setup, cpu) || failed;
    failed = failed || run_generations(&run, &plain, replay ? &capture : NULL);
    if (capture)
        backend->ops->capture_destroy(backend, &capture);
    aco_run_close(&run);
    aco_run_close(&plain);
    return failed;
}

static int same_bits(ec_backend *backend, const aco_setup *setup)
{
    ec_backend_info info = {"cpu", 1, "v1", NULL};
    ec_backend *cpu;

#if !defined(__x86_64__)
    info.isa = NULL;
#endif
    EC_CHECK_CALL(ec_backend_create(&info, &cpu));
    int failed = run_both(setup, backend, cpu, false);
    if (!failed && backend->ops->capture_begin)
        failed = run_both(setup, backend, cpu, true);
    ec_backend_destroy(&cpu);
    return failed;
}

/* ---- cases; options: colonies, exchange, rule, bits, evaporation, elite, restart, deposit,
 * cost_floor ---- */

/* The seed paper's size. */
static int case_one_colony(ec_backend *backend)
{
    aco_setup setup = {0, 0, 0, 41, 40, {1, 0, 0, 8, 0.05, 0.5, 10, 1, 1e-3}, 0};
    return same_bits(backend, &setup);
}

static int case_many_colonies(ec_backend *backend)
{
    aco_setup setup = {70, 0, 7, 9, 11, {131, 7, 0, 5, 0.2, 0.7, 5, 1, 1e-3}, 20};
    return same_bits(backend, &setup);
}

static int case_proportional(ec_backend *backend)
{
    aco_setup setup = {33, 0, 3, 3, 100, {5, 3, 1, 12, 0.01, 0.5, 20, 2, 1e-2}, 2};
    return same_bits(backend, &setup);
}

static int case_sets(ec_backend *backend)
{
    aco_setup setup = {3, 90, 2, 0, 50, {3, 4, 0, NAN, NAN, 0.5, NAN, 1, 1e-3}, 1};
    return same_bits(backend, &setup);
}

/* More ants than a block has threads; codes of 32 bits. */
static int case_large_colony(ec_backend *backend)
{
    aco_setup setup = {5, 0, 1, 40, 1500, {2, 1, 0, 32, 0.3, 1, 0, 1, 1e-3}, 0};
    return same_bits(backend, &setup);
}

static int case_one_bit(ec_backend *backend)
{
    aco_setup setup = {1, 0, 0, 0, 5, {1, 0, 0, NAN, NAN, 0, 3, 1, 1e-3}, 0};
    return same_bits(backend, &setup);
}

/* ---- whole searches: on CUDA their generations run inside one kernel ---- */

enum { REALS = 20, ROWS = 70, BITS = 12 };

/* Sums longer than a block of a sum and than a tile of threads, steps that can run side by side, a
 * set, failures (the logarithm) and a constraint. */
static int search_job(ec_graph *g, int sum, ec_job **job)
{
    double min[REALS], max[REALS], matrix[ROWS * REALS], weight[2 * BITS];
    int32_t pairs = 2 * BITS;
    ec_variable_info real = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = REALS, .min = min, .max = max, .sum = -1};
    ec_variable_info binary = {.name = "b", .kind = EC_VARIABLE_BINARY, .count = BITS, .sum = sum};

    for (int i = 0; i < REALS; i++) {
        min[i] = -1.0;
        max[i] = 1.5 + i;
    }
    for (int i = 0; i < ROWS * REALS; i++)
        matrix[i] = (double)(mix((uint32_t)i) % 1000u) / 1000.0 - 0.5;
    for (int i = 0; i < pairs; i++)
        weight[i] = (double)(mix((uint32_t)i + 77u) % 1000u) / 100.0;
    EC_CHECK_CALL(ec_job_create(g, "ants", 5, job));
    EC_CHECK_CALL(ec_job_add_variable(*job, &real));
    EC_CHECK_CALL(ec_job_add_variable(*job, &binary));
    ec_expr x = ec_job_variable(*job, 0)->value, b = ec_job_variable(*job, 1)->value;
    ec_expr one = ec_graph_unary(
        g, EC_OP_SUM, ec_graph_unary(g, EC_OP_SQUARE, ec_graph_matvec(g, x, ROWS, matrix)));
    ec_expr two = ec_graph_unary(g, EC_OP_RMAX, ec_graph_matvec(g, x, 3, matrix + 11));
    ec_expr three =
        ec_graph_unary(g, EC_OP_SUM,
                       ec_graph_binary(g, EC_OP_MUL, ec_graph_mirror(g, b, false, false),
                                       ec_graph_constant(g, 1, &pairs, weight)));
    ec_expr four = ec_graph_unary(g, EC_OP_LOG10, ec_graph_slice(g, x, 0, 0));
    ec_expr cost = ec_graph_binary(g, EC_OP_ADD, ec_graph_binary(g, EC_OP_ADD, one, two),
                                   ec_graph_binary(g, EC_OP_SUB, three, four));
    ec_constraint limit = {.expr = ec_graph_slice(g, x, 3, 2),
                           .min = 0.3,
                           .max = INFINITY,
                           .tolerance = 0,
                           .scale = 2};
    EC_CHECK_CALL(ec_job_add_objective(*job, "f", cost, false, 0));
    EC_CHECK_CALL(ec_job_add_constraint(*job, "limit", &limit));
    return 0;
}

static int search_on(ec_backend *backend, int sum, const double *options, size_t evaluations,
                     ec_result **result)
{
    ec_solve_info info;
    ec_graph *g = NULL;
    ec_job *job = NULL;

    EC_CHECK_CALL(ec_graph_create(&g));
    int failed = search_job(g, sum, &job), status = EC_ERR_INTERNAL;
    if (!failed) {
        ec_solve_info_default(&info);
        info.method = "aco";
        info.population = 37;
        info.evaluations = evaluations;
        info.options = options;
        status = ec_solve(job, backend, &info, result);
    }
    ec_job_destroy(&job);
    ec_graph_destroy(&g);
    EC_CHECK_CALL(status);
    return failed;
}

static int compare_results(const ec_result *got, const ec_result *want)
{
    EC_CHECK(got->generations == want->generations && got->evaluations == want->evaluations &&
                 got->failed == want->failed && got->stop == want->stop,
             "%u generations, %llu evaluations, %llu failed; not %u, %llu, %llu", got->generations,
             (unsigned long long)got->evaluations, (unsigned long long)got->failed,
             want->generations, (unsigned long long)want->evaluations,
             (unsigned long long)want->failed);
    EC_CHECK(want->failed > 0 && want->violation == 0, "the problem is too easy");
    EC_CHECK(memcmp(got->genes, want->genes, (size_t)want->n_genes * sizeof(double)) == 0,
             "another design");
    EC_CHECK(got->objective_search[0] == want->objective_search[0], "%.17g, not %.17g",
             got->objective_search[0], want->objective_search[0]);
    EC_CHECK(got->n_history == want->n_history, "%zu rows of history, not %zu", got->n_history,
             want->n_history);
    for (size_t i = 0; i < want->n_history; i++) {
        const ec_history_row *a = &got->history[i], *b = &want->history[i];
        EC_CHECK(a->generation == b->generation && a->evaluations == b->evaluations &&
                     a->failed == b->failed && a->feasible == b->feasible &&
                     memcmp(&a->best, &b->best, sizeof a->best) == 0 && a->spread == b->spread &&
                     memcmp(&a->median, &b->median, sizeof a->median) == 0,
                 "row %zu of the history: generation %u best %.17g, not %u %.17g", i, a->generation,
                 a->best, b->generation, b->best);
    }
    return 0;
}

static int same_search(ec_backend *backend, int sum, const double *options, size_t evaluations)
{
    ec_backend_info info = {"cpu", 1, NULL, NULL};
    ec_backend *cpu;
    ec_result *got = NULL, *want = NULL;

    EC_CHECK_CALL(ec_backend_create(&info, &cpu));
    int failed = search_on(backend, sum, options, evaluations, &got) ||
                 search_on(cpu, sum, options, evaluations, &want) || compare_results(got, want);
    ec_result_destroy(&got);
    ec_result_destroy(&want);
    ec_backend_destroy(&cpu);
    return failed;
}

static int case_search(ec_backend *backend)
{
    const double options[OPTIONS] = {1, 0, 0, 8, NAN, 0.5, 60, 1, 1e-3};
    return same_search(backend, 5, options, 37 * 700 + 5);
}

static int case_search_colonies(ec_backend *backend)
{
    const double options[OPTIONS] = {7, 10, 0, 14, 0.1, 0.5, 60, 1, 1e-3};
    return same_search(backend, -1, options, 7 * 37 * 300 + 50);
}

static int case_search_proportional(ec_backend *backend)
{
    const double options[OPTIONS] = {3, 0, 1, 8, 0.01, 0.5, NAN, 1, 1e-3};
    return same_search(backend, 3, options, 3 * 37 * 200);
}

const ec_case ec_cases_aco[] = {
    {"aco/one_colony", case_one_colony},
    {"aco/many_colonies", case_many_colonies},
    {"aco/proportional", case_proportional},
    {"aco/sets", case_sets},
    {"aco/large_colony", case_large_colony},
    {"aco/one_bit", case_one_bit},
    {"aco/search", case_search},
    {"aco/search_colonies", case_search_colonies},
    {"aco/search_proportional", case_search_proportional},
    {NULL, NULL},
};
