/* graph_kernels.cu: graph steps on the GPU, one thread a lane. Fused passes keep their registers in
 * shared memory (a register index is data, so real registers cannot hold them). */
#include "graph_block.cuh"
#include "kernel_cuda.cuh"

/* With more lanes than TEAM_ENOUGH one thread a lane fills the chip (132 x 2048 threads at most). */
enum { FUSED_BLOCK = 128, STEP_BLOCK = 64, TEAM_LANES = 32, TEAM = 16, TEAM_ENOUGH = 32768 };

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

/* One thread a lane. y runs over samples x blocks of `rows` elements; a pass with reductions takes
 * all elements. */
__global__ void __launch_bounds__(FUSED_BLOCK)
    fused_kernel(const __grid_constant__ ec_graph_args g, size_t lanes, int32_t rows,
                 int32_t blocks)
{
    extern __shared__ double registers[];
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
    double *reg = registers + threadIdx.x;
    for (int32_t y = blockIdx.y; y < st->samples * blocks; y += gridDim.y) {
        int32_t s = y / blocks, e0 = y % blocks * rows;
        int32_t e1 = e0 + rows < st->elements ? e0 + rows : st->elements;
        double total[EC_REDUCTIONS], part[EC_REDUCTIONS];
        for (int k = 0; k < EC_REDUCTIONS; k++)
            total[k] = part[k] = 0;
        for (int32_t e = e0; e < e1; e++) {
            ec_run_program(g, operand, program, n_program, reg, FUSED_BLOCK, lane, e, s);
#pragma unroll
            for (int k = 0; k < EC_REDUCTIONS; k++)
                if (k < n_reduce)
                    ec_reduce_one(reduce[k].op, reg[reduce[k].a * FUSED_BLOCK], e, &total[k],
                                  &part[k]);
        }
#pragma unroll
        for (int k = 0; k < EC_REDUCTIONS; k++)
            if (k < n_reduce) {
                if (reduce[k].op == EC_FUSED_SUM)
                    total[k] += part[k];
                ec_operand_store(&g, &operand[reduce[k].operand], lane, 0, s, &total[k]);
            }
    }
}

/* The same with reductions for few lanes: TEAM threads share a lane's elements, and thread k of the
 * team adds up reduction k in element order, so the bits are those of fused_kernel. */
__global__ void __launch_bounds__(TEAM_LANES *TEAM)
    fused_team_kernel(const __grid_constant__ ec_graph_args g, size_t lanes)
{
    extern __shared__ double registers[];
    __shared__ double value[EC_REDUCTIONS][TEAM][TEAM_LANES];
    if (g.stop && *g.stop)
        return;
    size_t lane = (size_t)blockIdx.x * TEAM_LANES + threadIdx.x;
    const bool live = lane < lanes;
    const ec_step *st = &g.steps[g.first_step];
    const ec_operand *operand = g.operands + st->first_operand;
    const ec_instr *program = g.instrs + st->first_instr;
    const int n_program = st->n_instr - st->n_reduce, n_reduce = st->n_reduce;
    const ec_instr *reduce = program + n_program;
    const int member = threadIdx.y;
    double *reg = registers + member * TEAM_LANES + threadIdx.x;
    for (int32_t s = blockIdx.y; s < st->samples; s += gridDim.y) {
        double total = 0, part = 0;
        for (int32_t e0 = 0; e0 < st->elements; e0 += TEAM) {
            int32_t e = e0 + member;
            if (live && e < st->elements) {
                ec_run_program(g, operand, program, n_program, reg, TEAM_LANES * TEAM, lane, e, s);
                for (int k = 0; k < n_reduce; k++)
                    value[k][member][threadIdx.x] = reg[reduce[k].a * TEAM_LANES * TEAM];
            }
            __syncthreads();
            if (member < n_reduce) {
                int count = st->elements - e0 < TEAM ? st->elements - e0 : TEAM;
                for (int i = 0; i < count; i++)
                    ec_reduce_one(reduce[member].op, value[member][i][threadIdx.x], e0 + i, &total,
                                  &part);
            }
            __syncthreads();
        }
        if (live && member < n_reduce) {
            if (reduce[member].op == EC_FUSED_SUM)
                total += part;
            ec_operand_store(&g, &operand[reduce[member].operand], lane, 0, s, &total);
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
        size_t columns = (size_t)(g->inner > 0 ? g->inner : 1) * sizeof(double);
        if (g->n_reduce && g->elements >= TEAM && lanes <= TEAM_ENOUGH) {
            dim3 grid((unsigned)((lanes + TEAM_LANES - 1) / TEAM_LANES), grid_y(g->samples));
            size_t shared = columns * TEAM_LANES * TEAM;
            /* beyond the default of 48 KiB a kernel has to ask; the request is cheap */
            cudaError_t error =
                cudaFuncSetAttribute(fused_team_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     EC_FUSED_REGISTERS * TEAM_LANES * TEAM * (int)sizeof(double));
            if (error != cudaSuccess)
                return (int)error;
            fused_team_kernel<<<grid, dim3(TEAM_LANES, TEAM), shared, st>>>(*g, lanes);
            return (int)cudaPeekAtLastError();
        }
        int32_t rows = g->n_reduce || g->elements <= 4 ? g->elements : 4;
        int32_t blocks = (g->elements + rows - 1) / rows;
        dim3 grid((unsigned)((lanes + FUSED_BLOCK - 1) / FUSED_BLOCK),
                  grid_y((int64_t)g->samples * blocks));
        fused_kernel<<<grid, FUSED_BLOCK, columns * FUSED_BLOCK, st>>>(*g, lanes, rows, blocks);
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
