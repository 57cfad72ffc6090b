/* small_matrix_kernels.h: small_matrix.h's kernels, as bodies for the CPU and in parts for CUDA. */
#ifndef EC_SMALL_MATRIX_KERNELS_H
#define EC_SMALL_MATRIX_KERNELS_H

#include "detmath.h"
#include "small_matrix.h"
#include "status.h"

enum {
    EC_JACOBI_SWEEPS = 48 /* random matrices take 3 to 10, the worst known 64 x 64 ones 23 */
};

/* An effective SNR beyond which its logarithm is taken apart from the determinant's, so that four
 * pivots stay inside float64. */
#define EC_SMALL_MATRIX_LARGE 1099511627776.0

/* Pair k of round `round` of a tournament of an even number of players: everybody meets everybody
 * once in players - 1 rounds. p < q. */
EC_FN void ec_small_matrix_pair(int32_t players, int32_t round, int32_t k, int32_t *p, int32_t *q)
{
    int32_t ring = players - 1, up = round + k, down = round - k;
    up = up >= ring ? up - ring : up;
    down = k == 0 ? ring : down < 0 ? down + ring : down;
    *p = up < down ? up : down;
    *q = up < down ? down : up;
}

/* The larger of two numbers; a NaN stays. */
EC_FN double ec_small_matrix_larger(double a, double b)
{
    return b <= a || a != a ? a : b;
}

/* The power of two at or below a finite value >= 0; 1 for 0. */
EC_FN double ec_small_matrix_unit(double value)
{
    double unit = ec_det_from_bits(ec_det_bits(value) & 0x7ff0000000000000u);
    unit = unit < 2.2250738585072014e-308 ? 2.2250738585072014e-308 : unit;
    return value > 0.0 ? unit : 1.0;
}

EC_FN float ec_small_matrix_unit_f32(float value)
{
    union {
        float value;
        uint32_t bits;
    } u;
    u.value = value;
    u.bits &= 0x7f800000u;
    /* one over it has to be normal too */
    float unit = u.value < 1.17549435e-38f ? 1.17549435e-38f : u.value;
    unit = unit > 8.507059e37f ? 8.507059e37f : unit;
    return value > 0.0f ? unit : 1.0f;
}

/* Where the first number of matrix y, of `elements` numbers, lies for lane 0. */
EC_FN int64_t ec_small_matrix_base(const ec_small_matrix_batch *b, const ec_small_matrix_work *w,
                                   size_t y, int32_t elements)
{
    /* divisions are dear on the GPU */
    uint32_t sample = w->samples == 1 ? 0 : (uint32_t)y / (uint32_t)w->count;
    uint32_t matrix = (uint32_t)y - sample * (uint32_t)w->count;
    return (int64_t)sample * b->sample + (int64_t)matrix * elements * b->ld;
}

/* Element e of the matrix y of `lanes` lanes; e = -1: of a batch with one number a matrix. */
EC_FN void ec_small_matrix_read(const ec_small_matrix_batch *b, const ec_small_matrix_work *w,
                                size_t lane0, size_t y, int32_t e, int lanes, double *re,
                                double *im)
{
    int32_t elements = e >= 0 ? w->rows * w->cols : 1;
    int64_t at = ec_small_matrix_base(b, w, y, elements) + (e > 0 ? e : 0) * b->ld +
                 (int64_t)lane0 * b->lane;
    if (b->dtype == EC_C128) {
        const ec_c128 *p = (const ec_c128 *)b->data + at;
        for (int l = 0; l < lanes; l++) {
            re[l] = p[l * b->lane].re;
            im[l] = p[l * b->lane].im;
        }
    } else if (b->dtype == EC_C64) {
        const ec_c64 *p = (const ec_c64 *)b->data + at;
        for (int l = 0; l < lanes; l++) {
            re[l] = (double)p[l * b->lane].re;
            im[l] = (double)p[l * b->lane].im;
        }
    } else {
        const double *p = (const double *)b->data + at;
        for (int l = 0; l < lanes; l++) {
            re[l] = p[l * b->lane];
            im[l] = 0.0;
        }
    }
}

/* Lanes of the strip that there are. */
EC_FN int ec_small_matrix_live(const ec_small_matrix_work *w, size_t lane0, int lanes)
{
    size_t left = w->lanes > lane0 ? w->lanes - lane0 : 0;
    return left < (size_t)lanes ? (int)left : lanes;
}

/* Number k of `elements` results of matrix y. */
EC_FN void ec_small_matrix_write(const ec_small_matrix_batch *b, const ec_small_matrix_work *w,
                                 size_t lane0, size_t y, int32_t elements, int32_t k, int lanes,
                                 const double *value)
{
    int64_t at = ec_small_matrix_base(b, w, y, elements) + k * b->ld + (int64_t)lane0 * b->lane;
    int live = ec_small_matrix_live(w, lane0, lanes);
    for (int l = 0; l < live; l++)
        if (b->dtype == EC_F32)
            ((float *)b->data)[at + l * b->lane] = (float)value[l];
        else
            ((double *)b->data)[at + l * b->lane] = value[l];
}

