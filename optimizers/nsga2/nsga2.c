/* nsga2.c: NSGA-II: an elitist genetic algorithm for several objectives.
 * Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist multiobjective genetic algorithm:
 * NSGA-II", IEEE Trans. Evol. Comput. 6 (2002), 182-197.
 *
 * A generation has as many children as the population members. Members and children together are
 * put in order (pareto.h: constrained domination, then crowding) and the first ones are the next
 * population; so a member's place is its fitness, and a tournament takes the smaller place.
 * Children: nsga2_variation.h. With one objective it is an elitist genetic algorithm.
 *
 * State in host memory: row[i] are the genes of member i for i < n_members, room for children
 * behind; scores by the same index. */
#include "nsga2_variation.h"
#include "optimizers/host_population.h"
#include "pareto.h"
#include "optimizers/method_info.h"
#include "optimizers/method_state.h"

#include <stdlib.h>
#include <string.h>

enum { POPULATION_MAX = 1 << 18, GENES_MAX = 1 << 20 };
enum { CROSSOVER, CROSSOVER_ETA, MUTATION, MUTATION_ETA, OPTIONS };

static const ec_option_def options[OPTIONS] = {
    {"crossover", EC_OPTION_NUMBER, 0.9, 0, 1, NULL,
     "probability that two parents are crossed over"},
    {"crossover_eta", EC_OPTION_NUMBER, 15, 0, 1000, NULL,
     "distribution index of the crossover: the larger, the nearer children are to their parents"},
    {"mutation", EC_OPTION_NUMBER, 0, 0, 1, NULL,
     "probability that a variable's element is mutated; 0 is one over their number"},
    {"mutation_eta", EC_OPTION_NUMBER, 20, 0, 1000, NULL,
     "distribution index of the mutation: the larger, the smaller its steps"},
};

typedef struct ec_nsga2 {
    ec_optimizer base;
    ec_host_population population;
    ec_variation variation;
    ec_pareto *pareto;
    size_t n, width, objectives;
    ec_gene *genes;
    uint32_t *free_genes;
    double *start; /* n_start rows inside the bounds */
    size_t n_start;

    size_t n_members, n_proposed;
    double *pool; /* the genes; rows of width */
    double **row;
    double *cost; /* [objectives], ld */
    double *violation;
    uint8_t *status;
    size_t ld; /* members and children */

    /* work of a take */
    double **old_row;
    double *old_cost, *old_violation, *crowding;
    uint8_t *old_status;
    uint32_t *rank, *order;
} ec_nsga2;

static ec_nsga2 *self(ec_optimizer *optimizer)
{
    return (ec_nsga2 *)optimizer;
}

static const ec_nsga2 *self_const(const ec_optimizer *optimizer)
{
    return (const ec_nsga2 *)optimizer;
}

/* ---- create ---- */

static int check_sets(const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    uint32_t count = 0;

    for (size_t g = 0; g < info->n_genes; g++) {
        const ec_gene *gene = &info->genes[g], *next = gene + 1;
        bool last = g + 1 == info->n_genes || next->set != gene->set;
        if (gene->set == 0)
            continue;
        count++;
        if (!gene->integral || gene->min != 0 || gene->max != 1)
            return ec_fail(EC_ERR_ARGUMENT, "%s: variable %zu is not binary, but one of a set",
                           def->name, g + 1);
        if (last && gene->ones > count)
            return ec_fail(EC_ERR_ARGUMENT, "%s: %u ones among %u binary variables", def->name,
                           gene->ones, count);
        count = last ? 0 : count;
    }
    return EC_OK;
}

static int check_info(const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    int status = ec_method_check(def, info, POPULATION_MAX);
    if (status < 0)
        return status;
    if (info->n_genes > GENES_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "%s: %zu variables, at most %d are allowed", def->name,
                       info->n_genes, GENES_MAX);
    if (info->n_objectives > EC_OBJECTIVES_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED, "%s: %zu objectives, at most %d are allowed", def->name,
                       info->n_objectives, EC_OBJECTIVES_MAX);
    return check_sets(def, info);
}

