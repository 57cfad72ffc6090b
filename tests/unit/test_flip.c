/* test_flip.c: the local search on binary, integer and choice genes: its neighbours, problems with a
 * known optimum, failures as data, the same bits for any threads, time and signals. */
#include "evaluator.h"
#include "optimizers/flip/flip_moves.h"
#include "polish.h"
#include "job_harness.h"
#include "sanitized.h"

/* count bits; sum < 0: free */
static void create_bits(problem *p, int count, int sum, int threads)
{
    ec_variable_info info = {
        .name = "bits", .kind = EC_VARIABLE_BINARY, .count = count, .sum = sum};

    job_open(p, threads);
    p->x = job_add(p, &info);
}

static ec_expr number(problem *p, double value)
{
    return ec_graph_number(p->graph, value);
}

static ec_expr binary(problem *p, ec_op op, ec_expr a, ec_expr b)
{
    return ec_graph_binary(p->graph, op, a, b);
}

static ec_expr sum_of(problem *p, ec_expr a)
{
    return ec_graph_unary(p->graph, EC_OP_SUM, a);
}

static ec_expr weighted(problem *p, const double *w, int n)
{
    return sum_of(p, binary(p, EC_OP_MUL, p->x, ec_graph_constant(p->graph, 1, &n, w)));
}

static void objective(problem *p, ec_expr expr, bool maximize)
{
    assert_true(expr >= 0);
    assert_int_equal(ec_job_add_objective(p->job, "f", expr, maximize, 0), EC_OK);
}

static void value(problem *p, ec_expr expr, const double *genes, double *out)
{
    int status = ec_evaluate_once(p->graph, p->backend, EC_FINAL, 1, &expr, genes,
                                  (size_t)ec_job_gene_count(p->job), NULL, 0, &out, NULL, NULL);

    if (status != EC_OK)
        fail_msg("%s", ec_error_text());
}

static double cost(problem *p, const double *genes)
{
    double v;

    value(p, ec_job_objective(p->job, 0)->expr, genes, &v);
    return v;
}

static uint64_t polish(problem *p, int n, int evaluations, double *genes)
{
    ec_polish_info info = {.max_evaluations = evaluations, .seed = 7};
    uint64_t used = 0;
    int32_t finished = 0;
    bool out_of_time = true;

    info.finished = &finished;
    info.out_of_time = &out_of_time;
    int status = ec_polish_discrete(p->job, p->backend, &info, n, genes, NULL, &used);
    if (status != EC_OK)
        fail_msg("%s: %s", ec_status_name(status), ec_error_text());
    assert_int_equal(finished, n);
    assert_false(out_of_time);
    assert_true(used <= (uint64_t)n * (uint64_t)evaluations);
    return used;
}

/* ---- neighbours ---- */

/* Every neighbour has allowed values that its genes are decoded to, differs from the values in one
 * variable, and no two are the same (of distinct choices a swap is found from both its sides). */
static void check_neighbours(const ec_variable_info *info, const double *at, int expected)
{
    problem p;
    ec_flip_space space;
    double values[16], genes[16], decoded[16], seen[64][16];
    uint64_t count[1];
    int n = info->count;

    job_open(&p, 1);
    p.x = job_add(&p, info);
    assert_int_equal(ec_flip_space_create(&space, p.job), EC_OK);
    assert_int_equal(space.n_values, n);
    assert_int_equal(ec_flip_count(&space, at, true, count), expected);
    for (int k = 0; k < expected; k++) {
        ec_flip_move move = ec_flip_find(&space, at, count, (uint64_t)k);
        memcpy(values, at, sizeof *at * (size_t)n);
        ec_flip_apply(&space, &move, values, genes);
        value(&p, p.x, genes, decoded);
        assert_memory_equal(values, decoded, sizeof *values * (size_t)n);
        assert_memory_not_equal(values, at, sizeof *values * (size_t)n);
        memcpy(seen[k], values, sizeof *values * (size_t)n);
        int same = 0;
        for (int j = 0; j < k; j++)
            same += memcmp(seen[j], values, sizeof *values * (size_t)n) == 0;
        assert_true(same <= (info->distinct && move.n == 2 ? 1 : 0));
    }
    ec_flip_space_release(&space);
    job_close(&p);
}

