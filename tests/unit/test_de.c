/* test_de.c: differential evolution on the CPU: it solves what it should, and the traps of other
 * tools (reference page "Rules of the methods" and "What breaks other tools"). */
#include "method_options.h"
#include "sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const methods[] = {"rand1bin", "best1bin", "jde", "current_to_pbest", "lshade"};
enum { METHODS = 5, GENES_MAX = 64 };

/* ---- a run ---- */

/* Score of one design. */
typedef struct score {
    double cost, violation;
    uint8_t status;
} score;
typedef score objective(const double *x, size_t n);

typedef struct run_info {
    const char *method;
    objective *f;           /* of the genes, then the group genes */
    ec_optimizer_info info; /* genes may be NULL: all within lower .. upper */
    double lower, upper;
    int threads; /* 0: 1 */
    const char *isa;
    size_t save_at; /* generation after which the state goes through save and load */
    const ec_method_setting *settings; /* options other than the defaults */
} run_info;

enum { ISLANDS_MAX = 4 };

typedef struct run_result {
    ec_optimizer_stats stats;
    uint64_t path;                     /* hash over every proposed design and its order */
    uint64_t island_path[ISLANDS_MAX]; /* of the designs of each island */
    double best[GENES_MAX];
    double cost, least; /* least: of all feasible designs that were proposed */
    size_t largest, last_n;
} run_result;

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

static size_t islands_of(const run_info *r)
{
    for (const ec_method_setting *s = r->settings; s && s->key; s++)
        if (strcmp(s->key, "islands") == 0)
            return (size_t)s->value;
    return 1;
}

static void evaluate(const run_info *r, const ec_array *X, const ec_array *XG, const int32_t *map,
                     pool *p, size_t n, size_t proposed, run_result *result)
{
    size_t island = proposed / islands_of(r);
    const double *x = X->data, *xg = XG ? XG->data : NULL;

    for (size_t c = 0; c < n; c++) {
        double row[GENES_MAX];
        size_t width = X->elements;
        for (size_t g = 0; g < X->elements; g++)
            row[g] = x[g * X->ld + c];
        for (size_t g = 0; xg && g < r->info.n_group_genes; g++)
            row[width++] = xg[g * XG->ld + (size_t)map[c]];
        score s = r->f(row, width);
        p->cost[c] = s.cost;
        p->violation[c] = s.violation;
        p->status[c] = s.status;
        result->path = hash_bytes(result->path, row, width * sizeof *row);
        uint64_t *path = &result->island_path[c / island];
        *path = hash_bytes(*path, row, width * sizeof *row);
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

/* Lowest cost of a feasible design. */
static void note_best(run_result *result, const pool *p, size_t n)
{
    for (size_t c = 0; c < n; c++)
        if (p->status[c] == 0 && p->violation[c] == 0 && isfinite(p->cost[c]))
            result->least = fmin(result->least, p->cost[c]);
}

/* The best design of all generations is in the statistics and in the elite. */
static void check_best(const ec_optimizer_def *def, ec_optimizer *optimizer,
                       const run_result *result)
{
    const ec_optimizer_stats *stats = def->stats(optimizer);
    double elite;
    size_t found;

    assert_int_equal(def->elite(optimizer, 1, NULL, &elite, NULL, NULL, &found), EC_OK);
    assert_int_equal(found, 1);
    assert_true(elite == stats->best_cost);
    assert_true(stats->best_class == (isinf(result->least) ? stats->best_class : 0));
    assert_true(isinf(result->least) || elite == result->least);
}

/* Runs until the budget of evaluations or generations in r->info. */
static run_result run(const run_info *r)
{
    const ec_optimizer_def *def = ec_optimizer_find(r->method);
    ec_backend_info backend_info = {"cpu", r->threads ? r->threads : 1, r->isa, NULL};
    ec_optimizer_info info = r->info;
    ec_gene genes[GENES_MAX];
    ec_backend *backend;
    ec_optimizer *optimizer;
    run_result result = {.path = 0xcbf29ce484222325u, .least = INFINITY};
    double options[EC_METHOD_OPTIONS_MAX];

    assert_non_null(def);
    for (size_t i = 0; i < info.n_genes; i++)
        genes[i] = (ec_gene){.min = r->lower, .max = r->upper};
    info.genes = info.genes ? info.genes : genes;
    assert_true(ec_method_options(def, r->settings, options));
    info.options = options;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
    size_t room = ec_lane_ld(def->max_population(optimizer)), done = 0;
    pool p = {malloc(room * sizeof(double)), malloc(room * sizeof(double)), malloc(room)};
    for (size_t generation = 0; (!info.generations || generation < info.generations) &&
                                (!info.evaluations || done < info.evaluations);
         generation++) {
        ec_array X, XG;
        const int32_t *map = NULL;
        size_t n, proposed;
        if (r->save_at && generation == r->save_at)
            reload(def, backend, &info, &optimizer);
        assert_int_equal(def->propose(optimizer, &X, &XG, &map, &n), EC_OK);
        assert_true(n <= def->max_population(optimizer));
        assert_true(n % islands_of(r) == 0);
        proposed = n;
        if (info.evaluations && n > info.evaluations - done)
            n = info.evaluations - done;
        evaluate(r, &X, info.n_group_genes ? &XG : NULL, map, &p, n, proposed, &result);
        assert_int_equal(
            def->take(optimizer,
                      &(ec_scores){.cost = p.cost, .violation = p.violation, .status = p.status},
                      n),
            EC_OK);
        note_best(&result, &p, n);
        check_best(def, optimizer, &result);
        done += n;
        result.largest = n > result.largest ? n : result.largest;
        result.last_n = n;
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
    return result;
}

/* ---- objectives ---- */

static score sphere(const double *x, size_t n)
{
    score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++)
        s.cost += (x[i] - 0.5) * (x[i] - 0.5);
    return s;
}

static score rosenbrock(const double *x, size_t n)
{
    score s = {0, 0, 0};

    for (size_t i = 0; i + 1 < n; i++) {
        double t = x[i + 1] - x[i] * x[i], u = 1 - x[i];
        s.cost += 100 * t * t + u * u;
    }
    return s;
}

/* Costs in multiples of 2^-20, where adding 100 is exact. */
static score dyadic(const double *x, size_t n)
{
    score s = rosenbrock(x, n);

    s.cost = floor(s.cost * 1048576.0) / 1048576.0;
    return s;
}

static score dyadic_100(const double *x, size_t n)
{
    score s = dyadic(x, n);

    s.cost += 100;
    return s;
}

static score half_nan(const double *x, size_t n)
{
    score s = sphere(x, n);

    s.cost = x[0] < 0 ? NAN : s.cost;
    return s;
}

/* Everything wrong that there is, by the cell of the first gene. */
static score hostile(const double *x, size_t n)
{
    score s = sphere(x, n);

    if (x[0] < -3)
        s.cost = -INFINITY;
    else if (x[0] < -2)
        s.status = EC_CANDIDATE_EVALUATOR;
    else if (x[0] < -1)
        s.violation = NAN;
    else if (x[0] < 0)
        s.violation = INFINITY;
    else if (x[0] < 0.6)
        s.violation = 0.6 - x[0];
    return s;
}

static score all_nan(const double *x, size_t n)
{
    score s = {NAN, 0, 0};

    (void)x;
    (void)n;
    return s;
}

static score flat(const double *x, size_t n)
{
    score s = {1, 0, 0};

    (void)x;
    (void)n;
    return s;
}

/* ---- solving ---- */

static void test_solves(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = sphere, .lower = -5, .upper = 10};
        r.info =
            (ec_optimizer_info){.n_genes = 8, .population = 80, .seed = 3, .evaluations = 40000};
        run_result a = run(&r);
        assert_true(a.cost < 1e-8);
        assert_true(fabs(a.best[7] - 0.5) < 1e-4);
        r.f = rosenbrock;
        r.info.evaluations = 120000;
        a = run(&r);
        assert_true(a.cost < 1e-4);
    }
}

