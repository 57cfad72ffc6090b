/* bench_scenes.h: meshes and rays to time ray tracing with, made by formula; the same for
 * eciton_bench and for the timings paired with other libraries. Memory is the caller's, by
 * bench_mesh_free and bench_rays_free; a program that has none left ends. */
#ifndef BENCH_SCENES_H
#define BENCH_SCENES_H

#include <stddef.h>
#include <stdint.h>

typedef struct bench_mesh {
    int32_t n_vertices, n_triangles;
    double (*vertex)[3];
    int32_t (*triangle)[3]; /* counter-clockwise seen from where antennas are */
    int32_t vertex_room, triangle_room;
} bench_mesh;

/* Cylinder of radius 10 and height 15, plate 50 x 15 at x = 30: 95,420 triangles. */
void bench_mesh_cylinder_plate(bench_mesh *mesh);
/* A closed room of 12 x 9 x 3 with tables, chairs, lamps and plants: about 118,000 triangles. */
void bench_mesh_room(bench_mesh *mesh);
/* A ball of n x n x 2 triangles seen from inside: for large meshes. */
void bench_mesh_ball(bench_mesh *mesh, int32_t n);
void bench_mesh_free(bench_mesh *mesh);

typedef struct bench_rays {
    size_t n;
    double *origin[3], *direction[3];
} bench_rays;

/* Bounce rays: points spread evenly over the surface, 1e-4 off it, directions in cosine
 * distribution about the normal, one independent of another. */
void bench_rays_bounce(bench_rays *rays, const bench_mesh *mesh, size_t n);
void bench_rays_free(bench_rays *rays);

#endif
