/* mimo_kernels.c: places and channels of pairs on the CPU, compiled once per ISA level. */
#include "mimo_kernels.h"

EC_KERNEL_CPU(mimo_gather, ec_mimo_batch, ec_mimo_gather_body)
EC_KERNEL_CPU(mimo_scatter, ec_mimo_batch, ec_mimo_scatter_body)
EC_KERNEL_CPU(mimo_check, ec_mimo_check, ec_mimo_check_body)
