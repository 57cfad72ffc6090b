/* test_detmath.c: accuracy of detmath.h and fastmath.h against long double, special cases, and
 * the identities that optimizers and the graph rely on. */
#include "core/fastmath.h"

#include <float.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

/* The arguments are random bits; the seed is fixed, so a failure repeats. */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double next_unit(uint64_t *state)
{
    return (double)(next_bits(state) >> 11) * 0x1p-53;
}

static double ulp_error(double got, long double want)
{
    double rounded = (double)want;

    if (isnan(got) || isnan(rounded))
        return isnan(got) && isnan(rounded) ? 0 : INFINITY;
    if (isinf(got) || isinf(rounded))
        return got == rounded ? 0 : INFINITY;
    int exponent;
    frexp(rounded, &exponent);
    double ulp = ldexp(1.0, exponent - 53 < -1074 ? -1074 : exponent - 53);
    return (double)(fabsl((long double)got - want) / ulp);
}

/* ---- oracles in long double ---- */

static const long double pi_l = 3.14159265358979323846264338327950288L;

static long double sinpi_l(long double x)
{
    long double t = fmodl(x, 2), q = rintl(2 * t), angle = (t - q / 2) * pi_l;
    switch ((int)q & 3) {
    case 0:
        return sinl(angle);
    case 1:
        return cosl(angle);
    case 2:
        return -sinl(angle);
    default:
        return -cosl(angle);
    }
}

static long double cospi_l(long double x)
{
    long double t = fmodl(x, 2), q = rintl(2 * t), angle = (t - q / 2) * pi_l;
    switch ((int)q & 3) {
    case 0:
        return cosl(angle);
    case 1:
        return -sinl(angle);
    case 2:
        return -cosl(angle);
    default:
        return sinl(angle);
    }
}

static long double tanpi_l(long double x)
{
    return sinpi_l(x) / cospi_l(x);
}

#define WRAP(name)                                                                                 \
    static double call_##name(double x)                                                            \
    {                                                                                              \
        return ec_det_##name(x);                                                                   \
    }
WRAP(exp)
WRAP(expm1)
WRAP(log)
WRAP(log2)
WRAP(log10)
WRAP(log1p)
WRAP(sin)
WRAP(cos)
WRAP(tan)
WRAP(sinpi)
WRAP(cospi)
WRAP(tanpi)
WRAP(atan)
WRAP(asin)
WRAP(acos)
WRAP(sinh)
WRAP(cosh)
WRAP(tanh)
WRAP(sqrt)
WRAP(floor)
WRAP(ceil)
WRAP(rint)

/* ---- accuracy ---- */

typedef struct accuracy_case {
    const char *name;
    double (*got)(double);
    long double (*want)(long double);
    double lo, hi;    /* uniform between them, or */
    bool logarithmic; /* uniform exponents between |lo| and |hi|, both signs when lo < 0 */
    double limit_ulp;
} accuracy_case;

