/* path_kernels.c: channels of pairs on the CPU, compiled once per ISA level. */
#include "path_kernels.h"

EC_KERNEL_CPU(path_pairs, ec_path_batch, ec_path_pairs_body)
EC_KERNEL_CPU(path_pairs_moments, ec_path_batch, ec_path_pairs_moments_body)
EC_KERNEL_CPU(path_sum_moments, ec_path_batch, ec_path_sum_moments_body)
EC_KERNEL_CPU(path_sum, ec_path_batch, ec_path_sum_body)
