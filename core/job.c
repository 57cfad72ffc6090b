/* job.c: variables as graph nodes, and what is asked of them. */
#include "job.h"
#include "job_internal.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 20 };

/* Names go into JSON, tables and files. */
static int check_text(const char *what, const char *name)
{
    bool control = false;

    for (const char *c = name; *c; c++)
        control = control || (unsigned char)*c < ' ' || *c == 127;
    if (control || !ec_utf8_valid(name))
        return ec_fail(EC_ERR_ARGUMENT, "the name of a %s must be text in UTF-8%s", what,
                       control ? " without control characters" : "");
    return EC_OK;
}

int ec_job_create(ec_graph *graph, const char *name, uint64_t seed, ec_job **job)
{
    if (!graph || !job)
        return ec_fail(EC_ERR_ARGUMENT, "job: a graph and a place for the job are needed");
    int status = name ? check_text("job", name) : EC_OK;
    if (status < 0)
        return status;
    ec_job *fresh = (ec_job *)calloc(1, sizeof *fresh);
    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "job: no memory");
    fresh->name = strdup(name ? name : "job");
    if (!fresh->name) {
        free(fresh);
        return ec_fail(EC_ERR_MEMORY, "job: no memory");
    }
    fresh->graph = graph;
    fresh->seed = seed;
    fresh->owner = ec_graph_new_owner(graph);
    *job = fresh;
    return EC_OK;
}

static void entry_destroy(ec_job_entry *entry)
{
    if (!entry)
        return;
    free(entry->variable.name);
    free(entry->min);
    free(entry->max);
    free(entry->value_min);
    free(entry->value_max);
    free(entry->start);
    free(entry);
}

static void goals_destroy(ec_goal *goals, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        free(goals[i].name);
    free(goals);
}

void ec_job_destroy(ec_job **handle)
{
    ec_job *job = handle ? *handle : NULL;

    if (!job)
        return;
    for (int32_t i = 0; i < job->n_variables; i++)
        entry_destroy(job->variables[i]);
    free(job->variables);
    goals_destroy(job->objectives, job->n_objectives);
    goals_destroy(job->records, job->n_records);
    for (int32_t i = 0; i < job->n_constraints; i++)
        free(job->constraints[i].name);
    free(job->constraints);
    free(job->name);
    free(job);
    *handle = NULL;
}

ec_graph *ec_job_graph(const ec_job *job)
{
    return job->graph;
}

const char *ec_job_name(const ec_job *job)
{
    return job->name;
}

uint64_t ec_job_seed(const ec_job *job)
{
    return job->seed;
}

/* ---- checks ---- */

static int32_t value_elements(const ec_variable_info *info)
{
    return info->count > 0 ? info->count : 1;
}

static int check_bounds(const ec_variable_info *info)
{
    bool whole = info->kind == EC_VARIABLE_INTEGER;

    if (!info->min || !info->max)
        return ec_fail(EC_ERR_ARGUMENT, "variable '%s': min and max are needed", info->name);
    for (int32_t i = 0; i < value_elements(info); i++) {
        double min = info->min[i], max = info->max[i];
        if (!isfinite(min) || !isfinite(max))
            return ec_fail(EC_ERR_RANGE, "variable '%s': min (%g) and max (%g) must be finite",
                           info->name, min, max);
        if (min > max)
            return ec_fail(EC_ERR_RANGE, "variable '%s': min (%g) is above max (%g)", info->name,
                           min, max);
        if (!isfinite(max - min))
            return ec_fail(EC_ERR_RANGE, "variable '%s': the range from %g to %g is too wide",
                           info->name, min, max);
        if (whole && (min != floor(min) || max != floor(max)))
            return ec_fail(EC_ERR_RANGE,
                           "variable '%s': min (%g) and max (%g) of an integer must be whole "
                           "numbers",
                           info->name, min, max);
        if (whole && (fabs(min) > 0x1p52 || fabs(max) > 0x1p52))
            return ec_fail(EC_ERR_RANGE, "variable '%s': integers must lie between -2^52 and 2^52",
                           info->name);
    }
    return EC_OK;
}

static int check_choice(const ec_variable_info *info)
{
    if (info->n_from < 1)
        return ec_fail(EC_ERR_ARGUMENT,
                       "variable '%s': a choice needs at least one item to "
                       "choose from",
                       info->name);
    if (info->distinct && value_elements(info) > info->n_from)
        return ec_fail(EC_ERR_ARGUMENT,
                       "variable '%s': %d distinct choices from %d items are impossible",
                       info->name, (int)value_elements(info), (int)info->n_from);
    return EC_OK;
}

static int check_spaced(const ec_variable_info *info)
{
    if (info->count < 2)
        return ec_fail(EC_ERR_ARGUMENT,
                       "variable '%s': count is %d, spaced positions need at least 2 (the two "
                       "ends are pinned)",
                       info->name, (int)info->count);
    if (!isfinite(info->aperture) || info->aperture <= 0)
        return ec_fail(EC_ERR_RANGE, "variable '%s': aperture (%g) must be above 0 and finite",
                       info->name, info->aperture);
    if (!isfinite(info->min_gap) || info->min_gap < 0)
        return ec_fail(EC_ERR_RANGE, "variable '%s': min_gap (%g) must be at least 0 and finite",
                       info->name, info->min_gap);
    if ((info->count - 1) * info->min_gap > info->aperture * (1 + 1e-12))
        return ec_fail(EC_ERR_RANGE,
                       "variable '%s': %d gaps of at least %g need %g, more than the aperture %g",
                       info->name, (int)info->count - 1, info->min_gap,
                       (info->count - 1) * info->min_gap, info->aperture);
    return EC_OK;
}

