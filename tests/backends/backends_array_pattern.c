/* backends_array_pattern.c: the array pattern on every backend, against the same evaluator on the
 * plainest CPU level and against a long double direct sum that shares no code with it.
 *
 * A problem is planned and run by hand, without an executor: inputs with and without a candidate
 * axis and a sample axis, outputs between guard words.
 */
#include "backends.h"

#include "array_pattern.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = 9,
    OUTPUTS_MAX = 20,
    CANDIDATES = 70,
    FEW = 40, /* a strip of lanes and a part of one */
    X = 0,
    Y,
    Z,
    AMPLITUDE,
    PHASE,
    WAVELENGTH,
    U0
};

typedef struct problem {
    ec_graph *graph;
    ec_call *call;
    ec_array_config config;
    int32_t n_out;
    ec_expr out[OUTPUTS_MAX];
    int axes[INPUTS];
    int32_t count[INPUTS]; /* elements of each input */
    double lo[INPUTS], hi[INPUTS];
    double *value[INPUTS]; /* [samples][elements][candidates] */
    size_t n, samples;
    bool sliced; /* elements lie one after another along x and y, each in a range of its own */
    uint64_t seed;
    double *a, *b;
} problem;

static double draw(problem *p, double lo, double hi)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(p->seed >> 11) * 0x1p-53;
}

static double *range(double from, double to, int32_t n)
{
    double *a = (double *)malloc((size_t)n * sizeof *a);

    for (int32_t i = 0; a && i < n; i++)
        a[i] = from + (to - from) * i / (n - 1);
    return a;
}

/* A planar or, with depth, spatial array whose every input varies as `axes` says. */
static int problem_open(problem *p, ec_array_grid_kind kind, int32_t elements, int32_t na,
                        int32_t nb, double extent, bool complex_weights, double depth,
                        uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->n = CANDIDATES;
    p->samples = 1;
    ec_array_config_default(&p->config);
    p->config.kind = kind;
    p->config.elements = elements;
    bool angles = kind == EC_ARRAY_CUT_THETA || kind == EC_ARRAY_GRID_THETA_PHI;
    double limit = angles ? EC_PI / 2 : 1.0;
    p->a = range(kind == EC_ARRAY_GRID_THETA_PHI ? 0.0 : -limit, limit, na);
    p->b = range(angles ? 0.0 : -1.0, angles ? 2 * EC_PI : 1.0, nb > 1 ? nb : 2);
    p->config.a = p->a;
    p->config.b = p->b;
    p->config.na = na;
    p->config.nb = nb;
    static const double lo[INPUTS] = {-1, -1, -1, 0.5, -0.6, 0.95, 0, 0, 1};
    static const double hi[INPUTS] = {1, 1, 1, 1.0, 0.6, 1.05, 0, 0, 1};
    for (int i = 0; i < INPUTS; i++) {
        double scale = i == X || i == Y ? extent : i == Z ? depth : 1.0;
        p->lo[i] = lo[i] * scale;
        p->hi[i] = hi[i] * scale;
        p->count[i] = i <= PHASE ? elements : 1;
        p->axes[i] = EC_AXIS_CANDIDATE;
    }
    if (kind == EC_ARRAY_CUT_U || kind == EC_ARRAY_CUT_THETA)
        p->lo[Y] = p->hi[Y] = 0.0;
    if (!complex_weights) {
        p->lo[PHASE] = p->hi[PHASE] = 0.0;
        p->axes[PHASE] = 0;
    } else {
        p->lo[U0] = -0.1;
        p->hi[U0] = 0.1;
    }
    if (depth == 0.0) {
        p->axes[Z] = 0;
        p->count[Z] = 1;
    }
    p->axes[7] = p->axes[8] = p->axes[WAVELENGTH] = 0;
    EC_CHECK_CALL(ec_graph_create(&p->graph));
    return 0;
}

static int problem_call(problem *p)
{
    ec_expr in[INPUTS];

    for (int i = 0; i < INPUTS; i++) {
        double lo[256], hi[256];
        for (int32_t e = 0; e < p->count[i]; e++) {
            double width = p->hi[i] - p->lo[i], share = 1.0 / p->count[i];
            bool slice = p->sliced && (i == X || i == Y);
            lo[e] = p->lo[i] + (slice ? e * share * width : 0.0);
            hi[e] = slice ? lo[e] + share * width : p->hi[i];
        }
        in[i] = p->count[i] == 1 ? ec_graph_variable(p->graph, false, i * 256, 0, lo, hi)
                                 : ec_graph_variable(p->graph, false, i * 256, p->count[i], lo, hi);
        size_t lanes = p->axes[i] & EC_AXIS_CANDIDATE ? p->n : 1;
        size_t samples = p->axes[i] & EC_AXIS_SAMPLE ? p->samples : 1;
        size_t total = lanes * samples * (size_t)p->count[i];
        p->value[i] = (double *)malloc(total * sizeof(double));
        EC_CHECK(p->value[i], "out of memory");
        for (size_t k = 0; k < total; k++)
            p->value[i][k] = draw(p, p->lo[i], p->hi[i]);
        for (size_t k = 0; k < total && p->sliced && (i == X || i == Y); k++) {
            size_t e = k / lanes % (size_t)p->count[i];
            p->value[i][k] = draw(p, lo[e], hi[e]);
        }
    }
    ec_array_inputs inputs = {in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8]};
    EC_CHECK_CALL(ec_array_call(p->graph, &p->config, &inputs, &p->call));
    return 0;
}

static int problem_add(problem *p, ec_expr metric)
{
    EC_CHECK(metric >= 0, "%s", ec_error_text());
    p->out[p->n_out++] = metric;
    return 0;
}

static void problem_close(problem *p)
{
    for (int i = 0; i < INPUTS; i++)
        free(p->value[i]);
    free(p->a);
    free(p->b);
    ec_graph_destroy(&p->graph);
}

static double value_at(const problem *p, int input, size_t c, size_t s, int32_t e)
{
    size_t lanes = p->axes[input] & EC_AXIS_CANDIDATE ? p->n : 1;
    size_t sample = p->axes[input] & EC_AXIS_SAMPLE ? s : 0;

    e = p->count[input] > 1 ? e : 0;
    return p->value[input]
                   [(sample * (size_t)p->count[input] + (size_t)e) * lanes + (lanes > 1 ? c : 0)];
}

/* ---- running ---- */

/* What a run gave: output k at result[k][(s elements + e) n + c]; complex ones as pairs. */
typedef struct results {
    double *value[OUTPUTS_MAX];
    size_t elements[OUTPUTS_MAX];
    uint8_t status[CANDIDATES];
} results;

static void results_free(results *r)
{
    for (int k = 0; k < OUTPUTS_MAX; k++)
        free(r->value[k]);
}

static int upload_input(ec_backend *backend, const problem *p, const double *value, int axes,
                        int32_t count, size_t n, ec_array *array, ec_guarded *memory)
{
    int32_t shape[1] = {count};

    ec_array_describe(array, EC_F64, axes, count > 1 ? 1 : 0, shape, n, p->samples);
    EC_CHECK_CALL(ec_guarded_create(backend, ec_array_bytes(array), memory));
    array->data = memory->data;
    double *host = (double *)calloc(ec_array_bytes(array), 1);
    EC_CHECK(host, "out of memory");
    size_t lanes = axes & EC_AXIS_CANDIDATE ? p->n : 1;
    for (size_t s = 0; s < array->samples; s++)
        for (size_t e = 0; e < (size_t)count; e++)
            for (size_t c = 0; c < array->lanes; c++)
                host[s * array->sample_stride + e * array->ld + c] =
                    value[(s * (size_t)count + e) * lanes + c];
    int status = backend->ops->upload(backend, array->data, host, ec_array_bytes(array));
    free(host);
    EC_CHECK_CALL(status);
    return 0;
}

