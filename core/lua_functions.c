/* The functions of the module that build expressions; each is a method of expressions too. */
#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_matrix.h"
#include "lua_values.h"

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

/* Argument `index` of function `name` as a node. */
static ec_expr argument(lua_State *L, int index, const char *name)
{
    char what[80];
    snprintf(what, sizeof what, "ec.%s: value %d", name, index);
    if (lua_isnone(L, index))
        ec_lua_fail(L, "%s is missing", what);
    return ec_lua_expr_get(L, index, what);
}

static double number(lua_State *L, int index, const char *name, const char *meaning)
{
    if (lua_type(L, index) != LUA_TNUMBER)
        ec_lua_fail(L, "ec.%s: %s must be a number, got a %s", name, meaning,
                    luaL_typename(L, index));
    return lua_tonumber(L, index);
}

static int push_op(lua_State *L, ec_op op, int32_t n_in, const ec_expr *in, int32_t n_par,
                   const double *par)
{
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_op(graph_of(L), op, n_in, in, n_par, par));
}

/* Index of a script (from 1) to index of the graph (from 0). */
static ec_expr from_one(lua_State *L, ec_expr index)
{
    ec_graph *graph = graph_of(L);
    return ec_graph_binary(graph, EC_OP_SUB, index, ec_graph_number(graph, 1));
}

static ec_expr to_one(lua_State *L, ec_expr index)
{
    ec_graph *graph = graph_of(L);
    return ec_graph_binary(graph, EC_OP_ADD, index, ec_graph_number(graph, 1));
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* The elements in an order in which the first axis is the last one. */
static ec_expr first_axis_last(lua_State *L, const char *name, ec_expr in)
{
    const ec_node *node = ec_lua_expr_node(L, in);
    int32_t shape[EC_RANK_MAX], rows = node->rank > 0 ? node->shape[0] : 1;
    if (node->rank < 2)
        ec_lua_fail(L, "ec.%s: 'first' wants a value of two axes or more", name);
    int32_t columns = node->elements / rows;
    for (int32_t i = 0; i + 1 < node->rank; i++)
        shape[i] = node->shape[i + 1];
    shape[node->rank - 1] = rows;
    int32_t *index = lua_newuserdatauv(L, (size_t)node->elements * sizeof *index, 0);
    for (int32_t i = 0; i < node->elements; i++)
        index[i] = i % rows * columns + i / rows;
    return ec_graph_gather(graph_of(L), in, node->rank, shape, index);
}

/* A sum over samples is another figure where the final ones are more. */
static void check_sum(lua_State *L, const char *name)
{
    int32_t n = ec_graph_sample_count(graph_of(L), false);
    int32_t others = ec_graph_sample_count(graph_of(L), true);
    if (n != others)
        ec_lua_fail(
            L,
            "ec.%s: over samples of ec.over, which are %d in the search and %d for the final "
            "figures: take the mean",
            name, (int)n, (int)others);
}

/* Over the elements; of a single number that varies over samples (ec.over), over the samples. A list of
 * one is a list. */
static int reduce(lua_State *L, const char *name, ec_op op, ec_op sample_op)
{
    ec_expr in = argument(L, 1, name);
    const ec_node *node = ec_lua_expr_node(L, in);
    double axis = 0;
    if (!lua_isnoneornil(L, 2)) {
        const char *word = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
        bool first = strcmp(word, "first") == 0;
        if (!first && strcmp(word, "last") != 0)
            ec_lua_fail(L, "ec.%s: value 2 may only be the word 'first' or 'last' (over that axis)",
                        name);
        if (first)
            in = first_axis_last(L, name, in);
        axis = 1;
    }
    bool single = node->rank == 0;
    if (single && (node->axes & EC_AXIS_SAMPLE) && sample_op == EC_OP_SAMPLE_SUM)
        check_sum(L, name);
    if (single && (node->axes & EC_AXIS_SAMPLE) && sample_op != EC_OP_COUNT)
        return push_op(L, sample_op, 1, &in, 0, NULL);
    return push_op(L, op, 1, &in, 1, &axis);
}

static int f_sum(lua_State *L)
{
    return reduce(L, "sum", EC_OP_SUM, EC_OP_SAMPLE_SUM);
}

static int f_mean(lua_State *L)
{
    return reduce(L, "mean", EC_OP_MEAN, EC_OP_SAMPLE_MEAN);
}

static int f_norm(lua_State *L)
{
    return reduce(L, "norm", EC_OP_NORM, EC_OP_COUNT);
}

/* ec.min(x): of a list; ec.min(a, b, ...): element by element. */
static int extreme(lua_State *L, const char *name, ec_op list_op, ec_op pair_op, ec_op sample_op)
{
    int n = lua_gettop(L);
    if (n <= 1 || lua_type(L, 2) == LUA_TSTRING)
        return reduce(L, name, list_op, sample_op);
    ec_expr e = argument(L, 1, name);
    ec_lua_mark_line(L);
    for (int i = 2; i <= n; i++) {
        e = ec_graph_binary(graph_of(L), pair_op, e, argument(L, i, name));
        if (e < 0)
            ec_lua_fail_core(L, NULL);
    }
    return ec_lua_expr_push(L, e);
}

static int f_min(lua_State *L)
{
    return extreme(L, "min", EC_OP_RMIN, EC_OP_MIN, EC_OP_SAMPLE_MIN);
}

static int f_max(lua_State *L)
{
    return extreme(L, "max", EC_OP_RMAX, EC_OP_MAX, EC_OP_SAMPLE_MAX);
}

static int arg_extreme(lua_State *L, const char *name, ec_op op)
{
    ec_expr in = argument(L, 1, name);
    double axis = 0;
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, to_one(L, ec_graph_op(graph_of(L), op, 1, &in, 1, &axis)));
}

