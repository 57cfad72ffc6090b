/* test_array_pattern.c: patterns with exact or published answers, and gradients against finite
 * differences. Cases are named after what they are: closed forms of uniform and Dolph-Chebyshev
 * lines, the optima of aperiodic 17- and 37-element lines, Haupt's thinned array, and the mistakes
 * that users of pattern tools report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_pattern.h"
#include "core/executor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one design through the graph ---- */

typedef struct bench {
    ec_backend *backend;
    ec_graph *graph;
    ec_array_config config;
    ec_array_inputs in;
    ec_call *call;
    int32_t n;
    double *axis[2];
    double genes[600];
    size_t n_genes;
} bench;

static void bench_open(bench *b, int32_t elements)
{
    ec_backend_info info = {.name = "cpu", .threads = 2};

    memset(b, 0, sizeof *b);
    assert_int_equal(ec_backend_create(&info, &b->backend), EC_OK);
    assert_int_equal(ec_graph_create(&b->graph), EC_OK);
    ec_array_config_default(&b->config);
    b->config.elements = b->n = elements;
    ec_expr none = EC_ARRAY_ABSENT;
    ec_array_inputs in = {none, none, none, none, none, none, none, none, none};
    b->in = in;
    b->in.wavelength = ec_graph_number(b->graph, 1.0);
}

static void bench_close(bench *b)
{
    free(b->axis[0]);
    free(b->axis[1]);
    ec_graph_destroy(&b->graph);
    ec_backend_destroy(&b->backend);
}

static ec_expr constant(bench *b, const double *data, int32_t n)
{
    return ec_graph_constant(b->graph, 1, &n, data);
}

/* The genes' values are the design; each varies by +- width around them. */
static ec_expr variable(bench *b, const double *value, int32_t n, double width)
{
    double lo[300], hi[300];

    for (int32_t i = 0; i < n; i++) {
        b->genes[b->n_genes + (size_t)i] = value[i];
        lo[i] = value[i] - width;
        hi[i] = value[i] + width;
    }
    ec_expr e = ec_graph_variable(b->graph, false, (int32_t)b->n_genes, n, lo, hi);
    b->n_genes += (size_t)n;
    return e;
}

static double *range(double from, double to, int32_t n)
{
    double *a = malloc((size_t)n * sizeof *a);

    assert_non_null(a);
    for (int32_t i = 0; i < n; i++)
        a[i] = from + (to - from) * i / (n - 1);
    return a;
}

static void set_axis(bench *b, int which, double from, double to, int32_t n)
{
    b->axis[which] = range(from, to, n);
    if (which == 0) {
        b->config.a = b->axis[0];
        b->config.na = n;
    } else {
        b->config.b = b->axis[1];
        b->config.nb = n;
    }
}

static void make_call(bench *b)
{
    if (ec_array_call(b->graph, &b->config, &b->in, &b->call) < 0)
        fail_msg("%s", ec_error_text());
}

/* Value of one scalar output; *status may be NULL, then a failed candidate fails the test. */
static double value_of(bench *b, ec_expr e, ec_fidelity fidelity, uint8_t *status)
{
    double result = 0.0;
    double *out[1] = {&result};
    uint8_t mine = 0;

    if (e < 0)
        fail_msg("%s", ec_error_text());
    if (ec_evaluate_once(b->graph, b->backend, fidelity, 1, &e, b->genes, b->n_genes, NULL, 0, out,
                         &mine, NULL) < 0)
        fail_msg("%s", ec_error_text());
    if (status)
        *status = mine;
    else
        assert_int_equal(mine, 0);
    return result;
}

static void near(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s is %.9g, expected %.9g within %g", what, got, want, tolerance);
}

/* ---- exact lines ---- */

typedef struct line_case {
    const char *name;
    int n;
    double d, sll, hpbw, fnbw, directivity;
    double half_weights[10]; /* centre to edge; first 0: uniform */
    double sll_tolerance;    /* printed weights have five digits */
} line_case;

static const line_case lines[] = {
    {"uniform 8", 8, 0.5, -12.7973, 12.8027, 28.9550, 9.0309, {0}, 1e-3},
    {"uniform 15", 15, 0.5, -13.1310, 6.7849, 15.3244, 11.7609, {0}, 1e-3},
    {"uniform 20", 20, 0.5, -13.1882, 5.0832, 11.4783, 13.0103, {0}, 1e-3},
    {"uniform 100", 100, 0.5, -13.2585, 1.0153, 2.2920, 20.0000, {0}, 1e-3},
    {"uniform 10, d = 0.25", 10, 0.25, -12.9662, 20.5008, 47.1564, 7.1316, {0}, 1e-3},
    {"Chebyshev 10, 20 dB",
     10,
     0.5,
     -20.0,
     11.1861,
     27.1612,
     9.8326,
     {1, .92137, .77799, .59443, .64163},
     1e-3},
    {"Chebyshev 20, 30 dB",
     20,
     0.5,
     -30.0,
     6.3277,
     16.9539,
     12.3929,
     {1, .97010, .91243, .83102, .73147, .62034, .50461, .39104, .28558, .32561},
     2e-3},
};

static void fill_line(const line_case *c, double *x, double *amplitude)
{
    for (int i = 0; i < c->n; i++) {
        double middle = 0.5 * (c->n - 1);
        x[i] = (i - middle) * c->d;
        amplitude[i] = c->half_weights[0] > 0 ? c->half_weights[(int)fabs(i - middle)] : 1.0;
    }
}

static void check_line(const line_case *c, ec_fidelity fidelity, ec_array_method method,
                       ec_array_grid_kind kind, double loose)
{
    double x[100], amplitude[100];
    bench b;

    fill_line(c, x, amplitude);
    bench_open(&b, c->n);
    b.in.x = constant(&b, x, c->n);
    b.in.amplitude = constant(&b, amplitude, c->n);
    b.config.kind = kind;
    b.config.method = method;
    if (kind == EC_ARRAY_CUT_U)
        set_axis(&b, 0, -1, 1, 2001);
    else
        set_axis(&b, 0, -EC_PI / 2, EC_PI / 2, 1801);
    make_call(&b);
    near(c->name, value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), fidelity, NULL), c->sll,
         loose + c->sll_tolerance);
    near(c->name, value_of(&b, ec_array_hpbw_deg(b.graph, b.call, NULL), fidelity, NULL), c->hpbw,
         loose + 1e-3);
    near(c->name, value_of(&b, ec_array_fnbw_deg(b.graph, b.call, NULL), fidelity, NULL), c->fnbw,
         5 * loose + 1e-3); /* the parabola about a null is lopsided */
    near(c->name, value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), fidelity, NULL),
         c->directivity, 1e-4);
    bench_close(&b);
}

static void exact_lines_final(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        check_line(&lines[i], EC_FINAL, EC_METHOD_AUTO, EC_ARRAY_CUT_U, 0.0);
        check_line(&lines[i], EC_FINAL, EC_METHOD_DIRECT, EC_ARRAY_CUT_U, 0.0);
        check_line(&lines[i], EC_FINAL, EC_METHOD_AUTO, EC_ARRAY_CUT_THETA, 0.0);
    }
}

/* Interpolation in the search costs at most this on 2001 points. */
static void exact_lines_search(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        check_line(&lines[i], EC_SEARCH, EC_METHOD_PRODUCT, EC_ARRAY_CUT_U, 2e-3);
        check_line(&lines[i], EC_SEARCH, EC_METHOD_DIRECT, EC_ARRAY_CUT_U, 2e-3);
        check_line(&lines[i], EC_SEARCH, EC_METHOD_DIRECT, EC_ARRAY_CUT_THETA, 2e-3);
    }
}

/* ---- published syntheses ---- */

static double sll_of_positions(const double *x, int n, int points, ec_fidelity fidelity)
{
    bench b;

    bench_open(&b, n);
    b.in.x = constant(&b, x, n);
    set_axis(&b, 0, -1, 1, points);
    make_call(&b);
    double sll = value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), fidelity, NULL);
    bench_close(&b);
    return sll;
}

static const double best17[17] = {-4.8720, -3.8482, -3.0993, -2.3328, -1.7743, -1.2743,
                                  -0.7743, -0.2743, 0.2257,  0.7257,  1.2257,  1.7257,
                                  2.2450,  2.7450,  3.4263,  4.2417,  4.8720};

static void aperiodic_17(void **state)
{
    (void)state;
    near("17 elements", sll_of_positions(best17, 17, 2001, EC_FINAL), -20.1426, 1.5e-4);
    near("17 elements, 101 points", sll_of_positions(best17, 17, 101, EC_FINAL), -20.1426, 1.5e-4);
    near("17 elements, search", sll_of_positions(best17, 17, 2001, EC_SEARCH), -20.1426, 1e-3);
}

static const double half37[19] = {
    0, 0.5,       1,         1.5,       2,         2.5,       3,         3.5,        4,     4.5,
    5, 5.6001537, 6.1751825, 6.7895343, 7.6309425, 8.3318794, 9.6475868, 10.4566577, 10.998};

static void aperiodic_37(void **state)
{
    double x[37];

    (void)state;
    for (int i = 0; i < 19; i++) {
        x[18 + i] = half37[i];
        x[18 - i] = -half37[i];
    }
    near("37 elements", sll_of_positions(x, 37, 2001, EC_FINAL), -21.0906, 1.5e-4);
    near("37 elements, 12 samples a 1/aperture",
         sll_of_positions(x, 37, 2 * 22 * 12 + 1, EC_SEARCH), -21.0906, 5e-3);
}

static double sll_of_bits(const char *bits)
{
    double x[200];
    int n = 0;

    for (int i = 0; bits[i]; i++) {
        if (bits[i] != '1')
            continue;
        x[n++] = 0.25 + 0.5 * i;
        x[n++] = -0.25 - 0.5 * i;
    }
    return sll_of_positions(x, n, 4001, EC_FINAL);
}

static void haupt_200(void **state)
{
    (void)state;
    near("Haupt's bits",
         sll_of_bits("1111111111111111111111111111111111111111111100111110011111110111"
                     "110100001010111001001011100010101101"),
         -22.141, 1e-3);
    near("thinned 200",
         sll_of_bits("1111111111111111111111111111111111111111111111111101101101101111"
                     "001110100010000101001010100000111011"),
         -23.420, 1e-3);
}

/* ---- what users get wrong ---- */

