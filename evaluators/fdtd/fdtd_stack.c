/* fdtd_stack.c: slots of domains, their steps, looks and ends. */
#include "fdtd_stack_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/wall_clock.h"
#include "fdtd_blocks_internal.h"
#include "fdtd_kernels.h"
#include "fdtd_surface_kernels.h"

EC_KERNEL_DECLARE_FLAGS(fdtd_steps, ec_fdtd_steps_args, EC_KERNEL_SERIAL)
EC_KERNEL_DECLARE_FLAGS(fdtd_energy, ec_fdtd_energy_args, EC_KERNEL_SERIAL)
EC_KERNEL_DECLARE(fdtd_raster, ec_fdtd_raster_args)
EC_KERNEL_DECLARE(fdtd_loads, ec_fdtd_raster_args)
EC_KERNEL_DECLARE(fdtd_spectrum, ec_fdtd_spectrum_args)
EC_KERNEL_DECLARE(fdtd_surface, ec_fdtd_surface_args)
EC_KERNEL_CUDA_PROTOTYPE(fdtd_pairs)
EC_KERNEL_CUDA_PROTOTYPE(fdtd_chip)
EC_KERNEL_CUDA_PROTOTYPE(fdtd_chip_steps)
static const ec_kernel ec_kernel_fdtd_chip = {.name = "fdtd_chip",
                                              .args_size = sizeof(ec_fdtd_chip_args),
                                              .flags = EC_KERNEL_SERIAL,
                                              .cuda = EC_KERNEL_CUDA_POINTER(fdtd_chip)};
static const ec_kernel ec_kernel_fdtd_chip_steps = {.name = "fdtd_chip_steps",
                                                    .args_size = sizeof(ec_fdtd_steps_args),
                                                    .flags = EC_KERNEL_SERIAL,
                                                    .cuda =
                                                        EC_KERNEL_CUDA_POINTER(fdtd_chip_steps)};
static const ec_kernel ec_kernel_fdtd_pairs = {.name = "fdtd_pairs",
                                               .args_size = sizeof(ec_fdtd_pairs_args),
                                               .flags = EC_KERNEL_SERIAL,
                                               .cuda = EC_KERNEL_CUDA_POINTER(fdtd_pairs)};

enum {
    LOOK = 256, /* steps between two looks */
    RARELY = 64 /* most steps between two samples of surfaces; both are powers of two */
};

static const double step_cells = 5e7; /* cells times steps of a launch, a thread */

/* Memory on the backend that grows. */
typedef struct room {
    void *memory;
    size_t bytes;
} room;

/* A design's coefficients, which its domains share. */
typedef struct holding {
    size_t design;
    int32_t users; /* 0: free */
    ec_fdtd_build *build;
    room coefficient; /* a, b; or the edges' indices and the pairs */
    bool indexed;
    void *magnetic;                /* ha, hb */
    ec_fdtd_blocks blocks[2];      /* CPU: of E and H */
    room blob;                     /* everything else of the build */
    size_t dispersive, part, pole; /* in blob, as what follows */
    size_t wave, e_term, h_term, branch, id_e[3], id_h[3], be[3], ce[3], bh[3], ch[3];
    ec_fdtd_plane_wave *incident;
    size_t entry[2], weight[2], line[2]; /* of the incident wave, in blob */
    room spot;                           /* of levels */
    int32_t every;                       /* steps between samples of its surface */
} holding;

typedef struct slot {
    bool used;
    size_t design;
    int32_t driven; /* of wants */
    holding *of;
    void *field, *psi;
    room source, branch_state, poles, seen;
    double peak;   /* J */
    double energy; /* J, at the last look */
    ec_c128 *last; /* [port][frequency]: waves at an earlier look */
    double last_time;
    bool has_last;
    double *kept;
    void *surface; /* sums */
} slot;

struct ec_fdtd_stack {
    ec_backend *backend;
    ec_fdtd_setup own; /* the call's, laid for the backend */
    const ec_fdtd_setup *setup;
    const ec_fdtd_wants *wants;
    size_t real;
    int32_t n_slots;
    slot *slot;
    holding *holding;       /* [n_slots] */
    ec_fdtd_domain *domain; /* [n_slots] */
    void *domain_there;     /* the same on the backend */
    void *structure_there;  /* one */
    void *series, *sum, *energy, *frequency, *offset;
    ec_c128 *sum_here; /* [slot][probe][frequency] */
    double *energy_here, *series_here;
    /* CUDA: a, b before they are indexed, the table of pairs; the launches of a chunk. */
    void *scratch, *key, *number, *count, *part;
    ec_capture *capture;
    ec_fdtd_chip chip; /* how the slots in use are held */
    room halo, flag;
    room raster;                   /* lines and objects of the design that is built */
    const ec_interrupt *interrupt; /* of the run, may be NULL */
    int32_t n_entries;             /* of an incident wave, at most; 0: none */
    /* Surfaces of far fields: */
    int32_t n_pairs;
    int32_t every; /* steps between the samples of whoever has the most */
    ec_fdtd_pair *pair;
    void *spot, *surface_there, *phasor_there;
    ec_fdtd_surface *surface; /* [n_slots] */
    ec_c128 *phasor;          /* [sample][slot][E, H][far frequency] */
    void *surface_here;       /* sums of one slot */
};

/* ---- memory ------------------------------------------------------------------------------------- */

static size_t component_of(const ec_fdtd_setup *s)
{
    return (size_t)s->shape.plane * (size_t)(s->shape.n[2] + 1);
}

static size_t real_of(const ec_fdtd_setup *s)
{
    return s->model->config.double_precision ? sizeof(double) : sizeof(float);
}

static size_t field_bytes(const ec_fdtd_setup *s)
{
    return 6 * (size_t)s->shape.field * real_of(s);
}

static size_t psi_bytes(const ec_fdtd_setup *s)
{
    return 4 * (size_t)(s->shape.memory[0] + s->shape.memory[1] + s->shape.memory[2]) * real_of(s);
}

/* a and b of a side. */
static size_t coefficient_bytes(const ec_fdtd_setup *s)
{
    return 6 * component_of(s) * real_of(s);
}

/* At most: with all edges in the medium that has most poles. */
static size_t pole_bytes(const ec_fdtd_setup *s)
{
    const ec_fdtd_config *c = &s->model->config;
    size_t most = 0;

    for (int32_t i = 0; i < c->n_materials; i++)
        if ((size_t)c->materials[i].n_poles > most)
            most = (size_t)c->materials[i].n_poles;
    return most == 0 ? 0
                     : 3 * component_of(s) *
                           (sizeof(ec_fdtd_dispersive) + real_of(s) +
                            most * (sizeof(ec_fdtd_pole_part) + 2 * real_of(s)));
}

static size_t sum_bytes(const ec_fdtd_setup *s)
{
    return (size_t)s->n_probes * (size_t)s->model->config.n_frequencies * sizeof(ec_c128);
}

static size_t series_bytes(const ec_fdtd_setup *s)
{
    return (size_t)s->n_probes * LOOK * sizeof(double);
}

/* Spots of a level: both planes, three components, all nodes. */
static size_t level_spots(const ec_fdtd_setup *s, int axis)
{
    const int32_t *n = s->shape.n;
    return 6 * (size_t)(n[axis == 0] + 1) * (size_t)(n[axis == 2 ? 1 : 2] + 1);
}

static size_t surface_pairs(const ec_fdtd_setup *s, const ec_fdtd_wants *wants)
{
    size_t spots = 0;
    for (int32_t i = 0; i < wants->n_levels; i++)
        spots += level_spots(s, wants->level[i].axis);
    if (wants->n_levels > 0)
        return spots;
    const ec_fdtd_box box = ec_fdtd_box_of(s, EC_FDTD_FAR_INSET);
    return wants->n_far > 0 ? (size_t)ec_fdtd_box_count(&box) : 0;
}

