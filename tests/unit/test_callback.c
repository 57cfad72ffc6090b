/* A C function as a model: columns, failures, constants, whole batches that fail, errors. */
#include "callback.h"
#include "job_harness.h"
#include "polish.h"

#include <pthread.h>

typedef struct seen {
    size_t calls, designs;
    size_t elsewhere; /* calls on another thread than `home` */
    pthread_t home;
    bool final;
    int answer; /* what the function returns */
    bool says;  /* by ec_fail */
} seen;

/* a = x0 + x1 + k and b = x0 x1; designs with x0 < -1 fail. */
static int score(void *user, const ec_callback_batch *batch)
{
    seen *s = user;

    s->calls++;
    s->elsewhere += !pthread_equal(s->home, pthread_self());
    s->designs += batch->n;
    s->final |= batch->final;
    if (s->answer)
        return s->says ? ec_fail(s->answer, "no licence") : s->answer;
    for (size_t c = 0; c < batch->n; c++) {
        double x0 = batch->column[0][c], x1 = batch->column[1][c];
        assert_true(isnan(batch->output[0][c]) && batch->status[c] == 0);
        if (x0 < -1 && x1 > 0)
            batch->status[c] = 7;
        batch->output[0][c] = x0 + x1 + (batch->n_columns > 2 ? batch->column[2][c] : 0);
        if (x0 < -1 && x1 <= 0)
            continue;
        batch->output[1][c] = x0 * x1;
    }
    return EC_OK;
}

static void test_columns(void **state)
{
    problem p;
    seen s = {0};
    uint8_t status = 0;
    double a, b, *out[2] = {&a, &b};

    (void)state;
    job_open_reals(&p, 2, -2, 2, 2);
    ec_expr in[2] = {ec_job_variable(p.job, 0)->value, ec_graph_number(p.graph, 10)}, output[2];
    ec_callback callback = {.name = "model", .run = score, .user = &s, .n_outputs = 2};
    assert_int_equal(ec_graph_callback(p.graph, &callback, 2, in, output), EC_OK);
    static const struct {
        double x[2];
        bool good;
    } cases[] = {{{1, 1.5}, true}, {{-1.5, 1}, false}, {{-1.5, -1}, false}};
    for (int i = 0; i < 3; i++) {
        const double *x = cases[i].x;
        assert_int_equal(ec_evaluate_once(p.graph, p.backend, i == 0 ? EC_SEARCH : EC_FINAL, 2,
                                          output, x, 2, NULL, 0, out, &status, NULL),
                         EC_OK);
        assert_int_equal(status, cases[i].good ? 0 : EC_CANDIDATE_EVALUATOR);
        if (cases[i].good)
            assert_true(a == x[0] + x[1] + 10 && b == x[0] * x[1]);
        else
            assert_true(isnan(a) && isnan(b));
        assert_int_equal(s.final, i > 0);
    }
    ec_expr grad;
    assert_int_equal(ec_graph_gradient(p.graph, output[0], 1, in, &grad), EC_ERR_NO_GRADIENT);
    job_close(&p);
}

/* A model without a gradient is polished by differences, on the caller's thread: to -2 at (0, -2), the
 * corner of the limit and the box. */
static void test_polish(void **state)
{
    problem p;
    seen s = {.home = pthread_self()};
    double x[8] = {0.3, -1.5, 0.4, -1, 0.1, -1.2, 0.2, -0.5};
    ec_callback callback = {.name = "model", .run = score, .user = &s, .n_outputs = 2};
    ec_polish_info info = {.threads = 4};
    uint64_t evaluations = 0;

    (void)state;
    job_open_reals(&p, 2, -2, 2, 2);
    assert_int_equal(ec_job_add_callback(p.job, &callback, 1, true), EC_OK);
    assert_int_equal(ec_polish(p.job, &info, 4, x, NULL, &evaluations), EC_OK);
    for (int i = 0; i < 8; i += 2)
        assert_true(fabs(x[i]) < 1e-6 && fabs(x[i + 1] + 2) < 1e-6 && x[i] * x[i + 1] <= 0);
    assert_true(evaluations > 0);
    assert_int_equal(s.elsewhere, 0);
    job_close(&p);
}

static int search(problem *p, seen *s, ec_result **result)
{
    ec_callback callback = {.name = "model", .run = score, .user = s, .n_outputs = 2};
    ec_solve_info info;

    job_open_reals(p, 2, -2, 2, 2);
    assert_int_equal(ec_job_add_callback(p->job, &callback, 1, true), EC_OK);
    ec_solve_info_default(&info);
    info.evaluations = 2000;
    info.population = 20;
    return ec_solve(p->job, p->backend, &info, result);
}

/* minimise x0 + x1 subject to x0 x1 <= 0, where half of the box cannot be scored: -3 at (-1, -2) would
 * be infeasible, so the best is -2 at (0, -2). */
static void test_search(void **state)
{
    problem p;
    seen s = {0};
    ec_result *result = NULL;

    (void)state;
    assert_int_equal(search(&p, &s, &result), EC_OK);
    assert_true(fabs(result->objective_final[0] + 2) < 1e-3);
    assert_true(result->constraint[0] <= 0 && result->failed > 0);
    assert_string_equal(ec_job_objective(p.job, 0)->name, "cost");
    assert_true(s.designs >= 2000 && s.calls <= 600 && s.final);
    ec_result_destroy(&result);
    job_close(&p);
}

static void test_failing(void **state)
{
    static const struct {
        int answer;
        bool says;
        int status;
        const char *text;
    } cases[] = {{EC_ERR_FILE, true, EC_ERR_FILE, "callback 'model': no licence"},
                 {EC_ERR_DEVICE - 100, false, EC_ERR_DEVICE - 100, "callback 'model': a status"},
                 {5, false, EC_ERR_ARGUMENT, "returned 5"}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        problem p;
        seen s = {.answer = cases[i].answer, .says = cases[i].says};
        ec_result *result = NULL;
        ec_fail(EC_ERR_SHAPE, "an older sentence");
        assert_int_equal(search(&p, &s, &result), cases[i].status);
        assert_non_null(strstr(ec_error_text(), cases[i].text));
        assert_null(result); /* there was no generation */
        job_close(&p);
    }
}

static void test_refused(void **state)
{
    problem p;
    seen s = {0};
    double samples[2] = {1, 2};
    ec_expr output[2];

    (void)state;
    job_open_reals(&p, 2, -2, 2, 2);
    ec_callback callback = {.run = score, .user = &s, .n_outputs = 2};
    ec_expr sampled = ec_graph_samples(p.graph, 2, 0, NULL, samples);
    assert_int_equal(ec_graph_callback(p.graph, &callback, 1, &sampled, output), EC_ERR_SHAPE);
    assert_int_equal(ec_graph_callback(p.graph, &callback, 0, NULL, output), EC_ERR_ARGUMENT);
    assert_int_equal(ec_job_add_callback(p.job, &callback, 2, true), EC_ERR_ARGUMENT);
    callback.run = NULL;
    assert_int_equal(ec_job_add_callback(p.job, &callback, 1, false), EC_ERR_ARGUMENT);
    job_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_polish),
        cmocka_unit_test(test_search),  cmocka_unit_test(test_failing),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
