/* aco_device.cuh: what the kernels of the ant colony share on CUDA: bits and genes of an ant, the best of
 * a warp. Included by .cu files only. */
#ifndef EC_ACO_DEVICE_CUH
#define EC_ACO_DEVICE_CUH

#include "aco_kernels.h"
#include "kernel_cuda.cuh"

#define ALL_LANES 0xffffffffu

/* ---- ants ---- */

/* Eight bits of a candidate: from its Philox block and two 16-bit levels in each word of `level`. */
static __device__ __forceinline__ uint32_t eight_bits(const uint32_t out[4], uint4 level)
{
    const uint32_t most[4] = {level.x, level.y, level.z, level.w};
    uint32_t bits = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        bits |= (uint32_t)(out[i] << 16 < most[i] << 16) << (2 * i);
        /* the low half does not matter when the other's is 0 */
        bits |= (uint32_t)(out[i] < (most[i] & 0xffff0000u)) << (2 * i + 1);
    }
    return bits;
}

/* The bits of word w that are in use. */
static __device__ __forceinline__ uint32_t word_mask(const ec_aco_args *a, uint32_t w)
{
    uint32_t used = a->n_bits - 32 * w;

    return used >= 32 ? ~0u : (1u << used) - 1;
}

/* A word of candidate c, drawn by the levels of its colony's word; bits that are not in use too. */
static __device__ __noinline__ uint32_t draw_word(ec_random_stream stream, uint32_t w, uint32_t c,
                                                  const uint16_t *levels)
{
    const uint4 *level = (const uint4 *)levels;
    uint32_t word = 0, out[4];

#pragma unroll
    for (uint32_t b = 0; b < 4; b++) {
        ec_random_words(&stream, 4 * w + b, c, out);
        word |= eight_bits(out, level[b]) << (8 * b);
    }
    return word;
}

/* See repair_set in aco_kernels.c; one thread an ant, whose word w is column[w * ld]. */
static __device__ __noinline__ void repair_set(const ec_aco_args *a, const ec_aco_set *set,
                                               uint32_t c, uint32_t generation, uint32_t *column,
                                               size_t ld)
{
    ec_random_stream stream = ec_aco_stream(a, generation, EC_ACO_DRAW_SET);
    uint32_t ones = 0, out[4] = {0, 0, 0, 0};

    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t place = set->first + i;
        ones += column[place / 32 * ld] >> (place & 31u) & 1u;
    }
    uint32_t kind = ones > set->ones;
    uint32_t need = kind ? ones - set->ones : set->ones - ones;
    uint32_t left = kind ? ones : set->count - ones;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t place = set->first + i, shift = place & 31u;
        uint32_t *word = column + place / 32 * ld;

        if (i % 4 == 0)
            ec_random_words(&stream, set->block + i / 4, c, out);
        uint32_t candidate = (*word >> shift & 1u) == kind;
        uint32_t turn = candidate & (uint32_t)(ec_uniform_below(out[i % 4], left) < need);
        *word ^= turn << shift;
        need -= turn;
        left -= candidate;
    }
}

/* A gene of the ant whose word w is column[w * ld]. */
static __device__ __forceinline__ double
decode_gene(const ec_aco_gene *gene, const uint32_t *column, size_t ld, const double *ratio)
{
    const uint32_t *low = column + gene->first / 32 * ld;
    uint32_t high = ec_aco_spans(gene) ? low[ld] : 0;

    if (gene->kind == EC_ACO_FIXED)
        return gene->min;
    return ec_aco_value(gene, ec_aco_code(gene, *low, high), ratio);
}

/* ---- the best of a warp ---- */

struct place {
    ec_aco_score score;
    uint32_t index;
};

static __device__ __forceinline__ bool place_before(const place &x, const place &y)
{
    return ec_aco_better(x.score, y.score) ||
           (!ec_aco_better(y.score, x.score) && x.index < y.index);
}

static __device__ __forceinline__ place place_none()
{
    place p;

    p.score = ec_aco_none();
    p.index = 0xffffffffu;
    return p;
}

static __device__ __forceinline__ place warp_best(place p)
{
#pragma unroll 1
    for (int step = 16; step > 0; step /= 2) {
        place q;
        q.score.violation = __shfl_xor_sync(ALL_LANES, p.score.violation, step);
        q.score.cost = __shfl_xor_sync(ALL_LANES, p.score.cost, step);
        q.index = __shfl_xor_sync(ALL_LANES, p.index, step);
        p = place_before(q, p) ? q : p;
    }
    return p;
}

#endif
