/* scene_save_internal.h: the pieces of a scene as PLY (Turk 1994, as text), for files that hold more
 * than the scene: head, further elements and "end_header", vertices, further points, faces, the
 * further elements. */
#ifndef EC_SCENE_SAVE_INTERNAL_H
#define EC_SCENE_SAVE_INTERNAL_H

#include <stdio.h>

#include "scene.h"

/* Without "end_header"; points: behind the scene's vertices. */
void ec_scene_ply_head(const ec_scene *scene, size_t points, FILE *to);
void ec_scene_ply_vertices(const ec_scene *scene, FILE *to);
void ec_scene_ply_faces(const ec_scene *scene, FILE *to);

#endif
