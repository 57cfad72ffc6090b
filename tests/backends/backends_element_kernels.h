/* backends_element_kernels.h: fields of elements in many directions, both precisions. */
#ifndef EC_BACKENDS_ELEMENT_KERNELS_H
#define EC_BACKENDS_ELEMENT_KERNELS_H

#include "core/kernel.h"
#include "core/element_pattern.h"

enum { EC_TEST_ELEMENTS = 7 };

typedef struct ec_test_element_args {
    ec_element_pattern pattern[EC_TEST_ELEMENTS]; /* one a y */
    ec_element_frame frame;
    size_t ld;
    const double *direction; /* [3][ld] */
    double *f64;             /* [ny][4][ld]: Re, Im of E_theta, E_phi */
    float *f32;              /* likewise */
} ec_test_element_args;

EC_FN void ec_test_element_body(const ec_test_element_args *a, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l, at = 4 * y * a->ld + c;
        const double *d = a->direction + c;
        ec_c128 e_theta, e_phi;
        ec_c64 s_theta, s_phi;
        ec_element_field_in_f64(&a->pattern[y], &a->frame, d[0], d[a->ld], d[2 * a->ld], &e_theta,
                                &e_phi);
        ec_element_field_in_f32(&a->pattern[y], &a->frame, d[0], d[a->ld], d[2 * a->ld], &s_theta,
                                &s_phi);
        a->f64[at] = e_theta.re;
        a->f64[at + a->ld] = e_theta.im;
        a->f64[at + 2 * a->ld] = e_phi.re;
        a->f64[at + 3 * a->ld] = e_phi.im;
        a->f32[at] = s_theta.re;
        a->f32[at + a->ld] = s_theta.im;
        a->f32[at + 2 * a->ld] = s_phi.re;
        a->f32[at + 3 * a->ld] = s_phi.im;
    }
}

#endif
