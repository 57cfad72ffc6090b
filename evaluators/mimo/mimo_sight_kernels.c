/* mimo_sight_kernels.c: antennas where they stand on the CPU, compiled once per ISA level. */
#include "mimo_sight_kernels.h"

EC_KERNEL_CPU(mimo_stand, ec_mimo_stand, ec_mimo_stand_body)
EC_KERNEL_CPU(mimo_sight, ec_mimo_sight, ec_mimo_sight_body)
