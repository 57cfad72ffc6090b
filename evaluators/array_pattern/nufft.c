/* nufft.c: plans of NUFFTs: choice of window and fine grid, tables, layout of the workspace. */
#include "nufft.h"

#include "nufft_cuda.h"
#include "nufft_kernels.h"
#include "nufft_window.h"

#include "../../core/detmath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_CPU_PROTOTYPES(nufft)
static const ec_kernel ec_kernel_nufft = {"nufft", sizeof(ec_nufft_batch_args), EC_KERNEL_SERIAL,
                                          EC_KERNEL_CPU_POINTERS(nufft), NULL};

enum {
    BLOCKS_MAX = 24, /* memory blocks of a plan */
    COEFFICIENTS_MAX = 20,
    ERROR_SAMPLES = 32,
    SORTED_POINTS = 1000, /* from so many points and so large a grid on, sorting pays: measured */
    SORTED_BYTES = 256 * 1024,
    FAR_CELLS = 1 << 18, /* float32 cells in a second cache of 2 MiB */
    MODES_MAX = 1 << 26, /* along one axis */
    CELLS_MAX = 1 << 28  /* in both */
};

struct ec_nufft {
    ec_backend *backend;
    ec_nufft_info info;
    ec_nufft_args args;
    ec_nufft_window window;
    double cost, cost_point, error, upsampling;
    ec_nufft *inner;     /* type 3: from the grid to the targets */
    char *workspace;     /* of ec_nufft_run, one a thread; NULL before the first */
    ec_nufft_cuda *cuda; /* on a GPU: buffers and FFT of a batch */
    int32_t n_blocks;
    void *block[BLOCKS_MAX];
};

/* ---- memory ---- */

static int reserve(ec_nufft *plan, size_t bytes, void **memory)
{
    if (plan->n_blocks == BLOCKS_MAX)
        return ec_fail(EC_ERR_INTERNAL, "nufft: a plan has more than %d tables", BLOCKS_MAX);
    int status = plan->backend->ops->alloc(plan->backend, bytes, memory);
    if (status >= 0)
        plan->block[plan->n_blocks++] = *memory;
    return status;
}

/* A table filled in on the host becomes one of the plan on its backend; `draft` is freed. */
static int keep(ec_nufft *plan, void *draft, size_t bytes, const void **table)
{
    void *memory = NULL;
    int status = reserve(plan, bytes, &memory);

    if (status >= 0)
        status = plan->backend->ops->upload(plan->backend, memory, draft, bytes);
    free(draft);
    *table = memory;
    return status;
}

static int draft_table(size_t bytes, void **draft)
{
    *draft = malloc(bytes);
    return *draft ? EC_OK : ec_fail(EC_ERR_MEMORY, "nufft: no memory for a table");
}

static size_t real_bytes(const ec_nufft *plan)
{
    return plan->info.double_precision ? sizeof(double) : sizeof(float);
}

static void store(const ec_nufft *plan, void *table, size_t i, double value)
{
    if (plan->info.double_precision)
        ((double *)table)[i] = value;
    else
        ((float *)table)[i] = (float)value;
}

/* ---- checks ---- */

static double reachable(bool double_precision)
{
    return double_precision ? 1e-12 : 1e-6;
}

static int check_regular(const ec_nufft_info *info)
{
    if (info->regular < 0 || info->regular > 2 || info->dim != 2)
        return ec_fail(EC_ERR_ARGUMENT,
                       "nufft: regular = %d with dim = %d; allowed are 1 and 2 with dim = 2",
                       info->regular, info->dim);
    int32_t modes = info->modes[info->regular - 1];
    if (modes < 1 || modes > MODES_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: modes[%d] = %d; allowed are 1 to %d",
                       info->regular - 1, modes, MODES_MAX);
    if (info->targets % modes != 0)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: targets = %d; a multiple of the %d modes is needed",
                       info->targets, modes);
    if (info->method == EC_NUFFT_DIRECT)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: regular targets have no direct sum");
    return EC_OK;
}

