/* Links over concrete whose transmitters are those of groups and whose frequencies are samples, against
 * two rays in closed form; and the same run captured and replayed. */
#include "backends.h"

#include "core/executor.h"
#include "evaluators/mimo/mimo.h"
#include "evaluators/mimo/scene_build.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 70, GROUPS = 4, TX = 2, RX = 3, SAMPLES = 5, TONES = 2, PAIRS = TX * RX };

static const double distance = 30;

static int make_ground(ec_scene **scene)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;
    ec_material concrete;
    ec_shape shape;
    int32_t index;

    ec_shape_default(EC_SHAPE_GROUND, &shape);
    shape.size[0] = shape.size[1] = 200;
    ec_scene_options_default(&options);
    EC_CHECK_CALL(ec_scene_builder_create(&builder));
    EC_CHECK_CALL(ec_material_by_name("itu_concrete", &concrete));
    EC_CHECK_CALL(ec_scene_builder_material(builder, &concrete, &index));
    EC_CHECK_CALL(ec_scene_builder_shape(builder, "ground", index, &shape));
    EC_CHECK_CALL(ec_scene_build(builder, &options, scene));
    ec_scene_builder_destroy(&builder);
    return 0;
}

static double tone(size_t sample, size_t f)
{
    return 2e9 + 3e8 * (double)sample + 1.7e9 * (double)f;
}

static double high(size_t group, size_t antenna)
{
    return 3 + 0.21 * (double)((group * 5 + antenna * 3) % 11);
}

static double low(size_t design, size_t antenna)
{
    return 1 + 0.013 * (double)((design * 31 + antenna * 17) % 67);
}

static size_t group_of(size_t design)
{
    return design * 7 % GROUPS;
}

static double complex ray(double wavelength, double r)
{
    double turns = r / wavelength;
    return wavelength / (4 * EC_PI * r) * cexp(-2 * EC_PI * I * (turns - floor(turns)));
}

/* Polarised across the plane of incidence; P.2040-3, table 3. */
static double complex two_rays(double f, double tx, double rx)
{
    double direct = hypot(distance, tx - rx), over = hypot(distance, tx + rx);
    double c = (tx + rx) / over, ghz = 1e-9 * f, w = EC_LIGHT_SPEED / f;
    double complex eps = 5.24 - I * 0.0462 * pow(ghz, 0.7822) / (2 * EC_PI * f * 8.8541878128e-12);
    double complex q = csqrt(eps - (1 - c * c));
    return ray(w, direct) + (c - q) / (c + q) * ray(w, over);
}

typedef struct shared {
    ec_graph *graph;
    ec_array X, XG;
    void *map, *status;
    ec_executor *executor;
} shared;

static int fill(ec_backend *backend, ec_array *a, size_t n, double (*of)(size_t, size_t))
{
    double *x = calloc(a->elements * a->ld, sizeof *x);
    EC_CHECK(x, "out of memory");
    for (size_t e = 0; e < a->elements; e++)
        for (size_t i = 0; i < n; i++)
            x[e * a->ld + i] = of(i, e);
    EC_CHECK_CALL(backend->ops->upload(backend, a->data, x, a->elements * a->ld * sizeof *x));
    free(x);
    return 0;
}

static int make(ec_backend *backend, const ec_scene *scene, shared *s)
{
    const double least[RX] = {0.5, 0.5, 0.5}, most[RX] = {7, 7, 7};
    const int32_t two = TX, three = RX, tones = TONES;
    int32_t map[128] = {0};
    double list[SAMPLES][TONES];
    ec_mimo_config c;
    ec_call *call = NULL;

    for (size_t k = 0; k < SAMPLES; k++)
        for (size_t f = 0; f < TONES; f++)
            list[k][f] = tone(k, f);
    for (size_t i = 0; i < N; i++)
        map[i] = (int32_t)group_of(i);
    EC_CHECK_CALL(ec_graph_create(&s->graph));
    ec_mimo_config_default(&c);
    c.scene = scene;
    c.depth = 1;
    c.frequencies = ec_graph_samples(s->graph, SAMPLES, 1, &tones, list[0]);
    c.tx.at[0] = c.tx.at[1] = c.rx.at[1] = ec_graph_number(s->graph, 0);
    c.tx.at[2] = ec_graph_variable(s->graph, true, 0, TX, least, most);
    c.tx.count = TX;
    c.rx.at[0] = ec_graph_number(s->graph, distance);
    c.rx.at[2] = ec_graph_variable(s->graph, false, 0, RX, least, most);
    c.rx.count = RX;
    memcpy(c.tx.antenna.axis, (double[]){0, 1, 0}, sizeof c.tx.antenna.axis);
    memcpy(c.rx.antenna.axis, (double[]){0, 1, 0}, sizeof c.rx.antenna.axis);
    EC_CHECK_CALL(ec_mimo_call(s->graph, &c, &call));
    ec_expr h = ec_mimo_value(s->graph, call, EC_MIMO_CHANNEL);
    EC_CHECK(h >= 0, "%s", ec_error_text());
    EC_CHECK_CALL(ec_array_create(backend, &s->X, EC_F64, EC_AXIS_CANDIDATE, 1, &three, N, 1));
    EC_CHECK_CALL(ec_array_create(backend, &s->XG, EC_F64, EC_AXIS_GROUP, 1, &two, GROUPS, 1));
    EC_CHECK_CALL(backend->ops->alloc(backend, sizeof map, &s->map));
    EC_CHECK_CALL(backend->ops->upload(backend, s->map, map, sizeof map));
    EC_CHECK_CALL(backend->ops->alloc(backend, ec_lane_ld(N), &s->status));
    ec_executor_info info = {
        .n_outputs = 1, .outputs = &h, .max_candidates = N, .max_groups = GROUPS};
    EC_CHECK_CALL(ec_executor_create(s->graph, backend, &info, &s->executor));
    return fill(backend, &s->X, N, low) || fill(backend, &s->XG, GROUPS, high);
}

