/* test_run_store.c: what is written comes back; what is there after a kill, a full disk, damage; two
 * writers; and what is refused. */
#include "run_store.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

enum { LIST = 3, ROWS = 10000, KILLS = 20 };

static char folder[64];
static char heard[4000]; /* of the log */

static void hear(void *user, ec_log_level level, const char *text)
{
    size_t used = strlen(heard);

    (void)user;
    (void)level;
    snprintf(heard + used, sizeof heard - used, "%s\n", text);
}

static ec_log listener = {EC_LOG_INFO, hear, NULL};

static int setup(void **state)
{
    (void)state;
    heard[0] = '\0';
    snprintf(folder, sizeof folder, "/tmp/eciton_store_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[200];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int check(int status)
{
    if (status < 0)
        fprintf(stderr, "%s: %s\n", ec_status_name(status), ec_error_text());
    return status;
}

static ec_store *open_store(void)
{
    ec_store *store = NULL;

    assert_int_equal(check(ec_store_open(folder, EC_STORE_WRITE, &listener, &store)), EC_OK);
    return store;
}

/* A column of its own would be called like one that each table has, or like another one. */
static const ec_store_quantity quantities[] = {
    {"variable", "x", LIST, -1, 1, NULL, NULL, NULL},
    {"variable", "Status", 0, 0, 5, NULL, NULL, NULL},
    {"objective", "f \"0\"", 0, NAN, NAN, NULL, NULL, "maximize"},
    {"recorded", "X", 0, NAN, NAN, NULL, NULL, NULL}};
enum { QUANTITIES = sizeof quantities / sizeof *quantities, LENGTH = LIST + 3 };

static const ec_store_search about = {.job = "job",
                                      .method = "de",
                                      .backend = "cpu",
                                      .device = "CPU",
                                      .isa = "v3",
                                      .keep = "all",
                                      .seed = UINT64_MAX,
                                      .population = 8};

/* ---- round trip ------------------------------------------------------------------------------ */

static const double numbers[2][LENGTH] = {{-0.0, 1e-310, NAN, -0.0, INFINITY, 0.1},
                                          {NAN, NAN, NAN, 3, -1.0 / 3, NAN}};

static int same_row(void *user, const ec_store_row *row)
{
    int i = (*(int *)user)++;

    assert_in_range(i, 0, 1);
    for (int k = 0; k < LENGTH; k++)
        assert_true(isnan(numbers[i][k]) ? isnan(row->values[k]) : row->values[k] == numbers[i][k]);
    assert_int_equal(row->status, i == 0 ? 0 : 5);
    assert_int_equal(row->generation, 7 + i);
    assert_string_equal(row->stage, i == 0 ? "search" : "winner");
    assert_true(i == 0 ? row->violation == 0.25 : isnan(row->violation));
    return EC_OK;
}

static int one_text(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    snprintf((char *)user, 100, "%s", cells[0].kind == EC_CELL_TEXT ? cells[0].text : "");
    return EC_OK;
}

static int one_number(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(double *)user = cells[0].number;
    return EC_OK;
}

static void test_round_trip(void **state)
{
    ec_store_setting settings[] = {{(char *)"n", (char *)"3"}, {(char *)"name", (char *)"a=b"}};
    ec_store_run run = {.script = (char *)"/a/b.lua",
                        .text = (char *)"print(1)",
                        .quick = true,
                        .checkpoint_seconds = 2.5,
                        .settings = settings,
                        .n_settings = 2};
    ec_store_row rows[] = {{0, numbers[0], 7, "search", 0.25}, {5, numbers[1], 8, "winner", NAN}};
    ec_history_row history = {.generation = 7,
                              .evaluations = 1ull << 40,
                              .best = -0.5,
                              .median = NAN,
                              .hypervolume = NAN};
    static const char state_bytes[] = "the state of a search";
    ec_store_table *designs = NULL;
    ec_store_run back;
    void *bytes = NULL;
    size_t size = 0;
    bool found = true;
    char text[100] = "";
    double number = 0;

    (void)state;
    assert_false(ec_store_exists(folder));
    ec_store *store = open_store();
    assert_int_equal(ec_store_run_read(store, &back, &found), EC_OK);
    assert_false(found);
    snprintf(run.version, sizeof run.version, "1.2.3");
    snprintf(run.seed, sizeof run.seed, "18446744073709551615");
    assert_int_equal(check(ec_store_run_begin(store, &run)), EC_OK);
    assert_int_equal(
        check(ec_store_search_begin(store, 1, &about, quantities, QUANTITIES, &designs)), EC_OK);
    assert_false(ec_store_is_unfinished(store));
    assert_int_equal(check(ec_store_begin(store)), EC_OK);
    assert_int_equal(check(ec_store_table_add(designs, rows, 2)), EC_OK);
    assert_int_equal(check(ec_store_history_add(store, 1, &history, true)), EC_OK);
    assert_int_equal(check(ec_store_checkpoint_put(store, 1, state_bytes, sizeof state_bytes)),
                     EC_OK);
    assert_int_equal(check(ec_store_commit(store)), EC_OK);
    assert_true(ec_store_is_unfinished(store));
    ec_store_table_close(&designs);
    ec_store_close(&store);

    assert_true(ec_store_exists(folder));
    assert_int_equal(check(ec_store_open(folder, EC_STORE_READ, &listener, &store)), EC_OK);
    assert_int_equal(check(ec_store_run_read(store, &back, &found)), EC_OK);
    assert_true(found);
    assert_string_equal(back.script, "/a/b.lua");
    assert_string_equal(back.text, "print(1)");
    assert_string_equal(back.version, "1.2.3");
    assert_string_equal(back.seed, "18446744073709551615");
    assert_string_equal(back.status, "running");
    assert_null(back.data);
    assert_true(back.quick && !back.trust && back.checkpoint_seconds == 2.5 && back.started > 1e9);
    assert_int_equal(back.n_settings, 2);
    assert_string_equal(back.settings[1].value, "a=b");
    ec_store_run_release(&back);
    assert_int_equal(check(ec_store_checkpoint_get(store, 1, &bytes, &size)), EC_OK);
    assert_int_equal(size, sizeof state_bytes);
    assert_memory_equal(bytes, state_bytes, size);
    free(bytes);
    assert_int_equal(check(ec_store_checkpoint_get(store, 2, &bytes, &size)), EC_OK);
    assert_null(bytes);
    /* as a user reads it, by name; a name that is taken has its kind before it */
    assert_int_equal(check(ec_store_query(store, "SELECT \"recorded:X\" FROM designs_1", 0, &number,
                                          one_number)),
                     EC_OK);
    assert_int_equal(
        check(ec_store_query(store, "SELECT \"column\" FROM quantity WHERE name = 'Status'", 0,
                             text, one_text)),
        EC_OK);
    assert_string_equal(text, "variable:Status");
    assert_int_equal(check(ec_store_query(store, "SELECT reason FROM designs_1 WHERE status", 0,
                                          text, one_text)),
                     EC_OK);
    assert_string_equal(text, "not_finite+evaluator");
    ec_store_close(&store);

    /* the rows of a table that goes on; what came later is forgotten */
    store = open_store();
    int at = 0;
    assert_int_equal(
        check(ec_store_search_begin(store, 1, &about, quantities, QUANTITIES, &designs)), EC_OK);
    assert_int_equal(check(ec_store_table_read(designs, &at, same_row)), EC_OK);
    assert_int_equal(at, 2);
    assert_int_equal(check(ec_store_search_rewind(store, 1, 7)), EC_OK);
    at = 0;
    assert_int_equal(check(ec_store_table_read(designs, &at, same_row)), EC_OK);
    assert_int_equal(at, 1);
    ec_store_table_close(&designs);
    /* other quantities, another table */
    assert_int_equal(check(ec_store_search_begin(store, 1, &about, quantities, 1, &designs)),
                     EC_OK);
    at = 0;
    assert_int_equal(check(ec_store_table_read(designs, &at, same_row)), EC_OK);
    assert_int_equal(at, 0);
    ec_store_table_close(&designs);
    /* a run's searches go with the next run */
    assert_int_equal(check(ec_store_run_begin(store, &run)), EC_OK);
    assert_int_equal(check(ec_store_query(store,
                                          "SELECT count(*) FROM sqlite_master WHERE name ="
                                          " 'designs_1' OR EXISTS (SELECT 1 FROM search)",
                                          0, &number, one_number)),
                     EC_OK);
    assert_true(number == 0);
    assert_int_equal(check(ec_store_run_end(store, "finished")), EC_OK);
    ec_store_close(&store);
}

/* Rows of generations that are no part of the kept history are a ring. */
static void test_ring(void **state)
{
    ec_store *store = open_store();
    double n = 0;

    (void)state;
    assert_int_equal(check(ec_store_begin(store)), EC_OK);
    for (uint32_t g = 1; g <= 5000; g++) {
        ec_history_row row = {.generation = g};
        assert_int_equal(check(ec_store_history_add(store, 1, &row, g % 100 == 0)), EC_OK);
    }
    assert_int_equal(check(ec_store_commit(store)), EC_OK);
    assert_int_equal(
        ec_store_query(store, "SELECT count(*) FROM history WHERE kept", 0, &n, one_number), EC_OK);
    assert_true(n == 50);
    assert_int_equal(
        ec_store_query(store, "SELECT count(*) FROM history WHERE NOT kept", 0, &n, one_number),
        EC_OK);
    assert_in_range((uintmax_t)n, 1024, 2048);
    ec_store_close(&store);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void change(const char *sql)
{
    char path[100];
    sqlite3 *db = NULL;

    snprintf(path, sizeof path, "%s/run.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refuses(ec_store_mode mode, int status, const char *text)
{
    ec_store *store = NULL;

    assert_int_equal(ec_store_open(folder, mode, &listener, &store), status);
    assert_null(store);
    if (!strstr(ec_error_text(), text))
        fail_msg("'%s' is missing in '%s'", text, ec_error_text());
}

static void test_refuses(void **state)
{
    char path[100];
    ec_store *store = NULL;

    (void)state;
    refuses(EC_STORE_READ, EC_ERR_FILE, "there is no");
    store = open_store();
    ec_store_close(&store);
    change("PRAGMA user_version = 99");
    refuses(EC_STORE_READ, EC_ERR_FORMAT, "was written by a newer version of Eciton");
    refuses(EC_STORE_WRITE, EC_ERR_FORMAT, "was written by a newer version of Eciton");
    change("PRAGMA user_version = 1; PRAGMA application_id = 3");
    refuses(EC_STORE_WRITE, EC_ERR_FORMAT, "is a database of another program");
    snprintf(path, sizeof path, "%s/run.db", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fputs("no database", file);
    fclose(file);
    refuses(EC_STORE_WRITE, EC_ERR_FORMAT, "or no run store");
    /* of a run that ended before there were tables */
    fclose(fopen(path, "wb"));
    refuses(EC_STORE_READ, EC_ERR_FILE, "holds no run that has begun");
    /* what is no file: a pipe would wait for another end */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuses(EC_STORE_READ, EC_ERR_FILE, "is no file");
    refuses(EC_STORE_WRITE, EC_ERR_FILE, "is no file");
    /* where nothing can be written, whoever asks */
    assert_int_equal(ec_store_open("/proc", EC_STORE_WRITE, &listener, &store), EC_ERR_FILE);
    assert_non_null(strstr(ec_error_text(), "'/proc/run.db' cannot be opened"));
}

/* ---- rows in numbers ------------------------------------------------------------------------- */

/* A row's number is SQLite's rowid, whatever a quantity is called. */
static const ec_store_quantity two[] = {{"variable", "i", 0, 0, ROWS, NULL, NULL, NULL},
                                        {"recorded", "rowid", 0, NAN, NAN, NULL, NULL, NULL}};

static int add_rows(ec_store_table *table, int first, int n, int step)
{
    int status = EC_OK;

    for (int i = 0; i < n && status == EC_OK; i++) {
        const double values[] = {first + i * step, 2.0 * (first + i * step)};
        ec_store_row row = {0, values, 0, NULL, NAN};
        status = ec_store_table_add(table, &row, 1);
    }
    return status;
}

/* Writes all rows, a few at a time, from `first` on and round. */
static int write_rows(int first)
{
    ec_store *store = NULL;
    ec_store_table *table = NULL;
    char *other = NULL;

    int status = check(ec_store_open(folder, EC_STORE_WRITE, &listener, &store));
    if (status == EC_OK)
        status = check(ec_store_sweep_open(store, "shared", "f: 1", two, 2, false, &table, &other));
    for (int i = 0; i < ROWS && status == EC_OK; i += 50) {
        status = check(ec_store_begin(store));
        if (status == EC_OK)
            status = check(add_rows(table, (first + i) % ROWS, 50, 1));
        if (status == EC_OK)
            status = check(ec_store_commit(store));
    }
    ec_store_table_close(&table);
    ec_store_close(&store);
    return status;
}

static void test_two_writers(void **state)
{
    double n = 0;
    int ended = 0;
    pid_t pid[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0)
            _exit(write_rows(i * ROWS / 2) == EC_OK ? 0 : 1);
    }
    for (int i = 0; i < 2; i++) {
        waitpid(pid[i], &ended, 0);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
    ec_store *store = open_store();
    assert_int_equal(check(ec_store_query(store, "SELECT count(*) FROM rows_1", 0, &n, one_number)),
                     EC_OK);
    assert_true(n == ROWS);
    assert_int_equal(check(ec_store_query(store,
                                          "SELECT count(DISTINCT i) FROM rows_1"
                                          " WHERE \"recorded:rowid\" = 2 * i",
                                          0, &n, one_number)),
                     EC_OK);
    assert_true(n == ROWS);
    /* rows that were computed from something else are not taken, unless they are dropped */
    ec_store_table *table = NULL;
    char *other = NULL;
    assert_int_equal(
        check(ec_store_sweep_open(store, "shared", "f: 2", two, 2, false, &table, &other)), EC_OK);
    assert_null(table);
    assert_string_equal(other, "f: 1");
    free(other);
    assert_int_equal(
        check(ec_store_sweep_open(store, "shared", "f: 2", two, 2, true, &table, &other)), EC_OK);
    assert_null(other);
    assert_int_equal(check(ec_store_query(store, "SELECT count(*) FROM rows_1", 0, &n, one_number)),
                     EC_OK);
    assert_true(n == 0);
    ec_store_table_close(&table);
    ec_store_close(&store);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static int count(void *user, const ec_store_row *row)
{
    if (row->values[1] == 2 * row->values[0])
        ++*(int *)user;
    return EC_OK;
}

static void overwrite(long from, int bytes)
{
    char path[100];

    snprintf(path, sizeof path, "%s/run.db", folder);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, from, SEEK_SET);
    for (int i = 0; i < bytes; i++)
        fputc(0xff, file);
    fclose(file);
}

static void test_damaged(void **state)
{
    ec_store *store = open_store();
    ec_store_run run = {.script = (char *)"script.lua"};
    ec_store_table *table = NULL;
    char *other = NULL, path[100];
    bool found = false;
    int n = 0;

    (void)state;
    assert_int_equal(check(ec_store_run_begin(store, &run)), EC_OK);
    ec_store_close(&store);
    assert_int_equal(write_rows(0), EC_OK);
    overwrite(60 * 4096, 6 * 4096); /* among the rows, and their index */
    store = open_store();
    if (!strstr(heard, "is damaged") || !strstr(heard, "table rows_1: "))
        fail_msg("heard: %s", heard);
    assert_int_equal(check(ec_store_run_read(store, &run, &found)), EC_OK);
    assert_true(found);
    assert_string_equal(run.script, "script.lua");
    ec_store_run_release(&run);
    assert_int_equal(
        check(ec_store_sweep_open(store, "shared", "f: 1", two, 2, false, &table, &other)), EC_OK);
    assert_non_null(table);
    assert_int_equal(check(ec_store_table_read(table, &n, count)), EC_OK);
    assert_in_range(n, ROWS * 8 / 10, ROWS - 1);
    /* and it is a store like any other: the rows that lack are added */
    ec_store_table_close(&table);
    ec_store_close(&store);
    assert_int_equal(write_rows(0), EC_OK);
    store = open_store();
    n = 0;
    assert_int_equal(
        check(ec_store_sweep_open(store, "shared", "f: 1", two, 2, false, &table, &other)), EC_OK);
    assert_int_equal(check(ec_store_table_read(table, &n, count)), EC_OK);
    assert_int_equal(n, ROWS);
    ec_store_table_close(&table);
    ec_store_close(&store);
    snprintf(path, sizeof path, "%s/run.db.damaged", folder);
    assert_int_equal(access(path, F_OK), 0);
    /* of a file that was cut short there is still a store */
    snprintf(path, sizeof path, "%s/run.db", folder);
    assert_int_equal(truncate(path, 5 * 4096), 0);
    heard[0] = 0;
    store = open_store();
    ec_store_close(&store);
    if (!strstr(heard, "has what could be read"))
        fail_msg("heard: %s", heard);
    store = open_store();
    ec_store_close(&store);
    /* of the first page everything else hangs */
    overwrite(0, 4096);
    refuses(EC_STORE_WRITE, EC_ERR_FORMAT, "or no run store");
}

/* Values that are not as they were written, which SQLite does not see. */
static void test_values(void **state)
{
    ec_store *store = NULL;
    ec_store_run run = {.script = (char *)"script.lua"};
    ec_history_row row = {.generation = 3, .best = 1};
    double n = 0;

    (void)state;
    assert_int_equal(write_rows(0), EC_OK);
    store = open_store();
    assert_int_equal(check(ec_store_run_begin(store, &run)), EC_OK);
    for (row.generation = 1; row.generation <= 5; row.generation++)
        assert_int_equal(check(ec_store_history_add(store, 1, &row, true)), EC_OK);
    assert_int_equal(check(ec_store_check(store)), EC_OK);
    ec_store_close(&store);
    /* what a run may change, and what nobody has */
    change("UPDATE history SET kept = 0 WHERE generation = 2");
    store = open_store();
    assert_string_equal(heard, "");
    ec_store_close(&store);
    change("UPDATE history SET best = 1.5 WHERE generation = 2; UPDATE rows_1 SET i = i + 0.25"
           " WHERE id IN (7, 9); UPDATE rows_1 SET row_sum = NULL WHERE id = 8");
    assert_int_equal(ec_store_open(folder, EC_STORE_READ, NULL, &store), EC_OK);
    assert_int_equal(ec_store_check(store), EC_ERR_FORMAT);
    assert_non_null(strstr(ec_error_text(), "of table history 1 row is not as it was written"));
    ec_store_close(&store);
    store = open_store();
    if (!strstr(heard, "table history: 1 row is not as written, and is lost") ||
        !strstr(heard, "table rows_1: 3 rows are not as written, and are lost"))
        fail_msg("heard: %s", heard);
    assert_int_equal(check(ec_store_query(store, "SELECT count(*) FROM rows_1", 0, &n, one_number)),
                     EC_OK);
    assert_true(n == ROWS - 3);
    assert_int_equal(
        check(ec_store_query(store, "SELECT count(*) FROM history WHERE generation <> 2", 0, &n,
                             one_number)),
        EC_OK);
    assert_true(n == 4);
    ec_store_close(&store);
    heard[0] = 0;
    change("UPDATE run SET script = 'another.lua'");
    store = open_store();
    if (!strstr(heard, "how the run was started, what its searches are"))
        fail_msg("heard: %s", heard);
    ec_store_close(&store);
    heard[0] = 0;
    store = open_store();
    assert_string_equal(heard, "");
    ec_store_close(&store);
}

/* A store of version 1, which had no sums: its rows are taken as they are, and have sums from then on. */
static void test_older_version(void **state)
{
    ec_store *store = NULL;
    ec_history_row row = {.generation = 3, .best = 1};
    int n = 0;
    ec_store_table *table = NULL;
    char *other = NULL;

    (void)state;
    assert_int_equal(write_rows(0), EC_OK);
    store = open_store();
    assert_int_equal(check(ec_store_history_add(store, 1, &row, true)), EC_OK);
    ec_store_close(&store);
    change("ALTER TABLE rows_1 DROP COLUMN row_sum; ALTER TABLE history DROP COLUMN row_sum;"
           "ALTER TABLE quantity DROP COLUMN goal; DROP TABLE seal; PRAGMA user_version = 1");
    assert_int_equal(ec_store_open(folder, EC_STORE_READ, NULL, &store), EC_OK);
    assert_int_equal(check(ec_store_check(store)), EC_OK);
    ec_store_close(&store);
    assert_int_equal(write_rows(ROWS / 2), EC_OK);
    assert_string_equal(heard, "");
    change("UPDATE rows_1 SET i = i + 0.25 WHERE id = 7");
    store = open_store();
    if (!strstr(heard, "table rows_1: 1 row is not as written"))
        fail_msg("heard: %s", heard);
    assert_int_equal(
        check(ec_store_sweep_open(store, "shared", "f: 1", two, 2, false, &table, &other)), EC_OK);
    assert_int_equal(check(ec_store_table_read(table, &n, count)), EC_OK);
    assert_int_equal(n, ROWS - 1);
    ec_store_table_close(&table);
    ec_store_close(&store);
}

/* ---- a full disk ----------------------------------------------------------------------------- */

/* Writes until it cannot; what was committed before stays. */
static int write_until_full(void)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    ec_store *store = NULL;
    ec_store_table *table = NULL;
    char *other = NULL;
    int status = check(ec_store_open(folder, EC_STORE_WRITE, &listener, &store)), i = 0;

    if (status == EC_OK)
        status = check(ec_store_sweep_open(store, "full", "f: 1", two, 2, false, &table, &other));
    if (status < 0)
        return 3;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    while (status == EC_OK && i < 1000000)
        status = add_rows(table, i++, 1, 1);
    bool said = status == EC_ERR_FILE && strstr(ec_error_text(), "run.db' cannot be") != NULL;
    /* the handle is still good */
    double n = 0;
    status = ec_store_query(store, "SELECT count(*) FROM rows_1", 0, &n, one_number);
    bool whole = status == EC_OK && n == i - 1 && n > 100;
    ec_store_table_close(&table);
    ec_store_close(&store);
    return said && whole ? 0 : 4;
}

static void test_full_disk(void **state)
{
    int ended = 0;
    double n = 0;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(write_until_full());
    waitpid(pid, &ended, 0);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
    ec_store *store = open_store();
    assert_string_equal(heard, "");
    assert_int_equal(
        check(ec_store_query(store, "SELECT count(*) FROM rows_1 WHERE \"recorded:rowid\" = 2 * i",
                             0, &n, one_number)),
        EC_OK);
    assert_true(n > 100);
    ec_store_close(&store);
}

/* ---- a kill in the middle of writing ------------------------------------------------------------ */

/* One transaction a generation: a row of history, a design, and a state that names it, as large as
 * states are. */
static void write_generations(int told)
{
    enum { STATE = 100000 };
    uint32_t *bytes = (uint32_t *)calloc(STATE, 1);
    ec_store *store = NULL;
    ec_store_table *designs = NULL;
    double from = 0;

    int status = check(ec_store_open(folder, EC_STORE_WRITE, &listener, &store));
    if (status == EC_OK)
        status = check(ec_store_search_begin(store, 1, &about, two, 2, &designs));
    if (status == EC_OK)
        status = ec_store_query(store, "SELECT coalesce(max(generation), 0) FROM history", 0, &from,
                                one_number);
    for (uint32_t g = (uint32_t)from + 1; bytes && status == EC_OK; g++) {
        const double values[] = {g, 2.0 * g};
        ec_history_row row = {.generation = g};
        ec_store_row design = {0, values, g, "search", 0};
        for (int i = 0; i < STATE / 4; i++)
            bytes[i] = g;
        status = check(ec_store_begin(store));
        if (status == EC_OK)
            status = check(ec_store_history_add(store, 1, &row, true));
        if (status == EC_OK)
            status = check(ec_store_table_add(designs, &design, 1));
        if (status == EC_OK)
            status = check(ec_store_checkpoint_put(store, 1, bytes, STATE));
        if (status == EC_OK)
            status = check(ec_store_commit(store));
        if (write(told, "", 1) != 1)
            break;
    }
    _exit(5);
}

static void test_killed(void **state)
{
    double before = 0;

    (void)state;
    for (int i = 0; i < KILLS; i++) {
        const struct timespec pause = {0, 100000 * ((i * 37) % 20)};
        double rows = 0, designs = 0, last = 0;
        void *bytes = NULL;
        size_t size = 0;
        int ended = 0, told[2];
        char one;
        assert_int_equal(pipe(told), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            write_generations(told[1]);
        close(told[1]);
        for (int k = 0; k <= i % 3; k++)
            assert_int_equal(read(told[0], &one, 1), 1);
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, &ended, 0);
        close(told[0]);
        assert_true(WIFSIGNALED(ended)); /* not an error of its own */
        ec_store *store = open_store();
        assert_string_equal(heard, "");
        assert_int_equal(
            ec_store_query(store, "SELECT count(*) FROM history", 0, &rows, one_number), EC_OK);
        assert_int_equal(ec_store_checkpoint_get(store, 1, &bytes, &size), EC_OK);
        assert_non_null(bytes);
        assert_int_equal(
            ec_store_query(store, "SELECT max(generation) FROM history", 0, &last, one_number),
            EC_OK);
        assert_int_equal(
            ec_store_query(store, "SELECT count(*) FROM designs_1", 0, &designs, one_number),
            EC_OK);
        assert_true(rows == last && designs == rows);
        assert_true(rows >= before + 1 + i % 3); /* what was committed is there */
        assert_int_equal(((uint32_t *)bytes)[0], (uint32_t)last);
        assert_int_equal(((uint32_t *)bytes)[size / 4 - 1], (uint32_t)last);
        before = rows;
        free(bytes);
        ec_store_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ring, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_writers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_older_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
