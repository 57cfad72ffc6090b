/* mimo_coupling_kernels.h: H becomes (I - S_rx) H (I - S_tx), in place (mimo_coupling_internal.h). C17 and
 * CUDA.
 *
 * A task is a matrix of a frequency, a receiver and a design: n_rx n_tx (n_rx + n_tx) complex
 * multiplications and additions, two reads and writes of each element. */
#ifndef EC_MIMO_COUPLING_KERNELS_H
#define EC_MIMO_COUPLING_KERNELS_H

#include "mimo_kernels.h"

enum { EC_MIMO_COUPLED_MAX = 64 }; /* ports of an end */

typedef struct ec_mimo_coupling_args {
    ec_mimo_result h;
    int32_t n_tx, n_rx, receivers; /* n_rx: of each receiver */
    const ec_c128 *tx, *rx;        /* I - S, [frequency][n][n]; NULL: not coupled */
    size_t samples, lanes;
} ec_mimo_coupling_args;

/* v = m v, or v = v m (transposed), m [n][n] constant, v with a step. */
EC_FN void ec_mimo_couple_vector(const ec_c128 *m, int32_t n, bool transposed, ec_c128 *v,
                                 size_t step)
{
    ec_c128 old[EC_MIMO_COUPLED_MAX];

    for (int32_t i = 0; i < n; i++)
        old[i] = v[(size_t)i * step];
    for (int32_t i = 0; i < n; i++) {
        ec_c128 sum = {0, 0};
        for (int32_t k = 0; k < n; k++)
            sum = ec_c128_add(sum, ec_c128_multiply(m[transposed ? k * n + i : i * n + k], old[k]));
        v[(size_t)i * step] = sum;
    }
}

/* y: a frequency and a receiver. */
EC_FN void ec_mimo_couple_body(const ec_mimo_coupling_args *a, size_t lane0, size_t y)
{
    size_t n_tx = (size_t)a->n_tx, n_rx = (size_t)a->n_rx, frequency = y / (size_t)a->receivers;
    size_t first = y * n_rx * n_tx, ld = a->h.ld;

    for (size_t c = lane0; c < lane0 + EC_LANES && c < a->lanes; c++)
        for (size_t s = 0; s < a->samples; s++) {
            ec_c128 *h = (ec_c128 *)a->h.data + ec_mimo_place(&a->h, first, s, c);
            for (size_t r = 0; r < n_rx && a->tx; r++)
                ec_mimo_couple_vector(a->tx + frequency * n_tx * n_tx, a->n_tx, true,
                                      h + r * n_tx * ld, ld);
            for (size_t t = 0; t < n_tx && a->rx; t++)
                ec_mimo_couple_vector(a->rx + frequency * n_rx * n_rx, a->n_rx, false, h + t * ld,
                                      n_tx * ld);
        }
}

#endif
