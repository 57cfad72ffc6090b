/* bvh_layout.c: the binary tree becomes nodes of 2, 4 or 8 children in a backend's memory, and
 * batches of rays are launched.
 *
 * Which nodes make room for their children in their parents, and which subtrees become leaves, is
 * found by dynamic programming (Ylitie, Karras and Laine 2017, section 3.1): C(n, j) is the least
 * expected cost of subtree n as a forest of at most j trees,
 *     C(n, 1) = min(area leaf(n), area node + D(n, width)),
 *     C(n, j) = min(D(n, j), C(n, j - 1)),  D(n, j) = min over k of C(left, k) + C(right, j - k). */
#include "bvh_internal.h"
#include "bvh_kernels.h"

#include "../../core/wall_clock.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(bvh_closest, ec_bvh_batch)
EC_KERNEL_DECLARE(bvh_any, ec_bvh_batch)

enum { MOST_CHILDREN = 8, MOST_LEAF = 16 };

typedef struct layout_form {
    const char *name;
    int width, leaf, pack;
    size_t bytes;
    int stack;
    float node_cost, test_cost;
} layout_form;

#define LAYOUT_FORM(id, name, width, leaf, pack, bytes, stack, node, test)                         \
    {name, width, leaf, pack, bytes, stack, node, test},
static const layout_form forms[EC_BVH_LAYOUTS] = {EC_BVH_LAYOUT_LIST(LAYOUT_FORM)};
#undef LAYOUT_FORM

_Static_assert(sizeof(ec_bvh_node2) == 64 && sizeof(ec_bvh_node4) == 128 &&
                   sizeof(ec_bvh_node8) == 224 && sizeof(ec_bvh_node8q) == 80 &&
                   sizeof(ec_bvh_record) == 48,
               "what kernels read in vectors of 16 bytes");

struct ec_bvh_layout {
    ec_backend *backend;
    ec_bvh_view view;
    ec_bvh_layout_stats stats;
    void *node, *triangle;
    void *next; /* CUDA: a counter of rays */
};

typedef struct writer {
    const ec_bvh *bvh;
    int layout;
    const layout_form *form;
    float *cost;    /* [node][width - 1] */
    bool by_levels; /* children are the nodes log2(width) levels below: shorter stacks */
    float root_area;
    char *node, *triangle; /* what is written */
    size_t n_nodes, node_room, n_packs, pack_room;
    double node_visits, triangle_tests;
    int stack; /* places the deepest path needs */
    bool failed;
} writer;

static bool is_leaf(const writer *w, int32_t t)
{
    return w->bvh->node[t].right < 0;
}

static int32_t leaves(const writer *w, int32_t t)
{
    return is_leaf(w, t) ? 1 : w->bvh->node[t].what;
}

static float area(const writer *w, int32_t t)
{
    return ec_bvh_half_area(w->bvh->node[t].low, w->bvh->node[t].high);
}

/* ---- what becomes a node ---- */

static float leaf_cost(const writer *w, int32_t t)
{
    int32_t n = leaves(w, t), pack = w->form->pack;
    return n > w->form->leaf ? FLT_MAX
                             : area(w, t) * w->form->test_cost * (float)((n + pack - 1) / pack);
}

/* D(t, j), and the k that gives it. */
static float divided_cost(const writer *w, int32_t t, int j, int *left_trees)
{
    int most = w->form->width - 1;
    const float *left = w->cost + (size_t)(t + 1) * (size_t)most;
    const float *right = w->cost + (size_t)w->bvh->node[t].right * (size_t)most;
    float best = FLT_MAX;

    for (int k = j - most > 1 ? j - most : 1; k < j && k <= most; k++) {
        float cost = left[k - 1] + right[j - k - 1];
        if (cost < best) {
            best = cost;
            *left_trees = k;
        }
    }
    return best;
}

static float opened_cost(const writer *w, int32_t t)
{
    int k;
    return area(w, t) * w->form->node_cost + divided_cost(w, t, w->form->width, &k);
}

static void find_costs(const writer *w)
{
    int most = w->form->width - 1;

    for (int32_t t = w->bvh->n_nodes - 1; t >= 0; t--) {
        float *cost = w->cost + (size_t)t * (size_t)most;
        cost[0] = leaf_cost(w, t);
        if (!is_leaf(w, t)) {
            float opened = opened_cost(w, t);
            cost[0] = opened < cost[0] ? opened : cost[0];
        }
        for (int j = 2; j <= most; j++) {
            int k;
            float divided = is_leaf(w, t) ? FLT_MAX : divided_cost(w, t, j, &k);
            cost[j - 1] = divided < cost[j - 2] ? divided : cost[j - 2];
        }
    }
}

