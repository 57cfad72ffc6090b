/* Channel matrices as expressions: the capacity scale of Gaussian channels, water-filling against a
 * search over all shares, gradients against central differences, axes, errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../core/executor.h"
#include "../../evaluators/matrix/matrix.h"

static ec_backend *cpu;

static int setup(void **state)
{
    (void)state;
    return ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 2}, &cpu);
}

static int teardown(void **state)
{
    (void)state;
    ec_backend_destroy(&cpu);
    return 0;
}

static ec_graph *graph(void)
{
    ec_graph *g = NULL;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    return g;
}

static ec_expr sound(ec_expr e)
{
    if (e < 0)
        print_error("%s\n", ec_error_text());
    assert_true(e >= 0);
    return e;
}

static void values(ec_graph *g, ec_expr e, const double *genes, size_t n, double *to)
{
    uint8_t status = 0;
    int r = ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, genes, n, NULL, 0, &to, &status, NULL);
    if (r != EC_OK)
        print_error("%s\n", ec_error_text());
    assert_int_equal(r, EC_OK);
    assert_int_equal(status, 0);
}

static double value(ec_graph *g, ec_expr e)
{
    double v = NAN;
    values(g, sound(e), NULL, 0, &v);
    return v;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Complex Gaussian numbers of variance 1. */
static void gaussian(uint64_t seed, int32_t n, ec_c128 *to)
{
    for (int32_t i = 0; i < n; i++) {
        double r = sqrt(-log(1 - uniform(&seed))), t = 2 * EC_PI * uniform(&seed);
        to[i] = (ec_c128){r * cos(t), r * sin(t)};
    }
}

static ec_matrix_config config(ec_matrix_normalize normalize, ec_matrix_power power)
{
    ec_matrix_config c;
    ec_matrix_config_default(&c);
    c.normalize = normalize;
    c.power = power;
    return c;
}

static ec_expr capacity(ec_graph *g, ec_expr h, double snr, ec_matrix_normalize normalize,
                        ec_matrix_power power)
{
    ec_matrix_config c = config(normalize, power);
    return sound(ec_matrix_capacity(g, h, ec_graph_number(g, snr), &c));
}

static ec_expr over_all(ec_graph *g, ec_op op, ec_expr a)
{
    return sound(ec_graph_op(g, op, 1, &a, 1, (double[]){0}));
}

/* ---- what is known ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 4 x 4 at 20 dB: means of i.i.d. complex Gaussian channels (variance 1), to 0.05: the mean of 20,000
 * of them is right to 0.02. */
static void test_gaussian_channels(void **state)
{
    enum { DRAWS = 20000 };
    (void)state;
    ec_graph *g = graph();
    ec_c128 *h = malloc(DRAWS * 16 * sizeof *h);
    double *each = malloc(DRAWS * sizeof *each);
    assert_non_null(h);
    assert_non_null(each);
    gaussian(11, DRAWS * 16, h);
    int32_t shape[3] = {DRAWS, 4, 4};
    ec_expr H = sound(ec_graph_constant_complex(g, 3, shape, h));
    ec_expr plain = capacity(g, H, 100, EC_MATRIX_NONE, EC_MATRIX_EQUAL);
    assert_float_equal(value(g, over_all(g, EC_OP_MEAN, plain)), 22.13, 0.05);
    assert_float_equal(
        value(g, over_all(g, EC_OP_MEAN,
                          capacity(g, H, 100, EC_MATRIX_NONE, EC_MATRIX_WATER_FILLING))),
        22.27, 0.05);
    assert_float_equal(
        value(g,
              over_all(g, EC_OP_MEAN, capacity(g, H, 100, EC_MATRIX_FROBENIUS, EC_MATRIX_EQUAL))),
        22.30, 0.05);
    /* one factor for all of 20,000 Gaussian matrices is 1, nearly */
    assert_float_equal(
        value(g, over_all(g, EC_OP_MEAN, capacity(g, H, 100, EC_MATRIX_MEAN, EC_MATRIX_EQUAL))),
        22.13, 0.05);
    values(g, plain, NULL, 0, each);
    qsort(each, DRAWS, sizeof *each, by_value);
    assert_float_equal(each[DRAWS / 10], 19.62, 0.06);
    free(h);
    free(each);
    ec_graph_destroy(&g);
}

