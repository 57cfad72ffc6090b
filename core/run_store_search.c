/* run_store_search.c: searches of a run: their history, designs and checkpoints. */
#include "run_store_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_BYTES = 64 << 20, /* of a checkpoint; a blob in SQLite is below 1e9 bytes */
    RING_ROWS = 1024       /* of a history that are not kept, at least */
};

int ec_store_search_begin(ec_store *s, int64_t number, const ec_store_search *search,
                          const ec_store_quantity *quantities, int32_t n, ec_store_table **designs)
{
    bool joined, same = true;
    char seed[24];

    *designs = NULL;
    snprintf(seed, sizeof seed, "%" PRIu64, search->seed);
    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = ec_store_table_create(s, "search", number, quantities, n, &same, designs);
    if (status == EC_OK && !same) {
        status = ec_store_table_drop(s, "search", number);
        if (status == EC_OK)
            status = ec_store_table_create(s, "search", number, quantities, n, &same, designs);
    }
    if (status == EC_OK)
        status = ec_store_execute(
            s,
            "INSERT INTO search (number, run, job, method, seed, population, backend, device, isa,"
            " keep, started) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
            " ON CONFLICT (number) DO UPDATE SET run = ?2, job = ?3, method = ?4, seed = ?5,"
            " population = ?6, backend = ?7, device = ?8, isa = ?9, keep = ?10",
            "iitttittttd", number, s->run, search->job, search->method, seed,
            (int64_t)search->population, search->backend, search->device, search->isa, search->keep,
            ec_store_now());
    status = ec_store_leave(s, joined, status);
    if (status < 0)
        ec_store_table_close(designs);
    return status;
}

int ec_store_search_rewind(ec_store *s, int64_t number, uint32_t generation)
{
    bool joined;
    char text[160];

    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = ec_store_execute(s, "DELETE FROM history WHERE search = ?1 AND generation > ?2",
                                  "ii", number, (int64_t)generation);
    if (status ==
        EC_OK) /* a run that was interrupted has a last row that an unbroken one has not */
        status = ec_store_execute(s, "UPDATE history SET kept = 0 WHERE search = ?1", "i", number);
    snprintf(text, sizeof text,
             "DELETE FROM designs_%lld WHERE stage <> 'search' OR generation > %lld",
             (long long)number, (long long)generation);
    if (status == EC_OK)
        status = ec_store_run_sql(s, text);
    if (status == EC_OK)
        status = ec_store_execute(s,
                                  "UPDATE search SET ended = NULL, stop = NULL, message = NULL,"
                                  " generations = NULL, evaluations = NULL, failed = NULL,"
                                  " seconds = NULL WHERE number = ?1",
                                  "i", number);
    return ec_store_leave(s, joined, status);
}

int ec_store_search_end(ec_store *s, int64_t number, const ec_result *r)
{
    bool joined;

    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = ec_store_execute(
            s,
            "UPDATE search SET ended = ?2, stop = ?3, message = ?4, generations = ?5,"
            " evaluations = ?6, failed = ?7, seconds = ?8 WHERE number = ?1",
            "idttiiid", number, ec_store_now(), ec_stop_name(r->stop), r->message,
            (int64_t)r->generations, (int64_t)r->evaluations, (int64_t)r->failed, r->seconds);
    return ec_store_leave(s, joined, status);
}

/* ---- history ---- */

static int trim_ring(ec_store *s, int64_t number)
{
    return ec_store_execute(s,
                            "DELETE FROM history WHERE search = ?1 AND kept = 0 AND generation <="
                            " (SELECT generation FROM history WHERE search = ?1 AND kept = 0"
                            " ORDER BY generation DESC LIMIT 1 OFFSET ?2)",
                            "ii", number, (int64_t)RING_ROWS);
}

int ec_store_history_add(ec_store *s, int64_t number, const ec_history_row *row, bool kept)
{
    bool joined;

    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = ec_store_execute(
            s,
            "INSERT INTO history VALUES (?1, ?2, ?15, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
            " ?13, ?14) ON CONFLICT (search, generation) DO UPDATE SET kept = max(kept, ?15)",
            "iiiidddddiidisi", number, (int64_t)row->generation, (int64_t)row->evaluations,
            (int64_t)row->failed, row->seconds, row->best, row->median, row->spread, row->violation,
            (int64_t)row->feasible, (int64_t)row->population, row->hypervolume, (int64_t)row->front,
            (int64_t)kept);
    if (status == EC_OK && !kept && ++s->added % RING_ROWS == 0)
        status = trim_ring(s, number);
    return ec_store_leave(s, joined, status);
}

/* ---- checkpoints ---- */

