/* sweep_plan.c: which designs a sweep has. */
#include "job_internal.h"
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "sweep: no memory for the plan");
}

/* ---- life ---- */

void ec_sweep_plan_destroy(ec_sweep_plan **handle)
{
    ec_sweep_plan *plan = handle ? *handle : NULL;

    if (!plan)
        return;
    for (int32_t i = 0; i < plan->n_axes; i++) {
        if (plan->axis_name)
            free(plan->axis_name[i]);
        if (plan->axis_value)
            free(plan->axis_value[i]);
    }
    free(plan->axis_name);
    free(plan->axis_value);
    free(plan->axis_length);
    free(plan->base);
    free(plan->varied);
    free(plan->genes);
    free(plan);
    *handle = NULL;
}

static size_t gene_place(const ec_job *job, const ec_variable *variable)
{
    return (size_t)variable->first_gene + (variable->group ? (size_t)job->n_genes : 0);
}

/* First start design, or the middle of the bounds; of integers a whole number. */
static int fill_base(const ec_job *job, double *base)
{
    size_t n_group = (size_t)job->n_group_genes;
    double *max = (double *)malloc(sizeof(double) * (n_group + 1));

    if (!max)
        return no_memory();
    double *group = base + job->n_genes;
    ec_job_gene_bounds(job, true, group, max, NULL);
    for (size_t i = 0; i < n_group; i++)
        group[i] += (max[i] - group[i]) / 2;
    free(max);
    ec_job_start_genes(job, 0, base);
    return EC_OK;
}

/* n designs, of which the genes that are marked vary. */
static int plan_create(const ec_job *job, size_t n, const bool *varies, ec_sweep_plan **plan)
{
    int32_t width = job->n_genes + job->n_group_genes;
    ec_sweep_plan *fresh = (ec_sweep_plan *)calloc(1, sizeof *fresh);

    if (!fresh)
        return no_memory();
    fresh->n = n;
    fresh->width = width;
    for (int32_t i = 0; i < width; i++)
        fresh->n_varied += varies[i];
    fresh->base = (double *)calloc((size_t)width + 1, sizeof(double));
    fresh->varied = (int32_t *)malloc(sizeof(int32_t) * ((size_t)fresh->n_varied + 1));
    fresh->genes = (double *)malloc(sizeof(double) * ((size_t)fresh->n_varied * n + 1));
    int status =
        fresh->base && fresh->varied && fresh->genes ? fill_base(job, fresh->base) : no_memory();
    if (status < 0) {
        ec_sweep_plan_destroy(&fresh);
        return status;
    }
    for (int32_t i = 0, k = 0; i < width; i++)
        if (varies[i])
            fresh->varied[k++] = i;
    *plan = fresh;
    return EC_OK;
}

/* The column of a gene that varies. */
static double *plan_column(const ec_sweep_plan *plan, size_t gene)
{
    int32_t k = 0;

    while ((size_t)plan->varied[k] != gene)
        k++;
    return plan->genes + (size_t)k * plan->n;
}

/* ---- axes ---- */

/* An axis as genes: `n_genes` of them from `first` on, [n][n_genes]. */
typedef struct gene_axis {
    size_t first, n_genes, n;
    double *genes;
} gene_axis;

static bool is_whole(const ec_job_entry *entry)
{
    return entry->variable.kind == EC_VARIABLE_SPACED || entry->distinct || entry->sum >= 0;
}

static const char *why_whole(const ec_job_entry *entry)
{
    return entry->variable.kind == EC_VARIABLE_SPACED ? "its positions keep a gap"
           : entry->distinct                          ? "no item occurs twice"
                                                      : "it has a sum";
}

static int32_t elements_of(const ec_job_entry *entry)
{
    return entry->variable.count > 0 ? entry->variable.count : 1;
}

static void axis_name(const ec_job *job, const ec_sweep_axis *axis, char *text, size_t size)
{
    const char *name = job->variables[axis->variable]->variable.name;

    if (axis->element < 0)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s[%d]", name, (int)axis->element + 1);
}

