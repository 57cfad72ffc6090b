/* bvh_trace.h: one ray through a hierarchy, the source of CPU and CUDA.
 *
 *     ec_bvh_ray ray;
 *     if (ec_bvh_ray_set(view, origin, direction, t_min, t_max, skip_a, skip_b, &ray))
 *         found = ec_bvh_closest(view, &ray, &hit);      or ec_bvh_any(view, &ray)
 *
 *     ec_bvh_ray_widen(&ray, margin);                    or, where float32 is not to decide:
 *     found = ec_bvh_any_of(view, &ray, meets, of);      asks about all that come near the ray
 *
 * Triangles (Woop, Benthin and Wald 2013): the vertices are shifted to the origin and sheared so
 * that the ray is the last axis; signs of the edge functions say inside or outside. Products are
 * rounded before they are subtracted (no fused multiply-add), so a sign is never wrong but may
 * become zero, which counts as inside; slivers are decided in float64, where the products are
 * exact. So all that is inside in one exact geometry, the sheared float32 vertices, which triangles
 * with common vertices share, is found: no ray passes between them.
 *
 * Boxes are enlarged for each ray by 32 u M, u = 2^-24, M the largest coordinate of the scene
 * plus that of the origin. In units of u M the point where a hit is found (origin + t direction)
 * can be off its triangle by 7 (shift and shear), by 11 (t) and by 5 through the barycentric
 * coordinates, which are float64 where more could be: 17 u h^3 / |2 area|, h the largest sheared
 * coordinate, bounds their share. A box test errs by 5, a corner of a box cut by a spatial split
 * by 1: 29 in all. So every box that should hold a found point is entered, whatever else is in
 * the tree.
 *
 * A ray with a margin finds each triangle that it passes within the margin of, and some more. Sheared
 * distances are at most sqrt(3) times the true ones, so an edge function is then at least -6 h times
 * margin + 7 u M, the length of an edge being at most 2 sqrt(2) h; its products are off by 4 u h M. */
#ifndef EC_BVH_TRACE_H
#define EC_BVH_TRACE_H

#include "bvh.h"

#include <string.h>

#ifdef __CUDA_ARCH__
#define EC_BVH_UNROLL _Pragma("unroll")
#else
#define EC_BVH_UNROLL
#endif

/* The walks of layouts 2, 4 and 8q are what the GPU uses; the CPU has them to compare with, and one
 * copy in a file will do. */
#ifdef __CUDACC__
#define EC_BVH_WALK EC_FN
#else
#define EC_BVH_WALK static __attribute__((noinline, unused))
#endif

enum {
    EC_BVH_PACK = 4,      /* triangles that SIMD tests together */
    EC_BVH_LEAF_BITS = 4, /* a leaf is ~(first << 4 | records - 1) */
    EC_BVH_DONE = INT32_MIN
};
#define EC_BVH_MISS 0xFFFFFFFFu

/* Nodes of layouts 2, 4 and 8 simd: bounds [axis][low, high][child], then the children (an inner
 * node's number or a leaf). Children that are not there have their low bounds at infinity and their
 * high bounds at minus infinity. */
typedef struct ec_bvh_node2 {
    float bound[3][2][2];
    int32_t child[2], unused[2];
} ec_bvh_node2;

typedef struct ec_bvh_node4 {
    float bound[3][2][4];
    int32_t child[4], unused[4];
} ec_bvh_node4;

typedef struct ec_bvh_node8 {
    float bound[3][2][8];
    int32_t child[8];
} ec_bvh_node8;

/* Layout 8q (Ylitie, Karras and Laine 2017): bounds are low + q 2^(exponent - 127). A child's slot
 * says on which side of the node it lies, bit by axis, so that a ray visits slots in the order of
 * slot ^ (its negative directions), without sorting. */
