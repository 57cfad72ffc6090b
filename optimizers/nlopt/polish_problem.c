/* polish_problem.c: takes a job apart into a smooth problem (the epigraph form) and evaluates it. */
#include "polish_problem.h"
#include "job_internal.h"

#include <stdlib.h>
#include <string.h>

static const double t_bound = 1e6; /* of a t whose node has no finite range */

/* ---- nodes that are maxima ---- */

static bool is_uncut(const ec_polish_notes *notes, ec_expr node)
{
    for (int32_t i = 0; i < notes->n_uncut; i++)
        if (notes->uncut[i] == node)
            return true;
    return false;
}

static void leave_uncut(ec_polish_notes *notes, ec_expr node)
{
    if (!is_uncut(notes, node) && notes->n_uncut < EC_POLISH_CUTS_MAX)
        notes->uncut[notes->n_uncut++] = node;
}

/* +1 for a maximum over pieces, -1 for a minimum, 0 for everything else. */
static double cut_direction(const ec_polish_notes *notes, const ec_node *node, ec_expr expr)
{
    if (node->rank != 0 || (node->axes & EC_AXIS_SAMPLE) || !(node->axes & EC_AXIS_CANDIDATE) ||
        is_uncut(notes, expr) || notes->n_uncut == EC_POLISH_CUTS_MAX)
        return 0;
    switch (node->op) {
    case EC_OP_RMAX:
    case EC_OP_MAX:
    case EC_OP_ABS:
    case EC_OP_SAMPLE_MAX:
        return 1;
    case EC_OP_RMIN:
    case EC_OP_MIN:
    case EC_OP_SAMPLE_MIN:
        return -1;
    case EC_OP_CALL_OUTPUT:
        return node->call->mode == EC_MODE_RUN && node->call->def->pieces ? 1 : 0;
    default:
        return 0;
    }
}

/* The topmost nodes below expr that can be cut, each once. Does not look into evaluator calls. */
static void find_cuts(const ec_graph *graph, const ec_polish_notes *notes, ec_expr expr,
                      bool *visited, ec_expr *found, int32_t *n)
{
    const ec_node *node = ec_graph_node(graph, expr);

    if (visited[expr])
        return;
    visited[expr] = true;
    if (cut_direction(notes, node, expr) != 0) {
        if (*n < EC_POLISH_CUTS_MAX)
            found[(*n)++] = expr;
        return;
    }
    if (node->op == EC_OP_CALL_OUTPUT)
        return;
    for (int32_t i = 0; i < node->n_in; i++)
        find_cuts(graph, notes, node->in[i], visited, found, n);
}

/* ---- values at the design ---- */

typedef struct design {
    ec_graph *graph;
    ec_backend *backend;
    const double *genes; /* and those of the group */
    size_t n_genes, n_group_genes;
} design;

static int32_t node_values(const ec_graph *graph, ec_expr expr)
{
    const ec_node *node = ec_graph_node(graph, expr);
    int32_t numbers = node->dtype == EC_C64 || node->dtype == EC_C128 ? 2 : 1;

    return numbers * node->elements *
           (node->axes & EC_AXIS_SAMPLE ? ec_graph_sample_count(graph, false) : 1);
}

/* Values of n expressions, each malloc'ed. */
static int values_at(const design *at, int32_t n, const ec_expr *exprs, double **values)
{
    for (int32_t i = 0; i < n; i++)
        values[i] = NULL;
    for (int32_t i = 0; i < n; i++) {
        values[i] = (double *)malloc(sizeof(double) * (size_t)node_values(at->graph, exprs[i]));
        if (!values[i])
            return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    }
    return ec_evaluate_once(at->graph, at->backend, EC_REFINE, n, exprs, at->genes, at->n_genes,
                            at->n_group_genes > 0 ? at->genes + at->n_genes : NULL,
                            at->n_group_genes, values, NULL, NULL);
}

/* The evaluator's pieces of an output near the design. */
static int call_pieces(const design *at, const ec_node *node, ec_expr *pieces)
{
    ec_call *call = node->call;
    double **values = (double **)calloc((size_t)call->n_in + 1, sizeof *values);

    if (!values)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    int status = values_at(at, call->n_in, call->in, values);
    if (status == EC_OK)
        status =
            call->def->pieces(at->graph, call, node->output, (const double *const *)values, pieces);
    for (int32_t i = 0; i < call->n_in; i++)
        free(values[i]);
    free(values);
    return status;
}

