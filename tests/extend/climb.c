/* climb.c: see climb.h. The state is a head of plain figures, the centre and its scores; it lies in host memory. */
#include "climb.h"

#include "core/random.h"
#include "optimizers/host_population.h"
#include "optimizers/method_info.h"
#include "optimizers/method_state.h"

#include <stdlib.h>
#include <string.h>

enum { POPULATION = 16, POPULATION_MAX = 1 << 18 };
enum { STEP, OPTIONS };
enum { PLACES, STEPS }; /* purposes of random numbers */

static const ec_option_def options[OPTIONS] = {
    {"step", EC_OPTION_NUMBER, 0.2, 1e-6, 1, NULL, "first step, in parts of a variable's range"},
};

/* What a saved state has, besides the centre's genes. */
typedef struct climb_state {
    ec_optimizer_stats stats;
    double step, cost, violation;
    uint32_t class; /* of the centre; 3: there is none yet */
    uint32_t status;
} climb_state;

typedef struct climb {
    ec_optimizer base; /* first: the solve loop sees this part */
    ec_host_population population;
    size_t n, genes, n_start, proposed;
    uint64_t seed;
    uint32_t island;
    double first_step;
    ec_gene *gene;
    double *start; /* n_start rows */
    climb_state s;
    double *centre;
} climb;

/* ---- create and destroy ---- */

static void climb_destroy(ec_optimizer **optimizer)
{
    climb *c = (climb *)*optimizer;

    if (!c)
        return;
    ec_host_population_release(&c->population);
    free(c->gene);
    free(c->start);
    free(c->centre);
    free(c);
    *optimizer = NULL;
}

static int fill(climb *c, ec_backend *backend, const ec_optimizer_info *info)
{
    c->gene = malloc(c->genes * sizeof *c->gene);
    c->start = malloc((c->n_start * c->genes + 1) * sizeof *c->start);
    c->centre = calloc(c->genes, sizeof *c->centre);
    if (!c->gene || !c->start || !c->centre)
        return ec_fail(EC_ERR_MEMORY, "climb: no memory for %zu variables", c->genes);
    memcpy(c->gene, info->genes, c->genes * sizeof *c->gene);
    for (size_t r = 0; r < c->n_start; r++)
        for (size_t g = 0; g < c->genes; g++)
            c->start[r * c->genes + g] = ec_method_start(info, r, g);
    return ec_host_population_create(&c->population, backend, info, c->n);
}

static int climb_create(const ec_optimizer_def *def, ec_backend *backend,
                        const ec_optimizer_info *info, ec_optimizer **optimizer)
{
    int status = ec_method_check(def, info, POPULATION_MAX);

    if (status != EC_OK)
        return status;
    climb *c = calloc(1, sizeof *c);
    if (!c)
        return ec_fail(EC_ERR_MEMORY, "climb: no memory");
    c->base = (ec_optimizer){def, backend};
    c->n = info->population ? info->population : POPULATION;
    c->genes = info->n_genes;
    c->n_start = info->n_start < c->n ? info->n_start : c->n;
    c->seed = info->seed;
    c->island = info->island;
    c->first_step = c->s.step = ec_method_option(def, info, "step");
    c->s.class = 3;
    c->s.cost = c->s.violation = INFINITY;
    status = fill(c, backend, info);
    *optimizer = &c->base;
    if (status == EC_OK)
        c->s.stats = c->population.stats;
    else
        climb_destroy(optimizer);
    return status;
}

/* ---- a generation ---- */

/* Gene g of candidate i: a start, a random place, or a step away from the centre. */
static double draw(const climb *c, size_t g, size_t i)
{
    const ec_gene *gene = &c->gene[g];
    uint32_t generation = c->s.stats.generation, words[4];
    bool lost = c->s.class >= 2; /* no centre, or none that could be scored */

    if (generation == 0 && i < c->n_start)
        return c->start[i * c->genes + g];
    ec_random_stream stream = ec_random_make(c->seed, generation, lost ? PLACES : STEPS, c->island);
    ec_random_words(&stream, (uint32_t)g, (uint32_t)i, words);
    double range = gene->max - gene->min;
    if (lost)
        return gene->min + range * ec_uniform_53(words[0], words[1]);
    double x = c->centre[g] + c->s.step * range * ec_normal(ec_uniform_52_open(words[0], words[1]));
    return x < gene->min ? gene->min : x > gene->max ? gene->max : x;
}

static int climb_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG,
                         const int32_t **group_map, size_t *n)
{
    climb *c = (climb *)optimizer;

    (void)XG;
    if (group_map)
        *group_map = NULL;
    for (size_t g = 0; g < c->genes; g++)
        for (size_t i = 0; i < c->n; i++)
            c->population.X[g * c->population.ld + i] = draw(c, g, i);
    *n = c->proposed = c->n;
    return ec_host_population_propose(&c->population, c->n, X);
}

/* The order of optimizer.h: class, then violation, then cost; an equal design does not win. */
static bool is_better(const climb *c, uint32_t class, double violation, double cost)
{
    if (class != c->s.class || class == 2)
        return class < c->s.class;
    if (violation != c->s.violation)
        return violation < c->s.violation;
    return cost < c->s.cost;
}

