/* bench_path_kernels.c: points and occlusion of paths on the CPU, compiled once per ISA level. */
#include "bench_path_kernels.h"

EC_KERNEL_CPU(bench_path, bench_path_args, bench_path_body)
