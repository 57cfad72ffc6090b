/* path_field.c: channels of paths on the host. */
#include "path_field.h"
#include "path_internal.h"

int ec_path_faces(const ec_scene *scene, double frequency, ec_fresnel_face *face)
{
    double wavelength = EC_LIGHT_SPEED / frequency;

    for (int32_t i = 0; i < scene->n_materials; i++) {
        const ec_material *m = &scene->material[i];
        face[i] = (ec_fresnel_face){.kind = EC_FACE_PEC};
        if (m->kind == EC_MATERIAL_PEC)
            continue;
        face[i].kind = m->thickness > 0 ? EC_FACE_SLAB : EC_FACE_HALF_SPACE;
        face[i].thickness = m->thickness / wavelength;
        int status = ec_material_permittivity(m, frequency, &face[i].permittivity);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

ec_c128 ec_path_channel(const ec_scene *scene, const ec_fresnel_face *face,
                        const ec_path_list *list, size_t i, const ec_antenna *tx,
                        const double from[3], const ec_antenna *rx, const double to[3],
                        double wavelength)
{
    const ec_path *p = &list->path[i];
    ec_ray_event event[EC_PATH_DEPTH_MAX];
    double apart = 1e-9 * p->length, tolerance = EC_PATH_TOLERANCE * ec_path_scene_size(scene);

    ec_path_events(
        scene, face, p->depth, list->step + p->first, (const double(*)[3])list->point + p->first,
        (const double(*)[3])list->direction + p->first, &p->place, apart, tolerance, event);
    return ec_ray_channel(tx, from, event, p->depth, rx, to, wavelength);
}
