/* path_oracle.h: all paths of a scene of flat facets the slow way: every sequence is tried, points
 * come from reflected images and bisection, and everything is tested against convex polygons. It
 * shares no method with what it is to judge. What is left out early, for speed, is what a law that
 * oracle_try tests anyhow forbids: a solid's facet is reached and left on its outside. */
#ifndef EC_TEST_PATH_ORACLE_H
#define EC_TEST_PATH_ORACLE_H

#include "path_scenes.h"

enum { ORACLE_PATHS = 20000, ORACLE_DEPTH = 8 };

typedef struct oracle_path {
    int32_t depth;
    uint32_t step[ORACLE_DEPTH]; /* transmissions included */
    double length;
} oracle_path;

typedef struct oracle {
    const test_scene *t;
    int32_t depth, diffractions, transmissions;
    double tx[3], rx[3];
    uint32_t step[ORACLE_DEPTH];
    double image[ORACLE_DEPTH + 1][3]; /* of tx, after so many steps: all reflections up to it */
    size_t n;
    oracle_path path[ORACLE_PATHS];
} oracle;

static inline double side_of(const ec_facet *f, const double p[3])
{
    return f->normal[0] * p[0] + f->normal[1] * p[1] + f->normal[2] * p[2] - f->offset;
}

/* Inside a convex polygon whose corners are counter-clockwise about the normal. */
static inline bool in_polygon(const test_scene *t, int32_t f, const double p[3])
{
    const double *n = t->facet[f].normal;

    for (int32_t i = 0; i < t->corners[f]; i++) {
        const double *a = t->vertex[t->corner[f][i]];
        const double *b = t->vertex[t->corner[f][(i + 1) % t->corners[f]]];
        double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        double d[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
        double z = n[0] * (e[1] * d[2] - e[2] * d[1]) + n[1] * (e[2] * d[0] - e[0] * d[2]) +
                   n[2] * (e[0] * d[1] - e[1] * d[0]);
        if (z < 0)
            return false;
    }
    return true;
}

static inline void reflected(const ec_facet *f, const double p[3], double q[3])
{
    double s = side_of(f, p);
    for (int d = 0; d < 3; d++)
        q[d] = p[d] - 2 * s * f->normal[d];
}

/* Whether a facet is the end of a segment that begins or ends at step i (-1, depth: an antenna). */
static inline bool at_step(const oracle *o, int32_t depth, int32_t i, int32_t f)
{
    if (i < 0 || i >= depth)
        return false;
    uint32_t kind = o->step[i] >> 28;
    int32_t index = (int32_t)(o->step[i] & 0xfffffff);
    if (kind == EC_PATH_REFLECTION)
        return index == f;
    const ec_wedge *w = &o->t->wedge[index];
    return w->facet[0] == f || w->facet[1] == f;
}

static inline double wedge_slope(const double a[3], const double b[3], const ec_wedge *w, double x)
{
    double sum = 0;
    const double *end[2] = {a, b};

    for (int k = 0; k < 2; k++) {
        double d[3], along = 0, square = 0;
        for (int i = 0; i < 3; i++) {
            d[i] = w->from[i] + x * w->tangent[i] - end[k][i];
            along += d[i] * w->tangent[i];
            square += d[i] * d[i];
        }
        sum += along / sqrt(square);
    }
    return sum;
}

/* Where the path from a to b over the line of a wedge is shortest; false beyond its ends. */
static inline bool shortest_on_wedge(const double a[3], const double b[3], const ec_wedge *w,
                                     bool limited, double p[3])
{
    double lo = 0, hi = 0;

    for (int i = 0; i < 3; i++)
        hi += (w->to[i] - w->from[i]) * w->tangent[i];
    if (limited && (wedge_slope(a, b, w, lo) > 0 || wedge_slope(a, b, w, hi) < 0))
        return false;
    for (double reach = hi; !limited && wedge_slope(a, b, w, lo) > 0; reach *= 2)
        lo -= reach;
    for (double reach = hi; !limited && wedge_slope(a, b, w, hi) < 0; reach *= 2)
        hi += reach;
    /* false position, which halves the far end's slope where it stays (Illinois), then halving */
    double at_lo = wedge_slope(a, b, w, lo), at_hi = wedge_slope(a, b, w, hi);
    for (int k = 0; k < 200 && hi - lo > 1e-14 * fmax(fabs(lo), fabs(hi)); k++) {
        double x = k < 30 ? lo + (hi - lo) * at_lo / (at_lo - at_hi) : 0.5 * (lo + hi);
        x = x > lo && x < hi ? x : 0.5 * (lo + hi);
        double slope = wedge_slope(a, b, w, x);
        if (slope == 0) {
            lo = hi = x;
        } else if (slope > 0) {
            hi = x;
            at_hi = slope;
            at_lo *= 0.5;
        } else {
            lo = x;
            at_lo = slope;
            at_hi *= 0.5;
        }
    }
    for (int i = 0; i < 3; i++)
        p[i] = w->from[i] + 0.5 * (lo + hi) * w->tangent[i];
    return true;
}

static inline bool outside_wedge(const ec_wedge *w, const double p[3])
{
    double h = 0, x = 0;

    for (int i = 0; i < 3; i++) {
        h += (p[i] - w->from[i]) * w->face_normal[0][i];
        x += (p[i] - w->from[i]) * w->into[0][i];
    }
    double phi = atan2(h, x);
    phi = phi < -1e-9 ? phi + 2 * EC_PI : phi;
    return phi <= w->n * EC_PI + 1e-9;
}

/* Tries the sequence in o->step[0 .. depth). */
static inline void oracle_try(oracle *o, int32_t depth)
{
    const test_scene *t = o->t;
    double point[ORACLE_DEPTH + 2][3], node[2][3];
    int32_t at[2] = {0, 0}, n_nodes = 0;

    for (int32_t i = 0; i < depth; i++)
        if (o->step[i] >> 28 == EC_PATH_DIFFRACTION && n_nodes < 2)
            at[n_nodes++] = i;
    for (int k = 0; k < n_nodes; k++)
        for (int i = 0; i < 3; i++) {
            const ec_wedge *w = &t->wedge[o->step[at[k]] & 0xfffffff];
            node[k][i] = 0.5 * (w->from[i] + w->to[i]);
        }
    double moved = 1;
    for (int round = 0; n_nodes > 0 && round < 100000 && moved > 1e-12; round++) {
        moved = 0;
        for (int k = 0; k < n_nodes; k++) {
            double a[3], b[3], q[3], before[3];
            memcpy(before, node[k], sizeof before);
            memcpy(a, k ? node[k - 1] : o->tx, sizeof a);
            memcpy(b, k + 1 < n_nodes ? node[k + 1] : o->rx, sizeof b);
            for (int32_t i = k ? at[k - 1] + 1 : 0; i < at[k]; i++) {
                reflected(&t->facet[o->step[i]], a, q);
                memcpy(a, q, sizeof a);
            }
            for (int32_t i = (k + 1 < n_nodes ? at[k + 1] : depth) - 1; i > at[k]; i--) {
                reflected(&t->facet[o->step[i]], b, q);
                memcpy(b, q, sizeof b);
            }
            if (!shortest_on_wedge(a, b, &t->wedge[o->step[at[k]] & 0xfffffff], n_nodes == 1,
                                   node[k]))
                return;
            moved = fmax(moved, ec_path_distance(node[k], before));
            moved = n_nodes == 1 ? 0 : moved;
        }
    }
    for (int k = 1; k < n_nodes; k++) /* over the common corner of two edges: not a diffraction */
        if (at[k] == at[k - 1] + 1 && ec_path_distance(node[k], node[k - 1]) < 1e-6)
            return;
    /* the flat points of each leg, backwards from its images */
    memcpy(point[0], o->tx, sizeof point[0]);
    memcpy(point[depth + 1], o->rx, sizeof point[0]);
    for (int k = 0; k < n_nodes; k++)
        memcpy(point[at[k] + 1], node[k], sizeof point[0]);
    for (int k = 0; k <= n_nodes; k++) {
        int32_t from = k ? at[k - 1] + 1 : 0, to = k < n_nodes ? at[k] : depth;
        double image[ORACLE_DEPTH + 1][3];
        memcpy(image[from], point[from], sizeof image[0]);
        for (int32_t i = from; i < to; i++)
            reflected(&t->facet[o->step[i]], image[i], image[i + 1]);
        for (int32_t i = to - 1; i >= from; i--) {
            const ec_facet *f = &t->facet[o->step[i]];
            double sa = side_of(f, image[i + 1]), sb = side_of(f, point[i + 2]);
            if (sa * sb >= 0 || fabs(sa) < 1e-12 || fabs(sb) < 1e-12)
                return;
            if (!f->thin && sb < 0)
                return;
            for (int d = 0; d < 3; d++)
                point[i + 1][d] =
                    image[i + 1][d] + sa / (sa - sb) * (point[i + 2][d] - image[i + 1][d]);
            if (!in_polygon(t, (int32_t)o->step[i], point[i + 1]))
                return;
        }
    }
    for (int k = 0; k < n_nodes; k++) {
        const ec_wedge *w = &t->wedge[o->step[at[k]] & 0xfffffff];
        double x = 0, end = 0;
        for (int d = 0; d < 3; d++) {
            x += (node[k][d] - w->from[d]) * w->tangent[d];
            end += (w->to[d] - w->from[d]) * w->tangent[d];
        }
        if (x < 0 || x > end || !outside_wedge(w, point[at[k]]) ||
            !outside_wedge(w, point[at[k] + 2]))
            return;
    }
    oracle_path *path = &o->path[o->n];
    int32_t slabs = 0;
    path->depth = 0;
    path->length = 0;
    for (int32_t i = 0; i <= depth; i++) {
        const double *a = point[i], *b = point[i + 1];
        double share[ORACLE_DEPTH];
        int32_t hit[ORACLE_DEPTH], n = 0;
        path->length += sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                             (a[2] - b[2]) * (a[2] - b[2]));
        for (int32_t f = 0; f < t->s.n_facets; f++) {
            const ec_facet *facet = &t->facet[f];
            double sa = side_of(facet, a), sb = side_of(facet, b), p[3];
            if (sa * sb >= 0 || at_step(o, depth, i - 1, f) || at_step(o, depth, i, f))
                continue;
            for (int d = 0; d < 3; d++)
                p[d] = a[d] + sa / (sa - sb) * (b[d] - a[d]);
            if (!in_polygon(t, f, p))
                continue;
            if (facet->material != 1 || ++slabs > o->transmissions)
                return;
            int32_t k = n++;
            for (; k > 0 && share[k - 1] > sa / (sa - sb); k--) {
                share[k] = share[k - 1];
                hit[k] = hit[k - 1];
            }
            share[k] = sa / (sa - sb);
            hit[k] = f;
        }
        for (int32_t k = 0; k < n; k++)
            path->step[path->depth++] = (uint32_t)EC_PATH_TRANSMISSION << 28 | (uint32_t)hit[k];
        if (i < depth)
            path->step[path->depth++] = o->step[i];
    }
    o->n++;
}

