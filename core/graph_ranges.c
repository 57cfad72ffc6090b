/* graph_ranges.c: ranges element by element. */
#include "graph_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    const ec_graph *graph;
    ec_interval **of; /* of each node that is needed, in the order of nodes */
} state;

static ec_interval hull(ec_interval a, ec_interval b)
{
    return (ec_interval){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

static ec_interval sum(ec_interval a, ec_interval b)
{
    return ec_range_elementwise(EC_OP_ADD, false, a, b, b);
}

static ec_interval scaled(ec_interval a, double by)
{
    return ec_range_elementwise(EC_OP_MUL, false, a, (ec_interval){by, by}, a);
}

/* Element i of input k; a scalar stands for all of them. */
static ec_interval input(const state *s, const ec_node *n, int32_t k, int32_t i)
{
    const ec_node *from = ec_graph_node(s->graph, n->in[k]);

    return s->of[n->in[k]][from->elements > 1 ? i : 0];
}

static void leaf(const ec_node *n, ec_interval *to)
{
    for (int32_t i = 0; i < n->elements; i++) {
        if (n->op == EC_OP_CONSTANT)
            to[i] = (ec_interval){n->data[i], n->data[i]};
        else if (n->op == EC_OP_VARIABLE && n->data)
            to[i] = (ec_interval){n->data[i], n->data[n->elements + i]};
        size_t rows = n->op == EC_OP_SAMPLES ? (size_t)n->par[2] / (size_t)n->elements : 0;
        for (size_t k = 0; k < rows; k++) {
            double x = n->data[k * (size_t)n->elements + (size_t)i];
            to[i] = k == 0 ? (ec_interval){x, x} : hull(to[i], (ec_interval){x, x});
        }
    }
}

static void elementwise(const state *s, const ec_node *n, ec_interval *to)
{
    for (int32_t i = 0; i < n->elements; i++) {
        ec_interval a = input(s, n, 0, i);
        to[i] = ec_range_elementwise(n->op, false, a, n->n_in > 1 ? input(s, n, 1, i) : a,
                                     n->n_in > 2 ? input(s, n, 2, i) : a);
    }
}

static void concat(const state *s, const ec_node *n, ec_interval *to)
{
    for (int32_t k = 0; k < n->n_in; k++) {
        int32_t count = ec_graph_node(s->graph, n->in[k])->elements;
        memcpy(to, s->of[n->in[k]], (size_t)count * sizeof *to);
        to += count;
    }
}

static void multiply(const state *s, const ec_node *n, ec_interval *to)
{
    int32_t count = ec_graph_node(s->graph, n->in[0])->elements;
    const double *row = n->data;

    for (int32_t i = 0; i < n->elements; i++, row += count) {
        to[i] = (ec_interval){0.0, 0.0};
        for (int32_t k = 0; k < count; k++)
            to[i] = sum(to[i], scaled(input(s, n, 0, k), row[k]));
    }
}

/* Of a node whose values are real, as its inputs' are. */
static void node_ranges(const state *s, const ec_node *n, ec_interval *to)
{
    int32_t first = n->op == EC_OP_SLICE ? (int32_t)n->par[0] : 0;

    for (int32_t i = 0; i < n->elements; i++)
        to[i] = n->range;
    if (n->op < EC_OP_ELEMENTWISE_END)
        elementwise(s, n, to);
    switch (n->op) {
    case EC_OP_CONSTANT:
    case EC_OP_VARIABLE:
    case EC_OP_SAMPLES:
        leaf(n, to);
        break;
    case EC_OP_SLICE:
    case EC_OP_RESHAPE:
    case EC_OP_SPREAD:
    case EC_OP_DECLARE:
        for (int32_t i = 0; i < n->elements; i++)
            to[i] = input(s, n, 0, first + i);
        break;
    case EC_OP_GATHER:
        for (int32_t i = 0; i < n->elements; i++)
            to[i] = n->index[i] < 0 ? (ec_interval){0.0, 0.0} : input(s, n, 0, n->index[i]);
        break;
    case EC_OP_CUMSUM:
        for (int32_t i = 0; i < n->elements; i++)
            to[i] = i == 0 ? input(s, n, 0, 0) : sum(to[i - 1], input(s, n, 0, i));
        break;
    case EC_OP_CONCAT:
        concat(s, n, to);
        break;
    case EC_OP_MATVEC:
        multiply(s, n, to);
        break;
    default:
        break;
    }
    for (int32_t i = 0; i < n->elements; i++) { /* both hold */
        ec_interval both = {fmax(to[i].lo, n->range.lo), fmin(to[i].hi, n->range.hi)};
        to[i] = both.lo <= both.hi ? both : n->range;
    }
}

static bool is_plain(const state *s, const ec_node *n)
{
    bool real = ec_node_real(n);

    for (int32_t k = 0; k < n->n_in; k++)
        real = real && ec_node_real(ec_graph_node(s->graph, n->in[k]));
    return real;
}

int ec_graph_ranges(const ec_graph *graph, ec_expr expr, ec_interval *each)
{
    state s = {.graph = graph, .of = calloc((size_t)expr + 1, sizeof *s.of)};
    bool *needed = calloc((size_t)ec_graph_count(graph) + 1, sizeof *needed);
    int status = EC_OK;

    if (s.of && needed)
        ec_graph_reach(graph, 1, &expr, needed);
    for (ec_expr e = 0; e <= expr && s.of && needed; e++) {
        const ec_node *n = ec_graph_node(graph, e);
        if (!needed[e])
            continue;
        s.of[e] = malloc((size_t)n->elements * sizeof **s.of);
        if (!s.of[e])
            break;
        if (is_plain(&s, n))
            node_ranges(&s, n, s.of[e]);
        else
            for (int32_t i = 0; i < n->elements; i++)
                s.of[e][i] = n->range;
    }
    if (s.of && s.of[expr])
        memcpy(each, s.of[expr], (size_t)ec_graph_node(graph, expr)->elements * sizeof *each);
    else
        status = ec_fail(EC_ERR_MEMORY, "no memory for the ranges of an expression");
    for (ec_expr e = 0; e <= expr && s.of; e++)
        free(s.of[e]);
    free(s.of);
    free(needed);
    return status;
}
