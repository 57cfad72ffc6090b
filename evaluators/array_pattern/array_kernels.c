/* array_kernels.c: the array pattern on the CPU, compiled once per ISA level. A task of its own
 * threads: each is a team of one with its own workspace and takes candidates as it gets free. */
#include "array_back.h"
#include "array_rows.h"

#define EC_PATTERN_ROW(team, args, el, tables, row) ec_row_compute(args, el, tables, row)
#define EC_PATTERN_FIELD(args, el, tables)          ec_row_field(args, el, tables)
#define EC_PATTERN_FIELD_AT(args, tables, i)        ec_row_field_at(args, tables, (size_t)(i))
#define EC_PATTERN_BACK(args, el, adjoint, seed, tables)                                           \
    ec_back_adjoint(args, el, adjoint, seed, (char *)tables)
#include "array_candidate.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static void array_pattern_body(const ec_pattern_args *args, size_t lane0, size_t y)
{
    (void)lane0;
    (void)y;
    if (args->stop && *args->stop)
        return;
    size_t group = (size_t)args->group, groups = (args->n + group - 1) / group;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(args->teams) if (args->teams > 1)
#endif
    for (size_t task = 0; task < groups * args->samples; task++) {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        if (ec_pattern_over(args))
            continue;
        ec_team team = {0, 1, NULL};
        char *memory = args->workspace + (size_t)thread * args->workspace_bytes;
        size_t first = task % groups * group, s = task / groups;
        size_t count = args->n - first < group ? args->n - first : group;
        for (size_t k = 0; k < count; k++)
            ec_pattern_candidate(&team, args, first + k, s, memory);
        if (group > 1)
            ec_metric_flush(args, memory, first, s, count);
    }
}

EC_KERNEL_CPU(array_pattern, ec_pattern_args, array_pattern_body)
