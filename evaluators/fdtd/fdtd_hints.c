/* fdtd_hints.c: what a grid is likely to get wrong, to be said before a run. */
#include "fdtd_line_plan_internal.h"
#include "fdtd_raster_internal.h"

#include <stdio.h>
#include <string.h>

enum {
    FEW_ACROSS = 8,    /* cells of a strip: below it, 5 % and more of its impedance, a hint */
    ENOUGH_ACROSS = 16 /* what is advised */
};

#define STRIP 4.0 /* times its thickness a box of metal is wide to be a strip */
/* A strip is wider on the grid by half a cell, a line's impedance lower by this over the cells across: 50 ohm
 * on eps_r 2.2, as in the guide's table. */
#define WIDER 0.5
#define LOWER 0.36

static void extent_of(const ec_fdtd_line_plan *plan, int32_t object, double lo[3], double hi[3])
{
    for (int a = 0; a < 3; a++)
        ec_fdtd_object_extent(plan->model->config.objects + object, a, plan->designs, lo + a,
                              hi + a);
}

/* The resistance of an object's surface, ohm: 0 of ideal metal, INFINITY of what does not conduct. */
static double surface_ohms(const ec_fdtd_line_plan *plan, const ec_fdtd_object *o)
{
    if (o->material == EC_FDTD_PEC)
        return 0;
    return o->kind == EC_FDTD_PLATE && o->material == EC_FDTD_FREE_SPACE
               ? ec_fdtd_number_of(o->ohms, plan->designs)
               : INFINITY;
}

/* Whether an object is a strip that conducts: across which axis it is thin, and whether edge_correction knows
 * its edges. */
static bool is_strip(const ec_fdtd_line_plan *plan, int32_t object, int *thin, bool *corrected)
{
    const ec_fdtd_object *o = plan->model->config.objects + object;
    const bool polygon = o->kind == EC_FDTD_POLYGON;
    double lo[3], hi[3];

    if (!(surface_ohms(plan, o) < INFINITY))
        return false;
    extent_of(plan, object, lo, hi);
    *thin = o->axis;
    if (o->kind == EC_FDTD_BOX) {
        for (int a = 0; a < 3; a++)
            *thin = hi[a] - lo[a] < hi[*thin] - lo[*thin] ? a : *thin;
    } else if (!polygon && o->kind != EC_FDTD_PLATE) {
        return false;
    }
    const int u = (*thin + 1) % 3, v = (*thin + 2) % 3;
    const double thickness = hi[*thin] - lo[*thin];
    *corrected = !(thickness > 0) && !(surface_ohms(plan, o) * EC_FDTD_METAL_SHEET > 1);
    return fmin(hi[u] - lo[u], hi[v] - lo[v]) > STRIP * thickness;
}

/* Cells across an axis, with those of its image in a magnetic wall; 0 where the object has no edges there:
 * it ends with the domain. */
static int cells_across(const ec_fdtd_line_plan *plan, int a, const double *x, double lo, double hi)
{
    const ec_fdtd_grading lines = {.n = ec_fdtd_line_cells(plan, a), .at = (double *)x};
    const double low = x[plan->layers[a][0]], high = x[lines.n - plan->layers[a][1]];

    const ec_fdtd_wall *wall = plan->model->config.wall[a];
    const bool end[2] = {lo <= low + plan->tolerance, hi >= high - plan->tolerance};
    const bool image =
        (end[0] && wall[0] == EC_FDTD_WALL_PMC) || (end[1] && wall[1] == EC_FDTD_WALL_PMC);

    if (end[0] && end[1])
        return 0;
    return (ec_fdtd_interval_from(&lines, hi) - ec_fdtd_interval_from(&lines, lo)) *
           (image ? 2 : 1);
}

static void find_narrow(ec_fdtd_line_plan *plan, double *const x[3])
{
    const bool correction = plan->model->config.grid.edge_correction;

    plan->narrow_cells = FEW_ACROSS;
    for (int32_t k = 0; k < plan->model->config.n_objects; k++) {
        double lo[3], hi[3];
        bool corrected;
        int thin;
        if (!is_strip(plan, k, &thin, &corrected) || (correction && corrected))
            continue;
        extent_of(plan, k, lo, hi);
        if (correction && plan->uncorrected < 0)
            plan->uncorrected = k;
        const double ohms = surface_ohms(plan, plan->model->config.objects + k);
        for (int t = 1; t < 3 && ohms * EC_FDTD_METAL_SHEET <= 1; t++) {
            const int a = (thin + t) % 3, cells = cells_across(plan, a, x[a], lo[a], hi[a]);
            if (cells < 1 || cells >= plan->narrow_cells)
                continue;
            plan->narrow = k;
            plan->narrow_axis = a;
            plan->narrow_cells = cells;
        }
    }
}