typedef struct ec_bvh_node8q {
    float low[3];
    uint8_t exponent[3];
    uint8_t inner;         /* bit of each slot with an inner node */
    int32_t child, record; /* the first inner node, the first record of leaves */
    uint8_t leaf[8];       /* records << 5 | first, from `record`; 0 where there is no leaf */
    uint8_t bound[3][2][8];
} ec_bvh_node8q;

/* A triangle of layouts 2, 4 and 8q. */
typedef struct ec_bvh_record {
    float a[3];
    int32_t index;
    float b[3];
    int32_t part;
    float c[3];
    int32_t unused;
} ec_bvh_record;

/* Triangles of the layouts for SIMD: NaN where there is none. */
typedef struct ec_bvh_pack {
    float vertex[3][3][EC_BVH_PACK]; /* [vertex][axis] */
    int32_t index[EC_BVH_PACK], part[EC_BVH_PACK];
} ec_bvh_pack;

typedef struct ec_bvh_ray {
    float inverse[3], near_offset[3], far_offset[3]; /* of boxes */
    float shear[3], origin[3];                       /* in the order of the sheared axes */
    float extent;                                    /* M */
    float t_min, t_max;
    float slack;      /* of edge functions, by h: 0 unless the ray has a margin */
    int32_t axis;     /* the last sheared one: that of the largest direction */
    int32_t negative; /* bit by axis: the direction is negative */
    int32_t skip_a, skip_b;
} ec_bvh_ray;

typedef struct ec_bvh_hit {
    float t, u, v;
    int32_t triangle;
} ec_bvh_hit;

/* The best so far; `record` is where it lies (in packets: 4 packet + lane). */
typedef struct ec_bvh_found {
    float t;
    int32_t index, record;
    bool (*meets)(void *of,
                  int32_t triangle); /* who decides about a ray with a margin; else NULL */
    void *of;
} ec_bvh_found;

EC_FN uint32_t ec_bvh_bits(float x)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

EC_FN float ec_bvh_float(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

/* 16 bytes at once. */
EC_FN void ec_bvh_load4(const void *from, float to[4])
{
#ifdef __CUDA_ARCH__
    float4 q = __ldg((const float4 *)from);
    to[0] = q.x;
    to[1] = q.y;
    to[2] = q.z;
    to[3] = q.w;
#else
    memcpy(to, from, 4 * sizeof *to);
#endif
}

/* The sheared axes: the last is `axis`, which changes places with itself, y or x. */
EC_FN void ec_bvh_turn(int32_t axis, const float v[3], float turned[3])
{
    turned[0] = axis == 0 ? v[2] : v[0];
    turned[1] = axis == 1 ? v[2] : v[1];
    turned[2] = axis == 0 ? v[0] : axis == 1 ? v[1] : v[2];
}

/* False: the ray misses everything. */
EC_FN bool ec_bvh_ray_set(const ec_bvh_view *b, const double origin[3], const double direction[3],
                          double t_min, double t_max, int32_t skip_a, int32_t skip_b, ec_bvh_ray *r)
{
    float o[3], d[3], far = 0, largest = 0, sum = 0, turned[3];

    r->axis = 0;
    r->negative = 0;
    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++) {
        o[i] = (float)(origin[i] - b->centre[i]);
        d[i] = (float)direction[i];
        sum += o[i] + d[i];
        far = fmaxf(far, fabsf(o[i]));
        if (fabsf(d[i]) > largest) {
            largest = fabsf(d[i]);
            r->axis = i;
        }
    }
    r->t_min = t_min > 0 ? (float)t_min : 0.0f;
    r->t_max = (float)t_max;
    r->slack = 0;
    r->skip_a = skip_a;
    r->skip_b = skip_b;
    if (!(sum == sum && far <= 1e12f && largest >= 1e-12f && largest <= 1e12f && t_min == t_min &&
          r->t_min <= r->t_max))
        return false;
    r->extent = far + b->size;
    float pad = 0x1p-19f * r->extent;
    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++) {
        float least = 1e-12f * largest; /* moves the ray by less than its rounding */
        float e = fabsf(d[i]) >= least ? d[i] : d[i] < 0 ? -least : least;
        float inverse = 1.0f / e;
        r->inverse[i] = inverse;
        r->near_offset[i] = o[i] * inverse + pad * fabsf(inverse);
        r->far_offset[i] = o[i] * inverse - pad * fabsf(inverse);
        r->negative |= (e < 0) << i;
    }
    ec_bvh_turn(r->axis, d, turned);
    r->shear[2] = r->axis == 0 ? r->inverse[0] : r->axis == 1 ? r->inverse[1] : r->inverse[2];
    r->shear[0] = turned[0] * r->shear[2];
    r->shear[1] = turned[1] * r->shear[2];
    ec_bvh_turn(r->axis, o, r->origin);
    return true;
}

