/* sweep.h: sweeps: a plan of designs, all of them evaluated, one row of values each.
 *
 * A plan has genes of every design. Rows are known by their content: the bits of the values of all
 * variables. Designs with equal content are evaluated once. A store, where there is one, offers the
 * rows that it has before anything is evaluated, and gets each new row once; so a table that lacks
 * 100 of 10,000 rows costs 100 evaluations, whatever plan made the others.
 *
 * Designs go to the executor in batches of at most EC_SWEEP_BATCH_MAX, which grow or shrink to a
 * fraction of a second; results do not depend on that. A batch that an interrupt or the time limit
 * ends is dropped whole. Group variables: neighbours with equal group genes share their group.
 */
#ifndef EC_SWEEP_H
#define EC_SWEEP_H

#include "sampling.h"
#include "solve.h"

EC_C_BEGIN

enum { EC_SWEEP_ROWS_MAX = 100000000, EC_SWEEP_BATCH_MAX = 65536 };

/* ---- plans ----------------------------------------------------------------------------------- */

/* Axis of a grid: values of one variable (a list: of one of its elements, or of the whole list). */
typedef struct ec_sweep_axis {
    int32_t variable;     /* of the job */
    int32_t element;      /* from 0; -1: the variable as a whole */
    int32_t n;            /* >= 1 */
    const double *values; /* [n], of a whole list [n][elements] */
} ec_sweep_axis;

typedef struct ec_sweep_plan {
    size_t n;      /* designs, 1 to EC_SWEEP_ROWS_MAX */
    int32_t width; /* genes of a design, group genes behind */
    double *
        base; /* [width]: what does not vary: the first start design, or the middle of the bounds */
    int32_t n_varied; /* genes that vary */
    int32_t *varied;  /* their numbers, ascending */
    double *genes;    /* [n_varied][n] */
    /* of a grid; the last axis goes fastest */
    int32_t n_axes;
    size_t *axis_length;
    char **axis_name;    /* as columns are called: "width", "x[3]" */
    double **axis_value; /* of an axis of single values [length], else NULL */
} ec_sweep_plan;

/* Errors: a value outside the variable's bounds, an axis that occurs twice, more designs than
 * EC_SWEEP_ROWS_MAX. Positions with a gap, bits with a sum and distinct choices vary as a whole. */
EC_API int ec_sweep_grid(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                         ec_sweep_plan **plan);
/* The base design, then for each axis its values with everything else as in the base. */
EC_API int ec_sweep_one_at_a_time(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                                  ec_sweep_plan **plan);
/* Points of the unit cube stretched to the bounds of the genes of n_variables variables (NULL: all);
 * info->dimensions is not read. */
EC_API int ec_sweep_sample(const ec_job *job, const ec_sampling_info *info, int32_t n_variables,
                           const int32_t *variables, ec_sweep_plan **plan);
/* The same with points [genes of these variables][n] of the caller, 0 to 1. */
EC_API int ec_sweep_points(const ec_job *job, int32_t n_variables, const int32_t *variables,
                           size_t n, const double *points, ec_sweep_plan **plan);
/* Designs by value: axes name the columns (element -1: a scalar), each of n values. */
EC_API int ec_sweep_list(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                         ec_sweep_plan **plan);
EC_API void ec_sweep_plan_destroy(ec_sweep_plan **plan);

/* ---- results --------------------------------------------------------------------------------- */

typedef enum ec_sweep_kind {
    EC_SWEEP_VARIABLE,
    EC_SWEEP_OBJECTIVE,
    EC_SWEEP_CONSTRAINT, /* how far the worst element lies beyond its limit; <= 0: met */
    EC_SWEEP_VIOLATION,
    EC_SWEEP_RECORD
} ec_sweep_kind;

typedef struct ec_sweep_column {
    ec_sweep_kind kind;
    int32_t index;   /* of the variable, objective, constraint or record in its job */
    int32_t element; /* of a list, from 0; else -1 */
    char *name;      /* in tables: "width", "x[3]"; a goal called like a variable: "recorded:x" */
    double *data;    /* [n]; stride 0: data[0] is that of all designs */
    size_t stride;
} ec_sweep_column;

