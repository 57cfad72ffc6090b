/* path_occlusion.h: whether a segment of a path is clear, and through which slabs it goes.
 *
 * A segment meets every triangle between its ends except those of the parts that it begins and ends
 * at, and except what touches it within `near` of an end (a neighbour of such a part, at their
 * common edge). The hierarchy finds what is near the segment (float32); what it meets is decided in
 * double precision, and so that a blocked ray and the side of a shadow boundary on which diffraction
 * coefficients see it (utd.h) agree, or the sum of both has a step:
 *
 *   - a segment that passes an edge within the tolerance touches it and is blocked: the shadow's side;
 *   - but where it is reflected at a facet, that facet's edges do not block: a ray that meets a
 *     facet in its edge is reflected;
 *   - a segment in the plane of a sheet that comes from an edge of the sheet or goes to one is blocked
 *     by the next edge, where the waves along both sides end; but if what came to the first edge came
 *     in the plane too, the wave from there is what stands for the ray that the edge blocks.
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

/* What is at the ends of a segment. */
typedef struct ec_path_ends {
    int32_t n, part[4];
    bool edge[4]; /* a facet of a wedge; else a mirror */
    /* of a segment from a wedge, where the path did not come from another one: the wedge, the point
     * of the path before it and the segment's other end; else NULL */
    const ec_wedge *wedge;
    const double *before, *after;
} ec_path_ends;

