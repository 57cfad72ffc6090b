/* array_weights_kernels.c: optimal weights on the CPU, compiled once per ISA level. A task of its
 * own threads: each is a team of one with its own workspace and takes candidates as it gets free. */
#include "array_weights_candidate.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static void array_weights_body(const ec_weights_args *args, size_t lane0, size_t y)
{
    (void)lane0;
    (void)y;
    if (args->stop && *args->stop)
        return;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(args->teams) if (args->teams > 1)
#endif
    for (size_t task = 0; task < args->n * args->samples; task++) {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        if (ec_pattern_is_over(args->watch, thread))
            continue;
        ec_team team = {0, 1, NULL};
        ec_weights_candidate(
            &team, args, task % args->n, task / args->n,
            (double *)(void *)(args->workspace + (size_t)thread * args->workspace_bytes));
    }
}

EC_KERNEL_CPU(array_weights, ec_weights_args, array_weights_body)