/* Whether something called `name`, of the kind `what` ("variable"), can be added now. */
static int check_name(const ec_job *job, const char *what, const char *name)
{
    if (!name || !*name)
        return ec_fail(EC_ERR_ARGUMENT, "a %s needs a name", what);
    if (job->searching)
        return ec_fail(EC_ERR_ARGUMENT, "%s '%s': job '%s' cannot be changed during its own search",
                       what, name, job->name);
    return check_text(what, name);
}

static int check_variable(const ec_job *job, const ec_variable_info *info)
{
    int status = check_name(job, "variable", info->name);
    if (status < 0)
        return status;
    for (int32_t i = 0; i < job->n_variables; i++)
        if (strcmp(job->variables[i]->variable.name, info->name) == 0)
            return ec_fail(EC_ERR_ARGUMENT, "variable '%s': the name is used twice", info->name);
    if (info->count < 0 || info->count > ELEMENTS_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "variable '%s': count is %d, allowed are 1 to %d",
                       info->name, (int)info->count, (int)ELEMENTS_MAX);
    if (info->n_start < 0 || (info->n_start > 0 && !info->start))
        return ec_fail(EC_ERR_ARGUMENT, "variable '%s': the start designs have no values",
                       info->name);
    if (info->group && info->n_start > 0)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "variable '%s': a variable shared by a group takes no start designs",
                       info->name);
    switch (info->kind) {
    case EC_VARIABLE_REAL:
    case EC_VARIABLE_INTEGER:
        return check_bounds(info);
    case EC_VARIABLE_BINARY:
        if (info->sum > value_elements(info))
            return ec_fail(EC_ERR_ARGUMENT, "variable '%s': sum is %d, more than its count %d",
                           info->name, (int)info->sum, (int)value_elements(info));
        return EC_OK;
    case EC_VARIABLE_CHOICE:
        return check_choice(info);
    case EC_VARIABLE_SPACED:
        return check_spaced(info);
    }
    return ec_fail(EC_ERR_ARGUMENT, "variable '%s': unknown kind %d", info->name, (int)info->kind);
}

/* ---- genes ---- */

static int32_t gene_count(const ec_variable_info *info)
{
    if (info->kind != EC_VARIABLE_SPACED)
        return value_elements(info);
    if (!info->symmetric)
        return info->count - 2;
    return info->count / 2 - 1;
}

/* The moving half of spaced positions, or all of them: element i is base(i) + slack * sorted_i for
 * every element but the pinned ones. */
typedef struct spacing {
    int32_t n;     /* elements, pinned ones included */
    int32_t first; /* of these, the first that moves */
    int32_t genes; /* that move */
    double start;  /* element 0 without slack */
    double gap, slack, end;
} spacing;

static spacing spacing_of(const ec_variable_info *info)
{
    spacing s;
    double gap = info->min_gap, half = info->aperture / 2;

    s.gap = gap;
    s.end = half;
    s.genes = gene_count(info);
    if (!info->symmetric) {
        s.n = info->count;
        s.first = 1;
        s.start = -half;
    } else if (info->count % 2) {
        s.n = info->count / 2 + 1;
        s.first = 1;
        s.start = 0;
    } else {
        s.n = info->count / 2;
        s.first = 0;
        s.start = gap / 2;
    }
    s.slack = half - s.start - (s.n - 1) * gap;
    if (s.slack < 0)
        s.slack = 0;
    return s;
}

static double spacing_base(const spacing *s, int32_t i)
{
    return i == s->n - 1 ? s->end : s->start + i * s->gap;
}

static void fill_bounds(ec_job_entry *entry, const ec_variable_info *info)
{
    spacing s = {0, 0, 0, 0, 0, 0, 0};

    if (info->kind == EC_VARIABLE_SPACED)
        s = spacing_of(info);
    entry->slack = s.slack;
    entry->aperture = info->aperture;
    entry->min_gap = info->min_gap;
    entry->symmetric = info->symmetric;
    for (int32_t i = 0; i < value_elements(info); i++) {
        bool bounded = info->kind == EC_VARIABLE_REAL || info->kind == EC_VARIABLE_INTEGER;
        bool spaced = info->kind == EC_VARIABLE_SPACED;
        entry->value_min[i] = bounded                            ? info->min[i]
                              : spaced                           ? -info->aperture / 2
                              : info->kind == EC_VARIABLE_CHOICE ? 1
                                                                 : 0;
        entry->value_max[i] = bounded                            ? info->max[i]
                              : spaced                           ? info->aperture / 2
                              : info->kind == EC_VARIABLE_CHOICE ? info->n_from
                                                                 : 1;
    }
    for (int32_t i = 0; i < entry->variable.n_genes; i++) {
        double min = 0, max = 1;
        switch (info->kind) {
        case EC_VARIABLE_REAL:
            min = info->min[i];
            max = info->max[i];
            break;
        case EC_VARIABLE_INTEGER:
            /* Equal bounds stay equal: such a gene is fixed. */
            min = info->min[i] == info->max[i] ? info->min[i] : info->min[i] - 0.5;
            max = info->min[i] == info->max[i] ? info->max[i] : info->max[i] + 0.5;
            break;
        case EC_VARIABLE_BINARY:
            break;
        case EC_VARIABLE_CHOICE:
            max = info->distinct ? info->n_from - i : info->n_from;
            break;
        case EC_VARIABLE_SPACED:
            max = s.slack > 0 ? 1 : 0;
            break;
        }
        entry->min[i] = min;
        entry->max[i] = max;
    }
}

