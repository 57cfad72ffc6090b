#include "matrix_kernels.h"

#include "core/kernel_cuda.cuh"

EC_KERNEL_CUDA(water_filling, ec_water_args, ec_water_body)
