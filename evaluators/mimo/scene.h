/* scene.h: what waves meet: a triangle mesh taken apart into flat facets, the wedges between them,
 * and curved surfaces. Lengths in metres, f64. A scene is built once (scene_build.h) and then only
 * read.
 *
 * Invariants
 * - Every triangle is counter-clockwise seen from outside and belongs to one part: one facet, or
 *   one surface. No triangle is degenerate, no two have the same three corners.
 * - A facet is a maximal connected set of coplanar triangles of one material and object; the same
 *   body has the same facets and wedges with any number of triangles.
 * - The sides of facets that are outside: one of a solid's facet, the one that its normal points
 *   to; both of a thin one's. A closed shell whose normals point inwards is a room: its outside is
 *   within.
 * - A wedge is a maximal straight piece of an edge with the same faces on both sides. Edges
 *   between triangles of one part, between coplanar facets, and edges that lie on another facet
 *   (a box that stands on the floor) are none. Neither are edges of curved surfaces, nor a facet's
 *   free outline where it is a polyline for a curve: they do not diffract, and the report counts
 *   them.
 * - A vertex is used by at most one surface (the mesh is split along creases between surfaces), so
 *   that its normal is that surface's; neighbours in space may have equal positions. */
#ifndef EC_SCENE_H
#define EC_SCENE_H

#include "material.h"

/* A maximal set of connected coplanar triangles of one material. */
typedef struct ec_facet {
    double normal[3], offset; /* unit, outward; normal . x = offset */
    int32_t first, count;     /* its triangles: scene->facet_triangle[first ..] */
    /* Its outline for "inside" tests in the plane: scene->facet_edge[first_edge ..], vertex pairs,
     * the facet to their left seen from outside (holes included); straight runs are one edge. */
    int32_t first_edge, n_edges;
    int32_t material, object;
    bool thin; /* a sheet: both sides are outside (free edges, or a material with a thickness) */
} ec_facet;

/* A straight edge that diffracts: two facets, or one (half plane).
 *
 * The angle of a direction d (its part across the edge) is
 * phi = atan2(d . face_normal[0], d . into[0]), from 0 on face 0 through the outside to n pi on
 * face 1, so into[1] = cos(n pi) into[0] + sin(n pi) face_normal[0] and
 * face_normal[1] = sin(n pi) into[0] - cos(n pi) face_normal[0].
 * (face_normal[0], into[0], tangent) is right-handed: tangent = face_normal[0] x into[0]; phi
 * turns about -tangent. face_normal[i] is facet i's normal, or minus it on the back of a thin one.
 * Facets that are thin on both sides of an edge give two wedges, n and 2 - n. */
typedef struct ec_wedge {
    double from[3], to[3];
    double tangent[3]; /* unit, from -> to */
    /* Exterior angle = n pi: 2 half plane, 1.5 outer box edge; inner corners (n < 1) are kept too,
     * and diffract only where asked. */
    double n;
    /* Face 0 ("lit face", phi = 0; of two, the lower index) and face 1 (phi = n pi); the second is
     * -1 for a free edge, whose face 1 is the back of face 0. */
    int32_t facet[2];
    double face_normal[2][3]; /* unit, towards the outside between the two faces */
    double into[2][3];        /* unit, in the face, across the edge, from it into the face */
    int32_t material[2];      /* of the two faces; twice the same for a free edge */
    int32_t object;           /* of face 0 */
} ec_wedge;

enum { EC_SURFACE_CYLINDER, EC_SURFACE_SPHERE, EC_SURFACE_CONE, EC_SURFACE_MESH };

/* A curved surface: a whole exact shape (full turns, nothing cut out), or a smooth group of
 * triangles (MESH: vertex_normal and vertex_curvature of its vertices are used; they are there for
 * every kind, those of exact shapes exact). */