static void steering_sign(void **state)
{
    double x[10], phase[10], out[601];
    bench b;

    (void)state;
    for (int i = 0; i < 10; i++) {
        x[i] = 0.5 * i;
        phase[i] = -2.0 * EC_PI * x[i] * sin(20.0 * EC_PI / 180.0);
    }
    for (int by_phase = 0; by_phase < 2; by_phase++) {
        bench_open(&b, 10);
        b.in.x = constant(&b, x, 10);
        if (by_phase)
            b.in.phase = constant(&b, phase, 10);
        else
            b.in.u0 = ec_graph_number(b.graph, sin(20.0 * EC_PI / 180.0));
        b.config.kind = EC_ARRAY_CUT_THETA;
        set_axis(&b, 0, -EC_PI / 2, EC_PI / 2, 181);
        make_call(&b);
        double angle[2] = {20.0 * EC_PI / 180.0, -20.0 * EC_PI / 180.0};
        ec_expr level = ec_array_level_db(b.graph, b.call, NULL, false, 2, angle, NULL);
        assert_true(level >= 0);
        double *to[1] = {out};
        uint8_t status;
        assert_true(ec_evaluate_once(b.graph, b.backend, EC_FINAL, 1, &level, NULL, 0, NULL, 0, to,
                                     &status, NULL) >= 0);
        near("level at +20 deg", out[0], 20.0, 1e-9);
        assert_true(out[1] < 10.0);
        bench_close(&b);
    }
}

/* Look 5 deg, half width 10 deg: the beam lies on both sides of 0 and of phi = 0 on a circle. */
static void beam_across_zero(void **state)
{
    double x[15];
    bench b;

    (void)state;
    for (int i = 0; i < 15; i++)
        x[i] = 0.5 * (i - 7);
    for (int circle = 0; circle < 2; circle++) {
        bench_open(&b, 15);
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        beam.exclude_a = 10.0 * EC_PI / 180.0;
        if (circle) { /* elements along y: broadside at phi = 0 of the horizon */
            b.in.y = constant(&b, x, 15);
            b.in.v0 = ec_graph_number(b.graph, sin(5.0 * EC_PI / 180.0));
            b.in.u0 = ec_graph_number(b.graph, cos(5.0 * EC_PI / 180.0));
            b.config.kind = EC_ARRAY_CUT_PHI;
            b.config.fixed = EC_PI / 2;
            set_axis(&b, 0, 0, 2 * EC_PI, 721);
        } else {
            b.in.x = constant(&b, x, 15);
            b.in.u0 = ec_graph_number(b.graph, sin(5.0 * EC_PI / 180.0));
            b.config.kind = EC_ARRAY_CUT_THETA;
            set_axis(&b, 0, -EC_PI / 2, EC_PI / 2, 361);
        }
        make_call(&b);
        double sll = value_of(&b, ec_array_sll_db(b.graph, b.call, &beam), EC_FINAL, NULL);
        if (circle) /* a line radiates the same backwards: the beam at 175 deg is a side lobe */
            near("SLL on a circle", sll, 0.0, 1e-6);
        else
            near("SLL", sll, -13.131, 1e-3);
        near("HPBW", value_of(&b, ec_array_hpbw_deg(b.graph, b.call, &beam), EC_FINAL, NULL), 6.811,
             2e-3);
        bench_close(&b);
    }
}

static void one_degree_cut(void **state)
{
    double x[15];
    bench b;

    (void)state;
    for (int i = 0; i < 15; i++)
        x[i] = 0.5 * (i - 7);
    bench_open(&b, 15);
    b.in.x = constant(&b, x, 15);
    b.config.kind = EC_ARRAY_CUT_THETA;
    set_axis(&b, 0, -EC_PI / 2, EC_PI / 2, 181);
    make_call(&b);
    near("HPBW", value_of(&b, ec_array_hpbw_deg(b.graph, b.call, NULL), EC_FINAL, NULL), 6.785,
         1e-3);
    near("FNBW", value_of(&b, ec_array_fnbw_deg(b.graph, b.call, NULL), EC_FINAL, NULL), 15.324,
         1e-3);
    near("SLL", value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_FINAL, NULL), -13.131,
         1e-3);
    near("HPBW, search", value_of(&b, ec_array_hpbw_deg(b.graph, b.call, NULL), EC_SEARCH, NULL),
         6.785, 5e-3);
    near("SLL, search", value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_SEARCH, NULL),
         -13.131, 1e-2);
    bench_close(&b);
}

static void directivity_2000(void **state)
{
    double *x = range(-499.75, 499.75, 2000);
    bench b;

    (void)state;
    bench_open(&b, 2000);
    b.in.x = constant(&b, x, 2000);
    set_axis(&b, 0, -1, 1, 101);
    make_call(&b);
    near("D", value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_SEARCH, NULL),
         10.0 * log10(2000.0), 1e-4);
    bench_close(&b);
    free(x);
}

/* The same |F| 1e4 wavelengths away, in single and double precision. */
static void far_from_origin(void **state)
{
    double x[17];

    (void)state;
    for (int i = 0; i < 17; i++)
        x[i] = best17[i] + 1e4;
    for (int fidelity = 0; fidelity < 2; fidelity++)
        near("moved by 1e4 wavelengths", sll_of_positions(x, 17, 2001, (ec_fidelity)fidelity),
             sll_of_positions(best17, 17, 2001, (ec_fidelity)fidelity), fidelity ? 1e-6 : 2e-5);
}

static void tiny_sizes(void **state)
{
    double x[12];

    (void)state;
    for (int n = 1; n <= 12; n++) {
        for (int points = 8; points <= 9; points++) {
            bench b;
            for (int i = 0; i < n; i++)
                x[i] = 0.25 * i;
            bench_open(&b, n);
            b.in.x = constant(&b, x, n);
            set_axis(&b, 0, -1, 1, points);
            make_call(&b);
            uint8_t status;
            double sll = value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_FINAL, &status);
            assert_int_equal(status, 0);
            if (n <= 4) /* less than a wavelength has no side lobe */
                near("SLL floor", sll, -200.0, 0.0);
            else
                assert_true(sll < -9.0 && sll > -14.0);
            near("D of n",
                 value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_SEARCH, NULL),
                 value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_FINAL, NULL),
                 1e-9);
            bench_close(&b);
        }
    }
}

static void duplicates_and_zeros(void **state)
{
    double x[10] = {0, 0, 0.5, 0.5, 1, 1, 1.5, 1.5, 9, -9};
    double half[4] = {0, 0.5, 1, 1.5}, amplitude[10] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
    bench b, single;

    (void)state;
    bench_open(&b, 10);
    b.in.x = constant(&b, x, 10);
    b.in.amplitude = constant(&b, amplitude, 10);
    set_axis(&b, 0, -1, 1, 401);
    make_call(&b);
    bench_open(&single, 4);
    single.in.x = constant(&single, half, 4);
    set_axis(&single, 0, -1, 1, 401);
    make_call(&single);
    for (int f = 0; f < 2; f++) {
        ec_fidelity fidelity = (ec_fidelity)f;
        near("SLL", value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), fidelity, NULL),
             value_of(&single, ec_array_sll_db(single.graph, single.call, NULL), fidelity, NULL),
             1e-5);
        near("D", value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), fidelity, NULL),
             value_of(&single, ec_array_directivity_db(single.graph, single.call, NULL), fidelity,
                      NULL),
             1e-9);
    }
    bench_close(&b);
    bench_close(&single);
}

/* What a metric cannot say is NaN with a status bit, not a number. */
static void failures_are_data(void **state)
{
    double x[2] = {0, 0.1}, opposite[2] = {1, -1}, same[2] = {0, 0};
    uint8_t status;
    bench b;

    (void)state;
    bench_open(&b, 2); /* no half-power point: two close elements */
    b.in.x = constant(&b, x, 2);
    set_axis(&b, 0, -1, 1, 101);
    make_call(&b);
    assert_true(isnan(value_of(&b, ec_array_hpbw_deg(b.graph, b.call, NULL), EC_FINAL, &status)));
    assert_int_equal(status & ~EC_CANDIDATE_NOT_FINITE, EC_CANDIDATE_OFF_GRID);
    assert_true(isnan(value_of(&b, ec_array_fnbw_deg(b.graph, b.call, NULL), EC_SEARCH, &status)));
    assert_int_equal(status & ~EC_CANDIDATE_NOT_FINITE, EC_CANDIDATE_OFF_GRID);
    bench_close(&b);

    bench_open(&b, 2); /* a zero pattern */
    b.in.x = constant(&b, same, 2);
    b.in.amplitude = constant(&b, opposite, 2);
    set_axis(&b, 0, -1, 1, 101);
    make_call(&b);
    assert_true(isnan(value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_SEARCH, &status)));
    assert_int_equal(status & EC_CANDIDATE_EVALUATOR, EC_CANDIDATE_EVALUATOR);
    bench_close(&b);

    bench_open(&b, 2); /* a look direction that lies outside the grid */
    double look = 0.0;
    b.in.x = constant(&b, x, 2);
    b.in.u0 = variable(&b, &look, 1, 0.1);
    set_axis(&b, 0, 0.5, 0.9, 101);
    make_call(&b);
    assert_true(isnan(value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_FINAL, &status)));
    assert_int_equal(status & EC_CANDIDATE_EVALUATOR, EC_CANDIDATE_EVALUATOR);
    bench_close(&b);
}

static void mistakes_get_sentences(void **state)
{
    double x[4] = {0, 0.5, 1, 1.5}, down[3] = {1, 0, -1};
    ec_array_mask_line outside = {1.5, 2, {-20, -20}, {-(double)INFINITY, -(double)INFINITY}};
    bench b;

    (void)state;
    bench_open(&b, 4);
    b.in.x = constant(&b, x, 4);
    b.config.a = down;
    b.config.na = 3;
    assert_true(ec_array_call(b.graph, &b.config, &b.in, &b.call) < 0);
    assert_non_null(strstr(ec_error_text(), "ascend"));
    set_axis(&b, 0, -1, 1, 101);
    b.config.elements = 5;
    assert_true(ec_array_call(b.graph, &b.config, &b.in, &b.call) < 0);
    assert_non_null(strstr(ec_error_text(), "x has 4 elements, the array has 5"));
    b.config.elements = 4;
    make_call(&b);
    assert_true(ec_array_excess_db(b.graph, b.call, NULL, true, 1, &outside) < 0);
    assert_non_null(strstr(ec_error_text(), "covers no visible direction"));
    ec_array_beam beam;
    ec_array_beam_default(&beam);
    beam.look_a = 1.2;
    assert_true(ec_array_sll_db(b.graph, b.call, &beam) < 0);
    assert_non_null(strstr(ec_error_text(), "outside the visible grid"));
    bench_close(&b);
}

static void refused(bench *b, const char *sentence)
{
    assert_true(ec_array_call(b->graph, &b->config, &b->in, &b->call) < 0);
    if (!strstr(ec_error_text(), sentence))
        fail_msg("'%s' lacks '%s'", ec_error_text(), sentence);
}

