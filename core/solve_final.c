/* solve_final.c: values of many designs at once, at final fidelity. */
#include "solve_internal.h"

#include <stdlib.h>
#include <string.h>

/* Rows of designs to the layout of arrays: gene g of design c at g * ld + c. */
static void transpose(const double *rows, size_t width, size_t first, size_t count, size_t n,
                      size_t ld, double *to)
{
    for (size_t g = 0; g < count; g++)
        for (size_t c = 0; c < ld; c++)
            to[g * ld + c] = rows[(c < n ? c : n - 1) * width + first + g];
}

static int upload_genes(ec_backend *backend, int axis, const double *rows, size_t width,
                        size_t first, size_t count, size_t n, ec_array *array)
{
    int32_t shape = (int32_t)count;
    size_t ld = ec_lane_ld(n);
    double *host = (double *)malloc(sizeof(double) * count * ld);

    if (!host)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs", n);
    transpose(rows, width, first, count, n, ld, host);
    int status = ec_array_create(backend, array, EC_F64, axis, 1, &shape, n, 1);
    if (status == EC_OK)
        status = backend->ops->upload(backend, array->data, host, sizeof(double) * count * ld);
    free(host);
    return status;
}

/* Genes on the backend, where every design brings its own group. */
typedef struct final_genes {
    ec_array X, XG;
    int32_t *map;
} final_genes;

static int upload_designs(const ec_solve_run *run, ec_backend *backend, const double *rows,
                          size_t n, final_genes *genes)
{
    size_t n_genes = (size_t)run->job->n_genes, n_group = (size_t)run->job->n_group_genes;
    size_t ld = ec_lane_ld(n);

    int status =
        upload_genes(backend, EC_AXIS_CANDIDATE, rows, run->width, 0, n_genes, n, &genes->X);
    if (status != EC_OK || n_group == 0)
        return status;
    int32_t *identity = (int32_t *)malloc(sizeof(int32_t) * ld);
    if (!identity)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs", n);
    for (size_t c = 0; c < ld; c++)
        identity[c] = (int32_t)(c < n ? c : n - 1);
    status =
        upload_genes(backend, EC_AXIS_GROUP, rows, run->width, n_genes, n_group, n, &genes->XG);
    if (status == EC_OK)
        status = backend->ops->alloc(backend, sizeof(int32_t) * ld, (void **)&genes->map);
    if (status == EC_OK)
        status = backend->ops->upload(backend, genes->map, identity, sizeof(int32_t) * ld);
    free(identity);
    return status;
}

/* Rows of values, sample-major, of the first n candidates of an output. */
static int download_rows(ec_backend *backend, const ec_array *a, size_t n, double *out)
{
    bool each = (a->axes & EC_AXIS_CANDIDATE) != 0;
    size_t lanes = each ? n : 1, length = a->samples * a->elements;
    size_t span = (a->samples - 1) * a->sample_stride + (a->elements - 1) * a->ld + lanes;
    double *host = (double *)malloc(span * sizeof *host);

    if (!host)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the values of %zu designs", n);
    int status = backend->ops->download(backend, host, a->data, span * sizeof *host);
    for (size_t s = 0; s < a->samples && status == EC_OK; s++)
        for (size_t e = 0; e < a->elements; e++)
            for (size_t c = 0; c < n; c++)
                out[c * length + s * a->elements + e] =
                    ec_printable(host[s * a->sample_stride + e * a->ld + (each ? c : 0)]);
    free(host);
    return status;
}

static int values_once(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                       int32_t n_exprs, const ec_expr *exprs, double *const *out,
                       uint8_t *status_bytes, const ec_interrupt *interrupt)
{
    bool grouped = run->job->n_group_genes > 0;
    ec_executor *executor = NULL;
    final_genes genes;
    uint8_t *device_status = NULL;
    ec_executor_info info = {
        .outputs = exprs,
        .n_outputs = n_exprs,
        .max_candidates = n,
        .max_groups = grouped ? n : 0,
        .fidelity = EC_FINAL,
        .memory_budget = run->info->memory_budget,
        .interrupt = interrupt,
        .log = &run->messages.warnings,
    };

    memset(&genes, 0, sizeof genes);
    int status = ec_executor_create(run->job->graph, backend, &info, &executor);
    if (status == EC_OK)
        status = upload_designs(run, backend, rows, n, &genes);
    if (status == EC_OK)
        status = backend->ops->alloc(backend, ec_lane_ld(n), (void **)&device_status);
    if (status == EC_OK)
        status = ec_executor_run(executor, &genes.X, grouped ? &genes.XG : NULL, genes.map,
                                 device_status, n, grouped ? n : 0);
    for (int32_t i = 0; i < n_exprs && status == EC_OK; i++)
        status = download_rows(backend, ec_executor_output(executor, i), n, out[i]);
    if (status == EC_OK)
        status = backend->ops->download(backend, status_bytes, device_status, n);
    ec_executor_destroy(&executor);
    ec_array_release(backend, &genes.X);
    ec_array_release(backend, &genes.XG);
    backend->ops->release(backend, genes.map);
    backend->ops->release(backend, device_status);
    return status;
}