/* ---- rows ---- */

static int add_row(ec_polish_problem *p, ec_expr expr, int32_t own, double sign)
{
    if (expr < 0)
        return expr;
    if (p->n_rows == EC_POLISH_ROWS_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED, "polish: more than %d functions", EC_POLISH_ROWS_MAX);
    ec_polish_row *row = &p->rows[p->n_rows++];
    memset(row, 0, sizeof *row);
    row->expr = expr;
    row->own = own;
    row->sign = sign;
    row->scale = 1;
    return EC_OK;
}

static int add_limit(ec_polish_problem *p, ec_expr expr, double sign, double limit, double margin,
                     double scale)
{
    int status = add_row(p, expr, -1, sign);
    if (status < 0)
        return status;
    ec_polish_row *row = &p->rows[p->n_rows - 1];
    row->limit = limit - sign * margin * fmax(fabs(limit), scale);
    row->scale = scale;
    return EC_OK;
}

/* The job's constraints as rows. */
static int add_constraints(ec_polish_problem *p, const ec_job *job, double margin)
{
    int status = EC_OK;

    for (int32_t i = 0; i < job->n_constraints && status == EC_OK; i++) {
        const ec_constraint *c = &job->constraints[i];
        bool equality = c->min == c->max && c->tolerance == 0;
        if (c->max < INFINITY)
            status =
                add_limit(p, c->expr, 1, c->max + c->tolerance, equality ? 0 : margin, c->scale);
        if (equality && status == EC_OK)
            p->rows[p->n_rows - 1].equality = true;
        else if (c->min > -INFINITY && status == EC_OK)
            status = add_limit(p, c->expr, -1, c->min - c->tolerance, margin, c->scale);
    }
    return status;
}

/* The value at each sample of the search, as a list. */
static ec_expr list_samples(ec_graph *graph, ec_expr value)
{
    int32_t n = ec_graph_sample_count(graph, false);
    ec_expr list[EC_POLISH_ELEMENTS_MAX];

    if (n > EC_POLISH_ELEMENTS_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED, "polish: a worst case over %d samples, at most %d",
                       (int)n, (int)EC_POLISH_ELEMENTS_MAX);
    for (int32_t s = 0; s < n; s++) {
        int status = ec_graph_at_sample(graph, s, 1, &value, &list[s]);
        if (status < 0)
            return status;
    }
    return ec_graph_op(graph, EC_OP_CONCAT, n, list, 0, NULL);
}

/* Rows for the pieces of a cut node; ERR_UNSUPPORTED when it has none here. */
static int add_pieces(ec_polish_problem *p, const design *at, int32_t cut)
{
    ec_graph *graph = at->graph;
    const ec_node *node = ec_graph_node(graph, p->cuts[cut].node);
    double sign = p->cuts[cut].direction;
    ec_expr pieces = -1;
    int status;

    switch (node->op) {
    case EC_OP_RMAX:
    case EC_OP_RMIN:
        return add_row(p, node->in[0], cut, sign);
    case EC_OP_MAX:
    case EC_OP_MIN:
        status = add_row(p, node->in[0], cut, sign);
        return status < 0 ? status : add_row(p, node->in[1], cut, sign);
    case EC_OP_ABS:
        status = add_row(p, node->in[0], cut, sign);
        return status < 0 ? status
                          : add_row(p, ec_graph_unary(graph, EC_OP_NEG, node->in[0]), cut, sign);
    case EC_OP_SAMPLE_MAX:
    case EC_OP_SAMPLE_MIN:
        return add_row(p, list_samples(graph, node->in[0]), cut, sign);
    case EC_OP_CALL_OUTPUT:
        status = call_pieces(at, node, &pieces);
        return status < 0 ? status : add_row(p, pieces, cut, sign);
    default:
        return ec_fail(EC_ERR_INTERNAL, "polish: a node that is no maximum was cut");
    }
}

static int32_t cut_of(const ec_polish_problem *p, ec_expr node)
{
    for (int32_t i = 0; i < p->n_cuts; i++)
        if (p->cuts[i].node == node)
            return i;
    return -1;
}