static size_t surface_bytes(const ec_fdtd_setup *s, const ec_fdtd_wants *wants)
{
    return 4 * surface_pairs(s, wants) * (size_t)wants->n_far * real_of(s);
}

static bool has_wave(const ec_fdtd_wants *wants)
{
    for (int32_t i = 0; i < wants->n_driven; i++)
        if (wants->driven[i] == EC_FDTD_WAVE)
            return true;
    return false;
}

/* Entries of a side of the incident wave, at most. */
static int32_t most_entries(const ec_fdtd_setup *s)
{
    const ec_fdtd_box box = ec_fdtd_box_of(s, EC_FDTD_WAVE_INSET);
    return (int32_t)ec_fdtd_box_count(&box);
}

/* Of the first design: others take about as much. */
static size_t wave_bytes(const ec_fdtd_setup *s, const ec_fdtd_wants *wants)
{
    ec_fdtd_build *build = NULL;
    ec_fdtd_plane_wave *wave = NULL;
    size_t bytes = 0;

    if (has_wave(wants) && ec_fdtd_build_create(s, s->model->designs, &build) >= 0 &&
        ec_fdtd_plane_wave_create(s, build, s->model->designs, &wave) >= 0)
        bytes = ec_fdtd_plane_wave_bytes(wave, real_of(s));
    ec_fdtd_plane_wave_destroy(&wave);
    ec_fdtd_build_destroy(s, &build);
    return bytes;
}

/* Whether domains may be held on the chip, if they fit there. */
static bool may_be_held(const ec_fdtd_setup *setup, const ec_fdtd_wants *wants)
{
    const ec_fdtd_shape *shape = &setup->shape;

    return real_of(setup) == sizeof(float) && !setup->model->config.off_chip &&
           !shape->periodic[0] && !shape->periodic[1] && !shape->periodic[2] &&
           pole_bytes(setup) == 0 && !has_wave(wants);
}

size_t ec_fdtd_slot_bytes(const ec_fdtd_setup *s, const ec_fdtd_wants *wants)
{
    return field_bytes(s) + psi_bytes(s) + (s->magnetic ? 2 : 1) * coefficient_bytes(s) +
           pole_bytes(s) + sum_bytes(s) + series_bytes(s) + surface_bytes(s, wants) +
           wave_bytes(s, wants) +
           (may_be_held(s, wants) ? EC_FDTD_CHIP_TERMS * LOOK * sizeof(float) : 0);
}

static int reserve(ec_backend *backend, room *r, size_t bytes)
{
    void *memory = NULL;

    if (bytes <= r->bytes)
        return EC_OK;
    int status = backend->ops->alloc(backend, bytes, &memory);
    if (status < 0)
        return status;
    backend->ops->release(backend, r->memory);
    *r = (room){memory, bytes};
    return EC_OK;
}

void ec_fdtd_stack_destroy(ec_fdtd_stack **stack)
{
    ec_fdtd_stack *s = *stack;

    if (!s)
        return;
    ec_backend *backend = s->backend;
    for (int32_t i = 0; i < s->n_slots; i++) {
        if (s->slot) {
            backend->ops->release(backend, s->slot[i].field);
            backend->ops->release(backend, s->slot[i].psi);
            backend->ops->release(backend, s->slot[i].source.memory);
            backend->ops->release(backend, s->slot[i].branch_state.memory);
            backend->ops->release(backend, s->slot[i].poles.memory);
            backend->ops->release(backend, s->slot[i].seen.memory);
            backend->ops->release(backend, s->slot[i].surface);
            free(s->slot[i].last);
            free(s->slot[i].kept);
        }
        if (s->holding) {
            backend->ops->release(backend, s->holding[i].coefficient.memory);
            backend->ops->release(backend, s->holding[i].magnetic);
            backend->ops->release(backend, s->holding[i].blob.memory);
            backend->ops->release(backend, s->holding[i].spot.memory);
            for (int side = 0; side < 2; side++)
                ec_fdtd_blocks_release(s->holding[i].blocks + side);
            ec_fdtd_build_destroy(s->setup, &s->holding[i].build);
            ec_fdtd_plane_wave_destroy(&s->holding[i].incident);
        }
    }
    if (s->capture)
        backend->ops->capture_destroy(backend, &s->capture);
    void *there[] = {s->scratch,       s->key,          s->number,          s->count,
                     s->part,          s->domain_there, s->structure_there, s->series,
                     s->sum,           s->energy,       s->frequency,       s->offset,
                     s->raster.memory, s->spot,         s->surface_there,   s->phasor_there,
                     s->halo.memory,   s->flag.memory};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        backend->ops->release(backend, there[i]);
    free(s->slot);
    free(s->holding);
    free(s->domain);
    free(s->sum_here);
    free(s->energy_here);
    free(s->series_here);
    free(s->pair);
    free(s->surface);
    free(s->phasor);
    free(s->surface_here);
    free(s);
    *stack = NULL;
}

/* Whether edges may have indices of pairs instead of the pairs themselves: a third of the traffic. */
static bool is_indexed(const ec_fdtd_stack *s)
{
    return s->backend->is_cuda && s->real == sizeof(float);
}

/* What a chip holds of a domain besides its fields has room for this much. */
static bool is_held(const ec_fdtd_domain *d)
{
    return d->n_sources <= EC_FDTD_CHIP_SOURCES && d->n_branches <= EC_FDTD_CHIP_BRANCHES &&
           d->n_h_terms + d->n_e_terms <= EC_FDTD_CHIP_TERMS &&
           (d->seen || d->n_h_terms + d->n_e_terms == 0);
}

/* How so many domains are held; s->chip.lines 0: not on the chip. */
static int choose_chip(ec_fdtd_stack *s, int32_t domains, bool plain)
{
    const ec_fdtd_chip before = s->chip;
    size_t halo = 0, flags = 0;
    const ec_fdtd_chip_args args = {.shape = s->setup->shape,
                                    .domains = domains,
                                    .chip = &s->chip,
                                    .halo_bytes = &halo,
                                    .flag_bytes = &flags};
    int status = EC_OK;

    s->chip.lines = 0;
    s->chip.plain = plain;
    if (s->backend->is_cuda && may_be_held(s->setup, s->wants) && domains > 0)
        status = s->backend->ops->launch(s->backend, &ec_kernel_fdtd_chip, &args, 1, 1);
    if (status >= 0 && s->chip.lines > 0 && (status = reserve(s->backend, &s->halo, halo)) >= 0 &&
        (status = reserve(s->backend, &s->flag, flags)) >= 0) {
        s->chip.halo = s->halo.memory;
        s->chip.flag = s->flag.memory;
    }
    if (s->capture && memcmp(&before, &s->chip, sizeof before) != 0)
        s->backend->ops->capture_destroy(s->backend, &s->capture);
    return status;
}

void ec_fdtd_stack_describe(const ec_fdtd_stack *s, char *text, size_t size)
{
    const ec_fdtd_chip *c = &s->chip;

    if (c->lines > 0)
        snprintf(
            text, size,
            "fields stay on the chip: %d of %d domains at a time, each by %d blocks of %d rows",
            c->teams, s->n_slots, c->blocks, c->lines);
    else
        snprintf(text, size, "fields in memory, %d domain%s at a time", s->n_slots,
                 s->n_slots == 1 ? "" : "s");
}