static void test_bounds_rules(void **state)
{
    (void)state;
    for (int rule = 0; rule < 3; rule++) {
        const ec_method_setting settings[] = {{"F", 0.9}, {"bounds", rule}, {NULL, 0}};
        run_info r = {.method = "rand1bin", .f = sphere, .lower = 0.5, .upper = 4};
        r.settings = settings;
        r.info =
            (ec_optimizer_info){.n_genes = 5, .seed = 1, .evaluations = 20000, .population = 50};
        /* the optimum lies in a corner of the box: all rules reach it and none leaves the box */
        run_result a = run(&r);
        assert_true(a.cost < 1e-3);
        for (int g = 0; g < 5; g++)
            assert_true(a.best[g] >= 0.5 && a.best[g] <= 4);
    }
}

/* ---- traps ---- */

static void test_constant_offset(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = dyadic, .lower = -2, .upper = 2};
        r.info =
            (ec_optimizer_info){.n_genes = 6, .population = 60, .seed = 5, .evaluations = 12000};
        run_result a = run(&r);
        r.f = dyadic_100;
        run_result b = run(&r);
        assert_true(a.path == b.path);
        assert_true(a.cost + 100 == b.cost);
        assert_true(a.stats.spread == b.stats.spread);
        r.info.seed = 6;
        assert_true(run(&r).path != a.path);
        r.info.seed = 5;
        r.info.island = 1;
        assert_true(run(&r).path != a.path);
    }
}

static void test_threads_and_levels(void **state)
{
    static const char *const levels[] = {"v1", "v3", "v4"};

    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = rosenbrock, .lower = -2, .upper = 2};
        r.info = (ec_optimizer_info){
            .n_genes = 7, .population = 1003, .seed = 9, .evaluations = 1003 * 20};
        run_result a = run(&r);
        for (int t = 2; t <= 7; t += 5) {
            r.threads = t;
            run_result b = run(&r);
            assert_true(a.path == b.path);
            assert_true(memcmp(&a.stats, &b.stats, sizeof a.stats) == 0);
        }
        for (int i = 0; i <= ec_isa_detect() && strcmp(ec_isa_name(i), levels[i]) == 0; i++) {
            r.isa = levels[i];
            r.threads = 2;
            run_result b = run(&r);
            assert_true(a.path == b.path);
        }
    }
}

