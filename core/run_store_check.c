/* run_store_check.c: whether what a store has is what was written into it.
 *
 * SQLite sees damage of its own structure, not of values. So a row of designs, of sweeps and of a history has a
 * check sum of its other columns in `row_sum`, in their order, without `id` (SQLite gives it) and a history's
 * `kept` (it changes). The small tables, whose rows change as a run goes on, have one sum for all of them in
 * the table `seal`, written at the end of each transaction that changed one. A change of one value always
 * changes the sum: each step is a one-to-one map of the state. States have sums of their own. Rows of an older
 * version get their sums when the store is brought to this one.
 */
#include "run_store_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

enum { SUM_NULL = 1, SUM_INTEGER, SUM_NUMBER, SUM_TEXT, SUM_BYTES };

static void add_word(uint64_t *sum, uint64_t word)
{
    uint64_t value = (*sum ^ word) * 0x9e3779b97f4a7c15ull;

    *sum = value ^ value >> 32;
}

void ec_row_sum_integer(uint64_t *sum, int64_t value)
{
    add_word(sum, SUM_INTEGER);
    add_word(sum, (uint64_t)value);
}

void ec_row_sum_number(uint64_t *sum, double value)
{
    uint64_t bits = 0;

    value += 0.0; /* -0 is 0 in the store, as NaN is NULL */
    memcpy(&bits, &value, sizeof bits);
    add_word(sum, isnan(value) ? SUM_NULL : SUM_NUMBER);
    if (!isnan(value))
        add_word(sum, bits);
}

static void add_bytes(uint64_t *sum, uint64_t kind, const void *bytes, size_t size)
{
    const char *at = (const char *)bytes;

    add_word(sum, bytes ? kind : SUM_NULL);
    if (!bytes)
        return;
    add_word(sum, size);
    for (; size > 0; at += sizeof(uint64_t)) {
        size_t n = size < sizeof(uint64_t) ? size : sizeof(uint64_t);
        uint64_t word = 0;
        memcpy(&word, at, n);
        add_word(sum, word);
        size -= n;
    }
}

void ec_row_sum_text(uint64_t *sum, const char *text)
{
    add_bytes(sum, SUM_TEXT, text, text ? strlen(text) : 0);
}

void ec_row_sum_bytes(uint64_t *sum, const void *bytes, size_t size)
{
    add_bytes(sum, SUM_BYTES, bytes, size);
}

static void add_column(uint64_t *sum, sqlite3_stmt *row, int i)
{
    int type = sqlite3_column_type(row, i);

    if (type == SQLITE_INTEGER)
        ec_row_sum_integer(sum, sqlite3_column_int64(row, i));
    else if (type == SQLITE_FLOAT)
        ec_row_sum_number(sum, sqlite3_column_double(row, i));
    else if (type == SQLITE_NULL)
        add_word(sum, SUM_NULL);
    else if (type == SQLITE_TEXT)
        add_bytes(sum, SUM_TEXT, sqlite3_column_text(row, i), (size_t)sqlite3_column_bytes(row, i));
    else
        add_bytes(sum, SUM_BYTES, sqlite3_column_blob(row, i),
                  (size_t)sqlite3_column_bytes(row, i));
}

/* ---- rows ---- */

/* Rows of a history, of designs or of a sweep: those with a sum. */
static bool has_sums(const char *table)
{
    return strcmp(table, "history") == 0 || strncmp(table, "designs_", 8) == 0 ||
           strncmp(table, "rows_", 5) == 0;
}

int ec_row_check_begin(const char *table, sqlite3_stmt *rows, ec_row_check *check)
{
    bool history = strcmp(table, "history") == 0;
    int n = sqlite3_column_count(rows);

    *check = (ec_row_check){.n = n, .sum = -1};
    check->left_out = (bool *)calloc((size_t)n + 1, sizeof *check->left_out);
    if (!check->left_out)
        return ec_fail(EC_ERR_MEMORY, "run store: no memory for a row");
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(rows, i), *type = sqlite3_column_decltype(rows, i);
        /* a real of this name is a quantity of an older store */
        bool is_sum = name && strcmp(name, "row_sum") == 0 && type &&
                      strcmp(type, "INTEGER") == 0 && has_sums(table);
        check->sum = is_sum ? i : check->sum;
        check->left_out[i] = !name || is_sum || strcmp(name, "id") == 0 ||
                             strcmp(name, "rowid") == 0 || (history && strcmp(name, "kept") == 0);
    }
    return EC_OK;
}

static int64_t sum_of(const ec_row_check *check, sqlite3_stmt *row)
{
    uint64_t sum = 0;

    for (int i = 0; i < check->n; i++)
        if (!check->left_out[i])
            add_column(&sum, row, i);
    return (int64_t)sum;
}

bool ec_row_check_passes(const ec_row_check *check, sqlite3_stmt *row)
{
    return check->sum < 0 || (sqlite3_column_type(row, check->sum) == SQLITE_INTEGER &&
                              sum_of(check, row) == sqlite3_column_int64(row, check->sum));
}

void ec_row_check_end(ec_row_check *check)
{
    free(check->left_out);
    check->left_out = NULL;
}