/* The surfaces' spots, which all domains share, and room for their sums. */
static int create_surfaces(ec_fdtd_stack *s)
{
    const ec_fdtd_box box = ec_fdtd_box_of(s->setup, EC_FDTD_FAR_INSET);
    const size_t n = surface_pairs(s->setup, s->wants), slots = (size_t)s->n_slots;
    const size_t phasors = LOOK * 2 * slots * (size_t)s->wants->n_far;
    const size_t bytes = surface_bytes(s->setup, s->wants);
    ec_backend *backend = s->backend;
    ec_fdtd_spot *spot = calloc(n + 1, sizeof *spot);
    int status = EC_OK;

    s->n_pairs = (int32_t)n;
    s->pair = calloc(n + 1, sizeof *s->pair);
    s->surface = calloc(slots, sizeof *s->surface);
    s->phasor = calloc(phasors + 1, sizeof *s->phasor);
    s->surface_here = malloc(bytes + 1);
    if (!spot || !s->pair || !s->surface || !s->phasor || !s->surface_here)
        status = ec_fail(EC_ERR_MEMORY, "no memory for the surfaces of far fields");
    if (n > 0 && status >= 0) {
        if (s->wants->n_levels == 0)
            ec_fdtd_box_pairs(s->setup, &box, s->pair);
        for (size_t i = 0; i < n; i++)
            spot[i] = (ec_fdtd_spot){{s->pair[i].e, s->pair[i].h}};
        if ((status = backend->ops->alloc(backend, n * sizeof *spot, &s->spot)) >= 0 &&
            (status = backend->ops->alloc(backend, slots * sizeof *s->surface,
                                          &s->surface_there)) >= 0 &&
            (status =
                 backend->ops->alloc(backend, phasors * sizeof *s->phasor, &s->phasor_there)) >= 0)
            status = backend->ops->upload(backend, s->spot, spot, n * sizeof *spot);
        for (size_t i = 0; i < slots && status >= 0; i++)
            status = backend->ops->alloc(backend, bytes, &s->slot[i].surface);
    }
    free(spot);
    return status;
}

static int create_slots(ec_fdtd_stack *s)
{
    const ec_fdtd_setup *setup = s->setup;
    const ec_fdtd_config *c = &setup->model->config;
    ec_backend *backend = s->backend;
    const size_t n = (size_t)s->n_slots, waves = (size_t)c->n_ports * (size_t)c->n_frequencies;
    const struct {
        void **memory;
        size_t bytes;
    } there[] = {{&s->domain_there, n * sizeof(ec_fdtd_domain)},
                 {&s->structure_there, sizeof(ec_fdtd_structure)},
                 {&s->series, n * series_bytes(setup)},
                 {&s->sum, n * sum_bytes(setup)},
                 {&s->energy, n * sizeof(double)},
                 {&s->part, backend->is_cuda ? n * EC_FDTD_ENERGY_PARTS * sizeof(double) : 0},
                 {&s->scratch, is_indexed(s) ? coefficient_bytes(setup) : 0},
                 {&s->key, is_indexed(s) ? EC_FDTD_PAIR_PLACES * sizeof(uint64_t) : 0},
                 {&s->number, is_indexed(s) ? EC_FDTD_PAIR_PLACES * sizeof(int32_t) : 0},
                 {&s->count, is_indexed(s) ? sizeof(int32_t) : 0},
                 {&s->frequency, (size_t)c->n_frequencies * sizeof(double)},
                 {&s->offset, (size_t)setup->n_probes * sizeof(double)}};
    int status = EC_OK;

    s->slot = calloc(n, sizeof *s->slot);
    s->holding = calloc(n, sizeof *s->holding);
    s->domain = calloc(n, sizeof *s->domain);
    s->sum_here = malloc(n * sum_bytes(setup) + 1);
    s->energy_here = calloc(n, sizeof *s->energy_here);
    s->series_here = malloc(n * series_bytes(setup) + 1);
    double *offset = calloc((size_t)setup->n_probes + 1, sizeof *offset);
    if (!s->slot || !s->holding || !s->domain || !s->sum_here || !s->energy_here ||
        !s->series_here || !offset)
        status = ec_fail(EC_ERR_MEMORY, "no memory for %d domains", s->n_slots);
    for (size_t i = 0; i < n && status >= 0; i++) {
        slot *q = s->slot + i;
        q->last = calloc(waves + 1, sizeof *q->last);
        if (s->wants->n_kept)
            q->kept = calloc((size_t)s->wants->n_kept * (size_t)c->max_steps, sizeof *q->kept);
        if (!q->last || (s->wants->n_kept && !q->kept))
            status = ec_fail(EC_ERR_MEMORY, "no memory for %d domains", s->n_slots);
        if (status >= 0)
            status = backend->ops->alloc(backend, field_bytes(setup), &q->field);
        if (status >= 0 && psi_bytes(setup) > 0)
            status = backend->ops->alloc(backend, psi_bytes(setup), &q->psi);
        if (status >= 0 && setup->magnetic)
            status =
                backend->ops->alloc(backend, coefficient_bytes(setup), &s->holding[i].magnetic);
    }
    for (size_t i = 0; i < sizeof there / sizeof *there && status >= 0; i++)
        if (there[i].bytes > 0)
            status = backend->ops->alloc(backend, there[i].bytes, there[i].memory);
    for (int32_t i = 0; offset && i < setup->n_probes; i++)
        offset[i] = ec_fdtd_probe_offset(c, i);
    if (status >= 0)
        status = backend->ops->upload(backend, s->frequency, c->frequency,
                                      (size_t)c->n_frequencies * sizeof(double));
    if (status >= 0)
        status = backend->ops->upload(backend, s->offset, offset,
                                      (size_t)setup->n_probes * sizeof(double));
    free(offset);
    return status < 0 || s->wants->n_far == 0 ? status : create_surfaces(s);
}

/* A domain that no memory holds is refused before anything is taken. */
static int check_memory(ec_backend *backend, const ec_fdtd_setup *setup, size_t each)
{
    const int32_t *n = setup->shape.n;
    size_t available = 0;
    char hint[200];

    if (backend->ops->memory(backend, &available, NULL) < 0 || each <= available)
        return EC_OK;
    ec_fdtd_line_scale(setup->lines, hint, sizeof hint);
    return ec_fail(
        EC_ERR_MEMORY,
        "fdtd: a domain of %d x %d x %d cells takes %.3g GB, %.3g GB of memory are free: "
        "fewer cells a wavelength, less air or a larger cell take less%s%s",
        (int)n[0], (int)n[1], (int)n[2], 1e-9 * (double)each, 1e-9 * (double)available,
        hint[0] ? "; " : "", hint);
}

int ec_fdtd_stack_create(ec_backend *backend, const ec_fdtd_setup *setup,
                         const ec_fdtd_wants *wants, size_t domains, size_t budget,
                         ec_fdtd_stack **stack)
{
    const size_t each = ec_fdtd_slot_bytes(setup, wants);
    /* The CPU keeps a domain a thread in its caches; a GPU works on all that fit. */
    size_t n = backend->is_cuda ? 1024 : (size_t)(backend->threads > 1 ? backend->threads : 1);
    int status = check_memory(backend, setup, each);

    n = domains < n ? domains : n;
    if (budget == 0 && backend->is_cuda && backend->ops->memory(backend, &budget, NULL) >= 0)
        budget -= budget / 4;
    if (budget > 0 && budget / each < n)
        n = budget / each;
    n = n < 1 ? 1 : n;
    for (; status == EC_OK; n = (n + 1) / 2) { /* others may have taken memory: with fewer slots */
        ec_fdtd_stack *s = calloc(1, sizeof *s);
        if (!s)
            return ec_fail(EC_ERR_MEMORY, "no memory for a stack of domains");
        s->backend = backend;
        s->own = *setup;
        if (!backend->is_cuda)
            ec_fdtd_shape_along(&s->own.shape, EC_FDTD_LANES);
        s->setup = &s->own;
        s->wants = wants;
        s->real = real_of(setup);
        s->n_entries = has_wave(wants) ? most_entries(setup) : 0;
        s->n_slots = (int32_t)n;
        status = create_slots(s);
        if (status == EC_OK)
            status = choose_chip(s, s->n_slots, !setup->magnetic);
        if (status == EC_OK) {
            *stack = s;
            return EC_OK;
        }
        ec_fdtd_stack_destroy(&s);
        if (status == EC_ERR_MEMORY && n > 1)
            status = EC_OK;
    }
    return status;
}

