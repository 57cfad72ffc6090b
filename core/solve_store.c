/* solve_store.c: what a search leaves in the run store: one transaction at a look of the host, with
 * the history since the last one, designs by the policy, and the state to go on from. */
#include "solve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double write_seconds = 1; /* between two transactions */
static const double save_share = 0.02; /* of the time that states may take, where nobody asks */
enum { WAITING_NUMBERS = 4 << 20 };    /* of designs, before they are written without a look */

static const char *const kept_words[] = {"best", "elite", "all"};

static void tell_loss(ec_solve_run *run)
{
    ec_log_write(&run->messages.log, EC_LOG_WARNING, "the search cannot be kept: %s",
                 ec_error_text());
}

static bool is_kept(const ec_solve_run *run)
{
    return run->kept.designs != NULL;
}

bool ec_solve_keeps_all(const ec_solve_run *run)
{
    return is_kept(run) && run->info->kept_designs == EC_KEEP_ALL;
}

/* ---- quantities ---- */

/* Variables, objectives, constraints and records, in this order, as the columns of designs have them. */
static int list_quantities(const ec_solve_run *run, ec_store_quantity **list, int32_t *n)
{
    const ec_job *job = run->job;
    int32_t most = job->n_variables + job->n_objectives + job->n_constraints + job->n_records;
    ec_store_quantity *q = (ec_store_quantity *)malloc(sizeof *q * ((size_t)most + 1));
    int32_t at = 0;

    *list = q;
    *n = most;
    if (!q)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the store");
    for (int32_t i = 0; i < job->n_variables; i++)
        q[at++] = ec_store_variable(job, i);
    for (int32_t i = 0; i < job->n_objectives; i++)
        q[at++] =
            (ec_store_quantity){.kind = "objective",
                                .name = job->objectives[i].name,
                                .min = NAN,
                                .max = NAN,
                                .goal = job->objectives[i].maximize ? "maximize" : "minimize"};
    for (int32_t i = 0; i < job->n_constraints; i++)
        q[at++] = (ec_store_quantity){
            .kind = "constraint", .name = job->constraints[i].name, .min = NAN, .max = NAN};
    for (int32_t i = 0; i < job->n_records; i++) {
        int32_t length = ec_result_value_length(job->graph, job->records[i].expr);
        q[at++] = (ec_store_quantity){.kind = "recorded",
                                      .name = job->records[i].name,
                                      .length = length > 1 ? length : 0,
                                      .min = NAN,
                                      .max = NAN};
    }
    return EC_OK;
}

static size_t variable_numbers(const ec_solve_run *run)
{
    const ec_job *job = run->job;
    size_t n = 0;

    for (int32_t i = 0; i < job->n_variables; i++)
        n += (size_t)ec_result_value_length(job->graph, job->variables[i]->variable.value);
    return n;
}

static size_t row_numbers(const ec_solve_run *run)
{
    const ec_job *job = run->job;
    size_t n = variable_numbers(run) + (size_t)job->n_objectives + (size_t)job->n_constraints;

    for (int32_t i = 0; i < job->n_records; i++)
        n += (size_t)ec_result_value_length(job->graph, job->records[i].expr);
    return n;
}

/* ---- memory ---- */

void ec_solve_kept_release(ec_solve_run *run)
{
    ec_solve_kept *k = &run->kept;

    ec_store_table_close(&k->designs);
    ec_backend_destroy(&k->cpu);
    free(k->genes);
    free(k->cost);
    free(k->violation);
    free(k->status);
    free(k->generation);
    free(k->stage);
}

/* ---- designs that wait ---- */

static bool grow(void **memory, size_t n, size_t size)
{
    void *more = realloc(*memory, n * size + 1);

    if (more)
        *memory = more;
    return more != NULL;
}

/* Room for n more. */
static int reserve(ec_solve_run *run, size_t n)
{
    ec_solve_kept *k = &run->kept;
    size_t capacity = k->n + n > 2 * k->capacity ? k->n + n : 2 * k->capacity;

    if (k->n + n <= k->capacity)
        return EC_OK;
    if (!grow((void **)&k->genes, capacity, run->width * sizeof(double)) ||
        !grow((void **)&k->cost, capacity, run->n_objectives * sizeof(double)) ||
        !grow((void **)&k->violation, capacity, sizeof(double)) ||
        !grow((void **)&k->status, capacity, 1) ||
        !grow((void **)&k->generation, capacity, sizeof *k->generation) ||
        !grow((void **)&k->stage, capacity, sizeof *k->stage))
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs of the store", capacity);
    k->capacity = capacity;
    return EC_OK;
}

