/* sensitivity.c: designs for Morris' and Sobol's measures, and their estimators. */
#include "sensitivity.h"
#include "job_internal.h"
#include "output.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_DEFAULT = 1024, TRAJECTORIES_DEFAULT = 20, LEVELS_DEFAULT = 4, RESAMPLES = 200 };
enum { PURPOSE_TRAJECTORY = 16, PURPOSE_BOOTSTRAP }; /* not those of the points */
static const double half_width = 1.96;               /* of 95 %, in standard deviations */

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "sensitivity: no memory");
}

/* ---- factors ---- */

static bool is_named(const ec_sensitivity_info *info, int32_t v)
{
    bool named = !info->variables;

    for (int32_t i = 0; i < info->n_variables && info->variables; i++)
        named = named || info->variables[i] == v;
    return named;
}

static int check_factors(const ec_job *job, const ec_sensitivity_info *info, int32_t *count)
{
    *count = 0;
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_job_entry *entry = job->variables[v];
        const ec_variable *variable = &entry->variable;
        if (!is_named(info, v))
            continue;
        bool dependent = variable->kind == EC_VARIABLE_SPACED || entry->sum >= 0 ||
                         (entry->distinct && variable->n_genes > 1);
        if (dependent)
            return ec_fail(EC_ERR_UNSUPPORTED,
                           "sensitivity: elements of '%s' depend on each other, these methods need "
                           "independent variables: name others in variables",
                           variable->name);
        *count += variable->n_genes;
    }
    if (*count == 0)
        return ec_fail(EC_ERR_ARGUMENT, "sensitivity: no variable varies");
    return EC_OK;
}

static size_t block_count(const ec_sensitivity_info *info)
{
    if (info->method == EC_SENSITIVITY_MORRIS)
        return info->trajectories ? info->trajectories : TRAJECTORIES_DEFAULT;
    return info->points ? info->points : POINTS_DEFAULT;
}

static size_t block_size(const ec_sensitivity_info *info, int32_t factors)
{
    return (size_t)factors + (info->method == EC_SENSITIVITY_MORRIS ? 1 : 2);
}

size_t ec_sensitivity_rows(const ec_job *job, const ec_sensitivity_info *info)
{
    int32_t factors = 0;

    for (int32_t v = 0; v < job->n_variables; v++)
        factors += is_named(info, v) ? job->variables[v]->variable.n_genes : 0;
    return block_count(info) * block_size(info, factors);
}

/* ---- designs ---- */

/* How a trajectory moves: the order of its factors, where each begins and whether it goes up. */
typedef struct trajectory {
    int32_t *order, *begin;
    bool *up;
} trajectory;

static void draw_trajectory(const ec_sensitivity_info *info, int32_t factors, int32_t levels,
                            size_t t, trajectory *to)
{
    ec_random_stream stream = ec_random_make(info->seed, (uint32_t)t, PURPOSE_TRAJECTORY, 0);

    for (int32_t i = 0; i < factors; i++) {
        uint32_t words[4];
        ec_random_words(&stream, 0, (uint32_t)i, words);
        int32_t low = (int32_t)ec_uniform_below(words[0], (uint32_t)levels / 2);
        int32_t k = (int32_t)ec_uniform_below(words[2], (uint32_t)i + 1);
        to->up[i] = words[1] >> 31;
        to->begin[i] = to->up[i] ? low : low + levels / 2;
        to->order[i] = to->order[k];
        to->order[k] = i;
    }
}

static int trajectory_create(trajectory *t, int32_t factors)
{
    t->order = (int32_t *)malloc(sizeof(int32_t) * (size_t)factors);
    t->begin = (int32_t *)malloc(sizeof(int32_t) * (size_t)factors);
    t->up = (bool *)malloc(sizeof(bool) * (size_t)factors);
    return t->order && t->begin && t->up ? EC_OK : no_memory();
}

static void trajectory_release(trajectory *t)
{
    free(t->order);
    free(t->begin);
    free(t->up);
}

static int32_t level_count(const ec_sensitivity_info *info)
{
    return info->levels ? info->levels : LEVELS_DEFAULT;
}

