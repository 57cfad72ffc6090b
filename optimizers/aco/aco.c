/* aco.c: the host's side of the ant colony: options, codes, memory, launches, save and load.
 *
 * Two blocks of memory on the backend: `state`, which a blob holds byte for byte, and `work`. */
#include "aco_kernels.h"
#include "optimizers/method_info.h"
#include "optimizers/method_state.h"
#include "optimizers/method_memory.h"

#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(aco_ants, ec_aco_args)
EC_KERNEL_DECLARE_FLAGS(aco_take, ec_aco_args, EC_KERNEL_SERIAL)

/* Only on CUDA, where launches count. */
EC_C_BEGIN
EC_KERNEL_CUDA_PROTOTYPE(aco_generations)
EC_C_END
static const ec_kernel kernel_generations = {"aco_generations",
                                             sizeof(ec_aco_generations_args),
                                             0,
                                             {NULL, NULL, NULL},
                                             EC_KERNEL_CUDA_POINTER(aco_generations)};

typedef struct ec_aco {
    ec_optimizer base;
    ec_aco_args args;
    ec_aco_gene *gene;  /* host copies of the tables */
    ec_aco_set *set;    /* at most one a gene */
    char *state, *work; /* on the backend */
    size_t state_bytes, score_bytes, work_bytes;
    bool proposed;                 /* there was a propose since create or load */
    bool whole;                    /* the last take was not cut */
    ec_aco_generations_args fused; /* after fuse */
} ec_aco;

static ec_aco *self(ec_optimizer *optimizer)
{
    return (ec_aco *)optimizer;
}

static const ec_aco *self_const(const ec_optimizer *optimizer)
{
    return (const ec_aco *)optimizer;
}

/* ---- options ---- */

enum {
    OPTION_COLONIES,
    OPTION_EXCHANGE,
    OPTION_RULE,
    OPTION_BITS,
    OPTION_EVAPORATION,
    OPTION_ELITE,
    OPTION_RESTART,
    OPTION_DEPOSIT,
    OPTION_COST_FLOOR,
    OPTION_COUNT
};

static const ec_option_def options[OPTION_COUNT] = {
    {"colonies", EC_OPTION_INTEGER, 1, 1, 65536, NULL,
     "colonies at once, each with a population and pheromones of its own"},
    {"exchange", EC_OPTION_INTEGER, 0, 0, 1e9, NULL,
     "every so many generations a colony gets its neighbour's best design; 0: never"},
    {"rule", EC_OPTION_WORD, EC_ACO_MAX_MIN, 0, 1, "max_min|proportional",
     "the best deposit, within limits; or every ant in proportion to 1 / cost, which adding a "
     "constant to the cost changes"},
    {"bits", EC_OPTION_INTEGER, NAN, 1, 32, NULL,
     "of the code of a real variable; 8 where others are not real"},
    {"evaporation", EC_OPTION_NUMBER, NAN, 0, 0.999, NULL,
     "share of the pheromone that is lost in a generation (0.05; proportional: 0)"},
    {"elite", EC_OPTION_NUMBER, 0.5, 0, 1, NULL,
     "max_min: share of the deposit that the best design since the colony's start makes, the rest "
     "is that of the generation's best"},
    {"restart", EC_OPTION_INTEGER, NAN, 0, 4e9, NULL,
     "generations without a better design after which a colony starts again, 0: never (500; "
     "proportional: never)"},
    {"deposit", EC_OPTION_NUMBER, 1, 0, 1e6, NULL,
     "proportional: an ant's deposit times its cost; pheromones start at 1"},
    {"cost_floor", EC_OPTION_NUMBER, 1e-3, 1e-9, 1e9, NULL,
     "proportional: costs below it, zero and negative ones too, deposit like it"},
};

static const ec_option_link links[] = {
    {"exchange", "colonies", 2, INFINITY, "colonies above 1"},
    {"elite", "rule", EC_ACO_MAX_MIN, EC_ACO_MAX_MIN, "rule = \"max_min\""},
    {"deposit", "rule", EC_ACO_PROPORTIONAL, EC_ACO_PROPORTIONAL, "rule = \"proportional\""},
    {"cost_floor", "rule", EC_ACO_PROPORTIONAL, EC_ACO_PROPORTIONAL, "rule = \"proportional\""},
};

