/* solve_kernels.c: the CPU versions of the solve loop's kernels, once for each ISA level. */
#include "solve_kernels.h"

EC_KERNEL_CPU(score, ec_score_args, ec_score_body)
EC_KERNEL_CPU(stop_rules, ec_stop_rules_args, ec_stop_rules_body)
