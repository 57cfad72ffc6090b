#include "graph_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------- */

static const struct {
    const char *lua;
    int inputs, params;
} op_table[EC_OP_COUNT] = {
#define ROW(name, lua, inputs) [EC_OP_##name] = {lua, inputs, 0},
    EC_ELEMENTWISE_LIST(ROW)
#undef ROW
#define ROW(name, lua, inputs, params) [EC_OP_##name] = {lua, inputs, params},
        EC_STRUCTURAL_LIST(ROW)
#undef ROW
            [EC_OP_CONSTANT] = {"constant", 0, 0},
    [EC_OP_VARIABLE] = {"variable", 0, 0},
    [EC_OP_SAMPLES] = {"samples", 0, 0},
    [EC_OP_SLICE] = {"slice", 1, 2},
    [EC_OP_RESHAPE] = {"reshape", 1, 0},
    [EC_OP_GATHER] = {"gather", 1, 0},
    [EC_OP_GATHER_SUM] = {"gather_sum", 1, 0},
    [EC_OP_MATVEC] = {"matvec", 1, 0},
    [EC_OP_DECLARE] = {"declare", 1, 2},
    [EC_OP_CALL_OUTPUT] = {"output", 0, 0},
};

int ec_op_find(const char *lua_name)
{
    for (int op = 0; op < EC_OP_CONSTANT; op++)
        if (op_table[op].lua && strcmp(op_table[op].lua, lua_name) == 0)
            return op;
    return -1;
}

const char *ec_op_name(ec_op op)
{
    const char *name = (unsigned)op < EC_OP_COUNT ? op_table[op].lua : NULL;
    return name ? name : "?";
}

int ec_op_inputs(ec_op op)
{
    return op_table[op].inputs;
}

int ec_op_params(ec_op op)
{
    return op_table[op].params;
}

/* ---- storage ----------------------------------------------------------------------------- */

void *ec_graph_memory(ec_graph *graph, size_t bytes)
{
    ec_block *block = calloc(1, ec_round_up(sizeof *block, 16) + bytes);
    if (!block)
        return NULL;
    block->next = graph->blocks;
    graph->blocks = block;
    return (char *)block + ec_round_up(sizeof *block, 16);
}

int ec_graph_create(ec_graph **graph)
{
    ec_graph *g = calloc(1, sizeof *g);
    if (!g)
        return ec_fail(EC_ERR_MEMORY, "no memory for an expression graph");
    g->samples = g->final_samples = 1;
    *graph = g;
    return EC_OK;
}

static void call_destroy(ec_call *call)
{
    for (int32_t i = call->n_borrowed; i < call->n_out; i++)
        if (call->out[i].spec && call->mode == EC_MODE_RUN && call->def->spec_destroy)
            call->def->spec_destroy(call->out[i].spec);
    if (call->config && call->mode == EC_MODE_RUN && !call->n_borrowed && call->def->config_destroy)
        call->def->config_destroy(call->config);
    free(call->in);
    free(call->out);
    free(call->adjoint);
    free(call);
}

void ec_graph_destroy(ec_graph **graph)
{
    ec_graph *g = *graph;
    if (!g)
        return;
    /* adjoint calls and copies borrow from others, which are older: destroy the youngest first */
    for (int32_t i = g->n_calls; i-- > 0;)
        call_destroy(g->call[i]);
    for (ec_block *b = g->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(g->call);
    free(g->node);
    free(g->table);
    free(g);
    *graph = NULL;
}

int32_t ec_graph_count(const ec_graph *graph)
{
    return graph->count;
}

const ec_node *ec_graph_node(const ec_graph *graph, ec_expr expr)
{
    return expr >= 0 && expr < graph->count ? graph->node[expr] : NULL;
}

void ec_graph_set_line(ec_graph *graph, int32_t line)
{
    graph->line = line;
}

int32_t ec_graph_sample_count(const ec_graph *graph, bool final)
{
    return final ? graph->final_samples : graph->samples;
}

bool ec_graph_samples_repeat(const ec_graph *graph)
{
    if (graph->samples != graph->final_samples)
        return false;
    for (ec_expr e = 0; e < graph->count; e++) {
        const ec_node *n = graph->node[e];
        const double *search = n->data,
                     *final = n->op == EC_OP_SAMPLES ? ec_node_samples(n, true) : NULL;
        size_t count = (size_t)graph->samples * (size_t)n->elements;
        if (final && final != search && memcmp(final, search, count * sizeof *final) != 0)
            return false;
    }
    return true;
}

/* ---- hash consing ------------------------------------------------------------------------ */

size_t ec_node_data_bytes(const ec_node *n)
{
    if (!n->data)
        return 0;
    if (n->op == EC_OP_MATVEC)
        return (size_t)n->par[0] * sizeof(double);
    if (n->op == EC_OP_SAMPLES)
        return (size_t)n->par[2] * sizeof(double);
    if (n->op == EC_OP_VARIABLE)
        return 2 * (size_t)n->elements * sizeof(double);
    return (size_t)n->elements * sizeof(double) * (n->dtype == EC_C128 ? 2 : 1);
}

size_t ec_node_index_bytes(const ec_node *n)
{
    if (!n->index)
        return 0;
    return (n->op == EC_OP_GATHER_SUM ? (size_t)n->par[0] : (size_t)n->elements) * sizeof(int32_t);
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211ull;
    return h;
}

static uint64_t hash_node(const ec_node *n)
{
    uint64_t h = 1469598103934665603ull;
    h = hash_bytes(h, &n->op, sizeof n->op);
    h = hash_bytes(h, n->shape, sizeof n->shape);
    h = hash_bytes(h, n->in, (size_t)n->n_in * sizeof *n->in);
    h = hash_bytes(h, n->par, sizeof n->par);
    h = hash_bytes(h, &n->call, sizeof n->call);
    h = hash_bytes(h, &n->output, sizeof n->output);
    h = hash_bytes(h, n->data, ec_node_data_bytes(n));
    return hash_bytes(h, n->index, ec_node_index_bytes(n));
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

static bool same_node(const ec_node *a, const ec_node *b)
{
    return a->op == b->op && a->dtype == b->dtype && a->axes == b->axes && a->rank == b->rank &&
           a->n_in == b->n_in && memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
           same_bytes(a->in, b->in, (size_t)a->n_in * sizeof *a->in) &&
           memcmp(a->par, b->par, sizeof a->par) == 0 && a->call == b->call &&
           a->output == b->output && !a->data == !b->data && !a->index == !b->index &&
           same_bytes(a->data, b->data, ec_node_data_bytes(a)) &&
           same_bytes(a->index, b->index, ec_node_index_bytes(a));
}

static int table_grow(ec_graph *g)
{
    int32_t size = g->table_size ? 2 * g->table_size : 256;
    int32_t *table = calloc((size_t)size, sizeof *table);
    if (!table)
        return EC_ERR_MEMORY;
    for (int32_t i = 0; i < g->count; i++) {
        uint64_t h = hash_node(g->node[i]);
        while (table[h & (uint64_t)(size - 1)])
            h++;
        table[h & (uint64_t)(size - 1)] = i + 1;
    }
    free(g->table);
    g->table = table;
    g->table_size = size;
    return EC_OK;
}

static const void *keep(ec_graph *g, const void *from, size_t bytes)
{
    void *to = bytes ? ec_graph_memory(g, bytes) : NULL;
    if (to)
        memcpy(to, from, bytes);
    return to;
}

static ec_expr no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "no memory for another node of the expression graph");
}

