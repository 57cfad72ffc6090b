/* acor.c: the host's side of ACO_R: memory, launches, save and load. Method "acor".
 *
 * Two blocks of memory on the backend: `state`, which a blob holds byte for byte, and `work`. */
#include "acor.h"
#include "acor_kernels.h"
#include "optimizers/method_info.h"
#include "optimizers/method_state.h"
#include "optimizers/method_memory.h"

#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(acor_sample, ec_acor_args)
EC_KERNEL_DECLARE(acor_key, ec_acor_args)
EC_KERNEL_DECLARE(acor_rank, ec_acor_args)
EC_KERNEL_DECLARE(acor_place, ec_acor_args)
EC_KERNEL_DECLARE(acor_deviation, ec_acor_args)
EC_KERNEL_DECLARE(acor_finish, ec_acor_args)

enum { ARCHIVE_LEAST = 2, ANTS_DEFAULT = 32 };

typedef struct ec_acor {
    ec_optimizer base;
    ec_acor_args args;
    char *state, *work; /* on the backend */
    size_t state_bytes;
    double q;
    bool proposed;
    bool whole; /* the last take was not cut */
} ec_acor;

static ec_acor *self(ec_optimizer *optimizer)
{
    return (ec_acor *)optimizer;
}

static const ec_acor *self_const(const ec_optimizer *optimizer)
{
    return (const ec_acor *)optimizer;
}

/* ---- memory ---- */

/* Called with base NULL for the size, then for the pointers. The deviations are state too: they are
 * those of the current archive. */
static size_t lay_out_state(ec_acor_args *a, char *base)
{
    ec_method_memory memory = {base, 0};

    a->control = EC_METHOD_TAKE(&memory, ec_acor_control, 1);
    for (int i = 0; i < 2; i++) {
        a->X[i] = EC_METHOD_TAKE(&memory, double, (size_t)a->archive_max * a->pitch);
        a->cost[i] = EC_METHOD_TAKE(&memory, double, a->archive_max);
        a->violation[i] = EC_METHOD_TAKE(&memory, double, a->archive_max);
        a->status[i] = EC_METHOD_TAKE(&memory, uint8_t, a->archive_max);
    }
    a->deviation = EC_METHOD_TAKE(&memory, double, (size_t)a->archive_max * a->pitch);
    return memory.used;
}

static size_t lay_out_work(ec_acor_args *a, char *base)
{
    ec_method_memory memory = {base, 0};

    a->spread = EC_METHOD_TAKE(&memory, double, a->pitch);
    a->U = EC_METHOD_TAKE(&memory, double, (size_t)a->ld * a->genes);
    a->ant_cost = EC_METHOD_TAKE(&memory, double, a->ld);
    a->ant_violation = EC_METHOD_TAKE(&memory, double, a->ld);
    a->ant_status = EC_METHOD_TAKE(&memory, uint8_t, a->ld);
    a->strip_failed = EC_METHOD_TAKE(&memory, uint32_t, a->ld / EC_LANE_PAD);
    a->source = EC_METHOD_TAKE(&memory, uint32_t, a->archive_max);
    a->lower = EC_METHOD_TAKE(&memory, double, a->pitch);
    a->upper = EC_METHOD_TAKE(&memory, double, a->pitch);
    a->cell = EC_METHOD_TAKE(&memory, double, a->pitch);
    a->chance = EC_METHOD_TAKE(&memory, double, a->archive_max);
    a->start = EC_METHOD_TAKE(&memory, double, (size_t)a->n_start * a->pitch);
    return memory.used;
}

static int allocate(ec_acor *o)
{
    size_t work_bytes = lay_out_work(&o->args, NULL);

    o->state_bytes = lay_out_state(&o->args, NULL);
    int status = ec_method_block(o->base.backend, o->state_bytes, &o->state);
    if (status == EC_OK)
        status = ec_method_block(o->base.backend, work_bytes, &o->work);
    if (status != EC_OK)
        return status;
    lay_out_state(&o->args, o->state);
    lay_out_work(&o->args, o->work);
    return EC_OK;
}

/* ---- create, destroy ---- */

/* Width of the cells of an integral gene: 1, but a binary one has two of width 1/2. Genes of a set
 * are ordered rather than rounded, so they have none. */
static double cell_of(const ec_gene *gene)
{
    double width = gene->max - gene->min;

    if (!gene->integral || gene->set > 0)
        return 0.0;
    return width < 1.5 ? 0.5 * width : 1.0;
}

