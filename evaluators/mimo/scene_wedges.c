/* Wedges: what is outside between two faces at an edge. At every edge the faces are sorted by angle;
 * each sector between neighbours that is outside is a piece of a wedge, so that edges of one, two or
 * many faces are one case. Pieces of the same faces are then joined to straight wedges. */
#include "scene_internal.h"

/* Faces that meet within this of 180 degrees do not make an edge. */
static const double FLAT = 1e-3;
/* Planes that coincide, but for the rounding of their facets' normals. */
static const double COINCIDENT = 1e-4;
/* A free outline is a polyline for a curve where so many of its edges in a row turn the same way by
 * less than the crease, none so much longer than the median of them. */
enum { CURVED_EDGES = 6 };
static const double STRAIGHT_RATIO = 3;

/* A piece of edge with the two faces of an outside sector. */
typedef struct piece {
    int32_t facet[2]; /* as in ec_wedge */
    int8_t side[2];   /* 1: the facet's normal looks into the sector, -1: its back does */
    int32_t vertex[2];
    double sector; /* rad */
} piece;

typedef struct finder {
    ec_scene_work *w;
    piece *piece;
    int64_t n, capacity;
    int32_t *rim; /* per vertex, a union of what rims join: -1 where there is none */
    /* of the lines at hand: */
    const piece *key;
    double (*joint)[2]; /* turn and length of each edge */
    int32_t joint_capacity;
} finder;

/* ---- one edge ---------------------------------------------------------------------------------- */

/* A face at an edge whose axis runs from its first vertex to its second. */
typedef struct face {
    double angle;
    int32_t facet;
    bool forward; /* the facet's outside is where angles grow */
    bool thin;
} face;

static int by_angle(const void *a, const void *b)
{
    const face *x = a, *y = b;
    if (x->angle != y->angle)
        return x->angle < y->angle ? -1 : 1;
    return x->facet < y->facet ? -1 : x->facet > y->facet;
}

static int add_piece(finder *f, const piece *p)
{
    if (f->n == f->capacity) {
        int64_t room = f->capacity ? 2 * f->capacity : 1024;
        piece *larger = realloc(f->piece, (size_t)room * sizeof *larger);
        if (!larger)
            return ec_scene_no_memory("wedges", room);
        f->piece = larger;
        f->capacity = room;
    }
    f->piece[f->n++] = *p;
    return EC_OK;
}

/* The sector from face a on, where angles grow, to face b. */
static int add_sector(finder *f, const int32_t edge[2], const face *a, const face *b, double sector)
{
    if (!(a->forward || a->thin) || !(!b->forward || b->thin) || sector < COINCIDENT ||
        fabs(sector - EC_PI) < FLAT)
        return EC_OK;
    /* seen from a angles grow about the axis, so a wedge with face 0 = a has the opposite tangent */
    int8_t side_a = a->forward ? 1 : -1, side_b = b->forward ? -1 : 1;
    if (a->facet == b->facet) /* a free edge: its face 0 is the front */
        return add_piece(f, side_a == 1
                                ? &(piece){{a->facet, -1}, {1, -1}, {edge[1], edge[0]}, sector}
                                : &(piece){{a->facet, -1}, {1, -1}, {edge[0], edge[1]}, sector});
    if (a->facet <= b->facet)
        return add_piece(
            f, &(piece){{a->facet, b->facet}, {side_a, side_b}, {edge[1], edge[0]}, sector});
    return add_piece(f,
                     &(piece){{b->facet, a->facet}, {side_b, side_a}, {edge[0], edge[1]}, sector});
}