/* ---- a design to the backend -------------------------------------------------------------------- */

/* Bytes on their way to the backend, each part aligned. */
typedef struct parcel {
    char *data;
    size_t bytes, most;
    bool failed;
} parcel;

static size_t put(parcel *p, const void *data, size_t bytes)
{
    const size_t at = ec_round_up(p->bytes, 16);

    if (at + bytes > p->most || !p->data) {
        const size_t most = 2 * (at + bytes) + 4096;
        char *more = realloc(p->data, most);
        if (!more) {
            p->failed = true;
            return 0;
        }
        p->data = more;
        p->most = most;
    }
    memset(p->data + p->bytes, 0, at - p->bytes);
    if (bytes)
        memcpy(p->data + at, data, bytes);
    p->bytes = at + bytes;
    return at;
}

/* Reals with zeros behind them up to whole lanes, which are read at once. */
static size_t put_reals(parcel *p, const double *data, size_t n, size_t real)
{
    const size_t padded = ec_round_up(n, EC_FDTD_LANES);
    void *reals = calloc(padded + 1, real);

    if (!reals) {
        p->failed = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        ec_fdtd_store(reals, real == sizeof(double), (int64_t)i, data[i]);
    const size_t at = put(p, reals, padded * real);
    free(reals);
    return at;
}

static int send(ec_backend *backend, parcel *p, room *to)
{
    int status = p->failed ? ec_fail(EC_ERR_MEMORY, "no memory for a domain's lists")
                           : reserve(backend, to, p->bytes);
    if (status >= 0)
        status = backend->ops->upload(backend, to->memory, p->data, p->bytes);
    free(p->data);
    return status;
}

/* Takes the coefficients in the scratch as indices of their distinct pairs, or as they are where these
 * are too many. */
static int index_pairs(ec_fdtd_stack *s, holding *h)
{
    ec_backend *backend = s->backend;
    const size_t half = 3 * component_of(s->setup), pairs = 2 * EC_FDTD_PAIRS * sizeof(float);
    int32_t count = 0;
    int status = reserve(backend, &h->coefficient, pairs + half);

    if (status < 0)
        return status;
    const ec_fdtd_pairs_args args = {.a = s->scratch,
                                     .b = (char *)s->scratch + half * sizeof(float),
                                     .n = (int64_t)half,
                                     .key = s->key,
                                     .number = s->number,
                                     .count = s->count,
                                     .pair = h->coefficient.memory,
                                     .index = (uint8_t *)h->coefficient.memory + pairs};
    if ((status = backend->ops->fill(backend, s->key, 0, EC_FDTD_PAIR_PLACES * sizeof(uint64_t))) <
            0 ||
        (status = backend->ops->fill(backend, s->count, 0, sizeof count)) < 0 ||
        (status = backend->ops->launch(backend, &ec_kernel_fdtd_pairs, &args, 1, 1)) < 0 ||
        (status = backend->ops->download(backend, &count, s->count, sizeof count)) < 0)
        return status;
    h->indexed = count <= EC_FDTD_PAIRS;
    if (h->indexed)
        return EC_OK;
    status = reserve(backend, &h->coefficient, coefficient_bytes(s->setup));
    return status < 0 ? status
                      : backend->ops->copy(backend, h->coefficient.memory, s->scratch,
                                           coefficient_bytes(s->setup));
}

static bool is_interrupted(const ec_fdtd_stack *s)
{
    return s->interrupt && s->interrupt->asked(s->interrupt->user);
}

/* Materials of a design's edges, on the CPU in pieces: with many objects, or many samples an edge, a large
 * domain takes a while. EC_STOPPED: interrupted. */
static int raster(ec_fdtd_stack *s, ec_fdtd_raster_args *args, size_t component)
{
    enum { QUANTUM = 4096 };        /* elements: enough for all threads */
    static const double most = 3e8; /* looks at an object in a piece */
    ec_backend *backend = s->backend;
    const double samples = args->averaging > 1 ? pow(args->averaging, 3) : 1;
    const double each = 3 * 4 * samples * (1 + (double)s->setup->model->config.n_objects);
    const size_t quanta = (size_t)(most / each / QUANTUM) + 1;
    const size_t piece = backend->host_memory ? quanta * QUANTUM : component;
    int status = EC_OK;

    for (size_t first = 0; first < component && status == EC_OK; first += piece) {
        const size_t left = component - first;
        args->first = (int64_t)first;
        status = first > 0 && is_interrupted(s)
                     ? EC_STOPPED
                     : backend->ops->launch(backend, &ec_kernel_fdtd_raster, args,
                                            left < piece ? left : piece, 3);
    }
    return status;
}

/* Lays a holding's lists and computes its coefficients on the backend. */
static int place(ec_fdtd_stack *s, holding *h)
{
    const ec_fdtd_setup *setup = s->setup;
    const ec_fdtd_build *b = h->build;
    ec_backend *backend = s->backend;
    const size_t real = s->real, component = component_of(setup);
    parcel p = {0}, q = {0};
    size_t line[3];

    for (int i = 0; i < 3; i++) {
        const size_t n = (size_t)setup->shape.n[i] + 1;
        h->id_e[i] = put_reals(&p, b->id_e[i], n, real);
        h->id_h[i] = put_reals(&p, b->id_h[i], n, real);
        h->be[i] = put_reals(&p, b->be[i], n, real);
        h->ce[i] = put_reals(&p, b->ce[i], n, real);
        h->bh[i] = put_reals(&p, b->bh[i], n, real);
        h->ch[i] = put_reals(&p, b->ch[i], n, real);
        line[i] = put(&q, b->line[i], n * sizeof(double));
    }
    h->dispersive =
        put(&p, b->dispersive,
            (b->n_dispersive ? (size_t)b->n_dispersive + 1 : 0) * sizeof *b->dispersive);
    h->part = put(&p, b->part, (size_t)b->n_parts * sizeof *b->part);
    h->pole = put_reals(&p, b->pole, (size_t)b->n_poles * EC_FDTD_POLE_NUMBERS, real);
    h->wave = put(&p, b->wave, (size_t)b->n_wave * sizeof *b->wave);
    h->e_term = put(&p, b->e_term, (size_t)b->n_e_terms * sizeof *b->e_term);
    h->h_term = put(&p, b->h_term, (size_t)b->n_h_terms * sizeof *b->h_term);
    h->branch = put(&p, b->branch, (size_t)b->n_branches * sizeof *b->branch);
    for (int side = 0; side < 2 && h->incident; side++) {
        const ec_fdtd_plane_wave *w = h->incident;
        const size_t entries = (size_t)w->n[side];
        h->entry[side] = put(&p, w->entry[side], entries * sizeof *w->entry[side]);
        h->weight[side] = put(&p, w->weight[side], entries * (size_t)w->taps * sizeof(double));
        h->line[side] = put_reals(&p, w->line[side], (size_t)w->steps * (size_t)w->width, real);
    }
    const size_t solid = put(&q, b->solid, (size_t)b->n_solids * sizeof *b->solid);
    const size_t medium = put(&q, b->medium, (size_t)b->n_media * sizeof *b->medium);
    const size_t point = put(&q, b->point, 2 * (size_t)b->n_points * sizeof *b->point);
    const size_t load = put(&q, b->load, (size_t)b->n_loads * sizeof *b->load);
    int status = send(backend, &p, &h->blob), other = send(backend, &q, &s->raster);
    if (status < 0 || other < 0)
        return status < 0 ? status : other;

    if (!is_indexed(s) &&
        (status = reserve(backend, &h->coefficient, coefficient_bytes(setup))) < 0)
        return status;
    char *there = s->raster.memory;
    char *coefficient = is_indexed(s) ? s->scratch : h->coefficient.memory;
    ec_fdtd_structure structure;
    ec_fdtd_raster_args args;
    ec_fdtd_raster_of(setup, b, &structure, &args);
    structure.solid = (void *)(there + solid);
    structure.point = (void *)(there + point);
    structure.medium = (void *)(there + medium);
    structure.load = (void *)(there + load);
    structure.a = coefficient;
    structure.b = coefficient + 3 * component * real;
    if (setup->magnetic) {
        structure.ha = h->magnetic;
        structure.hb = (char *)h->magnetic + 3 * component * real;
    }
    for (int i = 0; i < 3; i++)
        structure.line[i] = (void *)(there + line[i]);
    args.structure = s->structure_there;
    status = backend->ops->upload(backend, s->structure_there, &structure, sizeof structure);
    if (status == EC_OK)
        status = raster(s, &args, component);
    if (status == EC_OK && b->n_loads > 0)
        status = backend->ops->launch(backend, &ec_kernel_fdtd_loads, &args, (size_t)b->n_loads, 1);
    if (status == EC_OK && is_indexed(s))
        status = index_pairs(s, h);
    if (status >= 0 && !backend->is_cuda)
        status = ec_fdtd_blocks_find(structure.a, structure.b, component, real, h->blocks);
    if (status >= 0 && !backend->is_cuda && setup->magnetic)
        status = ec_fdtd_blocks_find(structure.ha, structure.hb, component, real, h->blocks + 1);
    /* The next design's structure goes to the same place. */
    return status != EC_OK ? status : backend->ops->sync(backend);
}

/* Steps between samples of a surface: so often that nothing of the pulse folds onto the frequencies. */
static int32_t sampling(const ec_fdtd_stack *s, const ec_fdtd_build *b)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    const double rate = ec_fdtd_pulse_end(s->setup) + c->frequency[c->n_frequencies - 1];
    int32_t every = RARELY;

    while (every > 1 && every * b->dt * rate > 1)
        every /= 2;
    return every;
}

