/* test_optimizers.c: what every method of ec_optimizer_table has to hold, and the guide's example of one
 * (extend/climb.h), whatever it is: no design
 * leaves its bounds, a constant that is added to the costs changes nothing (unless the method's flags
 * say otherwise), NaN never wins, the smallest population works, a budget is kept to the design,
 * and a state that was saved after any generation goes on with the same bits. Traps of other tools:
 * reference page "What breaks other tools". */
#include "extend/climb.h"
#include "method_options.h"
#include "solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { GENES = 6, POPULATION = 24 };

/* What is searched: real genes in [-2, 2], or bits, for methods that refuse real ones. Gene 3 is
 * fixed. ABSENT: the method refuses both, as one of a library that was built without it does. */
typedef enum space { REAL, BITS, ABSENT } space;

static void make_genes(space s, ec_gene genes[GENES])
{
    for (int g = 0; g < GENES; g++) {
        genes[g] = s == REAL ? (ec_gene){.min = -2, .max = 2}
                             : (ec_gene){.min = 0, .max = 1, .integral = true};
        if (g == 3)
            genes[g].max = genes[g].min = s == REAL ? 0.5 : 1;
    }
}

/* ---- objectives: cost and gradient of decoded genes ---- */

typedef double objective(space s, const double *x, double *gradient);

static double smooth(space s, const double *x, double *gradient)
{
    double f = 0;

    for (int g = 0; g < GENES; g++) {
        double t = x[g] - (s == REAL ? 0.4 - 0.1 * g : g % 2);
        f += (1 + g) * t * t + (g ? 0.5 * t * (x[g - 1] - 0.2) : 0);
        gradient[g] = 2 * (1 + g) * t + (g ? 0.5 * (x[g - 1] - 0.2) : 0);
        if (g)
            gradient[g - 1] += 0.5 * t;
    }
    return f + 8;
}

/* In multiples of 2^-20, where a constant adds without rounding. */
static double dyadic(space s, const double *x, double *gradient)
{
    return floor(smooth(s, x, gradient) * 1048576.0) / 1048576.0;
}

static double half_nan(space s, const double *x, double *gradient)
{
    double f = smooth(s, x, gradient);

    return x[0] < (s == REAL ? 0 : 0.5) ? NAN : f;
}

static double nothing(space s, const double *x, double *gradient)
{
    smooth(s, x, gradient);
    return NAN;
}

static double flat(space s, const double *x, double *gradient)
{
    (void)s;
    (void)x;
    memset(gradient, 0, GENES * sizeof *gradient);
    return 1;
}

/* ---- a run ---- */

typedef struct run_info {
    const ec_optimizer_def *def;
    objective *f;
    double add; /* to every cost */
    size_t population, evaluations, generations;
    const double *start;
    size_t n_start, save_at;
} run_info;

typedef struct run_result {
    uint64_t path; /* hash over all designs in their order */
    ec_optimizer_stats stats;
    size_t generations;
    size_t found; /* elite, best first */
    double cost[4096];
    uint8_t status[4096];
    double best[GENES];
} run_result;

typedef struct pool {
    double *cost, *violation, *gradient;
    uint8_t *status;
    size_t ld;
} pool;

static uint32_t flags_of(const ec_optimizer_def *def)
{
    return def->needs ? def->needs(def, NULL) : def->flags;
}

static bool repeats(const ec_optimizer_def *def)
{
    return !(flags_of(def) & EC_OPTIMIZER_UNREPEATABLE);
}

static space space_of(const ec_optimizer_def *def, ec_backend *backend)
{
    ec_gene genes[GENES];
    double options[EC_METHOD_OPTIONS_MAX];
    ec_optimizer_info info = {.genes = genes, .n_genes = GENES, .seed = 1, .options = options};
    ec_optimizer *optimizer = NULL;
    int s = REAL;

    ec_method_options(def, NULL, options);
    for (; s < ABSENT; s++) {
        make_genes((space)s, genes);
        if (def->create(def, backend, &info, &optimizer) == EC_OK)
            break;
    }
    if (optimizer)
        def->destroy(&optimizer);
    return (space)s;
}

