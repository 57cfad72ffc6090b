/* path_enumerate.c: every sequence of interactions that antennas within two boxes may have.
 *
 * A sequence is a walk through the tree of images. What is known at a node of the tree is where the
 * waves seem to come from (the source: corners of the box, mirrored with each reflection; the ends
 * of a wedge or the box of a surface after those) and half spaces that hold all of them (planes
 * through the edges of the facets that they were reflected by, mirrored likewise). An element none
 * of whose corners is in one of these half spaces cannot be reached. */
#include "path_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PLANES_MAX = 64 };

typedef struct level {
    int32_t n_source, n_planes;
    double source[EC_PATH_CORNERS_MAX][3];
    double plane[PLANES_MAX][4]; /* unit m and c: m . x >= c holds all waves */
    int32_t element;             /* the last interaction's, -1: none yet */
    int32_t diffractions, nodes;
} level;

typedef struct walk {
    const ec_path_plan *plan;
    const ec_path_box *rx;
    int32_t target; /* depth of the sequences that are wanted */
    double tests;
    bool reached; /* some node of the tree has that depth */
    bool stopped; /* by a limit */
    bool nodes_cut;
    uint32_t step[EC_PATH_DEPTH_MAX];
    ec_path_builder *out;
    int status;
    level *levels;
} walk;

static void box_corners(const ec_path_box *box, level *l)
{
    l->n_source = 0;
    for (int i = 0; i < 8; i++) {
        double c[3];
        bool again = false;
        for (int d = 0; d < 3; d++) {
            c[d] = i >> d & 1 ? box->high[d] : box->low[d];
            again = again || (i >> d & 1 && box->high[d] == box->low[d]);
        }
        if (!again)
            ec_path_copy(c, l->source[l->n_source++]);
    }
}

/* Whether waves from (or to) some of the points can meet the element from outside. */
static bool lights(const ec_path_plan *plan, int32_t n, double (*from)[3], const ec_path_element *e)
{
    int32_t index = ec_path_index(e->step);
    bool front0 = false, front1 = false;

    if (ec_path_kind(e->step) == EC_PATH_REFLECTION) {
        const ec_facet *f = &plan->scene->facet[index];
        for (int32_t i = 0; i < n; i++) {
            double h = ec_path_dot(f->normal, from[i]) - f->offset;
            if (f->thin ? h != 0 : h > 0)
                return true;
        }
        return false;
    }
    if (ec_path_kind(e->step) != EC_PATH_DIFFRACTION)
        return true;
    const ec_wedge *w = &plan->scene->wedge[index];
    double slack = 1e-8 * plan->size;
    for (int32_t i = 0; i < n; i++) {
        double d[3];
        ec_path_sub(from[i], w->from, d);
        slack = fmax(slack, 1e-8 * ec_path_norm(d));
        front0 = front0 || ec_path_dot(d, w->face_normal[0]) > -slack;
        front1 = front1 || ec_path_dot(d, w->face_normal[1]) > -slack;
    }
    if (w->n > 2 - 1e-9)
        return true;
    return w->n < 1 ? front0 && front1 : front0 || front1;
}

/* Whether some of the points are in each half space. */
static bool in_planes(const level *l, int32_t n, const double (*p)[3], double slack)
{
    for (int32_t k = 0; k < l->n_planes; k++) {
        const double *m = l->plane[k];
        bool any = false;
        for (int32_t i = 0; i < n && !any; i++)
            any = ec_path_dot(m, p[i]) >= m[3] - slack;
        if (!any)
            return false;
    }
    return true;
}

/* Half spaces through the edges of a facet that hold all rays from the mirrored source through
 * it. */
static void add_planes(const ec_path_plan *plan, const ec_path_element *e, const ec_facet *f,
                       level *l)
{
    double travel[3], slack = 1e-8 * plan->size;
    double side = ec_path_dot(f->normal, l->source[0]) > f->offset ? -1.0 : 1.0;

    for (int d = 0; d < 3; d++)
        travel[d] = side * f->normal[d];
    for (int32_t i = 0; i < e->n && l->n_planes < PLANES_MAX; i++) {
        const double *a = e->corner[i], *b = e->corner[(i + 1) % e->n];
        double ab[3], in[3], largest = -INFINITY, u = 0, w = 0;
        bool bounded = true;
        if (!(ec_path_unit(a, b, ab) > 0))
            continue;
        ec_path_cross(f->normal, ab, in); /* corners are counter-clockwise about the normal */
        for (int32_t k = 0; k < l->n_source && bounded; k++) {
            double d[3];
            ec_path_sub(l->source[k], a, d);
            double back = -ec_path_dot(d, travel), inward = ec_path_dot(d, in);
            bounded = back > slack;
            if (bounded && inward / back > largest) {
                largest = inward / back;
                u = inward;
                w = back;
            }
        }
        if (!bounded)
            return; /* a source on the mirror sends waves everywhere */
        double *m = l->plane[l->n_planes++];
        double norm = 1 / sqrt(u * u + w * w);
        for (int d = 0; d < 3; d++)
            m[d] = norm * (w * in[d] + u * travel[d]);
        m[3] = ec_path_dot(m, a);
    }
}

