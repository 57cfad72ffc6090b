/* matrix.c: checks matrices, records calls, plans and runs them. */
#include "matrix.h"

#include "matrix_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(water_filling, ec_water_args)

typedef enum kind { SINGULAR_VALUES, EQUAL_POWER, WATER_FILLING } kind;

/* A call's configuration; it has one output. */
typedef struct setup {
    kind kind;
    int32_t rows, cols;
    int32_t count; /* matrices of a value */
    bool frobenius, single;
    ec_svd_method svd;
} setup;

enum { IN_MATRIX, IN_SNR }; /* of WATER_FILLING the former are singular values */

/* ---- values and shapes ------------------------------------------------------------------------ */

void ec_matrix_config_default(ec_matrix_config *config)
{
    memset(config, 0, sizeof *config);
}

static ec_expr binary(ec_graph *graph, ec_op op, ec_expr a, ec_expr b)
{
    return ec_graph_binary(graph, op, a, b);
}

static ec_expr number(ec_graph *graph, double value)
{
    return ec_graph_number(graph, value);
}

static ec_expr over_last(ec_graph *graph, ec_op op, ec_expr a)
{
    double last = 1;
    return a < 0 ? a : ec_graph_op(graph, op, 1, &a, 1, &last);
}

/* Sizes of H; a negative status where it is no batch of matrices. */
static int shape_of(const ec_graph *graph, ec_expr h, setup *s)
{
    const ec_node *n = ec_graph_node(graph, h);
    if (!n)
        return h < 0 ? h : ec_fail(EC_ERR_ARGUMENT, "H is no expression of this graph");
    if (n->rank < 2)
        return ec_fail(EC_ERR_SHAPE,
                       "H has rank %d: at least 2 is needed, the last two axes are receiving and "
                       "transmitting antennas",
                       n->rank);
    s->rows = n->shape[n->rank - 2];
    s->cols = n->shape[n->rank - 1];
    s->count = n->elements / (s->rows * s->cols);
    if (s->rows > EC_SMALL_MATRIX_MAX || s->cols > EC_SMALL_MATRIX_MAX)
        return ec_fail(EC_ERR_SHAPE, "H is %d x %d: up to %d x %d antennas are allowed", s->rows,
                       s->cols, EC_SMALL_MATRIX_MAX, EC_SMALL_MATRIX_MAX);
    return EC_OK;
}

static bool is_real(const ec_node *n)
{
    return n->dtype != EC_C64 && n->dtype != EC_C128;
}

static int32_t smaller(const setup *s)
{
    return s->rows < s->cols ? s->rows : s->cols;
}

static int check_snr(const ec_graph *graph, const setup *s, ec_expr snr)
{
    const ec_node *n = ec_graph_node(graph, snr);
    if (!n)
        return snr < 0 ? snr : ec_fail(EC_ERR_ARGUMENT, "SNR is no expression of this graph");
    if (!is_real(n) || (n->elements != 1 && n->elements != s->count))
        return ec_fail(EC_ERR_SHAPE,
                       "SNR must be one real number, or one for each of the %d matrices, it has %d "
                       "elements",
                       s->count, n->elements);
    if (n->range.hi < 0)
        return ec_fail(EC_ERR_RANGE, "SNR is below 0: a power ratio is needed, not dB");
    return EC_OK;
}

/* One number for each matrix, spread over `each` elements of it: the same shape with them. */
static ec_expr spread(ec_graph *graph, ec_expr a, int32_t each, const ec_node *like)
{
    int32_t n = like->elements, rank = like->rank, shape[EC_RANK_MAX];
    memcpy(shape, like->shape, sizeof shape);
    int32_t *index = malloc((size_t)n * sizeof *index);
    if (!index)
        return ec_fail(EC_ERR_MEMORY, "no memory for a matrix's scale");
    for (int32_t i = 0; i < n; i++)
        index[i] = i / each;
    ec_expr e = a < 0 ? a : ec_graph_gather(graph, a, rank, shape, index);
    free(index);
    return e;
}

