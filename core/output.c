/* output.c: writers of results: JSON by cJSON, a table, CSV files and plots by gnuplot. */
#include "output.h"
#include "output_file.h"
#include "output_internal.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLOT_SECONDS = 30 };

/* ---- text that grows ---- */

typedef struct text_buffer {
    char *bytes;
    size_t size, capacity;
    bool failed;
} text_buffer;

static void text_add(text_buffer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void text_add(text_buffer *text, const char *format, ...)
{
    va_list arguments;

    if (text->failed)
        return;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if (text->size + (size_t)length + 1 > text->capacity) {
        size_t capacity = 2 * (text->size + (size_t)length + 1) + 1024;
        char *bytes = (char *)realloc(text->bytes, capacity);
        if (!bytes) {
            text->failed = true;
            return;
        }
        text->bytes = bytes;
        text->capacity = capacity;
    }
    va_start(arguments, format);
    vsnprintf(text->bytes + text->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

/* Hands the text over; on failure there is none. */
static int text_finish(text_buffer *text, char **out)
{
    if (text->failed || !text->bytes) {
        free(text->bytes);
        return ec_fail(EC_ERR_MEMORY, "output: no memory for the text");
    }
    *out = text->bytes;
    return EC_OK;
}

static int text_write(text_buffer *text, const char *folder, const char *file)
{
    char *bytes = NULL;
    size_t size = text->size;

    int status = text_finish(text, &bytes);
    if (status < 0)
        return status;
    status = ec_output_write(folder, file, bytes, size);
    free(bytes);
    return status;
}

/* ---- JSON ---- */

/* cJSON prints some doubles with 15 digits, so numbers go in as text. */
static bool json_number(cJSON *object, const char *key, double value)
{
    char text[40];

    if (!isfinite(value))
        return cJSON_AddNullToObject(object, key) != NULL;
    snprintf(text, sizeof text, "%.17g", value);
    return cJSON_AddRawToObject(object, key, text) != NULL;
}

static bool json_count(cJSON *object, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return cJSON_AddRawToObject(object, key, text) != NULL;
}

static bool json_list(cJSON *object, const char *key, const double *values, int32_t n)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);
    char text[40];

    if (!list)
        return false;
    for (int32_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%.17g", values[i]);
        cJSON *item = isfinite(values[i]) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
        if (!item)
            return false;
        cJSON_AddItemToArray(list, item);
    }
    return true;
}

static const char *best_word(const ec_result *result)
{
    if (!result->found)
        return result->evaluations > 0 ? "failed" : "none";
    return result->status ? "failed" : result->violation > 0 ? "infeasible" : "feasible";
}

static bool json_best(cJSON *root, const ec_job *job, const ec_result *result)
{
    cJSON *best = cJSON_AddObjectToObject(root, "best");
    bool ok = best && cJSON_AddStringToObject(best, "status", best_word(result));
    cJSON *part = ok ? cJSON_AddObjectToObject(best, "objectives") : NULL;

    for (int32_t i = 0; part && i < result->n_objectives; i++)
        ok = ok && json_number(part, ec_job_objective(job, i)->name,
                               result->found ? result->objective_final[i] : NAN);
    part = ok && part ? cJSON_AddObjectToObject(best, "search") : NULL;
    for (int32_t i = 0; part && i < result->n_objectives; i++)
        ok = ok && json_number(part, ec_job_objective(job, i)->name,
                               result->found ? result->objective_search[i] : NAN);
    part = ok && part ? cJSON_AddObjectToObject(best, "constraints") : NULL;
    for (int32_t i = 0; part && i < result->n_constraints; i++)
        ok = ok && json_number(part, ec_job_constraint(job, i)->name,
                               result->found ? result->constraint[i] : NAN);
    ok = ok && part && json_number(best, "violation", result->found ? result->violation : NAN);
    part = ok ? cJSON_AddObjectToObject(best, "variables") : NULL;
    for (int32_t i = 0; part && i < result->n_variables; i++)
        ok = ok && json_list(part, ec_job_variable(job, i)->name,
                             result->found ? result->variable[i] : NULL,
                             result->found ? result->variable_length[i] : 0);
    part = ok && part ? cJSON_AddObjectToObject(best, "recorded") : NULL;
    for (int32_t i = 0; part && i < result->n_records; i++)
        ok = ok &&
             json_list(part, ec_job_record(job, i)->name, result->found ? result->record[i] : NULL,
                       result->found ? result->record_length[i] : 0);
    return ok && part;
}

/* Columns over the n members of a front: a number each, or a list each where there are more. */
static bool json_columns(cJSON *object, const char *key, const double *values, int32_t n,
                         int32_t length)
{
    if (length == 1)
        return json_list(object, key, values, n);
    cJSON *list = cJSON_AddArrayToObject(object, key);
    bool ok = list != NULL;
    for (int32_t i = 0; i < n && ok; i++) {
        cJSON *item = cJSON_CreateObject();
        ok = item && json_list(item, "row", values + (size_t)i * (size_t)length, length) &&
             cJSON_AddItemToArray(list, cJSON_DetachItemFromObject(item, "row"));
        cJSON_Delete(item);
    }
    return ok;
}

/* Column k of rows of `width`. */
static bool json_column(cJSON *object, const char *key, const double *rows, int32_t n,
                        int32_t width, int32_t k)
{
    double *column = (double *)malloc(sizeof *column * ((size_t)n + 1));

    for (int32_t i = 0; i < n && column; i++)
        column[i] = rows[(size_t)i * (size_t)width + (size_t)k];
    bool ok = column && json_list(object, key, column, n);
    free(column);
    return ok;
}

static bool json_front(cJSON *root, const ec_job *job, const ec_result *result)
{
    const ec_front *f = &result->front;
    cJSON *front = cJSON_AddObjectToObject(root, "front"), *part = NULL;
    bool ok = front && json_list(front, "reference", f->reference, result->n_objectives) &&
              json_number(front, "hypervolume", f->hypervolume);

    if (ok && f->n > 0)
        ok = json_count(front, "best", (uint64_t)f->best);
    part = ok ? cJSON_AddObjectToObject(front, "objectives") : NULL;
    for (int32_t i = 0; part && ok && i < result->n_objectives; i++)
        ok = json_column(part, ec_job_objective(job, i)->name, f->objective_final, f->n,
                         result->n_objectives, i);
    part = ok && part ? cJSON_AddObjectToObject(front, "search") : NULL;
    for (int32_t i = 0; part && ok && i < result->n_objectives; i++)
        ok = json_column(part, ec_job_objective(job, i)->name, f->objective_search, f->n,
                         result->n_objectives, i);
    part = ok && part ? cJSON_AddObjectToObject(front, "constraints") : NULL;
    for (int32_t i = 0; part && ok && i < result->n_constraints; i++)
        ok = json_column(part, ec_job_constraint(job, i)->name, f->constraint, f->n,
                         result->n_constraints, i);
    part = ok && part ? cJSON_AddObjectToObject(front, "variables") : NULL;
    for (int32_t i = 0; part && ok && i < result->n_variables; i++)
        ok = json_columns(part, ec_job_variable(job, i)->name, f->n ? f->variable[i] : NULL, f->n,
                          f->n ? result->variable_length[i] : 1);
    part = ok && part ? cJSON_AddObjectToObject(front, "recorded") : NULL;
    for (int32_t i = 0; part && ok && i < result->n_records; i++)
        ok = json_columns(part, ec_job_record(job, i)->name, f->n ? f->record[i] : NULL, f->n,
                          f->n ? result->record_length[i] : 1);
    return ok && part;
}

int ec_output_json(const ec_job *job, const ec_result *result, char **text)
{
    cJSON *root = cJSON_CreateObject();

    bool ok = root && cJSON_AddStringToObject(root, "name", ec_job_name(job)) &&
              cJSON_AddStringToObject(root, "backend", result->backend) &&
              cJSON_AddStringToObject(root, "device", result->device) &&
              json_count(root, "seed", result->seed) &&
              cJSON_AddStringToObject(root, "stop", ec_stop_name(result->stop)) &&
              cJSON_AddStringToObject(root, "message", result->message) &&
              json_count(root, "generations", result->generations) &&
              json_count(root, "evaluations", result->evaluations) &&
              json_count(root, "failed", result->failed) &&
              json_number(root, "seconds", result->seconds) && json_best(root, job, result) &&
              (result->n_objectives < 2 || json_front(root, job, result));
    char *printed = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    /* cJSON's own allocator may not be free()'s. */
    char *copy = printed ? strdup(printed) : NULL;
    if (printed)
        cJSON_free(printed);
    if (!copy)
        return ec_fail(EC_ERR_MEMORY, "output: no memory for the JSON text");
    *text = copy;
    return EC_OK;
}

/* ---- table ---- */

static int name_width(const ec_job *job, const ec_result *result)
{
    size_t width = 10;

    for (int32_t i = 0; i < result->n_objectives; i++)
        width = fmax(width, strlen(ec_job_objective(job, i)->name));
    for (int32_t i = 0; i < result->n_constraints; i++)
        width = fmax(width, strlen(ec_job_constraint(job, i)->name));
    for (int32_t i = 0; i < result->n_variables; i++)
        width = fmax(width, strlen(ec_job_variable(job, i)->name));
    for (int32_t i = 0; i < result->n_records; i++)
        width = fmax(width, strlen(ec_job_record(job, i)->name));
    return width > 40 ? 40 : (int)width;
}

static void table_list(text_buffer *text, int width, const char *name, const double *values,
                       int32_t n)
{
    enum { PER_LINE = 6, SHOWN_MAX = 96 };

    for (int32_t i = 0; i < n && i < SHOWN_MAX; i++) {
        if (i % PER_LINE == 0)
            text_add(text, "%s  %-*s", i ? "\n" : "", width, i ? "" : name);
        text_add(text, " %12.7g", ec_printable(values[i]));
    }
    text_add(text, n > SHOWN_MAX ? "\n  %-*s ... %d values\n" : "\n", width, "", (int)n);
}

/* A long list, most often a curve, by its range. */
static void table_record(text_buffer *text, int width, const char *name, const double *values,
                         int32_t n)
{
    enum { SHOWN_MAX = 24 };
    double low = NAN, high = NAN;
    int32_t none = 0;

    if (n <= SHOWN_MAX) {
        table_list(text, width, name, values, n);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        none += isnan(values[i]);
    }
    text_add(text, "  %-*s %12.7g to %.7g, %d values", width, name, ec_printable(low),
             ec_printable(high), (int)n);
    text_add(text, none ? ", %d of them nan\n" : "\n", (int)none);
}

static void table_best(text_buffer *text, const ec_job *job, const ec_result *result)
{
    int width = name_width(job, result);

    text_add(text, "\n  %-*s %14s %14s\n", width, "objective", "final", "in the search");
    for (int32_t i = 0; i < result->n_objectives; i++)
        text_add(text, "  %-*s %14.8g %14.8g\n", width, ec_job_objective(job, i)->name,
                 ec_printable(result->objective_final[i]),
                 ec_printable(result->objective_search[i]));
    if (result->n_constraints > 0)
        text_add(text, "\n  %-*s %14s\n", width, "constraint", "beyond limit");
    for (int32_t i = 0; i < result->n_constraints; i++)
        text_add(text, "  %-*s %14.8g%s\n", width, ec_job_constraint(job, i)->name,
                 ec_printable(result->constraint[i]),
                 result->constraint[i] <= ec_job_constraint(job, i)->tolerance ? "  met"
                                                                               : "  not met");
    if (result->n_variables > 0)
        text_add(text, "\n  variable\n");
    for (int32_t i = 0; i < result->n_variables; i++)
        table_list(text, width, ec_job_variable(job, i)->name, result->variable[i],
                   result->variable_length[i]);
    if (result->n_records > 0)
        text_add(text, "\n  recorded\n");
    for (int32_t i = 0; i < result->n_records; i++)
        table_record(text, width, ec_job_record(job, i)->name, result->record[i],
                     result->record_length[i]);
}

/* Range of each objective over the front, from best to worst. */
static void table_front(text_buffer *text, const ec_job *job, const ec_result *result)
{
    const ec_front *front = &result->front;
    int width = name_width(job, result);

    text_add(text, "\n  front of %d design%s, hypervolume %.8g up to the reference (",
             (int)front->n, front->n == 1 ? "" : "s", ec_printable(front->hypervolume));
    for (int32_t k = 0; k < result->n_objectives; k++)
        text_add(text, "%s%.6g", k ? ", " : "", front->reference[k]);
    text_add(text, ")\n  %-*s %14s %14s\n", width, "objective", "best", "worst");
    for (int32_t k = 0; k < result->n_objectives; k++) {
        double low = NAN, high = NAN;
        bool maximize = ec_job_objective(job, k)->maximize;
        for (int32_t i = 0; i < front->n; i++) {
            size_t at = (size_t)i * (size_t)result->n_objectives + (size_t)k;
            double x = front->objective_final[at];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        text_add(text, "  %-*s %14.8g %14.8g\n", width, ec_job_objective(job, k)->name,
                 ec_printable(maximize ? high : low), ec_printable(maximize ? low : high));
    }
    text_add(text,
             "\n  below is member %d of the front, the nearest to the best of all objectives\n",
             (int)front->best + 1);
}

/* Why designs failed, of those that are kept. */
static void table_failures(text_buffer *text, const ec_result *result)
{
    uint8_t all = 0;
    char reasons[400];

    for (size_t i = 0; i < result->n_failures; i++)
        all |= result->failures[i].status;
    ec_candidate_text(all, reasons, sizeof reasons);
    text_add(text, "  failed: %s (%zu of them in failures.csv with --out, best.failures)\n",
             reasons, result->n_failures);
}

int ec_output_table(const ec_job *job, const ec_result *result, char **out)
{
    text_buffer text = {NULL, 0, 0, false};

    text_add(&text, "%s: %s\n", ec_job_name(job), result->message);
    if (result->found && !result->status && result->violation > 0)
        text_add(&text, "  below is the design that comes closest; what can help: start = a design "
                        "that meets the constraints,\n  more evaluations, wider bounds of the "
                        "variables, looser limits\n");
    text_add(&text,
             "  %s, seed %" PRIu64 ", %u generations, %" PRIu64 " evaluations (%" PRIu64
             " failed), %.2f s\n  on %s (%s%s%s)\n",
             result->method, result->seed, result->generations, result->evaluations, result->failed,
             result->seconds, result->backend, result->device, result->isa[0] ? ", ISA level " : "",
             result->isa);
    if (result->n_failures > 0)
        table_failures(&text, result);
    if (result->polish_designs > 0)
        text_add(&text,
                 "  polish: %d of %d design%s finished, %" PRIu64
                 " evaluations, %.2f s of the time%s\n",
                 (int)result->polish_finished, (int)result->polish_designs,
                 result->polish_designs == 1 ? "" : "s", result->polish_evaluations,
                 result->polish_seconds,
                 result->polish_capped ? " (ended by its time limit: it may be inexact)" : "");
    if (!result->found)
        text_add(&text, "\n  no design could be scored\n");
    if (result->found && result->front.n > 0)
        table_front(&text, job, result);
    if (result->found)
        table_best(&text, job, result);
    return text_finish(&text, out);
}

/* ---- files ---- */

int ec_output_folder(const char *folder)
{
    char path[4096];
    struct stat info;
    size_t length = folder ? strlen(folder) : 0;

    if (length == 0 || length >= sizeof path)
        return ec_fail(EC_ERR_ARGUMENT,
                       "out: the folder's name has %zu characters, allowed are 1 "
                       "to %zu",
                       length, sizeof path - 1);
    memcpy(path, folder, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        char kept = path[i];
        path[i] = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST && errno != EISDIR)
            return ec_fail(EC_ERR_FILE, "out: folder '%s' cannot be created: %s", path,
                           strerror(errno));
        path[i] = kept;
    }
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return ec_fail(EC_ERR_FILE, "out: '%s' is not a folder", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return ec_fail(EC_ERR_FILE, "out: folder '%s' cannot be written: %s", folder,
                       strerror(errno));
    return EC_OK;
}

int ec_output_write(const char *folder, const char *name, const char *bytes, size_t size)
{
    char path[4400];
    ec_output_file file;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);

    if (length < 0 || (size_t)length >= sizeof path)
        return ec_fail(EC_ERR_ARGUMENT, "out: the name of '%s' is too long", name);
    int status = ec_output_file_open(path, &file);
    if (status < 0)
        return status;
    fwrite(bytes, 1, size, file.stream);
    return ec_output_file_close(&file);
}

char *ec_output_csv_field(const char *name)
{
    char *field = (char *)malloc(2 * strlen(name) + 3), *to = field;
    bool quotes = strpbrk(name, ",\"\r\n") != NULL;

    if (!field)
        return NULL;
    if (quotes)
        *to++ = '"';
    for (; *name; name++) {
        if (*name == '"')
            *to++ = '"';
        *to++ = *name;
    }
    if (quotes)
        *to++ = '"';
    *to = '\0';
    return field;
}

static void csv_values(text_buffer *text, const char *kind, const char *name, const double *values,
                       int32_t n)
{
    char *field = ec_output_csv_field(name);

    text->failed = text->failed || !field;
    for (int32_t i = 0; i < n && field; i++)
        text_add(text, "%s,%d,%.17g,%s\n", field, (int)i + 1, ec_printable(values[i]), kind);
    free(field);
}

int ec_output_best(const ec_job *job, const ec_result *result, const char *folder)
{
    text_buffer text = {NULL, 0, 0, false};

    text_add(&text, "name,index,value,kind\n");
    for (int32_t i = 0; result->found && i < result->n_objectives; i++) {
        const char *name = ec_job_objective(job, i)->name;
        csv_values(&text, "objective", name, &result->objective_final[i], 1);
        csv_values(&text, "search", name, &result->objective_search[i], 1);
    }
    for (int32_t i = 0; result->found && i < result->n_constraints; i++)
        csv_values(&text, "constraint", ec_job_constraint(job, i)->name, &result->constraint[i], 1);
    for (int32_t i = 0; result->found && i < result->n_variables; i++)
        csv_values(&text, "variable", ec_job_variable(job, i)->name, result->variable[i],
                   result->variable_length[i]);
    for (int32_t i = 0; result->found && i < result->n_records; i++)
        csv_values(&text, "recorded", ec_job_record(job, i)->name, result->record[i],
                   result->record_length[i]);
    return text_write(&text, folder, "best.csv");
}

int ec_output_history(const ec_result *result, const char *folder)
{
    text_buffer text = {NULL, 0, 0, false};
    bool several = result->n_objectives > 1;

    text_add(&text,
             "generation,evaluations,failed,seconds,best,median,spread,violation,feasible,"
             "population%s\n",
             several ? ",hypervolume,front" : "");
    for (size_t i = 0; i < result->n_history; i++) {
        const ec_history_row *row = &result->history[i];
        text_add(&text, "%u,%" PRIu64 ",%" PRIu64 ",%.6f,%.17g,%.17g,%.17g,%.17g,%u,%u",
                 row->generation, row->evaluations, row->failed, row->seconds,
                 ec_printable(row->best), ec_printable(row->median), ec_printable(row->spread),
                 ec_printable(row->violation), row->feasible, row->population);
        if (several)
            text_add(&text, ",%.17g,%u", ec_printable(row->hypervolume), row->front);
        text_add(&text, "\n");
    }
    return text_write(&text, folder, "history.csv");
}

/* "x" of a single number, "x[3]" of a list. */
static void csv_element(text_buffer *text, const char *name, int32_t index, bool list)
{
    char *element = (char *)malloc(strlen(name) + 16);

    if (element && list)
        sprintf(element, "%s[%d]", name, (int)index + 1);
    else if (element)
        strcpy(element, name);
    char *field = element ? ec_output_csv_field(element) : NULL;
    if (field)
        text_add(text, ",%s", field);
    text->failed = text->failed || !field;
    free(field);
    free(element);
}

int ec_output_failures(const ec_job *job, const ec_result *result, const char *folder)
{
    text_buffer text = {NULL, 0, 0, false};
    char path[4400];
    size_t width = 0;

    if (result->n_failures == 0 || !result->failure_values) {
        if (snprintf(path, sizeof path, "%s/failures.csv", folder) < (int)sizeof path)
            unlink(path); /* of an earlier run */
        return EC_OK;
    }
    text_add(&text, "generation,reason");
    for (int32_t i = 0; i < result->n_variables; i++) {
        const ec_variable *v = ec_job_variable(job, i);
        int32_t n = ec_graph_node(ec_job_graph(job), v->value)->elements;
        for (int32_t k = 0; k < n; k++)
            csv_element(&text, v->name, k, v->count > 0);
        width += (size_t)n;
    }
    text_add(&text, "\n");
    for (size_t f = 0; f < result->n_failures; f++) {
        char reason[300];
        ec_candidate_text(result->failures[f].status, reason, sizeof reason);
        text_add(&text, "%u,\"%s\"", result->failures[f].generation, reason);
        for (size_t k = 0; k < width; k++)
            text_add(&text, ",%.17g", ec_printable(result->failure_values[f * width + k]));
        text_add(&text, "\n");
    }
    return text_write(&text, folder, "failures.csv");
}

/* ---- the front ---- */

static void csv_row(text_buffer *text, const double *rows, int32_t row, int32_t length)
{
    for (int32_t k = 0; k < length; k++)
        text_add(text, ",%.17g", ec_printable(rows[(size_t)row * (size_t)length + (size_t)k]));
}

int ec_output_front(const ec_job *job, const ec_result *result, const char *folder,
                    const char *file)
{
    const ec_front *front = &result->front;
    text_buffer text = {NULL, 0, 0, false};
    char search[300];

    text_add(&text, "member");
    for (int32_t i = 0; i < result->n_objectives; i++)
        csv_element(&text, ec_job_objective(job, i)->name, 0, false);
    for (int32_t i = 0; i < result->n_objectives; i++) {
        snprintf(search, sizeof search, "search_%.250s", ec_job_objective(job, i)->name);
        csv_element(&text, search, 0, false);
    }
    for (int32_t i = 0; i < result->n_constraints; i++)
        csv_element(&text, ec_job_constraint(job, i)->name, 0, false);
    for (int32_t i = 0; front->n > 0 && i < result->n_variables; i++)
        for (int32_t k = 0; k < result->variable_length[i]; k++)
            csv_element(&text, ec_job_variable(job, i)->name, k,
                        ec_job_variable(job, i)->count > 0);
    for (int32_t i = 0; front->n > 0 && i < result->n_records; i++)
        for (int32_t k = 0; k < result->record_length[i]; k++)
            csv_element(&text, ec_job_record(job, i)->name, k, result->record_length[i] > 1);
    text_add(&text, "\n");
    for (int32_t m = 0; m < front->n; m++) {
        text_add(&text, "%d", (int)m + 1);
        csv_row(&text, front->objective_final, m, result->n_objectives);
        csv_row(&text, front->objective_search, m, result->n_objectives);
        csv_row(&text, front->constraint, m, result->n_constraints);
        for (int32_t i = 0; i < result->n_variables; i++)
            csv_row(&text, front->variable[i], m, result->variable_length[i]);
        for (int32_t i = 0; i < result->n_records; i++)
            csv_row(&text, front->record[i], m, result->record_length[i]);
        text_add(&text, "\n");
    }
    return text_write(&text, folder, file);
}

/* ---- plots ---- */

static const char *table_name(const ec_output_pattern *pattern)
{
    return pattern->table ? pattern->table : pattern->name;
}

static int pattern_check(const ec_output_pattern *pattern)
{
    bool grid = pattern->axis[1] != NULL;

    if (!pattern->name || !*pattern->name || strpbrk(pattern->name, "/'\"\\\n"))
        return ec_fail(EC_ERR_ARGUMENT, "pattern: '%s' is no name for a file",
                       pattern->name ? pattern->name : "");
    if (!pattern->axis[0] || !pattern->at[0] || !pattern->value || !pattern->level ||
        pattern->n[0] < 1 || (grid && (!pattern->at[1] || pattern->n[1] < 1)))
        return ec_fail(EC_ERR_ARGUMENT, "pattern '%s': an axis or the values are missing",
                       pattern->name);
    if (!pattern->max_db != !pattern->min_db || (grid && pattern->max_db))
        return ec_fail(EC_ERR_ARGUMENT, "pattern '%s': a mask has both lists, and belongs to a cut",
                       pattern->name);
    return EC_OK;
}

static int pattern_csv(const ec_output_pattern *pattern, const char *folder, const char *file)
{
    text_buffer text = {NULL, 0, 0, false};
    bool grid = pattern->axis[1] != NULL;
    int32_t inner = grid ? pattern->n[1] : 1;

    text_add(&text, grid ? "%s,%s,%s%s\n" : "%s%s,%s%s\n", pattern->axis[0],
             grid ? pattern->axis[1] : "", pattern->value, pattern->max_db ? ",max_db,min_db" : "");
    for (int32_t i = 0; i < pattern->n[0]; i++)
        for (int32_t k = 0; k < inner; k++) {
            text_add(&text, "%.17g,", pattern->at[0][i]);
            if (grid)
                text_add(&text, "%.17g,", pattern->at[1][k]);
            text_add(&text, "%.17g",
                     ec_printable(pattern->level[(size_t)i * (size_t)inner + (size_t)k]));
            if (pattern->max_db)
                text_add(&text, ",%.17g,%.17g", ec_printable(pattern->max_db[i]),
                         ec_printable(pattern->min_db[i]));
            text_add(&text, "\n");
        }
    return text_write(&text, folder, file);
}

void ec_output_axis_label(const char *column, char *text, size_t size)
{
    static const char *const units[][2] = {
        {"_db", "dB"}, {"_deg", "deg"}, {"_dbm", "dBm"}, {"_bit_s_hz", "bit/s/Hz"}};
    size_t length = strlen(column);

    snprintf(text, size, "%s", column);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t ending = strlen(units[i][0]);
        if (length > ending && strcmp(column + length - ending, units[i][0]) == 0)
            snprintf(text, size, "%.*s (%s)", (int)(length - ending), column, units[i][1]);
    }
    for (; *text; text++)
        if (*text == '_')
            *text = ' ';
}

