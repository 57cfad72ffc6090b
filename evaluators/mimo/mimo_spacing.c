/* mimo_spacing.c: where a coordinate comes from, and the nearest pair. */
#include "mimo_spacing_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN, SORTED, DISTINCT, CHOSEN };
enum { TERMS_MAX = 4 };

/* `scale` times element `element` of a node, of which may be known that it is sorted, or that its
 * elements are distinct; or times the entry of a list that the element names. */
typedef struct term {
    int kind;
    ec_expr node;
    int32_t element;
    ec_expr list; /* CHOSEN, else -1 */
    double scale;
    ec_interval range; /* of the element, or of the list's entries */
} term;

/* A coordinate: a constant and terms. What is no such sum is a term of its own. */
typedef struct form {
    double constant;
    int32_t n;
    term term[TERMS_MAX];
} form;

typedef struct place {
    form axis[3];
    bool chosen; /* on all axes that vary, by the same element */
    ec_expr node;
    int32_t element;
} place;

static form trace(const ec_graph *graph, ec_expr e, int32_t element);

static form fixed(double value)
{
    return (form){.constant = value};
}

static form single(const ec_graph *graph, int kind, ec_expr node, int32_t element, ec_expr list)
{
    ec_expr from = list < 0 ? node : list;
    return (form){.n = 1,
                  .term = {{.kind = kind,
                            .node = node,
                            .element = element,
                            .list = list,
                            .scale = 1,
                            .range = ec_graph_node(graph, from)->range}}};
}

static bool same_term(const term *a, const term *b)
{
    return a->node == b->node && a->element == b->element && a->list == b->list;
}

/* Adds sign times b; false where there are too many terms. */
static bool add(form *sum, const form *b, double sign)
{
    sum->constant += sign * b->constant;
    for (int32_t i = 0; i < b->n; i++) {
        int32_t k = 0;
        while (k < sum->n && !same_term(&sum->term[k], &b->term[i]))
            k++;
        if (k == TERMS_MAX)
            return false;
        if (k == sum->n) {
            sum->term[k] = b->term[i];
            sum->term[k].scale = 0;
            sum->n++;
        }
        sum->term[k].scale += sign * b->term[i].scale;
        if (sum->term[k].scale == 0)
            sum->term[k] = sum->term[--sum->n];
    }
    return true;
}

static form times(form f, double by)
{
    f.constant *= by;
    f.n = by == 0 ? 0 : f.n;
    for (int32_t i = 0; i < f.n; i++)
        f.term[i].scale *= by;
    return f;
}

static form chosen(const ec_graph *graph, ec_expr e, int32_t element)
{
    const ec_node *n = ec_graph_node(graph, e), *index = ec_graph_node(graph, n->in[1]);
    form f = trace(graph, n->in[1], index->elements == 1 ? 0 : element);

    if (ec_graph_node(graph, n->in[0])->op != EC_OP_CONSTANT || f.n != 1 ||
        f.term[0].kind != DISTINCT || f.term[0].scale != 1 || f.constant != 0)
        return single(graph, PLAIN, e, element, -1);
    return single(graph, CHOSEN, f.term[0].node, f.term[0].element, n->in[0]);
}

static form joined(const ec_graph *graph, const ec_node *n, int32_t element)
{
    int32_t i = 0, elements;

    while (element >= (elements = ec_graph_node(graph, n->in[i])->elements)) {
        element -= elements;
        i++;
    }
    return trace(graph, n->in[i], element);
}

/* A sum, a difference or a product with a number; what is neither stays as it is. */
static form combined(const ec_graph *graph, ec_expr e, int32_t element)
{
    const ec_node *n = ec_graph_node(graph, e);
    form in[2] = {fixed(0), fixed(0)};

    for (int32_t i = 0; i < n->n_in; i++)
        in[i] = trace(graph, n->in[i], ec_graph_node(graph, n->in[i])->elements == 1 ? 0 : element);
    if (n->op == EC_OP_NEG)
        return times(in[0], -1);
    if (n->op == EC_OP_MUL && in[0].n == 0)
        return times(in[1], in[0].constant);
    if (n->op == EC_OP_MUL && in[1].n == 0)
        return times(in[0], in[1].constant);
    if (n->op == EC_OP_DIV && in[1].n == 0 && in[1].constant != 0)
        return times(in[0], 1 / in[1].constant);
    if ((n->op == EC_OP_ADD || n->op == EC_OP_SUB) &&
        add(&in[0], &in[1], n->op == EC_OP_ADD ? 1 : -1))
        return in[0];
    return single(graph, PLAIN, e, element, -1);
}