static int download_output(ec_backend *backend, const ec_array *array, size_t n, double **value)
{
    size_t words = array->dtype == EC_C128 ? 2 : 1;
    double *host = (double *)malloc(ec_array_bytes(array));

    *value = (double *)malloc(array->samples * array->elements * n * words * sizeof(double));
    EC_CHECK(host && *value, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, host, array->data, ec_array_bytes(array)));
    for (size_t s = 0; s < array->samples; s++)
        for (size_t e = 0; e < array->elements; e++)
            for (size_t k = 0; k < n * words; k++)
                (*value)[(s * array->elements + e) * n * words + k] =
                    host[words * (s * array->sample_stride + e * array->ld) + k];
    free(host);
    return 0;
}

/* Plans and runs the first n candidates; VJP with seeds of 1, 1.5, 2 ... for the outputs. */
static int run(ec_backend *backend, problem *p, ec_mode mode, ec_fidelity fidelity, size_t n,
               results *r)
{
    ec_array in[INPUTS + OUTPUTS_MAX], out[OUTPUTS_MAX];
    ec_guarded in_memory[INPUTS + OUTPUTS_MAX], out_memory[OUTPUTS_MAX], status;
    ec_interval ranges[INPUTS + OUTPUTS_MAX];
    const ec_array *in_pointer[INPUTS + OUTPUTS_MAX];
    ec_array *out_pointer[OUTPUTS_MAX];
    bool wanted[OUTPUTS_MAX], adjoint[OUTPUTS_MAX];
    int32_t n_in = INPUTS, n_out = mode == EC_MODE_VJP ? INPUTS : p->call->n_out;
    int axes = EC_AXIS_CANDIDATE | (p->samples > 1 ? EC_AXIS_SAMPLE : 0);

    memset(r, 0, sizeof *r);
    for (int i = 0; i < INPUTS; i++) {
        if (upload_input(backend, p, p->value[i], p->axes[i], p->count[i], n, &in[i],
                         &in_memory[i]))
            return 1;
        ec_interval interval = {p->lo[i], p->hi[i]};
        ranges[i] = interval;
    }
    for (int32_t k = 0; k < p->call->n_out; k++) {
        const ec_call_output *o = &p->call->out[k];
        adjoint[k] = true;
        wanted[k] = true;
        if (mode == EC_MODE_RUN)
            continue;
        size_t elements = o->rank ? (size_t)o->shape[0] : 1;
        double *seed = (double *)malloc(elements * p->n * p->samples * sizeof *seed);
        EC_CHECK(seed, "out of memory");
        for (size_t j = 0; j < elements * p->n * p->samples; j++)
            seed[j] = 1.0 + 0.5 * k + 0.01 * (double)(j / p->n % elements);
        ec_interval interval = {0, 10};
        ranges[n_in] = interval;
        if (upload_input(backend, p, seed, axes, (int32_t)elements, n, &in[n_in], &in_memory[n_in]))
            return 1;
        free(seed);
        n_in++;
    }
    for (int32_t k = 0; k < n_out; k++) {
        wanted[k] = true;
        if (mode == EC_MODE_VJP) {
            ec_array_describe(&out[k], EC_F64, axes, p->count[k] > 1, &p->count[k], n, p->samples);
        } else {
            const ec_call_output *o = &p->call->out[k];
            ec_array_describe(&out[k], o->dtype, axes, o->rank, o->shape, n, p->samples);
        }
        EC_CHECK_CALL(ec_guarded_create(backend, ec_array_bytes(&out[k]), &out_memory[k]));
        out[k].data = out_memory[k].data;
        out_pointer[k] = &out[k];
        r->elements[k] = out[k].elements;
    }
    EC_CHECK_CALL(ec_guarded_create(backend, n, &status));
    EC_CHECK_CALL(backend->ops->fill(backend, status.data, 0, n));
    for (int32_t i = 0; i < n_in; i++)
        in_pointer[i] = &in[i];
    ec_log quiet = {EC_LOG_ERROR, NULL, NULL};
    ec_plan_info info = {.call = p->call,
                         .mode = mode,
                         .fidelity = fidelity,
                         .n_in = n_in,
                         .in = in,
                         .range = ranges,
                         .n_out = n_out,
                         .wanted = wanted,
                         .adjoint = adjoint,
                         .max_candidates = n,
                         .memory_budget = (size_t)1 << 30,
                         .log = &quiet};
    ec_evaluator *evaluator = NULL;
    EC_CHECK_CALL(p->call->def->plan(backend, &info, &evaluator));
    ec_exec exec = {.status_undefined = false};
    EC_CHECK_CALL(
        evaluator->def->run(evaluator, &exec, in_pointer, out_pointer, (uint8_t *)status.data, n));
    EC_CHECK_CALL(backend->ops->sync(backend));
    EC_CHECK_CALL(backend->ops->download(backend, r->status, status.data, n));
    if (mode == EC_MODE_RUN) {
        /* the same over status bytes that hold anything */
        uint8_t *again = malloc(n);
        exec.status_undefined = true;
        EC_CHECK_CALL(backend->ops->fill(backend, status.data, 0xA5, n));
        EC_CHECK_CALL(evaluator->def->run(evaluator, &exec, in_pointer, out_pointer,
                                          (uint8_t *)status.data, n));
        EC_CHECK_CALL(backend->ops->download(backend, again, status.data, n));
        EC_CHECK(memcmp(again, r->status, n) == 0, "undefined status bytes show");
        free(again);
    }
    int bad = ec_guarded_check(backend, &status, "status");
    ec_guarded_release(backend, &status);
    for (int32_t k = 0; k < n_out; k++) {
        bad |= ec_guarded_check(backend, &out_memory[k], "output");
        if (download_output(backend, &out[k], n, &r->value[k]))
            return 1;
        ec_guarded_release(backend, &out_memory[k]);
    }
    for (int32_t i = 0; i < n_in; i++)
        ec_guarded_release(backend, &in_memory[i]);
    p->call->def->destroy(&evaluator);
    return bad;
}

/* Whether this is the reference's level. Where there are higher ones, which are compared with it, it is
 * not compared with itself in cases that take long. */
static bool is_reference(const ec_backend *backend)
{
    return !backend->is_cuda && backend->isa == EC_ISA_V1 && ec_isa_detect() > EC_ISA_V1;
}

/* The plainest backend there is. */
static int run_reference(problem *p, ec_mode mode, ec_fidelity fidelity, results *r)
{
    ec_backend_info info = {.name = "cpu", .threads = 1, .isa = "v1"};
    ec_backend *plain = NULL;

    if (strcmp(ec_isa_name(EC_ISA_V1), "v1") != 0)
        info.isa = NULL;
    EC_CHECK_CALL(ec_backend_create(&info, &plain));
    int bad = run(plain, p, mode, fidelity, p->n, r);
    ec_backend_destroy(&plain);
    return bad;
}

