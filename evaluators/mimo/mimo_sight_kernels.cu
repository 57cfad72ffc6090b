/* mimo_sight_kernels.cu: antennas where they stand on CUDA. */
#include "../../core/kernel_cuda.cuh"

#include "mimo_sight_kernels.h"

EC_KERNEL_CUDA_BLOCK(mimo_stand, ec_mimo_stand, ec_mimo_stand_body, 64)
EC_KERNEL_CUDA(mimo_sight, ec_mimo_sight, ec_mimo_sight_body)
