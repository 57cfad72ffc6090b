/* backends_matrix.c: metrics of channel matrices as expressions on every backend: a population of
 * diagonal matrices, whose singular values are known, with water-filling by bisection on its level as
 * the oracle, and differences of that for the gradient. */
#include "backends.h"

#include "core/executor.h"
#include "evaluators/matrix/matrix.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 3, DESIGNS = 45, GENES = 2 * N + 1 }; /* magnitudes of two matrices, and SNR */

static double gene(size_t c, size_t e)
{
    double x = sin((double)(c * 31 + e * 17 + 3)) * 43758.5453;
    x -= floor(x);
    return e < 2 * N ? 0.05 + x * x * 2 : 0.1 + 20 * x;
}

/* Of gains s^2 scaled to the square N^2 (frobenius), or as they are. */
static double water(const double *s, double snr, bool frobenius)
{
    double g[N], sum = 0, lo = 0, hi, bits = 0;
    for (int k = 0; k < N; k++)
        sum += s[k] * s[k];
    hi = snr;
    for (int k = 0; k < N; k++) {
        g[k] = s[k] * s[k] * (frobenius ? N * N / sum : 1);
        hi += 1 / g[k];
    }
    for (int step = 0; step < 200; step++) {
        double level = 0.5 * (lo + hi), power = 0;
        for (int k = 0; k < N; k++)
            power += fmax(level - 1 / g[k], 0);
        if (power < snr)
            lo = level;
        else
            hi = level;
    }
    for (int k = 0; k < N; k++)
        bits += fmax(log2(hi * g[k]), 0);
    return bits;
}

/* Both matrices' capacities. */
static double oracle(const double *x, bool frobenius)
{
    return water(x, x[2 * N], frobenius) + water(x + N, x[2 * N], frobenius);
}

/* Two matrices with the magnitudes on the diagonal, each turned by its own phase. */
static ec_expr diagonals(ec_graph *g, ec_expr x)
{
    int32_t index[2 * N * N], shape[3] = {2, N, N}, all = 2 * N * N;
    ec_c128 phase[2 * N * N];
    for (int i = 0; i < all; i++) {
        int row = i / N % N, column = i % N;
        index[i] = row == column ? i / (N * N) * N + row : -1;
        phase[i] = (ec_c128){cos(i), sin(i)};
    }
    return ec_graph_binary(g, EC_OP_MUL, ec_graph_gather(g, x, 3, shape, index),
                           ec_graph_constant_complex(g, 3, shape, phase));
}

