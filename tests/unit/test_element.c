/* test_element.c: fields of elements: closed forms, tables, frames, Ludwig's definition. */
#include "core/element_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- an independent field: theta and phi by the library's trigonometry ------------------------ */

static void unit(double theta, double phi, double d[3])
{
    d[0] = sin(theta) * cos(phi);
    d[1] = sin(theta) * sin(phi);
    d[2] = cos(theta);
}

/* E_theta, E_phi of Cartesian components for given angles, so that poles have a phi. */
static void project(const ec_c128 e[3], double theta, double phi, ec_c128 *e_theta, ec_c128 *e_phi)
{
    double t[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), -sin(theta)};
    double p[3] = {-sin(phi), cos(phi), 0};

    *e_theta = *e_phi = (ec_c128){0, 0};
    for (int i = 0; i < 3; i++) {
        e_theta->re += t[i] * e[i].re;
        e_theta->im += t[i] * e[i].im;
        e_phi->re += p[i] * e[i].re;
        e_phi->im += p[i] * e[i].im;
    }
}

/* A half-wave dipole along `axis`, moved by `offset` wavelengths, so that its phase turns. */
typedef struct source {
    double axis[3], offset[3];
} source;

static void source_field(const source *s, const double d[3], ec_c128 e[3])
{
    double c = 0, turns = 0;

    for (int i = 0; i < 3; i++) {
        c += s->axis[i] * d[i];
        turns += s->offset[i] * d[i];
    }
    double sine2 = 1 - c * c;
    double gain = sine2 > 1e-9 ? cos(0.5 * EC_PI * c) / sine2 : 0.25 * EC_PI;
    for (int i = 0; i < 3; i++) {
        double v = gain * (c * d[i] - s->axis[i]);
        e[i] = (ec_c128){v * cos(2 * EC_PI * turns), v * sin(2 * EC_PI * turns)};
    }
}

static void sample(const source *s, int32_t n_theta, const double *theta, int32_t n_phi,
                   const double *phi, ec_far_field **field)
{
    size_t n = (size_t)n_theta * (size_t)n_phi;
    ec_c128 *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);

    assert_non_null(a);
    assert_non_null(b);
    for (int32_t i = 0; i < n_theta; i++)
        for (int32_t k = 0; k < n_phi; k++) {
            double d[3];
            ec_c128 e[3];
            size_t at = (size_t)i * (size_t)n_phi + (size_t)k;
            unit(theta[i], phi[k], d);
            source_field(s, d, e);
            project(e, theta[i], phi[k], &a[at], &b[at]);
        }
    assert_int_equal(ec_far_field_create(n_theta, theta, n_phi, phi, a, b, 0, field), EC_OK);
    free(a);
    free(b);
}