static double option(const ec_optimizer_info *info, int i)
{
    return info->options ? info->options[i] : options[i].initial;
}

static void configure(ec_nsga2 *ga, const ec_optimizer_info *info)
{
    ec_variation *v = &ga->variation;

    memcpy(ga->genes, info->genes, ga->width * sizeof *ga->genes);
    for (size_t i = 0; i < ga->width; i++)
        if (ga->genes[i].min < ga->genes[i].max)
            ga->free_genes[v->n_free++] = (uint32_t)i;
    v->genes = ga->genes;
    v->n_genes = ga->width;
    for (size_t i = 0; i < ga->n_start; i++) {
        for (size_t g = 0; g < ga->width; g++)
            ga->start[i * ga->width + g] = ec_method_start(info, i, g);
        ec_variation_settle(v, ga->start + i * ga->width, ga->pool);
    }
    v->free_genes = ga->free_genes;
    v->crossover = option(info, CROSSOVER);
    v->crossover_eta = option(info, CROSSOVER_ETA);
    v->mutation = option(info, MUTATION);
    if (v->mutation == 0 && v->n_free > 0)
        v->mutation = 1.0 / (double)v->n_free;
    v->mutation_eta = option(info, MUTATION_ETA);
    v->seed = info->seed;
    v->island = info->island;
    v->threads = ec_host_threads(ga->base.backend);
}

static int allocate(ec_nsga2 *ga)
{
    size_t rows = 2 * ga->n + 1, costs = ga->objectives * rows; /* + 1: children come in pairs */

    ga->ld = rows;
    ga->genes = (ec_gene *)malloc(ga->width * sizeof *ga->genes);
    ga->free_genes = (uint32_t *)malloc(ga->width * sizeof *ga->free_genes);
    ga->start = (double *)malloc((ga->n_start * ga->width + 1) * sizeof *ga->start);
    ga->pool = (double *)malloc(rows * ga->width * sizeof *ga->pool);
    ga->row = (double **)malloc(2 * rows * sizeof *ga->row);
    ga->cost = (double *)malloc(2 * (costs + rows) * sizeof *ga->cost);
    ga->crowding = (double *)malloc(rows * sizeof *ga->crowding);
    ga->status = (uint8_t *)malloc(2 * rows);
    ga->rank = (uint32_t *)malloc(2 * rows * sizeof *ga->rank);
    if (!ga->genes || !ga->free_genes || !ga->start || !ga->pool || !ga->row || !ga->cost ||
        !ga->crowding || !ga->status || !ga->rank)
        return ec_fail(EC_ERR_MEMORY, "nsga2: no memory for %zu designs of %zu variables", ga->n,
                       ga->width);
    for (size_t i = 0; i < rows; i++)
        ga->row[i] = ga->pool + i * ga->width;
    ga->old_row = ga->row + rows;
    ga->violation = ga->cost + costs;
    ga->old_cost = ga->violation + rows;
    ga->old_violation = ga->old_cost + costs;
    ga->old_status = ga->status + rows;
    ga->order = ga->rank + rows;
    return EC_OK;
}

static void nsga2_destroy(ec_optimizer **optimizer)
{
    ec_nsga2 *ga = optimizer ? self(*optimizer) : NULL;

    if (!ga)
        return;
    ec_host_population_release(&ga->population);
    ec_pareto_destroy(&ga->pareto);
    free(ga->genes);
    free(ga->free_genes);
    free(ga->start);
    free(ga->pool);
    free(ga->row);
    free(ga->cost);
    free(ga->crowding);
    free(ga->status);
    free(ga->rank);
    free(ga);
    *optimizer = NULL;
}

