/* sweep_table.c: the rows of a sweep in the run store, and their CSV file. */
#include "sweep_table.h"
#include "graph_fingerprint.h"
#include "job_internal.h"
#include "output.h"
#include "output_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 26, BLOCK_BYTES = 8 << 20 };

struct ec_sweep_table {
    ec_sweep_store store;
    ec_store *kept;
    ec_store_table *rows; /* NULL: not opened yet */
    char *folder, *name;
    uint64_t script;
    bool fresh;
    ec_log *log;
    char *header; /* of the CSV file */
    size_t columns;
    double *row; /* one value a column */
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "sweep: no memory for the table");
}

/* ---- what the rows are computed from ---- */

typedef struct quantity {
    char label[300]; /* "objective f0" */
    uint64_t fingerprint;
} quantity;

static void name_quantity(quantity *q, const char *kind, const char *name)
{
    snprintf(q->label, sizeof q->label, "%s %s", kind, name);
}

/* Every quantity of the sweep; *list has *n of them. */
static int list_quantities(const ec_sweep *s, uint64_t script, quantity **list, int32_t *n)
{
    ec_job *job = s->job;
    int32_t most = job->n_variables + job->n_objectives + job->n_constraints + job->n_records + 1;
    quantity *q = (quantity *)calloc((size_t)most, sizeof *q);
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * (size_t)most);
    uint64_t *prints = (uint64_t *)malloc(sizeof *prints * (size_t)most);
    int status = q && exprs && prints ? EC_OK : no_memory();
    int32_t at = 0;

    for (int32_t i = 0; i < job->n_variables && status == EC_OK; i++, at++) {
        name_quantity(&q[at], "variable", job->variables[i]->variable.name);
        exprs[at] = job->variables[i]->variable.value;
    }
    for (int32_t i = 0; i < job->n_objectives && status == EC_OK; i++, at++) {
        name_quantity(&q[at], "objective", job->objectives[i].name);
        exprs[at] = job->objectives[i].expr;
    }
    for (int32_t i = 0; i < job->n_constraints && status == EC_OK; i++, at++) {
        name_quantity(&q[at], "constraint", job->constraints[i].name);
        exprs[at] = ec_job_margin(job, &job->constraints[i]);
    }
    if (job->n_constraints > 0 && status == EC_OK) {
        name_quantity(&q[at], "total", "violation");
        exprs[at++] = ec_job_violation(job);
    }
    for (int32_t i = 0; i < job->n_records && status == EC_OK; i++, at++) {
        name_quantity(&q[at], "recorded", job->records[i].name);
        exprs[at] = job->records[i].expr;
    }
    for (int32_t i = 0; i < at && status == EC_OK; i++)
        status = exprs[i] < 0 ? exprs[i] : EC_OK;
    if (status == EC_OK)
        status = ec_graph_fingerprint(job->graph, at, exprs, script, prints);
    for (int32_t i = 0; i < at && status == EC_OK; i++)
        q[i].fingerprint = prints[i];
    free(exprs);
    free(prints);
    *list = q;
    *n = at;
    return status;
}

static const char *fidelity_word(const ec_sweep *s)
{
    return s->fidelity == EC_FINAL ? "final" : "search";
}

/* A line for each thing that has to agree before rows are taken; malloc'ed. */
static int write_origin(const ec_sweep_table *t, const ec_sweep *s, char **text)
{
    quantity *list = NULL;
    int32_t n = 0;
    size_t size = 0;

    *text = NULL;
    int status = list_quantities(s, t->script, &list, &n);
    FILE *to = status == EC_OK ? open_memstream(text, &size) : NULL;
    if (status == EC_OK && !to)
        status = no_memory();
    if (to) {
        fprintf(to, "version: %s\nfidelity: %s\n", EC_VERSION, fidelity_word(s));
        for (int32_t i = 0; i < n; i++)
            fprintf(to, "%s: %016" PRIx64 "\n", list[i].label, list[i].fingerprint);
        if (fclose(to) != 0)
            status = no_memory();
    }
    free(list);
    return status;
}