/* Adds the node, or finds its equal. Copies inputs, data and index. */
static ec_expr add_node(ec_graph *g, const ec_node *n)
{
    if (2 * (g->count + 1) > g->table_size && table_grow(g) != EC_OK)
        return no_memory();
    uint64_t h = hash_node(n), mask = (uint64_t)(g->table_size - 1);
    for (; g->table[h & mask]; h++)
        if (same_node(g->node[g->table[h & mask] - 1], n))
            return g->table[h & mask] - 1;
    if (g->count == g->capacity) {
        int32_t capacity = g->capacity ? 2 * g->capacity : 256;
        ec_node **node = realloc(g->node, (size_t)capacity * sizeof *node);
        if (!node)
            return no_memory();
        g->node = node;
        g->capacity = capacity;
    }
    ec_node *copy = ec_graph_memory(g, sizeof *copy);
    if (!copy)
        return no_memory();
    *copy = *n;
    size_t ib = (size_t)n->n_in * sizeof *n->in, db = ec_node_data_bytes(n),
           xb = ec_node_index_bytes(n);
    copy->in = keep(g, n->in, ib);
    copy->data = keep(g, n->data, db);
    copy->index = keep(g, n->index, xb);
    if ((ib && !copy->in) || (db && !copy->data) || (xb && !copy->index))
        return no_memory();
    copy->line = g->line;
    g->table[h & mask] = g->count + 1;
    g->node[g->count] = copy;
    return g->count++;
}

/* ---- shapes ------------------------------------------------------------------------------ */

static void shape_text(const ec_node *n, char *text, size_t size)
{
    if (n->rank == 0) {
        snprintf(text, size, "a scalar");
        return;
    }
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < n->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? " x %d" : "%d", n->shape[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

static int set_shape(ec_node *n, int rank, const int32_t *shape)
{
    if (rank < 0 || rank > EC_RANK_MAX)
        return ec_fail(EC_ERR_SHAPE, "a value has rank %d, allowed are 0 to %d", rank, EC_RANK_MAX);
    int64_t elements = 1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 1)
            return ec_fail(EC_ERR_SHAPE,
                           "a value has %d elements along axis %d, at least 1 is needed", shape[i],
                           i + 1);
        elements *= shape[i];
        n->shape[i] = shape[i];
        if (elements > 1 << 28)
            return ec_fail(EC_ERR_SHAPE, "a value has more than %d elements", 1 << 28);
    }
    for (int i = rank; i < EC_RANK_MAX; i++)
        n->shape[i] = 0;
    n->rank = (uint8_t)rank;
    n->elements = (int32_t)elements;
    return EC_OK;
}