/* Cuts what can be cut below row r; new rows go behind. Nodes without pieces here are noted. */
static int cut_row(ec_polish_problem *p, const design *at, ec_polish_notes *notes, int32_t r)
{
    ec_graph *graph = at->graph;
    ec_expr found[EC_POLISH_CUTS_MAX];
    int32_t n = 0;
    bool *visited = (bool *)calloc((size_t)ec_graph_count(graph), sizeof *visited);

    if (!visited)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    find_cuts(graph, notes, p->rows[r].expr, visited, found, &n);
    free(visited);
    for (int32_t i = 0; i < n; i++) {
        if (cut_of(p, found[i]) >= 0)
            continue;
        if (p->n_cuts == EC_POLISH_CUTS_MAX) {
            leave_uncut(notes, found[i]);
            continue;
        }
        ec_polish_cut *cut = &p->cuts[p->n_cuts];
        int32_t rows = p->n_rows;
        cut->node = found[i];
        cut->direction = cut_direction(notes, ec_graph_node(graph, found[i]), found[i]);
        int status = add_pieces(p, at, p->n_cuts);
        if (status == EC_ERR_UNSUPPORTED || status == EC_ERR_NO_GRADIENT) {
            leave_uncut(notes, found[i]);
            p->n_rows = rows;
            continue;
        }
        if (status < 0)
            return status;
        p->n_cuts++;
    }
    return EC_OK;
}

