/* random.h: counter-based random numbers: the same bits on every CPU, every GPU, in any order.
 *
 * A draw is a function of (seed, island, purpose, generation, candidate, block) and nothing else;
 * there is no state to save. Each block gives four words of 32 bits. Every distribution takes one
 * draw and inverts its distribution function: no rejection loops.
 *
 * Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011. Device code calls cuRAND's stateless function; the host has its own version, because
 * gcc does not find the 32 x 32 -> 64 bit SIMD multiply in a portable one (half the speed at
 * ISA level v3). tests/unit/test_random.c compares it with Random123.
 * Normal: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988 (PPND16, relative 1e-15).
 */
#ifndef EC_RANDOM_H
#define EC_RANDOM_H

#include "detmath.h"

#if defined(__CUDACC__)
#include <curand_philox4x32_x.h>
#elif defined(__SSE2__)
#include <immintrin.h>
#endif

/* out = Philox4x32-10(counter, key). */
EC_FN void ec_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
#if defined(__CUDA_ARCH__)
    uint4 c = make_uint4(counter[0], counter[1], counter[2], counter[3]);
    c = curand_Philox4x32_10(c, make_uint2(key[0], key[1]));
    out[0] = c.x;
    out[1] = c.y;
    out[2] = c.z;
    out[3] = c.w;
#else
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * x0, p1 = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
#endif
}

/* ---- streams ---- */

/* What a kernel gets in its arguments; plain data. */
typedef struct ec_random_stream {
    uint32_t key[2]; /* the seed */
    uint32_t generation;
    uint32_t purpose; /* low 16 bits: which use within a generation; high 16: the island */
} ec_random_stream;

EC_FN ec_random_stream ec_random_make(uint64_t seed, uint32_t generation, uint32_t purpose,
                                      uint32_t island)
{
    ec_random_stream stream;

    stream.key[0] = (uint32_t)seed;
    stream.key[1] = (uint32_t)(seed >> 32);
    stream.generation = generation;
    stream.purpose = (purpose & 0xffffu) | island << 16;
    return stream;
}

/* Four words for one candidate. */
EC_FN void ec_random_words(const ec_random_stream *stream, uint32_t block, uint32_t candidate,
                           uint32_t out[4])
{
    uint32_t counter[4];

    counter[0] = block;
    counter[1] = candidate;
    counter[2] = stream->generation;
    counter[3] = stream->purpose;
    ec_philox4x32(counter, stream->key, out);
}

/* SIMD words: 64-bit slots whose low halves hold the state (the multiply ignores the high halves);
 * even and odd lanes apart, brought together by the store. */
#if !defined(__CUDACC__) && defined(__AVX512F__)
#define EC_SLOTS               8
#define EC_SLOT                __m512i
#define EC_SLOT_ALL(x)         _mm512_set1_epi64((long long)(x))
#define EC_SLOT_LOAD(p)        _mm512_loadu_si512(p)
#define EC_SLOT_STORE(p, x)    _mm512_storeu_si512(p, x)
#define EC_SLOT_ADD(a, b)      _mm512_add_epi64(a, b)
#define EC_SLOT_MULTIPLY(a, b) _mm512_mul_epu32(a, b)
#define EC_SLOT_XOR(a, b)      _mm512_xor_si512(a, b)
#define EC_SLOT_HIGH(a)        _mm512_srli_epi64(a, 32)
#define EC_SLOT_MERGE(low, up) _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(up, 32))
#elif !defined(__CUDACC__) && defined(__AVX2__)
#define EC_SLOTS               4
#define EC_SLOT                __m256i
#define EC_SLOT_ALL(x)         _mm256_set1_epi64x((long long)(x))
#define EC_SLOT_LOAD(p)        _mm256_loadu_si256((const __m256i *)(p))
#define EC_SLOT_STORE(p, x)    _mm256_storeu_si256((__m256i *)(p), x)
#define EC_SLOT_ADD(a, b)      _mm256_add_epi64(a, b)
#define EC_SLOT_MULTIPLY(a, b) _mm256_mul_epu32(a, b)
#define EC_SLOT_XOR(a, b)      _mm256_xor_si256(a, b)
#define EC_SLOT_HIGH(a)        _mm256_srli_epi64(a, 32)
#define EC_SLOT_MERGE(low, up) _mm256_blend_epi32(low, _mm256_slli_epi64(up, 32), 0xaa)
#elif !defined(__CUDACC__) && defined(__SSE2__)
#define EC_SLOTS               2
#define EC_SLOT                __m128i
#define EC_SLOT_ALL(x)         _mm_set1_epi64x((long long)(x))
#define EC_SLOT_LOAD(p)        _mm_loadu_si128((const __m128i *)(p))
#define EC_SLOT_STORE(p, x)    _mm_storeu_si128((__m128i *)(p), x)
#define EC_SLOT_ADD(a, b)      _mm_add_epi64(a, b)
#define EC_SLOT_MULTIPLY(a, b) _mm_mul_epu32(a, b)
#define EC_SLOT_XOR(a, b)      _mm_xor_si128(a, b)
#define EC_SLOT_HIGH(a)        _mm_srli_epi64(a, 32)
#define EC_SLOT_MERGE(low, up)                                                                     \
    _mm_or_si128(_mm_and_si128(low, _mm_set1_epi64x(0xffffffffLL)), _mm_slli_epi64(up, 32))
