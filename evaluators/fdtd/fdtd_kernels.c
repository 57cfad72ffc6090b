/* fdtd_kernels.c: steps and energy of domains, CPU. */
#include "fdtd_kernels.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "../../core/kernel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { EC_FDTD_TOGETHER = 8 };

/* Where a step is in its domain's sorted lists. */
typedef struct ec_fdtd_cursor {
    int32_t h_term, e_term, source, branch, dispersive, incidence[2];
} ec_fdtd_cursor;

/* A cache line each, so that one thread's count does not slow another's. */
typedef struct ec_fdtd_progress {
    _Alignas(64) _Atomic int64_t planes;
} ec_fdtd_progress;

/* So many steps that the planes they are at fit a core's cache beside each other. */
static int ec_fdtd_together(const ec_fdtd_shape *s, size_t real)
{
    const int64_t cache = 768 * 1024, plane = 12 * s->plane * (int64_t)real;
    const int64_t n = s->periodic[2] ? 1 : cache / plane - 1;
    return n < 1 ? 1 : n > EC_FDTD_TOGETHER ? EC_FDTD_TOGETHER : (int)n;
}

/* Of a domain's steps the one behind the last that is done now. */
static int ec_fdtd_end(const ec_fdtd_steps_args *a, const ec_fdtd_domain *d)
{
    return d->steps < a->first + a->count ? d->steps : a->first + a->count;
}

static void ec_fdtd_wait(ec_fdtd_progress *other, int64_t planes)
{
    for (int turns = 0; atomic_load_explicit(&other->planes, memory_order_acquire) < planes;
         turns++)
        if (turns > 64)
            sched_yield();
}

#define REAL    float
#define NAME(x) ec_fdtd_f32_##x
#include "fdtd_step_internal.h"
#undef REAL
#undef NAME
#define REAL    double
#define NAME(x) ec_fdtd_f64_##x
#include "fdtd_step_internal.h"
#undef REAL
#undef NAME

enum { EC_FDTD_PIPE = 256 }; /* threads of one domain */

static void steps_alone(const ec_fdtd_steps_args *a, const ec_fdtd_domain *d)
{
    if (a->double_precision)
        ec_fdtd_f64_domain_steps(a, d);
    else
        ec_fdtd_f32_domain_steps(a, d);
}

static void steps_shared(const ec_fdtd_steps_args *a, const ec_fdtd_domain *d, int threads)
{
    ec_fdtd_progress done[EC_FDTD_PIPE];

    for (int i = 0; i < EC_FDTD_PIPE; i++)
        atomic_init(&done[i].planes, 0);
#pragma omp parallel num_threads(threads)
    {
#ifdef _OPENMP
        const int thread = omp_get_thread_num(), team = omp_get_num_threads();
#else
        const int thread = 0, team = 1;
#endif
        if (a->double_precision)
            ec_fdtd_f64_domain_pipe(a, d, done, thread, team);
        else
            ec_fdtd_f32_domain_pipe(a, d, done, thread, team);
    }
}

static void steps(const ec_fdtd_steps_args *a, size_t lane0, size_t y)
{
    int active = 0, threads = a->threads < EC_FDTD_PIPE ? a->threads : EC_FDTD_PIPE;

    (void)lane0, (void)y;
    for (int i = 0; i < a->n; i++)
        active += a->domain[i].steps > a->first;
    if (active < threads && threads > 1) {
        for (int i = 0; i < a->n; i++)
            if (a->domain[i].steps > a->first)
                steps_shared(a, a->domain + i, threads);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < a->n; i++)
        if (a->domain[i].steps > a->first)
            steps_alone(a, a->domain + i);
}
EC_KERNEL_CPU(fdtd_steps, ec_fdtd_steps_args, steps)

static void energy(const ec_fdtd_energy_args *a, size_t lane0, size_t y)
{
    (void)lane0, (void)y;
#pragma omp parallel for num_threads(a->threads) schedule(dynamic, 1)
    for (int i = 0; i < a->n; i++)
        if (a->domain[i].steps > 0)
            a->energy[i] = a->double_precision ? ec_fdtd_f64_energy(&a->shape, a->domain + i)
                                               : ec_fdtd_f32_energy(&a->shape, a->domain + i);
}
EC_KERNEL_CPU(fdtd_energy, ec_fdtd_energy_args, energy)

EC_KERNEL_CPU(fdtd_raster, ec_fdtd_raster_args, ec_fdtd_raster)
EC_KERNEL_CPU(fdtd_loads, ec_fdtd_raster_args, ec_fdtd_load_edges)
EC_KERNEL_CPU(fdtd_spectrum, ec_fdtd_spectrum_args, ec_fdtd_spectrum)
