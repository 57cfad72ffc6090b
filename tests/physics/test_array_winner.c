/* test_array_winner.c: the tables and files of the best design's array, read back and against a
 * direct sum over short dipoles along x, whose field is cos th cos ph and -sin ph (Balanis, "Antenna
 * Theory", 4.2, with the dipole turned), and against masks computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_pattern_winner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 5 };

static const double wavelength = 0.3, steer[2] = {0.2, -0.1};
static const double at_x[ELEMENTS] = {-0.31, -0.12, 0.02, 0.14, 0.33},
                    at_y[ELEMENTS] = {0.05, -0.11, 0.2, -0.02, 0.1},
                    at_z[ELEMENTS] = {0, 0.03, -0.02, 0.01, 0.05},
                    fed[ELEMENTS] = {0.1, 3.0, -0.4, 2.2, -3.1};

/* A search over the amplitudes, one an element; the objective is of no interest. */
typedef struct bench {
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_result *result;
    ec_array_inputs in;
    ec_array_config config;
    ec_call *call;
    char path[600];
} bench;

static ec_expr list_of(bench *b, const double *value)
{
    const int32_t shape = ELEMENTS;
    return ec_graph_constant(b->graph, 1, &shape, value);
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    double min[ELEMENTS], max[ELEMENTS];
    ec_backend_info backend = {.name = "cpu", .threads = 2};
    ec_solve_info info;

    if (!b || ec_graph_create(&b->graph) != EC_OK ||
        ec_job_create(b->graph, "winner", 1, &b->job) != EC_OK ||
        ec_backend_create(&backend, &b->backend) != EC_OK)
        return -1;
    for (int i = 0; i < ELEMENTS; i++) {
        min[i] = 0.5;
        max[i] = 1;
    }
    ec_variable_info a = {
        .name = "a", .kind = EC_VARIABLE_REAL, .count = ELEMENTS, .min = min, .max = max};
    if (ec_job_add_variable(b->job, &a) != 0)
        return -1;
    ec_expr amplitude = ec_job_variable(b->job, 0)->value;
    if (ec_job_add_objective(b->job, "sum", ec_graph_unary(b->graph, EC_OP_SUM, amplitude), false,
                             0) != EC_OK)
        return -1;
    ec_solve_info_default(&info);
    info.evaluations = 200;
    if (ec_solve(b->job, b->backend, &info, &b->result) != EC_OK)
        return -1;
    b->in = (ec_array_inputs){list_of(b, at_x),
                              list_of(b, at_y),
                              list_of(b, at_z),
                              amplitude,
                              list_of(b, fed),
                              ec_graph_number(b->graph, wavelength),
                              ec_graph_number(b->graph, steer[0]),
                              ec_graph_number(b->graph, steer[1]),
                              EC_ARRAY_ABSENT};
    ec_array_config_default(&b->config);
    b->config.elements = ELEMENTS;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;

    ec_result_destroy(&b->result);
    ec_job_destroy(&b->job);
    ec_graph_destroy(&b->graph);
    ec_backend_destroy(&b->backend);
    free(b);
    return 0;
}

static ec_array_winner winner_of(bench *b)
{
    if (ec_array_call(b->graph, &b->config, &b->in, &b->call) != EC_OK)
        fail_msg("%s", ec_error_text());
    return (ec_array_winner){b->job, b->result, b->backend, b->call};
}

static const char *file_of(bench *b, const char *ending)
{
    snprintf(b->path, sizeof b->path, "%s/winner_%ld%s", EC_TEST_BINARY_DIR, (long)getpid(),
             ending);
    return b->path;
}

static void fill(double *at, int n, double from, double to)
{
    for (int i = 0; i < n; i++)
        at[i] = from + (to - from) * i / (n - 1);
}

static void use_dipoles(bench *b)
{
    const double axis[3] = {1, 0, 0};
    assert_int_equal(
        ec_element_pattern_init(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, axis, &b->config.element), EC_OK);
}

/* F of isotropic elements. */
static ec_c128 array_factor(const bench *b, double u, double v, double w)
{
    double w0 = sqrt(1 - steer[0] * steer[0] - steer[1] * steer[1]);
    ec_c128 f = {0, 0};

    for (int m = 0; m < ELEMENTS; m++) {
        double turn =
            ((u - steer[0]) * at_x[m] + (v - steer[1]) * at_y[m] + (w - w0) * at_z[m]) / wavelength;
        double a = b->result->variable[0][m], phase = 2 * EC_PI * turn + fed[m];
        f.re += a * cos(phase);
        f.im += a * sin(phase);
    }
    return f;
}

