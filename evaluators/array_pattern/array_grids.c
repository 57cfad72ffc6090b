/* array_grids.c: directions and tensor decompositions that a plan needs. */
#include "array_internal.h"

#include "array_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shipped costs of the paths, in multiply-adds of one lane (measured once on AVX2 cores): a sine
 * and cosine with its float64 phase, and a complex product for two points. */
static const double COST_SINCOS = 16.0, COST_PRODUCT = 4.0;
/* Their rates, a second: of sines and of products on one CPU core; on a GPU (H100) in the general
 * kernel and in those of array_search.cuh, which take small arrays only. */
static const double CPU_RATE[2] = {2e10, 3.3e10}, GPU_RATE[2] = {1e12, 8e12};
static const double GPU_PRODUCT_ELEMENTS = 1024, GPU_PRODUCT_POINTS = 65536;
/* A path that takes so many times what direct sums take is said to. */
static const double DEAR = 2.0;
/* Below this a NUFFT is not considered: a plan of it costs more than it could save. */
static const double NUFFT_LEAST = 1e-6;
/* Sine of theta that stands for a pole where a direction's phi matters there. */
static const double POLE_SINE = 1e-12;

enum {
    /* Final grids: samples a 1/aperture; a |F|^2 of that aperture has no detail below half of it,
     * and every lobe is refined on the true function afterwards. */
    FINAL_CUT_DENSITY = 16,
    FINAL_SURFACE_DENSITY = 8,
    FINAL_CUT_LIMIT = 1 << 20,
    FINAL_AXIS_LIMIT = 2048,
    SIMD_COLUMNS = 32,
    LONGEST_BLOCK = 512
};

/* ---- memory of a plan ---- */

int ec_pattern_reserve(ec_pattern_memory *memory, size_t bytes, void **to)
{
    memory->bytes += bytes;
    *to = NULL;
    if (memory->counted)
        return EC_OK;
    if (memory->count == EC_PATTERN_MEMORY_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED, "array_pattern: more than %d outputs of one array",
                       EC_PATTERN_MEMORY_MAX / 2);
    int status = memory->backend->ops->alloc(memory->backend, bytes ? bytes : 1, to);
    if (status >= 0)
        memory->block[memory->count++] = *to;
    return status;
}

int ec_pattern_upload(ec_pattern_memory *memory, const void *from, size_t bytes, const void **to)
{
    void *block;

    int status = ec_pattern_reserve(memory, bytes, &block);
    if (status < 0)
        return status;
    *to = block;
    return bytes && block ? memory->backend->ops->upload(memory->backend, block, from, bytes)
                          : EC_OK;
}

void ec_pattern_forget(ec_pattern_memory *memory)
{
    for (int32_t i = 0; i < memory->n_nufft; i++)
        ec_nufft_destroy(&memory->nufft[i]);
    memory->n_nufft = 0;
    if (memory->fft)
        memory->backend->ops->fft_destroy(memory->backend, &memory->fft);
    for (int32_t i = 0; i < memory->count; i++)
        memory->backend->ops->release(memory->backend, memory->block[i]);
    memory->count = 0;
}

int ec_pattern_go_on(const ec_pattern_memory *memory)
{
    const ec_interrupt *interrupt = memory->interrupt;

    return interrupt && interrupt->asked(interrupt->user)
               ? ec_fail(EC_ERR_SCRIPT, "array_pattern: interrupted")
               : EC_OK;
}

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for its grid");
}

/* ---- directions ---- */

bool ec_pattern_is_cut(ec_array_grid_kind kind)
{
    return kind == EC_ARRAY_CUT_U || kind == EC_ARRAY_CUT_THETA || kind == EC_ARRAY_CUT_PHI;
}

bool ec_pattern_direct(const ec_array_config *config, double a, double b, double direction[3])
{
    double theta = a, phi = b;

    switch (config->kind) {
    case EC_ARRAY_CUT_U:
    case EC_ARRAY_GRID_UV:
    case EC_ARRAY_DIRECTIONS: {
        double square = 1.0 - a * a - b * b;
        direction[0] = a;
        direction[1] = b;
        direction[2] = square > 0.0 ? sqrt(square) : 0.0;
        return square >= -1e-12;
    }
    default: {
        double s = fabs(theta - EC_PI) < 1e-12 ? 0.0 : sin(theta); /* a pole is one direction */
        /* theta and phi components at a pole are the limit along the direction's own phi */
        if (config->polarization >= EC_POLARIZATION_THETA && fabs(s) < POLE_SINE)
            s = theta < 0.0 ? -POLE_SINE : POLE_SINE;
        direction[0] = s * cos(phi);
        direction[1] = s * sin(phi);
        direction[2] = cos(theta);
        return true;
    }
    }
}

