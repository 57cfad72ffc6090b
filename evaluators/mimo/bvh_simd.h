/* bvh_simd.h: layouts "4 simd" and "8 simd": one ray against the boxes of a node and against
 * packets of EC_BVH_PACK triangles. Included by bvh_trace.h, C only. Vectors of 4 are SSE,
 * vectors of 8 AVX or two of 4, and plain loops elsewhere; the arithmetic of triangles is that
 * of ec_bvh_shear and ec_bvh_meet, lane by lane, so that their bits are the same. */
#ifndef EC_BVH_SIMD_H
#define EC_BVH_SIMD_H

#ifdef __SSE2__
#include <immintrin.h>

typedef __m128 ec_f4;

EC_FN ec_f4 ec_f4_load(const float *p)
{
    return _mm_loadu_ps(p);
}
EC_FN void ec_f4_store(float *p, ec_f4 a)
{
    _mm_storeu_ps(p, a);
}
EC_FN ec_f4 ec_f4_all(float a)
{
    return _mm_set1_ps(a);
}
EC_FN ec_f4 ec_f4_mul(ec_f4 a, ec_f4 b)
{
    return _mm_mul_ps(a, b);
}
EC_FN ec_f4 ec_f4_sub(ec_f4 a, ec_f4 b)
{
    return _mm_sub_ps(a, b);
}
EC_FN ec_f4 ec_f4_mul_sub(ec_f4 a, ec_f4 b, ec_f4 c) /* fused where the processor can */
{
#ifdef __FMA__
    return _mm_fmsub_ps(a, b, c);
#else
    return _mm_sub_ps(_mm_mul_ps(a, b), c);
#endif
}
EC_FN ec_f4 ec_f4_min(ec_f4 a, ec_f4 b)
{
    return _mm_min_ps(a, b);
}
EC_FN ec_f4 ec_f4_max(ec_f4 a, ec_f4 b)
{
    return _mm_max_ps(a, b);
}
EC_FN uint32_t ec_f4_at_most(ec_f4 a, ec_f4 b) /* bit by lane: a <= b */
{
    return (uint32_t)_mm_movemask_ps(_mm_cmple_ps(a, b));
}
#else
typedef struct ec_f4 {
    float l[4];
} ec_f4;

EC_FN ec_f4 ec_f4_load(const float *p)
{
    ec_f4 a;
    memcpy(&a, p, sizeof a);
    return a;
}
EC_FN void ec_f4_store(float *p, ec_f4 a)
{
    memcpy(p, &a, sizeof a);
}
EC_FN ec_f4 ec_f4_all(float a)
{
    return (ec_f4){{a, a, a, a}};
}
#define EC_F4_LOOP(name, expression)                                                               \
    EC_FN ec_f4 name(ec_f4 a, ec_f4 b)                                                             \
    {                                                                                              \
        for (int i = 0; i < 4; i++)                                                                \
            a.l[i] = (expression);                                                                 \
        return a;                                                                                  \
    }
EC_F4_LOOP(ec_f4_mul, a.l[i] * b.l[i])
EC_F4_LOOP(ec_f4_sub, a.l[i] - b.l[i])
EC_F4_LOOP(ec_f4_min, a.l[i] < b.l[i] ? a.l[i] : b.l[i])
EC_F4_LOOP(ec_f4_max, a.l[i] > b.l[i] ? a.l[i] : b.l[i])
#undef EC_F4_LOOP
EC_FN ec_f4 ec_f4_mul_sub(ec_f4 a, ec_f4 b, ec_f4 c)
{
    return ec_f4_sub(ec_f4_mul(a, b), c);
}
EC_FN uint32_t ec_f4_at_most(ec_f4 a, ec_f4 b)
{
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++)
        mask |= (uint32_t)(a.l[i] <= b.l[i]) << i;
    return mask;
}
#endif

#ifdef __AVX2__
typedef __m256 ec_f8;

