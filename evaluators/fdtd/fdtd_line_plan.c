#include "fdtd_line_plan_internal.h"

#include "../../core/log.h"
#include "../../core/sampling.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CORNERS = 6,   /* numbers of which all corners are looked at */
    N_SAMPLES = 64,    /* designs of more numbers */
    MAX_SAMPLED = 256, /* numbers that the samples vary, as many as Sobol's sequence has */
    MAX_ROUNDS = 100,  /* of adding cells for the sake of the growth */
    FEW_CELLS = 10     /* a wavelength: below it a warning */
};

#define MOST_EVANESCENT 10.0  /* permittivity of a plasma whose skin depth is resolved */
#define MOST_CELLS      1e11  /* of a domain */
#define MANY_WAVES      100.0 /* of an object: a hint where that is too large */
#define MUCH_AIR        10.0  /* the same, of air about objects that are smaller */
#define FEW_WAVES       1e-6  /* the same: no grid is made for less */
#define SIZE_TOLERANCE  1.02  /* cells above the size wanted get company only beyond this */
#define MARK_TOLERANCE  1e-3  /* of the finest cell wanted */
#define NEAR_TOLERANCE  0.1   /* the same, of marks that may meet */

/* ---- marks ---- */

static int add_mark(ec_fdtd_line_axis *axis, ec_fdtd_number base, ec_fdtd_number part,
                    double factor, int32_t owner, bool flat)
{
    if (axis->n_marks == axis->cap_marks) {
        int32_t cap = axis->cap_marks ? 2 * axis->cap_marks : 32;
        ec_fdtd_mark *mark = (ec_fdtd_mark *)realloc(axis->mark, sizeof *mark * (size_t)cap);
        if (!mark)
            return ec_fail(EC_ERR_MEMORY, "no memory for %d marks of a grid", (int)cap);
        axis->mark = mark;
        axis->cap_marks = cap;
    }
    axis->mark[axis->n_marks++] = (ec_fdtd_mark){base, part, factor, owner, flat};
    return EC_OK;
}

static int add_pair(ec_fdtd_line_axis *axis, ec_fdtd_number at, ec_fdtd_number part, double factor,
                    int32_t owner, bool flat)
{
    int status = add_mark(axis, at, part, -factor, owner, flat);

    return status == EC_OK ? add_mark(axis, at, part, factor, owner, flat) : status;
}

/* Sides across the axis and both ends: points between them on slanted sides would only force
 * small cells. middle: the design that decides. */
static int add_polygon(ec_fdtd_line_axis *axis, const ec_fdtd_object *o, int a, int32_t owner,
                       const double *middle)
{
    int c = (a + 2 - o->axis) % 3, status = EC_OK;
    int32_t low = 0, high = 0;
    double lo, hi;

    ec_fdtd_object_extent(o, a, middle, &lo, &hi);
    for (int32_t i = 1; i < o->n_points; i++) {
        double x = ec_fdtd_number_of(o->points[i][c], middle);
        if (x < ec_fdtd_number_of(o->points[low][c], middle))
            low = i;
        if (x > ec_fdtd_number_of(o->points[high][c], middle))
            high = i;
    }
    for (int32_t i = 0; i < o->n_points && status == EC_OK; i++) {
        double x = ec_fdtd_number_of(o->points[i][c], middle);
        bool flat = false;
        for (int step = -1; step <= 1; step += 2) {
            int32_t k = (i + step + o->n_points) % o->n_points;
            flat |= fabs(ec_fdtd_number_of(o->points[k][c], middle) - x) <= 1e-9 * (hi - lo);
        }
        if (flat || i == low || i == high)
            status = add_mark(axis, o->at[a], o->points[i][c], 1, owner, flat);
    }
    return status;
}

static int add_object(ec_fdtd_line_axis *axis, const ec_fdtd_object *o, int a, int32_t owner,
                      const double *middle)
{
    ec_fdtd_number none = {0, -1};
    bool has_inner = o->inner_radius.expr >= 0 || o->inner_radius.value > 0;
    int status;

    switch (o->kind) {
    case EC_FDTD_BOX:
    case EC_FDTD_PLATE:
        return add_pair(axis, o->at[a], o->size[a], 0.5, owner, true);
    case EC_FDTD_CYLINDER:
    case EC_FDTD_SPHERE:
        if (o->kind == EC_FDTD_CYLINDER && a == o->axis)
            return add_pair(axis, o->at[a], o->length, 0.5, owner, true);
        status = add_pair(axis, o->at[a], o->radius, 1, owner, false);
        return status == EC_OK && has_inner
                   ? add_pair(axis, o->at[a], o->inner_radius, 1, owner, false)
                   : status;
    case EC_FDTD_POLYGON:
        if (a != o->axis)
            return add_polygon(axis, o, a, owner, middle);
        status = add_mark(axis, o->at[a], none, 0, owner, true);
        return status == EC_OK ? add_mark(axis, o->at[a], o->length, 1, owner, true) : status;
    default:
        status = add_mark(axis, o->at[a], none, 0, owner, true);
        return status == EC_OK ? add_mark(axis, o->to[a], none, 0, owner, true) : status;
    }
}

static int add_marks(ec_fdtd_line_plan *plan)
{
    const ec_fdtd_config *config = &plan->model->config;
    ec_fdtd_number none = {0, -1};
    int status = EC_OK;

    for (int a = 0; a < 3; a++) {
        ec_fdtd_line_axis *axis = &plan->axis[a];
        for (int side = 0; side < 2 && status == EC_OK; side++)
            status = add_mark(axis, none, none, 0, -1, true);
        for (int32_t k = 0; k < config->n_objects && status == EC_OK; k++)
            status = add_object(axis, &config->objects[k], a, k, plan->designs);
        for (int32_t p = 0; p < config->n_ports && status == EC_OK; p++) {
            const ec_fdtd_port *port = &config->ports[p];
            status = add_mark(axis, port->from[a], none, 0, config->n_objects + p, true);
            if (status == EC_OK)
                status = add_mark(axis, port->to[a], none, 0, config->n_objects + p, true);
        }
        if (status != EC_OK)
            break;
    }
    return status;
}

