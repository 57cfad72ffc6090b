/* polish_problem.h: a smooth problem that stands for a job near one design.
 *
 * minimise f(x, t)  subject to  s_r (R_r(x, t) - t_own(r)) <= 0  for every row r,
 *
 * where each t replaces a node that is a maximum (or a minimum) over pieces: evaluator outputs
 * with pieces, max and min over a vector, over samples or of two values, abs. It is valid where every function
 * does not fall with a maximum's t (nor rise with a minimum's); a node where that fails stays as
 * it is. The job's constraints are rows as well. Rows are vectors; all their elements count.
 *
 * The whole Jacobian comes from one batch: candidate k carries the design and the k-th unit vector as
 * seed of the vector-Jacobian product, so a strip of 32 rows costs about as much as one. Where the
 * graph has no gradient, and for genes of groups, it comes from central differences, one batch too.
 *
 * A design is its genes and then those of its group: a polished design has a group of its own.
 */
#ifndef EC_POLISH_PROBLEM_H
#define EC_POLISH_PROBLEM_H

#include "job.h"

EC_C_BEGIN

enum {
    EC_POLISH_CUTS_MAX = 192,
    EC_POLISH_ROWS_MAX = 512,
    EC_POLISH_ELEMENTS_MAX = 300,
    EC_POLISH_DIFFERENCES_MAX = 256 /* genes and t that differences are taken for */
};

typedef struct ec_polish_row {
    ec_expr expr;
    int32_t elements, first; /* first: its first element among all rows; the cost is element 0 */
    int32_t own;             /* t that bounds it, -1: none */
    double sign;             /* +1: expr - t <= 0 or expr - limit <= 0; -1: the opposite */
    double limit, scale;
    bool equality;
} ec_polish_row;

typedef struct ec_polish_cut {
    ec_expr node;
    double direction; /* +1: a maximum, -1: a minimum */
    double start;     /* the node's value at the design */
} ec_polish_cut;

typedef struct ec_polish_problem {
    ec_backend *backend;
    ec_executor *values; /* of the rows, for one candidate or all differences */
    ec_executor
        *gradients;  /* of the variables, then of t; a candidate an element; NULL: differences */
    int32_t n_genes; /* of the job's candidates; t and seeds lie behind */
    int32_t n_group_genes;
    int32_t n_free;      /* genes that move */
    int32_t *free_gene;  /* of a design, those of the group behind n_genes */
    double *low, *range; /* of the free genes */
    int32_t n_cuts;
    ec_polish_cut cuts[EC_POLISH_CUTS_MAX];
    ec_expr t; /* variable of n_cuts elements, -1 without cuts */
    int32_t n_rows;
    ec_polish_row rows[EC_POLISH_ROWS_MAX];
    int32_t n_elements;  /* of all rows, the cost included */
    int32_t n_grads;     /* outputs behind the rows: gradients of the variables, then of t */
    int32_t *grad_first; /* per free gene: output and element of its gradient */
    int32_t *grad_element;
    ec_array X, XG;
    int32_t *group_map; /* NULL without groups; every candidate has its own */
    uint8_t *status;
    /* What the host writes and reads of these: the same memory, or copies of a device's. */
    double *x, *xg;
    uint8_t *bad;
    double
        *out; /* of all rows, one behind another; NULL where the backend's memory is the host's */
    int64_t evaluations; /* of differences */
    /* value [n_elements]; jacobian [n_elements][n_free + n_cuts], with respect to the genes (not
     * scaled) and t */
    double *value, *jacobian;
} ec_polish_problem;

/* What is found out once for a job: nodes that cannot be cut, and why the polish ends ("" if not). */
typedef struct ec_polish_notes {
    ec_expr uncut[EC_POLISH_CUTS_MAX];
    int32_t n_uncut;
} ec_polish_notes;

/* genes: the design, those of spaced variables in ascending order. Adds to the graph, so one at a time. ERR_NO_GRADIENT or ERR_UNSUPPORTED with a sentence when the
 * job cannot be polished. margin: kept from the limits of the job's constraints, relative to them. */
int ec_polish_problem_create(ec_job *job, ec_backend *backend, const double *genes, double margin,
                             ec_polish_notes *notes, ec_polish_problem **problem);
void ec_polish_problem_destroy(ec_polish_problem **problem);
/* Group genes of n candidates that have a group each, on a backend whose memory the host writes;
 * the caller releases both, after an error as well. */
int ec_polish_groups(ec_backend *backend, int32_t n_group_genes, size_t n, ec_array *XG,
                     int32_t **group_map);
/* Fills value, or jacobian, at genes (a design) and t (n_cuts). */
int ec_polish_problem_values(ec_polish_problem *problem, const double *genes, const double *t);
int ec_polish_problem_jacobian(ec_polish_problem *problem, const double *genes, const double *t);

EC_C_END
#endif