static int compare_all(const problem *p, int32_t n_out, const results *got, const results *want,
                       double limit)
{
    for (int32_t k = 0; k < n_out; k++) {
        char name[32];
        snprintf(name, sizeof name, "output %d", (int)k);
        if (ec_compare_f64(name, got->value[k], want->value[k],
                           got->elements[k] * p->n * p->samples, limit))
            return 1;
    }
    for (size_t c = 0; c < p->n; c++)
        EC_CHECK(got->status[c] == want->status[c], "status of candidate %zu is %d, expected %d", c,
                 got->status[c], want->status[c]);
    return 0;
}

/* ---- the plain sum ---- */

static void plain_field(const problem *p, size_t c, size_t s, long double u, long double v,
                        long double w, long double *re, long double *im)
{
    const long double two_pi = 6.283185307179586476925286766559L;

    *re = *im = 0;
    for (int32_t m = 0; m < p->config.elements; m++) {
        long double turn = value_at(p, X, c, s, m) * (u - value_at(p, U0, c, s, 0)) +
                           value_at(p, Y, c, s, m) * (v - value_at(p, 7, c, s, 0)) +
                           value_at(p, Z, c, s, m) * (w - value_at(p, 8, c, s, 0));
        turn /= value_at(p, WAVELENGTH, c, s, 0);
        long double angle = two_pi * (turn - rintl(turn)) + value_at(p, PHASE, c, s, m);
        *re += value_at(p, AMPLITUDE, c, s, m) * cosl(angle);
        *im += value_at(p, AMPLITUDE, c, s, m) * sinl(angle);
    }
}

/* Highest sample outside |d - look| > exclude over the highest inside; what interpolation may add
 * is the caller's tolerance. */
static double plain_sll(const problem *p, size_t c, size_t s, double exclude)
{
    long double inside = 0, outside = 0;
    bool surface = p->config.kind == EC_ARRAY_GRID_UV;

    for (int32_t i = 0; i < p->config.na; i++) {
        for (int32_t k = 0; k < (surface ? p->config.nb : 1); k++) {
            double u = p->a[i], v = surface ? p->b[k] : 0.0;
            long double re, im;
            if (u * u + v * v > 1.0)
                continue;
            plain_field(p, c, s, u, v, sqrt(fmax(0.0, 1 - u * u - v * v)), &re, &im);
            long double power = re * re + im * im;
            if (hypot(u - value_at(p, U0, c, s, 0), v) <= exclude)
                inside = fmaxl(inside, power);
            else
                outside = fmaxl(outside, power);
        }
    }
    return (double)(10 * log10l(outside / inside));
}

static int case_pattern(ec_backend *backend)
{
    problem p;
    results got;

    if (problem_open(&p, EC_ARRAY_CUT_U, 19, 33, 1, 5, true, 1.0, 11))
        return 1;
    p.samples = 3;
    p.axes[WAVELENGTH] = EC_AXIS_SAMPLE;
    p.axes[AMPLITUDE] = EC_AXIS_CANDIDATE | EC_AXIS_SAMPLE;
    if (problem_call(&p) || problem_add(&p, ec_array_pattern(p.graph, p.call)) ||
        run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got))
        return 1;
    for (size_t s = 0; s < p.samples; s++)
        for (int32_t i = 0; i < p.config.na; i++)
            for (size_t c = 0; c < p.n; c++) {
                long double re, im;
                double u = p.a[i];
                plain_field(&p, c, s, u, 0, sqrt(fmax(0.0, 1 - u * u)), &re, &im);
                size_t at = 2 * ((s * (size_t)p.config.na + (size_t)i) * p.n + c);
                EC_CHECK(fabsl(got.value[0][at] - re) + fabsl(got.value[0][at + 1] - im) < 1e-11,
                         "candidate %zu, sample %zu, point %d: (%g, %g), expected (%Lg, %Lg)", c, s,
                         (int)i, got.value[0][at], got.value[0][at + 1], re, im);
            }
    results_free(&got);
    problem_close(&p);
    return 0;
}

/* Full turns, their end given: every direction has its value, the last that of the first. Elements
 * of cos^q, whose pattern is exact to float64. */
static int check_turn(ec_backend *backend, ec_array_grid_kind kind)
{
    problem p;
    results got;
    bool surface = kind == EC_ARRAY_GRID_THETA_PHI;

    if (problem_open(&p, kind, 7, 9, surface ? 13 : 1, 2, true, 0.5, 23))
        return 1;
    for (int32_t i = 0; i < p.config.na && !surface; i++)
        p.a[i] *= 2.0; /* theta from -180 to 180 */
    p.config.fixed = 0.4;
    p.config.element.kind = EC_ELEMENT_KIND_COSQ;
    p.config.element.q = 1.7;
    if (problem_call(&p) || problem_add(&p, ec_array_pattern(p.graph, p.call)) ||
        run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got))
        return 1;
    int32_t nb = surface ? p.config.nb : 1;
    for (int32_t i = 0; i < p.config.na * nb; i++)
        for (size_t c = 0; c < p.n; c++) {
            double theta = p.a[i / nb], phi = surface ? p.b[i % nb] : p.config.fixed;
            double w = cos(theta), g = w > 1e-12 ? pow(w, p.config.element.q) : 0.0;
            long double re, im;
            plain_field(&p, c, 0, sin(theta) * cos(phi), sin(theta) * sin(phi), w, &re, &im);
            const double *f = got.value[0] + 2 * ((size_t)i * p.n + c);
            EC_CHECK(fabsl(f[0] - g * re) + fabsl(f[1] - g * im) < 1e-11,
                     "candidate %zu, point %d: (%g, %g), expected (%Lg, %Lg)", c, (int)i, f[0],
                     f[1], g * re, g * im);
        }
    for (int32_t i = 0; i < (surface ? p.config.na : 1); i++) {
        size_t last = surface ? (size_t)(i * nb + nb - 1) : (size_t)p.config.na - 1;
        EC_CHECK(memcmp(got.value[0] + 2 * last * p.n, got.value[0] + 2 * (size_t)(i * nb) * p.n,
                        2 * p.n * sizeof(double)) == 0,
                 "the end of the turn differs from its start");
    }
    results_free(&got);
    problem_close(&p);
    return 0;
}

static int case_turn(ec_backend *backend)
{
    return check_turn(backend, EC_ARRAY_CUT_THETA) || check_turn(backend, EC_ARRAY_GRID_THETA_PHI);
}

typedef struct sll_case {
    ec_array_grid_kind kind;
    int32_t elements, na, nb;
    double extent, exclude; /* 0: no exclusion */
    bool complex_weights;
    double depth;
    ec_element_kind element;
    double plain; /* what interpolation may change, dB */
} sll_case;

/* The search's side-lobe level by every path: the reference agrees to float32 rounding of a row
 * (6e-8 of the peak's field is 1e-4 dB at -40 dB), the plain sum to what interpolation adds. */