EC_FN ec_f8 ec_f8_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
EC_FN void ec_f8_store(float *p, ec_f8 a)
{
    _mm256_storeu_ps(p, a);
}
EC_FN ec_f8 ec_f8_all(float a)
{
    return _mm256_set1_ps(a);
}
EC_FN ec_f8 ec_f8_mul_sub(ec_f8 a, ec_f8 b, ec_f8 c)
{
    return _mm256_fmsub_ps(a, b, c);
}
EC_FN ec_f8 ec_f8_min(ec_f8 a, ec_f8 b)
{
    return _mm256_min_ps(a, b);
}
EC_FN ec_f8 ec_f8_max(ec_f8 a, ec_f8 b)
{
    return _mm256_max_ps(a, b);
}
EC_FN uint32_t ec_f8_at_most(ec_f8 a, ec_f8 b)
{
#ifdef __AVX512VL__
    return _mm256_cmp_ps_mask(a, b, _CMP_LE_OQ);
#else
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
#endif
}
#else
typedef struct ec_f8 {
    ec_f4 low, high;
} ec_f8;

EC_FN ec_f8 ec_f8_load(const float *p)
{
    return (ec_f8){ec_f4_load(p), ec_f4_load(p + 4)};
}
EC_FN void ec_f8_store(float *p, ec_f8 a)
{
    ec_f4_store(p, a.low);
    ec_f4_store(p + 4, a.high);
}
EC_FN ec_f8 ec_f8_all(float a)
{
    return (ec_f8){ec_f4_all(a), ec_f4_all(a)};
}
EC_FN ec_f8 ec_f8_mul_sub(ec_f8 a, ec_f8 b, ec_f8 c)
{
    return (ec_f8){ec_f4_mul_sub(a.low, b.low, c.low), ec_f4_mul_sub(a.high, b.high, c.high)};
}
EC_FN ec_f8 ec_f8_min(ec_f8 a, ec_f8 b)
{
    return (ec_f8){ec_f4_min(a.low, b.low), ec_f4_min(a.high, b.high)};
}
EC_FN ec_f8 ec_f8_max(ec_f8 a, ec_f8 b)
{
    return (ec_f8){ec_f4_max(a.low, b.low), ec_f4_max(a.high, b.high)};
}
EC_FN uint32_t ec_f8_at_most(ec_f8 a, ec_f8 b)
{
    return ec_f4_at_most(a.low, b.low) | ec_f4_at_most(a.high, b.high) << 4;
}
#endif

/* ---- packets ---- */

/* The ray as vectors. */
typedef struct ec_bvh_ray4 {
    ec_f4 origin[3], shear[3];
    int32_t axis[3]; /* of the sheared axes */
} ec_bvh_ray4;

EC_FN void ec_bvh_ray4_set(const ec_bvh_ray *r, ec_bvh_ray4 *wide)
{
    for (int i = 0; i < 3; i++) {
        wide->origin[i] = ec_f4_all(r->origin[i]);
        wide->shear[i] = ec_f4_all(r->shear[i]);
    }
    wide->axis[0] = r->axis == 0 ? 2 : 0;
    wide->axis[1] = r->axis == 1 ? 2 : 1;
    wide->axis[2] = r->axis;
}

/* Weights of the vertices of a found triangle: packet and lane as in ec_bvh_found. */
EC_FN bool ec_bvh_meet_lane(const ec_bvh_view *b, const ec_bvh_ray *r, int32_t record, float *t,
                            float *b1, float *b2)
{
    const ec_bvh_pack *pack = (const ec_bvh_pack *)(const void *)b->triangle + record / EC_BVH_PACK;
    int lane = record % EC_BVH_PACK;
    float x[3], y[3], z[3];

    for (int k = 0; k < 3; k++) {
        float vertex[3], turned[3];
        for (int i = 0; i < 3; i++)
            vertex[i] = pack->vertex[k][i][lane];
        ec_bvh_turn(r->axis, vertex, turned);
        ec_bvh_shear(r, turned, &x[k], &y[k], &z[k]);
    }
    return ec_bvh_meet(r->extent, x, y, z, t, b1, b2);
}

