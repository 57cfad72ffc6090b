/* sweep.c: columns of a sweep, its rows by content, and the evaluation in batches. */
#include "sweep.h"
#include "job_internal.h"
#include "wall_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches follow the clock: between two of them the store gets its rows and a signal is seen. */
static const double batch_least = 0.1, batch_most = 0.5;
enum { BATCH_FIRST = 256 };
/* Outputs of a batch are held on the backend: long lists make it smaller. */
static const double batch_bytes = 128.0 * 1024 * 1024;

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "sweep: no memory");
}

/* ---- a batch on the backend ---- */

/* Most designs of a batch with these outputs, of n. */
static size_t largest_batch(const ec_graph *graph, int32_t n_exprs, const ec_expr *exprs,
                            ec_fidelity fidelity, size_t n)
{
    double numbers = 1;

    for (int32_t i = 0; i < n_exprs; i++) {
        const ec_node *node = ec_graph_node(graph, exprs[i]);
        bool sampled = node->axes & EC_AXIS_SAMPLE;
        numbers += (double)node->elements *
                   (sampled ? ec_graph_sample_count(graph, fidelity == EC_FINAL) : 1);
    }
    size_t most = (size_t)fmin(batch_bytes / (numbers * sizeof(double)), EC_SWEEP_BATCH_MAX);
    most = most / EC_LANE_PAD * EC_LANE_PAD;
    most = most < EC_LANE_PAD ? EC_LANE_PAD : most;
    return n < most ? n : most;
}

typedef struct batch {
    const ec_job *job;
    const ec_sweep_plan *plan;
    ec_backend *backend;
    ec_executor *executor;
    size_t max;
    ec_array X, XG;
    int32_t *map; /* candidate to group, on the backend */
    uint8_t *status;
    double *genes;     /* staging, on the host */
    int32_t *host_map; /* candidate to group */
    size_t n, groups;  /* of the last run */
} batch;

static void batch_release(batch *b)
{
    if (!b->backend)
        return;
    ec_executor_destroy(&b->executor);
    ec_array_release(b->backend, &b->X);
    ec_array_release(b->backend, &b->XG);
    b->backend->ops->release(b->backend, b->map);
    b->backend->ops->release(b->backend, b->status);
    free(b->genes);
    free(b->host_map);
    memset(b, 0, sizeof *b);
}

static int batch_create(batch *b, const ec_job *job, ec_backend *backend, const ec_sweep_plan *plan,
                        ec_executor_info *info)
{
    const ec_backend_ops *ops = backend->ops;
    size_t ld = ec_lane_ld(info->max_candidates), group = (size_t)job->n_group_genes;
    int32_t n_genes = job->n_genes > 0 ? job->n_genes : 1, n_group = job->n_group_genes;

    memset(b, 0, sizeof *b);
    b->job = job;
    b->plan = plan;
    b->backend = backend;
    b->max = info->max_candidates;
    info->max_groups = group > 0 ? b->max : 0;
    b->genes = (double *)malloc(sizeof(double) * ld * (size_t)(plan->width > 0 ? plan->width : 1));
    b->host_map = (int32_t *)calloc(ld, sizeof *b->host_map);
    int status = b->genes && b->host_map ? EC_OK : no_memory();
    if (status == EC_OK)
        status = ec_executor_create(job->graph, backend, info, &b->executor);
    if (status == EC_OK)
        status = ec_array_create(backend, &b->X, EC_F64, EC_AXIS_CANDIDATE, 1, &n_genes, b->max, 1);
    if (status == EC_OK && group > 0)
        status = ec_array_create(backend, &b->XG, EC_F64, EC_AXIS_GROUP, 1, &n_group, b->max, 1);
    if (status == EC_OK && group > 0)
        status = ops->alloc(backend, sizeof *b->map * ld, (void **)&b->map);
    if (status == EC_OK)
        status = ops->alloc(backend, ld, (void **)&b->status);
    return status;
}

/* Genes of one row of the plan that vary, over designs; designs NULL: those from `first` on. */
static void gather(const double *from, const size_t *designs, size_t first, size_t n, size_t ld,
                   double *to)
{
    for (size_t c = 0; c < n; c++)
        to[c] = from[designs ? designs[c] : first + c];
    for (size_t c = n; c < ld; c++)
        to[c] = to[n - 1];
}

