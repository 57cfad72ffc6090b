/* test_aco.c: the ant colony on the CPU: it solves what it should, its codes and sets hold, and the
 * traps of other tools (reference page "What breaks other tools"). */
#include "optimizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GENES_MAX = 256 };

/* Options in the order of the method's table; NAN: automatic. */
enum { COLONIES, EXCHANGE, RULE, BITS, EVAPORATION, ELITE, RESTART, DEPOSIT, COST_FLOOR, OPTIONS };
static const double automatic[OPTIONS] = {1, 0, 0, NAN, NAN, 0.5, NAN, 1, 1e-3};

/* ---- a run ---- */

typedef struct score {
    double cost, violation;
    uint8_t status;
} score;
typedef score objective(const double *x, size_t n);

typedef struct run_info {
    objective *f;
    ec_optimizer_info info; /* genes may be NULL: all binary */
    double option[OPTIONS];
    int threads; /* 0: 1 */
    const char *isa;
    size_t save_at; /* generation after which the state goes through save and load */
    double target;  /* ends the run */
} run_info;

typedef struct run_result {
    ec_optimizer_stats stats;
    uint64_t path; /* hash over every proposed design and its order */
    double best[GENES_MAX];
    double cost;
} run_result;

static run_info binary_run(objective *f, size_t n)
{
    run_info r = {.f = f, .target = -INFINITY};

    r.info = (ec_optimizer_info){.n_genes = n, .seed = 1, .generations = 100};
    memcpy(r.option, automatic, sizeof r.option);
    return r;
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

typedef struct pool {
    double *cost, *violation;
    uint8_t *status;
} pool;

static void evaluate(const run_info *r, const ec_array *X, pool *p, size_t n, uint64_t *path)
{
    const double *x = X->data;

    for (size_t c = 0; c < n; c++) {
        double row[GENES_MAX];
        for (size_t g = 0; g < X->elements; g++)
            row[g] = x[g * X->ld + c];
        score s = r->f(row, X->elements);
        p->cost[c] = s.cost;
        p->violation[c] = s.violation;
        p->status[c] = s.status;
        *path = hash_bytes(*path, row, X->elements * sizeof *row);
    }
}

static void reload(const ec_optimizer_def *def, ec_backend *backend, const ec_optimizer_info *info,
                   ec_optimizer **optimizer)
{
    void *blob;
    size_t bytes;

    assert_int_equal(def->save(*optimizer, &blob, &bytes), EC_OK);
    def->destroy(optimizer);
    assert_null(*optimizer);
    assert_int_equal(def->create(def, backend, info, optimizer), EC_OK);
    assert_int_equal(def->load(*optimizer, blob, bytes), EC_OK);
    free(blob);
}

/* Runs until the generations of r->info or the target. */
static run_result run(const run_info *r)
{
    const ec_optimizer_def *def = ec_optimizer_find("aco");
    ec_backend_info backend_info = {"cpu", r->threads ? r->threads : 1, r->isa, NULL};
    ec_optimizer_info info = r->info;
    ec_gene *genes = calloc(info.n_genes, sizeof *genes);
    ec_backend *backend;
    ec_optimizer *optimizer;
    run_result result = {.path = 0xcbf29ce484222325u};

    assert_non_null(def);
    assert_int_equal(def->n_options, OPTIONS);
    for (size_t i = 0; i < info.n_genes; i++) {
        genes[i].max = 1;
        genes[i].integral = true;
    }
    info.genes = info.genes ? info.genes : genes;
    info.options = r->option;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
    size_t room = ec_lane_ld(def->max_population(optimizer)), done = 0;
    pool p = {malloc(room * sizeof(double)), malloc(room * sizeof(double)), malloc(room)};
    for (size_t generation = 0; generation < info.generations; generation++) {
        ec_array X, XG;
        const int32_t *map = NULL;
        size_t n;
        if (r->save_at && generation == r->save_at)
            reload(def, backend, &info, &optimizer);
        assert_int_equal(def->propose(optimizer, &X, &XG, &map, &n), EC_OK);
        assert_int_equal(n, def->max_population(optimizer));
        if (info.evaluations && n > info.evaluations - done)
            n = info.evaluations - done;
        evaluate(r, &X, &p, n, &result.path);
        ec_scores scores = {
            .cost = p.cost, .violation = p.violation, .status = p.status, .ld = room};
        assert_int_equal(def->take(optimizer, &scores, n), EC_OK);
        done += n;
        if (def->stats(optimizer)->best_cost <= r->target)
            break;
    }
    size_t found = 0;
    result.stats = *def->stats(optimizer);
    assert_int_equal(def->elite(optimizer, 1, result.best, &result.cost, NULL, NULL, &found),
                     EC_OK);
    assert_int_equal(found, 1);
    assert_true(memcmp(&result.cost, &result.stats.best_cost, sizeof result.cost) == 0);
    assert_int_equal(result.stats.evaluations, done);
    free(p.cost);
    free(p.violation);
    free(p.status);
    def->destroy(&optimizer);
    ec_backend_destroy(&backend);
    free(genes);
    return result;
}

/* ---- objectives ---- */

static int bit(double gene)
{
    return gene >= 0.5;
}

static score ones(const double *x, size_t n)
{
    score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++)
        s.cost -= bit(x[i]);
    return s;
}

