/* array_weights_internal.h: what the host files of the optimal weights share: array_weights.c checks
 * and records a call, array_weights_plan.c plans and runs it. */
#ifndef EC_ARRAY_WEIGHTS_INTERNAL_H
#define EC_ARRAY_WEIGHTS_INTERNAL_H

#include "array_internal.h"
#include "array_weights.h"
#include "array_weights_types.h"

/* A call's configuration with its grid, only visible directions with their w, and with what it needs of
 * the elements and of their ports. */
typedef struct ec_weights_setup {
    ec_weights_config config; /* array: that below; coupling: NULL */
    double *storage;          /* u, v, w [config.directions] */
    /* A regular grid, count[0] x count[1] modes first + k step (count 0: it is none), and where in it
     * the directions are. */
    int32_t count[2];
    double first[2], step[2];
    int32_t *mode;
    ec_pattern_setup array; /* fields of the elements */
    int32_t n_frequencies;  /* of the coupling, 0: none */
    double *frequency;      /* [n_frequencies], then M as ec_weights_ports.matrix */
} ec_weights_setup;

/* The outputs, in this order. */
enum { EC_WEIGHTS_AMPLITUDE, EC_WEIGHTS_PHASE, EC_WEIGHTS_OUTPUTS };

/* Numbers beside a direction's phasors: 2 for elements of their own with all of their field. */
int32_t ec_weights_parts(const ec_array_config *array);

void ec_weights_fingerprint(const ec_call *call, int32_t output, ec_hash *hash);
int ec_weights_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator);
int ec_weights_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                   ec_array *const *out, uint8_t *status, size_t n);
void ec_weights_destroy(ec_evaluator **evaluator);
void ec_weights_memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed);
int ec_weights_gradient(const ec_call *call);
void ec_weights_describe(const ec_evaluator *evaluator, char *text, size_t size);

#endif