static const accuracy_case accuracy_cases[] = {
    {"exp", call_exp, expl, -1, 1, false, 1.0},
    {"exp", call_exp, expl, -746, 710, false, 1.0},
    {"exp", call_exp, expl, -1e-300, 1, true, 1.0},
    {"expm1", call_expm1, expm1l, -2, 2, false, 2.0},
    {"expm1", call_expm1, expm1l, -60, 710, false, 2.0},
    {"expm1", call_expm1, expm1l, -1e-300, 1, true, 2.0},
    {"log", call_log, logl, 0.5, 2, false, 1.0},
    {"log", call_log, logl, 5e-324, 1.7e308, true, 1.0},
    {"log", call_log, logl, 1 - 1e-6, 1 + 1e-6, false, 1.0},
    {"log2", call_log2, log2l, 0.5, 2, false, 3.0},
    {"log2", call_log2, log2l, 5e-324, 1.7e308, true, 3.0},
    {"log10", call_log10, log10l, 0.5, 2, false, 3.0},
    {"log10", call_log10, log10l, 5e-324, 1.7e308, true, 3.0},
    {"log1p", call_log1p, log1pl, -0.9999, 3, false, 2.0},
    {"log1p", call_log1p, log1pl, -1e-300, 0.99, true, 2.0},
    {"log1p", call_log1p, log1pl, 1e-300, 1e300, true, 2.0},
    {"sin", call_sin, sinl, -4, 4, false, 1.0},
    {"sin", call_sin, sinl, -1e8, 1e8, false, 1.0},
    {"sin", call_sin, sinl, -1e-300, 1e8, true, 1.0},
    {"cos", call_cos, cosl, -4, 4, false, 1.0},
    {"cos", call_cos, cosl, -1e8, 1e8, false, 1.0},
    {"tan", call_tan, tanl, -4, 4, false, 3.0},
    {"tan", call_tan, tanl, -1e8, 1e8, false, 3.0},
    {"sinpi", call_sinpi, sinpi_l, -3, 3, false, 2.0},
    {"sinpi", call_sinpi, sinpi_l, -1e-300, 1e15, true, 2.0},
    {"cospi", call_cospi, cospi_l, -3, 3, false, 2.0},
    {"cospi", call_cospi, cospi_l, -1e-300, 1e15, true, 2.0},
    {"tanpi", call_tanpi, tanpi_l, -0.5, 0.5, false, 3.0},
    {"tanpi", call_tanpi, tanpi_l, -1e-300, 0.49, true, 3.0},
    {"atan", call_atan, atanl, -4, 4, false, 2.0},
    {"atan", call_atan, atanl, -1e-300, 1e300, true, 2.0},
    {"asin", call_asin, asinl, -1, 1, false, 4.0},
    {"asin", call_asin, asinl, -1e-300, 1, true, 4.0},
    {"acos", call_acos, acosl, -1, 1, false, 4.0},
    {"sinh", call_sinh, sinhl, -3, 3, false, 4.0},
    {"sinh", call_sinh, sinhl, -711, 711, false, 4.0},
    {"sinh", call_sinh, sinhl, -1e-300, 1, true, 4.0},
    {"cosh", call_cosh, coshl, -3, 3, false, 3.0},
    {"cosh", call_cosh, coshl, -711, 711, false, 3.0},
    {"tanh", call_tanh, tanhl, -3, 3, false, 4.0},
    {"tanh", call_tanh, tanhl, -30, 30, false, 4.0},
    {"tanh", call_tanh, tanhl, -1e-300, 1, true, 4.0},
    {"sqrt", call_sqrt, sqrtl, 5e-324, 1.7e308, true, 0.51},
    {"floor", call_floor, floorl, -10, 10, false, 0},
    {"floor", call_floor, floorl, -1e-3, 1e18, true, 0},
    {"ceil", call_ceil, ceill, -10, 10, false, 0},
    {"ceil", call_ceil, ceill, -1e-3, 1e18, true, 0},
    {"rint", call_rint, rintl, -10, 10, false, 0},
    {"rint", call_rint, rintl, -1e-3, 1e18, true, 0},
};

static double draw_argument(const accuracy_case *c, uint64_t *state)
{
    if (!c->logarithmic)
        return c->lo + (c->hi - c->lo) * next_unit(state);
    double from = log2(fabs(c->lo)), to = log2(fabs(c->hi));
    double x = exp2(from + (to - from) * next_unit(state));
    return c->lo < 0 && next_bits(state) & 1 ? -x : x;
}

static void test_accuracy(void **unused)
{
    (void)unused;
    int failures = 0;
    for (size_t i = 0; i < sizeof accuracy_cases / sizeof *accuracy_cases; i++) {
        const accuracy_case *c = &accuracy_cases[i];
        uint64_t state = 1000 + i;
        double worst = 0, worst_x = 0;
        for (int n = 0; n < 200000; n++) {
            double x = draw_argument(c, &state);
            double error = ulp_error(c->got(x), c->want(x));
            if (!(error <= worst)) {
                worst = error;
                worst_x = x;
            }
        }
        printf("%-6s %9.3g .. %-9.3g %.3f ulp (limit %g) at %.17g\n", c->name, c->lo, c->hi, worst,
               c->limit_ulp, worst_x);
        failures += !(worst <= c->limit_ulp);
    }
    assert_int_equal(failures, 0);
}

