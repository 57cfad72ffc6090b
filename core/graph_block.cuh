/* graph_block.cuh: graph steps inside a block, for kernels that evaluate a few candidates by
 * themselves. Included by .cu files only.
 *
 * ec_block_prepare puts what ec_executor_program gave into the block's shared memory: instructions
 * with the places of what they load, constant matrices, and room for the values of the block's
 * candidates, so that a generation touches no memory beyond the multiprocessor. ec_block_run computes
 * it by a team of threads, the bits of the launches of a run: elements are spread over the threads,
 * sums run in element order.
 *
 * A pass is bound by latency. So places are 32-bit offsets into dynamic shared memory, the next
 * instructions and their operands are fetched while one is computed, and what is rare is kept out of
 * the code that runs each time. */
#ifndef EC_GRAPH_BLOCK_CUH
#define EC_GRAPH_BLOCK_CUH

#include "graph_kernels.h"

enum { EC_REDUCTIONS = 4 /* of a fused pass, at most */ };

/* One more element of a reduction: sums in blocks of EC_SUM_BLOCK, as on the CPU. */
__device__ __forceinline__ void ec_reduce_one(int op, double x, int32_t e, double *total,
                                              double *part)
{
    if (op == EC_FUSED_SUM) {
        if (e % EC_SUM_BLOCK == 0) {
            *total += *part;
            *part = 0;
        }
        *part += x;
    } else if (e == 0) {
        *total = x;
    } else {
        ec_fused_real(op == EC_FUSED_RMIN ? EC_OP_MIN : EC_OP_MAX, total, total, &x, &x, 1);
    }
}

/* The dynamic shared memory of the kernel. */
extern __shared__ uint4 ec_block_memory[];

/* What lies `at` bytes from its start. */
template <typename T> static __device__ __forceinline__ T *ec_block_at(uint32_t at)
{
    return (T *)((char *)ec_block_memory + at);
}

/* Codes of instructions. Branches are what a pass spends most of its time with, so the codes that most
 * instructions have come first and share one: loads of float64 numbers in shared memory, constants
 * among them, and the basic operations. Those of EC_BLOCK_LIST and WHERE, CLAMP are the rest of
 * ec_instr_lean; any other code follows as EC_BLOCK_RARE + code. */
#define EC_BLOCK_LIST(X)                                                                           \
    X(NEG) X(ABS) X(SQRT) X(EXP) X(LOG) X(LOG10) X(SIN) X(COS) X(DIV) X(MIN) X(MAX) X(LT) X(LE)
enum {
    EC_BLOCK_LOAD,     /* one a lane */
    EC_BLOCK_LOAD_ONE, /* one for all lanes */
    EC_BLOCK_ADD,
    EC_BLOCK_SUB,
    EC_BLOCK_MUL,
    EC_BLOCK_SQUARE,
    EC_BLOCK_STORE,
#define EC_BLOCK_CODE(name) EC_BLOCK_##name,
    EC_BLOCK_LIST(EC_BLOCK_CODE)
#undef EC_BLOCK_CODE
        EC_BLOCK_WHERE,
    EC_BLOCK_CLAMP,
    EC_BLOCK_RARE
};

static __device__ uint32_t ec_block_code(int op)
{
    switch (op) {
#define EC_BLOCK_CASE(name)                                                                        \
    case EC_OP_##name:                                                                             \
        return EC_BLOCK_##name;
        EC_BLOCK_LIST(EC_BLOCK_CASE)
        EC_BLOCK_CASE(ADD)
        EC_BLOCK_CASE(SUB)
        EC_BLOCK_CASE(MUL)
        EC_BLOCK_CASE(SQUARE)
        EC_BLOCK_CASE(WHERE)
        EC_BLOCK_CASE(CLAMP)
#undef EC_BLOCK_CASE
    default:
        return EC_BLOCK_RARE + (uint32_t)op;
    }
}

/* Registers are given in doubles from the thread's own column. */
struct alignas(16) ec_block_instr {
    uint32_t op_dst, a_b; /* the first in the low half */
    union {
        struct { /* loads, stores: of element 0 and lane 0, and from element to element */
            uint32_t at, step;
        };
        struct { /* others */
            uint32_t c, operand;
        };
    };
};

enum { EC_BLOCK_PASS, EC_BLOCK_PRODUCT, EC_BLOCK_SUM, EC_BLOCK_OTHER };

