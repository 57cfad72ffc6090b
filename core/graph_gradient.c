/* graph_gradient.c: reverse mode as more nodes of the graph. Each rule gives the adjoints of a node's
 * inputs from the adjoint g of its value. A complex adjoint is dL/dRe + j dL/dIm, so a product
 * y = a b passes g conj(b) to a. Griewank and Walther, "Evaluating Derivatives" (2008), ch. 3. */
#include "graph_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct gradient {
    ec_graph *graph;
    ec_expr *adjoint; /* per node at the start, -1: none */
    bool *depends;    /* on one of the wanted expressions */
    bool *guarded;    /* feeds a branch of ec.where: may be NaN where its adjoint is 0 */
    ec_expr dead;     /* while a rule runs on a guarded node: where its adjoint is 0; else -1 */
    int32_t count;
    int status;
} gradient;

/* Short names for building; a negative input passes through as the error it is. */
static ec_expr op1(gradient *t, ec_op op, ec_expr a)
{
    return ec_graph_unary(t->graph, op, a);
}

static ec_expr op2(gradient *t, ec_op op, ec_expr a, ec_expr b)
{
    return ec_graph_binary(t->graph, op, a, b);
}

static ec_expr number(gradient *t, double x)
{
    return ec_graph_number(t->graph, x);
}

static ec_expr mul(gradient *t, ec_expr a, ec_expr b)
{
    return op2(t, EC_OP_MUL, a, b);
}

static ec_expr divide(gradient *t, ec_expr a, ec_expr b)
{
    return op2(t, EC_OP_DIV, a, b);
}

static ec_expr add(gradient *t, ec_expr a, ec_expr b)
{
    return op2(t, EC_OP_ADD, a, b);
}

static ec_expr sub(gradient *t, ec_expr a, ec_expr b)
{
    return op2(t, EC_OP_SUB, a, b);
}

static ec_expr only_where(gradient *t, ec_expr test, ec_expr g)
{
    return ec_graph_where(t->graph, test, g, number(t, 0));
}

static const ec_node *node(const gradient *t, ec_expr e)
{
    return t->graph->node[e];
}

/* Adds g to the adjoint of input e, brought to its shape, axes and type. */
static void give(gradient *t, ec_expr e, ec_expr g)
{
    if (t->status != EC_OK)
        return;
    if (g < 0) {
        t->status = g;
        return;
    }
    if (e >= t->count || !t->depends[e])
        return;
    const ec_node *n = node(t, e);
    if (t->dead >= 0)
        g = ec_graph_where(t->graph, t->dead, number(t, 0), g);
    if (g >= 0 && ec_node_real(n) && !ec_node_real(node(t, g)))
        g = op1(t, EC_OP_RE, g);
    if (g >= 0 && n->elements == 1 && node(t, g)->elements > 1)
        g = ec_graph_op(t->graph, EC_OP_SUM, 1, &g, 0, NULL);
    if (g >= 0 && !(n->axes & EC_AXIS_SAMPLE) && node(t, g)->axes & EC_AXIS_SAMPLE)
        g = ec_graph_op(t->graph, EC_OP_SAMPLE_SUM, 1, &g, 0, NULL);
    if (g >= 0 && node(t, g)->elements == n->elements && node(t, g)->rank != n->rank)
        g = ec_graph_reshape(t->graph, g, n->rank, n->shape);
    if (g >= 0 && t->adjoint[e] >= 0)
        g = add(t, t->adjoint[e], g);
    if (g < 0)
        t->status = g;
    else
        t->adjoint[e] = g;
}

/* 0, 1, 2 ... in the shape of n, or modulo `period`. */
static ec_expr iota(gradient *t, const ec_node *n, int32_t period)
{
    double *x = malloc((size_t)n->elements * sizeof *x);
    if (!x)
        return ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    for (int32_t i = 0; i < n->elements; i++)
        x[i] = period ? i % period : i;
    ec_expr e = ec_graph_constant(t->graph, n->rank, n->shape, x);
    free(x);
    return e;
}

