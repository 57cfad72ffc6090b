/* de.c: the host's side of differential evolution: memory, launches, save and load.
 *
 * Two blocks of memory on the backend: `state`, which a blob holds byte for byte, and `work`. Host
 * memory mirrors only what the grid sizes follow from (generation, evaluations, population): both
 * sides compute it by ec_de_schedule. */
#include "de_kernels.h"
#include "optimizers/method_info.h"
#include "optimizers/method_state.h"
#include "optimizers/method_memory.h"

#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(de_trial, ec_de_args)
EC_KERNEL_DECLARE(de_group_trial, ec_de_args)
EC_KERNEL_DECLARE(de_judge, ec_de_args) /* one lane an island */
EC_KERNEL_DECLARE(de_group_judge, ec_de_args)
EC_KERNEL_DECLARE(de_select, ec_de_args)
EC_KERNEL_DECLARE(de_finish, ec_de_args) /* one lane an island */
EC_KERNEL_DECLARE(de_meet, ec_de_args)   /* one lane an island */

typedef struct ec_de {
    ec_optimizer base;
    ec_de_args args;
    char *state, *work; /* on the backend */
    size_t state_bytes, work_bytes;
    /* mirror of the control block */
    uint64_t generation, evaluations;
    uint32_t n;      /* of an island */
    uint32_t bucket; /* lanes of the last generation's launches for an island, 0: none yet */
    bool whole;      /* the last take was not cut */
} ec_de;

static ec_de *self(ec_optimizer *optimizer)
{
    return (ec_de *)optimizer;
}

static const ec_de *self_const(const ec_optimizer *optimizer)
{
    return (const ec_de *)optimizer;
}

/* ---- what the caller asked for ---- */

static double option(const ec_optimizer_def *def, const ec_optimizer_info *info, const char *key,
                     double absent)
{
    double value = ec_method_option(def, info, key);

    return isnan(value) ? absent : value;
}

/* Designs of a default population together have at most so many genes: more would take minutes before
 * the first generation is done. */
static const size_t genes_max = (size_t)1 << 24;

/* Literature's sizes: 10 D for the classic methods (Storn and Price), 18 D for L-SHADE, and JADE's
 * 30 to 100 for D up to 30; never below 20. */
static size_t default_population(ec_de_method method, size_t genes, size_t groups)
{
    size_t n = method == EC_DE_LSHADE ? 18 * genes : method == EC_DE_PBEST ? 5 * genes : 10 * genes;
    size_t least = groups * 10 > 20 ? groups * 10 : 20;

    n = n * genes > genes_max ? genes_max / genes : n;
    n = n < least ? least : n;
    return n < EC_DE_POPULATION_MAX ? n : EC_DE_POPULATION_MAX;
}

static int check_groups(const ec_optimizer_def *def, const ec_optimizer_info *info, size_t groups,
                        size_t population)
{
    if (info->n_group_genes == 0)
        return EC_OK;
    if (strcmp(def->name, "rand1bin") != 0)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "method '%s' does not evolve group variables; use 'rand1bin'", def->name);
    if (groups < def->min_population)
        return ec_fail(EC_ERR_ARGUMENT,
                       "groups = %zu is too few for %s; the smallest allowed is %zu", groups,
                       def->name, def->min_population);
    if (population < groups * def->min_population)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too small for %s with %zu groups; the smallest allowed "
                       "is %zu (%zu a group)",
                       population, def->name, groups, groups * def->min_population,
                       def->min_population);
    return EC_OK;
}

/* What works on members only. */
static int check_additions(const ec_optimizer_def *def, const ec_optimizer_info *info,
                           const ec_de_args *a)
{
    const char *key = a->islands > 1                            ? "islands"
                      : a->restart > 0 || a->restart_spread > 0 ? "restart"
                      : a->opposition                           ? "opposition"
                                                                : NULL;

    if (info->n_group_genes > 0 && key)
        return ec_fail(EC_ERR_UNSUPPORTED, "%s: %s does not work with group variables", def->name,
                       key);
    if ((uint64_t)a->islands * a->n_max > EC_DE_POPULATION_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "%s: %u islands of %u designs are too many; at most %d designs are allowed",
                       def->name, a->islands, a->n_max, EC_DE_POPULATION_MAX);
    return EC_OK;
}