/* Large vectors: only the elements that are nearest to their limit, by value at the design. */
typedef struct ranked {
    double key;
    int32_t index;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = (const ranked *)a, *y = (const ranked *)b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int limit_elements(const design *at, ec_polish_row *row, ec_expr value)
{
    const ec_node *node = ec_graph_node(at->graph, value);
    int32_t n = node->elements, keep = EC_POLISH_ELEMENTS_MAX;
    double *values = NULL;
    ranked *order = (ranked *)malloc(sizeof *order * (size_t)n);
    int32_t *index = (int32_t *)malloc(sizeof *index * (size_t)keep);
    int status = order && index ? values_at(at, 1, &value, &values)
                                : ec_fail(EC_ERR_MEMORY, "polish: no memory");

    for (int32_t i = 0; i < n && status == EC_OK; i++) {
        order[i].key = row->equality ? fabs(values[i] - row->limit) : row->sign * values[i];
        order[i].index = i;
    }
    if (status == EC_OK) {
        qsort(order, (size_t)n, sizeof *order, compare_ranked);
        for (int32_t i = 0; i < keep; i++)
            index[i] = order[i].index;
        row->expr = ec_graph_gather(at->graph, row->expr, 1, &keep, index);
        status = row->expr < 0 ? row->expr : EC_OK;
    }
    free(values);
    free(order);
    free(index);
    return status;
}

/* The variable t, inside the ranges of the nodes that it stands for where these are finite. */
static ec_expr make_t(const ec_polish_problem *p, ec_graph *graph)
{
    double low[EC_POLISH_CUTS_MAX], high[EC_POLISH_CUTS_MAX];

    for (int32_t i = 0; i < p->n_cuts; i++) {
        ec_interval range = ec_graph_node(graph, p->cuts[i].node)->range;
        low[i] = fmax(range.lo, -t_bound);
        high[i] = fmin(range.hi, t_bound);
        if (!(low[i] < high[i])) {
            low[i] = -t_bound;
            high[i] = t_bound;
        }
    }
    return ec_graph_variable(graph, false, p->n_genes, p->n_cuts, low, high);
}

/* All rows smooth: every cut node is read from t instead. */
static int make_rows(ec_polish_problem *p, ec_job *job, const design *at, ec_polish_notes *notes,
                     double margin)
{
    ec_graph *graph = at->graph;
    ec_expr from[EC_POLISH_CUTS_MAX], to[EC_POLISH_CUTS_MAX];
    double *values[EC_POLISH_CUTS_MAX];

    p->n_rows = p->n_cuts = 0;
    p->t = -1;
    int status = add_row(p, ec_job_cost(job, 0), -1, 1);
    if (status == EC_OK)
        status = add_constraints(p, job, margin);
    for (int32_t r = 0; r < p->n_rows && status == EC_OK; r++)
        status = cut_row(p, at, notes, r);
    for (int32_t r = 0; r < p->n_rows && status == EC_OK; r++) {
        const ec_node *node = ec_graph_node(graph, p->rows[r].expr);
        if (node->axes & EC_AXIS_SAMPLE)
            return ec_fail(EC_ERR_UNSUPPORTED, "polish: a maximum over values with a sample axis");
        if (node->elements > EC_POLISH_ELEMENTS_MAX)
            status = limit_elements(at, &p->rows[r], p->rows[r].expr);
    }
    if (status < 0 || p->n_cuts == 0)
        return status;
    for (int32_t i = 0; i < p->n_cuts; i++)
        from[i] = p->cuts[i].node;
    status = values_at(at, p->n_cuts, from, values);
    for (int32_t i = 0; i < p->n_cuts; i++) {
        p->cuts[i].start = status == EC_OK ? values[i][0] : 0;
        free(values[i]);
    }
    p->t = status < 0 ? status : make_t(p, graph);
    if (p->t < 0)
        return p->t;
    for (int32_t i = 0; i < p->n_cuts; i++) {
        to[i] = ec_graph_slice(graph, p->t, i, 0);
        if (to[i] < 0)
            return to[i];
    }
    for (int32_t r = 0; r < p->n_rows && status == EC_OK; r++)
        status =
            ec_graph_substitute(graph, p->n_cuts, from, to, 1, &p->rows[r].expr, &p->rows[r].expr);
    return status;
}

/* ---- gradients and the executor ---- */

/* sum over rows and elements of seed * value: its gradient is the seeds' combination of the rows. */
static ec_expr seeded_sum(ec_polish_problem *p, ec_graph *graph)
{
    ec_expr total = -1;
    int32_t first = p->n_genes + p->n_cuts;

    p->n_elements = 0;
    for (int32_t r = 0; r < p->n_rows; r++) {
        ec_polish_row *row = &p->rows[r];
        int32_t n = ec_graph_node(graph, row->expr)->elements;
        double *zero = (double *)calloc(2 * (size_t)n, sizeof *zero);
        if (!zero)
            return ec_fail(EC_ERR_MEMORY, "polish: no memory");
        for (int32_t i = 0; i < n; i++)
            zero[n + i] = 1;
        if (ec_graph_node(graph, row->expr)->rank != 1)
            row->expr = ec_graph_reshape(graph, row->expr, 1, &n);
        ec_expr seed = ec_graph_variable(graph, false, first + p->n_elements, n, zero, zero + n);
        free(zero);
        ec_expr part =
            ec_graph_unary(graph, EC_OP_SUM, ec_graph_binary(graph, EC_OP_MUL, seed, row->expr));
        if (part < 0)
            return part;
        total = total < 0 ? part : ec_graph_binary(graph, EC_OP_ADD, total, part);
        if (total < 0)
            return total;
        row->first = p->n_elements;
        row->elements = n;
        p->n_elements += n;
    }
    return total;
}

/* Genes that move: of real and spaced variables. */
static bool variable_moves(const ec_variable *variable)
{
    return variable->n_genes > 0 &&
           (variable->kind == EC_VARIABLE_REAL || variable->kind == EC_VARIABLE_SPACED);
}

static int list_free_genes(ec_polish_problem *p, const ec_job *job)
{
    size_t n = (size_t)(p->n_genes + p->n_group_genes) + 1;

    p->free_gene = (int32_t *)malloc(sizeof(int32_t) * n);
    p->grad_first = (int32_t *)malloc(sizeof(int32_t) * n);
    p->grad_element = (int32_t *)malloc(sizeof(int32_t) * n);
    p->low = (double *)malloc(sizeof(double) * n);
    p->range = (double *)malloc(sizeof(double) * n);
    if (!p->free_gene || !p->grad_first || !p->grad_element || !p->low || !p->range)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    p->n_grads = 0;
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_job_entry *entry = job->variables[v];
        if (!variable_moves(&entry->variable))
            continue;
        for (int32_t i = 0; i < entry->variable.n_genes; i++) {
            if (!(entry->min[i] < entry->max[i]))
                continue;
            p->free_gene[p->n_free] =
                (entry->variable.group ? p->n_genes : 0) + entry->variable.first_gene + i;
            p->grad_first[p->n_free] = p->n_grads;
            p->grad_element[p->n_free] = i;
            p->low[p->n_free] = entry->min[i];
            p->range[p->n_free++] = entry->max[i] - entry->min[i];
        }
        p->n_grads++;
    }
    if (p->n_free == 0)
        return ec_fail(EC_ERR_UNSUPPORTED, "there is no real variable to move");
    return EC_OK;
}

