/* executor.h: evaluates a set of outputs of a graph for a population on one backend, or on all of
 * a list of them: then evaluators' work is split by design and gathered on the first.
 *
 * Created once for (graph, outputs, backend, fidelity, largest population); run many times. The
 * population is cut into chunks that fit the memory budget; results do not depend on the cut.
 * Nodes without the candidate axis are computed once (constants at creation, group values once a
 * run). Chains of element-wise work are one fused pass.
 */
#ifndef EC_EXECUTOR_H
#define EC_EXECUTOR_H

#include "evaluator.h"

EC_C_BEGIN

typedef struct ec_executor ec_executor;

typedef struct ec_executor_info {
    const ec_expr *outputs; /* real or complex, any shape, any axes */
    int32_t n_outputs;
    size_t max_candidates;
    size_t max_groups; /* 0 without groups */
    ec_fidelity fidelity;
    size_t memory_budget; /* bytes; 0: half of what is free on the backend */
    size_t chunk;         /* forced chunk (rounded up to EC_LANE_PAD); 0: from the budget */
    const int32_t *stop;  /* device flag, may be NULL */
    const ec_interrupt
        *interrupt; /* asked between the plans of calls, and on the CPU between chunks,
                                      which are then cut so that a look comes a few times a second;
                                      borrowed, may be NULL */
    ec_log *log;
} ec_executor_info;

/* EC_STOPPED: the interrupt ended it. */
EC_API int ec_executor_create(ec_graph *graph, ec_backend *backend, const ec_executor_info *info,
                              ec_executor **executor);
EC_API void ec_executor_destroy(ec_executor **executor);

/* X: f64 [genes] over candidates, XG: f64 [group genes] over groups (NULL without), group_map: i32
 * over candidates on the backend. n <= max_candidates. status: one byte a candidate on the backend,
 * overwritten. Enqueues; the outputs are then in ec_executor_output. EC_STOPPED: the interrupt
 * ended it, the outputs hold anything. */
EC_API int ec_executor_run(ec_executor *executor, const ec_array *X, const ec_array *XG,
                           const int32_t *group_map, uint8_t *status, size_t n, size_t groups);
/* The i-th output's array over the whole population (lanes = n of the last run, ld fixed by
 * max_candidates), f64 or c128, owned by the executor. */
EC_API const ec_array *ec_executor_output(const ec_executor *executor, int32_t i);
/* True when a run enqueues the same fixed launches each time for equal n. */
EC_API bool ec_executor_capturable(const ec_executor *executor);

/* For a kernel that evaluates by itself (graph_block.cuh): true when a run is nothing but steps that
 * a block can compute, all candidates in one chunk and none failed beforehand. *program is then what
 * a launch of all steps gets, without the genes (region X and ld_x, for the caller to fill) and the
 * stop flag; inner is the largest number of registers, elements the work of a candidate, in
 * multiply-adds or so. */
struct ec_graph_args;
EC_API bool ec_executor_program(const ec_executor *executor, struct ec_graph_args *program);

typedef struct ec_executor_stats {
    size_t chunk, bytes_per_candidate, bytes_fixed;
    int32_t nodes, fused_passes, calls;
} ec_executor_stats;
EC_API void ec_executor_describe(const ec_executor *executor, ec_executor_stats *stats);
/* Whether final fidelity is the search once more: every call has an estimate, something to run, and
 * nothing finer. Without calls, or where a call does not tell, false. */
EC_API bool ec_executor_repeats(const ec_executor *executor);
/* Adds up what calls with an estimate of their own take for a design; *calls of them there are. */
EC_API int ec_executor_estimate(const ec_executor *executor, ec_fidelity fidelity, int32_t *calls,
                                ec_estimate *sum);
/* One line a call about the path its evaluator chose; i < calls. */
EC_API void ec_executor_path(const ec_executor *executor, int32_t i, char *text, size_t size);

/* Convenience: values of outputs at one design (host memory in and out, f64; complex as pairs), at a fidelity,
 * on a backend; out[i] has elements x samples values (of the
 * fidelity), sample-major. status may be NULL. */
EC_API int ec_evaluate_once(ec_graph *graph, ec_backend *backend, ec_fidelity fidelity,
                            int32_t n_outputs, const ec_expr *outputs, const double *genes,
                            size_t n_genes, const double *group_genes, size_t n_group_genes,
                            double *const *out, uint8_t *status, ec_log *log);
/* The same; EC_STOPPED: the interrupt (NULL: none) ended it. */
EC_API int ec_evaluate_until(ec_graph *graph, ec_backend *backend, ec_fidelity fidelity,
                             int32_t n_outputs, const ec_expr *outputs, const double *genes,
                             size_t n_genes, const double *group_genes, size_t n_group_genes,
                             double *const *out, uint8_t *status, const ec_interrupt *interrupt,
                             ec_log *log);

EC_C_END
#endif
