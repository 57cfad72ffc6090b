/* test_mimo_antennas.c: antennas of links: patterns from tables, two axes of orientation, each antenna
 * its own. A turned scene with turned antennas has the same channels. */
#include "mimo_harness.h"

#include <complex.h>
#include <math.h>

static const double frequency = 3e8;

static int setup(void **state)
{
    (void)state;
    return mimo_open_cpu();
}

static int teardown(void **state)
{
    (void)state;
    ec_backend_destroy(&cpu);
    return 0;
}

/* ---- tables ------------------------------------------------------------------------------------ */

static const double own_axis[2][3] = {{0.36, 0.48, 0.8}, {0.8, -0.6, 0}};

/* Field of a half-wave dipole along a unit vector, real. */
static void dipole(const double axis[3], const double d[3], double e[3])
{
    double c = axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2], sine2 = 1 - c * c;
    double gain = sine2 > 1e-9 ? cos(0.5 * EC_PI * c) / sine2 : 0.25 * EC_PI;
    for (int i = 0; i < 3; i++)
        e[i] = gain * (c * d[i] - axis[i]);
}

/* One dipole along own_axis[0], or two crossed ones that are fed apart: no symmetry, complex. */
static ec_element_pattern make_table(bool crossed)
{
    enum { THETA = 91, PHI = 180 };
    double *theta = malloc(THETA * sizeof *theta), *phi = malloc(PHI * sizeof *phi);
    ec_c128 *a = malloc(THETA * PHI * sizeof *a), *b = malloc(THETA * PHI * sizeof *b);
    ec_far_field *field = NULL;
    ec_element_pattern table;

    assert_true(theta && phi && a && b);
    for (int k = 0; k < PHI; k++)
        phi[k] = 2 * EC_PI * k / PHI;
    for (int i = 0; i < THETA; i++) {
        theta[i] = EC_PI * i / (THETA - 1);
        for (int k = 0; k < PHI; k++) {
            double ct = cos(theta[i]), st = sin(theta[i]), cp = cos(phi[k]), sp = sin(phi[k]);
            double d[3] = {st * cp, st * sp, ct}, e[2][3];
            dipole(own_axis[0], d, e[0]);
            dipole(own_axis[1], d, e[1]);
            double complex f[3], feed = crossed ? 0.7 * cexp(I * (0.4 + 0.9 * d[0])) : 0;
            for (int j = 0; j < 3; j++)
                f[j] = e[0][j] + feed * e[1][j];
            double complex et = ct * cp * f[0] + ct * sp * f[1] - st * f[2];
            double complex ep = -sp * f[0] + cp * f[1];
            a[i * PHI + k] = (ec_c128){creal(et), cimag(et)};
            b[i * PHI + k] = (ec_c128){creal(ep), cimag(ep)};
        }
    }
    assert_int_equal(ec_far_field_create(THETA, theta, PHI, phi, a, b, 0, &field), EC_OK);
    assert_int_equal(ec_element_table_create(field, &table), EC_OK);
    ec_far_field_destroy(&field);
    free(theta);
    free(phi);
    free(a);
    free(b);
    return table;
}

/* ---- links ------------------------------------------------------------------------------------- */

static ec_scene *build(int n, const ec_shape *shape, const char *const *material)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;
    ec_scene *scene = NULL;

    assert_int_equal(ec_scene_builder_create(&builder), EC_OK);
    for (int i = 0; i < n; i++) {
        ec_material m;
        int32_t index;
        assert_int_equal(ec_material_by_name(material[i], &m), EC_OK);
        assert_int_equal(ec_scene_builder_material(builder, &m, &index), EC_OK);
        assert_int_equal(ec_scene_builder_shape(builder, "shape", index, &shape[i]), EC_OK);
    }
    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(builder, &options, &scene), EC_OK);
    ec_scene_builder_destroy(&builder);
    return scene;
}

/* A small plate far away. */
static ec_scene *nearly_free_space(void)
{
    ec_shape plate;
    ec_shape_default(EC_SHAPE_PLATE, &plate);
    plate.at[2] = -5000;
    plate.size[0] = plate.size[1] = 1;
    return build(1, &plate, (const char *const[]){"pec"});
}

static void stand(ec_graph *g, int32_t n, const double (*at)[3], ec_mimo_end *end)
{
    double axis[16];
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < n; i++)
            axis[i] = at[i][k];
        end->at[k] = ec_graph_constant(g, 1, &n, axis);
    }
    end->count = n;
}

/* H of n_tx places to n_rx places. */
static void channels(const ec_mimo_config *config, int32_t n_tx, const double (*tx)[3],
                     int32_t n_rx, const double (*rx)[3], ec_c128 *h)
{
    ec_mimo_config c = *config;
    ec_graph *g = NULL;
    ec_call *call = NULL;
    uint8_t status = 0;

    assert_int_equal(ec_graph_create(&g), EC_OK);
    stand(g, n_tx, tx, &c.tx);
    stand(g, n_rx, rx, &c.rx);
    int rc = ec_mimo_call(g, &c, &call);
    if (rc < 0)
        print_error("%s\n", ec_error_text());
    assert_int_equal(rc, EC_OK);
    ec_expr e = ec_mimo_value(g, call, EC_MIMO_CHANNEL);
    assert_int_equal(ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, NULL, 0, NULL, 0,
                                      (double *[]){(double *)h}, &status, NULL),
                     EC_OK);
    assert_int_equal(status, 0);
    ec_graph_destroy(&g);
}

