/* fdtd_ports_internal.h: the ports of a candidate on its grid: loads, branches, sources and probes.
 *
 * A port of a line is excited, and closed by its resistance if it has one, at its start; its line
 * is measured around a plane further along: voltages on the plane and on the lines before and after it,
 * currents in the cells between. A microstrip's conductor is whatever hangs together, across the
 * line, with the port's end `to`; a coaxial line's voltage is the mean of the paths from the middle to the
 * outer conductor along both axes of the grid. */
#ifndef EC_FDTD_PORTS_INTERNAL_H
#define EC_FDTD_PORTS_INTERNAL_H

#include "fdtd_build_internal.h"

EC_C_BEGIN

/* Fills all of b that ports are, once its lines, solids and media are there. ERR_RANGE: a port is off the
 * grid, in metal, in an absorbing wall, on another one's edges, without a conductor at an end, or
 * its line has no place to be measured. */
int ec_fdtd_ports_build(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build *b);

EC_C_END
#endif