/* What cannot be meant: each with the value and what is allowed, angles in degrees. */
static void values_out_of_range(void **state)
{
    double x[3] = {0, 0.5, 1};
    ec_array_mask_line upside_down = {0.2, 0.8, {-20, -40}, {-30, -30}};
    bench b;

    (void)state;
    bench_open(&b, 3);
    b.in.x = constant(&b, x, 3);
    set_axis(&b, 0, 1.1, 1.5, 9);
    refused(&b, "no direction of the grid is visible: u runs from 1.1 to 1.5");
    free(b.axis[0]);
    set_axis(&b, 0, -1, 1, 9);
    b.in.u0 = ec_graph_number(b.graph, 1.5);
    refused(&b, "steer_u is 1.5, allowed is -1 to 1");
    b.in.u0 = ec_graph_number(b.graph, 0.8);
    b.in.v0 = ec_graph_number(b.graph, -0.8);
    refused(&b, "steer_u is 0.8 and steer_v -0.8, outside the visible region");
    b.in.v0 = EC_ARRAY_ABSENT;
    b.in.wavelength = ec_graph_number(b.graph, 1e-300);
    refused(&b, "wavelength is 1e-300 m, allowed is 1e-12 to 1e+12 m");
    b.in.wavelength = ec_graph_number(b.graph, 1.0);
    make_call(&b);
    assert_true(ec_array_excess_db(b.graph, b.call, NULL, true, 1, &upside_down) < 0);
    assert_non_null(strstr(ec_error_text(), "line 1 of the mask allows nothing: max = -40 lies "
                                            "below min = -30"));
    b.config.kind = EC_ARRAY_CUT_THETA;
    free(b.axis[0]);
    set_axis(&b, 0, 0, 2 * EC_PI, 9);
    refused(&b, "theta_deg runs from 0 to 360, allowed is -180 to 180");
    b.config.kind = EC_ARRAY_CUT_PHI;
    free(b.axis[0]);
    set_axis(&b, 0, 0, 3 * EC_PI, 9);
    refused(&b, "phi_deg runs from 0 to 540, allowed is a full turn");
    b.config.fixed = -0.5 * EC_PI;
    refused(&b, "theta_deg of the phi cut is -90, allowed is 0 to 180");
    bench_close(&b);
}

/* ---- does the winner point where its metrics look? ---- */

static void look_level(void **state)
{
    double x[8];
    ec_array_beam beam;
    bench b;

    (void)state;
    for (int i = 0; i < 8; i++)
        x[i] = 0.5 * i;
    bench_open(&b, 8);
    b.in.x = constant(&b, x, 8);
    b.in.u0 = ec_graph_number(b.graph, 0.2);
    set_axis(&b, 0, -1, 1, 201);
    make_call(&b);
    ec_expr steered = ec_array_sll_db(b.graph, b.call, NULL);
    near("level of the steering direction",
         value_of(&b, ec_array_look_level(b.graph, steered), EC_FINAL, NULL), 0.0, 1e-9);
    ec_array_beam_default(&beam);
    beam.look_a = 0.0;
    ec_expr forgotten = ec_array_hpbw_deg(b.graph, b.call, &beam);
    /* |sin(8 t) / (8 sin t)| with t = pi d (0 - 0.2) */
    double t = EC_PI * 0.1, want = 20 * log10(fabs(sin(8 * t) / (8 * sin(t))));
    near("level of broadside",
         value_of(&b, ec_array_look_level(b.graph, forgotten), EC_FINAL, NULL), want, 1e-6);
    /* with an exclusion its highest level counts: first off the beam, then up to it */
    double inside = -12.7973478; /* the first side lobe of 8, at 0.2 - 0.3595 */
    beam.look_a = -0.2;
    beam.exclude_a = 0.08;
    near("level inside an exclusion",
         value_of(&b, ec_array_look_level(b.graph, ec_array_sll_db(b.graph, b.call, &beam)),
                  EC_FINAL, NULL),
         inside, 1e-6);
    beam.exclude_a = 0.45;
    near("level inside a wide exclusion",
         value_of(&b, ec_array_look_level(b.graph, ec_array_sll_db(b.graph, b.call, &beam)),
                  EC_FINAL, NULL),
         0.0, 1e-9);
    ec_expr pattern = ec_array_pattern(b.graph, b.call);
    assert_int_equal(ec_array_look_level(b.graph, pattern), EC_ERR_UNSUPPORTED);
    ec_expr pointing = ec_array_pointing_error_deg(b.graph, b.call, NULL);
    assert_int_equal(ec_array_look_level(b.graph, pointing), EC_ERR_UNSUPPORTED);
    bench_close(&b);
}

typedef struct heard {
    int warnings;
    char text[200];
} heard;

static void hear(void *user, ec_log_level level, const char *text)
{
    heard *h = user;

    if (level != EC_LOG_WARNING)
        return;
    h->warnings++;
    strncpy(h->text, text, sizeof h->text - 1);
}

/* Positions and wavelength in different units: the plan says so. */
static void units_mixed_up(void **state)
{
    const double scale[] = {1.0, 1e-5, 1e4};
    bench b;

    (void)state;
    for (int i = 0; i < 3; i++) {
        double x[4] = {0, 0.5 * scale[i], scale[i], 1.5 * scale[i]};
        heard h = {0};
        ec_log log = {.level = EC_LOG_WARNING, .write = hear, .user = &h};
        double result, *out[1] = {&result};
        bench_open(&b, 4);
        b.in.x = constant(&b, x, 4);
        set_axis(&b, 0, -0.001, 0.001, 4001);
        make_call(&b);
        ec_expr e = ec_array_directivity_db(b.graph, b.call, NULL);
        assert_true(ec_evaluate_once(b.graph, b.backend, EC_SEARCH, 1, &e, NULL, 0, NULL, 0, out,
                                     NULL, &log) >= 0);
        assert_int_equal(h.warnings, i > 0);
        if (i > 0)
            assert_non_null(strstr(h.text, "positions and wavelength in the same unit?"));
        bench_close(&b);
    }
}

/* ---- directivity of elements and hemispheres ---- */

static void element_directivity(void **state)
{
    double zero = 0.0;

    (void)state;
    for (int q2 = 0; q2 <= 6; q2++) { /* cos^q alone: D = 2 (2q + 1) */
        bench b;
        bench_open(&b, 1);
        b.in.x = constant(&b, &zero, 1);
        b.config.element.kind = EC_ELEMENT_KIND_COSQ;
        b.config.element.q = 0.5 * q2;
        set_axis(&b, 0, -1, 1, 101);
        make_call(&b);
        near("D of cos^q",
             value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_FINAL, NULL),
             10.0 * log10(2.0 * (q2 + 1)), 1e-4);
        bench_close(&b);
    }
}

/* Planar, and out of a plane where it needs quadrature, against the sphere's closed form. */
static void hemisphere_directivity(void **state)
{
    double x[6] = {0, 0.5, 1, 1.5, 2, 2.5}, z[6] = {0, 0, 1e-9, 0, 0, 0};
    bench b;

    (void)state;
    for (int quadrature = 0; quadrature < 2; quadrature++) {
        bench_open(&b, 6);
        b.in.x = constant(&b, x, 6);
        if (quadrature)
            b.in.z = constant(&b, z, 6);
        b.config.integrate = EC_INTEGRATE_HEMISPHERE;
        set_axis(&b, 0, -1, 1, 101);
        make_call(&b);
        near("D", value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_FINAL, NULL),
             10.0 * log10(2 * 6.0), 1e-4);
        bench_close(&b);
    }
}

/* cos^q elements in a plane (the radial kernel) and barely out of it (quadrature). */
static void planar_element_directivity(void **state)
{
    double x[12], y[12], z[12] = {0}, phase[12];

    (void)state;
    for (int i = 0; i < 12; i++) {
        x[i] = 3.0 * (i % 4) + 0.31 * (i / 4);
        y[i] = 0.7 * (i / 4) - 0.2 * (i % 4);
        phase[i] = 0.3 * i;
    }
    z[5] = 1e-9;
    for (int q3 = 0; q3 <= 4; q3++) {
        double got[2];
        for (int quadrature = 0; quadrature < 2; quadrature++) {
            bench b;
            bench_open(&b, 12);
            b.in.x = constant(&b, x, 12);
            b.in.y = constant(&b, y, 12);
            b.in.phase = constant(&b, phase, 12);
            if (quadrature)
                b.in.z = constant(&b, z, 12);
            b.config.element.kind = EC_ELEMENT_KIND_COSQ;
            b.config.element.q = q3 / 3.0;
            set_axis(&b, 0, -1, 1, 101);
            make_call(&b);
            got[quadrature] =
                value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_FINAL, NULL);
            bench_close(&b);
        }
        near("D", got[0], got[1], 1e-5);
    }
}

/* ---- masks and levels ---- */

static void masks(void **state)
{
    double x[20], u[3] = {0.05, 0.3, -0.72};
    double inf = (double)INFINITY;
    bench b;

    (void)state;
    for (int i = 0; i < 20; i++)
        x[i] = 0.5 * (i - 9.5);
    bench_open(&b, 20);
    b.in.x = constant(&b, x, 20);
    set_axis(&b, 0, -1, 1, 801);
    make_call(&b);
    ec_array_mask_line side[2] = {{0.1, 1, {-13, -13}, {-inf, -inf}},
                                  {-1, -0.1, {-13, -13}, {-inf, -inf}}};
    for (int f = 0; f < 2; f++)
        near("excess over a flat mask",
             value_of(&b, ec_array_excess_db(b.graph, b.call, NULL, true, 2, side), (ec_fidelity)f,
                      NULL),
             -0.1882, 1e-3);
    /* a slope from -10 to -20 dB and a floor below the beam: the worst by brute force */
    ec_array_mask_line slope[2] = {{0.1, 1, {-10, -20}, {-inf, -inf}},
                                   {-0.02, 0.02, {inf, inf}, {-1, -1}}};
    double worst = -1e9;
    for (int i = 0; i <= 2000000; i++) {
        double t = -1 + 1e-6 * i, s = sin(0.5 * EC_PI * t);
        double p = s == 0 ? 1 : pow(sin(10 * EC_PI * t) / (20 * s), 2), db = 10 * log10(p);
        if (t >= 0.1)
            worst = fmax(worst, db - (-10 - 10 * (t - 0.1) / 0.9));
        if (fabs(t) <= 0.02 + 1e-12)
            worst = fmax(worst, -1 - db);
    }
    near("excess over a slope",
         value_of(&b, ec_array_excess_db(b.graph, b.call, NULL, true, 2, slope), EC_FINAL, NULL),
         worst, 1e-6);
    near("excess over a slope, search",
         value_of(&b, ec_array_excess_db(b.graph, b.call, NULL, true, 2, slope), EC_SEARCH, NULL),
         worst, 5e-3);
    ec_expr depth = ec_array_null_depth_db(b.graph, b.call, NULL, 3, u, NULL);
    double s = sin(0.5 * EC_PI * 0.05);
    near("null depth", value_of(&b, depth, EC_FINAL, NULL),
         20 * log10(fabs(sin(10 * EC_PI * 0.05) / (20 * s))), 1e-6);
    bench_close(&b);
}