static int check_sll(ec_backend *backend, const sll_case *one, uint64_t seed)
{
    problem p;
    results got, want;
    ec_array_beam beam;

    if (problem_open(&p, one->kind, one->elements, one->na, one->nb, one->extent,
                     one->complex_weights, one->depth, seed))
        return 1;
    p.config.element.kind = (int32_t)one->element;
    p.config.element.q = 0.8;
    p.config.tolerance = 1e-6; /* where the least predicted time is the NUFFT's */
    ec_array_beam_default(&beam);
    if (one->exclude > 0.0)
        beam.exclude_a = one->exclude;
    if (problem_call(&p) || problem_add(&p, ec_array_sll_db(p.graph, p.call, &beam)) ||
        run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got) ||
        run_reference(&p, EC_MODE_RUN, EC_SEARCH, &want))
        return 1;
    for (size_t c = 0; c < p.n; c++) {
        EC_CHECK(isnan(got.value[0][c]) == isnan(want.value[0][c]) &&
                     got.status[c] == want.status[c],
                 "kind %d, %d elements, candidate %zu: %g status %d, expected %g status %d",
                 (int)one->kind, (int)one->elements, c, got.value[0][c], got.status[c],
                 want.value[0][c], want.status[c]);
        EC_CHECK(isnan(want.value[0][c]) || fabs(got.value[0][c] - want.value[0][c]) < 2e-4,
                 "kind %d, %d elements, %d x %d, exclude %g, candidate %zu: %.7g, expected %.7g",
                 (int)one->kind, (int)one->elements, (int)one->na, (int)one->nb, one->exclude, c,
                 got.value[0][c], want.value[0][c]);
        if (one->plain <= 0.0 || c % 7)
            continue;
        double plain = plain_sll(&p, c, 0, one->exclude);
        EC_CHECK(fabs(got.value[0][c] - plain) < one->plain,
                 "kind %d, %d elements, candidate %zu: %.7g, plain sum %.7g", (int)one->kind,
                 (int)one->elements, c, got.value[0][c], plain);
    }
    results_free(&got);
    results_free(&want);
    problem_close(&p);
    return 0;
}

/* A mask's excess in the search: flat, sloped and lower limits, relative and absolute. */
static int check_excess(ec_backend *backend, bool relative, double exclude, bool complex_weights,
                        int32_t points)
{
    double inf = (double)INFINITY;
    const ec_array_mask_line mask[4] = {{0.1, 0.9, {-15, -25}, {-inf, -inf}},
                                        {-0.8, -0.07, {-18, -18}, {-inf, -inf}},
                                        {-0.015, 0.015, {inf, inf}, {-1, -2}},
                                        {0.9, 2.0, {-20, -20}, {-inf, -inf}}};
    problem p;
    results got, want;
    ec_array_beam beam;

    if (problem_open(&p, EC_ARRAY_CUT_U, 24, points, 1, 6, complex_weights, 0, 31))
        return 1;
    p.config.tolerance = 1e-6;
    ec_array_beam_default(&beam);
    if (exclude > 0.0)
        beam.exclude_a = exclude;
    if (problem_call(&p) ||
        problem_add(&p, ec_array_excess_db(p.graph, p.call, &beam, relative, 4, mask)) ||
        run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got) ||
        run_reference(&p, EC_MODE_RUN, EC_SEARCH, &want))
        return 1;
    for (size_t c = 0; c < p.n; c++)
        EC_CHECK(got.status[c] == want.status[c] && fabs(got.value[0][c] - want.value[0][c]) < 2e-4,
                 "relative %d, exclude %g, candidate %zu: %.7g status %d, expected %.7g status %d",
                 relative, exclude, c, got.value[0][c], got.status[c], want.value[0][c],
                 want.status[c]);
    results_free(&got);
    results_free(&want);
    problem_close(&p);
    return 0;
}

static int case_line_excess(ec_backend *backend)
{
    for (int variant = 0; variant < 8; variant++)
        if (check_excess(backend, variant & 1, variant & 2 ? 0.08 : 0.0, variant & 4,
                         variant & 4 ? 1000 : 1001))
            return 1;
    return 0;
}

static int run_sll_cases(ec_backend *backend, const sll_case *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (check_sll(backend, &list[i], 100 + i))
            return 1;
    return 0;
}

static int case_line_sll(ec_backend *backend)
{
    static const ec_element_kind iso = EC_ELEMENT_KIND_ISOTROPIC, cosq = EC_ELEMENT_KIND_COSQ;
    const sll_case list[] = {
        {EC_ARRAY_CUT_U, 32, 2001, 1, 12, 0.06, false, 0, iso, 0.2},
        {EC_ARRAY_CUT_U, 32, 2001, 1, 12, 0, false, 0, iso, 0},
        {EC_ARRAY_CUT_U, 32, 2000, 1, 12, 0.06, true, 0, iso, 0.2},
        {EC_ARRAY_CUT_U, 32, 2000, 1, 12, 0, true, 0, iso, 0},
        {EC_ARRAY_CUT_U, 1, 101, 1, 1, 0, false, 0, iso, 0},
        {EC_ARRAY_CUT_U, 2, 9, 1, 2, 0, false, 0, iso, 0},
        {EC_ARRAY_CUT_U, 7, 8, 1, 1, 0.3, false, 0, iso, 0},
        {EC_ARRAY_CUT_U, 5, 333, 1, 2, 0.2, false, 0, cosq, 0},
        {EC_ARRAY_CUT_U, 100, 4001, 1, 30, 0.03, false, 0, iso, 0.2},
        {EC_ARRAY_CUT_U, 201, 1024, 1, 20, 0.05, true, 0, iso, 0.5},
        {EC_ARRAY_CUT_U, 24, 1001, 1, 6, 0.1, false, 1.0, iso, 0.2},
        {EC_ARRAY_CUT_THETA, 24, 721, 1, 6, 0.1, false, 0, iso, 0},
    };

    return run_sll_cases(backend, list, sizeof list / sizeof *list);
}

static int case_grid_sll(ec_backend *backend)
{
    static const ec_element_kind iso = EC_ELEMENT_KIND_ISOTROPIC, cosq = EC_ELEMENT_KIND_COSQ;
    const sll_case list[] = {
        {EC_ARRAY_GRID_UV, 100, 128, 128, 4, 0.2, false, 0, iso, 0.8},
        {EC_ARRAY_GRID_UV, 100, 128, 128, 4, 0, false, 0, iso, 0},
        {EC_ARRAY_GRID_UV, 50, 97, 65, 3, 0.2, false, 0, iso, 0.8},
        {EC_ARRAY_GRID_UV, 50, 97, 65, 3, 0, false, 0, iso, 0},
        {EC_ARRAY_GRID_UV, 31, 64, 61, 2, 0.3, true, 0, iso, 0.8},
        {EC_ARRAY_GRID_UV, 31, 64, 61, 2, 0, true, 0, iso, 0},
        {EC_ARRAY_GRID_UV, 25, 150, 140, 2, 0.3, false, 0, cosq, 0},
        {EC_ARRAY_GRID_UV, 9, 12, 10, 1, 0.01, false, 0, iso, 0},
        {EC_ARRAY_GRID_UV, 20, 40, 40, 2, 0.3, true, 0.5, iso, 0.8},
        {EC_ARRAY_GRID_THETA_PHI, 20, 31, 61, 2, 0.3, false, 0, iso, 0},
        {EC_ARRAY_GRID_THETA_PHI, 20, 31, 61, 2, 0, false, 0, iso, 0},
    };

    return run_sll_cases(backend, list, sizeof list / sizeof *list);
}

/* The search's side-lobe average and pointing error: as the reference's, and on a u cut the average
 * is that of the plain sum. */
