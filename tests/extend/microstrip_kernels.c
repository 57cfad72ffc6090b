/* microstrip_kernels.c: see microstrip_kernels.h; compiled once per instruction-set level. */
#include "microstrip_kernels.h"

EC_KERNEL_CPU(microstrip, ec_microstrip_args, ec_microstrip_body)
