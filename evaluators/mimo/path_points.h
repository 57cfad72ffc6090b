/* path_points.h: the exact points of a path from a to b along a sequence of interactions.
 *
 * Between two nodes (wedges, curved surfaces) there are only flat mirrors: one end's image in them
 * makes that leg a straight line, and the points on the mirrors follow from the other end back to
 * the first (image method). One node between images has a closed form (path_node.h). Several are
 * found by turns, each with its neighbours held, and then together by Newton's method on the path
 * length (Fermat), with steps that must not lengthen the path: over straight edges and convex
 * bodies the length is a convex function, so the answer is the only one and no start matters.
 *
 * Nothing is checked here but that the points exist; path_check.h decides whether they are where
 * the parts are. Shared by C17 and CUDA: no allocation, square roots only. */
#ifndef EC_PATH_POINTS_H
#define EC_PATH_POINTS_H

#include "path_node.h"

EC_FN void ec_path_mirror(const ec_facet *f, double p[3])
{
    ec_path_along(p, 2 * (f->offset - ec_path_dot(f->normal, p)), f->normal, p);
}

EC_FN void ec_path_mirror_direction(const ec_facet *f, double d[3])
{
    ec_path_along(d, -2 * ec_path_dot(f->normal, d), f->normal, d);
}

/* Image of p in the mirrors of steps [from, to), in that order; what lets it through is none. */
EC_FN void ec_path_image(const ec_scene *scene, const uint32_t *step, int32_t from, int32_t to,
                         double p[3])
{
    for (int32_t i = from; i < to; i++)
        if (ec_path_kind(step[i]) == EC_PATH_REFLECTION)
            ec_path_mirror(&scene->facet[ec_path_index(step[i])], p);
}

/* The same in the opposite order: p, behind the mirrors, as seen from before them. */
EC_FN void ec_path_image_back(const ec_scene *scene, const uint32_t *step, int32_t from, int32_t to,
                              double p[3])
{
    for (int32_t i = to - 1; i >= from; i--)
        if (ec_path_kind(step[i]) == EC_PATH_REFLECTION)
            ec_path_mirror(&scene->facet[ec_path_index(step[i])], p);
}

EC_FN void ec_path_direction_back(const ec_scene *scene, const uint32_t *step, int32_t from,
                                  int32_t to, double d[3])
{
    for (int32_t i = to - 1; i >= from; i--)
        if (ec_path_kind(step[i]) == EC_PATH_REFLECTION)
            ec_path_mirror_direction(&scene->facet[ec_path_index(step[i])], d);
}

/* The flat points of a leg from a (before step `from`) to b (step `to`, or the end), its directions
 * and length. Points may lie on the next mirror (a path through the edge of two) but not on the
 * ends. */
EC_FN int ec_path_leg(const ec_scene *scene, const uint32_t *step, int32_t from, int32_t to,
                      const double a[3], const double b[3], double tolerance, ec_path_trace *t)
{
    double image[3], end[3], along[3];

    ec_path_copy(a, image);
    ec_path_copy(b, end);

    for (int32_t i = from; i < to; i++) {
        if (ec_path_kind(step[i]) == EC_PATH_REFLECTION)
            ec_path_mirror(&scene->facet[ec_path_index(step[i])], image);
        ec_path_copy(image, t->point[i]);
    }
    double length = ec_path_unit(image, b, along);
    if (!(length > tolerance))
        return EC_PATH_NONE;
    t->length += length;
    ec_path_copy(along, t->direction[to]);
    for (int32_t i = to - 1; i >= from; i--) {
        const ec_facet *f = &scene->facet[ec_path_index(step[i])];
        double *p = t->point[i];
        double da = f->offset - ec_path_dot(f->normal, p);
        double db = ec_path_dot(f->normal, end) - f->offset;
        double sign = da + db < 0 ? -1.0 : 1.0;
        double least_a = i == from ? tolerance : -tolerance;
        double least_b = i == to - 1 ? tolerance : -tolerance;
        if (!(sign * da > least_a) || !(sign * db > least_b) ||
            !(fabs(da + db) > 1e-12 * (fabs(da) + fabs(db))))
            return EC_PATH_NONE;
        double share = da / (da + db);
        for (int k = 0; k < 3; k++)
            end[k] = p[k] = p[k] + share * (end[k] - p[k]);
        if (ec_path_kind(step[i]) == EC_PATH_REFLECTION)
            ec_path_mirror_direction(f, along);
        ec_path_copy(along, t->direction[i]);
    }
    return EC_PATH_FOUND;
}

