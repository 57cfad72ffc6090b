/* run_store_table.c: tables with a column for each quantity: designs of a search, rows of a sweep.
 *
 * A number is a column of reals; a list is a blob of float64 in the machine's byte order (little
 * endian wherever Eciton runs). The table `quantity` says which column is which.
 */
#include "hash.h"
#include "job_internal.h"
#include "run_store_internal.h"
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_BYTES = 16 };

struct ec_store_table {
    ec_store *store;
    int64_t number;
    bool sweep, sums; /* sums: the table has a column for the check sums of rows */
    int32_t n;
    int32_t *length; /* as in ec_store_quantity */
    bool *variable;
    size_t row_length;
    char *select;
    sqlite3_stmt *insert;
    int64_t last, seen; /* id of the last row that was read, and the state of the file then */
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "run store: no memory for a table");
}

size_t ec_store_row_length(const ec_store_quantity *quantities, int32_t n)
{
    size_t length = 0;

    for (int32_t i = 0; i < n; i++)
        length += quantities[i].length > 0 ? (size_t)quantities[i].length : 1;
    return length;
}

/* ---- names of columns ---- */

/* Columns that a table has of itself, and SQLite's own names of a row's number, which tell rows of a
 * damaged store from each other. SQLite does not tell capitals from small letters. */
static const char *const design_columns[] = {"id",      "generation", "stage", "status",
                                             "reason",  "violation",  "rowid", "oid",
                                             "_rowid_", "row_sum"};
static const char *const row_columns[] = {"id",    "key", "status",  "reason",
                                          "rowid", "oid", "_rowid_", "row_sum"};