/* Gives a ray a margin, in units of a direction of length 1. */
EC_FN void ec_bvh_ray_widen(ec_bvh_ray *r, double margin)
{
    float more = 2 * (float)margin;

    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++) {
        r->near_offset[i] += more * fabsf(r->inverse[i]);
        r->far_offset[i] -= more * fabsf(r->inverse[i]);
    }
    r->slack = 6 * (float)margin + 0x1p-18f * r->extent;
}

/* ---- triangles ---- */

/* Edge functions of sheared vertices; in float64 the signs are exact. */
#define EC_BVH_EDGES(real, x, y, u, v, w)                                                          \
    real u = (real)x[2] * (real)y[1] - (real)y[2] * (real)x[1];                                    \
    real v = (real)x[0] * (real)y[2] - (real)y[0] * (real)x[2];                                    \
    real w = (real)x[1] * (real)y[0] - (real)y[1] * (real)x[0]

#define EC_BVH_OUTSIDE(u, v, w) (((u) < 0 || (v) < 0 || (w) < 0) && ((u) > 0 || (v) > 0 || (w) > 0))

/* Vertices x[], y[] and lengths along the ray z[], all sheared: where the ray meets the triangle;
 * u and v are the weights of the second and third vertex, made only where they are asked for. */
EC_FN bool ec_bvh_meet(float extent, const float x[3], const float y[3], const float z[3], float *t,
                       float *b1, float *b2)
{
    EC_BVH_EDGES(float, x, y, u, v, w);

    if (EC_BVH_OUTSIDE(u, v, w))
        return false;
    float det = u + v + w, h = 0;
    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++)
        h = fmaxf(h, fmaxf(fabsf(x[i]), fabsf(y[i])));
    if (4 * h * h * h > extent * fabsf(det)) {
        EC_BVH_EDGES(double, x, y, exact_u, exact_v, exact_w);
        double exact_det = exact_u + exact_v + exact_w;
        if (EC_BVH_OUTSIDE(exact_u, exact_v, exact_w) || exact_det == 0)
            return false;
        *t = (float)((exact_u * z[0] + exact_v * z[1] + exact_w * z[2]) / exact_det);
        if (b1) {
            *b1 = (float)(exact_v / exact_det);
            *b2 = (float)(exact_w / exact_det);
        }
        return true;
    }
    *t = (u * z[0] + v * z[1] + w * z[2]) / det;
    if (b1) {
        *b1 = v / det;
        *b2 = w / det;
    }
    return true;
}

/* A vertex, axes in the ray's order, to sheared coordinates. */
EC_FN void ec_bvh_shear(const ec_bvh_ray *r, const float turned[3], float *x, float *y, float *z)
{
    float depth = turned[2] - r->origin[2];
    *x = turned[0] - r->origin[0] - r->shear[0] * depth;
    *y = turned[1] - r->origin[1] - r->shear[1] * depth;
    *z = r->shear[2] * depth;
}

/* Whether the ray comes within its margin of a triangle, or nearly so. */
EC_FN bool ec_bvh_is_near(float slack, const float x[3], const float y[3])
{
    EC_BVH_EDGES(float, x, y, u, v, w);
    float h = 0;

    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++)
        h = fmaxf(h, fmaxf(fabsf(x[i]), fabsf(y[i])));
    h *= slack;
    return fminf(fminf(u, v), w) >= -h || fmaxf(fmaxf(u, v), w) <= h;
}