/* Candidates of a batch of differences: one to each side of every gene and t. */
static size_t differences_of(const ec_polish_problem *p)
{
    return 2 * (size_t)(p->n_free + p->n_cuts);
}

static int make_gradients(ec_polish_problem *p, const ec_job *job)
{
    int32_t n_with = p->n_grads + (p->n_cuts > 0 ? 1 : 0), at = 0;
    ec_expr *with = (ec_expr *)malloc(sizeof *with * (size_t)n_with);
    ec_expr *outputs = (ec_expr *)malloc(sizeof *outputs * (size_t)n_with);
    ec_executor_info info = {.outputs = outputs, .n_outputs = n_with, .fidelity = EC_REFINE};
    int status = with && outputs ? EC_OK : ec_fail(EC_ERR_MEMORY, "polish: no memory");
    ec_expr total = status == EC_OK ? seeded_sum(p, job->graph) : status;

    status = total < 0 ? total : EC_OK;
    for (int32_t v = 0; v < job->n_variables && status == EC_OK; v++)
        if (variable_moves(&job->variables[v]->variable))
            with[at++] = job->variables[v]->variable.genes;
    if (p->n_cuts > 0 && status == EC_OK)
        with[at] = p->t;
    if (status == EC_OK && p->n_group_genes > 0)
        status = ec_fail(EC_ERR_NO_GRADIENT, "polish: groups");
    if (status == EC_OK && !p->backend->host_memory)
        status = ec_fail(EC_ERR_NO_GRADIENT, "polish: gradients are followed on the CPU");
    if (status == EC_OK)
        status = ec_graph_gradient(job->graph, total, n_with, with, outputs);
    info.max_candidates = (size_t)p->n_elements;
    if (status == EC_OK)
        status = ec_executor_create(job->graph, p->backend, &info, &p->gradients);
    free(with);
    free(outputs);
    return status;
}

static int make_executors(ec_polish_problem *p, const ec_job *job)
{
    ec_expr outputs[EC_POLISH_ROWS_MAX];
    int status = make_gradients(p, job);
    bool differences = status == EC_ERR_NO_GRADIENT;

    if (differences && p->n_free + p->n_cuts <= EC_POLISH_DIFFERENCES_MAX)
        status = EC_OK; /* otherwise the sentence says which node has none */
    ec_executor_info info = {.outputs = outputs,
                             .n_outputs = p->n_rows,
                             .max_candidates = differences ? differences_of(p) : 1,
                             .max_groups =
                                 p->n_group_genes > 0 ? (differences ? differences_of(p) : 1) : 0,
                             .fidelity = EC_REFINE};
    for (int32_t r = 0; r < p->n_rows; r++)
        outputs[r] = p->rows[r].expr;
    return status < 0 ? status : ec_executor_create(job->graph, p->backend, &info, &p->values);
}

int ec_polish_groups(ec_backend *backend, int32_t n_group_genes, size_t n, ec_array *XG,
                     int32_t **group_map)
{
    size_t ld = ec_lane_ld(n);
    int status = ec_array_create(backend, XG, EC_F64, EC_AXIS_GROUP, 1, &n_group_genes, n, 1);

    if (status == EC_OK)
        status = backend->ops->alloc(backend, ld * sizeof **group_map, (void **)group_map);
    int32_t *each = (int32_t *)malloc(ld * sizeof *each);
    if (status == EC_OK && !each)
        status = ec_fail(EC_ERR_MEMORY, "polish: no memory");
    for (size_t c = 0; c < ld && status == EC_OK; c++)
        each[c] = (int32_t)(c < n ? c : n - 1);
    if (status == EC_OK)
        status = backend->ops->upload(backend, *group_map, each, ld * sizeof *each);
    free(each);
    return status;
}

