/* backends_small_matrix.c: singular values and capacities of batches of small complex matrices
 * against another method in long double: the bidiagonal form by Householder reflections, and its
 * singular values by bisection on the tridiagonal form of Golub and Kahan (zero diagonal, the
 * bidiagonal's numbers beside it), which has them without squares; capacities are sums over them. */
#include "backends.h"

#include "core/small_matrix.h"

#include <complex.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GRADED: columns from 1e-21 of the last up, of which float32 has no normal squares */
enum { GAUSSIAN, EQUAL, SPREAD, HALF_RANK, ZERO, RANK_ONE, TINY, HUGE_ONE, CLOSE, GRADED, KINDS };
enum { LANES = 45, FEW_LANES = 7, COUNT = 2 }; /* more than a strip, matrices of a lane */

typedef long double complex ldc;

/* ---- matrices ---- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double u = 1 - uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(2 * EC_PI * v);
}

/* n orthonormal columns of length m, row-major. */
static void orthonormal(uint64_t *state, int m, int n, double complex *q)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++)
            q[i * n + j] = normal(state) + I * normal(state);
        for (int again = 0; again < 2; again++)
            for (int k = 0; k < j; k++) {
                double complex dot = 0;
                for (int i = 0; i < m; i++)
                    dot += conj(q[i * n + k]) * q[i * n + j];
                for (int i = 0; i < m; i++)
                    q[i * n + j] -= dot * q[i * n + k];
            }
        double square = 0;
        for (int i = 0; i < m; i++)
            square += creal(q[i * n + j] * conj(q[i * n + j]));
        for (int i = 0; i < m; i++)
            q[i * n + j] /= sqrt(square);
    }
}

static double wanted_value(int kind, int k, int n)
{
    switch (kind) {
    case EQUAL:
        return 1;
    case SPREAD:
        return n > 1 ? pow(10, -12.0 * k / (n - 1)) : 1;
    case HALF_RANK:
        return k < (n + 1) / 2;
    case CLOSE:
        return 1 + 1e-5 * k;
    default: /* rank one */
        return k == 0;
    }
}

static void make_matrix(int kind, int rows, int cols, uint64_t seed, double complex *h)
{
    uint64_t state = seed * 7919 + (uint64_t)(kind * 64 * 64 + rows * 64 + cols);
    int n = rows < cols ? rows : cols;
    static double complex u[EC_SMALL_MATRIX_MAX * EC_SMALL_MATRIX_MAX],
        v[EC_SMALL_MATRIX_MAX * EC_SMALL_MATRIX_MAX];

    if (kind == GAUSSIAN || kind == TINY || kind == HUGE_ONE || kind == ZERO || kind == GRADED) {
        double scale = kind == TINY ? 1e-30 : kind == HUGE_ONE ? 1e30 : kind == ZERO ? 0 : 1;
        for (int i = 0; i < rows * cols; i++) {
            double column =
                kind == GRADED && cols > 1 ? pow(10, 21.0 * (i % cols) / (cols - 1) - 21) : 1;
            h[i] = scale * column * (normal(&state) + I * normal(&state));
        }
        return;
    }
    orthonormal(&state, rows, n, u);
    orthonormal(&state, cols, n, v);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            double complex sum = 0;
            for (int k = 0; k < n; k++)
                sum += wanted_value(kind, k, n) * u[i * n + k] * conj(v[j * n + k]);
            h[i * cols + j] = sum;
        }
}

/* ---- the oracle ---- */

static long double reflect_column(ldc *a, int rows, int cols, int from, int col)
{
    long double square = 0;
    for (int i = from; i < rows; i++)
        square += creall(a[i * cols + col] * conjl(a[i * cols + col]));
    long double norm = sqrtl(square), first = cabsl(a[from * cols + col]);
    if (norm == 0)
        return 0;
    a[from * cols + col] *= first > 0 ? 1 + norm / first : 0;
    if (first == 0)
        a[from * cols + col] = norm;
    long double factor = 1 / (norm * (norm + first));
    for (int j = col + 1; j < cols; j++) {
        ldc dot = 0;
        for (int i = from; i < rows; i++)
            dot += conjl(a[i * cols + col]) * a[i * cols + j];
        for (int i = from; i < rows; i++)
            a[i * cols + j] -= factor * dot * a[i * cols + col];
    }
    return norm;
}

static void transpose(const ldc *a, int rows, int cols, ldc *to)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            to[j * rows + i] = a[i * cols + j];
}

