/* solve.c: the solve loop, the choice of the winner at final fidelity, and its values. */
#include "solve.h"
#include "job_internal.h"
#include "polish.h"
#include "solve_kernels.h"
#include "wall_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(score, ec_score_args)
EC_KERNEL_DECLARE(stop_rules, ec_stop_rules_args)

enum {
    KEEP_DEFAULT = 16,       /* designs of the final re-scoring */
    POLISH_DEFAULT = 8,      /* designs that are polished */
    ELITE_MAX = 64,          /* best members whose genes are read at a look */
    LOOK_GENERATIONS = 1024, /* generations between two looks, at most */
    CAPTURES_MAX = 64,
    SAID_MAX = 32 /* different warnings of a run that are remembered */
};
static const double look_seconds = 0.25;
/* Two designs are distinct when a gene differs by this share of its range. */
static const double distinct_share = 0.02;
/* Share of the wall time that is left to the polish. */
static const double polish_share = 0.25;
/* The polish may take as long as the search, and at least so long. */
static const double polish_least_seconds = 10;
/* For the final figures of a search that a signal has ended. */
static const double end_seconds = 5;

/* ---- names and defaults ---- */

const char *ec_stop_name(ec_stop stop)
{
    static const char *const names[] = {"none",        "generations", "evaluations", "time",
                                        "target",      "stagnation",  "spread",      "interrupted",
                                        "device lost", "error"};

    return (unsigned)stop < sizeof names / sizeof *names ? names[stop] : "unknown";
}

void ec_solve_info_default(ec_solve_info *info)
{
    memset(info, 0, sizeof *info);
    info->target = NAN;
}

/* ---- messages ---- */

/* A run plans and evaluates the same expressions several times; it says each warning once. */
typedef struct once_log {
    ec_log log, warnings; /* what the run writes to, and warnings and errors only */
    ec_log *to;
    char *said[SAID_MAX];
    size_t n_said;
} once_log;

static void write_once(void *user, ec_log_level level, const char *text)
{
    once_log *once = (once_log *)user;

    for (size_t i = 0; i < once->n_said; i++)
        if (strcmp(once->said[i], text) == 0)
            return;
    if (level >= EC_LOG_WARNING && once->n_said < SAID_MAX &&
        (once->said[once->n_said] = strdup(text)))
        once->n_said++;
    ec_log_write(once->to, level, "%s", text);
}

static void once_open(once_log *once, ec_log *to)
{
    once->to = to;
    once->log = (ec_log){to ? to->level : EC_LOG_WARNING, write_once, once};
    once->warnings = (ec_log){EC_LOG_WARNING, write_once, once};
}

static void once_close(once_log *once)
{
    for (size_t i = 0; i < once->n_said; i++)
        free(once->said[i]);
}

/* ---- designs, best first ---- */

typedef struct score {
    double cost, violation;
    uint8_t status;
} score;

static int class_of(const score *s)
{
    if (s->status || !isfinite(s->cost) || !isfinite(s->violation))
        return 2;
    return s->violation > 0 ? 1 : 0;
}

/* The order (class, violation, cost); equal ones keep their place. */
static bool better(const score *a, const score *b)
{
    int class_a = class_of(a), class_b = class_of(b);

    if (class_a != class_b)
        return class_a < class_b;
    if (class_a == 1 && a->violation != b->violation)
        return a->violation < b->violation;
    return class_a < 2 && a->cost < b->cost;
}

/* Up to `capacity` designs, rows of `width` genes, sorted; no two closer than `apart`. */
typedef struct design_list {
    double *genes;
    score *scores;
    size_t n, capacity, width;
    double apart;
} design_list;

static int list_create(design_list *list, size_t capacity, size_t width, double apart)
{
    memset(list, 0, sizeof *list);
    list->genes = (double *)malloc(sizeof(double) * (capacity + 1) * (width ? width : 1));
    list->scores = (score *)malloc(sizeof(score) * (capacity + 1));
    list->capacity = capacity;
    list->width = width;
    list->apart = apart;
    return list->genes && list->scores ? EC_OK
                                       : ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs");
}

static void list_release(design_list *list)
{
    free(list->genes);
    free(list->scores);
    memset(list, 0, sizeof *list);
}

/* ---- the run ---- */

/* One device's share of the work. */
typedef struct ec_worker {
    ec_backend *backend;
    ec_executor *executor;
    uint8_t *status; /* of the candidates, on the backend */
    const double *cost, *violation;
} ec_worker;

typedef struct captured {
    size_t lanes;
    ec_capture *capture;
} captured;

typedef struct solve_run {
    ec_job *job;
    const ec_solve_info *info;
    once_log messages;
    ec_backend *backend;
    const ec_optimizer_def *def;
    ec_optimizer *optimizer;
    ec_worker *workers;
    size_t n_workers;
    ec_expr outputs[2]; /* cost, violation */
    int32_t n_outputs;
    bool maximize;
    size_t width; /* genes of a design, group genes behind */
    size_t groups, max_population;
    double *min, *max; /* bounds of the genes of a design */

    /* on the backend */
    int32_t *flag;
    ec_stop_state *state;
    ec_stop_rules_args rules;
    captured captures[CAPTURES_MAX];
    size_t n_captures;

    /* the host's view */
    double start, limit; /* limit: wall time of the search, infinite without one */
    ec_interrupt interrupt;
    bool planning;       /* only a signal interrupts that */
    ec_interrupt at_end; /* of evaluations at final fidelity */
    double wait_until;   /* wall time from which on a signal ends them */
    uint64_t enqueued;   /* evaluations */
    uint32_t generation; /* enqueued */
    size_t n;            /* candidates of the last generation */
    uint32_t looked_at, look_step;
    double looked_when, told_when;
    ec_optimizer_stats stats; /* of the last look */
    design_list keep;         /* best of the looks at set generations */
    design_list distinct;     /* the same, apart from each other */
    design_list latest;       /* of the last look */
    double *elite_genes, *elite_cost, *elite_violation;
    uint8_t *elite_status;
    size_t n_last; /* members at the last look, whose status bytes are in elite_status */
    size_t history_capacity;
    ec_result *result;
    int failure; /* with stop EC_STOP_ERROR: the status that ended the run, and its sentence */
    char error[1024];
} solve_run;

static bool same_design(const solve_run *run, const design_list *list, const double *a,
                        const double *b)
{
    for (size_t i = 0; i < list->width; i++) {
        double range = run->max[i] - run->min[i];
        if (fabs(a[i] - b[i]) > list->apart * range)
            return false;
    }
    return true;
}

static void list_add(const solve_run *run, design_list *list, const double *genes, const score *s)
{
    size_t width = list->width, place = list->n;

    /* One that is better and as good as the same design keeps this one out ... */
    for (size_t i = 0; i < list->n; i++)
        if (!better(s, &list->scores[i]) && same_design(run, list, genes, list->genes + i * width))
            return;
    /* ... and this one replaces those that are worse and the same. */
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (same_design(run, list, genes, list->genes + i * width))
            continue;
        memmove(list->genes + kept * width, list->genes + i * width, width * sizeof(double));
        list->scores[kept++] = list->scores[i];
    }
    list->n = kept;
    for (place = list->n; place > 0 && better(s, &list->scores[place - 1]); place--) {
    }
    if (place == list->capacity)
        return;
    size_t behind = list->n - place;
    memmove(list->genes + (place + 1) * width, list->genes + place * width,
            behind * width * sizeof(double));
    memmove(list->scores + place + 1, list->scores + place, behind * sizeof *list->scores);
    memcpy(list->genes + place * width, genes, width * sizeof(double));
    list->scores[place] = *s;
    list->n = list->n < list->capacity ? list->n + 1 : list->capacity;
}

