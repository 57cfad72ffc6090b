#include "matrix_kernels.h"

EC_KERNEL_CPU(water_filling, ec_water_args, ec_water_body)
