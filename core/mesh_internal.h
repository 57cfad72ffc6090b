/* mesh_internal.h: the reader of PLY files (G. Turk, "The PLY polygon file format", 1994), text and binary
 * of both byte orders, with positions as exact as the file has them. Assimp 5.2 is not used for this
 * format: it never returns from a cut-off header, shifts binary data that begin with a line feed, and
 * needs several times the memory.
 */
#ifndef EC_MESH_INTERNAL_H
#define EC_MESH_INTERNAL_H

#include "mesh.h"

/* As ec_mesh_import, of a file that may be read. One mesh, called as the file without its ending. */
int ec_mesh_import_ply(const char *path, const ec_mesh_import_info *info, ec_mesh_list *list);

#endif
