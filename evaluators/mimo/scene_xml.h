/* scene_xml.h: scenes in the subset of Mitsuba's XML that radio tools exchange: shapes that are PLY
 * or OBJ files with transforms, and their materials by the ids of their bsdf, which are names of
 * ITU-R P.2040 classes or radio materials with figures. Lights, sensors and integrators are passed
 * over; a shape of another type is an error. */
#ifndef EC_SCENE_XML_H
#define EC_SCENE_XML_H

#include "../../core/mesh.h"
#include "material.h"

typedef struct ec_scene_xml {
    ec_mesh_list meshes;   /* names: the shapes' ids; materials: the bsdf's id without "mat-" */
    ec_material *material; /* those that the file has figures of (types radio-material and
                              itu-radio-material), by the same names */
    int32_t n_materials, capacity;
} ec_scene_xml;

EC_C_BEGIN

/* Reads a scene into *scene, which is {0} or holds another one's meshes; info->y_up is for the whole
 * scene. Files that it names are looked for beside it. EC_ERR_FILE, EC_ERR_FORMAT (with the line),
 * EC_ERR_MEMORY; *scene then holds what was read so far. */
EC_API int ec_scene_xml_read(const char *path, const ec_mesh_import_info *info,
                             ec_scene_xml *scene);
EC_API void ec_scene_xml_clear(ec_scene_xml *scene);

EC_C_END
#endif