/* Whether a triangle that the ray meets at t becomes the best. */
EC_FN bool ec_bvh_better(const ec_bvh_ray *r, float t, int32_t index, int32_t part,
                         const ec_bvh_found *f)
{
    return t >= r->t_min && (t < f->t || (t == f->t && index < f->index)) && part != r->skip_a &&
           part != r->skip_b;
}

/* A record's vertices, sheared, its triangle and part. */
EC_FN void ec_bvh_shear_record(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t record,
                               float x[3], float y[3], float z[3], int32_t *index, int32_t *part)
{
    const char *at = b->triangle + (size_t)record * sizeof(ec_bvh_record);
    float vertex[3][4], turned[3];

    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++) {
        ec_bvh_load4(at + 16 * i, vertex[i]);
        ec_bvh_turn(r->axis, vertex[i], turned);
        ec_bvh_shear(r, turned, &x[i], &y[i], &z[i]);
    }
    *index = (int32_t)ec_bvh_bits(vertex[0][3]);
    *part = (int32_t)ec_bvh_bits(vertex[1][3]);
}

EC_FN bool ec_bvh_meet_record(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t record, float *t,
                              float *b1, float *b2, int32_t *index, int32_t *part)
{
    float x[3], y[3], z[3];

    ec_bvh_shear_record(b, r, record, x, y, z, index, part);
    return ec_bvh_meet(r->extent, x, y, z, t, b1, b2);
}

/* Asks about a triangle near the ray; true when it is met. */
EC_FN bool ec_bvh_ask(const ec_bvh_ray *r, int32_t index, int32_t part, int32_t record,
                      ec_bvh_found *f)
{
    if (part == r->skip_a || part == r->skip_b || !f->meets(f->of, index))
        return false;
    f->index = index;
    f->record = record;
    return true;
}

/* Tests a record; true when it is the best now. */
EC_FN bool ec_bvh_try(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t record, ec_bvh_found *f)
{
    float t;
    int32_t index, part;

    if (f->meets) {
        float x[3], y[3], z[3];
        ec_bvh_shear_record(b, r, record, x, y, z, &index, &part);
        return ec_bvh_is_near(r->slack, x, y) && ec_bvh_ask(r, index, part, record, f);
    }
    if (!ec_bvh_meet_record(b, r, record, &t, NULL, NULL, &index, &part) ||
        !ec_bvh_better(r, t, index, part, f))
        return false;
    f->t = t;
    f->index = index;
    f->record = record;
    return true;
}

EC_FN ec_bvh_found ec_bvh_nothing(const ec_bvh_ray *r)
{
    ec_bvh_found f;
    f.t = r->t_max;
    f.index = INT32_MAX; /* a hit at t_max counts */
    f.record = -1;
    f.meets = NULL;
    f.of = NULL;
    return f;
}

/* ---- layouts 2 and 4 ---- */

typedef struct ec_bvh_entry {
    uint32_t key; /* bits of where the ray enters, the last two cleared */
    int32_t child;
} ec_bvh_entry;