static ec_de_method method_of(const ec_optimizer_def *def)
{
    const ec_optimizer_def *const table[] = {&ec_de_rand1bin, &ec_de_best1bin, &ec_de_jde,
                                             &ec_de_current_to_pbest, &ec_de_lshade};

    for (int i = 0; i < 5; i++)
        if (table[i] == def)
            return (ec_de_method)i;
    return EC_DE_RAND1;
}

/* Sizes and constants of args from info; no memory yet. */
static int configure(ec_de *de, const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    ec_de_args *a = &de->args;
    ec_de_method method = method_of(def);
    size_t groups = info->n_group_genes ? info->groups ? info->groups : 10 : 0;
    size_t genes = info->n_genes + info->n_group_genes;
    size_t population =
        info->population ? info->population : default_population(method, genes, groups);

    if (info->n_genes == 0)
        return ec_fail(EC_ERR_ARGUMENT, "%s: there is no variable to search over%s", def->name,
                       info->n_group_genes ? " within the groups" : "");
    if (info->n_genes > 1u << 20 || info->n_group_genes > 1u << 20)
        return ec_fail(EC_ERR_ARGUMENT, "%s: %zu variables, at most %u are allowed", def->name,
                       genes, 1u << 20);
    if (population < def->min_population)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too small for %s; the smallest allowed is %zu",
                       population, def->name, def->min_population);
    if (population > EC_DE_POPULATION_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too large for %s; at most %d are allowed", population,
                       def->name, EC_DE_POPULATION_MAX);
    int status = ec_method_check_options(def, info);
    if (status == EC_OK)
        status = ec_method_check_genes(def, "variable", info->genes, info->n_genes);
    if (status == EC_OK)
        status =
            ec_method_check_genes(def, "group variable", info->group_genes, info->n_group_genes);
    if (status == EC_OK)
        status = check_groups(def, info, groups, population);
    if (status != EC_OK)
        return status;

    a->method = (uint32_t)method;
    a->seed = info->seed;
    a->island = info->island;
    a->genes = (uint32_t)info->n_genes;
    a->pitch = (uint32_t)ec_round_up(info->n_genes, EC_DE_PAD);
    a->group_genes = (uint32_t)info->n_group_genes;
    a->group_pitch = (uint32_t)ec_round_up(info->n_group_genes, EC_DE_PAD);
    a->groups = (uint32_t)groups;
    a->islands = (uint32_t)option(def, info, "islands", 1.0);
    a->migrate = (uint32_t)option(def, info, "migrate", 0.0);
    a->restart = (uint32_t)option(def, info, "restart", 0.0);
    a->restart_spread = option(def, info, "restart_spread", 0.0);
    a->opposition = option(def, info, "opposition", 0.0) != 0.0;
    a->stride = (uint32_t)ec_lane_ld(population);
    a->ld = (uint32_t)ec_lane_ld(population * a->islands);
    a->group_ld = (uint32_t)ec_lane_ld(groups);
    a->n_max = (uint32_t)population;
    size_t room = population * a->islands;
    a->n_start = (uint32_t)(info->n_start < room ? info->n_start : room);
    a->bounds = (uint32_t)option(def, info, "bounds", EC_DE_HALFWAY);
    a->F = option(def, info, "F", 0.5);
    a->CR = option(def, info, "CR", 0.9);
    a->tau_f = option(def, info, "tau_F", 0.0);
    a->tau_cr = option(def, info, "tau_CR", 0.0);
    a->p = option(def, info, "p", 0.0);
    a->archive_rate = option(def, info, "archive", 0.0);
    a->learning_rate = option(def, info, "c", 0.0);
    a->adapt = option(def, info, "adapt", method >= EC_DE_JDE ? 1.0 : 0.0) != 0.0;
    a->memory = (uint32_t)option(def, info, "memory", 1.0);
    a->n_min = (uint32_t)option(def, info, "population_min", (double)population);
    a->n_min = a->n_min < a->n_max ? a->n_min : a->n_max;
    a->archive_max = ec_de_archive_size(a, a->n_max);
    a->evaluations_budget = info->evaluations;
    a->generations_budget = info->generations;
    a->limit = a->limit_all = UINT32_MAX;
    return check_additions(def, info, a);
}