/* ---- sizes ---- */

static double highest_of(const ec_fdtd_model *model, ec_fdtd_number number)
{
    return number.expr < 0 ? number.value : model->range[number.expr].hi;
}

static double middle_of(const ec_fdtd_model *model, ec_fdtd_number number)
{
    if (number.expr < 0)
        return number.value;
    return 0.5 * model->range[number.expr].lo + 0.5 * model->range[number.expr].hi;
}

/* |n| with permittivity, permeability and strengths of poles as large as they get. Conductors are
 * left out: fields in them end within a skin depth, which no grid of a wavelength resolves; Drude's metals far
 * below their plasma's frequency are such. */
static double index_of(const ec_fdtd_model *model, const ec_fdtd_material *m, double frequency)
{
    double w = 2 * EC_PI * frequency, re = highest_of(model, m->eps_r), im = 0;

    for (int32_t i = 0; i < m->n_poles; i++) {
        const ec_fdtd_pole *pole = &m->poles[i];
        double d = highest_of(model, pole->strength), g = middle_of(model, pole->damping), a, b;
        if (pole->kind == EC_FDTD_DRUDE) {
            re -= d * d / (w * w + g * g); /* the rest conducts */
            continue;
        }
        if (pole->kind == EC_FDTD_DEBYE) {
            a = 1;
            b = w * middle_of(model, pole->time);
        } else {
            double w0 = middle_of(model, pole->resonance);
            a = 1 - w * w / (w0 * w0);
            b = 2 * w * g / (w0 * w0);
        }
        re += d * a / (a * a + b * b);
        im -= d * b / (a * a + b * b);
    }
    const double size = re < 0 ? fmin(hypot(re, im), MOST_EVANESCENT) : hypot(re, im);
    return sqrt(size * fabs(highest_of(model, m->mu_r)));
}

static bool uses_air(const ec_fdtd_config *config)
{
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++)
            if (config->wall[a][side] == EC_FDTD_WALL_PML &&
                !ec_fdtd_is_given(config->grid.domain[side][a]))
                return true;
    return false;
}

static int plan_sizes(ec_fdtd_line_plan *plan)
{
    const ec_fdtd_model *model = plan->model;
    const ec_fdtd_config *config = &model->config;
    const ec_fdtd_grid *grid = &config->grid;
    double lowest = 0;

    for (int32_t i = 0; i < config->n_frequencies; i++) {
        if (lowest <= 0)
            lowest = config->frequency[i];
        plan->top = fmax(plan->top, config->frequency[i]);
    }
    plan->wavelength = plan->top > 0 ? EC_LIGHT_SPEED / plan->top : INFINITY;
    plan->largest = grid->largest > 0 ? grid->largest : INFINITY;
    if (!(grid->growth >= 1.01 && grid->growth <= 10))
        return ec_fail(EC_ERR_ARGUMENT, "a grid's growth of %g: allowed are 1.01 to 10",
                       grid->growth);
    bool graded = !(grid->cell[0] > 0 && grid->cell[1] > 0 && grid->cell[2] > 0);
    if (graded && !isfinite(ec_fdtd_line_largest(plan, plan->wavelength)))
        return ec_fail(EC_ERR_ARGUMENT, "nothing says how large the grid's cells are: give "
                                        "frequencies above 0, or the largest cell");
    plan->air = isnan(grid->air) ? 0.5 * EC_LIGHT_SPEED / (lowest + plan->top) : grid->air;
    if (uses_air(config) && !(isfinite(plan->air) && plan->air >= 0))
        return ec_fail(EC_ERR_ARGUMENT, "%g m of air around the objects: give `air` of at least 0",
                       plan->air);
    for (int32_t m = 0; m < config->n_materials; m++) {
        double *shortest = &plan->material_wavelength[m];
        *shortest = INFINITY;
        if (config->materials[m].metal)
            continue;
        for (int32_t i = 0; i < config->n_frequencies; i++)
            if (config->frequency[i] > 0)
                *shortest = fmin(*shortest, EC_LIGHT_SPEED / (config->frequency[i] *
                                                              index_of(model, &config->materials[m],
                                                                       config->frequency[i])));
        if (!(*shortest > 0))
            return ec_fail(EC_ERR_RANGE, "material '%s' has no finite wavelength at its largest",
                           config->materials[m].name ? config->materials[m].name : "");
    }
    return EC_OK;
}

/* ---- designs to look at ---- */

static void note_moving(const ec_fdtd_model *model, ec_fdtd_number number, bool *moves)
{
    if (number.expr >= 0 && model->range[number.expr].lo < model->range[number.expr].hi)
        moves[number.expr] = true;
}

static void find_moving(const ec_fdtd_line_plan *plan, bool *moves)
{
    const ec_fdtd_config *config = &plan->model->config;

    for (int a = 0; a < 3; a++) {
        for (int32_t m = 0; m < plan->axis[a].n_marks; m++) {
            note_moving(plan->model, plan->axis[a].mark[m].base, moves);
            note_moving(plan->model, plan->axis[a].mark[m].part, moves);
        }
        for (int side = 0; side < 2; side++)
            note_moving(plan->model, config->grid.domain[side][a], moves);
    }
    for (int32_t k = 0; k < config->n_objects; k++)
        for (int32_t i = 0; i < config->objects[k].n_points; i++)
            for (int c = 0; c < 2; c++)
                note_moving(plan->model, config->objects[k].points[i][c], moves);
}

