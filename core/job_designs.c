/* job_designs.c: designs out of a CSV file, as genes of a job; see ec_job_read_designs. */
#include "job_internal.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MAX = 512, EXPECTED_MAX = 400 };

/* What a column holds: an element of a variable, all of them (WHOLE), or nothing that is read. */
enum { PASSED_OVER = -1, WHOLE = -1 };
typedef struct column {
    int32_t variable, element;
} column;

typedef struct reader {
    const ec_job *job;
    const char *file;
    int line;
    int32_t *first; /* of a variable's elements in value and seen */
    int32_t elements;
    double *value; /* of one design */
    bool *seen;
    column *columns;
    int32_t n_columns;
    bool whole; /* columns are variables, rows their elements */
    bool
        table; /* Eciton wrote it, maybe for another job: columns that are unknown are passed over */
    /* values that were moved onto their bounds */
    size_t moved;
    ec_job_moved example;
    int32_t example_variable, example_line;
} reader;

/* ---- text ---- */

static const char *next_line(const char *p)
{
    while (*p && *p != '\n')
        p++;
    return *p ? p + 1 : p;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static bool line_ends(const char *p)
{
    return *p == '\0' || *p == '\n';
}

static bool is_blank_line(const char *p)
{
    p = skip_blanks(p);
    return line_ends(p) || *p == '#';
}

/* The field at *at, without quotes and blanks around it; *at is then behind its separator, or NULL
 * when it was the line's last one. */
static void read_field(const char **at, char text[FIELD_MAX])
{
    const char *p = skip_blanks(*at);
    size_t n = 0;

    if (*p == '"') {
        for (p++; *p && *p != '\n' && (*p != '"' || p[1] == '"'); p++) {
            p += *p == '"';
            if (n + 1 < FIELD_MAX)
                text[n++] = *p;
        }
        while (!line_ends(p) && *p != ',' && *p != ';')
            p++;
    } else {
        for (; !line_ends(p) && *p != ',' && *p != ';'; p++)
            if (n + 1 < FIELD_MAX)
                text[n++] = *p;
        while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
            n--;
    }
    text[n] = '\0';
    *at = line_ends(p) ? NULL : p + 1;
}

static bool read_number(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

/* ---- names ---- */

static int32_t find_variable(const ec_job *job, const char *name)
{
    for (int32_t v = 0; v < job->n_variables; v++)
        if (strcmp(job->variables[v]->variable.name, name) == 0)
            return v;
    return -1;
}

/* Cuts "[k]" off a name; 0: there is none. */
static int32_t cut_index(char *name)
{
    char *bracket = strrchr(name, '['), *end;

    if (!bracket || bracket[1] < '0' || bracket[1] > '9')
        return 0;
    long k = strtol(bracket + 1, &end, 10);
    if (strcmp(end, "]") != 0 || k < 1 || k > INT32_MAX)
        return 0;
    *bracket = '\0';
    return (int32_t)k;
}

/* Columns that only tables of sweeps, fronts and failures have. */
static bool is_table_column(const char *name)
{
    static const char *const words[] = {"violation", "status", "member", "generation", "reason"};
    bool found = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found = found || strcmp(words[i], name) == 0;
    return found;
}

/* What stands beside the variables in files that Eciton writes. */
static bool is_other_column(const ec_job *job, const char *name)
{
    bool found = is_table_column(name);

    for (int32_t i = 0; i < job->n_objectives; i++) {
        const char *objective = job->objectives[i].name;
        found = found || strcmp(objective, name) == 0 ||
                (strncmp(name, "search_", 7) == 0 && strcmp(objective, name + 7) == 0);
    }
    for (int32_t i = 0; i < job->n_constraints; i++)
        found = found || strcmp(job->constraints[i].name, name) == 0;
    for (int32_t i = 0; i < job->n_records; i++)
        found = found || strcmp(job->records[i].name, name) == 0;
    return found;
}

static bool is_read(const ec_variable *variable)
{
    return !variable->group && variable->n_genes > 0;
}

/* "x[1] to x[4], n" */
static void write_expected(const ec_job *job, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int32_t v = 0; v < job->n_variables && used < size; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        const char *comma = used ? ", " : "", *name = variable->name;
        if (!is_read(variable))
            continue;
        if (variable->count > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s[1] to %s[%d]", comma, name,
                                     name, (int)variable->count);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s%s", comma, name,
                                     variable->count == 1 ? "[1]" : "");
    }
}