static void test_bounds(void **state)
{
    (void)state;
    ec_graph *g = graph();
    int32_t shape[2] = {4, 4};
    double identity[16] = {0}, ones[16];
    for (int i = 0; i < 16; i++) {
        identity[i] = i % 5 == 0 ? 1e-8 : 0;
        ones[i] = 3e-9 * (i / 4 + 1);
    }
    ec_expr best = sound(ec_graph_constant(g, 2, shape, identity));
    ec_expr worst = sound(ec_graph_constant(g, 2, shape, ones));
    for (int power = 0; power < 2; power++)
        assert_float_equal(
            value(g, capacity(g, best, 100, EC_MATRIX_FROBENIUS, (ec_matrix_power)power)),
            4 * log2(101), 1e-12);
    assert_float_equal(value(g, capacity(g, worst, 100, EC_MATRIX_FROBENIUS, EC_MATRIX_EQUAL)),
                       log2(401), 1e-12);
    assert_float_equal(
        value(g, capacity(g, worst, 100, EC_MATRIX_FROBENIUS, EC_MATRIX_WATER_FILLING)), log2(1601),
        1e-12);
    ec_matrix_config c = config(EC_MATRIX_FROBENIUS, EC_MATRIX_EQUAL);
    assert_float_equal(value(g, ec_matrix_condition(g, best, &c)), 1, 1e-13);
    assert_float_equal(value(g, ec_matrix_degrees_of_freedom(g, best)), 4, 1e-12);
    assert_float_equal(value(g, ec_matrix_degrees_of_freedom(g, worst)), 1, 1e-12);
    assert_float_equal(value(g, ec_matrix_effective_rank(g, best, &c)), 4, 1e-12);
    assert_float_equal(value(g, ec_matrix_effective_rank(g, worst, &c)), 1, 1e-6);
    ec_graph_destroy(&g);
}

/* Three channels: the best shares of a grid, refined about the best so far. */
static double brute_force(const double *gain, double power)
{
    double best = 0, at[2] = {0.5, 0.5};
    for (double width = 0.5; width > 1e-6; width *= 0.7) {
        double from[2] = {at[0], at[1]};
        for (int i = -20; i <= 20; i++)
            for (int j = -20; j <= 20; j++) {
                double p = fmin(fmax(from[0] + width * i / 20, 0), 1);
                double q = fmin(fmax(from[1] + width * j / 20, 0), 1 - p), r = 1 - p - q;
                double c = log2(1 + power * p * gain[0]) + log2(1 + power * q * gain[1]) +
                           log2(1 + power * r * gain[2]);
                if (c > best) {
                    best = c;
                    at[0] = p;
                    at[1] = q;
                }
            }
    }
    return best;
}

static void test_water_filling(void **state)
{
    static const double gains[][3] = {{1, 1, 1},       {2, 0.5, 0.1}, {1, 1e-3, 1e-6},
                                      {5, 4.9, 1e-12}, {0.3, 0.2, 0}, {100, 1, 0.01}};
    static const double powers[] = {0.01, 1, 10, 1000};
    (void)state;
    ec_graph *g = graph();
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++)
        for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
            double h[12] = {0};
            int32_t shape[2] = {3, 4};
            for (int j = 0; j < 3; j++)
                h[j * 4 + (j + 1) % 4] = sqrt(gains[i][j]);
            ec_expr H = sound(ec_graph_constant(g, 2, shape, h));
            double want = brute_force(gains[i], powers[k]);
            double got =
                value(g, capacity(g, H, powers[k], EC_MATRIX_NONE, EC_MATRIX_WATER_FILLING));
            assert_true(got >= want - 1e-12);
            assert_float_equal(got, want, 1e-6 * (1 + want));
        }
    ec_graph_destroy(&g);
}