static uint32_t needs(const ec_optimizer_def *def, const double *values)
{
    double rule = values ? values[OPTION_RULE] : options[OPTION_RULE].initial;

    /* pheromones within limits leave every bit both ways */
    return def->flags | (rule == EC_ACO_MAX_MIN ? EC_OPTIMIZER_APART : 0);
}

static double option(const ec_optimizer_info *info, int i, double automatic)
{
    double value = info->options ? info->options[i] : options[i].initial;

    return isnan(value) ? automatic : value;
}

/* ---- codes ---- */

static uint32_t bits_of(uint64_t values)
{
    uint32_t bits = 1;

    while (bits < 63 && (uint64_t)1 << bits < values)
        bits++;
    return bits;
}

static int describe_gene(const ec_gene *from, size_t i, uint32_t real_bits, ec_aco_gene *to)
{
    double width = from->max - from->min;

    to->min = from->min;
    to->max = from->max;
    if (!(from->min <= from->max) || !isfinite(width))
        return ec_fail(EC_ERR_RANGE,
                       "aco: variable %zu has the bounds %g and %g; both are finite numbers, the "
                       "first not above the second",
                       i + 1, from->min, from->max);
    if (from->min == from->max) {
        to->kind = EC_ACO_FIXED;
        to->first = 0; /* no place behind the last bit */
    } else if (!from->integral) {
        to->kind = EC_ACO_REAL;
        to->bits = real_bits;
    } else if (width == 1.0) {
        to->kind = EC_ACO_BINARY;
        to->bits = 1;
    } else {
        to->kind = EC_ACO_CELLS;
        if (!(width >= 2.0 && width <= 0x1p32))
            return ec_fail(EC_ERR_RANGE,
                           "aco: variable %zu has %.0f values; from 2 to 2^32 can be coded in bits",
                           i + 1, floor(width));
        to->cells = (uint64_t)width;
        to->bits = bits_of(to->cells);
    }
    return EC_OK;
}

/* Genes of one set are neighbours: their bits are too. */
static int describe_set(ec_aco *aco, const ec_optimizer_info *info, size_t i)
{
    ec_aco_args *a = &aco->args;
    const ec_gene *gene = &info->genes[i];

    if (gene->set == 0)
        return EC_OK;
    if (aco->gene[i].kind != EC_ACO_BINARY)
        return ec_fail(EC_ERR_ARGUMENT, "aco: variable %zu is not binary, but one of a set", i + 1);
    if (i == 0 || info->genes[i - 1].set != gene->set) {
        ec_aco_set *before = a->sets > 0 ? &aco->set[a->sets - 1] : NULL;
        ec_aco_set *set = &aco->set[a->sets++];
        set->first = aco->gene[i].first;
        set->ones = gene->ones;
        set->block = before ? before->block + (before->count + 3) / 4 : 0;
    }
    aco->set[a->sets - 1].count++;
    return EC_OK;
}

static int describe_genes(ec_aco *aco, const ec_optimizer_info *info)
{
    ec_aco_args *a = &aco->args;
    bool asked = info->options && !isnan(info->options[OPTION_BITS]), integral = false;
    uint32_t real_bits = (uint32_t)option(info, OPTION_BITS, 8);
    uint64_t bits = 0;

    for (size_t i = 0; i < info->n_genes; i++)
        integral = integral || info->genes[i].integral;
    if (!integral && !asked)
        return ec_fail(
            EC_ERR_ARGUMENT,
            "aco: every variable is real, and ants choose bits: give bits = 8 to code "
            "each variable in 8 bits, or choose a method for real variables (acor, lshade)");
    aco->gene = (ec_aco_gene *)calloc(info->n_genes, sizeof *aco->gene);
    aco->set = (ec_aco_set *)calloc(info->n_genes, sizeof *aco->set);
    if (!aco->gene || !aco->set)
        return ec_fail(EC_ERR_MEMORY, "aco: no memory for %zu variables", info->n_genes);
    for (size_t i = 0; i < info->n_genes; i++) {
        aco->gene[i].first = (uint32_t)bits;
        int status = describe_gene(&info->genes[i], i, real_bits, &aco->gene[i]);
        bits += aco->gene[i].bits;
        if (status == EC_OK && bits > EC_ACO_BITS_MAX)
            status = ec_fail(EC_ERR_ARGUMENT, "aco: more than %d bits for %zu variables",
                             EC_ACO_BITS_MAX, info->n_genes);
        if (status == EC_OK)
            status = describe_set(aco, info, i);
        if (status != EC_OK)
            return status;
    }
    for (uint32_t s = 0; s < a->sets; s++)
        if (aco->set[s].ones > aco->set[s].count)
            return ec_fail(EC_ERR_ARGUMENT, "aco: %u ones among %u binary variables",
                           aco->set[s].ones, aco->set[s].count);
    a->n_bits = (uint32_t)bits;
    return EC_OK;
}