static void fill_even(double *angle, int32_t n, double from, double to)
{
    for (int32_t i = 0; i < n; i++)
        angle[i] = from + (to - from) * i / (n - 1);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

static double random_in(uint64_t *state, double from, double to)
{
    return from + (to - from) * (double)next_random(state) / 9007199254740992.0;
}

/* Largest deviation of a table from the source over random directions of a region, of a peak near
 * 1; and of the single-precision table from the double one. */
static double table_error(const source *s, const ec_element_pattern *p, double theta_low,
                          double theta_high, double phi_low, double phi_high, double *single)
{
    uint64_t state = 7;
    double worst = 0, apart = 0;

    for (int i = 0; i < 20000; i++) {
        double theta = random_in(&state, theta_low, theta_high);
        double phi = random_in(&state, phi_low, phi_high), d[3];
        ec_c128 want[3], a, b, x, y;
        ec_c64 u, v;
        if (i < 100) /* the ends, poles among them */
            theta = i % 2 ? theta_low : theta_high;
        unit(theta, phi, d);
        source_field(s, d, want);
        double s_theta, c_theta, s_phi, c_phi;
        ec_element_angles(d[0], d[1], d[2], &c_theta, &s_theta, &c_phi, &s_phi);
        ec_element_project_f64(want, c_theta, s_theta, c_phi, s_phi, &x, &y);
        ec_element_field_f64(p, d[0], d[1], d[2], &a, &b);
        double e = hypot(hypot(a.re - x.re, a.im - x.im), hypot(b.re - y.re, b.im - y.im));
        if (!(e <= worst))
            worst = e;
        ec_element_field_f32(p, d[0], d[1], d[2], &u, &v);
        e = hypot(hypot(u.re - a.re, u.im - a.im), hypot(v.re - b.re, v.im - b.im));
        if (!(e <= apart))
            apart = e;
    }
    if (single)
        *single = apart;
    return worst;
}

static const source dipole_x = {{1, 0, 0}, {0, 0, 0}};
static const source moved = {{0.48, 0.6, 0.64}, {0.3, -0.2, 0.4}};

/* The errors that the header states. */
static void test_table_error(void **state)
{
    static const struct {
        double step;
        double limit; /* dipole along x */
        double limit_moved;
    } cases[] = {{10, 5e-5, 1e-3}, {5, 3e-6, 5e-5}, {2, 7e-8, 1.2e-6}, {1, 5e-9, 8e-8}};
    double theta[181], phi[361];
    (void)state;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int32_t n_theta = (int32_t)(180 / cases[c].step) + 1, n_phi = 2 * n_theta - 1;
        ec_element_pattern p;
        ec_far_field *field = NULL;
        double single;
        fill_even(theta, n_theta, 0, EC_PI);
        fill_even(phi, n_phi, 0, 2 * EC_PI);
        sample(&dipole_x, n_theta, theta, n_phi, phi, &field);
        assert_int_equal(ec_element_table_create(field, &p), EC_OK);
        double error = table_error(&dipole_x, &p, 0, EC_PI, -7, 7, &single);
        printf("step %g deg: error %.2g, float32 %.2g", cases[c].step, error, single);
        assert_true(error <= cases[c].limit);
        assert_true(single <= 5e-7); /* a few roundings of float32 */
        ec_element_table_destroy(&p);
        ec_far_field_destroy(&field);
        sample(&moved, n_theta, theta, n_phi, phi, &field);
        assert_int_equal(ec_element_table_create(field, &p), EC_OK);
        error = table_error(&moved, &p, 0, EC_PI, -7, 7, NULL);
        printf(", off centre by half a wavelength %.2g\n", error);
        assert_true(error <= cases[c].limit_moved);
        ec_element_table_destroy(&p);
        ec_far_field_destroy(&field);
    }
}

/* At its own directions a table gives the field's numbers, whatever the grid. */
static void check_nodes(const ec_far_field *f, const ec_element_pattern *p, double limit)
{
    for (int32_t i = 0; i < f->n_theta; i++)
        for (int32_t k = 0; k < f->n_phi; k++) {
            double d[3], t = f->theta[i], h = f->phi[k];
            size_t at = (size_t)i * (size_t)f->n_phi + (size_t)k;
            ec_c128 e[3], a, b;
            unit(t, h, d);
            ec_element_vector_f64(p, d[0], d[1], d[2], e);
            project(e, t, h, &a, &b);
            double error = hypot(hypot(a.re - f->e_theta[at].re, a.im - f->e_theta[at].im),
                                 hypot(b.re - f->e_phi[at].re, b.im - f->e_phi[at].im));
            if (!(error <= limit))
                fail_msg("theta %g, phi %g: error %g", t, h, error);
        }
}

typedef struct region {
    const char *name;
    int32_t n_theta, n_phi;
    double theta_low, theta_high, phi_low, phi_high; /* degrees */
    double jitter;                                   /* of a step: 0 even */
    double nodes, error;                             /* limits */
} region;

