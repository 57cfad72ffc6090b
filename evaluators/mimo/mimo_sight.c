/* mimo_sight.c: plans and runs of what one end of the links sees. */
#include "mimo_sight_internal.h"

#include "mimo_sight_kernels.h"
#include "path_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(mimo_stand, ec_mimo_stand)
EC_KERNEL_DECLARE(mimo_sight, ec_mimo_sight)

enum { BLOCKS = 4, LOOK_LANES = 8192 };

typedef struct evaluator {
    ec_evaluator head;
    const ec_mimo_sight_config *config;
    ec_path_device *device;
    ec_path_sight sight;
    const size_t *first;
    const uint32_t *step;
    int32_t n_blocks;
    void *block[BLOCKS];
} evaluator;

/* ---- calls ---------------------------------------------------------------------------------- */

int ec_mimo_sight_shift(const ec_path_sequences *sequences, int32_t count, bool varies)
{
    /* bytes; what does not vary takes a strip of lanes all the same */
    const size_t most = varies ? (size_t)1 << 18 : ((size_t)1 << 26) / EC_LANE_PAD;
    int shift = 0;

    while ((size_t)count * ec_mimo_sight_words(sequences, shift) * sizeof(double) > most &&
           sequences->n >> shift > 1)
        shift++;
    return shift;
}

size_t ec_mimo_sight_words(const ec_path_sequences *sequences, int shift)
{
    return ((sequences->n - 1) >> shift) / 32 + 1;
}

int ec_mimo_sight_call(ec_graph *graph, const ec_mimo_sight_config *config, const ec_expr at[3],
                       ec_expr *sight)
{
    ec_mimo_sight_config *own = malloc(sizeof *own);
    ec_call *call = NULL;

    if (!own)
        return ec_fail(EC_ERR_MEMORY, "no memory for a call of mimo");
    *own = *config;
    int status = ec_graph_call(graph, &ec_evaluator_mimo_sight, own, 3, at, &call);
    if (status < 0)
        return status;
    ec_call_output o = {
        .name = "sequences in sight",
        .dtype = EC_F64,
        .rank = 2,
        .shape = {config->count, (int32_t)ec_mimo_sight_words(config->sequences, config->shift)},
        .range = {0, UINT32_MAX}};
    *sight = ec_graph_call_output(graph, call, &o);
    return *sight < 0 ? *sight : EC_OK;
}

/* ---- plans ---------------------------------------------------------------------------------- */

static void destroy(ec_evaluator **handle)
{
    evaluator *ev = (evaluator *)*handle;
    if (!ev)
        return;
    for (int32_t i = 0; i < ev->n_blocks; i++)
        ev->head.backend->ops->release(ev->head.backend, ev->block[i]);
    ec_path_device_release(&ev->device);
    free(ev);
    *handle = NULL;
}

static int upload(evaluator *ev, const void *from, size_t bytes, const void **to)
{
    ec_backend *backend = ev->head.backend;
    void *memory = NULL;
    int status = backend->ops->alloc(backend, bytes ? bytes : 1, &memory);

    if (status < 0)
        return status;
    ev->block[ev->n_blocks++] = memory;
    *to = memory;
    return bytes ? backend->ops->upload(backend, memory, from, bytes) : EC_OK;
}

/* Interpolated surfaces bulge out of the box of their vertices. */
static void widen_mesh(ec_path_element *e)
{
    double middle[3] = {0, 0, 0};

    for (int32_t i = 0; i < e->n; i++)
        ec_path_along(middle, 1.0 / e->n, e->corner[i], middle);
    double margin = 0.1 * ec_path_distance(e->corner[0], e->corner[e->n - 1]);
    for (int32_t i = 0; i < e->n; i++)
        for (int k = 0; k < 3; k++)
            e->corner[i][k] += e->corner[i][k] < middle[k] ? -margin : margin;
}

static int upload_elements(evaluator *ev, const ec_path_plan *plan)
{
    const ec_scene *s = plan->scene;
    size_t n = (size_t)plan->n, wedges = (size_t)s->n_wedges;
    ec_path_element *element = malloc((n + 1) * sizeof *element);
    int32_t *of_wedge = calloc(wedges + 1, sizeof *of_wedge);
    const void *place[2] = {NULL, NULL};
    int status = element && of_wedge ? EC_OK : ec_fail(EC_ERR_MEMORY, "mimo: no memory for a plan");

    for (size_t i = 0; i < n && status >= 0; i++) {
        int32_t index = ec_path_index(plan->element[i].step);
        element[i] = plan->element[i];
        if (ec_path_kind(element[i].step) == EC_PATH_DIFFRACTION)
            of_wedge[index] = (int32_t)i;
        if (ec_path_kind(element[i].step) == EC_PATH_CURVED &&
            s->surface[index].kind == EC_SURFACE_MESH)
            widen_mesh(&element[i]);
    }
    if (status >= 0)
        status = upload(ev, element, n * sizeof *element, &place[0]);
    if (status >= 0)
        status = upload(ev, of_wedge, wedges * sizeof *of_wedge, &place[1]);
    free(element);
    free(of_wedge);
    const ec_path_view *view = ec_path_device_view(ev->device);
    ev->sight = (ec_path_sight){.facet = view->scene.facet,
                                .wedge = view->scene.wedge,
                                .element = place[0],
                                .wedge_element = place[1],
                                .n_facets = s->n_facets,
                                .size = plan->size,
                                .tolerance = plan->tolerance,
                                .slack = 1e-8 * plan->size};
    return status;
}