static int look_at_faces(finder *f, int32_t e, face *b, int n)
{
    const ec_scene_work *w = f->w;
    double axis[3], u[3], v[3];
    ec_sub3(w->vertex[w->edge[e][1]], w->vertex[w->edge[e][0]], axis);
    ec_normalize3(axis);
    ec_scene_frame(axis, u, v);
    for (int i = 0; i < n; i++) {
        int32_t half = w->use[w->first[e] + i], facet = w->part[half / 3];
        double into[3];
        bool forward = w->triangle[half / 3][half % 3] == w->edge[e][0];
        ec_cross3(w->facet[facet].normal, axis, into);
        double sign = forward ? 1 : -1;
        b[i] = (face){atan2(sign * ec_dot3(into, v), sign * ec_dot3(into, u)), facet, forward,
                      w->facet[facet].thin};
    }
    qsort(b, (size_t)n, sizeof *b, by_angle);
    for (int i = 0; n > 1 && i < n;
         i++) { /* of a sheet with two faces the inside is between them */
        face *x = &b[i], *y = &b[(i + 1) % n];
        double gap = y->angle - x->angle + (i + 1 == n ? 2 * EC_PI : 0);
        if (gap < COINCIDENT && x->forward && !y->forward) {
            face first = *x;
            double angle = y->angle;
            *x = *y;
            *y = first;
            x->angle = first.angle;
            y->angle = angle;
        }
    }
    for (int i = 0; i < n; i++) {
        const face *y = &b[(i + 1) % n];
        double sector = y->angle - b[i].angle + (i + 1 == n ? 2 * EC_PI : 0);
        int rc = add_sector(f, w->edge[e], &b[i], y, sector);
        if (rc != EC_OK)
            return rc;
    }
    return EC_OK;
}

static int32_t rim_root(finder *f, int32_t v)
{
    while (f->rim[v] != v) {
        f->rim[v] = f->rim[f->rim[v]];
        v = f->rim[v];
    }
    return v;
}

static void join_rim(finder *f, const int32_t edge[2])
{
    for (int k = 0; k < 2; k++)
        if (f->rim[edge[k]] < 0)
            f->rim[edge[k]] = edge[k];
    int32_t a = rim_root(f, edge[0]), b = rim_root(f, edge[1]);
    f->rim[a > b ? a : b] = a > b ? b : a;
}

static int look_at_edge(finder *f, int32_t e)
{
    enum { FEW = 16 };
    face few[FEW];
    const ec_scene_work *w = f->w;
    int n = w->first[e + 1] - w->first[e];
    int32_t first = w->part[w->use[w->first[e]] / 3];
    bool one = true, curved = false;
    for (int i = 0; i < n; i++) {
        int32_t part = w->part[w->use[w->first[e] + i] / 3];
        one = one && part == first;
        curved = curved || part < 0;
    }
    if (one && n == 2)
        return EC_OK;
    if (curved) {
        join_rim(f, w->edge[e]);
        return EC_OK;
    }
    face *b = n <= FEW ? few : malloc((size_t)n * sizeof *b);
    int rc = b ? look_at_faces(f, e, b, n) : ec_scene_no_memory("faces at an edge", n);
    if (b != few)
        free(b);
    return rc;
}

/* ---- from pieces to wedges --------------------------------------------------------------------- */

static int by_faces(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->facet[i] != y->facet[i])
            return x->facet[i] < y->facet[i] ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (x->side[i] != y->side[i])
            return x->side[i] > y->side[i] ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (x->vertex[i] != y->vertex[i])
            return x->vertex[i] < y->vertex[i] ? -1 : 1;
    return 0;
}

static bool same_faces(const piece *x, const piece *y)
{
    return x->facet[0] == y->facet[0] && x->facet[1] == y->facet[1] && x->side[0] == y->side[0] &&
           x->side[1] == y->side[1];
}

/* The facet's normal towards the sector, across the edge. */
static void face_normal(const ec_scene_work *w, int32_t facet, int side, const double tangent[3],
                        double to[3])
{
    double along = ec_dot3(w->facet[facet].normal, tangent);
    for (int i = 0; i < 3; i++)
        to[i] = side * (w->facet[facet].normal[i] - along * tangent[i]);
    ec_normalize3(to);
}

