/* test_acor.c: ACO_R on the CPU: its draws against the paper's equations, what it solves, integral
 * genes, and the traps of other tools. */
#include "sanitized.h"
#include "search_harness.h"

#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { GENES = 3, ARCHIVE = 5, ANTS = 64 };

typedef struct open_search {
    const ec_optimizer_def *def;
    ec_backend *backend;
    ec_optimizer *optimizer;
    ec_gene genes[GENES];
    double options[EC_METHOD_OPTIONS_MAX];
} open_search;

static void begin(open_search *s, double q, double xi)
{
    const ec_method_setting settings[] = {{"archive", ARCHIVE}, {"q", q}, {"xi", xi}, {NULL, 0}};
    ec_backend_info cpu = {"cpu", 1, NULL, NULL};

    s->def = ec_optimizer_find("acor");
    assert_true(ec_method_options(s->def, settings, s->options));
    for (int g = 0; g < GENES; g++)
        s->genes[g] = (ec_gene){.min = -1, .max = 1};
    s->genes[2].max = s->genes[2].min = 0.25;
    ec_optimizer_info info = {
        .genes = s->genes, .n_genes = GENES, .population = ANTS, .seed = 11, .options = s->options};
    assert_int_equal(ec_backend_create(&cpu, &s->backend), EC_OK);
    assert_int_equal(s->def->create(s->def, s->backend, &info, &s->optimizer), EC_OK);
}

static void end(open_search *s)
{
    s->def->destroy(&s->optimizer);
    ec_backend_destroy(&s->backend);
}

/* A generation with the given costs; its designs as rows. */
static void generation(open_search *s, const double *cost, double rows[ANTS][GENES])
{
    uint8_t status[ANTS] = {0};
    ec_array X;
    size_t n;

    assert_int_equal(s->def->propose(s->optimizer, &X, NULL, NULL, &n), EC_OK);
    assert_int_equal(n, ANTS);
    for (int c = 0; c < ANTS; c++)
        for (int g = 0; g < GENES; g++)
            rows[c][g] = ((const double *)X.data)[(size_t)g * X.ld + (size_t)c];
    ec_scores scores = {.cost = cost, .status = status, .ld = X.ld};
    assert_int_equal(s->def->take(s->optimizer, &scores, n), EC_OK);
}

/* The second generation's designs from the archive after the first, by the paper's equations. */
static void test_draws(void **state)
{
    static double first[ANTS][GENES], second[ANTS][GENES];
    double cost[ANTS], archive[ARCHIVE][GENES], weight[ARCHIVE], whole = 0;
    const double q = 0.3, xi = 0.7;
    open_search s;
    size_t found;
    int used[ARCHIVE] = {0};

    (void)state;
    for (int c = 0; c < ANTS; c++)
        cost[c] = (c * 37) % ANTS;
    begin(&s, q, xi);
    generation(&s, cost, first);
    assert_int_equal(s.def->elite(s.optimizer, 64, &archive[0][0], cost, NULL, NULL, &found),
                     EC_OK);
    assert_int_equal(found, ARCHIVE);
    for (int r = 0; r < ARCHIVE; r++) {
        int c = 0;
        while ((c * 37) % ANTS != r)
            c++;
        assert_true(cost[r] == r);
        assert_memory_equal(archive[r], first[c], sizeof archive[r]);
        weight[r] = exp(-r * r / (2 * q * q * ARCHIVE * ARCHIVE));
        whole += weight[r];
    }
    generation(&s, cost, second);
    ec_random_stream designs = ec_random_make(11, 1, 2, 0), draws = ec_random_make(11, 1, 3, 0);
    for (uint32_t c = 0; c < ANTS; c++) {
        uint32_t words[4];
        int row = 0;
        ec_random_words(&designs, 0, c, words);
        double u = ec_uniform_53(words[0], words[1]) * whole;
        for (double sum = weight[0]; sum < u; sum += weight[row])
            row++;
        used[row]++;
        ec_random_words(&draws, 0, c, words);
        for (int g = 0; g < 2; g++) {
            double distance = 0, mean = archive[row][g];
            for (int e = 0; e < ARCHIVE; e++)
                distance += fabs(archive[e][g] - mean);
            double z = ec_normal(ec_uniform_52_open(words[2 * g], words[2 * g + 1]));
            double x = mean + z * xi * distance / (ARCHIVE - 1);
            x = x > 1 ? (1 + mean) / 2 : x < -1 ? (mean - 1) / 2 : x;
            assert_true(fabs(second[c][g] - x) < 1e-12);
        }
        assert_true(second[c][2] == 0.25);
    }
    for (int r = 0; r + 1 < ARCHIVE; r++)
        assert_true(used[r] > 0);
    end(&s);
}