EC_FN void ec_bvh_order(uint32_t *a, uint32_t *b)
{
    uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

/* The children of a node that the ray enters before `limit`, nearest first: keys (the child's
 * number in the last two bits) and what they are; EC_BVH_MISS for the others. */
EC_FN void ec_bvh_open(const char *at, const ec_bvh_ray *r, float limit, int width,
                       ec_bvh_entry entry[4])
{
    float bound[2][4], child[4], first[4], last[4];
    uint32_t key[4] = {EC_BVH_MISS, EC_BVH_MISS, EC_BVH_MISS, EC_BVH_MISS};

    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++) {
        bool negative = r->negative >> i & 1;
        if (width == 4) {
            ec_bvh_load4(at + 32 * i + 16 * negative, bound[0]);
            ec_bvh_load4(at + 32 * i + 16 * !negative, bound[1]);
        } else {
            float both[4];
            ec_bvh_load4(at + 16 * i, both);
            EC_BVH_UNROLL
            for (int k = 0; k < 2; k++) {
                bound[0][k] = negative ? both[2 + k] : both[k];
                bound[1][k] = negative ? both[k] : both[2 + k];
            }
        }
        EC_BVH_UNROLL
        for (int k = 0; k < width; k++) {
            float in = ec_fmaf(bound[0][k], r->inverse[i], -r->near_offset[i]);
            float out = ec_fmaf(bound[1][k], r->inverse[i], -r->far_offset[i]);
            first[k] = fmaxf(i ? first[k] : r->t_min, in);
            last[k] = fminf(i ? last[k] : limit, out);
        }
    }
    ec_bvh_load4(at + 24 * width, child);
    EC_BVH_UNROLL
    for (int k = 0; k < width; k++)
        if (first[k] <= last[k])
            key[k] = (ec_bvh_bits(first[k]) & ~3u) | (uint32_t)k;
    ec_bvh_order(&key[0], &key[1]);
    if (width == 4) {
        ec_bvh_order(&key[2], &key[3]);
        ec_bvh_order(&key[0], &key[2]);
        ec_bvh_order(&key[1], &key[3]);
        ec_bvh_order(&key[1], &key[2]);
    }
    EC_BVH_UNROLL
    for (int k = 0; k < width; k++) {
        float even = width == 4 && (key[k] & 2) ? child[2] : child[0];
        float odd = width == 4 && (key[k] & 2) ? child[3] : child[1];
        entry[k].key = key[k];
        entry[k].child = (int32_t)ec_bvh_bits(key[k] & 1 ? odd : even);
    }
}

/* The next entry that is not behind the best hit. */
EC_FN int32_t ec_bvh_pop(const ec_bvh_entry *stack, int *depth, float limit)
{
    while (*depth > 0) {
        ec_bvh_entry e = stack[--*depth];
        if (ec_bvh_float(e.key & ~3u) <= limit)
            return e.child;
    }
    return EC_BVH_DONE;
}

/* From an inner node to the next node to visit; the others go on the stack. */
EC_FN int32_t ec_bvh_descend(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t at, float limit,
                             int width, ec_bvh_entry *stack, int *depth)
{
    size_t bytes = width == 2 ? sizeof(ec_bvh_node2) : sizeof(ec_bvh_node4);
    ec_bvh_entry entry[4];

    ec_bvh_open(b->node + (size_t)at * bytes, r, limit, width, entry);
    EC_BVH_UNROLL
    for (int k = width - 1; k > 0; k--)
        if (entry[k].key != EC_BVH_MISS)
            stack[(*depth)++] = entry[k];
    if (entry[0].key != EC_BVH_MISS)
        return entry[0].child;
    return ec_bvh_pop(stack, depth, limit);
}

/* True when a ray that looks for any hit is done. */
EC_FN bool ec_bvh_leaf(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t at, bool any,
                       ec_bvh_found *f)
{
    int32_t leaf = ~at, first = leaf >> EC_BVH_LEAF_BITS;
    int32_t last = first + (leaf & ((1 << EC_BVH_LEAF_BITS) - 1));

    for (int32_t i = first; i <= last; i++)
        if (ec_bvh_try(b, r, i, f) && any)
            return true;
    return false;
}

EC_BVH_WALK void ec_bvh_walk(const ec_bvh_view *b, const ec_bvh_ray *r, int width, bool any,
                             ec_bvh_found *f)
{
    ec_bvh_entry stack[104];
    int depth = 0;
    int32_t at = 0;

    while (at != EC_BVH_DONE) {
        while (at >= 0)
            at = ec_bvh_descend(b, r, at, f->t, width, stack, &depth);
        if (at == EC_BVH_DONE || ec_bvh_leaf(b, r, at, any, f))
            return;
        at = ec_bvh_pop(stack, &depth, f->t);
    }
}

