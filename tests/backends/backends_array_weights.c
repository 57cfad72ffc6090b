/* backends_array_weights.c: optimal weights on every backend against the plainest CPU level, with
 * failed designs among good ones, a sample axis, and in chunks of two sizes: the same bits. (Their
 * values are compared with an independent dense solution in tests/physics/test_array_weights.c.) */
#include "backends.h"

#include "array_weights.h"
#include "core/executor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 13, DESIGNS = 70, GENES = ELEMENTS + 1, DIRECTIONS = 101, SAMPLES = 2 };
enum { VALUES = 2 * ELEMENTS * DESIGNS * SAMPLES };

/* What a case is about besides its method. */
typedef enum variant { PLAIN, OWN, COUPLED, ADJOINT } variant;

typedef struct answers {
    double value[VALUES]; /* real and imaginary part of each weight */
    uint8_t status[DESIGNS];
} answers;

static double gene(size_t c, size_t g)
{
    uint64_t h = (c * 7919u + g + 1) * 0x9E3779B97F4A7C15ull;

    h ^= h >> 31;
    h *= 0xBF58476D1CE4E5B9ull;
    h ^= h >> 29;
    return (double)(h >> 11) * 0x1p-53;
}

/* cos elements whose normals fan out. */
static int fan(ec_array_config *array, ec_element_frame *frames)
{
    ec_array_config_default(array);
    EC_CHECK_CALL(ec_element_pattern_init(EC_ELEMENT_KIND_COSQ, 1.0, NULL, &array->element));
    for (int m = 0; m < ELEMENTS; m++) {
        const double normal[3] = {0.05 * (m - 6), 0.02 * m, 1.0};
        EC_CHECK_CALL(ec_element_frame_of(normal, 0.1 * m, &frames[m]));
    }
    array->frames = frames;
    return 0;
}

/* The real and the imaginary part of the weights as two outputs, or (ADJOINT) the gradient of their
 * sum over the positions twice. */
