/* path_scenes.h: small scenes for tests of paths, taken apart by hand: polygons become facets,
 * their common and free edges wedges. */
#ifndef EC_TEST_PATH_SCENES_H
#define EC_TEST_PATH_SCENES_H

#include "scene.h"

#include "path_types.h"

#include <stdlib.h>
#include <string.h>

enum { T_VERTICES = 40000, T_TRIANGLES = 40000, T_FACETS = 400, T_WEDGES = 2000, T_SURFACES = 8 };

typedef struct test_scene {
    ec_scene s;
    double vertex[T_VERTICES][3];
    int32_t triangle[T_TRIANGLES][3], part[T_TRIANGLES], facet_triangle[T_TRIANGLES];
    int32_t facet_edge[4 * T_FACETS][2], surface_triangle[T_TRIANGLES];
    int32_t solid[T_FACETS], corners[T_FACETS], corner[T_FACETS][4]; /* the polygons */
    ec_facet facet[T_FACETS];
    ec_wedge wedge[T_WEDGES];
    ec_surface surface[T_SURFACES];
    ec_material material[2]; /* a conductor and a slab */
    int32_t split;           /* triangles along each side of a quadrilateral */
    int32_t n_solids, n_surface_triangles;
} test_scene;

static inline void scene_begin(test_scene *t, int32_t split)
{
    memset(t, 0, sizeof *t);
    t->split = split;
    t->s.vertex = t->vertex;
    t->s.triangle = t->triangle;
    t->s.part = t->part;
    t->s.facet_triangle = t->facet_triangle;
    t->s.facet_edge = t->facet_edge;
    t->s.surface_triangle = t->surface_triangle;
    t->s.facet = t->facet;
    t->s.wedge = t->wedge;
    t->s.surface = t->surface;
    t->s.material = t->material;
    t->s.n_materials = 2;
    t->material[1].kind = EC_MATERIAL_CONSTANT;
    t->material[1].eps_r = 3;
    t->material[1].thickness = 0.01;
}

static inline int32_t scene_vertex(test_scene *t, const double v[3])
{
    memcpy(t->vertex[t->s.n_vertices], v, sizeof t->vertex[0]);
    return t->s.n_vertices++;
}

static inline void scene_triangle(test_scene *t, int32_t a, int32_t b, int32_t c, int32_t part)
{
    int32_t k = t->s.n_triangles++;
    t->triangle[k][0] = a;
    t->triangle[k][1] = b;
    t->triangle[k][2] = c;
    t->part[k] = part;
}

/* A facet of n = 3 or 4 corners, counter-clockwise from outside. */
static inline int32_t scene_polygon(test_scene *t, int32_t n, const double (*corner)[3], bool thin,
                                    int32_t material, int32_t solid)
{
    int32_t index = t->s.n_facets++, split = n == 4 ? t->split : 1;
    ec_facet *f = &t->facet[index];
    double ab[3], ac[3];

    ec_path_sub(corner[1], corner[0], ab);
    ec_path_sub(corner[2], corner[0], ac);
    ec_path_cross(ab, ac, f->normal);
    double norm = ec_path_norm(f->normal);
    for (int d = 0; d < 3; d++)
        f->normal[d] /= norm;
    f->offset = ec_path_dot(f->normal, corner[0]);
    f->thin = thin;
    f->material = material;
    f->first = index ? f[-1].first + f[-1].count : 0;
    f->first_edge = index ? f[-1].first_edge + f[-1].n_edges : 0;
    f->n_edges = n;
    t->solid[index] = solid;
    t->corners[index] = n;
    for (int32_t i = 0; i < n; i++)
        t->corner[index][i] = scene_vertex(t, corner[i]);
    for (int32_t i = 0; i < n; i++) {
        t->facet_edge[f->first_edge + i][0] = t->corner[index][i];
        t->facet_edge[f->first_edge + i][1] = t->corner[index][(i + 1) % n];
    }
    int32_t before = t->s.n_triangles;
    if (split == 1) {
        for (int32_t i = 2; i < n; i++)
            scene_triangle(t, t->corner[index][0], t->corner[index][i - 1], t->corner[index][i],
                           index);
    } else {
        int32_t first = t->s.n_vertices;
        for (int32_t i = 0; i <= split; i++)
            for (int32_t j = 0; j <= split; j++) {
                double u = (double)i / split, v = (double)j / split, p[3];
                for (int d = 0; d < 3; d++)
                    p[d] = (1 - u) * ((1 - v) * corner[0][d] + v * corner[3][d]) +
                           u * ((1 - v) * corner[1][d] + v * corner[2][d]);
                scene_vertex(t, p);
            }
        for (int32_t i = 0; i < split; i++)
            for (int32_t j = 0; j < split; j++) {
                int32_t k = first + i * (split + 1) + j;
                scene_triangle(t, k, k + split + 1, k + split + 2, index);
                scene_triangle(t, k, k + split + 2, k + 1, index);
            }
    }
    f->count = t->s.n_triangles - before;
    for (int32_t i = 0; i < f->count; i++)
        t->facet_triangle[f->first + i] = before + i;
    return index;
}

