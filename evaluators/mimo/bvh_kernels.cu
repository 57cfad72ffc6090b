/* bvh_kernels.cu: batches of rays on CUDA. Rays of a warp differ in length and turn, so a warp
 * takes new rays when enough of its lanes are idle, and its lanes go step by step, either all that
 * are at nodes or all that are at triangles, whichever are more (after Aila and Laine 2009). What a
 * ray finds does not depend on its neighbours, so the order in which warps take rays is free.
 *
 * A ray reads 64 (layout 2), 128 (4) or 80 bytes (8q) a node and 48 a triangle, most of them
 * from the second cache, which holds some 300,000 triangles with their nodes. */
#include "bvh_kernels.h"

#include <cuda_runtime.h>

enum {
    REFILL = 12 /* idle lanes that are worth taking new rays: 8 to 24 cost the same */
};

static const unsigned ALL_LANES = 0xFFFFFFFFu;
static const size_t NO_RAY = ~(size_t)0;

template <bool any>
static __device__ __forceinline__ void store(const ec_bvh_batch *a, size_t c, const ec_bvh_ray *ray,
                                             const ec_bvh_found *found)
{
    if (any) {
        a->any[c] = found->record >= 0;
    } else {
        ec_bvh_hit hit;
        ec_bvh_finish(&a->view, ray, found, &hit);
        ec_bvh_batch_store(a, c, &hit);
    }
}

/* Gives each lane that asks for one a ray; false: there are no more rays for the warp. A lane whose
 * ray misses everything stays idle with *c = NO_RAY. */
template <bool any>
static __device__ __forceinline__ bool take_rays(const ec_bvh_batch *a, bool ask, size_t *c,
                                                 ec_bvh_ray *ray, ec_bvh_found *found)
{
    unsigned lane = threadIdx.x & 31, asked = __ballot_sync(ALL_LANES, ask);
    unsigned long long first = 0;

    if (lane == 0)
        first = atomicAdd(a->next, (unsigned long long)__popc(asked));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (ask) {
        size_t mine = first + __popc(asked & ((1u << lane) - 1));
        *c = NO_RAY;
        if (mine < a->n) {
            if (ec_bvh_batch_ray(a, mine, ray)) {
                *c = mine;
                *found = ec_bvh_nothing(ray);
            } else {
                ec_bvh_found nothing = {0, 0, -1};
                store<any>(a, mine, ray, &nothing);
            }
        }
    }
    return first + __popc(asked) < a->n;
}

template <int width, bool any>
static __global__ void __launch_bounds__(EC_BVH_CUDA_THREADS, EC_BVH_CUDA_BLOCKS)
    wide_kernel(const __grid_constant__ ec_bvh_batch a)
{
    ec_bvh_entry stack[width == 2 ? 72 : 104];
    ec_bvh_ray ray;
    ec_bvh_found found = {0, 0, -1};
    int depth = 0;
    int32_t at = EC_BVH_DONE;
    size_t c = NO_RAY;
    bool more = true;

    for (;;) {
        unsigned idle = __ballot_sync(ALL_LANES, at == EC_BVH_DONE);
        if (idle == ALL_LANES || (more && __popc(idle) >= REFILL)) {
            if (at == EC_BVH_DONE && c != NO_RAY) {
                store<any>(&a, c, &ray, &found);
                c = NO_RAY;
            }
            if (!more)
                return;
            more = take_rays<any>(&a, at == EC_BVH_DONE, &c, &ray, &found);
            if (at == EC_BVH_DONE && c != NO_RAY) {
                at = 0;
                depth = 0;
            }
            continue;
        }
        unsigned inner = __ballot_sync(ALL_LANES, at >= 0);
        if (2 * __popc(inner) >= 32 - __popc(idle)) {
            if (at >= 0)
                at = ec_bvh_descend(&a.view, &ray, at, found.t, width, stack, &depth);
        } else if (at < 0 && at != EC_BVH_DONE) {
            int32_t leaf = ~at, left = leaf & ((1 << EC_BVH_LEAF_BITS) - 1);
            bool better = ec_bvh_try(&a.view, &ray, leaf >> EC_BVH_LEAF_BITS, &found);
            if (any && better)
                at = EC_BVH_DONE;
            else if (left) /* one record on, one less to come */
                at = ~(leaf + (1 << EC_BVH_LEAF_BITS) - 1);
            else
                at = ec_bvh_pop(stack, &depth, found.t);
        }
        __syncwarp();
    }
}

