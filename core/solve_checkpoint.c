/* solve_checkpoint.c: the whole state of a search as bytes, and back.
 *
 * They are a head of fixed size, the parts of the run one after another, and a check sum. What is
 * in them does not depend on when they were written: lists and history change at set
 * generations only (ec_solve_is_kept). So a search that goes on from it ends with the bits of one
 * that was never interrupted, on the same backend; where the wall clock ends a search or a polish,
 * the seconds that were used before count.
 *
 * Numbers are in the byte order of the machine, which the head tells.
 */
#include "solve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'E', 'C', 'S', 'E', 'A', 'R', 'C', 'H'};
enum { FORMAT = 2, BYTE_ORDER_MARK = 0x01020304 };

/* What has to agree before a state fits a search. */
typedef struct checkpoint_head {
    char magic[8];
    uint32_t format, byte_order;
    char version[32], backend[8], isa[8], method[32];
    uint64_t identity, settings, seed;
    uint64_t width, population, keep, distinct;
} checkpoint_head;

/* The run's figures. */
typedef struct checkpoint_state {
    uint64_t phase; /* ec_solve_phase */
    double seconds; /* wall time used */
    uint64_t enqueued, n, generation, patched;
    ec_optimizer_stats stats;
    ec_stop_state stop_state;
    ec_front_progress front;
    uint64_t stop; /* of a search that is over */
    uint64_t n_keep, n_distinct, n_history, n_designs, n_failures, optimizer_bytes;
    double polish_seconds;
    uint64_t polish_designs, polish_finished, polish_evaluations, polish_capped;
} checkpoint_state;

/* ---- bytes ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull; /* FNV-1a */
    return hash;
}

static const uint64_t hash_start = 0xcbf29ce484222325ull;

typedef struct writer {
    FILE *stream;
    uint64_t hash;
    bool failed;
} writer;

static void put(writer *w, const void *bytes, size_t size)
{
    if (size == 0 || w->failed)
        return;
    w->hash = hash_bytes(w->hash, bytes, size);
    w->failed = fwrite(bytes, 1, size, w->stream) != size;
}

typedef struct reader {
    const char *bytes;
    size_t at, size;
} reader;

/* NULL when the file ends before. */
static const void *get(reader *r, size_t size)
{
    if (size > r->size - r->at)
        return NULL;
    r->at += size;
    return r->bytes + r->at - size;
}

static bool get_into(reader *r, void *to, size_t size)
{
    const void *from = get(r, size);

    if (from && size > 0)
        memcpy(to, from, size);
    return from != NULL;
}

/* ---- what identifies a search ---- */

/* Settings that change the course of a search. */
static uint64_t hash_settings(const ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    const ec_job *job = run->job;
    const double numbers[] = {(double)info->population,
                              (double)run->groups,
                              (double)info->evaluations,
                              (double)info->generations,
                              info->seconds,
                              info->target,
                              (double)info->stagnation,
                              info->stagnation_tolerance,
                              info->spread,
                              (double)info->polish,
                              (double)info->polish_designs,
                              (double)info->polish_evaluations,
                              info->polish_seconds,
                              (double)info->keep,
                              (double)info->on_failure,
                              info->failure_value,
                              (double)job->n_genes,
                              (double)job->n_group_genes,
                              (double)job->n_objectives,
                              (double)job->n_constraints};
    uint64_t hash = hash_bytes(hash_start, numbers, sizeof numbers);

    for (size_t i = 0; i < run->def->n_options; i++) {
        double value = info->options ? info->options[i] : run->def->options[i].initial;
        hash = hash_bytes(hash, &value, sizeof value);
    }
    if (info->n_reference > 0)
        hash = hash_bytes(hash, info->reference, (size_t)info->n_reference * sizeof(double));
    hash = hash_bytes(hash, run->min, run->width * sizeof(double));
    hash = hash_bytes(hash, run->max, run->width * sizeof(double));
    return hash_bytes(hash, job->name, strlen(job->name));
}

static void describe(const ec_solve_run *run, checkpoint_head *head)
{
    memset(head, 0, sizeof *head);
    memcpy(head->magic, magic, sizeof magic);
    head->format = FORMAT;
    head->byte_order = BYTE_ORDER_MARK;
    snprintf(head->version, sizeof head->version, "%s", EC_VERSION);
    snprintf(head->backend, sizeof head->backend, "%s", run->backend->is_cuda ? "cuda" : "cpu");
    snprintf(head->isa, sizeof head->isa, "%s",
             run->backend->is_cuda ? "" : ec_isa_name(run->backend->isa));
    snprintf(head->method, sizeof head->method, "%s", run->def->name);
    head->identity = run->info->identity;
    head->settings = hash_settings(run);
    head->seed = run->info->seed_given ? run->info->seed : run->job->seed;
    head->width = run->width;
    head->population = run->max_population;
    head->keep = run->keep.capacity;
    head->distinct = run->distinct.capacity;
}