static void fill_genes(const batch *b, const size_t *designs, size_t first, size_t n, size_t ld)
{
    const ec_sweep_plan *plan = b->plan;
    int32_t k = 0;

    for (int32_t g = 0; g < plan->width; g++) {
        double *to = b->genes + (size_t)g * ld;
        if (k < plan->n_varied && plan->varied[k] == g) {
            gather(plan->genes + (size_t)k++ * plan->n, designs, first, n, ld, to);
            continue;
        }
        for (size_t c = 0; c < ld; c++)
            to[c] = plan->base[g];
    }
}

/* Neighbours with the same group genes are one group, whose genes move to its place. */
static void find_groups(batch *b, size_t n, size_t ld)
{
    size_t n_group = (size_t)b->job->n_group_genes;
    double *genes = b->genes + (size_t)b->job->n_genes * ld;

    b->groups = 0;
    for (size_t c = 0; c < n; c++) {
        bool same = c > 0;
        for (size_t g = 0; g < n_group && same; g++)
            same = genes[g * ld + b->groups - 1] == genes[g * ld + c];
        for (size_t g = 0; g < n_group && !same; g++)
            genes[g * ld + b->groups] = genes[g * ld + c];
        b->groups += !same;
        b->host_map[c] = (int32_t)b->groups - 1;
    }
    for (size_t c = n; c < ld; c++)
        b->host_map[c] = (int32_t)b->groups - 1;
}

/* Enqueues n designs. EC_STOPPED: the interrupt ended it. */
static int batch_run(batch *b, const size_t *designs, size_t first, size_t n)
{
    const ec_backend_ops *ops = b->backend->ops;
    size_t ld = ec_lane_ld(n), n_genes = (size_t)b->job->n_genes;
    size_t n_group = (size_t)b->job->n_group_genes;

    b->n = n;
    fill_genes(b, designs, first, n, ld);
    b->X.lanes = n;
    b->X.ld = ld;
    int status = ops->upload(b->backend, b->X.data, b->genes, sizeof(double) * ld * n_genes);
    if (status == EC_OK && n_group > 0) {
        find_groups(b, n, ld);
        b->XG.lanes = b->groups;
        b->XG.ld = ld;
        status = ops->upload(b->backend, b->XG.data, b->genes + n_genes * ld,
                             sizeof(double) * ld * n_group);
        if (status == EC_OK)
            status = ops->upload(b->backend, b->map, b->host_map, sizeof *b->map * ld);
    }
    if (status == EC_OK)
        status = ec_executor_run(b->executor, &b->X, n_group > 0 ? &b->XG : NULL, b->map, b->status,
                                 n, n_group > 0 ? b->groups : 0);
    return status;
}

static size_t output_length(const ec_array *array)
{
    return array->elements * array->samples;
}

/* Element k of an output (samples one after the other), one value a design. */
static int batch_fetch(const batch *b, const ec_array *array, size_t k, double *to)
{
    size_t sample = k / array->elements, element = k % array->elements;
    const double *from =
        (const double *)array->data + sample * array->sample_stride + element * array->ld;
    bool grouped = array->axes & EC_AXIS_GROUP;
    size_t n = array->axes & EC_AXIS_CANDIDATE ? b->n : grouped ? b->groups : 1;

    int status = b->backend->ops->download(b->backend, to, from, n * sizeof *to);
    /* groups never come after their designs, so backwards nothing is overwritten too early */
    for (size_t c = b->n; c-- > 0 && n < b->n;)
        to[c] = to[grouped ? (size_t)b->host_map[c] : 0];
    return status;
}

/* ---- rows by content ---- */

struct ec_sweep_index {
    uint32_t *slot; /* design + 1, 0: free */
    size_t mask;
    double *row; /* one value a column, for an offer that is looked up */
};

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t bits;

    value += 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 29;
}

static uint64_t content_of(const ec_sweep *s, size_t design)
{
    uint64_t hash = 1;

    for (int32_t c = 0; c < s->n_variable_columns; c++)
        if (s->columns[c].stride > 0)
            hash = mix(hash, s->columns[c].data[design]);
    return hash;
}

static bool same_content(const ec_sweep *s, size_t a, size_t b)
{
    for (int32_t c = 0; c < s->n_variable_columns; c++)
        if (s->columns[c].stride > 0 && s->columns[c].data[a] != s->columns[c].data[b])
            return false;
    return true;
}

