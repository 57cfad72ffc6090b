/* test_thinned_polish.c: a symmetric line of 20 elements half a wavelength apart, on or off: all 1,024
 * thinned arrays are scored here by a direct sum, and the search with its polish has to find the best. */
#include "array_pattern.h"
#include "job.h"
#include "solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { HALF = 10, POINTS = 4001, GRID = 201 };
static const double beam_edge = 0.14; /* u from which on everything is a side lobe */

/* Highest level from the beam's edge on, in dB below the peak; bit i is element i from the centre. */
static double side_lobes(int bits)
{
    double highest = 0, on = 0;

    for (int i = 0; i < HALF; i++)
        on += bits >> i & 1;
    for (int k = 0; k < POINTS; k++) {
        double u = beam_edge + (1 - beam_edge) * k / (POINTS - 1), f = 0;
        for (int i = 0; i < HALF; i++)
            f += bits >> i & 1 ? cos(EC_PI * (i + 0.5) * u) : 0;
        highest = fmax(highest, fabs(f));
    }
    return 20 * log10(highest / on);
}

static double best_of_all(void)
{
    double best = INFINITY;

    for (int bits = 1; bits < 1 << HALF; bits++)
        best = fmin(best, side_lobes(bits));
    return best;
}

static int search(uint64_t seed)
{
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_backend *backend = NULL;
    ec_call *call = NULL;
    ec_result *result = NULL;
    ec_array_config config;
    ec_array_beam beam;
    ec_solve_info info;
    ec_backend_info cpu = {.name = "cpu"};
    ec_variable_info on = {.name = "on", .kind = EC_VARIABLE_BINARY, .count = HALF, .sum = -1};
    double u[GRID], places[2 * HALF];
    const int32_t elements = 2 * HALF;
    int bits = 0;

    for (int i = 0; i < GRID; i++)
        u[i] = (double)i / (GRID - 1);
    for (int i = 0; i < 2 * HALF; i++)
        places[i] = 0.5 * (i - HALF + 0.5);
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    assert_int_equal(ec_job_create(graph, "thinned", seed, &job), EC_OK);
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    assert_int_equal(ec_job_add_variable(job, &on), 0);
    ec_array_config_default(&config);
    config.kind = EC_ARRAY_CUT_U;
    config.na = GRID;
    config.a = u;
    config.elements = elements;
    ec_array_inputs inputs = {
        .x = ec_graph_constant(graph, 1, &elements, places),
        .y = EC_ARRAY_ABSENT,
        .z = EC_ARRAY_ABSENT,
        .amplitude = ec_graph_mirror(graph, ec_job_variable(job, 0)->value, false, false),
        .phase = EC_ARRAY_ABSENT,
        .wavelength = ec_graph_number(graph, 1),
        .u0 = EC_ARRAY_ABSENT,
        .v0 = EC_ARRAY_ABSENT,
        .w0 = EC_ARRAY_ABSENT};
    assert_int_equal(ec_array_call(graph, &config, &inputs, &call), EC_OK);
    ec_array_beam_default(&beam);
    beam.look_a = 0;
    beam.exclude_a = beam_edge;
    ec_expr level = ec_array_sll_db(graph, call, &beam);
    assert_int_equal(ec_job_add_objective(job, "sll_db", level, false, 0), EC_OK);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 16;
    info.generations = 4;
    info.polish = true;
    info.polish_evaluations = 200;
    if (ec_solve(job, backend, &info, &result) != EC_OK)
        fail_msg("%s", ec_error_text());
    for (int i = 0; i < HALF; i++)
        bits |= (int)result->variable[0][i] << i;
    assert_true(fabs(side_lobes(bits) - result->objective_final[0]) < 1e-3);
    ec_result_destroy(&result);
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    return bits;
}

static void test_20(void **state)
{
    double best = best_of_all();

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double reached = side_lobes(search(seed));
        if (!(reached <= best + 1e-9))
            fail_msg("seed %d: %.5f dB, the best of all is %.5f", (int)seed, reached, best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_20),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