/* A far field against the direct sum: dipoles along x, or isotropic elements. */
static void check_field(const bench *b, const ec_far_field *f, bool dipoles)
{
    for (int32_t i = 0; i < f->n_theta; i++)
        for (int32_t k = 0; k < f->n_phi; k++) {
            double t = f->theta[i], p = f->phi[k];
            ec_c128 a = array_factor(b, sin(t) * cos(p), sin(t) * sin(p), cos(t));
            double gain = dipoles ? -cos(t) * cos(p) : 1, across = dipoles ? sin(p) : 0;
            const ec_c128 *e = &f->e_theta[i * f->n_phi + k], *g = &f->e_phi[i * f->n_phi + k];
            if (!(fabs(e->re - gain * a.re) + fabs(e->im - gain * a.im) < 1e-9 &&
                  fabs(g->re - across * a.re) + fabs(g->im - across * a.im) < 1e-9))
                fail_msg("theta %g, phi %g: (%g, %g), (%g, %g) for (%g, %g), (%g, %g)", t, p, e->re,
                         e->im, g->re, g->im, gain * a.re, gain * a.im, across * a.re,
                         across * a.im);
        }
}

/* Writes it and reads it back: the same bits. */
static void check_file(bench *b, const ec_array_winner *w, const char *ending, double frequency)
{
    const char *path = file_of(b, ending);
    ec_far_field *is = NULL, *back = NULL;

    assert_int_equal(ec_array_winner_far_field(w, &is, NULL), EC_OK);
    if (ec_array_winner_write_far_field(w, path) != EC_OK ||
        ec_far_field_read(path, NULL, &back) != EC_OK)
        fail_msg("%s", ec_error_text());
    unlink(path);
    size_t n = (size_t)is->n_theta * (size_t)is->n_phi;
    assert_int_equal(is->n_theta, back->n_theta);
    assert_int_equal(is->n_phi, back->n_phi);
    for (int32_t i = 0; i < is->n_theta; i++)
        assert_true(fabs(is->theta[i] - back->theta[i]) < 4e-15);
    for (int32_t i = 0; i < is->n_phi; i++)
        assert_true(fabs(is->phi[i] - back->phi[i]) < 4e-15);
    assert_memory_equal(is->e_theta, back->e_theta, n * sizeof *is->e_theta);
    assert_memory_equal(is->e_phi, back->e_phi, n * sizeof *is->e_phi);
    assert_true(back->frequency == frequency);
    ec_far_field_destroy(&is);
    ec_far_field_destroy(&back);
}

static void test_far_field(void **state)
{
    static const ec_array_polarization parts[] = {EC_POLARIZATION_TOTAL, EC_POLARIZATION_CROSS};
    bench *b = *state;
    double theta[37], phi[25];
    ec_far_field *field = NULL;
    bool scalar = false;

    fill(theta, 37, 0, EC_PI); /* both poles */
    fill(phi, 25, 0, 2 * EC_PI);
    b->config.kind = EC_ARRAY_GRID_THETA_PHI;
    b->config.a = theta;
    b->config.b = phi;
    b->config.na = 37;
    b->config.nb = 25;
    for (int dipoles = 0; dipoles < 2; dipoles++)
        for (int part = 0; part <= dipoles; part++) {
            if (dipoles)
                use_dipoles(b);
            b->config.polarization = parts[part]; /* changes nothing */
            ec_array_winner w = winner_of(b);
            assert_int_equal(ec_array_winner_far_field(&w, &field, &scalar), EC_OK);
            assert_true(scalar == !dipoles);
            assert_true(fabs(field->frequency - 299792458.0 / wavelength) < 1e-3);
            check_field(b, field, dipoles);
            check_file(b, &w, ".ffd", field->frequency);
            check_file(b, &w, ".CUT", 0);
            ec_far_field_destroy(&field);
        }
}