static bool is_taken(bool sweep, char *const *names, int32_t n, const char *name)
{
    const char *const *own = sweep ? row_columns : design_columns;
    size_t count = sweep ? sizeof row_columns / sizeof *row_columns
                         : sizeof design_columns / sizeof *design_columns;

    for (size_t i = 0; i < count; i++)
        if (strcasecmp(own[i], name) == 0)
            return true;
    for (int32_t i = 0; i < n; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* The quantity's name; where that is taken, "recorded:x", then "recorded:x_2", ... malloc'ed. */
static char *column_name(bool sweep, char *const *names, int32_t n, const ec_store_quantity *q)
{
    size_t size = strlen(q->kind) + strlen(q->name) + 20;
    char *name = (char *)malloc(size);

    if (!name)
        return NULL;
    snprintf(name, size, "%s", q->name);
    for (int32_t i = 1; is_taken(sweep, names, n, name); i++)
        snprintf(name, size, i > 1 ? "%s:%s_%d" : "%s:%s", q->kind, q->name, (int)i);
    return name;
}

static void free_names(char **names, int32_t n)
{
    for (int32_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
}

static int column_names(bool sweep, const ec_store_quantity *quantities, int32_t n, char **names)
{
    for (int32_t i = 0; i < n; i++) {
        names[i] = column_name(sweep, names, i, &quantities[i]);
        if (!names[i])
            return no_memory();
    }
    return EC_OK;
}

/* ---- a variable ---- */

ec_store_quantity ec_store_variable(const ec_job *job, int32_t variable)
{
    const ec_job_entry *entry = job->variables[variable];
    const ec_variable *v = &entry->variable;
    const ec_interval range = ec_graph_node(job->graph, v->value)->range;
    bool differ = false;

    for (int32_t i = 1; i < v->count; i++)
        differ = differ || entry->value_min[i] != entry->value_min[0] ||
                 entry->value_max[i] != entry->value_max[0];
    return (ec_store_quantity){.kind = "variable",
                               .name = v->name,
                               .length = v->count,
                               .min = isfinite(range.lo) ? range.lo : NAN,
                               .max = isfinite(range.hi) ? range.hi : NAN,
                               .element_min = differ ? entry->value_min : NULL,
                               .element_max = differ ? entry->value_max : NULL};
}

/* ---- making it ---- */

static const char *prefix(bool sweep)
{
    return sweep ? "rows" : "designs";
}

static void put_columns(FILE *to, char *const *names, const ec_store_quantity *quantities,
                        int32_t n, bool types)
{
    for (int32_t i = 0; i < n; i++) {
        fputs(", ", to);
        ec_store_put_name(to, names[i]);
        fputs(!types ? "" : quantities[i].length > 0 ? " BLOB" : " REAL", to);
    }
}

/* What is looked for among many: designs that are not of the search, and failures. Other rows are in
 * neither index, and cost nothing. */
static int create_indexes(ec_store *s, bool sweep, int64_t number)
{
    const char *table = prefix(sweep);
    const long long n = (long long)number;
    char sql[240];

    snprintf(sql, sizeof sql, "CREATE INDEX %s_%lld_failed ON %s_%lld (reason) WHERE status <> 0",
             table, n, table, n);
    int status = ec_store_run_sql(s, sql);
    if (sweep || status < 0)
        return status;
    snprintf(sql, sizeof sql,
             "CREATE INDEX %s_%lld_last ON %s_%lld (stage) WHERE stage <> 'search'", table, n,
             table, n);
    return ec_store_run_sql(s, sql);
}

static int add_quantity(ec_store *s, const char *owner, int64_t number, int64_t position,
                        const char *column, const ec_store_quantity *q)
{
    static const char insert[] =
        "INSERT INTO quantity VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    size_t size = (size_t)q->length * sizeof *q->element_min;

    if (q->element_min)
        return ec_store_execute(s, insert, "tiitttibbt", owner, number, position, q->kind, q->name,
                                column, (int64_t)q->length, q->element_min, size, q->element_max,
                                size, q->goal);
    return ec_store_execute(s, insert, "tiitttiddt", owner, number, position, q->kind, q->name,
                            column, (int64_t)q->length, q->min, q->max, q->goal);
}

static int create_table(ec_store *s, bool sweep, int64_t number, char *const *names,
                        const ec_store_quantity *quantities, int32_t n)
{
    const char *owner = sweep ? "sweep" : "search";
    char *sql = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&sql, &size);

    if (!to)
        return no_memory();
    fprintf(to, "CREATE TABLE %s_%lld (id INTEGER PRIMARY KEY, %s", prefix(sweep),
            (long long)number,
            sweep ? "key BLOB UNIQUE, status INTEGER, reason TEXT"
                  : "generation INTEGER, stage TEXT, status INTEGER, reason TEXT, violation REAL");
    put_columns(to, names, quantities, n, true);
    fputs(", row_sum INTEGER)", to);
    int status = fclose(to) == 0 ? ec_store_run_sql(s, sql) : no_memory();
    free(sql);
    if (status == EC_OK)
        status = create_indexes(s, sweep, number);
    for (int32_t i = 0; i < n && status == EC_OK; i++)
        status = add_quantity(s, owner, number, i, names[i], &quantities[i]);
    return status;
}

typedef struct comparison {
    const ec_store_quantity *quantities;
    char **names; /* of the columns that are there, malloc'ed */
    int32_t n, at;
    bool same;
} comparison;

static int compare(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    comparison *c = (comparison *)user;

    (void)n;
    (void)names;
    const ec_store_quantity *q = c->at < c->n ? &c->quantities[c->at] : NULL;
    if (q && !(c->names[c->at++] = strdup(cells[3].kind == EC_CELL_TEXT ? cells[3].text : "")))
        return no_memory();
    c->same = c->same && q && cells[0].kind == EC_CELL_TEXT && cells[1].kind == EC_CELL_TEXT &&
              strcmp(cells[0].text, q->kind) == 0 && strcmp(cells[1].text, q->name) == 0 &&
              cells[2].integer == q->length;
    return EC_OK;
}

/* Whether the table is there, and with these quantities; names: of the columns that it has for them. */
static int find_table(ec_store *s, bool sweep, int64_t number, const ec_store_quantity *quantities,
                      int32_t n, char **names, bool *there, bool *same)
{
    comparison c = {quantities, names, n, 0, true};
    int64_t tables = 0;

    *there = *same = false;
    int status = ec_store_number(s,
                                 sweep ? "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                                         " AND name = 'rows_' || ?1"
                                       : "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                                         " AND name = 'designs_' || ?1",
                                 number, 0, &tables);
    if (status < 0 || tables == 0)
        return status;
    status = ec_store_query(s,
                            sweep ? "SELECT kind, name, length, \"column\" FROM quantity"
                                    " WHERE owner = 'sweep' AND number = ?1 ORDER BY position"
                                  : "SELECT kind, name, length, \"column\" FROM quantity"
                                    " WHERE owner = 'search' AND number = ?1 ORDER BY position",
                            number, &c, compare);
    *there = true;
    *same = c.same && c.at == n;
    return status;
}

/* The statements of a table. */
static int prepare(ec_store_table *t, char *const *names, const ec_store_quantity *quantities)
{
    char *sql = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&sql, &size);

    if (!to)
        return no_memory();
    fprintf(to, "INSERT %s INTO %s_%lld (%s", t->sweep ? "OR IGNORE" : "", prefix(t->sweep),
            (long long)t->number,
            t->sweep ? "key, status, reason" : "generation, stage, status, reason, violation");
    put_columns(to, names, quantities, t->n, false);
    fputs(t->sums ? ", row_sum" : "", to);
    fputs(t->sweep ? ") VALUES (?, ?, ?" : ") VALUES (?, ?, ?, ?, ?", to);
    for (int32_t i = 0; i < t->n + t->sums; i++)
        fputs(", ?", to);
    fputc(')', to);
    int status = fclose(to) == 0 ? EC_OK : no_memory();
    int code = status == EC_OK ? sqlite3_prepare_v3(t->store->db, sql, -1,
                                                    SQLITE_PREPARE_PERSISTENT, &t->insert, NULL)
                               : SQLITE_OK;
    free(sql);
    if (code != SQLITE_OK)
        return ec_store_fail(t->store, code);
    to = status == EC_OK ? open_memstream(&t->select, &size) : NULL;
    if (!to)
        return no_memory();
    fputs(t->sweep ? "SELECT id, status, NULL, NULL, NULL"
                   : "SELECT id, status, generation, stage, violation",
          to);
    put_columns(to, names, quantities, t->n, false);
    fprintf(to, " FROM %s_%lld WHERE id > ?1 ORDER BY id", prefix(t->sweep), (long long)t->number);
    return fclose(to) == 0 ? EC_OK : no_memory();
}

static int open_table(ec_store *s, bool sweep, bool sums, int64_t number, char *const *names,
                      const ec_store_quantity *quantities, int32_t n, ec_store_table **table)
{
    ec_store_table *t = (ec_store_table *)calloc(1, sizeof *t);

    if (!t)
        return no_memory();
    *table = t;
    t->store = s;
    t->number = number;
    t->sweep = sweep;
    t->sums = sums;
    t->n = n;
    t->row_length = ec_store_row_length(quantities, n);
    t->length = (int32_t *)malloc(sizeof *t->length * ((size_t)n + 1));
    t->variable = (bool *)malloc(sizeof *t->variable * ((size_t)n + 1));
    if (!t->length || !t->variable)
        return no_memory();
    for (int32_t i = 0; i < n; i++) {
        t->length[i] = quantities[i].length;
        t->variable[i] = strcmp(quantities[i].kind, "variable") == 0;
    }
    return prepare(t, names, quantities);
}

/* Whether the column for sums is there: not where a table of an older version has a quantity of this name. */
static bool keeps_sums(char *const *names, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (strcasecmp(names[i], "row_sum") == 0)
            return false;
    return true;
}

int ec_store_table_create(ec_store *s, const char *owner, int64_t number,
                          const ec_store_quantity *quantities, int32_t n, bool *same,
                          ec_store_table **table)
{
    bool sweep = strcmp(owner, "sweep") == 0, there = false;

    *table = NULL;
    if (n > EC_STORE_QUANTITIES_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "the run store has room for %d variables, objectives, constraints and "
                       "recorded quantities, here are %d; lists (count = ...) count as one",
                       EC_STORE_QUANTITIES_MAX, (int)n);
    char **names = (char **)calloc((size_t)n + 1, sizeof *names);
    if (!names)
        return no_memory();
    int status = find_table(s, sweep, number, quantities, n, names, &there, same);
    if (status < 0 || (there && !*same)) {
        free_names(names, n);
        return status;
    }
    *same = true;
    if (!there)
        status = column_names(sweep, quantities, n, names);
    if (status == EC_OK && !there)
        status = create_table(s, sweep, number, names, quantities, n);
    if (status == EC_OK)
        status = open_table(s, sweep, keeps_sums(names, n), number, names, quantities, n, table);
    free_names(names, n);
    if (status < 0)
        ec_store_table_close(table);
    return status;
}

int ec_store_table_drop(ec_store *s, const char *owner, int64_t number)
{
    char text[80];

    snprintf(text, sizeof text, "DROP TABLE IF EXISTS %s_%lld", prefix(strcmp(owner, "sweep") == 0),
             (long long)number);
    int status = ec_store_run_sql(s, text);
    if (status == EC_OK)
        status = ec_store_execute(s, "DELETE FROM quantity WHERE owner = ?1 AND number = ?2", "ti",
                                  owner, number);
    return status;
}

void ec_store_table_close(ec_store_table **handle)
{
    ec_store_table *t = handle ? *handle : NULL;

    if (!t)
        return;
    sqlite3_finalize(t->insert);
    free(t->length);
    free(t->variable);
    free(t->select);
    free(t);
    *handle = NULL;
}

/* ---- rows ---- */

/* What tells rows of a sweep from each other: two hashes of the variables' bits; -0 is 0. */
static void make_key(const ec_store_table *t, const double *values, unsigned char *key)
{
    ec_hash first = ec_hash_begin(), second = ec_hash_begin();

    ec_hash_integer(&second, 1);
    for (int32_t i = 0; i < t->n; i++) {
        int32_t length = t->length[i] > 0 ? t->length[i] : 1;
        for (int32_t k = 0; k < length && t->variable[i]; k++) {
            ec_hash_number(&first, values[k] + 0.0);
            ec_hash_number(&second, values[k] + 0.0);
        }
        values += length;
    }
    memcpy(key, &first.value, sizeof first.value);
    memcpy(key + sizeof first.value, &second.value, sizeof second.value);
}

static bool all_nan(const double *values, int32_t n)
{
    int32_t i = 0;

    while (i < n && isnan(values[i]))
        i++;
    return i == n;
}

static int bind_values(const ec_store_table *t, int first, const double *values)
{
    int code = SQLITE_OK;
    uint64_t *sum = &t->store->sum; /* of what was bound before */

    for (int32_t i = 0; i < t->n && code == SQLITE_OK; i++) {
        int32_t n = t->length[i];
        size_t size = sizeof(double) * (size_t)n;
        const double *list = n > 0 && !all_nan(values, n) ? values : NULL;
        if (n == 0) {
            ec_row_sum_number(sum, values[0]);
            code = sqlite3_bind_double(t->insert, first + i, values[0]);
        } else {
            ec_row_sum_bytes(sum, list, size);
            code = list ? sqlite3_bind_blob64(t->insert, first + i, list, size, SQLITE_STATIC)
                        : sqlite3_bind_null(t->insert, first + i);
        }
        values += n > 0 ? n : 1;
    }
    if (code == SQLITE_OK && t->sums)
        code = sqlite3_bind_int64(t->insert, first + t->n, (int64_t)*sum);
    return code == SQLITE_OK ? EC_OK : ec_store_fail(t->store, code);
}

static int add_row(ec_store_table *t, const ec_store_row *row)
{
    unsigned char key[KEY_BYTES];
    char reason[160];
    int status;

    ec_sweep_reason(row->status, reason, sizeof reason);
    const char *why = row->status ? reason : NULL;
    if (t->sweep) {
        make_key(t, row->values, key);
        status =
            ec_store_bind(t->store, t->insert, "bit", key, sizeof key, (int64_t)row->status, why);
    } else {
        status = ec_store_bind(t->store, t->insert, "ititd", (int64_t)row->generation, row->stage,
                               (int64_t)row->status, why, row->violation);
    }
    if (status == EC_OK)
        status = bind_values(t, t->sweep ? 4 : 6, row->values);
    int code = status == EC_OK ? sqlite3_step(t->insert) : SQLITE_DONE;
    if (code != SQLITE_DONE)
        status = ec_store_fail(t->store, code);
    sqlite3_reset(t->insert);
    return status;
}

int ec_store_table_add(ec_store_table *t, const ec_store_row *rows, size_t n)
{
    bool joined;

    int status = ec_store_join(t->store, &joined);
    for (size_t i = 0; i < n && status == EC_OK; i++)
        status = add_row(t, &rows[i]);
    return ec_store_leave(t->store, joined, status);
}

typedef struct reading {
    ec_store_table *table;
    double *values;
    void *user;
    int (*each)(void *user, const ec_store_row *row);
} reading;

static int read_row(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    enum { OWN = 5 };
    reading *r = (reading *)user;
    ec_store_table *t = r->table;
    double *to = r->values;

    (void)n;
    (void)names;
    for (int32_t i = 0; i < t->n; i++) {
        const ec_store_cell *cell = &cells[OWN + i];
        size_t length = t->length[i] > 0 ? (size_t)t->length[i] : 1;
        bool whole = cell->kind == EC_CELL_BLOB && cell->size == length * sizeof(double);
        if (whole)
            memcpy(to, cell->text, cell->size);
        for (size_t k = 0; k < length && !whole; k++)
            to[k] = t->length[i] == 0 && cell->kind != EC_CELL_BLOB ? cell->number : NAN;
        to += length;
    }
    t->last = cells[0].integer;
    ec_store_row row = {.status = (uint8_t)cells[1].integer,
                        .values = r->values,
                        .generation = (uint32_t)cells[2].integer,
                        .stage = cells[3].kind == EC_CELL_TEXT ? cells[3].text : NULL,
                        .violation = cells[4].kind == EC_CELL_NULL ? NAN : cells[4].number};
    return r->each(r->user, &row);
}

static int read_from(ec_store_table *t, int64_t id, void *user,
                     int (*each)(void *user, const ec_store_row *row))
{
    reading r = {t, (double *)malloc(sizeof(double) * (t->row_length + 1)), user, each};

    int status = r.values ? ec_store_query(t->store, t->select, id, &r, read_row) : no_memory();
    free(r.values);
    return status;
}

/* A number that changes with what others write, not with what this handle writes. */
static int read_changes(ec_store_table *t, int64_t *changes)
{
    return ec_store_number(t->store, "PRAGMA data_version", 0, 0, changes);
}

int ec_store_table_read(ec_store_table *t, void *user,
                        int (*each)(void *user, const ec_store_row *row))
{
    int status = read_changes(t, &t->seen);

    return status == EC_OK ? read_from(t, 0, user, each) : status;
}

int ec_store_table_refresh(ec_store_table *t, void *user,
                           int (*each)(void *user, const ec_store_row *row))
{
    int64_t changes = 0;

    int status = read_changes(t, &changes);
    if (status < 0 || changes == t->seen)
        return status;
    t->seen = changes;
    return read_from(t, t->last, user, each);
}
