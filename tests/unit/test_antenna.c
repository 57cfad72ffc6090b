/* test_antenna.c: antennas of rays: gains, polarisation, orientation, reciprocity in free space. */
#include "evaluators/mimo/antenna.h"
#include "ray_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KINDS = EC_ELEMENT_KIND_TABLE };

static double power(const ec_c128 g[3])
{
    return creal(of_c(g[0]) * conj(of_c(g[0])) + of_c(g[1]) * conj(of_c(g[1])) +
                 of_c(g[2]) * conj(of_c(g[2])));
}

static void random_antenna(uint64_t *seed, int kind, ec_antenna *antenna)
{
    double normal[3], axis[3];
    ec_element_frame frame;

    random_unit(seed, normal);
    random_unit(seed, axis);
    assert_int_equal(ec_element_frame_of(normal, 6 * next_unit(seed), &frame), EC_OK);
    assert_int_equal(ec_antenna_init((ec_element_kind)kind, 1.7, axis, &frame, antenna), EC_OK);
}

/* The field is across the ray; its power over the sphere is 4 pi. */
static void test_gain(void **state)
{
    uint64_t seed = 1;
    (void)state;

    for (int kind = 0; kind < KINDS; kind++) {
        enum { N = 100000 };
        double sum = 0, peak = 0;
        ec_antenna antenna;
        random_antenna(&seed, kind, &antenna);
        for (int i = 0; i < N; i++) { /* equal areas along a spiral */
            double z = 1 - (2.0 * i + 1) / N, r = sqrt(1 - z * z), a = 2.399963229728653 * i;
            double d[3] = {r * cos(a), r * sin(a), z};
            ec_c128 g[3];
            ec_antenna_field(&antenna, d, g);
            assert_true(cabs(of_c(ec_c128_dot3_real(d, g))) < 4e-14);
            sum += power(g) / N;
            peak = fmax(peak, power(g));
        }
        static const double gain[KINDS] = {1, 2, 2 * (2 * 1.7 + 1), 1.5, 1.6409223769};
        assert_true(fabs(sum - 1) < 1e-3); /* the hemisphere's edge cuts the spiral */
        assert_true(fabs(peak / gain[kind] - 1) < 1e-3);
    }
}

/* Along theta^ of the axis, of gain 1 everywhere; on the axis a stated direction. */
static void test_isotropic(void **state)
{
    ec_antenna antenna, dipole;
    ec_c128 g[3], h[3];
    uint64_t seed = 2;
    (void)state;

    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, NULL, NULL, &antenna), EC_OK);
    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, NULL, NULL, &dipole), EC_OK);
    for (int i = 0; i < 1000; i++) {
        double d[3];
        random_unit(&seed, d);
        ec_antenna_field(&antenna, d, g);
        ec_antenna_field(&dipole, d, h);
        assert_true(fabs(power(g) - 1) < 1e-14);
        double sine = sqrt(1 - d[2] * d[2]);
        for (int k = 0; k < 3; k++)
            assert_true(cabs(of_c(g[k]) * sine * sqrt(1.5) - of_c(h[k])) < 1e-13);
    }
    for (int side = -1; side <= 1; side += 2) {
        const double d[3] = {0, 0, side};
        ec_antenna_field(&antenna, d, g);
        assert_true(of_c(g[0]) == side && of_c(g[1]) == 0 && of_c(g[2]) == 0);
    }
}

/* h = wavelength / (4 pi r) (g_t . g_r) e^(-jkr), the same both ways. */
static void test_free_space(void **state)
{
    uint64_t seed = 3;
    (void)state;

    for (int trial = 0; trial < 500; trial++) {
        double d[3], back[3], r = 1 + 1000 * next_unit(&seed), wavelength = 0.1;
        ec_antenna a, b;
        ec_wavefront w;
        random_antenna(&seed, trial % KINDS, &a);
        random_antenna(&seed, trial / KINDS % KINDS, &b);
        random_unit(&seed, d);
        for (int i = 0; i < 3; i++)
            back[i] = -d[i];
        ec_antenna_launch(&a, d, &w);
        ec_wavefront_advance(&w, r);
        double complex there = of_c(ec_antenna_receive(&b, &w, wavelength));
        ec_antenna_launch(&b, back, &w);
        ec_wavefront_advance(&w, r);
        double complex other = of_c(ec_antenna_receive(&a, &w, wavelength));
        assert_true(there == other); /* to the last bit */
        ec_c128 ga[3], gb[3];
        ec_antenna_field(&a, d, ga);
        ec_antenna_field(&b, back, gb);
        double complex dot = 0;
        for (int i = 0; i < 3; i++)
            dot += of_c(ga[i]) * of_c(gb[i]);
        double complex want =
            wavelength / (4 * EC_PI * r) * dot * cexp(-2 * EC_PI * I * fmod(r / wavelength, 1));
        assert_true(cabs(there - want) < 1e-15 / r + 1e-14 * cabs(want) * (1 + r));
    }
    /* two isotropic antennas side by side: |h| = wavelength / (4 pi r), phase of the path */
    ec_antenna antenna;
    ec_wavefront w;
    const double x[3] = {1, 0, 0};
    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, NULL, NULL, &antenna), EC_OK);
    ec_antenna_launch(&antenna, x, &w);
    ec_wavefront_advance(&w, 7);
    ec_c128 h = ec_antenna_receive(&antenna, &w, 1);
    assert_true(fabs(h.re - 1 / (28 * EC_PI)) < 1e-16 && fabs(h.im) < 1e-16);
}

