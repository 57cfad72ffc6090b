/* array_nufft.c: plans the NUFFT path of a pattern: the expansion in z, the transform on the CPU
 * (nufft.h), the fine grid and the window on CUDA (array_spread.cuh), and what both cost. */
#include "array_pattern_expansion.h"
#include "array_internal.h"
#include "nufft.h"
#include "nufft_window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGED_BYTES = 256 << 20, /* CUDA: of the fine grids of one batch of candidates */
    STAGED_MAX = 1024,
    SORT_BINS_MAX = 50000, /* a block's shared memory */
    FINE_MAX = 32768
};

/* Shipped costs on a GPU in seconds, measured on an H100: a byte of its memory, an addition to
 * shared memory. */
static const double COST_BYTE = 4e-13, COST_UPDATE = 6e-13;

static bool is_uniform_axis(const double *a, int32_t n)
{
    double span = a[n - 1] - a[0];

    for (int32_t i = 1; i < n - 1; i++)
        if (fabs(a[i] - (a[0] + span * i / (n - 1))) > 1e-11 * (span + fabs(a[0])))
            return false;
    return n > 1;
}

/* Interval of an input over the wavelength. */
static ec_interval in_wavelengths(const ec_pattern_args *args, int input)
{
    const ec_pattern_view *r = &args->in[input], *l = &args->in[EC_PATTERN_WAVELENGTH];
    ec_interval z = {fmin(r->lo / l->lo, r->lo / l->hi), fmax(r->hi / l->lo, r->hi / l->hi)};

    return z;
}

/* Interval of the direction cosine w over the visible points. */
static ec_interval visible_w(const ec_array_config *config, const ec_pattern_axes *axes)
{
    ec_interval w = {1.0, 0.0};
    int32_t nb = config->kind == EC_ARRAY_CUT_U ? 1 : axes->nb;

    for (int32_t i = 0; i < axes->na * nb; i++) {
        double d[3];
        double b = config->kind == EC_ARRAY_CUT_U ? config->fixed : axes->b[i % nb];
        if (!ec_pattern_direct(config, axes->a[i / nb], b, d))
            continue;
        w.lo = fmin(w.lo, d[2]);
        w.hi = fmax(w.hi, d[2]);
    }
    return w;
}

static int make_expansion(ec_pattern_memory *memory, const ec_array_config *config,
                          const ec_pattern_axes *axes, double tolerance, ec_pattern_args *args,
                          ec_pattern_nufft *nufft)
{
    ec_interval z = in_wavelengths(args, EC_PATTERN_Z), w = visible_w(config, axes);
    double half_w = 0.5 * (w.hi - w.lo);

    nufft->terms = 1;
    if (args->planar || !(half_w > 0.0))
        return EC_OK;
    nufft->w_c = 0.5 * (w.lo + w.hi);
    nufft->z_c = 0.5 * (z.lo + z.hi);
    nufft->z_half = 0.5 * (z.hi - z.lo) * (1.0 + 1e-9) + 1e-300;
    nufft->taylor = config->expansion == EC_EXPANSION_TAYLOR;
    double x = 2.0 * EC_PI * nufft->z_half * half_w;
    nufft->terms = x < 4.0 * EC_PATTERN_TERMS_MAX
                       ? ec_expansion_terms(config->expansion, x, tolerance, EC_PATTERN_TERMS_MAX)
                       : EC_PATTERN_TERMS_MAX + 1;
    if (nufft->terms > EC_PATTERN_TERMS_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "array: method 'nufft': the elements' z spans %.4g wavelengths, which needs "
                       "more than %d terms of the expansion in z; bound z or choose "
                       "method = \"direct\"",
                       2.0 * nufft->z_half, EC_PATTERN_TERMS_MAX);
    size_t points = (size_t)args->grid.points;
    size_t terms = (size_t)nufft->terms;
    float *factor = malloc(terms * points * sizeof *factor);
    if (!factor)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for an expansion in z");
    for (size_t i = 0; i < points; i++) {
        double d[3], f[EC_PATTERN_TERMS_MAX];
        size_t nb = (size_t)axes->nb;
        bool cut = config->kind == EC_ARRAY_CUT_U;
        ec_pattern_direct(config, axes->a[cut ? i : i / nb], cut ? config->fixed : axes->b[i % nb],
                          d);
        double omega = fmin(fmax(d[2], w.lo), w.hi) - nufft->w_c;
        ec_expansion_factors(config->expansion, 2.0 * EC_PI * nufft->z_half * omega, nufft->terms,
                             f);
        for (size_t p = 0; p < terms; p++)
            factor[p * points + i] = (float)f[p];
    }
    int status = ec_pattern_upload(memory, factor, terms * points * sizeof *factor,
                                   (const void **)&nufft->factor);
    free(factor);
    return status;
}