enum { EC_SWEEP_OPEN, EC_SWEEP_FOUND, EC_SWEEP_RUN };

typedef struct ec_sweep {
    ec_job *job;
    size_t n;
    int32_t n_columns, n_variable_columns; /* those of variables come first */
    ec_sweep_column *columns;
    uint8_t *status;  /* [n] candidate status; values of a design that failed may be NaN */
    uint8_t *state;   /* [n] EC_SWEEP_OPEN: without values */
    uint32_t *same;   /* [n] the first design of equal content */
    size_t distinct;  /* designs of different content, of which */
    size_t found;     /* were in the store, */
    size_t run;       /* were evaluated, */
    size_t failed;    /* (of both) have a status, */
    size_t by_bit[8]; /* of that bit */
    ec_fidelity fidelity;
    ec_stop stop; /* NONE: every design has its values */
    double seconds;
    char backend[16], device[128];
    char message[300];
    struct ec_sweep_index *index; /* content to design */
} ec_sweep;

/* Where rows are kept. Each returns a status. */
typedef struct ec_sweep_store {
    void *user;
    /* Calls ec_sweep_offer with every row that there is. */
    int (*load)(void *user, ec_sweep *sweep);
    /* n designs that were evaluated, each of its own content. */
    int (*append)(void *user, const ec_sweep *sweep, const size_t *designs, size_t n);
    /* Calls ec_sweep_offer with the rows that others have added since, if there are any; may be NULL. */
    int (*refresh)(void *user, ec_sweep *sweep);
    /* Where in the designs that lack values the next batch is taken, from 0 to below 1: those who share a
     * sweep differ in it, and so meet at its end only. */
    double share;
} ec_sweep_store;

/* A row of a store: one value a column. False: no design of the sweep, or one that has its values. */
EC_API bool ec_sweep_offer(ec_sweep *sweep, const double *row, uint8_t status);

typedef struct ec_sweep_info {
    const ec_sweep_plan *plan;
    ec_fidelity fidelity;
    double seconds; /* wall time; 0: no limit */
    size_t memory_budget, chunk;
    const ec_sweep_store *store;   /* may be NULL */
    volatile const int *interrupt; /* may be NULL */
    /* After each batch; may be NULL. */
    void (*progress)(void *user, const ec_sweep *sweep, double seconds, double seconds_left);
    void *progress_user;
    ec_log *log;
} ec_sweep_info;

/* An error after the first row leaves a sweep as well (stop EC_STOP_ERROR or DEVICE); without one
 * *sweep is NULL. The job must outlive the sweep. */
EC_API int ec_sweep_run(ec_job *job, ec_backend *backend, const ec_sweep_info *info,
                        ec_sweep **sweep);
EC_API void ec_sweep_destroy(ec_sweep **sweep);

EC_FN double ec_sweep_value(const ec_sweep *sweep, int32_t column, size_t design)
{
    const ec_sweep_column *c = &sweep->columns[column];
    return c->data[design * c->stride];
}
/* The first column of a kind and index, -1: none. */
EC_API int32_t ec_sweep_find(const ec_sweep *sweep, ec_sweep_kind kind, int32_t index);
/* The design with the smallest (largest) value of a column: of those that did not fail and have a
 * value, those that meet the constraints first. False: there is none. */
EC_API bool ec_sweep_best(const ec_sweep *sweep, int32_t column, bool maximize, size_t *design);
/* Names of the bits of a candidate status: "not_finite", "evaluator+overflow"; "" of none. */
EC_API void ec_sweep_reason(uint8_t status, char *text, size_t size);

/* What `eciton check` prints. */
EC_API int ec_sweep_check(ec_job *job, ec_backend *backend, const ec_sweep_info *info,
                          ec_check *check);

EC_C_END
#endif