/* Every way to compute it. */
static void test_methods_agree(void **state)
{
    enum { ROWS = 6, COLS = 5, MATRICES = 7 };
    (void)state;
    ec_graph *g = graph();
    ec_c128 h[MATRICES * ROWS * COLS];
    int32_t shape[3] = {MATRICES, ROWS, COLS};
    gaussian(5, MATRICES * ROWS * COLS, h);
    ec_expr H = sound(ec_graph_constant_complex(g, 3, shape, h));
    double first[MATRICES * COLS], other[MATRICES * COLS], c[MATRICES];
    ec_matrix_config of = config(EC_MATRIX_NONE, EC_MATRIX_EQUAL);
    ec_expr s = sound(ec_matrix_singular_values(g, H, &of));
    /* one decomposition for all that need it */
    assert_int_equal(s, ec_matrix_singular_values(g, H, &of));
    values(g, s, NULL, 0, first);
    for (int way = 1; way < 4; way++) {
        of.svd = way & 1 ? EC_SVD_BISECTION : EC_SVD_JACOBI;
        of.single = way & 2;
        values(g, sound(ec_matrix_singular_values(g, H, &of)), NULL, 0, other);
        for (int i = 0; i < MATRICES * COLS; i++)
            assert_float_equal(other[i], first[i], of.single ? 1e-5 : 1e-12);
    }
    for (int single = 0; single < 2; single++) {
        of.single = single;
        values(g, sound(ec_matrix_capacity(g, H, ec_graph_number(g, 30), &of)), NULL, 0, c);
        for (int i = 0; i < MATRICES; i++) {
            double want = 0;
            for (int k = 0; k < COLS; k++)
                want += log2(1 + 30.0 / COLS * first[i * COLS + k] * first[i * COLS + k]);
            assert_float_equal(c[i], want, single ? 1e-4 : 1e-11);
        }
    }
    ec_graph_destroy(&g);
}

static void test_users(void **state)
{
    (void)state;
    ec_graph *g = graph();
    int32_t shape[3] = {2, 2, 2};
    double h[8] = {1, 0.1, 0.2, 2, 1, 1, 0, 3}, sinr[4];
    ec_expr H = sound(ec_graph_constant(g, 3, shape, h)), snr = ec_graph_number(g, 10);
    const double want[4] = {10 / (0.1 + 1), 40 / (0.4 + 1), 10 / 11.0, 90};
    values(g, sound(ec_matrix_sinr(g, H, snr, EC_MATRIX_NONE, EC_MATRIX_ALONE)), NULL, 0, sinr);
    for (int i = 0; i < 4; i++)
        assert_float_equal(sinr[i], want[i], 1e-12);
    double rate[2];
    values(g, sound(ec_matrix_sum_rate(g, H, snr, EC_MATRIX_FROBENIUS, EC_MATRIX_ALONE)), NULL, 0,
           rate);
    for (int i = 0; i < 2; i++) {
        const double *m = h + 4 * i;
        double f = 40 / (m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + m[3] * m[3]);
        assert_float_equal(rate[i],
                           log2(1 + f * m[0] * m[0] / (1 + f * m[1] * m[1])) +
                               log2(1 + f * m[3] * m[3] / (1 + f * m[2] * m[2])),
                           1e-12);
    }
    ec_graph_destroy(&g);
}

