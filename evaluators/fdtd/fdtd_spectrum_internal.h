/* fdtd_spectrum_internal.h: running Fourier sums of probes' series, sum_m x(t_m) e^(-jw t_m) dt. */
#ifndef EC_FDTD_SPECTRUM_INTERNAL_H
#define EC_FDTD_SPECTRUM_INTERNAL_H

#include "../../core/detmath.h"
#include "fdtd_domain_internal.h"

EC_C_BEGIN

typedef struct ec_fdtd_spectrum_args {
    const ec_fdtd_domain *domain; /* before its steps are counted */
    ec_c128 *sum;                 /* [domain][probe][n_frequencies] */
    const double *frequency;      /* Hz */
    const double *offset;         /* [probe]: time of its sample of step s is (s + offset) dt */
    int32_t n_frequencies, n_probes, window;
} ec_fdtd_spectrum_args;

/* Lanes are frequencies, y probes of domains. */
EC_FN void ec_fdtd_spectrum(const ec_fdtd_spectrum_args *a, size_t lane0, size_t y)
{
    const ec_fdtd_domain *d = a->domain + y / (size_t)a->n_probes;
    const int32_t probe = (int32_t)(y % (size_t)a->n_probes);
    const double *x = d->series + (int64_t)probe * a->window;

    if (d->steps == 0)
        return;
    for (int l = 0; l < EC_LANES && (int32_t)(lane0 + l) < a->n_frequencies; l++) {
        const double turns = a->frequency[lane0 + l] * d->dt; /* a step */
        const double start = turns * ((double)d->step + a->offset[probe]);
        double re = 0, im = 0, c, s, wc, ws;
        ec_det_sincospi(-2 * (start - ec_det_floor(start)), &s, &c);
        ec_det_sincospi(-2 * turns, &ws, &wc);
        for (int32_t m = 0; m < d->steps; m++) {
            re += x[m] * c;
            im += x[m] * s;
            const double next = c * wc - s * ws;
            s = s * wc + c * ws;
            c = next;
        }
        ec_c128 *sum = a->sum + y * (size_t)a->n_frequencies + lane0 + l;
        sum->re += re * d->dt;
        sum->im += im * d->dt;
    }
}

EC_C_END
#endif
