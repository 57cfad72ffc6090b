/* microstrip.c: see microstrip.h. */
#include "microstrip.h"

#include "microstrip_kernels.h"

#include <stdio.h>
#include <stdlib.h>

EC_KERNEL_DECLARE(microstrip, ec_microstrip_args)

/* ---- the plan: what does not depend on the design ---- */

typedef struct microstrip {
    ec_evaluator head; /* first: the graph sees this part */
    const ec_microstrip_config *config;
    double power;
} microstrip;

static void destroy(ec_evaluator **evaluator)
{
    free(*evaluator);
    *evaluator = NULL;
}

static int plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    microstrip *m = calloc(1, sizeof *m);

    if (!m)
        return ec_fail(EC_ERR_MEMORY, "microstrip: no memory");
    m->head = (ec_evaluator){info->call->def, backend};
    m->config = info->call->config;
    m->power =
        0.564 * ec_microstrip_power((m->config->eps_r - 0.9) / (m->config->eps_r + 3), 0.053);
    *evaluator = &m->head;
    return EC_OK;
}

/* ---- a run: a batch of n designs ---- */

static ec_microstrip_rows rows_of(const ec_array *array)
{
    return (ec_microstrip_rows){array->data, array->ld, array->axes & EC_AXIS_CANDIDATE ? 1u : 0u,
                                array->sample_stride};
}

static int run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
               ec_array *const *out, uint8_t *status, size_t n)
{
    const microstrip *m = (const microstrip *)evaluator;
    ec_microstrip_args args = {.width = rows_of(in[0]),
                               .n = n,
                               .elements = in[0]->elements,
                               .samples = in[0]->samples,
                               .height = m->config->height,
                               .eps_r = m->config->eps_r,
                               .power = m->power,
                               .status = status,
                               .stop = exec->stop};

    if (out[EC_MICROSTRIP_OHMS])
        args.ohms = rows_of(out[EC_MICROSTRIP_OHMS]);
    if (out[EC_MICROSTRIP_EPS_EFF])
        args.eps_eff = rows_of(out[EC_MICROSTRIP_EPS_EFF]);
    return evaluator->backend->ops->launch(evaluator->backend, &ec_kernel_microstrip, &args, n, 1);
}

static void describe(const ec_evaluator *evaluator, char *text, size_t size)
{
    const microstrip *m = (const microstrip *)evaluator;

    snprintf(text, size, "Hammerstad and Jensen's formula, eps_r %g", m->config->eps_r);
}

/* Rows of a sweep's table are reused where this hash is the same. */
static void fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    const ec_microstrip_config *config = call->config;

    ec_hash_number(hash, config->height);
    ec_hash_number(hash, config->eps_r);
    ec_hash_integer(hash, output);
}

const ec_evaluator_def ec_evaluator_microstrip = {.name = "microstrip",
                                                  .flags = EC_EVALUATOR_CAPTURABLE,
                                                  .plan = plan,
                                                  .run = run,
                                                  .destroy = destroy,
                                                  .describe = describe,
                                                  .config_destroy = free,
                                                  .fingerprint = fingerprint};

/* ---- the call ---- */

static int check(const ec_graph *graph, const ec_microstrip_config *config, ec_expr width)
{
    const ec_node *node = ec_graph_node(graph, width);

    if (!(config->height > 0) || !isfinite(config->height))
        return ec_fail(EC_ERR_RANGE, "microstrip: height (%g m) must be above 0", config->height);
    if (!(config->eps_r >= 1 && config->eps_r <= 128))
        return ec_fail(EC_ERR_RANGE, "microstrip: eps_r (%g) must be from 1 to 128", config->eps_r);
    if (!node)
        return ec_fail(EC_ERR_ARGUMENT, "microstrip: width is no expression of the graph");
    if (node->dtype != EC_F64)
        return ec_fail(EC_ERR_TYPE, "microstrip: width must be real");
    return EC_OK;
}

int ec_microstrip_create(ec_graph *graph, const ec_microstrip_config *config, ec_expr width,
                         ec_expr output[EC_MICROSTRIP_OUTPUTS])
{
    static const char *const names[] = {"ohms", "eps_eff"};
    /* what the formula gives for 0.01 to 100 heights, rounded outwards */
    const ec_interval range[] = {{0, 402}, {1, config->eps_r}};
    ec_call *call;

    int status = check(graph, config, width);
    if (status != EC_OK)
        return status;
    ec_microstrip_config *own = malloc(sizeof *own);
    if (!own)
        return ec_fail(EC_ERR_MEMORY, "microstrip: no memory");
    *own = *config;
    status = ec_graph_call(graph, &ec_evaluator_microstrip, own, 1, &width, &call);
    for (int i = 0; i < EC_MICROSTRIP_OUTPUTS && status == EC_OK; i++) {
        const ec_node *node = ec_graph_node(graph, width);
        ec_call_output made = {
            .name = names[i], .dtype = EC_F64, .rank = node->rank, .range = range[i]};
        memcpy(made.shape, node->shape, sizeof made.shape);
        output[i] = ec_graph_call_output(graph, call, &made);
        status = output[i] < 0 ? output[i] : EC_OK;
    }
    return status;
}
