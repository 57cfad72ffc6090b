/* graph_fingerprint.h: a number that stands for what an expression computes: operations, parameters,
 * constants, genes with their bounds (grids follow from ranges), and the configurations of evaluators.
 * Two expressions with equal fingerprints have equal values for equal genes; where in a script they
 * were made, and what else it makes, does not count.
 */
#ifndef EC_GRAPH_FINGERPRINT_H
#define EC_GRAPH_FINGERPRINT_H

#include "evaluator.h"

EC_C_BEGIN

/* One fingerprint for each of n expressions. Evaluators that cannot tell their configuration
 * (ec_evaluator_def.fingerprint) are taken as `unknown`, e.g. a hash of the script's text. */
EC_API int ec_graph_fingerprint(const ec_graph *graph, int32_t n, const ec_expr *exprs,
                                uint64_t unknown, uint64_t *fingerprints);

EC_C_END
#endif
