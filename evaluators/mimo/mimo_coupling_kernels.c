/* mimo_coupling_kernels.c: coupling of ports on the CPU, compiled once per ISA level. */
#include "mimo_coupling_kernels.h"

EC_KERNEL_CPU(mimo_couple, ec_mimo_coupling_args, ec_mimo_couple_body)
