/* test_front.c: several objectives in the solve loop: the front is sorted out again at final fidelity
 * with both figures kept, its members' values, the winner, limits, and the same bits for any threads and
 * chunks. */
#include "callback.h"
#include "output.h"
#include "job_harness.h"

#include <stdio.h>

enum { GENES = 3 };

/* x0 against 1 - x0, both worse by the other two, which want to be 1/4. At final fidelity designs with x0
 * from 0.4 to 0.6 lose one in the second objective, and those above 0.9 cannot be scored. The third
 * output is a record that fails where x0 < 0.1. */
static int score(void *user, const ec_callback_batch *batch)
{
    (void)user;
    for (size_t c = 0; c < batch->n; c++) {
        double x = batch->column[0][c], off = 0;
        for (int k = 1; k < GENES; k++)
            off += fabs(batch->column[k][c] - 0.25);
        bool worse = batch->final && x > 0.4 && x < 0.6;
        batch->output[0][c] = x + off;
        batch->output[1][c] = 1 - x + off + (worse ? 1 : 0);
        if (batch->final && x > 0.9)
            batch->status[c] = EC_CANDIDATE_EVALUATOR;
    }
    return EC_OK;
}

static int note(void *user, const ec_callback_batch *batch)
{
    (void)user;
    for (size_t c = 0; c < batch->n; c++) {
        batch->output[0][c] = 10 * batch->column[0][c];
        batch->status[c] = batch->column[0][c] < 0.1 ? EC_CANDIDATE_EVALUATOR : 0;
    }
    return EC_OK;
}

static void create(problem *p, int threads)
{
    ec_callback model = {.name = "model", .run = score, .n_outputs = 2};
    ec_callback record = {.name = "note", .run = note, .n_outputs = 1};
    ec_expr out[2], noted;

    job_open_reals(p, GENES, 0, 1, threads);
    ec_expr x = p->x;
    assert_int_equal(ec_graph_callback(p->graph, &model, 1, &x, out), EC_OK);
    assert_int_equal(ec_graph_callback(p->graph, &record, 1, &x, &noted), EC_OK);
    assert_int_equal(ec_job_add_objective(p->job, "left", out[0], false, 0), EC_OK);
    assert_int_equal(
        ec_job_add_objective(p->job, "right", ec_graph_unary(p->graph, EC_OP_NEG, out[1]), true, 0),
        EC_OK);
    assert_int_equal(ec_job_add_record(p->job, "noted", noted, 0), EC_OK);
    assert_int_equal(ec_job_add_record(p->job, "list", x, 0), EC_OK);
}

static void settings(ec_solve_info *info)
{
    ec_solve_info_default(info);
    info->method = "nsga2";
    info->population = 60;
    info->generations = 60;
}

static void members_are_sorted_out_at_final_fidelity(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    create(&p, 2);
    settings(&info);
    ec_result *r = job_solve(&p, &info);
    const ec_front *f = &r->front;
    assert_true(f->n > 20 && f->n < 60); /* a part of the population failed or fell behind */
    assert_true(r->history[r->n_history - 1].front == 60);
    for (int32_t i = 0; i < f->n; i++) {
        const double *x = f->genes + i * GENES, *final = f->objective_final + 2 * i;
        const double *search = f->objective_search + 2 * i;
        assert_true(x[0] <= 0.9 && !(x[0] > 0.41 && x[0] < 0.59));
        assert_true(final[0] == search[0]);
        assert_true(final[1] == search[1] || (x[0] > 0.4 && x[0] < 0.6));
        assert_memory_equal(f->variable[0] + i * GENES, x, GENES * sizeof *x);
        assert_memory_equal(f->record[1] + i * GENES, x, GENES * sizeof *x);
        assert_true(x[0] < 0.1 ? isnan(f->record[0][i]) : f->record[0][i] == 10 * x[0]);
        if (i > 0) /* sorted; the second one is maximised */
            assert_true(final[0] > final[-2] && final[1] > final[-1]);
    }
    /* the winner is a member, the nearest to the best of both */
    double nearest = INFINITY, low = f->objective_final[0], low2 = f->objective_final[1];
    double high = f->objective_final[2 * (f->n - 1)], high2 = f->objective_final[2 * f->n - 1];
    int32_t knee = -1;
    for (int32_t i = 0; i < f->n; i++) {
        double d = hypot((f->objective_final[2 * i] - low) / (high - low),
                         (high2 - f->objective_final[2 * i + 1]) / (high2 - low2));
        knee = d < nearest ? i : knee;
        nearest = fmin(d, nearest);
    }
    assert_int_equal(f->best, knee);
    assert_memory_equal(r->genes, f->genes + knee * GENES, GENES * sizeof(double));
    assert_true(r->objective_final[0] == f->objective_final[2 * knee]);
    assert_non_null(strstr(r->message, "; the front has "));

    ec_result *member = NULL;
    assert_int_equal(ec_result_member(r, 5, &member), EC_OK);
    assert_true(member->objective_final[1] == f->objective_final[11]);
    assert_true(member->variable[0][2] == f->variable[0][5 * GENES + 2]);
    double *value = NULL;
    int32_t length = 0;
    ec_expr x = ec_job_variable(p.job, 0)->value;
    assert_int_equal(ec_result_value(p.job, member, p.backend, x, &value, &length, NULL), EC_OK);
    assert_int_equal(length, GENES);
    assert_memory_equal(value, member->genes, GENES * sizeof *value);
    free(value);
    ec_result_destroy(&member);
    assert_int_equal(ec_result_member(r, f->n, &member), EC_ERR_ARGUMENT);
    assert_int_equal(ec_result_member(r, -1, &member), EC_ERR_ARGUMENT);

    char *text = NULL;
    assert_int_equal(ec_output_json(p.job, r, &text), EC_OK);
    assert_non_null(strstr(text, "\"front\":{\"reference\":["));
    assert_non_null(strstr(text, "\"variables\":{\"x\":[["));
    free(text);
    ec_result_destroy(&r);
    job_close(&p);
}