static void element_name(const reader *r, int32_t variable, int32_t element, char *text,
                         size_t size)
{
    const ec_variable *v = &r->job->variables[variable]->variable;

    if (v->count > 0)
        snprintf(text, size, "%.200s[%d]", v->name, (int)element + 1);
    else
        snprintf(text, size, "%.200s", v->name);
}

static int fail_unknown(const reader *r, const char *name)
{
    char expected[EXPECTED_MAX];

    write_expected(r->job, expected, sizeof expected);
    return ec_fail(EC_ERR_FORMAT,
                   "'%s' has a column '%.100s', which is nothing of this job; expected are %s",
                   r->file, name, expected);
}

static int fail_missing(const reader *r, int32_t variable, int32_t element)
{
    char expected[EXPECTED_MAX], name[256];

    write_expected(r->job, expected, sizeof expected);
    element_name(r, variable, element, name, sizeof name);
    return ec_fail(EC_ERR_FORMAT, "'%s' has no %s '%s'; expected are %s", r->file,
                   r->whole ? "value of" : "column", name, expected);
}

/* ---- the first line ---- */

static int read_column(reader *r, char *name)
{
    char whole_name[FIELD_MAX];
    column c = {find_variable(r->job, name), WHOLE};

    snprintf(whole_name, sizeof whole_name, "%s", name);
    if (c.variable < 0) {
        int32_t k = cut_index(name);
        c.variable = k > 0 ? find_variable(r->job, name) : -1;
        c.element = k - 1;
        if (c.variable < 0 && !r->table && !is_other_column(r->job, name))
            return fail_unknown(r, whole_name);
        if (c.variable >= 0 && k > r->job->variables[c.variable]->variable.count)
            return fail_unknown(r, whole_name);
    } else if (r->job->variables[c.variable]->variable.count == 0) {
        c.element = 0;
    }
    if (c.variable >= 0 && !is_read(&r->job->variables[c.variable]->variable))
        c.variable = PASSED_OVER;
    for (int32_t i = 0; c.variable >= 0 && i < r->n_columns; i++)
        if (r->columns[i].variable == c.variable &&
            (r->columns[i].element == c.element || r->columns[i].element == WHOLE ||
             c.element == WHOLE))
            return ec_fail(EC_ERR_FORMAT, "'%s' has two columns for what '%s' holds", r->file,
                           whole_name);
    r->whole = r->whole || (c.variable >= 0 && c.element == WHOLE);
    r->columns[r->n_columns++] = c;
    return EC_OK;
}

/* In a file of whole lists each column is a variable; else each element has a column. */
static int check_columns(const reader *r)
{
    for (int32_t v = 0; v < r->job->n_variables; v++) {
        const ec_variable *variable = &r->job->variables[v]->variable;
        int32_t n = variable->count > 0 && !r->whole ? variable->count : 1;

        for (int32_t e = 0; e < n && is_read(variable); e++) {
            int32_t element = r->whole && variable->count > 0 ? WHOLE : e, i = 0;
            while (i < r->n_columns &&
                   (r->columns[i].variable != v || r->columns[i].element != element))
                i++;
            if (i == r->n_columns)
                return fail_missing(r, v, e);
        }
    }
    return EC_OK;
}

static int read_header(reader *r, const char *at)
{
    char name[FIELD_MAX];
    int32_t n = 1;
    int status = EC_OK;

    for (const char *p = at; !line_ends(p); p++)
        n += *p == ',' || *p == ';';
    r->columns = (column *)malloc((size_t)n * sizeof *r->columns);
    if (!r->columns)
        return ec_fail(EC_ERR_MEMORY, "'%s': no memory", r->file);
    for (const char *p = at; p && !r->table;) {
        read_field(&p, name);
        r->table = is_table_column(name);
    }
    while (at && status == EC_OK) {
        read_field(&at, name);
        status = read_column(r, name);
    }
    return status == EC_OK ? check_columns(r) : status;
}

