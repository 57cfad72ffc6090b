/* fdtd_kernels.cu: steps, energy and coefficients of domains on CUDA. A step is a launch for H, one for E
 * and one for sources, branches and probes, each for all domains; dispersive media and periodic axes have
 * launches of their own between these. An element's arithmetic is that of fdtd_step_internal.h, in
 * the same order, without contraction. */
#include "../../core/kernel_cuda.cuh"

#include "fdtd_kernels.h"
#include "fdtd_quads.cuh"

#define REAL    float
#define NAME(x) ec_fdtd_f32_##x
#include "fdtd_pole_step_internal.h"
#undef REAL
#undef NAME
#define REAL    double
#define NAME(x) ec_fdtd_f64_##x
#include "fdtd_pole_step_internal.h"
#undef REAL
#undef NAME

EC_KERNEL_CUDA(fdtd_raster, ec_fdtd_raster_args, ec_fdtd_raster)
EC_KERNEL_CUDA(fdtd_loads, ec_fdtd_raster_args, ec_fdtd_load_edges)
EC_KERNEL_CUDA_BLOCK(fdtd_spectrum, ec_fdtd_spectrum_args, ec_fdtd_spectrum, 32)

enum { BLOCK = 256, QUADS = 128, MOST_LAUNCHES = 16384 };

/* ---- steps -------------------------------------------------------------------------------------- */

/* What a thread knows of its column of elements (i, j, k0 .. k1). */
template <typename real> struct column {
    const ec_fdtd_domain *d;
    real *f[2][3]; /* E, H, at (i, j, 0) */
    int64_t at;    /* in the plane */
    int i, j, k0, k1;
    int slab_x, slab_y; /* -1: not in these layers */
};

template <typename real>
static __device__ bool open_column(const ec_fdtd_steps_args &a, int32_t step, int32_t height,
                                   column<real> *c)
{
    const ec_fdtd_shape &s = a.shape;
    const uint32_t e = blockIdx.x * BLOCK + threadIdx.x;

    c->d = a.domain + blockIdx.z;
    if (step >= c->d->steps || e >= (uint32_t)s.plane)
        return false;
    c->j = (int)(e / (uint32_t)s.pitch);
    c->i = (int)(e - (uint32_t)c->j * (uint32_t)s.pitch);
    if (c->i >= s.nodes[0] || c->j >= s.nodes[1])
        return false;
    c->at = e;
    c->k0 = (int)blockIdx.y * height;
    c->k1 = c->k0 + height < s.nodes[2] ? c->k0 + height : s.nodes[2];
    c->slab_x = s.slab[0] ? ec_fdtd_slab(&s, 0, c->i) : -1;
    c->slab_y = s.slab[1] ? ec_fdtd_slab(&s, 1, c->j) : -1;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < 3; t++)
            c->f[side][t] = (real *)c->d->field + (3 * side + t) * s.field + s.plane + e;
    return true;
}

/* The psi of component `axis` + 1 + t along an axis, at (i, j, k). */
template <typename real>
static __device__ real *psi_at(const ec_fdtd_shape &s, const column<real> &c, int side, int axis,
                               int t, int k, int slab_z)
{
    real *psi = (real *)c.d->psi + 2 * side * (s.memory[0] + s.memory[1] + s.memory[2]) +
                t * s.memory[axis];
    if (axis == 0)
        return psi + ((int64_t)k * s.rows + c.j) * s.slab[0] + c.slab_x;
    psi += 2 * s.memory[0];
    if (axis == 1)
        return psi + ((int64_t)k * s.slab[1] + c.slab_y) * s.pitch + c.i;
    return psi + 2 * s.memory[1] + ((int64_t)slab_z * s.rows + c.j) * s.pitch + c.i;
}

/* f + (sign b) psi, with psi brought forward by the difference w along its axis at node or cell n. */
template <typename real>
static __device__ real absorbed(const ec_fdtd_domain *d, int side, int axis, int n, real *psi,
                                real f, real signed_b, real w)
{
    const real pb = ((const real *)(side ? d->bh : d->be)[axis])[n];
    const real pc = ((const real *)(side ? d->ch : d->ce)[axis])[n];
    const real p = pb * *psi + pc * w;
    *psi = p;
    return f + signed_b * p;
}

/* All three components of a side at one element. u[c] and v[c]: the differences of component c + 2 along
 * c + 1 and of c + 1 along c + 2, times the inverse spacing. */
