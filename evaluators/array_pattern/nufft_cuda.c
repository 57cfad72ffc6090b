/* nufft_cuda.c: NUFFTs on a GPU from the host's side: geometry of tiles and bins, staging buffers,
 * the order of the launches. */
#include "nufft_cuda.h"

#include <stdlib.h>
#include <string.h>

EC_KERNEL_CUDA_PROTOTYPE(nufft)
static const ec_kernel ec_kernel_nufft_cuda = {"nufft",
                                               sizeof(ec_nufft_cuda_args),
                                               EC_KERNEL_SERIAL,
                                               {NULL, NULL, NULL},
                                               EC_KERNEL_CUDA_POINTER(nufft)};

enum {
    BLOCKS_MAX = 12,
    STAGED_CELLS = 1 << 23, /* of the grids of a batch, or points: some 64 MB, most of it cached */
    STAGED_MAX = 1024,
    BINS_MAX = 12000, /* counted in a block's shared memory */
    SORTED_CELLS = 1 << 14,
    SORTED_POINTS = 512 /* interpolation from smaller grids or to fewer points gains nothing */
};

struct ec_nufft_cuda {
    ec_backend *backend;
    ec_nufft_cuda_args args;
    ec_fft *fft;
    size_t staged; /* sets of a batch */
    int32_t n_blocks;
    void *block[BLOCKS_MAX];
};

static int reserve(ec_nufft_cuda *cuda, size_t bytes, void **memory)
{
    if (cuda->n_blocks == BLOCKS_MAX)
        return ec_fail(EC_ERR_INTERNAL, "nufft: a batch has more than %d buffers", BLOCKS_MAX);
    int status = cuda->backend->ops->alloc(cuda->backend, bytes, memory);
    if (status >= 0)
        cuda->block[cuda->n_blocks++] = *memory;
    return status;
}

/* Tiles and bins of a side over its grid. Points that are spread are sorted wherever a grid has
 * several tiles: a tile then reads only those that reach it. */
static void make_side(ec_nufft_side *side, bool spread)
{
    int32_t rows = side->fine[0] == 1 ? 1 : EC_NUFFT_TILE_SIDE;
    int32_t tile[2] = {rows, EC_NUFFT_TILE_CELLS / rows};
    size_t cells = (size_t)side->fine[0] * (size_t)side->fine[1];
    bool whole = side->fine[0] <= tile[0] && side->fine[1] <= tile[1];

    side->stride = 1;
    side->bins[0] = side->bins[1] = 0;
    for (int k = 0; k < 2; k++) {
        side->tile[k] = tile[k];
        side->bin[k] = tile[k] < 4 ? 1 : tile[k] / 4;
    }
    if (spread ? whole : cells < SORTED_CELLS || side->n < SORTED_POINTS)
        return;
    for (;;) {
        for (int k = 0; k < 2; k++)
            side->bins[k] = (side->fine[k] + side->bin[k] - 1) / side->bin[k];
        if ((int64_t)side->bins[0] * side->bins[1] <= BINS_MAX)
            return;
        for (int k = 0; k < 2; k++)
            side->bin[k] *= side->fine[k] > 1 ? 2 : 1;
    }
}

static void set_fine(const ec_nufft_args *plan, int32_t fine[2])
{
    fine[0] = plan->dim == 2 ? plan->axis[0].grid : 1;
    fine[1] = plan->axis[plan->dim - 1].grid;
}

static void make_sides(ec_nufft_cuda_args *a)
{
    const ec_nufft_args *plan = &a->plan;
    ec_nufft_side *points = &a->side[0], *targets = &a->side[1];
    bool scattered = plan->type == 3;

    points->n = plan->points;
    points->width = plan->width;
    points->periodic = !scattered;
    points->centred = scattered;
    targets->n = plan->targets;
    targets->width = a->inner.width;
    targets->periodic = true;
    targets->centred = true;
    for (int k = 0; k < 2; k++) {
        points->scale[k] = scattered ? plan->cells[k] : 1.0;
        targets->scale[k] =
            scattered && k < plan->dim && !plan->direct ? 1.0 / plan->cells[k] : 1.0;
    }
    points->stride = targets->stride = 1;
    if (plan->direct)
        return;
    set_fine(plan, points->fine);
    set_fine(scattered ? &a->inner : plan, a->fine);
    make_side(points, plan->type != 2);
    if (scattered) {
        memcpy(targets->fine, a->fine, sizeof a->fine);
        make_side(targets, false);
    }
}

/* Rounding of 32-bit sums, in units of the strengths, must stay below the tolerance: see spread. */
static bool needs_wide(const ec_nufft_args *plan, double tolerance)
{
    return plan->double_precision || 4.0 * plan->points > 0.3 * tolerance * 0x1p30;
}

