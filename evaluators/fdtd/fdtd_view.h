/* fdtd_view.h: what the grid of one design holds, as files for ParaView (VTK XML, ASCII). */
#ifndef EC_FDTD_VIEW_H
#define EC_FDTD_VIEW_H

#include "fdtd_network.h"

EC_C_BEGIN

/* path ends in .vtm and names three files beside it:
 *   NAME_grid.vtr        cells with eps_r, conductivity (S/m; both 0 in a conductor), conductor and
 *                        absorbing (1 or 0)
 *   NAME_conductors.vtp  faces of the grid whose four edges are conductors, and lone edges
 *   NAME_ports.vtp       a line from..to for each port, source, probe and lumped element, with its
 *                        number
 * ERR_ARGUMENT: another ending; errors of a design that has no grid say why. */
EC_API int ec_fdtd_view_write(const ec_fdtd_winner *winner, const char *path);

EC_C_END

#endif