/* ---- memory ---- */

/* Lays out `state`: called with base NULL for its size, then for the pointers. */
static size_t lay_out_state(ec_de_args *a, char *base)
{
    ec_method_memory memory = {base, 0};
    bool judged = ec_de_has_judge(a->method), jde = a->method == EC_DE_JDE;
    size_t rows = (size_t)a->islands * a->stride;

    a->control = EC_METHOD_TAKE(&memory, ec_de_control, a->islands);
    a->total = EC_METHOD_TAKE(&memory, ec_optimizer_stats, 1);
    for (int i = 0; i < (judged ? 1 : 2); i++) {
        a->cost[i] = EC_METHOD_TAKE(&memory, double, rows);
        a->violation[i] = EC_METHOD_TAKE(&memory, double, rows);
        a->status[i] = EC_METHOD_TAKE(&memory, uint8_t, rows);
        a->f[i] = EC_METHOD_TAKE(&memory, double, jde ? rows : 0);
        a->cr[i] = EC_METHOD_TAKE(&memory, double, jde ? rows : 0);
    }
    a->order = EC_METHOD_TAKE(&memory, uint32_t, judged ? rows : 0);
    a->group_X = EC_METHOD_TAKE(&memory, double, (size_t)a->group_ld * a->group_pitch);
    a->X = EC_METHOD_TAKE(&memory, double, rows * a->pitch);
    a->archive = EC_METHOD_TAKE(&memory, double, (size_t)a->islands * a->archive_max * a->pitch);
    a->kept = EC_METHOD_TAKE(&memory, double, (size_t)a->islands * a->pitch);
    return memory.used;
}

static size_t lay_out_work(ec_de_args *a, char *base)
{
    ec_method_memory memory = {base, 0};
    size_t rows = (size_t)a->islands * a->stride, strips = rows / EC_LANE_PAD;
    size_t judged = ec_de_has_judge(a->method) ? rows : 0;

    for (a->sort_size = 1; a->sort_size < a->stride;)
        a->sort_size *= 2;
    size_t sorted = judged ? (size_t)a->islands * a->sort_size : 0;
    a->lower = EC_METHOD_TAKE(&memory, double, a->pitch);
    a->upper = EC_METHOD_TAKE(&memory, double, a->pitch);
    a->group_lower = EC_METHOD_TAKE(&memory, double, a->group_pitch);
    a->group_upper = EC_METHOD_TAKE(&memory, double, a->group_pitch);
    a->free_genes = EC_METHOD_TAKE(&memory, uint32_t, a->pitch);
    a->group_free_genes = EC_METHOD_TAKE(&memory, uint32_t, a->group_pitch);
    a->start = EC_METHOD_TAKE(&memory, double, (size_t)a->n_start * a->pitch);
    a->group_map = EC_METHOD_TAKE(&memory, int32_t, a->groups ? a->ld : 0);
    a->U = EC_METHOD_TAKE(&memory, double, (size_t)a->ld * a->genes);
    a->group_U = EC_METHOD_TAKE(&memory, double, (size_t)a->group_ld * a->group_genes);
    a->group_accept = EC_METHOD_TAKE(&memory, int32_t, a->group_ld);
    a->trial_f = EC_METHOD_TAKE(&memory, double, rows);
    a->trial_cr = EC_METHOD_TAKE(&memory, double, rows);
    a->gain = EC_METHOD_TAKE(&memory, double, judged);
    a->source = EC_METHOD_TAKE(&memory, uint32_t, judged);
    a->slot = EC_METHOD_TAKE(&memory, uint32_t, judged);
    a->accept = EC_METHOD_TAKE(&memory, uint8_t, judged);
    a->owner = EC_METHOD_TAKE(&memory, uint64_t, judged ? (size_t)a->islands * a->archive_max : 0);
    a->list = EC_METHOD_TAKE(&memory, uint32_t, judged);
    a->tree = EC_METHOD_TAKE(&memory, double, 4 * judged);
    a->sort_key = EC_METHOD_TAKE(&memory, uint64_t, 2 * sorted);
    a->sort_index = EC_METHOD_TAKE(&memory, uint32_t, sorted);
    a->strip_low = EC_METHOD_TAKE(&memory, double, strips * a->pitch);
    a->strip_high = EC_METHOD_TAKE(&memory, double, strips * a->pitch);
    a->strip_best = EC_METHOD_TAKE(&memory, uint32_t, strips);
    a->strip_feasible = EC_METHOD_TAKE(&memory, uint32_t, strips);
    a->strip_failed = EC_METHOD_TAKE(&memory, uint32_t, strips);
    return memory.used;
}