static const char advice[] = "give another --out or name, or fresh = true to drop its rows";

/* The line of a text that begins with the first `label` bytes of `line`, or NULL. */
static const char *find_line(const char *text, const char *line, size_t label)
{
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, line, label) == 0)
            return at;
    return NULL;
}

/* What a line says behind its label. */
static int value_of(const char *line, size_t label)
{
    return (int)(strcspn(line, "\n") - label);
}

/* Why the rows that are there are not those of this sweep. */
static int refuse(const ec_sweep_table *t, const char *ours, const char *theirs)
{
    const char *path = ec_store_path(t->kept);

    for (const char *at = ours; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t line = strcspn(at, "\n"), label = line;
        while (label > 0 && at[label - 1] != ' ')
            label--;
        const char *other = find_line(theirs, at, label);
        if (!other || strncmp(other, at, line + 1) == 0)
            continue;
        if (strncmp(at, "version: ", label) == 0 || strncmp(at, "fidelity: ", label) == 0)
            return ec_fail(EC_ERR_FORMAT,
                           "sweep: the rows of '%s' in %s have %.*s %.*s, this sweep has %.*s; %s",
                           t->name, path, (int)label - 2, at, value_of(other, label), other + label,
                           value_of(at, label), at + label, advice);
        return ec_fail(EC_ERR_FORMAT,
                       "sweep: the rows of '%s' in %s were computed from another %.*s: its "
                       "expression, bounds or model changed since; %s",
                       t->name, path, (int)label - 2, at, advice);
    }
    return ec_fail(EC_ERR_FORMAT,
                   "sweep: the rows of '%s' in %s have other variables, objectives, constraints or "
                   "recorded quantities than this sweep; %s",
                   t->name, path, advice);
}

/* ---- columns ---- */

/* The quantity that begins at column c, and how many columns it has. */
static int32_t describe_quantity(const ec_sweep *s, int32_t c, ec_store_quantity *q)
{
    static const char *const kinds[] = {"variable", "objective", "constraint", "violation",
                                        "recorded"};
    const ec_job *job = s->job;
    const ec_sweep_column *first = &s->columns[c];
    int32_t n = 1;

    while (c + n < s->n_columns && s->columns[c + n].kind == first->kind &&
           s->columns[c + n].index == first->index)
        n++;
    *q = (ec_store_quantity){.kind = kinds[first->kind],
                             .name = "violation",
                             .length = first->element < 0 ? 0 : n,
                             .min = NAN,
                             .max = NAN};
    if (first->kind == EC_SWEEP_VARIABLE) {
        *q = ec_store_variable(job, first->index);
    } else if (first->kind == EC_SWEEP_OBJECTIVE) {
        q->name = job->objectives[first->index].name;
    } else if (first->kind == EC_SWEEP_CONSTRAINT) {
        q->name = job->constraints[first->index].name;
    } else if (first->kind == EC_SWEEP_RECORD) {
        q->name = job->records[first->index].name;
    }
    return n;
}

/* The header line of the CSV file. */
static int write_header(ec_sweep_table *t, const ec_sweep *s)
{
    size_t size = 0;
    FILE *to = open_memstream(&t->header, &size);
    bool good = to != NULL;

    for (int32_t c = 0; c <= s->n_columns && good; c++) {
        char *field = ec_output_csv_field(c < s->n_columns ? s->columns[c].name : "status");
        good = field != NULL;
        if (good)
            fprintf(to, "%s%c", field, c < s->n_columns ? ',' : '\n');
        free(field);
    }
    if (to && fclose(to) != 0)
        good = false;
    return good ? EC_OK : no_memory();
}

