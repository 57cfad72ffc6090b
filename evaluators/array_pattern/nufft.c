/* nufft.c: plans of NUFFTs: choice of window and fine grid, tables, layout of the workspace. */
#include "nufft.h"

#include "nufft_kernels.h"
#include "nufft_window.h"

#include "../../core/detmath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* On the CPU only: a GPU has its own kernels for the cases that it takes (array_spread.cuh). */
EC_KERNEL_CPU_PROTOTYPES(nufft)
static const ec_kernel ec_kernel_nufft = {"nufft", sizeof(ec_nufft_batch_args), EC_KERNEL_SERIAL,
                                          EC_KERNEL_CPU_POINTERS(nufft), NULL};

enum {
    BLOCKS_MAX = 24, /* memory blocks of a plan */
    COEFFICIENTS_MAX = 20,
    MODES_MAX = 1 << 26 /* along one axis */
};

struct ec_nufft {
    ec_backend *backend;
    ec_nufft_info info;
    ec_nufft_args args;
    ec_nufft_window window;
    double cost, error, upsampling;
    char *workspace; /* one a thread */
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

static int check_info(const ec_nufft_info *info)
{
    double least = reachable(info->double_precision);

    if (info->type < 1 || info->type > 2)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: type = %d; allowed are 1 and 2", info->type);
    if (info->dim < 1 || info->dim > 2)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: dim = %d; allowed are 1 and 2", info->dim);
    for (int32_t d = 0; d < info->dim; d++)
        if (info->modes[d] < 1 || info->modes[d] > MODES_MAX)
            return ec_fail(EC_ERR_ARGUMENT, "nufft: modes[%d] = %d; allowed are 1 to %d", d,
                           info->modes[d], MODES_MAX);
    if (info->points < 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: points = %d; at least 1 is needed", info->points);
    if (info->sign != -1 && info->sign != 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: sign = %d; allowed are -1 and +1", info->sign);
    if (!(info->tolerance > 0.0 && info->tolerance < 1.0))
        return ec_fail(EC_ERR_ARGUMENT, "nufft: tolerance = %g; allowed is %g to 0.1",
                       info->tolerance, least);
    if (info->tolerance < least * (1.0 - 1e-9))
        return ec_fail(EC_ERR_ARGUMENT, "nufft: tolerance = %g; %s precision reaches %g%s",
                       info->tolerance, info->double_precision ? "double" : "single", least,
                       info->double_precision ? "" : ", double precision 1e-12");
    if (info->upsampling != 0.0 && !(info->upsampling >= 1.2 && info->upsampling <= 4.0))
        return ec_fail(EC_ERR_ARGUMENT,
                       "nufft: upsampling = %g; allowed are 1.2 to 4, or 0 for a "
                       "choice by cost",
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
    int32_t grid[2], padded, coefficients;
    ec_nufft_window window;
    double upsampling, error, cost;
} choice;

/* Shipped cost constants: seconds on one core of 2.6 GHz with 512-bit vectors, measured. */
static const double SECONDS_POINT = 8e-9;     /* place of a point, a dimension */
static const double SECONDS_VECTOR = 0.35e-9; /* a vector of the window loaded, used and stored */
static const double SECONDS_CELL = 0.35e-9;   /* clearing and copying, a cell */
static const double SECONDS_FLOP = 0.04e-9;   /* of an FFT */
static const double SECONDS_MODE = 0.6e-9;    /* a mode written or read */

/* A window is accepted at this part of the tolerance: the outermost modes have up to four times the
 * rms error, so what a few strengths happen to put there shows in the sum. */
static const double SAFETY = 0.55;

static double fft_flops(double n)
{
    return 5.0 * n * ec_det_log2(n > 1.0 ? n : 2.0);
}

static double predict_cost(const ec_nufft_info *info, const choice *c)
{
    double scale = info->double_precision ? 2.0 : 1.0;
    double vectors = c->padded / 16.0 > 0.5 ? c->padded / 16.0 : 0.5;
    double rows = info->dim == 2 ? c->window.width : 1.0;
    double cells = c->grid[0], modes = info->modes[0], flops = fft_flops(c->grid[0]);

    if (info->dim == 2) {
        flops = flops * c->grid[1] + fft_flops(c->grid[1]) * info->modes[0];
        cells *= c->grid[1];
        modes *= info->modes[1];
    }
    return info->points *
               (SECONDS_POINT * info->dim +
                scale * SECONDS_VECTOR * vectors * (2.0 * rows + c->coefficients * info->dim)) +
           scale * (cells * SECONDS_CELL + flops * SECONDS_FLOP + modes * SECONDS_MODE);
}

/* Rounding of the sums and of the FFT as it shows in the modes. */
static double rounding(const ec_nufft_info *info, double gain)
{
    return (info->double_precision ? 1.1e-16 : 6.0e-8) * (2.0 + 2.0 * gain);
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

/* The fewest coefficients whose error stays a small part of the tolerance. */
static int32_t count_coefficients(const ec_nufft_window *window, double allowed)
{
    double coefficients[COEFFICIENTS_MAX * EC_NUFFT_WIDTH_MAX];
    int32_t count = 2;

    while (count < COEFFICIENTS_MAX) {
        ec_nufft_window_fit(window, count, EC_NUFFT_WIDTH_MAX, coefficients);
        if (fit_error(window, count, coefficients) <= allowed)
            break;
        count++;
    }
    return count;
}

/* A grid and a window for an upsampling; false: no width reaches the tolerance with it. */
static bool choose_window(const ec_nufft_info *info, double upsampling, choice *c)
{
    for (int32_t width = 2; width <= EC_NUFFT_WIDTH_MAX; width++) {
        double actual = INFINITY, gains = 1.0;
        for (int32_t d = 0; d < info->dim; d++) {
            int32_t least = (int32_t)ceil(upsampling * info->modes[d] - 1e-9);
            c->grid[d] = smooth_size(least > width ? least : width);
            double ratio = (double)c->grid[d] / info->modes[d];
            actual = ratio < actual ? ratio : actual;
        }
        ec_nufft_window_make(width, actual, &c->window);
        ec_nufft_window_quality q[2] = {{0, 0, 0}, {0, 0, 0}};
        for (int32_t d = 0; d < info->dim; d++) {
            ec_nufft_window_error(&c->window, info->modes[d], c->grid[d], &q[d]);
            gains *= q[d].gain;
        }
        double square = q[0].rms * q[0].rms + q[1].rms * q[1].rms + 2.0 * q[0].mean * q[1].mean;
        c->error = sqrt(square) + rounding(info, gains);
        if (c->error > SAFETY * info->tolerance)
            continue;
        c->upsampling = actual;
        c->padded = width <= 4 ? 4 : width <= 8 ? 8 : 16;
        c->coefficients = count_coefficients(&c->window, 0.02 * info->tolerance / gains);
        c->cost = predict_cost(info, c);
        return true;
    }
    return false;
}

static int choose(const ec_nufft_info *info, choice *best)
{
    static const double each[] = {1.25, 1.5, 2.0};
    choice c;
    bool found = false;

    if (info->upsampling != 0.0) {
        found = choose_window(info, info->upsampling, best);
    } else {
        for (int i = 0; i < 3; i++)
            if (choose_window(info, each[i], &c) && (!found || c.cost < best->cost)) {
                *best = c;
                found = true;
            }
    }
    if (!found)
        return ec_fail(EC_ERR_ARGUMENT,
                       "nufft: tolerance = %g cannot be reached with upsampling = %g in %s "
                       "precision; raise one of them",
                       info->tolerance, info->upsampling,
                       info->double_precision ? "double" : "single");
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

static int make_axis(ec_nufft *plan, int32_t d, int32_t grid)
{
    ec_nufft_axis *axis = &plan->args.axis[d];
    void *weight;

    axis->modes = plan->info.modes[d];
    axis->first = -(axis->modes / 2);
    axis->grid = grid;
    int status = reserve(plan, (size_t)axis->modes * real_bytes(plan), &weight);
    if (status < 0)
        return status;
    for (int32_t i = 0; i < axis->modes; i++)
        store(plan, weight, (size_t)i,
              1.0 / ec_nufft_window_transform(&plan->window, (double)(i + axis->first) / grid));
    axis->weight = weight;
    return EC_OK;
}

static int make_window(ec_nufft *plan, const choice *c)
{
    size_t count = (size_t)c->coefficients * (size_t)c->padded;
    double coefficients[COEFFICIENTS_MAX * EC_NUFFT_WIDTH_MAX];
    void *table;

    int status = reserve(plan, count * real_bytes(plan), &table);
    if (status < 0)
        return status;
    ec_nufft_window_fit(&c->window, c->coefficients, c->padded, coefficients);
    for (size_t i = 0; i < count; i++)
        store(plan, table, i, coefficients[i]);
    plan->args.window = table;
    plan->args.width = c->window.width;
    plan->args.padded = c->padded;
    plan->args.coefficients = c->coefficients;
    return EC_OK;
}

/* Places in the workspace of one thread. */
static void lay_out(ec_nufft *plan)
{
    ec_nufft_args *a = &plan->args;
    size_t real = real_bytes(plan), lanes = EC_NUFFT_LANE_BYTES / real, at = 0;
    size_t rows = (size_t)a->fft[0].n, columns = (size_t)a->fft[1].n;
    size_t longest = rows > columns ? rows : columns;
    size_t entries = (size_t)a->points * (size_t)a->dim;

    if (a->dim == 2) {
        a->pitch = EC_NUFFT_MARGIN + ec_round_up(columns + EC_NUFFT_MARGIN, lanes);
        a->origin = (size_t)(a->width / 2) * a->pitch + EC_NUFFT_MARGIN;
        a->plane = (rows + (size_t)a->width) * a->pitch;
    } else {
        a->pitch = columns;
        a->origin = EC_NUFFT_MARGIN;
        a->plane = ec_round_up(rows * columns + 3 * EC_NUFFT_MARGIN, lanes);
    }
    a->at_cell = at;
    at += ec_round_up(entries * sizeof(int32_t), EC_NUFFT_LANE_BYTES);
    a->at_offset = at;
    at += ec_round_up(entries * real, EC_NUFFT_LANE_BYTES);
    a->at_used = at;
    at += ec_round_up(columns / lanes + 1, EC_NUFFT_LANE_BYTES);
    a->at_grid = at;
    at += ec_round_up(2 * a->plane * real, EC_NUFFT_LANE_BYTES);
    a->at_lanes = at;
    at += 2 * longest * EC_NUFFT_LANE_BYTES;
    a->workspace_bytes = at;
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

static int fill(ec_nufft *plan)
{
    const ec_nufft_info *info = &plan->info;
    ec_nufft_args *a = &plan->args;
    int32_t rows, columns;
    void *workspace;
    choice c;

    int status = choose(info, &c);
    if (status < 0)
        return status;
    plan->window = c.window;
    plan->cost = c.cost;
    plan->error = c.error;
    plan->upsampling = c.upsampling;
    a->function = function_of(plan->backend->isa);
    a->type = info->type;
    a->dim = info->dim;
    a->double_precision = info->double_precision;
    a->sign = info->sign;
    a->points = info->points;
    rows = c.grid[0];
    columns = c.grid[1];
    if (info->dim == 1)
        split_line(c.grid[0], (int32_t)(EC_NUFFT_LANE_BYTES / real_bytes(plan)), &rows, &columns);
    for (int32_t d = 0; d < info->dim && status >= 0; d++)
        status = make_axis(plan, d, c.grid[d]);
    if (status >= 0)
        status = make_window(plan, &c);
    if (status >= 0)
        status = make_fft(plan, rows, &a->fft[0]);
    if (status >= 0)
        status = make_fft(plan, columns, &a->fft[1]);
    if (status >= 0 && info->dim == 1)
        status = make_twist(plan);
    if (status < 0)
        return status;
    lay_out(plan);
    status = reserve(plan, (size_t)plan->backend->threads * a->workspace_bytes, &workspace);
    plan->workspace = (char *)workspace;
    return status;
}

/* ---- public ---- */

int ec_nufft_create(ec_backend *backend, const ec_nufft_info *info, ec_nufft **plan)
{
    int status = check_info(info);

    if (status < 0)
        return status;
    if (backend->is_cuda)
        return ec_fail(EC_ERR_UNSUPPORTED, "nufft: backend '%s' has none; the CPU has",
                       backend->name);
    ec_nufft *fresh = (ec_nufft *)calloc(1, sizeof *fresh);
    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "nufft: no memory for a plan");
    fresh->backend = backend;
    fresh->info = *info;
    if (info->dim == 1)
        fresh->info.modes[1] = 1;
    status = fill(fresh);
    if (status < 0) {
        ec_nufft_destroy(&fresh);
        return status;
    }
    *plan = fresh;
    return EC_OK;
}

void ec_nufft_destroy(ec_nufft **plan)
{
    ec_nufft *p = plan ? *plan : NULL;

    if (!p)
        return;
    for (int32_t i = 0; i < p->n_blocks; i++)
        p->backend->ops->release(p->backend, p->block[i]);
    free(p);
    *plan = NULL;
}

int ec_nufft_run(ec_nufft *plan, const ec_nufft_batch *batch)
{
    const ec_nufft_info *info = &plan->info;
    size_t complex_bytes = 2 * real_bytes(plan);
    size_t points = (size_t)info->points * complex_bytes;
    size_t modes = (size_t)info->modes[0] * (size_t)info->modes[1] * complex_bytes;
    size_t threads = (size_t)plan->backend->threads;

    if (batch->vectors < 1)
        return ec_fail(EC_ERR_ARGUMENT, "nufft: vectors = %d; at least 1 is needed",
                       batch->vectors);
    if (batch->n == 0)
        return EC_OK;
    ec_nufft_batch_args args = {.plan = &plan->args,
                                .batch = *batch,
                                .in_bytes = info->type == 1 ? points : modes,
                                .out_bytes = info->type == 1 ? modes : points,
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

double ec_nufft_error(const ec_nufft *plan)
{
    return plan->error;
}

void ec_nufft_describe(const ec_nufft *plan, char *text, size_t size)
{
    const ec_nufft_args *a = &plan->args;
    char grid[32];

    if (a->dim == 2)
        snprintf(grid, sizeof grid, "%d x %d", a->axis[0].grid, a->axis[1].grid);
    else
        snprintf(grid, sizeof grid, "%d", a->axis[0].grid);
    snprintf(text, size, "NUFFT type %d, %d-D, width %d, grid %s, upsampling %.3g, tolerance %.0e",
             a->type, a->dim, a->width, grid, plan->upsampling, plan->info.tolerance);
}
