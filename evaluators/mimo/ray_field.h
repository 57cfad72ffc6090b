/* ray_field.h: the channel of one path: its interactions in order, each with its point and what is
 * there, from antenna to antenna.
 *
 * Invariants: points come from elsewhere (they lie where the path's length is stationary) and give
 * directions and lengths; nothing is searched for here. Source and receiver may be exchanged: the
 * reversed list of interactions gives the same channel to rounding, for the distance parameter of an
 * edge takes the tubes of both sides (utd.h). With PEC faces and reflections alone, h changes with the
 * wavelength only by its phase and its factor. */
#ifndef EC_RAY_FIELD_H
#define EC_RAY_FIELD_H

#include "antenna.h"

enum { EC_RAY_REFLECTION, EC_RAY_TRANSMISSION, EC_RAY_DIFFRACTION };

typedef struct ec_ray_event {
    int32_t kind;
    bool curved;             /* a reflection at a surface with a curvature */
    double point[3];         /* m */
    double normal[3];        /* reflection, transmission: unit, to either side */
    ec_curvature curvature;  /* of a curved one, for this normal */
    ec_utd_edge edge;        /* diffraction */
    ec_fresnel_face face[2]; /* the face; of an edge its faces 0 and n */
} ec_ray_event;

/* ---- interactions of a scene ----------------------------------------------------------------- */

EC_FN void ec_ray_at_facet(const ec_facet *facet, int32_t kind, const ec_fresnel_face *face,
                           const double point[3], ec_ray_event *event)
{
    event->kind = kind;
    event->curved = false;
    event->face[0] = *face;
    for (int i = 0; i < 3; i++) {
        event->point[i] = point[i];
        event->normal[i] = facet->normal[i];
    }
}

/* face: of the materials of its two faces; touch: m, see ec_utd_edge. */
EC_FN void ec_ray_at_wedge(const ec_wedge *wedge, const ec_fresnel_face *face_0,
                           const ec_fresnel_face *face_n, const double point[3], double touch,
                           ec_ray_event *event)
{
    event->kind = EC_RAY_DIFFRACTION;
    event->curved = false;
    event->face[0] = *face_0;
    event->face[1] = *face_n;
    event->edge.n = wedge->n;
    event->edge.touch = touch;
    for (int i = 0; i < 3; i++) {
        event->point[i] = point[i];
        event->edge.into[i] = wedge->into[0][i];
        event->edge.normal[i] = wedge->face_normal[0][i];
    }
}

/* Reflection at a surface with a unit normal, and the second fundamental form {uu, uv, vv} for it in
 * the tangent basis u, v (ec_curvature). */
EC_FN void ec_ray_at_form(const double normal[3], const double u[3], const double v[3],
                          const double form[3], const ec_fresnel_face *face, const double point[3],
                          ec_ray_event *event)
{
    event->kind = EC_RAY_REFLECTION;
    event->curved = true;
    event->face[0] = *face;
    for (int i = 0; i < 3; i++) {
        event->point[i] = point[i];
        event->normal[i] = normal[i];
        event->curvature.u[i] = u[i];
        event->curvature.v[i] = v[i];
    }
    event->curvature.uu = form[0];
    event->curvature.uv = form[1];
    event->curvature.vv = form[2];
}

/* Reflection at a point of an exact shape; false for a mesh, which has its normals and forms at its
 * vertices. The normal points away from the axis or centre, whichever side is outside. A cone of
 * half angle b has the curvature cos(b) / r around, r the distance of the point from the axis. */