/* Ties go to the archive, then to the smaller index; failures come last. */
static void test_order(void **state)
{
    static double first[ANTS][GENES], second[ANTS][GENES];
    double cost[ANTS], archive[ARCHIVE][GENES], best[ARCHIVE];
    open_search s;
    size_t found;

    (void)state;
    for (int c = 0; c < ANTS; c++)
        cost[c] = c < 40 ? NAN : c == 50 ? -INFINITY : 7;
    begin(&s, 0.1, 0.85);
    generation(&s, cost, first);
    assert_int_equal(s.def->elite(s.optimizer, 9, &archive[0][0], best, NULL, NULL, &found), EC_OK);
    for (int r = 0; r < ARCHIVE; r++)
        assert_memory_equal(archive[r], first[40 + r], sizeof archive[r]);
    for (int c = 0; c < ANTS; c++)
        cost[c] = c == 33 ? 7 : c == 60 ? 3 : c == 20 ? 3 : 8;
    generation(&s, cost, second);
    assert_int_equal(s.def->elite(s.optimizer, 9, &archive[0][0], best, NULL, NULL, &found), EC_OK);
    assert_memory_equal(archive[0], second[20], sizeof archive[0]);
    assert_memory_equal(archive[1], second[60], sizeof archive[0]);
    assert_memory_equal(archive[2], first[40], sizeof archive[0]);
    assert_memory_equal(archive[4], first[42], sizeof archive[0]);
    const ec_optimizer_stats *stats = s.def->stats(s.optimizer);
    assert_true(stats->best_cost == 3 && stats->feasible == ARCHIVE && stats->failed == 41);
    end(&s);
}

static void test_solves(void **state)
{
    search s = {.method = "acor", .f = search_sphere, .lower = -5, .upper = 10, .target = 1e-8};

    (void)state;
    if (EC_SANITIZED)
        skip();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        s.info = (ec_optimizer_info){.n_genes = 10, .seed = seed, .evaluations = 10000};
        search_result r = search_run(&s);
        assert_true(r.hit > 0 && r.hit < 8000);
    }
    s.f = search_rosenbrock;
    s.lower = -2;
    s.upper = 2;
    s.info = (ec_optimizer_info){.n_genes = 5, .seed = 2, .evaluations = 60000};
    assert_true(search_run(&s).cost < 1e-2);
    s.f = search_corner;
    s.lower = 0;
    s.upper = 3;
    s.info = (ec_optimizer_info){.n_genes = 10, .seed = 1, .evaluations = 20000};
    assert_true(search_run(&s).cost < 1e-6);
    for (size_t ants = 1; ants < 600; ants = ants * 7 + 1) { /* fewer and more than the archive */
        s.info =
            (ec_optimizer_info){.n_genes = 2, .population = ants, .seed = 1, .evaluations = 20000};
        assert_true(search_run(&s).cost < 1e-6);
    }
}

/* Four integers from 1 to 40, six bits, two reals. */
static search_score mixed(const double *x, size_t n)
{
    static const double wanted[10] = {3, 40, 18, 1, 1, 0, 0, 1, 1, 0};
    search_score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++) {
        double v = i < 4 ? fmin(fmax(floor(x[i] + 0.5), 1), 40) : i < 10 ? x[i] >= 0.5 : x[i];
        double d = v - (i < 10 ? wanted[i] : 0.1 * (double)i);
        s.cost += d * d;
        /* in the middle of its cell */
        assert_true(i >= 4 || x[i] == floor(x[i]));
        assert_true(i < 4 || i >= 10 || x[i] == 0.25 || x[i] == 0.75);
    }
    return s;
}

static void test_integral(void **state)
{
    ec_gene genes[12];
    int seeds = EC_SANITIZED ? 1 : 10, solved = 0;

    (void)state;
    for (int g = 0; g < 12; g++)
        genes[g] = g < 4    ? (ec_gene){.min = 0.5, .max = 40.5, .integral = true}
                   : g < 10 ? (ec_gene){.min = 0, .max = 1, .integral = true}
                            : (ec_gene){.min = -5, .max = 5};
    for (int seed = 1; seed <= seeds; seed++) {
        search s = {.method = "acor", .f = mixed};
        s.info = (ec_optimizer_info){
            .genes = genes, .n_genes = 12, .seed = (uint64_t)seed, .evaluations = 20000};
        solved += search_run(&s).cost < 1e-8;
    }
    print_message("mixed: %d of %d\n", solved, seeds);
    assert_true(solved >= seeds * 9 / 10);
}

/* The first three are those of the largest genes; no two are ever equal. */
static search_score three_of(const double *x, size_t n)
{
    search_score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++) {
        int larger = 0;
        for (size_t k = 0; k < n; k++) {
            larger += x[k] > x[i];
            assert_true(k == i || x[k] != x[i]);
        }
        s.cost += i < 3 ? larger >= 3 : larger < 3;
    }
    return s;
}

static void test_sets(void **state)
{
    ec_gene genes[20];
    search s = {.method = "acor", .f = three_of};

    (void)state;
    for (int g = 0; g < 20; g++)
        genes[g] = (ec_gene){.min = 0, .max = 1, .integral = true, .set = 1, .ones = 3};
    s.info = (ec_optimizer_info){.genes = genes, .n_genes = 20, .seed = 1, .evaluations = 20000};
    assert_true(search_run(&s).cost == 0);
}

