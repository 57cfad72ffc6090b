/* utd.h: diffraction by a straight wedge, uniform theory of diffraction.
 *
 * R. G. Kouyoumjian and P. H. Pathak, "A uniform geometrical theory of diffraction for an edge in
 * a perfectly conducting surface", Proc. IEEE 62, 1974, eq. (25). Time factor exp(+jwt).
 * The wedge fills the angles outside of 0 to n pi; phi' (towards the source) and phi (towards the
 * observer) are measured from face 0, across the edge. A coefficient is a sum of four terms
 *
 *   -e^(-j pi/4) / (2 n sqrt(2 pi k) sin beta0) cot((pi +- b) / 2n) F(2 k L cos^2((2 n pi N - b) / 2))
 *
 * with b = phi - phi' for the incident field (two terms) and b = phi + phi' for the fields that
 * face n (+) and face 0 (-) reflect, N = N+ or N- the integer nearest to (b +- pi) / (2 n pi). Written
 * with e = pi +- (b - 2 n pi N), the angle to the term's shadow boundary, positive on its lit
 * side, all four are one function: cot(e / 2n) F(2 k L sin^2(e / 2)). There cot grows and F falls
 * to 0; as F(x) = sqrt(x) G(sqrt(x)) with a smooth G, G(0) = sqrt(pi) e^(j pi/4), the product is
 * sgn(e) [sin|e/2| / tan|e/2n|] sqrt(2kL) G, finite and exact through the boundary.
 *
 * On a boundary the sign is a matter of which side the ray of geometrical optics is counted on, and
 * has to agree with it. That ray misses the edge by |e| L / sin beta0 (L: the distance parameter);
 * where it is nearer than the edge's `touch` it lies on the boundary. Faces are closed, they hold
 * their edge: a ray that touches the edge is blocked (the shadow side of the incident field) and a
 * ray that meets a face in its edge is reflected (the lit side of both reflections). Where source or
 * observer is in the plane of a face both rays are one, which is blocked. Between the edges of a
 * sheet there is such a ray on each side, one lit and one in shadow, and their mean is 0.
 *
 * Faces that are no perfect conductors are a heuristic, not a solution: the reflected terms are
 * multiplied by the faces' Fresnel coefficients (R. J. Luebbers, "Finite conductivity uniform GTD
 * versus knife edge diffraction in prediction of propagation path loss", IEEE Trans. Antennas
 * Propag. 32, 1984), at the angle min(phi, phi') to face 0 and n pi - max(phi, phi') to face n.
 * That is Luebbers' choice for phi' < phi and his choice for the way back otherwise, so source and
 * observer may be exchanged. At oblique incidence a face mixes the two components of the edge-fixed
 * basis; the whole 2x2 reflection is used, so the sum with the reflected ray stays continuous.
 * A slab with a free edge lets part of the wave through: its incident terms are multiplied by 1
 * minus its transmission, at the angle to the face that is the smaller of both (Burnside and Burgener
 * 1983, for the half plane); what two slabs let through that meet in an edge is left out of it. Of
 * the exact solutions only that of conductors is compared in the tests.
 *
 * Units: lengths in wavelengths, so coefficients are in sqrt(wavelength). */
#ifndef EC_UTD_H
#define EC_UTD_H

#include "fresnel.h"

/* Angle (rad) between a ray and a face below which the ray runs along the face. */
#define EC_UTD_ALONG 1e-9
/* Angle to a shadow boundary within which a ray lies on it whatever the edge's `touch`. */
#define EC_UTD_TIE 1e-13

/* ---- the transition function ----------------------------------------------------------------- */

/* F(s^2) / s for s >= 0: 2 j e^(j s^2) times the integral of e^(-j t^2) from s to infinity.
 * Relative error 1e-15 for every s: the trapezoidal rule of step pi / A with the contribution of
 * the integrand's pole (M. Alazah, S. N. Chandler-Wilde, S. La Porte, "Computing Fresnel
 * integrals via modified trapezium rules", Numer. Math. 128, 2014), N = 11. */