/* What the host writes and reads: the backend's own memory, or copies of it. */
static int make_host(ec_polish_problem *p, size_t lanes)
{
    if (p->backend->host_memory) {
        p->x = (double *)p->X.data;
        p->xg = (double *)p->XG.data;
        p->bad = p->status;
        return EC_OK;
    }
    size_t words = 0;
    for (int32_t r = 0; r < p->n_rows; r++)
        words += ec_array_bytes(ec_executor_output(p->values, r)) / sizeof(double);
    p->x = (double *)calloc(ec_array_bytes(&p->X) + 1, 1);
    p->xg = (double *)calloc((p->XG.data ? ec_array_bytes(&p->XG) : 0) + 1, 1);
    p->bad = (uint8_t *)calloc(ec_lane_ld(lanes), 1);
    p->out = (double *)calloc(words + 1, sizeof(double));
    return p->x && p->xg && p->bad && p->out ? EC_OK : ec_fail(EC_ERR_MEMORY, "polish: no memory");
}

static int make_batch(ec_polish_problem *p)
{
    ec_backend *backend = p->backend;
    int32_t rows = p->n_genes + p->n_cuts + p->n_elements;
    size_t n = (size_t)p->n_elements, columns = (size_t)(p->n_free + p->n_cuts);
    size_t lanes = p->gradients ? n : differences_of(p);

    int status = ec_array_create(backend, &p->X, EC_F64, EC_AXIS_CANDIDATE, 1, &rows, lanes, 1);
    if (status == EC_OK)
        status = backend->ops->alloc(backend, ec_lane_ld(lanes), (void **)&p->status);
    if (status == EC_OK && p->n_group_genes > 0)
        status = ec_polish_groups(backend, p->n_group_genes, lanes, &p->XG, &p->group_map);
    if (status == EC_OK)
        status = make_host(p, lanes);
    p->value = (double *)calloc(n, sizeof(double));
    p->jacobian = (double *)calloc(n * columns, sizeof(double));
    if (status == EC_OK && (!p->value || !p->jacobian))
        status = ec_fail(EC_ERR_MEMORY, "polish: no memory");
    if (status < 0)
        return status;
    double *X = p->x;
    memset(X, 0, ec_array_bytes(&p->X));
    for (int32_t k = 0; k < p->n_elements && p->gradients; k++)
        X[(size_t)(p->n_genes + p->n_cuts + k) * p->X.ld + (size_t)k] = 1;
    return EC_OK;
}

/* The row of gene or t i, of n_free + n_cuts. */
static double *unknown_row(const ec_polish_problem *p, int32_t i)
{
    int32_t gene = i < p->n_free ? p->free_gene[i] : p->n_genes + i - p->n_free;
    if (i < p->n_free && gene >= p->n_genes)
        return p->xg + (size_t)(gene - p->n_genes) * p->XG.ld;
    return p->x + (size_t)gene * p->X.ld;
}

static void fill_row(double *row, size_t ld, double value)
{
    for (size_t c = 0; c < ld; c++)
        row[c] = value;
}

/* Genes and t in every lane. */
static void fill_lanes(ec_polish_problem *p, const double *genes, const double *t)
{
    double *X = p->x, *XG = p->xg;

    for (int32_t g = 0; g < p->n_genes + p->n_cuts; g++)
        fill_row(X + (size_t)g * p->X.ld, p->X.ld, g < p->n_genes ? genes[g] : t[g - p->n_genes]);
    for (int32_t g = 0; g < p->n_group_genes; g++)
        fill_row(XG + (size_t)g * p->XG.ld, p->XG.ld, genes[p->n_genes + g]);
}

/* The lanes to the backend, where that has memory of its own. */
static int send(ec_polish_problem *p)
{
    ec_backend *backend = p->backend;

    if (backend->host_memory)
        return EC_OK;
    int status = backend->ops->upload(backend, p->X.data, p->x, ec_array_bytes(&p->X));
    if (status == EC_OK && p->XG.data)
        status = backend->ops->upload(backend, p->XG.data, p->xg, ec_array_bytes(&p->XG));
    return status;
}

