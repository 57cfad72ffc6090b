/* test_array_weights.c: optimal weights against a dense solution by Gaussian elimination of the
 * whole saddle-point system, which shares no code with them, and against closed forms: the
 * projection that makes one null, the gain of two close elements (Uzkov's limit), Dolph-Chebyshev. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_pattern.h"
#include "array_weights.h"
#include "core/executor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_DIRECTIONS = 1200 };

typedef struct complex_number {
    double re, im;
} complex_number;

static complex_number product(complex_number a, complex_number b)
{
    complex_number p = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};

    return p;
}

static complex_number conjugate(complex_number a)
{
    a.im = -a.im;
    return a;
}

static complex_number unit(double angle)
{
    complex_number e = {cos(angle), sin(angle)};

    return e;
}

/* ---- Gaussian elimination with pivots ---- */

/* Solves A x = b; A [n][n] and b are destroyed, x is left in b. */
static void eliminate(int n, complex_number *a, complex_number *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (hypot(a[i * n + k].re, a[i * n + k].im) >
                hypot(a[pivot * n + k].re, a[pivot * n + k].im))
                pivot = i;
        for (int j = 0; j < n; j++) {
            complex_number swap = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = swap;
        }
        complex_number swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        complex_number p = a[k * n + k];
        double size = p.re * p.re + p.im * p.im;
        assert_true(size > 0);
        complex_number inverse = {p.re / size, -p.im / size};
        for (int i = 0; i < n; i++) {
            if (i == k)
                continue;
            complex_number factor = product(a[i * n + k], inverse);
            for (int j = k; j < n; j++) {
                complex_number t = product(factor, a[k * n + j]);
                a[i * n + j].re -= t.re;
                a[i * n + j].im -= t.im;
            }
            complex_number t = product(factor, b[k]);
            b[i].re -= t.re;
            b[i].im -= t.im;
        }
    }
    for (int k = 0; k < n; k++) {
        complex_number p = a[k * n + k];
        double size = p.re * p.re + p.im * p.im;
        complex_number inverse = {p.re / size, -p.im / size};
        b[k] = product(b[k], inverse);
    }
}

/* ---- a problem ---- */

typedef struct problem {
    ec_weights_config config;
    int n;
    double x[MOST], y[MOST], z[MOST], wavelength;
    double look[2];
    double null_u[MOST], null_v[MOST];
    double jam_u[MOST], jam_v[MOST], power[MOST];
    double grid_u[MOST_DIRECTIONS], grid_v[MOST_DIRECTIONS];
    double start[MOST], amplitude[MOST], phase[MOST];
} problem;

static uint64_t seed = 4711;

static double draw(double lo, double hi)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static void open_problem(problem *p, int n, ec_weights_method method)
{
    memset(p, 0, sizeof *p);
    ec_weights_config_default(&p->config);
    p->config.method = method;
    p->config.elements = p->n = n;
    p->wavelength = 1;
}

/* exp(j k (d - look) . r_m) with r about the centroid. */
static complex_number phasor(const problem *p, double u, double v, int m)
{
    double cx = 0, cy = 0, cz = 0;

    for (int i = 0; i < p->n; i++) {
        cx += p->x[i] / p->n;
        cy += p->y[i] / p->n;
        cz += p->z[i] / p->n;
    }
    double w = sqrt(fmax(0, 1 - u * u - v * v));
    double w0 = sqrt(1 - p->look[0] * p->look[0] - p->look[1] * p->look[1]);
    return unit(2 * EC_PI / p->wavelength *
                ((p->x[m] - cx) * (u - p->look[0]) + (p->y[m] - cy) * (v - p->look[1]) +
                 (p->z[m] - cz) * (w - w0)));
}