/* Direction of point (a, b) of a grid, where a cut has its own second coordinate. */
static bool grid_direction(const ec_array_config *config, double a, double b, double direction[3])
{
    switch (config->kind) {
    case EC_ARRAY_CUT_U:
    case EC_ARRAY_CUT_THETA:
        return ec_pattern_direct(config, a, config->fixed, direction);
    case EC_ARRAY_CUT_PHI:
        return ec_pattern_direct(config, config->fixed, a, direction);
    default:
        return ec_pattern_direct(config, a, b, direction);
    }
}

void ec_pattern_visible(const ec_array_config *config, double *lo, double *hi)
{
    *lo = config->a[0];
    *hi = config->a[config->na - 1];
    if (config->kind == EC_ARRAY_CUT_U) {
        double edge = sqrt(1.0 - config->fixed * config->fixed);
        *lo = fmax(*lo, -edge);
        *hi = fmin(*hi, edge);
    }
}

/* ---- extents ---- */

bool ec_pattern_is_single(const ec_plan_info *info, int input)
{
    return info->in[input].elements == 1 || info->range[input].lo == info->range[input].hi;
}

static bool is_value(const ec_plan_info *info, int input, double value)
{
    return info->range[input].lo == value && info->range[input].hi == value;
}

void ec_pattern_measure(const ec_plan_info *info, const ec_array_config *config,
                        ec_pattern_extent *extent)
{
    double *along[3] = {&extent->x, &extent->y, &extent->z};
    double shortest = info->range[EC_PATTERN_WAVELENGTH].lo;

    for (int k = 0; k < 3; k++) {
        double width = info->range[EC_PATTERN_X + k].hi - info->range[EC_PATTERN_X + k].lo;
        *along[k] = ec_pattern_is_single(info, EC_PATTERN_X + k) ? 0.0
                    : shortest > 0.0                             ? width / shortest
                                                                 : (double)INFINITY;
        if (!(*along[k] <= 1e9))
            *along[k] = (double)INFINITY;
    }
    /* |u| may be up to the grid's end or 1, and the steering direction comes on top */
    double reach = 0.0, wide = fmax(1.0, fmax(fabs(config->a[0]), fabs(config->a[config->na - 1])));
    for (int k = 0; k < 3; k++) {
        const ec_interval *r = &info->range[EC_PATTERN_X + k], *d = &info->range[EC_PATTERN_U0 + k];
        reach +=
            fmax(fabs(r->lo), fabs(r->hi)) / shortest * (wide + fmax(fabs(d->lo), fabs(d->hi)));
    }
    extent->compact = shortest > 0.0 && reach < 262144.0;
    extent->planar = ec_pattern_is_single(info, EC_PATTERN_Z);
    bool one_x = ec_pattern_is_single(info, EC_PATTERN_X),
         one_y = ec_pattern_is_single(info, EC_PATTERN_Y);
    extent->real = extent->planar && ec_pattern_is_single(info, EC_PATTERN_PHASE) &&
                   (one_x || is_value(info, EC_PATTERN_U0, 0.0)) &&
                   (one_y || is_value(info, EC_PATTERN_V0, 0.0));
    extent->real_v = extent->real && (one_y || config->fixed == 0.0);
}

/* ---- axes ---- */

/* A full circle of phi (or theta from -pi to pi), its end given twice or once. */
static bool is_circle(const double *a, int32_t n, bool *repeats)
{
    double span = a[n - 1] - a[0], step = span / (n - 1);

    *repeats = fabs(span - 2.0 * EC_PI) < 1e-9;
    return *repeats || (n > 2 && fabs(span + step - 2.0 * EC_PI) < 1e-9);
}

static bool is_uniform(const double *a, int32_t n)
{
    double span = a[n - 1] - a[0];

    for (int32_t i = 1; i < n - 1; i++)
        if (fabs(a[i] - (a[0] + span * i / (n - 1))) > 1e-11 * (span + fabs(a[0])))
            return false;
    return true;
}

/* 1/apertures between two points of axis `axis`, the other coordinate at its worst. */
static double phase_length(const ec_array_config *config, const ec_pattern_extent *e, int axis,
                           double from, double to)
{
    double step = to - from, flat = sqrt(e->x * e->x + e->y * e->y);

    switch (config->kind) {
    case EC_ARRAY_CUT_U: {
        double w0 = sqrt(fmax(0.0, 1.0 - from * from - config->fixed * config->fixed));
        double w1 = sqrt(fmax(0.0, 1.0 - to * to - config->fixed * config->fixed));
        return e->x * step + e->z * fabs(w1 - w0);
    }
    case EC_ARRAY_GRID_UV:
        return (axis == 0 ? e->x : e->y) * step + e->z * step;
    case EC_ARRAY_CUT_PHI:
        return flat * fabs(sin(config->fixed)) * step;
    case EC_ARRAY_GRID_THETA_PHI:
        return axis == 0 ? (flat + e->z) * step : flat * step;
    default: {
        double across = fabs(e->x * cos(config->fixed)) + fabs(e->y * sin(config->fixed));
        return (across + e->z) * step;
    }
    }
}

