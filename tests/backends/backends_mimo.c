/* Links over a conducting ground, designs and samples at once, against two rays in closed form; links
 * in free space with antennas of several kinds that are coupled. */
#include "backends.h"

#include "core/executor.h"
#include "evaluators/mimo/mimo.h"
#include "evaluators/mimo/scene_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 70, TX = 2, RX = 3, SAMPLES = 2, FREQUENCIES = 2 };

static const double frequency[FREQUENCIES] = {2.4e9, 5.1e9};
static const double distance = 30, heights[SAMPLES][RX] = {{1.5, 2.25, 7}, {0.4, 3.1, 12}};

static int make_ground(ec_scene **scene)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;
    ec_material pec;
    ec_shape shape;
    int32_t index;

    ec_shape_default(EC_SHAPE_GROUND, &shape);
    shape.size[0] = shape.size[1] = 200;
    ec_scene_options_default(&options);
    EC_CHECK_CALL(ec_scene_builder_create(&builder));
    EC_CHECK_CALL(ec_material_by_name("pec", &pec));
    EC_CHECK_CALL(ec_scene_builder_material(builder, &pec, &index));
    EC_CHECK_CALL(ec_scene_builder_shape(builder, "ground", index, &shape));
    EC_CHECK_CALL(ec_scene_build(builder, &options, scene));
    ec_scene_builder_destroy(&builder);
    return 0;
}

/* Polarised across the plane of incidence: the image has the opposite sign. */
static void two_rays(double wavelength, double tx, double rx, double h[2])
{
    h[0] = h[1] = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        double r = hypot(distance, tx - sign * rx), a = sign * wavelength / (4 * EC_PI * r);
        double turns = r / wavelength, phase = 2 * EC_PI * (turns - floor(turns));
        h[0] += a * cos(phase);
        h[1] -= a * sin(phase);
    }
}

static double height_of(size_t design, size_t antenna)
{
    return design % 11 == 10 ? -0.3 : 0.5 + 0.137 * (double)((design * 31 + antenna * 17) % 67);
}

enum { K, MEAN, SPREAD, ANGLE, METRICS };
static const ec_mimo_output metric[METRICS] = {EC_MIMO_K_FACTOR_DB, EC_MIMO_MEAN_DELAY,
                                               EC_MIMO_DELAY_SPREAD, EC_MIMO_RX_ELEVATION_SPREAD};
/* K to 1e-9 dB, lengths of the mean delay to 1e-11 m; spreads to 3e-8 of the excess, at most 15 m, and
 * 3e-8 rad (path_moments.h) */
static const double near[METRICS] = {1e-9, 1e-11, 5e-7, 3e-8};

/* The same of the paths: gains go as 1 / r^2. Delays as lengths. */
static void two_ray_metrics(double tx, double rx, double want[METRICS])
{
    double r[2], p[2], x = 0, y = 0;

    for (int i = 0; i < 2; i++) {
        double rise = rx - (i ? -tx : tx);
        r[i] = hypot(distance, rise);
        p[i] = 1 / (r[i] * r[i]);
        x += p[i] * distance / r[i];
        y += p[i] * rise / r[i];
    }
    want[K] = 10 * log10(p[0] / p[1]);
    want[MEAN] = (p[0] * r[0] + p[1] * r[1]) / (p[0] + p[1]);
    want[SPREAD] = sqrt(p[0] * p[1]) / (p[0] + p[1]) * (r[1] - r[0]);
    want[ANGLE] = sqrt(-2 * log(fmin(1, hypot(x, y) / (p[0] + p[1]))));
}