/* ---- surfaces ---- */

static double line_10(double u)
{
    double s = sin(0.5 * EC_PI * u);
    return fabs(s) < 1e-12 ? 1.0 : sin(5 * EC_PI * u) / (10 * s);
}

/* Midpoint rule in theta and phi. */
static double directivity_10_by_10(void)
{
    enum { NTHETA = 2000, NPHI = 720 };
    double sum = 0;

    for (int i = 0; i < NTHETA; i++)
        for (int k = 0; k < NPHI; k++) {
            double theta = EC_PI / 2 * (i + 0.5) / NTHETA, phi = 2 * EC_PI * (k + 0.5) / NPHI;
            double r = sin(theta), f = line_10(r * cos(phi)) * line_10(r * sin(phi));
            sum += f * f * r;
        }
    return -10 * log10(sum * EC_PI / 2 / NTHETA / NPHI);
}

/* A rectangular array's pattern is the product of two lines: the highest side lobe lies on an
 * axis and is the line's. */
static void rectangular_surface(void **state)
{
    double x[100], y[100];
    bench b;

    (void)state;
    for (int i = 0; i < 100; i++) {
        x[i] = 0.5 * (i % 10 - 4.5);
        y[i] = 0.5 * (i / 10 - 4.5);
    }
    double s10 = -12.9662; /* uniform 10 */
    for (int kind = 0; kind < 2; kind++) {
        bench_open(&b, 100);
        b.in.x = constant(&b, x, 100);
        b.in.y = constant(&b, y, 100);
        b.config.kind = kind ? EC_ARRAY_GRID_THETA_PHI : EC_ARRAY_GRID_UV;
        set_axis(&b, 0, kind ? 0 : -1, kind ? EC_PI / 2 : 1, kind ? 91 : 128);
        set_axis(&b, 1, kind ? 0 : -1, kind ? 2 * EC_PI : 1, kind ? 181 : 128);
        make_call(&b);
        for (int f = 0; f < 2; f++) {
            ec_fidelity fidelity = (ec_fidelity)f;
            ec_array_beam beam;
            ec_array_beam_default(&beam);
            double tolerance = f ? 1e-3 : 0.06;
            near("SLL by flood",
                 value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), fidelity, NULL), s10,
                 tolerance);
            beam.exclude_a = kind ? asin(0.25) : 0.25;
            near("SLL outside a circle",
                 value_of(&b, ec_array_sll_db(b.graph, b.call, &beam), fidelity, NULL), s10,
                 tolerance);
        }
        near("D", value_of(&b, ec_array_directivity_db(b.graph, b.call, NULL), EC_FINAL, NULL),
             directivity_10_by_10(), 1e-4);
        bench_close(&b);
    }
}

/* ---- paths against a long double sum ---- */

static void plain_sum(const bench *b, const double *x, const double *y, const double *z,
                      const double *amplitude, const double *phase, double u, double v, double w,
                      double steer_u, double *re, double *im)
{
    long double sr = 0, si = 0;
    const long double two_pi = 6.283185307179586476925286766559L;

    for (int i = 0; i < b->n; i++) {
        long double turn =
            (long double)x[i] * ((long double)u - steer_u) + (y ? (long double)y[i] * v : 0) +
            (z ? (long double)z[i] * ((long double)w - sqrtl(1 - (long double)steer_u * steer_u))
               : 0);
        long double angle = two_pi * (turn - rintl(turn)) + phase[i];
        long double sine, cosine;
        sincosl(angle, &sine, &cosine);
        sr += amplitude[i] * cosine;
        si += amplitude[i] * sine;
    }
    *re = (double)sr;
    *im = (double)si;
}

static uint64_t seed = 12345;

static double draw(double lo, double hi)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static void pattern_against_plain_sum(void **state)
{
    enum { N = 23, POINTS = 77 };
    double x[N], y[N], z[N], amplitude[N], phase[N], out[2 * POINTS];
    bench b;

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = draw(-8, 8);
        y[i] = draw(-2, 2);
        z[i] = draw(-1, 1);
        amplitude[i] = draw(-0.5, 1);
        phase[i] = draw(-9, 9);
    }
    bench_open(&b, N);
    b.in.x = constant(&b, x, N);
    b.in.y = constant(&b, y, N);
    b.in.z = constant(&b, z, N);
    b.in.amplitude = constant(&b, amplitude, N);
    b.in.phase = constant(&b, phase, N);
    b.in.u0 = ec_graph_number(b.graph, 0.3);
    set_axis(&b, 0, -0.9, 0.9, POINTS);
    b.config.fixed = 0.2;
    make_call(&b);
    ec_expr e = ec_array_pattern(b.graph, b.call);
    double *to[1] = {out};
    assert_true(e >= 0);
    for (int f = 0; f < 2; f++) {
        assert_true(ec_evaluate_once(b.graph, b.backend, (ec_fidelity)f, 1, &e, NULL, 0, NULL, 0,
                                     to, NULL, NULL) >= 0);
        for (int i = 0; i < POINTS; i++) {
            double u = b.axis[0][i], re, im;
            plain_sum(&b, x, y, z, amplitude, phase, u, 0.2, sqrt(1 - u * u - 0.04), 0.3, &re, &im);
            near("Re F", out[2 * i], re, 1e-12 * N);
            near("Im F", out[2 * i + 1], im, 1e-12 * N);
        }
    }
    bench_close(&b);
}

/* Highest |F| of the plain sum outside a distance from the look direction, over its highest inside,
 * on a fine grid of its own. */
static double plain_sll(const bench *b, const double *x, const double *y, const double *amplitude,
                        const double *phase, double from, double steer, double exclude)
{
    double inside = 0, outside = 0;
    bool surface = b->config.kind == EC_ARRAY_GRID_UV;
    int n = surface ? 241 : 8001;

    for (int i = 0; i < n; i++) {
        for (int k = 0; k < (surface ? n : 1); k++) {
            double u = from + (1 - from) * i / (n - 1), re, im;
            double v = surface ? from + (1 - from) * k / (n - 1) : 0.0;
            if (u * u + v * v > 1.0)
                continue;
            plain_sum(b, x, y, NULL, amplitude, phase, u, v, 0, steer, &re, &im);
            double p = re * re + im * im;
            if (hypot(u - steer, v) <= exclude)
                inside = fmax(inside, p);
            else
                outside = fmax(outside, p);
        }
    }
    return 10 * log10(outside / inside);
}

/* Direct and product paths, real and complex weights, odd and even symmetric grids and others: all
 * agree with the plain sum to what interpolation between samples adds. */
static void paths_against_plain_sum(void **state)
{
    enum { N = 21 };
    static const int sizes[][2] = {{200, 0}, {201, 0}, {333, 0}, {64, 64}, {65, 61}, {64, 63}};
    double x[N], y[N], amplitude[N], phase[N];

    (void)state;
    for (int round = 0; round < 48; round++) {
        const int *size = sizes[round % 6];
        bool complex_weights = round & 8, shifted = round & 16;
        for (int i = 0; i < N; i++) {
            x[i] = draw(-3, 3);
            y[i] = draw(-3, 3);
            amplitude[i] = draw(0.5, 1);
            phase[i] = complex_weights ? draw(-0.5, 0.5) : 0.0;
        }
        double got[2][2], want = 0;
        for (int method = 0; method < 2; method++) {
            bench b;
            bench_open(&b, N);
            b.in.x = constant(&b, x, N);
            b.in.y = constant(&b, y, N);
            b.in.amplitude = constant(&b, amplitude, N);
            b.in.phase = constant(&b, phase, N);
            if (complex_weights)
                b.in.u0 = ec_graph_number(b.graph, 0.1);
            double steer = complex_weights ? 0.1 : 0.0;
            double from = shifted ? -0.8 : -1.0;
            b.config.method = method ? EC_METHOD_PRODUCT : EC_METHOD_DIRECT;
            set_axis(&b, 0, from, 1, size[0]);
            if (size[1]) {
                b.config.kind = EC_ARRAY_GRID_UV;
                set_axis(&b, 1, from, 1, size[1]);
            }
            make_call(&b);
            ec_array_beam beam;
            ec_array_beam_default(&beam);
            beam.exclude_a = 0.2;
            ec_expr sll = ec_array_sll_db(b.graph, b.call, &beam);
            got[method][0] = value_of(&b, sll, EC_SEARCH, NULL);
            got[method][1] = value_of(&b, sll, EC_FINAL, NULL);
            want = plain_sll(&b, x, y, amplitude, phase, from, steer, 0.2);
            bench_close(&b);
        }
        near("direct and product, search", got[1][0], got[0][0], 1e-4);
        near("direct and product, final", got[1][1], got[0][1], 1e-6);
        near("final and plain sum", got[0][1], want, size[1] ? 0.1 : 0.01);
        near("search and plain sum", got[0][0], want, size[1] ? 0.5 : 0.05);
    }
}

/* ---- gradients ---- */

typedef ec_expr make_metric(bench *b);

static void check_gradient(const char *name, bench *b, ec_expr metric, int32_t n_with,
                           const ec_expr *with, double tolerance)
{
    ec_expr grad[8];
    double got[600], *to[1] = {got};
    size_t gene = 0;

    if (metric < 0 || ec_graph_gradient(b->graph, metric, n_with, with, grad) < 0)
        fail_msg("%s: %s", name, ec_error_text());
    for (int32_t k = 0; k < n_with; k++) {
        size_t count = (size_t)ec_graph_node(b->graph, with[k])->elements;
        if (ec_evaluate_once(b->graph, b->backend, EC_FINAL, 1, &grad[k], b->genes, b->n_genes,
                             NULL, 0, to, NULL, NULL) < 0)
            fail_msg("%s: %s", name, ec_error_text());
        for (size_t i = 0; i < count; i++, gene++) {
            double h = 1e-5, keep = b->genes[gene], f[2];
            for (int side = 0; side < 2; side++) {
                b->genes[gene] = keep + (side ? h : -h);
                f[side] = value_of(b, metric, EC_FINAL, NULL);
            }
            b->genes[gene] = keep;
            double want = (f[1] - f[0]) / (2 * h);
            if (!(fabs(got[i] - want) <= tolerance * (1 + fabs(want))))
                fail_msg("%s, grid kind %d: derivative over gene %zu is %.9g, by differences %.9g",
                         name, (int)b->config.kind, gene, got[i], want);
        }
    }
}