int ec_fdtd_box_designs(size_t n, const ec_interval *range, const bool *moves, int32_t *n_designs,
                        double **designs)
{
    int32_t n_moving = 0;
    for (size_t i = 0; i < n; i++) {
        n_moving += moves[i];
        if (moves[i] && !(isfinite(range[i].lo) && isfinite(range[i].hi)))
            return ec_fail(EC_ERR_RANGE,
                           "a size or position of the model has no bounds: its range is %g to %g",
                           range[i].lo, range[i].hi);
    }
    const bool corners = n_moving <= MAX_CORNERS;
    const int32_t more = n_moving == 0 ? 0 : corners ? 1 << n_moving : N_SAMPLES;
    const int32_t dimensions = n_moving < MAX_SAMPLED ? n_moving : MAX_SAMPLED;
    double *all = (double *)malloc(sizeof(double) * (n * (size_t)(1 + more) + 1));
    double *points = (double *)malloc(sizeof(double) * ((size_t)dimensions * (size_t)more + 1));
    int status = all && points
                     ? EC_OK
                     : ec_fail(EC_ERR_MEMORY, "no memory for %d designs of a grid", (int)more + 1);

    if (status == EC_OK && more > 0 && !corners) {
        ec_sampling_info info = {
            .method = EC_SAMPLING_SOBOL, .dimensions = dimensions, .n = (size_t)more, .seed = 1};
        status = ec_sampling_fill(&info, points);
    }
    for (size_t i = 0; i < n && status == EC_OK; i++)
        all[i] = 0.5 * range[i].lo + 0.5 * range[i].hi;
    for (int32_t d = 0; d < more && status == EC_OK; d++) {
        double *to = all + (size_t)(d + 1) * n;
        int32_t k = 0;
        for (size_t i = 0; i < n; i++) {
            to[i] = all[i];
            if (!moves[i] || k >= dimensions)
                continue;
            double u = corners ? (double)(d >> k & 1) : points[(size_t)k * (size_t)more + d];
            if (d % 2)
                u = u < 0.5 ? 0 : 1;
            to[i] = u <= 0   ? range[i].lo
                    : u >= 1 ? range[i].hi
                             : range[i].lo + u * (range[i].hi - range[i].lo);
            k++;
        }
    }
    free(points);
    if (status != EC_OK) {
        free(all);
        return status;
    }
    *designs = all;
    *n_designs = 1 + more;
    return EC_OK;
}

/* The model's first design, or where it has none the middle of its numbers' ranges. */
static int middle_design(ec_fdtd_line_plan *plan)
{
    const ec_fdtd_model *model = plan->model;
    const size_t n = (size_t)model->n_numbers;

    plan->designs = (double *)malloc(sizeof(double) * (n + 1));
    if (!plan->designs)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu numbers of a grid", n);
    plan->n_designs = 1;
    for (size_t i = 0; i < n; i++)
        plan->designs[i] = model->n_designs > 0
                               ? model->designs[i]
                               : 0.5 * model->range[i].lo + 0.5 * model->range[i].hi;
    return EC_OK;
}

/* All designs of the model, or where it has none those of its numbers' ranges. */
static int further_designs(ec_fdtd_line_plan *plan)
{
    const ec_fdtd_model *model = plan->model;
    const size_t n = (size_t)model->n_numbers;
    bool *moves = (bool *)calloc(n ? n : 1, sizeof *moves);
    int status = EC_OK;

    if (!moves)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu numbers of a grid", n);
    find_moving(plan, moves);
    for (size_t i = 0; i < n; i++)
        plan->n_moving += moves[i];
    if (model->n_designs > 0) {
        const size_t words = n * (size_t)model->n_designs;
        double *all = (double *)realloc(plan->designs, sizeof(double) * (words + 1));
        plan->designs = all ? all : plan->designs;
        plan->n_designs = plan->n_moving > 0 && all ? model->n_designs : 1;
        if (all && words > 0)
            memcpy(all, model->designs, words * sizeof(double));
        else if (!all)
            status =
                ec_fail(EC_ERR_MEMORY, "no memory for %d designs of a grid", (int)model->n_designs);
    } else {
        free(plan->designs);
        plan->designs = NULL;
        status = ec_fdtd_box_designs(n, model->range, moves, &plan->n_designs, &plan->designs);
    }
    free(moves);
    return status;
}

static const double *design_of(const ec_fdtd_line_plan *plan, int32_t d)
{
    return plan->designs + (size_t)d * (size_t)plan->model->n_numbers;
}

/* The largest extent of an object, or of a domain that is given, along an axis in the first design; 0
 * without any. */
static double extent_of(const ec_fdtd_line_plan *plan)
{
    const ec_fdtd_config *config = &plan->model->config;
    double most = 0;

    for (int32_t k = 0; k < config->n_objects; k++)
        for (int a = 0; a < 3; a++) {
            double lo, hi;
            ec_fdtd_object_extent(&config->objects[k], a, plan->designs, &lo, &hi);
            if (isfinite(hi - lo))
                most = fmax(most, hi - lo);
        }
    for (int a = 0; a < 3; a++) {
        const double lo = ec_fdtd_number_of(config->grid.domain[0][a], plan->designs);
        const double hi = ec_fdtd_number_of(config->grid.domain[1][a], plan->designs);
        if (isfinite(hi - lo))
            most = fmax(most, hi - lo);
    }
    return most;
}

