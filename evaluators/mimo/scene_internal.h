/* scene_internal.h: what the steps of building a scene share. Each step reads what earlier ones
 * left in ec_scene_work and adds its own; scene_build.c calls them in order and frees it all. All
 * orders are by index, so the same input gives the same scene. */
#ifndef EC_SCENE_INTERNAL_H
#define EC_SCENE_INTERNAL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/status.h"
#include "scene_build.h"

/* Triangles of one object with the same properties. */
typedef struct ec_scene_patch {
    int32_t object, material;
    int32_t shape;   /* index of an exact shape, or -1 */
    bool half_space; /* solid behind although its mesh is open; its outline does not diffract */
} ec_scene_patch;

struct ec_scene_builder {
    int64_t n_vertices, vertex_capacity, n_triangles, triangle_capacity;
    double (*vertex)[3];
    int32_t (*triangle)[3];
    int32_t *patch_of; /* per triangle */
    int32_t n_patches, patch_capacity, n_shapes, shape_capacity;
    int32_t n_materials, material_capacity, n_objects, object_capacity;
    ec_scene_patch *patch;
    ec_surface *shape; /* exact shapes: kind and geometry */
    ec_material *material;
    char **object;
};

typedef struct ec_scene_work {
    const ec_scene_builder *in;
    ec_scene_options options;
    double tolerance; /* of positions, m */
    double rounding;  /* what f32 coordinates of the scene are uncertain by, m */
    ec_scene_report report;

    int32_t n_vertices, n_triangles;
    double (*vertex)[3];
    int32_t (*triangle)[3];
    int32_t *patch; /* per triangle */

    /* Half edge 3 t + k runs from corner k of triangle t to the next one. Edges: vertex pairs, low
     * index first; their half edges are use[first[e] .. first[e + 1]). */
    int32_t n_edges;
    int32_t (*edge)[2];
    int32_t *first, *use;
    int32_t *edge_of; /* per half edge */
    int32_t *mate;    /* per half edge: that of the shell's triangle across it, or -1 */
    uint8_t *open;    /* per triangle: its shell has free edges */

    int32_t *part; /* per triangle, as in ec_scene */
    int32_t n_facets, n_surfaces;
    ec_facet *facet;
    ec_surface *surface;
    int32_t *facet_triangle, *surface_triangle;
    int32_t n_facet_edges, facet_edge_capacity;
    int32_t (*facet_edge)[2];

    int32_t n_wedges, wedge_capacity;
    ec_wedge *wedge;

    double (*normal)[3], (*curvature)[3]; /* per vertex */
} ec_scene_work;

/* The steps. Each returns a status. */
int ec_scene_weld(ec_scene_work *w);     /* vertices, degenerate and double triangles */
int ec_scene_stitch(ec_scene_work *w);   /* vertices on others' edges; then the edges are there */
int ec_scene_orient(ec_scene_work *w);   /* turned triangles; then mates and shells are there */
int ec_scene_parts(ec_scene_work *w);    /* facets and surfaces */
int ec_scene_outlines(ec_scene_work *w); /* of facets */
int ec_scene_wedges(ec_scene_work *w);
int ec_scene_surfaces(ec_scene_work *w); /* vertices of their own, normals, curvature, shapes */

/* Builds edge, first, use, edge_of from the triangles. */
int ec_scene_edges(ec_scene_work *w);
/* A triangle's normal, not normalised: its length is twice the area. */
void ec_scene_cross(const ec_scene_work *w, int32_t triangle, double normal[3]);

/* scene_fit.c: whether the surface is a whole sphere, cylinder or cone to within the tolerance; the
 * edges are those of its triangles. Sets kind and geometry, else leaves it. */
void ec_scene_fit(const ec_scene_work *w, ec_surface *surface);
/* Whether the normals of an exact shape's triangles look towards its axis or centre. */
bool ec_scene_looks_inward(const ec_scene_work *w, const ec_surface *surface);

