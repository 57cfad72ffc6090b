/* eciton export: what a run store holds, as CSV files or one JSON file, or the run's files of its winner
 * (cli_export_files.c). */
#include "cli_store.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "cli_export_files.h"
#include "cli_options.h"
#include "cli_table.h"
#include "output.h"
#include "output_file.h"

/* The columns of one table: those that every table of its kind has, then quantities. */
typedef struct columns {
    char **names; /* of the quantities */
    int32_t *length;
    int n, own;
} columns;

typedef struct writing {
    ec_store *store;
    const char *folder;
    bool json;
    FILE *to;
    columns columns;
    bool first; /* row of its table */
} writing;

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "export: no memory");
}

static const char *text_of(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_TEXT ? cell->text : "";
}

/* ---- quantities ---- */

static int take_quantity(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    columns *c = user;
    char **more = realloc(c->names, sizeof *more * ((size_t)c->n + 1));
    int32_t *length = realloc(c->length, sizeof *length * ((size_t)c->n + 1));

    (void)n;
    (void)names;
    if (more)
        c->names = more;
    if (length)
        c->length = length;
    if (!more || !length || !(more[c->n] = strdup(text_of(&cells[0]))))
        return no_memory();
    length[c->n++] = (int32_t)cells[1].integer;
    return EC_OK;
}

static void release_columns(columns *c)
{
    for (int i = 0; i < c->n; i++)
        free(c->names[i]);
    free(c->names);
    free(c->length);
    *c = (columns){.n = 0};
}

/* ---- CSV ---- */

static int put_field(FILE *to, const char *text)
{
    char *field = ec_output_csv_field(text);

    if (!field)
        return no_memory();
    fputs(field, to);
    free(field);
    return EC_OK;
}

static int put_header(const writing *w, int n, const char *const *names)
{
    const columns *c = &w->columns;
    char label[400];
    int status = EC_OK;

    for (int i = 0; i < c->own && i < n && status == EC_OK; i++) {
        fputs(i ? "," : "", w->to);
        status = put_field(w->to, names[i]);
    }
    for (int i = 0; i < c->n && status == EC_OK; i++) {
        for (int32_t k = 0; k < (c->length[i] > 0 ? c->length[i] : 1) && status == EC_OK; k++) {
            fputc(',', w->to);
            snprintf(label, sizeof label, c->length[i] > 0 ? "%.300s[%d]" : "%.300s", c->names[i],
                     (int)k + 1);
            status = put_field(w->to, label);
        }
    }
    fputc('\n', w->to);
    return status;
}

static int put_cell(FILE *to, const ec_store_cell *cell)
{
    if (cell->kind == EC_CELL_TEXT)
        return put_field(to, cell->text);
    if (cell->kind == EC_CELL_INTEGER)
        fprintf(to, "%lld", (long long)cell->integer);
    else if (cell->kind == EC_CELL_NUMBER)
        fprintf(to, "%.17g", ec_printable(cell->number));
    return EC_OK; /* what is unknown is an empty field */
}

static int put_csv_row(const writing *w, int n, const ec_store_cell *cells)
{
    const columns *c = &w->columns;
    int status = EC_OK;

    for (int i = 0; i < n && status == EC_OK; i++) {
        int32_t length = i < c->own ? 0 : c->length[i - c->own];
        fputs(i ? "," : "", w->to);
        if (length == 0)
            status = put_cell(w->to, &cells[i]);
        for (int32_t k = 0; k < length; k++)
            fprintf(w->to, "%s%.17g", k ? "," : "",
                    ec_printable(ec_store_cell_element(&cells[i], k)));
    }
    fputc('\n', w->to);
    return status;
}

/* ---- JSON ---- */

/* cJSON prints some doubles with 15 digits, so numbers go in as text. */
static cJSON *json_number(double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", value);
    return isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
}

static cJSON *json_cell(const ec_store_cell *cell, int32_t length)
{
    char text[24];

    if (cell->kind == EC_CELL_BLOB) {
        if (length == 0)
            length = (int32_t)(cell->size / sizeof(double)); /* bounds of a list's elements */
        cJSON *list = cJSON_CreateArray();
        for (int32_t k = 0; list && k < length; k++)
            cJSON_AddItemToArray(list, json_number(ec_store_cell_element(cell, k)));
        return list;
    }
    if (cell->kind == EC_CELL_TEXT)
        return cJSON_CreateString(cell->text);
    if (cell->kind == EC_CELL_NUMBER)
        return json_number(cell->number);
    if (cell->kind != EC_CELL_INTEGER)
        return cJSON_CreateNull();
    snprintf(text, sizeof text, "%lld", (long long)cell->integer);
    return cJSON_CreateRaw(text);
}