/* ---- decoding: from genes to values, as nodes ---- */

static ec_expr constant_or_number(ec_graph *graph, bool scalar, int32_t n, const double *values)
{
    bool equal = true;

    for (int32_t i = 1; i < n; i++)
        equal = equal && values[i] == values[0];
    if (scalar || equal)
        return ec_graph_number(graph, values[0]);
    return ec_graph_constant(graph, 1, &n, values);
}

static ec_expr clamp_between(ec_graph *graph, ec_expr a, ec_expr lo, ec_expr hi)
{
    if (a < 0 || lo < 0 || hi < 0)
        return a < 0 ? a : lo < 0 ? lo : hi;
    ec_expr in[3] = {a, lo, hi};
    return ec_graph_op(graph, EC_OP_CLAMP, 3, in, 0, NULL);
}

static ec_expr decode_integer(ec_graph *graph, const ec_job_entry *entry, int32_t n)
{
    bool scalar = entry->variable.count == 0;

    return clamp_between(graph, ec_graph_unary(graph, EC_OP_ROUND, entry->variable.genes),
                         constant_or_number(graph, scalar, n, entry->value_min),
                         constant_or_number(graph, scalar, n, entry->value_max));
}

static ec_expr decode_binary(ec_graph *graph, const ec_job_entry *entry)
{
    ec_expr genes = entry->variable.genes;
    double sum = entry->sum;

    if (entry->sum > 0 && entry->variable.count > 0)
        return ec_graph_op(graph, EC_OP_TOP_K, 1, &genes, 1, &sum);
    /* sum = 0 is below every gene, sum = 1 of a scalar above none. */
    double level = entry->sum < 0 ? 0.5 : entry->sum == 0 ? 2 : -1;
    return ec_graph_binary(graph, EC_OP_LE, ec_graph_number(graph, level), genes);
}

static ec_expr decode_choice(ec_graph *graph, const ec_job_entry *entry, int32_t n)
{
    bool scalar = entry->variable.count == 0;
    double from = entry->n_from;
    double *last = (double *)malloc(sizeof *last * (size_t)n);

    if (!last)
        return ec_fail(EC_ERR_MEMORY, "variable '%s': no memory", entry->variable.name);
    for (int32_t i = 0; i < n; i++)
        last[i] = entry->distinct ? entry->n_from - i - 1 : entry->n_from - 1;
    ec_expr code =
        clamp_between(graph, ec_graph_unary(graph, EC_OP_FLOOR, entry->variable.genes),
                      ec_graph_number(graph, 0), constant_or_number(graph, scalar, n, last));
    free(last);
    if (code >= 0 && !scalar && entry->distinct)
        code = ec_graph_op(graph, EC_OP_DISTINCT, 1, &code, 1, &from);
    return code < 0 ? code : ec_graph_binary(graph, EC_OP_ADD, code, ec_graph_number(graph, 1));
}

static ec_expr decode_spaced(ec_graph *graph, ec_job_entry *entry, const ec_variable_info *info)
{
    spacing s = spacing_of(info);
    double *base = (double *)malloc(sizeof *base * (size_t)s.n);
    int32_t *place = (int32_t *)malloc(sizeof *place * (size_t)s.n);
    ec_expr value = EC_ERR_MEMORY;

    if (!base || !place) {
        ec_fail(EC_ERR_MEMORY, "variable '%s': no memory", info->name);
        goto done;
    }
    for (int32_t i = 0; i < s.n; i++) {
        bool moves = i >= s.first && i < s.first + s.genes;
        base[i] = spacing_base(&s, i);
        place[i] = moves ? i - s.first : -1;
    }
    value = ec_graph_constant(graph, 1, &s.n, base);
    if (s.genes > 0 && value >= 0) {
        ec_expr genes = entry->variable.genes;
        entry->variable.sort = ec_graph_op(graph, EC_OP_SORT, 1, &genes, 0, NULL);
        ec_expr stretch =
            entry->variable.sort < 0
                ? entry->variable.sort
                : ec_graph_binary(graph, EC_OP_MUL, ec_graph_number(graph, s.slack),
                                  ec_graph_gather(graph, entry->variable.sort, 1, &s.n, place));
        value = stretch < 0 ? stretch : ec_graph_binary(graph, EC_OP_ADD, value, stretch);
    }
    if (value >= 0 && info->symmetric)
        value = ec_graph_mirror(graph, value, true, info->count % 2 == 1);
    if (value >= 0)
        value = ec_graph_declare(graph, value, -info->aperture / 2, info->aperture / 2);
done:
    free(base);
    free(place);
    return value;
}

