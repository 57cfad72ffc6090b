/* solve.c: the solve loop: generations, the search, and the end of a run. */
#include "solve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(score, ec_score_args)
EC_KERNEL_DECLARE(stop_rules, ec_stop_rules_args)

/* Share of the wall time that is left to the polish. */
static const double polish_share = 0.25;

/* ---- names and defaults ---- */

const char *ec_stop_name(ec_stop stop)
{
    static const char *const names[] = {"none",        "generations", "evaluations", "time",
                                        "target",      "stagnation",  "spread",      "interrupted",
                                        "device lost", "error",       "finished"};

    return (unsigned)stop < sizeof names / sizeof *names ? names[stop] : "unknown";
}

void ec_solve_info_default(ec_solve_info *info)
{
    memset(info, 0, sizeof *info);
    info->target = NAN;
}

/* ---- messages ---- */

static void write_once(void *user, ec_log_level level, const char *text)
{
    ec_once_log *once = (ec_once_log *)user;

    if (level == EC_LOG_WARNING)
        snprintf(once->latest, sizeof once->latest, "%s", text);
    for (size_t i = 0; i < once->n_said; i++)
        if (strcmp(once->said[i], text) == 0)
            return;
    if (level >= EC_LOG_WARNING && once->n_said < EC_SAID_MAX &&
        (once->said[once->n_said] = strdup(text)))
        once->n_said++;
    ec_log_write(once->to, level, "%s", text);
}

void ec_once_open(ec_once_log *once, ec_log *to)
{
    once->to = to;
    once->log = (ec_log){to ? to->level : EC_LOG_WARNING, write_once, once};
    once->warnings = (ec_log){EC_LOG_WARNING, write_once, once};
}

void ec_once_close(ec_once_log *once)
{
    for (size_t i = 0; i < once->n_said; i++)
        free(once->said[i]);
}

/* ---- one generation ---- */

/* Candidates of a generation of n that the budget still allows. */
static size_t within_budget(const ec_solve_run *run, size_t n)
{
    uint64_t budget = run->info->evaluations;

    if (budget == 0 || run->enqueued + n <= budget)
        return n;
    return budget > run->enqueued ? (size_t)(budget - run->enqueued) : 0;
}

int ec_solve_mark_failed(ec_solve_run *run, size_t n)
{
    const ec_scorer *scorer = &run->scorer;
    ec_scores scores;
    ec_solve_scores(run, scorer, &scores);
    ec_score_args args = {scores.cost, scores.violation, scorer->status,
                          run->flag,   scores.ld,        (uint32_t)run->n_objectives};

    return run->backend->ops->launch(run->backend, &ec_kernel_score, &args, n, 1);
}

/* Enqueues propose, evaluation, take and the stop rules; `lanes` > 0 evaluates that many
 * candidates (a whole bucket) whatever the population. */
static int enqueue(ec_solve_run *run, size_t lanes, size_t *n)
{
    ec_scorer *scorer = &run->scorer;
    ec_backend *backend = run->backend;
    ec_generation g = {.n = 0};
    size_t proposed = 0;

    int status = run->def->propose(run->optimizer, &g.X, &g.XG, &g.group_map, &proposed);
    g.n = *n = status == EC_OK ? within_budget(run, proposed) : 0;
    if (g.n == 0)
        return status;
    size_t m = lanes > 0 ? lanes : *n;
    g.X.lanes = m;
    ec_solve_choose_executor(run, scorer);
    run->messages.latest[0] = '\0'; /* what an evaluator says of its failure */
    status = ec_executor_run(scorer->ran, &g.X, run->groups > 0 ? &g.XG : NULL, g.group_map,
                             scorer->status, m, run->groups);
    if (status == EC_OK)
        status = ec_solve_mark_failed(run, m);
    if (status == EC_OK && lanes == 0 && ec_solve_watches_failures(run))
        status = ec_solve_handle_failures(run, &g);
    if (status == EC_OK && ec_solve_keeps_all(run))
        status = ec_solve_keep_generation(run, &g);
    if (status != EC_OK)
        return status;
    ec_scores scores;
    ec_solve_scores(run, scorer, &scores);
    status = run->def->take(run->optimizer, &scores, *n);
    if (status == EC_OK)
        status = backend->ops->launch(backend, &ec_kernel_stop_rules, &run->rules, 1, 1);
    return status;
}

