/* solve_build.c: checks before the start, and everything that a run needs. */
#include "graph_kernels.h"
#include "solve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_DEFAULT = 16 }; /* designs of the final re-scoring */
/* Two designs are distinct when a gene differs by this share of its range. With groups more of it:
 * the best members of one group lie side by side and would be all that is polished. */
static const double distinct_share = 0.02, distinct_share_groups = 0.15;
/* For the final figures of a search that a signal has ended. */
static const double end_seconds = 5;

/* ---- checks before the start ---- */

int ec_solve_check_numbers(const ec_solve_info *info)
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
    if (!isfinite(info->failure_value))
        return ec_fail(EC_ERR_RANGE, "solve: failure_value (%g) must be a finite number",
                       info->failure_value);
    if (!isfinite(info->checkpoint_seconds))
        return ec_fail(EC_ERR_RANGE, "solve: checkpoint_seconds (%g) must be finite",
                       info->checkpoint_seconds);
    if (!info->evaluations && !info->generations && info->seconds == 0 && isnan(info->target) &&
        !info->stagnation && info->spread == 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: nothing says when to stop; give evaluations, generations, seconds, "
                       "target, stagnation or spread");
    return EC_OK;
}

static int check_job(const ec_job *job, const ec_solve_info *info, const ec_optimizer_def **def)
{
    const char *method = info->own_method ? info->own_method->name
                         : info->method   ? info->method
                                          : "lshade";
    char known[512];

    *def = info->own_method ? info->own_method : ec_optimizer_find(method);
    ec_optimizer_names(0, 0, known, sizeof known);
    if (!*def)
        return ec_fail(EC_ERR_ARGUMENT, "solve: unknown method '%s'; known are %s", method, known);
    if (job->n_objectives == 0)
        return ec_fail(EC_ERR_ARGUMENT, "solve: job '%s' has no objective (minimize or maximize)",
                       job->name);
    ec_optimizer_names(EC_OPTIMIZER_FRONT, 0, known, sizeof known);
    if (job->n_objectives > 1 && !((*def)->flags & EC_OPTIMIZER_FRONT))
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "solve: job '%s' has %d objectives, method '%s' takes one; for several use "
                       "method = '%s'",
                       job->name, (int)job->n_objectives, method, known);
    if (job->n_genes + job->n_group_genes == 0)
        return ec_fail(EC_ERR_ARGUMENT, "solve: job '%s' has no design variable", job->name);
    return ec_solve_front_check(job, info);
}

/* ---- building the run ---- */

ec_stop ec_solve_host_stop(const ec_solve_run *run)
{
    if (run->info->interrupt && *run->info->interrupt)
        return EC_STOP_INTERRUPT;
    if (ec_wall_seconds() - run->start >= run->limit)
        return EC_STOP_TIME;
    return EC_STOP_NONE;
}

static bool stops_now(void *user)
{
    const ec_solve_run *run = (const ec_solve_run *)user;
    ec_stop stop = ec_solve_host_stop(run);

    return run->planning ? stop == EC_STOP_INTERRUPT : stop != EC_STOP_NONE;
}

/* A signal that ended the search leaves its best designs some seconds for their final figures; one
 * that comes later ends those. */
static bool ends_now(void *user)
{
    const ec_solve_run *run = (const ec_solve_run *)user;
    const ec_solve_info *info = run->info;

    return info->interrupt && *info->interrupt && ec_wall_seconds() >= run->wait_until;
}

void ec_solve_begin_end(ec_solve_run *run)
{
    bool interrupted = run->info->interrupt && *run->info->interrupt;

    run->wait_until = interrupted ? ec_wall_seconds() + end_seconds : 0;
}

/* "x", or "x[3]" of a list. */
static void element_name(const ec_variable *variable, int32_t element, char *text, size_t size)
{
    if (variable->count > 0)
        snprintf(text, size, "%.200s[%d]", variable->name, (int)element + 1);
    else
        snprintf(text, size, "%.200s", variable->name);
}

