/* test_solve.c: the solve loop on small graphs: stop rules to the letter, failures as data, the
 * winner chosen at final fidelity, and the same bits for any threads and chunks. */
#include "evaluator.h"
#include "job_harness.h"

#include <limits.h>
#include <stdio.h>

static ec_expr number(problem *p, double value)
{
    return ec_graph_number(p->graph, value);
}

/* sum (x - at)^2 + offset */
static ec_expr sphere(problem *p, double at, double offset)
{
    ec_expr d = ec_graph_binary(p->graph, EC_OP_SUB, p->x, number(p, at));
    ec_expr sum = ec_graph_unary(p->graph, EC_OP_SUM, ec_graph_unary(p->graph, EC_OP_SQUARE, d));

    return ec_graph_binary(p->graph, EC_OP_ADD, sum, number(p, offset));
}

static void minimize(problem *p, ec_expr expr)
{
    assert_true(expr >= 0);
    assert_int_equal(ec_job_add_objective(p->job, "f", expr, false, 0), EC_OK);
}

static void assert_refused(problem *p, const ec_solve_info *info, const char *words)
{
    ec_result *result = NULL;

    assert_true(ec_solve(p->job, p->backend, info, &result) < 0);
    assert_null(result);
    if (!strstr(ec_error_text(), words))
        fail_msg("'%s' is not in '%s'", words, ec_error_text());
}

static void test_finds_the_minimum(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    job_open_reals(&p, 6, -5, 5, 2);
    minimize(&p, sphere(&p, 1.25, 3));
    ec_solve_info_default(&info);
    info.evaluations = 30000;
    ec_result *r = job_solve(&p, &info);
    assert_int_equal(r->stop, EC_STOP_EVALUATIONS);
    assert_int_equal(r->evaluations, 30000);
    assert_true(r->found && r->status == 0 && r->violation == 0 && r->failed == 0);
    assert_true(fabs(r->objective_final[0] - 3) < 1e-8);
    assert_true(r->objective_search[0] == r->objective_final[0]);
    assert_int_equal(r->variable_length[0], 6);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(r->variable[0][i] - 1.25) < 1e-4);
    assert_string_equal(r->method, "lshade");
    assert_true(r->n_history > 10);
    for (size_t i = 1; i < r->n_history; i++) {
        assert_true(r->history[i].best <= r->history[i - 1].best);
        assert_true(r->history[i].generation > r->history[i - 1].generation);
    }
    assert_int_equal(r->history[r->n_history - 1].evaluations, 30000);
    ec_result_destroy(&r);
    assert_null(r);
    job_close(&p);
}

static void test_budgets_are_exact(void **state)
{
    static const char *const methods[] = {"lshade", "rand1bin", "best1bin", "jde",
                                          "current_to_pbest"};
    problem p;

    (void)state;
    job_open_reals(&p, 3, -5, 5, 1);
    minimize(&p, sphere(&p, 0, 0));
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        ec_solve_info info;
        ec_solve_info_default(&info);
        info.method = methods[m];
        info.population = 40;
        info.evaluations = 1013;
        ec_result *r = job_solve(&p, &info);
        assert_int_equal(r->evaluations, 1013);
        assert_int_equal(r->stop, EC_STOP_EVALUATIONS);
        ec_result_destroy(&r);
        info.evaluations = 17; /* less than one population */
        r = job_solve(&p, &info);
        assert_int_equal(r->evaluations, 17);
        assert_true(r->found);
        ec_result_destroy(&r);
        info.evaluations = 0;
        info.generations = 11;
        r = job_solve(&p, &info);
        assert_int_equal(r->generations, 11);
        assert_int_equal(r->stop, EC_STOP_GENERATIONS);
        ec_result_destroy(&r);
    }
    job_close(&p);
}

