/* solve_failures.c: designs that fail: a sample of them is kept with their reasons, and a policy
 * other than "worst" is carried out here, on the host, in the generations that have any.
 *
 * The sample is taken in the generations of ec_solve_is_kept, so that it does not depend on timing.
 */
#include "solve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sample ---- */

/* Genes of candidate c as a row: X's, then those of its group. */
static int fetch_design(ec_solve_run *run, const ec_generation *g, size_t c, double *row)
{
    ec_backend *backend = run->backend;
    int status = EC_OK;

    for (size_t i = 0; i < g->X.elements && status == EC_OK; i++)
        status = backend->ops->download(backend, row + i,
                                        (const double *)g->X.data + i * g->X.ld + c, sizeof *row);
    if (run->groups == 0 || status != EC_OK)
        return status;
    int32_t group = 0;
    status = backend->ops->download(backend, &group, g->group_map + c, sizeof group);
    for (size_t i = 0; i < g->XG.elements && status == EC_OK; i++)
        status = backend->ops->download(backend, row + g->X.elements + i,
                                        (const double *)g->XG.data + i * g->XG.ld + (size_t)group,
                                        sizeof *row);
    return status;
}

static int keep_failure(ec_solve_run *run, const ec_generation *g, size_t c, uint8_t status_byte)
{
    ec_result *r = run->result;

    if (!r->failures) {
        r->failures = (ec_failure *)calloc(EC_FAILURES_MAX, sizeof *r->failures);
        r->failure_genes = (double *)calloc(EC_FAILURES_MAX * run->width, sizeof(double));
        if (!r->failures || !r->failure_genes)
            return ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs that failed");
    }
    int status = fetch_design(run, g, c, r->failure_genes + r->n_failures * run->width);
    if (status == EC_OK)
        r->failures[r->n_failures++] =
            (ec_failure){.generation = run->generation + 1, .status = status_byte};
    return status;
}

static int sample_failures(ec_solve_run *run, const ec_generation *g, const uint8_t *bytes)
{
    int status = EC_OK;

    for (size_t c = 0; c < g->n && status == EC_OK; c++)
        if (bytes[c] && run->result->n_failures < EC_FAILURES_MAX)
            status = keep_failure(run, g, c, bytes[c]);
    return status;
}

/* ---- policies ---- */

/* Host copies of what the executor wrote for the generation. */
typedef struct outputs {
    double *values[EC_OUTPUTS_MAX];
    size_t rows[EC_OUTPUTS_MAX], ld;
    int32_t n;
} outputs;

static void outputs_release(outputs *o)
{
    for (int32_t i = 0; i < o->n; i++)
        free(o->values[i]);
}

static int outputs_fetch(ec_solve_run *run, outputs *o)
{
    ec_backend *backend = run->backend;
    int status = EC_OK;

    memset(o, 0, sizeof *o);
    const ec_scorer *scorer = &run->scorer;
    for (int32_t i = 0; i < scorer->n_ran && status == EC_OK; i++) {
        const ec_array *array = ec_executor_output(scorer->ran, i);
        size_t bytes = array->elements * array->ld * sizeof(double);
        o->rows[i] = array->elements;
        o->ld = array->ld;
        o->values[i] = (double *)malloc(bytes);
        o->n = i + 1;
        status = o->values[i] ? backend->ops->download(backend, o->values[i], array->data, bytes)
                              : ec_fail(EC_ERR_MEMORY, "solve: no memory for the scores");
    }
    return status;
}

static int outputs_put(ec_solve_run *run, const outputs *o)
{
    ec_backend *backend = run->backend;
    int status = EC_OK;

    for (int32_t i = 0; i < o->n && status == EC_OK; i++) {
        const ec_array *array = ec_executor_output(run->scorer.ran, i);
        status = backend->ops->upload(backend, array->data, o->values[i],
                                      o->rows[i] * o->ld * sizeof(double));
    }
    return status;
}

/* The failed designs count as ones of a given objective. */
static int give_value(ec_solve_run *run, size_t n, uint8_t *bytes)
{
    double value = run->info->failure_value;
    outputs o;

    int status = outputs_fetch(run, &o);
    for (size_t c = 0; c < n && status == EC_OK; c++) {
        if (!bytes[c])
            continue;
        for (size_t k = 0; k < run->n_objectives; k++)
            o.values[0][k * o.ld + c] = run->job->objectives[k].maximize ? -value : value;
        for (int32_t i = 1; i < o.n; i++) /* no limit is missed, and nothing has a slope */
            for (size_t k = 0; k < o.rows[i]; k++)
                o.values[i][k * o.ld + c] = 0;
        bytes[c] = 0;
        run->patched++;
    }
    if (status == EC_OK)
        status = outputs_put(run, &o);
    outputs_release(&o);
    return status;
}