/* The length of the sample axis, which is another one at final fidelity. */
static ec_expr sample_count(gradient *t)
{
    double one = 1;
    size_t most = (size_t)(t->graph->samples > t->graph->final_samples ? t->graph->samples
                                                                       : t->graph->final_samples);
    double *ones = malloc(most * sizeof *ones);
    if (!ones)
        return ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    for (size_t i = 0; i < most; i++)
        ones[i] = one;
    ec_expr e =
        ec_graph_draws(t->graph, t->graph->samples, t->graph->final_samples, 0, NULL, ones, ones);
    free(ones);
    return ec_graph_unary(t->graph, EC_OP_SAMPLE_SUM, e);
}

/* A percentile is (1 - w) low + w high of two order statistics: their samples get g times their
 * weight, equal ones in equal parts. */
static ec_expr percentile_back(gradient *t, const ec_node *n, ec_expr e, ec_expr g)
{
    ec_expr a = n->in[0], one = number(t, 1), total = -1;
    bool linear = n->par[1] == EC_PERCENTILE_LINEAR;
    for (int side = 0; side < (linear ? 2 : 1); side++) {
        double par[2] = {n->par[0], side == 0 ? EC_PERCENTILE_BELOW : EC_PERCENTILE_ABOVE};
        ec_expr order = linear ? ec_graph_op(t->graph, EC_OP_SAMPLE_PERCENTILE, 1, &a, 2, par) : e;
        ec_expr equal = op2(t, EC_OP_EQ, a, order);
        ec_expr share = divide(t, equal, ec_graph_unary(t->graph, EC_OP_SAMPLE_SUM, equal));
        if (linear) {
            double other_par[2] = {n->par[0],
                                   side == 0 ? EC_PERCENTILE_ABOVE : EC_PERCENTILE_BELOW};
            ec_expr other = ec_graph_op(t->graph, EC_OP_SAMPLE_PERCENTILE, 1, &a, 2, other_par);
            /* both are the same where no sample lies between: half and half */
            ec_expr gap = op2(t, EC_OP_SUB, order, other);
            ec_expr same = op2(t, EC_OP_EQ, gap, number(t, 0));
            ec_expr weight = ec_graph_where(
                t->graph, same, number(t, 0.5),
                divide(t, op2(t, EC_OP_SUB, e, other), ec_graph_where(t->graph, same, one, gap)));
            share = op2(t, EC_OP_MUL, share, weight);
        }
        total = side == 0 ? share : add(t, total, share);
    }
    return op2(t, EC_OP_MUL, g, total);
}

/* A reduction's output spread back over its input's elements. */
static ec_expr spread_back(gradient *t, const ec_node *in, const ec_node *out, ec_expr v)
{
    if (v < 0)
        return v;
    int32_t *index = malloc((size_t)in->elements * sizeof *index);
    if (!index)
        return ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    int32_t inner = in->elements / out->elements;
    for (int32_t i = 0; i < in->elements; i++)
        index[i] = i / inner;
    ec_expr e = ec_graph_gather(t->graph, v, in->rank, in->shape, index);
    free(index);
    return e;
}

/* r[index[i]] += g[i]: the adjoint of a gather, as compressed rows. */
static ec_expr scatter_sum(gradient *t, const ec_node *in, const ec_node *out, ec_expr g)
{
    size_t n = (size_t)in->elements, m = (size_t)out->elements;
    int32_t *table = calloc(n + 1 + m + 1, sizeof *table);
    if (!table)
        return ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    int32_t used = 0;
    for (size_t i = 0; i < m; i++)
        if (out->index[i] >= 0) {
            table[out->index[i] + 1]++;
            used++;
        }
    for (size_t i = 0; i < n; i++)
        table[i + 1] += table[i];
    int32_t *next = malloc(n * sizeof *next);
    if (!next) {
        free(table);
        return ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    }
    memcpy(next, table, n * sizeof *next);
    for (size_t i = 0; i < m; i++)
        if (out->index[i] >= 0)
            table[n + 1 + (size_t)next[out->index[i]]++] = (int32_t)i;
    free(next);
    ec_expr e = ec_graph_gather_sum(t->graph, g, in->rank, in->shape, (int32_t)n + 1 + used, table);
    free(table);
    return e;
}

