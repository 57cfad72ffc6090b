/* The expression graph on every backend, bit for bit against the plain CPU run (unit tests compare
 * that with C's own arithmetic), with several chunk sizes, groups and samples. */
#include "backends.h"

#include "core/callback.h"

#include <stdlib.h>
#include <string.h>

enum { GENES = 40, POP = 200, GROUPS = 5, OUTPUTS = 48, ROWS = 700 };

static double gene(size_t c, size_t e)
{
    uint64_t h = (c * 7919u + e + 1) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 31;
    h *= 0xBF58476D1CE4E5B9ull;
    h ^= h >> 29;
    return (double)(h >> 11) * 0x1p-53 * 2 - 1;
}

static ec_expr build(ec_graph *g, ec_expr *out, int32_t *count)
{
    double lo[GENES], hi[GENES], grid[ROWS], matrix[3 * GENES], samples[4] = {0.5, -1, 2, 0.25};
    for (int i = 0; i < GENES; i++) {
        lo[i] = -1;
        hi[i] = 1;
    }
    for (int i = 0; i < ROWS; i++)
        grid[i] = -1 + 2.0 * i / (ROWS - 1);
    for (int i = 0; i < 3 * GENES; i++)
        matrix[i] = 0.01 * i - 0.4;
    int32_t rows = ROWS, square[2] = {5, 8}, turned[2] = {8, 5}, n = 0;
    ec_expr x = ec_graph_variable(g, false, 0, GENES, lo, hi);
    ec_expr shared = ec_graph_variable(g, true, 0, 3, lo, hi);
    ec_expr s = ec_graph_samples(g, 4, 0, NULL, samples), u = ec_graph_constant(g, 1, &rows, grid);
#define U(op, a)    ec_graph_unary(g, EC_OP_##op, a)
#define B(op, a, b) ec_graph_binary(g, EC_OP_##op, a, b)
    ec_expr two = ec_graph_number(g, 2), half = ec_graph_number(g, 0.5), p = B(ADD, x, two);
    ec_expr mix = U(SIN, B(MUL, x, ec_graph_number(g, 30)));
    mix = B(ADD, B(POW, p, x), B(DIV, mix, U(COSH, x)));
    mix = B(SUB, mix, B(MUL, U(LOG, p), U(EXP, B(ATAN2, x, p))));
    mix = ec_graph_where(g, B(LT, x, half), mix, U(TANH, U(TAN, x)));
    mix = B(MAX, mix, U(ACOS, B(MUL, x, half)));
    out[n++] = mix;
    out[n++] = U(SUM, mix);
    out[n++] = U(RMAX, mix);
    out[n++] = U(SQRT, x); /* NaN in half of the places */
    /* a long row: a sum of cosines over a grid, circular peaks, walks */
    ec_expr first = ec_graph_slice(g, x, 0, 0),
            phase = B(MUL, u, B(ADD, B(MUL, first, ec_graph_number(g, 9)), ec_graph_number(g, 20)));
    ec_expr row =
        B(ADD, U(COS, phase), B(MUL, half, U(SIN, B(MUL, phase, ec_graph_slice(g, x, 1, 0)))));
    double circular[2] = {1, -5}, two_k = 2, sharp = 8, walk[3] = {-1, 1, ROWS};
    ec_expr peaks = ec_graph_op(g, EC_OP_LOCAL_MAXIMA, 1, &row, 2, circular);
    ec_expr at = U(ARGMAX, row);
    out[n++] = U(SUM, row);
    out[n++] = U(NORM, row);
    out[n++] = U(RMIN, row);
    out[n++] = at;
    out[n++] = ec_graph_op(g, EC_OP_KTH_LARGEST, 1, &peaks, 1, &two_k);
    out[n++] = ec_graph_op(g, EC_OP_SOFT_MAX, 1, &row, 1, &sharp);
    out[n++] = U(SORT, row);
    out[n++] = U(ARGSORT, row);
    out[n++] = ec_graph_op(g, EC_OP_WALK_MIN, 2, (ec_expr[]){row, at}, 3, walk);
    out[n++] = ec_graph_op(g, EC_OP_CROSSING, 3, (ec_expr[]){row, half, at}, 2, walk);
    out[n++] = B(INTERP, row, B(MUL, B(ADD, first, two), ec_graph_number(g, 100)));
    out[n++] = U(CUMSUM, x);
    out[n++] = U(SORT, x);
    out[n++] = U(ARGSORT, x);
    out[n++] = ec_graph_op(g, EC_OP_TOP_K, 1, &x, 1, &two_k);
    ec_expr codes =
        B(MUL, B(ADD, ec_graph_slice(g, x, 4, 6), ec_graph_number(g, 1)), ec_graph_number(g, 10));
    double twenty = 20;
    out[n++] = ec_graph_op(g, EC_OP_DISTINCT, 1, &codes, 1, &twenty);
    out[n++] = ec_graph_matvec(g, x, 3, matrix);
    out[n++] = B(MATMUL, ec_graph_reshape(g, x, 2, square), ec_graph_reshape(g, mix, 2, turned));
    double last_axis = 1;
    ec_expr table = ec_graph_reshape(g, mix, 2, square);
    out[n++] = ec_graph_op(g, EC_OP_MEAN, 1, &table, 1, &last_axis);
    out[n++] = ec_graph_mirror(g, x, true, true);
    out[n++] = ec_graph_op(g, EC_OP_CONCAT, 3, (ec_expr[]){U(SORT, x), first, mix}, 0, NULL);
    /* complex */
    ec_expr z = B(COMPLEX, x, ec_graph_reverse(g, x)), e = U(EXP, B(MUL, z, B(COMPLEX, half, two)));
    out[n++] = B(DIV, e, B(ADD, z, two));
    out[n++] = U(ABS, U(SUM, B(MUL, e, U(CONJ, z))));
    /* group and sample axes */
    ec_expr gs = U(SIN, U(SORT, shared)), over = B(MUL, ec_graph_slice(g, x, 0, 3), s);
    ec_expr wide = B(ADD, gs, over);
    double percent = 40;
    out[n++] = wide;
    out[n++] = U(SAMPLE_MAX, wide);
    out[n++] = U(SAMPLE_MEAN, wide);
    for (int kind = EC_PERCENTILE_LINEAR; kind <= EC_PERCENTILE_QUANTILE; kind++)
        out[n++] =
            ec_graph_op(g, EC_OP_SAMPLE_PERCENTILE, 1, &wide, 2, (double[]){percent, (double)kind});
    out[n++] = U(SUM, gs);
    *count = n;
    return U(SUM, B(MUL, mix, U(SORT, x)));
}