ec_fdtd_between ec_fdtd_level_between(const ec_fdtd_setup *s, const ec_fdtd_build *b,
                                      const ec_fdtd_level *level)
{
    const double *x = b->line[level->axis], at = level->at;
    const int32_t n = s->shape.n[level->axis];
    ec_fdtd_between to = {.line = 0};

    while (to.line < n - 1 && x[to.line + 1] <= at)
        to.line++;
    to.line_part = fmin(fmax((at - x[to.line]) / (x[to.line + 1] - x[to.line]), 0), 1);
    const int32_t k = to.line;
    int32_t first = at < 0.5 * (x[k] + x[k + 1]) ? k - 1 : k;
    first = first < 0 ? 0 : first;
    to.cell[0] = first;
    to.cell[1] = first < n - 1 ? first + 1 : first;
    const double low = 0.5 * (x[first] + x[first + 1]);
    const double high = 0.5 * (x[to.cell[1]] + x[to.cell[1] + 1]);
    to.cell_part = high > low ? fmin(fmax((at - low) / (high - low), 0), 1) : 0;
    return to;
}

/* Lays a level's spots. */
static void lay_level(const ec_fdtd_setup *s, const ec_fdtd_build *b, const ec_fdtd_level *level,
                      ec_fdtd_spot *to)
{
    const ec_fdtd_shape *shape = &s->shape;
    const ec_fdtd_between is = ec_fdtd_level_between(s, b, level);
    const int a = level->axis, u = a == 0 ? 1 : 0, v = a == 2 ? 1 : 2;
    int p[3], q[3];

    for (int second = 0; second < 2; second++)
        for (int c = 0; c < 3; c++)
            for (p[v] = 0; p[v] <= shape->n[v]; p[v]++)
                for (p[u] = 0; p[u] <= shape->n[u]; p[u]++) {
                    memcpy(q, p, sizeof q);
                    p[a] = c == a ? is.cell[second] : is.line + second;
                    q[a] = c == a ? is.line + second : is.cell[second];
                    *to++ = (ec_fdtd_spot){
                        {c * shape->field + shape->plane + ec_fdtd_at(shape, p[0], p[1], p[2]),
                         (3 + c) * shape->field + shape->plane +
                             ec_fdtd_at(shape, q[0], q[1], q[2])}};
                }
}

/* Spots of all levels of a design. */
static int place_levels(const ec_fdtd_stack *s, holding *h)
{
    ec_fdtd_spot *spot = malloc((size_t)s->n_pairs * sizeof *spot), *to = spot;
    int status = spot ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for the fields of planes");

    for (int32_t i = 0; i < s->wants->n_levels && status >= 0; i++) {
        lay_level(s->setup, h->build, s->wants->level + i, to);
        to += level_spots(s->setup, s->wants->level[i].axis);
    }
    if (status >= 0)
        status = reserve(s->backend, &h->spot, (size_t)s->n_pairs * sizeof *spot);
    if (status >= 0)
        status = s->backend->ops->upload(s->backend, h->spot.memory, spot,
                                         (size_t)s->n_pairs * sizeof *spot);
    free(spot);
    return status;
}

/* The design's coefficients: those that are there, or new ones. */
static int hold(ec_fdtd_stack *s, size_t design, const double *values, holding **held)
{
    holding *free_one = NULL;
    int status;

    for (int32_t i = 0; i < s->n_slots; i++)
        if (s->holding[i].users > 0 && s->holding[i].design == design) {
            *held = s->holding + i;
            (*held)->users++;
            return EC_OK;
        } else if (s->holding[i].users == 0) {
            free_one = s->holding + i;
        }
    ec_fdtd_build_destroy(s->setup, &free_one->build);
    ec_fdtd_plane_wave_destroy(&free_one->incident);
    if ((status = ec_fdtd_build_create_unless(s->setup, values, s->interrupt, &free_one->build)) !=
        EC_OK)
        return status;
    if (s->wants->n_far > 0) {
        const ec_fdtd_box box = ec_fdtd_box_of(s->setup, EC_FDTD_FAR_INSET);
        status = s->wants->n_levels > 0
                     ? place_levels(s, free_one)
                     : ec_fdtd_box_check(s->setup, free_one->build, &box, values, "far field");
        free_one->every = sampling(s, free_one->build);
    }
    if (status >= 0 && has_wave(s->wants))
        status = ec_fdtd_plane_wave_create(s->setup, free_one->build, values, &free_one->incident);
    if (status < 0 || (status = place(s, free_one)) != EC_OK)
        return status;
    free_one->design = design;
    free_one->users = 1;
    *held = free_one;
    return EC_OK;
}

