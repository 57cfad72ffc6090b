/* test_expansion.c: the expansion in z against the C library's Bessel functions, the published
 * numbers of terms, and the exponential itself. */
#define _XOPEN_SOURCE 700
#include "evaluators/array_pattern/array_parts.h"
#include "evaluators/array_pattern/array_pattern_expansion.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void test_bessel(void **unused)
{
    (void)unused;
    double j[150];
    for (double x = -60.0; x <= 60.0; x += 0.37) {
        ec_bessel_j(x, 150, j);
        for (int n = 0; n < 150; n++)
            assert_true(fabs(j[n] - jn(n, x)) < 4e-15);
    }
    for (double x = 1e-12; x < 1.0; x *= 1.7) {
        ec_bessel_j(x, 9, j);
        for (int n = 0; n < 9; n++)
            assert_true(fabs(j[n] - jn(n, x)) < 1e-15);
    }
    ec_bessel_j(0.0, 3, j);
    assert_true(j[0] == 1.0 && j[1] == 0.0 && j[2] == 0.0);
}

/* Terms for errors of 1e-2, 1e-3, 1e-5, 1e-7. The bound adds what may cancel, so one term more than
 * the least is allowed. */
static void test_terms(void **unused)
{
    (void)unused;
    static const double x[6] = {0.25, 0.785, 1.571, 3.142, 6.283, 12.57};
    static const double tolerance[4] = {1e-2, 1e-3, 1e-5, 1e-7};
    static const int taylor[6][4] = {{3, 4, 5, 7},     {5, 6, 8, 10},    {7, 9, 11, 13},
                                     {11, 13, 16, 19}, {20, 22, 25, 28}, {36, 39, 43, 46}};
    static const int chebyshev[6][4] = {{3, 3, 5, 6},   {4, 5, 7, 8},     {5, 6, 8, 10},
                                        {7, 9, 11, 14}, {11, 13, 16, 19}, {18, 21, 24, 28}};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++) {
            int more = ec_expansion_terms(EC_EXPANSION_TAYLOR, x[i], tolerance[k], 99);
            assert_in_range(more, taylor[i][k], taylor[i][k] + 1);
            more = ec_expansion_terms(EC_EXPANSION_CHEBYSHEV, x[i], tolerance[k], 99);
            assert_in_range(more, chebyshev[i][k], chebyshev[i][k] + 1);
        }
    assert_int_equal(ec_expansion_terms(EC_EXPANSION_CHEBYSHEV, 500.0, 1e-3, 64), 65);
    assert_int_equal(ec_expansion_terms(EC_EXPANSION_CHEBYSHEV, 0.0, 1e-12, 64), 1);
}

/* The error stays below its bound, and the bound is not idle. */
static void test_bound(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 2; kind++)
        for (double x = 0.1; x < 14.0; x *= 1.6)
            for (int terms = (int)x + 1; terms < (int)x + 14; terms++) {
                double worst = 0.0, bound = ec_expansion_error((ec_array_expansion)kind, x, terms);
                for (double omega = -1.0; omega <= 1.0; omega += 0.0625)
                    for (double zeta = -1.0; zeta <= 1.0; zeta += 0.0625) {
                        double factor[64], before = kind ? 0.0 : zeta, here = 1.0;
                        double complex sum = 0.0, turn = 1.0;
                        ec_expansion_factors((ec_array_expansion)kind, x * omega, terms, factor);
                        for (int p = 0; p < terms; p++) {
                            sum += turn * factor[p] * here;
                            turn *= I;
                            double next = kind ? zeta * here : 2.0 * zeta * here - before;
                            before = here;
                            here = next;
                        }
                        worst = fmax(worst, cabs(sum - cexp(I * x * zeta * omega)));
                    }
                assert_true(worst <= bound * (1.0 + 1e-9) + 1e-13 * exp(x));
                assert_true(worst >= 0.15 * bound || worst < 1e-13 * exp(x));
            }
}

static double draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed / 4294967296.0;
}

/* Parts hold each element once, a k-d tree's equally many; every position within reach lies within the
 * depth and the spans, and planes of a plane have no depth. */
static void test_parts(void **state)
{
    enum { N = 203 };
    double middle[3 * N], reach[3 * N];
    int32_t given[N];
    uint32_t seed = 7;

    (void)state;
    for (int m = 0; m < N; m++) {
        double x = 30.0 * draw(&seed), y = 20.0 * draw(&seed);
        middle[m] = x;
        middle[N + m] = y;
        middle[2 * N + m] = 0.3 * x - 0.2 * y + 0.01 * x * x;
        given[m] = m % 3 * 100 - 100;
        for (int k = 0; k < 3; k++)
            reach[k * N + m] = 0.2 * draw(&seed);
    }
    for (int i = 0; i < 24; i++) {
        const ec_pattern_positions at = {N, middle, i < 12 ? reach : NULL};
        const ec_pattern_cut cuts[] = {{EC_PARTITION_GRID, NULL, 3, 4},
                                       {EC_PARTITION_KD, NULL, 3, 4},
                                       {EC_PARTITION_AUTO, given, 1, 1}};
        int tilt = i % 4, seen[N] = {0};
        ec_pattern_parts parts;
        assert_int_equal(ec_pattern_parts_make(&at, &cuts[i / 4 % 3], tilt, &parts), EC_OK);
        assert_int_equal(parts.count, i / 4 % 3 == 2 ? 3 : 12);
        for (int32_t k = 0; k < parts.count; k++) {
            const ec_pattern_part *p = &parts.part[k];
            if (i / 4 % 3 == 1)
                assert_in_range(p->count, N / 12, N / 12 + 1);
            assert_true((tilt & EC_TILT_X) || (p->x == 0.0 && p->slope_x == 0.0));
            assert_true((tilt & EC_TILT_Y) || (p->y == 0.0 && p->slope_y == 0.0));
            for (int32_t l = p->first; l < p->first + p->count; l++) {
                int32_t m = parts.order[l];
                seen[m]++;
                for (int corner = 0; corner < 8; corner++) {
                    double d[3];
                    for (int c = 0; c < 3; c++)
                        d[c] = middle[c * N + m] +
                               (at.reach ? (corner >> c & 1 ? 1 : -1) * reach[c * N + m] : 0.0);
                    double dx = d[0] - p->x, dy = d[1] - p->y;
                    double rest = d[2] - p->z - p->slope_x * dx - p->slope_y * dy;
                    assert_true(fabs(rest) <= p->depth && p->depth <= parts.depth);
                    assert_true(!(tilt & EC_TILT_X) || fabs(dx) <= parts.span[0]);
                    assert_true(!(tilt & EC_TILT_Y) || fabs(dy) <= parts.span[1]);
                }
            }
        }
        for (int m = 0; m < N; m++)
            assert_int_equal(seen[m], 1);
        ec_pattern_parts_free(&parts);
    }
    for (int m = 0; m < N; m++)
        middle[2 * N + m] = 1.0 + 0.3 * middle[m] - 0.2 * middle[N + m];
    const ec_pattern_positions flat = {N, middle, NULL};
    const ec_pattern_cut whole = {EC_PARTITION_KD, NULL, 1, 1};
    ec_pattern_parts parts;
    assert_int_equal(ec_pattern_parts_make(&flat, &whole, EC_TILT_BOTH, &parts), EC_OK);
    assert_true(parts.depth < 1e-9 && fabs(parts.slope[0] - 0.3) < 1e-9);
    ec_pattern_parts_free(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bessel), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_bound), cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
