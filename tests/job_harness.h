/* job_harness.h: a job of its own on the CPU, for unit tests of what works on jobs. */
#ifndef EC_JOB_HARNESS_H
#define EC_JOB_HARNESS_H

#include "job.h"
#include "solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct problem {
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_expr x; /* of the first variable */
} problem;

static inline void job_open(problem *p, int threads)
{
    ec_backend_info backend = {.name = "cpu", .threads = threads};

    memset(p, 0, sizeof *p);
    assert_int_equal(ec_graph_create(&p->graph), EC_OK);
    assert_int_equal(ec_job_create(p->graph, "test", 1, &p->job), EC_OK);
    assert_int_equal(ec_backend_create(&backend, &p->backend), EC_OK);
}

static inline ec_expr job_add(problem *p, const ec_variable_info *info)
{
    int i = ec_job_add_variable(p->job, info);

    if (i < 0)
        fail_msg("%s", ec_error_text());
    return ec_job_variable(p->job, i)->value;
}

/* One list x of reals within lo .. hi. */
static inline void job_open_reals(problem *p, int count, double lo, double hi, int threads)
{
    double *bounds = malloc(sizeof *bounds * 2 * (size_t)count);
    ec_variable_info info = {.name = "x", .kind = EC_VARIABLE_REAL, .count = count};

    assert_non_null(bounds);
    for (int i = 0; i < count; i++) {
        bounds[i] = lo;
        bounds[count + i] = hi;
    }
    info.min = bounds;
    info.max = bounds + count;
    info.sum = -1;
    job_open(p, threads);
    p->x = job_add(p, &info);
    free(bounds);
}

static inline void job_close(problem *p)
{
    ec_job_destroy(&p->job);
    ec_graph_destroy(&p->graph);
    ec_backend_destroy(&p->backend);
}

static inline ec_result *job_solve(problem *p, const ec_solve_info *info)
{
    ec_result *result = NULL;

    int status = ec_solve(p->job, p->backend, info, &result);
    if (status != EC_OK)
        fail_msg("%s: %s", ec_status_name(status), ec_error_text());
    assert_non_null(result);
    return result;
}

#endif
