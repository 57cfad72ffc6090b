/* graph_kernels.cu: graph steps on the GPU, one thread a lane. Fused passes keep their registers in
 * shared memory (a register index is data, so real registers cannot hold them). */
#include "graph_kernels.h"
#include "kernel_cuda.cuh"

enum { FUSED_BLOCK = 128, STEP_BLOCK = 64 };

/* y runs over samples x blocks of `rows` elements; a pass with reductions takes all elements. */
__global__ void __launch_bounds__(FUSED_BLOCK)
    fused_kernel(const __grid_constant__ ec_graph_args g, size_t lanes, int32_t rows,
                 int32_t blocks)
{
    __shared__ double reg[EC_FUSED_REGISTERS][FUSED_BLOCK];
    if (g.stop && *g.stop)
        return;
    size_t lane = (size_t)blockIdx.x * FUSED_BLOCK + threadIdx.x;
    if (lane >= lanes)
        return;
    const ec_step *st = &g.steps[g.first_step];
    const ec_operand *operand = g.operands + st->first_operand;
    const ec_instr *program = g.instrs + st->first_instr;
    const int n_program = st->n_instr - st->n_reduce, n_reduce = st->n_reduce;
    const ec_instr *reduce = program + n_program;
    const int t = threadIdx.x;
    for (int32_t y = blockIdx.y; y < st->samples * blocks; y += gridDim.y) {
        int32_t s = y / blocks, e0 = y % blocks * rows;
        int32_t e1 = e0 + rows < st->elements ? e0 + rows : st->elements;
        double total[4], part[4];
        for (int k = 0; k < 4; k++)
            total[k] = part[k] = 0;
        for (int32_t e = e0; e < e1; e++) {
            for (int k = 0; k < n_program; k++) {
                const ec_instr in = program[k];
                double re, im;
                switch (in.op) {
                case EC_FUSED_LOAD:
                    ec_operand_load(&g, &operand[in.operand], lane, e, s, &reg[in.dst][t]);
                    break;
                case EC_FUSED_LOAD_COMPLEX:
                    ec_operand_load_complex(&g, &operand[in.operand], lane, e, s, &re, &im);
                    reg[in.dst][t] = re;
                    reg[in.c][t] = im;
                    break;
                case EC_FUSED_IMMEDIATE:
                    reg[in.dst][t] = in.value;
                    break;
                case EC_FUSED_STORE:
                    ec_operand_store(&g, &operand[in.operand], lane, e, s, &reg[in.a][t]);
                    break;
                case EC_FUSED_STORE_COMPLEX:
                    re = reg[in.a][t];
                    im = reg[in.b][t];
                    ec_operand_store_complex(&g, &operand[in.operand], lane, e, s, &re, &im);
                    break;
                default:
                    ec_fused_real(in.op, &reg[in.dst][t], &reg[in.a][t], &reg[in.b][t],
                                  &reg[in.c][t], 1);
                    break;
                }
            }
            for (int k = 0; k < 4; k++) {
                if (k >= n_reduce)
                    break;
                double x = reg[reduce[k].a][t];
                if (reduce[k].op == EC_FUSED_SUM) {
                    if (e % EC_SUM_BLOCK == 0) {
                        total[k] += part[k];
                        part[k] = 0;
                    }
                    part[k] += x;
                } else if (e == 0) {
                    total[k] = x;
                } else {
                    ec_fused_real(reduce[k].op == EC_FUSED_RMIN ? EC_OP_MIN : EC_OP_MAX, &total[k],
                                  &total[k], &x, &x, 1);
                }
            }
        }
        for (int k = 0; k < 4; k++) {
            if (k >= n_reduce)
                break;
            if (reduce[k].op == EC_FUSED_SUM)
                total[k] += part[k];
            ec_operand_store(&g, &operand[reduce[k].operand], lane, 0, s, &total[k]);
        }
    }
}

