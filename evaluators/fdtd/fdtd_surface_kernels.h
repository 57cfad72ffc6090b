/* fdtd_surface_kernels.h: kernels of the fields on a box's faces. */
#ifndef EC_FDTD_SURFACE_KERNELS_H
#define EC_FDTD_SURFACE_KERNELS_H

#include "fdtd_surface_internal.h"

#endif