static int open_rows(ec_sweep_table *t, const ec_sweep *s)
{
    ec_store_quantity *list =
        (ec_store_quantity *)malloc(sizeof *list * ((size_t)s->n_columns + 1));
    char *origin = NULL, *other = NULL;
    int32_t n = 0;

    int status = list ? write_origin(t, s, &origin) : no_memory();
    for (int32_t c = 0; c < s->n_columns && status == EC_OK; n++)
        c += describe_quantity(s, c, &list[n]);
    if (status == EC_OK)
        status = ec_store_sweep_open(t->kept, t->name, origin, list, n, t->fresh, &t->rows, &other);
    if (status == EC_OK && other)
        status = refuse(t, origin, other);
    free(list);
    free(origin);
    free(other);
    return status;
}

/* ---- rows ---- */

static int offer_row(void *user, const ec_store_row *row)
{
    ec_sweep_offer((ec_sweep *)user, row->values, row->status);
    return EC_OK;
}

static int load_rows(void *user, ec_sweep *s)
{
    ec_sweep_table *t = (ec_sweep_table *)user;

    t->columns = (size_t)s->n_columns;
    t->row = (double *)malloc(sizeof *t->row * (t->columns + 1));
    int status = t->row ? write_header(t, s) : no_memory();
    if (status == EC_OK)
        status = open_rows(t, s);
    if (status == EC_OK)
        status = ec_store_table_read(t->rows, s, offer_row);
    if (status == EC_OK && s->found > 0)
        ec_log_write(t->log, EC_LOG_INFO, "%zu of %zu rows found in %s, %zu to run", s->found,
                     s->distinct, ec_store_path(t->kept), s->distinct - s->found);
    return status;
}

static int refresh_rows(void *user, ec_sweep *s)
{
    ec_sweep_table *t = (ec_sweep_table *)user;

    return ec_store_table_refresh(t->rows, s, offer_row);
}

static int append_rows(void *user, const ec_sweep *s, const size_t *designs, size_t n)
{
    ec_sweep_table *t = (ec_sweep_table *)user;

    int status = ec_store_begin(t->kept);
    for (size_t i = 0; i < n && status == EC_OK; i++) {
        for (int32_t c = 0; c < s->n_columns; c++)
            t->row[c] = ec_sweep_value(s, c, designs[i]);
        ec_store_row row = {.status = s->status[designs[i]], .values = t->row, .violation = NAN};
        status = ec_store_table_add(t->rows, &row, 1);
    }
    if (status == EC_OK)
        return ec_store_commit(t->kept);
    ec_store_rollback(t->kept);
    return status;
}

/* ---- the CSV file ---- */