EC_FN void ec_path_ends_add(const ec_scene *s, uint32_t step, ec_path_ends *ends)
{
    int32_t n = ends->n + ec_path_parts_of(s, step, ends->part + ends->n);

    for (; ends->n < n; ends->n++)
        ends->edge[ends->n] = ec_path_kind(step) == EC_PATH_DIFFRACTION;
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

/* A hit at t; hits come in any order. Two triangles of a slab, or two slabs of a plane, that the
 * segment meets in one point of their common edge are one, of the lower index. False: the segment is
 * blocked. */
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
            slabs->at[j] = t < slabs->at[j] ? t : slabs->at[j];
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

/* Whether a segment runs against its largest component: it is then traced from its other end, so
 * that rounding blocks both ways or neither. */
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

/* A segment that is looked at, d its direction (unit). */
typedef struct ec_path_segment {
    const ec_path_view *view;
    const ec_path_ends *ends;
    double from[3], to[3], d[3], length;
    ec_path_slabs *slabs;
} ec_path_segment;

/* Whether a segment passes the edge from p to q within the tolerance: a line that is not along it;
 * t: where. */
EC_FN bool ec_path_touches(const ec_path_segment *g, const double p[3], const double q[3],
                           double *t)
{
    double o[3], e[3], c[3], x[3], tolerance = g->view->tolerance;

    ec_path_sub(p, g->from, o);
    ec_path_sub(q, p, e);
    ec_path_cross(g->d, e, c);
    double apart = ec_path_dot(o, c), across = ec_path_dot(c, c), length = ec_path_dot(e, e);
    if (!(apart * apart <= tolerance * tolerance * across) || !(across > 1e-20 * length))
        return false;
    ec_path_cross(o, e, x);
    *t = ec_path_dot(x, c) / across;
    ec_path_cross(o, g->d, x);
    double at = ec_path_dot(x, c) / across, slack = tolerance / sqrt(length);
    return at >= -slack && at <= 1 + slack;
}

/* Whether t is between the ends, not at one. */
EC_FN bool ec_path_between(const ec_path_segment *g, double t)
{
    double near = 10 * g->view->tolerance;
    return t > near && t < g->length - near;
}

/* Whether a point is in the plane of a facet. */
EC_FN bool ec_path_in_plane(const ec_path_view *w, const ec_facet *f, const double p[3])
{
    return fabs(ec_path_dot(f->normal, p) - f->offset) <= w->tolerance;
}

/* Whether an edge is one of a mirror at an end of the segment. */
EC_FN bool ec_path_of_mirror(const ec_path_segment *g, const double p[3], const double q[3])
{
    for (int32_t i = 0; i < g->ends->n; i++) {
        if (g->ends->edge[i] || g->ends->part[i] < 0)
            continue;
        const ec_facet *f = &g->view->scene.facet[g->ends->part[i]];
        if (ec_path_in_plane(g->view, f, p) && ec_path_in_plane(g->view, f, q))
            return true;
    }
    return false;
}

/* Whether a segment touches an edge of a facet between its ends. */
EC_FN bool ec_path_touches_outline(const ec_path_segment *g, const ec_facet *f)
{
    const ec_scene *s = &g->view->scene;
    double t;

    for (int32_t k = 0; k < f->n_edges; k++) {
        const int32_t *edge = s->facet_edge[f->first_edge + k];
        if (ec_path_touches(g, s->vertex[edge[0]], s->vertex[edge[1]], &t) && ec_path_between(g, t))
            return true;
    }
    return false;
}

/* Whether a segment from or to an edge of a sheet runs along it to another of its edges, and not in
 * place of a ray that touches the first. */
EC_FN bool ec_path_leaves_sheet(const ec_path_segment *g)
{
    const ec_path_ends *ends = g->ends;
    double t;

    for (int32_t i = 0; i < ends->n; i++) {
        if (!ends->edge[i])
            continue;
        const ec_facet *f = &g->view->scene.facet[ends->part[i]];
        /* any steeper and it is as far from the plane within a few tolerances */
        if (!f->thin || fabs(ec_path_dot(f->normal, g->d)) > 1e-2 || !ec_path_touches_outline(g, f))
            continue;
        if (!ends->wedge)
            return true;
        ec_path_segment whole = *g;
        ec_path_copy(ends->before, whole.from);
        whole.length = ec_path_unit(ends->before, ends->after, whole.d);
        if (!ec_path_touches(&whole, ends->wedge->from, ends->wedge->to, &t))
            return true;
    }
    return false;
}

/* Where a segment meets a triangle so that it is blocked: in an edge that it passes within the
 * tolerance, or else inside. The sides of an edge are the same bits for both of its triangles. */
EC_FN bool ec_path_meets(const ec_path_segment *g, int32_t triangle, double *t)
{
    const ec_scene *s = &g->view->scene;
    const int32_t *corner = s->triangle[triangle];
    bool touches = false, left = true, right = true;
    double x, y;

    for (int k = 0; k < 3; k++) {
        int32_t first = corner[k], second = corner[(k + 1) % 3];
        bool turned = first > second;
        const double *p = s->vertex[turned ? second : first];
        const double *q = s->vertex[turned ? first : second];
        double o[3], e[3], c[3];
        if (ec_path_touches(g, p, q, t)) {
            if (ec_path_between(g, *t) && !ec_path_of_mirror(g, p, q))
                return true;
            touches = true;
        }
        ec_path_sub(p, g->from, o);
        ec_path_sub(q, p, e);
        ec_path_cross(g->d, e, c);
        double side = turned ? -ec_path_dot(o, c) : ec_path_dot(o, c);
        left = left && side > 0;
        right = right && side < 0;
    }
    if (touches || !(left || right))
        return false;
    *t = ec_path_meet(s, corner, g->from, g->d, &x, &y);
    return ec_path_between(g, *t);
}

/* Whether a triangle blocks a segment; a slab that does not is noted. An interpolated surface can be
 * in the way of its own reflections. */
EC_FN bool ec_path_blocks(void *segment, int32_t triangle)
{
    ec_path_segment *g = (ec_path_segment *)segment;
    const ec_scene *s = &g->view->scene;
    int32_t part = s->part[triangle];
    double t;

    if (ec_path_skips(part, g->ends->part, g->ends->n) &&
        (part >= 0 || s->surface[~part].kind != EC_SURFACE_MESH ||
         ec_path_is_near_patch(s, triangle, g->from, g->to)))
        return false;
    return ec_path_meets(g, triangle, &t) &&
           !ec_path_pass(s, part, t, 10 * g->view->tolerance, g->slabs);
}

/* What rays need not look at: two of the parts at the ends. */
EC_FN void ec_path_ray_skips(const ec_scene *s, const ec_path_ends *ends, int32_t two[2])
{
    int32_t n = 0;

    two[0] = two[1] = EC_BVH_NO_PART;
    for (int32_t i = 0; i < ends->n && n < 2; i++)
        if (ends->part[i] >= 0 || s->surface[~ends->part[i]].kind != EC_SURFACE_MESH)
            two[n++] = ends->part[i];
}

/* Whether a segment of a path is clear but for at most slabs->limit slabs, which are put there. */
EC_FN bool ec_path_clear(const ec_path_view *w, const double a[3], const double b[3],
                         const ec_path_ends *ends, ec_path_slabs *slabs)
{
    bool back = ec_path_runs_back(a, b), clear = true;
    ec_path_segment g;
    ec_bvh_ray ray;
    int32_t two[2];

    g.view = w;
    g.ends = ends;
    g.slabs = slabs;
    ec_path_copy(back ? b : a, g.from);
    ec_path_copy(back ? a : b, g.to);
    g.length = ec_path_unit(g.from, g.to, g.d);
    slabs->n = 0;
    ec_path_ray_skips(&w->scene, ends, two);
    if (ec_path_leaves_sheet(&g))
        return false;
    if (w->bvh.node) {
        if (ec_bvh_ray_set(&w->bvh, g.from, g.d, 0, g.length, two[0], two[1], &ray)) {
            ec_bvh_ray_widen(&ray, w->tolerance);
            clear = !ec_bvh_any_of(&w->bvh, &ray, ec_path_blocks, &g);
        }
    } else {
        for (int32_t i = 0; i < w->scene.n_triangles && clear; i++)
            clear = !ec_path_blocks(&g, i);
    }
    if (back)
        ec_path_slabs_reverse(slabs, g.length);
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
