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
 * A lumped port is its resistance R and its source, nothing else: I = (Vs - V) / R, where V is the
 * voltage that the resistance sees, the mean of both ends of a step, at the time of the source. The
 * capacitance of the cells that the port lies in is the structure's: their field is there whatever
 * element bridges them (M. Piket-May, A. Taflove and J. Baron, 1994: the element's current beside the
 * cell's displacement current). The integral of H about the port's edges has both, so by it a port
 * that is closed by R would still see a wave, S_ij = b_i / a_j would depend on the direction, and
 * the port on the cells. As it is V is read with the weights that the source is laid out with, so that
 * S is as symmetric as the grid's equations, whatever number of edges the port has, and a closed port has
 * a = 0. A current source's current is its own. Both are then taken by the root of cos(w dt / 2), the
 * mean over a step, in opposite directions: V I is the power as E and H of a surface, half a step apart,
 * give it.
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

/* Of a source of 1 V or 1 A times the pulse, V s or A s, at the times of the pulse's samples. */
ec_c128 ec_fdtd_source_spectrum(const ec_fdtd_build *build, double frequency);
/* wave: [port][frequency]. ERR_MEMORY. */
int ec_fdtd_waves(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_result *result,
                  ec_fdtd_wave *wave);

EC_C_END
#endif