static void test_neighbours(void **state)
{
    const double bits[5] = {1, 0, 0, 1, 0}, min[2] = {0, -2}, max[2] = {10, 2};
    const double whole[2] = {3, -2}, items[3] = {4, 1, 4}, distinct[3] = {5, 1, 3};

    (void)state;
    ec_variable_info info = {.name = "v", .kind = EC_VARIABLE_BINARY, .count = 5, .sum = -1};
    check_neighbours(&info, bits, 5 + 2 * 3);
    info.sum = 2;
    check_neighbours(&info, bits, 2 * 3);
    /* 3 in 0 .. 10: 4, 5, 7 and 2, 1; -2 in -2 .. 2: -1, 0, 2 */
    info = (ec_variable_info){
        .name = "v", .kind = EC_VARIABLE_INTEGER, .count = 2, .min = min, .max = max};
    check_neighbours(&info, whole, 5 + 3);
    info = (ec_variable_info){.name = "v", .kind = EC_VARIABLE_CHOICE, .count = 3, .n_from = 4};
    check_neighbours(&info, items, 3 * 3);
    info.distinct = true;
    info.n_from = 6;
    check_neighbours(&info, distinct, 3 * 5);
}

/* A variable with one value has no neighbours: it ends at once. */
static void test_no_neighbours(void **state)
{
    problem p;
    double genes[4] = {0.2, 0.7, 0.1, 0.9};
    const double w[4] = {1, 2, 3, 4};

    (void)state;
    create_bits(&p, 4, 4, 1);
    objective(&p, weighted(&p, w, 4), false);
    assert_int_equal(polish(&p, 1, 100, genes), 1);
    assert_true(cost(&p, genes) == 10);
    job_close(&p);
}

/* ---- known optima ---- */

static void test_onemax(void **state)
{
    enum { N = EC_SANITIZED ? 80 : 200, ONES = 3 * N / 10 };
    problem p;
    double genes[2 * N], w[N], best = 0;

    (void)state;
    /* as many ones as can be */
    for (int i = 0; i < 2 * N; i++)
        genes[i] = i % 3 ? 0.1 : 0.9;
    create_bits(&p, N, -1, 2);
    objective(&p, sum_of(&p, p.x), true);
    polish(&p, 2, 60000, genes);
    assert_true(cost(&p, genes) == N && cost(&p, genes + N) == N);
    job_close(&p);
    /* exactly so many ones, those with the largest weights */
    for (int i = 0; i < N; i++) {
        w[i] = (i * 37) % N;
        best += w[i] >= N - ONES ? w[i] : 0;
        genes[i] = 0.001 * i;
    }
    create_bits(&p, N, ONES, 2);
    objective(&p, weighted(&p, w, N), true);
    polish(&p, 1, 60000, genes);
    assert_true(cost(&p, genes) == best);
    double bits[N], ones = 0;
    value(&p, p.x, genes, bits);
    for (int i = 0; i < N; i++)
        ones += bits[i];
    assert_true(ones == ONES);
    job_close(&p);
}

/* A wrong number of ones costs more than the best place gains: one bit turned is always worse. */
static void test_swaps(void **state)
{
    enum { N = 20 };
    problem p;
    double genes[N], w[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        w[i] = (i * 7) % N;
        genes[i] = w[i] < 6 ? 0.9 : 0.1;
    }
    create_bits(&p, N, -1, 1);
    ec_expr miss = binary(&p, EC_OP_SUB, sum_of(&p, p.x), number(&p, 6));
    ec_expr penalty =
        binary(&p, EC_OP_MUL, number(&p, 100), ec_graph_unary(p.graph, EC_OP_SQUARE, miss));
    objective(&p, binary(&p, EC_OP_SUB, penalty, weighted(&p, w, N)), false);
    double start = cost(&p, genes);
    for (int i = 0; i < N; i++) {
        genes[i] = 1 - genes[i];
        assert_true(cost(&p, genes) > start);
        genes[i] = 1 - genes[i];
    }
    polish(&p, 1, 1500, genes);
    assert_true(cost(&p, genes) == -(19 + 18 + 17 + 16 + 15 + 14));
    job_close(&p);
}

/* Blocks of three bits that are worth 3 when they are all on, and otherwise the more the fewer are on (a
 * deceptive trap, Deb and Goldberg 1993): from all off every bit turned is a loss. */