static complex_number noise(const problem *p, int m, int k)
{
    if (m == k)
        return unit(0);
    complex_number none = {0, 0};
    if (p->config.noise == EC_NOISE_WHITE)
        return none;
    double dx = p->x[m] - p->x[k], dy = p->y[m] - p->y[k], dz = p->z[m] - p->z[k];
    double d = 2 * EC_PI / p->wavelength * sqrt(dx * dx + dy * dy + dz * dz);
    double w0 = sqrt(1 - p->look[0] * p->look[0] - p->look[1] * p->look[1]);
    complex_number r =
        unit(2 * EC_PI / p->wavelength * (dx * p->look[0] + dy * p->look[1] + dz * w0));
    r.re *= sin(d) / d;
    r.im *= sin(d) / d;
    return r;
}

/* a += factor conj(e_m) e_k */
static void add_source(const problem *p, double factor, double u, double v, int size,
                       complex_number *a)
{
    for (int m = 0; m < p->n; m++)
        for (int k = 0; k < p->n; k++) {
            complex_number t = product(conjugate(phasor(p, u, v, m)), phasor(p, u, v, k));
            a[m * size + k].re += factor * t.re;
            a[m * size + k].im += factor * t.im;
        }
}

/* The saddle-point system [R C; C^H 0] [w; l] = [b; f]. */
static void dense(const problem *p, complex_number *weights)
{
    int n = p->n, size = n + 1 + p->config.nulls;
    complex_number *a = calloc((size_t)(size * size), sizeof *a);
    complex_number *b = calloc((size_t)size, sizeof *b);

    assert_non_null(a);
    assert_non_null(b);
    if (p->config.method == EC_WEIGHTS_LCMV) {
        for (int m = 0; m < n; m++)
            for (int k = 0; k < n; k++)
                a[m * size + k] = noise(p, m, k);
        for (int i = 0; i < p->config.interferers; i++)
            add_source(p, p->power[i], p->jam_u[i], p->jam_v[i], size, a);
    } else {
        int count = 0;
        for (int i = 0; i < p->config.directions; i++)
            count += p->grid_u[i] * p->grid_u[i] + p->grid_v[i] * p->grid_v[i] <= 1 + 1e-12;
        for (int i = 0; i < p->config.directions; i++) {
            double u = p->grid_u[i], v = p->grid_v[i];
            if (u * u + v * v > 1 + 1e-12)
                continue;
            double r = hypot(u - p->look[0], v - p->look[1]), flat = p->config.flat;
            bool inside = r < p->config.exclude - 1e-9;
            double q = (inside ? 1 : pow(10, -p->config.sll_db / 10)) / count;
            double part = fmax(0, (r - flat) / (p->config.exclude - flat));
            double wanted = inside ? pow(cos(EC_PI / 2 * part), 2) : 0;
            add_source(p, q, u, v, size, a);
            for (int m = 0; m < n; m++) {
                complex_number e = phasor(p, u, v, m);
                b[m].re += q * wanted * e.re;
                b[m].im -= q * wanted * e.im;
            }
        }
    }
    double mean = 0;
    for (int m = 0; m < n; m++)
        mean += a[m * size + m].re / n;
    for (int m = 0; m < n; m++)
        a[m * size + m].re += p->config.loading * mean;
    for (int k = 0; k <= p->config.nulls; k++)
        for (int m = 0; m < n; m++) {
            complex_number e = k == 0 ? unit(0) : phasor(p, p->null_u[k - 1], p->null_v[k - 1], m);
            a[(n + k) * size + m] = e;
            a[m * size + n + k] = conjugate(e);
        }
    b[n].re = 1;
    eliminate(size, a, b);
    memcpy(weights, b, (size_t)n * sizeof *weights);
    free(a);
    free(b);
}

typedef struct scene {
    ec_backend *backend;
    ec_graph *graph;
    ec_weights_inputs in;
    ec_expr amplitude, phase;
} scene;

static ec_expr list(scene *s, const double *data, int n)
{
    return n > 0 ? ec_graph_constant(s->graph, 1, &n, data) : -1;
}

