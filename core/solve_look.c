/* solve_look.c: looks of the host: statistics, best designs, history. */
#include "solve_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_GENERATIONS = 16384 }; /* generations between two looks, at most */
static const double look_seconds = 0.25;

/* ---- looks ---- */

/* Generations whose best designs and figures are kept, so that neither depends on timing: all of
 * the first 64, then 32 for each doubling. */
bool ec_solve_is_kept(uint32_t g)
{
    uint32_t step = 1;

    while (g / step >= 64)
        step *= 2;
    return g % step == 0;
}

double ec_solve_seen(const ec_solve_run *run, double cost)
{
    return run->maximize ? -cost : cost;
}

/* The k-th smallest of n numbers, from 0; the smaller ones are before it then (Hoare 1961). */
static double select_number(double *x, size_t n, size_t k)
{
    int64_t first = 0, last = (int64_t)n - 1, at = (int64_t)k;

    while (first < last) {
        double a = x[first], b = x[first + (last - first) / 2], c = x[last];
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c)); /* of the three, the middle one */
        int64_t i = first, j = last;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i > j)
                break;
            double other = x[i];
            x[i++] = x[j];
            x[j--] = other;
        }
        /* x[first .. j] <= pivot <= x[i .. last], and what is between them is the pivot */
        if (at <= j)
            last = j;
        else if (at >= i)
            first = i;
        else
            break;
    }
    return x[k];
}

/* Median of the first cost of the designs that did not fail; rows of n_costs are mixed up. */
static double median_cost(double *cost, size_t n_costs, const uint8_t *status, size_t n)
{
    size_t good = 0;

    for (size_t i = 0; i < n; i++)
        if (!status[i] && isfinite(cost[i * n_costs]))
            cost[good++] = cost[i * n_costs];
    if (good == 0)
        return NAN;
    double upper = select_number(cost, good, good / 2), lower = -INFINITY;
    if (good % 2)
        return upper;
    for (size_t i = 0; i < good / 2; i++)
        lower = cost[i] > lower ? cost[i] : lower;
    return 0.5 * (lower + upper);
}

static void describe_row(const ec_solve_run *run, ec_history_row *row)
{
    const ec_optimizer_stats *stats = &run->stats;

    row->generation = stats->generation;
    row->evaluations = stats->evaluations;
    row->failed = stats->failed + run->patched;
    row->seconds = ec_wall_seconds() - run->start;
    row->best = stats->best_class < 2 ? ec_solve_seen(run, stats->best_cost) : NAN;
    row->spread = stats->spread;
    row->violation = stats->best_class < 2 ? stats->best_violation : NAN;
    row->feasible = stats->feasible;
    row->population = stats->population;
    row->hypervolume = NAN;
    row->front = 0;
}

static int history_append(ec_solve_run *run, const ec_history_row *row)
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
static double seconds_left(const ec_solve_run *run)
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

/* Into the lists of the best, with one objective. */
static void add_elite(ec_solve_run *run, ec_design_list *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ec_score s = {run->elite_cost[i], run->elite_violation[i], run->elite_status[i]};
        if (ec_score_class(&s) < 2)
            ec_design_list_add(run, list, run->elite_genes + i * run->width, &s);
    }
}

/* Reads statistics and best designs; kept ones go into the lists and the history. */
static int look(ec_solve_run *run, bool kept, bool last, int32_t *flag)
{
    ec_backend *backend = run->backend;
    size_t found = 0, keep = run->keep.capacity, rows = run->max_population;
    size_t elite = kept && keep < EC_ELITE_MAX ? EC_ELITE_MAX : keep;
    bool several = run->n_objectives > 1;
    ec_history_row row;

    int status = backend->ops->download(backend, flag, run->flag, sizeof *flag);
    if (status == EC_OK)
        status = backend->ops->download(backend, &run->stats, run->rules.stats, sizeof run->stats);
    if (status == EC_OK)
        status = run->def->elite(run->optimizer, several ? rows : elite, run->elite_genes,
                                 run->elite_cost, run->elite_violation, run->elite_status, &found);
    if (status < 0)
        return status;
    for (size_t i = 0; i < found; i++)
        ec_design_sort_spaced(run->job, run->elite_genes + i * run->width);
    run->latest.n = 0;
    if (!several)
        add_elite(run, &run->latest, found < keep ? found : keep);
    /* after an interrupt the last look is one that an unbroken run does not have */
    bool stored = kept && !(last && ec_solve_host_stop(run) == EC_STOP_INTERRUPT);
    if (stored && !several)
        status = ec_solve_keep_look(run);
    if (status < 0)
        return status;
    if (kept && !several) {
        add_elite(run, &run->keep, found < keep ? found : keep);
        if (run->info->polish)
            add_elite(run, &run->distinct, found);
    }
    describe_row(run, &row);
    if (several)
        status = ec_solve_front_look(run, found, kept, &row, flag);
    else if (found < run->stats.population) /* the elite was cut: read all costs */
        status = run->def->elite(run->optimizer, rows, NULL, run->elite_cost, NULL,
                                 run->elite_status, &found);
    if (status == EC_OK && stored && several)
        status = ec_solve_keep_look(run);
    if (status < 0)
        return status;
    run->n_last = found;
    double median = median_cost(run->elite_cost, run->n_objectives, run->elite_status, found);
    row.median = isnan(median) ? NAN : ec_solve_seen(run, median);
    run->kept.look = row;
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
bool ec_solve_look_is_due(const ec_solve_run *run)
{
    uint32_t since = run->generation - run->looked_at;

    if (ec_solve_is_kept(run->generation) || (run->backend->host_memory && *run->flag))
        return true;
    if (run->backend->host_memory || since < run->look_step)
        return since >= LOOK_GENERATIONS ||
               (run->backend->host_memory && ec_wall_seconds() - run->looked_when >= look_seconds);
    return true;
}

int ec_solve_look(ec_solve_run *run, bool kept, bool last, int32_t *flag)
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