/* SNR of each matrix, in a list. */
static ec_expr each_snr(ec_graph *graph, const setup *s, ec_expr snr)
{
    const ec_node list = {.elements = s->count, .rank = 1, .shape = {s->count}};
    const ec_node *n = ec_graph_node(graph, snr);
    return !n                        ? snr
           : n->elements == s->count ? ec_graph_reshape(graph, snr, 1, list.shape)
                                     : spread(graph, snr, s->count, &list);
}

/* ---- calls ------------------------------------------------------------------------------------ */

static bool same_setup(const setup *a, const setup *b)
{
    return a->kind == b->kind && a->rows == b->rows && a->cols == b->cols && a->count == b->count &&
           a->frobenius == b->frobenius && a->single == b->single && a->svd == b->svd;
}

/* The output of an equal call, so that several metrics share one decomposition; -1 if there is none. */
static ec_expr find_output(const ec_graph *graph, const setup *s, int32_t n_in, const ec_expr *in)
{
    for (ec_expr e = 0; e < ec_graph_count(graph); e++) {
        const ec_node *n = ec_graph_node(graph, e);
        if (n->op == EC_OP_CALL_OUTPUT && n->call->def == &ec_evaluator_matrix &&
            n->call->mode == EC_MODE_RUN && n->n_in == n_in &&
            memcmp(n->in, in, (size_t)n_in * sizeof *in) == 0 && same_setup(n->call->config, s))
            return e;
    }
    return -1;
}

/* The output has the leading axes of `like` less `drop`, then `last` where that is not 0. */
static ec_expr record(ec_graph *graph, const setup *s, int32_t n_in, const ec_expr *in,
                      const char *name, int drop, int32_t last, ec_interval range)
{
    const ec_node *like = ec_graph_node(graph, in[IN_MATRIX]);
    ec_call_output output = {.name = name, .dtype = EC_F64, .range = range};
    output.rank = like->rank - drop;
    memcpy(output.shape, like->shape, sizeof output.shape);
    for (int32_t i = output.rank; i < EC_RANK_MAX; i++)
        output.shape[i] = 0;
    if (last)
        output.shape[output.rank++] = last;
    ec_expr found = find_output(graph, s, n_in, in);
    if (found >= 0)
        return found;
    setup *copy = malloc(sizeof *copy);
    ec_call *call = NULL;
    if (!copy)
        return ec_fail(EC_ERR_MEMORY, "no memory for a call of matrix");
    *copy = *s;
    int status = ec_graph_call(graph, &ec_evaluator_matrix, copy, n_in, in, &call);
    return status < 0 ? status : ec_graph_call_output(graph, call, &output);
}

ec_expr ec_matrix_singular_values(ec_graph *graph, ec_expr h, const ec_matrix_config *config)
{
    setup s = {.kind = SINGULAR_VALUES, .single = config->single, .svd = config->svd};
    int status = shape_of(graph, h, &s);
    if (status < 0)
        return status;
    const ec_node *n = ec_graph_node(graph, h);
    double most = fmax(fabs(n->range.lo), fabs(n->range.hi));
    double parts = is_real(n) ? 1 : 2;
    return record(graph, &s, 1, &h, "singular_values", 2, smaller(&s),
                  (ec_interval){0, most * sqrt(parts * s.rows * s.cols)});
}

/* SNR times the factor that brings all matrices of the value to ||H||_F^2 = N_rx N_tx in the mean. */
static ec_expr mean_snr(ec_graph *graph, const setup *s, ec_expr h, ec_expr snr)
{
    double all = 0;
    ec_expr power = ec_graph_unary(graph, EC_OP_ABS2, h);
    ec_expr sum = power < 0 ? power : ec_graph_op(graph, EC_OP_SUM, 1, &power, 1, &all);
    ec_expr gain = number(graph, (double)s->count * s->rows * s->cols);
    ec_expr scale = binary(graph, EC_OP_DIV, gain, sum);
    return binary(graph, EC_OP_MUL, snr, scale);
}

