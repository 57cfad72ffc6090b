/* consumer.c: a program of a user's own, built against the installed library only. It searches the
 * minimum of (x0 - 1)^2 + (x1 - 1)^2 + (x2 - 1)^2 + 2, which is 2 at (1, 1, 1). */
#include <eciton/array_pattern.h>
#include <eciton/element_pattern.h>
#include <eciton/eciton.h>

#include <math.h>
#include <stdio.h>

static int describe(ec_graph *graph, ec_job *job)
{
    const double min[3] = {-4, -4, -4}, max[3] = {5, 5, 5};
    ec_variable_info variable = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = 3, .min = min, .max = max, .sum = -1};
    int number = ec_job_add_variable(job, &variable);
    if (number < 0)
        return number;
    ec_expr x = ec_job_variable(job, number)->value;
    ec_expr shifted = ec_graph_binary(graph, EC_OP_SUB, x, ec_graph_number(graph, 1));
    ec_expr sum = ec_graph_unary(graph, EC_OP_SUM, ec_graph_unary(graph, EC_OP_SQUARE, shifted));
    ec_expr cost = ec_graph_binary(graph, EC_OP_ADD, sum, ec_graph_number(graph, 2));
    if (cost < 0)
        return cost;
    return ec_job_add_objective(job, "cost", cost, false, 0);
}

static int search(void)
{
    ec_backend_info info = {.name = "cpu"};
    ec_backend *backend = NULL;
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_result *result = NULL;

    int status = ec_backend_create(&info, &backend);
    if (status == EC_OK)
        status = ec_graph_create(&graph);
    if (status == EC_OK)
        status = ec_job_create(graph, "sphere", 1, &job);
    if (status == EC_OK)
        status = describe(graph, job);
    if (status >= 0) {
        ec_solve_info solve;
        ec_solve_info_default(&solve);
        solve.evaluations = 20000;
        status = ec_solve(job, backend, &solve, &result);
    }
    if (status == EC_OK) {
        double cost = result->objective_final[0];
        printf("cost %.9g at %.6g %.6g %.6g, %s\n", cost, result->variable[0][0],
               result->variable[0][1], result->variable[0][2], result->isa);
        if (!(cost >= 2 && cost < 2 + 1e-6) || !(fabs(result->variable[0][0] - 1) < 1e-3)) {
            fprintf(stderr, "expected a cost of 2 at 1 1 1\n");
            status = EC_ERR_INTERNAL;
        }
    } else {
        fprintf(stderr, "%s: %s\n", ec_status_text(status), ec_error_text());
    }
    ec_result_destroy(&result);
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    ec_backend_destroy(&backend);
    return status;
}

int main(void)
{
    ec_backend_info unknown = {.name = "no such backend"};
    ec_backend *backend = NULL;
    if (ec_backend_create(&unknown, &backend) >= 0 || backend != NULL || ec_error_text()[0] == 0) {
        fprintf(stderr, "an unknown backend has to be refused with a sentence\n");
        return 1;
    }
    return search() == EC_OK ? 0 : 1;
}
