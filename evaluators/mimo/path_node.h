/* path_node.h: the point of one edge or curved surface that a path from a to b goes over: where
 * its length is stationary (Fermat), a and b being the neighbours as seen through flat mirrors.
 *
 * Straight edge: unfolding the two half planes (a, edge) and (edge, b) into one makes the path a
 * straight line, so it meets the edge under equal angles (Keller, J. Opt. Soc. Am. 52, 1962):
 * closed form. Cylinder and sphere: Alhazen's problem of a circle, in the cross-section or in the
 * plane through the centre. The difference of the two angles of incidence grows monotonically with
 * the place on the arc between the directions of a and b, by at least 2 rad a rad, so a bracketed
 * Newton iteration has one answer. Cone: the point of each generator in closed form, the generator
 * by bisection. A convex body has one specular point or none (Fermat's length over a convex body is
 * a convex problem), so there is nothing to choose and no start to depend on.
 *
 * Shared by C17 and CUDA; square roots only. */
#ifndef EC_PATH_NODE_H
#define EC_PATH_NODE_H

#include "../../core/detmath.h"
#include "path_mesh.h"

/* The point of the line that divides it in the ratio of the distances of a and b to it. */
EC_FN bool ec_path_line_point(const double origin[3], const double unit[3], const double a[3],
                              const double b[3], double p[3], double *at)
{
    double da[3], db[3], fa[3], fb[3];

    ec_path_sub(a, origin, da);
    ec_path_sub(b, origin, db);
    double za = ec_path_dot(da, unit), zb = ec_path_dot(db, unit);
    ec_path_along(da, -za, unit, fa);
    ec_path_along(db, -zb, unit, fb);
    double ra = ec_path_norm(fa), rb = ec_path_norm(fb);
    double t = ra + rb > 0 ? za + (zb - za) * (ra / (ra + rb)) : 0.5 * (za + zb);

    ec_path_along(origin, t, unit, p);
    *at = t;
    return ra + rb > 0;
}

/* Unit (nx, ny) towards the specular point of the circle about 0, outside of which a and b lie;
 * false where there is none that both see. */
EC_FN bool ec_path_circle_outside(double ax, double ay, double bx, double by, double radius,
                                  double *nx, double *ny)
{
    double ra = sqrt(ax * ax + ay * ay), rb = sqrt(bx * bx + by * by);
    double side = ax * by - ay * bx < 0 ? -1.0 : 1.0;

    if (!(ra > radius) || !(rb > radius))
        return false;
    double lx = ax / ra, ly = ay / ra, hx = bx / rb, hy = by / rb;
    double x = 0, y = 0, ca = 0, cb = 0;
    bool next = false;
    /* each sees the arc up to its tangent; they have none in common where the body is between */
    double ta = radius / ra, tb = radius / rb;
    if (lx * hx + ly * hy <= ta * tb - sqrt((1 - ta * ta) * (1 - tb * tb)))
        return false;

    for (int i = 0; i < 80; i++) {
        if (!next) {
            /* first as a flat mirror would have it */
            double share = i ? 0.5 : (ra - radius) / (ra - radius + (rb - radius));
            x = lx + share * (hx - lx);
            y = ly + share * (hy - ly);
            if (x * x + y * y < 1e-12) { /* opposite each other */
                x = -side * ly;
                y = side * lx;
            }
        }
        double norm = 1 / sqrt(x * x + y * y);
        x *= norm;
        y *= norm;
        /* sine and cosine of the angles of incidence, times the distances */
        double sa = side * (ax * y - ay * x), sb = side * (x * by - y * bx);
        ca = ax * x + ay * y - radius;
        cb = bx * x + by * y - radius;
        double da2 = sa * sa + ca * ca, db2 = sb * sb + cb * cb;
        double scale = 1 / sqrt(da2 * db2);
        double sine = (sa * cb - ca * sb) * scale, cosine = (ca * cb + sa * sb) * scale;
        if (sine > 0) {
            hx = x;
            hy = y;
        } else {
            lx = x;
            ly = y;
        }
        double slope = 2 + radius * (ca / da2 + cb / db2);
        double step = -sine / slope;
        double tx = x - step * side * y, ty = y + step * side * x;
        bool last = cosine > 0 && fabs(step) < 1e-9; /* what is left is its square */
        next = last || (cosine > 0 && slope > 0 && i % 16 != 15 &&
                        side * (lx * ty - ly * tx) >= 0 && side * (tx * hy - ty * hx) >= 0);
        if (next) {
            x = tx;
            y = ty;
        }
        if (last)
            break;
    }
    double scale = 1 / sqrt(x * x + y * y);
    *nx = x * scale;
    *ny = y * scale;
    return ca > 0 && cb > 0;
}

