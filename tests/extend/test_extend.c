/* test_extend.c: the evaluator microstrip.h and the optimizer climb.h, which the guide explains: values beside
 * published ones and limits, the same bits on all backends, failed designs, and searches with both.
 * What every optimizer has to hold is in unit/test_optimizers.c, for climb too. */
#include "climb.h"
#include "microstrip.h"

#include "core/executor.h"
#include "core/solve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTHS = 45 }; /* more than a strip of lanes, and no multiple of one */

/* ---- values ---- */

/* Of a board of height 1 m; widths is a constant of n elements. */
static void evaluate(double eps_r, int32_t n, const double *widths, double *ohms, double *eps_eff)
{
    const ec_microstrip_config config = {.height = 1, .eps_r = eps_r};
    ec_backend_info cpu = {.name = "cpu", .threads = 1};
    ec_backend *backend;
    ec_graph *graph;
    ec_expr out[EC_MICROSTRIP_OUTPUTS];
    double *values[] = {ohms, eps_eff};
    uint8_t status = 0;

    assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    ec_expr width = ec_graph_constant(graph, 1, &n, widths);
    assert_int_equal(ec_microstrip_create(graph, &config, width, out), EC_OK);
    assert_int_equal(
        ec_evaluate_once(graph, backend, EC_FINAL, 2, out, NULL, 0, NULL, 0, values, &status, NULL),
        EC_OK);
    assert_int_equal(status, 0);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
}

/* D. Pozar, Microwave Engineering, example 3.7: 50 ohm on eps_r 2.2 is a width of 3.081 heights, eps_eff 1.87. His
 * formulas are good to about 1 %. */
static void gives_published_values(void **state)
{
    const double width[] = {3.081};
    double ohms[1], eps_eff[1];

    (void)state;
    evaluate(2.2, 1, width, ohms, eps_eff);
    assert_true(fabs(ohms[0] - 50) < 0.5);
    assert_true(fabs(eps_eff[0] - 1.87) < 0.02);
}

/* In air: a narrow strip is a thin wire over its image, (eta / 2 pi) log(8 / u) to a relative u^2 / 100; and of any
 * strip the whole field is in air. A wide one is the capacitor eta / (u + 1.393 + 0.667 log(u + 1.444)), to 0.3 %
 * (E. Hammerstad 1975). */
static void meets_limits(void **state)
{
    const double eta = 376.730313668, width[] = {0.02, 0.05, 0.1, 2, 10, 50};
    double ohms[6], eps_eff[6];

    (void)state;
    evaluate(1, 6, width, ohms, eps_eff);
    for (int i = 0; i < 6; i++) {
        double u = width[i];
        double narrow = eta / 6.283185307179586 * log(8 / u);
        double wide = eta / (u + 1.393 + 0.667 * log(u + 1.444));
        assert_true(fabs(ohms[i] / (u < 1 ? narrow : wide) - 1) < (u < 1 ? 1e-3 : 4e-3));
        assert_true(eps_eff[i] == 1);
    }
}

/* ---- batches ---- */

typedef struct batch {
    double ohms[2][2][WIDTHS], eps_eff[WIDTHS]; /* [sample][element], over designs */
    uint8_t status[WIDTHS];
} batch;

/* Widths 0 to 4 m and 4 m less over a board of 1 m, times two samples; in a batch on a backend. */
static bool run_batch(const char *name, const char *isa, batch *b)
{
    const ec_microstrip_config config = {.height = 1, .eps_r = 4.4};
    const double min[] = {0, 0}, max[] = {4, 4}, factor[] = {1, 1.1};
    ec_backend_info info = {.name = name, .isa = isa, .threads = 2};
    ec_backend *backend;
    ec_graph *graph;
    ec_executor *executor;
    ec_array X;
    int32_t genes = 2;
    ec_expr of_samples[EC_MICROSTRIP_OUTPUTS], plain[EC_MICROSTRIP_OUTPUTS];
    double host[2 * 64];
    uint8_t *status;

    if (ec_backend_create(&info, &backend) != EC_OK)
        return false;
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    ec_expr x = ec_graph_variable(graph, false, 0, 2, min, max);
    ec_expr s = ec_graph_samples(graph, 2, 0, NULL, factor);
    ec_expr both = ec_graph_binary(graph, EC_OP_MUL, x, s);
    assert_int_equal(ec_microstrip_create(graph, &config, both, of_samples), EC_OK);
    assert_int_equal(ec_microstrip_create(graph, &config, ec_graph_slice(graph, x, 0, 0), plain),
                     EC_OK);
    ec_expr outputs[] = {of_samples[EC_MICROSTRIP_OHMS], plain[EC_MICROSTRIP_EPS_EFF]};
    ec_executor_info plan = {.outputs = outputs, .n_outputs = 2, .max_candidates = WIDTHS};
    assert_int_equal(ec_executor_create(graph, backend, &plan, &executor), EC_OK);
    assert_int_equal(ec_array_create(backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &genes, WIDTHS, 1),
                     EC_OK);
    assert_true(2 * X.ld <= sizeof host / sizeof *host);
    for (size_t c = 0; c < X.ld; c++) {
        host[c] = 4.0 * (double)c / WIDTHS;
        host[X.ld + c] = 4 - host[c];
    }
    X.lanes = WIDTHS;
    assert_int_equal(backend->ops->upload(backend, X.data, host, 2 * X.ld * sizeof *host), EC_OK);
    assert_int_equal(backend->ops->alloc(backend, 64, (void **)&status), EC_OK);
    assert_int_equal(ec_executor_run(executor, &X, NULL, NULL, status, WIDTHS, 0), EC_OK);
    const ec_array *ohms = ec_executor_output(executor, 0), *eps = ec_executor_output(executor, 1);
    for (size_t k = 0; k < 2; k++)
        for (size_t e = 0; e < 2; e++)
            assert_int_equal(backend->ops->download(backend, b->ohms[k][e],
                                                    (const double *)ohms->data +
                                                        k * ohms->sample_stride + e * ohms->ld,
                                                    sizeof b->ohms[k][e]),
                             EC_OK);
    assert_int_equal(backend->ops->download(backend, b->eps_eff, eps->data, sizeof b->eps_eff),
                     EC_OK);
    assert_int_equal(backend->ops->download(backend, b->status, status, WIDTHS), EC_OK);
    backend->ops->release(backend, status);
    ec_array_release(backend, &X);
    ec_executor_destroy(&executor);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    return true;
}