/* Tests the triangles of a packet; true when one is the best now. */
EC_FN bool ec_bvh_try_pack(const ec_bvh_view *b, const ec_bvh_ray *r, const ec_bvh_ray4 *wide,
                           int32_t number, ec_bvh_found *f)
{
    const ec_bvh_pack *pack = (const ec_bvh_pack *)(const void *)b->triangle + number;
    ec_f4 x[3], y[3], zero = ec_f4_all(0);
    bool better = false;

    for (int k = 0; k < 3; k++) {
        ec_f4 depth = ec_f4_sub(ec_f4_load(pack->vertex[k][wide->axis[2]]), wide->origin[2]);
        x[k] = ec_f4_sub(ec_f4_sub(ec_f4_load(pack->vertex[k][wide->axis[0]]), wide->origin[0]),
                         ec_f4_mul(wide->shear[0], depth));
        y[k] = ec_f4_sub(ec_f4_sub(ec_f4_load(pack->vertex[k][wide->axis[1]]), wide->origin[1]),
                         ec_f4_mul(wide->shear[1], depth));
    }
    ec_f4 u = ec_f4_sub(ec_f4_mul(x[2], y[1]), ec_f4_mul(y[2], x[1]));
    ec_f4 v = ec_f4_sub(ec_f4_mul(x[0], y[2]), ec_f4_mul(y[0], x[2]));
    ec_f4 w = ec_f4_sub(ec_f4_mul(x[1], y[0]), ec_f4_mul(y[1], x[0]));
    ec_f4 least = ec_f4_min(ec_f4_min(u, v), w), most = ec_f4_max(ec_f4_max(u, v), w);
    if (f->meets) {
        ec_f4 low = zero, high = zero;
        for (int k = 0; k < 3; k++) {
            low = ec_f4_min(low, ec_f4_min(x[k], y[k]));
            high = ec_f4_max(high, ec_f4_max(x[k], y[k]));
        }
        ec_f4 slack = ec_f4_mul(ec_f4_max(high, ec_f4_sub(zero, low)), ec_f4_all(r->slack));
        uint32_t near = ec_f4_at_most(ec_f4_sub(zero, slack), least) | ec_f4_at_most(most, slack);
        for (; near; near &= near - 1) {
            int lane = __builtin_ctz(near);
            if (ec_bvh_ask(r, pack->index[lane], pack->part[lane], number * EC_BVH_PACK + lane, f))
                return true;
        }
        return false;
    }
    uint32_t hits = ec_f4_at_most(zero, least) | ec_f4_at_most(most, zero);
    while (hits) { /* seldom more than one */
        int lane = __builtin_ctz(hits);
        int32_t record = number * EC_BVH_PACK + lane;
        float t;
        hits &= hits - 1;
        if (ec_bvh_meet_lane(b, r, record, &t, NULL, NULL) &&
            ec_bvh_better(r, t, pack->index[lane], pack->part[lane], f)) {
            f->t = t;
            f->index = pack->index[lane];
            f->record = record;
            better = true;
        }
    }
    return better;
}

EC_FN bool ec_bvh_leaf_simd(const ec_bvh_view *b, const ec_bvh_ray *r, const ec_bvh_ray4 *wide,
                            int32_t at, bool any, ec_bvh_found *f)
{
    int32_t leaf = ~at, first = leaf >> EC_BVH_LEAF_BITS;
    int32_t last = first + (leaf & ((1 << EC_BVH_LEAF_BITS) - 1));

    for (int32_t i = first; i <= last; i++)
        if (ec_bvh_try_pack(b, r, wide, i, f) && any)
            return true;
    return false;
}

/* ---- nodes ---- */

/* An entry of the stack: bits of where the ray enters, then the child. */
EC_FN uint64_t ec_bvh_key(float first, int32_t child)
{
    return (uint64_t)ec_bvh_bits(first) << 32 | (uint32_t)child;
}

