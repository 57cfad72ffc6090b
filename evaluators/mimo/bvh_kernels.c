/* bvh_kernels.c: batches of rays on the CPU, compiled once per ISA level; a ray at a time, SIMD
 * over the children of a node and over triangles. */
#include "bvh_kernels.h"

EC_KERNEL_CPU(bvh_closest, ec_bvh_batch, ec_bvh_closest_body)
EC_KERNEL_CPU(bvh_any, ec_bvh_batch, ec_bvh_any_body)