/* Copies an axis, each interval cut into enough parts; a uniform axis stays uniform. */
static int make_axis(const ec_array_config *config, const ec_pattern_extent *extent, int axis,
                     const double *from, int32_t n, bool uniform, bool closes, double wanted,
                     int64_t limit, double **to, int32_t *count, double *density)
{
    double period_end = closes ? from[0] + 2.0 * EC_PI : 0.0;
    int32_t intervals = closes ? n : n - 1;
    int32_t *parts = malloc(((size_t)intervals + 1) * sizeof *parts);
    double shrink = 1.0, total_length = 0.0;
    int64_t total = 0;

    if (!parts)
        return no_memory();
    for (int pass = 0; pass < 2; pass++) {
        int32_t most = 1;
        total = 1;
        total_length = 0.0;
        for (int32_t i = 0; i < intervals; i++) {
            double end = i + 1 < n ? from[i + 1] : period_end;
            double length = phase_length(config, extent, axis, from[i], end);
            total_length += length;
            double p = wanted > 0.0 ? ceil(wanted * shrink * length - 1e-9) : 1.0;
            parts[i] = !(p > 1.0) ? 1 : isinf(p) ? 4 : p > 1e6 ? 1000000 : (int32_t)p;
            most = parts[i] > most ? parts[i] : most;
        }
        for (int32_t i = 0; i < intervals; i++) {
            parts[i] = uniform ? most : parts[i];
            total += parts[i];
        }
        if (total <= limit || wanted <= 0.0)
            break;
        shrink = (double)limit / (double)total * 0.9;
    }
    *density = total_length > 0.0 ? (double)(total - 1) / total_length : (double)INFINITY;
    double *list = malloc(((size_t)total + 1) * sizeof *list);
    if (!list) {
        free(parts);
        return no_memory();
    }
    int32_t at = 0;
    for (int32_t i = 0; i < intervals; i++) {
        double end = i + 1 < n ? from[i + 1] : period_end;
        for (int32_t k = 0; k < parts[i]; k++)
            list[at++] = from[i] + (end - from[i]) * k / parts[i];
    }
    if (!closes)
        list[at++] = from[n - 1];
    free(parts);
    *to = list;
    *count = at;
    return EC_OK;
}

/* The grid as it was given: each direction of the script has its value. The end of a full turn is
 * its start, to the last bit. */
static int copy_axes(const ec_array_config *config, ec_pattern_axes *axes)
{
    bool turns = config->kind == EC_ARRAY_CUT_PHI || config->kind == EC_ARRAY_CUT_THETA;
    bool surface = !ec_pattern_is_cut(config->kind), repeats;
    size_t na = (size_t)config->na, nb = surface ? (size_t)config->nb : 1;

    axes->a = malloc(na * sizeof *axes->a);
    axes->b = malloc(nb * sizeof *axes->b);
    if (!axes->a || !axes->b) {
        ec_pattern_axes_free(axes);
        return no_memory();
    }
    memcpy(axes->a, config->a, na * sizeof *axes->a);
    if (turns && is_circle(config->a, config->na, &repeats) && repeats)
        axes->a[na - 1] = axes->a[0];
    if (!surface) {
        axes->b[0] = 0.0;
        return EC_OK;
    }
    memcpy(axes->b, config->b, nb * sizeof *axes->b);
    if (config->kind == EC_ARRAY_GRID_THETA_PHI && is_circle(config->b, config->nb, &repeats) &&
        repeats)
        axes->b[nb - 1] = axes->b[0];
    axes->nb = config->nb;
    return EC_OK;
}