static ec_expr decode(ec_graph *graph, ec_job_entry *entry, const ec_variable_info *info)
{
    switch (info->kind) {
    case EC_VARIABLE_REAL:
        return entry->variable.genes;
    case EC_VARIABLE_INTEGER:
        return decode_integer(graph, entry, value_elements(info));
    case EC_VARIABLE_BINARY:
        return decode_binary(graph, entry);
    case EC_VARIABLE_CHOICE:
        return decode_choice(graph, entry, value_elements(info));
    case EC_VARIABLE_SPACED:
        return decode_spaced(graph, entry, info);
    }
    return ec_fail(EC_ERR_INTERNAL, "variable '%s': unknown kind", info->name);
}

/* ---- start designs: from values to genes ---- */

static bool is_whole_between(double value, double lo, double hi)
{
    return value == floor(value) && value >= lo && value <= hi;
}

void ec_job_encode_discrete(const ec_job_entry *entry, const double *value, double *genes)
{
    for (int32_t i = 0; i < entry->variable.n_genes; i++) {
        int32_t below = 1;
        switch (entry->variable.kind) {
        case EC_VARIABLE_BINARY:
            genes[i] = value[i] == 1 ? 0.75 : 0.25;
            break;
        case EC_VARIABLE_CHOICE:
            /* Index i is the code-th (codes count from 0) of those that no index before it takes. */
            for (int32_t j = 0; entry->distinct && j < i; j++)
                below += value[j] < value[i];
            genes[i] = value[i] - below + 0.5;
            break;
        default:
            genes[i] = value[i];
        }
    }
}

static int encode_binary(const ec_job_entry *entry, int32_t n, const double *value, double *gene)
{
    int32_t ones = 0;

    for (int32_t i = 0; i < n; i++) {
        if (!is_whole_between(value[i], 0, 1))
            return ec_fail(EC_ERR_RANGE, "variable '%s': value %g is neither 0 nor 1",
                           entry->variable.name, value[i]);
        ones += value[i] == 1;
    }
    ec_job_encode_discrete(entry, value, gene);
    if (entry->sum >= 0 && ones != entry->sum)
        return ec_fail(EC_ERR_RANGE, "variable '%s': a design has %d ones, sum asks for %d",
                       entry->variable.name, (int)ones, (int)entry->sum);
    return EC_OK;
}