static int build_index(ec_sweep *s)
{
    size_t size = 64;

    while (size < 2 * s->n)
        size *= 2;
    s->index = (struct ec_sweep_index *)calloc(1, sizeof *s->index);
    s->same = (uint32_t *)malloc(sizeof *s->same * s->n);
    if (!s->index || !s->same)
        return no_memory();
    s->index->mask = size - 1;
    s->index->slot = (uint32_t *)calloc(size, sizeof *s->index->slot);
    if (!s->index->slot)
        return no_memory();
    for (size_t i = 0; i < s->n; i++) {
        size_t at = content_of(s, i) & s->index->mask;
        while (s->index->slot[at] && !same_content(s, s->index->slot[at] - 1, i))
            at = (at + 1) & s->index->mask;
        if (!s->index->slot[at]) {
            s->index->slot[at] = (uint32_t)i + 1;
            s->distinct++;
        }
        s->same[i] = s->index->slot[at] - 1;
    }
    return EC_OK;
}

/* The design of a row's content; false: there is none. */
static bool look_up(const ec_sweep *s, const double *row, size_t *design)
{
    uint64_t hash = 1;

    for (int32_t c = 0; c < s->n_variable_columns; c++) {
        const ec_sweep_column *column = &s->columns[c];
        if (column->stride > 0)
            hash = mix(hash, row[c]);
        else if (row[c] != column->data[0])
            return false;
    }
    for (size_t at = hash & s->index->mask; s->index->slot[at]; at = (at + 1) & s->index->mask) {
        size_t i = s->index->slot[at] - 1;
        bool same = true;
        for (int32_t c = 0; c < s->n_variable_columns && same; c++)
            same = row[c] == ec_sweep_value(s, c, i);
        *design = i;
        if (same)
            return true;
    }
    return false;
}

static void count_status(ec_sweep *s, uint8_t status)
{
    s->failed += status != 0;
    for (int bit = 0; bit < 8; bit++)
        s->by_bit[bit] += status >> bit & 1;
}

bool ec_sweep_offer(ec_sweep *s, const double *row, uint8_t status)
{
    size_t design;

    if (!look_up(s, row, &design) || s->state[design] != EC_SWEEP_OPEN)
        return false;
    for (int32_t c = s->n_variable_columns; c < s->n_columns; c++)
        s->columns[c].data[design * s->columns[c].stride] = row[c];
    s->status[design] = status;
    s->state[design] = EC_SWEEP_FOUND;
    s->found++;
    count_status(s, status);
    return true;
}

/* ---- columns ---- */

void ec_sweep_destroy(ec_sweep **handle)
{
    ec_sweep *s = handle ? *handle : NULL;

    if (!s)
        return;
    for (int32_t c = 0; c < s->n_columns; c++) {
        free(s->columns[c].name);
        free(s->columns[c].data);
    }
    free(s->columns);
    free(s->status);
    free(s->state);
    free(s->same);
    if (s->index)
        free(s->index->slot);
    free(s->index);
    free(s);
    *handle = NULL;
}

static const char *goal_name(const ec_job *job, ec_sweep_kind kind, int32_t index)
{
    return kind == EC_SWEEP_OBJECTIVE    ? job->objectives[index].name
           : kind == EC_SWEEP_CONSTRAINT ? job->constraints[index].name
           : kind == EC_SWEEP_RECORD     ? job->records[index].name
                                         : "violation";
}

static bool is_name(const ec_job *job, ec_sweep_kind kind, const char *name)
{
    for (int32_t i = 0; i < job->n_variables; i++)
        if (strcmp(job->variables[i]->variable.name, name) == 0)
            return true;
    if (kind != EC_SWEEP_VIOLATION)
        return strcmp(name, "violation") == 0;
    for (int32_t i = 0; i < job->n_objectives; i++)
        if (strcmp(job->objectives[i].name, name) == 0)
            return true;
    for (int32_t i = 0; i < job->n_records; i++)
        if (strcmp(job->records[i].name, name) == 0)
            return true;
    return false;
}

/* A goal may be called as a variable; a table's columns have names of their own. */
static char *column_name(const ec_job *job, ec_sweep_kind kind, int32_t index, int32_t element)
{
    static const char *const kinds[] = {"", "objective:", "constraint:", "total:", "recorded:"};
    const char *name = kind == EC_SWEEP_VARIABLE ? job->variables[index]->variable.name
                                                 : goal_name(job, kind, index);
    bool taken = kind != EC_SWEEP_VARIABLE && is_name(job, kind, name);
    size_t size = strlen(name) + 32;
    char *text = (char *)malloc(size);

    if (!text)
        return NULL;
    if (element < 0)
        snprintf(text, size, "%s%s", taken ? kinds[kind] : "", name);
    else
        snprintf(text, size, "%s%s[%d]", taken ? kinds[kind] : "", name, (int)element + 1);
    return text;
}

