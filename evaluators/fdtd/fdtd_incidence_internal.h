/* fdtd_incidence_internal.h: what an incident plane wave adds to the fields at the faces of its box,
 * for the CPU and for CUDA.
 *
 * The wave is known on a line along its direction at all steps: E(s) at nodes and H(s + 1/2) between
 * them (fdtd_wave.c). An entry reads `taps` neighbours of the line with weights that have all else in
 * them. Where two faces meet a value of E has two entries, one behind the other: they are added in
 * this order, by whoever has the first one. */
#ifndef EC_FDTD_INCIDENCE_INTERNAL_H
#define EC_FDTD_INCIDENCE_INTERNAL_H

#include "../../core/base.h"

EC_C_BEGIN

typedef struct ec_fdtd_entry {
    int64_t index;    /* of the field */
    int32_t k, first; /* its plane; the first one of the line that it reads */
} ec_fdtd_entry;

/* All 0: no wave. */
typedef struct ec_fdtd_incidence {
    const ec_fdtd_entry *entry[2]; /* of E, of H; sorted by plane, then by index */
    const double *weight[2];       /* [entry][taps] */
    const void *line[2];           /* [steps][width] reals: H, which E reads, and E */
    int64_t steps;                 /* after them the wave has passed */
    int32_t n[2], taps, width;
} ec_fdtd_incidence;

EC_FN double ec_fdtd_incident(const ec_fdtd_incidence *w, int side, int32_t entry, int64_t step,
                              bool double_precision)
{
    const int64_t at = step * w->width + w->entry[side][entry].first;
    const double *weight = w->weight[side] + (int64_t)entry * w->taps;
    double sum = 0;

    for (int t = 0; t < w->taps; t++)
        sum += weight[t] * (double_precision ? ((const double *)w->line[side])[at + t]
                                             : (double)((const float *)w->line[side])[at + t]);
    return sum;
}

EC_C_END
#endif
