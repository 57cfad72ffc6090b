/* run_store_salvage.c: what can be read of a damaged store, into a new one.
 *
 * Each table is read by its row numbers from the first row upwards until an error comes, and, after
 * one, from the last row downwards until another comes: so a damaged page costs the rows on it. What
 * is between two damaged pages is lost too, as is a row that has not the check sum it was written with.
 */
#include "run_store_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct salvage {
    sqlite3 *from, *to;
    ec_log *log;
    bool lost;
} salvage;

/* "INSERT OR IGNORE INTO t (rowid, a, b) VALUES (?, ?, ?)", malloc'ed. */
static char *insert_text(const char *table, int columns, sqlite3_stmt *select)
{
    char *sql = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&sql, &size);

    if (!to)
        return NULL;
    fprintf(to, "INSERT OR IGNORE INTO %s (rowid", table);
    for (int i = 1; i < columns; i++) {
        char *name = sqlite3_mprintf(", \"%w\"", sqlite3_column_name(select, i));
        fputs(name ? name : "", to);
        sqlite3_free(name);
    }
    fputs(") VALUES (?", to);
    for (int i = 1; i < columns; i++)
        fputs(", ?", to);
    fputc(')', to);
    if (fclose(to) == 0)
        return sql;
    free(sql);
    return NULL;
}

/* What became of a table's rows. */
typedef struct tally {
    int64_t last; /* number of the last one that was read upwards */
    long long copied, bad;
} tally;

/* Copies rows in one direction. Returns SQLite's code, DONE when all were read. */
static int copy_rows(salvage *s, const char *table, bool down, tally *t)
{
    ec_row_check check = {.n = 0};
    char *sql =
        sqlite3_mprintf("SELECT rowid, * FROM %s ORDER BY rowid %s", table, down ? "DESC" : "ASC");
    sqlite3_stmt *select = NULL, *insert = NULL;
    int code = sql ? sqlite3_prepare_v2(s->from, sql, -1, &select, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    if (code == SQLITE_OK) {
        char *text = insert_text(table, sqlite3_column_count(select), select);
        code = text ? sqlite3_prepare_v2(s->to, text, -1, &insert, NULL) : SQLITE_NOMEM;
        free(text);
    }
    if (code == SQLITE_OK && ec_row_check_begin(table, select, &check) != EC_OK)
        code = SQLITE_NOMEM;
    while (code == SQLITE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(select, 0);
        if (down && number <= t->last)
            break;
        bool good = ec_row_check_passes(&check, select);
        for (int i = 0; good && i < sqlite3_column_count(select); i++)
            sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
        /* what is there twice is one row too many */
        good = good && sqlite3_step(insert) == SQLITE_DONE && sqlite3_changes(s->to) == 1;
        sqlite3_reset(insert);
        t->copied += good;
        t->bad += !good;
        if (!down)
            t->last = number;
        code = SQLITE_OK;
    }
    ec_row_check_end(&check);
    sqlite3_finalize(select);
    sqlite3_finalize(insert);
    return code;
}

static void copy_table(salvage *s, const char *table)
{
    tally t = {.last = INT64_MIN};
    int code = copy_rows(s, table, false, &t);

    if (code != SQLITE_DONE) {
        copy_rows(s, table, true, &t);
        s->lost = true;
        ec_log_write(s->log, EC_LOG_WARNING,
                     "table %s: %lld rows could be read, the others are lost", table, t.copied);
    }
    if (t.bad > 0) {
        s->lost = true;
        ec_log_write(s->log, EC_LOG_WARNING, "table %s: %lld row%s not as written, and %s lost",
                     table, t.bad, t.bad > 1 ? "s are" : " is", t.bad > 1 ? "are" : "is");
    }
}

/* Every table of the old store is made in the new one, then filled. */
static int copy_tables(salvage *s)
{
    sqlite3_stmt *list = NULL;
    int code = sqlite3_prepare_v2(s->from,
                                  "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
                                  " AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
                                  -1, &list, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(list)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 0);
        const char *sql = (const char *)sqlite3_column_text(list, 1);
        /* those of the schema are there already; the seal is of what the old store had */
        if (name && sql && strcmp(name, "seal") != 0 &&
            strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(name)) {
            sqlite3_exec(s->to, sql, NULL, NULL, NULL);
            copy_table(s, name);
        }
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE) {
        s->lost = true;
        ec_log_write(s->log, EC_LOG_WARNING, "the list of its tables cannot be read to its end");
    }
    sqlite3_finalize(list);
    if (!ec_store_is_sealed(s->from)) {
        s->lost = true;
        ec_log_write(
            s->log, EC_LOG_WARNING,
            "how the run was started, what its searches are or what its columns are is not "
            "as it was written: 'eciton show' tells what there is");
    }
    return EC_OK;
}

