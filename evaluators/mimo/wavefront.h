/* wavefront.h: the field along one ray, from an antenna through any sequence of reflections,
 * transmissions and diffractions to a receiver.
 *
 * A ray carries the tube of its neighbours. Neighbour g (two small parameters) is at the transverse
 * place x = A g and goes apart with the slope B g, both in a basis of two unit vectors across the
 * ray: Q = B A^-1 is the curvature matrix of the wavefront (phase k x^T Q x / 2), and the amplitude
 * goes as 1 / sqrt|det A|. The pair (dynamic ray tracing: V. Cerveny, "Seismic Ray Theory", 2001,
 * 4.1) stays finite where Q does not: at a source, on a diffracting edge, in a caustic.
 *
 *   source        A = 0, B = 1: the field is g e^(-jkr) / r
 *   free path s   A += s B
 *   reflection    basis and direction are mirrored, B += K A with
 *                 K_jk = 2 cos(theta) t_j^T C t_k: C is the surface's second fundamental form
 *                 (positive where it is convex) and t_j the tangent vector that the basis vector
 *                 e_j is the shadow of, along the ray. In terms of Q it is
 *                 G^T Qr G = G^T Qi G + 2 cos(theta) C of G. A. Deschamps, "Ray techniques in
 *                 electromagnetics", Proc. IEEE 60, 1972, and D. A. McNamara, C. W. I. Pistorius,
 *                 J. A. G. Malherbe, "Introduction to the Uniform Geometrical Theory of
 *                 Diffraction", 1990, ch. 3.
 *   slab          the tube goes straight on
 *   edge          A = diag(0, 1), B = diag(1, q) in the basis (phi^, beta^) of utd.h: a caustic on
 *                 the edge, and along it the incident curvature q, which a straight edge keeps
 *                 (Kouyoumjian and Pathak 1974)
 *
 * Each zero of det A passed is a focal line, where the phase advances by pi / 2 (time factor
 * exp(+jwt)). The field vector is kept without spreading, caustics and the phase of the path,
 * whose length stays in metres until it is brought into turns: for another frequency only fields
 * change. Lengths in metres. */
#ifndef EC_WAVEFRONT_H
#define EC_WAVEFRONT_H

#include "scene.h"
#include "utd.h"

typedef struct ec_wavefront {
    double direction[3]; /* unit */
    double basis[2][3];  /* unit, across it and each other; either handedness */
    double spread[2][2]; /* A: [row][column] */
    double slope[2][2];  /* B */
    ec_c128 field[3];    /* times sqrt|det A| and j^-caustics */
    double length;       /* of the path */
    int32_t caustics;    /* focal lines passed since the source or the last edge */
    double side[3]; /* normal of the face that it runs along, from an edge of the face; else 0 */
    bool sheet;     /* that was the edge of a sheet: the other side has the opposite field */
} ec_wavefront;

/* The second fundamental form of a surface in a tangent basis at a point, 1/m: dn = C dx for the
 * given normal n, so 1/a for a sphere of radius a and a normal outwards. */
typedef struct ec_curvature {
    double u[3], v[3]; /* unit, tangent, orthogonal */
    double uu, uv, vv;
} ec_curvature;

EC_FN double ec_wavefront_det(const double a[2][2])
{
    return a[0][0] * a[1][1] - a[0][1] * a[1][0];
}

/* A ray from a source, whose field at the distance r is e e^(-jkr) / r. */
EC_FN void ec_wavefront_source(const double direction[3], const ec_c128 e[3], ec_wavefront *w)
{
    for (int i = 0; i < 3; i++) {
        w->direction[i] = direction[i];
        w->field[i] = e[i];
    }
    ec_scene_frame(direction, w->basis[0], w->basis[1]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            w->spread[i][j] = 0.0;
            w->slope[i][j] = i == j ? 1.0 : 0.0;
        }
    w->length = 0.0;
    w->caustics = 0;
    w->sheet = false;
    for (int i = 0; i < 3; i++)
        w->side[i] = 0.0;
}

/* A ray of a plane wave of field e. */
EC_FN void ec_wavefront_plane(const double direction[3], const ec_c128 e[3], ec_wavefront *w)
{
    ec_wavefront_source(direction, e, w);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            w->spread[i][j] = w->slope[i][j];
            w->slope[i][j] = 0.0;
        }
}

