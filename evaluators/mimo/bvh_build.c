/* bvh_build.c: the binary tree, top down by the binned surface-area heuristic, each node cut
 * between objects or through them (spatial splits, Stich, Friedrich and Dietrich 2009, with their
 * unsplitting of references) until every leaf is one piece of one triangle. Layouts merge leaves as
 * their costs have it.
 *
 * References lie in one array that has half as much again for pieces. A node owns a range of it
 * and hands its spare places to its children in proportion to their references, so what a
 * subtree does depends on its own range only: threads take subtrees, and the tree is the same
 * for any number of them. Nodes have their places in advance likewise (2 places - 1 for a
 * range), and the gaps are closed at the end. */
#include "bvh_internal.h"

#include "../../core/wall_clock.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    MOST_BINS = 32,
    SPATIAL_BINS = 16,      /* 32: the build takes a third longer, rays as long */
    TASK_REFERENCES = 2048, /* smaller subtrees are not worth a task */
    UNUSED = -2             /* `right` of a node's place that stayed empty */
};

/* A spatial split is tried where the children of the object split overlap by more than this part
 * of the root's area (Stich et al. section 4.5), and taken where it costs less than this part of
 * the object split: each piece costs again further down, which a node does not see. Measured:
 * the largest that lose nothing. */
static const float LEAST_OVERLAP = 1e-4f, WORTH_CUTTING = 0.95f;

typedef struct box {
    float low[4], high[4]; /* four: a vector each; the last is not used */
} box;

typedef struct reference {
    box box;
    int32_t triangle;
} reference;

typedef struct build {
    ec_bvh *bvh;
    reference *ref;
    ec_bvh_tree_node *node;
    float least_overlap; /* half area */
    bool spatial;
    volatile const int *stop;
} build;

/* A node to be: n references from `first` on, `room` places of the array. */
typedef struct range {
    size_t first, n, room, node;
    int depth;
    box box;
} range;

typedef struct split {
    float cost; /* sum of area times references of both sides; FLT_MAX: none */
    int axis;
    bool spatial;
    int bin, bins; /* object: below bin of `bins` between the centroids */
    float low, scale;
    float at; /* spatial: the plane */
    box left, right;
    size_t n_left, n_right;
} split;

static inline float lower(float a, float b)
{
    return a < b ? a : b;
}

static inline float higher(float a, float b)
{
    return a > b ? a : b;
}

static inline box empty_box(void)
{
    box b;
    for (int i = 0; i < 4; i++) {
        b.low[i] = FLT_MAX;
        b.high[i] = -FLT_MAX;
    }
    return b;
}

static inline void grow(box *b, const box *by)
{
    for (int i = 0; i < 4; i++) {
        b->low[i] = lower(b->low[i], by->low[i]);
        b->high[i] = higher(b->high[i], by->high[i]);
    }
}

static inline void grow_point(box *b, const float p[3])
{
    for (int i = 0; i < 3; i++) {
        b->low[i] = lower(b->low[i], p[i]);
        b->high[i] = higher(b->high[i], p[i]);
    }
}

static inline float half_area(const box *b)
{
    return b->low[0] > b->high[0] ? 0 : ec_bvh_half_area(b->low, b->high);
}

static inline float twice_middle(const reference *r, int axis)
{
    return r->box.low[axis] + r->box.high[axis];
}

static inline int bin_of(float x, float low, float scale, int bins)
{
    int bin = (int)((x - low) * scale);
    return bin < 0 ? 0 : bin < bins ? bin : bins - 1;
}

/* ---- object splits ---- */

typedef struct bin {
    box box;
    size_t in, out; /* object: in counts; spatial: references that begin and that end here */
} bin;

