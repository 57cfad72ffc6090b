#include "fdtd_line_plan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUDDEN         1.5  /* times the growth, or the largest ratio that the plan has seen */
#define LINE_TOLERANCE 1e-6 /* of a uniform cell */

/* ---- words ---- */

void ec_fdtd_owner_text(const ec_fdtd_config *config, int32_t owner, char text[96])
{
    static const char *const kinds[] = {"box", "plate", "cylinder", "sphere", "polygon", "wire"};

    if (owner < 0) {
        snprintf(text, 96, "the domain");
        return;
    }
    bool port = owner >= config->n_objects;
    const char *kind = port ? "port" : kinds[config->objects[owner].kind];
    const char *name =
        port ? config->ports[owner - config->n_objects].name : config->objects[owner].name;
    if (name && name[0])
        snprintf(text, 96, "%s '%s'", kind, name);
    else
        snprintf(text, 96, "%s %d", kind, (int)(port ? owner - config->n_objects : owner) + 1);
}

ec_fdtd_length ec_fdtd_length_of(double x)
{
    static const struct {
        double least, unit;
        const char *name;
    } units[] = {{1, 1, "m"}, {1e-5, 1e-3, "mm"}, {1e-7, 1e-6, "um"}, {0, 1e-9, "nm"}};
    size_t k = 0;
    ec_fdtd_length t;

    while (x != 0 && isfinite(x) && fabs(x) < 0.9999999 * units[k].least)
        k++;
    snprintf(t.text, sizeof t.text, "%.6g %s", x / units[k].unit, units[k].name);
    return t;
}

/* ---- extents ---- */

void ec_fdtd_object_extent(const ec_fdtd_object *o, int axis, const double *values, double *lo,
                           double *hi)
{
    double at = ec_fdtd_number_of(o->at[axis], values), half;

    switch (o->kind) {
    case EC_FDTD_BOX:
    case EC_FDTD_PLATE:
        half = ec_fdtd_number_of(o->size[axis], values);
        *lo = at - 0.5 * half;
        *hi = at + 0.5 * half;
        break;
    case EC_FDTD_CYLINDER:
    case EC_FDTD_SPHERE:
        half = ec_fdtd_number_of(o->radius, values);
        if (o->kind == EC_FDTD_CYLINDER && axis == o->axis)
            half = 0.5 * ec_fdtd_number_of(o->length, values);
        *lo = at - half;
        *hi = at + half;
        break;
    case EC_FDTD_POLYGON:
        if (axis == o->axis) {
            *lo = at;
            *hi = at + ec_fdtd_number_of(o->length, values);
            break;
        }
        *lo = INFINITY;
        *hi = -INFINITY;
        for (int32_t i = 0; i < o->n_points; i++) {
            ec_fdtd_number point = o->points[i][(axis + 2 - o->axis) % 3];
            double x = at + ec_fdtd_number_of(point, values);
            *lo = x < *lo || isnan(x) ? x : *lo;
            *hi = x > *hi || isnan(x) ? x : *hi;
        }
        break;
    default:
        *lo = at;
        *hi = ec_fdtd_number_of(o->to[axis], values);
        break;
    }
    if (*lo > *hi) {
        double swap = *lo;
        *lo = *hi;
        *hi = swap;
    }
}

static void port_extent(const ec_fdtd_port *port, int axis, const double *values, double *lo,
                        double *hi)
{
    double a = ec_fdtd_number_of(port->from[axis], values);
    double b = ec_fdtd_number_of(port->to[axis], values);

    *lo = fmin(a, b);
    *hi = fmax(a, b);
}

static void owner_extent(const ec_fdtd_config *config, int32_t owner, int axis,
                         const double *values, double *lo, double *hi)
{
    if (owner < config->n_objects)
        ec_fdtd_object_extent(&config->objects[owner], axis, values, lo, hi);
    else
        port_extent(&config->ports[owner - config->n_objects], axis, values, lo, hi);
}

bool ec_fdtd_is_given(ec_fdtd_number number)
{
    return number.expr >= 0 || !isnan(number.value);
}