static void test_table_regions(void **state)
{
    static const region regions[] = {
        {"sphere, closed", 37, 73, 0, 180, 0, 360, 0, 1e-13, 6e-5},
        {"sphere, open phi", 37, 72, 0, 180, 0, 355, 0, 1e-13, 6e-5},
        {"sphere from -180", 37, 73, 0, 180, -180, 180, 0, 1e-13, 6e-5},
        {"odd number of phis", 37, 45, 0, 180, 0, 352, 0, 1e-13, 6e-5},
        {"odd number of many phis", 61, 121, 0, 180, 0, 357.02479338842977, 0, 1e-5, 1e-5},
        {"few phis", 37, 18, 0, 180, 0, 340, 0, 1e-13, 6e-5},
        {"poles left out", 36, 73, 2.5, 177.5, 0, 360, 0, 1e-4, 1e-4},
        {"upper half", 19, 73, 0, 90, 0, 360, 0, 1e-13, 6e-4},
        {"lower half", 19, 73, 90, 180, 0, 360, 0, 1e-13, 6e-4},
        {"belt", 19, 73, 45, 135, 0, 360, 0, 1e-13, 6e-4},
        {"patch", 19, 31, 45, 135, 20, 170, 0, 1e-13, 6e-4},
        {"uneven sphere", 61, 121, 0, 180, 0, 360, 0.2, 2e-5, 1e-5},
        {"uneven patch", 31, 51, 45, 135, 20, 170, 0.2, 2e-5, 2e-5}};
    double theta[200], phi[400];
    uint64_t random = 11;
    (void)state;

    for (size_t c = 0; c < sizeof regions / sizeof *regions; c++) {
        const region *r = &regions[c];
        const double deg = EC_PI / 180;
        ec_element_pattern p;
        ec_far_field *field = NULL;
        fill_even(theta, r->n_theta, r->theta_low * deg, r->theta_high * deg);
        fill_even(phi, r->n_phi, r->phi_low * deg, r->phi_high * deg);
        double dt = (theta[1] - theta[0]) * r->jitter, dp = (phi[1] - phi[0]) * r->jitter;
        for (int32_t i = 1; i < r->n_theta - 1; i++)
            theta[i] += random_in(&random, -dt, dt);
        for (int32_t i = 1; i < r->n_phi - 1; i++)
            phi[i] += random_in(&random, -dp, dp);
        sample(&moved, r->n_theta, theta, r->n_phi, phi, &field);
        assert_int_equal(ec_element_table_create(field, &p), EC_OK);
        bool turn = r->phi_high - r->phi_low > 330, pole = r->theta_low == 2.5;
        double error =
            table_error(&moved, &p, pole ? 0 : theta[0], pole ? EC_PI : theta[r->n_theta - 1],
                        turn ? -4 : phi[0], turn ? 4 : phi[r->n_phi - 1], NULL);
        printf("%s: error %.2g\n", r->name, error);
        assert_true(error <= r->error);
        check_nodes(field, &p, r->nodes);
        ec_element_table_destroy(&p);
        ec_far_field_destroy(&field);
    }
}

static void test_outside_is_zero(void **state)
{
    double theta[10], phi[10], d[3];
    ec_element_pattern p;
    ec_far_field *field = NULL;
    ec_c128 a, b;
    (void)state;

    fill_even(theta, 10, 0.3, 1.2);
    fill_even(phi, 10, -0.5, 0.5);
    sample(&moved, 10, theta, 10, phi, &field);
    assert_int_equal(ec_element_table_create(field, &p), EC_OK);
    const double in[][2] = {{0.3, -0.5}, {1.2, 0.5}, {0.7, 0}, {1.2, -0.5 + 2 * EC_PI}};
    const double out[][2] = {{0.299, 0}, {1.201, 0}, {0.7, 0.501}, {0.7, -0.501}, {0.7, 3}, {0, 0}};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        unit(in[i][0], in[i][1], d);
        ec_element_field_f64(&p, d[0], d[1], d[2], &a, &b);
        assert_true(a.re != 0 || b.re != 0);
    }
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        unit(out[i][0], out[i][1], d);
        ec_element_field_f64(&p, d[0], d[1], d[2], &a, &b);
        assert_true(a.re == 0 && a.im == 0 && b.re == 0 && b.im == 0);
    }
    ec_element_table_destroy(&p);
    ec_far_field_destroy(&field);
}

