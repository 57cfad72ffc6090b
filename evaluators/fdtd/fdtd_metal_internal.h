/* fdtd_metal_internal.h: the surface of a good conductor as poles.
 *
 * Fields end within a skin depth of it, far less than a cell: an edge on the surface has the surface
 * admittance sqrt(sigma / (jw mu_0)) for the width of surface that its dual face holds. As
 *   1 / sqrt(s) = 1/pi integral of e^(u/2) / (s + e^u) du
 * it is a sum of terms r / (s + g), resistances and inductances in series, which are Drude poles in the
 * current of an edge: passive whatever the step is. Midpoints in u over the band and a factor of 3
 * on both of its sides, and behind these a term each that has the first two moments of the rest, are
 * within 2 % of it; with weights r of least squares within 0.6 %. */
#ifndef EC_FDTD_METAL_INTERNAL_H
#define EC_FDTD_METAL_INTERNAL_H

#include "fdtd.h"

EC_C_BEGIN

/* Those of a conductivity of 1 S/m over the frequencies of config; the caller's. */
int ec_fdtd_metal_poles(const ec_fdtd_config *config, ec_fdtd_pole **poles, int32_t *n);
/* What multiplies their strengths (rad/s) at another conductivity, S/m. */
double ec_fdtd_metal_scale(double conductivity);

EC_C_END
#endif