/* The smallest code of the value that is nearest to x. */
static uint32_t encode(const ec_aco_gene *gene, double x)
{
    double share = (x - gene->min) / (gene->max - gene->min);
    uint64_t last = ((uint64_t)1 << gene->bits) - 1;

    if (isnan(x))
        share = 0.5;
    share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    if (gene->kind == EC_ACO_BINARY)
        return share >= 0.5;
    if (gene->kind == EC_ACO_REAL)
        return (uint32_t)floor(share * (double)last + 0.5);
    uint64_t cell = (uint64_t)floor(share * (double)gene->cells);
    cell = cell < gene->cells ? cell : gene->cells - 1;
    return (uint32_t)(((cell << gene->bits) + gene->cells - 1) / gene->cells);
}

static void encode_row(const ec_aco *aco, const double *x, uint32_t *words)
{
    for (uint32_t g = 0; g < aco->args.genes; g++) {
        const ec_aco_gene *gene = &aco->gene[g];
        uint32_t code = gene->kind == EC_ACO_FIXED ? 0 : encode(gene, x[g]);
        for (uint32_t b = 0; b < gene->bits; b++)
            words[(gene->first + b) / 32] |= (code >> b & 1u) << ((gene->first + b) & 31u);
    }
}

static void decode_row(const ec_aco *aco, const uint32_t *words, double *x)
{
    for (uint32_t g = 0; g < aco->args.genes; g++) {
        const ec_aco_gene *gene = &aco->gene[g];
        const uint32_t *low = words + gene->first / 32;
        x[g] = gene->kind == EC_ACO_FIXED
                   ? gene->min
                   : ec_aco_value(gene, ec_aco_code(gene, low[0], ec_aco_spans(gene) ? low[1] : 0),
                                  NULL);
    }
}

/* ---- what the caller asked for ---- */

/* Sizes, tables and constants from info; nothing on the backend yet. */
static int configure(ec_aco *aco, const ec_optimizer_info *info)
{
    ec_aco_args *a = &aco->args;
    size_t ants = info->population ? info->population : EC_ACO_ANTS;

    int status = ec_method_check(&ec_aco_binary, info, EC_ACO_CANDIDATES_MAX);
    if (status == EC_OK)
        status = describe_genes(aco, info);
    if (status != EC_OK)
        return status;
    a->colonies = (uint32_t)option(info, OPTION_COLONIES, 1);
    if (ants > EC_ACO_CANDIDATES_MAX / a->colonies)
        return ec_fail(EC_ERR_ARGUMENT,
                       "aco: population = %zu ants in each of colonies = %u are too many; together "
                       "at most %d are allowed",
                       ants, a->colonies, EC_ACO_CANDIDATES_MAX);
    a->ants = (uint32_t)ants;
    a->n = a->colonies * a->ants;
    a->ld = (uint32_t)ec_lane_ld(a->n);
    a->seed = info->seed;
    a->island = info->island;
    a->genes = (uint32_t)info->n_genes;
    a->words = a->n_bits > 0 ? (a->n_bits + 31) / 32 : 1;
    a->pitch = 32 * a->words;
    a->n_start = (uint32_t)(info->n_start < a->n ? info->n_start : a->n);
    a->rule = (uint32_t)option(info, OPTION_RULE, EC_ACO_MAX_MIN);
    bool best = a->rule == EC_ACO_MAX_MIN;
    a->exchange = (uint32_t)option(info, OPTION_EXCHANGE, 0);
    a->evaporation = option(info, OPTION_EVAPORATION, best ? 0.05 : 0);
    a->restart = (uint32_t)option(info, OPTION_RESTART, best ? 500 : 0);
    a->elite = option(info, OPTION_ELITE, 0.5);
    a->deposit = option(info, OPTION_DEPOSIT, 1);
    a->floor = option(info, OPTION_COST_FLOOR, 1e-3);
    uint32_t real_bits = (uint32_t)option(info, OPTION_BITS, 8);
    a->ratio_bits = aco->base.backend->is_cuda && real_bits <= EC_ACO_RATIO_BITS ? real_bits : 0;
    a->low = 1.0 / (a->n_bits > 4 ? a->n_bits : 4);
    a->limit = UINT32_MAX;
    return EC_OK;
}