static ec_capture *find_capture(const ec_solve_run *run, size_t lanes)
{
    for (size_t i = 0; i < run->n_captures; i++)
        if (run->captures[i].lanes == lanes)
            return run->captures[i].capture;
    return NULL;
}

/* Records the next generation; *n is its size. Nothing has run yet. */
static int capture_generation(ec_solve_run *run, size_t lanes, size_t *n, ec_capture **capture)
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

/* Generations that may be enqueued at once: only the last one is looked at, and all are whole. A kept
 * one that may be watched for failures begins afresh. */
static size_t generations_ahead(const ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    size_t count = 1, since = run->generation - run->looked_at;

    while (since + count < run->look_step && !ec_solve_is_kept(run->generation + (uint32_t)count) &&
           !ec_solve_is_kept(run->generation + (uint32_t)count + 1) &&
           (!info->generations || run->generation + count < info->generations) &&
           (!info->evaluations ||
            run->enqueued + (count + 1) * run->max_population <= info->evaluations))
        count++;
    return count;
}

static int fused_generations(ec_solve_run *run)
{
    size_t count = generations_ahead(run);

    int status = run->def->generations(run->optimizer, count);
    run->n = run->max_population;
    run->enqueued += count * run->max_population;
    run->generation += (uint32_t)count;
    return status;
}

/* One generation, replayed when the same launches ran before, or several in one launch. */
static int generation(ec_solve_run *run)
{
    ec_backend *backend = run->backend;
    size_t lanes = ec_lane_ld(run->n), n = 0;
    int status;

    bool seen = ec_solve_watches_failures(run) || ec_solve_keeps_all(run);
    if (run->fused && !seen && within_budget(run, run->max_population) == run->max_population)
        return fused_generations(run);
    /* The next population is not above the last one, so this cannot pass the budget. */
    bool fixed = run->n > 0 && backend->ops->capture_begin && run->def->capturable &&
                 run->def->replayed && run->def->capturable(run->optimizer) &&
                 ec_executor_capturable(run->scorer.executor) &&
                 within_budget(run, run->n) == run->n && !seen;
    ec_capture *capture = fixed ? find_capture(run, lanes) : NULL;
    if (capture) {
        status = backend->ops->replay(backend, capture);
        n = run->def->replayed(run->optimizer);
    } else if (fixed && run->n_captures < EC_CAPTURES_MAX) {
        status = capture_generation(run, lanes, &n, &capture);
        if (status == EC_OK)
            status = backend->ops->replay(backend, capture);
    } else {
        status = enqueue(run, 0, &n);
    }
    if (status != EC_OK)
        return status;
    run->n = n;
    if (n == 0) /* the method has ended */
        return EC_OK;
    run->enqueued += n;
    run->generation++;
    return EC_OK;
}

/* ---- the search ---- */

static bool budget_is_used(const ec_solve_run *run)
{
    const ec_solve_info *info = run->info;

    return (info->evaluations && run->enqueued >= info->evaluations) ||
           (info->generations && run->generation >= info->generations);
}

/* An error ends the run, whose results so far are kept. */
void ec_solve_note_error(ec_solve_run *run, int status)
{
    if (run->result->stop == EC_STOP_ERROR)
        return;
    run->result->stop = EC_STOP_ERROR;
    run->failure = status;
    snprintf(run->error, sizeof run->error, "%s", ec_error_text());
}

/* The search cannot go on; what the last look saw is kept. */
static int keep_latest(ec_solve_run *run, int status)
{
    if (run->result->n_history == 0)
        return status;
    if (status == EC_ERR_DEVICE) { /* the rest is done on the CPU */
        run->result->stop = EC_STOP_DEVICE;
        ec_log_write(&run->messages.log, EC_LOG_ERROR, "%s: %s", run->backend->name,
                     ec_error_text());
    } else {
        ec_solve_note_error(run, status);
    }
    for (size_t i = 0; i < run->latest.n; i++) {
        ec_design_list_add(run, &run->keep, run->latest.genes + i * run->width,
                           &run->latest.scores[i]);
        ec_design_list_add(run, &run->distinct, run->latest.genes + i * run->width,
                           &run->latest.scores[i]);
    }
    return EC_OK;
}

