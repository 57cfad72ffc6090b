/* array_weights_internal.h: what the host files of the optimal weights share: array_weights.c checks
 * and records a call, array_weights_plan.c plans and runs it. */
#ifndef EC_ARRAY_WEIGHTS_INTERNAL_H
#define EC_ARRAY_WEIGHTS_INTERNAL_H

#include "array_internal.h"
#include "array_weights.h"
#include "array_weights_types.h"

/* A call's configuration with its grid: only visible directions, with their w. */
typedef struct ec_weights_setup {
    ec_weights_config config;
    double *storage; /* u, v, w [config.directions] */
} ec_weights_setup;

/* The outputs, in this order. */
enum { EC_WEIGHTS_AMPLITUDE, EC_WEIGHTS_PHASE, EC_WEIGHTS_OUTPUTS };

/* What a kernel needs of the configuration; pointers and strides are left open. */
void ec_weights_fill(const ec_weights_config *config, ec_weights_args *args);

int ec_weights_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator);
int ec_weights_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                   ec_array *const *out, uint8_t *status, size_t n);
void ec_weights_destroy(ec_evaluator **evaluator);
void ec_weights_memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed);
void ec_weights_describe(const ec_evaluator *evaluator, char *text, size_t size);

#endif
