/* Which way round triangles are, which belong to one shell, and whether shells are closed. */
#include "scene_internal.h"

static int n_uses(const ec_scene_work *w, int32_t e)
{
    return w->first[e + 1] - w->first[e];
}

/* Whether a half edge runs from the edge's first vertex to its second. */
static bool runs_forward(const ec_scene_work *w, int32_t half)
{
    return w->triangle[half / 3][half % 3] == w->edge[w->edge_of[half]][0];
}

static double volume6(const ec_scene_work *w, int32_t t)
{
    double n[3], p[3];
    ec_scene_cross(w, t, n);
    /* about a point of the scene, for accuracy far from the origin */
    ec_sub3(w->vertex[w->triangle[t][0]], w->vertex[0], p);
    return ec_dot3(n, p);
}

/* ---- turning --------------------------------------------------------------------------------- */

/* Triangles that hang together by edges of two triangles, from a seed on: list[0 .. n). turned[t]:
 * 1 as the seed, 2 the other way round. */
typedef struct component {
    int32_t *list;
    uint8_t *turned;
    int32_t n;
    bool closed, twisted; /* twisted: no way round agrees (a Moebius strip) */
} component;

static void gather(const ec_scene_work *w, component *c, int32_t seed)
{
    c->n = 0;
    c->closed = true;
    c->twisted = false;
    c->list[c->n++] = seed;
    c->turned[seed] = 1;
    for (int32_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) {
            int32_t half = 3 * c->list[i] + k, e = w->edge_of[half];
            c->closed = c->closed && n_uses(w, e) > 1;
            if (n_uses(w, e) != 2)
                continue;
            int32_t other =
                w->use[w->first[e]] == half ? w->use[w->first[e] + 1] : w->use[w->first[e]];
            bool agrees = runs_forward(w, half) != runs_forward(w, other);
            uint8_t wanted = agrees ? c->turned[c->list[i]] : (uint8_t)(3 - c->turned[c->list[i]]);
            if (c->turned[other / 3] == 0) {
                c->turned[other / 3] = wanted;
                c->list[c->n++] = other / 3;
            } else if (c->turned[other / 3] != wanted) {
                c->twisted = true;
            }
        }
}

/* Which of the two ways round is turned: a closed shell has its outside outside, else the smaller
 * area gives way. */
static uint8_t wrong_way(const ec_scene_work *w, const component *c)
{
    double area[3] = {0}, volume = 0;
    for (int32_t i = 0; i < c->n; i++) {
        double n[3];
        ec_scene_cross(w, c->list[i], n);
        area[c->turned[c->list[i]]] += ec_length3(n);
        volume += (c->turned[c->list[i]] == 1 ? 1 : -1) * volume6(w, c->list[i]);
    }
    if (area[2] == 0)
        return 2;
    if (c->closed)
        return volume > 0 ? 2 : 1;
    return area[1] >= area[2] ? 2 : 1;
}

static int turn(ec_scene_work *w)
{
    component c = {.list = malloc(((size_t)w->n_triangles + 1) * sizeof *c.list),
                   .turned = ec_scene_zeroed(w->n_triangles, 1)};
    if (!c.list || !c.turned) {
        free(c.list);
        free(c.turned);
        return ec_scene_no_memory("triangles", w->n_triangles);
    }
    for (int32_t seed = 0; seed < w->n_triangles; seed++) {
        if (c.turned[seed])
            continue;
        gather(w, &c, seed);
        uint8_t wrong = c.twisted ? 3 : wrong_way(w, &c);
        for (int32_t i = 0; i < c.n; i++) {
            int32_t *t = w->triangle[c.list[i]], second = t[1];
            if (c.turned[c.list[i]] != wrong)
                continue;
            t[1] = t[2];
            t[2] = second;
            w->report.flipped++;
        }
    }
    free(c.list);
    free(c.turned);
    return w->report.flipped > 0 ? ec_scene_edges(w) : EC_OK;
}

/* ---- mates ----------------------------------------------------------------------------------- */

/* A triangle at an edge, by the angle of its plane about the edge. */
typedef struct blade {
    double angle;
    int32_t half;
    bool forward; /* its outside is where angles grow */
} blade;

static int by_angle(const void *a, const void *b)
{
    const blade *x = a, *y = b;
    if (x->angle != y->angle)
        return x->angle < y->angle ? -1 : 1;
    if (x->forward != y->forward) /* two solids that touch: no inside between their faces */
        return x->forward ? -1 : 1;
    return x->half < y->half ? -1 : x->half > y->half;
}

