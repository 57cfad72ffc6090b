/* The expression graph on the CPU: values against plain C, axes, chunks, gradients against central
 * differences, errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../core/executor.h"
#include "../../core/graph_internal.h"

enum { GENES = 8, POP = 70 };

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

static double gene(size_t c, size_t e)
{
    uint64_t h = (c * 1000003u + e) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9ull;
    h ^= h >> 32;
    return (double)(h >> 11) * 0x1p-53 * 2 - 1;
}

static ec_expr variable(ec_graph *g)
{
    double lo[GENES], hi[GENES];
    for (int i = 0; i < GENES; i++) {
        lo[i] = -1;
        hi[i] = 1;
    }
    return ec_graph_variable(g, false, 0, GENES, lo, hi);
}

/* Evaluates outputs for POP candidates; out[i][(s * elements + e) * POP + c]. */
static void evaluate(ec_graph *g, int32_t n, const ec_expr *outputs, size_t chunk, double **out,
                     uint8_t *status)
{
    ec_executor *x = NULL;
    ec_executor_info info = {
        .outputs = outputs, .n_outputs = n, .max_candidates = POP, .max_groups = 4, .chunk = chunk};
    int r = ec_executor_create(g, cpu, &info, &x);
    if (r != EC_OK)
        print_error("%s\n", ec_error_text());
    assert_int_equal(r, EC_OK);
    ec_array X, XG;
    int32_t shape = GENES;
    assert_int_equal(ec_array_create(cpu, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, POP, 1), 0);
    assert_int_equal(ec_array_create(cpu, &XG, EC_F64, EC_AXIS_GROUP, 1, &shape, 4, 1), 0);
    double *p = X.data, *q = XG.data;
    for (size_t e = 0; e < GENES; e++) {
        for (size_t c = 0; c < X.ld; c++)
            p[e * X.ld + c] = gene(c, e);
        for (size_t c = 0; c < XG.ld; c++)
            q[e * XG.ld + c] = gene(c + 500, e);
    }
    int32_t map[128];
    for (int c = 0; c < 128; c++)
        map[c] = c % 4;
    uint8_t bytes[128];
    assert_int_equal(ec_executor_run(x, &X, &XG, map, bytes, POP, 4), EC_OK);
    for (int32_t i = 0; i < n; i++) {
        const ec_array *a = ec_executor_output(x, i);
        size_t width = a->dtype == EC_C128 ? 2 : 1;
        for (size_t s = 0; s < a->samples; s++)
            for (size_t e = 0; e < a->elements; e++)
                for (size_t c = 0; c < POP; c++)
                    for (size_t w = 0; w < width; w++)
                        out[i][((s * a->elements + e) * POP + c) * width + w] =
                            ((double *)a->data)[(s * a->sample_stride + e * a->ld +
                                                 (a->axes & EC_AXIS_CANDIDATE ? c : 0)) *
                                                    width +
                                                w];
    }
    if (status)
        memcpy(status, bytes, POP);
    ec_array_release(cpu, &X);
    ec_array_release(cpu, &XG);
    ec_executor_destroy(&x);
}

/* Central differences of scalar y along each gene at one design against ec_graph_gradient. */
static void check_gradient(ec_graph *g, ec_expr y, ec_expr x, double tolerance)
{
    ec_expr grad;
    int r = ec_graph_gradient(g, y, 1, &x, &grad);
    if (r != EC_OK)
        print_error("%s\n", ec_error_text());
    assert_int_equal(r, EC_OK);
    double genes[GENES], got[GENES], plus, minus, *out[1] = {got};
    for (int i = 0; i < GENES; i++)
        genes[i] = gene(7, (size_t)i);
    assert_int_equal(
        ec_evaluate_once(g, cpu, EC_FINAL, 1, &grad, genes, GENES, NULL, 0, out, NULL, NULL),
        EC_OK);
    for (int i = 0; i < GENES; i++) {
        double h = 1e-6, keep = genes[i];
        genes[i] = keep + h;
        out[0] = &plus;
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_FINAL, 1, &y, genes, GENES, NULL, 0, out, NULL, NULL), 0);
        genes[i] = keep - h;
        out[0] = &minus;
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_FINAL, 1, &y, genes, GENES, NULL, 0, out, NULL, NULL), 0);
        genes[i] = keep;
        double slope = (plus - minus) / (2 * h);
        if (!(fabs(slope - got[i]) <= tolerance * (1 + fabs(slope))))
            print_error("gene %d: difference %.10g, gradient %.10g\n", i, slope, got[i]);
        assert_true(fabs(slope - got[i]) <= tolerance * (1 + fabs(slope)));
    }
}

static ec_expr u(ec_graph *g, ec_op op, ec_expr a)
{
    return ec_graph_unary(g, op, a);
}

static ec_expr b(ec_graph *g, ec_op op, ec_expr x, ec_expr y)
{
    return ec_graph_binary(g, op, x, y);
}

static ec_expr op(ec_graph *g, ec_op o, int n, const ec_expr *in, int m, const double *par)
{
    return ec_graph_op(g, o, n, in, m, par);
}