static int open_scene(scene *s, problem *p)
{
    ec_backend_info info = {.name = "cpu", .threads = 2};

    assert_int_equal(ec_backend_create(&info, &s->backend), EC_OK);
    assert_int_equal(ec_graph_create(&s->graph), EC_OK);
    ec_weights_inputs_default(&s->in);
    s->in.x = list(s, p->x, p->n);
    s->in.y = list(s, p->y, p->n);
    s->in.z = list(s, p->z, p->n);
    s->in.wavelength = ec_graph_number(s->graph, p->wavelength);
    s->in.u0 = ec_graph_number(s->graph, p->look[0]);
    s->in.v0 = ec_graph_number(s->graph, p->look[1]);
    s->in.null_u = list(s, p->null_u, p->config.nulls);
    s->in.null_v = list(s, p->null_v, p->config.nulls);
    s->in.interference_u = list(s, p->jam_u, p->config.interferers);
    s->in.interference_v = list(s, p->jam_v, p->config.interferers);
    s->in.interference_power = list(s, p->power, p->config.interferers);
    s->in.start = p->config.method == EC_WEIGHTS_THINNING ? list(s, p->start, p->n) : -1;
    p->config.u = p->grid_u;
    p->config.v = p->grid_v;
    return ec_weights_call(s->graph, &p->config, &s->in, &s->amplitude, &s->phase);
}

static void close_scene(scene *s)
{
    ec_graph_destroy(&s->graph);
    ec_backend_destroy(&s->backend);
}

/* Candidate status; the weights go to p. */
static int find_weights(problem *p)
{
    scene s;
    uint8_t status = 0;
    double *out[2] = {p->amplitude, p->phase};

    if (open_scene(&s, p) < 0)
        fail_msg("%s", ec_error_text());
    ec_expr e[2] = {s.amplitude, s.phase};
    if (ec_evaluate_once(s.graph, s.backend, EC_SEARCH, 2, e, NULL, 0, NULL, 0, out, &status,
                         NULL) < 0)
        fail_msg("%s", ec_error_text());
    close_scene(&s);
    return status;
}

static void compare_dense(problem *p)
{
    complex_number want[MOST];

    assert_int_equal(find_weights(p), 0);
    dense(p, want);
    double most = 0;
    for (int m = 0; m < p->n; m++)
        most = fmax(most, hypot(want[m].re, want[m].im));
    for (int m = 0; m < p->n; m++) {
        double re = p->amplitude[m] * cos(p->phase[m]), im = p->amplitude[m] * sin(p->phase[m]);
        if (!(hypot(re - want[m].re, im - want[m].im) <= 1e-8 * most))
            fail_msg("weight %d is (%.12g, %.12g), expected (%.12g, %.12g)", m, re, im, want[m].re,
                     want[m].im);
    }
}

/* Distinct elements about half a wavelength apart, in a volume. */
static void scatter(problem *p, double spacing)
{
    for (int m = 0; m < p->n; m++) {
        p->x[m] = p->wavelength * (spacing * m + draw(-0.1, 0.1) * spacing + 30);
        p->y[m] = p->wavelength * draw(-1, 1);
        p->z[m] = p->wavelength * draw(-0.5, 0.5);
    }
}

static void set_directions(double *u, double *v, int n)
{
    for (int k = 0; k < n; k++) {
        u[k] = -0.8 + 1.5 * (k + draw(0, 0.3)) / n;
        v[k] = draw(-0.4, 0.4);
    }
}

/* ---- against the dense solution ---- */

static void lcmv_equals_dense(void **state)
{
    (void)state;
    for (int round = 0; round < 24; round++) {
        problem p;
        open_problem(&p, 1 + (round * 5) % 33, EC_WEIGHTS_LCMV);
        p.wavelength = round % 2 ? 0.03 : 1;
        scatter(&p, 0.55);
        p.look[0] = draw(-0.6, 0.6);
        p.look[1] = draw(-0.4, 0.4);
        p.config.nulls = p.n > 8 ? round % 7 : 0;
        set_directions(p.null_u, p.null_v, p.config.nulls);
        p.config.noise = round % 3 ? EC_NOISE_ISOTROPIC : EC_NOISE_WHITE;
        p.config.interferers = round % 4;
        set_directions(p.jam_u, p.jam_v, p.config.interferers);
        for (int i = 0; i < p.config.interferers; i++)
            p.power[i] = draw(1, 1000);
        p.config.loading = round % 5 ? 0 : 0.01;
        compare_dense(&p);
    }
}

