/* bench_path_kernels.cu: points and occlusion of paths on CUDA. */
#include "bench_path_kernels.h"
#include "core/kernel_cuda.cuh"

EC_KERNEL_CUDA_BLOCK(bench_path, bench_path_args, bench_path_body, 64)
