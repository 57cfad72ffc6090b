/* array_parts.h: an array cut into sub-arrays, so that each is nearly a plane and needs few terms of
 * the expansion in z (array_pattern_expansion.h).
 *
 * Elements are cut by numbers that are given, by the cells of a grid over their bounding box, or by a
 * k-d tree (Bentley, Commun. ACM 18, 1975): halves of equal count, across the longer side. A part's
 * elements lie about
 *   z = z_c + slope_x (x - x_c) + slope_y (y - y_c),
 * the plane of least squares, moved so that it halves the largest distances; a slope that is not
 * wanted is 0, and so is the middle along that axis. What is left, |z - plane| <= depth, is what the
 * expansion sees; the linear part of z shifts the part's directions to (u + slope_x w, v + slope_y w).
 *
 * Positions that vary have a reach about their middles: the parts and planes are those of the
 * middles, and depth and spans hold for every position within reach, x, y and z each on its own.
 */
#ifndef EC_ARRAY_PARTS_H
#define EC_ARRAY_PARTS_H

#include "array_pattern.h"
#include "array_types.h"

/* Slopes that the planes may have; EC_TILT_NONE: parts are expanded about a constant z. */
enum { EC_TILT_NONE = 0, EC_TILT_X = 1, EC_TILT_Y = 2, EC_TILT_BOTH = 3 };

typedef struct ec_pattern_parts {
    int32_t count, longest; /* parts; elements of the largest */
    ec_pattern_part *part;  /* [count] */
    int32_t *order;         /* [elements]: those of part 0, of part 1 ... */
    double depth;           /* wavelengths, over all parts */
    double span[2];         /* largest half extent of a part along axes with slopes */
    double slope[2];        /* largest |slope_x|, |slope_y| */
} ec_pattern_parts;

/* Where the elements are: x[n], y[n], z[n] in wavelengths, and how far they reach from there
 * (NULL: they do not vary). */
typedef struct ec_pattern_positions {
    int32_t n;
    const double *middle, *reach;
} ec_pattern_positions;

/* How they are cut: by number (given, [n], any integers), or into cells of nx x ny, or into `nx ny`
 * parts of a k-d tree; empty cells are left out. */
typedef struct ec_pattern_cut {
    ec_array_partition partition; /* not AUTO, without `given` */
    const int32_t *given;
    int32_t nx, ny;
} ec_pattern_cut;

int ec_pattern_parts_make(const ec_pattern_positions *at, const ec_pattern_cut *cut, int tilt,
                          ec_pattern_parts *parts);
void ec_pattern_parts_free(ec_pattern_parts *parts);

#endif