static void test_theta_cut(void **state)
{
    bench *b = *state;
    double theta[181];
    ec_far_field *field = NULL;

    use_dipoles(b);
    b->config.kind = EC_ARRAY_CUT_THETA;
    b->config.a = theta;
    b->config.na = 181;
    b->config.fixed = 30 * EC_PI / 180;
    fill(theta, 181, -EC_PI / 2, EC_PI / 2);
    ec_array_winner w = winner_of(b);
    assert_int_equal(ec_array_winner_far_field(&w, &field, NULL), EC_OK);
    assert_int_equal(field->n_theta, 91);
    assert_int_equal(field->n_phi, 2);
    assert_true(fabs(field->phi[1] - 210 * EC_PI / 180) < 1e-12);
    check_field(b, field, true);
    ec_far_field_destroy(&field);
    check_file(b, &w, ".cut", 0);
    /* one side only; far around: within the angles of a file */
    b->config.na = 91;
    b->config.fixed = 4 * EC_PI;
    fill(theta, 91, 0, EC_PI / 2);
    w = winner_of(b);
    assert_int_equal(ec_array_winner_far_field(&w, &field, NULL), EC_OK);
    assert_int_equal(field->n_theta, 91);
    assert_true(field->phi[1] <= 4 * EC_PI);
    check_field(b, field, true);
    ec_far_field_destroy(&field);
    /* the two sides do not meet in one grid */
    fill(theta, 91, -0.33, EC_PI / 2);
    w = winner_of(b);
    assert_int_equal(ec_array_winner_write_far_field(&w, file_of(b, ".cut")), EC_ERR_UNSUPPORTED);
    assert_non_null(strstr(ec_error_text(), "a .cut file has even steps"));
}

static void test_refused(void **state)
{
    bench *b = *state;
    double u[21];

    fill(u, 21, -0.9, 0.9);
    b->config.a = u;
    b->config.na = 21;
    b->config.fixed = 0.1;
    ec_array_winner w = winner_of(b);
    assert_int_equal(ec_array_winner_write_far_field(&w, file_of(b, ".ffd")), EC_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(ec_error_text(), "the array has a u cut beside v = 0; a list theta_deg"));
    b->config.fixed = 0;
    w = winner_of(b);
    assert_int_not_equal(access(b->path, F_OK), 0);
    assert_int_equal(ec_array_winner_write_far_field(&w, "field.txt"), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), ".ffd or .cut"));
    assert_int_equal(ec_array_winner_write_elements(&w, "/nowhere/elements.csv"), EC_ERR_FILE);
    assert_non_null(strstr(ec_error_text(), "/nowhere/elements.csv"));
    b->config.kind = EC_ARRAY_CUT_THETA;
    fill(u, 21, -1, 1);
    w = winner_of(b);
    assert_int_equal(ec_array_winner_write_far_field(&w, "/nowhere/field.cut"), EC_ERR_FILE);
    /* an amplitude that is none */
    ec_expr low = ec_graph_number(b->graph, -0.995);
    ec_expr none = ec_graph_unary(b->graph, EC_OP_SQRT,
                                  ec_graph_binary(b->graph, EC_OP_ADD, b->in.amplitude, low));
    b->in.amplitude = none;
    w = winner_of(b);
    assert_int_equal(ec_array_winner_write_elements(&w, file_of(b, ".csv")), EC_ERR_RANGE);
    assert_int_equal(ec_array_winner_write_far_field(&w, file_of(b, ".cut")), EC_ERR_RANGE);
    assert_int_not_equal(access(b->path, F_OK), 0);
}

