/* job.h: a design problem: variables, objectives, constraints, recorded quantities, on a graph.
 *
 * A variable owns genes (float64, what an optimizer moves) and an expression of its decoded value:
 *   real     one gene an element, the value itself
 *   integer  one gene an element in [min - 0.5, max + 0.5], rounded and clamped
 *   binary   one gene an element in [0, 1]: 1 when >= 0.5; with sum = k the k largest genes are 1
 *   choice   one gene an element, the index of one of n_from items, from 1; distinct: no index twice
 *   spaced   positions with a minimum gap and a fixed aperture by construction: sorted slacks (see
 *            ec_job_spaced), ends pinned
 * The job does not own the graph; several jobs may share one.
 */
#ifndef EC_JOB_H
#define EC_JOB_H

#include "executor.h"

EC_C_BEGIN

typedef struct ec_job ec_job;

typedef enum ec_variable_kind {
    EC_VARIABLE_REAL,
    EC_VARIABLE_INTEGER,
    EC_VARIABLE_BINARY,
    EC_VARIABLE_CHOICE,
    EC_VARIABLE_SPACED
} ec_variable_kind;

typedef struct ec_variable_info {
    const char *name; /* unique in the job, copied */
    ec_variable_kind kind;
    int32_t count;           /* elements; 0 makes a scalar */
    const double *min, *max; /* one an element (one for a scalar) */
    const double *start;     /* n_start rows of values (an element each), or NULL; real and integer
                                ones outside of min and max are moved onto them */
    int32_t n_start;
    int32_t sum;    /* binary: number of ones; < 0: free */
    int32_t n_from; /* choice: number of items */
    bool distinct;  /* choice */
    bool group;     /* shared by a group of candidates */
    /* spaced */
    double aperture, min_gap;
    bool symmetric; /* mirror image about 0; the genes move one half */
    int32_t line;   /* script line */
} ec_variable_info;

typedef struct ec_variable {
    char *name;
    ec_variable_kind kind;
    int32_t count; /* elements of value (0: scalar) */
    bool group;
    int32_t first_gene, n_genes; /* within X, or within XG for group variables */
    ec_expr genes;               /* the raw genes */
    ec_expr value;               /* decoded */
    ec_expr sort;                /* spaced: the sorted slacks node (EC_OP_SORT of genes), else -1 */
} ec_variable;

typedef struct ec_goal {
    char *name;
    ec_expr expr; /* as the script gave it */
    bool maximize;
    int32_t line;
} ec_goal;

typedef struct ec_constraint {
    char *name;
    ec_expr expr;     /* any shape: each element counts */
    double min, max;  /* -INFINITY / INFINITY: no limit; equal: min == max */
    double tolerance; /* >= 0 excess that is allowed */
    double scale;     /* > 0: violation = excess / scale */
    int32_t line;
} ec_constraint;

EC_API int ec_job_create(ec_graph *graph, const char *name, uint64_t seed, ec_job **job);
EC_API void ec_job_destroy(ec_job **job);
EC_API ec_graph *ec_job_graph(const ec_job *job);
EC_API const char *ec_job_name(const ec_job *job);
EC_API uint64_t ec_job_seed(const ec_job *job);

/* A job cannot be changed while it is searched (by an evaluator that runs inside the search): the
 * functions that add to it then return an error. */

/* Returns the variable's number (>= 0) or a negative status; its decoded value is
 * ec_job_variable(job, i)->value. Errors: a name used twice, min above max, bounds not finite, count < 0,
 * sum above count, distinct with count above n_from, (count - 1) min_gap above aperture. */
EC_API int ec_job_add_variable(ec_job *job, const ec_variable_info *info);
EC_API int32_t ec_job_variable_count(const ec_job *job);
EC_API const ec_variable *ec_job_variable(const ec_job *job, int32_t i);
EC_API int32_t ec_job_gene_count(const ec_job *job);
EC_API int32_t ec_job_group_gene_count(const ec_job *job);

/* Goals must be real scalars on the candidate axis; an objective without a design variable in it is an
 * error. A value with the sample axis must be reduced first. Every variable
 * in them must be one of the job's. Names are unique among goals, constraints and records. */
EC_API int ec_job_add_objective(ec_job *job, const char *name, ec_expr expr, bool maximize,
                                int32_t line);
EC_API int ec_job_add_constraint(ec_job *job, const char *name, const ec_constraint *constraint);
EC_API int ec_job_add_record(ec_job *job, const char *name, ec_expr expr, int32_t line);
EC_API int32_t ec_job_objective_count(const ec_job *job);
EC_API const ec_goal *ec_job_objective(const ec_job *job, int32_t i);
EC_API int32_t ec_job_constraint_count(const ec_job *job);
EC_API const ec_constraint *ec_job_constraint(const ec_job *job, int32_t i);
EC_API int32_t ec_job_record_count(const ec_job *job);
EC_API const ec_goal *ec_job_record(const ec_job *job, int32_t i);

/* What an optimizer needs to know of the genes (of the candidates, or of the groups); any pointer may be NULL. */
EC_API void ec_job_gene_bounds(const ec_job *job, bool group, double *min, double *max,
                               bool *integral);
/* Genes of the candidates that are decoded together (binary variables with sum = k): the number of
 * their set, from 1, and how many of it are 1; 0 and 0 of the others. */
EC_API void ec_job_gene_sets(const ec_job *job, uint32_t *set, uint32_t *ones);
/* Start designs as genes: the largest n_start of the variables; design i of a variable with fewer is its last
 * one, of a variable without any the middle of its bounds. genes: n_genes values. */
EC_API int32_t ec_job_start_count(const ec_job *job);
EC_API void ec_job_start_genes(const ec_job *job, int32_t i, double *genes);

/* Designs out of the text of a CSV file, as rows of ec_job_gene_count genes; genes NULL: only their
 * number *n. The first line names the columns. Three layouts are read:
 *   a row a design, with the columns x of a single variable and x[1], x[2], ... of a list
 *     (tables of sweeps, fronts);
 *   a row an element, with a column x of each variable: one design (best:save);
 *   name,index,value,kind: one design (best.csv).
 * Columns of objectives, constraints, records and group variables are passed over, and in a table that
 * Eciton wrote (it has a column status, violation, member, generation or reason) all that are no
 * variables: it may be of another job. Values outside of
 * a variable's bounds are moved onto them; the log gets one warning with their number. Errors name
 * `file` and the column or line: a column that is missing or unknown, a field that is no number, a
 * value that the variable cannot have. */
EC_API int ec_job_read_designs(const ec_job *job, const char *text, const char *file, ec_log *log,
                               double *genes, size_t *n);

/* Cost of the i-th objective to minimise (negated when maximised) and the violation (sum of scaled excesses
 * over tolerance; -1 expr when there are no constraints), as graph nodes. */
EC_API ec_expr ec_job_cost(ec_job *job, int32_t objective);
EC_API ec_expr ec_job_violation(ec_job *job);

EC_C_END
#endif