/* With `force` what only changes bits may differ; all else would not fit. */
static void overlook(const checkpoint_head *is, checkpoint_head *wanted)
{
    memcpy(wanted->version, is->version, sizeof wanted->version);
    memcpy(wanted->backend, is->backend, sizeof wanted->backend);
    memcpy(wanted->isa, is->isa, sizeof wanted->isa);
    wanted->identity = is->identity;
}

static int check_head(const ec_solve_run *run, const checkpoint_head *is, const char *file)
{
    checkpoint_head wanted;

    describe(run, &wanted);
    if (memcmp(is->magic, magic, sizeof magic) != 0 || is->byte_order != wanted.byte_order)
        return ec_fail(EC_ERR_FORMAT, "%s is none that this program knows", file);
    if (run->info->force)
        overlook(is, &wanted);
    if (is->format != wanted.format || strncmp(is->version, wanted.version, 32) != 0)
        return ec_fail(EC_ERR_FORMAT,
                       "%s was written by version %.31s (format %u), this is version %s (format "
                       "%u); a search goes on with the version that began it",
                       file, is->version, is->format, EC_VERSION, (unsigned)FORMAT);
    if (is->identity != wanted.identity)
        return ec_fail(EC_ERR_FORMAT,
                       "%s belongs to another script: the script, or a file that it reads, has "
                       "changed since",
                       file);
    if (strncmp(is->method, wanted.method, 32) != 0)
        return ec_fail(EC_ERR_FORMAT, "%s is of method '%.31s', this search has '%s'", file,
                       is->method, wanted.method);
    if (strncmp(is->backend, wanted.backend, 8) != 0 || strncmp(is->isa, wanted.isa, 8) != 0)
        return ec_fail(EC_ERR_FORMAT,
                       "%s was written on %.7s %.7s, this is %s %s; other bits would come out",
                       file, is->backend, is->isa, wanted.backend, wanted.isa);
    if (is->seed != wanted.seed)
        return ec_fail(EC_ERR_FORMAT, "%s has seed %llu, this search %llu", file,
                       (unsigned long long)is->seed, (unsigned long long)wanted.seed);
    if (memcmp(is, &wanted, sizeof wanted) != 0)
        return ec_fail(EC_ERR_FORMAT, "%s is of a search with other settings or variables", file);
    return EC_OK;
}

/* ---- save ---- */

static void put_list(writer *w, const ec_design_list *list)
{
    put(w, list->scores, list->n * sizeof *list->scores);
    put(w, list->genes, list->n * list->width * sizeof *list->genes);
}

static void fill_state(const ec_solve_run *run, checkpoint_state *state)
{
    const ec_result *r = run->result;

    memset(state, 0, sizeof *state);
    state->phase = run->phase;
    state->seconds = ec_wall_seconds() - run->start;
    state->enqueued = run->enqueued;
    state->n = run->n;
    state->generation = run->generation;
    state->patched = run->patched;
    state->stats = run->stats;
    state->front = run->front.progress;
    state->stop = r->stop;
    state->n_keep = run->keep.n;
    state->n_distinct = run->distinct.n;
    state->n_history = r->n_history;
    state->n_designs = run->n_designs;
    state->n_failures = r->n_failures;
    state->polish_seconds = r->polish_seconds;
    state->polish_designs = (uint64_t)r->polish_designs;
    state->polish_finished = (uint64_t)r->polish_finished;
    state->polish_evaluations = r->polish_evaluations;
    state->polish_capped = r->polish_capped;
}

static bool write_all(const ec_solve_run *run, const checkpoint_state *state, const void *blob,
                      FILE *stream)
{
    checkpoint_head head;
    writer w = {stream, hash_start, false};
    const ec_result *r = run->result;

    describe(run, &head);
    put(&w, &head, sizeof head);
    put(&w, state, sizeof *state);
    put_list(&w, &run->keep);
    put_list(&w, &run->distinct);
    put(&w, r->history, r->n_history * sizeof *r->history);
    put(&w, r->failures, r->n_failures * sizeof *r->failures);
    put(&w, r->failure_genes, r->n_failures * run->width * sizeof(double));
    put(&w, run->designs, run->n_designs * run->width * sizeof(double));
    put(&w, blob, state->optimizer_bytes);
    uint64_t hash = w.hash;
    put(&w, &hash, sizeof hash);
    return !w.failed;
}