/* ---- layout 8q ---- */

EC_FN int ec_bvh_lowest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}

EC_FN int ec_bvh_count_bits(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __popc(bits);
#else
    return __builtin_popcount(bits);
#endif
}

/* Inner nodes that wait: the first child of their parent, and bits: 0 to 7 those to visit, in the
 * order of slot ^ negative; 8 to 15 the parent's slots with inner nodes. */
typedef struct ec_bvh_group {
    int32_t child;
    uint32_t bits;
} ec_bvh_group;

/* Opens a node: the inner nodes that the ray enters become a group; of the records behind `record`
 * those of leaves that it enters are the bits returned. */
EC_FN uint32_t ec_bvh_open_8q(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t node, float limit,
                              ec_bvh_group *group, int32_t *record)
{
    const char *at = b->node + (size_t)node * sizeof(ec_bvh_node8q);
    float head[4], links[4], first[8], last[8];
    uint32_t nodes = 0, records = 0;

    ec_bvh_load4(at, head);
    ec_bvh_load4(at + 16, links);
    uint32_t packed = ec_bvh_bits(head[3]), inner = packed >> 24;
    EC_BVH_UNROLL
    for (int i = 0; i < 3; i++) {
        float bytes[4];
        uint32_t side[4]; /* low 0-3, 4-7, high 0-3, 4-7 */
        bool negative = r->negative >> i & 1;
        float step = ec_bvh_float((packed >> (8 * i) & 255) << 23) * r->inverse[i];
        float in0 = ec_fmaf(head[i], r->inverse[i], -r->near_offset[i]);
        float out0 = ec_fmaf(head[i], r->inverse[i], -r->far_offset[i]);
        ec_bvh_load4(at + 32 + 16 * i, bytes);
        EC_BVH_UNROLL
        for (int k = 0; k < 4; k++)
            side[k] = ec_bvh_bits(bytes[k]);
        EC_BVH_UNROLL
        for (int k = 0; k < 8; k++) {
            uint32_t low = side[k >> 2], high = side[2 + (k >> 2)];
            uint32_t q_in = (negative ? high : low) >> (8 * (k & 3)) & 255;
            uint32_t q_out = (negative ? low : high) >> (8 * (k & 3)) & 255;
            float in = ec_fmaf((float)(int32_t)q_in, step, in0);
            float out = ec_fmaf((float)(int32_t)q_out, step, out0);
            first[k] = fmaxf(i ? first[k] : r->t_min, in);
            last[k] = fminf(i ? last[k] : limit, out);
        }
    }
    EC_BVH_UNROLL
    for (int k = 0; k < 8; k++) {
        uint32_t leaf = ec_bvh_bits(links[2 + (k >> 2)]) >> (8 * (k & 3)) & 255;
        if (first[k] <= last[k]) {
            records |= ((1u << (leaf >> 5)) - 1) << (leaf & 31);
            nodes |= (inner >> k & 1) << (k ^ r->negative);
        }
    }
    group->child = (int32_t)ec_bvh_bits(links[0]);
    group->bits = nodes | inner << 8;
    *record = (int32_t)ec_bvh_bits(links[1]);
    return records;
}

/* Takes the first node of a group. */
EC_FN int32_t ec_bvh_take(const ec_bvh_ray *r, ec_bvh_group *group)
{
    int bit = ec_bvh_lowest_bit(group->bits);
    uint32_t before = (1u << (bit ^ r->negative)) - 1;

    group->bits &= group->bits - 1;
    return group->child + ec_bvh_count_bits(group->bits >> 8 & before);
}

/* The next node to open; EC_BVH_DONE when there is none. */
EC_FN int32_t ec_bvh_next_8q(const ec_bvh_ray *r, ec_bvh_group *group, ec_bvh_group *stack,
                             int *depth)
{
    if (!(group->bits & 255)) {
        if (*depth == 0)
            return EC_BVH_DONE;
        *group = stack[--*depth];
    }
    int32_t node = ec_bvh_take(r, group);
    if (group->bits & 255)
        stack[(*depth)++] = *group;
    return node;
}

