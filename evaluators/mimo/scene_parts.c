/* Facets (coplanar triangles grown together), then curved surfaces (groups of facets that bend a
 * little from one to the next). */
#include "scene_internal.h"

/* Two planes are one when their normals differ by less: a sphere of five million triangles bends
 * by sixteen times as much from one to the next. */
static const double SAME_PLANE = 1e-4;
/* A curved surface has at least so many facets. A facet so much larger than the median of its
 * neighbours is none of it (a wall that runs into a rounded corner), unless they bend by less than a
 * tenth of a degree: then it is where a smooth surface is nearly flat. */
enum { CURVED_FACETS = 6 };
static const double FLAT_RATIO = 8, LEAST_BEND = 2e-3;

/* ---- facets ----------------------------------------------------------------------------------- */

static double height_of(const ec_scene_work *w, int32_t t, double area2)
{
    double longest = 0, side[3];
    for (int k = 0; k < 3; k++) {
        ec_sub3(w->vertex[w->triangle[t][(k + 1) % 3]], w->vertex[w->triangle[t][k]], side);
        longest = fmax(longest, ec_length3(side));
    }
    return area2 / longest;
}

/* Normal and height; a normal is uncertain by (2 x rounding of coordinates) / height. */
static double slack_of(const ec_scene_work *w, int32_t t, double normal[3])
{
    ec_scene_cross(w, t, normal);
    double height = height_of(w, t, ec_length3(normal));
    ec_normalize3(normal);
    return 2 * w->rounding / height;
}

typedef struct grower {
    ec_scene_work *w;
    int32_t *facet; /* per triangle, -1: none yet */
    int32_t *stack;
    double normal[3], offset, slack; /* the plane of the seed */
    int32_t patch;
} grower;

static bool same_patch(const ec_scene_work *w, int32_t a, int32_t b)
{
    const ec_scene_patch *x = &w->in->patch[a], *y = &w->in->patch[b];
    return a == b ||
           (x->object == y->object && x->material == y->material && x->half_space == y->half_space);
}

static bool is_exact(const ec_scene_work *w, int32_t t)
{
    return w->options.exact && w->in->patch[w->patch[t]].shape >= 0;
}

static bool fits(const grower *g, int32_t t)
{
    const ec_scene_work *w = g->w;
    double normal[3];
    if (g->facet[t] >= 0 || is_exact(w, t) || !same_patch(w, w->patch[t], g->patch))
        return false;
    for (int k = 0; k < 3; k++)
        if (fabs(ec_dot3(w->vertex[w->triangle[t][k]], g->normal) - g->offset) > w->tolerance)
            return false;
    double slack = slack_of(w, t, normal);
    ec_sub3(normal, g->normal, normal);
    return ec_length3(normal) <= fmax(SAME_PLANE, slack + g->slack);
}

static void grow(grower *g, int32_t seed, int32_t facet)
{
    const ec_scene_work *w = g->w;
    int32_t depth = 0;
    g->slack = slack_of(w, seed, g->normal);
    g->offset = ec_dot3(w->vertex[w->triangle[seed][0]], g->normal);
    g->patch = w->patch[seed];
    g->facet[seed] = facet;
    g->stack[depth++] = seed;
    while (depth > 0) {
        int32_t t = g->stack[--depth];
        for (int k = 0; k < 3; k++) {
            int32_t e = w->edge_of[3 * t + k];
            for (int32_t i = w->first[e]; i < w->first[e + 1]; i++) {
                int32_t other = w->use[i] / 3;
                /* on the other side of the edge, not folded back over it */
                bool across = w->triangle[other][w->use[i] % 3] != w->triangle[t][k];
                if (!across || !fits(g, other))
                    continue;
                g->facet[other] = facet;
                g->stack[depth++] = other;
            }
        }
    }
}

/* Facets by the order of their first triangle; normals from all of a facet, for a seed may be a
 * sliver. */