EC_FN int ec_wavefront_sign(double x)
{
    return (x > 0.0) - (x < 0.0);
}

/* Zeros of det(A + t B) = start + middle t + end t^2 in 0 < t < s. A zero at t = 0, a source or an
 * edge, is none. Both zeros are real, for Q is symmetric; in a point focus rounding may have
 * taken that from them. */
EC_FN int32_t ec_wavefront_focal_lines(double start, double middle, double end, double s)
{
    int first = ec_wavefront_sign(start), last;

    if (first == 0) { /* divided by t */
        first = ec_wavefront_sign(middle);
        last = ec_wavefront_sign(middle + end * s);
        return first * last < 0;
    }
    last = ec_wavefront_sign(start + s * (middle + s * end));
    if (first * last < 0)
        return 1;
    double turn = -middle * ec_wavefront_sign(end), size = 2.0 * fabs(end);
    bool between = turn > 0.0 && turn < s * size && first == ec_wavefront_sign(end);
    return between ? 2 : 0;
}

EC_FN void ec_wavefront_advance(ec_wavefront *w, double s)
{
    double(*a)[2] = w->spread, (*b)[2] = w->slope;
    double middle = a[0][0] * b[1][1] + b[0][0] * a[1][1] - a[0][1] * b[1][0] - b[0][1] * a[1][0];

    w->caustics += ec_wavefront_focal_lines(ec_wavefront_det(a), middle, ec_wavefront_det(b), s);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            a[i][j] += s * b[i][j];
    w->length += s;
}

/* Reflection where the ray meets a face. normal: unit, to either side; curvature: that of the
 * surface for this normal, NULL for a plane. */
