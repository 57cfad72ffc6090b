/* bvh_embree.c: our rays beside those of Embree 3 (Debian: libembree-dev) in one process, on the
 * same meshes and rays, one thread, the same instruction set, Embree with its robust flag.
 *
 *   bvh_embree [--isa v1|v3|v4] [--rays N]
 *
 * The instruction set is passed to Embree as sse2, avx2 or avx512. A figure is the best of
 * PASSES, by turns, in time of the processor: what else runs on the machine changes it little.
 * Hits are compared: triangles may differ where a ray meets an edge, distances by rounding. */
#include "bench/bench_scenes.h"

#include "evaluators/mimo/bvh.h"

#include <embree3/rtcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PASSES = 9 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "bvh_embree: %s\n", ec_error_text());
    exit(1);
}

static RTCScene embree_scene(RTCDevice device, const bench_mesh *m, enum RTCBuildQuality quality)
{
    RTCScene scene = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertex = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                            3 * sizeof(float), (size_t)m->n_vertices);
    unsigned *triangle =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                3 * sizeof(unsigned), (size_t)m->n_triangles);

    for (int32_t i = 0; i < 3 * m->n_vertices; i++)
        vertex[i] = (float)m->vertex[i / 3][i % 3];
    for (int32_t i = 0; i < 3 * m->n_triangles; i++)
        triangle[i] = (unsigned)m->triangle[i / 3][i % 3];
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(scene, quality);
    rtcCommitScene(scene);
    return scene;
}

static double embree_rays(RTCScene scene, const bench_rays *rays, float *t)
{
    double start = now();

    for (size_t i = 0; i < rays->n; i++) {
        struct RTCIntersectContext context;
        struct RTCRayHit r;
        rtcInitIntersectContext(&context);
        memset(&r, 0, sizeof r);
        r.ray.org_x = (float)rays->origin[0][i];
        r.ray.org_y = (float)rays->origin[1][i];
        r.ray.org_z = (float)rays->origin[2][i];
        r.ray.dir_x = (float)rays->direction[0][i];
        r.ray.dir_y = (float)rays->direction[1][i];
        r.ray.dir_z = (float)rays->direction[2][i];
        r.ray.tfar = INFINITY;
        r.ray.mask = ~0u;
        r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        rtcIntersect1(scene, &context, &r);
        t[i] = r.ray.tfar;
    }
    return now() - start;
}

static void compare(const float *ours, const float *theirs, size_t n)
{
    size_t hits = 0, apart = 0;

    for (size_t i = 0; i < n; i++) {
        bool hit = isfinite(ours[i]), other = isfinite(theirs[i]);
        hits += hit;
        apart += hit != other || (hit && fabsf(ours[i] - theirs[i]) > 1e-4f);
    }
    printf("  hits %.2f %%, other distances than Embree's: %zu of %zu\n",
           100 * (double)hits / (double)n, apart, n);
}

static void run(const char *name, const bench_mesh *m, size_t n, ec_backend *be, RTCDevice device)
{
    static const struct {
        enum RTCBuildQuality quality;
        const char *name;
    } builds[] = {{RTC_BUILD_QUALITY_MEDIUM, "medium"}, {RTC_BUILD_QUALITY_HIGH, "high"}};
    enum { BUILDS = sizeof builds / sizeof *builds };
    bench_rays rays;
    double best = 1e30, others[BUILDS], built[BUILDS];
    RTCScene scene[BUILDS];
    float *t = malloc(n * sizeof *t), *theirs = malloc(n * sizeof *theirs);
    int32_t *triangle = malloc(n * sizeof *triangle);
    const ec_bvh_info info = {.n_vertices = m->n_vertices,
                              .vertex = (const double(*)[3])m->vertex,
                              .n_triangles = m->n_triangles,
                              .triangle = (const int32_t(*)[3])m->triangle,
                              .threads = 1};
    ec_bvh *bvh = NULL;
    ec_bvh_layout *layout = NULL;

    if (!t || !theirs || !triangle)
        exit(1);
    bench_rays_bounce(&rays, m, n);
    check(ec_bvh_build(&info, &bvh));
    check(ec_bvh_lay_out(bvh, be, EC_BVH_AUTO, &layout));
    for (int q = 0; q < BUILDS; q++) {
        double start = now();
        scene[q] = embree_scene(device, m, builds[q].quality);
        built[q] = now() - start;
        others[q] = 1e30;
    }
    const ec_bvh_rays in = {.origin = {rays.origin[0], rays.origin[1], rays.origin[2]},
                            .direction = {rays.direction[0], rays.direction[1], rays.direction[2]}};
    const ec_bvh_hits out = {.t = t, .triangle = triangle};
    for (int i = 0; i < PASSES; i++) {
        double start = now();
        check(ec_bvh_closest_run(layout, &in, &out, n));
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
        for (int q = 0; q < BUILDS; q++) {
            seconds = embree_rays(scene[q], &rays, theirs);
            others[q] = seconds < others[q] ? seconds : others[q];
        }
    }
    printf("%s, %d triangles\n", name, m->n_triangles);
    printf("  eciton (%s)  %8.3f Mrays/s, built in %.3f s\n", ec_bvh_layout_get_stats(layout)->name,
           1e-6 * (double)n / best, ec_bvh_get_stats(bvh)->seconds);
    for (int q = 0; q < BUILDS; q++) {
        printf("  embree %-8s %8.3f Mrays/s, built in %.3f s: ours is %.2f of it\n", builds[q].name,
               1e-6 * (double)n / others[q], built[q], others[q] / best);
        rtcReleaseScene(scene[q]);
    }
    compare(t, theirs, n);
    ec_bvh_layout_destroy(&layout);
    ec_bvh_destroy(&bvh);
    bench_rays_free(&rays);
    free(t);
    free(theirs);
    free(triangle);
}

int main(int argc, char **argv)
{
    static const char *const levels[EC_ISA_COUNT] = {"sse2", "avx2", "avx512"};
    ec_backend_info info = {.name = "cpu", .threads = 1};
    size_t n = 1 << 19;
    char config[64];
    ec_backend *be = NULL;
    bench_mesh mesh;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--isa") == 0)
            info.isa = argv[i + 1];
        else if (strcmp(argv[i], "--rays") == 0)
            n = (size_t)atol(argv[i + 1]);
    }
    check(ec_backend_create(&info, &be));
    snprintf(config, sizeof config, "threads=1,isa=%s", levels[be->isa]);
    RTCDevice device = rtcNewDevice(config);
    if (!device) {
        fprintf(stderr, "bvh_embree: no device for %s\n", config);
        return 1;
    }
    printf("%s, ISA %s, Embree %ld.%ld.%ld with %s\n", be->device, ec_isa_name(be->isa),
           (long)rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_MAJOR),
           (long)rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_MINOR),
           (long)rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_PATCH), config);
    bench_mesh_cylinder_plate(&mesh);
    run("cylinder and plate", &mesh, n, be, device);
    bench_mesh_free(&mesh);
    bench_mesh_room(&mesh);
    run("furnished room", &mesh, n, be, device);
    bench_mesh_free(&mesh);
    rtcReleaseDevice(device);
    ec_backend_destroy(&be);
    return 0;
}
