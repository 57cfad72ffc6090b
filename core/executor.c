#include "executor_internal.h"
#include "wall_clock.h"

#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(graph_segment, ec_graph_args)
EC_KERNEL_DECLARE(graph_status, ec_status_args)

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "no memory to evaluate the graph");
}

/* ---- where values lie --------------------------------------------------------------------- */

static const ec_value *root_of(const ec_executor *x, int32_t v)
{
    return &x->value[x->value[v].root];
}

static size_t region_ld(const ec_executor *x, const ec_value *root)
{
    switch (root->region) {
    case EC_REGION_CHUNK:
        return x->chunk;
    case EC_REGION_LOCAL:
        return EC_LANES;
    case EC_REGION_GROUP:
        return x->ld_group;
    case EC_REGION_POPULATION:
        return x->ld_population;
    default:
        return (size_t)root->ld;
    }
}

/* Byte offset of a value's storage in its region. */
static size_t root_offset(const ec_executor *x, const ec_value *root)
{
    return (size_t)root->lane_offset *
           (root->region == EC_REGION_CONSTANT ? 1 : region_ld(x, root));
}

static void resolve_operands(ec_executor *x)
{
    for (int32_t i = 0; i < x->n_items; i++) {
        const ec_item *it = &x->item[i];
        if (it->kind == EC_ITEM_CALL)
            continue;
        const ec_step *st = &x->step[it->step];
        for (int32_t k = 0; k < st->n_operands; k++) {
            ec_operand *o = &x->operand[st->first_operand + k];
            int32_t v = x->operand_value[st->first_operand + k];
            const ec_value *val = &x->value[v], *root = root_of(x, v);
            o->region = root->region;
            o->dtype = (uint8_t)root->dtype;
            o->first = val->first;
            o->population = root->region == EC_REGION_POPULATION || root->region == EC_REGION_X;
            o->lane = root->class == EC_CLASS_CONSTANT ? EC_LANE_BROADCAST
                      : root->class == it->class       ? EC_LANE_DIRECT
                                                       : EC_LANE_GATHER;
            if (root->ld == -1) {
                o->ld = -1;
                continue;
            }
            size_t ld = region_ld(x, root);
            o->ld = (int32_t)ld;
            o->offset = root_offset(x, root);
            o->sample_stride = root->sampled ? (int64_t)root->elements * (int64_t)ld : 0;
        }
    }
}

/* Whether the values share memory. */
static bool shares_memory(const ec_executor *x, int32_t a, int32_t b)
{
    const ec_value *v = root_of(x, a), *w = root_of(x, b);
    int64_t samples = x->graph->samples;
    int64_t v_bytes = (int64_t)ec_dtype_size(v->dtype) * v->elements * (v->sampled ? samples : 1);
    int64_t w_bytes = (int64_t)ec_dtype_size(w->dtype) * w->elements * (w->sampled ? samples : 1);

    return v == w || (v->region == w->region && v->lane_offset < w->lane_offset + w_bytes &&
                      w->lane_offset < v->lane_offset + v_bytes);
}

/* Structural steps: the output is the last operand. */
static bool steps_are_apart(const ec_executor *x, const ec_step *a, const ec_step *b)
{
    const int32_t *in_a = x->operand_value + a->first_operand, *out_a = in_a + a->n_in;
    const int32_t *in_b = x->operand_value + b->first_operand, *out_b = in_b + b->n_in;
    bool apart = !shares_memory(x, *out_a, *out_b);

    for (int32_t i = 0; i < a->n_in; i++)
        apart = apart && !shares_memory(x, in_a[i], *out_b);
    for (int32_t i = 0; i < b->n_in; i++)
        apart = apart && !shares_memory(x, in_b[i], *out_a);
    return apart;
}