EC_FN bool ec_ray_at_shape(const ec_surface *surface, const ec_fresnel_face *face,
                           const double point[3], ec_ray_event *event)
{
    double r[3], normal[3], u[3], v[3], form[3], sine = 0.0, cosine = 1.0;

    if (surface->kind == EC_SURFACE_MESH)
        return false;
    for (int i = 0; i < 3; i++)
        r[i] = point[i] - surface->point[i];
    if (surface->kind != EC_SURFACE_SPHERE) {
        double along = ec_dot3(r, surface->axis);
        for (int i = 0; i < 3; i++)
            r[i] -= along * surface->axis[i];
    }
    double distance = sqrt(ec_dot3(r, r));
    if (surface->kind == EC_SURFACE_CONE)
        ec_det_sincos(surface->radius, &sine, &cosine);
    for (int i = 0; i < 3; i++) { /* v: along the generator */
        normal[i] = cosine * r[i] / distance - sine * surface->axis[i];
        v[i] = cosine * surface->axis[i] + sine * r[i] / distance;
    }
    if (surface->kind == EC_SURFACE_SPHERE)
        ec_scene_frame(normal, u, v);
    else
        ec_cross3(v, normal, u);
    form[0] = surface->kind == EC_SURFACE_CONE ? cosine / distance : 1.0 / surface->radius;
    form[1] = 0.0;
    form[2] = surface->kind == EC_SURFACE_SPHERE ? form[0] : 0.0;
    ec_ray_at_form(normal, u, v, form, face, point, event);
    return true;
}

/* ---- the channel ----------------------------------------------------------------------------- */

/* Unit vector from a to b; their distance. */
EC_FN double ec_ray_towards(const double a[3], const double b[3], double d[3])
{
    for (int i = 0; i < 3; i++)
        d[i] = b[i] - a[i];
    double length = sqrt(ec_dot3(d, d));
    for (int i = 0; i < 3; i++)
        d[i] /= length;
    return length;
}

/* The tube from the receiver at `to` back to interaction `until` of n. */
EC_FN void ec_ray_back(const ec_ray_event *event, int32_t n, int32_t until, const double to[3],
                       ec_wavefront *w)
{
    const ec_c128 none[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    const ec_fresnel_face pec = {EC_FACE_PEC, {0.0, 0.0}, 0.0};
    double d[3];

    double s = ec_ray_towards(to, event[n - 1].point, d);
    ec_wavefront_source(d, none, w);
    for (int32_t i = n - 1; i > until; i--) {
        const ec_ray_event *e = &event[i];
        ec_wavefront_advance(w, s);
        s = ec_ray_towards(e->point, event[i - 1].point, d);
        if (e->kind == EC_RAY_REFLECTION)
            ec_wavefront_reflect(w, e->normal, e->curved ? &e->curvature : NULL, &pec);
        else if (e->kind == EC_RAY_DIFFRACTION)
            ec_wavefront_pass_edge(w, &e->edge, d);
    }
    ec_wavefront_advance(w, s);
}

/* The channel of a path from the antenna tx at `from` over event[0 .. n - 1] to rx at `to`: |h|^2 is its
 * path gain, its phase that of exp(-jk length) and all else. Points that follow each other must be
 * apart. wavelength: m. */
EC_FN ec_c128 ec_ray_channel(const ec_antenna *tx, const double from[3], const ec_ray_event *event,
                             int32_t n, const ec_antenna *rx, const double to[3], double wavelength)
{
    ec_wavefront w, back;
    double d[3];

    double s = ec_ray_towards(from, n > 0 ? event[0].point : to, d);
    ec_antenna_launch(tx, d, &w);
    for (int32_t i = 0; i < n; i++) {
        const ec_ray_event *e = &event[i];
        ec_wavefront_advance(&w, s);
        s = ec_ray_towards(e->point, i + 1 < n ? event[i + 1].point : to, d);
        if (e->kind == EC_RAY_REFLECTION) {
            ec_wavefront_reflect(&w, e->normal, e->curved ? &e->curvature : NULL, &e->face[0]);
        } else if (e->kind == EC_RAY_TRANSMISSION) {
            ec_wavefront_transmit(&w, e->normal, &e->face[0]);
        } else {
            ec_ray_back(event, n, i, to, &back);
            ec_wavefront_diffract(&w, &e->edge, e->face, d, &back, wavelength);
        }
    }
    ec_wavefront_advance(&w, s);
    return ec_antenna_receive(rx, &w, wavelength);
}

#endif