/* What a search makes of variables that cannot move, and of starts outside of the bounds. */
static void tell_variables(ec_solve_run *run)
{
    ec_log *log = &run->messages.log;
    char name[256];

    for (int32_t v = 0; v < run->job->n_variables; v++) {
        const ec_job_entry *entry = run->job->variables[v];
        const ec_variable *variable = &entry->variable;
        const ec_job_moved *moved = &entry->moved;
        int32_t n = variable->count > 0 ? variable->count : 1, fixed = 0, first = -1;

        if (variable->kind != EC_VARIABLE_REAL && variable->kind != EC_VARIABLE_INTEGER)
            continue;
        for (int32_t i = 0; i < n; i++)
            if (entry->value_min[i] == entry->value_max[i]) {
                fixed++;
                first = first < 0 ? i : first;
            }
        element_name(variable, fixed > 0 ? first : 0, name, sizeof name);
        if (fixed > 1)
            ec_log_write(log, EC_LOG_INFO,
                         "variable '%s': %d of %d elements are fixed, their min is their max",
                         variable->name, (int)fixed, (int)n);
        else if (fixed == 1)
            ec_log_write(log, EC_LOG_INFO, "variable '%s' is fixed at %g, its min and max", name,
                         entry->value_min[first]);
        if (moved->count == 0)
            continue;
        element_name(variable, moved->element, name, sizeof name);
        ec_log_write(log, EC_LOG_WARNING,
                     "start: %s = %g lies outside its bounds, %g to %g, and is moved to %g%s", name,
                     moved->value, entry->value_min[moved->element],
                     entry->value_max[moved->element], moved->to,
                     moved->count > 1 ? "; so are other values of the variable" : "");
    }
}

/* Whether an option has another value than its default. */
static bool is_set(const ec_optimizer_def *def, const double *values, size_t i)
{
    double initial = def->options[i].initial;

    return values && values[i] != initial && !(isnan(values[i]) && isnan(initial));
}

static size_t find_option(const ec_optimizer_def *def, const char *key)
{
    size_t i = 0;

    while (i < def->n_options && strcmp(def->options[i].key, key) != 0)
        i++;
    return i;
}

/* What was asked for and has no effect. */
static void tell_idle(ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    const ec_optimizer_def *def = run->def;
    const struct {
        const char *key;
        bool idle;
        const char *with;
    } keys[] = {
        {"polish_designs", info->polish_designs > 0 && !info->polish, "polish = true"},
        {"polish_evaluations", info->polish_evaluations > 0 && !info->polish, "polish = true"},
        {"polish_seconds", info->polish_seconds > 0 && !info->polish, "polish = true"},
        {"stagnation_tolerance", info->stagnation_tolerance > 0 && info->stagnation == 0,
         "stagnation"},
        {"groups", info->groups > 0 && run->groups == 0, "variables with group = true"},
        {"spread", info->spread > 0 && ec_solve_needs(run) & EC_OPTIMIZER_APART,
         "methods whose designs come together"},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].idle)
            ec_log_write(&run->messages.log, EC_LOG_WARNING,
                         "solve: '%s' has no effect here, it goes with %s", keys[i].key,
                         keys[i].with);
    for (size_t i = 0; i < def->n_links; i++) {
        const ec_option_link *link = &def->links[i];
        size_t with = find_option(def, link->with);
        double value = info->options ? info->options[with] : def->options[with].initial;
        if (is_set(def, info->options, find_option(def, link->key)) &&
            !(value >= link->min && value <= link->max))
            ec_log_write(&run->messages.log, EC_LOG_WARNING,
                         "solve: '%s' of method '%s' has no effect here, it goes with %s",
                         link->key, def->name, link->text);
    }
}

static int build_optimizer(ec_solve_run *run)
{
    const ec_solve_info *info = run->info;
    const ec_job *job = run->job;
    size_t n_own = (size_t)ec_job_start_count(job), n_start = n_own + info->n_start;
    size_t n_genes = (size_t)job->n_genes, n_group = (size_t)job->n_group_genes;
    ec_gene *genes = (ec_gene *)calloc(run->width + 1, sizeof *genes);
    bool *integral = (bool *)calloc(run->width + 1, sizeof *integral);
    uint32_t *set = (uint32_t *)calloc(2 * run->width + 1, sizeof *set);
    double *start = (double *)malloc(sizeof *start * (n_start * n_genes + 1));
    int status = EC_ERR_MEMORY;

    run->min = (double *)malloc(sizeof(double) * (run->width + 1));
    run->max = (double *)malloc(sizeof(double) * (run->width + 1));
    if (!genes || !integral || !set || !start || !run->min || !run->max) {
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
    ec_job_gene_sets(job, set, set + run->width);
    for (size_t i = 0; i < n_genes; i++) {
        genes[i].set = set[i];
        genes[i].ones = set[run->width + i];
    }
    for (size_t i = 0; i < n_own; i++)
        ec_job_start_genes(job, (int32_t)i, start + i * n_genes);
    if (info->n_start > 0)
        memcpy(start + n_own * n_genes, info->start, sizeof *start * info->n_start * n_genes);
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
        .n_start = n_start,
        .options = info->options,
        .n_objectives = run->n_objectives,
        .n_limits = run->n_limits,
        .equal = run->limit_equal,
        .interrupt = &run->interrupt,
        .log = &run->messages.log,
    };
    status = run->def->create(run->def, run->backend, &optimizer, &run->optimizer);
    if (status == EC_OK)
        run->max_population = run->def->max_population(run->optimizer);
    if (status == EC_OK && n_start > run->max_population)
        ec_log_write(&run->messages.log, EC_LOG_WARNING,
                     "start: %zu designs are given, more than the population of %zu: the first %zu "
                     "are taken",
                     n_start, run->max_population, run->max_population);
done:
    free(genes);
    free(integral);
    free(set);
    free(start);
    return status;
}