static ec_expr transpose(gradient *t, ec_expr a)
{
    const ec_node *n = node(t, a);
    int32_t rows = n->shape[0], columns = n->shape[1], shape[2] = {columns, rows};
    int32_t *index = malloc((size_t)n->elements * sizeof *index);
    if (!index)
        return ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    for (int32_t i = 0; i < n->elements; i++)
        index[i] = i % rows * columns + i / rows;
    ec_expr e = ec_graph_gather(t->graph, a, 2, shape, index);
    free(index);
    return e;
}

/* Adjoint of the vector read at the computed positions `at` with weights g (elements of `at`). */
static ec_expr put(gradient *t, const ec_node *vector, ec_expr at, ec_expr g)
{
    if (at < 0 || g < 0)
        return at < 0 ? at : g;
    ec_expr place = iota(t, vector, 0), sum = -1;
    int32_t n = node(t, at)->elements;
    if (n > 64)
        return ec_fail(EC_ERR_NO_GRADIENT,
                       "ec.take at more than 64 computed places has no gradient");
    for (int32_t i = 0; i < n; i++) {
        ec_expr a = n == 1 ? at : ec_graph_slice(t->graph, at, i, 0);
        ec_expr w = node(t, g)->elements == 1 ? g : ec_graph_slice(t->graph, g, i, 0);
        if (a >= 0 && node(t, a)->rank > 0)
            a = ec_graph_reshape(t->graph, a, 0, NULL);
        if (w >= 0 && node(t, w)->rank > 0)
            w = ec_graph_reshape(t->graph, w, 0, NULL);
        ec_expr term = only_where(t, op2(t, EC_OP_EQ, place, a), w);
        sum = sum < 0 ? term : add(t, sum, term);
    }
    return sum;
}

static ec_expr clamp_index(gradient *t, ec_expr at, int32_t n)
{
    if (at < 0)
        return at;
    return ec_graph_op(t->graph, EC_OP_CLAMP, 3, (ec_expr[]){at, number(t, 0), number(t, n - 1)}, 0,
                       NULL);
}

static int no_gradient(const ec_node *n)
{
    return ec_fail(EC_ERR_NO_GRADIENT, "ec.%s has no gradient (line %d)", ec_op_name(n->op),
                   n->line);
}

