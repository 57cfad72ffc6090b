/* executor_team.c: a population that several workers evaluate (backend.h: a list of backends).
 *
 * Each member has an executor of its own for its part. Designs go round, so that neighbours, which
 * take alike, are spread over all members; where there are groups a member has designs in a row, and
 * only their groups. Parts travel through host memory and are gathered by design, so no bit depends
 * on the number of members. Short runs are timed both ways first, and then go the faster one.
 */
#define _POSIX_C_SOURCE 200809L /* pthread */
#include "executor_internal.h"
#include "wall_clock.h"
#include "worker_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of a run from which on what a split costs is beside the point. */
static const double worth_a_split = 0.02;

/* What a member's evaluators say in a run, written when all have ended. */
typedef struct said {
    ec_log_level level;
    char *text;
} said;

typedef struct member {
    ec_team *team;
    ec_worker *worker; /* NULL: the thread that called */
    ec_backend *backend;
    ec_executor *executor;
    ec_log log;
    said *said;
    size_t n_said;
    /* its part: designs first, first + step, ... */
    size_t first, step, n, groups;
    ec_array X, XG; /* on the backend, as what follows in pairs on the host */
    double *genes, *group_genes;
    int32_t *map, *host_map;
    uint8_t *status, *bytes;
    char **out; /* of each output, as it lies in the executor's array */
} member;

struct ec_team {
    ec_executor *whole; /* of all designs, on the first backend: the first member's */
    ec_log *log;
    ec_interrupt interrupt; /* what the evaluators ask */
    const ec_interrupt *outer;
    pthread_mutex_t lock; /* of outer */
    atomic_bool ended;    /* a member has failed or heard the interrupt: the others end too */
    bool running;         /* a split run */
    member *member;
    int n; /* 1: nothing is split */
    size_t part;
    bool settled, split; /* how runs go from now on */
    int trial;
    double best[2]; /* seconds a design, alone and split */
    double *genes;  /* staging of genes of all, then of their groups' */
    char *output;   /* and of an output */
    size_t genes_size, output_size;
    int32_t *map, *local; /* candidate to group; group to that of the part, -1 */
    uint8_t *bytes;
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "no memory to split a population");
}

/* ---- what evaluators reach from their threads ---- */

static bool team_asked(void *user)
{
    ec_team *t = (ec_team *)user;

    if (atomic_load(&t->ended))
        return true;
    if (!t->outer)
        return false;
    pthread_mutex_lock(&t->lock);
    bool asked = t->outer->asked(t->outer->user);
    pthread_mutex_unlock(&t->lock);
    if (asked && t->running)
        atomic_store(&t->ended, true);
    return asked;
}

/* Plans of all members say the same, so only the first one's are heard. */
static void member_write(void *user, ec_log_level level, const char *text)
{
    member *m = (member *)user;

    if (!m->team->running) {
        if (!m->worker || level >= EC_LOG_ERROR)
            ec_log_write(m->team->log, level, "%s", text);
        return;
    }
    said *more = (said *)realloc(m->said, (m->n_said + 1) * sizeof *more);
    if (!more)
        return;
    m->said = more;
    m->said[m->n_said] = (said){level, strdup(text)};
    m->n_said += m->said[m->n_said].text != NULL;
}

static void tell(member *m)
{
    for (size_t i = 0; i < m->n_said; i++) {
        ec_log_write(m->team->log, m->said[i].level, "%s", m->said[i].text);
        free(m->said[i].text);
    }
    m->n_said = 0;
}

/* ---- life ---- */

void ec_team_destroy(ec_team **handle)
{
    ec_team *t = *handle;

    if (!t)
        return;
    for (int i = 0; t->member && i < t->n; i++) {
        member *m = &t->member[i];
        if (!m->backend)
            continue;
        if (i > 0)
            ec_executor_destroy(&m->executor);
        ec_array_release(m->backend, &m->X);
        ec_array_release(m->backend, &m->XG);
        m->backend->ops->release(m->backend, m->map);
        m->backend->ops->release(m->backend, m->status);
        for (int32_t o = 0; m->out && o < t->whole->n_outputs; o++)
            free(m->out[o]);
        free(m->out);
        free(m->genes);
        free(m->group_genes);
        free(m->host_map);
        free(m->bytes);
        free(m->said);
    }
    pthread_mutex_destroy(&t->lock);
    free(t->member);
    free(t->genes);
    free(t->output);
    free(t->map);
    free(t->local);
    free(t->bytes);
    free(t);
    *handle = NULL;
}