enum { EC_PATH_SECTORS = 96 };

/* How the length grows as the point of the circle moves counter-clockwise, a and b being inside. */
EC_FN double ec_path_circle_slope(double ax, double ay, double bx, double by, double radius,
                                  double x, double y)
{
    double pa = ax * y - ay * x, pb = bx * y - by * x;
    double qa = radius - (ax * x + ay * y), qb = radius - (bx * x + by * y);
    return pa / sqrt(pa * pa + qa * qa) + pb / sqrt(pb * pb + qb * qb);
}

/* The branch-th (from 0) specular point of the circle's inside, counted counter-clockwise from the
 * direction of a: up to four. They are where the slope changes sign between 96 places; two closer
 * than that escape. False where there are fewer. */
EC_FN bool ec_path_circle_inside(double ax, double ay, double bx, double by, double radius,
                                 int32_t branch, double *nx, double *ny)
{
    const double c = 0.99785892323860350673806979127, s = 0.06540312923014306681531555877;
    double ra = sqrt(ax * ax + ay * ay);
    /* half a sector off, so that no root of a symmetric case lies on a border */
    double x = ra > 0 ? ax / ra : 1, y = ra > 0 ? ay / ra : 0;
    double hx = x * 0.9994645874763656718 - y * -0.0327190828217761420;
    double hy = y * 0.9994645874763656718 + x * -0.0327190828217761420;
    double before = ec_path_circle_slope(ax, ay, bx, by, radius, hx, hy);
    int32_t found = 0;

    for (int i = 0; i < EC_PATH_SECTORS; i++) {
        double tx = hx * c - hy * s, ty = hy * c + hx * s;
        double after = ec_path_circle_slope(ax, ay, bx, by, radius, tx, ty);
        if ((before < 0) != (after < 0) && found++ == branch) {
            bool low = before < 0;
            for (int k = 0; k < 56; k++) {
                double mx = hx + tx, my = hy + ty;
                double norm = 1 / sqrt(mx * mx + my * my);
                mx *= norm;
                my *= norm;
                bool same = (ec_path_circle_slope(ax, ay, bx, by, radius, mx, my) < 0) == low;
                hx = same ? mx : hx;
                hy = same ? my : hy;
                tx = same ? tx : mx;
                ty = same ? ty : my;
            }
            *nx = hx;
            *ny = hy;
            return true;
        }
        hx = tx;
        hy = ty;
        before = after;
    }
    return false;
}

/* Specular point of a circle in the plane of unit vectors u, v about center, a and b being given by
 * their parts in the plane. branch < 0: on the outside. */
EC_FN bool ec_path_circle(double ax, double ay, double bx, double by, double radius, int32_t branch,
                          double *nx, double *ny)
{
    if (branch < 0)
        return ec_path_circle_outside(ax, ay, bx, by, radius, nx, ny);
    if (!(ax * ax + ay * ay < radius * radius) || !(bx * bx + by * by < radius * radius))
        return false;
    return ec_path_circle_inside(ax, ay, bx, by, radius, branch, nx, ny);
}

/* Some unit vector across a unit vector. */
EC_FN void ec_path_across(const double unit[3], double u[3])
{
    double v[3];
    ec_scene_frame(unit, u, v);
}

