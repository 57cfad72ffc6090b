/* path_mesh.h: reflection at a curved surface that is known by triangles with a normal and a
 * curvature at each vertex.
 *
 * Flat triangles would reflect into a fan of stripes with gaps between, whatever their size. So the
 * surface is interpolated: normals linearly (as B. T. Phong, Commun. ACM 18, 1975), places by a
 * quadratic in the weights whose edges stand across the vertices' normals in the mean (as T.
 * Nagata, Comput. Aided Geom. Des. 22, 2005, without his tangential part): a circle's arc of angle
 * h is met to h^4 / 128 of its radius. A specular point is where the sum of the unit vectors to
 * both neighbours is along the normal, two equations in two weights: where a linear interpolation
 * of the mismatch has its zero inside a triangle or near, Newton's method refines it. Points a
 * hundredth outside of a triangle count, so none is lost between two; two closer than a twentieth
 * of an edge are one.
 *
 * Triangles are looked at in groups with a sphere around them and a cone of their normals: where no
 * normal of the cone can halve the angle between the ways from anywhere in the sphere, none of the
 * group has a specular point.
 *
 * Shared by C17 and CUDA. */
#ifndef EC_PATH_MESH_H
#define EC_PATH_MESH_H

#include "path_types.h"
#include "scene.h"

typedef struct ec_path_patch {
    double corner[3][3], normal[3][3];
    double bend[3][3]; /* of the edges 0-1, 1-2, 2-0 */
    double edge[2][3]; /* from corner 0 */
    double size;       /* longest edge, m */
    double aspect;     /* of it to the height over it, at least 1 */
} ec_path_patch;

EC_FN void ec_path_patch_make(const ec_scene *s, int32_t triangle, ec_path_patch *f)
{
    f->size = 0;
    for (int k = 0; k < 3; k++) {
        ec_path_copy(s->vertex[s->triangle[triangle][k]], f->corner[k]);
        ec_path_copy(s->vertex_normal[s->triangle[triangle][k]], f->normal[k]);
    }
    ec_path_sub(f->corner[1], f->corner[0], f->edge[0]);
    ec_path_sub(f->corner[2], f->corner[0], f->edge[1]);
    for (int k = 0; k < 3; k++) {
        const double *m = f->normal[k], *n = f->normal[(k + 1) % 3];
        double d[3], mean[3], half[3];
        ec_path_sub(f->corner[(k + 1) % 3], f->corner[k], d);
        for (int i = 0; i < 3; i++) {
            mean[i] = 0.5 * (m[i] + n[i]);
            half[i] = 0.5 * (m[i] - n[i]);
        }
        double square = ec_path_dot(mean, mean), length = ec_path_norm(d);
        double scale = square > 0 ? ec_path_dot(half, d) / square : 0;
        for (int i = 0; i < 3; i++)
            f->bend[k][i] = scale * mean[i];
        f->size = length > f->size ? length : f->size;
    }
    double area[3];
    ec_path_cross(f->edge[0], f->edge[1], area);
    f->aspect = f->size * f->size / ec_path_norm(area);
    f->aspect = f->aspect > 1 ? f->aspect : 1;
}

EC_FN void ec_path_patch_at(const ec_path_patch *f, double u, double v, double p[3], double n[3])
{
    double w = 1 - u - v;

    for (int i = 0; i < 3; i++) {
        p[i] = w * f->corner[0][i] + u * f->corner[1][i] + v * f->corner[2][i] -
               (w * u * f->bend[0][i] + u * v * f->bend[1][i] + v * w * f->bend[2][i]);
        n[i] = w * f->normal[0][i] + u * f->normal[1][i] + v * f->normal[2][i];
    }
    double length = ec_path_norm(n);
    for (int i = 0; i < 3; i++)
        n[i] = length > 0 ? n[i] / length : 0;
}

/* How far the ways to a and b are from a reflection at p: along the patch's edges, across n. */
EC_FN void ec_path_mismatch(const ec_path_patch *f, const double p[3], const double n[3],
                            const double a[3], const double b[3], double r[2])
{
    double ua[3], ub[3];

    ec_path_unit(p, a, ua);
    ec_path_unit(p, b, ub);
    for (int i = 0; i < 3; i++)
        ua[i] += ub[i];
    double out = ec_path_dot(ua, n);
    for (int k = 0; k < 2; k++)
        r[k] = (ec_path_dot(ua, f->edge[k]) - out * ec_path_dot(n, f->edge[k])) / f->size;
}