void ec_fdtd_line_scale(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    const double extent = extent_of(plan), waves = extent / plan->wavelength;

    const double air = isnan(plan->model->config.grid.air) ? 0 : plan->air;
    text[0] = 0;
    if (air > MUCH_AIR * plan->wavelength && air > extent)
        snprintf(text, size,
                 "%s of air are %.3g wavelengths at %.6g GHz: lengths are in m, did you mean "
                 "%.6g*ec.mm?",
                 ec_fdtd_length_of(air).text, air / plan->wavelength, 1e-9 * plan->top, air);
    else if (waves > MANY_WAVES)
        snprintf(text, size,
                 "%s are %.3g wavelengths at %.6g GHz: lengths are in m, did you mean "
                 "%.6g*ec.mm?",
                 ec_fdtd_length_of(extent).text, waves, 1e-9 * plan->top, extent);
    else if (extent > 0 && waves < FEW_WAVES)
        snprintf(text, size,
                 "%s are %.3g wavelengths at %.6g Hz: frequencies are in Hz, did you "
                 "mean %.6g*ec.%s?",
                 ec_fdtd_length_of(extent).text, waves, plan->top, plan->top,
                 plan->top < 100 ? "GHz" : "MHz");
}

/* No time step that resolves so small a part of a wavelength comes to its period's end. */
static int check_scale(const ec_fdtd_line_plan *plan)
{
    const double extent = extent_of(plan);
    char text[200];

    if (!(plan->top > 0 && extent > 0 && extent < FEW_WAVES * plan->wavelength))
        return EC_OK;
    ec_fdtd_line_scale(plan, text, sizeof text);
    return ec_fail(EC_ERR_RANGE, "%s", text);
}

static void plan_tolerance(ec_fdtd_line_plan *plan)
{
    const ec_fdtd_config *config = &plan->model->config;
    double finest = ec_fdtd_line_largest(plan, plan->wavelength), farthest = 0;

    for (int a = 0; a < 3; a++)
        if (config->grid.cell[a] > 0)
            finest = fmin(finest, config->grid.cell[a]);
    for (int32_t k = 0; k < config->n_objects; k++)
        for (int a = 0; a < 3; a++) {
            double lo, hi;
            ec_fdtd_object_extent(&config->objects[k], a, plan->designs, &lo, &hi);
            farthest = isfinite(lo) ? fmax(farthest, fabs(lo)) : farthest;
            farthest = isfinite(hi) ? fmax(farthest, fabs(hi)) : farthest;
            /* zero but for roundings is no thickness */
            if (hi - lo > 1e-12 * farthest)
                finest = fmin(finest, ec_fdtd_line_object_size(plan, &config->objects[k], lo, hi));
        }
    plan->tolerance = fmax(MARK_TOLERANCE * finest, 1e-12 * farthest);
    plan->near = fmax(NEAR_TOLERANCE * finest, plan->tolerance);
}

/* ---- counts of a graded axis ---- */

typedef struct axis_look {
    bool *coarse;     /* [n] has a cell that is too large, by itself or beside its neighbour */
    double *shortest; /* [n] length of the interval in any design */
} axis_look;

static int64_t sum_of(const int32_t *cells, int32_t n)
{
    int64_t sum = 0;

    for (int32_t k = 0; k < n; k++)
        sum += cells[k];
    return sum;
}

static void look_at_cells(ec_fdtd_line_axis *axis, const ec_fdtd_grading *g, const double *x,
                          double growth, const int32_t *head, axis_look *look)
{
    double before = 0;

    for (int32_t k = 0; k < g->n; k++) {
        look->shortest[k] = fmin(look->shortest[k], g->at[k + 1] - g->at[k]);
        for (int32_t i = 0; i < g->cells[k]; i++, x++) {
            double cell = x[1] - x[0];
            look->coarse[k] |= cell > SIZE_TOLERANCE * g->wanted[k];
            if (cell < axis->smallest) {
                axis->smallest = cell;
                axis->at_smallest[0] = head[k];
                axis->at_smallest[1] = head[k + 1];
            }
            double ratio = before > 0 ? fmax(cell / before, before / cell) : 1;
            axis->ratio = fmax(axis->ratio, ratio);
            if (ratio > growth * (1 + 1e-6))
                look->coarse[i > 0 || cell > before ? k : k - 1] = true;
            before = cell;
        }
    }
}

/* Lines of all designs of the plan's order with the counts as they are. */
static int look_at_designs(ec_fdtd_line_plan *plan, int a, ec_fdtd_line_work *work, axis_look *look)
{
    ec_fdtd_line_axis *axis = &plan->axis[a];
    ec_fdtd_grading *g = &work->grading;
    int64_t sum = sum_of(axis->per_interval, axis->n);
    double *x = (double *)malloc(sizeof *x * (size_t)(sum + 1));

    if (!x)
        return ec_fail(EC_ERR_MEMORY, "no memory for %lld grid lines", (long long)sum);
    axis->smallest = INFINITY;
    axis->ratio = 1;
    for (int32_t k = 0; k < axis->n; k++) {
        look->coarse[k] = false;
        look->shortest[k] = INFINITY;
    }
    for (int32_t d = 0; d < plan->n_designs; d++) {
        bool same;
        if (ec_fdtd_line_prepare(plan, a, design_of(plan, d), work, &same) != EC_OK || !same)
            continue;
        memcpy(g->cells, axis->per_interval, sizeof *g->cells * (size_t)g->n);
        ec_fdtd_grading_place(g, x);
        look_at_cells(axis, g, x, plan->model->config.grid.growth, work->head, look);
    }
    free(x);
    return EC_OK;
}

/* What each interval needs in any design; *other: the total that designs of another order need;
 * *natural: the smallest cell that edges or sizes wanted make. */