/* ---- rows ---- */

static int store(reader *r, int32_t variable, int32_t element, const char *text)
{
    char name[256];
    int32_t at = r->first[variable] + element;

    if (read_number(text, &r->value[at])) {
        r->seen[at] = true;
        return EC_OK;
    }
    element_name(r, variable, element, name, sizeof name);
    return ec_fail(EC_ERR_FORMAT, "'%s', line %d: '%.60s' of column '%s' is not a number", r->file,
                   r->line, text, name);
}

/* One line; element: of the columns that are whole lists. */
static int read_row(reader *r, const char *at, int32_t element)
{
    char text[FIELD_MAX];
    int32_t i = 0;

    for (; i < r->n_columns && at; i++) {
        const column *c = &r->columns[i];
        int32_t e = c->element == WHOLE ? element : c->element;
        read_field(&at, text);
        if (c->variable < 0 || (r->whole && text[0] == '\0'))
            continue;
        const ec_variable *variable = &r->job->variables[c->variable]->variable;
        int32_t n = variable->count > 0 ? variable->count : 1;
        if (r->whole && element >= n)
            return ec_fail(EC_ERR_FORMAT,
                           "'%s', line %d: column '%s' has more values than the %d "
                           "of the variable",
                           r->file, r->line, variable->name, (int)n);
        int status = store(r, c->variable, r->whole ? element : e, text);
        if (status < 0)
            return status;
    }
    if (i < r->n_columns || at)
        return ec_fail(EC_ERR_FORMAT,
                       "'%s', line %d has %s fields than the first line, which has "
                       "%d",
                       r->file, r->line, at ? "more" : "fewer", (int)r->n_columns);
    return EC_OK;
}

/* A line of best.csv: name, index, value, kind. */
static int read_long_row(reader *r, const char *at)
{
    char text[4][FIELD_MAX];
    double index = 0;
    int n = 0;

    for (; n < 4 && at; n++)
        read_field(&at, text[n]);
    if (n < 4 || at || !read_number(text[1], &index))
        return ec_fail(EC_ERR_FORMAT, "'%s', line %d is not a name, an index, a value and a kind",
                       r->file, r->line);
    int32_t v = find_variable(r->job, text[0]);
    if (strcmp(text[3], "variable") != 0 || (v >= 0 && !is_read(&r->job->variables[v]->variable)))
        return EC_OK;
    if (v < 0)
        return fail_unknown(r, text[0]);
    int32_t count = r->job->variables[v]->variable.count;
    if (!(index >= 1 && index <= (count > 0 ? count : 1)) || index != floor(index))
        return ec_fail(EC_ERR_FORMAT, "'%s', line %d: variable '%s' has no element %s", r->file,
                       r->line, text[0], text[1]);
    return store(r, v, (int32_t)index - 1, text[2]);
}

/* The design in r->value as genes. */
static int encode_design(reader *r, double *genes)
{
    for (int32_t v = 0; v < r->job->n_variables; v++) {
        const ec_job_entry *entry = r->job->variables[v];
        ec_job_moved moved = {0, 0, 0, 0};

        if (!is_read(&entry->variable))
            continue;
        int status = ec_job_encode(entry, r->value + r->first[v],
                                   genes + entry->variable.first_gene, &moved);
        if (status < 0) {
            char sentence[256];
            snprintf(sentence, sizeof sentence, "%s", ec_error_text());
            return ec_fail(status, "'%s', line %d: %s", r->file, r->line, sentence);
        }
        if (moved.count > 0 && r->moved == 0) {
            r->example = moved;
            r->example_variable = v;
            r->example_line = r->line;
        }
        r->moved += (size_t)moved.count;
    }
    return EC_OK;
}

