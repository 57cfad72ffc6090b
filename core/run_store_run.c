/* run_store_run.c: how a run was started, and how it ended. */
#include "hash.h"
#include "run_store_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_settings(ec_store *s, const ec_store_run *run, int64_t id)
{
    int status = EC_OK;

    for (size_t i = 0; i < run->n_settings && status == EC_OK; i++)
        status = ec_store_execute(s, "INSERT INTO parameter VALUES (?1, ?2, ?3, ?4)", "iitt", id,
                                  (int64_t)i, run->settings[i].name, run->settings[i].value);
    return status;
}

static int insert_run(ec_store *s, const ec_store_run *run)
{
    char hash[20] = "";

    if (run->text) {
        ec_hash h = ec_hash_begin();
        ec_hash_text(&h, run->text);
        snprintf(hash, sizeof hash, "%016" PRIx64, h.value);
    }
    return ec_store_execute(
        s,
        "INSERT INTO run (status, started, version, script, script_text, script_hash, data,"
        " backend, device, isa, seed, quick, trust, checkpoint_seconds)"
        " VALUES ('running', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        "dtttttttttiid", s->opened, run->version, run->script, run->text, hash, run->data,
        run->backend, run->device, run->isa, run->seed, (int64_t)run->quick, (int64_t)run->trust,
        run->checkpoint_seconds);
}

static int drop_searches(ec_store *s)
{
    static const char *const all[] = {"DELETE FROM history", "DELETE FROM checkpoint",
                                      "DELETE FROM search"};
    int64_t last = 0;
    int status = ec_store_number(s, "SELECT max(number) FROM search", 0, 0, &last);

    for (int64_t i = 1; i <= last && status == EC_OK; i++)
        status = ec_store_table_drop(s, "search", i);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == EC_OK; i++)
        status = ec_store_run_sql(s, all[i]);
    return status;
}

int ec_store_run_begin(ec_store *s, const ec_store_run *run)
{
    bool joined;
    int64_t id = 0;

    int status = ec_store_join(s, &joined);
    if (status == EC_OK && !run->beside)
        status = drop_searches(s);
    if (status == EC_OK)
        status = insert_run(s, run);
    id = status == EC_OK ? sqlite3_last_insert_rowid(s->db) : 0;
    if (status == EC_OK)
        status = add_settings(s, run, id);
    status = ec_store_leave(s, joined, status);
    s->run = status == EC_OK ? id : 0;
    return status;
}

int ec_store_run_end(ec_store *s, const char *word)
{
    bool joined;

    if (s->run == 0)
        return EC_OK;
    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = ec_store_execute(s, "UPDATE run SET status = ?1, ended = ?2 WHERE id = ?3", "tdi",
                                  word, ec_store_now(), s->run);
    return ec_store_leave(s, joined, status);
}

int ec_store_run_resume(ec_store *s)
{
    bool joined;

    int status = ec_store_join(s, &joined);
    if (status == EC_OK)
        status = ec_store_number(s, "SELECT max(id) FROM run", 0, 0, &s->run);
    if (status == EC_OK && s->run > 0)
        status = ec_store_execute(
            s, "UPDATE run SET status = 'running', ended = NULL WHERE id = ?1", "i", s->run);
    return ec_store_leave(s, joined, status);
}

/* ---- reading ---- */

static char *copy_text(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_TEXT ? strdup(cell->text) : NULL;
}

static void take_text(const ec_store_cell *cell, char *to, size_t size)
{
    snprintf(to, size, "%s", cell->kind == EC_CELL_TEXT ? cell->text : "");
}

static int take_run(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    ec_store_run *run = (ec_store_run *)user;

    (void)n;
    (void)names;
    run->id = cells[0].integer;
    take_text(&cells[1], run->status, sizeof run->status);
    run->started = cells[2].number;
    run->ended = cells[3].kind == EC_CELL_NULL ? 0 : cells[3].number;
    take_text(&cells[4], run->version, sizeof run->version);
    run->script = copy_text(&cells[5]);
    run->text = copy_text(&cells[6]);
    run->data = copy_text(&cells[7]);
    take_text(&cells[8], run->backend, sizeof run->backend);
    take_text(&cells[9], run->device, sizeof run->device);
    take_text(&cells[10], run->isa, sizeof run->isa);
    take_text(&cells[11], run->seed, sizeof run->seed);
    run->quick = cells[12].integer != 0;
    run->trust = cells[13].integer != 0;
    run->checkpoint_seconds = cells[14].kind == EC_CELL_NULL ? 0 : cells[14].number;
    return EC_OK;
}

static int take_setting(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    ec_store_run *run = (ec_store_run *)user;
    ec_store_setting *more =
        (ec_store_setting *)realloc(run->settings, sizeof *more * (run->n_settings + 1));

    (void)n;
    (void)names;
    if (!more)
        return ec_fail(EC_ERR_MEMORY, "run store: no memory for the run's parameters");
    run->settings = more;
    more[run->n_settings++] = (ec_store_setting){copy_text(&cells[0]), copy_text(&cells[1])};
    return EC_OK;
}

int ec_store_run_read(ec_store *s, ec_store_run *run, bool *found)
{
    memset(run, 0, sizeof *run);
    int status = ec_store_query(s,
                                "SELECT id, status, started, ended, version, script, script_text,"
                                " data, backend, device, isa, seed, quick, trust,"
                                " checkpoint_seconds FROM run ORDER BY id DESC LIMIT 1",
                                0, run, take_run);
    *found = status == EC_OK && run->id > 0;
    if (*found)
        status =
            ec_store_query(s, "SELECT name, value FROM parameter WHERE run = ?1 ORDER BY position",
                           run->id, run, take_setting);
    if (status < 0)
        ec_store_run_release(run);
    return status;
}

void ec_store_run_release(ec_store_run *run)
{
    for (size_t i = 0; i < run->n_settings; i++) {
        free(run->settings[i].name);
        free(run->settings[i].value);
    }
    free(run->settings);
    free(run->script);
    free(run->text);
    free(run->data);
    memset(run, 0, sizeof *run);
}

/* A run that failed may have a search to go on from: what failed was an attempt to resume it. */
bool ec_store_is_unfinished(ec_store *s)
{
    int64_t open = 0;

    return ec_store_number(s,
                           "SELECT count(*) FROM checkpoint"
                           " LEFT JOIN search ON search.number = checkpoint.search,"
                           " (SELECT status FROM run ORDER BY id DESC LIMIT 1) AS latest"
                           " WHERE latest.status IN ('running', 'interrupted')"
                           " OR (latest.status = 'failed'"
                           " AND (search.ended IS NULL OR search.stop = 'interrupted'))",
                           0, 0, &open) == EC_OK &&
           open > 0;
}