/* Marks in `failed` the designs whose status says so or of which a value is no finite number. */
static size_t mark_failed(const ec_solve_run *run, size_t n, int32_t n_exprs, const ec_expr *exprs,
                          double *const *out, const uint8_t *status_bytes, size_t *failed)
{
    size_t m = 0;

    for (size_t c = 0; c < n; c++) {
        bool bad = status_bytes[c] != 0;
        for (int32_t i = 0; i < n_exprs; i++) {
            size_t length = (size_t)ec_result_value_length(run->job->graph, exprs[i]);
            for (size_t k = 0; k < length; k++)
                bad = bad || !isfinite(out[i][c * length + k]);
        }
        if (bad)
            failed[m++] = c;
    }
    return m;
}

/* Designs that failed once more, alone: what comes out takes the place of what was there. */
static int retry(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                 int32_t n_exprs, const ec_expr *exprs, double *const *out, uint8_t *status_bytes)
{
    size_t width = run->width;
    size_t *failed = (size_t *)malloc(n * sizeof *failed);
    double *few = (double *)malloc(n * width * sizeof *few);
    double **again = (double **)calloc((size_t)n_exprs + 1, sizeof *again);
    uint8_t *bytes = (uint8_t *)malloc(n);
    bool room = failed && few && again && bytes;
    size_t m = room ? mark_failed(run, n, n_exprs, exprs, out, status_bytes, failed) : 0;

    for (int32_t i = 0; i < n_exprs && room && m > 0; i++) {
        size_t length = (size_t)ec_result_value_length(run->job->graph, exprs[i]);
        again[i] = (double *)malloc(m * length * sizeof **again);
        room = again[i] != NULL;
    }
    for (size_t k = 0; k < m; k++)
        memcpy(few + k * width, rows + failed[k] * width, width * sizeof *few);
    int status = room ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs", n);
    if (status == EC_OK && m > 0)
        status = values_once(run, backend, few, m, n_exprs, exprs, again, bytes, &run->at_end);
    for (size_t k = 0; k < m && status == EC_OK; k++) {
        status_bytes[failed[k]] = bytes[k];
        for (int32_t i = 0; i < n_exprs; i++) {
            size_t length = (size_t)ec_result_value_length(run->job->graph, exprs[i]);
            memcpy(out[i] + failed[k] * length, again[i] + k * length, length * sizeof **out);
        }
    }
    for (int32_t i = 0; again && i < n_exprs; i++)
        free(again[i]);
    free(failed);
    free(few);
    free(again);
    free(bytes);
    return status;
}

int ec_solve_final_values(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                          int32_t n_exprs, const ec_expr *exprs, double *const *out,
                          uint8_t *status_bytes)
{
    int status =
        values_once(run, backend, rows, n, n_exprs, exprs, out, status_bytes, &run->at_end);

    if (status == EC_OK && run->info->on_failure == EC_FAILURE_RETRY)
        status = retry(run, backend, rows, n, n_exprs, exprs, out, status_bytes);
    return status;
}

int ec_solve_score_final(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                         double *cost, double *violation, uint8_t *status_bytes)
{
    double *out[2] = {cost, violation};
    int32_t n_out = run->job->n_constraints > 0 ? 2 : 1; /* without single limits */

    memset(violation, 0, n * sizeof *violation);
    run->messages.latest[0] = '\0';
    int status =
        ec_solve_final_values(run, backend, rows, n, n_out, run->outputs, out, status_bytes);
    for (size_t i = 0; i < n && status == EC_OK; i++) {
        bool finite = isfinite(violation[i]);
        for (size_t k = 0; k < run->n_objectives; k++)
            finite = finite && isfinite(cost[i * run->n_objectives + k]);
        status_bytes[i] = (uint8_t)(status_bytes[i] | (finite ? 0 : EC_CANDIDATE_NOT_FINITE));
    }
    if (status == EC_OK)
        ec_solve_end_at_final(run, rows, n, status_bytes);
    return status;
}

int ec_solve_variable_values(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                             double *values)
{
    const ec_job *job = run->job;
    size_t n_exprs = (size_t)job->n_variables, width = 0;
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * (n_exprs + 1));
    double **out = (double **)calloc(n_exprs + 1, sizeof *out);
    uint8_t *ignored = (uint8_t *)malloc(n + 1);
    bool room = exprs && out && ignored;

    for (size_t i = 0; i < n_exprs && room; i++) {
        exprs[i] = job->variables[i]->variable.value;
        size_t length = (size_t)ec_result_value_length(job->graph, exprs[i]);
        out[i] = (double *)malloc(sizeof(double) * (n * length + 1));
        width += length;
        room = out[i] != NULL;
    }
    int status =
        room ? values_once(run, backend, rows, n, job->n_variables, exprs, out, ignored, NULL)
             : ec_fail(EC_ERR_MEMORY, "solve: no memory for the values of %zu designs", n);
    for (size_t i = 0, at = 0; i < n_exprs && status == EC_OK; i++) {
        size_t length = (size_t)ec_result_value_length(job->graph, exprs[i]);
        for (size_t c = 0; c < n; c++)
            memcpy(values + c * width + at, out[i] + c * length, sizeof(double) * length);
        at += length;
    }
    for (size_t i = 0; out && i < n_exprs; i++)
        free(out[i]);
    free(exprs);
    free(out);
    free(ignored);
    return status;
}
