/* path_occlusion.h: whether a segment of a path is clear, and through which slabs it goes.
 *
 * A segment meets every triangle between its ends except those of the parts that it begins and ends
 * at, and except what touches it within `near` of an end (a neighbour of such a part, at their
 * common edge). Between the ends it is clear or not as a ray of the hierarchy says (float32,
 * watertight); where a hit is, as against the ends, is decided in double precision.
 *
 * Shared by C17 and CUDA. */
#ifndef EC_PATH_OCCLUSION_H
#define EC_PATH_OCCLUSION_H

#include "bvh_trace.h"
#include "path_check.h"

/* What tracing reads, plain data for kernels: pointers are into the backend's memory. */
typedef struct ec_path_view {
    ec_scene scene;
    ec_bvh_view bvh;             /* node NULL: every triangle is tested, in double precision */
    const double *surface_depth; /* [n_surfaces] m, of an exact shape's triangles below it; 0: it is
                                    whole */
    double tolerance;            /* m, below which two points are one */
    int32_t transmissions;       /* slabs that a path may pass */
} ec_path_view;

/* Where a + t d meets the plane of a triangle; NAN along it. (x, y): its weights of the second and
 * third corner there. */
EC_FN double ec_path_meet(const ec_scene *s, const int32_t triangle[3], const double a[3],
                          const double d[3], double *x, double *y)
{
    const double *v = s->vertex[triangle[0]];
    double e1[3], e2[3], p[3], q[3], o[3];

    *x = *y = (double)NAN;
    ec_path_sub(s->vertex[triangle[1]], v, e1);
    ec_path_sub(s->vertex[triangle[2]], v, e2);
    ec_path_cross(d, e2, p);
    double det = ec_path_dot(e1, p);
    if (!(fabs(det) > 1e-14 * ec_path_norm(e1) * ec_path_norm(e2)))
        return (double)NAN;
    ec_path_sub(a, v, o);
    ec_path_cross(o, e1, q);
    *x = ec_path_dot(o, p) / det;
    *y = ec_path_dot(d, q) / det;
    return ec_path_dot(e2, q) / det;
}

/* The same, NAN also beyond its edges. */
EC_FN double ec_path_meet_inside(const ec_scene *s, const int32_t triangle[3], const double a[3],
                                 const double d[3])
{
    const double slack = 1e-12;
    double x, y, t = ec_path_meet(s, triangle, a, d, &x, &y);

    return x >= -slack && y >= -slack && x + y <= 1 + slack ? t : (double)NAN;
}

EC_FN bool ec_path_skips(int32_t part, const int32_t *skip, int32_t n_skip)
{
    for (int32_t i = 0; i < n_skip; i++)
        if (skip[i] == part)
            return true;
    return false;
}

/* Parts that a segment which begins or ends at a step does not meet there; how many. */
EC_FN int32_t ec_path_parts_of(const ec_scene *s, uint32_t step, int32_t part[2])
{
    int32_t index = ec_path_index(step);

    if (ec_path_kind(step) != EC_PATH_DIFFRACTION) {
        part[0] = ec_path_kind(step) == EC_PATH_CURVED ? ~index : index;
        return 1;
    }
    const ec_wedge *w = &s->wedge[index];
    part[0] = w->facet[0];
    part[1] = w->facet[1];
    return w->facet[1] < 0 ? 1 : 2;
}

/* Whether an end of a segment is so near to the plane of a triangle of an interpolated surface
 * that a hit there only says that triangles are not quite the surface that the end lies on. */
EC_FN bool ec_path_is_near_patch(const ec_scene *s, int32_t triangle, const double from[3],
                                 const double to[3])
{
    ec_path_patch f;
    double n[3], a[3], b[3], depth = 0;

    ec_path_patch_make(s, triangle, &f);
    for (int k = 0; k < 3; k++) {
        double bend = 0.25 * ec_path_norm(f.bend[k]);
        depth = bend > depth ? bend : depth;
    }
    ec_path_cross(f.edge[0], f.edge[1], n);
    ec_path_sub(from, f.corner[0], a);
    ec_path_sub(to, f.corner[0], b);
    double limit = 6 * depth * ec_path_norm(n);
    return fabs(ec_path_dot(n, a)) < limit || fabs(ec_path_dot(n, b)) < limit;
}