template <typename real>
static __device__ void update(const ec_fdtd_shape &s, const column<real> &c, int side, int k,
                              int slab_z, const real *a, const real *b, const real *u,
                              const real *v)
{
    const int64_t up = k * s.plane;
    const int place[3] = {c.i, c.j, k};
    const bool inside[3] = {c.slab_x >= 0, c.slab_y >= 0, slab_z >= 0};

#pragma unroll
    for (int t = 0; t < 3; t++) {
        const int c1 = (t + 1) % 3, c2 = (t + 2) % 3;
        real f = a[t] * c.f[side][t][up] + b[t] * (u[t] - v[t]);
        if (inside[c1])
            f = absorbed(c.d, side, c1, place[c1], psi_at(s, c, side, c1, 1, k, slab_z), f, b[t],
                         u[t]);
        if (inside[c2])
            f = absorbed(c.d, side, c2, place[c2], psi_at(s, c, side, c2, 0, k, slab_z), f, -b[t],
                         v[t]);
        c.f[side][t][up] = f;
    }
}

template <typename real>
static __global__ void __launch_bounds__(BLOCK)
    h_pass(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int32_t height)
{
    const ec_fdtd_shape &s = args.shape;
    column<real> c;

    if (!open_column(args, step, height, &c))
        return;
    const ec_fdtd_domain *d = c.d;
    const int64_t component = s.plane * (s.n[2] + 1);
    const real ix = ((const real *)d->id_h[0])[c.i], iy = ((const real *)d->id_h[1])[c.j];
    const real *iz = (const real *)d->id_h[2];
    const real *ex = c.f[0][0], *ey = c.f[0][1], *ez = c.f[0][2];
    const real *ha = (const real *)d->ha, *hb = (const real *)d->hb;
    real x0 = ex[c.k0 * s.plane], y0 = ey[c.k0 * s.plane];

    for (int k = c.k0; k < c.k1; k++) {
        const int64_t up = k * s.plane;
        const real x1 = ex[up + s.plane], y1 = ey[up + s.plane], z0 = ez[up];
        const real xj = ex[up + s.pitch], yi = ey[up + 1], zi = ez[up + 1], zj = ez[up + s.pitch];
        const real u[3] = {(zj - z0) * iy, (x1 - x0) * iz[k], (yi - y0) * ix};
        const real v[3] = {(y1 - y0) * iz[k], (zi - z0) * ix, (xj - x0) * iy};
        real a[3] = {1, 1, 1}, b[3] = {(real)d->h, (real)d->h, (real)d->h};
        if (hb)
            for (int t = 0; t < 3; t++) {
                a[t] = ha[t * component + up + c.at];
                b[t] = hb[t * component + up + c.at];
            }
        update(s, c, 1, k, s.slab[2] ? ec_fdtd_slab(&s, 2, k) : -1, a, b, u, v);
        x0 = x1;
        y0 = y1;
    }
}

template <typename real>
static __global__ void __launch_bounds__(BLOCK)
    e_pass(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int32_t height)
{
    const ec_fdtd_shape &s = args.shape;
    column<real> c;

    if (!open_column(args, step, height, &c))
        return;
    const ec_fdtd_domain *d = c.d;
    const int64_t component = s.plane * (s.n[2] + 1);
    const real ix = ((const real *)d->id_e[0])[c.i], iy = ((const real *)d->id_e[1])[c.j];
    const real *iz = (const real *)d->id_e[2];
    const real *hx = c.f[1][0], *hy = c.f[1][1], *hz = c.f[1][2];
    const real *ea = (const real *)d->a, *eb = (const real *)d->b;
    const uint8_t *index = d->index;
    const real *pair = (const real *)d->pair;
    real x0 = hx[(c.k0 - 1) * s.plane], y0 = hy[(c.k0 - 1) * s.plane];

    for (int k = c.k0; k < c.k1; k++) {
        const int64_t up = k * s.plane;
        const real x1 = hx[up], y1 = hy[up], z1 = hz[up];
        const real xj = hx[up - s.pitch], yi = hy[up - 1], zi = hz[up - 1], zj = hz[up - s.pitch];
        const real u[3] = {(z1 - zj) * iy, (x1 - x0) * iz[k], (y1 - yi) * ix};
        const real v[3] = {(y1 - y0) * iz[k], (z1 - zi) * ix, (x1 - xj) * iy};
        real a[3], b[3];
#pragma unroll
        for (int t = 0; t < 3; t++) {
            const int64_t e = t * component + up + c.at;
            if (index) {
                const int m = index[e];
                a[t] = __ldg(pair + 2 * m);
                b[t] = __ldg(pair + 2 * m + 1);
            } else {
                a[t] = ea[e];
                b[t] = eb[e];
            }
        }
        update(s, c, 0, k, s.slab[2] ? ec_fdtd_slab(&s, 2, k) : -1, a, b, u, v);
        x0 = x1;
        y0 = y1;
    }
}

