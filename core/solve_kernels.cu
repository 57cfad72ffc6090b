/* solve_kernels.cu: the CUDA versions of the solve loop's kernels. */
#include "kernel_cuda.cuh"
#include "solve_kernels.h"

EC_KERNEL_CUDA(score, ec_score_args, ec_score_body)
EC_KERNEL_CUDA(stop_rules, ec_stop_rules_args, ec_stop_rules_body)