static void gradients(void **state)
{
    enum { N = 9 };
    double x[N], y[N], z[N], amplitude[N], phase[N], wavelength = 1.02, steer[2] = {0.1, 0.05};
    double inf = (double)INFINITY;

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = 0.6 * (i - 4) + draw(-0.1, 0.1);
        y[i] = draw(-1, 1);
        z[i] = draw(-0.3, 0.3);
        amplitude[i] = draw(0.6, 1);
        phase[i] = draw(-0.2, 0.2);
    }
    for (int kind = 0; kind < 3; kind++) {
        bench b;
        bench_open(&b, N);
        b.in.x = variable(&b, x, N, 0.2);
        b.in.y = variable(&b, y, N, 0.2);
        b.in.z = variable(&b, z, N, 0.2);
        b.in.amplitude = variable(&b, amplitude, N, 0.3);
        b.in.phase = variable(&b, phase, N, 0.3);
        b.in.wavelength = variable(&b, &wavelength, 1, 0.1);
        b.in.u0 = variable(&b, steer, 1, 0.1);
        b.in.v0 = variable(&b, steer + 1, 1, 0.1);
        b.config.kind = kind == 0   ? EC_ARRAY_CUT_U
                        : kind == 1 ? EC_ARRAY_GRID_UV
                                    : EC_ARRAY_CUT_THETA;
        if (kind == 2)
            b.config.element.kind = EC_ELEMENT_KIND_COSQ;
        b.config.element.q = 0.7;
        set_axis(&b, 0, kind == 2 ? -1.5 : -1, kind == 2 ? 1.5 : 1, kind == 1 ? 48 : 301);
        if (kind == 1)
            set_axis(&b, 1, -1, 1, 48);
        if (kind == 0)
            b.config.fixed = 0.05;
        make_call(&b);
        ec_expr with[8] = {b.in.x,     b.in.y,          b.in.z,  b.in.amplitude,
                           b.in.phase, b.in.wavelength, b.in.u0, b.in.v0};
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        if (kind == 2) {
            beam.look_a = 0.1;
            beam.look_b = 0;
        }
        double tolerance = 2e-5;
        check_gradient("sll", &b, ec_array_sll_db(b.graph, b.call, &beam), 8, with, tolerance);
        beam.exclude_a = 0.12; /* the skirt at the edge is the maximum */
        check_gradient("sll at the edge of the exclusion", &b,
                       ec_array_sll_db(b.graph, b.call, &beam), 8, with, 1e-4);
        beam.exclude_a = 0.4;
        ec_array_beam fixed = beam; /* what is averaged must not move with the steering */
        fixed.look_a = 0.1;
        fixed.look_b = 0.05;
        /* the row is float32: its rounding shows in the differences */
        check_gradient("side-lobe average", &b, ec_array_sll_mean_db(b.graph, b.call, &fixed), 8,
                       with, 3e-3);
        beam.exclude_a = (double)NAN;
        check_gradient("directivity", &b, ec_array_directivity_db(b.graph, b.call, &beam), 8, with,
                       tolerance);
        check_gradient("level towards the beam", &b, ec_array_towards_db(b.graph, b.call, &beam), 8,
                       with, tolerance);
        double at[3] = {0.31, -0.5, 0.62}, at_b[3] = {0.1, 0.2, -0.3};
        ec_expr level = ec_array_level_db(b.graph, b.call, &beam, true, 3, at, at_b);
        assert_true(level >= 0);
        check_gradient("level", &b, ec_graph_unary(b.graph, EC_OP_SUM, level), 8, with, tolerance);
        level = ec_array_level_db(b.graph, b.call, &beam, false, 3, at, at_b);
        check_gradient("absolute level", &b, ec_graph_unary(b.graph, EC_OP_SUM, level), 8, with,
                       tolerance);
        check_gradient("null depth", &b,
                       ec_array_null_depth_db(b.graph, b.call, &beam, 3, at, at_b), 8, with,
                       tolerance);
        ec_array_mask_line mask[2] = {{0.3, 0.9, {-10, -15}, {-inf, -inf}},
                                      {0.0, 0.05, {inf, inf}, {-20, -20}}};
        int lines_used = kind == 1 ? 1 : 2;
        if (kind != 1)
            check_gradient("hpbw", &b, ec_array_hpbw_deg(b.graph, b.call, &beam), 8, with, 1e-4);
        beam.look_a = kind == 2 ? 0.1 : 0.1;
        beam.look_b = 0.05;
        check_gradient("excess", &b,
                       ec_array_excess_db(b.graph, b.call, &beam, true, lines_used, mask), 8, with,
                       1e-4);
        check_gradient("absolute excess", &b,
                       ec_array_excess_db(b.graph, b.call, &beam, false, lines_used, mask), 8, with,
                       1e-4);
        for (int absolute = 0; absolute < 2; absolute++)
            check_gradient(
                "norm of the excess", &b,
                ec_array_excess_norm_db(b.graph, b.call, &beam, !absolute, lines_used, mask, 8), 8,
                with, 2e-6);
        beam.exclude_a = 0.25;
        check_gradient("soft side lobes", &b, ec_array_soft_sll_db(b.graph, b.call, &beam, 1.5), 8,
                       with, 2e-6);
        ec_expr pattern = ec_array_pattern(b.graph, b.call);
        assert_true(pattern >= 0);
        ec_expr power = ec_graph_unary(b.graph, EC_OP_ABS2, pattern);
        ec_expr cube =
            ec_graph_unary(b.graph, EC_OP_SUM, ec_graph_unary(b.graph, EC_OP_SQUARE, power));
        check_gradient("pattern", &b,
                       ec_graph_binary(b.graph, EC_OP_MUL, cube, ec_graph_number(b.graph, 1e-4)), 8,
                       with, 1e-5);
        bench_close(&b);
    }
}

/* Central differences of four points: the largest error over all genes, relative to the largest
 * derivative over them. */