/* Puts a domain into slot i. */
static int fill(ec_fdtd_stack *s, int32_t i, size_t design, int32_t driven, const double *values)
{
    const ec_fdtd_setup *setup = s->setup;
    ec_backend *backend = s->backend;
    slot *q = s->slot + i;
    ec_fdtd_domain *d = s->domain + i;
    int status = hold(s, design, values, &q->of);

    if (status != EC_OK)
        return status;
    const holding *h = q->of;
    const ec_fdtd_build *b = h->build;
    const int32_t port = s->wants->driven[driven];
    const int32_t n_sources = port == EC_FDTD_WAVE ? 0 : b->n_sources[port];
    const size_t component = component_of(setup);
    char *blob = h->blob.memory, *coefficient = h->coefficient.memory;
    const size_t states = (size_t)b->n_branches * EC_FDTD_BRANCH_STATE * sizeof(double);
    parcel p = {0};

    put(&p, n_sources ? b->source[port] : NULL, (size_t)n_sources * sizeof **b->source);
    const size_t memory = ((size_t)b->n_dispersive + 2 * (size_t)b->n_parts) * s->real;
    const size_t terms = (size_t)(b->n_h_terms + b->n_e_terms);
    const bool may_hold = backend->is_cuda && may_be_held(setup, s->wants);
    /* Terms in an electric wall stay 0. */
    const size_t seen = may_hold && terms <= EC_FDTD_CHIP_TERMS ? terms * LOOK * sizeof(float) : 0;
    if ((status = send(backend, &p, &q->source)) < 0 ||
        (seen > 0 && ((status = reserve(backend, &q->seen, seen)) < 0 ||
                      (status = backend->ops->fill(backend, q->seen.memory, 0, seen)) < 0)) ||
        (status = reserve(backend, &q->branch_state, states)) < 0 ||
        (states > 0 &&
         (status = backend->ops->fill(backend, q->branch_state.memory, 0, states)) < 0) ||
        (status = reserve(backend, &q->poles, memory)) < 0 ||
        (memory > 0 && (status = backend->ops->fill(backend, q->poles.memory, 0, memory)) < 0) ||
        (status = backend->ops->fill(backend, q->field, 0, field_bytes(setup))) < 0 ||
        (psi_bytes(setup) > 0 &&
         (status = backend->ops->fill(backend, q->psi, 0, psi_bytes(setup))) < 0) ||
        (q->surface && (status = backend->ops->fill(backend, q->surface, 0,
                                                    surface_bytes(setup, s->wants))) < 0) ||
        (status = backend->ops->fill(backend, (char *)s->sum + (size_t)i * sum_bytes(setup), 0,
                                     sum_bytes(setup))) < 0) {
        q->of->users--;
        return status;
    }
    *d = (ec_fdtd_domain){.field = q->field,
                          .ha = h->magnetic,
                          .hb = h->magnetic ? (char *)h->magnetic + 3 * component * s->real : NULL,
                          .h = -b->dt / EC_FDTD_MU0,
                          .dt = b->dt,
                          .psi = q->psi,
                          .source = q->source.memory,
                          .n_sources = n_sources,
                          .wave = (void *)(blob + h->wave),
                          .n_wave = b->n_wave,
                          .branch = (void *)(blob + h->branch),
                          .branch_state = q->branch_state.memory,
                          .n_branches = b->n_branches,
                          .e_term = (void *)(blob + h->e_term),
                          .h_term = (void *)(blob + h->h_term),
                          .n_e_terms = b->n_e_terms,
                          .n_h_terms = b->n_h_terms,
                          .dispersive = (void *)(blob + h->dispersive),
                          .part = (void *)(blob + h->part),
                          .pole = blob + h->pole,
                          .pole_memory = q->poles.memory,
                          .n_dispersive = b->n_dispersive,
                          .seen = q->seen.memory,
                          .series =
                              (double *)s->series + (size_t)i * (size_t)setup->n_probes * LOOK};
    if (h->indexed) {
        d->pair = coefficient;
        d->index = (uint8_t *)coefficient + 2 * EC_FDTD_PAIRS * sizeof(float);
    } else {
        d->a = coefficient;
        d->b = coefficient + 3 * component * s->real;
    }
    for (int side = 0; side < 2; side++) {
        d->block[side] = h->blocks[side].index;
        d->blocks[side] = h->blocks[side].block;
    }
    for (int c = 0; c < 3; c++) {
        d->id_e[c] = blob + h->id_e[c];
        d->id_h[c] = blob + h->id_h[c];
        d->be[c] = blob + h->be[c];
        d->ce[c] = blob + h->ce[c];
        d->bh[c] = blob + h->bh[c];
        d->ch[c] = blob + h->ch[c];
    }
    if (port == EC_FDTD_WAVE) {
        const ec_fdtd_plane_wave *w = h->incident;
        d->incidence.steps = d->n_wave = w->steps;
        d->incidence.taps = w->taps;
        d->incidence.width = w->width;
        for (int side = 0; side < 2; side++) {
            d->incidence.n[side] = w->n[side];
            d->incidence.entry[side] = (void *)(blob + h->entry[side]);
            d->incidence.weight[side] = (void *)(blob + h->weight[side]);
            d->incidence.line[side] = blob + h->line[side];
        }
    }
    q->used = true;
    q->design = design;
    q->driven = driven;
    q->peak = q->energy = 0;
    q->has_last = false;
    return EC_OK;
}

static void leave(ec_fdtd_stack *s, int32_t i)
{
    s->slot[i].of->users--;
    s->slot[i].used = false;
    s->domain[i].steps = 0;
}

/* ---- steps and looks ---------------------------------------------------------------------------- */

/* Times and places of all samples of surfaces in the chunk that comes. */
static int prepare_surfaces(ec_fdtd_stack *s)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    const int32_t n_far = s->wants->n_far;
    const size_t n = (size_t)s->n_slots, row = 2 * n * (size_t)n_far;
    int32_t every = RARELY;
    int status;

    for (int32_t i = 0; i < s->n_slots; i++)
        if (s->slot[i].used && s->slot[i].of->every < every)
            every = s->slot[i].of->every;
    if (every != s->every && s->capture)
        s->backend->ops->capture_destroy(s->backend, &s->capture);
    s->every = every;
    for (int32_t i = 0; i < s->n_slots; i++) {
        const slot *q = s->slot + i;
        const ec_fdtd_domain *d = s->domain + i;
        s->surface[i] = (ec_fdtd_surface){.spot = s->wants->n_levels == 0 ? s->spot
                                                  : q->used               ? q->of->spot.memory
                                                                          : NULL,
                                          .field = q->field,
                                          .sum = q->surface,
                                          .n = q->used ? s->n_pairs : 0,
                                          .steps = d->steps,
                                          .every = q->used ? q->of->every : every};
        for (int32_t gone = s->surface[i].every; gone <= d->steps; gone += s->surface[i].every)
            for (int32_t k = 0; k < 2 * n_far; k++) {
                /* E is known at the step's end, H half a step earlier. */
                const double turns = c->frequency[s->wants->far[k % n_far]] * d->dt *
                                     ((double)(d->step + gone) - (k < n_far ? 0 : 0.5));
                const double interval = s->surface[i].every * d->dt;
                ec_c128 *to = s->phasor + (size_t)(gone / every - 1) * row +
                              (size_t)i * 2 * (size_t)n_far + k;
                ec_det_sincospi(-2 * (turns - ec_det_floor(turns)), &to->im, &to->re);
                to->re *= interval;
                to->im *= interval;
            }
    }
    if ((status = s->backend->ops->upload(s->backend, s->surface_there, s->surface,
                                          n * sizeof *s->surface)) < 0)
        return status;
    return s->backend->ops->upload(s->backend, s->phasor_there, s->phasor,
                                   (size_t)(LOOK / every) * row * sizeof *s->phasor);
}