/* At an edge of several triangles those are mates that have the inside of a solid between them. */
static int pair_blades(ec_scene_work *w, int32_t e)
{
    enum { FEW = 16 };
    blade few[FEW];
    int n = n_uses(w, e);
    blade *b = n <= FEW ? few : malloc((size_t)n * sizeof *b);
    double axis[3], u[3], v[3];
    if (!b)
        return ec_scene_no_memory("triangles at an edge", n);
    ec_sub3(w->vertex[w->edge[e][1]], w->vertex[w->edge[e][0]], axis);
    ec_normalize3(axis);
    ec_scene_frame(axis, u, v);
    for (int i = 0; i < n; i++) {
        int32_t half = w->use[w->first[e] + i];
        double into[3];
        ec_sub3(w->vertex[w->triangle[half / 3][(half % 3 + 2) % 3]], w->vertex[w->edge[e][0]],
                into);
        b[i] = (blade){atan2(ec_dot3(into, v), ec_dot3(into, u)), half, runs_forward(w, half)};
    }
    qsort(b, (size_t)n, sizeof *b, by_angle);
    for (int i = 0; i + 1 < n; i++) /* the same with planes that coincide but for rounding */
        if (b[i + 1].angle - b[i].angle < 1e-6 && !b[i].forward && b[i + 1].forward) {
            blade first = b[i];
            b[i] = b[i + 1];
            b[i + 1] = first;
        }
    for (int i = 0; i < n; i++) {
        const blade *from = &b[i], *to = &b[(i + 1) % n];
        if (!from->forward && to->forward) {
            w->mate[from->half] = to->half;
            w->mate[to->half] = from->half;
        }
    }
    if (b != few)
        free(b);
    return EC_OK;
}

static int find_mates(ec_scene_work *w)
{
    int rc = EC_OK;
    for (int32_t h = 0; h < 3 * w->n_triangles; h++)
        w->mate[h] = -1;
    for (int32_t e = 0; rc == EC_OK && e < w->n_edges; e++) {
        const int32_t *use = &w->use[w->first[e]];
        if (n_uses(w, e) > 2) {
            w->report.non_manifold++;
            rc = pair_blades(w, e);
        } else if (n_uses(w, e) == 2 && runs_forward(w, use[0]) != runs_forward(w, use[1])) {
            w->mate[use[0]] = use[1];
            w->mate[use[1]] = use[0];
        }
    }
    return rc;
}

/* ---- shells ---------------------------------------------------------------------------------- */

static void count_shell(ec_scene_work *w, const int32_t *list, int32_t n, bool closed)
{
    double volume = 0, area = 0;
    bool half_space = true, slabs = false;
    for (int32_t i = 0; i < n; i++) {
        const ec_scene_patch *patch = &w->in->patch[w->patch[list[i]]];
        double normal[3];
        ec_scene_cross(w, list[i], normal);
        volume += volume6(w, list[i]) / 6;
        area += ec_length3(normal) / 2;
        w->open[list[i]] = !closed;
        half_space = half_space && patch->half_space;
        slabs = slabs || w->in->material[patch->material].thickness > 0;
    }
    bool holds = closed && fabs(volume) > w->tolerance * area;
    if (holds)
        *(volume > 0 ? &w->report.solids : &w->report.rooms) += 1;
    if (holds && volume < 0 && !slabs)
        w->report.enclosing++;
    if (!holds && !half_space)
        w->report.sheets++;
}

static int find_shells(ec_scene_work *w)
{
    int32_t *list = malloc(((size_t)w->n_triangles + 1) * sizeof *list);
    uint8_t *seen = ec_scene_zeroed(w->n_triangles, 1);
    if (!list || !seen) {
        free(list);
        free(seen);
        return ec_scene_no_memory("triangles", w->n_triangles);
    }
    for (int32_t seed = 0; seed < w->n_triangles; seed++) {
        int32_t n = 0;
        bool closed = true;
        if (seen[seed])
            continue;
        seen[seed] = 1;
        list[n++] = seed;
        for (int32_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                int32_t mate = w->mate[3 * list[i] + k];
                closed = closed && mate >= 0;
                if (mate >= 0 && !seen[mate / 3]) {
                    seen[mate / 3] = 1;
                    list[n++] = mate / 3;
                }
            }
        count_shell(w, list, n, closed);
    }
    free(list);
    free(seen);
    return EC_OK;
}

int ec_scene_orient(ec_scene_work *w)
{
    int rc = turn(w);
    if (rc != EC_OK)
        return rc;
    w->mate = malloc((3 * (size_t)w->n_triangles + 1) * sizeof *w->mate);
    w->open = malloc((size_t)w->n_triangles + 1);
    if (!w->mate || !w->open)
        return ec_scene_no_memory("edges", w->n_edges);
    rc = find_mates(w);
    return rc == EC_OK ? find_shells(w) : rc;
}
