/* Lines of edges, and which of their vertices matter: Ramer (1972), Douglas and Peucker (1973). */
#include "scene_internal.h"

enum { NONE = -1, SEVERAL = -2 };

int ec_scene_chains_create(ec_scene_chains *chains, int32_t n_vertices)
{
    *chains = (ec_scene_chains){.n_vertices = n_vertices};
    chains->out = malloc(((size_t)n_vertices + 1) * sizeof *chains->out);
    chains->in = malloc(((size_t)n_vertices + 1) * sizeof *chains->in);
    if (!chains->out || !chains->in) {
        ec_scene_chains_free(chains);
        return ec_scene_no_memory("vertices", n_vertices);
    }
    for (int32_t v = 0; v < n_vertices; v++)
        chains->out[v] = chains->in[v] = NONE;
    return EC_OK;
}

void ec_scene_chains_free(ec_scene_chains *chains)
{
    free(chains->out);
    free(chains->in);
    free(chains->vertex);
    free(chains->stack);
    free(chains->keep);
    free(chains->taken);
    *chains = (ec_scene_chains){0};
}

static int make_room(ec_scene_chains *c, int32_t m)
{
    if (m <= c->capacity)
        return EC_OK;
    size_t room = (size_t)m + (size_t)m / 2 + 16;
    free(c->vertex);
    free(c->stack);
    free(c->keep);
    free(c->taken);
    /* a line of m edges has m + 1 vertices; a closed one repeats its first while it is simplified */
    c->vertex = malloc((room + 2) * sizeof *c->vertex);
    c->stack = malloc((2 * room + 8) * sizeof *c->stack);
    c->keep = malloc(room + 2);
    c->taken = malloc(room);
    c->capacity = (int32_t)room;
    if (c->vertex && c->stack && c->keep && c->taken)
        return EC_OK;
    c->capacity = 0;
    return ec_scene_no_memory("edges of a line", m);
}

static int32_t farthest(const double (*position)[3], const int32_t *vertex, int32_t n,
                        const double from[3])
{
    int32_t best = 0;
    double most = -1;
    for (int32_t i = 0; i < n; i++) {
        double d[3];
        ec_sub3(position[vertex[i]], from, d);
        double distance = ec_dot3(d, d);
        if (distance > most) {
            most = distance;
            best = i;
        }
    }
    return best;
}

/* Keeps what deviates from the segment between the kept vertices a and b, a < b. */
static void simplify(ec_scene_chains *c, const double (*position)[3], int32_t a, int32_t b,
                     double tolerance)
{
    int32_t depth = 0;
    c->stack[depth++] = a;
    c->stack[depth++] = b;
    while (depth > 0) {
        b = c->stack[--depth];
        a = c->stack[--depth];
        const double *pa = position[c->vertex[a]], *pb = position[c->vertex[b]];
        int32_t worst = -1;
        double most = tolerance;
        for (int32_t i = a + 1; i < b; i++) {
            double d = ec_segment_distance(position[c->vertex[i]], pa, pb);
            if (d > most) {
                most = d;
                worst = i;
            }
        }
        if (worst < 0)
            continue;
        c->keep[worst] = 1;
        c->stack[depth++] = worst;
        c->stack[depth++] = b;
        c->stack[depth++] = a;
        c->stack[depth++] = worst;
    }
}

/* Turns a closed line of n vertices so that it starts at a corner: the one farthest from any point
 * of it is one. */
static void start_at_corner(ec_scene_chains *c, const double (*position)[3], int32_t n)
{
    int32_t corner = farthest(position, c->vertex, n, position[c->vertex[0]]);
    for (int32_t i = 0; i < n; i++)
        c->stack[i] = c->vertex[(i + corner) % n];
    memcpy(c->vertex, c->stack, (size_t)n * sizeof *c->vertex);
}

static int finish(ec_scene_chains *c, const double (*position)[3], int32_t n, bool closed,
                  double tolerance, int (*line)(void *, const ec_scene_chain *), void *user)
{
    if (closed) {
        start_at_corner(c, position, n);
        c->vertex[n] = c->vertex[0];
        memset(c->keep, 0, (size_t)n + 1);
        int32_t other = farthest(position, c->vertex, n, position[c->vertex[0]]);
        c->keep[0] = c->keep[other] = 1;
        simplify(c, position, 0, other, tolerance);
        simplify(c, position, other, n, tolerance);
    } else {
        memset(c->keep, 0, (size_t)n);
        c->keep[0] = c->keep[n - 1] = 1;
        simplify(c, position, 0, n - 1, tolerance);
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (c->keep[i])
            c->vertex[kept++] = c->vertex[i];
    ec_scene_chain chain = {c->vertex, kept, closed};
    return line(user, &chain);
}

/* Only one edge enters the vertex and one leaves it. */
static bool passes(const ec_scene_chains *c, int32_t vertex)
{
    return c->out[vertex] >= 0 && c->in[vertex] >= 0;
}

/* From edge e on, as long as the vertices pass; e is where a line begins, or of a closed one. */
static int follow(ec_scene_chains *c, const double (*position)[3], const int32_t (*edge)[2],
                  int32_t e, double tolerance, int (*line)(void *, const ec_scene_chain *),
                  void *user)
{
    int32_t n = 0, start = e;
    bool closed = false;
    c->vertex[n++] = edge[e][0];
    for (;;) {
        c->taken[e] = 1;
        int32_t to = edge[e][1];
        if (!passes(c, to)) {
            c->vertex[n++] = to;
            break;
        }
        e = c->out[to];
        if (e == start) {
            closed = true;
            break;
        }
        c->vertex[n++] = to;
    }
    return finish(c, position, n, closed, tolerance, line, user);
}

int ec_scene_chains_run(ec_scene_chains *chains, const double (*position)[3],
                        const int32_t (*edge)[2], int32_t m, double tolerance,
                        int (*line)(void *user, const ec_scene_chain *chain), void *user)
{
    if (m <= 0)
        return EC_OK;
    int rc = make_room(chains, m);
    if (rc != EC_OK)
        return rc;
    memset(chains->taken, 0, (size_t)m);
    for (int32_t e = 0; e < m; e++) {
        int32_t *out = &chains->out[edge[e][0]], *in = &chains->in[edge[e][1]];
        *out = *out == NONE ? e : SEVERAL;
        *in = *in == NONE ? e : SEVERAL;
    }
    for (int32_t e = 0; rc == EC_OK && e < m; e++)
        if (!chains->taken[e] && !passes(chains, edge[e][0]))
            rc = follow(chains, position, edge, e, tolerance, line, user);
    for (int32_t e = 0; rc == EC_OK && e < m; e++)
        if (!chains->taken[e])
            rc = follow(chains, position, edge, e, tolerance, line, user);
    for (int32_t e = 0; e < m; e++)
        chains->out[edge[e][0]] = chains->in[edge[e][1]] = NONE;
    return rc;
}
