/* path_occlusion.c: what segments and rays meet, through the hierarchy or by testing every triangle in
 * double precision (Moller and Trumbore, J. Graphics Tools 2, 1997). */
#include "path_internal.h"

/* Where a + t d meets a triangle (edges included), or NAN. */
static double meet(const ec_scene *s, const int32_t triangle[3], const double a[3],
                   const double d[3])
{
    const double slack = 1e-12;
    double x, y, t = ec_path_meet(s, triangle, a, d, &x, &y);

    return x >= -slack && y >= -slack && x + y <= 1 + slack ? t : NAN;
}

int32_t ec_path_closest(const ec_path_plan *plan, const double from[3], const double direction[3],
                        const int32_t *skip, int32_t n_skip, double *t)
{
    const ec_scene *s = plan->scene;
    int32_t found = -1;

    *t = INFINITY;
    if (plan->layout) {
        const ec_bvh_view *bvh = ec_bvh_layout_view(plan->layout);
        ec_bvh_ray ray;
        ec_bvh_hit hit;
        double x, y;
        if (!ec_bvh_ray_set(bvh, from, direction, 0, INFINITY,
                            n_skip > 0 ? skip[0] : EC_BVH_NO_PART,
                            n_skip > 1 ? skip[1] : EC_BVH_NO_PART, &ray) ||
            !ec_bvh_closest(bvh, &ray, &hit))
            return -1;
        *t = ec_path_meet(s, s->triangle[hit.triangle], from, direction, &x, &y);
        return hit.triangle;
    }
    for (int32_t i = 0; i < s->n_triangles; i++) {
        double at = meet(s, s->triangle[i], from, direction);
        if (at > 0 && at < *t && !ec_path_skips(s->part[i], skip, n_skip)) {
            found = i;
            *t = at;
        }
    }
    return found;
}

bool ec_path_clear(const ec_path_plan *plan, const double from[3], const double to[3],
                   const int32_t *skip, int32_t n_skip, ec_path_slabs *slabs)
{
    const ec_scene *s = plan->scene;
    double d[3], near = 10 * plan->tolerance;

    slabs->n = 0;
    if (plan->layout)
        return ec_path_segment_clear(s, ec_bvh_layout_view(plan->layout), from, to, skip, n_skip,
                                     near, slabs);
    double length = ec_path_unit(from, to, d);
    for (int32_t i = 0; i < s->n_triangles; i++) {
        double t = meet(s, s->triangle[i], from, d);
        if (ec_path_hit_counts(s, i, from, to, t, length, near, skip, n_skip) &&
            !ec_path_pass(s, s->part[i], t, near, slabs))
            return false;
    }
    return true;
}

bool ec_path_surface_holds(const ec_path_plan *plan, int32_t surface, const double p[3])
{
    const ec_scene *s = plan->scene;
    const ec_surface *c = &s->surface[surface];
    double n[3], from[3], depth = plan->surface_depth[surface];

    if (!(depth > 0))
        return true;
    ec_path_shape_normal(c, p, n);
    ec_path_along(p, depth, n, from);
    for (int i = 0; i < 3; i++)
        n[i] = -n[i];
    for (int32_t i = 0; i < c->count; i++) {
        double t = meet(s, s->triangle[s->surface_triangle[c->first + i]], from, n);
        if (t >= 0 && t <= 2 * depth)
            return true;
    }
    return false;
}
