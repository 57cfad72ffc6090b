/* solve_internal.h: one run of the solve loop, for the files solve*.c.
 *
 *   solve.c          a generation, the search, the end of a run; the public functions
 *   solve_build.c    checks, and everything that a run needs
 *   solve_outputs.c  limits and gradients, for methods that ask for them
 *   solve_designs.c  the order of designs, and lists of the best of them
 *   solve_look.c     looks of the host: statistics, best designs, history
 *   solve_failures.c designs that fail
 *   solve_checkpoint.c  the state of a search as bytes, and back
 *   solve_store.c    what a search leaves in the run store
 *   solve_front.c    several objectives: the front, its hypervolume, its members' values
 *   solve_final.c    values of designs at final fidelity
 *   solve_winner.c   polish, the winner and its values
 *   solve_result.c   the result: what it says, its memory
 *
 * Genes of a design are a row of n_genes, then n_group_genes. Costs are to be minimised; a
 * maximised objective is negated (ec_solve_seen turns it back).
 */
#ifndef EC_SOLVE_INTERNAL_H
#define EC_SOLVE_INTERNAL_H

#include "job_internal.h"
#include "run_store.h"
#include "score_internal.h"
#include "solve.h"
#include "solve_kernels.h"
#include "wall_clock.h"

EC_C_BEGIN

enum {
    EC_ELITE_MAX = 64, /* best members whose genes are read at a look */
    EC_CAPTURES_MAX = 64,
    EC_OUTPUTS_MAX = 5, /* of the executor of a generation */
    EC_SAID_MAX = 32    /* different warnings of a run that are remembered */
};

/* A run plans and evaluates the same expressions several times; it says each warning once. */
typedef struct ec_once_log {
    ec_log log, warnings; /* what the run writes to, and warnings and errors only */
    ec_log *to;
    char latest[400]; /* warning, also one that was said before */
    char *said[EC_SAID_MAX];
    size_t n_said;
} ec_once_log;

/* Up to `capacity` designs, rows of `width` genes, sorted; no two closer than `apart`. */
typedef struct ec_design_list {
    double *genes;
    ec_score *scores;
    size_t n, capacity, width;
    double apart;
} ec_design_list;

/* What the looks at kept generations remember of the hypervolume; plain data. */
typedef struct ec_front_progress {
    double reference[EC_OBJECTIVES_MAX]; /* costs; valid when `referenced` */
    double volume;                       /* of the last look; NaN: unknown */
    double best_volume;                  /* when it last grew, in generation `grown` */
    uint32_t grown;
    bool referenced, compared;
} ec_front_progress;

/* With several objectives: the feasible designs of the last look that no other dominates, or, while
 * none is feasible, the one that comes closest. */
typedef struct ec_front_list {
    size_t n, capacity;
    double *genes, *cost, *violation; /* rows of a design; cost: n_objectives */
    ec_pareto *pareto;                /* for max_population designs */
    double *work_cost;                /* [objectives], ld max_population */
    uint32_t *rank, *order;
    double *crowding;
    ec_front_progress progress;
} ec_front_list;

/* What scores a generation. */
typedef struct ec_scorer {
    ec_executor *executor;
    ec_executor *slopes; /* the same outputs and the gradients; NULL: nobody wants them */
    ec_executor *ran;    /* of the two, the one of this generation, and its outputs */
    int32_t n_ran;
    uint8_t *status; /* of the candidates, on the backend */
} ec_scorer;

typedef struct ec_captured {
    size_t lanes;
    ec_capture *capture;
} ec_captured;

/* The designs of a generation that has just been evaluated. */
typedef struct ec_generation {
    ec_array X, XG;
    const int32_t *group_map;
    size_t n;
} ec_generation;

/* How far a run is. */
typedef enum ec_solve_phase {
    EC_PHASE_SEARCH,   /* generations */
    EC_PHASE_SEARCHED, /* the search is over */
    EC_PHASE_POLISHED  /* `designs` holds all that compete for the first place */
} ec_solve_phase;

/* What waits to be written into the run store, and what is there. */
typedef struct ec_solve_kept {
    ec_store_table *designs;          /* NULL: the search is not kept */
    ec_backend *cpu;                  /* for the values of variables */
    size_t n, capacity;               /* designs that wait */
    double *genes, *cost, *violation; /* rows of width, of n_objectives */
    uint8_t *status;
    uint32_t *generation;
    const char **stage;
    size_t n_history;    /* rows of the result's history that are in the store */
    ec_history_row look; /* figures of the last look */
    ec_score best;       /* of the designs that are kept, when `found` */
    bool found;
    double written_when,
        saved_when;      /* wall time of the last transaction, and of one with the state */
    double save_seconds; /* that it took */
} ec_solve_kept;