/* Members that take their memory from the same device. */
static size_t sharing(ec_backend *first, const ec_backend *backend)
{
    size_t n = 0;

    for (int i = 0; i <= first->n_workers; i++)
        n += strcmp(ec_backend_member(first, i)->name, backend->name) == 0;
    return n;
}

/* A member's share of the memory; 0: as one that is alone. */
static int share_memory(ec_backend *first, ec_backend *backend, size_t *budget)
{
    size_t n = sharing(first, backend), free_bytes = 0, total = 0;

    if (n < 2 || *budget > 0) {
        *budget /= n;
        return EC_OK;
    }
    int status = backend->ops->memory(backend, &free_bytes, &total);
    *budget = free_bytes / 2 / n;
    return status;
}

int ec_team_begin(ec_executor *x, ec_executor_info *info)
{
    ec_backend *first = x->backend;
    ec_team *t = (ec_team *)calloc(1, sizeof *t);

    if (!t || pthread_mutex_init(&t->lock, NULL) != 0) {
        free(t);
        return no_memory();
    }
    x->team = t;
    t->whole = x;
    t->log = info->log;
    t->outer = info->interrupt;
    t->interrupt = (ec_interrupt){team_asked, t};
    t->n = 1;
    t->best[0] = t->best[1] = INFINITY;
    t->member = (member *)calloc((size_t)first->n_workers + 1, sizeof *t->member);
    if (!t->member)
        return no_memory();
    for (int i = 0; i <= first->n_workers; i++) {
        t->member[i].team = t;
        t->member[i].backend = ec_backend_member(first, i);
        t->member[i].worker = i > 0 ? first->worker[i - 1] : NULL;
        t->member[i].log =
            (ec_log){t->log ? t->log->level : EC_LOG_WARNING, member_write, &t->member[i]};
    }
    info->interrupt = &t->interrupt;
    info->log = &t->member[0].log;
    return share_memory(first, first, &info->memory_budget);
}

/* Only evaluators are worth it. Code of the user stays on its thread. */
static bool can_split(const ec_executor *x)
{
    bool worth = false, users = false;

    for (int32_t i = 0; i < x->n_calls; i++) {
        bool own = x->call[i].call->def->flags & EC_EVALUATOR_USERS;
        users = users || own;
        worth = worth || (!own && x->call[i].class != EC_CLASS_CONSTANT);
    }
    if (users && worth)
        ec_log_write(x->team->log, EC_LOG_WARNING,
                     "functions of the user run on one thread: all designs stay on %s",
                     x->backend->name);
    return worth && !users;
}

static int create_member(ec_team *t, member *m, const ec_executor_info *info)
{
    ec_executor_info part = *info;
    const ec_backend_ops *ops = m->backend->ops;
    size_t ld = ec_lane_ld(t->part);
    int status = EC_OK;

    m->executor = m == t->member ? t->whole : NULL;
    if (!m->executor) {
        part.max_candidates = t->part;
        part.max_groups = info->max_groups < t->part ? info->max_groups : t->part;
        part.stop = NULL; /* on the first backend, read by ec_team_run */
        part.interrupt = &t->interrupt;
        part.log = &m->log;
        status = share_memory(t->member[0].backend, m->backend, &part.memory_budget);
        if (status == EC_OK)
            status = ec_executor_create(t->whole->graph, m->backend, &part, &m->executor);
    }
    m->host_map = (int32_t *)malloc(sizeof *m->host_map * ld);
    m->bytes = (uint8_t *)malloc(ld);
    m->out = (char **)calloc((size_t)info->n_outputs + 1, sizeof *m->out);
    if (status == EC_OK && !(m->host_map && m->bytes && m->out))
        status = no_memory();
    if (status == EC_OK)
        status = ops->alloc(m->backend, sizeof *m->map * ld, (void **)&m->map);
    if (status == EC_OK)
        status = ops->alloc(m->backend, ld, (void **)&m->status);
    for (int32_t o = 0; status == EC_OK && o < info->n_outputs; o++) {
        m->out[o] = (char *)malloc(ec_array_bytes(&m->executor->output_array[o]));
        status = m->out[o] ? EC_OK : no_memory();
    }
    return status;
}

