/* cmaes.c: CMA-ES with restarts: method "cmaes". A run (cmaes_run.h) that is over is followed by
 * another one from a random mean:
 *   ipop    with twice the population: Auger and Hansen, CEC 2005, 1769-1776;
 *   bipop   with twice the largest population so far, or with a small one and a small sigma,
 *           whichever kind has had fewer evaluations: Hansen, GECCO 2009 (workshop), 2389-2396.
 *
 * The state lies in host memory, in one block that a blob holds byte for byte. The first mean is
 * the first start design, if there is one; it and the others are designs of the first generation. A
 * generation that a budget has cut teaches the run nothing.
 */
#include "cmaes_run.h"
#include "optimizers/host_population.h"
#include "optimizers/method_info.h"
#include "optimizers/method_state.h"
#include "optimizers/method_memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    PURPOSE_SAMPLE = 1,
    PURPOSE_RESTART = 2,
    KEPT = 32,         /* best designs, and as many winners of runs */
    DOUBLINGS_MAX = 9, /* of the population */
    /* Few variables take more than 4 + 3 log(n) designs: rugged costs are searched better, and
     * threads have work. */
    POPULATION_USUAL = 20,
    POPULATION_MAX = 1 << 16,
    RUN_GENERATIONS_MIN = 20 /* a population that the budget has fewer of is of no use */
};

typedef enum restart_rule { RESTART_BIPOP, RESTART_IPOP, RESTART_NONE } restart_rule;

/* Designs from best to worst; the genes of entry i are row entry[i].row of the list's rows. */
typedef struct kept_design {
    double cost, violation;
    uint32_t kind; /* class */
    uint32_t row;
    uint64_t status;
} kept_design;
typedef struct kept_list {
    uint64_t n;
    kept_design entry[KEPT];
} kept_list;

/* The head of the state; arrays follow. */
typedef struct control {
    ec_optimizer_stats stats;
    ec_cmaes_numbers run;
    kept_list best;                  /* of all designs */
    kept_list winners;               /* best design of each run that is over */
    kept_design run_best;            /* of the present run, in row 0 of its rows */
    uint64_t used_large, used_small; /* evaluations by kind of run, the first one left out */
    uint64_t last_large;             /* of the last run with a large population */
    uint64_t last_generations;       /* the same, its generations */
    uint32_t run_has_best;
    uint32_t runs;      /* that are over */
    uint32_t doublings; /* of the population so far */
    uint32_t is_small;  /* the present run has a small population */
} control;

typedef struct ranked {
    double cost, violation;
    uint32_t kind, index;
} ranked;

typedef struct ec_cmaes {
    ec_optimizer base;
    ec_host_population population;
    ec_log *log;
    char *state, *work;
    size_t state_bytes;
    control *now; /* in state */
    ec_cmaes_run run;
    ec_cmaes_space space;
    size_t genes;
    uint64_t seed;
    uint32_t island;
    uint64_t evaluations;        /* budget, 0: none */
    uint32_t lambda, lambda_max; /* first and largest population */
    double sigma;
    restart_rule restarts;
    double *fixed; /* [genes] value of those that are not free */
    double *start; /* [n_start][genes] */
    uint32_t n_start;
    double *best_genes, *winner_genes; /* [KEPT][genes] */
    double *run_best_genes;            /* [genes] */
    ranked *order;                     /* [lambda_max] */
    uint32_t *rank;                    /* [lambda_max] */
    double *row;                       /* [genes] */
    bool proposed;
} ec_cmaes;

static ec_cmaes *self(ec_optimizer *optimizer)
{
    return (ec_cmaes *)optimizer;
}

static const ec_cmaes *self_const(const ec_optimizer *optimizer)
{
    return (const ec_cmaes *)optimizer;
}

/* ---- memory ---- */