/* ---- checks before the start ---- */

static void known_methods(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const ec_optimizer_def *const *def = ec_optimizer_table(); *def && used < size; def++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", (*def)->name);
}

static int check_numbers(const ec_solve_info *info)
{
    if (!isfinite(info->seconds) || info->seconds < 0)
        return ec_fail(EC_ERR_RANGE, "solve: seconds (%g) must be at least 0 and finite",
                       info->seconds);
    if (isinf(info->target))
        return ec_fail(EC_ERR_RANGE, "solve: target (%g) must be a finite number", info->target);
    if (!isfinite(info->stagnation_tolerance) || info->stagnation_tolerance < 0)
        return ec_fail(EC_ERR_RANGE,
                       "solve: stagnation_tolerance (%g) must be at least 0 and finite",
                       info->stagnation_tolerance);
    if (!isfinite(info->polish_seconds) || info->polish_seconds < 0)
        return ec_fail(EC_ERR_RANGE, "solve: polish_seconds (%g) must be at least 0 and finite",
                       info->polish_seconds);
    if (!(info->spread >= 0 && info->spread <= 1))
        return ec_fail(EC_ERR_RANGE, "solve: spread (%g) must be at least 0 and at most 1",
                       info->spread);
    if (info->keep < 0 || info->keep > 4096 || info->polish_designs < 0 ||
        info->polish_designs > EC_POLISH_DESIGNS_MAX)
        return ec_fail(EC_ERR_RANGE,
                       "solve: keep (%d) must be from 0 to 4096, polish_designs (%d) from 0 to %d",
                       (int)info->keep, (int)info->polish_designs, (int)EC_POLISH_DESIGNS_MAX);
    if (info->generations > UINT32_MAX)
        return ec_fail(EC_ERR_RANGE, "solve: generations (%zu) must be below 2^32",
                       info->generations);
    if (!info->evaluations && !info->generations && info->seconds == 0 && isnan(info->target) &&
        !info->stagnation && info->spread == 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: nothing says when to stop; give evaluations, generations, seconds, "
                       "target, stagnation or spread");
    return EC_OK;
}

static int check_job(const ec_job *job, const ec_solve_info *info, const ec_optimizer_def **def)
{
    const char *method = info->method ? info->method : "lshade";
    char known[512];

    *def = ec_optimizer_find(method);
    known_methods(known, sizeof known);
    if (!*def)
        return ec_fail(EC_ERR_ARGUMENT, "solve: unknown method '%s'; known are %s", method, known);
    if (job->n_objectives == 0)
        return ec_fail(EC_ERR_ARGUMENT, "solve: job '%s' has no objective (minimize or maximize)",
                       job->name);
    if (job->n_objectives > 1)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "solve: job '%s' has %d objectives, method '%s' takes one", job->name,
                       (int)job->n_objectives, method);
    if (job->n_genes + job->n_group_genes == 0)
        return ec_fail(EC_ERR_ARGUMENT, "solve: job '%s' has no design variable", job->name);
    return EC_OK;
}

/* ---- building the run ---- */

static ec_stop host_stop(const solve_run *run)
{
    if (run->info->interrupt && *run->info->interrupt)
        return EC_STOP_INTERRUPT;
    if (ec_wall_seconds() - run->start >= run->limit)
        return EC_STOP_TIME;
    return EC_STOP_NONE;
}

static bool stops_now(void *user)
{
    const solve_run *run = (const solve_run *)user;
    ec_stop stop = host_stop(run);

    return run->planning ? stop == EC_STOP_INTERRUPT : stop != EC_STOP_NONE;
}

/* A signal that ended the search leaves its best designs some seconds for their final figures; one
 * that comes later ends those. */
static bool ends_now(void *user)
{
    const solve_run *run = (const solve_run *)user;
    const ec_solve_info *info = run->info;

    return info->interrupt && *info->interrupt && ec_wall_seconds() >= run->wait_until;
}

static void begin_end(solve_run *run)
{
    bool interrupted = run->info->interrupt && *run->info->interrupt;

    run->wait_until = interrupted ? ec_wall_seconds() + end_seconds : 0;
}

static int build_optimizer(solve_run *run)
{
    const ec_solve_info *info = run->info;
    const ec_job *job = run->job;
    int32_t n_start = ec_job_start_count(job);
    size_t n_genes = (size_t)job->n_genes, n_group = (size_t)job->n_group_genes;
    ec_gene *genes = (ec_gene *)calloc(run->width + 1, sizeof *genes);
    bool *integral = (bool *)calloc(run->width + 1, sizeof *integral);
    double *start = (double *)malloc(sizeof *start * ((size_t)n_start * n_genes + 1));
    int status = EC_ERR_MEMORY;

    run->min = (double *)malloc(sizeof(double) * (run->width + 1));
    run->max = (double *)malloc(sizeof(double) * (run->width + 1));
    if (!genes || !integral || !start || !run->min || !run->max) {
        ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu genes", run->width);
        goto done;
    }
    ec_job_gene_bounds(job, false, run->min, run->max, integral);
    ec_job_gene_bounds(job, true, run->min + n_genes, run->max + n_genes, integral + n_genes);
    for (size_t i = 0; i < run->width; i++) {
        genes[i].min = run->min[i];
        genes[i].max = run->max[i];
        genes[i].integral = integral[i];
    }
    for (int32_t i = 0; i < n_start; i++)
        ec_job_start_genes(job, i, start + (size_t)i * n_genes);
    ec_optimizer_info optimizer = {
        .genes = genes,
        .n_genes = n_genes,
        .group_genes = genes + n_genes,
        .n_group_genes = n_group,
        .population = info->population,
        .groups = info->groups,
        .seed = info->seed_given ? info->seed : job->seed,
        .evaluations = info->evaluations,
        .generations = info->generations,
        .start = start,
        .n_start = (size_t)n_start,
        .options = info->options,
        .log = &run->messages.log,
    };
    status = run->def->create(run->def, run->backend, &optimizer, &run->optimizer);
    if (status == EC_OK)
        run->max_population = run->def->max_population(run->optimizer);
done:
    free(genes);
    free(integral);
    free(start);
    return status;
}

static int worker_create(solve_run *run, ec_worker *worker, ec_backend *backend)
{
    ec_executor_info info = {
        .outputs = run->outputs,
        .n_outputs = run->n_outputs,
        /* whole strips, so that a captured generation serves every population of its bucket */
        .max_candidates = ec_lane_ld(run->max_population),
        .max_groups = run->groups,
        .fidelity = EC_SEARCH,
        .memory_budget = run->info->memory_budget,
        .chunk = run->info->chunk,
        .stop = run->flag,
        .interrupt = &run->interrupt,
        .log = &run->messages.log,
    };
    worker->backend = backend;
    run->planning = true;
    int status = ec_executor_create(run->job->graph, backend, &info, &worker->executor);
    run->planning = false;
    if (status == EC_OK)
        status =
            backend->ops->alloc(backend, ec_lane_ld(run->max_population), (void **)&worker->status);
    if (status == EC_OK)
        status = backend->ops->fill(backend, worker->status, 0, ec_lane_ld(run->max_population));
    if (status != EC_OK)
        return status;
    worker->cost = (const double *)ec_executor_output(worker->executor, 0)->data;
    worker->violation =
        run->n_outputs > 1 ? (const double *)ec_executor_output(worker->executor, 1)->data : NULL;
    return EC_OK;
}

