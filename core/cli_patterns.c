#include "cli_patterns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/array_pattern/array_pattern_winner.h"
#include "output.h"

/* Arrays written for one search: scripts with more save them on their own (best:save). */
enum { MOST_ARRAYS = 8 };

/* ---- which nodes a job uses ------------------------------------------------------------------ */

/* All goals, constraints and records of the job; malloc'ed. */
static ec_expr *job_outputs(const ec_job *job, int32_t *count)
{
    int32_t no = ec_job_objective_count(job), nc = ec_job_constraint_count(job),
            nr = ec_job_record_count(job);
    ec_expr *e = malloc((size_t)(no + nc + nr + 1) * sizeof *e);
    int32_t n = 0;
    for (int32_t i = 0; e && i < no; i++)
        e[n++] = ec_job_objective(job, i)->expr;
    for (int32_t i = 0; e && i < nc; i++)
        e[n++] = ec_job_constraint(job, i)->expr;
    for (int32_t i = 0; e && i < nr; i++)
        e[n++] = ec_job_record(job, i)->expr;
    *count = n;
    return e;
}

bool *ec_cli_job_nodes(const ec_job *job)
{
    const ec_graph *graph = ec_job_graph(job);
    int32_t n;
    ec_expr *outputs = job_outputs(job, &n);
    bool *needed = malloc((size_t)ec_graph_count(graph) + 1);
    if (outputs && needed)
        ec_graph_reach(graph, n, outputs, needed);
    if (!outputs) {
        free(needed);
        needed = NULL;
    }
    free(outputs);
    return needed;
}

int ec_cli_calls_of(const ec_graph *graph, const bool *needed, const ec_evaluator_def *def,
                    bool (*wanted)(const ec_call *call), int most, ec_call **calls, int *left_out)
{
    int n = 0;

    *left_out = 0;
    for (int32_t i = 0; i < ec_graph_count(graph); i++) {
        const ec_node *node = ec_graph_node(graph, i);
        bool is_new = needed[i] && node->op == EC_OP_CALL_OUTPUT &&
                      node->call->mode == EC_MODE_RUN && node->call->def == def &&
                      (!wanted || wanted(node->call));
        for (int k = 0; is_new && k < n; k++)
            is_new = calls[k] != node->call;
        if (is_new && n < most)
            calls[n++] = node->call;
        else if (is_new)
            (*left_out)++;
    }
    return n;
}

int ec_cli_job_calls(const ec_job *job, const ec_evaluator_def *def,
                     bool (*wanted)(const ec_call *call), int most, ec_call **calls, int *left_out)
{
    bool *needed = ec_cli_job_nodes(job);
    if (!needed)
        return ec_fail(EC_ERR_MEMORY, "no memory for the files of a search");
    const int n = ec_cli_calls_of(ec_job_graph(job), needed, def, wanted, most, calls, left_out);
    free(needed);
    return n;
}

bool ec_cli_is_array_output(const ec_node *node)
{
    return node->op == EC_OP_CALL_OUTPUT && node->call->mode == EC_MODE_RUN &&
           strcmp(node->call->def->name, "array_pattern") == 0;
}

static int find_arrays(const ec_job *job, const bool *needed, ec_call **calls, int *left_out)
{
    const ec_graph *graph = ec_job_graph(job);
    int n = 0;
    *left_out = 0;
    for (int32_t i = 0; i < ec_graph_count(graph); i++) {
        const ec_node *node = ec_graph_node(graph, i);
        /* a list of directions is a metric's own, no pattern to draw */
        bool is_new = needed[i] && ec_cli_is_array_output(node) &&
                      ec_array_call_config(node->call)->kind != EC_ARRAY_DIRECTIONS;
        for (int k = 0; is_new && k < n; k++)
            is_new = calls[k] != node->call;
        if (is_new && n < MOST_ARRAYS)
            calls[n++] = node->call;
        else if (is_new)
            (*left_out)++;
    }
    return n;
}

/* ---- an array -------------------------------------------------------------------------------- */

