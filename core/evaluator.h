/* evaluator.h: what an evaluator is: a model of physics that scores whole batches.
 *
 * A call (ec_call) joins a definition, its configuration and input expressions; its outputs are
 * nodes of the graph and are added as the script asks for them (array:sll_db, array:hpbw_deg ...).
 * When an executor is planned, plan builds everything that does not depend on the candidate
 * and gets only the outputs that are wanted; run fills them for a batch.
 *
 * Inputs are f64 (or c128) arrays as array.h says, on the backend: with the candidate axis or
 * constant over candidates (lanes 1, ld 1); group values are spread before. All may have the sample axis.
 * Outputs have the union of the axes of the inputs. n is the number of candidates (1 when no
 * input has the candidate axis).
 */
#ifndef EC_EVALUATOR_H
#define EC_EVALUATOR_H

#include "graph.h"
#include "hash.h"

EC_C_BEGIN

typedef struct ec_evaluator ec_evaluator;
typedef struct ec_evaluator_def ec_evaluator_def;

/* EC_REFINE is EC_FINAL with the samples of the search: what a polish works on, so that a design is
 * not tuned to the samples that judge it. Evaluators see EC_FINAL. */
typedef enum ec_fidelity { EC_SEARCH, EC_FINAL, EC_REFINE } ec_fidelity;

enum {
    EC_EVALUATOR_CAPTURABLE = 1,    /* fixed launches, no host round trip: may be captured */
    EC_EVALUATOR_SELF_CHUNKING = 2, /* gets the whole population (a worker's part) in one run */
    EC_EVALUATOR_HAS_VJP = 4,       /* plan accepts mode EC_MODE_VJP */
    EC_EVALUATOR_WRITES_STATUS = 8, /* run heeds ec_exec.status_undefined */
    EC_EVALUATOR_USERS = 16 /* code of the user: on the caller's thread, never twice at once */
};

/* EC_MODE_VJP: the inputs are the call's inputs followed by one adjoint a wanted output (same
 * shape); the outputs are the adjoints of the inputs (same shapes, f64 or c128), of which `wanted` marks
 * those asked for. */
typedef enum ec_mode { EC_MODE_RUN, EC_MODE_VJP } ec_mode;

typedef struct ec_call_output {
    const char *name; /* for messages: "sll_db" */
    void *spec;       /* the evaluator's own description, owned by the call */
    int32_t rank, shape[EC_RANK_MAX];
    int dtype;
    ec_interval range;
} ec_call_output;

/* Asked on the calling thread while a run or a plan goes on (by several workers one after the
 * other): true ends a run with EC_STOPPED, and what it has written is of no use. */
typedef struct ec_interrupt {
    bool (*asked)(void *user);
    void *user;
} ec_interrupt;

typedef struct ec_plan_info {
    const ec_call *call;
    ec_mode mode;
    ec_fidelity fidelity;
    int32_t n_in;
    const ec_array *in;       /* described, data NULL; lanes = max_candidates where they vary */
    const ec_interval *range; /* of each input */
    int32_t n_out;            /* outputs of the call (RUN) or inputs of the call (VJP) */
    const bool *wanted;       /* which of them are asked for */
    const bool *adjoint; /* VJP: which outputs have an adjoint (they follow the inputs, in order) */
    size_t max_candidates;         /* largest n of a run */
    size_t memory_budget;          /* bytes that the evaluator may hold; 0: no limit */
    ec_backend *backend;           /* of the plan */
    const ec_interrupt *interrupt; /* for a plan that may take seconds, which then ends with
                                             any error; may be NULL */
    ec_log *log;                   /* the chosen path goes here, level INFO */
} ec_plan_info;

/* What a design takes, for a check. */
typedef struct ec_estimate {
    double least, most; /* s */
    bool finer;         /* final fidelity takes longer than the search */
    char text[300];     /* how it comes about */
} ec_estimate;