/* EC_BLOCK_PRODUCT, EC_BLOCK_SUM: column and result are float64 numbers in shared memory, one a lane. */
struct ec_block_step {
    int32_t kind, beside;
    uint32_t elements, samples; /* elements that are computed apart from each other */
    uint32_t instr;             /* where its instructions are */
    int32_t n_instr, n_reduce;
    int32_t inner;
    uint32_t column, column_step, result, result_step;
    uint32_t row; /* the matrix */
};

/* A program in shared memory. Lanes are counted from the block's first one. */
struct ec_block_program {
    ec_graph_args g; /* for what is rare: steps and operands in shared memory, first_step 0 */
    uint32_t step;
    uint32_t registers;         /* EC_REDUCTIONS values of each thread, then its registers */
    uint32_t lanes, reciprocal; /* u / lanes is the high word of u * reciprocal */
};

/* Threads that run a program together: whole warps, and the number of their barrier. */
struct ec_block_team {
    uint32_t rank, size, barrier;
};

static __device__ __forceinline__ void ec_block_sync(const ec_block_team &team)
{
    asm volatile("bar.sync %0, %1;" ::"r"(team.barrier), "r"(team.size) : "memory");
}

/* ---- shared memory ---- */

/* Where things lie, in bytes from the start of shared memory. */
struct ec_block_layout {
    uint32_t instr, constant, step, plain_step, operand, matrix, chunk, population, registers;
    uint32_t bytes; /* in all */
};

/* Room for `count` things of `size` bytes; *at moves on. */
static inline __host__ __device__ uint32_t ec_block_take(uint32_t *at, size_t count, size_t size)
{
    uint32_t here = *at;

    *at += (uint32_t)((count * size + 15) / 16 * 16);
    return here;
}

/* For a team of so many threads; the caller has seen to it that the bytes fit 32 bits. */
static inline __host__ __device__ ec_block_layout ec_block_lay_out(const ec_graph_args &g,
                                                                   uint32_t lanes, uint32_t team)
{
    const ec_graph_extent &e = g.extent;
    const size_t registers = (size_t)(g.inner > 0 ? g.inner : 1) + EC_REDUCTIONS;
    ec_block_layout m;
    uint32_t at = 0;

    /* two more, which are fetched behind the last */
    m.instr = ec_block_take(&at, (size_t)e.n_instr + 2, sizeof(ec_block_instr));
    m.constant = ec_block_take(&at, (size_t)e.n_instr, sizeof(double));
    m.step = ec_block_take(&at, (size_t)g.n_steps + 1, sizeof(ec_block_step)); /* one more, too */
    m.plain_step = ec_block_take(&at, (size_t)g.n_steps, sizeof(ec_step));
    m.operand = ec_block_take(&at, (size_t)e.n_operands, sizeof(ec_operand));
    m.matrix = ec_block_take(&at, (size_t)e.matrix_bytes, 1);
    m.chunk = ec_block_take(&at, (size_t)e.chunk_bytes * lanes, 1);
    m.population = ec_block_take(&at, (size_t)e.population_bytes * lanes, 1);
    m.registers = ec_block_take(&at, registers * team, sizeof(double));
    m.bytes = at;
    return m;
}

/* An operand whose values the block keeps to itself. */
static __device__ __forceinline__ ec_operand ec_block_operand(ec_operand o, uint32_t lanes)
{
    if (o.region == EC_REGION_CHUNK || o.region == EC_REGION_POPULATION) {
        o.offset = o.offset / (uint64_t)o.ld * lanes;
        o.sample_stride = o.sample_stride / o.ld * lanes;
        o.ld = (int32_t)lanes;
    } else if (o.region == EC_REGION_X) {
        o.ld = (int32_t)lanes;
    }
    return o;
}

/* Whether the operand is float64 numbers in shared memory, the same for all samples; where element 0
 * of lane 0 is, and how far the next element. */
static __device__ bool ec_block_near(const ec_graph_args &g, const ec_operand *o, uint32_t *at,
                                     uint32_t *step)
{
    bool own = o->region == EC_REGION_X || o->region == EC_REGION_CHUNK ||
               o->region == EC_REGION_POPULATION;

    if (!own || o->dtype != EC_F64 || o->sample_stride != 0 || o->lane == EC_LANE_GATHER)
        return false;
    const char *base = g.region[o->region] + o->offset;
    *at = (uint32_t)(base - (const char *)ec_block_memory) +
          (uint32_t)(o->first * o->ld) * (uint32_t)sizeof(double);
    *step = (uint32_t)(o->elem * o->ld) * (uint32_t)sizeof(double);
    return true;
}

