/* kernel_cuda.cuh: turns the body of a kernel into a CUDA kernel and its launcher. Included by
 * .cu files only. One thread a lane, grid.y (and grid.z beyond 65,535) over y. */
#ifndef EC_KERNEL_CUDA_CUH
#define EC_KERNEL_CUDA_CUH

#include "kernel.h"
#include <cuda_runtime.h>

#define EC_KERNEL_CUDA_BLOCK(name, args_type, body, block)                                         \
    __global__ void __launch_bounds__(block)                                                       \
        ec_global_##name(const __grid_constant__ args_type args, size_t lanes, size_t ny)          \
    {                                                                                              \
        size_t lane = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                               \
        if (lane >= lanes)                                                                         \
            return;                                                                                \
        for (size_t y = blockIdx.y; y < ny; y += gridDim.y)                                        \
            body(&args, lane, y);                                                                  \
    }                                                                                              \
    extern "C" int ec_cuda_##name(void *stream, const void *args, size_t lanes, size_t ny)         \
    {                                                                                              \
        if (lanes == 0 || ny == 0)                                                                 \
            return 0;                                                                              \
        dim3 grid((unsigned)((lanes + (block)-1) / (block)), (unsigned)(ny < 65535 ? ny : 65535)); \
        ec_global_##name<<<grid, block, 0, (cudaStream_t)stream>>>(*(const args_type *)args,       \
                                                                   lanes, ny);                     \
        return (int)cudaPeekAtLastError();                                                         \
    }
#define EC_KERNEL_CUDA(name, args_type, body) EC_KERNEL_CUDA_BLOCK(name, args_type, body, 128)

#endif