/* Called with base NULL for the size, then for the pointers. */
static size_t lay_out_state(ec_cmaes *o, char *base)
{
    ec_method_memory memory = {base, 0};
    ec_cmaes_run *r = &o->run;
    size_t n = o->space.n;

    o->now = EC_METHOD_TAKE(&memory, control, 1);
    r->mean = EC_METHOD_TAKE(&memory, double, n);
    r->C = EC_METHOD_TAKE(&memory, double, n *n);
    r->factor = EC_METHOD_TAKE(&memory, double, n *n);
    r->scale = EC_METHOD_TAKE(&memory, double, n);
    r->path_sigma = EC_METHOD_TAKE(&memory, double, n);
    r->path_c = EC_METHOD_TAKE(&memory, double, n);
    r->best_cost = EC_METHOD_TAKE(&memory, double, EC_CMAES_HISTORY);
    r->median_cost = EC_METHOD_TAKE(&memory, double, EC_CMAES_HISTORY);
    r->equal = EC_METHOD_TAKE(&memory, uint8_t, EC_CMAES_HISTORY);
    o->best_genes = EC_METHOD_TAKE(&memory, double, KEPT * o->genes);
    o->winner_genes = EC_METHOD_TAKE(&memory, double, KEPT * o->genes);
    o->run_best_genes = EC_METHOD_TAKE(&memory, double, o->genes);
    return memory.used;
}

static size_t lay_out_work(ec_cmaes *o, char *base)
{
    ec_method_memory memory = {base, 0};
    ec_cmaes_run *r = &o->run;
    size_t n = o->space.n, lambda = o->lambda_max;

    r->mean_step = EC_METHOD_TAKE(&memory, double, n);
    r->z_step = EC_METHOD_TAKE(&memory, double, n);
    r->Z = EC_METHOD_TAKE(&memory, double, lambda *n);
    r->Y = EC_METHOD_TAKE(&memory, double, lambda *n);
    r->norm2 = EC_METHOD_TAKE(&memory, double, lambda);
    r->rules.weight = EC_METHOD_TAKE(&memory, double, lambda);
    o->space.gene = EC_METHOD_TAKE(&memory, uint32_t, n);
    o->space.cells = EC_METHOD_TAKE(&memory, uint32_t, n);
    o->space.lower = EC_METHOD_TAKE(&memory, double, n);
    o->space.range = EC_METHOD_TAKE(&memory, double, n);
    o->fixed = EC_METHOD_TAKE(&memory, double, o->genes);
    o->start = EC_METHOD_TAKE(&memory, double, o->n_start * o->genes);
    o->order = EC_METHOD_TAKE(&memory, ranked, lambda);
    o->rank = EC_METHOD_TAKE(&memory, uint32_t, lambda);
    o->row = EC_METHOD_TAKE(&memory, double, o->genes);
    return memory.used;
}

static int allocate(ec_cmaes *o)
{
    size_t work_bytes = lay_out_work(o, NULL);

    o->state_bytes = lay_out_state(o, NULL);
    o->state = (char *)calloc(1, o->state_bytes);
    o->work = (char *)calloc(1, work_bytes);
    if (!o->state || !o->work)
        return ec_fail(EC_ERR_MEMORY, "cmaes: no memory for %u designs of %u variables",
                       o->lambda_max, o->space.n);
    lay_out_state(o, o->state);
    lay_out_work(o, o->work);
    return EC_OK;
}

/* ---- create, destroy ---- */

/* A run needs some generations to get anywhere, so a small budget bounds the population. */
static void choose_populations(ec_cmaes *o, const ec_optimizer_info *info)
{
    uint32_t n = o->space.n > 0 ? o->space.n : 1;
    size_t most = POPULATION_MAX;

    uint32_t usual = 4 + (uint32_t)(3.0 * ec_det_log((double)n));
    usual = usual > POPULATION_USUAL ? usual : POPULATION_USUAL;
    o->lambda = info->population > 0 ? (uint32_t)info->population : usual;
    if (info->evaluations > 0 && info->evaluations / RUN_GENERATIONS_MIN < most)
        most = info->evaluations / RUN_GENERATIONS_MIN;
    size_t doubled = (size_t)o->lambda << DOUBLINGS_MAX;
    most = doubled < most ? doubled : most;
    if (o->restarts == RESTART_NONE || most < o->lambda)
        most = o->lambda;
    o->lambda_max = (uint32_t)most;
}