ec_expr ec_matrix_capacity(ec_graph *graph, ec_expr h, ec_expr snr, const ec_matrix_config *config)
{
    bool frobenius = config->normalize == EC_MATRIX_FROBENIUS;
    setup s = {.kind = EQUAL_POWER, .frobenius = frobenius, .single = config->single};
    int status = shape_of(graph, h, &s);
    if (status >= 0)
        status = check_snr(graph, &s, snr);
    if (status < 0)
        return status;
    if (config->normalize == EC_MATRIX_MEAN)
        snr = mean_snr(graph, &s, h, snr);
    snr = each_snr(graph, &s, snr);
    if (snr < 0)
        return snr;
    /* n equal channels have the most; water-filling gives all power to one at worst */
    double n = smaller(&s), most = INFINITY, power = ec_graph_node(graph, snr)->range.hi;
    if (frobenius && power < INFINITY)
        most = config->power == EC_MATRIX_EQUAL ? n * log2(1 + power * s.rows / n)
                                                : n * log2(1 + power * s.rows * s.cols);
    ec_interval range = {0, most};
    if (config->power == EC_MATRIX_EQUAL) {
        const char *name = frobenius                             ? "capacity (frobenius)"
                           : config->normalize == EC_MATRIX_MEAN ? "capacity (mean)"
                                                                 : "capacity (none)";
        return record(graph, &s, 2, (ec_expr[]){h, snr}, name, 2, 0, range);
    }
    ec_expr values = ec_matrix_singular_values(graph, h, config);
    if (values < 0)
        return values;
    s.kind = WATER_FILLING;
    s.single = false; /* over few numbers */
    return record(graph, &s, 2, (ec_expr[]){values, snr}, "water-filling capacity", 1, 0, range);
}

/* Element k of the last axis, of n. */
static ec_expr take_last(ec_graph *graph, ec_expr a, int32_t n, int32_t k)
{
    const ec_node *node = ec_graph_node(graph, a);
    if (!node)
        return a;
    int32_t count = node->elements / n, rank = node->rank - 1, shape[EC_RANK_MAX];
    memcpy(shape, node->shape, sizeof shape);
    int32_t *index = malloc((size_t)count * sizeof *index);
    if (!index)
        return ec_fail(EC_ERR_MEMORY, "no memory for singular values");
    for (int32_t i = 0; i < count; i++)
        index[i] = i * n + k;
    ec_expr e = ec_graph_gather(graph, a, rank, shape, index);
    free(index);
    return e;
}

ec_expr ec_matrix_condition(ec_graph *graph, ec_expr h, const ec_matrix_config *config)
{
    setup s;
    ec_expr values = ec_matrix_singular_values(graph, h, config);
    if (values < 0)
        return values;
    shape_of(graph, h, &s);
    int32_t n = smaller(&s);
    ec_expr ratio = binary(graph, EC_OP_DIV, take_last(graph, values, n, 0),
                           take_last(graph, values, n, n - 1));
    return ratio < 0 ? ratio : ec_graph_declare(graph, ratio, 1, INFINITY);
}

ec_expr ec_matrix_effective_rank(ec_graph *graph, ec_expr h, const ec_matrix_config *config)
{
    setup s;
    ec_expr values = ec_matrix_singular_values(graph, h, config);
    if (values < 0)
        return values;
    shape_of(graph, h, &s);
    int32_t n = smaller(&s);
    ec_expr sum =
        spread(graph, over_last(graph, EC_OP_SUM, values), n, ec_graph_node(graph, values));
    ec_expr share = binary(graph, EC_OP_DIV, values, sum);
    /* 0 log 0 = 0 */
    ec_expr some = binary(graph, EC_OP_LT, number(graph, 0), share);
    ec_expr safe = ec_graph_where(graph, some, share, number(graph, 1));
    ec_expr part = binary(graph, EC_OP_MUL, safe, ec_graph_unary(graph, EC_OP_LOG, safe));
    ec_expr entropy = ec_graph_unary(graph, EC_OP_NEG, over_last(graph, EC_OP_SUM, part));
    ec_expr rank = ec_graph_unary(graph, EC_OP_EXP, entropy);
    return rank < 0 ? rank : ec_graph_declare(graph, rank, 1, n);
}