/* Singular values, largest first. */
static void oracle(const double complex *h, int rows, int cols, long double *s)
{
    static ldc a[EC_SMALL_MATRIX_MAX * EC_SMALL_MATRIX_MAX],
        b[EC_SMALL_MATRIX_MAX * EC_SMALL_MATRIX_MAX];
    long double side[2 * EC_SMALL_MATRIX_MAX] = {0}; /* of the tridiagonal form with diagonal 0 */
    int n = rows < cols ? rows : cols, m = rows < cols ? cols : rows;
    long double peak = 0;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            a[rows < cols ? j * n + i : i * n + j] = h[i * cols + j];
    for (int i = 0; i < m * n; i++)
        peak = fmaxl(peak, cabsl(a[i]));
    for (int i = 0; i < m * n; i++)
        a[i] /= peak > 0 ? peak : 1;
    for (int j = 0; j < n; j++) {
        side[2 * j] = reflect_column(a, m, n, j, j);
        if (j + 1 == n)
            break;
        /* the row right of the diagonal, as a column of the transposed */
        transpose(a, m, n, b);
        int right = n - j - 1;
        static ldc part[EC_SMALL_MATRIX_MAX * EC_SMALL_MATRIX_MAX];
        for (int k = 0; k < right; k++)
            for (int i = j; i < m; i++)
                part[k * (m - j) + i - j] = b[(j + 1 + k) * m + i];
        side[2 * j + 1] = reflect_column(part, right, m - j, 0, 0);
        for (int k = 0; k < right; k++)
            for (int i = j + 1; i < m; i++)
                a[i * n + j + 1 + k] = part[k * (m - j) + i - j];
    }
    long double top = 0;
    for (int i = 0; i < 2 * n - 1; i++)
        top = fmaxl(top, side[i] + (i ? side[i - 1] : 0));
    for (int k = 0; k < n; k++) {
        long double lo = 0, hi = top;
        for (int step = 0; step < 68; step++) {
            long double x = 0.5L * (lo + hi), q = -x;
            int above = 0; /* eigenvalues at or above x */
            for (int i = 0; i < 2 * n; i++) {
                q = -x - (i ? side[i - 1] * side[i - 1] / q : 0);
                if (fabsl(q) < 1e-4000L)
                    q = -1e-4000L;
                above += q >= 0;
            }
            if (above > k)
                lo = x;
            else
                hi = x;
        }
        top = hi; /* the next one is not above */
        s[k] = peak > 0 ? hi * peak : 0;
    }
}

/* The oracle's values of all kinds of one shape, kept: every backend and level asks for the same. */
typedef struct known {
    struct known *next;
    int rows, cols, dtype;
    long double value[KINDS][EC_SMALL_MATRIX_MAX];
} known;

static const known *look_up(const double complex *matrix, int rows, int cols, int dtype)
{
    static known *all;
    for (known *k = all; k; k = k->next)
        if (k->rows == rows && k->cols == cols && k->dtype == dtype)
            return k;
    known *k = malloc(sizeof *k);
    if (!k)
        exit(1);
    *k = (known){.next = all, .rows = rows, .cols = cols, .dtype = dtype};
    for (int kind = 0; kind < KINDS; kind++)
        oracle(matrix + (size_t)kind * (size_t)(rows * cols), rows, cols, k->value[kind]);
    return all = k;
}

/* ---- a batch on the backend ---- */

typedef struct batch {
    int rows, cols, n;
    size_t lanes, ld;
    ec_guarded h, result, status, scratch, snr;
    ec_small_matrix_work work;
    double complex *matrix; /* [KINDS], as they are stored */
} batch;

static int kind_of(size_t lane, int index)
{
    return (int)((lane * COUNT + (size_t)index) % KINDS);
}

static double complex rounded(double complex x, int dtype)
{
    if (dtype == EC_C64) /* by parts: gcc 12 at -O3 leaves out a conversion of the whole number */
        return (double)(float)creal(x) + I * (double)(float)cimag(x);
    return dtype == EC_F64 ? creal(x) : x;
}

