/* mimo_coupling_internal.h: mutual coupling of the antennas of an end, from their scattering matrix S.
 *
 * H becomes (I - S_rx) H (I - S_tx). Ports fed by incident power waves a reflect S a, so their
 * currents are (I - S) a (K. Kurokawa, IEEE Trans. Microwave Theory Tech. 13, 1965), and an antenna
 * radiates its own field times its current; by reciprocity (S = S^T) the waves into matched loads
 * are (I - S) times what the antennas would receive alone. With Z = Z0 (I + S) (I - S)^-1 this is the
 * coupling matrix (Z_A + Z_L) (Z + Z_L I)^-1 of I. J. Gupta and A. A. Ksienski, IEEE Trans. Antennas
 * Propag. 31, 1983, with loads (and generators) Z_L = Z0, the reference of S, and antennas that are
 * matched to it when alone, Z_A = Z0; J. W. Wallace and M. A. Jensen, IEEE Trans. Wireless Commun. 3,
 * 2004, take the same into H. It holds for antennas that do nothing when their ports are open (thin
 * dipoles). Transmitted power is that of the waves a; what is reflected is lost.
 *
 * S is linear in its real and imaginary parts between its frequencies. */
#ifndef EC_MIMO_COUPLING_INTERNAL_H
#define EC_MIMO_COUPLING_INTERNAL_H

#include "../../core/backend.h"
#include "mimo.h"
#include "mimo_kernels.h"

/* Checks S for `ports` antennas of the named end and makes *matrix, [n_frequencies][ports][ports],
 * I - S at each frequency (Hz), to be freed. With fewer ports than antennas it is the coupling
 * within each run of so many. ERR_SHAPE: they are no such groups, or more than 64 antennas;
 * ERR_RANGE: a frequency outside of those of S; ERR_ARGUMENT: S is not reciprocal (a difference above
 * 0.01) or gives more power than it gets (by more than 2 %). */
int ec_mimo_coupling_create(const char *name, const ec_touchstone *s, int32_t ports,
                            int32_t n_frequencies, const double *frequency, ec_c128 **matrix);

/* Couples H. tx, rx: on the backend, NULL: an end that is not coupled; n_rx: of each receiver. */
int ec_mimo_coupling_run(ec_backend *backend, const ec_mimo_result *h, const ec_c128 *tx,
                         const ec_c128 *rx, int32_t n_tx, int32_t n_rx, int32_t receivers,
                         int32_t n_frequencies, size_t samples, size_t n);

#endif