static bool same_shape(const ec_node *a, const ec_node *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static int join_axes(int a, int b)
{
    int axes = a | b;
    /* a candidate knows its group */
    return axes & EC_AXIS_CANDIDATE ? axes & ~EC_AXIS_GROUP : axes;
}

/* ---- ranges: interval arithmetic ----------------------------------------------------------- */

static ec_interval interval(double lo, double hi)
{
    return (ec_interval){isnan(lo) ? -INFINITY : lo, isnan(hi) ? INFINITY : hi};
}

static ec_interval hull(ec_interval a, ec_interval b)
{
    return interval(fmin(a.lo, b.lo), fmax(a.hi, b.hi));
}

static double magnitude(ec_interval a)
{
    return fmax(fabs(a.lo), fabs(a.hi));
}

/* Product with 0 * inf = 0: an end that is exactly 0 stays 0. */
static double product(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static ec_interval range_mul(ec_interval a, ec_interval b)
{
    double p[4] = {product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo),
                   product(a.hi, b.hi)};
    return interval(fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                    fmax(fmax(p[0], p[1]), fmax(p[2], p[3])));
}

static ec_interval range_square(ec_interval a)
{
    double m = magnitude(a), lo = a.lo <= 0 && a.hi >= 0 ? 0 : fmin(fabs(a.lo), fabs(a.hi));
    return interval(lo * lo, m * m);
}

static ec_interval range_div(ec_interval a, ec_interval b)
{
    if (b.lo <= 0 && b.hi >= 0)
        return interval(-INFINITY, INFINITY);
    return range_mul(a, interval(1 / b.hi, 1 / b.lo));
}

static ec_interval range_pow(ec_interval a, ec_interval b)
{
    if (b.lo == b.hi && b.lo == floor(b.lo) && b.lo >= 0) {
        if (fmod(b.lo, 2) == 0) {
            ec_interval s = range_square(a);
            return interval(pow(sqrt(s.lo), b.lo), pow(sqrt(s.hi), b.lo));
        }
        return interval(pow(a.lo, b.lo), pow(a.hi, b.lo));
    }
    if (a.lo < 0)
        return interval(-INFINITY, INFINITY);
    double p[4] = {pow(a.lo, b.lo), pow(a.lo, b.hi), pow(a.hi, b.lo), pow(a.hi, b.hi)};
    ec_interval r = interval(fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                             fmax(fmax(p[0], p[1]), fmax(p[2], p[3])));
    /* x^y has a saddle at x = 1 */
    return a.lo <= 1 && a.hi >= 1 ? hull(r, interval(1, 1)) : r;
}

/* sin over an interval shifted by `shift` (cos: pi/2). */
static ec_interval range_sin(ec_interval a, double shift)
{
    double lo = a.lo + shift, hi = a.hi + shift;
    if (!(hi - lo < 2 * EC_PI) || fabs(lo) > 1e6)
        return interval(-1, 1);
    double s0 = sin(lo), s1 = sin(hi), low = fmin(s0, s1), high = fmax(s0, s1);
    if (floor((hi - EC_PI / 2) / (2 * EC_PI)) != floor((lo - EC_PI / 2) / (2 * EC_PI)))
        high = 1;
    if (floor((hi + EC_PI / 2) / (2 * EC_PI)) != floor((lo + EC_PI / 2) / (2 * EC_PI)))
        low = -1;
    return interval(low - 1e-9, high + 1e-9);
}

ec_interval ec_range_elementwise(ec_op op, bool complex, ec_interval a, ec_interval b,
                                 ec_interval c)
{
    double m = magnitude(a), k = magnitude(b);
    if (complex) {
        switch (op) {
        case EC_OP_MUL:
            return interval(-2 * product(m, k), 2 * product(m, k));
        case EC_OP_SQUARE:
            return interval(-2 * m * m, 2 * m * m);
        case EC_OP_DIV:
        case EC_OP_EXP:
            return interval(-INFINITY, INFINITY);
        case EC_OP_ABS:
            return interval(0, m * sqrt(2));
        case EC_OP_ABS2:
            return interval(0, 2 * m * m);
        case EC_OP_ARG:
            return interval(-EC_PI, EC_PI);
        case EC_OP_CONJ:
        case EC_OP_NEG:
            return interval(-m, m);
        case EC_OP_RE:
        case EC_OP_IM:
            return a;
        default:
            break;
        }
    }
    switch (op) {
    case EC_OP_NEG:
        return interval(-a.hi, -a.lo);
    case EC_OP_ABS:
        return interval(a.lo <= 0 && a.hi >= 0 ? 0 : fmin(fabs(a.lo), fabs(a.hi)), m);
    case EC_OP_SIGN:
        return interval(a.lo > 0 ? 1 : -1, a.hi < 0 ? -1 : 1);
    case EC_OP_FLOOR:
        return interval(floor(a.lo), floor(a.hi));
    case EC_OP_CEIL:
        return interval(ceil(a.lo), ceil(a.hi));
    case EC_OP_ROUND:
        return interval(nearbyint(a.lo), nearbyint(a.hi));
    case EC_OP_SQRT:
        return interval(sqrt(fmax(a.lo, 0)), sqrt(fmax(a.hi, 0)));
    case EC_OP_SQUARE:
    case EC_OP_ABS2:
        return range_square(a);
    case EC_OP_EXP:
        return interval(exp(a.lo), exp(a.hi));
    case EC_OP_LOG:
        return interval(a.lo > 0 ? log(a.lo) : -INFINITY, a.hi > 0 ? log(a.hi) : -INFINITY);
    case EC_OP_LOG10:
        return interval(a.lo > 0 ? log10(a.lo) : -INFINITY, a.hi > 0 ? log10(a.hi) : -INFINITY);
    case EC_OP_SIN:
        return range_sin(a, 0);
    case EC_OP_COS:
        return range_sin(a, EC_PI / 2);
    case EC_OP_TAN:
        if (a.lo > -EC_PI / 2 && a.hi < EC_PI / 2)
            return interval(tan(a.lo), tan(a.hi));
        return interval(-INFINITY, INFINITY);
    case EC_OP_ASIN:
        return interval(asin(fmax(a.lo, -1)), asin(fmin(a.hi, 1)));
    case EC_OP_ACOS:
        return interval(acos(fmin(a.hi, 1)), acos(fmax(a.lo, -1)));
    case EC_OP_ATAN:
        return interval(atan(a.lo), atan(a.hi));
    case EC_OP_SINH:
        return interval(sinh(a.lo), sinh(a.hi));
    case EC_OP_COSH: {
        double lo = a.lo <= 0 && a.hi >= 0 ? 0 : fmin(fabs(a.lo), fabs(a.hi));
        return interval(cosh(lo), cosh(m));
    }
    case EC_OP_TANH:
        return interval(tanh(a.lo), tanh(a.hi));
    case EC_OP_ATAN2:
        return interval(-EC_PI, EC_PI);
    case EC_OP_ADD:
        return interval(a.lo + b.lo, a.hi + b.hi);
    case EC_OP_SUB:
        return interval(a.lo - b.hi, a.hi - b.lo);
    case EC_OP_MUL:
        return range_mul(a, b);
    case EC_OP_DIV:
        return range_div(a, b);
    case EC_OP_POW:
        return range_pow(a, b);
    case EC_OP_MIN:
        return interval(fmin(a.lo, b.lo), fmin(a.hi, b.hi));
    case EC_OP_MAX:
        return interval(fmax(a.lo, b.lo), fmax(a.hi, b.hi));
    case EC_OP_COMPLEX:
        return hull(a, b);
    case EC_OP_WHERE:
        return hull(b, c);
    case EC_OP_CLAMP:
        return interval(fmin(fmax(a.lo, b.lo), c.lo), fmin(fmax(a.hi, b.hi), c.hi));
    default: /* comparisons and logic */
        return interval(0, 1);
    }
}

/* ---- leaves -------------------------------------------------------------------------------- */

static ec_expr constant(ec_graph *graph, int dtype, int rank, const int32_t *shape,
                        const double *data)
{
    ec_node n = {.op = EC_OP_CONSTANT, .dtype = (uint8_t)dtype, .data = data};
    int status = set_shape(&n, rank, shape);
    if (status != EC_OK)
        return status;
    int32_t numbers = n.elements * (dtype == EC_C128 ? 2 : 1);
    n.range = (ec_interval){INFINITY, -INFINITY};
    for (int32_t i = 0; i < numbers; i++) {
        if (!isfinite(data[i]))
            return ec_fail(EC_ERR_RANGE,
                           "element %d of a constant is %g, a finite number is needed",
                           (int)(dtype == EC_C128 ? i / 2 : i) + 1, data[i]);
        n.range = hull(n.range, interval(data[i], data[i]));
    }
    return add_node(graph, &n);
}

ec_expr ec_graph_number(ec_graph *graph, double value)
{
    return constant(graph, EC_F64, 0, NULL, &value);
}

ec_expr ec_graph_constant(ec_graph *graph, int rank, const int32_t *shape, const double *data)
{
    return constant(graph, EC_F64, rank, shape, data);
}

ec_expr ec_graph_constant_complex(ec_graph *graph, int rank, const int32_t *shape,
                                  const ec_c128 *data)
{
    return constant(graph, EC_C128, rank, shape, (const double *)data);
}

int32_t ec_graph_new_owner(ec_graph *graph)
{
    return ++graph->owners;
}

int32_t ec_node_owner(const ec_node *variable)
{
    return (int32_t)variable->par[1];
}

ec_expr ec_graph_variable(ec_graph *graph, bool group, int32_t first, int32_t count,
                          const double *min, const double *max)
{
    return ec_graph_owned_variable(graph, 0, group, first, count, min, max);
}

ec_expr ec_graph_owned_variable(ec_graph *graph, int32_t owner, bool group, int32_t first,
                                int32_t count, const double *min, const double *max)
{
    ec_node n = {.op = EC_OP_VARIABLE, .dtype = EC_F64};
    n.axes = group ? EC_AXIS_GROUP : EC_AXIS_CANDIDATE;
    int status = set_shape(&n, count == 0 ? 0 : 1, &count);
    if (status != EC_OK)
        return status;
    n.range = (ec_interval){INFINITY, -INFINITY};
    for (int32_t i = 0; i < n.elements; i++) {
        if (!(isfinite(min[i]) && isfinite(max[i]) && min[i] <= max[i]))
            return ec_fail(EC_ERR_RANGE, "element %d of a variable has min %g and max %g", i + 1,
                           min[i], max[i]);
        n.range = hull(n.range, interval(min[i], max[i]));
    }
    n.par[0] = first;
    n.par[1] = owner;
    /* the same genes with other bounds are another node */
    n.par[2] = n.range.lo;
    n.par[3] = n.range.hi;
    bool alike = true;
    for (int32_t i = 1; i < n.elements; i++)
        alike = alike && min[i] == min[0] && max[i] == max[0];
    if (alike)
        return add_node(graph, &n);
    double *bounds = malloc(2 * (size_t)n.elements * sizeof *bounds);
    if (!bounds)
        return no_memory();
    memcpy(bounds, min, (size_t)n.elements * sizeof *bounds);
    memcpy(bounds + n.elements, max, (size_t)n.elements * sizeof *bounds);
    n.data = bounds;
    ec_expr e = add_node(graph, &n);
    free(bounds);
    return e;
}

/* Adds the range of n numbers to *range; `what` names them. */
static int sample_range(const double *data, size_t n, const char *what, ec_interval *range)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(data[i]))
            return ec_fail(EC_ERR_RANGE, "%s %zu is %g, a finite number is needed", what, i + 1,
                           data[i]);
        *range = hull(*range, interval(data[i], data[i]));
    }
    return EC_OK;
}