#endif

/* Four words for each of the lanes candidate0 .. candidate0 + EC_LANES - 1: out[word][lane]. The
 * way to draw in a kernel. */
EC_FN void ec_random_lanes(const ec_random_stream *stream, uint32_t block, uint32_t candidate0,
                           uint32_t out[4][EC_LANES])
{
#ifdef EC_SLOTS
    static const uint64_t even_lanes[8] = {0, 2, 4, 6, 8, 10, 12, 14};
    EC_SLOT m0 = EC_SLOT_ALL(0xD2511F53u), m1 = EC_SLOT_ALL(0xCD9E8D57u);

    for (int lane = 0; lane < EC_LANES; lane += 2 * EC_SLOTS) {
        uint32_t k0 = stream->key[0], k1 = stream->key[1];
        EC_SLOT candidate =
            EC_SLOT_ADD(EC_SLOT_LOAD(even_lanes), EC_SLOT_ALL(candidate0 + (uint32_t)lane));
        EC_SLOT a0 = EC_SLOT_ALL(block), b0 = a0;
        EC_SLOT a1 = candidate, b1 = EC_SLOT_ADD(candidate, EC_SLOT_ALL(1));
        EC_SLOT a2 = EC_SLOT_ALL(stream->generation), b2 = a2;
        EC_SLOT a3 = EC_SLOT_ALL(stream->purpose), b3 = a3;
        for (int round = 0; round < 10; round++) {
            EC_SLOT key0 = EC_SLOT_ALL(k0), key1 = EC_SLOT_ALL(k1);
            EC_SLOT p0 = EC_SLOT_MULTIPLY(m0, a0), p1 = EC_SLOT_MULTIPLY(m1, a2);
            EC_SLOT q0 = EC_SLOT_MULTIPLY(m0, b0), q1 = EC_SLOT_MULTIPLY(m1, b2);
            a0 = EC_SLOT_XOR(EC_SLOT_XOR(EC_SLOT_HIGH(p1), a1), key0);
            a2 = EC_SLOT_XOR(EC_SLOT_XOR(EC_SLOT_HIGH(p0), a3), key1);
            b0 = EC_SLOT_XOR(EC_SLOT_XOR(EC_SLOT_HIGH(q1), b1), key0);
            b2 = EC_SLOT_XOR(EC_SLOT_XOR(EC_SLOT_HIGH(q0), b3), key1);
            a1 = p1;
            a3 = p0;
            b1 = q1;
            b3 = q0;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        EC_SLOT_STORE(&out[0][lane], EC_SLOT_MERGE(a0, b0));
        EC_SLOT_STORE(&out[1][lane], EC_SLOT_MERGE(a1, b1));
        EC_SLOT_STORE(&out[2][lane], EC_SLOT_MERGE(a2, b2));
        EC_SLOT_STORE(&out[3][lane], EC_SLOT_MERGE(a3, b3));
    }
#else
    for (int l = 0; l < EC_LANES; l++) {
        uint32_t words[4];
        ec_random_words(stream, block, candidate0 + (uint32_t)l, words);
        for (int w = 0; w < 4; w++)
            out[w][l] = words[w];
    }
#endif
}

#ifdef EC_SLOTS
#undef EC_SLOTS
#undef EC_SLOT
#undef EC_SLOT_ALL
#undef EC_SLOT_LOAD
#undef EC_SLOT_STORE
#undef EC_SLOT_ADD
#undef EC_SLOT_MULTIPLY
#undef EC_SLOT_XOR
#undef EC_SLOT_HIGH
#undef EC_SLOT_MERGE
#endif

/* ---- distributions ---- */

/* An unsigned word as float64; there is no such SIMD instruction below AVX-512. */
EC_FN double ec_random_to_double(uint32_t word)
{
    return ec_det_from_bits(0x4330000000000000u | word) - EC_DET_2P52;
}

/* Uniform in (0, 1): the middles of 2^32 equal cells. */
EC_FN double ec_uniform(uint32_t word)
{
    return (ec_det_from_bits(0x4330000000000000u | word) - (EC_DET_2P52 - 0.5)) * 0x1p-32;
}

/* Uniform in [0, 1) with 53 bits, from two words. */
EC_FN double ec_uniform_53(uint32_t high, uint32_t low)
{
    return ec_random_to_double(high) * 0x1p-32 + ec_random_to_double(low >> 11) * 0x1p-53;
}

/* Uniform in (0, 1) with 52 bits: the middles of 2^52 equal cells. */
EC_FN double ec_uniform_52_open(uint32_t high, uint32_t low)
{
    return ec_random_to_double(high) * 0x1p-32 + (ec_random_to_double(low >> 12) + 0.5) * 0x1p-52;
}

/* An integer in 0 .. n - 1, each with probability 1/n to within 2^-32. */
EC_FN uint32_t ec_uniform_below(uint32_t word, uint32_t n)
{
    return (uint32_t)((uint64_t)word * n >> 32);
}

/* a in the centre, b in the near tail, c in the far tail. */
EC_FN double ec_normal_pick(bool centre, bool near, double a, double b, double c)
{
    double tail = near ? b : c;
    return centre ? a : tail;
}

/* Standard normal by inversion of u in (0, 1). Three rational functions of degree 7 over 7; their
 * coefficients are selected, so that one evaluation serves all lanes. */
EC_FN double ec_normal(double u)
{
    double q = u - 0.5;
    double smaller = q < 0.0 ? u : 1.0 - u;
    double depth = ec_det_sqrt(-ec_det_log(smaller));
    bool centre = fabs(q) <= 0.425, near = depth <= 5.0;
    double r = ec_normal_pick(centre, near, 0.180625 - q * q, depth - 1.6, depth - 5.0);

#define EC_PICK(a, b, c) ec_normal_pick(centre, near, a, b, c)
    double top =
        EC_PICK(2.5090809287301226727e+3, 7.74545014278341407640e-4, 2.01033439929228813265e-7);
    top = top * r +
          EC_PICK(3.3430575583588128105e+4, 2.27238449892691845833e-2, 2.71155556874348757815e-5);
    top = top * r +
          EC_PICK(6.7265770927008700853e+4, 2.41780725177450611770e-1, 1.24266094738807843860e-3);
    top = top * r +
          EC_PICK(4.5921953931549871457e+4, 1.27045825245236838258e+0, 2.65321895265761230930e-2);
    top = top * r +
          EC_PICK(1.3731693765509461125e+4, 3.64784832476320460504e+0, 2.96560571828504891230e-1);
    top = top * r +
          EC_PICK(1.9715909503065514427e+3, 5.76949722146069140550e+0, 1.78482653991729133580e+0);
    top = top * r +
          EC_PICK(1.3314166789178437745e+2, 4.63033784615654529590e+0, 5.46378491116411436990e+0);
    top = top * r +
          EC_PICK(3.3871328727963666080e+0, 1.42343711074968357734e+0, 6.65790464350110377720e+0);
    double bottom =
        EC_PICK(5.2264952788528545610e+3, 1.05075007164441684324e-9, 2.04426310338993978564e-15);
    bottom = bottom * r + EC_PICK(2.8729085735721942674e+4, 5.47593808499534494600e-4,
                                  1.42151175831644588870e-7);
    bottom = bottom * r + EC_PICK(3.9307895800092710610e+4, 1.51986665636164571966e-2,
                                  1.84631831751005468180e-5);
    bottom = bottom * r + EC_PICK(2.1213794301586595867e+4, 1.48103976427480074590e-1,
                                  7.86869131145613259100e-4);
    bottom = bottom * r + EC_PICK(5.3941960214247511077e+3, 6.89767334985100004550e-1,
                                  1.48753612908506148525e-2);
    bottom = bottom * r + EC_PICK(6.8718700749205790830e+2, 1.67638483018380384940e+0,
                                  1.36929880922735805310e-1);
    bottom = bottom * r + EC_PICK(4.2313330701600911252e+1, 2.05319162663775882187e+0,
                                  5.99832206555887937690e-1);
    bottom = bottom * r + 1.0;
#undef EC_PICK
    double ratio = top / bottom;
    double inner = q * ratio, outer = copysign(ratio, q);
    return centre ? inner : outer;
}

/* Standard Cauchy by inversion of u in (0, 1). */
EC_FN double ec_cauchy(double u)
{
    return ec_det_tanpi(u - 0.5);
}

#endif