/* What is known after an interaction with element k. */
static void enter(const walk *w, const level *from, int32_t k, level *to)
{
    const ec_path_element *e = &w->plan->element[k];
    uint32_t kind = ec_path_kind(e->step);

    to->element = k;
    to->diffractions = from->diffractions + (kind == EC_PATH_DIFFRACTION);
    to->nodes = from->nodes + (kind != EC_PATH_REFLECTION);
    to->n_planes = 0;
    if (kind != EC_PATH_REFLECTION) {
        to->n_source = e->n;
        memcpy(to->source, e->corner, sizeof to->source);
        return;
    }
    const ec_facet *f = &w->plan->scene->facet[ec_path_index(e->step)];
    to->n_source = from->n_source;
    for (int32_t i = 0; i < from->n_source; i++) {
        ec_path_copy(from->source[i], to->source[i]);
        ec_path_mirror(f, to->source[i]);
    }
    for (int32_t i = 0; i < from->n_planes; i++) {
        double *m = to->plane[to->n_planes++];
        ec_path_copy(from->plane[i], m);
        double across = ec_path_dot(m, f->normal);
        m[3] = from->plane[i][3] - 2 * f->offset * across;
        ec_path_along(m, -2 * across, f->normal, m);
    }
    add_planes(w->plan, e, f, to);
}

/* Whether a receiver of the box can get waves from the last interaction. */
static bool receives(const walk *w, const level *l)
{
    level box;

    if (!w->rx)
        return true;
    box_corners(w->rx, &box);
    return lights(w->plan, box.n_source, box.source, &w->plan->element[l->element]) &&
           in_planes(l, box.n_source, (const double(*)[3])box.source, 1e-8 * w->plan->size);
}

static void descend(walk *w, int32_t depth)
{
    const ec_path_plan *plan = w->plan;
    level *l = &w->levels[depth];
    const uint8_t *sees = l->element < 0 ? NULL : plan->sees + (size_t)l->element * (size_t)plan->n;

    if (depth == w->target) {
        w->reached = true;
        if (!receives(w, l))
            return;
        if (w->out->n >= plan->options.sequences_max) {
            w->stopped = true;
            return;
        }
        w->status = ec_path_builder_add(w->out, depth, w->step);
        w->stopped = w->status != EC_OK;
        return;
    }
    for (int32_t k = 0; k < plan->n && !w->stopped; k++) {
        const ec_path_element *e = &plan->element[k];
        uint32_t kind = ec_path_kind(e->step);
        if (sees && !sees[k])
            continue;
        if (kind == EC_PATH_DIFFRACTION && l->diffractions == plan->options.diffractions)
            continue;
        w->tests++;
        if (w->tests > plan->options.tests_max) {
            w->stopped = true;
            return;
        }
        if (!lights(plan, l->n_source, l->source, e) ||
            !in_planes(l, e->n, e->corner, 1e-8 * plan->size))
            continue;
        if (kind != EC_PATH_REFLECTION && l->nodes == EC_PATH_NODES_MAX) {
            w->nodes_cut = true;
            continue;
        }
        w->step[depth] = e->step;
        enter(w, l, k, &w->levels[depth + 1]);
        descend(w, depth + 1);
    }
}

int ec_path_box_check(const char *name, const ec_path_box *box)
{
    for (int d = 0; d < 3; d++)
        if (!isfinite(box->low[d]) || !isfinite(box->high[d]) || box->low[d] > box->high[d])
            return ec_fail(EC_ERR_ARGUMENT, "the box of the %s goes from %g to %g along %c", name,
                           box->low[d], box->high[d], 'x' + d);
    return EC_OK;
}

int ec_path_enumerate(const ec_path_plan *plan, const ec_path_box *tx, const ec_path_box *rx,
                      ec_path_sequences **sequences)
{
    ec_path_builder out = {0};
    int status = ec_path_box_check("transmitter", tx);
    int32_t depth = plan->options.depth;

    if (status == EC_OK && rx)
        status = ec_path_box_check("receiver", rx);
    if (status == EC_OK && plan->n > 0 && !plan->sees)
        status = ec_fail(EC_ERR_UNSUPPORTED,
                         "the scene has %d facets, surfaces and wedges, too many to try all "
                         "sequences (at most %d); launch rays instead",
                         (int)plan->n, EC_PATH_ELEMENTS_MAX);
    if (status != EC_OK)
        return status;
    walk w = {.plan = plan, .rx = rx, .out = &out};
    w.levels = malloc(((size_t)plan->options.depth + 1) * sizeof *w.levels);
    if (!w.levels)
        return ec_fail(EC_ERR_MEMORY, "no memory for sequences of interactions");
    w.levels[0].element = -1;
    w.levels[0].n_planes = w.levels[0].diffractions = w.levels[0].nodes = 0;
    box_corners(tx, &w.levels[0]);
    status = ec_path_builder_add(&out, 0, w.step);
    /* Depth by depth, so that a limit cuts whole depths; the last one takes most of the time. */
    for (w.target = 1; w.target <= plan->options.depth && status == EC_OK; w.target++) {
        size_t n = out.n, n_steps = out.n_steps;
        w.reached = false;
        descend(&w, 0);
        status = w.status;
        if (w.stopped && status == EC_OK) {
            out.n = n;
            out.n_steps = n_steps;
            depth = w.target - 1;
            break;
        }
        if (!w.reached)
            break; /* nothing deeper either */
    }
    free(w.levels);
    if (status == EC_OK)
        status = ec_path_builder_finish(&out, depth, false, w.nodes_cut, sequences);
    ec_path_builder_free(&out);
    return status;
}
