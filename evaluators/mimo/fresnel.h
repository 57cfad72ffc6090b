/* fresnel.h: what a flat face makes of a plane wave that comes from free space: reflection and
 * transmission coefficients for each polarisation, and their use on a field vector.
 *
 * Time factor exp(+jwt), relative permittivity eps = eps_r - j sigma / (w eps0), so im(eps) <= 0.
 * theta is the angle between the ray and the normal.
 *
 * Polarisations: s (perpendicular, TE) along s = d x n / |d x n|, the same for both rays; p
 * (parallel, TM) along s x d for the incident and transmitted ray and along s x d_r for the
 * reflected one. With these a perfect conductor has r_s = -1, r_p = +1, and r_s = -r_p at
 * normal incidence.
 *
 * *   PEC          r_s = -1, r_p = 1, nothing gets through.
 *   half space   q = sqrt(eps - sin^2), r_s = (cos - q) / (cos + q),
 *                r_p = (eps cos - q) / (eps cos + q) (Born and Wolf, "Principles of Optics", 1.5);
 *                what gets in does not come out again: t_s = t_p = 0.
 *   slab         of thickness w in free space, all bounces inside it summed, with r that of its
 *                half space and u = exp(-j 2 pi w q / wavelength):
 *                R = r (1 - u^2) / (1 - r^2 u^2), T = (1 - r^2) u / (1 - r^2 u^2)
 *                (Burnside and Burgener, IEEE Trans. Antennas Propag. 31, 1983; ITU-R P.2040-3, 2.2.2).
 *
 * A slab is drawn as a face without a thickness, its middle plane. Seen from there, reflection
 * happens w/2 earlier, and the transmitted ray, which goes straight on, has a path of w too much
 * free space: both are taken back by the same factor exp(+j 2 pi w cos / wavelength), so fields
 * outside of the wall are those of the wall where it stands (exact for plane waves). */
#ifndef EC_FRESNEL_H
#define EC_FRESNEL_H

#include "../../core/complex_math.h"

enum { EC_FACE_PEC, EC_FACE_HALF_SPACE, EC_FACE_SLAB };

/* A face at one frequency. */
typedef struct ec_fresnel_face {
    int32_t kind;
    ec_c128 permittivity; /* relative, im <= 0; a conductor has none */
    double thickness;     /* slab: in wavelengths of free space, >= 0 */
} ec_fresnel_face;

typedef struct ec_fresnel {
    ec_c128 r_s, r_p, t_s, t_p;
} ec_fresnel;

/* Coefficients of a half space; t_s = t_p = 0. cosine is that of theta, 0 to 1. q (may not be
 * NULL) gets sqrt(eps - sin^2), whose wave decays inwards (im <= 0). */
EC_FN ec_fresnel ec_fresnel_half_space(ec_c128 permittivity, double cosine, ec_c128 *q)
{
    ec_c128 root =
        ec_c128_sqrt(ec_c128_of(permittivity.re - 1.0 + cosine * cosine, permittivity.im));
    ec_c128 c = ec_c128_of(cosine, 0.0), e = ec_c128_scale(cosine, permittivity);
    ec_fresnel f;

    if (root.im > 0.0) /* total reflection by a lossless medium below 1 */
        root = ec_c128_scale(-1.0, root);
    f.r_s = ec_c128_divide(ec_c128_subtract(c, root), ec_c128_add(c, root));
    f.r_p = ec_c128_divide(ec_c128_subtract(e, root), ec_c128_add(e, root));
    f.t_s = f.t_p = ec_c128_of(0.0, 0.0);
    *q = root;
    return f;
}

/* R and T of a slab for one polarisation: *r is that of a half space and becomes the slab's. */
EC_FN void ec_fresnel_slab(ec_c128 u, ec_c128 middle, ec_c128 *r, ec_c128 *t)
{
    const ec_c128 one = ec_c128_of(1.0, 0.0);
    ec_c128 r2 = ec_c128_multiply(*r, *r), u2 = ec_c128_multiply(u, u);
    ec_c128 share = ec_c128_divide(middle, ec_c128_subtract(one, ec_c128_multiply(r2, u2)));

    *t = ec_c128_multiply(ec_c128_multiply(ec_c128_subtract(one, r2), u), share);
    *r = ec_c128_multiply(ec_c128_multiply(ec_c128_subtract(one, u2), *r), share);
}