static int allocate(ec_de *de)
{
    ec_backend *backend = de->base.backend;

    de->state_bytes = lay_out_state(&de->args, NULL);
    de->work_bytes = lay_out_work(&de->args, NULL);
    int status = ec_method_block(backend, de->state_bytes, &de->state);
    if (status == EC_OK)
        status = ec_method_block(backend, de->work_bytes, &de->work);
    if (status != EC_OK)
        return status;
    lay_out_state(&de->args, de->state);
    lay_out_work(&de->args, de->work);
    return EC_OK;
}

/* ---- first values ---- */

/* Bounds of n genes and the list of those that are free; fixed ones when none is. They are flagged
 * as integral when all of them are: a real one among them makes every trial a new design anyway. */
static int upload_bounds(ec_backend *backend, const ec_gene *genes, size_t n, const double *lower,
                         const double *upper, const uint32_t *free_genes, uint32_t *n_free)
{
    double *values = (double *)calloc(2 * n + 1, sizeof *values);
    uint32_t *list = (uint32_t *)calloc(n + 1, sizeof *list);
    int status = values && list ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for %zu bounds", n);
    uint32_t count = 0, flag = EC_DE_INTEGRAL;

    for (size_t i = 0; i < n; i++)
        flag = genes[i].min < genes[i].max && !genes[i].integral ? 0 : flag;
    for (size_t i = 0; i < n && status == EC_OK; i++) {
        values[i] = genes[i].min;
        values[n + i] = genes[i].max;
        if (genes[i].min < genes[i].max)
            list[count++] = (uint32_t)i | flag;
    }
    *n_free = count > 0 ? count : 1;
    if (status == EC_OK)
        status =
            backend->ops->upload(backend, (void *)(uintptr_t)lower, values, n * sizeof *values);
    if (status == EC_OK)
        status =
            backend->ops->upload(backend, (void *)(uintptr_t)upper, values + n, n * sizeof *values);
    if (status == EC_OK)
        status =
            backend->ops->upload(backend, (void *)(uintptr_t)free_genes, list, n * sizeof *list);
    free(values);
    free(list);
    return status;
}

/* Start designs as rows, moved into their bounds; what is no number starts in the middle. */
static int upload_start(ec_de *de, const ec_optimizer_info *info)
{
    const ec_de_args *a = &de->args;
    size_t count = (size_t)a->n_start * a->pitch;
    double *rows = (double *)calloc(count + 1, sizeof *rows);

    if (!rows)
        return ec_fail(EC_ERR_MEMORY, "no memory for %u start designs", a->n_start);
    for (size_t r = 0; r < a->n_start; r++)
        for (size_t g = 0; g < a->genes; g++)
            rows[r * a->pitch + g] = ec_method_start(info, r, g);
    int status = de->base.backend->ops->upload(de->base.backend, (void *)(uintptr_t)a->start, rows,
                                               count * sizeof *rows);
    free(rows);
    return status;
}

static int upload_groups(ec_de *de)
{
    const ec_de_args *a = &de->args;
    int32_t *map = (int32_t *)calloc((size_t)a->ld, sizeof *map);

    if (!map)
        return ec_fail(EC_ERR_MEMORY, "no memory for the groups of %u candidates", a->n_max);
    for (uint32_t c = 0, group = 0; c < a->ld; c++) {
        while (group + 1 < a->groups && ec_de_group_start(a, group + 1, a->n_max) <= c)
            group++;
        map[c] = (int32_t)group;
    }
    int status = de->base.backend->ops->upload(de->base.backend, (void *)(uintptr_t)a->group_map,
                                               map, a->ld * sizeof *map);
    free(map);
    return status;
}