/* ---- memory ---- */

/* Lays out `state`: called with base NULL for its size, then for the pointers. Scores, in *scores
 * bytes, come first. */
static size_t lay_out_state(ec_aco_args *a, char *base, size_t *scores)
{
    ec_method_memory memory = {base, 0};
    size_t levels = (size_t)a->colonies * a->pitch, words = (size_t)a->colonies * a->words;

    a->control = EC_METHOD_TAKE(&memory, ec_aco_control, 1);
    a->colony = EC_METHOD_TAKE(&memory, ec_aco_colony, a->colonies);
    a->cost = EC_METHOD_TAKE(&memory, double, a->ld);
    a->violation = EC_METHOD_TAKE(&memory, double, a->ld);
    a->status = EC_METHOD_TAKE(&memory, uint8_t, a->ld);
    *scores = memory.used;
    a->best = EC_METHOD_TAKE(&memory, uint32_t, words);
    for (int i = 0; i < 2; i++) {
        a->since[i] = EC_METHOD_TAKE(&memory, uint32_t, words);
        a->bits[i] = EC_METHOD_TAKE(&memory, uint32_t, (size_t)a->words * a->ld);
    }
    a->level = EC_METHOD_TAKE(&memory, uint16_t, levels);
    a->one = EC_METHOD_TAKE(&memory, double, levels);
    a->zero = EC_METHOD_TAKE(&memory, double, a->rule == EC_ACO_PROPORTIONAL ? levels : 0);
    return memory.used;
}

static size_t lay_out_work(ec_aco_args *a, char *base)
{
    ec_method_memory memory = {base, 0};
    size_t words = (size_t)a->colonies * a->words;

    a->gene = EC_METHOD_TAKE(&memory, ec_aco_gene, a->genes);
    a->set = EC_METHOD_TAKE(&memory, ec_aco_set, a->sets);
    a->start = EC_METHOD_TAKE(&memory, uint32_t, (size_t)a->n_start * a->words);
    a->tally = EC_METHOD_TAKE(&memory, ec_aco_tally, a->colonies);
    a->any = EC_METHOD_TAKE(&memory, uint32_t, words);
    a->all = EC_METHOD_TAKE(&memory, uint32_t, words);
    a->weight = EC_METHOD_TAKE(&memory, double, a->rule == EC_ACO_PROPORTIONAL ? a->ld : 0);
    a->arrived = EC_METHOD_TAKE(&memory, uint32_t, 1);
    a->meeting = EC_METHOD_TAKE(&memory, ec_aco_meeting, 1);
    a->differ = EC_METHOD_TAKE(&memory, uint32_t, 4 * (size_t)a->words);
    a->ratio = a->ratio_bits ? EC_METHOD_TAKE(&memory, double, (size_t)1 << a->ratio_bits) : NULL;
    a->U = EC_METHOD_TAKE(&memory, double, (size_t)a->ld * a->genes);
    return memory.used;
}

static int allocate(ec_aco *aco)
{
    ec_backend *backend = aco->base.backend;

    aco->state_bytes = lay_out_state(&aco->args, NULL, &aco->score_bytes);
    aco->work_bytes = lay_out_work(&aco->args, NULL);
    int status = ec_method_block(backend, aco->state_bytes, &aco->state);
    if (status == EC_OK)
        status = ec_method_block(backend, aco->work_bytes, &aco->work);
    if (status != EC_OK)
        return status;
    lay_out_state(&aco->args, aco->state, &aco->score_bytes);
    lay_out_work(&aco->args, aco->work);
    return EC_OK;
}

/* ---- first values ---- */

