/* graph.h: the expression graph. Lua arithmetic on design variables and evaluator calls record
 * nodes; the graph is checked as it is built (shapes, types, ranges) and evaluated by an executor
 * (executor.h) for whole populations.
 *
 * An expression is an index into the graph's nodes (ec_expr >= 0). Builders return it, or a
 * negative status with a sentence in ec_error_text. A node's inputs have smaller indices, so the
 * order of nodes is an order of evaluation. Equal nodes are shared (hash consing).
 *
 * Values: tensors of rank 0 to 4. Arithmetic is float64 (complex128 for complex values); float32,
 * complex64 and int32 occur only as evaluator outputs and are widened when read. Axes: {group,
 * candidate, sample}; a node lives on the union of its inputs' axes. Element-wise operations take
 * equal shapes, or a scalar with any shape. Every node has an interval that contains its values
 * for all designs inside the variables' bounds (of the real part's and imaginary part's magnitude
 * for complex values).
 *
 * Truth values are 1.0 and 0.0. The gradient (ec_graph_gradient) is built from nodes again, so it
 * runs on every backend like any other expression.
 */
#ifndef EC_GRAPH_H
#define EC_GRAPH_H

#include "array.h"

EC_C_BEGIN

typedef struct ec_graph ec_graph;
typedef int32_t ec_expr;
typedef struct ec_call ec_call;

/* clang-format off */
/* Element-wise: op, Lua name, inputs. */
#define EC_ELEMENTWISE_LIST(X)                                                                     \
    X(NEG, "neg", 1) X(ABS, "abs", 1) X(SIGN, "sign", 1) X(FLOOR, "floor", 1) X(CEIL, "ceil", 1)   \
    X(ROUND, "round", 1) X(SQRT, "sqrt", 1) X(SQUARE, "square", 1) X(EXP, "exp", 1)                \
    X(LOG, "log", 1) X(LOG10, "log10", 1) X(SIN, "sin", 1) X(COS, "cos", 1) X(TAN, "tan", 1)       \
    X(ASIN, "asin", 1) X(ACOS, "acos", 1) X(ATAN, "atan", 1) X(SINH, "sinh", 1)                    \
    X(COSH, "cosh", 1) X(TANH, "tanh", 1) X(NOT, "not_", 1) X(RE, "re", 1) X(IM, "im", 1)          \
    X(ABS2, "abs2", 1) X(ARG, "arg", 1) X(CONJ, "conj", 1) X(ADD, "add", 2) X(SUB, "sub", 2)       \
    X(MUL, "mul", 2) X(DIV, "div", 2) X(POW, "pow", 2) X(ATAN2, "atan2", 2) X(MIN, "min", 2)       \
    X(MAX, "max", 2) X(LT, "lt", 2) X(LE, "le", 2) X(EQ, "eq", 2) X(AND, "and_", 2)                \
    X(OR, "or_", 2) X(COMPLEX, "complex", 2) X(WHERE, "where", 3) X(CLAMP, "clamp", 3)

/* Others: op, Lua name, inputs (-1: any number), number parameters.
 *   sum mean norm rmin rmax argmin argmax: over all elements, or with parameter axis = 1 over the last
 *     axis only. norm is the 2-norm. argmin/argmax give the first index (0-based, as f64); NaN loses.
 *   kth_largest(k): k = 1 is the largest. soft_max(sharpness): log(sum exp(s x)) / s, stable.
 *   local_maxima(circular, fill): x where x is strictly above both neighbours, fill elsewhere; at the ends
 *     of a plain row one neighbour counts.
 *   walk_min(x, start; direction, circular, limit): steps from index start to the first strict local minimum.
 *   crossing(x, level, start; direction, circular): interpolated number of steps from index start to where
 *     x first falls below level; NaN if it does not.
 *   sort: ascending; ties keep order. argsort: its permutation. cumsum: inclusive.
 *   take(x, index): element at a computed index (rounded, clamped). interp(x, position): linear between elements.
 *   concat: along the first axis. matvec(x; constant matrix [m,n] in data): M x. matmul(a, b): [m,k] x [k,n].
 *   distinct(x): k codes, code i in [0, n - i), to k distinct indices below n (n a parameter).
 *   top_k(x; k): 1 for the k largest elements, 0 elsewhere (ties: lower index first).
 *   unsort(g, perm): r[perm[i]] = g[i] (the adjoint of sort). spread: copies to more axes (internal).
 *   sample_*: reductions over the sample axis, element by element; percentile's first
 *     parameter is 0..100, linear between order statistics; its second one takes one of these instead:
 *     ec_percentile. */
