/* fdtd_view.h: what the grid of one design holds, as files for ParaView (VTK XML, ASCII) and as a
 * plot. */
#ifndef EC_FDTD_VIEW_H
#define EC_FDTD_VIEW_H

#include "fdtd_network.h"

EC_C_BEGIN

/* path ends in .vtm; there are four files beside it, of which it names the first three:
 *   NAME_grid.vtr        cells with eps_r, conductivity (S/m; both 0 in a conductor), conductor (the part
 *                        of the cell that is one: 1 or 0 without conformal conductors) and absorbing (1 or 0)
 *   NAME_conductors.vtp  faces of the grid whose four edges are conductors, and lone edges
 *   NAME_ports.vtp       a line from..to for each port, source, probe and lumped element, with its
 *                        number
 *   NAME_structure.csv   as ec_fdtd_structure_write
 * or in .png: three cuts across x, y and z, drawn by gnuplot from NAME.gp.
 * ERR_ARGUMENT: another ending; errors of a design that has no grid say why. log: may be NULL. */
EC_API int ec_fdtd_view_write(const ec_fdtd_winner *winner, const char *path, ec_log *log);
/* What a design is made of, as a table (.csv) with a row each of the domain (without absorbing layers), of
 * the objects in the order in which later ones count, and of the ports, sources, probes and lumped elements.
 * Columns:
 *   part        domain, object, port
 *   kind        of an object box, plate, cylinder, sphere, polygon, wire; of a port lumped, element,
 *               current, probe, microstrip, coax
 *   name, material           empty without one; material: pec, air, or as it is called
 *   eps_r, conductivity_s_m, loss_tangent  of the material; nan of what it has none of, as a conductor
 *   axis                     x, y, z: of plates, cylinders, polygons, wires and ports
 *   x_low_m, x_high_m, y_low_m, ... z_high_m   the extent, on the grid's lines where objects are brought to
 *               them, cut at the domain's ends; of a port from and to
 *   radius_m, inner_radius_m  nan without one
 *   points_m    of a polygon: its corners, "u v;u v;...", in the two axes after `axis`, in cyclic order
 * Errors of a design that has no grid say why. */
EC_API int ec_fdtd_structure_write(const ec_fdtd_winner *winner, const char *path);

EC_C_END

#endif
