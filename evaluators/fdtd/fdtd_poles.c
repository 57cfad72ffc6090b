/* fdtd_poles.c: numbers of poles, and the list of edges that lie in dispersive media. */
#include "fdtd_build_internal.h"
#include "fdtd_metal_internal.h"

#include <stdlib.h>
#include <string.h>

/* A pole that adds less to the permittivity does nothing, and its inverse would leave float32. */
static const double nothing = 1e-30;

void ec_fdtd_pole_numbers(ec_fdtd_pole_kind kind, double strength, double time, double resonance,
                          double damping, double dt, double *number)
{
    double *c = number;

    memset(c, 0, EC_FDTD_POLE_NUMBERS * sizeof *c);
    if (strength < nothing)
        return;
    if (kind == EC_FDTD_DEBYE) {
        const double t = 1 / (time / dt + 0.5);
        c[EC_FDTD_POLE_CP] = -t;
        c[EC_FDTD_POLE_CE] = strength * t;
        c[EC_FDTD_POLE_KP] = 1;
        c[EC_FDTD_POLE_UP] = 1 / strength;
        return;
    }
    /* d w0^2 (of Drude wp^2), w0^2 and twice the damping, in units of the step. */
    const double w = kind == EC_FDTD_DRUDE ? 0 : resonance * dt * resonance * dt;
    const double drive = kind == EC_FDTD_DRUDE ? strength * dt * strength * dt : strength * w;
    if (drive < nothing)
        return;
    const double loss = (kind == EC_FDTD_DRUDE ? 1 : 2) * damping * dt;
    const double t = 1 / (1 + 0.5 * loss + 0.25 * w);
    c[EC_FDTD_POLE_CP] = -0.5 * w * t;
    c[EC_FDTD_POLE_CQ] = t;
    c[EC_FDTD_POLE_CE] = 0.5 * drive * t;
    c[EC_FDTD_POLE_KP] = kind == EC_FDTD_LORENTZ ? 1 : 0;
    c[EC_FDTD_POLE_KQ] = 1;
    c[EC_FDTD_POLE_UP] = kind == EC_FDTD_LORENTZ ? 1 / strength : 0;
    c[EC_FDTD_POLE_UQ] = 1 / drive;
}

static int check_pole(const ec_fdtd_material *m, int32_t i, const double v[4])
{
    static const char *const kinds[] = {"Debye", "Drude", "Lorentz"};
    static const char *const names[][4] = {
        {"delta", "tau"}, {"omega_p", NULL, NULL, "gamma"}, {"delta", NULL, "omega_0", "gamma"}};
    const ec_fdtd_pole_kind kind = m->poles[i].kind;
    const bool wanted[] = {true, kind == EC_FDTD_DEBYE, kind == EC_FDTD_LORENTZ,
                           kind != EC_FDTD_DEBYE};

    for (int k = 0; k < 4; k++) {
        const bool positive = k == 1 || k == 2;
        if (wanted[k] && (!isfinite(v[k]) || v[k] < 0 || (positive && v[k] == 0)))
            return ec_fail(EC_ERR_RANGE,
                           "material '%s', pole %d (%s): its %s is %g: it must be %s, or the "
                           "medium gains",
                           m->name ? m->name : "", i + 1, kinds[kind], names[kind][k], v[k],
                           positive ? "above 0" : "at least 0");
    }
    return EC_OK;
}

/* ---- edges -------------------------------------------------------------------------------------- */

typedef struct range {
    int lo, hi; /* nodes, both included */
} range;