static int fits_samples(const ec_graph *graph, int32_t samples, int32_t final_samples)
{
    if (samples < 1 || final_samples < 1)
        return ec_fail(EC_ERR_RANGE, "a sample axis has %d samples, at least 1 is needed",
                       samples < 1 ? samples : final_samples);
    if (!graph->sampled || (samples == graph->samples && final_samples == graph->final_samples))
        return EC_OK;
    bool search = samples != graph->samples;
    return ec_fail(EC_ERR_SHAPE,
                   "a list of %d samples%s does not fit the %d samples that are there already: "
                   "sample i of one list goes with sample i of the others, so all have one length; "
                   "one ec.over, or ec.combinations, makes every combination of several",
                   search ? samples : final_samples, search ? "" : " at final fidelity",
                   search ? graph->samples : graph->final_samples);
}

ec_expr ec_graph_draws(ec_graph *graph, int32_t samples, int32_t final_samples, int rank,
                       const int32_t *shape, const double *data, const double *final_data)
{
    ec_node n = {.op = EC_OP_SAMPLES, .dtype = EC_F64, .axes = EC_AXIS_SAMPLE};
    int status = set_shape(&n, rank, shape);
    if (status == EC_OK)
        status = fits_samples(graph, samples, final_samples);
    if (status != EC_OK)
        return status;
    size_t count = (size_t)samples * (size_t)n.elements;
    size_t final_count = final_data ? (size_t)final_samples * (size_t)n.elements : 0;
    n.range = (ec_interval){INFINITY, -INFINITY};
    status = sample_range(data, count, "sample value", &n.range);
    if (status == EC_OK && final_data)
        status = sample_range(final_data, final_count, "final sample value", &n.range);
    if (status != EC_OK)
        return status;
    double *both = malloc((count + final_count) * sizeof *both);
    if (!both)
        return no_memory();
    memcpy(both, data, count * sizeof *both);
    if (final_data)
        memcpy(both + count, final_data, final_count * sizeof *both);
    n.data = both;
    n.par[2] = (double)(count + final_count);
    n.par[3] = final_data ? (double)count : 0;
    ec_expr e = add_node(graph, &n);
    free(both);
    if (e >= 0) {
        graph->samples = samples;
        graph->final_samples = final_samples;
        graph->sampled = true;
    }
    return e;
}

ec_expr ec_graph_samples(ec_graph *graph, int32_t samples, int rank, const int32_t *shape,
                         const double *data)
{
    return ec_graph_draws(graph, samples, samples, rank, shape, data, NULL);
}

/* ---- operations ---------------------------------------------------------------------------- */

static const ec_node *input(ec_graph *graph, ec_op op, ec_expr e)
{
    const ec_node *n = ec_graph_node(graph, e);
    if (!n)
        ec_fail(EC_ERR_ARGUMENT, "ec.%s: an input is not an expression of this graph",
                ec_op_name(op));
    return n;
}

static bool takes_complex(ec_op op)
{
    switch (op) {
    case EC_OP_NEG:
    case EC_OP_ABS:
    case EC_OP_SQUARE:
    case EC_OP_EXP:
    case EC_OP_RE:
    case EC_OP_IM:
    case EC_OP_ABS2:
    case EC_OP_ARG:
    case EC_OP_CONJ:
    case EC_OP_ADD:
    case EC_OP_SUB:
    case EC_OP_MUL:
    case EC_OP_DIV:
    case EC_OP_WHERE:
    case EC_OP_SUM:
    case EC_OP_MEAN:
    case EC_OP_CONCAT:
    case EC_OP_SAMPLE_MEAN:
    case EC_OP_SAMPLE_SUM:
        return true;
    default:
        return false;
    }
}

static ec_expr elementwise(ec_graph *graph, ec_op op, int32_t n_in, const ec_expr *in)
{
    const ec_node *node[3] = {NULL, NULL, NULL}, *widest = NULL;
    ec_node n = {.op = op, .dtype = EC_F64, .n_in = n_in, .in = in};
    bool complex = false;
    for (int32_t i = 0; i < n_in; i++) {
        node[i] = input(graph, op, in[i]);
        if (!node[i])
            return EC_ERR_ARGUMENT;
        complex |= !ec_node_real(node[i]);
        n.axes = (uint8_t)join_axes(n.axes, node[i]->axes);
        if (!widest || (widest->rank == 0 && node[i]->rank > 0))
            widest = node[i];
    }
    for (int32_t i = 0; i < n_in; i++)
        if (node[i]->rank > 0 && !same_shape(node[i], widest)) {
            char a[64], b[64];
            shape_text(widest, a, sizeof a);
            shape_text(node[i], b, sizeof b);
            return ec_fail(EC_ERR_SHAPE,
                           "ec.%s: %s and %s do not fit: equal shapes, or a scalar, are needed",
                           ec_op_name(op), a, b);
        }
    if (complex && (!takes_complex(op) || (op == EC_OP_WHERE && !ec_node_real(node[0]))))
        return ec_fail(EC_ERR_TYPE, "ec.%s: a real value is needed, this one is complex",
                       ec_op_name(op));
    if (!complex) {
        /* on real values these are something simpler */
        if (op == EC_OP_RE || op == EC_OP_CONJ)
            return in[0];
        if (op == EC_OP_ABS2)
            return ec_graph_unary(graph, EC_OP_SQUARE, in[0]);
        if (op == EC_OP_IM)
            return ec_graph_binary(graph, EC_OP_MUL, in[0], ec_graph_number(graph, 0));
        if (op == EC_OP_ARG)
            return ec_graph_binary(graph, EC_OP_ATAN2, ec_graph_number(graph, 0), in[0]);
    }
    /* x * x is a square: its range is tighter */
    if (op == EC_OP_MUL && in[0] == in[1])
        return ec_graph_unary(graph, EC_OP_SQUARE, in[0]);
    if (op == EC_OP_POW && node[1]->op == EC_OP_CONSTANT && node[1]->rank == 0) {
        if (node[1]->data[0] == 1)
            return in[0];
        if (node[1]->data[0] == 2)
            return ec_graph_unary(graph, EC_OP_SQUARE, in[0]);
    }
    bool to_real =
        op == EC_OP_ABS || op == EC_OP_ABS2 || op == EC_OP_ARG || op == EC_OP_RE || op == EC_OP_IM;
    if ((complex && !to_real) || op == EC_OP_COMPLEX)
        n.dtype = EC_C128;
    int status = set_shape(&n, widest->rank, widest->shape);
    if (status != EC_OK)
        return status;
    ec_interval range = node[0]->range;
    n.range = ec_range_elementwise(
        op, !ec_node_real(node[0]) || (node[1] && !ec_node_real(node[1])), range,
        node[1] ? node[1]->range : range, node[2] ? node[2]->range : range);
    return add_node(graph, &n);
}

