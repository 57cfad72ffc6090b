/* mimo_kernels.cu: places and channels of pairs on CUDA. */
#include "../../core/kernel_cuda.cuh"

#include "mimo_kernels.h"

EC_KERNEL_CUDA(mimo_gather, ec_mimo_batch, ec_mimo_gather_body)
EC_KERNEL_CUDA(mimo_scatter, ec_mimo_batch, ec_mimo_scatter_body)
EC_KERNEL_CUDA_BLOCK(mimo_check, ec_mimo_check, ec_mimo_check_body, 64)
