/* backends_wavefront_kernels.cu: the CUDA version. */
#include "core/kernel_cuda.cuh"

#include "backends_wavefront_kernels.h"

EC_KERNEL_CUDA(test_ray, ec_test_ray_args, ec_test_ray_body)