static int encode_choice(const ec_job_entry *entry, int32_t n, const double *value, double *gene)
{
    for (int32_t i = 0; i < n; i++) {
        if (!is_whole_between(value[i], 1, entry->n_from))
            return ec_fail(EC_ERR_RANGE,
                           "variable '%s': index %g is not a whole number from 1 to %d",
                           entry->variable.name, value[i], (int)entry->n_from);
        for (int32_t j = 0; entry->distinct && j < i; j++)
            if (value[j] == value[i])
                return ec_fail(EC_ERR_RANGE, "variable '%s': index %g occurs twice",
                               entry->variable.name, value[i]);
    }
    ec_job_encode_discrete(entry, value, gene);
    return EC_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int encode_spaced(const ec_job_entry *entry, const double *value, double *gene)
{
    const ec_variable_info of = {.name = entry->variable.name,
                                 .kind = EC_VARIABLE_SPACED,
                                 .count = entry->variable.count,
                                 .aperture = entry->aperture,
                                 .min_gap = entry->min_gap,
                                 .symmetric = entry->symmetric};
    const ec_variable_info *info = &of;
    spacing s = spacing_of(info);
    double tolerance = 1e-9 * info->aperture;
    int status = EC_OK;
    double *x = (double *)malloc(sizeof *x * (size_t)info->count);

    if (!x)
        return ec_fail(EC_ERR_MEMORY, "variable '%s': no memory", info->name);
    memcpy(x, value, sizeof *x * (size_t)info->count);
    for (int32_t i = 0; i < info->count; i++)
        if (!isfinite(x[i]))
            status =
                ec_fail(EC_ERR_RANGE, "variable '%s': position %g is not finite", info->name, x[i]);
    if (status == EC_OK)
        qsort(x, (size_t)info->count, sizeof *x, compare_doubles);
    for (int32_t end = 0; end < 2 && status == EC_OK; end++) {
        double at = x[end ? info->count - 1 : 0];
        double pinned = end ? info->aperture / 2 : -info->aperture / 2;
        if (fabs(at - pinned) > tolerance)
            status = ec_fail(EC_ERR_RANGE,
                             "variable '%s': the design ends at %.12g, the aperture at %.12g",
                             info->name, at, pinned);
    }
    for (int32_t i = 0; i + 1 < info->count && status == EC_OK; i++)
        if (x[i + 1] - x[i] < info->min_gap - tolerance)
            status = ec_fail(EC_ERR_RANGE,
                             "variable '%s': positions %.12g and %.12g are closer than "
                             "min_gap (%g)",
                             info->name, x[i], x[i + 1], info->min_gap);
    for (int32_t i = 0; info->symmetric && i < info->count && status == EC_OK; i++)
        if (fabs(x[i] + x[info->count - 1 - i]) > tolerance)
            status = ec_fail(EC_ERR_RANGE, "variable '%s': position %.12g has no mirror image",
                             info->name, x[i]);
    const double *half = x + (info->count - s.n); /* the moving half is the upper one */
    double before = entry->min[0];
    for (int32_t i = 0; i < s.genes && status == EC_OK; i++) {
        int32_t at = i + s.first;
        double g = s.slack > 0 ? (half[at] - spacing_base(&s, at)) / s.slack : 0;
        /* Gaps within rounding of min_gap may step back by as little. */
        g = g < before ? before : g;
        gene[i] = before = g > entry->max[i] ? entry->max[i] : g;
    }
    free(x);
    return status;
}

static int encode_number(const ec_job_entry *entry, int32_t n, const double *value, double *gene,
                         ec_job_moved *moved)
{
    bool integer = entry->variable.kind == EC_VARIABLE_INTEGER;

    for (int32_t i = 0; i < n; i++) {
        double min = entry->value_min[i], max = entry->value_max[i];

        if (!isfinite(value[i]) || (integer && value[i] != floor(value[i])))
            return ec_fail(EC_ERR_RANGE, "variable '%s': value %g is not a %s",
                           entry->variable.name, value[i], integer ? "whole number" : "number");
        gene[i] = value[i] < min ? min : value[i] > max ? max : value[i];
        if (gene[i] == value[i])
            continue;
        if (moved->count == 0) {
            moved->element = i;
            moved->value = value[i];
            moved->to = gene[i];
        }
        moved->count++;
    }
    return EC_OK;
}

int ec_job_encode(const ec_job_entry *entry, const double *value, double *gene, ec_job_moved *moved)
{
    int32_t n = entry->variable.count > 0 ? entry->variable.count : 1;

    switch (entry->variable.kind) {
    case EC_VARIABLE_REAL:
    case EC_VARIABLE_INTEGER:
        return encode_number(entry, n, value, gene, moved);
    case EC_VARIABLE_BINARY:
        return encode_binary(entry, n, value, gene);
    case EC_VARIABLE_CHOICE:
        return encode_choice(entry, n, value, gene);
    case EC_VARIABLE_SPACED:
        return entry->variable.n_genes > 0 ? encode_spaced(entry, value, gene) : EC_OK;
    }
    return EC_OK;
}

/* ---- adding a variable ---- */

static int entry_create(const ec_job *job, const ec_variable_info *info, ec_job_entry **entry)
{
    int32_t genes = gene_count(info);
    size_t n_value = (size_t)value_elements(info), n_gene = genes > 0 ? (size_t)genes : 1;
    ec_job_entry *fresh = (ec_job_entry *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "variable '%s': no memory", info->name);
    ec_variable *variable = &fresh->variable;
    variable->name = strdup(info->name);
    variable->kind = info->kind;
    variable->count = info->count;
    variable->group = info->group;
    variable->first_gene = info->group ? job->n_group_genes : job->n_genes;
    variable->n_genes = genes;
    variable->genes = variable->value = variable->sort = -1;
    fresh->sum = info->kind == EC_VARIABLE_BINARY ? info->sum : -1;
    fresh->n_from = info->n_from;
    fresh->distinct = info->kind == EC_VARIABLE_CHOICE && info->distinct && info->count > 1;
    fresh->min = (double *)malloc(sizeof(double) * n_gene);
    fresh->max = (double *)malloc(sizeof(double) * n_gene);
    fresh->value_min = (double *)malloc(sizeof(double) * n_value);
    fresh->value_max = (double *)malloc(sizeof(double) * n_value);
    fresh->n_start = info->n_start;
    if (info->n_start > 0)
        fresh->start = (double *)malloc(sizeof(double) * n_gene * (size_t)info->n_start);
    if (!variable->name || !fresh->min || !fresh->max || !fresh->value_min || !fresh->value_max ||
        (info->n_start > 0 && !fresh->start)) {
        entry_destroy(fresh);
        return ec_fail(EC_ERR_MEMORY, "variable '%s': no memory", info->name);
    }
    fill_bounds(fresh, info);
    *entry = fresh;
    return EC_OK;
}

static int entry_build(ec_graph *graph, int32_t owner, ec_job_entry *entry,
                       const ec_variable_info *info)
{
    ec_variable *variable = &entry->variable;

    if (variable->n_genes > 0) {
        variable->genes = ec_graph_owned_variable(graph, owner, info->group, variable->first_gene,
                                                  info->count > 0 ? variable->n_genes : 0,
                                                  entry->min, entry->max);
        if (variable->genes < 0)
            return variable->genes;
    }
    variable->value = decode(graph, entry, info);
    if (variable->value < 0)
        return variable->value;
    for (int32_t i = 0; i < info->n_start; i++) {
        int status =
            ec_job_encode(entry, info->start + (size_t)i * (size_t)value_elements(info),
                          entry->start + (size_t)i * (size_t)variable->n_genes, &entry->moved);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

int ec_job_add_variable(ec_job *job, const ec_variable_info *info)
{
    ec_job_entry *entry = NULL;

    if (!job || !info)
        return ec_fail(EC_ERR_ARGUMENT, "job: a job and a variable are needed");
    int status = check_variable(job, info);
    if (status < 0)
        return status;
    size_t bytes = sizeof *job->variables * ((size_t)job->n_variables + 1);
    ec_job_entry **list = (ec_job_entry **)realloc(job->variables, bytes);
    if (!list)
        return ec_fail(EC_ERR_MEMORY, "variable '%s': no memory", info->name);
    job->variables = list;
    status = entry_create(job, info, &entry);
    if (status < 0)
        return status;
    ec_graph_set_line(job->graph, info->line);
    status = entry_build(job->graph, job->owner, entry, info);
    if (status < 0) {
        entry_destroy(entry);
        return status;
    }
    list[job->n_variables] = entry;
    if (info->group)
        job->n_group_genes += entry->variable.n_genes;
    else
        job->n_genes += entry->variable.n_genes;
    return job->n_variables++;
}

int32_t ec_job_variable_count(const ec_job *job)
{
    return job->n_variables;
}

const ec_variable *ec_job_variable(const ec_job *job, int32_t i)
{
    return i >= 0 && i < job->n_variables ? &job->variables[i]->variable : NULL;
}

int32_t ec_job_gene_count(const ec_job *job)
{
    return job->n_genes;
}

int32_t ec_job_group_gene_count(const ec_job *job)
{
    return job->n_group_genes;
}

void ec_job_gene_bounds(const ec_job *job, bool group, double *min, double *max, bool *integral)
{
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_job_entry *entry = job->variables[v];
        const ec_variable *variable = &entry->variable;
        bool whole = variable->kind != EC_VARIABLE_REAL && variable->kind != EC_VARIABLE_SPACED;
        if (variable->group != group)
            continue;
        for (int32_t i = 0; i < variable->n_genes; i++) {
            int32_t at = variable->first_gene + i;
            if (min)
                min[at] = entry->min[i];
            if (max)
                max[at] = entry->max[i];
            if (integral)
                integral[at] = whole;
        }
    }
}

void ec_job_gene_sets(const ec_job *job, uint32_t *set, uint32_t *ones)
{
    uint32_t sets = 0;

    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_job_entry *entry = job->variables[v];
        const ec_variable *variable = &entry->variable;
        bool together = variable->kind == EC_VARIABLE_BINARY && entry->sum >= 0;
        if (variable->group)
            continue;
        sets += together;
        for (int32_t i = 0; i < variable->n_genes; i++) {
            set[variable->first_gene + i] = together ? sets : 0;
            ones[variable->first_gene + i] = together ? (uint32_t)entry->sum : 0;
        }
    }
}

int32_t ec_job_start_count(const ec_job *job)
{
    int32_t count = 0;

    for (int32_t v = 0; v < job->n_variables; v++)
        if (job->variables[v]->variable.n_genes > 0 && job->variables[v]->n_start > count)
            count = job->variables[v]->n_start;
    return count;
}

void ec_job_start_genes(const ec_job *job, int32_t i, double *genes)
{
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_job_entry *entry = job->variables[v];
        const ec_variable *variable = &entry->variable;
        int32_t n = variable->n_genes;
        if (variable->group || n == 0)
            continue;
        double *to = genes + variable->first_gene;
        if (entry->n_start > 0) {
            int32_t row = i < entry->n_start ? i : entry->n_start - 1;
            memcpy(to, entry->start + (size_t)row * (size_t)n, sizeof *to * (size_t)n);
            continue;
        }
        for (int32_t g = 0; g < n; g++)
            to[g] = entry->min[g] + (entry->max[g] - entry->min[g]) / 2;
    }
}