static int configure(ec_cmaes *o, const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    uint32_t n = 0;

    int status = ec_method_check(def, info, POPULATION_MAX);
    if (status < 0)
        return status;
    for (size_t g = 0; g < info->n_genes; g++)
        n += info->genes[g].min < info->genes[g].max;
    if (n > EC_CMAES_GENES_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "cmaes: %u variables, at most %d are allowed, as the covariance has their "
                       "square; use 'lshade'",
                       n, (int)EC_CMAES_GENES_MAX);
    o->genes = info->n_genes;
    o->space.n = n;
    o->seed = info->seed;
    o->island = info->island;
    o->evaluations = info->evaluations;
    o->log = info->log;
    o->sigma = ec_method_option(def, info, "sigma");
    o->restarts = (restart_rule)ec_method_option(def, info, "restarts");
    o->run.active = ec_method_option(def, info, "active") != 0;
    o->run.tolerance = ec_method_option(def, info, "tolerance");
    choose_populations(o, info);
    o->n_start = (uint32_t)(info->n_start < o->lambda ? info->n_start : o->lambda);
    o->run.threads = o->base.backend->threads;
#ifdef _OPENMP
    if (o->run.threads < 1)
        o->run.threads = omp_get_max_threads();
#endif
    o->run.threads = o->run.threads > 1 ? o->run.threads : 1;
    o->run.space = &o->space;
    return EC_OK;
}

/* Values of an integral gene: cells of width 1, but a binary one has two of width 1/2. Genes of a set
 * are ordered rather than rounded, so they count as real. */
static uint32_t count_cells(const ec_gene *gene)
{
    double width = gene->max - gene->min;

    if (!gene->integral || gene->set > 0 || width > 1e9)
        return 0;
    return width < 1.5 ? 2 : (uint32_t)(width + 0.5);
}

static void fill_space(ec_cmaes *o, const ec_optimizer_info *info)
{
    ec_cmaes_space *space = &o->space;
    uint32_t i = 0;

    for (size_t g = 0; g < o->genes; g++) {
        const ec_gene *gene = &info->genes[g];
        o->fixed[g] = gene->min;
        if (!(gene->min < gene->max))
            continue;
        space->gene[i] = (uint32_t)g;
        space->cells[i] = count_cells(gene);
        space->integral += space->cells[i] > 0;
        space->lower[i] = gene->min;
        space->range[i++] = gene->max - gene->min;
    }
    for (size_t r = 0; r < o->n_start; r++)
        for (size_t g = 0; g < o->genes; g++)
            o->start[r * o->genes + g] = ec_method_start(info, r, g);
}

static void coordinates_of(const ec_cmaes *o, const double *design, double *coordinate)
{
    for (uint32_t i = 0; i < o->space.n; i++)
        coordinate[i] = ec_cmaes_to_coordinate(&o->space, i, design[o->space.gene[i]]);
}

/* Uniform in the box; draws of the run's number. */
static void random_mean(const ec_cmaes *o, double *mean)
{
    ec_random_stream stream = ec_random_make(o->seed, o->now->runs, PURPOSE_RESTART, o->island);

    for (uint32_t i = 0; i < o->space.n; i++) {
        uint32_t words[4];
        ec_random_words(&stream, i, 0, words);
        mean[i] = ec_uniform_52_open(words[0], words[1]);
    }
}

static void first_run(ec_cmaes *o)
{
    o->now->stats.best_cost = o->now->stats.best_violation = INFINITY;
    o->now->stats.best_class = 2;
    o->now->stats.population = o->lambda;
    if (o->n_start > 0)
        coordinates_of(o, o->start, o->row);
    else
        random_mean(o, o->row);
    ec_cmaes_run_begin(&o->run, o->lambda, o->sigma, o->row, 0);
    o->now->run = o->run.numbers;
}

static void destroy(ec_optimizer **optimizer)
{
    ec_cmaes *o = optimizer && *optimizer ? self(*optimizer) : NULL;

    if (!o)
        return;
    ec_host_population_release(&o->population);
    free(o->state);
    free(o->work);
    free(o);
    *optimizer = NULL;
}

