/* microstrip.h: the impedance of a microstrip line by a closed formula, as an evaluator: the example of the page
 * docs/guide/evaluator.md, laid out as a folder of evaluators/ is.
 *
 * E. Hammerstad and O. Jensen, "Accurate models for microstrip computer-aided design", IEEE MTT-S Digest 1980,
 * 407-409, equations 1 to 5: a strip without thickness, quasi-static. Their errors: 0.03 % of the impedance in air,
 * 0.2 % of the effective permittivity.
 *
 * In: widths of strips. Out, of the same shape: the impedance in ohm, and the effective relative permittivity. A
 * design with a width below 0.01 or above 100 heights fails (EC_CANDIDATE_EVALUATOR), its outputs are NaN.
 */
#ifndef EC_MICROSTRIP_H
#define EC_MICROSTRIP_H

#include "core/evaluator.h"

EC_C_BEGIN

typedef struct ec_microstrip_config {
    double height; /* of the board, m, above 0 */
    double eps_r;  /* its relative permittivity, 1 to 128 */
} ec_microstrip_config;

extern const ec_evaluator_def ec_evaluator_microstrip;

enum { EC_MICROSTRIP_OHMS, EC_MICROSTRIP_EPS_EFF, EC_MICROSTRIP_OUTPUTS };

/* width: f64 of any shape and axes, m. *config is copied. Fills in the nodes of the outputs. ERR_ARGUMENT, ERR_TYPE
 * or ERR_RANGE with a sentence. */
int ec_microstrip_create(ec_graph *graph, const ec_microstrip_config *config, ec_expr width,
                         ec_expr output[EC_MICROSTRIP_OUTPUTS]);

EC_C_END
#endif
