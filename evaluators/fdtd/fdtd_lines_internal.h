/* fdtd_lines_internal.h: the grid lines of one candidate.
 *
 * Marks of an axis are positions that want a line: the ends of the domain, of objects (also the
 * inner radius of a cylinder or sphere; of a polygon its sides across the axis and its two ends, as
 * the middle of all ranges has them) and of ports. Marks closer than a thousandth of the finest
 * cell wanted are one, of the domain's or else the first object's value, so a line has the very
 * bits of that mark and is within the tolerance of the others. Marks that pass each other within
 * the ranges are one where they are closer than a tenth of that cell, and all marks that are closer
 * than `smallest`; gaps that stay open in all designs stay so. Objects go to the lines of their
 * marks. Lines between marks: fdtd_grading_internal.h.
 *
 * Every candidate has the plan's number of cells, so that a stack has one shape. The plan looks at
 * the middle of all ranges and at further designs (all corners of up to 6 numbers, otherwise 64 of
 * a fixed set); each interval between marks has a fixed count, the largest that one of these needs.
 * A candidate whose marks come in another order than in the middle, or where these counts make far
 * larger jumps between neighbours than in any of these designs, or far smaller cells than edges do,
 * gets the same total, shared out by its own sizes. Either way its lines follow from the model and its numbers alone.
 *
 * Absorbing layers lie outside of the domain and continue its outermost cell. Objects that touch
 * the domain's end at an absorbing side extend into the layers; what reaches beyond a given domain
 * is cut there (and extends into the layers), what lies outside of it is an error. Without a given
 * domain it is the extent of objects and ports, with `air` added at absorbing sides only.
 *
 * Uniform axes: lines start at the domain's low end where that is given or no absorbing wall,
 * otherwise they run through the first flat face of an object. The high end of an absorbing side
 * moves outwards to a whole number of cells, and to the plan's. */
#ifndef EC_FDTD_LINES_INTERNAL_H
#define EC_FDTD_LINES_INTERNAL_H

#include "fdtd_model_internal.h"

EC_C_BEGIN

typedef struct ec_fdtd_line_plan ec_fdtd_line_plan;

/* Points of a box, its middle first: all corners where few numbers move, otherwise a fixed set, one
 * half of it rounded to corners. *designs: [n_designs][n], the caller's. */
int ec_fdtd_box_designs(size_t n, const ec_interval *range, const bool *moves, int32_t *n_designs,
                        double **designs);

/* model is borrowed and outlives the plan. Warnings go to log: a coarse grid, a growth that marks
 * do not allow. ERR_ARGUMENT, ERR_RANGE: the middle of the ranges cannot be laid, sizes are
 * missing, or nothing of this size has these frequencies. */
int ec_fdtd_line_plan_create(const ec_fdtd_model *model, ec_log *log, ec_fdtd_line_plan **plan);
void ec_fdtd_line_plan_destroy(ec_fdtd_line_plan **plan);
/* Cells of an axis with its absorbing layers, and those of a side (0 low, 1 high), 0 elsewhere. */
int32_t ec_fdtd_line_cells(const ec_fdtd_line_plan *plan, int axis);
int32_t ec_fdtd_line_layers(const ec_fdtd_line_plan *plan, int axis, int side);
/* values: [n_numbers] of a candidate. x[axis]: [cells + 1] lines, m, ascending. ERR_ARGUMENT or
 * ERR_RANGE with a sentence where this candidate cannot be laid. Many threads may lay at once. */
int ec_fdtd_lay_lines(const ec_fdtd_line_plan *plan, const double *values, double *const x[3]);
/* The index of the line nearest to a position, of equal distances the lower one: where `snap` puts
 * it. */
int32_t ec_fdtd_nearest_line(int32_t cells, const double *x, double position);
/* The time step over the largest stable one of the finest cells: conformal conductors halve it,
 * corrections at the edges of plates take 0.7 of it. */
double ec_fdtd_step_part(const ec_fdtd_config *config);
/* A candidate's time step, s. */
double ec_fdtd_line_step(const ec_fdtd_line_plan *plan, const double *const x[3]);
/* s, of the middle of all ranges, or the least of the plan's designs where that cannot be laid. */
double ec_fdtd_line_plan_step(const ec_fdtd_line_plan *plan);
/* How far from its line an edge of an object or a port may be: edges that are one share one line, and
 * `snap` moves them. */
double ec_fdtd_line_reach(const ec_fdtd_line_plan *plan, int axis);
/* Cells a wavelength where they are fewest, in the middle of all ranges. */
double ec_fdtd_line_resolution(const ec_fdtd_line_plan *plan);
/* What may have been forgotten where a structure is very large or small for its frequencies; else "". */
void ec_fdtd_line_scale(const ec_fdtd_line_plan *plan, char *text, size_t size);
/* Hint i from 0 of what makes results of the model inexact or slow: a strip with few cells across,
 * conductors that almost touch. false: there is no hint i. */
bool ec_fdtd_line_hint(const ec_fdtd_line_plan *plan, int i, char *text, size_t size);
/* That of conductors that almost touch; false: there are none. */
bool ec_fdtd_line_apart(const ec_fdtd_line_plan *plan, char *text, size_t size);
/* The first strip that edge_correction leaves as it is; false: there is none. */
bool ec_fdtd_line_uncorrected(const ec_fdtd_line_plan *plan, char *text, size_t size);
/* The smallest cell of the design with the least time step, m. */
double ec_fdtd_line_finest(const ec_fdtd_line_plan *plan);
/* Every decision, a line each: sizes wanted and why, cells of each axis, layers, domain, growth. */
void ec_fdtd_line_plan_describe(const ec_fdtd_line_plan *plan, char *text, size_t size);

EC_C_END
#endif