static int check_table(ec_store *s, const char *table)
{
    char sql[120];
    sqlite3_stmt *rows = NULL;
    ec_row_check check = {.n = 0};
    long long bad = 0;

    snprintf(sql, sizeof sql, "SELECT * FROM \"%.80s\"", table);
    int code = sqlite3_prepare_v2(s->db, sql, -1, &rows, NULL);
    int status = code == SQLITE_OK ? ec_row_check_begin(table, rows, &check) : EC_OK;
    while (code == SQLITE_OK && status == EC_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        bad += !ec_row_check_passes(&check, rows);
        code = SQLITE_OK;
    }
    if (status == EC_OK && code != SQLITE_DONE)
        status = ec_store_fail(s, code);
    sqlite3_finalize(rows);
    ec_row_check_end(&check);
    if (status == EC_OK && bad > 0)
        status =
            ec_fail(EC_ERR_FORMAT, "'%s' is damaged: of table %s %lld row%s not as it was written",
                    s->path, table, bad, bad > 1 ? "s are each" : " is");
    return status;
}

/* ---- rows of an older version ---- */

/* The rows that have no sum, and only they, get it. */
static int fill_sums(sqlite3 *db, const char *table)
{
    char text[200];
    sqlite3_stmt *rows = NULL, *update = NULL;
    ec_row_check check = {.n = 0};

    snprintf(text, sizeof text, "SELECT rowid, * FROM \"%.80s\" WHERE row_sum IS NULL", table);
    int code = sqlite3_prepare_v2(db, text, -1, &rows, NULL);
    snprintf(text, sizeof text, "UPDATE \"%.80s\" SET row_sum = ?1 WHERE rowid = ?2", table);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, text, -1, &update, NULL);
    if (code == SQLITE_OK && ec_row_check_begin(table, rows, &check) != EC_OK)
        code = SQLITE_NOMEM;
    while (code == SQLITE_OK && check.sum >= 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        sqlite3_bind_int64(update, 1, sum_of(&check, rows));
        sqlite3_bind_int64(update, 2, sqlite3_column_int64(rows, 0));
        code = sqlite3_step(update);
        code = code == SQLITE_DONE ? sqlite3_reset(update) : code;
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(update);
    ec_row_check_end(&check);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int ec_store_add_sums(sqlite3 *db)
{
    sqlite3_stmt *tables = NULL;
    char text[200];
    int code =
        sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid",
                           -1, &tables, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(tables)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        code = SQLITE_OK;
        if (!name || !has_sums(name))
            continue;
        snprintf(text, sizeof text, "ALTER TABLE \"%.80s\" ADD COLUMN row_sum INTEGER", name);
        if (sqlite3_table_column_metadata(db, NULL, name, "row_sum", NULL, NULL, NULL, NULL,
                                          NULL) != SQLITE_OK)
            code = sqlite3_exec(db, text, NULL, NULL, NULL);
        if (code == SQLITE_OK)
            code = fill_sums(db, name);
    }
    sqlite3_finalize(tables);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- the small tables ---- */

/* Returns SQLite's code, DONE when all were read. */
static int sum_small(sqlite3 *db, uint64_t *sum)
{
    static const char *const queries[] = {"SELECT * FROM run ORDER BY id",
                                          "SELECT * FROM parameter ORDER BY run, position",
                                          "SELECT * FROM search ORDER BY number",
                                          "SELECT * FROM quantity ORDER BY owner, number, position",
                                          "SELECT * FROM sweep ORDER BY number"};
    int code = SQLITE_DONE;

    *sum = 0;
    for (size_t q = 0; q < sizeof queries / sizeof *queries && code == SQLITE_DONE; q++) {
        sqlite3_stmt *rows = NULL;
        code = sqlite3_prepare_v2(db, queries[q], -1, &rows, NULL);
        while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(rows); i++)
                add_column(sum, rows, i);
            code = SQLITE_OK;
        }
        sqlite3_finalize(rows);
    }
    return code;
}

int ec_store_seal(sqlite3 *db)
{
    char text[80];
    uint64_t sum = 0;
    int code = sum_small(db, &sum);

    snprintf(text, sizeof text, "REPLACE INTO seal VALUES (1, %lld)", (long long)sum);
    return code == SQLITE_DONE ? sqlite3_exec(db, text, NULL, NULL, NULL) : code;
}

bool ec_store_is_sealed(sqlite3 *db)
{
    sqlite3_stmt *seal = NULL;
    uint64_t sum = 0;
    bool good = true;

    if (sqlite3_prepare_v2(db, "SELECT sum FROM seal", -1, &seal, NULL) == SQLITE_OK &&
        sqlite3_step(seal) == SQLITE_ROW && sum_small(db, &sum) == SQLITE_DONE)
        good = (int64_t)sum == sqlite3_column_int64(seal, 0);
    sqlite3_finalize(seal);
    return good;
}

/* ---- all of it ---- */

static int check_tables(ec_store *s)
{
    sqlite3_stmt *tables = NULL;
    int status = EC_OK;
    int code = sqlite3_prepare_v2(
        s->db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid", -1, &tables,
        NULL);

    while (code == SQLITE_OK && status == EC_OK && (code = sqlite3_step(tables)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        if (name && has_sums(name))
            status = check_table(s, name);
        code = SQLITE_OK;
    }
    if (status == EC_OK && code != SQLITE_DONE)
        status = ec_store_fail(s, code);
    sqlite3_finalize(tables);
    if (status == EC_OK && !ec_store_is_sealed(s->db))
        status = ec_fail(EC_ERR_FORMAT,
                         "'%s' is damaged: how the run was started, what its searches are or what "
                         "its columns are is not as it was written",
                         s->path);
    return status;
}

int ec_store_check(ec_store *s)
{
    /* one state of the store, whoever writes it meanwhile */
    int status = ec_store_run_sql(s, "BEGIN");

    if (status == EC_OK)
        status = check_tables(s);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
