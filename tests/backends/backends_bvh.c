/* backends_bvh.c: rays on every backend and in every layout find what every triangle tested one
 * by one gives, down to the bits. */
#include "backends.h"
#include "bvh_internal.h"
#include "bvh_kernels.h"
#include "bvh_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { TRIANGLES = 1200, RAYS = 10003, PARTS = 5 };

static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Triangles of all sizes, a third of them long and thin, far from the origin; some twice. */
static void make_mesh(double (*vertex)[3], int32_t (*triangle)[3], int32_t *part)
{
    uint64_t state = 1;

    for (int k = 0; k < TRIANGLES; k++) {
        double size = k % 40 == 0 ? 8 : pow(10, 3 * uniform(&state) - 2.7);
        double thin = k % 3 == 0 ? 1e-3 : 1;
        for (int i = 0; i < 3; i++) {
            double *v = vertex[3 * k] + i;
            v[0] = 1000 * i + 10 * uniform(&state);
            v[3] = v[0] + size * (2 * uniform(&state) - 1);
            v[6] = v[3] + thin * size * (2 * uniform(&state) - 1);
            triangle[k][i] = 3 * k + i;
        }
        part[k] = k % PARTS;
        if (k % 10 == 9)
            memcpy(vertex[3 * k], vertex[3 * (k - 1)], 9 * sizeof(double));
    }
}

/* origin, direction, t_min, t_max, one array each */
static void make_rays(const double (*vertex)[3], double *ray[8], int32_t *skip[2])
{
    uint64_t state = 2;

    for (size_t r = 0; r < RAYS; r++) {
        const double *corner = vertex[(size_t)(3 * TRIANGLES * uniform(&state))];
        const double *other = vertex[(size_t)(3 * TRIANGLES * uniform(&state))];
        double s = r % 4 == 1 ? 0 : uniform(&state);
        for (int i = 0; i < 3; i++) {
            double from = 1000 * i + 14 * uniform(&state) - 2;
            double to =
                r % 4 ? (1 - s) * corner[i] + s * other[i] : 1000 * i + 10 * uniform(&state);
            ray[i][r] = r % 50 == 7 ? 1000 * from : r % 4 == 3 ? other[i] : from;
            ray[3 + i][r] = r % 7 == 0 && i != 1 ? 0 : to - ray[i][r];
        }
        ray[6][r] = r % 3 ? 0 : uniform(&state);
        ray[7][r] = r % 5 ? INFINITY : 2 * uniform(&state);
        skip[0][r] = r % 2 ? EC_BVH_NO_PART : (int32_t)(PARTS * uniform(&state));
        skip[1][r] = r % 3 ? EC_BVH_NO_PART : (int32_t)(PARTS * uniform(&state));
    }
    ray[0][17] = NAN;
    ray[3][18] = ray[4][18] = ray[5][18] = 0;
    ray[7][19] = NAN;
    ray[5][20] = INFINITY;
}

/* What candidate c's ray meets first. */
static ec_bvh_hit expected(const ec_bvh *bvh, const ec_bvh_batch *batch, size_t c)
{
    ec_bvh_hit none = {INFINITY, 0, 0, -1};
    ec_bvh_ray ray;

    return ec_bvh_batch_ray(batch, c, &ray) ? every_triangle(bvh, &ray) : none;
}

typedef struct outputs {
    ec_guarded t, triangle, u, v, any;
} outputs;

static int compare(ec_backend *backend, const char *name, const outputs *out,
                   const ec_bvh_hit *want)
{
    static float t[RAYS], u[RAYS], v[RAYS];
    static int32_t triangle[RAYS];
    static uint8_t any[RAYS];

    EC_CHECK_CALL(backend->ops->download(backend, t, out->t.data, sizeof t));
    EC_CHECK_CALL(backend->ops->download(backend, triangle, out->triangle.data, sizeof triangle));
    EC_CHECK_CALL(backend->ops->download(backend, u, out->u.data, sizeof u));
    EC_CHECK_CALL(backend->ops->download(backend, v, out->v.data, sizeof v));
    EC_CHECK_CALL(backend->ops->download(backend, any, out->any.data, sizeof any));
    for (size_t r = 0; r < RAYS; r++) {
        EC_CHECK(triangle[r] == want[r].triangle && t[r] == want[r].t,
                 "layout %s, ray %zu: triangle %d at %.9g, not %d at %.9g", name, r, triangle[r],
                 (double)t[r], want[r].triangle, (double)want[r].t);
        EC_CHECK(u[r] == want[r].u && v[r] == want[r].v,
                 "layout %s, ray %zu: %.9g, %.9g not %.9g, %.9g", name, r, (double)u[r],
                 (double)v[r], (double)want[r].u, (double)want[r].v);
        EC_CHECK(any[r] == (want[r].triangle >= 0), "layout %s, ray %zu: any", name, r);
    }
    return ec_guarded_check(backend, &out->t, "t") |
           ec_guarded_check(backend, &out->triangle, "triangle") |
           ec_guarded_check(backend, &out->u, "u") | ec_guarded_check(backend, &out->v, "v") |
           ec_guarded_check(backend, &out->any, "any");
}

static int clear(ec_backend *backend, const outputs *out)
{
    const ec_guarded *all[] = {&out->t, &out->triangle, &out->u, &out->v, &out->any};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        EC_CHECK_CALL(backend->ops->fill(backend, all[i]->data, 0x77, all[i]->bytes));
    return 0;
}

