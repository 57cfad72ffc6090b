/* test_array_weights.c: optimal weights against a dense solution by Gaussian elimination of the
 * whole saddle-point system, which shares no code with them, also with the elements' fields and
 * coupled ports; their gradients against central differences; closed forms: the projection that makes
 * one null, the gain of two close elements (Uzkov's limit), Dolph-Chebyshev; thinning against
 * Keizer's iteration by plain sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array_pattern.h"
#include "array_weights.h"
#include "core/executor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_DIRECTIONS = 1200, PORTS = 9, FREQUENCIES = 3 };

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
    /* Elements cos^q, one for all (own: false) or each with a normal and a turn about it; q < 0:
     * isotropic. */
    double q, normal[MOST][3], turn[MOST];
    bool own;
    ec_array_config array;
    ec_element_frame frames[MOST];
    /* a file of three frequencies, or n_ports = 0 */
    ec_touchstone coupling;
    double frequency[FREQUENCIES], reference[PORTS];
    ec_c128 s[FREQUENCIES * PORTS * PORTS];
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
    p->q = -1;
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

/* ---- elements and ports, by formulas of their own ---- */

/* v turned about the unit vector k (Rodrigues). */
static void rotate(const double k[3], double angle, const double v[3], double to[3])
{
    double c = cos(angle), s = sin(angle), along = k[0] * v[0] + k[1] * v[1] + k[2] * v[2];

    for (int i = 0; i < 3; i++)
        to[i] = v[i] * c + s * (k[(i + 1) % 3] * v[(i + 2) % 3] - k[(i + 2) % 3] * v[(i + 1) % 3]) +
                k[i] * along * (1 - c);
}

/* theta^ cos phi - phi^ sin phi, the co-polar direction of Ludwig's third definition, or with `cross`
 * theta^ sin phi + phi^ cos phi. */
static void ludwig(const double d[3], bool cross, double to[3])
{
    double theta = acos(fmax(-1, fmin(1, d[2]))), phi = atan2(d[1], d[0]);
    double a = cross ? sin(phi) : cos(phi), b = cross ? cos(phi) : -sin(phi);

    to[0] = a * cos(theta) * cos(phi) - b * sin(phi);
    to[1] = a * cos(theta) * sin(phi) + b * cos(phi);
    to[2] = -a * sin(theta);
}

/* The vector field of element m towards d: its axes are turned from z to its normal by the least
 * rotation, then about the normal. */
static void element_field(const problem *p, int m, const double d[3], double e[3])
{
    const double *n = p->normal[p->own ? m : 0];
    double turn = p->turn[p->own ? m : 0], axis[3] = {-n[1], n[0], 0}, local[3], at[3], f[3];
    double tilt = acos(n[2]), length = hypot(axis[0], axis[1]);

    for (int i = 0; i < 3; i++)
        axis[i] = length > 0 ? axis[i] / length : i == 0;
    rotate(n, -turn, d, at);
    rotate(axis, -tilt, at, local);
    double cosine = local[2], size = cosine > 0 ? pow(cosine, p->q) : 0;
    ludwig(local, false, f);
    rotate(axis, tilt, f, at);
    rotate(n, turn, at, e);
    for (int i = 0; i < 3; i++)
        e[i] *= size;
}

/* What stands beside the weight of element m, without phases: of one for all the size. */
static double field_part(const problem *p, int m, double u, double v, int part)
{
    double d[3] = {u, v, sqrt(fmax(0, 1 - u * u - v * v))}, e[3], unit_vector[3];

    if (p->q < 0)
        return 1;
    element_field(p, m, d, e);
    bool total = p->array.polarization == EC_POLARIZATION_TOTAL;
    if (total && !p->own)
        return sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    ludwig(d, part > 0, unit_vector);
    double along = e[0] * unit_vector[0] + e[1] * unit_vector[1] + e[2] * unit_vector[2];
    return p->own ? along : fabs(along);
}

static int parts_of(const problem *p)
{
    return p->own && p->array.polarization == EC_POLARIZATION_TOTAL ? 2 : 1;
}

