#include "bench_kernels.h"
#include "core/kernel_cuda.cuh"

EC_KERNEL_CUDA(bench_fma_f32, bench_rate_args, bench_fma_f32_body)
EC_KERNEL_CUDA(bench_fma_f64, bench_rate_args, bench_fma_f64_body)
EC_KERNEL_CUDA(bench_sincos, bench_rate_args, bench_sincos_body)
EC_KERNEL_CUDA(bench_ray, bench_ray_args, bench_ray_body)

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

extern "C" const char *bench_cuda_compiler(void)
{
    return "nvcc " TEXT(__CUDACC_VER_MAJOR__) "." TEXT(__CUDACC_VER_MINOR__) "." TEXT(
        __CUDACC_VER_BUILD__);
}
