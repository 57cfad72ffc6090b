/* de.h: differential evolution, what its files share: one state and one set of kernels for
 *   rand1bin, best1bin     Storn and Price, J. Global Optimization 11 (1997), 341-359;
 *   jde                    Brest et al., IEEE Trans. Evol. Comput. 10 (2006), 646-657;
 *   current_to_pbest       JADE: Zhang and Sanderson, IEEE Trans. Evol. Comput. 13 (2009), 945-958;
 *   lshade                 Tanabe and Fukunaga, CEC 2014, 1658-1665;
 *   opposite points        Rahnamayan, Tizhoosh and Salama, IEEE Trans. Evol. Comput. 12 (2008),
 *                          64-79; here a point and its opposite are one pair, of which the better
 *                          one stays, so that the second generation does it in place.
 *
 * Invariants. A generation is propose = de_trial (with groups also de_group_trial) and take =
 * de_judge or de_group_judge if the method has one, de_select, de_finish, and with islands de_meet:
 * always the same launches, since the generation number and the live population n lie in `control`
 * on the backend.
 * Islands are populations of the same size side by side, each with its own Philox stream, control
 * block and members; one launch serves all of them (its y is the island). Proposed designs lie
 * without gaps: member c of island i is candidate i * n + c. Everything else lies at i * stride + c.
 * A kernel's body works on one island and gets it as args whose pointers begin there
 * (ec_de_island); island i without migrants does what a run with info.island = i does.
 * A population that starts again draws new members at generation `first`; its best member is kept.
 * Member c's genes are the row X + c * pitch (genes padded to EC_DE_PAD with zeros), so that a
 * difference vector is three runs of memory; the trials U are gene rows over candidates, as the
 * graph reads them. A stored violation is 0 for a feasible member, infinite (as is its cost) for a
 * failed one: the order of candidates is then (violation, cost, index).
 */
#ifndef EC_DE_H
#define EC_DE_H

#include "kernel.h"
#include "optimizer.h"

EC_C_BEGIN

enum {
    EC_DE_PAD = 8,         /* genes of a row are padded to this: one cache line */
    EC_DE_MEMORY_MAX = 64, /* slots of the success history */
    EC_DE_POPULATION_MAX = 1 << 20,
    EC_DE_EMPTY = 0xff /* status of a member that has not been evaluated */
};

#define EC_DE_NO_SLOT  0xffffffffu
#define EC_DE_INTEGRAL 0x80000000u /* flag in the lists of free genes */

typedef enum ec_de_method {
    EC_DE_RAND1,
    EC_DE_BEST1,
    EC_DE_JDE,
    EC_DE_PBEST,
    EC_DE_LSHADE
} ec_de_method;

typedef enum ec_de_bounds { EC_DE_HALFWAY, EC_DE_REFLECT, EC_DE_CLAMP } ec_de_bounds;

/* What changes from generation to generation besides the population. */
typedef struct ec_de_control {
    ec_optimizer_stats stats;
    uint32_t n;           /* live population */
    uint32_t n_next;      /* after this take */
    uint32_t archive;     /* rows of the archive in use */
    uint32_t memory_at;   /* slot of the success history that is written next */
    uint32_t best;        /* member with the best key */
    uint32_t send;        /* the same when the generation ended: what the next island is shown */
    uint32_t first;       /* generation that drew this population */
    uint32_t since;       /* generation of its last improvement */
    uint32_t kept_at;     /* `first` of the population that came after the kept design */
    uint32_t kept_status; /* EC_DE_EMPTY: nothing is kept */
    uint32_t reserved;
    double now_cost, now_violation;   /* best member of this population */
    double kept_cost, kept_violation; /* best design of the populations before it */
    double mean_f[EC_DE_MEMORY_MAX];
    double mean_cr[EC_DE_MEMORY_MAX]; /* negative: locked, CR is 0 */
    double zero_f[EC_DE_MEMORY_MAX];  /* probability that Cauchy(mean_f, 0.1) <= 0 */
} ec_de_control;

/* What every kernel gets. Pointers are to the backend's memory. */
typedef struct ec_de_args {
    ec_de_control *control;
    const int32_t *stop; /* may be NULL */

    /* state; cost, violation, status, f and cr are read at [generation & 1] and written at the
     * other one, by the methods with a judge always at [0] */
    double *X, *archive;
    double *cost[2], *violation[2];
    uint8_t *status[2];
    double *f[2], *cr[2];      /* jde */
    uint32_t *order;           /* members from best to worst; methods with an archive */
    double *group_X;           /* group vectors, rows of group_pitch */
    double *kept;              /* the kept design's genes */
    ec_optimizer_stats *total; /* of all islands, when there are several */

    /* work of one generation */
    double *U;       /* [genes] over candidates, leading dimension ld */
    double *group_U; /* [group genes] over groups, leading dimension group_ld */
    double *trial_f, *trial_cr;
    double *gain;     /* of a success, else 0 */
    uint32_t *source; /* member c of the next population is member source[c] of this one */
    uint32_t *slot;   /* archive row for the parent, or EC_DE_NO_SLOT */
    uint8_t *accept;
    uint64_t *owner;    /* of an archive row: largest (generation, member) that wants it */
    uint32_t *list;     /* n_max */
    double *tree;       /* 4 n_max */
    uint64_t *sort_key; /* 2 x sort_size, large populations on CUDA */
    uint32_t *sort_index;
    int32_t *group_accept;
    double *strip_low, *strip_high; /* per strip of 32 members: rows of pitch */
    uint32_t *strip_best, *strip_feasible, *strip_failed;

    /* constants */
    const double *lower, *upper; /* pitch, zeros behind the genes */
    const double *group_lower, *group_upper;
    const double *start; /* rows of pitch, dealt to the islands one by one */
    const uint32_t *free_genes, *group_free_genes; /* those whose bounds differ, flagged */
    const int32_t *group_map;

    /* scores of the trials, from the caller */
    const double *trial_cost, *trial_violation;
    const uint8_t *trial_status;
    uint32_t limit;     /* trials of the island from this one on were not evaluated */
    uint32_t limit_all; /* the same of all candidates */

    uint64_t seed;
    uint32_t island;
    uint32_t islands, index; /* index: of the island that the pointers belong to */
    uint32_t migrate;        /* generations between migrations, 0: never */
    uint32_t restart;        /* generations without improvement, 0: never */
    uint32_t opposition;
    double restart_spread; /* 0: never */
    uint32_t stride;       /* members of an island, padded */
    uint32_t sort_size;    /* power of two */
    uint32_t bucket;       /* lanes of this generation's launches */
    uint32_t genes, pitch, n_free;
    uint32_t group_genes, group_pitch, group_n_free, groups;
    uint32_t ld, group_ld;
    uint32_t n_max, n_min, n_start, archive_max;
    uint32_t method, bounds, memory;
    uint32_t adapt; /* F and CR from the success history */
    double F, CR, tau_f, tau_cr, p, archive_rate, learning_rate;
    uint64_t evaluations_budget, generations_budget; /* 0: none */
} ec_de_args;

