/* array_parts.h: an array cut into sub-arrays, so that each is nearly a plane and needs few terms of
 * the expansion in z (array_pattern_expansion.h).
 *
 * Positions are known when the parts are made. A part's elements lie about
 *   z = z_c + slope_x (x - x_c) + slope_y (y - y_c),
 * the plane of least squares, moved so that it halves the largest distances; without planes the
 * slopes, x_c and y_c are 0 and z_c halves the part's extent in z. What is left, |z - plane| <=
 * depth, is what the expansion sees; the linear part of z shifts the part's directions to
 * (u + slope_x w, v + slope_y w).
 */
#ifndef EC_ARRAY_PARTS_H
#define EC_ARRAY_PARTS_H

#include "array_types.h"

typedef struct ec_pattern_parts {
    int32_t count, longest; /* parts; elements of the largest */
    ec_pattern_part *part;  /* [count] */
    int32_t *order;         /* [elements]: those of part 0, of part 1 ... */
    double depth;           /* wavelengths, over all parts */
    double span[2];         /* largest half extent of a part along x and y */
    double slope[2];        /* largest |slope_x|, |slope_y| */
} ec_pattern_parts;

/* Parts by number (`given`, [elements], any integers) or, given NULL, cells of nx x ny over the
 * elements' bounding box; empty cells are left out. position: x[n], y[n], z[n] in wavelengths. */
int ec_pattern_parts_make(const double *position, int32_t n, const int32_t *given, int32_t nx,
                          int32_t ny, bool planes, ec_pattern_parts *parts);
void ec_pattern_parts_free(ec_pattern_parts *parts);

#endif