/* A turned antenna in a turned direction is the turned field. */
static void test_orientation(void **state)
{
    uint64_t seed = 4;
    (void)state;

    for (int trial = 0; trial < 500; trial++) {
        double normal[3], axis[3], d[3], own[3];
        ec_element_frame frame;
        ec_antenna turned, straight;
        ec_c128 g[3], h[3];
        int kind = trial % KINDS;
        random_unit(&seed, normal);
        random_unit(&seed, axis);
        random_unit(&seed, d);
        normal[2] = fabs(normal[2]); /* a frame's vectors are less exact near z = -1 */
        assert_int_equal(ec_element_frame_of(normal, trial, &frame), EC_OK);
        ec_antenna_init((ec_element_kind)kind, 0.8, axis, &frame, &turned);
        ec_antenna_init((ec_element_kind)kind, 0.8, axis, NULL, &straight);
        ec_element_to_local(&frame, d[0], d[1], d[2], own);
        ec_antenna_field(&turned, d, g);
        ec_antenna_field(&straight, own, h);
        const double *f[3] = {frame.x, frame.y, frame.z};
        for (int i = 0; i < 3; i++)
            assert_true(cabs(of_c(ec_c128_dot3_real(f[i], g)) - of_c(h[i])) < 1e-13);
    }
}

/* A table of a dipole is the dipole, whatever unit its field has. */
static void test_table(void **state)
{
    enum { THETAS = 91, PHIS = 181 };
    double *theta = malloc(THETAS * sizeof *theta), *phi = malloc(PHIS * sizeof *phi);
    ec_c128 *a = calloc(THETAS * PHIS, sizeof *a);
    ec_far_field *field = NULL;
    ec_element_pattern table;
    ec_antenna antenna, dipole;
    uint64_t seed = 5;
    (void)state;

    assert_true(theta && phi && a);
    for (int k = 0; k < PHIS; k++)
        phi[k] = 2 * k * EC_PI / 180;
    for (int i = 0; i < THETAS; i++) {
        theta[i] = 2 * i * EC_PI / 180;
        for (int k = 0; k < PHIS; k++)
            a[i * PHIS + k].re = 37 * sin(theta[i]);
    }
    assert_int_equal(ec_far_field_create(THETAS, theta, PHIS, phi, a, NULL, 0, &field), EC_OK);
    assert_int_equal(ec_element_table_create(field, &table), EC_OK);
    assert_int_equal(ec_antenna_init_table(&table, NULL, &antenna), EC_OK);
    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, NULL, NULL, &dipole), EC_OK);
    for (int i = 0; i < 1000; i++) {
        double d[3];
        ec_c128 g[3], h[3];
        random_unit(&seed, d);
        ec_antenna_field(&antenna, d, g);
        ec_antenna_field(&dipole, d, h);
        for (int k = 0; k < 3; k++)
            assert_true(cabs(of_c(g[k]) - of_c(h[k])) < 1e-6);
    }
    ec_element_table_destroy(&table);
    ec_far_field_destroy(&field);
    for (int i = 0; i < THETAS * PHIS; i++)
        a[i].re = 0;
    assert_int_equal(ec_far_field_create(THETAS, theta, PHIS, phi, a, NULL, 0, &field), EC_OK);
    assert_int_equal(ec_element_table_create(field, &table), EC_OK);
    assert_int_equal(ec_antenna_init_table(&table, NULL, &antenna), EC_ERR_ARGUMENT);
    ec_element_table_destroy(&table);
    ec_far_field_destroy(&field);
    free(theta);
    free(phi);
    free(a);
}

static void test_bad_arguments(void **state)
{
    const double zero[3] = {0, 0, 0}, z[3] = {0, 0, 1};
    ec_antenna antenna;
    (void)state;

    antenna.scale = 5;
    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, zero, NULL, &antenna),
                     EC_ERR_ARGUMENT);
    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, zero, NULL, &antenna),
                     EC_ERR_ARGUMENT);
    assert_true(ec_antenna_init(EC_ELEMENT_KIND_COSQ, -1, z, NULL, &antenna) < 0);
    assert_true(ec_antenna_init(EC_ELEMENT_KIND_TABLE, 0, z, NULL, &antenna) < 0);
    assert_true(antenna.scale == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gain),       cmocka_unit_test(test_isotropic),
        cmocka_unit_test(test_free_space), cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_table),      cmocka_unit_test(test_bad_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