/* Columns of one quantity: `length` elements, of a scalar one. */
static int add_columns(ec_sweep *s, ec_sweep_kind kind, int32_t index, size_t length, bool scalar,
                       bool varies)
{
    size_t n = (size_t)s->n_columns + length;
    ec_sweep_column *columns =
        n > INT32_MAX ? NULL : (ec_sweep_column *)realloc(s->columns, sizeof *columns * n);

    if (!columns)
        return no_memory();
    s->columns = columns;
    for (size_t k = 0; k < length; k++) {
        ec_sweep_column *c = &columns[s->n_columns++];
        *c = (ec_sweep_column){.kind = kind,
                               .index = index,
                               .element = scalar ? -1 : (int32_t)k,
                               .stride = varies ? 1 : 0};
        c->name = column_name(s->job, kind, index, c->element);
        c->data = (double *)malloc(sizeof(double) * (varies ? s->n : 1));
        if (!c->name || !c->data)
            return no_memory();
        for (size_t i = 0; i < (varies ? s->n : 1); i++)
            c->data[i] = (double)NAN;
    }
    return EC_OK;
}

static bool variable_varies(const ec_job *job, const ec_sweep_plan *plan, int32_t v)
{
    const ec_variable *variable = &job->variables[v]->variable;
    int32_t first = variable->first_gene + (variable->group ? job->n_genes : 0);

    for (int32_t k = 0; k < plan->n_varied; k++)
        if (plan->varied[k] >= first && plan->varied[k] < first + variable->n_genes)
            return true;
    return false;
}

/* Values of the variables by their nodes: of those that vary of every design, else of the first. */
static int decode(ec_sweep *s, ec_backend *backend, const ec_sweep_plan *plan,
                  const ec_interrupt *interrupt)
{
    const ec_job *job = s->job;
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)job->n_variables + 1));
    double *row = (double *)malloc(sizeof *row * EC_SWEEP_BATCH_MAX);
    size_t max = 0;
    batch b = {.backend = NULL};
    ec_executor_info info = {
        .outputs = exprs, .n_outputs = job->n_variables, .interrupt = interrupt};

    int status = exprs && row ? EC_OK : no_memory();
    for (int32_t v = 0; v < job->n_variables && status == EC_OK; v++)
        exprs[v] = job->variables[v]->variable.value;
    if (status == EC_OK) {
        max = largest_batch(job->graph, job->n_variables, exprs, EC_SEARCH, s->n);
        info.max_candidates = max;
        status = batch_create(&b, job, backend, plan, &info);
    }
    for (size_t first = 0; first < s->n && status == EC_OK; first += max) {
        size_t n = s->n - first < max ? s->n - first : max;
        status = batch_run(&b, NULL, first, n);
        for (int32_t c = 0; c < s->n_variable_columns && status == EC_OK; c++) {
            const ec_sweep_column *column = &s->columns[c];
            size_t element = column->element > 0 ? (size_t)column->element : 0;
            if (first > 0 && column->stride == 0)
                continue;
            status = batch_fetch(&b, ec_executor_output(b.executor, column->index), element, row);
            /* + 0: one zero only, rows are compared by their bits */
            for (size_t i = 0; i < (column->stride ? n : 1); i++)
                column->data[first + i] = row[i] + 0.0;
        }
    }
    batch_release(&b);
    free(exprs);
    free(row);
    return status;
}

/* ---- the run ---- */

typedef struct sweep_run {
    ec_sweep *s;
    ec_backend *backend;
    const ec_sweep_info *info;
    ec_expr *outputs;            /* objectives, margins, violation, records */
    int32_t n_outputs, n_scored; /* the first n_scored must be finite */
    batch batch;
    double *values; /* of one column */
    uint8_t *status;
    size_t *open; /* designs to evaluate */
    size_t n_open;
    double start;
    ec_interrupt interrupt;
} sweep_run;

static ec_stop host_stop(const sweep_run *run)
{
    if (run->info->interrupt && *run->info->interrupt)
        return EC_STOP_INTERRUPT;
    if (run->info->seconds > 0 && ec_wall_seconds() - run->start >= run->info->seconds)
        return EC_STOP_TIME;
    return EC_STOP_NONE;
}

