/* Edges, and vertices that lie on edges of others (T-junctions): the edge is cut there, so that
 * triangles which touch are neighbours. */
#include "scene_internal.h"

/* ---- edges ----------------------------------------------------------------------------------- */

static int32_t end_of(const ec_scene_work *w, int32_t half)
{
    return w->triangle[half / 3][(half % 3 + 1) % 3];
}

static int32_t start_of(const ec_scene_work *w, int32_t half)
{
    return w->triangle[half / 3][half % 3];
}

typedef struct spoke {
    int32_t high, half;
} spoke;

static int by_high(const void *a, const void *b)
{
    const spoke *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->half < y->half ? -1 : x->half > y->half;
}

int ec_scene_edges(ec_scene_work *w)
{
    int32_t halves = 3 * w->n_triangles;
    int32_t *at = ec_scene_zeroed((int64_t)w->n_vertices + 1, sizeof *at);
    spoke *spokes = malloc(((size_t)halves + 1) * sizeof *spokes);
    free(w->edge);
    free(w->first);
    free(w->use);
    free(w->edge_of);
    w->edge = malloc(((size_t)halves + 1) * sizeof *w->edge);
    w->first = malloc(((size_t)halves + 2) * sizeof *w->first);
    w->use = malloc(((size_t)halves + 1) * sizeof *w->use);
    w->edge_of = malloc(((size_t)halves + 1) * sizeof *w->edge_of);
    if (!at || !spokes || !w->edge || !w->first || !w->use || !w->edge_of) {
        free(at);
        free(spokes);
        return ec_scene_no_memory("edges", halves);
    }
    /* half edges sorted by their lower vertex by counting, then by the other one within each */
    for (int32_t h = 0; h < halves; h++) {
        int32_t a = start_of(w, h), b = end_of(w, h);
        at[(a < b ? a : b) + 1]++;
    }
    for (int32_t v = 0; v < w->n_vertices; v++)
        at[v + 1] += at[v];
    for (int32_t h = 0; h < halves; h++) {
        int32_t a = start_of(w, h), b = end_of(w, h);
        spokes[at[a < b ? a : b]++] = (spoke){a < b ? b : a, h};
    }
    w->n_edges = 0;
    for (int32_t v = 0; v < w->n_vertices; v++) {
        int32_t begin = v ? at[v - 1] : 0, end = at[v];
        qsort(spokes + begin, (size_t)(end - begin), sizeof *spokes, by_high);
        for (int32_t i = begin; i < end; i++) {
            if (i == begin || spokes[i].high != spokes[i - 1].high) {
                w->edge[w->n_edges][0] = v;
                w->edge[w->n_edges][1] = spokes[i].high;
                w->first[w->n_edges++] = i;
            }
            w->use[i] = spokes[i].half;
            w->edge_of[spokes[i].half] = w->n_edges - 1;
        }
    }
    w->first[w->n_edges] = halves;
    free(at);
    free(spokes);
    return EC_OK;
}

/* ---- vertices on edges ------------------------------------------------------------------------ */

/* Points of one edge, at s from its start. */
typedef struct cut {
    double s;
    int32_t vertex;
} cut;

typedef struct cuts {
    const ec_scene_work *w;
    int32_t a, b; /* the edge */
    cut *cut;
    int32_t n, capacity;
    bool failed;
} cuts;

static void add_cut(void *user, int32_t vertex)
{
    cuts *c = user;
    const double *a = c->w->vertex[c->a], *b = c->w->vertex[c->b], *p = c->w->vertex[vertex];
    double ab[3], ap[3];
    if (vertex == c->a || vertex == c->b || c->failed ||
        ec_segment_distance(p, a, b) > c->w->tolerance)
        return;
    if (c->n == c->capacity) {
        int32_t room = c->capacity ? 2 * c->capacity : 64;
        cut *larger = realloc(c->cut, (size_t)room * sizeof *larger);
        c->failed = !larger;
        if (!larger)
            return;
        c->cut = larger;
        c->capacity = room;
    }
    ec_sub3(b, a, ab);
    ec_sub3(p, a, ap);
    c->cut[c->n++] = (cut){ec_dot3(ap, ab), vertex};
}

