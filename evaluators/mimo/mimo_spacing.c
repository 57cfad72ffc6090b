/* mimo_spacing.c: where a coordinate comes from, and the nearest pair. */
#include "mimo_spacing_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED, SORTED, DISTINCT, CHOSEN, UNKNOWN };

/* A coordinate: constant + scale times element `element` of a node, of which is known that it is
 * sorted, or that its elements are distinct; or that element names one of a list. */
typedef struct form {
    int kind;
    double constant, scale;
    ec_expr node;
    int32_t element;
    ec_expr list; /* CHOSEN */
} form;

typedef struct place {
    form axis[3];
    bool chosen; /* on all axes, by the same element */
    ec_expr node;
    int32_t element;
} place;

static form trace(const ec_graph *graph, ec_expr e, int32_t element);

static form unknown(void)
{
    return (form){.kind = UNKNOWN};
}

static form plus(form a, form b, double sign)
{
    if (a.kind == UNKNOWN || b.kind == UNKNOWN || (a.kind != FIXED && b.kind != FIXED))
        return unknown();
    form sum = a.kind == FIXED ? b : a;
    sum.scale = a.kind == FIXED ? sign * b.scale : a.scale;
    sum.constant = a.constant + sign * b.constant;
    return sum;
}

static form times(form a, form b)
{
    if (a.kind == UNKNOWN || b.kind == UNKNOWN || (a.kind != FIXED && b.kind != FIXED))
        return unknown();
    form product = a.kind == FIXED ? b : a;
    double by = a.kind == FIXED ? a.constant : b.constant;
    product.constant *= by;
    product.scale *= by;
    return product;
}

static form chosen(const ec_graph *graph, const ec_node *n, int32_t element)
{
    const ec_node *index = ec_graph_node(graph, n->in[1]);
    form f = trace(graph, n->in[1], index->elements == 1 ? 0 : element);

    if (ec_graph_node(graph, n->in[0])->op != EC_OP_CONSTANT || f.kind != DISTINCT ||
        f.scale != 1 || f.constant != 0)
        return unknown();
    return (form){
        .kind = CHOSEN, .scale = 1, .node = f.node, .element = f.element, .list = n->in[0]};
}

static form joined(const ec_graph *graph, const ec_node *n, int32_t element)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        int32_t elements = ec_graph_node(graph, n->in[i])->elements;
        if (element < elements)
            return trace(graph, n->in[i], element);
        element -= elements;
    }
    return unknown();
}

static form trace(const ec_graph *graph, ec_expr e, int32_t element)
{
    const ec_node *n = ec_graph_node(graph, e);
    form in[2];

    if (n->dtype == EC_C64 || n->dtype == EC_C128)
        return unknown();
    for (int32_t i = 0; i < 2 && n->op < EC_OP_ELEMENTWISE_END && i < n->n_in; i++)
        in[i] = trace(graph, n->in[i], ec_graph_node(graph, n->in[i])->elements == 1 ? 0 : element);
    switch (n->op) {
    case EC_OP_CONSTANT:
        return (form){.kind = FIXED, .constant = n->data[element]};
    case EC_OP_SLICE:
        return trace(graph, n->in[0], element + (int32_t)n->par[0]);
    case EC_OP_RESHAPE:
    case EC_OP_DECLARE:
        return trace(graph, n->in[0], element);
    case EC_OP_GATHER:
        return n->index[element] < 0 ? (form){.kind = FIXED}
                                     : trace(graph, n->in[0], n->index[element]);
    case EC_OP_CONCAT:
        return joined(graph, n, element);
    case EC_OP_ADD:
        return plus(in[0], in[1], 1);
    case EC_OP_SUB:
        return plus(in[0], in[1], -1);
    case EC_OP_NEG:
        return times(in[0], (form){.kind = FIXED, .constant = -1});
    case EC_OP_MUL:
        return times(in[0], in[1]);
    case EC_OP_TAKE:
        return chosen(graph, n, element);
    case EC_OP_SORT:
    case EC_OP_DISTINCT:
        return (form){.kind = n->op == EC_OP_SORT ? SORTED : DISTINCT,
                      .scale = 1,
                      .node = e,
                      .element = element};
    default:
        return unknown();
    }
}