static int upload_tables(ec_aco *aco, const ec_optimizer_info *info)
{
    const ec_aco_args *a = &aco->args;
    ec_backend *backend = aco->base.backend;
    size_t words = (size_t)a->n_start * a->words;
    uint32_t *start = (uint32_t *)calloc(words + 1, sizeof *start);

    if (!start)
        return ec_fail(EC_ERR_MEMORY, "no memory for %u start designs", a->n_start);
    for (size_t r = 0; r < a->n_start; r++)
        encode_row(aco, info->start + r * a->genes, start + r * a->words);
    int status = backend->ops->upload(backend, (void *)(uintptr_t)a->gene, aco->gene,
                                      a->genes * sizeof *aco->gene);
    if (status == EC_OK && a->sets > 0)
        status = backend->ops->upload(backend, (void *)(uintptr_t)a->set, aco->set,
                                      a->sets * sizeof *aco->set);
    if (status == EC_OK && words > 0)
        status = backend->ops->upload(backend, (void *)(uintptr_t)a->start, start,
                                      words * sizeof *start);
    free(start);
    return status;
}

/* A division takes a GPU longer than a look-up. */
static int upload_ratios(ec_aco *aco)
{
    const ec_aco_args *a = &aco->args;
    size_t count = (size_t)1 << a->ratio_bits;
    double *ratio;

    if (!a->ratio_bits)
        return EC_OK;
    ratio = (double *)malloc(count * sizeof *ratio);
    if (!ratio)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu codes", count);
    for (size_t code = 0; code < count; code++)
        ratio[code] = (double)code / (double)(count - 1);
    int status = aco->base.backend->ops->upload(aco->base.backend, (void *)(uintptr_t)a->ratio,
                                                ratio, count * sizeof *ratio);
    free(ratio);
    return status;
}

static int upload_pheromones(ec_aco *aco)
{
    const ec_aco_args *a = &aco->args;
    ec_backend *backend = aco->base.backend;
    size_t levels = (size_t)a->colonies * a->pitch;
    bool both = a->rule == EC_ACO_PROPORTIONAL;
    double *values = (double *)malloc(2 * levels * sizeof *values);
    uint16_t *level = (uint16_t *)malloc(levels * sizeof *level);
    int status =
        values && level ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for %zu pheromones", levels);

    ec_aco_trail trail = {values, values ? values + levels : NULL, level};
    for (size_t i = 0; i < levels && status == EC_OK; i++)
        ec_aco_begin_bit(a, &trail, i);
    if (status == EC_OK)
        status = backend->ops->upload(backend, a->one, trail.one, levels * sizeof(double));
    if (status == EC_OK && both)
        status = backend->ops->upload(backend, a->zero, trail.zero, levels * sizeof(double));
    if (status == EC_OK)
        status = backend->ops->upload(backend, a->level, level, levels * sizeof *level);
    free(values);
    free(level);
    return status;
}

static int upload_control(ec_aco *aco)
{
    const ec_aco_args *a = &aco->args;
    ec_backend *backend = aco->base.backend;
    ec_aco_control control;
    ec_aco_colony *colony = (ec_aco_colony *)calloc(a->colonies, sizeof *colony);

    if (!colony)
        return ec_fail(EC_ERR_MEMORY, "no memory for %u colonies", a->colonies);
    memset(&control, 0, sizeof control);
    control.stats.best_cost = control.stats.best_violation = INFINITY;
    control.stats.best_class = 2;
    control.stats.population = a->n;
    for (uint32_t j = 0; j < a->colonies; j++)
        colony[j].best = colony[j].since[0] = colony[j].since[1] = ec_aco_none();
    int status = backend->ops->upload(backend, a->control, &control, sizeof control);
    if (status == EC_OK)
        status = backend->ops->upload(backend, a->colony, colony, a->colonies * sizeof *colony);
    if (status == EC_OK)
        status = backend->ops->fill(backend, a->status, EC_ACO_EMPTY, a->ld);
    free(colony);
    return status;
}

/* ---- create, destroy ---- */

static void aco_destroy(ec_optimizer **optimizer)
{
    ec_aco *aco = optimizer && *optimizer ? self(*optimizer) : NULL;

    if (!aco)
        return;
    aco->base.backend->ops->release(aco->base.backend, aco->state);
    aco->base.backend->ops->release(aco->base.backend, aco->work);
    free(aco->gene);
    free(aco->set);
    free(aco);
    *optimizer = NULL;
}