static int build_rules(solve_run *run)
{
    const ec_solve_info *info = run->info;
    ec_backend *backend = run->backend;

    int status = backend->ops->alloc(backend, sizeof *run->flag, (void **)&run->flag);
    if (status == EC_OK)
        status = backend->ops->alloc(backend, sizeof *run->state, (void **)&run->state);
    if (status == EC_OK)
        status = backend->ops->fill(backend, run->flag, 0, sizeof *run->flag);
    if (status == EC_OK)
        status = backend->ops->fill(backend, run->state, 0, sizeof *run->state);
    if (status < 0)
        return status;
    run->rules.stats = run->def->stats(run->optimizer);
    run->rules.state = run->state;
    run->rules.flag = run->flag;
    run->rules.evaluations = info->evaluations;
    run->rules.generations = (uint32_t)info->generations;
    run->rules.stagnation = info->stagnation;
    run->rules.target = run->maximize ? -info->target : info->target;
    run->rules.tolerance = info->stagnation_tolerance;
    run->rules.spread = info->spread;
    run->rules.code_generations = EC_STOP_GENERATIONS;
    run->rules.code_evaluations = EC_STOP_EVALUATIONS;
    run->rules.code_target = EC_STOP_TARGET;
    run->rules.code_stagnation = EC_STOP_STAGNATION;
    run->rules.code_spread = EC_STOP_SPREAD;
    run->def->set_stop_flag(run->optimizer, run->flag);
    return EC_OK;
}

static int build_lists(solve_run *run)
{
    size_t keep = run->info->keep > 0 ? (size_t)run->info->keep : KEEP_DEFAULT;
    size_t elite = run->max_population < ELITE_MAX ? run->max_population : ELITE_MAX;

    elite = elite > keep ? elite : keep;
    int status = list_create(&run->keep, keep, run->width, 0);
    if (status == EC_OK)
        status = list_create(&run->distinct, EC_POLISH_DESIGNS_MAX, run->width, distinct_share);
    if (status == EC_OK)
        status = list_create(&run->latest, keep, run->width, 0);
    if (status < 0)
        return status;
    size_t rows = elite > run->max_population ? elite : run->max_population;
    run->elite_genes = (double *)malloc(sizeof(double) * elite * run->width);
    run->elite_cost = (double *)malloc(sizeof(double) * rows);
    run->elite_violation = (double *)malloc(sizeof(double) * rows);
    run->elite_status = (uint8_t *)malloc(rows);
    if (!run->elite_genes || !run->elite_cost || !run->elite_violation || !run->elite_status)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs", rows);
    return EC_OK;
}

static int run_build(solve_run *run, ec_job *job, ec_backend *backend, const ec_solve_info *info)
{
    run->job = job;
    run->info = info;
    once_open(&run->messages, info->log);
    run->backend = backend;
    run->interrupt = (ec_interrupt){stops_now, run};
    run->at_end = (ec_interrupt){ends_now, run};
    int status = check_job(job, info, &run->def);
    if (status < 0)
        return status;
    run->maximize = job->objectives[0].maximize;
    run->width = (size_t)job->n_genes + (size_t)job->n_group_genes;
    run->groups = job->n_group_genes > 0 ? info->groups ? info->groups : 10 : 0;
    run->outputs[0] = ec_job_cost(job, 0);
    run->outputs[1] = job->n_constraints > 0 ? ec_job_violation(job) : -1;
    run->n_outputs = job->n_constraints > 0 ? 2 : 1;
    for (int32_t i = 0; i < run->n_outputs; i++)
        if (run->outputs[i] < 0)
            return run->outputs[i];
    status = build_optimizer(run);
    if (status == EC_OK)
        status = build_rules(run);
    if (status == EC_OK)
        status = build_lists(run);
    if (status < 0)
        return status;
    run->workers = (ec_worker *)calloc(1, sizeof *run->workers);
    if (!run->workers)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the workers");
    run->n_workers = 1;
    return worker_create(run, &run->workers[0], backend);
}

static void run_release(solve_run *run)
{
    ec_backend *backend = run->backend;

    for (size_t i = 0; i < run->n_captures; i++)
        backend->ops->capture_destroy(backend, &run->captures[i].capture);
    for (size_t i = 0; i < run->n_workers; i++) {
        ec_executor_destroy(&run->workers[i].executor);
        backend->ops->release(backend, run->workers[i].status);
    }
    free(run->workers);
    if (run->optimizer)
        run->def->destroy(&run->optimizer);
    backend->ops->release(backend, run->flag);
    backend->ops->release(backend, run->state);
    list_release(&run->keep);
    list_release(&run->distinct);
    list_release(&run->latest);
    free(run->min);
    free(run->max);
    free(run->elite_genes);
    free(run->elite_cost);
    free(run->elite_violation);
    free(run->elite_status);
    once_close(&run->messages);
}

/* ---- one generation ---- */

/* Candidates of a generation of n that the budget still allows. */
static size_t within_budget(const solve_run *run, size_t n)
{
    uint64_t budget = run->info->evaluations;

    if (budget == 0 || run->enqueued + n <= budget)
        return n;
    return budget > run->enqueued ? (size_t)(budget - run->enqueued) : 0;
}

/* Enqueues propose, evaluation, take and the stop rules; `lanes` > 0 evaluates that many
 * candidates (a whole bucket) whatever the population. */
static int enqueue(solve_run *run, size_t lanes, size_t *n)
{
    ec_worker *worker = &run->workers[0];
    ec_backend *backend = run->backend;
    ec_array X, XG;
    const int32_t *group_map = NULL;
    size_t proposed = 0;

    memset(&XG, 0, sizeof XG);
    int status = run->def->propose(run->optimizer, &X, &XG, &group_map, &proposed);
    if (status < 0)
        return status;
    *n = within_budget(run, proposed);
    size_t m = lanes > 0 ? lanes : *n;
    X.lanes = m;
    status = ec_executor_run(worker->executor, &X, run->groups > 0 ? &XG : NULL, group_map,
                             worker->status, m, run->groups);
    if (status != EC_OK)
        return status;
    ec_score_args args = {worker->cost, worker->violation, worker->status, run->flag};
    status = backend->ops->launch(backend, &ec_kernel_score, &args, m, 1);
    if (status == EC_OK)
        status =
            run->def->take(run->optimizer, worker->cost, worker->violation, worker->status, *n);
    if (status == EC_OK)
        status = backend->ops->launch(backend, &ec_kernel_stop_rules, &run->rules, 1, 1);
    return status;
}

static ec_capture *find_capture(const solve_run *run, size_t lanes)
{
    for (size_t i = 0; i < run->n_captures; i++)
        if (run->captures[i].lanes == lanes)
            return run->captures[i].capture;
    return NULL;
}

/* Records the next generation; *n is its size. Nothing has run yet. */
static int capture_generation(solve_run *run, size_t lanes, size_t *n, ec_capture **capture)
{
    ec_backend *backend = run->backend;

    int status = backend->ops->capture_begin(backend);
    if (status < 0)
        return status;
    int enqueued = enqueue(run, lanes, n);
    status = backend->ops->capture_end(backend, capture);
    if (enqueued != EC_OK || status < 0)
        return enqueued != EC_OK ? enqueued : status;
    run->captures[run->n_captures].lanes = lanes;
    run->captures[run->n_captures++].capture = *capture;
    return EC_OK;
}

/* One generation, replayed when the same launches ran before. */
static int generation(solve_run *run)
{
    ec_backend *backend = run->backend;
    size_t lanes = ec_lane_ld(run->n), n = 0;
    int status;

    /* The next population is not above the last one, so this cannot pass the budget. */
    bool fixed = run->n > 0 && backend->ops->capture_begin && run->def->capturable &&
                 run->def->replayed && run->def->capturable(run->optimizer) &&
                 ec_executor_capturable(run->workers[0].executor) &&
                 within_budget(run, run->n) == run->n;
    ec_capture *capture = fixed ? find_capture(run, lanes) : NULL;
    if (capture) {
        status = backend->ops->replay(backend, capture);
        n = run->def->replayed(run->optimizer);
    } else if (fixed && run->n_captures < CAPTURES_MAX) {
        status = capture_generation(run, lanes, &n, &capture);
        if (status == EC_OK)
            status = backend->ops->replay(backend, capture);
    } else {
        status = enqueue(run, 0, &n);
    }
    if (status != EC_OK)
        return status;
    run->n = n;
    run->enqueued += n;
    run->generation++;
    return EC_OK;
}

