/* Spheres, cylinders and cones recognised in smooth groups of triangles: a least-squares fit, then
 * every vertex has to lie on the shape to within the tolerance, and the shape has to be whole, for a
 * part of one is not what ec_surface describes. The axes come from the facets' normals: those of a
 * cylinder lie in a plane through the origin, those of a cone in one beside it. */
#include "scene_internal.h"

/* ---- small linear algebra ------------------------------------------------------------------------ */

/* Eigenvectors (columns of v) and values of a symmetric matrix, by cyclic Jacobi. */
static void eigen3(double a[3][3], double v[3][3], double value[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            v[i][j] = i == j;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0)
                    continue;
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) { /* columns, then rows */
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                    x = v[k][p];
                    y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
    for (int i = 0; i < 3; i++)
        value[i] = a[i][i];
}

/* Solves a symmetric positive system of n <= 4 by Cholesky; false when it is singular. */
static bool solve(int n, double a[4][4], double b[4])
{
    for (int j = 0; j < n; j++) {
        double whole = a[j][j];
        for (int k = 0; k < j; k++)
            a[j][j] -= a[j][k] * a[j][k];
        if (!(a[j][j] > 1e-13 * whole))
            return false;
        a[j][j] = sqrt(a[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
    return true;
}

/* ---- fits ----------------------------------------------------------------------------------------- */

/* What the fits look at: corners of the triangles (each as often as a triangle has it). */
typedef struct cloud {
    const ec_scene_work *w;
    const int32_t *triangle;
    int32_t n;
    double origin[3], scale; /* positions are taken about the middle, for accuracy */
} cloud;

static int32_t corner_of(const cloud *c, int64_t i)
{
    return c->w->triangle[c->triangle[i / 3]][i % 3];
}

/* Whether the edge from corner i on is the surface's border. */
static bool is_border(const cloud *c, int64_t i)
{
    const ec_scene_work *w = c->w;
    int32_t t = c->triangle[i / 3], e = w->edge_of[3 * t + (int32_t)(i % 3)];
    if (w->first[e + 1] - w->first[e] != 2)
        return true;
    return w->part[w->use[w->first[e]] / 3] != w->part[w->use[w->first[e] + 1] / 3];
}

static int32_t next_corner(const cloud *c, int64_t i)
{
    return corner_of(c, i - i % 3 + (i + 1) % 3);
}

static void local_position(const cloud *c, int32_t vertex, double p[3])
{
    ec_sub3(c->w->vertex[vertex], c->origin, p);
}

static void find_middle(cloud *c)
{
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++)
        for (int k = 0; k < 3; k++)
            c->origin[k] += c->w->vertex[corner_of(c, i)][k] / (3 * (double)c->n);
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++) {
        double p[3];
        local_position(c, corner_of(c, i), p);
        c->scale = fmax(c->scale, ec_length3(p));
    }
}

/* Normals that lie in one plane: its unit normal, and its distance from the origin. */
static void normal_plane(const cloud *c, double axis[3], double *distance)
{
    double mean[3] = {0}, total = 0, a[3][3] = {{0}}, v[3][3], value[3];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < c->n; i++) {
            double n[3];
            ec_scene_cross(c->w, c->triangle[i], n);
            double area = ec_length3(n);
            total += pass == 0 ? area : 0;
            for (int j = 0; j < 3; j++) {
                mean[j] += pass == 0 ? n[j] : 0;
                n[j] = n[j] / area - mean[j];
            }
            for (int j = 0; pass == 1 && j < 3; j++)
                for (int k = 0; k < 3; k++)
                    a[j][k] += area * n[j] * n[k];
            if (pass == 0 && i == c->n - 1)
                for (int j = 0; j < 3; j++)
                    mean[j] /= total;
        }
    eigen3(a, v, value);
    int least = value[0] < value[1] ? (value[0] < value[2] ? 0 : 2) : (value[1] < value[2] ? 1 : 2);
    for (int j = 0; j < 3; j++)
        axis[j] = v[j][least];
    *distance = ec_dot3(axis, mean);
}

/* Circle (n = 2, in the plane of u and v) or sphere (n = 3) about `centre` through the corners:
 * |p|^2 = 2 centre . p + k (Kasa 1976). */
static bool fit_round(const cloud *c, int n, const double base[3][3], double centre[3],
                      double *radius)
{
    double a[4][4] = {{0}}, b[4] = {0};
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++) {
        double p[3], x[4], square = 0;
        local_position(c, corner_of(c, i), p);
        for (int j = 0; j < n; j++) {
            x[j] = ec_dot3(p, base[j]) / c->scale;
            square += x[j] * x[j];
        }
        x[n] = 1;
        for (int j = 0; j <= n; j++) {
            for (int k = 0; k <= n; k++)
                a[j][k] += x[j] * x[k];
            b[j] += x[j] * square;
        }
    }
    if (!solve(n + 1, a, b))
        return false;
    double square = b[n];
    for (int j = 0; j < n; j++)
        square += b[j] * b[j] / 4;
    *radius = c->scale * sqrt(square);
    for (int k = 0; k < 3; k++) {
        centre[k] = c->origin[k];
        for (int j = 0; j < n; j++)
            centre[k] += c->scale * b[j] / 2 * base[j][k];
    }
    return isfinite(*radius);
}