/* Of a design and a sample, at every frequency. */
static int check_metrics(ec_backend *backend, ec_executor *executor)
{
    for (int m = 0; m < METRICS; m++) {
        const ec_array *a = ec_executor_output(executor, 2 + m);
        double *got = malloc(ec_array_bytes(a)),
               scale = m == MEAN || m == SPREAD ? EC_LIGHT_SPEED : 1;
        EC_CHECK(got, "out of memory");
        EC_CHECK_CALL(backend->ops->download(backend, got, a->data, ec_array_bytes(a)));
        for (size_t i = 0; i < N; i++)
            for (size_t s = 0; s < SAMPLES && height_of(i, 0) >= 0; s++)
                for (size_t e = 0; e < FREQUENCIES * RX * TX; e++) {
                    double want[METRICS];
                    double mine = scale * got[s * a->sample_stride + e * a->ld + i];
                    two_ray_metrics(height_of(i, e % TX), heights[s][e / TX % RX], want);
                    EC_CHECK(fabs(mine - want[m]) <= near[m],
                             "metric %d of design %zu is %.17g, not %.17g", m, i, mine, want[m]);
                }
        free(got);
    }
    return 0;
}

static int links(ec_backend *backend, ec_graph *g, const ec_scene *scene)
{
    const double low[TX] = {-0.5, -0.5}, high[TX] = {10, 10};
    const int32_t n_rx = RX, genes = TX;
    const size_t elements = FREQUENCIES * RX * TX;
    ec_mimo_config c;
    ec_call *call = NULL;
    ec_executor *executor = NULL;
    ec_array X = {0};
    void *status = NULL;
    double x[TX * 96] = {0};
    uint8_t flags[N];
    int bad = 0;

    ec_mimo_config_default(&c);
    c.scene = scene;
    c.n_frequencies = FREQUENCIES;
    c.frequency = frequency;
    c.depth = 1;
    c.tx.at[0] = c.tx.at[1] = c.rx.at[1] = ec_graph_number(g, 0);
    c.tx.at[2] = ec_graph_variable(g, false, 0, TX, low, high);
    c.tx.count = TX;
    c.rx.at[0] = ec_graph_number(g, distance);
    c.rx.at[2] = ec_graph_samples(g, SAMPLES, 1, &n_rx, heights[0]);
    c.rx.count = RX;
    memcpy(c.tx.antenna.axis, (double[]){0, 1, 0}, sizeof c.tx.antenna.axis);
    memcpy(c.rx.antenna.axis, (double[]){0, 1, 0}, sizeof c.rx.antenna.axis);
    EC_CHECK_CALL(ec_mimo_call(g, &c, &call));
    ec_expr out[2 + METRICS] = {ec_mimo_value(g, call, EC_MIMO_CHANNEL),
                                ec_mimo_value(g, call, EC_MIMO_PATHS)};
    for (int m = 0; m < METRICS; m++)
        out[2 + m] = ec_mimo_value(g, call, metric[m]);
    EC_CHECK(out[0] >= 0 && out[1] >= 0, "%s", ec_error_text());
    EC_CHECK_CALL(ec_array_create(backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &genes, N, 1));
    EC_CHECK_CALL(backend->ops->alloc(backend, ec_lane_ld(N), &status));
    for (size_t i = 0; i < N; i++)
        for (size_t t = 0; t < TX; t++)
            x[t * X.ld + i] = height_of(i, t);
    EC_CHECK_CALL(backend->ops->upload(backend, X.data, x, TX * X.ld * sizeof *x));
    ec_executor_info info = {.n_outputs = 2 + METRICS, .outputs = out, .max_candidates = N};
    EC_CHECK_CALL(ec_executor_create(g, backend, &info, &executor));
    EC_CHECK_CALL(ec_executor_run(executor, &X, NULL, NULL, status, N, 0));
    EC_CHECK_CALL(backend->ops->download(backend, flags, status, N));
    const ec_array *h = ec_executor_output(executor, 0), *paths = ec_executor_output(executor, 1);
    size_t bytes = ec_array_bytes(h), count_bytes = ec_array_bytes(paths);
    ec_c128 *got = malloc(bytes);
    double *count = malloc(count_bytes);
    EC_CHECK(got && count, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, got, h->data, bytes));
    EC_CHECK_CALL(backend->ops->download(backend, count, paths->data, count_bytes));
    for (size_t i = 0; i < N; i++) {
        double mine[2 * FREQUENCIES * RX * TX], want[2 * FREQUENCIES * RX * TX];
        bool below = height_of(i, 0) < 0;
        EC_CHECK(flags[i] == (below ? EC_CANDIDATE_MISPLACED : 0), "design %zu has status %d", i,
                 flags[i]);
        for (size_t s = 0; s < SAMPLES && !below; s++) {
            for (size_t e = 0; e < elements; e++) {
                size_t f = e / (RX * TX), r = e / TX % RX, t = e % TX;
                ec_c128 one = got[s * h->sample_stride + e * h->ld + i];
                mine[2 * e] = one.re;
                mine[2 * e + 1] = one.im;
                two_rays(EC_LIGHT_SPEED / frequency[f], height_of(i, t), heights[s][r],
                         want + 2 * e);
                EC_CHECK(count[s * paths->sample_stride + (r * TX + t) * paths->ld + i] == 2,
                         "design %zu", i);
            }
            /* phases of 500 turns are right to 1e-12 */
            bad |= ec_compare_f64("channels", mine, want, 2 * elements, 1e-10);
        }
    }
    bad |= check_metrics(backend, executor);
    free(got);
    free(count);
    ec_executor_destroy(&executor);
    ec_array_release(backend, &X);
    backend->ops->release(backend, status);
    return bad;
}

