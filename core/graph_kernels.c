#include "graph_kernels.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* A segment: consecutive steps for one strip, so that what they pass on stays in the first cache. */
static void segment_body(const ec_graph_args *shared, size_t lane0, size_t y)
{
    (void)y;
    ec_graph_args g = *shared;
    if (g.stop && *g.stop)
        return;
#ifdef _OPENMP
    /* a caller's own parallel region may give this thread a number beyond the backend's */
    int thread = omp_get_thread_num();
    g.region[EC_REGION_LOCAL] += thread < g.local_threads ? (size_t)thread * g.local_bytes : 0;
#endif
    for (int32_t k = 0; k < g.n_steps; k++) {
        const ec_step *st = &g.steps[g.first_step + k];
        for (int32_t s = 0; s < st->samples; s++) {
            if (st->op == EC_OP_ELEMENTWISE_END)
                ec_fused_run(&g, st, lane0, s);
            else
                ec_step_run(&g, st, lane0, s, st->op, 0, st->elements);
        }
    }
}

EC_KERNEL_CPU(graph_segment, ec_graph_args, segment_body)
EC_KERNEL_CPU(graph_status, ec_status_args, ec_status_body)