static int f_argmin(lua_State *L)
{
    return arg_extreme(L, "argmin", EC_OP_ARGMIN);
}

static int f_argmax(lua_State *L)
{
    return arg_extreme(L, "argmax", EC_OP_ARGMAX);
}

static int with_number(lua_State *L, const char *name, ec_op op, const char *meaning)
{
    ec_expr in = argument(L, 1, name);
    double par = number(L, 2, name, meaning);
    return push_op(L, op, 1, &in, 1, &par);
}

static int f_kth_largest(lua_State *L)
{
    return with_number(L, "kth_largest", EC_OP_KTH_LARGEST, "k");
}

static int f_soft_max(lua_State *L)
{
    return with_number(L, "soft_max", EC_OP_SOFT_MAX, "the sharpness");
}

static int f_top_k(lua_State *L)
{
    return with_number(L, "top_k", EC_OP_TOP_K, "k");
}

static int sample_reduce(lua_State *L, const char *name, ec_op op)
{
    ec_expr in = argument(L, 1, name);
    return push_op(L, op, 1, &in, 0, NULL);
}

static int f_sample_mean(lua_State *L)
{
    return sample_reduce(L, "sample_mean", EC_OP_SAMPLE_MEAN);
}

static int f_sample_min(lua_State *L)
{
    return sample_reduce(L, "sample_min", EC_OP_SAMPLE_MIN);
}

static int f_sample_max(lua_State *L)
{
    return sample_reduce(L, "sample_max", EC_OP_SAMPLE_MAX);
}

static int f_sample_sum(lua_State *L)
{
    check_sum(L, "sample_sum");
    return sample_reduce(L, "sample_sum", EC_OP_SAMPLE_SUM);
}

/* Over the elements, linear between order statistics as over samples. */
static int element_percentile(lua_State *L, const char *name)
{
    ec_graph *graph = graph_of(L);
    ec_expr in = argument(L, 1, name);
    double p = number(L, 2, name, "the percentile");
    if (!(p >= 0 && p <= 100))
        ec_lua_fail(L, "ec.%s: the percentile is %.14g, allowed are 0 to 100", name, p);
    int32_t n = ec_lua_expr_node(L, in)->elements;
    ec_lua_mark_line(L);
    ec_expr sorted = ec_graph_unary(graph, EC_OP_SORT, ec_graph_reshape(graph, in, 1, &n));
    return ec_lua_expr_push(
        L, ec_graph_binary(graph, EC_OP_INTERP, sorted, ec_graph_number(graph, p / 100 * (n - 1))));
}

static int f_element_percentile(lua_State *L)
{
    return element_percentile(L, "element_percentile");
}

static int f_sample_percentile(lua_State *L)
{
    return with_number(L, "sample_percentile", EC_OP_SAMPLE_PERCENTILE, "the percentile");
}