/* The weights where mismatches r at (0, 0), (1, 0), (0, 1) interpolate to 0. */
EC_FN bool ec_path_mismatch_zero(const double r[3][2], double *u, double *v)
{
    double a = r[1][0] - r[0][0], b = r[2][0] - r[0][0];
    double c = r[1][1] - r[0][1], d = r[2][1] - r[0][1];
    double det = a * d - b * c;

    *u = (b * r[0][1] - d * r[0][0]) / det;
    *v = (c * r[0][0] - a * r[0][1]) / det;
    return fabs(det) > 0;
}

EC_FN bool ec_path_weights_near(double u, double v, double slack)
{
    return u >= -slack && v >= -slack && u + v <= 1 + slack;
}

/* Newton's method from weights (u, v); whether it ends on the triangle, seen by a and b. */
EC_FN bool ec_path_patch_refine(const ec_path_patch *f, bool thin, const double a[3],
                                const double b[3], double *u, double *v, double p[3])
{
    const double h = 1e-4;
    double r[3][2], n[3], da[3], db[3], du, dv;
    double reach = f->aspect > 4 ? 0.25 * f->aspect : 1; /* in widths of a sliver */
    bool close = false;

    for (int i = 0; i < 12 && !close; i++) {
        for (int k = 0; k < 3; k++) {
            ec_path_patch_at(f, *u + (k == 1 ? h : 0), *v + (k == 2 ? h : 0), p, n);
            ec_path_mismatch(f, p, n, a, b, r[k]);
        }
        if (!ec_path_mismatch_zero((const double(*)[2])r, &du, &dv))
            return false;
        *u += h * du;
        *v += h * dv;
        if (!ec_path_weights_near(*u, *v, reach))
            return false;
        close = fabs(h * du) + fabs(h * dv) < 1e-12;
    }
    if (!close || !ec_path_weights_near(*u, *v, 0.01))
        return false;
    ec_path_patch_at(f, *u, *v, p, n);
    ec_path_sub(a, p, da);
    ec_path_sub(b, p, db);
    double ca = ec_path_dot(n, da), cb = ec_path_dot(n, db);
    return (ca > 0 && cb > 0) || (thin && ca < 0 && cb < 0);
}

enum { EC_PATH_PIECES_MAX = 16 };

/* The specular point of one triangle, if it has one that a and b see. The mismatch is looked at on
 * pieces that are small compared with the distance of a and b, for it to be nearly linear there. */
EC_FN bool ec_path_patch_point(const ec_scene *s, int32_t triangle, bool thin, const double a[3],
                               const double b[3], ec_path_place *place, double p[3])
{
    ec_path_patch f;
    double middle[3];

    ec_path_patch_make(s, triangle, &f);
    for (int i = 0; i < 3; i++)
        middle[i] = (f.corner[0][i] + f.corner[1][i] + f.corner[2][i]) / 3;
    double da = ec_path_distance(a, middle), db = ec_path_distance(b, middle);
    double near = da < db ? da : db;
    int pieces = f.size < 0.25 * near ? 1 : EC_PATH_PIECES_MAX;
    if (pieces > 1 && f.size < 4 * near) {
        pieces = (int)(f.size / (0.25 * near)) + 1;
        pieces = pieces < EC_PATH_PIECES_MAX ? pieces : EC_PATH_PIECES_MAX;
    }
    double step = 1.0 / pieces, slack = f.aspect > 4 ? 0.0625 * f.aspect : 0.25;
    for (int i = 0; i < pieces; i++)
        for (int j = 0; j < 2 * (pieces - i) - 1; j++) {
            /* upright pieces and, between them, those upside down */
            int turned = j % 2;
            double u0 = step * (i + turned), v0 = step * (j / 2 + turned);
            double h = turned ? -step : step, r[3][2], n[3], u, v;
            for (int k = 0; k < 3; k++) {
                ec_path_patch_at(&f, u0 + (k == 1 ? h : 0), v0 + (k == 2 ? h : 0), p, n);
                ec_path_mismatch(&f, p, n, a, b, r[k]);
            }
            if (!ec_path_mismatch_zero((const double(*)[2])r, &u, &v) ||
                !ec_path_weights_near(u, v, slack))
                continue;
            u = u0 + h * u;
            v = v0 + h * v;
            if (ec_path_patch_refine(&f, thin, a, b, &u, &v, p)) {
                place->triangle = triangle;
                place->weight[0] = u;
                place->weight[1] = v;
                return true;
            }
        }
    return false;
}