static int configure(ec_acor *o, const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    ec_acor_args *a = &o->args;
    uint32_t integral = 0;

    int status = ec_method_check(def, info, EC_ACOR_ANTS_MAX);
    if (status < 0)
        return status;
    if (info->n_genes > EC_ACOR_GENES_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "acor: %zu variables, at most %d are allowed",
                       info->n_genes, (int)EC_ACOR_GENES_MAX);
    for (size_t g = 0; g < info->n_genes; g++)
        integral += cell_of(&info->genes[g]) > 0;
    a->genes = (uint32_t)info->n_genes;
    a->pitch = (uint32_t)ec_lane_ld(info->n_genes);
    a->ants = info->population > 0 ? (uint32_t)info->population : ANTS_DEFAULT;
    a->ld = (uint32_t)ec_lane_ld(a->ants);
    a->n_start = (uint32_t)(info->n_start < a->ants ? info->n_start : a->ants);
    a->seed = info->seed;
    a->island = info->island;
    a->archive_max = (uint32_t)ec_method_option(def, info, "archive");
    a->xi = ec_method_option(def, info, "xi");
    o->q = ec_method_option(def, info, "q");
    /* half a cell is left with the probability 1/integral; the deviation is half a cell at most */
    double z = integral > 2 ? -ec_normal(0.5 / integral) : 1.0;
    a->least = z > 1.0 ? 0.5 / z : 0.5;
    a->limit = UINT32_MAX;
    return EC_OK;
}

/* Running sum of the Gaussian weights of the ranks (eq. 6); their common factor does not matter. */
static void fill_chances(const ec_acor *o, double *chance)
{
    double sum = 0, deviation = o->q * o->args.archive_max;

    for (uint32_t rank = 0; rank < o->args.archive_max; rank++) {
        double ratio = rank / deviation;
        sum += rank > 0 ? ec_det_exp(-0.5 * ratio * ratio) : 1.0;
        chance[rank] = sum;
    }
}

static int upload_constants(ec_acor *o, const ec_optimizer_info *info)
{
    const ec_acor_args *a = &o->args;
    size_t pitch = a->pitch, count = 3 * pitch + a->archive_max + a->n_start * pitch;
    double *values = (double *)calloc(count, sizeof *values);

    if (!values)
        return ec_fail(EC_ERR_MEMORY, "acor: no memory for %zu variables", info->n_genes);
    double *chance = values + 3 * pitch, *start = chance + a->archive_max;
    for (size_t g = 0; g < a->genes; g++) {
        values[g] = info->genes[g].min;
        values[pitch + g] = info->genes[g].max;
        values[2 * pitch + g] = cell_of(&info->genes[g]);
        for (size_t r = 0; r < a->n_start; r++)
            start[r * pitch + g] = ec_method_start(info, r, g);
    }
    fill_chances(o, chance);
    const struct {
        const double *to, *from;
        size_t n;
    } parts[] = {{a->lower, values, pitch},
                 {a->upper, values + pitch, pitch},
                 {a->cell, values + 2 * pitch, pitch},
                 {a->chance, chance, a->archive_max},
                 {a->start, start, a->n_start * pitch}};
    int status = EC_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == EC_OK; i++)
        if (parts[i].n > 0)
            status = o->base.backend->ops->upload(o->base.backend, (void *)(uintptr_t)parts[i].to,
                                                  parts[i].from, parts[i].n * sizeof(double));
    free(values);
    return status;
}

static int upload_control(ec_acor *o)
{
    ec_acor_control control;

    memset(&control, 0, sizeof control);
    control.stats.best_cost = control.stats.best_violation = INFINITY;
    control.stats.best_class = 2;
    return o->base.backend->ops->upload(o->base.backend, o->args.control, &control, sizeof control);
}

static void destroy(ec_optimizer **optimizer)
{
    ec_acor *o = optimizer && *optimizer ? self(*optimizer) : NULL;

    if (!o)
        return;
    o->base.backend->ops->release(o->base.backend, o->state);
    o->base.backend->ops->release(o->base.backend, o->work);
    free(o);
    *optimizer = NULL;
}

static int create(const ec_optimizer_def *def, ec_backend *backend, const ec_optimizer_info *info,
                  ec_optimizer **optimizer)
{
    ec_acor *o = (ec_acor *)calloc(1, sizeof *o);

    if (!o)
        return ec_fail(EC_ERR_MEMORY, "acor: no memory");
    o->base.def = def;
    o->base.backend = backend;
    ec_optimizer *fresh = &o->base;
    int status = configure(o, def, info);
    if (status == EC_OK)
        status = allocate(o);
    if (status == EC_OK)
        status = upload_constants(o, info);
    if (status == EC_OK)
        status = upload_control(o);
    if (status != EC_OK) {
        destroy(&fresh);
        return status;
    }
    *optimizer = fresh;
    return EC_OK;
}

static size_t max_population(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->args.ants;
}

static const ec_optimizer_stats *stats_of(const ec_optimizer *optimizer)
{
    return &self_const(optimizer)->args.control->stats;
}

static void set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->args.stop = stop;
}

/* ---- a generation ---- */

static int launch(ec_acor *o, const ec_kernel *kernel, size_t lanes, size_t ny)
{
    return o->base.backend->ops->launch(o->base.backend, kernel, &o->args, lanes, ny);
}

static int propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG, const int32_t **group_map,
                   size_t *n)
{
    ec_acor *o = self(optimizer);
    const ec_acor_args *a = &o->args;
    int32_t shape = (int32_t)a->genes;

    (void)XG;
    int status = launch(o, &ec_kernel_acor_sample, a->ld, 1);
    if (status != EC_OK)
        return status;
    ec_array_describe(X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, a->ants, 1);
    X->data = a->U;
    if (group_map)
        *group_map = NULL;
    *n = a->ants;
    o->proposed = true;
    return EC_OK;
}