static void test_rosenbrock(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g);
    ec_expr lo = ec_graph_slice(g, x, 0, GENES - 1), hi = ec_graph_slice(g, x, 1, GENES - 1);
    ec_expr d = b(g, EC_OP_SUB, hi, u(g, EC_OP_SQUARE, lo));
    ec_expr t = b(g, EC_OP_ADD, b(g, EC_OP_MUL, ec_graph_number(g, 100), u(g, EC_OP_SQUARE, d)),
                  u(g, EC_OP_SQUARE, b(g, EC_OP_SUB, ec_graph_number(g, 1), lo)));
    ec_expr y = u(g, EC_OP_SUM, t);
    double whole[POP], cut[POP], *out[1] = {whole};
    evaluate(g, 1, &y, 0, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        double sum = 0;
        for (size_t e = 0; e + 1 < GENES; e++) {
            double a = gene(c, e), n = gene(c, e + 1);
            sum += 100 * (n - a * a) * (n - a * a) + (1 - a) * (1 - a);
        }
        assert_true(fabs(sum - whole[c]) < 1e-12 * fabs(sum));
    }
    out[0] = cut;
    evaluate(g, 1, &y, 32, out, NULL);
    assert_memory_equal(whole, cut, sizeof whole);
    check_gradient(g, y, x, 1e-6);
    ec_graph_destroy(&g);
}

/* Ranges of single elements: what the values of each keep to, and tighter than the node's. */
static void test_element_ranges(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    double low[GENES], high[GENES], base[GENES], matrix[2 * GENES];
    for (int i = 0; i < GENES; i++) {
        low[i] = -2.0 - 0.1 * i;
        high[i] = 2.0 + 0.2 * i;
        base[i] = 10.0 * i;
        matrix[i] = i;
        matrix[GENES + i] = i == 2 ? -1.0 : 0.0;
    }
    ec_expr x = ec_graph_variable(g, false, 0, GENES, low, high);
    ec_expr same = ec_graph_variable(g, false, 0, GENES, low, high);
    assert_int_equal(x, same);
    high[1] += 1.0; /* the hull is what it was */
    assert_int_not_equal(x, ec_graph_variable(g, false, 0, GENES, low, high));
    int32_t shape = GENES, index[3] = {3, -1, 0};
    ec_expr moved = b(g, EC_OP_ADD, x, ec_graph_constant(g, 1, &shape, base));
    ec_expr square = u(g, EC_OP_SQUARE, moved), pair[2] = {square, ec_graph_slice(g, x, 1, 2)};
    const ec_expr each[] = {x,
                            moved,
                            square,
                            b(g, EC_OP_MUL, square, ec_graph_number(g, -0.5)),
                            ec_graph_slice(g, moved, 2, 3),
                            ec_graph_gather(g, moved, 1, (int32_t[]){3}, index),
                            op(g, EC_OP_CONCAT, 2, pair, 0, NULL),
                            op(g, EC_OP_CUMSUM, 1, &moved, 0, NULL),
                            ec_graph_matvec(g, moved, 2, matrix),
                            op(g, EC_OP_SORT, 1, &moved, 0, NULL),
                            ec_graph_declare(g, moved, 3.0, 14.0),
                            u(g, EC_OP_SUM, moved)};
    enum { EACH = sizeof each / sizeof *each };
    static double value[EACH][2 * GENES * POP];
    double *out[EACH];
    for (int k = 0; k < EACH; k++)
        out[k] = value[k];
    evaluate(g, EACH, each, 0, out, NULL);
    for (int k = 0; k < EACH; k++) {
        const ec_node *n = ec_graph_node(g, each[k]);
        ec_interval range[2 * GENES];
        assert_int_equal(ec_graph_ranges(g, each[k], range), EC_OK);
        for (int32_t e = 0; e < n->elements; e++) {
            assert_true(range[e].lo >= n->range.lo && range[e].hi <= n->range.hi);
            for (size_t c = 0; c < POP && n->op != EC_OP_DECLARE; c++) {
                double got = value[k][(size_t)e * POP + c];
                assert_true(got >= range[e].lo - 1e-12 && got <= range[e].hi + 1e-12);
            }
        }
    }
    ec_interval range[2 * GENES];
    assert_int_equal(ec_graph_ranges(g, moved, range), EC_OK);
    assert_true(fabs(range[3].lo - 27.7) < 1e-12 && fabs(range[3].hi - 32.6) < 1e-12);
    assert_int_equal(ec_graph_ranges(g, each[5], range), EC_OK);
    assert_true(range[1].lo == 0.0 && range[1].hi == 0.0);
    assert_int_equal(ec_graph_ranges(g, each[8], range), EC_OK);
    assert_true(fabs(range[1].lo + 22.4) < 1e-12 && fabs(range[1].hi + 17.8) < 1e-12);
    ec_graph_destroy(&g);
}