#define EC_STRUCTURAL_LIST(X)                                                                      \
    X(SUM, "sum", 1, 1) X(MEAN, "mean", 1, 1) X(NORM, "norm", 1, 1) X(RMIN, "rmin", 1, 1)          \
    X(RMAX, "rmax", 1, 1) X(ARGMIN, "argmin", 1, 1) X(ARGMAX, "argmax", 1, 1)                      \
    X(KTH_LARGEST, "kth_largest", 1, 1) X(SOFT_MAX, "soft_max", 1, 1)                              \
    X(LOCAL_MAXIMA, "local_maxima", 1, 2) X(WALK_MIN, "walk_min", 2, 3)                            \
    X(CROSSING, "crossing", 3, 2) X(SORT, "sort", 1, 0) X(ARGSORT, "argsort", 1, 0)                \
    X(CUMSUM, "cumsum", 1, 0) X(TAKE, "take", 2, 0) X(INTERP, "interp", 2, 0)                      \
    X(CONCAT, "concat", -1, 0) X(MATMUL, "matmul", 2, 0) X(DISTINCT, "distinct", 1, 1)             \
    X(TOP_K, "top_k", 1, 1) X(UNSORT, "unsort", 2, 0) X(SPREAD, "spread", 1, 0)                    \
    X(SAMPLE_MEAN, "sample_mean", 1, 0) X(SAMPLE_MIN, "sample_min", 1, 0)                          \
    X(SAMPLE_MAX, "sample_max", 1, 0) X(SAMPLE_SUM, "sample_sum", 1, 0)                            \
    X(SAMPLE_PERCENTILE, "sample_percentile", 1, 2)
/* clang-format on */

/* A percentile p of n samples: at p/100 (n - 1) between order statistics (from 0), the one below that
 * place, the one above it, or the smallest value that at least p % of the samples do not exceed. */
enum { EC_PERCENTILE_LINEAR, EC_PERCENTILE_BELOW, EC_PERCENTILE_ABOVE, EC_PERCENTILE_QUANTILE };

typedef enum ec_op {
#define EC_OP_ENUM(name, lua, inputs) EC_OP_##name,
    EC_ELEMENTWISE_LIST(EC_OP_ENUM)
#undef EC_OP_ENUM
        EC_OP_ELEMENTWISE_END,
#define EC_OP_ENUM(name, lua, inputs, params) EC_OP_##name,
    EC_STRUCTURAL_LIST(EC_OP_ENUM)
#undef EC_OP_ENUM
    /* Built by functions of their own. */
    EC_OP_CONSTANT,
    EC_OP_VARIABLE,
    EC_OP_SAMPLES,
    EC_OP_SLICE,
    EC_OP_RESHAPE,
    EC_OP_GATHER,
    EC_OP_GATHER_SUM,
    EC_OP_MATVEC,
    EC_OP_DECLARE,
    EC_OP_CALL_OUTPUT,
    EC_OP_COUNT
} ec_op;

/* What a node is; valid until the graph is destroyed. */
typedef struct ec_node {
    ec_op op;
    uint8_t dtype, axes, rank;
    int32_t shape[EC_RANK_MAX];
    int32_t elements;
    int32_t n_in;
    const ec_expr *in;
    double par[4];
    const double *data;   /* constants, matrices: f64 (complex constants: re, im pairs); variables
                             whose elements have bounds of their own: each min, then each max;
                             samples: those of the search, then those of final fidelity, which begin
                             at par[3] (0: they are the same) */
    const int32_t *index; /* gather: element indices; gather_sum: row offsets, then indices */
    ec_interval range;
    ec_call *call;  /* EC_OP_CALL_OUTPUT */
    int32_t output; /* its output's number */
    int32_t line;   /* script line that made it, 0 if unknown */
} ec_node;

EC_API int ec_graph_create(ec_graph **graph);
EC_API void ec_graph_destroy(ec_graph **graph);
EC_API int32_t ec_graph_count(const ec_graph *graph);
EC_API const ec_node *ec_graph_node(const ec_graph *graph, ec_expr expr);
/* Script line that following nodes are attributed to. */
EC_API void ec_graph_set_line(ec_graph *graph, int32_t line);
/* Op by Lua name, -1 if unknown; name, number of inputs (-1 any) and of parameters of an op. */
EC_API int ec_op_find(const char *lua_name);
EC_API const char *ec_op_name(ec_op op);
EC_API int ec_op_inputs(ec_op op);
EC_API int ec_op_params(ec_op op);

/* Leaves. A scalar has rank 0. Constants must be finite (NaN and infinities are an error). */
EC_API ec_expr ec_graph_number(ec_graph *graph, double value);
EC_API ec_expr ec_graph_constant(ec_graph *graph, int rank, const int32_t *shape,
                                 const double *data);
EC_API ec_expr ec_graph_constant_complex(ec_graph *graph, int rank, const int32_t *shape,
                                         const ec_c128 *data);
/* Genes [first, first + count) of the candidates (or of the groups), with their bounds; count = 0
 * makes a scalar of one gene. */
EC_API ec_expr ec_graph_variable(ec_graph *graph, bool group, int32_t first, int32_t count,
                                 const double *min, const double *max);
