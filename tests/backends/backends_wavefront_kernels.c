/* backends_wavefront_kernels.c: compiled once for each ISA level. */
#include "backends_wavefront_kernels.h"

EC_KERNEL_CPU(test_ray, ec_test_ray_args, ec_test_ray_body)