/* Reductions, sorts and their like. */
static void structural_rule(gradient *t, ec_expr e, const ec_node *n, ec_expr g)
{
    ec_expr a = n->in[0];
    const ec_node *na = node(t, a);
    switch (n->op) {
    case EC_OP_SUM:
        give(t, a, spread_back(t, na, n, g));
        break;
    case EC_OP_MEAN:
        give(t, a, spread_back(t, na, n, mul(t, g, number(t, (double)n->elements / na->elements))));
        break;
    case EC_OP_NORM: {
        ec_expr safe = op2(t, EC_OP_MAX, e, number(t, 1e-300));
        give(t, a, mul(t, a, spread_back(t, na, n, divide(t, g, safe))));
        break;
    }
    case EC_OP_RMIN:
    case EC_OP_RMAX: {
        ec_expr at = ec_graph_op(t->graph, n->op == EC_OP_RMIN ? EC_OP_ARGMIN : EC_OP_ARGMAX, 1, &a,
                                 4, n->par);
        ec_expr place = iota(t, na, na->elements / n->elements);
        ec_expr hit = op2(t, EC_OP_EQ, place, spread_back(t, na, n, at));
        give(t, a, only_where(t, hit, spread_back(t, na, n, g)));
        break;
    }
    case EC_OP_KTH_LARGEST: {
        ec_expr equal = op2(t, EC_OP_EQ, a, e);
        give(t, a, put(t, na, op1(t, EC_OP_ARGMAX, equal), g));
        break;
    }
    case EC_OP_SOFT_MAX: {
        ec_expr w = op1(t, EC_OP_EXP, mul(t, sub(t, a, e), number(t, n->par[0])));
        give(t, a, mul(t, w, g));
        break;
    }
    case EC_OP_LOCAL_MAXIMA:
        give(t, a, only_where(t, op2(t, EC_OP_EQ, a, e), g));
        break;
    case EC_OP_CROSSING: {
        /* t = k + (x0 - level) / (x0 - x1) between the samples k and k + 1 steps from the start */
        ec_expr steps = op1(t, EC_OP_FLOOR, e), dir = number(t, n->par[0]);
        ec_expr i0 = add(t, op1(t, EC_OP_ROUND, n->in[2]), mul(t, steps, dir));
        ec_expr i1 = add(t, i0, dir), size = number(t, na->elements);
        if (n->par[1] != 0) {
            i0 = sub(t, i0, mul(t, size, op1(t, EC_OP_FLOOR, divide(t, i0, size))));
            i1 = sub(t, i1, mul(t, size, op1(t, EC_OP_FLOOR, divide(t, i1, size))));
        }
        ec_expr x0 = op2(t, EC_OP_TAKE, a, i0), x1 = op2(t, EC_OP_TAKE, a, i1);
        ec_expr drop = sub(t, x0, x1), w = divide(t, g, drop);
        ec_expr upper = divide(t, sub(t, n->in[1], x1), drop);
        ec_expr lower = divide(t, sub(t, x0, n->in[1]), drop);
        give(t, a, put(t, na, i0, mul(t, w, upper)));
        give(t, a, put(t, na, i1, mul(t, w, lower)));
        give(t, n->in[1], op1(t, EC_OP_NEG, w));
        break;
    }
    case EC_OP_SORT:
        give(t, a, op2(t, EC_OP_UNSORT, g, op1(t, EC_OP_ARGSORT, a)));
        break;
    case EC_OP_UNSORT:
        give(t, a, op2(t, EC_OP_TAKE, g, n->in[1]));
        break;
    case EC_OP_CUMSUM: {
        ec_expr back = op1(t, EC_OP_CUMSUM, ec_graph_reverse(t->graph, g));
        give(t, a, back < 0 ? back : ec_graph_reverse(t->graph, back));
        break;
    }
    case EC_OP_TAKE:
        give(t, a, put(t, na, clamp_index(t, op1(t, EC_OP_ROUND, n->in[1]), na->elements), g));
        break;
    case EC_OP_INTERP: {
        ec_expr at = clamp_index(t, n->in[1], na->elements), low = op1(t, EC_OP_FLOOR, at);
        ec_expr up = clamp_index(t, add(t, low, number(t, 1)), na->elements);
        ec_expr part = sub(t, at, low);
        give(t, a, put(t, na, low, mul(t, g, sub(t, number(t, 1), part))));
        give(t, a, put(t, na, up, mul(t, g, part)));
        ec_expr slope = sub(t, op2(t, EC_OP_TAKE, a, up), op2(t, EC_OP_TAKE, a, low));
        give(t, n->in[1], mul(t, g, slope));
        break;
    }
    case EC_OP_CONCAT:
        for (int32_t i = 0, at = 0; i < n->n_in; i++) {
            const ec_node *in = node(t, n->in[i]);
            int32_t rows = in->rank == 0 ? 1 : in->shape[0];
            give(t, n->in[i], ec_graph_slice(t->graph, g, at, in->rank == 0 ? 0 : rows));
            at += rows;
        }
        break;
    case EC_OP_MATMUL:
        give(t, a, op2(t, EC_OP_MATMUL, g, transpose(t, n->in[1])));
        give(t, n->in[1], op2(t, EC_OP_MATMUL, transpose(t, a), g));
        break;
    case EC_OP_SAMPLE_SUM:
        give(t, a, g);
        break;
    case EC_OP_SAMPLE_MEAN:
        give(t, a, divide(t, g, sample_count(t)));
        break;
    case EC_OP_SAMPLE_PERCENTILE:
        give(t, a, percentile_back(t, n, e, g));
        break;
    case EC_OP_SAMPLE_MIN:
    case EC_OP_SAMPLE_MAX:
        give(t, a, only_where(t, op2(t, EC_OP_EQ, a, e), g));
        break;
    case EC_OP_GATHER:
        give(t, a, scatter_sum(t, na, n, g));
        break;
    case EC_OP_SLICE: {
        int32_t *index = malloc((size_t)na->elements * sizeof *index), first = (int32_t)n->par[0];
        if (!index) {
            t->status = ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
            break;
        }
        for (int32_t i = 0; i < na->elements; i++)
            index[i] = i >= first && i < first + n->elements ? i - first : -1;
        give(t, a, ec_graph_gather(t->graph, g, na->rank, na->shape, index));
        free(index);
        break;
    }
    case EC_OP_RESHAPE:
        give(t, a, ec_graph_reshape(t->graph, g, na->rank, na->shape));
        break;
    case EC_OP_DECLARE:
        give(t, a, g);
        break;
    case EC_OP_MATVEC: {
        int32_t m = n->elements, k = na->elements;
        double *turned = malloc((size_t)m * (size_t)k * sizeof *turned);
        if (!turned) {
            t->status = ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
            break;
        }
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = 0; j < k; j++)
                turned[(size_t)j * (size_t)m + (size_t)i] =
                    n->data[(size_t)i * (size_t)k + (size_t)j];
        give(t, a, ec_graph_matvec(t->graph, g, k, turned));
        free(turned);
        break;
    }
    case EC_OP_WALK_MIN: /* whole numbers: flat */
    case EC_OP_ARGMIN:
    case EC_OP_ARGMAX:
    case EC_OP_ARGSORT:
    case EC_OP_DISTINCT:
    case EC_OP_TOP_K:
        break;
    default:
        t->status = no_gradient(n);
        break;
    }
}