static int check_mean(ec_backend *backend, const sll_case *one, uint64_t seed)
{
    problem p;
    results got, want;
    ec_array_beam beam;

    if (problem_open(&p, one->kind, one->elements, one->na, one->nb, one->extent,
                     one->complex_weights, one->depth, seed))
        return 1;
    p.config.tolerance = 1e-6;
    ec_array_beam_default(&beam);
    if (one->exclude > 0.0)
        beam.exclude_a = one->exclude;
    if (problem_call(&p) || problem_add(&p, ec_array_sll_mean_db(p.graph, p.call, &beam)) ||
        problem_add(&p, ec_array_pointing_error_deg(p.graph, p.call, NULL)) ||
        run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got) ||
        run_reference(&p, EC_MODE_RUN, EC_SEARCH, &want))
        return 1;
    for (size_t c = 0; c < p.n; c++) {
        /* a peak's place moves by the root of its level's error */
        EC_CHECK(got.status[c] == 0 && want.status[c] == 0 &&
                     fabs(got.value[0][c] - want.value[0][c]) < 2e-4 &&
                     fabs(got.value[1][c] - want.value[1][c]) < 0.02,
                 "kind %d, %d elements, candidate %zu: %.7g dB, %.7g deg, expected %.7g, %.7g",
                 (int)one->kind, (int)one->elements, c, got.value[0][c], got.value[1][c],
                 want.value[0][c], want.value[1][c]);
        if (one->plain <= 0.0 || c % 7)
            continue;
        long double side = 0, peak = 0, re, im;
        size_t count = 0;
        for (int32_t i = 0; i < p.config.na; i++) {
            double u = p.a[i];
            plain_field(&p, c, 0, u, 0, sqrt(fmax(0.0, 1 - u * u)), &re, &im);
            bool inside = fabs(u - value_at(&p, U0, c, 0, 0)) <= one->exclude;
            long double power = re * re + im * im;
            peak = inside ? fmaxl(peak, power) : peak;
            side += inside ? 0 : power;
            count += inside ? 0 : 1;
        }
        double plain = (double)(10 * log10l(side / (long double)count / peak));
        EC_CHECK(fabs(got.value[0][c] - plain) < one->plain,
                 "kind %d, candidate %zu: %.7g dB, plain sum %.7g", (int)one->kind, c,
                 got.value[0][c], plain);
    }
    results_free(&got);
    results_free(&want);
    problem_close(&p);
    return 0;
}