static int count_needs(ec_fdtd_line_plan *plan, int a, ec_fdtd_line_work *work, int64_t *other,
                       double *natural)
{
    ec_fdtd_line_axis *axis = &plan->axis[a];
    ec_fdtd_grading *g = &work->grading;

    *other = 0;
    *natural = INFINITY;
    for (int32_t d = 0; d < plan->n_designs; d++) {
        bool same;
        if (ec_fdtd_line_prepare(plan, a, design_of(plan, d), work, &same) != EC_OK)
            continue; /* numbers that depend on each other may not have these values at all */
        axis->n_designs++;
        if (work->joined > 0 &&
            (axis->joined <= 0 ||
             (work->meet == axis->meet ? work->joined > axis->joined : axis->meet))) {
            axis->joined = work->joined;
            axis->meet = work->meet;
            memcpy(axis->at_joined, work->at_joined, sizeof axis->at_joined);
        }
        /* short intervals of another order may come from numbers that never meet */
        g->floor = same ? g->floor : INFINITY;
        int64_t need = ec_fdtd_grading_need(g);
        if (need > EC_FDTD_MAX_CELLS) {
            char hint[200];
            ec_fdtd_line_scale(plan, hint, sizeof hint);
            return ec_fail(EC_ERR_RANGE,
                           "%lld cells are needed along %c: allowed are %d; largest cell wanted "
                           "%s, domain of %s%s%s",
                           (long long)need, 'x' + a, EC_FDTD_MAX_CELLS,
                           ec_fdtd_length_of(ec_fdtd_line_largest(plan, plan->wavelength)).text,
                           ec_fdtd_length_of(g->at[g->n] - g->at[0]).text, hint[0] ? "; " : "",
                           hint);
        }
        for (int32_t k = 0; k < g->n && same; k++) {
            *natural = fmin(*natural, fmin(g->wanted[k], g->at[k + 1] - g->at[k]));
            if (axis->per_interval[k] < g->cells[k])
                axis->per_interval[k] = g->cells[k];
        }
        if (!same) {
            axis->n_other++;
            *other = need > *other ? need : *other;
        }
    }
    return EC_OK;
}

/* Adds cells until sizes and neighbours' ratios are as asked for, if `smallest` lets it; nor may
 * cells get much smaller than edges and wavelengths want them: an interval that is long in one
 * design and short in another would be cut up, and the time step with it. */
static int keep_growth(ec_fdtd_line_plan *plan, int a, ec_fdtd_line_work *work, double natural,
                       axis_look *look)
{
    ec_fdtd_line_axis *axis = &plan->axis[a];
    bool more = true;
    int status = look_at_designs(plan, a, work, look);
    double least = EC_FDTD_LEAST_SHARE * natural;

    if (plan->model->config.grid.smallest > least)
        least = plan->model->config.grid.smallest;
    for (int round = 0; round < MAX_ROUNDS && more && status == EC_OK; round++) {
        more = false;
        for (int32_t k = 0; k < axis->n; k++)
            if (look->coarse[k] && look->shortest[k] / (axis->per_interval[k] + 1) >= least) {
                axis->per_interval[k]++;
                more = true;
            }
        if (more)
            status = look_at_designs(plan, a, work, look);
    }
    return status;
}

static int plan_graded(ec_fdtd_line_plan *plan, int a, ec_fdtd_line_work *work)
{
    ec_fdtd_line_axis *axis = &plan->axis[a];
    size_t m = (size_t)axis->n_marks;
    axis_look look = {(bool *)calloc(m, sizeof(bool)), (double *)calloc(m, sizeof(double))};
    int64_t other = 0;
    double natural;
    bool same;
    int status = ec_fdtd_line_prepare(plan, a, plan->designs, work, &same);

    axis->group = (int32_t *)malloc(m * sizeof *axis->group);
    axis->per_interval = (int32_t *)calloc(m, sizeof *axis->per_interval);
    if (status == EC_OK && (!look.coarse || !look.shortest || !axis->group || !axis->per_interval))
        status = ec_fail(EC_ERR_MEMORY, "no memory for %zu marks of a grid", m);
    if (status == EC_OK) {
        axis->n = work->grading.n;
        memcpy(axis->group, work->group, m * sizeof *axis->group);
        status = count_needs(plan, a, work, &other, &natural);
    }
    if (status == EC_OK) {
        axis->natural = natural;
        status = keep_growth(plan, a, work, natural, &look);
    }
    if (status == EC_OK && sum_of(axis->per_interval, axis->n) < other) {
        status = ec_fdtd_line_prepare(plan, a, plan->designs, work, &same);
        ec_fdtd_grading *g = &work->grading;
        memcpy(g->cells, axis->per_interval, sizeof *g->cells * (size_t)axis->n);
        ec_fdtd_grading_add(g, other - sum_of(g->cells, axis->n));
        memcpy(axis->per_interval, g->cells, sizeof *g->cells * (size_t)axis->n);
        if (status == EC_OK)
            status = look_at_designs(plan, a, work, &look);
    }
    if (status == EC_OK)
        axis->cells = (int32_t)sum_of(axis->per_interval, axis->n);
    free(look.coarse);
    free(look.shortest);
    return status;
}

/* ---- cells of a uniform axis ---- */

static ec_interval range_of(const ec_fdtd_model *model, ec_fdtd_number number)
{
    return number.expr < 0 ? (ec_interval){number.value, number.value} : model->range[number.expr];
}

/* Cells that are enough for every design, by intervals: of more numbers than all corners are looked
 * at. */