static form trace(const ec_graph *graph, ec_expr e, int32_t element)
{
    const ec_node *n = ec_graph_node(graph, e);

    if (n->dtype == EC_C64 || n->dtype == EC_C128)
        return single(graph, PLAIN, e, element, -1);
    switch (n->op) {
    case EC_OP_CONSTANT:
        return fixed(n->data[element]);
    case EC_OP_SLICE:
        return trace(graph, n->in[0], element + (int32_t)n->par[0]);
    case EC_OP_RESHAPE:
    case EC_OP_DECLARE:
        return trace(graph, n->in[0], element);
    case EC_OP_GATHER:
        return n->index[element] < 0 ? fixed(0) : trace(graph, n->in[0], n->index[element]);
    case EC_OP_CONCAT:
        return joined(graph, n, element);
    case EC_OP_ADD:
    case EC_OP_SUB:
    case EC_OP_NEG:
    case EC_OP_MUL:
    case EC_OP_DIV:
        return combined(graph, e, element);
    case EC_OP_TAKE:
        return chosen(graph, e, element);
    case EC_OP_SORT:
    case EC_OP_DISTINCT:
        return single(graph, n->op == EC_OP_SORT ? SORTED : DISTINCT, e, element, -1);
    default:
        return single(graph, PLAIN, e, element, -1);
    }
}

static place place_of(const ec_graph *graph, const ec_expr at[3], int32_t antenna)
{
    place p = {.chosen = true, .node = -1};

    for (int k = 0; k < 3; k++) {
        bool each = ec_graph_node(graph, at[k])->elements > 1;
        form *f = &p.axis[k];
        *f = trace(graph, at[k], each ? antenna : 0);
        if (f->n == 0)
            continue;
        const term *t = &f->term[0];
        p.chosen = p.chosen && f->n == 1 && t->kind == CHOSEN && t->scale == 1 &&
                   (p.node < 0 || (p.node == t->node && p.element == t->element));
        p.node = t->node;
        p.element = t->element;
    }
    p.chosen = p.chosen && p.node >= 0;
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
        if (p->axis[k].n > 0)
            n = ec_graph_node(graph, p->axis[k].term[0].list)->elements;
    s = malloc((size_t)n * sizeof *s);
    for (int32_t i = 0; i < n && s; i++) {
        s[i].index = i;
        s[i].along = 0;
        for (int k = 0; k < 3; k++) {
            const form *f = &p->axis[k];
            s[i].at[k] = f->n > 0 ? ec_graph_node(graph, f->term[0].list)->data[i] : 0;
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
        list[k] = p->chosen && p->axis[k].n > 0 ? p->axis[k].term[0].list : -1;
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

/* Of what is left of b - a when terms that both have are gone: its distance from 0; of two elements
 * of one sorted list it is known which is the larger. */
static double form_gap(const form *a, const form *b)
{
    form d = *b;

    if (!add(&d, a, -1))
        return 0;
    const term *t = d.term;
    if (d.n == 2 && t[0].kind == SORTED && t[1].kind == SORTED && t[0].node == t[1].node &&
        t[0].scale == -t[1].scale) {
        int later = t[0].element > t[1].element ? 0 : 1;
        return fmax(0, t[later].scale > 0 ? d.constant : -d.constant);
    }
    ec_interval sum = {d.constant, d.constant};
    for (int32_t i = 0; i < d.n; i++) {
        double lo = t[i].scale * t[i].range.lo, hi = t[i].scale * t[i].range.hi;
        sum.lo += fmin(lo, hi);
        sum.hi += fmax(lo, hi);
    }
    return fmax(0, fmax(sum.lo, -sum.hi)); /* a NaN of infinite ranges is 0 */
}

static double pair_spacing(known *o, const place *p, int32_t i, int32_t j, const ec_interval *each,
                           int32_t count)
{
    const place *a = &p[i], *b = &p[j];
    ec_expr list_a[3], list_b[3];
    double square = 0;

    lists_of(a, list_a);
    lists_of(b, list_b);
    if (a->chosen && b->chosen && a->node == b->node && a->element != b->element &&
        memcmp(list_a, list_b, sizeof list_a) == 0)
        return nearest_chosen(o, a, b);
    for (int32_t k = 0; k < 3; k++) {
        double gap = fmax(range_gap(&each[k * count + i], &each[k * count + j]),
                          form_gap(&a->axis[k], &b->axis[k]));
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