/* An element of an adjoint: the real part alone of real matrices. */
EC_FN void ec_small_matrix_write_complex(const ec_small_matrix_batch *b,
                                         const ec_small_matrix_work *w, size_t lane0, size_t y,
                                         int32_t e, int lanes, const double *re, const double *im)
{
    int64_t at =
        ec_small_matrix_base(b, w, y, w->rows * w->cols) + e * b->ld + (int64_t)lane0 * b->lane;
    int live = ec_small_matrix_live(w, lane0, lanes);
    for (int l = 0; l < live; l++)
        if (b->dtype == EC_C128) {
            ec_c128 *p = (ec_c128 *)b->data + at + l * b->lane;
            p->re = re[l];
            p->im = im[l];
        } else {
            ((double *)b->data)[at + l * b->lane] = re[l];
        }
}

/* Matrices of one lane may be at work in several threads. */
EC_FN void ec_small_matrix_blame(const ec_small_matrix_work *w, size_t lane0, int lanes,
                                 const bool *bad)
{
    int live = ec_small_matrix_live(w, lane0, lanes);
    for (int l = 0; l < live; l++)
        if (bad[l] && w->status) {
#ifdef __CUDACC__
            w->status[lane0 + (size_t)l] |= EC_CANDIDATE_EVALUATOR;
#else
            __atomic_fetch_or(&w->status[lane0 + (size_t)l], EC_CANDIDATE_EVALUATOR,
                              __ATOMIC_RELAXED);
#endif
        }
}

/* Reciprocals and roots: on the GPU in float32 from the fast units, refined where it counts. The
 * rough ones want normal numbers: the units take a subnormal one for 0. */
EC_FN float ec_small_matrix_rough_rcp_f32(float x)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
#else
    return 1.0f / x;
#endif
}

EC_FN float ec_small_matrix_rcp_f32(float x)
{
#ifdef __CUDA_ARCH__
    float r = ec_small_matrix_rough_rcp_f32(x);
    return ec_fmaf(ec_fmaf(-x, r, 1.0f), r, r);
#else
    return 1.0f / x;
#endif
}

/* x > 0 and normal: of a subnormal one it would be infinite */
EC_FN float ec_small_matrix_rough_sqrt_f32(float x)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return x * r;
#else
    return sqrtf(x);
#endif
}

EC_FN double ec_small_matrix_rcp_f64(double x)
{
    return 1.0 / x;
}

#define EC_REAL          float
#define EC_SM(name)      ec_f32_##name
#define EC_SM_FMA        ec_fmaf
#define EC_SM_EPS        5.9604645e-8f
#define EC_SM_TINY       1.17549435e-38f
#define EC_SM_SQRT       sqrtf
#define EC_SM_ROUGH_SQRT ec_small_matrix_rough_sqrt_f32
#define EC_SM_RCP        ec_small_matrix_rcp_f32
#define EC_SM_ROUGH_RCP  ec_small_matrix_rough_rcp_f32
#define EC_SM_BITS       27
#ifdef __CUDACC__
#define EC_SM_LANES 1
#else
#define EC_SM_LANES 16
#endif
#include "small_matrix_template_internal.h"

#define EC_REAL          double
#define EC_SM(name)      ec_f64_##name
#define EC_SM_FMA        ec_fma
#define EC_SM_EPS        1.1102230246251565e-16
#define EC_SM_TINY       2.2250738585072014e-308
#define EC_SM_SQRT       sqrt
#define EC_SM_ROUGH_SQRT sqrt
#define EC_SM_RCP        ec_small_matrix_rcp_f64
#define EC_SM_ROUGH_RCP  ec_small_matrix_rcp_f64
#define EC_SM_BITS       56
#ifdef __CUDACC__
#define EC_SM_LANES 1
#else
#define EC_SM_LANES 8
#endif
#include "small_matrix_template_internal.h"

/* Numbers of scratch memory a matrix. */
EC_FN size_t ec_small_matrix_numbers(int task, int32_t rows, int32_t cols)
{
    switch (task) {
    case EC_SMALL_MATRIX_SINGULAR_ADJOINT:
        return ec_f64_singular_adjoint_numbers(rows, cols);
    case EC_SMALL_MATRIX_CAPACITY_ADJOINT:
        return ec_f64_adjoint_numbers(rows, cols);
    case EC_SMALL_MATRIX_CAPACITY:
        return ec_f64_capacity_numbers(rows, cols);
    default:
        return ec_f64_singular_numbers(rows, cols);
    }
}

#endif
