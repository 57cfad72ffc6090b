/* store_tool.c: looks at a run store, or damages it, without Eciton's own code:
 *
 *     store_tool check DIR        SQLite's whole check of DIR/run.db; prints "ok", or what is wrong (status 1)
 *     store_tool dump DIR         what a search or sweep has to leave whatever happened to it, for a comparison:
 *                                 searches, kept rows of the history, designs, rows of sweeps (by their keys), to
 *                                 the bit; without times, and without the states, which have times in them
 *     store_tool query DIR SQL    the first cell of the first row
 *     store_tool copies DIR N     adds copies of search 1 as searches 2 to N
 *     store_tool flip DIR SEED    turns one bit of a byte drawn by SEED in run.db; prints its place
 *     store_tool cut DIR SEED     cuts run.db at a length drawn by SEED; prints it
 */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[4200];

static int fail(const char *what)
{
    fprintf(stderr, "store_tool: %s: %s\n", path, what);
    return 2;
}

/* A number from 0 to n - 1. */
static uint64_t draw(uint64_t seed, uint64_t n)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull; /* splitmix64 */
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (x ^ (x >> 31)) % n;
}

static void put_cell(sqlite3_stmt *row, int i)
{
    const unsigned char *bytes;

    switch (sqlite3_column_type(row, i)) {
    case SQLITE_INTEGER:
        printf(" %lld", (long long)sqlite3_column_int64(row, i));
        break;
    case SQLITE_FLOAT:
        printf(" %a", sqlite3_column_double(row, i));
        break;
    case SQLITE_TEXT:
        printf(" '%s'", (const char *)sqlite3_column_text(row, i));
        break;
    case SQLITE_BLOB:
        bytes = sqlite3_column_blob(row, i);
        putchar(' ');
        for (int k = 0; k < sqlite3_column_bytes(row, i); k++)
            printf("%02x", bytes[k]);
        break;
    default:
        printf(" null");
    }
}

/* Rows of a query, their columns from `first` on. */
static int put_rows(sqlite3 *db, const char *title, const char *sql, int first)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);

    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(rows);
        if (code != SQLITE_ROW)
            break;
        printf("%s", title);
        for (int i = first; i < sqlite3_column_count(rows); i++)
            put_cell(rows, i);
        putchar('\n');
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE ? 0 : fail(sqlite3_errmsg(db));
}

static int dump(sqlite3 *db)
{
    sqlite3_stmt *tables = NULL;
    char sql[200], name[60];

    int status = put_rows(db, "search",
                          "SELECT number, job, method, seed, population, keep, stop, generations,"
                          " evaluations, failed FROM search ORDER BY number",
                          0);
    if (status == 0)
        status =
            put_rows(db, "history",
                     "SELECT search, generation, evaluations, failed, best, median, spread,"
                     " violation, feasible, population, hypervolume, front FROM history WHERE kept"
                     " ORDER BY search, generation",
                     0);
    if (status == 0)
        status =
            put_rows(db, "quantity", "SELECT * FROM quantity ORDER BY owner, number, position", 0);
    int code = sqlite3_prepare_v2(db,
                                  "SELECT name FROM sqlite_master WHERE type = 'table' AND (name"
                                  " GLOB 'designs_*' OR name GLOB 'rows_*') ORDER BY name",
                                  -1, &tables, NULL);
    while (status == 0 && code == SQLITE_OK && sqlite3_step(tables) == SQLITE_ROW) {
        snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(tables, 0));
        snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY %s", name,
                 name[0] == 'r' ? "+key" : "id"); /* +: not by the index, which may be damaged */
        status = put_rows(db, name, sql, 1);
    }
    sqlite3_finalize(tables);
    return status;
}

static int query(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
    const char *text = "";

    if (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(rows, 0);
    printf("%s\n", text ? text : "");
    sqlite3_finalize(rows);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : fail(sqlite3_errmsg(db));
}

/* Whether the first row of SQLite's check is "ok"; prints every row. */
static int check(sqlite3 *db)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &rows, NULL), good = 0;

    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(rows, 0);
        printf("%s\n", text);
        good = strcmp(text, "ok") == 0;
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    if (code != SQLITE_DONE)
        return fail(sqlite3_errmsg(db));
    return good ? 0 : 1;
}

static int copies(sqlite3 *db, int n)
{
    int code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);

    for (int i = 2; i <= n && code == SQLITE_OK; i++) {
        char *sql = sqlite3_mprintf(
            "CREATE TABLE designs_%d AS SELECT * FROM designs_1;"
            "INSERT INTO search (number, job) SELECT %d, job FROM search WHERE number = 1;"
            "INSERT INTO quantity SELECT owner, %d, position, kind, name, \"column\", length, "
            "minimum, maximum, goal FROM quantity WHERE number = 1",
            i, i, i);
        code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : fail(sqlite3_errmsg(db));
}

static int flip(uint64_t seed)
{
    struct stat info;
    FILE *file = fopen(path, "r+b");

    if (!file || fstat(fileno(file), &info) != 0 || info.st_size == 0)
        return fail("cannot be changed");
    long at = (long)draw(seed, (uint64_t)info.st_size);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1 << draw(seed + 1000003, 8), file);
    printf("%ld of %ld\n", at, (long)info.st_size);
    return fclose(file) == 0 ? 0 : fail("cannot be changed");
}

static int cut(uint64_t seed)
{
    struct stat info;

    if (stat(path, &info) != 0 || info.st_size == 0)
        return fail("cannot be cut");
    long length = (long)draw(seed, (uint64_t)info.st_size);
    printf("%ld of %ld\n", length, (long)info.st_size);
    return truncate(path, length) == 0 ? 0 : fail("cannot be cut");
}

int main(int argc, char **argv)
{
    const char *word = argc > 2 ? argv[1] : "";
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    sqlite3 *db = NULL;
    int status = 2;

    if (argc < 3)
        return fail("store_tool check|dump|query|copies|flip|cut DIR [SQL|N|SEED]");
    snprintf(path, sizeof path, "%s/run.db", argv[2]);
    if (strcmp(word, "flip") == 0)
        return flip(seed);
    if (strcmp(word, "cut") == 0)
        return cut(seed);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status = fail(sqlite3_errmsg(db));
    else if (sqlite3_busy_timeout(db, 60000) != SQLITE_OK)
        status = fail(sqlite3_errmsg(db));
    else if (strcmp(word, "check") == 0)
        status = check(db);
    else if (strcmp(word, "dump") == 0)
        status = dump(db);
    else if (strcmp(word, "copies") == 0)
        status = copies(db, (int)seed);
    else if (strcmp(word, "query") == 0 && argc > 3)
        status = query(db, argv[3]);
    else
        status = fail("store_tool check|dump|query|copies|flip|cut DIR [SQL|N|SEED]");
    sqlite3_close(db);
    return status;
}
