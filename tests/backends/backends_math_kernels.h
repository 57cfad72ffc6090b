/* backends_math_kernels.h: kernels that put detmath.h, random.h and fastmath.h through every
 * backend. A checksum over ten million arguments stands for their bits. */
#ifndef EC_BACKENDS_MATH_KERNELS_H
#define EC_BACKENDS_MATH_KERNELS_H

#include "core/kernel.h"
#include "core/fastmath.h"
#include "core/random.h"

/* detmath_hash: each lane draws `rounds` pairs of arguments and folds all functions of them into
 * hash[lane]. */
typedef struct ec_test_detmath_args {
    ec_random_stream stream;
    uint32_t rounds;
    uint64_t *hash;
} ec_test_detmath_args;

EC_FN uint64_t ec_test_fold(uint64_t hash, double value)
{
    /* NaN payloads belong to the hardware */
    uint64_t bits = value != value ? 0x7ff8000000000000u : ec_det_bits(value);
    return ((hash ^ bits) + (hash << 7)) ^ (hash >> 9);
}

/* One argument in four is any bit pattern, the others are where the functions do their work. */
EC_FN double ec_test_argument(uint32_t high, uint32_t low, uint32_t kind)
{
    double any = ec_det_from_bits((uint64_t)high << 32 | low);
    double unit = 2.0 * ec_uniform_53(high, low) - 1.0;
    double wide = unit * 1e8, middle = unit * 30.0;
    double x = kind == 1 ? wide : any;
    x = kind == 2 ? middle : x;
    return kind == 3 ? unit : x;
}

EC_FN void ec_test_detmath_body(const ec_test_detmath_args *a, size_t lane0, size_t y)
{
    uint64_t hash[EC_LANES];

    (void)y;
    for (int l = 0; l < EC_LANES; l++)
        hash[l] = 0xcbf29ce484222325u;
    for (uint32_t round = 0; round < a->rounds; round++) {
        uint32_t words[4][EC_LANES];
        double x[EC_LANES], z[EC_LANES];
        ec_random_lanes(&a->stream, round, (uint32_t)lane0, words);
        for (int l = 0; l < EC_LANES; l++) {
            x[l] = ec_test_argument(words[0][l], words[1][l], round & 3);
            z[l] = ec_test_argument(words[2][l], words[3][l], (round >> 2) & 3);
        }
#define EC_TEST_FOLD(expression)                                                                   \
    for (int l = 0; l < EC_LANES; l++)                                                             \
    hash[l] = ec_test_fold(hash[l], expression)
        EC_TEST_FOLD(ec_det_exp(x[l]));
        EC_TEST_FOLD(ec_det_expm1(x[l]));
        EC_TEST_FOLD(ec_det_log(x[l]));
        EC_TEST_FOLD(ec_det_log2(x[l]));
        EC_TEST_FOLD(ec_det_log10(x[l]));
        EC_TEST_FOLD(ec_det_log1p(x[l]));
        EC_TEST_FOLD(ec_det_sin(x[l]));
        EC_TEST_FOLD(ec_det_cos(x[l]));
        EC_TEST_FOLD(ec_det_tan(x[l]));
        EC_TEST_FOLD(ec_det_sinpi(x[l]));
        EC_TEST_FOLD(ec_det_cospi(x[l]));
        EC_TEST_FOLD(ec_det_tanpi(x[l]));
        EC_TEST_FOLD(ec_det_atan(x[l]));
        EC_TEST_FOLD(ec_det_atan2(x[l], z[l]));
        EC_TEST_FOLD(ec_det_asin(x[l]));
        EC_TEST_FOLD(ec_det_acos(x[l]));
        EC_TEST_FOLD(ec_det_sinh(x[l]));
        EC_TEST_FOLD(ec_det_cosh(x[l]));
        EC_TEST_FOLD(ec_det_tanh(x[l]));
        EC_TEST_FOLD(ec_det_pow(x[l], z[l]));
        EC_TEST_FOLD(ec_det_pow(fabs(x[l]), z[l]));
        EC_TEST_FOLD(ec_det_sqrt(x[l]));
        EC_TEST_FOLD(ec_det_floor(x[l]));
        EC_TEST_FOLD(ec_det_ceil(x[l]));
        EC_TEST_FOLD(ec_det_rint(x[l]));
        EC_TEST_FOLD(ec_turns_reduce(x[l]));
        EC_TEST_FOLD(ec_normal(ec_uniform(words[0][l])));
        EC_TEST_FOLD(ec_normal(ec_uniform_52_open(words[0][l], words[1][l])));
        EC_TEST_FOLD(ec_cauchy(ec_uniform(words[1][l])));
        EC_TEST_FOLD((double)ec_uniform_below(words[2][l], words[3][l]));
#undef EC_TEST_FOLD
    }
    for (int l = 0; l < EC_LANES; l++)
        a->hash[lane0 + (size_t)l] = hash[l];
}

/* philox: the four words of each (block, candidate), as rows of `ld`. */
typedef struct ec_test_philox_args {
    ec_random_stream stream;
    size_t ld;
    uint32_t *words; /* [ny][4][ld] */
} ec_test_philox_args;

EC_FN void ec_test_philox_body(const ec_test_philox_args *a, size_t lane0, size_t y)
{
    uint32_t words[4][EC_LANES];

    ec_random_lanes(&a->stream, (uint32_t)y, (uint32_t)lane0, words);
    for (int w = 0; w < 4; w++)
        for (int l = 0; l < EC_LANES; l++)
            a->words[(4 * y + (size_t)w) * a->ld + lane0 + (size_t)l] = words[w][l];
}

/* turns: sine and cosine of (lane + y lanes) / (lanes ny) - 1/2 turns in both precisions. */
typedef struct ec_test_turns_args {
    size_t lanes, ld, ny;
    double *f64; /* [ny][2][ld] */
    float *f32;  /* [ny][2][ld] */
} ec_test_turns_args;

EC_FN double ec_test_turn(const ec_test_turns_args *a, size_t lane, size_t y)
{
    return (double)(y * a->lanes + lane) / (double)(a->lanes * a->ny) - 0.5;
}

EC_FN void ec_test_turns_body(const ec_test_turns_args *a, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l, at = 2 * y * a->ld + lane;
        double t = ec_turns_reduce(ec_test_turn(a, lane, y));
        ec_sincos_turns_f64(t, &a->f64[at], &a->f64[at + a->ld]);
        ec_sincos_turns_f32((float)t, &a->f32[at], &a->f32[at + a->ld]);
    }
}

/* count: adds 1 to cell (lane, y), and serial_count the number of its calls to cell 0. */
typedef struct ec_test_count_args {
    size_t ld;
    int32_t *cells;
} ec_test_count_args;

EC_FN void ec_test_count_body(const ec_test_count_args *a, size_t lane0, size_t y)
{
    for (int l = 0; l < EC_LANES; l++)
        a->cells[y * a->ld + lane0 + (size_t)l] += 1;
}

EC_FN void ec_test_serial_body(const ec_test_count_args *a, size_t lane0, size_t y)
{
    a->cells[0] += 1 + (int32_t)lane0 + (int32_t)y;
}

#endif
