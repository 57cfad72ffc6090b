/* acor_kernels.c: ACO_R on the CPU. */
#include "acor_kernels.h"

EC_KERNEL_CPU(acor_sample, ec_acor_args, ec_acor_sample_body)
EC_KERNEL_CPU(acor_key, ec_acor_args, ec_acor_key_body)
EC_KERNEL_CPU(acor_rank, ec_acor_args, ec_acor_rank_body)
EC_KERNEL_CPU(acor_place, ec_acor_args, ec_acor_place_body)
EC_KERNEL_CPU(acor_deviation, ec_acor_args, ec_acor_deviation_body)
EC_KERNEL_CPU(acor_finish, ec_acor_args, ec_acor_finish_body)