static bool becomes_leaf(const writer *w, int32_t t)
{
    return is_leaf(w, t) || leaf_cost(w, t) <= opened_cost(w, t);
}

/* The roots of the forest of at most j trees that t becomes; t itself is opened if `open`. */
static int gather_trees(const writer *w, int32_t t, int j, bool open, int32_t *tree)
{
    const float *cost = w->cost + (size_t)t * (size_t)(w->form->width - 1);
    int k = 1;

    if (is_leaf(w, t) || (j == 1 && !open)) {
        tree[0] = t;
        return 1;
    }
    if (w->by_levels) {
        if (j == 1 || (!open && becomes_leaf(w, t))) {
            tree[0] = t;
            return 1;
        }
        k = j / 2;
    } else if (!(divided_cost(w, t, j, &k) < (open ? FLT_MAX : cost[j - 2]))) {
        return gather_trees(w, t, j - 1, false, tree);
    }
    int n = gather_trees(w, t + 1, k, false, tree);
    return n + gather_trees(w, w->bvh->node[t].right, j - k, false, tree + n);
}

/* ---- records ---- */

static void *make_room(writer *w, char **array, size_t *room, size_t wanted, size_t bytes)
{
    if (wanted > *room) {
        size_t more = wanted > 2 * *room ? wanted : 2 * *room;
        char *larger = realloc(*array, more * bytes);
        if (!larger) {
            w->failed = true;
            return NULL;
        }
        *array = larger;
        *room = more;
    }
    return *array;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void write_pack(const ec_bvh *bvh, const int32_t *triangle, int n, ec_bvh_pack *to)
{
    for (int lane = 0; lane < EC_BVH_PACK; lane++) {
        int32_t k = lane < n ? triangle[lane] : -1;
        for (int i = 0; i < 9; i++)
            to->vertex[i / 3][i % 3][lane] = k < 0 ? NAN : bvh->corner[k][i / 3][i % 3];
        to->index[lane] = k;
        to->part[lane] = k < 0 ? 0 : bvh->part[k];
    }
}

static void write_record(const ec_bvh *bvh, int32_t k, ec_bvh_record *to)
{
    memcpy(to->a, bvh->corner[k][0], sizeof to->a);
    memcpy(to->b, bvh->corner[k][1], sizeof to->b);
    memcpy(to->c, bvh->corner[k][2], sizeof to->c);
    to->index = k;
    to->part = bvh->part[k];
    to->unused = 0;
}

/* Writes the triangles below t, each once; how many records or packets. */
static size_t write_leaf(writer *w, int32_t t)
{
    int32_t triangle[MOST_LEAF];
    size_t n = 0, kept = 0, pack = (size_t)w->form->pack;
    size_t bytes = pack > 1 ? sizeof(ec_bvh_pack) : sizeof(ec_bvh_record);
    int32_t end = is_leaf(w, t) ? t + 1 : t + 2 * w->bvh->node[t].what - 1;

    for (int32_t i = t; i < end; i++)
        if (is_leaf(w, i))
            triangle[n++] = w->bvh->node[i].what;
    qsort(triangle, n, sizeof *triangle, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || triangle[i] != triangle[i - 1])
            triangle[kept++] = triangle[i];
    size_t packs = (kept + pack - 1) / pack;
    if (!make_room(w, &w->triangle, &w->pack_room, w->n_packs + packs, bytes))
        return 1;
    for (size_t i = 0; i < packs; i++) {
        void *to = w->triangle + (w->n_packs + i) * bytes;
        if (pack > 1)
            write_pack(w->bvh, triangle + i * pack, (int)(kept - i * pack), to);
        else
            write_record(w->bvh, triangle[i], to);
    }
    w->n_packs += packs;
    w->triangle_tests += (double)packs * (double)area(w, t);
    return packs;
}

/* ---- nodes ---- */

typedef struct child {
    int32_t tree;
    bool leaf;
    size_t first, records; /* leaf: its records; else first is the node */
} child;

/* bound[axis][side][width] and child[width] of nodes 2, 4 and 8. */
static void write_node(const writer *w, const child *c, int n, float *bound, int32_t *link)
{
    int width = w->form->width;

    for (int k = 0; k < width; k++) {
        const ec_bvh_tree_node *t = k < n ? &w->bvh->node[c[k].tree] : NULL;
        for (int i = 0; i < 3; i++) {
            bound[(2 * i) * width + k] = t ? t->low[i] : INFINITY;
            bound[(2 * i + 1) * width + k] = t ? t->high[i] : -INFINITY;
        }
        link[k] = 0;
        if (t && c[k].leaf)
            link[k] = ~(int32_t)(c[k].first << EC_BVH_LEAF_BITS | (c[k].records - 1));
        else if (t)
            link[k] = (int32_t)c[k].first;
    }
}

/* Which slot of a node each child takes: the pairs that agree best with the slots' directions. */
static void choose_slots(const writer *w, const child *c, int n, int slot_of[MOST_CHILDREN])
{
    float middle[3], offset[MOST_CHILDREN][3];
    bool taken[MOST_CHILDREN] = {false};
    int left = n;

    for (int i = 0; i < 3; i++) {
        float low = FLT_MAX, high = -FLT_MAX;
        for (int k = 0; k < n; k++) {
            const ec_bvh_tree_node *t = &w->bvh->node[c[k].tree];
            low = t->low[i] < low ? t->low[i] : low;
            high = t->high[i] > high ? t->high[i] : high;
            offset[k][i] = 0.5f * (t->low[i] + t->high[i]);
        }
        middle[i] = 0.5f * (low + high);
        for (int k = 0; k < n; k++)
            offset[k][i] -= middle[i];
    }
    for (int k = 0; k < n; k++)
        slot_of[k] = -1;
    while (left-- > 0) {
        float best = -FLT_MAX;
        int at = 0, slot = 0;
        for (int k = 0; k < n; k++)
            for (int s = 0; s < MOST_CHILDREN && slot_of[k] < 0; s++) {
                float along = 0;
                for (int i = 0; i < 3; i++)
                    along += (s >> i & 1) ? offset[k][i] : -offset[k][i];
                if (!taken[s] && along > best) {
                    best = along;
                    at = k;
                    slot = s;
                }
            }
        if (best == -FLT_MAX) /* sums that overflowed: any free slot */
            for (at = 0; slot_of[at] >= 0; at++)
                ;
        for (slot = best == -FLT_MAX ? 0 : slot; taken[slot]; slot++)
            ;
        slot_of[at] = slot;
        taken[slot] = true;
    }
}

static void write_node_8q(const writer *w, int32_t t, child *c, int n, size_t records,
                          ec_bvh_node8q *to)
{
    const ec_bvh_tree_node *all = &w->bvh->node[t];
    int slot_of[MOST_CHILDREN];

    memset(to, 0, sizeof *to);
    memcpy(to->low, all->low, sizeof to->low);
    to->record = (int32_t)records;
    memset(to->bound, 0, sizeof to->bound);
    choose_slots(w, c, n, slot_of);
    for (int i = 0; i < 3; i++) {
        double length = (double)all->high[i] - all->low[i];
        int e;
        frexp(length / 255, &e); /* length / 255 <= 2^e */
        e = e < -126 || length == 0 ? -126 : e;
        to->exponent[i] = (uint8_t)(e + 127);
        for (int s = 0; s < MOST_CHILDREN; s++)
            to->bound[i][0][s] = 255; /* empty */
        for (int k = 0; k < n; k++) {
            const ec_bvh_tree_node *b = &w->bvh->node[c[k].tree];
            double low = floor(ldexp((double)b->low[i] - all->low[i], -e));
            double high = ceil(ldexp((double)b->high[i] - all->low[i], -e));
            to->bound[i][0][slot_of[k]] = (uint8_t)(low < 0 ? 0 : low > 255 ? 255 : low);
            to->bound[i][1][slot_of[k]] = (uint8_t)(high < 0 ? 0 : high > 255 ? 255 : high);
        }
    }
    for (int k = 0; k < n; k++) {
        if (c[k].leaf)
            to->leaf[slot_of[k]] = (uint8_t)(c[k].records << 5 | (c[k].first - records));
        else
            to->inner |= (uint8_t)(1 << slot_of[k]);
    }
}

/* Inner children of an 8q node are numbered in the order of their slots. */
static void number_by_slot(const writer *w, child *c, int n, size_t first)
{
    int slot_of[MOST_CHILDREN];

    choose_slots(w, c, n, slot_of);
    for (int s = 0; s < MOST_CHILDREN; s++)
        for (int k = 0; k < n; k++)
            if (slot_of[k] == s && !c[k].leaf)
                c[k].first = first++;
}

/* Node `number` is tree node t with its children; those that are nodes follow. `waiting`: places of
 * the stack that are taken on the way here. */
static void write_tree(writer *w, int32_t t, size_t number, int waiting)
{
    const layout_form *form = w->form;
    int32_t tree[MOST_CHILDREN];
    child c[MOST_CHILDREN];
    size_t first_node = w->n_nodes, first_record = w->n_packs;
    int n = 1, inner = 0;

    tree[0] = t; /* a root that becomes a leaf is the only child */
    if (!(number == 0 && becomes_leaf(w, t)))
        n = gather_trees(w, t, form->width, true, tree);
    for (int k = 0; k < n && !w->failed; k++) {
        c[k] = (child){.tree = tree[k], .leaf = becomes_leaf(w, tree[k])};
        if (c[k].leaf) {
            c[k].first = w->n_packs;
            c[k].records = write_leaf(w, tree[k]);
        } else {
            c[k].first = first_node + (size_t)inner++;
        }
    }
    if (!w->failed)
        make_room(w, &w->node, &w->node_room, first_node + (size_t)inner, form->bytes);
    if (w->failed)
        return;
    w->n_nodes += (size_t)inner;
    w->node_visits += area(w, t);
    if (w->layout == EC_BVH_8Q) {
        ec_bvh_node8q *to = (ec_bvh_node8q *)(void *)w->node + number;
        number_by_slot(w, c, n, first_node);
        write_node_8q(w, t, c, n, first_record, to);
        to->child = (int32_t)first_node;
        waiting += 1;
    } else {
        float *to = (float *)(void *)(w->node + number * form->bytes);
        int32_t *link = (int32_t *)(void *)(to + 6 * form->width);
        memset(to, 0, form->bytes);
        write_node(w, c, n, to, link);
        waiting += n - 1;
    }
    w->stack = waiting > w->stack ? waiting : w->stack;
    for (int k = 0; k < n; k++)
        if (!c[k].leaf)
            write_tree(w, c[k].tree, c[k].first, waiting);
}

static void write_all(writer *w, bool by_levels)
{
    w->by_levels = by_levels;
    w->n_nodes = 1;
    w->n_packs = 0;
    w->node_visits = w->triangle_tests = 0;
    w->stack = 0;
    if (!make_room(w, &w->node, &w->node_room, 1, w->form->bytes))
        return;
    if (w->bvh->n_nodes > 0) {
        write_tree(w, 0, 0, 0);
        return;
    }
    memset(w->node, 0, w->form->bytes);
    if (w->layout != EC_BVH_8Q) {
        float *to = (float *)(void *)w->node;
        write_node(w, NULL, 0, to, (int32_t *)(void *)(to + 6 * w->form->width));
    }
}

/* ---- on a backend ---- */

static int upload(ec_bvh_layout *layout, const void *from, size_t bytes, void **to)
{
    const ec_backend_ops *ops = layout->backend->ops;
    int status = ops->alloc(layout->backend, bytes, to);

    return status < 0 ? status : ops->upload(layout->backend, *to, from, bytes);
}

static int write_layout(const ec_bvh *bvh, int number, ec_bvh_layout *layout)
{
    const layout_form *form = &forms[number];
    size_t n = (size_t)bvh->n_nodes + 1, bytes = n * (size_t)(form->width - 1) * sizeof(float);
    writer w = {.bvh = bvh, .layout = number, .form = form, .cost = malloc(bytes)};
    int status;

    if (!w.cost)
        return ec_fail(EC_ERR_MEMORY, "%.1f MB to lay out a hierarchy cannot be had",
                       (double)bytes / 1e6);
    find_costs(&w);
    write_all(&w, false);
    if (!w.failed && w.stack >= form->stack)
        write_all(&w, true);
    free(w.cost);
    size_t pack_bytes = form->pack > 1 ? sizeof(ec_bvh_pack) : sizeof(ec_bvh_record);
    size_t node_bytes = w.n_nodes * form->bytes, triangle_bytes = w.n_packs * pack_bytes;
    if (w.failed)
        status = ec_fail(EC_ERR_MEMORY, "%.1f MB for the layout of a hierarchy cannot be had",
                         (double)(node_bytes + triangle_bytes) / 1e6);
    else if (w.stack >= form->stack)
        status = ec_fail(EC_ERR_INTERNAL, "a hierarchy's path needs %d places of a stack of %d",
                         w.stack, form->stack);
    else
        status = upload(layout, w.node, node_bytes, &layout->node);
    if (status >= 0)
        status = upload(layout, w.triangle, triangle_bytes, &layout->triangle);
    free(w.node);
    free(w.triangle);
    double root = bvh->n_nodes ? ec_bvh_half_area(bvh->node->low, bvh->node->high) : 0;
    layout->stats = (ec_bvh_layout_stats){.name = form->name,
                                          .node_visits = root > 0 ? w.node_visits / root : 1,
                                          .triangle_tests = root > 0 ? w.triangle_tests / root : 0,
                                          .nodes = (int32_t)w.n_nodes,
                                          .packets = (int32_t)w.n_packs,
                                          .stack = w.stack,
                                          .bytes = node_bytes + triangle_bytes};
    return status;
}

/* Measured by eciton_bench "rays". On the CPU eight children win at every instruction set:
 * over four by 10 to 20 % with AVX, by 4 to 10 % with SSE. */
static int fastest(const ec_backend *backend)
{
    return backend->is_cuda ? EC_BVH_4 : EC_BVH_8_SIMD;
}

int ec_bvh_lay_out(const ec_bvh *bvh, ec_backend *backend, int layout, ec_bvh_layout **made)
{
    double start = ec_wall_seconds();

    if (layout == EC_BVH_AUTO)
        layout = fastest(backend);
    if (layout < 0 || layout >= EC_BVH_LAYOUTS)
        return ec_fail(EC_ERR_ARGUMENT, "layout %d of a hierarchy: allowed are %d to %d", layout,
                       EC_BVH_AUTO, EC_BVH_LAYOUTS - 1);
    if (backend->is_cuda && forms[layout].pack > 1)
        return ec_fail(EC_ERR_UNSUPPORTED, "layout \"%s\" of a hierarchy is for the CPU",
                       forms[layout].name);
    ec_bvh_layout *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "out of memory for the layout of a hierarchy");
    fresh->backend = backend;
    int status = write_layout(bvh, layout, fresh);
    if (status >= 0 && backend->is_cuda)
        status = backend->ops->alloc(backend, sizeof(unsigned long long), &fresh->next);
    if (status < 0) {
        ec_bvh_layout_destroy(&fresh);
        return status;
    }
    fresh->view = (ec_bvh_view){
        .node = fresh->node, .triangle = fresh->triangle, .size = bvh->size, .layout = layout};
    memcpy(fresh->view.centre, bvh->centre, sizeof fresh->view.centre);
    fresh->stats.seconds = ec_wall_seconds() - start;
    *made = fresh;
    return EC_OK;
}