/* Coefficients of a face for the cosine of theta, 0 to 1. */
EC_FN ec_fresnel ec_fresnel_coefficients(const ec_fresnel_face *face, double cosine)
{
    ec_fresnel f;
    ec_c128 q;

    if (face->kind == EC_FACE_PEC) {
        f.r_s = ec_c128_of(-1.0, 0.0);
        f.r_p = ec_c128_of(1.0, 0.0);
        f.t_s = f.t_p = ec_c128_of(0.0, 0.0);
        return f;
    }
    f = ec_fresnel_half_space(face->permittivity, cosine, &q);
    if (face->kind == EC_FACE_SLAB) {
        double decay = ec_det_exp(2.0 * EC_PI * face->thickness * q.im);
        ec_c128 u = ec_c128_scale(decay, ec_c128_phasor(-face->thickness * q.re));
        ec_c128 middle = ec_c128_phasor(face->thickness * cosine);
        ec_fresnel_slab(u, middle, &f.r_s, &f.t_s);
        ec_fresnel_slab(u, middle, &f.r_p, &f.t_p);
    }
    return f;
}

/* a e + (b - a) s (s . e): a on the part of e across s, b on that along it; s = d x n, |s| = sin.
 * At normal incidence, where there is no s, a and b are equal and so is their effect. */
EC_FN void ec_fresnel_apply(ec_c128 a, ec_c128 b, const double d[3], const double n[3],
                            const ec_c128 e[3], ec_c128 to[3])
{
    double s[3];

    ec_cross3(d, n, s);
    double sine2 = ec_dot3(s, s);
    ec_c128 along = ec_c128_of(0.0, 0.0);
    if (sine2 > 1e-30)
        along = ec_c128_scale(1.0 / sine2,
                              ec_c128_multiply(ec_c128_subtract(b, a), ec_c128_dot3_real(s, e)));
    for (int i = 0; i < 3; i++)
        to[i] = ec_c128_add(ec_c128_multiply(a, e[i]), ec_c128_scale(s[i], along));
}

/* The vector of a direction or a field, mirrored at a plane with unit normal n. */
EC_FN void ec_fresnel_mirror(const double n[3], const double v[3], double to[3])
{
    double twice = 2.0 * ec_dot3(n, v);

    for (int i = 0; i < 3; i++)
        to[i] = v[i] - twice * n[i];
}

/* The reflected field of an incident one of direction d (unit), across it. The mirror image of e
 * has the reflected ray's s as it is and its p reversed, so it takes r_s and -r_p. n is the unit
 * normal, to either side. to may be e. */
EC_FN void ec_fresnel_reflect(const ec_fresnel *f, const double d[3], const double n[3],
                              const ec_c128 e[3], ec_c128 to[3])
{
    double re[3], im[3], m[3], k[3];
    ec_c128 image[3];

    for (int i = 0; i < 3; i++) {
        re[i] = e[i].re;
        im[i] = e[i].im;
    }
    ec_fresnel_mirror(n, re, m);
    ec_fresnel_mirror(n, im, k);
    for (int i = 0; i < 3; i++)
        image[i] = ec_c128_of(m[i], k[i]);
    ec_fresnel_apply(ec_c128_scale(-1.0, f->r_p), f->r_s, d, n, image, to);
}

/* The field behind the face, whose ray goes straight on. to may not be e. */
EC_FN void ec_fresnel_transmit(const ec_fresnel *f, const double d[3], const double n[3],
                               const ec_c128 e[3], ec_c128 to[3])
{
    ec_fresnel_apply(f->t_p, f->t_s, d, n, e, to);
}

#endif