static void test_half_nan(void **state)
{
    double start[100 * 4];

    (void)state;
    for (int i = 0; i < 400; i++) /* every start in the NaN half, not two alike */
        start[i] = i % 4 == 0 ? -0.01 * (1 + i) : 0.02 * i - 4;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = half_nan, .lower = -5, .upper = 5};
        r.info = (ec_optimizer_info){.n_genes = 4,
                                     .population = 100,
                                     .seed = 2,
                                     .evaluations = 30000,
                                     .start = start,
                                     .n_start = 100};
        run_result a = run(&r);
        assert_true(isfinite(a.cost) && a.cost < 1e-3);
        assert_int_equal(a.stats.best_class, 0);
        assert_true(a.stats.failed >= 100);
        assert_int_equal(a.stats.feasible, a.stats.population);
    }
}

static void test_classes(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = hostile, .lower = -4, .upper = 4};
        r.info =
            (ec_optimizer_info){.n_genes = 4, .population = 60, .seed = 8, .evaluations = 20000};
        run_result a = run(&r);
        assert_int_equal(a.stats.best_class, 0);
        assert_true(a.stats.best_violation == 0);
        assert_true(fabs(a.cost - 0.01) < 1e-3); /* on the constraint x0 >= 0.6 */
        assert_true(a.stats.failed > 0);
        r.f = all_nan;
        a = run(&r);
        assert_int_equal(a.stats.failed, 20000);
        assert_int_equal(a.stats.best_class, 2);
        r.f = flat;
        a = run(&r);
        assert_true(a.cost == 1);
    }
}

/* Order of the elite, straight from given scores. */
static void test_elite_order(void **state)
{
    const double cost[6] = {5, NAN, 3, 1, 3, -9};
    const double violation[6] = {0, 0, 0, 2, 0, 0.5};
    const uint8_t status[6] = {0, 0, 0, 0, 0, 0};
    const uint32_t order[6] = {2, 4, 0, 5, 3, 1};
    ec_gene genes[2] = {{.min = 0, .max = 1}, {.min = 0, .max = 1}};
    ec_optimizer_info info = {.genes = genes, .n_genes = 2, .population = 6, .seed = 4};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        double X[12], c[6], v[6], proposed[12];
        uint8_t s[6];
        size_t n, found;
        ec_optimizer *optimizer;
        ec_array A;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        assert_int_equal(def->elite(optimizer, 6, X, c, v, s, &found), EC_OK);
        assert_int_equal(found, 0);
        assert_int_equal(def->propose(optimizer, &A, NULL, NULL, &n), EC_OK);
        assert_int_equal(n, 6);
        for (int i = 0; i < 6; i++)
            for (int g = 0; g < 2; g++)
                proposed[2 * i + g] = ((double *)A.data)[(size_t)g * A.ld + (size_t)i];
        assert_int_equal(
            def->take(optimizer,
                      &(ec_scores){.cost = cost, .violation = violation, .status = status}, n),
            EC_OK);
        assert_int_equal(def->elite(optimizer, 9, X, c, v, s, &found), EC_OK);
        assert_int_equal(found, 6);
        for (int i = 0; i < 6; i++)
            assert_memory_equal(X + 2 * i, proposed + 2 * order[i], 2 * sizeof *X);
        assert_int_equal(s[5], EC_CANDIDATE_NOT_FINITE);
        assert_int_equal(def->stats(optimizer)->feasible, 3);
        assert_int_equal(def->stats(optimizer)->failed, 1);
        assert_true(def->stats(optimizer)->best_cost == 3);
        def->destroy(&optimizer);
    }
    ec_backend_destroy(&backend);
}

static void test_start_and_fixed_genes(void **state)
{
    const double start[6] = {7, 0.25, 3, NAN, -7, 3};
    ec_gene genes[3] = {{.min = -1, .max = 1}, {.min = 0, .max = 2}, {.min = 3, .max = 3}};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        ec_optimizer_info info = {.genes = genes,
                                  .n_genes = 3,
                                  .population = 40,
                                  .seed = 1,
                                  .start = start,
                                  .n_start = 2,
                                  .generations = 30};
        ec_optimizer *optimizer;
        ec_array A;
        size_t n;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        assert_int_equal(def->propose(optimizer, &A, NULL, NULL, &n), EC_OK);
        const double *x = A.data;
        assert_true(x[0] == 1 && x[A.ld] == 0.25 && x[2 * A.ld] == 3);
        /* NaN, gene 0 of design 1, starts in the middle */
        assert_true(x[1] == 0 && x[A.ld + 1] == 0 && x[2 * A.ld + 1] == 3);
        def->destroy(&optimizer);
        run_info r = {.method = methods[m], .f = sphere, .info = info};
        run_result a = run(&r);
        assert_true(a.best[2] == 3);
        assert_true(fabs(a.best[0] - 0.5) < 0.05);
        genes[0].max = genes[0].min;
        genes[1].max = genes[1].min;
        a = run(&r);
        assert_true(a.best[0] == -1 && a.best[1] == 0 && a.best[2] == 3 && a.stats.spread == 0);
        genes[0].max = 1;
        genes[1].max = 2;
    }
    ec_backend_destroy(&backend);
}