/* Arguments next to multiples of pi/2, where the reduction cancels most digits. */
static void test_trig_near_zeros(void **unused)
{
    (void)unused;
    double worst = 0;
    for (int k = 1; k < 60000000; k += 997) {
        double x = (double)(k * (pi_l / 2));
        double s = ulp_error(ec_det_sin(x), sinl(x)), c = ulp_error(ec_det_cos(x), cosl(x));
        worst = fmax(worst, fmax(s, c));
    }
    printf("sin, cos at k pi/2: %.3f ulp\n", worst);
    assert_true(worst <= 1.0);
}

/* Beyond 1e8 the error grows as |x| 2^-52. */
static void test_trig_large(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int n = 0; n < 200000; n++) {
        double x = exp2(26.5 + 23.4 * next_unit(&state));
        double limit = fabs(x) * 0x1p-52 + 2.3e-16;
        assert_true(fabs((double)(ec_det_sin(x) - sinl(x))) <= limit);
        assert_true(fabs((double)(ec_det_cos(x) - cosl(x))) <= limit);
    }
    assert_true(isnan(ec_det_sin(1e16)));
    assert_true(isnan(ec_det_cos(-1e300)));
}

static void test_pow_accuracy(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    double worst = 0, worst_x = 0, worst_y = 0;
    for (int n = 0; n < 2000000; n++) {
        double x, y;
        if (n % 3 == 0) {
            x = exp2(-1074 + 2097 * next_unit(&state));
            y = (2 * next_unit(&state) - 1) * 1074 / fabs(log2(x));
        } else if (n % 3 == 1) {
            x = 1 + (next_unit(&state) - 0.5) * exp2(-50 * next_unit(&state));
            y = (2 * next_unit(&state) - 1) * 744 / fabs(log(x));
        } else {
            x = 4 * next_unit(&state);
            y = 40 * next_unit(&state) - 20;
        }
        if (!isfinite(y))
            continue;
        double error = ulp_error(ec_det_pow(x, y), powl(x, y));
        if (!(error <= worst)) {
            worst = error;
            worst_x = x;
            worst_y = y;
        }
    }
    printf("pow: %.3f ulp at %.17g ^ %.17g\n", worst, worst_x, worst_y);
    assert_true(worst <= 2.0);
}

static void test_atan2_accuracy(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    double worst = 0, worst_x = 0, worst_y = 0;
    for (int n = 0; n < 1000000; n++) {
        double scale = exp2(2000 * next_unit(&state) - 1000);
        double range = n & 1 ? 1 : exp2(60 * next_unit(&state) - 30);
        double y = (2 * next_unit(&state) - 1) * scale;
        double x = (2 * next_unit(&state) - 1) * scale * range;
        double error = ulp_error(ec_det_atan2(y, x), atan2l(y, x));
        if (!(error <= worst)) {
            worst = error;
            worst_x = x;
            worst_y = y;
        }
    }
    printf("atan2: %.3f ulp at %.17g, %.17g\n", worst, worst_y, worst_x);
    assert_true(worst <= 3.0);
}

/* ---- special cases: value and sign as C's own functions give them ---- */

static void check_same(const char *name, double x, double y, double got, double want)
{
    bool same = isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want);
    if (!same)
        printf("%s(%.17g, %.17g) = %.17g, expected %.17g\n", name, x, y, got, want);
    assert_true(same);
}

