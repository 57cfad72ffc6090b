/* solve_kernels.h: what the solve loop does on the backend each generation besides the optimizer
 * and the executor: `score` marks designs whose cost or violation is no finite number as failed,
 * `stop_rules` sets the stop flag that turns everything enqueued behind it into no-ops.
 *
 * Traffic: score reads 16 bytes (8 more for each further cost) and changes 1 a candidate; stop_rules is one thread. Stagnation
 * compares absolute differences, so a cost and the same cost plus a constant stop alike.
 */
#ifndef EC_SOLVE_KERNELS_H
#define EC_SOLVE_KERNELS_H

#include "kernel.h"
#include "optimizer.h"

EC_C_BEGIN

typedef struct ec_score_args {
    const double *cost;      /* [costs], ld */
    const double *violation; /* may be NULL */
    uint8_t *status;
    const int32_t *stop;
    size_t ld;
    uint32_t costs;
} ec_score_args;

/* The best design when it last counted as better. */
typedef struct ec_stop_state {
    double cost, violation;
    uint32_t best_class, generation;
    uint32_t known, reserved;
} ec_stop_state;

typedef struct ec_stop_rules_args {
    const ec_optimizer_stats *stats;
    ec_stop_state *state;
    int32_t *flag;        /* 0, or the ec_stop that holds */
    uint64_t evaluations; /* 0: none */
    uint32_t generations, stagnation;
    double target; /* cost; NaN: none */
    double tolerance, spread;
    int32_t code_generations, code_evaluations, code_target, code_stagnation, code_spread;
} ec_stop_rules_args;

/* x - x is 0 for a finite number and NaN for the others. */
EC_FN bool ec_score_finite(double x)
{
    return x - x == 0.0;
}

EC_FN void ec_score_body(const ec_score_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (*a->stop)
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l;
        bool good = !a->violation || ec_score_finite(a->violation[c]);
        for (uint32_t k = 0; k < a->costs; k++)
            good = good && ec_score_finite(a->cost[k * a->ld + c]);
        a->status[c] = (uint8_t)(a->status[c] | (good ? 0 : 1)); /* EC_CANDIDATE_NOT_FINITE */
    }
}

/* True when the best design is better than the remembered one by more than the tolerance. */
EC_FN bool ec_stop_improved(const ec_stop_rules_args *a)
{
    const ec_optimizer_stats *s = a->stats;
    const ec_stop_state *old = a->state;

    if (!old->known || s->best_class != old->best_class)
        return !old->known || s->best_class < old->best_class;
    if (s->best_class == 0)
        return old->cost - s->best_cost > a->tolerance;
    return s->best_class == 1 && old->violation - s->best_violation > a->tolerance;
}

EC_FN void ec_stop_rules_body(const ec_stop_rules_args *a, size_t lane0, size_t y)
{
    const ec_optimizer_stats *s = a->stats;
    int32_t code = 0;

    (void)y;
    if (lane0 != 0 || *a->flag)
        return;
    if (ec_stop_improved(a)) {
        a->state->cost = s->best_cost;
        a->state->violation = s->best_violation;
        a->state->best_class = s->best_class;
        a->state->generation = s->generation;
        a->state->known = 1;
    }
    if (a->spread > 0.0 && s->spread < a->spread)
        code = a->code_spread;
    if (a->stagnation > 0 && s->generation - a->state->generation >= a->stagnation)
        code = a->code_stagnation;
    if (a->generations > 0 && s->generation >= a->generations)
        code = a->code_generations;
    if (a->evaluations > 0 && s->evaluations >= a->evaluations)
        code = a->code_evaluations;
    if (s->best_class == 0 && s->best_cost <= a->target)
        code = a->code_target;
    if (code)
        *a->flag = code;
}

EC_C_END
#endif