/* ---- goals ---- */

/* Name of the variable whose genes a node is. */
static const char *variable_name(const ec_job *job, ec_expr genes)
{
    for (int32_t v = 0; v < job->n_variables; v++)
        if (job->variables[v]->variable.genes == genes)
            return job->variables[v]->variable.name;
    return "?";
}

static int check_goal_name(const ec_job *job, const char *what, const char *name)
{
    const char *taken = NULL;

    int status = check_name(job, what, name);
    if (status < 0)
        return status;
    for (int32_t i = 0; i < job->n_objectives; i++)
        if (strcmp(job->objectives[i].name, name) == 0)
            taken = "an objective";
    for (int32_t i = 0; i < job->n_constraints; i++)
        if (strcmp(job->constraints[i].name, name) == 0)
            taken = "a constraint";
    for (int32_t i = 0; i < job->n_records; i++)
        if (strcmp(job->records[i].name, name) == 0)
            taken = "a recorded quantity";
    if (taken)
        return ec_fail(EC_ERR_ARGUMENT, "%s '%s': the name is already that of %s", what, name,
                       taken);
    return EC_OK;
}

int ec_job_check_variables(const ec_job *job, const char *what, ec_expr expr, int32_t n_genes,
                           int32_t n_group_genes)
{
    int32_t count = ec_graph_count(job->graph);
    bool *needed = (bool *)malloc((size_t)count);
    int status = EC_OK;

    if (!needed)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory", what);
    ec_graph_reach(job->graph, 1, &expr, needed);
    for (int32_t i = 0; i < count && status == EC_OK; i++) {
        const ec_node *node = ec_graph_node(job->graph, i);
        if (!needed[i] || node->op != EC_OP_VARIABLE)
            continue;
        bool group = node->axes & EC_AXIS_GROUP;
        if (ec_node_owner(node) != job->owner)
            status = ec_fail(EC_ERR_ARGUMENT,
                             "%s: the expression has a variable of another job (made in line %d); "
                             "a job can use only its own",
                             what, (int)node->line);
        else if (node->par[0] + node->elements > (group ? n_group_genes : n_genes))
            status = ec_fail(EC_ERR_ARGUMENT,
                             "%s: the expression has the variable '%s', which was added after this "
                             "solve",
                             what, variable_name(job, i));
    }
    free(needed);
    return status;
}