/* Over the samples; of a list that does not vary over samples, over its elements. */
static int f_percentile(lua_State *L)
{
    const ec_node *node = ec_lua_expr_node(L, argument(L, 1, "percentile"));
    if (node->axes & EC_AXIS_SAMPLE || node->elements == 1)
        return with_number(L, "percentile", EC_OP_SAMPLE_PERCENTILE, "the percentile");
    return element_percentile(L, "percentile");
}

static int f_sample_std(lua_State *L)
{
    ec_graph *graph = graph_of(L);
    ec_expr x = argument(L, 1, "sample_std");
    ec_lua_mark_line(L);
    ec_expr mean = ec_graph_unary(graph, EC_OP_SAMPLE_MEAN, x);
    ec_expr off = ec_graph_binary(graph, EC_OP_SUB, x, mean);
    ec_expr square = ec_graph_unary(graph, EC_OP_SQUARE, off);
    ec_expr variance = ec_graph_unary(graph, EC_OP_SAMPLE_MEAN, square);
    return ec_lua_expr_push(L, ec_graph_unary(graph, EC_OP_SQRT, variance));
}

/* The mean beyond a percentile (expected shortfall): the quantile and the mean excess over it, by the
 * share beyond (Rockafellar and Uryasev, "Optimization of conditional value-at-risk", Journal of Risk
 * 2, 2000, eq. 4). Of the lower end by the negative values. */
static int f_tail_mean(lua_State *L)
{
    ec_graph *graph = graph_of(L);
    ec_expr x = argument(L, 1, "tail_mean");
    double p = number(L, 2, "tail_mean", "the percentile");
    if (!(p > 0 && p < 100))
        ec_lua_fail(L, "ec.tail_mean: the percentile is %.14g, allowed is between 0 and 100", p);
    bool low = p < 50;
    double par[2] = {low ? 100 - p : p, EC_PERCENTILE_QUANTILE};
    ec_lua_mark_line(L);
    x = low ? ec_graph_unary(graph, EC_OP_NEG, x) : x;
    ec_expr quantile = x < 0 ? x : ec_graph_op(graph, EC_OP_SAMPLE_PERCENTILE, 1, &x, 2, par);
    ec_expr excess =
        ec_graph_binary(graph, EC_OP_MAX, ec_graph_binary(graph, EC_OP_SUB, x, quantile),
                        ec_graph_number(graph, 0));
    ec_expr mean =
        ec_graph_binary(graph, EC_OP_DIV, ec_graph_unary(graph, EC_OP_SAMPLE_MEAN, excess),
                        ec_graph_number(graph, 1 - par[0] / 100));
    ec_expr tail = ec_graph_binary(graph, EC_OP_ADD, quantile, mean);
    return ec_lua_expr_push(L, low ? ec_graph_unary(graph, EC_OP_NEG, tail) : tail);
}

typedef struct yield_options {
    double min, max;
} yield_options;

static const ec_key yield_keys[] = {{"min", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
                                     "least value that is good", offsetof(yield_options, min)},
                                    {"max", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
                                     "largest value that is good", offsetof(yield_options, max)}};

const ec_noun ec_noun_yield = {
    "x:yield", "x:yield{ max = -20 }",
    "The share of samples, from 0 to 1, that keep a limit: the probability that a built design is "
    "good. Of a list all elements have to keep it. It has steps, so it has no gradient of use: "
    "minimize a percentile instead.",
    EC_KEYS(yield_keys)};

static int f_yield(lua_State *L)
{
    ec_graph *graph = graph_of(L);
    ec_expr x = argument(L, 1, "yield"), good = -1;
    yield_options options;
    double all = 0;
    ec_lua_keys_parse(L, 2, &ec_noun_yield, &options, NULL);
    if (isnan(options.min) && isnan(options.max))
        ec_lua_fail(L, "x:yield: give min, max or both");
    ec_lua_mark_line(L);
    if (!isnan(options.max))
        good = ec_graph_binary(graph, EC_OP_LE, x, ec_graph_number(graph, options.max));
    if (!isnan(options.min)) {
        ec_expr above = ec_graph_binary(graph, EC_OP_LE, ec_graph_number(graph, options.min), x);
        good = isnan(options.max) ? above : ec_graph_binary(graph, EC_OP_AND, good, above);
    }
    const ec_node *node = ec_graph_node(graph, good);
    if (node && node->rank > 0)
        good = ec_graph_op(graph, EC_OP_RMIN, 1, &good, 1, &all);
    return ec_lua_expr_push(L, ec_graph_unary(graph, EC_OP_SAMPLE_MEAN, good));
}