/* Two users and three antennas: (I + SNR H^H H)^-1 of 2 x 2 is written out. */
static void test_combining(void **state)
{
    enum { ROWS = 3, MATRICES = 4 };
    (void)state;
    ec_graph *g = graph();
    ec_c128 h[MATRICES * ROWS * 2];
    int32_t shape[4] = {2, MATRICES / 2, ROWS, 2};
    double got[MATRICES * 2], forced[MATRICES * 2], rate[MATRICES];
    double powers[MATRICES] = {0.1, 1, 10, 1000};
    gaussian(8, MATRICES * ROWS * 2, h);
    ec_expr H = sound(ec_graph_constant_complex(g, 4, shape, h));
    ec_expr snr = sound(ec_graph_constant(g, 2, shape, powers));
    ec_expr sinr = sound(ec_matrix_sinr(g, H, snr, EC_MATRIX_NONE, EC_MATRIX_MMSE));
    assert_int_equal(ec_graph_node(g, sinr)->rank, 3);
    values(g, sinr, NULL, 0, got);
    values(g, sound(ec_matrix_sum_rate(g, H, snr, EC_MATRIX_NONE, EC_MATRIX_MMSE)), NULL, 0, rate);
    values(g, sound(ec_matrix_sinr(g, H, snr, EC_MATRIX_NONE, EC_MATRIX_ZERO_FORCING)), NULL, 0,
           forced);
    for (int m = 0; m < MATRICES; m++) {
        double a = 1, d = 1, re = 0, im = 0;
        for (int i = 0; i < ROWS; i++) {
            ec_c128 x = h[(m * ROWS + i) * 2], y = h[(m * ROWS + i) * 2 + 1];
            a += powers[m] * (x.re * x.re + x.im * x.im);
            d += powers[m] * (y.re * y.re + y.im * y.im);
            re += powers[m] * (x.re * y.re + x.im * y.im);
            im += powers[m] * (x.re * y.im - x.im * y.re);
        }
        double det = a * d - re * re - im * im;
        assert_float_equal(got[2 * m], det / d - 1, 1e-10 * (1 + det / d));
        assert_float_equal(got[2 * m + 1], det / a - 1, 1e-10 * (1 + det / a));
        assert_float_equal(rate[m], log2(det / d) + log2(det / a), 1e-10);
        /* the same without I */
        double alone = (a - 1) * (d - 1) - re * re - im * im;
        assert_float_equal(forced[2 * m], alone / (d - 1), 1e-10 * alone / (d - 1));
        assert_float_equal(forced[2 * m + 1], alone / (a - 1), 1e-10 * alone / (a - 1));
    }
    /* columns of which one is twice the other; fewer antennas than users */
    ec_c128 twice[6] = {{1, 0}, {2, 0}, {0, 1}, {0, 2}, {-1, 2}, {-2, 4}};
    H = sound(ec_graph_constant_complex(g, 2, (const int32_t[]){3, 2}, twice));
    snr = ec_graph_number(g, 10);
    values(g, sound(ec_matrix_sinr(g, H, snr, EC_MATRIX_NONE, EC_MATRIX_ZERO_FORCING)), NULL, 0,
           forced);
    assert_true(forced[0] >= 0 && forced[0] < 1e-25 && forced[1] >= 0 && forced[1] < 1e-25);
    H = sound(ec_graph_constant_complex(g, 2, (const int32_t[]){2, 3}, twice));
    assert_int_equal(ec_matrix_sinr(g, H, snr, EC_MATRIX_NONE, EC_MATRIX_ZERO_FORCING),
                     EC_ERR_SHAPE);
    ec_graph_destroy(&g);
}

/* ---- gradients and axes ------------------------------------------------------------------------- */

enum { GENES = 25 }; /* 2 matrices of 2 x 3 complex numbers, and SNR */

static ec_expr variables(ec_graph *g, ec_expr *H, ec_expr *snr)
{
    double lo[GENES], hi[GENES];
    int32_t shape[3] = {2, 2, 3};
    for (int i = 0; i < GENES; i++) {
        lo[i] = i < GENES - 1 ? -2 : 0;
        hi[i] = i < GENES - 1 ? 2 : 50;
    }
    ec_expr x = sound(ec_graph_variable(g, false, 0, GENES, lo, hi));
    ec_expr re = ec_graph_slice(g, x, 0, 12), im = ec_graph_slice(g, x, 12, 12);
    *H = sound(ec_graph_reshape(g, ec_graph_binary(g, EC_OP_COMPLEX, re, im), 3, shape));
    *snr = sound(ec_graph_slice(g, x, 24, 0));
    return x;
}