static int aco_create(const ec_optimizer_def *def, ec_backend *backend,
                      const ec_optimizer_info *info, ec_optimizer **optimizer)
{
    ec_aco *aco = (ec_aco *)calloc(1, sizeof *aco);

    if (!aco)
        return ec_fail(EC_ERR_MEMORY, "aco: no memory");
    aco->base.def = def;
    aco->base.backend = backend;
    ec_optimizer *fresh = &aco->base;
    int status = configure(aco, info);
    if (status == EC_OK)
        status = allocate(aco);
    if (status == EC_OK)
        status = upload_tables(aco, info);
    if (status == EC_OK)
        status = upload_ratios(aco);
    if (status == EC_OK)
        status = upload_pheromones(aco);
    if (status == EC_OK)
        status = upload_control(aco);
    if (status != EC_OK) {
        aco_destroy(&fresh);
        return status;
    }
    *optimizer = fresh;
    return EC_OK;
}

static size_t aco_max_population(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->args.n;
}

static const ec_optimizer_stats *aco_stats(const ec_optimizer *optimizer)
{
    return &self_const(optimizer)->args.control->stats;
}

static void aco_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->args.stop = stop;
}

/* ---- a generation ---- */

static int aco_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG,
                       const int32_t **group_map, size_t *n)
{
    ec_aco *aco = self(optimizer);
    const ec_aco_args *a = &aco->args;
    ec_backend *backend = aco->base.backend;
    int32_t shape = (int32_t)a->genes;

    (void)XG;
    int status = backend->ops->launch(backend, &ec_kernel_aco_ants, a, a->ld, 1);
    if (status != EC_OK)
        return status;
    ec_array_describe(X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, a->n, 1);
    X->data = a->U;
    if (group_map)
        *group_map = NULL;
    *n = a->n;
    aco->proposed = true;
    return EC_OK;
}

static int aco_take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    ec_aco *aco = self(optimizer);
    ec_aco_args *a = &aco->args;
    ec_backend *backend = aco->base.backend;

    if (!aco->proposed)
        return ec_fail(EC_ERR_INTERNAL, "aco: take without propose");
    if (n > a->n)
        return ec_fail(EC_ERR_ARGUMENT, "aco: %zu scores for %u designs", n, a->n);
    aco->whole = n == a->n;
    a->limit = aco->whole ? UINT32_MAX : (uint32_t)n;
    a->trial_cost = scores->cost;
    a->trial_violation = scores->violation;
    a->trial_status = scores->status;
    int status = backend->ops->launch(backend, &ec_kernel_aco_take, a, a->colonies, 1);
    a->limit = UINT32_MAX;
    return status;
}

static bool aco_capturable(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->whole;
}

static size_t aco_replayed(ec_optimizer *optimizer)
{
    return self(optimizer)->args.n;
}

/* A block has to have a thread for each of an ant's sums, and a large evaluation is better spread
 * over the whole chip: multiply-adds and bits of a colony from which on that is so. */
enum { FUSED_ANTS_MIN = 2, FUSED_ANTS = EC_ACO_WORKERS / 4, FUSED_WORK = 1 << 18 };
/* What does not fit shared memory anyway need not be looked at. */
enum { FUSED_VALUES = 1 << 15 };

/* Where row `values` begins among a lane's bytes of the program's results; -1: it is none of them. */
static int64_t result_place(const ec_generation_info *info, const double *values)
{
    const ec_graph_args *program = info->program;
    int64_t row = (int64_t)info->scores.ld,
            at = (const char *)values - program->region[EC_REGION_POPULATION];

    return !values || at < 0 || at >= program->extent.population_bytes * row ? -1 : at / row;
}

static bool aco_fuse(ec_optimizer *optimizer, const ec_generation_info *info)
{
    ec_aco *aco = self(optimizer);
    const ec_aco_args *a = &aco->args;
    int64_t work = ((int64_t)info->program->elements + 4 * (int64_t)a->n_bits) * a->ants;

    if (!aco->base.backend->is_cuda || a->ants < FUSED_ANTS_MIN || a->ants > FUSED_ANTS ||
        work > FUSED_WORK ||
        (int64_t)(a->genes + a->n_bits / 8) * a->ants +
                info->program->extent.chunk_bytes * a->ants / 8 +
                info->program->extent.population_bytes * a->ants / 8 +
                info->program->extent.matrix_bytes / 8 >
            FUSED_VALUES)
        return false;
    aco->fused.aco = *a;
    aco->fused.program = *info->program;
    aco->fused.rules = *info->rules;
    aco->fused.cost = result_place(info, info->scores.cost);
    aco->fused.violation = result_place(info, info->scores.violation);
    if (aco->fused.cost < 0 || (info->scores.violation && aco->fused.violation < 0))
        return false;
    aco->fused.team = 4 * a->ants <= EC_ACO_TEAM ? EC_ACO_TEAM : EC_ACO_WORKERS;
    aco->fused.count = 0; /* shared memory is asked for, nothing runs */
    return aco->base.backend->ops->launch(aco->base.backend, &kernel_generations, &aco->fused, 1,
                                          1) == EC_OK;
}