/* There has to be room. */
static void push(ec_solve_run *run, const double *genes, const double *cost, double violation,
                 uint8_t status, const char *stage)
{
    ec_solve_kept *k = &run->kept;
    size_t at = k->n++;

    memcpy(k->genes + at * run->width, genes, run->width * sizeof(double));
    memcpy(k->cost + at * run->n_objectives, cost, run->n_objectives * sizeof(double));
    k->violation[at] = violation;
    k->status[at] = status;
    k->generation[at] = run->generation;
    k->stage[at] = stage;
}

/* One design of those that wait as a row; values has the variables'. */
static int write_waiting(ec_solve_run *run, size_t at, double *values, size_t n_variables,
                         size_t n_values)
{
    const ec_solve_kept *k = &run->kept;
    bool failed = k->status[at] != 0;

    for (size_t i = n_variables; i < n_values; i++)
        values[i] = NAN;
    for (size_t i = 0; i < run->n_objectives && !failed; i++) {
        double cost = k->cost[at * run->n_objectives + i];
        values[n_variables + i] = run->job->objectives[i].maximize ? -cost : cost;
    }
    ec_store_row row = {.status = k->status[at],
                        .values = values,
                        .generation = k->generation[at],
                        .stage = k->stage[at],
                        .violation = failed ? NAN : k->violation[at]};
    return ec_store_table_add(k->designs, &row, 1);
}

/* Within a transaction. */
static int write_designs(ec_solve_run *run)
{
    ec_solve_kept *k = &run->kept;
    size_t n_variables = variable_numbers(run), n_values = row_numbers(run);
    double *variables = (double *)malloc(sizeof(double) * (k->n * n_variables + 1));
    double *values = (double *)malloc(sizeof(double) * (n_values + 1));

    int status =
        variables && values ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for designs");
    if (status == EC_OK && k->n > 0)
        status = ec_solve_variable_values(run, k->cpu, k->genes, k->n, variables);
    for (size_t i = 0; i < k->n && status == EC_OK; i++) {
        memcpy(values, variables + i * n_variables, n_variables * sizeof(double));
        status = write_waiting(run, i, values, n_variables, n_values);
    }
    free(variables);
    free(values);
    return status;
}

/* ---- designs of a look ---- */

/* The best, where it is better than those of the looks before. */
static void push_best(ec_solve_run *run)
{
    const ec_design_list *list = &run->latest;
    ec_solve_kept *k = &run->kept;
    size_t best = 0;

    for (size_t i = 1; i < list->n; i++)
        if (ec_score_better(&list->scores[i], &list->scores[best]))
            best = i;
    const ec_score *s = &list->scores[best];
    if (k->found && !ec_score_better(s, &k->best))
        return;
    k->best = *s;
    k->found = true;
    push(run, list->genes + best * run->width, &s->cost, s->violation, s->status, "search");
}

/* Whether a design comes into the list of the best that is not there yet. */
static bool enters(const ec_solve_run *run, const double *genes, const ec_score *score)
{
    const ec_design_list *keep = &run->keep;

    if (keep->n == keep->capacity && !ec_score_better(score, &keep->scores[keep->n - 1]))
        return false;
    for (size_t i = 0; i < keep->n; i++)
        if (memcmp(keep->genes + i * run->width, genes, run->width * sizeof *genes) == 0)
            return false;
    return true;
}

int ec_solve_keep_look(ec_solve_run *run)
{
    const ec_design_list *list = &run->latest;
    bool several = run->n_objectives > 1, elite = run->info->kept_designs == EC_KEEP_ELITE;
    size_t n = several ? run->front.n : list->n;

    if (!is_kept(run) || ec_solve_keeps_all(run) || (several && !elite) || n == 0)
        return EC_OK;
    int status = reserve(run, n);
    if (status < 0)
        return status;
    if (!elite)
        push_best(run);
    for (size_t i = 0; i < n && elite && several; i++)
        push(run, run->front.genes + i * run->width, run->front.cost + i * run->n_objectives,
             run->front.violation[i], 0, "search");
    for (size_t i = 0; i < n && elite && !several; i++) {
        const double *genes = list->genes + i * run->width;
        const ec_score *s = &list->scores[i];
        if (enters(run, genes, s))
            push(run, genes, &s->cost, s->violation, s->status, "search");
    }
    return EC_OK;
}

