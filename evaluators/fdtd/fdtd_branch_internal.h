/* fdtd_branch_internal.h: a resistance, an inductance and a capacitance in series in an edge, for the CPU
 * and for CUDA.
 *
 * The branch's current i and charge q belong to the times of E. All laws are taken in the middle of a
 * step, with the mean of both ends: L di/dt + R i + q / C = v, dq/dt = i, so that with Z = 2 L / dt +
 * R + dt / (2 C)
 *   mean i = (mean v + (2 L / dt) i - q / C) / Z
 * The part of mean v is a conductance 1 / Z of the edge (an ec_fdtd_load), the rest is known before
 * the step and is subtracted after it. Branches give no energy, so the grid's own limit of the time
 * step stays (M. Piket-May, A. Taflove and J. Baron, IEEE Trans. Microw. Theory Techn. 42, 1994, for
 * single elements). */
#ifndef EC_FDTD_BRANCH_INTERNAL_H
#define EC_FDTD_BRANCH_INTERNAL_H

#include "../../core/base.h"

EC_C_BEGIN

/* Sorted by plane of z. */
typedef struct ec_fdtd_branch {
    int64_t index;     /* of E, from the field's first element */
    int64_t edge;      /* of its coefficients */
    int32_t k;         /* its plane */
    double admittance; /* 1 / Z, S */
    double lead;       /* 2 L / dt, ohm */
    double stiff;      /* 1 / C, 1/F */
    double length;     /* of the edge, m */
    double area;       /* of its dual face, m^2 */
    double dt;         /* s */
} ec_fdtd_branch;

/* E before the step, V/m; current along the edge, A; charge, A s. */
enum { EC_FDTD_BRANCH_E, EC_FDTD_BRANCH_I, EC_FDTD_BRANCH_Q, EC_FDTD_BRANCH_STATE };

/* e: the updated E, b: its coefficient. Returns E with the branch's current. */
EC_FN double ec_fdtd_branch_step(const ec_fdtd_branch *q, double *state, double e, double b)
{
    const double known =
        q->admittance * (q->lead * state[EC_FDTD_BRANCH_I] - q->stiff * state[EC_FDTD_BRANCH_Q]);
    const double next = e - b * (known / q->area);
    const double mean =
        q->admittance * q->length * (0.5 * (next + state[EC_FDTD_BRANCH_E])) + known;

    state[EC_FDTD_BRANCH_E] = next;
    state[EC_FDTD_BRANCH_I] = 2 * mean - state[EC_FDTD_BRANCH_I];
    state[EC_FDTD_BRANCH_Q] += q->dt * mean;
    return next;
}

EC_C_END
#endif