/* Members of all islands, padding included. */
static size_t all_rows(const ec_de *de)
{
    return (size_t)de->args.islands * de->args.stride;
}

/* One value for every member. */
static int upload_value(ec_de *de, double *to, double value)
{
    size_t rows = all_rows(de);
    double *values = (double *)malloc(rows * sizeof *values);

    if (!values)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu scores", rows);
    for (size_t c = 0; c < rows; c++)
        values[c] = value;
    int status = de->base.backend->ops->upload(de->base.backend, to, values, rows * sizeof *values);
    free(values);
    return status;
}

/* Members that any trial replaces. */
static int upload_empty(ec_de *de, int copy)
{
    const ec_de_args *a = &de->args;
    int status =
        de->base.backend->ops->fill(de->base.backend, a->status[copy], EC_DE_EMPTY, all_rows(de));

    if (status == EC_OK)
        status = upload_value(de, a->cost[copy], INFINITY);
    if (status == EC_OK)
        status = upload_value(de, a->violation[copy], INFINITY);
    if (status == EC_OK && a->method == EC_DE_JDE)
        status = upload_value(de, a->f[copy], a->F);
    if (status == EC_OK && a->method == EC_DE_JDE)
        status = upload_value(de, a->cr[copy], a->CR);
    return status;
}

static int upload_control(ec_de *de)
{
    const ec_de_args *a = &de->args;
    ec_backend *backend = de->base.backend;
    ec_de_control *control = (ec_de_control *)calloc(a->islands, sizeof *control);

    if (!control)
        return ec_fail(EC_ERR_MEMORY, "no memory for %u islands", a->islands);
    for (uint32_t i = 0; i < a->islands; i++) {
        ec_de_control *c = &control[i];

        c->n = c->n_next = c->stats.population = a->n_max;
        c->stats.best_cost = c->stats.best_violation = INFINITY;
        c->stats.best_class = 2;
        c->now_cost = c->now_violation = c->kept_cost = c->kept_violation = INFINITY;
        c->kept_status = EC_DE_EMPTY;
        ec_de_forget(c);
    }
    int status = backend->ops->upload(backend, a->control, control, a->islands * sizeof *control);
    control[0].stats.population *= a->islands;
    if (status == EC_OK)
        status = backend->ops->upload(backend, a->total, &control[0].stats, sizeof *a->total);
    free(control);
    return status;
}

static int upload_order(ec_de *de)
{
    const ec_de_args *a = &de->args;
    size_t rows = all_rows(de);
    uint32_t *order = (uint32_t *)malloc(rows * sizeof *order);

    if (!order)
        return ec_fail(EC_ERR_MEMORY, "no memory for the order of %zu candidates", rows);
    for (size_t c = 0; c < rows; c++)
        order[c] = (uint32_t)(c % a->stride);
    int status =
        de->base.backend->ops->upload(de->base.backend, a->order, order, rows * sizeof *order);
    free(order);
    return status;
}

static int first_values(ec_de *de, const ec_optimizer_info *info)
{
    ec_de_args *a = &de->args;
    bool judged = ec_de_has_judge(a->method);
    int status = upload_bounds(de->base.backend, info->genes, a->genes, a->lower, a->upper,
                               a->free_genes, &a->n_free);

    if (status == EC_OK)
        status = upload_bounds(de->base.backend, info->group_genes, a->group_genes, a->group_lower,
                               a->group_upper, a->group_free_genes, &a->group_n_free);
    if (status == EC_OK && a->n_start > 0)
        status = upload_start(de, info);
    if (status == EC_OK && a->groups > 0)
        status = upload_groups(de);
    if (status == EC_OK)
        status = upload_control(de);
    for (int copy = 0; copy < (judged ? 1 : 2) && status == EC_OK; copy++)
        status = upload_empty(de, copy);
    if (status == EC_OK && judged)
        status = upload_order(de);
    return status;
}

/* ---- create, destroy ---- */

void ec_de_destroy(ec_optimizer **optimizer)
{
    ec_de *de = optimizer && *optimizer ? self(*optimizer) : NULL;

    if (!de)
        return;
    de->base.backend->ops->release(de->base.backend, de->state);
    de->base.backend->ops->release(de->base.backend, de->work);
    free(de);
    *optimizer = NULL;
}