/* points: [factors][n] */
static int fill_morris(const ec_sensitivity_info *info, int32_t factors, size_t n, double *points)
{
    int32_t levels = level_count(info);
    size_t size = block_size(info, factors);
    trajectory t = {NULL, NULL, NULL};

    int status = trajectory_create(&t, factors);
    for (size_t b = 0; b < block_count(info) && status == EC_OK; b++) {
        draw_trajectory(info, factors, levels, b, &t);
        for (int32_t step = 0; step < factors; step++) {
            int32_t i = t.order[step], at = t.begin[i];
            double *row = points + (size_t)i * n + b * size;
            int32_t after = t.up[i] ? at + levels / 2 : at - levels / 2;
            for (size_t k = 0; k < size; k++)
                row[k] = (k <= (size_t)step ? at : after) / (levels - 1.0);
        }
    }
    trajectory_release(&t);
    return status;
}

static int fill_sobol(const ec_sensitivity_info *info, int32_t factors, size_t n, double *points)
{
    size_t blocks = block_count(info), size = block_size(info, factors);
    ec_sampling_info sampling = {
        .method = EC_SAMPLING_SOBOL, .dimensions = 2 * factors, .n = blocks, .seed = info->seed};
    double *drawn = (double *)malloc(sizeof(double) * 2 * (size_t)factors * blocks);

    int status = drawn ? ec_sampling_fill(&sampling, drawn) : no_memory();
    for (int32_t i = 0; i < factors && status == EC_OK; i++) {
        const double *a = drawn + (size_t)i * blocks, *b = drawn + (size_t)(factors + i) * blocks;
        for (size_t k = 0; k < blocks; k++) {
            double *row = points + (size_t)i * n + k * size;
            for (size_t r = 0; r < size; r++)
                row[r] = r == 1 || r == (size_t)i + 2 ? b[k] : a[k];
        }
    }
    free(drawn);
    return status;
}

int ec_sensitivity_plan(const ec_job *job, const ec_sensitivity_info *info, ec_sweep_plan **plan)
{
    bool morris = info->method == EC_SENSITIVITY_MORRIS;
    int32_t factors = 0, levels = level_count(info);

    int status = check_factors(job, info, &factors);
    if (status < 0)
        return status;
    if (morris && (levels < 2 || levels > 1000 || levels % 2))
        return ec_fail(EC_ERR_ARGUMENT,
                       "sensitivity: %d levels, an even number from 2 to 1000 is needed",
                       (int)levels);
    if (block_count(info) < 2)
        return ec_fail(EC_ERR_ARGUMENT, "sensitivity: %zu %s, at least 2 are needed",
                       block_count(info), morris ? "trajectories" : "points");
    double designs = (double)block_count(info) * (double)block_size(info, factors);
    if (designs > EC_SWEEP_ROWS_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "sensitivity: %.6g designs are too many, allowed are %d",
                       designs, (int)EC_SWEEP_ROWS_MAX);
    size_t n = (size_t)designs;
    double *points = (double *)malloc(sizeof(double) * n * (size_t)factors);
    if (!points)
        return no_memory();
    status = morris ? fill_morris(info, factors, n, points) : fill_sobol(info, factors, n, points);
    if (status == EC_OK)
        status = ec_sweep_points(job, info->n_variables, info->variables, n, points, plan);
    free(points);
    return status;
}

/* ---- estimators ---- */

/* Blocks of one output whose designs all have a value; returns how many. */
static size_t keep_blocks(const ec_sweep *s, int32_t column, size_t blocks, size_t size,
                          size_t *kept)
{
    size_t n = 0;

    for (size_t b = 0; b < blocks; b++) {
        bool good = true;
        for (size_t k = 0; k < size && good; k++) {
            size_t i = b * size + k;
            good = s->state[i] != EC_SWEEP_OPEN && s->status[i] == 0 &&
                   (column < 0 || isfinite(ec_sweep_value(s, column, i)));
        }
        if (good)
            kept[n++] = b;
    }
    return n;
}

typedef struct estimate {
    const ec_sensitivity_info *info;
    const ec_sweep *s;
    int32_t column, factors;
    size_t size, n, *kept; /* kept blocks */
} estimate;

static double at(const estimate *e, size_t block, size_t k)
{
    return ec_sweep_value(e->s, e->column, block * e->size + k);
}