EC_FN ec_c128 ec_utd_transition_root(double s)
{
    const double A = 6.010683448351163; /* sqrt((N + 1/2) pi) */
    /* t^2 and (2 sqrt(pi) / A) e^(-t^2) at t = (k - 1/2) pi / A */
    const double square[11] = {0.06829549246934333, 0.61465943222409,   1.7073873117335834,
                               3.3464791309978232,  5.53193489001681,   8.263754588790544,
                               11.541938227319022,  15.366485805602249, 19.737397323640224,
                               24.654672781432943,  30.11831217898041};
    const double weight[11] = {
        0.5508339757873728,     0.31896121414278117,    0.10694788183296247,
        0.02076460409365239,    0.0023344914006792217,  0.00015197706663306284,
        5.729028634152963e-06,  1.2505500671405536e-07, 1.5806595176537931e-09,
        1.1568917748453026e-11, 4.90302708004235e-14};
    double x = s * s;
    ec_c128 g = ec_c128_of(0.0, 0.0);

    for (int k = 0; k < 11; k++) {
        double w = weight[k] / (x * x + square[k] * square[k]);
        g.re += w * x;
        g.im += w * square[k];
    }
    g = ec_c128_scale(s, g);
    double a = 1.4142135623730951 * A * s;
    if (a < 40.0) { /* the pole: 2 sqrt(pi) e^(j (x + pi/4)) / (e^(a (1 + j)) + 1) */
        double sine, cosine, top_sine, top_cosine;
        double grown = ec_det_exp(a);
        ec_det_sincos(a, &sine, &cosine);
        ec_det_sincos(x + 0.25 * EC_PI, &top_sine, &top_cosine);
        ec_c128 pole = ec_c128_divide(ec_c128_of(top_cosine, top_sine),
                                      ec_c128_of(1.0 + grown * cosine, grown * sine));
        g = ec_c128_add(g, ec_c128_scale(3.5449077018110318, pole));
    }
    return g;
}

/* The transition function F(x) of Kouyoumjian and Pathak, x >= 0. */
EC_FN ec_c128 ec_utd_transition(double x)
{
    double s = sqrt(x);

    return ec_c128_scale(s, ec_utd_transition_root(s));
}

/* ---- coefficients ---------------------------------------------------------------------------- */

/* The terms of a coefficient, in sqrt(wavelength): PEC faces have
 * D_soft = incident - face_0 - face_n (E along the edge) and D_hard with two plus signs. */
typedef struct ec_utd_terms {
    ec_c128 incident, face_0, face_n;
} ec_utd_terms;

/* What counts as lying on a shadow boundary. */
typedef struct ec_utd_tie {
    double angle[2]; /* rad: of the incident and of the reflected fields */
    double sign;     /* of the incident field's terms there: -1 shadow, 0 the mean of both sides */
} ec_utd_tie;

/* Angle to the shadow boundary of the term that has (pi + b), 0 <= |b| <= 2 n pi. */
EC_FN double ec_utd_plus(double b, double n)
{
    double period = 2.0 * n * EC_PI;

    return EC_PI + b - period * ec_det_rint((b + EC_PI) / period);
}

/* ... that has (pi - b). */
EC_FN double ec_utd_minus(double b, double n)
{
    double period = 2.0 * n * EC_PI;

    return EC_PI - b + period * ec_det_rint((b - EC_PI) / period);
}

/* cot(e / 2n) F(2 k L sin^2(e / 2)); root is sqrt(2 k |L|); on the boundary, up to the angle `tie`, with
 * the sign `on`. */
EC_FN ec_c128 ec_utd_term(double e, double n, double root, double tie, double on)
{
    double a = fabs(e), half_sine, half_cosine, sine, cosine;

    ec_det_sincos(0.5 * a, &half_sine, &half_cosine);
    ec_det_sincos(0.5 * a / n, &sine, &cosine);
    half_sine = fabs(half_sine);
    double ratio = a > 1e-8 ? half_sine * cosine / sine : n;
    double sign = a <= tie ? on : (e > 0.0 ? 1.0 : -1.0);
    return ec_c128_scale(sign * ratio * root, ec_utd_transition_root(root * half_sine));
}

/* n: 0 < n <= 2; phi, phi_in: rad, 0 to n pi; sine: of beta0, the angle between a ray and the edge,
 * > 0; distance: L in wavelengths of the incident and of the reflected fields (ec_utd_distance),
 * negative behind a caustic, where F(-x) is the conjugate of F(x). */