/* One layout, by the calls and, on CUDA, by the plain kernel too. */
static int check_layout(ec_backend *backend, const ec_bvh *bvh, int number, ec_bvh_batch batch,
                        const outputs *out, const ec_bvh_hit *want)
{
    ec_bvh_layout *layout = NULL;

    EC_CHECK_CALL(ec_bvh_lay_out(bvh, backend, number, &layout));
    const char *name = ec_bvh_layout_get_stats(layout)->name;
    EC_CHECK_CALL(ec_bvh_closest_run(layout, &batch.rays, &batch.hits, RAYS));
    EC_CHECK_CALL(ec_bvh_any_run(layout, &batch.rays, batch.any, RAYS));
    int bad = compare(backend, name, out, want);
    if (backend->is_cuda && !bad) {
        batch.view = *ec_bvh_layout_view(layout);
        batch.plain = true;
        bad = clear(backend, out);
        EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_bvh_closest, &batch, RAYS, 1));
        EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_bvh_any, &batch, RAYS, 1));
        bad |= compare(backend, name, out, want);
    }
    ec_bvh_layout_destroy(&layout);
    return bad;
}

static int run_layouts(ec_backend *backend)
{
    static double vertex[3 * TRIANGLES][3], values[8][RAYS];
    static int32_t triangle[TRIANGLES][3], part[TRIANGLES], skips[2][RAYS];
    static ec_bvh_hit want[RAYS];
    double *ray[8];
    int32_t *skip[2] = {skips[0], skips[1]};
    ec_guarded on_backend[10];
    outputs out;
    ec_bvh *bvh = NULL;
    int bad = 0;

    for (int i = 0; i < 8; i++)
        ray[i] = values[i];
    make_mesh(vertex, triangle, part);
    make_rays((const double(*)[3])vertex, ray, skip);
    const ec_bvh_info info = {.n_vertices = 3 * TRIANGLES,
                              .vertex = (const double(*)[3])vertex,
                              .n_triangles = TRIANGLES,
                              .triangle = (const int32_t(*)[3])triangle,
                              .part = part};
    EC_CHECK_CALL(ec_bvh_build(&info, &bvh));

    ec_bvh_batch batch = {.rays = {.origin = {ray[0], ray[1], ray[2]},
                                   .direction = {ray[3], ray[4], ray[5]},
                                   .t_min = ray[6],
                                   .t_max = ray[7],
                                   .skip_a = skip[0],
                                   .skip_b = skip[1]},
                          .view = {.size = bvh->size},
                          .n = RAYS};
    memcpy(batch.view.centre, bvh->centre, sizeof bvh->centre);
    size_t hits = 0;
    for (size_t r = 0; r < RAYS; r++) {
        want[r] = expected(bvh, &batch, r);
        hits += want[r].triangle >= 0;
    }
    EC_CHECK(hits > RAYS / 4 && hits < RAYS, "%zu hits of %d", hits, RAYS);

    for (int i = 0; i < 10; i++) {
        size_t bytes = RAYS * (i < 8 ? sizeof(double) : sizeof(int32_t));
        const void *from = i < 8 ? (const void *)ray[i] : (const void *)skip[i - 8];
        EC_CHECK_CALL(ec_guarded_create(backend, bytes, &on_backend[i]));
        EC_CHECK_CALL(backend->ops->upload(backend, on_backend[i].data, from, bytes));
    }
    EC_CHECK_CALL(ec_guarded_create(backend, RAYS * sizeof(float), &out.t));
    EC_CHECK_CALL(ec_guarded_create(backend, RAYS * sizeof(int32_t), &out.triangle));
    EC_CHECK_CALL(ec_guarded_create(backend, RAYS * sizeof(float), &out.u));
    EC_CHECK_CALL(ec_guarded_create(backend, RAYS * sizeof(float), &out.v));
    EC_CHECK_CALL(ec_guarded_create(backend, RAYS, &out.any));
    for (int i = 0; i < 3; i++) {
        batch.rays.origin[i] = (const double *)on_backend[i].data;
        batch.rays.direction[i] = (const double *)on_backend[3 + i].data;
    }
    batch.rays.t_min = (const double *)on_backend[6].data;
    batch.rays.t_max = (const double *)on_backend[7].data;
    batch.rays.skip_a = (const int32_t *)on_backend[8].data;
    batch.rays.skip_b = (const int32_t *)on_backend[9].data;
    batch.hits = (ec_bvh_hits){(float *)out.t.data, (int32_t *)out.triangle.data,
                               (float *)out.u.data, (float *)out.v.data};
    batch.any = (uint8_t *)out.any.data;
    for (int i = 0; i < EC_BVH_LAYOUTS && !bad; i++) {
        if (backend->is_cuda && (i == EC_BVH_4_SIMD || i == EC_BVH_8_SIMD))
            continue;
        bad = check_layout(backend, bvh, i, batch, &out, want);
    }
    for (int i = 0; i < 10; i++)
        ec_guarded_release(backend, &on_backend[i]);
    ec_guarded_release(backend, &out.t);
    ec_guarded_release(backend, &out.triangle);
    ec_guarded_release(backend, &out.u);
    ec_guarded_release(backend, &out.v);
    ec_guarded_release(backend, &out.any);
    ec_bvh_destroy(&bvh);
    return bad;
}

const ec_case ec_cases_bvh[] = {
    {"bvh/layouts", run_layouts},
    {NULL, NULL},
};