static int aco_generations(ec_optimizer *optimizer, size_t count)
{
    ec_aco *aco = self(optimizer);
    ec_aco_generations_args *args = &aco->fused;

    args->aco = aco->args;
    args->count = (uint32_t)count;
    return aco->base.backend->ops->launch(aco->base.backend, &kernel_generations, args, 1, 1);
}

/* ---- results ---- */

/* A design that is held: an ant of the last generation, or (from a->n on) a colony's best. */
typedef struct holding {
    ec_aco_score score;
    uint32_t index;
    uint8_t status;
} holding;

static int compare_holdings(const void *x, const void *y)
{
    const holding *a = (const holding *)x, *b = (const holding *)y;

    if (ec_aco_better(a->score, b->score))
        return -1;
    if (ec_aco_better(b->score, a->score))
        return 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

typedef struct held {
    char *state;     /* host copy */
    ec_aco_args at;  /* its pointers */
    holding *design; /* in no order */
    size_t count;
} held;

/* The designs as a heap: each comes before the two below it (sign 1: it is better; -1: worse), so that
 * few are found among many without putting the others in order. */
static void sift_down(held *h, size_t i, int sign)
{
    holding *heap = h->design;

    for (size_t child = 2 * i + 1; child < h->count; i = child, child = 2 * i + 1) {
        if (child + 1 < h->count && sign * compare_holdings(&heap[child + 1], &heap[child]) < 0)
            child++;
        if (sign * compare_holdings(&heap[child], &heap[i]) >= 0)
            return;
        holding up = heap[child];
        heap[child] = heap[i];
        heap[i] = up;
    }
}

static void held_order(held *h, int sign)
{
    for (size_t i = h->count / 2; i > 0; i--)
        sift_down(h, i - 1, sign);
}

/* Takes the first one out of the heap. */
static holding held_next(held *h, int sign)
{
    holding first = h->design[0];

    h->design[0] = h->design[--h->count];
    sift_down(h, 0, sign);
    return first;
}

/* Drops the worst until k are left. */
static void held_keep(held *h, size_t k)
{
    if (h->count <= k)
        return;
    held_order(h, -1);
    while (h->count > k)
        held_next(h, -1);
}

static void held_release(held *h)
{
    free(h->state);
    free(h->design);
}

static int held_fetch(ec_aco *aco, bool designs, held *h)
{
    size_t bytes = designs ? aco->state_bytes : aco->score_bytes;
    const ec_aco_args *a = &aco->args;

    memset(h, 0, sizeof *h);
    h->at = *a;
    h->state = (char *)malloc(aco->state_bytes);
    h->design = (holding *)malloc(((size_t)a->n + a->colonies) * sizeof *h->design);
    if (!h->state || !h->design)
        return ec_fail(EC_ERR_MEMORY, "no memory for the scores of %u designs", a->n);
    int status = aco->base.backend->ops->download(aco->base.backend, h->state, aco->state, bytes);
    if (status != EC_OK)
        return status;
    lay_out_state(&h->at, h->state, &bytes);
    for (uint32_t c = 0; c < a->n; c++)
        if (h->at.status[c] != EC_ACO_EMPTY) {
            holding d = {{h->at.violation[c], h->at.cost[c]}, c, h->at.status[c]};
            h->design[h->count++] = d;
        }
    for (uint32_t j = 0; j < a->colonies; j++)
        if (!ec_aco_failed(h->at.colony[j].best)) {
            holding d = {h->at.colony[j].best, a->n + j, 0};
            h->design[h->count++] = d;
        }
    return EC_OK;
}

static void held_words(const held *h, const holding *d, uint32_t *words)
{
    const ec_aco_args *a = &h->at;
    const uint32_t *bits = a->bits[(a->control->stats.generation + 1) & 1u];

    for (uint32_t w = 0; w < a->words; w++)
        words[w] = d->index < a->n ? bits[(size_t)w * a->ld + d->index]
                                   : a->best[(size_t)(d->index - a->n) * a->words + w];
}

/* A colony's best is often the best ant as well, and ants repeat one another: of equal designs in a
 * row the first counts. */
static int aco_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost, double *violation,
                     uint8_t *candidate_status, size_t *found)
{
    ec_aco *aco = self(optimizer);
    size_t words = aco->args.words, kept = 0;
    held h;
    int status = held_fetch(aco, X != NULL, &h);
    uint32_t *row = (uint32_t *)malloc(2 * words * sizeof *row);

    if (status == EC_OK && !row)
        status = ec_fail(EC_ERR_MEMORY, "no memory for a design");
    if (status == EC_OK && X)
        held_order(&h, 1);
    else if (status == EC_OK)
        held_keep(&h, k);
    while (h.count > 0 && kept < k && status == EC_OK) {
        holding next = X ? held_next(&h, 1) : h.design[--h.count], *d = &next;
        uint32_t *words_now = row + (kept % 2) * words, *before = row + (1 - kept % 2) * words;

        if (X) {
            held_words(&h, d, words_now);
            if (kept > 0 && memcmp(words_now, before, words * sizeof *row) == 0)
                continue;
            decode_row(aco, words_now, X + kept * aco->args.genes);
        }
        if (cost)
            cost[kept] = d->score.cost;
        if (violation)
            violation[kept] = d->score.violation;
        if (candidate_status)
            candidate_status[kept] = d->status;
        kept++;
    }
    if (found && status == EC_OK)
        *found = kept;
    free(row);
    held_release(&h);
    return status;
}

