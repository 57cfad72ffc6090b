/* fdtd_kernels.h: what runs on a domain's fields: the steps and the energy are fdtd_kernels.c's on the
 * CPU and fdtd_kernels.cu's on CUDA, which share the arithmetic's order, not its loops. */
#ifndef EC_FDTD_KERNELS_H
#define EC_FDTD_KERNELS_H

#include "fdtd_domain_internal.h"
#include "fdtd_raster_internal.h"
#include "fdtd_spectrum_internal.h"

#endif
