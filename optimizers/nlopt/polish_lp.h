/* polish_lp.h: the linear program of a step: where the linearised rows say that it is best to go.
 *
 *   minimise  c_d . d + c_t . t + (h / 2) |d|^2
 *   subject to  row . (d, t) <= limit,  low <= d <= high,  d[i] - d[i + 1] <= gap
 *
 * d are the genes' moves, t the free variables of the epigraph form. The small h picks the shortest
 * of equally good moves. The unknowns are of order 1: d in units of the trust region.
 *
 * Method: primal-dual interior points with a predictor and a corrector (Mehrotra, SIAM J. Optim. 2,
 * 1992). Bounds add to a diagonal and the order of neighbours to its two neighbours, so that matrix is
 * tridiagonal, and only a dense system over the rows is left: rows^2 (n + rows / 3) multiply-adds
 * a round, however many genes there are.
 */
#ifndef EC_POLISH_LP_H
#define EC_POLISH_LP_H

#include "../../core/base.h"

EC_C_BEGIN

typedef struct ec_polish_lp {
    int32_t n, n_t, n_rows, n_order;
    const double *cost;       /* [n + n_t] */
    const double *row;        /* [n_rows][n + n_t] */
    const double *limit;      /* [n_rows] */
    const double *low, *high; /* [n], low <= high */
    const int32_t *order;     /* [n_order]: i of a pair i, i + 1; ascending */
    const double *gap;        /* [n_order], >= 0 */
} ec_polish_lp;

/* move [n + n_t]. ERR_MEMORY; ERR_UNSUPPORTED when it does not converge. */
int ec_polish_lp_solve(const ec_polish_lp *lp, double *move);

EC_C_END
#endif
