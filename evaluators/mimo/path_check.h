/* path_check.h: whether the points of a path are where its parts are.
 *
 * One rule for points on borders, so that no path is missed and none found twice: where a ray passes
 * a facet's outline within the tolerance its point is on the facet, unless a facet in the same plane
 * that faces the same way and has a lower index holds it as well; the end of a wedge likewise,
 * between wedges on one line. It is the ray's distance from the edge that counts, not the point's,
 * for that is what a diffraction coefficient can tell (utd.h), and both have to agree. Of paths
 * through the edge of two mirrors, where two points of a path coincide, the one with the lower step
 * first stands for both.
 *
 * Shared by C17 and CUDA. */
#ifndef EC_PATH_CHECK_H
#define EC_PATH_CHECK_H

#include "path_points.h"

enum { EC_PATH_OUTSIDE, EC_PATH_INSIDE, EC_PATH_BORDER };

/* Where a point of the plane of a facet lies: even-odd over its outline, with the points told apart
 * where a ray of direction d passes the outline within the tolerance. */
EC_FN int ec_path_facet_side(const ec_scene *scene, const ec_facet *f, const double p[3],
                             const double d[3], double tolerance)
{
    double slant = ec_path_dot(f->normal, d), square = tolerance * tolerance;
    double ax = fabs(f->normal[0]), ay = fabs(f->normal[1]), az = fabs(f->normal[2]);
    int drop = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
    int u = (drop + 1) % 3, v = (drop + 2) % 3;
    bool inside = false;

    for (int32_t i = 0; i < f->n_edges; i++) {
        const int32_t *edge = scene->facet_edge[f->first_edge + i];
        const double *a = scene->vertex[edge[0]], *b = scene->vertex[edge[1]];
        double ab[3], ap[3];
        ec_path_sub(b, a, ab);
        ec_path_sub(p, a, ap);
        double along = ec_path_dot(ap, ab), length2 = ec_path_dot(ab, ab);
        double da = ec_path_dot(d, ab);
        along = along < 0 ? 0 : along > length2 ? 1 : along / length2;
        ec_path_along(ap, -along, ab, ap);
        /* the ray's distance: the point's, by the sines of its angles to the plane and the edge */
        if (ec_path_dot(ap, ap) * slant * slant * length2 <= square * (length2 - da * da))
            return EC_PATH_BORDER;
        if ((a[v] > p[v]) != (b[v] > p[v]) &&
            p[u] < a[u] + (p[v] - a[v]) / (b[v] - a[v]) * (b[u] - a[u]))
            inside = !inside;
    }
    return inside ? EC_PATH_INSIDE : EC_PATH_OUTSIDE;
}

/* Whether p, where a ray of direction d meets the plane of facet index, is on it; see the rule
 * above. */
EC_FN bool ec_path_on_facet(const ec_scene *scene, int32_t index, const double p[3],
                            const double d[3], double tolerance)
{
    const ec_facet *f = &scene->facet[index];
    int side = ec_path_facet_side(scene, f, p, d, tolerance);

    if (side != EC_PATH_BORDER)
        return side == EC_PATH_INSIDE;
    for (int32_t i = 0; i < index; i++) {
        const ec_facet *g = &scene->facet[i];
        double cosine = ec_path_dot(f->normal, g->normal);
        bool same_way = cosine > 0 || (f->thin && g->thin);
        if (same_way && fabs(cosine) > 1 - 1e-12 &&
            fabs(ec_path_dot(g->normal, p) - g->offset) <= tolerance &&
            ec_path_facet_side(scene, g, p, d, tolerance) != EC_PATH_OUTSIDE)
            return false;
    }
    return true;
}

EC_FN bool ec_path_on_wedge(const ec_scene *scene, int32_t index, const double p[3],
                            double tolerance)
{
    const ec_wedge *w = &scene->wedge[index];
    int side = ec_path_wedge_side(w, p, tolerance);

    if (side != 2)
        return side == 1;
    for (int32_t i = 0; i < index; i++) {
        const ec_wedge *o = &scene->wedge[i];
        double d[3];
        if (fabs(ec_path_dot(w->tangent, o->tangent)) < 1 - 1e-12)
            continue;
        ec_path_sub(p, o->from, d);
        ec_path_along(d, -ec_path_dot(d, o->tangent), o->tangent, d);
        /* the two wedges of an edge of thin sheets face different sides */
        if (ec_path_dot(d, d) <= tolerance * tolerance &&
            ec_path_dot(w->face_normal[0], o->face_normal[0]) > 1 - 1e-12 &&
            ec_path_wedge_side(o, p, tolerance) != 0)
            return false;
    }
    return true;
}

/* Whether a direction away from the edge leads outside of what makes the wedge (faces included). */
EC_FN bool ec_path_wedge_outside(const ec_wedge *w, const double away[3])
{
    double h0 = ec_path_dot(away, w->face_normal[0]), h1 = ec_path_dot(away, w->face_normal[1]);
    const double grazing = -1e-9;
    bool front0 = h0 > grazing, front1 = h1 > grazing;

    if (w->n < 1)
        return front0 && front1;
    if (w->n > 2 - 1e-9)
        return true;
    return front0 || front1;
}

/* Two points of a path coincide, on the edge of two parts: they count once, lower step first, and
 * only in a corner, where the second is in front of the first. */
