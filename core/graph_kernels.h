/* graph_kernels.h: the arithmetic of graph nodes, one source for C17 and CUDA.
 *
 * A step is one structural node or one fused pass (a register program over a chain of element-wise
 * nodes). Values are reached through operands: a region of memory, an element offset, strides; a
 * strip of EC_LANES lanes is loaded and widened to float64 at a time. Only detmath.h and basic
 * operations are used and nothing is contracted, so a graph without evaluators gives the same bits
 * on the CPU and on the GPU.
 *
 * Sums run in blocks of EC_SUM_BLOCK elements, element order inside, block order outside.
 */
#ifndef EC_GRAPH_KERNELS_H
#define EC_GRAPH_KERNELS_H

#include "array.h"
#include "detmath.h"
#include "graph.h"
#include "kernel.h"

enum {
    EC_REGION_CONSTANT,   /* values without a lane axis */
    EC_REGION_X,          /* genes of the candidates, from the optimizer */
    EC_REGION_XG,         /* genes of the groups */
    EC_REGION_GROUP,      /* values on the group axis */
    EC_REGION_POPULATION, /* values kept for the whole population */
    EC_REGION_CHUNK,      /* values of one chunk */
    EC_REGION_LOCAL,      /* CPU: one strip, a scratch area a thread */
    EC_REGION_COUNT
};

enum { EC_LANE_BROADCAST, EC_LANE_DIRECT, EC_LANE_GATHER };

enum { EC_SUM_BLOCK = 64, EC_FUSED_REGISTERS = 32 };
/* Rows up to this length are ordered by ranks, which has no branches; longer ones by a heap a lane on
 * the CPU. On the GPU the lanes of a warp would part in a heap: ranks always. */
#ifdef __CUDACC__
#define EC_SORT_SHORT INT32_MAX
#else
#define EC_SORT_SHORT 128
#endif
#ifdef __CUDACC__
#define EC_FUSED_ROWS 1
#else
#define EC_FUSED_ROWS 4
#endif

typedef struct ec_operand {
    uint64_t offset;       /* bytes from the region's start */
    int64_t sample_stride; /* in elements of dtype */
    int32_t first;         /* flat element where the view begins */
    int32_t elem;          /* 1, or 0 to broadcast a scalar */
    int32_t ld;            /* < 0: the region's own (X, XG) */
    uint8_t region, lane, dtype, population;
} ec_operand;

/* One instruction of a fused pass. Registers hold float64; complex values take two. */
typedef struct ec_instr {
    uint8_t op, dst, a, b, c, unused[3];
    int32_t operand; /* load, store */
    int32_t flat;    /* unused */
    double value;    /* immediate */
} ec_instr;

/* Codes beyond the real element-wise ops of ec_op. */
enum {
    EC_FUSED_LOAD = EC_OP_ELEMENTWISE_END + 1,
    EC_FUSED_LOAD_COMPLEX, /* dst, dst in c */
    EC_FUSED_IMMEDIATE,
    EC_FUSED_STORE,
    EC_FUSED_STORE_COMPLEX, /* a, b */
    EC_FUSED_SUM,           /* reductions into operand, over the elements of the pass */
    EC_FUSED_RMIN,
    EC_FUSED_RMAX,
    EC_FUSED_COPY
};

typedef struct ec_step {
    int32_t op; /* ec_op, or EC_OP_ELEMENTWISE_END for a fused pass */
    int32_t n_in;
    int32_t elements;       /* of the output (fused: of the pass) */
    int32_t outer, inner;   /* reductions: outputs and elements each; fused: inner registers */
    int32_t complex;        /* the output is complex */
    int32_t samples;        /* samples the step runs over */
    int32_t reduce_samples; /* sample reductions: length */
    double par[4];
    int32_t shape[4];      /* matmul: m, k, n */
    uint64_t data;         /* constant matrix: byte offset in the table */
    uint64_t index;        /* gather indices, concat starts: byte offset in the table */
    int32_t first_operand; /* inputs, then the output; fused: all of the pass */
    int32_t n_operands;
    int32_t first_instr, n_instr;
    int32_t n_reduce; /* fused: reduction instructions at the end of the program */
    int32_t beside; /* can run together with the step before it and with what that one is beside */
} ec_step;

/* What the steps of a program take in all (ec_executor_program). */
typedef struct ec_graph_extent {
    int32_t first_operand, n_operands;
    int32_t first_instr, n_instr;
    int64_t chunk_bytes, population_bytes; /* of a lane in these regions */
    int64_t matrix_bytes;                  /* constant matrices, each rounded up to 16 */
    bool lean; /* nothing but what ec_step_lean and ec_instr_lean name */
} ec_graph_extent;

typedef struct ec_graph_args {
    char *region[EC_REGION_COUNT];
    int32_t ld_x, ld_xg;
    size_t first;         /* global index of lane 0 (population arrays) */
    const int32_t *group; /* candidate -> group, from lane 0 of the population; may be NULL */
    const ec_step *steps;
    const ec_operand *operands;
    const ec_instr *instrs;
    const char *table;
    const int32_t *stop;
    int32_t first_step, n_steps;
    size_t local_bytes;    /* CPU: scratch of a thread */
    int32_t local_threads; /* and how many there are */
    /* for the launcher on a GPU */
    int32_t op, samples, elements, n_reduce, inner;
    ec_graph_extent extent; /* of a program */
} ec_graph_args;

/* A flat index of lane l of a strip (EC_LANES lanes from lane0), element e, sample s. */
EC_FN int64_t ec_operand_row(const ec_graph_args *g, const ec_operand *o, int32_t e, int32_t s)
{
    int64_t ld = o->ld >= 0                 ? o->ld
                 : o->region == EC_REGION_X ? (int64_t)g->ld_x
                                            : (int64_t)g->ld_xg;
    return (int64_t)(o->first + e * o->elem) * ld + (int64_t)s * o->sample_stride;
}

EC_FN size_t ec_operand_lane(const ec_graph_args *g, const ec_operand *o, size_t lane0)
{
    if (o->region == EC_REGION_LOCAL)
        return 0;
    return o->population ? lane0 + g->first : lane0;
}

/* Loads a strip of real values. */
EC_FN void ec_operand_load(const ec_graph_args *g, const ec_operand *o, size_t lane0, int32_t e,
                           int32_t s, double *r)
{
    const char *base = g->region[o->region] + o->offset;
    int64_t row = ec_operand_row(g, o, e, s);
    if (o->lane == EC_LANE_DIRECT) {
        int64_t at = row + (int64_t)ec_operand_lane(g, o, lane0);
        if (o->dtype == EC_F64) {
            const double *p = (const double *)base + at;
            for (int l = 0; l < EC_LANES; l++)
                r[l] = p[l];
        } else if (o->dtype == EC_F32) {
            const float *p = (const float *)base + at;
            for (int l = 0; l < EC_LANES; l++)
                r[l] = (double)p[l];
        } else {
            const int32_t *p = (const int32_t *)base + at;
            for (int l = 0; l < EC_LANES; l++)
                r[l] = (double)p[l];
        }
        return;
    }
    for (int l = 0; l < EC_LANES; l++) {
        int64_t at =
            row + (o->lane == EC_LANE_GATHER ? (int64_t)g->group[g->first + lane0 + (size_t)l] : 0);
        r[l] = o->dtype == EC_F64   ? ((const double *)base)[at]
               : o->dtype == EC_F32 ? (double)((const float *)base)[at]
                                    : (double)((const int32_t *)base)[at];
    }
}