/* ---- looks ---- */

/* Generations whose best designs and figures are kept, so that neither depends on timing: all of
 * the first 64, then 32 for each doubling. */
static bool is_kept_generation(uint32_t g)
{
    uint32_t step = 1;

    while (g / step >= 64)
        step *= 2;
    return g % step == 0;
}

static double seen(const solve_run *run, double cost)
{
    return run->maximize ? -cost : cost;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median cost of the designs that did not fail; sorts cost. */
static double median_cost(double *cost, const uint8_t *status, size_t n)
{
    size_t good = 0;

    for (size_t i = 0; i < n; i++)
        if (!status[i] && isfinite(cost[i]))
            cost[good++] = cost[i];
    if (good == 0)
        return NAN;
    qsort(cost, good, sizeof *cost, compare_doubles);
    return good % 2 ? cost[good / 2] : 0.5 * (cost[good / 2 - 1] + cost[good / 2]);
}

static void describe_row(const solve_run *run, double median, ec_history_row *row)
{
    const ec_optimizer_stats *stats = &run->stats;

    row->generation = stats->generation;
    row->evaluations = stats->evaluations;
    row->failed = stats->failed;
    row->seconds = ec_wall_seconds() - run->start;
    row->best = stats->best_class < 2 ? seen(run, stats->best_cost) : NAN;
    row->median = isnan(median) ? NAN : seen(run, median);
    row->spread = stats->spread;
    row->violation = stats->best_class < 2 ? stats->best_violation : NAN;
    row->feasible = stats->feasible;
    row->population = stats->population;
}

static int history_append(solve_run *run, const ec_history_row *row)
{
    ec_result *result = run->result;

    if (result->n_history > 0 &&
        result->history[result->n_history - 1].generation == row->generation)
        return EC_OK;
    if (result->n_history == run->history_capacity) {
        size_t capacity = run->history_capacity ? 2 * run->history_capacity : 128;
        ec_history_row *rows = (ec_history_row *)realloc(result->history, capacity * sizeof *rows);
        if (!rows)
            return ec_fail(EC_ERR_MEMORY, "solve: no memory for the history");
        result->history = rows;
        run->history_capacity = capacity;
    }
    result->history[result->n_history++] = *row;
    return EC_OK;
}

/* Seconds until a budget ends the run at the present pace; NaN when no budget does. */
static double seconds_left(const solve_run *run)
{
    const ec_solve_info *info = run->info;
    double used = ec_wall_seconds() - run->start, left = INFINITY;

    if (info->evaluations && run->stats.evaluations)
        left = used * ((double)info->evaluations / (double)run->stats.evaluations - 1);
    if (info->generations && run->stats.generation)
        left = fmin(left, used * ((double)info->generations / run->stats.generation - 1));
    if (run->limit < INFINITY)
        left = fmin(left, run->limit - used);
    return left < INFINITY ? fmax(left, 0) : NAN;
}

/* Sorts the genes of spaced positions, whose order does not count, so that equal designs look
 * equal. */
static void sort_spaced(const ec_job *job, double *genes)
{
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        size_t at = (size_t)variable->first_gene + (variable->group ? (size_t)job->n_genes : 0);
        if (variable->kind == EC_VARIABLE_SPACED && variable->n_genes > 1)
            qsort(genes + at, (size_t)variable->n_genes, sizeof *genes, compare_doubles);
    }
}

static void add_elite(solve_run *run, design_list *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        score s = {run->elite_cost[i], run->elite_violation[i], run->elite_status[i]};
        if (class_of(&s) < 2)
            list_add(run, list, run->elite_genes + i * run->width, &s);
    }
}

/* Reads statistics and best designs; kept ones go into the lists and the history. */
static int look(solve_run *run, bool kept, bool last, int32_t *flag)
{
    ec_backend *backend = run->backend;
    size_t found = 0, keep = run->keep.capacity, rows = run->max_population;
    size_t elite = kept ? (rows < ELITE_MAX ? rows : ELITE_MAX) : keep;
    ec_history_row row;

    int status = backend->ops->download(backend, flag, run->flag, sizeof *flag);
    if (status == EC_OK)
        status = backend->ops->download(backend, &run->stats, run->rules.stats, sizeof run->stats);
    if (status == EC_OK)
        status = run->def->elite(run->optimizer, elite > rows ? rows : elite, run->elite_genes,
                                 run->elite_cost, run->elite_violation, run->elite_status, &found);
    if (status < 0)
        return status;
    for (size_t i = 0; i < found; i++)
        sort_spaced(run->job, run->elite_genes + i * run->width);
    run->latest.n = 0;
    add_elite(run, &run->latest, found < keep ? found : keep);
    if (kept) {
        add_elite(run, &run->keep, found < keep ? found : keep);
        if (run->info->polish)
            add_elite(run, &run->distinct, found);
    }
    if (found < run->stats.population) /* the elite was cut: read all costs */
        status = run->def->elite(run->optimizer, rows, NULL, run->elite_cost, NULL,
                                 run->elite_status, &found);
    if (status < 0)
        return status;
    run->n_last = found;
    describe_row(run, median_cost(run->elite_cost, run->elite_status, found), &row);
    if (kept)
        status = history_append(run, &row);
    if (status == EC_OK && run->info->progress &&
        (last || ec_wall_seconds() - run->told_when >= look_seconds)) {
        run->info->progress(run->info->progress_user, &row, seconds_left(run));
        run->told_when = ec_wall_seconds();
    }
    return status;
}

/* Time for a look? On a CPU backend everything is done when it returns, so the flag can be read. */
static bool look_is_due(const solve_run *run)
{
    uint32_t since = run->generation - run->looked_at;

    if (is_kept_generation(run->generation) || (run->backend->host_memory && *run->flag))
        return true;
    if (run->backend->host_memory || since < run->look_step)
        return since >= LOOK_GENERATIONS ||
               (run->backend->host_memory && ec_wall_seconds() - run->looked_when >= look_seconds);
    return true;
}

static int look_and_pace(solve_run *run, bool kept, bool last, int32_t *flag)
{
    uint32_t since = run->generation - run->looked_at;

    int status = look(run, kept, last, flag);
    double seconds = ec_wall_seconds() - run->looked_when;
    double pace = since > 0 ? seconds / since : look_seconds;
    double step = pace > 0 ? look_seconds / pace : LOOK_GENERATIONS;
    run->look_step = step < 1 ? 1 : step > LOOK_GENERATIONS ? LOOK_GENERATIONS : (uint32_t)step;
    run->looked_at = run->generation;
    run->looked_when = ec_wall_seconds();
    return status;
}

/* ---- the search ---- */

static bool budget_is_used(const solve_run *run)
{
    const ec_solve_info *info = run->info;

    return (info->evaluations && run->enqueued >= info->evaluations) ||
           (info->generations && run->generation >= info->generations);
}

/* An error ends the run, whose results so far are kept. */
static void note_error(solve_run *run, int status)
{
    if (run->result->stop == EC_STOP_ERROR)
        return;
    run->result->stop = EC_STOP_ERROR;
    run->failure = status;
    snprintf(run->error, sizeof run->error, "%s", ec_error_text());
}