static int create(const ec_optimizer_def *def, ec_backend *backend, const ec_optimizer_info *info,
                  ec_optimizer **optimizer)
{
    ec_cmaes *o = (ec_cmaes *)calloc(1, sizeof *o);

    if (!o)
        return ec_fail(EC_ERR_MEMORY, "cmaes: no memory");
    o->base.def = def;
    o->base.backend = backend;
    ec_optimizer *fresh = &o->base;
    int status = configure(o, def, info);
    if (status == EC_OK)
        status = allocate(o);
    if (status == EC_OK)
        status = ec_host_population_create(&o->population, backend, info, o->lambda_max);
    if (status != EC_OK) {
        destroy(&fresh);
        return status;
    }
    fill_space(o, info);
    first_run(o);
    *optimizer = fresh;
    return EC_OK;
}

static size_t max_population(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->lambda_max;
}

static const ec_optimizer_stats *stats_of(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->population.device_stats;
}

static void set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->population.stop = stop;
}

/* ---- propose ---- */

static void put_design(ec_cmaes *o, uint32_t c, const double *design)
{
    for (size_t g = 0; g < o->genes; g++)
        o->population.X[g * o->population.ld + c] = design[g];
}

static int propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG, const int32_t **group_map,
                   size_t *n)
{
    ec_cmaes *o = self(optimizer);
    uint32_t generation = o->now->stats.generation, lambda = o->run.numbers.lambda;
    ec_random_stream stream = ec_random_make(o->seed, generation, PURPOSE_SAMPLE, o->island);
    double *x = o->population.X;

    (void)XG;
    *n = 0;
    if (o->run.numbers.end) /* and there are no restarts */
        return EC_OK;
    ec_host_population_resize(&o->population, lambda);
    size_t ld = o->population.ld;
    for (size_t g = 0; g < o->genes; g++)
        for (size_t c = 0; c < lambda; c++)
            x[g * ld + c] = o->fixed[g];
    ec_cmaes_run_sample(&o->run, &stream, x, ld);
    for (uint32_t c = 0; generation == 0 && c < o->n_start; c++) {
        coordinates_of(o, o->start + c * o->genes, o->row);
        ec_cmaes_run_inject(&o->run, c, o->row);
        put_design(o, c, o->start + c * o->genes);
    }
    if (group_map)
        *group_map = NULL;
    *n = lambda;
    o->proposed = true;
    return ec_host_population_propose(&o->population, lambda, X);
}

/* ---- take: designs that are kept ---- */

static bool is_better(const kept_design *a, const kept_design *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->kind == 1 && a->violation != b->violation)
        return a->violation < b->violation;
    return a->kind < 2 && a->cost < b->cost;
}

/* Row for a design that enters the list, NULL when it is no better than all of a full one. */
static double *keep_design(kept_list *list, double *rows, size_t genes, const kept_design *design)
{
    size_t place = list->n;

    while (place > 0 && is_better(design, &list->entry[place - 1]))
        place--;
    if (place == KEPT)
        return NULL;
    uint32_t row = list->n < KEPT ? (uint32_t)list->n : list->entry[KEPT - 1].row;
    size_t behind = (list->n < KEPT ? list->n : KEPT - 1) - place;
    memmove(list->entry + place + 1, list->entry + place, behind * sizeof *list->entry);
    list->entry[place] = *design;
    list->entry[place].row = row;
    list->n = list->n < KEPT ? list->n + 1 : KEPT;
    return rows + row * genes;
}

static void copy_design(const ec_cmaes *o, uint32_t c, double *to)
{
    for (size_t g = 0; g < o->genes; g++)
        to[g] = o->population.X[g * o->population.ld + c];
}

static kept_design design_at(const ec_cmaes *o, const ranked *r)
{
    const ec_host_population *p = &o->population;
    uint8_t status = p->status[r->index];
    kept_design d = {.kind = r->kind, .status = status};

    /* of a failed design only its status is known */
    d.cost = r->kind < 2 ? p->cost[r->index] : INFINITY;
    d.violation = r->kind == 2 ? INFINITY : r->kind == 1 ? p->violation[r->index] : 0.0;
    if (r->kind == 2 && !status)
        d.status = EC_CANDIDATE_NOT_FINITE;
    return d;
}