int ec_pattern_axes_make(const ec_array_config *config, const ec_pattern_extent *extent,
                         ec_pattern_axes_use use, ec_pattern_axes *axes)
{
    bool cut = ec_pattern_is_cut(config->kind), repeats = false, refine = use == EC_AXES_FINE;
    int32_t na = config->na, nb = config->nb;
    double density_b = (double)INFINITY;

    memset(axes, 0, sizeof *axes);
    axes->density = (double)INFINITY;
    axes->na = na;
    axes->nb = 1;
    if (config->kind == EC_ARRAY_DIRECTIONS)
        return EC_OK;
    axes->uniform = is_uniform(config->a, config->na);
    axes->uniform_b = !cut && is_uniform(config->b, config->nb);
    if (use == EC_AXES_GIVEN)
        return copy_axes(config, axes);
    if (config->kind == EC_ARRAY_CUT_PHI || config->kind == EC_ARRAY_CUT_THETA) {
        axes->circular = is_circle(config->a, na, &repeats);
        na -= axes->circular && repeats;
    } else if (config->kind == EC_ARRAY_GRID_THETA_PHI) {
        axes->circular = is_circle(config->b, nb, &repeats);
        nb -= axes->circular && repeats;
    }
    int status =
        make_axis(config, extent, 0, config->a, na, axes->uniform, cut && axes->circular,
                  refine ? (cut ? FINAL_CUT_DENSITY : FINAL_SURFACE_DENSITY) : 0.0,
                  cut ? FINAL_CUT_LIMIT : FINAL_AXIS_LIMIT, &axes->a, &axes->na, &axes->density);
    if (status < 0 || cut)
        return status;
    status = make_axis(config, extent, 1, config->b, nb, axes->uniform_b, axes->circular,
                       refine ? FINAL_SURFACE_DENSITY : 0.0, FINAL_AXIS_LIMIT, &axes->b, &axes->nb,
                       &density_b);
    axes->density = fmin(axes->density, density_b);
    if (status < 0)
        ec_pattern_axes_free(axes);
    return status;
}

void ec_pattern_axes_free(ec_pattern_axes *axes)
{
    free(axes->a);
    free(axes->b);
    axes->a = axes->b = NULL;
}

/* ---- the grid on the backend ---- */

/* What a peak's true height can be over that of the parabola through its samples (an axis each): of
 * the worst lobes among sums of phasors, twice the errors seen at 2 to 16 samples a 1/aperture, which
 * follow 5 / density^3. On the rim of a u-v grid w and so the phases of an array that is not planar
 * turn faster than a density tells; there it is the 1.5 dB over a sample at least. */
static double peak_reach(const ec_array_config *config, const ec_pattern_extent *extent,
                         const ec_pattern_axes *axes)
{
    double axis = ec_pattern_is_cut(config->kind) ? 1.0 : 2.0;
    double reach = 1.001 + 10.0 * axis / (axes->density * axes->density * axes->density);

    return config->kind == EC_ARRAY_GRID_UV && !extent->planar ? fmax(reach, 1.4) : reach;
}

static bool is_symmetric(const double *a, int32_t n, double centre)
{
    double span = a[n - 1] - a[0];

    for (int32_t i = 0; i < n; i++)
        if (fabs(a[i] + a[n - 1 - i] - 2.0 * centre) > 1e-11 * (span + fabs(centre)))
            return false;
    return true;
}

/* The bytes of upload_points; the gain of elements that are not simple counts as uneven. */
static int count_points(ec_pattern_memory *memory, const ec_array_config *config,
                        const ec_pattern_axes *axes, bool needs_row, ec_pattern_args *args)
{
    size_t padded = ec_round_up((size_t)args->grid.points, 64);
    bool surface = config->kind == EC_ARRAY_GRID_UV;
    const void *ignored;
    ec_pattern_gain common;

    ec_pattern_gain_of(config, config->polarization, &common);
    bool turned = common.form == EC_GAIN_COSINE && common.frame.z[2] < 1.0;
    args->grid.even = common.form != EC_GAIN_FIELD && !turned && axes->a &&
                      is_symmetric(axes->a, axes->na, 0.0) &&
                      (!surface || is_symmetric(axes->b, axes->nb, 0.0));
    size_t gains = common.form != EC_GAIN_ONE || surface ? padded * sizeof(float) : 0;
    int status = ec_pattern_upload(memory, NULL, 3 * padded * sizeof(double) + gains, &ignored);
    const double *const none[3] = {NULL, NULL, NULL};
    if (status >= 0 && args->own.parts && needs_row && !args->double_precision)
        status = ec_pattern_fields_make(memory, config, args->own.parts, none, 0, padded,
                                        &args->own.field);
    return status;
}

