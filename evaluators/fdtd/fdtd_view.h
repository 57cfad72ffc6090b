/* fdtd_view.h: what the grid of one design holds, as files for ParaView (VTK XML, ASCII) and as a
 * plot. */
#ifndef EC_FDTD_VIEW_H
#define EC_FDTD_VIEW_H

#include "fdtd_network.h"

EC_C_BEGIN

/* path ends in .vtm and names three files beside it:
 *   NAME_grid.vtr        cells with eps_r, conductivity (S/m; both 0 in a conductor), conductor (the part
 *                        of the cell that is one: 1 or 0 without conformal conductors) and absorbing (1 or 0)
 *   NAME_conductors.vtp  faces of the grid whose four edges are conductors, and lone edges
 *   NAME_ports.vtp       a line from..to for each port, source, probe and lumped element, with its
 *                        number
 * or in .png: three cuts across x, y and z, drawn by gnuplot from NAME.gp.
 * ERR_ARGUMENT: another ending; errors of a design that has no grid say why. log: may be NULL. */
EC_API int ec_fdtd_view_write(const ec_fdtd_winner *winner, const char *path, ec_log *log);

EC_C_END

#endif
