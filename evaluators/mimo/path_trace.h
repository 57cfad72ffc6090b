/* path_trace.h: one sequence of interactions, two antennas: is there a path, and which. Exact
 * points, checks, occlusion, and the slabs on the way put in.
 *
 * Shared by C17 and CUDA. */
#ifndef EC_PATH_TRACE_H
#define EC_PATH_TRACE_H

#include "path_occlusion.h"

/* A whole path, transmissions included. */
typedef struct ec_path_course {
    int32_t depth;
    uint32_t step[EC_PATH_DEPTH_MAX];
    double point[EC_PATH_DEPTH_MAX][3];
    double direction[EC_PATH_DEPTH_MAX + 1][3]; /* unit, of the segment that ends at the point; the
                                                   last ends at the receiver */
    double length;                              /* m */
    double smooth;                              /* see ec_path_trace */
    ec_path_place place;
} ec_path_course;

/* Which sides of the curved surfaces of a sequence are to be tried: bit 0 the outside of shapes
 * (branch -1), bit 1 their inside, or the several points of an interpolated surface (branches
 * from 0). 0: both are asked for, which is no convex problem and not resolved. */
EC_FN int ec_path_sides(const ec_scene *s, int32_t depth, const uint32_t *step)
{
    int sides = 3;
    bool curved = false;

    for (int32_t i = 0; i < depth; i++) {
        if (ec_path_kind(step[i]) != EC_PATH_CURVED)
            continue;
        const ec_surface *c = &s->surface[ec_path_index(step[i])];
        sides &= c->kind == EC_SURFACE_MESH ? 2 : c->thin ? 3 : c->inward ? 2 : 1;
        curved = true;
    }
    return curved ? sides : 1;
}

EC_FN void ec_path_course_add(ec_path_course *c, uint32_t step, const double point[3],
                              const double direction[3])
{
    int32_t i = c->depth++;
    c->step[i] = step;
    ec_path_copy(point, c->point[i]);
    ec_path_copy(direction, c->direction[i]);
}

/* Whether nothing blocks a path, whose points are in t; its course with the slabs it passes. */
EC_FN bool ec_path_unblocked(const ec_path_view *w, int32_t depth, const uint32_t *step,
                             const double tx[3], const double rx[3], const ec_path_trace *t,
                             ec_path_course *c)
{
    ec_path_slabs slabs;

    slabs.limit = w->transmissions;
    c->depth = 0;
    for (int32_t i = 0; i < depth; i++)
        if (ec_path_kind(step[i]) == EC_PATH_CURVED &&
            !ec_path_surface_holds(w, ec_path_index(step[i]), t->point[i]))
            return false;
    for (int32_t i = 0; i <= depth; i++) {
        const double *from = i ? t->point[i - 1] : tx, *to = i < depth ? t->point[i] : rx;
        ec_path_ends ends;
        ends.n = 0;
        ends.wedge = NULL;
        if (i > 0) {
            ec_path_ends_add(&w->scene, step[i - 1], &ends);
            if (ec_path_kind(step[i - 1]) == EC_PATH_DIFFRACTION &&
                (i == 1 || ec_path_kind(step[i - 2]) != EC_PATH_DIFFRACTION))
                ends.wedge = &w->scene.wedge[ec_path_index(step[i - 1])];
            ends.before = i > 1 ? t->point[i - 2] : tx;
            ends.after = to;
        }
        if (i < depth)
            ec_path_ends_add(&w->scene, step[i], &ends);
        if (!ec_path_clear(w, from, to, &ends, &slabs))
            return false;
        slabs.limit -= slabs.n;
        for (int32_t k = 0; k < slabs.n; k++) {
            double p[3];
            ec_path_along(from, slabs.at[k], t->direction[i], p);
            ec_path_course_add(c, ec_path_step(EC_PATH_TRANSMISSION, slabs.facet[k]), p,
                               t->direction[i]);
        }
        if (i < depth)
            ec_path_course_add(c, step[i], t->point[i], t->direction[i]);
    }
    ec_path_copy(t->direction[depth], c->direction[c->depth]);
    c->length = t->length;
    c->smooth = t->smooth;
    c->place = t->place;
    return true;
}

/* The path along step[0 .. depth) if there is one (EC_PATH_FOUND). */
EC_FN int ec_path_follow(const ec_path_view *w, int32_t depth, const uint32_t *step,
                         const double tx[3], const double rx[3], int32_t branch,
                         ec_path_course *course)
{
    ec_path_trace t;
    int found = ec_path_exact(&w->scene, depth, step, tx, rx, branch, w->tolerance, &t);

    if (found == EC_PATH_FOUND && !ec_path_unblocked(w, depth, step, tx, rx, &t, course))
        found = EC_PATH_NONE;
    return found;
}

#endif