/* Every element-wise op on suitable arguments, gradient included. */
static void test_elementwise(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), half = ec_graph_number(g, 0.45);
    ec_expr positive = b(g, EC_OP_ADD, x, ec_graph_number(g, 2.25));
    static const struct {
        ec_op op;
        bool positive;
        double (*f)(double);
    } unary[] = {{EC_OP_SQRT, true, sqrt},   {EC_OP_EXP, false, exp},   {EC_OP_LOG, true, log},
                 {EC_OP_LOG10, true, log10}, {EC_OP_SIN, false, sin},   {EC_OP_COS, false, cos},
                 {EC_OP_TAN, false, tan},    {EC_OP_ASIN, false, asin}, {EC_OP_ACOS, false, acos},
                 {EC_OP_ATAN, false, atan},  {EC_OP_SINH, false, sinh}, {EC_OP_COSH, false, cosh},
                 {EC_OP_TANH, false, tanh},  {EC_OP_ABS, false, fabs},  {EC_OP_FLOOR, false, floor},
                 {EC_OP_CEIL, false, ceil},  {EC_OP_ROUND, false, rint}};
    static double value[GENES * POP];
    double *out[1] = {value};
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        ec_expr y = u(g, unary[k].op, unary[k].positive ? positive : x);
        evaluate(g, 1, &y, 0, out, NULL);
        for (size_t e = 0; e < GENES; e++)
            for (size_t c = 0; c < POP; c++) {
                double want = unary[k].f(gene(c, e) + (unary[k].positive ? 2.25 : 0));
                double got = value[e * POP + c];
                if (!(fabs(got - want) <= 4e-15 * (fabs(want) + 1e-3)))
                    print_error("%s: %.17g, want %.17g\n", ec_op_name(unary[k].op), got, want);
                assert_true(fabs(got - want) <= 4e-15 * (fabs(want) + 1e-3));
                const ec_node *n = ec_graph_node(g, y);
                assert_true(got >= n->range.lo - 1e-12 && got <= n->range.hi + 1e-12);
            }
        check_gradient(g, u(g, EC_OP_SUM, b(g, EC_OP_MUL, y, b(g, EC_OP_ADD, x, half))), x, 1e-5);
    }
    ec_op binary[] = {EC_OP_ADD, EC_OP_SUB,   EC_OP_MUL, EC_OP_DIV,
                      EC_OP_POW, EC_OP_ATAN2, EC_OP_MIN, EC_OP_MAX};
    ec_expr other = ec_graph_reverse(g, positive);
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
        ec_expr y = b(g, binary[k], positive, other);
        evaluate(g, 1, &y, 0, out, NULL);
        for (size_t e = 0; e < GENES; e++)
            for (size_t c = 0; c < POP; c++) {
                double p = gene(c, e) + 2.25, q = gene(c, GENES - 1 - e) + 2.25, want = 0;
                switch (binary[k]) {
                case EC_OP_ADD:
                    want = p + q;
                    break;
                case EC_OP_SUB:
                    want = p - q;
                    break;
                case EC_OP_MUL:
                    want = p * q;
                    break;
                case EC_OP_DIV:
                    want = p / q;
                    break;
                case EC_OP_POW:
                    want = pow(p, q);
                    break;
                case EC_OP_ATAN2:
                    want = atan2(p, q);
                    break;
                case EC_OP_MIN:
                    want = fmin(p, q);
                    break;
                default:
                    want = fmax(p, q);
                    break;
                }
                assert_true(fabs(value[e * POP + c] - want) <= 4e-15 * (fabs(want) + 1e-3));
            }
        check_gradient(g, u(g, EC_OP_SUM, b(g, EC_OP_MUL, y, x)), x, 1e-5);
    }
    ec_expr wh = ec_graph_where(g, b(g, EC_OP_LT, x, ec_graph_number(g, 0)), u(g, EC_OP_SQUARE, x),
                                u(g, EC_OP_EXP, x));
    check_gradient(g, u(g, EC_OP_SUM, wh), x, 1e-5);
    ec_expr cl = op(g, EC_OP_CLAMP, 3, (ec_expr[]){x, ec_graph_number(g, -0.3), half}, 0, NULL);
    check_gradient(g, u(g, EC_OP_SUM, b(g, EC_OP_MUL, cl, x)), x, 1e-5);
    ec_graph_destroy(&g);
}

/* The dead branch's gradient is zero, not NaN. */
static void test_where_gradient(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), zero = ec_graph_number(g, 0);
    ec_expr first = ec_graph_slice(g, x, 0, 0);
    ec_expr big = b(g, EC_OP_SUB, first, ec_graph_number(g, 5)); /* negative: its root is NaN */
    ec_expr y = ec_graph_where(g, b(g, EC_OP_LT, big, zero), first, u(g, EC_OP_SQRT, big)), grad;
    assert_int_equal(ec_graph_gradient(g, y, 1, &x, &grad), EC_OK);
    double genes[GENES] = {0.5}, got[GENES], *out[1] = {got};
    assert_int_equal(
        ec_evaluate_once(g, cpu, EC_FINAL, 1, &grad, genes, GENES, NULL, 0, out, NULL, NULL), 0);
    assert_true(got[0] == 1);
    ec_graph_destroy(&g);
}

static void test_complex(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), y = ec_graph_reverse(g, x);
    ec_expr z = b(g, EC_OP_COMPLEX, x, y), j = b(g, EC_OP_COMPLEX, ec_graph_number(g, 0.5), x);
    ec_expr e = u(g, EC_OP_EXP, j);
    ec_expr w = b(g, EC_OP_DIV, b(g, EC_OP_MUL, z, e), b(g, EC_OP_ADD, j, ec_graph_number(g, 2)));
    w = b(g, EC_OP_SUB, w, u(g, EC_OP_CONJ, u(g, EC_OP_SQUARE, z)));
    ec_expr total = u(g, EC_OP_SUM, w);
    ec_expr parts[4] = {u(g, EC_OP_ABS, total), u(g, EC_OP_ARG, total), u(g, EC_OP_RE, total),
                        u(g, EC_OP_ABS2, total)};
    static double value[4][POP];
    double *out[4] = {value[0], value[1], value[2], value[3]};
    evaluate(g, 4, parts, 0, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        double sr = 0, si = 0;
        for (size_t i = 0; i < GENES; i++) {
            double p = gene(c, i), q = gene(c, GENES - 1 - i);
            double er = exp(0.5) * cos(p), ei = exp(0.5) * sin(p);
            double ar = p * er - q * ei, ai = p * ei + q * er, dr = 2.5, di = p;
            double m = dr * dr + di * di;
            sr += (ar * dr + ai * di) / m - (p * p - q * q);
            si += (ai * dr - ar * di) / m + 2 * p * q;
        }
        assert_true(fabs(value[0][c] - hypot(sr, si)) < 1e-12);
        assert_true(fabs(value[1][c] - atan2(si, sr)) < 1e-12);
        assert_true(fabs(value[2][c] - sr) < 1e-12);
    }
    for (int k = 0; k < 4; k++)
        check_gradient(g, parts[k], x, 1e-5);
    ec_graph_destroy(&g);
}

