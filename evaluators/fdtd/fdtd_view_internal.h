/* fdtd_view_internal.h: one design's grid with what lies in it, for files of it. */
#ifndef EC_FDTD_VIEW_INTERNAL_H
#define EC_FDTD_VIEW_INTERNAL_H

#include "fdtd_build_internal.h"
#include "fdtd_view.h"

EC_C_BEGIN

/* Of a node: bit c: the edge along c from it is a conductor; bit DRAWN + c: a face that is drawn has
 * it; SOLID: the cell above it is one. */
enum { EC_FDTD_VIEW_DRAWN = 3, EC_FDTD_VIEW_SOLID = 64 };

typedef struct ec_fdtd_view {
    const ec_fdtd_model *model;
    double *values; /* [n_numbers] */
    ec_fdtd_line_plan *lines;
    ec_fdtd_setup setup;
    ec_fdtd_build *build;
    ec_fdtd_structure structure;
    int32_t n[3];
    uint8_t *flag; /* [node] */
} ec_fdtd_view;

/* The model's numbers of a design: [n_numbers], malloc'ed. */
int ec_fdtd_winner_values(const ec_fdtd_winner *winner, double **values);
/* Both are to be released also after an error. Without the flags and the structure: the design's lines and
 * objects alone, which cost nothing for each cell. */
int ec_fdtd_view_outline(const ec_fdtd_winner *winner, ec_fdtd_view *view);
int ec_fdtd_view_create(const ec_fdtd_winner *winner, ec_fdtd_view *view);
void ec_fdtd_view_release(ec_fdtd_view *view);

static inline size_t ec_fdtd_view_node(const ec_fdtd_view *v, const int p[3])
{
    return ((size_t)p[2] * (size_t)(v->n[1] + 1) + (size_t)p[1]) * (size_t)(v->n[0] + 1) +
           (size_t)p[0];
}

/* The corners of the face across c at node p, in their order; false: the grid has no such face. */
bool ec_fdtd_view_face(const ec_fdtd_view *view, const int p[3], int c, size_t corner[4]);
/* Whether all four edges of a face with these corners are conductors. */
bool ec_fdtd_view_conducts(const ec_fdtd_view *view, int c, const size_t corner[4]);

/* Three cuts through the grid, across x, y and z, with materials, conductors, grid lines and ports, as
 * STEM.gp and STEM.png by gnuplot. They go through the end of the first port, or the middle of the domain.
 * path ends in .png. */
int ec_fdtd_cuts_write(const ec_fdtd_view *view, const char *path, ec_log *log);

/* The table of ec_fdtd_structure_write. */
int ec_fdtd_structure_table(const ec_fdtd_view *view, const char *path);

EC_C_END
#endif