static int check_outputs(ec_backend *backend, ec_graph *g, const ec_expr *outputs, bool frobenius)
{
    ec_executor *executor = NULL;
    ec_executor_info info = {.outputs = outputs, .n_outputs = 4, .max_candidates = DESIGNS};
    ec_array X;
    int32_t shape = GENES;
    uint8_t status[EC_LANE_PAD * 2];
    EC_CHECK_CALL(ec_executor_create(g, backend, &info, &executor));
    EC_CHECK_CALL(ec_array_create(backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, DESIGNS, 1));
    double *host = calloc(GENES * X.ld, sizeof *host), *got = calloc(GENES * X.ld, sizeof *got);
    EC_CHECK(host && got, "out of memory");
    for (size_t c = 0; c < X.ld; c++)
        for (size_t e = 0; e < GENES; e++)
            host[e * X.ld + c] = gene(c, e);
    ec_guarded bytes;
    EC_CHECK_CALL(ec_guarded_create(backend, X.ld, &bytes));
    EC_CHECK_CALL(backend->ops->upload(backend, X.data, host, GENES * X.ld * sizeof *host));
    EC_CHECK_CALL(ec_executor_run(executor, &X, NULL, NULL, bytes.data, DESIGNS, 0));
    EC_CHECK_CALL(backend->ops->download(backend, status, bytes.data, DESIGNS));
    for (size_t c = 0; c < DESIGNS; c++)
        EC_CHECK(status[c] == 0, "design %zu has status %d", c, status[c]);
    for (int k = 0; k < 4; k++) {
        const ec_array *a = ec_executor_output(executor, k);
        EC_CHECK_CALL(
            backend->ops->download(backend, got, a->data, a->elements * a->ld * sizeof *got));
        for (size_t c = 0; c < DESIGNS; c++) {
            double x[GENES], want, equal = 0;
            for (size_t e = 0; e < GENES; e++)
                x[e] = gene(c, e);
            for (int m = 0; m < 2; m++) {
                double sum = 0;
                for (int i = 0; i < N; i++)
                    sum += x[m * N + i] * x[m * N + i];
                for (int i = 0; i < N; i++)
                    equal += log2(1 + x[2 * N] / N * x[m * N + i] * x[m * N + i] *
                                          (frobenius ? N * N / sum : 1));
            }
            if (k < 2) {
                want = k ? equal : oracle(x, frobenius);
                EC_CHECK(fabs(got[c] - want) <= 1e-10 * (1 + want),
                         "design %zu: %s capacity %.12g, expected %.12g", c,
                         k ? "equal power" : "water-filling", got[c], want);
                continue;
            }
            if (k == 3) { /* singular values of the first matrix */
                double large = fmax(fmax(x[0], x[1]), x[2]);
                EC_CHECK(fabs(got[c] - large) <= 1e-14 * large, "design %zu: %.17g, expected %.17g",
                         c, got[c], large);
                continue;
            }
            for (size_t e = 0; e < GENES; e++) {
                double here = x[e], step = 1e-5, side[2];
                for (int s = 0; s < 2; s++) {
                    x[e] = here + (s ? step : -step);
                    side[s] = oracle(x, frobenius);
                }
                x[e] = here;
                want = (side[1] - side[0]) / (2 * step);
                EC_CHECK(fabs(got[e * a->ld + c] - want) <= 1e-4 * (1 + fabs(want)),
                         "design %zu, gene %zu: gradient %.9g, difference %.9g", c, e,
                         got[e * a->ld + c], want);
            }
        }
    }
    free(host);
    free(got);
    int bad = ec_guarded_check(backend, &bytes, "status");
    ec_guarded_release(backend, &bytes);
    ec_array_release(backend, &X);
    ec_executor_destroy(&executor);
    return bad;
}

static int run_metrics(ec_backend *backend)
{
    double lo[GENES], hi[GENES];
    for (int i = 0; i < GENES; i++) {
        lo[i] = 0.01;
        hi[i] = 100;
    }
    for (int frobenius = 0; frobenius < 2; frobenius++) {
        ec_graph *g = NULL;
        EC_CHECK_CALL(ec_graph_create(&g));
        ec_expr x = ec_graph_variable(g, false, 0, GENES, lo, hi), outputs[4];
        ec_expr H = diagonals(g, x), snr = ec_graph_slice(g, x, 2 * N, 0);
        ec_matrix_config config;
        ec_matrix_config_default(&config);
        config.normalize = frobenius ? EC_MATRIX_FROBENIUS : EC_MATRIX_NONE;
        for (int k = 0; k < 2; k++) {
            config.power = k ? EC_MATRIX_EQUAL : EC_MATRIX_WATER_FILLING;
            outputs[k] = ec_graph_unary(g, EC_OP_SUM, ec_matrix_capacity(g, H, snr, &config));
            EC_CHECK_CALL(outputs[k]);
        }
        EC_CHECK_CALL(ec_graph_gradient(g, outputs[0], 1, &x, &outputs[2]));
        outputs[3] = ec_matrix_singular_values(g, H, &config);
        EC_CHECK_CALL(outputs[3]);
        int bad = check_outputs(backend, g, outputs, frobenius);
        ec_graph_destroy(&g);
        if (bad)
            return 1;
    }
    return 0;
}

const ec_case ec_cases_matrix[] = {{"matrix/metrics", run_metrics}, {NULL, NULL}};
