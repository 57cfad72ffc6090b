/* polish_round.h: one round on one design: a smooth problem (polish_problem.h) inside a box.
 *
 * The unknowns are y = (genes - low) / range of the free genes, then t / unit. The cost and the rows
 * are divided by `unit`, the typical slope, and a job's limits by their own, so that every slope is
 * of order 1. It is solved by NLopt's SLSQP (polish.c), whose work grows with the cube of the genes, and for
 * many of them by steps of linear programs (polish_steps.c) or, without rows, NLopt's L-BFGS.
 */
#ifndef EC_POLISH_ROUND_H
#define EC_POLISH_ROUND_H

#include "polish_problem.h"

EC_C_BEGIN

typedef struct ec_polish_round {
    ec_polish_problem *problem;
    bool (*heard)(void *user); /* told of each evaluation; true ends the round */
    /* Steps only: the score of genes as the job defines it; false where there is none. */
    bool (*judged)(void *user, const double *genes, double *cost, double *violation);
    void *user;
    double deadline; /* wall time */
    double radius;   /* steps: of the trust region; where it ended */
    double *genes, *t;
    double unit;
    int32_t n, n_inequalities, n_equalities, n_order;
    int32_t *order; /* pairs of neighbours of spaced variables: free genes order[i], order[i] + 1 */
    double *y;      /* where it starts and, after it, ends */
    double *low, *high; /* box of y */
    double *at;         /* point of the last evaluation */
    bool evaluated, has_slopes, good, ended;
    double *best; /* best point that met every row */
    double best_cost;
    bool has_best;
    int32_t evaluations;
} ec_polish_round;

/* A round about genes; the free genes move at most by `region` times their range. Release it also
 * after an error (ERR_MEMORY). */
int ec_polish_round_create(ec_polish_round *round, const ec_job *job, ec_polish_problem *problem,
                           const double *genes, double region);
void ec_polish_round_release(ec_polish_round *round);

/* y to round->genes and round->t. */
void ec_polish_round_decode(ec_polish_round *round, const double *y);
/* Values at y, and the Jacobian once it is asked for; `good` is false where they are not finite. */
void ec_polish_round_evaluate(ec_polish_round *round, const double *y, bool slopes);
/* Element e of a row at the point evaluated last: met where it is <= 0 (an equality: 0). Its slopes
 * over y, [n]. */
double ec_polish_round_row(const ec_polish_round *round, const ec_polish_row *row, int32_t e);
void ec_polish_round_slopes(const ec_polish_round *round, const ec_polish_row *row, int32_t e,
                            double *slopes);

/* A trust region inside the box, steps by linear programs (Madsen's method for minimax problems,
 * J. Inst. Maths Applics 16, 1975, with constraints and second-order corrections): moves towards the
 * best point of all rows' linearisations and keeps what is better. From a point that does not meet
 * the job's limits it lowers the largest excess first. It ends where the judge no longer agrees,
 * which means that the pieces have to be made anew. No equality rows. At most `most` evaluations. */
void ec_polish_round_steps(ec_polish_round *round, int32_t most);

EC_C_END
#endif