/* ---- peaks and crossings --------------------------------------------------------------------- */

typedef struct row_options {
    bool circular;
    double fill;
    int64_t direction, limit;
} row_options;

static const ec_key row_keys[] = {
    {"circular", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL, "the last element is followed by the first",
     offsetof(row_options, circular)},
    {"fill", EC_KEY_NUMBER, 0, -1e300, -INFINITY, INFINITY, NULL, NULL,
     "local_maxima: what stands where there is no maximum", offsetof(row_options, fill)},
    {"direction", EC_KEY_INTEGER, 0, 1, -1, 1, NULL, NULL, "walk_min, crossing: 1 or -1",
     offsetof(row_options, direction)},
    {"limit", EC_KEY_INTEGER, 0, NAN, 1, 1e8, NULL, NULL,
     "walk_min: most steps (default: the number of elements)", offsetof(row_options, limit)}};

const ec_noun ec_noun_row = {
    "ec.local_maxima, ec.walk_min, ec.crossing: options", "ec.local_maxima(x, { circular = true })",
    "How a list is read by the functions that look for peaks and crossings.", EC_KEYS(row_keys)};

static int f_local_maxima(lua_State *L)
{
    row_options o;
    ec_expr in = argument(L, 1, "local_maxima");
    ec_lua_keys_parse(L, 2, &ec_noun_row, &o, NULL);
    return push_op(L, EC_OP_LOCAL_MAXIMA, 1, &in, 2, (double[]){o.circular, o.fill});
}

static int f_walk_min(lua_State *L)
{
    row_options o;
    ec_expr in[2] = {argument(L, 1, "walk_min"), argument(L, 2, "walk_min")};
    ec_lua_keys_parse(L, 3, &ec_noun_row, &o, NULL);
    in[1] = from_one(L, in[1]);
    double limit = o.limit > 0 ? (double)o.limit : (double)ec_lua_expr_node(L, in[0])->elements;
    return push_op(L, EC_OP_WALK_MIN, 2, in, 3, (double[]){(double)o.direction, o.circular, limit});
}

static int f_crossing(lua_State *L)
{
    row_options o;
    ec_expr in[3];
    for (int i = 0; i < 3; i++)
        in[i] = argument(L, i + 1, "crossing");
    ec_lua_keys_parse(L, 4, &ec_noun_row, &o, NULL);
    in[2] = from_one(L, in[2]);
    return push_op(L, EC_OP_CROSSING, 3, in, 2, (double[]){(double)o.direction, o.circular});
}

/* ---- order, elements, joining ---------------------------------------------------------------- */

static int f_sort(lua_State *L)
{
    return sample_reduce(L, "sort", EC_OP_SORT);
}

static int f_cumsum(lua_State *L)
{
    return sample_reduce(L, "cumsum", EC_OP_CUMSUM);
}

static int f_argsort(lua_State *L)
{
    ec_expr in = argument(L, 1, "argsort");
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, to_one(L, ec_graph_unary(graph_of(L), EC_OP_ARGSORT, in)));
}

static int at_index(lua_State *L, const char *name, ec_op op)
{
    ec_expr in[2] = {argument(L, 1, name), argument(L, 2, name)};
    in[1] = from_one(L, in[1]);
    return push_op(L, op, 2, in, 0, NULL);
}

static int f_at(lua_State *L)
{
    return at_index(L, "at", EC_OP_TAKE);
}

static int f_interp(lua_State *L)
{
    return at_index(L, "interp", EC_OP_INTERP);
}

/* ec.gather(x, {3, 1, 1}): constant indices; with an expression as the index it is ec.at. */
static int f_gather(lua_State *L)
{
    if (luaL_testudata(L, 2, EC_LUA_EXPR))
        return at_index(L, "gather", EC_OP_TAKE);
    ec_expr in = argument(L, 1, "gather");
    ec_lua_list list;
    ec_lua_list_get(L, 2, "ec.gather: the list of indices", &list);
    int32_t *index = lua_newuserdatauv(L, (size_t)list.n * sizeof *index, 0);
    int32_t n = ec_lua_expr_node(L, in)->elements;
    for (int32_t i = 0; i < list.n; i++) {
        if (!(list.v[i] >= 1 && list.v[i] <= n && list.v[i] == floor(list.v[i])))
            ec_lua_fail(
                L, "ec.gather: index %.14g is not allowed, it must be a whole number from 1 to %d",
                list.v[i], (int)n);
        index[i] = (int32_t)list.v[i] - 1;
    }
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_gather(graph_of(L), in, 1, &list.n, index));
}