static void test_bad_input(void **state)
{
    ec_gene genes[2] = {{.min = 0, .max = 1}, {.min = 0, .max = 1}};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;
    ec_optimizer *optimizer = NULL;
    char word[64];

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        ec_optimizer_info info = {.genes = genes, .n_genes = 2, .seed = 1};
        info.population = def->min_population - 1;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_ARGUMENT);
        snprintf(word, sizeof word, "smallest allowed is %zu", def->min_population);
        assert_non_null(strstr(ec_error_text(), word));
        info.population = def->min_population;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        def->destroy(&optimizer);
        run_info r = {.method = methods[m], .f = sphere, .info = info, .upper = 1};
        r.info.genes = NULL;
        r.info.generations = 40;
        run(&r); /* the smallest population works */
        info.population = (size_t)1 << 40;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_ARGUMENT);
        info.population = 0;
        info.n_genes = 0;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_ARGUMENT);
        info.n_genes = 2;
        genes[1].min = 2;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_RANGE);
        genes[1].min = NAN;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_RANGE);
        genes[1].min = 0;
        double options[16];
        for (size_t o = 0; o < def->n_options; o++) {
            for (size_t i = 0; i < def->n_options; i++)
                options[i] = def->options[i].initial;
            info.options = options;
            assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
            def->destroy(&optimizer);
            options[o] = def->options[o].max * 1.5 + 1;
            assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_ARGUMENT);
            assert_non_null(strstr(ec_error_text(), def->options[o].key));
            options[o] = NAN;
            assert_int_equal(def->create(def, backend, &info, &optimizer), EC_ERR_ARGUMENT);
        }
        assert_null(optimizer);
    }
    assert_null(ec_optimizer_find("annealing"));
    assert_null(ec_optimizer_find(NULL));
    assert_ptr_equal(ec_optimizer_find("de"), ec_optimizer_find("lshade"));
    ec_backend_destroy(&backend);
}

/* ---- budget, save, groups ---- */

static void test_shrinking(void **state)
{
    (void)state;
    run_info r = {.method = "lshade", .f = rosenbrock, .lower = -2, .upper = 2};
    r.info = (ec_optimizer_info){.n_genes = 5, .seed = 1, .evaluations = 10007};
    run_result a = run(&r);
    assert_int_equal(a.largest, 90); /* 18 D */
    assert_int_equal(a.stats.evaluations, 10007);
    assert_int_equal(a.stats.population, 4);
    r.info.evaluations = 0;
    r.info.generations = 200;
    a = run(&r);
    assert_int_equal(a.largest, 90);
    assert_int_equal(a.stats.population, 4);
    assert_int_equal(a.stats.generation, 200);
    const ec_method_setting settings[] = {{"population_min", 30}, {NULL, 0}};
    r.settings = settings;
    assert_int_equal(run(&r).stats.population, 30);
    /* a budget that is no multiple of the population */
    for (int m = 0; m < METHODS; m++) {
        run_info q = {.method = methods[m], .f = sphere, .lower = -2, .upper = 2};
        q.info =
            (ec_optimizer_info){.n_genes = 5, .seed = 1, .population = 50, .evaluations = 1234};
        assert_int_equal(run(&q).stats.evaluations, 1234);
        q.info.evaluations = 17; /* less than one generation */
        assert_int_equal(run(&q).stats.evaluations, 17);
    }
}

static void test_save_and_load(void **state)
{
    ec_gene genes[6];
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;

    (void)state;
    for (int i = 0; i < 6; i++)
        genes[i] = (ec_gene){.min = -2, .max = 2};
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = rosenbrock, .lower = -2, .upper = 2};
        r.info =
            (ec_optimizer_info){.n_genes = 6, .population = 70, .seed = 5, .evaluations = 9000};
        run_result a = run(&r);
        for (size_t at = 1; at < 60; at += 29) {
            r.save_at = at;
            run_result b = run(&r);
            assert_true(a.path == b.path);
            assert_true(memcmp(&a.stats, &b.stats, sizeof a.stats) == 0);
        }
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        ec_optimizer_info info = r.info;
        ec_optimizer *optimizer, *other;
        void *blob;
        size_t bytes;
        info.genes = genes;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        assert_int_equal(def->save(optimizer, &blob, &bytes), EC_OK);
        assert_int_equal(def->load(optimizer, blob, bytes - 1), EC_ERR_FORMAT);
        assert_int_equal(def->load(optimizer, blob, 3), EC_ERR_FORMAT);
        info.population = 71;
        assert_int_equal(def->create(def, backend, &info, &other), EC_OK);
        assert_int_equal(def->load(other, blob, bytes), EC_ERR_FORMAT);
        def->destroy(&other);
        info.population = 70;
        info.seed++;
        assert_int_equal(def->create(def, backend, &info, &other), EC_OK);
        assert_int_equal(def->load(other, blob, bytes), EC_ERR_FORMAT);
        def->destroy(&other);
        const ec_optimizer_def *stranger = ec_optimizer_find(methods[(m + 1) % METHODS]);
        info.seed--;
        assert_int_equal(stranger->create(stranger, backend, &info, &other), EC_OK);
        assert_int_equal(stranger->load(other, blob, bytes), EC_ERR_FORMAT);
        stranger->destroy(&other);
        ((char *)blob)[0] ^= 1;
        assert_int_equal(def->load(optimizer, blob, bytes), EC_ERR_FORMAT);
        def->destroy(&optimizer);
        free(blob);
    }
    ec_backend_destroy(&backend);
}

/* ---- islands, restarts, opposite points ---- */

