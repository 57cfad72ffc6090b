/* Vertices that are one, triangles that are none. */
#include "scene_internal.h"

/* ---- vertices -------------------------------------------------------------------------------- */

/* Kept vertices by cell, in chains of equal hash. A cell is many tolerances wide, so that a vertex
 * rarely has to look into more than its own. */
typedef struct cells {
    double width;
    uint64_t mask;
    int32_t *head, *next; /* next: per kept vertex */
} cells;

static uint64_t slot_of(const cells *c, const int64_t cell[3])
{
    uint64_t h = (uint64_t)cell[0] * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 32) ^ (uint64_t)cell[1]) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 29) ^ (uint64_t)cell[2]) * 0x94d049bb133111ebull;
    return (h ^ (h >> 32)) & c->mask;
}

/* The kept vertex of the lowest index within the tolerance of p, or -1. */
static int32_t find_kept(const cells *c, const double (*kept)[3], const double p[3],
                         double tolerance)
{
    int64_t low[3], high[3], cell[3];
    int32_t best = -1;
    for (int i = 0; i < 3; i++) {
        low[i] = (int64_t)floor((p[i] - tolerance) / c->width);
        high[i] = (int64_t)floor((p[i] + tolerance) / c->width);
    }
    for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
                for (int32_t v = c->head[slot_of(c, cell)]; v >= 0; v = c->next[v]) {
                    double d[3];
                    ec_sub3(kept[v], p, d);
                    if ((best < 0 || v < best) && ec_dot3(d, d) <= tolerance * tolerance)
                        best = v;
                }
    return best;
}

static void add_kept(cells *c, const double p[3], int32_t v)
{
    int64_t cell[3];
    for (int i = 0; i < 3; i++)
        cell[i] = (int64_t)floor(p[i] / c->width);
    uint64_t slot = slot_of(c, cell);
    c->next[v] = c->head[slot];
    c->head[slot] = v;
}

/* to[v] is the new index of each vertex that a triangle uses. */
static int weld_vertices(ec_scene_work *w, int32_t *to)
{
    const ec_scene_builder *b = w->in;
    int32_t n = (int32_t)b->n_vertices;
    cells c = {.width = 64 * w->tolerance, .mask = 1};
    while ((int64_t)c.mask < n)
        c.mask = 2 * c.mask + 1;
    c.head = malloc((size_t)(c.mask + 1) * sizeof *c.head);
    c.next = malloc(((size_t)n + 1) * sizeof *c.next);
    w->vertex = malloc(((size_t)n + 1) * sizeof *w->vertex);
    if (!c.head || !c.next || !w->vertex) {
        free(c.head);
        free(c.next);
        return ec_scene_no_memory("vertices", n);
    }
    memset(c.head, 0xff, (size_t)(c.mask + 1) * sizeof *c.head);
    memset(to, 0xff, (size_t)n * sizeof *to);
    for (int64_t t = 0; t < b->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            int32_t v = b->triangle[t][k];
            if (to[v] >= 0)
                continue;
            to[v] = find_kept(&c, (const double(*)[3])w->vertex, b->vertex[v], w->tolerance);
            if (to[v] >= 0) {
                w->report.welded++;
                continue;
            }
            to[v] = w->n_vertices++;
            memcpy(w->vertex[to[v]], b->vertex[v], sizeof *w->vertex);
            add_kept(&c, b->vertex[v], to[v]);
        }
    free(c.head);
    free(c.next);
    return EC_OK;
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Whether its corners lie on a line, to within the tolerance. */
static bool is_degenerate(const ec_scene_work *w, const int32_t t[3])
{
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
        return true;
    double longest = 0, a[3], b[3], n[3];
    for (int k = 0; k < 3; k++) {
        ec_sub3(w->vertex[t[(k + 1) % 3]], w->vertex[t[k]], a);
        longest = fmax(longest, ec_length3(a));
    }
    ec_sub3(w->vertex[t[1]], w->vertex[t[0]], a);
    ec_sub3(w->vertex[t[2]], w->vertex[t[0]], b);
    ec_cross3(a, b, n);
    return !(ec_length3(n) > w->tolerance * longest);
}

/* Corners with the smallest index first, the order round kept. */
static void rotated(const int32_t t[3], int32_t to[3])
{
    int least = t[0] < t[1] ? (t[0] < t[2] ? 0 : 2) : (t[1] < t[2] ? 1 : 2);
    for (int k = 0; k < 3; k++)
        to[k] = t[(least + k) % 3];
}

/* Whether triangle t's corners are an earlier one's that starts at the same vertex. Of a slab with a
 * thickness the back is the same sheet. */
static bool is_double(const ec_scene_work *w, const int32_t *head, const int32_t *next, int32_t t,
                      const int32_t key[3])
{
    const ec_scene_patch *patch = &w->in->patch[w->patch[t]];
    for (int32_t o = head[key[0]]; o >= 0; o = next[o]) {
        int32_t other[3];
        rotated(w->triangle[o], other);
        if (other[1] == key[1] && other[2] == key[2])
            return true;
        if (other[1] == key[2] && other[2] == key[1] &&
            w->in->patch[w->patch[o]].material == patch->material &&
            w->in->material[patch->material].thickness > 0)
            return true;
    }
    return false;
}

static int drop_doubles(ec_scene_work *w)
{
    int32_t *head = malloc(((size_t)w->n_vertices + 1) * sizeof *head);
    int32_t *next = malloc(((size_t)w->n_triangles + 1) * sizeof *next);
    if (!head || !next) {
        free(head);
        free(next);
        return ec_scene_no_memory("triangles", w->n_triangles);
    }
    memset(head, 0xff, (size_t)w->n_vertices * sizeof *head);
    int32_t kept = 0;
    for (int32_t t = 0; t < w->n_triangles; t++) {
        int32_t key[3];
        rotated(w->triangle[t], key);
        if (is_double(w, head, next, t, key)) {
            w->report.duplicate++;
            continue;
        }
        memcpy(w->triangle[kept], w->triangle[t], sizeof *w->triangle);
        w->patch[kept] = w->patch[t];
        next[kept] = head[key[0]];
        head[key[0]] = kept++;
    }
    w->n_triangles = kept;
    free(head);
    free(next);
    return EC_OK;
}

int ec_scene_weld(ec_scene_work *w)
{
    const ec_scene_builder *b = w->in;
    int32_t *to = malloc(((size_t)b->n_vertices + 1) * sizeof *to);
    w->triangle = malloc(((size_t)b->n_triangles + 1) * sizeof *w->triangle);
    w->patch = malloc(((size_t)b->n_triangles + 1) * sizeof *w->patch);
    int rc = to && w->triangle && w->patch ? weld_vertices(w, to)
                                           : ec_scene_no_memory("triangles", b->n_triangles);
    for (int64_t t = 0; rc == EC_OK && t < b->n_triangles; t++) {
        int32_t *corner = w->triangle[w->n_triangles];
        for (int k = 0; k < 3; k++)
            corner[k] = to[b->triangle[t][k]];
        if (is_degenerate(w, corner)) {
            w->report.degenerate++;
            continue;
        }
        w->patch[w->n_triangles++] = b->patch_of[t];
    }
    free(to);
    if (rc == EC_OK && w->n_triangles == 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "the scene has no triangle with an area: all %lld are thinner than %g m",
                       (long long)b->n_triangles, w->tolerance);
    return rc == EC_OK ? drop_doubles(w) : rc;
}