/* The first n designs of the order, best first. */
static void keep_best(ec_cmaes *o, size_t n)
{
    for (size_t i = 0; i < n && i < KEPT; i++) {
        kept_design d = design_at(o, &o->order[i]);
        double *row = keep_design(&o->now->best, o->best_genes, o->genes, &d);
        if (!row)
            break;
        copy_design(o, o->order[i].index, row);
    }
    kept_design d = design_at(o, &o->order[0]);
    if (!o->now->run_has_best || is_better(&d, &o->now->run_best)) {
        o->now->run_best = d;
        o->now->run_has_best = 1;
        copy_design(o, o->order[0].index, o->run_best_genes);
    }
}

/* ---- take: order and statistics ---- */

static int compare_ranked(const void *x, const void *y)
{
    const ranked *a = (const ranked *)x, *b = (const ranked *)y;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->violation != b->violation)
        return a->violation < b->violation ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts the n designs; returns how many did not fail. */
static uint32_t rank_designs(ec_cmaes *o, size_t n)
{
    const ec_host_population *p = &o->population;
    uint32_t good = 0;

    for (uint32_t c = 0; c < n; c++) {
        ranked r = {0, 0, (uint32_t)ec_host_population_class(p, c), c};
        if (r.kind < 2) {
            r.cost = p->cost[c];
            r.violation = r.kind == 1 ? p->violation[c] : 0.0;
            good++;
        }
        o->order[c] = r;
    }
    qsort(o->order, n, sizeof *o->order, compare_ranked);
    for (size_t i = 0; i < n; i++)
        o->rank[i] = o->order[i].index;
    return good;
}

/* Widest share of a gene's range that the n designs take. */
static double find_spread(const ec_cmaes *o, size_t n)
{
    double widest = 0;

    for (uint32_t i = 0; i < o->space.n; i++) {
        const double *x = o->population.X + o->space.gene[i] * o->population.ld;
        double least = x[0], most = x[0];
        for (size_t c = 1; c < n; c++) {
            least = x[c] < least ? x[c] : least;
            most = x[c] > most ? x[c] : most;
        }
        double spread = (most - least) / o->space.range[i];
        widest = spread > widest ? spread : widest;
    }
    return widest;
}

static void update_stats(ec_cmaes *o, size_t n, uint32_t good)
{
    ec_optimizer_stats *s = &o->now->stats;
    const kept_design *best = &o->now->best.entry[0];

    s->generation++;
    s->evaluations += n;
    s->failed += n - good;
    s->population = (uint32_t)n;
    s->feasible = 0;
    for (size_t i = 0; i < good && o->order[i].kind == 0; i++)
        s->feasible++;
    if (n > 0) {
        s->best_cost = best->cost;
        s->best_violation = best->violation;
        s->best_class = best->kind;
        s->spread = find_spread(o, n);
    }
}

/* ---- take: restarts ---- */

static double restart_uniform(const ec_cmaes *o, uint32_t which)
{
    ec_random_stream stream = ec_random_make(o->seed, o->now->runs, PURPOSE_RESTART, o->island);
    uint32_t words[4];

    ec_random_words(&stream, which, 1, words);
    return ec_uniform(words[0]);
}

static uint32_t large_population(const ec_cmaes *o)
{
    size_t lambda = (size_t)o->lambda << o->now->doublings;

    return lambda < o->lambda_max ? (uint32_t)lambda : o->lambda_max;
}

/* Between the first population and half of the large one, and the smaller the likelier. */
static uint32_t small_population(const ec_cmaes *o)
{
    double u = restart_uniform(o, 0);
    double ratio = 0.5 * large_population(o) / o->lambda;
    double lambda = ec_det_floor(o->lambda * ec_det_pow(ratio, u * u));

    return lambda > o->lambda ? (uint32_t)lambda : o->lambda;
}

static void account_run(ec_cmaes *o)
{
    control *now = o->now;
    uint64_t evaluations = o->run.numbers.evaluations;

    ec_log_write(o->log, EC_LOG_DEBUG,
                 "cmaes: run %u ended (%s) after %u generations of %u designs, best %.10g",
                 now->runs + 1, ec_cmaes_end_name((int)o->run.numbers.end),
                 o->run.numbers.generation, o->run.numbers.lambda, now->run_best.cost);
    double *row = keep_design(&now->winners, o->winner_genes, o->genes, &now->run_best);
    if (row)
        memcpy(row, o->run_best_genes, o->genes * sizeof *row);
    now->run_has_best = 0;
    if (now->is_small)
        now->used_small += evaluations;
    else if (now->runs > 0)
        now->used_large += evaluations;
    if (!now->is_small)
        now->last_large = evaluations, now->last_generations = o->run.numbers.generation;
    now->stats.restarts = ++now->runs;
}