EC_FN void ec_operand_load_complex(const ec_graph_args *g, const ec_operand *o, size_t lane0,
                                   int32_t e, int32_t s, double *re, double *im)
{
    if (o->dtype != EC_C64 && o->dtype != EC_C128) {
        ec_operand_load(g, o, lane0, e, s, re);
        for (int l = 0; l < EC_LANES; l++)
            im[l] = 0;
        return;
    }
    const char *base = g->region[o->region] + o->offset;
    int64_t row = ec_operand_row(g, o, e, s);
    for (int l = 0; l < EC_LANES; l++) {
        int64_t at = row;
        if (o->lane == EC_LANE_DIRECT)
            at += (int64_t)ec_operand_lane(g, o, lane0) + l;
        else if (o->lane == EC_LANE_GATHER)
            at += (int64_t)g->group[g->first + lane0 + (size_t)l];
        if (o->dtype == EC_C128) {
            re[l] = ((const ec_c128 *)base)[at].re;
            im[l] = ((const ec_c128 *)base)[at].im;
        } else {
            re[l] = (double)((const ec_c64 *)base)[at].re;
            im[l] = (double)((const ec_c64 *)base)[at].im;
        }
    }
}

/* Stores a strip (outputs of steps are f64 or c128, direct lanes or one lane). */
EC_FN void ec_operand_store(const ec_graph_args *g, const ec_operand *o, size_t lane0, int32_t e,
                            int32_t s, const double *r)
{
    double *p = (double *)(g->region[o->region] + o->offset) + ec_operand_row(g, o, e, s);
    if (o->lane == EC_LANE_BROADCAST) {
        p[0] = r[0];
        return;
    }
    p += ec_operand_lane(g, o, lane0);
    for (int l = 0; l < EC_LANES; l++)
        p[l] = r[l];
}

EC_FN void ec_operand_store_complex(const ec_graph_args *g, const ec_operand *o, size_t lane0,
                                    int32_t e, int32_t s, const double *re, const double *im)
{
    ec_c128 *p = (ec_c128 *)(g->region[o->region] + o->offset) + ec_operand_row(g, o, e, s);
    int lanes = o->lane == EC_LANE_BROADCAST ? 1 : EC_LANES;
    if (o->lane != EC_LANE_BROADCAST)
        p += ec_operand_lane(g, o, lane0);
    for (int l = 0; l < lanes; l++) {
        p[l].re = re[l];
        p[l].im = im[l];
    }
}

/* ---- the fused pass ------------------------------------------------------------------------- */

#define EC_MAP1(code, expression)                                                                  \
    case code:                                                                                     \
        for (int i = 0; i < n; i++) {                                                              \
            double x = a[i];                                                                       \
            d[i] = (expression);                                                                   \
        }                                                                                          \
        break;
#define EC_MAP2(code, expression)                                                                  \
    case code:                                                                                     \
        for (int i = 0; i < n; i++) {                                                              \
            double x = a[i], y = b[i];                                                             \
            d[i] = (expression);                                                                   \
        }                                                                                          \
        break;

/* One real operation on n values. */
EC_FN void ec_fused_real(int op, double *d, const double *a, const double *b, const double *c,
                         int n)
{
    switch (op) {
        EC_MAP1(EC_OP_NEG, -x)
        EC_MAP1(EC_OP_ABS, fabs(x))
        EC_MAP1(EC_OP_SIGN, x > 0 ? 1.0 : x < 0 ? -1.0 : x)
        EC_MAP1(EC_OP_FLOOR, ec_det_floor(x))
        EC_MAP1(EC_OP_CEIL, ec_det_ceil(x))
        EC_MAP1(EC_OP_ROUND, ec_det_rint(x))
        EC_MAP1(EC_OP_SQRT, sqrt(x))
        EC_MAP1(EC_OP_SQUARE, x * x)
        EC_MAP1(EC_OP_EXP, ec_det_exp(x))
        EC_MAP1(EC_OP_LOG, ec_det_log(x))
        EC_MAP1(EC_OP_LOG10, ec_det_log10(x))
        EC_MAP1(EC_OP_SIN, ec_det_sin(x))
        EC_MAP1(EC_OP_COS, ec_det_cos(x))
        EC_MAP1(EC_OP_TAN, ec_det_tan(x))
        EC_MAP1(EC_OP_ASIN, ec_det_asin(x))
        EC_MAP1(EC_OP_ACOS, ec_det_acos(x))
        EC_MAP1(EC_OP_ATAN, ec_det_atan(x))
        EC_MAP1(EC_OP_SINH, ec_det_sinh(x))
        EC_MAP1(EC_OP_COSH, ec_det_cosh(x))
        EC_MAP1(EC_OP_TANH, ec_det_tanh(x))
        EC_MAP1(EC_OP_NOT, x == 0 ? 1.0 : 0.0)
        EC_MAP1(EC_FUSED_COPY, x)
        EC_MAP2(EC_OP_ADD, x + y)
        EC_MAP2(EC_OP_SUB, x - y)
        EC_MAP2(EC_OP_MUL, x * y)
        EC_MAP2(EC_OP_DIV, x / y)
        EC_MAP2(EC_OP_POW, ec_det_pow(x, y))
        EC_MAP2(EC_OP_ATAN2, ec_det_atan2(x, y))
        /* a NaN on either side stays: it must reach the status */
        EC_MAP2(EC_OP_MIN, x != x ? x : y < x || y != y ? y : x)
        EC_MAP2(EC_OP_MAX, x != x ? x : y > x || y != y ? y : x)
        EC_MAP2(EC_OP_LT, x < y ? 1.0 : 0.0)
        EC_MAP2(EC_OP_LE, x <= y ? 1.0 : 0.0)
        EC_MAP2(EC_OP_EQ, x == y ? 1.0 : 0.0)
        EC_MAP2(EC_OP_AND, x != 0 && y != 0 ? 1.0 : 0.0)
        EC_MAP2(EC_OP_OR, x != 0 || y != 0 ? 1.0 : 0.0)
    case EC_OP_WHERE:
        for (int i = 0; i < n; i++) {
            double yes = b[i], no = c[i];
            d[i] = a[i] != 0 ? yes : no;
        }
        break;
    case EC_OP_CLAMP:
        for (int i = 0; i < n; i++) {
            double x = a[i], lo = b[i], hi = c[i];
            x = x < lo ? lo : x;
            d[i] = x > hi ? hi : x;
        }
        break;
    default:
        break;
    }
}

/* Runs the program over elements [e0, e1) of sample s; reductions are stored by the caller's rule:
 * partial sums of blocks of EC_SUM_BLOCK elements added in order. On the GPU registers are strided
 * in shared memory (reg_stride threads), on the CPU contiguous. */