static void test_trap(void **state)
{
    enum { BLOCKS = 5, N = 3 * BLOCKS };
    problem p;
    double genes[2 * N], matrix[BLOCKS * N] = {0};

    (void)state;
    for (int i = 0; i < N; i++)
        matrix[(i / 3) * N + i] = 1;
    for (int i = 0; i < 2 * N; i++)
        genes[i] = 0.1;
    create_bits(&p, N, -1, 2);
    ec_expr ones = ec_graph_matvec(p.graph, p.x, BLOCKS, matrix);
    ec_expr worth = ec_graph_where(p.graph, binary(&p, EC_OP_EQ, ones, number(&p, 3)),
                                   number(&p, 3), binary(&p, EC_OP_SUB, number(&p, 2), ones));
    objective(&p, sum_of(&p, worth), true);
    assert_true(cost(&p, genes) == 2 * BLOCKS);
    polish(&p, 2, 200000, genes);
    assert_true(cost(&p, genes) == 3 * BLOCKS && cost(&p, genes + N) == 3 * BLOCKS);
    job_close(&p);
}

/* Three distinct places out of thirty, in an order that counts. */
static void test_distinct(void **state)
{
    problem p;
    double genes[3] = {0.5, 0.5, 0.5}, places[3];
    const double target[3] = {23, 7, 24};
    const int n = 3;
    ec_variable_info info = {
        .name = "place", .kind = EC_VARIABLE_CHOICE, .count = 3, .n_from = 30, .distinct = true};

    (void)state;
    job_open(&p, 1);
    p.x = job_add(&p, &info);
    ec_expr off = binary(&p, EC_OP_SUB, p.x, ec_graph_constant(p.graph, 1, &n, target));
    objective(&p, sum_of(&p, ec_graph_unary(p.graph, EC_OP_SQUARE, off)), false);
    polish(&p, 1, 5000, genes);
    value(&p, p.x, genes, places);
    assert_memory_equal(places, target, sizeof target);
    job_close(&p);
}

/* ---- constraints and failures ---- */

/* The lightest load that is worth 40, from one that is worth too little: all 1,024 are tried. */
static void test_constraint(void **state)
{
    enum { N = 10 };
    static const double weight[N] = {3.1, 5.7, 2.3, 8.9, 4.4, 6.5, 7.2, 1.9, 9.6, 5.1};
    static const double worth[N] = {5, 9, 3, 16, 6, 12, 11, 2, 17, 9};
    problem p;
    double genes[N] = {0}, bits[N], best = INFINITY, reached = 0;

    (void)state;
    create_bits(&p, N, -1, 2);
    objective(&p, weighted(&p, weight, N), false);
    ec_constraint c = {
        .expr = weighted(&p, worth, N), .min = 40, .max = INFINITY, .tolerance = 0, .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "worth", &c), EC_OK);
    for (int k = 0; k < 1 << N; k++) {
        double w = 0, v = 0;
        for (int i = 0; i < N; i++)
            if (k >> i & 1) {
                w += weight[i];
                v += worth[i];
            }
        best = v >= 40 && w < best ? w : best;
    }
    polish(&p, 1, 3000, genes);
    value(&p, p.x, genes, bits);
    for (int i = 0; i < N; i++)
        reached += bits[i] * worth[i];
    assert_true(reached >= 40 && fabs(cost(&p, genes) - best) < 1e-9);
    job_close(&p);
}

/* Half of the box fails, and so does every neighbour of the start but one. */
static void test_failures(void **state)
{
    enum { N = 12 };
    problem p;
    double genes[2 * N];

    (void)state;
    create_bits(&p, N, -1, 2);
    ec_expr first = ec_graph_slice(p.graph, p.x, 0, 0);
    /* sqrt(-1) where the first bit is 1: NaN */
    ec_expr root = ec_graph_unary(
        p.graph, EC_OP_SQRT,
        binary(&p, EC_OP_SUB, number(&p, 0), binary(&p, EC_OP_MUL, first, number(&p, 1))));
    objective(&p, binary(&p, EC_OP_SUB, root, sum_of(&p, p.x)), false);
    for (int i = 0; i < 2 * N; i++)
        genes[i] = i < N ? 0.9 : 0.1; /* the first design fails */
    assert_true(isnan(cost(&p, genes)) && !isnan(cost(&p, genes + N)));
    polish(&p, 2, 3000, genes);
    assert_true(cost(&p, genes) == -(N - 1) && cost(&p, genes + N) == -(N - 1));
    job_close(&p);
}

/* ---- fidelity, time, signals ---- */

/* minus the number of ones in the search, plus it at final when `lies`; raises a flag in call `at`. */
typedef struct oracle_config {
    bool lies;
    volatile int *flag;
    int calls, at;
} oracle_config;