/* The search cannot go on; what the last look saw is kept. */
static int keep_latest(solve_run *run, int status)
{
    if (run->result->n_history == 0)
        return status;
    if (status == EC_ERR_DEVICE) { /* the rest is done on the CPU */
        run->result->stop = EC_STOP_DEVICE;
        ec_log_write(&run->messages.log, EC_LOG_ERROR, "%s: %s", run->backend->name,
                     ec_error_text());
    } else {
        note_error(run, status);
    }
    for (size_t i = 0; i < run->latest.n; i++) {
        list_add(run, &run->keep, run->latest.genes + i * run->width, &run->latest.scores[i]);
        list_add(run, &run->distinct, run->latest.genes + i * run->width, &run->latest.scores[i]);
    }
    return EC_OK;
}

static int search(solve_run *run)
{
    int32_t flag = 0;
    int status = EC_OK;
    ec_stop stop = EC_STOP_NONE;

    while (status == EC_OK && !flag && !stop && !budget_is_used(run)) {
        status = generation(run);
        if (status == EC_OK && look_is_due(run))
            status = look_and_pace(run, is_kept_generation(run->generation), false, &flag);
        stop = host_stop(run);
    }
    if (status == EC_STOPPED) /* within a generation, of which nothing was taken */
        status = EC_OK;
    if (status == EC_OK && run->generation > 0)
        status = look_and_pace(run, true, true, &flag);
    run->result->stop = flag ? (ec_stop)flag : stop;
    return status < 0 ? keep_latest(run, status) : EC_OK;
}

/* ---- polish ---- */

/* Its own limit, and what is left of the run's. */
static double polish_time(const solve_run *run)
{
    double used = ec_wall_seconds() - run->start;
    double own = run->info->polish_seconds > 0 ? run->info->polish_seconds
                                               : fmax(used, polish_least_seconds);

    if (run->info->seconds == 0)
        return own;
    return fmin(own, fmax(run->info->seconds - used, 0.05));
}

static void note_polish(solve_run *run, double limit)
{
    const ec_result *r = run->result;

    ec_log_write(&run->messages.log, EC_LOG_INFO,
                 "polish: %d of %d designs finished, %" PRIu64 " evaluations, %.2f s",
                 (int)r->polish_finished, (int)r->polish_designs, r->polish_evaluations,
                 r->polish_seconds);
    if (r->polish_capped)
        ec_log_write(&run->messages.log, run->info->seconds > 0 ? EC_LOG_INFO : EC_LOG_WARNING,
                     "polish: ended by its time limit of %.3g s, so a longer one might find a "
                     "better design (polish_seconds = ... sets the limit)",
                     limit);
}

/* Polishes the best distinct designs and adds them, with the key at search unknown, to `designs`. */
static int polish(solve_run *run, int threads, double *designs, size_t *n)
{
    const ec_job *job = run->job;
    size_t wanted =
        run->info->polish_designs > 0 ? (size_t)run->info->polish_designs : POLISH_DEFAULT;
    size_t count = run->distinct.n < wanted ? run->distinct.n : wanted;
    size_t n_genes = (size_t)job->n_genes, n_group = (size_t)job->n_group_genes;
    uint64_t evaluations = 0;
    double *genes = (double *)malloc(sizeof(double) * (count * n_genes + 1));
    double *group_genes = (double *)malloc(sizeof(double) * (count * n_group + 1));
    int status = EC_OK;

    if (!genes || !group_genes) {
        free(genes);
        free(group_genes);
        return ec_fail(EC_ERR_MEMORY, "polish: no memory for %zu designs", count);
    }
    for (size_t i = 0; i < count; i++) {
        const double *row = run->distinct.genes + i * run->width;
        memcpy(genes + i * n_genes, row, n_genes * sizeof(double));
        memcpy(group_genes + i * n_group, row + n_genes, n_group * sizeof(double));
    }
    double start = ec_wall_seconds();
    bool out_of_time = false;
    int32_t finished = 0;
    ec_polish_info info = {
        .max_evaluations = run->info->polish_evaluations,
        .seconds = polish_time(run),
        .out_of_time = &out_of_time,
        .finished = &finished,
        .interrupt = run->info->interrupt,
        .threads = threads,
        .log = &run->messages.log,
    };
    if (count > 0)
        status = ec_polish(run->job, &info, (int32_t)count, genes, group_genes, &evaluations);
    for (size_t i = 0; i < count && status == EC_OK; i++) {
        double *row = designs + *n * run->width;
        memcpy(row, genes + i * n_genes, n_genes * sizeof(double));
        memcpy(row + n_genes, group_genes + i * n_group, n_group * sizeof(double));
        ++*n;
    }
    if (status == EC_OK) {
        run->result->polish_designs = (int32_t)count;
        run->result->polish_finished = finished;
        run->result->polish_evaluations = evaluations;
        run->result->polish_seconds = ec_wall_seconds() - start;
        run->result->polish_capped = out_of_time;
        note_polish(run, info.seconds);
    }
    free(genes);
    free(group_genes);
    return status;
}

/* ---- final fidelity ---- */

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

/* Scores of n designs (rows, on the host) at final fidelity. */
static int score_final(solve_run *run, ec_backend *backend, const double *rows, size_t n,
                       score *scores)
{
    const ec_job *job = run->job;
    size_t n_genes = (size_t)job->n_genes, n_group = (size_t)job->n_group_genes;
    size_t ld = ec_lane_ld(n);
    ec_executor *executor = NULL;
    ec_array X, XG;
    uint8_t *device_status = NULL, *status_bytes = (uint8_t *)malloc(ld);
    int32_t *map = NULL, *identity = (int32_t *)malloc(sizeof(int32_t) * ld);
    double *cost = (double *)malloc(sizeof(double) * ld);
    double *violation = (double *)calloc(ld, sizeof(double));
    ec_executor_info info = {
        .outputs = run->outputs,
        .n_outputs = run->n_outputs,
        .max_candidates = n,
        .max_groups = n_group > 0 ? n : 0,
        .fidelity = EC_FINAL,
        .memory_budget = run->info->memory_budget,
        .interrupt = &run->at_end,
        .log = &run->messages.warnings,
    };

    memset(&X, 0, sizeof X);
    memset(&XG, 0, sizeof XG);
    int status = status_bytes && identity && cost && violation
                     ? EC_OK
                     : ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs", n);
    if (status == EC_OK)
        status = ec_executor_create(job->graph, backend, &info, &executor);
    if (status == EC_OK)
        status = upload_genes(backend, EC_AXIS_CANDIDATE, rows, run->width, 0, n_genes, n, &X);
    if (status == EC_OK && n_group > 0) {
        /* Every design brings its own group. */
        for (size_t c = 0; c < ld; c++)
            identity[c] = (int32_t)(c < n ? c : n - 1);
        status = upload_genes(backend, EC_AXIS_GROUP, rows, run->width, n_genes, n_group, n, &XG);
        if (status == EC_OK)
            status = backend->ops->alloc(backend, sizeof *map * ld, (void **)&map);
        if (status == EC_OK)
            status = backend->ops->upload(backend, map, identity, sizeof *map * ld);
    }
    if (status == EC_OK)
        status = backend->ops->alloc(backend, ld, (void **)&device_status);
    if (status == EC_OK)
        status = ec_executor_run(executor, &X, n_group > 0 ? &XG : NULL, map, device_status, n,
                                 n_group > 0 ? n : 0);
    if (status == EC_OK)
        status = backend->ops->download(backend, cost, ec_executor_output(executor, 0)->data,
                                        n * sizeof(double));
    if (status == EC_OK && run->n_outputs > 1)
        status = backend->ops->download(backend, violation, ec_executor_output(executor, 1)->data,
                                        n * sizeof(double));
    if (status == EC_OK)
        status = backend->ops->download(backend, status_bytes, device_status, n);
    for (size_t i = 0; i < n && status == EC_OK; i++) {
        bool finite = isfinite(cost[i]) && isfinite(violation[i]);
        scores[i].cost = cost[i];
        scores[i].violation = violation[i];
        scores[i].status = (uint8_t)(status_bytes[i] | (finite ? 0 : EC_CANDIDATE_NOT_FINITE));
    }
    ec_executor_destroy(&executor);
    ec_array_release(backend, &X);
    ec_array_release(backend, &XG);
    backend->ops->release(backend, map);
    backend->ops->release(backend, device_status);
    free(status_bytes);
    free(identity);
    free(cost);
    free(violation);
    return status;
}

