/* mimo_metrics_kernels.cu: metrics of paths on CUDA. */
#include "../../core/kernel_cuda.cuh"

#include "mimo_metrics_kernels.h"

EC_KERNEL_CUDA(mimo_metrics, ec_mimo_metrics, ec_mimo_metrics_body)