#ifndef __CUDACC__
EC_FN void ec_fused_run(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    enum { ROW = EC_LANES, REG = EC_FUSED_ROWS * EC_LANES };
    double reg[EC_FUSED_REGISTERS][REG] __attribute__((aligned(64)));
    double part[4][ROW] __attribute__((aligned(64))), total[4][ROW] __attribute__((aligned(64)));
    const ec_operand *operand = g->operands + st->first_operand;
    const ec_instr *program = g->instrs + st->first_instr;
    int n_program = st->n_instr - st->n_reduce;
    const ec_instr *reduce = program + n_program;
    for (int k = 0; k < st->n_reduce; k++)
        for (int l = 0; l < ROW; l++) {
            total[k][l] = 0;
            part[k][l] = 0;
        }
    for (int32_t e0 = 0; e0 < st->elements; e0 += EC_FUSED_ROWS) {
        int rows = st->elements - e0 < EC_FUSED_ROWS ? st->elements - e0 : EC_FUSED_ROWS;
        int n = rows * ROW;
        for (int k = 0; k < n_program; k++) {
            const ec_instr *in = &program[k];
            switch (in->op) {
            case EC_FUSED_LOAD: {
                const ec_operand *o = &operand[in->operand];
                if (o->elem == 0) {
                    ec_operand_load(g, o, lane0, 0, s, reg[in->dst]);
                    for (int r = 1; r < rows; r++)
                        for (int l = 0; l < ROW; l++)
                            reg[in->dst][r * ROW + l] = reg[in->dst][l];
                } else {
                    for (int r = 0; r < rows; r++)
                        ec_operand_load(g, o, lane0, e0 + r, s, reg[in->dst] + r * ROW);
                }
                break;
            }
            case EC_FUSED_LOAD_COMPLEX:
                for (int r = 0; r < rows; r++)
                    ec_operand_load_complex(g, &operand[in->operand], lane0, e0 + r, s,
                                            reg[in->dst] + r * ROW, reg[in->c] + r * ROW);
                break;
            case EC_FUSED_IMMEDIATE:
                for (int i = 0; i < n; i++)
                    reg[in->dst][i] = in->value;
                break;
            case EC_FUSED_STORE:
                for (int r = 0; r < rows; r++)
                    ec_operand_store(g, &operand[in->operand], lane0, e0 + r, s,
                                     reg[in->a] + r * ROW);
                break;
            case EC_FUSED_STORE_COMPLEX:
                for (int r = 0; r < rows; r++)
                    ec_operand_store_complex(g, &operand[in->operand], lane0, e0 + r, s,
                                             reg[in->a] + r * ROW, reg[in->b] + r * ROW);
                break;
            default:
                ec_fused_real(in->op, reg[in->dst], reg[in->a], reg[in->b], reg[in->c], n);
                break;
            }
        }
        for (int k = 0; k < st->n_reduce; k++) {
            const double *x = reg[reduce[k].a];
            for (int r = 0; r < rows; r++, x += ROW) {
                int32_t e = e0 + r;
                if (reduce[k].op == EC_FUSED_SUM) {
                    if (e % EC_SUM_BLOCK == 0)
                        for (int l = 0; l < ROW; l++) {
                            total[k][l] += part[k][l];
                            part[k][l] = 0;
                        }
                    for (int l = 0; l < ROW; l++)
                        part[k][l] += x[l];
                } else if (e == 0) {
                    for (int l = 0; l < ROW; l++)
                        total[k][l] = x[l];
                } else {
                    ec_fused_real(reduce[k].op == EC_FUSED_RMIN ? EC_OP_MIN : EC_OP_MAX, total[k],
                                  total[k], x, x, ROW);
                }
            }
        }
    }
    for (int k = 0; k < st->n_reduce; k++) {
        if (reduce[k].op == EC_FUSED_SUM)
            for (int l = 0; l < ROW; l++)
                total[k][l] += part[k][l];
        ec_operand_store(g, &operand[reduce[k].operand], lane0, 0, s, total[k]);
    }
}
#endif

/* ---- structural steps ------------------------------------------------------------------------ */

#define EC_STRIP(l) for (int l = 0; l < EC_LANES; l++)

EC_FN const int32_t *ec_step_index(const ec_graph_args *g, const ec_step *st)
{
    return (const int32_t *)(g->table + st->index);
}

/* Steps whose elements a GPU computes apart from each other. */
EC_FN bool ec_step_elements_apart(int op)
{
    return op == EC_OP_CONCAT || op == EC_OP_GATHER || op == EC_OP_SPREAD ||
           op == EC_OP_GATHER_SUM || op == EC_OP_MATVEC || op == EC_OP_MATMUL;
}

/* Steps that a block can compute for a few lanes (graph_block.cuh). */
EC_FN bool ec_step_in_block(int op)
{
    return op == EC_OP_ELEMENTWISE_END || ec_step_elements_apart(op) || op == EC_OP_TOP_K ||
           op == EC_OP_SUM || op == EC_OP_MEAN || op == EC_OP_NORM || op == EC_OP_RMIN ||
           op == EC_OP_RMAX || op == EC_OP_ARGMIN || op == EC_OP_ARGMAX;
}

/* What a block computes by a kernel that has room for little code: sums, products with a matrix, and
 * passes of the operations that most objectives have. */
EC_FN bool ec_step_lean(const ec_step *st)
{
    return st->op == EC_OP_ELEMENTWISE_END || (st->op == EC_OP_MATVEC && !st->complex) ||
           (st->op == EC_OP_SUM && st->outer == 1);
}

EC_FN bool ec_instr_lean(int op)
{
    return op == EC_FUSED_LOAD || op == EC_FUSED_STORE || op == EC_FUSED_IMMEDIATE ||
           op == EC_FUSED_SUM || op == EC_FUSED_RMIN || op == EC_FUSED_RMAX || op == EC_OP_NEG ||
           op == EC_OP_ABS || op == EC_OP_SQRT || op == EC_OP_SQUARE || op == EC_OP_EXP ||
           op == EC_OP_LOG || op == EC_OP_LOG10 || op == EC_OP_SIN || op == EC_OP_COS ||
           op == EC_OP_ADD || op == EC_OP_SUB || op == EC_OP_MUL || op == EC_OP_DIV ||
           op == EC_OP_MIN || op == EC_OP_MAX || op == EC_OP_LT || op == EC_OP_LE ||
           op == EC_OP_WHERE || op == EC_OP_CLAMP;
}

#ifdef __CUDACC__
/* Where element 0 of a lane lies and how far apart its elements are; NULL unless they are float64
 * numbers in memory. Spares a thread that reads many of them the address of each. */
EC_FN const double *ec_operand_column(const ec_graph_args *g, const ec_operand *o, size_t lane,
                                      int32_t s, int64_t *step)
{
    if (o->dtype != EC_F64 || o->lane == EC_LANE_GATHER)
        return NULL;
    *step = ec_operand_row(g, o, 1, 0) - ec_operand_row(g, o, 0, 0);
    return (const double *)(g->region[o->region] + o->offset) + ec_operand_row(g, o, 0, s) +
           (o->lane == EC_LANE_DIRECT ? (int64_t)ec_operand_lane(g, o, lane) : 0);
}

/* Elements that are on their way while the ones before them are added; loops over them unroll, the
 * loops around them do not. The host's pass over a CUDA file does not know the pragma. */
enum { EC_AHEAD = 8 };
#ifdef __CUDA_ARCH__
#define EC_ROLLED _Pragma("unroll 1")
#else
#define EC_ROLLED
#endif