/* After a state was loaded, whose list has the best of the looks before. */
static void find_best(ec_solve_run *run)
{
    for (size_t i = 0; i < run->keep.n; i++) {
        const ec_score *s = &run->keep.scores[i];
        if (!run->kept.found || ec_score_better(s, &run->kept.best))
            run->kept.best = *s;
        run->kept.found = true;
    }
}

/* ---- begin, and go on ---- */

static int open_search(ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    ec_store_quantity *list = NULL;
    int32_t n = 0;
    char backend[EC_WORKERS_MAX * sizeof run->backend->name];
    ec_backend_info cpu = {
        .name = "cpu", .threads = run->backend->threads, .log = &run->messages.warnings};

    ec_backend_list(run->backend, backend, sizeof backend);
    ec_store_search search = {.job = run->job->name,
                              .method = run->def->name,
                              .backend = backend,
                              .device = run->backend->device,
                              .isa = run->backend->is_cuda ? "" : ec_isa_name(run->backend->isa),
                              .keep = kept_words[info->kept_designs],
                              .seed = info->seed_given ? info->seed : run->job->seed,
                              .population = run->max_population};
    int status = list_quantities(run, &list, &n);
    if (status == EC_OK)
        status = ec_backend_create(&cpu, &run->kept.cpu);
    if (status == EC_OK)
        status = ec_store_search_begin(info->store, info->store_number, &search, list, n,
                                       &run->kept.designs);
    free(list);
    return status;
}

static int load_state(ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    char name[4400];
    void *bytes = NULL;
    size_t size = 0;

    snprintf(name, sizeof name, "the state of search %d in '%s'", (int)info->store_number,
             ec_store_path(info->store));
    int status = ec_store_checkpoint_get(info->store, info->store_number, &bytes, &size);
    if (status == EC_OK && bytes) {
        status = ec_solve_unpack(run, (const char *)bytes, size, name);
        find_best(run);
        if (status == EC_OK)
            ec_log_write(&run->messages.log, EC_LOG_INFO,
                         run->phase == EC_PHASE_SEARCH
                             ? "the search goes on from generation %u, %llu evaluations"
                             : "the search was over: generation %u, %llu evaluations",
                         run->generation, (unsigned long long)run->enqueued);
    }
    free(bytes);
    return status;
}

int ec_solve_resume(ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    int status = EC_OK;

    run->kept.written_when = run->kept.saved_when = ec_wall_seconds();
    if (!info->store)
        return EC_OK;
    if (info->resume && run->def->save && run->def->load)
        status = load_state(run);
    if (status < 0)
        return status;
    status = open_search(run);
    if (status == EC_OK)
        status = ec_store_search_rewind(info->store, info->store_number, run->generation);
    if (status < 0) {
        tell_loss(run);
        ec_store_table_close(&run->kept.designs);
    }
    return EC_OK;
}

/* ---- a transaction ---- */

static int write_history(ec_solve_run *run)
{
    ec_solve_kept *k = &run->kept;
    const ec_solve_info *info = run->info;
    const ec_result *r = run->result;
    int status = EC_OK;

    for (size_t i = k->n_history; i < r->n_history && status == EC_OK; i++)
        status = ec_store_history_add(info->store, info->store_number, &r->history[i], true);
    if (status == EC_OK && k->look.generation > 0)
        status = ec_store_history_add(info->store, info->store_number, &k->look, false);
    return status;
}

static int write_state(ec_solve_run *run)
{
    char *bytes = NULL;
    size_t size = 0;

    int status = ec_solve_pack(run, &bytes, &size);
    if (status == EC_OK)
        status = ec_store_checkpoint_put(run->info->store, run->info->store_number, bytes, size);
    free(bytes);
    return status;
}

/* Everything that waits, and nothing of it when that fails: it waits on. Designs do not, or a disk that
 * stays full would fill the memory too. */