static int check_spans(const ec_nufft_info *info)
{
    if (info->targets < 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: targets = %d; at least 1 is needed", info->targets);
    if (info->regular != 0) {
        int status = check_regular(info);
        if (status < 0)
            return status;
    }
    for (int32_t d = 0; d < info->dim; d++) {
        if (d == info->regular - 1)
            continue;
        if (!(info->span[d] >= 0.0))
            return ec_fail(EC_ERR_ARGUMENT, "nufft: span[%d] = %g; at least 0 is needed", d,
                           info->span[d]);
        if (!(info->target_span[d] >= 0.0))
            return ec_fail(EC_ERR_ARGUMENT, "nufft: target_span[%d] = %g; at least 0 is needed", d,
                           info->target_span[d]);
    }
    return EC_OK;
}

static int check_modes(const ec_nufft_info *info)
{
    for (int32_t d = 0; d < info->dim; d++)
        if (info->modes[d] < 1 || info->modes[d] > MODES_MAX)
            return ec_fail(EC_ERR_ARGUMENT, "nufft: modes[%d] = %d; allowed are 1 to %d", d,
                           info->modes[d], MODES_MAX);
    if (info->dim == 2 && (int64_t)info->modes[0] * info->modes[1] > CELLS_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: %d x %d modes; at most %d are allowed",
                       info->modes[0], info->modes[1], CELLS_MAX);
    return EC_OK;
}

static int check_info(const ec_nufft_info *info)
{
    double least = reachable(info->double_precision);

    if (info->type < 1 || info->type > 3)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: type = %d; allowed are 1, 2 and 3", info->type);
    if (info->dim < 1 || info->dim > 2)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: dim = %d; allowed are 1 and 2", info->dim);
    int status = info->type == 3 ? check_spans(info) : check_modes(info);
    if (status < 0)
        return status;
    if (info->points < 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: points = %d; at least 1 is needed", info->points);
    if (info->sign != -1 && info->sign != 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: sign = %d; allowed are -1 and +1", info->sign);
    if (!(info->tolerance > 0.0 && info->tolerance <= 0.1))
        return ec_fail(EC_ERR_ARGUMENT, "nufft: tolerance = %g; allowed is %g to 0.1",
                       info->tolerance, least);
    if (info->tolerance < least * (1.0 - 1e-9))
        return ec_fail(EC_ERR_ARGUMENT, "nufft: tolerance = %g; %s precision reaches %g%s",
                       info->tolerance, info->double_precision ? "double" : "single", least,
                       info->double_precision ? "" : ", double precision 1e-12");
    if (info->upsampling != 0.0 && !(info->upsampling >= 1.2 && info->upsampling <= 4.0))
        return ec_fail(EC_ERR_ARGUMENT,
                       "nufft: upsampling = %g; allowed are 1.2 to 4, or 0 for a choice by cost",
                       info->upsampling);
    return EC_OK;
}

/* ---- choice of window and grid ---- */

/* The smallest 2^a 3^b 5^c that is no smaller than n. */
static int32_t smooth_size(int32_t n)
{
    int64_t best = INT64_MAX;

    for (int64_t five = 1; five < 2 * (int64_t)n; five *= 5)
        for (int64_t three = five; three < 2 * (int64_t)n; three *= 3) {
            int64_t size = three;
            while (size < n)
                size *= 2;
            best = size < best ? size : best;
        }
    return (int32_t)best;
}

typedef struct choice {
    bool direct;
    int32_t grid[2], padded;
    ec_nufft_window window;
    double upsampling, gain, error, cost;
    double cost_point; /* the part of the cost that each point has */
    bool lines;        /* type 2 in one dimension over lines that are transformed together */
    double fit;        /* allowed error of the window's polynomials */
    double cell[2];    /* type 3: h, in units of the points */
} choice;

/* Shipped cost constants: seconds on one core at 2.6 GHz with 512-bit vectors, fitted to measured
 * times. Only their ratios choose. */
static const double SECONDS_POINT = 2e-9;      /* place of a point along an axis */
static const double SECONDS_VECTOR = 0.45e-9;  /* 64 bytes of a window loaded, used and stored */
static const double SECONDS_CELL = 1.1e-9;     /* a cell cleared, transposed and copied */
static const double SECONDS_FLOP = 0.011e-9;   /* of an FFT */
static const double SECONDS_MODE = 0.6e-9;     /* a mode written or read */
static const double SECONDS_SINCOS = 0.6e-9;   /* a sine and a cosine */
static const double SECONDS_PRODUCT = 0.04e-9; /* four multiply-adds of a direct sum */
static const double SECONDS_SUM = 3e-9;        /* its four sums cleared and placed */
static const double SECONDS_FAR = 1.4e-9;  /* more, for a cell of a grid beyond the second cache */
static const double SECONDS_GRID = 0.4e-6; /* whatever the size */
static const double SECONDS_CENTRE = 6e-9; /* type 3: a phase and a factor */

/* On a GPU, measured on an H100. */
static const double GPU_POINT = 1.5e-10;     /* a point placed and sorted */
static const double GPU_UPDATE = 1.1e-12;    /* one addition to shared memory, 32 bits */
static const double GPU_CELL_READ = 2.5e-12; /* a cell read and weighted for a point */
static const double GPU_BYTE = 7e-13;        /* of its memory */
static const double GPU_TERM = 1.2e-12;      /* of a direct sum */

/* A window is accepted at this part of the tolerance: the outermost modes have up to four times the
 * rms error, so what a few strengths happen to put there shows in the sum. */
static const double SAFETY = 0.55;

static double fft_flops(double n)
{
    return 5.0 * n * ec_det_log2(n > 1.0 ? n : 2.0);
}

/* Places of the points, windows, spreading or interpolation. */
static double point_cost(const ec_nufft_info *info, int32_t points, const choice *c)
{
    double scale = info->double_precision ? 2.0 : 1.0;
    if (info->on_gpu) {
        double cells =
            info->dim == 2 ? (double)c->window.width * c->window.width : (double)c->window.width;
        return points *
               (GPU_POINT + cells * (info->type == 2 ? scale * GPU_CELL_READ
                                                     : 2.0 * (2.0 * scale - 1.0) * GPU_UPDATE));
    }
    double vectors = c->padded / 16.0 > 0.5 ? c->padded / 16.0 : 0.5;
    double rows = info->dim == 2 ? c->window.width : 1.0;

    return points * (SECONDS_POINT * info->dim + scale * SECONDS_VECTOR * vectors *
                                                     (4.0 * rows + (c->window.width + 2.0) * 2.0));
}

/* The grid and the FFTs over it. */
static double grid_cost(const ec_nufft_info *info, const choice *c)
{
    double scale = info->double_precision ? 2.0 : 1.0;
    double cells = c->grid[0], modes = info->modes[0], flops = fft_flops(c->grid[0]);

    if (info->dim == 2) {
        flops = flops * c->grid[1] + fft_flops(c->grid[1]) * info->modes[0];
        cells *= c->grid[1];
        modes *= info->modes[1];
    }
    if (info->on_gpu) /* written, transformed in two passes, read */
        return scale * GPU_BYTE * (48.0 * cells + 8.0 * modes);
    double cell = cells * scale > FAR_CELLS ? SECONDS_CELL + SECONDS_FAR : SECONDS_CELL;
    return SECONDS_GRID + scale * (cells * cell + flops * SECONDS_FLOP + modes * SECONDS_MODE);
}

/* Rows and columns of a direct sum (nufft_direct.h). */
static void direct_shape(const ec_nufft_info *info, int32_t *rows, int32_t *columns)
{
    int32_t lanes = EC_NUFFT_LANE_BYTES / (info->double_precision ? 8 : 4);

    *columns = info->dim == 2 ? (info->modes[1] + 1) / 2 : lanes;
    *rows = info->dim == 2 ? info->modes[0] : (info->modes[0] + 2 * lanes - 1) / (2 * lanes);
}

static void direct_cost(const ec_nufft_info *info, choice *c)
{
    double scale = info->double_precision ? 2.0 : 1.0, sums = 0.0;
    int32_t rows, columns, lanes = EC_NUFFT_LANE_BYTES / (info->double_precision ? 8 : 4);

    if (info->on_gpu) {
        double others = info->type == 3  ? info->targets
                        : info->dim == 2 ? (double)info->modes[0] * info->modes[1]
                                         : info->modes[0];
        c->cost_point = others * (info->type == 3 ? 3.0 * GPU_TERM : GPU_TERM);
    } else if (info->type == 3) {
        c->cost_point = ec_round_up((size_t)info->targets, (size_t)lanes) * SECONDS_SINCOS;
    } else {
        direct_shape(info, &rows, &columns);
        double padded = (double)ec_round_up((size_t)columns, (size_t)lanes);
        c->cost_point = (rows + padded) * SECONDS_SINCOS + rows * padded * SECONDS_PRODUCT;
        sums = rows * padded * SECONDS_SUM;
    }
    c->cost_point *= scale;
    c->cost = info->points * c->cost_point + scale * sums;
}

static double epsilon(const ec_nufft_info *info)
{
    return info->double_precision ? 1.1e-16 : 6.0e-8;
}

/* Rounding of the sums and of the FFT as it shows in the modes. */
static double rounding(const ec_nufft_info *info, double gain)
{
    return epsilon(info) * (2.0 + 2.0 * gain);
}

/* Largest error of the polynomials at the places where it peaks between the nodes. */
static double fit_error(const ec_nufft_window *window, int32_t count, const double *coefficients)
{
    double worst = 0.0;

    for (int32_t cell = 0; cell < window->width; cell++)
        for (int32_t i = 0; i <= 2 * count; i++) {
            double z = ec_det_cospi(i / (2.0 * count)), sum = 0.0;
            for (int32_t p = 0; p < count; p++)
                sum = sum * z + coefficients[p * EC_NUFFT_WIDTH_MAX + cell];
            double value =
                ec_nufft_window_value(window, cell + 0.5 * (z + 1.0) - 0.5 * window->width);
            worst = fabs(sum - value) > worst ? fabs(sum - value) : worst;
        }
    return worst;
}

/* The fewest coefficients, an even number, whose error stays a small part of the tolerance. */
static int32_t count_coefficients(const ec_nufft_window *window, double allowed)
{
    double coefficients[COEFFICIENTS_MAX * EC_NUFFT_WIDTH_MAX];
    int32_t count = 4;

    while (count < COEFFICIENTS_MAX) {
        ec_nufft_window_fit(window, count, EC_NUFFT_WIDTH_MAX, coefficients);
        if (fit_error(window, count, coefficients) <= allowed)
            break;
        count += 2;
    }
    return count;
}

static int32_t padded_width(int32_t width)
{
    return width <= 4 ? 4 : width <= 8 ? 8 : 16;
}

/* Kaiser-Bessel windows of this width do no better than about exp(-pi w sqrt(1 - 1/upsampling)):
 * spares the evaluation of those that cannot do. */
static double least_error(int32_t width, double upsampling)
{
    double sigma = fmin(upsampling, 4.0);
    return 0.5 * ec_det_exp(-EC_PI * width * sqrt(1.0 - 1.0 / sigma));
}

/* Types 1 and 2: a grid and a window for an upsampling with errors up to `allowed`; false: no
 * width reaches that. */
static bool choose_window(const ec_nufft_info *info, double upsampling, double allowed, choice *c)
{
    memset(c, 0, sizeof *c);
    for (int32_t width = 2; width <= EC_NUFFT_WIDTH_MAX; width++) {
        ec_nufft_window_quality q[2];
        memset(q, 0, sizeof q);
        c->upsampling = INFINITY;
        c->gain = 1.0;
        for (int32_t d = 0; d < info->dim; d++) {
            int32_t least = (int32_t)ceil(upsampling * info->modes[d] - 1e-9);
            c->grid[d] = smooth_size(least > width ? least : width);
            c->upsampling = fmin(c->upsampling, (double)c->grid[d] / info->modes[d]);
        }
        if (least_error(width, c->upsampling) > allowed)
            continue;
        ec_nufft_window_make(width, c->upsampling, &c->window);
        for (int32_t d = 0; d < info->dim; d++) {
            int32_t half = info->modes[d] / 2;
            ec_nufft_window_error(&c->window, (double)half / c->grid[d],
                                  half < ERROR_SAMPLES ? half : ERROR_SAMPLES,
                                  info->modes[d] % 2 == 0, &q[d]);
            c->gain *= q[d].gain;
        }
        c->error = sqrt(q[0].rms * q[0].rms + q[1].rms * q[1].rms + 2.0 * q[0].mean * q[1].mean) +
                   rounding(info, c->gain);
        if (c->error > allowed)
            continue;
        c->padded = padded_width(width);
        c->fit = 0.04 * allowed / c->gain;
        c->cost_point = point_cost(info, 1, c);
        c->cost = info->points * c->cost_point + grid_cost(info, c);
        return true;
    }
    return false;
}

/* The cheapest of the upsamplings. */
static bool choose_grid(const ec_nufft_info *info, double allowed, choice *best)
{
    static const double each[] = {1.25, 1.5, 2.0};
    bool found = false;
    choice c;

    if (info->upsampling != 0.0)
        return choose_window(info, info->upsampling, allowed, best);
    for (int i = 0; i < 3; i++)
        if (choose_window(info, each[i], allowed, &c) && (!found || c.cost < best->cost)) {
            *best = c;
            found = true;
        }
    return found;
}

/* Type 3: cells of h = 1 / (2 upsampling target_span), so that targets are within the part
 * 1 / upsampling of the period, and as many as the points and their windows need. Targets may all
 * lie at the edge of their span, so errors are those at the edge. */
static bool spread_scattered(const ec_nufft_info *info, int32_t from, int32_t axis, choice *c)
{
    ec_nufft_window_quality q;
    double h = 0.5 / (c->upsampling * info->target_span[from]);

    if (!(h < INFINITY))
        h = info->span[from] > 0.0 ? info->span[from] : 1.0;
    double n = ceil(2.0 * info->span[from] / h) + c->window.width + 2.0;
    if (!(n <= CELLS_MAX))
        return false;
    c->cell[axis] = h;
    c->grid[axis] = (int32_t)n;
    ec_nufft_window_error(&c->window, 0.5 / c->upsampling, ERROR_SAMPLES, false, &q);
    c->gain *= q.most_gain;
    c->error += q.most;
    return true;
}

/* The regular axis, the plan's axis 0, as in type 1. */
static void spread_regular(const ec_nufft_info *info, choice *c)
{
    ec_nufft_window_quality q;
    int32_t modes = info->modes[info->regular - 1], half = modes / 2;
    int32_t least = (int32_t)ceil(c->upsampling * modes - 1e-9);

    c->grid[0] = smooth_size(least > c->window.width ? least : c->window.width);
    ec_nufft_window_error(&c->window, (double)half / c->grid[0],
                          half < ERROR_SAMPLES ? half : ERROR_SAMPLES, modes % 2 == 0, &q);
    c->gain *= q.gain;
    c->error += q.rms;
}

static bool choose_spread(const ec_nufft_info *info, double upsampling, int32_t width, choice *c)
{
    memset(c, 0, sizeof *c);
    c->upsampling = upsampling;
    c->gain = 1.0;
    c->padded = padded_width(width);
    ec_nufft_window_make(width, upsampling, &c->window);
    if (info->regular != 0) {
        spread_regular(info, c);
        if (!spread_scattered(info, 2 - info->regular, 1, c))
            return false;
    } else {
        for (int32_t d = 0; d < info->dim; d++)
            if (!spread_scattered(info, d, d, c))
                return false;
    }
    return info->dim == 1 || (double)c->grid[0] * c->grid[1] <= CELLS_MAX;
}

/* The type 2 inside a type 3: of all targets, or of a line of them. */
static void inner_info(const ec_nufft_info *info, const choice *outer, ec_nufft_info *inner)
{
    *inner = *info;
    inner->type = 2;
    inner->regular = 0;
    inner->modes[0] = outer->grid[0];
    inner->modes[1] = info->dim == 2 ? outer->grid[1] : 1;
    inner->points = info->targets;
    if (info->regular != 0) {
        inner->dim = 1;
        inner->modes[0] = outer->grid[1];
        inner->modes[1] = 1;
        inner->points = info->targets / info->modes[info->regular - 1];
    }
}

/* Besides the points: the grid, FFTs, interpolation at the targets. */
static double type3_cost(const ec_nufft_info *info, const choice *c, const choice *in)
{
    double scale = info->double_precision ? 2.0 : 1.0;

    if (info->on_gpu)
        return in->cost + 8.0 * scale * GPU_BYTE * c->grid[0] * (info->dim == 2 ? c->grid[1] : 1.0);
    if (info->regular == 0)
        return in->cost + (double)c->grid[0] * (info->dim == 2 ? c->grid[1] : 1) * SECONDS_MODE;
    double lines = info->modes[info->regular - 1], columns = c->grid[1];
    double rows =
        c->grid[0] * columns * SECONDS_CELL + columns * fft_flops(c->grid[0]) * SECONDS_FLOP;
    double line = in->grid[0] * SECONDS_CELL + fft_flops(in->grid[0]) * SECONDS_FLOP;
    return SECONDS_GRID + scale * (rows + lines * line + info->targets * SECONDS_MODE) +
           info->targets * in->cost_point;
}

/* Errors of the type 2 grow by the gain of the outer window. */
static bool choose_type3(const ec_nufft_info *info, double allowed, choice *best, choice *best_in)
{
    static const double each[] = {1.25, 1.5, 2.0};
    bool found = false;

    for (int i = 0; i < (info->upsampling != 0.0 ? 1 : 3); i++) {
        double upsampling = info->upsampling != 0.0 ? info->upsampling : each[i];
        int32_t tried = 0; /* the first width that does, and the next */
        for (int32_t width = 2; width <= EC_NUFFT_WIDTH_MAX && tried < 2; width++) {
            ec_nufft_info inside;
            choice c, in;
            if (least_error(width, upsampling) > allowed)
                continue;
            if (!choose_spread(info, upsampling, width, &c))
                break;
            if (c.error > 0.8 * allowed)
                continue;
            inner_info(info, &c, &inside);
            if (!choose_grid(&inside, SAFETY * (allowed - c.error) / c.gain, &in))
                continue;
            tried++;
            in.lines = info->regular != 0;
            c.error += c.gain * in.error;
            c.fit = 0.02 * allowed / c.gain;
            double centre = info->on_gpu ? GPU_POINT : SECONDS_CENTRE;
            c.cost_point = point_cost(info, 1, &c) + (info->placed && !info->moving ? 0.0 : centre);
            c.cost = info->points * c.cost_point + type3_cost(info, &c, &in) +
                     (info->placed ? 0.0 : info->targets * centre);
            if (!found || c.cost < best->cost) {
                *best = c;
                *best_in = in;
                found = true;
            }
        }
    }
    return found;
}

/* ---- estimates ---- */

static void choose_direct(const ec_nufft_info *info, choice *c)
{
    memset(c, 0, sizeof *c);
    c->direct = true;
    direct_cost(info, c);
    c->error = rounding(info, 1.0);
}

/* A window that may do for a tolerance at an upsampling. */
static bool guess_window(double upsampling, double allowed, choice *c)
{
    memset(c, 0, sizeof *c);
    c->upsampling = upsampling;
    c->window.width = 2;
    while (c->window.width <= EC_NUFFT_WIDTH_MAX &&
           least_error(c->window.width, upsampling) > 0.5 * allowed)
        c->window.width++;
    c->padded = padded_width(c->window.width);
    return c->window.width <= EC_NUFFT_WIDTH_MAX;
}

static int32_t guess_cells(double cells, int32_t least)
{
    return cells > CELLS_MAX ? CELLS_MAX : (int32_t)fmax(cells, least);
}

/* The cheapest guess of types 1 and 2. */
static bool guess_grid(const ec_nufft_info *info, choice *best)
{
    static const double each[] = {1.25, 1.5, 2.0};
    bool found = false;
    choice c;

    for (int i = 0; i < 3; i++) {
        if (!guess_window(each[i], SAFETY * info->tolerance, &c))
            continue;
        for (int32_t d = 0; d < info->dim; d++)
            c.grid[d] = guess_cells(1.05 * each[i] * info->modes[d], c.window.width);
        c.cost_point = point_cost(info, 1, &c);
        c.cost = info->points * c.cost_point + grid_cost(info, &c);
        if (!found || c.cost < best->cost)
            *best = c;
        found = true;
    }
    return found;
}

static bool guess_type3(const ec_nufft_info *info, double *cost)
{
    static const double each[] = {1.25, 1.5, 2.0};

    *cost = (double)INFINITY;
    for (int i = 0; i < 3; i++) {
        ec_nufft_info inside;
        double cells = 1.0, centre = info->on_gpu ? GPU_POINT : SECONDS_CENTRE;
        choice c, in;
        if (!guess_window(each[i], info->tolerance, &c))
            continue;
        for (int32_t d = 0; d < info->dim; d++) {
            bool regular = d == info->regular - 1;
            int32_t axis = info->regular == 0 ? d : regular ? 0 : 1;
            double n = regular ? 1.05 * each[i] * info->modes[d]
                               : 4.0 * each[i] * info->span[d] * info->target_span[d];
            c.grid[axis] = guess_cells(n + c.window.width + 2.0, 1);
            cells *= n + c.window.width + 2.0;
        }
        inner_info(info, &c, &inside);
        if (!(cells <= CELLS_MAX) || !guess_grid(&inside, &in))
            continue;
        double point = point_cost(info, 1, &c) + (info->placed && !info->moving ? 0.0 : centre);
        *cost = fmin(*cost, info->points * point + type3_cost(info, &c, &in) +
                                (info->placed ? 0.0 : info->targets * centre));
    }
    return isfinite(*cost);
}

double ec_nufft_cost_estimate(const ec_backend *backend, const ec_nufft_info *info)
{
    ec_nufft_info here = *info;
    choice c = {.cost = (double)INFINITY}, direct;

    here.on_gpu = backend->is_cuda;
    choose_direct(&here, &direct);
    if (info->type == 3)
        guess_type3(&here, &c.cost);
    else if (!guess_grid(&here, &c))
        c.cost = (double)INFINITY;
    return info->regular != 0 ? c.cost : fmin(c.cost, direct.cost);
}

/* What rounding leaves of a type 3: machine epsilons as many as modes would fill its spans. */
static double phase_limit(const ec_nufft_info *info)
{
    double modes = 0.0;

    for (int32_t d = 0; d < info->dim; d++)
        if (d != info->regular - 1)
            modes = fmax(modes, 4.0 * info->span[d] * info->target_span[d]);
    return fmax(info->tolerance, modes * epsilon(info));
}

static int choose(const ec_nufft_info *info, choice *c, choice *inner)
{
    bool found = false;
    choice direct;

    choose_direct(info, &direct);
    if (info->method != EC_NUFFT_DIRECT && info->type != 3)
        found = choose_grid(info, SAFETY * info->tolerance, c);
    if (info->method != EC_NUFFT_DIRECT && info->type == 3)
        found = choose_type3(info, 0.9 * info->tolerance, c, inner) ||
                choose_type3(info, 0.9 * phase_limit(info), c, inner);
    if (!found && info->method == EC_NUFFT_FFT)
        return ec_fail(EC_ERR_ARGUMENT,
                       "nufft: tolerance = %g cannot be reached by a grid with upsampling = %g in "
                       "%s precision%s",
                       info->tolerance, info->upsampling,
                       info->double_precision ? "double" : "single",
                       info->type == 3 ? ", or the spans are too large for one" : "");
    if (!found && info->regular != 0)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "nufft: no grid for regular targets has this tolerance, or "
                       "the spans are too large for one");
    if (!found || (info->method == EC_NUFFT_AUTO && info->regular == 0 && direct.cost < c->cost))
        *c = direct;
    return EC_OK;
}

/* ---- tables ---- */

static int make_fft(ec_nufft *plan, int32_t n, ec_nufft_fft *fft)
{
    static const int32_t radices[] = {4, 2, 3, 5};
    int32_t rest = n, done = 1;
    size_t twiddles = 0;
    void *table;

    memset(fft, 0, sizeof *fft);
    fft->n = n;
    for (int i = 0; i < 4; i++)
        while (rest % radices[i] == 0) {
            fft->radix[fft->stages++] = radices[i];
            rest /= radices[i];
        }
    for (int32_t s = 0; s < fft->stages; s++) {
        twiddles += (size_t)done * (size_t)(fft->radix[s] - 1);
        done *= fft->radix[s];
    }
    int status = reserve(plan, (size_t)n * sizeof(int32_t), &table);
    if (status < 0)
        return status;
    int32_t *place = (int32_t *)table;
    for (int32_t i = 0; i < n; i++) {
        int32_t digits = i, block = n;
        place[i] = 0;
        for (int32_t s = fft->stages - 1; s >= 0; s--) {
            block /= fft->radix[s];
            place[i] += digits % fft->radix[s] * block;
            digits /= fft->radix[s];
        }
    }
    fft->place = place;
    status = reserve(plan, (2 * twiddles + 1) * real_bytes(plan), &table);
    if (status < 0)
        return status;
    size_t at = 0;
    done = 1;
    for (int32_t s = 0; s < fft->stages; s++) {
        int32_t radix = fft->radix[s];
        for (int32_t j = 0; j < done && s > 0; j++)
            for (int32_t q = 1; q < radix; q++) {
                double sine, cosine;
                ec_det_sincospi(-2.0 * j * q / ((double)done * radix), &sine, &cosine);
                store(plan, table, at++, cosine);
                store(plan, table, at++, sine);
            }
        done *= radix;
    }
    fft->twiddle = table;
    return EC_OK;
}

/* The line's grid as rows x columns: the fewest operations of both FFTs over whole lanes. */
static void split_line(int32_t n, int32_t lanes, int32_t *rows, int32_t *columns)
{
    double best = INFINITY;

    for (int32_t r = 1; r <= n; r++) {
        int32_t c = n / r;
        if (n % r != 0)
            continue;
        double cost = (double)((c + lanes - 1) / lanes) * (fft_flops(r) + 8.0 * r) +
                      (double)((r + lanes - 1) / lanes) * (fft_flops(c) + 8.0 * c);
        if (cost < best) {
            best = cost;
            *rows = r;
            *columns = c;
        }
    }
}

static int make_twist(ec_nufft *plan)
{
    ec_nufft_args *a = &plan->args;
    size_t rows = (size_t)a->fft[0].n, columns = (size_t)a->fft[1].n;
    size_t lanes = EC_NUFFT_LANE_BYTES / real_bytes(plan);
    double n = (double)rows * (double)columns;
    void *table;

    a->twist_pitch = ec_round_up(columns, lanes);
    int status = reserve(plan, 2 * rows * a->twist_pitch * real_bytes(plan), &table);
    if (status < 0)
        return status;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < a->twist_pitch; column++) {
            double sine, cosine;
            size_t at = row * a->twist_pitch + column;
            ec_det_sincospi(-2.0 * (double)row * (double)column / n, &sine, &cosine);
            store(plan, table, at, cosine);
            store(plan, table, rows * a->twist_pitch + at, sine);
        }
    a->twist = table;
    return EC_OK;
}

static int make_axis(ec_nufft *plan, int32_t d, int32_t modes, int32_t grid)
{
    ec_nufft_axis *axis = &plan->args.axis[d];
    void *weight;

    axis->modes = modes;
    axis->first = -(axis->modes / 2);
    axis->grid = grid;
    int status = draft_table((size_t)axis->modes * real_bytes(plan), &weight);
    if (status < 0)
        return status;
    for (int32_t i = 0; i < axis->modes; i++)
        store(plan, weight, (size_t)i,
              1.0 / ec_nufft_window_transform(&plan->window, (double)(i + axis->first) / grid));
    return keep(plan, weight, (size_t)axis->modes * real_bytes(plan), &axis->weight);
}

static int make_window(ec_nufft *plan, const choice *c)
{
    int32_t powers = count_coefficients(&c->window, c->fit);
    size_t count = (size_t)powers * (size_t)c->padded;
    double coefficients[COEFFICIENTS_MAX * EC_NUFFT_WIDTH_MAX];
    void *table;

    int status = draft_table(count * real_bytes(plan), &table);
    if (status < 0)
        return status;
    ec_nufft_window_fit(&c->window, powers, c->padded, coefficients);
    for (size_t i = 0; i < count; i++)
        store(plan, table, i, coefficients[i]);
    status = keep(plan, table, count * real_bytes(plan), &plan->args.window);
    if (status < 0)
        return status;
    plan->args.width = c->window.width;
    plan->args.padded = c->padded;
    plan->args.coefficients = powers;
    return EC_OK;
}

/* Takes `bytes` of a workspace. */
static size_t take(size_t *at, size_t bytes)
{
    size_t here = *at;
    *at += ec_round_up(bytes, EC_NUFFT_LANE_BYTES);
    return here;
}

/* The grid of the points and their places in it. */
static void lay_out_grid(ec_nufft *plan, size_t rows, size_t columns, bool lines)
{
    ec_nufft_args *a = &plan->args;
    size_t real = real_bytes(plan), entries = (size_t)a->points * (size_t)a->dim;
    size_t sorted = (size_t)a->points * sizeof(int32_t);

    if (a->dim == 2) {
        a->pitch = EC_NUFFT_MARGIN + ec_round_up(columns + EC_NUFFT_MARGIN, EC_NUFFT_MARGIN);
        a->origin = (size_t)(a->width / 2) * a->pitch + EC_NUFFT_MARGIN;
        a->plane = (rows + (size_t)a->width) * a->pitch;
    } else {
        a->pitch = columns;
        a->origin = EC_NUFFT_MARGIN;
        a->plane = ec_round_up(rows * columns + 3 * EC_NUFFT_MARGIN, EC_NUFFT_MARGIN);
    }
    if (lines) { /* as many as there are lanes, a row each */
        a->pitch = a->plane;
        a->plane *= EC_NUFFT_LANE_BYTES / real;
    }
    if (a->dim == 2 && a->points >= SORTED_POINTS && 2 * a->plane * real >= SORTED_BYTES) {
        a->bins_across = (int32_t)columns / EC_NUFFT_BIN_COLUMNS + 2;
        a->bins = ((int32_t)rows / EC_NUFFT_BIN_ROWS + 3) * a->bins_across;
        a->at_bins = take(&a->place_bytes, ((size_t)a->bins + 1) * sizeof(int32_t) + sorted);
        entries *= 2; /* sorted copies */
    }
    a->at_cell = take(&a->place_bytes, entries * sizeof(int32_t));
    a->at_offset = take(&a->place_bytes, entries * real);
    a->at_grid = take(&a->workspace_bytes, 2 * a->plane * real);
}

static void lay_out_fft(ec_nufft *plan)
{
    ec_nufft_args *a = &plan->args;
    size_t rows = (size_t)a->fft[0].n, columns = (size_t)a->fft[1].n;
    size_t lanes = EC_NUFFT_LANE_BYTES / real_bytes(plan);

    a->used_bytes = ec_round_up((columns + EC_NUFFT_MARGIN) / lanes + 1, EC_NUFFT_LANE_BYTES);
    a->at_used = take(&a->place_bytes, 2 * a->used_bytes);
    a->at_lanes =
        take(&a->workspace_bytes, 2 * (rows > columns ? rows : columns) * EC_NUFFT_LANE_BYTES);
}

static ec_nufft_function *function_of(int isa)
{
#if EC_MULTI_ISA
    static ec_nufft_function *const each[EC_ISA_COUNT] = {
        ec_nufft_transform_v1, ec_nufft_transform_v3, ec_nufft_transform_v4};
    return each[isa];
#else
    (void)isa;
    return ec_nufft_transform_v1;
#endif
}

/* Types 1 and 2 by a grid. */
static int fill_grid(ec_nufft *plan, const choice *c)
{
    ec_nufft_args *a = &plan->args;
    int32_t rows = c->grid[0], columns = c->grid[1];
    int status = make_window(plan, c);

    if (c->lines) {
        rows = 1;
        columns = c->grid[0];
    } else if (a->dim == 1) {
        split_line(c->grid[0], (int32_t)(EC_NUFFT_LANE_BYTES / real_bytes(plan)), &rows, &columns);
    }
    for (int32_t d = 0; d < a->dim && status >= 0; d++)
        status = make_axis(plan, d, plan->info.modes[d], c->grid[d]);
    if (status < 0 || plan->info.on_gpu)
        return status;
    if (status >= 0)
        status = make_fft(plan, rows, &a->fft[0]);
    if (status >= 0)
        status = make_fft(plan, columns, &a->fft[1]);
    if (status >= 0 && a->dim == 1 && !c->lines)
        status = make_twist(plan);
    if (status < 0)
        return status;
    lay_out_grid(plan, (size_t)rows, (size_t)columns, c->lines);
    lay_out_fft(plan);
    return EC_OK;
}

static int fill_direct(ec_nufft *plan)
{
    const ec_nufft_info *info = &plan->info;
    ec_nufft_args *a = &plan->args;
    size_t real = real_bytes(plan), lanes = EC_NUFFT_LANE_BYTES / real;
    void *memory;

    if (info->type == 3)
        return EC_OK;
    for (int32_t d = 0; d < info->dim; d++) {
        a->axis[d].modes = info->modes[d];
        a->axis[d].first = -(info->modes[d] / 2);
    }
    if (info->on_gpu)
        return EC_OK;
    direct_shape(info, &a->rows, &a->columns);
    int status = reserve(plan, (size_t)a->rows * sizeof(double), &memory);
    if (status < 0)
        return status;
    double *row = (double *)memory;
    if (info->dim == 2) {
        a->column_start = info->modes[1] % 2 == 0 ? 0.5 : 0.0;
        a->column_centre = -a->column_start;
        for (int32_t r = 0; r < a->rows; r++)
            row[r] = a->axis[0].first + r;
    } else {
        a->column_start = 0.5;
        for (int32_t r = 0; r < a->rows; r++)
            row[r] = a->axis[0].first + (2.0 * r + 1.0) * a->columns - 0.5;
    }
    a->row = row;
    size_t padded = ec_round_up((size_t)a->columns, lanes), rows = (size_t)a->rows + 1;
    size_t factors = 2 * rows * EC_NUFFT_CHUNK;
    size_t type1 = factors + 2 * EC_NUFFT_CHUNK * lanes + 4 * rows * padded;
    size_t type2 = factors + 2 * padded * lanes + 4 * rows * padded;
    take(&a->workspace_bytes, (info->type == 1 ? type1 : type2) * real);
    return EC_OK;
}

static int fill(ec_nufft *plan, const choice *c, const choice *inner);

/* A plan without a workspace, for the given choice. */
static int create(ec_backend *backend, const ec_nufft_info *info, const choice *c,
                  const choice *inner, ec_nufft **plan)
{
    ec_nufft *fresh = (ec_nufft *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "nufft: no memory for a plan");
    fresh->backend = backend;
    fresh->info = *info;
    if (info->dim == 1)
        fresh->info.modes[1] = 1;
    int status = fill(fresh, c, inner);
    if (status < 0)
        ec_nufft_destroy(&fresh);
    else
        *plan = fresh;
    return status;
}

/* The regular axis comes first and has its FFT over rows here. */
static int fill_lines(ec_nufft *plan, const choice *c)
{
    const ec_nufft_info *info = &plan->info;
    ec_nufft_args *a = &plan->args;
    bool inner = info->regular == 2; /* the targets of a line lie apart */

    a->regular = info->regular;
    a->lines = info->modes[info->regular - 1];
    a->line_targets = info->targets / a->lines;
    a->line_step = inner ? 1 : (size_t)a->line_targets;
    a->target_step = inner ? (size_t)a->lines : 1;
    a->span[1] = info->span[2 - info->regular];
    a->target_span[1] = info->target_span[2 - info->regular];
    a->fft[1].n = c->grid[1];
    int status = make_axis(plan, 0, a->lines, c->grid[0]);
    return status < 0 ? status : make_fft(plan, c->grid[0], &a->fft[0]);
}

static int fill_type3(ec_nufft *plan, const choice *c, const choice *inner)
{
    const ec_nufft_info *info = &plan->info;
    ec_nufft_args *a = &plan->args;
    size_t real = real_bytes(plan), dim = (size_t)info->dim;
    size_t points = (size_t)info->points, targets = (size_t)info->targets;

    a->at_centred = take(&a->workspace_bytes, dim * (points + targets) * sizeof(double));
    a->at_strengths = take(&a->workspace_bytes, 2 * points * real);
    a->at_middle = take(&a->place_bytes, 2 * sizeof(double));
    a->at_turns = take(&a->place_bytes, 2 * points * real);
    a->at_factors = take(&a->place_bytes, 2 * targets * real);
    for (int32_t d = 0; d < info->dim; d++) {
        a->span[d] = info->span[d];
        a->target_span[d] = info->target_span[d];
    }
    if (c->direct)
        return EC_OK;

    ec_nufft_info inside;
    inner_info(info, c, &inside);
    int status = make_window(plan, c);
    if (status >= 0)
        status = create(plan->backend, &inside, inner, NULL, &plan->inner);
    if (status >= 0 && info->regular != 0)
        status = fill_lines(plan, c);
    if (status < 0)
        return status;
    double band = 0.5 / c->upsampling;
    for (int32_t d = info->regular != 0; d < info->dim; d++) {
        a->axis[d].modes = c->grid[d];
        a->axis[d].grid = c->grid[d];
        a->cells[d] = 1.0 / c->cell[d];
    }
    a->taper_scale = 2.0 / (band * band);
    ec_nufft_window_fit_taper(&c->window, band, EC_NUFFT_TAPER, a->taper);
    a->inner = &plan->inner->args;
    if (info->on_gpu)
        return EC_OK;
    size_t rows = info->dim == 2 ? (size_t)c->grid[0] : 1;
    size_t columns = (size_t)c->grid[info->dim - 1];
    lay_out_grid(plan, rows, columns, false);
    if (info->regular != 0) { /* lanes of its own rows; one line of targets */
        size_t each = 2 * (size_t)a->fft[0].n * EC_NUFFT_LANE_BYTES;
        a->at_lanes = take(&a->workspace_bytes, each);
        a->at_line = take(&a->workspace_bytes, 2 * (size_t)a->line_targets * EC_NUFFT_LANE_BYTES);
    } else {
        a->at_modes = take(&a->workspace_bytes, 2 * rows * columns * real);
    }
    a->at_inner = take(&a->workspace_bytes, a->inner->at_places);
    a->at_inner_places =
        take(&a->place_bytes, a->inner->place_bytes * (info->regular != 0 ? (size_t)a->lines : 1));
    return EC_OK;
}

static int fill(ec_nufft *plan, const choice *c, const choice *inner)
{
    const ec_nufft_info *info = &plan->info;
    ec_nufft_args *a = &plan->args;

    plan->window = c->window;
    plan->cost = c->cost;
    plan->cost_point = c->cost_point;
    plan->error = c->error;
    plan->upsampling = c->upsampling;
    a->function = info->on_gpu ? NULL : function_of(plan->backend->isa);
    a->type = info->type;
    a->dim = info->dim;
    a->double_precision = info->double_precision;
    a->direct = c->direct;
    a->sign = info->sign;
    a->points = info->points;
    a->targets = info->targets;
    int status = info->type == 3 ? fill_type3(plan, c, inner)
                 : c->direct     ? fill_direct(plan)
                                 : fill_grid(plan, c);
    a->at_places = take(&a->workspace_bytes, a->place_bytes);
    return status;
}

/* ---- public ---- */

int ec_nufft_create(ec_backend *backend, const ec_nufft_info *info, ec_nufft **plan)
{
    choice c, inner;
    ec_nufft_info here = *info;
    int status = check_info(info);

    here.on_gpu = backend->is_cuda;
    if (status >= 0 && backend->is_cuda && info->regular != 0)
        return ec_fail(EC_ERR_UNSUPPORTED, "nufft: backend '%s' takes regular targets as scattered",
                       backend->name);
    if (status >= 0)
        status = choose(&here, &c, &inner);
    return status < 0 ? status : create(backend, &here, &c, &inner, plan);
}

void ec_nufft_destroy(ec_nufft **plan)
{
    ec_nufft *p = plan ? *plan : NULL;

    if (!p)
        return;
    ec_nufft_cuda_destroy(&p->cuda);
    ec_nufft_destroy(&p->inner);
    for (int32_t i = 0; i < p->n_blocks; i++)
        p->backend->ops->release(p->backend, p->block[i]);
    free(p);
    *plan = NULL;
}

int ec_nufft_prepare(ec_nufft *plan)
{
    size_t threads = (size_t)plan->backend->threads;
    void *workspace = NULL;
    int status = EC_OK;

    if (plan->info.on_gpu)
        return plan->cuda ? EC_OK
                          : ec_nufft_cuda_create(plan->backend, &plan->args, plan->info.tolerance,
                                                 &plan->cuda);
    if (plan->workspace)
        return EC_OK;
    status = reserve(plan, threads * plan->args.workspace_bytes, &workspace);
    plan->workspace = (char *)workspace;
    return status;
}

int ec_nufft_run(ec_nufft *plan, const ec_nufft_batch *batch)
{
    const ec_nufft_info *info = &plan->info;
    size_t complex_bytes = 2 * real_bytes(plan);
    size_t points = (size_t)info->points * complex_bytes;
    size_t modes = (size_t)info->modes[0] * (size_t)info->modes[1] * complex_bytes;
    size_t targets = (size_t)info->targets * complex_bytes;
    size_t threads = (size_t)plan->backend->threads;

    if (batch->vectors < 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: vectors = %d; at least 1 is needed",
                       batch->vectors);
    if (batch->n == 0)
        return EC_OK;
    for (size_t i = 0; batch->points && !plan->info.on_gpu && i < batch->n; i++)
        if (batch->points[i] < 0 || batch->points[i] > info->points)
            return ec_fail(EC_ERR_ARGUMENT,
                           "nufft: candidate %zu has %d points; allowed are 0 to %d", i,
                           batch->points[i], info->points);
    int status = ec_nufft_prepare(plan);
    if (status < 0)
        return status;
    if (plan->cuda)
        return ec_nufft_cuda_run(plan->cuda, batch);
    ec_nufft_batch_args args = {.plan = &plan->args,
                                .batch = *batch,
                                .in_bytes = info->type == 2 ? modes : points,
                                .out_bytes = info->type == 1   ? modes
                                             : info->type == 2 ? points
                                                               : targets,
                                .threads = (int32_t)(batch->n < threads ? batch->n : threads),
                                .workspace = plan->workspace};
    return plan->backend->ops->launch(plan->backend, &ec_kernel_nufft, &args, 1, 1);
}

const ec_nufft_args *ec_nufft_plan_args(const ec_nufft *plan)
{
    return &plan->args;
}

double ec_nufft_cost(const ec_nufft *plan)
{
    return plan->cost;
}

double ec_nufft_cost_points(const ec_nufft *plan, int32_t points)
{
    return plan->cost - (plan->info.points - points) * plan->cost_point;
}

double ec_nufft_error(const ec_nufft *plan)
{
    return plan->error;
}

static void describe_grid(const ec_nufft_args *a, char *text, size_t size)
{
    if (a->dim == 2)
        snprintf(text, size, "grid %d x %d", a->axis[0].grid, a->axis[1].grid);
    else
        snprintf(text, size, "grid %d", a->axis[0].grid);
}

void ec_nufft_describe(const ec_nufft *plan, char *text, size_t size)
{
    const ec_nufft_args *a = &plan->args;
    char grid[64], inner[64] = "";

    if (a->direct) {
        snprintf(text, size, "direct sum of type %d, %d-D, %s precision", a->type, a->dim,
                 a->double_precision ? "double" : "single");
        return;
    }
    describe_grid(a, grid, sizeof grid);
    if (a->type == 3) {
        describe_grid(a->inner, inner, sizeof inner);
        snprintf(grid + strlen(grid), sizeof grid - strlen(grid), " and %s", inner + 5);
    }
    snprintf(text, size, "NUFFT type %d, %d-D%s, width %d, %s, upsampling %.3g, tolerance %.0e",
             a->type, a->dim, a->regular ? " with a regular axis" : "", a->width, grid,
             plan->upsampling, plan->info.tolerance);
}
