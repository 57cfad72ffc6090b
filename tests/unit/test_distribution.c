/* Distributions: their moments against exact ones, their ends, failures counted, errors. */
#include "distribution.h"
#include "sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 4096 };

/* n samples of a distribution from a Latin hypercube; to be freed. */
static double *draw(const ec_distribution *d, uint64_t seed)
{
    ec_sampling_info info = {.method = EC_SAMPLING_LHS,
                             .dimensions = ec_distribution_dimensions(d),
                             .n = N,
                             .seed = seed};
    size_t elements = d->count > 0 ? (size_t)d->count : 1;
    double *points = malloc((size_t)info.dimensions * N * sizeof *points);
    double *to = malloc(elements * N * sizeof *to);

    assert_int_equal(ec_sampling_fill(&info, points), EC_OK);
    assert_int_equal(ec_distribution_fill(d, N, points, to), EC_OK);
    free(points);
    return to;
}

static void moments(const double *x, double *mean, double *std)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < N; i++)
        sum += x[i] / N;
    for (int i = 0; i < N; i++)
        squares += (x[i] - sum) * (x[i] - sum) / N;
    *mean = sum;
    *std = sqrt(squares);
}

static void test_moments(void **state)
{
    /* the truncated one: Johnson, Kotz and Balakrishnan, vol. 1, eq. 13.135: 1 - 2 k phi(k) / (2 Phi(k)
     * - 1) at k = 1.5 */
    static const struct {
        ec_distribution d;
        double mean, std, low, high;
    } cases[] = {
        {{.kind = EC_DISTRIBUTION_NORMAL, .mean = 3, .sigma = 0.5, .limit = INFINITY},
         3,
         0.5,
         0.5,
         5.5},
        {{.kind = EC_DISTRIBUTION_NORMAL, .mean = -1, .sigma = 2, .limit = 3},
         -1,
         2 * 0.742674,
         -4,
         2},
        {{.kind = EC_DISTRIBUTION_NORMAL, .mean = 7, .sigma = 0, .limit = 1}, 7, 0, 7, 7},
        {{.kind = EC_DISTRIBUTION_UNIFORM, .min = -1, .max = 3}, 1, 4 / sqrt(12), -1, 3},
        {{.kind = EC_DISTRIBUTION_TRIANGULAR, .min = 1, .mode = 2, .max = 4},
         7.0 / 3,
         sqrt(7.0 / 18),
         1,
         4},
        {{.kind = EC_DISTRIBUTION_TRIANGULAR, .min = 1, .mode = 1, .max = 1}, 1, 0, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double mean, std, *x = draw(&cases[i].d, 5);
        moments(x, &mean, &std);
        assert_true(fabs(mean - cases[i].mean) < 1e-4);
        assert_true(fabs(std - cases[i].std) < 2e-3);
        for (int k = 0; k < N; k++)
            assert_true(x[k] >= cases[i].low && x[k] <= cases[i].high);
        free(x);
    }
}

static void test_correlation(void **state)
{
    ec_distribution d = {.kind = EC_DISTRIBUTION_NORMAL,
                         .sigma = 2,
                         .limit = INFINITY,
                         .correlation = 0.6,
                         .count = 3};
    double *x = draw(&d, 9), product = 0, square = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        product += x[3 * i] * x[3 * i + 2] / N;
        square += x[3 * i + 1] * x[3 * i + 1] / N;
    }
    assert_true(fabs(product - 0.6 * 4) < 0.15);
    assert_true(fabs(square - 4) < 0.15);
    free(x);
}

static void test_failures(void **state)
{
    enum { COUNT = 10 };
    ec_distribution some = {.kind = EC_DISTRIBUTION_FAILURES, .probability = 0.125, .count = COUNT};
    ec_distribution exact = {.kind = EC_DISTRIBUTION_FAILED, .failed = 3, .count = COUNT};
    double *x = draw(&some, 1), *y = draw(&exact, 1);
    int each[COUNT] = {0}, failed[COUNT] = {0};

    (void)state;
    for (int i = 0; i < N; i++) {
        int now = 0;
        for (int k = 0; k < COUNT; k++) {
            assert_true(x[i * COUNT + k] == 0 || x[i * COUNT + k] == 1);
            each[k] += x[i * COUNT + k] == 0;
            failed[k] += y[i * COUNT + k] == 0;
            now += y[i * COUNT + k] == 0;
        }
        assert_int_equal(now, 3);
    }
    for (int k = 0; k < COUNT; k++) {
        assert_int_equal(each[k], N / 8); /* a Latin hypercube has exactly its share */
        assert_in_range(failed[k], 3 * N / 10 - 150, 3 * N / 10 + 150);
    }
    free(x);
    free(y);
}

static void test_refused(void **state)
{
    static const ec_distribution bad[] = {
        {.kind = EC_DISTRIBUTION_NORMAL, .sigma = -1, .limit = INFINITY},
        {.kind = EC_DISTRIBUTION_NORMAL, .sigma = 1},
        {.kind = EC_DISTRIBUTION_NORMAL, .sigma = 1, .limit = INFINITY, .correlation = 1.5},
        {.kind = EC_DISTRIBUTION_UNIFORM, .min = 1, .max = 0},
        {.kind = EC_DISTRIBUTION_TRIANGULAR, .min = 0, .mode = 2, .max = 1},
        {.kind = EC_DISTRIBUTION_FAILURES, .probability = 1.5, .count = 2},
        {.kind = EC_DISTRIBUTION_FAILED, .failed = 3, .count = 2},
    };
    double points[8] = {0.5}, to[4];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ec_distribution_fill(&bad[i], 1, points, to), EC_ERR_RANGE);
}

/* Coordinates at the ends of [0, 1) stay finite. */
static void test_ends(void **state)
{
    ec_distribution d = {.kind = EC_DISTRIBUTION_NORMAL, .sigma = 1, .limit = INFINITY};
    double points[2] = {0, 1}, to[2];

    (void)state;
    assert_int_equal(ec_distribution_fill(&d, 2, points, to), EC_OK);
    assert_true(to[0] < -8 && to[0] > -9 && to[1] > 8 && to[1] < 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),  cmocka_unit_test(test_correlation),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
