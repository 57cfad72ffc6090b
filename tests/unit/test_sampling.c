/* test_sampling.c: points of the unit cube: published values, equidistribution, what a seed changes,
 * and that a larger set contains the smaller one. */
#include "sampling.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double *draw(ec_sampling method, int32_t d, size_t n, uint64_t seed, bool plain)
{
    ec_sampling_info info = {method, d, n, seed, plain};
    double *points = malloc(sizeof *points * (size_t)d * n);

    assert_non_null(points);
    assert_int_equal(ec_sampling_fill(&info, points), EC_OK);
    for (size_t i = 0; i < (size_t)d * n; i++)
        assert_true(points[i] >= 0 && points[i] < 1);
    return points;
}

/* The values of Joe and Kuo's numbers, as scipy.stats.qmc.Sobol(256, scramble=False) has them too. */
static void test_sobol_values(void **state)
{
    enum { N = 1024, D = 256 };
    static const double eighth[8][8] = {{0, 0, 0, 0, 0, 0, 0, 0},
                                        {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
                                        {0.75, 0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75},
                                        {0.25, 0.75, 0.75, 0.75, 0.25, 0.25, 0.75, 0.25},
                                        {0.375, 0.375, 0.625, 0.875, 0.375, 0.125, 0.375, 0.875},
                                        {0.875, 0.875, 0.125, 0.375, 0.875, 0.625, 0.875, 0.375},
                                        {0.625, 0.125, 0.875, 0.625, 0.625, 0.875, 0.125, 0.125},
                                        {0.125, 0.625, 0.375, 0.125, 0.125, 0.375, 0.625, 0.625}};
    static const int at[] = {5, 100, 777}, dimension[] = {1, 10, 39, 63, 127, 255};
    static const double far[3][6] = {
        {0.875, 0.375, 0.375, 0.625, 0.125, 0.875},
        {0.2578125, 0.4609375, 0.1328125, 0.6484375, 0.4609375, 0.5703125},
        {0.9365234375, 0.7451171875, 0.3583984375, 0.4267578125, 0.1181640625, 0.6357421875}};
    double *p = draw(EC_SAMPLING_SOBOL, D, N, 1, true);

    (void)state;
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 8; d++)
            assert_true(p[d * N + i] == eighth[i][d]);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 6; d++)
            assert_true(p[dimension[d] * N + at[i]] == far[i][d]);
    free(p);
}

/* Whether each of the 2^a x 2^b boxes of two dimensions holds one of the 2^(a + b) points. */
static bool is_net(const double *x, const double *y, int a, int b)
{
    int n = 1 << (a + b);
    char *seen = calloc((size_t)n, 1);
    bool net = true;

    for (int i = 0; i < n; i++) {
        int box = (int)(x[i] * (1 << a)) << b | (int)(y[i] * (1 << b));
        net = net && !seen[box];
        seen[box] = 1;
    }
    free(seen);
    return net;
}

/* Smallest t of the (t, m, 2)-net that two dimensions are: each box of volume 2^(t - m) holds 2^t. */
static int quality(const double *x, const double *y, int m)
{
    for (int t = 0; t < m; t++) {
        bool good = true;
        for (int a = 0; a <= m - t && good; a++) {
            int b = m - t - a, *count = calloc((size_t)1 << (m - t), sizeof *count);
            for (int i = 0; i < 1 << m; i++)
                count[(int)(x[i] * (1 << a)) << b | (int)(y[i] * (1 << b))]++;
            for (int i = 0; i < 1 << (m - t); i++)
                good = good && count[i] == 1 << t;
            free(count);
        }
        if (good)
            return t;
    }
    return m;
}

/* Each coordinate of 2^k points is a permutation of i / 2^k, for every dimension there is; the first
 * two are a (0, m, 2)-net; neighbours stay near the t = 0 that the best numbers have; all that with
 * and without scrambling. */
static void test_sobol_equidistribution(void **state)
{
    enum { M = 10, N = 1 << M, D = 256 };

    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        double *p = draw(EC_SAMPLING_SOBOL, D, N, 7, plain);
        for (int d = 0; d < D; d++) {
            char seen[N] = {0};
            for (int i = 0; i < N; i++) {
                int cell = (int)(p[d * N + i] * N);
                assert_false(seen[cell]);
                seen[cell] = 1;
            }
        }
        for (int a = 0; a <= M; a++)
            assert_true(is_net(p, p + N, a, M - a));
        for (int d = 0; d + 1 < 20; d++)
            assert_true(quality(p + d * N, p + (d + 1) * N, M) <= 5);
        free(p);
    }
}