static int upload_points(ec_pattern_memory *memory, const ec_array_config *config,
                         const ec_pattern_axes *axes, bool needs_row, ec_pattern_args *args)
{
    ec_pattern_grid *grid = &args->grid;
    bool list = config->kind == EC_ARRAY_DIRECTIONS, cut = ec_pattern_is_cut(config->kind);
    size_t points = (size_t)grid->points, padded = ec_round_up(points, 64);
    bool plain = true;
    int status = EC_OK;
    ec_pattern_gain common;

    if (memory->counted)
        return count_points(memory, config, axes, needs_row, args);
    double *d = calloc(3 * padded, sizeof *d);
    float *gain = malloc(padded * sizeof *gain);
    ec_pattern_gain_of(config, config->polarization, &common);
    if (!d || !gain) {
        free(d);
        free(gain);
        return no_memory();
    }
    for (size_t i = 0; i < points; i++) {
        double direction[3];
        bool visible = true;
        if (list) {
            direction[0] = config->a[i];
            direction[1] = config->b[i];
            direction[2] = config->c[i];
        } else {
            visible = grid_direction(config, axes->a[i / (size_t)grid->nb],
                                     cut ? 0.0 : axes->b[i % (size_t)grid->nb], direction);
        }
        for (size_t k = 0; k < 3; k++)
            d[k * padded + i] = direction[k];
        ec_direction at = {direction[0], direction[1], direction[2]};
        double g = ec_gain_power(&common, at);
        /* on a cut the visible stretch says what counts, and interpolation reads beyond it */
        gain[i] = visible || cut ? (float)g : -1.0f;
        plain = plain && gain[i] == 1.0f;
    }
    grid->even = 1;
    for (size_t i = 0; i < points / 2; i++)
        grid->even = grid->even && gain[i] == gain[points - 1 - i];
    const double **to[3] = {&grid->u, &grid->v, &grid->w};
    for (size_t k = 0; k < 3 && status >= 0; k++)
        status =
            ec_pattern_upload(memory, d + k * padded, padded * sizeof *d, (const void **)to[k]);
    if (status >= 0 && !plain)
        status = ec_pattern_upload(memory, gain, padded * sizeof *gain, (const void **)&grid->gain);
    if (status >= 0 && args->own.parts && needs_row && !args->double_precision) {
        const double *const each[3] = {d, d + padded, d + 2 * padded};
        status = ec_pattern_fields_make(memory, config, args->own.parts, each, points, padded,
                                        &args->own.field);
    }
    free(d);
    free(gain);
    return status;
}

/* Edges of the cells about the n points of an axis, [n + 1]: halfway to the neighbours. The outer
 * points' cells end at them, or, on a full turn, halfway too. */
static void cell_edges(const double *a, int32_t n, bool circular, double *edge)
{
    for (int32_t i = 1; i < n; i++)
        edge[i] = 0.5 * (a[i - 1] + a[i]);
    edge[0] = circular ? 0.5 * (a[n - 1] - 2.0 * EC_PI + a[0]) : a[0];
    edge[n] = circular ? edge[0] + 2.0 * EC_PI : a[n - 1];
}

/* Integral of dv / sqrt(1 - u^2 - v^2), a solid angle per u, from 0 to v, over the slice of the
 * disk u^2 + v^2 < 1 between two values of u, by the midpoint rule. */
static double slice_angle(double u0, double u1, double v)
{
    enum { STEPS = 8 };
    double sum = 0.0;

    for (int k = 0; k < STEPS; k++) {
        double u = u0 + (u1 - u0) * (k + 0.5) / STEPS, half = sqrt(fmax(0.0, 1.0 - u * u));
        if (half > 0.0)
            sum += asin(fmax(-1.0, fmin(1.0, v / half)));
    }
    return sum * (u1 - u0) / STEPS;
}

/* Gives the solid angle of cells that overlap the visible disk, but whose point lies outside, to the
 * nearest visible neighbour: next to the rim, where directions are dense in u and v, it is much. */
static void move_inwards(const ec_array_config *config, const ec_pattern_axes *axes, double *weight)
{
    double d[3];

    for (int32_t i = 0; i < axes->na; i++) {
        for (int32_t k = 0; k < axes->nb; k++) {
            double *own = &weight[(size_t)i * (size_t)axes->nb + (size_t)k];
            double u = axes->a[i], v = axes->b[k], least = (double)INFINITY;
            double *nearest = NULL;
            if (*own == 0.0 || ec_pattern_direct(config, u, v, d))
                continue;
            for (int32_t n = 0; n < 9; n++) {
                int32_t j = i + n / 3 - 1, l = k + n % 3 - 1;
                if (j < 0 || j >= axes->na || l < 0 || l >= axes->nb ||
                    !ec_pattern_direct(config, axes->a[j], axes->b[l], d))
                    continue;
                double distance = hypot(axes->a[j] - u, axes->b[l] - v);
                if (distance < least) {
                    least = distance;
                    nearest = &weight[(size_t)j * (size_t)axes->nb + (size_t)l];
                }
            }
            if (nearest)
                *nearest += *own;
            *own = 0.0;
        }
    }
}

