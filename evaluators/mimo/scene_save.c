/* A scene as a file for a viewer: PLY (Turk 1994), or VTK's legacy format, version 3.0; both as
 * text. */
#include "scene_save_internal.h"

#include "../../core/output_file.h"
#include "scene_build.h"

#include <string.h>

/* Material, object and part of a triangle; parts count facets first, then surfaces. */
static void tags_of(const ec_scene *s, int32_t t, int32_t tag[3])
{
    int32_t part = s->part[t];
    tag[0] = part >= 0 ? s->facet[part].material : s->surface[~part].material;
    tag[1] = part >= 0 ? s->facet[part].object : s->surface[~part].object;
    tag[2] = part >= 0 ? part : s->n_facets + ~part;
}

static void write_names(const ec_scene *s, FILE *to, const char *start)
{
    for (int32_t i = 0; i < s->n_materials; i++)
        fprintf(to, "%smaterial %d %s\n", start, (int)i, s->material[i].name);
    for (int32_t i = 0; i < s->n_objects; i++) {
        fprintf(to, "%sobject %d ", start, (int)i);
        for (const char *c = s->object[i]; *c; c++)
            fputc((unsigned char)*c < ' ' ? ' ' : *c, to);
        fputc('\n', to);
    }
}

void ec_scene_ply_head(const ec_scene *s, size_t points, FILE *to)
{
    fprintf(to, "ply\nformat ascii 1.0\n");
    write_names(s, to, "comment ");
    fprintf(to,
            "element vertex %zu\nproperty double x\nproperty double y\nproperty double z\n"
            "element face %d\nproperty list uchar int vertex_indices\nproperty int material\n"
            "property int object\nproperty int part\n",
            (size_t)s->n_vertices + points, (int)s->n_triangles);
}

void ec_scene_ply_vertices(const ec_scene *s, FILE *to)
{
    for (int32_t v = 0; v < s->n_vertices; v++)
        fprintf(to, "%.9g %.9g %.9g\n", s->vertex[v][0], s->vertex[v][1], s->vertex[v][2]);
}

void ec_scene_ply_faces(const ec_scene *s, FILE *to)
{
    int32_t tag[3];
    for (int32_t t = 0; t < s->n_triangles; t++) {
        tags_of(s, t, tag);
        fprintf(to, "3 %d %d %d %d %d %d\n", (int)s->triangle[t][0], (int)s->triangle[t][1],
                (int)s->triangle[t][2], (int)tag[0], (int)tag[1], (int)tag[2]);
    }
}

static void write_ply(const ec_scene *s, FILE *to)
{
    ec_scene_ply_head(s, 0, to);
    fprintf(to, "end_header\n");
    ec_scene_ply_vertices(s, to);
    ec_scene_ply_faces(s, to);
}

static void write_vtk(const ec_scene *s, FILE *to)
{
    static const char *const names[3] = {"material", "object", "part"};
    int32_t tag[3];
    fprintf(to, "# vtk DataFile Version 3.0\nscene, lengths in m\nASCII\nDATASET POLYDATA\n");
    fprintf(to, "POINTS %d double\n", (int)s->n_vertices);
    for (int32_t v = 0; v < s->n_vertices; v++)
        fprintf(to, "%.9g %.9g %.9g\n", s->vertex[v][0], s->vertex[v][1], s->vertex[v][2]);
    fprintf(to, "POLYGONS %d %lld\n", (int)s->n_triangles, 4 * (long long)s->n_triangles);
    for (int32_t t = 0; t < s->n_triangles; t++)
        fprintf(to, "3 %d %d %d\n", (int)s->triangle[t][0], (int)s->triangle[t][1],
                (int)s->triangle[t][2]);
    fprintf(to, "CELL_DATA %d\n", (int)s->n_triangles);
    for (int i = 0; i < 3; i++) {
        fprintf(to, "SCALARS %s int 1\nLOOKUP_TABLE default\n", names[i]);
        for (int32_t t = 0; t < s->n_triangles; t++) {
            tags_of(s, t, tag);
            fprintf(to, "%d\n", (int)tag[i]);
        }
    }
}

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

int ec_scene_save(const ec_scene *scene, const char *path)
{
    ec_output_file file;
    bool ply = ends_in(path, ".ply");
    if (!ply && !ends_in(path, ".vtk"))
        return ec_fail(EC_ERR_ARGUMENT, "'%s': a scene is written as .ply or .vtk", path);
    int rc = ec_output_file_open(path, &file);
    if (rc != EC_OK)
        return rc;
    if (ply)
        write_ply(scene, file.stream);
    else
        write_vtk(scene, file.stream);
    return ec_output_file_close(&file);
}