static void test_target_and_sign(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    job_open_reals(&p, 4, -5, 5, 1);
    ec_expr f = ec_graph_unary(p.graph, EC_OP_NEG, sphere(&p, 0, 1));
    assert_int_equal(ec_job_add_objective(p.job, "g", f, true, 0), EC_OK);
    ec_solve_info_default(&info);
    info.target = -1.01;
    info.method = "rand1bin";
    ec_result *r = job_solve(&p, &info);
    assert_int_equal(r->stop, EC_STOP_TARGET);
    assert_true(r->objective_final[0] >= -1.01 && r->objective_final[0] <= -1);
    assert_true(r->history[r->n_history - 1].best == r->objective_search[0]);
    assert_non_null(strstr(r->message, "target"));
    ec_result_destroy(&r);
    job_close(&p);
}

/* Costs in multiples of 2^-20: adding a constant is exact, so both runs must stop alike. */
static void test_stagnation_is_absolute(void **state)
{
    uint32_t generations[2];

    (void)state;
    for (int shifted = 0; shifted < 2; shifted++) {
        problem p;
        ec_solve_info info;
        job_open_reals(&p, 3, -4, 4, 1);
        ec_expr fine =
            ec_graph_binary(p.graph, EC_OP_MUL, sphere(&p, 0.3, 0), number(&p, 1048576.0));
        ec_expr grid =
            ec_graph_binary(p.graph, EC_OP_MUL, ec_graph_unary(p.graph, EC_OP_ROUND, fine),
                            number(&p, 1 / 1048576.0));
        minimize(&p, ec_graph_binary(p.graph, EC_OP_ADD, grid, number(&p, shifted ? 100 : 0)));
        ec_solve_info_default(&info);
        info.method = "rand1bin";
        info.population = 30;
        info.stagnation = 15;
        info.stagnation_tolerance = 1e-3;
        ec_result *r = job_solve(&p, &info);
        assert_int_equal(r->stop, EC_STOP_STAGNATION);
        generations[shifted] = r->generations;
        ec_result_destroy(&r);
        job_close(&p);
    }
    assert_int_equal(generations[0], generations[1]);
    assert_true(generations[0] > 15);
}

static void test_spread_and_time_and_interrupt(void **state)
{
    static volatile int interrupt = 1;
    problem p;
    ec_solve_info info;

    (void)state;
    job_open_reals(&p, 3, -4, 4, 1);
    minimize(&p, sphere(&p, 0, 0));
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.spread = 1e-3;
    ec_result *r = job_solve(&p, &info);
    assert_int_equal(r->stop, EC_STOP_SPREAD);
    assert_true(r->history[r->n_history - 1].spread < 1e-3);
    assert_true(fabs(r->variable[0][0]) < 0.02);
    ec_result_destroy(&r);
    info.spread = 0;
    info.seconds = 0.05;
    r = job_solve(&p, &info);
    assert_int_equal(r->stop, EC_STOP_TIME);
    assert_true(r->found && r->evaluations > 0);
    ec_result_destroy(&r);
    info.interrupt = &interrupt;
    info.seconds = 100;
    info.population = 32; /* one chunk: nobody looks within it */
    r = job_solve(&p, &info);
    assert_int_equal(r->stop, EC_STOP_INTERRUPT);
    assert_true(r->found);
    assert_non_null(strstr(r->message, "interrupted"));
    ec_result_destroy(&r);
    job_close(&p);
}

