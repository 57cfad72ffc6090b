/* bvh_oracle.h: what any hierarchy of triangles has to find. */
#ifndef BVH_ORACLE_H
#define BVH_ORACLE_H

#include "evaluators/mimo/bvh_internal.h"
#include "evaluators/mimo/bvh_trace.h"

/* Every triangle by the arithmetic of bvh_trace.h. */
static inline ec_bvh_hit every_triangle(const ec_bvh *bvh, const ec_bvh_ray *ray)
{
    ec_bvh_hit best = {INFINITY, 0, 0, -1};
    ec_bvh_found found = ec_bvh_nothing(ray);

    for (int32_t k = 0; k < bvh->n_triangles; k++) {
        float turned[3], x[3], y[3], z[3], t, u, v;
        for (int i = 0; i < 3; i++) {
            ec_bvh_turn(ray->axis, bvh->corner[k][i], turned);
            ec_bvh_shear(ray, turned, &x[i], &y[i], &z[i]);
        }
        if (!ec_bvh_meet(ray->extent, x, y, z, &t, &u, &v) ||
            !ec_bvh_better(ray, t, k, bvh->part[k], &found))
            continue;
        found.t = t;
        found.index = k;
        best = (ec_bvh_hit){t, u, v, k};
    }
    return best;
}

#endif