/* ---- values of the winner ---- */

static int32_t value_length(const ec_graph *graph, ec_expr expr)
{
    const ec_node *node = ec_graph_node(graph, expr);

    return node->elements * (node->axes & EC_AXIS_SAMPLE ? ec_graph_sample_count(graph) : 1);
}

/* Values at the best design; those that an evaluator cannot score are NaN, whatever it wrote. */
static int evaluate(const ec_job *job, const ec_result *result, ec_backend *backend,
                    ec_fidelity fidelity, int32_t n, const ec_expr *exprs, double *const *out,
                    const ec_interrupt *interrupt, ec_log *log)
{
    uint8_t failed = 0;

    if (n == 0)
        return EC_OK;
    int status = ec_evaluate_until(job->graph, backend, fidelity, n, exprs, result->genes,
                                   (size_t)result->n_genes, result->group_genes,
                                   (size_t)result->n_group_genes, out, &failed, interrupt, log);
    if (status != EC_OK || !(failed & ~EC_CANDIDATE_NOT_FINITE))
        return status;
    /* The status is that of all of them: each by itself says whose it is. */
    for (int32_t i = 0; n > 1 && i < n && status == EC_OK; i++)
        status = evaluate(job, result, backend, fidelity, 1, exprs + i, out + i, interrupt, log);
    for (int32_t k = 0; n == 1 && k < value_length(job->graph, exprs[0]); k++)
        out[0][k] = NAN;
    return status;
}

/* Buffers for the values of a list of expressions. */
static int make_buffers(const ec_graph *graph, int32_t n, const ec_expr *exprs, double **values,
                        int32_t *lengths)
{
    for (int32_t i = 0; i < n; i++) {
        lengths[i] = value_length(graph, exprs[i]);
        values[i] = (double *)malloc(sizeof(double) * (size_t)lengths[i]);
        if (!values[i])
            return ec_fail(EC_ERR_MEMORY, "solve: no memory for the values of the best design");
    }
    return EC_OK;
}

/* What needs no evaluator, after an error or a signal: the variables, and the objective of the search. */
static int fill_from_search(ec_job *job, ec_result *result, ec_backend *backend, double objective)
{
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)job->n_variables + 1));

    if (!exprs)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the best design");
    for (int32_t i = 0; i < job->n_objectives; i++)
        result->objective_final[i] = result->objective_search[i] = NAN;
    result->objective_search[0] = objective;
    for (int32_t i = 0; i < job->n_constraints; i++)
        result->constraint[i] = NAN;
    for (int32_t i = 0; i < job->n_records; i++)
        for (int32_t k = 0; k < result->record_length[i]; k++)
            result->record[i][k] = NAN;
    for (int32_t i = 0; i < job->n_variables; i++)
        exprs[i] = job->variables[i]->variable.value;
    int status = evaluate(job, result, backend, EC_FINAL, job->n_variables, exprs, result->variable,
                          NULL, NULL);
    free(exprs);
    return status;
}

/* All values of the best design; `objective` is that of the search, for the case that they cannot
 * be had, or are `left_out` after a signal. */
static int fill_values(solve_run *run, ec_backend *backend, double objective, bool left_out)
{
    ec_job *job = run->job;
    ec_result *result = run->result;
    int32_t n_objectives = job->n_objectives, n_constraints = job->n_constraints;
    int32_t n_variables = job->n_variables, n_records = job->n_records;
    int32_t n = n_objectives + n_constraints + n_variables + n_records, at = 0;
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)n + 1));
    double **values = (double **)calloc((size_t)n + 1, sizeof *values);

    result->objective_final = (double *)calloc((size_t)n_objectives + 1, sizeof(double));
    result->objective_search = (double *)calloc((size_t)n_objectives + 1, sizeof(double));
    result->constraint = (double *)calloc((size_t)n_constraints + 1, sizeof(double));
    result->variable = (double **)calloc((size_t)n_variables + 1, sizeof(double *));
    result->variable_length = (int32_t *)calloc((size_t)n_variables + 1, sizeof(int32_t));
    result->record = (double **)calloc((size_t)n_records + 1, sizeof(double *));
    result->record_length = (int32_t *)calloc((size_t)n_records + 1, sizeof(int32_t));
    int status = exprs && values && result->objective_final && result->objective_search &&
                         result->constraint && result->variable && result->variable_length &&
                         result->record && result->record_length
                     ? EC_OK
                     : ec_fail(EC_ERR_MEMORY, "solve: no memory for the best design");
    if (status == EC_OK) {
        for (int32_t i = 0; i < n_objectives; i++)
            exprs[at++] = job->objectives[i].expr;
        for (int32_t i = 0; i < n_constraints; i++)
            exprs[at++] = ec_job_margin(job, &job->constraints[i]);
        for (int32_t i = 0; i < n_variables; i++)
            exprs[at++] = job->variables[i]->variable.value;
        for (int32_t i = 0; i < n_records; i++)
            exprs[at++] = job->records[i].expr;
        for (int32_t i = 0; i < n; i++)
            status = exprs[i] < 0 ? exprs[i] : status;
    }
    if (status == EC_OK)
        status = make_buffers(job->graph, n_variables, exprs + n_objectives + n_constraints,
                              result->variable, result->variable_length);
    if (status == EC_OK)
        status =
            make_buffers(job->graph, n_records, exprs + n_objectives + n_constraints + n_variables,
                         result->record, result->record_length);
    if (status == EC_OK) {
        for (int32_t i = 0; i < n_objectives; i++)
            values[i] = &result->objective_final[i];
        for (int32_t i = 0; i < n_constraints; i++)
            values[n_objectives + i] = &result->constraint[i];
        memcpy(values + n_objectives + n_constraints, result->variable,
               sizeof *values * (size_t)n_variables);
        memcpy(values + n_objectives + n_constraints + n_variables, result->record,
               sizeof *values * (size_t)n_records);
        status = left_out ? EC_STOPPED
                          : evaluate(job, result, backend, EC_FINAL, n, exprs, values, &run->at_end,
                                     &run->messages.warnings);
        for (int32_t i = 0; i < n_objectives; i++)
            values[i] = &result->objective_search[i];
        if (status == EC_OK)
            status = evaluate(job, result, backend, EC_SEARCH, n_objectives, exprs, values,
                              &run->at_end, &run->messages.warnings);
        if (status < 0)
            note_error(run, status);
        if (status == EC_STOPPED)
            result->stop = EC_STOP_INTERRUPT;
        if (status != EC_OK)
            status = fill_from_search(job, result, backend, objective);
    }
    free(exprs);
    free(values);
    return status;
}

/* ---- the end of a run ---- */

