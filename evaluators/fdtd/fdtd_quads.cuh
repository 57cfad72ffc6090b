/* fdtd_quads.cuh: the update of float32 fields by fours, neighbours along x, for the kernels that keep
 * fields in memory and those that keep them on the chip. */
#ifndef EC_FDTD_QUADS_CUH
#define EC_FDTD_QUADS_CUH

#include <cuda_runtime.h>

#include "fdtd_domain_internal.h"

/* Coefficient of an edge. */
template <typename real> static inline __device__ real edge_b(const ec_fdtd_domain *d, int64_t edge)
{
    return d->index ? ((const real *)d->pair)[2 * d->index[edge] + 1] : ((const real *)d->b)[edge];
}

typedef struct four {
    float v[4];
} four;

static inline __device__ four load4(const float *from)
{
    const float4 q = *(const float4 *)from;
    return four{{q.x, q.y, q.z, q.w}};
}

static inline __device__ void store4(float *to, const four &q)
{
    *(float4 *)to = make_float4(q.v[0], q.v[1], q.v[2], q.v[3]);
}

/* What lies one element before, or after, four of them. */
static inline __device__ four before4(const float *at, const four &q)
{
    return four{{at[-1], q.v[0], q.v[1], q.v[2]}};
}

static inline __device__ four after4(const float *at, const four &q)
{
    return four{{q.v[1], q.v[2], q.v[3], at[4]}};
}

/* (u1 - u0) id, the spacing along the row or not. */
static inline __device__ four slope(const four &u1, const four &u0, const four &id)
{
    four r;
#pragma unroll
    for (int l = 0; l < 4; l++)
        r.v[l] = (u1.v[l] - u0.v[l]) * id.v[l];
    return r;
}

static inline __device__ four all4(float x)
{
    return four{{x, x, x, x}};
}

typedef struct quad {
    const ec_fdtd_domain *d;
    int32_t at; /* in the plane */
    int i, j, k0, k1;
    int slab_y;
} quad;

/* The absorbing term of four elements along an axis. */
static inline __device__ void absorb4(const ec_fdtd_shape &s, const quad &q, int side, int axis,
                                      int t, int k, int slab, float sign, const four &b,
                                      const four &w, four *f)
{
    const float *pb = (const float *)(side ? q.d->bh : q.d->be)[axis];
    const float *pc = (const float *)(side ? q.d->ch : q.d->ce)[axis];
    float *psi = (float *)q.d->psi + 2 * side * (s.memory[0] + s.memory[1] + s.memory[2]) +
                 t * s.memory[axis] + (axis > 0 ? 2 * s.memory[0] : 0) +
                 (axis > 1 ? 2 * s.memory[1] : 0);
    const int n = axis == 1 ? q.j : k;

    psi += axis == 0   ? ((int64_t)k * s.rows + q.j) * s.slab[0] + slab
           : axis == 1 ? ((int64_t)k * s.slab[1] + slab) * s.pitch + q.i
                       : ((int64_t)slab * s.rows + q.j) * s.pitch + q.i;
    const four vb = axis == 0 ? load4(pb + q.i) : all4(pb[n]);
    const four vc = axis == 0 ? load4(pc + q.i) : all4(pc[n]);
    four p = load4(psi);
#pragma unroll
    for (int l = 0; l < 4; l++) {
        p.v[l] = vb.v[l] * p.v[l] + vc.v[l] * w.v[l];
        f->v[l] = f->v[l] + (sign * b.v[l]) * p.v[l];
    }
    store4(psi, p);
}

/* What four elements of a component become; f: what they are, u, v: as update(). */
template <bool pml>
static inline __device__ four advance4(const ec_fdtd_shape &s, const quad &q, int side,
                                       int component, int k, int slab_x, int slab_z, const four &a,
                                       const four &b, const four &u, const four &v, four f)
{
    const int c1 = (component + 1) % 3, c2 = (component + 2) % 3;

#pragma unroll
    for (int l = 0; l < 4; l++)
        f.v[l] = a.v[l] * f.v[l] + b.v[l] * (u.v[l] - v.v[l]);
    if (pml) {
        const int slab[3] = {slab_x, q.slab_y, slab_z};
        if (slab[c1] >= 0)
            absorb4(s, q, side, c1, 1, k, slab[c1], 1, b, u, &f);
        if (slab[c2] >= 0)
            absorb4(s, q, side, c2, 0, k, slab[c2], -1, b, v, &f);
    }
    return f;
}

#endif
