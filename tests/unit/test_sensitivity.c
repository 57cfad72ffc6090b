/* test_sensitivity.c: Sobol indices and elementary effects of functions whose values are known:
 * Ishigami's (T. Ishigami and T. Homma, 1990) and Sobol's g-function, with failures left out. */
#include "sensitivity.h"
#include "job_harness.h"

#include <math.h>

static ec_expr element(problem *p, int i)
{
    return ec_graph_slice(p->graph, p->x, i, 0);
}

static ec_expr number(problem *p, double value)
{
    return ec_graph_number(p->graph, value);
}

static ec_expr add(problem *p, ec_expr a, ec_expr b)
{
    return ec_graph_binary(p->graph, EC_OP_ADD, a, b);
}

static ec_expr multiply(problem *p, ec_expr a, ec_expr b)
{
    return ec_graph_binary(p->graph, EC_OP_MUL, a, b);
}

/* sin x1 + 7 sin^2 x2 + 0.1 x3^4 sin x1 */
static ec_expr ishigami(problem *p)
{
    ec_expr s1 = ec_graph_unary(p->graph, EC_OP_SIN, element(p, 0));
    ec_expr s2 = ec_graph_unary(p->graph, EC_OP_SIN, element(p, 1));
    ec_expr x3 = ec_graph_unary(p->graph, EC_OP_SQUARE, element(p, 2));
    ec_expr x4 = ec_graph_unary(p->graph, EC_OP_SQUARE, x3);
    ec_expr sum = add(p, s1, multiply(p, number(p, 7), ec_graph_unary(p->graph, EC_OP_SQUARE, s2)));

    return add(p, sum, multiply(p, multiply(p, number(p, 0.1), x4), s1));
}

static ec_sensitivity *run(problem *p, const ec_sensitivity_info *info)
{
    ec_sweep_plan *plan = NULL;
    ec_sweep *sweep = NULL;
    ec_sensitivity *r = NULL;

    assert_int_equal(ec_sensitivity_plan(p->job, info, &plan), EC_OK);
    assert_int_equal(plan->n, ec_sensitivity_rows(p->job, info));
    ec_sweep_info sweep_info = {.plan = plan, .fidelity = EC_FINAL};
    assert_int_equal(ec_sweep_run(p->job, p->backend, &sweep_info, &sweep), EC_OK);
    assert_int_equal(ec_sensitivity_create(info, plan, sweep, &r), EC_OK);
    ec_sweep_destroy(&sweep);
    ec_sweep_plan_destroy(&plan);
    return r;
}

static void test_ishigami(void **state)
{
    static const double first[] = {0.3139, 0.4424, 0}, total[] = {0.5576, 0.4424, 0.2437};
    ec_sensitivity_info info = {.method = EC_SENSITIVITY_SOBOL, .points = 16384};
    problem p;

    (void)state;
    job_open_reals(&p, 3, -EC_PI, EC_PI, 2);
    assert_int_equal(ec_job_add_record(p.job, "f", ishigami(&p), 0), EC_OK);
    for (info.seed = 1; info.seed < 4; info.seed++) {
        ec_sensitivity *r = run(&p, &info);
        assert_int_equal(r->n_factors, 3);
        assert_int_equal(r->dropped, 0);
        assert_string_equal(r->factor[2], "x[3]");
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(r->value[0][i] - first[i]) < 0.02);
            assert_true(fabs(r->value[2][i] - total[i]) < 0.02);
            /* half widths that hold the error, and no more than some times it */
            assert_true(fabs(r->value[0][i] - first[i]) < 2 * r->value[1][i] + 1e-9);
            assert_true(r->value[1][i] < 0.04 && r->value[3][i] < 0.04);
        }
        ec_sensitivity_destroy(&r);
    }
    job_close(&p);
}

/* prod (|4 x - 2| + a) / (1 + a): V_i = 1/3 / (1 + a)^2, V = prod (1 + V_i) - 1. */
static void test_g_function(void **state)
{
    static const double a[] = {0, 1, 4.5, 9, 99};
    enum { D = sizeof a / sizeof *a };
    ec_sensitivity_info info = {.method = EC_SENSITIVITY_SOBOL, .points = 8192, .seed = 1};
    problem p;
    ec_expr product = -1;
    double part[D], variance = 1;

    (void)state;
    job_open_reals(&p, D, 0, 1, 2);
    for (int i = 0; i < D; i++) {
        ec_expr shifted = add(&p, multiply(&p, number(&p, 4), element(&p, i)), number(&p, -2));
        ec_expr factor =
            multiply(&p, add(&p, ec_graph_unary(p.graph, EC_OP_ABS, shifted), number(&p, a[i])),
                     number(&p, 1 / (1 + a[i])));
        product = i ? multiply(&p, product, factor) : factor;
        part[i] = 1 / (3 * (1 + a[i]) * (1 + a[i]));
        variance *= 1 + part[i];
    }
    double whole = variance;
    variance -= 1;
    assert_int_equal(ec_job_add_objective(p.job, "g", product, false, 0), EC_OK);
    ec_sensitivity *r = run(&p, &info);
    for (int i = 0; i < D; i++) {
        assert_true(fabs(r->value[0][i] - part[i] / variance) < 0.02);
        assert_true(fabs(r->value[2][i] - part[i] * whole / (1 + part[i]) / variance) < 0.02);
    }
    ec_sensitivity_destroy(&r);
    job_close(&p);
}