static int check_goal(const ec_job *job, const char *what, const char *name, ec_expr expr,
                      bool scalar, bool depends)
{
    int status = check_goal_name(job, what, name);
    if (status < 0)
        return status;
    if (expr < 0 || expr >= ec_graph_count(job->graph))
        return ec_fail(EC_ERR_ARGUMENT, "%s '%s': not an expression of this job", what, name);
    const ec_node *node = ec_graph_node(job->graph, expr);
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        return ec_fail(EC_ERR_TYPE, "%s '%s': the value is complex; take its abs, re, im or arg",
                       what, name);
    if (depends && (node->axes & EC_AXIS_SAMPLE))
        return ec_fail(EC_ERR_SHAPE,
                       "%s '%s': the value varies over the samples of ec.over; reduce it first, "
                       "with :mean(), :max(), :min() or :percentile(p)",
                       what, name);
    if (scalar && node->rank != 0)
        return ec_fail(
            EC_ERR_SHAPE,
            "%s '%s': the value is a list of %d, a number is needed (take its max, sum or "
            "mean)",
            what, name, (int)node->elements);
    if (depends && !(node->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP)))
        return ec_fail(EC_ERR_ARGUMENT,
                       "%s '%s': the value is a constant, no design variable "
                       "changes it",
                       what, name);
    char text[160];
    snprintf(text, sizeof text, "%s '%.100s'", what, name);
    return ec_job_check_variables(job, text, expr, job->n_genes, job->n_group_genes);
}

static int append_goal(ec_goal **goals, int32_t *n, const char *name, ec_expr expr, bool maximize,
                       int32_t line)
{
    ec_goal *list = (ec_goal *)realloc(*goals, sizeof *list * ((size_t)*n + 1));
    if (!list)
        return ec_fail(EC_ERR_MEMORY, "'%s': no memory", name);
    *goals = list;
    list[*n].name = strdup(name);
    if (!list[*n].name)
        return ec_fail(EC_ERR_MEMORY, "'%s': no memory", name);
    list[*n].expr = expr;
    list[*n].maximize = maximize;
    list[*n].line = line;
    ++*n;
    return EC_OK;
}

int ec_job_add_objective(ec_job *job, const char *name, ec_expr expr, bool maximize, int32_t line)
{
    int status = check_goal(job, "objective", name, expr, true, true);
    if (status < 0)
        return status;
    return append_goal(&job->objectives, &job->n_objectives, name, expr, maximize, line);
}

int ec_job_add_record(ec_job *job, const char *name, ec_expr expr, int32_t line)
{
    int status = check_goal(job, "record", name, expr, false, false);
    if (status < 0)
        return status;
    return append_goal(&job->records, &job->n_records, name, expr, false, line);
}

int ec_job_add_constraint(ec_job *job, const char *name, const ec_constraint *constraint)
{
    double min = constraint->min, max = constraint->max;

    int status = check_goal(job, "constraint", name, constraint->expr, false, true);
    if (status < 0)
        return status;
    if (isnan(min) || isnan(max) || min == INFINITY || max == -INFINITY)
        return ec_fail(EC_ERR_RANGE, "constraint '%s': limits min = %g, max = %g can never be met",
                       name, min, max);
    if (min == -INFINITY && max == INFINITY)
        return ec_fail(EC_ERR_ARGUMENT, "constraint '%s': min, max or equal is needed", name);
    if (min > max)
        return ec_fail(EC_ERR_RANGE, "constraint '%s': min (%g) is above max (%g)", name, min, max);
    if (!isfinite(constraint->tolerance) || constraint->tolerance < 0)
        return ec_fail(EC_ERR_RANGE,
                       "constraint '%s': tolerance (%g) must be at least 0 and finite", name,
                       constraint->tolerance);
    if (!isfinite(constraint->scale) || constraint->scale <= 0)
        return ec_fail(EC_ERR_RANGE, "constraint '%s': scale (%g) must be above 0 and finite", name,
                       constraint->scale);
    size_t bytes = sizeof *job->constraints * ((size_t)job->n_constraints + 1);
    ec_constraint *list = (ec_constraint *)realloc(job->constraints, bytes);
    if (!list)
        return ec_fail(EC_ERR_MEMORY, "constraint '%s': no memory", name);
    job->constraints = list;
    ec_constraint fresh = *constraint;
    fresh.name = strdup(name);
    if (!fresh.name)
        return ec_fail(EC_ERR_MEMORY, "constraint '%s': no memory", name);
    list[job->n_constraints++] = fresh;
    return EC_OK;
}

int32_t ec_job_objective_count(const ec_job *job)
{
    return job->n_objectives;
}

const ec_goal *ec_job_objective(const ec_job *job, int32_t i)
{
    return i >= 0 && i < job->n_objectives ? &job->objectives[i] : NULL;
}

int32_t ec_job_constraint_count(const ec_job *job)
{
    return job->n_constraints;
}