/* S_ml between the file's frequencies. */
static complex_number scattering(const problem *p, int m, int l)
{
    double f = 299792458.0 / p->wavelength;
    int n = p->coupling.n_ports, k = f > p->frequency[1] ? 1 : 0;
    double t = (f - p->frequency[k]) / (p->frequency[k + 1] - p->frequency[k]);
    ec_c128 a = p->s[(k * n + m) * n + l], b = p->s[((k + 1) * n + m) * n + l];
    complex_number s = {a.re + t * (b.re - a.re), a.im + t * (b.im - a.im)};

    return s;
}

/* F(d) = sum a_m w_m; plain: of the currents. */
static void row_of(const problem *p, double u, double v, int part, bool plain, complex_number *a)
{
    for (int m = 0; m < p->n; m++) {
        double e = field_part(p, m, u, v, part);
        complex_number z = phasor(p, u, v, m);
        a[m].re = e * z.re;
        a[m].im = e * z.im;
    }
    if (p->coupling.n_ports == 0 || plain)
        return;
    complex_number current[MOST];
    double k = 2 * EC_PI / p->wavelength;
    double w0 = sqrt(1 - p->look[0] * p->look[0] - p->look[1] * p->look[1]);
    memcpy(current, a, sizeof current);
    for (int l = 0; l < p->n; l++) {
        a[l].re = a[l].im = 0;
        for (int m = 0; m < p->n; m++) { /* the steering stays on the waves */
            complex_number s = scattering(p, m, l);
            double root = sqrt(p->reference[0] / p->reference[m]);
            complex_number to = {root * ((m == l) - s.re), -root * s.im};
            double r = (p->x[m] - p->x[l]) * p->look[0] + (p->y[m] - p->y[l]) * p->look[1] +
                       (p->z[m] - p->z[l]) * w0;
            complex_number t = product(product(to, current[m]), unit(k * r));
            a[l].re += t.re;
            a[l].im += t.im;
        }
    }
}

/* a += factor conj(row_m) row_k; the mean of the currents' diagonal. */
static double add_source(const problem *p, double factor, double u, double v, int part, int size,
                         complex_number *a)
{
    complex_number row[MOST], plain[MOST];
    double mean = 0;

    row_of(p, u, v, part, false, row);
    row_of(p, u, v, part, true, plain);
    for (int m = 0; m < p->n; m++) {
        for (int k = 0; k < p->n; k++) {
            complex_number t = product(conjugate(row[m]), row[k]);
            a[m * size + k].re += factor * t.re;
            a[m * size + k].im += factor * t.im;
        }
        mean += factor * (plain[m].re * plain[m].re + plain[m].im * plain[m].im) / p->n;
    }
    return mean;
}

/* The saddle-point system [R C; C^H 0] [w; l] = [b; f]. */
static void dense(const problem *p, complex_number *weights)
{
    int n = p->n, parts = parts_of(p), size = n + 1 + p->config.nulls * parts;
    complex_number *a = calloc((size_t)(size * size), sizeof *a), row[MOST];
    complex_number *b = calloc((size_t)size, sizeof *b);
    double mean = 0;

    assert_non_null(a);
    assert_non_null(b);
    if (p->config.method == EC_WEIGHTS_LCMV) {
        for (int m = 0; m < n; m++)
            for (int k = 0; k < n; k++)
                a[m * size + k] = noise(p, m, k);
        mean = 1;
        for (int i = 0; i < p->config.interferers; i++)
            for (int part = 0; part < parts; part++)
                mean += add_source(p, p->power[i], p->jam_u[i], p->jam_v[i], part, size, a);
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
            double edge = fmax(0, (r - flat) / (p->config.exclude - flat));
            double wanted = inside ? pow(cos(EC_PI / 2 * edge), 2) : 0;
            for (int part = 0; part < parts; part++)
                mean += add_source(p, q, u, v, part, size, a);
            row_of(p, u, v, 0, false, row);
            for (int m = 0; m < n; m++) {
                b[m].re += q * wanted * row[m].re;
                b[m].im -= q * wanted * row[m].im;
            }
        }
    }
    for (int m = 0; m < n; m++)
        a[m * size + m].re += p->config.loading * mean;
    for (int k = 0; k < size - n; k++) {
        int null = (k - 1) / parts;
        row_of(p, k == 0 ? p->look[0] : p->null_u[null], k == 0 ? p->look[1] : p->null_v[null],
               k == 0 ? 0 : (k - 1) % parts, false, row);
        for (int m = 0; m < n; m++) {
            a[(n + k) * size + m] = row[m];
            a[m * size + n + k] = conjugate(row[m]);
        }
    }
    b[n].re = 1;
    eliminate(size, a, b);
    memcpy(weights, b, (size_t)n * sizeof *weights);
    free(a);
    free(b);
}

