/* path_sight.h: which sequences of interactions an antenna can have at all, told from where it
 * stands, whatever the other end's place.
 *
 * Waves seem to come from the antenna's image in the mirrors before. A sequence cannot be where that
 * image is behind the next mirror, or where no corner of the next part is in the cone of rays from it
 * through the last mirror (Borish, J. Acoust. Soc. Am. 75, 1984), or on the side that these go to. The
 * test ends at the first wedge or curved surface, which sends waves on from anywhere. Only sequences
 * that have no path are left out: slacks are far above what rounding does to exact points.
 *
 * The corners of an element (a part or wedge) span a convex body that holds it: the hull of a
 * facet's outline, the ends of a wedge, a box around a surface.
 *
 * Shared by C17 and CUDA. */
#ifndef EC_PATH_SIGHT_H
#define EC_PATH_SIGHT_H

#include "path_points.h"

enum { EC_PATH_CORNERS_MAX = 8 };

typedef struct ec_path_element {
    uint32_t step;
    int32_t n; /* corners; a facet's are counter-clockwise about its normal */
    double corner[EC_PATH_CORNERS_MAX][3];
    bool opaque; /* a convex facet that fills its corners' hull and lets nothing through */
} ec_path_element;

/* Pointers are into the backend's memory. */
typedef struct ec_path_sight {
    const ec_facet *facet;
    const ec_wedge *wedge;
    const ec_path_element *element; /* facets, then surfaces, then wedges that diffract */
    const int32_t *wedge_element;   /* of each wedge */
    int32_t n_facets;
    double size, tolerance; /* m, of the plan */
    double slack;           /* m */
} ec_path_sight;

EC_FN const ec_path_element *ec_path_element_of(const ec_path_sight *s, uint32_t step)
{
    int32_t index = ec_path_index(step);

    switch (ec_path_kind(step)) {
    case EC_PATH_DIFFRACTION:
        return &s->element[s->wedge_element[index]];
    case EC_PATH_CURVED:
        return &s->element[s->n_facets + index];
    default:
        return &s->element[index];
    }
}

/* Whether waves from p can meet a step's part from outside. */
EC_FN bool ec_path_lights(const ec_path_sight *s, const double p[3], uint32_t step)
{
    int32_t index = ec_path_index(step);
    double d[3];

    if (ec_path_kind(step) == EC_PATH_REFLECTION) {
        const ec_facet *f = &s->facet[index];
        return f->thin || ec_path_dot(f->normal, p) - f->offset > -s->slack;
    }
    if (ec_path_kind(step) != EC_PATH_DIFFRACTION)
        return true;
    const ec_wedge *w = &s->wedge[index];
    ec_path_sub(p, w->from, d);
    double far = 1e-8 * ec_path_norm(d), slack = far > s->slack ? far : s->slack;
    bool front0 = ec_path_dot(d, w->face_normal[0]) > -slack;
    bool front1 = ec_path_dot(d, w->face_normal[1]) > -slack;
    return w->n > 2 - 1e-9 || (w->n < 1 ? front0 && front1 : front0 || front1);
}

/* Whether some corner of an element is in the half space m . x >= c. */
EC_FN bool ec_path_reaches(const ec_path_element *e, const double m[3], double c)
{
    for (int32_t i = 0; i < e->n; i++)
        if (ec_path_dot(m, e->corner[i]) >= c)
            return true;
    return false;
}

/* Whether rays through a mirror, whose image of their source is p, can get to another element. */
EC_FN bool ec_path_through(const ec_path_sight *s, const double p[3], uint32_t mirror,
                           const ec_path_element *to)
{
    const ec_facet *f = &s->facet[ec_path_index(mirror)];
    const ec_path_element *e = ec_path_element_of(s, mirror);
    double travel[3], height = ec_path_dot(f->normal, p) - f->offset;
    double side = height > 0 ? -1.0 : 1.0;
    /* a point of the mirror may be off its outline by the tolerance, which grows along the ray */
    double slack = s->slack + 4 * s->tolerance * s->size / fabs(height);

    if (!(fabs(height) > s->slack))
        return true; /* a source on the mirror sends waves everywhere */
    for (int k = 0; k < 3; k++)
        travel[k] = side * f->normal[k];
    if (!ec_path_reaches(to, travel, side * f->offset - s->slack))
        return false;
    for (int32_t i = 0; i < e->n; i++) {
        const double *a = e->corner[i], *b = e->corner[(i + 1) % e->n];
        double ab[3], in[3], d[3], m[3];
        if (!(ec_path_unit(a, b, ab) > 0))
            continue;
        ec_path_cross(f->normal, ab, in);
        ec_path_sub(p, a, d);
        double back = -ec_path_dot(d, travel), inward = ec_path_dot(d, in);
        double norm = 1 / sqrt(back * back + inward * inward);
        for (int k = 0; k < 3; k++)
            m[k] = norm * (back * in[k] + inward * travel[k]);
        if (!ec_path_reaches(to, m, ec_path_dot(m, a) - slack))
            return false;
    }
    return true;
}

/* Whether there can be a path along step[0 .. depth) that begins at p; back: that ends there. */
EC_FN bool ec_path_in_sight(const ec_path_sight *s, int32_t depth, const uint32_t *step, bool back,
                            const double p[3])
{
    double image[3];
    uint32_t last = 0;

    ec_path_copy(p, image);
    for (int32_t i = 0; i < depth; i++) {
        uint32_t next = step[back ? depth - 1 - i : i];
        if (!ec_path_lights(s, image, next) ||
            (i > 0 && !ec_path_through(s, image, last, ec_path_element_of(s, next))))
            return false;
        if (ec_path_kind(next) != EC_PATH_REFLECTION)
            return true;
        ec_path_mirror(&s->facet[ec_path_index(next)], image);
        last = next;
    }
    return true;
}

#endif