int ec_pattern_weights_make(ec_pattern_memory *memory, const ec_array_config *config,
                            const ec_pattern_axes *axes, ec_pattern_args *args)
{
    size_t na = (size_t)axes->na, nb = (size_t)axes->nb;
    bool angles = config->kind == EC_ARRAY_GRID_THETA_PHI;

    if (!angles && config->kind != EC_ARRAY_GRID_UV)
        return EC_OK;
    if (memory->counted)
        return ec_pattern_upload(memory, NULL, na * nb * sizeof(double),
                                 (const void **)&args->grid.weight);
    double *edge_a = malloc((na + 1) * sizeof *edge_a), *edge_b = malloc((nb + 1) * sizeof *edge_b);
    double *weight = malloc(na * nb * sizeof *weight);
    int status = edge_a && edge_b && weight ? EC_OK : no_memory();
    if (status == EC_OK) {
        cell_edges(axes->a, axes->na, false, edge_a);
        cell_edges(axes->b, axes->nb, axes->circular, edge_b);
    }
    for (size_t i = 0; i < na && status == EC_OK; i++) {
        double from = edge_a[i], to = edge_a[i + 1], below = 0.0;
        for (size_t k = 0; k <= nb; k++) {
            /* cos(from) - cos(to), also of narrow cells */
            double above = angles
                               ? 2.0 * sin(0.5 * (to + from)) * sin(0.5 * (to - from)) * edge_b[k]
                               : slice_angle(from, to, edge_b[k]);
            if (k > 0)
                weight[i * nb + k - 1] = above - below;
            below = above;
        }
    }
    if (status == EC_OK && !angles)
        move_inwards(config, axes, weight);
    if (status == EC_OK)
        status = ec_pattern_upload(memory, weight, na * nb * sizeof *weight,
                                   (const void **)&args->grid.weight);
    free(edge_a);
    free(edge_b);
    free(weight);
    return status;
}

/* A uniform cut as blocks of 2 C points: C from the least cost. Fills product, row_u, column_s. */
static void divide_line(const ec_pattern_axes *axes, bool mirrored, ec_pattern_product *product,
                        double *row_u, double *column_s)
{
    int32_t n = axes->na, first = mirrored ? n / 2 : 0, count = n - first;
    double step = (axes->a[n - 1] - axes->a[0]) / (n - 1), best = (double)INFINITY;

    product->paired = 1;
    product->mirrored = mirrored;
    product->first = first;
    product->centre_v = 0.0;
    for (int32_t columns = 8; columns <= LONGEST_BLOCK; columns += 8) {
        int32_t rows = (count + 2 * columns - 1) / (2 * columns);
        int32_t padded = (int32_t)ec_round_up((size_t)columns, SIMD_COLUMNS);
        double cost = COST_PRODUCT * rows * padded + COST_SINCOS * (rows + padded);
        if (cost >= best)
            continue;
        best = cost;
        product->rows = rows;
        product->columns = columns;
        product->padded = padded;
    }
    for (int32_t r = 0; row_u && r < product->rows; r++)
        row_u[r] = axes->a[0] + step * (first + (2.0 * r + 1.0) * product->columns - 0.5);
    for (int32_t b = 0; column_s && b < product->padded; b++)
        column_s[b] = step * (b + 0.5);
}

static void divide_surface(const ec_pattern_axes *axes, bool real, ec_pattern_product *product,
                           double *row_u, double *column_s)
{
    double centre = 0.5 * (axes->b[0] + axes->b[axes->nb - 1]);

    product->paired = is_symmetric(axes->b, axes->nb, centre);
    product->centre_v = product->paired ? centre : 0.0;
    product->mirrored =
        real && product->paired && fabs(centre) < 1e-12 && is_symmetric(axes->a, axes->na, 0.0);
    product->first = product->mirrored ? axes->na / 2 : 0;
    product->rows = axes->na - product->first;
    product->columns = product->paired ? (axes->nb + 1) / 2 : axes->nb;
    product->padded = (int32_t)ec_round_up((size_t)product->columns, SIMD_COLUMNS);
    for (int32_t r = 0; row_u && r < product->rows; r++)
        row_u[r] = axes->a[product->first + r];
    for (int32_t b = 0; column_s && b < product->padded; b++) {
        int32_t ib = axes->nb - product->columns + b;
        column_s[b] = ib < axes->nb ? axes->b[ib] - product->centre_v : 0.0;
    }
}

/* True when the tensor decomposition exists. */
static bool is_tensor(const ec_array_config *config, const ec_pattern_extent *extent,
                      const ec_pattern_axes *axes)
{
    if (!extent->planar)
        return false;
    return config->kind == EC_ARRAY_GRID_UV ||
           (config->kind == EC_ARRAY_CUT_U && axes->uniform && axes->na > 2);
}

/* Sizes of the product, and, where lists are given, its rows and columns. */
static void plan_product(const ec_array_config *config, const ec_pattern_extent *extent,
                         const ec_pattern_axes *axes, ec_pattern_args *args, double *row_u,
                         double *column_s)
{
    ec_pattern_product *product = &args->product;

    if (config->kind == EC_ARRAY_CUT_U) {
        divide_line(axes, extent->real_v && is_symmetric(axes->a, axes->na, 0.0), product, row_u,
                    column_s);
        product->centre_v = config->fixed;
    } else {
        /* half a surface stands for the whole, gains included */
        divide_surface(axes, extent->real && args->grid.even, product, row_u, column_s);
    }
}

