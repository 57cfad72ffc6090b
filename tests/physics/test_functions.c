/* test_functions.c: the problems of problems.h: their values against sums written down once more, and
 * what differential evolution reaches on them with small budgets (optimizer_quality has the long
 * comparison). */
#include "problems.h"
#include "solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { D_MAX = EC_PROBLEM_GENES_MAX, SEEDS = 3 };

/* ---- values ---- */

static double value_at(const ec_problem *p, const double *x)
{
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_backend_info cpu = {.name = "cpu"};
    double f = NAN, *out = &f;

    if (ec_problem_job(p, 1, &graph, &job) != EC_OK)
        fail_msg("%s: %s", p->name, ec_error_text());
    assert_int_equal(ec_job_gene_count(job), p->genes);
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    ec_expr cost = ec_job_cost(job, 0);
    assert_int_equal(ec_evaluate_once(graph, backend, EC_SEARCH, 1, &cost, x, (size_t)p->genes,
                                      NULL, 0, &out, NULL, NULL),
                     EC_OK);
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    return f;
}

/* The formulas as loops. */
static double plain(const ec_problem *p, const double *x)
{
    double o[D_MAX], matrix[D_MAX * D_MAX], z[D_MAX], f = 0, squares = 0, waves = 0, product = 1;
    int n = p->genes;

    ec_problem_shift(p, o);
    ec_problem_rotation(p, matrix);
    for (int r = 0; r < n; r++) {
        z[r] = 0;
        for (int i = 0; i < n; i++)
            z[r] += p->scale * matrix[r * n + i] * (x[i] - o[i]);
        squares += z[r] * z[r];
        waves += cos(2 * EC_PI * z[r]);
        product *= cos(z[r] / sqrt(r + 1.0));
    }
    switch (p->name[0]) {
    case 's':
        return squares;
    case 'a':
        return -20 * exp(-0.2 * sqrt(squares / n)) - exp(waves / n) + 20 + exp(1);
    case 'g':
        return squares / 4000 - product + 1;
    }
    if (p->name[1] == 'a')
        return squares - 10 * waves + 10 * n;
    for (int i = 0; i + 1 < n; i++) {
        double a = z[i] + 1, b = z[i + 1] + 1;
        f += 100 * (a * a - b) * (a * a - b) + (a - 1) * (a - 1);
    }
    return f;
}

static void test_rotations(void **state)
{
    double matrix[D_MAX * D_MAX];

    (void)state;
    for (const ec_problem *p = ec_problem_table; p->scale > 0; p++) {
        ec_problem_rotation(p, matrix);
        for (int r = 0; r < p->genes; r++)
            for (int s = 0; s <= r; s++) {
                double product = 0;
                for (int i = 0; i < p->genes; i++)
                    product += matrix[r * p->genes + i] * matrix[s * p->genes + i];
                assert_true(fabs(product - (r == s)) < 1e-13);
            }
    }
}

static void test_values(void **state)
{
    double x[D_MAX], min[D_MAX], max[D_MAX];

    (void)state;
    for (const ec_problem *p = ec_problem_table; p->name; p++) {
        ec_problem_bounds(p, min, max);
        if (p->best) {
            p->best(p, x);
            for (int i = 0; i < p->genes; i++)
                assert_true(x[i] >= min[i] && x[i] <= max[i]);
            if (!(fabs(value_at(p, x) - p->optimum) < 1e-12))
                fail_msg("%s: %.17g at the optimum", p->name, value_at(p, x));
        }
        if (p->scale == 0)
            continue;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < p->genes; i++)
                x[i] = min[i] + (max[i] - min[i]) * fmod(0.37 * (i + 1) * (k + 1), 1.0);
            double is = value_at(p, x), wanted = plain(p, x);
            if (!(fabs(is - wanted) <= 1e-11 * (1 + fabs(wanted))))
                fail_msg("%s: %.17g, %.17g expected", p->name, is, wanted);
        }
    }
}

