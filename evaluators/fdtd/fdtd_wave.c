/* fdtd_wave.c: the line along which an incident wave runs, and what it adds at its box. */
#include "fdtd_wave_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOURCE = 8,    /* cells of the line before the box */
    ABSORBER = 64, /* behind it */
    TAPS = 6
};

/* The direction and the fields of a wave, and the line's cells. */
typedef struct beam {
    double p[3], e[3], h[3];
    int axis, sign; /* of the grid that it runs along; axis -1: none */
    double cell;    /* of a line across the grid */
    int32_t nodes;  /* without the absorber */
    double *at;     /* [nodes + ABSORBER + 1] p . r of the nodes */
} beam;

static void cross(const double *a, const double *b, double *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Numbers of 1e-15 that cosines leave are none. */
static double clean(double x)
{
    return fabs(x) < 1e-12 ? 0 : x;
}

static void orient(const ec_fdtd_setup *s, const ec_fdtd_build *b, const ec_fdtd_box *box,
                   double theta, double phi, double turn, beam *w)
{
    const ec_fdtd_config *c = &s->model->config;
    const double to[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
    const double up[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), -sin(theta)};
    const double round[3] = {-sin(phi), cos(phi), 0};
    const double k =
        EC_PI * (c->frequency[0] + c->frequency[c->n_frequencies - 1]) / EC_LIGHT_SPEED;
    double grid[3], sum = 0;

    w->axis = -1;
    for (int i = 0; i < 3; i++) {
        w->p[i] = clean(-to[i]);
        if (fabs(w->p[i]) > 1 - 1e-12) {
            w->axis = i;
            w->sign = w->p[i] > 0 ? 1 : -1;
        }
        const double d =
            (b->line[i][box->hi[i]] - b->line[i][box->lo[i]]) / (box->hi[i] - box->lo[i]);
        sum += d * d * pow(w->p[i], 4);
        grid[i] = sin(0.5 * k * w->p[i] * d) / d;
        w->e[i] = clean(cos(turn) * up[i] + sin(turn) * round[i]);
    }
    w->cell = sqrt(sum);
    const double length = sqrt(dot(grid, grid));
    for (int i = 0; i < 3; i++)
        grid[i] = w->axis >= 0 ? w->p[i] : grid[i] / length;
    const double along = dot(w->e, grid);
    for (int i = 0; i < 3; i++)
        w->e[i] = clean(w->e[i] - along * grid[i]);
    const double size = sqrt(dot(w->e, w->e));
    for (int i = 0; i < 3; i++)
        w->e[i] /= size;
    cross(grid, w->e, w->h);
    for (int i = 0; i < 3; i++)
        w->h[i] = clean(w->h[i]);
}

/* Nodes of the line: those of the box, from half a cell before it to half a cell behind it, with room
 * at both ends. */
static bool nodes(const ec_fdtd_build *b, const ec_fdtd_box *box, beam *w)
{
    double low = 0, high = 0;

    if (w->axis >= 0) {
        w->nodes = box->hi[w->axis] - box->lo[w->axis] + 1 + 2 * SOURCE;
    } else {
        for (int i = 0; i < 3; i++) {
            const double *x = b->line[i];
            const double x0 = x[box->lo[i] - 1] * w->p[i], x1 = x[box->hi[i] + 1] * w->p[i];
            low += fmin(x0, x1);
            high += fmax(x0, x1);
        }
        w->nodes = (int32_t)ceil((high - low) / w->cell) + 1 + 2 * SOURCE;
    }
    const int32_t n = w->nodes + ABSORBER;
    w->at = malloc((size_t)(n + 1) * sizeof *w->at);
    if (!w->at)
        return false;
    if (w->axis < 0) {
        for (int32_t i = 0; i <= n; i++)
            w->at[i] = low + (i - SOURCE) * w->cell;
        return true;
    }
    const double *x = b->line[w->axis];
    const int32_t lo = box->lo[w->axis], hi = box->hi[w->axis];
    for (int32_t i = 0; i <= n; i++) {
        const int32_t j = w->sign > 0 ? lo + i - SOURCE : hi - i + SOURCE;
        /* Beyond one cell outside of the box all are as long as the cell there. */
        const int32_t in = j < lo - 1 ? lo - 1 : j > hi + 1 ? hi + 1 : j;
        const double d = j < lo ? x[lo] - x[lo - 1] : x[hi + 1] - x[hi];
        w->at[i] = w->sign * (x[in] + (j - in) * d);
    }
    return true;
}

/* Runs the line: rows of E(s) and H(s + 1/2) of its nodes, all divided by E's unit. */
static int propagate(const ec_fdtd_setup *s, const ec_fdtd_build *b, const beam *w,
                     ec_fdtd_plane_wave *to)
{
    const int32_t n = w->nodes + ABSORBER;
    double *memory = calloc(6 * (size_t)(n + 1), sizeof *memory);
    double *e = memory, *h = e + n + 1, *ea = h + n + 1, *eb = ea + n + 1, *ha = eb + n + 1,
           *hb = ha + n + 1;
    const double length = w->at[n] - w->at[w->nodes];
    const double most = 46 / (EC_FDTD_ETA0 * length); /* 1e-10 comes back */

    to->width = w->nodes;
    to->steps = b->n_wave + 64 +
                (int64_t)ceil(1.3 * (w->at[w->nodes] - w->at[0]) / (EC_LIGHT_SPEED * b->dt));
    for (int i = 0; i < 2; i++)
        to->line[i] = malloc((size_t)to->steps * (size_t)to->width * sizeof(double));
    if (!memory || !to->line[0] || !to->line[1]) {
        free(memory);
        return ec_fail(EC_ERR_MEMORY, "no memory for a plane wave of %lld steps",
                       (long long)to->steps);
    }
    for (int32_t i = 0; i < n; i++)
        for (int half = 0; half < 2; half++) {
            const double d =
                half ? w->at[i + 1] - w->at[i] : 0.5 * (w->at[i + 1] - w->at[i > 0 ? i - 1 : 0]);
            const double x = half ? 0.5 * (w->at[i] + w->at[i + 1]) : w->at[i];
            const double depth = fmax(0, (x - w->at[w->nodes]) / length);
            const double loss = most * depth * depth * depth * b->dt / (2 * EC_FDTD_EPS0);
            (half ? ha : ea)[i] = (1 - loss) / (1 + loss);
            (half ? hb : eb)[i] = -b->dt / (half ? EC_FDTD_MU0 : EC_FDTD_EPS0) / (1 + loss) / d;
        }
    for (int64_t t = 0; t < to->steps; t++) {
        memcpy(to->line[1] + t * to->width, e, (size_t)to->width * sizeof *e);
        for (int32_t i = 0; i < n; i++)
            h[i] = ha[i] * h[i] + hb[i] * (e[i + 1] - e[i]);
        memcpy(to->line[0] + t * to->width, h, (size_t)to->width * sizeof *h);
        for (int32_t i = 1; i < n; i++)
            e[i] = ea[i] * e[i] + eb[i] * (h[i] - h[i - 1]);
        e[0] = ec_fdtd_pulse_at(s, (double)(t + 1) * b->dt);
    }
    free(memory);
    return EC_OK;
}

/* Weights of the nodes around a place (m along p) of a line that begins at `start`, Lagrange's. */
static int32_t interpolate(const beam *w, double start, double place, double scale, double *weight)
{
    const double x = (place - start) / w->cell;
    const int32_t first = (int32_t)floor(x) - TAPS / 2 + 1;

    for (int t = 0; t < TAPS; t++) {
        weight[t] = scale;
        for (int u = 0; u < TAPS; u++)
            if (u != t)
                weight[t] *= (x - (first + u)) / (t - u);
    }
    return first;
}

/* Entry of one side of a pair; false: the wave has nothing there. */
static bool add(const ec_fdtd_build *b, const ec_fdtd_box *box, const beam *w,
                const ec_fdtd_pair *p, int side, ec_fdtd_entry *entry, double *weight)
{
    const double part = side ? w->e[p->e_c] : w->h[p->h_c];
    const double scale = p->turn * part * b->dt *
                         (side ? b->id_h[p->axis][p->cell] / EC_FDTD_MU0
                               : b->id_e[p->axis][p->place[p->axis]] / EC_FDTD_EPS0);
    int32_t place[3] = {p->place[0], p->place[1], p->place[2]};

    if (part == 0)
        return false;
    if (side)
        place[p->axis] = p->cell;
    entry->index = side ? p->h : p->e;
    entry->k = place[2];
    if (w->axis >= 0) { /* what E reads of H, and H of E, is at a node or a cell of the line */
        int32_t at = side ? p->place[w->axis] : w->axis == p->axis ? p->cell : place[w->axis];
        at = w->sign > 0 ? at - box->lo[w->axis] : box->hi[w->axis] - at - !side;
        entry->first = at + SOURCE;
        *weight = scale;
        return true;
    }
    double zeta = 0; /* of the one that is read: the pair's other field */
    for (int i = 0; i < 3; i++) {
        const double *x = b->line[i];
        double at = x[p->place[i]];
        if (i == p->e_c)
            at = 0.5 * (at + x[p->place[i] + 1]);
        if (i == p->axis && !side)
            at = 0.5 * (x[p->cell] + x[p->cell + 1]);
        zeta += w->p[i] * at;
    }
    entry->first = interpolate(w, w->at[0] + (side ? 0 : 0.5 * w->cell), zeta, scale, weight);
    return true;
}

/* An entry and its weights, for sorting. */
typedef struct part {
    ec_fdtd_entry entry;
    double weight[TAPS];
} part;

static int by_place(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->entry.k != y->entry.k)
        return x->entry.k < y->entry.k ? -1 : 1;
    if (x->entry.index != y->entry.index)
        return x->entry.index < y->entry.index ? -1 : 1;
    return x->weight[0] < y->weight[0] ? -1 : x->weight[0] > y->weight[0];
}