static int ascending(const void *p, const void *q)
{
    double a = *(const double *)p, c = *(const double *)q;
    return (a > c) - (a < c);
}

static void test_structural(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g);
    double circular[2] = {1, -9}, k3 = 3, sharp = 5;
    ec_expr sorted = u(g, EC_OP_SORT, x), peaks = op(g, EC_OP_LOCAL_MAXIMA, 1, &x, 2, circular);
    ec_expr third = op(g, EC_OP_KTH_LARGEST, 1, &x, 1, &k3);
    ec_expr soft = op(g, EC_OP_SOFT_MAX, 1, &x, 1, &sharp);
    ec_expr at = u(g, EC_OP_ARGMAX, x), top = b(g, EC_OP_TAKE, x, at);
    ec_expr sum = u(g, EC_OP_CUMSUM, x), norm = u(g, EC_OP_NORM, x),
            ones = op(g, EC_OP_TOP_K, 1, &x, 1, &k3);
    ec_expr joined = op(g, EC_OP_CONCAT, 3, (ec_expr[]){sorted, top, x}, 0, NULL);
    ec_expr mirror = ec_graph_mirror(g, x, true, false);
    double matrix[2 * GENES];
    for (int i = 0; i < 2 * GENES; i++)
        matrix[i] = 0.1 * i - 0.3;
    ec_expr mv = ec_graph_matvec(g, x, 2, matrix);
    double walk[3] = {1, 1, 8};
    ec_expr steps = op(g, EC_OP_WALK_MIN, 2, (ec_expr[]){x, at}, 3, walk);
    ec_expr cross = op(g, EC_OP_CROSSING, 3,
                       (ec_expr[]){x, b(g, EC_OP_MUL, top, ec_graph_number(g, 0.5)), at}, 2, walk);
    ec_expr list[] = {sorted, peaks,  third,  soft, top,   sum,  norm,
                      ones,   joined, mirror, mv,   steps, cross};
    enum { N = sizeof list / sizeof *list };
    static double value[N][32 * POP];
    double *out[N];
    for (int i = 0; i < N; i++)
        out[i] = value[i];
    evaluate(g, N, list, 0, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        double v[GENES], s[GENES], total = 0, square = 0, e = 0;
        int best = 0;
        for (int i = 0; i < GENES; i++) {
            v[i] = s[i] = gene(c, (size_t)i);
            if (v[i] > v[best])
                best = i;
        }
        qsort(s, GENES, sizeof *s, ascending);
        for (int i = 0; i < GENES; i++) {
            double before = v[(i + GENES - 1) % GENES], after = v[(i + 1) % GENES];
            total += v[i];
            square += v[i] * v[i];
            e += exp(5 * v[i]);
            assert_true(value[0][(size_t)i * POP + c] == s[i]);
            assert_true(value[1][(size_t)i * POP + c] ==
                        (v[i] > before && v[i] > after ? v[i] : -9));
            assert_true(fabs(value[5][(size_t)i * POP + c] - total) < 1e-14);
            assert_true(value[7][(size_t)i * POP + c] == (v[i] >= s[GENES - 3]));
            assert_true(value[8][(size_t)i * POP + c] == s[i]);
            assert_true(value[8][(size_t)(GENES + 1 + i) * POP + c] == v[i]);
            assert_true(value[9][(size_t)i * POP + c] == -v[GENES - 1 - i]);
            assert_true(value[9][(size_t)(GENES + i) * POP + c] == v[i]);
        }
        assert_true(value[8][(size_t)GENES * POP + c] == s[GENES - 1]);
        assert_true(value[2][c] == s[GENES - 3]);
        assert_true(fabs(value[3][c] - log(e) / 5) < 1e-13);
        assert_true(value[4][c] == s[GENES - 1]);
        assert_true(fabs(value[6][c] - sqrt(square)) < 1e-14);
        for (int r = 0; r < 2; r++) {
            double want = 0;
            for (int i = 0; i < GENES; i++)
                want += matrix[r * GENES + i] * v[i];
            assert_true(fabs(value[10][(size_t)r * POP + c] - want) < 1e-14);
        }
        int n = 0;
        for (n = 1; n < 8; n++) {
            int i = best + n;
            if (v[i % GENES] < v[(i - 1) % GENES] && v[i % GENES] < v[(i + 1) % GENES])
                break;
        }
        assert_true(value[11][c] == n);
        for (n = 1; n < GENES && v[(best + n) % GENES] >= 0.5 * v[best]; n++) {
        }
        double x0 = v[(best + n - 1) % GENES], x1 = v[(best + n) % GENES];
        assert_true(fabs(value[12][c] - (n - 1 + (x0 - 0.5 * v[best]) / (x0 - x1))) < 1e-12);
    }
    ec_expr weights = ec_graph_reverse(g, x);
    ec_expr smooth[] = {u(g, EC_OP_SUM, b(g, EC_OP_MUL, sorted, weights)),
                        u(g, EC_OP_SUM, b(g, EC_OP_MUL, sum, weights)),
                        third,
                        soft,
                        top,
                        norm,
                        u(g, EC_OP_NORM, joined),
                        u(g, EC_OP_NORM, mirror),
                        u(g, EC_OP_NORM, mv),
                        cross,
                        u(g, EC_OP_RMAX, x),
                        u(g, EC_OP_RMIN, x),
                        u(g, EC_OP_MEAN, u(g, EC_OP_SQUARE, x))};
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++)
        check_gradient(g, smooth[i], x, 1e-5);
    ec_graph_destroy(&g);
}