static void check_close_gradient(const char *name, bench *b, ec_expr metric, int32_t n_with,
                                 const ec_expr *with)
{
    const double h = 2e-4, place[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    ec_expr grad[8];
    double got[600], *to[1] = {got}, error = 0.0, largest = 0.0;
    size_t gene = 0;

    if (metric < 0 || ec_graph_gradient(b->graph, metric, n_with, with, grad) < 0)
        fail_msg("%s: %s", name, ec_error_text());
    for (int32_t k = 0; k < n_with; k++) {
        size_t count = (size_t)ec_graph_node(b->graph, with[k])->elements;
        if (ec_evaluate_once(b->graph, b->backend, EC_FINAL, 1, &grad[k], b->genes, b->n_genes,
                             NULL, 0, to, NULL, NULL) < 0)
            fail_msg("%s: %s", name, ec_error_text());
        for (size_t i = 0; i < count; i++, gene++) {
            double keep = b->genes[gene], want = 0.0;
            for (int p = 0; p < 4; p++) {
                b->genes[gene] = keep + place[p] * h;
                want += weight[p] * value_of(b, metric, EC_FINAL, NULL) / (12.0 * h);
            }
            b->genes[gene] = keep;
            error = fmax(error, fabs(got[i] - want));
            largest = fmax(largest, fabs(want));
        }
    }
    if (!(error <= 1e-6 * largest))
        fail_msg("%s, method %d, grid kind %d: gradients part by %.3g of %.3g", name,
                 (int)b->config.method, (int)b->config.kind, error, largest);
}

/* Positions, amplitudes and phases, by direct sums and by NUFFTs. */
static void gradients_of_methods(void **state)
{
    enum { N = 14 };
    double x[N], y[N], z[N], amplitude[N], phase[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = 0.55 * (i % 4 - 1.5) + draw(-0.1, 0.1);
        y[i] = 0.6 * (i / 4 - 1.5) + draw(-0.1, 0.1);
        z[i] = draw(-0.3, 0.3);
        amplitude[i] = draw(0.6, 1);
        phase[i] = draw(-0.2, 0.2);
    }
    for (int round = 0; round < 8; round++) {
        bench b;
        bool plane = round & 4;
        bench_open(&b, N);
        b.in.x = variable(&b, x, N, 0.2);
        b.in.y = variable(&b, y, N, 0.2);
        b.in.amplitude = variable(&b, amplitude, N, 0.3);
        b.in.phase = variable(&b, phase, N, 0.3);
        if (!plane)
            b.in.z = variable(&b, z, N, 0.2);
        int all = plane ? 4 : 5;
        b.config.method = round & 1 ? EC_METHOD_NUFFT : EC_METHOD_DIRECT;
        b.config.kind = round & 2 ? EC_ARRAY_CUT_U : EC_ARRAY_GRID_UV;
        set_axis(&b, 0, -1, 1, 41);
        if (!(round & 2))
            set_axis(&b, 1, -1, 1, 40);
        make_call(&b);
        const ec_expr with[5] = {b.in.x, b.in.y, b.in.amplitude, b.in.phase, b.in.z};
        const double at[3] = {0.31, -0.5, 0.62}, at_b[3] = {0.1, 0.2, -0.3};
        const ec_array_mask_line mask = {0.3, 0.9, {-10, -15}, {-INFINITY, -INFINITY}};
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        check_close_gradient("sll", &b, ec_array_sll_db(b.graph, b.call, &beam), all, with);
        ec_expr level = ec_array_level_db(b.graph, b.call, &beam, true, 3, at, at_b);
        assert_true(level >= 0);
        check_close_gradient("level", &b, ec_graph_unary(b.graph, EC_OP_SUM, level), all, with);
        check_close_gradient("excess", &b,
                             ec_array_excess_db(b.graph, b.call, &beam, true, 1, &mask), all, with);
        ec_expr pattern = ec_array_pattern(b.graph, b.call);
        assert_true(pattern >= 0);
        ec_expr power = ec_graph_unary(b.graph, EC_OP_ABS2, pattern);
        check_close_gradient(
            "pattern", &b,
            ec_graph_unary(b.graph, EC_OP_SUM, ec_graph_unary(b.graph, EC_OP_SQUARE, power)), all,
            with);
        beam.exclude_a = 0.3;
        check_close_gradient("soft side lobes", &b, ec_array_soft_sll_db(b.graph, b.call, &beam, 1),
                             all, with);
        check_close_gradient("norm of the excess", &b,
                             ec_array_excess_norm_db(b.graph, b.call, &beam, true, 1, &mask, 8),
                             all, with);
        bench_close(&b);
    }
}

/* Adjoints of whole patterns by NUFFTs are those of direct sums: even and odd grids off the centre,
 * steering, cuts beside the plane of symmetry. */
static void adjoints_of_methods(void **state)
{
    enum { N = 60 };
    double x[N], y[N], z[N], amplitude[N], phase[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = draw(-4, 7);
        y[i] = draw(-3, 4);
        z[i] = draw(0.2, 1.4);
        amplitude[i] = draw(-0.2, 1);
        phase[i] = draw(-3, 3);
    }
    for (int round = 0; round < 4; round++) {
        double got[2][8][N], *to[1];
        for (int way = 0; way < 2; way++) {
            bench b;
            bool plane = round & 2;
            ec_expr grad[6];
            double steer = 0.2, wavelength = 0.97;
            bench_open(&b, N);
            b.in.x = variable(&b, x, N, 0.2);
            b.in.y = variable(&b, y, N, 0.2);
            b.in.amplitude = variable(&b, amplitude, N, 0.3);
            b.in.phase = variable(&b, phase, N, 0.3);
            b.in.wavelength = variable(&b, &wavelength, 1, 0.01);
            b.in.z = variable(&b, z, plane ? 1 : N, 0.2);
            b.in.u0 = constant(&b, &steer, 1);
            b.in.v0 = constant(&b, &steer, 1);
            b.config.method = way ? EC_METHOD_NUFFT : EC_METHOD_DIRECT;
            b.config.kind = round & 1 ? EC_ARRAY_CUT_U : EC_ARRAY_GRID_UV;
            b.config.fixed = 0.15;
            b.config.element.kind = EC_ELEMENT_KIND_COSQ;
            b.config.element.q = 0.8;
            set_axis(&b, 0, -0.3, 1, 70);
            if (!(round & 1))
                set_axis(&b, 1, -0.9, 0.7, 51);
            make_call(&b);
            ec_expr pattern = ec_array_pattern(b.graph, b.call);
            ec_expr sum =
                ec_graph_unary(b.graph, EC_OP_SUM, ec_graph_unary(b.graph, EC_OP_ABS, pattern));
            ec_expr turned = ec_graph_unary(
                b.graph, EC_OP_SUM,
                ec_graph_unary(b.graph, EC_OP_SQUARE, ec_graph_unary(b.graph, EC_OP_RE, pattern)));
            sum = ec_graph_binary(b.graph, EC_OP_ADD, sum, turned);
            const ec_expr with[6] = {b.in.x,     b.in.y,          b.in.amplitude,
                                     b.in.phase, b.in.wavelength, b.in.z};
            if (sum < 0 || ec_graph_gradient(b.graph, sum, 6, with, grad) < 0)
                fail_msg("%s", ec_error_text());
            memset(got[way], 0, sizeof got[way]);
            for (int k = 0; k < 6; k++) {
                to[0] = got[way][k];
                if (ec_evaluate_once(b.graph, b.backend, EC_FINAL, 1, &grad[k], b.genes, b.n_genes,
                                     NULL, 0, to, NULL, NULL) < 0)
                    fail_msg("%s", ec_error_text());
            }
            bench_close(&b);
        }
        for (int k = 0; k < 6; k++) {
            double error = 0.0, largest = 0.0;
            for (int i = 0; i < N; i++) {
                error = fmax(error, fabs(got[0][k][i] - got[1][k][i]));
                largest = fmax(largest, fabs(got[0][k][i]));
            }
            if (!(largest > 0.0 && error <= 1e-9 * largest))
                fail_msg("round %d, input %d: adjoints part by %.3g of %.3g", round, k, error,
                         largest);
        }
    }
}

/* Smooth metrics against their formulas over the pattern's samples. */
static void smooth_metrics(void **state)
{
    enum { N = 10, POINTS = 801 };
    const ec_array_mask_line mask[2] = {{0.3, 0.9, {-10, -15}, {-INFINITY, -INFINITY}},
                                        {-0.9, -0.3, {-14, -14}, {-INFINITY, -INFINITY}}};
    const ec_array_mask_line all = {-2, 2, {0, 0}, {-INFINITY, -INFINITY}};
    static double pattern[2 * POINTS];
    double x[N], *to[1] = {pattern};
    bench b;

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = 0.45 * i + draw(-0.1, 0.1);
    for (int way = 0; way < 2; way++) {
        bench_open(&b, N);
        b.in.x = variable(&b, x, N, 0.3);
        b.config.method = way ? EC_METHOD_NUFFT : EC_METHOD_AUTO;
        set_axis(&b, 0, -1, 1, POINTS);
        make_call(&b);
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        beam.look_a = 0;
        beam.exclude_a = 0.3;
        ec_expr field = ec_array_pattern(b.graph, b.call);
        assert_true(ec_evaluate_once(b.graph, b.backend, EC_FINAL, 1, &field, b.genes, b.n_genes,
                                     NULL, 0, to, NULL, NULL) >= 0);
        double peak = value_of(&b, ec_array_excess_db(b.graph, b.call, &beam, false, 1, &all),
                               EC_FINAL, NULL);
        double soft = 0, count = 0, norm[2] = {0, 0}, pairs = 0;
        for (int i = 0; i < POINTS; i++) {
            double u = -1 + 2.0 * i / (POINTS - 1);
            double level = 20 * log10(hypot(pattern[2 * i], pattern[2 * i + 1]));
            if (fabs(u) > 0.3 + 1e-9) {
                soft += exp((level - peak) / 1.5);
                count++;
            }
            for (int k = 0; k < 2; k++) {
                if (u < mask[k].from - 1e-12 || u > mask[k].to + 1e-12)
                    continue;
                double limit = mask[k].max[0] + (mask[k].max[1] - mask[k].max[0]) *
                                                    (u - mask[k].from) /
                                                    (mask[k].to - mask[k].from);
                norm[0] += pow(fmax(0, level - peak - limit), 8);
                norm[1] += pow(fmax(0, level - limit - 20), 4);
                pairs++;
            }
        }
        ec_expr e = ec_array_soft_sll_db(b.graph, b.call, &beam, 1.5);
        for (int f = 0; f < 2; f++) /* the search has float32 rows */
            near("soft side lobes", value_of(&b, e, f ? EC_FINAL : EC_SEARCH, NULL),
                 1.5 * log(soft / count), f ? 1e-9 : 2e-3);
        e = ec_array_excess_norm_db(b.graph, b.call, &beam, true, 2, mask, 8);
        near("norm of the excess", value_of(&b, e, EC_FINAL, NULL), pow(norm[0] / pairs, 0.125),
             1e-9);
        ec_array_mask_line raised[2] = {mask[0], mask[1]};
        for (int k = 0; k < 4; k++)
            raised[k / 2].max[k % 2] += 20;
        e = ec_array_excess_norm_db(b.graph, b.call, &beam, false, 2, raised, 4);
        near("norm of the absolute excess", value_of(&b, e, EC_FINAL, NULL),
             pow(norm[1] / pairs, 0.25), 1e-9);
        raised[0].max[0] = raised[0].max[1] = raised[1].max[0] = raised[1].max[1] = 50;
        e = ec_array_excess_norm_db(b.graph, b.call, &beam, false, 2, raised, 4);
        near("norm inside the mask", value_of(&b, e, EC_FINAL, NULL), 0, 0);
        bench_close(&b);
    }
}

/* The table's slope is the derivative of the table's cubic. */
static void gradient_of_planar_elements(void **state)
{
    double x[6], y[6], wavelength = 1.02;
    bench b;

    (void)state;
    for (int i = 0; i < 6; i++) {
        x[i] = 0.8 * i + draw(-0.1, 0.1);
        y[i] = draw(-1, 1);
    }
    bench_open(&b, 6);
    b.in.x = variable(&b, x, 6, 0.2);
    b.in.y = variable(&b, y, 6, 0.2);
    b.in.wavelength = variable(&b, &wavelength, 1, 0.1);
    b.config.element.kind = EC_ELEMENT_KIND_COSQ;
    b.config.element.q = 1.3;
    set_axis(&b, 0, -1, 1, 101);
    make_call(&b);
    ec_expr with[3] = {b.in.x, b.in.y, b.in.wavelength};
    check_gradient("directivity", &b, ec_array_directivity_db(b.graph, b.call, NULL), 3, with,
                   1e-5);
    bench_close(&b);
}

/* The ratio depends on the largest and the smallest amplitude only; one element is off. */
static void dynamic_range(void **state)
{
    const double amplitude[6] = {0.5, -0.9, 1e-12, 0.11, 0.3, -0.2};
    bench b;

    (void)state;
    bench_open(&b, 6);
    b.in.amplitude = variable(&b, amplitude, 6, 0.05);
    ec_expr ratio = ec_array_dynamic_range_db(b.graph, b.in.amplitude);
    near("dynamic range", value_of(&b, ratio, EC_FINAL, NULL), 20 * log10(0.9 / 0.11), 1e-12);
    b.genes[2] = 0.25; /* differences would switch it on */
    check_gradient("dynamic range", &b, ratio, 1, &b.in.amplitude, 1e-6);
    bench_close(&b);
}

/* Metrics without a gradient, or without one as they are asked for, say so by their names. */
static void no_gradients(void **state)
{
    static const char *const texts[3] = {"fnbw_deg", "pointing_error_deg", "sll_mean_db"};
    bench b;
    ec_expr grad;

    (void)state;
    bench_open(&b, 17);
    b.in.x = variable(&b, best17, 17, 0.1);
    set_axis(&b, 0, -1, 1, 401);
    make_call(&b);
    const ec_expr metric[3] = {ec_array_fnbw_deg(b.graph, b.call, NULL),
                               ec_array_pointing_error_deg(b.graph, b.call, NULL),
                               ec_array_sll_mean_db(b.graph, b.call, NULL)};
    for (int k = 0; k < 3; k++) {
        int status = ec_graph_gradient(b.graph, metric[k], 1, &b.in.x, &grad);
        double got[17], *to[1] = {got};
        if (status >= 0)
            status = ec_evaluate_once(b.graph, b.backend, EC_FINAL, 1, &grad, b.genes, b.n_genes,
                                      NULL, 0, to, NULL, NULL);
        assert_int_equal(status, EC_ERR_NO_GRADIENT);
        assert_non_null(strstr(ec_error_text(), texts[k]));
    }
    bench_close(&b);
}

/* ---- the epigraph form ---- */

static void pieces_of(bench *b, ec_expr metric, double *piece, int32_t *count, ec_expr *pieces)
{
    const ec_node *node = ec_graph_node(b->graph, metric);
    double zero[EC_RANK_MAX] = {0};
    const double *at[9];
    double value[9];

    (void)zero;
    for (int i = 0; i < 9; i++) {
        const ec_node *in = ec_graph_node(b->graph, b->call->in[i]);
        value[i] = in->range.lo;
        at[i] = in->op == EC_OP_VARIABLE ? b->genes : in->data ? in->data : &value[i];
    }
    if (b->call->def->pieces(b->graph, b->call, node->output, at, pieces) < 0)
        fail_msg("%s", ec_error_text());
    *count = ec_graph_node(b->graph, *pieces)->elements;
    double *to[1] = {piece};
    uint8_t status;
    assert_true(ec_evaluate_once(b->graph, b->backend, EC_FINAL, 1, pieces, b->genes, b->n_genes,
                                 NULL, 0, to, &status, NULL) >= 0);
    assert_int_equal(status, 0);
}

static double highest(const double *piece, int32_t count)
{
    double top = -1e9;

    for (int32_t i = 0; i < count; i++)
        top = fmax(top, piece[i]);
    return top;
}

/* The highest piece is the side-lobe level, here and as the design moves; each piece has its
 * gradient. */
static void pieces_follow(void **state)
{
    double piece[256], x[17];

    (void)state;
    for (int exclude = 0; exclude < 2; exclude++) {
        bench b;
        bench_open(&b, 17);
        b.in.x = variable(&b, best17, 17, 0.2);
        set_axis(&b, 0, -1, 1, 801);
        make_call(&b);
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        if (exclude)
            beam.exclude_a = 0.09;
        ec_expr sll = ec_array_sll_db(b.graph, b.call, &beam), pieces;
        int32_t count;
        pieces_of(&b, sll, piece, &count, &pieces);
        assert_true(count >= 7); /* of a symmetric pattern one of two */
        near("highest piece", highest(piece, count), value_of(&b, sll, EC_FINAL, NULL), 1e-9);
        for (int i = 0; i < 17; i++)
            x[i] = best17[i] + draw(-0.03, 0.03);
        memcpy(b.genes, x, sizeof x);
        double *to[1] = {piece};
        assert_true(ec_evaluate_once(b.graph, b.backend, EC_FINAL, 1, &pieces, b.genes, b.n_genes,
                                     NULL, 0, to, NULL, NULL) >= 0);
        near("highest piece of a moved design", highest(piece, count),
             value_of(&b, sll, EC_FINAL, NULL), 1e-9);
        for (int32_t k = 0; k < count; k += 5) {
            ec_expr one = ec_graph_slice(b.graph, pieces, k, 0);
            check_gradient("piece", &b, one, 1, &b.in.x, 2e-5);
        }
        bench_close(&b);
    }
}

static void pieces_of_surface(void **state)
{
    enum { N = 36 };
    double x[N], y[N], piece[256];
    bench b;

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = 0.55 * (i % 6 - 2.5) + draw(-0.1, 0.1);
        y[i] = 0.55 * (i / 6 - 2.5) + draw(-0.1, 0.1);
    }
    for (int exclude = 0; exclude < 2; exclude++) {
        bench_open(&b, N);
        b.in.x = variable(&b, x, N, 0.2);
        b.in.y = constant(&b, y, N);
        b.config.kind = EC_ARRAY_GRID_UV;
        set_axis(&b, 0, -1, 1, 64);
        set_axis(&b, 1, -1, 1, 64);
        make_call(&b);
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        if (exclude)
            beam.exclude_a = 0.4;
        ec_expr sll = ec_array_sll_db(b.graph, b.call, &beam), pieces;
        int32_t count;
        pieces_of(&b, sll, piece, &count, &pieces);
        assert_true(count > 4);
        near("highest piece", highest(piece, count), value_of(&b, sll, EC_FINAL, NULL), 1e-6);
        for (int i = 0; i < N; i++)
            b.genes[i] += draw(-0.01, 0.01);
        double *to[1] = {piece};
        assert_true(ec_evaluate_once(b.graph, b.backend, EC_FINAL, 1, &pieces, b.genes, b.n_genes,
                                     NULL, 0, to, NULL, NULL) >= 0);
        near("highest piece of a moved design", highest(piece, count),
             value_of(&b, sll, EC_FINAL, NULL), exclude ? 1e-3 : 1e-6);
        bench_close(&b);
    }
}