static int nsga2_create(const ec_optimizer_def *def, ec_backend *backend,
                        const ec_optimizer_info *info, ec_optimizer **optimizer)
{
    size_t objectives = info->n_objectives > 0 ? info->n_objectives : 1;
    size_t population = info->population ? info->population : objectives > 2 ? 200 : 100;

    int status = check_info(def, info);
    if (status != EC_OK)
        return status;
    ec_nsga2 *ga = (ec_nsga2 *)calloc(1, sizeof *ga);
    if (!ga)
        return ec_fail(EC_ERR_MEMORY, "nsga2: no memory");
    ga->base.def = def;
    ga->base.backend = backend;
    ga->n = population;
    ga->width = info->n_genes;
    ga->objectives = objectives;
    ga->n_start = info->n_start < population ? info->n_start : population;
    status = allocate(ga);
    if (status == EC_OK) {
        configure(ga, info);
        status = ec_host_population_create(&ga->population, backend, info, population);
    }
    if (status == EC_OK)
        status = ec_pareto_create(2 * population, (int32_t)objectives, ga->variation.threads,
                                  &ga->pareto);
    ec_optimizer *made = &ga->base;
    if (status != EC_OK)
        nsga2_destroy(&made);
    *optimizer = made;
    return status;
}

static size_t nsga2_max_population(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->n;
}

static const ec_optimizer_stats *nsga2_stats(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->population.device_stats;
}

static void nsga2_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->population.stop = stop;
}

/* ---- propose ---- */

static void first_designs(ec_nsga2 *ga)
{
    for (size_t i = 0; i < ga->n; i++)
        if (i < ga->n_start)
            memcpy(ga->row[i], ga->start + i * ga->width, ga->width * sizeof(double));
        else
            ec_variation_first(&ga->variation, (uint32_t)i, ga->row[i]);
}

static int nsga2_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG,
                         const int32_t **group_map, size_t *n)
{
    enum { STRIP = 64 }; /* candidates whose genes are turned round together */
    ec_nsga2 *ga = self(optimizer);
    double *const *child = ga->row + ga->n_members;
    int64_t strips = (int64_t)((ga->n + STRIP - 1) / STRIP);

    (void)XG;
    if (group_map)
        *group_map = NULL;
    if (ga->n_members == 0)
        first_designs(ga);
    else
        ec_variation_children(&ga->variation, ga->population.stats.generation,
                              (const double *const *)ga->row, (uint32_t)ga->n_members, child,
                              ga->n);
#pragma omp parallel for schedule(static)                                                          \
    num_threads(ga->variation.threads) if (ga->variation.threads > 1 && strips > 8)
    for (int64_t s = 0; s < strips; s++) {
        size_t first = (size_t)s * STRIP, end = first + STRIP < ga->n ? first + STRIP : ga->n;
        for (size_t g = 0; g < ga->width; g++)
            for (size_t c = first; c < end; c++)
                ga->population.X[g * ga->population.ld + c] = child[c][g];
    }
    ga->n_proposed = ga->n;
    *n = ga->n;
    return ec_host_population_propose(&ga->population, ga->n, X);
}

/* ---- take ---- */

static int class_of(const ec_nsga2 *ga, size_t i)
{
    if (ga->status[i])
        return 2;
    return ga->violation[i] > 0 ? 1 : 0;
}

/* Scores of n children behind the members'; a failed one's are infinite. */
static void add_children(ec_nsga2 *ga, size_t n)
{
    const ec_host_population *p = &ga->population;

    for (size_t c = 0; c < n; c++) {
        size_t i = ga->n_members + c;
        bool failed = ec_host_population_class(p, c) == 2;
        for (size_t k = 0; k < ga->objectives; k++)
            ga->cost[k * ga->ld + i] = failed ? INFINITY : p->cost[k * p->ld + c];
        ga->violation[i] = failed ? INFINITY : p->violation ? p->violation[c] : 0;
        ga->status[i] = failed ? p->status[c] ? p->status[c] : EC_CANDIDATE_NOT_FINITE : 0;
        ga->population.stats.failed += failed;
    }
}