/* Evenly spaced, so that the points are the pixels of an image. */
static bool is_even(const double *at, int32_t n)
{
    double step = n > 1 ? (at[n - 1] - at[0]) / (n - 1) : 0;

    for (int32_t i = 0; i < n; i++)
        if (!(fabs(at[i] - (at[0] + i * step)) <= 1e-3 * fabs(step)))
            return false;
    return n > 1;
}

static void pattern_levels(const ec_output_pattern *pattern, double *low, double *high)
{
    size_t n = (size_t)pattern->n[0] * (pattern->axis[1] ? (size_t)pattern->n[1] : 1);
    double top = -INFINITY;

    if (pattern->plain) {
        *low = pattern->floor;
        *high = pattern->top;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (pattern->level[i] > top && pattern->level[i] < INFINITY)
            top = pattern->level[i];
    if (top == -INFINITY)
        top = 0;
    *high = 10 * ceil(top / 10 - 1e-9) + 0.0; /* a peak of 0 dB may be rounded up; -0 becomes 0 */
    *low = isnan(pattern->floor) ? *high - 60 : pattern->floor;
    if (!(*low < *high))
        *low = *high - 10;
}

void ec_output_gnuplot_word(const char *word, char *text, size_t size)
{
    size_t n = 0;

    text[n++] = '\'';
    for (; *word && n + 4 < size; word++) {
        if (*word == '\'')
            text[n++] = '\'';
        text[n++] = *word == '\n' || *word == '\r' ? ' ' : *word;
    }
    text[n++] = '\'';
    text[n] = 0;
}

static void gnuplot_word(text_buffer *text, const char *word)
{
    char quoted[1024];

    ec_output_gnuplot_word(word, quoted, sizeof quoted);
    text_add(text, "%s", quoted);
}

static int pattern_gp(const ec_output_pattern *pattern, const char *folder, const char *file)
{
    text_buffer text = {NULL, 0, 0, false};
    bool grid = pattern->axis[1] != NULL;
    bool image =
        grid && is_even(pattern->at[0], pattern->n[0]) && is_even(pattern->at[1], pattern->n[1]);
    double low, high;
    char label[200];

    pattern_levels(pattern, &low, &high);
    text_add(&text,
             "# gnuplot %s.gp\n"
             "set terminal pngcairo noenhanced size %s font 'Sans,11'\n"
             "set output '%s.png'\n"
             "set datafile separator ','\n" /* a nan is left blank, nothing is drawn across it */
             "set key off\n"
             "set title ",
             pattern->name, grid ? "900,800" : "1000,600", pattern->name);
    gnuplot_word(&text, pattern->title ? pattern->title : pattern->name);
    text_add(&text, "\nset xlabel ");
    ec_output_axis_label(pattern->axis[0], label, sizeof label);
    gnuplot_word(&text, label);
    text_add(&text, "\nset ylabel ");
    ec_output_axis_label(grid ? pattern->axis[1] : pattern->value, label, sizeof label);
    gnuplot_word(&text, label);
    if (grid) {
        text_add(&text, "\nset cblabel ");
        ec_output_axis_label(pattern->value, label, sizeof label);
        gnuplot_word(&text, strcmp(pattern->value, "level_db") == 0 ? "dB" : label);
        text_add(&text, " offset 1");
        text_add(&text,
                 "\nset cbrange [%g:%g]\n%s"
                 "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n"
                 "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', "
                 "3 '#5ec962', 4 '#fde725')\n"
                 "plot '%s.csv' using 1:2:3 every ::1 with %s\n",
                 low, high, strcmp(pattern->axis[0], "u") == 0 ? "set size ratio -1\n" : "",
                 pattern->at[0][0], pattern->at[0][pattern->n[0] - 1], pattern->at[1][0],
                 pattern->at[1][pattern->n[1] - 1], table_name(pattern),
                 image ? "image" : "points pointtype 5 pointsize 0.4 linecolor palette");
    } else {
        text_add(&text,
                 "\nset xrange [%.10g:%.10g]\nset yrange [%g:%g]\nset grid\n"
                 "plot '%s.csv' using 1:2 every ::1 with lines linewidth 1.5%s\n",
                 pattern->at[0][0], pattern->at[0][pattern->n[0] - 1], low, high,
                 table_name(pattern),
                 !pattern->max_db
                     ? ""
                     : ", '' using 1:3 every ::1 with lines linewidth 1.5 linecolor rgb '#c03030'"
                       ", '' using 1:4 every ::1 with lines linewidth 1.5 linecolor rgb '#c08000'");
    }
    return text_write(&text, folder, file);
}

static bool find_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    while (path && *path) {
        size_t length = strcspn(path, ":");
        int printed = snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (length > 0 && printed > 0 && (size_t)printed < sizeof file && access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* Runs gnuplot on a file in the folder; false when it fails or does not come to an end. */
static bool run_gnuplot(const char *folder, const char *file)
{
    pid_t child = fork();

    if (child < 0)
        return false;
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
            chdir(folder) != 0)
            _exit(127);
        signal(SIGPIPE, SIG_DFL); /* a program may ignore it */
        execlp("gnuplot", "gnuplot", file, (char *)NULL);
        _exit(127);
    }
    int state = 0;
    struct timespec pause = {0, 5000000};
    for (int i = 0; i < PLOT_SECONDS * 200; i++) {
        pid_t done = waitpid(child, &state, WNOHANG);
        if (done == child)
            return WIFEXITED(state) && WEXITSTATUS(state) == 0;
        if (done < 0 && errno != EINTR)
            return false;
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &state, 0);
    return false;
}

bool ec_output_draw(const char *folder, const char *name, ec_log *log)
{
    char file[512], image[5000];

    snprintf(file, sizeof file, "%.400s.gp", name);
    if (!find_program("gnuplot")) {
        ec_log_write(log, EC_LOG_INFO,
                     "%s/%.400s.png was not drawn: there is no gnuplot on this machine (Debian "
                     "package gnuplot-nox); `gnuplot %s` draws it later",
                     folder, name, file);
        return false;
    }
    snprintf(image, sizeof image, "%s/%.400s.png", folder, name);
    bool drawn = run_gnuplot(folder, file) && access(image, R_OK) == 0;
    if (!drawn)
        ec_log_write(log, EC_LOG_WARNING, "%s was not drawn: gnuplot failed on %s", image, file);
    return drawn;
}

int ec_output_plot(const ec_output_pattern *pattern, const char *folder, bool *plotted, ec_log *log)
{
    char file[512];

    if (plotted)
        *plotted = false;
    int status = pattern_check(pattern);
    if (status < 0)
        return status;
    snprintf(file, sizeof file, "%.400s.csv", table_name(pattern));
    status = pattern_csv(pattern, folder, file);
    if (status < 0)
        return status;
    snprintf(file, sizeof file, "%.400s.gp", pattern->name);
    status = pattern_gp(pattern, folder, file);
    if (status < 0)
        return status;
    bool drawn = ec_output_draw(folder, pattern->name, log);
    if (plotted)
        *plotted = drawn;
    return EC_OK;
}

/* Two objectives of the front in front.csv, and the member that is the result's design. */
static int front_gp(const ec_job *job, const ec_result *result, const char *folder)
{
    text_buffer text = {NULL, 0, 0, false};
    char label[200];

    text_add(&text, "# gnuplot front.gp\n"
                    "set terminal pngcairo noenhanced size 900,650 font 'Sans,11'\n"
                    "set output 'front.png'\n"
                    "set datafile separator ','\n"
                    "set key off\nset grid\nset title ");
    gnuplot_word(&text, ec_job_name(job));
    for (int32_t k = 0; k < 2; k++) {
        text_add(&text, k ? "\nset ylabel " : "\nset xlabel ");
        ec_output_axis_label(ec_job_objective(job, k)->name, label, sizeof label);
        gnuplot_word(&text, label);
    }
    text_add(&text,
             "\nset offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n"
             "plot 'front.csv' using 2:3 every ::1 with points pointtype 7 pointsize 0.8, \\\n"
             "     '' using 2:3 every ::%d::%d with points pointtype 6 pointsize 2 linewidth 2\n",
             (int)result->front.best + 1, (int)result->front.best + 1);
    return text_write(&text, folder, "front.gp");
}

int ec_output_all(const ec_job *job, const ec_result *result, const char *folder,
                  int32_t n_patterns, const ec_output_pattern *patterns, ec_log *log)
{
    int status = ec_output_folder(folder);
    if (status == EC_OK)
        status = ec_output_best(job, result, folder);
    if (status == EC_OK)
        status = ec_output_history(result, folder);
    if (status == EC_OK)
        status = ec_output_failures(job, result, folder);
    if (status == EC_OK && result->n_objectives > 1)
        status = ec_output_front(job, result, folder, "front.csv");
    if (status == EC_OK && result->n_objectives == 2 && result->front.n > 0) {
        status = front_gp(job, result, folder);
        if (status == EC_OK)
            ec_output_draw(folder, "front", log);
    }
    for (int32_t i = 0; i < n_patterns && status == EC_OK; i++)
        status = ec_output_plot(&patterns[i], folder, NULL, log);
    return status;
}
