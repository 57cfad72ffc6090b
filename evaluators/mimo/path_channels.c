/* path_channels.c: what kernels of paths read, on a backend. */
#include "path_channels.h"

#include "path_internal.h"
#include "path_kernels.h"

#include <stdlib.h>

EC_KERNEL_DECLARE(path_pairs, ec_path_batch)
EC_KERNEL_DECLARE(path_sum, ec_path_batch)
EC_KERNEL_DECLARE(path_pairs_moments, ec_path_batch)
EC_KERNEL_DECLARE(path_sum_moments, ec_path_batch)

/* A slice has at least as many sequences, and there are at most so many slices. */
enum { SLICE_MIN = 32, SLICES_MAX = 64, BLOCKS_MAX = 4 };

struct ec_path_channels {
    ec_backend *backend;
    ec_path_device *device;
    ec_path_batch batch;
    int32_t n_blocks;
    void *block[BLOCKS_MAX]; /* memory of the backend */
};

/* *place becomes a copy of bytes on the backend. */
static int upload(ec_path_channels *c, const void *from, size_t bytes, void *place)
{
    void **to = place;
    int status = EC_OK;

    if (bytes == 0) {
        *to = NULL;
        return EC_OK;
    }
    status = c->backend->ops->alloc(c->backend, bytes, to);
    if (status < 0)
        return status;
    c->block[c->n_blocks++] = *to;
    return c->backend->ops->upload(c->backend, *to, from, bytes);
}

static int upload_faces(ec_path_channels *c, const ec_scene *scene, const double *frequency)
{
    size_t n = (size_t)c->batch.n_frequencies, m = (size_t)scene->n_materials;
    ec_fresnel_face *face = malloc((n * m + 1) * sizeof *face);
    double *wavelength = malloc((n + 1) * sizeof *wavelength);
    int status = face && wavelength ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for materials");

    for (size_t f = 0; f < n && status >= 0; f++) {
        if (!(frequency[f] > 0) || !isfinite(frequency[f])) {
            status = ec_fail(EC_ERR_ARGUMENT, "a frequency is %g Hz; it is above 0", frequency[f]);
            break;
        }
        wavelength[f] = EC_LIGHT_SPEED / frequency[f];
        c->batch.longest = fmax(c->batch.longest, wavelength[f]);
        status = ec_path_faces(scene, frequency[f], face + f * m);
    }
    if (status >= 0)
        status = upload(c, wavelength, n * sizeof *wavelength, &c->batch.lanes.wavelength);
    if (status >= 0)
        status = upload(c, face, n * m * sizeof *face, &c->batch.lanes.face);
    free(face);
    free(wavelength);
    return status;
}

static size_t slices_of(const ec_path_sequences *sequences)
{
    size_t slices = sequences->n / SLICE_MIN;
    return slices < 1 ? 1 : slices > SLICES_MAX ? SLICES_MAX : slices;
}

int ec_path_channels_create(const ec_path_plan *plan, const ec_path_sequences *sequences,
                            int32_t n_frequencies, const double *frequency, ec_backend *backend,
                            ec_path_channels **channels)
{
    if (n_frequencies < 0)
        return ec_fail(EC_ERR_ARGUMENT, "there are %d frequencies; there is at least 1",
                       (int)n_frequencies);
    ec_path_channels *c = calloc(1, sizeof *c);
    if (!c)
        return ec_fail(EC_ERR_MEMORY, "no memory for the channels of paths");
    c->backend = backend;
    c->batch.n_sequences = sequences->n;
    c->batch.n_frequencies = n_frequencies;
    c->batch.slices = slices_of(sequences);
    c->batch.size = plan->size;
    c->batch.lanes.tables = 1;
    int status = ec_path_device_get(plan, backend, &c->device);
    if (status >= 0)
        c->batch.view = *ec_path_device_view(c->device);
    if (status >= 0)
        status = upload_faces(c, plan->scene, frequency);
    if (status >= 0)
        status = upload(c, sequences->first, (sequences->n + 1) * sizeof *sequences->first,
                        &c->batch.first);
    if (status >= 0)
        status = upload(c, sequences->step, sequences->first[sequences->n] * sizeof(uint32_t),
                        &c->batch.step);
    if (status < 0) {
        ec_path_channels_destroy(&c);
        return status;
    }
    *channels = c;
    return EC_OK;
}

void ec_path_channels_destroy(ec_path_channels **channels)
{
    if (!channels || !*channels)
        return;
    ec_path_channels *c = *channels;
    for (int32_t i = 0; i < c->n_blocks; i++)
        c->backend->ops->release(c->backend, c->block[i]);
    ec_path_device_release(&c->device);
    free(c);
    *channels = NULL;
}

void ec_path_channels_want(ec_path_channels *channels, uint32_t moments)
{
    channels->batch.moments = moments;
}

size_t ec_path_channels_workspace(const ec_path_channels *channels, size_t n)
{
    const ec_path_batch *b = &channels->batch;
    return b->slices * ec_path_part_rows(b) * ec_lane_ld(n) * sizeof(double);
}

size_t ec_path_channels_bytes(const ec_path_sequences *sequences, int32_t n_frequencies,
                              uint32_t moments, size_t n)
{
    const ec_path_batch b = {.n_frequencies = n_frequencies, .moments = moments};
    return slices_of(sequences) * ec_path_part_rows(&b) * ec_lane_ld(n) * sizeof(double);
}

const ec_path_view *ec_path_channels_view(const ec_path_channels *channels)
{
    return &channels->batch.view;
}

int ec_path_channels_run(ec_path_channels *channels, const ec_path_antennas *tx,
                         const ec_path_antennas *rx, const double *tx_at, const double *rx_at,
                         size_t n, void *workspace, double *sum)
{
    return ec_path_channels_run_lanes(channels, tx, rx, tx_at, rx_at, n, NULL, workspace, sum);
}

int ec_path_channels_run_lanes(ec_path_channels *channels, const ec_path_antennas *tx,
                               const ec_path_antennas *rx, const double *tx_at, const double *rx_at,
                               size_t n, const ec_path_own *own, void *workspace, double *sum)
{
    ec_path_batch batch = channels->batch;
    ec_backend *backend = channels->backend;

    if (n == 0)
        return EC_OK;
    batch.tx = *tx;
    batch.rx = *rx;
    batch.n = n;
    batch.ld = ec_lane_ld(n);
    batch.tx_at = tx_at;
    batch.rx_at = rx_at;
    batch.part = workspace;
    batch.sum = sum;
    if (own) {
        batch.stop = own->stop;
        batch.lanes = own->lanes;
        if (own->n_frequencies > 0) {
            batch.n_frequencies = own->n_frequencies;
            batch.longest = own->longest;
        } else {
            batch.lanes.tables = 1;
            batch.lanes.wavelength = channels->batch.lanes.wavelength;
            batch.lanes.face = channels->batch.lanes.face;
        }
    }
    size_t frequencies = (size_t)batch.n_frequencies, moments = ec_moments_count(batch.moments);
    const ec_kernel *pairs = moments ? &ec_kernel_path_pairs_moments : &ec_kernel_path_pairs;
    int status = backend->ops->launch(backend, pairs, &batch, n, batch.slices);
    if (status >= 0)
        status = backend->ops->launch(backend, &ec_kernel_path_sum, &batch, n,
                                      2 * frequencies + EC_PATH_ROWS);
    if (status >= 0 && moments > 0)
        status = backend->ops->launch(backend, &ec_kernel_path_sum_moments, &batch, n,
                                      frequencies * moments);
    return status;
}
