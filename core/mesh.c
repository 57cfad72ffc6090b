#include "mesh.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"

static char *copy_text(const char *text)
{
    size_t size = strlen(text ? text : "") + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, text ? text : "", size);
    return copy;
}

static void free_mesh(ec_mesh *mesh)
{
    free(mesh->name);
    free(mesh->material);
    free(mesh->vertex);
    free(mesh->triangle);
}

int ec_mesh_list_add(ec_mesh_list *list, const char *name, const char *material, int32_t n_vertices,
                     int32_t n_triangles, ec_mesh **mesh)
{
    if (list->count == list->capacity) {
        int32_t capacity = list->capacity ? 2 * list->capacity : 16;
        ec_mesh *larger = realloc(list->mesh, (size_t)capacity * sizeof *larger);
        if (!larger)
            return ec_fail(EC_ERR_MEMORY, "no memory for a list of %d meshes", (int)capacity);
        list->mesh = larger;
        list->capacity = capacity;
    }
    ec_mesh new = {.name = copy_text(name),
                   .material = copy_text(material),
                   .n_vertices = n_vertices,
                   .n_triangles = n_triangles,
                   /* never malloc(0), whose NULL would be no error */
                   .vertex = malloc(((size_t)n_vertices + 1) * sizeof *new.vertex),
                   .triangle = malloc(((size_t)n_triangles + 1) * sizeof *new.triangle)};
    if (!new.name || !new.material || !new.vertex || !new.triangle) {
        free_mesh(&new);
        return ec_fail(EC_ERR_MEMORY, "no memory for a mesh of %d vertices and %d triangles",
                       (int)n_vertices, (int)n_triangles);
    }
    list->mesh[list->count] = new;
    *mesh = &list->mesh[list->count++];
    return EC_OK;
}

void ec_mesh_list_cut(ec_mesh_list *list, int32_t count)
{
    while (list->count > count)
        free_mesh(&list->mesh[--list->count]);
}

void ec_mesh_list_clear(ec_mesh_list *list)
{
    ec_mesh_list_cut(list, 0);
    free(list->mesh);
    *list = (ec_mesh_list){0};
}

int64_t ec_mesh_list_triangles(const ec_mesh_list *list)
{
    int64_t count = 0;
    for (int32_t i = 0; i < list->count; i++)
        count += list->mesh[i].n_triangles;
    return count;
}

void ec_mesh_transform(ec_mesh *mesh, const double m[3][4])
{
    double det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                 m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                 m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);

    for (int32_t v = 0; v < mesh->n_vertices; v++) {
        double p[3];
        memcpy(p, mesh->vertex[v], sizeof p);
        for (int i = 0; i < 3; i++)
            mesh->vertex[v][i] = m[i][0] * p[0] + m[i][1] * p[1] + m[i][2] * p[2] + m[i][3];
    }
    for (int32_t t = 0; det < 0 && t < mesh->n_triangles; t++) {
        int32_t second = mesh->triangle[t][1];
        mesh->triangle[t][1] = mesh->triangle[t][2];
        mesh->triangle[t][2] = second;
    }
}