/* Parts of a and b in the plane through center that is across axis (NULL: that holds a and b). */
EC_FN void ec_path_section(const double center[3], const double *axis, const double a[3],
                           const double b[3], double u[3], double v[3], double pa[2], double pb[2])
{
    double da[3], db[3];

    ec_path_sub(a, center, da);
    ec_path_sub(b, center, db);
    if (axis) {
        ec_path_along(da, -ec_path_dot(da, axis), axis, da);
        ec_path_along(db, -ec_path_dot(db, axis), axis, db);
    }
    double ra = ec_path_norm(da);
    for (int i = 0; i < 3; i++)
        u[i] = ra > 0 ? da[i] / ra : 0;
    if (!(ra > 0)) {
        if (axis)
            ec_path_across(axis, u);
        else
            u[0] = 1;
    }
    if (axis) {
        ec_path_cross(axis, u, v);
    } else {
        double w[3];
        ec_path_along(db, -ec_path_dot(db, u), u, w);
        double across = ec_path_norm(w);
        if (across > 1e-14 * ec_path_norm(db)) {
            for (int i = 0; i < 3; i++)
                v[i] = w[i] / across;
        } else {
            ec_path_across(u, v);
        }
    }
    pa[0] = ra;
    pa[1] = 0;
    pb[0] = ec_path_dot(db, u);
    pb[1] = ec_path_dot(db, v);
}

EC_FN bool ec_path_sphere_point(const ec_surface *s, const double a[3], const double b[3],
                                int32_t branch, double p[3])
{
    double u[3], v[3], pa[2], pb[2], nx, ny;

    ec_path_section(s->point, NULL, a, b, u, v, pa, pb);
    /* seen from opposite sides there is a circle of points inside, none outside */
    if (!ec_path_circle(pa[0], pa[1], pb[0], pb[1], s->radius, branch, &nx, &ny))
        return false;
    for (int i = 0; i < 3; i++)
        p[i] = s->point[i] + s->radius * (nx * u[i] + ny * v[i]);
    return true;
}

EC_FN bool ec_path_cylinder_point(const ec_surface *s, const double a[3], const double b[3],
                                  int32_t branch, double p[3])
{
    double u[3], v[3], pa[2], pb[2], nx, ny, da[3], db[3];

    ec_path_section(s->point, s->axis, a, b, u, v, pa, pb);
    if (!ec_path_circle(pa[0], pa[1], pb[0], pb[1], s->radius, branch, &nx, &ny))
        return false;
    /* The normal has no part along the axis, so a ray keeps its slope to it. */
    ec_path_sub(a, s->point, da);
    ec_path_sub(b, s->point, db);
    double za = ec_path_dot(da, s->axis), zb = ec_path_dot(db, s->axis);
    double x = s->radius * nx, y = s->radius * ny;
    double ra = sqrt((pa[0] - x) * (pa[0] - x) + (pa[1] - y) * (pa[1] - y));
    double rb = sqrt((pb[0] - x) * (pb[0] - x) + (pb[1] - y) * (pb[1] - y));
    if (!(ra + rb > 0))
        return false;
    double z = za + (zb - za) * (ra / (ra + rb));
    for (int i = 0; i < 3; i++)
        p[i] = s->point[i] + x * u[i] + y * v[i] + z * s->axis[i];
    return true;
}

/* The point of the cone's generator towards the unit radial r, and how the length grows as it turns
 * from u towards v. */
EC_FN double ec_path_cone_slope(const ec_surface *s, const double r[3], double side,
                                const double a[3], const double b[3], double p[3], bool *apex)
{
    double g[3], e[3], at, ua[3], ub[3];
    double c = ec_det_cospi(s->radius / EC_PI), sn = ec_det_sinpi(s->radius / EC_PI);

    for (int i = 0; i < 3; i++)
        g[i] = c * s->axis[i] + sn * r[i];
    ec_path_line_point(s->point, g, a, b, p, &at);
    *apex = !(at > 0); /* nearest to the other half of the double cone */
    if (*apex)
        ec_path_copy(s->point, p);
    ec_path_cross(s->axis, r, e);
    ec_path_unit(a, p, ua);
    ec_path_unit(b, p, ub);
    return side * (ec_path_dot(ua, e) + ec_path_dot(ub, e));
}