static void score(const run_info *r, space s, const ec_gene *genes, const ec_array *X, pool *p,
                  size_t n, uint64_t *path)
{
    const double *data = X->data;

    for (size_t c = 0; c < n; c++) {
        double x[GENES], gradient[GENES];
        for (size_t g = 0; g < GENES; g++) {
            x[g] = data[g * X->ld + c];
            assert_true(x[g] >= genes[g].min && x[g] <= genes[g].max);
            uint64_t bits;
            memcpy(&bits, &x[g], sizeof bits);
            *path = (*path ^ bits ^ bits >> 32) * 0x100000001b3u;
            if (s == BITS)
                x[g] = x[g] >= 0.5;
        }
        p->cost[c] = r->f(s, x, gradient) + r->add;
        p->violation[c] = 0;
        p->status[c] = 0;
        for (size_t g = 0; g < GENES; g++)
            p->gradient[g * p->ld + c] = gradient[g];
    }
}

static void reload(ec_backend *backend, const ec_optimizer_info *info, const int32_t *stop,
                   ec_optimizer **optimizer)
{
    const ec_optimizer_def *def = (*optimizer)->def;
    void *blob;
    size_t bytes;

    if (def->save(*optimizer, &blob, &bytes) != EC_OK)
        fail_msg("%s: %s", def->name, ec_error_text());
    def->destroy(optimizer);
    assert_int_equal(def->create(def, backend, info, optimizer), EC_OK);
    def->set_stop_flag(*optimizer, stop);
    if (def->load(*optimizer, blob, bytes) != EC_OK)
        fail_msg("%s: %s", def->name, ec_error_text());
    free(blob);
}

static void check_end(const run_info *r, ec_optimizer *optimizer, run_result *result)
{
    const ec_optimizer_def *def = r->def;
    size_t most = def->max_population(optimizer);

    assert_true(most <= sizeof result->cost / sizeof *result->cost);
    double *rows = malloc(most * GENES * sizeof *rows);
    assert_non_null(rows);
    result->stats = *def->stats(optimizer);
    assert_int_equal(
        def->elite(optimizer, most, rows, result->cost, NULL, result->status, &result->found),
        EC_OK);
    free(rows);
    assert_true(result->found <= most && result->found > 0);
    size_t one;
    assert_int_equal(def->elite(optimizer, 1, result->best, NULL, NULL, NULL, &one), EC_OK);
    assert_int_equal(one, 1);
}

static void run(const run_info *r, run_result *result)
{
    const ec_optimizer_def *def = r->def;
    ec_backend_info cpu = {"cpu", 1, NULL, NULL};
    ec_gene genes[GENES];
    double options[EC_METHOD_OPTIONS_MAX];
    ec_backend *backend;
    ec_optimizer *optimizer = NULL;
    size_t done = 0, room = 8192, generation = 0;
    const int32_t stop = 0;
    pool p = {malloc(room * sizeof(double)), malloc(room * sizeof(double)),
              malloc(GENES * room * sizeof(double)), malloc(room), room};

    memset(result, 0, sizeof *result);
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    space s = space_of(def, backend);
    make_genes(s, genes);
    assert_true(ec_method_options(def, NULL, options));
    ec_optimizer_info info = {.genes = genes,
                              .n_genes = GENES,
                              .population = r->population,
                              .seed = 7,
                              .evaluations = r->evaluations,
                              .generations = r->generations,
                              .start = r->start,
                              .n_start = r->n_start,
                              .options = options};
    if (def->create(def, backend, &info, &optimizer) != EC_OK)
        fail_msg("%s: %s", def->name, ec_error_text());
    def->set_stop_flag(optimizer, &stop);
    assert_true(def->max_population(optimizer) <= room);
    for (; (!r->evaluations || done < r->evaluations) &&
           (!r->generations || generation < r->generations);
         generation++) {
        ec_array X, XG;
        const int32_t *map;
        size_t n;
        if (r->save_at && generation == r->save_at)
            reload(backend, &info, &stop, &optimizer);
        assert_int_equal(def->propose(optimizer, &X, &XG, &map, &n), EC_OK);
        assert_true(n <= def->max_population(optimizer));
        if (n == 0) /* the method has come to its end */
            break;
        if (r->evaluations && n > r->evaluations - done)
            n = r->evaluations - done;
        score(r, s, genes, &X, &p, n, &result->path);
        ec_scores scores = {.cost = p.cost,
                            .violation = p.violation,
                            .status = p.status,
                            .ld = p.ld,
                            .cost_gradient =
                                flags_of(def) & EC_OPTIMIZER_GRADIENT ? p.gradient : NULL};
        assert_int_equal(def->take(optimizer, &scores, n), EC_OK);
        done += n;
    }
    check_end(r, optimizer, result);
    result->generations = generation;
    assert_int_equal(result->stats.evaluations, done);
    assert_int_equal(result->stats.generation, generation);
    free(p.cost);
    free(p.violation);
    free(p.gradient);
    free(p.status);
    def->destroy(&optimizer);
    assert_null(optimizer);
    ec_backend_destroy(&backend);
}