int ec_team_complete(ec_team *t, const ec_executor_info *info)
{
    ec_executor *x = t->whole;
    size_t n = (size_t)x->backend->n_workers + 1;
    int status = EC_OK;

    if (!can_split(x))
        return EC_OK;
    n = n < x->max_candidates ? n : x->max_candidates;
    t->part = (x->max_candidates + n - 1) / n;
    t->map = (int32_t *)malloc(sizeof *t->map * x->max_candidates);
    t->local = (int32_t *)malloc(sizeof *t->local * x->max_groups);
    t->bytes = (uint8_t *)malloc(x->max_candidates);
    if (!t->map || !t->local || !t->bytes)
        return no_memory();
    t->n = (int)n;
    for (size_t i = 0; i < n && status == EC_OK; i++)
        status = create_member(t, &t->member[i], info);
    return status;
}

/* ---- parts ---- */

static size_t design_of(const member *m, size_t i)
{
    return m->first + i * m->step;
}

static void *grow(void *memory, size_t *size, size_t bytes)
{
    if (bytes <= *size)
        return memory;
    free(memory);
    *size = bytes;
    return calloc(1, bytes);
}

/* All genes into host memory, those of groups behind the others. */
static int fetch_genes(ec_team *t, const ec_array *X, const ec_array *XG, const int32_t *map,
                       size_t n)
{
    ec_backend *be = t->whole->backend;
    size_t own = X->elements * X->ld, group = XG ? XG->elements * XG->ld : 0;

    t->genes = (double *)grow(t->genes, &t->genes_size, sizeof(double) * (own + group));
    if (!t->genes) {
        t->genes_size = 0;
        return no_memory();
    }
    int status =
        be->ops->download(be, t->genes, X->data, sizeof(double) * ((X->elements - 1) * X->ld + n));
    if (status == EC_OK && XG)
        status = be->ops->download(be, t->genes + own, XG->data,
                                   sizeof(double) * ((XG->elements - 1) * XG->ld + XG->lanes));
    if (status == EC_OK && XG)
        status = be->ops->download(be, t->map, map, sizeof *map * n);
    return status;
}

/* Groups of a part, in the order in which its designs name them. */
static void pack_groups(ec_team *t, member *m, const ec_array *XG, const double *genes,
                        size_t groups)
{
    size_t ld = m->XG.ld;

    for (size_t g = 0; g < groups; g++)
        t->local[g] = -1;
    m->groups = 0;
    for (size_t i = 0; i < m->n; i++) {
        int32_t group = t->map[design_of(m, i)];
        if (t->local[group] < 0) {
            t->local[group] = (int32_t)m->groups;
            for (size_t e = 0; e < XG->elements; e++)
                m->group_genes[e * ld + m->groups] = genes[e * XG->ld + (size_t)group];
            m->groups++;
        }
        m->host_map[i] = t->local[group];
    }
    for (size_t i = m->n; i < m->X.ld; i++)
        m->host_map[i] = m->host_map[m->n - 1];
    for (size_t e = 0; e < XG->elements; e++)
        for (size_t g = m->groups; g < ld; g++)
            m->group_genes[e * ld + g] = m->group_genes[e * ld + m->groups - 1];
}

static void pack(ec_team *t, member *m, const ec_array *X, const ec_array *XG, size_t groups)
{
    for (size_t e = 0; e < X->elements && m->n > 0; e++) {
        double *to = m->genes + e * m->X.ld;
        const double *from = t->genes + e * X->ld;
        for (size_t i = 0; i < m->X.ld; i++)
            to[i] = from[design_of(m, i < m->n ? i : m->n - 1)];
    }
    m->X.lanes = m->n;
    m->groups = 0;
    if (XG && m->n > 0)
        pack_groups(t, m, XG, t->genes + X->elements * X->ld, groups);
    m->XG.lanes = m->groups;
}

/* Room for the genes of a part, on both sides. */
static int fit(ec_team *t, member *m, ec_array *array, int axis, const ec_array *whole,
               double **genes)
{
    int32_t rows = (int32_t)whole->elements;

    if (array->data && array->elements == whole->elements)
        return EC_OK;
    ec_array_release(m->backend, array);
    free(*genes);
    *genes = (double *)malloc(sizeof(double) * whole->elements * ec_lane_ld(t->part));
    return *genes ? ec_array_create(m->backend, array, EC_F64, axis, 1, &rows, t->part, 1)
                  : no_memory();
}

