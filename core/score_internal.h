/* score_internal.h: what a design is worth, and the order of designs.
 *
 * Costs are to be minimised. Class 0 is feasible (status 0, violation 0), 1 infeasible (status 0,
 * violation > 0), 2 failed (status not 0, or a cost or violation that is not finite).
 */
#ifndef EC_SCORE_INTERNAL_H
#define EC_SCORE_INTERNAL_H

#include "base.h"

EC_C_BEGIN

typedef struct ec_score {
    double cost, violation;
    uint8_t status;
} ec_score;

int ec_score_class(const ec_score *score);
/* The order (class, violation, cost): whether a is better; equal ones are not, nor are two that
 * failed. */
bool ec_score_better(const ec_score *a, const ec_score *b);

EC_C_END
#endif