static int run_links(ec_backend *backend)
{
    ec_scene *scene = NULL;
    ec_graph *g = NULL;
    int bad = make_ground(&scene);

    EC_CHECK_CALL(ec_graph_create(&g));
    bad = bad ? bad : links(backend, g, scene);
    ec_graph_destroy(&g);
    ec_scene_destroy(&scene);
    return bad;
}

/* ---- antennas and their coupling ---------------------------------------------------------------- */

enum { USERS = 2, PORTS = 2 };

/* A dipole along z in a table of 2 degrees: right to 1e-7 of its largest field. */
static int make_table(ec_element_pattern *table)
{
    enum { ROWS = 91, COLUMNS = 180 };
    double theta[ROWS], phi[COLUMNS];
    ec_c128 *e = calloc(ROWS * COLUMNS, sizeof *e);
    ec_far_field *field = NULL;

    EC_CHECK(e, "out of memory");
    for (int k = 0; k < COLUMNS; k++)
        phi[k] = 2 * EC_PI * k / COLUMNS;
    for (int i = 0; i < ROWS; i++) {
        theta[i] = EC_PI * i / (ROWS - 1);
        double sine = sin(theta[i]);
        for (int k = 0; k < COLUMNS && i > 0 && i < ROWS - 1; k++)
            e[i * COLUMNS + k].re = cos(0.5 * EC_PI * cos(theta[i])) / sine;
    }
    EC_CHECK_CALL(ec_far_field_create(ROWS, theta, COLUMNS, phi, e, NULL, 0, &field));
    EC_CHECK_CALL(ec_element_table_create(field, table));
    ec_far_field_destroy(&field);
    free(e);
    return 0;
}

/* Of a half-wave or short dipole along a unit vector. */
static void dipole_field(const double axis[3], bool half_wave, const double d[3], double g[3])
{
    double c = ec_dot3(axis, d), sine2 = 1 - c * c;
    double f = half_wave ? sqrt(1.6409223769) * cos(0.5 * EC_PI * c) / sine2 : sqrt(1.5);

    for (int k = 0; k < 3; k++)
        g[k] = f * (c * d[k] - axis[k]);
}

static const double send_at[PORTS][3] = {{0, 0, 1}, {0, 0.06, 1.5}};
static const double hear_at[USERS * PORTS][3] = {
    {9, 2, 1.2}, {9, 2.1, 1.2}, {3, -7, 4}, {3.1, -7, 4}};