template <bool any>
static __global__ void __launch_bounds__(EC_BVH_CUDA_THREADS, EC_BVH_CUDA_BLOCKS)
    packed_kernel(const __grid_constant__ ec_bvh_batch a)
{
    ec_bvh_group stack[72], group = {0, 0};
    ec_bvh_ray ray;
    ec_bvh_found found = {0, 0, -1};
    int depth = 0;
    int32_t node = EC_BVH_DONE, first = 0;
    uint32_t records = 0; /* to be tested before the node is opened */
    size_t c = NO_RAY;
    bool more = true;

    for (;;) {
        bool done = node == EC_BVH_DONE && !records;
        unsigned idle = __ballot_sync(ALL_LANES, done);
        if (idle == ALL_LANES || (more && __popc(idle) >= REFILL)) {
            if (done && c != NO_RAY) {
                store<any>(&a, c, &ray, &found);
                c = NO_RAY;
            }
            if (!more)
                return;
            more = take_rays<any>(&a, done, &c, &ray, &found);
            if (done && c != NO_RAY) {
                node = 0;
                depth = 0;
            }
            continue;
        }
        unsigned inner = __ballot_sync(ALL_LANES, !done && !records);
        if (2 * __popc(inner) >= 32 - __popc(idle)) {
            if (!done && !records) {
                records = ec_bvh_open_8q(&a.view, &ray, node, found.t, &group, &first);
                node = ec_bvh_next_8q(&ray, &group, stack, &depth);
            }
        } else if (records) {
            int32_t record = first + ec_bvh_lowest_bit(records);
            records &= records - 1;
            if (ec_bvh_try(&a.view, &ray, record, &found) && any) {
                records = 0;
                node = EC_BVH_DONE;
            }
        }
        __syncwarp();
    }
}

template <int layout, bool any>
static __global__ void __launch_bounds__(EC_BVH_CUDA_THREADS)
    plain_kernel(const __grid_constant__ ec_bvh_batch a)
{
    size_t c = (size_t)blockIdx.x * EC_BVH_CUDA_THREADS + threadIdx.x;
    ec_bvh_view view = a.view;
    ec_bvh_found found = {0, 0, -1};
    ec_bvh_ray ray;

    if (c >= a.n)
        return;
    view.layout = layout; /* known when compiled: one walk only */
    if (ec_bvh_batch_ray(&a, c, &ray)) {
        found = ec_bvh_nothing(&ray);
        ec_bvh_find(&view, &ray, any, &found);
    }
    store<any>(&a, c, &ray, &found);
}

template <bool any> static int launch(cudaStream_t stream, const ec_bvh_batch *a)
{
    size_t needed = (a->n + EC_BVH_CUDA_THREADS - 1) / EC_BVH_CUDA_THREADS;
    unsigned blocks = (unsigned)(needed < (size_t)a->blocks ? needed : (size_t)a->blocks);

    if (a->n == 0)
        return 0;
    if (a->plain) {
        unsigned grid = (unsigned)needed; /* a batch fits in the card's memory: far below 2^31 */
        switch (a->view.layout) {
        case EC_BVH_2:
            plain_kernel<EC_BVH_2, any><<<grid, EC_BVH_CUDA_THREADS, 0, stream>>>(*a);
            break;
        case EC_BVH_4:
            plain_kernel<EC_BVH_4, any><<<grid, EC_BVH_CUDA_THREADS, 0, stream>>>(*a);
            break;
        default:
            plain_kernel<EC_BVH_8Q, any><<<grid, EC_BVH_CUDA_THREADS, 0, stream>>>(*a);
            break;
        }
        return (int)cudaPeekAtLastError();
    }
    cudaError_t error = cudaMemsetAsync(a->next, 0, sizeof *a->next, stream);
    if (error != cudaSuccess)
        return (int)error;
    switch (a->view.layout) {
    case EC_BVH_2:
        wide_kernel<2, any><<<blocks, EC_BVH_CUDA_THREADS, 0, stream>>>(*a);
        break;
    case EC_BVH_4:
        wide_kernel<4, any><<<blocks, EC_BVH_CUDA_THREADS, 0, stream>>>(*a);
        break;
    default:
        packed_kernel<any><<<blocks, EC_BVH_CUDA_THREADS, 0, stream>>>(*a);
        break;
    }
    return (int)cudaPeekAtLastError();
}

extern "C" int ec_cuda_bvh_closest(void *stream, const void *args, size_t lanes, size_t ny)
{
    (void)lanes;
    (void)ny;
    return launch<false>((cudaStream_t)stream, (const ec_bvh_batch *)args);
}

extern "C" int ec_cuda_bvh_any(void *stream, const void *args, size_t lanes, size_t ny)
{
    (void)lanes;
    (void)ny;
    return launch<true>((cudaStream_t)stream, (const ec_bvh_batch *)args);
}