static void test_elements(void **state)
{
    bench *b = *state;
    double u[21], row[8], normal[3] = {0.6, 0, 0.8};
    ec_element_frame frames[ELEMENTS];

    fill(u, 21, -1, 1);
    b->config.a = u;
    b->config.na = 21;
    for (int kind = 0; kind < 3; kind++) { /* isotropic, turned, each turned */
        if (kind)
            use_dipoles(b);
        assert_int_equal(ec_element_frame_of(normal, 0, &b->config.frame), EC_OK);
        for (int m = 0; m < ELEMENTS; m++) {
            const double own[3] = {0, m, 1};
            assert_int_equal(ec_element_frame_of(own, 1, &frames[m]), EC_OK);
        }
        b->config.frames = kind == 2 ? frames : NULL;
        ec_array_winner w = winner_of(b);
        assert_int_equal(ec_array_winner_write_elements(&w, file_of(b, ".csv")), EC_OK);
        FILE *file = fopen(b->path, "r");
        char line[500];
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        assert_string_equal(line, kind ? "x,y,z,amplitude,phase_deg,nx,ny,nz\n"
                                       : "x,y,z,amplitude,phase_deg\n");
        ec_c128 sum = {0, 0}, expected = array_factor(b, 0.3, 0.4, sqrt(0.75));
        for (int m = 0; m < ELEMENTS; m++) {
            assert_non_null(fgets(line, sizeof line, file));
            char *at = line;
            for (int i = 0; i < (kind ? 8 : 5); i++)
                row[i] = strtod(at, &at), at += *at == ',';
            assert_true(row[0] == at_x[m] && row[1] == at_y[m] && row[2] == at_z[m]);
            assert_true(row[3] == b->result->variable[0][m]);
            assert_true(fabs(row[4]) <= 180);
            const double *is = kind == 2 ? frames[m].z : normal;
            for (int i = 0; i < 3 && kind; i++)
                assert_true(fabs(row[5 + i] - is[i]) < 1e-15);
            /* the excitation alone makes the pattern, steering and all */
            double phase =
                row[4] * EC_PI / 180 +
                2 * EC_PI / wavelength * (0.3 * row[0] + 0.4 * row[1] + sqrt(0.75) * row[2]);
            sum.re += row[3] * cos(phase);
            sum.im += row[3] * sin(phase);
        }
        assert_null(fgets(line, sizeof line, file));
        fclose(file);
        unlink(b->path);
        assert_true(fabs(sum.re - expected.re) + fabs(sum.im - expected.im) < 1e-9);
    }
}

static void test_directions(void **state)
{
    bench *b = *state;
    double u[9], v[7], a[4] = {0.1, -0.55, 0.9, 0.2}, c[4] = {0.2, 0.3, 0.9, -0.1}, power[4];
    double *grid = NULL;
    int32_t samples = 0;

    fill(u, 9, -0.7, 0.7);
    fill(v, 7, -0.6, 0.6);
    b->config.kind = EC_ARRAY_GRID_UV;
    b->config.a = u;
    b->config.b = v;
    b->config.na = 9;
    b->config.nb = 7;
    ec_array_winner w = winner_of(b);
    assert_int_equal(ec_array_winner_along(&w, 4, a, c, power), EC_OK);
    for (int i = 0; i < 4; i++) {
        ec_c128 f = array_factor(b, a[i], c[i], sqrt(1 - a[i] * a[i] - c[i] * c[i]));
        assert_true(i == 2 ? isnan(power[i]) : fabs(power[i] - f.re * f.re - f.im * f.im) < 1e-9);
    }
    assert_int_equal(ec_array_winner_along(&w, 1, a + 2, c + 2, power), EC_OK); /* none visible */
    assert_true(isnan(power[0]));
    assert_int_equal(ec_array_winner_power(&w, &b->config, &grid, &samples), EC_OK);
    assert_int_equal(samples, 1);
    ec_c128 f = array_factor(b, u[2], v[5], sqrt(1 - u[2] * u[2] - v[5] * v[5]));
    assert_true(fabs(grid[2 * 7 + 5] - f.re * f.re - f.im * f.im) < 1e-9);
    free(grid);
    /* theta beyond the pole is the opposite phi */
    double theta[5], phi[5], t[2] = {-0.4, 0.4}, p[2] = {0.3, 0.3 + EC_PI};
    fill(theta, 5, 0, 1);
    fill(phi, 5, 0, 1);
    b->config.kind = EC_ARRAY_GRID_THETA_PHI;
    b->config.a = theta;
    b->config.b = phi;
    b->config.na = b->config.nb = 5;
    w = winner_of(b);
    assert_int_equal(ec_array_winner_along(&w, 2, t, p, power), EC_OK);
    assert_true(fabs(power[0] - power[1]) < 1e-12);
}

/* 20 log10 |F| at the end of a climb along u. */
static double lobe_db(const bench *b, double u, double v)
{
    double step = 1e-3, level[3];

    while (step > 1e-9) {
        for (int i = 0; i < 3; i++) {
            double x = u + (i - 1) * step;
            ec_c128 f = array_factor(b, x, v, sqrt(1 - x * x - v * v));
            level[i] = 20 * log10(hypot(f.re, f.im));
        }
        if (level[1] >= level[0] && level[1] >= level[2])
            step /= 2;
        else
            u += level[2] > level[0] ? step : -step;
    }
    return level[1];
}