/* Without migrants an island is a search of its own with its own stream. */
static void test_islands_alone(void **state)
{
    static const ec_method_setting three[] = {{"islands", 3}, {"migrate", 0}, {NULL, 0}};

    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = rosenbrock, .lower = -2, .upper = 2};
        r.info = (ec_optimizer_info){.n_genes = 7, .population = 45, .seed = 5, .generations = 70};
        r.settings = three;
        run_result together = run(&r);
        double best = INFINITY;
        uint32_t population = 0;
        r.settings = NULL;
        for (uint32_t i = 0; i < 3; i++) {
            r.info.island = i;
            run_result alone = run(&r);
            assert_true(alone.island_path[0] == together.island_path[i]);
            best = fmin(best, alone.cost);
            population += alone.stats.population;
        }
        assert_true(together.cost == best && together.stats.best_cost == best);
        assert_int_equal(together.stats.population, population);
    }
}

/* Scores by hand: with migrate = 2 the second generation ends with migrants. */
static void test_migration(void **state)
{
    enum { N = 6, K = 3 };
    const ec_method_setting settings[] = {{"islands", K}, {"migrate", 2}, {NULL, 0}};
    ec_gene genes[2] = {{.min = 0, .max = 1}, {.min = 0, .max = 1}};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        double options[EC_METHOD_OPTIONS_MAX], cost[K * N], X[2 * K * N], c[K * N];
        uint8_t status[K * N] = {0};
        ec_optimizer_info info = {
            .genes = genes, .n_genes = 2, .population = N, .seed = 4, .options = options};
        ec_optimizer *optimizer;
        ec_array A;
        size_t n, found;
        assert_true(ec_method_options(def, settings, options));
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        assert_int_equal(def->max_population(optimizer), K * N);
        for (int generation = 0; generation < 3; generation++) {
            assert_int_equal(def->propose(optimizer, &A, NULL, NULL, &n), EC_OK);
            assert_int_equal(n, K * N);
            /* island 0 holds -5 .. 0, island 1 holds 10 .. 15, island 2 holds 4 .. 9; later trials
             * are worse, but for one of generation 1 */
            for (int i = 0; i < K * N; i++)
                cost[i] = generation > 0 ? 100 : i / N == 0 ? i - 5 : i / N == 1 ? i + 4 : i - 8;
            if (generation == 1)
                cost[2] = -6;
            assert_int_equal(def->take(optimizer, &(ec_scores){.cost = cost, .status = status}, n),
                             EC_OK);
            assert_int_equal(def->elite(optimizer, K * N, X, c, NULL, NULL, &found), EC_OK);
            assert_int_equal(found, K * N);
            /* Only island 1 takes a migrant: the design of -6 instead of its 15. Its own best, 10,
             * is none for island 2, nor is the 4 of that one for island 0. */
            assert_true(c[0] == (generation == 0 ? -5 : -6));
            assert_true((c[1] == -6) == (generation > 0));
            if (generation > 0)
                assert_memory_equal(X, X + 2, 2 * sizeof *X);
            assert_true(c[K * N - 1] == (generation == 0 ? 15 : 14));
            assert_int_equal(def->stats(optimizer)->evaluations, K * N * (generation + 1));
            assert_true(def->stats(optimizer)->best_cost == c[0]);
        }
        def->destroy(&optimizer);
    }
    ec_backend_destroy(&backend);
}

/* Two valleys, of which the wider one is no optimum; both are flat at the bottom. */
static score valleys(const double *x, size_t n)
{
    double wide = 0, narrow = 0;

    for (size_t i = 0; i < n; i++) {
        wide = fmax(wide, fabs(x[i] + 1));
        narrow = fmax(narrow, fabs(x[i] - 3.6));
    }
    score s = {fmin(fmax(1 + wide, 1.001), fmax(4 * narrow, 0.125)), 0, 0};
    return s;
}

static void test_restarts(void **state)
{
    static const ec_method_setting none[] = {{NULL, 0}};
    static const ec_method_setting still[] = {{"restart", 25}, {NULL, 0}};
    static const ec_method_setting narrow[] = {{"restart_spread", 0.02}, {NULL, 0}};
    static const ec_method_setting both[] = {
        {"restart", 25}, {"restart_spread", 0.02}, {"islands", 2}, {"opposition", 1}, {NULL, 0}};
    static const ec_method_setting *const settings[] = {none, still, narrow, both};

    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run_info r = {.method = methods[m], .f = valleys, .lower = -5, .upper = 5};
        r.info = (ec_optimizer_info){.n_genes = 3, .population = 24, .seed = 2, .generations = 500};
        for (int k = 0; k < 4; k++) {
            r.settings = settings[k];
            run_result a = run(&r);
            assert_true(k == 0 ? a.stats.restarts == 0 : a.stats.restarts > 1);
            /* run() compares every elite and all statistics with the best design seen */
            if (strcmp(methods[m], "best1bin") == 0)
                assert_true(a.cost == (k == 0 ? 1.001 : 0.125));
            for (int t = 2; t <= 7; t += 5) {
                r.threads = t;
                assert_true(run(&r).path == a.path);
            }
            r.threads = 0;
            for (r.save_at = 20; r.save_at < 60; r.save_at += 7) {
                run_result b = run(&r);
                assert_true(a.path == b.path);
                assert_true(memcmp(&a.stats, &b.stats, sizeof a.stats) == 0);
            }
            r.save_at = 0;
        }
    }
}