int ec_fdtd_line_domain(const ec_fdtd_line_plan *plan, int axis, const double *values,
                        double ends[2])
{
    const ec_fdtd_config *config = &plan->model->config;
    int32_t n_owners = config->n_objects + config->n_ports;
    char owner[96];

    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (int32_t k = 0; k < n_owners; k++) {
        double lo, hi;
        owner_extent(config, k, axis, values, &lo, &hi);
        if (isnan(lo) || isnan(hi)) {
            ec_fdtd_owner_text(config, k, owner);
            return ec_fail(EC_ERR_RANGE, "%s ends along %c at what is not a number", owner,
                           'x' + axis);
        }
        if (isfinite(lo)) /* an infinite one ends with the domain */
            ends[0] = fmin(ends[0], lo);
        if (isfinite(hi))
            ends[1] = fmax(ends[1], hi);
    }
    for (int side = 0; side < 2; side++) {
        ec_fdtd_number given = config->grid.domain[side][axis];
        if (ec_fdtd_is_given(given))
            ends[side] = ec_fdtd_number_of(given, values);
        else if (config->wall[axis][side] == EC_FDTD_WALL_PML)
            ends[side] += side ? plan->air : -plan->air;
    }
    if (!isfinite(ends[0]) || !isfinite(ends[1]))
        return ec_fail(EC_ERR_ARGUMENT,
                       "nothing says where the domain ends along %c: give `domain`, or objects "
                       "of a finite size",
                       'x' + axis);
    if (!(ends[1] - ends[0] > plan->tolerance))
        return ec_fail(EC_ERR_ARGUMENT, "the domain along %c is empty: from %s to %s", 'x' + axis,
                       ec_fdtd_length_of(ends[0]).text, ec_fdtd_length_of(ends[1]).text);
    for (int32_t k = 0; k < n_owners; k++) {
        double lo, hi;
        owner_extent(config, k, axis, values, &lo, &hi);
        bool outside = k < config->n_objects
                           ? hi < ends[0] - plan->tolerance || lo > ends[1] + plan->tolerance
                           : lo < ends[0] - plan->tolerance || hi > ends[1] + plan->tolerance;
        if (outside) {
            ec_fdtd_owner_text(config, k, owner);
            return ec_fail(EC_ERR_ARGUMENT,
                           "%s is outside of the domain: it lies from %s to %s along %c, the "
                           "domain from %s to %s",
                           owner, ec_fdtd_length_of(lo).text, ec_fdtd_length_of(hi).text,
                           'x' + axis, ec_fdtd_length_of(ends[0]).text,
                           ec_fdtd_length_of(ends[1]).text);
        }
    }
    return EC_OK;
}

/* ---- marks ---- */

double ec_fdtd_mark_value(const ec_fdtd_mark *mark, const double *values)
{
    double base = ec_fdtd_number_of(mark->base, values);

    return mark->factor == 0 ? base : base + mark->factor * ec_fdtd_number_of(mark->part, values);
}

/* ---- one axis of one candidate ---- */

int ec_fdtd_line_work_create(const ec_fdtd_line_plan *plan, ec_fdtd_line_work *work)
{
    size_t m = 0;

    for (int a = 0; a < 3; a++)
        m = (size_t)plan->axis[a].n_marks > m ? (size_t)plan->axis[a].n_marks : m;
    memset(work, 0, sizeof *work);
    work->memory = malloc(6 * m * sizeof(double) + 4 * m * sizeof(int32_t));
    if (!work->memory)
        return ec_fail(EC_ERR_MEMORY, "no memory for the grid lines of %zu marks", m);
    double *d = (double *)work->memory;
    int32_t *i = (int32_t *)(d + 6 * m);
    work->value = d;
    work->grading.at = d + m;
    work->grading.wanted = d + 2 * m;
    work->grading.cap = d + 3 * m;
    work->grading.end = d + 4 * m;
    work->grading.steps = d + 5 * m;
    work->order = i;
    work->group = i + m;
    work->head = i + 2 * m;
    work->grading.cells = i + 3 * m;
    work->grading.slope = log(plan->model->config.grid.growth);
    return EC_OK;
}

/* Merges sorted halves by (value, index); the marks of a model are almost in order already. */
static void sort_marks(const double *value, int32_t *order, int32_t *spare, int32_t n)
{
    if (n < 2)
        return;
    int32_t half = n / 2, a = 0, b = half;
    sort_marks(value, order, spare, half);
    sort_marks(value, order + half, spare, n - half);
    for (int32_t i = 0; i < n; i++) {
        bool first = b == n || (a < half && value[order[a]] <= value[order[b]]);
        spare[i] = order[first ? a++ : b++];
    }
    memcpy(order, spare, sizeof *order * (size_t)n);
}