/* Steps of one launch: of large domains so few that an interrupt is heard within a second or so, where
 * launches are not recorded, but enough for threads that take steps in turn. A power of two. */
static int32_t piece_of(const ec_fdtd_stack *s)
{
    const int threads = s->backend->threads > 1 ? s->backend->threads : 1;
    const double cells = (double)s->n_slots * (double)s->setup->shape.field;
    int32_t steps = LOOK;

    while (!s->backend->ops->capture_begin && steps > 8 * threads &&
           steps * cells > step_cells * threads)
        steps /= 2;
    return steps;
}

/* The steps of a chunk, in pieces where surfaces are sampled. EC_STOPPED: interrupted. */
static int launch_steps(ec_fdtd_stack *s)
{
    const ec_fdtd_setup *setup = s->setup;
    const ec_fdtd_config *c = &setup->model->config;
    ec_backend *backend = s->backend;
    const size_t n = (size_t)s->n_slots;
    ec_fdtd_steps_args steps = {.shape = setup->shape,
                                .domain = s->domain_there,
                                .n = s->n_slots,
                                .count = piece_of(s),
                                .window = LOOK,
                                .n_probes = setup->n_probes,
                                .n_entries = s->n_entries,
                                .dispersive = pole_bytes(setup) > 0,
                                .threads = backend->threads,
                                .double_precision = c->double_precision,
                                .chip = s->chip};
    const ec_kernel *kernel =
        s->chip.lines > 0 ? &ec_kernel_fdtd_chip_steps : &ec_kernel_fdtd_steps;
    ec_fdtd_surface_args surface = {.surface = s->surface_there,
                                    .n_frequencies = s->wants->n_far,
                                    .double_precision = c->double_precision};
    int status = EC_OK;

    /* what is recorded runs later, without anyone to ask */
    const bool asks = !backend->ops->capture_begin;
    if (s->n_pairs > 0 && s->every < steps.count)
        steps.count = s->every;
    for (; steps.first < LOOK && status == EC_OK; steps.first += steps.count) {
        if (asks && steps.first > 0 && is_interrupted(s))
            return EC_STOPPED;
        status = backend->ops->launch(backend, kernel, &steps, 1, 1);
        surface.gone = steps.first + steps.count;
        if (s->n_pairs == 0 || surface.gone % s->every != 0)
            continue;
        surface.phasor = (const ec_c128 *)s->phasor_there +
                         (size_t)(surface.gone / s->every - 1) * 2 * n * (size_t)s->wants->n_far;
        if (status >= 0)
            status = backend->ops->launch(backend, &ec_kernel_fdtd_surface, &surface,
                                          (size_t)s->n_pairs, 2 * n);
    }
    return status;
}

/* The steps of a chunk and what a look needs: the same launches each time. */
static int launch_chunk(ec_fdtd_stack *s)
{
    const ec_fdtd_setup *setup = s->setup;
    const ec_fdtd_config *c = &setup->model->config;
    ec_backend *backend = s->backend;
    const size_t n = (size_t)s->n_slots;
    const ec_fdtd_energy_args energy = {.shape = setup->shape,
                                        .domain = s->domain_there,
                                        .energy = s->energy,
                                        .part = s->part,
                                        .n = s->n_slots,
                                        .threads = backend->threads,
                                        .double_precision = c->double_precision};
    const ec_fdtd_spectrum_args spectrum = {.domain = s->domain_there,
                                            .sum = s->sum,
                                            .frequency = s->frequency,
                                            .offset = s->offset,
                                            .n_frequencies = c->n_frequencies,
                                            .n_probes = setup->n_probes,
                                            .window = LOOK};
    int status = backend->ops->fill(backend, s->series, 0, n * series_bytes(setup));

    if (status >= 0)
        status = launch_steps(s);
    if (status == EC_OK && setup->n_probes > 0)
        status = backend->ops->launch(backend, &ec_kernel_fdtd_spectrum, &spectrum,
                                      (size_t)c->n_frequencies, n * (size_t)setup->n_probes);
    return status != EC_OK ? status
                           : backend->ops->launch(backend, &ec_kernel_fdtd_energy, &energy, 1, 1);
}

static int run_chunk(ec_fdtd_stack *s)
{
    ec_backend *backend = s->backend;

    if (!backend->ops->capture_begin)
        return launch_chunk(s);
    if (!s->capture) {
        int status = backend->ops->capture_begin(backend);
        if (status < 0)
            return status;
        int launched = launch_chunk(s);
        status = backend->ops->capture_end(backend, &s->capture);
        if (launched < 0 || status < 0)
            return launched < 0 ? launched : status;
    }
    return backend->ops->replay(backend, s->capture);
}

static int advance(ec_fdtd_stack *s)
{
    const ec_fdtd_setup *setup = s->setup;
    const ec_fdtd_config *c = &setup->model->config;
    ec_backend *backend = s->backend;
    const size_t n = (size_t)s->n_slots;
    int status;

    int32_t used = 0;
    bool held = true, plain = !setup->magnetic;
    for (int32_t i = 0; i < s->n_slots; i++) {
        const int64_t left = c->max_steps - s->domain[i].step;
        s->domain[i].steps = !s->slot[i].used ? 0 : left < LOOK ? (int32_t)left : LOOK;
        used += s->slot[i].used;
        held = held && (!s->slot[i].used || is_held(s->domain + i));
        plain = plain && (!s->slot[i].used || s->slot[i].of->indexed);
    }
    if ((status = choose_chip(s, held ? used : 0, plain)) < 0 ||
        (status = backend->ops->upload(backend, s->domain_there, s->domain,
                                       n * sizeof *s->domain)) < 0 ||
        (s->n_pairs > 0 && (status = prepare_surfaces(s)) < 0) ||
        (status = run_chunk(s)) != EC_OK ||
        (status = backend->ops->download(backend, s->sum_here, s->sum, n * sum_bytes(setup))) < 0 ||
        (status = backend->ops->download(backend, s->energy_here, s->energy,
                                         n * sizeof *s->energy_here)) < 0)
        return status;
    if (s->wants->n_kept)
        status =
            backend->ops->download(backend, s->series_here, s->series, n * series_bytes(setup));
    return status;
}

/* A port's running sum of its voltage. */
static ec_c128 voltage_of(const ec_fdtd_stack *s, int32_t i, int32_t port, int32_t f)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    const size_t probe = (size_t)port * EC_FDTD_PORT_PROBES + EC_FDTD_VOLTAGE;

    return s->sum_here[((size_t)i * (size_t)s->setup->n_probes + probe) * (size_t)c->n_frequencies +
                       (size_t)f];
}

/* Whether the ports' voltages still change: by more than a thousandth of the largest one between two looks at
 * least half a period of the band's middle apart. */
static bool is_settled(ec_fdtd_stack *s, int32_t i)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    slot *q = s->slot + i;
    const double time = (double)s->domain[i].step * s->domain[i].dt;
    const double middle = 0.5 * (c->frequency[0] + c->frequency[c->n_frequencies - 1]);
    double change = 0, largest = 0;

    if (q->has_last && time - q->last_time < 0.5 / middle)
        return false;
    for (int32_t p = 0; p < c->n_ports; p++)
        for (int32_t f = 0; f < c->n_frequencies; f++) {
            const ec_c128 now = voltage_of(s, i, p, f);
            ec_c128 *then = q->last + (size_t)p * (size_t)c->n_frequencies + f;
            change = fmax(change, hypot(now.re - then->re, now.im - then->im));
            largest = fmax(largest, hypot(now.re, now.im));
            *then = now;
        }
    const bool had = q->has_last;
    q->has_last = true;
    q->last_time = time;
    return had && change <= 1e-3 * largest;
}