int ec_de_create(const ec_optimizer_def *def, ec_backend *backend, const ec_optimizer_info *info,
                 ec_optimizer **optimizer)
{
    ec_de *de = (ec_de *)calloc(1, sizeof *de);

    if (!de)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory", def->name);
    de->base.def = def;
    de->base.backend = backend;
    ec_optimizer *fresh = &de->base;
    int status = configure(de, def, info);
    if (status == EC_OK)
        status = allocate(de);
    if (status == EC_OK)
        status = first_values(de, info);
    if (status != EC_OK) {
        ec_de_destroy(&fresh);
        return status;
    }
    de->n = de->args.n_max;
    *optimizer = fresh;
    return EC_OK;
}

size_t ec_de_max_population(const ec_optimizer *optimizer)
{
    const ec_de_args *a = &self_const(optimizer)->args;

    return (size_t)a->islands * a->n_max;
}

const ec_optimizer_stats *ec_de_stats(const ec_optimizer *optimizer)
{
    const ec_de_args *a = &self_const(optimizer)->args;

    return a->islands > 1 ? a->total : &a->control->stats;
}

void ec_de_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->args.stop = stop;
}

/* ---- a generation ---- */

/* One launch for all islands. */
static int launch(ec_de *de, const ec_kernel *kernel, size_t lanes)
{
    return de->base.backend->ops->launch(de->base.backend, kernel, &de->args, lanes,
                                         de->args.islands);
}

static size_t candidates(const ec_de *de)
{
    return (size_t)de->args.islands * de->n;
}

/* What the kernels did to the control block, on the host. */
static void advance(ec_de *de, size_t evaluated)
{
    de->evaluations += evaluated;
    de->generation++;
    uint32_t n = ec_de_schedule(&de->args, de->evaluations, de->generation);
    de->n = n < de->n ? n : de->n;
}

int ec_de_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG, const int32_t **group_map,
                  size_t *n)
{
    ec_de *de = self(optimizer);
    ec_de_args *a = &de->args;
    int32_t shape = (int32_t)a->genes, group_shape = (int32_t)a->group_genes;

    a->bucket = de->bucket = (uint32_t)ec_lane_ld(de->n);
    int status = launch(de, &ec_kernel_de_trial, de->bucket);
    if (status == EC_OK && a->groups > 0)
        status = launch(de, &ec_kernel_de_group_trial, a->groups);
    if (status != EC_OK)
        return status;
    ec_array_describe(X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, (size_t)a->islands * a->n_max, 1);
    X->data = a->U;
    X->lanes = candidates(de);
    if (a->groups > 0 && XG) {
        ec_array_describe(XG, EC_F64, EC_AXIS_GROUP, 1, &group_shape, a->groups, 1);
        XG->data = a->group_U;
    }
    if (group_map)
        *group_map = a->groups > 0 ? a->group_map : NULL;
    *n = candidates(de);
    return EC_OK;
}

int ec_de_take(ec_optimizer *optimizer, const ec_scores *trials, size_t n)
{
    ec_de *de = self(optimizer);
    ec_de_args *a = &de->args;

    if (de->bucket == 0)
        return ec_fail(EC_ERR_INTERNAL, "%s: take without propose", de->base.def->name);
    if (n > candidates(de))
        return ec_fail(EC_ERR_ARGUMENT, "%s: %zu scores for %zu designs", de->base.def->name, n,
                       candidates(de));
    de->whole = n == candidates(de);
    a->limit = a->limit_all = de->whole ? UINT32_MAX : (uint32_t)n;
    a->trial_cost = trials->cost;
    a->trial_violation = trials->violation;
    a->trial_status = trials->status;
    int status = EC_OK;
    if (ec_de_has_judge(a->method))
        status = launch(de, &ec_kernel_de_judge, 1);
    else if (a->groups > 0)
        status = launch(de, &ec_kernel_de_group_judge, a->groups);
    if (status == EC_OK)
        status = launch(de, &ec_kernel_de_select, de->bucket);
    if (status == EC_OK)
        status = launch(de, &ec_kernel_de_finish, 1);
    if (status == EC_OK && a->islands > 1)
        status = launch(de, &ec_kernel_de_meet, 1);
    a->limit = a->limit_all = UINT32_MAX;
    if (status == EC_OK)
        advance(de, n);
    return status;
}