static int take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    ec_acor *o = self(optimizer);
    ec_acor_args *a = &o->args;

    if (!o->proposed)
        return ec_fail(EC_ERR_INTERNAL, "acor: take without propose");
    if (n > a->ants)
        return ec_fail(EC_ERR_ARGUMENT, "acor: %zu scores for %u designs", n, a->ants);
    o->whole = n == a->ants;
    a->limit = o->whole ? UINT32_MAX : (uint32_t)n;
    a->cost_in = scores->cost;
    a->violation_in = scores->violation;
    a->status_in = scores->status;
    int status = launch(o, &ec_kernel_acor_key, a->ld, 1);
    if (status == EC_OK)
        status = launch(o, &ec_kernel_acor_rank, ec_lane_ld(a->archive_max + a->ld), 1);
    if (status == EC_OK)
        status = launch(o, &ec_kernel_acor_place, a->pitch, a->archive_max);
    if (status == EC_OK)
        status = launch(o, &ec_kernel_acor_deviation, a->pitch, a->archive_max);
    if (status == EC_OK)
        status = launch(o, &ec_kernel_acor_finish, 1, 1);
    a->limit = UINT32_MAX;
    return status;
}

static bool capturable(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->whole;
}

static size_t replayed(ec_optimizer *optimizer)
{
    return self(optimizer)->args.ants;
}

/* ---- results ---- */

static int elite(ec_optimizer *optimizer, size_t k, double *X, double *cost, double *violation,
                 uint8_t *candidate_status, size_t *found)
{
    ec_acor *o = self(optimizer);
    const ec_acor_args *a = &o->args;
    const ec_backend_ops *ops = o->base.backend->ops;
    ec_acor_control control;

    int status = ops->download(o->base.backend, &control, a->control, sizeof control);
    if (status != EC_OK)
        return status;
    int now = (int)(control.stats.generation & 1u);
    k = k < control.archive ? k : control.archive;
    if (cost && k > 0)
        status = ops->download(o->base.backend, cost, a->cost[now], k * sizeof *cost);
    if (status == EC_OK && violation && k > 0)
        status =
            ops->download(o->base.backend, violation, a->violation[now], k * sizeof *violation);
    if (status == EC_OK && candidate_status && k > 0)
        status = ops->download(o->base.backend, candidate_status, a->status[now], k);
    for (size_t i = 0; X && i < k && status == EC_OK; i++)
        status = ops->download(o->base.backend, X + i * a->genes, a->X[now] + i * a->pitch,
                               a->genes * sizeof *X);
    if (found && status == EC_OK)
        *found = k;
    return status;
}

/* ---- save and load ---- */

static ec_method_state describe_state(const ec_acor *o)
{
    enum { VERSION = 2 };
    const ec_acor_args *a = &o->args;
    ec_method_state s = {.def = o->base.def,
                         .version = VERSION,
                         .island = a->island,
                         .seed = a->seed,
                         .bytes = o->state_bytes};

    ec_method_state_add(&s, "variables", a->genes);
    ec_method_state_add(&s, "population", a->ants);
    ec_method_state_add(&s, "archive", a->archive_max);
    ec_method_state_add(&s, "start designs", a->n_start);
    ec_method_state_add(&s, "xi", a->xi);
    ec_method_state_add(&s, "q", o->q);
    return s;
}

static int save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    ec_acor *o = self(optimizer);
    ec_method_state s = describe_state(o);

    return ec_method_state_save(&s, o->base.backend, o->state, o->state_bytes, blob, bytes);
}

static int load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_acor *o = self(optimizer);
    ec_method_state fits = describe_state(o);
    ec_acor_control control;
    const char *state;

    int status = ec_method_state_open(&fits, blob, bytes, &state, &bytes);
    if (status != EC_OK)
        return status;
    memcpy(&control, state, sizeof control);
    if (control.archive > o->args.archive_max)
        return ec_fail(EC_ERR_FORMAT, "the saved state is damaged");
    status = o->base.backend->ops->upload(o->base.backend, o->state, state, o->state_bytes);
    if (status != EC_OK)
        return status;
    o->proposed = o->whole = false;
    return EC_OK;
}

/* ---- the method ---- */

static const ec_option_def options[] = {
    {"archive", EC_OPTION_INTEGER, 50, ARCHIVE_LEAST, EC_ACOR_ARCHIVE_MAX, NULL,
     "designs that the ants choose from"},
    {"q", EC_OPTION_NUMBER, 0.05, 1e-4, 10, NULL,
     "deviation of the chosen rank, as a share of the archive: small ones prefer the best designs"},
    {"xi", EC_OPTION_NUMBER, 0.85, 0.01, 10, NULL,
     "deviation of a variable, as a multiple of the archive's mean distance"},
};

const ec_optimizer_def ec_acor_method = {
    .name = "acor",
    .help = "ACO_R: an ant colony for real and integer variables (Socha and Dorigo 2008)",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .min_population = 1,
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
    .capturable = capturable,
    .replayed = replayed,
};
