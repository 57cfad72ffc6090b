/* output_map.h: quantities over places as a table and pictures, by gnuplot: a place a row, a
 * picture a quantity, a panel a plane.
 *
 * Places on a line along an axis are drawn as a curve over it. Those in one plane across an axis are
 * drawn in that plane, others by their x and y: in a panel for each z, up to nine, or all in one; to
 * scale, unless one side is four times the other. Places on a lattice, of which some may be missing,
 * are drawn as cells; others as points. Cells are as wide as the lattice's step. What is not finite is
 * left blank. Lengths are in metres.
 */
#ifndef EC_OUTPUT_MAP_H
#define EC_OUTPUT_MAP_H

#include "log.h"
#include "status.h"

EC_C_BEGIN

typedef struct ec_output_map {
    const char *name;  /* of the files, without ending */
    const char *title; /* NULL: the name */
    const char *place; /* what a place is, the first column: "receiver" */
    int32_t n;
    const double (*at)[3]; /* [n] m */
    int32_t n_values;
    const char *const *value;    /* column names; endings _db, _dbm and _bit_s_hz are units */
    const double *const *values; /* [n_values][n] */
    int32_t n_marks;
    const double (*mark)[3]; /* places drawn beside them, as triangles; [n_marks] */
} ec_output_map;

/* NAME.csv: the number of the place from 1, x, y, z, the values; and for each value NAME_VALUE.gp,
 * and NAME_VALUE.png by gnuplot, the log says why not. ERR_ARGUMENT: there is no place or no
 * value. */
EC_API int ec_output_map_write(const ec_output_map *map, const char *folder, ec_log *log);

EC_C_END
#endif