/* Edges in dispersive media, by all threads of a domain in turn: how many there are is the domain's, and
 * the launch has to be good for those to come. */
template <typename real>
static __global__ void __launch_bounds__(BLOCK)
    pole_pass(const __grid_constant__ ec_fdtd_steps_args args, int32_t step)
{
    const ec_fdtd_domain *d = args.domain + blockIdx.y;

    if (step >= d->steps)
        return;
    for (int32_t i = (int32_t)(blockIdx.x * BLOCK + threadIdx.x); i < d->n_dispersive;
         i += (int32_t)gridDim.x * BLOCK)
        if (sizeof(real) == sizeof(float))
            ec_fdtd_f32_pole_edge(d, i);
        else
            ec_fdtd_f64_pole_edge(d, i);
}

/* Copies the ends of a periodic axis, a thread an element of the face: see fdtd_domain_internal.h. */
template <typename real>
static __global__ void __launch_bounds__(BLOCK)
    wrap_pass(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int side, int axis)
{
    const ec_fdtd_shape &s = args.shape;
    const ec_fdtd_domain *d = args.domain + blockIdx.y;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const uint32_t q = blockIdx.x * BLOCK + threadIdx.x, width = (uint32_t)s.n[u] + 1;

    if (step >= d->steps || q >= width * ((uint32_t)s.n[v] + 1))
        return;
    int to[3], from[3];
    to[u] = from[u] = (int)(q % width);
    to[v] = from[v] = (int)(q / width);
    to[axis] = side ? s.n[axis] : 0;
    from[axis] = side ? 0 : s.n[axis];
    for (int t = 1; t < 3; t++) {
        real *f = (real *)d->field + (3 * side + (axis + t) % 3) * s.field + s.plane;
        f[ec_fdtd_at(&s, to[0], to[1], to[2])] = f[ec_fdtd_at(&s, from[0], from[1], from[2])];
    }
}

enum { SOURCES = 1, PROBES = 2 };

/* Sources and branches, then probes: a block a domain, a warp a probe; the lanes' sums are added as a fixed tree. */
template <typename real>
static __global__ void __launch_bounds__(BLOCK)
    port_pass(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int parts)
{
    const ec_fdtd_domain *d = args.domain + blockIdx.x;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;

    if (step >= d->steps)
        return;
    const int64_t now = d->step + step;
    real *field = (real *)d->field;
    if ((parts & SOURCES) && now < d->n_wave)
        for (int i = (int)threadIdx.x; i < d->n_sources; i += BLOCK) {
            const ec_fdtd_source *q = d->source + i;
            field[q->index] =
                field[q->index] + edge_b<real>(d, q->edge) * (real)(q->scale * d->wave[now]);
        }
    __syncthreads();
    for (int i = (int)threadIdx.x; (parts & SOURCES) && i < d->n_branches; i += BLOCK) {
        const ec_fdtd_branch *q = d->branch + i;
        field[q->index] =
            (real)ec_fdtd_branch_step(q, d->branch_state + (int64_t)i * EC_FDTD_BRANCH_STATE,
                                      (double)field[q->index], (double)edge_b<real>(d, q->edge));
    }
    __syncthreads();
    for (int probe = warp; (parts & PROBES) && probe < args.n_probes; probe += BLOCK / 32) {
        double sum = 0;
        for (int side = 0; side < 2; side++) {
            const ec_fdtd_term *term = side ? d->e_term : d->h_term;
            const int n = side ? d->n_e_terms : d->n_h_terms;
            for (int i = lane; i < n; i += 32)
                if (term[i].probe == probe)
                    sum += term[i].weight * (double)field[term[i].index];
        }
        for (int half = 16; half > 0; half /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, half);
        if (lane == 0)
            d->series[(int64_t)probe * args.window + step] = sum;
    }
}

/* What an incident wave adds to a side: a thread an entry. Of entries of one element the first one's adds
 * them all, in their order. Sources, which the CPU adds before, lie elsewhere. */
template <typename real>
static __global__ void __launch_bounds__(BLOCK)
    wave_pass(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int side)
{
    const ec_fdtd_domain *d = args.domain + blockIdx.y;
    const ec_fdtd_incidence *w = &d->incidence;
    const int64_t now = d->step + step;
    int32_t i = (int32_t)(blockIdx.x * BLOCK + threadIdx.x);

    if (step >= d->steps || now >= w->steps || i >= w->n[side])
        return;
    const ec_fdtd_entry *entry = w->entry[side];
    const int64_t index = entry[i].index;
    if (i > 0 && entry[i - 1].index == index)
        return;
    real *x = (real *)d->field + index, sum = *x;
    for (; i < w->n[side] && entry[i].index == index; i++)
        sum = sum + (real)ec_fdtd_incident(w, side, i, now, args.double_precision);
    *x = sum;
}