bool ec_de_capturable(const ec_optimizer *optimizer)
{
    const ec_de *de = self_const(optimizer);

    return de->whole && de->bucket == ec_lane_ld(de->n);
}

size_t ec_de_replayed(ec_optimizer *optimizer)
{
    ec_de *de = self(optimizer);
    size_t n = candidates(de);

    advance(de, n);
    return n;
}

/* ---- results ---- */

/* A member, or a kept design: their rows come behind those of the members. */
typedef struct member {
    double violation, cost;
    uint32_t row;
    uint8_t status;
} member;

static int compare_members(const void *x, const void *y)
{
    const member *a = (const member *)x, *b = (const member *)y;

    if (a->violation != b->violation)
        return a->violation < b->violation ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

typedef struct scores {
    ec_de_control *control; /* of the islands */
    double *cost, *violation;
    uint8_t *status;
    member *order;
    uint32_t found;
} scores;

static void scores_release(scores *s)
{
    free(s->control);
    free(s->cost);
    free(s->violation);
    free(s->status);
    free(s->order);
}

static int scores_download(ec_de *de, scores *s)
{
    const ec_de_args *a = &de->args;
    ec_backend *backend = de->base.backend;

    int status =
        backend->ops->download(backend, s->control, a->control, a->islands * sizeof *s->control);
    if (status != EC_OK)
        return status;
    int current = ec_de_current(a, s->control->stats.generation);
    size_t n = (size_t)(a->islands - 1) * a->stride + s->control->n;
    status = backend->ops->download(backend, s->cost, a->cost[current], n * sizeof(double));
    if (status == EC_OK)
        status = backend->ops->download(backend, s->violation, a->violation[current],
                                        n * sizeof(double));
    if (status == EC_OK)
        status = backend->ops->download(backend, s->status, a->status[current], n);
    return status;
}

/* An island's evaluated members, and its kept design unless that one is still among them. */
static void scores_collect(const ec_de *de, scores *s, uint32_t island)
{
    const ec_de_args *a = &de->args;
    const ec_de_control *control = &s->control[island];
    uint32_t first = island * a->stride;

    for (uint32_t c = first; c < first + control->n; c++)
        if (s->status[c] != EC_DE_EMPTY) {
            member m = {s->violation[c], s->cost[c], c, s->status[c]};
            s->order[s->found++] = m;
        }
    if (control->kept_status != EC_DE_EMPTY && control->kept_at != control->stats.generation) {
        member m = {control->kept_violation, control->kept_cost, a->islands * a->stride + island,
                    (uint8_t)control->kept_status};
        s->order[s->found++] = m;
    }
}

/* Scores of everything that the optimizer holds, from best to worst in `order`. */
static int scores_fetch(ec_de *de, scores *s)
{
    size_t rows = all_rows(de), islands = de->args.islands;

    memset(s, 0, sizeof *s);
    s->control = (ec_de_control *)malloc(islands * sizeof *s->control);
    s->cost = (double *)malloc(rows * sizeof *s->cost);
    s->violation = (double *)malloc(rows * sizeof *s->violation);
    s->status = (uint8_t *)malloc(rows);
    s->order = (member *)malloc((rows + islands) * sizeof *s->order);
    int status = EC_OK;
    if (!s->control || !s->cost || !s->violation || !s->status || !s->order)
        status = ec_fail(EC_ERR_MEMORY, "no memory for the scores of %zu designs", rows);
    if (status == EC_OK)
        status = scores_download(de, s);
    if (status != EC_OK) {
        scores_release(s);
        return status;
    }
    for (uint32_t i = 0; i < islands; i++)
        scores_collect(de, s, i);
    qsort(s->order, s->found, sizeof *s->order, compare_members);
    return EC_OK;
}

static int fetch_design(ec_de *de, uint32_t row, uint32_t n, double *design)
{
    const ec_de_args *a = &de->args;
    ec_backend *backend = de->base.backend;
    uint32_t group = 0, rows = a->islands * a->stride;
    const double *from =
        row < rows ? a->X + (size_t)row * a->pitch : a->kept + (size_t)(row - rows) * a->pitch;

    int status = backend->ops->download(backend, design, from, a->genes * sizeof *design);
    if (status != EC_OK || a->groups == 0)
        return status;
    while (group + 1 < a->groups && ec_de_group_start(a, group + 1, n) <= row)
        group++;
    return backend->ops->download(backend, design + a->genes,
                                  a->group_X + (size_t)group * a->group_pitch,
                                  a->group_genes * sizeof *design);
}

int ec_de_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost, double *violation,
                uint8_t *candidate_status, size_t *found)
{
    ec_de *de = self(optimizer);
    size_t width = (size_t)de->args.genes + de->args.group_genes;
    scores s;

    int status = scores_fetch(de, &s);
    if (status != EC_OK)
        return status;
    k = k < s.found ? k : s.found;
    for (size_t i = 0; i < k && status == EC_OK; i++) {
        const member *m = &s.order[i];
        if (cost)
            cost[i] = m->cost;
        if (violation)
            violation[i] = m->violation;
        if (candidate_status)
            candidate_status[i] = m->status;
        if (X)
            status = fetch_design(de, m->row, s.control->n, X + i * width);
    }
    if (found && status == EC_OK)
        *found = k;
    scores_release(&s);
    return status;
}

