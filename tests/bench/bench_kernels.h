/* bench_kernels.h: kernels that measure what the machine can do: multiply-add rates and the rate of
 * this library's own single-precision sincos, where each lane does `steps` rounds of independent
 * chains; and the fields of rays. */
#ifndef EC_BENCH_KERNELS_H
#define EC_BENCH_KERNELS_H

#include "core/fastmath.h"
#include "core/kernel.h"
#include "evaluators/mimo/ray_field.h"

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

/* Paths between two dipoles over a conducting cylinder and the edge of a box, a receiver a lane. */
typedef struct bench_ray_args {
    ec_antenna tx, rx;
    double wavelength;
    int32_t mirror, edge; /* whether they are in the path */
    size_t ld;
    double *h; /* [2][ld] */
} bench_ray_args;

EC_FN void bench_ray_body(const bench_ray_args *a, size_t lane0, size_t y)
{
    const ec_fresnel_face pec = {EC_FACE_PEC, {0.0, 0.0}, 0.0};
    const double from[3] = {0.0, 0.0, 0.0};
    (void)y;

    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l;
        double shift = 1e-6 * (double)c, to[3] = {9.0 + shift, -3.0, 1.0};
        ec_ray_event event[2];
        int32_t n = 0;
        if (a->mirror) {
            ec_ray_event *e = &event[n++];
            e->kind = EC_RAY_REFLECTION;
            e->curved = true;
            e->face[0] = pec;
            for (int i = 0; i < 3; i++) {
                e->point[i] = i == 1 ? 4.0 + shift : 3.0 - i;
                e->normal[i] = i == 1 ? -1.0 : 0.0;
                e->curvature.u[i] = i == 0 ? 1.0 : 0.0;
                e->curvature.v[i] = i == 2 ? 1.0 : 0.0;
            }
            e->curvature.uu = 0.1;
            e->curvature.uv = e->curvature.vv = 0.0;
        }
        if (a->edge) {
            ec_ray_event *e = &event[n++];
            e->kind = EC_RAY_DIFFRACTION;
            e->curved = false;
            e->face[0] = e->face[1] = pec;
            e->edge.n = 1.5;
            e->edge.touch = 0.0;
            for (int i = 0; i < 3; i++) {
                e->point[i] = i == 0 ? 6.0 + shift : 0.5 * i;
                e->edge.into[i] = i == 0 ? 1.0 : 0.0;
                e->edge.normal[i] = i == 1 ? 1.0 : 0.0;
            }
        }
        ec_c128 h = ec_ray_channel(&a->tx, from, event, n, &a->rx, to, a->wavelength);
        a->h[c] = h.re;
        a->h[a->ld + c] = h.im;
    }
}

#endif
