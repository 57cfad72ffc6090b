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

/* The absorbing term of component `axis` + 1 + t of E (side 0) or H along an axis, for the four elements at
 * (i, j, k), which are number `slab` of that axis. */
static inline __device__ float *psi_of(const ec_fdtd_shape &s, void *psi, int side, int axis, int t,
                                       int i, int j, int k, int slab)
{
    float *p = (float *)psi + 2 * side * (s.memory[0] + s.memory[1] + s.memory[2]) +
               t * s.memory[axis] + (axis > 0 ? 2 * s.memory[0] : 0) +
               (axis > 1 ? 2 * s.memory[1] : 0);
    return p + (axis == 0   ? ((int64_t)k * s.rows + j) * s.slab[0] + slab
                : axis == 1 ? ((int64_t)k * s.slab[1] + slab) * s.pitch + i
                            : ((int64_t)slab * s.rows + j) * s.pitch + i);
}

/* Brings a term of four elements forward by their differences w and adds it to them. */
static inline __device__ void absorb4(float *psi, const four &pb, const four &pc, float sign,
                                      const four &b, const four &w, four *f)
{
    four p = load4(psi);
#pragma unroll
    for (int l = 0; l < 4; l++) {
        p.v[l] = pb.v[l] * p.v[l] + pc.v[l] * w.v[l];
        f->v[l] = f->v[l] + (sign * b.v[l]) * p.v[l];
    }
    store4(psi, p);
}

/* What four elements become without absorbing terms; u, v: as update() of fdtd_kernels.cu has them. */
static inline __device__ four advance4(const four &a, const four &b, const four &u, const four &v,
                                       four f)
{
#pragma unroll
    for (int l = 0; l < 4; l++)
        f.v[l] = a.v[l] * f.v[l] + b.v[l] * (u.v[l] - v.v[l]);
    return f;
}

#endif