/* A list has a column for every element that it gives, a grid may have whole designs of a variable. */
static int check_axis(const ec_job *job, const ec_sweep_axis *axes, int32_t i, bool list)
{
    const ec_sweep_axis *axis = &axes[i];
    char name[200];

    if (axis->variable < 0 || axis->variable >= job->n_variables)
        return ec_fail(EC_ERR_ARGUMENT, "sweep: job '%s' has no variable %d", job->name,
                       (int)axis->variable + 1);
    const ec_job_entry *entry = job->variables[axis->variable];
    axis_name(job, axis, name, sizeof name);
    if (axis->element >= elements_of(entry) || (axis->element >= 0 && entry->variable.count == 0))
        return ec_fail(EC_ERR_ARGUMENT, "sweep: there is no %s: '%s' %s", name,
                       entry->variable.name,
                       entry->variable.count == 0 ? "is a single number" : "is shorter");
    if (list && axis->element < 0 && entry->variable.count > 0)
        return ec_fail(EC_ERR_ARGUMENT,
                       "sweep: '%s' is a list: its columns are %s[1] to %s[%d], each by itself",
                       name, name, name, (int)entry->variable.count);
    if (list && axis->n != axes[0].n)
        return ec_fail(EC_ERR_SHAPE, "sweep: columns of %d and %d values", (int)axes[0].n,
                       (int)axis->n);
    if (!list && axis->element >= 0 && is_whole(entry))
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "sweep: %s cannot vary by itself (%s): give whole designs of '%s'", name,
                       why_whole(entry), entry->variable.name);
    if (axis->n < 1 || !axis->values)
        return ec_fail(EC_ERR_ARGUMENT, "sweep: '%s' has no values", name);
    for (int32_t k = 0; k < i; k++)
        if (axes[k].variable == axis->variable &&
            (axes[k].element == axis->element || axes[k].element < 0 || axis->element < 0))
            return ec_fail(EC_ERR_ARGUMENT, "sweep: '%s' is given twice", name);
    return EC_OK;
}

/* Genes of a variable's values, which must lie inside its bounds. */
static int encode_inside(const ec_job_entry *entry, const double *value, double *genes)
{
    ec_job_moved moved = {0, 0, 0, 0};

    int status = ec_job_encode(entry, value, genes, &moved);
    if (status == EC_OK && moved.count > 0)
        return ec_fail(EC_ERR_RANGE,
                       "variable '%s': value %.14g lies outside its bounds, %.14g to %.14g",
                       entry->variable.name, moved.value, entry->value_min[moved.element],
                       entry->value_max[moved.element]);
    return status;
}

/* Values of one design of an axis as genes; `list` has room for all elements and genes of the
 * variable. */
static int encode_axis(const ec_job *job, const ec_sweep_axis *axis, int32_t i, double *list,
                       double *genes)
{
    const ec_job_entry *entry = job->variables[axis->variable];
    int32_t n = elements_of(entry);

    if (axis->element < 0)
        return encode_inside(entry, axis->values + (size_t)i * (size_t)n, genes);
    /* elements of such a variable are encoded each by itself */
    for (int32_t k = 0; k < n; k++)
        list[k] = entry->value_min[k];
    list[axis->element] = axis->values[i];
    int status = encode_inside(entry, list, list + n);
    genes[0] = list[n + axis->element];
    return status;
}

/* Puts the number of a design of a list before the sentence of an error. */
static void add_design(size_t i)
{
    char text[400];

    snprintf(text, sizeof text, "%s", ec_error_text());
    ec_fail(EC_ERR_RANGE, "sweep: design %zu: %s", i + 1, text);
}

static int gene_axis_create(const ec_job *job, const ec_sweep_axis *axis, bool list, gene_axis *to)
{
    const ec_job_entry *entry = job->variables[axis->variable];
    const ec_variable *variable = &entry->variable;
    double *room = (double *)malloc(sizeof(double) * 2 * (size_t)elements_of(entry));

    to->n = (size_t)axis->n;
    to->first = gene_place(job, variable) + (axis->element > 0 ? (size_t)axis->element : 0);
    to->n_genes = axis->element < 0 ? (size_t)variable->n_genes : 1;
    to->genes = (double *)malloc(sizeof(double) * (to->n * to->n_genes + 1));
    int status = room && to->genes ? EC_OK : no_memory();
    for (int32_t i = 0; i < axis->n && status == EC_OK; i++) {
        status = encode_axis(job, axis, i, room, to->genes + (size_t)i * to->n_genes);
        if (status < 0 && list)
            add_design((size_t)i);
    }
    free(room);
    return status;
}