/* Whether a hit at t of a segment counts, as against what lies at its ends. An interpolated surface
 * can be in the way of its own reflections. */
EC_FN bool ec_path_hit_counts(const ec_scene *s, int32_t triangle, const double from[3],
                              const double to[3], double t, double length, double near,
                              const int32_t *skip, int32_t n_skip)
{
    int32_t part = s->part[triangle];

    if (!(t > near && t < length - near))
        return false;
    if (!ec_path_skips(part, skip, n_skip))
        return true;
    return part < 0 && s->surface[~part].kind == EC_SURFACE_MESH &&
           !ec_path_is_near_patch(s, triangle, from, to);
}

/* The first two parts of a segment's ends that rays need not look at. */
EC_FN void ec_path_ray_skips(const ec_scene *s, const int32_t *skip, int32_t n_skip, int32_t two[2])
{
    int32_t n = 0;

    two[0] = two[1] = EC_BVH_NO_PART;
    for (int32_t i = 0; i < n_skip && n < 2; i++)
        if (skip[i] >= 0 || s->surface[~skip[i]].kind != EC_SURFACE_MESH)
            two[n++] = skip[i];
}

EC_FN bool ec_path_facet_is_slab(const ec_scene *s, const ec_facet *f)
{
    const ec_material *m = &s->material[f->material];
    return f->thin && m->thickness > 0 && m->kind != EC_MATERIAL_PEC;
}

/* The slabs of a segment, in order. */
typedef struct ec_path_slabs {
    int32_t n, limit; /* limit: at most so many may be passed */
    int32_t facet[EC_PATH_DEPTH_MAX];
    double at[EC_PATH_DEPTH_MAX]; /* m from the segment's begin */
} ec_path_slabs;

/* A hit at t. Two triangles of a slab, or two slabs of a plane, that the segment meets in one point
 * of their common edge are one, of the lower index. False: the segment is blocked. */
EC_FN bool ec_path_pass(const ec_scene *s, int32_t part, double t, double near,
                        ec_path_slabs *slabs)
{
    int32_t k = slabs->n;

    if (part < 0 || slabs->limit == 0 || !ec_path_facet_is_slab(s, &s->facet[part]))
        return false;
    for (int32_t j = 0; j < slabs->n; j++)
        if (fabs(slabs->at[j] - t) <= near &&
            fabs(ec_path_dot(s->facet[slabs->facet[j]].normal, s->facet[part].normal)) >
                1 - 1e-12) {
            slabs->facet[j] = part < slabs->facet[j] ? part : slabs->facet[j];
            return true;
        }
    if (slabs->n == slabs->limit)
        return false;
    for (; k > 0 && slabs->at[k - 1] > t; k--) {
        slabs->at[k] = slabs->at[k - 1];
        slabs->facet[k] = slabs->facet[k - 1];
    }
    slabs->at[k] = t;
    slabs->facet[k] = part;
    slabs->n++;
    return true;
}

enum { EC_PATH_HITS_MAX = 256 };

/* Whether a segment runs against its largest component: it is then traced from its other end, so
 * that what merely touches an edge blocks both ways or neither. */
EC_FN bool ec_path_runs_back(const double from[3], const double to[3])
{
    double d[3];
    ec_path_sub(to, from, d);
    double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
    return (x >= y && x >= z ? d[0] : y >= z ? d[1] : d[2]) < 0;
}

EC_FN void ec_path_slabs_reverse(ec_path_slabs *slabs, double length)
{
    for (int32_t i = 0, j = slabs->n - 1; i <= j; i++, j--) {
        int32_t facet = slabs->facet[i];
        double at = slabs->at[i];
        slabs->facet[i] = slabs->facet[j];
        slabs->at[i] = length - slabs->at[j];
        slabs->facet[j] = facet;
        slabs->at[j] = length - at;
    }
}

