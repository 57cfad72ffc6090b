/* S-parameters brought to other references, against circuits whose S-parameters are known for any. */
#include "evaluators/fdtd/fdtd_network.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PORTS = 3, FREQUENCIES = 2 };

typedef ec_c128 circuit(const double *ohms, int i, int j, int f);

static ec_c128 over(double re, double im, double below_re, double below_im)
{
    const double d = below_re * below_re + below_im * below_im;
    return (ec_c128){(re * below_re + im * below_im) / d, (im * below_re - re * below_im) / d};
}

/* 30 + j 40 f ohm to ground. */
static ec_c128 load(const double *ohms, int i, int j, int f)
{
    (void)i;
    (void)j;
    return over(30 - ohms[0], 40.0 * f, 30 + ohms[0], 40.0 * f);
}

/* The same from port to port. */
static ec_c128 in_series(const double *ohms, int i, int j, int f)
{
    const double sum = ohms[0] + ohms[1];
    return i == j ? over(30 + ohms[1 - i] - ohms[i], 40.0 * f, 30 + sum, 40.0 * f)
                  : over(2 * sqrt(ohms[0] * ohms[1]), 0, 30 + sum, 40.0 * f);
}

/* All ports at one node. */
static ec_c128 node(const double *ohms, int i, int j, int f)
{
    const double sum = 1 / ohms[0] + 1 / ohms[1] + 1 / ohms[2];
    (void)f;
    return (ec_c128){2 / sqrt(ohms[i] * ohms[j]) / sum - (i == j), 0};
}

/* An ideal transmission one way, as an isolator with its third port matched has: S is singular. */
static ec_c128 isolator(const double *ohms, int i, int j, int f)
{
    (void)ohms;
    (void)f;
    return (ec_c128){i == 1 && j == 0, 0};
}

/* From references that differ by port and by frequency to `ohms`, and to what the circuit says of it. */
static void brought(circuit *s, int n, double ohms)
{
    double frequency[FREQUENCIES] = {1e9, 2e9}, reference[PORTS] = {75, 20, 300};
    double waves[FREQUENCIES * PORTS];
    ec_c128 all[FREQUENCIES * PORTS * PORTS];
    ec_fdtd_network d = {.s = {.n_ports = n,
                               .n_frequencies = FREQUENCIES,
                               .frequency = frequency,
                               .s = all,
                               .reference = reference},
                         .waves = waves};

    for (int f = 0; f < FREQUENCIES; f++)
        for (int i = 0; i < n; i++)
            waves[f * n + i] = reference[i] * (1 + 0.25 * f);
    for (int f = 0; f < FREQUENCIES; f++)
        for (int i = 0; i < n * n; i++)
            all[f * n * n + i] = s(waves + f * n, i / n, i % n, f);
    assert_int_equal(ec_fdtd_network_renormalize(&d, ohms), EC_OK);
    for (int i = 0; i < n; i++)
        assert_true(reference[i] == ohms);
    const double same[PORTS] = {ohms, ohms, ohms};
    for (int f = 0; f < FREQUENCIES; f++)
        for (int i = 0; i < n * n; i++) {
            const ec_c128 is = all[f * n * n + i], wanted = s(same, i / n, i % n, f);
            assert_true(hypot(is.re - wanted.re, is.im - wanted.im) < 1e-13);
        }
}

static void test_circuits(void **state)
{
    (void)state;
    for (double ohms = 1; ohms < 2000; ohms *= 7) {
        brought(load, 1, ohms);
        brought(in_series, 2, ohms);
        brought(node, 3, ohms);
    }
}

/* There and back is where it was, also for a matrix without an inverse. */
static void test_back(void **state)
{
    double frequency[1] = {1e9}, reference[2] = {50, 50}, waves[2] = {50, 50};
    ec_c128 all[4];
    ec_fdtd_network d = {.s = {.n_ports = 2,
                               .n_frequencies = 1,
                               .frequency = frequency,
                               .s = all,
                               .reference = reference},
                         .waves = waves};
    (void)state;

    for (int i = 0; i < 4; i++)
        all[i] = isolator(reference, i / 2, i % 2, 0);
    assert_int_equal(ec_fdtd_network_renormalize(&d, 75), EC_OK);
    assert_true(fabs(all[0].re + 0.2) < 1e-15 && fabs(all[2].re - 0.96) < 1e-15);
    assert_int_equal(ec_fdtd_network_renormalize(&d, 50), EC_OK);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(all[i].re - isolator(reference, i / 2, i % 2, 0).re) < 1e-14);
    assert_int_equal(ec_fdtd_network_renormalize(&d, 0), EC_ERR_RANGE);
    assert_int_equal(ec_fdtd_network_renormalize(&d, NAN), EC_ERR_RANGE);
    assert_true(reference[0] == 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circuits),
                                       cmocka_unit_test(test_back)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