static place place_of(const ec_graph *graph, const ec_expr at[3], int32_t antenna)
{
    place p = {.node = -1};

    for (int k = 0; k < 3; k++) {
        bool each = ec_graph_node(graph, at[k])->elements > 1;
        form *f = &p.axis[k];
        *f = trace(graph, at[k], each ? antenna : 0);
        if (f->kind == FIXED)
            continue;
        bool fits = f->kind == CHOSEN && f->scale == 1 &&
                    (p.node < 0 || (p.chosen && p.node == f->node && p.element == f->element));
        p.chosen = fits;
        p.node = f->node;
        p.element = f->element;
        if (!fits)
            break;
    }
    return p;
}

/* ---- places of a list ------------------------------------------------------------------------- */

/* Sweeps run along a direction that is askew, so that the rows of a grid do not coincide. */
static const double askew[3] = {0.61, 0.53, 0.589};

typedef struct spot {
    double along, at[3];
    int32_t index;
} spot;

static int by_along(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    return p->along != q->along ? (p->along < q->along ? -1 : 1)
                                : (p->index > q->index) - (p->index < q->index);
}

/* The list's places, sorted; NULL without memory. */
static spot *spots_of(const ec_graph *graph, const place *p, int32_t *count)
{
    spot *s = NULL;
    int32_t n = 0;

    for (int k = 0; k < 3; k++)
        if (p->axis[k].kind == CHOSEN)
            n = ec_graph_node(graph, p->axis[k].list)->elements;
    s = malloc((size_t)n * sizeof *s);
    for (int32_t i = 0; i < n && s; i++) {
        s[i].index = i;
        s[i].along = 0;
        for (int k = 0; k < 3; k++) {
            const form *f = &p->axis[k];
            s[i].at[k] = f->kind == CHOSEN ? ec_graph_node(graph, f->list)->data[i] : 0;
            s[i].along += askew[k] * s[i].at[k];
        }
    }
    if (s)
        qsort(s, (size_t)n, sizeof *s, by_along);
    *count = n;
    return s;
}

/* The least distance of one place to another one that is moved by `offset`. */
static double nearest(const spot *s, int32_t n, const double offset[3])
{
    double best = INFINITY, shift = 0, length = 0;
    int32_t first = 0;

    for (int k = 0; k < 3; k++) {
        shift += askew[k] * offset[k];
        length += askew[k] * askew[k];
    }
    length = sqrt(length) * (1 + 1e-12); /* what lies apart along the direction is so much nearer */
    for (int32_t i = 0; i < n; i++) {
        double at = s[i].along - shift;
        while (first < n && s[first].along < at - length * best)
            first++;
        for (int32_t j = first; j < n && s[j].along <= at + length * best; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double d = s[j].at[k] + offset[k] - s[i].at[k];
                square += d * d;
            }
            if (s[j].index != s[i].index)
                best = fmin(best, sqrt(square));
        }
    }
    return best;
}

/* ---- pairs ------------------------------------------------------------------------------------ */

enum { KNOWN_MAX = 128 };

/* Nearest places of lists for offsets that were asked for before. */
typedef struct known {
    const ec_graph *graph;
    int32_t n, n_spots;
    spot *spots; /* of `of`'s lists */
    ec_expr list[3];
    double offset[KNOWN_MAX][3], least[KNOWN_MAX];
} known;

static void lists_of(const place *p, ec_expr list[3])
{
    for (int k = 0; k < 3; k++)
        list[k] = p->axis[k].kind == CHOSEN ? p->axis[k].list : -1;
}

/* Of two antennas at different places of the same lists; negative without memory. */
static double nearest_chosen(known *o, const place *a, const place *b)
{
    ec_expr list[3];
    double offset[3];

    lists_of(a, list);
    if (!o->spots || memcmp(o->list, list, sizeof list) != 0) {
        free(o->spots);
        o->spots = spots_of(o->graph, a, &o->n_spots);
        o->n = 0;
        memcpy(o->list, list, sizeof list);
        if (!o->spots)
            return -1;
    }
    for (int k = 0; k < 3; k++)
        offset[k] = b->axis[k].constant - a->axis[k].constant;
    for (int32_t i = 0; i < o->n; i++)
        if (memcmp(o->offset[i], offset, sizeof offset) == 0)
            return o->least[i];
    double least = nearest(o->spots, o->n_spots, offset);
    if (o->n < KNOWN_MAX) {
        memcpy(o->offset[o->n], offset, sizeof offset);
        o->least[o->n++] = least;
    }
    return least;
}

