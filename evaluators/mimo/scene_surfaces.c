/* Curved surfaces: vertices of their own, normals and curvatures at them.
 *
 * Normals of meshes: N. Max, "Weights for computing vertex normals from facet normals", Journal of
 * Graphics Tools 4(2), 1999, exact where the vertices lie on a sphere (and on a cylinder cut into
 * rectangles). Curvatures: S. Rusinkiewicz, "Estimating curvatures and their derivatives on triangle
 * meshes", 3DPVT 2004: the second fundamental form of each triangle from the differences of its
 * vertices' normals, averaged at the vertices in their own frames. */
#include "scene_internal.h"

/* ---- vertices of their own ---------------------------------------------------------------------- */

static int split_vertices(ec_scene_work *w)
{
    /* the surface of each vertex, and the next vertex that stands for it on another one, -1: none */
    int64_t room = (int64_t)w->n_vertices + w->n_vertices / 8 + 64;
    int32_t *owner = malloc((size_t)room * sizeof *owner);
    int32_t *twin = malloc((size_t)room * sizeof *twin);
    double(*vertex)[3] = realloc(w->vertex, (size_t)room * sizeof *vertex);
    w->vertex = vertex ? vertex : w->vertex;
    int rc = owner && twin && vertex ? EC_OK : ec_scene_no_memory("vertices", room);
    if (rc == EC_OK) {
        memset(owner, 0xff, (size_t)room * sizeof *owner);
        memset(twin, 0xff, (size_t)room * sizeof *twin);
    }
    for (int32_t t = 0; rc == EC_OK && t < w->n_triangles; t++)
        for (int k = 0; k < 3 && w->part[t] < 0; k++) {
            int32_t v = w->triangle[t][k], surface = ~w->part[t];
            while (owner[v] >= 0 && owner[v] != surface && twin[v] >= 0)
                v = twin[v];
            if (owner[v] >= 0 && owner[v] != surface) {
                if (w->n_vertices == room) {
                    int64_t larger = 2 * room;
                    int32_t *o = realloc(owner, (size_t)larger * sizeof *o);
                    owner = o ? o : owner;
                    int32_t *n = realloc(twin, (size_t)larger * sizeof *n);
                    twin = n ? n : twin;
                    vertex = realloc(w->vertex, (size_t)larger * sizeof *vertex);
                    w->vertex = vertex ? vertex : w->vertex;
                    if (!o || !n || !vertex || larger > INT32_MAX) {
                        rc = ec_scene_no_memory("vertices", larger);
                        break;
                    }
                    memset(owner + room, 0xff, (size_t)(larger - room) * sizeof *owner);
                    memset(twin + room, 0xff, (size_t)(larger - room) * sizeof *twin);
                    room = larger;
                }
                memcpy(w->vertex[w->n_vertices], w->vertex[v], sizeof *w->vertex);
                twin[v] = w->n_vertices++;
                v = twin[v];
            }
            owner[v] = surface;
            w->triangle[t][k] = v;
        }
    free(owner);
    free(twin);
    return rc;
}

/* ---- meshes ------------------------------------------------------------------------------------- */

static void add_normals(ec_scene_work *w, int32_t t)
{
    double normal[3];
    ec_scene_cross(w, t, normal);
    for (int k = 0; k < 3; k++) {
        const double *p = w->vertex[w->triangle[t][k]];
        double a[3], b[3];
        ec_sub3(w->vertex[w->triangle[t][(k + 1) % 3]], p, a);
        ec_sub3(w->vertex[w->triangle[t][(k + 2) % 3]], p, b);
        double weight = 1 / (ec_dot3(a, a) * ec_dot3(b, b));
        for (int i = 0; i < 3; i++)
            w->normal[w->triangle[t][k]][i] += weight * normal[i];
    }
}

/* The form of a triangle in the frame (u, v) of its plane: least squares over its three edges of
 * form (e . u, e . v) = (dn . u, dn . v), six equations for three unknowns. */
