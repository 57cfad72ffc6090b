/* test_random.c: Philox against Random123, and the distributions of random.h. */
#include "core/random.h"

#include <Random123/philox.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* A million counters spread by the generator itself, and the corners. */
static void test_random123(void **unused)
{
    (void)unused;
    philox4x32_key_t key = {{0, 0}};
    philox4x32_ctr_t counter = {{0, 0, 0, 0}};
    for (int n = 0; n < 1000000; n++) {
        uint32_t got[4];
        ec_philox4x32(counter.v, key.v, got);
        philox4x32_ctr_t want = philox4x32_R(10, counter, key);
        for (int w = 0; w < 4; w++)
            assert_true(got[w] == want.v[w]);
        key.v[0] = n % 3 ? want.v[2] : 0xffffffffu;
        key.v[1] = n % 5 ? want.v[3] : (uint32_t)n;
        counter = want;
        counter.v[n & 3] = n % 7 ? (uint32_t)n : 0xffffffffu;
    }
}

/* Known answers of the Random123 distribution (kat_vectors, philox4x32 10). */
static void test_known_answers(void **unused)
{
    (void)unused;
    static const uint32_t cases[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
        {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0x408f276du,
         0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu},
        {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u, 0xa4093822u, 0x299f31d0u, 0xd16cfe09u,
         0x94fdccebu, 0x5001e420u, 0x24126ea1u},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t got[4];
        ec_philox4x32(cases[i], cases[i] + 4, got);
        for (int w = 0; w < 4; w++)
            assert_int_equal(got[w], cases[i][6 + w]);
    }
}

/* The SIMD version of a strip is the scalar one, also where the candidate number wraps. */
static void test_lanes(void **unused)
{
    (void)unused;
    static const uint32_t starts[] = {0, 32, 0x7ffffff0u, 0xfffffff0u};
    for (uint32_t n = 0; n < 20000; n++) {
        ec_random_stream stream = ec_random_make(0x9e3779b97f4a7c15u * n, n * 77, n, n >> 3);
        uint32_t first = n < 4 ? starts[n] : 32 * n, lanes[4][EC_LANES], words[4];
        ec_random_lanes(&stream, n * 2654435761u, first, lanes);
        for (uint32_t l = 0; l < EC_LANES; l++) {
            ec_random_words(&stream, n * 2654435761u, first + l, words);
            for (int w = 0; w < 4; w++)
                assert_int_equal(lanes[w][l], words[w]);
        }
    }
}

/* Each field of a stream has its own place in the counter or the key. */
static void test_streams_differ(void **unused)
{
    (void)unused;
    ec_random_stream streams[] = {
        ec_random_make(1, 0, 0, 0), ec_random_make(2, 0, 0, 0), ec_random_make(1ull << 32, 0, 0, 0),
        ec_random_make(1, 1, 0, 0), ec_random_make(1, 0, 1, 0), ec_random_make(1, 0, 0, 1),
    };
    enum { N = sizeof streams / sizeof *streams };
    uint32_t words[N][4];
    for (int i = 0; i < N; i++) {
        ec_random_words(&streams[i], 5, 6, words[i]);
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(words[i], words[j], sizeof words[i]);
    }
}

static void test_uniform_edges(void **unused)
{
    (void)unused;
    assert_true(ec_uniform(0) == 0x1p-33);
    assert_true(ec_uniform(0xffffffffu) == 1 - 0x1p-33);
    assert_true(ec_uniform_53(0, 0) == 0);
    assert_true(ec_uniform_53(0xffffffffu, 0xffffffffu) == 1 - 0x1p-53);
    assert_true(ec_uniform_53(0x80000000u, 0) == 0.5);
    assert_true(ec_uniform_52_open(0, 0) == 0x1p-53);
    assert_true(ec_uniform_52_open(0xffffffffu, 0xffffffffu) == 1 - 0x1p-53);
    assert_int_equal(ec_uniform_below(0, 7), 0);
    assert_int_equal(ec_uniform_below(0xffffffffu, 7), 6);
    assert_int_equal(ec_uniform_below(0xffffffffu, 0xffffffffu), 0xfffffffeu);
    assert_int_equal(ec_uniform_below(0xffffffffu, 1), 0);
}