static int build(ec_graph *graph, ec_weights_method method, variant kind, ec_expr out[2])
{
    static ec_c128 scattering[2 * ELEMENTS * ELEMENTS];
    double frequency[2] = {2.9e8, 3.8e8}, reference[ELEMENTS];
    ec_touchstone ports = {ELEMENTS, 2, frequency, scattering, reference};
    ec_element_frame frames[ELEMENTS];
    ec_array_config array;
    double lo[GENES], hi[GENES], u[DIRECTIONS], v[DIRECTIONS];
    const double wavelength[SAMPLES] = {1.0, 0.8}, power[2] = {100.0, 3.0};
    const double jam_u[2] = {0.45, -0.7}, jam_v[2] = {0.1, 0.0};
    int32_t two = 2;
    ec_weights_config config;
    ec_weights_inputs in;
    ec_expr amplitude, phase;

    for (int i = 0; i < GENES; i++) {
        lo[i] = i < ELEMENTS ? 0.5 * i - 0.15 : 0.0;
        hi[i] = i < ELEMENTS ? 0.5 * i + 0.15 : 0.5;
    }
    for (int i = 0; i < DIRECTIONS; i++) {
        u[i] = -1.0 + 2.0 * i / (DIRECTIONS - 1);
        v[i] = 0.0;
    }
    ec_weights_config_default(&config);
    config.method = method;
    config.elements = ELEMENTS;
    config.nulls = method == EC_WEIGHTS_THINNING ? 0 : 1;
    config.filled = 8;
    config.sll_db = -25.0;
    config.noise = EC_NOISE_ISOTROPIC;
    config.interferers = 2;
    config.loading = 1e-4;
    config.directions = DIRECTIONS;
    config.u = u;
    config.v = v;
    config.exclude = 0.25;
    config.iterations = 4;
    if (kind == OWN || kind == ADJOINT) {
        if (fan(&array, frames))
            return 1;
        config.array = &array;
        config.noise = EC_NOISE_WHITE;
    }
    if (kind == COUPLED) {
        for (size_t i = 0; i < 2 * ELEMENTS * ELEMENTS; i++) {
            scattering[i].re = 0.1 * gene(i, 1) - 0.05;
            scattering[i].im = 0.1 * gene(i, 2) - 0.05;
        }
        for (int m = 0; m < ELEMENTS; m++)
            reference[m] = 50.0 + m;
        config.coupling = &ports;
    }
    ec_weights_inputs_default(&in);
    in.x = ec_graph_variable(graph, false, 0, ELEMENTS, lo, hi);
    in.wavelength = kind == ADJOINT ? ec_graph_number(graph, 1.0)
                                    : ec_graph_samples(graph, SAMPLES, 0, NULL, wavelength);
    in.v0 = ec_graph_number(graph, 0.1);
    in.null_u = ec_graph_variable(graph, false, ELEMENTS, 0, lo + ELEMENTS, hi + ELEMENTS);
    in.null_v = in.v0;
    in.interference_u = ec_graph_constant(graph, 1, &two, jam_u);
    in.interference_v = ec_graph_constant(graph, 1, &two, jam_v);
    in.interference_power = ec_graph_constant(graph, 1, &two, power);
    if (method == EC_WEIGHTS_THINNING)
        in.start = ec_graph_binary(graph, EC_OP_MUL, in.x, in.null_u);
    EC_CHECK_CALL(ec_weights_call(graph, &config, &in, &amplitude, &phase));
    out[0] = ec_graph_binary(graph, EC_OP_MUL, amplitude, ec_graph_unary(graph, EC_OP_COS, phase));
    out[1] = ec_graph_binary(graph, EC_OP_MUL, amplitude, ec_graph_unary(graph, EC_OP_SIN, phase));
    EC_CHECK(out[1] >= 0, "%s", ec_error_text());
    if (kind == ADJOINT) {
        ec_expr sum =
            ec_graph_unary(graph, EC_OP_SUM, ec_graph_binary(graph, EC_OP_ADD, out[0], out[1]));
        EC_CHECK_CALL(ec_graph_gradient(graph, sum, 1, &in.x, &out[0]));
        out[1] = ec_graph_unary(graph, EC_OP_ABS, out[0]);
    }
    return 0;
}

/* Design 5 has an element out of range, design 6 its null in the look direction or, thinned, no
 * start. */
static void fill_designs(const ec_array *x, bool thins, double *host)
{
    for (size_t g = 0; g < GENES; g++)
        for (size_t c = 0; c < x->ld; c++) {
            double part = gene(c, g);
            host[g * x->ld + c] =
                g < ELEMENTS ? 0.5 * (double)g - 0.15 + 0.3 * part : 0.1 + 0.4 * part;
        }
    host[3 * x->ld + 5] = 1e3;
    host[ELEMENTS * x->ld + 6] = thins ? (double)NAN : 0.0;
}

