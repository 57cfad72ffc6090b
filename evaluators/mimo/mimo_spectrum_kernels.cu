/* mimo_spectrum_kernels.cu: materials at frequencies of designs on CUDA. */
#include "../../core/kernel_cuda.cuh"

#include "mimo_spectrum_kernels.h"

EC_KERNEL_CUDA(mimo_spectrum, ec_mimo_spectrum, ec_mimo_spectrum_body)
