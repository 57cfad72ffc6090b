/* consumer_callback.c: a program whose model is a C function of its own, which scores a whole generation
 * at a time: minimise (x - 2)^2 + (y - 1)^2 subject to x + y <= 2, from -5 to 5. The minimum, 0.5, is
 * at (1.5, 0.5). Half of the box, x < 0, cannot be scored, as happens to simulators. */
#include <eciton/eciton.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct model {
    size_t calls, designs;
    size_t fails_at; /* call that fails as a whole; 0: none */
} model;

static int score(void *user, const ec_callback_batch *batch)
{
    model *m = user;
    const double *x = batch->column[0], *y = batch->column[1];
    double *cost = batch->output[0], *violation = batch->output[1], *distance = batch->output[2];

    m->calls++;
    m->designs += batch->n;
    if (m->calls == m->fails_at)
        return ec_fail(EC_ERR_FILE, "the simulator's licence has expired");
    for (size_t c = 0; c < batch->n; c++) {
        if (x[c] < 0 && y[c] < 0) {
            batch->status[c] = 1; /* failed; what is written is not looked at */
            cost[c] = -1e9;
            continue;
        }
        if (x[c] < 0)
            continue; /* failed too: nothing is written, which is NaN */
        cost[c] = (x[c] - 2) * (x[c] - 2) + (y[c] - 1) * (y[c] - 1);
        violation[c] = x[c] + y[c] - 2;
        distance[c] = x[c] * x[c] + y[c] * y[c]; /* is recorded */
    }
    return EC_OK;
}

static int describe(ec_job *job, model *m)
{
    const double min = -5, max = 5;
    const char *names[] = {"x", "y"};

    for (int i = 0; i < 2; i++) {
        ec_variable_info variable = {
            .name = names[i], .kind = EC_VARIABLE_REAL, .min = &min, .max = &max, .sum = -1};
        int number = ec_job_add_variable(job, &variable);
        if (number < 0)
            return number;
    }
    ec_callback callback = {.name = "model", .run = score, .user = m, .n_outputs = 3};
    return ec_job_add_callback(job, &callback, 1, true);
}

/* *result is also set when the search ended by an error after its first generation. */
static int search(model *m, ec_result **result)
{
    ec_backend_info info = {.name = "cpu"};
    ec_backend *backend = NULL;
    ec_graph *graph = NULL;
    ec_job *job = NULL;

    int status = ec_backend_create(&info, &backend);
    if (status == EC_OK)
        status = ec_graph_create(&graph);
    if (status == EC_OK)
        status = ec_job_create(graph, "callback", 1, &job);
    if (status == EC_OK)
        status = describe(job, m);
    if (status == EC_OK) {
        ec_solve_info solve;
        ec_solve_info_default(&solve);
        solve.population = 40;
        solve.evaluations = 8000;
        status = ec_solve(job, backend, &solve, result);
    }
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    return status;
}

static int check(bool good, const char *what)
{
    if (!good)
        fprintf(stderr, "consumer_callback: %s\n", what);
    return good ? 0 : 1;
}

int main(void)
{
    model good = {0}, failing = {.fails_at = 20};
    ec_result *result = NULL;
    int faults = 0;

    int status = search(&good, &result);
    if (status != EC_OK) {
        fprintf(stderr, "%s: %s\n", ec_status_text(status), ec_error_text());
        return 1;
    }
    double cost = result->objective_final[0], x = result->variable[0][0],
           y = result->variable[1][0];
    printf("cost %.6g at %.4g %.4g, %zu calls for %zu designs, %zu failed\n", cost, x, y,
           good.calls, good.designs, (size_t)result->failed);
    faults += check(fabs(cost - 0.5) < 1e-4 && fabs(x - 1.5) < 1e-2 && fabs(y - 0.5) < 1e-2,
                    "expected a cost of 0.5 at 1.5 0.5");
    faults += check(result->constraint[0] <= 0, "expected a feasible design");
    faults += check(fabs(result->record[0][0] - 2.5) < 1e-2, "expected a record of 2.5");
    faults += check(result->failed > 10, "expected failed designs");
    faults += check(good.designs >= 8000 && good.calls < good.designs / 4,
                    "expected whole generations a call");
    ec_result_destroy(&result);

    /* A function that fails as a whole ends the search; its best design stays. */
    status = search(&failing, &result);
    faults += check(status == EC_ERR_FILE && result && result->stop == EC_STOP_ERROR &&
                        result->n_history > 0 &&
                        strstr(result->message, "the simulator's licence has expired"),
                    "expected the run to end with the function's error and its history");
    ec_result_destroy(&result);
    return faults ? 1 : 0;
}