/* Group and sample axes: y = group gene + candidate gene x sample, reduced over samples. */
static void test_axes(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    double lo[GENES] = {-1, -1, -1, -1, -1, -1, -1, -1}, hi[GENES] = {1, 1, 1, 1, 1, 1, 1, 1};
    ec_expr x = variable(g), shared = ec_graph_variable(g, true, 0, GENES, lo, hi);
    double samples[3] = {0.5, 2, -1};
    ec_expr s = ec_graph_samples(g, 3, 0, NULL, samples);
    ec_expr group_only = u(g, EC_OP_SIN, u(g, EC_OP_SORT, shared));
    ec_expr y = b(g, EC_OP_ADD, group_only, b(g, EC_OP_MUL, x, s));
    assert_int_equal(ec_graph_node(g, y)->axes, EC_AXIS_CANDIDATE | EC_AXIS_SAMPLE);
    double percent = 50;
    ec_expr list[] = {y,
                      u(g, EC_OP_SAMPLE_MEAN, y),
                      u(g, EC_OP_SAMPLE_MAX, y),
                      op(g, EC_OP_SAMPLE_PERCENTILE, 1, &y, 1, &percent),
                      u(g, EC_OP_SUM, group_only),
                      u(g, EC_OP_SUM, u(g, EC_OP_SAMPLE_SUM, b(g, EC_OP_MUL, s, s)))};
    static double value[6][3 * GENES * POP], again[6][3 * GENES * POP];
    double *out[6], *out2[6];
    for (int i = 0; i < 6; i++) {
        out[i] = value[i];
        out2[i] = again[i];
    }
    evaluate(g, 6, list, 0, out, NULL);
    evaluate(g, 6, list, 32, out2, NULL);
    assert_memory_equal(value, again, sizeof value);
    for (size_t c = 0; c < POP; c++) {
        double sg[GENES], sum = 0;
        for (size_t e = 0; e < GENES; e++)
            sg[e] = gene(c % 4 + 500, e);
        qsort(sg, GENES, sizeof *sg, ascending);
        for (size_t e = 0; e < GENES; e++) {
            double t[3];
            sum += sin(sg[e]);
            for (size_t k = 0; k < 3; k++) {
                t[k] = sin(sg[e]) + gene(c, e) * samples[k];
                assert_true(fabs(value[0][(k * GENES + e) * POP + c] - t[k]) < 1e-14);
            }
            assert_true(fabs(value[1][e * POP + c] - (t[0] + t[1] + t[2]) / 3) < 1e-14);
            qsort(t, 3, sizeof *t, ascending);
            assert_true(fabs(value[2][e * POP + c] - t[2]) < 1e-14);
            assert_true(fabs(value[3][e * POP + c] - t[1]) < 1e-14);
        }
        assert_true(fabs(value[4][c] - sum) < 1e-13);
        assert_true(value[5][c] == 5.25);
    }
    check_gradient(
        g, u(g, EC_OP_SUM, u(g, EC_OP_SQUARE, u(g, EC_OP_SAMPLE_MAX, b(g, EC_OP_MUL, x, s)))), x,
        1e-5);
    ec_graph_destroy(&g);
}

/* More live values than registers: the pass is cut and the values are the same. */
static void test_register_pressure(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), v[60], y = ec_graph_number(g, 0);
    for (int i = 0; i < 60; i++)
        v[i] = u(g, EC_OP_SIN, b(g, EC_OP_MUL, x, ec_graph_number(g, 0.1 * i)));
    for (int i = 59; i >= 0; i--)
        y = b(g, EC_OP_SUB, b(g, EC_OP_MUL, v[i], ec_graph_number(g, i)), y);
    y = u(g, EC_OP_SUM, y);
    double value[POP], *out[1] = {value};
    evaluate(g, 1, &y, 0, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        double sum = 0;
        for (size_t e = 0; e < GENES; e++) {
            double t = 0;
            for (int i = 59; i >= 0; i--)
                t = sin(gene(c, e) * (0.1 * i)) * i - t;
            sum += t;
        }
        assert_true(fabs(value[c] - sum) < 1e-11);
    }
    check_gradient(g, y, x, 1e-5);
    ec_graph_destroy(&g);
}

static void test_distinct(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x =
        b(g, EC_OP_MUL, b(g, EC_OP_ADD, variable(g), ec_graph_number(g, 1)), ec_graph_number(g, 6));
    double n = 12;
    ec_expr y = op(g, EC_OP_DISTINCT, 1, &x, 1, &n);
    static double value[GENES * POP];
    double *out[1] = {value};
    evaluate(g, 1, &y, 0, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        bool taken[12] = {false};
        for (size_t e = 0; e < GENES; e++) {
            double most = 11 - (double)e, code = fmin(floor((gene(c, e) + 1) * 6), most),
                   left = code;
            int want = 0;
            for (;; want++)
                if (!taken[want] && left-- == 0)
                    break;
            taken[want] = true;
            assert_true(value[e * POP + c] == want);
        }
    }
    ec_graph_destroy(&g);
}

/* Long rows take another sort; ties keep their order, NaN goes last. */
static void test_long_sort(void **state)
{
    (void)state;
    enum { N = 1000 };
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), first = ec_graph_slice(g, x, 0, 0);
    double grid[N];
    int32_t n = N;
    for (int i = 0; i < N; i++)
        grid[i] = (i * 37 % 101) * 0.3;
    ec_expr row = u(g, EC_OP_SIN, b(g, EC_OP_MUL, ec_graph_constant(g, 1, &n, grid), first));
    double k = 10;
    ec_expr list[] = {u(g, EC_OP_SORT, row), u(g, EC_OP_ARGSORT, row), row,
                      op(g, EC_OP_TOP_K, 1, &row, 1, &k), op(g, EC_OP_KTH_LARGEST, 1, &row, 1, &k)};
    double *out[5];
    for (int i = 0; i < 5; i++)
        out[i] = malloc((size_t)N * POP * sizeof(double));
    evaluate(g, 5, list, 0, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        int ones = 0;
        for (size_t i = 0; i < N; i++) {
            double v = out[0][i * POP + c], at = out[1][i * POP + c];
            assert_true(out[2][(size_t)at * POP + c] == v);
            if (i > 0) {
                double before = out[0][(i - 1) * POP + c];
                assert_true(before <= v);
                assert_true(before < v || out[1][(i - 1) * POP + c] < at);
            }
            ones += out[3][i * POP + c] == 1;
        }
        assert_int_equal(ones, 10);
        assert_true(out[4][c] == out[0][(N - 10) * POP + c]);
    }
    for (int i = 0; i < 5; i++)
        free(out[i]);
    ec_graph_destroy(&g);
}