EC_FN bool ec_path_cone_point(const ec_surface *s, const double a[3], const double b[3],
                              double p[3], bool *apex)
{
    double u[3], v[3], pa[2], pb[2], r[3] = {0, 0, 0};

    ec_path_section(s->point, s->axis, a, b, u, v, pa, pb);
    double rb = sqrt(pb[0] * pb[0] + pb[1] * pb[1]);
    if (!(pa[0] > 0) || !(rb > 0))
        return false;
    double side = pb[1] < 0 ? -1.0 : 1.0;
    double lx = 1, ly = 0, hx = pb[0] / rb, hy = pb[1] / rb;

    for (int k = 0; k < 60; k++) {
        double x = lx + hx, y = ly + hy;
        if (x * x + y * y < 1e-12) {
            x = -side * ly;
            y = side * lx;
        }
        double norm = 1 / sqrt(x * x + y * y);
        x *= norm;
        y *= norm;
        for (int i = 0; i < 3; i++)
            r[i] = x * u[i] + y * v[i];
        if (ec_path_cone_slope(s, r, side, a, b, p, apex) > 0) {
            hx = x;
            hy = y;
        } else {
            lx = x;
            ly = y;
        }
    }
    return true;
}

/* Outward unit normal of an exact shape at a point of it (away from the axis or centre also where
 * its outside is within). */
EC_FN void ec_path_shape_normal(const ec_surface *s, const double p[3], double n[3])
{
    double d[3];

    ec_path_sub(p, s->point, d);
    if (s->kind != EC_SURFACE_SPHERE)
        ec_path_along(d, -ec_path_dot(d, s->axis), s->axis, d);
    double length = ec_path_norm(d);
    for (int i = 0; i < 3; i++)
        n[i] = length > 0 ? d[i] / length : 0;
    if (s->kind == EC_SURFACE_CONE) {
        double c = ec_det_cospi(s->radius / EC_PI), sn = ec_det_sinpi(s->radius / EC_PI);
        for (int i = 0; i < 3; i++)
            n[i] = c * n[i] - sn * s->axis[i];
    }
}

/* 1 between the ends of a wedge, 2 within the tolerance of one, 0 beyond. */
EC_FN int ec_path_wedge_side(const ec_wedge *w, const double p[3], double tolerance)
{
    double d[3], e[3];

    ec_path_sub(p, w->from, d);
    ec_path_sub(w->to, w->from, e);
    double at = ec_path_dot(d, w->tangent), length = ec_path_dot(e, w->tangent);
    if (at < -tolerance || at > length + tolerance)
        return 0;
    return at > tolerance && at < length - tolerance ? 1 : 2;
}

/* Whether an exact shape reaches to p, a point of the unlimited one. */
EC_FN bool ec_path_shape_holds(const ec_surface *s, const double p[3], double tolerance)
{
    double d[3];

    if (s->kind == EC_SURFACE_SPHERE || s->kind == EC_SURFACE_MESH)
        return true;
    ec_path_sub(p, s->point, d);
    double z = ec_path_dot(d, s->axis);
    if (s->kind == EC_SURFACE_CYLINDER)
        return fabs(z) <= s->half_height + tolerance;
    return z > tolerance && z <= s->half_height + tolerance;
}

/* The point of a node between a and b. lit: it is there, and a and b see it; otherwise p is a
 * place between them that an iteration may go on from. branch: which of several specular points
 * of a hollow shape or an interpolated surface, -1 for the outside of a shape. */
EC_FN bool ec_path_node_point(const ec_scene *scene, uint32_t step, const double a[3],
                              const double b[3], int32_t branch, ec_path_place *place, double p[3])
{
    double at, n[3], da[3], db[3];
    bool there = false, apex = false;

    if (ec_path_kind(step) == EC_PATH_DIFFRACTION) {
        const ec_wedge *w = &scene->wedge[ec_path_index(step)];
        return ec_path_line_point(w->from, w->tangent, a, b, p, &at);
    }
    const ec_surface *s = &scene->surface[ec_path_index(step)];
    if (s->kind == EC_SURFACE_MESH)
        return branch >= 0 && ec_path_mesh_point(scene, s, a, b, branch, place, p);
    if (s->kind == EC_SURFACE_SPHERE)
        there = ec_path_sphere_point(s, a, b, branch, p);
    else if (s->kind == EC_SURFACE_CYLINDER)
        there = ec_path_cylinder_point(s, a, b, branch, p);
    else if (s->kind == EC_SURFACE_CONE && branch < 0)
        there = ec_path_cone_point(s, a, b, p, &apex);
    if (there) {
        ec_path_shape_normal(s, p, n);
        ec_path_sub(a, p, da);
        ec_path_sub(b, p, db);
        double side = branch < 0 ? 1.0 : -1.0;
        there = side * ec_path_dot(n, da) > 0 && side * ec_path_dot(n, db) > 0;
    }
    if (!there && !apex)
        for (int i = 0; i < 3; i++)
            p[i] = 0.5 * (a[i] + b[i]);
    return there && !apex;
}