void ec_bvh_layout_destroy(ec_bvh_layout **layout)
{
    ec_bvh_layout *l = layout ? *layout : NULL;

    if (!l)
        return;
    l->backend->ops->release(l->backend, l->node);
    l->backend->ops->release(l->backend, l->triangle);
    l->backend->ops->release(l->backend, l->next);
    free(l);
    *layout = NULL;
}

const ec_bvh_layout_stats *ec_bvh_layout_get_stats(const ec_bvh_layout *layout)
{
    return &layout->stats;
}

const ec_bvh_view *ec_bvh_layout_view(const ec_bvh_layout *layout)
{
    return &layout->view;
}

/* ---- batches ---- */

static int run(ec_bvh_layout *layout, const ec_kernel *kernel, ec_bvh_batch *batch)
{
    batch->view = layout->view;
    batch->next = layout->next;
    batch->blocks = EC_BVH_CUDA_BLOCKS * layout->backend->multiprocessors;
    if (batch->n == 0)
        return EC_OK;
    return layout->backend->ops->launch(layout->backend, kernel, batch, batch->n, 1);
}

int ec_bvh_closest_run(ec_bvh_layout *layout, const ec_bvh_rays *rays, const ec_bvh_hits *hits,
                       size_t n)
{
    ec_bvh_batch batch = {.rays = *rays, .hits = *hits, .n = n};
    return run(layout, &ec_kernel_bvh_closest, &batch);
}

int ec_bvh_any_run(ec_bvh_layout *layout, const ec_bvh_rays *rays, uint8_t *hit, size_t n)
{
    ec_bvh_batch batch = {.rays = *rays, .any = hit, .n = n};
    return run(layout, &ec_kernel_bvh_any, &batch);
}