static int add_wedge(finder *f, int32_t from, int32_t to)
{
    ec_scene_work *w = f->w;
    const piece *key = f->key;
    if (w->n_wedges == w->wedge_capacity) {
        int64_t room = 2 * (int64_t)w->wedge_capacity + 64;
        ec_wedge *larger = realloc(w->wedge, (size_t)room * sizeof *larger);
        if (!larger)
            return ec_scene_no_memory("wedges", room);
        w->wedge = larger;
        w->wedge_capacity = (int32_t)room;
    }
    ec_wedge *g = &w->wedge[w->n_wedges++];
    memset(g, 0, sizeof *g);
    memcpy(g->from, w->vertex[from], sizeof g->from);
    memcpy(g->to, w->vertex[to], sizeof g->to);
    ec_sub3(g->to, g->from, g->tangent);
    ec_normalize3(g->tangent);
    int32_t other = key->facet[1] >= 0 ? key->facet[1] : key->facet[0];
    face_normal(w, key->facet[0], key->side[0], g->tangent, g->face_normal[0]);
    face_normal(w, other, key->side[1], g->tangent, g->face_normal[1]);
    ec_cross3(g->tangent, g->face_normal[0], g->into[0]);
    ec_cross3(g->face_normal[1], g->tangent, g->into[1]);
    double turn = atan2(ec_dot3(g->into[1], g->face_normal[0]), ec_dot3(g->into[1], g->into[0]));
    turn += 2 * EC_PI * round((key->sector - turn) / (2 * EC_PI));
    g->n = key->facet[1] < 0 ? 2 : fmin(turn / EC_PI, 2);
    memcpy(g->facet, key->facet, sizeof g->facet);
    g->material[0] = w->facet[key->facet[0]].material;
    g->material[1] = w->facet[other].material;
    g->object = w->facet[key->facet[0]].object;
    return EC_OK;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Turn at the start of each edge of a line (0 at the start of an open one) and its length. */
static void measure(finder *f, const ec_scene_chain *c, int32_t edges)
{
    const ec_scene_work *w = f->w;
    const double *normal = w->facet[f->key->facet[0]].normal;
    for (int32_t i = 0; i < edges; i++) {
        const double *p = w->vertex[c->vertex[i]], *q = w->vertex[c->vertex[(i + 1) % c->n]];
        const double *o = w->vertex[c->vertex[(i + c->n - 1) % c->n]];
        double along[3], before[3], across[3];
        ec_sub3(q, p, along);
        ec_sub3(p, o, before);
        ec_cross3(before, along, across);
        bool has_turn = c->closed || i > 0;
        f->joint[i][0] =
            has_turn ? atan2(ec_dot3(across, normal), ec_dot3(before, along)) : (double)EC_PI;
        f->joint[i][1] = ec_length3(along);
    }
}

/* Marks edges of runs that stand for a curve by a length of -1. Runs start at a joint that is no
 * smooth one, or anywhere in a line that has none. */
static int mark_curves(finder *f, int32_t edges)
{
    double crease = f->w->options.crease_deg * EC_PI / 180, *length;
    int32_t start = 0;
    for (int32_t i = 0; i < edges; i++) {
        double turn = f->joint[i][0];
        double before = f->joint[(i + edges - 1) % edges][0];
        if (!(fabs(turn) < crease) || (fabs(before) < crease && turn * before < 0)) {
            start = i;
            break;
        }
    }
    for (int32_t i = 0, j; i < edges; i = j) {
        double sign = 0;
        for (j = i + 1; j < edges; j++) {
            double turn = f->joint[(start + j) % edges][0];
            if (!(fabs(turn) < crease) || turn * sign < 0)
                break;
            sign = turn;
        }
        if (j - i < CURVED_EDGES)
            continue;
        if (!(length = malloc((size_t)(j - i) * sizeof *length)))
            return ec_scene_no_memory("edges of a line", j - i);
        for (int32_t k = i; k < j; k++)
            length[k - i] = f->joint[(start + k) % edges][1];
        qsort(length, (size_t)(j - i), sizeof *length, by_number);
        double longest = STRAIGHT_RATIO * length[(j - i) / 2];
        free(length);
        for (int32_t k = i; k < j; k++)
            if (f->joint[(start + k) % edges][1] <= longest)
                f->joint[(start + k) % edges][1] = -1;
        f->w->report.curved_outlines++;
    }
    return EC_OK;
}

static int add_line(void *user, const ec_scene_chain *c)
{
    finder *f = user;
    int32_t edges = c->closed ? c->n : c->n - 1;
    int rc = EC_OK;
    if (edges > f->joint_capacity) {
        free(f->joint);
        f->joint = malloc((size_t)edges * sizeof *f->joint);
        f->joint_capacity = f->joint ? edges : 0;
        if (!f->joint)
            return ec_scene_no_memory("edges of a line", edges);
    }
    measure(f, c, edges);
    if (f->key->facet[1] < 0 || fabs(f->key->sector - 2 * EC_PI) < COINCIDENT)
        rc = mark_curves(f, edges);
    for (int32_t i = 0; rc == EC_OK && i < edges; i++)
        if (f->joint[i][1] > 0)
            rc = add_wedge(f, c->vertex[i], c->vertex[(i + 1) % c->n]);
    return rc;
}

static int join_pieces(finder *f)
{
    ec_scene_work *w = f->w;
    ec_scene_chains chains;
    int32_t(*edge)[2] = malloc(((size_t)f->n + 1) * sizeof *edge);
    if (!edge)
        return ec_scene_no_memory("wedges", f->n);
    if (f->n > 0)
        qsort(f->piece, (size_t)f->n, sizeof *f->piece, by_faces);
    int rc = ec_scene_chains_create(&chains, w->n_vertices);
    for (int64_t i = 0, j; rc == EC_OK && i < f->n; i = j) {
        int32_t m = 0;
        for (j = i; j < f->n && same_faces(&f->piece[i], &f->piece[j]); j++)
            memcpy(edge[m++], f->piece[j].vertex, sizeof *edge);
        f->key = &f->piece[i];
        rc = ec_scene_chains_run(&chains, (const double(*)[3])w->vertex, (const int32_t(*)[2])edge,
                                 m, w->tolerance, add_line, f);
    }
    ec_scene_chains_free(&chains);
    free(edge);
    return rc;
}

/* ---- wedges that lie on another facet ----------------------------------------------------------- */

enum { PROBES = 3 }; /* places along a wedge, near both ends and in the middle */

typedef struct rester {
    const ec_scene_work *w;
    int32_t triangle;
    const double (*probe)[3];
    uint8_t *on; /* per probe */
} rester;

/* Whether the triangle is a face at the wedge's edge: the mesh edge that the probe lies on is one of
 * the wedge's faces too. */
static bool shares_edge(const ec_scene_work *w, const ec_wedge *g, int32_t triangle,
                        const double probe[3])
{
    for (int k = 0; k < 3; k++) {
        int32_t e = w->edge_of[3 * triangle + k];
        if (ec_segment_distance(probe, w->vertex[w->edge[e][0]], w->vertex[w->edge[e][1]]) >
            w->tolerance)
            continue;
        for (int32_t i = w->first[e]; i < w->first[e + 1]; i++)
            if (w->part[w->use[i] / 3] == g->facet[0])
                return true;
    }
    return false;
}

static void probe_triangle(void *user, int32_t index)
{
    rester *r = user;
    const ec_scene_work *w = r->w;
    const double *p = r->probe[index];
    const ec_facet *facet = &w->facet[w->part[r->triangle]];
    const int32_t *t = w->triangle[r->triangle], own = w->part[r->triangle];
    const ec_wedge *g = &w->wedge[index / PROBES];
    if (r->on[index] || own == g->facet[0] || own == g->facet[1] ||
        fabs(ec_dot3(p, facet->normal) - facet->offset) > 2 * w->tolerance)
        return;
    for (int k = 0; k < 3; k++) {
        const double *a = w->vertex[t[k]], *b = w->vertex[t[(k + 1) % 3]];
        double ab[3], ap[3], inward[3];
        ec_sub3(b, a, ab);
        ec_sub3(p, a, ap);
        ec_cross3(facet->normal, ab, inward);
        if (ec_dot3(inward, ap) < -w->tolerance * ec_length3(ab))
            return;
    }
    r->on[index] = !shares_edge(w, g, r->triangle, p);
}

static int drop_resting(ec_scene_work *w)
{
    static const double place[PROBES] = {0.0317, 0.4853, 0.9713}; /* seldom a vertex */
    int32_t n = PROBES * w->n_wedges;
    double(*probe)[3] = malloc(((size_t)n + 1) * sizeof *probe);
    int32_t *index = malloc(((size_t)n + 1) * sizeof *index);
    uint8_t *on = ec_scene_zeroed(n, 1);
    if (w->n_wedges > INT32_MAX / PROBES || !probe || !index || !on) {
        free(probe);
        free(index);
        free(on);
        return ec_scene_no_memory("wedges", w->n_wedges);
    }
    for (int32_t p = 0; p < n; p++) {
        const ec_wedge *g = &w->wedge[p / PROBES];
        for (int i = 0; i < 3; i++)
            probe[p][i] = g->from[i] + place[p % PROBES] * (g->to[i] - g->from[i]);
        index[p] = p;
    }
    ec_scene_points points;
    ec_scene_points_build(&points, (const double(*)[3])probe, index, n);
    rester r = {w, 0, (const double(*)[3])probe, on};
    for (r.triangle = 0; r.triangle < w->n_triangles; r.triangle++) {
        const int32_t *t = w->triangle[r.triangle];
        double low[3], high[3];
        if (w->part[r.triangle] < 0)
            continue;
        for (int i = 0; i < 3; i++) {
            double a = w->vertex[t[0]][i], b = w->vertex[t[1]][i], c = w->vertex[t[2]][i];
            low[i] = fmin(a, fmin(b, c)) - 2 * w->tolerance;
            high[i] = fmax(a, fmax(b, c)) + 2 * w->tolerance;
        }
        ec_scene_points_in_box(&points, low, high, probe_triangle, &r);
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < w->n_wedges; i++) {
        bool rests = on[PROBES * i] && on[PROBES * i + 1] && on[PROBES * i + 2];
        w->report.resting += rests;
        if (!rests)
            w->wedge[kept++] = w->wedge[i];
    }
    w->n_wedges = kept;
    free(probe);
    free(on);
    ec_scene_points_free(&points);
    return EC_OK;
}

int ec_scene_wedges(ec_scene_work *w)
{
    finder f = {.w = w, .rim = malloc(((size_t)w->n_vertices + 1) * sizeof *f.rim)};
    int rc = f.rim ? EC_OK : ec_scene_no_memory("vertices", w->n_vertices);
    for (int32_t v = 0; rc == EC_OK && v < w->n_vertices; v++)
        f.rim[v] = -1;
    for (int32_t e = 0; rc == EC_OK && e < w->n_edges; e++)
        rc = look_at_edge(&f, e);
    for (int32_t v = 0; rc == EC_OK && v < w->n_vertices; v++)
        w->report.curved_edges += f.rim[v] == v;
    if (rc == EC_OK)
        rc = join_pieces(&f);
    free(f.piece);
    free(f.rim);
    free(f.joint);
    return rc == EC_OK ? drop_resting(w) : rc;
}