/* The narrowest gap between two conductors that is far below a cell and no rounding. */
static void find_apart(ec_fdtd_line_plan *plan)
{
    const ec_fdtd_config *config = &plan->model->config;

    plan->apart_by = plan->near;
    for (int32_t k = 0; k < config->n_objects; k++)
        for (int32_t i = 0; i < config->n_objects; i++) {
            double lo[2][3], hi[2][3], gap = 0;
            int axis = -1, n = 0;
            if (i == k || !(surface_ohms(plan, config->objects + k) < INFINITY) ||
                !(surface_ohms(plan, config->objects + i) < INFINITY))
                continue;
            extent_of(plan, k, lo[0], hi[0]);
            extent_of(plan, i, lo[1], hi[1]);
            for (int a = 0; a < 3; a++) {
                const double d = lo[1][a] - hi[0][a];
                if (d <= plan->tolerance && lo[0][a] - hi[1][a] <= plan->tolerance)
                    continue;
                axis = a;
                gap = d;
                n++;
            }
            if (n != 1 || !(gap > plan->tolerance && gap < plan->apart_by))
                continue;
            plan->apart[0] = k;
            plan->apart[1] = i;
            plan->apart_axis = axis;
            plan->apart_by = gap;
        }
}

void ec_fdtd_line_find_hints(ec_fdtd_line_plan *plan, double *const x[3])
{
    if (!plan->model->config.grid.conformal)
        find_narrow(plan, x);
    find_apart(plan);
}

static void narrow_text(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    const int cells = plan->narrow_cells, axis = "xyz"[plan->narrow_axis];
    char owner[96];
    bool corrected;
    int thin;

    is_strip(plan, plan->narrow, &thin, &corrected);
    ec_fdtd_owner_text(&plan->model->config, plan->narrow, owner);
    snprintf(text, size,
             "%s has %d cell%s along %c: as a line its impedance is some %.0f %% low, a resonance "
             "along %c some %.0f %%; %s%d cells across it make it better",
             owner, cells, cells == 1 ? "" : "s", axis, 100 * LOWER / cells, axis,
             100 * WIDER / cells,
             corrected ? "edge_correction = true or " : "a plate with edge_correction = true or ",
             ENOUGH_ACROSS);
}

bool ec_fdtd_line_apart(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    char owner[2][96];

    if (plan->apart[0] < 0)
        return false;

    for (int i = 0; i < 2; i++)
        ec_fdtd_owner_text(&plan->model->config, plan->apart[i], owner[i]);
    snprintf(text, size,
             "%s and %s are %s apart along %c and do not touch: a slip of rounding? Overlap them, "
             "or give `smallest`",
             owner[0], owner[1], ec_fdtd_length_of(plan->apart_by).text, "xyz"[plan->apart_axis]);
    return true;
}

bool ec_fdtd_line_uncorrected(const ec_fdtd_line_plan *plan, char *text, size_t size)
{
    char owner[96];

    if (plan->uncorrected < 0)
        return false;
    const ec_fdtd_object *o = plan->model->config.objects + plan->uncorrected;
    ec_fdtd_owner_text(&plan->model->config, plan->uncorrected, owner);
    if (surface_ohms(plan, o) * EC_FDTD_METAL_SHEET > 1)
        snprintf(text, size,
                 "edge_correction leaves %s as it is: it has more than %g ohm a square, fields at "
                 "its edges are not those of metal",
                 owner, 1 / EC_FDTD_METAL_SHEET);
    else
        snprintf(text, size,
                 "edge_correction leaves %s as it is: it has a thickness, fields at its edges are "
                 "not those of a plate",
                 owner);
    return true;
}

bool ec_fdtd_line_hint(const ec_fdtd_line_plan *plan, int i, char *text, size_t size)
{
    if (plan->narrow >= 0 && i-- == 0) {
        narrow_text(plan, text, size);
        return true;
    }
    return i == 0 && ec_fdtd_line_apart(plan, text, size);
}