/* How much the unit vector from a place in the sphere to a can differ from that of its middle, by
 * the chord of asin(x) <= x (1 + 0.42 x^2); 2 within the sphere. */
EC_FN double ec_path_bound_reach(const ec_scene_bound *s, const double a[3], double unit[3])
{
    double distance = ec_path_unit(s->centre, a, unit);
    double x = distance > s->radius ? s->radius / distance : 1;

    return x < 1 ? x * (1 + 0.42 * x * x) : 2;
}

/* Whether a and b may see a specular point of the group: where the sum h of the unit vectors to
 * both is along the normal n, h x n = 0, and h x axis is as small as h and n are near to those of
 * the middle. */
EC_FN bool ec_path_bound_reflects(const ec_scene_bound *s, const double a[3], const double b[3])
{
    double ua[3], ub[3], across[3];
    double reach = ec_path_bound_reach(s, a, ua) + ec_path_bound_reach(s, b, ub);

    for (int i = 0; i < 3; i++)
        ua[i] += ub[i];
    ec_path_cross(ua, s->axis, across);
    return !(ec_path_norm(across) > reach + 2 * s->spread + 1e-9);
}

enum { EC_PATH_BRANCHES_MAX = 4 };

/* The branch-th (from 0, by triangle) specular point of an interpolated surface. */
EC_FN bool ec_path_mesh_point(const ec_scene *s, const ec_surface *c, const double a[3],
                              const double b[3], int32_t branch, ec_path_place *place, double p[3])
{
    double before[EC_PATH_BRANCHES_MAX][3];
    int32_t n = 0;

    for (int32_t i = 0; i < c->count && n <= branch; i++) {
        int32_t at = c->first + i, triangle = s->surface_triangle[at];
        if (s->bound && (i == 0 || at % EC_SCENE_BOUND == 0) &&
            !ec_path_bound_reflects(&s->bound[at / EC_SCENE_BOUND], a, b)) {
            i += EC_SCENE_BOUND - 1 - at % EC_SCENE_BOUND;
            continue;
        }
        if (!ec_path_patch_point(s, triangle, c->thin, a, b, place, p))
            continue;
        const int32_t *t = s->triangle[triangle];
        double edge = ec_path_distance(s->vertex[t[0]], s->vertex[t[1]]);
        bool again = false;
        for (int32_t k = 0; k < n; k++)
            again = again || ec_path_distance(before[k], p) < 0.05 * edge;
        if (again)
            continue;
        if (n == branch)
            return true;
        ec_path_copy(p, before[n++]);
    }
    return false;
}

/* Unit outward normal and second fundamental form at a place: curvature {uu, uv, vv} in the tangent
 * frame (u, v). */
EC_FN void ec_path_mesh_form(const ec_scene *s, const ec_path_place *place, double n[3],
                             double u[3], double v[3], double form[3])
{
    ec_path_patch f;
    double p[3],
        w[3] = {1 - place->weight[0] - place->weight[1], place->weight[0], place->weight[1]};

    ec_path_patch_make(s, place->triangle, &f);
    ec_path_patch_at(&f, w[1], w[2], p, n);
    ec_scene_frame(n, u, v);
    form[0] = form[1] = form[2] = 0;
    for (int k = 0; k < 3; k++) {
        const double *c = s->vertex_curvature[s->triangle[place->triangle][k]];
        double x[3], y[3];
        ec_scene_frame(f.normal[k], x, y);
        double ux = ec_path_dot(u, x), uy = ec_path_dot(u, y);
        double vx = ec_path_dot(v, x), vy = ec_path_dot(v, y);
        form[0] += w[k] * (c[0] * ux * ux + 2 * c[1] * ux * uy + c[2] * uy * uy);
        form[1] += w[k] * (c[0] * ux * vx + c[1] * (ux * vy + uy * vx) + c[2] * uy * vy);
        form[2] += w[k] * (c[0] * vx * vx + 2 * c[1] * vx * vy + c[2] * vy * vy);
    }
}

#endif