/* constant: where its number goes. */
static __device__ ec_block_instr ec_block_pack(const ec_graph_args &g, const ec_step *st,
                                               const ec_instr &from, uint32_t team,
                                               uint32_t constant)
{
    const ec_operand *o = g.operands + st->first_operand + (from.operand > 0 ? from.operand : 0);
    bool stores = from.op == EC_FUSED_STORE || from.op == EC_FUSED_STORE_COMPLEX;
    ec_block_instr to;
    uint32_t at, step, dst = (stores ? from.a : from.dst) * team; /* a store leaves it as it is */

    to.op_dst = ec_block_code(from.op) | dst << 16;
    to.a_b = from.a * team | from.b * team << 16;
    if (from.op == EC_FUSED_IMMEDIATE) {
        to.op_dst = dst << 16 | EC_BLOCK_LOAD_ONE;
        to.at = constant;
        to.step = 0;
        *ec_block_at<double>(constant) = from.value;
        return to;
    }
    to.c = from.c * team;
    to.operand = (uint32_t)(o - g.operands);
    if (g.extent.lean &&
        (from.op == EC_FUSED_SUM || from.op == EC_FUSED_RMIN || from.op == EC_FUSED_RMAX) &&
        ec_block_near(g, o, &at, &step))
        to.at = at;
    if ((from.op != EC_FUSED_LOAD && from.op != EC_FUSED_STORE) ||
        !ec_block_near(g, o, &at, &step) || (stores && o->lane != EC_LANE_DIRECT))
        return to;
    to.op_dst = dst << 16 | (stores                      ? EC_BLOCK_STORE
                             : o->lane == EC_LANE_DIRECT ? EC_BLOCK_LOAD
                                                         : EC_BLOCK_LOAD_ONE);
    to.at = at;
    to.step = step;
    return to;
}

/* How a step is computed; `row` is where its matrix has been put. */
static __device__ ec_block_step ec_block_plan(const ec_graph_args &g, const ec_step *st,
                                              uint32_t instr, uint32_t row)
{
    const ec_operand *in = g.operands + st->first_operand;
    ec_block_step to = {};

    to.kind = st->op == EC_OP_ELEMENTWISE_END ? EC_BLOCK_PASS : EC_BLOCK_OTHER;
    to.beside = st->beside;
    to.elements =
        to.kind == EC_BLOCK_PASS || ec_step_elements_apart(st->op) ? (uint32_t)st->elements : 1;
    to.samples = (uint32_t)st->samples;
    to.n_instr = st->n_instr - st->n_reduce;
    to.n_reduce = st->n_reduce;
    to.inner = st->inner;
    to.instr = instr + (uint32_t)st->first_instr * (uint32_t)sizeof(ec_block_instr);
    to.row = row;
    bool product = st->op == EC_OP_MATVEC && !st->complex;
    if ((product || (st->op == EC_OP_SUM && st->outer == 1)) && in->lane == EC_LANE_DIRECT &&
        in[st->n_in].lane == EC_LANE_DIRECT && ec_block_near(g, in, &to.column, &to.column_step) &&
        ec_block_near(g, in + st->n_in, &to.result, &to.result_step))
        to.kind = product ? EC_BLOCK_PRODUCT : EC_BLOCK_SUM;
    return to;
}

/* Fills *p, which lies in shared memory, for candidates first .. first + lanes - 1, whose genes are at
 * genes[g * lanes + lane] in shared memory too. By all threads of the block; ends with a barrier. */