static void least_squares_equals_dense(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        problem p;
        bool surface = round >= 4;
        open_problem(&p, surface ? 14 : 9 + 4 * round, EC_WEIGHTS_LEAST_SQUARES);
        scatter(&p, 0.6);
        p.look[0] = draw(-0.3, 0.3);
        p.config.nulls = round % 3;
        set_directions(p.null_u, p.null_v, p.config.nulls);
        p.config.exclude = 0.4;
        p.config.flat = round % 2 ? 0.1 : 0;
        p.config.sll_db = -25 - round;
        p.config.loading = 1e-6;
        for (int i = 0; i < (surface ? 31 : 201); i++)
            for (int k = 0; k < (surface ? 31 : 1); k++) {
                int at = p.config.directions++;
                p.grid_u[at] = surface ? -1 + i / 15.0 : -1 + i / 100.0;
                p.grid_v[at] = surface ? -1 + k / 15.0 : 0;
            }
        compare_dense(&p);
    }
}

/* ---- closed forms ---- */

/* White noise and one null: the uniform weights less their part along the null's vector. */
static void one_null_is_a_projection(void **state)
{
    enum { N = 12 };
    problem p;
    complex_number rho = {0, 0};

    (void)state;
    open_problem(&p, N, EC_WEIGHTS_LCMV);
    for (int m = 0; m < N; m++)
        p.x[m] = 0.5 * m;
    p.config.nulls = 1;
    p.null_u[0] = 0.31;
    assert_int_equal(find_weights(&p), 0);
    for (int m = 0; m < N; m++) {
        complex_number e = phasor(&p, 0.31, 0, m);
        rho.re += e.re / N;
        rho.im += e.im / N;
    }
    double rest = N * (1 - rho.re * rho.re - rho.im * rho.im);
    for (int m = 0; m < N; m++) {
        complex_number part = product(rho, conjugate(phasor(&p, 0.31, 0, m)));
        double re = (1 - part.re) / rest, im = -part.im / rest;
        assert_true(fabs(p.amplitude[m] - hypot(re, im)) < 1e-14);
        assert_true(fabs(p.amplitude[m] * cos(p.phase[m]) - re) < 1e-14);
        assert_true(fabs(p.amplitude[m] * sin(p.phase[m]) - im) < 1e-14);
    }
}

static void pattern_of(problem *p, const double *u, int n, double *level)
{
    for (int i = 0; i < n; i++) {
        complex_number f = {0, 0};
        for (int m = 0; m < p->n; m++) {
            complex_number w = unit(p->phase[m]);
            complex_number t = product(w, phasor(p, u[i], 0, m));
            f.re += p->amplitude[m] * t.re;
            f.im += p->amplitude[m] * t.im;
        }
        level[i] = 20 * log10(hypot(f.re, f.im) + 1e-300);
    }
}

/* Isotropic noise: the highest directivity. Two elements d apart along the look direction have
 * 2 (1 - s cos(k d)) / (1 - s^2), s = sinc(k d), which tends to 4 as they close in (Uzkov 1946). */
