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
                                                        size_t y, ec_small_matrix_task task)
{
    enum { SINGLE = 16, WIDE = 8 };
    bool is_wide = w->wide || task >= EC_SMALL_MATRIX_CAPACITY_ADJOINT;
    char *scratch = scratch_of(w);
    double *wide = (double *)(void *)scratch;
    float *single = (float *)(void *)scratch;

    if (w->stop && *w->stop)
        return;
    for (size_t at = lane0; at < lane0 + EC_LANES && at < w->lanes; at += is_wide ? WIDE : SINGLE) {
        if (task == EC_SMALL_MATRIX_CAPACITY_ADJOINT)
            ec_f64_capacity_adjoint(w, at, y, wide, WIDE);
        else if (task == EC_SMALL_MATRIX_SINGULAR_ADJOINT)
            ec_f64_singular_adjoint(w, at, y, wide, WIDE);
        else if (task == EC_SMALL_MATRIX_CAPACITY && is_wide)
            ec_f64_capacity(w, at, y, wide, WIDE);
        else if (task == EC_SMALL_MATRIX_CAPACITY)
            ec_f32_capacity(w, at, y, single, SINGLE);
        else if (is_wide)
            ec_f64_singular(w, at, y, wide, WIDE, task == EC_SMALL_MATRIX_BISECTION);
        else
            ec_f32_singular(w, at, y, single, SINGLE, task == EC_SMALL_MATRIX_BISECTION);
    }
}

#define TASK(name, task)                                                                           \
    static void name##_body(const ec_small_matrix_work *w, size_t lane0, size_t y)                 \
    {                                                                                              \
        strip(w, lane0, y, task);                                                                  \
    }                                                                                              \
    EC_KERNEL_CPU(small_matrix_##name, ec_small_matrix_work, name##_body)

TASK(jacobi, EC_SMALL_MATRIX_JACOBI)
TASK(bisection, EC_SMALL_MATRIX_BISECTION)
TASK(capacity, EC_SMALL_MATRIX_CAPACITY)
TASK(capacity_adjoint, EC_SMALL_MATRIX_CAPACITY_ADJOINT)
TASK(singular_adjoint, EC_SMALL_MATRIX_SINGULAR_ADJOINT)
