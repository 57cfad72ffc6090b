/* backends_element_kernels.cu: the CUDA version. */
#include "core/kernel_cuda.cuh"

#include "backends_element_kernels.h"

EC_KERNEL_CUDA(test_element, ec_test_element_args, ec_test_element_body)
