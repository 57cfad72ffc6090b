/* Links over a conducting ground, designs and samples at once, against two rays in closed form. */
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
        EC_CHECK(flags[i] == (below ? EC_CANDIDATE_EVALUATOR : 0), "design %zu has status %d", i,
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

const ec_case ec_cases_mimo[] = {
    {"mimo/links", run_links},
    {NULL, NULL},
};