ec_expr ec_matrix_degrees_of_freedom(ec_graph *graph, ec_expr h)
{
    setup s;
    ec_matrix_config config;
    ec_matrix_config_default(&config);
    ec_expr values = ec_matrix_singular_values(graph, h, &config);
    if (values < 0)
        return values;
    shape_of(graph, h, &s);
    int32_t n = smaller(&s);
    /* over the largest, so that fourth powers of path gains stay in range */
    ec_expr first = spread(graph, take_last(graph, values, n, 0), n, ec_graph_node(graph, values));
    ec_expr gain = ec_graph_unary(graph, EC_OP_SQUARE, binary(graph, EC_OP_DIV, values, first));
    ec_expr above = ec_graph_unary(graph, EC_OP_SQUARE, over_last(graph, EC_OP_SUM, gain));
    ec_expr below = over_last(graph, EC_OP_SUM, ec_graph_unary(graph, EC_OP_SQUARE, gain));
    ec_expr dof = binary(graph, EC_OP_DIV, above, below);
    return dof < 0 ? dof : ec_graph_declare(graph, dof, 1, n);
}

/* ---- users ------------------------------------------------------------------------------------- */

/* SNR of each matrix with its normalisation, in a list. */
static ec_expr user_snr(ec_graph *graph, const setup *s, ec_expr h, ec_expr snr,
                        ec_matrix_normalize normalize)
{
    int32_t each = s->rows * s->cols, shape[2] = {s->count, each};
    if (normalize == EC_MATRIX_MEAN)
        snr = mean_snr(graph, s, h, snr);
    snr = each_snr(graph, s, snr);
    if (normalize == EC_MATRIX_FROBENIUS) {
        ec_expr power = ec_graph_unary(graph, EC_OP_ABS2, h);
        ec_expr sum = over_last(graph, EC_OP_SUM,
                                power < 0 ? power : ec_graph_reshape(graph, power, 2, shape));
        snr = binary(graph, EC_OP_MUL, snr, binary(graph, EC_OP_DIV, number(graph, each), sum));
    }
    /* nothing but zeros have no scale: finite, so that nothing is received of them */
    return normalize == EC_MATRIX_NONE ? snr : binary(graph, EC_OP_MIN, snr, number(graph, 1e200));
}

/* Each user has a receiver and a transmitter of its own. */
static ec_expr sinr_alone(ec_graph *graph, const setup *s, ec_expr h, ec_expr snr)
{
    const ec_node *n = ec_graph_node(graph, h);
    int32_t users = s->rows, all = s->count * users, at = 0, rank = n->rank, shape[EC_RANK_MAX];
    if (s->rows != s->cols)
        return ec_fail(
            EC_ERR_SHAPE,
            "H is %d x %d: as many users as transmitters are needed, user k is served by "
            "transmitter k (combining = 'mmse' takes others)",
            s->rows, s->cols);
    ec_expr power = binary(graph, EC_OP_MUL, ec_graph_unary(graph, EC_OP_ABS2, h),
                           spread(graph, snr, s->rows * s->cols, n));
    if (power < 0)
        return power;
    int32_t *own = malloc(((size_t)all * (size_t)users + 1) * sizeof *own);
    if (!own)
        return ec_fail(EC_ERR_MEMORY, "no memory for users");
    int32_t *other = own + all;
    for (int32_t row = 0; row < all; row++) {
        own[row] = row * users + row % users;
        for (int32_t j = 0; j < users; j++)
            if (j != row % users)
                other[at++] = row * users + j;
    }
    memcpy(shape, n->shape, sizeof shape);
    ec_expr signal = ec_graph_gather(graph, power, rank - 1, shape, own), noise = number(graph, 1);
    if (users > 1) {
        shape[rank - 1] = users - 1;
        ec_expr rest = ec_graph_gather(graph, power, rank, shape, other);
        noise = binary(graph, EC_OP_ADD, over_last(graph, EC_OP_SUM, rest), noise);
    }
    free(own);
    return binary(graph, EC_OP_DIV, signal, noise);
}

/* Each matrix of [count][rows][users] without each of its columns, [count users][rows][users - 1];
 * users > 1. */