/* Runs and downloads everything; *bytes in *data (malloc). */
static int collect(ec_backend *be, ec_graph *g, const ec_expr *out, int32_t n, size_t chunk,
                   unsigned char **data, size_t *bytes)
{
    ec_executor *x = NULL;
    ec_executor_info info = {.outputs = out,
                             .n_outputs = n,
                             .max_candidates = POP,
                             .max_groups = GROUPS,
                             .chunk = chunk};
    EC_CHECK_CALL(ec_executor_create(g, be, &info, &x));
    ec_array X, XG;
    int32_t shape = GENES, shape_g = 3;
    EC_CHECK_CALL(ec_array_create(be, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, POP, 1));
    EC_CHECK_CALL(ec_array_create(be, &XG, EC_F64, EC_AXIS_GROUP, 1, &shape_g, GROUPS, 1));
    size_t nx = GENES * X.ld, ng = 3 * XG.ld, nm = X.ld;
    double *hx = malloc(nx * sizeof *hx), *hg = malloc(ng * sizeof *hg);
    int32_t *hm = malloc(nm * sizeof *hm);
    for (size_t i = 0; i < nx; i++)
        hx[i] = gene(i % X.ld, i / X.ld);
    for (size_t i = 0; i < ng; i++)
        hg[i] = gene(i % XG.ld + 9000, i / XG.ld);
    for (size_t i = 0; i < nm; i++)
        hm[i] = (int32_t)(i % GROUPS);
    void *map, *status;
    EC_CHECK_CALL(be->ops->upload(be, X.data, hx, nx * sizeof *hx));
    EC_CHECK_CALL(be->ops->upload(be, XG.data, hg, ng * sizeof *hg));
    EC_CHECK_CALL(be->ops->alloc(be, nm * sizeof *hm, &map));
    EC_CHECK_CALL(be->ops->upload(be, map, hm, nm * sizeof *hm));
    EC_CHECK_CALL(be->ops->alloc(be, X.ld, &status));
    free(hx);
    free(hg);
    free(hm);
    EC_CHECK_CALL(ec_executor_run(x, &X, &XG, map, status, POP, GROUPS));
    *bytes = 0;
    for (int32_t i = 0; i < n; i++)
        *bytes += ec_executor_output(x, i)->elements * ec_executor_output(x, i)->samples * POP * 16;
    *data = calloc(1, *bytes);
    size_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        const ec_array *a = ec_executor_output(x, i);
        size_t size = ec_dtype_size(a->dtype);
        for (size_t s = 0; s < a->samples; s++)
            for (size_t e = 0; e < a->elements; e++) {
                size_t lanes = a->axes & EC_AXIS_CANDIDATE ? POP : 1;
                EC_CHECK_CALL(be->ops->download(
                    be, *data + at, (char *)a->data + (s * a->sample_stride + e * a->ld) * size,
                    lanes * size));
                at += lanes * size;
            }
    }
    ec_array_release(be, &X);
    ec_array_release(be, &XG);
    be->ops->release(be, map);
    be->ops->release(be, status);
    ec_executor_destroy(&x);
    return 0;
}