/* mu, mu_star and sigma of each factor, [factors] each. */
static int morris_effects(const estimate *e, double *mu, double *star, double *sigma)
{
    int32_t levels = level_count(e->info);
    double delta = levels / (2 * (levels - 1.0));
    trajectory t = {NULL, NULL, NULL};

    int status = trajectory_create(&t, e->factors);
    for (int32_t i = 0; i < e->factors; i++)
        mu[i] = star[i] = sigma[i] = e->n > 0 ? 0 : (double)NAN;
    /* twice: the mean, then deviations from it */
    for (int pass = 0; pass < 2 && status == EC_OK; pass++) {
        for (size_t b = 0; b < e->n; b++) {
            draw_trajectory(e->info, e->factors, levels, e->kept[b], &t);
            for (int32_t step = 0; step < e->factors; step++) {
                int32_t i = t.order[step];
                double change =
                    at(e, e->kept[b], (size_t)step + 1) - at(e, e->kept[b], (size_t)step);
                double effect = change / (t.up[i] ? delta : -delta);
                if (pass == 0) {
                    mu[i] += effect / (double)e->n;
                    star[i] += fabs(effect) / (double)e->n;
                } else {
                    sigma[i] += (effect - mu[i]) * (effect - mu[i]);
                }
            }
        }
    }
    for (int32_t i = 0; i < e->factors; i++)
        sigma[i] = e->n > 1 ? sqrt(sigma[i] / (double)(e->n - 1)) : (double)NAN;
    trajectory_release(&t);
    return status;
}

/* First-order indices as Saltelli and others (2010, table 2, b) estimate them, which gives 0 exactly where
 * an input does nothing, and Jansen's total indices, over the blocks pick[n]. */
static void indices_of(const estimate *e, const size_t *pick, double *first, double *total)
{
    double mean = 0, variance = 0, n = (double)e->n;

    for (size_t b = 0; b < e->n; b++)
        mean += (at(e, pick[b], 0) + at(e, pick[b], 1)) / (2 * n);
    for (size_t b = 0; b < e->n; b++)
        for (size_t k = 0; k < 2; k++)
            variance += (at(e, pick[b], k) - mean) * (at(e, pick[b], k) - mean) / (2 * n);
    for (int32_t i = 0; i < e->factors; i++) {
        double from_a = 0, from_b = 0;
        for (size_t b = 0; b < e->n; b++) {
            double mixed = at(e, pick[b], (size_t)i + 2);
            double a = at(e, pick[b], 0) - mixed;
            from_a += a * a / n;
            from_b -= (at(e, pick[b], 1) - mean) * a / n;
        }
        /* an output that does not vary depends on nothing */
        bool varies = e->n > 1 && variance > 0;
        first[i] = varies ? from_b / variance : (double)NAN;
        total[i] = varies ? from_a / (2 * variance) : (double)NAN;
    }
}

/* [factors] each; the half widths from samples of the blocks with replacement. */
static int sobol_indices(const estimate *e, double *first, double *first_half, double *total,
                         double *total_half)
{
    size_t factors = (size_t)e->factors;
    size_t *pick = (size_t *)malloc(sizeof *pick * (e->n + 1));
    double *again = (double *)malloc(sizeof *again * 2 * factors);
    double *sums = (double *)calloc(4 * factors, sizeof *sums);

    if (!pick || !again || !sums) {
        free(pick);
        free(again);
        free(sums);
        return no_memory();
    }
    indices_of(e, e->kept, first, total);
    for (uint32_t r = 0; r < RESAMPLES && e->n > 1; r++) {
        ec_random_stream stream = ec_random_make(e->info->seed, r, PURPOSE_BOOTSTRAP, 0);
        for (size_t b = 0; b < e->n; b++) {
            uint32_t words[4];
            ec_random_words(&stream, 0, (uint32_t)b, words);
            pick[b] = e->kept[ec_uniform_below(words[0], (uint32_t)e->n)];
        }
        indices_of(e, pick, again, again + factors);
        for (size_t i = 0; i < 2 * factors; i++) {
            double off = again[i] - (i < factors ? first[i] : total[i - factors]);
            sums[2 * i] += off;
            sums[2 * i + 1] += off * off;
        }
    }
    for (size_t i = 0; i < 2 * factors; i++) {
        double mean = sums[2 * i] / RESAMPLES;
        double variance = (sums[2 * i + 1] - RESAMPLES * mean * mean) / (RESAMPLES - 1);
        double half = e->n > 1 ? half_width * sqrt(fmax(variance, 0)) : (double)NAN;
        *(i < factors ? &first_half[i] : &total_half[i - factors]) = half;
    }
    free(pick);
    free(again);
    free(sums);
    return EC_OK;
}