template <typename real>
static void wave_pass_of(cudaStream_t stream, const ec_fdtd_steps_args *a, int32_t step, int side)
{
    const dim3 grid((unsigned)((a->n_entries + BLOCK - 1) / BLOCK), (unsigned)a->n);

    if (a->n_entries > 0)
        wave_pass<real><<<grid, BLOCK, 0, stream>>>(*a, step, side);
}

/* ---- float32: four neighbours along x a thread, in one load each -------------------------------- */

typedef struct quad {
    const ec_fdtd_domain *d;
    int32_t at; /* in the plane */
    int i, j, k0, k1;
    int slab_y;
} quad;

/* Of a row, without those that are all in an electric wall. */
static __host__ __device__ uint32_t quads_of(const ec_fdtd_shape &s)
{
    return (uint32_t)(s.nodes[0] + 3) / 4;
}

static __device__ bool open_quad(const ec_fdtd_steps_args &a, int32_t step, int32_t height, quad *q)
{
    const ec_fdtd_shape &s = a.shape;
    const uint32_t row = quads_of(s), e = blockIdx.x * QUADS + threadIdx.x;

    q->d = a.domain + blockIdx.z;
    if (step >= q->d->steps || e >= row * (uint32_t)s.nodes[1])
        return false;
    q->j = (int)(e / row);
    q->i = 4 * (int)(e - (uint32_t)q->j * row);
    q->at = q->j * s.pitch + q->i;
    q->k0 = (int)blockIdx.y * height;
    q->k1 = q->k0 + height < s.nodes[2] ? q->k0 + height : s.nodes[2];
    q->slab_y = s.slab[1] ? ec_fdtd_slab(&s, 1, q->j) : -1;
    return true;
}

static __device__ void absorb_quad(const ec_fdtd_shape &s, const quad &q, int side, int axis, int t,
                                   int k, int slab, float sign, const four &b, const four &w,
                                   four *f)
{
    const float *pb = (const float *)(side ? q.d->bh : q.d->be)[axis];
    const float *pc = (const float *)(side ? q.d->ch : q.d->ce)[axis];
    const int n = axis == 1 ? q.j : k;

    absorb4(psi_of(s, q.d->psi, side, axis, t, q.i, q.j, k, slab),
            axis == 0 ? load4(pb + q.i) : all4(pb[n]), axis == 0 ? load4(pc + q.i) : all4(pc[n]),
            sign, b, w, f);
}

template <bool pml>
static __device__ void update4(const ec_fdtd_shape &s, const quad &q, int side, int component,
                               int k, int slab_x, int slab_z, const four &a, const four &b,
                               const four &u, const four &v, float *field)
{
    const int c1 = (component + 1) % 3, c2 = (component + 2) % 3;
    four f = advance4(a, b, u, v, load4(field));

    if (pml) {
        const int slab[3] = {slab_x, q.slab_y, slab_z};
        if (slab[c1] >= 0)
            absorb_quad(s, q, side, c1, 1, k, slab[c1], 1, b, u, &f);
        if (slab[c2] >= 0)
            absorb_quad(s, q, side, c2, 0, k, slab[c2], -1, b, v, &f);
    }
    store4(field, f);
}

template <bool pml>
static __global__ void __launch_bounds__(QUADS, 6)
    h_quads(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int32_t height)
{
    const ec_fdtd_shape &s = args.shape;
    quad q;

    if (!open_quad(args, step, height, &q))
        return;
    const ec_fdtd_domain *d = q.d;
    const int64_t component = s.plane * (s.n[2] + 1);
    float *field = (float *)d->field + s.plane + q.at;
    const float *ha = (const float *)d->ha, *hb = (const float *)d->hb;
    const float *iz = (const float *)d->id_h[2];
    const four ix = load4((const float *)d->id_h[0] + q.i);
    const four iy = all4(((const float *)d->id_h[1])[q.j]);
    const int slab_x = pml && s.slab[0] ? ec_fdtd_slab(&s, 0, q.i) : -1;
    int64_t up = q.k0 * s.plane;
    four x0 = load4(field + up), y0 = load4(field + s.field + up);

    for (int k = q.k0; k < q.k1; k++, up += s.plane) {
        const float *ex = field + up, *ey = ex + s.field, *ez = ey + s.field;
        const four x1 = load4(ex + s.plane), y1 = load4(ey + s.plane), z0 = load4(ez);
        const four xj = load4(ex + s.pitch), zj = load4(ez + s.pitch);
        const four yi = after4(ey, y0), zi = after4(ez, z0), dz = all4(iz[k]);
        const int slab_z = pml && s.slab[2] ? ec_fdtd_slab(&s, 2, k) : -1;
        four a[3], b[3];
#pragma unroll
        for (int t = 0; t < 3; t++) {
            a[t] = all4(1);
            b[t] = all4((float)d->h);
            if (hb) {
                a[t] = load4(ha + t * component + up + q.at);
                b[t] = load4(hb + t * component + up + q.at);
            }
        }
        float *h = field + 3 * s.field + up;
        update4<pml>(s, q, 1, 0, k, slab_x, slab_z, a[0], b[0], slope(zj, z0, iy),
                     slope(y1, y0, dz), h);
        update4<pml>(s, q, 1, 1, k, slab_x, slab_z, a[1], b[1], slope(x1, x0, dz),
                     slope(zi, z0, ix), h + s.field);
        update4<pml>(s, q, 1, 2, k, slab_x, slab_z, a[2], b[2], slope(yi, y0, ix),
                     slope(xj, x0, iy), h + 2 * s.field);
        x0 = x1;
        y0 = y1;
    }
}

