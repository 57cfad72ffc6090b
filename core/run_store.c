/* run_store.c: opening a store, its schema, transactions and statements. */
#include "run_store_internal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_MILLISECONDS = 60000 }; /* that a writer waits for others */

/* Statement i brings a store of version i to version i + 1. */
static const char *const migrations[EC_STORE_VERSION] = {
    "CREATE TABLE run (id INTEGER PRIMARY KEY, status TEXT, started REAL, ended REAL, version TEXT,"
    " script TEXT, script_text TEXT, script_hash TEXT, data TEXT, backend TEXT, device TEXT,"
    " isa TEXT, seed TEXT, quick INTEGER, trust INTEGER, checkpoint_seconds REAL);"
    "CREATE TABLE parameter (run INTEGER, position INTEGER, name TEXT, value TEXT,"
    " PRIMARY KEY (run, position));"
    "CREATE TABLE search (number INTEGER PRIMARY KEY, run INTEGER, job TEXT, method TEXT,"
    " seed TEXT, population INTEGER, backend TEXT, device TEXT, isa TEXT, keep TEXT,"
    " started REAL, ended REAL, stop TEXT, message TEXT, generations INTEGER,"
    " evaluations INTEGER, failed INTEGER, seconds REAL);"
    "CREATE TABLE quantity (owner TEXT, number INTEGER, position INTEGER, kind TEXT, name TEXT,"
    " \"column\" TEXT, length INTEGER, minimum REAL, maximum REAL,"
    " PRIMARY KEY (owner, number, position));"
    "CREATE TABLE history (search INTEGER, generation INTEGER, kept INTEGER, evaluations INTEGER,"
    " failed INTEGER, seconds REAL, best REAL, median REAL, spread REAL, violation REAL,"
    " feasible INTEGER, population INTEGER, hypervolume REAL, front INTEGER,"
    " PRIMARY KEY (search, generation));"
    "CREATE TABLE checkpoint (search INTEGER, part INTEGER, bytes BLOB,"
    " PRIMARY KEY (search, part));"
    "CREATE TABLE sweep (number INTEGER PRIMARY KEY, name TEXT UNIQUE, origin TEXT,"
    " created REAL);",
    "ALTER TABLE history ADD COLUMN row_sum INTEGER;"
    "ALTER TABLE quantity ADD COLUMN goal TEXT;"
    "CREATE TABLE seal (id INTEGER PRIMARY KEY, sum INTEGER);"};

double ec_store_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- errors and statements ---- */

static bool is_damage(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

int ec_store_fail(ec_store *s, int code)
{
    int reason = s->db ? sqlite3_system_errno(s->db) : 0;
    const char *text = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code);

    if (is_damage(code))
        return ec_fail(EC_ERR_FORMAT, "'%s' is damaged, or no run store: %s", s->path, text);
    if ((code & 0xff) == SQLITE_FULL)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be written: the disk is full", s->path);
    if ((code & 0xff) == SQLITE_BUSY)
        return ec_fail(EC_ERR_FILE, "'%s' is held by another process for more than %d s", s->path,
                       BUSY_MILLISECONDS / 1000);
    if ((code & 0xff) == SQLITE_NOMEM)
        return ec_fail(EC_ERR_MEMORY, "'%s': no memory", s->path);
    return ec_fail(EC_ERR_FILE, "'%s' cannot be %s: %s%s%s", s->path,
                   (code & 0xff) == SQLITE_CANTOPEN ? "opened" : "read or written", text,
                   reason ? ": " : "", reason ? strerror(reason) : "");
}

sqlite3_stmt *ec_store_statement(ec_store *s, const char *literal)
{
    sqlite3_stmt *statement = NULL;

    for (int i = 0; i < s->n_prepared; i++)
        if (s->prepared[i].sql == literal)
            return s->prepared[i].statement;
    if (s->n_prepared == EC_STORE_STATEMENTS_MAX) {
        ec_fail(EC_ERR_INTERNAL, "run store: more than %d statements", EC_STORE_STATEMENTS_MAX);
        return NULL;
    }
    int code = sqlite3_prepare_v3(s->db, literal, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK) {
        ec_store_fail(s, code);
        return NULL;
    }
    s->prepared[s->n_prepared].sql = literal;
    s->prepared[s->n_prepared++].statement = statement;
    return statement;
}

