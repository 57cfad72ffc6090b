/* backends_math_kernels.cu: the CUDA versions. */
#include "core/kernel_cuda.cuh"

#include "backends_math_kernels.h"

EC_KERNEL_CUDA(test_detmath, ec_test_detmath_args, ec_test_detmath_body)
EC_KERNEL_CUDA(test_philox, ec_test_philox_args, ec_test_philox_body)
EC_KERNEL_CUDA(test_turns, ec_test_turns_args, ec_test_turns_body)
EC_KERNEL_CUDA(test_count, ec_test_count_args, ec_test_count_body)

static __global__ void serial_kernel(ec_test_count_args args)
{
    ec_test_serial_body(&args, 0, 0);
}

extern "C" int ec_cuda_test_serial(void *stream, const void *args, size_t lanes, size_t ny)
{
    (void)lanes;
    (void)ny;
    serial_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(*(const ec_test_count_args *)args);
    return (int)cudaPeekAtLastError();
}