static void test_special_values(void **unused)
{
    (void)unused;
    static const double edges[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 5; i++) {
        double x = edges[i];
        check_same("exp", x, 0, ec_det_exp(x), exp(x));
        check_same("expm1", x, 0, ec_det_expm1(x), expm1(x));
        check_same("log", x, 0, ec_det_log(x), log(x));
        check_same("log2", x, 0, ec_det_log2(x), log2(x));
        check_same("log10", x, 0, ec_det_log10(x), log10(x));
        check_same("log1p", x, 0, ec_det_log1p(x), log1p(x));
        check_same("sin", x, 0, ec_det_sin(x), sin(x));
        check_same("cos", x, 0, ec_det_cos(x), cos(x));
        check_same("tan", x, 0, ec_det_tan(x), tan(x));
        check_same("sinpi", x, 0, ec_det_sinpi(x), sin(x));
        check_same("cospi", x, 0, ec_det_cospi(x), cos(x));
        check_same("atan", x, 0, ec_det_atan(x), atan(x));
        check_same("asin", x, 0, ec_det_asin(x), asin(x));
        check_same("acos", x, 0, ec_det_acos(x), acos(x));
        check_same("sinh", x, 0, ec_det_sinh(x), sinh(x));
        check_same("cosh", x, 0, ec_det_cosh(x), cosh(x));
        check_same("tanh", x, 0, ec_det_tanh(x), tanh(x));
        check_same("floor", x, 0, ec_det_floor(x), floor(x));
        check_same("ceil", x, 0, ec_det_ceil(x), ceil(x));
        check_same("rint", x, 0, ec_det_rint(x), rint(x));
    }
    check_same("log", -1, 0, ec_det_log(-1), NAN);
    check_same("log", 1, 0, ec_det_log(1), 0.0);
    check_same("log1p", -1, 0, ec_det_log1p(-1), -INFINITY);
    check_same("log1p", -2, 0, ec_det_log1p(-2), NAN);
    check_same("exp", 710, 0, ec_det_exp(710), INFINITY);
    check_same("exp", -745, 0, ec_det_exp(-745), exp(-745));
    check_same("exp", -746, 0, ec_det_exp(-746), 0.0);
    check_same("asin", 1.5, 0, ec_det_asin(1.5), NAN);
    check_same("acos", 1, 0, ec_det_acos(1), 0.0);
    check_same("acos", -1, 0, ec_det_acos(-1), EC_PI);
    check_same("acos", -2, 0, ec_det_acos(-2), NAN);
    check_same("tanh", 100, 0, ec_det_tanh(100), 1.0);
    for (int k = -1074; k < 1024; k++)
        check_same("log2", k, 0, ec_det_log2(ldexp(1.0, k)), k);
}

static void test_halves(void **unused)
{
    (void)unused;
    /* half to even, floor and ceil around every half and whole number */
    for (double x = -9; x <= 9; x += 0.25) {
        for (int side = -1; side <= 1; side++) {
            double y = side ? nextafter(x, side * INFINITY) : x;
            check_same("rint", y, 0, ec_det_rint(y), rint(y));
            check_same("floor", y, 0, ec_det_floor(y), floor(y));
            check_same("ceil", y, 0, ec_det_ceil(y), ceil(y));
        }
    }
    static const double sine[4] = {0, 1, 0, -1};
    for (int k = -100; k <= 100; k++) {
        for (double far = 0; far <= 0x1p50; far = far ? far * 1024 : 1024) {
            double x = far + 0.5 * k;
            assert_true(ec_det_sinpi(x) == sine[k & 3]);
            assert_true(ec_det_cospi(x) == sine[(k + 1) & 3]);
        }
    }
    assert_true(ec_det_cospi(0x1p53) == 1 && ec_det_sinpi(0x1p53) == 0);
    assert_true(ec_det_cospi(0x1p52 + 1) == -1 && ec_det_sinpi(0x1p52 + 1) == 0);
    assert_true(ec_det_cospi(1e300) == 1 && ec_det_sinpi(1e300) == 0);
}

