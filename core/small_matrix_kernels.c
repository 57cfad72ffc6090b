/* small_matrix_kernels.c: small matrices on the CPU, compiled once per ISA level: as many matrices
 * together as fill a SIMD register or two, in a scratch memory of the thread's. */
#include "small_matrix_kernels.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static char *scratch_of(const ec_small_matrix_work *w)
{
    int thread = 0;
#ifdef _OPENMP
    /* a caller's own parallel region may give this thread a number beyond the backend's */
    thread = omp_get_thread_num() < w->scratch_teams ? omp_get_thread_num() : 0;
#endif
    return w->scratch + (size_t)thread * w->scratch_bytes;
}

static inline __attribute__((always_inline)) void strip(const ec_small_matrix_work *w, size_t lane0,
                                                        size_t y, int kind)
{
    enum { SINGLE = 16, WIDE = 8 };
    char *scratch = scratch_of(w);

    if (w->stop && *w->stop)
        return;
    for (size_t at = lane0; at < lane0 + EC_LANES && at < w->lanes; at += w->wide ? WIDE : SINGLE) {
        double *wide = (double *)(void *)scratch;
        float *single = (float *)(void *)scratch;
        if (kind == EC_SMALL_MATRIX_ADJOINT)
            ec_f64_capacity_adjoint(w, at, y, wide, WIDE);
        else if (kind == EC_SMALL_MATRIX_CAPACITY && w->wide)
            ec_f64_capacity(w, at, y, wide, WIDE);
        else if (kind == EC_SMALL_MATRIX_CAPACITY)
            ec_f32_capacity(w, at, y, single, SINGLE);
        else if (w->wide)
            ec_f64_singular(w, at, y, wide, WIDE, kind == EC_SMALL_MATRIX_BISECTION);
        else
            ec_f32_singular(w, at, y, single, SINGLE, kind == EC_SMALL_MATRIX_BISECTION);
    }
}

static void jacobi_body(const ec_small_matrix_work *w, size_t lane0, size_t y)
{
    strip(w, lane0, y, EC_SMALL_MATRIX_JACOBI);
}

static void bisection_body(const ec_small_matrix_work *w, size_t lane0, size_t y)
{
    strip(w, lane0, y, EC_SMALL_MATRIX_BISECTION);
}

static void capacity_body(const ec_small_matrix_work *w, size_t lane0, size_t y)
{
    strip(w, lane0, y, EC_SMALL_MATRIX_CAPACITY);
}

static void adjoint_body(const ec_small_matrix_work *w, size_t lane0, size_t y)
{
    strip(w, lane0, y, EC_SMALL_MATRIX_ADJOINT);
}

EC_KERNEL_CPU(small_matrix_jacobi, ec_small_matrix_work, jacobi_body)
EC_KERNEL_CPU(small_matrix_bisection, ec_small_matrix_work, bisection_body)
EC_KERNEL_CPU(small_matrix_capacity, ec_small_matrix_work, capacity_body)
EC_KERNEL_CPU(small_matrix_adjoint, ec_small_matrix_work, adjoint_body)