EC_FN void ec_column_ahead(const double *column, int32_t step, double *x)
{
    for (int i = 0; i < EC_AHEAD; i++)
        x[i] = column[i * step];
}

/* Sum of n elements `step` apart in blocks of EC_SUM_BLOCK, in their order. */
EC_FN double ec_column_sum(const double *column, int32_t step, int32_t n)
{
    const int32_t stride = EC_AHEAD * step, whole = n / EC_AHEAD;
    double total = 0, part = 0, next[EC_AHEAD];

    if (whole > 0)
        ec_column_ahead(column, step, next);
    EC_ROLLED
    for (int32_t i = 0; i < whole; i++) {
        double x[EC_AHEAD];
        for (int k = 0; k < EC_AHEAD; k++)
            x[k] = next[k];
        column += stride;
        if (i + 1 < whole)
            ec_column_ahead(column, step, next);
        if (i % (EC_SUM_BLOCK / EC_AHEAD) == 0) {
            total += part;
            part = 0;
        }
        for (int k = 0; k < EC_AHEAD; k++)
            part += x[k];
    }
    if (n % EC_SUM_BLOCK < EC_AHEAD) {
        total += part;
        part = 0;
    }
    EC_ROLLED
    for (int32_t i = EC_AHEAD * whole; i < n; i++, column += step)
        part += *column;
    return total + part;
}

/* Sum of row[i] column[i step] in the order of i. */
EC_FN double ec_column_product(const double *row, const double *column, int32_t step, int32_t n)
{
    const int32_t stride = EC_AHEAD * step, whole = n / EC_AHEAD;
    double t = 0, next[EC_AHEAD], next_w[EC_AHEAD];

    if (whole > 0) {
        ec_column_ahead(column, step, next);
        ec_column_ahead(row, 1, next_w);
    }
    EC_ROLLED
    for (int32_t i = 0; i < whole; i++) {
        double x[EC_AHEAD], w[EC_AHEAD];
        for (int k = 0; k < EC_AHEAD; k++) {
            x[k] = next[k];
            w[k] = next_w[k];
        }
        column += stride;
        row += EC_AHEAD;
        if (i + 1 < whole) {
            ec_column_ahead(column, step, next);
            ec_column_ahead(row, 1, next_w);
        }
        for (int k = 0; k < EC_AHEAD; k++)
            t += w[k] * x[k];
    }
    EC_ROLLED
    for (int32_t i = EC_AHEAD * whole; i < n; i++, column += step)
        t += *row++ * *column;
    return t;
}
#endif

/* sum, mean, norm, rmin, rmax, argmin, argmax: output o over inner elements from o * inner. */
EC_FN void ec_step_reduce(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s,
                          int op)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    int complex = a->dtype == EC_C64 || a->dtype == EC_C128;
    double x[EC_LANES], y[EC_LANES], t[EC_LANES], u[EC_LANES], p[EC_LANES], q[EC_LANES];
#ifdef __CUDACC__
    int64_t step = 0;
    const double *column = ec_operand_column(g, a, lane0, s, &step);
    if (column && (op == EC_OP_SUM || op == EC_OP_MEAN)) {
        for (int32_t o = 0; o < st->outer; o++) {
            t[0] = ec_column_sum(column + (int64_t)o * st->inner * step, (int32_t)step, st->inner);
            if (op == EC_OP_MEAN)
                t[0] /= st->inner;
            ec_operand_store(g, out, lane0, o, s, t);
        }
        return;
    }
#endif
    for (int32_t o = 0; o < st->outer; o++) {
        EC_STRIP(l)
        {
            t[l] = u[l] = p[l] = q[l] = 0;
        }
        for (int32_t i = 0; i < st->inner; i++) {
            int32_t e = o * st->inner + i;
            if (complex)
                ec_operand_load_complex(g, a, lane0, e, s, x, y);
#ifdef __CUDACC__
            else if (column)
                x[0] = column[e * step];
#endif
            else
                ec_operand_load(g, a, lane0, e, s, x);
            if (op == EC_OP_SUM || op == EC_OP_MEAN || op == EC_OP_NORM) {
                if (i % EC_SUM_BLOCK == 0)
                    EC_STRIP(l)
                    {
                        t[l] += p[l];
                        u[l] += q[l];
                        p[l] = q[l] = 0;
                    }
                if (op == EC_OP_NORM)
                    EC_STRIP(l) p[l] += x[l] * x[l];
                else
                    EC_STRIP(l) p[l] += x[l];
                if (complex)
                    EC_STRIP(l) q[l] += y[l];
            } else if (i == 0) {
                EC_STRIP(l) t[l] = x[l];
            } else if (op == EC_OP_RMIN) {
                EC_STRIP(l) t[l] = t[l] != t[l] ? t[l] : x[l] < t[l] || x[l] != x[l] ? x[l] : t[l];
            } else if (op == EC_OP_RMAX) {
                EC_STRIP(l) t[l] = t[l] != t[l] ? t[l] : x[l] > t[l] || x[l] != x[l] ? x[l] : t[l];
            } else {
                /* argmin, argmax: t the value, u the index; a NaN loses */
                EC_STRIP(l)
                {
                    int better = op == EC_OP_ARGMIN ? x[l] < t[l] : x[l] > t[l];
                    better = better || (t[l] != t[l] && x[l] == x[l]);
                    t[l] = better ? x[l] : t[l];
                    u[l] = better ? (double)i : u[l];
                }
            }
        }
        EC_STRIP(l)
        {
            t[l] += p[l];
            if (complex)
                u[l] += q[l];
            if (op == EC_OP_MEAN) {
                t[l] = t[l] / (double)st->inner;
                if (complex)
                    u[l] = u[l] / (double)st->inner;
            }
            if (op == EC_OP_NORM)
                t[l] = sqrt(t[l]);
        }
        if (complex)
            ec_operand_store_complex(g, out, lane0, o, s, t, u);
        else
            ec_operand_store(g, out, lane0, o, s, op == EC_OP_ARGMIN || op == EC_OP_ARGMAX ? u : t);
    }
}

/* Position of element i in ascending order, ties by index; NaN goes last. */
EC_FN void ec_step_rank(const ec_graph_args *g, const ec_operand *a, size_t lane0, int32_t s,
                        int32_t n, int32_t i, double *rank, double *x)
{
    double y[EC_LANES];
    ec_operand_load(g, a, lane0, i, s, x);
    EC_STRIP(l) rank[l] = 0;
    for (int32_t k = 0; k < n; k++) {
        ec_operand_load(g, a, lane0, k, s, y);
        EC_STRIP(l)
        {
            int before = y[l] < x[l] || (x[l] != x[l] && y[l] == y[l]);
            int tie = y[l] == x[l] || (x[l] != x[l] && y[l] != y[l]);
            rank[l] += before || (tie && k < i) ? 1.0 : 0.0;
        }
    }
}

/* Lanes of a direct output write to rows of their own. */
EC_FN void ec_operand_scatter(const ec_graph_args *g, const ec_operand *o, size_t lane0,
                              const double *row, int32_t s, const double *x)
{
    int lanes = o->lane == EC_LANE_BROADCAST ? 1 : EC_LANES;
    double *base = (double *)(g->region[o->region] + o->offset);
    size_t lane = o->lane == EC_LANE_BROADCAST ? 0 : ec_operand_lane(g, o, lane0);
    for (int l = 0; l < lanes; l++)
        base[ec_operand_row(g, o, (int32_t)row[l], s) + (int64_t)lane + l] = x[l];
}