static bool stops_now(void *user)
{
    return host_stop((const sweep_run *)user) != EC_STOP_NONE;
}

static int list_outputs(sweep_run *run, ec_job *job)
{
    size_t n = (size_t)(job->n_objectives + job->n_constraints + job->n_records) + 1;
    int32_t at = 0;

    run->outputs = (ec_expr *)malloc(sizeof *run->outputs * n);
    if (!run->outputs)
        return no_memory();
    for (int32_t i = 0; i < job->n_objectives; i++)
        run->outputs[at++] = job->objectives[i].expr;
    for (int32_t i = 0; i < job->n_constraints; i++)
        run->outputs[at++] = ec_job_margin(job, &job->constraints[i]);
    if (job->n_constraints > 0)
        run->outputs[at++] = ec_job_violation(job);
    run->n_scored = at;
    for (int32_t i = 0; i < job->n_records; i++)
        run->outputs[at++] = job->records[i].expr;
    run->n_outputs = at;
    for (int32_t i = 0; i < at; i++)
        if (run->outputs[i] < 0)
            return run->outputs[i];
    if (at == 0)
        return ec_fail(
            EC_ERR_ARGUMENT,
            "sweep: job '%s' has nothing to evaluate: no objective, constraint or record",
            job->name);
    return EC_OK;
}

/* What output o is. */
static ec_sweep_kind output_kind(const ec_job *job, int32_t o, int32_t *index)
{
    int32_t n = job->n_objectives, m = n + job->n_constraints;

    *index = o < n ? o : o < m ? o - n : 0;
    if (o < n)
        return EC_SWEEP_OBJECTIVE;
    if (o < m)
        return EC_SWEEP_CONSTRAINT;
    if (job->n_constraints > 0 && o == m)
        return EC_SWEEP_VIOLATION;
    *index = o - m - (job->n_constraints > 0);
    return EC_SWEEP_RECORD;
}

static int plan_batch(sweep_run *run, const ec_job *job)
{
    size_t max =
        largest_batch(job->graph, run->n_outputs, run->outputs, run->info->fidelity, run->s->n);
    ec_executor_info info = {.outputs = run->outputs,
                             .n_outputs = run->n_outputs,
                             .max_candidates = max,
                             .fidelity = run->info->fidelity,
                             .memory_budget = run->info->memory_budget,
                             .chunk = run->info->chunk,
                             .interrupt = &run->interrupt,
                             .log = run->info->log};

    return batch_create(&run->batch, job, run->backend, run->info->plan, &info);
}

static int build_columns(sweep_run *run, const ec_job *job)
{
    ec_sweep *s = run->s;
    int status = EC_OK;

    for (int32_t v = 0; v < job->n_variables && status == EC_OK; v++) {
        int32_t count = job->variables[v]->variable.count;
        status = add_columns(s, EC_SWEEP_VARIABLE, v, count > 0 ? (size_t)count : 1, count == 0,
                             variable_varies(job, run->info->plan, v));
    }
    s->n_variable_columns = s->n_columns;
    if (status == EC_OK)
        status = decode(s, run->backend, run->info->plan, &run->interrupt);
    if (status == EC_OK)
        status = plan_batch(run, job);
    for (int32_t o = 0; o < run->n_outputs && status == EC_OK; o++) {
        const ec_array *array = ec_executor_output(run->batch.executor, o);
        int32_t index;
        ec_sweep_kind kind = output_kind(job, o, &index);
        size_t length = output_length(array);
        status = add_columns(s, kind, index, length, array->rank == 0 && length == 1, true);
    }
    return status;
}

static int create_sweep(sweep_run *run, ec_job *job)
{
    const ec_sweep_plan *plan = run->info->plan;
    ec_sweep *s = (ec_sweep *)calloc(1, sizeof *s);

    if (!s)
        return no_memory();
    run->s = s;
    s->job = job;
    s->n = plan->n;
    s->fidelity = run->info->fidelity;
    s->status = (uint8_t *)calloc(s->n, 1);
    s->state = (uint8_t *)calloc(s->n, 1);
    snprintf(s->backend, sizeof s->backend, "%s", run->backend->name);
    snprintf(s->device, sizeof s->device, "%s", run->backend->device);
    return s->status && s->state ? EC_OK : no_memory();
}