/* A part of n designs in `count` parts. */
static void assign(member *m, int i, int count, size_t n, bool grouped)
{
    size_t k = (size_t)i, of = (size_t)count;

    m->step = grouped ? 1 : of;
    m->first = grouped ? n * k / of : k;
    m->n = grouped ? n * (k + 1) / of - m->first : (n + of - 1 - k) / of;
}

/* ---- a split run ---- */

static size_t output_span(const ec_array *a, size_t lanes)
{
    return (a->samples - 1) * a->sample_stride + (a->elements - 1) * a->ld + lanes;
}

static int run_part(member *m)
{
    ec_backend *be = m->backend;
    const ec_executor *x = m->executor;
    bool grouped = m->groups > 0;

    int status = be->ops->upload(be, m->X.data, m->genes, sizeof(double) * m->X.elements * m->X.ld);
    if (status == EC_OK && grouped)
        status = be->ops->upload(be, m->XG.data, m->group_genes,
                                 sizeof(double) * m->XG.elements * m->XG.ld);
    if (status == EC_OK && grouped)
        status = be->ops->upload(be, m->map, m->host_map, sizeof *m->map * m->X.ld);
    if (status == EC_OK)
        status = ec_executor_run_alone(m->executor, &m->X, grouped ? &m->XG : NULL,
                                       grouped ? m->map : NULL, m->status, m->n, m->groups);
    if (status == EC_OK)
        status = be->ops->download(be, m->bytes, m->status, m->n);
    for (int32_t o = 0; o < x->n_outputs && status == EC_OK; o++) {
        const ec_array *a = &x->output_array[o];
        if (a->axes & EC_AXIS_CANDIDATE)
            status = be->ops->download(be, m->out[o], a->data,
                                       ec_dtype_size(a->dtype) * output_span(a, m->n));
    }
    return status;
}

static int run_member(void *data)
{
    member *m = (member *)data;
    ec_team *t = m->team;

    int status = run_part(m);
    if (status != EC_OK)
        atomic_store(&t->ended, true);
    return status;
}

/* Waits for all; the first member's error counts, and any error more than the others' stop. */
static int run_members(ec_team *t)
{
    int result = EC_OK;
    char error[1024] = "";

    for (int i = 1; i < t->n; i++)
        if (t->member[i].n > 0)
            ec_worker_begin(t->member[i].worker, run_member, &t->member[i]);
    for (int i = 0; i < t->n; i++) {
        member *m = &t->member[i];
        if (m->n == 0)
            continue;
        int status = i == 0 ? run_member(m) : ec_worker_end(m->worker);
        if (status == EC_OK || result < 0)
            continue;
        result = status;
        if (status < 0)
            snprintf(error, sizeof error, "%s%s%s", i > 0 ? m->backend->name : "",
                     i > 0 ? ": " : "", ec_error_text());
    }
    return result < 0 ? ec_fail(result, "%s", error) : result;
}

/* Numbers of an output to the designs that they belong to. */
static void spread(const member *m, int32_t o, const ec_array *whole, char *to)
{
    const ec_array *a = &m->executor->output_array[o];
    size_t size = ec_dtype_size(a->dtype);

    for (size_t s = 0; s < a->samples; s++)
        for (size_t e = 0; e < a->elements; e++) {
            const char *from = m->out[o] + (s * a->sample_stride + e * a->ld) * size;
            char *row = to + (s * whole->sample_stride + e * whole->ld) * size;
            for (size_t i = 0; i < m->n; i++)
                memcpy(row + design_of(m, i) * size, from + i * size, size);
        }
}

static int gather(ec_team *t, uint8_t *status_bytes, size_t n)
{
    ec_executor *x = t->whole;
    ec_backend *be = x->backend;

    for (int k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->member[k].n; i++)
            t->bytes[design_of(&t->member[k], i)] = t->member[k].bytes[i];
    int status = be->ops->upload(be, status_bytes, t->bytes, n);
    for (int32_t o = 0; o < x->n_outputs && status == EC_OK; o++) {
        ec_array *a = &x->output_array[o];
        size_t bytes = ec_dtype_size(a->dtype) * output_span(a, n);
        if (!(a->axes & EC_AXIS_CANDIDATE))
            continue;
        a->lanes = n;
        t->output = (char *)grow(t->output, &t->output_size, bytes);
        if (!t->output) {
            t->output_size = 0;
            return no_memory();
        }
        for (int k = 0; k < t->n; k++)
            spread(&t->member[k], o, a, t->output);
        status = be->ops->upload(be, a->data, t->output, bytes);
    }
    return status;
}