static void test_errors(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), three[3] = {0};
    int32_t shape = 3;
    double nan[3] = {1, NAN, 2};
    assert_int_equal(ec_graph_constant(g, 1, &shape, nan), EC_ERR_RANGE);
    assert_non_null(strstr(ec_error_text(), "element 2"));
    double ok[3] = {1, 2, 3};
    three[0] = ec_graph_constant(g, 1, &shape, ok);
    assert_int_equal(b(g, EC_OP_ADD, x, three[0]), EC_ERR_SHAPE);
    assert_non_null(strstr(ec_error_text(), "[8] and [3]"));
    assert_int_equal(u(g, EC_OP_SQRT, b(g, EC_OP_COMPLEX, x, x)), EC_ERR_TYPE);
    assert_int_equal(ec_graph_slice(g, x, 7, 2), EC_ERR_RANGE);
    double lo = 2, hi = 1;
    assert_int_equal(ec_graph_variable(g, false, 0, 0, &lo, &hi), EC_ERR_RANGE);
    assert_int_equal(u(g, EC_OP_SAMPLE_MEAN, x), EC_ERR_SHAPE);
    /* equal nodes are shared */
    assert_int_equal(b(g, EC_OP_ADD, x, ec_graph_number(g, 1)),
                     b(g, EC_OP_ADD, x, ec_graph_number(g, 1)));
    ec_graph_destroy(&g);
}

/* A tiny evaluator that wants the whole population: y = x0^2 + n (the population's size shows). */
typedef struct whole {
    ec_evaluator head;
} whole;

static int whole_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    whole *w = calloc(1, sizeof *w);
    w->head.def = info->call->def;
    w->head.backend = backend;
    *evaluator = &w->head;
    return EC_OK;
}

static int whole_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                     ec_array *const *out, uint8_t *status, size_t n)
{
    (void)evaluator;
    (void)exec;
    for (size_t c = 0; c < n; c++) {
        double v = ((const double *)in[0]->data)[in[0]->lanes > 1 ? c : 0];
        ((double *)out[0]->data)[c] = v * v + (double)n;
        if (v < -0.5)
            status[c] |= EC_CANDIDATE_EVALUATOR;
    }
    return EC_OK;
}

static void whole_destroy(ec_evaluator **evaluator)
{
    free(*evaluator);
    *evaluator = NULL;
}

static void test_stages(void **state)
{
    (void)state;
    static const ec_evaluator_def def = {.name = "whole",
                                         .flags = EC_EVALUATOR_SELF_CHUNKING,
                                         .plan = whole_plan,
                                         .run = whole_run,
                                         .destroy = whole_destroy};
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), first = ec_graph_slice(g, x, 0, 0), s = u(g, EC_OP_SIN, first);
    ec_call *call;
    assert_int_equal(ec_graph_call(g, &def, NULL, 1, &s, &call), EC_OK);
    ec_call_output o = {.name = "y", .dtype = EC_F64, .range = {0, 1000}};
    ec_expr y = ec_graph_call_output(g, call, &o);
    ec_expr z =
        b(g, EC_OP_ADD, b(g, EC_OP_MUL, y, ec_graph_number(g, 2)), b(g, EC_OP_MUL, s, first));
    double value[POP], *out[1] = {value};
    uint8_t status[POP];
    evaluate(g, 1, &z, 32, out, status);
    for (size_t c = 0; c < POP; c++) {
        double v = gene(c, 0), w = sin(v);
        assert_true(fabs(value[c] - (2 * (w * w + POP) + w * v)) < 1e-12);
        assert_int_equal(status[c], w < -0.5 ? EC_CANDIDATE_EVALUATOR : 0);
    }
    ec_expr grad;
    assert_int_equal(ec_graph_gradient(g, z, 1, &x, &grad), EC_ERR_NO_GRADIENT);
    assert_non_null(strstr(ec_error_text(), "whole"));
    ec_graph_destroy(&g);
}