/* Element row[l] of lane l. */
EC_FN void ec_operand_pick(const ec_graph_args *g, const ec_operand *o, size_t lane0,
                           const double *row, int32_t s, double *x)
{
    const char *base = g->region[o->region] + o->offset;
    for (int l = 0; l < EC_LANES; l++) {
        int64_t at = ec_operand_row(g, o, (int32_t)row[l], s);
        if (o->lane == EC_LANE_DIRECT)
            at += (int64_t)ec_operand_lane(g, o, lane0) + l;
        else if (o->lane == EC_LANE_GATHER)
            at += (int64_t)g->group[g->first + lane0 + (size_t)l];
        x[l] = o->dtype == EC_F64   ? ((const double *)base)[at]
               : o->dtype == EC_F32 ? (double)((const float *)base)[at]
                                    : (double)((const int32_t *)base)[at];
    }
}

/* One value of one lane. */
EC_FN double ec_operand_value(const ec_graph_args *g, const ec_operand *o, size_t lane, int32_t e,
                              int32_t s)
{
    const char *base = g->region[o->region] + o->offset;
    int64_t at = ec_operand_row(g, o, e, s);

    if (o->lane == EC_LANE_DIRECT)
        at += (int64_t)lane;
    else if (o->lane == EC_LANE_GATHER)
        at += (int64_t)g->group[lane];
    return o->dtype == EC_F64   ? ((const double *)base)[at]
           : o->dtype == EC_F32 ? (double)((const float *)base)[at]
                                : (double)((const int32_t *)base)[at];
}

/* Is x after y in ascending order? NaN goes last. */
EC_FN int ec_step_after(double x, double y)
{
    return x > y || (x != x && y == y);
}

/* Heap sort of one lane of `out`, in place: values, or indices of the values of a (ties by index). */
EC_FN void ec_step_heap(const ec_graph_args *g, const ec_operand *a, const ec_operand *out,
                        size_t lane_in, size_t lane_out, int32_t s, int32_t n, int by_index)
{
    double *p = (double *)(g->region[out->region] + out->offset) + ec_operand_row(g, out, 0, s) +
                (out->lane == EC_LANE_BROADCAST ? 0 : (int64_t)lane_out);
    int64_t ld = ec_operand_row(g, out, 1, s) - ec_operand_row(g, out, 0, s);

    for (int32_t i = 0; i < n; i++)
        p[i * ld] = by_index ? (double)i : ec_operand_value(g, a, lane_in, i, s);
    for (int32_t start = n / 2, end = n; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            double top = p[0];
            end--;
            p[0] = p[end * ld];
            p[end * ld] = top;
        }
        /* sift p[start] down within p[0 .. end) */
        double item = p[start * ld];
        double key = by_index ? ec_operand_value(g, a, lane_in, (int32_t)item, s) : item;
        int32_t hole = start;
        for (int32_t child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
            double below = p[child * ld];
            double low = by_index ? ec_operand_value(g, a, lane_in, (int32_t)below, s) : below;
            if (child + 1 < end) {
                double other = p[(child + 1) * ld];
                double key2 = by_index ? ec_operand_value(g, a, lane_in, (int32_t)other, s) : other;
                int after = ec_step_after(key2, low) ||
                            (by_index && !ec_step_after(low, key2) && other > below);
                child += after;
                below = after ? other : below;
                low = after ? key2 : low;
            }
            if (!(ec_step_after(low, key) ||
                  (by_index && !ec_step_after(key, low) && below > item)))
                break;
            p[hole * ld] = below;
            hole = child;
        }
        p[hole * ld] = item;
    }
}

/* sort and argsort. Short ones by ranks: n^2 comparisons without branches, stable; long ones a heap
 * a lane. */
EC_FN void ec_step_sort(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s, int op)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double rank[EC_LANES], x[EC_LANES];
    int32_t n = st->elements;
    if (n > EC_SORT_SHORT) {
        int lanes = out->lane == EC_LANE_BROADCAST ? 1 : EC_LANES;
        for (int l = 0; l < lanes; l++) {
            size_t in = a->lane == EC_LANE_GATHER ? g->first + lane0 + (size_t)l
                                                  : ec_operand_lane(g, a, lane0) + (size_t)l;
            ec_step_heap(g, a, out, in, ec_operand_lane(g, out, lane0) + (size_t)l, s, n,
                         op == EC_OP_ARGSORT);
        }
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        ec_step_rank(g, a, lane0, s, n, i, rank, x);
        if (op == EC_OP_ARGSORT)
            EC_STRIP(l) x[l] = (double)i;
        ec_operand_scatter(g, out, lane0, rank, s, x);
    }
}

#ifdef __CUDACC__
/* The rank of x, element i, from the top: ties to the lower index. */
EC_FN void ec_step_rank_down(const ec_graph_args *g, const ec_operand *a, size_t lane0, int32_t s,
                             int32_t n, int32_t i, const double *x, double *rank)
{
    double y[EC_LANES];
    EC_STRIP(l) rank[l] = 0;
    for (int32_t k = 0; k < n; k++) {
        ec_operand_load(g, a, lane0, k, s, y);
        EC_STRIP(l) rank[l] += y[l] > x[l] || (y[l] == x[l] && k < i) ? 1.0 : 0.0;
    }
}

EC_FN void ec_step_top_k(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double rank[EC_LANES], x[EC_LANES];
    for (int32_t i = 0; i < st->elements; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        ec_step_rank_down(g, a, lane0, s, st->elements, i, x, rank);
        EC_STRIP(l) x[l] = rank[l] < st->par[0] ? 1.0 : 0.0;
        ec_operand_store(g, out, lane0, i, s, x);
    }
}

EC_FN void ec_step_kth(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double rank[EC_LANES], x[EC_LANES], r[EC_LANES];
    EC_STRIP(l) r[l] = (double)NAN;
    for (int32_t i = 0; i < st->inner; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        ec_step_rank_down(g, a, lane0, s, st->inner, i, x, rank);
        EC_STRIP(l) r[l] = x[l] == x[l] && rank[l] == st->par[0] - 1 ? x[l] : r[l];
    }
    ec_operand_store(g, out, lane0, 0, s, r);
}
#else
/* The k-th largest value (ties: lower index first) and its index, in k passes; NaN does not count. */
EC_FN void ec_step_select(const ec_graph_args *g, const ec_operand *a, size_t lane0, int32_t s,
                          int32_t n, int32_t k, double *value, double *index)
{
    double x[EC_LANES], best[EC_LANES], at[EC_LANES];
    EC_STRIP(l)
    {
        value[l] = (double)INFINITY;
        index[l] = -1;
    }
    for (int32_t pass = 0; pass < k; pass++) {
        EC_STRIP(l)
        {
            best[l] = (double)NAN;
            at[l] = (double)n;
        }
        for (int32_t i = 0; i < n; i++) {
            ec_operand_load(g, a, lane0, i, s, x);
            EC_STRIP(l)
            {
                /* behind the last one found, and ahead of the best of this pass */
                int behind = x[l] < value[l] || (x[l] == value[l] && (double)i > index[l]);
                int ahead = best[l] != best[l] || x[l] > best[l];
                best[l] = behind && ahead ? x[l] : best[l];
                at[l] = behind && ahead ? (double)i : at[l];
            }
        }
        EC_STRIP(l)
        {
            value[l] = best[l];
            index[l] = at[l];
        }
    }
}