static ec_expr without_each(ec_graph *graph, const setup *s, ec_expr list)
{
    int32_t users = s->cols, each = s->rows * users, fewer = s->rows * (users - 1);
    int32_t shape[3] = {s->count * users, s->rows, users - 1};
    size_t size = (size_t)s->count * (size_t)users * (size_t)fewer, at = 0;

    if (list < 0)
        return list;
    if (size > 1 << 28)
        return ec_fail(EC_ERR_SHAPE,
                       "SINR of %d matrices of %d x %d: leaving out each user makes %zu "
                       "elements, up to %d are allowed",
                       s->count, s->rows, users, size, 1 << 28);
    int32_t *index = malloc(size * sizeof *index);
    if (!index)
        return ec_fail(EC_ERR_MEMORY, "no memory for users");
    for (int32_t m = 0; m < s->count; m++)
        for (int32_t k = 0; k < users; k++)
            for (int32_t e = 0; e < each; e++)
                if (e % users != k)
                    index[at++] = m * each + e;
    ec_expr others = ec_graph_gather(graph, list, 3, shape, index);
    free(index);
    return others;
}

/* A list of one for each matrix and user with the shape of results. */
static ec_expr for_users(ec_graph *graph, const setup *s, ec_expr h, ec_expr list)
{
    const ec_node *n = ec_graph_node(graph, h);
    int32_t shape[EC_RANK_MAX];

    memcpy(shape, n->shape, sizeof shape);
    shape[n->rank - 2] = s->cols;
    return list < 0 ? list : ec_graph_reshape(graph, list, n->rank - 1, shape);
}

/* log2(1 + SINR_k) is what column k adds to log2 det(I + SNR H H^H): the chain rule of mutual
 * information, which a linear MMSE receiver reaches for each user while the others are noise. */
static ec_expr sinr_mmse(ec_graph *graph, const setup *s, ec_expr h, ec_expr snr)
{
    const double ln2 = 0.69314718055994530942;
    int32_t users = s->cols, flat[3] = {s->count, s->rows, users};
    ec_matrix_config config;
    ec_matrix_config_default(&config);
    config.normalize = EC_MATRIX_NONE;
    ec_expr list = ec_graph_reshape(graph, h, 3, flat);
    ec_expr all = ec_matrix_capacity(graph, list,
                                     binary(graph, EC_OP_MUL, snr, number(graph, users)), &config);
    /* a row for each matrix and user */
    const ec_node rows = {.elements = s->count * users, .rank = 2, .shape = {s->count, users}};
    ec_expr bits = spread(graph, all, users, &rows);
    if (users > 1) {
        ec_expr others = without_each(graph, s, list);
        ec_expr theirs = spread(graph, snr, users, &rows);
        theirs = theirs < 0 ? theirs : ec_graph_reshape(graph, theirs, 1, &rows.elements);
        theirs = binary(graph, EC_OP_MUL, theirs, number(graph, users - 1));
        ec_expr rest = others < 0 ? others : ec_matrix_capacity(graph, others, theirs, &config);
        bits = binary(graph, EC_OP_SUB, bits,
                      rest < 0 ? rest : ec_graph_reshape(graph, rest, 2, rows.shape));
    }
    ec_expr ratio =
        ec_graph_unary(graph, EC_OP_EXP, binary(graph, EC_OP_MUL, bits, number(graph, ln2)));
    ec_expr sinr = binary(graph, EC_OP_MAX, binary(graph, EC_OP_SUB, ratio, number(graph, 1)),
                          number(graph, 0));
    return for_users(graph, s, h, sinr);
}

/* log det(H^H H) of each matrix of a list, from singular values: small ones stay right. */
static ec_expr log_volume(ec_graph *graph, ec_expr list)
{
    ec_matrix_config config;
    ec_matrix_config_default(&config);
    ec_expr values = list < 0 ? list : ec_matrix_singular_values(graph, list, &config);
    ec_expr log =
        ec_graph_unary(graph, EC_OP_LOG, binary(graph, EC_OP_MAX, values, number(graph, 1e-150)));
    return binary(graph, EC_OP_MUL, over_last(graph, EC_OP_SUM, log), number(graph, 2));
}

/* 1 / [(H^H H)^-1]_kk is det(H^H H) with column k over that without it: the square of what is left of
 * the column across all others. */