static int case_mean(ec_backend *backend)
{
    static const ec_element_kind iso = EC_ELEMENT_KIND_ISOTROPIC;
    static const sll_case list[] = {
        {EC_ARRAY_CUT_U, 32, 2001, 1, 12, 0.06, true, 0, iso, 0.05},
        {EC_ARRAY_CUT_U, 32, 2001, 1, 12, 0, true, 0, iso, 0},
        {EC_ARRAY_CUT_THETA, 24, 721, 1, 6, 0.1, false, 0, iso, 0},
        {EC_ARRAY_GRID_UV, 100, 128, 128, 4, 0.2, false, 0, iso, 0},
        {EC_ARRAY_GRID_UV, 31, 64, 61, 2, 0, true, 0.5, iso, 0},
        {EC_ARRAY_GRID_THETA_PHI, 20, 31, 61, 2, 0.3, false, 0, iso, 0},
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (check_mean(backend, &list[i], 300 + i))
            return 1;
    return 0;
}

/* What the elements of a problem are. */
enum {
    ELEMENTS_ISOTROPIC,
    ELEMENTS_DIPOLES, /* alike, turned, co-polar */
    ELEMENTS_TABLE,   /* alike, the total field */
    ELEMENTS_NORMALS, /* cos^q with a normal for each, the total field */
    ELEMENTS_EACH,    /* tables and dipoles with axes of their own, the theta component */
    ELEMENTS_KINDS
};

typedef struct element_store {
    ec_element_pattern table, each[64];
    ec_element_frame frame[64];
} element_store;

/* A far field without symmetry, on 15 degrees. */
static int make_table(ec_element_pattern *table)
{
    enum { NT = 13, NP = 25 };
    double theta[NT], phi[NP];
    ec_c128 e[2][NT * NP];
    ec_far_field *field = NULL;

    for (int i = 0; i < NT; i++)
        theta[i] = EC_PI * i / (NT - 1);
    for (int k = 0; k < NP; k++)
        phi[k] = 2 * EC_PI * k / (NP - 1);
    for (int i = 0; i < NT * NP; i++) {
        double t = theta[i / NP], f = phi[i % NP], size = 2 + cos(t) + 0.3 * sin(t) * sin(f);
        ec_c128 of[2] = {{size * cos(f) * cos(t), 0.2 * sin(t)}, {-size * sin(f), 0.1 * sin(t)}};
        e[0][i] = of[0];
        e[1][i] = of[1];
    }
    EC_CHECK_CALL(ec_far_field_create(NT, theta, NP, phi, e[0], e[1], 0, &field));
    EC_CHECK_CALL(ec_element_table_create(field, table));
    ec_far_field_destroy(&field);
    return 0;
}

static int set_elements(problem *p, int elements, element_store *store)
{
    double axis[3] = {1, 0.3, 0.2}, normal[3] = {0.3, -0.2, 1};
    ec_element_pattern dipole;

    memset(store, 0, sizeof *store);
    if (elements == ELEMENTS_ISOTROPIC)
        return 0;
    EC_CHECK_CALL(ec_element_pattern_init(EC_ELEMENT_KIND_HALF_WAVE, 0, axis, &dipole));
    if (make_table(&store->table))
        return 1;
    for (int32_t m = 0; m < p->config.elements; m++) {
        double own[3] = {draw(p, -0.4, 0.4), draw(p, -0.4, 0.4), 1};
        EC_CHECK_CALL(ec_element_frame_of(own, 0.05 * m, &store->frame[m]));
        store->each[m] = m % 3 ? store->table : dipole;
    }
    if (elements == ELEMENTS_DIPOLES || elements == ELEMENTS_TABLE) {
        p->config.element = elements == ELEMENTS_TABLE ? store->table : dipole;
        EC_CHECK_CALL(ec_element_frame_of(normal, 0.2, &p->config.frame));
    }
    if (elements == ELEMENTS_DIPOLES)
        p->config.polarization = EC_POLARIZATION_CO;
    if (elements == ELEMENTS_NORMALS) {
        p->config.element.kind = EC_ELEMENT_KIND_COSQ;
        p->config.element.q = 1.1;
    }
    if (elements == ELEMENTS_EACH) {
        p->config.each = store->each;
        p->config.polarization = EC_POLARIZATION_THETA;
    }
    if (elements == ELEMENTS_NORMALS || elements == ELEMENTS_EACH)
        p->config.frames = store->frame;
    return 0;
}

/* Every metric of a cut and of a surface at `final`, and every adjoint: float64 throughout. */
static int check_final(ec_backend *backend, ec_array_grid_kind kind, ec_mode mode, int elements)
{
    static const double at[2] = {0.3, -0.4}, at_b[2] = {0.1, 0.05};
    double inf = (double)INFINITY;
    ec_array_mask_line mask[2] = {{0.2, 0.9, {-8, -12}, {-inf, -inf}},
                                  {0.0, 0.05, {inf, inf}, {-30, -30}}};
    bool surface = kind == EC_ARRAY_GRID_UV || kind == EC_ARRAY_GRID_THETA_PHI;
    ec_array_beam beam, excluded;
    problem p;
    results got, want;
    element_store store;

    if (problem_open(&p, kind, 12, surface ? 24 : 200, surface ? 25 : 1, 1.5, true, 0.3, 77) ||
        set_elements(&p, elements, &store))
        return 1;
    p.n = elements == ELEMENTS_NORMALS || elements == ELEMENTS_EACH ? 8 /* their sums take longer */
                                                                    : FEW;
    p.samples = 2;
    p.axes[WAVELENGTH] = EC_AXIS_SAMPLE;
    ec_array_beam_default(&beam);
    beam.look_a = 0.02;
    beam.look_b = 0.03;
    excluded = beam;
    excluded.exclude_a = 0.35;
    ec_graph *g = p.graph;
    if (problem_call(&p) || problem_add(&p, ec_array_sll_db(g, p.call, &beam)) ||
        problem_add(&p, ec_array_sll_db(g, p.call, &excluded)) ||
        problem_add(&p, ec_array_directivity_db(g, p.call, &beam)) ||
        problem_add(&p, ec_array_level_db(g, p.call, &beam, true, 2, at, at_b)) ||
        problem_add(&p, ec_array_null_depth_db(g, p.call, &beam, 2, at, at_b)) ||
        problem_add(&p, ec_array_excess_db(g, p.call, &beam, true, surface ? 1 : 2, mask)) ||
        problem_add(&p, ec_array_excess_db(g, p.call, &beam, false, 1, mask)) ||
        problem_add(&p, ec_array_soft_sll_db(g, p.call, &excluded, 1)) ||
        problem_add(&p,
                    ec_array_excess_norm_db(g, p.call, &beam, true, surface ? 1 : 2, mask, 8)) ||
        problem_add(&p, ec_array_excess_norm_db(g, p.call, &beam, false, 1, mask, 4)))
        return 1;
    if (!surface && problem_add(&p, ec_array_hpbw_deg(g, p.call, &beam)))
        return 1;
    if (!surface && mode == EC_MODE_RUN && problem_add(&p, ec_array_fnbw_deg(g, p.call, &beam)))
        return 1;
    if (problem_add(&p, ec_array_sll_mean_db(g, p.call, &excluded)) ||
        (mode == EC_MODE_RUN && problem_add(&p, ec_array_pointing_error_deg(g, p.call, &beam))))
        return 1;
    if (run(backend, &p, mode, EC_FINAL, p.n, &got) || run_reference(&p, mode, EC_FINAL, &want))
        return 1;
    /* derivatives at a refined maximum carry its position's error, about 1e-8; so does the pointing
     * error, the last output */
    int bad = compare_all(&p, mode == EC_MODE_VJP ? INPUTS : p.n_out - 1, &got, &want,
                          mode == EC_MODE_VJP ? 1e-5 : 1e-9);
    int32_t last = p.n_out - 1;
    if (mode == EC_MODE_RUN)
        bad |= ec_compare_f64("pointing error", got.value[last], want.value[last],
                              got.elements[last] * p.n * p.samples, 1e-6);
    results_free(&got);
    results_free(&want);
    ec_element_table_destroy(&store.table);
    problem_close(&p);
    return bad;
}

static int check_final_kinds(ec_backend *backend, ec_mode mode)
{
    static const ec_array_grid_kind kinds[] = {EC_ARRAY_CUT_U, EC_ARRAY_CUT_THETA, EC_ARRAY_GRID_UV,
                                               EC_ARRAY_GRID_THETA_PHI};

    if (is_reference(backend))
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (check_final(backend, kinds[i], mode, ELEMENTS_ISOTROPIC)) {
            printf("  grid kind %d\n", (int)kinds[i]);
            return 1;
        }
    return 0;
}

static int case_final(ec_backend *backend)
{
    return check_final_kinds(backend, EC_MODE_RUN);
}

static int case_adjoint(ec_backend *backend)
{
    return check_final_kinds(backend, EC_MODE_VJP);
}

/* Elements with fields, alike and of their own: the search's side lobes by every path to float32
 * rounding, patterns, and everything of `final` with adjoints. */
static int check_elements(ec_backend *backend, ec_array_grid_kind kind, int elements)
{
    bool surface = kind == EC_ARRAY_GRID_UV;
    element_store store;
    ec_array_beam beam;
    problem p;
    results got, want;

    if (problem_open(&p, kind, 12, surface ? 32 : 201, surface ? 30 : 1, 1.5, true, 0, 41) ||
        set_elements(&p, elements, &store))
        return 1;
    p.n = FEW;
    p.config.tolerance = 1e-6;
    ec_array_beam_default(&beam);
    beam.exclude_a = 0.3;
    if (problem_call(&p) || problem_add(&p, ec_array_sll_db(p.graph, p.call, &beam)) ||
        problem_add(&p, ec_array_directivity_db(p.graph, p.call, NULL)) ||
        problem_add(&p, ec_array_pattern(p.graph, p.call)) ||
        run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got) ||
        run_reference(&p, EC_MODE_RUN, EC_SEARCH, &want))
        return 1;
    for (size_t c = 0; c < p.n; c++)
        EC_CHECK(got.status[c] == want.status[c] &&
                     fabs(got.value[0][c] - want.value[0][c]) < 2e-4 &&
                     fabs(got.value[1][c] - want.value[1][c]) < 1e-9,
                 "candidate %zu: side lobes %.7g, D %.9g, expected %.7g, %.9g", c, got.value[0][c],
                 got.value[1][c], want.value[0][c], want.value[1][c]);
    if (ec_compare_f64("pattern", got.value[2], want.value[2], 2 * got.elements[2] * p.n, 1e-12))
        return 1;
    results_free(&got);
    results_free(&want);
    ec_element_table_destroy(&store.table);
    problem_close(&p);
    return 0;
}

static int case_elements(ec_backend *backend)
{
    static const ec_array_grid_kind kinds[] = {EC_ARRAY_CUT_U, EC_ARRAY_CUT_THETA,
                                               EC_ARRAY_GRID_UV};

    if (is_reference(backend))
        return 0;
    for (int elements = 1; elements < ELEMENTS_KINDS; elements++) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (check_elements(backend, kinds[i], elements)) {
                printf("  grid kind %d, elements %d\n", (int)kinds[i], elements);
                return 1;
            }
        for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
            if (check_final(backend, kinds[i], EC_MODE_RUN, elements) ||
                check_final(backend, kinds[i], EC_MODE_VJP, elements)) {
                printf("  at final: grid kind %d, elements %d\n", (int)kinds[i], elements);
                return 1;
            }
    }
    return 0;
}