EC_BVH_WALK void ec_bvh_walk_8q(const ec_bvh_view *b, const ec_bvh_ray *r, bool any,
                                ec_bvh_found *f)
{
    ec_bvh_group stack[72], group;
    int depth = 0;
    int32_t node = 0, first;

    while (node != EC_BVH_DONE) {
        uint32_t records = ec_bvh_open_8q(b, r, node, f->t, &group, &first);
        while (records) {
            int32_t record = first + ec_bvh_lowest_bit(records);
            records &= records - 1;
            if (ec_bvh_try(b, r, record, f) && any)
                return;
        }
        node = ec_bvh_next_8q(r, &group, stack, &depth);
    }
}

/* ---- the layouts for SIMD, and all of them ---- */

#ifndef __CUDACC__
#include "bvh_simd.h"
#endif

EC_FN void ec_bvh_find(const ec_bvh_view *b, const ec_bvh_ray *r, bool any, ec_bvh_found *f)
{
    switch (b->layout) {
    case EC_BVH_2:
        ec_bvh_walk(b, r, 2, any, f);
        break;
    case EC_BVH_4:
        ec_bvh_walk(b, r, 4, any, f);
        break;
    case EC_BVH_8Q:
        ec_bvh_walk_8q(b, r, any, f);
        break;
#ifndef __CUDACC__
    case EC_BVH_4_SIMD:
        ec_bvh_walk_4(b, r, any, f);
        break;
    case EC_BVH_8_SIMD:
        ec_bvh_walk_8(b, r, any, f);
        break;
#endif
    default:
        break;
    }
}

/* Weights of a found triangle's vertices, by its test once more: the search need not keep them. */
EC_FN void ec_bvh_finish(const ec_bvh_view *b, const ec_bvh_ray *r, const ec_bvh_found *f,
                         ec_bvh_hit *hit)
{
    int32_t index, part;
    float t;

    hit->t = INFINITY;
    hit->triangle = -1;
    hit->u = hit->v = 0;
    if (f->record < 0)
        return;
    hit->t = f->t;
    hit->triangle = f->index;
#ifndef __CUDACC__
    if (b->layout == EC_BVH_4_SIMD || b->layout == EC_BVH_8_SIMD) {
        ec_bvh_meet_lane(b, r, f->record, &t, &hit->u, &hit->v);
        return;
    }
#endif
    ec_bvh_meet_record(b, r, f->record, &t, &hit->u, &hit->v, &index, &part);
}

/* The first triangle on the ray that is not in an excluded part. */
EC_FN bool ec_bvh_closest(const ec_bvh_view *b, const ec_bvh_ray *r, ec_bvh_hit *hit)
{
    ec_bvh_found f = ec_bvh_nothing(r);

    ec_bvh_find(b, r, false, &f);
    ec_bvh_finish(b, r, &f, hit);
    return f.record >= 0;
}

EC_FN bool ec_bvh_any(const ec_bvh_view *b, const ec_bvh_ray *r)
{
    ec_bvh_found f = ec_bvh_nothing(r);

    ec_bvh_find(b, r, true, &f);
    return f.record >= 0;
}

/* Whether meets(of, triangle) says so of any triangle that the ray, which has a margin, comes near. It
 * is asked about each of them, of excluded parts not, in any order, perhaps several times, until it
 * does. */
EC_FN bool ec_bvh_any_of(const ec_bvh_view *b, const ec_bvh_ray *r,
                         bool (*meets)(void *of, int32_t triangle), void *of)
{
    ec_bvh_found f = ec_bvh_nothing(r);

    f.meets = meets;
    f.of = of;
    ec_bvh_find(b, r, true, &f);
    return f.record >= 0;
}

#endif
