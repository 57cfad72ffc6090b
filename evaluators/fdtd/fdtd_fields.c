/* fdtd_fields.c: runs a design for its fields. */
#include "fdtd_fields.h"

#include "fdtd_drive_internal.h"
#include "fdtd_line_plan_internal.h"
#include "fdtd_view_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one design ------------------------------------------------------------------------------ */

/* What a run of one domain is for. */
typedef struct take {
    const ec_fdtd_setup *setup;
    const double *values;
    int (*fill)(void *user, const ec_fdtd_setup *setup, const ec_fdtd_result *result,
                const ec_fdtd_wave *wave);
    void *user;
    int status;
} take;

static void done(void *user, size_t design, int32_t driven, const ec_fdtd_result *r)
{
    take *t = user;
    const ec_fdtd_config *c = &t->setup->model->config;
    const size_t waves = (size_t)c->n_ports * (size_t)c->n_frequencies;
    ec_fdtd_wave *wave = calloc(waves + 1, sizeof *wave);

    (void)design, (void)driven;
    t->status = r->status;
    if (!wave)
        t->status = ec_fail(EC_ERR_MEMORY, "fdtd: no memory for the waves of a design");
    if (t->status >= 0)
        t->status = ec_fdtd_waves(t->setup, t->values, r, wave);
    if (t->status >= 0)
        t->status = t->fill(t->user, t->setup, r, wave);
    free(wave);
}

/* Runs the design with j driven; values: of its numbers. */
static int run_design(const ec_fdtd_winner *w, const ec_fdtd_wants *wants, take *t)
{
    ec_fdtd_stack *stack = NULL;
    int status = ec_fdtd_stack_create(w->backend, t->setup, wants, 1, 0, &stack);

    if (status >= 0)
        status = ec_fdtd_stack_run(stack, 1, t->values, done, t, NULL);
    ec_fdtd_stack_destroy(&stack);
    return status < 0 ? status : t->status;
}

static int check_frequencies(const ec_call *call, int32_t n, const int32_t *frequency)
{
    const ec_fdtd_config *c = &ec_fdtd_model_of(call)->config;

    if (n < 1)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: at least one frequency is needed");
    for (int32_t i = 0; i < n; i++)
        if (frequency[i] < 0 || frequency[i] >= c->n_frequencies)
            return ec_fail(EC_ERR_ARGUMENT, "fdtd: there is no frequency %d: there are %d",
                           frequency[i] + 1, c->n_frequencies);
    return EC_OK;
}

static double *copy_of(const double *list, int32_t n)
{
    double *copy = malloc((size_t)n * sizeof *copy);
    if (copy)
        memcpy(copy, list, (size_t)n * sizeof *copy);
    return copy;
}

/* The frequencies of a list of them, malloc'ed. */
static double *frequencies_of(const ec_call *call, int32_t n, const int32_t *frequency)
{
    double *list = malloc((size_t)n * sizeof *list);
    for (int32_t i = 0; list && i < n; i++)
        list[i] = ec_fdtd_model_of(call)->config.frequency[frequency[i]];
    return list;
}