static int same(ec_backend *be, ec_graph *g, const ec_expr *out, int32_t n)
{
    ec_backend *cpu = NULL;
    EC_CHECK_CALL(ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 1}, &cpu));
    for (int32_t i = 0; i < n; i++) {
        unsigned char *want = NULL, *got = NULL;
        size_t bytes = 0, again = 0;
        if (collect(cpu, g, &out[i], 1, 0, &want, &bytes) ||
            collect(be, g, &out[i], 1, 0, &got, &again))
            return 1;
        const double *w = (const double *)(void *)want, *h = (const double *)(void *)got;
        for (size_t k = 0; k < bytes / sizeof(double); k++)
            EC_CHECK(memcmp(&w[k], &h[k], sizeof(double)) == 0 || (w[k] != w[k] && h[k] != h[k]),
                     "output %d (ec.%s), number %zu: %.17g, reference %.17g", (int)i,
                     ec_op_name(ec_graph_node(g, out[i])->op), k, h[k], w[k]);
        free(want);
        free(got);
    }
    /* all at once, in chunks: the same again */
    unsigned char *whole = NULL, *cut = NULL;
    size_t bytes = 0, again = 0;
    if (collect(be, g, out, n, 0, &whole, &bytes) || collect(be, g, out, n, 64, &cut, &again))
        return 1;
    EC_CHECK(bytes == again && memcmp(whole, cut, bytes) == 0, "a chunk of 64 changes the result");
    free(whole);
    free(cut);
    ec_backend_destroy(&cpu);
    return 0;
}

static int case_nodes(ec_backend *be)
{
    ec_graph *g = NULL;
    ec_expr out[OUTPUTS];
    int32_t n = 0;
    EC_CHECK_CALL(ec_graph_create(&g));
    EC_CHECK_CALL(build(g, out, &n));
    int r = same(be, g, out, n);
    ec_graph_destroy(&g);
    return r;
}

static int case_gradient(ec_backend *be)
{
    ec_graph *g = NULL;
    ec_expr out[OUTPUTS], grad[3];
    int32_t n = 0;
    EC_CHECK_CALL(ec_graph_create(&g));
    ec_expr y = build(g, out, &n), x = -1;
    EC_CHECK_CALL(y);
    for (ec_expr e = 0; e < ec_graph_count(g) && x < 0; e++)
        if (ec_graph_node(g, e)->op == EC_OP_VARIABLE)
            x = e;
    EC_CHECK_CALL(ec_graph_gradient(g, y, 1, &x, &grad[0]));
    EC_CHECK_CALL(ec_graph_gradient(g, out[13], 1, &x, &grad[1])); /* the crossing */
    for (int32_t i = 0; i < n; i++)
        if (ec_graph_node(g, out[i])->op == EC_OP_SAMPLE_PERCENTILE) {
            y = U(SUM, out[i]);
            break;
        }
    EC_CHECK_CALL(ec_graph_gradient(g, y, 1, &x, &grad[2]));
    int r = same(be, g, grad, 3);
    ec_graph_destroy(&g);
    return r;
}

/* y = x0 x1 + k of columns on the host. */
static int multiply(void *user, const ec_callback_batch *batch)
{
    (void)user;
    for (size_t c = 0; c < batch->n; c++) {
        batch->output[0][c] = batch->column[0][c] * batch->column[1][c] + batch->column[2][c];
        batch->output[1][c] = (double)(c % 2);
    }
    return EC_OK;
}

/* A C function gets whole columns, and its outputs go on into the graph. */
static int case_callback(ec_backend *be)
{
    ec_graph *g = NULL;
    ec_callback callback = {.name = "multiply", .run = multiply, .n_outputs = 2};
    double lo[2] = {-1, -1}, hi[2] = {1, 1};
    EC_CHECK_CALL(ec_graph_create(&g));
    ec_expr x = ec_graph_variable(g, false, 0, 2, lo, hi), y[2];
    ec_expr in[2] = {B(ADD, x, ec_graph_number(g, 1)), ec_graph_number(g, 3)};
    EC_CHECK_CALL(ec_graph_callback(g, &callback, 2, in, y));
    ec_expr out[2] = {B(MUL, y[0], ec_graph_number(g, 2)), y[1]};
    int r = same(be, g, out, 2);
    unsigned char *data = NULL;
    size_t bytes = 0;
    if (r == 0)
        r = collect(be, g, out, 1, 0, &data, &bytes);
    for (size_t c = 0; c < POP && r == 0; c++) {
        double want = 2 * ((gene(c, 0) + 1) * (gene(c, 1) + 1) + 3);
        double got = ((const double *)(void *)data)[c];
        EC_CHECK(fabs(got - want) < 1e-14, "design %zu: %.17g, %.17g expected", c, got, want);
    }
    free(data);
    ec_graph_destroy(&g);
    return r;
}

const ec_case ec_cases_graph[] = {
    {"graph/nodes", case_nodes},
    {"graph/gradient", case_gradient},
    {"graph/callback", case_callback},
    {NULL, NULL},
};