static int f_slice(lua_State *L)
{
    ec_expr in = argument(L, 1, "slice");
    const ec_node *node = ec_lua_expr_node(L, in);
    if (node->rank == 0)
        ec_lua_fail(L, "ec.slice: a single number is no list");
    double first = number(L, 2, "slice", "the first index");
    double last = lua_isnoneornil(L, 3) ? node->shape[0] : number(L, 3, "slice", "the last index");
    if (!(first >= 1 && last <= node->shape[0] && first <= last && first == floor(first) &&
          last == floor(last)))
        ec_lua_fail(L, "ec.slice: elements %.14g to %.14g are asked for, allowed are 1 to %d",
                    first, last, (int)node->shape[0]);
    ec_lua_mark_line(L);
    return ec_lua_expr_push(
        L, ec_graph_slice(graph_of(L), in, (int32_t)first - 1, (int32_t)(last - first) + 1));
}

static int f_concat(lua_State *L)
{
    int n = lua_gettop(L);
    if (n < 1)
        ec_lua_fail(L, "ec.concat: nothing to join");
    ec_expr *in = lua_newuserdatauv(L, (size_t)n * sizeof *in, 0);
    for (int i = 0; i < n; i++)
        in[i] = argument(L, i + 1, "concat");
    return push_op(L, EC_OP_CONCAT, n, in, 0, NULL);
}

static int f_reverse(lua_State *L)
{
    ec_expr in = argument(L, 1, "reverse");
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_reverse(graph_of(L), in));
}

typedef struct mirror_options {
    bool odd, centre;
} mirror_options;

static const ec_key mirror_keys[] = {
    {"odd", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "the mirrored half changes its sign: positions, not weights", offsetof(mirror_options, odd)},
    {"centre", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "the first element is the middle one and is not repeated", offsetof(mirror_options, centre)}};

const ec_noun ec_noun_mirror = {"ec.mirror: options", "ec.mirror(x, { odd = true })",
                                "How ec.mirror(x) completes the half x, from the middle outwards.",
                                EC_KEYS(mirror_keys)};

static int f_mirror(lua_State *L)
{
    mirror_options o;
    ec_expr in = argument(L, 1, "mirror");
    ec_lua_keys_parse(L, 2, &ec_noun_mirror, &o, NULL);
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_mirror(graph_of(L), in, o.odd, o.centre));
}

static int f_constant(lua_State *L)
{
    return ec_lua_expr_push(L, argument(L, 1, "constant"));
}

static int f_reshape(lua_State *L)
{
    ec_expr in = argument(L, 1, "reshape");
    int32_t shape[EC_RANK_MAX];
    int rank = lua_gettop(L) - 1;
    if (rank > EC_RANK_MAX)
        ec_lua_fail(L, "ec.reshape: at most %d sizes are allowed", EC_RANK_MAX);
    for (int i = 0; i < rank; i++) {
        double n = number(L, i + 2, "reshape", "a size");
        if (!(n >= 1 && n <= 1 << 28 && n == floor(n)))
            ec_lua_fail(L, "ec.reshape: size %.14g is not a whole number above 0", n);
        shape[i] = (int32_t)n;
    }
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_reshape(graph_of(L), in, rank, shape));
}

/* ec.matvec(M, x): M is a constant matrix (a list of rows). */
static int f_matvec(lua_State *L)
{
    ec_expr m = argument(L, 1, "matvec"), x = argument(L, 2, "matvec");
    const ec_node *matrix = ec_lua_expr_node(L, m), *vector = ec_lua_expr_node(L, x);
    if (matrix->op != EC_OP_CONSTANT || matrix->rank != 2 || matrix->dtype != EC_F64)
        ec_lua_fail(L, "ec.matvec: the first value must be a constant matrix: a list of rows, "
                       "{{1, 2}, {3, 4}}");
    if (vector->elements != matrix->shape[1])
        ec_lua_fail(L, "ec.matvec: a matrix with %d columns does not fit a list of %d",
                    (int)matrix->shape[1], (int)vector->elements);
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_matvec(graph_of(L), x, matrix->shape[0], matrix->data));
}