static int bind_list(ec_store *s, sqlite3_stmt *statement, const char *letters, va_list list)
{
    int code = SQLITE_OK;

    s->sum = 0;
    for (int i = 1; *letters && code == SQLITE_OK; letters++, i++) {
        if (*letters == 'i') {
            int64_t value = va_arg(list, int64_t);
            ec_row_sum_integer(&s->sum, value);
            code = sqlite3_bind_int64(statement, i, value);
        } else if (*letters == 'd') {
            double value = va_arg(list, double);
            ec_row_sum_number(&s->sum, value);
            code = sqlite3_bind_double(statement, i, value);
        } else if (*letters == 't') {
            const char *text = va_arg(list, const char *);
            ec_row_sum_text(&s->sum, text);
            code = sqlite3_bind_text(statement, i, text, -1, SQLITE_STATIC);
        } else if (*letters == 's') {
            code = sqlite3_bind_int64(statement, i, (int64_t)s->sum);
        } else {
            const void *bytes = va_arg(list, const void *);
            size_t size = va_arg(list, size_t);
            code = sqlite3_bind_blob64(statement, i, bytes, size, SQLITE_STATIC);
            if (*letters == 'b')
                ec_row_sum_bytes(&s->sum, bytes, size);
        }
    }
    return code == SQLITE_OK ? EC_OK : ec_store_fail(s, code);
}

int ec_store_bind(ec_store *s, sqlite3_stmt *statement, const char *letters, ...)
{
    va_list list;

    va_start(list, letters);
    int status = bind_list(s, statement, letters, list);
    va_end(list);
    return status;
}