static bool fit_sphere(const cloud *c, ec_surface *s)
{
    static const double base[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ec_surface f = *s;
    f.kind = EC_SURFACE_SPHERE;
    if (!fit_round(c, 3, base, f.point, &f.radius))
        return false;
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++) {
        double p[3];
        ec_sub3(c->w->vertex[corner_of(c, i)], f.point, p);
        if (is_border(c, i) || fabs(ec_length3(p) - f.radius) > c->w->tolerance)
            return false;
    }
    *s = f;
    return true;
}

static double radial_distance(const ec_surface *s, const double vertex[3], double *along)
{
    double p[3];
    ec_sub3(vertex, s->point, p);
    *along = ec_dot3(p, s->axis);
    for (int k = 0; k < 3; k++)
        p[k] -= *along * s->axis[k];
    return ec_length3(p);
}

/* Whether the edge from corner i on lies in the plane across the axis at `end`. */
static bool lies_at(const cloud *c, const ec_surface *s, int64_t i, double end)
{
    double from, to;
    radial_distance(s, c->w->vertex[corner_of(c, i)], &from);
    radial_distance(s, c->w->vertex[next_corner(c, i)], &to);
    return fabs(from - end) <= c->w->tolerance && fabs(to - end) <= c->w->tolerance;
}

static void fit_cylinder(const cloud *c, const double axis[3], ec_surface *s)
{
    ec_surface f = *s;
    double base[3][3], along, low = INFINITY, high = -INFINITY;
    f.kind = EC_SURFACE_CYLINDER;
    memcpy(f.axis, axis, sizeof f.axis);
    memcpy(base[2], axis, sizeof base[2]);
    ec_scene_frame(axis, base[0], base[1]);
    if (!fit_round(c, 2, base, f.point, &f.radius))
        return;
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++) {
        const double *p = c->w->vertex[corner_of(c, i)];
        if (fabs(radial_distance(&f, p, &along) - f.radius) > c->w->tolerance)
            return;
        low = fmin(low, along);
        high = fmax(high, along);
    }
    f.half_height = (high - low) / 2;
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++)
        if (is_border(c, i) && !lies_at(c, &f, i, low) && !lies_at(c, &f, i, high))
            return;
    for (int k = 0; k < 3; k++)
        f.point[k] += (high + low) / 2 * axis[k];
    *s = f;
}

/* The apex is where the planes of all triangles meet. */
static void fit_cone(const cloud *c, const double axis[3], ec_surface *s)
{
    ec_surface f = *s;
    double a[4][4] = {{0}}, b[4] = {0}, along, base_radius = 0;
    f.kind = EC_SURFACE_CONE;
    for (int32_t i = 0; i < c->n; i++) {
        double n[3], p[3];
        ec_scene_cross(c->w, c->triangle[i], n);
        double weight = ec_length3(n), distance;
        ec_normalize3(n);
        local_position(c, c->w->triangle[c->triangle[i]][0], p);
        distance = ec_dot3(n, p);
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++)
                a[j][k] += weight * n[j] * n[k];
            b[j] += weight * n[j] * distance;
        }
    }
    if (!solve(3, a, b))
        return;
    for (int k = 0; k < 3; k++)
        f.point[k] = c->origin[k] + b[k];
    double to_middle[3];
    ec_sub3(c->origin, f.point, to_middle);
    for (int k = 0; k < 3; k++)
        f.axis[k] = ec_dot3(to_middle, axis) < 0 ? -axis[k] : axis[k];
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++) {
        double radius = radial_distance(&f, c->w->vertex[corner_of(c, i)], &along);
        if (along > f.half_height) {
            f.half_height = along;
            base_radius = radius;
        }
    }
    f.radius = atan2(base_radius, f.half_height);
    bool pointed = false;
    for (int64_t i = 0; i < 3 * (int64_t)c->n; i++) {
        double radius = radial_distance(&f, c->w->vertex[corner_of(c, i)], &along);
        double off = fabs(radius * cos(f.radius) - along * sin(f.radius));
        if (off > c->w->tolerance || (is_border(c, i) && !lies_at(c, &f, i, f.half_height)))
            return;
        pointed = pointed || along < c->w->tolerance;
    }
    if (!pointed || !(f.half_height > 0))
        return;
    *s = f;
}

bool ec_scene_looks_inward(const ec_scene_work *w, const ec_surface *s)
{
    int32_t t = w->surface_triangle[s->first];
    double n[3], p[3], along = 0;
    ec_scene_cross(w, t, n);
    /* from the axis or the centre to a corner; on the axis (the apex of a cone) another one */
    for (int k = 0; k < 3; k++) {
        const double *q = w->vertex[w->triangle[t][k]];
        ec_sub3(q, s->point, p);
        if (s->kind == EC_SURFACE_SPHERE)
            break;
        if (radial_distance(s, q, &along) > w->tolerance) {
            for (int i = 0; i < 3; i++)
                p[i] -= along * s->axis[i];
            break;
        }
    }
    return ec_dot3(n, p) < 0;
}

void ec_scene_fit(const ec_scene_work *w, ec_surface *surface)
{
    cloud c = {.w = w, .triangle = w->surface_triangle + surface->first, .n = surface->count};
    double axis[3], distance;
    find_middle(&c);
    normal_plane(&c, axis, &distance);
    if (fit_sphere(&c, surface))
        return;
    if (fabs(distance) < 1e-3)
        fit_cylinder(&c, axis, surface);
    else
        fit_cone(&c, axis, surface);
}