/* ---- CPU ---- */

static int make_cpu(ec_pattern_memory *memory, const ec_array_config *config,
                    const ec_pattern_axes *axes, double tolerance, const ec_pattern_args *args,
                    ec_pattern_nufft *nufft, double *cost, char *text, size_t size)
{
    bool cut = config->kind == EC_ARRAY_CUT_U;
    ec_nufft_info info = {.type = 1,
                          .dim = cut ? 1 : 2,
                          .modes = {axes->na, cut ? 1 : axes->nb},
                          .points = config->elements,
                          .double_precision = args->double_precision,
                          .sign = 1,
                          .tolerance = tolerance,
                          .method = EC_NUFFT_FFT};

    int status = ec_nufft_create(memory->backend, &info, &memory->nufft);
    if (status < 0)
        return status;
    nufft->plan = ec_nufft_plan_args(memory->nufft);
    size_t real = args->double_precision ? sizeof(double) : sizeof(float), at = 0;
    size_t n = (size_t)config->elements, points = (size_t)args->grid.points;
    size_t terms = (size_t)nufft->terms;
    nufft->at_point = at;
    at += ec_round_up(2 * n * sizeof(double), 64);
    nufft->at_strength = at;
    at += ec_round_up(2 * terms * n * real, 64);
    nufft->at_field = at;
    at += ec_round_up(2 * terms * points * real, 64);
    nufft->at_work = at;
    *cost = ec_nufft_cost(memory->nufft) * nufft->terms;
    ec_nufft_describe(memory->nufft, text, size);
    return EC_OK;
}

/* ---- CUDA ---- */

/* The next even product of powers of 2, 3, 5 and 7. */
static int32_t next_smooth(double from)
{
    for (int32_t n = 2 * (int32_t)ceil(0.5 * from);; n += 2) {
        int32_t rest = n;
        for (int32_t prime = 2; prime <= 7; prime += 1 + (prime > 2))
            while (rest % prime == 0)
                rest /= prime;
        if (rest == 1)
            return n;
    }
}

/* Error of a window on the planned fine grid: aliases of both axes, all of one phase. */
static double window_error(const ec_nufft_window *window, const ec_pattern_axes *axes,
                           const int32_t fine[2])
{
    ec_nufft_window_quality a, b;

    ec_nufft_window_error(window, axes->na, fine[0], &a);
    ec_nufft_window_error(window, axes->nb, fine[1], &b);
    return sqrt(a.rms * a.rms + b.rms * b.rms + 2.0 * a.mean * b.mean);
}

/* The cheapest pair of oversampling and width that meets the tolerance; its cost in seconds. */
static double choose_window(const ec_pattern_axes *axes, double tolerance, int32_t elements,
                            int32_t terms, ec_pattern_nufft *nufft, ec_nufft_window *window)
{
    static const double upsampling[] = {1.25, 1.5, 2.0};
    double best = (double)INFINITY;

    for (size_t k = 0; k < sizeof upsampling / sizeof *upsampling; k++) {
        for (int32_t width = 2; width <= EC_SPREAD_WIDTH_MAX; width++) {
            ec_nufft_window trial;
            int32_t fine[2] = {next_smooth(fmax(upsampling[k] * axes->na, 2.0 * width)),
                               next_smooth(fmax(upsampling[k] * axes->nb, 2.0 * width))};
            ec_nufft_window_make(
                width, fmin((double)fine[0] / axes->na, (double)fine[1] / axes->nb), &trial);
            if (window_error(&trial, axes, fine) > tolerance)
                continue;
            double cells = (double)fine[0] * fine[1];
            double cost = terms * (48.0 * COST_BYTE * cells +
                                   2.0 * COST_UPDATE * width * width * (double)elements) +
                          12.0 * COST_BYTE * axes->na * axes->nb;
            if (cost < best) {
                best = cost;
                *window = trial;
                nufft->fine[0] = fine[0];
                nufft->fine[1] = fine[1];
                nufft->width = width;
            }
            break;
        }
    }
    return best;
}