/* lanes x COUNT matrices of all kinds in turn. `kinds` is how many kinds there are. */
static int make_batch(ec_backend *backend, int rows, int cols, int dtype, bool wide, size_t lanes,
                      int results, ec_small_matrix_task task, batch *b)
{
    size_t elements = (size_t)(rows * cols), ld = ec_lane_ld(lanes);
    size_t size = ec_dtype_size(dtype), count = elements * COUNT * ld;
    char *host = calloc(count, size);
    double snr = 100;

    memset(b, 0, sizeof *b);
    b->rows = rows;
    b->cols = cols;
    b->n = rows < cols ? rows : cols;
    b->lanes = lanes;
    b->ld = ld;
    b->matrix = malloc(KINDS * elements * sizeof *b->matrix);
    EC_CHECK(host && b->matrix, "out of memory");
    for (int kind = 0; kind < KINDS; kind++) {
        make_matrix(kind, rows, cols, 3, b->matrix + (size_t)kind * elements);
        for (size_t e = 0; e < elements; e++)
            b->matrix[(size_t)kind * elements + e] =
                rounded(b->matrix[(size_t)kind * elements + e], dtype);
    }
    for (size_t c = 0; c < lanes; c++)
        for (int k = 0; k < COUNT; k++)
            for (size_t e = 0; e < elements; e++) {
                double complex x = b->matrix[(size_t)kind_of(c, k) * elements + e];
                size_t at = ((size_t)k * elements + e) * ld + c;
                if (dtype == EC_C64)
                    ((ec_c64 *)(void *)host)[at] = (ec_c64){(float)creal(x), (float)cimag(x)};
                else if (dtype == EC_C128)
                    ((ec_c128 *)(void *)host)[at] = (ec_c128){creal(x), cimag(x)};
                else
                    ((double *)(void *)host)[at] = creal(x);
            }
    ec_small_matrix_work *w = &b->work;
    int real = wide ? EC_F64 : EC_F32;
    EC_CHECK_CALL(ec_guarded_create(backend, count * size, &b->h));
    EC_CHECK_CALL(backend->ops->upload(backend, b->h.data, host, count * size));
    EC_CHECK_CALL(ec_guarded_create(backend, (size_t)(COUNT * results) * ld * ec_dtype_size(real),
                                    &b->result));
    EC_CHECK_CALL(ec_guarded_create(backend, ld, &b->status));
    EC_CHECK_CALL(backend->ops->fill(backend, b->status.data, 0, ld));
    EC_CHECK_CALL(ec_guarded_create(backend, sizeof snr, &b->snr));
    EC_CHECK_CALL(backend->ops->upload(backend, b->snr.data, &snr, sizeof snr));
    *w = (ec_small_matrix_work){.matrix = {b->h.data, (int64_t)ld, 1, 0, dtype},
                                .rows = rows,
                                .cols = cols,
                                .count = COUNT,
                                .samples = 1,
                                .wide = wide,
                                .snr = {b->snr.data, 0, 0, 0, EC_F64},
                                .result = {b->result.data, (int64_t)ld, 1, 0, real},
                                .lanes = lanes,
                                .status = b->status.data};
    size_t bytes = ec_small_matrix_scratch(backend, w, task);
    EC_CHECK_CALL(ec_guarded_create(backend, bytes, &b->scratch));
    w->scratch = b->scratch.data;
    free(host);
    return 0;
}

static int end_batch(ec_backend *backend, batch *b)
{
    int bad = ec_guarded_check(backend, &b->h, "matrices") ||
              ec_guarded_check(backend, &b->result, "results") ||
              ec_guarded_check(backend, &b->status, "status") ||
              ec_guarded_check(backend, &b->scratch, "scratch");
    ec_guarded_release(backend, &b->h);
    ec_guarded_release(backend, &b->result);
    ec_guarded_release(backend, &b->status);
    ec_guarded_release(backend, &b->scratch);
    ec_guarded_release(backend, &b->snr);
    free(b->matrix);
    return bad;
}

/* Results as doubles, [COUNT * results][ld], to be freed. */
static double *results_of(ec_backend *backend, const batch *b, int results)
{
    size_t count = (size_t)(COUNT * results) * b->ld;
    double *to = malloc(count * sizeof *to);
    float *single = malloc(count * sizeof *single);
    if (b->work.wide) {
        if (backend->ops->download(backend, to, b->result.data, count * sizeof *to) < 0)
            to[0] = NAN;
    } else {
        if (backend->ops->download(backend, single, b->result.data, count * sizeof *single) < 0)
            single[0] = NAN;
        for (size_t i = 0; i < count; i++)
            to[i] = (double)single[i];
    }
    free(single);
    return to;
}

static int check_status(ec_backend *backend, const batch *b)
{
    uint8_t status[EC_LANE_PAD * 4] = {0};
    EC_CHECK_CALL(backend->ops->download(backend, status, b->status.data, b->lanes));
    for (size_t c = 0; c < b->lanes; c++)
        EC_CHECK(status[c] == 0, "%d x %d: lane %zu has status %d", b->rows, b->cols, c, status[c]);
    return 0;
}

static double worst_of_size; /* for --print: the largest error over its limit */