static void check_gradient(ec_graph *g, ec_expr x, ec_expr y)
{
    double at[GENES], got[GENES], side[2];
    uint64_t seed = 42;
    ec_expr grad = -1;
    for (int i = 0; i < GENES; i++)
        at[i] = i < GENES - 1 ? 2 * uniform(&seed) - 1 : 7;
    int r = ec_graph_gradient(g, y, 1, &x, &grad);
    if (r != EC_OK)
        print_error("%s\n", ec_error_text());
    assert_int_equal(r, EC_OK);
    values(g, grad, at, GENES, got);
    for (int i = 0; i < GENES; i++) {
        const double step = 1e-5, here = at[i];
        for (int k = 0; k < 2; k++) {
            at[i] = here + (k ? step : -step);
            values(g, y, at, GENES, &side[k]);
        }
        at[i] = here;
        double slope = (side[1] - side[0]) / (2 * step);
        if (fabs(slope - got[i]) > 1e-6 * (1 + fabs(slope)))
            print_error("gene %d: difference %.10g, gradient %.10g\n", i, slope, got[i]);
        assert_float_equal(got[i], slope, 1e-6 * (1 + fabs(slope)));
    }
}

static void test_gradients(void **state)
{
    (void)state;
    ec_graph *g = graph();
    ec_expr H, snr, x = variables(g, &H, &snr);
    ec_matrix_config c;
    for (int normalize = EC_MATRIX_FROBENIUS; normalize <= EC_MATRIX_NONE; normalize++)
        for (int power = 0; power < 2; power++) {
            c = config((ec_matrix_normalize)normalize, (ec_matrix_power)power);
            check_gradient(g, x, over_all(g, EC_OP_SUM, ec_matrix_capacity(g, H, snr, &c)));
        }
    check_gradient(g, x, over_all(g, EC_OP_SUM, ec_matrix_condition(g, H, &c)));
    check_gradient(g, x, over_all(g, EC_OP_SUM, ec_matrix_effective_rank(g, H, &c)));
    check_gradient(g, x, over_all(g, EC_OP_SUM, ec_matrix_degrees_of_freedom(g, H)));
    for (int normalize = EC_MATRIX_FROBENIUS; normalize <= EC_MATRIX_NONE; normalize++)
        check_gradient(g, x,
                       over_all(g, EC_OP_SUM,
                                ec_matrix_sum_rate(g, H, snr, (ec_matrix_normalize)normalize,
                                                   EC_MATRIX_MMSE)));
    for (int combining = EC_MATRIX_MMSE; combining <= EC_MATRIX_ZERO_FORCING; combining++) {
        ec_expr two = sound(ec_graph_slice(g, H, 0, 1));
        int32_t square[3] = {1, 3, 2}, turned[6] = {0, 3, 1, 4, 2, 5};
        two = sound(ec_graph_gather(g, two, 3, square, turned));
        check_gradient(g, x,
                       over_all(g, EC_OP_SUM,
                                ec_matrix_sum_rate(g, two, snr, EC_MATRIX_NONE,
                                                   (ec_matrix_combining)combining)));
    }
    /* real matrices have real adjoints */
    ec_expr real = ec_graph_unary(g, EC_OP_RE, H);
    check_gradient(g, x, over_all(g, EC_OP_SUM, ec_matrix_capacity(g, real, snr, &c)));
    check_gradient(g, x, over_all(g, EC_OP_SUM, ec_matrix_condition(g, real, &c)));
    ec_graph_destroy(&g);
}

