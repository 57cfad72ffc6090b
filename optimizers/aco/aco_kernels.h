/* aco_kernels.h: the arithmetic of the ant colony that CPU and CUDA share. Every random number is a
 * function of (seed, island, purpose, generation, candidate, block). Sources: see aco.h. */
#ifndef EC_ACO_KERNELS_H
#define EC_ACO_KERNELS_H

#include "aco.h"
#include "random.h"

#include <float.h>

/* Philox streams of this module. A block of four words draws eight bits: bit 8 b + 2 w + h by half h
 * of word w, the low half first. */
enum { EC_ACO_DRAW_BIT = 1, EC_ACO_DRAW_SET = 2 };

EC_FN ec_random_stream ec_aco_stream(const ec_aco_args *a, uint32_t generation, uint32_t purpose)
{
    return ec_random_make(a->seed, generation, purpose, a->island);
}

EC_FN bool ec_aco_stopped(const ec_aco_args *a)
{
    return a->stop && *a->stop;
}

/* ---- scores ---- */

EC_FN ec_aco_score ec_aco_none(void)
{
    ec_aco_score s;

    s.violation = s.cost = (double)INFINITY;
    return s;
}

EC_FN bool ec_aco_better(ec_aco_score x, ec_aco_score y)
{
    return x.violation < y.violation || (x.violation == y.violation && x.cost < y.cost);
}

EC_FN bool ec_aco_failed(ec_aco_score s)
{
    return s.violation > DBL_MAX;
}

/* A score, cleaned: no NaN, no negative violation, no negative zero. */
EC_FN ec_aco_score ec_aco_clean(double cost, double violation, uint8_t *status)
{
    ec_aco_score s = ec_aco_none();

    *status = *status == EC_ACO_EMPTY ? EC_CANDIDATE_EVALUATOR : *status;
    if (!(fabs(cost) <= DBL_MAX && fabs(violation) <= DBL_MAX))
        *status = (uint8_t)(*status | EC_CANDIDATE_NOT_FINITE);
    if (*status)
        return s;
    s.violation = violation > 0.0 ? violation : 0.0;
    s.cost = cost + 0.0;
    return s;
}

/* Score of candidate c, cleaned. */
EC_FN ec_aco_score ec_aco_trial(const ec_aco_args *a, size_t c, uint8_t *status)
{
    *status = EC_ACO_EMPTY;
    if (c >= a->limit)
        return ec_aco_none();
    *status = a->trial_status ? a->trial_status[c] : 0;
    return ec_aco_clean(a->trial_cost[c], a->trial_violation ? a->trial_violation[c] : 0.0, status);
}

/* ---- codes ---- */

/* The code of a gene from two neighbouring words of bits. */
EC_FN uint32_t ec_aco_code(const ec_aco_gene *gene, uint32_t low, uint32_t high)
{
    uint64_t both = (uint64_t)high << 32 | low;

    return (uint32_t)(both >> (gene->first & 31u) & (((uint64_t)1 << gene->bits) - 1));
}

/* Whether the code goes on in the next word. */
EC_FN bool ec_aco_spans(const ec_aco_gene *gene)
{
    return (gene->first & 31u) + gene->bits > 32;
}

/* floor(code cells / 2^bits), without a product beyond 64 bits. */
EC_FN uint32_t ec_aco_cell(const ec_aco_gene *gene, uint32_t code)
{
    return (uint32_t)((uint64_t)code * gene->cells >> gene->bits);
}

/* ratio: ec_aco_args.ratio, or NULL. */
EC_FN double ec_aco_value(const ec_aco_gene *gene, uint32_t code, const double *ratio)
{
    if (gene->kind == EC_ACO_BINARY)
        return code ? 0.75 : 0.25;
    if (gene->kind == EC_ACO_CELLS)
        return gene->min + (ec_random_to_double(ec_aco_cell(gene, code)) + 0.5);
    if (gene->kind == EC_ACO_REAL) {
        double last = ec_random_to_double((uint32_t)(((uint64_t)1 << gene->bits) - 1));
        double share = ratio ? ratio[code] : ec_random_to_double(code) / last;
        double x = gene->min + share * (gene->max - gene->min);
        return x < gene->max ? x : gene->max;
    }
    return gene->min;
}