EC_FN bool ec_path_corner(const ec_scene *scene, uint32_t first, uint32_t second,
                          const double out[3], double tolerance)
{
    if (first >= second || ec_path_kind(first) != EC_PATH_REFLECTION ||
        ec_path_kind(second) != EC_PATH_REFLECTION)
        return false;
    const ec_facet *f = &scene->facet[ec_path_index(first)];
    const ec_facet *g = &scene->facet[ec_path_index(second)];
    double side = ec_path_dot(f->normal, out) < 0 ? -1.0 : 1.0;
    for (int32_t i = 0; i < g->n_edges; i++) {
        const double *v = scene->vertex[scene->facet_edge[g->first_edge + i][0]];
        if (side * (ec_path_dot(f->normal, v) - f->offset) > tolerance)
            return true;
    }
    return false;
}

/* A cosine: what runs along a face is not reflected by it. */
#define EC_PATH_GRAZING 1e-9

/* Radius of curvature of a surface along a unit tangent; INFINITY where it is straight. */
EC_FN double ec_path_radius_along(const ec_scene *scene, const ec_surface *s, const double p[3],
                                  const double n[3], const ec_path_place *place,
                                  const double tangent[3])
{
    double bend, d[3], e[3];

    if (s->kind == EC_SURFACE_SPHERE)
        return s->radius;
    if (s->kind == EC_SURFACE_MESH) {
        double m[3], u[3], v[3], form[3];
        ec_path_mesh_form(scene, place, m, u, v, form);
        double x = ec_path_dot(u, tangent), y = ec_path_dot(v, tangent);
        bend = fabs(form[0] * x * x + 2 * form[1] * x * y + form[2] * y * y);
    } else {
        double radius = s->radius;
        ec_path_cross(s->axis, n, e);
        ec_path_sub(p, s->point, d);
        if (s->kind == EC_SURFACE_CONE) {
            double c = ec_det_cospi(s->radius / EC_PI);
            radius = ec_path_dot(d, s->axis) * ec_det_sinpi(s->radius / EC_PI) / (c * c);
        }
        double across = ec_path_dot(tangent, e);
        bend = across * across / (ec_path_dot(e, e) * radius);
    }
    return bend > 0 ? 1 / bend : (double)INFINITY;
}

EC_FN bool ec_path_check_curved(const ec_scene *scene, const ec_surface *s, const double p[3],
                                const double in[3], const double out[3], int32_t branch,
                                double tolerance, ec_path_trace *t)
{
    double n[3], u[3], v[3], form[3], along[3];
    double side = branch < 0 ? 1.0 : -1.0;

    if (!ec_path_shape_holds(s, p, tolerance))
        return false;
    if (s->kind == EC_SURFACE_MESH) {
        ec_path_mesh_form(scene, &t->place, n, u, v, form);
        side = s->thin && ec_path_dot(n, in) > 0 ? -1.0 : 1.0;
    } else {
        ec_path_shape_normal(s, p, n);
    }
    double cosine = -side * ec_path_dot(n, in);
    if (!(cosine > EC_PATH_GRAZING) || !(side * ec_path_dot(n, out) > EC_PATH_GRAZING))
        return false;
    /* the plane of incidence cuts the surface along the ray's track; at normal incidence, where it
     * is any plane, nothing is grazing */
    ec_path_along(in, -ec_path_dot(n, in), n, along);
    double track = ec_path_norm(along);
    for (int i = 0; i < 3; i++)
        along[i] = track > 1e-9 ? along[i] / track : 0;
    double radius = ec_path_radius_along(scene, s, p, n, &t->place, along);
    double smooth = 0.5 * radius * cosine * cosine * cosine;
    t->smooth = smooth < t->smooth ? smooth : t->smooth;
    return true;
}

/* Checks the i-th interaction of a path whose points are known. */
EC_FN bool ec_path_check_step(const ec_scene *scene, int32_t depth, const uint32_t *step, int32_t i,
                              int32_t branch, double tolerance, ec_path_trace *t)
{
    const double *p = t->point[i], *in = t->direction[i], *out = t->direction[i + 1];
    int32_t index = ec_path_index(step[i]);

    if (i + 1 < depth && ec_path_distance(p, t->point[i + 1]) <= tolerance &&
        !ec_path_corner(scene, step[i], step[i + 1], out, tolerance))
        return false;
    switch (ec_path_kind(step[i])) {
    case EC_PATH_REFLECTION: {
        const ec_facet *f = &scene->facet[index];
        double cosine = -ec_path_dot(f->normal, in);
        if (!(f->thin ? fabs(cosine) > EC_PATH_GRAZING : cosine > EC_PATH_GRAZING))
            return false;
        return ec_path_on_facet(scene, index, p, in, tolerance);
    }
    case EC_PATH_CURVED:
        return ec_path_check_curved(scene, &scene->surface[index], p, in, out, branch, tolerance,
                                    t);
    case EC_PATH_DIFFRACTION: {
        const ec_wedge *w = &scene->wedge[index];
        double back[3] = {-in[0], -in[1], -in[2]};
        return ec_path_on_wedge(scene, index, p, tolerance) && ec_path_wedge_outside(w, back) &&
               ec_path_wedge_outside(w, out);
    }
    default:
        return false; /* transmissions are put in where a segment meets slabs */
    }
}

/* Points and checks, without occlusion. */
EC_FN int ec_path_exact(const ec_scene *scene, int32_t depth, const uint32_t *step,
                        const double a[3], const double b[3], int32_t branch, double tolerance,
                        ec_path_trace *t)
{
    int found = ec_path_points(scene, depth, step, a, b, branch, tolerance, t);

    for (int32_t i = 0; i < depth && found == EC_PATH_FOUND; i++)
        if (!ec_path_check_step(scene, depth, step, i, branch, tolerance, t))
            found = EC_PATH_NONE;
    return found;
}

#endif