static ec_mimo_config config_of(const ec_scene *scene)
{
    ec_mimo_config c;
    ec_mimo_config_default(&c);
    c.scene = scene;
    c.n_frequencies = 1;
    c.frequency = &frequency;
    return c;
}

static void set3(double to[3], double x, double y, double z)
{
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

static double distance_of(const ec_c128 *a, const ec_c128 *b, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, hypot(a[i].re - b[i].re, a[i].im - b[i].im));
    return largest;
}

/* The table of a half-wave dipole, turned, is that dipole along its turned axis: with the frame's
 * z = axis, y = z x up and x = y x z in full. */
static void test_table_is_dipole(void **state)
{
    (void)state;
    static const double axes[4][3] = {{0, 0, 1}, {1, 2, -2}, {0, -1, 0}, {-0.3, 0.1, -0.9}};
    static const double ups[4][3] = {{1, 0, 0}, {0, 0, 1}, {2, 1, 0.5}, {1, 1, 1}};
    static const double tx[1][3] = {{0, 0, 0}};
    static const double rx[4][3] = {{7, 1, 2}, {-3, 5, 1}, {1, -2, 8}, {-4, -4, -5}};
    ec_element_pattern table = make_table(false);
    ec_scene *scene = nearly_free_space();
    ec_mimo_config c = config_of(scene);
    ec_c128 got[4], want[4];

    c.depth = 0;
    for (int k = 0; k < 4; k++) {
        double z[3], y[3], x[3], length = sqrt(ec_dot3(axes[k], axes[k]));
        for (int i = 0; i < 3; i++)
            z[i] = axes[k][i] / length;
        ec_cross3(z, ups[k], y);
        length = sqrt(ec_dot3(y, y));
        for (int i = 0; i < 3; i++)
            y[i] /= length;
        ec_cross3(y, z, x);
        c.tx.antenna = (ec_mimo_antenna){.kind = EC_ELEMENT_KIND_TABLE, .table = &table};
        memcpy(c.tx.antenna.axis, axes[k], sizeof axes[k]);
        memcpy(c.tx.antenna.up, ups[k], sizeof ups[k]);
        channels(&c, 1, tx, 4, rx, got);
        c.tx.antenna = (ec_mimo_antenna){.kind = EC_ELEMENT_KIND_HALF_WAVE};
        for (int i = 0; i < 3; i++)
            c.tx.antenna.axis[i] =
                own_axis[0][0] * x[i] + own_axis[0][1] * y[i] + own_axis[0][2] * z[i];
        channels(&c, 1, tx, 4, rx, want);
        /* |h| is about 1e-2; a table of 2 degrees is right to 1e-7 of that */
        assert_true(distance_of(got, want, 4) < 3e-9);
        assert_true(hypot(want[0].re, want[0].im) > 1e-3);
    }
    ec_element_table_destroy(&table);
    ec_scene_destroy(&scene);
}

/* x -> y -> z -> x, which keeps boxes boxes. */
static void turn(double v[3])
{
    double x = v[0];
    v[0] = v[2];
    v[2] = v[1];
    v[1] = x;
}

static void test_turned_scene(void **state)
{
    (void)state;
    double tx[2][3] = {{1.3, 0.9, 2.7}, {1.3, 1.4, 2.6}};
    double rx[3][3] = {{6.1, 3.3, 1.2}, {6.2, 1.3, 1.1}, {3.1, 4.2, 0.7}};
    ec_element_pattern table = make_table(true);
    ec_mimo_antenna each[3] = {
        {.kind = EC_ELEMENT_KIND_TABLE, .table = &table, .axis = {1, 1, -1}, .up = {0, 0, 1}},
        {.kind = EC_ELEMENT_KIND_COSQ, .q = 1.5, .axis = {-1, 0.2, 0.1}, .up = {0.1, 1, 1}},
        {.kind = EC_ELEMENT_KIND_HALF_WAVE, .axis = {0.2, -0.4, 1}}};
    ec_c128 h[6], turned[6];
    ec_shape box[2];

    for (int i = 0; i < 2; i++)
        ec_shape_default(EC_SHAPE_BOX, &box[i]);
    set3(box[0].at, 4, 2.5, 1.5);
    set3(box[0].size, 8, 5, 3);
    box[0].inward = true;
    set3(box[1].at, 4, 2, 0.9);
    set3(box[1].size, 0.4, 1, 1.8);
    for (int pass = 0; pass < 2; pass++) {
        ec_scene *scene = build(2, box, (const char *const[]){"itu_concrete", "pec"});
        ec_mimo_config c = config_of(scene);
        c.frequency = &(const double){2.4e9};
        c.depth = 2;
        c.diffractions = 1;
        c.tx.antenna = each[0];
        c.rx.each = each;
        channels(&c, 2, (const double(*)[3])tx, 3, (const double(*)[3])rx, pass ? turned : h);
        ec_scene_destroy(&scene);
        for (int i = 0; i < 3; i++) {
            turn(rx[i]);
            turn(each[i].axis);
            turn(each[i].up);
        }
        for (int i = 0; i < 2; i++) {
            turn(tx[i]);
            turn(box[i].at);
            turn(box[i].size);
        }
    }
    assert_true(distance_of(h, turned, 6) < 1e-12);
    for (int i = 0; i < 6; i++)
        assert_true(hypot(h[i].re, h[i].im) > 1e-4);
    ec_element_table_destroy(&table);
}