double ec_fdtd_line_least(const ec_fdtd_line_plan *plan)
{
    const double smallest = plan->model->config.grid.smallest;

    return smallest > 0 ? smallest : 0;
}

static bool is_fixed(const ec_fdtd_mark *mark)
{
    return mark->base.expr < 0 && (mark->part.expr < 0 || mark->factor == 0);
}

/* Whether mark b, above a in a candidate, comes down to it or passes it in one of the plan's designs: then
 * the gap between them is an accident of the candidate, not one that the model has. */
static bool may_meet(const ec_fdtd_line_plan *plan, int a, int32_t low, int32_t high)
{
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    const bool ends = low < 2 || high < 2;

    if (!ends && is_fixed(&axis->mark[low]) && is_fixed(&axis->mark[high]))
        return false;
    for (int32_t d = 0; d < plan->n_designs; d++) {
        const double *values = plan->designs + (size_t)d * (size_t)plan->model->n_numbers;
        double end[2] = {0, 0};
        if (ends && ec_fdtd_line_domain(plan, a, values, end) != EC_OK)
            continue;
        const double from = low < 2 ? end[low] : ec_fdtd_mark_value(&axis->mark[low], values);
        const double to = high < 2 ? end[high] : ec_fdtd_mark_value(&axis->mark[high], values);
        if (to - from <= plan->tolerance)
            return true;
    }
    return false;
}

/* Makes one of neighbouring groups that would leave a cell far smaller than any that is wanted: of those that
 * may meet, and of all that are closer than the smallest cell asked for. Returns how many are left. */
static int32_t join_groups(const ec_fdtd_line_plan *plan, int a, ec_fdtd_line_work *work)
{
    const double least = ec_fdtd_line_least(plan) * (1 - 1e-9);
    const int32_t n = plan->axis[a].n_marks, *order = work->order;
    int32_t kept = 0, first = 0; /* of the last group that is kept, in the order */

    work->joined = 0;
    work->meet = true;
    for (int32_t i = 0, next; i < n; i = next) {
        const int32_t k = work->group[order[i]], head = work->head[k];
        for (next = i; next < n && work->group[order[next]] == k;)
            next++;
        bool joined = false;
        if (i > 0) {
            const double gap = work->value[head] - work->value[work->head[kept]];
            bool meet = false;
            for (int32_t l = first; l < i && gap < fmax(plan->near, least) && !meet; l++)
                for (int32_t h = i; h < next && !meet; h++)
                    meet = may_meet(plan, a, order[l], order[h]);
            joined = gap < least || (gap < plan->near && meet);
            kept += !joined;
            if (joined && (meet == work->meet ? gap > work->joined : !meet)) {
                work->joined = gap;
                work->meet = meet;
                work->at_joined[0] = work->head[kept];
                work->at_joined[1] = head;
            }
        }
        for (int32_t t = i; t < next; t++)
            work->group[order[t]] = kept;
        if (!joined || head < work->head[kept])
            work->head[kept] = head;
        first = joined ? first : i;
    }
    return kept + 1;
}

/* Groups of marks from low to high: fills value, group, head and the grading's marks. */
static void group_marks(const ec_fdtd_line_plan *plan, int a, const double *values,
                        const double ends[2], ec_fdtd_line_work *work)
{
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    int32_t n = 0;

    for (int32_t m = 0; m < axis->n_marks; m++) {
        double v = m < 2 ? ends[m] : ec_fdtd_mark_value(&axis->mark[m], values);
        work->value[m] = fmin(fmax(v, ends[0]), ends[1]);
        work->order[m] = m;
    }
    sort_marks(work->value, work->order, work->group, axis->n_marks);
    for (int32_t i = 0; i < axis->n_marks; i++) {
        int32_t m = work->order[i];
        if (i == 0 || work->value[m] - work->value[work->order[i - 1]] > plan->tolerance)
            work->head[n++] = m;
        else if (m < work->head[n - 1])
            work->head[n - 1] = m;
        work->group[m] = n - 1;
    }
    n = join_groups(plan, a, work);
    work->grading.n = n - 1;
    for (int32_t k = 0; k < n; k++)
        work->grading.at[k] = work->value[work->head[k]];
}