static int check_singular(ec_backend *backend, int rows, int cols, int dtype, bool wide,
                          ec_small_matrix_task task)
{
    batch b;
    int side = rows < cols ? rows : cols;
    /* less than a strip is quicker where the size is no special one */
    size_t lanes = side > 16 && side % 16 ? FEW_LANES : LANES;
    if (make_batch(backend, rows, cols, dtype, wide, lanes, side, task, &b))
        return 1;
    EC_CHECK_CALL(ec_small_matrix_run(backend, &b.work, task));
    double *got = results_of(backend, &b, b.n), eps = wide ? 0x1p-53 : 0x1p-24;
    const known *want = look_up(b.matrix, rows, cols, dtype);
    int m = rows > cols ? rows : cols;
    double limit = fmax(wide ? 1e-14 : 1e-6, 2 * m * eps);
    for (size_t c = 0; c < b.lanes; c++)
        for (int k = 0; k < COUNT; k++)
            for (int i = 0; i < b.n; i++) {
                const long double *s = want->value[kind_of(c, k)];
                double x = got[(size_t)(k * b.n + i) * b.ld + c], allowed = limit * (double)s[0];
                /* bisection finds squares to that limit */
                if (task == EC_SMALL_MATRIX_BISECTION)
                    allowed = (double)(s[0] * s[0]) * 2 * limit /
                              fmax((double)s[i], sqrt(2 * limit) * (double)s[0]);
                if (s[0] == 0)
                    allowed = 0;
                double error = fabs(x - (double)s[i]);
                if (s[0] > 0)
                    worst_of_size = fmax(worst_of_size, error / allowed);
                EC_CHECK(error <= allowed,
                         "%d x %d (type %d, %s), kind %d, lane %zu: value %d is %.17g, expected "
                         "%.17g: error "
                         "%.3g of the largest, allowed %.3g",
                         rows, cols, dtype, wide ? "float64" : "float32", kind_of(c, k), c, i, x,
                         (double)s[i], error / (double)s[0], allowed / (double)s[0]);
                /* the same matrix has the same bits everywhere in the batch */
                size_t first = (size_t)kind_of(c, k);
                EC_CHECK(x == got[(size_t)((int)(first % COUNT) * b.n + i) * b.ld + first / COUNT],
                         "%d x %d: lane %zu differs from an equal one", rows, cols, c);
            }
    free(got);
    return check_status(backend, &b) || end_batch(backend, &b);
}

static const int shapes[][2] = {{1, 64},  {64, 1},  {2, 9},   {9, 2},   {3, 64},  {64, 5},
                                {8, 12},  {12, 8},  {8, 64},  {6, 10},  {16, 40}, {40, 16},
                                {17, 32}, {33, 64}, {64, 33}, {10, 20}, {7, 6},   {24, 64}};

static int check_sizes(ec_backend *backend, int dtype, bool wide, ec_small_matrix_task task,
                       int step)
{
    worst_of_size = 0;
    for (int n = 1; n <= EC_SMALL_MATRIX_MAX; n += n < 17 ? 1 : step)
        if (check_singular(backend, n, n, dtype, wide, task))
            return 1;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (check_singular(backend, shapes[i][0], shapes[i][1], dtype, wide, task))
            return 1;
    printf("  largest error over its limit: %.2f\n", worst_of_size);
    return 0;
}

/* Every size where it counts most; some on lesser levels of the CPU and, slow as they are, with
 * sanitizers. */
static int step_of(const ec_backend *backend)
{
#ifdef EC_TEST_SANITIZED
    (void)backend;
    return 16;
#else
    return backend->is_cuda || backend->isa == ec_isa_detect() ? 1 : 6;
#endif
}

static int run_singular_f32(ec_backend *backend)
{
    return check_sizes(backend, EC_C64, false, EC_SMALL_MATRIX_JACOBI, step_of(backend));
}

static int run_singular_f64(ec_backend *backend)
{
    return check_sizes(backend, EC_C128, true, EC_SMALL_MATRIX_JACOBI, step_of(backend));
}

/* As many ways in as there are: real matrices, float64 into float32 and the other way round. */
static int run_singular_mixed(ec_backend *backend)
{
    static const int sizes[][2] = {{4, 4}, {3, 7}, {8, 8}, {16, 16}, {20, 33}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int m = sizes[i][0], n = sizes[i][1];
        if (check_singular(backend, m, n, EC_F64, true, EC_SMALL_MATRIX_JACOBI) ||
            check_singular(backend, m, n, EC_F64, false, EC_SMALL_MATRIX_JACOBI) ||
            check_singular(backend, m, n, EC_C64, true, EC_SMALL_MATRIX_JACOBI) ||
            check_singular(backend, m, n, EC_C128, false, EC_SMALL_MATRIX_JACOBI))
            return 1;
    }
    return 0;
}

static int run_bisection(ec_backend *backend)
{
    return check_sizes(backend, EC_C64, false, EC_SMALL_MATRIX_BISECTION, 23) ||
           check_sizes(backend, EC_C128, true, EC_SMALL_MATRIX_BISECTION, 23);
}

/* ---- capacity ---- */