/* Whether a run of the large population is likely to end within half of what the budget has left. */
static bool has_room(const ec_cmaes *o)
{
    uint64_t used = o->now->stats.evaluations;
    uint64_t left = o->evaluations > used ? o->evaluations - used : 0;

    return o->evaluations == 0 || 2 * o->now->last_generations * large_population(o) <= left;
}

static void restart(ec_cmaes *o)
{
    control *now = o->now;
    double sigma = o->sigma;
    uint64_t evaluations_max = 0;
    uint32_t lambda;

    account_run(o);
    now->is_small =
        o->restarts == RESTART_BIPOP && now->runs > 1 && now->used_small < now->used_large;
    if (now->is_small) {
        lambda = small_population(o);
        sigma *= ec_det_exp(-2.0 * 2.302585092994046 * restart_uniform(o, 1));
        evaluations_max = now->last_large / 2;
    } else {
        now->doublings += now->doublings < DOUBLINGS_MAX;
        while (now->doublings > 0 && !has_room(o))
            now->doublings--;
        lambda = large_population(o);
    }
    random_mean(o, o->row);
    ec_cmaes_run_begin(&o->run, lambda, sigma, o->row, evaluations_max);
}

/* ---- take ---- */

static void learn(ec_cmaes *o, uint32_t good)
{
    uint32_t lambda = o->run.numbers.lambda;
    uint32_t quarter = (uint32_t)(1.1 + 0.25 * lambda);
    const ranked *best = &o->order[0], *median = &o->order[lambda / 2];
    ec_cmaes_outcome outcome = {.rank = o->rank, .good = good};

    quarter = quarter < lambda ? quarter : lambda - 1;
    const kept_list *winners = &o->now->winners;
    bool known = winners->n > 0 && winners->entry[0].kind == best->kind;
    const ranked *other = &o->order[quarter];
    outcome.best_class = best->kind;
    outcome.median_class = median->kind;
    outcome.best = best->kind == 1 ? best->violation : best->cost;
    outcome.median = median->kind == 1 ? median->violation : median->cost;
    outcome.equal = other->kind == best->kind && other->cost == best->cost &&
                    other->violation == best->violation;
    outcome.known = INFINITY;
    if (known)
        outcome.known = best->kind == 1 ? winners->entry[0].violation : winners->entry[0].cost;
    ec_cmaes_run_learn(&o->run, &outcome);
}

static int take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    ec_cmaes *o = self(optimizer);
    bool stopped = false;

    if (!o->proposed || n > o->run.numbers.lambda)
        return ec_fail(EC_ERR_INTERNAL, "cmaes: take of %zu designs without their propose", n);
    int status = ec_host_population_fetch(&o->population, scores, n, &stopped);
    if (status != EC_OK || stopped)
        return status;
    o->proposed = false;
    uint32_t good = rank_designs(o, n);
    if (n > 0)
        keep_best(o, n);
    update_stats(o, n, good);
    if (n == o->run.numbers.lambda)
        learn(o, good);
    if (o->run.numbers.end && o->restarts != RESTART_NONE)
        restart(o);
    o->now->run = o->run.numbers;
    o->population.stats = o->now->stats;
    return ec_host_population_stats(&o->population);
}

/* ---- results ---- */