static int need_vector(ec_op op, const ec_node *n, const char *what)
{
    if (n->rank == 1)
        return EC_OK;
    char text[64];
    shape_text(n, text, sizeof text);
    return ec_fail(EC_ERR_SHAPE, "ec.%s: %s must be a vector, it is %s", ec_op_name(op), what,
                   text);
}

static int need_scalar(ec_op op, const ec_node *n, const char *what)
{
    if (n->elements == 1)
        return EC_OK;
    char text[64];
    shape_text(n, text, sizeof text);
    return ec_fail(EC_ERR_SHAPE, "ec.%s: %s must be a scalar, it is %s", ec_op_name(op), what,
                   text);
}

static int need_whole(ec_op op, double value, double lo, double hi, const char *what)
{
    if (value >= lo && value <= hi && value == floor(value))
        return EC_OK;
    return ec_fail(EC_ERR_ARGUMENT, "ec.%s: %s is %g, a whole number from %g to %g is needed",
                   ec_op_name(op), what, value, lo, hi);
}

static int reduce_shape(ec_node *n, const ec_node *a)
{
    bool last = n->par[0] == 1 && a->rank > 1;
    return set_shape(n, last ? a->rank - 1 : 0, a->shape);
}

/* Shape, type and range of a structural node. */
static int structural(ec_graph *graph, ec_node *n, const ec_node *const *in)
{
    const ec_node *a = in[0], *b = n->n_in > 1 ? in[1] : NULL;
    double count = a->elements, m = magnitude(a->range);
    int status = EC_OK;
    if (!ec_node_real(a))
        n->dtype = EC_C128;
    n->range = a->range;
    switch (n->op) {
    case EC_OP_SUM:
    case EC_OP_MEAN:
    case EC_OP_NORM:
    case EC_OP_RMIN:
    case EC_OP_RMAX:
    case EC_OP_ARGMIN:
    case EC_OP_ARGMAX:
        if (n->par[0] == 1 && a->rank > 1)
            count = a->shape[a->rank - 1];
        if (n->op == EC_OP_SUM)
            n->range = range_mul(a->range, interval(count, count));
        if (n->op == EC_OP_NORM)
            n->range = interval(0, m * sqrt(count));
        if (n->op == EC_OP_ARGMIN || n->op == EC_OP_ARGMAX)
            n->range = interval(0, count - 1);
        return reduce_shape(n, a);
    case EC_OP_KTH_LARGEST:
        status = need_whole(n->op, n->par[0], 1, count, "k");
        return status ? status : set_shape(n, 0, NULL);
    case EC_OP_SOFT_MAX:
        if (!(isfinite(n->par[0]) && n->par[0] > 0))
            return ec_fail(EC_ERR_ARGUMENT,
                           "ec.soft_max: sharpness is %g, a number above 0 is needed", n->par[0]);
        n->range = interval(a->range.lo, a->range.hi + log(count) / n->par[0]);
        return set_shape(n, 0, NULL);
    case EC_OP_LOCAL_MAXIMA:
        n->range = hull(a->range, interval(n->par[1], n->par[1]));
        status = need_vector(n->op, a, "the first argument");
        return status ? status : set_shape(n, 1, a->shape);
    case EC_OP_WALK_MIN:
    case EC_OP_CROSSING:
        status = need_vector(n->op, a, "the first argument");
        for (int32_t i = 1; !status && i < n->n_in; i++)
            status = need_scalar(n->op, in[i], i + 1 < n->n_in ? "the level" : "the start index");
        if (!status && n->par[0] != 1 && n->par[0] != -1)
            status = ec_fail(EC_ERR_ARGUMENT, "ec.%s: direction is %g, 1 or -1 is needed",
                             ec_op_name(n->op), n->par[0]);
        if (!status && n->op == EC_OP_WALK_MIN)
            status = need_whole(n->op, n->par[2], 1, 1 << 28, "limit");
        n->range = interval(0, n->op == EC_OP_WALK_MIN ? n->par[2] : count);
        return status ? status : set_shape(n, 0, NULL);
    case EC_OP_SORT:
    case EC_OP_ARGSORT:
    case EC_OP_CUMSUM:
    case EC_OP_TOP_K:
        if (n->op == EC_OP_ARGSORT)
            n->range = interval(0, count - 1);
        if (n->op == EC_OP_CUMSUM)
            n->range = interval(fmin(a->range.lo, a->range.lo * count),
                                fmax(a->range.hi, a->range.hi * count));
        if (n->op == EC_OP_TOP_K) {
            n->range = interval(0, 1);
            status = need_whole(n->op, n->par[0], 0, count, "k");
        }
        if (!status)
            status = need_vector(n->op, a, "the argument");
        return status ? status : set_shape(n, 1, a->shape);
    case EC_OP_DISTINCT:
        status = need_vector(n->op, a, "the argument");
        if (!status)
            status = need_whole(n->op, n->par[0], count, 1 << 20, "n");
        n->range = interval(0, n->par[0] - 1);
        return status ? status : set_shape(n, 1, a->shape);
    case EC_OP_TAKE:
    case EC_OP_INTERP:
        status = need_vector(n->op, a, "the first argument");
        return status ? status : set_shape(n, b->rank, b->shape);
    case EC_OP_UNSORT:
        return set_shape(n, a->rank, a->shape);
    case EC_OP_MATMUL:
        if (a->rank != 2 || b->rank != 2 || a->shape[1] != b->shape[0]) {
            char s[64], t[64];
            shape_text(a, s, sizeof s);
            shape_text(b, t, sizeof t);
            return ec_fail(EC_ERR_SHAPE,
                           "ec.matmul: %s and %s do not fit: [m x k] and [k x n] are needed", s, t);
        }
        m = product(m, magnitude(b->range)) * a->shape[1];
        n->range = interval(-m, m);
        return set_shape(n, 2, (int32_t[]){a->shape[0], b->shape[1]});
    case EC_OP_SPREAD:
        return set_shape(n, a->rank, a->shape);
    case EC_OP_SAMPLE_SUM:
        n->range = range_mul(a->range, interval(graph->samples, graph->samples));
        n->range = hull(n->range,
                        range_mul(a->range, interval(graph->final_samples, graph->final_samples)));
        break;
    case EC_OP_SAMPLE_PERCENTILE:
        if (!(n->par[0] >= 0 && n->par[0] <= 100))
            return ec_fail(EC_ERR_ARGUMENT,
                           "ec.sample_percentile: percentile is %g, allowed are 0 to 100",
                           n->par[0]);
        if (!(n->par[1] >= EC_PERCENTILE_LINEAR && n->par[1] <= EC_PERCENTILE_QUANTILE &&
              n->par[1] == floor(n->par[1])))
            return ec_fail(EC_ERR_ARGUMENT, "ec.sample_percentile: %g is no kind of percentile",
                           n->par[1]);
        break;
    default:
        break;
    }
    /* sample reductions */
    if (!(a->axes & EC_AXIS_SAMPLE))
        return ec_fail(EC_ERR_SHAPE, "ec.%s: the value does not vary over samples (see ec.over)",
                       ec_op_name(n->op));
    n->axes &= (uint8_t)~EC_AXIS_SAMPLE;
    return set_shape(n, a->rank, a->shape);
}