/* Marks the steps that a block can run beside those before them. */
static void find_steps_beside(ec_executor *x)
{
    enum { TOGETHER = 8 };
    int32_t first = 0; /* of those that run together */

    for (int32_t k = 1; k < x->n_steps; k++) {
        ec_step *st = &x->step[k];
        bool beside = k - first < TOGETHER;
        for (int32_t i = first; i < k && beside; i++)
            beside = x->step[i].op != EC_OP_ELEMENTWISE_END && st->op != EC_OP_ELEMENTWISE_END &&
                     steps_are_apart(x, &x->step[i], st);
        st->beside = beside;
        first = beside ? first : k;
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

static int upload_new(ec_executor *x, void **to, const void *from, size_t bytes)
{
    int status = x->backend->ops->alloc(x->backend, bytes ? bytes : 1, to);
    if (status == EC_OK && bytes)
        status = x->backend->ops->upload(x->backend, *to, from, bytes);
    return status;
}

static int find_budget(const ec_executor *x, const ec_executor_info *info, size_t *budget)
{
    ec_backend *be = x->backend;
    size_t free_bytes = 0, total = 0;
    *budget = info->memory_budget;
    if (*budget > 0)
        return EC_OK;
    int status = be->ops->memory(be, &free_bytes, &total);
    *budget = free_bytes / 2;
    return status;
}

/* Largest chunk for which everything fits the budget. */
static void choose_chunk(ec_executor *x, const ec_executor_info *info, size_t budget)
{
    size_t whole = ec_lane_ld(x->max_candidates);
    size_t fixed = (size_t)x->lane_bytes[EC_REGION_POPULATION] * whole + x->call_bytes_fixed;
    size_t each = (size_t)x->lane_bytes[EC_REGION_CHUNK] + x->call_bytes_per_candidate;
    size_t chunk = whole;
    if (each > 0) {
        size_t left = budget > fixed ? budget - fixed : 0;
        chunk = left / each / EC_LANE_PAD * EC_LANE_PAD;
    }
    if (info->chunk)
        chunk = ec_lane_ld(info->chunk);
    if (chunk < EC_LANE_PAD)
        chunk = EC_LANE_PAD;
    x->chunk = chunk > whole ? whole : chunk;
}

static void describe_value(const ec_executor *x, ec_array *a, int32_t v, size_t lanes)
{
    const ec_value *val = &x->value[v], *root = root_of(x, v);
    const ec_node *n = x->graph->node[val->node];
    int axes = val->class == EC_CLASS_CONSTANT ? 0
               : val->class == EC_CLASS_GROUP  ? EC_AXIS_GROUP
                                               : EC_AXIS_CANDIDATE;
    if (val->sampled)
        axes |= EC_AXIS_SAMPLE;
    ec_array_describe(a, root->dtype, axes, n->rank, n->shape, lanes, (size_t)x->samples);
    if (root->ld == -1)
        return;
    a->ld = region_ld(x, root);
    a->sample_stride = val->sampled ? (size_t)root->elements * a->ld : 0;
}

static bool is_over(const ec_executor *x)
{
    return x->interrupt && x->interrupt->asked(x->interrupt->user);
}

/* Plans an evaluator, or only asks for its memory (evaluator NULL). */
static int plan_call(ec_executor *x, ec_planned_call *pc, size_t lanes, size_t budget, bool plan)
{
    ec_plan_info info = {.call = pc->call->mode == EC_MODE_VJP ? pc->call->primal : pc->call,
                         .mode = pc->call->mode,
                         .fidelity = x->fidelity,
                         .n_in = pc->n_in,
                         .in = pc->in_array,
                         .n_out = pc->n_out,
                         .wanted = pc->wanted,
                         .max_candidates = lanes,
                         .memory_budget = budget,
                         .backend = x->backend,
                         .interrupt = x->interrupt,
                         .log = x->log};
    ec_interval *range = malloc(((size_t)pc->n_in + 1) * sizeof *range);
    /* outputs that the primal got after this adjoint call was made have no adjoint */
    bool *adjoint = calloc((size_t)info.call->n_out + 1, sizeof *adjoint);
    if (!range || !adjoint) {
        free(range);
        free(adjoint);
        return no_memory();
    }
    for (int32_t i = 0; i < pc->call->n_adjoint && i < info.call->n_out; i++)
        adjoint[i] = pc->call->adjoint[i];
    info.adjoint = adjoint;
    for (int32_t i = 0; i < pc->n_in; i++) {
        describe_value(x, &pc->in_array[i], pc->in[i], lanes);
        range[i] = x->graph->node[x->value[pc->in[i]].node]->range;
    }
    info.range = range;
    int status = EC_OK;
    if (plan) {
        status = pc->call->def->plan(x->backend, &info, &pc->evaluator);
        if (status < 0 && is_over(x))
            status = EC_STOPPED;
    } else if (pc->call->def->memory) {
        size_t each = 0, fixed = 0;
        pc->call->def->memory(&info, &each, &fixed);
        if (pc->class == EC_CLASS_CANDIDATE)
            x->call_bytes_per_candidate += each;
        x->call_bytes_fixed += fixed;
    }
    free(range);
    free(adjoint);
    return status;
}

static size_t call_lanes(const ec_executor *x, const ec_planned_call *pc)
{
    if (pc->class == EC_CLASS_CONSTANT)
        return 1;
    if (pc->class == EC_CLASS_GROUP)
        return x->max_groups;
    return pc->call->def->flags & EC_EVALUATOR_SELF_CHUNKING ? x->max_candidates : x->chunk;
}

static int upload_constants(ec_executor *x)
{
    for (int32_t v = 0; v < x->n_values; v++) {
        const ec_value *val = &x->value[v];
        const ec_node *n = x->graph->node[val->node];
        bool leaf =
            (n->op == EC_OP_CONSTANT || n->op == EC_OP_SAMPLES) && x->of_node[val->node] == v;
        if (!leaf || !val->stored)
            continue;
        size_t bytes = ec_dtype_size(val->dtype) * (size_t)val->elements *
                       (val->sampled ? (size_t)x->samples : 1);
        const double *data =
            n->op == EC_OP_SAMPLES ? ec_node_samples(n, x->final_samples) : n->data;
        int status = x->backend->ops->upload(
            x->backend, (char *)x->memory[EC_REGION_CONSTANT] + val->lane_offset, data, bytes);
        if (status != EC_OK)
            return status;
    }
    return EC_OK;
}

/* ---- running -------------------------------------------------------------------------------- */

static ec_graph_args base_args(const ec_executor *x, const ec_array *X, const ec_array *XG,
                               const int32_t *group_map)
{
    ec_graph_args g = {.steps = x->device_steps,
                       .operands = x->device_operands,
                       .instrs = x->device_instrs,
                       .table = x->device_table,
                       .stop = x->stop,
                       .local_bytes = x->local_bytes,
                       .local_threads = x->backend->threads > 0 ? x->backend->threads : 1,
                       .group = group_map};
    for (int r = 0; r < EC_REGION_COUNT; r++)
        g.region[r] = x->memory[r];
    g.region[EC_REGION_X] = X ? X->data : NULL;
    g.region[EC_REGION_XG] = XG ? XG->data : NULL;
    g.ld_x = X ? (int32_t)X->ld : 0;
    g.ld_xg = XG ? (int32_t)XG->ld : 0;
    return g;
}

/* The array of an evaluator's input or output for candidates [first, first + n). */
static void bind_value(const ec_executor *x, ec_array *a, int32_t v, const ec_array *X,
                       const ec_array *XG, size_t first, size_t n)
{
    const ec_value *val = &x->value[v], *root = root_of(x, v);
    describe_value(x, a, v, n);
    size_t size = ec_dtype_size(root->dtype);
    const char *base = x->memory[root->region];
    size_t offset = 0, lane = 0;
    if (root->ld == -1) {
        const ec_array *genes = root->region == EC_REGION_X ? X : XG;
        base = genes->data;
        a->ld = genes->ld;
        lane = root->region == EC_REGION_X ? first : 0;
    } else {
        offset = root_offset(x, root);
        lane = root->region == EC_REGION_POPULATION ? first : 0;
    }
    a->data = (char *)(uintptr_t)base + offset + ((size_t)val->first * a->ld + lane) * size;
}

static int call_range(ec_executor *x, ec_planned_call *pc, const ec_array *X, const ec_array *XG,
                      uint8_t *status, bool undefined, size_t first, size_t offset, size_t n)
{
    for (int32_t i = 0; i < pc->n_in; i++) {
        ec_array whole;
        bind_value(x, &whole, pc->in[i], X, XG, first, offset + n);
        pc->in_array[i] = x->value[pc->in[i]].class == EC_CLASS_CONSTANT
                              ? whole
                              : ec_array_lanes(&whole, offset, n);
        pc->in_pointer[i] = &pc->in_array[i];
    }
    for (int32_t i = 0; i < pc->n_out; i++) {
        pc->out_pointer[i] = NULL;
        if (pc->out[i] < 0)
            continue;
        ec_array whole;
        bind_value(x, &whole, pc->out[i], X, XG, first, offset + n);
        pc->out_array[i] =
            pc->class == EC_CLASS_CONSTANT ? whole : ec_array_lanes(&whole, offset, n);
        pc->out_pointer[i] = &pc->out_array[i];
    }
    ec_exec exec = {.first_candidate = first + offset,
                    .stop = x->stop,
                    .status_undefined = undefined,
                    .interrupt = x->interrupt};
    int r = pc->call->def->run(pc->evaluator, &exec, pc->in_pointer, pc->out_pointer,
                               status + offset, n);
    if (r != EC_RETRY_SMALLER)
        return r;
    if (n <= EC_LANE_PAD)
        return ec_fail(EC_ERR_MEMORY, "%s: a buffer overflows even for %zu candidates",
                       pc->call->def->name, n);
    size_t half = ec_round_up(n / 2, EC_LANE_PAD);
    r = call_range(x, pc, X, XG, status, undefined, first, offset, half);
    return r != EC_OK || half >= n
               ? r
               : call_range(x, pc, X, XG, status, undefined, first, offset + half, n - half);
}

/* Runs the items of a class and stage; whole: the calls that take the whole population, else all
 * the others. */
static int run_items(ec_executor *x, int class, int stage, bool whole, const ec_array *X,
                     const ec_array *XG, const int32_t *group_map, uint8_t *status, size_t first,
                     size_t lanes)
{
    ec_graph_args g = base_args(x, X, XG, group_map);
    ec_backend *be = x->backend;
    g.first = first;
    for (int32_t i = 0; i < x->n_items;) {
        const ec_item *it = &x->item[i];
        if (it->class != class || (class == EC_CLASS_CANDIDATE && it->stage != stage)) {
            i++;
            continue;
        }
        int r = EC_OK;
        if (it->kind == EC_ITEM_CALL) {
            ec_planned_call *pc = &x->call[it->call];
            bool takes_whole =
                class == EC_CLASS_CANDIDATE && pc->call->def->flags & EC_EVALUATOR_SELF_CHUNKING;
            if (takes_whole == whole)
                r = call_range(x, pc, X, XG, status, i == x->status_item, first, 0, lanes);
            i++;
        } else if (whole) {
            i++;
        } else {
            /* steps of one segment are contiguous in the step table */
            int32_t n = 1;
            if (!be->is_cuda)
                while (i + n < x->n_items && x->item[i + n].segment == it->segment &&
                       x->item[i + n].kind != EC_ITEM_CALL && x->item[i + n].class == class &&
                       x->item[i + n].stage == it->stage)
                    n++;
            const ec_step *st = &x->step[it->step];
            g.first_step = it->step;
            g.n_steps = n;
            g.op = st->op;
            g.samples = st->samples;
            g.elements = st->elements;
            g.n_reduce = st->n_reduce;
            g.inner = st->inner;
            r = be->ops->launch(be, &ec_kernel_graph_segment, &g, lanes, 1);
            i += n;
        }
        if (r != EC_OK)
            return r;
    }
    return EC_OK;
}

/* A look at the interrupt should come a few times a second; results do not depend on the cut. */
static void follow_pace(ec_executor *x, size_t lanes, double seconds)
{
    if (seconds < 0.1 && lanes == x->pace)
        x->pace *= 2;
    else if (seconds > 0.4 && x->pace > EC_LANE_PAD)
        x->pace = ec_round_up(x->pace / 2, EC_LANE_PAD);
}

/* Everything of a stage that takes chunks. */
static int run_chunks(ec_executor *x, int stage, const ec_array *X, const ec_array *XG,
                      const int32_t *group_map, uint8_t *status, size_t n)
{
    bool looks = x->interrupt && x->backend->host_memory;
    for (size_t first = 0, lanes; first < n; first += lanes) {
        if (looks && (first > 0 || stage > 0) && is_over(x))
            return EC_STOPPED;
        size_t most = looks && x->pace < x->chunk ? x->pace : x->chunk;
        lanes = n - first < most ? n - first : most;
        double start = looks ? ec_wall_seconds() : 0;
        int r = run_items(x, EC_CLASS_CANDIDATE, stage, false, X, XG, group_map, status + first,
                          first, lanes);
        if (r != EC_OK)
            return r;
        if (looks)
            follow_pace(x, lanes, ec_wall_seconds() - start);
    }
    return EC_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

void ec_executor_destroy(ec_executor **executor)
{
    ec_executor *x = *executor;
    if (!x)
        return;
    const ec_backend_ops *ops = x->backend->ops;
    ops->sync(x->backend);
    ec_team_destroy(&x->team);
    for (int32_t i = 0; i < x->n_calls; i++) {
        ec_planned_call *pc = &x->call[i];
        if (pc->evaluator)
            pc->call->def->destroy(&pc->evaluator);
        free(pc->in);
        free(pc->out);
        free(pc->wanted);
        free(pc->in_array);
        free(pc->out_array);
        free(pc->in_pointer);
        free(pc->out_pointer);
    }
    for (int r = 0; r < EC_REGION_COUNT; r++)
        ops->release(x->backend, x->memory[r]);
    ops->release(x->backend, x->device_steps);
    ops->release(x->backend, x->device_operands);
    ops->release(x->backend, x->device_instrs);
    ops->release(x->backend, x->device_table);
    ops->release(x->backend, x->group_status);
    ops->release(x->backend, x->constant_status_device);
    free(x->value);
    free(x->of_node);
    free(x->item);
    free(x->step);
    free(x->operand);
    free(x->operand_value);
    free(x->instr);
    free(x->table);
    free(x->call);
    free(x->output);
    free(x->output_array);
    free(x);
    *executor = NULL;
}

/* The status bytes need no filling when the first call of a chunk writes them all. */
static void choose_status_item(ec_executor *x)
{
    x->status_item = -1;
    if (x->constant_status)
        return;
    for (int32_t i = 0; i < x->n_calls; i++)
        if (x->call[i].class == EC_CLASS_GROUP)
            return;
    for (int32_t i = 0; i < x->n_items; i++) {
        const ec_item *it = &x->item[i];
        if (it->class != EC_CLASS_CANDIDATE || it->stage != 0 || it->kind != EC_ITEM_CALL)
            continue;
        uint32_t flags = x->call[it->call].call->def->flags;
        if (flags & EC_EVALUATOR_WRITES_STATUS && !(flags & EC_EVALUATOR_SELF_CHUNKING))
            x->status_item = i;
        return;
    }
}

static int create(ec_executor *x, const ec_executor_info *info)
{
    ec_backend *be = x->backend;
    x->max_candidates = info->max_candidates ? info->max_candidates : 1;
    x->max_groups = info->max_groups ? info->max_groups : 1;
    x->ld_population = ec_lane_ld(x->max_candidates);
    x->ld_group = ec_lane_ld(x->max_groups);
    x->fidelity = info->fidelity == EC_SEARCH ? EC_SEARCH : EC_FINAL;
    x->final_samples = info->fidelity == EC_FINAL;
    x->samples = ec_graph_sample_count(x->graph, x->final_samples);
    x->stop = info->stop;
    x->interrupt = info->interrupt;
    x->pace = (size_t)EC_LANE_PAD * (size_t)(be->threads > 0 ? be->threads : 1);
    x->status_item = -1;
    int status = ec_executor_plan(x, info);
    if (status != EC_OK)
        return status;
    size_t budget = 0;
    status = find_budget(x, info, &budget);
    /* a call's share, so that all of them together respect the budget */
    size_t share = x->n_calls > 1 ? budget / (size_t)x->n_calls : budget;
    /* a single design has nothing to cut */
    for (int32_t i = 0; i < x->n_calls && x->max_candidates > 1 && status == EC_OK; i++)
        status = plan_call(x, &x->call[i], x->max_candidates, share, false);
    if (status != EC_OK)
        return status;
    choose_chunk(x, info, budget);
    x->local_bytes = ec_round_up((size_t)x->lane_bytes[EC_REGION_LOCAL] * EC_LANES, 256);
    size_t bytes[EC_REGION_COUNT] = {
        [EC_REGION_CONSTANT] = (size_t)x->lane_bytes[EC_REGION_CONSTANT],
        [EC_REGION_GROUP] = (size_t)x->lane_bytes[EC_REGION_GROUP] * x->ld_group,
        [EC_REGION_POPULATION] = (size_t)x->lane_bytes[EC_REGION_POPULATION] * x->ld_population,
        [EC_REGION_CHUNK] = (size_t)x->lane_bytes[EC_REGION_CHUNK] * x->chunk,
        [EC_REGION_LOCAL] =
            be->is_cuda ? 0 : x->local_bytes * (size_t)(be->threads > 0 ? be->threads : 1)};
    for (int r = 0; r < EC_REGION_COUNT && status == EC_OK; r++)
        if (bytes[r])
            status = be->ops->alloc(be, bytes[r] + 512, &x->memory[r]);
    void *memory = NULL;
    if (status == EC_OK)
        status = be->ops->alloc(be, x->ld_group, &memory);
    x->group_status = memory;
    memory = NULL;
    if (status == EC_OK)
        status = be->ops->alloc(be, EC_LANE_PAD, &memory);
    x->constant_status_device = memory;
    if (status == EC_OK)
        status = be->ops->fill(be, x->constant_status_device, 0, EC_LANE_PAD);
    resolve_operands(x);
    find_steps_beside(x);
    if (status == EC_OK)
        status = upload_constants(x);
    if (status == EC_OK)
        status = upload_new(x, &x->device_steps, x->step, (size_t)x->n_steps * sizeof *x->step);
    if (status == EC_OK)
        status = upload_new(x, &x->device_operands, x->operand,
                            (size_t)x->n_operands * sizeof *x->operand);
    if (status == EC_OK)
        status = upload_new(x, &x->device_instrs, x->instr, (size_t)x->n_instr * sizeof *x->instr);
    if (status == EC_OK)
        status = upload_new(x, &x->device_table, x->table, x->table_bytes);
    for (int32_t i = 0; i < x->n_calls && status == EC_OK; i++)
        status = is_over(x) ? EC_STOPPED
                            : plan_call(x, &x->call[i], call_lanes(x, &x->call[i]), share, true);
    if (status != EC_OK)
        return status;
    /* what depends on no design is computed once */
    const int32_t *stop = x->stop;
    x->stop = NULL;
    status = run_items(x, EC_CLASS_CONSTANT, 0, false, NULL, NULL, NULL, x->constant_status_device,
                       0, 1);
    x->stop = stop;
    if (status == EC_OK)
        status = be->ops->download(be, &x->constant_status, x->constant_status_device, 1);
    if (status != EC_OK)
        return status;
    for (int32_t i = 0; i < x->n_outputs; i++)
        bind_value(x, &x->output_array[i], x->output[i], NULL, NULL, 0, x->max_candidates);
    choose_status_item(x);
    return EC_OK;
}

int ec_executor_create(ec_graph *graph, ec_backend *backend, const ec_executor_info *info,
                       ec_executor **executor)
{
    ec_executor *x = calloc(1, sizeof *x);
    if (!x)
        return no_memory();
    ec_executor_info own = *info;
    x->graph = graph;
    x->backend = backend;
    x->output_array = calloc((size_t)info->n_outputs + 1, sizeof *x->output_array);
    int status = x->output_array ? EC_OK : no_memory();
    if (status == EC_OK && backend->n_workers > 0 && info->max_candidates > 1)
        status = ec_team_begin(x, &own);
    x->log = own.log;
    if (status == EC_OK)
        status = create(x, &own);
    if (status == EC_OK && x->team)
        status = ec_team_complete(x->team, info);
    if (status != EC_OK) {
        ec_executor_destroy(&x);
        return status;
    }
    *executor = x;
    return EC_OK;
}

int ec_executor_run(ec_executor *x, const ec_array *X, const ec_array *XG, const int32_t *group_map,
                    uint8_t *status, size_t n, size_t groups)
{
    return x->team ? ec_team_run(x->team, X, XG, group_map, status, n, groups)
                   : ec_executor_run_alone(x, X, XG, group_map, status, n, groups);
}

int ec_executor_run_alone(ec_executor *x, const ec_array *X, const ec_array *XG,
                          const int32_t *group_map, uint8_t *status, size_t n, size_t groups)
{
    ec_backend *be = x->backend;
    if (n > x->max_candidates || groups > x->max_groups)
        return ec_fail(EC_ERR_ARGUMENT,
                       "%zu candidates in %zu groups are more than were planned for", n, groups);
    int r = x->status_item < 0 ? be->ops->fill(be, status, x->constant_status, n) : EC_OK;
    if (r == EC_OK && groups > 0) {
        r = be->ops->fill(be, x->group_status, 0, x->ld_group);
        if (r == EC_OK)
            r = run_items(x, EC_CLASS_GROUP, 0, false, X, XG, group_map, x->group_status, 0,
                          groups);
        ec_status_args args = {
            .status = status, .group_status = x->group_status, .group = group_map, .stop = x->stop};
        bool calls = false;
        for (int32_t i = 0; i < x->n_calls; i++)
            calls |= x->call[i].class == EC_CLASS_GROUP;
        if (r == EC_OK && calls)
            r = be->ops->launch(be, &ec_kernel_graph_status, &args, n, 1);
    }
    for (int32_t stage = 0; stage < x->n_stages && r == EC_OK; stage++) {
        r = run_chunks(x, stage, X, XG, group_map, status, n);
        if (r == EC_OK)
            r = run_items(x, EC_CLASS_CANDIDATE, stage, true, X, XG, group_map, status, 0, n);
    }
    for (int32_t i = 0; i < x->n_outputs; i++)
        if (x->output_array[i].axes & EC_AXIS_CANDIDATE)
            x->output_array[i].lanes = n;
    return r;
}

const ec_array *ec_executor_output(const ec_executor *x, int32_t i)
{
    return i >= 0 && i < x->n_outputs ? &x->output_array[i] : NULL;
}

bool ec_executor_capturable(const ec_executor *x)
{
    if (x->team && !ec_team_works_alone(x->team))
        return false;
    for (int32_t i = 0; i < x->n_calls; i++) {
        uint32_t flags = x->call[i].call->def->flags;
        if (!(flags & EC_EVALUATOR_CAPTURABLE) || flags & EC_EVALUATOR_SELF_CHUNKING)
            return false;
    }
    return true;
}

/* What the steps of a program, which follow one another, take. */
static void measure_program(const ec_executor *x, ec_graph_args *g)
{
    const ec_step *first = &x->step[g->first_step], *last = first + g->n_steps - 1;
    ec_graph_extent *e = &g->extent;

    e->first_operand = first->first_operand;
    e->n_operands = last->first_operand + last->n_operands - first->first_operand;
    e->chunk_bytes = x->lane_bytes[EC_REGION_CHUNK];
    e->population_bytes = x->lane_bytes[EC_REGION_POPULATION];
    e->lean = x->samples <= 1;
    for (int32_t i = e->first_operand; i < e->first_operand + e->n_operands; i++) {
        const ec_operand *o = &x->operand[i];
        e->lean = e->lean && o->dtype == EC_F64 && o->lane != EC_LANE_GATHER &&
                  o->sample_stride == 0 && /* not so with one sample either */
                  (o->region == EC_REGION_X || o->region == EC_REGION_CHUNK ||
                   o->region == EC_REGION_POPULATION);
    }
    for (const ec_step *st = first; st <= last; st++) {
        if (st->op == EC_OP_MATVEC)
            e->matrix_bytes +=
                (int64_t)ec_round_up((size_t)st->elements * (size_t)st->inner * sizeof(double), 16);
        e->lean = e->lean && ec_step_lean(st);
        if (st->op != EC_OP_ELEMENTWISE_END)
            continue;
        for (int32_t i = st->first_instr; i < st->first_instr + st->n_instr; i++)
            e->lean = e->lean && ec_instr_lean(x->instr[i].op);
        if (e->n_instr == 0)
            e->first_instr = st->first_instr;
        e->n_instr = st->first_instr + st->n_instr - e->first_instr;
    }
}

bool ec_executor_program(const ec_executor *x, ec_graph_args *program)
{
    ec_graph_args g = base_args(x, NULL, NULL, NULL);
    int64_t work = 0;
    g.stop = NULL;
    g.first_step = -1;
    if (x->n_calls > 0 || x->n_stages != 1 || x->constant_status || x->chunk < x->max_candidates)
        return false;
    for (int32_t i = 0; i < x->n_items; i++) {
        const ec_item *it = &x->item[i];
        if (it->class == EC_CLASS_CONSTANT)
            continue;
        const ec_step *st = &x->step[it->step];
        bool fused = it->kind == EC_ITEM_FUSED;
        if (g.first_step < 0)
            g.first_step = it->step;
        if (it->class != EC_CLASS_CANDIDATE || !ec_step_in_block(st->op) ||
            it->step != g.first_step + g.n_steps)
            return false;
        g.n_steps++;
        g.inner = fused && st->inner > g.inner ? st->inner : g.inner;
        work += (int64_t)st->samples * st->elements *
                (fused                   ? st->n_instr
                 : st->op == EC_OP_TOP_K ? st->elements
                                         : 1 + st->inner);
    }
    g.elements = work < INT32_MAX ? (int32_t)work : INT32_MAX;
    if (g.first_step < 0)
        return false;
    measure_program(x, &g);
    *program = g;
    return true;
}

void ec_executor_describe(const ec_executor *x, ec_executor_stats *stats)
{
    *stats = (ec_executor_stats){.chunk = x->chunk, .calls = x->n_calls};
    for (int32_t e = 0; e < x->n_nodes; e++)
        stats->nodes += x->of_node[e] >= 0;
    for (int32_t i = 0; i < x->n_items; i++)
        stats->fused_passes += x->item[i].kind == EC_ITEM_FUSED;
    stats->bytes_per_candidate =
        (size_t)x->lane_bytes[EC_REGION_CHUNK] + x->call_bytes_per_candidate;
    stats->bytes_fixed = (size_t)x->lane_bytes[EC_REGION_POPULATION] * x->ld_population +
                         (size_t)x->lane_bytes[EC_REGION_CONSTANT] + x->call_bytes_fixed;
}

void ec_executor_path(const ec_executor *x, int32_t i, char *text, size_t size)
{
    if (size)
        text[0] = 0;
    if (i >= 0 && i < x->n_calls && x->call[i].call->def->describe)
        x->call[i].call->def->describe(x->call[i].evaluator, text, size);
}

int ec_executor_estimate(const ec_executor *x, ec_fidelity fidelity, int32_t *calls,
                         ec_estimate *sum)
{
    *calls = 0;
    *sum = (ec_estimate){.least = 0};
    for (int32_t i = 0; i < x->n_calls; i++) {
        const ec_planned_call *pc = x->call + i;
        ec_estimate one = {.least = 0};
        if (!pc->call->def->estimate || pc->call->mode != EC_MODE_RUN)
            continue;
        const int status =
            pc->call->def->estimate(pc->call, fidelity, pc->wanted, x->backend, &one);
        if (status < 0)
            return status;
        sum->least += one.least;
        sum->most += one.most;
        sum->finer = sum->finer || one.finer;
        if ((*calls)++ == 0)
            memcpy(sum->text, one.text, sizeof sum->text);
    }
    return EC_OK;
}

bool ec_executor_repeats(const ec_executor *x)
{
    for (int32_t i = 0; i < x->n_calls; i++) {
        const ec_planned_call *pc = x->call + i;
        ec_estimate one = {.least = 0};
        if (pc->call->mode != EC_MODE_RUN)
            continue;
        if (!pc->call->def->estimate ||
            pc->call->def->estimate(pc->call, EC_SEARCH, pc->wanted, NULL, &one) < 0 || one.finer ||
            !(one.most > 0))
            return false;
    }
    return x->n_calls > 0;
}

/* ---- one design ------------------------------------------------------------------------------ */

static int upload_design(ec_backend *be, ec_array *a, int axes, const double *genes, size_t n)
{
    int32_t shape = (int32_t)(n ? n : 1);
    int status = ec_array_create(be, a, EC_F64, axes, 1, &shape, EC_LANE_PAD, 1);
    double *host = calloc((size_t)shape * EC_LANE_PAD, sizeof *host);
    if (!host)
        status = no_memory();
    for (size_t i = 0; status == EC_OK && i < n; i++)
        for (size_t l = 0; l < EC_LANE_PAD; l++)
            host[i * EC_LANE_PAD + l] = genes[i];
    if (status == EC_OK)
        status = be->ops->upload(be, a->data, host, (size_t)shape * EC_LANE_PAD * sizeof *host);
    free(host);
    a->lanes = 1;
    return status;
}

static int download_output(ec_backend *be, const ec_array *a, double *out)
{
    size_t size = ec_dtype_size(a->dtype), numbers = size / sizeof(double);
    size_t span = a->samples > 1 ? (a->samples - 1) * a->sample_stride : 0;
    span += (a->elements - 1) * a->ld + 1;
    char *host = malloc(span * size);
    if (!host)
        return no_memory();
    int status = be->ops->download(be, host, a->data, span * size);
    for (size_t s = 0; status == EC_OK && s < a->samples; s++)
        for (size_t e = 0; e < a->elements; e++)
            memcpy(out + (s * a->elements + e) * numbers,
                   host + (s * a->sample_stride + e * a->ld) * size, size);
    for (size_t i = 0; status == EC_OK && i < a->samples * a->elements * numbers; i++)
        out[i] = ec_printable(out[i]);
    free(host);
    return status;
}

int ec_evaluate_once(ec_graph *graph, ec_backend *backend, ec_fidelity fidelity, int32_t n_outputs,
                     const ec_expr *outputs, const double *genes, size_t n_genes,
                     const double *group_genes, size_t n_group_genes, double *const *out,
                     uint8_t *status, ec_log *log)
{
    return ec_evaluate_until(graph, backend, fidelity, n_outputs, outputs, genes, n_genes,
                             group_genes, n_group_genes, out, status, NULL, log);
}

int ec_evaluate_until(ec_graph *graph, ec_backend *backend, ec_fidelity fidelity, int32_t n_outputs,
                      const ec_expr *outputs, const double *genes, size_t n_genes,
                      const double *group_genes, size_t n_group_genes, double *const *out,
                      uint8_t *status, const ec_interrupt *interrupt, ec_log *log)
{
    ec_executor *x = NULL;
    ec_array X = {0}, XG = {0};
    void *map = NULL, *bytes = NULL;
    ec_executor_info info = {.outputs = outputs,
                             .n_outputs = n_outputs,
                             .max_candidates = 1,
                             .max_groups = 1,
                             .fidelity = fidelity,
                             .interrupt = interrupt,
                             .log = log};
    const ec_backend_ops *ops = backend->ops;
    int r = ec_executor_create(graph, backend, &info, &x);
    if (r == EC_OK)
        r = upload_design(backend, &X, EC_AXIS_CANDIDATE, genes, n_genes);
    if (r == EC_OK)
        r = upload_design(backend, &XG, EC_AXIS_GROUP, group_genes, n_group_genes);
    if (r == EC_OK)
        r = ops->alloc(backend, EC_LANE_PAD * sizeof(int32_t), &map);
    if (r == EC_OK)
        r = ops->fill(backend, map, 0, EC_LANE_PAD * sizeof(int32_t));
    if (r == EC_OK)
        r = ops->alloc(backend, EC_LANE_PAD, &bytes);
    if (r == EC_OK)
        r = ops->fill(backend, bytes, 0, EC_LANE_PAD);
    if (r == EC_OK)
        r = ec_executor_run(x, &X, &XG, map, bytes, 1, 1);
    for (int32_t i = 0; i < n_outputs && r == EC_OK; i++)
        r = download_output(backend, ec_executor_output(x, i), out[i]);
    if (r == EC_OK && status)
        r = ops->download(backend, status, bytes, 1);
    ec_executor_destroy(&x);
    ec_array_release(backend, &X);
    ec_array_release(backend, &XG);
    ops->release(backend, map);
    ops->release(backend, bytes);
    return r;
}