static bool triangle_form(const ec_scene_work *w, int32_t t, const double u[3], const double v[3],
                          double form[3])
{
    double a[3][3] = {{0}}, b[3] = {0};
    for (int k = 0; k < 3; k++) {
        int32_t from = w->triangle[t][(k + 1) % 3], to = w->triangle[t][(k + 2) % 3];
        double e[3], dn[3];
        ec_sub3(w->vertex[to], w->vertex[from], e);
        ec_sub3(w->normal[to], w->normal[from], dn);
        double eu = ec_dot3(e, u), ev = ec_dot3(e, v), nu = ec_dot3(dn, u), nv = ec_dot3(dn, v);
        a[0][0] += eu * eu;
        a[0][1] += eu * ev;
        a[1][1] += eu * eu + ev * ev;
        a[2][2] += ev * ev;
        b[0] += eu * nu;
        b[1] += ev * nu + eu * nv;
        b[2] += ev * nv;
    }
    a[1][0] = a[1][2] = a[2][1] = a[0][1];
    /* by Cramer's rule: the matrix is [[p, q, 0], [q, p + r, q], [0, q, r]] */
    double p = a[0][0], q = a[0][1], r = a[2][2], s = a[1][1];
    double det = p * (s * r - q * q) - q * q * r;
    if (!(fabs(det) > 1e-30 * s * s * s))
        return false;
    form[0] = (b[0] * (s * r - q * q) - q * (b[1] * r - q * b[2])) / det;
    form[1] = (p * (b[1] * r - q * b[2]) - q * r * b[0]) / det;
    form[2] = (p * (s * b[2] - q * b[1]) - q * (q * b[2] - 0) + q * q * b[0]) / det;
    return true;
}

/* The area about corner k that is nearest to it (Meyer et al. 2003: the Voronoi cell, or a part of
 * the triangle where an angle is obtuse). */
static double corner_area(const ec_scene_work *w, int32_t t, int k, double area)
{
    double e[3][3], l2[3], cot[3];
    for (int i = 0; i < 3; i++) { /* e[i] is across corner k + i */
        ec_sub3(w->vertex[w->triangle[t][(k + i + 2) % 3]],
                w->vertex[w->triangle[t][(k + i + 1) % 3]], e[i]);
        l2[i] = ec_dot3(e[i], e[i]);
    }
    for (int i = 0; i < 3; i++)
        cot[i] = -ec_dot3(e[(i + 1) % 3], e[(i + 2) % 3]) / (2 * area);
    if (cot[0] < 0)
        return area / 2;
    if (cot[1] < 0 || cot[2] < 0)
        return area / 4;
    return (l2[1] * cot[1] + l2[2] * cot[2]) / 8;
}

/* Adds the triangle's form to its corners, in their frames: the triangle's frame is turned about the
 * line in which both planes meet, so that a curvature stays what it is. */
static void add_forms(ec_scene_work *w, int32_t t, double *weight)
{
    double normal[3], u[3], v[3], form[3];
    ec_scene_cross(w, t, normal);
    double area = ec_length3(normal) / 2;
    ec_normalize3(normal);
    ec_scene_frame(normal, u, v);
    if (!triangle_form(w, t, u, v, form))
        return;
    for (int k = 0; k < 3; k++) {
        int32_t corner = w->triangle[t][k];
        const double *n = w->normal[corner];
        double cu[3], cv[3], ru[3], rv[3], axis[3];
        ec_scene_frame(n, cu, cv);
        /* rotation that takes n to the triangle's normal (Rodrigues), applied to cu and cv */
        double c = ec_dot3(n, normal);
        if (c <= 0)
            continue;
        ec_cross3(n, normal, axis);
        const double *from[2] = {cu, cv};
        double *to[2] = {ru, rv};
        for (int i = 0; i < 2; i++) {
            double across[3], along = ec_dot3(axis, from[i]) / (1 + c);
            ec_cross3(axis, from[i], across);
            for (int j = 0; j < 3; j++)
                to[i][j] = c * from[i][j] + across[j] + along * axis[j];
        }
        double uu = ec_dot3(ru, u), uv = ec_dot3(ru, v), vu = ec_dot3(rv, u), vv = ec_dot3(rv, v);
        double own = corner_area(w, t, k, area);
        w->curvature[corner][0] +=
            own * (uu * uu * form[0] + 2 * uu * uv * form[1] + uv * uv * form[2]);
        w->curvature[corner][1] +=
            own * (uu * vu * form[0] + (uu * vv + uv * vu) * form[1] + uv * vv * form[2]);
        w->curvature[corner][2] +=
            own * (vu * vu * form[0] + 2 * vu * vv * form[1] + vv * vv * form[2]);
        weight[corner] += own;
    }
}

/* ---- exact shapes ------------------------------------------------------------------------------- */

