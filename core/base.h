/* base.h: what every file shares, C17 host code and CUDA device code alike.
 *
 * EC_FN marks the arithmetic of a kernel: one source for the CPU and the GPU. Such a function
 * uses only the subset that C17 and CUDA C++ have in common: no _Complex, no designated
 * initialisers out of order, no variable-length arrays, casts after malloc.
 *
 * Contraction is off in every file (-ffp-contract=off, -fmad=false for graph and optimizer
 * kernels): a fused multiply-add happens only where ec_fma or ec_fmaf is written.
 */
#ifndef EC_BASE_H
#define EC_BASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define EC_C_BEGIN extern "C" {
#define EC_C_END   }
#else
#define EC_C_BEGIN
#define EC_C_END
#endif

#define EC_API __attribute__((visibility("default")))

#ifdef __CUDACC__
#define EC_FN static __host__ __device__ __forceinline__
#elif defined(__SANITIZE_ADDRESS__)
/* What sanitizers add to each copy takes compilers minutes. */
#define EC_FN static inline __attribute__((unused))
#else
#define EC_FN static inline __attribute__((always_inline, unused))
#endif

/* Candidates are worked on in strips: EC_LANES neighbours at a time on the CPU, so that the inner
 * loop over lanes becomes SIMD; one a thread on the GPU. Kernels are written once, as loops
 * `for (int l = 0; l < EC_LANES; l++)`. */
#ifdef __CUDACC__
#define EC_LANES 1
#else
#define EC_LANES 32
#endif

/* Lane counts are padded to this; the padding is computed and never read back. */
#define EC_LANE_PAD 32

typedef struct ec_c64 {
    float re, im;
} ec_c64;

typedef struct ec_c128 {
    double re, im;
} ec_c128;

typedef struct ec_interval {
    double lo, hi;
} ec_interval;

EC_FN double ec_fma(double a, double b, double c)
{
#if defined(__CUDA_ARCH__) || defined(__FMA__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

EC_FN float ec_fmaf(float a, float b, float c)
{
#if defined(__CUDA_ARCH__) || defined(__FMA__)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* For printing: printf writes -nan for the NaN that x86 makes of 0/0. */
EC_FN double ec_printable(double x)
{
    return x == x ? x : (double)NAN;
}

EC_FN size_t ec_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Leading dimension of an array over n lanes. */
EC_FN size_t ec_lane_ld(size_t n)
{
    return ec_round_up(n, EC_LANE_PAD);
}

#define EC_PI          3.14159265358979323846
#define EC_LIGHT_SPEED 299792458.0 /* m/s, exact by definition */

#endif
