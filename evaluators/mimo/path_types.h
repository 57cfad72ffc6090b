/* path_types.h: how a path is written down: the sequence of its interactions and their points.
 *
 * A step is a kind and the index of a facet, wedge or surface of the scene in one word, so that
 * sequences are compared and sorted as words. Shared by C17 and CUDA. */
#ifndef EC_PATH_TYPES_H
#define EC_PATH_TYPES_H

#include "../../core/base.h"

enum {
    EC_PATH_REFLECTION,   /* at a facet */
    EC_PATH_CURVED,       /* reflection at a surface */
    EC_PATH_DIFFRACTION,  /* at a wedge */
    EC_PATH_TRANSMISSION, /* straight through a thin facet */
};

enum {
    EC_PATH_DEPTH_MAX = 24, /* interactions of a path */
    EC_PATH_NODES_MAX = 4,  /* of them at wedges and surfaces */
};

enum { EC_PATH_INDEX_BITS = 28 };

/* Why there is no path along a sequence. */
enum {
    EC_PATH_FOUND,
    EC_PATH_NONE,       /* no such point, or it is not where the part is */
    EC_PATH_UNRESOLVED, /* the iteration did not converge */
};

/* Where on an interpolated surface a path is reflected. */
typedef struct ec_path_place {
    int32_t triangle; /* -1: nowhere */
    double weight[2]; /* barycentric, of its second and third corner */
} ec_path_place;

/* The points of one path; what ec_path_points fills. */
typedef struct ec_path_trace {
    double point[EC_PATH_DEPTH_MAX][3];
    double direction[EC_PATH_DEPTH_MAX + 1][3]; /* unit, of the segment that ends at point i; the
                                                   last ends at the receiver */
    double length;
    ec_path_place place; /* of a path's one reflection at an interpolated surface */
    double smooth;       /* m: the least (a / 2) cos^3 i of its curved reflections, a the radius of
                      curvature in the plane of incidence; INFINITY without one. Where k smooth is
                      below 1, (ka/2)^(1/3) cos i is: geometrical optics is inexact. Focal lines
                      count too: see ec_path_see_focus */
} ec_path_trace;

EC_FN uint32_t ec_path_step(uint32_t kind, int32_t index)
{
    return kind << EC_PATH_INDEX_BITS | (uint32_t)index;
}

EC_FN uint32_t ec_path_kind(uint32_t step)
{
    return step >> EC_PATH_INDEX_BITS;
}

EC_FN int32_t ec_path_index(uint32_t step)
{
    return (int32_t)(step & ((1u << EC_PATH_INDEX_BITS) - 1));
}

/* Whether a step bends a path at a place that has to be searched for. */
EC_FN bool ec_path_is_node(uint32_t step)
{
    uint32_t kind = ec_path_kind(step);
    return kind == EC_PATH_CURVED || kind == EC_PATH_DIFFRACTION;
}

/* ---- vectors ---- */

EC_FN double ec_path_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

EC_FN void ec_path_copy(const double a[3], double b[3])
{
    b[0] = a[0];
    b[1] = a[1];
    b[2] = a[2];
}

EC_FN void ec_path_sub(const double a[3], const double b[3], double d[3])
{
    d[0] = a[0] - b[0];
    d[1] = a[1] - b[1];
    d[2] = a[2] - b[2];
}

/* a + t b; may be in place. */
EC_FN void ec_path_along(const double a[3], double t, const double b[3], double p[3])
{
    p[0] = a[0] + t * b[0];
    p[1] = a[1] + t * b[1];
    p[2] = a[2] + t * b[2];
}

EC_FN void ec_path_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

EC_FN double ec_path_norm(const double a[3])
{
    return sqrt(ec_path_dot(a, a));
}

EC_FN double ec_path_distance(const double a[3], const double b[3])
{
    double d[3];
    ec_path_sub(a, b, d);
    return ec_path_norm(d);
}

/* The unit vector from a to b and their distance; 0 and a zero vector where they coincide. */
EC_FN double ec_path_unit(const double a[3], const double b[3], double u[3])
{
    ec_path_sub(b, a, u);
    double length = ec_path_norm(u);
    double scale = length > 0 ? 1 / length : 0;
    for (int i = 0; i < 3; i++)
        u[i] *= scale;
    return length;
}

#endif