static void test_mask(void **state)
{
    const ec_array_mask_line lines[] = {
        {-0.8, -0.4, {-20, -30}, {-(double)INFINITY, -(double)INFINITY}},
        {-0.5, -0.4, {-28, -28}, {-60, -50}}};
    const ec_array_mask_line far = {0.5, 2, {-20, -20}, {-(double)INFINITY, -(double)INFINITY}};
    const double at[5] = {-1, -0.8, -0.6, -0.45, 0.3}, across[5] = {0, 0, 0, 0, 0};
    const double low[5] = {NAN, NAN, NAN, -55, NAN}, high[5] = {NAN, -20, -25, -28.75, NAN};
    bench *b = *state;
    double u[201], v[3] = {-0.5, 0, 0.5}, max[5], min[5], peak[2] = {0.2, -0.1};

    fill(u, 201, -1, 1);
    b->config.a = u;
    b->config.na = 201;
    b->config.fixed = -0.1;
    ec_array_winner w = winner_of(b);
    for (int relative = 0; relative < 2; relative++) {
        ec_expr metric = ec_array_excess_db(b->graph, b->call, NULL, relative, 2, lines);
        assert_true(metric >= 0);
        for (int i = 0; i < 5; i++)
            max[i] = min[i] = NAN;
        assert_int_equal(ec_array_winner_mask(&w, metric, peak, 5, at, NULL, max, min), EC_OK);
        double zero = relative ? max[1] + 20 : 0;
        if (relative) /* the top of the lobe that holds the steering direction */
            assert_true(fabs(zero - lobe_db(b, steer[0], b->config.fixed)) < 1e-6);
        for (int i = 0; i < 5; i++) {
            assert_true(isnan(low[i]) ? isnan(min[i]) : fabs(min[i] - zero - low[i]) < 1e-9);
            assert_true(isnan(high[i]) ? isnan(max[i]) : fabs(max[i] - zero - high[i]) < 1e-9);
        }
        /* limits only become narrower, and another metric has none */
        max[1] = -90;
        assert_int_equal(ec_array_winner_mask(&w, metric, peak, 5, at, NULL, max, min), EC_OK);
        assert_true(max[1] == -90);
    }
    max[4] = NAN;
    ec_expr sll = ec_array_sll_db(b->graph, b->call, NULL);
    assert_int_equal(ec_array_winner_mask(&w, sll, peak, 5, at, NULL, max, min), EC_OK);
    assert_true(isnan(max[4]));
    /* of a surface: by the distance from where the array is steered, (0.2, -0.1) */
    b->config.kind = EC_ARRAY_GRID_UV;
    b->config.b = v;
    b->config.nb = 3;
    w = winner_of(b);
    ec_expr metric = ec_array_excess_db(b->graph, b->call, NULL, false, 1, &far);
    for (int i = 0; i < 5; i++)
        max[i] = min[i] = NAN;
    assert_int_equal(ec_array_winner_mask(&w, metric, peak, 5, at, across, max, min), EC_OK);
    for (int i = 0; i < 5; i++)
        assert_true(hypot(at[i] - 0.2, 0.1) >= 0.5 ? max[i] == -20 : isnan(max[i]));
    ec_array_beam beam = {-0.9, 0.1, NAN, NAN};
    metric = ec_array_excess_db(b->graph, b->call, &beam, false, 1, &far);
    for (int i = 0; i < 5; i++)
        max[i] = NAN;
    assert_int_equal(ec_array_winner_mask(&w, metric, peak, 5, at, across, max, min), EC_OK);
    for (int i = 0; i < 5; i++)
        assert_true(hypot(at[i] + 0.9, 0.1) >= 0.5 ? max[i] == -20 : isnan(max[i]));
}

static void test_same_field(void **state)
{
    bench *b = *state;
    double u[21];
    ec_call *call[4];

    fill(u, 21, -1, 1);
    b->config.a = u;
    b->config.na = 21;
    use_dipoles(b);
    for (int i = 0; i < 4; i++) {
        b->config.polarization = i ? EC_POLARIZATION_CO : EC_POLARIZATION_TOTAL;
        u[3] += i == 2 ? 0.01 : i == 3 ? -0.01 : 0;
        if (i == 3)
            b->in.z = ec_graph_number(b->graph, 0);
        winner_of(b);
        call[i] = b->call;
    }
    assert_true(ec_array_winner_same_field(call[0], call[1]));
    assert_false(ec_array_winner_same_field(call[0], call[2]));
    assert_false(ec_array_winner_same_field(call[0], call[3]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_far_field, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_theta_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mask, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_field, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