static int64_t uniform_bound(const ec_fdtd_line_plan *plan, int a)
{
    const ec_fdtd_config *config = &plan->model->config;
    double lo = INFINITY, hi = -INFINITY;

    for (int32_t m = 2; m < plan->axis[a].n_marks; m++) {
        const ec_fdtd_mark *mark = &plan->axis[a].mark[m];
        ec_interval base = range_of(plan->model, mark->base);
        ec_interval part = range_of(plan->model, mark->part);
        double f = mark->factor;
        if (f == 0)
            part = (ec_interval){0, 0};
        double low = base.lo + (f < 0 ? f * part.hi : f * part.lo);
        double high = base.hi + (f < 0 ? f * part.lo : f * part.hi);
        lo = isfinite(low) ? fmin(lo, low) : lo;
        hi = isfinite(high) ? fmax(hi, high) : hi;
    }
    lo = ec_fdtd_is_given(config->grid.domain[0][a])
             ? range_of(plan->model, config->grid.domain[0][a]).lo
             : lo - plan->air;
    hi = ec_fdtd_is_given(config->grid.domain[1][a])
             ? range_of(plan->model, config->grid.domain[1][a]).hi
             : hi + plan->air;
    double cells = ceil((hi - lo) / config->grid.cell[a]) + 1; /* 1: the low end's move to a line */
    return cells < EC_FDTD_MAX_CELLS ? (int64_t)cells : EC_FDTD_MAX_CELLS;
}

static int plan_uniform(ec_fdtd_line_plan *plan, int a)
{
    const ec_fdtd_config *config = &plan->model->config;
    ec_fdtd_line_axis *axis = &plan->axis[a];
    int64_t most = 0;
    int status = EC_OK;

    for (int32_t d = plan->n_designs - 1; d >= 0; d--) { /* the middle's sentence comes last */
        double low;
        int64_t cells;
        status = ec_fdtd_line_uniform_span(plan, a, design_of(plan, d), &low, &cells);
        if (status != EC_OK)
            continue;
        axis->n_designs++;
        most = cells > most ? cells : most;
    }
    if (axis->n_designs == 0)
        return status;
    if (plan->n_moving > MAX_CORNERS && config->wall[a][1] == EC_FDTD_WALL_PML) {
        int64_t bound = uniform_bound(plan, a);
        most = bound > most ? bound : most;
    }
    axis->cells = (int32_t)most;
    axis->smallest = config->grid.cell[a];
    axis->ratio = 1;
    return EC_OK;
}

/* ---- plan ---- */

static void note_resolution(double *cells, double wavelength, double cell)
{
    double n = wavelength / cell;

    if (*cells == 0 || n < *cells)
        *cells = n;
}

/* Time steps of all designs that can be laid, and the smallest cells where they are least. */
static void plan_steps(ec_fdtd_line_plan *plan, double *const x[3])
{
    plan->step[0] = plan->step[1] = INFINITY;
    for (int32_t d = 0; d < plan->n_designs; d++) {
        if (ec_fdtd_line_lay(plan, design_of(plan, d), plan->n_moving == 0, x) != EC_OK)
            continue;
        const double step = ec_fdtd_line_step(plan, (const double *const[3]){x[0], x[1], x[2]});
        if (d == 0)
            plan->step[0] = step;
        if (!(step < plan->step[1]))
            continue;
        plan->step[1] = step;
        for (int a = 0; a < 3; a++) {
            plan->finest[a] = INFINITY;
            for (int32_t i = 0; i < ec_fdtd_line_cells(plan, a); i++)
                plan->finest[a] = fmin(plan->finest[a], x[a][i + 1] - x[a][i]);
        }
    }
}

/* Cells a wavelength in the middle of all ranges. */
static int plan_resolution(ec_fdtd_line_plan *plan, double *const x[3])
{
    const ec_fdtd_config *config = &plan->model->config;

    plan->resolution = INFINITY;
    /* uniform lines may fit other designs and not the middle */
    int status = ec_fdtd_line_lay(plan, plan->designs, plan->n_moving == 0, x);
    if (status != EC_OK && plan->n_moving > 0)
        return EC_OK;
    for (int a = 0; a < 3 && status == EC_OK; a++) {
        ec_fdtd_grading lines = {.n = ec_fdtd_line_cells(plan, a), .at = x[a]};
        for (int32_t i = 0; i < lines.n; i++)
            note_resolution(&plan->cells_a_wave[0], plan->wavelength, x[a][i + 1] - x[a][i]);
        for (int32_t k = 0; k < config->n_objects; k++) {
            int32_t material = config->objects[k].material;
            double lo, hi;
            if (material < 0)
                continue;
            ec_fdtd_object_extent(&config->objects[k], a, plan->designs, &lo, &hi);
            for (int32_t i = ec_fdtd_interval_from(&lines, lo);
                 i < lines.n && 0.5 * (x[a][i] + x[a][i + 1]) < hi; i++)
                note_resolution(&plan->cells_a_wave[1 + material],
                                plan->material_wavelength[material], x[a][i + 1] - x[a][i]);
        }
    }
    if (status == EC_OK)
        ec_fdtd_line_find_hints(plan, x);
    for (int32_t m = 0; m <= config->n_materials; m++)
        if (plan->cells_a_wave[m] > 0)
            plan->resolution = fmin(plan->resolution, plan->cells_a_wave[m]);
    return status;
}

/* What the laid lines of the designs are like. */
static int plan_look(ec_fdtd_line_plan *plan)
{
    size_t n[3] = {0};
    for (int a = 0; a < 3; a++)
        n[a] = (size_t)ec_fdtd_line_cells(plan, a) + 1;
    double *memory = (double *)malloc(sizeof(double) * (n[0] + n[1] + n[2]));

    if (!memory)
        return ec_fail(EC_ERR_MEMORY, "no memory for the grid's lines");
    double *const x[3] = {memory, memory + n[0], memory + n[0] + n[1]};
    plan_steps(plan, x);
    const int status = plan_resolution(plan, x);
    free(memory);
    return status;
}

