/* nufft_kernels.c: NUFFTs on the CPU, compiled once per ISA level. A batch is a task of its own
 * threads, each with its own workspace. */
#include "nufft_kernels.h"

#include "../../core/fastmath.h"
#include "../../core/status.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define EC_REAL      float
#define EC_NU(name)  ec_nufft_##name##_f32
#define EC_NU_FMA    ec_fmaf
#define EC_NU_SINCOS ec_sincos_turns_f32
#define EC_NU_LANES  16
#define EC_NU_QUAD   4 /* reals in 16 bytes; two of them interleaved, low and high half: */
#define EC_NU_LOW(x, y)                                                                            \
    (ec_nufft_quad_f32)                                                                            \
    {                                                                                              \
        x[0], y[0], x[1], y[1]                                                                     \
    }
#define EC_NU_HIGH(x, y)                                                                           \
    (ec_nufft_quad_f32)                                                                            \
    {                                                                                              \
        x[2], y[2], x[3], y[3]                                                                     \
    }
#include "nufft_template.h"
#undef EC_REAL
#undef EC_NU
#undef EC_NU_FMA
#undef EC_NU_SINCOS
#undef EC_NU_LANES
#undef EC_NU_QUAD
#undef EC_NU_LOW
#undef EC_NU_HIGH

#define EC_REAL      double
#define EC_NU(name)  ec_nufft_##name##_f64
#define EC_NU_FMA    ec_fma
#define EC_NU_SINCOS ec_sincos_turns_f64
#define EC_NU_LANES  8
#define EC_NU_QUAD   2
#define EC_NU_LOW(x, y)                                                                            \
    (ec_nufft_quad_f64)                                                                            \
    {                                                                                              \
        x[0], y[0]                                                                                 \
    }
#define EC_NU_HIGH(x, y)                                                                           \
    (ec_nufft_quad_f64)                                                                            \
    {                                                                                              \
        x[1], y[1]                                                                                 \
    }
#include "nufft_template.h"

#define FUNCTION EC_CONCAT(ec_nufft_transform_, EC_ISA_SUFFIX)

uint8_t FUNCTION(const ec_nufft_args *args, const ec_nufft_io *io, void *workspace)
{
    return args->double_precision ? ec_nufft_candidate_f64(args, io, workspace)
                                  : ec_nufft_candidate_f32(args, io, workspace);
}

static void nufft_body(const ec_nufft_batch_args *b, size_t lane0, size_t y)
{
    const ec_nufft_args *plan = b->plan;

    (void)lane0;
    (void)y;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads) if (b->threads > 1)
#endif
    for (size_t i = 0; i < b->batch.n; i++) {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        size_t vectors = (size_t)b->batch.vectors;
        ec_nufft_io io = {.in = (const char *)b->batch.in + i * vectors * b->in_bytes,
                          .out = (char *)b->batch.out + i * vectors * b->out_bytes,
                          .vectors = b->batch.vectors,
                          .points = b->batch.points ? b->batch.points[i] : 0};
        for (int32_t d = 0; d < plan->dim; d++)
            io.point[d] = b->batch.point[d] + i * b->batch.point_stride;
        for (int32_t d = 0; d < plan->dim && plan->type == 3; d++)
            io.target[d] = b->batch.target[d] + i * b->batch.target_stride;
        uint8_t status = FUNCTION(plan, &io, b->workspace + (size_t)thread * plan->workspace_bytes);
        if (b->batch.status)
            b->batch.status[i] = status;
    }
}

EC_KERNEL_CPU(nufft, ec_nufft_batch_args, nufft_body)
