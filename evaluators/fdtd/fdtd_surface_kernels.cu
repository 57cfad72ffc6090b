/* fdtd_surface_kernels.cu: CUDA. */
#include "fdtd_surface_kernels.h"

#include "../../core/kernel_cuda.cuh"

EC_KERNEL_CUDA(fdtd_surface, ec_fdtd_surface_args, ec_fdtd_surface_sum)