/* Sphere, NaN for x0 < 0, and every start design there. */
static void test_half_nan(void **state)
{
    problem p;
    ec_solve_info info;
    double min[2] = {-5, -5}, max[2] = {5, 5}, start[80];
    ec_backend_info backend = {.name = "cpu", .threads = 1};

    (void)state;
    for (int i = 0; i < 80; i++)
        start[i] = -1 - 0.03 * i;
    ec_variable_info info_x = {.name = "x",
                               .kind = EC_VARIABLE_REAL,
                               .count = 2,
                               .min = min,
                               .max = max,
                               .start = start,
                               .n_start = 40};
    assert_int_equal(ec_graph_create(&p.graph), EC_OK);
    assert_int_equal(ec_job_create(p.graph, "nan", 1, &p.job), EC_OK);
    assert_int_equal(ec_backend_create(&backend, &p.backend), EC_OK);
    assert_int_equal(ec_job_add_variable(p.job, &info_x), 0);
    p.x = ec_job_variable(p.job, 0)->value;
    ec_expr root = ec_graph_unary(p.graph, EC_OP_SQRT, ec_graph_slice(p.graph, p.x, 0, 0));
    ec_expr zero = ec_graph_binary(p.graph, EC_OP_MUL, root, number(&p, 0));
    minimize(&p, ec_graph_binary(p.graph, EC_OP_ADD, sphere(&p, 0, 0), zero));
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 40;
    info.generations = 200;
    ec_result *r = job_solve(&p, &info);
    assert_true(r->found && r->status == 0);
    assert_true(r->failed >= 40 && r->failed < r->evaluations);
    assert_true(isfinite(r->objective_final[0]) && r->objective_final[0] < 1e-3);
    assert_true(r->variable[0][0] >= 0);
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_everything_fails(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    job_open_reals(&p, 2, 1, 2, 1);
    ec_expr first = ec_graph_slice(p.graph, p.x, 0, 0);
    minimize(&p, ec_graph_unary(p.graph, EC_OP_SQRT, ec_graph_unary(p.graph, EC_OP_NEG, first)));
    ec_solve_info_default(&info);
    info.generations = 5;
    ec_result *r = job_solve(&p, &info);
    assert_false(r->found);
    assert_int_equal(r->failed, r->evaluations);
    char words[120];
    snprintf(words, sizeof words, "every design failed (%d); of the last %d: %d x the cost",
             (int)r->failed, (int)r->history[4].population, (int)r->history[4].population);
    assert_non_null(strstr(r->message, words));
    assert_true(r->n_history == 5 && r->history[4].failed == r->failed);
    ec_result_destroy(&r);
    job_close(&p);
}

/* ---- the end comes within a generation ---- */

/* y = x0^2; in its call `last` it raises a flag, or fails. */
typedef struct bomb_config {
    volatile int *flag; /* NULL: it fails */
    int calls, last;
} bomb_config;

typedef struct bomb {
    ec_evaluator head;
    bomb_config *config;
} bomb;

static int bomb_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    bomb *b = calloc(1, sizeof *b);
    b->head.def = info->call->def;
    b->head.backend = backend;
    b->config = info->call->config;
    *evaluator = &b->head;
    return EC_OK;
}

static int bomb_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                    ec_array *const *out, uint8_t *status, size_t n)
{
    bomb_config *config = ((bomb *)evaluator)->config;

    (void)exec;
    (void)status;
    config->calls++;
    if (config->calls >= config->last && !config->flag)
        return ec_fail(EC_ERR_INTERNAL, "the bomb went off");
    if (config->calls == config->last)
        *config->flag = 1;
    for (size_t c = 0; c < n; c++) {
        double v = ((const double *)in[0]->data)[c];
        ((double *)out[0]->data)[c] = v * v;
    }
    return EC_OK;
}

static void bomb_destroy(ec_evaluator **evaluator)
{
    free(*evaluator);
    *evaluator = NULL;
}

static void create_bomb(problem *p, volatile int *flag, int last)
{
    static const ec_evaluator_def def = {.name = "bomb",
                                         .plan = bomb_plan,
                                         .run = bomb_run,
                                         .destroy = bomb_destroy,
                                         .config_destroy = free};
    ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {0, INFINITY}};
    bomb_config *config = calloc(1, sizeof *config);
    ec_call *call = NULL;

    job_open_reals(p, 1, 1, 2, 1);
    ec_expr in = ec_graph_slice(p->graph, p->x, 0, 0);
    config->flag = flag;
    config->last = last;
    assert_int_equal(ec_graph_call(p->graph, &def, config, 1, &in, &call), EC_OK);
    minimize(p, ec_graph_call_output(p->graph, call, &output));
    assert_int_equal(ec_job_add_record(p->job, "copy", p->x, 0), EC_OK);
}

