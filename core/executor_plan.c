/* executor_plan.c: from needed nodes to a program.
 *
 * Each value has a depth. Element-wise nodes of equal iteration space (class, stage, samples,
 * elements) and equal depth form one fused pass; structural nodes of depth d run before the passes
 * of depth d. A node that reads a value of another space or a structural result gets a greater
 * depth where needed, so every input is ready. Passes that need too many registers are cut.
 */
#include "executor_internal.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "no memory to plan the evaluation of the graph");
}

void *ec_executor_push(void **array, int32_t *count, int32_t *capacity, size_t size)
{
    if (*count == *capacity) {
        int32_t more = *capacity ? 2 * *capacity : 64;
        void *grown = realloc(*array, (size_t)more * size);
        if (!grown)
            return NULL;
        *array = grown;
        *capacity = more;
    }
    void *element = (char *)*array + (size_t)(*count)++ * size;
    memset(element, 0, size);
    return element;
}

#define PUSH(x, array, count, cap)                                                                 \
    ec_executor_push((void **)&(x)->array, &(x)->count, &(x)->cap, sizeof *(x)->array)

static int8_t class_of(int axes)
{
    return axes & EC_AXIS_CANDIDATE ? EC_CLASS_CANDIDATE
           : axes & EC_AXIS_GROUP   ? EC_CLASS_GROUP
                                    : EC_CLASS_CONSTANT;
}

static const ec_node *node_of(const ec_executor *x, int32_t v)
{
    return x->graph->node[x->value[v].node];
}