/* The words about the first design that failed come last: they are what a search repeats. */
static void tell_all(ec_team *t, bool gathered, size_t n)
{
    size_t first = 0;
    int last = 0;

    while (gathered && first < n && !t->bytes[first])
        first++;
    for (int k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->member[k].n; i++)
            last = design_of(&t->member[k], i) == first ? k : last;
    for (int k = 0; k < t->n; k++)
        if (k != last)
            tell(&t->member[k]);
    tell(&t->member[last]);
}

static int run_split(ec_team *t, const ec_array *X, const ec_array *XG, const int32_t *map,
                     uint8_t *status_bytes, size_t n, size_t groups)
{
    ec_executor *x = t->whole;
    ec_backend *be = x->backend;
    int32_t flag = 0;
    bool grouped = XG && groups > 0;

    int status = x->stop ? be->ops->download(be, &flag, x->stop, sizeof flag) : EC_OK;
    if (status != EC_OK || flag)
        return status; /* the generation is a no-op */
    status = fetch_genes(t, X, grouped ? XG : NULL, map, n);
    if (status != EC_OK)
        return status;
    for (int i = 0; i < t->n && status == EC_OK; i++) {
        member *m = &t->member[i];
        assign(m, i, t->n, n, grouped);
        status = fit(t, m, &m->X, EC_AXIS_CANDIDATE, X, &m->genes);
        if (status == EC_OK && grouped)
            status = fit(t, m, &m->XG, EC_AXIS_GROUP, XG, &m->group_genes);
        if (status == EC_OK)
            pack(t, m, X, grouped ? XG : NULL, groups);
    }
    if (status != EC_OK)
        return status;
    /* beside the others the first has no more threads than they */
    int threads = be->threads;
    be->threads = be->is_cuda ? threads : t->member[1].backend->threads;
    atomic_store(&t->ended, false);
    t->running = true;
    status = run_members(t);
    t->running = false;
    atomic_store(&t->ended, false);
    be->threads = threads;
    if (status == EC_OK)
        status = gather(t, status_bytes, n);
    tell_all(t, status == EC_OK, n);
    return status;
}

/* ---- alone or split ---- */

/* Split, split, alone, split, alone; the first run of all warms up. */
static bool try_split(const ec_team *t)
{
    return t->settled ? t->split : t->trial < 2 || t->trial % 2 == 1;
}

static void settle(ec_team *t, bool split)
{
    t->settled = true;
    t->split = split;
    if (!split)
        ec_log_write(
            t->log, EC_LOG_INFO,
            "%s alone takes %.3g us a design, all workers together %.3g us: it works alone",
            t->whole->backend->name, t->best[0] * 1e6, t->best[1] * 1e6);
}

static void note_trial(ec_team *t, bool split, double seconds, size_t n)
{
    enum { TRIALS = 5 };
    double each = seconds / (double)n;

    if (t->trial > 0 && each < t->best[split])
        t->best[split] = each;
    t->trial++;
    if (split && t->trial > 1 && seconds > worth_a_split)
        settle(t, true);
    else if (t->trial == TRIALS)
        settle(t, t->best[1] < t->best[0]);
}

int ec_team_run(ec_team *t, const ec_array *X, const ec_array *XG, const int32_t *map,
                uint8_t *status_bytes, size_t n, size_t groups)
{
    ec_executor *x = t->whole;
    ec_backend *be = x->backend;
    bool split = try_split(t);

    if (t->n < 2 || n < 2 || n > x->max_candidates || groups > x->max_groups ||
        (t->settled && !split))
        return ec_executor_run_alone(x, X, XG, map, status_bytes, n, groups);
    int status = t->settled ? EC_OK : be->ops->sync(be);
    double start = ec_wall_seconds();
    if (status == EC_OK && split)
        status = run_split(t, X, XG, map, status_bytes, n, groups);
    else if (status == EC_OK)
        status = ec_executor_run_alone(x, X, XG, map, status_bytes, n, groups);
    if (status == EC_OK && !t->settled)
        status = be->ops->sync(be);
    if (status == EC_OK && !t->settled)
        note_trial(t, split, ec_wall_seconds() - start, n);
    return status;
}

bool ec_team_works_alone(const ec_team *t)
{
    return t->n < 2 || (t->settled && !t->split);
}

int ec_team_size(const ec_team *t)
{
    return t->n;
}
