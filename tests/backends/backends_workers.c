/* backends_workers.c: searches whose populations two workers on the backend's device share, against
 * the same backend alone. */
#include "backends.h"

#include "core/job.h"
#include "core/solve.h"
#include "evaluators/array_pattern/array_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 12, POINTS = 201 };

/* Side lobes of a line whose spacing is its design's and whose taper is its group's; spacings above
 * 0.9 have none and fail. */
static int build(ec_graph *graph, ec_job **job)
{
    double place[ELEMENTS], u[POINTS], low[2] = {0.3, 0}, high[2] = {1, 1};
    int32_t shape = ELEMENTS;
    ec_array_config config;
    ec_array_beam beam;
    ec_call *call = NULL;

    for (int i = 0; i < ELEMENTS; i++)
        place[i] = i - 0.5 * (ELEMENTS - 1);
    for (int i = 0; i < POINTS; i++)
        u[i] = -1 + 2.0 * i / (POINTS - 1);
    EC_CHECK_CALL(ec_job_create(graph, "workers", 4, job));
    ec_variable_info spacing = {
        .name = "spacing", .kind = EC_VARIABLE_REAL, .min = low, .max = high};
    ec_variable_info taper = {
        .name = "taper", .kind = EC_VARIABLE_REAL, .min = low + 1, .max = high + 1, .group = true};
    EC_CHECK_CALL(ec_job_add_variable(*job, &spacing));
    EC_CHECK_CALL(ec_job_add_variable(*job, &taper));
    ec_expr s = ec_job_variable(*job, 0)->value, t = ec_job_variable(*job, 1)->value;
    ec_expr at = ec_graph_constant(graph, 1, &shape, place);
    ec_expr far = ec_graph_binary(graph, EC_OP_MUL, ec_graph_unary(graph, EC_OP_SQUARE, at),
                                  ec_graph_number(graph, 0.02));
    ec_expr one = ec_graph_number(graph, 1);
    ec_array_config_default(&config);
    config.kind = EC_ARRAY_CUT_U;
    config.elements = ELEMENTS;
    config.a = u;
    config.na = POINTS;
    ec_array_inputs in = {.x = ec_graph_binary(graph, EC_OP_MUL, at, s),
                          .y = EC_ARRAY_ABSENT,
                          .z = EC_ARRAY_ABSENT,
                          .amplitude = ec_graph_binary(graph, EC_OP_SUB, one,
                                                       ec_graph_binary(graph, EC_OP_MUL, far, t)),
                          .phase = EC_ARRAY_ABSENT,
                          .wavelength = one,
                          .u0 = EC_ARRAY_ABSENT,
                          .v0 = EC_ARRAY_ABSENT,
                          .w0 = EC_ARRAY_ABSENT};
    EC_CHECK_CALL(ec_array_call(graph, &config, &in, &call));
    ec_array_beam_default(&beam);
    beam.look_a = 0;
    ec_expr fails = ec_graph_unary(
        graph, EC_OP_LOG, ec_graph_binary(graph, EC_OP_SUB, ec_graph_number(graph, 0.9), s));
    ec_expr none = ec_graph_binary(graph, EC_OP_MUL, fails, ec_graph_number(graph, 0));
    ec_expr cost = ec_graph_binary(graph, EC_OP_ADD, ec_array_sll_db(graph, call, &beam), none);
    EC_CHECK_CALL(ec_job_add_objective(*job, "sll_db", cost, false, 0));
    return 0;
}

static int search(ec_backend *backend, const char *method, ec_result **result)
{
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_solve_info info;

    EC_CHECK_CALL(ec_graph_create(&graph));
    if (build(graph, &job))
        return 1;
    ec_solve_info_default(&info);
    info.method = method;
    info.population = 60;
    info.groups = 5;
    info.generations = 25;
    EC_CHECK_CALL(ec_solve(job, backend, &info, result));
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    return 0;
}

/* Generations are short, so that both ways of evaluating them are tried, and on a GPU replayed. */
static int test_search(ec_backend *backend)
{
    ec_backend *two = NULL;
    ec_result *one = NULL, *split = NULL;
    char list[64];

    snprintf(list, sizeof list, "%s,%s", backend->name, backend->name);
    const ec_backend_info info = {.name = list,
                                  .isa = backend->is_cuda ? NULL : ec_isa_name(backend->isa)};
    EC_CHECK_CALL(ec_backend_create(&info, &two));
    if (search(backend, "rand1bin", &one) || search(two, "rand1bin", &split))
        return 1;
    EC_CHECK(one->failed > 0, "no design failed");
    EC_CHECK(one->failed == split->failed && one->evaluations == split->evaluations,
             "%zu of %zu designs failed, of two workers %zu of %zu", (size_t)one->failed,
             (size_t)one->evaluations, (size_t)split->failed, (size_t)split->evaluations);
    EC_CHECK(one->found && split->found && one->genes[0] == split->genes[0] &&
                 one->group_genes[0] == split->group_genes[0] &&
                 one->objective_final[0] == split->objective_final[0],
             "the best design of two workers has other bits");
    EC_CHECK(one->n_history == split->n_history, "%zu history rows, of two workers %zu",
             one->n_history, split->n_history);
    for (size_t i = 0; i < one->n_history; i++)
        EC_CHECK(one->history[i].best == split->history[i].best &&
                     one->history[i].failed == split->history[i].failed,
                 "history row %zu", i);
    ec_result_destroy(&one);
    ec_result_destroy(&split);
    ec_backend_destroy(&two);
    return 0;
}

const ec_case ec_cases_workers[] = {{"workers/search", test_search}, {NULL, NULL}};