static __device__ void ec_block_prepare(ec_block_program *p, const ec_graph_args &g,
                                        const ec_block_layout &m, uint32_t first, uint32_t lanes,
                                        uint32_t team, double *genes)
{
    const ec_step *from = g.steps + g.first_step;
    ec_step *step = ec_block_at<ec_step>(m.plain_step);
    ec_operand *operand = ec_block_at<ec_operand>(m.operand);

    for (int32_t k = (int32_t)threadIdx.x; k < g.extent.n_operands; k += (int32_t)blockDim.x)
        operand[k] = ec_block_operand(g.operands[g.extent.first_operand + k], lanes);
    for (int32_t k = (int32_t)threadIdx.x; k < g.n_steps; k += (int32_t)blockDim.x) {
        step[k] = from[k];
        step[k].first_operand -= g.extent.first_operand;
        step[k].first_instr -= g.extent.first_instr;
    }
    if (threadIdx.x == 0) {
        p->g = g;
        p->g.steps = step;
        p->g.operands = operand;
        p->g.first_step = 0;
        p->g.first = 0;
        if (g.group)
            p->g.group = g.group + first;
        p->g.region[EC_REGION_X] = (char *)genes;
        p->g.ld_x = (int32_t)lanes;
        p->g.region[EC_REGION_CHUNK] = ec_block_at<char>(m.chunk);
        p->g.region[EC_REGION_POPULATION] = ec_block_at<char>(m.population);
        p->step = m.step;
        p->registers = m.registers;
        p->lanes = lanes;
        p->reciprocal = (uint32_t)((((uint64_t)1 << 32) + lanes - 1) / lanes);
        for (int32_t k = 0; k < 2; k++)
            ec_block_at<ec_block_instr>(m.instr)[g.extent.n_instr + k] = ec_block_instr{};
    }
    __syncthreads();
    uint32_t row = m.matrix;
    for (int32_t k = 0; k < g.n_steps; k++) {
        const ec_step *st = &step[k];

        if (st->op == EC_OP_ELEMENTWISE_END)
            for (int32_t i = (int32_t)threadIdx.x; i < st->n_instr; i += (int32_t)blockDim.x)
                ec_block_at<ec_block_instr>(m.instr)[st->first_instr + i] = ec_block_pack(
                    p->g, st, g.instrs[from[k].first_instr + i], team,
                    m.constant + (uint32_t)(st->first_instr + i) * (uint32_t)sizeof(double));
        if (threadIdx.x == 0)
            ec_block_at<ec_block_step>(m.step)[k] = ec_block_plan(p->g, st, m.instr, row);
        if (st->op != EC_OP_MATVEC)
            continue;
        const double *data = (const double *)(g.table + st->data);
        int32_t count = st->elements * st->inner;
        for (int32_t i = (int32_t)threadIdx.x; i < count; i += (int32_t)blockDim.x)
            ec_block_at<double>(row)[i] = data[i];
        ec_block_take(&row, (size_t)count, sizeof(double));
    }
    __syncthreads();
}

/* ---- steps ---- */

struct ec_block_pair {
    double re, im;
};

/* What few passes have. */
static __device__ __noinline__ double ec_block_rare(int op, double x, double y, double z)
{
    double r = 0;

    ec_fused_real(op, &r, &x, &y, &z, 1);
    return r;
}

static __device__ __noinline__ ec_block_pair ec_block_move(const ec_block_program *p, int op,
                                                           uint32_t operand, uint32_t lane,
                                                           int32_t e, int32_t s, ec_block_pair v)
{
    const ec_operand *o = p->g.operands + operand;

    if (op == EC_FUSED_LOAD)
        ec_operand_load(&p->g, o, lane, e, s, &v.re);
    else if (op == EC_FUSED_LOAD_COMPLEX)
        ec_operand_load_complex(&p->g, o, lane, e, s, &v.re, &v.im);
    else if (op == EC_FUSED_STORE)
        ec_operand_store(&p->g, o, lane, e, s, &v.re);
    else
        ec_operand_store_complex(&p->g, o, lane, e, s, &v.re, &v.im);
    return v;
}

/* Runs the instructions at `instr` for one element and lane. reg: where the thread's column of the
 * registers is. */