/* Scores the best designs again at final fidelity, polished ones among them, and takes the winner. */
static int choose_winner(solve_run *run, ec_backend *backend)
{
    ec_result *result = run->result;
    size_t width = run->width, n = run->keep.n;
    size_t capacity = run->keep.capacity + EC_POLISH_DESIGNS_MAX, best = 0;
    double *designs = (double *)malloc(sizeof(double) * capacity * width);
    score *scores = (score *)calloc(capacity, sizeof *scores);
    int status =
        designs && scores ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for the designs");

    if (status == EC_OK && n > 0)
        memcpy(designs, run->keep.genes, n * width * sizeof(double));
    bool interrupted = run->info->interrupt && *run->info->interrupt;
    if (status == EC_OK && run->info->polish && !interrupted && result->stop != EC_STOP_ERROR)
        status = polish(run, run->backend->is_cuda ? 0 : run->backend->threads, designs, &n);
    begin_end(run);
    if (status == EC_OK && n > 0)
        status = score_final(run, backend, designs, n, scores);
    bool left_out = status == EC_STOPPED;
    if (left_out)
        result->stop = EC_STOP_INTERRUPT;
    if (status != EC_OK && n > 0 && scores) {
        /* Polished ones stand behind those of the search, whose scores are known. */
        if (status < 0)
            note_error(run, status);
        n = run->keep.n;
        memcpy(scores, run->keep.scores, n * sizeof *scores);
        status = EC_OK;
    }
    for (size_t i = 1; i < n && status == EC_OK; i++)
        if (better(&scores[i], &scores[best]))
            best = i;
    if (status == EC_OK && n > 0) {
        result->found = true;
        result->status = scores[best].status;
        result->violation = scores[best].violation;
        memcpy(result->genes, designs + best * width, (size_t)result->n_genes * sizeof(double));
        memcpy(result->group_genes, designs + best * width + result->n_genes,
               (size_t)result->n_group_genes * sizeof(double));
        status = fill_values(run, backend, seen(run, scores[best].cost), left_out);
    }
    free(designs);
    free(scores);
    return status;
}

/* "no feasible design found: 'gap' misses max 0.5 by 0.01; ", or nothing of a good design. */
static size_t write_fault(const ec_job *job, const ec_result *r, char *text, size_t size)
{
    const ec_constraint *worst = NULL;
    double most = 0, excess = 0;

    text[0] = '\0';
    if (r->found && r->status) {
        snprintf(text, size, "the best design of the search failed at final fidelity; ");
        return strlen(text);
    }
    if (!r->found || !(r->violation > 0))
        return 0;
    for (int32_t i = 0; i < job->n_constraints; i++) {
        const ec_constraint *c = &job->constraints[i];
        double scaled = (r->constraint[i] - c->tolerance) / c->scale;
        if (!(scaled > most))
            continue;
        most = scaled;
        excess = r->constraint[i];
        worst = c;
    }
    if (!worst) {
        snprintf(text, size, "no feasible design found; ");
        return strlen(text);
    }
    char limit[80];
    if (worst->min == worst->max)
        snprintf(limit, sizeof limit, "equal = %.6g", worst->min);
    else if (worst->min == -INFINITY)
        snprintf(limit, sizeof limit, "max = %.6g", worst->max);
    else if (worst->max == INFINITY)
        snprintf(limit, sizeof limit, "min = %.6g", worst->min);
    else
        snprintf(limit, sizeof limit, "min = %.6g, max = %.6g", worst->min, worst->max);
    snprintf(text, size, "no feasible design found: '%.80s' misses %s by %.4g%s; ", worst->name,
             limit, excess, job->n_constraints > 1 ? ", the most of all" : "");
    return strlen(text);
}

/* Why the designs of the last generation failed: "64 x the cost is not finite". */
static void write_failures(const solve_run *run, char *text, size_t size)
{
#define EC_CANDIDATE_SENTENCE(name, value, sentence) {value, sentence},
    static const struct {
        uint8_t bit;
        const char *sentence;
    } kinds[] = {EC_CANDIDATE_STATUS_LIST(EC_CANDIDATE_SENTENCE)};
#undef EC_CANDIDATE_SENTENCE
    size_t used = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && used < size; k++) {
        size_t count = 0;
        for (size_t i = 0; i < run->n_last; i++) {
            /* a cost that is none follows from the other kinds */
            uint8_t cause = run->elite_status[i] & (uint8_t)~EC_CANDIDATE_NOT_FINITE;
            count += (cause ? cause : run->elite_status[i]) & kinds[k].bit ? 1 : 0;
        }
        if (count > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%zu x %s", used ? ", " : "",
                                     count, kinds[k].sentence);
    }
}

/* "; every design failed: ...", or that none was scored. */
static void write_none(const solve_run *run, char *text, size_t size)
{
    char failures[400] = "";

    if (run->generation == 0) {
        snprintf(
            text, size,
            ": the first generation of %zu designs had not been evaluated; give more time or a "
            "smaller population",
            run->max_population);
        return;
    }
    write_failures(run, failures, sizeof failures);
    if (run->result->failed == run->result->evaluations)
        snprintf(text, size, "; every design failed (%" PRIu64 "); of the last %zu: %s",
                 run->result->failed, run->n_last, failures);
    else
        snprintf(text, size, "; there is no best design");
}

static void write_message(const solve_run *run)
{
    const ec_solve_info *info = run->info;
    ec_result *r = run->result;
    size_t used = write_fault(run->job, r, r->message, sizeof r->message);
    char *text = r->message + used;
    size_t size = sizeof r->message - used;
    double value = r->found ? r->objective_final[0] : NAN;

    switch (r->stop) {
    case EC_STOP_GENERATIONS:
        snprintf(text, size, "all %zu generations were run", info->generations);
        break;
    case EC_STOP_EVALUATIONS:
        snprintf(text, size, "all %zu evaluations were used", info->evaluations);
        break;
    case EC_STOP_TIME:
        snprintf(text, size, "the time of %g s was used", info->seconds);
        break;
    case EC_STOP_TARGET:
        if (r->found && r->status)
            snprintf(text, size, "the target %.10g was reached in the search", info->target);
        else if (r->found && (run->maximize ? value < info->target : value > info->target))
            snprintf(text, size,
                     "the target %.10g was reached in the search, but %.10g at final fidelity "
                     "misses it",
                     info->target, value);
        else
            snprintf(text, size, "the target %.10g was reached", info->target);
        break;
    case EC_STOP_STAGNATION:
        snprintf(text, size, "no better design was found in %u generations", info->stagnation);
        break;
    case EC_STOP_SPREAD:
        snprintf(text, size, "every variable's spread fell below %g of its range", info->spread);
        break;
    case EC_STOP_INTERRUPT:
        snprintf(text, size, "interrupted%s%s", r->found ? "; the best design so far is kept" : "",
                 r->found && isnan(value) ? ", without figures at final fidelity" : "");
        break;
    case EC_STOP_DEVICE:
        snprintf(text, size, "the device was lost%s",
                 r->found ? "; the best design so far is kept" : "");
        break;
    case EC_STOP_ERROR:
        snprintf(text, size, "ended by an error: %.300s", run->error);
        break;
    case EC_STOP_NONE:
        snprintf(text, size, "the run has not ended");
        break;
    }
    if (!r->found)
        write_none(run, text + strlen(text), size - strlen(text));
}

