/* nufft_kernels.h: arguments of the batched NUFFT, and its function for one candidate at each ISA
 * level. */
#ifndef EC_NUFFT_KERNELS_H
#define EC_NUFFT_KERNELS_H

#include "nufft.h"

typedef struct ec_nufft_batch_args {
    const ec_nufft_args *plan;
    ec_nufft_batch batch;
    size_t in_bytes, out_bytes; /* of one vector of one candidate */
    int32_t threads;
    char *workspace; /* threads of them */
} ec_nufft_batch_args;

ec_nufft_function ec_nufft_transform_v1;
#if EC_MULTI_ISA
ec_nufft_function ec_nufft_transform_v3, ec_nufft_transform_v4;
#endif

#endif
