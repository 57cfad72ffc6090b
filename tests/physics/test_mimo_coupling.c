/* test_mimo_coupling.c: coupled antennas of links against circuits solved by their impedances: two
 * dipoles with a mutual impedance (Gupta and Ksienski 1983), loads and generators of Z0. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/executor.h"
#include "evaluators/mimo/mimo.h"
#include "evaluators/mimo/scene_build.h"

enum { TX = 2, RX = 4, FREQUENCIES = 2, ALL = FREQUENCIES * RX * TX };
static const double frequency[FREQUENCIES] = {2.4e9, 2.6e9}, z0 = 73;
static const double tx_at[TX][3] = {{0, 0, 2}, {0, 0.04, 2}};
static const double rx_at[RX][3] = {{9, 1, 1}, {9, 1.03, 1}, {-5, 7, 3}, {-5, 7.03, 3}};
static ec_backend *cpu;
static ec_scene *ground;

static int setup(void **state)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;
    ec_material pec;
    ec_shape shape;
    int32_t index;

    (void)state;
    ec_shape_default(EC_SHAPE_GROUND, &shape);
    shape.size[0] = shape.size[1] = 200;
    assert_int_equal(ec_scene_builder_create(&builder), EC_OK);
    assert_int_equal(ec_material_by_name("pec", &pec), EC_OK);
    assert_int_equal(ec_scene_builder_material(builder, &pec, &index), EC_OK);
    assert_int_equal(ec_scene_builder_shape(builder, "ground", index, &shape), EC_OK);
    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(builder, &options, &ground), EC_OK);
    ec_scene_builder_destroy(&builder);
    return ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 2}, &cpu);
}

static int teardown(void **state)
{
    (void)state;
    ec_backend_destroy(&cpu);
    ec_scene_destroy(&ground);
    return 0;
}

/* Two receivers of two antennas each. */
static int channels(const ec_touchstone *tx, const ec_touchstone *rx, double complex h[ALL])
{
    ec_mimo_config c;
    ec_graph *g = NULL;
    ec_call *call = NULL;
    ec_c128 got[ALL];
    uint8_t status = 0;
    double x[RX];

    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_mimo_config_default(&c);
    c.scene = ground;
    c.n_frequencies = FREQUENCIES;
    c.frequency = frequency;
    c.receivers = 2;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < TX; i++)
            x[i] = tx_at[i][k];
        c.tx.at[k] = ec_graph_constant(g, 1, &(const int32_t){TX}, x);
        for (int i = 0; i < RX; i++)
            x[i] = rx_at[i][k];
        c.rx.at[k] = ec_graph_constant(g, 1, &(const int32_t){RX}, x);
    }
    c.tx.count = TX;
    c.rx.count = RX;
    c.tx.coupling = tx;
    c.rx.coupling = rx;
    int rc = ec_mimo_call(g, &c, &call);
    if (rc < 0) {
        ec_graph_destroy(&g);
        return rc;
    }
    /* an end whose coupling is given is not asked how near its antennas are */
    double least = rx ? tx ? INFINITY : 0.04 : 0.03;
    assert_true(ec_mimo_least_spacing(call) == least ||
                fabs(ec_mimo_least_spacing(call) - least) < 1e-12);
    ec_expr e = ec_mimo_value(g, call, EC_MIMO_CHANNEL);
    assert_int_equal(ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, NULL, 0, NULL, 0,
                                      (double *[]){(double *)got}, &status, NULL),
                     EC_OK);
    assert_int_equal(status, 0);
    for (int i = 0; i < ALL; i++)
        h[i] = CMPLX(got[i].re, got[i].im);
    ec_graph_destroy(&g);
    return rc;
}

/* S of two antennas with Z = [Z0, m; m, Z0]: its even and odd modes have (m)/(2 Z0 + m) and -m / (2 Z0
 * - m). */
static void scattering(double complex m, ec_c128 s[4])
{
    double complex even = m / (2 * z0 + m), odd = -m / (2 * z0 - m);
    double complex own = (even + odd) / 2, other = (even - odd) / 2;
    s[0] = s[3] = (ec_c128){creal(own), cimag(own)};
    s[1] = s[2] = (ec_c128){creal(other), cimag(other)};
}

/* v over the loads Z0 of antennas with open-circuit voltages v: Z0 (Z + Z0)^-1 v, over Z0 / (2 Z0) of
 * an antenna alone. */
static void loaded(double complex m, double complex *v, int step)
{
    double complex a = 2 * z0, det = a * a - m * m, x = v[0], y = v[step];
    v[0] = 2 * z0 * (a * x - m * y) / det;
    v[step] = 2 * z0 * (a * y - m * x) / det;
}