int32_t ec_fdtd_interval_from(const ec_fdtd_grading *g, double x)
{
    int32_t low = 0, high = g->n;

    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (0.5 * (g->at[middle] + g->at[middle + 1]) > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double ec_fdtd_line_largest(const ec_fdtd_line_plan *plan, double wavelength)
{
    double n = plan->model->config.grid.cells_per_wavelength;

    return n > 0 ? fmin(plan->largest, wavelength / n) : plan->largest;
}

double ec_fdtd_line_object_size(const ec_fdtd_line_plan *plan, const ec_fdtd_object *o, double lo,
                                double hi)
{
    const ec_fdtd_grid *grid = &plan->model->config.grid;
    double size = ec_fdtd_line_largest(
        plan, o->material >= 0 ? plan->material_wavelength[o->material] : plan->wavelength);

    if (grid->least_cells > 0 && hi - lo > plan->tolerance)
        size = fmin(size, (hi - lo) / grid->least_cells);
    return size;
}

static void want_sizes(const ec_fdtd_line_plan *plan, int a, const double *values,
                       ec_fdtd_grading *g)
{
    const ec_fdtd_config *config = &plan->model->config;

    for (int32_t k = 0; k < g->n; k++)
        g->wanted[k] = ec_fdtd_line_largest(plan, plan->wavelength);
    for (int32_t i = 0; i < config->n_objects; i++) {
        double lo, hi;
        ec_fdtd_object_extent(&config->objects[i], a, values, &lo, &hi);
        double size = ec_fdtd_line_object_size(plan, &config->objects[i], lo, hi);
        for (int32_t k = ec_fdtd_interval_from(g, lo);
             k < g->n && 0.5 * (g->at[k] + g->at[k + 1]) < hi; k++)
            g->wanted[k] = fmin(g->wanted[k], size);
    }
    if (!isnan(config->grid.smallest))
        for (int32_t k = 0; k < g->n; k++)
            g->wanted[k] = fmax(g->wanted[k], config->grid.smallest);
}

/* What is no conductor needs a cell of its own: a conductor becomes a sheet. */
static int check_least(const ec_fdtd_line_plan *plan, int a, const double *values)
{
    const ec_fdtd_config *config = &plan->model->config;
    const double least = ec_fdtd_line_least(plan);
    char owner[96];

    for (int32_t k = 0; k < config->n_objects && least > 0; k++) {
        double lo, hi;
        ec_fdtd_object_extent(&config->objects[k], a, values, &lo, &hi);
        if (config->objects[k].material < 0 || !(hi - lo < least * (1 - 1e-9)))
            continue;
        ec_fdtd_owner_text(config, k, owner);
        return ec_fail(EC_ERR_RANGE,
                       "%s is %s long along %c, less than the smallest cell, %s: it would vanish",
                       owner, ec_fdtd_length_of(hi - lo).text, 'x' + a,
                       ec_fdtd_length_of(least).text);
    }
    return EC_OK;
}

int ec_fdtd_line_prepare(const ec_fdtd_line_plan *plan, int a, const double *values,
                         ec_fdtd_line_work *work, bool *same)
{
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    double ends[2];
    int status = ec_fdtd_line_domain(plan, a, values, ends);

    if (status != EC_OK)
        return status;
    if ((status = check_least(plan, a, values)) != EC_OK)
        return status;
    group_marks(plan, a, values, ends, work);
    want_sizes(plan, a, values, &work->grading);
    work->grading.factor = 1;
    work->grading.floor = work->grading.least = ec_fdtd_line_least(plan);
    *same = axis->group && work->grading.n == axis->n &&
            !memcmp(work->group, axis->group, sizeof *axis->group * (size_t)axis->n_marks);
    return EC_OK;
}

/* The largest of a cell to its neighbour. */
static double ratio_of(const double *x, int32_t cells)
{
    double worst = 1;

    for (int32_t i = 1; i < cells; i++) {
        double ratio = (x[i + 1] - x[i]) / (x[i] - x[i - 1]);
        worst = fmax(worst, fmax(ratio, 1 / ratio));
    }
    return worst;
}

static double least_of(const double *x, int32_t cells)
{
    double least = INFINITY;

    for (int32_t i = 0; i < cells; i++)
        least = fmin(least, x[i + 1] - x[i]);
    return least;
}

static int lay_graded(const ec_fdtd_line_plan *plan, int a, const double *values,
                      ec_fdtd_line_work *work, double *x)
{
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    ec_fdtd_grading *g = &work->grading;
    bool same;
    int status = ec_fdtd_line_prepare(plan, a, values, work, &same);

    if (status != EC_OK)
        return status;
    if (g->n > axis->cells)
        return ec_fail(EC_ERR_ARGUMENT,
                       "%d edges of objects and ports along %c are more than its %d cells",
                       (int)g->n + 1, 'x' + a, (int)axis->cells);
    if (same) {
        memcpy(g->cells, axis->per_interval, sizeof *g->cells * (size_t)g->n);
        ec_fdtd_grading_place(g, x);
        double usual = fmax(axis->ratio, plan->model->config.grid.growth);
        double least = fmin(fmax(plan->near, g->least), EC_FDTD_LEAST_SHARE * axis->natural);
        same = ratio_of(x, axis->cells) <= SUDDEN * usual &&
               least_of(x, axis->cells) >= least * (1 - 1e-9);
    }
    if (!same) {
        ec_fdtd_grading_share(g, axis->cells);
        ec_fdtd_grading_place(g, x);
    }
    return EC_OK;
}

/* ---- uniform axes ---- */

static bool is_off_line(double steps)
{
    return fabs(steps - nearbyint(steps)) > LINE_TOLERANCE;
}

int ec_fdtd_line_uniform_span(const ec_fdtd_line_plan *plan, int a, const double *values,
                              double *low, int64_t *cells)
{
    const ec_fdtd_config *config = &plan->model->config;
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    double ends[2], cell = config->grid.cell[a], origin;
    int status = ec_fdtd_line_domain(plan, a, values, ends);

    if (status != EC_OK)
        return status;
    origin = ends[0];
    if (!ec_fdtd_is_given(config->grid.domain[0][a]) && config->wall[a][0] == EC_FDTD_WALL_PML)
        for (int32_t m = 2; m < axis->n_marks; m++) {
            double v = ec_fdtd_mark_value(&axis->mark[m], values);
            if (axis->mark[m].flat && isfinite(v)) {
                origin = v;
                break;
            }
        }
    *low = origin - ceil((origin - ends[0]) / cell - LINE_TOLERANCE) * cell;
    double steps = (ends[1] - *low) / cell;
    if (!(steps < EC_FDTD_MAX_CELLS))
        return ec_fail(EC_ERR_RANGE, "%.3g cells of %s along %c: allowed are %d", steps,
                       ec_fdtd_length_of(cell).text, 'x' + a, EC_FDTD_MAX_CELLS);
    if (config->wall[a][1] == EC_FDTD_WALL_PML) {
        *cells = (int64_t)ceil(steps - LINE_TOLERANCE);
        *cells = *cells < 1 ? 1 : *cells;
    } else {
        *cells = (int64_t)nearbyint(steps);
        if (*cells < 1 || (!config->grid.snap && is_off_line(steps)))
            return ec_fail(EC_ERR_ARGUMENT,
                           "the domain along %c, from %s to %s, is not a whole number of cells of "
                           "%s: change one of them, or set snap = true",
                           'x' + a, ec_fdtd_length_of(*low).text, ec_fdtd_length_of(ends[1]).text,
                           ec_fdtd_length_of(cell).text);
    }
    return EC_OK;
}

/* Faces on lines, or at the nearest one with `snap`, where no object may vanish. */
static int check_faces(const ec_fdtd_line_plan *plan, int a, const double *values, double low)
{
    const ec_fdtd_config *config = &plan->model->config;
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    double cell = config->grid.cell[a], lo, hi;
    char owner[96];

    for (int32_t m = 2; m < axis->n_marks && !config->grid.snap; m++) {
        double v = ec_fdtd_mark_value(&axis->mark[m], values), steps = (v - low) / cell;
        if (!axis->mark[m].flat || !isfinite(steps) || steps < 0 || steps > axis->cells ||
            !is_off_line(steps))
            continue;
        ec_fdtd_owner_text(config, axis->mark[m].owner, owner);
        return ec_fail(EC_ERR_ARGUMENT,
                       "%s ends along %c at %s, between the lines at %s and %s: change the cell, "
                       "leave it out for lines on all edges, or set snap = true",
                       owner, 'x' + a, ec_fdtd_length_of(v).text,
                       ec_fdtd_length_of(low + floor(steps) * cell).text,
                       ec_fdtd_length_of(low + ceil(steps) * cell).text);
    }
    for (int32_t k = 0; k < config->n_objects && config->grid.snap; k++) {
        ec_fdtd_object_extent(&config->objects[k], a, values, &lo, &hi);
        if (!(hi - lo > LINE_TOLERANCE * cell) ||
            nearbyint((hi - low) / cell) != nearbyint((lo - low) / cell))
            continue;
        ec_fdtd_owner_text(config, k, owner);
        return ec_fail(EC_ERR_ARGUMENT,
                       "%s is %s long along %c and vanishes between lines %s apart", owner,
                       ec_fdtd_length_of(hi - lo).text, 'x' + a, ec_fdtd_length_of(cell).text);
    }
    return EC_OK;
}

static int lay_uniform(const ec_fdtd_line_plan *plan, int a, const double *values, bool checked,
                       double *x)
{
    const ec_fdtd_config *config = &plan->model->config;
    const ec_fdtd_line_axis *axis = &plan->axis[a];
    double cell = config->grid.cell[a], low;
    int64_t cells;
    int status = ec_fdtd_line_uniform_span(plan, a, values, &low, &cells);

    if (status != EC_OK)
        return status;
    if (cells > axis->cells || (cells < axis->cells && config->wall[a][1] != EC_FDTD_WALL_PML))
        return ec_fail(EC_ERR_ARGUMENT,
                       "the domain along %c is %d cells of %s, and all designs have %d", 'x' + a,
                       (int)cells, ec_fdtd_length_of(cell).text, (int)axis->cells);
    if (checked)
        status = check_faces(plan, a, values, low);
    for (int32_t i = 0; i <= axis->cells; i++)
        x[i] = low + i * cell;
    return status;
}

/* ---- a candidate ---- */

int ec_fdtd_line_lay(const ec_fdtd_line_plan *plan, const double *values, bool checked,
                     double *const x[3])
{
    ec_fdtd_line_work work;
    int status = ec_fdtd_line_work_create(plan, &work);

    for (int a = 0; a < 3 && status == EC_OK; a++) {
        int32_t n = plan->axis[a].cells;
        double *inner = x[a] + plan->layers[a][0];
        status = plan->axis[a].uniform ? lay_uniform(plan, a, values, checked, inner)
                                       : lay_graded(plan, a, values, &work, inner);
        if (status != EC_OK)
            break;
        double first = inner[1] - inner[0], last = inner[n] - inner[n - 1];
        for (int32_t i = 1; i <= plan->layers[a][0]; i++)
            inner[-i] = inner[0] - i * first;
        for (int32_t i = 1; i <= plan->layers[a][1]; i++)
            inner[n + i] = inner[n] + i * last;
    }
    free(work.memory);
    return status;
}

double ec_fdtd_step_part(const ec_fdtd_config *c)
{
    return c->courant * (c->grid.conformal ? 0.5 : c->grid.edge_correction ? 0.7 : 1);
}

double ec_fdtd_line_step(const ec_fdtd_line_plan *plan, const double *const x[3])
{
    double sum = 0;

    for (int axis = 0; axis < 3; axis++) {
        const double least = least_of(x[axis], ec_fdtd_line_cells(plan, axis));
        sum += 1 / (least * least);
    }
    return ec_fdtd_step_part(&plan->model->config) / (EC_LIGHT_SPEED * sqrt(sum));
}

double ec_fdtd_line_reach(const ec_fdtd_line_plan *plan, int axis)
{
    const ec_fdtd_grid *grid = &plan->model->config.grid;

    if (plan->axis[axis].uniform)
        return (grid->snap ? 0.5001 : 2 * LINE_TOLERANCE) * grid->cell[axis];
    return fmax(plan->near, ec_fdtd_line_least(plan));
}

int ec_fdtd_lay_lines(const ec_fdtd_line_plan *plan, const double *values, double *const x[3])
{
    return ec_fdtd_line_lay(plan, values, true, x);
}

int32_t ec_fdtd_nearest_line(int32_t cells, const double *x, double position)
{
    int32_t low = 0, high = cells;

    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (x[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return position - x[low] <= x[high] - position ? low : high;
}