static int run(ec_backend *backend, ec_weights_method method, variant kind, size_t chunk,
               answers *a)
{
    const size_t samples = kind == ADJOINT ? 1 : SAMPLES;
    ec_graph *graph = NULL;
    ec_executor *executor = NULL;
    ec_array x;
    ec_expr out[2];
    uint8_t *status = NULL;
    const int32_t shape = GENES;

    EC_CHECK_CALL(ec_graph_create(&graph));
    if (build(graph, method, kind, out))
        return 1;
    ec_log quiet = {EC_LOG_ERROR, NULL, NULL};
    ec_executor_info info = {.outputs = out,
                             .n_outputs = 2,
                             .max_candidates = DESIGNS,
                             .fidelity = EC_SEARCH,
                             .chunk = chunk,
                             .log = &quiet};
    EC_CHECK_CALL(ec_executor_create(graph, backend, &info, &executor));
    EC_CHECK_CALL(ec_array_create(backend, &x, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, DESIGNS, 1));
    double *host = (double *)malloc(ec_array_bytes(&x));
    EC_CHECK(host, "out of memory");
    fill_designs(&x, method == EC_WEIGHTS_THINNING, host);
    EC_CHECK_CALL(backend->ops->upload(backend, x.data, host, ec_array_bytes(&x)));
    free(host);
    EC_CHECK_CALL(backend->ops->alloc(backend, ec_lane_ld(DESIGNS), (void **)&status));
    EC_CHECK_CALL(ec_executor_run(executor, &x, NULL, NULL, status, DESIGNS, 0));
    EC_CHECK_CALL(backend->ops->download(backend, a->status, status, DESIGNS));
    double *to = a->value;
    for (int k = 0; k < 2; k++) {
        const ec_array *o = ec_executor_output(executor, k);
        EC_CHECK(o->samples == samples && o->elements == ELEMENTS, "%zu samples of %zu elements",
                 o->samples, o->elements);
        for (size_t s = 0; s < samples; s++)
            for (size_t e = 0; e < ELEMENTS; e++, to += DESIGNS)
                EC_CHECK_CALL(backend->ops->download(
                    backend, to, (const double *)o->data + s * o->sample_stride + e * o->ld,
                    DESIGNS * sizeof(double)));
    }
    backend->ops->release(backend, status);
    ec_array_release(backend, &x);
    ec_executor_destroy(&executor);
    ec_graph_destroy(&graph);
    return 0;
}

static int check_method(ec_backend *backend, ec_weights_method method, variant kind)
{
    static answers want, got, chunked;
    ec_backend_info info = {.name = "cpu", .threads = 1, .isa = "v1"};
    ec_backend *plain = NULL;

    if (strcmp(ec_isa_name(EC_ISA_V1), "v1") != 0)
        info.isa = NULL;
    EC_CHECK_CALL(ec_backend_create(&info, &plain));
    memset(&want, 0, sizeof want);
    memset(&got, 0, sizeof got);
    memset(&chunked, 0, sizeof chunked);
    if (run(plain, method, kind, 0, &want) || run(backend, method, kind, 0, &got) ||
        run(backend, method, kind, 32, &chunked))
        return 1;
    ec_backend_destroy(&plain);
    EC_CHECK(memcmp(got.value, chunked.value, sizeof got.value) == 0, "chunks change the weights");
    for (size_t c = 0; c < DESIGNS; c++) {
        int status = c == 5 ? EC_CANDIDATE_OUT_OF_RANGE : c == 6 ? EC_CANDIDATE_EVALUATOR : 0;
        EC_CHECK(got.status[c] == status && want.status[c] == status,
                 "design %zu has status %d (plain: %d), expected %d", c, got.status[c],
                 want.status[c], status);
        EC_CHECK(isnan(got.value[c]) == (status != 0), "design %zu: %g", c, got.value[c]);
    }
    /* rounding, times the condition of R: below 1e5 with this loading */
    return ec_compare_f64("weights", got.value, want.value, VALUES, 1e-9);
}

static int case_lcmv(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_LCMV, PLAIN);
}

static int case_least_squares(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_LEAST_SQUARES, PLAIN);
}

static int case_minimum_sll(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_MINIMUM_SLL, PLAIN);
}

static int case_thinning(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_THINNING, PLAIN);
}

static int case_own(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_LEAST_SQUARES, OWN);
}

static int case_coupled(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_LCMV, COUPLED);
}

static int case_adjoint(ec_backend *backend)
{
    return check_method(backend, EC_WEIGHTS_LCMV, ADJOINT);
}

const ec_case ec_cases_array_weights[] = {
    {"weights/lcmv", case_lcmv},
    {"weights/least_squares", case_least_squares},
    {"weights/minimum_sll", case_minimum_sll},
    {"weights/thinning", case_thinning},
    {"weights/own", case_own},
    {"weights/coupled", case_coupled},
    {"weights/adjoint", case_adjoint},
    {NULL, NULL},
};
