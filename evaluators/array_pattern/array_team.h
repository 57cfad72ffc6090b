/* array_team.h: the workers that share one candidate: one thread on the CPU, one block on CUDA.
 *
 * Code that a team runs is written once. Loops that are worth sharing go from team->rank in steps
 * of team->size; everything else each member computes for itself, with the same result, so that
 * branches are uniform. Members meet at ec_team_sync and in the reductions, whose order is fixed.
 */
#ifndef EC_ARRAY_TEAM_H
#define EC_ARRAY_TEAM_H

#include "array_types.h"

#if defined(_OPENMP) && !defined(__CUDACC__)
#include <omp.h>
#endif

/* The best point of a scan. Ties go to the smaller a, then b, then line, so that the number of
 * members does not matter. */
typedef struct ec_pattern_best {
    double score;  /* larger is better; -1e300: none */
    double a, b;   /* where */
    int32_t line;  /* which limit */
    int32_t curve; /* EC_CURVE_* that it was found on */
} ec_pattern_best;

typedef struct ec_team {
    int32_t rank, size;
    void *scratch; /* CUDA: shared memory, EC_TEAM_SCRATCH bytes */
} ec_team;

enum { EC_TEAM_MAX = 256, EC_TEAM_SCRATCH = EC_TEAM_MAX * sizeof(ec_pattern_best) };

EC_FN void ec_team_sync(const ec_team *team)
{
    (void)team;
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
}

#ifndef __CUDACC__
/* CPU: whether a launch ends; thread 0, the one that called, asks, and the others hear of it. */
static inline bool ec_pattern_is_over(ec_pattern_watch *watch, int thread)
{
    if (!watch)
        return false;
    int32_t ended = __atomic_load_n(&watch->ended, __ATOMIC_RELAXED);
    if (!ended && thread == 0 && watch->interrupt->asked(watch->interrupt->user)) {
        ended = 1;
        __atomic_store_n(&watch->ended, ended, __ATOMIC_RELAXED);
    }
    return ended != 0;
}

static inline int ec_pattern_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}
#endif

/* CPU: whether the launch should end, asked within work that may take seconds; what the candidate has
 * by then is of no use. */
EC_FN bool ec_pattern_over(const ec_pattern_args *args)
{
#ifdef __CUDACC__
    (void)args;
    return false;
#else
    return ec_pattern_is_over(args->watch, ec_pattern_thread());
#endif
}

/* The same, asked once in a few milliseconds of work, in sines: `done` counts them. */
EC_FN bool ec_pattern_over_after(const ec_pattern_args *args, double work, double *done)
{
    const double some = 1 << 21;

    *done += work;
    if (*done < some)
        return false;
    *done = 0.0;
    return ec_pattern_over(args);
}

EC_FN bool ec_pattern_better(const ec_pattern_best *x, const ec_pattern_best *y)
{
    if (x->score != y->score)
        return x->score > y->score;
    if (x->a != y->a)
        return x->a < y->a;
    if (x->b != y->b)
        return x->b < y->b;
    return x->line < y->line;
}

/* Every member gets the best of all. */
EC_FN void ec_team_best(const ec_team *team, ec_pattern_best *best)
{
    (void)team;
    (void)best;
#ifdef __CUDA_ARCH__
    ec_pattern_best *slot = (ec_pattern_best *)team->scratch;
    __syncthreads();
    slot[team->rank] = *best;
    __syncthreads();
    for (int half = EC_TEAM_MAX / 2; half > 0; half /= 2) {
        int other = team->rank + half;
        if (team->rank < half && other < team->size &&
            ec_pattern_better(&slot[other], &slot[team->rank]))
            slot[team->rank] = slot[other];
        __syncthreads();
    }
    *best = slot[0];
    __syncthreads();
#endif
}

/* Sum over the members, the same bits for each of them. */
EC_FN double ec_team_sum(const ec_team *team, double value)
{
#ifdef __CUDA_ARCH__
    double *slot = (double *)team->scratch;
    __syncthreads();
    slot[team->rank] = value;
    __syncthreads();
    for (int half = EC_TEAM_MAX / 2; half > 0; half /= 2) {
        int other = team->rank + half;
        if (team->rank < half && other < team->size)
            slot[team->rank] += slot[other];
        __syncthreads();
    }
    value = slot[0];
    __syncthreads();
#endif
    (void)team;
    return value;
}

/* True for all when it is true for one. */
EC_FN bool ec_team_any(const ec_team *team, bool value)
{
    (void)team;
#ifdef __CUDA_ARCH__
    return __syncthreads_or(value) != 0;
#else
    return value;
#endif
}

/* The candidate's status bits: written where the byte is fresh, OR-ed into it elsewhere. */
EC_FN void ec_team_set_status(const ec_team *team, uint8_t *status, bool fresh, size_t c, int bits)
{
    if (team->rank != 0)
        return;
    if (fresh)
        status[c] = (uint8_t)bits;
    if (fresh || bits == 0)
        return;
#ifdef __CUDA_ARCH__
    /* the aligned word that holds the byte; allocations end on such a boundary */
    size_t address = (size_t)(status + c);
    atomicOr((unsigned *)(address & ~(size_t)3), (unsigned)bits << 8 * (address & 3));
#else
    __atomic_fetch_or(&status[c], (uint8_t)bits, __ATOMIC_RELAXED);
#endif
}

#endif