/* The same, of an owner: equal genes of two owners (jobs) are two nodes. ec_graph_variable's have
 * the owner 0, which is nobody. */
EC_API ec_expr ec_graph_owned_variable(ec_graph *graph, int32_t owner, bool group, int32_t first,
                                       int32_t count, const double *min, const double *max);
EC_API int32_t ec_graph_new_owner(ec_graph *graph);    /* > 0, another one each time */
EC_API int32_t ec_node_owner(const ec_node *variable); /* of an EC_OP_VARIABLE */
/* A constant on the sample axis: data is [samples][elements]. All of a graph's sample axes have
 * the same length. */
EC_API ec_expr ec_graph_samples(ec_graph *graph, int32_t samples, int rank, const int32_t *shape,
                                const double *data);
/* The same with other samples at final fidelity, in another number: final_data is
 * [final_samples][elements]. A design that was tuned to the samples of the search is judged by
 * these. Both numbers are those of all the graph's sample axes. */
EC_API ec_expr ec_graph_draws(ec_graph *graph, int32_t samples, int32_t final_samples, int rank,
                              const int32_t *shape, const double *data, const double *final_data);
/* Length of the sample axis in the search, or at final fidelity; 1 without one. */
EC_API int32_t ec_graph_sample_count(const ec_graph *graph, bool final);
/* Whether the samples of final fidelity are those of the search: as many, and the same numbers. */
EC_API bool ec_graph_samples_repeat(const ec_graph *graph);

/* Any op of the two lists. */
EC_API ec_expr ec_graph_op(ec_graph *graph, ec_op op, int32_t n_in, const ec_expr *in,
                           int32_t n_par, const double *par);
EC_API ec_expr ec_graph_unary(ec_graph *graph, ec_op op, ec_expr a);
EC_API ec_expr ec_graph_binary(ec_graph *graph, ec_op op, ec_expr a, ec_expr b);
EC_API ec_expr ec_graph_where(ec_graph *graph, ec_expr test, ec_expr yes, ec_expr no);
/* Elements [first, first + count) along the first axis, a view; count = 0: element `first`, rank - 1. */
EC_API ec_expr ec_graph_slice(ec_graph *graph, ec_expr a, int32_t first, int32_t count);
EC_API ec_expr ec_graph_reshape(ec_graph *graph, ec_expr a, int rank, const int32_t *shape);
/* r[i] = a[index[i]] over flat elements; index -1 gives 0. */
EC_API ec_expr ec_graph_gather(ec_graph *graph, ec_expr a, int rank, const int32_t *shape,
                               const int32_t *index);
EC_API ec_expr ec_graph_reverse(ec_graph *graph, ec_expr a);
/* {-reverse(a), a} if odd, {reverse(a), a} else; centre: a[0] is the middle and not repeated. */
EC_API ec_expr ec_graph_mirror(ec_graph *graph, ec_expr a, bool odd, bool centre);
/* M a, M constant [m, n]. */
EC_API ec_expr ec_graph_matvec(ec_graph *graph, ec_expr a, int32_t m, const double *matrix);
/* The same value with a narrower range that its maker vouches for. */
EC_API ec_expr ec_graph_declare(ec_graph *graph, ec_expr a, double lo, double hi);

/* The range of each element of a real expression, [elements], where the node's own range is that of
 * all: interval arithmetic element by element, over what is element-wise, gathered, joined or summed;
 * what is not has the node's range in every element. */
EC_API int ec_graph_ranges(const ec_graph *graph, ec_expr expr, ec_interval *each);

/* Gradient of a real scalar with respect to each of `with` (adjoint expressions in grad, same
 * shapes). ERR_NO_GRADIENT names the node that has none. */
EC_API int ec_graph_gradient(ec_graph *graph, ec_expr scalar, int32_t n_with, const ec_expr *with,
                             ec_expr *grad);
/* Vector-Jacobian product: like gradient, with the adjoint `seed` (same shape as y). */
EC_API int ec_graph_vjp(ec_graph *graph, ec_expr y, ec_expr seed, int32_t n_with,
                        const ec_expr *with, ec_expr *grad);
/* Copies of outputs in which every use of from[i] reads to[i] instead (for the epigraph form). */
EC_API int ec_graph_substitute(ec_graph *graph, int32_t n, const ec_expr *from, const ec_expr *to,
                               int32_t n_outputs, const ec_expr *outputs, ec_expr *copies);
/* Copies of outputs at one sample of the search: constants in place of its samples, evaluators
 * called for it alone. */
EC_API int ec_graph_at_sample(ec_graph *graph, int32_t sample, int32_t n_outputs,
                              const ec_expr *outputs, ec_expr *copies);
/* Marks (bool per node, length ec_graph_count) everything that the outputs need. */
EC_API void ec_graph_reach(const ec_graph *graph, int32_t n_outputs, const ec_expr *outputs,
                           bool *needed);

EC_C_END
#endif