/* The best plane between bins, by what lies on its two sides. */
static void sweep_bins(const bin *bins, int n, split *s)
{
    float right_cost[MOST_BINS];
    box boxes[MOST_BINS];
    box b = empty_box();
    size_t count = 0;

    for (int i = n - 1; i > 0; i--) {
        grow(&b, &bins[i].box);
        count += bins[i].out;
        boxes[i] = b;
        right_cost[i] = count ? half_area(&b) * (float)count : FLT_MAX;
    }
    size_t all = count + bins[0].out;
    b = empty_box();
    count = 0;
    size_t ended = 0;
    for (int i = 1; i < n; i++) {
        grow(&b, &bins[i - 1].box);
        count += bins[i - 1].in;
        ended += bins[i - 1].out;
        if (!count || right_cost[i] == FLT_MAX)
            continue;
        float cost = half_area(&b) * (float)count + right_cost[i];
        if (cost < s->cost) {
            s->cost = cost;
            s->bin = i;
            s->left = b;
            s->right = boxes[i];
            s->n_left = count;
            s->n_right = all - ended;
        }
    }
}

static int bins_for(size_t n)
{
    return n < 16 ? 8 : n < 256 ? 16 : MOST_BINS;
}

static void find_object_split(const reference *ref, size_t n, split *best)
{
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX}, scale[3];
    bin bins[3][MOST_BINS];
    int n_bins = bins_for(n);

    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            float middle = twice_middle(&ref[k], i);
            low[i] = lower(low[i], middle);
            high[i] = higher(high[i], middle);
        }
    for (int i = 0; i < 3; i++) {
        scale[i] = high[i] > low[i] ? (float)n_bins / (high[i] - low[i]) : 0;
        if (scale[i] > FLT_MAX) /* as good as equal */
            scale[i] = 0;
        for (int k = 0; k < n_bins; k++)
            bins[i][k] = (bin){empty_box(), 0, 0};
    }
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            bin *b = &bins[i][bin_of(twice_middle(&ref[k], i), low[i], scale[i], n_bins)];
            grow(&b->box, &ref[k].box);
            b->in++;
        }
    for (int i = 0; i < 3; i++) {
        float before = best->cost;
        if (!(scale[i] > 0))
            continue;
        for (int k = 0; k < n_bins; k++)
            bins[i][k].out = bins[i][k].in;
        sweep_bins(bins[i], n_bins, best);
        if (best->cost < before) {
            best->axis = i;
            best->bins = n_bins;
            best->low = low[i];
            best->scale = scale[i];
        }
    }
}

/* In place; the left references first. */
static void divide_objects(reference *ref, size_t n, const split *s)
{
    size_t i = 0, j = n;

    while (i < j) {
        if (bin_of(twice_middle(&ref[i], s->axis), s->low, s->scale, s->bins) < s->bin) {
            i++;
        } else {
            reference kept = ref[i];
            ref[i] = ref[--j];
            ref[j] = kept;
        }
    }
}

/* ---- spatial splits ---- */

/* The boxes of a reference's triangle on both sides of a plane, within the reference's box. Each
 * corner is right to its rounding: enough, see bvh_trace.h. */
static void cut(const build *w, const reference *ref, int axis, float at, box *left, box *right)
{
    const float(*corner)[3] = (const float(*)[3])w->bvh->corner[ref->triangle];

    *left = *right = empty_box();
    for (int k = 0; k < 3; k++) {
        const float *a = corner[k], *b = corner[k == 2 ? 0 : k + 1];
        if (a[axis] <= at)
            grow_point(left, a);
        if (a[axis] >= at)
            grow_point(right, a);
        if ((a[axis] < at && b[axis] > at) || (a[axis] > at && b[axis] < at)) {
            double part = ((double)at - a[axis]) / ((double)b[axis] - a[axis]);
            float p[3];
            for (int i = 0; i < 3; i++)
                p[i] = (float)(a[i] + part * ((double)b[i] - a[i]));
            p[axis] = at;
            grow_point(left, p);
            grow_point(right, p);
        }
    }
    left->high[axis] = lower(left->high[axis], at);
    right->low[axis] = higher(right->low[axis], at);
    for (int side = 0; side < 2; side++) {
        box *b = side ? right : left;
        for (int i = 0; i < 3; i++) {
            float low = higher(b->low[i], ref->box.low[i]);
            float high = lower(b->high[i], ref->box.high[i]);
            b->low[i] = lower(low, high); /* rounding may have turned them round */
            b->high[i] = higher(low, high);
        }
    }
}