static int entries(const ec_fdtd_setup *s, const ec_fdtd_build *b, const ec_fdtd_box *box,
                   const beam *w, ec_fdtd_plane_wave *to)
{
    const size_t n = (size_t)ec_fdtd_box_count(box);
    ec_fdtd_pair *pair = malloc((n + 1) * sizeof *pair);
    part *all = malloc((n + 1) * sizeof *all);
    bool ok = pair && all;

    to->taps = w->axis >= 0 ? 1 : TAPS;
    if (ok)
        ec_fdtd_box_pairs(s, box, pair);
    for (int side = 0; side < 2 && ok; side++) {
        int32_t used = 0;
        for (size_t i = 0; i < n; i++) {
            part one = {.weight = {0}};
            if (add(b, box, w, pair + i, side, &one.entry, one.weight))
                all[used++] = one;
        }
        qsort(all, (size_t)used, sizeof *all, by_place);
        to->n[side] = used;
        to->entry[side] = malloc(((size_t)used + 1) * sizeof *to->entry[side]);
        to->weight[side] = malloc(((size_t)used * (size_t)to->taps + 1) * sizeof *to->weight[side]);
        ok = to->entry[side] && to->weight[side];
        for (int32_t i = 0; i < used && ok; i++) {
            to->entry[side][i] = all[i].entry;
            memcpy(to->weight[side] + (size_t)i * (size_t)to->taps, all[i].weight,
                   (size_t)to->taps * sizeof(double));
        }
    }
    free(pair);
    free(all);
    return ok ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for a plane wave");
}