/* Blocks of three whose optimum 111 lies away from where single bits lead (Goldberg 1987). */
static score trap(const double *x, size_t n)
{
    score s = {0, 0, 0};

    for (size_t i = 0; i < n; i += 3) {
        int u = bit(x[i]) + bit(x[i + 1]) + bit(x[i + 2]);
        s.cost -= u == 3 ? 3 : 2 - u;
    }
    return s;
}

/* Different weights, in multiples of 2^-20. */
static score weighted(const double *x, size_t n)
{
    score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++)
        s.cost += (bit(x[i]) != (int)(i % 3 == 0)) * (double)(i * 7919 % 1048573) / 1048576.0;
    return s;
}

static score weighted_1(const double *x, size_t n)
{
    score s = weighted(x, n);

    s.cost += 1;
    return s;
}

static score weighted_100(const double *x, size_t n)
{
    score s = weighted(x, n);

    s.cost += 100;
    return s;
}

static score weighted_minus_10(const double *x, size_t n)
{
    score s = weighted(x, n);

    s.cost -= 10;
    return s;
}

static score half_nan(const double *x, size_t n)
{
    score s = weighted(x, n);

    s.cost = bit(x[0]) ? s.cost : NAN;
    return s;
}

static score all_nan(const double *x, size_t n)
{
    score s = {NAN, 0, 0};

    (void)x;
    (void)n;
    return s;
}

/* Everything wrong that there is, by the first three bits. */
static score hostile(const double *x, size_t n)
{
    score s = weighted(x, n);

    switch (bit(x[0]) + 2 * bit(x[1]) + 4 * bit(x[2])) {
    case 0:
        s.cost = -INFINITY;
        break;
    case 1:
        s.status = EC_CANDIDATE_EVALUATOR;
        break;
    case 2:
        s.violation = NAN;
        break;
    case 3:
        s.violation = INFINITY;
        break;
    case 4:
        s.violation = 0.5;
        s.cost -= 1000;
        break;
    default:
        break;
    }
    return s;
}

/* ---- solving ---- */

static void test_one_max(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 3; seed++) {
        run_info r = binary_run(ones, 200);
        r.info.seed = (uint64_t)seed;
        r.info.generations = 2000;
        r.target = -200;
        assert_true(run(&r).cost == -200);
    }
}

static void test_trap(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 3; seed++) {
        run_info r = binary_run(trap, 30);
        r.info.seed = (uint64_t)seed;
        r.info.generations = 25000;
        r.target = -30;
        assert_true(run(&r).cost == -30);
    }
}

static void test_proportional(void **state)
{
    run_info r = binary_run(weighted_1, 40);

    (void)state;
    r.option[RULE] = 1;
    r.info.generations = 3000;
    double proportional = run(&r).cost;
    r.info.generations = 1;
    double random = run(&r).cost;
    r.option[RULE] = 0;
    r.info.generations = 3000;
    assert_true(run(&r).cost == 1);
    /* every ant deposits: it learns, but slowly */
    assert_true(proportional < 1 + 0.8 * (random - 1));
    /* costs of zero and below */
    r = binary_run(ones, 40);
    r.option[RULE] = 1;
    assert_true(isfinite(run(&r).cost));
}