EC_FN ec_utd_terms ec_utd_terms_of(double n, double phi, double phi_in, double sine,
                                   const double distance[2], const ec_utd_tie *tie)
{
    double direct = 2.0 * sqrt(EC_PI * fabs(distance[0]));
    double mirrored = 2.0 * sqrt(EC_PI * fabs(distance[1]));
    double d = phi - phi_in, sum = phi + phi_in;
    /* -e^(-j pi/4) / (2 n sqrt(2 pi k) sin beta0), sqrt(2 pi k) = 2 pi */
    double size = 0.70710678118654752 / (4.0 * EC_PI * n * sine);
    ec_c128 factor = ec_c128_of(-size, size);
    ec_utd_terms t;

    double from_n = ec_utd_plus(d, n), from_0 = ec_utd_minus(d, n);
    double by_n = ec_utd_plus(sum, n), by_0 = ec_utd_minus(sum, n);
    double tied = tie->angle[0],
           lit = fabs(from_n) <= tied || fabs(from_0) <= tied ? tie->sign : 1.0;
    t.incident = ec_c128_add(ec_utd_term(from_n, n, direct, tied, tie->sign),
                             ec_utd_term(from_0, n, direct, tied, tie->sign));
    t.face_n = ec_utd_term(by_n, n, mirrored, tie->angle[1], lit);
    t.face_0 = ec_utd_term(by_0, n, mirrored, tie->angle[1], lit);
    if (distance[0] < 0.0)
        t.incident.im = -t.incident.im;
    if (distance[1] < 0.0) {
        t.face_n.im = -t.face_n.im;
        t.face_0.im = -t.face_0.im;
    }
    t.incident = ec_c128_multiply(factor, t.incident);
    t.face_n = ec_c128_multiply(factor, t.face_n);
    t.face_0 = ec_c128_multiply(factor, t.face_0);
    return t;
}

/* A wavefront's curvature matrix at an edge in the basis beta^, phi^ below, 1 / length. */
typedef struct ec_utd_curvature {
    double along, across, cross;
} ec_utd_curvature;

/* The distance parameter L of the incident and of the reflected fields: `in` is the curvature of the
 * incident wave, `out` that of the wave that would come back to the edge from the receiver. With
 * M = in + out (the cross terms subtracted for the reflected fields, which see a mirror),
 * L = sin^2 M_along / det M: the width of the Fresnel zone across the edge after that along it.
 * For a receiver in free space at s, out = 1/s, this is Kouyoumjian and Pathak's
 * L = s sin^2 (1 + s in_along) / det(1 + s in), so s sin^2 for a plane wave,
 * r s / (r + s) for a cylindrical one from r (sin = 1), r s sin^2 / (r + s) for a spherical one. It is
 * the same both ways, also between two edges or before a curved surface, where theirs with
 * the distance alone is not. */
EC_FN void ec_utd_distance(const ec_utd_curvature *in, const ec_utd_curvature *out, double sine,
                           double distance[2])
{
    double along = in->along + out->along, across = in->across + out->across;
    double plus = out->cross + in->cross, minus = out->cross - in->cross;
    double top = sine * sine * along;

    distance[0] = top / (along * across - plus * plus);
    distance[1] = top / (along * across - minus * minus);
}

/* ---- the field vector ------------------------------------------------------------------------ */

/* An edge and its faces' directions: unit vectors, `into` along face 0 away from the edge and
 * across it, `normal` that of face 0, so that phi grows from `into` over `normal`. (Of a scene's
 * wedge: into[0], face_normal[0]; the edge's direction here is into x normal.) */
typedef struct ec_utd_edge {
    double into[3], normal[3];
    double n;     /* exterior angle / pi */
    double touch; /* m: a ray that misses the edge by less lies on it */
} ec_utd_edge;

/* Angle from face 0 of a direction with components x along `into` and y along `normal`; one that
 * rounding has put into the wedge is on the nearer face. */
EC_FN double ec_utd_angle(double x, double y, double n)
{
    double angle = ec_det_atan2(y, x), end = n * EC_PI;

    angle = angle < 0.0 ? angle + 2.0 * EC_PI : angle;
    if (angle > end)
        angle = angle - end < 2.0 * EC_PI - angle ? end : 0.0;
    return angle;
}