int ec_store_execute(ec_store *s, const char *literal, const char *letters, ...)
{
    sqlite3_stmt *statement = ec_store_statement(s, literal);
    va_list list;

    if (!statement)
        return EC_ERR_FILE;
    va_start(list, letters);
    int status = bind_list(s, statement, letters, list);
    va_end(list);
    int code = status == EC_OK ? sqlite3_step(statement) : SQLITE_DONE;
    if (status == EC_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = ec_store_fail(s, code);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

int ec_store_run_sql(ec_store *s, const char *sql)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? EC_OK : ec_store_fail(s, code);
}

int ec_store_number(ec_store *s, const char *literal, int64_t parameter, int64_t missing,
                    int64_t *number)
{
    sqlite3_stmt *statement = ec_store_statement(s, literal);

    *number = missing;
    if (!statement)
        return EC_ERR_FILE;
    int code = SQLITE_OK;
    if (sqlite3_bind_parameter_count(statement) > 0)
        code = sqlite3_bind_int64(statement, 1, parameter);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *number = sqlite3_column_int64(statement, 0);
    int status = code == SQLITE_ROW || code == SQLITE_DONE ? EC_OK : ec_store_fail(s, code);
    sqlite3_reset(statement);
    return status;
}

/* ---- transactions ---- */

int ec_store_begin(ec_store *s)
{
    int status = ec_store_execute(s, "BEGIN IMMEDIATE", "");

    s->in_one = status == EC_OK;
    s->unsealed = false;
    return status;
}

int ec_store_commit(ec_store *s)
{
    int code = s->unsealed ? ec_store_seal(s->db) : SQLITE_OK;

    int status = code == SQLITE_OK ? ec_store_execute(s, "COMMIT", "") : ec_store_fail(s, code);
    if (status < 0)
        ec_store_rollback(s);
    s->in_one = false;
    return status;
}

void ec_store_rollback(ec_store *s)
{
    /* an error may have ended the transaction already */
    if (s->in_one && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->in_one = false;
}

int ec_store_join(ec_store *s, bool *joined)
{
    *joined = s->in_one;
    return s->in_one ? EC_OK : ec_store_begin(s);
}

int ec_store_leave(ec_store *s, bool joined, int status)
{
    if (joined)
        return status;
    if (status == EC_OK)
        return ec_store_commit(s);
    ec_store_rollback(s);
    return status;
}

/* ---- opening ---- */

/* Sleeps between attempts at what SQLite does not wait for by itself. */
static bool wait_again(double deadline)
{
    const struct timespec pause = {0, 5000000};

    nanosleep(&pause, NULL);
    return ec_store_now() < deadline;
}

/* The write-ahead log, where the file system can have one. */
static int set_journal(ec_store *s)
{
    double deadline = ec_store_now() + BUSY_MILLISECONDS * 1e-3;
    int code;

    do
        code = sqlite3_exec(s->db,
                            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                            "PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -64000",
                            NULL, NULL, NULL);
    while ((code & 0xff) == SQLITE_BUSY && wait_again(deadline));
    return code == SQLITE_OK ? EC_OK : ec_store_fail(s, code);
}

static int read_version(ec_store *s, int64_t *version)
{
    int64_t application = 0, tables = 0;

    int status = ec_store_number(s, "PRAGMA user_version", 0, 0, version);
    if (status == EC_OK)
        status = ec_store_number(s, "PRAGMA application_id", 0, 0, &application);
    if (status == EC_OK)
        status = ec_store_number(s, "SELECT count(*) FROM sqlite_master", 0, 0, &tables);
    if (status < 0)
        return status;
    if (application != EC_STORE_APPLICATION && (*version != 0 || tables > 0))
        return ec_fail(EC_ERR_FORMAT, "'%s' is a database of another program", s->path);
    if (*version > EC_STORE_VERSION)
        return ec_fail(EC_ERR_FORMAT,
                       "'%s' was written by a newer version of Eciton (its format is %d, this "
                       "program knows those up to %d)",
                       s->path, (int)*version, EC_STORE_VERSION);
    return EC_OK;
}

static int migrate(ec_store *s)
{
    int64_t version = 0;
    char text[120];

    int status = read_version(s, &version);
    if (status < 0 || version == EC_STORE_VERSION)
        return status;
    status = ec_store_begin(s);
    if (status < 0)
        return status;
    status = read_version(s, &version); /* another process may have been faster */
    for (int64_t i = version; i < EC_STORE_VERSION && status == EC_OK; i++)
        status = ec_store_run_sql(s, migrations[i]);
    int code = status == EC_OK ? ec_store_add_sums(s->db) : SQLITE_OK;
    if (code != SQLITE_OK)
        status = ec_store_fail(s, code);
    snprintf(text, sizeof text, "PRAGMA user_version = %d; PRAGMA application_id = %d",
             EC_STORE_VERSION, EC_STORE_APPLICATION);
    if (status == EC_OK)
        status = ec_store_run_sql(s, text);
    s->unsealed = true;
    return ec_store_leave(s, false, status);
}

/* Whether pages and indices are as they should be. */
static int check_pages(ec_store *s)
{
    sqlite3_stmt *statement = NULL;
    int status = EC_OK;

    int code = sqlite3_prepare_v2(s->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        status = ec_store_fail(s, code);
    const char *text = status == EC_OK ? (const char *)sqlite3_column_text(statement, 0) : "ok";
    if (text && strcmp(text, "ok") != 0) {
        const char *last = strrchr(text, '\n'); /* behind the name of the database */
        status = ec_fail(EC_ERR_FORMAT, "'%s' is damaged: %.200s", s->path, last ? last + 1 : text);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Of every row that is changed. */
static void note_change(void *user, int what, const char *base, const char *table,
                        sqlite3_int64 row)
{
    ec_store *s = (ec_store *)user;

    (void)what;
    (void)base;
    (void)row;
    if (!s->unsealed && table[0] != 'd' && table[0] != 'h' && table[0] != 'c')
        s->unsealed = strncmp(table, "rows_", 5) != 0 && strcmp(table, "seal") != 0;
}

static int open_once(ec_store *s, const char *name, int flags)
{
    int code = sqlite3_open_v2(name, &s->db, flags, NULL);

    if (code == SQLITE_OK) {
        sqlite3_extended_result_codes(s->db, 1);
        sqlite3_update_hook(s->db, note_change, s);
        code = sqlite3_busy_timeout(s->db, BUSY_MILLISECONDS);
    }
    return code == SQLITE_OK ? EC_OK : ec_store_fail(s, code);
}

static void close_once(ec_store *s)
{
    for (int i = 0; i < s->n_prepared; i++)
        sqlite3_finalize(s->prepared[i].statement);
    s->n_prepared = 0;
    sqlite3_close(s->db);
    s->db = NULL;
}

static int open_to_write(ec_store *s)
{
    bool old = access(s->path, F_OK) == 0;
    int64_t version = 0;

    int status = open_once(s, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (status == EC_OK && old)
        status = read_version(s, &version); /* a newer one is not touched */
    if (status == EC_OK)
        status = set_journal(s);
    if (status == EC_OK && old)
        status = check_pages(s);
    if (status == EC_OK && old)
        status = ec_store_check(s);
    return status == EC_OK ? migrate(s) : status;
}

static int open_as(ec_store *s, const char *name, int flags, int64_t *version)
{
    int status = open_once(s, name, flags);

    return status == EC_OK ? read_version(s, version) : status;
}

/* The file, and its folder. */
static bool can_be_written(const ec_store *s)
{
    char folder[sizeof s->path];

    snprintf(folder, sizeof folder, "%s", s->path);
    *strrchr(folder, '/') = 0;
    return access(s->path, W_OK) == 0 && access(folder[0] ? folder : "/", W_OK) == 0;
}

/* Whether one of SQLite's files beside the store has something in it. */
static bool has_beside(const ec_store *s, const char *ending)
{
    char name[4300];
    struct stat info;

    snprintf(name, sizeof name, "%s%s", s->path, ending);
    return stat(name, &info) == 0 && info.st_size > 0;
}

/* Where nothing can be written, or the disk is full, there is no room for the files beside the store that
 * readers share with writers: it is read as a file that does not change. */
static int open_unchanging(ec_store *s, int64_t *version)
{
    char name[3 * sizeof s->path + 40];
    size_t at = (size_t)snprintf(name, sizeof name, "file:");

    if (has_beside(s, "-wal"))
        return ec_fail(
            EC_ERR_FILE,
            "'%s' cannot be read where it is: 'run.db-wal' beside it has what is not in it "
            "yet, and the folder cannot be written; copy both to another one",
            s->path);
    for (const char *c = s->path; *c; c++)
        at += (size_t)snprintf(name + at, sizeof name - at, strchr("?#%", *c) ? "%%%02x" : "%c",
                               (unsigned char)*c);
    snprintf(name + at, sizeof name - at, "?immutable=1");
    close_once(s);
    return open_as(s, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, version);
}

/* Readers need SQLite's files beside the store too, and the last one to close it takes them away: that can
 * only who may write, so a reader opens it like a writer where it can. It changes nothing, except that it
 * mends what a killed writer has left. */
static int open_to_read(ec_store *s)
{
    int64_t version = 0;

    if (access(s->path, F_OK) != 0)
        return ec_fail(EC_ERR_FILE, "there is no '%s'", s->path);
    int status = open_as(s, s->path, SQLITE_OPEN_READWRITE, &version);
    bool in_use = has_beside(s, "-wal") || has_beside(s, "-shm");
    if (status == EC_ERR_FILE && (!in_use || !can_be_written(s)))
        status = open_unchanging(s, &version);
    if (status == EC_OK)
        status = ec_store_run_sql(s, "PRAGMA query_only = 1");
    /* whoever made the file was killed, or found the disk full, before its tables were there */
    if (status == EC_OK && version == 0)
        status = ec_fail(EC_ERR_FILE, "'%s' holds no run that has begun", s->path);
    return status;
}

/* Whether it is our damaged store, and not what merely bears its name. */
static bool is_worth_saving(const ec_store *s)
{
    static const char head[] = "SQLite format 3";
    char bytes[sizeof head] = "";
    FILE *file = fopen(s->path, "rb");
    bool good = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
                memcmp(bytes, head, sizeof head) == 0;

    if (file)
        fclose(file);
    return good && strstr(ec_error_text(), "is damaged");
}

/* Whether something else has its name: opening a pipe would wait for another end. */
static bool is_other(const ec_store *s)
{
    struct stat info;

    return stat(s->path, &info) == 0 && !S_ISREG(info.st_mode);
}

int ec_store_open(const char *folder, ec_store_mode mode, ec_log *log, ec_store **store)
{
    ec_store *s = (ec_store *)calloc(1, sizeof *s);

    *store = NULL;
    if (!s)
        return ec_fail(EC_ERR_MEMORY, "run store: no memory");
    int n = snprintf(s->path, sizeof s->path, "%s/run.db", folder);
    if (n < 0 || (size_t)n >= sizeof s->path) {
        free(s);
        return ec_fail(EC_ERR_ARGUMENT, "'%.80s...': the path is too long", folder);
    }
    s->log = log;
    s->opened = ec_store_now();
    int status = is_other(s)              ? ec_fail(EC_ERR_FILE, "'%s' is no file", s->path)
                 : mode == EC_STORE_WRITE ? open_to_write(s)
                                          : open_to_read(s);
    if (status == EC_ERR_FORMAT && mode == EC_STORE_WRITE && is_worth_saving(s)) {
        ec_log_write(log, EC_LOG_WARNING, "%s", ec_error_text());
        close_once(s);
        status = ec_store_salvage(s->path, migrations, log);
        if (status == EC_OK)
            status = open_to_write(s);
    }
    if (status < 0)
        ec_store_close(&s);
    *store = s;
    return status;
}

void ec_store_close(ec_store **handle)
{
    ec_store *s = handle ? *handle : NULL;

    if (!s)
        return;
    ec_store_rollback(s);
    close_once(s);
    free(s);
    *handle = NULL;
}

bool ec_store_exists(const char *folder)
{
    char path[4200];
    int n = snprintf(path, sizeof path, "%s/run.db", folder);

    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

const char *ec_store_path(const ec_store *store)
{
    return store->path;
}

/* ---- queries ---- */

static void take_cell(sqlite3_stmt *statement, int i, ec_store_cell *cell)
{
    memset(cell, 0, sizeof *cell);
    switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
        cell->kind = EC_CELL_INTEGER;
        break;
    case SQLITE_FLOAT:
        cell->kind = EC_CELL_NUMBER;
        break;
    case SQLITE_TEXT:
        cell->kind = EC_CELL_TEXT;
        cell->text = (const char *)sqlite3_column_text(statement, i);
        break;
    case SQLITE_BLOB:
        cell->kind = EC_CELL_BLOB;
        cell->text = (const char *)sqlite3_column_blob(statement, i);
        break;
    default:
        cell->kind = EC_CELL_NULL;
        cell->number = NAN;
        return;
    }
    if (cell->text || cell->kind == EC_CELL_BLOB) {
        cell->size = (size_t)sqlite3_column_bytes(statement, i);
        return;
    }
    cell->integer = sqlite3_column_int64(statement, i);
    cell->number = sqlite3_column_double(statement, i);
}

int ec_store_query(ec_store *s, const char *sql, int64_t parameter, void *user,
                   int (*each)(void *user, int n, const char *const *names,
                               const ec_store_cell *cells))
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL), n = 0, status = EC_OK;

    if (code == SQLITE_OK && sqlite3_bind_parameter_count(statement) > 0)
        code = sqlite3_bind_int64(statement, 1, parameter);
    if (code != SQLITE_OK) {
        status = ec_store_fail(s, code);
        sqlite3_finalize(statement);
        return status;
    }
    n = sqlite3_column_count(statement);
    const char **names = (const char **)calloc((size_t)n + 1, sizeof *names);
    ec_store_cell *cells = (ec_store_cell *)calloc((size_t)n + 1, sizeof *cells);
    if (!names || !cells)
        status = ec_fail(EC_ERR_MEMORY, "run store: no memory for a row");
    for (int i = 0; i < n && names; i++)
        names[i] = sqlite3_column_name(statement, i);
    while (status == EC_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++)
            take_cell(statement, i, &cells[i]);
        status = each(user, n, names, cells);
    }
    if (status == EC_OK && code != SQLITE_DONE)
        status = ec_store_fail(s, code);
    sqlite3_finalize(statement);
    free(names);
    free(cells);
    return status;
}

/* ---- cells and names ---- */

double ec_store_cell_element(const ec_store_cell *cell, int32_t k)
{
    double value = NAN;

    if (k >= 0 && cell->kind == EC_CELL_BLOB && cell->size >= sizeof value * ((size_t)k + 1))
        memcpy(&value, cell->text + sizeof value * (size_t)k, sizeof value);
    return value;
}

void ec_store_put_name(FILE *to, const char *name)
{
    fputc('"', to);
    for (; *name; name++)
        fputs(*name == '"' ? "\"\"" : (const char[]){*name, '\0'}, to);
    fputc('"', to);
}