static void warn(const ec_fdtd_line_plan *plan, ec_log *log)
{
    double growth = plan->model->config.grid.growth;

    if (plan->resolution < FEW_CELLS)
        ec_log_write(log, EC_LOG_WARNING,
                     "fdtd: the grid has %.1f cells a wavelength at %.4g GHz where it is coarsest: "
                     "results up there are rough",
                     plan->resolution, 1e-9 * plan->top);
    for (int a = 0; a < 3; a++) {
        const ec_fdtd_line_axis *axis = &plan->axis[a];
        char owner[2][96];
        if (!(axis->joined > 0) || axis->meet)
            continue;
        for (int i = 0; i < 2; i++)
            ec_fdtd_owner_text(&plan->model->config, axis->mark[axis->at_joined[i]].owner,
                               owner[i]);
        ec_log_write(log, EC_LOG_WARNING,
                     "fdtd: edges of %s and %s are %s apart along %c, less than the smallest cell: "
                     "they share a line",
                     owner[0], owner[1], ec_fdtd_length_of(axis->joined).text, 'x' + a);
    }
    for (int a = 0; a < 3; a++)
        if (plan->axis[a].ratio > 1.1 * growth)
            ec_log_write(log, EC_LOG_WARNING,
                         "fdtd: neighbouring cells along %c differ by up to a factor of %.3g, more "
                         "than the growth of %g: edges of objects lie close together, or move far",
                         'x' + a, plan->axis[a].ratio, growth);
}

/* Indices of cells count them all. */
static int check_cells(const ec_fdtd_line_plan *plan)
{
    double n[3], all = 1;
    char hint[200];

    for (int a = 0; a < 3; a++)
        all *= n[a] = ec_fdtd_line_cells(plan, a);
    if (all <= MOST_CELLS)
        return EC_OK;
    ec_fdtd_line_scale(plan, hint, sizeof hint);
    return ec_fail(EC_ERR_RANGE, "%.0f x %.0f x %.0f cells are %.3g, at most %.3g are possible%s%s",
                   n[0], n[1], n[2], all, MOST_CELLS, hint[0] ? "; " : "", hint);
}

int ec_fdtd_line_plan_create(const ec_fdtd_model *model, ec_log *log, ec_fdtd_line_plan **plan)
{
    const ec_fdtd_config *config = &model->config;
    size_t materials = (size_t)config->n_materials + 1;
    ec_fdtd_line_plan *p = (ec_fdtd_line_plan *)calloc(1, sizeof *p);
    ec_fdtd_line_work work = {0};
    int status = EC_OK;

    *plan = NULL;
    if (p) {
        p->model = model;
        p->narrow = p->uncorrected = p->apart[0] = -1;
        p->material_wavelength = (double *)calloc(materials, sizeof(double));
        p->cells_a_wave = (double *)calloc(materials, sizeof(double));
    }
    if (!p || !p->material_wavelength || !p->cells_a_wave)
        status = ec_fail(EC_ERR_MEMORY, "no memory for the plan of a grid");
    if (status == EC_OK)
        status = plan_sizes(p);
    if (status == EC_OK)
        status = middle_design(p);
    if (status == EC_OK)
        status = add_marks(p);
    if (status == EC_OK)
        status = further_designs(p);
    if (status == EC_OK)
        status = check_scale(p);
    if (status == EC_OK) {
        plan_tolerance(p);
        status = ec_fdtd_line_work_create(p, &work);
    }
    for (int a = 0; a < 3 && status == EC_OK; a++) {
        p->axis[a].uniform = config->grid.cell[a] > 0;
        for (int side = 0; side < 2; side++)
            p->layers[a][side] = config->wall[a][side] == EC_FDTD_WALL_PML ? config->layers : 0;
        status = p->axis[a].uniform ? plan_uniform(p, a) : plan_graded(p, a, &work);
    }
    if (status == EC_OK)
        status = check_cells(p);
    if (status == EC_OK)
        status = plan_look(p);
    free(work.memory);
    if (status == EC_OK) {
        warn(p, log);
        *plan = p;
    } else {
        ec_fdtd_line_plan_destroy(&p);
    }
    return status;
}

void ec_fdtd_line_plan_destroy(ec_fdtd_line_plan **plan)
{
    ec_fdtd_line_plan *p = *plan;

    if (!p)
        return;
    for (int a = 0; a < 3; a++) {
        free(p->axis[a].mark);
        free(p->axis[a].group);
        free(p->axis[a].per_interval);
    }
    free(p->material_wavelength);
    free(p->cells_a_wave);
    free(p->designs);
    free(p);
    *plan = NULL;
}

int32_t ec_fdtd_line_cells(const ec_fdtd_line_plan *plan, int axis)
{
    return plan->axis[axis].cells + plan->layers[axis][0] + plan->layers[axis][1];
}

int32_t ec_fdtd_line_layers(const ec_fdtd_line_plan *plan, int axis, int side)
{
    return plan->layers[axis][side];
}

double ec_fdtd_line_plan_step(const ec_fdtd_line_plan *plan)
{
    return plan->step[isfinite(plan->step[0]) ? 0 : 1];
}

double ec_fdtd_line_resolution(const ec_fdtd_line_plan *plan)
{
    return plan->resolution;
}

double ec_fdtd_line_finest(const ec_fdtd_line_plan *plan)
{
    return fmin(plan->finest[0], fmin(plan->finest[1], plan->finest[2]));
}

/* ---- description ---- */

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;

    if (used + 1 >= size)
        return;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