/* ---- codes ---- */

static const ec_gene mixed[] = {
    {.min = -0.5, .max = 9.5, .integral = true}, /* ten integers in four bits */
    {.min = -1, .max = 3},                       /* real */
    {.min = 2, .max = 2},                        /* fixed */
    {.max = 3, .integral = true},                /* a choice of three */
    {.max = 1, .integral = true},                /* binary */
    {.min = -1000.5, .max = 66000.5, .integral = true},
};
static int seen[10];

static score mixed_cost(const double *x, size_t n)
{
    score s = {0, 0, 0};

    assert_int_equal(n, 6);
    assert_true(x[0] == floor(x[0]) && x[0] >= 0 && x[0] <= 9);
    assert_true(x[1] >= -1 && x[1] <= 3);
    double code = (x[1] + 1) / 4 * 255;
    assert_true(fabs(code - round(code)) < 1e-9);
    assert_true(x[2] == 2);
    assert_true(x[3] == 0.5 || x[3] == 1.5 || x[3] == 2.5);
    assert_true(x[4] == 0.25 || x[4] == 0.75);
    assert_true(x[5] == floor(x[5]) && x[5] >= -1000 && x[5] <= 66000);
    seen[(int)x[0]]++;
    s.cost = fabs(x[0] - 7) + fabs(x[1] - 3) + fabs(x[3] - 1.5) + fabs(x[4] - 0.25) +
             fabs(x[5] - 12345) * 1e-3;
    return s;
}

static void test_codes(void **state)
{
    run_info r = binary_run(mixed_cost, 6);

    (void)state;
    memset(seen, 0, sizeof seen);
    r.info.genes = mixed;
    r.info.generations = 20000;
    r.target = 0;
    run_result a = run(&r);
    assert_true(a.cost == 0);
    assert_true(a.best[5] == 12345);
    for (int i = 0; i < 10; i++)
        assert_true(seen[i] > 0);
    /* 32 bits: every code fits */
    r.option[BITS] = 32;
    r.f = ones;
    r.info.generations = 10;
    run(&r);
}

static const double *wanted_row;

static score follows_start(const double *x, size_t n)
{
    score s = {1, 0, 0};

    if (memcmp(x, wanted_row, n * sizeof *x) == 0)
        s.cost = 0;
    return s;
}

/* The first ant is the start design, to the nearest code. */
static void test_start(void **state)
{
    const double start[] = {7, -1 + 4 * 200.3 / 255, 5, 2.2, 0.6, 4321};
    const double expected[] = {7, -1 + 200.0 / 255 * 4, 2, 2.5, 0.75, 4321};
    run_info r = binary_run(follows_start, 6);

    (void)state;
    wanted_row = expected;
    r.info.genes = mixed;
    r.info.start = start;
    r.info.n_start = 1;
    r.info.generations = 1;
    run_result a = run(&r);
    assert_true(a.cost == 0);
    assert_memory_equal(a.best, expected, sizeof expected);
}

/* ---- sets ---- */

static int set_counts[12];

/* Genes 0 to 11 have four ones, gene 12 is free, 13 to 20 have seven. */
static score set_cost(const double *x, size_t n)
{
    score s = {0, 0, 0};
    int first = 0, second = 0;

    for (size_t i = 0; i < n; i++) {
        first += i < 12 && bit(x[i]);
        second += i > 12 && bit(x[i]);
        if (i < 12)
            set_counts[i] += bit(x[i]);
    }
    assert_int_equal(first, 4);
    assert_int_equal(second, 7);
    for (size_t i = 0; i < 12; i++)
        s.cost += bit(x[i]) * (double)(i * 5 % 12);
    return s;
}

static void test_sets(void **state)
{
    ec_gene genes[21];
    run_info r = binary_run(set_cost, 21);

    (void)state;
    for (uint32_t i = 0; i < 21; i++)
        genes[i] = (ec_gene){.max = 1,
                             .integral = true,
                             .set = i < 12   ? 1
                                    : i > 12 ? 2
                                             : 0,
                             .ones = i < 12   ? 4
                                     : i > 12 ? 7
                                              : 0};
    r.info.genes = genes;
    memset(set_counts, 0, sizeof set_counts);
    r.info.generations = 1;
    r.info.population = 12000;
    run(&r);
    for (int i = 0; i < 12; i++) /* 4000 on average, deviation 52 */
        assert_true(abs(set_counts[i] - 4000) < 250);
    r.info.population = 0;
    r.info.generations = 300;
    assert_true(run(&r).cost == 0 + 1 + 2 + 3);
}