/* A row as an object on a line: rows are written one by one, however many they are. */
static int put_json_row(const writing *w, int n, const char *const *names,
                        const ec_store_cell *cells)
{
    const columns *c = &w->columns;
    cJSON *row = cJSON_CreateObject();
    bool good = row != NULL;

    for (int i = 0; i < n && good; i++)
        good = cJSON_AddItemToObject(row, names[i],
                                     json_cell(&cells[i], i < c->own ? 0 : c->length[i - c->own]));
    char *text = good ? cJSON_PrintUnformatted(row) : NULL;
    cJSON_Delete(row);
    if (!text)
        return no_memory();
    fprintf(w->to, "%s\n%s", w->first ? "" : ",", text);
    cJSON_free(text);
    return EC_OK;
}

/* ---- tables ---- */

static int put_row(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    writing *w = user;
    int status = EC_OK;

    if (w->json) {
        status = put_json_row(w, n, names, cells);
    } else {
        if (w->first)
            status = put_header(w, n, names);
        if (status == EC_OK)
            status = put_csv_row(w, n, cells);
    }
    w->first = false;
    return status;
}

/* Half a table is no file of that name. */
static int end_file(ec_output_file *file, int written)
{
    char reason[1024];

    if (written == EC_OK)
        return ec_output_file_close(file);
    snprintf(reason, sizeof reason, "%s", ec_error_text());
    ec_output_file_drop(file);
    return ec_fail(written, "%s", reason);
}

/* Rows of a query; of CSV a file of their own, of JSON a list called `name`. */
static int put_table(writing *w, const char *file, const char *name, const char *sql,
                     int64_t parameter)
{
    ec_output_file out;
    char path[4400];

    w->first = true;
    if (w->json) {
        fprintf(w->to, ",\"%s\":[", name);
        int status = ec_store_query(w->store, sql, parameter, w, put_row);
        fputs("]", w->to);
        return status;
    }
    snprintf(path, sizeof path, "%s/%s.csv", w->folder, file);
    int status = ec_output_file_open(path, &out);
    if (status < 0)
        return status;
    w->to = out.stream;
    return end_file(&out, ec_store_query(w->store, sql, parameter, w, put_row));
}

/* A table with quantities: the columns of its own that are named, then all of them. */
static int put_quantities(writing *w, const char *file, const char *name, const char *owner,
                          int64_t number, const char *own, int n_own)
{
    char *sql = NULL, list[200];
    size_t size = 0;

    snprintf(list, sizeof list,
             "SELECT \"column\", length FROM quantity WHERE owner = '%s' AND number = ?1"
             " ORDER BY position",
             owner);
    int status = ec_store_query(w->store, list, number, &w->columns, take_quantity);
    w->columns.own = n_own;
    FILE *to = status == EC_OK ? open_memstream(&sql, &size) : NULL;
    if (status == EC_OK && !to)
        status = no_memory();
    if (to) {
        fprintf(to, "SELECT %s", own);
        for (int i = 0; i < w->columns.n; i++) {
            fputs(", ", to);
            ec_store_put_name(to, w->columns.names[i]);
        }
        fprintf(to, " FROM %s_%lld ORDER BY id", strcmp(owner, "sweep") == 0 ? "rows" : "designs",
                (long long)number);
        status = fclose(to) == 0 ? put_table(w, file, name, sql, 0) : no_memory();
    }
    free(sql);
    release_columns(&w->columns);
    return status;
}

static int put_search(writing *w, int64_t number)
{
    char history[60], designs[60];

    snprintf(history, sizeof history, "search_%lld_history", (long long)number);
    snprintf(designs, sizeof designs, "search_%lld_designs", (long long)number);
    w->columns.own = 99; /* every column is of the table's own */
    int status = put_table(w, history, history,
                           "SELECT generation, kept, evaluations, failed, seconds, best, median,"
                           " spread, violation, feasible, population, hypervolume, front"
                           " FROM history WHERE search = ?1 ORDER BY generation",
                           number);
    if (status == EC_OK)
        status = put_quantities(w, designs, designs, "search", number,
                                "id, generation, stage, status, reason, violation", 6);
    return status;
}

/* A search, or a sweep with its name. */
typedef struct found_item {
    int64_t number;
    char *name;
} found_item;