static void test_two_dipoles(void **state)
{
    (void)state;
    /* of half-wave dipoles 0.3 and 0.24 wavelengths apart, about; at the second frequency in
     * between the file's */
    const double complex tx = 55 - 26 * I, rx = 62 - 12 * I;
    double at[3] = {2.4e9, 2.5e9, 2.7e9}, none = 0;
    ec_c128 s[3][4], t[4];
    double complex h[ALL], got[ALL], one[ALL];
    const ec_touchstone file = {.n_ports = 2, .n_frequencies = 3, .frequency = at, .s = s[0]};
    const ec_touchstone same = {.n_ports = 2, .n_frequencies = 1, .frequency = &none, .s = t};

    scattering(rx, s[0]);
    scattering(rx, s[2]);
    scattering(tx, t);
    /* half way from 2.5 to 2.7 GHz it is that of rx again */
    for (int i = 0; i < 4; i++)
        s[1][i] = s[0][i];
    assert_int_equal(channels(NULL, NULL, h), EC_OK);
    assert_int_equal(channels(&same, &file, got), EC_OK);
    memcpy(one, h, sizeof h);
    for (int block = 0; block < FREQUENCIES * 2; block++) { /* of 2 x 2 */
        double complex *m = one + 4 * block;
        for (int t_x = 0; t_x < 2; t_x++)
            loaded(rx, m + t_x, 2);
        for (int r_x = 0; r_x < 2; r_x++)
            loaded(tx, m + 2 * r_x, 1);
    }
    for (int i = 0; i < ALL; i++) {
        assert_true(cabs(got[i] - one[i]) < 1e-14 * cabs(h[i]) + 1e-16);
        assert_true(cabs(got[i] - h[i]) > 1e-2 * cabs(h[i]));
    }
    /* an end alone */
    assert_int_equal(channels(NULL, &file, got), EC_OK);
    memcpy(one, h, sizeof h);
    for (int block = 0; block < FREQUENCIES * 2; block++)
        for (int t_x = 0; t_x < 2; t_x++)
            loaded(rx, one + 4 * block + t_x, 2);
    for (int i = 0; i < ALL; i++)
        assert_true(cabs(got[i] - one[i]) < 1e-14 * cabs(h[i]) + 1e-16);
}

/* Linear in the real and imaginary parts between frequencies; a matrix of one port holds for each
 * antenna. */
static void test_frequencies_and_groups(void **state)
{
    (void)state;
    double at[2] = {2.4e9, 2.8e9};
    ec_c128 s[2] = {{0.1, -0.2}, {0.5, 0.2}};
    double complex h[ALL], got[ALL];
    const ec_touchstone file = {.n_ports = 1, .n_frequencies = 2, .frequency = at, .s = s};

    assert_int_equal(channels(NULL, NULL, h), EC_OK);
    assert_int_equal(channels(&file, NULL, got), EC_OK);
    for (int i = 0; i < ALL; i++) {
        double complex passes = i < ALL / 2 ? 0.9 + 0.2 * I : 0.7;
        assert_true(cabs(got[i] - passes * h[i]) < 1e-14 * cabs(h[i]));
    }
}

static void refused(const ec_touchstone *s, int status, const char *text)
{
    double complex h[ALL];
    assert_int_equal(channels(s, NULL, h), status);
    if (!strstr(ec_error_text(), text))
        print_error("%s\n", ec_error_text());
    assert_non_null(strstr(ec_error_text(), text));
}

static void test_what_is_no_coupling(void **state)
{
    (void)state;
    double none = 0, at[2] = {2.4e9, 2.5e9};
    ec_c128 s[9] = {{0.1, 0}, {0.3, 0}, {0.35, 0}, {0.1, 0}},
            hot[4] = {{0.9, 0}, {0.6, 0}, {0.6, 0}};
    ec_c128 fine[9] = {{0, 0}};

    refused(&(ec_touchstone){.n_ports = 2, .n_frequencies = 1, .frequency = &none, .s = s},
            EC_ERR_ARGUMENT, "tx: the coupling is not reciprocal: S(2, 1) is 0.35+0j");
    refused(&(ec_touchstone){.n_ports = 2, .n_frequencies = 1, .frequency = &none, .s = hot},
            EC_ERR_ARGUMENT, "into port 1 the coupling gives back 1.17 of the power");
    refused(&(ec_touchstone){.n_ports = 3, .n_frequencies = 1, .frequency = &none, .s = fine},
            EC_ERR_SHAPE, "3 ports for 2 antennas");
    refused(&(ec_touchstone){.n_ports = 2, .n_frequencies = 2, .frequency = at, .s = fine},
            EC_ERR_RANGE, "the link's frequency is 2600000000 Hz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_dipoles),
                                       cmocka_unit_test(test_frequencies_and_groups),
                                       cmocka_unit_test(test_what_is_no_coupling)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
