/* test_thinned.c: which elements of a symmetric half-wave line of 20 are on, for the lowest side
 * lobes. All 2^10 arrays are computed here by a direct sum in long double; ant colonies have to
 * find the best of them, also among those with a given number of elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_pattern.h"
#include "core/job.h"
#include "core/solve.h"

#include <math.h>
#include <stdlib.h>

enum { HALF = 10, POINTS = 401 };
static const double exclude = 0.1325; /* about the first null, between two points of the grid */

static double direction(int i)
{
    return -1.0 + 2.0 * i / (POINTS - 1);
}

/* Side-lobe level in dB of the elements that are on (bit n: those at +-(n + 1/2) / 2). */
static double level_of(unsigned on)
{
    const long double pi = 3.141592653589793238462643383279503L;
    long double highest = 0, peak = 0;

    for (int n = 0; n < HALF; n++)
        peak += 2 * (on >> n & 1u);
    for (int i = 0; i < POINTS; i++) {
        long double field = 0, u = direction(i);
        if (fabsl(u) <= exclude)
            continue;
        for (int n = 0; n < HALF; n++)
            field += (on >> n & 1u) ? 2 * cosl(pi * (n + 0.5L) * u) : 0;
        highest = fabsl(field) > highest ? fabsl(field) : highest;
    }
    return (double)(20 * log10l(highest / peak));
}

static double best_of_all(int elements)
{
    double best = INFINITY;

    for (unsigned on = 1; on < 1u << HALF; on++) {
        int count = 0;
        for (int n = 0; n < HALF; n++)
            count += (int)(on >> n & 1u);
        double level = elements < 0 || count == elements ? level_of(on) : INFINITY;
        best = level < best ? level : best;
    }
    return best;
}

/* elements: of a half that are on; < 0: free. */
static double found_by_ants(int elements, uint64_t seed)
{
    ec_backend_info backend_info = {.name = "cpu", .threads = 1};
    ec_variable_info on = {
        .name = "on", .kind = EC_VARIABLE_BINARY, .count = HALF, .sum = elements};
    double u[POINTS], x[2 * HALF];
    int32_t count = 2 * HALF;
    ec_backend *backend;
    ec_graph *g;
    ec_job *job;
    ec_call *call;
    ec_array_config config;
    ec_solve_info info;
    ec_result *result;

    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    assert_int_equal(ec_graph_create(&g), EC_OK);
    assert_int_equal(ec_job_create(g, "thinned", seed, &job), EC_OK);
    assert_int_equal(ec_job_add_variable(job, &on), 0);
    for (int i = 0; i < POINTS; i++)
        u[i] = direction(i);
    for (int i = 0; i < count; i++)
        x[i] = 0.5 * (i - 0.5 * (count - 1));
    ec_array_config_default(&config);
    config.kind = EC_ARRAY_CUT_U;
    config.a = u;
    config.na = POINTS;
    config.elements = count;
    ec_expr zero = ec_graph_number(g, 0), one = ec_graph_number(g, 1);
    ec_array_inputs in = {.x = ec_graph_constant(g, 1, &count, x),
                          .y = zero,
                          .z = zero,
                          .amplitude =
                              ec_graph_mirror(g, ec_job_variable(job, 0)->value, false, false),
                          .phase = zero,
                          .wavelength = one,
                          .u0 = zero,
                          .v0 = zero,
                          .w0 = one};
    assert_int_equal(ec_array_call(g, &config, &in, &call), EC_OK);
    ec_array_beam beam = {.look_a = NAN, .look_b = NAN, .exclude_a = exclude, .exclude_b = NAN};
    ec_expr level = ec_array_sll_db(g, call, &beam);
    assert_true(level >= 0);
    assert_int_equal(ec_job_add_objective(job, "sll_db", level, false, 0), EC_OK);
    ec_solve_info_default(&info);
    info.method = "aco";
    info.generations = 100;
    assert_int_equal(ec_solve(job, backend, &info, &result), EC_OK);
    assert_true(result->found);
    unsigned bits = 0;
    for (int n = 0; n < HALF; n++)
        bits |= (unsigned)(result->variable[0][n] == 1) << n;
    double found = level_of(bits);
    /* the search looks between the points of the grid */
    assert_true(fabs(found - result->objective_search[0]) < 5e-3);
    ec_result_destroy(&result);
    ec_job_destroy(&job);
    ec_graph_destroy(&g);
    ec_backend_destroy(&backend);
    return found;
}

static void test_brute_force(void **state)
{
    double best = best_of_all(-1);

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        assert_true(found_by_ants(-1, seed) == best);
}

static void test_given_number(void **state)
{
    double best = best_of_all(7);

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        assert_true(found_by_ants(7, seed) == best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_given_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