EC_FN void ec_wavefront_reflect(ec_wavefront *w, const double normal[3],
                                const ec_curvature *curvature, const ec_fresnel_face *face)
{
    double slant = ec_dot3(w->direction, normal); /* < 0 from the normal's side */
    ec_fresnel f = ec_fresnel_coefficients(face, fabs(slant) < 1.0 ? fabs(slant) : 1.0);

    ec_fresnel_reflect(&f, w->direction, normal, w->field, w->field);
    if (curvature) {
        double u[2], v[2], k[2][2], b[2][2];
        double du = ec_dot3(w->direction, curvature->u) / slant;
        double dv = ec_dot3(w->direction, curvature->v) / slant;
        for (int j = 0; j < 2; j++) { /* t_j = e_j - d (e_j . n) / (d . n) */
            double en = ec_dot3(w->basis[j], normal);
            u[j] = ec_dot3(w->basis[j], curvature->u) - en * du;
            v[j] = ec_dot3(w->basis[j], curvature->v) - en * dv;
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                k[i][j] = -2.0 * slant *
                          (curvature->uu * u[i] * u[j] + curvature->vv * v[i] * v[j] +
                           curvature->uv * (u[i] * v[j] + v[i] * u[j]));
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                b[i][j] = k[i][0] * w->spread[0][j] + k[i][1] * w->spread[1][j];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                w->slope[i][j] += b[i][j];
    }
    double mirrored[3][3];
    ec_fresnel_mirror(normal, w->direction, mirrored[0]);
    ec_fresnel_mirror(normal, w->basis[0], mirrored[1]);
    ec_fresnel_mirror(normal, w->basis[1], mirrored[2]);
    for (int i = 0; i < 3; i++) {
        w->direction[i] = mirrored[0][i];
        w->basis[0][i] = mirrored[1][i];
        w->basis[1][i] = mirrored[2][i];
    }
}

/* Straight through a slab. normal: unit, to either side. */
EC_FN void ec_wavefront_transmit(ec_wavefront *w, const double normal[3],
                                 const ec_fresnel_face *face)
{
    double slant = fabs(ec_dot3(w->direction, normal));
    ec_fresnel f = ec_fresnel_coefficients(face, slant < 1.0 ? slant : 1.0);
    ec_c128 e[3];

    ec_fresnel_transmit(&f, w->direction, normal, w->field, e);
    for (int i = 0; i < 3; i++)
        w->field[i] = e[i];
}

/* The field where the ray is, without the phase of its path. Infinite at a source, on an edge and
 * in a caustic. */
EC_FN void ec_wavefront_field(const ec_wavefront *w, ec_c128 e[3])
{
    double size = 1.0 / sqrt(fabs(ec_wavefront_det(w->spread)));

    for (int i = 0; i < 3; i++)
        e[i] = ec_c128_scale(size, ec_c128_quarter_turns(w->field[i], w->caustics));
}

/* The curvature matrix Q in w->basis, 1/m, symmetric. */
EC_FN void ec_wavefront_curvature(const ec_wavefront *w, double q[2][2])
{
    const double(*a)[2] = w->spread, (*b)[2] = w->slope;
    double inverse = 1.0 / ec_wavefront_det(a);

    for (int i = 0; i < 2; i++) {
        q[i][0] = (b[i][0] * a[1][1] - b[i][1] * a[1][0]) * inverse;
        q[i][1] = (b[i][1] * a[0][0] - b[i][0] * a[0][1]) * inverse;
    }
}

/* Curvature along a, along b and between them, a and b unit vectors across the ray. */
EC_FN ec_utd_curvature ec_wavefront_curvature_in(const ec_wavefront *w, const double a[3],
                                                 const double b[3])
{
    double q[2][2], p[2][2];
    ec_utd_curvature c;

    ec_wavefront_curvature(w, q);
    for (int j = 0; j < 2; j++) {
        p[0][j] = ec_dot3(w->basis[j], a);
        p[1][j] = ec_dot3(w->basis[j], b);
    }
    double a0 = q[0][0] * p[0][0] + q[0][1] * p[0][1], a1 = q[1][0] * p[0][0] + q[1][1] * p[0][1];
    double b0 = q[0][0] * p[1][0] + q[0][1] * p[1][1], b1 = q[1][0] * p[1][0] + q[1][1] * p[1][1];
    c.along = p[0][0] * a0 + p[0][1] * a1;
    c.across = p[1][0] * b0 + p[1][1] * b1;
    c.cross = p[1][0] * a0 + p[1][1] * a1;
    return c;
}

/* The outward normal of the face that a ray at the angle phi runs along; false: of none. */
EC_FN bool ec_wavefront_face(const ec_utd_edge *edge, double phi, double normal[3])
{
    double end = edge->n * EC_PI, sine = 0.0, cosine = -1.0;

    if (phi > EC_UTD_ALONG && phi < end - EC_UTD_ALONG)
        return false;
    if (phi > EC_UTD_ALONG)
        ec_det_sincos(end, &sine, &cosine);
    for (int i = 0; i < 3; i++)
        normal[i] = sine * edge->into[i] - cosine * edge->normal[i];
    return true;
}

/* The tube behind an edge, that goes on in the direction `out` with field d (as of a source). */
EC_FN void ec_wavefront_leave_edge(ec_wavefront *w, const ec_utd_edge *edge,
                                   const ec_utd_geometry *g, double along, const double out[3],
                                   const ec_c128 d[3])
{
    double length = w->length, side[3];

    ec_wavefront_source(out, d, w);
    for (int i = 0; i < 3; i++) {
        w->basis[0][i] = g->phi_hat[i];
        w->basis[1][i] = g->beta[i];
    }
    w->spread[1][1] = 1.0;
    w->slope[1][1] = along;
    w->length = length;
    if (ec_wavefront_face(edge, g->phi, side)) {
        w->sheet = edge->n == 2.0;
        for (int i = 0; i < 3; i++)
            w->side[i] = side[i];
    }
}

/* Whether a ray at the angle phi to face 0 runs along a face, from an edge of that face. */
EC_FN bool ec_wavefront_along(const ec_wavefront *w, const ec_utd_edge *edge, double phi,
                              double *side)
{
    double normal[3];

    *side = ec_wavefront_face(edge, phi, normal) ? ec_dot3(w->side, normal) : 0.0;
    return *side != 0.0;
}

/* Brings a ray that came along a face from another edge to the side where it is: g->phi_in, which
 * rounding may have put to the other side of a sheet, and the field, which counts once, not as incident
 * and reflected one: Kouyoumjian and Pathak's factor 1/2 at grazing incidence. From edge to edge of a
 * sheet waves run along both of its faces. Their fields are opposite, and so is what the next edge makes
 * of them: half of each add up to the whole of either. Of an edge that has another face only one side is
 * the outside; a sheet's wave there may have been taken on the other. */
EC_FN void ec_wavefront_arrive(ec_wavefront *w, const ec_utd_edge *edge, ec_utd_geometry *g)
{
    double side, scale = 0.5;

    if (!ec_wavefront_along(w, edge, g->phi_in, &side))
        return;
    if (edge->n == 2.0) {
        if (side < 0.0)
            g->phi_in = g->phi_in < EC_PI ? 2.0 * EC_PI : 0.0;
        scale = w->sheet ? 1.0 : 0.5;
    } else if (side < 0.0) {
        scale = w->sheet ? -0.5 : 0.0;
    }
    for (int i = 0; i < 3; i++)
        w->field[i] = ec_c128_scale(scale, w->field[i]);
}

/* See "on a boundary" in utd.h. distance: m. */
EC_FN ec_utd_tie ec_wavefront_tie(const ec_wavefront *w, const ec_utd_edge *edge,
                                  const ec_wavefront *back, const ec_utd_geometry *g,
                                  const double distance[2])
{
    double side;
    bool from = ec_wavefront_along(w, edge, g->phi_in, &side);
    bool along = ec_wavefront_along(back, edge, g->phi, &side);
    ec_utd_tie tie;

    bool both = edge->n == 2.0 && ((from && w->sheet) || (along && back->sheet));
    tie.sign = both ? 0.0 : -1.0;
    for (int i = 0; i < 2; i++) {
        double angle = edge->touch * g->sine / fabs(distance[i]);
        tie.angle[i] = angle > EC_UTD_TIE ? angle : EC_UTD_TIE;
    }
    return tie;
}

/* Diffraction where the ray meets an edge; it goes on in the direction `out` (unit, on Keller's
 * cone). back: the ray from the receiver, run backwards to this edge (its field is not read; a
 * source advanced by the distance, where nothing but flat faces is between, otherwise by its own
 * reflections and ec_wavefront_pass_edge). face: 0 and n. A ray along the edge is not diffracted:
 * its field is 0. */
EC_FN void ec_wavefront_diffract(ec_wavefront *w, const ec_utd_edge *edge,
                                 const ec_fresnel_face face[2], const double out[3],
                                 const ec_wavefront *back, double wavelength)
{
    ec_utd_geometry g;
    ec_c128 e[3], d[3];
    double distance[2], unit = sqrt(wavelength);

    if (!ec_utd_geometry_of(edge, w->direction, out, &g)) {
        for (int i = 0; i < 3; i++)
            w->field[i] = ec_c128_of(0.0, 0.0);
        return;
    }
    ec_wavefront_arrive(w, edge, &g);
    ec_wavefront_field(w, e);
    ec_utd_curvature in = ec_wavefront_curvature_in(w, g.beta_in, g.phi_hat_in);
    ec_utd_curvature from = ec_wavefront_curvature_in(back, g.beta, g.phi_hat);
    ec_utd_distance(&in, &from, g.sine, distance);
    ec_utd_tie tie = ec_wavefront_tie(w, edge, back, &g, distance);
    distance[0] /= wavelength;
    distance[1] /= wavelength;
    ec_utd_diffract(&g, edge->n, face, distance, &tie, e, d);
    for (int i = 0; i < 3; i++)
        d[i] = ec_c128_scale(unit, d[i]);
    ec_wavefront_leave_edge(w, edge, &g, in.along, out, d);
}

/* The tube alone, past an edge: for the ray from the receiver. */
EC_FN void ec_wavefront_pass_edge(ec_wavefront *w, const ec_utd_edge *edge, const double out[3])
{
    ec_utd_geometry g;

    if (!ec_utd_geometry_of(edge, w->direction, out, &g))
        return;
    ec_utd_curvature in = ec_wavefront_curvature_in(w, g.beta_in, g.phi_hat_in);
    ec_wavefront_leave_edge(w, edge, &g, in.along, out, w->field);
}

/* What an antenna receives whose field towards -direction is g (antenna.h): the channel
 * h = wavelength / (4 pi) (g . E) e^(-jk length) without the source's amplitude's unit, so that
 * |h|^2 is the path gain. */
EC_FN ec_c128 ec_wavefront_receive(ec_wavefront w, const ec_c128 g[3], double wavelength)
{
    double size = wavelength / (4.0 * EC_PI * sqrt(fabs(ec_wavefront_det(w.spread))));

    /* the product of the fields first: in free space both ways give the same bits */
    ec_c128 h = ec_c128_quarter_turns(ec_c128_dot3(g, w.field), w.caustics);
    return ec_c128_scale(size, ec_c128_multiply(h, ec_c128_phasor(-w.length / wavelength)));
}

#endif
