#include "mimo_places.h"

#include "mimo_kernels.h"
#include "path_internal.h"

static bool is_free(const ec_path_view *view, const double at[3])
{
    return !ec_mimo_is_on_surface(view, at) && !ec_mimo_is_inside(view, at);
}

static bool is_clear(const ec_path_view *view, const double at[3], double clearance)
{
    bool clear = is_free(view, at);

    for (int k = 0; k < 6 && clear && clearance > 0; k++) {
        double beside[3] = {at[0], at[1], at[2]};
        beside[k / 2] += k % 2 ? clearance : -clearance;
        clear = is_free(view, beside);
    }
    return clear;
}

int ec_mimo_places_free(const ec_scene *scene, int32_t n, const double (*at)[3], double clearance,
                        int threads, bool *places)
{
    ec_bvh_info info = {.n_vertices = scene->n_vertices,
                        .vertex = (const double(*)[3])scene->vertex,
                        .n_triangles = scene->n_triangles,
                        .triangle = (const int32_t(*)[3])scene->triangle,
                        .part = scene->part};
    ec_backend *cpu = NULL;
    ec_bvh *bvh = NULL;
    ec_bvh_layout *layout = NULL;

    if (scene->n_triangles == 0)
        return ec_fail(EC_ERR_ARGUMENT, "the scene has no triangles");
    int status = ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = threads}, &cpu);
    if (status == EC_OK)
        status = ec_bvh_build(&info, &bvh);
    if (status == EC_OK)
        status = ec_bvh_lay_out(bvh, cpu, EC_BVH_AUTO, &layout);
    if (status == EC_OK) {
        ec_path_view view = {.scene = *scene, .bvh = *ec_bvh_layout_view(layout)};
        view.tolerance = EC_PATH_TOLERANCE * ec_path_scene_size(scene);
#pragma omp parallel for schedule(dynamic, 64) num_threads(cpu->threads)
        for (int32_t i = 0; i < n; i++)
            places[i] = is_clear(&view, at[i], clearance);
    }
    ec_bvh_layout_destroy(&layout);
    ec_bvh_destroy(&bvh);
    ec_backend_destroy(&cpu);
    return status;
}