/* Calls `test` with every method that there is, and says which one when it fails. */
static const char *tested;
static void each(void (*test)(const ec_optimizer_def *def))
{
    const ec_optimizer_def *const example[] = {&ec_climb_method, NULL};
    const ec_optimizer_def *const *lists[] = {ec_optimizer_table(), example};
    ec_backend_info cpu = {"cpu", 1, NULL, NULL};
    ec_backend *backend;

    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    for (int i = 0; i < 2; i++)
        for (const ec_optimizer_def *const *def = lists[i]; *def; def++) {
            tested = (*def)->name;
            if (space_of(*def, backend) != ABSENT)
                test(*def);
        }
    ec_backend_destroy(&backend);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s", tested, #condition);                                                \
    } while (0)

static run_result a, b; /* too large for the stack */

/* ---- what has to hold ---- */

static void finds(const ec_optimizer_def *def)
{
    run_info r = {.def = def, .f = smooth, .evaluations = 6000};

    run(&r, &a);
    CHECK(a.stats.best_class == 0 && a.stats.failed == 0);
    CHECK(a.cost[0] == a.stats.best_cost);
    CHECK(a.best[3] == 0.5 || a.best[3] == 1);
    for (size_t i = 1; i < a.found; i++)
        CHECK(a.cost[i] >= a.cost[i - 1]);
    r.generations = 1;
    run(&r, &b);
    CHECK(a.cost[0] <= b.cost[0]);
    run(&r, &a);
    CHECK(a.path == b.path || !repeats(def)); /* the same seed */
}

static void ignores_constants(const ec_optimizer_def *def)
{
    static const double constants[] = {1, 100, -10};
    run_info r = {.def = def, .f = dyadic, .population = POPULATION, .evaluations = 1500};

    if (flags_of(def) & EC_OPTIMIZER_ABSOLUTE || !repeats(def))
        return;
    run(&r, &a);
    for (int i = 0; i < 3; i++) {
        r.add = constants[i];
        run(&r, &b);
        CHECK(a.path == b.path);
        CHECK(a.generations == b.generations && a.found == b.found);
        CHECK(a.stats.spread == b.stats.spread);
        CHECK(a.cost[0] + r.add == b.cost[0]);
    }
}

static void keeps_nan_out(const ec_optimizer_def *def)
{
    double start[POPULATION * GENES];
    run_info r = {.def = def, .f = half_nan, .population = POPULATION, .evaluations = 3000};

    run(&r, &a);
    CHECK(isfinite(a.stats.best_cost) && a.stats.best_class == 0);
    CHECK(a.stats.failed > 0);
    for (size_t i = 0; i < a.found; i++)
        CHECK(!isnan(a.cost[i]) || a.status[i]);
    /* every start in the half that fails, and outside of the bounds */
    for (int i = 0; i < POPULATION * GENES; i++)
        start[i] = i % GENES == 0 ? -0.1 - i : 0.01 * i - 0.7;
    r.start = start;
    r.n_start = POPULATION;
    run(&r, &a);
    for (size_t i = 0; i < a.found; i++)
        CHECK(!isnan(a.cost[i]) || a.status[i]);
    r.f = nothing;
    r.evaluations = 500;
    run(&r, &a);
    CHECK(a.stats.best_class == 2 && a.stats.failed == a.stats.evaluations);
    r.f = flat;
    run(&r, &a);
    CHECK(a.stats.best_cost == 1 && a.stats.best_class == 0);
}

static void works_when_smallest(const ec_optimizer_def *def)
{
    run_info r = {.def = def, .f = smooth, .evaluations = 400};

    r.population = def->min_population > 0 ? def->min_population : 1;
    run(&r, &a);
    CHECK(isfinite(a.stats.best_cost));
    if (def->min_population < 2)
        return;
    ec_backend_info cpu = {"cpu", 1, NULL, NULL};
    ec_backend *backend;
    ec_optimizer *optimizer = NULL;
    ec_gene genes[GENES];
    double options[EC_METHOD_OPTIONS_MAX];
    char number[24];
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    make_genes(space_of(def, backend), genes);
    ec_method_options(def, NULL, options);
    ec_optimizer_info info = {.genes = genes,
                              .n_genes = GENES,
                              .population = def->min_population - 1,
                              .seed = 1,
                              .options = options};
    CHECK(def->create(def, backend, &info, &optimizer) < 0);
    CHECK(strstr(ec_error_text(), "population"));
    snprintf(number, sizeof number, "%zu", def->min_population);
    CHECK(strstr(ec_error_text(), number));
    ec_backend_destroy(&backend);
}

static void keeps_budgets(const ec_optimizer_def *def)
{
    static const size_t budgets[] = {1, 17, 997, 1003};

    for (int i = 0; i < 4; i++) {
        run_info r = {.def = def, .f = smooth, .population = POPULATION, .evaluations = budgets[i]};
        run(&r, &a); /* which compares what was given with the statistics */
        CHECK(a.stats.evaluations <= budgets[i]);
    }
}

static void goes_on(const ec_optimizer_def *def)
{
    run_info r = {.def = def, .f = half_nan, .population = POPULATION, .evaluations = 700};

    if (!repeats(def))
        return;
    run(&r, &a);
    for (r.save_at = 1; r.save_at < a.generations; r.save_at += 1 + r.save_at / 2) {
        run(&r, &b);
        CHECK(a.path == b.path);
        CHECK(memcmp(&a.stats, &b.stats, sizeof a.stats) == 0);
        CHECK(a.found == b.found && memcmp(a.cost, b.cost, a.found * sizeof *a.cost) == 0);
    }
}

/* ---- the same through the solve loop, whose chunks are the batches ---- */

static void solve_in_chunks(const ec_optimizer_def *def, size_t chunk, ec_result **result)
{
    double min[GENES], max[GENES], target[GENES];
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_backend_info cpu = {.name = "cpu", .threads = 2};
    ec_solve_info info;
    int32_t n = GENES;

    for (int g = 0; g < GENES; g++) {
        min[g] = -2;
        max[g] = 2;
        target[g] = 0.4 - 0.1 * g;
    }
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    space s = space_of(def, backend);
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    assert_int_equal(ec_job_create(graph, "chunks", 5, &job), EC_OK);
    ec_variable_info x = {.name = "x",
                          .kind = s == REAL ? EC_VARIABLE_REAL : EC_VARIABLE_BINARY,
                          .count = n,
                          .min = min,
                          .max = max,
                          .sum = -1};
    assert_int_equal(ec_job_add_variable(job, &x), 0);
    ec_expr off = ec_graph_binary(graph, EC_OP_SUB, ec_job_variable(job, 0)->value,
                                  ec_graph_constant(graph, 1, &n, target));
    ec_expr cost = ec_graph_unary(graph, EC_OP_NORM, off);
    assert_int_equal(ec_job_add_objective(job, "f", cost, false, 0), EC_OK);
    ec_solve_info_default(&info);
    info.own_method = def;
    info.evaluations = 2500;
    info.chunk = chunk;
    if (ec_solve(job, backend, &info, result) != EC_OK)
        fail_msg("%s: %s", def->name, ec_error_text());
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
}

static bool same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static void ignores_chunks(const ec_optimizer_def *def)
{
    static const size_t chunks[] = {1, 7, 1024};
    ec_result *whole, *cut;

    if (!repeats(def))
        return;
    solve_in_chunks(def, 0, &whole);
    for (int i = 0; i < 3; i++) {
        solve_in_chunks(def, chunks[i], &cut);
        CHECK(memcmp(whole->genes, cut->genes, GENES * sizeof *cut->genes) == 0);
        CHECK(whole->n_history == cut->n_history && whole->evaluations == cut->evaluations);
        for (size_t k = 0; k < whole->n_history; k++) {
            const ec_history_row *x = &whole->history[k], *y = &cut->history[k];
            CHECK(same(x->best, y->best) && same(x->spread, y->spread) &&
                  same(x->median, y->median));
        }
        ec_result_destroy(&cut);
    }
    ec_result_destroy(&whole);
}

#define TEST(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        each(name);                                                                                \
    }
TEST(finds)
TEST(ignores_constants)
TEST(keeps_nan_out)
TEST(works_when_smallest)
TEST(keeps_budgets)
TEST(goes_on)
TEST(ignores_chunks)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),          cmocka_unit_test(test_ignores_constants),
        cmocka_unit_test(test_keeps_nan_out),  cmocka_unit_test(test_works_when_smallest),
        cmocka_unit_test(test_keeps_budgets),  cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_ignores_chunks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