/* Followed maxima of one design, over a population of others. */
static int case_pieces(ec_backend *backend)
{
    problem p;
    results got, want;
    const double *at[INPUTS];
    double design[INPUTS][16];
    ec_array_beam beam;
    ec_expr pieces;

    if (problem_open(&p, EC_ARRAY_CUT_U, 16, 401, 1, 4, false, 0, 5))
        return 1;
    if (problem_call(&p))
        return 1;
    for (int i = 0; i < INPUTS; i++) {
        for (int e = 0; e < 16; e++)
            design[i][e] = i == X           ? 0.45 * (e - 7.5)
                           : i == AMPLITUDE ? 1.0
                                            : 0.5 * (p.lo[i] + p.hi[i]);
        at[i] = design[i];
    }
    for (size_t c = 0; c < p.n; c++)
        for (size_t e = 0; e < 16; e++)
            p.value[X][e * p.n + c] = design[X][e] + 0.005 * p.value[X][e * p.n + c];
    ec_array_beam_default(&beam);
    beam.exclude_a = 0.15;
    ec_expr sll = ec_array_sll_db(p.graph, p.call, &beam);
    EC_CHECK(sll >= 0, "%s", ec_error_text());
    EC_CHECK_CALL(p.call->def->pieces(p.graph, p.call, 0, at, &pieces));
    p.n_out = 2;
    EC_CHECK(p.call->out[1].shape[0] >= 8, "%d pieces", (int)p.call->out[1].shape[0]);
    for (int mode = 0; mode < 2; mode++) {
        if (run(backend, &p, mode ? EC_MODE_VJP : EC_MODE_RUN, EC_FINAL, p.n, &got) ||
            run_reference(&p, mode ? EC_MODE_VJP : EC_MODE_RUN, EC_FINAL, &want) ||
            compare_all(&p, mode ? INPUTS : 2, &got, &want, mode ? 1e-5 : 1e-9))
            return 1;
        for (size_t c = 0; c < p.n && !mode; c++) {
            double top = -1e9;
            for (size_t k = 0; k < got.elements[1]; k++)
                top = fmax(top, got.value[1][k * p.n + c]);
            EC_CHECK(fabs(top - got.value[0][c]) < 1e-7,
                     "candidate %zu: highest piece %.10g, side-lobe level %.10g", c, top,
                     got.value[0][c]);
        }
        results_free(&got);
        results_free(&want);
    }
    problem_close(&p);
    return 0;
}

/* The same bits for any number of candidates beside one and any place in the batch. */
static int case_neighbours(ec_backend *backend)
{
    static const ec_array_grid_kind kinds[] = {EC_ARRAY_CUT_U, EC_ARRAY_GRID_UV};

    for (size_t i = 0; i < 2; i++) {
        problem p;
        results all, few;
        if (problem_open(&p, kinds[i], 20, i ? 48 : 501, i ? 48 : 1, 3, i, 0, 9) ||
            problem_call(&p) || problem_add(&p, ec_array_sll_db(p.graph, p.call, NULL)) ||
            problem_add(&p, ec_array_directivity_db(p.graph, p.call, NULL)))
            return 1;
        for (int f = 0; f < 2; f++) {
            if (run(backend, &p, EC_MODE_RUN, (ec_fidelity)f, p.n, &all) ||
                run(backend, &p, EC_MODE_RUN, (ec_fidelity)f, 3, &few))
                return 1;
            for (int32_t k = 0; k < 2; k++)
                EC_CHECK(memcmp(all.value[k], few.value[k], 3 * sizeof(double)) == 0,
                         "output %d: %.17g %.17g %.17g with neighbours, %.17g %.17g %.17g without",
                         (int)k, all.value[k][0], all.value[k][1], all.value[k][2], few.value[k][0],
                         few.value[k][1], few.value[k][2]);
            results_free(&all);
            results_free(&few);
        }
        problem_close(&p);
    }
    return 0;
}

/* ---- the NUFFT path ---- */

typedef struct nufft_case {
    sll_case array;
    double tolerance;
    ec_array_expansion expansion;
    size_t samples;
} nufft_case;

/* The search's side-lobe level, its neighbours in the row (a mask's excess, a level) and the final
 * one by NUFFT, against the direct sum's of the plainest CPU level. */
static int check_nufft(ec_backend *backend, const nufft_case *one, uint64_t seed)
{
    const ec_array_mask_line mask = {0.1, 3.0, {-20, -25}, {-INFINITY, -INFINITY}};
    const double at_a[2] = {0.31, -0.6}, at_b[2] = {0.2, 0.1};
    const sll_case *array = &one->array;

    for (int fidelity = EC_SEARCH; fidelity <= EC_FINAL; fidelity++) {
        problem p[2];
        results r[2];
        for (int k = 0; k < 2; k++) {
            ec_array_beam beam;
            if (problem_open(&p[k], array->kind, array->elements, array->na, array->nb,
                             array->extent, array->complex_weights, array->depth, seed))
                return 1;
            p[k].samples = one->samples;
            if (one->samples > 1) {
                p[k].axes[WAVELENGTH] = EC_AXIS_SAMPLE;
                p[k].axes[X] |= EC_AXIS_SAMPLE;
            }
            p[k].config.element.kind = (int32_t)array->element;
            p[k].config.element.q = 0.8;
            p[k].config.method = k ? EC_METHOD_DIRECT : EC_METHOD_NUFFT;
            p[k].config.tolerance = k ? 0.0 : one->tolerance;
            p[k].config.expansion = one->expansion;
            if (fidelity == EC_FINAL)
                p[k].n = 3;
            else if (!backend->is_cuda && array->na > 200)
                p[k].n = 4; /* more than its staging holds matters to a GPU only */
            ec_array_beam_default(&beam);
            if (array->exclude > 0.0)
                beam.exclude_a = array->exclude;
            if (problem_call(&p[k]) ||
                problem_add(&p[k], ec_array_sll_db(p[k].graph, p[k].call, &beam)) ||
                problem_add(&p[k],
                            ec_array_excess_db(p[k].graph, p[k].call, &beam, true, 1, &mask)) ||
                problem_add(&p[k], ec_array_level_db(p[k].graph, p[k].call, &beam, true, 2, at_a,
                                                     array->nb > 1 ? at_b : NULL)))
                return 1;
            beam.exclude_a *= 1.5;
            if (problem_add(&p[k], ec_array_sll_db(p[k].graph, p[k].call, &beam)))
                return 1;
        }
        if (run(backend, &p[0], EC_MODE_RUN, (ec_fidelity)fidelity, p[0].n, &r[0]) ||
            run_reference(&p[1], EC_MODE_RUN, (ec_fidelity)fidelity, &r[1]))
            return 1;
        /* a field error of `tolerance` of the rms, at most some times that of the peak, in dB; the
         * final figures are refined by float64 sums */
        double limit = fidelity == EC_FINAL ? 1e-6 : fmax(30.0 * one->tolerance, 3e-4);
        for (int32_t k = 0; k < p[0].n_out; k++)
            for (size_t i = 0; i < r[0].elements[k] * p[0].n * p[0].samples; i++)
                EC_CHECK(fabs(r[0].value[k][i] - r[1].value[k][i]) < limit,
                         "kind %d, %d elements, %d x %d, depth %g, tolerance %g, fidelity %d, "
                         "metric %d, number %zu: %.7g, expected %.7g",
                         (int)array->kind, (int)array->elements, (int)array->na, (int)array->nb,
                         array->depth, one->tolerance, fidelity, (int)k, i, r[0].value[k][i],
                         r[1].value[k][i]);
        for (int k = 0; k < 2; k++) {
            results_free(&r[k]);
            problem_close(&p[k]);
        }
    }
    return 0;
}