static void test_pow_special(void **unused)
{
    (void)unused;
    static const double edges[] = {
        0.0,     -0.0,   INFINITY,     -INFINITY,   NAN,
        1.0,     -1.0,   2.0,          -2.0,        0.5,
        -0.5,    3.0,    -3.0,         2.5,         -2.5,
        1e300,   -1e300, 1e-300,       -1e-300,     5e-324,
        -5e-324, 0x1p53, 0x1p53 + 2,   -0x1p52 - 1, 1.7976931348623157e308,
        1023,    -1074,  0.99999999999};
    enum { EDGES = sizeof edges / sizeof *edges };
    for (int i = 0; i < EDGES; i++) {
        for (int j = 0; j < EDGES; j++) {
            double x = edges[i], y = edges[j], want = pow(x, y), got = ec_det_pow(x, y);
            if (isfinite(want) && want != 0) {
                assert_true(ulp_error(got, want) <= 2.5);
                assert_int_equal(signbit(got), signbit(want));
            } else {
                check_same("pow", x, y, got, want);
            }
        }
    }
    /* small integer powers are exact where the result is */
    for (int x = -40; x <= 40; x++)
        for (int y = 0; y <= 9; y++)
            if (fabs(pow(x, y)) <= 0x1p53)
                check_same("pow", x, y, ec_det_pow(x, y), pow(x, y));
}

static void test_atan2_special(void **unused)
{
    (void)unused;
    static const double edges[] = {0.0,  -0.0,   INFINITY, -INFINITY, NAN,   1.0,
                                   -1.0, 5e-324, -5e-324,  1e-300,    1e308, -1.7e308};
    enum { EDGES = sizeof edges / sizeof *edges };
    for (int i = 0; i < EDGES; i++) {
        for (int j = 0; j < EDGES; j++) {
            double y = edges[i], x = edges[j], want = atan2(y, x), got = ec_det_atan2(y, x);
            assert_true(ulp_error(got, want) <= 2.5);
            if (!isnan(want))
                assert_int_equal(signbit(got), signbit(want));
        }
    }
}

/* ---- fastmath ---- */

static void test_turns(void **unused)
{
    (void)unused;
    uint64_t state = 6;
    double worst_f32 = 0, worst_f64 = 0;
    for (int n = 0; n < 2000000; n++) {
        double t = n < 1000001 ? n * 1e-6 - 0.5 : next_unit(&state) - 0.5;
        double s, c;
        float sf, cf;
        ec_sincos_turns_f64(t, &s, &c);
        worst_f64 = fmax(worst_f64, (double)fabsl(s - sinl(2 * pi_l * t)));
        worst_f64 = fmax(worst_f64, (double)fabsl(c - cosl(2 * pi_l * t)));
        float tf = (float)t;
        ec_sincos_turns_f32(tf, &sf, &cf);
        worst_f32 = fmax(worst_f32, fabs(sf - sin(2 * EC_PI * tf)));
        worst_f32 = fmax(worst_f32, fabs(cf - cos(2 * EC_PI * tf)));
    }
    printf("turns: float32 %.3g, float64 %.3g absolute\n", worst_f32, worst_f64);
    assert_true(worst_f32 < 2.5e-7);
    assert_true(worst_f64 < 4e-16);
}

static void test_turns_reduce(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (int n = 0; n < 200000; n++) {
        double t = (next_unit(&state) - 0.5) * exp2(60 * next_unit(&state));
        double r = ec_turns_reduce(t);
        assert_true(fabs(r) <= 0.5);
        assert_true(fmodl((long double)t - r, 1.0L) == 0);
    }
    assert_true(ec_turns_reduce(0x1p60) == 0);
    assert_true(isnan(ec_turns_reduce(INFINITY)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),       cmocka_unit_test(test_trig_near_zeros),
        cmocka_unit_test(test_trig_large),     cmocka_unit_test(test_pow_accuracy),
        cmocka_unit_test(test_atan2_accuracy), cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_halves),         cmocka_unit_test(test_pow_special),
        cmocka_unit_test(test_atan2_special),  cmocka_unit_test(test_turns),
        cmocka_unit_test(test_turns_reduce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
