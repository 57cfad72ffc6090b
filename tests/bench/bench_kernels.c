#include "bench_kernels.h"

EC_KERNEL_CPU(bench_fma_f32, bench_rate_args, bench_fma_f32_body)
EC_KERNEL_CPU(bench_fma_f64, bench_rate_args, bench_fma_f64_body)
EC_KERNEL_CPU(bench_sincos, bench_rate_args, bench_sincos_body)
EC_KERNEL_CPU(bench_ray, bench_ray_args, bench_ray_body)