/* The rows' values and the lanes' statuses back. */
static int fetch(ec_polish_problem *p, size_t n)
{
    ec_backend *backend = p->backend;
    double *to = p->out;
    int status = EC_OK;

    if (backend->host_memory)
        return EC_OK;
    for (int32_t r = 0; r < p->n_rows && status == EC_OK; r++) {
        const ec_array *out = ec_executor_output(p->values, r);
        status = backend->ops->download(backend, to, out->data, ec_array_bytes(out));
        to += ec_array_bytes(out) / sizeof(double);
    }
    return status == EC_OK ? backend->ops->download(backend, p->bad, p->status, n) : status;
}

/* Values of the rows for the first n lanes. */
static int run_values(ec_polish_problem *p, size_t n)
{
    bool grouped = p->n_group_genes > 0;
    ec_array X = ec_array_lanes(&p->X, 0, n), XG;

    if (grouped)
        XG = ec_array_lanes(&p->XG, 0, n);
    int status = send(p);
    if (status == EC_OK)
        status = ec_executor_run(p->values, &X, grouped ? &XG : NULL, p->group_map, p->status, n,
                                 grouped ? n : 0);
    return status == EC_OK ? fetch(p, n) : status;
}

/* Of an element of a row. */
static double value_of(const ec_polish_problem *p, int32_t row, int32_t element, size_t lane)
{
    const ec_array *out = ec_executor_output(p->values, row);
    bool each = (out->axes & EC_AXIS_CANDIDATE) != 0; /* otherwise one value for all */
    const double *data = (const double *)out->data;

    if (!p->backend->host_memory) {
        data = p->out;
        for (int32_t r = 0; r < row; r++)
            data += ec_array_bytes(ec_executor_output(p->values, r)) / sizeof(double);
    }
    return data[(size_t)element * out->ld + (each ? lane : 0)];
}

int ec_polish_problem_values(ec_polish_problem *p, const double *genes, const double *t)
{
    fill_lanes(p, genes, t);
    int status = run_values(p, 1);
    for (int32_t r = 0; r < p->n_rows && status == EC_OK; r++)
        for (int32_t e = 0; e < p->rows[r].elements; e++)
            p->value[p->rows[r].first + e] = value_of(p, r, e, 0);
    return status;
}

/* A gene's step is so much of its range, t's of its size: what is cut off of the series is the square
 * of the step's phase, what rounding leaves its inverse. */
static int differences(ec_polish_problem *p, const double *genes, const double *t)
{
    const double share = 2e-5;
    size_t columns = (size_t)(p->n_free + p->n_cuts), n = differences_of(p);

    fill_lanes(p, genes, t);
    for (int32_t i = 0; i < p->n_free + p->n_cuts; i++) {
        double *row = unknown_row(p, i), x = row[0];
        double step = share * (i < p->n_free ? p->range[i] : 1 + fabs(x));
        double low = i < p->n_free ? p->low[i] : -INFINITY;
        double high = i < p->n_free ? p->low[i] + p->range[i] : INFINITY;
        row[2 * i] = fmax(x - step, fmin(low, x));
        row[2 * i + 1] = fmin(x + step, fmax(high, x));
    }
    int status = run_values(p, n);
    p->evaluations += (int64_t)n;
    for (int32_t i = 0; i < p->n_free + p->n_cuts && status == EC_OK; i++) {
        const double *row = unknown_row(p, i);
        double step = row[2 * i + 1] - row[2 * i];
        bool failed = p->bad[2 * i] || p->bad[2 * i + 1];
        for (int32_t r = 0; r < p->n_rows; r++)
            for (int32_t e = 0; e < p->rows[r].elements; e++) {
                double rise =
                    value_of(p, r, e, 2 * (size_t)i + 1) - value_of(p, r, e, 2 * (size_t)i);
                p->jacobian[(size_t)(p->rows[r].first + e) * columns + (size_t)i] =
                    failed     ? (double)NAN
                    : step > 0 ? rise / step
                               : 0;
            }
    }
    return status;
}