int ec_fdtd_plane_wave_create(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                              const double *values, ec_fdtd_plane_wave **wave)
{
    const ec_fdtd_box box = ec_fdtd_box_of(setup, EC_FDTD_WAVE_INSET);
    beam w = {.at = NULL};
    int status = ec_fdtd_box_check(setup, build, &box, values, "plane wave");

    if (status < 0)
        return status;
    const ec_fdtd_incident_wave *in = &setup->model->config.wave;
    const double theta = ec_fdtd_number_of(in->theta, values);
    const double phi = ec_fdtd_number_of(in->phi, values);
    const double turn = ec_fdtd_number_of(in->polarization, values);
    if (!isfinite(theta) || !isfinite(phi) || !isfinite(turn))
        return ec_fail(EC_ERR_RANGE,
                       "plane wave: theta %g, phi %g, polarization %g rad: they must be finite",
                       theta, phi, turn);
    ec_fdtd_plane_wave *to = calloc(1, sizeof *to);
    orient(setup, build, &box, theta, phi, turn, &w);
    if (!to || !nodes(build, &box, &w))
        status = ec_fail(EC_ERR_MEMORY, "no memory for a plane wave");
    if (status >= 0)
        status = propagate(setup, build, &w, to);
    if (status >= 0)
        status = entries(setup, build, &box, &w, to);
    if (status >= 0)
        to->start = w.at[0];
    free(w.at);
    if (status < 0)
        ec_fdtd_plane_wave_destroy(&to);
    *wave = to;
    return status;
}

void ec_fdtd_plane_wave_destroy(ec_fdtd_plane_wave **wave)
{
    ec_fdtd_plane_wave *w = *wave;

    if (!w)
        return;
    for (int i = 0; i < 2; i++) {
        free(w->entry[i]);
        free(w->weight[i]);
        free(w->line[i]);
    }
    free(w);
    *wave = NULL;
}

size_t ec_fdtd_plane_wave_bytes(const ec_fdtd_plane_wave *w, size_t real)
{
    return 2 * (size_t)w->steps * (size_t)w->width * real +
           (size_t)(w->n[0] + w->n[1]) * (sizeof(ec_fdtd_entry) + (size_t)w->taps * sizeof(double));
}

ec_c128 ec_fdtd_plane_wave_spectrum(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                                    const ec_fdtd_plane_wave *wave, double frequency)
{
    /* To the origin the wave needs the time -start / c from the line's first node. */
    const double late = -wave->start / EC_LIGHT_SPEED;
    ec_c128 sum = {0, 0};

    for (int64_t t = 0; t <= build->n_wave; t++) {
        const double g = ec_fdtd_pulse_at(setup, (double)t * build->dt) * build->dt;
        const double angle = 2 * EC_PI * frequency * ((double)t * build->dt + late);
        sum.re += g * cos(angle);
        sum.im -= g * sin(angle);
    }
    return sum;
}