EC_FN void ec_step_top_k(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double value[EC_LANES], index[EC_LANES], x[EC_LANES];
    ec_step_select(g, a, lane0, s, st->elements, (int32_t)st->par[0], value, index);
    for (int32_t i = 0; i < st->elements; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        EC_STRIP(l)
        {
            int in = x[l] > value[l] || (x[l] == value[l] && (double)i <= index[l]);
            /* fewer than k numbers: all of them; a NaN has nothing above it */
            in = in || value[l] != value[l] || x[l] != x[l];
            x[l] = in && st->par[0] > 0 ? 1.0 : 0.0;
        }
        ec_operand_store(g, out, lane0, i, s, x);
    }
}

EC_FN void ec_step_kth(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double value[EC_LANES], index[EC_LANES];
    ec_step_select(g, a, lane0, s, st->inner, (int32_t)st->par[0], value, index);
    ec_operand_store(g, out, lane0, 0, s, value);
}
#endif

EC_FN void ec_step_soft_max(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double x[EC_LANES], m[EC_LANES], t[EC_LANES];
    ec_operand_load(g, a, lane0, 0, s, m);
    for (int32_t i = 1; i < st->inner; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        EC_STRIP(l) m[l] = x[l] > m[l] || x[l] != x[l] ? x[l] : m[l];
    }
    EC_STRIP(l) t[l] = 0;
    for (int32_t i = 0; i < st->inner; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        EC_STRIP(l) t[l] += ec_det_exp(st->par[0] * (x[l] - m[l]));
    }
    EC_STRIP(l) t[l] = m[l] + ec_det_log(t[l]) / st->par[0];
    ec_operand_store(g, out, lane0, 0, s, t);
}

EC_FN void ec_step_local_maxima(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double x[EC_LANES], before[EC_LANES], after[EC_LANES];
    int32_t n = st->elements;
    int circular = st->par[0] != 0;
    for (int32_t i = 0; i < n; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        if (i > 0 || circular)
            ec_operand_load(g, a, lane0, i > 0 ? i - 1 : n - 1, s, before);
        else
            EC_STRIP(l) before[l] = -(double)INFINITY;
        if (i + 1 < n || circular)
            ec_operand_load(g, a, lane0, i + 1 < n ? i + 1 : 0, s, after);
        else
            EC_STRIP(l) after[l] = -(double)INFINITY;
        EC_STRIP(l) x[l] = x[l] > before[l] && x[l] > after[l] ? x[l] : st->par[1];
        ec_operand_store(g, out, lane0, i, s, x);
    }
}

/* walk_min and crossing move one index a lane; lanes that have arrived stand still. */
EC_FN void ec_step_walk(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s, int op)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    const ec_operand *start = op == EC_OP_WALK_MIN ? a + 1 : a + 2;
    double at[EC_LANES], x[EC_LANES], y[EC_LANES], z[EC_LANES], level[EC_LANES], r[EC_LANES];
    int32_t n = st->inner;
    double dir = st->par[0], size = (double)n;
    int circular = st->par[1] != 0;
    int32_t limit = op == EC_OP_WALK_MIN ? (int32_t)st->par[2] : n - 1;
    ec_operand_load(g, start, lane0, 0, s, at);
    EC_STRIP(l)
    {
        at[l] = ec_det_rint(at[l]);
        at[l] = at[l] >= 0 ? at[l] : 0; /* NaN too */
        at[l] = at[l] <= size - 1 ? at[l] : size - 1;
        r[l] = op == EC_OP_WALK_MIN ? st->par[2] : (double)NAN;
        level[l] = 0;
    }
    if (op == EC_OP_CROSSING)
        ec_operand_load(g, a + 1, lane0, 0, s, level);
    ec_operand_pick(g, a, lane0, at, s, x);
    double done[EC_LANES];
    EC_STRIP(l) done[l] = 0;
    for (int32_t k = 1; k <= limit; k++) {
        double next[EC_LANES], over[EC_LANES], inside[EC_LANES];
        EC_STRIP(l)
        {
            next[l] = at[l] + dir;
            inside[l] = 1;
            if (circular) {
                next[l] = next[l] < 0 ? next[l] + size : next[l] >= size ? next[l] - size : next[l];
                over[l] = next[l] + dir;
                over[l] = over[l] < 0 ? over[l] + size : over[l] >= size ? over[l] - size : over[l];
            } else {
                inside[l] = next[l] >= 0 && next[l] < size ? 1.0 : 0.0;
                next[l] = inside[l] != 0 ? next[l] : at[l];
                over[l] = next[l] + dir;
                over[l] = over[l] >= 0 && over[l] < size ? over[l] : next[l];
            }
        }
        ec_operand_pick(g, a, lane0, next, s, y);
        ec_operand_pick(g, a, lane0, over, s, z);
        EC_STRIP(l)
        {
            if (done[l] == 0 && inside[l] != 0) {
                if (op == EC_OP_WALK_MIN) {
                    /* at the end of a plain row one neighbour counts */
                    int minimum = y[l] < x[l] && (y[l] < z[l] || over[l] == next[l]);
                    r[l] = minimum ? (double)k : r[l];
                    done[l] = minimum ? 1.0 : 0.0;
                } else if (y[l] < level[l]) {
                    double drop = x[l] - y[l];
                    r[l] = (double)(k - 1) + (drop > 0 ? (x[l] - level[l]) / drop : 0.0);
                    done[l] = 1;
                }
                at[l] = next[l];
                x[l] = y[l];
            }
        }
    }
    ec_operand_store(g, out, lane0, 0, s, r);
}

EC_FN void ec_step_cumsum(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double x[EC_LANES], t[EC_LANES];
    EC_STRIP(l) t[l] = 0;
    for (int32_t i = 0; i < st->elements; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        EC_STRIP(l) t[l] += x[l];
        ec_operand_store(g, out, lane0, i, s, t);
    }
}

EC_FN void ec_step_take(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s, int op)
{
    const ec_operand *a = g->operands + st->first_operand, *b = a + 1, *out = a + st->n_in;
    double at[EC_LANES], low[EC_LANES], up[EC_LANES], x[EC_LANES], y[EC_LANES];
    double last = (double)(st->inner - 1);
    for (int32_t i = 0; i < st->elements; i++) {
        ec_operand_load(g, b, lane0, i, s, at);
        EC_STRIP(l)
        {
            double p = op == EC_OP_TAKE ? ec_det_rint(at[l]) : at[l];
            p = p >= 0 ? p : 0; /* NaN too */
            p = p <= last ? p : last;
            low[l] = ec_det_floor(p);
            up[l] = low[l] + 1 <= last ? low[l] + 1 : last;
            at[l] = at[l] == at[l] ? p - low[l] : at[l];
        }
        ec_operand_pick(g, a, lane0, low, s, x);
        if (op == EC_OP_INTERP) {
            ec_operand_pick(g, a, lane0, up, s, y);
            EC_STRIP(l) x[l] = x[l] + at[l] * (y[l] - x[l]);
        } else {
            EC_STRIP(l) x[l] = at[l] == at[l] ? x[l] : at[l];
        }
        ec_operand_store(g, out, lane0, i, s, x);
    }
}