/* Moments over 4 million draws, within 5 standard errors. */
static void test_moments(void **unused)
{
    (void)unused;
    enum { BLOCKS = 1000000, DRAWS = 4 * BLOCKS, BINS = 10 };
    ec_random_stream stream = ec_random_make(7, 0, 0, 0);
    double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
    double product = 0, last = 0.5, cauchy_inside = 0;
    int bins[BINS] = {0};
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t words[4];
        ec_random_words(&stream, b, b % 1000, words);
        for (int w = 0; w < 4; w++) {
            double u = ec_uniform(words[w]), z = ec_normal(u);
            sum += u;
            squares += (u - 0.5) * (u - 0.5);
            product += (u - 0.5) * (last - 0.5);
            last = u;
            normal_sum += z;
            normal_squares += z * z;
            normal_fourth += z * z * z * z;
            cauchy_inside += fabs(ec_cauchy(u)) < 1;
            bins[ec_uniform_below(words[w], BINS)]++;
        }
    }
    double root = sqrt((double)DRAWS);
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(1 / 12.0) / root);
    assert_true(fabs(squares / DRAWS - 1 / 12.0) < 5 * sqrt(1 / 180.0) / root);
    assert_true(fabs(product / DRAWS) < 5 / 12.0 / root);
    assert_true(fabs(normal_sum / DRAWS) < 5 / root);
    assert_true(fabs(normal_squares / DRAWS - 1) < 5 * sqrt(2) / root);
    assert_true(fabs(normal_fourth / DRAWS - 3) < 5 * sqrt(96) / root);
    assert_true(fabs(cauchy_inside / DRAWS - 0.5) < 5 * 0.5 / root);
    for (int i = 0; i < BINS; i++)
        assert_true(fabs(bins[i] - 0.1 * DRAWS) < 5 * sqrt(0.09 * DRAWS));
}

/* The inverse is checked by the distribution function itself, in both tails. */
static void test_normal_accuracy(void **unused)
{
    (void)unused;
    double worst = 0;
    for (int n = 1; n < 400000; n++) {
        double u = n & 1 ? n / 400000.0 : ldexp(0.5 + 0.5 * n / 400000.0, -(n % 1000));
        double z = ec_normal(u);
        long double p = 0.5L * erfcl(-z / sqrtl(2)), q = 0.5L * erfcl(z / sqrtl(2));
        long double density = expl(-0.5L * z * z) / sqrtl(2 * 3.14159265358979323846L);
        long double off = u < 0.5 ? p - u : (1 - (long double)u) - q;
        double error = (double)fabsl(off / density);
        worst = fmax(worst, error / fmax(fabs(z), 0.01));
    }
    printf("normal: relative error %.3g\n", worst);
    assert_true(worst < 2e-15);
    assert_true(ec_normal(0.5) == 0);
    for (double u = 0.5; u > 1e-15; u *= 0.7)
        assert_true(fabs(ec_normal(u) + ec_normal(1 - u)) <= 1e-15 / u);
}

static void test_cauchy(void **unused)
{
    (void)unused;
    assert_true(ec_cauchy(0.5) == 0);
    assert_true(fabs(ec_cauchy(0.75) - 1) < 1e-15);
    assert_true(fabs(ec_cauchy(0.25) + 1) < 1e-15);
    assert_true(isfinite(ec_cauchy(ec_uniform(0))) && isfinite(ec_cauchy(ec_uniform(0xffffffffu))));
    for (double u = 0.001; u < 1; u += 0.001)
        assert_true(fabs(ec_cauchy(u) - tan(EC_PI * (u - 0.5))) <=
                    1e-15 * (1 + ec_cauchy(u) * ec_cauchy(u)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random123),       cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_lanes),           cmocka_unit_test(test_streams_differ),
        cmocka_unit_test(test_uniform_edges),   cmocka_unit_test(test_moments),
        cmocka_unit_test(test_normal_accuracy), cmocka_unit_test(test_cauchy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