static void test_opposition(void **state)
{
    enum { N = 40 };
    const ec_method_setting settings[] = {{"opposition", 1}, {NULL, 0}};
    ec_gene genes[3] = {{.min = -3, .max = 5}, {.min = 0, .max = 0.3}, {.min = 2, .max = 2}};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    ec_backend *backend;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        double options[EC_METHOD_OPTIONS_MAX], x[2][3][N], cost[N], X[3 * N], c[N];
        uint8_t status[N] = {0};
        ec_optimizer_info info = {
            .genes = genes, .n_genes = 3, .population = N, .seed = 4, .options = options};
        ec_optimizer *optimizer;
        ec_array A;
        size_t n, found;
        assert_true(ec_method_options(def, settings, options));
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        for (int generation = 0; generation < 2; generation++) {
            assert_int_equal(def->propose(optimizer, &A, NULL, NULL, &n), EC_OK);
            for (int i = 0; i < N; i++) {
                for (int g = 0; g < 3; g++)
                    x[generation][g][i] = ((double *)A.data)[(size_t)g * A.ld + (size_t)i];
                cost[i] = i + (i % 3 == 0 ? -0.5 : 0.5) * generation;
            }
            assert_int_equal(def->take(optimizer, &(ec_scores){.cost = cost, .status = status}, n),
                             EC_OK);
        }
        assert_int_equal(def->elite(optimizer, N, X, c, NULL, NULL, &found), EC_OK);
        for (int i = 0; i < N; i++) {
            for (int g = 0; g < 3; g++) {
                double sum = x[0][g][i] + x[1][g][i];
                assert_true(fabs(sum - genes[g].min - genes[g].max) < 1e-14);
                assert_true(x[1][g][i] >= genes[g].min && x[1][g][i] <= genes[g].max);
                assert_true(X[3 * i + g] == x[i % 3 == 0][g][i]);
            }
            assert_true(c[i] == (i % 3 == 0 ? i - 0.5 : i));
        }
        def->destroy(&optimizer);
    }
    ec_backend_destroy(&backend);
}

/* Members of a group see one group vector; both kinds of genes find their optimum. */
static void test_groups(void **state)
{
    ec_gene genes[3], group_genes[5];
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    const ec_optimizer_def *def = ec_optimizer_find("rand1bin");
    ec_backend *backend;
    ec_optimizer *optimizer = NULL;

    (void)state;
    for (int i = 0; i < 5; i++)
        group_genes[i] = (ec_gene){.min = -2, .max = 2};
    for (int i = 0; i < 3; i++)
        genes[i] = (ec_gene){.min = -2, .max = 2};
    run_info r = {.method = "rand1bin", .f = sphere};
    r.info = (ec_optimizer_info){.genes = genes,
                                 .n_genes = 3,
                                 .group_genes = group_genes,
                                 .n_group_genes = 5,
                                 .groups = 10,
                                 .population = 103,
                                 .seed = 1,
                                 .generations = 20};
    run_result early = run(&r);
    r.info.generations = 400;
    run_result a = run(&r);
    assert_true(a.cost < early.cost * 1e-3);
    assert_true(a.cost < 1e-3);
    for (int g = 0; g < 8; g++)
        assert_true(fabs(a.best[g] - 0.5) < 0.05);
    for (int t = 2; t <= 7; t += 5) {
        r.threads = t;
        assert_true(run(&r).path == a.path);
    }
    r.save_at = 31;
    assert_true(run(&r).path == a.path);

    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    assert_int_equal(def->create(def, backend, &r.info, &optimizer), EC_OK);
    ec_array X, XG;
    const int32_t *map;
    size_t n;
    assert_int_equal(def->propose(optimizer, &X, &XG, &map, &n), EC_OK);
    assert_int_equal(n, 103);
    assert_int_equal(XG.lanes, 10);
    assert_int_equal(XG.axes, EC_AXIS_GROUP);
    size_t members[10] = {0};
    for (size_t c = 0; c < n; c++) {
        assert_true(map[c] >= 0 && map[c] < 10 && (c == 0 || map[c] >= map[c - 1]));
        members[map[c]]++;
    }
    for (int g = 0; g < 10; g++)
        assert_true(members[g] == 10 || members[g] == 11);
    def->destroy(&optimizer);
    r.info.population = 39;
    assert_int_equal(def->create(def, backend, &r.info, &optimizer), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "smallest allowed is 40"));
    r.info.groups = 3;
    assert_int_equal(def->create(def, backend, &r.info, &optimizer), EC_ERR_ARGUMENT);
    const ec_optimizer_def *lshade = ec_optimizer_find("lshade");
    assert_int_equal(lshade->create(lshade, backend, &r.info, &optimizer), EC_ERR_UNSUPPORTED);
    ec_backend_destroy(&backend);
}

/* A group generation replaces whole groups: group vectors change only when their best improves, and
 * then every member has the score of its trial. */