/* Mean of prod (1 + (x_d - 1/2) / d), whose integral is 1: how far points are from even. */
static double integration_error(const double *p, int d, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double product = 1;
        for (int k = 0; k < d; k++)
            product *= 1 + (p[(size_t)k * n + i] - 0.5) / (k + 1);
        sum += product;
    }
    return fabs(sum / (double)n - 1);
}

static void test_integration(void **state)
{
    enum { N = 4096, D = 6 };
    static const struct {
        ec_sampling method;
        double limit; /* some times what three seeds give; random points have 6e-3 */
    } cases[] = {{EC_SAMPLING_SOBOL, 3e-4}, {EC_SAMPLING_HALTON, 1e-3}, {EC_SAMPLING_LHS, 2e-3}};

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            double *p = draw(cases[c].method, D, N, seed, false);
            assert_true(integration_error(p, D, N) < cases[c].limit);
            free(p);
        }
}

static void test_halton_values(void **state)
{
    static const double expected[6][4] = {{0, 0, 0, 0},
                                          {1.0 / 2, 1.0 / 3, 1.0 / 5, 1.0 / 7},
                                          {1.0 / 4, 2.0 / 3, 2.0 / 5, 2.0 / 7},
                                          {3.0 / 4, 1.0 / 9, 3.0 / 5, 3.0 / 7},
                                          {1.0 / 8, 4.0 / 9, 4.0 / 5, 4.0 / 7},
                                          {5.0 / 8, 7.0 / 9, 1.0 / 25, 5.0 / 7}};
    double *p = draw(EC_SAMPLING_HALTON, 4, 6, 1, true);

    (void)state;
    for (int i = 0; i < 6; i++)
        for (int d = 0; d < 4; d++)
            assert_true(fabs(p[d * 6 + i] - expected[i][d]) < 1e-15);
    free(p);
    /* the last base, 1619, and its cells: scrambled digits permute them */
    p = draw(EC_SAMPLING_HALTON, 256, 1619, 3, false);
    char seen[1619] = {0};
    for (int i = 0; i < 1619; i++)
        seen[(int)(p[255 * 1619 + i] * 1619)] = 1;
    for (int i = 0; i < 1619; i++)
        assert_true(seen[i]);
    free(p);
}

static void test_latin_hypercube(void **state)
{
    enum { N = 1000, D = 5 };
    double *p = draw(EC_SAMPLING_LHS, D, N, 1, false), apart = 0;

    (void)state;
    for (int d = 0; d < D; d++) {
        char seen[N] = {0};
        for (int i = 0; i < N; i++) {
            int cell = (int)(p[d * N + i] * N);
            assert_false(seen[cell]);
            seen[cell] = 1;
            apart += fabs(p[d * N + i] - p[((d + 1) % D) * N + i]);
        }
    }
    assert_true(apart / (N * D) > 0.3); /* two independent numbers are 1/3 apart on average */
    free(p);
}

/* Point i does not depend on n; seeds differ; dimensions too. */
static void test_extends(void **state)
{
    static const ec_sampling methods[] = {EC_SAMPLING_SOBOL, EC_SAMPLING_HALTON,
                                          EC_SAMPLING_RANDOM};

    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double *few = draw(methods[m], 3, 100, 5, false);
        double *many = draw(methods[m], 3, 1000, 5, false);
        double *other = draw(methods[m], 3, 100, 6, false);
        int same = 0;
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < 100; i++) {
                assert_true(few[d * 100 + i] == many[d * 1000 + i]);
                same += few[d * 100 + i] == other[d * 100 + i];
            }
        assert_true(same < 10);
        assert_memory_not_equal(few, few + 100, 100 * sizeof *few);
        free(few);
        free(many);
        free(other);
    }
}

static void test_refusals(void **state)
{
    double point[300];
    ec_sampling_info info = {EC_SAMPLING_SOBOL, 257, 1, 1, false};

    (void)state;
    assert_int_equal(ec_sampling_fill(&info, point), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "257 dimensions, method 'sobol' has 1 to 256"));
    info.method = EC_SAMPLING_LHS;
    assert_int_equal(ec_sampling_fill(&info, point), EC_OK);
    info.n = 0;
    assert_int_equal(ec_sampling_fill(&info, point), EC_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sobol_values),    cmocka_unit_test(test_sobol_equidistribution),
        cmocka_unit_test(test_integration),     cmocka_unit_test(test_halton_values),
        cmocka_unit_test(test_latin_hypercube), cmocka_unit_test(test_extends),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
