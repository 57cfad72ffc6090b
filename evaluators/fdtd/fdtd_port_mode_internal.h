/* fdtd_port_mode_internal.h: the static potential in a cross-section of a line, on the grid's nodes.
 *
 * Its gradient is the field of the line's fundamental mode: exactly on the grid where the filling is one
 * material (the discrete Laplace equation is what remains of the update across a line), and at low
 * frequencies elsewhere. A source of this shape excites nothing else, a sheet that conducts in
 * proportion to the permittivity loads nothing else. */
#ifndef EC_FDTD_PORT_MODE_INTERNAL_H
#define EC_FDTD_PORT_MODE_INTERNAL_H

#include "../../core/base.h"

EC_C_BEGIN

/* Node (i, j) of n[0] x n[1] nodes lies at j n[0] + i. */
typedef struct ec_fdtd_port_mode {
    int n[2];
    double *weight[2]; /* of the edge from a node to the next one along either axis: permittivity
                          times dual face over length; 0: none */
    uint8_t *fixed;    /* 0: free, 1: outer conductor, 2: inner conductor */
    double *potential; /* 0 on the outer, 1 on the inner conductor */
    double sum;        /* of weight times difference squared: the capacitance */
} ec_fdtd_port_mode;

/* Everything 0. ERR_MEMORY. */
int ec_fdtd_port_mode_create(int nu, int nv, ec_fdtd_port_mode **mode);
void ec_fdtd_port_mode_destroy(ec_fdtd_port_mode **mode);
/* Fills the potential and the sum (successive over-relaxation: D. M. Young, 1954). ERR_RANGE: it does
 * not converge, or nothing is between the conductors. */
int ec_fdtd_port_mode_solve(ec_fdtd_port_mode *mode);

EC_C_END
#endif