/* How an edge is met: angles, and the edge-fixed components' unit vectors. With s' the incident
 * direction, s the diffracted and e the edge's: phi^ = e x s / |..|, beta^ = s x phi^, and
 * phi'^ = -e x s' / |..|, beta'^ = s' x phi'^. */
typedef struct ec_utd_geometry {
    double phi, phi_in;
    double sine, cosine; /* of beta0, between the incident direction and the edge's */
    double beta_in[3], phi_hat_in[3], beta[3], phi_hat[3];
} ec_utd_geometry;

/* False when a ray runs along the edge, which has no diffraction. */
EC_FN bool ec_utd_geometry_of(const ec_utd_edge *edge, const double in[3], const double out[3],
                              ec_utd_geometry *g)
{
    double along[3];

    ec_cross3(edge->into, edge->normal, along);
    double ix = ec_dot3(in, edge->into), iy = ec_dot3(in, edge->normal);
    double ox = ec_dot3(out, edge->into), oy = ec_dot3(out, edge->normal);
    double in_sine = sqrt(ix * ix + iy * iy), out_sine = sqrt(ox * ox + oy * oy);
    if (!(in_sine > 1e-9 && out_sine > 1e-9))
        return false;
    g->phi_in = ec_utd_angle(-ix, -iy, edge->n);
    g->phi = ec_utd_angle(ox, oy, edge->n);
    g->sine = in_sine;
    g->cosine = ec_dot3(in, along);
    for (int i = 0; i < 3; i++) {
        g->phi_hat_in[i] = (iy * edge->into[i] - ix * edge->normal[i]) / in_sine;
        g->phi_hat[i] = (ox * edge->normal[i] - oy * edge->into[i]) / out_sine;
    }
    ec_cross3(in, g->phi_hat_in, g->beta_in);
    ec_cross3(out, g->phi_hat, g->beta);
    return true;
}

/* What a face does, seen in the edge-fixed basis. An incident ray that comes from the angle alpha
 * to the face, across the edge, has s = d x n with the components c = cos alpha along beta'^ and
 * t = +-cos beta0 sin alpha along phi'^ (+ at face 0), and |s|^2 = 1 - sin^2 beta0 sin^2 alpha.
 * Here alpha is the incident ray's or the one that the diffracted ray would be reflected or
 * transmitted from, which agree on the shadow boundary; sin alpha is the smaller of both. */
typedef struct ec_utd_face_angles {
    double cosine;    /* of theta at the face: sin beta0 sin alpha */
    double beta, phi; /* c^2 / |s|^2, t^2 / |s|^2; both 0 at normal incidence */
    double cross;     /* c t / |s|^2 */
} ec_utd_face_angles;

/* sine_alpha: >= 0; product: of cos alpha and sin alpha, the mean of both rays'. */
EC_FN ec_utd_face_angles ec_utd_face_angles_of(double sine_alpha, double product, double sine,
                                               double cosine)
{
    double normal = sine * sine_alpha, c2 = 1.0 - sine_alpha * sine_alpha;
    double t2 = cosine * cosine * sine_alpha * sine_alpha;
    double inverse = c2 + t2 > 1e-30 ? 1.0 / (c2 + t2) : 0.0;
    ec_utd_face_angles f;

    f.cosine = normal < 1.0 ? normal : 1.0;
    f.beta = c2 * inverse;
    f.phi = t2 * inverse;
    f.cross = product * cosine * inverse;
    return f;
}

/* Components (beta^, phi^) of what a face reflects of the components a of an incident field;
 * from, to: angles of source and observer from this face; side: 1 at face 0, -1 at face n, which
 * is face 0 seen in a mirror. */
