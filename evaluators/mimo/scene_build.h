/* scene_build.h: how a scene comes about: materials, meshes and shapes are given to a builder, then
 * the whole is cleaned and taken apart (ec_scene_build): vertices closer than a tolerance become
 * one, triangles without an area and double ones go, triangles are cut where others' corners lie on
 * their edges and turned to agree with their neighbours, coplanar ones become facets, groups of many
 * small facets that bend by less than a crease become curved surfaces (spheres, cylinders and cones
 * are recognised), and what is left between facets are wedges.
 */
#ifndef EC_SCENE_BUILD_H
#define EC_SCENE_BUILD_H

#include "../../core/log.h"
#include "../../core/mesh.h"
#include "scene.h"

typedef struct ec_scene_builder ec_scene_builder;

typedef struct ec_scene_options {
    double weld_tolerance; /* m, >= 0; 0: 1e-6 of the diagonal of all */
    double crease_deg;     /* 0 to 90: facets that meet at less may be one curved surface */
    bool exact;            /* curved shapes are exact ones, also those recognised in meshes; false:
                              all curved surfaces are meshes with vertex normals */
} ec_scene_options;

typedef enum ec_shape_kind {
    EC_SHAPE_PLATE,    /* a sheet across axis */
    EC_SHAPE_BOX,      /* turned about z */
    EC_SHAPE_WEDGE,    /* a prism with one edge along axis and the body towards `towards` */
    EC_SHAPE_CYLINDER, /* about axis */
    EC_SHAPE_SPHERE,
    EC_SHAPE_CONE,   /* from its base to its apex along axis */
    EC_SHAPE_GROUND, /* a plate that faces up, solid below, whose outline does not diffract */
    EC_SHAPE_CANYON, /* two walls along x that face each other, solid behind, likewise */
} ec_shape_kind;

typedef struct ec_shape {
    ec_shape_kind kind;
    /* the centre; wedge: the middle of its edge; cone: the middle of its base; canyon: the middle of
     * its floor */
    double at[3];
    double axis[3];    /* any length but 0 */
    double towards[3]; /* wedge: across its axis from the edge into the body */
    /* plate, ground: along u and v, where u is horizontal (x for a horizontal one); box: along x, y,
     * z before it is turned; canyon: length, width, height */
    double size[3];
    double radius;     /* cylinder, sphere, cone */
    double length;     /* cylinder, cone: along the axis; wedge: of its edge */
    double width;      /* wedge: of its two faces */
    double angle_deg;  /* wedge: within the body, above 0 and below 180 */
    double rotate_deg; /* box */
    int32_t sides;     /* cylinder, sphere, cone: around, at least 3 */
    int32_t divisions; /* of flat faces along each side, of mantles along the axis; at least 1 */
    bool inward;       /* box, cylinder, sphere, cone: the outside is within (a room) */
    bool open;         /* cylinder, cone: without the flat ends */
} ec_shape;

EC_C_BEGIN

EC_API int ec_scene_builder_create(ec_scene_builder **builder);
EC_API void ec_scene_builder_destroy(ec_scene_builder **builder);

/* The index of a material; the same for the same one. */
EC_API int ec_scene_builder_material(ec_scene_builder *builder, const ec_material *material,
                                     int32_t *index);
/* Each call makes an object of its own, called name; names may occur again. The mesh is copied. */
EC_API int ec_scene_builder_mesh(ec_scene_builder *builder, const char *name, int32_t material,
                                 const ec_mesh *mesh);

/* At the origin along z, size 1, radius 0.5, length 1, 90 degrees, 72 sides, 1 division. */
EC_API void ec_shape_default(ec_shape_kind kind, ec_shape *shape);
/* EC_ERR_ARGUMENT names the figure that is out of its range. */
EC_API int ec_scene_builder_shape(ec_scene_builder *builder, const char *name, int32_t material,
                                  const ec_shape *shape);

/* Triangles given so far. */
EC_API int64_t ec_scene_builder_triangles(const ec_scene_builder *builder);

/* Crease 30 degrees, exact shapes, tolerance from the size. */
EC_API void ec_scene_options_default(ec_scene_options *options);
/* EC_ERR_ARGUMENT: options, or no triangle with an area; EC_ERR_MEMORY. The builder may be used
 * on, or destroyed. */
EC_API int ec_scene_build(const ec_scene_builder *builder, const ec_scene_options *options,
                          ec_scene **scene);

/* What the scene is made of and what was done to it, in some lines; returns the length as snprintf
 * does. */
EC_API size_t ec_scene_report_text(const ec_scene *scene, char *text, size_t size);
/* Warns of what is likely a fault of the model: edges of more than two triangles, turned triangles,
 * triangles cut or dropped. */
EC_API void ec_scene_report_warn(const ec_scene *scene, ec_log *log);

/* Writes the triangles with their object, material and part: path ends in .ply or .vtk (legacy,
 * ASCII). EC_ERR_ARGUMENT for another ending, EC_ERR_FILE. */
EC_API int ec_scene_save(const ec_scene *scene, const char *path);

/* ---- places on an object --------------------------------------------------------------------- */

typedef struct ec_scene_grid {
    double step;      /* m, > 0 */
    double clearance; /* m, >= 0: off the surface, along its normal */
    double inset;     /* m, >= 0: from the outline of its facets */
    double facing[3]; /* only facets that face within 60 degrees of it, thin ones by the side
                             that does; 0: all, thin ones by their front */
    int32_t n_boxes;  /* places inside one of these boxes are left out */
    const double (*box)[2][3];
} ec_scene_grid;

/* Places on a lattice in each facet of the objects called `object`, about the middle of the facet
 * and along its horizontal: *point is malloc'd, n of them. EC_ERR_ARGUMENT: no such object (the
 * sentence has those there are), a step that gives more than 1e6 places; EC_ERR_UNSUPPORTED: it has
 * no flat facet. No place left is no error. */
EC_API int ec_scene_grid_points(const ec_scene *scene, const char *object,
                                const ec_scene_grid *grid, double (**point)[3], int32_t *n);

EC_C_END
#endif