int ec_solve_pack(ec_solve_run *run, char **bytes, size_t *size)
{
    checkpoint_state state;
    void *blob = NULL;
    size_t blob_bytes = 0;

    *bytes = NULL;
    *size = 0;
    fill_state(run, &state);
    int status = run->backend->ops->download(run->backend, &state.stop_state, run->state,
                                             sizeof state.stop_state);
    if (status == EC_OK)
        status = run->def->save(run->optimizer, &blob, &blob_bytes);
    if (status != EC_OK)
        return status;
    state.optimizer_bytes = blob_bytes;
    FILE *stream = open_memstream(bytes, size);
    bool written = stream && write_all(run, &state, blob, stream);
    if (stream && fclose(stream) != 0)
        written = false;
    free(blob);
    if (written)
        return EC_OK;
    free(*bytes);
    *bytes = NULL;
    return ec_fail(EC_ERR_MEMORY, "solve: no memory for the state of the search");
}

/* ---- load ---- */

static bool get_list(reader *r, ec_design_list *list, uint64_t n)
{
    if (n > list->capacity || !get_into(r, list->scores, n * sizeof *list->scores) ||
        !get_into(r, list->genes, n * list->width * sizeof *list->genes))
        return false;
    list->n = n;
    return true;
}

/* n items of `size` bytes in memory of their own; NULL: the file is too short or no memory. */
static void *get_copy(reader *r, uint64_t n, size_t size)
{
    const void *from = n <= r->size / size ? get(r, n * size) : NULL;
    void *to = from ? malloc(n * size + 1) : NULL;

    if (to)
        memcpy(to, from, n * size);
    return to;
}

/* Room for all that a search keeps, since more may follow. */
static bool get_failures(reader *r, ec_result *result, uint64_t n, size_t width)
{
    result->failures = (ec_failure *)calloc(EC_FAILURES_MAX, sizeof *result->failures);
    result->failure_genes = (double *)calloc(EC_FAILURES_MAX * width + 1, sizeof(double));
    return result->failures && result->failure_genes &&
           get_into(r, result->failures, n * sizeof *result->failures) &&
           get_into(r, result->failure_genes, n * width * sizeof(double));
}

static void take_state(ec_solve_run *run, const checkpoint_state *state)
{
    ec_result *r = run->result;

    run->phase = (ec_solve_phase)state->phase;
    run->start = ec_wall_seconds() - state->seconds;
    run->enqueued = state->enqueued;
    run->n = 0; /* the next generation is enqueued by itself, then captured anew */
    run->generation = run->looked_at = (uint32_t)state->generation;
    run->patched = state->patched;
    run->stats = state->stats;
    run->front.progress = state->front;
    run->n_designs = state->n_designs;
    r->stop = (ec_stop)state->stop;
    r->n_history = run->history_capacity = state->n_history;
    r->n_failures = state->n_failures;
    r->polish_seconds = state->polish_seconds;
    r->polish_designs = (int32_t)state->polish_designs;
    r->polish_finished = (int32_t)state->polish_finished;
    r->polish_evaluations = state->polish_evaluations;
    r->polish_capped = state->polish_capped != 0;
}

static int read_all(ec_solve_run *run, reader *r, const char *file)
{
    checkpoint_head head;
    checkpoint_state state;
    ec_result *result = run->result;
    uint64_t hash = 0;
    bool whole = get_into(r, &head, sizeof head);

    if (!whole)
        return ec_fail(EC_ERR_FORMAT, "%s is none that this program knows", file);
    int status = check_head(run, &head, file);
    if (status < 0)
        return status;
    whole = r->size >= sizeof head + sizeof state + sizeof hash;
    if (whole)
        memcpy(&hash, r->bytes + r->size - sizeof hash, sizeof hash);
    whole = whole && hash == hash_bytes(hash_start, r->bytes, r->size - sizeof hash) &&
            get_into(r, &state, sizeof state) && state.phase <= EC_PHASE_POLISHED &&
            state.n_failures <= EC_FAILURES_MAX &&
            state.n_designs <= run->keep.capacity + EC_POLISH_DESIGNS_MAX &&
            get_list(r, &run->keep, state.n_keep) && get_list(r, &run->distinct, state.n_distinct);
    if (!whole)
        return ec_fail(EC_ERR_FORMAT, "%s is damaged", file);
    result->history = (ec_history_row *)get_copy(r, state.n_history, sizeof *result->history);
    whole = get_failures(r, result, state.n_failures, run->width);
    run->designs = (double *)get_copy(r, state.n_designs, run->width * sizeof(double));
    const void *blob = get(r, state.optimizer_bytes);
    if (!result->history || !whole || !run->designs || !blob)
        return ec_fail(EC_ERR_FORMAT, "%s is damaged, or there is no memory for it", file);
    take_state(run, &state);
    status = run->def->load(run->optimizer, blob, state.optimizer_bytes);
    if (status == EC_OK)
        status = run->backend->ops->upload(run->backend, run->state, &state.stop_state,
                                           sizeof state.stop_state);
    return status;
}

int ec_solve_unpack(ec_solve_run *run, const char *bytes, size_t size, const char *name)
{
    reader r = {bytes, 0, size};

    return read_all(run, &r, name);
}