/* ---- save and load ---- */

/* A number for the table of codes. */
static uint64_t hash_codes(const ec_aco *aco)
{
    uint64_t h = 0xcbf29ce484222325u;
    const unsigned char *tables[2] = {(const unsigned char *)aco->gene,
                                      (const unsigned char *)aco->set};
    size_t bytes[2] = {aco->args.genes * sizeof *aco->gene, aco->args.sets * sizeof *aco->set};

    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < bytes[t]; i++)
            h = (h ^ tables[t][i]) * 0x100000001b3u;
    return h;
}

static ec_method_state describe_state(const ec_aco *aco)
{
    enum { VERSION = 2 };
    const ec_aco_args *a = &aco->args;
    ec_method_state s = {.def = &ec_aco_binary,
                         .version = VERSION,
                         .island = a->island,
                         .seed = a->seed,
                         .content = hash_codes(aco),
                         .bytes = aco->state_bytes};

    ec_method_state_add(&s, "variables", a->genes);
    ec_method_state_add(&s, "bits", a->n_bits);
    ec_method_state_add(&s, "colonies", a->colonies);
    ec_method_state_add(&s, "population", a->ants);
    ec_method_state_add(&s, "rule", a->rule);
    return s;
}

static int aco_save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    ec_aco *aco = self(optimizer);
    ec_method_state s = describe_state(aco);

    return ec_method_state_save(&s, aco->base.backend, aco->state, aco->state_bytes, blob, bytes);
}

static int aco_load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_aco *aco = self(optimizer);
    ec_method_state fits = describe_state(aco);
    const char *state;

    int status = ec_method_state_open(&fits, blob, bytes, &state, &bytes);
    if (status == EC_OK)
        status = aco->base.backend->ops->upload(aco->base.backend, aco->state, state, bytes);
    if (status != EC_OK)
        return status;
    aco->proposed = false;
    aco->whole = false;
    return EC_OK;
}

const ec_optimizer_def ec_aco_binary = {
    .name = "aco",
    .help =
        "binary ant colonies for binary, choice and integer variables and for real ones in bits "
        "(Stuetzle and Hoos 2000, Blum and Dorigo 2004; Kilic et al. 2010). population counts "
        "the ants of each colony, 40 by default",
    .options = options,
    .n_options = OPTION_COUNT,
    .links = links,
    .n_links = sizeof links / sizeof *links,
    .min_population = 1,
    .needs = needs,
    .create = aco_create,
    .destroy = aco_destroy,
    .max_population = aco_max_population,
    .propose = aco_propose,
    .take = aco_take,
    .elite = aco_elite,
    .stats = aco_stats,
    .set_stop_flag = aco_set_stop_flag,
    .save = aco_save,
    .load = aco_load,
    .capturable = aco_capturable,
    .replayed = aco_replayed,
    .fuse = aco_fuse,
    .generations = aco_generations,
};
