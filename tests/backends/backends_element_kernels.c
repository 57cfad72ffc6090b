/* backends_element_kernels.c: compiled once for each ISA level. */
#include "backends_element_kernels.h"

EC_KERNEL_CPU(test_element, ec_test_element_args, ec_test_element_body)
