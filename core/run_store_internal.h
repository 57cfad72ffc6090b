/* run_store_internal.h: what the files run_store*.c share.
 *
 *   run_store.c          opening, the schema, transactions, statements, errors, queries
 *   run_store_run.c      runs
 *   run_store_search.c   searches: history, checkpoints
 *   run_store_table.c    tables with a column a quantity: designs, rows of sweeps
 *   run_store_check.c    whether rows are as they were written
 *   run_store_salvage.c  what can be read of a damaged store
 */
#ifndef EC_RUN_STORE_INTERNAL_H
#define EC_RUN_STORE_INTERNAL_H

#include "run_store.h"

#include <sqlite3.h>

EC_C_BEGIN

enum {
    EC_STORE_STATEMENTS_MAX = 64,
    EC_STORE_APPLICATION =
        0x45434954 /* "ECIT": what `file` shows, and what tells ours from others */
};

struct ec_store {
    sqlite3 *db;
    char path[4200];
    ec_log *log;
    double opened;  /* when; a run began then */
    int64_t run;    /* that this handle began or resumed; 0: none */
    bool in_one;    /* a transaction */
    unsigned added; /* rows of histories, for the ring */
    bool unsealed;  /* this transaction changed one of the small tables */
    uint64_t sum;   /* of the values that were bound to a statement */
    struct {
        const char *sql; /* known by its address */
        sqlite3_stmt *statement;
    } prepared[EC_STORE_STATEMENTS_MAX];
    int n_prepared;
};

/* The status and sentence of SQLite's last error. */
int ec_store_fail(ec_store *store, int code);
/* A statement of a literal, prepared once; reset it after use. NULL: the error is recorded. */
sqlite3_stmt *ec_store_statement(ec_store *store, const char *literal);
/* Binds by letters: i int64_t, d double (NaN: NULL), t text (NULL: NULL), b bytes and size_t, B the same of bytes
 * that count in no check sum, s (without an argument) the check sum of the values before it. */
int ec_store_bind(ec_store *store, sqlite3_stmt *statement, const char *letters, ...);
/* Runs a literal that gives no rows. */
int ec_store_execute(ec_store *store, const char *literal, const char *letters, ...);
/* Runs any text of SQL without parameters. */
int ec_store_run_sql(ec_store *store, const char *sql);
/* One whole number out of a literal with one parameter; `missing` without a row. */
int ec_store_number(ec_store *store, const char *literal, int64_t parameter, int64_t missing,
                    int64_t *number);
/* A transaction around a call, unless there is one: joined says so. */
int ec_store_join(ec_store *store, bool *joined);
int ec_store_leave(ec_store *store, bool joined, int status);
double ec_store_now(void);

/* run_store_table.c. owner: "search" or "sweep". */
int ec_store_table_create(ec_store *store, const char *owner, int64_t number,
                          const ec_store_quantity *quantities, int32_t n, bool *same,
                          ec_store_table **table);
int ec_store_table_drop(ec_store *store, const char *owner, int64_t number);

/* run_store_check.c: check sums of rows, in the order of the table's columns; they begin with 0. */
void ec_row_sum_integer(uint64_t *sum, int64_t value);
void ec_row_sum_number(uint64_t *sum, double value);
void ec_row_sum_text(uint64_t *sum, const char *text);                /* NULL: NULL */
void ec_row_sum_bytes(uint64_t *sum, const void *bytes, size_t size); /* NULL: NULL */

/* Of the rows that a statement gives, with the names of the table's columns. */
typedef struct ec_row_check {
    int n, sum;     /* columns, and which of them is the sum; -1: none */
    bool *left_out; /* of the sum */
} ec_row_check;

int ec_row_check_begin(const char *table, sqlite3_stmt *rows, ec_row_check *check);
/* Whether the row that the statement is at has the sum that it was written with, or none. */
bool ec_row_check_passes(const ec_row_check *check, sqlite3_stmt *row);
void ec_row_check_end(ec_row_check *check);
/* Gives every row without a sum the one that it has now, in columns that are made where they lack. Returns
 * SQLite's code. */
int ec_store_add_sums(sqlite3 *db);
/* Writes the sum of the small tables as they are now. Returns SQLite's code. */
int ec_store_seal(sqlite3 *db);
/* Whether they have the sum that was written; true too where there is none, or it cannot be read. */
bool ec_store_is_sealed(sqlite3 *db);

/* run_store_salvage.c: replaces folder/run.db; schema: EC_STORE_VERSION texts. EC_ERR_FORMAT: it is of another
 * program, and is left as it is. */
int ec_store_salvage(const char *path, const char *const *schema, ec_log *log);

EC_C_END
#endif