typedef struct oracle {
    ec_evaluator head;
    oracle_config *config;
    double sign;
} oracle;

static int oracle_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    oracle *o = calloc(1, sizeof *o);
    o->head.def = info->call->def;
    o->head.backend = backend;
    o->config = info->call->config;
    o->sign = info->fidelity == EC_FINAL && o->config->lies ? 1 : -1;
    *evaluator = &o->head;
    return EC_OK;
}

static int oracle_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                      ec_array *const *out, uint8_t *status, size_t n)
{
    oracle *o = (oracle *)evaluator;

    (void)exec;
    (void)status;
    if (++o->config->calls == o->config->at)
        *o->config->flag = 1;
    for (size_t c = 0; c < n; c++)
        ((double *)out[0]->data)[c] = o->sign * ((const double *)in[0]->data)[c];
    return EC_OK;
}

static void oracle_destroy(ec_evaluator **evaluator)
{
    free(*evaluator);
    *evaluator = NULL;
}

static void create_oracle(problem *p, int n, bool lies, volatile int *flag, int at)
{
    static const ec_evaluator_def def = {.name = "oracle",
                                         .plan = oracle_plan,
                                         .run = oracle_run,
                                         .destroy = oracle_destroy,
                                         .config_destroy = free};
    ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {-1000, 1000}};
    oracle_config *config = calloc(1, sizeof *config);
    ec_call *call = NULL;

    create_bits(p, n, -1, 1);
    ec_expr in = sum_of(p, p->x);
    *config = (oracle_config){lies, flag, 0, at};
    assert_int_equal(ec_graph_call(p->graph, &def, config, 1, &in, &call), EC_OK);
    objective(p, ec_graph_call_output(p->graph, call, &output), false);
}

/* What is better in the search but worse at final does not replace a design. */
static void test_final_decides(void **state)
{
    problem p;
    double genes[8], bits[8];

    (void)state;
    for (int lies = 0; lies < 2; lies++) {
        for (int i = 0; i < 8; i++)
            genes[i] = i == 3 ? 0.9 : 0.1;
        create_oracle(&p, 8, lies, NULL, -1);
        polish(&p, 1, 300, genes);
        value(&p, p.x, genes, bits);
        for (int i = 0; i < 8; i++)
            assert_true(bits[i] == (lies ? i == 3 : 1));
        job_close(&p);
    }
}

static void test_time(void **state)
{
    problem p;
    double genes[64];
    bool out_of_time = false;
    int32_t finished = 9;
    ec_polish_info info = {
        .seconds = 0.05, .out_of_time = &out_of_time, .finished = &finished, .seed = 1};

    (void)state;
    for (int i = 0; i < 64; i++)
        genes[i] = 0.1;
    create_oracle(&p, 64, false, NULL, -1);
    assert_int_equal(ec_polish_discrete(p.job, p.backend, &info, 1, genes, NULL, NULL), EC_OK);
    assert_true(out_of_time && finished == 0);
    assert_true(cost(&p, genes) < 0); /* the way up counts */
    /* neither evaluations nor seconds: it would not end */
    info.seconds = 0;
    assert_int_equal(ec_polish_discrete(p.job, p.backend, &info, 1, genes, NULL, NULL),
                     EC_ERR_ARGUMENT);
    job_close(&p);
}

static void test_signal(void **state)
{
    problem p;
    double genes[64], before[64];
    bool out_of_time = true;

    (void)state;
    for (int at = 1; at < 400; at += 57) {
        volatile int flag = 0;
        uint64_t used = 0;
        ec_polish_info info = {.max_evaluations = INT32_MAX,
                               .seconds = 100,
                               .out_of_time = &out_of_time,
                               .interrupt = &flag,
                               .seed = 1};
        for (int i = 0; i < 64; i++)
            before[i] = genes[i] = i % 5 ? 0.25 : 0.75;
        create_oracle(&p, 64, false, &flag, at);
        assert_int_equal(ec_polish_discrete(p.job, p.backend, &info, 1, genes, NULL, &used), EC_OK);
        assert_false(out_of_time);
        assert_true(cost(&p, genes) <= cost(&p, before));
        job_close(&p);
    }
}

/* ---- the same bits ---- */