/* ---- save and load ---- */

static ec_method_state describe_state(const ec_de *de)
{
    enum { VERSION = 3 };
    const ec_de_args *a = &de->args;
    ec_method_state s = {.def = de->base.def,
                         .version = VERSION,
                         .island = a->island,
                         .seed = a->seed,
                         .bytes = de->state_bytes};

    ec_method_state_add(&s, "variables", a->genes);
    ec_method_state_add(&s, "group variables", a->group_genes);
    ec_method_state_add(&s, "population", a->n_max);
    ec_method_state_add(&s, "population_min", a->n_min);
    ec_method_state_add(&s, "groups", a->groups);
    ec_method_state_add(&s, "islands", a->islands);
    ec_method_state_add(&s, "archive", a->archive_max);
    ec_method_state_add(&s, "memory", a->memory);
    return s;
}

int ec_de_save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    ec_de *de = self(optimizer);
    ec_method_state s = describe_state(de);

    return ec_method_state_save(&s, de->base.backend, de->state, de->state_bytes, blob, bytes);
}

/* Whether the islands' control blocks at `state` can be what a search has left. */
static bool control_is_sound(const ec_de *de, const char *state, ec_de_control *first)
{
    const ec_de_args *a = &de->args;

    memcpy(first, state, sizeof *first);
    for (uint32_t i = 0; i < a->islands; i++) {
        ec_de_control c;

        memcpy(&c, state + i * sizeof c, sizeof c);
        if (c.n == 0 || c.n > a->n_max || c.n != first->n || c.archive > a->archive_max ||
            c.memory_at >= a->memory || c.best >= a->n_max || c.send >= a->n_max ||
            c.stats.generation != first->stats.generation)
            return false;
    }
    return true;
}

int ec_de_load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_de *de = self(optimizer);
    const ec_de_args *a = &de->args;
    ec_backend *backend = de->base.backend;
    ec_de_control control;
    ec_method_state fits = describe_state(de);
    const char *state;

    int status = ec_method_state_open(&fits, blob, bytes, &state, &bytes);
    if (status != EC_OK)
        return status;
    if (!control_is_sound(de, state, &control))
        return ec_fail(EC_ERR_FORMAT, "the saved state is damaged");
    status = backend->ops->upload(backend, de->state, state, de->state_bytes);
    /* stamps of generations that this object may have run since */
    if (status == EC_OK && a->archive_max > 0)
        status = backend->ops->fill(backend, a->owner, 0,
                                    (size_t)a->islands * a->archive_max * sizeof *a->owner);
    if (status != EC_OK)
        return status;
    de->generation = control.stats.generation;
    de->evaluations = control.stats.evaluations;
    de->n = control.n;
    de->bucket = 0;
    de->whole = false;
    return EC_OK;
}