static void two_close_elements(void **state)
{
    (void)state;
    for (double d = 0.4; d > 0.02; d *= 0.5) {
        problem p;
        scene s;
        double axis[2] = {-0.5, 0.5}, got, *out[1] = {&got};
        ec_call *call = NULL;
        ec_array_config config;
        open_problem(&p, 2, EC_WEIGHTS_LCMV);
        p.z[1] = d;
        p.config.noise = EC_NOISE_ISOTROPIC;
        assert_true(open_scene(&s, &p) >= 0);
        ec_array_config_default(&config);
        config.elements = config.na = 2;
        config.a = axis;
        ec_array_inputs in = {s.in.x,          s.in.y,  s.in.z,  s.amplitude,    s.phase,
                              s.in.wavelength, s.in.u0, s.in.v0, EC_ARRAY_ABSENT};
        assert_true(ec_array_call(s.graph, &config, &in, &call) >= 0);
        ec_expr e = ec_array_directivity_db(s.graph, call, NULL);
        assert_true(ec_evaluate_once(s.graph, s.backend, EC_FINAL, 1, &e, NULL, 0, NULL, 0, out,
                                     NULL, NULL) >= 0);
        double k = 2 * EC_PI * d, sinc = sin(k) / k;
        double want = 10 * log10(2 * (1 - sinc * cos(k)) / (1 - sinc * sinc));
        if (!(fabs(got - want) < 1e-7))
            fail_msg("directivity at %g wavelengths is %.9g dB, expected %.9g", d, got, want);
        close_scene(&s);
    }
}

/* A line at half a wavelength has the lowest side lobes with Dolph-Chebyshev's weights. */
static void minimum_sll_is_chebyshev(void **state)
{
    const double levels[] = {20, 30, 40};

    (void)state;
    for (int c = 0; c < 3; c++) {
        enum { N = 12, POINTS = 4001 };
        problem p;
        double u[POINTS], level[POINTS], highest = -1000;
        double x0 = cosh(acosh(pow(10, levels[c] / 20)) / (N - 1));
        open_problem(&p, N, EC_WEIGHTS_MINIMUM_SLL);
        for (int m = 0; m < N; m++)
            p.x[m] = 0.5 * m;
        p.config.exclude = acos(1 / x0) / (EC_PI * 0.5); /* x0 cos(pi u / 2) = 1 */
        p.config.loading = 1e-9;
        p.config.iterations = 40;
        for (int i = 0; i < 601; i++)
            p.grid_u[p.config.directions++] = -1 + i / 300.0;
        assert_int_equal(find_weights(&p), 0);
        for (int i = 0; i < POINTS; i++)
            u[i] = -1 + 2.0 * i / (POINTS - 1);
        pattern_of(&p, u, POINTS, level);
        for (int i = 0; i < POINTS; i++)
            if (fabs(u[i]) > p.config.exclude + 1.0 / 300)
                highest = fmax(highest, level[i]);
        /* the grid begins up to a step beyond the edge, so the lobes may be lower by a little */
        if (!(highest < -levels[c] + 0.1 && highest > -levels[c] - 0.8))
            fail_msg("highest side lobe %.4f dB, Chebyshev's are %.4f dB", highest, -levels[c]);
    }
}

/* ---- thinning ---- */

static void fill_largest(int n, int filled, const double *value, double *weight)
{
    for (int m = 0; m < n; m++) {
        int before = 0;
        for (int k = 0; k < n; k++)
            before += value[k] > value[m] || (value[k] == value[m] && k < m);
        weight[m] = before < filled;
    }
}

/* Keizer's iteration as published: transform, clip, transform back. The lattice is half a wavelength
 * wide, so `points` steps of u from -1 are the transform's period. Returns the best side lobe. */