static int f_matmul(lua_State *L)
{
    ec_expr in[2] = {argument(L, 1, "matmul"), argument(L, 2, "matmul")};
    return push_op(L, EC_OP_MATMUL, 2, in, 0, NULL);
}

/* ---- comparisons that read better the other way round ---------------------------------------- */

static int swapped(lua_State *L, const char *name, ec_op op)
{
    ec_expr in[2] = {argument(L, 2, name), argument(L, 1, name)};
    return push_op(L, op, 2, in, 0, NULL);
}

static int f_gt(lua_State *L)
{
    return swapped(L, "gt", EC_OP_LT);
}

static int f_ge(lua_State *L)
{
    return swapped(L, "ge", EC_OP_LE);
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Smallest difference of neighbours of the sorted list. */
static int f_min_gap(lua_State *L)
{
    ec_graph *graph = graph_of(L);
    ec_expr in = argument(L, 1, "min_gap");
    int32_t n = ec_lua_expr_node(L, in)->elements;
    if (n < 2)
        ec_lua_fail(L, "ec.min_gap: at least two positions are needed, got %d", (int)n);
    ec_lua_mark_line(L);
    ec_expr sorted = ec_graph_unary(graph, EC_OP_SORT, in);
    if (sorted < 0)
        ec_lua_fail_core(L, "ec.min_gap");
    ec_expr gaps = ec_graph_binary(graph, EC_OP_SUB, ec_graph_slice(graph, sorted, 1, n - 1),
                                   ec_graph_slice(graph, sorted, 0, n - 1));
    /* sorted: no gap is below 0, which intervals alone do not see */
    if (gaps >= 0)
        gaps = ec_graph_declare(graph, gaps, 0, fmax(ec_lua_expr_node(L, gaps)->range.hi, 0));
    return ec_lua_expr_push(L, ec_graph_unary(graph, EC_OP_RMIN, gaps));
}

typedef struct points {
    ec_expr axis[3];
} points;

static const ec_key point_keys[] = {
    {"x", EC_KEY_EXPR, EC_KEY_REQUIRED, NAN, 0, 0, "m", NULL, "x of each point",
     offsetof(points, axis[0])},
    {"y", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "y of each point", offsetof(points, axis[1])},
    {"z", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "z of each point", offsetof(points, axis[2])}};

const ec_noun ec_noun_min_distance = {"ec.min_distance", "ec.min_distance{ x = x, y = y }",
                                      "Smallest distance of two of the points.",
                                      EC_KEYS(point_keys)};

static int f_min_distance(lua_State *L)
{
    enum { MOST = 1000 };
    ec_graph *graph = graph_of(L);
    points p;
    ec_lua_keys_parse(L, 1, &ec_noun_min_distance, &p, NULL);
    int32_t n = ec_lua_expr_node(L, p.axis[0])->elements;
    if (n < 2 || n > MOST)
        ec_lua_fail(L, "ec.min_distance: from 2 to %d points are allowed, got %d", MOST, (int)n);
    int32_t pairs = n * (n - 1) / 2, k = 0;
    int32_t *first = lua_newuserdatauv(L, 2 * (size_t)pairs * sizeof *first, 0),
            *second = first + pairs;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++, k++) {
            first[k] = i;
            second[k] = j;
        }
    ec_lua_mark_line(L);
    ec_expr sum = -1;
    for (int i = 0; i < 3; i++) {
        if (p.axis[i] < 0)
            continue;
        int32_t length = ec_lua_expr_node(L, p.axis[i])->elements;
        if (length != n)
            ec_lua_fail(L, "ec.min_distance: key '%s': %d values, but x has %d", point_keys[i].key,
                        (int)length, (int)n);
        ec_expr d =
            ec_graph_binary(graph, EC_OP_SUB, ec_graph_gather(graph, p.axis[i], 1, &pairs, first),
                            ec_graph_gather(graph, p.axis[i], 1, &pairs, second));
        d = ec_graph_unary(graph, EC_OP_SQUARE, d);
        sum = sum < 0 ? d : ec_graph_binary(graph, EC_OP_ADD, sum, d);
        if (sum < 0)
            ec_lua_fail_core(L, "ec.min_distance");
    }
    return ec_lua_expr_push(
        L, ec_graph_unary(graph, EC_OP_SQRT, ec_graph_unary(graph, EC_OP_RMIN, sum)));
}