/* Percentiles: between order statistics, at them, and with equal samples; exact against sorting. */
static void test_percentiles(void **state)
{
    (void)state;
    enum { SAMPLES = 70, KINDS = 5 };
    static const double percent[KINDS] = {0, 5, 37.5, 95, 100};
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    double samples[SAMPLES];
    for (size_t k = 0; k < SAMPLES; k++) /* some are equal */
        samples[k] = k % 7 == 0 ? 0.25 : gene(k, 90);
    ec_expr x = variable(g), s = ec_graph_samples(g, SAMPLES, 0, NULL, samples);
    ec_expr y = u(g, EC_OP_SUM, b(g, EC_OP_MUL, x, s));
    ec_expr list[4 * KINDS];
    static double value[4 * KINDS][POP];
    double *out[4 * KINDS];
    for (int i = 0; i < 4 * KINDS; i++) {
        double par[2] = {percent[i / 4], i % 4};
        list[i] = op(g, EC_OP_SAMPLE_PERCENTILE, 1, &y, 2, par);
        out[i] = value[i];
    }
    evaluate(g, 4 * KINDS, list, 32, out, NULL);
    for (size_t c = 0; c < POP; c++) {
        double t[SAMPLES], sum = 0;
        for (size_t e = 0; e < GENES; e++)
            sum += gene(c, e);
        for (size_t k = 0; k < SAMPLES; k++)
            t[k] = sum * samples[k];
        qsort(t, SAMPLES, sizeof *t, ascending);
        for (int i = 0; i < KINDS; i++) {
            double place = percent[i] / 100 * (SAMPLES - 1), low = floor(place);
            size_t k = (size_t)low, above = k + 1 < SAMPLES ? k + 1 : k;
            size_t quantile = (size_t)ceil(percent[i] / 100 * SAMPLES);
            assert_true(fabs(value[4 * i][c] - (t[k] + (place - low) * (t[above] - t[k]))) < 1e-14);
            assert_true(fabs(value[4 * i + 1][c] - t[k]) < 1e-14);
            assert_true(fabs(value[4 * i + 2][c] - t[above]) < 1e-14);
            assert_true(fabs(value[4 * i + 3][c] - t[quantile > 0 ? quantile - 1 : 0]) < 1e-14);
        }
    }
    double one = 50;
    ec_expr bad = u(g, EC_OP_LOG, b(g, EC_OP_ADD, x, s)); /* NaN for some samples */
    ec_expr half = op(g, EC_OP_SAMPLE_PERCENTILE, 1, &bad, 1, &one);
    static double halves[GENES * POP];
    double *to[1] = {halves};
    evaluate(g, 1, &half, 0, to, NULL);
    for (size_t e = 0; e < GENES; e++)
        for (size_t c = 0; c < POP; c++) {
            bool any = false;
            for (size_t k = 0; k < SAMPLES; k++)
                any |= gene(c, e) + samples[k] < 0;
            assert_int_equal(isnan(halves[e * POP + c]), any);
        }
    /* samples that are far enough apart for a difference quotient */
    ec_expr shifted = b(g, EC_OP_ADD, b(g, EC_OP_MUL, x, s), u(g, EC_OP_SQUARE, s));
    for (int kind = 0; kind < 4; kind++) {
        double par[2] = {95, kind};
        check_gradient(g, u(g, EC_OP_SUM, op(g, EC_OP_SAMPLE_PERCENTILE, 1, &shifted, 2, par)), x,
                       1e-5);
    }
    ec_graph_destroy(&g);
}

/* As many samples at final fidelity as in the search may be the same ones, or others. */
static void test_samples_repeat(void **state)
{
    (void)state;
    const double list[] = {1, 2, 3}, other[] = {1, 2, 4};
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    assert_true(ec_graph_samples_repeat(g));
    assert_true(ec_graph_samples(g, 3, 0, NULL, list) >= 0);
    assert_true(ec_graph_draws(g, 3, 3, 0, NULL, other, other) >= 0);
    assert_true(ec_graph_samples_repeat(g));
    assert_true(ec_graph_draws(g, 3, 3, 0, NULL, list, other) >= 0);
    assert_false(ec_graph_samples_repeat(g));
    ec_graph_destroy(&g);
}

/* Other samples, and more of them, at final fidelity; a refinement keeps those of the search. */
static void test_final_samples(void **state)
{
    (void)state;
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    double search[2][2] = {{1, 2}, {3, 4}}, final[3][2] = {{10, 20}, {30, 40}, {50, 60}};
    int32_t two = 2;
    ec_expr x = variable(g);
    ec_expr s = ec_graph_draws(g, 2, 3, 1, &two, search[0], final[0]);
    ec_expr y = b(g, EC_OP_MUL, s, ec_graph_slice(g, x, 0, 0)), mean = u(g, EC_OP_SAMPLE_MEAN, y);
    assert_int_equal(ec_graph_sample_count(g, false), 2);
    assert_int_equal(ec_graph_sample_count(g, true), 3);
    assert_false(ec_graph_samples_repeat(g));
    assert_true(ec_graph_node(g, s)->range.lo == 1 && ec_graph_node(g, s)->range.hi == 60);
    /* the gradient divides by the number of samples that there are */
    ec_expr slope;
    assert_int_equal(ec_graph_gradient(g, u(g, EC_OP_SUM, mean), 1, &x, &slope), EC_OK);
    ec_expr list[] = {y, mean, slope};
    static const struct {
        ec_fidelity fidelity;
        int n;
        double first, mean, slope;
    } want[] = {{EC_SEARCH, 2, 1, 2, 5}, {EC_FINAL, 3, 10, 30, 70}, {EC_REFINE, 2, 1, 2, 5}};
    for (size_t i = 0; i < 3; i++) {
        double genes[GENES] = {0.5}, values[6], means[2], slopes[GENES];
        double *out[] = {values, means, slopes};
        for (int k = 0; k < 6; k++)
            values[k] = -1;
        assert_int_equal(ec_evaluate_once(g, cpu, want[i].fidelity, 3, list, genes, GENES, NULL, 0,
                                          out, NULL, NULL),
                         EC_OK);
        assert_true(values[0] == 0.5 * want[i].first && means[0] == 0.5 * want[i].mean);
        assert_true(slopes[0] == want[i].slope && slopes[1] == 0);
        assert_true((values[5] == -1) == (want[i].n == 2));
    }
    /* both lengths are those of all lists */
    assert_int_equal(ec_graph_samples(g, 2, 1, &two, search[0]), EC_ERR_SHAPE);
    assert_non_null(strstr(ec_error_text(), "at final fidelity"));
    assert_int_equal(ec_graph_draws(g, 3, 3, 1, &two, final[0], final[0]), EC_ERR_SHAPE);
    final[1][1] = INFINITY;
    assert_int_equal(ec_graph_draws(g, 2, 3, 1, &two, search[0], final[0]), EC_ERR_RANGE);
    ec_graph_destroy(&g);
}