int ec_store_checkpoint_put(ec_store *s, int64_t number, const void *bytes, size_t size)
{
    bool joined;
    int64_t part = 0;

    int status = ec_store_join(s, &joined);
    for (size_t at = 0; at < size && status == EC_OK; part++) {
        size_t n = size - at < PART_BYTES ? size - at : PART_BYTES;
        status = ec_store_execute(s,
                                  "INSERT INTO checkpoint VALUES (?1, ?2, ?3)"
                                  " ON CONFLICT (search, part) DO UPDATE SET bytes = ?3",
                                  "iiB", number, part, (const char *)bytes + at, n);
        at += n;
    }
    if (status == EC_OK)
        status = ec_store_execute(s, "DELETE FROM checkpoint WHERE search = ?1 AND part >= ?2",
                                  "ii", number, part);
    return ec_store_leave(s, joined, status);
}

typedef struct parts {
    char *bytes;
    size_t size;
} parts;

static int take_part(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    parts *all = (parts *)user;
    char *more = (char *)realloc(all->bytes, all->size + cells[0].size + 1);

    (void)n;
    (void)names;
    if (!more)
        return ec_fail(EC_ERR_MEMORY, "run store: no memory for the state of a search");
    all->bytes = more;
    if (cells[0].size > 0)
        memcpy(more + all->size, cells[0].text, cells[0].size);
    all->size += cells[0].size;
    return EC_OK;
}

int ec_store_checkpoint_get(ec_store *s, int64_t number, void **bytes, size_t *size)
{
    parts all = {NULL, 0};

    int status = ec_store_query(s, "SELECT bytes FROM checkpoint WHERE search = ?1 ORDER BY part",
                                number, &all, take_part);
    if (status < 0) {
        free(all.bytes);
        all = (parts){NULL, 0};
    }
    *bytes = all.bytes;
    *size = all.size;
    return status;
}

/* ---- sweeps ---- */

/* The text, malloc'ed, of a query that gives at most one. */
static int take_origin(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(char **)user = strdup(cells[0].kind == EC_CELL_TEXT ? cells[0].text : "");
    return *(char **)user ? EC_OK : ec_fail(EC_ERR_MEMORY, "run store: no memory for a sweep");
}

static int find_sweep(ec_store *s, const char *name, int64_t *number)
{
    static const char sql[] = "SELECT number FROM sweep WHERE name = ?1";
    sqlite3_stmt *statement = ec_store_statement(s, sql);

    *number = 0;
    if (!statement)
        return EC_ERR_FILE;
    int status = ec_store_bind(s, statement, "t", name);
    int code = status == EC_OK ? sqlite3_step(statement) : SQLITE_DONE;
    if (code == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    else if (code != SQLITE_DONE)
        status = ec_store_fail(s, code);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

static int add_sweep(ec_store *s, const char *name, const char *origin, int64_t *number)
{
    int status =
        ec_store_execute(s, "INSERT INTO sweep (name, origin, created) VALUES (?1, ?2, ?3)", "ttd",
                         name, origin, ec_store_now());
    *number = sqlite3_last_insert_rowid(s->db);
    return status;
}

/* The sweep's number; *other: what its rows are computed from, when that is something else. */
static int adopt_sweep(ec_store *s, const char *name, const char *origin, bool fresh,
                       int64_t *number, char **other)
{
    char *text = NULL;

    int status = find_sweep(s, name, number);
    if (status < 0 || *number == 0)
        return status < 0 ? status : add_sweep(s, name, origin, number);
    if (fresh) {
        status = ec_store_table_drop(s, "sweep", *number);
        if (status == EC_OK)
            status =
                ec_store_execute(s, "UPDATE sweep SET origin = ?1, created = ?2 WHERE number = ?3",
                                 "tdi", origin, ec_store_now(), *number);
        return status;
    }
    status = ec_store_query(s, "SELECT origin FROM sweep WHERE number = ?1", *number, &text,
                            take_origin);
    if (status == EC_OK && text && strcmp(text, origin) != 0)
        *other = text;
    else
        free(text);
    return status;
}

int ec_store_sweep_open(ec_store *s, const char *name, const char *origin,
                        const ec_store_quantity *quantities, int32_t n, bool fresh,
                        ec_store_table **rows, char **other)
{
    int64_t number = 0;
    bool joined, same = true;

    *rows = NULL;
    *other = NULL;
    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = adopt_sweep(s, name, origin, fresh, &number, other);
    if (status == EC_OK && !*other)
        status = ec_store_table_create(s, "sweep", number, quantities, n, &same, rows);
    if (status == EC_OK && !same)
        *other = strdup(origin);
    status = ec_store_leave(s, joined, status);
    if (status < 0)
        ec_store_table_close(rows);
    return status;
}