/* The nodes of an axis that dispersive objects may reach; empty without any. */
static range reach(const ec_fdtd_setup *s, const ec_fdtd_build *b, const int32_t *first, int axis)
{
    const double *x = b->line[axis];
    const int n = s->shape.n[axis];
    range all = {n, 0};

    for (int32_t i = 0; i < b->n_solids; i++) {
        const ec_fdtd_solid *o = b->solid + i;
        const int32_t medium = o->metal >= 0 ? o->metal : o->material;
        range r = {0, n};
        if (medium < 0 || first[medium] == first[medium + 1])
            continue;
        /* A node's dual cell ends before its neighbours do. What touches an end goes on into the
         * absorbing layers, and around a periodic axis. */
        while (r.lo < n && x[r.lo + 1] < o->lo[axis])
            r.lo++;
        while (r.hi > 0 && x[r.hi - 1] > o->hi[axis])
            r.hi--;
        if (r.lo <= s->shape.layers[axis][0] || s->shape.periodic[axis])
            r.lo = 0;
        if (r.hi >= n - s->shape.layers[axis][1] || s->shape.periodic[axis])
            r.hi = n;
        all.lo = r.lo < all.lo ? r.lo : all.lo;
        all.hi = r.hi > all.hi ? r.hi : all.hi;
    }
    return all;
}

typedef struct search {
    const ec_fdtd_setup *setup;
    ec_fdtd_build *build;
    const ec_fdtd_raster_args *args;
    const int32_t *first; /* [n_media + 1] poles of each medium */
    range node[3];
    const ec_interrupt *interrupt;
} search;

/* Counts the dispersive edges and their parts in plane k, or writes them from *edges and *parts on. */
static void plane(const search *s, int k, bool write, double *share, int32_t *edges, int32_t *parts)
{
    const ec_fdtd_shape *shape = &s->setup->shape;
    const int64_t component = shape->plane * (shape->n[2] + 1);
    ec_fdtd_build *b = s->build;

    for (int c = 0; c < 3; c++)
        for (int j = s->node[1].lo; j <= s->node[1].hi; j++)
            for (int i = s->node[0].lo; i <= s->node[0].hi; i++) {
                const int place[3] = {i, j, k};
                double eps, sigma, area;
                int32_t n = 0;
                bool copied = false; /* the last node of a periodic axis stands for the first */
                for (int axis = 0; axis < 3; axis++)
                    copied = copied || (axis != c && shape->periodic[axis] && place[axis] == 0);
                memset(share, 0, (size_t)b->n_media * sizeof *share);
                if (copied || !ec_fdtd_edge(s->args, s->args->structure, c, place, &eps, &sigma,
                                            &area, share))
                    continue;
                for (int32_t m = 0; m < b->n_media; m++)
                    for (int32_t p = s->first[m]; p < s->first[m + 1] && share[m] > 0; p++, n++)
                        if (write)
                            b->part[*parts + n] =
                                (ec_fdtd_pole_part){share[m] * EC_FDTD_EPS0 / b->dt, p};
                if (n == 0)
                    continue;
                const int64_t at = ec_fdtd_at(shape, i, j, k);
                if (write)
                    b->dispersive[*edges] = (ec_fdtd_dispersive){
                        c * component + at, c * shape->field + shape->plane + at, k, *parts};
                ++*edges;
                *parts += n;
            }
}

/* Counts or writes planes from `from` to `to`; n: edges and parts before each. False: no memory. */
static bool planes(const search *s, int from, int to, bool write, int32_t *n)
{
    bool failed = false;

#pragma omp parallel for schedule(dynamic, 1)
    for (int t = from; t < to; t++) {
        double *share = malloc((size_t)s->build->n_media * sizeof *share);
        int32_t at[2] = {write ? n[2 * t] : 0, write ? n[2 * t + 1] : 0};
        if (!share) {
#pragma omp atomic write
            failed = true;
            continue;
        }
        plane(s, s->node[2].lo + t, write, share, at, at + 1);
        if (!write) {
            n[2 * t + 2] = at[0];
            n[2 * t + 3] = at[1];
        }
        free(share);
    }
    return !failed;
}