static void test_group_rule(void **state)
{
    enum { GROUPS = 4, N = 16 };
    ec_gene gene = {.min = 0, .max = 1};
    ec_optimizer_info info = {.genes = &gene,
                              .n_genes = 1,
                              .group_genes = &gene,
                              .n_group_genes = 1,
                              .groups = GROUPS,
                              .population = N,
                              .seed = 3};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    const ec_optimizer_def *def = ec_optimizer_find("rand1bin");
    double cost[N], c[N], v0[N] = {0}, design[2 * N], trial[GROUPS], old[GROUPS];
    uint8_t status[32] = {0};
    ec_backend *backend;
    ec_optimizer *optimizer;
    ec_array X, XG;
    const int32_t *map;
    size_t n, found;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
    for (int generation = 0; generation < 3; generation++) {
        assert_int_equal(def->propose(optimizer, &X, &XG, &map, &n), EC_OK);
        memcpy(generation < 2 ? old : trial, XG.data, sizeof trial);
        /* 10 at first, worse members in generation 1, then group 2 gets one better member and
         * three that are much worse; group 1 only equals its best */
        for (int i = 0; i < N; i++) {
            cost[i] = generation == 0 ? 10 : 20;
            if (generation == 2)
                cost[i] = i == 9 ? 5 : i / 4 == 1 ? 10 : 30;
        }
        assert_int_equal(
            def->take(optimizer, &(ec_scores){.cost = cost, .violation = v0, .status = status}, n),
            EC_OK);
    }
    assert_int_equal(def->elite(optimizer, N, design, c, NULL, NULL, &found), EC_OK);
    assert_true(c[0] == 5 && design[1] == trial[2] && trial[2] != old[2]);
    for (int i = 1; i < N; i++) {
        bool in_group = design[2 * i + 1] == trial[2];
        assert_true(c[i] == (in_group ? 30 : 10));
        assert_true(in_group || design[2 * i + 1] == old[0] || design[2 * i + 1] == old[1] ||
                    design[2 * i + 1] == old[3]);
        assert_true(in_group == (i > 12));
    }
    def->destroy(&optimizer);
    ec_backend_destroy(&backend);
}

static void test_stop_flag(void **state)
{
    ec_gene genes[2] = {{.min = 0, .max = 1}, {.min = 0, .max = 1}};
    ec_optimizer_info info = {.genes = genes, .n_genes = 2, .population = 32, .seed = 4};
    ec_backend_info backend_info = {"cpu", 1, NULL, NULL};
    double cost[32] = {0};
    uint8_t status[32] = {0};
    int32_t stop = 0;
    ec_backend *backend;

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    for (int m = 0; m < METHODS; m++) {
        const ec_optimizer_def *def = ec_optimizer_find(methods[m]);
        ec_optimizer *optimizer;
        ec_array X;
        void *before, *after;
        size_t n, bytes;
        assert_int_equal(def->create(def, backend, &info, &optimizer), EC_OK);
        def->set_stop_flag(optimizer, &stop);
        for (int generation = 0; generation < 4; generation++) {
            assert_int_equal(def->propose(optimizer, &X, NULL, NULL, &n), EC_OK);
            assert_int_equal(
                def->take(optimizer,
                          &(ec_scores){.cost = cost, .violation = NULL, .status = status}, n),
                EC_OK);
        }
        assert_int_equal(def->stats(optimizer)->generation, 4);
        stop = 1;
        assert_int_equal(def->save(optimizer, &before, &bytes), EC_OK);
        assert_int_equal(def->propose(optimizer, &X, NULL, NULL, &n), EC_OK);
        assert_int_equal(def->take(optimizer,
                                   &(ec_scores){.cost = cost, .violation = NULL, .status = status},
                                   n),
                         EC_OK);
        assert_int_equal(def->save(optimizer, &after, &bytes), EC_OK);
        assert_memory_equal(before, after, bytes);
        stop = 0;
        free(before);
        free(after);
        def->destroy(&optimizer);
    }
    ec_backend_destroy(&backend);
}

/* ---- P1 and P10 of CEC 2011 ---- */

static score fm_sound(const double *x, size_t n)
{
    const double w = 2 * EC_PI / 100;
    static double target[101];
    static bool ready;
    score s = {0, 0, 0};

    (void)n;
    if (!ready)
        for (int t = 0; t <= 100; t++)
            target[t] = sin(5 * w * t - 1.5 * sin(4.8 * w * t + 2 * sin(4.9 * w * t)));
    ready = true;
    for (int t = 0; t <= 100; t++) {
        double y = x[0] * sin(x[1] * w * t + x[2] * sin(x[3] * w * t + x[4] * sin(x[5] * w * t)));
        s.cost += (y - target[t]) * (y - target[t]);
    }
    return s;
}

enum { SAMPLES = 299, ELEMENTS = 12 }; /* of 300 samples on [0, 360] deg the last is the first */

typedef struct circle {
    double re[ELEMENTS][SAMPLES + 2], im[ELEMENTS][SAMPLES + 2]; /* the last two: the nulls */
} circle;

static void circle_fill(circle *table)
{
    for (int e = 0; e < ELEMENTS; e++)
        for (int s = 0; s < SAMPLES + 2; s++) {
            double phi = s < SAMPLES ? 2 * EC_PI * s / 299 : s == SAMPLES ? 50 : 120;
            double at = 2 * EC_PI * e / ELEMENTS;
            double phase = 6 * (cos(phi - at) - cos(EC_PI - at));
            table->re[e][s] = cos(phase);
            table->im[e][s] = sin(phase);
        }
}

/* Steps from the peak to the first strict local minimum, in one direction round the circle. */
static int steps_to_null(const double *af, int peak, int step)
{
    for (int i = 1; i < SAMPLES / 2; i++) {
        int at = (peak + step * i + SAMPLES) % SAMPLES;
        int before = (at + SAMPLES - 1) % SAMPLES, after = (at + 1) % SAMPLES;
        if (af[at] < af[before] && af[at] < af[after])
            return i;
    }
    return SAMPLES / 2;
}