EC_FN void ec_utd_face_reflect(const ec_fresnel_face *face, double from, double to, double sine,
                               double cosine, double side, const ec_c128 a[2], ec_c128 b[2])
{
    double s_from, c_from, s_to, c_to;

    if (face->kind == EC_FACE_PEC) {
        b[0] = a[0];
        b[1] = ec_c128_scale(-1.0, a[1]);
        return;
    }
    ec_det_sincos(from, &s_from, &c_from);
    ec_det_sincos(to, &s_to, &c_to);
    double s = fabs(from < to ? s_from : s_to);
    ec_utd_face_angles f = ec_utd_face_angles_of(s, 0.5 * (c_from - c_to) * s, sine, side * cosine);
    ec_fresnel r = ec_fresnel_coefficients(face, f.cosine);
    ec_c128 q = ec_c128_add(r.r_s, r.r_p);
    ec_c128 beta = ec_c128_subtract(r.r_p, ec_c128_scale(f.beta, q));
    ec_c128 phi = ec_c128_subtract(ec_c128_scale(f.phi, q), r.r_p);
    ec_c128 cross = ec_c128_scale(f.cross, q);
    b[0] = ec_c128_subtract(ec_c128_multiply(beta, a[0]), ec_c128_multiply(cross, a[1]));
    b[1] = ec_c128_add(ec_c128_multiply(cross, a[0]), ec_c128_multiply(phi, a[1]));
}

/* Takes from the components a of an incident field what a slab lets through. */
EC_FN void ec_utd_face_block(const ec_fresnel_face *face, double from, double to, double sine,
                             double cosine, ec_c128 a[2])
{
    double s_from, c_from, s_to, c_to;

    ec_det_sincos(from, &s_from, &c_from);
    ec_det_sincos(to, &s_to, &c_to);
    double s = fabs(fabs(s_from) < fabs(s_to) ? s_from : s_to);
    ec_utd_face_angles f =
        ec_utd_face_angles_of(s, 0.5 * (c_from * s_from + c_to * s_to), sine, cosine);
    ec_fresnel r = ec_fresnel_coefficients(face, f.cosine);
    ec_c128 q = ec_c128_subtract(r.t_s, r.t_p), kept = ec_c128_of(1.0 - r.t_p.re, -r.t_p.im);
    ec_c128 beta = ec_c128_subtract(kept, ec_c128_scale(f.beta, q));
    ec_c128 phi = ec_c128_subtract(kept, ec_c128_scale(f.phi, q));
    ec_c128 cross = ec_c128_scale(f.cross, q), first = a[0];
    a[0] = ec_c128_subtract(ec_c128_multiply(beta, a[0]), ec_c128_multiply(cross, a[1]));
    a[1] = ec_c128_subtract(ec_c128_multiply(phi, a[1]), ec_c128_multiply(cross, first));
}

/* The diffracted field of an incident field e at the edge: d is it without the spreading
 * 1 / sqrt(s (1 + s along)) and the phase of its own path s, in units of e sqrt(wavelength).
 * face[0], face[1]: faces 0 and n; distance: ec_utd_distance, in wavelengths. */
EC_FN void ec_utd_diffract(const ec_utd_geometry *g, double n, const ec_fresnel_face face[2],
                           const double distance[2], const ec_utd_tie *tie, const ec_c128 e[3],
                           ec_c128 d[3])
{
    ec_utd_terms t = ec_utd_terms_of(n, g->phi, g->phi_in, g->sine, distance, tie);
    double end = n * EC_PI, sine = g->sine, cosine = g->cosine;
    ec_c128 a[2], zero[2], last[2], sum[2];

    a[0] = ec_c128_dot3_real(g->beta_in, e);
    a[1] = ec_c128_dot3_real(g->phi_hat_in, e);
    ec_utd_face_reflect(&face[0], g->phi_in, g->phi, sine, cosine, 1.0, a, zero);
    ec_utd_face_reflect(&face[1], end - g->phi_in, end - g->phi, sine, cosine, -1.0, a, last);
    if (n == 2.0 && face[0].kind == EC_FACE_SLAB)
        ec_utd_face_block(&face[0], g->phi_in, g->phi, sine, cosine, a);
    for (int i = 0; i < 2; i++)
        sum[i] = ec_c128_subtract(
            ec_c128_add(ec_c128_multiply(t.face_0, zero[i]), ec_c128_multiply(t.face_n, last[i])),
            ec_c128_multiply(t.incident, a[i]));
    for (int i = 0; i < 3; i++)
        d[i] = ec_c128_add(ec_c128_scale(g->beta[i], sum[0]), ec_c128_scale(g->phi_hat[i], sum[1]));
}

#endif