static void find_spatial_split(const build *w, const range *r, split *best)
{
    const reference *ref = w->ref + r->first;
    bin bins[MOST_BINS];
    int n_bins = r->n < SPATIAL_BINS ? bins_for(r->n) : SPATIAL_BINS;
    float longest = 0;

    for (int i = 0; i < 3; i++)
        longest = higher(longest, r->box.high[i] - r->box.low[i]);
    for (int axis = 0; axis < 3; axis++) {
        float low = r->box.low[axis], length = r->box.high[axis] - low;
        float scale = (float)n_bins / length, step = length / (float)n_bins;
        /* thin boxes: planes would be indistinguishable from the faces */
        if (!(length > 1e-4f * longest) || !(step > 4 * FLT_EPSILON * w->bvh->size))
            continue;
        for (int k = 0; k < n_bins; k++)
            bins[k] = (bin){empty_box(), 0, 0};
        for (size_t k = 0; k < r->n; k++) {
            reference rest = ref[k];
            int first = bin_of(rest.box.low[axis], low, scale, n_bins);
            int last = bin_of(rest.box.high[axis], low, scale, n_bins);
            bins[first].in++;
            bins[last].out++;
            for (int i = first; i < last; i++) {
                box left, right;
                cut(w, &rest, axis, low + step * (float)(i + 1), &left, &right);
                grow(&bins[i].box, &left);
                rest.box = right;
            }
            grow(&bins[last].box, &rest.box);
        }
        float before = best->cost;
        sweep_bins(bins, n_bins, best);
        if (best->cost < before) {
            best->axis = axis;
            best->spatial = true;
            best->at = low + step * (float)best->bin;
        }
    }
}

/* References on both sides of the plane become two, or go to one side as a whole where that is
 * cheaper (section 4.4). The left ones end first, the right ones behind them; their number grows by
 * the pieces, for which there is room. */
static void divide_space(const build *w, range *r, split *s)
{
    reference *ref = w->ref + r->first;
    size_t i = 0, j = r->n, end = r->n;
    size_t n_left = s->n_left, n_right = s->n_right;
    box left = empty_box(), right = empty_box();

    /* whole references first: they say how large the sides are without the pieces */
    for (size_t k = 0; k < r->n; k++) {
        if (ref[k].box.high[s->axis] <= s->at)
            grow(&left, &ref[k].box);
        else if (ref[k].box.low[s->axis] >= s->at)
            grow(&right, &ref[k].box);
    }
    while (i < j) {
        if (ref[i].box.high[s->axis] <= s->at) {
            i++;
            continue;
        }
        if (ref[i].box.low[s->axis] >= s->at) {
            reference kept = ref[i];
            ref[i] = ref[--j];
            ref[j] = kept;
            continue;
        }
        box a, b, all_left = s->left, all_right = s->right;
        cut(w, &ref[i], s->axis, s->at, &a, &b);
        grow(&all_left, &ref[i].box);
        grow(&all_right, &ref[i].box);
        float both = half_area(&s->left) * (float)n_left + half_area(&s->right) * (float)n_right;
        float to_left = n_right > 1 ? half_area(&all_left) * (float)n_left +
                                          half_area(&s->right) * (float)(n_right - 1)
                                    : FLT_MAX;
        float to_right = n_left > 1 ? half_area(&s->left) * (float)(n_left - 1) +
                                          half_area(&all_right) * (float)n_right
                                    : FLT_MAX;
        if (end == r->room) /* no place for another piece */
            both = FLT_MAX;
        if (both <= to_left && both <= to_right && both < FLT_MAX) {
            ref[end] = ref[i];
            ref[end++].box = b;
            ref[i].box = a;
            grow(&left, &a);
            grow(&right, &b);
            i++;
        } else if (to_left <= to_right) {
            s->left = all_left;
            n_right--;
            grow(&left, &ref[i].box);
            i++;
        } else {
            s->right = all_right;
            n_left--;
            grow(&right, &ref[i].box);
            reference kept = ref[i];
            ref[i] = ref[--j];
            ref[j] = kept;
        }
    }
    r->n = end;
    s->n_left = i;
    s->n_right = end - i;
    s->left = left;
    s->right = right;
}