static int scorer_create(ec_solve_run *run, ec_scorer *scorer, ec_backend *backend)
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
    run->planning = true;
    int status = ec_executor_create(run->job->graph, backend, &info, &scorer->executor);
    run->planning = false;
    if (status == EC_OK)
        status =
            backend->ops->alloc(backend, ec_lane_ld(run->max_population), (void **)&scorer->status);
    if (status == EC_OK)
        status = backend->ops->fill(backend, scorer->status, 0, ec_lane_ld(run->max_population));
    if (status != EC_OK)
        return status;
    if (run->n_slopes == 0)
        return EC_OK;
    info.n_outputs += run->n_slopes;
    run->planning = true;
    status = ec_executor_create(run->job->graph, backend, &info, &scorer->slopes);
    run->planning = false;
    if (status == EC_ERR_NO_GRADIENT) /* evaluators look closer when they plan */
        return ec_solve_explain_gradient(run, "the objective and the constraints");
    return status;
}

static int build_rules(ec_solve_run *run)
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
    /* that of the hypervolume is looked at by the host */
    run->rules.stagnation = run->n_objectives > 1 ? 0 : info->stagnation;
    run->rules.target = run->maximize ? -info->target : info->target;
    run->rules.tolerance = info->stagnation_tolerance;
    run->rules.spread = ec_solve_needs(run) & EC_OPTIMIZER_APART ? 0 : info->spread;
    run->rules.code_generations = EC_STOP_GENERATIONS;
    run->rules.code_evaluations = EC_STOP_EVALUATIONS;
    run->rules.code_target = EC_STOP_TARGET;
    run->rules.code_stagnation = EC_STOP_STAGNATION;
    run->rules.code_spread = EC_STOP_SPREAD;
    run->def->set_stop_flag(run->optimizer, run->flag);
    return EC_OK;
}

/* How many designs are scored again at final fidelity. One, for the values of the winner, where that would
 * only repeat long runs: not where the best of the search may be a failed one, which a value stands for. */
static size_t designs_kept(const ec_solve_run *run)
{
    const ec_solve_info *info = run->info;

    if (info->keep > 0)
        return (size_t)info->keep;
    bool alone =
        run->repeats && info->kept_designs != EC_KEEP_ELITE && info->on_failure != EC_FAILURE_VALUE;
    return alone ? 1 : KEEP_DEFAULT;
}

static int build_lists(ec_solve_run *run)
{
    size_t keep = designs_kept(run);
    size_t elite = keep > EC_ELITE_MAX ? keep : EC_ELITE_MAX;

    if (run->n_objectives > 1)
        elite = run->max_population;
    int status = ec_design_list_create(&run->keep, keep, run->width, 0);
    if (status == EC_OK)
        status = ec_design_list_create(&run->distinct, EC_POLISH_DESIGNS_MAX, run->width,
                                       run->job->n_group_genes > 0 ? distinct_share_groups
                                                                   : distinct_share);
    if (status == EC_OK)
        status = ec_design_list_create(&run->latest, keep, run->width, 0);
    if (status < 0)
        return status;
    size_t rows = elite > run->max_population ? elite : run->max_population;
    run->elite_genes = (double *)malloc(sizeof(double) * elite * run->width);
    run->elite_cost = (double *)malloc(sizeof(double) * rows * run->n_objectives);
    run->elite_violation = (double *)malloc(sizeof(double) * rows);
    run->elite_status = (uint8_t *)malloc(rows);
    if (!run->elite_genes || !run->elite_cost || !run->elite_violation || !run->elite_status)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for %zu designs", rows);
    return run->n_objectives > 1 ? ec_solve_front_create(run) : EC_OK;
}