typedef struct ec_solve_run {
    ec_job *job;
    const ec_solve_info *info;
    ec_once_log messages;
    ec_backend *backend;
    const ec_optimizer_def *def;
    ec_optimizer *optimizer;
    ec_scorer scorer;
    /* cost (of several objectives a list), violation, limits; then the gradients of the cost and of
     * the limits */
    ec_expr outputs[EC_OUTPUTS_MAX];
    int32_t n_outputs, n_slopes, limit_output;
    ec_expr *limits; /* each limit of the constraints, a scalar, for methods that ask */
    bool *limit_equal;
    size_t n_limits;
    size_t n_objectives;
    bool maximize;
    size_t width; /* genes of a design, group genes behind */
    size_t groups, max_population;
    double *min, *max; /* bounds of the genes of a design */

    /* on the backend */
    int32_t *flag;
    ec_stop_state *state;
    ec_stop_rules_args rules;
    ec_captured captures[EC_CAPTURES_MAX];
    size_t n_captures;
    bool fused;   /* the method runs whole generations by itself */
    bool repeats; /* final fidelity is the search once more, and takes long */

    /* the host's view */
    double start, limit; /* limit: wall time of the search, infinite without one */
    ec_interrupt interrupt;
    bool planning;       /* only a signal interrupts that */
    ec_interrupt at_end; /* of evaluations at final fidelity */
    double wait_until;   /* wall time from which on a signal ends them */
    uint64_t enqueued;   /* evaluations */
    uint32_t generation; /* enqueued */
    size_t n;            /* candidates of the last generation */
    uint32_t looked_at, look_step;
    double looked_when, told_when;
    ec_optimizer_stats stats; /* of the last look */
    ec_design_list keep;      /* best of the looks at set generations */
    ec_design_list distinct;  /* the same, apart from each other */
    ec_design_list latest;    /* of the last look */
    ec_front_list front;      /* instead of them, with several objectives */
    double *elite_genes, *elite_cost, *elite_violation;
    uint8_t *elite_status;
    size_t n_last; /* members at the last look, whose status bytes are in elite_status */
    size_t history_capacity;
    ec_solve_phase phase;
    bool polish_cut;  /* an interrupt came during the polish */
    uint64_t patched; /* failed designs that got a value */
    ec_solve_kept kept;
    double *designs; /* rows of width, with EC_PHASE_POLISHED */
    size_t n_designs;
    ec_result *result;
    int failure; /* with stop EC_STOP_ERROR: the status that ended the run, and its sentence */
    char error[1024];
} ec_solve_run;

/* solve_designs.c, as score_internal.h is */
int ec_design_list_create(ec_design_list *list, size_t capacity, size_t width, double apart);
void ec_design_list_release(ec_design_list *list);
void ec_design_list_add(const ec_solve_run *run, ec_design_list *list, const double *genes,
                        const ec_score *score);
/* Sorts the genes of spaced positions, whose order does not count, so that equal designs look
 * equal. */
void ec_design_sort_spaced(const ec_job *job, double *genes);
int ec_compare_doubles(const void *a, const void *b); /* for qsort, ascending */

/* solve_build.c */
int ec_solve_check_numbers(const ec_solve_info *info);
int ec_solve_build(ec_solve_run *run, ec_job *job, ec_backend *backend, const ec_solve_info *info);
void ec_solve_release(ec_solve_run *run);
/* Whether time or a signal ends the search. */
ec_stop ec_solve_host_stop(const ec_solve_run *run);
/* From here on evaluations at final fidelity count the seconds that a signal leaves them. */
void ec_solve_begin_end(ec_solve_run *run);

/* solve_outputs.c. What the method needs of EC_OPTIMIZER_*; outputs for it: limits first, then
 * gradients (ERR_NO_GRADIENT says which node has none). */
uint32_t ec_solve_needs(const ec_solve_run *run);
int ec_solve_add_limits(ec_solve_run *run);
int ec_solve_add_gradients(ec_solve_run *run);
/* ERR_NO_GRADIENT: the sentence that is recorded, with what the method can do about it. */
int ec_solve_explain_gradient(const ec_solve_run *run, const char *what);
/* The executor of a generation: with gradients where the method wants them; and where its scores
 * lie. */
void ec_solve_choose_executor(const ec_solve_run *run, ec_scorer *scorer);
void ec_solve_scores(const ec_solve_run *run, const ec_scorer *scorer, ec_scores *scores);

/* solve_look.c */
bool ec_solve_is_kept(uint32_t generation);
bool ec_solve_look_is_due(const ec_solve_run *run);
int ec_solve_look(ec_solve_run *run, bool kept, bool last, int32_t *flag);
double ec_solve_seen(const ec_solve_run *run, double cost); /* with the first objective's sign */