/* Each backend and instruction-set level: the values that single designs have, to the bit, and a failed one. */
static void same_everywhere(void **state)
{
    static const struct {
        const char *name, *isa;
    } where[] = {{"cpu", "v1"}, {"cpu", "v3"}, {"cpu", "v4"}, {"cuda", NULL}};
    static batch first, other;

    (void)state;
    assert_true(run_batch("cpu", NULL, &first));
    for (int c = 1; c < WIDTHS; c++) {
        double u[] = {4.0 * c / WIDTHS, 4 - 4.0 * c / WIDTHS, 0, 0}, ohms[4], eps_eff[4];
        u[2] = u[0] * 1.1;
        u[3] = u[1] * 1.1;
        evaluate(4.4, 4, u, ohms, eps_eff);
        for (int k = 0; k < 4; k++)
            assert_true(ohms[k] == first.ohms[k / 2][k % 2][c]);
        assert_true(eps_eff[0] == first.eps_eff[c]);
        assert_int_equal(first.status[c], 0);
    }
    assert_int_equal(first.status[0], EC_CANDIDATE_EVALUATOR); /* a width of 0 */
    assert_true(isnan(first.ohms[0][0][0]) && isnan(first.eps_eff[0]));
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        if (!run_batch(where[i].name, where[i].isa, &other)) {
            print_message("skipped: %s %s\n", where[i].name, where[i].isa ? where[i].isa : "");
            continue;
        }
        assert_memory_equal(first.status, other.status, sizeof first.status);
        for (int k = 0; k < 4; k++)
            assert_memory_equal(first.ohms[k / 2][k % 2] + 1, other.ohms[k / 2][k % 2] + 1,
                                (WIDTHS - 1) * sizeof(double));
    }
}

static void refuses(void **state)
{
    static const ec_microstrip_config bad[] = {{0, 2}, {NAN, 2}, {1, 0.5}, {1, NAN}};
    const ec_microstrip_config good = {1, 2};
    ec_graph *graph;
    ec_expr out[EC_MICROSTRIP_OUTPUTS];

    (void)state;
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    ec_expr one = ec_graph_number(graph, 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ec_microstrip_create(graph, &bad[i], one, out), EC_ERR_RANGE);
        assert_non_null(strstr(ec_error_text(), i < 2 ? "height" : "eps_r"));
    }
    assert_int_equal(ec_microstrip_create(graph, &good, 99, out), EC_ERR_ARGUMENT);
    ec_graph_destroy(&graph);
}

/* ---- searches: a line of 50 ohm, by a method of the table and by climb ---- */

static void finds_fifty_ohm(void **state)
{
    static const ec_optimizer_def *const methods[] = {NULL, &ec_climb_method};
    const ec_microstrip_config config = {.height = 1e-3, .eps_r = 2.2};
    const double min[] = {-1e-3}, max[] = {9e-3}; /* a tenth of the widths cannot be */

    (void)state;
    for (int i = 0; i < 2; i++) {
        ec_backend_info cpu = {.name = "cpu", .threads = 1};
        ec_backend *backend;
        ec_graph *graph;
        ec_job *job;
        ec_result *result = NULL;
        ec_expr out[EC_MICROSTRIP_OUTPUTS];
        ec_solve_info info;
        assert_int_equal(ec_backend_create(&cpu, &backend), EC_OK);
        assert_int_equal(ec_graph_create(&graph), EC_OK);
        assert_int_equal(ec_job_create(graph, "line", 1, &job), EC_OK);
        ec_variable_info w = {
            .name = "width", .kind = EC_VARIABLE_REAL, .min = min, .max = max, .sum = -1};
        assert_int_equal(ec_job_add_variable(job, &w), 0);
        assert_int_equal(ec_microstrip_create(graph, &config, ec_job_variable(job, 0)->value, out),
                         EC_OK);
        ec_expr off =
            ec_graph_binary(graph, EC_OP_SUB, out[EC_MICROSTRIP_OHMS], ec_graph_number(graph, 50));
        assert_int_equal(
            ec_job_add_objective(job, "off", ec_graph_unary(graph, EC_OP_ABS, off), false, 0),
            EC_OK);
        ec_solve_info_default(&info);
        info.own_method = methods[i];
        info.evaluations = 2000;
        if (ec_solve(job, backend, &info, &result) != EC_OK)
            fail_msg("%s", ec_error_text());
        assert_true(result->objective_final[0] < 1e-3);
        assert_true(fabs(result->variable[0][0] - 3.08e-3) < 0.03e-3);
        assert_string_equal(result->method, methods[i] ? "climb" : "lshade");
        assert_true(result->failed > 0);
        ec_result_destroy(&result);
        ec_job_destroy(&job);
        ec_graph_destroy(&graph);
        ec_backend_destroy(&backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_published_values), cmocka_unit_test(meets_limits),
        cmocka_unit_test(same_everywhere),        cmocka_unit_test(refuses),
        cmocka_unit_test(finds_fifty_ohm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
