/* callback.h: a C function of the program that links the library, as the model of a job: it scores a
 * whole generation at once, in columns, on the host.
 *
 *   static int score(void *user, const ec_callback_batch *batch)
 *   {
 *       for (size_t c = 0; c < batch->n; c++)
 *           batch->output[0][c] = model(batch->column[0][c], batch->column[1][c]);
 *       return EC_OK;
 *   }
 *   ec_callback callback = {.name = "model", .run = score, .n_outputs = 1};
 *   ec_job_add_callback(job, &callback, 1, false);
 *
 * The function runs on the thread that called ec_solve, never twice at once, and may use threads of
 * its own. It is called for whole generations of the search, for few designs at final fidelity, and
 * for single ones; its outputs for a design must not depend on the others of the batch. On a GPU
 * backend columns are copied to the host and outputs back. There is no gradient through it.
 */
#ifndef EC_CALLBACK_H
#define EC_CALLBACK_H

#include "job.h"

EC_C_BEGIN

typedef struct ec_callback_batch {
    size_t n; /* designs, at least 1 */
    int32_t n_columns, n_outputs;
    const double *const *column; /* [n_columns], each n values: the inputs' elements, in order */
    /* [n_outputs], each n values, all NaN before the call: a design of which one is not finite
     * after it has failed */
    double *const *output;
    uint8_t *status; /* n bytes, 0 before the call: anything else is a design that failed */
    bool final;      /* at final fidelity: the model may take a finer grid */
    const ec_interrupt *interrupt; /* of a search that may be ended within a generation, or NULL: a
                                      long function asks it and returns EC_STOPPED */
} ec_callback_batch;

typedef struct ec_callback {
    const char *name; /* for messages, copied */
    /* EC_OK, EC_STOPPED after the interrupt, or an error, best by ec_fail with a sentence: the search
     * then ends with it and with the best design so far. */
    int (*run)(void *user, const ec_callback_batch *batch);
    void *user; /* borrowed: it has to outlive the graph */
    int32_t n_outputs;
} ec_callback;

/* outputs[n_outputs] become real scalars of n_in real inputs of any shape, none on the sample axis. */
EC_API int ec_graph_callback(ec_graph *graph, const ec_callback *callback, int32_t n_in,
                             const ec_expr *in, ec_expr *outputs);

/* The function as the job's model, with the values of all its variables as columns in the order in
 * which they were added (an element each): the first n_objectives outputs are costs to be minimised,
 * named "cost" ("cost_1", "cost_2", ... when there are several); with `constrained` the one behind
 * is the design's violation: <= 0 of a feasible design, else how far it is from that. Outputs behind
 * are recorded as "output_1", ... Returns a status. */
EC_API int ec_job_add_callback(ec_job *job, const ec_callback *callback, int32_t n_objectives,
                               bool constrained);

EC_C_END
#endif