/* ---- results ---- */

void ec_sensitivity_destroy(ec_sensitivity **handle)
{
    ec_sensitivity *r = handle ? *handle : NULL;

    if (!r)
        return;
    for (int32_t i = 0; r->factor && i < r->n_factors; i++)
        free(r->factor[i]);
    for (int32_t o = 0; r->output_name && o < r->n_outputs; o++)
        free(r->output_name[o]);
    free(r->factor);
    free(r->output_name);
    free(r->output);
    for (int m = 0; m < EC_SENSITIVITY_MEASURES; m++)
        free(r->value[m]);
    free(r);
    *handle = NULL;
}

/* Names of the genes that vary. */
static int name_factors(const ec_job *job, const ec_sweep_plan *plan, ec_sensitivity *r)
{
    for (int32_t k = 0; k < plan->n_varied; k++) {
        char text[300] = "";
        for (int32_t v = 0; v < job->n_variables; v++) {
            const ec_variable *variable = &job->variables[v]->variable;
            int32_t first = variable->first_gene + (variable->group ? job->n_genes : 0);
            int32_t element = plan->varied[k] - first;
            if (element < 0 || element >= variable->n_genes)
                continue;
            if (variable->count > 0)
                snprintf(text, sizeof text, "%s[%d]", variable->name, (int)element + 1);
            else
                snprintf(text, sizeof text, "%s", variable->name);
        }
        r->factor[k] = strdup(text);
        if (!r->factor[k])
            return no_memory();
    }
    return EC_OK;
}

static int result_create(const ec_sensitivity_info *info, const ec_sweep_plan *plan,
                         const ec_sweep *s, ec_sensitivity **result)
{
    static const char *const names[2][EC_SENSITIVITY_MEASURES] = {
        [EC_SENSITIVITY_SOBOL] = {"S1", "S1_conf", "ST", "ST_conf"},
        [EC_SENSITIVITY_MORRIS] = {"mu", "mu_star", "sigma", NULL}};
    ec_sensitivity *r = (ec_sensitivity *)calloc(1, sizeof *r);

    if (!r)
        return no_memory();
    *result = r;
    r->method = info->method;
    r->n_factors = plan->n_varied;
    r->n_outputs = s->n_columns - s->n_variable_columns;
    r->n_measures = info->method == EC_SENSITIVITY_MORRIS ? 3 : 4;
    size_t n = (size_t)r->n_outputs * (size_t)r->n_factors;
    r->factor = (char **)calloc((size_t)r->n_factors, sizeof *r->factor);
    r->output = (int32_t *)malloc(sizeof *r->output * (size_t)r->n_outputs);
    r->output_name = (char **)calloc((size_t)r->n_outputs, sizeof *r->output_name);
    bool ok = r->factor && r->output && r->output_name;
    for (int m = 0; m < r->n_measures; m++) {
        r->measure[m] = names[info->method][m];
        r->value[m] = (double *)malloc(sizeof(double) * n);
        ok = ok && r->value[m];
    }
    for (int32_t o = 0; o < r->n_outputs && ok; o++) {
        r->output[o] = s->n_variable_columns + o;
        r->output_name[o] = strdup(s->columns[r->output[o]].name);
        ok = r->output_name[o] != NULL;
    }
    return ok ? name_factors(s->job, plan, r) : no_memory();
}