/* ---- several nodes ---- */

typedef struct ec_path_chain {
    const ec_scene *scene;
    const uint32_t *step;
    int32_t depth, n;
    int32_t branch;                /* see ec_path_points */
    int32_t at[EC_PATH_NODES_MAX]; /* steps that are nodes */
    double a[3], b[3];             /* the path's ends */
} ec_path_chain;

EC_FN double ec_path_chain_length(const ec_path_chain *c, double (*node)[3])
{
    double length = 0;

    for (int32_t k = 0; k <= c->n; k++) {
        const double *to = k < c->n ? node[k] : c->b;
        double p[3];
        ec_path_copy(k ? node[k - 1] : c->a, p);
        ec_path_image(c->scene, c->step, k ? c->at[k - 1] + 1 : 0, k < c->n ? c->at[k] : c->depth,
                      p);
        length += ec_path_distance(p, to);
    }
    return length;
}

/* Each node moves to its best place between its neighbours. Whether all are lit there. */
EC_FN bool ec_path_chain_turn(const ec_path_chain *c, double (*node)[3], ec_path_place *place)
{
    bool lit = true;

    for (int32_t k = 0; k < c->n; k++) {
        const double *from = k ? node[k - 1] : c->a;
        const double *to = k + 1 < c->n ? node[k + 1] : c->b;
        double a[3] = {from[0], from[1], from[2]}, b[3] = {to[0], to[1], to[2]};
        ec_path_image(c->scene, c->step, k ? c->at[k - 1] + 1 : 0, c->at[k], a);
        ec_path_image_back(c->scene, c->step, c->at[k] + 1, k + 1 < c->n ? c->at[k + 1] : c->depth,
                           b);
        lit =
            ec_path_node_point(c->scene, c->step[c->at[k]], a, b, c->branch, place, node[k]) && lit;
    }
    return lit;
}

/* Gradient and Hessian of the length over the nodes' tangents (two each; an edge's second is
 * held). The largest entry of the gradient. */
EC_FN double ec_path_chain_derivatives(const ec_path_chain *c, double (*node)[3],
                                       ec_path_frame *frame, double *g,
                                       double (*h)[2 * EC_PATH_NODES_MAX])
{
    int32_t size = 2 * c->n;
    double largest = 0;

    for (int32_t i = 0; i < size; i++) {
        g[i] = 0;
        for (int32_t j = 0; j < size; j++)
            h[i][j] = 0;
    }
    for (int32_t k = 0; k < c->n; k++)
        ec_path_node_frame(c->scene, c->step[c->at[k]], node[k], &frame[k]);
    for (int32_t k = 0; k <= c->n; k++) {
        int32_t from = k ? c->at[k - 1] + 1 : 0, to = k < c->n ? c->at[k] : c->depth;
        const double *p = k ? node[k - 1] : c->a, *end = k < c->n ? node[k] : c->b;
        double q[3] = {end[0], end[1], end[2]}, u[3], tangent[2][3];
        ec_path_image_back(c->scene, c->step, from, to, q);
        double length = ec_path_unit(p, q, u);
        double inverse = length > 0 ? 1 / length : 0;
        const ec_path_frame *f = k ? &frame[k - 1] : NULL, *e = k < c->n ? &frame[k] : NULL;
        if (f) {
            int32_t row = 2 * (k - 1);
            for (int32_t i = 0; i < f->n; i++) {
                double ui = ec_path_dot(u, f->tangent[i]);
                g[row + i] -= ui;
                for (int32_t j = 0; j < f->n; j++)
                    h[row + i][row + j] += inverse * (ec_path_dot(f->tangent[i], f->tangent[j]) -
                                                      ui * ec_path_dot(u, f->tangent[j])) -
                                           ec_path_dot(u, f->second[i + j]);
            }
        }
        if (e) {
            int32_t row = 2 * k;
            for (int32_t i = 0; i < e->n; i++) {
                ec_path_copy(e->tangent[i], tangent[i]);
                ec_path_direction_back(c->scene, c->step, from, to, tangent[i]);
            }
            for (int32_t i = 0; i < e->n; i++) {
                double ui = ec_path_dot(u, tangent[i]);
                g[row + i] += ui;
                for (int32_t j = 0; j < e->n; j++) {
                    double second[3];
                    ec_path_copy(e->second[i + j], second);
                    ec_path_direction_back(c->scene, c->step, from, to, second);
                    h[row + i][row + j] += inverse * (ec_path_dot(tangent[i], tangent[j]) -
                                                      ui * ec_path_dot(u, tangent[j])) +
                                           ec_path_dot(u, second);
                }
                for (int32_t j = 0; f && j < f->n; j++) {
                    double cross = -inverse * (ec_path_dot(tangent[i], f->tangent[j]) -
                                               ui * ec_path_dot(u, f->tangent[j]));
                    h[row + i][2 * (k - 1) + j] += cross;
                    h[2 * (k - 1) + j][row + i] += cross;
                }
            }
        }
    }
    for (int32_t k = 0; k < c->n; k++)
        if (frame[k].n == 1)
            h[2 * k + 1][2 * k + 1] = 1;
    for (int32_t i = 0; i < size; i++)
        largest = fabs(g[i]) > largest ? fabs(g[i]) : largest;
    return largest;
}