enum { BOMB_CHUNKS = 10 };

static ec_result *solve_bomb(problem *p, volatile int *flag, size_t generations, int *status)
{
    ec_solve_info info;
    ec_result *result = NULL;

    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 32 * BOMB_CHUNKS;
    info.chunk = 32;
    info.generations = generations;
    info.interrupt = flag;
    *status = ec_solve(p->job, p->backend, &info, &result);
    return result;
}

/* A generation that is interrupted leaves nothing: the result is that of the generations before. */
static void test_interrupt_within_a_generation(void **state)
{
    volatile int flag = 0, never = 0;
    problem p, q;
    int status;

    (void)state;
    create_bomb(&p, &flag, 2 * BOMB_CHUNKS + 5);
    create_bomb(&q, &never, -1);
    ec_result *r = solve_bomb(&p, &flag, 50, &status);
    assert_int_equal(status, EC_OK);
    ec_result *two = solve_bomb(&q, &never, 2, &status);
    assert_int_equal(status, EC_OK);
    assert_int_equal(r->stop, EC_STOP_INTERRUPT);
    assert_int_equal(r->generations, 2);
    assert_int_equal(r->evaluations, 2 * 32 * BOMB_CHUNKS);
    assert_int_equal(r->n_history, 2);
    assert_true(r->found && r->objective_final[0] == two->objective_final[0]);
    assert_true(r->genes[0] == two->genes[0]);
    ec_result_destroy(&r);
    ec_result_destroy(&two);
    job_close(&p);
    job_close(&q);

    flag = 0;
    create_bomb(&p, &flag, 5);
    r = solve_bomb(&p, &flag, 50, &status);
    assert_int_equal(status, EC_OK);
    assert_false(r->found);
    assert_true(r->n_history == 0 && r->evaluations == 0);
    assert_non_null(strstr(r->message, "the first generation of 320 designs had not been"));
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_error_keeps_the_best(void **state)
{
    problem p;
    int status;

    (void)state;
    create_bomb(&p, NULL, 2 * BOMB_CHUNKS + 5);
    ec_result *r = solve_bomb(&p, NULL, 50, &status);
    assert_int_equal(status, EC_ERR_INTERNAL);
    assert_string_equal(ec_error_text(), "the bomb went off");
    assert_non_null(r);
    assert_int_equal(r->stop, EC_STOP_ERROR);
    assert_non_null(strstr(r->message, "the bomb went off"));
    assert_int_equal(r->n_history, 2);
    assert_true(r->found && r->variable[0][0] >= 1 && r->variable[0][0] < 1.1);
    assert_true(r->objective_search[0] == r->variable[0][0] * r->variable[0][0]);
    assert_true(r->objective_search[0] == r->history[1].best);
    assert_true(isnan(r->objective_final[0]) && isnan(r->record[0][0]));
    ec_result_destroy(&r);
    job_close(&p);

    create_bomb(&p, NULL, 5); /* before there is anything */
    r = solve_bomb(&p, NULL, 50, &status);
    assert_int_equal(status, EC_ERR_INTERNAL);
    assert_null(r);
    job_close(&p);
}

/* ---- designs that fail ---- */

/* y = x0^2, but where x0 < 1.5 an evaluation fails: of any designs, or only of so many at once (40 are
 * a generation), so many times. */
typedef struct shaky_config {
    size_t among; /* 0: any */
    int times;
    int evaluated;
} shaky_config;

static int shaky_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                     ec_array *const *out, uint8_t *status, size_t n)
{
    shaky_config *config = (shaky_config *)(void *)((bomb *)evaluator)->config;
    bool fails = config->among == 0 || (n == config->among && config->times-- > 0);

    (void)exec;
    config->evaluated += (int)n;
    for (size_t c = 0; c < n; c++) {
        double v = ((const double *)in[0]->data)[c];
        ((double *)out[0]->data)[c] = v * v;
        if (fails && v < 1.5)
            status[c] |= EC_CANDIDATE_EVALUATOR;
    }
    return EC_OK;
}

