/* sweep_output.c: summaries and plots of sweeps. */
#include "sweep_output.h"
#include "job_internal.h"
#include "output.h"

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_VALUES = 6, SHOWN_RECORDS = 24, PLOTS_MAX = 24, PLOTTED_ROWS = 250000 };

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "sweep: no memory for its summary");
}

/* ---- for people ---- */

static void print_reasons(FILE *to, const ec_sweep *s)
{
    bool first = true;

    for (int bit = 0; bit < 8; bit++) {
        char name[60];
        if (!s->by_bit[bit])
            continue;
        ec_sweep_reason((uint8_t)(1 << bit), name, sizeof name);
        fprintf(to, "%s%s %zu", first ? " (" : ", ", name, s->by_bit[bit]);
        first = false;
    }
    fputs(first ? "" : ")", to);
}

static bool range_of(const ec_sweep *s, int32_t column, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double value = ec_sweep_value(s, column, i);
        if (s->state[i] == EC_SWEEP_OPEN || !isfinite(value))
            continue;
        *lo = fmin(*lo, value);
        *hi = fmax(*hi, value);
    }
    return *lo <= *hi;
}

/* Values of the variables that vary. */
static void print_design(FILE *to, const ec_sweep *s, size_t design)
{
    int shown = 0;

    for (int32_t c = 0; c < s->n_variable_columns; c++) {
        if (s->columns[c].stride == 0)
            continue;
        if (shown++ == SHOWN_VALUES) {
            fputs(", ...", to);
            return;
        }
        fprintf(to, "%s%s = %.7g", shown > 1 ? ", " : "  ", s->columns[c].name,
                ec_sweep_value(s, c, design));
    }
}

static void print_objectives(FILE *to, const ec_sweep *s, int width)
{
    const ec_job *job = s->job;
    int32_t violation = ec_sweep_find(s, EC_SWEEP_VIOLATION, 0);

    for (int32_t c = s->n_variable_columns; c < s->n_columns; c++) {
        const ec_sweep_column *column = &s->columns[c];
        size_t design;
        if (column->kind != EC_SWEEP_OBJECTIVE)
            continue;
        bool maximize = job->objectives[column->index].maximize;
        fprintf(to, "  %s %-*s", maximize ? "largest " : "smallest", width, column->name);
        if (!ec_sweep_best(s, c, maximize, &design)) {
            fputs(" none\n", to);
            continue;
        }
        fprintf(to, " %14.8g  row %zu", ec_sweep_value(s, c, design), design + 1);
        print_design(to, s, design);
        bool missed = violation >= 0 && ec_sweep_value(s, violation, design) > 0;
        fputs(missed ? "  (no row meets the constraints)\n" : "\n", to);
    }
}

/* How many columns from c on are the elements of one list; 1 of a number. */
static int32_t list_length(const ec_sweep *s, int32_t c)
{
    const ec_sweep_column *first = &s->columns[c];
    int32_t n = 1;

    while (first->element >= 0 && c + n < s->n_columns && s->columns[c + n].kind == first->kind &&
           s->columns[c + n].index == first->index)
        n++;
    return n;
}

/* A line each, of lists too: their elements are in the table. */
static void print_records(FILE *to, const ec_sweep *s, int width)
{
    int shown = 0;

    for (int32_t c = s->n_variable_columns, n; c < s->n_columns; c += n) {
        double low = INFINITY, high = -INFINITY;
        n = list_length(s, c);
        if (s->columns[c].kind != EC_SWEEP_RECORD)
            continue;
        if (shown++ == SHOWN_RECORDS) {
            fputs("  recorded ...\n", to);
            return;
        }
        for (int32_t k = 0; k < n; k++) {
            double lo, hi;
            if (!range_of(s, c + k, &lo, &hi))
                continue;
            low = fmin(low, lo);
            high = fmax(high, hi);
        }
        const char *name = n > 1 ? s->job->records[s->columns[c].index].name : s->columns[c].name;
        fprintf(to, "  recorded %-*s", width, name);
        if (low <= high)
            fprintf(to, " %14.8g to %.8g", low, high);
        else
            fputs(" no value", to);
        fprintf(to, n > 1 ? ", %d values a row\n" : "\n", (int)n);
    }
}