/* cos^q elements that point about z, one for all or each its own way. */
static void shape(problem *p, double q, bool own, ec_array_polarization polarization)
{
    p->q = q;
    p->own = own;
    ec_array_config_default(&p->array);
    assert_int_equal(ec_element_pattern_init(EC_ELEMENT_KIND_COSQ, q, NULL, &p->array.element),
                     EC_OK);
    p->array.polarization = polarization;
    for (int m = 0; m < p->n; m++) {
        double tilt = draw(0.1, 0.5), phi = draw(0, 6);
        p->normal[m][0] = sin(tilt) * cos(phi);
        p->normal[m][1] = sin(tilt) * sin(phi);
        p->normal[m][2] = cos(tilt);
        p->turn[m] = draw(-1, 1);
        assert_int_equal(ec_element_frame_of(p->normal[m], p->turn[m], &p->frames[m]), EC_OK);
    }
    p->array.frame = p->frames[0];
}

/* A passive matrix that changes with frequency, ports of several resistances. */
static void couple(problem *p)
{
    int n = p->n;

    assert_true(n <= PORTS);
    p->wavelength = 0.3;
    for (int k = 0; k < FREQUENCIES; k++)
        p->frequency[k] = 0.9e9 + 0.1e9 * k;
    for (int m = 0; m < n; m++)
        p->reference[m] = m % 3 ? 50 : 75;
    for (int i = 0; i < FREQUENCIES * n * n; i++) {
        p->s[i].re = draw(-0.3, 0.3) / sqrt(n);
        p->s[i].im = draw(-0.3, 0.3) / sqrt(n);
    }
    p->coupling.n_ports = n;
    p->coupling.n_frequencies = FREQUENCIES;
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
    p->array.frames = p->own ? p->frames : NULL;
    p->config.array = p->q >= 0 ? &p->array : NULL;
    p->coupling.frequency = p->frequency;
    p->coupling.s = p->s;
    p->coupling.reference = p->reference;
    p->config.coupling = p->coupling.n_ports > 0 ? &p->coupling : NULL;
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

static void set_grid(problem *p)
{
    for (int i = 0; i < 201; i++)
        p->grid_u[p->config.directions++] = -1 + i / 100.0;
}

/* One element for all, whole or tilted and seen in one polarization; a null that it does not reach is
 * no constraint. */
static void common_elements_equal_dense(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        problem p;
        open_problem(&p, 8 + 3 * round, round % 2 ? EC_WEIGHTS_LEAST_SQUARES : EC_WEIGHTS_LCMV);
        scatter(&p, 0.55);
        p.look[0] = draw(-0.3, 0.3);
        p.config.nulls = round % 3;
        set_directions(p.null_u, p.null_v, p.config.nulls);
        p.config.interferers = 2;
        set_directions(p.jam_u, p.jam_v, 2);
        p.power[0] = p.power[1] = 50;
        p.config.exclude = 0.4;
        p.config.loading = 1e-6;
        set_grid(&p);
        shape(&p, 0.5 + 0.4 * round, false,
              round % 4 < 2 ? EC_POLARIZATION_TOTAL : EC_POLARIZATION_CO);
        compare_dense(&p);
    }
    problem p;
    open_problem(&p, 6, EC_WEIGHTS_LCMV);
    scatter(&p, 0.5);
    shape(&p, 1, false, EC_POLARIZATION_TOTAL);
    const double normal[3] = {1, 0, 0};
    assert_int_equal(ec_element_frame_of(normal, 0, &p.array.frame), EC_OK);
    memcpy(p.normal[0], normal, sizeof normal);
    p.turn[0] = 0;
    p.look[0] = 0.6;
    compare_dense(&p);
    double before[MOST];
    memcpy(before, p.amplitude, sizeof before);
    p.config.nulls = 1; /* behind the elements */
    p.null_u[0] = -0.4;
    assert_int_equal(find_weights(&p), 0);
    for (int m = 0; m < p.n; m++)
        assert_true(fabs(p.amplitude[m] - before[m]) < 1e-13);
    p.look[0] = -0.2; /* where nothing is radiated */
    p.config.nulls = 0;
    assert_int_equal(find_weights(&p), EC_CANDIDATE_EVALUATOR);
}

