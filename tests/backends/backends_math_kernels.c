/* backends_math_kernels.c: compiled once for each ISA level. */
#include "backends_math_kernels.h"

EC_KERNEL_CPU(test_detmath, ec_test_detmath_args, ec_test_detmath_body)
EC_KERNEL_CPU(test_philox, ec_test_philox_args, ec_test_philox_body)
EC_KERNEL_CPU(test_turns, ec_test_turns_args, ec_test_turns_body)
EC_KERNEL_CPU(test_count, ec_test_count_args, ec_test_count_body)
EC_KERNEL_CPU(test_serial, ec_test_count_args, ec_test_serial_body)
