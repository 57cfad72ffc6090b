/* solve.h: the solve loop: an optimizer proposes a population, the backend and its workers evaluate
 * it, the optimizer takes the scores, until a stop rule holds. Stop rules are evaluated on the backend each
 * generation; the host looks every few generations or 0.25 s, mirrors the best and the history,
 * and so keeps them when a device is lost or the run is interrupted.
 *
 * The best k designs are evaluated again at `final` fidelity and the winner is chosen there. With
 * several objectives that is the whole front of the last generation, of which those stay that no
 * other dominates there.
 */
#ifndef EC_SOLVE_H
#define EC_SOLVE_H

#include "job.h"
#include "optimizer.h"
#include "pareto.h"

EC_C_BEGIN

typedef enum ec_stop {
    EC_STOP_NONE,
    EC_STOP_GENERATIONS,
    EC_STOP_EVALUATIONS,
    EC_STOP_TIME,
    EC_STOP_TARGET,
    EC_STOP_STAGNATION,
    EC_STOP_SPREAD,
    EC_STOP_INTERRUPT,
    EC_STOP_DEVICE,
    EC_STOP_ERROR,
    EC_STOP_FINISHED /* the method had nothing left to try */
} ec_stop;
/* "generations", "evaluations", "time", "target", "stagnation", "spread", "interrupted",
 * "device lost", "error", "finished" */
EC_API const char *ec_stop_name(ec_stop stop);

typedef struct ec_history_row {
    uint32_t generation;
    uint64_t evaluations, failed;
    double seconds, best, median, spread,
        violation; /* costs keep the sign of the objective (maximised: as the script sees it) */
    uint32_t feasible, population;
    /* with several objectives, of which best and median are the first one's: what the front dominates
     * up to the reference point (NaN: too many steps, or one objective), and its members */
    double hypervolume;
    uint32_t front;
} ec_history_row;

/* Distinct designs of a search that are remembered, of which the best can be polished. */
enum { EC_POLISH_DESIGNS_MAX = 64 };

/* What becomes of a design that fails; at final fidelity VALUE is WORST. */
typedef enum ec_failure_policy {
    EC_FAILURE_WORST, /* it ranks behind every design that does not */
    EC_FAILURE_RETRY, /* it is evaluated once more, for models that fail by chance; then the same */
    EC_FAILURE_VALUE, /* it counts as a feasible design of cost failure_value */
    EC_FAILURE_STOP   /* the run ends with an error; its best so far is kept */
} ec_failure_policy;

/* A design that failed. */
typedef struct ec_failure {
    uint32_t generation; /* from 1 */
    uint8_t status;      /* candidate status bits: why */
} ec_failure;

/* Failed designs that are kept: the first ones of the generations that the history has. */
enum { EC_FAILURES_MAX = 64 };

/* Which designs a store keeps, besides the result (of several objectives the whole front) and the
 * sample of those that failed. */
typedef enum ec_kept_designs {
    EC_KEEP_BEST, /* of the generations that the history has, the best when it gets better */
    /* what comes into the best `keep` of these generations (of several objectives their fronts), and
     * what is scored at final fidelity */
    EC_KEEP_ELITE,
    EC_KEEP_ALL /* every design that is evaluated, besides */
} ec_kept_designs;

struct ec_store; /* run_store.h */

typedef struct ec_solve_info {
    const char *method; /* NULL: "lshade" */
    /* a method that is not in ec_optimizer_table, of the caller's own, instead of `method`; borrowed */
    const ec_optimizer_def *own_method;
    size_t population; /* 0: the method's default */
    size_t groups;
    size_t evaluations, generations; /* 0: none */
    double seconds;                  /* wall time; 0: none */
    double
        target; /* objective value (script's sign) that is good enough; NAN: none; one objective */
    /* stop after so many generations without a better best; 0: none. Of 2 or 3 objectives: without a
     * larger hypervolume, as the generations show whose figures the history keeps */
    uint32_t stagnation;
    double stagnation_tolerance; /* absolute improvement that counts (>= 0) */
    /* of several objectives, the corner of the hypervolume (script's sign); NULL: the worst value of
     * each among the designs of the first generation that did not fail, and a tenth of its range */
    const double *reference;
    int32_t n_reference; /* one an objective, or 0 */
    double spread; /* stop when every variable's spread is below this share of its range; 0: none */
    bool polish;
    int32_t
        polish_designs; /* best designs that are polished, at most EC_POLISH_DESIGNS_MAX; 0: default */
    int32_t polish_evaluations; /* of each, at most; 0: default (gradients 1500, the local search on
                                   discrete genes half of what the search used, for all designs) */
    double polish_seconds; /* wall time of the polish, at most; 0: as long as the search took, or
                              10 s when that is longer. A safety net: a polish that it ends
                              depends on timing and may fall short of the optimum. */
    int32_t keep; /* k of the final re-scoring; 0: 16, or 1 where long runs would only be repeated;
                     of several objectives: the whole front */
    size_t memory_budget, chunk; /* 0: automatic */
    uint64_t seed;               /* used when seed_given, else the job's */
    bool seed_given;
    ec_failure_policy on_failure;
    double failure_value; /* with EC_FAILURE_VALUE, the objective's sign as the script sees it */
    /* Where the search is kept, as number store_number (from 1) of its run: history, designs, result,
     * and its whole state; NULL: nowhere. It is written at looks of the host, at most every
     * checkpoint_seconds (0: 1 s, and rarer where that would take more than 2 % of the time; < 0: the
     * state is left out). With `resume` the search goes on from the state that is there, if there is
     * one, and ends with the bits of an unbroken one on the same backend. With `force` also from one
     * of another script, version or backend, whose bits are then not those of an unbroken one. */
    struct ec_store *store;
    int64_t store_number;
    double checkpoint_seconds;
    bool resume, force;
    ec_kept_designs kept_designs;
    uint64_t identity;     /* of everything outside the library that defines the job (a hash of the
                          script): a checkpoint of another one is refused */
    const double *options; /* of the method, in its table's order; NULL: defaults */
    const double *start; /* n_start further start designs, rows of the job's genes, behind those of
                            the variables; may be NULL */
    size_t n_start;
    volatile const int *interrupt; /* set by a signal handler; may be NULL */
    /* Called at each look on the calling thread; may be NULL. */
    void (*progress)(void *user, const ec_history_row *row, double seconds_left);
    void *progress_user;
    ec_log *log;
} ec_solve_info;
/* evaluations, generations, seconds, target, stagnation and spread all absent is an error. */