static int write_all(ec_solve_run *run, bool state)
{
    ec_solve_kept *k = &run->kept;
    struct ec_store *store = run->info->store;

    int status = ec_store_begin(store);
    if (status == EC_OK && k->n > 0)
        status = write_designs(run);
    if (status == EC_OK)
        status = write_history(run);
    if (status == EC_OK && state)
        status = write_state(run);
    if (status == EC_OK)
        status = ec_store_commit(store);
    k->n = 0;
    if (status < 0) {
        tell_loss(run);
        ec_store_rollback(store);
    } else {
        k->n_history = run->result->n_history;
    }
    k->written_when = ec_wall_seconds();
    return status;
}

static bool saves_states(const ec_solve_run *run)
{
    return run->def->save && run->def->load && run->info->checkpoint_seconds >= 0;
}

void ec_solve_save(ec_solve_run *run)
{
    double begun = ec_wall_seconds();

    if (!is_kept(run))
        return;
    write_all(run, saves_states(run));
    run->kept.saved_when = run->kept.written_when;
    run->kept.save_seconds = run->kept.written_when - begun;
}

void ec_solve_save_when_due(ec_solve_run *run)
{
    const ec_solve_kept *k = &run->kept;
    double asked = run->info->checkpoint_seconds, now = ec_wall_seconds();

    if (!is_kept(run))
        return;
    double every = asked > 0 ? asked : fmax(write_seconds, k->save_seconds / save_share);
    if (saves_states(run) && now - k->saved_when >= every)
        ec_solve_save(run);
    else if (now - k->written_when >= write_seconds)
        write_all(run, false);
}

/* ---- every design of a generation ---- */

/* n rows of an array on the backend, malloc'ed. */
static double *fetch(ec_solve_run *run, const void *from, size_t rows, size_t ld, int *status)
{
    double *to = (double *)malloc(sizeof(double) * rows * ld + 1);

    if (*status == EC_OK && !to)
        *status = ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs of a generation");
    if (*status == EC_OK)
        *status = run->backend->ops->download(run->backend, to, from, sizeof(double) * rows * ld);
    return to;
}

/* Host copies of what a generation is. */
typedef struct evaluated {
    double *genes, *group_genes, *cost, *violation;
    int32_t *map;
    uint8_t *status;
    size_t ld;
} evaluated;

static int fetch_generation(ec_solve_run *run, const ec_generation *g, evaluated *e)
{
    ec_backend *backend = run->backend;
    ec_scores scores;
    int status = EC_OK;

    memset(e, 0, sizeof *e);
    ec_solve_scores(run, &run->scorer, &scores);
    e->ld = scores.ld;
    e->genes = fetch(run, g->X.data, g->X.elements, g->X.ld, &status);
    e->cost = fetch(run, scores.cost, run->n_objectives, scores.ld, &status);
    if (scores.violation)
        e->violation = fetch(run, scores.violation, 1, scores.ld, &status);
    e->status = (uint8_t *)malloc(g->n + 1);
    e->map = (int32_t *)malloc(sizeof *e->map * (g->n + 1));
    if (status == EC_OK && (!e->status || !e->map))
        status = ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs of a generation");
    if (status == EC_OK)
        status = backend->ops->download(backend, e->status, run->scorer.status, g->n);
    if (run->groups > 0) {
        e->group_genes = fetch(run, g->XG.data, g->XG.elements, g->XG.ld, &status);
        if (status == EC_OK)
            status = backend->ops->download(backend, e->map, g->group_map, sizeof *e->map * g->n);
    }
    return status;
}

int ec_solve_keep_generation(ec_solve_run *run, const ec_generation *g)
{
    ec_solve_kept *k = &run->kept;
    evaluated e;

    int status = fetch_generation(run, g, &e);
    if (status == EC_OK)
        status = reserve(run, g->n);
    for (size_t c = 0; c < g->n && status == EC_OK; c++) {
        double *row = k->genes + k->n * run->width;
        for (size_t i = 0; i < g->X.elements; i++)
            row[i] = e.genes[i * g->X.ld + c];
        for (size_t i = 0; i < g->XG.elements && run->groups > 0; i++)
            row[g->X.elements + i] = e.group_genes[i * g->XG.ld + (size_t)e.map[c]];
        for (size_t i = 0; i < run->n_objectives; i++)
            k->cost[k->n * run->n_objectives + i] = e.cost[i * e.ld + c];
        k->violation[k->n] = e.violation ? e.violation[c] : 0;
        k->status[k->n] = e.status[c];
        k->generation[k->n] = run->generation + 1;
        k->stage[k->n++] = "search";
    }
    free(e.genes);
    free(e.group_genes);
    free(e.cost);
    free(e.violation);
    free(e.map);
    free(e.status);
    if (status == EC_OK && k->n * (run->width + run->n_objectives + 2) > WAITING_NUMBERS)
        write_all(run, false);
    return status;
}