static ec_expr concat(ec_graph *graph, int32_t n_in, const ec_expr *in)
{
    ec_node n = {.op = EC_OP_CONCAT, .dtype = EC_F64, .n_in = n_in, .in = in};
    const ec_node *first = NULL;
    int32_t rows = 0;
    if (n_in < 1)
        return ec_fail(EC_ERR_SHAPE, "ec.concat: nothing to join");
    for (int32_t i = 0; i < n_in; i++) {
        const ec_node *a = input(graph, EC_OP_CONCAT, in[i]);
        if (!a)
            return EC_ERR_ARGUMENT;
        if (!first)
            first = a;
        bool fits = (first->rank <= 1 && a->rank <= 1) ||
                    (a->rank == first->rank &&
                     memcmp(a->shape + 1, first->shape + 1, 3 * sizeof(int32_t)) == 0);
        if (!fits) {
            char s[64], t[64];
            shape_text(first, s, sizeof s);
            shape_text(a, t, sizeof t);
            return ec_fail(EC_ERR_SHAPE, "ec.concat: %s and %s do not fit", s, t);
        }
        rows += a->rank == 0 ? 1 : a->shape[0];
        n.axes = (uint8_t)join_axes(n.axes, a->axes);
        n.range = i ? hull(n.range, a->range) : a->range;
        if (!ec_node_real(a))
            n.dtype = EC_C128;
    }
    int32_t shape[EC_RANK_MAX] = {rows, first->shape[1], first->shape[2], first->shape[3]};
    int status = set_shape(&n, first->rank < 1 ? 1 : first->rank, shape);
    return status != EC_OK ? status : add_node(graph, &n);
}

ec_expr ec_graph_op(ec_graph *graph, ec_op op, int32_t n_in, const ec_expr *in, int32_t n_par,
                    const double *par)
{
    if (op >= EC_OP_CONSTANT || op == EC_OP_ELEMENTWISE_END)
        return ec_fail(EC_ERR_ARGUMENT, "operation %d has a builder of its own", (int)op);
    if (ec_op_inputs(op) >= 0 && n_in != ec_op_inputs(op))
        return ec_fail(EC_ERR_ARGUMENT, "ec.%s: %d values given, %d needed", ec_op_name(op), n_in,
                       ec_op_inputs(op));
    if (op < EC_OP_ELEMENTWISE_END)
        return elementwise(graph, op, n_in, in);
    if (op == EC_OP_CONCAT)
        return concat(graph, n_in, in);
    ec_node n = {.op = op, .dtype = EC_F64, .n_in = n_in, .in = in};
    const ec_node *node[3] = {NULL, NULL, NULL};
    for (int32_t i = 0; i < n_in; i++) {
        node[i] = input(graph, op, in[i]);
        if (!node[i])
            return EC_ERR_ARGUMENT;
        if (!ec_node_real(node[i]) && !takes_complex(op))
            return ec_fail(EC_ERR_TYPE, "ec.%s: a real value is needed, this one is complex",
                           ec_op_name(op));
        n.axes = (uint8_t)join_axes(n.axes, node[i]->axes);
    }
    for (int32_t i = 0; i < n_par && i < 4; i++)
        n.par[i] = par[i];
    int status = structural(graph, &n, node);
    return status != EC_OK ? status : add_node(graph, &n);
}

ec_expr ec_graph_unary(ec_graph *graph, ec_op op, ec_expr a)
{
    return a < 0 ? a : ec_graph_op(graph, op, 1, &a, 0, NULL);
}

ec_expr ec_graph_binary(ec_graph *graph, ec_op op, ec_expr a, ec_expr b)
{
    if (a < 0 || b < 0)
        return a < 0 ? a : b;
    return ec_graph_op(graph, op, 2, (ec_expr[]){a, b}, 0, NULL);
}

ec_expr ec_graph_where(ec_graph *graph, ec_expr test, ec_expr yes, ec_expr no)
{
    if (test < 0 || yes < 0 || no < 0)
        return test < 0 ? test : yes < 0 ? yes : no;
    return ec_graph_op(graph, EC_OP_WHERE, 3, (ec_expr[]){test, yes, no}, 0, NULL);
}

/* ---- views, gathers, constant matrices -------------------------------------------------------- */

static ec_expr view(ec_graph *graph, ec_node *n, ec_expr a, const ec_node *from)
{
    n->n_in = 1;
    n->in = &a;
    n->dtype = from->dtype;
    n->axes = from->axes;
    if (n->op != EC_OP_DECLARE)
        n->range = from->range;
    return add_node(graph, n);
}

