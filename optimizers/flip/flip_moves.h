/* flip_moves.h: the neighbours of a design in its binary, integer and choice variables.
 *
 *   binary            one bit turned (unless the sum is fixed); a one and a zero of a variable swapped
 *   integer           up or down by 1, 2, 4, ... within the bounds
 *   choice            another item for one element
 *   distinct choice   an unused item for one element, or two elements swapped
 *
 * A design's values, not its genes, are moved: elements of all discrete variables one after another,
 * decoded. Neighbours are numbered, so that no list of them is needed: 10,000 bits have 25 million.
 */
#ifndef EC_FLIP_MOVES_H
#define EC_FLIP_MOVES_H

#include "job_internal.h"

EC_C_BEGIN

typedef struct ec_flip_variable {
    const ec_job_entry *entry;
    size_t value; /* its first element in the values */
    size_t gene;  /* its first gene in a row of genes, group genes behind */
} ec_flip_variable;

typedef struct ec_flip_space {
    ec_flip_variable *variables;
    int32_t n_variables;
    size_t n_values, n_genes; /* genes: of a row */
} ec_flip_space;

/* One or two elements of a variable get other values. */
typedef struct ec_flip_move {
    int32_t variable, n;
    int32_t element[2]; /* within the variable */
    double value[2];
} ec_flip_move;

/* Whether a variable has genes that are moved here. */
bool ec_flip_moves(const ec_variable *variable);

/* Release it also after an error (ERR_MEMORY). */
int ec_flip_space_create(ec_flip_space *space, const ec_job *job);
void ec_flip_space_release(ec_flip_space *space);

/* Counts the neighbours of values, [n_values]: of each variable, and returns their sum; without swaps of
 * bits whose sum is free. */
uint64_t ec_flip_count(const ec_flip_space *space, const double *values, bool swaps,
                       uint64_t *count);
/* Neighbour k, below the sum. */
ec_flip_move ec_flip_find(const ec_flip_space *space, const double *values, const uint64_t *count,
                          uint64_t k);
/* Makes the move in values, and in the genes of the variable within a row. */
void ec_flip_apply(const ec_flip_space *space, const ec_flip_move *move, double *values,
                   double *genes);
void ec_flip_encode(const ec_flip_space *space, const double *values, double *genes);

EC_C_END
#endif
