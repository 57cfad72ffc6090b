/* sweep_table.c: reading, checking and appending the rows of a sweep's table. */
#include "sweep_table.h"
#include "graph_fingerprint.h"
#include "job_internal.h"
#include "output.h"
#include "utf8.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER_MAX = 26, WRITE_BYTES = 8 << 20 };
static const char table_format[] = "eciton sweep table 1";

struct ec_sweep_table {
    ec_sweep_store store;
    char *folder, *name;
    uint64_t script;
    bool fresh;
    ec_log *log;
    int file;    /* -1: not opened yet */
    off_t whole; /* bytes that are whole rows */
    char *text;  /* rows that are formatted */
    size_t capacity;
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "sweep: no memory for the table");
}

static void path_of(const ec_sweep_table *t, const char *ending, char *path, size_t size)
{
    snprintf(path, size, "%s/%s.%s", t->folder, t->name, ending);
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

static int write_json(const ec_sweep_table *t, const ec_sweep *s, const quantity *list, int32_t n)
{
    cJSON *root = cJSON_CreateObject();
    char name[300];
    bool ok = root && cJSON_AddStringToObject(root, "format", table_format) &&
              cJSON_AddStringToObject(root, "version", EC_VERSION) &&
              cJSON_AddStringToObject(root, "job", s->job->name) &&
              cJSON_AddStringToObject(root, "backend", s->backend) &&
              cJSON_AddStringToObject(root, "device", s->device) &&
              cJSON_AddStringToObject(root, "fidelity", fidelity_word(s));
    cJSON *prints = ok ? cJSON_AddObjectToObject(root, "fingerprints") : NULL;

    ok = prints != NULL;
    for (int32_t i = 0; i < n && ok; i++) {
        char text[20];
        snprintf(text, sizeof text, "%016" PRIx64, list[i].fingerprint);
        ok = cJSON_AddStringToObject(prints, list[i].label, text) != NULL;
    }
    char *text = ok ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return no_memory();
    snprintf(name, sizeof name, "%s.json", t->name);
    int status = ec_output_write(t->folder, name, text, strlen(text));
    cJSON_free(text);
    return status;
}

/* Whole file with a zero behind it, malloc'ed; NULL with errno. */
static char *read_all(int file, size_t *size)
{
    struct stat info;
    char *text = fstat(file, &info) == 0 ? (char *)malloc((size_t)info.st_size + 1) : NULL;

    *size = 0;
    while (text && *size < (size_t)info.st_size) {
        ssize_t n = pread(file, text + *size, (size_t)info.st_size - *size, (off_t)*size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *size += (size_t)n;
    }
    if (text)
        text[*size] = '\0';
    return text;
}

static const char advice[] = "give another --out or name, or fresh = true to drop its rows";

static const char *json_word(const cJSON *root, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* Whether the rows of the table are those of this sweep's expressions. */
static int compare_json(const ec_sweep_table *t, const ec_sweep *s, const cJSON *root,
                        const quantity *list, int32_t n)
{
    const cJSON *prints = cJSON_GetObjectItemCaseSensitive(root, "fingerprints");
    char path[4400];

    path_of(t, "csv", path, sizeof path);
    if (!root || strcmp(json_word(root, "format"), table_format) != 0)
        return ec_fail(EC_ERR_FORMAT,
                       "sweep: %s exists, but no %s.json beside it says what it was computed from; "
                       "%s",
                       path, t->name, advice);
    if (strcmp(json_word(root, "version"), EC_VERSION) != 0)
        return ec_fail(EC_ERR_FORMAT, "sweep: the rows of %s are of version %s, this is %s; %s",
                       path, json_word(root, "version"), EC_VERSION, advice);
    if (strcmp(json_word(root, "fidelity"), fidelity_word(s)) != 0)
        return ec_fail(EC_ERR_FORMAT,
                       "sweep: the rows of %s have %s fidelity, this sweep has %s fidelity; %s",
                       path, json_word(root, "fidelity"), fidelity_word(s), advice);
    for (int32_t i = 0; i < n; i++) {
        char text[20];
        snprintf(text, sizeof text, "%016" PRIx64, list[i].fingerprint);
        if (strcmp(json_word(prints, list[i].label), text) != 0)
            return ec_fail(EC_ERR_FORMAT,
                           "sweep: the rows of %s were computed from another %s: its expression, "
                           "bounds or model changed since; %s",
                           path, list[i].label, advice);
    }
    if (strcmp(json_word(root, "backend"), s->backend) != 0)
        ec_log_write(t->log, EC_LOG_INFO,
                     "rows of %s were computed on %s, those that lack are on %s", path,
                     json_word(root, "backend"), s->backend);
    return EC_OK;
}

static int check_json(const ec_sweep_table *t, const ec_sweep *s, const quantity *list, int32_t n)
{
    char path[4400];

    path_of(t, "json", path, sizeof path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    char *text = file >= 0 ? read_all(file, &size) : NULL;
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    int status = compare_json(t, s, root, list, n);
    cJSON_Delete(root);
    free(text);
    if (file >= 0)
        close(file);
    return status;
}

/* ---- text of rows ---- */

static int reserve(ec_sweep_table *t, size_t bytes)
{
    if (bytes <= t->capacity)
        return EC_OK;
    char *text = (char *)realloc(t->text, bytes);
    if (!text)
        return no_memory();
    t->text = text;
    t->capacity = bytes;
    return EC_OK;
}

/* The header line into t->text, with its length. */
static int format_header(ec_sweep_table *t, const ec_sweep *s, size_t *length)
{
    *length = 0;
    for (int32_t c = 0; c <= s->n_columns; c++) {
        char *field = ec_output_csv_field(c < s->n_columns ? s->columns[c].name : "status");
        size_t n = field ? strlen(field) : 0;
        int status = field ? reserve(t, *length + n + 2) : no_memory();
        if (status == EC_OK) {
            memcpy(t->text + *length, field, n);
            *length += n;
            t->text[(*length)++] = c < s->n_columns ? ',' : '\n';
        }
        free(field);
        if (status < 0)
            return status;
    }
    return EC_OK;
}

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

static size_t format_row(const ec_sweep *s, size_t design, char *to)
{
    char *at = to;

    for (int32_t c = 0; c < s->n_columns; c++) {
        at = format_number(at, ec_sweep_value(s, c, design));
        *at++ = ',';
    }
    at = format_number(at, s->status[design]);
    *at++ = '\n';
    return (size_t)(at - to);
}

/* Appends; what could be written in part is taken back. */
static int write_text(ec_sweep_table *t, size_t size)
{
    char path[4400];

    for (size_t done = 0; done < size;) {
        ssize_t n = write(t->file, t->text + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int reason = errno;
            path_of(t, "csv", path, sizeof path);
            int cut = ftruncate(t->file, t->whole);
            return ec_fail(EC_ERR_FILE, "sweep: %s cannot be written: %s%s", path, strerror(reason),
                           cut == 0 ? "; its rows so far are whole" : "");
        }
        done += (size_t)n;
    }
    t->whole += (off_t)size;
    return EC_OK;
}

static int append_rows(void *user, const ec_sweep *s, const size_t *designs, size_t n)
{
    ec_sweep_table *t = (ec_sweep_table *)user;
    size_t row = (size_t)NUMBER_MAX * ((size_t)s->n_columns + 1), block = WRITE_BYTES / row;
    int status = EC_OK;

    block = block < 1 ? 1 : block > n ? n : block;
    size_t *length = (size_t *)malloc(sizeof *length * block);
    if (!length)
        return no_memory();
    status = reserve(t, block * row);
    for (size_t first = 0; first < n && status == EC_OK; first += block) {
        size_t count = n - first < block ? n - first : block, size = 0;
#pragma omp parallel for if (count * row > 65536)
        for (size_t i = 0; i < count; i++)
            length[i] = format_row(s, designs[first + i], t->text + i * row);
        for (size_t i = 0; i < count; i++) {
            memmove(t->text + size, t->text + i * row, length[i]);
            size += length[i];
        }
        status = write_text(t, size);
    }
    free(length);
    return status;
}

/* ---- reading ---- */

/* Takes out what a spreadsheet has put in: the mark in front, and its own line ends. */
static size_t plain_text(char *text, size_t size)
{
    size_t n = 0;

    for (size_t i = (size_t)(ec_utf8_skip_mark(text) - text); i < size; i++)
        if (text[i] != '\r' || text[i + 1] != '\n')
            text[n++] = text[i];
    text[n] = '\0';
    return n;
}

/* One line of numbers, `n` of them, ends at `end`. */
static bool parse_row(const char *line, const char *end, int32_t n, double *row)
{
    for (int32_t c = 0; c < n; c++) {
        char *stop;
        row[c] = strtod(line, &stop);
        if (stop == line || *stop != (c + 1 < n ? ',' : '\n') || stop > end)
            return false;
        line = stop + 1;
    }
    return line == end + 1;
}

static int read_rows(const ec_sweep_table *t, ec_sweep *s, const char *text, size_t size)
{
    int32_t n = s->n_columns + 1;
    double *row = (double *)malloc(sizeof *row * (size_t)n);
    size_t line = 1;
    int status = row ? EC_OK : no_memory();

    for (const char *at = text, *end; at < text + size && status == EC_OK; at = end + 1, line++) {
        end = (const char *)memchr(at, '\n', (size_t)(text + size - at));
        if (line == 1)
            continue;
        bool ok = parse_row(at, end, n, row);
        if (ok && row[n - 1] >= 0 && row[n - 1] <= UINT8_MAX) {
            ec_sweep_offer(s, row, (uint8_t)row[n - 1]);
            continue;
        }
        char path[4400];
        path_of(t, "csv", path, sizeof path);
        status = ec_fail(EC_ERR_FORMAT, "sweep: %s, line %zu is no row of %d numbers; %s", path,
                         line, (int)n, advice);
    }
    free(row);
    return status;
}

static int compare_header(ec_sweep_table *t, const ec_sweep *s, const char *text)
{
    char path[4400];
    size_t length = 0;

    int status = format_header(t, s, &length);
    if (status < 0 || strncmp(text, t->text, length) == 0)
        return status;
    path_of(t, "csv", path, sizeof path);
    int theirs = (int)strcspn(text, "\n"), ours = (int)length - 1;
    return ec_fail(EC_ERR_FORMAT,
                   "sweep: %s has other columns (%.*s%s) than this sweep (%.*s%s); %s", path,
                   theirs > 200 ? 200 : theirs, text, theirs > 200 ? "..." : "",
                   ours > 200 ? 200 : ours, t->text, ours > 200 ? "..." : "", advice);
}

/* A table of its own for this sweep. */
static int begin_table(ec_sweep_table *t, const ec_sweep *s, const quantity *list, int32_t n)
{
    size_t length = 0;

    int status = ftruncate(t->file, 0) == 0 ? EC_OK
                                            : ec_fail(EC_ERR_FILE, "sweep: %s/%s.csv: %s",
                                                      t->folder, t->name, strerror(errno));
    if (status == EC_OK)
        status = write_json(t, s, list, n);
    if (status == EC_OK)
        status = format_header(t, s, &length);
    t->whole = 0;
    return status == EC_OK ? write_text(t, length) : status;
}

static int open_file(ec_sweep_table *t)
{
    char path[4400];

    path_of(t, "csv", path, sizeof path);
    t->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (t->file < 0)
        return ec_fail(EC_ERR_FILE, "sweep: %s cannot be opened: %s", path, strerror(errno));
    struct stat info;
    if (fstat(t->file, &info) != 0 || !S_ISREG(info.st_mode))
        return ec_fail(EC_ERR_FILE, "sweep: %s is not a file", path);
    if (flock(t->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return ec_fail(EC_ERR_FILE, "sweep: %s is being written by another run", path);
    return EC_OK;
}

static int load_rows(void *user, ec_sweep *s)
{
    ec_sweep_table *t = (ec_sweep_table *)user;
    quantity *list = NULL;
    int32_t n = 0;
    size_t size = 0;

    int status = open_file(t);
    if (status == EC_OK)
        status = list_quantities(s, t->script, &list, &n);
    char *text = status == EC_OK ? read_all(t->file, &size) : NULL;
    if (status == EC_OK && !text)
        status = no_memory();
    while (status == EC_OK && size > 0 && text[size - 1] != '\n')
        size--; /* a torn row */
    if (status == EC_OK && (size == 0 || t->fresh)) {
        status = begin_table(t, s, list, n);
    } else if (status == EC_OK) {
        text[size] = '\0';
        t->whole = (off_t)size;
        size = plain_text(text, size);
        status = compare_header(t, s, text);
        if (status == EC_OK)
            status = check_json(t, s, list, n);
        if (status == EC_OK)
            status = read_rows(t, s, text, size);
        if (status == EC_OK && ftruncate(t->file, t->whole) != 0)
            status =
                ec_fail(EC_ERR_FILE, "sweep: %s/%s.csv: %s", t->folder, t->name, strerror(errno));
    }
    free(text);
    free(list);
    if (status == EC_OK && s->found > 0)
        ec_log_write(t->log, EC_LOG_INFO, "%zu of %zu rows found in %s/%s.csv, %zu to run",
                     s->found, s->distinct, t->folder, t->name, s->distinct - s->found);
    return status;
}

/* ---- life ---- */

int ec_sweep_table_create(const ec_sweep_table_info *info, ec_sweep_table **table)
{
    if (!info->name || !info->name[0] || strpbrk(info->name, "/\n") || info->name[0] == '.' ||
        strlen(info->name) > 200 || strlen(info->folder) > 4096)
        return ec_fail(EC_ERR_ARGUMENT, "'%s' is no name for a file", info->name ? info->name : "");
    ec_sweep_table *t = (ec_sweep_table *)calloc(1, sizeof *t);
    if (!t)
        return no_memory();
    t->file = -1;
    t->folder = strdup(info->folder);
    t->name = strdup(info->name);
    t->script = info->script;
    t->fresh = info->fresh;
    t->log = info->log;
    t->store = (ec_sweep_store){t, load_rows, append_rows};
    if (!t->folder || !t->name) {
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
    /* rows that are reported stay, also when the machine goes down */
    if (t->file >= 0 && fdatasync(t->file) != 0 && errno != EINVAL && errno != EROFS)
        status = ec_fail(EC_ERR_FILE, "sweep: %s/%s.csv cannot be written: %s", t->folder, t->name,
                         strerror(errno));
    if (t->file >= 0)
        close(t->file);
    free(t->folder);
    free(t->name);
    free(t->text);
    free(t);
    *handle = NULL;
    return status;
}