/* Small enough for a sanitizer. */
static int case_spread(ec_backend *backend)
{
    static const ec_element_kind iso = EC_ELEMENT_KIND_ISOTROPIC, cosq = EC_ELEMENT_KIND_COSQ;
    const nufft_case list[] = {
        {{EC_ARRAY_GRID_UV, 30, 40, 41, 2, 0.3, false, 2.0, cosq, 0}, 1e-3, 0, 1},
        {{EC_ARRAY_GRID_UV, 12, 9, 8, 1, 0.5, true, 0, iso, 0}, 1e-3, 0, 1},
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (check_nufft(backend, &list[i], 500 + i))
            return 1;
    return 0;
}

static int case_nufft(ec_backend *backend)
{
    static const ec_element_kind iso = EC_ELEMENT_KIND_ISOTROPIC, cosq = EC_ELEMENT_KIND_COSQ;
    const nufft_case list[] = {
        {{EC_ARRAY_GRID_UV, 100, 128, 128, 4, 0.2, false, 0, iso, 0}, 1e-4, 0, 1},
        {{EC_ARRAY_GRID_UV, 100, 128, 128, 4, 0, true, 0, iso, 0}, 1e-5, 0, 1},
        {{EC_ARRAY_GRID_UV, 50, 97, 65, 3, 0.2, true, 0, cosq, 0}, 1e-3, 0, 1},
        {{EC_ARRAY_GRID_UV, 50, 65, 97, 3, 0.2, true, 0.7, iso, 0}, 1e-4, 0, 1},
        {{EC_ARRAY_GRID_UV, 50, 65, 97, 3, 0.2, true, 0.7, iso, 0}, 1e-4, EC_EXPANSION_TAYLOR, 1},
        {{EC_ARRAY_GRID_UV, 20, 400, 390, 9, 0.1, false, 0, iso, 0}, 1e-3, 0, 2},
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (check_nufft(backend, &list[i], 300 + i))
            return 1;
    const nufft_case lines[] = {
        {{EC_ARRAY_CUT_U, 200, 2001, 1, 40, 0.03, true, 0, iso, 0}, 1e-4, 0, 1},
        {{EC_ARRAY_CUT_U, 60, 1000, 1, 12, 0, false, 0, iso, 0}, 1e-5, 0, 1},
        {{EC_ARRAY_CUT_U, 40, 800, 1, 8, 0.1, true, 1.0, iso, 0}, 1e-4, 0, 2},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (check_nufft(backend, &lines[i], 400 + i))
            return 1;
    return 0;
}

/* Sub-arrays of positions that vary: all ways to cut them, and about which planes. A candidate with an
 * element outside of the range that its part was planned for fails alone. */
static int check_parts(ec_backend *backend, ec_array_grid_kind kind, int32_t way, bool planes)
{
    problem p[2];
    results r[2];
    int32_t part[40];

    for (int k = 0; k < 2; k++) {
        bool cut = kind == EC_ARRAY_CUT_U;
        if (problem_open(&p[k], kind, 40, cut ? 401 : 30, cut ? 1 : 27, 6.0, true, 0.6, 77))
            return 1;
        p[k].sliced = true;
        p[k].axes[WAVELENGTH] = EC_AXIS_CANDIDATE;
        p[k].config.method = k ? EC_METHOD_DIRECT : EC_METHOD_NUFFT;
        p[k].config.planes = planes;
        for (int32_t e = 0; e < 40; e++)
            part[e] = e / 13; /* 13, 13, 13 and 1 */
        p[k].config.part = way == 0 ? part : NULL;
        p[k].config.parts = way > 0 ? 2 : 0;
        p[k].config.partition = (ec_array_partition)way;
        ec_array_beam beam;
        ec_array_beam_default(&beam);
        beam.exclude_a = 0.2;
        if (problem_call(&p[k]) ||
            problem_add(&p[k], ec_array_sll_db(p[k].graph, p[k].call, &beam)))
            return 1;
        for (int i = X; i <= Y; i++)
            p[k].value[i][4 * p[k].n + 2] = p[k].value[i][30 * p[k].n + 2];
    }
    if (run(backend, &p[0], EC_MODE_RUN, EC_SEARCH, p[0].n, &r[0]) ||
        run_reference(&p[1], EC_MODE_RUN, EC_SEARCH, &r[1]))
        return 1;
    for (size_t c = 0; c < p[0].n; c++) {
        bool outside = c == 2 && planes; /* else the place in the part is of no matter */
        EC_CHECK(r[0].status[c] == (outside ? EC_CANDIDATE_OUT_OF_RANGE : 0),
                 "kind %d, way %d, planes %d, candidate %zu: status %d", (int)kind, (int)way,
                 planes, c, r[0].status[c]);
        double off = fabs(r[0].value[0][c] - r[1].value[0][c]);
        EC_CHECK(outside ? isnan(r[0].value[0][c]) : off < 3e-3,
                 "kind %d, way %d, planes %d, candidate %zu: %.7g, expected %.7g", (int)kind,
                 (int)way, planes, c, r[0].value[0][c], r[1].value[0][c]);
    }
    for (int k = 0; k < 2; k++) {
        results_free(&r[k]);
        problem_close(&p[k]);
    }
    return 0;
}

static int case_parts(ec_backend *backend)
{
    for (int32_t i = 0; i < 12; i++)
        if (check_parts(backend, i % 2 ? EC_ARRAY_CUT_U : EC_ARRAY_GRID_UV, i / 2 % 3, i < 6))
            return 1;
    return 0;
}

/* A candidate that cannot be scored says so and leaves its neighbours alone. */
static int case_failures(ec_backend *backend)
{
    problem p;
    results got;

    if (problem_open(&p, EC_ARRAY_CUT_U, 8, 201, 1, 3, false, 0, 3))
        return 1;
    p.axes[WAVELENGTH] = EC_AXIS_CANDIDATE;
    if (problem_call(&p) || problem_add(&p, ec_array_sll_db(p.graph, p.call, NULL)))
        return 1;
    p.value[X][2 * p.n + 5] = (double)NAN;
    p.value[X][3 * p.n + 6] = 1e3;
    for (size_t e = 0; e < 8; e++)
        p.value[AMPLITUDE][e * p.n + 7] = 0.0;
    p.lo[AMPLITUDE] = 0.0;
    if (run(backend, &p, EC_MODE_RUN, EC_SEARCH, p.n, &got))
        return 1;
    for (size_t c = 0; c < p.n; c++) {
        int want = c == 5   ? EC_CANDIDATE_EVALUATOR
                   : c == 6 ? EC_CANDIDATE_OUT_OF_RANGE
                   : c == 7 ? EC_CANDIDATE_EVALUATOR
                            : 0;
        EC_CHECK(got.status[c] == want, "candidate %zu has status %d, expected %d", c,
                 got.status[c], want);
        EC_CHECK(isnan(got.value[0][c]) == (want != 0), "candidate %zu: %g", c, got.value[0][c]);
    }
    results_free(&got);
    problem_close(&p);
    return 0;
}

const ec_case ec_cases_array_pattern[] = {
    {"array/pattern", case_pattern},       {"array/turn", case_turn},
    {"array/line_sll", case_line_sll},     {"array/line_excess", case_line_excess},
    {"array/grid_sll", case_grid_sll},     {"array/mean", case_mean},
    {"array/spread", case_spread},         {"array/nufft", case_nufft},
    {"array/final", case_final},           {"array/adjoint", case_adjoint},
    {"array/elements", case_elements},     {"array/pieces", case_pieces},
    {"array/neighbours", case_neighbours}, {"array/failures", case_failures},
    {"array/parts", case_parts},           {NULL, NULL},
};
