/* fdtd_surface_kernels.c: CPU. */
#include "fdtd_surface_kernels.h"

#include "../../core/kernel.h"

EC_KERNEL_CPU(fdtd_surface, ec_fdtd_surface_args, ec_fdtd_surface_sum)