/* g becomes h^-1 g by Cholesky; false unless h is positive definite. */
EC_FN bool ec_path_solve_small(int32_t n, double (*h)[2 * EC_PATH_NODES_MAX], double *g)
{
    for (int32_t j = 0; j < n; j++) {
        double d = h[j][j];
        for (int32_t k = 0; k < j; k++)
            d -= h[j][k] * h[j][k];
        if (!(d > 1e-14 * h[j][j]) || !(d > 0))
            return false;
        h[j][j] = sqrt(d);
        for (int32_t i = j + 1; i < n; i++) {
            double s = h[i][j];
            for (int32_t k = 0; k < j; k++)
                s -= h[i][k] * h[j][k];
            h[i][j] = s / h[j][j];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++)
            g[i] -= h[i][k] * g[k];
        g[i] /= h[i][i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++)
            g[i] -= h[k][i] * g[k];
        g[i] /= h[i][i];
    }
    return true;
}

/* One Newton step, halved until the path is no longer than before; false if it fails. */
EC_FN bool ec_path_chain_newton(const ec_path_chain *c, double (*node)[3], double *gradient)
{
    ec_path_frame frame[EC_PATH_NODES_MAX];
    double g[2 * EC_PATH_NODES_MAX], h[2 * EC_PATH_NODES_MAX][2 * EC_PATH_NODES_MAX];

    *gradient = ec_path_chain_derivatives(c, node, frame, g, h);
    if (!ec_path_solve_small(2 * c->n, h, g))
        return false;
    double before = ec_path_chain_length(c, node), scale = 1;
    for (int32_t halving = 0; halving < 8; halving++) {
        double trial[EC_PATH_NODES_MAX][3];
        for (int32_t k = 0; k < c->n; k++) {
            ec_path_copy(node[k], trial[k]);
            ec_path_node_move(c->scene, c->step[c->at[k]], &frame[k], -scale * g[2 * k],
                              -scale * g[2 * k + 1], trial[k]);
        }
        if (ec_path_chain_length(c, trial) <= before * (1 + 1e-14)) {
            for (int32_t k = 0; k < c->n; k++)
                ec_path_copy(trial[k], node[k]);
            return true;
        }
        scale *= 0.5;
    }
    return false;
}

/* Whether two nodes have met, at a corner that they share (where turns get them slowly): there is
 * no path over both. */
EC_FN bool ec_path_chain_met(const ec_path_chain *c, double (*node)[3], double share)
{
    for (int32_t k = 1; k < c->n; k++) {
        double p[3];
        ec_path_copy(node[k - 1], p);
        ec_path_image(c->scene, c->step, c->at[k - 1] + 1, c->at[k], p);
        if (ec_path_distance(p, node[k]) < share * ec_path_chain_length(c, node))
            return true;
    }
    return false;
}

/* Whether a node is far off the piece that exists of its edge or shape. Bodies that meet only where
 * they do not exist have no path, and turns between them need not end. */
EC_FN bool ec_path_chain_astray(const ec_path_chain *c, double (*node)[3])
{
    for (int32_t k = 0; k < c->n; k++) {
        uint32_t step = c->step[c->at[k]];
        if (ec_path_kind(step) == EC_PATH_DIFFRACTION) {
            const ec_wedge *w = &c->scene->wedge[ec_path_index(step)];
            if (!ec_path_wedge_side(w, node[k], 0.05 * ec_path_distance(w->from, w->to)))
                return true;
        } else {
            const ec_surface *s = &c->scene->surface[ec_path_index(step)];
            if (!ec_path_shape_holds(s, node[k], 0.05 * s->half_height))
                return true;
        }
    }
    return false;
}

/* Whether a shape follows itself: what leaves a convex body from its outside does not meet it again
 * without a mirror, an edge or another body between, and turns would look for the place in vain. */
