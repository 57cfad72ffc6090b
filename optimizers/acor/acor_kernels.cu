/* acor_kernels.cu: ACO_R on CUDA, the CPU's bodies with one thread a lane. */
#include "kernel_cuda.cuh"
#include "acor_kernels.h"

EC_KERNEL_CUDA(acor_sample, ec_acor_args, ec_acor_sample_body)
EC_KERNEL_CUDA(acor_key, ec_acor_args, ec_acor_key_body)
EC_KERNEL_CUDA(acor_rank, ec_acor_args, ec_acor_rank_body)
EC_KERNEL_CUDA(acor_place, ec_acor_args, ec_acor_place_body)
EC_KERNEL_CUDA(acor_deviation, ec_acor_args, ec_acor_deviation_body)
EC_KERNEL_CUDA(acor_finish, ec_acor_args, ec_acor_finish_body)