static double keizer(const problem *p, int points, double *best)
{
    double value[MOST], weight[MOST], last[MOST] = {0}, least = 1e300;
    complex_number f[MOST_DIRECTIONS];

    memcpy(value, p->start, sizeof value);
    for (int round = 0; round < p->config.iterations; round++) {
        double highest = 0, limit = p->config.filled * pow(10, p->config.sll_db / 20);
        fill_largest(p->n, p->config.filled, value, weight);
        if (memcmp(weight, last, (size_t)p->n * sizeof *weight) == 0)
            break;
        memcpy(last, weight, (size_t)p->n * sizeof *last);
        for (int i = 0; i < points; i++) {
            f[i].re = f[i].im = 0;
            for (int m = 0; m < p->n; m++) {
                complex_number e = phasor(p, p->grid_u[i], 0, m);
                f[i].re += weight[m] * e.re;
                f[i].im += weight[m] * e.im;
            }
            double size = hypot(f[i].re, f[i].im);
            if (fabs(p->grid_u[i]) < p->config.exclude - 1e-9)
                continue;
            highest = fmax(highest, size);
            if (size > limit) {
                f[i].re *= limit / size;
                f[i].im *= limit / size;
            }
        }
        if (highest < least) {
            least = highest;
            memcpy(best, weight, (size_t)p->n * sizeof *weight);
        }
        for (int m = 0; m < p->n; m++) {
            value[m] = 0;
            for (int i = 0; i < points; i++)
                value[m] += product(conjugate(phasor(p, p->grid_u[i], 0, m)), f[i]).re / points;
        }
    }
    return 20 * log10(least / p->config.filled);
}

static void thinning_is_keizers(void **state)
{
    enum { POINTS = 256, STARTS = 12 };
    double found = 0, random = 0; /* means over the starts */

    (void)state;
    for (int start = 0; start < STARTS; start++) {
        problem p;
        double best[MOST], one[MOST];
        open_problem(&p, 60, EC_WEIGHTS_THINNING);
        p.config.filled = 44;
        p.config.sll_db = -30;
        p.config.exclude = 0.045;
        p.config.directions = POINTS;
        for (int m = 0; m < p.n; m++) {
            p.x[m] = 0.5 * m;
            p.start[m] = draw(0, 1);
        }
        for (int i = 0; i < POINTS; i++)
            p.grid_u[i] = -1 + 2.0 * i / POINTS;
        p.config.iterations = 1;
        random += keizer(&p, POINTS, one) / STARTS;
        p.config.iterations = 30;
        found += keizer(&p, POINTS, best) / STARTS;
        assert_int_equal(find_weights(&p), 0);
        for (int m = 0; m < p.n; m++) {
            assert_true(p.amplitude[m] == best[m]);
            assert_true(p.phase[m] == 0);
        }
    }
    if (!(found < random - 2))
        fail_msg("%g dB, the starts themselves have %g dB", found, random);
}

/* ---- what nulls do in a pattern, and what has none ---- */

static void nulls_are_nulls(void **state)
{
    problem p;
    double u[3] = {0.25, -0.4, 0.7}, level[4];

    (void)state;
    for (int method = 0; method < 3; method++) {
        open_problem(&p, 16, (ec_weights_method)method);
        for (int m = 0; m < p.n; m++)
            p.x[m] = 0.5 * m + draw(-0.1, 0.1);
        p.config.nulls = 3;
        memcpy(p.null_u, u, sizeof u);
        p.config.exclude = 0.2;
        p.config.loading = 1e-6;
        for (int i = 0; i < 201; i++)
            p.grid_u[p.config.directions++] = -1 + i / 100.0;
        assert_int_equal(find_weights(&p), 0);
        pattern_of(&p, u, 3, level);
        for (int k = 0; k < 3; k++)
            assert_true(level[k] < -240);
        pattern_of(&p, p.look, 1, level);
        assert_true(fabs(level[0]) < 1e-10);
    }
}

static void failures_are_data(void **state)
{
    problem p;

    (void)state;
    open_problem(&p, 6, EC_WEIGHTS_LCMV);
    for (int m = 0; m < p.n; m++)
        p.x[m] = 0.5 * m;
    p.config.nulls = 2; /* a null twice */
    p.null_u[0] = p.null_u[1] = 0.3;
    assert_int_equal(find_weights(&p), EC_CANDIDATE_EVALUATOR);
    assert_true(isnan(p.amplitude[0]) && isnan(p.phase[5]));
    p.null_u[1] = 0; /* a null in the look direction */
    assert_int_equal(find_weights(&p), EC_CANDIDATE_EVALUATOR);
    p.config.nulls = 0; /* two elements in one place see the same noise */
    p.config.noise = EC_NOISE_ISOTROPIC;
    p.x[3] = p.x[2];
    assert_int_equal(find_weights(&p), EC_CANDIDATE_EVALUATOR);
    p.config.loading = 0.01;
    assert_int_equal(find_weights(&p), 0);
    assert_true(fabs(p.amplitude[2] - p.amplitude[3]) < 1e-12);
}