/* 3 x1 - 2 x2 + 0 x3 on [0, 2]: effects over the range are 6, -4 and 0, exactly alike everywhere. */
static void test_morris_linear(void **state)
{
    ec_sensitivity_info info = {
        .method = EC_SENSITIVITY_MORRIS, .trajectories = 10, .levels = 6, .seed = 2};
    static const double expected[] = {6, -4, 0};
    problem p;

    (void)state;
    job_open_reals(&p, 3, 0, 2, 2);
    ec_expr y = add(&p, multiply(&p, number(&p, 3), element(&p, 0)),
                    multiply(&p, number(&p, -2), element(&p, 1)));
    assert_int_equal(ec_job_add_record(p.job, "y", y, 0), EC_OK);
    ec_sensitivity *r = run(&p, &info);
    assert_int_equal(r->blocks, 10);
    assert_int_equal(r->n_measures, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(r->value[0][i] - expected[i]) < 1e-12);
        assert_true(fabs(r->value[1][i] - fabs(expected[i])) < 1e-12);
        assert_true(r->value[2][i] < 1e-12);
    }
    ec_sensitivity_destroy(&r);
    job_close(&p);
}

/* The published picture: x2 and x3 have effects of changing sign, x1 and x3 interact. */
static void test_morris_ishigami(void **state)
{
    ec_sensitivity_info info = {
        .method = EC_SENSITIVITY_MORRIS, .trajectories = 400, .levels = 4, .seed = 1};
    problem p;

    (void)state;
    job_open_reals(&p, 3, -EC_PI, EC_PI, 2);
    assert_int_equal(ec_job_add_record(p.job, "f", ishigami(&p), 0), EC_OK);
    ec_sensitivity *r = run(&p, &info);
    /* steps of 2/3 of the range, over 4 levels: x2 by 7 sin^2, which is 0 at the ends and 5.25 at
     * the inner levels: 5.25 / (2/3) up or down */
    assert_true(fabs(r->value[1][1] - 7.875) < 1e-9);
    assert_true(fabs(r->value[0][1]) < 2);
    assert_true(r->value[2][0] > 3 && r->value[2][2] > 3);
    ec_sensitivity_destroy(&r);
    job_close(&p);
}

/* Blocks with a design that has no value are left out, and counted. */
static void test_failures(void **state)
{
    ec_sensitivity_info info = {.method = EC_SENSITIVITY_SOBOL, .points = 2048, .seed = 1};
    problem p;

    (void)state;
    job_open_reals(&p, 2, 0, 1, 2);
    /* log(x1 - 0.1) has no value for a tenth of the designs */
    ec_expr y = ec_graph_unary(p.graph, EC_OP_LOG, add(&p, element(&p, 0), number(&p, -0.1)));
    assert_int_equal(ec_job_add_objective(p.job, "y", add(&p, y, element(&p, 1)), false, 0), EC_OK);
    ec_sensitivity *r = run(&p, &info);
    /* x1 of A and of B: 1 - 0.9^2 */
    assert_true(fabs((double)r->dropped / 2048 - 0.19) < 0.01);
    assert_true(isfinite(r->value[0][0]) && r->value[0][0] > 0.7 && r->value[0][0] < 1.05);
    assert_true(r->value[2][1] > 0 && r->value[2][1] < 0.2);
    ec_sensitivity_destroy(&r);
    job_close(&p);
}

static void test_refusals(void **state)
{
    ec_sensitivity_info info = {.method = EC_SENSITIVITY_MORRIS, .levels = 5};
    ec_variable_info positions = {
        .name = "pos", .kind = EC_VARIABLE_SPACED, .count = 4, .aperture = 4, .min_gap = 1};
    ec_sweep_plan *plan = NULL;
    int32_t only = 0;
    problem p;

    (void)state;
    job_open_reals(&p, 2, 0, 1, 2);
    assert_int_equal(ec_sensitivity_plan(p.job, &info, &plan), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "5 levels, an even number"));
    assert_int_equal(ec_job_add_variable(p.job, &positions), 1);
    info.levels = 4;
    assert_int_equal(ec_sensitivity_plan(p.job, &info, &plan), EC_ERR_UNSUPPORTED);
    assert_non_null(strstr(ec_error_text(), "elements of 'pos' depend on each other"));
    info.variables = &only;
    info.n_variables = 1;
    assert_int_equal(ec_sensitivity_plan(p.job, &info, &plan), EC_OK);
    assert_int_equal(plan->n, 60);
    ec_sweep_plan_destroy(&plan);
    info = (ec_sensitivity_info){.method = EC_SENSITIVITY_SOBOL, .points = 100000000};
    assert_int_equal(ec_sensitivity_plan(p.job, &info, &plan), EC_ERR_UNSUPPORTED);
    info.variables = &only;
    info.n_variables = 1;
    assert_int_equal(ec_sensitivity_plan(p.job, &info, &plan), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "designs are too many"));
    job_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ishigami),      cmocka_unit_test(test_g_function),
        cmocka_unit_test(test_morris_linear), cmocka_unit_test(test_morris_ishigami),
        cmocka_unit_test(test_failures),      cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