/* Where the single numbers stay that do not vary. */
static void print_fixed(FILE *to, const ec_sweep *s)
{
    int shown = 0;

    for (int32_t c = 0; c < s->n_variable_columns && shown < SHOWN_VALUES; c++)
        if (s->columns[c].stride == 0 && s->columns[c].element < 0)
            fprintf(to, "%s%s = %.7g", shown++ ? ", " : "  fixed: ", s->columns[c].name,
                    s->columns[c].data[0]);
    fputs(shown ? "\n" : "", to);
}

int ec_sweep_output_summary(const ec_sweep *s, char **text)
{
    size_t size = 0, width = 8;
    FILE *to = open_memstream(text, &size);

    if (!to)
        return no_memory();
    for (int32_t c = s->n_variable_columns; c < s->n_columns; c += list_length(s, c))
        width = strlen(s->columns[c].name) > width ? strlen(s->columns[c].name) : width;
    width = width > 30 ? 30 : width;
    fprintf(to, "%s: %s", s->job->name, s->message);
    print_reasons(to, s);
    fprintf(to, "\n  %s fidelity, %.2f s on %s (%s)\n",
            s->fidelity == EC_FINAL ? "final" : "search", s->seconds, s->backend, s->device);
    print_fixed(to, s);
    print_objectives(to, s, (int)width);
    print_records(to, s, (int)width);
    return fclose(to) == 0 ? EC_OK : no_memory();
}

/* ---- JSON ---- */

/* cJSON prints some doubles with 15 digits, so numbers go in as text. */
static bool json_number(cJSON *object, const char *key, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", value);
    return isfinite(value) ? cJSON_AddRawToObject(object, key, text) != NULL
                           : cJSON_AddNullToObject(object, key) != NULL;
}

static bool json_row(cJSON *best, const ec_sweep *s, int32_t column, size_t design)
{
    cJSON *row = cJSON_AddObjectToObject(best, s->columns[column].name);
    bool ok = row && json_number(row, "row", (double)design + 1) &&
              json_number(row, "value", ec_sweep_value(s, column, design));
    cJSON *variables = ok ? cJSON_AddObjectToObject(row, "variables") : NULL;

    ok = variables != NULL;
    for (int32_t c = 0; c < s->n_variable_columns && ok; c++)
        ok = json_number(variables, s->columns[c].name, ec_sweep_value(s, c, design));
    return ok;
}

static bool json_rest(cJSON *root, const ec_sweep *s)
{
    cJSON *reasons = cJSON_AddObjectToObject(root, "reasons");
    cJSON *best = cJSON_AddObjectToObject(root, "best");
    bool ok = reasons && best;

    for (int bit = 0; bit < 8 && ok; bit++) {
        char name[60];
        ec_sweep_reason((uint8_t)(1 << bit), name, sizeof name);
        if (s->by_bit[bit])
            ok = json_number(reasons, name, (double)s->by_bit[bit]);
    }
    for (int32_t c = s->n_variable_columns; c < s->n_columns && ok; c++) {
        size_t design;
        if (s->columns[c].kind == EC_SWEEP_OBJECTIVE &&
            ec_sweep_best(s, c, s->job->objectives[s->columns[c].index].maximize, &design))
            ok = json_row(best, s, c, design);
    }
    return ok;
}

