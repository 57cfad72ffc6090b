/* bvh_kernels.h: arguments and bodies of the batches of rays. */
#ifndef EC_BVH_KERNELS_H
#define EC_BVH_KERNELS_H

#include "bvh_trace.h"

/* CUDA: blocks that a multiprocessor holds at once. */
enum { EC_BVH_CUDA_THREADS = 128, EC_BVH_CUDA_BLOCKS = 8 };

typedef struct ec_bvh_batch {
    ec_bvh_view view;
    ec_bvh_rays rays;
    ec_bvh_hits hits; /* closest */
    uint8_t *any;     /* any */
    size_t n;
    /* CUDA */
    unsigned long long *next; /* the first ray that no warp has taken */
    int32_t blocks;
    bool plain; /* a thread a ray, no more: what the other kernels are compared with */
} ec_bvh_batch;

extern const ec_kernel ec_kernel_bvh_closest, ec_kernel_bvh_any;

/* Ray c of a batch; false: it misses everything. */
EC_FN bool ec_bvh_batch_ray(const ec_bvh_batch *a, size_t c, ec_bvh_ray *ray)
{
    double origin[3], direction[3];

    for (int i = 0; i < 3; i++) {
        origin[i] = a->rays.origin[i][c];
        direction[i] = a->rays.direction[i][c];
    }
    return ec_bvh_ray_set(&a->view, origin, direction, a->rays.t_min ? a->rays.t_min[c] : 0.0,
                          a->rays.t_max ? a->rays.t_max[c] : (double)INFINITY,
                          a->rays.skip_a ? a->rays.skip_a[c] : EC_BVH_NO_PART,
                          a->rays.skip_b ? a->rays.skip_b[c] : EC_BVH_NO_PART, ray);
}

EC_FN void ec_bvh_batch_store(const ec_bvh_batch *a, size_t c, const ec_bvh_hit *hit)
{
    a->hits.t[c] = hit->t;
    a->hits.triangle[c] = hit->triangle;
    if (a->hits.u)
        a->hits.u[c] = hit->u;
    if (a->hits.v)
        a->hits.v[c] = hit->v;
}

EC_FN void ec_bvh_closest_body(const ec_bvh_batch *a, size_t lane0, size_t y)
{
    (void)y;
    for (size_t c = lane0; c < lane0 + EC_LANES && c < a->n; c++) {
        ec_bvh_hit hit = {INFINITY, 0, 0, -1};
        ec_bvh_ray ray;
        if (ec_bvh_batch_ray(a, c, &ray))
            ec_bvh_closest(&a->view, &ray, &hit);
        ec_bvh_batch_store(a, c, &hit);
    }
}

EC_FN void ec_bvh_any_body(const ec_bvh_batch *a, size_t lane0, size_t y)
{
    (void)y;
    for (size_t c = lane0; c < lane0 + EC_LANES && c < a->n; c++) {
        ec_bvh_ray ray;
        a->any[c] = ec_bvh_batch_ray(a, c, &ray) && ec_bvh_any(&a->view, &ray);
    }
}

#endif