/* ---- pheromones ---- */

EC_FN uint16_t ec_aco_level(double p)
{
    double level = ec_det_floor(p * 65536.0 + 0.5);

    level = level > 1.0 ? level : 1.0;
    return (uint16_t)(level < 65535.0 ? level : 65535.0);
}

/* Where a colony's pheromones lie. */
typedef struct ec_aco_trail {
    double *one, *zero; /* zero: proportional only */
    uint16_t *level;
} ec_aco_trail;

EC_FN ec_aco_trail ec_aco_trail_of(const ec_aco_args *a, uint32_t j)
{
    size_t at = (size_t)j * a->pitch;
    ec_aco_trail trail;

    trail.one = a->one + at;
    trail.zero = a->zero + at;
    trail.level = a->level + at;
    return trail;
}

/* What a take decided about a colony. */
typedef struct ec_aco_decision {
    uint32_t ant;    /* candidate with the best score of the generation */
    bool good;       /* it has not failed */
    bool from_ant;   /* the best since the start becomes the ant, */
    bool from_other; /* or the neighbour's */
    bool record;     /* that one is the best of all generations too */
    bool since_good; /* the best since the start has not failed */
    bool restart;    /* the colony starts again */
} ec_aco_decision;

EC_FN uint32_t ec_aco_neighbour(const ec_aco_args *a, uint32_t j)
{
    return j > 0 ? j - 1 : a->colonies - 1;
}

/* Updates the records of colony j, or a copy of them. An ant as good as the best takes its place, so that a colony wanders
 * on a plateau, but only a better one counts as progress. */
EC_FN ec_aco_decision ec_aco_decide(const ec_aco_args *a, uint32_t j, ec_aco_colony *colony,
                                    uint32_t generation, uint32_t ant, ec_aco_score score)
{
    int now = (int)(generation & 1u);
    ec_aco_score since = colony->since[now];
    ec_aco_decision d;
    bool progress = ec_aco_better(score, since);

    d.ant = ant;
    d.good = !ec_aco_failed(score);
    d.from_ant = d.good && !ec_aco_better(since, score);
    d.from_other = false;
    since = d.from_ant ? score : since;
    if (a->exchange && a->colonies > 1 && (generation + 1) % a->exchange == 0) {
        ec_aco_score other = a->colony[ec_aco_neighbour(a, j)].since[now];
        if (ec_aco_better(other, since)) {
            d.from_ant = false;
            d.from_other = progress = true;
            since = other;
        }
    }
    if (progress)
        colony->improved = generation;
    d.record = ec_aco_better(since, colony->best);
    if (d.record)
        colony->best = since;
    d.since_good = !ec_aco_failed(since);
    d.restart = a->restart && generation - colony->improved >= a->restart;
    if (d.restart) {
        since = ec_aco_none();
        colony->improved = generation;
        colony->starts++;
    }
    colony->since[1 - now] = since;
    return d;
}

/* One word of the bits that are best since the start, and where it goes. */
EC_FN uint32_t ec_aco_since_word(const ec_aco_args *a, uint32_t j, uint32_t generation,
                                 const ec_aco_decision *d, uint32_t w)
{
    int now = (int)(generation & 1u);

    if (d->from_other)
        return a->since[now][(size_t)ec_aco_neighbour(a, j) * a->words + w];
    if (d->from_ant)
        return a->bits[now][(size_t)w * a->ld + d->ant];
    return a->since[now][(size_t)j * a->words + w];
}

EC_FN void ec_aco_keep_word(const ec_aco_args *a, uint32_t j, uint32_t generation,
                            const ec_aco_decision *d, uint32_t w, uint32_t word)
{
    size_t at = (size_t)j * a->words + w;

    a->since[1 - (int)(generation & 1u)][at] = word;
    if (d->record)
        a->best[at] = word;
}