static int upload_window(ec_pattern_memory *memory, const ec_nufft_window *window,
                         const ec_pattern_axes *axes, double tolerance, ec_pattern_nufft *nufft)
{
    enum { COUNT_MAX = EC_SPREAD_DEGREE_MAX + 1 };
    double fit[COUNT_MAX * EC_SPREAD_WIDTH_MAX];
    float list[COUNT_MAX * EC_SPREAD_WIDTH_MAX];
    int32_t count = 4, modes[2] = {axes->na, axes->nb};

    /* the fewest coefficients whose error is below a tenth of the tolerance, seen between the
     * nodes that the fit interpolates at */
    for (;; count++) {
        double worst = 0.0;
        ec_nufft_window_fit(window, count, nufft->width, fit);
        for (int32_t t = 0; t < nufft->width; t++)
            for (int i = 0; i <= 32; i++) {
                double s = i / 32.0, value = fit[t];
                for (int32_t d = 1; d < count; d++)
                    value = value * (2.0 * s - 1.0) + fit[d * nufft->width + t];
                double want = ec_nufft_window_value(window, t + s - 0.5 * nufft->width);
                worst = fmax(worst, fabs(value - want));
            }
        if (worst < 0.1 * tolerance || count == COUNT_MAX)
            break;
    }
    for (int32_t k = 0; k < count * nufft->width; k++)
        list[k] = (float)fit[k];
    nufft->degree = count - 1;
    int status = ec_pattern_upload(memory, list, (size_t)(count * nufft->width) * sizeof *list,
                                   (const void **)&nufft->window);
    for (int k = 0; k < 2 && status >= 0; k++) {
        float *level = malloc((size_t)modes[k] * sizeof *level);
        if (!level)
            return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a window");
        for (int32_t i = 0; i < modes[k]; i++)
            level[i] = (float)(1.0 / ec_nufft_window_transform(window, (double)(i - modes[k] / 2) /
                                                                           nufft->fine[k]));
        status = ec_pattern_upload(memory, level, (size_t)modes[k] * sizeof *level,
                                   (const void **)&nufft->level[k]);
        free(level);
    }
    return status;
}

static int make_cuda(ec_pattern_memory *memory, const ec_array_config *config,
                     const ec_pattern_axes *axes, double tolerance, const ec_pattern_args *args,
                     ec_pattern_nufft *nufft, double *cost, char *text, size_t size)
{
    ec_nufft_window window = {0};

    *cost = (double)INFINITY;
    if (config->kind != EC_ARRAY_GRID_UV || args->double_precision)
        return EC_OK;
    *cost = choose_window(axes, tolerance, config->elements, nufft->terms, nufft, &window);
    if (isinf(*cost))
        return EC_OK;
    for (int k = 0; k < 2; k++)
        nufft->bins[k] = (nufft->fine[k] + EC_SPREAD_BIN - 1) / EC_SPREAD_BIN;
    if (nufft->bins[0] * nufft->bins[1] > SORT_BINS_MAX || nufft->fine[0] > FINE_MAX ||
        nufft->fine[1] > FINE_MAX) {
        *cost = (double)INFINITY;
        return EC_OK;
    }
    snprintf(text, size, "NUFFT, width %d, grid %d x %d, tolerance %.3g", nufft->width,
             nufft->fine[0], nufft->fine[1], tolerance);
    return upload_window(memory, &window, axes, tolerance, nufft);
}

/* Buffers of a batch of candidates and the FFT over their grids. */
static int stage_cuda(ec_pattern_memory *memory, const ec_pattern_args *args,
                      ec_pattern_nufft *nufft)
{
    size_t cells = (size_t)nufft->fine[0] * (size_t)nufft->fine[1];
    size_t bytes = cells * (size_t)nufft->terms * sizeof(ec_c64);
    size_t staged = STAGED_BYTES / bytes;
    size_t bins = (size_t)nufft->bins[0] * (size_t)nufft->bins[1];

    staged = staged < 1 ? 1 : staged > STAGED_MAX ? STAGED_MAX : staged;
    nufft->staged = (int32_t)staged;
    int status = ec_pattern_reserve(memory, staged * bytes, (void **)&nufft->fields);
    if (status >= 0)
        status =
            ec_pattern_reserve(memory, staged * (size_t)args->grid.points * sizeof *nufft->rows,
                               (void **)&nufft->rows);
    if (status >= 0)
        status =
            ec_pattern_reserve(memory, staged * (size_t)args->elements * 8 * sizeof *nufft->record,
                               (void **)&nufft->record);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * (bins + 1) * sizeof *nufft->start,
                                    (void **)&nufft->start);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->bad, (void **)&nufft->bad);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->top, (void **)&nufft->top);
    if (status < 0)
        return status;
    ec_fft_info info = {.rank = 2,
                        .size = {(size_t)nufft->fine[0], (size_t)nufft->fine[1]},
                        .batch = staged * (size_t)nufft->terms,
                        .double_precision = false,
                        .sign = 1};
    return memory->backend->ops->fft_create(memory->backend, &info, &memory->fft);
}

