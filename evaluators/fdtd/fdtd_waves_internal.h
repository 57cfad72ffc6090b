/* fdtd_waves_internal.h: what ports of a domain that has ended say: voltages, currents, waves, lines.
 *
 * A port of a line knows the voltages V- V V+ on three grid lines, d- and d+ apart, and the currents I-
 * I+ in the two cells between, all along the line, which on a grid obeys
 *   V+ - V- = -z (d- I- + d+ I+),   I+ - I- = -y d V,   d = (d- + d+) / 2
 * for any sum of waves both ways, so z and y follow from one run; the line's impedance is Z =
 * sqrt(z / y), its propagation constant gamma = 2 / d asinh(d y Z / 2), exact for a mode on uniform
 * lines. Where a standing wave leaves little voltage or current at the plane, and where fields that
 * are not the line's pass by, one frequency says little: so z / jw and y / jw, which change slowly,
 * are the least-squares fit of short series in frequency: the real part, even in it, 1, f^2, f^4, the
 * imaginary one f, f^3, and 1 / f in models with losses (fewer terms where there are less than four
 * frequencies for each), with jw = 2j sin(w dt / 2) / dt. At a distance l from the plane the waves
 * are (V +- Z I) / 2 e^(-+ gamma l).
 *
 * Waves of a port of resistance R: a, b = (V +- R I) / (2 sqrt R); a line without one has its own Z
 * for R (sqrt Re Z before). Phases are those of the reference plane. */
#ifndef EC_FDTD_WAVES_INTERNAL_H
#define EC_FDTD_WAVES_INTERNAL_H

#include "fdtd_stack_internal.h"

EC_C_BEGIN

/* Of one port at one frequency, in V s and so on; impedance and gamma of ports of lines only. */
typedef struct ec_fdtd_wave {
    ec_c128 v, i, a, b;
    ec_c128 impedance, gamma; /* ohm, 1/m */
} ec_fdtd_wave;

/* wave: [port][frequency]. ERR_MEMORY. */
int ec_fdtd_waves(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_result *result,
                  ec_fdtd_wave *wave);

EC_C_END
#endif
