#include "bench_kernels.h"
#include "core/kernel_cuda.cuh"

EC_KERNEL_CUDA(bench_fma_f32, bench_rate_args, bench_fma_f32_body)
EC_KERNEL_CUDA(bench_fma_f64, bench_rate_args, bench_fma_f64_body)
EC_KERNEL_CUDA(bench_sincos, bench_rate_args, bench_sincos_body)