static void elementwise_rule(gradient *t, ec_expr e, const ec_node *n, ec_expr g)
{
    ec_expr a = n->in[0], b = n->n_in > 1 ? n->in[1] : a, c = n->n_in > 2 ? n->in[2] : a;
    bool complex_in = !ec_node_real(node(t, a));
    switch (n->op) {
    case EC_OP_NEG:
        give(t, a, op1(t, EC_OP_NEG, g));
        break;
    case EC_OP_ABS:
        if (complex_in)
            give(t, a, mul(t, a, divide(t, g, op2(t, EC_OP_MAX, e, number(t, 1e-300)))));
        else
            give(t, a, mul(t, g, op1(t, EC_OP_SIGN, a)));
        break;
    case EC_OP_SQRT:
        give(t, a, divide(t, g, mul(t, e, number(t, 2))));
        break;
    case EC_OP_SQUARE:
        give(t, a, mul(t, mul(t, op1(t, EC_OP_CONJ, a), number(t, 2)), g));
        break;
    case EC_OP_EXP:
        give(t, a, mul(t, op1(t, EC_OP_CONJ, e), g));
        break;
    case EC_OP_LOG:
        give(t, a, divide(t, g, a));
        break;
    case EC_OP_LOG10:
        give(t, a, divide(t, g, mul(t, a, number(t, 2.30258509299404568402))));
        break;
    case EC_OP_SIN:
        give(t, a, mul(t, g, op1(t, EC_OP_COS, a)));
        break;
    case EC_OP_COS:
        give(t, a, op1(t, EC_OP_NEG, mul(t, g, op1(t, EC_OP_SIN, a))));
        break;
    case EC_OP_TAN:
        give(t, a, mul(t, g, add(t, op1(t, EC_OP_SQUARE, e), number(t, 1))));
        break;
    case EC_OP_ASIN:
    case EC_OP_ACOS: {
        ec_expr slope =
            divide(t, g, op1(t, EC_OP_SQRT, sub(t, number(t, 1), op1(t, EC_OP_SQUARE, a))));
        give(t, a, n->op == EC_OP_ASIN ? slope : op1(t, EC_OP_NEG, slope));
        break;
    }
    case EC_OP_ATAN:
        give(t, a, divide(t, g, add(t, op1(t, EC_OP_SQUARE, a), number(t, 1))));
        break;
    case EC_OP_SINH:
        give(t, a, mul(t, g, op1(t, EC_OP_COSH, a)));
        break;
    case EC_OP_COSH:
        give(t, a, mul(t, g, op1(t, EC_OP_SINH, a)));
        break;
    case EC_OP_TANH:
        give(t, a, mul(t, g, sub(t, number(t, 1), op1(t, EC_OP_SQUARE, e))));
        break;
    case EC_OP_RE:
        give(t, a, op2(t, EC_OP_COMPLEX, g, number(t, 0)));
        break;
    case EC_OP_IM:
        give(t, a, op2(t, EC_OP_COMPLEX, number(t, 0), g));
        break;
    case EC_OP_ABS2:
        give(t, a, mul(t, a, mul(t, g, number(t, 2))));
        break;
    case EC_OP_ARG: {
        ec_expr r2 = op2(t, EC_OP_MAX, op1(t, EC_OP_ABS2, a), number(t, 1e-300));
        ec_expr w = divide(t, g, r2);
        give(t, a,
             op2(t, EC_OP_COMPLEX, op1(t, EC_OP_NEG, mul(t, w, op1(t, EC_OP_IM, a))),
                 mul(t, w, op1(t, EC_OP_RE, a))));
        break;
    }
    case EC_OP_CONJ:
        give(t, a, op1(t, EC_OP_CONJ, g));
        break;
    case EC_OP_ADD:
        give(t, a, g);
        give(t, b, g);
        break;
    case EC_OP_SUB:
        give(t, a, g);
        give(t, b, op1(t, EC_OP_NEG, g));
        break;
    case EC_OP_MUL:
        give(t, a, mul(t, op1(t, EC_OP_CONJ, b), g));
        give(t, b, mul(t, op1(t, EC_OP_CONJ, a), g));
        break;
    case EC_OP_DIV: {
        ec_expr w = divide(t, g, op1(t, EC_OP_CONJ, b));
        give(t, a, w);
        if (t->depends[b])
            give(t, b, op1(t, EC_OP_NEG, mul(t, op1(t, EC_OP_CONJ, e), w)));
        break;
    }
    case EC_OP_POW:
        if (t->depends[a])
            give(t, a, mul(t, mul(t, g, b), op2(t, EC_OP_POW, a, sub(t, b, number(t, 1)))));
        if (t->depends[b])
            give(t, b, mul(t, mul(t, g, e), op1(t, EC_OP_LOG, a)));
        break;
    case EC_OP_ATAN2: {
        ec_expr r2 = add(t, op1(t, EC_OP_SQUARE, a), op1(t, EC_OP_SQUARE, b));
        ec_expr w = divide(t, g, r2);
        give(t, a, mul(t, w, b));
        give(t, b, op1(t, EC_OP_NEG, mul(t, w, a)));
        break;
    }
    case EC_OP_MIN:
    case EC_OP_MAX: {
        ec_expr first = n->op == EC_OP_MIN ? op2(t, EC_OP_LE, a, b) : op2(t, EC_OP_LE, b, a);
        give(t, a, only_where(t, first, g));
        give(t, b, ec_graph_where(t->graph, first, number(t, 0), g));
        break;
    }
    case EC_OP_COMPLEX:
        give(t, a, op1(t, EC_OP_RE, g));
        give(t, b, op1(t, EC_OP_IM, g));
        break;
    case EC_OP_WHERE:
        give(t, b, only_where(t, a, g));
        give(t, c, ec_graph_where(t->graph, a, number(t, 0), g));
        break;
    case EC_OP_CLAMP: {
        ec_expr low = op2(t, EC_OP_LT, a, b), high = op2(t, EC_OP_LT, c, a);
        ec_expr out = op2(t, EC_OP_OR, low, high);
        give(t, a, ec_graph_where(t->graph, out, number(t, 0), g));
        give(t, b, only_where(t, low, g));
        give(t, c, only_where(t, high, g));
        break;
    }
    default: /* steps and truth values are flat */
        break;
    }
}

