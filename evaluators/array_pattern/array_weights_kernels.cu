/* array_weights_kernels.cu: optimal weights on CUDA, one block a candidate, from the source that the
 * CPU compiles (array_weights_candidate.h); blocks are persistent, so their workspaces do not grow
 * with the population. */
#include "array_weights_candidate.h"

#include <cuda_runtime.h>

enum { WEIGHTS_THREADS = 128 };

static __global__ void __launch_bounds__(WEIGHTS_THREADS)
    weights_kernel(const __grid_constant__ ec_weights_args args)
{
    __shared__ ec_pattern_best scratch[EC_TEAM_MAX];
    ec_team team = {(int32_t)threadIdx.x, WEIGHTS_THREADS, scratch};

    if (args.stop && *args.stop)
        return;
    for (size_t task = blockIdx.x; task < args.n * args.samples; task += gridDim.x) {
        ec_weights_candidate(&team, &args, task % args.n, task / args.n,
                             (double *)(args.workspace + blockIdx.x * args.workspace_bytes));
        __syncthreads();
    }
}

extern "C" int ec_cuda_array_weights(void *stream, const void *arguments, size_t lanes, size_t ny)
{
    const ec_weights_args *args = (const ec_weights_args *)arguments;
    size_t tasks = args->n * args->samples;

    (void)lanes;
    (void)ny;
    if (tasks == 0)
        return 0;
    unsigned blocks = (unsigned)(tasks < (size_t)args->teams ? tasks : (size_t)args->teams);
    weights_kernel<<<blocks, WEIGHTS_THREADS, 0, (cudaStream_t)stream>>>(*args);
    return (int)cudaPeekAtLastError();
}
