/* run_store.h: what a run leaves that lasts: DIR/run.db, a SQLite database with a write-ahead log.
 *
 * It holds how the run was started, its searches with history, designs and checkpoints, and the rows
 * of sweeps. docs/run_store.md is the page of the schema, for those who read it from elsewhere.
 *
 * What is written in one transaction (ec_store_begin ... ec_store_commit) is there as a whole or not
 * at all, also after SIGKILL; the machine's own failure may cost the last transactions, never the
 * store. Several processes may write: a transaction waits for the others, up to a minute. A call
 * outside of a transaction is one of its own. A store is for one thread at a time.
 *
 * Numbers are doubles; NaN is NULL in the database. Times are seconds since 1970. Texts are copied.
 *
 * Errors: ERR_FILE, the store cannot be opened or written (the disk is full, the folder is read-only);
 * ERR_FORMAT, it is damaged, or of a newer version, or no store at all.
 */
#ifndef EC_RUN_STORE_H
#define EC_RUN_STORE_H

#include <stdio.h>

#include "log.h"
#include "solve.h"
#include "status.h"

EC_C_BEGIN

typedef struct ec_store ec_store;

enum { EC_STORE_VERSION = 2 }; /* of the schema that is written */

typedef enum ec_store_mode {
    EC_STORE_READ, /* a store that exists, also while others write it or on a read-only disk */
    EC_STORE_WRITE /* creates it where there is none; the folder has to exist */
} ec_store_mode;

/* With EC_STORE_WRITE a store that is found damaged is replaced by one of what could be read; the old
 * one stays as run.db.damaged, and the log says what is lost. */
EC_API int ec_store_open(const char *folder, ec_store_mode mode, ec_log *log, ec_store **store);
EC_API void ec_store_close(ec_store **store);
/* Whether every row is as it was written, as far as there are check sums; reads all of the store. Opening it to
 * write does so. ERR_FORMAT says what is not. */
EC_API int ec_store_check(ec_store *store);
/* Whether the folder has a store, of whatever version. */
EC_API bool ec_store_exists(const char *folder);
EC_API const char *ec_store_path(const ec_store *store);

EC_API int ec_store_begin(ec_store *store);
/* What cannot be committed is rolled back. */
EC_API int ec_store_commit(ec_store *store);
EC_API void ec_store_rollback(ec_store *store);

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct ec_store_setting {
    char *name, *value;
} ec_store_setting;

/* What a run was started with. Texts are malloc'ed where the store gives them, and may be NULL. */
typedef struct ec_store_run {
    int64_t id;
    char *script, *data; /* absolute paths */
    char *text;          /* of the script */
    char version[32];
    char backend[160]; /* as it was chosen, with its workers: "cuda:0,cuda:1" */
    char device[128];
    char isa[8];   /* "" on CUDA */
    char seed[24]; /* "" when none was given */
    bool quick, trust;
    bool beside; /* only written: another run goes on in this store, whose searches stay */
    double checkpoint_seconds;
    ec_store_setting *settings;
    size_t n_settings;
    char status[16];       /* "running" (or killed), "finished", "interrupted", "failed" */
    double started, ended; /* ended 0: it did not come to its end */
} ec_store_run;

/* Begins a run, whose searches take the place of those of earlier runs; rows of sweeps stay. id,
 * status, started and ended are not read. */
EC_API int ec_store_run_begin(ec_store *store, const ec_store_run *run);
/* Of the run that this handle began or resumed; without one it does nothing. */
EC_API int ec_store_run_end(ec_store *store, const char *status);
/* The latest run goes on. */
EC_API int ec_store_run_resume(ec_store *store);
/* The latest run; *run is to be released. found = false: there is none. */
EC_API int ec_store_run_read(ec_store *store, ec_store_run *run, bool *found);
EC_API void ec_store_run_release(ec_store_run *run);
/* Whether the latest run did not come to its end and has a checkpoint to go on from. */
EC_API bool ec_store_is_unfinished(ec_store *store);

/* ---- tables of designs and of sweeps' rows --------------------------------------------------- */

/* A variable, objective, constraint, recorded quantity, ...: one column. */
typedef struct ec_store_quantity {
    const char *kind; /* "variable", "objective", "constraint", "recorded", "violation" */
    const char *name;
    int32_t length;  /* 0: a number; else a list, kept as a blob of so many float64 */
    double min, max; /* of a variable; NaN: none */
    /* of a list whose elements have bounds of their own, one each, which are kept instead; else NULL */
    const double *element_min, *element_max;
    const char *goal; /* of an objective of a search, "minimize" or "maximize"; else NULL */
} ec_store_quantity;