/* Copies element k of the output from wherever it lies: concat, gather, spread. */
EC_FN void ec_step_move(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s, int op,
                        int32_t e0, int32_t e1)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    const int32_t *index = ec_step_index(g, st);
    double x[EC_LANES], y[EC_LANES];
    int32_t part = 0;
    for (int32_t e = e0; e < e1; e++) {
        int32_t from = e;
        const ec_operand *in = a;
        if (op == EC_OP_CONCAT) {
            while (e >= index[part + 1])
                part++;
            in = a + part;
            from = e - index[part];
        } else if (op == EC_OP_GATHER) {
            from = index[e];
        }
        if (from < 0) {
            EC_STRIP(l) x[l] = y[l] = 0;
        } else if (st->complex) {
            ec_operand_load_complex(g, in, lane0, from, s, x, y);
        } else {
            ec_operand_load(g, in, lane0, from, s, x);
        }
        if (st->complex)
            ec_operand_store_complex(g, out, lane0, e, s, x, y);
        else
            ec_operand_store(g, out, lane0, e, s, x);
    }
}

/* r[i] = sum of a[k] over the k whose gather index was i (compressed rows). */
EC_FN void ec_step_gather_sum(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s,
                              int32_t e0, int32_t e1)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    const int32_t *row = ec_step_index(g, st), *column = row + st->elements + 1;
    double x[EC_LANES], y[EC_LANES], t[EC_LANES], u[EC_LANES];
    for (int32_t e = e0; e < e1; e++) {
        EC_STRIP(l) t[l] = u[l] = y[l] = 0;
        for (int32_t k = row[e]; k < row[e + 1]; k++) {
            if (st->complex)
                ec_operand_load_complex(g, a, lane0, column[k], s, x, y);
            else
                ec_operand_load(g, a, lane0, column[k], s, x);
            EC_STRIP(l)
            {
                t[l] += x[l];
                u[l] += y[l];
            }
        }
        if (st->complex)
            ec_operand_store_complex(g, out, lane0, e, s, t, u);
        else
            ec_operand_store(g, out, lane0, e, s, t);
    }
}

EC_FN void ec_step_matvec(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s,
                          int32_t e0, int32_t e1)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    const double *matrix = (const double *)(g->table + st->data);
    double x[EC_LANES], y[EC_LANES], t[EC_LANES], u[EC_LANES];
#ifdef __CUDACC__
    int64_t step = 0;
    const double *column = ec_operand_column(g, a, lane0, s, &step);
    if (column && !st->complex) {
        for (int32_t e = e0; e < e1; e++) {
            t[0] = ec_column_product(matrix + (size_t)e * (size_t)st->inner, column, (int32_t)step,
                                     st->inner);
            ec_operand_store(g, out, lane0, e, s, t);
        }
        return;
    }
#endif
    for (int32_t e = e0; e < e1; e++) {
        EC_STRIP(l) t[l] = u[l] = y[l] = 0;
        for (int32_t k = 0; k < st->inner; k++) {
            double w = matrix[(size_t)e * (size_t)st->inner + (size_t)k];
            if (st->complex)
                ec_operand_load_complex(g, a, lane0, k, s, x, y);
            else
                ec_operand_load(g, a, lane0, k, s, x);
            EC_STRIP(l)
            {
                t[l] += w * x[l];
                u[l] += w * y[l];
            }
        }
        if (st->complex)
            ec_operand_store_complex(g, out, lane0, e, s, t, u);
        else
            ec_operand_store(g, out, lane0, e, s, t);
    }
}

EC_FN void ec_step_matmul(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s,
                          int32_t e0, int32_t e1)
{
    const ec_operand *a = g->operands + st->first_operand, *b = a + 1, *out = a + st->n_in;
    int32_t k = st->shape[1], n = st->shape[2];
    double x[EC_LANES], y[EC_LANES], t[EC_LANES];
    for (int32_t e = e0; e < e1; e++) {
        EC_STRIP(l) t[l] = 0;
        for (int32_t i = 0; i < k; i++) {
            ec_operand_load(g, a, lane0, e / n * k + i, s, x);
            ec_operand_load(g, b, lane0, i * n + e % n, s, y);
            EC_STRIP(l) t[l] += x[l] * y[l];
        }
        ec_operand_store(g, out, lane0, e, s, t);
    }
}

/* k codes to k distinct indices: code i picks the (code + 1)-th index not taken yet. The taken ones
 * are kept sorted in the output while it is built, then put back in order of picking. */
EC_FN void ec_step_distinct(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double x[EC_LANES], y[EC_LANES];
    for (int32_t i = 0; i < st->elements; i++) {
        double most = st->par[0] - 1 - (double)i;
        ec_operand_load(g, a, lane0, i, s, x);
        EC_STRIP(l)
        {
            x[l] = ec_det_floor(x[l]);
            x[l] = x[l] >= 0 ? x[l] : 0;
            x[l] = x[l] <= most ? x[l] : most;
        }
        /* each index already taken at or below the candidate moves it up; to a fixed point */
        for (int32_t pass = 0; pass < i; pass++) {
            /* the smallest taken index not yet passed: taken in ascending order of value */
            double step[EC_LANES];
            EC_STRIP(l) step[l] = 0;
            for (int32_t k = 0; k < i; k++) {
                ec_operand_load(g, out, lane0, k, s, y);
                /* number of taken indices <= x */
                EC_STRIP(l) step[l] += y[l] <= x[l] ? 1.0 : 0.0;
            }
            ec_operand_load(g, a, lane0, i, s, y);
            EC_STRIP(l)
            {
                double code = ec_det_floor(y[l]);
                code = code >= 0 ? code : 0;
                code = code <= most ? code : most;
                x[l] = code + step[l];
            }
        }
        ec_operand_store(g, out, lane0, i, s, x);
    }
}

EC_FN void ec_step_unsort(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s)
{
    const ec_operand *a = g->operands + st->first_operand, *perm = a + 1, *out = a + st->n_in;
    double x[EC_LANES], row[EC_LANES];
    for (int32_t i = 0; i < st->elements; i++) {
        ec_operand_load(g, a, lane0, i, s, x);
        ec_operand_load(g, perm, lane0, i, s, row);
        ec_operand_scatter(g, out, lane0, row, s, x);
    }
}

/* Doubles in the order of unsigned integers. */
EC_FN uint64_t ec_order_of(double x)
{
    uint64_t bits = ec_det_bits(x + 0.0); /* -0 is 0 */
    return bits ^ ((0 - (bits >> 63)) | 0x8000000000000000u);
}

EC_FN double ec_order_back(uint64_t key)
{
    return ec_det_from_bits(key ^ (((key >> 63) - 1) | 0x8000000000000000u));
}

/* Order statistics k and k + 1 (k where there is none above) of n samples: bit by bit the largest key
 * that at most k samples lie below. 64 n loads and no memory; NaN where a sample is one. */