/* The next design of two sorted lists; those of the second that are in the first are left out. */
static int elite(ec_optimizer *optimizer, size_t k, double *X, double *cost, double *violation,
                 uint8_t *candidate_status, size_t *found)
{
    ec_cmaes *o = self(optimizer);
    const kept_list *best = &o->now->best;
    kept_list winners = o->now->winners;
    size_t a = 0, b = 0, count = 0;

    while (count < k && (a < best->n || b < winners.n)) {
        bool first =
            b == winners.n || (a < best->n && !is_better(&winners.entry[b], &best->entry[a]));
        const kept_design *d = first ? &best->entry[a++] : &winners.entry[b++];
        const double *row = (first ? o->best_genes : o->winner_genes) + d->row * o->genes;
        bool again = false;
        for (size_t i = 0; i < best->n && !first && !again; i++)
            again = memcmp(o->best_genes + best->entry[i].row * o->genes, row,
                           o->genes * sizeof *row) == 0;
        if (again)
            continue;
        if (X)
            memcpy(X + count * o->genes, row, o->genes * sizeof *row);
        if (cost)
            cost[count] = d->cost;
        if (violation)
            violation[count] = d->violation;
        if (candidate_status)
            candidate_status[count] = (uint8_t)d->status;
        count++;
    }
    if (found)
        *found = count;
    return EC_OK;
}

/* ---- save and load ---- */

static ec_method_state describe_state(const ec_cmaes *o)
{
    enum { VERSION = 2 };
    ec_method_state s = {.def = o->base.def,
                         .version = VERSION,
                         .island = o->island,
                         .seed = o->seed,
                         .bytes = o->state_bytes};

    ec_method_state_add(&s, "variables", (double)o->genes);
    ec_method_state_add(&s, "free variables", o->space.n);
    ec_method_state_add(&s, "population", o->lambda);
    ec_method_state_add(&s, "largest population", o->lambda_max);
    ec_method_state_add(&s, "restarts", (double)o->restarts);
    ec_method_state_add(&s, "active", o->run.active);
    ec_method_state_add(&s, "start designs", o->n_start);
    ec_method_state_add(&s, "sigma", o->sigma);
    ec_method_state_add(&s, "tolerance", o->run.tolerance);
    return s;
}

static int save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    ec_cmaes *o = self(optimizer);
    ec_method_state s = describe_state(o);

    return ec_method_state_save(&s, NULL, o->state, o->state_bytes, blob, bytes);
}

static bool list_is_sound(const kept_list *list)
{
    bool sound = list->n <= KEPT;

    for (size_t i = 0; sound && i < list->n; i++)
        sound = list->entry[i].row < KEPT;
    return sound;
}

static int load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_cmaes *o = self(optimizer);
    ec_method_state fits = describe_state(o);
    control now;
    const char *state;

    int status = ec_method_state_open(&fits, blob, bytes, &state, &bytes);
    if (status != EC_OK)
        return status;
    memcpy(&now, state, sizeof now);
    if (now.run.lambda < 2 || now.run.lambda > o->lambda_max || now.doublings > DOUBLINGS_MAX ||
        !list_is_sound(&now.best) || !list_is_sound(&now.winners))
        return ec_fail(EC_ERR_FORMAT, "the saved state is damaged");
    memcpy(o->state, state, o->state_bytes);
    o->run.numbers = now.run;
    ec_cmaes_run_resume(&o->run);
    o->proposed = false;
    o->population.stats = now.stats;
    return ec_host_population_stats(&o->population);
}

/* ---- the method ---- */

static const ec_option_def options[] = {
    {"sigma", EC_OPTION_NUMBER, 0.3, 1e-6, 1, NULL,
     "first standard deviation, as a share of each variable's range"},
    {"restarts", EC_OPTION_WORD, RESTART_BIPOP, 0, 2, "bipop|ipop|none",
     "after a run has converged: large and small populations in turn, ever larger ones, or no "
     "other run"},
    {"active", EC_OPTION_FLAG, 1, 0, 1, NULL, "learn from the worst designs too"},
    {"tolerance", EC_OPTION_NUMBER, 1e-12, 0, 1e300, NULL,
     "a run has converged when its best costs differ by no more"},
};

const ec_optimizer_def ec_cmaes_method = {
    .name = "cmaes",
    .help = "CMA-ES with restarts: learns scales and correlations of real variables, up to a few "
            "hundred (Hansen 2016; BIPOP: Hansen 2009)",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .flags = EC_OPTIMIZER_ON_HOST,
    .min_population = 4,
    .create = create,
    .destroy = destroy,
    .max_population = max_population,
    .propose = propose,
    .take = take,
    .elite = elite,
    .stats = stats_of,
    .set_stop_flag = set_stop_flag,
    .save = save,
    .load = load,
};