/* A mesh of which the triangles with a tag are an exact shape (NULL: none). */
int ec_scene_builder_tagged(ec_scene_builder *b, const char *name, int32_t material,
                            const ec_mesh *mesh, const int32_t *tag, const ec_surface *shape,
                            bool half_space);

/* In the plane across n: u horizontal (x for a horizontal plane), v = n x u. */
void ec_scene_horizontal(const double n[3], double u[3], double v[3]);

/* ---- small things ---------------------------------------------------------------------------- */

static inline int ec_scene_no_memory(const char *what, int64_t count)
{
    return ec_fail(EC_ERR_MEMORY, "no memory for %lld %s of the scene", (long long)count, what);
}

/* Never NULL but for lack of memory; zeroed. */
static inline void *ec_scene_zeroed(int64_t count, size_t size)
{
    return calloc((size_t)count + 1, size);
}

static inline double ec_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void ec_cross3(const double a[3], const double b[3], double to[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
           z = a[0] * b[1] - a[1] * b[0];
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

static inline void ec_sub3(const double a[3], const double b[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = a[i] - b[i];
}

static inline double ec_length3(const double a[3])
{
    return sqrt(ec_dot3(a, a));
}

/* a / |a|; false and unchanged when it has no length. */
static inline bool ec_normalize3(double a[3])
{
    double length = ec_length3(a);
    if (!(length > 0))
        return false;
    for (int i = 0; i < 3; i++)
        a[i] /= length;
    return true;
}

/* Distance of p from the segment a b. */
static inline double ec_segment_distance(const double p[3], const double a[3], const double b[3])
{
    double ab[3], ap[3];
    ec_sub3(b, a, ab);
    ec_sub3(p, a, ap);
    double length2 = ec_dot3(ab, ab);
    double s = length2 > 0 ? ec_dot3(ap, ab) / length2 : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    for (int i = 0; i < 3; i++)
        ap[i] -= s * ab[i];
    return ec_length3(ap);
}

/* ---- scene_points.c: points found by box ------------------------------------------------------ */

/* A k-d tree over points that its maker keeps: point i of the tree is position[index[i]]. */
typedef struct ec_scene_points {
    int32_t n;
    int32_t *index;
    const double (*position)[3];
} ec_scene_points;

/* Takes index over (malloc'd, n indices into position) and orders it. */
void ec_scene_points_build(ec_scene_points *points, const double (*position)[3], int32_t *index,
                           int32_t n);
void ec_scene_points_free(ec_scene_points *points);
/* Calls found for each point in the closed box. */
void ec_scene_points_in_box(const ec_scene_points *points, const double low[3],
                            const double high[3], void (*found)(void *user, int32_t index),
                            void *user);

/* ---- scene_chain.c: lines of edges -------------------------------------------------------------- */

/* Vertices of a line one after the other; a closed one does not repeat its first. */
typedef struct ec_scene_chain {
    const int32_t *vertex;
    int32_t n;
    bool closed;
} ec_scene_chain;

/* Memory for lines, reused. */
typedef struct ec_scene_chains {
    int32_t n_vertices;
    int32_t *out, *in; /* per vertex of the scene: an edge that leaves and one that enters it, or
                                 -1; -2: several */
    int32_t *vertex, *stack; /* of the line at hand */
    uint8_t *keep, *taken;   /* per vertex of the line; per edge */
    int32_t capacity;
} ec_scene_chains;

int ec_scene_chains_create(ec_scene_chains *chains, int32_t n_vertices);
void ec_scene_chains_free(ec_scene_chains *chains);
/* Joins m directed edges to lines that go straight through vertices which one edge enters and one
 * leaves, drops the vertices on straight runs (within tolerance), and gives what is left of each to
 * `line`, in the order of the edges. */
int ec_scene_chains_run(ec_scene_chains *chains, const double (*position)[3],
                        const int32_t (*edge)[2], int32_t m, double tolerance,
                        int (*line)(void *user, const ec_scene_chain *chain), void *user);

#endif