/* Evaporation and deposit of the generation's best ant and of the best since the start, in
 * probabilities: tau0 + tau1 stays 1 (Blum and Dorigo 2004, eq. 4). */
EC_FN double ec_aco_max_min(const ec_aco_args *a, double p, bool ant_good, bool ant_bit,
                            bool since_good, bool since_bit)
{
    double goal, bound = 1.0 - a->low;

    if (!ant_good && !since_good)
        return p;
    goal = ant_good ? (ant_bit ? 1.0 : 0.0) : (since_bit ? 1.0 : 0.0);
    if (ant_good && since_good)
        goal = (1.0 - a->elite) * goal + a->elite * (since_bit ? 1.0 : 0.0);
    p = p + a->evaporation * (goal - p);
    p = p > a->low ? p : a->low;
    return p < bound ? p : bound;
}

/* Deposit of bit `bit` of a word of the ant and of the word that is best since the start. */
EC_FN void ec_aco_deposit_best(const ec_aco_args *a, const ec_aco_trail *trail, size_t at,
                               const ec_aco_decision *d, uint32_t ant_word, uint32_t since_word,
                               uint32_t bit)
{
    double p = ec_aco_max_min(a, trail->one[at], d->good, ant_word >> bit & 1u, d->since_good,
                              since_word >> bit & 1u);

    trail->one[at] = p;
    trail->level[at] = ec_aco_level(p);
}

EC_FN void ec_aco_set_bit(const ec_aco_args *a, const ec_aco_trail *trail, size_t bit, double one,
                          double zero)
{
    double p = one;

    if (a->rule == EC_ACO_PROPORTIONAL) {
        /* all has evaporated */
        if (!(one + zero > 1e-280))
            one = zero = 1.0;
        trail->zero[bit] = zero;
        p = one / (zero + one);
    }
    trail->one[bit] = one;
    trail->level[bit] = ec_aco_level(p);
}

EC_FN void ec_aco_begin_bit(const ec_aco_args *a, const ec_aco_trail *trail, size_t bit)
{
    double half = a->rule == EC_ACO_PROPORTIONAL ? 1.0 : 0.5;

    ec_aco_set_bit(a, trail, bit, half, half);
}

/* What an ant lays on its bits by the proportional rule: 1 / cost; when no ant of the colony is
 * feasible, 1 / violation. Costs below the floor count as the floor. */
EC_FN double ec_aco_weight(const ec_aco_args *a, ec_aco_score s, bool any_feasible)
{
    double x = any_feasible ? s.cost : s.violation;

    if (ec_aco_failed(s) || (any_feasible && s.violation > 0.0))
        return 0.0;
    return a->deposit / (x > a->floor ? x : a->floor);
}

/* ---- statistics ---- */

/* The part of a gene's range over which the bits differ: 0 when all ants have the same code, and at
 * least the distance of the two that are farthest apart. */
EC_FN double ec_aco_gene_spread(const ec_aco_gene *gene, uint32_t low, uint32_t high)
{
    uint64_t last = ((uint64_t)1 << gene->bits) - 1;

    if (gene->kind == EC_ACO_FIXED)
        return 0.0;
    return (double)ec_aco_code(gene, low, high) / (double)last;
}

/* Everything but the spread; the caller has added up failed, feasible and restarts. */
EC_FN void ec_aco_finish_stats(const ec_aco_args *a, ec_optimizer_stats *stats, ec_aco_score best,
                               uint32_t failed, uint32_t feasible, uint32_t restarts, double spread)
{
    stats->best_cost = best.cost;
    stats->best_violation = best.violation;
    stats->best_class = ec_aco_failed(best) ? 2 : best.violation > 0.0 ? 1 : 0;
    stats->spread = spread;
    stats->evaluations += a->n < a->limit ? a->n : a->limit;
    stats->failed += failed;
    stats->feasible = feasible;
    stats->population = a->n;
    stats->restarts = restarts;
    stats->generation += 1;
}

#endif