static void gene_axes_release(gene_axis *axes, int32_t n)
{
    for (int32_t i = 0; axes && i < n; i++)
        free(axes[i].genes);
    free(axes);
}

/* Axes as genes, and the plan that they vary. */
static int begin_axes(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes, double designs,
                      gene_axis **genes, ec_sweep_plan **plan)
{
    int status = EC_OK;

    if (designs > EC_SWEEP_ROWS_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "sweep: %.6g designs are too many, allowed are %d", designs,
                       (int)EC_SWEEP_ROWS_MAX);
    *genes = (gene_axis *)calloc((size_t)n_axes + 1, sizeof **genes);
    bool *varies = (bool *)calloc((size_t)(job->n_genes + job->n_group_genes) + 1, sizeof *varies);
    if (!*genes || !varies)
        status = no_memory();
    for (int32_t i = 0; i < n_axes && status == EC_OK; i++)
        status = gene_axis_create(job, &axes[i], false, &(*genes)[i]);
    for (int32_t i = 0; i < n_axes && status == EC_OK; i++)
        for (size_t g = 0; g < (*genes)[i].n_genes; g++)
            varies[(*genes)[i].first + g] = true;
    if (status == EC_OK)
        status = plan_create(job, (size_t)designs, varies, plan);
    free(varies);
    return status;
}