static int number_facets(ec_scene_work *w, int32_t *facet, int32_t n)
{
    int32_t *to = malloc(((size_t)n + 1) * sizeof *to);
    w->facet = ec_scene_zeroed(n, sizeof *w->facet);
    if (!to || !w->facet) {
        free(to);
        return ec_scene_no_memory("facets", n);
    }
    memset(to, 0xff, (size_t)n * sizeof *to);
    for (int32_t t = 0; t < w->n_triangles; t++) {
        double normal[3];
        if (facet[t] < 0)
            continue;
        if (to[facet[t]] < 0)
            to[facet[t]] = w->n_facets++;
        facet[t] = to[facet[t]];
        ec_facet *f = &w->facet[facet[t]];
        const ec_scene_patch *patch = &w->in->patch[w->patch[t]];
        ec_scene_cross(w, t, normal);
        for (int i = 0; i < 3; i++)
            f->normal[i] += normal[i];
        f->count++;
        f->material = patch->material;
        f->object = patch->object;
        f->thin = f->thin || ((w->open[t] || w->in->material[patch->material].thickness > 0) &&
                              !patch->half_space);
    }
    free(to);
    return EC_OK;
}

static int find_facets(ec_scene_work *w, int32_t *facet)
{
    grower g = {
        .w = w, .facet = facet, .stack = malloc(((size_t)w->n_triangles + 1) * sizeof *g.stack)};
    int32_t n = 0;
    if (!g.stack)
        return ec_scene_no_memory("triangles", w->n_triangles);
    for (int32_t t = 0; t < w->n_triangles; t++)
        facet[t] = -1;
    /* slivers last: their planes are uncertain */
    for (int pass = 0; pass < 2; pass++)
        for (int32_t t = 0; t < w->n_triangles; t++) {
            double normal[3];
            if (facet[t] < 0 && !is_exact(w, t) &&
                (pass == 1 || slack_of(w, t, normal) < SAME_PLANE))
                grow(&g, t, n++);
        }
    free(g.stack);
    return number_facets(w, facet, n);
}

/* ---- curved groups ----------------------------------------------------------------------------- */

/* Pairs of facets that meet at less than the crease, both ways, sorted. */
typedef struct pairs {
    int32_t (*pair)[2];
    int64_t n, capacity;
} pairs;

