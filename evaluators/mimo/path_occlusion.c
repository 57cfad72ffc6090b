/* path_occlusion.c: what rays meet that discover sequences. */
#include "path_internal.h"

int32_t ec_path_closest(const ec_path_plan *plan, const double from[3], const double direction[3],
                        const int32_t *skip, int32_t n_skip, double *t)
{
    const ec_scene *s = plan->scene;
    int32_t found = -1;

    *t = INFINITY;
    if (plan->view.bvh.node) {
        ec_bvh_ray ray;
        ec_bvh_hit hit;
        double x, y;
        if (!ec_bvh_ray_set(&plan->view.bvh, from, direction, 0, INFINITY,
                            n_skip > 0 ? skip[0] : EC_BVH_NO_PART,
                            n_skip > 1 ? skip[1] : EC_BVH_NO_PART, &ray) ||
            !ec_bvh_closest(&plan->view.bvh, &ray, &hit))
            return -1;
        *t = ec_path_meet(s, s->triangle[hit.triangle], from, direction, &x, &y);
        return hit.triangle;
    }
    for (int32_t i = 0; i < s->n_triangles; i++) {
        double at = ec_path_meet_inside(s, s->triangle[i], from, direction);
        if (at > 0 && at < *t && !ec_path_skips(s->part[i], skip, n_skip)) {
            found = i;
            *t = at;
        }
    }
    return found;
}