static int make_product(ec_pattern_memory *memory, const ec_array_config *config,
                        const ec_pattern_extent *extent, const ec_pattern_axes *axes,
                        ec_pattern_args *args)
{
    ec_pattern_product *product = &args->product;
    size_t longest = (size_t)(axes->na > axes->nb ? axes->na : axes->nb) + LONGEST_BLOCK + 64;
    double *list = calloc(2 * longest, sizeof *list);

    if (!list)
        return no_memory();
    plan_product(config, extent, axes, args, list, list + longest);
    int status = ec_pattern_upload(memory, list, (size_t)product->rows * sizeof *list,
                                   (const void **)&product->row_u);
    if (status >= 0)
        status = ec_pattern_upload(memory, list + longest, (size_t)product->padded * sizeof *list,
                                   (const void **)&product->column_s);
    free(list);
    return status;
}

static bool allows(const ec_array_config *config, ec_array_method wish, ec_array_method method)
{
    if (ec_pattern_has_own(config) && method != EC_METHOD_DIRECT)
        return false;
    return wish == EC_METHOD_AUTO || wish == method;
}

/* Predicted seconds a design of the paths that there are and that the script allows; the others
 * INFINITY. */
typedef struct path_costs {
    double row[EC_ROW_GIVEN];
    double direct; /* of a direct sum, allowed or not */
    ec_pattern_trial *trial;
    char nufft[320]; /* describes it */
} path_costs;

static int predict_paths(const ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_extent *extent, const ec_pattern_axes *axes,
                         ec_array_method wish, ec_pattern_args *args, path_costs *costs)
{
    const ec_array_config *config = &setup->config;
    const ec_pattern_product *p = &args->product;
    double points = args->grid.points, elements = config->elements, *cost = costs->row;
    bool cuda = memory->backend->is_cuda;
    const double *rate = cuda ? GPU_RATE : CPU_RATE;
    bool fast = !cuda || (elements <= GPU_PRODUCT_ELEMENTS && points <= GPU_PRODUCT_POINTS);
    int status = EC_OK;

    *costs = (path_costs){.direct = COST_SINCOS * points * elements / rate[0]};
    for (int32_t k = 0; k < EC_ROW_GIVEN; k++)
        cost[k] = (double)INFINITY;
    if (args->fields && wish != EC_METHOD_NUFFT)
        cost[EC_ROW_NONE] = 2.0 * costs->direct; /* in float64 */
    if (!args->fields && allows(config, wish, EC_METHOD_DIRECT))
        cost[EC_ROW_DIRECT] = costs->direct;
    if (!args->fields && allows(config, wish, EC_METHOD_PRODUCT) &&
        is_tensor(config, extent, axes)) {
        plan_product(config, extent, axes, args, NULL, NULL);
        cost[EC_ROW_PRODUCT] =
            elements * (COST_PRODUCT * p->rows * p->padded + COST_SINCOS * (p->rows + p->padded)) /
            rate[fast];
    }
    double least = fmin(fmin(cost[EC_ROW_NONE], cost[EC_ROW_DIRECT]), cost[EC_ROW_PRODUCT]);
    if (allows(config, wish, EC_METHOD_NUFFT) && ec_pattern_nufft_fits(config, axes) &&
        (wish == EC_METHOD_NUFFT || least > NUFFT_LEAST)) {
        status = ec_pattern_nufft_make(memory, setup, axes, args, &costs->trial,
                                       &cost[EC_ROW_NUFFT], costs->nufft, sizeof costs->nufft);
        if (status == EC_ERR_UNSUPPORTED && wish == EC_METHOD_AUTO)
            status = EC_OK; /* too deep an array for it */
    }
    return status;
}

static void describe_path(const ec_array_config *config, const path_costs *costs,
                          const ec_pattern_args *args, char *text, size_t size)
{
    const ec_pattern_product *p = &args->product;
    double points = args->grid.points, cost = costs->row[args->row];
    char level[64] = "float64";

    if (!args->double_precision) /* a phasor's error, or a sum's in the worst order */
        snprintf(level, sizeof level, "float32 (error below %.0f dB of sum |a|)",
                 20.0 * log10(fmax(6e-7, args->elements * 6e-8)));
    /* what the script asked for may be dear: direct sums of a pattern are in float64 */
    double sums = args->fields ? 2.0 * costs->direct : costs->direct;
    if (args->row == EC_ROW_NUFFT) {
        snprintf(text, size, "%s, %s, %.0f points: predicted %.3g s a design (direct sum: %.3g s)",
                 costs->nufft, args->nufft.wide ? "float64" : "float32", points, cost, sums);
        if (cost > DEAR * sums) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "; method 'direct' is predicted %.0f times as fast",
                     cost / sums);
        }
        return;
    }
    if (args->row == EC_ROW_PRODUCT)
        snprintf(text, size,
                 "%s product %d x %d%s, %s, %.0f points: predicted %.3g s a design "
                 "(direct sum: %.3g s)",
                 args->grid.topology == EC_PATTERN_CUT ? "line" : "u-v", p->rows, p->columns,
                 p->mirrored ? ", half by symmetry" : "", level, points, cost, costs->direct);
    else
        snprintf(text, size, "direct sum%s, %s, %.0f points: predicted %.3g s a design",
                 args->own.parts ? " of the elements' own fields" : "", level, points, cost);
    if (config->part || config->parts > 0) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "; the sub-arrays are not used");
    }
}

