/* nsga2_variation.h: the children of a genetic algorithm: parents by binary tournament, crossover,
 * mutation. Host memory, a row of genes a design; the same bits for any number of threads.
 *
 * Real genes: simulated binary crossover within bounds (SBX; Deb and Agrawal, Complex Systems 9
 * (1995), 115-148) and polynomial mutation (Deb and Goyal, Computer Science and Informatics 26
 * (1996), 30-45), both in the bounded form of Deb et al. 2002.
 * Integral genes, whose bounds enclose one unit of length a value: uniform crossover, of a share that
 * each pair draws from 0 to 1/2, and a mutation that draws another value; genes in 0 .. 1 (binary
 * ones) are mirrored, which flips the bit.
 * Binary genes of a set with k ones keep them: of the elements in which two parents differ, pairs with
 * a one in either change sides, with the same share; a mutation swaps an element with one that has the
 * other value. Their keys are 1/4 and 3/4.
 * A child that is equal to one of its parents gets one mutation, so that no design is scored twice
 * for nothing. Every draw is by inversion from a fixed Philox block.
 */
#ifndef EC_NSGA2_VARIATION_H
#define EC_NSGA2_VARIATION_H

#include "optimizer.h"

EC_C_BEGIN

typedef struct ec_variation {
    const ec_gene *genes;
    size_t n_genes;
    const uint32_t *free_genes; /* those whose bounds differ */
    size_t n_free;
    double crossover;     /* probability that two parents are crossed over */
    double crossover_eta; /* distribution index of SBX: the larger, the nearer to the parents */
    double mutation;      /* probability that a gene is changed */
    double mutation_eta;
    uint64_t seed;
    uint32_t island;
    int threads; /* >= 1 */
} ec_variation;

/* Turns the sets of any row into keys of 1/4 and 3/4 that are decoded to the same bits; work: n_genes. */
void ec_variation_settle(const ec_variation *variation, double *row, double *work);
/* Row of a random design, uniform in the bounds. */
void ec_variation_first(const ec_variation *variation, uint32_t design, double *row);
/* Fills n rows of children in generation `generation`; with an odd n one row more, which is of no
 * use. parents: n_parents rows from best to worst. */
void ec_variation_children(const ec_variation *variation, uint32_t generation,
                           const double *const *parents, uint32_t n_parents,
                           double *const *children, size_t n);

EC_C_END
#endif
