/* path_field.h: the channel of a path that was found: what is at its points, for the field
 * arithmetic of ray_field.h.
 *
 * Shared by C17 and CUDA, but for what is declared as plain functions. */
#ifndef EC_PATH_FIELD_H
#define EC_PATH_FIELD_H

#include "../../core/status.h"
#include "path.h"
#include "path_mesh.h"
#include "path_trace.h"
#include "ray_field.h"

/* Reflection at a place of an interpolated surface. */
EC_FN void ec_path_at_mesh(const ec_scene *scene, const ec_path_place *place,
                           const ec_fresnel_face *face, const double point[3], ec_ray_event *event)
{
    double normal[3], u[3], v[3], form[3];

    ec_path_mesh_form(scene, place, normal, u, v, form);
    ec_ray_at_form(normal, u, v, form, face, point, event);
}

EC_FN void ec_path_event(const ec_scene *scene, const ec_fresnel_face *face, uint32_t step,
                         const ec_path_place *place, const double point[3], double tolerance,
                         ec_ray_event *event)
{
    int32_t index = ec_path_index(step);

    switch (ec_path_kind(step)) {
    case EC_PATH_CURVED: {
        const ec_surface *s = &scene->surface[index];
        if (!ec_ray_at_shape(s, &face[s->material], point, event))
            ec_path_at_mesh(scene, place, &face[s->material], point, event);
        break;
    }
    case EC_PATH_DIFFRACTION: {
        const ec_wedge *w = &scene->wedge[index];
        ec_ray_at_wedge(w, &face[w->material[0]], &face[w->material[1]], point, tolerance, event);
        break;
    }
    default: {
        const ec_facet *f = &scene->facet[index];
        bool through = ec_path_kind(step) == EC_PATH_TRANSMISSION;
        ec_ray_at_facet(f, through ? EC_RAY_TRANSMISSION : EC_RAY_REFLECTION, &face[f->material],
                        point, event);
    }
    }
}

/* The events of a path of `depth` steps. Points that coincide, on an edge of two mirrors, are drawn
 * apart along the path by `apart` (m), for directions come from points. tolerance: m, that of the path's
 * occlusion. face: [n_materials]. */
EC_FN void ec_path_events(const ec_scene *scene, const ec_fresnel_face *face, int32_t depth,
                          const uint32_t *step, const double (*point)[3],
                          const double (*direction)[3], const ec_path_place *place, double apart,
                          double tolerance, ec_ray_event *event)
{
    double p[3];

    for (int32_t i = 0; i < depth; i++) {
        ec_path_copy(point[i], p);
        if (i > 0 && ec_path_distance(event[i - 1].point, p) < apart)
            ec_path_along(event[i - 1].point, apart, direction[i], p);
        ec_path_event(scene, face, step[i], place, p, tolerance, &event[i]);
    }
}

/* Lessens c->smooth to how near the receiver or an edge is to a focal line of a mirror, a length l (m):
 * where k l is below 1 geometrical optics is inexact, and in the focal line itself its field is
 * infinite. Behind a mirror, at the distance s from it, a wavefront of the curvature q (1/m, negative
 * where it converges) has the width |1 + s q|, and l = s |1 + s q|^3. Beside a fold of rays whose
 * radius is about s this is where the argument of the Airy function that stands for the field there
 * is about 1. Only mirrors that are hollow, or interpolated surfaces, focus: a convex one, a flat one
 * and an edge spread what comes from a source. */
EC_FN void ec_path_see_focus(const ec_scene *scene, const double from[3], const double to[3],
                             ec_path_course *c)
{
    double(*point)[3] = c->point;
    int32_t depth = c->depth;
    const ec_c128 none[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    const ec_fresnel_face pec = {EC_FACE_PEC, {0.0, 0.0}, 0.0};
    double d[3], q[2][2], s, behind = 0, curvature[2] = {0, 0}, focus = c->smooth;
    ec_wavefront w;

    s = ec_ray_towards(from, depth > 0 ? point[0] : to, d);
    ec_wavefront_source(d, none, &w);
    for (int32_t i = 0; i <= depth; i++) {
        uint32_t kind = i < depth ? ec_path_kind(c->step[i]) : EC_PATH_DIFFRACTION;
        ec_wavefront_advance(&w, s);
        behind += s;
        for (int k = 0; k < 2 && kind == EC_PATH_DIFFRACTION; k++) {
            double width = fabs(1 + behind * curvature[k]), l = behind * width * width * width;
            focus = curvature[k] < 0 && l < focus ? l : focus;
        }
        if (i == depth)
            break;
        int32_t index = ec_path_index(c->step[i]);
        ec_ray_event event;
        s = ec_ray_towards(point[i], i + 1 < depth ? point[i + 1] : to, d);
        if (kind == EC_PATH_DIFFRACTION) {
            ec_ray_at_wedge(&scene->wedge[index], &pec, &pec, point[i], 0, &event);
            ec_wavefront_pass_edge(&w, &event.edge, d);
            curvature[0] = curvature[1] = 0;
        } else if (kind == EC_PATH_REFLECTION) {
            ec_wavefront_reflect(&w, scene->facet[index].normal, NULL, &pec);
        } else if (kind == EC_PATH_CURVED) {
            if (!ec_ray_at_shape(&scene->surface[index], &pec, point[i], &event))
                ec_path_at_mesh(scene, &c->place, &pec, point[i], &event);
            ec_wavefront_reflect(&w, event.normal, &event.curvature, &pec);
            ec_wavefront_curvature(&w, q);
            double mean = 0.5 * (q[0][0] + q[1][1]), half = 0.5 * (q[0][0] - q[1][1]);
            double spread = sqrt(half * half + q[0][1] * q[0][1]);
            behind = 0;
            curvature[0] = mean - spread;
            curvature[1] = mean + spread;
        }
    }
    c->smooth = focus;
}

EC_C_BEGIN

/* Faces of a scene's materials at a frequency (Hz): face[n_materials]. Errors of
 * ec_material_permittivity; face is then not to be used. */
EC_API int ec_path_faces(const ec_scene *scene, double frequency, ec_fresnel_face *face);

/* The channel of path i of a list, from the antenna tx at `from` to rx at `to`; wavelength in m. */
EC_API ec_c128 ec_path_channel(const ec_scene *scene, const ec_fresnel_face *face,
                               const ec_path_list *list, size_t i, const ec_antenna *tx,
                               const double from[3], const ec_antenna *rx, const double to[3],
                               double wavelength);

EC_C_END

#endif