static int search(ec_solve_run *run)
{
    int32_t flag = 0;
    int status = EC_OK;
    ec_stop stop = EC_STOP_NONE;

    while (status == EC_OK && !flag && !stop && !budget_is_used(run)) {
        status = generation(run);
        /* nothing is queued behind a method on the host */
        if (status == EC_OK && run->def->flags & EC_OPTIMIZER_ON_HOST)
            status = run->backend->ops->download(run->backend, &flag, run->flag, sizeof flag);
        if (status == EC_OK && ec_solve_look_is_due(run))
            status = ec_solve_look(run, ec_solve_is_kept(run->generation), false, &flag);
        if (status == EC_OK && run->looked_at == run->generation && !flag)
            ec_solve_save_when_due(run);
        stop = ec_solve_host_stop(run);
        if (status == EC_OK && !stop && run->n == 0)
            stop = EC_STOP_FINISHED;
    }
    if (status == EC_STOPPED) /* within a generation, of which nothing was taken */
        status = EC_OK;
    /* Before the last look, which adds to the lists what an unbroken run would not look at. */
    if (status == EC_OK && stop == EC_STOP_INTERRUPT && !flag)
        ec_solve_save(run);
    if (status == EC_OK && run->generation > 0)
        status = ec_solve_look(run, true, true, &flag);
    if (run->stats.restarts > 0)
        ec_log_write(&run->messages.log, EC_LOG_INFO, "%s: %u restarts with a new population",
                     run->def->name, run->stats.restarts);
    run->result->stop = flag ? (ec_stop)flag : stop;
    run->phase = EC_PHASE_SEARCHED;
    if (status == EC_OK && run->result->stop != EC_STOP_INTERRUPT)
        ec_solve_save(run);
    return status < 0 ? keep_latest(run, status) : EC_OK;
}

/* ---- the run ---- */

/* The backend of what comes after the search: another one when the device is lost. */
static int final_backend(ec_solve_run *run, ec_backend **own, ec_backend **backend)
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

/* The search, or what is left of it. */
static int resume_or_begin(ec_solve_run *run)
{
    int32_t flag = 0;

    int status = ec_solve_resume(run);
    if (status < 0) {
        run->result->n_history = 0; /* nothing of a state that is refused is kept */
        return status;
    }
    if (run->phase == EC_PHASE_SEARCH)
        return search(run);
    return ec_solve_look(run, false, false, &flag);
}

int ec_solve(ec_job *job, ec_backend *backend, const ec_solve_info *info, ec_result **result)
{
    ec_solve_run run;
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
    status = ec_solve_check_numbers(info);
    if (status == EC_OK)
        status = ec_solve_build(&run, job, backend, info);
    bool stopped = status == EC_STOPPED;
    if (status == EC_OK || stopped)
        status = ec_solve_result_create(&run, &run.result);
    if (status == EC_OK && stopped)
        run.result->stop = EC_STOP_INTERRUPT;
    else if (status == EC_OK)
        status = resume_or_begin(&run);
    if (status == EC_OK)
        status = final_backend(&run, &own, &last);
    if (status == EC_OK)
        status = run.n_objectives > 1 ? ec_solve_choose_front(&run, last)
                                      : ec_solve_choose_winner(&run, last);
    if (status == EC_OK)
        status = ec_solve_failure_values(&run);
    if (status < 0 && run.result && run.result->n_history > 0) {
        ec_solve_note_error(&run, status);
        run.result->found = false;
        status = EC_OK;
    }
    *result = NULL;
    if (status == EC_OK) {
        run.result->generations = run.stats.generation;
        run.result->evaluations = run.stats.evaluations;
        run.result->failed = run.stats.failed + run.patched;
        run.result->seconds = ec_wall_seconds() - run.start;
        ec_solve_write_message(&run);
        ec_solve_keep_result(&run);
        *result = run.result;
        if (run.result->stop == EC_STOP_ERROR)
            status = ec_fail(run.failure, "%s", run.error);
    } else {
        ec_result_destroy(&run.result);
    }
    ec_solve_kept_release(&run);
    if (run.backend)
        ec_solve_release(&run);
    ec_backend_destroy(&own);
    job->searching = false;
    return status;
}

