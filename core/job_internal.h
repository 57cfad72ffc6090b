/* job_internal.h: the job's layout, for job.c, the solve loop and the polish; not for users of a
 * job.
 *
 * Variables never move once they are added (ec_job_variable hands out pointers to them). Goals,
 * constraints and records are kept in the order of the script. Start values are kept as genes, one
 * row of the variable's genes a design.
 */
#ifndef EC_JOB_INTERNAL_H
#define EC_JOB_INTERNAL_H

#include "job.h"

EC_C_BEGIN

/* Start values that lay outside of their bounds and were moved onto them. */
typedef struct ec_job_moved {
    int32_t count;
    /* the first of them */
    int32_t element;
    double value, to;
} ec_job_moved;

typedef struct ec_job_entry {
    ec_variable variable;
    double *min, *max;             /* bounds of the genes */
    double *value_min, *value_max; /* bounds of the values, one an element */
    double *start;                 /* n_start rows of genes, or NULL */
    int32_t n_start;
    int32_t sum, n_from; /* of binary and choice variables */
    bool distinct;
    /* spaced: element i of the moving half is base[i] + slack * sorted_i */
    double slack, aperture, min_gap;
    bool symmetric;
    ec_job_moved moved; /* of its start values */
} ec_job_entry;

struct ec_job {
    ec_graph *graph;
    char *name;
    uint64_t seed;
    ec_job_entry **variables;
    ec_goal *objectives, *records;
    ec_constraint *constraints;
    int32_t n_variables, n_objectives, n_records, n_constraints;
    int32_t n_genes, n_group_genes;
    int32_t owner;  /* of its variables' nodes in the graph */
    bool searching; /* a search of it runs: nothing may be added */
};

/* Genes of a variable's value, an element each. Real and integer values outside of their bounds are
 * moved onto them and counted in *moved, which the caller has cleared. Errors: what is no number, no
 * whole number where one is needed, or no value that the variable can have. */
int ec_job_encode(const ec_job_entry *entry, const double *value, double *genes,
                  ec_job_moved *moved);

/* expr, on the candidate axis also where it depends on group variables only. */
ec_expr ec_job_on_candidates(ec_job *job, ec_expr expr);
/* max(0, how far expr lies beyond max + tolerance or below min - tolerance), element by element;
 * NaN stays. */
ec_expr ec_job_excess(ec_job *job, const ec_constraint *constraint);
/* The worst element's distance to its limit, a scalar: <= 0 is met (tolerance not counted). */
ec_expr ec_job_margin(ec_job *job, const ec_constraint *constraint);

/* Genes of a binary, integer or choice variable, [n_genes], that are decoded to `value`, [n_genes]: in
 * the middle of their cells. The values have to be allowed ones. */
void ec_job_encode_discrete(const ec_job_entry *entry, const double *value, double *genes);

/* An error, which begins with `what`, when expr needs a variable of another job, or one whose genes
 * are not among the first n_genes (n_group_genes): one that was added after a solve. */
int ec_job_check_variables(const ec_job *job, const char *what, ec_expr expr, int32_t n_genes,
                           int32_t n_group_genes);

EC_C_END
#endif
