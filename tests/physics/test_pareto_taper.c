/* test_pareto_taper.c: side lobes against beam width of 16 elements, half a wavelength apart, with
 * symmetric amplitudes: the front of NSGA-II beside the limit of Dolph (Proc. IRE 34 (1946),
 * 335-348), which no amplitudes pass: of all with side lobes S below the beam the first nulls are
 * nearest for his, at sin = acos(cos(pi/(2(N-1))) / x0) / (pi d), x0 = cosh(acosh(S) / (N-1)).
 * Each member's figures are read here by a direct sum. */
#include "array_pattern.h"
#include "job.h"
#include "solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ELEMENTS = 16, HALF = ELEMENTS / 2, POINTS = 100001 };
static const double spacing = 0.5;

/* Beam width between the first minima in degrees, by Dolph. */
static double dolph_deg(double sll_db)
{
    double x0 = cosh(acosh(pow(10, -sll_db / 20)) / (ELEMENTS - 1));

    return 2 * 180 / EC_PI * asin(acos(cos(EC_PI / (2 * (ELEMENTS - 1))) / x0) / (EC_PI * spacing));
}

/* Of the amplitudes (of one half, from the middle to the edge) of a design. */
static void measure(const double *half, double *sll_db, double *fnbw_deg)
{
    static double f[POINTS];
    double highest = 0;
    int edge = 0;

    for (int k = 0; k < POINTS; k++) {
        double u = (double)k / (POINTS - 1), sum = 0;
        for (int m = 0; m < HALF; m++)
            sum += 2 * half[m] * cos(2 * EC_PI * u * spacing * (m + 0.5));
        f[k] = fabs(sum);
    }
    while (edge + 1 < POINTS && f[edge + 1] < f[edge])
        edge++;
    for (int k = edge; k < POINTS; k++)
        highest = fmax(highest, f[k]);
    *sll_db = 20 * log10(highest / f[0]);
    *fnbw_deg = 2 * 180 / EC_PI * asin((double)edge / (POINTS - 1));
}

static void add_goals(ec_job *job, ec_call *call)
{
    ec_array_beam beam;

    ec_array_beam_default(&beam);
    ec_expr sll = ec_array_sll_db(ec_job_graph(job), call, &beam);
    ec_expr fnbw = ec_array_fnbw_deg(ec_job_graph(job), call, &beam);
    ec_constraint limits = {.expr = sll, .min = -40, .max = -13, .scale = 1};
    assert_int_equal(ec_job_add_objective(job, "sll_db", sll, false, 0), EC_OK);
    assert_int_equal(ec_job_add_objective(job, "fnbw_deg", fnbw, false, 0), EC_OK);
    assert_int_equal(ec_job_add_constraint(job, "range", &limits), EC_OK);
}

static void check_front(const ec_result *result)
{
    const ec_front *front = &result->front;
    double least = 0, most = -100, sum = 0;

    assert_true(front->n >= 60);
    for (int32_t i = 0; i < front->n; i++) {
        double sll, fnbw;
        measure(front->variable[0] + HALF * i, &sll, &fnbw);
        assert_true(fabs(sll - front->objective_final[2 * i]) < 2e-3);
        assert_true(fabs(fnbw - front->objective_final[2 * i + 1]) < 5e-3);
        double over = fnbw / dolph_deg(sll) - 1;
        if (!(over > -2e-4 && over < 0.05))
            fail_msg("member %d: %.4f dB, %.4f deg, Dolph %.4f deg", (int)i + 1, sll, fnbw,
                     dolph_deg(sll));
        sum += over / front->n;
        least = fmin(least, sll);
        most = fmax(most, sll);
    }
    print_message("%d members from %.2f to %.2f dB, %.3f %% above Dolph in the mean\n",
                  (int)front->n, least, most, 100 * sum);
    assert_true(sum < 0.025);
    assert_true(least < -26 && most > -14.5);
}

static void the_front_ends_on_dolphs_curve(void **state)
{
    static double u[1601], x[ELEMENTS], low[HALF], high[HALF];
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_backend *backend = NULL;
    ec_call *call = NULL;
    ec_array_config config;
    ec_solve_info info;
    ec_backend_info cpu = {.name = "cpu"};
    int32_t count = ELEMENTS;

    (void)state;
    for (int i = 0; i < 1601; i++)
        u[i] = (i - 800) / 800.0;
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = spacing * (i - 0.5 * (ELEMENTS - 1));
    for (int i = 0; i < HALF; i++) {
        low[i] = 0.02;
        high[i] = 1;
    }
    ec_variable_info half = {
        .name = "half", .kind = EC_VARIABLE_REAL, .count = HALF, .min = low, .max = high};
    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        ec_result *result = NULL;
        assert_int_equal(ec_graph_create(&graph), EC_OK);
        assert_int_equal(ec_job_create(graph, "taper", seed, &job), EC_OK);
        assert_int_equal(ec_job_add_variable(job, &half), 0);
        ec_array_config_default(&config);
        config.kind = EC_ARRAY_CUT_U;
        config.na = 1601;
        config.a = u;
        config.elements = ELEMENTS;
        ec_array_inputs inputs = {
            .x = ec_graph_constant(graph, 1, &count, x),
            .y = EC_ARRAY_ABSENT,
            .z = EC_ARRAY_ABSENT,
            .amplitude = ec_graph_mirror(graph, ec_job_variable(job, 0)->value, false, false),
            .phase = EC_ARRAY_ABSENT,
            .wavelength = ec_graph_number(graph, 1),
            .u0 = EC_ARRAY_ABSENT,
            .v0 = EC_ARRAY_ABSENT,
            .w0 = EC_ARRAY_ABSENT};
        assert_int_equal(ec_array_call(graph, &config, &inputs, &call), EC_OK);
        add_goals(job, call);
        ec_solve_info_default(&info);
        info.method = "nsga2";
        info.population = 100;
        info.evaluations = 100000;
        if (ec_solve(job, backend, &info, &result) != EC_OK)
            fail_msg("%s", ec_error_text());
        check_front(result);
        ec_result_destroy(&result);
        ec_job_destroy(&job);
        ec_graph_destroy(&graph);
    }
    ec_backend_destroy(&backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_front_ends_on_dolphs_curve)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