static void describe_sizes(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    const ec_fdtd_config *config = &plan->model->config;
    const ec_fdtd_grid *grid = &config->grid;

    append(text, size, "cells wanted: at most %s in free space",
           ec_fdtd_length_of(ec_fdtd_line_largest(plan, plan->wavelength)).text);
    if (grid->cells_per_wavelength > 0 && isfinite(plan->wavelength))
        append(text, size, " (%g a wavelength of %s at %.6g GHz%s)", grid->cells_per_wavelength,
               ec_fdtd_length_of(plan->wavelength).text, 1e-9 * plan->top,
               plan->largest < plan->wavelength / grid->cells_per_wavelength
                   ? ", limited by the largest cell"
                   : "");
    if (grid->least_cells > 0)
        append(text, size, "; at least %d across each object", (int)grid->least_cells);
    if (grid->smallest > 0)
        append(text, size, "; none below %s", ec_fdtd_length_of(grid->smallest).text);
    append(text, size, "\n");
    for (int32_t m = 0; m < config->n_materials; m++) {
        if (plan->cells_a_wave[1 + m] == 0)
            continue;
        append(text, size,
               "material '%s': at most %s, its shortest wavelength is %s; %.3g cells a wavelength "
               "where it is coarsest\n",
               config->materials[m].name ? config->materials[m].name : "",
               ec_fdtd_length_of(ec_fdtd_line_largest(plan, plan->material_wavelength[m])).text,
               ec_fdtd_length_of(plan->material_wavelength[m]).text, plan->cells_a_wave[1 + m]);
    }
    if (plan->cells_a_wave[0] > 0 && isfinite(plan->wavelength))
        append(text, size, "free space: %.3g cells a wavelength where it is coarsest\n",
               plan->cells_a_wave[0]);
}

static void describe_hints(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    char hint[400];

    for (int i = 0; ec_fdtd_line_hint(plan, i, hint, sizeof hint); i++)
        append(text, size, "%s\n", hint);
    if (ec_fdtd_line_uncorrected(plan, hint, sizeof hint))
        append(text, size, "%s\n", hint);
}

static void describe_air(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    const ec_fdtd_config *config = &plan->model->config;

    if (!uses_air(config))
        return;
    append(text, size, "air between objects and absorbing walls: %s",
           ec_fdtd_length_of(plan->air).text);
    if (isnan(config->grid.air))
        append(text, size, ", a quarter wavelength at %.6g GHz, the middle of the band",
               1e-9 * 0.25 * EC_LIGHT_SPEED / plan->air);
    append(text, size, "\n");
}

static void describe_axis(const ec_fdtd_line_plan *plan, int a, char *text, size_t size)
{
    const ec_fdtd_config *config = &plan->model->config;
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    char owner[2][96];
    double ends[2];

    append(text, size, "%c: %d cells", 'x' + a, (int)ec_fdtd_line_cells(plan, a));
    if (plan->layers[a][0] + plan->layers[a][1] > 0)
        append(text, size, " with %d + %d absorbing", (int)plan->layers[a][0],
               (int)plan->layers[a][1]);
    if (ec_fdtd_line_domain(plan, a, plan->designs, ends) == EC_OK)
        append(text, size, ", domain from %s to %s", ec_fdtd_length_of(ends[0]).text,
               ec_fdtd_length_of(ends[1]).text);
    if (axis->uniform) {
        append(text, size, ", uniform cells of %s%s\n",
               ec_fdtd_length_of(config->grid.cell[a]).text,
               config->grid.snap ? ", edges at the nearest lines" : "");
        return;
    }
    for (int i = 0; i < 2; i++)
        ec_fdtd_owner_text(config, axis->mark[axis->at_smallest[i]].owner, owner[i]);
    append(text, size, ", %d marks, smallest cell %s (between ends of %s and %s)", (int)axis->n + 1,
           ec_fdtd_length_of(axis->smallest).text, owner[0], owner[1]);
    append(text, size, ", neighbours differ by up to %.3g%s\n", axis->ratio,
           axis->ratio > config->grid.growth * 1.005 ? ", more than the growth asked for" : "");
    for (int i = 0; i < 2 && axis->joined > 0; i++)
        ec_fdtd_owner_text(config, axis->mark[axis->at_joined[i]].owner, owner[i]);
    if (axis->joined > 0)
        append(text, size, "%c: edges up to %s apart share a line, as those of %s and %s\n",
               'x' + a, ec_fdtd_length_of(axis->joined).text, owner[0], owner[1]);
    if (axis->n_other > 0)
        append(text, size,
               "%c: edges come in another order in %d of %d designs of the ranges; their "
               "cells are shared out anew\n",
               'x' + a, (int)axis->n_other, (int)axis->n_designs);
}

static void describe_steps(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    const bool many = plan->n_designs > 1;

    if (!isfinite(plan->step[1]))
        return;
    if (isfinite(plan->step[0]))
        append(text, size, "time step %.4g ps%s", 1e12 * plan->step[0],
               many ? " in the middle of the ranges, " : "");
    if (many)
        append(text, size, "%s%.4g ps at the least of %d designs",
               isfinite(plan->step[0]) ? "" : "time step ", 1e12 * plan->step[1],
               (int)plan->n_designs);
    append(text, size, ", by cells of %s, %s and %s along x, y and z\n",
           ec_fdtd_length_of(plan->finest[0]).text, ec_fdtd_length_of(plan->finest[1]).text,
           ec_fdtd_length_of(plan->finest[2]).text);
}

void ec_fdtd_line_plan_describe(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    if (size == 0)
        return;
    text[0] = 0;
    describe_sizes(plan, text, size);
    describe_hints(plan, text, size);
    describe_air(plan, text, size);
    for (int a = 0; a < 3; a++)
        describe_axis(plan, a, text, size);
    describe_steps(plan, text, size);
}