/* the table's z points along the first, with up; the others are dipoles */
static const double send_axis[PORTS][3] = {{0.6, 0, 0.8}, {0, 0, 1}};
static const double hear_axis[USERS * PORTS][3] = {{0, 0, 1}, {0, 0.6, 0.8}, {0, 0, 1}, {1, 0, 0}};
static const ec_c128 s_send[4] = {{0.1, -0.2}, {0.3, 0.1}, {0.3, 0.1}, {-0.1, 0.2}};
static const ec_c128 s_hear[4] = {{-0.2, 0.1}, {0.1, 0.4}, {0.1, 0.4}, {0.3, 0}};

static double moved(size_t design)
{
    return -4 + 0.11 * (double)(design % 71);
}

static ec_c128 alone(size_t design, size_t r, size_t t, double wavelength)
{
    double d[3], back[3], g[3], f[3], length = 0;

    for (int k = 0; k < 3; k++) {
        d[k] = hear_at[r][k] - (k == 0 ? moved(design) : send_at[t][k]);
        length += d[k] * d[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        back[k] = -(d[k] /= length);
    dipole_field(send_axis[t], true, d, g);
    dipole_field(hear_axis[r], r % 2, back, f);
    double turns = length / wavelength, phase = -2 * EC_PI * (turns - floor(turns));
    double size = wavelength / (4 * EC_PI * length) * ec_dot3(g, f);
    return ec_c128_of(size * cos(phase), size * sin(phase));
}

static ec_c128 passes(const ec_c128 s[4], size_t i, size_t j)
{
    return ec_c128_of((i == j ? 1 : 0) - s[2 * i + j].re, -s[2 * i + j].im);
}

/* Of one user and a frequency: (I - S) H (I - S). */
static void coupled(size_t design, size_t user, double wavelength, double *want)
{
    for (size_t i = 0; i < PORTS; i++)
        for (size_t j = 0; j < PORTS; j++) {
            ec_c128 sum = {0, 0};
            for (size_t a = 0; a < PORTS; a++)
                for (size_t b = 0; b < PORTS; b++) {
                    ec_c128 h = alone(design, user * PORTS + a, b, wavelength);
                    h = ec_c128_multiply(ec_c128_multiply(passes(s_hear, i, a), h),
                                         passes(s_send, b, j));
                    sum = ec_c128_add(sum, h);
                }
            want[2 * (i * PORTS + j)] = sum.re;
            want[2 * (i * PORTS + j) + 1] = sum.im;
        }
}

static int antennas(ec_backend *backend, ec_graph *g, const ec_scene *scene,
                    const ec_element_pattern *table)
{
    const double low = -5, high = 5, zero = 0;
    const int32_t two = PORTS, four = USERS * PORTS, gene = 1;
    const ec_touchstone send = {2, 1, (double *)(uintptr_t)&zero, (ec_c128 *)(uintptr_t)s_send,
                                NULL};
    const ec_touchstone hear = {2, 1, (double *)(uintptr_t)&zero, (ec_c128 *)(uintptr_t)s_hear,
                                NULL};
    ec_mimo_antenna tx[PORTS], rx[USERS * PORTS];
    ec_mimo_config c;
    ec_call *call = NULL;
    ec_executor *executor = NULL;
    ec_array X = {0};
    void *status = NULL;
    double x[96] = {0}, at[USERS * PORTS];
    int bad = 0;

    ec_mimo_config_default(&c);
    c.scene = scene;
    c.n_frequencies = FREQUENCIES;
    c.frequency = frequency;
    c.depth = 0;
    c.tx.at[0] = ec_graph_variable(g, false, 0, 0, &low, &high);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < PORTS; i++)
            at[i] = send_at[i][k];
        if (k > 0)
            c.tx.at[k] = ec_graph_constant(g, 1, &two, at);
        for (int i = 0; i < USERS * PORTS; i++)
            at[i] = hear_at[i][k];
        c.rx.at[k] = ec_graph_constant(g, 1, &four, at);
    }
    for (int i = 0; i < PORTS; i++) {
        tx[i] = (ec_mimo_antenna){.kind = i ? EC_ELEMENT_KIND_HALF_WAVE : EC_ELEMENT_KIND_TABLE,
                                  .table = i ? NULL : table};
        memcpy(tx[i].axis, send_axis[i], sizeof tx[i].axis);
    }
    tx[0].up[1] = 2;
    for (int i = 0; i < USERS * PORTS; i++) {
        rx[i] = (ec_mimo_antenna){.kind = i % 2 ? EC_ELEMENT_KIND_HALF_WAVE
                                                : EC_ELEMENT_KIND_SHORT_DIPOLE};
        memcpy(rx[i].axis, hear_axis[i], sizeof rx[i].axis);
    }
    c.tx.count = PORTS;
    c.rx.count = USERS * PORTS;
    c.receivers = USERS;
    c.tx.each = tx;
    c.rx.each = rx;
    c.tx.coupling = &send;
    c.rx.coupling = &hear;
    EC_CHECK_CALL(ec_mimo_call(g, &c, &call));
    ec_expr out = ec_mimo_value(g, call, EC_MIMO_CHANNEL);
    EC_CHECK(out >= 0, "%s", ec_error_text());
    EC_CHECK_CALL(ec_array_create(backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &gene, N, 1));
    EC_CHECK_CALL(backend->ops->alloc(backend, ec_lane_ld(N), &status));
    for (size_t i = 0; i < N; i++)
        x[i] = moved(i);
    EC_CHECK_CALL(backend->ops->upload(backend, X.data, x, X.ld * sizeof *x));
    ec_executor_info info = {.n_outputs = 1, .outputs = &out, .max_candidates = N};
    EC_CHECK_CALL(ec_executor_create(g, backend, &info, &executor));
    EC_CHECK_CALL(ec_executor_run(executor, &X, NULL, NULL, status, N, 0));
    const ec_array *h = ec_executor_output(executor, 0);
    ec_c128 *got = malloc(ec_array_bytes(h));
    EC_CHECK(got, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, got, h->data, ec_array_bytes(h)));
    for (size_t i = 0; i < N; i++) {
        enum { EACH = PORTS * PORTS, ALL = FREQUENCIES * USERS * EACH };
        double mine[2 * ALL], want[2 * ALL];
        for (size_t e = 0; e < ALL; e++) {
            mine[2 * e] = got[e * h->ld + i].re;
            mine[2 * e + 1] = got[e * h->ld + i].im;
        }
        for (size_t b = 0; b < FREQUENCIES * USERS; b++)
            coupled(i, b % USERS, EC_LIGHT_SPEED / frequency[b / USERS], want + 2 * EACH * b);
        bad |= ec_compare_f64("coupled channels", mine, want, 2 * ALL, 1e-6);
    }
    free(got);
    ec_executor_destroy(&executor);
    ec_array_release(backend, &X);
    backend->ops->release(backend, status);
    return bad;
}

static int run_antennas(ec_backend *backend)
{
    ec_element_pattern table;
    ec_scene *scene = NULL;
    ec_graph *g = NULL;

    if (make_ground(&scene) || make_table(&table))
        return 1;
    EC_CHECK_CALL(ec_graph_create(&g));
    int bad = antennas(backend, g, scene, &table);
    ec_graph_destroy(&g);
    ec_element_table_destroy(&table);
    ec_scene_destroy(&scene);
    return bad;
}

const ec_case ec_cases_mimo[] = {
    {"mimo/links", run_links},
    {"mimo/antennas", run_antennas},
    {NULL, NULL},
};