static int list_open(sweep_run *run)
{
    ec_sweep *s = run->s;

    run->open = (size_t *)malloc(sizeof *run->open * (s->n + 1));
    run->values = (double *)malloc(sizeof *run->values * run->batch.max);
    run->status = (uint8_t *)malloc(run->batch.max);
    if (!run->open || !run->values || !run->status)
        return no_memory();
    for (size_t i = 0; i < s->n; i++)
        if (s->same[i] == i && s->state[i] == EC_SWEEP_OPEN)
            run->open[run->n_open++] = i;
    return EC_OK;
}

/* Values of a batch into the columns of its designs. */
static int take_batch(sweep_run *run, const size_t *designs, size_t n)
{
    ec_sweep *s = run->s;
    int32_t column = s->n_variable_columns;

    int status = run->backend->ops->download(run->backend, run->status, run->batch.status, n);
    for (int32_t o = 0; o < run->n_outputs && status == EC_OK; o++) {
        const ec_array *array = ec_executor_output(run->batch.executor, o);
        for (size_t k = 0; k < output_length(array) && status == EC_OK; k++, column++) {
            status = batch_fetch(&run->batch, array, k, run->values);
            double *to = s->columns[column].data;
            for (size_t i = 0; i < n; i++) {
                to[designs[i]] = run->values[i];
                if (o < run->n_scored && !isfinite(run->values[i]))
                    run->status[i] |= EC_CANDIDATE_NOT_FINITE;
            }
        }
    }
    for (size_t i = 0; i < n && status == EC_OK; i++) {
        s->status[designs[i]] = run->status[i];
        s->state[designs[i]] = EC_SWEEP_RUN;
        count_status(s, run->status[i]);
    }
    if (status == EC_OK)
        s->run += n;
    return status;
}

static void tell(const sweep_run *run, size_t done, double seconds)
{
    double left = done ? seconds / (double)done * (double)(run->n_open - done) : INFINITY;

    if (run->info->seconds > 0 && run->info->seconds - seconds < left)
        left = fmax(run->info->seconds - seconds, 0);
    if (run->info->progress)
        run->info->progress(run->info->progress_user, run->s, seconds, left);
}

/* Fewest designs of a batch. An evaluator that takes designs one by one, each for seconds, loses those it has
 * not ended with the batch that an interrupt ends: on the CPU batches are of a few for each thread. */
static size_t least_batch(const sweep_run *run)
{
    const ec_graph *graph = run->s->job->graph;
    const size_t threads = run->backend->threads > 1 ? (size_t)run->backend->threads : 1;

    for (ec_expr e = 0; e < ec_graph_count(graph); e++) {
        const ec_node *n = ec_graph_node(graph, e);
        if (n->op == EC_OP_CALL_OUTPUT && n->call->def->flags & EC_EVALUATOR_SELF_CHUNKING)
            return run->backend->host_memory ? 4 * threads : BATCH_FIRST;
    }
    return EC_LANE_PAD;
}

/* Takes what others have added meanwhile, and brings the next n designs to place `at` of those that are
 * open; returns how many there are, or an error. */
static int next_batch(sweep_run *run, size_t at, size_t *n)
{
    const ec_sweep_store *store = run->info->store;
    size_t found = run->s->found, left = at;

    int status = store && store->refresh ? store->refresh(store->user, run->s) : EC_OK;
    if (run->s->found > found) {
        for (size_t i = at; i < run->n_open; i++)
            if (run->s->state[run->open[i]] == EC_SWEEP_OPEN)
                run->open[left++] = run->open[i];
        run->n_open = left;
    }
    size_t from = at + (size_t)((store ? store->share : 0) * (double)(run->n_open - at));
    *n = run->n_open - from < *n ? run->n_open - from : *n;
    for (size_t i = 0; i < *n && from > at; i++) {
        size_t other = run->open[at + i];
        run->open[at + i] = run->open[from + i];
        run->open[from + i] = other;
    }
    return status;
}