/* ---- the check ---- */

/* Times a design at final fidelity, and predicts it for those that are kept: on the CPU they share the
 * threads. Then come the values of the best one. */
static int check_final(ec_solve_run *run, ec_check *check)
{
    size_t found = 0;
    size_t designs = run->n_objectives > 1 ? run->front.capacity : run->keep.capacity;
    size_t at_once = run->backend->host_memory && run->backend->threads > 0
                         ? (size_t)run->backend->threads
                         : designs;
    uint8_t ignored;

    check->final_designs = designs;
    int status = run->def->elite(run->optimizer, 1, run->elite_genes, run->elite_cost,
                                 run->elite_violation, run->elite_status, &found);
    if (status < 0 || found == 0)
        return status;
    ec_solve_begin_end(run);
    double start = ec_wall_seconds();
    status = ec_solve_score_final(run, run->backend, run->elite_genes, 1, run->elite_cost,
                                  run->elite_violation, &ignored);
    double rounds = ceil((double)designs / (double)at_once);
    check->seconds_final = (ec_wall_seconds() - start) * (rounds + 1);
    return status;
}

/* One generation to warm up, the second one is timed. */
static int check_times(ec_solve_run *run, ec_check *check)
{
    ec_backend *backend = run->backend;
    size_t n = 0;

    int status = enqueue(run, 0, &n);
    if (status == EC_OK)
        status = backend->ops->sync(backend);
    double start = ec_wall_seconds();
    if (status == EC_OK)
        status = enqueue(run, 0, &n);
    if (status == EC_OK)
        status = backend->ops->sync(backend);
    if (status == EC_OK && n > 0)
        check->seconds_per_evaluation = (ec_wall_seconds() - start) / (double)n;
    return status == EC_OK ? check_final(run, check) : status;
}

/* Takes the estimate of calls that have one, which then are not run: true. */
static int check_estimate(const ec_executor *executor, ec_check *check, bool *there)
{
    ec_estimate sum;
    int32_t calls = 0;
    int status = ec_executor_estimate(executor, EC_SEARCH, &calls, &sum);

    *there = calls > 0;
    if (status < 0 || calls == 0)
        return status;
    check->seconds_per_evaluation = check->seconds_final = sum.least;
    check->seconds_most = sum.most;
    memcpy(check->estimate, sum.text, sizeof check->estimate);
    if (!sum.finer)
        return EC_OK;
    status = ec_executor_estimate(executor, EC_FINAL, &calls, &sum);
    check->seconds_final = sum.least;
    memcpy(check->estimate_final, sum.text, sizeof check->estimate_final);
    return status;
}

int ec_solve_check(ec_job *job, ec_backend *backend, const ec_solve_info *info, ec_check *check)
{
    ec_solve_run run;
    ec_executor_stats stats;
    bool estimated = false;

    int status = begin_search(job);
    if (status < 0)
        return status;
    memset(&run, 0, sizeof run);
    memset(check, 0, sizeof *check);
    run.limit = INFINITY;
    status = ec_solve_check_numbers(info);
    if (status == EC_OK)
        status = ec_solve_build(&run, job, backend, info);
    if (status == EC_OK) {
        ec_executor_describe(run.scorer.executor, &stats);
        check->population = run.max_population;
        check->chunk = stats.chunk;
        check->bytes_per_candidate = stats.bytes_per_candidate;
        check->bytes_fixed = stats.bytes_fixed;
        check->nodes = stats.nodes;
        check->calls = stats.calls;
        status = check_estimate(run.scorer.executor, check, &estimated);
    }
    if (status == EC_OK && estimated) {
        check->final_designs = run.n_objectives > 1 ? run.front.capacity : run.keep.capacity;
        check->seconds_final *= (double)check->final_designs;
    } else if (status == EC_OK) {
        status = check_times(&run, check);
    }
    if (status == EC_STOPPED)
        status = ec_fail(EC_ERR_SCRIPT, "solve: interrupted");
    if (run.backend)
        ec_solve_release(&run);
    job->searching = false;
    return status;
}