int ec_polish_problem_jacobian(ec_polish_problem *p, const double *genes, const double *t)
{
    size_t n = (size_t)p->n_elements, columns = (size_t)(p->n_free + p->n_cuts);

    if (!p->gradients)
        return differences(p, genes, t);
    fill_lanes(p, genes, t);
    int status = ec_executor_run(p->gradients, &p->X, NULL, NULL, p->status, n, 0);
    for (int32_t i = 0; i < p->n_free + p->n_cuts && status == EC_OK; i++) {
        bool is_t = i >= p->n_free;
        const ec_array *out =
            ec_executor_output(p->gradients, is_t ? p->n_grads : p->grad_first[i]);
        size_t element = (size_t)(is_t ? i - p->n_free : p->grad_element[i]);
        /* A gradient that does not depend on the candidate is one value for all. */
        bool wide = (out->axes & EC_AXIS_CANDIDATE) != 0;
        for (size_t k = 0; k < n; k++)
            p->jacobian[k * columns + (size_t)i] =
                ((const double *)out->data)[element * out->ld + (wide ? k : 0)];
    }
    return status;
}

/* ---- validity of the cuts ---- */

/* A maximum may be replaced by an upper bound only where nothing gets better when it rises.
 * Returns the first cut that is not valid, -1 when all are. */
static int32_t wrong_cut(const ec_polish_problem *p)
{
    size_t columns = (size_t)(p->n_free + p->n_cuts);

    for (int32_t r = 0; r < p->n_rows; r++) {
        const ec_polish_row *row = &p->rows[r];
        for (int32_t e = row->first; e < row->first + row->elements; e++)
            for (int32_t c = 0; c < p->n_cuts; c++) {
                double slope = p->jacobian[(size_t)e * columns + (size_t)(p->n_free + c)];
                double against = row->sign * slope * p->cuts[c].direction;
                if (against < 0 || (row->equality && slope != 0))
                    return c;
            }
    }
    return -1;
}

/* ---- create, destroy ---- */

void ec_polish_problem_destroy(ec_polish_problem **handle)
{
    ec_polish_problem *p = handle ? *handle : NULL;

    if (!p)
        return;
    ec_executor_destroy(&p->values);
    ec_executor_destroy(&p->gradients);
    if (!p->backend->host_memory) {
        free(p->x);
        free(p->xg);
        free(p->bad);
        free(p->out);
    }
    ec_array_release(p->backend, &p->X);
    ec_array_release(p->backend, &p->XG);
    p->backend->ops->release(p->backend, p->group_map);
    p->backend->ops->release(p->backend, p->status);
    free(p->free_gene);
    free(p->grad_first);
    free(p->grad_element);
    free(p->low);
    free(p->range);
    free(p->value);
    free(p->jacobian);
    free(p);
    *handle = NULL;
}

static int try_create(ec_job *job, ec_backend *backend, const double *genes, double margin,
                      ec_polish_notes *notes, ec_polish_problem **problem, int32_t *wrong)
{
    double t[EC_POLISH_CUTS_MAX];
    ec_polish_problem *p = (ec_polish_problem *)calloc(1, sizeof *p);

    if (!p)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    p->backend = backend;
    p->n_genes = job->n_genes;
    p->n_group_genes = job->n_group_genes;
    design at = {job->graph, backend, genes, (size_t)job->n_genes, (size_t)job->n_group_genes};
    int status = list_free_genes(p, job);
    if (status == EC_OK)
        status = make_rows(p, job, &at, notes, margin);
    if (status == EC_OK)
        status = make_executors(p, job);
    if (status == EC_OK)
        status = make_batch(p);
    for (int32_t i = 0; i < p->n_cuts; i++)
        t[i] = p->cuts[i].start;
    if (status == EC_OK)
        status = ec_polish_problem_jacobian(p, genes, t);
    *wrong = status == EC_OK ? wrong_cut(p) : -1;
    if (*wrong >= 0)
        leave_uncut(notes, p->cuts[*wrong].node);
    if (status < 0 || *wrong >= 0)
        ec_polish_problem_destroy(&p);
    *problem = p;
    return status;
}

int ec_polish_problem_create(ec_job *job, ec_backend *backend, const double *genes, double margin,
                             ec_polish_notes *notes, ec_polish_problem **problem)
{
    for (int i = 0; i <= EC_POLISH_CUTS_MAX; i++) {
        int32_t wrong = -1;
        int status = try_create(job, backend, genes, margin, notes, problem, &wrong);
        if (status < 0 || wrong < 0)
            return status;
    }
    return ec_fail(EC_ERR_UNSUPPORTED, "its maxima cannot be taken apart");
}