static void failures_at_final_fidelity_follow_the_policy(void **state)
{
    problem p;
    ec_solve_info info;
    ec_result *r = NULL;

    (void)state;
    create(&p, 2);
    settings(&info);
    ec_result *plain = job_solve(&p, &info);
    info.on_failure = EC_FAILURE_RETRY; /* they fail again */
    ec_result *again = job_solve(&p, &info);
    assert_int_equal(again->front.n, plain->front.n);
    assert_memory_equal(again->front.objective_final, plain->front.objective_final,
                        2 * (size_t)plain->front.n * sizeof(double));
    for (int32_t i = 0; i < plain->front.n; i++)
        assert_true(again->front.record[0][i] == plain->front.record[0][i] ||
                    plain->front.genes[i * GENES] < 0.1);
    info.on_failure = EC_FAILURE_STOP;
    assert_int_equal(ec_solve(p.job, p.backend, &info, &r), EC_ERR_RANGE);
    assert_non_null(strstr(ec_error_text(), "at final fidelity a design of the best failed: an "
                                            "evaluator could not score the design; x = "));
    assert_int_equal(r->stop, EC_STOP_ERROR);
    assert_int_equal(r->front.n, plain->front.n); /* those that did not fail are kept */
    ec_result_destroy(&plain);
    ec_result_destroy(&again);
    ec_result_destroy(&r);
    job_close(&p);
}

static void keep_limits_the_members_that_are_scored(void **state)
{
    problem p;
    ec_solve_info info;

    (void)state;
    create(&p, 1);
    settings(&info);
    info.keep = 9;
    ec_result *r = job_solve(&p, &info);
    assert_true(r->front.n >= 4 && r->front.n <= 9);
    ec_result_destroy(&r);
    job_close(&p);
}

static void bits_do_not_depend_on_threads_and_chunks(void **state)
{
    ec_result *first = NULL;

    (void)state;
    for (int way = 0; way < 3; way++) {
        problem p;
        ec_solve_info info;
        create(&p, way == 1 ? 3 : 1);
        settings(&info);
        info.population = 101;
        info.evaluations = 101 * 20 + 7; /* the last generation is cut */
        info.generations = 0;
        info.chunk = way == 2 ? 32 : 0;
        ec_result *r = job_solve(&p, &info);
        assert_int_equal(r->evaluations, info.evaluations);
        if (first) {
            assert_int_equal(first->front.n, r->front.n);
            assert_memory_equal(first->front.genes, r->front.genes,
                                (size_t)r->front.n * GENES * sizeof(double));
            assert_memory_equal(first->front.objective_final, r->front.objective_final,
                                (size_t)r->front.n * 2 * sizeof(double));
            assert_true(first->front.hypervolume == r->front.hypervolume);
            assert_int_equal(first->n_history, r->n_history);
            for (size_t i = 0; i < r->n_history; i++)
                assert_true(first->history[i].hypervolume == r->history[i].hypervolume);
            ec_result_destroy(&r);
        } else {
            first = r;
        }
        job_close(&p);
    }
    ec_result_destroy(&first);
}

static void the_hypervolume_grows_and_may_end_the_search(void **state)
{
    static const double reference[] = {2, -3};
    problem p;
    ec_solve_info info;

    (void)state;
    create(&p, 1);
    settings(&info);
    info.generations = 0;
    info.stagnation = 12;
    info.stagnation_tolerance = 1e-3;
    info.reference = reference;
    info.n_reference = 2;
    ec_result *r = job_solve(&p, &info);
    assert_int_equal(r->stop, EC_STOP_STAGNATION);
    assert_true(r->generations > 12 && r->generations < 1000);
    assert_true(r->front.reference[0] == 2 && r->front.reference[1] == -3);
    /* of the exact front, from (0, 1) to (1, 0): the part of 2 x 3 that it leaves */
    double exact = 2 * 3 - 0.5;
    const ec_history_row *last = &r->history[r->n_history - 1];
    assert_true(last->hypervolume > exact - 0.05 && last->hypervolume < exact);
    double best = 0;
    for (size_t i = 0; i < r->n_history; i++) {
        assert_true(r->history[i].hypervolume > best - 5e-3); /* crowding may drop a little */
        best = fmax(best, r->history[i].hypervolume);
    }
    ec_result_destroy(&r);
    job_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_sorted_out_at_final_fidelity),
        cmocka_unit_test(failures_at_final_fidelity_follow_the_policy),
        cmocka_unit_test(keep_limits_the_members_that_are_scored),
        cmocka_unit_test(bits_do_not_depend_on_threads_and_chunks),
        cmocka_unit_test(the_hypervolume_grows_and_may_end_the_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