/* Normals of each element's own, in one polarization and with all of the field, where nulls are nulls
 * in both. */
static void own_elements_equal_dense(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        problem p;
        open_problem(&p, 9 + 3 * round, round % 2 ? EC_WEIGHTS_LEAST_SQUARES : EC_WEIGHTS_LCMV);
        scatter(&p, 0.55);
        p.look[0] = draw(-0.3, 0.3);
        p.look[1] = draw(-0.2, 0.2);
        p.config.nulls = 1 + round % 3;
        set_directions(p.null_u, p.null_v, p.config.nulls);
        p.config.interferers = round % 4;
        set_directions(p.jam_u, p.jam_v, p.config.interferers);
        for (int i = 0; i < p.config.interferers; i++)
            p.power[i] = 30;
        p.config.exclude = 0.4;
        p.config.flat = 0.1;
        p.config.loading = round % 2 ? 1e-6 : 0.01;
        set_grid(&p);
        shape(&p, 0.5 + 0.3 * round, true,
              round % 4 < 2 ? EC_POLARIZATION_TOTAL : EC_POLARIZATION_CO);
        compare_dense(&p);
    }
}

/* Weights of coupled ports are the waves; between frequencies of the file, with all kinds of
 * elements. */
static void coupled_ports_equal_dense(void **state)
{
    (void)state;
    for (int round = 0; round < 9; round++) {
        problem p;
        open_problem(&p, PORTS, round % 2 ? EC_WEIGHTS_LEAST_SQUARES : EC_WEIGHTS_LCMV);
        couple(&p);
        scatter(&p, 0.5);
        p.wavelength = 0.29 + 0.01 * (round % 3);
        p.look[0] = draw(-0.3, 0.3);
        p.config.nulls = 1 + round % 2;
        set_directions(p.null_u, p.null_v, p.config.nulls);
        p.config.interferers = round % 4;
        set_directions(p.jam_u, p.jam_v, p.config.interferers);
        for (int i = 0; i < p.config.interferers; i++)
            p.power[i] = 30;
        p.config.exclude = 0.4;
        p.config.loading = 1e-3;
        set_grid(&p);
        if (round >= 3)
            shape(&p, 1, round >= 6, EC_POLARIZATION_TOTAL);
        compare_dense(&p);
    }
}

/* ---- gradients ---- */

/* A figure of the weights that has every part of them in it. */
static ec_expr figure_of(scene *s, int n)
{
    double a[MOST], b[MOST];

    for (int m = 0; m < n; m++) {
        a[m] = draw(-1, 1);
        b[m] = draw(-1, 1);
    }
    ec_expr part[2] = {ec_graph_unary(s->graph, EC_OP_COS, s->phase),
                       ec_graph_unary(s->graph, EC_OP_SIN, s->phase)};
    ec_expr sum = ec_graph_binary(s->graph, EC_OP_MUL, list(s, a, n), part[0]);
    sum = ec_graph_binary(s->graph, EC_OP_ADD, sum,
                          ec_graph_binary(s->graph, EC_OP_MUL, list(s, b, n), part[1]));
    sum = ec_graph_binary(s->graph, EC_OP_MUL, sum, s->amplitude);
    sum = ec_graph_binary(s->graph, EC_OP_ADD, sum,
                          ec_graph_unary(s->graph, EC_OP_SQUARE, s->amplitude));
    return ec_graph_unary(s->graph, EC_OP_SUM, sum);
}