/* ---- traps ---- */

static void test_constant_offset(void **state)
{
    search s = {.method = "acor", .f = search_dyadic, .lower = -2, .upper = 2};

    (void)state;
    s.info = (ec_optimizer_info){.n_genes = 6, .seed = 5, .evaluations = 12000};
    search_result a = search_run(&s);
    s.f = search_dyadic_100;
    search_result b = search_run(&s);
    assert_true(a.path == b.path && a.cost + 100 == b.cost);
    s.info.seed = 6;
    assert_true(search_run(&s).path != a.path);
    s.info.seed = 5;
    s.info.island = 1;
    assert_true(search_run(&s).path != a.path);
}

static void test_threads_and_levels(void **state)
{
    static const char *const levels[] = {"v1", "v3", "v4"};
    search s = {.method = "acor", .f = search_rosenbrock, .lower = -2, .upper = 2};

    (void)state;
    s.info =
        (ec_optimizer_info){.n_genes = 37, .population = 1003, .seed = 9, .evaluations = 1003 * 20};
    search_result a = search_run(&s);
    for (int threads = 2; threads <= 7; threads += 5) {
        s.threads = threads;
        search_result b = search_run(&s);
        assert_true(a.path == b.path);
        assert_memory_equal(&a.stats, &b.stats, sizeof a.stats);
    }
    for (int i = 0; i <= ec_isa_detect() && strcmp(ec_isa_name(i), levels[i]) == 0; i++) {
        s.isa = levels[i];
        assert_true(search_run(&s).path == a.path);
    }
}

static void test_failures(void **state)
{
    search s = {.method = "acor", .f = search_half_nan, .lower = -5, .upper = 5};

    (void)state;
    s.info = (ec_optimizer_info){.n_genes = 4, .seed = 2, .evaluations = 10000};
    search_result r = search_run(&s);
    assert_true(r.cost < 1e-8 && r.stats.feasible == r.stats.population && r.stats.failed > 0);
    s.lower = -4;
    s.upper = 4;
    s.f = search_hostile;
    r = search_run(&s);
    assert_true(r.stats.best_class == 0 && fabs(r.cost - 0.01) < 1e-4);
    s.f = search_nan;
    r = search_run(&s);
    assert_true(r.stats.failed == 10000 && r.stats.best_class == 2);
    s.f = search_flat;
    r = search_run(&s);
    assert_true(r.cost == 1);
}

/* ---- save and load, bad input ---- */

static void test_save_and_load(void **state)
{
    search s = {.method = "acor", .f = search_half_nan, .lower = -5, .upper = 5};

    (void)state;
    s.info = (ec_optimizer_info){.n_genes = 5, .population = 17, .seed = 4, .evaluations = 3000};
    search_result a = search_run(&s);
    for (s.save_at = 1; s.save_at < 170; s.save_at += 1 + s.save_at / 4) {
        search_result b = search_run(&s);
        assert_true(a.path == b.path && a.cost == b.cost);
        assert_memory_equal(&a.stats, &b.stats, sizeof a.stats);
    }
}

static void test_bad_input(void **state)
{
    const ec_optimizer_def *def = ec_optimizer_find("acor");
    double options[3] = {50, 0.1, 0.85};
    ec_backend_info cpu = {"cpu", 1, NULL, NULL};
    ec_gene genes[2] = {{.max = 1}, {.max = 1}};
    ec_optimizer_info good = {.genes = genes, .n_genes = 2, .seed = 1, .options = options}, bad;
    ec_optimizer *optimizer = NULL;
    ec_backend *backend;
    void *blob;
    size_t bytes;

    (void)state;
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    bad = good;
    bad.n_group_genes = 1;
    assert_int_equal(def->create(def, backend, &bad, &optimizer), EC_ERR_UNSUPPORTED);
    bad = good;
    bad.population = (size_t)1 << 40;
    assert_int_equal(def->create(def, backend, &bad, &optimizer), EC_ERR_ARGUMENT);
    options[0] = 1;
    assert_int_equal(def->create(def, backend, &good, &optimizer), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "archive"));
    options[0] = 50.5;
    assert_int_equal(def->create(def, backend, &good, &optimizer), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "integer"));
    options[0] = 50;
    assert_int_equal(def->create(def, backend, &good, &optimizer), EC_OK);
    assert_int_equal(def->save(optimizer, &blob, &bytes), EC_OK);
    assert_int_equal(def->load(optimizer, blob, bytes), EC_OK);
    assert_int_equal(def->load(optimizer, blob, bytes - 8), EC_ERR_FORMAT);
    def->destroy(&optimizer);
    options[0] = 20;
    assert_int_equal(def->create(def, backend, &good, &optimizer), EC_OK);
    assert_int_equal(def->load(optimizer, blob, bytes), EC_ERR_FORMAT);
    assert_non_null(strstr(ec_error_text(), "archive 50"));
    free(blob);
    def->destroy(&optimizer);
    ec_backend_destroy(&backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_integral),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_constant_offset),
        cmocka_unit_test(test_threads_and_levels),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