/* Appends bytes to the constant table; returns their offset. */
static int64_t table_add(ec_executor *x, const void *bytes, size_t n)
{
    size_t at = ec_round_up(x->table_bytes, 64);
    if (at + n > x->table_cap) {
        size_t cap = 2 * (at + n) + 4096;
        char *grown = realloc(x->table, cap);
        if (!grown)
            return -1;
        x->table = grown;
        x->table_cap = cap;
    }
    memset(x->table + x->table_bytes, 0, at - x->table_bytes);
    memcpy(x->table + at, bytes, n);
    x->table_bytes = at + n;
    return (int64_t)at;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_view(ec_op op)
{
    return op == EC_OP_SLICE || op == EC_OP_RESHAPE || op == EC_OP_DECLARE;
}

static bool same_space(const ec_value *a, const ec_value *b)
{
    return a->class == b->class && a->stage == b->stage && a->sampled == b->sampled &&
           a->elements == b->elements;
}

static bool self_chunking(const ec_node *n)
{
    return n->op == EC_OP_CALL_OUTPUT && n->call->def->flags & EC_EVALUATOR_SELF_CHUNKING;
}

/* Stage, depth and root of a value whose inputs have theirs. */
static void place(ec_executor *x, int32_t v)
{
    ec_value *val = &x->value[v];
    const ec_node *n = node_of(x, v);
    for (int32_t i = 0; i < n->n_in; i++) {
        const ec_value *in = &x->value[x->of_node[n->in[i]]];
        if (in->class == val->class && in->stage > val->stage)
            val->stage = in->stage;
    }
    /* the results of a call that wants the whole population are read in the next stage */
    if (self_chunking(n) && val->class == EC_CLASS_CANDIDATE)
        val->stage++;
    if (val->view) {
        const ec_value *in = &x->value[x->of_node[n->in[0]]];
        val->root = in->root;
        val->first = in->first + (n->op == EC_OP_SLICE ? (int32_t)n->par[0] : 0);
        const ec_value *root = &x->value[val->root];
        val->depth = in->depth + (root->elementwise && val->root == x->of_node[n->in[0]] ? 1 : 0);
        return;
    }
    for (int32_t i = 0; i < n->n_in; i++) {
        const ec_value *in = &x->value[x->of_node[n->in[i]]];
        if (in->class != val->class || in->stage != val->stage)
            continue; /* ready before this stage begins */
        int32_t ready = in->depth;
        if (!val->elementwise)
            ready = in->depth + 1;
        else if (in->elementwise && !same_space(in, val))
            ready = in->depth + 1;
        if (ready > val->depth)
            val->depth = ready;
    }
}

static int make_values(ec_executor *x, const ec_executor_info *info)
{
    int32_t count = x->graph->count;
    bool *needed = malloc((size_t)count + 1);
    x->of_node = malloc(((size_t)count + 1) * sizeof *x->of_node);
    x->n_nodes = count;
    if (!needed || !x->of_node) {
        free(needed);
        return no_memory();
    }
    ec_graph_reach(x->graph, info->n_outputs, info->outputs, needed);
    int status = EC_OK;
    for (int32_t e = 0; e < count && status == EC_OK; e++) {
        x->of_node[e] = -1;
        if (!needed[e])
            continue;
        const ec_node *n = x->graph->node[e];
        ec_value *v = PUSH(x, value, n_values, cap_values);
        if (!v) {
            status = no_memory();
            break;
        }
        int32_t id = x->n_values - 1;
        x->of_node[e] = id;
        v->node = e;
        v->class = class_of(n->axes);
        v->dtype = (int8_t)n->dtype;
        v->sampled = (n->axes & EC_AXIS_SAMPLE) != 0;
        v->view = is_view(n->op);
        v->elementwise = n->op < EC_OP_ELEMENTWISE_END;
        v->elements = n->elements;
        v->root = id;
        v->item = v->last_item = v->segment = -1;
        place(x, id);
        if (n->op == EC_OP_VARIABLE) {
            v->region = n->axes & EC_AXIS_GROUP ? EC_REGION_XG : EC_REGION_X;
            v->first = (int32_t)n->par[0];
            v->ld = -1;
        }
        if (v->class == EC_CLASS_CANDIDATE && v->stage + 1 > x->n_stages)
            x->n_stages = v->stage + 1;
    }
    free(needed);
    return status;
}

/* A copy of value `from` with class `class`, widened to f64 or c128. */
static int32_t add_copy(ec_executor *x, int32_t from, int8_t class, int32_t stage)
{
    ec_value *v = PUSH(x, value, n_values, cap_values);
    if (!v)
        return no_memory();
    const ec_value *a = &x->value[from];
    int32_t id = x->n_values - 1;
    v->node = a->node;
    v->class = class;
    v->dtype = ec_node_real(node_of(x, from)) ? EC_F64 : EC_C128;
    v->sampled = a->sampled;
    v->elements = a->elements;
    v->root = id;
    v->stage = a->class == class && a->stage > stage ? a->stage : stage;
    v->depth = a->class == class && a->stage == v->stage ? a->depth + 1 : 0;
    v->item = v->last_item = v->segment = -1;
    v->stored = true;
    return id;
}

/* ---- items ---------------------------------------------------------------------------------- */

static int32_t add_operand(ec_executor *x, int32_t value, int32_t elem)
{
    if (x->n_operands == x->cap_operands) {
        int32_t cap = x->cap_operands ? 2 * x->cap_operands : 64;
        int32_t *values = realloc(x->operand_value, (size_t)cap * sizeof *values);
        if (!values)
            return no_memory();
        x->operand_value = values;
    }
    ec_operand *o = PUSH(x, operand, n_operands, cap_operands);
    if (!o)
        return no_memory();
    o->elem = elem;
    x->operand_value[x->n_operands - 1] = value;
    return x->n_operands - 1;
}

static void touch(ec_executor *x, int32_t value, int32_t item)
{
    ec_value *v = &x->value[x->value[value].root];
    int32_t segment = x->item[item].segment;
    if (v->item < 0) {
        v->item = item;
        v->segment = segment;
    } else if (v->segment != segment) {
        v->segment = -1;
    }
    if (item > v->last_item)
        v->last_item = item;
    v->stored = true;
}

static ec_item *add_item(ec_executor *x, ec_item_kind kind, int8_t class, int32_t stage)
{
    ec_item *it = PUSH(x, item, n_items, cap_items);
    if (!it) {
        no_memory();
        return NULL;
    }
    it->kind = kind;
    it->class = class;
    it->stage = stage;
    it->step = it->call = -1;
    const ec_item *before = x->n_items > 1 ? &x->item[x->n_items - 2] : NULL;
    bool joins = before && before->kind != EC_ITEM_CALL && kind != EC_ITEM_CALL &&
                 before->class == class && before->stage == stage;
    it->segment = before ? before->segment + (joins ? 0 : 1) : 0;
    return it;
}

/* Inputs of the step of a structural value (or of a copy), then its output, as operands. */
static int add_step(ec_executor *x, int32_t v, int32_t copy_from)
{
    const ec_value *val = &x->value[v];
    const ec_node *n = node_of(x, v);
    bool copy = copy_from >= 0;
    ec_item *it = add_item(x, EC_ITEM_STEP, val->class, val->stage);
    ec_step *st = it ? PUSH(x, step, n_steps, cap_steps) : NULL;
    if (!st)
        return no_memory();
    int32_t item = x->n_items - 1;
    it->step = x->n_steps - 1;
    st->op = copy ? EC_OP_SPREAD : (int32_t)n->op;
    st->n_in = copy ? 1 : n->n_in;
    st->elements = val->elements;
    st->complex = val->dtype == EC_C128;
    st->samples = val->sampled ? x->samples : 1;
    st->reduce_samples = x->samples;
    memcpy(st->par, n->par, sizeof st->par);
    st->first_operand = x->n_operands;
    for (int32_t i = 0; i < st->n_in; i++) {
        int32_t in = copy ? copy_from : x->of_node[n->in[i]];
        if (add_operand(x, in, 1) < 0)
            return EC_ERR_MEMORY;
        touch(x, in, item);
    }
    if (add_operand(x, v, 1) < 0)
        return EC_ERR_MEMORY;
    touch(x, v, item);
    st->n_operands = x->n_operands - st->first_operand;
    if (copy)
        return EC_OK;
    const ec_node *a = x->graph->node[n->in[0]];
    st->inner = a->elements;
    st->outer = 1;
    int64_t at = 0;
    switch (n->op) {
    case EC_OP_SUM:
    case EC_OP_MEAN:
    case EC_OP_NORM:
    case EC_OP_RMIN:
    case EC_OP_RMAX:
    case EC_OP_ARGMIN:
    case EC_OP_ARGMAX:
        st->outer = n->elements;
        st->inner = a->elements / n->elements;
        st->complex = a->dtype == EC_C64 || a->dtype == EC_C128;
        break;
    case EC_OP_MATMUL:
        st->shape[0] = a->shape[0];
        st->shape[1] = a->shape[1];
        st->shape[2] = n->shape[1];
        break;
    case EC_OP_MATVEC:
        at = table_add(x, n->data, (size_t)n->par[0] * sizeof(double));
        st->data = (uint64_t)at;
        break;
    case EC_OP_GATHER:
        at = table_add(x, n->index, (size_t)n->elements * sizeof(int32_t));
        st->index = (uint64_t)at;
        break;
    case EC_OP_GATHER_SUM:
        at = table_add(x, n->index, (size_t)n->par[0] * sizeof(int32_t));
        st->index = (uint64_t)at;
        break;
    case EC_OP_CONCAT: {
        int32_t *starts = malloc(((size_t)n->n_in + 1) * sizeof *starts);
        if (!starts)
            return no_memory();
        starts[0] = 0;
        for (int32_t i = 0; i < n->n_in; i++)
            starts[i + 1] = starts[i] + x->graph->node[n->in[i]]->elements;
        at = table_add(x, starts, ((size_t)n->n_in + 1) * sizeof *starts);
        st->index = (uint64_t)at;
        free(starts);
        break;
    }
    default:
        break;
    }
    return at < 0 ? no_memory() : EC_OK;
}

/* ---- fused passes --------------------------------------------------------------------------- */

typedef struct fused {
    ec_executor *x;
    const int32_t *list; /* values in topological order */
    int32_t n;
    const int32_t *user_start, *user;   /* of values: element-wise users and others */
    int32_t *register_re, *register_im; /* of values; -1 */
    int32_t *last_use;                  /* position in the list */
    bool used[EC_FUSED_REGISTERS];
    int32_t most_registers; /* of the pass being emitted */
} fused;

static int take_register(fused *f)
{
    for (int r = 0; r < EC_FUSED_REGISTERS; r++)
        if (!f->used[r]) {
            f->used[r] = true;
            if (r + 1 > f->most_registers)
                f->most_registers = r + 1;
            return r;
        }
    return -1;
}

static void give_register(fused *f, int32_t r)
{
    if (r >= 0)
        f->used[r] = false;
}

static int emit(ec_executor *x, int op, int dst, int a, int b, int c, int32_t operand, double value)
{
    ec_instr *in = PUSH(x, instr, n_instr, cap_instr);
    if (!in)
        return no_memory();
    in->op = (uint8_t)op;
    in->dst = (uint8_t)dst;
    in->a = (uint8_t)a;
    in->b = (uint8_t)b;
    in->c = (uint8_t)c;
    in->operand = operand;
    in->value = value;
    return EC_OK;
}

/* Real operations for a complex node; t holds scratch registers. */
static int emit_complex(ec_executor *x, const ec_node *n, const bool *cplx, int dr, int di,
                        const int *re, const int *im, const int *t)
{
#define E(op, d, a, b)                                                                             \
    do {                                                                                           \
        int status_ = emit(x, op, d, a, b, b, -1, 0);                                              \
        if (status_ != EC_OK)                                                                      \
            return status_;                                                                        \
    } while (0)
    switch (n->op) {
    case EC_OP_NEG:
        E(EC_OP_NEG, dr, re[0], re[0]);
        E(EC_OP_NEG, di, im[0], im[0]);
        break;
    case EC_OP_CONJ:
        E(EC_FUSED_COPY, dr, re[0], re[0]);
        E(EC_OP_NEG, di, im[0], im[0]);
        break;
    case EC_OP_RE:
        E(EC_FUSED_COPY, dr, re[0], re[0]);
        break;
    case EC_OP_IM:
        E(EC_FUSED_COPY, dr, im[0], im[0]);
        break;
    case EC_OP_ABS2:
    case EC_OP_ABS:
        E(EC_OP_SQUARE, t[0], re[0], re[0]);
        E(EC_OP_SQUARE, t[1], im[0], im[0]);
        E(EC_OP_ADD, dr, t[0], t[1]);
        if (n->op == EC_OP_ABS)
            E(EC_OP_SQRT, dr, dr, dr);
        break;
    case EC_OP_ARG:
        E(EC_OP_ATAN2, dr, im[0], re[0]);
        break;
    case EC_OP_COMPLEX:
        E(EC_FUSED_COPY, dr, re[0], re[0]);
        E(EC_FUSED_COPY, di, re[1], re[1]);
        break;
    case EC_OP_ADD:
    case EC_OP_SUB:
        E(n->op, dr, re[0], re[1]);
        E(n->op, di, im[0], im[1]);
        break;
    case EC_OP_SQUARE:
        E(EC_OP_SQUARE, t[0], re[0], re[0]);
        E(EC_OP_SQUARE, t[1], im[0], im[0]);
        E(EC_OP_MUL, t[2], re[0], im[0]);
        E(EC_OP_SUB, dr, t[0], t[1]);
        E(EC_OP_ADD, di, t[2], t[2]);
        break;
    case EC_OP_MUL:
        if (!cplx[0] || !cplx[1]) {
            int real = cplx[0] ? 1 : 0;
            E(EC_OP_MUL, t[0], re[1 - real], re[real]);
            E(EC_OP_MUL, di, im[1 - real], re[real]);
            E(EC_FUSED_COPY, dr, t[0], t[0]);
            break;
        }
        E(EC_OP_MUL, t[0], re[0], re[1]);
        E(EC_OP_MUL, t[1], im[0], im[1]);
        E(EC_OP_MUL, t[2], re[0], im[1]);
        E(EC_OP_MUL, t[3], im[0], re[1]);
        E(EC_OP_SUB, dr, t[0], t[1]);
        E(EC_OP_ADD, di, t[2], t[3]);
        break;
    case EC_OP_DIV:
        if (!cplx[1]) {
            E(EC_OP_DIV, dr, re[0], re[1]);
            E(EC_OP_DIV, di, im[0], re[1]);
            break;
        }
        /* a conj(b) / |b|^2 */
        E(EC_OP_SQUARE, t[0], re[1], re[1]);
        E(EC_OP_SQUARE, t[1], im[1], im[1]);
        E(EC_OP_ADD, t[0], t[0], t[1]);
        E(EC_OP_MUL, t[1], re[0], re[1]);
        E(EC_OP_MUL, t[2], im[0], im[1]);
        E(EC_OP_ADD, t[1], t[1], t[2]);
        E(EC_OP_MUL, t[2], im[0], re[1]);
        E(EC_OP_MUL, t[3], re[0], im[1]);
        E(EC_OP_SUB, t[2], t[2], t[3]);
        E(EC_OP_DIV, dr, t[1], t[0]);
        E(EC_OP_DIV, di, t[2], t[0]);
        break;
    case EC_OP_EXP:
        E(EC_OP_EXP, t[0], re[0], re[0]);
        E(EC_OP_COS, t[1], im[0], im[0]);
        E(EC_OP_SIN, t[2], im[0], im[0]);
        E(EC_OP_MUL, dr, t[0], t[1]);
        E(EC_OP_MUL, di, t[0], t[2]);
        break;
    case EC_OP_WHERE: {
        int status = emit(x, EC_OP_WHERE, dr, re[0], re[1], re[2], -1, 0);
        return status != EC_OK ? status : emit(x, EC_OP_WHERE, di, re[0], im[1], im[2], -1, 0);
    }
    default:
        return ec_fail(EC_ERR_INTERNAL, "ec.%s has no complex program", ec_op_name(n->op));
    }
#undef E
    return EC_OK;
}

/* True when the value is read outside list[from, to) of its pass, so that it must be stored. */
static bool leaves(const fused *f, const int32_t *position, int32_t v, int32_t from, int32_t to)
{
    const ec_executor *x = f->x;
    if (x->value[v].population || x->value[v].touches_call || x->value[v].stored)
        return true;
    for (int32_t k = f->user_start[v]; k < f->user_start[v + 1]; k++) {
        int32_t p = position[f->user[k]];
        if (p < from || p >= to)
            return true;
    }
    return false;
}

static bool attached(const ec_executor *x, int32_t v, int32_t sum_limit)
{
    /* a whole-value sum or extremum of an element-wise real value closes its pass */
    const ec_node *n = node_of(x, v);
    if (n->op != EC_OP_SUM && n->op != EC_OP_RMIN && n->op != EC_OP_RMAX)
        return false;
    const ec_node *a = x->graph->node[n->in[0]];
    const ec_value *in = &x->value[x->of_node[n->in[0]]];
    return n->elements == 1 && a->dtype == EC_F64 && in->elementwise && a->elements > 1 &&
           a->elements <= sum_limit && in->class == x->value[v].class &&
           in->stage == x->value[v].stage;
}

static bool reduced(const fused *f, int32_t v, int32_t sum_limit)
{
    for (int32_t u = f->user_start[v]; u < f->user_start[v + 1]; u++)
        if (attached(f->x, f->user[u], sum_limit))
            return true;
    return false;
}

static void drop(fused *f, int32_t v)
{
    give_register(f, f->register_re[v]);
    give_register(f, f->register_im[v]);
    f->register_re[v] = f->register_im[v] = -1;
}

/* Emits list[from ..) until registers run out; returns the position where it stopped (> from) or
 * a negative status. */
static int32_t emit_pass(fused *f, int32_t *position, int32_t from, int32_t sum_limit)
{
    ec_executor *x = f->x;
    const ec_value *head = &x->value[f->list[from]];
    ec_item *it = add_item(x, EC_ITEM_FUSED, head->class, head->stage);
    ec_step *st = it ? PUSH(x, step, n_steps, cap_steps) : NULL;
    if (!st)
        return no_memory();
    int32_t item = x->n_items - 1, step = x->n_steps - 1;
    it->step = step;
    st->op = EC_OP_ELEMENTWISE_END;
    st->elements = head->elements;
    st->samples = head->sampled ? x->samples : 1;
    st->first_operand = x->n_operands;
    st->first_instr = x->n_instr;
    memset(f->used, 0, sizeof f->used);
    f->most_registers = 0;

    int32_t n_loaded = 0, *loaded = malloc(((size_t)f->n * 3 + 1) * sizeof *loaded);
    if (!loaded)
        return no_memory();
    int status = EC_OK;
    int32_t k = from, reductions = 0;
    for (; k < f->n && status == EC_OK; k++) {
        int32_t v = f->list[k];
        const ec_node *n = node_of(x, v);
        int32_t free_registers = 0;
        for (int r = 0; r < EC_FUSED_REGISTERS; r++)
            free_registers += !f->used[r];
        /* worst case of one node: three complex loads, a complex result, four scratch registers */
        if (free_registers < 12 && k > from)
            break;
        int re[3] = {0, 0, 0}, im[3] = {0, 0, 0};
        bool cplx[3] = {false, false, false}, any = !ec_node_real(n);
        for (int32_t i = 0; i < n->n_in; i++) {
            cplx[i] = !ec_node_real(x->graph->node[n->in[i]]);
            any |= cplx[i];
        }
        for (int32_t i = 0; i < n->n_in && status == EC_OK; i++) {
            int32_t in = x->of_node[n->in[i]];
            const ec_node *a = x->graph->node[n->in[i]];
            bool wide =
                cplx[i] || (any && n->op != EC_OP_COMPLEX && !(n->op == EC_OP_WHERE && i == 0) &&
                            n->op != EC_OP_MUL && !(n->op == EC_OP_DIV && i == 1));
            if (f->register_re[in] < 0) {
                f->register_re[in] = take_register(f);
                loaded[n_loaded++] = in;
                if (a->op == EC_OP_CONSTANT && a->elements == 1 && !cplx[i]) {
                    status =
                        emit(x, EC_FUSED_IMMEDIATE, f->register_re[in], 0, 0, 0, -1, a->data[0]);
                } else {
                    int32_t elem = a->elements == 1 && st->elements > 1 ? 0 : 1;
                    int32_t o = add_operand(x, in, elem);
                    st = &x->step[step];
                    if (o < 0) {
                        status = o;
                        break;
                    }
                    touch(x, in, item);
                    o -= st->first_operand;
                    if (cplx[i]) {
                        f->register_im[in] = take_register(f);
                        status = emit(x, EC_FUSED_LOAD_COMPLEX, f->register_re[in], 0, 0,
                                      f->register_im[in], o, 0);
                    } else {
                        status = emit(x, EC_FUSED_LOAD, f->register_re[in], 0, 0, 0, o, 0);
                    }
                }
            }
            if (wide && !cplx[i] && f->register_im[in] < 0 && status == EC_OK) {
                f->register_im[in] = take_register(f);
                status = emit(x, EC_FUSED_IMMEDIATE, f->register_im[in], 0, 0, 0, -1, 0.0);
            }
            re[i] = f->register_re[in];
            im[i] = f->register_im[in] < 0 ? 0 : f->register_im[in];
        }
        if (status != EC_OK)
            break;
        int t[4] = {0, 0, 0, 0};
        bool complex_program = any || n->op == EC_OP_COMPLEX;
        if (complex_program)
            for (int i = 0; i < 4; i++)
                t[i] = take_register(f);
        f->register_re[v] = take_register(f);
        f->register_im[v] = !ec_node_real(n) ? take_register(f) : -1;
        if (complex_program) {
            status = emit_complex(x, n, cplx, f->register_re[v], f->register_im[v], re, im, t);
            for (int i = 0; i < 4; i++)
                give_register(f, t[i]);
        } else {
            status = emit(x, n->op, f->register_re[v], re[0], n->n_in > 1 ? re[1] : re[0],
                          n->n_in > 2 ? re[2] : re[0], -1, 0);
        }
        /* registers of values not read again in the list are free */
        for (int32_t i = 0; i < n->n_in; i++) {
            int32_t in = x->of_node[n->in[i]];
            if (f->last_use[in] != k || f->register_re[in] < 0)
                continue;
            /* a value of this pass stays if a reduction or a cut may still need it */
            bool mine = position[in] >= from && position[in] <= k;
            bool stored = x->value[in].item == item;
            if (mine &&
                (reduced(f, in, sum_limit) || (!stored && leaves(f, position, in, from, f->n))))
                continue;
            drop(f, in);
        }
        /* a value that certainly leaves is stored at once */
        if (status == EC_OK && leaves(f, position, v, from, f->n)) {
            bool reduced_only = true;
            for (int32_t u = f->user_start[v]; u < f->user_start[v + 1]; u++) {
                int32_t user = f->user[u];
                int32_t p = position[user];
                if (!(attached(x, user, sum_limit) || (p >= from && p < f->n)))
                    reduced_only = false;
            }
            if (x->value[v].population || x->value[v].touches_call || x->value[v].stored)
                reduced_only = false;
            if (!reduced_only) {
                int32_t o = add_operand(x, v, 1);
                st = &x->step[step];
                if (o < 0) {
                    status = o;
                    break;
                }
                touch(x, v, item);
                status = emit(x, ec_node_real(n) ? EC_FUSED_STORE : EC_FUSED_STORE_COMPLEX, 0,
                              f->register_re[v], ec_node_real(n) ? 0 : f->register_im[v], 0,
                              o - st->first_operand, 0);
                if (f->last_use[v] < 0 && !reduced(f, v, sum_limit))
                    drop(f, v);
            }
        }
        /* at most four reductions a pass */
        for (int32_t u = f->user_start[v]; u < f->user_start[v + 1]; u++)
            reductions += attached(x, f->user[u], sum_limit);
        if (reductions >= 2 && k + 1 < f->n) {
            k++;
            break;
        }
    }
    int32_t to = k;
    /* values that only later passes read: the list was cut at `to` */
    for (int32_t p = from; p < to && status == EC_OK; p++) {
        int32_t v = f->list[p];
        bool stored = x->value[v].item == item;
        if (!stored && leaves(f, position, v, from, to)) {
            bool reduced_only = true;
            for (int32_t u = f->user_start[v]; u < f->user_start[v + 1]; u++) {
                int32_t p2 = position[f->user[u]];
                if (!(attached(x, f->user[u], sum_limit) || (p2 >= from && p2 < to)))
                    reduced_only = false;
            }
            if (!reduced_only && f->register_re[v] >= 0) {
                int32_t o = add_operand(x, v, 1);
                st = &x->step[step];
                if (o < 0) {
                    status = o;
                    break;
                }
                touch(x, v, item);
                bool real = ec_node_real(node_of(x, v));
                status =
                    emit(x, real ? EC_FUSED_STORE : EC_FUSED_STORE_COMPLEX, 0, f->register_re[v],
                         real ? 0 : f->register_im[v], 0, o - st->first_operand, 0);
            }
        }
    }
    for (int32_t p = from; p < to && status == EC_OK; p++) {
        int32_t v = f->list[p];
        for (int32_t u = f->user_start[v]; u < f->user_start[v + 1] && status == EC_OK; u++) {
            int32_t user = f->user[u];
            if (!attached(x, user, sum_limit))
                continue;
            int32_t o = add_operand(x, user, 1);
            st = &x->step[step];
            if (o < 0) {
                status = o;
                break;
            }
            touch(x, user, item);
            ec_op op = node_of(x, user)->op;
            status = emit(x,
                          op == EC_OP_SUM    ? EC_FUSED_SUM
                          : op == EC_OP_RMIN ? EC_FUSED_RMIN
                                             : EC_FUSED_RMAX,
                          0, f->register_re[v], 0, 0, o - st->first_operand, 0);
            st->n_reduce++;
        }
    }
    st = &x->step[step];
    st->n_operands = x->n_operands - st->first_operand;
    st->n_instr = x->n_instr - st->first_instr;
    st->inner = f->most_registers;
    for (int32_t i = 0; i < n_loaded; i++)
        f->register_re[loaded[i]] = f->register_im[loaded[i]] = -1;
    for (int32_t p = from; p < to; p++)
        f->register_re[f->list[p]] = f->register_im[f->list[p]] = -1;
    free(loaded);
    return status != EC_OK ? status : to;
}

/* ---- evaluator calls ------------------------------------------------------------------------- */

static int add_call(ec_executor *x, int32_t index)
{
    ec_planned_call *pc = &x->call[index];
    ec_item *it;
    /* inputs as f64 or c128, group values spread over candidates */
    for (int32_t i = 0; i < pc->n_in; i++) {
        int32_t in = pc->in[i];
        const ec_value *v = &x->value[in];
        bool wide = v->dtype == EC_F64 || v->dtype == EC_C128;
        bool spread = v->class == EC_CLASS_GROUP && pc->class == EC_CLASS_CANDIDATE;
        if (!wide || spread) {
            int32_t copy = add_copy(x, in, pc->class, pc->stage);
            if (copy < 0)
                return copy;
            x->value[copy].population = pc->class == EC_CLASS_CANDIDATE &&
                                        pc->call->def->flags & EC_EVALUATOR_SELF_CHUNKING;
            int status = add_step(x, copy, in);
            if (status != EC_OK)
                return status;
            pc->in[i] = copy;
        }
    }
    it = add_item(x, EC_ITEM_CALL, pc->class, pc->stage);
    if (!it)
        return EC_ERR_MEMORY;
    it->call = index;
    int32_t item = x->n_items - 1;
    for (int32_t i = 0; i < pc->n_in; i++) {
        touch(x, pc->in[i], item);
        x->value[x->value[pc->in[i]].root].touches_call = true;
    }
    for (int32_t i = 0; i < pc->n_out; i++)
        if (pc->out[i] >= 0) {
            touch(x, pc->out[i], item);
            x->value[pc->out[i]].touches_call = true;
        }
    return EC_OK;
}

/* Collects the calls that needed outputs belong to. */
static int make_calls(ec_executor *x)
{
    int32_t total = x->graph->n_calls;
    int32_t *slot = malloc(((size_t)total + 1) * sizeof *slot);
    x->call = calloc((size_t)total + 1, sizeof *x->call);
    if (!slot || !x->call) {
        free(slot);
        return no_memory();
    }
    for (int32_t i = 0; i < total; i++)
        slot[i] = -1;
    int status = EC_OK;
    for (int32_t v = 0; v < x->n_values && status == EC_OK; v++) {
        const ec_node *n = node_of(x, v);
        if (n->op != EC_OP_CALL_OUTPUT)
            continue;
        ec_call *c = n->call;
        if (slot[c->index] < 0) {
            slot[c->index] = x->n_calls;
            ec_planned_call *pc = &x->call[x->n_calls++];
            pc->call = c;
            pc->n_in = c->n_in;
            pc->n_out = c->n_out;
            pc->class = x->value[v].class;
            pc->in = malloc(((size_t)c->n_in + 1) * sizeof *pc->in);
            pc->out = malloc(((size_t)c->n_out + 1) * sizeof *pc->out);
            pc->wanted = calloc((size_t)c->n_out + 1, sizeof *pc->wanted);
            pc->in_array = calloc((size_t)c->n_in + 1, sizeof *pc->in_array);
            pc->out_array = calloc((size_t)c->n_out + 1, sizeof *pc->out_array);
            pc->in_pointer = calloc((size_t)c->n_in + 1, sizeof *pc->in_pointer);
            pc->out_pointer = calloc((size_t)c->n_out + 1, sizeof *pc->out_pointer);
            if (!pc->in || !pc->out || !pc->wanted || !pc->in_array || !pc->out_array ||
                !pc->in_pointer || !pc->out_pointer) {
                status = no_memory();
                break;
            }
            for (int32_t i = 0; i < c->n_in; i++)
                pc->in[i] = x->of_node[c->in[i]];
            for (int32_t i = 0; i < c->n_out; i++)
                pc->out[i] = -1;
        }
        ec_planned_call *pc = &x->call[slot[c->index]];
        pc->out[n->output] = v;
        pc->wanted[n->output] = true;
        /* the call itself runs at the end of the stage before its results' */
        pc->stage =
            x->value[v].stage - (self_chunking(n) && pc->class == EC_CLASS_CANDIDATE ? 1 : 0);
    }
    free(slot);
    return status;
}

/* ---- the program ------------------------------------------------------------------------------ */

static int by_depth(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    for (int i = 0; i < 6; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static int program(ec_executor *x, int32_t sum_limit)
{
    int32_t n = x->n_values;
    /* users of each value, through of_node */
    int32_t *start = calloc((size_t)n + 2, sizeof *start), *user = NULL;
    int32_t *position = malloc(((size_t)n + 1) * sizeof *position);
    int32_t *re = malloc(((size_t)n + 1) * sizeof *re), *im = malloc(((size_t)n + 1) * sizeof *im);
    int32_t *last = malloc(((size_t)n + 1) * sizeof *last);
    int32_t *list = malloc(((size_t)n + 1) * sizeof *list);
    int32_t(*order)[6] = malloc(((size_t)n + 1) * sizeof *order);
    int status = EC_OK;
    if (!start || !position || !re || !im || !last || !list || !order)
        status = no_memory();
    if (status == EC_OK) {
        for (int32_t v = 0; v < n; v++) {
            const ec_node *node = node_of(x, v);
            for (int32_t i = 0; i < node->n_in; i++)
                start[x->of_node[node->in[i]] + 2]++;
        }
        for (int32_t v = 0; v < n; v++)
            start[v + 2] += start[v + 1];
        user = malloc(((size_t)start[n + 1] + 1) * sizeof *user);
        if (!user)
            status = no_memory();
    }
    if (status == EC_OK) {
        for (int32_t v = 0; v < n; v++) {
            const ec_node *node = node_of(x, v);
            for (int32_t i = 0; i < node->n_in; i++)
                user[start[x->of_node[node->in[i]] + 1]++] = v;
        }
        for (int32_t v = 0; v < n; v++) {
            position[v] = re[v] = im[v] = -1;
            const ec_value *val = &x->value[v];
            const ec_node *node = node_of(x, v);
            bool nothing = val->view || node->op == EC_OP_VARIABLE || node->op == EC_OP_CONSTANT ||
                           node->op == EC_OP_SAMPLES || attached(x, v, sum_limit);
            /* class, stage, depth, structural before fused, then the space */
            order[v][0] = nothing ? EC_CLASS_COUNT : val->class;
            order[v][1] = val->stage;
            order[v][2] = val->depth;
            order[v][3] = val->elementwise ? 1 + val->sampled : 0;
            order[v][4] = val->elementwise ? val->elements : 0;
            order[v][5] = v;
        }
        qsort(order, (size_t)n, sizeof *order, by_depth);
    }
    fused f = {.x = x,
               .list = list,
               .user_start = start,
               .user = user,
               .register_re = re,
               .register_im = im,
               .last_use = last};
    bool *done = calloc((size_t)x->n_calls + 1, sizeof *done);
    if (!done)
        status = no_memory();
    int32_t stage_class = -1, stage = -1;
    for (int32_t k = 0; k < n && status == EC_OK;) {
        if (order[k][0] == EC_CLASS_COUNT)
            break;
        int32_t v = order[k][5];
        /* whole-population calls close the stage before */
        if (order[k][0] != stage_class || order[k][1] != stage) {
            for (int32_t c = 0; c < x->n_calls && status == EC_OK; c++)
                if (!done[c] && x->call[c].call->def->flags & EC_EVALUATOR_SELF_CHUNKING &&
                    x->call[c].class == EC_CLASS_CANDIDATE && order[k][0] == EC_CLASS_CANDIDATE &&
                    x->call[c].stage < order[k][1]) {
                    done[c] = true;
                    status = add_call(x, c);
                }
            stage_class = order[k][0];
            stage = order[k][1];
            if (status != EC_OK)
                break;
        }
        const ec_node *node = node_of(x, v);
        if (node->op == EC_OP_CALL_OUTPUT) {
            for (int32_t c = 0; c < x->n_calls; c++)
                if (x->call[c].call == node->call && !done[c]) {
                    done[c] = true;
                    status = add_call(x, c);
                }
            k++;
            continue;
        }
        if (!x->value[v].elementwise) {
            status = add_step(x, v, -1);
            k++;
            continue;
        }
        int32_t m = 0;
        while (k < n && memcmp(order[k], (int32_t *)order[k - m], 5 * sizeof(int32_t)) == 0) {
            list[m++] = order[k][5];
            k++;
        }
        f.n = m;
        for (int32_t i = 0; i < m; i++) {
            const ec_node *a = node_of(x, list[i]);
            last[list[i]] = -1;
            for (int32_t j = 0; j < a->n_in; j++)
                last[x->of_node[a->in[j]]] = -1;
        }
        for (int32_t i = 0; i < m; i++) {
            const ec_node *a = node_of(x, list[i]);
            position[list[i]] = i;
            for (int32_t j = 0; j < a->n_in; j++)
                last[x->of_node[a->in[j]]] = i;
        }
        for (int32_t at = 0; at < m && status == EC_OK;) {
            int32_t next = emit_pass(&f, position, at, sum_limit);
            if (next < 0)
                status = next;
            at = next;
        }
        for (int32_t i = 0; i < m; i++)
            position[list[i]] = -1;
    }
    free(done);
    free(start);
    free(user);
    free(position);
    free(re);
    free(im);
    free(last);
    free(list);
    free(order);
    return status;
}

/* ---- memory of a value ------------------------------------------------------------------------ */

static int64_t value_bytes(const ec_executor *x, const ec_value *v)
{
    return (int64_t)ec_dtype_size(v->dtype) * v->elements * (v->sampled ? x->samples : 1);
}

typedef struct free_block {
    int64_t at, size;
} free_block;

static bool lies_in(const ec_executor *x, int32_t v, uint8_t region)
{
    const ec_value *val = &x->value[v];
    return val->region == region && val->root == v && val->stored;
}

/* Gives [at, at + size) back to the sorted list of free blocks, joined with its neighbours. */
static void free_add(free_block *block, int32_t *n, int64_t at, int64_t size)
{
    int32_t k = 0;
    while (k < *n && block[k].at < at)
        k++;
    bool joins_left = k > 0 && block[k - 1].at + block[k - 1].size == at;
    bool joins_right = k < *n && at + size == block[k].at;
    if (joins_left && joins_right) {
        block[k - 1].size += size + block[k].size;
        memmove(&block[k], &block[k + 1], (size_t)(*n - k - 1) * sizeof *block);
        (*n)--;
    } else if (joins_left) {
        block[k - 1].size += size;
    } else if (joins_right) {
        block[k].at = at;
        block[k].size += size;
    } else {
        memmove(&block[k + 1], &block[k], (size_t)(*n - k) * sizeof *block);
        block[k] = (free_block){at, size};
        (*n)++;
    }
}

/* First block that is large enough; the end of the region grows when there is none. */
static int64_t free_take(free_block *block, int32_t *n, int64_t size, int64_t *end)
{
    for (int32_t k = 0; k < *n; k++) {
        if (block[k].size < size)
            continue;
        int64_t at = block[k].at;
        block[k].at += size;
        block[k].size -= size;
        if (block[k].size == 0) {
            memmove(&block[k], &block[k + 1], (size_t)(*n - k - 1) * sizeof *block);
            (*n)--;
        }
        return at;
    }
    *end += size;
    return *end - size;
}

/* Offsets within a region: first fit for values that live from item to last_item (reuse), or one
 * after the other. */
static int allocate(ec_executor *x, uint8_t region, bool reuse, int64_t align)
{
    int32_t n = x->n_values, items = x->n_items, blocks = 0;
    /* values by the item that computes them, and by the last that reads them */
    int32_t *begin = malloc(((size_t)items + 1) * sizeof *begin);
    int32_t *end_at = malloc(((size_t)items + 1) * sizeof *end_at);
    int32_t *next_begin = malloc(((size_t)n + 1) * sizeof *next_begin);
    int32_t *next_end = malloc(((size_t)n + 1) * sizeof *next_end);
    free_block *block = malloc(((size_t)n + 1) * sizeof *block);
    int64_t end = 0;
    int status = begin && end_at && next_begin && next_end && block ? EC_OK : no_memory();

    for (int32_t i = 0; status == EC_OK && i < items; i++)
        begin[i] = end_at[i] = -1;
    for (int32_t v = n; status == EC_OK && v-- > 0;) {
        const ec_value *val = &x->value[v];
        if (!lies_in(x, v, region) || val->item < 0)
            continue;
        next_begin[v] = begin[val->item];
        begin[val->item] = v;
        next_end[v] = end_at[val->last_item];
        end_at[val->last_item] = v;
    }
    for (int32_t i = 0; status == EC_OK && i < items; i++) {
        /* what item i - 1 read last is free for item i */
        for (int32_t v = reuse && i > 0 ? end_at[i - 1] : -1; v >= 0; v = next_end[v]) {
            int64_t bytes = (value_bytes(x, &x->value[v]) + align - 1) / align * align;
            free_add(block, &blocks, x->value[v].lane_offset, bytes);
        }
        for (int32_t v = begin[i]; v >= 0; v = next_begin[v]) {
            int64_t bytes = (value_bytes(x, &x->value[v]) + align - 1) / align * align;
            x->value[v].lane_offset = free_take(block, &blocks, bytes, &end);
        }
    }
    x->lane_bytes[region] = end;
    free(begin);
    free(end_at);
    free(next_begin);
    free(next_end);
    free(block);
    return status;
}

static int assign_regions(ec_executor *x)
{
    for (int32_t v = 0; v < x->n_values; v++) {
        ec_value *val = &x->value[v];
        if (val->root != v || val->ld == -1) /* views; genes, which the optimizer owns */
            continue;
        if (val->class == EC_CLASS_CONSTANT) {
            val->region = EC_REGION_CONSTANT;
            /* an evaluator may write a whole strip */
            val->ld = val->item >= 0 && x->item[val->item].kind == EC_ITEM_CALL &&
                              node_of(x, v)->op == EC_OP_CALL_OUTPUT
                          ? EC_LANE_PAD
                          : 1;
        } else if (val->class == EC_CLASS_GROUP) {
            val->region = EC_REGION_GROUP;
            val->ld = (int64_t)x->ld_group;
        } else if (val->population) {
            val->region = EC_REGION_POPULATION;
            val->ld = (int64_t)x->ld_population;
        } else if (!x->backend->is_cuda && val->segment >= 0 && !val->touches_call) {
            val->region = EC_REGION_LOCAL;
            val->ld = EC_LANES;
        } else {
            val->region = EC_REGION_CHUNK;
        }
    }
    /* constants keep their place for good and may have a padded ld: one lane each */
    int64_t end = 0;
    for (int32_t v = 0; v < x->n_values; v++) {
        ec_value *val = &x->value[v];
        if (val->class != EC_CLASS_CONSTANT || val->root != v || !val->stored)
            continue;
        val->lane_offset = end;
        end += (int64_t)ec_round_up((size_t)(value_bytes(x, val) * val->ld), 256);
    }
    x->lane_bytes[EC_REGION_CONSTANT] = end;
    int status = allocate(x, EC_REGION_GROUP, false, 16);
    if (status == EC_OK)
        status = allocate(x, EC_REGION_POPULATION, false, 16);
    if (status == EC_OK)
        status = allocate(x, EC_REGION_CHUNK, true, 16);
    if (status == EC_OK)
        status = allocate(x, EC_REGION_LOCAL, true, 16);
    return status;
}

/* Values that must outlive their chunk: outputs, what a later stage reads, and the inputs of
 * whole-population calls. */
static void mark_population(ec_executor *x)
{
    for (int32_t v = 0; v < x->n_values; v++) {
        const ec_node *n = node_of(x, v);
        const ec_value *val = &x->value[v];
        if (x->of_node[val->node] != v)
            continue;
        for (int32_t i = 0; i < n->n_in; i++) {
            ec_value *in = &x->value[x->value[x->of_node[n->in[i]]].root];
            bool crosses = in->class == EC_CLASS_CANDIDATE && val->class == EC_CLASS_CANDIDATE &&
                           (in->stage < val->stage || self_chunking(n));
            if (crosses && node_of(x, x->value[x->of_node[n->in[i]]].root)->op != EC_OP_VARIABLE)
                in->population = in->stored = true;
        }
        if (self_chunking(n) && val->class == EC_CLASS_CANDIDATE)
            x->value[v].population = true;
    }
}

/* An output is read in place when its value is stored wide and is no view; else it is copied. */
static int make_outputs(ec_executor *x, const ec_executor_info *info, bool after)
{
    for (int32_t i = 0; i < info->n_outputs; i++) {
        int32_t v = x->of_node[info->outputs[i]];
        ec_value *val = &x->value[v];
        const ec_node *n = node_of(x, v);
        bool wide = val->dtype == EC_F64 || val->dtype == EC_C128;
        bool direct = val->root == v && wide && val->class != EC_CLASS_GROUP &&
                      n->op != EC_OP_VARIABLE && n->op != EC_OP_CONSTANT && n->op != EC_OP_SAMPLES;
        if (!after) {
            x->output[i] = v;
            if (direct)
                val->population = val->stored = true;
            else if (val->class == EC_CLASS_GROUP && node_of(x, val->root)->op != EC_OP_VARIABLE)
                x->value[val->root].stored = true; /* the copy reads it */
            continue;
        }
        if (direct)
            continue;
        int8_t class = val->class == EC_CLASS_GROUP ? (int8_t)EC_CLASS_CANDIDATE : val->class;
        int32_t stage = class == EC_CLASS_CANDIDATE && val->class != class ? x->n_stages - 1 : 0;
        int32_t copy = add_copy(x, v, class, stage < 0 ? 0 : stage);
        if (copy < 0)
            return copy;
        x->value[copy].population = class == EC_CLASS_CANDIDATE;
        int status = add_step(x, copy, v);
        if (status != EC_OK)
            return status;
        x->output[i] = copy;
        if (class == EC_CLASS_CANDIDATE && x->n_stages < 1)
            x->n_stages = 1;
    }
    return EC_OK;
}

int ec_executor_plan(ec_executor *x, const ec_executor_info *info)
{
    x->output = malloc(((size_t)info->n_outputs + 1) * sizeof *x->output);
    if (!x->output)
        return no_memory();
    x->n_outputs = info->n_outputs;
    for (int32_t i = 0; i < info->n_outputs; i++)
        if (!ec_graph_node(x->graph, info->outputs[i]))
            return ec_fail(EC_ERR_ARGUMENT, "output %d is not an expression of this graph", i + 1);
    int status = make_values(x, info);
    if (status == EC_OK)
        status = make_calls(x);
    if (status == EC_OK) {
        mark_population(x);
        status = make_outputs(x, info, false);
    }
    /* on a GPU a long sum is better spread over threads than closed in its pass */
    if (status == EC_OK)
        status = program(x, x->backend->is_cuda ? EC_SUM_BLOCK : 1 << 28);
    if (status == EC_OK)
        status = make_outputs(x, info, true);
    if (status != EC_OK)
        return status;
    return assign_regions(x);
}