static int result_create(const solve_run *run, ec_result **result)
{
    const ec_job *job = run->job;
    ec_result *fresh = (ec_result *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the result");
    fresh->n_objectives = job->n_objectives;
    fresh->n_constraints = job->n_constraints;
    fresh->n_variables = job->n_variables;
    fresh->n_records = job->n_records;
    fresh->n_genes = job->n_genes;
    fresh->n_group_genes = job->n_group_genes;
    fresh->genes = (double *)calloc((size_t)job->n_genes + 1, sizeof(double));
    fresh->group_genes = (double *)calloc((size_t)job->n_group_genes + 1, sizeof(double));
    if (!fresh->genes || !fresh->group_genes) {
        ec_result_destroy(&fresh);
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the result");
    }
    snprintf(fresh->backend, sizeof fresh->backend, "%s", run->backend->name);
    snprintf(fresh->device, sizeof fresh->device, "%s", run->backend->device);
    snprintf(fresh->isa, sizeof fresh->isa, "%s",
             run->backend->is_cuda ? "" : ec_isa_name(run->backend->isa));
    snprintf(fresh->method, sizeof fresh->method, "%s", run->def->name);
    fresh->seed = run->info->seed_given ? run->info->seed : job->seed;
    *result = fresh;
    return EC_OK;
}

void ec_result_destroy(ec_result **handle)
{
    ec_result *result = handle ? *handle : NULL;

    if (!result)
        return;
    /* Lists of values end at the first NULL: they were made with one entry more. */
    for (int32_t i = 0; result->variable && result->variable[i]; i++)
        free(result->variable[i]);
    for (int32_t i = 0; result->record && result->record[i]; i++)
        free(result->record[i]);
    free(result->genes);
    free(result->group_genes);
    free(result->objective_final);
    free(result->objective_search);
    free(result->constraint);
    free(result->variable);
    free(result->variable_length);
    free(result->record);
    free(result->record_length);
    free(result->history);
    free(result);
    *handle = NULL;
}

/* The backend of what comes after the search: another one when the device is lost. */
static int final_backend(solve_run *run, ec_backend **own, ec_backend **backend)
{
    ec_backend_info info = {.name = "cpu", .log = &run->messages.log};

    *backend = run->backend;
    if (run->result->stop != EC_STOP_DEVICE)
        return EC_OK;
    int status = ec_backend_create(&info, own);
    *backend = *own;
    return status;
}

/* Evaluators may run code of the user: what a run and its result know of the job has to stay, so
 * nothing is added to it, nor is it searched again, before the run's end. */
static int begin_search(ec_job *job)
{
    if (job->searching)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: job '%s' is being searched already: a function of ec.host cannot "
                       "search its own job",
                       job->name);
    job->searching = true;
    return EC_OK;
}

int ec_solve(ec_job *job, ec_backend *backend, const ec_solve_info *info, ec_result **result)
{
    solve_run run;
    ec_backend *own = NULL, *last = NULL;

    if (!job || !backend || !info || !result)
        return ec_fail(EC_ERR_ARGUMENT, "solve: a job, a backend, settings and a place for the "
                                        "result are needed");
    int status = begin_search(job);
    if (status < 0)
        return status;
    memset(&run, 0, sizeof run);
    run.start = run.looked_when = ec_wall_seconds();
    run.look_step = 1;
    double reserved = info->polish ? info->seconds * polish_share : 0;
    if (info->polish_seconds > 0 && info->polish_seconds < reserved)
        reserved = info->polish_seconds;
    run.limit = info->seconds > 0 ? info->seconds - reserved : INFINITY;
    status = check_numbers(info);
    if (status == EC_OK)
        status = run_build(&run, job, backend, info);
    bool stopped = status == EC_STOPPED;
    if (status == EC_OK || stopped)
        status = result_create(&run, &run.result);
    if (status == EC_OK && stopped)
        run.result->stop = EC_STOP_INTERRUPT;
    else if (status == EC_OK)
        status = search(&run);
    if (status == EC_OK)
        status = final_backend(&run, &own, &last);
    if (status == EC_OK)
        status = choose_winner(&run, last);
    if (status < 0 && run.result && run.result->n_history > 0) {
        note_error(&run, status);
        run.result->found = false;
        status = EC_OK;
    }
    *result = NULL;
    if (status == EC_OK) {
        run.result->generations = run.stats.generation;
        run.result->evaluations = run.stats.evaluations;
        run.result->failed = run.stats.failed;
        run.result->seconds = ec_wall_seconds() - run.start;
        write_message(&run);
        *result = run.result;
        if (run.result->stop == EC_STOP_ERROR)
            status = ec_fail(run.failure, "%s", run.error);
    } else {
        ec_result_destroy(&run.result);
    }
    if (run.backend)
        run_release(&run);
    ec_backend_destroy(&own);
    job->searching = false;
    return status;
}

/* ---- values afterwards, and the check ---- */

int ec_result_value(const ec_job *job, const ec_result *result, ec_backend *backend, ec_expr expr,
                    double **out, int32_t *length, ec_log *log)
{
    const ec_node *node = ec_graph_node(job->graph, expr);

    if (!node)
        return ec_fail(EC_ERR_ARGUMENT, "value: not an expression of this job");
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        return ec_fail(EC_ERR_TYPE, "value: the value is complex; take its abs, re, im or arg");
    if (!result->found)
        return ec_fail(EC_ERR_ARGUMENT, "value: the run has no best design");
    int known = ec_job_check_variables(job, "value", expr, result->n_genes, result->n_group_genes);
    if (known < 0)
        return known;
    int32_t n = value_length(job->graph, expr);
    double *values = (double *)malloc(sizeof(double) * (size_t)n);
    if (!values)
        return ec_fail(EC_ERR_MEMORY, "value: no memory for %d numbers", (int)n);
    int status = evaluate(job, result, backend, EC_FINAL, 1, &expr, &values, NULL, log);
    if (status < 0) {
        free(values);
        return status;
    }
    *out = values;
    *length = n;
    return EC_OK;
}

/* Times a design at final fidelity, and predicts it for those that are kept: on the CPU they share the
 * threads. Then come the values of the best one. */
static int check_final(solve_run *run, ec_check *check)
{
    size_t found = 0, designs = run->keep.capacity;
    size_t at_once = run->backend->host_memory && run->backend->threads > 0
                         ? (size_t)run->backend->threads
                         : designs;
    score ignored;

    check->final_designs = designs;
    int status = run->def->elite(run->optimizer, 1, run->elite_genes, run->elite_cost,
                                 run->elite_violation, run->elite_status, &found);
    if (status < 0 || found == 0)
        return status;
    begin_end(run);
    double start = ec_wall_seconds();
    status = score_final(run, run->backend, run->elite_genes, 1, &ignored);
    double rounds = ceil((double)designs / (double)at_once);
    check->seconds_final = (ec_wall_seconds() - start) * (rounds + 1);
    return status;
}

int ec_solve_check(ec_job *job, ec_backend *backend, const ec_solve_info *info, ec_check *check)
{
    solve_run run;
    ec_executor_stats stats;
    size_t n = 0;

    int status = begin_search(job);
    if (status < 0)
        return status;
    memset(&run, 0, sizeof run);
    memset(check, 0, sizeof *check);
    run.limit = INFINITY;
    status = check_numbers(info);
    if (status == EC_OK)
        status = run_build(&run, job, backend, info);
    if (status == EC_OK) {
        ec_executor_describe(run.workers[0].executor, &stats);
        check->population = run.max_population;
        check->chunk = stats.chunk;
        check->bytes_per_candidate = stats.bytes_per_candidate;
        check->bytes_fixed = stats.bytes_fixed;
        check->nodes = stats.nodes;
        check->calls = stats.calls;
        /* One generation to warm up, the second one is timed. */
        status = enqueue(&run, 0, &n);
    }
    if (status == EC_OK)
        status = backend->ops->sync(backend);
    double start = ec_wall_seconds();
    if (status == EC_OK)
        status = enqueue(&run, 0, &n);
    if (status == EC_OK)
        status = backend->ops->sync(backend);
    if (status == EC_OK && n > 0)
        check->seconds_per_evaluation = (ec_wall_seconds() - start) / (double)n;
    if (status == EC_OK)
        status = check_final(&run, check);
    if (status == EC_STOPPED)
        status = ec_fail(EC_ERR_SCRIPT, "solve: interrupted");
    if (run.backend)
        run_release(&run);
    job->searching = false;
    return status;
}