/* Published figures of the two engineering problems. */
static void test_published_values(void **state)
{
    double ones[12] = {1, 1, 1, 1, 1, 1};
    double fm[6] = {1, 5, 1.5, 4.8, 2, 4.9};
    double y = 0;

    (void)state;
    assert_true(fabs(value_at(ec_problem_find("circular_array"), ones) + 6.80177) < 5e-6);
    for (int t = 0; t <= 100; t++) {
        double th = 2 * EC_PI / 100 * t, inner = 4.8 * th + 2 * sin(4.9 * th);
        double d = sin(5 * th + 1.5 * sin(inner)) - sin(5 * th - 1.5 * sin(inner));
        y += d * d;
    }
    assert_true(fabs(value_at(ec_problem_find("fm_sound"), fm) - y) < 1e-9 * y);
    assert_null(ec_problem_find("sphere"));
}

/* ---- searches ---- */

typedef struct wanted {
    const char *problem, *method;
    size_t evaluations;
    double median; /* of SEEDS seeds, at most */
} wanted;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double solved(const wanted *w, uint64_t seed)
{
    const ec_problem *p = ec_problem_find(w->problem);
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_backend_info cpu = {.name = "cpu"};
    ec_result *result;
    ec_solve_info info;

    assert_non_null(p);
    assert_int_equal(ec_problem_job(p, seed, &graph, &job), EC_OK);
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    ec_solve_info_default(&info);
    info.method = w->method;
    info.evaluations = w->evaluations;
    if (ec_solve(job, backend, &info, &result) != EC_OK)
        fail_msg("%s: %s", w->problem, ec_error_text());
    double f = result->objective_final[0];
    ec_result_destroy(&result);
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    return f;
}

static void test_searches(void **state)
{
    static const wanted table[] = {
        {"sphere10", "lshade", 20000, 1e-12},     {"sphere10", "rand1bin", 20000, 1e-3},
        {"sphere10", "jde", 20000, 1e-3},         {"rosenbrock10", "lshade", 20000, 0.02},
        {"rastrigin10", "lshade", 20000, 9},      {"ackley10", "lshade", 20000, 1e-6},
        {"griewank10", "lshade", 20000, 0.1},     {"sphere30", "lshade", 60000, 1e-10},
        {"rosenbrock30", "lshade", 60000, 26},    {"rastrigin30", "lshade", 60000, 70},
        {"ackley30", "lshade", 60000, 1e-4},      {"griewank30", "lshade", 60000, 1e-8},
        {"fm_sound", "lshade", 60000, 0.1},       {"fm_sound", "rand1bin", 60000, 1e-6},
        {"circular_array", "lshade", 20000, -21},
    };
    bool met = true;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double f[SEEDS];
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            f[seed - 1] = solved(&table[i], seed);
        qsort(f, SEEDS, sizeof *f, compare_doubles);
        print_message("%s, %s: best %.4g, median %.4g, worst %.4g, limit %g\n", table[i].problem,
                      table[i].method, f[0], f[SEEDS / 2], f[SEEDS - 1], table[i].median);
        met = met && f[SEEDS / 2] <= table[i].median;
    }
    assert_true(met);
}

/* CMA-ES and ACO_R; the median of three seeds. */
static void test_learned_distributions(void **state)
{
    static const wanted table[] = {
        {"sphere30", "cmaes", 15000, 1e-10},      {"rosenbrock10", "cmaes", 15000, 1e-10},
        {"rosenbrock30", "cmaes", 30000, 26},     {"rastrigin10", "cmaes", 60000, 4},
        {"ackley30", "cmaes", 30000, 1e-8},       {"griewank10", "cmaes", 60000, 1e-10},
        {"griewank30", "cmaes", 20000, 1e-10},    {"fm_sound", "cmaes", 150000, 1e-10},
        {"circular_array", "cmaes", 100000, -21}, {"sphere10", "acor", 10000, 1e-6},
        {"griewank30", "acor", 60000, 1e-2},
    };
    bool met = true;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double f[3];
        for (uint64_t seed = 1; seed <= 3; seed++)
            f[seed - 1] = solved(&table[i], seed);
        qsort(f, 3, sizeof *f, compare_doubles);
        print_message("%s, %s: best %.4g, median %.4g, worst %.4g, limit %g\n", table[i].problem,
                      table[i].method, f[0], f[1], f[2], table[i].median);
        met = met && f[1] <= table[i].median;
    }
    assert_true(met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_published_values),
        cmocka_unit_test(test_searches),
        cmocka_unit_test(test_learned_distributions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