static ec_expr sinr_zero_forcing(ec_graph *graph, const setup *s, ec_expr h, ec_expr snr)
{
    int32_t users = s->cols, flat[3] = {s->count, s->rows, users};
    const ec_node rows = {.elements = s->count * users, .rank = 2, .shape = {s->count, users}};

    if (s->rows < users)
        return ec_fail(
            EC_ERR_SHAPE,
            "H is %d x %d: a zero-forcing receiver has at least as many antennas as there "
            "are transmitters",
            s->rows, users);
    ec_expr list = ec_graph_reshape(graph, h, 3, flat);
    ec_expr logs = spread(graph, log_volume(graph, list), users, &rows);
    if (users > 1) {
        ec_expr rest = log_volume(graph, without_each(graph, s, list));
        logs = binary(graph, EC_OP_SUB, logs,
                      rest < 0 ? rest : ec_graph_reshape(graph, rest, 2, rows.shape));
    }
    return for_users(graph, s, h,
                     binary(graph, EC_OP_MUL, ec_graph_unary(graph, EC_OP_EXP, logs),
                            spread(graph, snr, users, &rows)));
}

ec_expr ec_matrix_sinr(ec_graph *graph, ec_expr h, ec_expr snr, ec_matrix_normalize normalize,
                       ec_matrix_combining combining)
{
    setup s = {.kind = EQUAL_POWER};
    int status = shape_of(graph, h, &s);
    if (status >= 0)
        status = check_snr(graph, &s, snr);
    if (status < 0)
        return status;
    snr = user_snr(graph, &s, h, snr, normalize);
    if (snr < 0)
        return snr;
    if (combining == EC_MATRIX_ALONE)
        return sinr_alone(graph, &s, h, snr);
    return combining == EC_MATRIX_MMSE ? sinr_mmse(graph, &s, h, snr)
                                       : sinr_zero_forcing(graph, &s, h, snr);
}

ec_expr ec_matrix_sum_rate(ec_graph *graph, ec_expr h, ec_expr snr, ec_matrix_normalize normalize,
                           ec_matrix_combining combining)
{
    const double per_bit = 1.4426950408889634;
    ec_expr sinr = ec_matrix_sinr(graph, h, snr, normalize, combining);
    ec_expr log =
        ec_graph_unary(graph, EC_OP_LOG, binary(graph, EC_OP_ADD, sinr, number(graph, 1)));
    ec_expr bits = binary(graph, EC_OP_MUL, log, number(graph, per_bit));
    return over_last(graph, EC_OP_SUM, bits);
}

/* ---- plans and runs --------------------------------------------------------------------------- */

typedef struct evaluator {
    ec_evaluator head;
    setup setup;
    bool vjp;
    ec_small_matrix_work work;
    ec_small_matrix_task task; /* but of WATER_FILLING */
    char path[160];
} evaluator;

static void describe_setup(const setup *s, bool vjp, char *text, size_t size)
{
    static const char *const kinds[] = {"singular values", "capacity, equal power",
                                        "capacity, water-filling"};
    snprintf(text, size, "%s%s of %d matrices of %d x %d%s%s%s", vjp ? "adjoint of " : "",
             kinds[s->kind], s->count, s->rows, s->cols,
             s->kind == SINGULAR_VALUES
                 ? s->svd == EC_SVD_JACOBI || vjp ? ", Jacobi" : ", bisection"
             : s->frobenius ? ", each of norm N_rx N_tx"
                            : ", not normalised here",
             s->kind == WATER_FILLING ? ""
             : s->single && !vjp      ? ", float32"
                                      : ", float64",
             "");
}

static void prepare(const ec_plan_info *info, evaluator *ev)
{
    const setup *s = info->call->config;
    bool vjp = info->mode == EC_MODE_VJP;
    ev->setup = *s;
    ev->vjp = vjp;
    ev->task = s->kind == EQUAL_POWER
                   ? vjp ? EC_SMALL_MATRIX_CAPACITY_ADJOINT : EC_SMALL_MATRIX_CAPACITY
               : vjp                        ? EC_SMALL_MATRIX_SINGULAR_ADJOINT
               : s->svd == EC_SVD_BISECTION ? EC_SMALL_MATRIX_BISECTION
                                            : EC_SMALL_MATRIX_JACOBI;
    ev->work = (ec_small_matrix_work){.rows = s->kind == WATER_FILLING ? smaller(s) : s->rows,
                                      .cols = s->kind == WATER_FILLING ? 1 : s->cols,
                                      .count = s->count,
                                      .wide = !s->single,
                                      .frobenius = s->frobenius};
}

