/* path_field.h: the channel of a path that was found: what is at its points, for the field
 * arithmetic of ray_field.h.
 *
 * Shared by C17 and CUDA, but for what is declared as plain functions. */
#ifndef EC_PATH_FIELD_H
#define EC_PATH_FIELD_H

#include "../../core/status.h"
#include "path.h"
#include "path_mesh.h"
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