/* Genes: x, y, z of each element and the wavelength. */
static void check_gradient(const char *name, problem *p)
{
    scene s;
    int n = p->n, genes = 3 * n + 1;
    double gene[3 * MOST + 1], lo[3 * MOST + 1], hi[3 * MOST + 1], want[3 * MOST + 1];
    double got[3 * MOST + 1], value, *out[4] = {got, got + n, got + 2 * n, got + 3 * n};
    ec_expr grad[4];

    for (int m = 0; m < n; m++) {
        gene[m] = p->x[m];
        gene[n + m] = p->y[m];
        gene[2 * n + m] = p->z[m];
    }
    gene[3 * n] = p->wavelength;
    for (int i = 0; i < genes; i++) {
        lo[i] = gene[i] - 0.1 * p->wavelength;
        hi[i] = gene[i] + 0.1 * p->wavelength;
    }
    assert_true(open_scene(&s, p) >= 0);
    s.in.x = ec_graph_variable(s.graph, false, 0, n, lo, hi);
    s.in.y = ec_graph_variable(s.graph, false, n, n, lo + n, hi + n);
    bool flat = p->z[0] == 0 && p->z[1] == 0; /* one z, which then has no part */
    s.in.z = flat ? ec_graph_variable(s.graph, false, 2 * n, 0, lo + 2 * n, hi + 2 * n)
                  : ec_graph_variable(s.graph, false, 2 * n, n, lo + 2 * n, hi + 2 * n);
    bool coupled = p->coupling.n_ports > 0;
    if (!coupled)
        s.in.wavelength = ec_graph_variable(s.graph, false, 3 * n, 0, lo + 3 * n, hi + 3 * n);
    int with_count = coupled ? 3 : 4;
    if (ec_weights_call(s.graph, &p->config, &s.in, &s.amplitude, &s.phase) < 0)
        fail_msg("%s", ec_error_text());
    ec_expr figure = figure_of(&s, n), with[4] = {s.in.x, s.in.y, s.in.z, s.in.wavelength};
    if (ec_graph_gradient(s.graph, figure, with_count, with, grad) < 0)
        fail_msg("%s: %s", name, ec_error_text());
    if (ec_evaluate_once(s.graph, s.backend, EC_FINAL, with_count, grad, gene, (size_t)genes, NULL,
                         0, out, NULL, NULL) < 0)
        fail_msg("%s: %s", name, ec_error_text());
    double most = 0;
    for (int m = 1; m < n && flat; m++)
        got[2 * n + m] = 0;
    for (int i = 0; i < genes - (coupled ? 1 : 0); i++) {
        double sum[2] = {0, 0}, *one = &value, step = 1e-4 * p->wavelength, before = gene[i];
        for (int k = 0; k < 4; k++) { /* two steps, so that the error is of fourth order */
            gene[i] = before + (k % 2 ? -1 : 1) * (k / 2 ? 0.5 : 1) * step;
            assert_true(ec_evaluate_once(s.graph, s.backend, EC_FINAL, 1, &figure, gene,
                                         (size_t)genes, NULL, 0, &one, NULL, NULL) >= 0);
            sum[k / 2] += k % 2 ? -value : value;
        }
        gene[i] = before;
        want[i] = (8 * sum[1] - sum[0]) / (6 * step);
        most = fmax(most, fabs(want[i]));
    }
    for (int i = 0; i < genes - (coupled ? 1 : 0); i++)
        if (!(fabs(got[i] - want[i]) <= 1e-6 * fabs(want[i]) + 1e-7 * most))
            fail_msg("%s: derivative %d is %.12g, by differences %.12g (largest %g)", name, i,
                     got[i], want[i], most);
    close_scene(&s);
}

