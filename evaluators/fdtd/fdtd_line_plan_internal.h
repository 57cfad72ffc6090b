/* fdtd_line_plan_internal.h: what the plan of grid lines (fdtd_line_plan.c) and the lines of a
 * candidate (fdtd_lines.c) share. */
#ifndef EC_FDTD_LINE_PLAN_INTERNAL_H
#define EC_FDTD_LINE_PLAN_INTERNAL_H

#include "fdtd_grading_internal.h"
#include "fdtd_lines_internal.h"

EC_C_BEGIN

enum { EC_FDTD_MAX_CELLS = 100000 }; /* of an axis */
#define EC_FDTD_LEAST_SHARE                                                                        \
    0.5 /* of the smallest cell that edges make: no count makes smaller ones */

/* base + factor * part. */
typedef struct ec_fdtd_mark {
    ec_fdtd_number base, part;
    double factor;
    int32_t owner; /* object, or number of objects + port; -1: the domain */
    bool flat;     /* a plane face across the axis */
} ec_fdtd_mark;

typedef struct ec_fdtd_line_axis {
    int32_t n_marks, cap_marks;
    ec_fdtd_mark *mark; /* the first two are the domain's ends, which have no expressions */
    bool uniform;
    int32_t cells;         /* of the domain */
    int32_t n;             /* intervals between marks, in the middle of all ranges */
    int32_t *group;        /* [n_marks] from 0 to n */
    int32_t *per_interval; /* [n] cells */
    /* over the designs that were looked at */
    int32_t n_designs, n_other; /* that can be laid, and of these of another order of marks */
    double smallest, ratio;     /* of those of the same order */
    int32_t at_smallest[2];     /* marks of the interval that has the smallest cell */
    double joined;              /* as in ec_fdtd_line_work */
    bool meet;
    int32_t at_joined[2];
    double natural; /* the smallest cell that edges or sizes wanted make there */
} ec_fdtd_line_axis;

struct ec_fdtd_line_plan {
    const ec_fdtd_model *model;
    ec_fdtd_line_axis axis[3];
    int32_t layers[3][2];
    double tolerance;            /* m: marks closer than this are one */
    double near;                 /* m: so are marks closer than this that may meet or pass */
    double step[2];              /* s, stable: of the first design, the least of all */
    double finest[3];            /* m, smallest cells of the design with the least step */
    double air;                  /* m */
    double top;                  /* Hz, the highest frequency */
    double wavelength;           /* m, in free space at `top` */
    double largest;              /* m, of any cell */
    double *material_wavelength; /* [n_materials] m, the shortest */
    int32_t n_designs, n_moving; /* n_moving: numbers that vary and move a mark */
    double *designs;             /* [n_designs][n_numbers], the middle of all ranges first */
    double resolution;           /* the smallest of: */
    double *cells_a_wave; /* [1 + n_materials] in free space, in each material; 0: not used */
    int32_t narrow; /* the strip of metal with the fewest cells across of those whose edges are not
                       corrected, -1: none has few */
    int narrow_axis, narrow_cells;
    int32_t uncorrected; /* the first strip that edge_correction leaves as it is, -1: none */
    int32_t apart[2];    /* conductors with the narrowest gap far below a cell, -1: none has one */
    int apart_axis;
    double apart_by; /* m */
};

/* What laying one axis needs. */
typedef struct ec_fdtd_line_work {
    double *value;  /* [marks] */
    int32_t *order; /* [marks] by value */
    int32_t *group; /* [marks] */
    int32_t *head;  /* [marks] of each group the mark that counts */
    ec_fdtd_grading grading;
    /* m, the widest gap that was closed, 0 for none, and between which marks: first of those that are
     * open in all designs */
    double joined;
    bool meet;
    int32_t at_joined[2];
    void *memory;
} ec_fdtd_line_work;

typedef struct ec_fdtd_length {
    char text[32];
} ec_fdtd_length;

/* ---- words ---- */

/* "box 'board'", "port 2", "the domain". */
void ec_fdtd_owner_text(const ec_fdtd_config *config, int32_t owner, char text[96]);
/* "1.524 mm" */
ec_fdtd_length ec_fdtd_length_of(double x);

/* ---- sizes and extents ---- */

/* Not NAN: a constant, or an expression. */
bool ec_fdtd_is_given(ec_fdtd_number number);
/* Both ends along an axis, lo <= hi; NAN where a number of it is. */
void ec_fdtd_object_extent(const ec_fdtd_object *object, int axis, const double *values, double *lo,
                           double *hi);
/* Both ends of a candidate's domain without absorbing layers. ERR_ARGUMENT, ERR_RANGE. */
int ec_fdtd_line_domain(const ec_fdtd_line_plan *plan, int axis, const double *values,
                        double ends[2]);
/* The largest cell allowed by a wavelength, and by an object in its extent from lo to hi. */
double ec_fdtd_line_largest(const ec_fdtd_line_plan *plan, double wavelength);
double ec_fdtd_line_object_size(const ec_fdtd_line_plan *plan, const ec_fdtd_object *object,
                                double lo, double hi);
/* The first interval whose middle is above x; n if there is none. */
int32_t ec_fdtd_interval_from(const ec_fdtd_grading *g, double x);

/* ---- hints ---- */

/* Finds what lines x of the first design have few cells for, and conductors that almost touch there. */
void ec_fdtd_line_find_hints(ec_fdtd_line_plan *plan, double *const x[3]);

/* ---- a candidate ---- */

/* work->memory is to be freed. */
int ec_fdtd_line_work_create(const ec_fdtd_line_plan *plan, ec_fdtd_line_work *work);
/* Marks and sizes wanted of a candidate along a graded axis; *same: its marks come in the plan's
 * order. */
int ec_fdtd_line_prepare(const ec_fdtd_line_plan *plan, int axis, const double *values,
                         ec_fdtd_line_work *work, bool *same);
/* Low end and cells of a candidate along a uniform axis. */
int ec_fdtd_line_uniform_span(const ec_fdtd_line_plan *plan, int axis, const double *values,
                              double *low, int64_t *cells);
double ec_fdtd_mark_value(const ec_fdtd_mark *mark, const double *values);
/* The smallest cell that an axis is to have; 0: edges decide. */
double ec_fdtd_line_least(const ec_fdtd_line_plan *plan);
/* As ec_fdtd_lay_lines; checked: faces have to lie on uniform lines. */
int ec_fdtd_line_lay(const ec_fdtd_line_plan *plan, const double *values, bool checked,
                     double *const x[3]);

EC_C_END
#endif
