/* fdtd_surface_internal.h: running Fourier sums of the fields on a box's faces, for the CPU and for
 * CUDA: sum_m x(t_m) e^(-jw t_m) (t_m+1 - t_m). */
#ifndef EC_FDTD_SURFACE_INTERNAL_H
#define EC_FDTD_SURFACE_INTERNAL_H

#include "fdtd_domain_internal.h"

EC_C_BEGIN

/* A pair's E and H in the fields. */
typedef struct ec_fdtd_spot {
    int64_t index[2];
} ec_fdtd_spot;

typedef struct ec_fdtd_surface {
    const ec_fdtd_spot *spot;
    const void *field;
    void *sum;            /* [E, H][frequency][spot] pairs of reals */
    int32_t n;            /* spots */
    int32_t steps, every; /* of its domain in this chunk; between two samples */
} ec_fdtd_surface;

typedef struct ec_fdtd_surface_args {
    const ec_fdtd_surface *surface; /* [domain] */
    int32_t gone;                   /* steps of the chunk that are done */
    const ec_c128 *phasor;          /* [domain][E, H][frequency] e^(-jwt) and the interval, s */
    int32_t n_frequencies;
    bool double_precision;
} ec_fdtd_surface_args;

/* Lanes are spots, y: domain, 2 times, + 0 for E and 1 for H. */
EC_FN void ec_fdtd_surface_sum(const ec_fdtd_surface_args *a, size_t lane0, size_t y)
{
    const ec_fdtd_surface *s = a->surface + y / 2;
    const ec_c128 *phasor = a->phasor + y * (size_t)a->n_frequencies;

    if (a->gone > s->steps || a->gone % s->every != 0)
        return;
    for (int32_t f = 0; f < a->n_frequencies; f++)
        for (int l = 0; l < EC_LANES && (int64_t)lane0 + l < s->n; l++) {
            const int64_t index = s->spot[lane0 + l].index[y % 2];
            const size_t at =
                2 * (((y % 2) * (size_t)a->n_frequencies + (size_t)f) * (size_t)s->n + lane0 + l);
            if (a->double_precision) {
                const double x = ((const double *)s->field)[index];
                ((double *)s->sum)[at] += x * phasor[f].re;
                ((double *)s->sum)[at + 1] += x * phasor[f].im;
            } else {
                const float x = ((const float *)s->field)[index];
                ((float *)s->sum)[at] += x * (float)phasor[f].re;
                ((float *)s->sum)[at + 1] += x * (float)phasor[f].im;
            }
        }
}

EC_C_END
#endif