static bool move_centre(climb *c, size_t n)
{
    const ec_host_population *p = &c->population;
    bool better = false;

    for (size_t i = 0; i < n; i++) {
        uint32_t class = (uint32_t)ec_host_population_class(p, i);
        double violation = class == 2 ? INFINITY : p->violation ? p->violation[i] : 0;
        double cost = class == 2 ? INFINITY : p->cost[i];
        c->s.stats.failed += class == 2;
        c->s.stats.feasible += class == 0;
        if (!is_better(c, class, violation, cost))
            continue;
        better = true;
        c->s.class = class;
        c->s.violation = violation;
        c->s.cost = cost;
        c->s.status = class < 2 ? 0 : p->status[i] ? p->status[i] : EC_CANDIDATE_NOT_FINITE;
        for (size_t g = 0; g < c->genes; g++)
            c->centre[g] = p->X[g * p->ld + i];
    }
    return better;
}

/* Largest share of its range that a gene has over n designs. */
static double find_spread(const climb *c, size_t n)
{
    double spread = 0;

    for (size_t g = 0; g < c->genes; g++) {
        const double *x = c->population.X + g * c->population.ld;
        double low = x[0], high = x[0], range = c->gene[g].max - c->gene[g].min;
        for (size_t i = 1; i < n; i++) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
        if (range > 0 && (high - low) / range > spread)
            spread = (high - low) / range;
    }
    return spread;
}

static int climb_take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    climb *c = (climb *)optimizer;
    ec_optimizer_stats *stats = &c->s.stats;
    bool stopped = false;

    if (n > c->proposed)
        return ec_fail(EC_ERR_ARGUMENT, "climb: %zu scores for %zu designs", n, c->proposed);
    int status = ec_host_population_fetch(&c->population, scores, n, &stopped);
    if (status != EC_OK || stopped)
        return status;
    c->proposed = 0;
    stats->feasible = 0;
    c->s.step *= move_centre(c, n) ? 1.5 : 0.8;
    if (c->s.step < 1e-9 || c->s.step > 1)
        c->s.step = c->first_step;
    stats->evaluations += n;
    stats->generation++;
    stats->population = (uint32_t)n;
    stats->best_class = c->s.class;
    stats->best_cost = c->s.cost;
    stats->best_violation = c->s.violation;
    stats->spread = find_spread(c, n);
    c->population.stats = *stats;
    return ec_host_population_stats(&c->population);
}

/* ---- what the loop asks ---- */

static size_t climb_max_population(const ec_optimizer *optimizer)
{
    return ((const climb *)optimizer)->n;
}

static const ec_optimizer_stats *climb_stats(const ec_optimizer *optimizer)
{
    return ((const climb *)optimizer)->population.device_stats;
}

static void climb_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    ((climb *)optimizer)->population.stop = stop;
}

/* The method holds one design. */
static int climb_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost,
                       double *violation, uint8_t *status, size_t *found)
{
    const climb *c = (const climb *)optimizer;
    bool any = k > 0 && c->s.class < 3;

    *found = any ? 1 : 0;
    if (any && X)
        memcpy(X, c->centre, c->genes * sizeof *X);
    if (any && cost)
        *cost = c->s.cost;
    if (any && violation)
        *violation = c->s.violation;
    if (any && status)
        *status = (uint8_t)c->s.status;
    return EC_OK;
}

/* ---- save and load ---- */

static ec_method_state describe_state(const climb *c)
{
    enum { VERSION = 1 };
    ec_method_state s = {.def = c->base.def,
                         .version = VERSION,
                         .island = c->island,
                         .seed = c->seed,
                         .bytes = sizeof c->s + c->genes * sizeof *c->centre};

    ec_method_state_add(&s, "variables", (double)c->genes);
    ec_method_state_add(&s, "population", (double)c->n);
    ec_method_state_add(&s, "step", c->first_step);
    return s;
}

static int climb_save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    const climb *c = (const climb *)optimizer;
    ec_method_state s = describe_state(c);
    char *state = malloc(s.bytes);

    if (!state)
        return ec_fail(EC_ERR_MEMORY, "climb: no memory for a state of %zu bytes", s.bytes);
    memcpy(state, &c->s, sizeof c->s);
    memcpy(state + sizeof c->s, c->centre, c->genes * sizeof *c->centre);
    int status = ec_method_state_save(&s, NULL, state, s.bytes, blob, bytes);
    free(state);
    return status;
}

static int climb_load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    climb *c = (climb *)optimizer;
    ec_method_state s = describe_state(c);
    const char *at;

    int status = ec_method_state_open(&s, blob, bytes, &at, &bytes);
    if (status != EC_OK)
        return status;
    memcpy(&c->s, at, sizeof c->s);
    memcpy(c->centre, at + sizeof c->s, c->genes * sizeof *c->centre);
    c->population.stats = c->s.stats;
    return ec_host_population_stats(&c->population);
}

const ec_optimizer_def ec_climb_method = {
    .name = "climb",
    .help = "random local search with a step that adapts",
    .options = options,
    .n_options = OPTIONS,
    .flags = EC_OPTIMIZER_ON_HOST,
    .min_population = 1,
    .create = climb_create,
    .destroy = climb_destroy,
    .max_population = climb_max_population,
    .propose = climb_propose,
    .take = climb_take,
    .elite = climb_elite,
    .stats = climb_stats,
    .set_stop_flag = climb_set_stop_flag,
    .save = climb_save,
    .load = climb_load,
};