/* A parallelepiped about a centre with half edges e[3] (right-handed); inward: a room. faces: bit i
 * for side i of -e0, +e0, -e1, ... */
static inline void scene_box(test_scene *t, const double centre[3], double e[3][3], bool inward,
                             int faces)
{
    int32_t solid = ++t->n_solids;

    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            double c[4][3];
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            if (!(faces >> (2 * axis + side) & 1))
                continue;
            for (int k = 0; k < 4; k++) {
                int turn = (side == 1) != inward ? k : 3 - k;
                double su = turn == 0 || turn == 3 ? -1 : 1, sv = turn < 2 ? -1 : 1;
                for (int d = 0; d < 3; d++)
                    c[k][d] =
                        centre[d] + (side ? 1 : -1) * e[axis][d] + su * e[u][d] + sv * e[v][d];
            }
            scene_polygon(t, 4, (const double(*)[3])c, false, 0, solid);
        }
}

static inline void scene_aligned_box(test_scene *t, double x0, double y0, double z0, double x1,
                                     double y1, double z1, bool inward, int faces)
{
    double centre[3] = {(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2};
    double e[3][3] = {{(x1 - x0) / 2, 0, 0}, {0, (y1 - y0) / 2, 0}, {0, 0, (z1 - z0) / 2}};
    scene_box(t, centre, e, inward, faces);
}

/* A thin parallelogram. */
static inline int32_t scene_plate(test_scene *t, const double centre[3], const double u[3],
                                  const double v[3], int32_t material)
{
    double c[4][3];

    for (int d = 0; d < 3; d++) {
        c[0][d] = centre[d] - u[d] - v[d];
        c[1][d] = centre[d] + u[d] - v[d];
        c[2][d] = centre[d] + u[d] + v[d];
        c[3][d] = centre[d] - u[d] + v[d];
    }
    return scene_polygon(t, 4, (const double(*)[3])c, true, material, ++t->n_solids);
}

/* An exact shape with triangles: a cylinder (without caps) or, axis NULL, a sphere. */
static inline void scene_round(test_scene *t, int32_t kind, const double point[3],
                               const double axis[3], double radius, double half_height,
                               int32_t sides, bool inward)
{
    int32_t index = t->s.n_surfaces++, rows = kind == EC_SURFACE_SPHERE ? sides / 2 : 1;
    ec_surface *c = &t->surface[index];
    double u[3], v[3];

    c->kind = kind;
    memcpy(c->point, point, sizeof c->point);
    memcpy(c->axis, axis, sizeof c->axis);
    c->radius = radius;
    c->half_height = half_height;
    c->inward = inward;
    c->first = t->n_surface_triangles;
    ec_scene_frame(axis, u, v);
    int32_t first = t->s.n_vertices, before = t->s.n_triangles;
    for (int32_t i = 0; i <= rows; i++)
        for (int32_t j = 0; j < sides; j++) {
            double phi = 2 * EC_PI * j / sides, share = (double)i / rows, r = radius, z, p[3];
            z = (2 * share - 1) * half_height;
            if (kind == EC_SURFACE_SPHERE) {
                r = radius * sin(EC_PI * share);
                z = -radius * cos(EC_PI * share);
            } else if (kind == EC_SURFACE_CONE) {
                z = share * half_height;
                r = z * tan(radius);
            }
            for (int d = 0; d < 3; d++)
                p[d] = point[d] + r * (cos(phi) * u[d] + sin(phi) * v[d]) + z * axis[d];
            scene_vertex(t, p);
        }
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < sides; j++) {
            int32_t a = first + i * sides + j, b = first + i * sides + (j + 1) % sides;
            if (kind == EC_SURFACE_CYLINDER || i > 0) {
                if (inward)
                    scene_triangle(t, b, a, b + sides, ~index);
                else
                    scene_triangle(t, a, b, b + sides, ~index);
            }
            if (kind != EC_SURFACE_SPHERE || i + 1 < rows) {
                if (inward)
                    scene_triangle(t, b + sides, a, a + sides, ~index);
                else
                    scene_triangle(t, a, b + sides, a + sides, ~index);
            }
        }
    c->count = t->s.n_triangles - before;
    for (int32_t i = 0; i < c->count; i++)
        t->surface_triangle[t->n_surface_triangles++] = before + i;
}