typedef struct ec_exec {
    size_t first_candidate; /* index of candidate 0 of this run, of several workers in its part */
    const int32_t *stop;    /* device flag: non-zero turns the work into no-ops; may be NULL */
    bool status_undefined;  /* the n status bytes hold anything: write them instead of OR-ing into
                              them (only with EC_EVALUATOR_WRITES_STATUS; saves a launch) */
    const ec_interrupt *interrupt; /* for a run that may take seconds; may be NULL */
} ec_exec;

struct ec_evaluator_def {
    const char *name; /* "array_pattern" */
    uint32_t flags;
    /* Choices depend on shapes and ranges only. */
    int (*plan)(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator);
    /* in: as planned, out: one array for each wanted output (NULL otherwise), status: one byte a
     * candidate, OR-ed into. Enqueues on the backend. RETRY_SMALLER is answered with a smaller n,
     * STOPPED (after ec_exec.interrupt) ends the run. */
    int (*run)(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n);
    void (*destroy)(ec_evaluator **evaluator);
    /* Bytes that plan would hold: for each candidate of a run (for chunking), and what does not
     * depend on n. May be NULL: both 0. */
    void (*memory)(const ec_plan_info *info, size_t *per_candidate, size_t *fixed);
    /* One line on the path that was chosen, for the log and `eciton check`. */
    void (*describe)(const ec_evaluator *evaluator, char *text, size_t size);
    /* Whether this call has a gradient, or ERR_NO_GRADIENT with a sentence. NULL: HAS_VJP says it. */
    int (*gradient)(const ec_call *call);
    void (*config_destroy)(void *config);
    void (*spec_destroy)(void *spec);
    /* Epigraph form: adds to the call an output whose pieces' maximum is `output` and whose pieces
     * are smooth near the design where they were made (for polish). `at` is the value of each of
     * the call's inputs there, host memory, f64, candidate-free (element order). ERR_UNSUPPORTED when
     * the output is no maximum over pieces; NULL: none is. */
    int (*pieces)(ec_graph *graph, ec_call *call, int32_t output, const double *const *at,
                  ec_expr *pieces);
    /* Adds to the hash all of the call's configuration and of the output's description that its
     * values depend on (graph_fingerprint.h). NULL: there is none, rows of a table are then only
     * reused by the same script. */
    void (*fingerprint)(const ec_call *call, int32_t output, ec_hash *hash);
    /* What a design takes where these outputs are wanted, found in a second or so; backend NULL: only
     * whether there is something to run, most is 0 or not. NULL: a run is short, a check times some. */
    int (*estimate)(const ec_call *call, ec_fidelity fidelity, const bool *wanted,
                    ec_backend *backend, ec_estimate *to);
};

/* The head of every evaluator's struct. */
struct ec_evaluator {
    const ec_evaluator_def *def;
    ec_backend *backend;
};

struct ec_call {
    const ec_evaluator_def *def;
    void *config; /* the evaluator's own, owned by the call */
    int32_t n_in;
    ec_expr *in;
    int32_t n_out, cap_out;
    ec_call_output *out;
    int32_t
        n_borrowed; /* a copy with other inputs: the first outputs' specs and the config belong to
                           the call that it was copied from */
    ec_mode mode;
    ec_call *primal; /* EC_MODE_VJP: the call it differentiates; config is borrowed */
    int32_t index;   /* of the call in its graph */
    bool *adjoint;   /* EC_MODE_VJP: outputs of primal with an adjoint */
    int32_t n_adjoint;
    int axes; /* union of the inputs' axes */
};

/* Takes ownership of config, also on failure. */
EC_API int ec_graph_call(ec_graph *graph, const ec_evaluator_def *def, void *config, int32_t n_in,
                         const ec_expr *in, ec_call **call);
/* Adds an output and returns its node. Takes ownership of output->spec, also on failure. name must
 * outlive the graph (a literal). */
EC_API ec_expr ec_graph_call_output(ec_graph *graph, ec_call *call, const ec_call_output *output);

EC_C_END
#endif