/* ---- colonies ---- */

static void test_colonies(void **state)
{
    run_info r = binary_run(weighted, 150);

    (void)state;
    r.info.population = 11;
    r.info.generations = 40;
    r.option[COLONIES] = 13;
    r.option[EVAPORATION] = 0.1;
    run_result a = run(&r);
    assert_int_equal(a.stats.population, 13 * 11);
    /* independent colonies: an exchange changes what follows it, nothing before */
    r.option[EXCHANGE] = 41;
    assert_true(run(&r).path == a.path);
    r.option[EXCHANGE] = 5;
    run_result b = run(&r);
    assert_true(b.path != a.path);
    assert_true(b.cost < a.cost);
    r.threads = 3;
    assert_true(run(&r).path == b.path);
}

/* ---- traps ---- */

static void test_constant_offset(void **state)
{
    objective *const shifted[] = {weighted_1, weighted_100, weighted_minus_10};
    const double by[] = {1, 100, -10};
    run_info r = binary_run(weighted, 60);

    (void)state;
    r.option[RESTART] = 30;
    r.info.generations = 300;
    run_result a = run(&r);
    for (int i = 0; i < 3; i++) {
        r.f = shifted[i];
        run_result b = run(&r);
        assert_true(a.path == b.path);
        assert_true(a.cost + by[i] == b.cost);
        assert_true(a.stats.spread == b.stats.spread);
    }
    r.info.seed = 6;
    assert_true(run(&r).path != a.path);
    r.info.seed = 1;
    r.info.island = 1;
    assert_true(run(&r).path != a.path);
}

static void test_threads_and_levels(void **state)
{
    static const char *const levels[] = {"v1", "v3", "v4"};

    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        run_info r = binary_run(weighted_1, 77);
        r.info.population = 1003;
        r.info.generations = 20;
        r.option[RULE] = rule;
        run_result a = run(&r);
        for (int t = 2; t <= 7; t += 5) {
            r.threads = t;
            run_result b = run(&r);
            assert_true(a.path == b.path);
            assert_true(memcmp(&a.stats, &b.stats, sizeof a.stats) == 0);
        }
        for (int i = 0; i <= ec_isa_detect() && strcmp(ec_isa_name(i), levels[i]) == 0; i++) {
            r.isa = levels[i];
            assert_true(run(&r).path == a.path);
        }
    }
}

static void test_half_nan(void **state)
{
    run_info r = binary_run(half_nan, 64);
    double start[64 * 40];

    (void)state;
    for (int i = 0; i < 64 * 40; i++) /* every ant starts in the NaN half */
        start[i] = i % 64 == 0 ? 0.25 : i % 5 == 0 ? 0.75 : 0.25;
    r.info.start = start;
    r.info.n_start = 40;
    r.info.generations = 400;
    run_result a = run(&r);
    assert_true(isfinite(a.cost) && a.cost == 0);
    assert_int_equal(a.stats.best_class, 0);
    assert_true(a.stats.failed >= 40);
    r.f = all_nan;
    a = run(&r);
    assert_int_equal(a.stats.best_class, 2);
    assert_int_equal(a.stats.failed, a.stats.evaluations);
    assert_int_equal(a.stats.feasible, 0);
}

/* No NaN in what the optimizer holds, also of failed designs. */
static void test_hostile(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        run_info r = binary_run(hostile, 30);
        r.info.generations = 500;
        r.option[RULE] = rule;
        r.option[EVAPORATION] = 0.05;
        run_result a = run(&r);
        assert_true(isfinite(a.cost));
        assert_int_equal(a.stats.best_class, 0);
        for (int g = 0; g < 30; g++)
            assert_true(a.best[g] == 0.25 || a.best[g] == 0.75);
    }
}