static int check_capacity(ec_backend *backend, int rows, int cols, int dtype, bool wide,
                          bool frobenius)
{
    batch b;
    if (make_batch(backend, rows, cols, dtype, wide, LANES, 1, EC_SMALL_MATRIX_CAPACITY, &b))
        return 1;
    double snr = 100, gains = sqrt((double)rows * cols);
    b.work.frobenius = frobenius;
    EC_CHECK_CALL(ec_small_matrix_run(backend, &b.work, EC_SMALL_MATRIX_CAPACITY));
    double *got = results_of(backend, &b, 1);
    uint8_t status[EC_LANE_PAD * 4];
    EC_CHECK_CALL(backend->ops->download(backend, status, b.status.data, b.lanes));
    long double want[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        const long double *s = look_up(b.matrix, rows, cols, dtype)->value[kind];
        long double square = 0;
        for (int i = 0; i < b.n; i++)
            square += s[i] * s[i];
        long double scale = frobenius ? gains * gains / square : 1;
        want[kind] = 0;
        for (int i = 0; i < b.n; i++)
            want[kind] += log2l(1 + snr / cols * scale * s[i] * s[i]);
    }
    double limit = wide ? 1e-12 * rows * cols : fmax(1e-4, 4 * snr * rows * 0x1p-24);
    for (size_t c = 0; c < b.lanes; c++) {
        bool zero = false;
        for (int k = 0; k < COUNT; k++) {
            int kind = kind_of(c, k);
            double x = got[(size_t)k * b.ld + c], y = (double)want[kind];
            if (kind == ZERO && frobenius) {
                EC_CHECK(isnan(x), "a zero matrix cannot be normalised, got %g", x);
                zero = true;
                continue;
            }
            /* float32 next to singular: where the SNR is not of this world only the large values count */
            if (!frobenius && kind == HUGE_ONE && !wide) {
                EC_CHECK(fabs(x - y) <= 1e-5 * y, "%d x %d huge: %.9g, expected %.9g", rows, cols,
                         x, y);
                continue;
            }
            EC_CHECK(fabs(x - y) <= limit * fmax(1, wide ? y : 1),
                     "%d x %d, kind %d: capacity %.12g, expected %.12g, error %.3g, limit %.3g",
                     rows, cols, kind, x, y, x - y, limit);
        }
        EC_CHECK(status[c] == (zero ? EC_CANDIDATE_EVALUATOR : 0), "lane %zu has status %d", c,
                 status[c]);
    }
    free(got);
    return end_batch(backend, &b);
}

