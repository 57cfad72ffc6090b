/* path_discover.c: sequences of interactions that rays meet.
 *
 * Rays from places in the box of each antenna are followed through reflections. Each leaves the
 * sequences of parts that it met, and, for each part met next, the wedges of that part and of its
 * neighbours: sequences that end at a wedge. A diffracted path is one from the transmitter to a
 * wedge and one from the receiver to the same wedge, turned round; for two diffractions rays from
 * the wedges that the transmitter reached join them. All sequences are gathered in sets and
 * sorted, so that nothing depends on the order of rays. */
#include "path_internal.h"

#include "../../core/sampling.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

void ec_path_launch_default(ec_path_launch *info)
{
    *info = (ec_path_launch){.points = 9, .rays = 100000};
}

/* ---- sets of sequences ---- */

typedef struct set {
    ec_path_builder list;
    size_t *slot; /* 1 + index into the list, 0: free */
    size_t slots; /* a power of two */
} set;

static uint64_t hash_of(int32_t depth, const uint32_t *step)
{
    uint64_t h = 0x9e3779b97f4a7c15u + (uint64_t)depth;

    for (int32_t i = 0; i < depth; i++) {
        h = (h ^ step[i]) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return h ^ h >> 32;
}

static int32_t depth_of(const ec_path_builder *b, size_t i)
{
    return (int32_t)(b->first[i + 1] - b->first[i]);
}

static size_t place_of(const set *s, int32_t depth, const uint32_t *step)
{
    size_t k = (size_t)hash_of(depth, step) & (s->slots - 1);

    for (; s->slot[k]; k = (k + 1) & (s->slots - 1)) {
        size_t i = s->slot[k] - 1;
        if (depth_of(&s->list, i) == depth &&
            memcmp(s->list.step + s->list.first[i], step, (size_t)depth * sizeof *step) == 0)
            break;
    }
    return k;
}

static int set_add(set *s, int32_t depth, const uint32_t *step)
{
    if (2 * (s->list.n + 1) > s->slots) {
        size_t slots = s->slots ? 2 * s->slots : 1024;
        size_t *larger = calloc(slots, sizeof *larger);
        if (!larger)
            return ec_fail(EC_ERR_MEMORY, "no memory for %zu sequences of interactions", slots);
        free(s->slot);
        s->slot = larger;
        s->slots = slots;
        for (size_t i = 0; i < s->list.n; i++)
            larger[place_of(s, depth_of(&s->list, i), s->list.step + s->list.first[i])] = i + 1;
    }
    size_t k = place_of(s, depth, step);
    if (s->slot[k])
        return EC_OK;
    int status = ec_path_builder_add(&s->list, depth, step);
    if (status == EC_OK)
        s->slot[k] = s->list.n;
    return status;
}

static void set_free(set *s)
{
    ec_path_builder_free(&s->list);
    free(s->slot);
    memset(s, 0, sizeof *s);
}

/* Adds what `from` has. */
static int set_join(set *s, const set *from)
{
    int status = EC_OK;

    for (size_t i = 0; i < from->list.n && status == EC_OK; i++)
        status = set_add(s, depth_of(&from->list, i), from->list.step + from->list.first[i]);
    return status;
}

/* ---- rays ---- */

typedef struct ray_tree {
    const ec_path_plan *plan;
    const int32_t *wedge_first, *wedge_of; /* those that each facet discovers */
    int32_t depth;                         /* reflections and a wedge at most */
    set *reflections, *wedges;             /* sequences; those that end at a wedge */
    int32_t begin;                         /* steps that all sequences begin with */
    uint32_t step[EC_PATH_DEPTH_MAX + 2];
    int status;
} ray_tree;

/* The outward normal where a ray meets a triangle. */
static void normal_at(const ec_scene *s, int32_t triangle, const double from[3],
                      const double direction[3], const double p[3], double n[3])
{
    int32_t part = s->part[triangle];

    if (part >= 0) {
        ec_path_copy(s->facet[part].normal, n);
    } else if (s->surface[~part].kind != EC_SURFACE_MESH) {
        ec_path_shape_normal(&s->surface[~part], p, n);
        for (int d = 0; d < 3 && s->surface[~part].inward; d++)
            n[d] = -n[d];
    } else {
        ec_path_patch patch;
        double x, y, q[3];
        ec_path_meet(s, s->triangle[triangle], from, direction, &x, &y);
        ec_path_patch_make(s, triangle, &patch);
        ec_path_patch_at(&patch, x, y, q, n);
    }
}

static void follow(ray_tree *r, int32_t depth, int32_t slabs, const double from[3],
                   const double direction[3], const int32_t *skip, int32_t n_skip)
{
    const ec_scene *s = r->plan->scene;
    double t, p[3], n[3], out[3];
    int32_t hit = ec_path_closest(r->plan, from, direction, skip, n_skip, &t);

    if (hit < 0 || r->status != EC_OK)
        return;
    int32_t part = s->part[hit];
    bool thin = part >= 0 ? s->facet[part].thin : s->surface[~part].thin;
    ec_path_along(from, t, direction, p);
    for (int32_t i = part < 0 ? 0 : r->wedge_first[part];
         part >= 0 && i < r->wedge_first[part + 1] && r->status == EC_OK; i++) {
        r->step[depth] = ec_path_step(EC_PATH_DIFFRACTION, r->wedge_of[i]);
        r->status = set_add(r->wedges, depth + 1, r->step);
    }
    normal_at(s, hit, from, direction, p, n);
    if (ec_path_dot(n, direction) < 0 || thin) {
        r->step[depth] = part >= 0 ? ec_path_step(EC_PATH_REFLECTION, part)
                                   : ec_path_step(EC_PATH_CURVED, ~part);
        if (r->reflections && r->status == EC_OK)
            r->status = set_add(r->reflections, depth + 1, r->step);
        if (depth + 1 < r->depth) {
            ec_path_along(direction, -2 * ec_path_dot(n, direction), n, out);
            follow(r, depth + 1, slabs, p, out, &part, 1);
        }
    }
    if (slabs > 0 && part >= 0 && ec_path_is_slab(r->plan, part))
        follow(r, depth, slabs - 1, p, direction, &part, 1);
}

/* Direction i of n on a sphere, turned about z for each place. */
static void fibonacci(int32_t i, int32_t n, int32_t place, double d[3])
{
    const double golden = 0.61803398874989484820;
    double z = 1 - (2.0 * i + 1) / n, r = sqrt(1 - z * z);
    double turns = i * golden + place * golden * golden;

    turns = 2 * (turns - ec_det_floor(turns));
    d[0] = r * ec_det_cospi(turns);
    d[1] = r * ec_det_sinpi(turns);
    d[2] = z;
}

/* Places in a box: its middle, its corners, then a Sobol sequence. */
static int box_places(const ec_path_box *box, int32_t n, double (*place)[3])
{
    ec_sampling_info info = {
        .method = EC_SAMPLING_SOBOL, .dimensions = 3, .n = (size_t)n + 1, .plain = true};
    double *unit = malloc(3 * info.n * sizeof *unit);
    int status = unit ? ec_sampling_fill(&info, unit)
                      : ec_fail(EC_ERR_MEMORY, "no memory for the places of rays");

    for (int32_t i = 0; i < n && status == EC_OK; i++)
        for (int d = 0; d < 3; d++) {
            double x = i == 0  ? 0.5
                       : i < 9 ? (double)((i - 1) >> d & 1)
                               : unit[(size_t)d * info.n + (size_t)i - 7]; /* 0 and 1 are above */
            place[i][d] = box->low[d] + x * (box->high[d] - box->low[d]);
        }
    free(unit);
    return status;
}

typedef struct launch {
    const ec_path_plan *plan;
    const ec_path_launch *info;
    int32_t *own_first, *own_of;     /* wedges of each facet */
    int32_t *wedge_first, *wedge_of; /* and of its neighbours */
    int threads;
    set *reflections, *wedges; /* [threads] */
} launch;

static bool diffracts(const ec_path_plan *plan, const ec_wedge *w)
{
    return plan->options.diffractions > 0 && (w->n >= 1 || plan->options.inner_wedges);
}

static int compare_index(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* first[f] .. first[f + 1]: places in `of` for the wedges that are faces' own (near NULL) or
 * those of the facets on their other sides, too (near: the own lists). */
static int fill_lists(const ec_path_plan *plan, const int32_t *near_first, const int32_t *near_of,
                      int32_t **first_of, int32_t **of_out)
{
    const ec_scene *s = plan->scene;
    size_t n = (size_t)s->n_facets, count = 0, room = 2 * (size_t)s->n_wedges + 1;
    int32_t *first = calloc(n + 1, sizeof *first), *of = NULL;

    for (int32_t i = 0; i < s->n_wedges && near_first; i++)
        for (int k = 0; k < 2; k++) {
            int32_t f = s->wedge[i].facet[k];
            room += f < 0 ? 0 : 2 * (size_t)(near_first[f + 1] - near_first[f]);
        }
    of = malloc(room * sizeof *of);
    if (!first || !of) {
        free(first);
        free(of);
        return ec_fail(EC_ERR_MEMORY, "no memory for the wedges of %d facets", s->n_facets);
    }
    *first_of = first;
    *of_out = of;
    if (!near_first) {
        for (int32_t i = 0; i < s->n_wedges; i++)
            for (int k = 0; k < 2 && diffracts(plan, &s->wedge[i]); k++)
                if (s->wedge[i].facet[k] >= 0)
                    first[s->wedge[i].facet[k]]++;
        for (size_t f = 0; f < n; f++) {
            count += (size_t)first[f];
            first[f] = (int32_t)count;
        }
        first[n] = (int32_t)count;
        for (int32_t i = s->n_wedges; i-- > 0;)
            for (int k = 0; k < 2 && diffracts(plan, &s->wedge[i]); k++)
                if (s->wedge[i].facet[k] >= 0)
                    of[--first[s->wedge[i].facet[k]]] = i;
        return EC_OK;
    }
    for (size_t f = 0; f < n; f++) {
        size_t begin = count, kept;
        first[f] = (int32_t)count;
        for (int32_t i = near_first[f]; i < near_first[f + 1]; i++) {
            const ec_wedge *w = &s->wedge[near_of[i]];
            of[count++] = near_of[i];
            int32_t g = w->facet[0] == (int32_t)f ? w->facet[1] : w->facet[0];
            for (int32_t k = g < 0 ? 0 : near_first[g]; g >= 0 && k < near_first[g + 1]; k++)
                of[count++] = near_of[k];
        }
        qsort(of + begin, count - begin, sizeof *of, compare_index);
        kept = begin;
        for (size_t i = begin; i < count; i++)
            if (kept == begin || of[kept - 1] != of[i])
                of[kept++] = of[i];
        count = kept;
    }
    first[n] = (int32_t)count;
    return EC_OK;
}

/* The wedges that a ray discovers when it meets a facet: those of the facet and of its neighbours,
 * which may be slivers. */
static int list_wedges(launch *l)
{
    int status = fill_lists(l->plan, NULL, NULL, &l->own_first, &l->own_of);

    if (status == EC_OK)
        status = fill_lists(l->plan, l->own_first, l->own_of, &l->wedge_first, &l->wedge_of);
    return status;
}

/* Rays from n places, or, n_edges > 0, as many from points of wedges in turn; sets of all threads
 * joined. */
static int launch_rays(launch *l, int32_t n, const double (*place)[3], int32_t rays, size_t n_edges,
                       const uint32_t *edge, set *reflections, set *wedges)
{
    const ec_path_plan *plan = l->plan;
    size_t total = (size_t)rays * (size_t)n;
    int status = EC_OK;

#pragma omp parallel num_threads(l->threads)
    {
#ifdef _OPENMP
        int thread = omp_get_thread_num();
#else
        int thread = 0;
#endif
        ray_tree r = {.plan = plan,
                      .wedge_first = l->wedge_first,
                      .wedge_of = l->wedge_of,
                      .depth = plan->options.depth,
                      .reflections = reflections ? &l->reflections[thread] : NULL,
                      .wedges = &l->wedges[thread]};
#pragma omp for schedule(dynamic, 256)
        for (size_t i = 0; i < total; i++) {
            int32_t k = (int32_t)(i % (size_t)rays), skip[2], n_skip = 0, begin = 0;
            double from[3], d[3];
            fibonacci(k, rays, (int32_t)(i / (size_t)rays), d);
            if (n_edges) {
                uint32_t step = edge[i % n_edges];
                const ec_wedge *w = &plan->scene->wedge[ec_path_index(step)];
                double share = (double)(i / n_edges) * 0.61803398874989484820;
                share -= ec_det_floor(share);
                for (int c = 0; c < 3; c++)
                    from[c] = w->from[c] + share * (w->to[c] - w->from[c]);
                if (!ec_path_wedge_outside(w, d))
                    continue;
                n_skip = ec_path_parts_of(plan->scene, step, skip);
                r.step[begin++] = step;
            } else {
                ec_path_copy(place[i / (size_t)rays], from);
            }
            follow(&r, begin, plan->options.transmissions, from, d, skip, n_skip);
        }
        if (r.status != EC_OK) {
#pragma omp critical(ec_path_discover)
            status = r.status;
        }
    }
    for (int k = 0; k < l->threads; k++) {
        if (status == EC_OK && reflections)
            status = set_join(reflections, &l->reflections[k]);
        if (status == EC_OK)
            status = set_join(wedges, &l->wedges[k]);
        set_free(&l->reflections[k]);
        set_free(&l->wedges[k]);
    }
    return status == EC_ERR_MEMORY ? ec_fail(status, "no memory for sequences of interactions")
                                   : status;
}

/* ---- joining at wedges ---- */

typedef struct ending {
    uint32_t wedge;
    size_t i; /* of the sequence */
} ending;

static int compare_endings(const void *a, const void *b)
{
    const ending *x = a, *y = b;
    if (x->wedge != y->wedge)
        return x->wedge < y->wedge ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

/* The sequences of a list by the wedge that they end at. */
static ending *endings_of(const ec_path_builder *b)
{
    ending *e = malloc((b->n + 1) * sizeof *e);

    for (size_t i = 0; e && i < b->n; i++)
        e[i] = (ending){b->step[b->first[i + 1] - 1], i};
    if (e)
        qsort(e, b->n, sizeof *e, compare_endings);
    return e;
}

/* First of the n endings at a wedge or after it. */
static size_t first_at(const ending *e, size_t n, uint32_t wedge)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (e[middle].wedge < wedge)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t count_nodes(int32_t depth, const uint32_t *step)
{
    int32_t nodes = 0;

    for (int32_t i = 0; i < depth; i++)
        nodes += ec_path_is_node(step[i]);
    return nodes;
}

typedef struct found {
    set from_tx, from_rx;   /* reflections */
    set tx_wedge, rx_wedge; /* ending at a wedge */
    set between;            /* beginning and ending at one */
    set far;                /* from the transmitter over one wedge to another */
    set out;                /* whole sequences */
    size_t limit;           /* of these */
    bool stopped;           /* by it */
    bool nodes_cut;         /* some have too many nodes to be solved, and are not there */
} found;

static int keep(found *f, int32_t depth, const uint32_t *step)
{
    if (count_nodes(depth, step) > EC_PATH_NODES_MAX) {
        f->nodes_cut = true;
        return EC_OK;
    }
    int status = set_add(&f->out, depth, step);
    f->stopped = f->out.list.n > f->limit;
    return status;
}

/* Sequences from one antenna to a wedge, and on as those from the other antenna to it turned round;
 * those of the given depth. */
static int join(found *f, const ec_path_builder *a, const ending *eb, int32_t depth)
{
    const ec_path_builder *b = &f->rx_wedge.list;
    uint32_t step[2 * EC_PATH_DEPTH_MAX + 2];
    int status = EC_OK;

    for (size_t i = 0; i < a->n; i++) {
        int32_t da = depth_of(a, i);
        if (da > depth)
            continue;
        memcpy(step, a->step + a->first[i], (size_t)da * sizeof *step);
        for (size_t k = first_at(eb, b->n, step[da - 1]); k < b->n && eb[k].wedge == step[da - 1];
             k++) {
            int32_t db = depth_of(b, eb[k].i);
            if (da + db - 1 != depth)
                continue;
            for (int32_t j = 1; j < db; j++)
                step[da - 1 + j] = b->step[b->first[eb[k].i + 1] - 1 - (size_t)j];
            status = keep(f, depth, step);
            if (status != EC_OK || f->stopped)
                return status;
        }
    }
    return status;
}

/* ---- all of it ---- */

static int compare_steps(int32_t depth, const uint32_t *a, const uint32_t *b)
{
    for (int32_t i = 0; i < depth; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

typedef struct sorted {
    int32_t depth;
    const uint32_t *step;
} sorted;

static int compare_sorted(const void *a, const void *b)
{
    const sorted *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return compare_steps(x->depth, x->step, y->step);
}

static int sort_sequences(const ec_path_builder *from, ec_path_builder *to)
{
    sorted *order = malloc((from->n + 1) * sizeof *order);
    int status = order ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory to sort %zu sequences", from->n);

    for (size_t i = 0; i < from->n && order; i++)
        order[i] = (sorted){depth_of(from, i), from->step + from->first[i]};
    if (order)
        qsort(order, from->n, sizeof *order, compare_sorted);
    for (size_t i = 0; i < from->n && status == EC_OK; i++)
        status = ec_path_builder_add(to, order[i].depth, order[i].step);
    free(order);
    return status;
}

/* Sequences over two wedges as far as the second one, from those to the first and those between. */
static int join_between(const found *f, int32_t depth_max, set *far)
{
    const ec_path_builder *a = &f->tx_wedge.list, *m = &f->between.list;
    ending *e = endings_of(a);
    int status = e ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for sequences of interactions");
    uint32_t step[2 * EC_PATH_DEPTH_MAX + 2];

    for (size_t i = 0; i < m->n && status == EC_OK; i++) {
        const uint32_t *middle = m->step + m->first[i];
        int32_t dm = depth_of(m, i);
        for (size_t k = first_at(e, a->n, middle[0]);
             k < a->n && e[k].wedge == middle[0] && status == EC_OK; k++) {
            int32_t da = depth_of(a, e[k].i);
            if (da + dm - 1 > depth_max || middle[0] == middle[dm - 1])
                continue;
            memcpy(step, a->step + a->first[e[k].i], (size_t)da * sizeof *step);
            memcpy(step + da, middle + 1, (size_t)(dm - 1) * sizeof *step);
            status = set_add(far, da + dm - 1, step);
        }
    }
    free(e);
    return status;
}

/* Sequences of one depth into f->out. */
static int add_depth(found *f, const ending *rx_endings, int32_t depth)
{
    uint32_t step[EC_PATH_DEPTH_MAX];
    int status = EC_OK;

    for (int side = 0; side < 2; side++) {
        const ec_path_builder *b = side ? &f->from_rx.list : &f->from_tx.list;
        for (size_t i = 0; i < b->n && status == EC_OK && !f->stopped; i++) {
            const uint32_t *from = b->step + b->first[i];
            if (depth_of(b, i) != depth)
                continue;
            for (int32_t k = 0; k < depth; k++)
                step[k] = from[side ? depth - 1 - k : k];
            status = keep(f, depth, step);
        }
    }
    if (status == EC_OK && !f->stopped)
        status = join(f, &f->tx_wedge.list, rx_endings, depth);
    if (status == EC_OK && !f->stopped)
        status = join(f, &f->far.list, rx_endings, depth);
    return status;
}

static int check_launch(const ec_path_launch *info)
{
    if (info->points < 1 || info->points > 4096)
        return ec_fail(EC_ERR_ARGUMENT, "points is %d; it is 1 to 4096 places in a box",
                       (int)info->points);
    if (info->rays < 1 || info->rays > 10000000)
        return ec_fail(EC_ERR_ARGUMENT, "rays is %d; it is 1 to 10000000 from each place",
                       (int)info->rays);
    return EC_OK;
}

/* Rays from the box of one antenna, and from n places. */
static int launch_box(launch *l, const ec_path_box *box, int32_t n, const double (*still)[3],
                      set *reflections, set *wedges)
{
    const int32_t least = 4096, all = l->info->rays;
    int64_t rays = n > 0 ? (int64_t)all * l->info->points / n : 0;

    double(*place)[3] = malloc((size_t)l->info->points * sizeof *place);
    bool point = memcmp(box->low, box->high, sizeof box->low) == 0;
    int status = place ? box_places(box, l->info->points, place)
                       : ec_fail(EC_ERR_MEMORY, "no memory for the places of rays");

    if (status == EC_OK)
        status = launch_rays(l, point ? 1 : l->info->points, (const double(*)[3])place, all, 0,
                             NULL, reflections, wedges);
    rays = rays < least ? least : rays;
    rays = rays < all ? rays : all;
    if (status == EC_OK && n > 0)
        status = launch_rays(l, n, still, (int32_t)rays, 0, NULL, reflections, wedges);
    free(place);
    return status;
}

/* From a wedge to the others of its faces, which rays from it do not meet. */
static int add_faces(const launch *l, uint32_t edge, set *between)
{
    const ec_wedge *w = &l->plan->scene->wedge[ec_path_index(edge)];
    int status = EC_OK;

    for (int k = 0; k < 2; k++) {
        int32_t f = w->facet[k];
        for (int32_t i = f < 0 ? 0 : l->own_first[f];
             f >= 0 && i < l->own_first[f + 1] && status == EC_OK; i++) {
            uint32_t step[2] = {edge, ec_path_step(EC_PATH_DIFFRACTION, l->own_of[i])};
            if (step[0] != step[1])
                status = set_add(between, 2, step);
        }
    }
    return status;
}

/* Rays from all wedges that sequences end at. */
static int launch_edges(launch *l, const set *from, set *between)
{
    size_t n = 0, count = from->list.n;
    ending *e = endings_of(&from->list);
    uint32_t *edge = malloc((count + 1) * sizeof *edge);
    int status = e && edge ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for the wedges of a scene");

    for (size_t i = 0; i < count && status == EC_OK; i++)
        if (i == 0 || e[i].wedge != e[i - 1].wedge)
            edge[n++] = e[i].wedge;
    for (size_t i = 0; i < n && status == EC_OK; i++)
        status = add_faces(l, edge[i], between);
    if (status == EC_OK && n > 0)
        status = launch_rays(l, l->info->points, NULL, l->info->rays, n, edge, NULL, between);
    free(e);
    free(edge);
    return status;
}

/* What all rays meet. */
static int launch_all(launch *l, const ec_path_box *tx, const ec_path_box *rx, found *f)
{
    int32_t depth = l->plan->options.depth;
    int status = list_wedges(l);

    if (status == EC_OK && depth > 0)
        status =
            launch_box(l, tx, l->info->n_tx_places, l->info->tx_place, &f->from_tx, &f->tx_wedge);
    if (status == EC_OK && depth > 0)
        status =
            launch_box(l, rx, l->info->n_rx_places, l->info->rx_place, &f->from_rx, &f->rx_wedge);
    if (status == EC_OK && depth > 1 && l->plan->options.diffractions > 1)
        status = launch_edges(l, &f->tx_wedge, &f->between);
    return status == EC_OK ? join_between(f, depth, &f->far) : status;
}

/* Whole sequences of up to *depth interactions, fewer where a limit cuts, sorted. */
static int join_all(found *f, int32_t *depth, ec_path_builder *to)
{
    ending *rx_endings = endings_of(&f->rx_wedge.list);
    int status = rx_endings ? set_add(&f->out, 0, NULL)
                            : ec_fail(EC_ERR_MEMORY, "no memory for sequences of interactions");

    for (int32_t d = 1; d <= *depth && status == EC_OK; d++) {
        size_t n = f->out.list.n;
        status = add_depth(f, rx_endings, d);
        if (f->stopped) {
            f->out.list.n = n; /* the set is not asked again */
            *depth = d - 1;
        }
    }
    free(rx_endings);
    return status == EC_OK ? sort_sequences(&f->out.list, to) : status;
}

int ec_path_discover(const ec_path_plan *plan, const ec_path_launch *info, const ec_path_box *tx,
                     const ec_path_box *rx, ec_path_sequences **sequences)
{
    launch l = {.plan = plan, .info = info, .threads = info->threads};
    found f = {.limit = plan->options.sequences_max};
    ec_path_builder list = {0};
    int32_t depth = plan->options.depth;
    int status = check_launch(info);

    if (status == EC_OK)
        status = ec_path_box_check("transmitter", tx);
    if (status == EC_OK)
        status = ec_path_box_check("receiver", rx);
    if (status != EC_OK)
        return status;
#ifdef _OPENMP
    l.threads = l.threads > 0 ? l.threads : omp_get_max_threads();
#else
    l.threads = 1;
#endif
    l.reflections = calloc((size_t)l.threads, sizeof *l.reflections);
    l.wedges = calloc((size_t)l.threads, sizeof *l.wedges);
    if (!l.reflections || !l.wedges)
        status = ec_fail(EC_ERR_MEMORY, "no memory for %d threads", l.threads);
    if (status == EC_OK)
        status = launch_all(&l, tx, rx, &f);
    if (status == EC_OK)
        status = join_all(&f, &depth, &list);
    if (status == EC_OK)
        status = ec_path_builder_finish(&list, depth, true, f.nodes_cut, sequences);
    ec_path_builder_free(&list);
    set *sets[] = {&f.from_tx, &f.from_rx, &f.tx_wedge, &f.rx_wedge, &f.between, &f.far, &f.out};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        set_free(sets[i]);
    free(l.reflections);
    free(l.wedges);
    free(l.own_first);
    free(l.own_of);
    free(l.wedge_first);
    free(l.wedge_of);
    return status;
}