static void keep(ec_fdtd_stack *s, int32_t i)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    const ec_fdtd_domain *d = s->domain + i;

    for (int32_t p = 0; p < s->wants->n_kept; p++)
        memcpy(s->slot[i].kept + (size_t)p * (size_t)c->max_steps + d->step,
               s->series_here +
                   ((size_t)i * (size_t)s->setup->n_probes + (size_t)s->wants->kept[p]) * LOOK,
               (size_t)d->steps * sizeof(double));
}

/* Takes what a look found of slot i: true when its domain has ended. */
static bool look(ec_fdtd_stack *s, int32_t i, ec_fdtd_result *result)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    slot *q = s->slot + i;
    ec_fdtd_domain *d = s->domain + i;

    keep(s, i);
    d->step += d->steps;
    q->energy = s->energy_here[i];
    *result = (ec_fdtd_result){
        .status = EC_OK,
        .driven = s->wants->driven[q->driven],
        .steps = d->step,
        .dt = d->dt,
        .sum = s->sum_here + (size_t)i * (size_t)s->setup->n_probes * (size_t)c->n_frequencies,
        .series = q->kept,
        .run = q->of->build->run,
        .build = q->of->build,
        .wave = s->wants->driven[q->driven] == EC_FDTD_WAVE ? q->of->incident : NULL};
    if (!isfinite(q->energy)) {
        result->status =
            ec_fail(EC_ERR_RANGE, "the fields grew beyond all bounds within %lld steps",
                    (long long)d->step);
        return true;
    }
    if (d->step - d->steps >= d->n_wave && q->peak > 0 && q->energy > 1e3 * q->peak) {
        result->status = ec_fail(EC_ERR_RANGE,
                                 "the fields grow without a source: their energy rose from at most "
                                 "%.3g to %.3g J by step %lld",
                                 q->peak, q->energy, (long long)d->step);
        return true;
    }
    q->peak = fmax(q->peak, q->energy);
    result->decay = q->peak > 0 ? q->energy / q->peak : 0;
    if (d->step >= d->n_wave && is_settled(s, i) && isfinite(c->decay_db) &&
        result->decay <= pow(10, -c->decay_db / 10)) {
        result->settled = true;
        return true;
    }
    return d->step >= c->max_steps;
}

static int faces(ec_fdtd_stack *s, int32_t i, ec_fdtd_faces *to)
{
    *to = (ec_fdtd_faces){.pair = s->pair,
                          .n = s->n_pairs,
                          .n_frequencies = s->wants->n_far,
                          .sum = s->surface_here,
                          .double_precision = s->setup->model->config.double_precision};
    return s->backend->ops->download(s->backend, s->surface_here, s->slot[i].surface,
                                     surface_bytes(s->setup, s->wants));
}

/* A line from time to time of a run that takes long: every 10 s, later rarer, 2 min at most apart. */
typedef struct progress {
    double begun, next; /* s */
    size_t ended, all;
} progress;

static void tell_progress(const ec_fdtd_stack *s, progress *p)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    const double now = ec_wall_seconds(), gone = now - p->begun;
    int32_t i = 0;

    while (i < s->n_slots && !s->slot[i].used)
        i++;
    if (now < p->next || i == s->n_slots)
        return;
    p->next = now + fmin(fmax(10, 0.2 * gone), 120);
    char fallen[96] = "";
    const slot *q = s->slot + i;
    if (isfinite(c->decay_db) && q->energy > 0 && s->domain[i].step >= s->domain[i].n_wave) {
        const double down = 10 * log10(q->peak / q->energy);
        snprintf(fallen, sizeof fallen, ", its energy down by %.1f of %.4g dB%s", down, c->decay_db,
                 down >= c->decay_db ? ", its results still changing" : "");
    }
    ec_log_write(s->backend->log, EC_LOG_INFO,
                 "fdtd: %zu of %zu domains done; one is at step %lld of %s%lld%s; %.0f s", p->ended,
                 p->all, (long long)s->domain[i].step, isfinite(c->decay_db) ? "at most " : "",
                 (long long)c->max_steps, fallen, gone);
}

int ec_fdtd_stack_run(ec_fdtd_stack *s, size_t n, const double *values,
                      void (*done)(void *user, size_t design, int32_t driven,
                                   const ec_fdtd_result *result),
                      void *user, const ec_interrupt *interrupt)
{
    const size_t all = n * (size_t)s->wants->n_driven;
    const size_t numbers = (size_t)s->setup->model->n_numbers;
    size_t next = 0, busy = 0;
    progress p = {.begun = ec_wall_seconds(), .all = all};
    int status = EC_OK;

    p.next = p.begun + 10;
    s->interrupt = interrupt;
    while (status == EC_OK) {
        for (int32_t i = 0; i < s->n_slots && next < all; i++)
            while (!s->slot[i].used && next < all && status == EC_OK) {
                if (is_interrupted(s)) { /* building takes its time, too */
                    status = EC_STOPPED;
                    break;
                }
                const size_t design = next / (size_t)s->wants->n_driven;
                const int32_t driven = (int32_t)(next % (size_t)s->wants->n_driven);
                next++;
                int filled = fill(s, i, design, driven, values + design * numbers);
                if (filled == EC_ERR_MEMORY || filled == EC_ERR_DEVICE || filled == EC_STOPPED) {
                    status = filled;
                } else if (filled < 0) {
                    const ec_fdtd_result failed = {.status = filled};
                    done(user, design, driven, &failed);
                    p.ended++;
                } else {
                    busy++;
                }
            }
        if (busy == 0 || status != EC_OK)
            break;
        status = is_interrupted(s) ? EC_STOPPED : advance(s);
        for (int32_t i = 0; i < s->n_slots && status == EC_OK; i++) {
            ec_fdtd_result result;
            if (s->slot[i].used && look(s, i, &result)) {
                if (s->n_pairs > 0 && result.status >= 0)
                    status = faces(s, i, &result.faces);
                if (status < 0)
                    break;
                done(user, s->slot[i].design, s->slot[i].driven, &result);
                leave(s, i);
                busy--;
                p.ended++;
            }
        }
        if (status == EC_OK)
            tell_progress(s, &p);
    }
    for (int32_t i = 0; i < s->n_slots; i++)
        if (s->slot[i].used)
            leave(s, i);
    return status;
}

int ec_fdtd_stack_measure(ec_fdtd_stack *s, const double *values, double *seconds)
{
    const ec_fdtd_config *c = &s->setup->model->config;
    const int32_t *n = s->setup->shape.n;
    /* So many that it takes about a second on one core. */
    const double wanted = 1e8 / ((double)n[0] * n[1] * n[2] * s->n_slots);
    int64_t steps = wanted < 4 ? 4 : wanted > LOOK ? LOOK : (int64_t)wanted;
    int status = EC_OK;

    steps = steps < c->max_steps ? steps : c->max_steps;
    for (int32_t i = 0; i < s->n_slots && status >= 0; i++)
        status = fill(s, i, 0, i % s->wants->n_driven, values);
    for (int timed = 0; timed < 2 && status >= 0; timed++) {
        for (int32_t i = 0; i < s->n_slots; i++)
            s->domain[i].step = c->max_steps - steps;
        const double start = ec_wall_seconds();
        status = advance(s);
        *seconds = (ec_wall_seconds() - start) / ((double)steps * s->n_slots);
    }
    for (int32_t i = 0; i < s->n_slots; i++)
        if (s->slot[i].used)
            leave(s, i);
    return status;
}