int ec_sweep_output_json(const ec_sweep *s, char **text)
{
    cJSON *root = cJSON_CreateObject();
    bool ok =
        root && cJSON_AddStringToObject(root, "name", s->job->name) &&
        cJSON_AddStringToObject(root, "backend", s->backend) &&
        cJSON_AddStringToObject(root, "device", s->device) &&
        cJSON_AddStringToObject(root, "stop",
                                s->stop == EC_STOP_NONE ? "complete" : ec_stop_name(s->stop)) &&
        cJSON_AddStringToObject(root, "message", s->message) &&
        json_number(root, "rows", (double)s->n) &&
        json_number(root, "distinct", (double)s->distinct) &&
        json_number(root, "found", (double)s->found) && json_number(root, "run", (double)s->run) &&
        json_number(root, "failed", (double)s->failed) &&
        json_number(root, "seconds", s->seconds) && json_rest(root, s);
    char *printed = ok ? cJSON_PrintUnformatted(root) : NULL;

    cJSON_Delete(root);
    *text = printed ? strdup(printed) : NULL; /* cJSON's own allocator may not be free()'s */
    if (printed)
        cJSON_free(printed);
    return *text ? EC_OK : no_memory();
}

/* ---- plots ---- */

static bool can_be_plotted(const ec_sweep_plan *plan)
{
    if (plan->n_axes < 1 || plan->n_axes > 2 || plan->n > PLOTTED_ROWS)
        return false;
    for (int32_t i = 0; i < plan->n_axes; i++) {
        const double *value = plan->axis_value[i];
        if (!value || plan->axis_length[i] < 2)
            return false;
        for (size_t k = 1; k < plan->axis_length[i]; k++)
            if (!(value[k] > value[k - 1]))
                return false;
    }
    return true;
}

/* Ends of an axis of the plot around values from lo to hi. */
static void plot_range(double *lo, double *hi)
{
    double margin = 0.05 * (*hi - *lo);

    if (margin == 0)
        margin = *lo != 0 ? 0.05 * fabs(*lo) : 1;
    *lo -= margin;
    *hi += margin;
}

static int plot_column(const ec_sweep *s, const ec_sweep_plan *plan, int32_t column,
                       const char *folder, const char *name, ec_log *log)
{
    const ec_sweep_column *c = &s->columns[column];
    char file[300], title[400];
    double lo, hi;

    if (strpbrk(c->name, "/'\"\\\n") || !range_of(s, column, &lo, &hi))
        return EC_OK;
    plot_range(&lo, &hi);
    snprintf(file, sizeof file, "%s_%s", name, c->name);
    for (char *at = file; *at; at++)
        *at = *at == ':' ? '_' : *at;
    snprintf(title, sizeof title, "%s: %s", s->job->name, c->name);
    ec_output_pattern pattern = {
        .name = file,
        .title = title,
        .axis = {plan->axis_name[0], plan->n_axes > 1 ? plan->axis_name[1] : NULL},
        .n = {(int32_t)plan->axis_length[0], plan->n_axes > 1 ? (int32_t)plan->axis_length[1] : 0},
        .at = {plan->axis_value[0], plan->n_axes > 1 ? plan->axis_value[1] : NULL},
        .value = c->name,
        .level = c->data,
        .floor = lo,
        .top = hi,
        .plain = true};
    return ec_output_plot(&pattern, folder, NULL, log);
}

int ec_sweep_output_plots(const ec_sweep *s, const ec_sweep_plan *plan, const char *folder,
                          const char *name, ec_log *log)
{
    int plots = 0, status = EC_OK;

    if (!can_be_plotted(plan))
        return EC_OK;
    for (int32_t c = s->n_variable_columns; c < s->n_columns && status == EC_OK; c++) {
        ec_sweep_kind kind = s->columns[c].kind;
        bool wanted = (kind == EC_SWEEP_OBJECTIVE || kind == EC_SWEEP_RECORD) &&
                      s->columns[c].element < 0 && plots < PLOTS_MAX;
        if (wanted)
            status = plot_column(s, plan, c, folder, name, log);
        plots += wanted;
    }
    return status;
}