/* Fills the list: each plane is counted first, so that threads know where theirs begins. */
static int edges(const search *s)
{
    enum { BETWEEN = 16 }; /* planes between two looks at the interrupt */
    ec_fdtd_build *b = s->build;
    const int count = s->node[2].hi - s->node[2].lo + 1;
    int32_t *n = calloc(2 * ((size_t)count + 1), sizeof *n);
    bool failed = !n;

    for (int write = 0; write < 2 && !failed; write++) {
        for (int t = 0; t < count && !failed; t += BETWEEN) {
            if (s->interrupt && s->interrupt->asked(s->interrupt->user)) {
                free(n);
                return EC_STOPPED;
            }
            failed = !planes(s, t, t + BETWEEN < count ? t + BETWEEN : count, write, n);
        }
        if (write || failed)
            break;
        for (int t = 0; t < count; t++) {
            n[2 * t + 2] += n[2 * t];
            n[2 * t + 3] += n[2 * t + 1];
        }
        b->n_dispersive = n[2 * count];
        b->n_parts = n[2 * count + 1];
        b->dispersive = calloc((size_t)b->n_dispersive + 1, sizeof *b->dispersive);
        b->part = calloc((size_t)b->n_parts + 1, sizeof *b->part);
        failed = !b->dispersive || !b->part;
    }
    if (!failed)
        b->dispersive[b->n_dispersive].first = b->n_parts;
    free(n);
    return failed ? ec_fail(EC_ERR_MEMORY, "no memory for the edges of dispersive media") : EC_OK;
}

/* [n_materials + 1] poles before those of each material; the caller's. */
static int32_t *first_poles(const ec_fdtd_config *c)
{
    int32_t *first = calloc((size_t)c->n_materials + 1, sizeof *first);

    for (int32_t i = 0; first && i < c->n_materials; i++)
        first[i + 1] = first[i] + c->materials[i].n_poles;
    return first;
}

int ec_fdtd_poles_lay(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build *b)
{
    const ec_fdtd_config *c = &setup->model->config;
    int32_t *first = first_poles(c);
    int status = EC_OK;

    if (!first)
        return ec_fail(EC_ERR_MEMORY, "no memory for poles");
    b->n_poles = first[c->n_materials];
    b->pole = calloc((size_t)b->n_poles * EC_FDTD_POLE_NUMBERS + 1, sizeof *b->pole);
    if (!b->pole)
        status = ec_fail(EC_ERR_MEMORY, "no memory for poles");
    for (int32_t i = 0; i < c->n_materials && status == EC_OK; i++)
        for (int32_t p = 0; p < c->materials[i].n_poles && status == EC_OK; p++) {
            const ec_fdtd_pole *pole = c->materials[i].poles + p;
            const ec_fdtd_material *m = c->materials + i;
            const double scale =
                m->metal ? ec_fdtd_metal_scale(ec_fdtd_number_of(m->conductivity, values)) : 1;
            const double v[4] = {scale * ec_fdtd_number_of(pole->strength, values),
                                 ec_fdtd_number_of(pole->time, values),
                                 ec_fdtd_number_of(pole->resonance, values),
                                 ec_fdtd_number_of(pole->damping, values)};
            double *number = b->pole + (first[i] + p) * EC_FDTD_POLE_NUMBERS;
            status = check_pole(c->materials + i, p, v);
            if (status == EC_OK)
                ec_fdtd_pole_numbers(pole->kind, v[0], v[1], v[2], v[3], b->dt, number);
            b->medium[i].sigma += number[EC_FDTD_POLE_CE] * EC_FDTD_EPS0 / b->dt;
        }
    free(first);
    return status;
}

int ec_fdtd_poles_edges(const ec_fdtd_setup *setup, const ec_interrupt *interrupt, ec_fdtd_build *b)
{
    int32_t *first = first_poles(&setup->model->config);
    ec_fdtd_structure structure;
    ec_fdtd_raster_args args;
    search s = {setup, b, &args, first, {{0, 0}, {0, 0}, {0, 0}}, interrupt};
    bool any = b->n_poles > 0;
    int status = first ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for poles");

    ec_fdtd_raster_of(setup, b, &structure, &args);
    for (int axis = 0; axis < 3 && any && first; axis++) {
        s.node[axis] = reach(setup, b, first, axis);
        any = s.node[axis].lo <= s.node[axis].hi;
    }
    if (any && first)
        status = edges(&s);
    free(first);
    return status;
}