static void test_determinism(void **state)
{
    enum { N = 40, DESIGNS = 3 };
    double reference[DESIGNS * N];
    uint64_t used = 0;

    (void)state;
    for (int threads = 1; threads <= 5; threads += 2) {
        problem p;
        double genes[DESIGNS * N], matrix[N * N];
        for (int i = 0; i < DESIGNS * N; i++)
            genes[i] = (i * 31 % 17) / 17.0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                matrix[i * N + j] = cos(i * j * 0.7 + i);
        create_bits(&p, N, 20, threads);
        ec_expr y = ec_graph_matvec(p.graph, p.x, N, matrix);
        objective(&p, ec_graph_unary(p.graph, EC_OP_RMAX, ec_graph_unary(p.graph, EC_OP_ABS, y)),
                  false);
        uint64_t n = polish(&p, DESIGNS, 4000, genes);
        if (threads == 1) {
            memcpy(reference, genes, sizeof genes);
            used = n;
        }
        assert_memory_equal(reference, genes, sizeof genes);
        assert_int_equal(used, n);
        job_close(&p);
    }
}

/* ---- within a search ---- */

/* A whole and a real number: local search and gradients by turns. */
static void test_mixed(void **state)
{
    problem p;
    double lo = -20, hi = 20;
    ec_solve_info info;
    ec_result *r = NULL;
    ec_variable_info whole = {.name = "n", .kind = EC_VARIABLE_INTEGER, .min = &lo, .max = &hi};
    ec_variable_info real = {.name = "x", .kind = EC_VARIABLE_REAL, .min = &lo, .max = &hi};

    (void)state;
    job_open(&p, 1);
    ec_expr n = job_add(&p, &whole), x = job_add(&p, &real);
    /* (n - 7.3)^2 + (x - n/8)^2: 0.09 at n = 7, x = 0.875 */
    ec_expr a = binary(&p, EC_OP_SUB, n, number(&p, 7.3));
    ec_expr b = binary(&p, EC_OP_SUB, x, binary(&p, EC_OP_MUL, n, number(&p, 0.125)));
    objective(&p,
              binary(&p, EC_OP_ADD, ec_graph_unary(p.graph, EC_OP_SQUARE, a),
                     ec_graph_unary(p.graph, EC_OP_SQUARE, b)),
              false);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 8;
    info.generations = 2;
    info.polish = true;
    info.polish_designs = 1;
    if (ec_solve(p.job, p.backend, &info, &r) != EC_OK)
        fail_msg("%s", ec_error_text());
    assert_true(r->variable[0][0] == 7 && fabs(r->variable[1][0] - 0.875) < 1e-4);
    assert_true(fabs(r->objective_final[0] - 0.09) < 1e-8);
    assert_true(r->polish_finished == 1 && !r->polish_capped && r->polish_evaluations > 100);
    ec_result_destroy(&r);
    job_close(&p);
}

/* Genes that a group shares are moved as well, and real genes stay. */
static void test_groups(void **state)
{
    problem p;
    double lo = 0, hi = 1, genes[1] = {0.25}, group[6] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, bits[6];
    double *out = bits;
    ec_polish_info info = {.max_evaluations = 200, .seed = 1};
    ec_variable_info real = {.name = "x", .kind = EC_VARIABLE_REAL, .min = &lo, .max = &hi};
    ec_variable_info shared = {
        .name = "b", .kind = EC_VARIABLE_BINARY, .count = 6, .sum = -1, .group = true};

    (void)state;
    job_open(&p, 1);
    ec_expr x = job_add(&p, &real), b = job_add(&p, &shared);
    objective(&p, binary(&p, EC_OP_ADD, x, sum_of(&p, b)), true);
    assert_int_equal(
        ec_evaluate_once(p.graph, p.backend, EC_FINAL, 1, &b, genes, 1, group, 6, &out, NULL, NULL),
        EC_OK);
    for (int i = 0; i < 6; i++)
        assert_true(bits[i] == 0);
    assert_int_equal(ec_polish_discrete(p.job, p.backend, &info, 1, genes, group, NULL), EC_OK);
    assert_true(genes[0] == 0.25);
    assert_int_equal(
        ec_evaluate_once(p.graph, p.backend, EC_FINAL, 1, &b, genes, 1, group, 6, &out, NULL, NULL),
        EC_OK);
    for (int i = 0; i < 6; i++)
        assert_true(bits[i] == 1);
    job_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours),    cmocka_unit_test(test_no_neighbours),
        cmocka_unit_test(test_onemax),        cmocka_unit_test(test_swaps),
        cmocka_unit_test(test_trap),          cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_constraint),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_final_decides), cmocka_unit_test(test_time),
        cmocka_unit_test(test_signal),        cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_mixed),         cmocka_unit_test(test_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