/* ---- lobes on a surface ---- */

/* n x n elements, `spacing` apart, steered to (u0, 0) by their phases. */
static void set_square(bench *b, int32_t n, double spacing, double u0)
{
    double x[1024], y[1024], phase[1024];

    for (int32_t m = 0; m < n * n; m++) {
        x[m] = spacing * (m / n);
        y[m] = spacing * (m % n);
        phase[m] = -2 * EC_PI * x[m] * u0;
    }
    b->in.x = constant(b, x, n * n);
    b->in.y = constant(b, y, n * n);
    b->in.phase = constant(b, phase, n * n);
    b->config.kind = EC_ARRAY_GRID_UV;
}

/* The highest side lobe of a large planar array lies on the rim, where a grating lobe is about to
 * come in: the array factor of its line at u = -1. */
static void grating_lobe_at_the_rim(void **state)
{
    const int32_t n = 24;
    const double spacing = 0.75, u0 = 0.3;

    (void)state;
    for (int method = EC_METHOD_DIRECT; method <= EC_METHOD_NUFFT; method++) {
        bench b;
        ec_array_beam beam;
        bench_open(&b, n * n);
        set_square(&b, n, spacing, u0);
        b.config.method = (ec_array_method)method;
        set_axis(&b, 0, -1, 1, 97);
        set_axis(&b, 1, -1, 1, 97);
        make_call(&b);
        ec_array_beam_default(&beam);
        beam.look_a = u0;
        beam.look_b = 0;
        beam.exclude_a = beam.exclude_b = 0.2;
        double psi = EC_PI * spacing * (-1 - u0);
        near("grating lobe", value_of(&b, ec_array_sll_db(b.graph, b.call, &beam), EC_FINAL, NULL),
             20 * log10(fabs(sin(n * psi) / (n * sin(psi)))), 1e-6);
        bench_close(&b);
    }
}

/* Elements on a line have a pattern that is constant across it: the flood that finds the main beam
 * runs along the ridge, also over the noise of a NUFFT. */
static void flood_along_a_ridge(void **state)
{
    static const ec_array_method method[] = {EC_METHOD_PRODUCT, EC_METHOD_NUFFT};
    enum { N = 128 };

    (void)state;
    for (int along_y = 0; along_y < 2; along_y++) {
        double value[2];
        for (int k = 0; k < 2; k++) {
            double x[N];
            bench b;
            for (int m = 0; m < N; m++)
                x[m] = 0.1 * m + 0.01 * (m * 7 % 5);
            bench_open(&b, N);
            *(along_y ? &b.in.y : &b.in.x) = variable(&b, x, N, 0.01);
            b.config.kind = EC_ARRAY_GRID_UV;
            b.config.method = method[k];
            set_axis(&b, 0, -1, 1, 141);
            set_axis(&b, 1, -1, 1, 141);
            make_call(&b);
            value[k] = value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_SEARCH, NULL);
            bench_close(&b);
        }
        near("side lobes of a line by nufft", value[1], value[0], 0.01);
        assert_true(value[0] < -10 && value[0] > -20);
    }
}

/* ---- memory ---- */

static size_t allocated; /* bytes, by every call of this program */
static ec_backend_ops counting;
static int (*plain_alloc)(ec_backend *backend, size_t bytes, void **memory);

static int counted_alloc(ec_backend *backend, size_t bytes, void **memory)
{
    allocated += bytes;
    return plain_alloc(backend, bytes, memory);
}

/* Bytes that making an executor of a deep array's side-lobe level allocates, and what it says that
 * they are. */
static size_t plan_bytes(ec_array_method method, int32_t side, ec_fidelity fidelity, double depth,
                         size_t budget, size_t *said)
{
    enum { N = 144 };
    double x[N], y[N], z[N];
    ec_executor *executor = NULL;
    ec_executor_stats stats;
    bench b;

    bench_open(&b, N);
    counting = *b.backend->ops;
    plain_alloc = counting.alloc;
    counting.alloc = counted_alloc;
    b.backend->ops = &counting;
    for (int m = 0; m < N; m++) {
        x[m] = 0.5 * (m / 12);
        y[m] = 0.5 * (m % 12);
        z[m] = 0;
    }
    b.in.x = constant(&b, x, N);
    b.in.y = constant(&b, y, N);
    b.in.z = variable(&b, z, N, depth);
    b.config.kind = EC_ARRAY_GRID_UV;
    b.config.method = method;
    set_axis(&b, 0, -1, 1, side);
    set_axis(&b, 1, -1, 1, side);
    make_call(&b);
    ec_expr sll = ec_array_sll_db(b.graph, b.call, NULL);
    ec_executor_info info = {.outputs = &sll,
                             .n_outputs = 1,
                             .max_candidates = 32,
                             .fidelity = fidelity,
                             .memory_budget = budget};
    allocated = 0;
    assert_int_equal(ec_executor_create(b.graph, b.backend, &info, &executor), EC_OK);
    size_t bytes = allocated;
    ec_executor_describe(executor, &stats);
    if (said)
        *said = stats.bytes_fixed;
    ec_executor_destroy(&executor);
    bench_close(&b);
    return bytes;
}

static void memory_is_counted(void **state)
{
    size_t said, bytes;

    (void)state;
    for (int fidelity = EC_SEARCH; fidelity <= EC_FINAL; fidelity++) {
        bytes = plan_bytes(EC_METHOD_NUFFT, 201, (ec_fidelity)fidelity, 1.0, 0, &said);
        assert_true(bytes > 4000000 && said > bytes / 10 * 9 && said < bytes / 10 * 12);
        bytes = plan_bytes(EC_METHOD_DIRECT, 201, (ec_fidelity)fidelity, 1.0, 0, &said);
        assert_true(said > bytes / 10 * 9 && said < bytes / 10 * 12);
    }
    /* a second thread's workspace is left out where the budget has no room for it */
    bytes = plan_bytes(EC_METHOD_NUFFT, 201, EC_SEARCH, 1.0, 0, &said);
    assert_in_range(plan_bytes(EC_METHOD_NUFFT, 201, EC_SEARCH, 1.0, bytes / 2, &said), bytes / 3,
                    bytes / 4 * 3);
    /* where the direct sum is chosen, the tables of the path that was weighed are not made (only its
     * plan, which is small) */
    bytes = plan_bytes(EC_METHOD_AUTO, 41, EC_SEARCH, 8.0, 0, NULL);
    assert_in_range(bytes, 1, plan_bytes(EC_METHOD_DIRECT, 41, EC_SEARCH, 8.0, 0, NULL) + 100000);
}

/* ---- samples of errors ---- */

enum { BUILT = 24, SAMPLES = 50, DRAWN = 70 };

static double error_of(size_t s, size_t e)
{
    return 0.02 * sin((double)(97 * s + 31 * e + 1));
}

static double place_of(size_t c, size_t e)
{
    return 0.5 * (double)e + 0.09 * cos((double)(7 * c + e));
}