/* An evaluator that counts what it is asked: y = x0^2 for each of n columns and samples. */
typedef struct counts {
    size_t runs, columns;
} counts;

typedef struct counter {
    ec_evaluator head;
    counts *counts;
} counter;

static int counter_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    counter *w = calloc(1, sizeof *w);
    w->head.def = info->call->def;
    w->head.backend = backend;
    w->counts = info->call->config;
    *evaluator = &w->head;
    return EC_OK;
}

static int counter_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                       ec_array *const *out, uint8_t *status, size_t n)
{
    (void)exec;
    (void)status;
    counts *c = ((counter *)evaluator)->counts;
    c->runs++;
    c->columns += n * in[0]->samples;
    for (size_t s = 0; s < in[0]->samples; s++)
        for (size_t i = 0; i < n; i++) {
            double v = ((const double *)in[0]->data)[s * in[0]->sample_stride + i];
            ((double *)out[0]->data)[s * out[0]->sample_stride + i] = v * v;
        }
    return EC_OK;
}

/* What depends on group variables only is evaluated once for each group, constants once. */
static void test_once_per_group(void **state)
{
    (void)state;
    static const ec_evaluator_def def = {
        .name = "counter", .plan = counter_plan, .run = counter_run, .destroy = whole_destroy};
    double lo[GENES] = {0}, hi[GENES] = {1, 1, 1, 1, 1, 1, 1, 1}, samples[3] = {1, 2, 3};
    counts count[4] = {{0, 0}};
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = variable(g), shared = ec_graph_variable(g, true, 0, GENES, lo, hi);
    ec_expr s = ec_graph_samples(g, 3, 0, NULL, samples);
    ec_expr first = ec_graph_slice(g, shared, 0, 0);
    ec_expr in[4] = {first, ec_graph_slice(g, x, 0, 0), b(g, EC_OP_MUL, first, s), s};
    ec_expr total = ec_graph_number(g, 0);
    for (int i = 0; i < 4; i++) {
        ec_call *call;
        ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {0, 100}};
        assert_int_equal(ec_graph_call(g, &def, &count[i], 1, &in[i], &call), EC_OK);
        ec_expr y = ec_graph_call_output(g, call, &output);
        total = b(g, EC_OP_ADD, total, i < 2 ? y : u(g, EC_OP_SAMPLE_SUM, y));
    }
    static double value[POP], again[POP];
    double *out[1] = {value}, *out2[1] = {again};
    evaluate(g, 1, &total, 0, out, NULL);
    size_t columns[4] = {4, POP, 4 * 3, 3}, runs[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(count[i].columns, columns[i]);
        assert_int_equal(count[i].runs, runs[i]);
    }
    evaluate(g, 1, &total, 32, out2, NULL); /* in three chunks */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(count[i].columns, 2 * columns[i]);
        assert_int_equal(count[i].runs, i == 1 ? 4 : 2);
    }
    assert_memory_equal(value, again, sizeof value);
    for (size_t c = 0; c < POP; c++) {
        double v = gene(c % 4 + 500, 0), w = gene(c, 0);
        assert_true(fabs(value[c] - (v * v + w * w + v * v * 14 + 14)) < 1e-12);
    }
    ec_graph_destroy(&g);
}

/* Each sample by itself gives what the sample axis gives; evaluators are called for it alone. */
static void test_at_sample(void **state)
{
    (void)state;
    static const ec_evaluator_def def = {
        .name = "counter", .plan = counter_plan, .run = counter_run, .destroy = whole_destroy};
    double samples[3] = {1, 2, -3};
    counts count = {0, 0};
    ec_graph *g;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    ec_expr x = ec_graph_slice(g, variable(g), 0, 0), s = ec_graph_samples(g, 3, 0, NULL, samples);
    ec_expr y = b(g, EC_OP_ADD, x, s), centred = b(g, EC_OP_SUB, y, u(g, EC_OP_SAMPLE_MEAN, y));
    ec_call *call;
    ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {0, 100}};
    assert_int_equal(ec_graph_call(g, &def, &count, 1, &centred, &call), EC_OK);
    ec_expr z = b(g, EC_OP_MUL, ec_graph_call_output(g, call, &output), s), alone[4];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ec_graph_at_sample(g, i, 1, &z, &alone[i]), EC_OK);
        assert_int_equal(ec_graph_node(g, alone[i])->axes, EC_AXIS_CANDIDATE);
    }
    alone[3] = z;
    static double value[3][POP], all[3 * POP];
    double *out[4] = {value[0], value[1], value[2], all};
    evaluate(g, 4, alone, 0, out, NULL);
    assert_memory_equal(value, all, sizeof all);
    assert_true(fabs(value[2][5] - -27) < 1e-12);
    assert_int_equal(count.columns, 2 * 3 * POP);
    assert_int_equal(ec_graph_at_sample(g, 3, 1, &z, &alone[0]), EC_ERR_RANGE);
    ec_graph_destroy(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rosenbrock),     cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_element_ranges), cmocka_unit_test(test_where_gradient),
        cmocka_unit_test(test_complex),        cmocka_unit_test(test_structural),
        cmocka_unit_test(test_axes),           cmocka_unit_test(test_register_pressure),
        cmocka_unit_test(test_distinct),       cmocka_unit_test(test_long_sort),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_stages),
        cmocka_unit_test(test_percentiles),    cmocka_unit_test(test_samples_repeat),
        cmocka_unit_test(test_final_samples),  cmocka_unit_test(test_once_per_group),
        cmocka_unit_test(test_at_sample),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
