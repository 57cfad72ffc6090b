/* array_transform.c: the NUFFT path on CUDA by the transforms of nufft.h, from the host's side. */
#include "array_internal.h"

enum {
    STAGED_BYTES = 256 << 20, /* of the buffers of one batch of candidates */
    STAGED_MAX = 1024
};

static int reserve_points(ec_pattern_memory *memory, size_t points, ec_pattern_nufft *nufft)
{
    size_t longest = (size_t)nufft->staged * (size_t)nufft->longest;
    int status = EC_OK;

    for (int k = 0; k < 2 && status >= 0; k++) {
        status = ec_pattern_reserve(memory, longest * sizeof(double), (void **)&nufft->point[k]);
        if (status >= 0 && nufft->tilt)
            status =
                ec_pattern_reserve(memory, points * sizeof(double), (void **)&nufft->target[k]);
    }
    return status;
}

int ec_pattern_transform_use(ec_pattern_memory *memory, ec_pattern_args *args)
{
    ec_pattern_nufft *nufft = &args->nufft;
    size_t pair = args->double_precision ? sizeof(ec_c128) : sizeof(ec_c64);
    size_t points = (size_t)args->grid.points, terms = (size_t)nufft->terms;
    size_t longest = (size_t)nufft->longest;
    size_t bytes = longest * (2 * sizeof(double) + terms * pair) +
                   points * ((terms + 1) * pair + sizeof *nufft->rows);
    size_t staged = STAGED_BYTES / bytes;

    staged = staged < 1 ? 1 : staged > STAGED_MAX ? STAGED_MAX : staged;
    nufft->staged = (int32_t)staged;
    int status = reserve_points(memory, points, nufft);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * terms * longest * pair, &nufft->strength);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * terms * points * pair, &nufft->term);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * points * pair, &nufft->field);
    if (status >= 0 && !args->fields)
        status = ec_pattern_reserve(memory, staged * points * sizeof *nufft->rows,
                                    (void **)&nufft->rows);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->share, (void **)&nufft->share);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->bad, (void **)&nufft->bad);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->top, (void **)&nufft->top);
    return status < 0 || memory->counted ? status : ec_nufft_prepare(nufft->transform);
}

static int run_stage(const ec_pattern_memory *memory, const ec_kernel *kernel,
                     ec_pattern_args *args, int32_t stage)
{
    args->nufft.stage = stage;
    return memory->backend->ops->launch(memory->backend, kernel, args, args->n, 1);
}

int ec_pattern_transform_run(const ec_pattern_memory *memory, const ec_kernel *kernel,
                             ec_pattern_args *args)
{
    ec_pattern_nufft *nufft = &args->nufft;
    ec_nufft_batch batch = {.n = nufft->count,
                            .vectors = nufft->terms,
                            .point = {nufft->point[0], nufft->point[1]},
                            .point_stride = (size_t)nufft->longest,
                            .target = {nufft->target[0], nufft->target[1]},
                            .in = nufft->strength,
                            .out = nufft->term};
    int32_t parts = nufft->parts > 0 ? nufft->parts : 1;
    int status = EC_OK;

    for (nufft->at_part = 0; nufft->at_part < parts && status >= 0; nufft->at_part++) {
        status = run_stage(memory, kernel, args, EC_STRENGTH_STAGE);
        if (status >= 0)
            status = ec_nufft_run(nufft->transform, &batch);
        if (status >= 0)
            status = run_stage(memory, kernel, args, EC_ADD_STAGE);
    }
    return status < 0 ? status : run_stage(memory, kernel, args, EC_FIELD_STAGE);
}
