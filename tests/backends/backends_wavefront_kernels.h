/* backends_wavefront_kernels.h: rays from antenna to antenna over a curved surface and an edge. */
#ifndef EC_BACKENDS_WAVEFRONT_KERNELS_H
#define EC_BACKENDS_WAVEFRONT_KERNELS_H

#include "core/kernel.h"
#include "evaluators/mimo/antenna.h"

/* What a ray is, numbers in an array [EC_TEST_RAY_NUMBERS][ld]. */
enum {
    EC_TEST_RAY_DIRECTION = 0, /* [3] unit, from the transmitter */
    EC_TEST_RAY_NORMAL = 3,    /* [3] unit, of the surface, against it */
    EC_TEST_RAY_FORM = 6,      /* [3] uu, uv, vv in the basis of ec_scene_frame, 1/m */
    EC_TEST_RAY_INTO = 9,      /* [3] unit, along face 0 of the wedge */
    EC_TEST_RAY_FACE = 12,     /* [3] unit, its normal */
    EC_TEST_RAY_LEGS = 15,     /* [3] m: to the surface, to the edge, to the receiver */
    EC_TEST_RAY_N = 18,        /* exterior angle / pi */
    EC_TEST_RAY_PHI = 19,      /* rad: of the diffracted ray */
    EC_TEST_RAY_NUMBERS = 20
};

typedef struct ec_test_ray_args {
    ec_antenna tx, rx;
    /* of y = 1, where the ray passes the slab before the surface; y = 0: all are perfect conductors
     * and there is no slab */
    ec_fresnel_face surface, slab, wedge[2];
    double wavelength;
    size_t ld;
    const double *ray;
    double *h; /* [2 y + (0: Re, 1: Im)][ld] */
} ec_test_ray_args;

EC_FN ec_c128 ec_test_ray_channel(const ec_test_ray_args *a, const double *ray, size_t y)
{
    const ec_fresnel_face pec = {EC_FACE_PEC, {0.0, 0.0}, 0.0};
    const ec_fresnel_face face[2] = {y ? a->wedge[0] : pec, y ? a->wedge[1] : pec};
    const ec_fresnel_face surface = y ? a->surface : pec;
    const ec_c128 none[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    double v[EC_TEST_RAY_NUMBERS], out[3], towards[3], along[3], sine, cosine;
    ec_curvature form;
    ec_utd_edge edge;
    ec_wavefront w, back;

    for (int i = 0; i < EC_TEST_RAY_NUMBERS; i++)
        v[i] = ray[(size_t)i * a->ld];
    ec_scene_frame(v + EC_TEST_RAY_NORMAL, form.u, form.v);
    for (int i = 0; i < 3; i++) {
        edge.into[i] = v[EC_TEST_RAY_INTO + i];
        edge.normal[i] = v[EC_TEST_RAY_FACE + i];
    }
    form.uu = v[EC_TEST_RAY_FORM];
    form.uv = v[EC_TEST_RAY_FORM + 1];
    form.vv = v[EC_TEST_RAY_FORM + 2];
    edge.n = v[EC_TEST_RAY_N];
    edge.touch = 0.0;
    ec_antenna_launch(&a->tx, v + EC_TEST_RAY_DIRECTION, &w);
    ec_wavefront_advance(&w, v[EC_TEST_RAY_LEGS]);
    if (y)
        ec_wavefront_transmit(&w, v + EC_TEST_RAY_NORMAL, &a->slab);
    ec_wavefront_reflect(&w, v + EC_TEST_RAY_NORMAL, &form, &surface);
    ec_wavefront_advance(&w, v[EC_TEST_RAY_LEGS + 1]);
    /* on Keller's cone */
    ec_cross3(edge.into, edge.normal, along);
    double cone = ec_dot3(w.direction, along), size = sqrt(1.0 - cone * cone);
    ec_det_sincos(v[EC_TEST_RAY_PHI], &sine, &cosine);
    for (int i = 0; i < 3; i++) {
        out[i] = size * (cosine * edge.into[i] + sine * edge.normal[i]) + cone * along[i];
        towards[i] = -out[i];
    }
    ec_wavefront_source(towards, none, &back);
    ec_wavefront_advance(&back, v[EC_TEST_RAY_LEGS + 2]);
    ec_wavefront_diffract(&w, &edge, face, out, &back, a->wavelength);
    ec_wavefront_advance(&w, v[EC_TEST_RAY_LEGS + 2]);
    return ec_antenna_receive(&a->rx, &w, a->wavelength);
}

EC_FN void ec_test_ray_body(const ec_test_ray_args *a, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l;
        ec_c128 h = ec_test_ray_channel(a, a->ray + c, y);
        a->h[2 * y * a->ld + c] = h.re;
        a->h[(2 * y + 1) * a->ld + c] = h.im;
    }
}

#endif
