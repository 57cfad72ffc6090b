/* fdtd_modes_internal.h: the frequencies at which a series rings. */
#ifndef EC_FDTD_MODES_INTERNAL_H
#define EC_FDTD_MODES_INTERNAL_H

#include "../../core/base.h"

EC_C_BEGIN

/* Frequencies (Hz, ascending) of the `count` highest peaks in [from, to] of the spectrum of x[n], taken every
 * dt seconds, under a Blackman-Harris window (F. J. Harris, Proc. IEEE 66, 1978), whose side lobes are 92 dB
 * down: what is lower than 80 dB below the highest one is none. A peak's place is that of the
 * parabola through the logarithms of its three values. Peaks nearer than about 4 / (n dt) are one.
 * NaN behind the last one. Returns how many there are, ERR_MEMORY without memory for it. */
int ec_fdtd_modes(const double *x, int64_t n, double dt, double from, double to, int32_t count,
                  double *frequency);

/* Quality factors in place of such frequencies: x rings freely, and its spectrum at a mode falls from the
 * first half, under the same window, to the second by e^(-w T / 2Q), T half its length; exact for one mode that
 * others are four bins of the half from. NaN stays, INFINITY for what does not fall. */
void ec_fdtd_quality(const double *x, int64_t n, double dt, int32_t count, double *mode);

EC_C_END
#endif