/* The 95th percentile over built arrays, of every design. */
static void drawn_percentiles(int threads, size_t chunk, size_t memory, double *value)
{
    double x[BUILT], *error = malloc(SAMPLES * BUILT * sizeof *error);
    double percent[2] = {95, EC_PERCENTILE_LINEAR};
    uint8_t status[128];
    int32_t shape = BUILT;
    ec_array X;
    ec_executor *executor = NULL;
    ec_backend_info backend = {.name = "cpu", .threads = threads};
    bench b;

    assert_non_null(error);
    for (size_t e = 0; e < BUILT; e++)
        x[e] = 0.5 * (double)e;
    for (size_t i = 0; i < SAMPLES * BUILT; i++)
        error[i] = error_of(i / BUILT, i % BUILT);
    bench_open(&b, BUILT);
    ec_backend_destroy(&b.backend);
    assert_int_equal(ec_backend_create(&backend, &b.backend), EC_OK);
    b.in.x = ec_graph_binary(b.graph, EC_OP_ADD, variable(&b, x, BUILT, 0.1),
                             ec_graph_samples(b.graph, SAMPLES, 1, &shape, error));
    free(error);
    set_axis(&b, 0, -1, 1, 201);
    make_call(&b);
    ec_expr sll = ec_array_sll_db(b.graph, b.call, NULL);
    ec_expr high = ec_graph_op(b.graph, EC_OP_SAMPLE_PERCENTILE, 1, &sll, 2, percent);
    ec_executor_info info = {.outputs = &high,
                             .n_outputs = 1,
                             .max_candidates = DRAWN,
                             .chunk = chunk,
                             .memory_budget = memory};
    assert_int_equal(ec_executor_create(b.graph, b.backend, &info, &executor), EC_OK);
    ec_executor_stats stats;
    ec_executor_describe(executor, &stats);
    assert_true(stats.chunk == (chunk || memory ? 32 : 96));
    /* the built positions of all samples are there for each design of a chunk */
    assert_true(stats.bytes_per_candidate >= SAMPLES * BUILT * sizeof(double));
    assert_int_equal(ec_array_create(b.backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, DRAWN, 1),
                     EC_OK);
    for (size_t e = 0; e < BUILT; e++)
        for (size_t c = 0; c < X.ld; c++)
            ((double *)X.data)[e * X.ld + c] = place_of(c, e);
    assert_int_equal(ec_executor_run(executor, &X, NULL, NULL, status, DRAWN, 0), EC_OK);
    memcpy(value, ec_executor_output(executor, 0)->data, DRAWN * sizeof *value);
    ec_array_release(b.backend, &X);
    ec_executor_destroy(&executor);
    bench_close(&b);
}

/* The same bits from any chunk, memory and number of threads, and what the built arrays give alone. */
static void built_arrays(void **state)
{
    static double want[DRAWN], got[DRAWN];
    double level[SAMPLES];

    (void)state;
    drawn_percentiles(1, 0, 0, want);
    drawn_percentiles(1, 32, 0, got);
    assert_memory_equal(want, got, sizeof want);
    drawn_percentiles(2, 0, 1 << 19, got);
    assert_memory_equal(want, got, sizeof want);
    for (size_t c = 0; c < DRAWN; c += 23) {
        for (size_t s = 0; s < SAMPLES; s++) {
            double x[BUILT];
            bench b;
            for (size_t e = 0; e < BUILT; e++)
                x[e] = place_of(c, e) + error_of(s, e);
            bench_open(&b, BUILT);
            b.in.x = variable(&b, x, BUILT, 0.1);
            set_axis(&b, 0, -1, 1, 201);
            make_call(&b);
            level[s] = value_of(&b, ec_array_sll_db(b.graph, b.call, NULL), EC_SEARCH, NULL);
            bench_close(&b);
        }
        double place = 0.95 * (SAMPLES - 1);
        size_t low = (size_t)place;
        for (size_t i = 0; i < SAMPLES; i++) /* a few are sorted by insertion */
            for (size_t k = i; k > 0 && level[k] < level[k - 1]; k--) {
                double keep = level[k];
                level[k] = level[k - 1];
                level[k - 1] = keep;
            }
        near("95 % of built arrays", want[c],
             level[low] + (place - (double)low) * (level[low + 1] - level[low]), 2e-4);
    }
}

/* ---- an end within a chunk ---- */

typedef struct end_wish {
    bool wanted;
    int asked;
    int after; /* that many answers are no */
} end_wish;

static bool ask(void *user)
{
    end_wish *wish = user;

    wish->asked++;
    return wish->wanted && wish->asked > wish->after;
}

/* The first chunk of designs: the executor itself only asks between chunks. */
static int run_chunk(int32_t points, end_wish *wish)
{
    enum { N = 200, DESIGNS = 32 };
    double x[N];
    uint8_t status[DESIGNS];
    int32_t shape = N;
    ec_array X;
    ec_executor *executor = NULL;
    ec_interrupt interrupt = {ask, wish};
    ec_backend_info alone = {.name = "cpu", .threads = 1};
    bench b;

    for (int i = 0; i < N; i++)
        x[i] = 0.5 * i;
    bench_open(&b, N);
    ec_backend_destroy(&b.backend); /* of two threads the one that asks may come late */
    assert_int_equal(ec_backend_create(&alone, &b.backend), EC_OK);
    b.in.x = variable(&b, x, N, 0.1);
    set_axis(&b, 0, -1, 1, points);
    make_call(&b);
    ec_expr sll = ec_array_sll_db(b.graph, b.call, NULL);
    ec_executor_info info = {
        .outputs = &sll, .n_outputs = 1, .max_candidates = DESIGNS, .interrupt = &interrupt};
    assert_int_equal(ec_executor_create(b.graph, b.backend, &info, &executor), EC_OK);
    assert_int_equal(
        ec_array_create(b.backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, DESIGNS, 1), EC_OK);
    for (size_t e = 0; e < N; e++)
        for (size_t c = 0; c < DESIGNS; c++)
            ((double *)X.data)[e * X.ld + c] = x[e];
    int result = ec_executor_run(executor, &X, NULL, NULL, status, DESIGNS, 0);
    ec_array_release(b.backend, &X);
    ec_executor_destroy(&executor);
    bench_close(&b);
    return result;
}

/* The plan asks once. */
static void interrupted_within_a_chunk(void **state)
{
    end_wish wish = {.wanted = true, .after = 1}, none = {.wanted = false};
    end_wish quick = {.wanted = true, .after = 1};

    (void)state;
    assert_int_equal(run_chunk(2001, &wish), EC_STOPPED);
    assert_int_equal(wish.asked, 2);
    assert_int_equal(run_chunk(2001, &none), EC_OK);
    assert_int_equal(none.asked, 33);
    assert_int_equal(run_chunk(201, &quick), EC_OK);
    assert_int_equal(quick.asked, 1);
}

/* One design at final fidelity, as a value of a script. */
static int evaluate_square(ec_array_method method, bool directivity, bool own, end_wish *wish)
{
    const int32_t n = 20;
    ec_element_frame frames[400];
    ec_interrupt interrupt = {ask, wish};
    double value, *out[1] = {&value};
    bench b;

    bench_open(&b, n * n);
    set_square(&b, n, 0.5, 0.1);
    for (int32_t m = 0; m < n * n; m++) {
        const double normal[3] = {0.001 * m, 0.0, 1.0};
        assert_int_equal(ec_element_frame_of(normal, 0.0, &frames[m]), EC_OK);
    }
    if (own) {
        const double axis[3] = {1, 0, 0};
        assert_int_equal(
            ec_element_pattern_init(EC_ELEMENT_KIND_COSQ, 1.0, axis, &b.config.element), EC_OK);
        b.config.frames = frames;
    }
    b.config.method = method;
    set_axis(&b, 0, -1, 1, 61);
    set_axis(&b, 1, -1, 1, 61);
    make_call(&b);
    ec_array_beam beam;
    ec_array_beam_default(&beam);
    beam.look_a = 0.1;
    beam.look_b = 0;
    beam.exclude_a = beam.exclude_b = 0.1;
    ec_expr e = directivity ? ec_array_directivity_db(b.graph, b.call, &beam)
                            : ec_array_sll_db(b.graph, b.call, &beam);
    int status = ec_evaluate_until(b.graph, b.backend, EC_FINAL, 1, &e, NULL, 0, NULL, 0, out, NULL,
                                   &interrupt, NULL);
    bench_close(&b);
    return status;
}

static void interrupted_within_a_design(void **state)
{
    static const struct {
        ec_array_method method;
        bool directivity, own;
    } of[] = {{EC_METHOD_DIRECT, false, false},
              {EC_METHOD_PRODUCT, false, false},
              {EC_METHOD_NUFFT, false, false},
              {EC_METHOD_AUTO, true, true},
              {EC_METHOD_AUTO, false, true}};

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        end_wish never = {.wanted = false};
        assert_int_equal(evaluate_square(of[i].method, of[i].directivity, of[i].own, &never),
                         EC_OK);
        assert_true(never.asked > 4);
        for (int after = 0; after < never.asked; after += 1 + after / 2) {
            end_wish wish = {.wanted = true, .after = after};
            assert_int_equal(evaluate_square(of[i].method, of[i].directivity, of[i].own, &wish),
                             EC_STOPPED);
            assert_in_range(wish.asked, after + 1, after + 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_lines_final),
        cmocka_unit_test(exact_lines_search),
        cmocka_unit_test(aperiodic_17),
        cmocka_unit_test(aperiodic_37),
        cmocka_unit_test(haupt_200),
        cmocka_unit_test(steering_sign),
        cmocka_unit_test(beam_across_zero),
        cmocka_unit_test(one_degree_cut),
        cmocka_unit_test(directivity_2000),
        cmocka_unit_test(far_from_origin),
        cmocka_unit_test(tiny_sizes),
        cmocka_unit_test(duplicates_and_zeros),
        cmocka_unit_test(failures_are_data),
        cmocka_unit_test(mistakes_get_sentences),
        cmocka_unit_test(values_out_of_range),
        cmocka_unit_test(look_level),
        cmocka_unit_test(units_mixed_up),
        cmocka_unit_test(element_directivity),
        cmocka_unit_test(hemisphere_directivity),
        cmocka_unit_test(planar_element_directivity),
        cmocka_unit_test(masks),
        cmocka_unit_test(rectangular_surface),
        cmocka_unit_test(pattern_against_plain_sum),
        cmocka_unit_test(paths_against_plain_sum),
        cmocka_unit_test(gradients),
        cmocka_unit_test(gradients_of_methods),
        cmocka_unit_test(adjoints_of_methods),
        cmocka_unit_test(smooth_metrics),
        cmocka_unit_test(gradient_of_planar_elements),
        cmocka_unit_test(dynamic_range),
        cmocka_unit_test(no_gradients),
        cmocka_unit_test(pieces_follow),
        cmocka_unit_test(pieces_of_surface),
        cmocka_unit_test(grating_lobe_at_the_rim),
        cmocka_unit_test(flood_along_a_ridge),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(built_arrays),
        cmocka_unit_test(interrupted_within_a_chunk),
        cmocka_unit_test(interrupted_within_a_design),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