/* Population after `evaluations` designs and `generation` takes: linear from n_max to n_min over
 * the budget, whichever budget is further along. The same on host and backend. */
EC_FN uint32_t ec_de_schedule(const ec_de_args *a, uint64_t evaluations, uint64_t generation)
{
    double share = 0.0;

    if (a->method != EC_DE_LSHADE)
        return a->n_max;
    if (a->evaluations_budget)
        share = (double)evaluations / (double)a->evaluations_budget;
    if (a->generations_budget) {
        double other = (double)generation / (double)a->generations_budget;
        share = other > share ? other : share;
    }
    if (share >= 1.0)
        return a->n_min;
    return (uint32_t)floor((double)a->n_max + ((double)a->n_min - (double)a->n_max) * share + 0.5);
}

EC_FN uint32_t ec_de_archive_size(const ec_de_args *a, uint32_t n)
{
    return (uint32_t)floor(a->archive_rate * (double)n + 0.5);
}

EC_FN bool ec_de_has_judge(uint32_t method)
{
    return method == EC_DE_PBEST || method == EC_DE_LSHADE;
}

/* The args of island i: what lies on the backend begins there. */
EC_FN void ec_de_island(const ec_de_args *all, uint32_t i, ec_de_args *a)
{
    size_t at = (size_t)i * all->stride, strips = (size_t)i * (all->stride / EC_LANE_PAD);
    size_t candidate = (size_t)i * all->control[i].n;

    *a = *all;
    a->index = i;
    a->island += i;
    a->control += i;
    a->X += at * a->pitch;
    a->archive += (size_t)i * a->archive_max * a->pitch;
    a->kept += (size_t)i * a->pitch;
    for (int copy = 0; copy < (ec_de_has_judge(a->method) ? 1 : 2); copy++) {
        a->cost[copy] += at;
        a->violation[copy] += at;
        a->status[copy] += at;
        a->f[copy] += at;
        a->cr[copy] += at;
    }
    a->trial_f += at;
    a->trial_cr += at;
    a->order += at;
    a->gain += at;
    a->source += at;
    a->slot += at;
    a->accept += at;
    a->owner += (size_t)i * a->archive_max;
    a->list += at;
    a->tree += 4 * at;
    a->sort_key += 2 * (size_t)i * a->sort_size;
    a->sort_index += (size_t)i * a->sort_size;
    a->strip_low += strips * a->pitch;
    a->strip_high += strips * a->pitch;
    a->strip_best += strips;
    a->strip_feasible += strips;
    a->strip_failed += strips;
    a->U += candidate;
    if (a->trial_cost) {
        a->trial_cost += candidate;
        a->trial_status += candidate;
    }
    if (a->trial_violation)
        a->trial_violation += candidate;
    a->limit = a->limit_all > candidate ? a->limit_all - (uint32_t)candidate : 0;
}

extern const ec_kernel ec_kernel_de_trial, ec_kernel_de_group_trial, ec_kernel_de_judge,
    ec_kernel_de_group_judge, ec_kernel_de_select, ec_kernel_de_finish, ec_kernel_de_meet;

/* de.c: the entries of ec_optimizer_def; de_methods.c has the table of the methods. */
int ec_de_create(const ec_optimizer_def *def, ec_backend *backend, const ec_optimizer_info *info,
                 ec_optimizer **optimizer);
void ec_de_destroy(ec_optimizer **optimizer);
size_t ec_de_max_population(const ec_optimizer *optimizer);
int ec_de_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG, const int32_t **group_map,
                  size_t *n);
int ec_de_take(ec_optimizer *optimizer, const ec_scores *scores, size_t n);
int ec_de_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost, double *violation,
                uint8_t *candidate_status, size_t *found);
const ec_optimizer_stats *ec_de_stats(const ec_optimizer *optimizer);
void ec_de_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop);
int ec_de_save(ec_optimizer *optimizer, void **blob, size_t *bytes);
int ec_de_load(ec_optimizer *optimizer, const void *blob, size_t bytes);
bool ec_de_capturable(const ec_optimizer *optimizer);
size_t ec_de_replayed(ec_optimizer *optimizer);

extern const ec_optimizer_def ec_de_rand1bin, ec_de_best1bin, ec_de_jde, ec_de_current_to_pbest,
    ec_de_lshade;

EC_C_END
#endif