/* solve_front.c */
int ec_solve_front_check(const ec_job *job, const ec_solve_info *info);
int ec_solve_front_create(ec_solve_run *run);
void ec_solve_front_release(ec_solve_run *run);
/* Takes the front out of the `found` designs in the elite buffers, and describes it in *row; in a kept
 * generation sets the stop flag (and *flag) when the hypervolume stagnates. */
int ec_solve_front_look(ec_solve_run *run, size_t found, bool kept, ec_history_row *row,
                        int32_t *flag);
int ec_solve_choose_front(ec_solve_run *run, ec_backend *backend);

/* solve_final.c. Values of expressions at n designs (rows of genes, host memory) at final fidelity:
 * out[i] gets n rows of ec_result_value_length numbers, status a byte a design. With EC_FAILURE_RETRY
 * those that fail are evaluated once more. */
int ec_solve_final_values(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                          int32_t n_exprs, const ec_expr *exprs, double *const *out,
                          uint8_t *status);
/* Values of all variables at n designs, on any backend and at any time: rows of all of them one after
 * another. */
int ec_solve_variable_values(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                             double *values);
/* Their costs (rows of n_objectives), violations and status. */
int ec_solve_score_final(ec_solve_run *run, ec_backend *backend, const double *rows, size_t n,
                         double *cost, double *violation, uint8_t *status);

/* solve_failures.c: whether the next generation is looked at for failures, and the look: between
 * its evaluation and take. */
bool ec_solve_watches_failures(const ec_solve_run *run);
int ec_solve_handle_failures(ec_solve_run *run, const ec_generation *generation);
/* With EC_FAILURE_STOP, n designs (rows of genes) that were scored at final fidelity: where one failed,
 * the error that ends the run, which keeps what it has. */
void ec_solve_end_at_final(ec_solve_run *run, const double *rows, size_t n, const uint8_t *status);
/* The variables' values of the designs that are kept, at the end. */
int ec_solve_failure_values(ec_solve_run *run);

/* solve_checkpoint.c. The state as malloc'ed bytes, and back; `name` is for messages. */
int ec_solve_pack(ec_solve_run *run, char **bytes, size_t *size);
int ec_solve_unpack(ec_solve_run *run, const char *bytes, size_t size, const char *name);

/* solve_store.c. What cannot be written never fails the run: its loss is told once. Resume leaves the
 * run as it is when there is nothing to go on from. */
int ec_solve_resume(ec_solve_run *run);
void ec_solve_save(ec_solve_run *run); /* all that waits, and the state */
void ec_solve_save_when_due(ec_solve_run *run);
/* The designs of a look at a set generation, before they come into the lists (of several objectives when
 * the front is known). */
int ec_solve_keep_look(ec_solve_run *run);
/* Whether every design of every generation is kept, and a generation between its evaluation and take. */
bool ec_solve_keeps_all(const ec_solve_run *run);
int ec_solve_keep_generation(ec_solve_run *run, const ec_generation *generation);
/* Designs with their scores at final fidelity, rows of genes; and the end of the run. */
void ec_solve_keep_final(ec_solve_run *run, const double *rows, size_t n, const ec_score *scores);
void ec_solve_keep_result(ec_solve_run *run);
void ec_solve_kept_release(ec_solve_run *run);

/* solve_winner.c */
int ec_solve_choose_winner(ec_solve_run *run, ec_backend *backend);
/* All values of the design in run->result; `objective` are those of the search, for the case that
 * they cannot be had, or are `left_out` after a signal. */
int ec_solve_fill_values(ec_solve_run *run, ec_backend *backend, const double *objective,
                         bool left_out);
int32_t ec_result_value_length(const ec_graph *graph, ec_expr expr);
int ec_result_evaluate(const ec_job *job, const ec_result *result, ec_backend *backend,
                       ec_fidelity fidelity, int32_t n, const ec_expr *exprs, double *const *out,
                       const ec_interrupt *interrupt, ec_log *log);

/* solve_result.c */
int ec_solve_result_create(const ec_solve_run *run, ec_result **result);
void ec_solve_write_message(const ec_solve_run *run);

/* solve.c: marks those of the first n designs whose scores are no finite numbers as failed. */
int ec_solve_mark_failed(ec_solve_run *run, size_t n);
/* An error ends the run, whose results so far are kept. */
void ec_solve_note_error(ec_solve_run *run, int status);
void ec_once_open(ec_once_log *once, ec_log *to);
void ec_once_close(ec_once_log *once);

EC_C_END
#endif