static int run_capacity(ec_backend *backend)
{
    static const int sizes[][2] = {{1, 1},  {2, 2},   {3, 3},  {4, 4},   {5, 5},   {6, 6},
                                   {7, 7},  {8, 8},   {9, 9},  {16, 16}, {31, 31}, {64, 64},
                                   {2, 4},  {4, 2},   {8, 64}, {64, 8},  {5, 12},  {20, 9},
                                   {1, 64}, {64, 33}, {64, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int frobenius = 0; frobenius < 2; frobenius++) {
            int m = sizes[i][0], n = sizes[i][1];
            if (check_capacity(backend, m, n, EC_C64, false, frobenius) ||
                check_capacity(backend, m, n, EC_C128, true, frobenius) ||
                check_capacity(backend, m, n, EC_C128, false, frobenius))
                return 1;
        }
    return 0;
}

/* 4 x 4 at 20 dB and condition numbers to 1e6, float32: within 1e-4 bit/s/Hz. */
static int run_condition(ec_backend *backend)
{
    enum { N = 4 };
    batch b;
    if (make_batch(backend, N, N, EC_C64, false, LANES, 1, EC_SMALL_MATRIX_CAPACITY, &b))
        return 1;
    ec_c64 *host = calloc(COUNT * N * N * b.ld, sizeof *host);
    double want[COUNT][LANES];
    EC_CHECK(host != NULL, "out of memory");
    for (int c = 0; c < LANES; c++)
        for (int k = 0; k < COUNT; k++) {
            uint64_t state = (uint64_t)(c * COUNT + k + 1);
            double complex u[N * N], v[N * N], h[N * N];
            long double s[N], square = 0;
            orthonormal(&state, N, N, u);
            orthonormal(&state, N, N, v);
            for (int i = 0; i < N * N; i++) {
                h[i] = 0;
                for (int j = 0; j < N; j++)
                    h[i] += u[i / N * N + j] * conj(v[i % N * N + j]) *
                            pow(10, -6.0 * j / (N - 1)) * 1e-8;
                h[i] = rounded(h[i], EC_C64);
                host[((size_t)k * N * N + (size_t)i) * b.ld + (size_t)c] =
                    (ec_c64){(float)creal(h[i]), (float)cimag(h[i])};
            }
            oracle(h, N, N, s);
            for (int i = 0; i < N; i++)
                square += s[i] * s[i];
            want[k][c] = 0;
            for (int i = 0; i < N; i++)
                want[k][c] += (double)log2l(1 + 25 * s[i] * s[i] * N * N / square);
        }
    EC_CHECK_CALL(
        backend->ops->upload(backend, b.h.data, host, COUNT * N * N * b.ld * sizeof *host));
    b.work.frobenius = true;
    EC_CHECK_CALL(ec_small_matrix_run(backend, &b.work, EC_SMALL_MATRIX_CAPACITY));
    double *got = results_of(backend, &b, 1), worst = 0;
    for (size_t c = 0; c < LANES; c++)
        for (size_t k = 0; k < COUNT; k++)
            worst = fmax(worst, fabs(got[k * b.ld + c] - want[k][c]));
    EC_CHECK(worst <= 1e-4, "capacity is off by %.3g bit/s/Hz", worst);
    printf("  off by %.3g bit/s/Hz at most\n", worst);
    free(host);
    free(got);
    return end_batch(backend, &b);
}

/* A matrix alone, and with 0 to LANES - 1 before it. */
static int run_alone(ec_backend *backend)
{
    static const int sizes[] = {4, 8, 13, 24, 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int n = sizes[i];
        batch all, one;
        if (make_batch(backend, n, n, EC_C64, false, LANES, n, EC_SMALL_MATRIX_JACOBI, &all) ||
            make_batch(backend, n, n, EC_C64, false, 1, n, EC_SMALL_MATRIX_JACOBI, &one))
            return 1;
        EC_CHECK_CALL(ec_small_matrix_run(backend, &all.work, EC_SMALL_MATRIX_JACOBI));
        EC_CHECK_CALL(ec_small_matrix_run(backend, &one.work, EC_SMALL_MATRIX_JACOBI));
        double *a = results_of(backend, &all, n), *o = results_of(backend, &one, n);
        for (int k = 0; k < COUNT * n; k++)
            for (size_t c = 0; c < LANES; c++)
                if (c * COUNT % KINDS == 0)
                    EC_CHECK(a[(size_t)k * all.ld + c] == o[(size_t)k * one.ld],
                             "%d x %d: value %d of lane %zu has other bits than alone", n, n, k, c);
        free(a);
        free(o);
        if (end_batch(backend, &all) || end_batch(backend, &one))
            return 1;
    }
    return 0;
}

/* NaN or infinity: NaN and a status for that lane alone. */
static int run_not_finite(ec_backend *backend)
{
    static const int sizes[] = {4, 12, 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int n = sizes[i];
        batch b;
        if (make_batch(backend, n, n, EC_C64, false, LANES, n, EC_SMALL_MATRIX_JACOBI, &b))
            return 1;
        EC_CHECK_CALL(ec_small_matrix_run(backend, &b.work, EC_SMALL_MATRIX_JACOBI));
        double *good = results_of(backend, &b, n);
        ec_c64 bad[2] = {{1, NAN}, {INFINITY, 0}};
        for (size_t k = 0; k < 2; k++)
            EC_CHECK_CALL(backend->ops->upload(backend, (ec_c64 *)b.h.data + 3 * b.ld + 7 + 20 * k,
                                               &bad[k], sizeof bad[k]));
        EC_CHECK_CALL(ec_small_matrix_run(backend, &b.work, EC_SMALL_MATRIX_JACOBI));
        double *got = results_of(backend, &b, n);
        uint8_t status[EC_LANE_PAD * 4];
        EC_CHECK_CALL(backend->ops->download(backend, status, b.status.data, b.lanes));
        for (size_t c = 0; c < b.lanes; c++) {
            bool hit = c == 7 || c == 27;
            EC_CHECK(status[c] == (hit ? EC_CANDIDATE_EVALUATOR : 0), "%d: lane %zu has status %d",
                     n, c, status[c]);
            for (int k = 0; k < COUNT * n; k++) {
                double x = got[(size_t)k * b.ld + c], y = good[(size_t)k * b.ld + c];
                EC_CHECK(hit && k < n ? isnan(x) : x == y, "%d: lane %zu, value %d: %g, was %g", n,
                         c, k, x, y);
            }
        }
        free(good);
        free(got);
        if (end_batch(backend, &b))
            return 1;
    }
    return 0;
}

/* ---- the adjoint of the capacity, against differences ---- */

static int check_adjoint(ec_backend *backend, int rows, int cols, bool frobenius)
{
    enum { LANE = 40 };
    int elements = rows * cols;
    batch b;
    if (make_batch(backend, rows, cols, EC_C128, true, LANES, 1, EC_SMALL_MATRIX_CAPACITY, &b))
        return 1;
    ec_guarded seed, grad, slope, scratch;
    ec_small_matrix_work w = b.work;
    double *one = malloc(COUNT * b.ld * sizeof *one), snr = 100;
    ec_c128 *g = malloc((size_t)(COUNT * elements) * b.ld * sizeof *g);
    double *d = malloc(COUNT * b.ld * sizeof *d);
    EC_CHECK(one && g && d, "out of memory");
    for (size_t i = 0; i < COUNT * b.ld; i++)
        one[i] = 0.5 + (double)i / 64;
    EC_CHECK_CALL(ec_guarded_create(backend, COUNT * b.ld * sizeof *one, &seed));
    EC_CHECK_CALL(ec_guarded_create(backend, (size_t)(COUNT * elements) * b.ld * sizeof *g, &grad));
    EC_CHECK_CALL(ec_guarded_create(backend, COUNT * b.ld * sizeof *d, &slope));
    EC_CHECK_CALL(backend->ops->upload(backend, seed.data, one, COUNT * b.ld * sizeof *one));
    w.frobenius = b.work.frobenius = frobenius;
    w.seed = (ec_small_matrix_batch){seed.data, (int64_t)b.ld, 1, 0, EC_F64};
    w.matrix_adjoint = (ec_small_matrix_batch){grad.data, (int64_t)b.ld, 1, 0, EC_C128};
    w.snr_adjoint = (ec_small_matrix_batch){slope.data, (int64_t)b.ld, 1, 0, EC_F64};
    EC_CHECK_CALL(ec_guarded_create(
        backend, ec_small_matrix_scratch(backend, &w, EC_SMALL_MATRIX_CAPACITY_ADJOINT), &scratch));
    w.scratch = scratch.data;
    EC_CHECK_CALL(ec_small_matrix_run(backend, &w, EC_SMALL_MATRIX_CAPACITY_ADJOINT));
    EC_CHECK_CALL(backend->ops->download(backend, g, grad.data,
                                         (size_t)(COUNT * elements) * b.ld * sizeof *g));
    EC_CHECK_CALL(backend->ops->download(backend, d, slope.data, COUNT * b.ld * sizeof *d));
    /* one element, one part at a time, of a Gaussian matrix and of one with a rank of one */
    for (int kind = GAUSSIAN; kind <= RANK_ONE; kind += RANK_ONE - GAUSSIAN) {
        size_t lane = 0;
        int k = 0;
        while (kind_of(lane, k) != kind)
            k = k + 1 < COUNT ? k + 1 : (lane++, 0);
        double factor = one[(size_t)k * b.ld + lane];
        for (int part = -1; part < 2 * elements; part++) {
            double value[2], step = 1e-5, got;
            for (int s = 0; s < 2; s++) {
                double by = s ? step : -step;
                size_t at = ((size_t)(k * elements + (part < 0 ? 0 : part / 2)) * b.ld + lane);
                double complex x = b.matrix[(size_t)(kind * elements + (part < 0 ? 0 : part / 2))];
                double complex moved = part < 0 ? x : part % 2 ? x + I * by : x + by;
                ec_c128 to = {creal(moved), cimag(moved)}, back = {creal(x), cimag(x)};
                double other = part < 0 ? snr + 100 * by : snr;
                EC_CHECK_CALL(
                    backend->ops->upload(backend, (ec_c128 *)b.h.data + at, &to, sizeof to));
                EC_CHECK_CALL(backend->ops->upload(backend, b.snr.data, &other, sizeof other));
                EC_CHECK_CALL(ec_small_matrix_run(backend, &b.work, EC_SMALL_MATRIX_CAPACITY));
                EC_CHECK_CALL(backend->ops->download(
                    backend, &value[s], (double *)b.result.data + (size_t)k * b.ld + lane,
                    sizeof value[s]));
                EC_CHECK_CALL(
                    backend->ops->upload(backend, (ec_c128 *)b.h.data + at, &back, sizeof back));
            }
            double want = factor * (value[1] - value[0]) / (2 * step * (part < 0 ? 100 : 1));
            const ec_c128 *of = &g[(size_t)(k * elements + part / 2) * b.ld + lane];
            got = part < 0 ? d[(size_t)k * b.ld + lane] : part % 2 ? of->im : of->re;
            EC_CHECK(fabs(got - want) <= 1e-6 * (1 + fabs(want)),
                     "%d x %d%s, kind %d, part %d: adjoint %.9g, difference %.9g", rows, cols,
                     frobenius ? ", normalised" : "", kind, part, got, want);
        }
    }
    free(one);
    free(g);
    free(d);
    int bad = ec_guarded_check(backend, &grad, "adjoint") ||
              ec_guarded_check(backend, &slope, "slope") ||
              ec_guarded_check(backend, &scratch, "scratch");
    ec_guarded_release(backend, &seed);
    ec_guarded_release(backend, &grad);
    ec_guarded_release(backend, &slope);
    ec_guarded_release(backend, &scratch);
    return bad || end_batch(backend, &b);
}

/* Adjoints of all singular values of Gaussian matrices, whose values are apart. */
static int check_singular_adjoint(ec_backend *backend, int rows, int cols)
{
    int elements = rows * cols, n = rows < cols ? rows : cols;
    batch b;
    if (make_batch(backend, rows, cols, EC_C128, true, LANES, n, EC_SMALL_MATRIX_JACOBI, &b))
        return 1;
    ec_guarded seed, grad, scratch;
    ec_small_matrix_work w = b.work;
    size_t numbers = (size_t)(COUNT * n) * b.ld, all = (size_t)(COUNT * elements) * b.ld;
    double *weight = malloc(numbers * sizeof *weight);
    ec_c128 *g = malloc(all * sizeof *g);
    EC_CHECK(weight && g, "out of memory");
    for (size_t i = 0; i < numbers; i++)
        weight[i] = 1 + (double)(i / b.ld % (size_t)n) * 0.75 + (double)(i % b.ld) / 64;
    EC_CHECK_CALL(ec_guarded_create(backend, numbers * sizeof *weight, &seed));
    EC_CHECK_CALL(ec_guarded_create(backend, all * sizeof *g, &grad));
    EC_CHECK_CALL(backend->ops->upload(backend, seed.data, weight, numbers * sizeof *weight));
    w.seed = (ec_small_matrix_batch){seed.data, (int64_t)b.ld, 1, 0, EC_F64};
    w.matrix_adjoint = (ec_small_matrix_batch){grad.data, (int64_t)b.ld, 1, 0, EC_C128};
    EC_CHECK_CALL(ec_guarded_create(
        backend, ec_small_matrix_scratch(backend, &w, EC_SMALL_MATRIX_SINGULAR_ADJOINT), &scratch));
    w.scratch = scratch.data;
    EC_CHECK_CALL(ec_small_matrix_run(backend, &w, EC_SMALL_MATRIX_SINGULAR_ADJOINT));
    EC_CHECK_CALL(backend->ops->download(backend, g, grad.data, all * sizeof *g));
    for (int part = 0; part < 2 * elements; part++) {
        const double step = 1e-6;
        double complex h[EC_SMALL_MATRIX_MAX * EC_SMALL_MATRIX_MAX];
        long double sum = 0;
        for (int side = -1; side <= 1; side += 2) {
            long double s[EC_SMALL_MATRIX_MAX];
            memcpy(h, b.matrix, (size_t)elements * sizeof *h);
            h[part / 2] += side * step * (part % 2 ? I : 1);
            oracle(h, rows, cols, s);
            for (int k = 0; k < n; k++)
                sum += side * weight[(size_t)k * b.ld] * s[k];
        }
        double want = (double)(sum / (2 * step));
        const ec_c128 *of = &g[(size_t)(part / 2) * b.ld];
        double got = part % 2 ? of->im : of->re;
        EC_CHECK(fabs(got - want) <= 1e-7 * (1 + fabs(want)),
                 "%d x %d, part %d: adjoint %.9g, difference %.9g", rows, cols, part, got, want);
    }
    free(weight);
    free(g);
    int bad = ec_guarded_check(backend, &grad, "adjoint") ||
              ec_guarded_check(backend, &scratch, "scratch");
    ec_guarded_release(backend, &seed);
    ec_guarded_release(backend, &grad);
    ec_guarded_release(backend, &scratch);
    return bad || end_batch(backend, &b);
}

static int run_adjoint(ec_backend *backend)
{
    static const int sizes[][2] = {{1, 1}, {4, 4}, {3, 5}, {6, 2}, {10, 10}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int frobenius = 0; frobenius < 2; frobenius++)
            if (check_adjoint(backend, sizes[i][0], sizes[i][1], frobenius))
                return 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (check_singular_adjoint(backend, sizes[i][0], sizes[i][1]))
            return 1;
    return 0;
}

const ec_case ec_cases_small_matrix[] = {{"small_matrix/singular_f32", run_singular_f32},
                                         {"small_matrix/singular_f64", run_singular_f64},
                                         {"small_matrix/singular_mixed", run_singular_mixed},
                                         {"small_matrix/bisection", run_bisection},
                                         {"small_matrix/capacity", run_capacity},
                                         {"small_matrix/condition", run_condition},
                                         {"small_matrix/alone", run_alone},
                                         {"small_matrix/not_finite", run_not_finite},
                                         {"small_matrix/adjoint", run_adjoint},
                                         {NULL, NULL}};
