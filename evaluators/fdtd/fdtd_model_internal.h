/* fdtd_model_internal.h: the copy of a model that a call owns, and its numbers for one candidate.
 *
 * In the copy a number's expr is the element of the call's input that has its value, -1 for a
 * constant. */
#ifndef EC_FDTD_MODEL_INTERNAL_H
#define EC_FDTD_MODEL_INTERNAL_H

#include "fdtd.h"

EC_C_BEGIN

typedef struct ec_fdtd_model {
    /* All pointers are owned. What is made of a metal is made of EC_FDTD_PEC here. */
    ec_fdtd_config config;
    int32_t *metal;     /* [n_objects] the material of a conductor's surface, -1: it is perfect */
    int32_t n_numbers;  /* elements of the input */
    ec_interval *range; /* [n_numbers] of each */
    /* Numbers of some designs, the middle of all variables first: what a grid must be good for. */
    int32_t n_designs;
    double *designs; /* [n_designs][n_numbers] */
} ec_fdtd_model;

/* values: [n_numbers], a candidate's. */
static inline double ec_fdtd_number_of(ec_fdtd_number number, const double *values)
{
    return number.expr < 0 ? number.value : values[number.expr];
}

typedef int ec_fdtd_visit(void *user, ec_fdtd_number *number, const char *what);

/* That of a call of ec_fdtd_call, borrowed, as the search has it: what is not of its grid is the same at
 * final fidelity. */
const ec_fdtd_model *ec_fdtd_model_of(const ec_call *call);
/* Copies what config points to. Numbers keep their expressions: who made the copy replaces them. */
int ec_fdtd_model_create(const ec_fdtd_config *config, ec_fdtd_model **model);
void ec_fdtd_model_destroy(ec_fdtd_model **model);
/* Calls visit for each number of the model, in a fixed order, what saying which it is ("patch:
 * size"); ends at the first status that is not EC_OK, which it returns. */
int ec_fdtd_model_numbers(ec_fdtd_model *model, ec_fdtd_visit *visit, void *user);

/* Fills the model's designs: the numbers are the values of `in` at the middle and at other points of the
 * variables that these depend on, so sizes that depend on each other stay so. */
int ec_fdtd_model_designs(ec_fdtd_model *model, ec_graph *graph, const ec_expr *in);

EC_C_END
#endif