EC_FN void ec_step_order(const ec_graph_args *g, const ec_operand *a, size_t lane0, int32_t e,
                         int32_t n, int32_t k, double *below, double *above)
{
    uint64_t key[EC_LANES], next[EC_LANES];
    int32_t count[EC_LANES];
    double x[EC_LANES], bad[EC_LANES];
    EC_STRIP(l) key[l] = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t one = (uint64_t)1 << bit;
        EC_STRIP(l) count[l] = 0;
        for (int32_t i = 0; i < n; i++) {
            ec_operand_load(g, a, lane0, e, i, x);
            EC_STRIP(l) count[l] += ec_order_of(x[l]) < (key[l] | one) ? 1 : 0;
        }
        EC_STRIP(l) key[l] |= count[l] <= k ? one : 0;
    }
    EC_STRIP(l)
    {
        count[l] = 0;
        bad[l] = 0;
        next[l] = ~(uint64_t)0;
    }
    for (int32_t i = 0; i < n; i++) {
        ec_operand_load(g, a, lane0, e, i, x);
        EC_STRIP(l)
        {
            uint64_t other = ec_order_of(x[l]);
            bad[l] = x[l] != x[l] ? x[l] : bad[l];
            count[l] += other <= key[l] ? 1 : 0;
            next[l] = other > key[l] && other < next[l] ? other : next[l];
        }
    }
    EC_STRIP(l)
    {
        below[l] = bad[l] != bad[l] ? bad[l] : ec_order_back(key[l]);
        above[l] =
            bad[l] != bad[l] || count[l] > k + 1 || k + 1 >= n ? below[l] : ec_order_back(next[l]);
    }
}

EC_FN void ec_step_percentile(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t e)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double t[EC_LANES], u[EC_LANES], share = st->par[0] / 100;
    int32_t n = st->reduce_samples, kind = (int32_t)st->par[1];
    double place = kind == EC_PERCENTILE_QUANTILE ? -ec_det_floor(-share * (double)n) - 1
                                                  : share * (double)(n - 1);
    place = place < 0 ? 0 : place;
    double low = ec_det_floor(place), part = place - low;
    ec_step_order(g, a, lane0, e, n, (int32_t)low, t, u);
    if (kind == EC_PERCENTILE_ABOVE)
        EC_STRIP(l) t[l] = u[l];
    else if (kind == EC_PERCENTILE_LINEAR && part > 0)
        EC_STRIP(l) t[l] = t[l] + part * (u[l] - t[l]);
    ec_operand_store(g, out, lane0, e, 0, t);
}

/* Reductions over samples; `s` does not count here. */
EC_FN void ec_step_samples(const ec_graph_args *g, const ec_step *st, size_t lane0, int op,
                           int32_t e)
{
    const ec_operand *a = g->operands + st->first_operand, *out = a + st->n_in;
    double x[EC_LANES], y[EC_LANES], t[EC_LANES], u[EC_LANES];
    int32_t n = st->reduce_samples;
    EC_STRIP(l) t[l] = u[l] = y[l] = 0;
    if (op == EC_OP_SAMPLE_PERCENTILE) {
        ec_step_percentile(g, st, lane0, e);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        if (st->complex)
            ec_operand_load_complex(g, a, lane0, e, i, x, y);
        else
            ec_operand_load(g, a, lane0, e, i, x);
        if (op == EC_OP_SAMPLE_MIN)
            EC_STRIP(l) t[l] = i == 0 || x[l] < t[l] || x[l] != x[l] ? x[l] : t[l];
        else if (op == EC_OP_SAMPLE_MAX)
            EC_STRIP(l) t[l] = i == 0 || x[l] > t[l] || x[l] != x[l] ? x[l] : t[l];
        else
            EC_STRIP(l)
            {
                t[l] += x[l];
                u[l] += y[l];
            }
    }
    if (op == EC_OP_SAMPLE_MEAN)
        EC_STRIP(l)
        {
            t[l] = t[l] / (double)n;
            u[l] = u[l] / (double)n;
        }
    if (st->complex)
        ec_operand_store_complex(g, out, lane0, e, 0, t, u);
    else
        ec_operand_store(g, out, lane0, e, 0, t);
}

/* Any structural step; elements [e0, e1) where elements are independent, all of it elsewhere. */
EC_FN void ec_step_run(const ec_graph_args *g, const ec_step *st, size_t lane0, int32_t s, int op,
                       int32_t e0, int32_t e1)
{
    switch (op) {
    case EC_OP_SUM:
    case EC_OP_MEAN:
    case EC_OP_NORM:
    case EC_OP_RMIN:
    case EC_OP_RMAX:
    case EC_OP_ARGMIN:
    case EC_OP_ARGMAX:
        ec_step_reduce(g, st, lane0, s, op);
        break;
    case EC_OP_KTH_LARGEST:
        ec_step_kth(g, st, lane0, s);
        break;
    case EC_OP_SOFT_MAX:
        ec_step_soft_max(g, st, lane0, s);
        break;
    case EC_OP_LOCAL_MAXIMA:
        ec_step_local_maxima(g, st, lane0, s);
        break;
    case EC_OP_WALK_MIN:
    case EC_OP_CROSSING:
        ec_step_walk(g, st, lane0, s, op);
        break;
    case EC_OP_SORT:
    case EC_OP_ARGSORT:
        ec_step_sort(g, st, lane0, s, op);
        break;
    case EC_OP_TOP_K:
        ec_step_top_k(g, st, lane0, s);
        break;
    case EC_OP_CUMSUM:
        ec_step_cumsum(g, st, lane0, s);
        break;
    case EC_OP_TAKE:
    case EC_OP_INTERP:
        ec_step_take(g, st, lane0, s, op);
        break;
    case EC_OP_CONCAT:
    case EC_OP_GATHER:
    case EC_OP_SPREAD:
        ec_step_move(g, st, lane0, s, op, e0, e1);
        break;
    case EC_OP_GATHER_SUM:
        ec_step_gather_sum(g, st, lane0, s, e0, e1);
        break;
    case EC_OP_MATVEC:
        ec_step_matvec(g, st, lane0, s, e0, e1);
        break;
    case EC_OP_MATMUL:
        ec_step_matmul(g, st, lane0, s, e0, e1);
        break;
    case EC_OP_DISTINCT:
        ec_step_distinct(g, st, lane0, s);
        break;
    case EC_OP_UNSORT:
        ec_step_unsort(g, st, lane0, s);
        break;
    case EC_OP_SAMPLE_MEAN:
    case EC_OP_SAMPLE_MIN:
    case EC_OP_SAMPLE_MAX:
    case EC_OP_SAMPLE_SUM:
    case EC_OP_SAMPLE_PERCENTILE:
        for (int32_t e = e0; e < e1; e++)
            ec_step_samples(g, st, lane0, op, e);
        break;
    default:
        break;
    }
}

/* ---- status -------------------------------------------------------------------------------------- */

/* Candidate status: groups' bits OR-ed in. */
typedef struct ec_status_args {
    uint8_t *status;
    const uint8_t *group_status;
    const int32_t *group;
    const int32_t *stop;
} ec_status_args;

EC_FN void ec_status_body(const ec_status_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (a->stop && *a->stop)
        return;
    EC_STRIP(l)
    {
        size_t c = lane0 + (size_t)l;
        a->status[c] = (uint8_t)(a->status[c] | a->group_status[a->group[c]]);
    }
}

#endif