/* That of a variable of the job, which owns its name and bounds. */
EC_API ec_store_quantity ec_store_variable(const ec_job *job, int32_t variable);

enum { EC_STORE_QUANTITIES_MAX = 1900 }; /* columns of a table in SQLite are at most 2000 */

typedef struct ec_store_table ec_store_table;

typedef struct ec_store_row {
    uint8_t status;       /* candidate status bits; the column `reason` has their names */
    const double *values; /* of all quantities one after another; a list of NaN only is NULL */
    /* of a design */
    uint32_t generation; /* 0: none */
    const char *stage;   /* "search", "final", "winner", "front", "failed" */
    double violation;    /* NaN: unknown */
} ec_store_row;

/* Numbers of a row. */
EC_API size_t ec_store_row_length(const ec_store_quantity *quantities, int32_t n);
/* Adds n rows. A row of a sweep is known by its variables: one that is there is left as it is. */
EC_API int ec_store_table_add(ec_store_table *table, const ec_store_row *rows, size_t n);
/* Every row, in the order in which they were added; `each` returns a status, other than OK ends it.
 * Of designs `stage` is valid during the call. */
EC_API int ec_store_table_read(ec_store_table *table, void *user,
                               int (*each)(void *user, const ec_store_row *row));
/* Rows that were added since the last ec_store_table_read or refresh, if another process may have added
 * some: those of this one are among them. */
EC_API int ec_store_table_refresh(ec_store_table *table, void *user,
                                  int (*each)(void *user, const ec_store_row *row));
/* Before its store is closed. */
EC_API void ec_store_table_close(ec_store_table **table);

/* ---- searches -------------------------------------------------------------------------------- */

typedef struct ec_store_search {
    const char *job, *method, *backend, *device, *isa, *keep;
    uint64_t seed, population;
} ec_store_search;

/* Search `number` of the run, from 1, and the table of its designs (`designs_1`). What an earlier
 * process kept of it stays, if its quantities are the same. */
EC_API int ec_store_search_begin(ec_store *store, int64_t number, const ec_store_search *search,
                                 const ec_store_quantity *quantities, int32_t n,
                                 ec_store_table **designs);
/* Forgets what came after a generation, the figures of the end, and which rows of the history are
 * kept, so that they are added again. */
EC_API int ec_store_search_rewind(ec_store *store, int64_t number, uint32_t generation);
EC_API int ec_store_search_end(ec_store *store, int64_t number, const ec_result *result);
/* A row of the history. Those that are not kept are a ring: the latest thousand or two of them stay. */
EC_API int ec_store_history_add(ec_store *store, int64_t number, const ec_history_row *row,
                                bool kept);
/* The state of a search, in place of the one before. bytes: malloc'ed, NULL: there is none. */
EC_API int ec_store_checkpoint_put(ec_store *store, int64_t number, const void *bytes, size_t size);
EC_API int ec_store_checkpoint_get(ec_store *store, int64_t number, void **bytes, size_t *size);

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* The sweep of this name and the table of its rows (`rows_1`). `origin` says what rows are computed
 * from (one text a line, "label: value"): where the store has rows of another origin or of other
 * quantities, *other is its text, malloc'ed, and there is no table; `fresh` drops them instead. */
EC_API int ec_store_sweep_open(ec_store *store, const char *name, const char *origin,
                               const ec_store_quantity *quantities, int32_t n, bool fresh,
                               ec_store_table **rows, char **other);

/* ---- looking at it --------------------------------------------------------------------------- */

typedef enum ec_store_kind {
    EC_CELL_NULL,
    EC_CELL_INTEGER,
    EC_CELL_NUMBER,
    EC_CELL_TEXT,
    EC_CELL_BLOB
} ec_store_kind;

/* A value of a row; of a blob text is its bytes. */
typedef struct ec_store_cell {
    ec_store_kind kind;
    int64_t integer;
    double number; /* of integers too */
    const char *text;
    size_t size;
} ec_store_cell;

/* Element k, from 0, of the list in a cell; NaN of one that is NULL or shorter. */
EC_API double ec_store_cell_element(const ec_store_cell *cell, int32_t k);
/* A column's name as SQL has it, in quotes. */
EC_API void ec_store_put_name(FILE *to, const char *name);
/* The rows of a query with one parameter, ?1; `each` returns a status, other than OK ends it. */
EC_API int ec_store_query(ec_store *store, const char *sql, int64_t parameter, void *user,
                          int (*each)(void *user, int n, const char *const *names,
                                      const ec_store_cell *cells));

EC_C_END
#endif
