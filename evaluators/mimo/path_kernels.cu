/* path_kernels.cu: channels of pairs on CUDA. */
#include "../../core/kernel_cuda.cuh"

#include "path_kernels.h"

EC_KERNEL_CUDA_BLOCK(path_pairs, ec_path_batch, ec_path_pairs_body, 64)
EC_KERNEL_CUDA_BLOCK(path_pairs_moments, ec_path_batch, ec_path_pairs_moments_body, 64)
EC_KERNEL_CUDA(path_sum_moments, ec_path_batch, ec_path_sum_moments_body)
EC_KERNEL_CUDA(path_sum, ec_path_batch, ec_path_sum_body)