/* ---- the table ------------------------------------------------------------------------------- */

const ec_lua_function ec_lua_functions[] = {
    {"abs", "ec.abs(x)", "magnitude, of complex values too", NULL},
    {"sign", "ec.sign(x)", "-1, 0 or 1", NULL},
    {"floor", "ec.floor(x)", "rounded down", NULL},
    {"ceil", "ec.ceil(x)", "rounded up", NULL},
    {"round", "ec.round(x)", "to the nearest whole number", NULL},
    {"sqrt", "ec.sqrt(x)", "square root", NULL},
    {"square", "ec.square(x)", "x times x", NULL},
    {"exp", "ec.exp(x)", "e to the x, of complex values too", NULL},
    {"log", "ec.log(x)", "natural logarithm", NULL},
    {"log10", "ec.log10(x)", "logarithm to base 10", NULL},
    {"sin", "ec.sin(x)", "sine, x in rad", NULL},
    {"cos", "ec.cos(x)", "cosine, x in rad", NULL},
    {"tan", "ec.tan(x)", "tangent, x in rad", NULL},
    {"asin", "ec.asin(x)", "inverse sine, rad", NULL},
    {"acos", "ec.acos(x)", "inverse cosine, rad", NULL},
    {"atan", "ec.atan(x)", "inverse tangent, rad", NULL},
    {"atan2", "ec.atan2(y, x)", "angle of (x, y), rad", NULL},
    {"sinh", "ec.sinh(x)", "hyperbolic sine", NULL},
    {"cosh", "ec.cosh(x)", "hyperbolic cosine", NULL},
    {"tanh", "ec.tanh(x)", "hyperbolic tangent", NULL},
    {"pow", "ec.pow(x, y)", "x ^ y", NULL},
    {"complex", "ec.complex(re, im)", "a complex value", NULL},
    {"re", "ec.re(x)", "real part", NULL},
    {"im", "ec.im(x)", "imaginary part", NULL},
    {"abs2", "ec.abs2(x)", "squared magnitude", NULL},
    {"arg", "ec.arg(name, default), x:arg()", "phase of a complex value, rad (as a method)", NULL},
    {"conj", "ec.conj(x)", "complex conjugate", NULL},
    {"lt", "ec.lt(a, b)", "1 where a < b, else 0", NULL},
    {"le", "ec.le(a, b)", "1 where a <= b, else 0", NULL},
    {"gt", "ec.gt(a, b)", "1 where a > b, else 0", f_gt},
    {"ge", "ec.ge(a, b)", "1 where a >= b, else 0", f_ge},
    {"eq", "ec.eq(a, b)", "1 where a equals b, else 0", NULL},
    {"and_", "ec.and_(a, b)", "1 where both are not 0", NULL},
    {"or_", "ec.or_(a, b)", "1 where one is not 0", NULL},
    {"not_", "ec.not_(a)", "1 where a is 0", NULL},
    {"where", "ec.where(test, yes, no)", "yes where test is not 0, no elsewhere", NULL},
    {"clamp", "ec.clamp(x, min, max)", "x inside min and max", NULL},
    {"min", "ec.min(x), ec.min(a, b, ...)", "smallest element; element by element of several",
     f_min},
    {"max", "ec.max(x), ec.max(a, b, ...)", "largest element; element by element of several",
     f_max},
    {"sum", "ec.sum(x)",
     "sum of the elements (\"last\" or \"first\": over that axis only, as of mean, min and max)",
     f_sum},
    {"mean", "ec.mean(x)",
     "mean of the elements; x:mean(\"first\"): over the frequencies of [frequency][receiver]",
     f_mean},
    {"norm", "ec.norm(x)", "root of the sum of squares", f_norm},
    {"argmin", "ec.argmin(x)", "index of the smallest element", f_argmin},
    {"argmax", "ec.argmax(x)", "index of the largest element", f_argmax},
    {"kth_largest", "ec.kth_largest(x, k)", "k = 1 is the largest element", f_kth_largest},
    {"soft_max", "ec.soft_max(x, sharpness)", "smooth maximum, log(sum(exp(s x))) / s", f_soft_max},
    {"top_k", "ec.top_k(x, k)", "1 for the k largest elements, 0 elsewhere", f_top_k},
    {"local_maxima", "ec.local_maxima(x, { circular=, fill= })",
     "x where it is strictly above both neighbours, fill elsewhere", f_local_maxima},
    {"walk_min", "ec.walk_min(x, start, { direction=, circular=, limit= })",
     "steps from index start to the first strict local minimum", f_walk_min},
    {"crossing", "ec.crossing(x, level, start, { direction=, circular= })",
     "steps, interpolated, from index start to where x falls below level", f_crossing},
    {"sort", "ec.sort(x)", "ascending", f_sort},
    {"argsort", "ec.argsort(x)", "indices that sort x", f_argsort},
    {"cumsum", "ec.cumsum(x)", "running sum", f_cumsum},
    {"at", "ec.at(x, index)", "element at a computed index (rounded, clamped)", f_at},
    {"gather", "ec.gather(x, {3, 1, 2})", "elements at given indices", f_gather},
    {"interp", "ec.interp(x, position)", "between elements, linear; position counts from 1",
     f_interp},
    {"slice", "x:slice(first, last)", "elements first to last", f_slice},
    {"concat", "ec.concat(a, b, ...)", "one list from several", f_concat},
    {"reverse", "ec.reverse(x)", "last element first", f_reverse},
    {"mirror", "ec.mirror(x, { odd=, centre= })", "mirror image, then x", f_mirror},
    {"reshape", "ec.reshape(x, n, m, ...)", "the same elements in another shape", f_reshape},
    {"constant", "ec.constant({1, 2, 3})", "an expression from a list or a number", f_constant},
    {"matvec", "ec.matvec(M, x)", "product with a constant matrix (a list of rows)", f_matvec},
    {"matmul", "ec.matmul(a, b)", "matrix product", f_matmul},
    {"capacity", "ec.capacity(H, { snr_db = 20 })",
     "of a channel matrix, N_rx x N_tx in the last two axes, in bit/s/Hz", ec_lua_capacity},
    {"singular_values", "ec.singular_values(H)", "largest first, along the last axis",
     ec_lua_singular_values},
    {"condition_number", "ec.condition_number(H)", "largest over smallest singular value",
     ec_lua_condition_number},
    {"condition_db", "ec.condition_db(H)", "the same in dB: 20 log10", ec_lua_condition_db},
    {"degrees_of_freedom", "ec.degrees_of_freedom(H)",
     "effective ones, of the singular values s: (sum s^2)^2 / sum s^4", ec_lua_degrees_of_freedom},
    {"effective_rank", "ec.effective_rank(H)", "exp of the entropy of s / sum s",
     ec_lua_effective_rank},
    {"sinr", "ec.sinr(H, { snr_db = 20 })",
     "of users served by a transmitter each while the others interfere", ec_lua_sinr},
    {"sum_rate", "ec.sum_rate(H, { snr_db = 20 })", "sum of log2(1 + SINR) over the users",
     ec_lua_sum_rate},
    {"min_gap", "ec.min_gap(x)", "smallest distance of positions on a line", f_min_gap},
    {"min_distance", "ec.min_distance{ x=, y=, z= }", "smallest distance of points",
     f_min_distance},
    {"percentile", "x:percentile(p)",
     "over the samples of ec.over, p from 0 to 100, between samples in proportion; of a list that "
     "does not vary over samples, over its elements",
     f_percentile},
    {"element_percentile", "x:element_percentile(p)",
     "over the elements, whether or not they vary over samples of ec.over: of users, for each "
     "sample",
     f_element_percentile},
    {"sample_percentile", "x:sample_percentile(p)",
     "over the samples of ec.over, element by element: for each user", f_sample_percentile},
    {"tail_mean", "x:tail_mean(p)",
     "over the samples of ec.over: the mean of those above percentile p (below it where p < 50): "
     "the "
     "expected shortfall",
     f_tail_mean},
    {"yield", "x:yield{ max = y }", "the share of the samples of ec.over that keep a limit",
     f_yield},
    {"sample_mean", "x:sample_mean()", "over the samples of ec.over", f_sample_mean},
    {"sample_min", "x:sample_min()", "over the samples of ec.over", f_sample_min},
    {"sample_max", "x:sample_max()", "over the samples of ec.over", f_sample_max},
    {"sample_std", "x:sample_std()",
     "standard deviation over the samples of ec.over (divided by n)", f_sample_std},
    {"sample_sum", "x:sample_sum()", "over the samples of ec.over", f_sample_sum},
    {NULL, NULL, NULL, NULL}};