/* Genes of the failed designs, side by side. */
static int gather_failed(ec_solve_run *run, const ec_generation *g, const uint32_t *failed,
                         size_t m, ec_array *X, int32_t **map)
{
    ec_backend *backend = run->backend;
    size_t rows = g->X.elements, ld = g->X.ld;
    double *host = (double *)malloc(sizeof(double) * rows * ld);
    double *few = (double *)calloc(rows * ld + 1, sizeof(double));
    int32_t *groups = (int32_t *)calloc(ld + 1, sizeof *groups);
    int32_t *few_groups = (int32_t *)calloc(ld + 1, sizeof *few_groups);

    int status = host && few && groups && few_groups
                     ? EC_OK
                     : ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs that failed");
    if (status == EC_OK)
        status = backend->ops->download(backend, host, g->X.data, sizeof(double) * rows * ld);
    if (status == EC_OK && run->groups > 0)
        status = backend->ops->download(backend, groups, g->group_map, sizeof *groups * g->n);
    for (size_t c = 0; c < ld && status == EC_OK; c++) {
        uint32_t from = failed[c < m ? c : m - 1];
        few_groups[c] = groups[from];
        for (size_t i = 0; i < rows; i++)
            few[i * ld + c] = host[i * ld + from];
    }
    *X = g->X;
    X->data = NULL;
    if (status == EC_OK)
        status = backend->ops->alloc(backend, sizeof(double) * rows * ld, &X->data);
    if (status == EC_OK)
        status = backend->ops->upload(backend, X->data, few, sizeof(double) * rows * ld);
    if (status == EC_OK && run->groups > 0)
        status = backend->ops->alloc(backend, sizeof **map * ld, (void **)map);
    if (status == EC_OK && run->groups > 0)
        status = backend->ops->upload(backend, *map, few_groups, sizeof **map * ld);
    X->lanes = m;
    free(host);
    free(few);
    free(groups);
    free(few_groups);
    return status;
}

/* Evaluates the failed designs once more, alone; those that succeed now count. */
static int retry(ec_solve_run *run, const ec_generation *g, uint8_t *bytes)
{
    ec_backend *backend = run->backend;
    ec_scorer *scorer = &run->scorer;
    uint32_t *failed = (uint32_t *)malloc(sizeof *failed * (g->n + 1));
    uint8_t *again = (uint8_t *)malloc(ec_lane_ld(g->n));
    int32_t *map = NULL;
    size_t m = 0;
    ec_array X;
    outputs first, second;

    memset(&X, 0, sizeof X);
    memset(&second, 0, sizeof second);
    int status = outputs_fetch(run, &first);
    if (status == EC_OK && (!failed || !again))
        status = ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs that failed");
    for (size_t c = 0; c < g->n && status == EC_OK; c++)
        if (bytes[c])
            failed[m++] = (uint32_t)c;
    if (status == EC_OK)
        status = gather_failed(run, g, failed, m, &X, &map);
    if (status == EC_OK)
        status = ec_executor_run(scorer->ran, &X, run->groups > 0 ? &g->XG : NULL, map,
                                 scorer->status, m, run->groups);
    if (status == EC_OK)
        status = ec_solve_mark_failed(run, m);
    if (status == EC_OK)
        status = backend->ops->download(backend, again, scorer->status, m);
    if (status == EC_OK)
        status = outputs_fetch(run, &second);
    for (size_t k = 0; k < m && status == EC_OK; k++) {
        uint32_t c = failed[k];
        bytes[c] = again[k];
        for (int32_t i = 0; i < first.n; i++)
            for (size_t r = 0; r < first.rows[i]; r++)
                first.values[i][r * first.ld + c] = second.values[i][r * first.ld + k];
    }
    if (status == EC_OK)
        status = outputs_put(run, &first);
    outputs_release(&first);
    outputs_release(&second);
    backend->ops->release(backend, X.data);
    backend->ops->release(backend, map);
    free(failed);
    free(again);
    return status;
}

/* "x = 0.1 0.2 ..., n = 3": values of the variables of a design, as far as there is room. */
static int write_design(ec_solve_run *run, const double *genes, char *text, size_t size)
{
    enum { SHOWN = 6 };
    const ec_job *job = run->job;
    ec_backend *cpu = NULL;
    ec_backend_info info = {.name = "cpu", .threads = 1, .log = &run->messages.warnings};
    size_t used = 0, n_genes = (size_t)job->n_genes;

    int status = ec_backend_create(&info, &cpu);
    text[0] = '\0';
    for (int32_t i = 0; i < job->n_variables && status == EC_OK && used < size; i++) {
        const ec_variable *v = &job->variables[i]->variable;
        int32_t n = ec_result_value_length(job->graph, v->value);
        double *values = (double *)malloc(sizeof(double) * (size_t)n);
        status = values ? ec_evaluate_once(job->graph, cpu, EC_FINAL, 1, &v->value, genes, n_genes,
                                           genes + n_genes, (size_t)job->n_group_genes, &values,
                                           NULL, &run->messages.warnings)
                        : ec_fail(EC_ERR_MEMORY, "solve: no memory for a design");
        used += (size_t)snprintf(text + used, size - used, "%s%.40s =", i ? ", " : "", v->name);
        for (int32_t k = 0; k < n && k < SHOWN && status == EC_OK && used < size; k++)
            used += (size_t)snprintf(text + used, size - used, " %.6g", values[k]);
        if (n > SHOWN && used < size)
            used += (size_t)snprintf(text + used, size - used, " ...");
        free(values);
    }
    ec_backend_destroy(&cpu);
    return status;
}