static score circular_array(const double *x, size_t n)
{
    static circle table;
    static bool ready;
    double re[SAMPLES + 2] = {0}, im[SAMPLES + 2] = {0}, first = 0, second = 0;
    double wr[ELEMENTS], wi[ELEMENTS];
    score s = {0, 0, 0};
    int peak = 0;

    (void)n;
    if (!ready)
        circle_fill(&table);
    ready = true;
    for (int e = 0; e < ELEMENTS; e++) {
        double phase = (e < 6 ? x[6 + e] : -x[e]) * EC_PI / 180, amplitude = x[e % 6];
        wr[e] = amplitude * cos(phase);
        wi[e] = amplitude * sin(phase);
    }
    for (int e = 0; e < ELEMENTS; e++)
        for (int i = 0; i < SAMPLES + 2; i++) {
            re[i] += wr[e] * table.re[e][i] - wi[e] * table.im[e][i];
            im[i] += wr[e] * table.im[e][i] + wi[e] * table.re[e][i];
        }
    for (int i = 0; i < SAMPLES + 2; i++)
        re[i] = sqrt(re[i] * re[i] + im[i] * im[i]);
    for (int i = 0; i < SAMPLES; i++) {
        double left = re[(i + SAMPLES - 1) % SAMPLES], right = re[(i + 1) % SAMPLES];
        peak = re[i] > re[peak] ? i : peak;
        if (!(re[i] > left && re[i] > right))
            continue;
        second = re[i] > first ? first : re[i] > second ? re[i] : second;
        first = re[i] > first ? re[i] : first;
    }
    double width = (steps_to_null(re, peak, 1) + steps_to_null(re, peak, -1)) * 360.0 / 299;
    double pointing = fabs(peak * 360.0 / 299 - 180);
    s.status = second > 0 ? 0 : EC_CANDIDATE_EVALUATOR;
    s.cost = 20 * log10(second / re[peak]) + (width > 80 ? width - 80 : 0) +
             (re[SAMPLES] + re[SAMPLES + 1]) / re[peak] + (pointing >= 5 ? pointing : 0);
    return s;
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* Best and median over seeds 1 .. seeds at 150,000 evaluations. */
static void statistics(const run_info *like, int seeds, double *best, double *median)
{
    double cost[25];

    for (int i = 0; i < seeds; i++) {
        run_info r = *like;
        r.info.seed = (uint64_t)i + 1;
        r.info.evaluations = 150000;
        cost[i] = run(&r).cost;
    }
    qsort(cost, (size_t)seeds, sizeof *cost, compare_doubles);
    *best = cost[0];
    *median = cost[seeds / 2];
    print_message("%s, population %zu, %d seeds: best %.4f, median %.4f\n", like->method,
                  like->info.population, seeds, *best, *median);
}

static int seeds_of_run(void)
{
    const char *word = getenv("EC_TEST_SEEDS"); /* 1 to 25 */
    int seeds = word ? atoi(word) : 0;

    return seeds >= 1 && seeds <= 25 ? seeds : 5;
}

static void test_fm_sound(void **state)
{
    double best, median;
    run_info r = {.method = "lshade", .f = fm_sound, .lower = -6.4, .upper = 6.35};

    (void)state;
    if (EC_SANITIZED)
        skip();
    r.info = (ec_optimizer_info){.n_genes = 6};
    statistics(&r, seeds_of_run(), &best, &median);
    assert_true(median < 1e-4); /* the next local minimum is above 8 */
    r.method = "rand1bin";
    r.info.population = 60;
    statistics(&r, seeds_of_run(), &best, &median);
    assert_true(median < 1e-10);
}

static void test_circular_array(void **state)
{
    const double ones[12] = {1, 1, 1, 1, 1, 1};
    double best, median;
    ec_gene genes[12];
    run_info r = {.method = "lshade", .f = circular_array};

    (void)state;
    if (EC_SANITIZED)
        skip();
    for (int i = 0; i < 12; i++)
        genes[i] = i < 6 ? (ec_gene){.min = 0.2, .max = 1} : (ec_gene){.min = -180, .max = 180};
    assert_true(fabs(circular_array(ones, 12).cost + 6.80177) < 1e-5);
    r.info = (ec_optimizer_info){.genes = genes, .n_genes = 12};
    statistics(&r, seeds_of_run(), &best, &median);
    assert_true(median <= -21.6 && best >= -21.8426);
    r.method = "rand1bin";
    r.info.population = 60;
    statistics(&r, seeds_of_run(), &best, &median);
    assert_true(median <= -21.6 && best >= -21.8426);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves),          cmocka_unit_test(test_bounds_rules),
        cmocka_unit_test(test_constant_offset), cmocka_unit_test(test_threads_and_levels),
        cmocka_unit_test(test_half_nan),        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_elite_order),     cmocka_unit_test(test_start_and_fixed_genes),
        cmocka_unit_test(test_bad_input),       cmocka_unit_test(test_shrinking),
        cmocka_unit_test(test_save_and_load),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_islands_alone),   cmocka_unit_test(test_migration),
        cmocka_unit_test(test_restarts),        cmocka_unit_test(test_opposition),
        cmocka_unit_test(test_group_rule),      cmocka_unit_test(test_stop_flag),
        cmocka_unit_test(test_fm_sound),        cmocka_unit_test(test_circular_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
