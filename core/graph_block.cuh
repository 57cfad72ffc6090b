/* graph_block.cuh: graph steps inside a block, for graph_kernels.cu and for kernels that evaluate a
 * few candidates by themselves. Included by .cu files only.
 *
 * ec_graph_block_run computes what ec_executor_program gave for some neighbouring lanes, the bits of
 * the launches of a run: elements are spread over the threads, sums run in element order. */
#ifndef EC_GRAPH_BLOCK_CUH
#define EC_GRAPH_BLOCK_CUH

#include "graph_kernels.h"

enum { EC_REDUCTIONS = 4 /* of a fused pass, at most */ };

/* Runs the program for one element and lane. reg points at this thread's column of the registers,
 * `stride` threads apart. */
__device__ __forceinline__ void ec_run_program(const ec_graph_args &g, const ec_operand *operand,
                                               const ec_instr *program, int n_program, double *reg,
                                               int stride, size_t lane, int32_t e, int32_t s)
{
    for (int k = 0; k < n_program; k++) {
        const ec_instr in = program[k];
        double re, im;
        switch (in.op) {
        case EC_FUSED_LOAD:
            ec_operand_load(&g, &operand[in.operand], lane, e, s, &reg[in.dst * stride]);
            break;
        case EC_FUSED_LOAD_COMPLEX:
            ec_operand_load_complex(&g, &operand[in.operand], lane, e, s, &re, &im);
            reg[in.dst * stride] = re;
            reg[in.c * stride] = im;
            break;
        case EC_FUSED_IMMEDIATE:
            reg[in.dst * stride] = in.value;
            break;
        case EC_FUSED_STORE:
            ec_operand_store(&g, &operand[in.operand], lane, e, s, &reg[in.a * stride]);
            break;
        case EC_FUSED_STORE_COMPLEX:
            re = reg[in.a * stride];
            im = reg[in.b * stride];
            ec_operand_store_complex(&g, &operand[in.operand], lane, e, s, &re, &im);
            break;
        default:
            ec_fused_real(in.op, &reg[in.dst * stride], &reg[in.a * stride], &reg[in.b * stride],
                          &reg[in.c * stride], 1);
            break;
        }
    }
}

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

/* ---- all steps of a program for lanes [first, first + lanes), by one block -------------------- */

/* Doubles of shared memory that a block of `threads` needs; g.inner as ec_executor_program says. */
static __host__ __device__ __forceinline__ size_t ec_graph_block_shared(const ec_graph_args &g,
                                                                        int threads)
{
    return (size_t)((g.inner > 0 ? g.inner : 1) + EC_REDUCTIONS) * (size_t)threads;
}

/* A fused pass without reductions: a thread an element and lane. */
static __device__ void ec_graph_block_map(const ec_graph_args &g, const ec_step *st, uint32_t first,
                                          uint32_t lanes, double *shared)
{
    const ec_operand *operand = g.operands + st->first_operand;
    const ec_instr *program = g.instrs + st->first_instr;
    uint32_t row = lanes * (uint32_t)st->elements;

    for (uint32_t u = threadIdx.x; u < row * (uint32_t)st->samples; u += blockDim.x) {
        uint32_t s = u / row, e = u % row / lanes, lane = first + u % lanes;
        ec_run_program(g, operand, program, st->n_instr, shared + threadIdx.x, (int)blockDim.x,
                       lane, (int32_t)e, (int32_t)s);
    }
}

/* A fused pass with reductions: blockDim.x / lanes elements of each lane at a time; then a thread
 * a lane and reduction adds them up in their order. */