/* The costs as one value, which is a list when there are several. */
static ec_expr join_costs(ec_job *job)
{
    ec_expr cost[EC_OBJECTIVES_MAX];

    for (int32_t i = 0; i < job->n_objectives; i++) {
        cost[i] = ec_job_cost(job, i);
        if (cost[i] < 0)
            return cost[i];
    }
    return job->n_objectives == 1
               ? cost[0]
               : ec_graph_op(job->graph, EC_OP_CONCAT, job->n_objectives, cost, 0, NULL);
}

/* Small problems without evaluators: a generation is one launch. */
static void build_fusion(ec_solve_run *run)
{
    ec_scorer *scorer = &run->scorer;
    ec_graph_args program;

    if (!run->def->fuse || !run->def->generations ||
        !ec_executor_program(scorer->executor, &program))
        return;
    ec_generation_info info = {.program = &program, .rules = &run->rules};
    ec_solve_choose_executor(run, scorer);
    ec_solve_scores(run, scorer, &info.scores);
    info.scores.status = NULL; /* no evaluator gives one */
    run->fused = run->def->fuse(run->optimizer, &info);
}

int ec_solve_build(ec_solve_run *run, ec_job *job, ec_backend *backend, const ec_solve_info *info)
{
    run->job = job;
    run->info = info;
    ec_once_open(&run->messages, info->log);
    run->backend = backend;
    run->interrupt = (ec_interrupt){stops_now, run};
    run->at_end = (ec_interrupt){ends_now, run};
    int status = check_job(job, info, &run->def);
    if (status < 0)
        return status;
    bool apart = ec_solve_needs(run) & EC_OPTIMIZER_APART;
    if (apart && info->spread > 0 && !info->evaluations && !info->generations &&
        info->seconds == 0 && isnan(info->target) && !info->stagnation)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: spread never ends method '%s', whose designs stay apart; give "
                       "evaluations, generations, seconds, target or stagnation",
                       run->def->name);
    run->maximize = job->objectives[0].maximize;
    run->width = (size_t)job->n_genes + (size_t)job->n_group_genes;
    run->groups = job->n_group_genes > 0 ? info->groups ? info->groups : 10 : 0;
    run->n_objectives = (size_t)job->n_objectives;
    run->outputs[0] = join_costs(job);
    run->outputs[1] = job->n_constraints > 0 ? ec_job_violation(job) : -1;
    run->n_outputs = job->n_constraints > 0 ? 2 : 1;
    for (int32_t i = 0; i < run->n_outputs; i++)
        if (run->outputs[i] < 0)
            return run->outputs[i];
    tell_variables(run);
    tell_idle(run);
    status = ec_solve_add_limits(run);
    if (status == EC_OK)
        status = build_optimizer(run);
    if (status == EC_OK)
        status = ec_solve_add_gradients(run);
    if (status == EC_OK)
        status = build_rules(run);
    if (status == EC_OK)
        status = scorer_create(run, &run->scorer, backend);
    if (status < 0)
        return status;
    run->repeats = ec_graph_samples_repeat(job->graph) && ec_executor_repeats(run->scorer.executor);
    status = build_lists(run);
    if (status == EC_OK)
        build_fusion(run);
    return status;
}

void ec_solve_release(ec_solve_run *run)
{
    ec_backend *backend = run->backend;

    for (size_t i = 0; i < run->n_captures; i++)
        backend->ops->capture_destroy(backend, &run->captures[i].capture);
    ec_executor_destroy(&run->scorer.executor);
    ec_executor_destroy(&run->scorer.slopes);
    backend->ops->release(backend, run->scorer.status);
    if (run->optimizer)
        run->def->destroy(&run->optimizer);
    backend->ops->release(backend, run->flag);
    backend->ops->release(backend, run->state);
    ec_design_list_release(&run->keep);
    ec_design_list_release(&run->distinct);
    ec_design_list_release(&run->latest);
    free(run->designs);
    ec_solve_front_release(run);
    free(run->limits);
    free(run->limit_equal);
    free(run->min);
    free(run->max);
    free(run->elite_genes);
    free(run->elite_cost);
    free(run->elite_violation);
    free(run->elite_status);
    ec_once_close(&run->messages);
}