/* Puts m designs in order; the first n become the members. */
static void select_members(ec_nsga2 *ga, size_t m)
{
    ec_pareto_scores scores = {ga->cost, ga->ld, ga->violation, ga->status};

    ec_pareto_rank(ga->pareto, &scores, m, ga->rank, ga->crowding);
    ec_pareto_order(ga->pareto, ga->rank, ga->crowding, m, ga->order);
    memcpy(ga->old_row, ga->row, m * sizeof *ga->row);
    memcpy(ga->old_cost, ga->cost, ga->objectives * ga->ld * sizeof *ga->cost);
    memcpy(ga->old_violation, ga->violation, m * sizeof *ga->violation);
    memcpy(ga->old_status, ga->status, m);
    for (size_t i = 0; i < m; i++) {
        size_t from = ga->order[i];
        ga->row[i] = ga->old_row[from];
        for (size_t k = 0; k < ga->objectives; k++)
            ga->cost[k * ga->ld + i] = ga->old_cost[k * ga->ld + from];
        ga->violation[i] = ga->old_violation[from];
        ga->status[i] = ga->old_status[from];
    }
    ga->n_members = m < ga->n ? m : ga->n;
}

/* Largest share of its range that a gene has over the members. */
static double find_spread(const ec_nsga2 *ga)
{
    double spread = 0;

    for (size_t f = 0; f < ga->variation.n_free; f++) {
        size_t g = ga->free_genes[f];
        double min = ga->row[0][g], max = min;
        for (size_t i = 1; i < ga->n_members; i++) {
            double x = ga->row[i][g];
            min = x < min ? x : min;
            max = x > max ? x : max;
        }
        double share = (max - min) / (ga->genes[g].max - ga->genes[g].min);
        spread = share > spread ? share : spread;
    }
    return spread;
}

static void describe(ec_nsga2 *ga)
{
    ec_optimizer_stats *stats = &ga->population.stats;

    stats->best_class = (uint32_t)class_of(ga, 0);
    stats->best_cost = ga->cost[0];
    stats->best_violation = ga->violation[0];
    stats->feasible = 0;
    for (size_t i = 0; i < ga->n_members && class_of(ga, i) == 0; i++) {
        stats->best_cost = ga->cost[i] < stats->best_cost ? ga->cost[i] : stats->best_cost;
        stats->feasible++;
    }
    stats->spread = find_spread(ga);
    stats->population = (uint32_t)ga->n_members;
}

static int nsga2_take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    ec_nsga2 *ga = self(optimizer);
    bool stopped = false;

    if (ga->n_proposed == 0)
        return ec_fail(EC_ERR_INTERNAL, "nsga2: take without propose");
    if (n > ga->n_proposed)
        return ec_fail(EC_ERR_ARGUMENT, "nsga2: %zu scores for %zu designs", n, ga->n_proposed);
    int status = ec_host_population_fetch(&ga->population, scores, n, &stopped);
    if (status != EC_OK || stopped)
        return status;
    ga->n_proposed = 0;
    add_children(ga, n);
    if (ga->n_members + n > 0)
        select_members(ga, ga->n_members + n);
    ga->population.stats.evaluations += n;
    ga->population.stats.generation++;
    if (ga->n_members > 0)
        describe(ga);
    return ec_host_population_stats(&ga->population);
}

static int nsga2_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost,
                       double *violation, uint8_t *candidate_status, size_t *found)
{
    const ec_nsga2 *ga = self_const(optimizer);

    k = k < ga->n_members ? k : ga->n_members;
    for (size_t i = 0; i < k; i++) {
        if (X)
            memcpy(X + i * ga->width, ga->row[i], ga->width * sizeof *X);
        for (size_t m = 0; cost && m < ga->objectives; m++)
            cost[i * ga->objectives + m] = ga->cost[m * ga->ld + i];
        if (violation)
            violation[i] = ga->violation[i];
        if (candidate_status)
            candidate_status[i] = ga->status[i];
    }
    if (found)
        *found = k;
    return EC_OK;
}

/* ---- save and load ---- */