static void refused(problem *p, const char *sentence)
{
    scene s;

    assert_true(open_scene(&s, p) < 0);
    if (!strstr(ec_error_text(), sentence))
        fail_msg("'%s' lacks '%s'", ec_error_text(), sentence);
    close_scene(&s);
}

static void mistakes_get_sentences(void **state)
{
    problem p;

    (void)state;
    open_problem(&p, 4, EC_WEIGHTS_LCMV);
    p.config.nulls = 4;
    refused(&p, "4 nulls are more than 4 elements can have: at most 3");
    p.config.nulls = 2;
    p.null_u[1] = 0.9;
    p.null_v[1] = 0.8;
    refused(&p, "null 2, u = 0.9 and v = 0.8, is not visible");
    p.config.nulls = 0;
    p.config.loading = -1;
    refused(&p, "loading is -1, it must be at least 0");
    p.config.loading = 0;
    p.look[0] = 1.5;
    refused(&p, "look_u is 1.5, allowed is -1 to 1");
    p.look[0] = 0;
    p.config.method = EC_WEIGHTS_MINIMUM_SLL;
    refused(&p, "0 directions, this method needs a grid");
    p.config.directions = 3;
    refused(&p, "exclude_u, half of the main beam, is 0, allowed is above 0 to 2");
    p.config.exclude = 0.1;
    p.grid_u[0] = p.grid_u[1] = 1.2;
    refused(&p, "1 directions of the grid are visible");
    p.grid_u[0] = p.grid_u[1] = 0.5;
    p.config.iterations = 0;
    refused(&p, "iterations is 0, allowed is 1 to 1000");
    p.config.method = EC_WEIGHTS_LEAST_SQUARES;
    p.config.flat = 0.2;
    refused(&p, "flat_u is 0.2, allowed is 0 to below exclude_u, 0.1");
    p.config.method = EC_WEIGHTS_THINNING;
    p.config.filled = 5;
    refused(&p, "filled is 5, allowed is 1 to 4");
    p.config.nulls = 1;
    refused(&p, "thinning has no nulls");
}

static void gradient_names_the_node(void **state)
{
    problem p;
    scene s;
    double lo[4] = {0, 0, 0, 0}, hi[4] = {2, 2, 2, 2};
    ec_expr gradient;

    (void)state;
    open_problem(&p, 4, EC_WEIGHTS_LCMV);
    assert_true(open_scene(&s, &p) >= 0);
    s.in.x = ec_graph_variable(s.graph, false, 0, 4, lo, hi);
    assert_true(ec_weights_call(s.graph, &p.config, &s.in, &s.amplitude, &s.phase) >= 0);
    ec_expr sum = ec_graph_op(s.graph, EC_OP_SUM, 1, &s.amplitude, 0, NULL);
    assert_int_equal(ec_graph_gradient(s.graph, sum, 1, &s.in.x, &gradient), EC_ERR_NO_GRADIENT);
    assert_non_null(strstr(ec_error_text(), "array_weights has no gradient"));
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lcmv_equals_dense),        cmocka_unit_test(least_squares_equals_dense),
        cmocka_unit_test(one_null_is_a_projection), cmocka_unit_test(two_close_elements),
        cmocka_unit_test(minimum_sll_is_chebyshev), cmocka_unit_test(thinning_is_keizers),
        cmocka_unit_test(nulls_are_nulls),          cmocka_unit_test(failures_are_data),
        cmocka_unit_test(mistakes_get_sentences),   cmocka_unit_test(gradient_names_the_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