/* ---- nodes ---- */

/* Halves by number: for references that no plane tells apart, and where the tree is too deep. */
static void divide_numbers(const reference *ref, size_t n, split *s)
{
    s->n_left = n / 2;
    s->n_right = n - n / 2;
    s->left = s->right = empty_box();
    for (size_t k = 0; k < n; k++)
        grow(k < s->n_left ? &s->left : &s->right, &ref[k].box);
}

static float overlap(const box *a, const box *b)
{
    box both;

    for (int i = 0; i < 3; i++) {
        both.low[i] = higher(a->low[i], b->low[i]);
        both.high[i] = lower(a->high[i], b->high[i]);
        if (both.low[i] > both.high[i])
            return 0;
    }
    return half_area(&both);
}

static void divide(const build *w, range *r, split *s)
{
    reference *ref = w->ref + r->first;

    s->cost = FLT_MAX;
    s->spatial = false;
    if (r->depth < EC_BVH_SAH_DEPTH) {
        find_object_split(ref, r->n, s);
        if (w->spatial && r->room > r->n && s->cost < FLT_MAX &&
            overlap(&s->left, &s->right) > w->least_overlap) {
            split space = *s;
            space.cost *= WORTH_CUTTING;
            find_spatial_split(w, r, &space);
            if (space.spatial)
                *s = space;
        }
    }
    if (s->cost < FLT_MAX && s->spatial)
        divide_space(w, r, s);
    else if (s->cost < FLT_MAX)
        divide_objects(ref, r->n, s);
    if (s->cost == FLT_MAX || s->n_left == 0 || s->n_right == 0)
        divide_numbers(ref, r->n, s);
}

static void build_node(const build *w, range r)
{
    ec_bvh_tree_node *node = &w->node[r.node];
    reference *ref = w->ref + r.first;
    split s;

    memcpy(node->low, r.box.low, sizeof node->low);
    memcpy(node->high, r.box.high, sizeof node->high);
    if (r.n == 1 || (w->stop && *w->stop)) {
        node->right = -1;
        node->what = ref->triangle;
        return;
    }
    divide(w, &r, &s);
    size_t spare = r.room - r.n;
    size_t room = s.n_left + (size_t)((double)spare * (double)s.n_left / (double)r.n);
    memmove(ref + room, ref + s.n_left, s.n_right * sizeof *ref);
    range left = {r.first, s.n_left, room, r.node + 1, r.depth + 1, s.left};
    range right = {r.first + room,    s.n_right,   r.room - room,
                   r.node + 2 * room, r.depth + 1, s.right};
    node->right = (int32_t)right.node;
    node->what = 0;
    bool task = r.n >= TASK_REFERENCES;
    (void)task;
#ifdef _OPENMP
#pragma omp task if (task) firstprivate(left)
#endif
    build_node(w, left);
    build_node(w, right);
}