/* One phi: a short dipole along z has E_theta = -sin theta and nothing else, for every phi. */
static void test_one_phi(void **state)
{
    double theta[37], phi = 0.4, d[3];
    ec_c128 a[37], x, y;
    ec_element_pattern p;
    ec_far_field *field = NULL;
    ec_element_gain gain;
    (void)state;

    fill_even(theta, 37, 0, EC_PI);
    for (int i = 0; i < 37; i++)
        a[i] = (ec_c128){0, -2 * sin(theta[i])};
    assert_int_equal(ec_far_field_create(37, theta, 1, &phi, a, NULL, 1e9, &field), EC_OK);
    assert_int_equal(ec_element_table_create(field, &p), EC_OK);
    for (int i = 0; i < 500; i++) {
        double t = 0.001 + 3.13 * i / 500;
        unit(t, 1.7 * i, d);
        ec_element_field_f64(&p, d[0], d[1], d[2], &x, &y);
        assert_true(fabs(x.im + 2 * sin(t)) < 1e-5 && fabs(x.re) < 1e-12);
        assert_true(hypot(y.re, y.im) < 1e-6);
    }
    ec_element_gain_of(&p, &gain);
    assert_true(fabs(10 * log10(gain.directivity) - 1.7609) < 1e-4);
    assert_true(fabs(gain.peak - 2) < 1e-5);
    ec_element_table_destroy(&p);
    ec_far_field_destroy(&field);
}

/* ---- closed forms ---------------------------------------------------------------------------- */

/* Power by a product rule of its own: Gauss points in z on each half, phi even. */
static double measured_power(const ec_element_pattern *p)
{
    enum { PANELS = 200, PHIS = 64 };
    const double at[2] = {0.21132486540518712, 0.78867513459481288};
    double sum = 0;

    for (int i = -PANELS; i < PANELS; i++)
        for (int a = 0; a < 2; a++)
            for (int k = 0; k < PHIS; k++) {
                double z = (i + at[a]) / PANELS, s = sqrt(1 - z * z), phi = 2 * EC_PI * k / PHIS;
                ec_c128 x, y;
                ec_element_field_f64(p, s * cos(phi), s * sin(phi), z, &x, &y);
                assert_true(x.im == 0 && y.im == 0);
                sum += x.re * x.re + y.re * y.re;
            }
    return sum * EC_PI / PHIS / PANELS;
}

static void test_closed_forms(void **state)
{
    static const struct {
        ec_element_kind kind;
        double q, axis[3], db;
    } cases[] = {{EC_ELEMENT_KIND_ISOTROPIC, 0, {0, 0, 1}, 0},
                 {EC_ELEMENT_KIND_HEMISPHERIC, 0, {0, 0, 1}, 3.0103},
                 {EC_ELEMENT_KIND_COSQ, 1, {0, 0, 1}, 7.7815},
                 {EC_ELEMENT_KIND_COSQ, 1.5, {0, 0, 1}, 9.0309},
                 {EC_ELEMENT_KIND_COSQ, 4, {0, 0, 1}, 12.5527},
                 {EC_ELEMENT_KIND_SHORT_DIPOLE, 0, {0, 0, 3}, 1.7609},
                 {EC_ELEMENT_KIND_SHORT_DIPOLE, 0, {1, 0, 0}, 1.7609},
                 {EC_ELEMENT_KIND_HALF_WAVE, 0, {0, 0, 1}, 2.1509},
                 {EC_ELEMENT_KIND_HALF_WAVE, 0, {0.2, -1, 0.5}, 2.1509}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ec_element_pattern p;
        ec_element_gain gain;
        assert_int_equal(ec_element_pattern_init(cases[i].kind, cases[i].q, cases[i].axis, &p),
                         EC_OK);
        ec_element_gain_of(&p, &gain);
        assert_true(fabs(10 * log10(gain.directivity) - cases[i].db) < 1e-4);
        assert_true(fabs(measured_power(&p) / gain.power - 1) < 2e-5);
        ec_c128 x, y;
        ec_element_field_f64(&p, gain.at[0], gain.at[1], gain.at[2], &x, &y);
        assert_true(fabs(hypot(x.re, y.re) - gain.peak) < 1e-12);
    }
}