const ec_constraint *ec_job_constraint(const ec_job *job, int32_t i)
{
    return i >= 0 && i < job->n_constraints ? &job->constraints[i] : NULL;
}

int32_t ec_job_record_count(const ec_job *job)
{
    return job->n_records;
}

const ec_goal *ec_job_record(const ec_job *job, int32_t i)
{
    return i >= 0 && i < job->n_records ? &job->records[i] : NULL;
}

/* ---- cost and violation ---- */

ec_expr ec_job_on_candidates(ec_job *job, ec_expr expr)
{
    ec_graph *graph = job->graph;

    if (expr < 0 || (ec_graph_node(graph, expr)->axes & EC_AXIS_CANDIDATE))
        return expr;
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        if (variable->group || variable->n_genes == 0)
            continue;
        /* + 0 * gene: genes are finite, so this changes the axes and nothing else. */
        ec_expr gene =
            variable->count > 0 ? ec_graph_slice(graph, variable->genes, 0, 0) : variable->genes;
        ec_expr zero =
            gene < 0 ? gene : ec_graph_binary(graph, EC_OP_MUL, ec_graph_number(graph, 0), gene);
        return zero < 0 ? zero : ec_graph_binary(graph, EC_OP_ADD, expr, zero);
    }
    return ec_fail(EC_ERR_ARGUMENT,
                   "job '%s': every design variable is shared by a group; at least "
                   "one must differ from candidate to candidate",
                   job->name);
}

ec_expr ec_job_cost(ec_job *job, int32_t objective)
{
    const ec_goal *goal = ec_job_objective(job, objective);

    if (!goal)
        return ec_fail(EC_ERR_ARGUMENT, "job '%s': there is no objective %d (it has %d)", job->name,
                       (int)objective + 1, (int)job->n_objectives);
    ec_graph_set_line(job->graph, goal->line);
    ec_expr cost = goal->maximize ? ec_graph_unary(job->graph, EC_OP_NEG, goal->expr) : goal->expr;
    return ec_job_on_candidates(job, cost);
}

/* a above 0, else 0. Not max(a, 0), which would turn a NaN into "met". */
static ec_expr positive_part(ec_graph *graph, ec_expr a)
{
    ec_expr zero = ec_graph_number(graph, 0);

    if (a < 0 || zero < 0)
        return a < 0 ? a : zero;
    ec_expr below = ec_graph_binary(graph, EC_OP_LT, a, zero);
    return below < 0 ? below : ec_graph_where(graph, below, zero, a);
}

static ec_expr subtract(ec_graph *graph, ec_expr a, ec_expr b)
{
    if (a < 0 || b < 0)
        return a < 0 ? a : b;
    return ec_graph_binary(graph, EC_OP_SUB, a, b);
}

ec_expr ec_job_excess(ec_job *job, const ec_constraint *constraint)
{
    ec_graph *graph = job->graph;
    ec_expr excess = -1;

    if (constraint->max < INFINITY)
        excess = positive_part(
            graph, subtract(graph, constraint->expr,
                            ec_graph_number(graph, constraint->max + constraint->tolerance)));
    if (constraint->min > -INFINITY) {
        ec_expr below = positive_part(
            graph, subtract(graph, ec_graph_number(graph, constraint->min - constraint->tolerance),
                            constraint->expr));
        /* At most one of the two is not zero. */
        excess = constraint->max == INFINITY ? below
                 : below < 0 || excess < 0   ? EC_ERR_INTERNAL
                                             : ec_graph_binary(graph, EC_OP_ADD, excess, below);
    }
    return excess;
}

ec_expr ec_job_margin(ec_job *job, const ec_constraint *constraint)
{
    ec_graph *graph = job->graph;
    ec_expr over = -1, under = -1;

    if (constraint->max < INFINITY)
        over = subtract(graph, constraint->expr, ec_graph_number(graph, constraint->max));
    if (constraint->min > -INFINITY)
        under = subtract(graph, ec_graph_number(graph, constraint->min), constraint->expr);
    ec_expr margin = over < 0    ? under
                     : under < 0 ? over
                                 : ec_graph_binary(graph, EC_OP_MAX, over, under);
    if (margin < 0 || ec_graph_node(graph, margin)->rank == 0)
        return margin;
    return ec_graph_unary(graph, EC_OP_RMAX, margin);
}

ec_expr ec_job_violation(ec_job *job)
{
    ec_graph *graph = job->graph;
    ec_expr total = -1;

    for (int32_t i = 0; i < job->n_constraints; i++) {
        const ec_constraint *constraint = &job->constraints[i];
        ec_graph_set_line(graph, constraint->line);
        ec_expr excess = ec_job_excess(job, constraint);
        if (excess >= 0 && ec_graph_node(graph, excess)->rank > 0)
            excess = ec_graph_unary(graph, EC_OP_SUM, excess);
        if (excess >= 0 && constraint->scale != 1)
            excess = ec_graph_binary(graph, EC_OP_DIV, excess,
                                     ec_graph_number(graph, constraint->scale));
        if (excess >= 0)
            excess = ec_job_on_candidates(job, excess);
        if (excess < 0)
            return excess;
        total = total < 0 ? excess : ec_graph_binary(graph, EC_OP_ADD, total, excess);
        if (total < 0)
            return total;
    }
    return total;
}