typedef struct found {
    found_item *items;
    size_t n;
} found;

static int take_item(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    found *f = user;
    found_item *more = realloc(f->items, sizeof *more * (f->n + 1));

    (void)names;
    if (!more)
        return no_memory();
    f->items = more;
    more[f->n] = (found_item){cells[0].integer, strdup(n > 1 ? text_of(&cells[1]) : "")};
    return more[f->n++].name ? EC_OK : no_memory();
}

static int put_items(writing *w, const char *query, bool sweeps)
{
    found f = {.n = 0};
    char name[60];

    int status = ec_store_query(w->store, query, 0, &f, take_item);
    for (size_t i = 0; i < f.n; i++) {
        const found_item *item = &f.items[i];
        snprintf(name, sizeof name, "sweep_%lld", (long long)item->number);
        if (status == EC_OK)
            status = sweeps ? put_quantities(w, item->name, name, "sweep", item->number,
                                             "id, status, reason", 3)
                            : put_search(w, item->number);
        free(item->name);
    }
    free(f.items);
    return status;
}

static int put_all(writing *w)
{
    int status = EC_OK;

    w->columns.own = 99;
    if (w->json) {
        w->first = true;
        fputs("{\"format\":\"eciton run 1\"", w->to);
        status = put_table(w, NULL, "run",
                           "SELECT id, status, started, ended, version, script, script_hash,"
                           " backend, device, isa, seed FROM run ORDER BY id",
                           0);
        if (status == EC_OK)
            status = put_table(w, NULL, "search", "SELECT * FROM search ORDER BY number", 0);
        if (status == EC_OK)
            status = put_table(w, NULL, "sweep",
                               "SELECT number, name, created FROM sweep ORDER BY number", 0);
        if (status == EC_OK)
            status = put_table(w, NULL, "quantity",
                               "SELECT * FROM quantity ORDER BY owner, number, position", 0);
    }
    if (status == EC_OK)
        status = put_items(w, "SELECT number FROM search ORDER BY number", false);
    if (status == EC_OK)
        status = put_items(w, "SELECT number, name FROM sweep ORDER BY number", true);
    if (w->json)
        fputs("}\n", w->to);
    return status;
}

static int export_store(writing *w)
{
    ec_output_file out;
    char path[4400];

    int status = ec_output_folder(w->folder);
    if (status < 0 || !w->json)
        return status < 0 ? status : put_all(w);
    snprintf(path, sizeof path, "%s/run.json", w->folder);
    status = ec_output_file_open(path, &out);
    if (status < 0)
        return status;
    w->to = out.stream;
    return end_file(&out, put_all(w));
}

/* The formats: which is asked for, and what writes it. */
static const char *const formats[] = {"--csv", "--json", "--touchstone", "--ffd"};
enum { FORMATS = sizeof formats / sizeof *formats };

static int export_as(const char *from, const char *to, int format)
{
    writing w = {.folder = to, .json = format == 1};
    char folder[4200];

    if (format > 1)
        return ec_cli_export_files(from, to, format == 2);
    snprintf(folder, sizeof folder, "%s/export", from);
    if (!to)
        w.folder = folder;
    int status = ec_store_open(from, EC_STORE_READ, NULL, &w.store);
    if (status == EC_OK) {
        ec_cli_warn_damage(w.store);
        status = export_store(&w);
    }
    ec_store_close(&w.store);
    if (status == EC_OK)
        printf("written to %s\n", w.folder);
    return status;
}

int ec_cli_export(int argc, char **argv)
{
    const char *from = NULL, *to = NULL;
    int format = -1;

    for (int i = 0; i < argc; i++) {
        int which = 0;
        while (which < FORMATS && strcmp(argv[i], formats[which]) != 0)
            which++;
        bool good = true;
        if (which < FORMATS) {
            good = format < 0 || format == which;
            format = which;
        } else if (strcmp(argv[i], "--to") == 0 && i + 1 < argc) {
            to = argv[++i];
        } else {
            good = argv[i][0] != '-' && !from;
            from = argv[i];
        }
        if (!good)
            return ec_cli_misused("export", NULL, argv[i]);
    }
    if (!from || format < 0)
        return ec_cli_misused("export", from ? "in which format?" : "which run?", NULL);
    if (!ec_store_exists(from))
        ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'", from, from);
    if (ec_store_exists(from) && export_as(from, to, format) == EC_OK)
        return EC_EXIT_OK;
    fprintf(stderr, "eciton: %s\n", ec_error_text());
    return EC_EXIT_ERROR;
}