static void gradients_equal_differences(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        problem p;
        bool squares = round % 2, coupled = round >= 9;
        char name[40];
        open_problem(&p, coupled ? PORTS : 5 + round,
                     squares ? EC_WEIGHTS_LEAST_SQUARES : EC_WEIGHTS_LCMV);
        if (coupled)
            couple(&p);
        scatter(&p, 0.55);
        for (int m = 0; m < p.n; m++)
            p.x[m] -= 30 * p.wavelength;
        p.look[0] = 0.2;
        p.look[1] = -0.1;
        p.config.nulls = 1 + round % 2;
        set_directions(p.null_u, p.null_v, p.config.nulls);
        p.config.noise = round == 0 || round == 6 ? EC_NOISE_WHITE : EC_NOISE_ISOTROPIC;
        p.config.interferers = 2 * (round % 3);
        set_directions(p.jam_u, p.jam_v, p.config.interferers);
        for (int i = 0; i < p.config.interferers; i++)
            p.power[i] = 20;
        p.config.exclude = 0.4;
        p.config.flat = 0.1;
        p.config.loading = 0.01;
        set_grid(&p);
        if (round >= 4 && round < 6)
            shape(&p, 1.5, false, EC_POLARIZATION_TOTAL);
        if (round >= 6 && round != 10)
            shape(&p, 1.5, true, EC_POLARIZATION_TOTAL);
        if (round == 4) /* a plane: the noise by a kernel over pairs */
            memset(p.z, 0, sizeof p.z);
        if (round == 4 || round == 5)
            assert_int_equal(ec_element_frame_of((const double[3]){0, 0, 1}, 0, &p.array.frame),
                             EC_OK);
        snprintf(name, sizeof name, "round %d", round);
        check_gradient(name, &p);
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

/* Isotropic noise is what the array radiates, however its elements look: no other weights have more
 * directivity, which the array evaluator computes. */
static void directivity_is_the_highest(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        problem p;
        scene s;
        double axis[2] = {-0.5, 0.5}, best = 0, value, *out = &value;
        open_problem(&p, round == 3 ? PORTS : 6, EC_WEIGHTS_LCMV);
        if (round == 3)
            couple(&p);
        scatter(&p, 0.4);
        if (round == 0)
            memset(p.z, 0, sizeof p.z);
        p.look[0] = 0.2;
        p.config.noise = EC_NOISE_ISOTROPIC;
        if (round < 3)
            shape(&p, 1, round == 2, round ? EC_POLARIZATION_CO : EC_POLARIZATION_TOTAL);
        if (round == 0)
            assert_int_equal(ec_element_frame_of((const double[3]){0, 0, 1}, 0, &p.array.frame),
                             EC_OK);
        assert_true(open_scene(&s, &p) >= 0);
        if (round == 0) {
            s.in.z = ec_graph_number(s.graph, 0);
            assert_true(ec_weights_call(s.graph, &p.config, &s.in, &s.amplitude, &s.phase) >= 0);
        }
        for (int other = 0; other < 12; other++) {
            ec_array_config config = p.array;
            ec_call *call = NULL;
            double factor[MOST], shift[MOST];
            if (round == 3)
                ec_array_config_default(&config);
            config.elements = p.n;
            config.na = 2;
            config.a = axis;
            for (int m = 0; m < p.n; m++) {
                factor[m] = other ? 1 + draw(-0.1, 0.1) : 1;
                shift[m] = other ? draw(-0.1, 0.1) : 0;
            }
            ec_array_inputs in = {
                s.in.x,
                s.in.y,
                s.in.z,
                ec_graph_binary(s.graph, EC_OP_MUL, s.amplitude, list(&s, factor, p.n)),
                ec_graph_binary(s.graph, EC_OP_ADD, s.phase, list(&s, shift, p.n)),
                s.in.wavelength,
                s.in.u0,
                s.in.v0,
                ec_graph_number(s.graph, sqrt(1 - 0.2 * 0.2))};
            if (round == 3)
                assert_int_equal(ec_array_couple(s.graph, &p.coupling, p.n, &in), EC_OK);
            if (ec_array_call(s.graph, &config, &in, &call) < 0)
                fail_msg("%s", ec_error_text());
            ec_expr e = ec_array_directivity_db(s.graph, call, NULL);
            assert_true(ec_evaluate_once(s.graph, s.backend, EC_FINAL, 1, &e, NULL, 0, NULL, 0,
                                         &out, NULL, NULL) >= 0);
            if (other == 0)
                best = value;
            else if (!(value < best - 1e-4))
                fail_msg("round %d: %.9g dB, the optimal weights have %.9g dB", round, value, best);
        }
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
    enum { POINTS = 256, STARTS = 24 };
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
        if (start % 2) /* by sums, the even ones by FFT */
            p.grid_u[1] += 1e-9;
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
    p.x[3] = p.x[2] + 1e-12;
    assert_int_equal(find_weights(&p), EC_CANDIDATE_EVALUATOR);
    p.x[3] = p.x[2];
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

/* Methods without a gradient, and inputs without one, say so. */
static void gradient_names_the_node(void **state)
{
    const char *const sentence[] = {"not over null_u", "method = 'minimum_sll' have no gradient",
                                    "method = 'thinning' have no gradient"};

    (void)state;
    for (int method = 0; method < 3; method++) {
        problem p;
        scene s;
        double lo[4] = {0, 0, 0, 0}, hi[4] = {2, 2, 2, 2}, gene[4] = {0, 0.5, 1, 1.5};
        double value[4], *out = value;
        ec_expr gradient;
        open_problem(&p, 4,
                     method == 0   ? EC_WEIGHTS_LCMV
                     : method == 1 ? EC_WEIGHTS_MINIMUM_SLL
                                   : EC_WEIGHTS_THINNING);
        p.config.filled = 2;
        p.config.exclude = 0.3;
        p.config.loading = 1e-6;
        p.x[1] = 1;
        set_grid(&p);
        assert_true(open_scene(&s, &p) >= 0);
        ec_expr variable = ec_graph_variable(s.graph, false, 0, 4, lo, hi);
        p.config.nulls = method == 0 ? 1 : 0;
        s.in.x = variable;
        if (method == 0)
            s.in.null_u = ec_graph_slice(s.graph, variable, 1, 0);
        assert_true(ec_weights_call(s.graph, &p.config, &s.in, &s.amplitude, &s.phase) >= 0);
        ec_expr sum = ec_graph_op(s.graph, EC_OP_SUM, 1, &s.amplitude, 0, NULL);
        int status = ec_graph_gradient(s.graph, sum, 1, &variable, &gradient);
        if (method == 0)
            status = ec_evaluate_once(s.graph, s.backend, EC_FINAL, 1, &gradient, gene, 4, NULL, 0,
                                      &out, NULL, NULL);
        assert_int_equal(status, EC_ERR_NO_GRADIENT);
        if (!strstr(ec_error_text(), sentence[method]))
            fail_msg("'%s' lacks '%s'", ec_error_text(), sentence[method]);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lcmv_equals_dense),
        cmocka_unit_test(least_squares_equals_dense),
        cmocka_unit_test(one_null_is_a_projection),
        cmocka_unit_test(two_close_elements),
        cmocka_unit_test(minimum_sll_is_chebyshev),
        cmocka_unit_test(thinning_is_keizers),
        cmocka_unit_test(nulls_are_nulls),
        cmocka_unit_test(failures_are_data),
        cmocka_unit_test(mistakes_get_sentences),
        cmocka_unit_test(gradient_names_the_node),
        cmocka_unit_test(common_elements_equal_dense),
        cmocka_unit_test(own_elements_equal_dense),
        cmocka_unit_test(coupled_ports_equal_dense),
        cmocka_unit_test(gradients_equal_differences),
        cmocka_unit_test(directivity_is_the_highest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
