/* backends_solve.c: whole runs of the solve loop on every backend. The costs are sums and products,
 * which every backend rounds alike, so the winner must have the bits of a plain CPU run (one thread,
 * baseline ISA), also where generations are replayed from captures. */
#include "backends.h"

#include "core/job.h"
#include "core/polish.h"
#include "core/solve.h"

#include <stdlib.h>
#include <string.h>

enum { GENES = 6 };

typedef struct setting {
    const char *method;
    size_t population, evaluations, generations, chunk;
    double target, spread;
    uint32_t stagnation;
    bool constrained, several; /* several: sum x_i^2 is an objective as well */
    ec_stop stop;
} setting;

/* f = sum (x_i - 0.3 i)^2 + 0.1 sum x_i x_(i+1), with x_0 + x_5 >= 2.5 when constrained. */
static int build(ec_graph *graph, ec_job **job, bool constrained, bool several)
{
    double min[GENES], max[GENES], at[GENES];
    int32_t shape = GENES;

    for (int i = 0; i < GENES; i++) {
        min[i] = -3;
        max[i] = 5;
        at[i] = 0.25 * i;
    }
    ec_variable_info info = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = GENES, .min = min, .max = max};
    EC_CHECK_CALL(ec_job_create(graph, "solve", 11, job));
    EC_CHECK_CALL(ec_job_add_variable(*job, &info));
    ec_expr x = ec_job_variable(*job, 0)->value;
    ec_expr d = ec_graph_binary(graph, EC_OP_SUB, x, ec_graph_constant(graph, 1, &shape, at));
    ec_expr pairs = ec_graph_binary(graph, EC_OP_MUL, ec_graph_slice(graph, x, 0, GENES - 1),
                                    ec_graph_slice(graph, x, 1, GENES - 1));
    ec_expr f = ec_graph_binary(
        graph, EC_OP_ADD, ec_graph_unary(graph, EC_OP_SUM, ec_graph_unary(graph, EC_OP_SQUARE, d)),
        ec_graph_binary(graph, EC_OP_MUL, ec_graph_number(graph, 0.125),
                        ec_graph_unary(graph, EC_OP_SUM, pairs)));
    EC_CHECK_CALL(ec_job_add_objective(*job, "f", f, false, 0));
    if (several) {
        ec_expr square = ec_graph_unary(graph, EC_OP_SQUARE, x);
        EC_CHECK_CALL(
            ec_job_add_objective(*job, "size", ec_graph_unary(graph, EC_OP_SUM, square), false, 0));
    }
    if (constrained) {
        ec_constraint c = {.expr = ec_graph_binary(graph, EC_OP_ADD, ec_graph_slice(graph, x, 0, 0),
                                                   ec_graph_slice(graph, x, GENES - 1, 0)),
                           .min = 2.5,
                           .max = INFINITY,
                           .scale = 1};
        EC_CHECK_CALL(ec_job_add_constraint(*job, "ends", &c));
    }
    return 0;
}

static int run(ec_backend *backend, const setting *s, ec_result **result)
{
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_solve_info info;

    EC_CHECK_CALL(ec_graph_create(&graph));
    if (build(graph, &job, s->constrained, s->several))
        return 1;
    ec_solve_info_default(&info);
    info.method = s->method;
    info.population = s->population;
    info.evaluations = s->evaluations;
    info.generations = s->generations;
    info.chunk = s->chunk;
    info.target = s->target;
    info.spread = s->spread;
    info.stagnation = s->stagnation;
    EC_CHECK_CALL(ec_solve(job, backend, &info, result));
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    return 0;
}

static int compare(ec_backend *backend, const setting *s)
{
    ec_backend_info plain = {.name = "cpu", .threads = 1, .isa = "v1"};
    ec_backend *cpu = NULL;
    ec_result *got = NULL, *want = NULL;

    EC_CHECK_CALL(ec_backend_create(&plain, &cpu));
    if (run(backend, s, &got) || run(cpu, s, &want))
        return 1;
    EC_CHECK(got->stop == s->stop && want->stop == s->stop, "%s: stopped by %s and %s, not %s",
             s->method, ec_stop_name(got->stop), ec_stop_name(want->stop), ec_stop_name(s->stop));
    EC_CHECK(got->evaluations == want->evaluations && got->generations == want->generations,
             "%s: %u generations, on the plain CPU %u", s->method, got->generations,
             want->generations);
    EC_CHECK(s->evaluations == 0 || got->evaluations <= s->evaluations, "%s: over its budget",
             s->method);
    EC_CHECK(got->found && memcmp(got->genes, want->genes, GENES * sizeof(double)) == 0,
             "%s: the best design has other bits", s->method);
    EC_CHECK(got->front.n == want->front.n && (got->front.n > 0) == s->several,
             "%s: a front of %d designs, on the plain CPU %d", s->method, (int)got->front.n,
             (int)want->front.n);
    for (int32_t i = 0; i < got->front.n * GENES; i++)
        EC_CHECK(got->front.genes[i] == want->front.genes[i], "%s: front, gene %d", s->method,
                 (int)i);
    EC_CHECK(got->n_history == want->n_history, "%s: %zu history rows, on the plain CPU %zu",
             s->method, got->n_history, want->n_history);
    for (size_t i = 0; i < got->n_history; i++)
        EC_CHECK(got->history[i].generation == want->history[i].generation &&
                     got->history[i].best == want->history[i].best &&
                     got->history[i].evaluations == want->history[i].evaluations,
                 "%s: history row %zu", s->method, i);
    ec_result_destroy(&got);
    ec_result_destroy(&want);
    ec_backend_destroy(&cpu);
    return 0;
}