/* The error of a design that failed, whose place among the others is `where`. */
static int fail_design(ec_solve_run *run, const char *where, const double *genes,
                       uint8_t status_byte)
{
    char reasons[300], design[400] = "";
    const char *said = run->messages.latest; /* by an evaluator, in its own words */

    ec_candidate_text(status_byte, reasons, sizeof reasons);
    if (genes)
        write_design(run, genes, design, sizeof design);
    return ec_fail(EC_ERR_RANGE, "%s failed: %s; %s%s%s (on_failure = \"stop\")", where, reasons,
                   design, said[0] ? "; " : "", said);
}

static int end_run(ec_solve_run *run, const ec_generation *g, const uint8_t *bytes)
{
    size_t c = 0;
    char where[80];
    double *genes = (double *)malloc(sizeof *genes * (run->width + 1));

    while (c + 1 < g->n && !bytes[c])
        c++;
    snprintf(where, sizeof where, "design %zu of generation %u", c + 1, run->generation + 1);
    bool fetched = genes && fetch_design(run, g, c, genes) == EC_OK;
    int status = fail_design(run, where, fetched ? genes : NULL, bytes[c]);
    free(genes);
    return status;
}

void ec_solve_end_at_final(ec_solve_run *run, const double *rows, size_t n, const uint8_t *bytes)
{
    size_t c = 0;

    while (c < n && !bytes[c])
        c++;
    if (c == n || run->info->on_failure != EC_FAILURE_STOP || !run->result)
        return;
    ec_solve_note_error(run, fail_design(run, "at final fidelity a design of the best",
                                         rows + c * run->width, bytes[c]));
}

static bool any_failed(const uint8_t *bytes, size_t n)
{
    for (size_t c = 0; c < n; c++)
        if (bytes[c])
            return true;
    return false;
}

bool ec_solve_watches_failures(const ec_solve_run *run)
{
    return run->info->on_failure != EC_FAILURE_WORST ||
           (run->result && run->result->n_failures < EC_FAILURES_MAX &&
            ec_solve_is_kept(run->generation + 1));
}

int ec_solve_handle_failures(ec_solve_run *run, const ec_generation *g)
{
    ec_backend *backend = run->backend;
    ec_failure_policy policy = run->info->on_failure;
    uint8_t *status_bytes = run->scorer.status;
    uint8_t *bytes = (uint8_t *)malloc(g->n + 1);

    if (!bytes)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the status of the designs");
    int status = backend->ops->download(backend, bytes, status_bytes, g->n);
    bool failed = status == EC_OK && any_failed(bytes, g->n);
    if (failed && policy == EC_FAILURE_RETRY)
        status = retry(run, g, bytes);
    if (failed && status == EC_OK && run->result && ec_solve_is_kept(run->generation + 1))
        status = sample_failures(run, g, bytes);
    if (failed && status == EC_OK && policy == EC_FAILURE_STOP)
        status = end_run(run, g, bytes);
    if (failed && status == EC_OK && policy == EC_FAILURE_VALUE)
        status = give_value(run, g->n, bytes);
    if (failed && status == EC_OK && policy != EC_FAILURE_WORST)
        status = backend->ops->upload(backend, status_bytes, bytes, g->n);
    free(bytes);
    return status;
}

int ec_solve_failure_values(ec_solve_run *run)
{
    const ec_job *job = run->job;
    ec_result *r = run->result;
    size_t n_genes = (size_t)job->n_genes, width = 0;
    int32_t n = job->n_variables;
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)n + 1));
    double **out = (double **)malloc(sizeof *out * ((size_t)n + 1));
    ec_backend *cpu = NULL;
    ec_backend_info info = {.name = "cpu", .threads = 1, .log = &run->messages.warnings};
    int status = exprs && out ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for failures");

    for (int32_t i = 0; i < n && status == EC_OK; i++) {
        exprs[i] = job->variables[i]->variable.value;
        width += (size_t)ec_result_value_length(job->graph, exprs[i]);
    }
    if (status == EC_OK && r->n_failures > 0) {
        r->failure_values = (double *)calloc(r->n_failures * width + 1, sizeof(double));
        status = r->failure_values ? ec_backend_create(&info, &cpu)
                                   : ec_fail(EC_ERR_MEMORY, "solve: no memory for failures");
    }
    for (size_t k = 0; k < r->n_failures && status == EC_OK; k++) {
        const double *genes = r->failure_genes + k * run->width;
        double *row = r->failure_values + k * width;
        for (int32_t i = 0; i < n; i++) {
            out[i] = row;
            row += ec_result_value_length(job->graph, exprs[i]);
        }
        status =
            ec_evaluate_once(job->graph, cpu, EC_FINAL, n, exprs, genes, n_genes, genes + n_genes,
                             (size_t)job->n_group_genes, out, NULL, &run->messages.warnings);
    }
    ec_backend_destroy(&cpu);
    free(exprs);
    free(out);
    return status;
}