static void test_dipole_field(void **state)
{
    static const source along_z = {{0, 0, 1}, {0, 0, 0}};
    const double up[3] = {0, 0, 2};
    ec_element_pattern p;
    ec_c128 e[3], a, b, x, y;
    double d[3];
    (void)state;

    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_HALF_WAVE, 0, up, &p), EC_OK);
    for (int i = 0; i <= 1000; i++) {
        double theta = EC_PI * i / 1000;
        unit(theta, 0.3, d);
        source_field(&along_z, d, e);
        project(e, theta, 0.3, &a, &b);
        ec_element_field_f64(&p, d[0], d[1], d[2], &x, &y);
        assert_true(hypot(a.re - x.re, b.re - y.re) < 1e-9); /* the oracle near the axis */
        if (i % 500)
            assert_true(fabs(fabs(x.re) - cos(0.5 * EC_PI * cos(theta)) / sin(theta)) < 1e-12);
    }
}

/* Elements of the first kind have a co-polar field only. */
static void test_ludwig3(void **state)
{
    const ec_element_kind kinds[] = {EC_ELEMENT_KIND_ISOTROPIC, EC_ELEMENT_KIND_COSQ};
    ec_element_pattern p;
    ec_c128 a, b, co, cross;
    double d[3];
    uint64_t random = 3;
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ec_element_pattern_init(kinds[i], 1.3, NULL, &p), EC_OK);
        for (int k = 0; k < 1000; k++) {
            double theta = random_in(&random, 0, i ? 1.57 : 3.14);
            double phi = random_in(&random, -3, 3), gain = i ? pow(cos(theta), 1.3) : 1;
            unit(theta, phi, d);
            ec_element_field_f64(&p, d[0], d[1], d[2], &a, &b);
            assert_true(fabs(a.re - gain * cos(phi)) < 1e-9);
            assert_true(fabs(b.re + gain * sin(phi)) < 1e-9);
            ec_element_ludwig3_f64(a, b, cos(phi), sin(phi), &co, &cross);
            assert_true(fabs(co.re - gain) < 1e-9 && fabs(cross.re) < 1e-9);
        }
    }
    /* Ludwig's table: the reference along y is E_theta sin phi + E_phi cos phi */
    a = (ec_c128){0.3, 0.1};
    b = (ec_c128){-0.7, 0.2};
    ec_element_ludwig3_f64(a, b, cos(0.4 - EC_PI / 2), sin(0.4 - EC_PI / 2), &co, &cross);
    assert_true(fabs(co.re - (0.3 * sin(0.4) - 0.7 * cos(0.4))) < 1e-15);
    assert_true(fabs(cross.im - (-0.1 * cos(0.4) + 0.2 * sin(0.4))) < 1e-15);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void test_frames(void **state)
{
    uint64_t random = 5;
    ec_element_frame f;
    (void)state;

    for (int i = 0; i < 1000; i++) {
        double n[3] = {random_in(&random, -1, 1), random_in(&random, -1, 1),
                       random_in(&random, -1, 1)};
        double r = random_in(&random, -4, 4), co[3];
        if (i == 0)
            n[0] = n[1] = 0, n[2] = -1;
        assert_int_equal(ec_element_frame_of(n, r, &f), EC_OK);
        assert_true(fabs(dot(f.x, f.x) - 1) < 1e-12 && fabs(dot(f.y, f.y) - 1) < 1e-12);
        assert_true(fabs(dot(f.x, f.y)) < 1e-12 && fabs(dot(f.x, f.z)) < 1e-12);
        assert_true(fabs(dot(f.z, n) - sqrt(dot(n, n))) < 1e-12);
        double across[3];
        ec_cross3(f.x, f.y, across);
        assert_true(fabs(dot(across, f.z) - 1) < 1e-12);
        ec_element_co_vector(f.z[0], f.z[1], f.z[2], co);
        assert_true(fabs(dot(f.x, co) - cos(r)) < 1e-9);
        assert_true(fabs(dot(f.y, co) + sin(r)) < 1e-9);
        const double axis[3] = {0, 0, 1};
        if (fabs(f.z[2]) < 0.999) {
            assert_true(ec_element_frame_along(n, axis, &f));
            assert_true(fabs(f.x[2] - sqrt(1 - f.z[2] * f.z[2])) < 1e-12);
            assert_true(fabs(dot(f.x, f.y)) < 1e-12 && fabs(dot(f.x, f.z)) < 1e-12);
        }
    }
}