static int evaluate(sweep_run *run)
{
    ec_sweep *s = run->s;
    const size_t workers = (size_t)run->backend->n_workers + 1; /* each has as many as one alone */
    const size_t each = least_batch(run), least = workers * each, most = run->batch.max;
    size_t size = each == EC_LANE_PAD ? workers * BATCH_FIRST : least;
    double begun = ec_wall_seconds();

    for (size_t at = 0; at < run->n_open;) {
        s->stop = host_stop(run);
        if (s->stop != EC_STOP_NONE)
            return EC_OK;
        size_t n = size < most ? size : most;
        int status = next_batch(run, at, &n);
        if (status < 0 || n == 0)
            return status;
        double start = ec_wall_seconds();
        status = batch_run(&run->batch, run->open + at, 0, n);
        if (status == EC_STOPPED) {
            s->stop = host_stop(run);
            return EC_OK;
        }
        if (status == EC_OK)
            status = take_batch(run, run->open + at, n);
        if (status == EC_OK && run->info->store)
            status = run->info->store->append(run->info->store->user, s, run->open + at, n);
        if (status < 0)
            return status;
        at += n;
        double now = ec_wall_seconds();
        if (now - start < batch_least && size < most)
            size *= 2;
        else if (now - start > batch_most && size / 2 >= least)
            size /= 2;
        tell(run, at, now - begun);
    }
    return EC_OK;
}

/* Designs of equal content get the values of the first of them. */
static void copy_same(ec_sweep *s)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t first = s->same[i];
        if (first == i)
            continue;
        for (int32_t c = s->n_variable_columns; c < s->n_columns; c++)
            s->columns[c].data[i] = s->columns[c].data[first];
        s->status[i] = s->status[first];
        s->state[i] = s->state[first];
    }
}

static void write_message(ec_sweep *s)
{
    size_t done = s->found + s->run;
    char text[160] = "";

    if (s->stop != EC_STOP_NONE)
        snprintf(text, sizeof text, "%s after %zu of %zu rows: ",
                 s->stop == EC_STOP_INTERRUPT ? "interrupted"
                 : s->stop == EC_STOP_TIME    ? "the time was up"
                                              : "an error ended it",
                 done, s->distinct);
    size_t used = strlen(text);
    if (s->distinct < s->n && used < sizeof text)
        snprintf(text + used, sizeof text - used, "%zu designs, %zu of them different, ", s->n,
                 s->distinct);
    snprintf(s->message, sizeof s->message, "%s%zu rows, %zu found, %zu run, %zu failed", text,
             done, s->found, s->run, s->failed);
}

static void run_release(sweep_run *run)
{
    batch_release(&run->batch);
    free(run->outputs);
    free(run->values);
    free(run->status);
    free(run->open);
}

static int check_info(const ec_job *job, const ec_sweep_info *info)
{
    if (job->searching)
        return ec_fail(EC_ERR_ARGUMENT,
                       "sweep: job '%s' is being searched or swept already: a function of ec.host "
                       "cannot sweep its own job",
                       job->name);
    if (!isfinite(info->seconds) || info->seconds < 0)
        return ec_fail(EC_ERR_RANGE, "sweep: seconds (%g) must be at least 0 and finite",
                       info->seconds);
    if (info->plan->width != job->n_genes + job->n_group_genes)
        return ec_fail(EC_ERR_ARGUMENT,
                       "sweep: variables were added to job '%s' after the sweep was planned",
                       job->name);
    if (job->n_genes == 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "sweep: job '%s' has no design variable of its own for each design",
                       job->name);
    return EC_OK;
}

/* Everything before the first row is evaluated. */
static int prepare(sweep_run *run, ec_job *job)
{
    int status = create_sweep(run, job);
    if (status == EC_OK)
        status = list_outputs(run, job);
    if (status == EC_OK)
        status = build_columns(run, job);
    if (status == EC_OK)
        status = build_index(run->s);
    if (status == EC_OK && run->info->store)
        status = run->info->store->load(run->info->store->user, run->s);
    if (status == EC_OK)
        status = list_open(run);
    return status;
}

int ec_sweep_run(ec_job *job, ec_backend *backend, const ec_sweep_info *info, ec_sweep **sweep)
{
    sweep_run run;

    if (!job || !backend || !info || !info->plan || !sweep)
        return ec_fail(EC_ERR_ARGUMENT, "sweep: a job, a backend, settings with a plan and a place "
                                        "for the result are needed");
    *sweep = NULL;
    int status = check_info(job, info);
    if (status < 0)
        return status;
    memset(&run, 0, sizeof run);
    run.start = ec_wall_seconds();
    run.info = info;
    run.backend = backend;
    run.interrupt = (ec_interrupt){stops_now, &run};
    job->searching = true;
    status = prepare(&run, job);
    if (status == EC_STOPPED)
        status = ec_fail(EC_ERR_ARGUMENT, "sweep: it was ended before its first row");
    bool begun = status == EC_OK;
    if (begun)
        status = evaluate(&run);
    job->searching = false;
    if (begun && (status == EC_OK || run.s->run + run.s->found > 0)) {
        if (status < 0)
            run.s->stop = status == EC_ERR_DEVICE ? EC_STOP_DEVICE : EC_STOP_ERROR;
        copy_same(run.s);
        run.s->seconds = ec_wall_seconds() - run.start;
        write_message(run.s);
        *sweep = run.s;
        run.s = NULL;
    }
    ec_sweep_destroy(&run.s);
    run_release(&run);
    return status;
}

