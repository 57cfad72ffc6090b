/* polish.h: local refinement of the best designs: real genes with gradients from the graph, binary,
 * integer and choice genes by an iterated local search.
 *
 * NLopt's SLSQP (Kraft 1988/1994) on the real genes, with more than 40 of them steps of linear
 * programs inside a trust region (optimizers/nlopt/polish_round.h) or, where the job is smooth and has
 * no limits, L-BFGS (Nocedal 1980). A maximum over peaks (side-lobe level, mask
 * excess, ec.max over a list) is taken apart into the epigraph form: minimise f(t, x) subject to
 * every piece_i(x) <= t. Sorted slacks (job:spaced) are polished in sorted order with linear
 * ordering constraints. Constraints of the job are passed as constraints. Implemented in
 * optimizers/nlopt; what is done with discrete genes is told in optimizers/flip/flip.c.
 */
#ifndef EC_POLISH_H
#define EC_POLISH_H

#include "job.h"

EC_C_BEGIN

typedef struct ec_polish_info {
    int32_t max_evaluations; /* per design; 0: default of the gradients, none of the local search */
    double seconds;          /* wall time left; 0: no limit. When it ends the polish, the result
                                depends on timing and may fall short of the optimum. */
    bool *out_of_time;       /* set when the time ended it; may be NULL */
    int32_t *finished;       /* gets the number of designs that came to their end; may be NULL */
    volatile const int *interrupt;
    int32_t threads;    /* designs polished at the same time; 0: all processors */
    const char *device; /* backend for batches of differences; of a list the designs' in turn; NULL:
                           the CPU */
    /* of the local search on discrete genes */
    uint64_t seed;
    uint32_t round; /* another one for each call of a run: other random numbers */
    size_t memory_budget;
    ec_log *log;
} ec_polish_info;

/* genes [n_designs][n_genes] (and group genes) in and out, host memory: replaced where a better
 * design was found (key order at final fidelity, never worse). *evaluations gets the number of
 * evaluations. Slopes are gradients of the graph; differences where it has none, and where genes are
 * a group's: a polished design has a group of its own. Designs that cannot be polished (more than 256
 * genes without a gradient: the log says which node; no real genes) are left as they are; so are the rest after an error, which goes to the log as well. */
EC_API int ec_polish(ec_job *job, const ec_polish_info *info, int32_t n_designs, double *genes,
                     double *group_genes, uint64_t *evaluations);

/* Whether the job has genes that ec_polish moves, and genes that ec_polish_discrete moves. */
EC_API bool ec_polish_has_real(const ec_job *job);
EC_API bool ec_polish_has_discrete(const ec_job *job);

/* The same for binary, integer and choice genes, group genes among them, on a backend; real genes stay
 * as they are. info->threads is not read. Evaluations at either fidelity count; without
 * max_evaluations, seconds and interrupt it would not end (ERR_ARGUMENT when there are neither
 * evaluations nor seconds). `finished` counts the designs that used their evaluations. */
EC_API int ec_polish_discrete(ec_job *job, ec_backend *backend, const ec_polish_info *info,
                              int32_t n_designs, double *genes, double *group_genes,
                              uint64_t *evaluations);

EC_C_END
#endif
