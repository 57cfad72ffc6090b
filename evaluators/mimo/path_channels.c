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
enum { SLICE_MIN = 32, SLICES_MAX = 64, BLOCKS_MAX = 20 };

struct ec_path_channels {
    ec_backend *backend;
    ec_bvh_layout *layout;
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

static int upload_scene(ec_path_channels *c)
{
    ec_scene *s = &c->batch.view.scene;
    bool curved = s->n_surfaces > 0;
    size_t vertices = (size_t)s->n_vertices, triangles = (size_t)s->n_triangles, edges = 0,
           on_surfaces = 0;

    for (int32_t i = 0; i < s->n_facets; i++)
        edges += (size_t)s->facet[i].n_edges;
    for (int32_t i = 0; i < s->n_surfaces; i++)
        on_surfaces += (size_t)s->surface[i].count;
    const struct {
        void *place;
        size_t bytes;
    } arrays[] = {
        {&s->vertex, vertices * sizeof *s->vertex},
        {&s->vertex_normal, curved && s->vertex_normal ? vertices * sizeof *s->vertex_normal : 0},
        {&s->vertex_curvature,
         curved && s->vertex_curvature ? vertices * sizeof *s->vertex_curvature : 0},
        {&s->triangle, triangles * sizeof *s->triangle},
        {&s->part, triangles * sizeof *s->part},
        {&s->facet, (size_t)s->n_facets * sizeof *s->facet},
        {&s->facet_edge, edges * sizeof *s->facet_edge},
        {&s->wedge, (size_t)s->n_wedges * sizeof *s->wedge},
        {&s->surface, (size_t)s->n_surfaces * sizeof *s->surface},
        {&s->surface_triangle, on_surfaces * sizeof *s->surface_triangle},
        {&s->material, (size_t)s->n_materials * sizeof *s->material},
        {&c->batch.view.surface_depth, (size_t)s->n_surfaces * sizeof(double)},
    };
    int status = EC_OK;

    s->facet_triangle = NULL; /* not asked for */
    s->object = NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && status >= 0; i++)
        status = upload(c, *(void **)arrays[i].place, arrays[i].bytes, arrays[i].place);
    return status;
}

static int upload_faces(ec_path_channels *c, const ec_scene *scene, const double *frequency)
{
    size_t n = (size_t)c->batch.n_frequencies, m = (size_t)scene->n_materials;
    ec_fresnel_face *face = malloc((n * m + 1) * sizeof *face);
    double *wavelength = malloc(n * sizeof *wavelength);
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
        status = upload(c, wavelength, n * sizeof *wavelength, &c->batch.wavelength);
    if (status >= 0)
        status = upload(c, face, n * m * sizeof *face, &c->batch.face);
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
    if (n_frequencies < 1)
        return ec_fail(EC_ERR_ARGUMENT, "there are %d frequencies; there is at least 1",
                       (int)n_frequencies);
    ec_path_channels *c = calloc(1, sizeof *c);
    if (!c)
        return ec_fail(EC_ERR_MEMORY, "no memory for the channels of paths");
    c->backend = backend;
    c->batch.view = plan->view;
    c->batch.n_sequences = sequences->n;
    c->batch.n_frequencies = n_frequencies;
    c->batch.slices = slices_of(sequences);
    c->batch.size = plan->size;
    int status = upload_scene(c);
    if (status >= 0)
        status = upload_faces(c, plan->scene, frequency);
    if (status >= 0)
        status = upload(c, sequences->first, (sequences->n + 1) * sizeof *sequences->first,
                        &c->batch.first);
    if (status >= 0)
        status = upload(c, sequences->step, sequences->first[sequences->n] * sizeof(uint32_t),
                        &c->batch.step);
    if (status >= 0 && plan->bvh)
        status = ec_bvh_lay_out(plan->bvh, backend, EC_BVH_AUTO, &c->layout);
    if (status < 0) {
        ec_path_channels_destroy(&c);
        return status;
    }
    c->batch.view.bvh = c->layout ? *ec_bvh_layout_view(c->layout) : (ec_bvh_view){0};
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
    ec_bvh_layout_destroy(&c->layout);
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