static double range_gap(const ec_interval *a, const ec_interval *b)
{
    return fmax(0, fmax(a->lo - b->hi, b->lo - a->hi));
}

/* Along an axis, of elements of one sorted list. */
static double sorted_gap(const form *a, const form *b)
{
    if (a->kind != SORTED || b->kind != SORTED || a->node != b->node || a->scale != b->scale)
        return 0;
    double rise = b->constant - a->constant;
    return fmax(0, (b->element > a->element) == (a->scale > 0) ? rise : -rise);
}

static double pair_spacing(known *o, const place *p, int32_t i, int32_t j, const ec_interval *each,
                           int32_t count)
{
    const place *a = &p[i], *b = &p[j];
    ec_expr list_a[3], list_b[3];
    double square = 0;

    lists_of(a, list_a);
    lists_of(b, list_b);
    bool same =
        a->chosen && b->chosen && a->node == b->node && memcmp(list_a, list_b, sizeof list_a) == 0;
    if (same && a->element != b->element)
        return nearest_chosen(o, a, b);
    for (int32_t k = 0; k < 3; k++) {
        double gap = fmax(range_gap(&each[k * count + i], &each[k * count + j]),
                          sorted_gap(&a->axis[k], &b->axis[k]));
        if (same)
            gap = b->axis[k].constant - a->axis[k].constant;
        square += gap * gap;
    }
    return sqrt(square);
}

static int by_low(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    return (p->along > q->along) - (p->along < q->along);
}

/* By ranges: a sweep along the axis on which the antennas are spread most. */
static int by_ranges(const ec_interval *each, int32_t count, int32_t first, int32_t n,
                     double *least)
{
    spot *s = malloc((size_t)n * sizeof *s);
    int32_t axis = 0;
    double widest = -1;

    if (!s)
        return ec_fail(EC_ERR_MEMORY, "no memory for %d antennas", (int)n);
    for (int32_t k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = first; i < first + n; i++) {
            low = fmin(low, each[k * count + i].lo);
            high = fmax(high, each[k * count + i].lo);
        }
        if (high - low > widest) {
            widest = high - low;
            axis = k;
        }
    }
    for (int32_t i = 0; i < n; i++)
        s[i] = (spot){.index = first + i, .along = each[axis * count + first + i].lo};
    qsort(s, (size_t)n, sizeof *s, by_low);
    for (int32_t i = 0; i<n && * least> 0; i++)
        for (int32_t j = i + 1; j < n; j++) {
            double square = 0;
            if (s[j].along - each[axis * count + s[i].index].hi >= *least)
                break;
            for (int32_t k = 0; k < 3; k++) {
                double gap =
                    range_gap(&each[k * count + s[i].index], &each[k * count + s[j].index]);
                square += gap * gap;
            }
            *least = fmin(*least, sqrt(square));
        }
    free(s);
    return EC_OK;
}

static int of_array(const ec_graph *graph, const ec_expr at[3], int32_t count,
                    const ec_interval *each, int32_t first, int32_t n, double *least)
{
    known o = {.graph = graph};
    place *p = malloc((size_t)n * sizeof *p);
    int status = p ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for %d antennas", (int)n);

    for (int32_t i = 0; i < n && p; i++)
        p[i] = place_of(graph, at, first + i);
    for (int32_t i = 0; i < n && status == EC_OK; i++)
        for (int32_t j = i + 1; j<n && * least> 0; j++) {
            double d = pair_spacing(&o, p, i, j, each + first, count);
            if (d < 0) {
                status = ec_fail(EC_ERR_MEMORY, "no memory for places");
                break;
            }
            *least = fmin(*least, d);
        }
    free(o.spots);
    free(p);
    return status;
}

int ec_mimo_spacing(const ec_graph *graph, const ec_expr at[3], int32_t count,
                    const ec_interval *each, int32_t group, double *least)
{
    int status = EC_OK;

    *least = INFINITY;
    for (int32_t first = 0; first < count && group > 1 && status == EC_OK; first += group) {
        int32_t n = count - first < group ? count - first : group;
        status = n > EC_MIMO_SPACING_PAIRS ? by_ranges(each, count, first, n, least)
                                           : of_array(graph, at, count, each, first, n, least);
    }
    return status;
}