static int check_axes(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes, bool list)
{
    if (n_axes < 1)
        return ec_fail(EC_ERR_ARGUMENT, "sweep: no variable is named");
    for (int32_t i = 0; i < n_axes; i++) {
        int status = check_axis(job, axes, i, list);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

/* Design i + k of a column gets value (i / repeat) % n of the axis. */
static void spread_axis(const ec_sweep_plan *plan, const gene_axis *axis, size_t repeat)
{
    for (size_t g = 0; g < axis->n_genes; g++) {
        double *to = plan_column(plan, axis->first + g);
        for (size_t i = 0, k = 0; i < plan->n; k = k + 1 < axis->n ? k + 1 : 0)
            for (size_t r = 0; r < repeat; r++, i++)
                to[i] = axis->genes[k * axis->n_genes + g];
    }
}

static int describe_axes(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                         ec_sweep_plan *plan)
{
    size_t n = (size_t)n_axes;

    plan->n_axes = n_axes;
    plan->axis_length = (size_t *)calloc(n, sizeof *plan->axis_length);
    plan->axis_name = (char **)calloc(n, sizeof *plan->axis_name);
    plan->axis_value = (double **)calloc(n, sizeof *plan->axis_value);
    if (!plan->axis_length || !plan->axis_name || !plan->axis_value)
        return no_memory();
    for (int32_t i = 0; i < n_axes; i++) {
        const ec_sweep_axis *axis = &axes[i];
        size_t bytes = sizeof(double) * (size_t)axis->n;
        bool single = axis->element >= 0 || job->variables[axis->variable]->variable.count == 0;
        char name[200];
        axis_name(job, axis, name, sizeof name);
        plan->axis_length[i] = (size_t)axis->n;
        plan->axis_name[i] = strdup(name);
        if (single)
            plan->axis_value[i] = (double *)malloc(bytes);
        if (!plan->axis_name[i] || (single && !plan->axis_value[i]))
            return no_memory();
        if (single)
            memcpy(plan->axis_value[i], axis->values, bytes);
    }
    return EC_OK;
}

int ec_sweep_grid(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                  ec_sweep_plan **plan)
{
    gene_axis *genes = NULL;
    double designs = 1;
    ec_sweep_plan *fresh = NULL;

    int status = check_axes(job, n_axes, axes, false);
    for (int32_t i = 0; i < n_axes; i++)
        designs *= axes[i].n;
    if (status == EC_OK)
        status = begin_axes(job, n_axes, axes, designs, &genes, &fresh);
    if (status == EC_OK)
        status = describe_axes(job, n_axes, axes, fresh);
    size_t repeat = 1;
    for (int32_t i = n_axes - 1; i >= 0 && status == EC_OK; i--) {
        spread_axis(fresh, &genes[i], repeat);
        repeat *= genes[i].n;
    }
    gene_axes_release(genes, n_axes);
    if (status < 0)
        ec_sweep_plan_destroy(&fresh);
    else
        *plan = fresh;
    return status;
}

int ec_sweep_one_at_a_time(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                           ec_sweep_plan **plan)
{
    gene_axis *genes = NULL;
    double designs = 1;
    ec_sweep_plan *fresh = NULL;

    int status = check_axes(job, n_axes, axes, false);
    for (int32_t i = 0; i < n_axes; i++)
        designs += axes[i].n;
    if (status == EC_OK)
        status = begin_axes(job, n_axes, axes, designs, &genes, &fresh);
    for (int32_t k = 0; status == EC_OK && k < fresh->n_varied; k++)
        for (size_t i = 0; i < fresh->n; i++)
            fresh->genes[(size_t)k * fresh->n + i] = fresh->base[fresh->varied[k]];
    size_t at = 1;
    for (int32_t a = 0; a < n_axes && status == EC_OK; a++) {
        const gene_axis *axis = &genes[a];
        for (size_t g = 0; g < axis->n_genes; g++) {
            double *to = plan_column(fresh, axis->first + g);
            for (size_t i = 0; i < axis->n; i++)
                to[at + i] = axis->genes[i * axis->n_genes + g];
        }
        at += axis->n;
    }
    gene_axes_release(genes, n_axes);
    if (status < 0)
        ec_sweep_plan_destroy(&fresh);
    else
        *plan = fresh;
    return status;
}

/* ---- lists ---- */

/* Columns of one variable as one axis of whole designs: elements without a column are its base's,
 * which needs every element where they depend on each other. */
static int join_columns(const ec_job *job, int32_t variable, int32_t n_axes,
                        const ec_sweep_axis *axes, double *values)
{
    const ec_job_entry *entry = job->variables[variable];
    int32_t n = elements_of(entry), given = 0;

    for (int32_t a = 0; a < n_axes; a++) {
        if (axes[a].variable != variable)
            continue;
        size_t element = axes[a].element > 0 ? (size_t)axes[a].element : 0;
        for (int32_t i = 0; i < axes[a].n; i++)
            values[(size_t)i * (size_t)n + element] = axes[a].values[i];
        given++;
    }
    if (given < n)
        return ec_fail(EC_ERR_ARGUMENT,
                       "sweep: '%s' has %d elements, %d of them have a column: all are needed, for "
                       "%s",
                       entry->variable.name, (int)n, (int)given, why_whole(entry));
    return EC_OK;
}

/* The genes of a variable that varies as a whole. */
static int list_whole(const ec_job *job, int32_t variable, int32_t n_axes,
                      const ec_sweep_axis *axes, const ec_sweep_plan *plan)
{
    const ec_job_entry *entry = job->variables[variable];
    size_t n = (size_t)elements_of(entry), n_genes = (size_t)entry->variable.n_genes;
    double *values = (double *)malloc(sizeof(double) * n * plan->n);
    double *genes = (double *)malloc(sizeof(double) * (n_genes + 1));
    int status = values && genes ? join_columns(job, variable, n_axes, axes, values) : no_memory();

    for (size_t i = 0; i < plan->n && status == EC_OK; i++) {
        status = encode_inside(entry, values + i * n, genes);
        if (status < 0)
            add_design(i);
        for (size_t g = 0; g < n_genes && status == EC_OK; g++)
            plan_column(plan, gene_place(job, &entry->variable) + g)[i] = genes[g];
    }
    free(values);
    free(genes);
    return status;
}

static int list_column(const ec_job *job, const ec_sweep_axis *axis, const ec_sweep_plan *plan)
{
    gene_axis genes = {0, 0, 0, NULL};

    int status = gene_axis_create(job, axis, true, &genes);
    if (status == EC_OK)
        spread_axis(plan, &genes, 1);
    free(genes.genes);
    return status;
}

int ec_sweep_list(const ec_job *job, int32_t n_axes, const ec_sweep_axis *axes,
                  ec_sweep_plan **plan)
{
    ec_sweep_plan *fresh = NULL;

    int status = check_axes(job, n_axes, axes, true);
    bool *varies = (bool *)calloc((size_t)(job->n_genes + job->n_group_genes) + 1, sizeof *varies);
    if (status == EC_OK && !varies)
        status = no_memory();
    for (int32_t a = 0; a < n_axes && status == EC_OK; a++) {
        const ec_job_entry *entry = job->variables[axes[a].variable];
        size_t first = gene_place(job, &entry->variable), n = 1;
        if (is_whole(entry))
            n = (size_t)entry->variable.n_genes;
        else
            first += axes[a].element > 0 ? (size_t)axes[a].element : 0;
        for (size_t g = 0; g < n; g++)
            varies[first + g] = true;
    }
    if (status == EC_OK)
        status = plan_create(job, (size_t)axes[0].n, varies, &fresh);
    free(varies);
    for (int32_t a = 0; a < n_axes && status == EC_OK; a++) {
        bool first = true; /* of its variable's columns */
        for (int32_t k = 0; k < a; k++)
            first = first && axes[k].variable != axes[a].variable;
        if (!is_whole(job->variables[axes[a].variable]))
            status = list_column(job, &axes[a], fresh);
        else if (first)
            status = list_whole(job, axes[a].variable, n_axes, axes, fresh);
    }
    if (status < 0)
        ec_sweep_plan_destroy(&fresh);
    else
        *plan = fresh;
    return status;
}

/* ---- points of the unit cube ---- */

/* Genes that the variables have, in the order of the job. */
static int mark_genes(const ec_job *job, int32_t n_variables, const int32_t *variables,
                      bool *varies, int32_t *count)
{
    *count = 0;
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        bool named = !variables;
        for (int32_t i = 0; i < n_variables && variables; i++)
            named = named || variables[i] == v;
        for (int32_t g = 0; g < variable->n_genes && named; g++)
            varies[gene_place(job, variable) + (size_t)g] = true;
        *count += named ? variable->n_genes : 0;
    }
    if (*count == 0)
        return ec_fail(EC_ERR_ARGUMENT, "sweep: job '%s' has no variable that could vary",
                       job->name);
    return EC_OK;
}

/* info: draws the points; else they are given. */
static int plan_points(const ec_job *job, int32_t n_variables, const int32_t *variables, size_t n,
                       const ec_sampling_info *info, const double *points, ec_sweep_plan **plan)
{
    int32_t width = job->n_genes + job->n_group_genes, dimensions = 0;
    double *bounds = (double *)malloc(sizeof(double) * 2 * ((size_t)width + 1));
    bool *varies = (bool *)calloc((size_t)width + 1, sizeof *varies);
    ec_sweep_plan *fresh = NULL;
    int status = bounds && varies ? EC_OK : no_memory();

    if (status == EC_OK && (n < 1 || n > EC_SWEEP_ROWS_MAX))
        status = ec_fail(EC_ERR_ARGUMENT, "sweep: %zu designs, allowed are 1 to %d", n,
                         (int)EC_SWEEP_ROWS_MAX);
    if (status == EC_OK)
        status = mark_genes(job, n_variables, variables, varies, &dimensions);
    if (status == EC_OK)
        status = plan_create(job, n, varies, &fresh);
    if (status == EC_OK && info) {
        ec_sampling_info whole = *info;
        whole.dimensions = dimensions;
        status = ec_sampling_fill(&whole, fresh->genes);
    } else if (status == EC_OK) {
        memcpy(fresh->genes, points, sizeof(double) * n * (size_t)dimensions);
    }
    if (status == EC_OK) {
        double *min = bounds, *max = bounds + width;
        ec_job_gene_bounds(job, false, min, max, NULL);
        ec_job_gene_bounds(job, true, min + job->n_genes, max + job->n_genes, NULL);
        for (int32_t k = 0; k < fresh->n_varied; k++) {
            double lo = min[fresh->varied[k]], hi = max[fresh->varied[k]];
            double *gene = fresh->genes + (size_t)k * n;
            for (size_t i = 0; i < n; i++)
                gene[i] = fmin(lo + (hi - lo) * gene[i], hi);
        }
    }
    free(bounds);
    free(varies);
    if (status < 0)
        ec_sweep_plan_destroy(&fresh);
    else
        *plan = fresh;
    return status;
}

int ec_sweep_sample(const ec_job *job, const ec_sampling_info *info, int32_t n_variables,
                    const int32_t *variables, ec_sweep_plan **plan)
{
    return plan_points(job, n_variables, variables, info->n, info, NULL, plan);
}

int ec_sweep_points(const ec_job *job, int32_t n_variables, const int32_t *variables, size_t n,
                    const double *points, ec_sweep_plan **plan)
{
    return plan_points(job, n_variables, variables, n, NULL, points, plan);
}