static ec_c128 over(ec_c128 a, ec_c128 b)
{
    const double d = b.re * b.re + b.im * b.im;
    return (ec_c128){(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d};
}

/* ---- planes ---------------------------------------------------------------------------------- */

typedef struct plane_take {
    const ec_fdtd_plane_info *info;
    const ec_fdtd_level *level;
    ec_fdtd_plane *plane;
} plane_take;

void ec_fdtd_plane_destroy(ec_fdtd_plane **plane)
{
    if (!plane || !*plane)
        return;
    for (int i = 0; i < 2; i++)
        free((*plane)->line[i]);
    free((*plane)->frequency);
    free((*plane)->e);
    free((*plane)->h);
    free(*plane);
    *plane = NULL;
}

/* The sum of a field at a spot, `part` of the second plane. */
static ec_c128 spot_at(const ec_fdtd_faces *s, int side, int32_t f, size_t first, size_t second,
                       double part)
{
    const size_t row = ((size_t)side * (size_t)s->n_frequencies + (size_t)f) * (size_t)s->n;
    double x[2][2];

    for (int i = 0; i < 2; i++) {
        const size_t at = 2 * (row + (i ? second : first));
        for (int k = 0; k < 2; k++)
            x[i][k] = s->double_precision ? ((const double *)s->sum)[at + (size_t)k]
                                          : ((const float *)s->sum)[at + (size_t)k];
    }
    return (ec_c128){x[0][0] + part * (x[1][0] - x[0][0]), x[0][1] + part * (x[1][1] - x[0][1])};
}

/* A component at the middle of face (i, j): E of an axis of the plane is at the middles of two of its sides
 * and H at those of the others, E across at its corners, H across in its middle. */
static ec_c128 face_value(const ec_fdtd_shape *shape, const ec_fdtd_plane *plane,
                          const ec_fdtd_between *is, const ec_fdtd_faces *s, int side, int c,
                          int32_t f, int32_t i, int32_t j)
{
    const size_t row = (size_t)shape->n[plane->u] + 1;
    const size_t nodes = row * ((size_t)shape->n[plane->v] + 1);
    const bool across = c == plane->axis;
    /* whether neighbours along u and v are averaged */
    const bool mu = side == 0 ? c != plane->u : c == plane->u;
    const bool mv = side == 0 ? c != plane->v : c == plane->v;
    const double part = across == (side == 0) ? is->cell_part : is->line_part;
    ec_c128 sum = {0, 0};

    for (int dj = 0; dj <= mv; dj++)
        for (int di = 0; di <= mu; di++) {
            const size_t at = (size_t)c * nodes + (size_t)(j + dj) * row + (size_t)(i + di);
            const ec_c128 x = spot_at(s, side, f, at, at + 3 * nodes, part);
            sum.re += x.re;
            sum.im += x.im;
        }
    const double count = (1 + mu) * (1 + mv);
    return (ec_c128){sum.re / count, sum.im / count};
}

static int allocate_plane(const ec_fdtd_setup *setup, const ec_fdtd_build *b, ec_fdtd_plane *p)
{
    size_t faces = (size_t)p->n_frequencies * 3;

    for (int t = 0; t < 2; t++) {
        const int axis = t ? p->v : p->u;
        const int32_t *layers = setup->shape.layers[axis];
        p->n[t] = setup->shape.n[axis] - layers[0] - layers[1];
        p->line[t] = copy_of(b->line[axis] + layers[0], p->n[t] + 1);
        faces *= (size_t)p->n[t];
    }
    p->e = malloc(faces * sizeof *p->e);
    p->h = malloc(faces * sizeof *p->h);
    return p->line[0] && p->line[1] && p->e && p->h
               ? EC_OK
               : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for the fields of a plane");
}

static int fill_plane(void *user, const ec_fdtd_setup *setup, const ec_fdtd_result *r,
                      const ec_fdtd_wave *wave)
{
    const plane_take *t = user;
    ec_fdtd_plane *p = t->plane;
    const ec_fdtd_between is = ec_fdtd_level_between(setup, r->build, t->level);
    int status;

    if ((status = allocate_plane(setup, r->build, p)) < 0)
        return status;
    const int32_t low[2] = {setup->shape.layers[p->u][0], setup->shape.layers[p->v][0]};
    for (int32_t f = 0; f < p->n_frequencies; f++) {
        const ec_fdtd_drive drive =
            ec_fdtd_drive_of(setup, r, wave, t->info->j, t->info->frequency[f]);
        const ec_c128 unit = drive.known ? drive.unit : (ec_c128){NAN, NAN};
        for (int32_t j = 0; j < p->n[1]; j++)
            for (int32_t i = 0; i < p->n[0]; i++)
                for (int c = 0; c < 3; c++) {
                    const size_t at =
                        3 * (((size_t)f * (size_t)p->n[1] + (size_t)j) * (size_t)p->n[0] +
                             (size_t)i) +
                        (size_t)c;
                    p->e[at] = over(face_value(&setup->shape, p, &is, &r->faces, 0, c, f,
                                               i + low[0], j + low[1]),
                                    unit);
                    p->h[at] = over(face_value(&setup->shape, p, &is, &r->faces, 1, c, f,
                                               i + low[0], j + low[1]),
                                    unit);
                }
    }
    return EC_OK;
}

/* Whether a plane is where fields are, before the design is run for it. */
static int check_place(const ec_fdtd_setup *setup, const double *values, const ec_fdtd_level *level)
{
    ec_fdtd_build *build = NULL;
    int status = ec_fdtd_build_outline(setup, values, &build);

    if (status < 0)
        return status;
    const double *end = build->end[level->axis];
    if (!(level->at >= end[0] - 1e-9 * fabs(end[0]) && level->at <= end[1] + 1e-9 * fabs(end[1])))
        status = ec_fail(EC_ERR_RANGE, "the plane %c = %s is outside of the domain, %s to %s",
                         "xyz"[level->axis], ec_fdtd_length_of(level->at).text,
                         ec_fdtd_length_of(end[0]).text, ec_fdtd_length_of(end[1]).text);
    ec_fdtd_build_destroy(setup, &build);
    return status;
}

int ec_fdtd_plane_create(const ec_fdtd_winner *winner, const ec_fdtd_plane_info *info,
                         ec_fdtd_plane **plane)
{
    int status = check_frequencies(winner->call, info->n_frequencies, info->frequency);
    ec_fdtd_level level = {.axis = info->axis};
    double *values = NULL;

    if (status >= 0 && (info->axis < 0 || info->axis > 2))
        status =
            ec_fail(EC_ERR_ARGUMENT, "fdtd: a plane is across axis 0, 1 or 2, not %d", info->axis);
    if (status >= 0)
        status = ec_fdtd_winner_number(winner, info->at, &level.at);
    if (status >= 0)
        status = ec_fdtd_winner_values(winner, &values);
    if (status >= 0)
        status = check_place(ec_fdtd_setup_of(winner->call, EC_FINAL), values, &level);
    ec_fdtd_plane *p = status >= 0 ? calloc(1, sizeof *p) : NULL;
    if (status >= 0 && p) {
        *p = (ec_fdtd_plane){.axis = info->axis,
                             .u = info->axis == 0 ? 1 : 0,
                             .v = info->axis == 2 ? 1 : 2,
                             .at = level.at,
                             .n_frequencies = info->n_frequencies};
        p->frequency = frequencies_of(winner->call, info->n_frequencies, info->frequency);
    }
    if (status >= 0 && (!p || !p->frequency))
        status = ec_fail(EC_ERR_MEMORY, "fdtd: no memory for the fields of a plane");
    if (status >= 0) {
        plane_take filled = {info, &level, p};
        take t = {.setup = ec_fdtd_setup_of(winner->call, EC_FINAL),
                  .values = values,
                  .fill = fill_plane,
                  .user = &filled};
        const ec_fdtd_wants wants = {.n_driven = 1,
                                     .driven = &info->j,
                                     .n_far = info->n_frequencies,
                                     .far = info->frequency,
                                     .n_levels = 1,
                                     .level = &level};
        status = run_design(winner, &wants, &t);
    }
    free(values);
    if (status < 0) {
        ec_fdtd_plane_destroy(&p);
        return status;
    }
    *plane = p;
    return EC_OK;
}

/* ---- patterns -------------------------------------------------------------------------------- */

typedef struct pattern_take {
    const ec_fdtd_pattern_info *info;
    ec_fdtd_pattern *pattern;
} pattern_take;

void ec_fdtd_pattern_destroy(ec_fdtd_pattern **pattern)
{
    if (!pattern || !*pattern)
        return;
    ec_fdtd_pattern *p = *pattern;
    free(p->theta);
    free(p->phi);
    free(p->frequency);
    free(p->e_theta);
    free(p->e_phi);
    free(p->radiated);
    free(p->accepted);
    free(p->offered);
    free(p);
    *pattern = NULL;
}

/* The fields of one theta over all phi. */
static int fill_ring(const ec_fdtd_setup *setup, const ec_fdtd_result *r,
                     const ec_fdtd_pattern_info *info, int32_t f, int32_t i, ec_c128 unit,
                     ec_fdtd_pattern *p)
{
    const size_t n = (size_t)p->n_phi, row = ((size_t)f * (size_t)p->n_theta + (size_t)i) * n;
    double(*direction)[2] = malloc(n * sizeof *direction);
    ec_c128(*e)[2] = malloc(n * sizeof *e);
    int status = direction && e ? EC_OK : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for far fields");

    for (size_t k = 0; k < n && status >= 0; k++) {
        direction[k][0] = p->theta[i];
        direction[k][1] = p->phi[k];
    }
    if (status >= 0)
        status = ec_fdtd_far_fields(setup, r->build, &r->faces, f, p->frequency[f], p->n_phi,
                                    (const double(*)[2])direction, e);
    for (size_t k = 0; k < n && status >= 0; k++) {
        const bool behind =
            ec_fdtd_far_is_behind(&setup->model->config, info->symmetry, direction[k]);
        p->e_theta[row + k] = behind ? (ec_c128){0, 0} : over(e[k][0], unit);
        p->e_phi[row + k] = behind ? (ec_c128){0, 0} : over(e[k][1], unit);
    }
    free(direction);
    free(e);
    return status;
}

static int fill_pattern(void *user, const ec_fdtd_setup *setup, const ec_fdtd_result *r,
                        const ec_fdtd_wave *wave)
{
    const pattern_take *t = user;
    const ec_fdtd_config *c = &setup->model->config;
    ec_fdtd_pattern *p = t->pattern;
    double twice = 1;
    int status = EC_OK;

    for (int axis = 0; axis < 3; axis++)
        twice *= t->info->symmetry[axis] ? 2 : 1;
    for (int32_t f = 0; f < p->n_frequencies; f++) {
        const int32_t j = t->info->j;
        const ec_fdtd_drive drive = ec_fdtd_drive_of(setup, r, wave, j, t->info->frequency[f]);
        const double squared = 2 * drive.offered;
        if (!drive.known)
            return ec_fail(EC_ERR_RANGE,
                           "the pulse has less than -60 dB of its peak at %.6g GHz: there are no "
                           "far fields",
                           1e-9 * p->frequency[f]);
        p->radiated[f] = twice * ec_fdtd_far_power(r->build, &r->faces, f) / squared;
        p->accepted[f] = twice * drive.accepted / squared;
        p->offered[f] = j != EC_FDTD_WAVE && ec_fdtd_has_waves(c->ports + j) ? 0.5 * twice : 0;
#pragma omp parallel for schedule(dynamic, 1)
        for (int32_t i = 0; i < p->n_theta; i++)
            if (fill_ring(setup, r, t->info, f, i, drive.unit, p) < 0) {
#pragma omp atomic write
                status = EC_ERR_MEMORY;
            }
    }
    return status < 0 ? ec_fail(EC_ERR_MEMORY, "fdtd: no memory for far fields") : EC_OK;
}

static int check_pattern(const ec_fdtd_winner *w, const ec_fdtd_pattern_info *info)
{
    /* What a far field asks for, of one direction. */
    const double first[1][2] = {{info->theta ? info->theta[0] : 0, info->phi ? info->phi[0] : 0}};
    ec_fdtd_far far = {.quantity = EC_FDTD_FAR_E_THETA,
                       .j = info->j,
                       .frequency = info->frequency[0],
                       .n = 1,
                       .direction = first};

    if (info->n_theta < 2 || info->n_phi < 1)
        return ec_fail(EC_ERR_ARGUMENT, "fdtd: a pattern wants two thetas and one phi at least");
    for (int i = 0; i < 3; i++)
        far.symmetry[i] = info->symmetry[i];
    const ec_expr e = ec_fdtd_far_value(w->graph, w->call, &far);
    return e < 0 ? (int)e : EC_OK;
}

static int allocate_pattern(const ec_call *call, const ec_fdtd_pattern_info *info,
                            ec_fdtd_pattern **pattern)
{
    const size_t nf = (size_t)info->n_frequencies;
    const size_t n = nf * (size_t)info->n_theta * (size_t)info->n_phi;
    ec_fdtd_pattern *p = *pattern = calloc(1, sizeof *p);

    if (p) {
        p->n_theta = info->n_theta;
        p->n_phi = info->n_phi;
        p->n_frequencies = info->n_frequencies;
        p->theta = copy_of(info->theta, info->n_theta);
        p->phi = copy_of(info->phi, info->n_phi);
        p->frequency = frequencies_of(call, info->n_frequencies, info->frequency);
        p->e_theta = calloc(n, sizeof *p->e_theta);
        p->e_phi = calloc(n, sizeof *p->e_phi);
        p->radiated = calloc(nf, sizeof *p->radiated);
        p->accepted = calloc(nf, sizeof *p->accepted);
        p->offered = calloc(nf, sizeof *p->offered);
    }
    return p && p->theta && p->phi && p->frequency && p->e_theta && p->e_phi && p->radiated &&
                   p->accepted && p->offered
               ? EC_OK
               : ec_fail(EC_ERR_MEMORY, "fdtd: no memory for far fields");
}

int ec_fdtd_pattern_create(const ec_fdtd_winner *winner, const ec_fdtd_pattern_info *info,
                           ec_fdtd_pattern **pattern)
{
    int status = check_frequencies(winner->call, info->n_frequencies, info->frequency);
    ec_fdtd_pattern *p = NULL;
    double *values = NULL;

    if (status >= 0)
        status = check_pattern(winner, info);
    if (status >= 0)
        status = ec_fdtd_winner_values(winner, &values);
    if (status >= 0)
        status = allocate_pattern(winner->call, info, &p);
    if (status >= 0) {
        pattern_take filled = {info, p};
        take t = {.setup = ec_fdtd_setup_of(winner->call, EC_FINAL),
                  .values = values,
                  .fill = fill_pattern,
                  .user = &filled};
        const ec_fdtd_wants wants = {.n_driven = 1,
                                     .driven = &info->j,
                                     .n_far = info->n_frequencies,
                                     .far = info->frequency};
        status = run_design(winner, &wants, &t);
    }
    free(values);
    if (status < 0) {
        ec_fdtd_pattern_destroy(&p);
        return status;
    }
    *pattern = p;
    return EC_OK;
}