/* ... as a ray of the hierarchy. */
EC_FN bool ec_path_clear_by_ray(const ec_path_view *w, const double from[3], const double to[3],
                                const int32_t *skip, int32_t n_skip, ec_path_slabs *slabs)
{
    const ec_scene *s = &w->scene;
    double d[3], length = ec_path_unit(from, to, d), near = 10 * w->tolerance;
    float begin = 0;
    int32_t two[2];

    ec_path_ray_skips(s, skip, n_skip, two);
    /* Hits that do not count are stepped over: at the ends there are few. */
    for (int32_t i = 0; i < EC_PATH_HITS_MAX; i++) {
        ec_bvh_ray ray;
        ec_bvh_hit hit;
        double x, y;
        if (!ec_bvh_ray_set(&w->bvh, from, d, begin, length, two[0], two[1], &ray) ||
            !ec_bvh_closest(&w->bvh, &ray, &hit))
            return true;
        int32_t part = s->part[hit.triangle];
        double t = ec_path_meet(s, s->triangle[hit.triangle], from, d, &x, &y);
        if (ec_path_hit_counts(s, hit.triangle, from, to, t, length, near, skip, n_skip) &&
            !ec_path_pass(s, part, t, near, slabs))
            return false;
        begin = ec_bvh_float(ec_bvh_bits(hit.t > 0 ? hit.t : 0.0f) + 1);
    }
    return false;
}

/* ... by testing every triangle, edges included (Moller and Trumbore, J. Graphics Tools 2, 1997).
 */
EC_FN bool ec_path_clear_by_all(const ec_path_view *w, const double from[3], const double to[3],
                                const int32_t *skip, int32_t n_skip, ec_path_slabs *slabs)
{
    const ec_scene *s = &w->scene;
    double d[3], length = ec_path_unit(from, to, d), near = 10 * w->tolerance;

    for (int32_t i = 0; i < s->n_triangles; i++) {
        double t = ec_path_meet_inside(s, s->triangle[i], from, d);
        if (ec_path_hit_counts(s, i, from, to, t, length, near, skip, n_skip) &&
            !ec_path_pass(s, s->part[i], t, near, slabs))
            return false;
    }
    return true;
}

/* Whether a segment of a path is clear but for at most slabs->limit slabs, which are put there.
 * skip: parts at its ends, at most 4. */
EC_FN bool ec_path_clear(const ec_path_view *w, const double a[3], const double b[3],
                         const int32_t *skip, int32_t n_skip, ec_path_slabs *slabs)
{
    bool back = ec_path_runs_back(a, b);
    const double *from = back ? b : a, *to = back ? a : b;

    slabs->n = 0;
    bool clear = w->bvh.node ? ec_path_clear_by_ray(w, from, to, skip, n_skip, slabs)
                             : ec_path_clear_by_all(w, from, to, skip, n_skip, slabs);
    if (back)
        ec_path_slabs_reverse(slabs, ec_path_distance(a, b));
    return clear;
}

/* Whether an exact shape has a piece at p: a triangle right above or below. */
EC_FN bool ec_path_surface_holds(const ec_path_view *w, int32_t surface, const double p[3])
{
    const ec_scene *s = &w->scene;
    const ec_surface *c = &s->surface[surface];
    double n[3], from[3], depth = w->surface_depth[surface];

    if (!(depth > 0))
        return true;
    ec_path_shape_normal(c, p, n);
    ec_path_along(p, depth, n, from);
    for (int i = 0; i < 3; i++)
        n[i] = -n[i];
    for (int32_t i = 0; i < c->count; i++) {
        double t = ec_path_meet_inside(s, s->triangle[s->surface_triangle[c->first + i]], from, n);
        if (t >= 0 && t <= 2 * depth)
            return true;
    }
    return false;
}

#endif
