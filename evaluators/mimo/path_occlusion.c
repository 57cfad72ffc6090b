/* path_occlusion.c: what a segment meets, by testing every triangle in double precision (Moller and
 * Trumbore, J. Graphics Tools 2, 1997). */
#include "path_internal.h"

/* Where a + t d meets a triangle (edges included), or NAN. */
static double meet(const ec_scene *s, const int32_t triangle[3], const double a[3],
                   const double d[3])
{
    const double *v = s->vertex[triangle[0]];
    const double slack = 1e-12;
    double e1[3], e2[3], p[3], q[3], o[3];

    ec_path_sub(s->vertex[triangle[1]], v, e1);
    ec_path_sub(s->vertex[triangle[2]], v, e2);
    ec_path_cross(d, e2, p);
    double det = ec_path_dot(e1, p);
    if (!(fabs(det) > 1e-14 * ec_path_norm(e1) * ec_path_norm(e2)))
        return NAN; /* along its plane */
    ec_path_sub(a, v, o);
    double x = ec_path_dot(o, p) / det;
    if (!(x >= -slack && x <= 1 + slack))
        return NAN;
    ec_path_cross(o, e1, q);
    double y = ec_path_dot(d, q) / det;
    if (!(y >= -slack && x + y <= 1 + slack))
        return NAN;
    return ec_path_dot(e2, q) / det;
}

static bool skipped(int32_t part, const int32_t *skip, int32_t n_skip)
{
    for (int32_t i = 0; i < n_skip; i++)
        if (skip[i] == part)
            return true;
    return false;
}

int32_t ec_path_closest(const ec_path_plan *plan, const double from[3], const double direction[3],
                        double t_min, double t_max, const int32_t *skip, int32_t n_skip, double *t)
{
    const ec_scene *s = plan->scene;
    int32_t found = -1;

    for (int32_t i = 0; i < s->n_triangles; i++) {
        double at = meet(s, s->triangle[i], from, direction);
        if (at > t_min && at < t_max && !skipped(s->part[i], skip, n_skip)) {
            found = i;
            t_max = at;
        }
    }
    *t = t_max;
    return found;
}

int ec_path_segment(const ec_path_plan *plan, const double from[3], const double to[3],
                    const int32_t *skip, int32_t n_skip, int32_t limit, int32_t *slab, double *at)
{
    const ec_scene *s = plan->scene;
    double d[3], length = ec_path_unit(from, to, d), near = 10 * plan->tolerance;
    int32_t n = 0;

    for (int32_t i = 0; i < s->n_triangles; i++) {
        double t = meet(s, s->triangle[i], from, d);
        int32_t part = s->part[i];
        if (!(t > near && t < length - near) || skipped(part, skip, n_skip))
            continue;
        if (part < 0 || !ec_path_is_slab(plan, part))
            return -1;
        int32_t k = n;
        /* two triangles of a facet, or two facets of a plane, at their common edge: the lower one */
        bool same = false;
        for (int32_t j = 0; j < n && !same; j++)
            if (fabs(at[j] - t) <= near &&
                fabs(ec_path_dot(s->facet[slab[j]].normal, s->facet[part].normal)) > 1 - 1e-12) {
                slab[j] = part < slab[j] ? part : slab[j];
                same = true;
            }
        if (same)
            continue;
        if (n == limit)
            return -1;
        for (; k > 0 && (at[k - 1] > t || (at[k - 1] == t && slab[k - 1] > part)); k--) {
            at[k] = at[k - 1];
            slab[k] = slab[k - 1];
        }
        at[k] = t;
        slab[k] = part;
        n++;
    }
    return n;
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
