/* microstrip_kernels.cu: see microstrip_kernels.h. */
#include "microstrip_kernels.h"

#include "core/kernel_cuda.cuh"

EC_KERNEL_CUDA(microstrip, ec_microstrip_args, ec_microstrip_body)