static int solve_budgets(ec_backend *backend)
{
    static const setting settings[] = {
        {.method = "lshade",
         .population = 300,
         .evaluations = 20011,
         .target = NAN,
         .stop = EC_STOP_EVALUATIONS},
        {.method = "lshade",
         .population = 128,
         .generations = 157,
         .target = NAN,
         .chunk = 32,
         .constrained = true,
         .stop = EC_STOP_GENERATIONS},
        {.method = "rand1bin",
         .population = 100,
         .evaluations = 9950,
         .target = NAN,
         .stop = EC_STOP_EVALUATIONS},
        {.method = "jde",
         .population = 64,
         .generations = 90,
         .target = NAN,
         .stop = EC_STOP_GENERATIONS},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (compare(backend, &settings[i]))
            return 1;
    return 0;
}

/* A method whose state is in host memory, with several objectives. */
static int solve_front(ec_backend *backend)
{
    static const setting settings[] = {
        {.method = "nsga2",
         .population = 75,
         .evaluations = 6010,
         .target = NAN,
         .several = true,
         .stop = EC_STOP_EVALUATIONS},
        {.method = "nsga2",
         .population = 300,
         .generations = 70,
         .target = NAN,
         .chunk = 64,
         .constrained = true,
         .several = true,
         .stop = EC_STOP_GENERATIONS},
        {.method = "nsga2",
         .population = 40,
         .generations = 60,
         .target = NAN,
         .constrained = true,
         .stop = EC_STOP_GENERATIONS},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (compare(backend, &settings[i]))
            return 1;
    return 0;
}

static int solve_rules(ec_backend *backend)
{
    static const setting settings[] = {
        {.method = "rand1bin", .population = 60, .target = 0.9, .stop = EC_STOP_TARGET},
        {.method = "rand1bin",
         .population = 60,
         .target = NAN,
         .spread = 1e-2,
         .stop = EC_STOP_SPREAD},
        {.method = "lshade",
         .population = 60,
         .target = NAN,
         .stagnation = 40,
         .stop = EC_STOP_STAGNATION},
        {.method = "current_to_pbest",
         .population = 60,
         .target = NAN,
         .stagnation = 40,
         .constrained = true,
         .stop = EC_STOP_STAGNATION},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (compare(backend, &settings[i]))
            return 1;
    return 0;
}

/* The local search of the polish: bits with a sum, bits of a group and a whole number, within a limit. */
static int solve_local(ec_backend *backend)
{
    enum { BITS = 20, SHARED = 6, DESIGNS = 3, WIDTH = BITS + 1 };
    double genes[DESIGNS * WIDTH], group[DESIGNS * SHARED], weight[BITS], lo = 0, hi = 100, got;
    double *out = &got;
    const int32_t n = BITS;
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_variable_info bits = {.name = "bits", .kind = EC_VARIABLE_BINARY, .count = BITS, .sum = 5};
    ec_variable_info whole = {.name = "n", .kind = EC_VARIABLE_INTEGER, .min = &lo, .max = &hi};
    ec_variable_info shared = {
        .name = "shared", .kind = EC_VARIABLE_BINARY, .count = SHARED, .sum = -1, .group = true};
    ec_polish_info info = {.max_evaluations = 4000, .seed = 5};
    uint64_t evaluations = 0;

    for (int i = 0; i < BITS; i++)
        weight[i] = i * 7 % BITS;
    for (int i = 0; i < DESIGNS * WIDTH; i++)
        genes[i] = i % WIDTH == BITS ? 50 : (i * 5 % 17) / 17.0;
    for (int i = 0; i < DESIGNS * SHARED; i++)
        group[i] = i % 2 ? 0.8 : 0.2;
    EC_CHECK_CALL(ec_graph_create(&graph));
    EC_CHECK_CALL(ec_job_create(graph, "local", 1, &job));
    EC_CHECK_CALL(ec_job_add_variable(job, &bits));
    EC_CHECK_CALL(ec_job_add_variable(job, &whole));
    EC_CHECK_CALL(ec_job_add_variable(job, &shared));
    ec_expr worth = ec_graph_unary(graph, EC_OP_SUM,
                                   ec_graph_binary(graph, EC_OP_MUL, ec_job_variable(job, 0)->value,
                                                   ec_graph_constant(graph, 1, &n, weight)));
    ec_expr total =
        ec_graph_binary(graph, EC_OP_ADD, ec_job_variable(job, 1)->value,
                        ec_graph_unary(graph, EC_OP_SUM, ec_job_variable(job, 2)->value));
    worth = ec_graph_binary(graph, EC_OP_ADD, worth, total);
    EC_CHECK_CALL(ec_job_add_objective(job, "worth", worth, true, 0));
    ec_constraint limit = {
        .expr = ec_job_variable(job, 1)->value, .min = -INFINITY, .max = 41, .scale = 1};
    EC_CHECK_CALL(ec_job_add_constraint(job, "limit", &limit));
    EC_CHECK_CALL(ec_polish_discrete(job, backend, &info, DESIGNS, genes, group, &evaluations));
    EC_CHECK(evaluations == DESIGNS * 4000, "%d evaluations", (int)evaluations);
    for (int i = 0; i < DESIGNS; i++) {
        EC_CHECK_CALL(ec_evaluate_once(graph, backend, EC_FINAL, 1, &worth, genes + i * WIDTH,
                                       WIDTH, group + i * SHARED, SHARED, &out, NULL, NULL));
        EC_CHECK(got == 19 + 18 + 17 + 16 + 15 + 41 + SHARED, "design %d: %g", i, got);
    }
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    return 0;
}

const ec_case ec_cases_solve[] = {
    {"solve/budgets", solve_budgets},
    {"solve/front", solve_front},
    {"solve/rules", solve_rules},
    {"solve/local", solve_local},
    {NULL, NULL},
};
