/* bench_kernels.h: kernels that measure what the machine can do: multiply-add rates and the rate of
 * this library's own single-precision sincos. Each lane does `steps` rounds of independent chains. */
#ifndef EC_BENCH_KERNELS_H
#define EC_BENCH_KERNELS_H

#include "core/fastmath.h"
#include "core/kernel.h"

typedef struct bench_rate_args {
    float *out;
    int32_t steps;
} bench_rate_args;

EC_C_BEGIN
/* The CUDA compiler's name and version. */
const char *bench_cuda_compiler(void);
EC_C_END

enum { BENCH_CHAINS = 8 };

/* 2 x BENCH_CHAINS operations a step and lane. */
EC_FN void bench_fma_f32_body(const bench_rate_args *a, size_t lane0, size_t y)
{
    float x[BENCH_CHAINS][EC_LANES];
    (void)y;
    for (int k = 0; k < BENCH_CHAINS; k++)
        for (int l = 0; l < EC_LANES; l++)
            x[k][l] = (float)(lane0 + (size_t)l) * 1e-9f + (float)k;
    for (int32_t s = 0; s < a->steps; s++)
        for (int k = 0; k < BENCH_CHAINS; k++)
            for (int l = 0; l < EC_LANES; l++)
                x[k][l] = ec_fmaf(x[k][l], 0.999f, 0.25f);
    for (int l = 0; l < EC_LANES; l++) {
        float sum = 0;
        for (int k = 0; k < BENCH_CHAINS; k++)
            sum += x[k][l];
        a->out[lane0 + (size_t)l] = sum;
    }
}

EC_FN void bench_fma_f64_body(const bench_rate_args *a, size_t lane0, size_t y)
{
    double x[BENCH_CHAINS][EC_LANES];
    (void)y;
    for (int k = 0; k < BENCH_CHAINS; k++)
        for (int l = 0; l < EC_LANES; l++)
            x[k][l] = (double)(lane0 + (size_t)l) * 1e-9 + (double)k;
    for (int32_t s = 0; s < a->steps; s++)
        for (int k = 0; k < BENCH_CHAINS; k++)
            for (int l = 0; l < EC_LANES; l++)
                x[k][l] = ec_fma(x[k][l], 0.999, 0.25);
    for (int l = 0; l < EC_LANES; l++) {
        double sum = 0;
        for (int k = 0; k < BENCH_CHAINS; k++)
            sum += x[k][l];
        a->out[lane0 + (size_t)l] = (float)sum;
    }
}

/* BENCH_CHAINS sincos a step and lane. */
EC_FN void bench_sincos_body(const bench_rate_args *a, size_t lane0, size_t y)
{
    float x[BENCH_CHAINS][EC_LANES], sum[EC_LANES];
    (void)y;
    for (int l = 0; l < EC_LANES; l++)
        sum[l] = 0;
    for (int k = 0; k < BENCH_CHAINS; k++)
        for (int l = 0; l < EC_LANES; l++)
            x[k][l] = (float)((lane0 + (size_t)l) % 1000) * 4e-4f - 0.2f + 0.01f * (float)k;
    for (int32_t s = 0; s < a->steps; s++)
        for (int k = 0; k < BENCH_CHAINS; k++)
            for (int l = 0; l < EC_LANES; l++) {
                float sine, cosine;
                ec_sincos_turns_f32(x[k][l], &sine, &cosine);
                x[k][l] = 0.4f * sine;
                sum[l] += cosine;
            }
    for (int l = 0; l < EC_LANES; l++)
        a->out[lane0 + (size_t)l] = sum[l] + x[0][l];
}

#endif