static inline void scene_into(const test_scene *t, int32_t f, const double from[3],
                              const double tangent[3], double into[3])
{
    double c[3] = {0, 0, 0}, d[3];

    for (int32_t i = 0; i < t->corners[f]; i++)
        ec_path_along(c, 1.0 / t->corners[f], t->vertex[t->corner[f][i]], c);
    ec_path_sub(c, from, d);
    ec_path_along(d, -ec_path_dot(d, tangent), tangent, d);
    for (int k = 0; k < 3; k++)
        into[k] = d[k] / ec_path_norm(d);
}

static inline void scene_add_wedge(test_scene *t, int32_t f, int32_t g, const double a[3],
                                   const double b[3])
{
    ec_wedge *w = &t->wedge[t->s.n_wedges++];
    double unit[3];

    ec_path_unit(a, b, unit);
    w->facet[0] = f;
    w->facet[1] = g;
    scene_into(t, f, a, unit, w->into[0]);
    memcpy(w->face_normal[0], t->facet[f].normal, sizeof unit);
    ec_path_cross(w->face_normal[0], w->into[0], w->tangent);
    bool same = ec_path_dot(unit, w->tangent) > 0;
    memcpy(w->from, same ? a : b, sizeof unit);
    memcpy(w->to, same ? b : a, sizeof unit);
    if (g < 0) {
        w->n = 2;
        for (int d = 0; d < 3; d++) {
            w->into[1][d] = w->into[0][d];
            w->face_normal[1][d] = -w->face_normal[0][d];
        }
        return;
    }
    scene_into(t, g, a, unit, w->into[1]);
    memcpy(w->face_normal[1], t->facet[g].normal, sizeof unit);
    double phi =
        atan2(ec_path_dot(w->into[1], w->face_normal[0]), ec_path_dot(w->into[1], w->into[0]));
    w->n = (phi < 0 ? phi + 2 * EC_PI : phi) / EC_PI;
}

/* Wedges and the box around it all. */
static inline void scene_end(test_scene *t)
{
    for (int32_t f = 0; f < t->s.n_facets; f++)
        for (int32_t i = 0; i < t->corners[f]; i++) {
            const double *a = t->vertex[t->corner[f][i]];
            const double *b = t->vertex[t->corner[f][(i + 1) % t->corners[f]]];
            if (t->facet[f].thin) {
                scene_add_wedge(t, f, -1, a, b);
                continue;
            }
            for (int32_t g = f + 1; g < t->s.n_facets; g++)
                for (int32_t j = 0; j < t->corners[g] && t->solid[f] == t->solid[g]; j++) {
                    const double *c = t->vertex[t->corner[g][j]];
                    const double *d = t->vertex[t->corner[g][(j + 1) % t->corners[g]]];
                    if (ec_path_distance(a, d) < 1e-9 && ec_path_distance(b, c) < 1e-9)
                        scene_add_wedge(t, f, g, a, b);
                }
        }
    for (int d = 0; d < 3; d++) {
        t->s.low[d] = INFINITY;
        t->s.high[d] = -INFINITY;
        for (int32_t i = 0; i < t->s.n_vertices; i++) {
            t->s.low[d] = fmin(t->s.low[d], t->vertex[i][d]);
            t->s.high[d] = fmax(t->s.high[d], t->vertex[i][d]);
        }
    }
}

#endif
