/* problems.h: problems with a known optimum, as jobs on the graph, for tests and benchmarks of any
 * optimizer:
 *
 *   sphere10, rosenbrock10, rastrigin10, ackley10, griewank10, and with 30 for 10
 *     in [-100, 100]^D, shifted and rotated: z = scale M (x - o), with a random orthogonal M and a
 *     random o in [-80, 80]^D, in the manner of CEC 2014 (Liang, Qu and Suganthan, technical report
 *     201311, Zhengzhou University) and with its scales, but for Rosenbrock's, 0.1, which keeps the
 *     whole valley within the bounds, and Ackley's, 0.32. The lowest cost is 0.
 *   fm_sound        P1 of CEC 2011 (Das and Suganthan 2010): six parameters of a frequency-modulated
 *                   sound; the lowest cost is 0.
 *   circular_array  P10 of CEC 2011 with a search for lobes that wraps around 0 = 360 deg: twelve
 *                   elements on a circle; the lowest cost known is -21.8425.
 *
 * A job has one variable "x" of D elements and the objective "f", to be minimised.
 */
#ifndef EC_PROBLEMS_H
#define EC_PROBLEMS_H

#include "job.h"

enum { EC_PROBLEM_GENES_MAX = 30 };

typedef struct ec_problem ec_problem;
struct ec_problem {
    const char *name;
    int32_t genes;         /* D, even */
    double min[2], max[2]; /* bounds of the first and of the second half of the variables */
    double optimum;        /* lowest cost known */
    double scale;          /* of the shifted and rotated ones */
    ec_expr (*cost)(ec_graph *graph, const ec_problem *problem, ec_expr x);
    /* A design with the lowest cost; NULL: none is written down. */
    void (*best)(const ec_problem *problem, double *x);
};

/* All problems, ended by a NULL name. */
extern const ec_problem ec_problem_table[];
const ec_problem *ec_problem_find(const char *name); /* NULL: there is none */

void ec_problem_bounds(const ec_problem *problem, double *min, double *max); /* D values each */
/* o, D values, and M, D rows of D values; the same for every run and machine. */
void ec_problem_shift(const ec_problem *problem, double *o);
void ec_problem_rotation(const ec_problem *problem, double *matrix);

/* A job on a graph of its own; destroy the job, then the graph. */
int ec_problem_job(const ec_problem *problem, uint64_t seed, ec_graph **graph, ec_job **job);

#endif