typedef struct ec_surface {
    int32_t kind;
    /* cylinder: the middle of its axis, unit axis; sphere: centre; cone: apex, unit axis from it
     * into the cone */
    double point[3], axis[3];
    /* cylinder; sphere: radius; cone: half angle (rad) in radius, length along the axis, apex to
     * base, in half_height */
    double radius, half_height;
    bool inward;          /* its normals point towards the axis or centre (a tunnel, a dome) */
    bool thin;            /* a sheet: both sides are outside */
    int32_t first, count; /* its triangles: scene->surface_triangle[first ..] */
    int32_t material, object;
} ec_surface;

/* What building a scene met and did (counts). */
typedef struct ec_scene_report {
    int64_t triangles_read, vertices_read;
    int64_t welded;                /* vertices that were merged with another */
    int64_t degenerate;            /* triangles without an area, dropped */
    int64_t duplicate;             /* triangles with the same corners as another, dropped */
    int64_t split;                 /* triangles cut at vertices that lay on their edges */
    int64_t flipped;               /* triangles turned round to agree with their neighbours */
    int64_t non_manifold;          /* edges of more than two triangles */
    int64_t solids, rooms, sheets; /* shells: closed, closed with the outside within, open */
    int64_t enclosing;             /* rooms whose walls are no slabs: nothing is outside of them */
    int64_t curved_edges;          /* rims: connected lines of edges of curved surfaces */
    int64_t curved_outlines;       /* free outlines that are polylines for a curve */
    int64_t resting;               /* wedges left out because they lie on another facet */
    double weld_tolerance;         /* m */
} ec_scene_report;

/* Of EC_SCENE_BOUND triangles in the order of surface_triangle: all points of their interpolated
 * surface are in the sphere, all normals within `spread` (a chord) of the axis. */
typedef struct ec_scene_bound {
    double centre[3], radius; /* m */
    double axis[3], spread;
} ec_scene_bound;

enum { EC_SCENE_BOUND = 16 };

typedef struct ec_scene {
    int32_t n_vertices;
    double (*vertex)[3];
    double (*vertex_normal)[3];    /* of curved surfaces, unit, outward; 0 elsewhere */
    double (*vertex_curvature)[3]; /* of curved surfaces, 1/m: the second fundamental form in the
                                      frame (u, v) that ec_scene_frame gives for vertex_normal, as
                                      {uu, uv, vv}; dn = form dx, so 1/a on a sphere of radius a
                                      whose outside is outside: positive is convex; 0 elsewhere */
    int32_t n_triangles;
    int32_t (*triangle)[3]; /* counter-clockwise seen from outside */
    int32_t *part;          /* per triangle: facet index f >= 0, or ~surface index (negative) */
    int32_t n_facets, n_wedges, n_surfaces, n_materials, n_objects;
    ec_facet *facet;
    int32_t *facet_triangle;
    int32_t (*facet_edge)[2];
    ec_wedge *wedge;
    ec_surface *surface;
    int32_t *surface_triangle;
    ec_scene_bound *bound; /* NULL: none; a plan of paths makes them for its own copy */
    ec_material *material;
    char **object;          /* names */
    double low[3], high[3]; /* the box around it all */
    ec_scene_report report;
} ec_scene;

/* Two unit vectors across a unit normal, right-handed (u x v = normal), the same for the same
 * normal everywhere: Duff et al., "Building an orthonormal basis, revisited", JCGT 6(1), 2017. */
EC_FN void ec_scene_frame(const double normal[3], double u[3], double v[3])
{
    double sign = normal[2] >= 0 ? 1.0 : -1.0;
    double a = -1.0 / (sign + normal[2]);
    double b = normal[0] * normal[1] * a;
    u[0] = 1 + sign * normal[0] * normal[0] * a;
    u[1] = sign * b;
    u[2] = -sign * normal[0];
    v[0] = b;
    v[1] = sign + normal[1] * normal[1] * a;
    v[2] = -normal[1];
}

EC_C_BEGIN

/* Frees *scene and clears it. NULL is fine. */
EC_API void ec_scene_destroy(ec_scene **scene);

EC_C_END

#endif