static void remove_beside(const char *path, const char *ending)
{
    char other[4400];

    snprintf(other, sizeof other, "%s%s", path, ending);
    unlink(other);
}

/* The mark of whoever made the store: as SQLite reads it, with what waits in the log, or from the file's
 * own head (four bytes at 68, the high one first) where it cannot. */
static int application_of(const salvage *s, const char *path)
{
    sqlite3_stmt *statement = NULL;
    unsigned char mark[4] = {0};
    int application = 0;

    if (sqlite3_prepare_v2(s->from, "PRAGMA application_id", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        application = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    FILE *file = application == 0 ? fopen(path, "rb") : NULL;
    if (file && fseek(file, 68, SEEK_SET) == 0 && fread(mark, 1, sizeof mark, file) == sizeof mark)
        application = (int)((uint32_t)mark[0] << 24 | (uint32_t)mark[1] << 16 |
                            (uint32_t)mark[2] << 8 | mark[3]);
    if (file)
        fclose(file);
    return application;
}

/* The numbers of the format are set last, when all else is there. */
static int finish(salvage *s)
{
    char text[120];

    int code = ec_store_add_sums(s->to); /* of rows of an older version */

    if (code == SQLITE_OK)
        code = ec_store_seal(s->to);
    snprintf(text, sizeof text, "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
             EC_STORE_VERSION, EC_STORE_APPLICATION);
    return code == SQLITE_OK ? sqlite3_exec(s->to, text, NULL, NULL, NULL) : code;
}

int ec_store_salvage(const char *path, const char *const *schema, ec_log *log)
{
    salvage s = {.log = log};
    char fresh[4400], damaged[4400];

    snprintf(fresh, sizeof fresh, "%s.new", path);
    snprintf(damaged, sizeof damaged, "%s.damaged", path);
    unlink(fresh);
    int code = sqlite3_open_v2(path, &s.from, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) /* else a file that lacks its end is not read at all */
        code = sqlite3_exec(s.from, "PRAGMA writable_schema = 1", NULL, NULL, NULL);
    if (code == SQLITE_OK && application_of(&s, path) != EC_STORE_APPLICATION) {
        sqlite3_close(s.from);
        return ec_fail(EC_ERR_FORMAT, "'%s' is damaged, or no run store", path);
    }
    if (code == SQLITE_OK)
        code = sqlite3_open_v2(fresh, &s.to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(s.to, "BEGIN", NULL, NULL, NULL);
    for (int i = 0; i < EC_STORE_VERSION && code == SQLITE_OK; i++)
        code = sqlite3_exec(s.to, schema[i], NULL, NULL, NULL);
    if (code == SQLITE_OK) {
        copy_tables(&s);
        code = finish(&s);
    }
    const char *reason = code != SQLITE_OK && s.to ? sqlite3_errmsg(s.to) : sqlite3_errstr(code);
    int status = code == SQLITE_OK
                     ? EC_OK
                     : ec_fail(EC_ERR_FILE, "'%s' cannot be written: %s", fresh, reason);
    sqlite3_close(s.from);
    sqlite3_close(s.to);
    if (status == EC_OK && (rename(path, damaged) != 0 || rename(fresh, path) != 0))
        status = ec_fail(EC_ERR_FILE, "'%s' cannot take the place of the damaged one", fresh);
    if (status < 0)
        return status;
    remove_beside(path, "-wal");
    remove_beside(path, "-shm");
    ec_log_write(log, EC_LOG_WARNING,
                 s.lost ? "'%s' has what could be read; the damaged one is '%s'"
                        : "'%s' was repaired, no row is lost; the damaged one is '%s'",
                 path, damaged);
    return EC_OK;
}