static int by_place(const void *a, const void *b)
{
    const cut *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Replaces triangle t by a fan from the corner across its half edge k over the cuts. */
static int split_triangle(ec_scene_work *w, int32_t *capacity, int32_t t, int k, const cuts *c)
{
    if (w->n_triangles > INT32_MAX / 3 - c->n)
        return ec_fail(EC_ERR_UNSUPPORTED, "the scene has more than %d triangles", INT32_MAX / 3);
    if (w->n_triangles + c->n > *capacity) {
        size_t room = (size_t)w->n_triangles + (size_t)c->n + (size_t)w->n_triangles / 8;
        int32_t(*triangle)[3] = realloc(w->triangle, room * sizeof *triangle);
        if (triangle)
            w->triangle = triangle;
        int32_t *patch = triangle ? realloc(w->patch, room * sizeof *patch) : NULL;
        if (!patch)
            return ec_scene_no_memory("triangles", (int64_t)room);
        w->patch = patch;
        *capacity = room > INT32_MAX ? INT32_MAX : (int32_t)room;
    }
    int32_t tip = w->triangle[t][(k + 2) % 3], last = w->triangle[t][(k + 1) % 3];
    int32_t from = w->triangle[t][k];
    for (int32_t i = 0; i <= c->n; i++) {
        int32_t to = i < c->n ? c->cut[i].vertex : last;
        int32_t *corner = w->triangle[i == 0 ? t : w->n_triangles];
        corner[0] = from;
        corner[1] = to;
        corner[2] = tip;
        if (i > 0)
            w->patch[w->n_triangles++] = w->patch[t];
        from = to;
    }
    w->report.split++;
    return EC_OK;
}

static bool is_free(const ec_scene_work *w, int32_t e)
{
    return w->first[e + 1] - w->first[e] == 1;
}

/* The vertices of free edges, marked twice not. NULL without memory. */
static int32_t *free_vertices(const ec_scene_work *w, int32_t *n)
{
    uint8_t *seen = ec_scene_zeroed(w->n_vertices, 1);
    int32_t *list = NULL;
    *n = 0;
    for (int pass = 0; seen && pass < 2; pass++) {
        if (pass == 1 && !(list = malloc(((size_t)*n + 1) * sizeof *list)))
            break;
        *n = 0;
        for (int32_t e = 0; e < w->n_edges; e++)
            for (int k = 0; is_free(w, e) && k < 2; k++) {
                uint8_t *mark = &seen[w->edge[e][k]];
                if (*mark > pass)
                    continue;
                *mark = (uint8_t)(pass + 1);
                if (list)
                    list[*n] = w->edge[e][k];
                ++*n;
            }
    }
    free(seen);
    return list;
}

/* One cut edge a triangle; *some: whether there was any. */
static int stitch_once(ec_scene_work *w, int32_t *capacity, bool *some)
{
    int32_t n, before = w->n_triangles;
    int32_t *list = free_vertices(w, &n);
    uint8_t *done = ec_scene_zeroed(before, 1);
    if (!list || !done) {
        free(list);
        free(done);
        return ec_scene_no_memory("edges", w->n_edges);
    }
    ec_scene_points points;
    ec_scene_points_build(&points, (const double(*)[3])w->vertex, list, n);
    cuts c = {.w = w};
    int rc = EC_OK;
    *some = false;
    for (int32_t e = 0; rc == EC_OK && e < w->n_edges; e++) {
        int32_t half = w->use[w->first[e]];
        if (!is_free(w, e) || done[half / 3])
            continue;
        c.a = start_of(w, half);
        c.b = end_of(w, half);
        c.n = 0;
        double low[3], high[3];
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(w->vertex[c.a][i], w->vertex[c.b][i]) - w->tolerance;
            high[i] = fmax(w->vertex[c.a][i], w->vertex[c.b][i]) + w->tolerance;
        }
        ec_scene_points_in_box(&points, low, high, add_cut, &c);
        if (c.failed)
            rc = ec_scene_no_memory("vertices on an edge", c.n);
        if (c.n == 0 || rc != EC_OK)
            continue;
        qsort(c.cut, (size_t)c.n, sizeof *c.cut, by_place);
        done[half / 3] = 1;
        *some = true;
        rc = split_triangle(w, capacity, half / 3, half % 3, &c);
    }
    free(c.cut);
    free(done);
    ec_scene_points_free(&points);
    return rc;
}

int ec_scene_stitch(ec_scene_work *w)
{
    int32_t capacity = w->n_triangles;
    bool some = true;
    int rc = ec_scene_edges(w);
    /* a triangle has three edges, and a cut makes no new place on one */
    for (int pass = 0; rc == EC_OK && some && pass < 4; pass++) {
        rc = stitch_once(w, &capacity, &some);
        if (rc == EC_OK && some)
            rc = ec_scene_edges(w);
    }
    return rc;
}