EC_FN bool ec_path_chain_repeats(const ec_path_chain *c)
{
    for (int32_t k = 1; k < c->n; k++)
        if (c->at[k] == c->at[k - 1] + 1 && c->step[c->at[k]] == c->step[c->at[k - 1]] &&
            ec_path_kind(c->step[c->at[k]]) == EC_PATH_CURVED)
            return true;
    return false;
}

enum { EC_PATH_TURNS_MAX = 64, EC_PATH_NEWTON_MAX = 12 };

/* node: a start on the way in (any point in the bodies and on the edges will do). */
EC_FN int ec_path_chain_solve(const ec_path_chain *c, double (*node)[3], ec_path_place *place)
{
    if (c->n > 1 && c->branch >= 0)
        return EC_PATH_UNRESOLVED; /* several points: not a convex problem */
    if (ec_path_chain_repeats(c))
        return EC_PATH_NONE;
    bool lit = ec_path_chain_turn(c, node, place);
    if (c->n == 1)
        return lit ? EC_PATH_FOUND : EC_PATH_NONE;
    /* turns find the place roughly, however bad the start; Newton's steps finish */
    for (int32_t turn = 1; turn < EC_PATH_TURNS_MAX; turn++) {
        if (lit && (turn == 3 || turn % 8 == 0)) {
            double gradient = 1, last;
            for (int32_t i = 0; i < EC_PATH_NEWTON_MAX; i++) {
                last = gradient;
                if (!ec_path_chain_newton(c, node, &gradient))
                    break;
                if (gradient < 1e-14 || (gradient < 1e-11 && gradient >= 0.25 * last))
                    break;
            }
            if (gradient < 1e-11)
                return EC_PATH_FOUND;
        }
        lit = ec_path_chain_turn(c, node, place);
        if (turn >= 8 && ec_path_chain_met(c, node, 1e-7))
            return EC_PATH_NONE;
    }
    bool lost = ec_path_chain_met(c, node, 1e-3) || ec_path_chain_astray(c, node);
    return lit && !lost ? EC_PATH_UNRESOLVED : EC_PATH_NONE;
}

/* ---- whole paths ---- */

/* Points, directions and length of the path from a to b along step[0 .. depth). branch: -1 for
 * edges and the outside of shapes; for a sequence whose one node is a shape that is hit from within
 * or an interpolated surface, which of its up to EC_PATH_BRANCHES_MAX points. tolerance: m, below
 * which two points are one. */
EC_FN int ec_path_points(const ec_scene *scene, int32_t depth, const uint32_t *step,
                         const double a[3], const double b[3], int32_t branch, double tolerance,
                         ec_path_trace *t)
{
    ec_path_chain c;
    double node[EC_PATH_NODES_MAX][3];
    int found = EC_PATH_FOUND;

    t->length = 0;
    t->smooth = INFINITY;
    t->place.triangle = -1;
    c.scene = scene;
    c.step = step;
    c.depth = depth;
    c.n = 0;
    c.branch = branch;
    for (int k = 0; k < 3; k++) {
        c.a[k] = a[k];
        c.b[k] = b[k];
    }
    for (int32_t i = 0; i < depth; i++) {
        if (!ec_path_is_node(step[i]))
            continue;
        if (c.n == EC_PATH_NODES_MAX)
            return EC_PATH_UNRESOLVED;
        double *p = node[c.n];
        if (ec_path_kind(step[i]) == EC_PATH_DIFFRACTION) {
            const ec_wedge *w = &scene->wedge[ec_path_index(step[i])];
            for (int k = 0; k < 3; k++)
                p[k] = 0.5 * (w->from[k] + w->to[k]);
        } else {
            const ec_surface *s = &scene->surface[ec_path_index(step[i])];
            ec_path_copy(s->point, p);
            if (s->kind == EC_SURFACE_CONE)
                ec_path_along(p, 0.5 * s->half_height, s->axis, p);
        }
        c.at[c.n++] = i;
    }
    if (c.n > 0)
        found = ec_path_chain_solve(&c, node, &t->place);
    for (int32_t k = 0; k <= c.n && found == EC_PATH_FOUND; k++) {
        int32_t from = k ? c.at[k - 1] + 1 : 0, to = k < c.n ? c.at[k] : depth;
        found = ec_path_leg(scene, step, from, to, k ? node[k - 1] : a, k < c.n ? node[k] : b,
                            tolerance, t);
        if (k < c.n)
            ec_path_copy(node[k], t->point[to]);
    }
    return found;
}

#endif