ec_expr ec_graph_slice(ec_graph *graph, ec_expr a, int32_t first, int32_t count)
{
    const ec_node *from = input(graph, EC_OP_SLICE, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    if (from->rank == 0)
        return ec_fail(EC_ERR_SHAPE, "a scalar has no elements to take");
    int32_t rows = from->shape[0], take = count == 0 ? 1 : count;
    if (first < 0 || take < 0 || first + take > rows)
        return ec_fail(EC_ERR_RANGE, "elements %d to %d are asked for, allowed are 1 to %d",
                       first + 1, first + take, rows);
    ec_node n = {.op = EC_OP_SLICE};
    int32_t shape[EC_RANK_MAX] = {take, from->shape[1], from->shape[2], from->shape[3]};
    int status = count == 0 ? set_shape(&n, from->rank - 1, from->shape + 1)
                            : set_shape(&n, from->rank, shape);
    if (status != EC_OK)
        return status;
    /* par[0]: first flat element */
    n.par[0] = (double)first * (from->elements / rows);
    return view(graph, &n, a, from);
}

ec_expr ec_graph_reshape(ec_graph *graph, ec_expr a, int rank, const int32_t *shape)
{
    const ec_node *from = input(graph, EC_OP_RESHAPE, a);
    ec_node n = {.op = EC_OP_RESHAPE};
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    int status = set_shape(&n, rank, shape);
    if (status != EC_OK)
        return status;
    if (n.elements != from->elements)
        return ec_fail(EC_ERR_SHAPE, "ec.reshape: %d elements do not make %d", from->elements,
                       n.elements);
    return view(graph, &n, a, from);
}

ec_expr ec_graph_declare(ec_graph *graph, ec_expr a, double lo, double hi)
{
    const ec_node *from = input(graph, EC_OP_DECLARE, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    if (!(lo <= hi))
        return ec_fail(EC_ERR_RANGE, "a declared range has min %g and max %g", lo, hi);
    ec_node n = {.op = EC_OP_DECLARE, .range = {lo, hi}, .par = {lo, hi}};
    set_shape(&n, from->rank, from->shape);
    return view(graph, &n, a, from);
}

ec_expr ec_graph_gather(ec_graph *graph, ec_expr a, int rank, const int32_t *shape,
                        const int32_t *index)
{
    const ec_node *from = input(graph, EC_OP_GATHER, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    ec_node n = {.op = EC_OP_GATHER,
                 .dtype = ec_node_real(from) ? EC_F64 : EC_C128,
                 .axes = from->axes,
                 .range = from->range,
                 .n_in = 1,
                 .in = &a,
                 .index = index};
    int status = set_shape(&n, rank, shape);
    if (status != EC_OK)
        return status;
    for (int32_t i = 0; i < n.elements; i++) {
        if (index[i] < -1 || index[i] >= from->elements)
            return ec_fail(EC_ERR_RANGE, "ec.gather: index %d is outside 1 to %d", index[i] + 1,
                           from->elements);
        if (index[i] == -1)
            n.range = hull(n.range, interval(0, 0));
    }
    return add_node(graph, &n);
}

static ec_expr gather_built(ec_graph *graph, ec_expr a, int32_t count, int32_t *index)
{
    ec_expr e = index ? ec_graph_gather(graph, a, 1, &count, index) : no_memory();
    free(index);
    return e;
}

ec_expr ec_graph_reverse(ec_graph *graph, ec_expr a)
{
    const ec_node *from = input(graph, EC_OP_GATHER, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    int32_t n = from->elements, *index = malloc((size_t)n * sizeof *index);
    for (int32_t i = 0; index && i < n; i++)
        index[i] = n - 1 - i;
    return gather_built(graph, a, n, index);
}

ec_expr ec_graph_mirror(ec_graph *graph, ec_expr a, bool odd, bool centre)
{
    const ec_node *from = input(graph, EC_OP_GATHER, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    int32_t n = from->elements, half = centre ? n - 1 : n;
    if (half == 0)
        return a;
    int32_t *index = malloc((size_t)half * sizeof *index);
    for (int32_t i = 0; index && i < half; i++)
        index[i] = n - 1 - i;
    ec_expr left = gather_built(graph, a, half, index);
    if (odd)
        left = ec_graph_unary(graph, EC_OP_NEG, left);
    return left < 0 ? left : concat(graph, 2, (ec_expr[]){left, a});
}

ec_expr ec_graph_matvec(ec_graph *graph, ec_expr a, int32_t m, const double *matrix)
{
    const ec_node *from = input(graph, EC_OP_MATVEC, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    ec_node n = {.op = EC_OP_MATVEC,
                 .dtype = ec_node_real(from) ? EC_F64 : EC_C128,
                 .axes = from->axes,
                 .n_in = 1,
                 .in = &a,
                 .data = matrix};
    int status = set_shape(&n, 1, &m);
    if (status != EC_OK)
        return status;
    n.par[0] = (double)m * from->elements;
    n.range = (ec_interval){INFINITY, -INFINITY};
    for (int32_t i = 0; i < m; i++) {
        ec_interval row = {0, 0};
        for (int32_t k = 0; k < from->elements; k++) {
            double x = matrix[(size_t)i * (size_t)from->elements + (size_t)k];
            if (!isfinite(x))
                return ec_fail(EC_ERR_RANGE, "ec.matvec: an element of the matrix is %g", x);
            ec_interval t = range_mul(from->range, interval(x, x));
            row = interval(row.lo + t.lo, row.hi + t.hi);
        }
        n.range = hull(n.range, row);
    }
    return add_node(graph, &n);
}

/* r[i] = sum of a[k] over the columns of row i; table: elements + 1 row starts, then columns. */
ec_expr ec_graph_gather_sum(ec_graph *graph, ec_expr a, int rank, const int32_t *shape,
                            int32_t table_size, const int32_t *table)
{
    const ec_node *from = input(graph, EC_OP_GATHER_SUM, a);
    if (!from)
        return a < 0 ? a : EC_ERR_ARGUMENT;
    ec_node n = {.op = EC_OP_GATHER_SUM,
                 .dtype = ec_node_real(from) ? EC_F64 : EC_C128,
                 .axes = from->axes,
                 .n_in = 1,
                 .in = &a,
                 .index = table,
                 .par = {table_size}};
    int status = set_shape(&n, rank, shape);
    if (status != EC_OK)
        return status;
    double m = magnitude(from->range) * from->elements;
    n.range = interval(-m, m);
    return add_node(graph, &n);
}

/* ---- evaluator calls ---------------------------------------------------------------------------- */

int ec_graph_call(ec_graph *graph, const ec_evaluator_def *def, void *config, int32_t n_in,
                  const ec_expr *in, ec_call **call)
{
    ec_call *c = calloc(1, sizeof *c);
    int status = EC_OK;
    if (c) {
        c->in = malloc((size_t)(n_in > 0 ? n_in : 1) * sizeof *c->in);
        c->def = def;
        c->config = config;
    }
    if (!c || !c->in)
        status = no_memory();
    for (int32_t i = 0; status == EC_OK && i < n_in; i++) {
        const ec_node *n = ec_graph_node(graph, in[i]);
        if (!n) {
            status = ec_fail(EC_ERR_ARGUMENT, "%s: input %d is not an expression of this graph",
                             def->name, i + 1);
            break;
        }
        c->in[i] = in[i];
        c->axes = join_axes(c->axes, n->axes);
    }
    if (status == EC_OK && graph->n_calls == graph->cap_calls) {
        int32_t capacity = graph->cap_calls ? 2 * graph->cap_calls : 16;
        ec_call **calls = realloc(graph->call, (size_t)capacity * sizeof *calls);
        if (calls) {
            graph->call = calls;
            graph->cap_calls = capacity;
        } else {
            status = no_memory();
        }
    }
    if (status != EC_OK) {
        if (c)
            call_destroy(c);
        else if (config && def->config_destroy)
            def->config_destroy(config);
        return status;
    }
    c->n_in = n_in;
    c->index = graph->n_calls;
    graph->call[graph->n_calls++] = c;
    *call = c;
    return EC_OK;
}

int ec_graph_vjp_call(ec_graph *graph, ec_call *primal, int32_t n_in, const ec_expr *in,
                      int32_t n_adjoint, const bool *adjoint, ec_call **call)
{
    bool *copy = malloc((size_t)n_adjoint + 1);
    if (!copy)
        return no_memory();
    memcpy(copy, adjoint, (size_t)n_adjoint);
    int status = ec_graph_call(graph, primal->def, NULL, n_in, in, call);
    if (status != EC_OK) {
        free(copy);
        return status;
    }
    (*call)->mode = EC_MODE_VJP;
    (*call)->primal = primal;
    (*call)->config = primal->config;
    (*call)->adjoint = copy;
    (*call)->n_adjoint = n_adjoint;
    return EC_OK;
}

ec_expr ec_graph_call_output(ec_graph *graph, ec_call *call, const ec_call_output *output)
{
    ec_node n = {.op = EC_OP_CALL_OUTPUT,
                 .dtype = (uint8_t)output->dtype,
                 .axes = (uint8_t)call->axes,
                 .range = output->range,
                 .n_in = call->n_in,
                 .in = call->in,
                 .call = call,
                 .output = call->n_out};
    int status = set_shape(&n, output->rank, output->shape);
    if (status == EC_OK && call->n_out == call->cap_out) {
        int32_t capacity = call->cap_out ? 2 * call->cap_out : 8;
        ec_call_output *out = realloc(call->out, (size_t)capacity * sizeof *out);
        if (out) {
            call->out = out;
            call->cap_out = capacity;
        } else {
            status = no_memory();
        }
    }
    ec_expr e = status == EC_OK ? add_node(graph, &n) : status;
    if (e < 0) {
        if (output->spec && call->mode == EC_MODE_RUN && call->def->spec_destroy)
            call->def->spec_destroy(output->spec);
        return e;
    }
    call->out[call->n_out++] = *output;
    return e;
}

/* ---- what an output needs ---------------------------------------------------------------------- */

void ec_graph_reach(const ec_graph *graph, int32_t n_outputs, const ec_expr *outputs, bool *needed)
{
    memset(needed, 0, (size_t)graph->count * sizeof *needed);
    for (int32_t i = 0; i < n_outputs; i++)
        if (outputs[i] >= 0)
            needed[outputs[i]] = true;
    for (int32_t e = graph->count; e-- > 0;)
        if (needed[e])
            for (int32_t i = 0; i < graph->node[e]->n_in; i++)
                needed[graph->node[e]->in[i]] = true;
}

/* Rebuilds node n with other inputs. */
static ec_expr rebuild(ec_graph *graph, const ec_node *n, const ec_expr *in)
{
    ec_node copy = *n;
    copy.in = in;
    if (n->op != EC_OP_CALL_OUTPUT && n->op < EC_OP_CONSTANT)
        return ec_graph_op(graph, n->op, n->n_in, in, 4, n->par);
    copy.axes = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        copy.axes = (uint8_t)join_axes(copy.axes, graph->node[in[i]]->axes);
    return add_node(graph, &copy);
}

int ec_graph_substitute(ec_graph *graph, int32_t n, const ec_expr *from, const ec_expr *to,
                        int32_t n_outputs, const ec_expr *outputs, ec_expr *copies)
{
    int32_t count = graph->count;
    bool *needed = malloc((size_t)count * sizeof *needed);
    ec_expr *map = malloc((size_t)count * sizeof *map);
    int status = needed && map ? EC_OK : (int)no_memory();
    if (status == EC_OK)
        ec_graph_reach(graph, n_outputs, outputs, needed);
    for (int32_t e = 0; status == EC_OK && e < count; e++) {
        map[e] = e;
        if (!needed[e])
            continue;
        const ec_node *node = graph->node[e];
        int32_t k = 0;
        for (; k < n && from[k] != e; k++) {
        }
        if (k < n) {
            map[e] = to[k];
            continue;
        }
        bool changed = false;
        ec_expr *in = malloc((size_t)(node->n_in ? node->n_in : 1) * sizeof *in);
        for (int32_t i = 0; in && i < node->n_in; i++) {
            in[i] = map[node->in[i]];
            changed |= in[i] != node->in[i];
        }
        if (!in) {
            status = no_memory();
        } else if (changed && node->op == EC_OP_CALL_OUTPUT) {
            status =
                ec_fail(EC_ERR_UNSUPPORTED, "a substitution cannot reach through the evaluator %s",
                        node->call->def->name);
        } else if (changed) {
            map[e] = rebuild(graph, node, in);
            if (map[e] < 0)
                status = map[e];
        }
        free(in);
    }
    for (int32_t i = 0; status == EC_OK && i < n_outputs; i++)
        copies[i] = map[outputs[i]];
    free(needed);
    free(map);
    return status;
}

/* ---- one sample -------------------------------------------------------------------------------- */

/* The output of a call with other inputs; copies[call] is the call that was copied already. */
static ec_expr copy_output(ec_graph *graph, const ec_node *n, const ec_expr *in, ec_call **copies)
{
    ec_call *call = n->call, **copy = &copies[call->index];
    if (call->mode != EC_MODE_RUN)
        return ec_fail(EC_ERR_UNSUPPORTED, "an adjoint of %s cannot be copied", call->def->name);
    if (!*copy) {
        int status = ec_graph_call(graph, call->def, NULL, n->n_in, in, copy);
        if (status != EC_OK)
            return status;
        (*copy)->config = call->config;
    }
    ec_call_output output = call->out[n->output];
    output.spec = NULL; /* a failure would take it */
    ec_expr e = ec_graph_call_output(graph, *copy, &output);
    if (e < 0)
        return e;
    (*copy)->out[(*copy)->n_borrowed++].spec = call->out[n->output].spec;
    return e;
}

static ec_expr sample_constant(ec_graph *graph, const ec_node *n, int32_t sample)
{
    return ec_graph_constant(graph, n->rank, n->shape,
                             n->data + (size_t)sample * (size_t)n->elements);
}

int ec_graph_at_sample(ec_graph *graph, int32_t sample, int32_t n_outputs, const ec_expr *outputs,
                       ec_expr *copies)
{
    int32_t count = graph->count;
    bool *needed = calloc((size_t)count + 1, sizeof *needed);
    ec_expr *map = malloc(((size_t)count + 1) * sizeof *map);
    ec_call **calls = calloc((size_t)graph->n_calls + 1, sizeof *calls);
    ec_expr *in = NULL;
    int status = needed && map && calls ? EC_OK : (int)no_memory();
    if (status == EC_OK && (sample < 0 || sample >= graph->samples))
        status = ec_fail(EC_ERR_RANGE, "sample %d of %d", sample, graph->samples);
    for (int32_t i = 0; i < n_outputs && status == EC_OK; i++)
        needed[outputs[i]] = true;
    /* what does not vary over samples stays as it is, whatever it is made of */
    for (int32_t e = count; e-- > 0 && status == EC_OK;) {
        const ec_node *n = graph->node[e];
        map[e] = e;
        for (int32_t i = 0; needed[e] && n->axes & EC_AXIS_SAMPLE && i < n->n_in; i++)
            needed[n->in[i]] = true;
    }
    for (int32_t e = 0; e < count && status == EC_OK; e++) {
        const ec_node *n = graph->node[e];
        if (!needed[e] || !(n->axes & EC_AXIS_SAMPLE))
            continue;
        ec_expr *more = realloc(in, ((size_t)n->n_in + 1) * sizeof *in);
        if (!more) {
            status = no_memory();
            break;
        }
        in = more;
        for (int32_t i = 0; i < n->n_in; i++)
            in[i] = map[n->in[i]];
        map[e] = n->op == EC_OP_SAMPLES       ? sample_constant(graph, n, sample)
                 : n->op == EC_OP_CALL_OUTPUT ? copy_output(graph, n, in, calls)
                                              : rebuild(graph, n, in);
        status = map[e] < 0 ? map[e] : EC_OK;
    }
    for (int32_t i = 0; i < n_outputs && status == EC_OK; i++)
        copies[i] = map[outputs[i]];
    free(needed);
    free(map);
    free(calls);
    free(in);
    return status;
}