static int by_pair(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

static int add_pair(pairs *p, int32_t a, int32_t b)
{
    if (p->n == p->capacity) {
        int64_t room = p->capacity ? 2 * p->capacity : 1024;
        int32_t(*larger)[2] = realloc(p->pair, (size_t)room * sizeof *larger);
        if (!larger)
            return ec_scene_no_memory("edges between facets", room);
        p->pair = larger;
        p->capacity = room;
    }
    p->pair[p->n][0] = a;
    p->pair[p->n++][1] = b;
    return EC_OK;
}

static int smooth_pairs(const ec_scene_work *w, const int32_t *facet, pairs *p)
{
    double least = cos(w->options.crease_deg * EC_PI / 180) + 1e-9;
    for (int32_t h = 0; h < 3 * w->n_triangles; h++) {
        int32_t mate = w->mate[h];
        if (mate < 0)
            continue;
        int32_t a = facet[h / 3], b = facet[mate / 3];
        if (a < 0 || b < 0 || a == b || !same_patch(w, w->patch[h / 3], w->patch[mate / 3]))
            continue;
        const double *na = w->facet[a].normal, *nb = w->facet[b].normal;
        if (ec_dot3(na, nb) <= least * ec_length3(na) * ec_length3(nb))
            continue;
        int rc = add_pair(p, a, b);
        if (rc != EC_OK)
            return rc;
    }
    if (p->n == 0)
        return EC_OK;
    qsort(p->pair, (size_t)p->n, sizeof *p->pair, by_pair);
    int64_t kept = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (i == 0 || by_pair(p->pair[i], p->pair[i - 1]) != 0)
            memmove(p->pair[kept++], p->pair[i], sizeof *p->pair);
    p->n = kept;
    return EC_OK;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* flat[f]: facets that are much larger than those they run into. */
static int find_flat(const ec_scene_work *w, const pairs *p, uint8_t *flat)
{
    int64_t most = 0;
    for (int64_t i = 0, j; i < p->n; i = j) {
        for (j = i; j < p->n && p->pair[j][0] == p->pair[i][0]; j++)
            ;
        most = j - i > most ? j - i : most;
    }
    double *area = malloc(((size_t)most + 1) * sizeof *area);
    double *bend = malloc(((size_t)most + 1) * sizeof *bend);
    int rc = area && bend ? EC_OK : ec_scene_no_memory("neighbours of a facet", most);
    for (int64_t i = 0, j; rc == EC_OK && i < p->n; i = j) {
        const double *own = w->facet[p->pair[i][0]].normal;
        for (j = i; j < p->n && p->pair[j][0] == p->pair[i][0]; j++) {
            const double *other = w->facet[p->pair[j][1]].normal;
            double across[3];
            ec_cross3(own, other, across);
            area[j - i] = ec_length3(other);
            bend[j - i] = ec_length3(across) / (ec_length3(own) * ec_length3(other));
        }
        qsort(area, (size_t)(j - i), sizeof *area, by_number);
        qsort(bend, (size_t)(j - i), sizeof *bend, by_number);
        flat[p->pair[i][0]] =
            ec_length3(own) > FLAT_RATIO * area[(j - i) / 2] && bend[(j - i) / 2] > LEAST_BEND;
    }
    free(area);
    free(bend);
    return rc;
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* group[f]: the least facet of its curved group, or -1. */
static int find_groups(const ec_scene_work *w, const int32_t *facet, int32_t *group)
{
    pairs p = {0};
    uint8_t *flat = ec_scene_zeroed(w->n_facets, 1);
    int32_t *count = ec_scene_zeroed(w->n_facets, sizeof *count);
    int rc = flat && count ? smooth_pairs(w, facet, &p) : ec_scene_no_memory("facets", w->n_facets);
    if (rc == EC_OK)
        rc = find_flat(w, &p, flat);
    for (int32_t f = 0; rc == EC_OK && f < w->n_facets; f++)
        group[f] = f;
    for (int64_t i = 0; rc == EC_OK && i < p.n; i++) {
        int32_t a = p.pair[i][0], b = p.pair[i][1];
        if (flat[a] || flat[b])
            continue;
        a = root_of(group, a);
        b = root_of(group, b);
        if (a != b)
            group[a > b ? a : b] = a > b ? b : a;
    }
    for (int32_t f = 0; rc == EC_OK && f < w->n_facets; f++)
        count[root_of(group, f)]++;
    for (int32_t f = 0; rc == EC_OK && f < w->n_facets; f++)
        group[f] = root_of(group, f);
    for (int32_t f = 0; rc == EC_OK && f < w->n_facets; f++)
        if (count[group[f]] < CURVED_FACETS)
            group[f] = -1;
    free(p.pair);
    free(flat);
    free(count);
    return rc;
}

/* ---- parts ------------------------------------------------------------------------------------ */

/* Surfaces by the order of their first triangle: exact shapes by patch, groups by their facet. */
static void assign(ec_scene_work *w, const int32_t *facet, const int32_t *group, int32_t *of_shape,
                   int32_t *of_group)
{
    for (int32_t t = 0; t < w->n_triangles; t++) {
        const ec_scene_patch *patch = &w->in->patch[w->patch[t]];
        int32_t *slot = facet[t] < 0           ? &of_shape[patch->shape]
                        : group[facet[t]] >= 0 ? &of_group[group[facet[t]]]
                                               : NULL;
        if (!slot) {
            w->part[t] = facet[t];
            continue;
        }
        if (*slot < 0) {
            *slot = w->n_surfaces++;
            ec_surface *s = &w->surface[*slot];
            *s = facet[t] < 0 ? w->in->shape[patch->shape] : (ec_surface){.kind = EC_SURFACE_MESH};
            s->material = patch->material;
            s->object = patch->object;
            s->first = s->count = 0;
        }
        w->surface[*slot].thin =
            w->surface[*slot].thin || w->open[t] || w->in->material[patch->material].thickness > 0;
        w->part[t] = ~*slot;
    }
}

/* Facets that became part of a surface go, and the others move up. */
static int close_ranks(ec_scene_work *w, const int32_t *group)
{
    int32_t *to = malloc(((size_t)w->n_facets + 1) * sizeof *to);
    int32_t kept = 0;
    if (!to)
        return ec_scene_no_memory("facets", w->n_facets);
    for (int32_t f = 0; f < w->n_facets; f++) {
        to[f] = kept;
        if (group[f] < 0)
            w->facet[kept++] = w->facet[f];
    }
    w->n_facets = kept;
    ec_facet *smaller = realloc(w->facet, ((size_t)kept + 1) * sizeof *smaller);
    w->facet = smaller ? smaller : w->facet;
    for (int32_t t = 0; t < w->n_triangles; t++)
        if (w->part[t] >= 0)
            w->part[t] = to[w->part[t]];
    free(to);
    return EC_OK;
}

/* Lists of triangles, and the planes of facets through the middle of their vertices. */
static int list_triangles(ec_scene_work *w)
{
    int32_t in_facets = 0, in_surfaces = 0;
    for (int32_t f = 0; f < w->n_facets; f++) {
        w->facet[f].first = in_facets;
        in_facets += w->facet[f].count;
        w->facet[f].count = 0;
        ec_normalize3(w->facet[f].normal);
    }
    for (int32_t t = 0; t < w->n_triangles; t++)
        if (w->part[t] < 0)
            w->surface[~w->part[t]].count++;
    for (int32_t s = 0; s < w->n_surfaces; s++) {
        w->surface[s].first = in_surfaces;
        in_surfaces += w->surface[s].count;
        w->surface[s].count = 0;
    }
    w->facet_triangle = malloc(((size_t)in_facets + 1) * sizeof *w->facet_triangle);
    w->surface_triangle = malloc(((size_t)in_surfaces + 1) * sizeof *w->surface_triangle);
    double *weight = ec_scene_zeroed(w->n_facets, sizeof *weight);
    if (!w->facet_triangle || !w->surface_triangle || !weight) {
        free(weight);
        return ec_scene_no_memory("triangles", w->n_triangles);
    }
    for (int32_t t = 0; t < w->n_triangles; t++) {
        if (w->part[t] < 0) {
            ec_surface *s = &w->surface[~w->part[t]];
            w->surface_triangle[s->first + s->count++] = t;
            continue;
        }
        ec_facet *f = &w->facet[w->part[t]];
        double normal[3], middle = 0;
        w->facet_triangle[f->first + f->count++] = t;
        ec_scene_cross(w, t, normal);
        for (int k = 0; k < 3; k++)
            middle += ec_dot3(w->vertex[w->triangle[t][k]], f->normal) / 3;
        f->offset += ec_length3(normal) * middle;
        weight[w->part[t]] += ec_length3(normal);
    }
    for (int32_t f = 0; f < w->n_facets; f++)
        w->facet[f].offset /= weight[f];
    free(weight);
    return EC_OK;
}

int ec_scene_parts(ec_scene_work *w)
{
    int32_t *facet = malloc(((size_t)w->n_triangles + 1) * sizeof *facet);
    w->part = malloc(((size_t)w->n_triangles + 1) * sizeof *w->part);
    int rc =
        facet && w->part ? find_facets(w, facet) : ec_scene_no_memory("triangles", w->n_triangles);
    int32_t *group = NULL, *of_shape = NULL, *of_group = NULL;
    if (rc == EC_OK) {
        group = malloc(((size_t)w->n_facets + 1) * sizeof *group);
        of_shape = malloc(((size_t)w->in->n_shapes + 1) * sizeof *of_shape);
        of_group = malloc(((size_t)w->n_facets + 1) * sizeof *of_group);
        rc = group && of_shape && of_group ? find_groups(w, facet, group)
                                           : ec_scene_no_memory("facets", w->n_facets);
    }
    if (rc == EC_OK) {
        int64_t groups = 0;
        for (int32_t f = 0; f < w->n_facets; f++)
            groups += group[f] == f;
        w->surface = ec_scene_zeroed(w->in->n_shapes + groups, sizeof *w->surface);
        if (!w->surface)
            rc = ec_scene_no_memory("surfaces", w->in->n_shapes + groups);
    }
    if (rc == EC_OK) {
        memset(of_shape, 0xff, (size_t)w->in->n_shapes * sizeof *of_shape);
        memset(of_group, 0xff, (size_t)w->n_facets * sizeof *of_group);
        assign(w, facet, group, of_shape, of_group);
        rc = close_ranks(w, group);
    }
    if (rc == EC_OK)
        rc = list_triangles(w);
    free(facet);
    free(group);
    free(of_shape);
    free(of_group);
    return rc;
}

/* ---- outlines ---------------------------------------------------------------------------------- */

static int add_outline(void *user, const ec_scene_chain *chain)
{
    ec_scene_work *w = user;
    int32_t edges = chain->closed ? chain->n : chain->n - 1;
    if (w->n_facet_edges + edges > w->facet_edge_capacity) {
        int64_t room = 2 * (int64_t)w->facet_edge_capacity + edges + 64;
        int32_t(*larger)[2] = realloc(w->facet_edge, (size_t)room * sizeof *larger);
        if (!larger)
            return ec_scene_no_memory("edges of outlines", room);
        w->facet_edge = larger;
        w->facet_edge_capacity = room > INT32_MAX ? INT32_MAX : (int32_t)room;
    }
    for (int32_t i = 0; i < edges; i++) {
        w->facet_edge[w->n_facet_edges][0] = chain->vertex[i];
        w->facet_edge[w->n_facet_edges++][1] = chain->vertex[(i + 1) % chain->n];
    }
    return EC_OK;
}

/* Whether half edge h lies between two triangles of facet f. */
static bool is_inner(const ec_scene_work *w, int32_t h, int32_t f)
{
    int32_t e = w->edge_of[h], count = 0;
    for (int32_t i = w->first[e]; i < w->first[e + 1]; i++)
        count += w->part[w->use[i] / 3] == f;
    return count > 1;
}

int ec_scene_outlines(ec_scene_work *w)
{
    ec_scene_chains chains;
    int32_t most = 0;
    for (int32_t f = 0; f < w->n_facets; f++)
        most = w->facet[f].count > most ? w->facet[f].count : most;
    int32_t(*edge)[2] = malloc((3 * (size_t)most + 1) * sizeof *edge);
    if (!edge)
        return ec_scene_no_memory("edges", most);
    int rc = ec_scene_chains_create(&chains, w->n_vertices);
    for (int32_t f = 0; rc == EC_OK && f < w->n_facets; f++) {
        int32_t m = 0;
        for (int32_t i = 0; i < w->facet[f].count; i++) {
            int32_t t = w->facet_triangle[w->facet[f].first + i];
            for (int k = 0; k < 3; k++)
                if (!is_inner(w, 3 * t + k, f)) {
                    edge[m][0] = w->triangle[t][k];
                    edge[m++][1] = w->triangle[t][(k + 1) % 3];
                }
        }
        w->facet[f].first_edge = w->n_facet_edges;
        rc = ec_scene_chains_run(&chains, (const double(*)[3])w->vertex, (const int32_t(*)[2])edge,
                                 m, w->tolerance, add_outline, w);
        w->facet[f].n_edges = w->n_facet_edges - w->facet[f].first_edge;
    }
    ec_scene_chains_free(&chains);
    free(edge);
    return rc;
}