static shaky_config *create_shaky(problem *p, size_t among)
{
    static const ec_evaluator_def def = {.name = "shaky",
                                         .plan = bomb_plan,
                                         .run = shaky_run,
                                         .destroy = bomb_destroy,
                                         .config_destroy = free};
    ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {0, INFINITY}};
    shaky_config *config = calloc(1, sizeof *config);
    ec_call *call = NULL;

    job_open_reals(p, 2, 1, 2, 1);
    ec_expr in = ec_graph_slice(p->graph, p->x, 0, 0);
    config->among = among;
    config->times = INT_MAX;
    assert_int_equal(ec_graph_call(p->graph, &def, config, 1, &in, &call), EC_OK);
    minimize(p, ec_graph_call_output(p->graph, call, &output));
    return config;
}

static void test_failed_designs_are_kept(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    create_shaky(&p, 0);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 40;
    info.generations = 20;
    ec_result *r = job_solve(&p, &info);
    assert_true(r->found && r->objective_final[0] >= 2.25);
    assert_true(r->failed > 10 && r->n_failures > 10 && r->n_failures <= EC_FAILURES_MAX);
    for (size_t i = 0; i < r->n_failures; i++) {
        assert_int_equal(r->failures[i].status, EC_CANDIDATE_EVALUATOR);
        assert_true(r->failures[i].generation >= 1 && r->failures[i].generation <= 20);
        assert_true(r->failure_values[2 * i] < 1.5 && r->failure_values[2 * i] >= 1);
        assert_true(r->failure_values[2 * i + 1] == r->failure_genes[2 * i + 1]);
    }
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_failures_are_tried_again(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    shaky_config *config = create_shaky(&p, 40);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 40;
    info.generations = 3;
    info.on_failure = EC_FAILURE_RETRY;
    info.keep = 1;
    ec_result *r = job_solve(&p, &info);
    assert_int_equal(r->failed, 0);
    assert_int_equal(r->evaluations, 120);
    assert_true(r->found && r->objective_search[0] < 2.25);
    /* only what failed was evaluated again */
    assert_true(config->evaluated > 120 && config->evaluated < 240);
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_failures_get_a_value(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    create_shaky(&p, 0);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 40;
    info.generations = 5;
    info.on_failure = EC_FAILURE_VALUE;
    info.failure_value = 3;
    ec_result *r = job_solve(&p, &info);
    assert_true(r->failed > 10 && r->failed < r->evaluations);
    assert_int_equal(r->history[0].feasible, 40); /* they take part */
    assert_true(r->history[4].failed == r->failed);
    assert_true(r->history[0].best < 3);
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_a_failure_ends_the_run(void **state)
{
    problem p;
    ec_solve_info info;
    ec_result *r = NULL;

    (void)state;
    create_shaky(&p, 0);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 40;
    info.generations = 5;
    info.on_failure = EC_FAILURE_STOP;
    assert_refused(&p, &info, "of generation 1 failed: an evaluator could not score the design");
    assert_null(r);
    job_close(&p);
}

/* The five best fail at final fidelity. */
static ec_result *solve_shaky_final(problem *p, ec_failure_policy policy, int *status)
{
    shaky_config *config = create_shaky(p, 5);
    ec_solve_info info;
    ec_result *r = NULL;

    config->times = 1;
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 40;
    info.generations = 3;
    info.keep = 5;
    info.on_failure = policy;
    info.failure_value = 3;
    *status = ec_solve(p->job, p->backend, &info, &r);
    assert_non_null(r);
    assert_true(r->found && r->failed == 0);
    return r;
}

static void test_failures_at_final_fidelity(void **state)
{
    static const ec_failure_policy ranked[] = {EC_FAILURE_WORST, EC_FAILURE_VALUE};
    problem p;
    int status;

    (void)state;
    for (size_t i = 0; i < 2; i++) { /* also "value" is of the search only */
        ec_result *r = solve_shaky_final(&p, ranked[i], &status);
        assert_int_equal(status, EC_OK);
        assert_int_equal(r->status, EC_CANDIDATE_EVALUATOR);
        assert_non_null(strstr(r->message, "failed at final fidelity"));
        ec_result_destroy(&r);
        job_close(&p);
    }
    ec_result *r = solve_shaky_final(&p, EC_FAILURE_RETRY, &status);
    assert_int_equal(status, EC_OK);
    assert_int_equal(r->status, 0);
    assert_true(r->objective_final[0] < 2.25);
    ec_result_destroy(&r);
    job_close(&p);
    r = solve_shaky_final(&p, EC_FAILURE_STOP, &status);
    assert_int_equal(status, EC_ERR_RANGE);
    assert_non_null(strstr(r->message, "at final fidelity a design of the best failed: an "
                                       "evaluator could not score the design; x = 1."));
    assert_int_equal(r->stop, EC_STOP_ERROR);
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_constraints(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    job_open_reals(&p, 3, -5, 5, 1);
    minimize(&p, sphere(&p, 0, 0));
    ec_constraint c = {
        .expr = ec_graph_unary(p.graph, EC_OP_SUM, p.x), .min = 3, .max = INFINITY, .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "sum", &c), EC_OK);
    assert_int_equal(
        ec_job_add_record(p.job, "twice", ec_graph_binary(p.graph, EC_OP_ADD, p.x, p.x), 0), EC_OK);
    ec_solve_info_default(&info);
    info.evaluations = 20000;
    ec_result *r = job_solve(&p, &info);
    assert_true(r->violation == 0 && r->constraint[0] <= 0);
    assert_true(fabs(r->objective_final[0] - 3) < 1e-5); /* x = (1, 1, 1) */
    assert_int_equal(r->record_length[0], 3);
    assert_true(r->record[0][1] == 2 * r->variable[0][1]);
    double *value;
    int32_t n;
    assert_int_equal(ec_result_value(p.job, r, p.backend, p.x, &value, &n, NULL), EC_OK);
    assert_int_equal(n, 3);
    assert_memory_equal(value, r->variable[0], 3 * sizeof *value);
    free(value);
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_same_bits(void **state)
{
    static const struct {
        int threads;
        size_t chunk;
    } ways[] = {{1, 0}, {2, 0}, {7, 0}, {1, 32}, {2, 96}};
    double expected[8] = {0};
    size_t rows = 0;

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        problem p;
        ec_solve_info info;
        job_open_reals(&p, 8, -3, 3, ways[i].threads);
        ec_expr wave = ec_graph_unary(p.graph, EC_OP_SUM, ec_graph_unary(p.graph, EC_OP_COS, p.x));
        minimize(&p, ec_graph_binary(p.graph, EC_OP_ADD, sphere(&p, 0.7, 0), wave));
        ec_solve_info_default(&info);
        info.population = 200;
        info.evaluations = 12345;
        info.chunk = ways[i].chunk;
        info.seed = 42;
        info.seed_given = true;
        ec_result *r = job_solve(&p, &info);
        assert_int_equal(r->seed, 42);
        if (i == 0) {
            memcpy(expected, r->variable[0], sizeof expected);
            rows = r->n_history;
        }
        assert_memory_equal(r->variable[0], expected, sizeof expected);
        assert_int_equal(r->n_history, rows);
        ec_result_destroy(&r);
        job_close(&p);
    }
}

static void test_refusals(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    job_open_reals(&p, 3, -5, 5, 1);
    ec_solve_info_default(&info);
    info.generations = 3;
    assert_refused(&p, &info, "no objective");
    minimize(&p, sphere(&p, 0, 0));
    info.generations = 0;
    assert_refused(&p, &info, "when to stop");
    info.generations = 3;
    info.method = "magic";
    assert_refused(&p, &info, "unknown method 'magic'");
    assert_refused(&p, &info, "rand1bin");
    info.method = "rand1bin";
    info.population = 3;
    assert_refused(&p, &info, "population");
    info.population = 0;
    info.seconds = -1;
    assert_refused(&p, &info, "seconds");
    info.seconds = 0;
    info.spread = 2;
    assert_refused(&p, &info, "spread");
    info.spread = 0;
    assert_int_equal(ec_job_add_objective(p.job, "g", sphere(&p, 1, 0), false, 0), EC_OK);
    assert_refused(&p, &info, "2 objectives");
    job_close(&p);
}

/* A job may grow after its solve: the result keeps its sizes, and has no value of what is new. */
static void test_grown_job(void **state)
{
    problem p;
    ec_solve_info info;
    double min[5] = {0}, max[5] = {1, 1, 1, 1, 1}, *value = NULL;
    ec_variable_info later = {
        .name = "later", .kind = EC_VARIABLE_REAL, .count = 5, .min = min, .max = max};
    int32_t length = 0;

    (void)state;
    job_open_reals(&p, 3, -5, 5, 1);
    minimize(&p, sphere(&p, 0, 0));
    ec_solve_info_default(&info);
    info.generations = 3;
    ec_result *r = job_solve(&p, &info);
    assert_int_equal(ec_job_add_variable(p.job, &later), 1);
    ec_expr y = ec_job_variable(p.job, 1)->value;
    assert_int_equal(ec_job_add_record(p.job, "y", y, 0), EC_OK);
    assert_int_equal(r->n_variables, 1);
    assert_int_equal(r->n_objectives, 1);
    assert_int_equal(r->n_records, 0);
    assert_true(ec_result_value(p.job, r, p.backend, y, &value, &length, NULL) < 0);
    assert_non_null(strstr(ec_error_text(), "'later', which was added after this solve"));
    assert_int_equal(ec_result_value(p.job, r, p.backend, p.x, &value, &length, NULL), EC_OK);
    assert_int_equal(length, 3);
    free(value);
    ec_result_destroy(&r);
    job_close(&p);
}

static void test_check(void **state)
{
    problem p;
    ec_solve_info info;
    ec_check check;

    (void)state;
    job_open_reals(&p, 3, -5, 5, 1);
    minimize(&p, sphere(&p, 0, 0));
    ec_solve_info_default(&info);
    info.generations = 3;
    assert_int_equal(ec_solve_check(p.job, p.backend, &info, &check), EC_OK);
    assert_int_equal(check.population, 54);
    assert_true(check.seconds_per_evaluation > 0);
    assert_true(check.nodes > 0);
    assert_int_equal(check.calls, 0);
    job_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_minimum),
        cmocka_unit_test(test_budgets_are_exact),
        cmocka_unit_test(test_target_and_sign),
        cmocka_unit_test(test_stagnation_is_absolute),
        cmocka_unit_test(test_spread_and_time_and_interrupt),
        cmocka_unit_test(test_half_nan),
        cmocka_unit_test(test_everything_fails),
        cmocka_unit_test(test_interrupt_within_a_generation),
        cmocka_unit_test(test_error_keeps_the_best),
        cmocka_unit_test(test_failed_designs_are_kept),
        cmocka_unit_test(test_failures_are_tried_again),
        cmocka_unit_test(test_failures_get_a_value),
        cmocka_unit_test(test_a_failure_ends_the_run),
        cmocka_unit_test(test_failures_at_final_fidelity),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_grown_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