/* Tangents of a node at its point, and the second derivatives of the point along them; how many. */
typedef struct ec_path_frame {
    int32_t n;
    double tangent[2][3];
    double second[3][3]; /* 00, 01, 11 */
} ec_path_frame;

EC_FN void ec_path_node_frame(const ec_scene *scene, uint32_t step, const double p[3],
                              ec_path_frame *f)
{
    double n[3], d[3];

    for (int i = 0; i < 9; i++)
        f->second[i / 3][i % 3] = 0;
    if (ec_path_kind(step) == EC_PATH_DIFFRACTION) {
        const ec_wedge *w = &scene->wedge[ec_path_index(step)];
        f->n = 1;
        for (int i = 0; i < 3; i++)
            f->tangent[0][i] = w->tangent[i];
        return;
    }
    const ec_surface *s = &scene->surface[ec_path_index(step)];
    f->n = 2;
    ec_path_shape_normal(s, p, n);
    if (s->kind == EC_SURFACE_SPHERE) {
        ec_scene_frame(n, f->tangent[0], f->tangent[1]);
        for (int i = 0; i < 3; i++)
            f->second[0][i] = f->second[2][i] = -n[i] / s->radius;
        return;
    }
    ec_path_sub(p, s->point, d);
    double z = ec_path_dot(d, s->axis), r[3];
    ec_path_along(d, -z, s->axis, r);
    double radius = ec_path_norm(r);
    for (int i = 0; i < 3; i++)
        r[i] = radius > 0 ? r[i] / radius : 0;
    ec_path_cross(s->axis, r, f->tangent[0]);
    double c = 1, sn = 0;
    if (s->kind == EC_SURFACE_CONE) {
        c = ec_det_cospi(s->radius / EC_PI);
        sn = ec_det_sinpi(s->radius / EC_PI);
    }
    for (int i = 0; i < 3; i++) {
        f->tangent[1][i] = c * s->axis[i] + sn * r[i];
        f->second[0][i] = radius > 0 ? -r[i] / radius : 0;
        f->second[1][i] = radius > 0 ? sn / radius * f->tangent[0][i] : 0;
    }
}

/* Moves p by t0 and t1 along the tangents of its frame, on the edge or shape. */
EC_FN void ec_path_node_move(const ec_scene *scene, uint32_t step, const ec_path_frame *f,
                             double t0, double t1, double p[3])
{
    double q[3], d[3], r[3];

    ec_path_along(p, t0, f->tangent[0], q);
    if (ec_path_kind(step) == EC_PATH_DIFFRACTION) {
        ec_path_copy(q, p);
        return;
    }
    const ec_surface *s = &scene->surface[ec_path_index(step)];
    if (s->kind == EC_SURFACE_SPHERE) {
        ec_path_along(q, t1, f->tangent[1], q);
        ec_path_unit(s->point, q, d);
        ec_path_along(s->point, s->radius, d, p);
        return;
    }
    ec_path_sub(q, s->point, d);
    double z = ec_path_dot(d, s->axis);
    ec_path_along(d, -z, s->axis, r);
    double length = ec_path_norm(r), radius = s->radius;
    if (s->kind == EC_SURFACE_CONE) {
        double c = ec_det_cospi(s->radius / EC_PI), sn = ec_det_sinpi(s->radius / EC_PI);
        z += c * t1;
        radius = z * sn / c;
    } else {
        z += t1;
    }
    for (int i = 0; i < 3; i++)
        p[i] = s->point[i] + z * s->axis[i] + (length > 0 ? radius * (r[i] / length) : 0);
}

#endif
