/* test_aperiodic.c: the two aperiodic lines of Chen, He and Han, IEEE Trans. Antennas Propag. 54
 * (2006), 2116-2122, searched and polished from the core's side: 17 elements on 9.744 wavelengths and
 * 37 symmetric ones on 21.996, spacing at least half a wavelength. The side-lobe level is read here
 * by a direct sum on 200,001 points of u in [0, 1], outside the first local minimum. */
#include "array_pattern.h"
#include "job.h"
#include "solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { POINTS = 200001 };

static double side_lobe_level(const double *x, int n)
{
    double *f = malloc(POINTS * sizeof *f), highest = 0;
    int i = 0;

    assert_non_null(f);
    for (int k = 0; k < POINTS; k++) {
        double u = (double)k / (POINTS - 1), re = 0, im = 0;
        for (int m = 0; m < n; m++) {
            re += cos(2 * EC_PI * u * x[m]);
            im += sin(2 * EC_PI * u * x[m]);
        }
        f[k] = re * re + im * im;
    }
    while (i + 1 < POINTS && f[i + 1] < f[i])
        i++;
    for (; i < POINTS; i++)
        highest = fmax(highest, f[i]);
    double level = 10 * log10(highest / f[0]);
    free(f);
    return level;
}

typedef struct line {
    int count;
    double aperture;
    bool symmetric;
    double exclude;
    int points;
    size_t evaluations;
    double level; /* to be reached */
} line;

static void synthesise(const line *l, uint64_t seed)
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
    ec_variable_info spaced = {.name = "x",
                               .kind = EC_VARIABLE_SPACED,
                               .count = l->count,
                               .aperture = l->aperture,
                               .min_gap = 0.5,
                               .symmetric = l->symmetric};
    double *u = malloc((size_t)l->points * sizeof *u);

    assert_non_null(u);
    for (int i = 0; i < l->points; i++)
        u[i] = (double)i / (l->points - 1);
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    assert_int_equal(ec_job_create(graph, "aperiodic", seed, &job), EC_OK);
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    assert_int_equal(ec_job_add_variable(job, &spaced), 0);
    ec_array_config_default(&config);
    config.kind = EC_ARRAY_CUT_U;
    config.na = l->points;
    config.a = u;
    config.elements = l->count;
    ec_array_inputs inputs = {.x = ec_job_variable(job, 0)->value,
                              .y = EC_ARRAY_ABSENT,
                              .z = EC_ARRAY_ABSENT,
                              .amplitude = EC_ARRAY_ABSENT,
                              .phase = EC_ARRAY_ABSENT,
                              .wavelength = ec_graph_number(graph, 1),
                              .u0 = EC_ARRAY_ABSENT,
                              .v0 = EC_ARRAY_ABSENT,
                              .w0 = EC_ARRAY_ABSENT};
    assert_int_equal(ec_array_call(graph, &config, &inputs, &call), EC_OK);
    ec_array_beam_default(&beam);
    beam.look_a = 0;
    beam.exclude_a = l->exclude;
    ec_expr level = ec_array_sll_db(graph, call, &beam);
    assert_int_equal(ec_job_add_objective(job, "sll_db", level, false, 0), EC_OK);
    ec_solve_info_default(&info);
    info.evaluations = l->evaluations;
    info.polish = true;
    if (ec_solve(job, backend, &info, &result) != EC_OK)
        fail_msg("%s", ec_error_text());

    const double *x = result->variable[0];
    assert_true(x[0] == -l->aperture / 2 && x[l->count - 1] == l->aperture / 2);
    for (int i = 0; i + 1 < l->count; i++)
        assert_true(x[i + 1] - x[i] >= 0.5 - 1e-9);
    double reached = side_lobe_level(x, l->count);
    if (!(reached <= l->level))
        fail_msg("%d elements, seed %d: %.5f dB, %.5f expected", l->count, (int)seed, reached,
                 l->level);
    assert_true(fabs(reached - result->objective_final[0]) < 1e-3);
    ec_result_destroy(&result);
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    free(u);
}

static void test_17(void **state)
{
    static const line l = {17, 9.744, false, 0.105, 201, 30000, -20.142};

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        synthesise(&l, seed);
}

static void test_37(void **state)
{
    static const line l = {37, 21.996, true, 0.0495, 401, 50000, -21.09};

    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++)
        synthesise(&l, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_17),
        cmocka_unit_test(test_37),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