/* ---- looking at it ---- */

int32_t ec_sweep_find(const ec_sweep *s, ec_sweep_kind kind, int32_t index)
{
    for (int32_t c = 0; c < s->n_columns; c++)
        if (s->columns[c].kind == kind && s->columns[c].index == index)
            return c;
    return -1;
}

bool ec_sweep_best(const ec_sweep *s, int32_t column, bool maximize, size_t *design)
{
    int32_t violation = ec_sweep_find(s, EC_SWEEP_VIOLATION, 0);
    double best = 0, least = INFINITY;
    bool found = false;

    for (size_t i = 0; i < s->n; i++) {
        double value = ec_sweep_value(s, column, i);
        double beyond = violation < 0 ? 0 : ec_sweep_value(s, violation, i);
        if (s->state[i] == EC_SWEEP_OPEN || s->status[i] || isnan(value))
            continue;
        bool better = maximize ? value > best : value < best;
        if (found && !(beyond < least || (beyond == least && better)))
            continue;
        found = true;
        best = value;
        least = beyond;
        *design = i;
    }
    return found;
}

void ec_sweep_reason(uint8_t status, char *text, size_t size)
{
    static const char *const names[] = {
#define EC_REASON_NAME(name, value, sentence) #name,
        EC_CANDIDATE_STATUS_LIST(EC_REASON_NAME)
#undef EC_REASON_NAME
    };
    static const uint8_t bits[] = {
#define EC_REASON_BIT(name, value, sentence) value,
        EC_CANDIDATE_STATUS_LIST(EC_REASON_BIT)
#undef EC_REASON_BIT
    };
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof bits && used < size; i++)
        if (status & bits[i])
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "", names[i]);
    for (char *c = text; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
}

/* By an estimate where there is one, else by some designs. */
static int check_time(sweep_run *run, ec_check *check)
{
    ec_estimate sum;
    int32_t calls = 0;
    int status = ec_executor_estimate(run->batch.executor, run->info->fidelity, &calls, &sum);

    if (status < 0)
        return status;
    if (calls > 0) {
        check->seconds_per_evaluation = sum.least;
        check->seconds_most = sum.most;
        memcpy(check->estimate, sum.text, sizeof check->estimate);
        return EC_OK;
    }
    const size_t n = run->s->n < EC_LANE_PAD ? run->s->n : EC_LANE_PAD;
    const double start = ec_wall_seconds();
    status = batch_run(&run->batch, NULL, 0, n);
    if (status == EC_OK)
        status = run->backend->ops->sync(run->backend);
    check->seconds_per_evaluation = (ec_wall_seconds() - start) / (double)n;
    return status;
}

int ec_sweep_check(ec_job *job, ec_backend *backend, const ec_sweep_info *info, ec_check *check)
{
    sweep_run run;
    ec_executor_stats stats;

    int status = check_info(job, info);
    if (status < 0)
        return status;
    memset(&run, 0, sizeof run);
    memset(check, 0, sizeof *check);
    run.start = ec_wall_seconds();
    run.info = info;
    run.backend = backend;
    run.interrupt = (ec_interrupt){stops_now, &run};
    status = create_sweep(&run, job);
    if (status == EC_OK)
        status = list_outputs(&run, job);
    if (status == EC_OK)
        status = plan_batch(&run, job);
    if (status == EC_OK) {
        ec_executor_describe(run.batch.executor, &stats);
        check->population = info->plan->n;
        check->chunk = stats.chunk;
        check->bytes_per_candidate = stats.bytes_per_candidate;
        check->bytes_fixed = stats.bytes_fixed;
        check->nodes = stats.nodes;
        check->calls = stats.calls;
        status = check_time(&run, check);
    }
    ec_sweep_destroy(&run.s);
    run_release(&run);
    return status == EC_STOPPED ? ec_fail(EC_ERR_ARGUMENT, "sweep: interrupted") : status;
}