template <bool pml>
static __global__ void __launch_bounds__(QUADS, 6)
    e_quads(const __grid_constant__ ec_fdtd_steps_args args, int32_t step, int32_t height)
{
    const ec_fdtd_shape &s = args.shape;
    quad q;

    if (!open_quad(args, step, height, &q))
        return;
    const ec_fdtd_domain *d = q.d;
    const int64_t component = s.plane * (s.n[2] + 1);
    float *field = (float *)d->field + s.plane + q.at;
    const float *ea = (const float *)d->a, *eb = (const float *)d->b;
    const float *iz = (const float *)d->id_e[2];
    const uint8_t *index = d->index;
    const float2 *pair = (const float2 *)d->pair;
    const four ix = load4((const float *)d->id_e[0] + q.i);
    const four iy = all4(((const float *)d->id_e[1])[q.j]);
    const int slab_x = pml && s.slab[0] ? ec_fdtd_slab(&s, 0, q.i) : -1;
    int64_t up = q.k0 * s.plane;
    const float *below = field + 3 * s.field + up - s.plane;
    four x0 = load4(below), y0 = load4(below + s.field);

    for (int k = q.k0; k < q.k1; k++, up += s.plane) {
        const float *hx = field + 3 * s.field + up, *hy = hx + s.field, *hz = hy + s.field;
        const four x1 = load4(hx), y1 = load4(hy), z1 = load4(hz);
        const four xj = load4(hx - s.pitch), zj = load4(hz - s.pitch);
        const four yi = before4(hy, y1), zi = before4(hz, z1), dz = all4(iz[k]);
        const int slab_z = pml && s.slab[2] ? ec_fdtd_slab(&s, 2, k) : -1;
        four a[3], b[3];
#pragma unroll
        for (int t = 0; t < 3; t++) {
            const int64_t e = t * component + up + q.at;
            if (index) {
                const uchar4 m = *(const uchar4 *)(index + e);
                const int each[4] = {m.x, m.y, m.z, m.w};
#pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float2 ab = __ldg(pair + each[l]);
                    a[t].v[l] = ab.x;
                    b[t].v[l] = ab.y;
                }
            } else {
                a[t] = load4(ea + e);
                b[t] = load4(eb + e);
            }
        }
        float *e = field + up;
        update4<pml>(s, q, 0, 0, k, slab_x, slab_z, a[0], b[0], slope(z1, zj, iy),
                     slope(y1, y0, dz), e);
        update4<pml>(s, q, 0, 1, k, slab_x, slab_z, a[1], b[1], slope(x1, x0, dz),
                     slope(z1, zi, ix), e + s.field);
        update4<pml>(s, q, 0, 2, k, slab_x, slab_z, a[2], b[2], slope(y1, yi, ix),
                     slope(x1, xj, iy), e + 2 * s.field);
        x0 = x1;
        y0 = y1;
    }
}

/* So many planes a thread that there are blocks enough, and few planes are read twice. */
static int32_t column_height(const ec_fdtd_steps_args *a, int64_t blocks)
{
    const int32_t planes = a->shape.nodes[2];
    int32_t height = 32;

    while (height > 2 && blocks * a->n * ((planes + height - 1) / height) < 2112)
        height /= 2;
    return height;
}