int ec_sensitivity_create(const ec_sensitivity_info *info, const ec_sweep_plan *plan,
                          const ec_sweep *s, ec_sensitivity **sensitivity)
{
    size_t size = block_size(info, plan->n_varied), blocks = plan->n / size;
    size_t factors = (size_t)plan->n_varied;
    size_t *all = (size_t *)malloc(sizeof *all * blocks);
    ec_sensitivity *r = NULL;

    int status = all ? result_create(info, plan, s, &r) : no_memory();
    if (status == EC_OK) {
        r->blocks = blocks;
        r->dropped = blocks - keep_blocks(s, -1, blocks, size, all);
    }
#pragma omp parallel for schedule(dynamic)
    for (int32_t o = 0; o < (status == EC_OK ? r->n_outputs : 0); o++) {
        size_t *kept = (size_t *)malloc(sizeof *kept * blocks);
        estimate e = {info, s, r->output[o], plan->n_varied, size, 0, kept};
        double *value[EC_SENSITIVITY_MEASURES];
        for (int m = 0; m < r->n_measures; m++)
            value[m] = r->value[m] + (size_t)o * factors;
        int failure = kept ? EC_OK : EC_ERR_MEMORY;
        if (kept)
            e.n = keep_blocks(s, e.column, blocks, size, kept);
        if (kept && info->method == EC_SENSITIVITY_MORRIS)
            failure = morris_effects(&e, value[0], value[1], value[2]);
        else if (kept)
            failure = sobol_indices(&e, value[0], value[1], value[2], value[3]);
        free(kept);
        if (failure < 0) {
#pragma omp atomic write
            status = failure;
        }
    }
    free(all);
    if (status < 0) {
        ec_sensitivity_destroy(&r);
        return status == EC_ERR_MEMORY ? no_memory() : status;
    }
    *sensitivity = r;
    return EC_OK;
}

/* ---- text ---- */

int ec_sensitivity_summary(const ec_sensitivity *r, const ec_sweep *s, char **text)
{
    enum { SHOWN = 24 };
    bool morris = r->method == EC_SENSITIVITY_MORRIS;
    size_t size = 0, width = 6;
    FILE *to = open_memstream(text, &size);

    if (!to)
        return no_memory();
    for (int32_t i = 0; i < r->n_factors; i++)
        width = strlen(r->factor[i]) > width ? strlen(r->factor[i]) : width;
    width = width > 30 ? 30 : width;
    fprintf(to, "%s: %s of %zu %s; %s\n", ec_job_name(s->job),
            morris ? "elementary effects" : "Sobol indices", r->blocks,
            morris ? "trajectories" : "points", s->message);
    if (r->dropped > 0)
        fprintf(to, "  %zu of %zu %s have a design that failed or was not run, and do not count\n",
                r->dropped, r->blocks, morris ? "trajectories" : "blocks");
    for (int32_t o = 0; o < r->n_outputs && o < SHOWN; o++) {
        fprintf(to, "\n  %-*s", (int)width, r->output_name[o]);
        for (int m = 0; m < r->n_measures; m++)
            fprintf(to, " %12s", r->measure[m]);
        fputs("\n", to);
        for (int32_t i = 0; i < r->n_factors && i < SHOWN; i++) {
            fprintf(to, "    %-*s", (int)width - 2, r->factor[i]);
            for (int m = 0; m < r->n_measures; m++)
                fprintf(to, morris ? " %12.6g" : " %12.4f",
                        ec_printable(r->value[m][(size_t)o * (size_t)r->n_factors + (size_t)i]));
            fputs("\n", to);
        }
        if (r->n_factors > SHOWN)
            fprintf(to, "    ... %d factors\n", (int)r->n_factors);
    }
    if (r->n_outputs > SHOWN)
        fprintf(to, "\n  ... %d outputs\n", (int)r->n_outputs);
    return fclose(to) == 0 ? EC_OK : no_memory();
}

int ec_sensitivity_write(const ec_sensitivity *r, const char *folder, const char *name)
{
    char *text = NULL, file[300];
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return no_memory();
    fputs("output,factor", to);
    for (int m = 0; m < r->n_measures; m++)
        fprintf(to, ",%s", r->measure[m]);
    fputs("\n", to);
    bool ok = true;
    for (int32_t o = 0; o < r->n_outputs; o++) {
        char *output = ec_output_csv_field(r->output_name[o]);
        for (int32_t i = 0; i < r->n_factors && output; i++) {
            char *factor = ec_output_csv_field(r->factor[i]);
            ok = ok && factor;
            fprintf(to, "%s,%s", output, factor ? factor : "");
            for (int m = 0; m < r->n_measures; m++)
                fprintf(to, ",%.17g",
                        ec_printable(r->value[m][(size_t)o * (size_t)r->n_factors + (size_t)i]));
            fputs("\n", to);
            free(factor);
        }
        ok = ok && output;
        free(output);
    }
    ok = fclose(to) == 0 && ok;
    snprintf(file, sizeof file, "%s_indices.csv", name);
    int status = ok ? ec_output_write(folder, file, text, size) : no_memory();
    free(text);
    return status;
}