/* The form in frame (u, v) of curvature k1 along the unit tangent d and k2 across it. */
static void form_of(const double normal[3], const double d[3], double k1, double k2, double form[3])
{
    double u[3], v[3];
    ec_scene_frame(normal, u, v);
    double a = ec_dot3(d, u), b = ec_dot3(d, v);
    form[0] = k1 * a * a + k2 * b * b;
    form[1] = (k1 - k2) * a * b;
    form[2] = k1 * b * b + k2 * a * a;
}

static void exact_vertex(const ec_surface *s, const double p[3], double normal[3], double form[3])
{
    double from[3], along, d[3], sign = s->inward ? -1 : 1;
    ec_sub3(p, s->point, from);
    along = ec_dot3(from, s->axis);
    double radial[3];
    for (int i = 0; i < 3; i++)
        radial[i] = s->kind == EC_SURFACE_SPHERE ? from[i] : from[i] - along * s->axis[i];
    double distance = ec_length3(radial);
    bool apex = s->kind == EC_SURFACE_CONE && !(distance > 1e-9 * s->half_height);
    for (int i = 0; i < 3; i++)
        radial[i] = apex ? 0 : radial[i] / distance;
    if (s->kind == EC_SURFACE_CONE) {
        for (int i = 0; i < 3; i++)
            normal[i] =
                apex ? -s->axis[i] : cos(s->radius) * radial[i] - sin(s->radius) * s->axis[i];
        ec_cross3(s->axis, radial, d);
        double k = apex ? 0 : cos(s->radius) / distance;
        for (int i = 0; i < 3; i++)
            normal[i] *= sign;
        form_of(normal, d, sign * k, 0, form);
        return;
    }
    for (int i = 0; i < 3; i++)
        normal[i] = sign * radial[i];
    ec_cross3(s->axis, radial, d);
    double k = sign / s->radius;
    form_of(normal, d, k, s->kind == EC_SURFACE_SPHERE ? k : 0, form);
    if (s->kind == EC_SURFACE_SPHERE) { /* the same in every direction */
        form[0] = form[2] = k;
        form[1] = 0;
    }
}

/* ---- all ---------------------------------------------------------------------------------------- */

static void mesh_vertices(ec_scene_work *w, const ec_surface *s, double *weight)
{
    const int32_t *list = w->surface_triangle + s->first;
    for (int32_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++)
            ec_normalize3(w->normal[w->triangle[list[i]][k]]);
    for (int32_t i = 0; i < s->count; i++)
        add_forms(w, list[i], weight);
    for (int32_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++) {
            int32_t v = w->triangle[list[i]][k];
            if (weight[v] == 0)
                continue;
            for (int j = 0; j < 3; j++)
                w->curvature[v][j] /= weight[v];
            weight[v] = 0;
        }
}

static void exact_vertices(ec_scene_work *w, const ec_surface *s)
{
    for (int32_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++) {
            int32_t v = w->triangle[w->surface_triangle[s->first + i]][k];
            exact_vertex(s, w->vertex[v], w->normal[v], w->curvature[v]);
        }
}

int ec_scene_surfaces(ec_scene_work *w)
{
    for (int32_t s = 0; w->options.exact && s < w->n_surfaces; s++) {
        ec_surface *surface = &w->surface[s];
        if (surface->kind == EC_SURFACE_MESH)
            ec_scene_fit(w, surface);
        if (surface->kind != EC_SURFACE_MESH) /* given shapes may have been turned round */
            surface->inward = ec_scene_looks_inward(w, surface);
    }
    int rc = split_vertices(w);
    double *weight = ec_scene_zeroed(w->n_vertices, sizeof *weight);
    w->normal = ec_scene_zeroed(w->n_vertices, sizeof *w->normal);
    w->curvature = ec_scene_zeroed(w->n_vertices, sizeof *w->curvature);
    if (rc == EC_OK && (!weight || !w->normal || !w->curvature))
        rc = ec_scene_no_memory("vertices", w->n_vertices);
    for (int32_t s = 0; rc == EC_OK && s < w->n_surfaces; s++) {
        const ec_surface *surface = &w->surface[s];
        if (surface->kind != EC_SURFACE_MESH) {
            exact_vertices(w, surface);
            continue;
        }
        for (int32_t i = 0; i < surface->count; i++)
            add_normals(w, w->surface_triangle[surface->first + i]);
        mesh_vertices(w, surface, weight);
    }
    free(weight);
    return rc;
}