static size_t scratch_bytes(const ec_backend *backend, evaluator *ev)
{
    return ev->setup.kind == WATER_FILLING ? 0
                                           : ec_small_matrix_scratch(backend, &ev->work, ev->task);
}

static void destroy(ec_evaluator **handle)
{
    evaluator *ev = (evaluator *)*handle;
    if (!ev)
        return;
    ev->head.backend->ops->release(ev->head.backend, ev->work.scratch);
    free(ev);
    *handle = NULL;
}

static int plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **made)
{
    evaluator *ev = calloc(1, sizeof *ev);
    void *memory = NULL;
    if (!ev)
        return ec_fail(EC_ERR_MEMORY, "matrix: no memory for a plan");
    ev->head.def = &ec_evaluator_matrix;
    ev->head.backend = backend;
    prepare(info, ev);
    size_t bytes = scratch_bytes(backend, ev);
    int status = bytes > 0 ? backend->ops->alloc(backend, bytes, &memory) : EC_OK;
    if (status < 0) {
        free(ev);
        return status;
    }
    ev->work.scratch = memory;
    describe_setup(&ev->setup, ev->vjp, ev->path, sizeof ev->path);
    ec_log_write(info->log, EC_LOG_INFO, "matrix: %s", ev->path);
    *made = &ev->head;
    return EC_OK;
}

static void memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed)
{
    evaluator ev = {0};
    prepare(info, &ev);
    *per_candidate = 0; /* scratch memory belongs to threads */
    *fixed = scratch_bytes(info->backend, &ev);
}

static void describe(const ec_evaluator *handle, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const evaluator *)handle)->path);
}

static int run(ec_evaluator *handle, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n)
{
    const evaluator *ev = (const evaluator *)handle;
    ec_backend *backend = handle->backend;
    ec_small_matrix_work w = ev->work;
    ec_water_args water = {0};
    int32_t n_in = ev->setup.kind == SINGULAR_VALUES ? 1 : 2;

    w.lanes = n;
    w.samples = 1;
    for (int32_t i = 0; i < n_in + ev->vjp; i++)
        if ((int32_t)in[i]->samples > w.samples)
            w.samples = (int32_t)in[i]->samples;
    ec_small_matrix_bind(in[IN_MATRIX], &w.matrix);
    if (n_in > 1)
        ec_small_matrix_bind(in[IN_SNR], &w.snr);
    w.status = status;
    w.stop = exec ? exec->stop : NULL;
    if (ev->vjp) {
        ec_small_matrix_bind(in[n_in], &w.seed);
        if (out[IN_MATRIX])
            ec_small_matrix_bind(out[IN_MATRIX], ev->setup.kind == WATER_FILLING
                                                     ? &water.adjoint
                                                     : &w.matrix_adjoint);
        if (n_in > 1 && out[IN_SNR])
            ec_small_matrix_bind(out[IN_SNR], &w.snr_adjoint);
    } else {
        ec_small_matrix_bind(out[0], &w.result);
    }
    if (ev->setup.kind != WATER_FILLING)
        return ec_small_matrix_run(backend, &w, ev->task);
    water.work = w;
    water.square = ev->setup.frobenius ? (double)ev->setup.rows * (double)ev->setup.cols : 0;
    return backend->ops->launch(backend, &ec_kernel_water_filling, &water, n,
                                (size_t)w.count * (size_t)w.samples);
}

static void fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    const setup *s = call->config;
    int32_t words[] = {s->kind,      s->rows,   s->cols, s->count,
                       s->frobenius, s->single, s->svd,  output};
    ec_hash_bytes(hash, words, sizeof words);
}

const ec_evaluator_def ec_evaluator_matrix = {.name = "matrix",
                                              .flags =
                                                  EC_EVALUATOR_CAPTURABLE | EC_EVALUATOR_HAS_VJP,
                                              .plan = plan,
                                              .run = run,
                                              .destroy = destroy,
                                              .memory = memory_needs,
                                              .describe = describe,
                                              .config_destroy = free,
                                              .fingerprint = fingerprint};