/* All needed outputs of a call have their adjoints: one adjoint call gives those of its inputs. */
static void call_rule(gradient *t, ec_call *call, const ec_expr *outputs)
{
    ec_graph *graph = t->graph;
    if (!(call->def->flags & EC_EVALUATOR_HAS_VJP))
        t->status = ec_fail(EC_ERR_NO_GRADIENT, "%s has no gradient", call->def->name);
    else if (call->def->gradient)
        t->status = call->def->gradient(call);
    if (t->status != EC_OK)
        return;
    int32_t n_in = call->n_in, n_out = call->n_out;
    ec_expr *in = malloc((size_t)(n_in + n_out + 1) * sizeof *in);
    bool *has = calloc((size_t)n_out + 1, sizeof *has);
    if (!in || !has) {
        free(in);
        free(has);
        t->status = ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
        return;
    }
    memcpy(in, call->in, (size_t)n_in * sizeof *in);
    int32_t n = n_in;
    for (int32_t k = 0; k < n_out; k++)
        if (outputs[k] >= 0 && t->adjoint[outputs[k]] >= 0) {
            const ec_node *y = node(t, outputs[k]);
            ec_expr g = t->adjoint[outputs[k]];
            if (!ec_node_real(y) && ec_node_real(node(t, g)))
                g = op2(t, EC_OP_COMPLEX, g, number(t, 0));
            if (g < 0)
                t->status = g;
            in[n++] = g;
            has[k] = true;
        }
    ec_call *vjp = NULL;
    if (t->status == EC_OK)
        t->status = ec_graph_vjp_call(graph, call, n, in, n_out, has, &vjp);
    for (int32_t i = 0; i < n_in && t->status == EC_OK; i++) {
        const ec_node *x = node(t, call->in[i]);
        ec_call_output out = {.name = "adjoint",
                              .rank = x->rank,
                              .dtype = ec_node_real(x) ? EC_F64 : EC_C128,
                              .range = {-INFINITY, INFINITY}};
        memcpy(out.shape, x->shape, sizeof out.shape);
        ec_expr g = ec_graph_call_output(graph, vjp, &out);
        give(t, call->in[i], g);
    }
    free(in);
    free(has);
}