template <typename real>
static void wrap(cudaStream_t stream, const ec_fdtd_steps_args *a, int32_t step, int side)
{
    const int32_t *n = a->shape.n;

    for (int axis = 0; axis < 3; axis++) {
        const int64_t face = (int64_t)(n[(axis + 1) % 3] + 1) * (n[(axis + 2) % 3] + 1);
        if (a->shape.periodic[axis])
            wrap_pass<real><<<dim3((unsigned)((face + BLOCK - 1) / BLOCK), (unsigned)a->n), BLOCK,
                              0, stream>>>(*a, step, side, axis);
    }
}

/* Sources, dispersive media, the ends of periodic axes, probes: as few launches as there is to do. */
template <typename real>
static void after_e(cudaStream_t stream, const ec_fdtd_steps_args *a, int32_t step)
{
    const unsigned domains = (unsigned)a->n, poles = domains < 132 ? 1056 / domains : 8;
    const int32_t *periodic = a->shape.periodic;

    if (!a->dispersive && !periodic[0] && !periodic[1] && !periodic[2]) {
        port_pass<real><<<domains, BLOCK, 0, stream>>>(*a, step, SOURCES | PROBES);
        return;
    }
    port_pass<real><<<domains, BLOCK, 0, stream>>>(*a, step, SOURCES);
    if (a->dispersive)
        pole_pass<real><<<dim3(poles, domains), BLOCK, 0, stream>>>(*a, step);
    wrap<real>(stream, a, step, 0);
    port_pass<real><<<domains, BLOCK, 0, stream>>>(*a, step, PROBES);
}

static dim3 grid_of(const ec_fdtd_steps_args *a, int64_t blocks, int32_t height)
{
    return dim3((unsigned)blocks, (unsigned)((a->shape.nodes[2] + height - 1) / height),
                (unsigned)a->n);
}

static int run_steps_double(cudaStream_t stream, const ec_fdtd_steps_args *a)
{
    const int64_t blocks = (a->shape.plane + BLOCK - 1) / BLOCK;
    const int32_t height = column_height(a, blocks);
    const dim3 grid = grid_of(a, blocks, height);

    for (int32_t step = a->first; step < a->first + a->count; step++) {
        h_pass<double><<<grid, BLOCK, 0, stream>>>(*a, step, height);
        wave_pass_of<double>(stream, a, step, 1);
        wrap<double>(stream, a, step, 1);
        e_pass<double><<<grid, BLOCK, 0, stream>>>(*a, step, height);
        wave_pass_of<double>(stream, a, step, 0);
        after_e<double>(stream, a, step);
    }
    return (int)cudaPeekAtLastError();
}

template <bool pml> static int run_steps_float(cudaStream_t stream, const ec_fdtd_steps_args *a)
{
    const int64_t quads = (int64_t)quads_of(a->shape) * a->shape.nodes[1];
    const int64_t blocks = (quads + QUADS - 1) / QUADS;
    const int32_t height = column_height(a, blocks);
    const dim3 grid = grid_of(a, blocks, height);

    for (int32_t step = a->first; step < a->first + a->count; step++) {
        h_quads<pml><<<grid, QUADS, 0, stream>>>(*a, step, height);
        wave_pass_of<float>(stream, a, step, 1);
        wrap<float>(stream, a, step, 1);
        e_quads<pml><<<grid, QUADS, 0, stream>>>(*a, step, height);
        wave_pass_of<float>(stream, a, step, 0);
        after_e<float>(stream, a, step);
    }
    return (int)cudaPeekAtLastError();
}

static int run_steps(cudaStream_t stream, const ec_fdtd_steps_args *a)
{
    const int32_t *slab = a->shape.slab;

    if (a->double_precision)
        return run_steps_double(stream, a);
    return slab[0] || slab[1] || slab[2] ? run_steps_float<true>(stream, a)
                                         : run_steps_float<false>(stream, a);
}

/* Domains that do all their steps before others begin, so that their fields stay in the second cache (they do in
 * 45 % of it; at 60 % on an H100 the gain is half gone, at 85 % all); all, where not even two fit or the
 * launches would be too many. */
static int32_t cohort_of(const ec_fdtd_steps_args *a)
{
    const ec_fdtd_shape *s = &a->shape;
    const int64_t real = a->double_precision ? sizeof(double) : sizeof(float);
    const int64_t each = real * (6 * s->field + 4 * (s->memory[0] + s->memory[1] + s->memory[2])) +
                         3 * s->plane * s->nodes[2] * (a->double_precision ? 2 * real : 1);
    int device = 0, cache = 0;

    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device) != cudaSuccess)
        return a->n;
    const int64_t most = (int64_t)cache * 9 / 20 / each;
    const int64_t cohorts = most > 0 ? (a->n + most - 1) / most : 1;
    return most < 2 || cohorts * a->count > MOST_LAUNCHES
               ? a->n
               : (int32_t)((a->n + cohorts - 1) / cohorts);
}