/* Feasible designs that no other dominates, at final fidelity, sorted by the first objective from best
 * to worst; of designs with the same objectives one. Rows are those of the members; values as in
 * ec_result. */
typedef struct ec_front {
    int32_t n;
    int32_t best;                               /* the member that is the result's design */
    double *genes;                              /* rows of n_genes */
    double *objective_final, *objective_search; /* rows of n_objectives, script's sign */
    double *constraint;                         /* rows of n_constraints */
    double **variable, **record;                /* one a variable or record: rows of its length */
    double reference[EC_OBJECTIVES_MAX],
        hypervolume; /* of the final figures (NaN: see ec_hypervolume) */
} ec_front;

typedef struct ec_result {
    ec_stop stop;
    uint32_t generations;
    uint64_t evaluations, failed;
    double seconds;          /* wall, the polish and final included */
    int32_t polish_designs;  /* 0: none was polished */
    int32_t polish_finished; /* of them came to their end */
    uint64_t polish_evaluations;
    double polish_seconds;
    bool polish_capped; /* its time ended it */
    char backend[16], device[128], isa[8], method[32];
    uint64_t seed;
    /* a design that did not fail exists; when none does, the message says why the designs failed */
    bool found;
    uint8_t status;   /* of the best design at final: candidate status bits */
    double violation; /* at final */
    /* what the job had when it was solved; more may have been added since */
    int32_t n_objectives, n_constraints, n_variables, n_records;
    double *genes;
    int32_t n_genes;
    double *group_genes;
    int32_t n_group_genes;
    /* Values at final fidelity (NaN: could not be computed), one an objective, script's sign */
    double *objective_final, *objective_search;
    double *
        constraint; /* one a constraint: the worst excess over its limits (<= 0 is met), at final */
    /* values at final: one allocation each; length = elements x samples */
    double **variable;
    int32_t *variable_length;
    double **record;
    int32_t *record_length;
    /* With several objectives. The result's design is the member nearest to the ideal point, each
     * objective scaled to its range over the front; without a feasible one front.n is 0 and it is
     * the one that comes closest. */
    ec_front front;
    ec_history_row *history;
    size_t n_history;
    ec_failure *failures;   /* at most EC_FAILURES_MAX */
    double *failure_genes;  /* a row each: genes, then group genes */
    double *failure_values; /* a row each: the values of all variables one after another; NULL
                               without failures */
    size_t n_failures;
    /* What ended the run, a sentence; when the design is infeasible it begins with "no feasible
     * design found" and the constraint that is missed most. */
    char message[512];
} ec_result;

/* When time or the interrupt comes within a generation, the generation is dropped whole (on the CPU
 * within about a second; a GPU ends the generation first). Final figures then have some seconds; an
 * interrupt that comes later ends them at once, and those that are missing are NaN. An error after the first generation
 * leaves a result as well (stop EC_STOP_ERROR): its best and history so far, with NaN for what
 * cannot be evaluated any more; without a result *result is NULL.
 * Errors: a search of the job that runs already (an evaluator cannot search its own job). */
EC_API int ec_solve(ec_job *job, ec_backend *backend, const ec_solve_info *info,
                    ec_result **result);
EC_API void ec_result_destroy(ec_result **result);
EC_API void ec_solve_info_default(ec_solve_info *info);
/* A result whose design is member i of the front, without a history or a front of its own. */
EC_API int ec_result_member(const ec_result *result, int32_t i, ec_result **member);
/* Any real expression of the job's variables at the result's design, at final fidelity; NaN when
 * an evaluator cannot score it. out is malloc'ed. Errors: a variable of another job, or one that
 * was added after the solve. */
EC_API int ec_result_value(const ec_job *job, const ec_result *result, ec_backend *backend,
                           ec_expr expr, double **out, int32_t *length, ec_log *log);

/* What `eciton check` prints: plans the job without running it. */
typedef struct ec_check {
    size_t population, chunk, bytes_per_candidate, bytes_fixed;
    int32_t nodes, calls;
    double
        seconds_per_evaluation; /* measured on a generation; at least, where there is an estimate */
    double seconds_most;        /* by an estimate (evaluator.h); 0: there is none */
    char estimate[300];         /* its sentence */
    char estimate_final[300];   /* that of final fidelity; "": it is the same */
    size_t final_designs;       /* that are evaluated again at final fidelity, ... */
    double seconds_final;       /* predicted from one of them; 0: none could be scored */
} ec_check;
EC_API int ec_solve_check(ec_job *job, ec_backend *backend, const ec_solve_info *info,
                          ec_check *check);

EC_C_END
#endif
