/* mimo_spectrum_kernels.c: materials at frequencies of designs on the CPU, compiled once per ISA
 * level. */
#include "mimo_spectrum_kernels.h"

EC_KERNEL_CPU(mimo_spectrum, ec_mimo_spectrum, ec_mimo_spectrum_body)