/* ---- both ---- */

bool ec_pattern_nufft_fits(const ec_array_config *config, const ec_pattern_axes *axes)
{
    if (config->kind == EC_ARRAY_CUT_U)
        return axes->uniform && axes->na > 2;
    return config->kind == EC_ARRAY_GRID_UV && axes->uniform && is_uniform_axis(axes->b, axes->nb);
}

int ec_pattern_nufft_make(ec_pattern_memory *memory, const ec_array_config *config,
                          const ec_pattern_axes *axes, ec_pattern_args *args, double *cost,
                          char *text, size_t size)
{
    ec_pattern_nufft *nufft = &args->nufft;
    bool cut = config->kind == EC_ARRAY_CUT_U;
    double tolerance = config->tolerance > 0.0  ? config->tolerance
                       : args->double_precision ? 1e-9
                                                : 1e-4;
    double finest = args->double_precision ? 1e-9 : 2e-6;
    char way[160] = "";

    memset(nufft, 0, sizeof *nufft);
    *cost = (double)INFINITY;
    if (args->exact) /* a search's tolerance does not make the final figures coarse */
        tolerance = fmin(tolerance, finest);
    nufft->step_u = (axes->a[axes->na - 1] - axes->a[0]) / (axes->na - 1);
    nufft->centre_u = axes->a[0] + nufft->step_u * (axes->na / 2);
    nufft->step_v = cut ? 0.0 : (axes->b[axes->nb - 1] - axes->b[0]) / (axes->nb - 1);
    nufft->centre_v = cut ? config->fixed : axes->b[0] + nufft->step_v * (axes->nb / 2);
    int status = make_expansion(memory, config, axes, 0.5 * tolerance, args, nufft);
    if (status < 0)
        return status;
    double share = nufft->terms > 1 ? 0.5 * tolerance : tolerance;
    share = fmax(share, args->double_precision ? 1e-12 : 1e-6); /* what the transform reaches */
    if (memory->backend->is_cuda)
        status = make_cuda(memory, config, axes, share, args, nufft, cost, way, sizeof way);
    else
        status = make_cpu(memory, config, axes, share, args, nufft, cost, way, sizeof way);
    if (status < 0)
        return status;
    if (nufft->terms > 1)
        snprintf(text, size, "%s, %d %s terms in z", way, nufft->terms,
                 nufft->taylor ? "Taylor" : "Chebyshev");
    else
        snprintf(text, size, "%s", way);
    nufft->noise_log = 2.0 * log(tolerance);
    return EC_OK;
}

int ec_pattern_nufft_use(ec_pattern_memory *memory, ec_pattern_args *args)
{
    args->row = EC_ROW_NUFFT;
    args->zero_log = fmax(args->zero_log, args->nufft.noise_log);
    return memory->backend->is_cuda ? stage_cuda(memory, args, &args->nufft) : EC_OK;
}

size_t ec_pattern_nufft_bytes(const ec_pattern_args *args)
{
    return args->nufft.plan ? args->nufft.at_work + args->nufft.plan->workspace_bytes : 0;
}

/* Candidates pass through the staging buffers in batches. */
int ec_pattern_nufft_run(const ec_pattern_memory *memory, const ec_kernel *kernel,
                         ec_pattern_args *args)
{
    const ec_backend_ops *ops = memory->backend->ops;
    ec_pattern_nufft *nufft = &args->nufft;
    size_t tasks = args->n * args->samples, staged = (size_t)nufft->staged;
    int status = EC_OK;

    for (size_t first = 0; first < tasks && status >= 0; first += staged) {
        nufft->first = first;
        nufft->count = tasks - first < staged ? tasks - first : staged;
        nufft->stage = EC_SPREAD_STAGE;
        status = ops->launch(memory->backend, kernel, args, args->n, 1);
        if (status >= 0)
            status = ops->fft_run(memory->backend, memory->fft, nufft->fields, nufft->fields);
        nufft->stage = EC_POWER_STAGE;
        if (status >= 0)
            status = ops->launch(memory->backend, kernel, args, args->n, 1);
    }
    return status;
}
