/* mesh.h: indexed triangle meshes, and their import from the files that CAD and 3D programs write
 * (OBJ, STL, glTF and what else Assimp reads; PLY). Lengths are in the file's unit times a factor;
 * positions are f64 (of files but PLY with the seven digits that Assimp keeps). A mesh is what a file
 * says: what is wrong with it (double vertices, holes, turned triangles) is for its user to see to.
 */
#ifndef EC_MESH_H
#define EC_MESH_H

#include <stdio.h>

#include "base.h"

typedef struct ec_mesh {
    char *name;     /* of the object, never NULL */
    char *material; /* as the file names it, "" if it does not */
    int32_t n_vertices, n_triangles;
    double (*vertex)[3];
    int32_t (*triangle)[3]; /* indices into vertex; counter-clockwise seen from outside */
} ec_mesh;

/* Meshes in the order of the file. {0} is an empty list. */
typedef struct ec_mesh_list {
    ec_mesh *mesh;
    int32_t count, capacity;
    int64_t left_out; /* points, lines and faces without an area that are no triangles */
} ec_mesh_list;

typedef struct ec_mesh_import_info {
    double unit; /* m of the file's unit, > 0 */
    bool y_up;   /* the file's y points up: (x, y, z) becomes (x, -z, y) */
    /* Asked before a file is opened: this one, and those that it names (materials, buffers). NULL:
     * every file may be read. */
    bool (*may_read)(void *user, const char *path);
    void *user;
} ec_mesh_import_info;

EC_C_BEGIN

/* unit 1, z up, every file. */
EC_API void ec_mesh_import_info_default(ec_mesh_import_info *info);

/* Adds a mesh with room for its vertices and triangles (uninitialised); its address holds until the
 * next one is added. The names are copied; NULL is "". EC_ERR_MEMORY leaves the list unchanged. */
EC_API int ec_mesh_list_add(ec_mesh_list *list, const char *name, const char *material,
                            int32_t n_vertices, int32_t n_triangles, ec_mesh **mesh);
/* Frees the meshes from the count-th on. */
EC_API void ec_mesh_list_cut(ec_mesh_list *list, int32_t count);
/* Frees what the list holds and empties it. */
EC_API void ec_mesh_list_clear(ec_mesh_list *list);
EC_API int64_t ec_mesh_list_triangles(const ec_mesh_list *list);

/* Positions p become m[i][0..2] . p + m[i][3]; a mapping that mirrors turns the triangles round, so
 * that their outside stays outside. */
EC_API void ec_mesh_transform(ec_mesh *mesh, const double m[3][4]);

/* Appends the meshes of a file, one for each object and material of it, placed as its scene graph
 * says; polygons are cut into triangles. EC_ERR_FILE: it cannot be read; EC_ERR_FORMAT: it is not
 * understood, holds no triangle, or a vertex that is no finite number; EC_ERR_ARGUMENT: the unit;
 * EC_ERR_MEMORY. The list is then unchanged. */
EC_API int ec_mesh_import(const char *path, const ec_mesh_import_info *info, ec_mesh_list *list);

EC_C_END
#endif