/* Closes the gaps between nodes and counts leaves. */
static int close_gaps(ec_bvh *bvh, size_t places)
{
    ec_bvh_tree_node *node = bvh->node;
    int32_t *to = malloc(places * sizeof *to), n = 0;

    if (!to)
        return ec_fail(EC_ERR_MEMORY, "%.1f MB for a hierarchy of %d triangles cannot be had",
                       (double)places * sizeof *to / 1e6, bvh->n_triangles);
    for (size_t i = 0; i < places; i++) {
        to[i] = n;
        n += node[i].right != UNUSED;
    }
    for (size_t i = 0; i < places; i++) {
        if (node[i].right == UNUSED)
            continue;
        ec_bvh_tree_node moved = node[i];
        if (moved.right >= 0)
            moved.right = to[moved.right];
        node[to[i]] = moved;
    }
    free(to);
    bvh->n_nodes = n;
    for (int32_t i = n - 1; i >= 0; i--) {
        if (node[i].right < 0)
            continue;
        const ec_bvh_tree_node *left = &node[i + 1], *right = &node[node[i].right];
        node[i].what = (left->right < 0 ? 1 : left->what) + (right->right < 0 ? 1 : right->what);
    }
    ec_bvh_tree_node *smaller = realloc(node, (size_t)n * sizeof *node);
    if (smaller)
        bvh->node = smaller;
    return EC_OK;
}

static void gather_stats(ec_bvh *bvh)
{
    ec_bvh_stats *s = &bvh->stats;
    const ec_bvh_tree_node *node = bvh->node;
    double sum = 0, root = bvh->n_nodes ? ec_bvh_half_area(node->low, node->high) : 0;

    /* preorder: the right children that are still to come, with their depths */
    struct {
        int32_t node, depth;
    } waiting[EC_BVH_SAH_DEPTH + 32];
    int n_waiting = 0, depth = -1;
    for (int32_t i = 0; i < bvh->n_nodes; i++) {
        depth++;
        if (n_waiting > 0 && waiting[n_waiting - 1].node == i)
            depth = waiting[--n_waiting].depth;
        s->depth = depth > s->depth ? depth : s->depth;
        sum += ec_bvh_half_area(node[i].low, node[i].high);
        s->references += node[i].right < 0;
        if (node[i].right >= 0) {
            waiting[n_waiting].node = node[i].right;
            waiting[n_waiting++].depth = depth + 1;
        }
    }
    s->sah_cost = root > 0 ? sum / root : bvh->n_nodes;
    s->triangles = bvh->n_triangles;
    s->nodes = bvh->n_nodes;
    s->bytes = (size_t)bvh->n_nodes * sizeof *node +
               (size_t)bvh->n_triangles * (sizeof *bvh->corner + sizeof *bvh->part);
}

/* ---- input ---- */

static int check_input(const ec_bvh_info *info)
{
    if (info->n_triangles < 0 || info->n_triangles > EC_BVH_MOST_TRIANGLES)
        return ec_fail(EC_ERR_ARGUMENT, "%d triangles: allowed are 0 to %d", info->n_triangles,
                       EC_BVH_MOST_TRIANGLES);
    for (int32_t k = 0; k < info->n_triangles; k++)
        for (int i = 0; i < 3; i++) {
            int32_t v = info->triangle[k][i];
            if (v < 0 || v >= info->n_vertices)
                return ec_fail(EC_ERR_ARGUMENT, "triangle %d has vertex %d: allowed are 0 to %d", k,
                               v, info->n_vertices - 1);
            for (int axis = 0; axis < 3; axis++)
                if (!(fabs(info->vertex[v][axis]) <= 1e12))
                    return ec_fail(EC_ERR_ARGUMENT,
                                   "vertex %d has a coordinate %g: allowed are -1e12 to 1e12", v,
                                   ec_printable(info->vertex[v][axis]));
        }
    return EC_OK;
}

/* Triangles as float32 from the middle of their box. */
static void take_triangles(const ec_bvh_info *info, ec_bvh *bvh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (int32_t k = 0; k < info->n_triangles; k++)
        for (int i = 0; i < 9; i++) {
            double x = info->vertex[info->triangle[k][i / 3]][i % 3];
            low[i % 3] = x < low[i % 3] ? x : low[i % 3];
            high[i % 3] = x > high[i % 3] ? x : high[i % 3];
        }
    for (int i = 0; i < 3 && info->n_triangles; i++)
        bvh->centre[i] = low[i] + 0.5 * (high[i] - low[i]);
    for (int32_t k = 0; k < info->n_triangles; k++) {
        for (int i = 0; i < 9; i++) {
            double x = info->vertex[info->triangle[k][i / 3]][i % 3] - bvh->centre[i % 3];
            bvh->corner[k][i / 3][i % 3] = (float)x;
            bvh->size = higher(bvh->size, fabsf((float)x));
        }
        bvh->part[k] = info->part ? info->part[k] : 0;
    }
}

