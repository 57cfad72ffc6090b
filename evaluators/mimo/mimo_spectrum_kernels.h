/* mimo_spectrum_kernels.h: wavelengths, and what materials are at them, where the frequency differs
 * from design to design or from sample to sample. C17 and CUDA. */
#ifndef EC_MIMO_SPECTRUM_KERNELS_H
#define EC_MIMO_SPECTRUM_KERNELS_H

#include "material_law.h"
#include "mimo_kernels.h"

typedef struct ec_mimo_spectrum {
    ec_mimo_input frequency; /* Hz */
    double range[2];         /* what it may be */
    size_t n_frequencies, first_sample, tables, n_materials;
    const ec_material_law *law;
    double *wavelength;    /* [samples][n_frequencies][tables] */
    ec_fresnel_face *face; /* [samples][n_frequencies][tables][n_materials] */
    const int32_t *stop;   /* see ec_exec; may be NULL */
} ec_mimo_spectrum;

/* Lane: candidate, or 0 where all have the same; y: frequency of a sample. */
EC_FN void ec_mimo_spectrum_body(const ec_mimo_spectrum *a, size_t lane0, size_t y)
{
    if (a->stop && *a->stop)
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l, sample = a->first_sample + y / a->n_frequencies;
        size_t element = y % a->n_frequencies, table = y * a->tables + c;
        const ec_mimo_input *in = &a->frequency;
        if (c >= a->tables)
            break;
        double f = in->data[sample * in->stride + element * in->ld + (in->varies ? c : 0)];
        f = f >= a->range[0] && f <= a->range[1] ? f : a->range[0]; /* refused by mimo_check */
        a->wavelength[table] = EC_LIGHT_SPEED / f;
        for (size_t m = 0; m < a->n_materials; m++)
            a->face[table * a->n_materials + m] = ec_material_law_face(&a->law[m], f);
    }
}

#endif