/* Whether the last reflection, seen from the receiver alone, is beyond its facet: the point where
 * the line from the last image meets the facet's plane. */
static inline bool last_in_polygon(const oracle *o, int32_t depth)
{
    int32_t f = (int32_t)o->step[depth - 1];
    double sa = side_of(&o->t->facet[f], o->image[depth]), sb = side_of(&o->t->facet[f], o->rx);
    double p[3];

    if (sa * sb >= 0)
        return false;
    for (int d = 0; d < 3; d++)
        p[d] = o->image[depth][d] + sa / (sa - sb) * (o->rx[d] - o->image[depth][d]);
    return in_polygon(o->t, f, p);
}

/* steps: how many of o->step are settled; edges: how many of them are wedges. */
static inline void oracle_extend(oracle *o, int32_t steps, int32_t target, int32_t edges)
{
    const test_scene *t = o->t;
    bool last = steps + 1 == target;

    if (steps == target || steps >= ORACLE_DEPTH) {
        if (edges > 0 || steps == 0 || last_in_polygon(o, steps))
            oracle_try(o, steps);
        return;
    }
    for (int32_t f = 0; f < t->s.n_facets; f++) {
        bool solid = !t->facet[f].thin;
        o->step[steps] = (uint32_t)f;
        if (steps > 0 && o->step[steps - 1] == o->step[steps])
            continue;
        if (solid && last && side_of(&t->facet[f], o->rx) < 0)
            continue;
        if (edges == 0 && solid && side_of(&t->facet[f], o->image[steps]) < 0)
            continue;
        if (edges == 0)
            reflected(&t->facet[f], o->image[steps], o->image[steps + 1]);
        oracle_extend(o, steps + 1, target, edges);
    }
    for (int32_t w = 0; w < t->s.n_wedges && edges < o->diffractions; w++) {
        if (t->wedge[w].n < 1)
            continue;
        o->step[steps] = (uint32_t)EC_PATH_DIFFRACTION << 28 | (uint32_t)w;
        if (steps == 0 || o->step[steps - 1] != o->step[steps])
            oracle_extend(o, steps + 1, target, edges + 1);
    }
}

/* All paths from o->tx to o->rx, in the order of their interactions without transmissions. */
static inline void oracle_find(oracle *o)
{
    o->n = 0;
    memcpy(o->image[0], o->tx, sizeof o->image[0]);
    for (int32_t target = 0; target <= o->depth; target++)
        oracle_extend(o, 0, target, 0);
}

#endif