/* Each antenna's channels are the bits of those of an array of its kind, in any batch. */
static void test_each_its_own(void **state)
{
    (void)state;
    static const double tx[3][3] = {{0, 0, 4}, {1, 0, 4}, {2, 0, 4}};
    static const double rx[4][3] = {{30, 1, 2}, {31, 1, 2}, {30, 8, 2}, {31, 8, 2}};
    ec_element_pattern table = make_table(true);
    ec_mimo_antenna send[3] = {
        {.kind = EC_ELEMENT_KIND_TABLE, .table = &table, .axis = {1, 0, 0}, .up = {0, 0, 1}},
        {.kind = EC_ELEMENT_KIND_ISOTROPIC, .axis = {0, 1, 1}},
        {.kind = EC_ELEMENT_KIND_TABLE, .table = &table, .axis = {0, 1, 0}}};
    ec_mimo_antenna hear[4] = {{.kind = EC_ELEMENT_KIND_SHORT_DIPOLE, .axis = {0, 0, 1}},
                               {.kind = EC_ELEMENT_KIND_SHORT_DIPOLE, .axis = {0, 1, 0}},
                               {.kind = EC_ELEMENT_KIND_SHORT_DIPOLE, .axis = {0, 0, 1}},
                               {.kind = EC_ELEMENT_KIND_HEMISPHERIC, .axis = {-1, 0, 0}}};
    ec_c128 all[12], one[12];
    ec_shape ground;

    ec_shape_default(EC_SHAPE_GROUND, &ground);
    ground.size[0] = ground.size[1] = 200;
    ec_scene *scene = build(1, &ground, (const char *const[]){"pec"});
    ec_mimo_config c = config_of(scene);
    c.tx.each = send;
    c.rx.each = hear;
    channels(&c, 3, tx, 4, rx, all);
    c.tx.each = c.rx.each = NULL;
    for (int t = 0; t < 3; t++)
        for (int r = 0; r < 4; r++) {
            c.tx.antenna = send[t];
            c.rx.antenna = hear[r];
            channels(&c, 3, tx, 4, rx, one);
            assert_memory_equal(&all[r * 3 + t], &one[r * 3 + t], sizeof *one);
            assert_true(hypot(one[r * 3 + t].re, one[r * 3 + t].im) > 1e-6);
        }
    /* receivers of two antennas each */
    c.tx.each = send;
    c.rx.each = hear;
    c.receivers = 2;
    channels(&c, 3, tx, 4, rx, one);
    assert_memory_equal(all, one, sizeof all);
    ec_element_table_destroy(&table);
    ec_scene_destroy(&scene);
}

static void test_what_is_no_antenna(void **state)
{
    (void)state;
    ec_scene *scene = nearly_free_space();
    ec_mimo_config c = config_of(scene);
    ec_graph *g = NULL;
    ec_call *call = NULL;

    assert_int_equal(ec_graph_create(&g), EC_OK);
    stand(g, 1, &(const double[3]){0, 0, 0}, &c.tx);
    stand(g, 1, &(const double[3]){5, 0, 0}, &c.rx);
    c.tx.antenna =
        (ec_mimo_antenna){.kind = EC_ELEMENT_KIND_COSQ, .axis = {0, 2, 0}, .up = {0, -1, 0}};
    assert_int_equal(ec_mimo_call(g, &c, &call), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "tx: antenna 1 has up = (0, -1, 0) along its axis"));
    c.tx.antenna =
        (ec_mimo_antenna){.kind = EC_ELEMENT_KIND_HALF_WAVE, .axis = {0, 2, 0}, .up = {1, 0, 0}};
    assert_int_equal(ec_mimo_call(g, &c, &call), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "it has no up"));
    c.tx.antenna = (ec_mimo_antenna){.kind = EC_ELEMENT_KIND_TABLE, .axis = {0, 2, 0}};
    assert_int_equal(ec_mimo_call(g, &c, &call), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "no table"));
    ec_graph_destroy(&g);
    ec_scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_dipole), cmocka_unit_test(test_turned_scene),
        cmocka_unit_test(test_each_its_own), cmocka_unit_test(test_what_is_no_antenna)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