template <bool LEAN>
static __device__ __forceinline__ void ec_block_pass(const ec_block_program *p, uint32_t instr,
                                                     int n_instr, uint32_t reg, uint32_t lane,
                                                     uint32_t e, int32_t s)
{
    const ec_block_instr *in = ec_block_at<ec_block_instr>(instr);
    double *const r = ec_block_at<double>(reg);
    ec_block_instr now = in[0], next = in[1];
    double x = 0, y = 0; /* a pass begins with a load or a constant */

#pragma unroll 1
    for (int k = 0; k < n_instr; k++) {
        const ec_block_instr ahead = in[k + 2];
        const uint32_t dst = now.op_dst >> 16, a = next.a_b & 0xffff, b = next.a_b >> 16;
        const int code = (int)(now.op_dst & 0xffff), op = code - EC_BLOCK_RARE;
        double next_x = r[a], next_y = r[b], t = x;

        if (code <= EC_BLOCK_LOAD_ONE) {
            const uint32_t at = now.at + e * now.step;
            t = *ec_block_at<double>(code == EC_BLOCK_LOAD ? at + lane * (uint32_t)sizeof(double)
                                                           : at);
        } else if (code <= EC_BLOCK_SQUARE) {
            const double sum = x + (code == EC_BLOCK_SUB ? -y : y);
            const double product = x * (code == EC_BLOCK_SQUARE ? x : y);
            t = code >= EC_BLOCK_MUL ? product : sum;
        } else
            switch (code) {
            case EC_BLOCK_STORE:
                *ec_block_at<double>(now.at + e * now.step + lane * (uint32_t)sizeof(double)) = x;
                break;
#define EC_BLOCK_CASE(name)                                                                        \
    case EC_BLOCK_##name:                                                                          \
        ec_fused_real(EC_OP_##name, &t, &x, &y, &y, 1);                                            \
        break;
                EC_BLOCK_LIST(EC_BLOCK_CASE)
#undef EC_BLOCK_CASE
            case EC_BLOCK_WHERE:
                ec_fused_real(EC_OP_WHERE, &t, &x, &y, &r[now.c], 1);
                break;
            case EC_BLOCK_CLAMP:
                ec_fused_real(EC_OP_CLAMP, &t, &x, &y, &r[now.c], 1);
                break;
            default:
                if (LEAN)
                    __builtin_unreachable();
                if (op == EC_FUSED_LOAD_COMPLEX) {
                    ec_block_pair v =
                        ec_block_move(p, op, now.operand, lane, (int32_t)e, s, ec_block_pair{x, y});
                    r[now.c] = v.im;
                    next_x = a == now.c ? v.im : next_x;
                    next_y = b == now.c ? v.im : next_y;
                    t = v.re;
                } else if (op == EC_FUSED_LOAD || op == EC_FUSED_STORE ||
                           op == EC_FUSED_STORE_COMPLEX) {
                    t = ec_block_move(p, op, now.operand, lane, (int32_t)e, s, ec_block_pair{x, y})
                            .re;
                } else {
                    t = ec_block_rare(op, x, y, r[now.c]);
                }
                break;
            }
        r[dst] = t;
        x = a == dst ? t : next_x;
        y = b == dst ? t : next_y;
        now = next;
        next = ahead;
    }
}

static __device__ __forceinline__ uint32_t ec_block_row(const ec_block_program &p, uint32_t u)
{
    return __umulhi(u, p.reciprocal);
}

/* Where the thread's registers are. */
static __device__ __forceinline__ uint32_t ec_block_registers(const ec_block_program &p,
                                                              const ec_block_team &team)
{
    return p.registers + (EC_REDUCTIONS * team.size + team.rank) * (uint32_t)sizeof(double);
}

/* A fused pass: team.size / lanes elements of each lane at a time; of reductions a thread a lane adds
 * them up in their order. */
template <bool LEAN>
static __device__ __forceinline__ void
ec_block_fused(const ec_block_program &p, const ec_block_step &st, const ec_block_team &team)
{
    const ec_block_instr *reduce = ec_block_at<ec_block_instr>(st.instr) + st.n_instr;
    const int32_t members = (int32_t)ec_block_row(p, team.size), elements = (int32_t)st.elements;
    const int32_t member = (int32_t)ec_block_row(p, team.rank), n_reduce = st.n_reduce;
    const uint32_t lane = team.rank - (uint32_t)member * p.lanes, reg = ec_block_registers(p, team);
    double *value = ec_block_at<double>(p.registers);

    for (int32_t s = 0; s < (int32_t)st.samples; s++) {
        double total = 0, part = 0;
        for (int32_t e0 = 0; e0 < elements; e0 += members) {
            int32_t left = elements - e0;
            if (member < members && member < left) {
                ec_block_pass<LEAN>(&p, st.instr, st.n_instr, reg, lane, (uint32_t)(e0 + member),
                                    s);
                for (int32_t k = 0; k < n_reduce; k++)
                    value[(uint32_t)k * team.size + team.rank] =
                        ec_block_at<double>(reg)[reduce[k].a_b & 0xffff];
            }
            if (n_reduce == 0)
                continue;
            ec_block_sync(team);
            if (member < n_reduce) {
                const double *column = value + (uint32_t)member * team.size + lane;
                const int op = (int)(reduce[member].op_dst & 0xffff) - EC_BLOCK_RARE;
                for (int32_t i = 0; i < (left < members ? left : members); i++)
                    ec_reduce_one(op, column[(uint32_t)i * p.lanes], e0 + i, &total, &part);
            }
            if (left > members || s + 1 < (int32_t)st.samples)
                ec_block_sync(team);
        }
        if (member < n_reduce) {
            if ((reduce[member].op_dst & 0xffff) == EC_BLOCK_RARE + EC_FUSED_SUM)
                total += part;
            if (LEAN)
                ec_block_at<double>(reduce[member].at)[lane] = total;
            else
                ec_block_move(&p, EC_FUSED_STORE, reduce[member].operand, lane, 0, s,
                              ec_block_pair{total, 0});
        }
    }
}

static __device__ __noinline__ void ec_block_other(const ec_block_program *p, int32_t k,
                                                   uint32_t lane, int32_t s, int32_t e)
{
    const ec_graph_args *g = &p->g;
    const ec_step *st = g->steps + k;

    switch (st->op) {
    case EC_OP_MATVEC:
        ec_step_matvec(g, st, lane, s, e, e + 1);
        break;
    case EC_OP_MATMUL:
        ec_step_matmul(g, st, lane, s, e, e + 1);
        break;
    case EC_OP_CONCAT:
    case EC_OP_GATHER:
    case EC_OP_SPREAD:
        ec_step_move(g, st, lane, s, st->op, e, e + 1);
        break;
    case EC_OP_GATHER_SUM:
        ec_step_gather_sum(g, st, lane, s, e, e + 1);
        break;
    case EC_OP_TOP_K:
        ec_step_top_k(g, st, lane, s);
        break;
    default: /* ec_step_in_block: a reduction */
        ec_step_reduce(g, st, lane, s, st->op);
        break;
    }
}

/* Products with a row of a matrix and sums, in the order of their elements. */
static __device__ __forceinline__ void ec_block_product(const ec_block_step &st, uint32_t lane,
                                                        uint32_t e)
{
    const double *column = ec_block_at<double>(st.column) + lane;
    const int32_t step = (int32_t)(st.column_step / sizeof(double));
    double t;

    if (st.kind == EC_BLOCK_SUM)
        t = ec_column_sum(column, step, st.inner);
    else
        t = ec_column_product(ec_block_at<double>(st.row) + e * (uint32_t)st.inner, column, step,
                              st.inner);
    ec_block_at<double>(st.result + e * st.result_step)[lane] = t;
}

/* The first unit is that of thread `turn`, so that steps beside each other keep different warps busy. */
template <bool LEAN>
static __device__ __forceinline__ void ec_block_structural(const ec_block_program &p, int32_t k,
                                                           const ec_block_step &st,
                                                           const ec_block_team &team, uint32_t turn)
{
    uint32_t elements = st.elements, units = p.lanes * elements * st.samples;

    for (uint32_t u = team.rank >= turn ? team.rank - turn : team.rank + team.size - turn;
         u < units; u += team.size) {
        uint32_t row = ec_block_row(p, u), lane = u - row * p.lanes;
        uint32_t s = st.samples > 1 ? row / elements : 0, e = row - s * elements;

        if (!LEAN && st.kind == EC_BLOCK_OTHER)
            ec_block_other(&p, k, lane, (int32_t)s, (int32_t)e);
        else
            ec_block_product(st, lane, e);
    }
}

/* Needs EC_REDUCTIONS x lanes <= team.size. All threads of the team call it and have passed a barrier
 * since the genes were written; it does not end with one. LEAN: the program's extent says so. */
template <bool LEAN>
static __device__ __forceinline__ void ec_block_run(const ec_block_program &p,
                                                    const ec_block_team &team)
{
    const ec_block_step *step = ec_block_at<ec_block_step>(p.step);
    const int32_t n_steps = p.g.n_steps;
    ec_block_step st = step[0];
    uint32_t turn = 0;

#pragma unroll 1
    for (int32_t k = 0; k < n_steps; k++) {
        if (st.kind != EC_BLOCK_PASS) {
            ec_block_structural<LEAN>(p, k, st, team, turn);
            turn += (p.lanes * st.samples * st.elements + 31) / 32 * 32;
            while (turn >= team.size)
                turn -= team.size;
        } else {
            ec_block_fused<LEAN>(p, st, team);
        }
        st = step[k + 1];
        if (k + 1 < n_steps && !st.beside) {
            ec_block_sync(team);
            turn = 0;
        }
    }
}

#endif