static ec_method_state describe_state(const ec_nsga2 *ga)
{
    enum { VERSION = 2 };
    const ec_variation *v = &ga->variation;
    ec_method_state s = {
        .def = ga->base.def, .version = VERSION, .island = v->island, .seed = v->seed};

    ec_method_state_add(&s, "variables", (double)ga->width);
    ec_method_state_add(&s, "objectives", (double)ga->objectives);
    ec_method_state_add(&s, "population", (double)ga->n);
    ec_method_state_add(&s, "crossover", v->crossover);
    ec_method_state_add(&s, "crossover_eta", v->crossover_eta);
    ec_method_state_add(&s, "mutation", v->mutation);
    ec_method_state_add(&s, "mutation_eta", v->mutation_eta);
    return s;
}

/* What the state begins with; the members follow. */
typedef struct state_head {
    ec_optimizer_stats stats;
    uint64_t n_members;
} state_head;

/* A member in a state: its genes, costs, violation and status, as doubles. */
static size_t member_bytes(const ec_nsga2 *ga)
{
    return (ga->width + ga->objectives + 2) * sizeof(double);
}

static int nsga2_save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    const ec_nsga2 *ga = self_const(optimizer);
    ec_method_state s = describe_state(ga);
    state_head head = {ga->population.stats, ga->n_members};
    size_t size = sizeof head + ga->n_members * member_bytes(ga);
    char *state = (char *)malloc(size), *at = state;

    if (!state)
        return ec_fail(EC_ERR_MEMORY, "no memory for a saved state of %zu bytes", size);
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (size_t i = 0; i < ga->n_members; i++) {
        double word = ga->status[i];
        memcpy(at, ga->row[i], ga->width * sizeof(double));
        at += ga->width * sizeof(double);
        for (size_t k = 0; k < ga->objectives; k++, at += sizeof(double))
            memcpy(at, &ga->cost[k * ga->ld + i], sizeof(double));
        memcpy(at, &ga->violation[i], sizeof(double));
        memcpy(at + sizeof(double), &word, sizeof word);
        at += 2 * sizeof(double);
    }
    int status = ec_method_state_save(&s, NULL, state, size, blob, bytes);
    free(state);
    return status;
}

static int nsga2_load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_nsga2 *ga = self(optimizer);
    ec_method_state fits = describe_state(ga);
    state_head head;
    const char *at;

    int status = ec_method_state_open(&fits, blob, bytes, &at, &bytes);
    if (status != EC_OK)
        return status;
    if (bytes >= sizeof head)
        memcpy(&head, at, sizeof head);
    if (bytes < sizeof head || head.n_members > ga->n ||
        bytes != sizeof head + head.n_members * member_bytes(ga))
        return ec_fail(EC_ERR_FORMAT, "the saved state is damaged: it has a wrong length");
    at += sizeof head;
    for (size_t i = 0; i < head.n_members; i++) {
        double word;
        memcpy(ga->row[i], at, ga->width * sizeof(double));
        at += ga->width * sizeof(double);
        for (size_t k = 0; k < ga->objectives; k++, at += sizeof(double))
            memcpy(&ga->cost[k * ga->ld + i], at, sizeof(double));
        memcpy(&ga->violation[i], at, sizeof(double));
        memcpy(&word, at + sizeof(double), sizeof word);
        ga->status[i] = word >= 0 && word <= 255 ? (uint8_t)word : EC_CANDIDATE_NOT_FINITE;
        at += 2 * sizeof(double);
    }
    ga->n_members = head.n_members;
    ga->n_proposed = 0;
    ga->population.stats = head.stats;
    return ec_host_population_stats(&ga->population);
}

const ec_optimizer_def ec_nsga2_method = {
    .name = "nsga2",
    .help = "NSGA-II: genetic algorithm for several objectives, gives their Pareto front (Deb et "
            "al. 2002)",
    .options = options,
    .n_options = OPTIONS,
    .flags = EC_OPTIMIZER_ON_HOST | EC_OPTIMIZER_FRONT,
    .min_population = 4,
    .create = nsga2_create,
    .destroy = nsga2_destroy,
    .max_population = nsga2_max_population,
    .propose = nsga2_propose,
    .take = nsga2_take,
    .elite = nsga2_elite,
    .stats = nsga2_stats,
    .set_stop_flag = nsga2_set_stop_flag,
    .save = nsga2_save,
    .load = nsga2_load,
};