/* Next entry in front of the best hit. */
EC_FN int32_t ec_bvh_pop_key(const uint64_t *stack, int *depth, float limit)
{
    uint64_t bits = ec_bvh_bits(limit);

    while (*depth > 0) {
        uint64_t key = stack[--*depth];
        if (key >> 32 <= bits)
            return (int32_t)(uint32_t)key;
    }
    return EC_BVH_DONE;
}

/* Of the children `hits` of a node the nearest; the others go on the stack, the farthest first. */
EC_FN int32_t ec_bvh_nearest(const float *first, const int32_t *child, uint32_t hits,
                             uint64_t *stack, int *depth)
{
    int one = __builtin_ctz(hits);

    hits &= hits - 1;
    if (!hits)
        return child[one];
    int two = __builtin_ctz(hits);
    uint64_t a = ec_bvh_key(first[one], child[one]), b = ec_bvh_key(first[two], child[two]);
    uint64_t near = a < b ? a : b, far = a < b ? b : a;
    hits &= hits - 1;
    uint64_t *base = stack + *depth;
    int n = 1;
    base[0] = far;
    while (hits) {
        int next = __builtin_ctz(hits);
        uint64_t key = ec_bvh_key(first[next], child[next]);
        hits &= hits - 1;
        uint64_t behind = key > near ? key : near;
        near = key > near ? near : key;
        int i = n++;
        for (; i > 0 && base[i - 1] < behind; i--)
            base[i] = base[i - 1];
        base[i] = behind;
    }
    *depth += n;
    return (int32_t)(uint32_t)near;
}

/* The walk for nodes of `width` children with vectors of type V. */
#define EC_BVH_WALK_SIMD(name, V, width, node_type, stack_size)                                    \
    EC_FN void name(const ec_bvh_view *b, const ec_bvh_ray *r, bool any, ec_bvh_found *f)          \
    {                                                                                              \
        uint64_t stack[stack_size];                                                                \
        float first[width];                                                                        \
        V inverse[3], in_offset[3], out_offset[3], start = V##_all(r->t_min);                      \
        ec_bvh_ray4 wide;                                                                          \
        int32_t side[3], at = 0;                                                                   \
        int depth = 0;                                                                             \
                                                                                                   \
        ec_bvh_ray4_set(r, &wide);                                                                 \
        for (int i = 0; i < 3; i++) {                                                              \
            inverse[i] = V##_all(r->inverse[i]);                                                   \
            in_offset[i] = V##_all(r->near_offset[i]);                                             \
            out_offset[i] = V##_all(r->far_offset[i]);                                             \
            side[i] = r->negative >> i & 1;                                                        \
        }                                                                                          \
        while (at != EC_BVH_DONE) {                                                                \
            while (at >= 0) {                                                                      \
                const node_type *node = (const node_type *)(const void *)b->node + at;             \
                V in = start, out = V##_all(f->t);                                                 \
                for (int i = 0; i < 3; i++) {                                                      \
                    const float *near = node->bound[i][side[i]];                                   \
                    const float *far = node->bound[i][1 - side[i]];                                \
                    in = V##_max(V##_mul_sub(V##_load(near), inverse[i], in_offset[i]), in);       \
                    out = V##_min(V##_mul_sub(V##_load(far), inverse[i], out_offset[i]), out);     \
                }                                                                                  \
                uint32_t hits = V##_at_most(in, out);                                              \
                if (!hits) {                                                                       \
                    at = ec_bvh_pop_key(stack, &depth, f->t);                                      \
                    continue;                                                                      \
                }                                                                                  \
                V##_store(first, in);                                                              \
                at = ec_bvh_nearest(first, node->child, hits, stack, &depth);                      \
            }                                                                                      \
            if (at == EC_BVH_DONE || ec_bvh_leaf_simd(b, r, &wide, at, any, f))                    \
                return;                                                                            \
            at = ec_bvh_pop_key(stack, &depth, f->t);                                              \
        }                                                                                          \
    }

EC_BVH_WALK_SIMD(ec_bvh_walk_4, ec_f4, 4, ec_bvh_node4, 104)
EC_BVH_WALK_SIMD(ec_bvh_walk_8, ec_f8, 8, ec_bvh_node8, 192)

#endif