static __device__ void ec_graph_block_reduce(const ec_graph_args &g, const ec_step *st,
                                             uint32_t first, uint32_t lanes, double *shared)
{
    const ec_operand *operand = g.operands + st->first_operand;
    const ec_instr *program = g.instrs + st->first_instr;
    const int n_program = st->n_instr - st->n_reduce;
    const ec_instr *reduce = program + n_program;
    const int32_t team = (int32_t)(blockDim.x / lanes);
    const int32_t member = (int32_t)(threadIdx.x / lanes);
    const uint32_t lane = threadIdx.x % lanes;
    double *value = shared, *reg = shared + EC_REDUCTIONS * blockDim.x + threadIdx.x;

    for (int32_t s = 0; s < st->samples; s++) {
        double total = 0, part = 0;
        for (int32_t e0 = 0; e0 < st->elements; e0 += team) {
            int32_t e = e0 + member;
            if (member < team && e < st->elements) {
                ec_run_program(g, operand, program, n_program, reg, (int)blockDim.x, first + lane,
                               e, s);
                for (int k = 0; k < st->n_reduce; k++)
                    value[k * blockDim.x + threadIdx.x] = reg[reduce[k].a * blockDim.x];
            }
            __syncthreads();
            if (member < st->n_reduce) {
                int32_t count = st->elements - e0 < team ? st->elements - e0 : team;
                for (int32_t i = 0; i < count; i++)
                    ec_reduce_one(reduce[member].op, value[member * blockDim.x + i * lanes + lane],
                                  e0 + i, &total, &part);
            }
            __syncthreads();
        }
        if (member < st->n_reduce) {
            if (reduce[member].op == EC_FUSED_SUM)
                total += part;
            ec_operand_store(&g, &operand[reduce[member].operand], first + lane, 0, s, &total);
        }
    }
}

/* The first unit is that of thread `turn`, so that steps beside each other keep different warps busy. */
static __device__ void ec_graph_block_step(const ec_graph_args &g, const ec_step *st,
                                           uint32_t first, uint32_t lanes, uint32_t turn)
{
    bool split = ec_step_elements_apart(st->op);
    uint32_t row = lanes * (split ? (uint32_t)st->elements : 1u);
    uint32_t thread = (threadIdx.x + blockDim.x - turn) % blockDim.x;

    for (uint32_t u = thread; u < row * (uint32_t)st->samples; u += blockDim.x) {
        int32_t s = (int32_t)(u / row), e = split ? (int32_t)(u % row / lanes) : 0;
        size_t lane = first + u % lanes;

        switch (st->op) {
        case EC_OP_MATVEC:
            ec_step_matvec(&g, st, lane, s, e, e + 1);
            break;
        case EC_OP_MATMUL:
            ec_step_matmul(&g, st, lane, s, e, e + 1);
            break;
        case EC_OP_CONCAT:
        case EC_OP_GATHER:
        case EC_OP_SPREAD:
            ec_step_move(&g, st, lane, s, st->op, e, e + 1);
            break;
        case EC_OP_GATHER_SUM:
            ec_step_gather_sum(&g, st, lane, s, e, e + 1);
            break;
        case EC_OP_TOP_K:
            ec_step_top_k(&g, st, lane, s);
            break;
        default: /* ec_step_in_block: a reduction */
            ec_step_reduce(&g, st, lane, s, st->op);
            break;
        }
    }
}

/* Needs EC_REDUCTIONS x lanes <= blockDim.x, and ec_graph_block_shared doubles. All threads of the
 * block call it and have passed a barrier since the genes were written; ends with a barrier. */
static __device__ void ec_graph_block_run(const ec_graph_args &g, uint32_t first, uint32_t lanes,
                                          double *shared)
{
    uint32_t turn = 0;

    for (int32_t k = 0; k < g.n_steps; k++) {
        const ec_step *st = &g.steps[g.first_step + k];
        if (k > 0 && !st->beside) {
            __syncthreads();
            turn = 0;
        }
        if (st->op != EC_OP_ELEMENTWISE_END) {
            ec_graph_block_step(g, st, first, lanes, turn);
            uint32_t units = lanes * (uint32_t)st->samples *
                             (ec_step_elements_apart(st->op) ? (uint32_t)st->elements : 1u);
            turn = (turn + (units + 31) / 32 * 32) % blockDim.x;
        } else if (st->n_reduce) {
            ec_graph_block_reduce(g, st, first, lanes, shared);
        } else {
            ec_graph_block_map(g, st, first, lanes, shared);
        }
    }
    __syncthreads();
}

#endif
