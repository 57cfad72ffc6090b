/* mimo_metrics_kernels.c: metrics of paths on the CPU, compiled once per ISA level. */
#include "mimo_metrics_kernels.h"

EC_KERNEL_CPU(mimo_metrics, ec_mimo_metrics, ec_mimo_metrics_body)