extern "C" int ec_cuda_fdtd_steps(void *stream, const void *args, size_t lanes, size_t ny)
{
    ec_fdtd_steps_args a = *(const ec_fdtd_steps_args *)args;
    const int32_t n = a.n, cohort = cohort_of(&a);
    int status = 0;

    (void)lanes, (void)ny;
    for (int32_t first = 0; first < n && status == 0; first += cohort) {
        a.n = n - first < cohort ? n - first : cohort;
        status = run_steps((cudaStream_t)stream, &a);
        a.domain += a.n;
    }
    return status;
}

/* ---- energy ------------------------------------------------------------------------------------- */

enum { ENERGY_BLOCKS = EC_FDTD_ENERGY_PARTS, ENERGY_THREADS = 256 };

static __device__ double block_sum(double x)
{
    __shared__ double sum[ENERGY_THREADS];

    sum[threadIdx.x] = x;
    for (int half = ENERGY_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    __syncthreads();
    return sum[0];
}

template <typename real>
static __device__ double cell_energy(const ec_fdtd_shape &s, const ec_fdtd_domain *d, int i, int j,
                                     int k)
{
    const int place[3] = {i, j, k};
    const int64_t stride[3] = {1, s.pitch, s.plane}, at = ec_fdtd_at(&s, i, j, k);
    const int64_t component = s.plane * (s.n[2] + 1);
    const real *field = (const real *)d->field + s.plane + at;
    bool inside[3];
    double sum = 0;

    for (int c = 0; c < 3; c++)
        if (s.periodic[c] && place[c] == s.n[c])
            return 0; /* counted at the first node */
    for (int c = 0; c < 3; c++)
        inside[c] = place[c] < s.n[c] - s.layers[c][1];
    for (int c = 0; c < 3; c++) {
        const int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        const real *id_e1 = (const real *)d->id_e[c1], *id_e2 = (const real *)d->id_e[c2];
        const real *id_h1 = (const real *)d->id_h[c1], *id_h2 = (const real *)d->id_h[c2];
        const int64_t edge = c * component + at;
        const double e = (double)field[c * s.field];
        const double b = (double)edge_b<real>(d, edge);
        if (inside[c] && b != 0) {
            const double a = d->index ? (double)((const real *)d->pair)[2 * d->index[edge]]
                                      : (double)((const real *)d->a)[edge];
            sum += d->dt * (1 + a) / (2 * b) * e * e /
                   ((double)((const real *)d->id_h[c])[place[c]] * (double)id_e1[place[c1]] *
                    (double)id_e2[place[c2]]);
        }
        if (!inside[c1] || !inside[c2])
            continue;
        const real *u = field + c2 * s.field, *v = field + c1 * s.field;
        const real curl =
            (u[stride[c1]] - u[0]) * id_h1[place[c1]] - (v[stride[c2]] - v[0]) * id_h2[place[c2]];
        const double ha = d->ha ? (double)((const real *)d->ha)[edge] : 1;
        const double hb = d->hb ? (double)((const real *)d->hb)[edge] : (double)(real)d->h;
        const double old = (double)field[(3 + c) * s.field];
        if (hb != 0)
            sum += -d->dt * (1 + ha) / (2 * hb) * old * (ha * old + hb * (double)curl) /
                   ((double)((const real *)d->id_e[c])[place[c]] * (double)id_h1[place[c1]] *
                    (double)id_h2[place[c2]]);
    }
    return sum;
}

static __global__ void __launch_bounds__(ENERGY_THREADS)
    energy_parts(const __grid_constant__ ec_fdtd_energy_args a)
{
    const ec_fdtd_shape &s = a.shape;
    const ec_fdtd_domain *d = a.domain + blockIdx.y;
    const int lo[3] = {s.layers[0][0], s.layers[1][0], s.layers[2][0]};
    int64_t n[3], all = 1;
    double sum = 0;

    if (d->steps == 0)
        return;
    for (int c = 0; c < 3; c++)
        all *= n[c] = s.n[c] - s.layers[c][1] - lo[c] + 1;
    for (int64_t e = (int64_t)blockIdx.x * ENERGY_THREADS + threadIdx.x; e < all;
         e += (int64_t)ENERGY_BLOCKS * ENERGY_THREADS) {
        const int i = lo[0] + (int)(e % n[0]), j = lo[1] + (int)(e / n[0] % n[1]),
                  k = lo[2] + (int)(e / n[0] / n[1]);
        sum += a.double_precision ? cell_energy<double>(s, d, i, j, k)
                                  : cell_energy<float>(s, d, i, j, k);
    }
    for (int32_t i = (int32_t)(blockIdx.x * ENERGY_THREADS + threadIdx.x); i < d->n_dispersive;
         i += ENERGY_BLOCKS * ENERGY_THREADS)
        sum += a.double_precision ? ec_fdtd_f64_pole_energy(&s, d, i)
                                  : ec_fdtd_f32_pole_energy(&s, d, i);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        a.part[blockIdx.y * ENERGY_BLOCKS + blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(ENERGY_THREADS)
    energy_sum(const __grid_constant__ ec_fdtd_energy_args a)
{
    double sum = 0;

    if (a.domain[blockIdx.x].steps == 0)
        return;
    for (int i = (int)threadIdx.x; i < ENERGY_BLOCKS; i += ENERGY_THREADS)
        sum += a.part[blockIdx.x * ENERGY_BLOCKS + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        a.energy[blockIdx.x] = 0.5 * sum;
}

extern "C" int ec_cuda_fdtd_energy(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_fdtd_energy_args *a = (const ec_fdtd_energy_args *)args;

    (void)lanes, (void)ny;
    energy_parts<<<dim3(ENERGY_BLOCKS, (unsigned)a->n), ENERGY_THREADS, 0, (cudaStream_t)stream>>>(
        *a);
    energy_sum<<<(unsigned)a->n, ENERGY_THREADS, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}

/* ---- distinct coefficients ---------------------------------------------------------------------- */

/* Every edge's pair goes into a table of open addresses; which place it takes depends on who comes
 * first, what is found there does not. */
static __device__ uint32_t place_of(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    return (uint32_t)key % EC_FDTD_PAIR_PLACES;
}

static __device__ uint64_t key_of(const ec_fdtd_pairs_args &a, int64_t e)
{
    /* + 1 keeps 0 for what is empty; a = b = 0 is the commonest pair */
    return ((uint64_t)__float_as_uint(((const float *)a.a)[e]) << 32 |
            __float_as_uint(((const float *)a.b)[e])) +
           1;
}

static __global__ void __launch_bounds__(BLOCK)
    pairs_insert(const __grid_constant__ ec_fdtd_pairs_args a)
{
    const int64_t e = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

    if (e >= a.n)
        return;
    const uint64_t key = key_of(a, e);
    uint32_t p = place_of(key);
    for (int turn = 0; turn < EC_FDTD_PAIR_PLACES; turn++, p = (p + 1) % EC_FDTD_PAIR_PLACES) {
        uint64_t there = *(volatile uint64_t *)(a.key + p);
        if (there == 0)
            there = atomicCAS((unsigned long long *)a.key + p, 0ull, (unsigned long long)key);
        if (there == 0 || there == key)
            return;
    }
    *a.count = EC_FDTD_PAIR_PLACES + 1; /* full */
}

/* Which number a pair gets is of no consequence. */
static __global__ void __launch_bounds__(EC_FDTD_PAIR_PLACES)
    pairs_number(const __grid_constant__ ec_fdtd_pairs_args a)
{
    __shared__ int32_t n;
    const int p = (int)threadIdx.x;

    if (*a.count > EC_FDTD_PAIR_PLACES)
        return;
    if (p == 0)
        n = 0;
    __syncthreads();
    if (a.key[p] != 0) {
        const int32_t at = atomicAdd(&n, 1);
        const uint64_t key = a.key[p] - 1;
        a.number[p] = at;
        if (at < EC_FDTD_PAIRS) {
            a.pair[2 * at] = __uint_as_float((uint32_t)(key >> 32));
            a.pair[2 * at + 1] = __uint_as_float((uint32_t)key);
        }
    }
    __syncthreads();
    if (p == 0)
        *a.count = n;
}

static __global__ void __launch_bounds__(BLOCK)
    pairs_write(const __grid_constant__ ec_fdtd_pairs_args a)
{
    const int64_t e = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

    if (e >= a.n || *a.count > EC_FDTD_PAIRS)
        return;
    const uint64_t key = key_of(a, e);
    uint32_t p = place_of(key);
    while (a.key[p] != key)
        p = (p + 1) % EC_FDTD_PAIR_PLACES;
    a.index[e] = (uint8_t)a.number[p];
}

extern "C" int ec_cuda_fdtd_pairs(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_fdtd_pairs_args *a = (const ec_fdtd_pairs_args *)args;
    const unsigned blocks = (unsigned)((a->n + BLOCK - 1) / BLOCK);

    (void)lanes, (void)ny;
    pairs_insert<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*a);
    pairs_number<<<1, EC_FDTD_PAIR_PLACES, 0, (cudaStream_t)stream>>>(*a);
    pairs_write<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*a);
    return (int)cudaPeekAtLastError();
}