/* A dipole along the x of a frame is the dipole along that direction. */
static void test_field_in_frame(void **state)
{
    const double x_axis[3] = {1, 0, 0}, n[3] = {0.3, -0.8, -0.2};
    ec_element_pattern own, turned;
    ec_element_frame f;
    uint64_t random = 9;
    (void)state;

    assert_int_equal(ec_element_frame_of(n, 0.7, &f), EC_OK);
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_HALF_WAVE, 0, x_axis, &own), EC_OK);
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_HALF_WAVE, 0, f.x, &turned), EC_OK);
    for (int i = 0; i < 1000; i++) {
        double d[3];
        ec_c128 a, b, x, y;
        ec_c64 u, v;
        unit(random_in(&random, 0, EC_PI), random_in(&random, -3, 3), d);
        ec_element_field_in_f64(&own, &f, d[0], d[1], d[2], &a, &b);
        ec_element_field_f64(&turned, d[0], d[1], d[2], &x, &y);
        assert_true(hypot(a.re - x.re, b.re - y.re) < 1e-12);
        ec_element_field_in_f32(&own, &f, d[0], d[1], d[2], &u, &v);
        assert_true(hypot(u.re - x.re, v.re - y.re) < 1e-6);
    }
}

static void test_refused(void **state)
{
    const double none[3] = {0, 0, 0}, nan[3] = {0, NAN, 1}, up[3] = {0, 0, 1};
    ec_element_pattern p;
    ec_element_frame f;
    (void)state;

    assert_int_equal(ec_element_frame_of(none, 0, &f), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "the normal has the length 0"));
    assert_int_equal(ec_element_frame_of(nan, 0, &f), EC_ERR_ARGUMENT);
    assert_int_equal(ec_element_frame_of(up, NAN, &f), EC_ERR_RANGE);
    assert_false(ec_element_frame_along(up, up, &f));
    assert_false(ec_element_frame_along(up, none, &f));
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_HALF_WAVE, 0, none, &p),
                     EC_ERR_ARGUMENT);
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, NULL, &p),
                     EC_ERR_ARGUMENT);
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_COSQ, -1, NULL, &p), EC_ERR_RANGE);
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_TABLE, 0, NULL, &p), EC_ERR_ARGUMENT);
}

/* Gain of tables: a dipole sampled, and half of one. */
static void test_table_gain(void **state)
{
    double theta[46], phi[91];
    ec_element_pattern p;
    ec_far_field *field = NULL;
    ec_element_gain gain;
    (void)state;

    fill_even(theta, 46, 0, EC_PI);
    fill_even(phi, 91, 0, 2 * EC_PI);
    sample(&moved, 46, theta, 91, phi, &field);
    assert_int_equal(ec_element_table_create(field, &p), EC_OK);
    ec_element_gain_of(&p, &gain);
    printf("half-wave dipole from a table: %.6f dB\n", 10 * log10(gain.directivity));
    assert_true(fabs(10 * log10(gain.directivity) - 2.15088) < 3e-4);
    assert_true(fabs(dot(gain.at, moved.axis)) < 0.05);
    ec_element_table_destroy(&p);
    ec_far_field_destroy(&field);
    fill_even(theta, 46, 0, EC_PI / 2); /* half of the power, at the same peak */
    sample(&dipole_x, 46, theta, 91, phi, &field);
    assert_int_equal(ec_element_table_create(field, &p), EC_OK);
    ec_element_gain_of(&p, &gain);
    assert_true(fabs(10 * log10(gain.directivity) - 2.15088 - 3.0103) < 3e-4);
    ec_element_table_destroy(&p);
    ec_far_field_destroy(&field);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_error),     cmocka_unit_test(test_table_regions),
        cmocka_unit_test(test_outside_is_zero), cmocka_unit_test(test_one_phi),
        cmocka_unit_test(test_closed_forms),    cmocka_unit_test(test_dipole_field),
        cmocka_unit_test(test_ludwig3),         cmocka_unit_test(test_frames),
        cmocka_unit_test(test_field_in_frame),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table_gain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