/* As %.17g; whole numbers, which are frequent, without printf. Returns the end. */
static char *format_number(char *to, double value)
{
    if (!(fabs(value) < 1e15) || value != (double)(int64_t)value || (value == 0 && signbit(value)))
        return to + snprintf(to, NUMBER_MAX, "%.17g", ec_printable(value));
    char digits[20];
    uint64_t rest = (uint64_t)fabs(value);
    int n = 0;
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *to++ = '-';
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

/* Rows that wait to be written as text, side by side. */
typedef struct block {
    const ec_sweep_table *table;
    FILE *to;
    double *values; /* rows of the columns and the status */
    char *text;
    size_t *length;
    size_t n, capacity;
} block;

static size_t format_row(const double *row, size_t n, char *to)
{
    char *at = to;

    for (size_t c = 0; c < n; c++) {
        at = format_number(at, row[c]);
        *at++ = c + 1 < n ? ',' : '\n';
    }
    return (size_t)(at - to);
}

static void write_block(block *b)
{
    size_t n = b->table->columns + 1, width = NUMBER_MAX * n;

#pragma omp parallel for if (b->n * width > 65536)
    for (size_t i = 0; i < b->n; i++)
        b->length[i] = format_row(b->values + i * n, n, b->text + i * width);
    for (size_t i = 0; i < b->n; i++)
        fwrite(b->text + i * width, 1, b->length[i], b->to);
    b->n = 0;
}

static int take_row(void *user, const ec_store_row *row)
{
    block *b = (block *)user;
    size_t n = b->table->columns;
    double *to = b->values + b->n++ * (n + 1);

    memcpy(to, row->values, sizeof *to * n);
    to[n] = row->status;
    if (b->n == b->capacity)
        write_block(b);
    return EC_OK;
}

static int write_rows(const ec_sweep_table *t, FILE *to)
{
    size_t width = NUMBER_MAX * (t->columns + 1);
    size_t capacity = BLOCK_BYTES / width > 0 ? BLOCK_BYTES / width : 1;
    block b = {.table = t,
               .to = to,
               .values = (double *)malloc(sizeof(double) * (t->columns + 1) * capacity),
               .text = (char *)malloc(width * capacity),
               .length = (size_t *)malloc(sizeof(size_t) * capacity),
               .capacity = capacity};
    int status = b.values && b.text && b.length ? EC_OK : no_memory();

    if (status == EC_OK) {
        fputs(t->header, to);
        status = ec_store_table_read(t->rows, &b, take_row);
    }
    if (status == EC_OK)
        write_block(&b);
    free(b.values);
    free(b.text);
    free(b.length);
    return status;
}

/* Every row that the store has of this sweep, in the order in which they were run. */
static int write_csv(const ec_sweep_table *t)
{
    char path[4400], reason[1024];
    ec_output_file file;

    snprintf(path, sizeof path, "%s/%s.csv", t->folder, t->name);
    int status = ec_output_file_open(path, &file);
    if (status < 0)
        return status;
    int written = write_rows(t, file.stream);
    snprintf(reason, sizeof reason, "%s", ec_error_text());
    status = ec_output_file_close(&file);
    return written < 0 ? ec_fail(written, "%s", reason) : status;
}

/* ---- life ---- */

/* Files that a search writes into the same folder. */
static bool is_of_search(const char *name)
{
    static const char *const names[] = {"best", "history", "front", "failures"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

int ec_sweep_table_create(const ec_sweep_table_info *info, ec_sweep_table **table)
{
    if (!info->name || !info->name[0] || strpbrk(info->name, "/\n") || info->name[0] == '.' ||
        strlen(info->name) > 200 || (info->folder && strlen(info->folder) > 4096))
        return ec_fail(EC_ERR_ARGUMENT, "'%s' is no name for a file", info->name ? info->name : "");
    if (is_of_search(info->name))
        return ec_fail(EC_ERR_ARGUMENT, "'%s.csv' is a file of a search: give another name",
                       info->name);
    ec_sweep_table *t = (ec_sweep_table *)calloc(1, sizeof *t);
    if (!t)
        return no_memory();
    t->kept = info->store;
    t->folder = info->folder ? strdup(info->folder) : NULL;
    t->name = strdup(info->name);
    t->script = info->script;
    t->fresh = info->fresh;
    t->log = info->log;
    t->store = (ec_sweep_store){t, load_rows, append_rows, refresh_rows, info->share};
    if ((info->folder && !t->folder) || !t->name) {
        ec_sweep_table_destroy(&t);
        return no_memory();
    }
    *table = t;
    return EC_OK;
}

const ec_sweep_store *ec_sweep_table_store(const ec_sweep_table *table)
{
    return &table->store;
}

int ec_sweep_table_destroy(ec_sweep_table **handle)
{
    ec_sweep_table *t = handle ? *handle : NULL;
    int status = EC_OK;

    if (!t)
        return EC_OK;
    if (t->rows && t->folder)
        status = write_csv(t);
    ec_store_table_close(&t->rows);
    free(t->folder);
    free(t->name);
    free(t->header);
    free(t->row);
    free(t);
    *handle = NULL;
    return status;
}