static int run(shared *s)
{
    EC_CHECK_CALL(ec_executor_run(s->executor, &s->X, &s->XG, s->map, s->status, N, GROUPS));
    return 0;
}

/* The channels of all designs are right, and their bits are those of `again` where that is not NULL;
 * else they go there. */
static int judge(ec_backend *backend, shared *s, ec_c128 **again)
{
    const ec_array *h = ec_executor_output(s->executor, 0);
    size_t bytes = ec_array_bytes(h);
    ec_c128 *got = malloc(bytes);
    uint8_t flags[N];
    int bad = 0;

    EC_CHECK(got, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, got, h->data, bytes));
    EC_CHECK_CALL(backend->ops->download(backend, flags, s->status, N));
    for (size_t i = 0; i < N; i++) {
        double mine[2 * SAMPLES * TONES * PAIRS], want[2 * SAMPLES * TONES * PAIRS];
        EC_CHECK(flags[i] == 0, "design %zu has status %d", i, flags[i]);
        for (size_t e = 0; e < SAMPLES * TONES * PAIRS; e++) {
            size_t k = e / (TONES * PAIRS), f = e / PAIRS % TONES, r = e / TX % RX, t = e % TX;
            size_t at = k * h->sample_stride + e % (TONES * PAIRS) * h->ld + i;
            double complex x = two_rays(tone(k, f), high(group_of(i), t), low(i, r));
            mine[2 * e] = got[at].re;
            mine[2 * e + 1] = got[at].im;
            want[2 * e] = creal(x);
            want[2 * e + 1] = cimag(x);
            EC_CHECK(!*again || memcmp(&got[at], &(*again)[at], sizeof *got) == 0,
                     "design %zu has other bits when it is replayed", i);
        }
        /* phases of some hundred turns are right to 1e-12 */
        bad |= ec_compare_f64("channels", mine, want, 2 * SAMPLES * TONES * PAIRS, 1e-10);
    }
    if (*again)
        free(got);
    else
        *again = got;
    return bad;
}

static int replay(ec_backend *backend, shared *s, ec_c128 **first)
{
    ec_capture *capture = NULL;
    const ec_array *h = ec_executor_output(s->executor, 0);

    EC_CHECK(ec_executor_capturable(s->executor), "links cannot be captured");
    if (!backend->ops->capture_begin)
        return 0;
    EC_CHECK_CALL(backend->ops->capture_begin(backend));
    int bad = run(s);
    EC_CHECK_CALL(backend->ops->capture_end(backend, &capture));
    EC_CHECK_CALL(backend->ops->fill(backend, h->data, 0, ec_array_bytes(h)));
    EC_CHECK_CALL(backend->ops->replay(backend, capture));
    bad = bad ? bad : judge(backend, s, first);
    backend->ops->capture_destroy(backend, &capture);
    return bad;
}

static int run_shared(ec_backend *backend)
{
    ec_scene *scene = NULL;
    shared s = {0};
    ec_c128 *first = NULL;
    int bad = make_ground(&scene);

    bad = bad ? bad : make(backend, scene, &s);
    bad = bad ? bad : run(&s);
    bad = bad ? bad : judge(backend, &s, &first);
    bad = bad ? bad : replay(backend, &s, &first);
    free(first);
    ec_executor_destroy(&s.executor);
    ec_array_release(backend, &s.X);
    ec_array_release(backend, &s.XG);
    backend->ops->release(backend, s.map);
    backend->ops->release(backend, s.status);
    ec_graph_destroy(&s.graph);
    ec_scene_destroy(&scene);
    return bad;
}

const ec_case ec_cases_mimo_shared[] = {
    {"mimo/shared", run_shared},
    {NULL, NULL},
};