static int plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **made)
{
    const ec_mimo_sight_config *config = info->call->config;
    const ec_path_sequences *q = config->sequences;
    evaluator *ev = calloc(1, sizeof *ev);
    const void *place[2] = {NULL, NULL};

    if (!ev)
        return ec_fail(EC_ERR_MEMORY, "mimo: no memory for a plan");
    ev->head.def = &ec_evaluator_mimo_sight;
    ev->head.backend = backend;
    ev->config = config;
    int status = ec_path_device_get(config->plan, backend, &ev->device);
    if (status >= 0)
        status = upload_elements(ev, config->plan);
    if (status >= 0)
        status = upload(ev, q->first, (q->n + 1) * sizeof *q->first, &place[0]);
    if (status >= 0)
        status = upload(ev, q->step, q->first[q->n] * sizeof *q->step, &place[1]);
    if (status < 0) {
        ec_evaluator *handle = &ev->head;
        destroy(&handle);
        return status;
    }
    ev->first = place[0];
    ev->step = place[1];
    *made = &ev->head;
    return EC_OK;
}

static void memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed)
{
    const ec_mimo_sight_config *config = info->call->config;
    const ec_path_sequences *q = config->sequences;

    *per_candidate = 0;
    *fixed = (size_t)config->plan->n * sizeof(ec_path_element) + q->n * sizeof *q->first +
             q->first[q->n] * sizeof *q->step;
}

static void describe(const ec_evaluator *handle, char *text, size_t size)
{
    const ec_mimo_sight_config *config = ((const evaluator *)handle)->config;
    snprintf(text, size, "what the %s see of %zu sequences",
             config->back ? "receivers" : "transmitters", config->sequences->n);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static int run(ec_evaluator *handle, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n)
{
    const evaluator *ev = (const evaluator *)handle;
    const ec_mimo_sight_config *config = ev->config;
    ec_backend *backend = ev->head.backend;
    ec_mimo_sight a = {.stand = {.n = n,
                                 .samples = 1,
                                 .fixed = config->fixed,
                                 .view = *ec_path_device_view(ev->device),
                                 .status = status,
                                 .outside = EC_CANDIDATE_OUT_OF_RANGE,
                                 .bad = EC_CANDIDATE_MISPLACED,
                                 .stop = exec ? exec->stop : NULL},
                       .sight = ev->sight,
                       .back = config->back,
                       .n_sequences = config->sequences->n,
                       .first = ev->first,
                       .step = ev->step,
                       .shift = config->shift,
                       .words = ec_mimo_sight_words(config->sequences, config->shift)};
    const ec_interrupt *interrupt = exec ? exec->interrupt : NULL;
    size_t count = (size_t)config->count, most = count;
    int rc = EC_OK;

    memcpy(a.stand.box, config->box, sizeof a.stand.box);
    for (int k = 0; k < 3; k++) {
        a.stand.at[k] = ec_mimo_input_of(in[k]);
        a.stand.samples = in[k]->samples > a.stand.samples ? in[k]->samples : a.stand.samples;
    }
    if (out[0]) {
        a.word = out[0]->data;
        a.ld = out[0]->ld;
        a.stride = out[0]->sample_stride;
        a.varies = (out[0]->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP)) != 0;
    }
    /* on the CPU with looks at the interrupt between */
    if (interrupt && backend->host_memory)
        most = LOOK_LANES / n < 1 ? 1 : LOOK_LANES / n;
    for (a.stand.first = 0; a.stand.first < count && rc >= 0; a.stand.first += a.stand.count) {
        if (interrupt && interrupt->asked(interrupt->user))
            return EC_STOPPED;
        a.stand.count = most < count - a.stand.first ? most : count - a.stand.first;
        if (!config->fixed)
            rc = backend->ops->launch(backend, &ec_kernel_mimo_stand, &a.stand, n, 1);
        if (rc >= 0 && out[0])
            rc = backend->ops->launch(backend, &ec_kernel_mimo_sight, &a, n * a.stand.count,
                                      a.words * a.stand.samples);
    }
    return rc;
}

/* The channels' own says the rest. */
static void fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    const ec_mimo_sight_config *config = call->config;
    (void)output;
    ec_hash_bytes(hash, &config->count, sizeof config->count);
    ec_hash_bytes(hash, config->box, sizeof config->box);
}

const ec_evaluator_def ec_evaluator_mimo_sight = {.name = "mimo",
                                                  .flags = EC_EVALUATOR_CAPTURABLE,
                                                  .plan = plan,
                                                  .run = run,
                                                  .destroy = destroy,
                                                  .memory = memory_needs,
                                                  .describe = describe,
                                                  .config_destroy = free,
                                                  .fingerprint = fingerprint};