static int reserve_side(ec_nufft_cuda *cuda, ec_nufft_side *side)
{
    size_t n = cuda->staged * (size_t)side->n;
    size_t real = cuda->args.plan.double_precision ? sizeof(double) : sizeof(float);
    size_t bins = (size_t)side->bins[0] * (size_t)side->bins[1] + 1;
    int status = reserve(cuda, cuda->staged * sizeof *side->bad, (void **)&side->bad);

    if (status >= 0 && side->centred)
        status = reserve(cuda, cuda->staged * 2 * sizeof *side->middle, (void **)&side->middle);
    if (status < 0 || cuda->args.plan.direct)
        return status;
    status = reserve(cuda, n * 4 * sizeof *side->record, (void **)&side->record);
    if (status >= 0)
        status = reserve(cuda, n * 2 * real, &side->offset);
    if (status >= 0 && bins > 1)
        status = reserve(cuda, cuda->staged * bins * sizeof *side->start, (void **)&side->start);
    return status;
}

static int make_buffers(ec_nufft_cuda *cuda)
{
    ec_nufft_cuda_args *a = &cuda->args;
    const ec_nufft_args *plan = &a->plan;
    size_t complex_bytes = plan->double_precision ? sizeof(ec_c128) : sizeof(ec_c64);
    size_t cells = plan->direct ? 1 : (size_t)a->fine[0] * (size_t)a->fine[1];
    size_t each = cells > (size_t)plan->points ? cells : (size_t)plan->points;

    each = plan->type == 3 && (size_t)plan->targets > each ? (size_t)plan->targets : each;
    cuda->staged = STAGED_CELLS / each;
    cuda->staged = cuda->staged < 1 ? 1 : cuda->staged > STAGED_MAX ? STAGED_MAX : cuda->staged;
    int status = reserve_side(cuda, &a->side[0]);
    if (status >= 0 && plan->type == 3)
        status = reserve_side(cuda, &a->side[1]);
    if (status < 0 || plan->direct)
        return status;
    status = reserve(cuda, cuda->staged * cells * complex_bytes, &a->grid);
    if (status < 0)
        return status;
    bool line = a->fine[0] == 1;
    ec_fft_info info = {.rank = line ? 1 : 2,
                        .size = {(size_t)a->fine[line ? 1 : 0], (size_t)a->fine[1]},
                        .batch = cuda->staged,
                        .double_precision = plan->double_precision,
                        .sign = plan->sign};
    return cuda->backend->ops->fft_create(cuda->backend, &info, &cuda->fft);
}

int ec_nufft_cuda_create(ec_backend *backend, const ec_nufft_args *plan, double tolerance,
                         ec_nufft_cuda **cuda)
{
    ec_nufft_cuda *fresh = (ec_nufft_cuda *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "nufft: no memory for a plan");
    fresh->backend = backend;
    fresh->args.plan = *plan;
    if (plan->inner)
        fresh->args.inner = *plan->inner;
    fresh->args.wide = needs_wide(plan, tolerance);
    make_sides(&fresh->args);
    int status = make_buffers(fresh);
    if (status < 0)
        ec_nufft_cuda_destroy(&fresh);
    *cuda = fresh;
    return status;
}

void ec_nufft_cuda_destroy(ec_nufft_cuda **cuda)
{
    ec_nufft_cuda *c = cuda ? *cuda : NULL;

    if (!c)
        return;
    if (c->fft)
        c->backend->ops->fft_destroy(c->backend, &c->fft);
    for (int32_t i = 0; i < c->n_blocks; i++)
        c->backend->ops->release(c->backend, c->block[i]);
    free(c);
    *cuda = NULL;
}

static int run_stage(ec_nufft_cuda *cuda, ec_nufft_stage stage)
{
    cuda->args.stage = stage;
    return cuda->backend->ops->launch(cuda->backend, &ec_kernel_nufft_cuda, &cuda->args, 1, 1);
}

static int run_sets(ec_nufft_cuda *cuda)
{
    ec_nufft_cuda_args *a = &cuda->args;
    int status = run_stage(cuda, EC_NUFFT_PLACE);

    if (status >= 0 && a->plan.direct)
        return run_stage(cuda, EC_NUFFT_SUM);
    if (status >= 0)
        status = run_stage(cuda, EC_NUFFT_SPREAD);
    if (status >= 0)
        status = cuda->backend->ops->fft_run(cuda->backend, cuda->fft, a->grid, a->grid);
    return status < 0 ? status : run_stage(cuda, EC_NUFFT_FINISH);
}

int ec_nufft_cuda_run(ec_nufft_cuda *cuda, const ec_nufft_batch *batch)
{
    ec_nufft_cuda_args *a = &cuda->args;
    size_t vectors = (size_t)batch->vectors, sets = batch->n * vectors;
    int status = EC_OK;

    a->batch = *batch;
    a->side[0].stride = batch->point_stride ? 1 : 0;
    a->side[1].stride = batch->target_stride ? 1 : 0;
    for (a->first = 0; a->first < sets && status >= 0; a->first += cuda->staged) {
        a->count = sets - a->first < cuda->staged ? sets - a->first : cuda->staged;
        a->candidate = a->first / vectors;
        a->candidates = (a->first + a->count - 1) / vectors - a->candidate + 1;
        status = run_sets(cuda);
    }
    return status;
}