int ec_graph_vjp(ec_graph *graph, ec_expr y, ec_expr seed, int32_t n_with, const ec_expr *with,
                 ec_expr *grad)
{
    if (!ec_graph_node(graph, y) || !ec_graph_node(graph, seed))
        return ec_fail(EC_ERR_ARGUMENT, "a gradient is asked of something that is no expression");
    gradient t = {.graph = graph, .dead = -1, .count = graph->count, .status = EC_OK};
    size_t count = (size_t)t.count;
    bool *needed = malloc(count);
    t.adjoint = malloc(count * sizeof *t.adjoint);
    t.depends = calloc(count, sizeof *t.depends);
    t.guarded = calloc(count, sizeof *t.guarded);
    if (!needed || !t.adjoint || !t.depends || !t.guarded)
        t.status = ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
    if (t.status == EC_OK) {
        ec_graph_reach(graph, 1, &y, needed);
        for (int32_t i = 0; i < n_with; i++)
            t.depends[with[i]] = true;
        for (int32_t e = 0; e < t.count; e++) {
            t.adjoint[e] = -1;
            for (int32_t i = 0; i < node(&t, e)->n_in; i++)
                t.depends[e] |= t.depends[node(&t, e)->in[i]];
        }
        if (t.depends[y])
            t.adjoint[y] = seed;
    }
    for (int32_t e = t.count - 1; e >= 0 && t.status == EC_OK; e--) {
        const ec_node *n = node(&t, e);
        if (!needed[e] || !t.depends[e])
            continue;
        for (int32_t i = 0; i < n->n_in; i++)
            t.guarded[n->in[i]] |= t.guarded[e] || (n->op == EC_OP_WHERE && i > 0);
        bool wanted = false;
        for (int32_t i = 0; i < n_with; i++)
            wanted |= with[i] == e;
        if (wanted && n->op == EC_OP_VARIABLE)
            continue;
        if (n->op == EC_OP_CALL_OUTPUT) {
            /* the call's outputs are complete at the one that was made first */
            ec_call *call = n->call;
            ec_expr *outputs = malloc((size_t)call->n_out * sizeof *outputs);
            if (!outputs) {
                t.status = ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
                break;
            }
            bool first = true, any = false;
            for (int32_t k = 0; k < call->n_out; k++)
                outputs[k] = -1;
            for (int32_t k = 0; k < t.count; k++) {
                const ec_node *o = node(&t, k);
                if (o->op != EC_OP_CALL_OUTPUT || o->call != call || !needed[k])
                    continue;
                outputs[o->output] = k;
                first &= k >= e;
                any |= t.adjoint[k] >= 0;
            }
            if (first && any)
                call_rule(&t, call, outputs);
            free(outputs);
            continue;
        }
        ec_expr g = t.adjoint[e];
        if (g < 0 || n->n_in == 0)
            continue;
        if (n->op < EC_OP_ELEMENTWISE_END) {
            /* 0 times a NaN of a dead branch must stay 0 */
            if (t.guarded[e] && ec_node_real(node(&t, g)))
                t.dead = op2(&t, EC_OP_EQ, g, number(&t, 0));
            elementwise_rule(&t, e, n, g);
            t.dead = -1;
        } else {
            structural_rule(&t, e, n, g);
        }
    }
    for (int32_t i = 0; i < n_with && t.status == EC_OK; i++) {
        grad[i] = t.adjoint[with[i]];
        const ec_node *n = node(&t, with[i]);
        if (grad[i] < 0) {
            double *zero = calloc((size_t)n->elements, sizeof *zero);
            grad[i] = zero ? ec_graph_constant(graph, n->rank, n->shape, zero)
                           : ec_fail(EC_ERR_MEMORY, "no memory for a gradient");
            free(zero);
        }
        if (grad[i] < 0)
            t.status = grad[i];
    }
    free(needed);
    free(t.adjoint);
    free(t.depends);
    free(t.guarded);
    return t.status;
}

int ec_graph_gradient(ec_graph *graph, ec_expr scalar, int32_t n_with, const ec_expr *with,
                      ec_expr *grad)
{
    const ec_node *n = ec_graph_node(graph, scalar);
    if (!n)
        return ec_fail(EC_ERR_ARGUMENT, "a gradient is asked of something that is no expression");
    if (n->elements != 1 || !ec_node_real(n))
        return ec_fail(EC_ERR_SHAPE, "a gradient needs a real scalar");
    double one = 1;
    ec_expr seed = ec_graph_constant(graph, n->rank, n->shape, &one);
    return seed < 0 ? seed : ec_graph_vjp(graph, scalar, seed, n_with, with, grad);
}