/* A constant matrix with an SNR that varies over candidates and samples, and the other way round. */
static void test_axes(void **state)
{
    enum { SAMPLES = 3 };
    (void)state;
    ec_graph *g = graph();
    ec_c128 h[6];
    int32_t shape[2] = {2, 3};
    double lo = 1, hi = 100, draws[SAMPLES] = {1, 10, 0.5}, gene = 4, got[SAMPLES], want;
    gaussian(3, 6, h);
    ec_expr H = sound(ec_graph_constant_complex(g, 2, shape, h));
    ec_expr snr = sound(ec_graph_variable(g, false, 0, 0, &lo, &hi));
    ec_expr factor = sound(ec_graph_samples(g, SAMPLES, 0, NULL, draws));
    ec_expr both = ec_graph_binary(g, EC_OP_MUL, snr, factor);
    ec_expr scaled = ec_graph_binary(
        g, EC_OP_MUL, H,
        ec_graph_unary(g, EC_OP_SQRT,
                       ec_graph_unary(g, EC_OP_SQRT, ec_graph_unary(g, EC_OP_SQUARE, both))));
    for (int power = 0; power < 2; power++) {
        ec_matrix_config c = config(EC_MATRIX_NONE, (ec_matrix_power)power);
        ec_expr moved = sound(ec_matrix_capacity(g, H, both, &c));
        ec_expr grown = sound(ec_matrix_capacity(g, scaled, ec_graph_number(g, 1), &c));
        ec_expr outputs[2] = {moved, grown};
        for (int k = 0; k < 2; k++) {
            values(g, outputs[k], &gene, 1, got);
            for (int s = 0; s < SAMPLES; s++) {
                want = value(g, ec_matrix_capacity(g, H, ec_graph_number(g, gene * draws[s]), &c));
                assert_float_equal(got[s], want, 1e-12);
            }
        }
    }
    ec_graph_destroy(&g);
}

/* ---- errors --------------------------------------------------------------------------------------- */

static void test_errors(void **state)
{
    (void)state;
    ec_graph *g = graph();
    ec_matrix_config c = config(EC_MATRIX_FROBENIUS, EC_MATRIX_EQUAL);
    double numbers[65 * 2] = {1};
    int32_t vector = 4, tall[2] = {65, 2}, wide[2] = {2, 3};
    ec_expr row = sound(ec_graph_constant(g, 1, &vector, numbers));
    ec_expr large = sound(ec_graph_constant(g, 2, tall, numbers));
    ec_expr good = sound(ec_graph_constant(g, 2, wide, numbers));
    ec_expr snr = ec_graph_number(g, 10);
    assert_int_equal(ec_matrix_capacity(g, row, snr, &c), EC_ERR_SHAPE);
    assert_int_equal(ec_matrix_capacity(g, large, snr, &c), EC_ERR_SHAPE);
    assert_int_equal(ec_matrix_capacity(g, good, row, &c), EC_ERR_SHAPE);
    assert_int_equal(ec_matrix_capacity(g, good, ec_graph_number(g, -3), &c), EC_ERR_RANGE);
    assert_int_equal(ec_matrix_sinr(g, good, snr, EC_MATRIX_NONE, EC_MATRIX_ALONE), EC_ERR_SHAPE);
    assert_true(strstr(ec_error_text(), "2 x 3"));
    /* nothing to scale: the design fails, the neighbours do not */
    double none[4] = {0}, v = 0, *to = &v;
    int32_t square[2] = {2, 2};
    uint8_t status = 0;
    ec_expr zero = sound(ec_graph_constant(g, 2, square, none));
    for (int power = 0; power < 2; power++) {
        ec_expr e = capacity(g, zero, 10, EC_MATRIX_FROBENIUS, (ec_matrix_power)power);
        status = 0;
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, NULL, 0, NULL, 0, &to, &status, NULL),
            EC_OK);
        assert_true(isnan(v));
        assert_int_equal(status & EC_CANDIDATE_EVALUATOR, EC_CANDIDATE_EVALUATOR);
        assert_float_equal(value(g, capacity(g, zero, 10, EC_MATRIX_NONE, (ec_matrix_power)power)),
                           0, 0);
    }
    ec_graph_destroy(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaussian_channels),
                                       cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_water_filling),
                                       cmocka_unit_test(test_methods_agree),
                                       cmocka_unit_test(test_users),
                                       cmocka_unit_test(test_combining),
                                       cmocka_unit_test(test_gradients),
                                       cmocka_unit_test(test_axes),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