static void test_save_and_load(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        run_info r = binary_run(weighted_1, 101);
        r.option[RULE] = rule;
        r.option[COLONIES] = 3;
        r.option[EXCHANGE] = 4;
        r.option[RESTART] = 9;
        r.info.generations = 60;
        run_result a = run(&r);
        for (size_t at = 1; at < 60; at += 13) {
            r.save_at = at;
            run_result b = run(&r);
            assert_true(a.path == b.path);
            assert_true(memcmp(&a.stats, &b.stats, sizeof a.stats) == 0);
            assert_memory_equal(a.best, b.best, 101 * sizeof(double));
        }
    }
}

/* A last generation that a budget cuts. */
static void test_cut(void **state)
{
    run_info r = binary_run(weighted, 50);

    (void)state;
    r.info.generations = 3;
    r.info.evaluations = 95;
    run_result a = run(&r);
    assert_int_equal(a.stats.evaluations, 95);
    assert_int_equal(a.stats.failed, 0);
    assert_int_equal(a.stats.feasible, 15);
    assert_true(a.stats.spread == 1);
}

/* ---- bad input ---- */

static void refused(const ec_optimizer_info *info, const char *word)
{
    const ec_optimizer_def *def = ec_optimizer_find("aco");
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;
    ec_optimizer *optimizer = NULL;

    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    int status = def->create(def, backend, info, &optimizer);
    if (status >= 0 || !strstr(ec_error_text(), word))
        print_error("%d: %s\n", status, ec_error_text());
    assert_true(status < 0);
    assert_null(optimizer);
    assert_non_null(strstr(ec_error_text(), word));
    ec_backend_destroy(&backend);
}

static void test_bad_input(void **state)
{
    double option[OPTIONS];
    ec_gene real = {.min = 0, .max = 1}, binary = {.max = 1, .integral = true};
    ec_gene inverted = {.min = 1, .max = 0}, wide = {.min = -0x1p40, .max = 0x1p40};
    ec_gene set = {.max = 1, .integral = true, .set = 1, .ones = 2};
    ec_optimizer_info info = {.genes = &binary, .n_genes = 1, .options = option};

    (void)state;
    wide.integral = true;
    memcpy(option, automatic, sizeof option);
    info.genes = &real;
    refused(&info, "bits = 8");
    info.genes = &inverted;
    option[BITS] = 8;
    refused(&info, "bounds");
    info.genes = &wide;
    refused(&info, "2^32");
    info.genes = &set;
    refused(&info, "2 ones among 1");
    info.genes = &binary;
    option[BITS] = 33;
    refused(&info, "bits = 33");
    memcpy(option, automatic, sizeof option);
    option[COLONIES] = 0;
    refused(&info, "colonies = 0");
    option[COLONIES] = 1.5;
    refused(&info, "integer");
    option[COLONIES] = 1024;
    info.population = 1025;
    refused(&info, "at most 1048576");
    option[COLONIES] = 1;
    info.population = 0;
    info.group_genes = &binary;
    info.n_group_genes = 1;
    refused(&info, "group variables");
    info.n_group_genes = 0;
    info.n_genes = 0;
    refused(&info, "no variable");
}

static void test_bad_blob(void **state)
{
    const ec_optimizer_def *def = ec_optimizer_find("aco");
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;
    ec_optimizer *one, *other;
    ec_gene genes[2] = {{.max = 1, .integral = true}, {.max = 1, .integral = true}};
    ec_optimizer_info info = {.genes = genes, .n_genes = 2};
    void *blob;
    size_t bytes;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    assert_int_equal(def->create(def, backend, &info, &one), EC_OK);
    info.n_genes = 1;
    assert_int_equal(def->create(def, backend, &info, &other), EC_OK);
    assert_int_equal(def->save(one, &blob, &bytes), EC_OK);
    assert_true(def->load(other, blob, bytes) < 0);
    assert_true(def->load(one, blob, bytes - 1) < 0);
    assert_true(def->load(one, blob, 3) < 0);
    assert_int_equal(def->load(one, blob, bytes), EC_OK);
    ((char *)blob)[0] = 'X';
    assert_true(def->load(one, blob, bytes) < 0);
    free(blob);
    def->destroy(&one);
    def->destroy(&other);
    ec_backend_destroy(&backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_max),
        cmocka_unit_test(test_trap),
        cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_colonies),
        cmocka_unit_test(test_constant_offset),
        cmocka_unit_test(test_threads_and_levels),
        cmocka_unit_test(test_half_nan),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_bad_blob),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