/* A structural step; OP is fixed at compile time so that each kernel holds one case only. */
template <int OP, bool SPLIT>
__global__ void __launch_bounds__(STEP_BLOCK)
    step_kernel(const __grid_constant__ ec_graph_args g, size_t lanes)
{
    if (g.stop && *g.stop)
        return;
    size_t lane = (size_t)blockIdx.x * STEP_BLOCK + threadIdx.x;
    if (lane >= lanes)
        return;
    const ec_step *st = &g.steps[g.first_step];
    if (SPLIT) {
        for (int32_t y = blockIdx.y; y < st->samples * st->elements; y += gridDim.y) {
            int32_t e = y % st->elements;
            ec_step_run(&g, st, lane, y / st->elements, OP, e, e + 1);
        }
    } else {
        for (int32_t s = blockIdx.y; s < st->samples; s += gridDim.y)
            ec_step_run(&g, st, lane, s, OP, 0, st->elements);
    }
}

static unsigned grid_y(int64_t n)
{
    return (unsigned)(n < 1 ? 1 : n > 65535 ? 65535 : n);
}

template <int OP, bool SPLIT>
static void step_launch(cudaStream_t stream, const ec_graph_args *g, size_t lanes)
{
    int64_t y = (int64_t)g->samples * (SPLIT ? g->elements : 1);
    dim3 grid((unsigned)((lanes + STEP_BLOCK - 1) / STEP_BLOCK), grid_y(y));
    step_kernel<OP, SPLIT><<<grid, STEP_BLOCK, 0, stream>>>(*g, lanes);
}

extern "C" int ec_cuda_graph_segment(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_graph_args *g = (const ec_graph_args *)args;
    cudaStream_t st = (cudaStream_t)stream;
    (void)ny;
    if (lanes == 0)
        return 0;
    if (g->op == EC_OP_ELEMENTWISE_END) {
        int32_t rows = g->n_reduce || g->elements <= 4 ? g->elements : 4;
        int32_t blocks = (g->elements + rows - 1) / rows;
        dim3 grid((unsigned)((lanes + FUSED_BLOCK - 1) / FUSED_BLOCK),
                  grid_y((int64_t)g->samples * blocks));
        fused_kernel<<<grid, FUSED_BLOCK, 0, st>>>(*g, lanes, rows, blocks);
        return (int)cudaPeekAtLastError();
    }
    switch (g->op) {
#define WHOLE(op)                                                                                  \
    case op:                                                                                       \
        step_launch<op, false>(st, g, lanes);                                                      \
        break;
#define SPLIT(op)                                                                                  \
    case op:                                                                                       \
        step_launch<op, true>(st, g, lanes);                                                       \
        break;
        WHOLE(EC_OP_SUM)
        WHOLE(EC_OP_MEAN)
        WHOLE(EC_OP_NORM)
        WHOLE(EC_OP_RMIN)
        WHOLE(EC_OP_RMAX)
        WHOLE(EC_OP_ARGMIN)
        WHOLE(EC_OP_ARGMAX)
        WHOLE(EC_OP_KTH_LARGEST)
        WHOLE(EC_OP_SOFT_MAX)
        WHOLE(EC_OP_LOCAL_MAXIMA)
        WHOLE(EC_OP_WALK_MIN)
        WHOLE(EC_OP_CROSSING)
        WHOLE(EC_OP_SORT)
        WHOLE(EC_OP_ARGSORT)
        WHOLE(EC_OP_TOP_K)
        WHOLE(EC_OP_CUMSUM)
        WHOLE(EC_OP_TAKE)
        WHOLE(EC_OP_INTERP)
        WHOLE(EC_OP_DISTINCT)
        WHOLE(EC_OP_UNSORT)
        SPLIT(EC_OP_CONCAT)
        SPLIT(EC_OP_GATHER)
        SPLIT(EC_OP_SPREAD)
        SPLIT(EC_OP_GATHER_SUM)
        SPLIT(EC_OP_MATVEC)
        SPLIT(EC_OP_MATMUL)
        SPLIT(EC_OP_SAMPLE_MEAN)
        SPLIT(EC_OP_SAMPLE_MIN)
        SPLIT(EC_OP_SAMPLE_MAX)
        SPLIT(EC_OP_SAMPLE_SUM)
        SPLIT(EC_OP_SAMPLE_PERCENTILE)
    default:
        return (int)cudaErrorInvalidValue;
    }
    return (int)cudaPeekAtLastError();
}

EC_KERNEL_CUDA(graph_status, ec_status_args, ec_status_body)