/* Lists in columns, or lines of best.csv: everything is one design. */
static int read_one_design(reader *r, const char *p, bool long_rows, double *genes)
{
    int status = EC_OK;

    for (int32_t element = 0; *p && status == EC_OK; p = next_line(p), r->line++) {
        if (is_blank_line(p))
            continue;
        status = long_rows ? read_long_row(r, p) : read_row(r, p, element);
        element++;
    }
    for (int32_t v = 0; v < r->job->n_variables && status == EC_OK; v++) {
        const ec_variable *variable = &r->job->variables[v]->variable;
        int32_t n = variable->count > 0 ? variable->count : 1;
        for (int32_t e = 0; e < n && is_read(variable) && status == EC_OK; e++)
            if (!r->seen[r->first[v] + e]) {
                r->whole = true;
                status = fail_missing(r, v, e);
            }
    }
    if (status == EC_OK && genes)
        status = encode_design(r, genes);
    return status;
}

static int read_designs(reader *r, const char *p, double *genes, size_t *n)
{
    int status = EC_OK;

    for (*n = 0; *p && status == EC_OK; p = next_line(p), r->line++) {
        if (is_blank_line(p))
            continue;
        status = read_row(r, p, 0);
        if (status == EC_OK && genes)
            status = encode_design(r, genes + *n * (size_t)r->job->n_genes);
        ++*n;
    }
    if (status == EC_OK && *n == 0)
        status = ec_fail(EC_ERR_FORMAT, "'%s' has no design below its first line", r->file);
    return status;
}

/* ---- the file ---- */

static int reader_open(reader *r, const ec_job *job, const char *file)
{
    memset(r, 0, sizeof *r);
    r->job = job;
    r->file = file;
    r->line = 1;
    r->first = (int32_t *)calloc((size_t)job->n_variables + 1, sizeof *r->first);
    for (int32_t v = 0; v < job->n_variables && r->first; v++) {
        int32_t count = job->variables[v]->variable.count;
        r->first[v] = r->elements;
        r->elements += count > 0 ? count : 1;
    }
    r->value = (double *)calloc((size_t)r->elements + 1, sizeof *r->value);
    r->seen = (bool *)calloc((size_t)r->elements + 1, sizeof *r->seen);
    return r->first && r->value && r->seen ? EC_OK
                                           : ec_fail(EC_ERR_MEMORY, "'%s': no memory", file);
}

static void reader_close(reader *r)
{
    free(r->first);
    free(r->value);
    free(r->seen);
    free(r->columns);
}

static bool is_long_header(const char *at)
{
    static const char *const names[] = {"name", "index", "value", "kind"};
    char text[FIELD_MAX];

    for (int i = 0; i < 4; i++) {
        if (!at)
            return false;
        read_field(&at, text);
        if (strcmp(text, names[i]) != 0)
            return false;
    }
    return !at;
}

static void tell_moved(const reader *r, ec_log *log)
{
    char name[256];

    if (r->moved == 0)
        return;
    const ec_job_entry *entry = r->job->variables[r->example_variable];
    element_name(r, r->example_variable, r->example.element, name, sizeof name);
    ec_log_write(log, EC_LOG_WARNING,
                 "start: '%s': %zu value%s outside of the bounds and moved onto them%s %s = %g in "
                 "line %d (%g to %g)",
                 r->file, r->moved, r->moved > 1 ? "s lie" : " lies",
                 r->moved > 1 ? "; the first is" : ":", name, r->example.value,
                 (int)r->example_line, entry->value_min[r->example.element],
                 entry->value_max[r->example.element]);
}

int ec_job_read_designs(const ec_job *job, const char *text, const char *file, ec_log *log,
                        double *genes, size_t *n)
{
    reader r;

    int status = reader_open(&r, job, file);
    text = ec_utf8_skip_mark(text);
    while (*text && is_blank_line(text)) {
        text = next_line(text);
        r.line++;
    }
    bool long_rows = is_long_header(text);
    if (status == EC_OK && !*text)
        status = ec_fail(EC_ERR_FORMAT, "'%s' is empty", file);
    if (status == EC_OK && !long_rows)
        status = read_header(&r, text);
    r.line++;
    *n = 1;
    if (status == EC_OK && (long_rows || r.whole))
        status = read_one_design(&r, next_line(text), long_rows, genes);
    else if (status == EC_OK)
        status = read_designs(&r, next_line(text), genes, n);
    if (status == EC_OK && genes)
        tell_moved(&r, log);
    reader_close(&r);
    return status;
}