typedef struct drawing {
    ec_array_winner winner;
    const bool *needed; /* nodes of the job */
    int32_t n_nodes;    /* when the drawing began: it adds nodes of its own */
    const char *folder;
    char suffix[16], title[300];
    ec_log *log;
    ec_array_config grid; /* the script's, or finer */
    double *fine[2];      /* its lists when it is finer */
    double *power;        /* |F|^2 there */
    double peak, at[2];   /* the largest, and where; refined on a surface */
} drawing;

static bool is_surface(ec_array_grid_kind kind)
{
    return kind == EC_ARRAY_GRID_UV || kind == EC_ARRAY_GRID_THETA_PHI;
}

static bool in_degrees(ec_array_grid_kind kind)
{
    return kind != EC_ARRAY_CUT_U && kind != EC_ARRAY_GRID_UV;
}

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "no memory for the pattern");
}

/* A file that an array cannot have is no error of the run. */
static int say_left_out(const drawing *d, const char *file, int status)
{
    if (status != EC_ERR_UNSUPPORTED && status != EC_ERR_RANGE)
        return status;
    ec_log_write(d->log, status == EC_ERR_RANGE ? EC_LOG_WARNING : EC_LOG_INFO,
                 "%s was not written: %s", file, ec_error_text());
    return EC_OK;
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* Each interval of an ascending grid in equal parts, so that it has `least` points or more;
 * malloc'ed. */
static double *refine(const double *at, int32_t n, int32_t least, int32_t *count)
{
    int32_t parts = n > 1 && n < least ? (least - 1 + n - 2) / (n - 1) : 1;
    int32_t total = (n - 1) * parts + 1;
    double *fine = malloc((size_t)total * sizeof *fine);
    for (int32_t i = 0; fine && i < total; i++) {
        int32_t k = i / parts, part = i % parts;
        fine[i] = part ? at[k] + (at[k + 1] - at[k]) * ((double)part / parts) : at[k];
    }
    *count = total;
    return fine;
}

/* What a picture may cost, in elements times directions. */
static const double most_terms = 1e9;

/* A finer grid, so that nulls are drawn sharp; the script's where that takes too long. */
static int choose_grid(drawing *d)
{
    enum { CUT = 1001, SURFACE = 181 };
    ec_array_config c = d->grid;
    bool surface = is_surface(c.kind);
    d->fine[0] = refine(c.a, c.na, surface ? SURFACE : CUT, &c.na);
    d->fine[1] = surface ? refine(c.b, c.nb, SURFACE, &c.nb) : NULL;
    if (!d->fine[0] || (surface && !d->fine[1]))
        return no_memory();
    if ((double)c.elements * c.na * (surface ? c.nb : 1) > most_terms)
        return EC_OK;
    c.a = d->fine[0];
    c.b = d->fine[1];
    d->grid = c;
    return EC_OK;
}

/* Directions of a u-v grid or cut that are none become NaN. */
static void blank(const ec_array_config *c, double *power)
{
    if (in_degrees(c->kind))
        return;
    for (int32_t i = 0; i < c->na * c->nb; i++) {
        double u = c->a[i / c->nb], v = c->kind == EC_ARRAY_GRID_UV ? c->b[i % c->nb] : c->fixed;
        if (u * u + v * v > 1 + 1e-9)
            power[i] = NAN;
    }
}

/* Number of the largest value, -1 when there is none. */
static int32_t find_peak(const double *power, int32_t n)
{
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
        if (power[i] > (best < 0 ? -INFINITY : power[best]))
            best = i;
    return best;
}

/* |F|^2 to dB over a peak. */
static void to_level(double *power, int32_t n, double peak)
{
    for (int32_t i = 0; i < n; i++)
        if (!isnan(power[i]))
            power[i] = 10 * log10(fmax(power[i] / peak, 1e-20));
}

/* The vertex of the parabola through the levels of point i and its neighbours, `step` apart. */
static double vertex(const double *at, int32_t n, int32_t i, const double *power, ptrdiff_t step)
{
    if (i == 0 || i == n - 1)
        return at[i];
    double low = log(power[-step] / power[0]), high = log(power[step] / power[0]);
    double shift = 0.5 * (low - high) / (low + high);
    return at[i] +
           (isfinite(shift) && fabs(shift) <= 1 ? shift : 0) * 0.5 * (at[i + 1] - at[i - 1]);
}

/* Where the pattern is largest; between the points of a surface, so that cuts go through the peak.
 */
static int locate_peak(drawing *d)
{
    const ec_array_config *c = &d->grid;
    int32_t i = find_peak(d->power, c->na * c->nb);
    if (i < 0)
        i = 0; /* no value is a number */
    int32_t ia = i / c->nb, ib = i % c->nb;
    d->peak = d->power[i];
    d->at[0] = c->a[ia];
    d->at[1] = is_surface(c->kind) ? c->b[ib] : 0;
    if (!is_surface(c->kind))
        return EC_OK;
    double a = vertex(c->a, c->na, ia, d->power + i, c->nb);
    double b = vertex(c->b, c->nb, ib, d->power + i, 1), power = NAN;
    int status = ec_array_winner_along(&d->winner, 1, &a, &b, &power);
    if (status == EC_OK && power > d->peak) {
        d->peak = power;
        d->at[0] = a;
        d->at[1] = b;
    }
    return status;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static double *degrees_of(const double *radians, int32_t n)
{
    double *to = malloc((size_t)n * sizeof *to);
    for (int32_t i = 0; to && i < n; i++)
        to[i] = radians[i] * (180 / EC_PI);
    return to;
}

/* The limits of all masks over n directions (b: NULL on a cut), in dB over the peak; *limit is NULL
 * when there is none. [2][n], malloc'ed. */
static int make_limits(const drawing *d, int32_t n, const double *a, const double *b,
                       double **limit)
{
    const ec_graph *graph = ec_job_graph(d->winner.job);
    double *list = malloc(2 * (size_t)n * sizeof *list);
    bool some = false;
    int status = list ? EC_OK : no_memory();
    for (int32_t i = 0; list && i < 2 * n; i++)
        list[i] = NAN;
    for (int32_t e = 0; e < d->n_nodes && status == EC_OK; e++)
        if (d->needed[e] && ec_cli_is_array_output(ec_graph_node(graph, e)))
            status = ec_array_winner_mask(&d->winner, e, d->at, n, a, b, list, list + n);
    for (int32_t i = 0; i < 2 * n && status == EC_OK; i++) {
        some = some || !isnan(list[i]);
        list[i] -= 10 * log10(d->peak);
    }
    if (status == EC_OK && some) {
        *limit = list;
        return EC_OK;
    }
    free(list);
    return status;
}

/* A picture of levels on a cut (b NULL) or a surface. */
static int draw(const drawing *d, const char *part, const char *title, const char *const axis[2],
                const ec_array_config *c, const double *level, const double *limit)
{
    char name[64];
    bool degrees = strstr(axis[0], "_deg") != NULL;
    double *at[2] = {NULL, NULL};
    snprintf(name, sizeof name, "pattern%s%s", part, d->suffix);
    if (degrees) {
        at[0] = degrees_of(c->a, c->na);
        at[1] = axis[1] ? degrees_of(c->b, c->nb) : NULL;
        if (!at[0] || (axis[1] && !at[1])) {
            free(at[0]);
            return no_memory();
        }
    }
    ec_output_pattern p = {.name = name,
                           .title = title,
                           .axis = {axis[0], axis[1]},
                           .n = {c->na, axis[1] ? c->nb : 0},
                           .at = {degrees ? at[0] : c->a, degrees ? at[1] : c->b},
                           .value = "level_db",
                           .level = level,
                           .floor = NAN,
                           .max_db = limit,
                           .min_db = limit ? limit + c->na : NULL};
    int status = ec_output_plot(&p, d->folder, NULL, d->log);
    free(at[0]);
    free(at[1]);
    return status;
}

/* "NAME: sll_db = -20.1443", and which part of the field, which sample is drawn. */
static void write_title(drawing *d, int32_t samples)
{
    static const char *const part[] = {"", ", co-polar", ", cross-polar", ", theta component",
                                       ", phi component"};
    const ec_job *job = d->winner.job;
    const ec_result *result = d->winner.result;
    int n = snprintf(d->title, sizeof d->title, "%.120s: %.60s = %.6g", ec_job_name(job),
                     ec_job_objective(job, 0)->name, result->objective_final[0]);
    n += snprintf(d->title + n, sizeof d->title - (size_t)n, "%s%s",
                  result->violation > 0 ? " (infeasible)" : "", part[d->grid.polarization]);
    if (samples > 1)
        snprintf(d->title + n, sizeof d->title - (size_t)n, ", first of %d samples", (int)samples);
}

/* The pattern on the array's own kind of grid. */
static int draw_pattern(drawing *d)
{
    static const char *const axis[][2] = {
        {"u", NULL}, {"u", "v"}, {"theta_deg", NULL}, {"phi_deg", NULL}, {"theta_deg", "phi_deg"}};
    int32_t samples = 1;
    double *limit = NULL;
    int status = ec_array_winner_power(&d->winner, &d->grid, &d->power, &samples);
    if (status < 0)
        return status;
    const ec_array_config *c = &d->grid;
    int32_t n = c->na * c->nb;
    write_title(d, samples);
    if (samples > 1)
        ec_log_write(d->log, EC_LOG_INFO,
                     "pattern%s: the pattern of the first of %d samples (ec.over) is written",
                     d->suffix, (int)samples);
    blank(c, d->power);
    status = locate_peak(d);
    if (status == EC_OK && !is_surface(c->kind))
        status = make_limits(d, n, c->a, NULL, &limit);
    if (status == EC_OK) {
        to_level(d->power, n, d->peak);
        status = draw(d, "", d->title, axis[c->kind], c, d->power, limit);
    }
    free(limit);
    return status;
}

/* ---- cuts through the peak of a surface ------------------------------------------------------ */

enum { CUT_POINTS = 1001 };

/* From low to high along one coordinate, the other one fixed. */
static int draw_cut(const drawing *d, const char *part, int along, double low, double high,
                    double fixed)
{
    static const char *const names[2][2] = {{"u", "v"}, {"theta_deg", "phi_deg"}};
    const char *const *name = names[d->grid.kind == EC_ARRAY_GRID_THETA_PHI];
    const char *axis[2] = {name[along], NULL};
    double *list = malloc(3 * CUT_POINTS * sizeof *list), *limit = NULL;
    char title[400];
    if (!list)
        return no_memory();
    double *at[2] = {list, list + CUT_POINTS}, *power = list + 2 * CUT_POINTS;
    for (int32_t i = 0; i < CUT_POINTS; i++) {
        at[along][i] = low + (high - low) * ((double)i / (CUT_POINTS - 1));
        at[1 - along][i] = fixed;
    }
    int status = ec_array_winner_along(&d->winner, CUT_POINTS, at[0], at[1], power);
    if (status == EC_OK)
        status = make_limits(d, CUT_POINTS, at[0], at[1], &limit);
    if (status == EC_OK) {
        to_level(power, CUT_POINTS, d->peak);
        double unit = in_degrees(d->grid.kind) ? 180 / EC_PI : 1;
        snprintf(title, sizeof title, "%s, cut at %s = %.6g", d->title, name[1 - along],
                 fixed * unit + 0.0);
        ec_array_config c = {.na = CUT_POINTS, .a = at[along]};
        status = draw(d, part, title, axis, &c, power, limit);
    }
    free(limit);
    free(list);
    return status;
}

static int draw_cuts(const drawing *d)
{
    const ec_array_config *c = &d->grid;
    double a[2] = {c->a[0], c->a[c->na - 1]}, b[2] = {c->b[0], c->b[c->nb - 1]};
    if (c->kind == EC_ARRAY_GRID_UV) {
        int status = draw_cut(d, "_u_cut", 0, a[0], a[1], d->at[1]);
        return status < 0 ? status : draw_cut(d, "_v_cut", 1, b[0], b[1], d->at[0]);
    }
    /* theta runs on through the pole where the grid has the other side */
    double step = c->a[1] - c->a[0];
    bool through = a[0] < step && b[1] - b[0] > 2 * EC_PI - 1.5 * (c->b[1] - c->b[0]);
    double low = through ? -a[1] : a[0];
    int status = draw_cut(d, "_theta_cut", 0, low, a[1], d->at[1]);
    if (status < 0)
        return status;
    if (through && d->at[0] < step)
        return draw_cut(d, "_cross_cut", 0, low, a[1], d->at[1] + EC_PI / 2);
    return draw_cut(d, "_phi_cut", 1, b[0], b[1], d->at[0]);
}

/* ---- the u-v plane of a theta-phi grid ------------------------------------------------------- */

static int draw_uv(const drawing *d)
{
    enum { SIDE = 201 };
    static const char *const axis[2] = {"u", "v"};
    double at[SIDE], *power = NULL;
    ec_array_config c = d->grid;
    if (!(c.a[0] < EC_PI / 2) || (double)c.elements * SIDE * SIDE > most_terms)
        return EC_OK;
    for (int i = 0; i < SIDE; i++)
        at[i] = (i - SIDE / 2) / (double)(SIDE / 2);
    c.kind = EC_ARRAY_GRID_UV;
    c.a = c.b = at;
    c.na = c.nb = SIDE;
    int status = ec_array_winner_power(&d->winner, &c, &power, NULL);
    if (status < 0)
        return status;
    blank(&c, power);
    int32_t i = find_peak(power, SIDE * SIDE);
    to_level(power, SIDE * SIDE, fmax(d->peak, i < 0 ? 0 : power[i]));
    status = draw(d, "_uv", d->title, axis, &c, power, NULL);
    free(power);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_elements(const drawing *d)
{
    char file[40], path[4400];
    snprintf(file, sizeof file, "elements%s.csv", d->suffix);
    snprintf(path, sizeof path, "%s/%s", d->folder, file);
    return say_left_out(d, file, ec_array_winner_write_elements(&d->winner, path));
}

static int write_far_field(const drawing *d, const char *ending)
{
    char file[40], path[4400];
    snprintf(file, sizeof file, "pattern%s.%s", d->suffix, ending);
    snprintf(path, sizeof path, "%s/%s", d->folder, file);
    return say_left_out(d, file, ec_array_winner_write_far_field(&d->winner, path));
}

static int write_tables(const drawing *d)
{
    int status = write_elements(d);
    if (status == EC_OK && d->grid.kind == EC_ARRAY_GRID_THETA_PHI)
        status = write_far_field(d, "ffd");
    if (status == EC_OK && d->grid.kind != EC_ARRAY_DIRECTIONS)
        status = write_far_field(d, "cut"); /* says so where the grid has none */
    return status;
}

static int draw_array(drawing *d)
{
    int status = choose_grid(d);
    if (status == EC_OK)
        status = draw_pattern(d);
    if (status == EC_OK && is_surface(d->grid.kind))
        status = draw_cuts(d);
    if (status == EC_OK && d->grid.kind == EC_ARRAY_GRID_THETA_PHI)
        status = draw_uv(d);
    return status;
}

int ec_cli_patterns_write(ec_job *job, const ec_result *result, ec_backend *backend,
                          const char *folder, ec_log *log)
{
    ec_call *calls[MOST_ARRAYS];
    int32_t n_nodes = ec_graph_count(ec_job_graph(job));
    bool *needed = ec_cli_job_nodes(job);
    int left_out = 0, status = needed ? EC_OK : no_memory();
    int n = needed ? find_arrays(job, needed, calls, &left_out) : 0;
    for (int i = 0; i < n && status == EC_OK; i++) {
        drawing d = {.winner = {job, result, backend, calls[i]},
                     .needed = needed,
                     .n_nodes = n_nodes,
                     .folder = folder,
                     .log = log,
                     .grid = *ec_array_call_config(calls[i])};
        if (i > 0)
            snprintf(d.suffix, sizeof d.suffix, "_%d", i + 1);
        /* a metric may use an array in several polarizations */
        bool known = false;
        for (int k = 0; k < i && !known; k++)
            known = ec_array_winner_same_field(calls[k], calls[i]);
        if (!known)
            status = write_tables(&d);
        if (status == EC_OK && d.grid.kind != EC_ARRAY_DIRECTIONS)
            status = draw_array(&d);
        free(d.power);
        free(d.fine[0]);
        free(d.fine[1]);
    }
    if (left_out > 0)
        ec_log_write(log, EC_LOG_INFO,
                     "the first %d arrays were written, %d were not (best:save writes any)", n,
                     left_out);
    free(needed);
    return status;
}