/* ---- the end ---- */

void ec_solve_keep_final(ec_solve_run *run, const double *rows, size_t n, const ec_score *scores)
{
    if (!is_kept(run) || run->info->kept_designs == EC_KEEP_BEST)
        return;
    if (reserve(run, n) < 0) {
        tell_loss(run);
        return;
    }
    for (size_t i = 0; i < n; i++)
        push(run, rows + i * run->width, &scores[i].cost, scores[i].violation, scores[i].status,
             "final");
}

/* Values of a result's design, in the order of quantities. */
static void result_values(const ec_solve_run *run, const ec_result *r, double *to)
{
    const ec_job *job = run->job;

    for (int32_t i = 0; i < job->n_variables; i++, to += r->variable_length[i - 1])
        memcpy(to, r->variable[i], sizeof *to * (size_t)r->variable_length[i]);
    for (int32_t i = 0; i < job->n_objectives; i++)
        *to++ = r->objective_final[i];
    for (int32_t i = 0; i < job->n_constraints; i++)
        *to++ = r->constraint[i];
    for (int32_t i = 0; i < job->n_records; i++, to += r->record_length[i - 1])
        memcpy(to, r->record[i], sizeof *to * (size_t)r->record_length[i]);
}

static int write_result(ec_solve_run *run, const ec_result *r, const char *stage, double *values)
{
    result_values(run, r, values);
    ec_store_row row = {.status = r->status,
                        .values = values,
                        .generation = run->generation,
                        .stage = stage,
                        .violation = r->violation};
    return ec_store_table_add(run->kept.designs, &row, 1);
}

static int write_front(ec_solve_run *run, double *values)
{
    int status = EC_OK;

    for (int32_t i = 0; i < run->result->front.n && status == EC_OK; i++) {
        ec_result *member = NULL;
        status = ec_result_member(run->result, i, &member);
        if (status == EC_OK)
            status = write_result(run, member, "front", values);
        ec_result_destroy(&member);
    }
    return status;
}

static int write_failures(ec_solve_run *run, double *values, size_t n_values)
{
    const ec_result *r = run->result;
    size_t n_variables = variable_numbers(run);
    int status = EC_OK;

    for (size_t i = n_variables; i < n_values; i++)
        values[i] = NAN;
    for (size_t i = 0; i < r->n_failures && r->failure_values && status == EC_OK; i++) {
        memcpy(values, r->failure_values + i * n_variables, n_variables * sizeof *values);
        ec_store_row row = {.status = r->failures[i].status,
                            .values = values,
                            .generation = r->failures[i].generation,
                            .stage = "failed",
                            .violation = NAN};
        status = ec_store_table_add(run->kept.designs, &row, 1);
    }
    return status;
}

void ec_solve_keep_result(ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    size_t n_values = is_kept(run) ? row_numbers(run) : 0;
    double *values = (double *)malloc(sizeof(double) * (n_values + 1));
    int status = EC_OK;

    if (is_kept(run) && !values)
        status = ec_fail(EC_ERR_MEMORY, "solve: no memory for the store");
    if (is_kept(run) && status == EC_OK && write_all(run, false) == EC_OK) {
        status = ec_store_begin(info->store);
        if (status == EC_OK && !ec_solve_keeps_all(run))
            status = write_failures(run, values, n_values);
        if (status == EC_OK)
            status = write_front(run, values);
        if (status == EC_OK && run->result->found)
            status = write_result(run, run->result, "winner", values);
        if (status == EC_OK)
            status = ec_store_search_end(info->store, info->store_number, run->result);
        if (status == EC_OK)
            status = ec_store_commit(info->store);
        if (status < 0)
            ec_store_rollback(info->store);
    }
    if (status < 0)
        tell_loss(run);
    free(values);
}
