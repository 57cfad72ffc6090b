/* fdtd_port_mode.c: static potential between a line's conductors. */
#include "fdtd_port_mode_internal.h"

#include <stdlib.h>

#include "../../core/status.h"

int ec_fdtd_port_mode_create(int nu, int nv, ec_fdtd_port_mode **mode)
{
    ec_fdtd_port_mode *m = calloc(1, sizeof *m);
    const size_t nodes = (size_t)nu * (size_t)nv;

    if (m) {
        *m = (ec_fdtd_port_mode){.n = {nu, nv}};
        m->weight[0] = calloc(nodes, sizeof(double));
        m->weight[1] = calloc(nodes, sizeof(double));
        m->fixed = calloc(nodes, 1);
        m->potential = calloc(nodes, sizeof(double));
    }
    if (!m || !m->weight[0] || !m->weight[1] || !m->fixed || !m->potential) {
        ec_fdtd_port_mode_destroy(&m);
        return ec_fail(EC_ERR_MEMORY, "no memory for a port's cross-section of %d x %d nodes", nu,
                       nv);
    }
    *mode = m;
    return EC_OK;
}

void ec_fdtd_port_mode_destroy(ec_fdtd_port_mode **mode)
{
    ec_fdtd_port_mode *m = *mode;

    if (!m)
        return;
    free(m->weight[0]);
    free(m->weight[1]);
    free(m->fixed);
    free(m->potential);
    free(m);
    *mode = NULL;
}

/* One sweep; returns the largest change. */
static double relax(ec_fdtd_port_mode *m, double factor)
{
    const size_t nu = (size_t)m->n[0], nv = (size_t)m->n[1];
    const double *wu = m->weight[0], *wv = m->weight[1];
    double *p = m->potential, largest = 0;

    for (size_t j = 0; j < nv; j++)
        for (size_t i = 0; i < nu; i++) {
            const size_t at = j * nu + i;
            double flow = 0, sum = 0;
            if (m->fixed[at])
                continue;
            const struct {
                bool there;
                size_t edge, other;
            } next[4] = {{i > 0, at - 1, at - 1},
                         {i + 1 < nu, at, at + 1},
                         {j > 0, at - nu, at - nu},
                         {j + 1 < nv, at, at + nu}};
            for (int k = 0; k < 4; k++)
                if (next[k].there) {
                    const double w = (k < 2 ? wu : wv)[next[k].edge];
                    flow += w * p[next[k].other];
                    sum += w;
                }
            if (!(sum > 0))
                continue;
            const double change = factor * (flow / sum - p[at]);
            p[at] += change;
            largest = fmax(largest, fabs(change));
        }
    return largest;
}

int ec_fdtd_port_mode_solve(ec_fdtd_port_mode *m)
{
    const int side = m->n[0] > m->n[1] ? m->n[0] : m->n[1], most = 1000 + 40 * side;
    const size_t nu = (size_t)m->n[0], nodes = nu * (size_t)m->n[1];
    const double factor = 2 / (1 + EC_PI / side);
    int turn = 0;

    for (size_t i = 0; i < nodes; i++)
        m->potential[i] = m->fixed[i] == 2 ? 1 : 0;
    while (relax(m, factor) > 1e-11)
        if (++turn == most)
            return ec_fail(EC_ERR_RANGE,
                           "the static field of its cross-section of %d x %d nodes does not "
                           "converge",
                           m->n[0], m->n[1]);
    m->sum = 0;
    for (size_t i = 0; i < nodes; i++)
        for (int t = 0; t < 2; t++) {
            const bool last =
                t ? i / nu + 1 == (size_t)m->n[1] : i % nu + 1 == nu; /* no node comes after */
            if (last)
                continue;
            const double d = m->potential[i + (t ? nu : 1)] - m->potential[i];
            m->sum += m->weight[t][i] * d * d;
        }
    return m->sum > 0 ? EC_OK
                      : ec_fail(EC_ERR_RANGE, "nothing is between the conductors of its line");
}