static box take_references(const ec_bvh *bvh, reference *ref)
{
    box all = empty_box();

    for (int32_t k = 0; k < bvh->n_triangles; k++) {
        ref[k].box = empty_box();
        ref[k].triangle = k;
        for (int i = 0; i < 3; i++)
            grow_point(&ref[k].box, bvh->corner[k][i]);
        grow(&all, &ref[k].box);
    }
    return all;
}

static int grow_tree(const ec_bvh_info *info, ec_bvh *bvh)
{
    size_t n = (size_t)info->n_triangles, room = info->object_splits_only ? n : n + n / 2 + 8;
    size_t places = 2 * room - 1;
    build w = {.bvh = bvh, .spatial = !info->object_splits_only, .stop = info->stop};
    int status = EC_OK;

    w.ref = malloc(room * sizeof *w.ref);
    w.node = bvh->node = malloc(places * sizeof *w.node);
    if (!w.ref || !w.node) {
        free(w.ref);
        return ec_fail(EC_ERR_MEMORY, "%.1f MB for a hierarchy of %d triangles cannot be had",
                       (double)(room * sizeof *w.ref + places * sizeof *w.node) / 1e6,
                       info->n_triangles);
    }
    for (size_t i = 0; i < places; i++)
        w.node[i].right = UNUSED;
    range root = {0, n, room, 0, 0, take_references(bvh, w.ref)};
    w.least_overlap = LEAST_OVERLAP * half_area(&root.box);
#ifdef _OPENMP
    int threads = info->threads > 0 ? info->threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads) if (threads > 1 && n >= TASK_REFERENCES)
#pragma omp single
#endif
    build_node(&w, root);
    free(w.ref);
    if (info->stop && *info->stop)
        status = EC_STOPPED;
    return status == EC_OK ? close_gaps(bvh, places) : status;
}

int ec_bvh_build(const ec_bvh_info *info, ec_bvh **bvh)
{
    double start = ec_wall_seconds();
    size_t n = (size_t)info->n_triangles;
    int status = check_input(info);

    if (status < 0)
        return status;
    ec_bvh *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "out of memory for a hierarchy");
    fresh->n_triangles = info->n_triangles;
    fresh->corner = malloc((n + 1) * sizeof *fresh->corner);
    fresh->part = malloc((n + 1) * sizeof *fresh->part);
    if (!fresh->corner || !fresh->part) {
        ec_bvh_destroy(&fresh);
        return ec_fail(EC_ERR_MEMORY, "%.1f MB for %d triangles cannot be had",
                       (double)(n * (sizeof *fresh->corner + sizeof *fresh->part)) / 1e6,
                       info->n_triangles);
    }
    take_triangles(info, fresh);
    if (n > 0)
        status = grow_tree(info, fresh);
    if (status != EC_OK) {
        ec_bvh_destroy(&fresh);
        return status;
    }
    gather_stats(fresh);
    fresh->stats.seconds = ec_wall_seconds() - start;
    *bvh = fresh;
    return EC_OK;
}

void ec_bvh_destroy(ec_bvh **bvh)
{
    ec_bvh *b = bvh ? *bvh : NULL;

    if (!b)
        return;
    free(b->node);
    free(b->corner);
    free(b->part);
    free(b);
    *bvh = NULL;
}

const ec_bvh_stats *ec_bvh_get_stats(const ec_bvh *bvh)
{
    return &bvh->stats;
}
