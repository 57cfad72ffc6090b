/* mimo_coupling_kernels.cu: coupling of ports on CUDA. */
#include "../../core/kernel_cuda.cuh"

#include "mimo_coupling_kernels.h"

EC_KERNEL_CUDA_BLOCK(mimo_couple, ec_mimo_coupling_args, ec_mimo_couple_body, 64)