/* The cheapest path by predicted seconds a design, of which alone there is something on the backend;
 * a path that was asked for and is not there is an error. */
static int choose_row(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                      const ec_pattern_extent *extent, const ec_pattern_axes *axes,
                      ec_pattern_args *args, char *text, size_t size)
{
    const ec_array_config *config = &setup->config;
    ec_array_method wish = config->method;
    path_costs costs;

    int status = predict_paths(memory, setup, extent, axes, wish, args, &costs);
    int32_t row = EC_ROW_NONE;
    for (int32_t k = EC_ROW_DIRECT; k <= EC_ROW_NUFFT; k++)
        row = costs.row[k] < costs.row[row] ? k : row;
    args->row = row;
    if (status >= 0 && row == EC_ROW_NONE && !(args->fields && isfinite(costs.row[row])))
        status = ec_fail(EC_ERR_UNSUPPORTED,
                         wish == EC_METHOD_PRODUCT
                             ? "array: method 'product' needs a uniform u cut or a u-v grid, and "
                               "elements in one plane of constant z"
                             : "array: method 'nufft' needs a uniform u cut or u-v grid");
    if (status >= 0 && row != EC_ROW_NONE)
        describe_path(config, &costs, args, text, size);
    if (status >= 0 && row == EC_ROW_PRODUCT)
        status = make_product(memory, config, extent, axes, args);
    if (status >= 0 && row == EC_ROW_NUFFT)
        status = ec_pattern_nufft_use(memory, setup, axes, costs.trial, args);
    else
        memset(&args->nufft, 0, sizeof args->nufft);
    ec_pattern_nufft_drop(&costs.trial);
    return status;
}

int ec_pattern_grid_make(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_extent *extent, const ec_pattern_axes *axes,
                         bool needs_row, ec_pattern_args *args, char *text, size_t size)
{
    const ec_array_config *config = &setup->config;
    ec_pattern_grid *grid = &args->grid;
    int status = EC_OK;

    memset(grid, 0, sizeof *grid);
    grid->kind = config->kind;
    grid->topology = config->kind == EC_ARRAY_DIRECTIONS ? EC_PATTERN_LIST
                     : ec_pattern_is_cut(config->kind)   ? EC_PATTERN_CUT
                                                         : EC_PATTERN_SURFACE;
    grid->na = axes->na;
    grid->nb = axes->nb;
    grid->points = axes->na * axes->nb;
    grid->circular = axes->circular;
    grid->uniform = axes->uniform && (ec_pattern_is_cut(config->kind) || axes->uniform_b);
    if (axes->uniform && axes->a) {
        grid->start = axes->a[0];
        grid->step = (axes->a[axes->na - 1] - axes->a[0]) / (axes->na - 1);
        grid->per_step = 1.0 / grid->step;
    }
    grid->period = axes->circular ? 2.0 * EC_PI : 0.0;
    grid->fixed = config->fixed;
    grid->fixed_sin = sin(config->fixed);
    grid->fixed_cos = cos(config->fixed);
    grid->pole =
        config->kind == EC_ARRAY_GRID_THETA_PHI && config->polarization >= EC_POLARIZATION_THETA
            ? POLE_SINE
            : 0.0;
    grid->reach = peak_reach(config, extent, axes);
    if (ec_pattern_is_cut(config->kind)) {
        ec_pattern_visible(config, &grid->lo, &grid->hi);
        grid->first = 0;
        grid->last = axes->na - 1;
        while (grid->first < axes->na && axes->a[grid->first] < grid->lo)
            grid->first++;
        while (grid->last >= 0 && axes->a[grid->last] > grid->hi)
            grid->last--;
    }
    if (axes->a)
        status = ec_pattern_upload(memory, axes->a, (size_t)axes->na * sizeof *axes->a,
                                   (const void **)&grid->a);
    if (status >= 0 && axes->b)
        status = ec_pattern_upload(memory, axes->b, (size_t)axes->nb * sizeof *axes->b,
                                   (const void **)&grid->b);
    if (status >= 0)
        status = upload_points(memory, config, axes, needs_row, args);
    args->row = EC_ROW_NONE;
    memset(&args->product, 0, sizeof args->product);
    if (status < 0 || !(needs_row || args->fields))
        return status;

    return choose_row(memory, setup, extent, axes, args, text, size);
}
