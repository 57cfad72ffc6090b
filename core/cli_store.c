/* eciton runs, eciton show: what run stores hold, for people. */
#include "cli_store.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli_options.h"
#include "cli_table.h"

enum { SHOWN_ROWS = 8, SHOWN_VALUES = 6, SHOWN_QUANTITIES = 40, DEEPEST = 8 };

static int print_error(void)
{
    fprintf(stderr, "eciton: %s\n", ec_error_text());
    return EC_EXIT_ERROR;
}

void ec_cli_warn_damage(ec_store *store)
{
    if (ec_store_check(store) != EC_OK)
        fprintf(stderr,
                "eciton: warning: %s; 'eciton resume' keeps what is good, and does the rest again "
                "where it can\n",
                ec_error_text());
}

static void print_time(double seconds)
{
    char text[40] = "";
    time_t t = (time_t)seconds;
    struct tm parts;

    if (gmtime_r(&t, &parts))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    printf("%s", text);
}

/* The first cell of the last row. */
static int take_number(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(double *)user = cells[0].number;
    return EC_OK;
}

static const char *text_of(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_TEXT ? cell->text : "";
}

/* ---- runs ---- */

/* The best of the first search with a winner, or nothing. */
static int print_winner(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)user;
    (void)n;
    printf("  %s %.8g", names[0], ec_printable(cells[0].number));
    return EC_OK;
}

static int print_first(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    char sql[600];

    (void)n;
    (void)names;
    char *column = strdup(text_of(&cells[1]));
    if (column && !strchr(column, '"')) {
        snprintf(sql, sizeof sql, "SELECT \"%.200s\" FROM designs_%d WHERE stage = 'winner'",
                 column, (int)cells[0].integer);
        ec_store_query(user, sql, 0, NULL, print_winner);
    }
    free(column);
    return EC_OK;
}

static void print_run(const char *folder)
{
    ec_store *store = NULL;
    ec_store_run run;
    bool found = false;

    if (ec_store_open(folder, EC_STORE_READ, NULL, &store) != EC_OK ||
        ec_store_run_read(store, &run, &found) != EC_OK) {
        printf("%s  %s\n", folder, ec_error_text());
        ec_store_close(&store);
        return;
    }
    if (found) {
        const char *name = run.script ? strrchr(run.script, '/') : NULL;
        printf("%s  ", folder);
        print_time(run.started);
        printf("  %-11s  %s", run.status, name ? name + 1 : run.script ? run.script : "");
        ec_store_query(store,
                       "SELECT number, \"column\" FROM quantity WHERE owner = 'search'"
                       " AND kind = 'objective' ORDER BY number, position LIMIT 1",
                       0, store, print_first);
        printf("\n");
        ec_store_run_release(&run);
    }
    ec_store_close(&store);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void list_runs(const char *folder, int depth)
{
    struct dirent **entries = NULL;
    char path[4096];
    struct stat info;

    if (ec_store_exists(folder))
        print_run(folder);
    int n = depth < DEEPEST ? scandir(folder, &entries, NULL, compare_names) : 0;
    for (int i = 0; i < n; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof path &&
            lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            list_runs(path, depth + 1);
        free(entries[i]);
    }
    free(entries);
}

int ec_cli_runs(int argc, char **argv)
{
    struct stat info;

    if (argc > 1 || (argc == 1 && argv[0][0] == '-'))
        return ec_cli_misused("runs", "one folder:", NULL);
    const char *folder = argc ? argv[0] : ".";
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        fprintf(stderr, "eciton: '%s' is no folder\n", folder);
        return EC_EXIT_ERROR;
    }
    list_runs(folder, 0);
    return EC_EXIT_OK;
}

/* ---- show ---- */

static void print_head(const char *folder, const ec_store_run *run)
{
    printf("%s: %s, %s", folder, run->script ? run->script : "", run->status);
    printf(", begun ");
    print_time(run->started);
    printf(" UTC");
    if (run->ended > 0)
        printf(", %.1f s", run->ended - run->started);
    printf("\n  eciton %s, %s (%s)%s%s", run->version, run->backend, run->device,
           run->isa[0] ? " " : "", run->isa);
    if (run->seed[0])
        printf(", --seed %s", run->seed);
    for (size_t i = 0; i < run->n_settings; i++)
        printf(", --set %s=%s", run->settings[i].name, run->settings[i].value);
    printf("%s%s\n", run->quick ? ", --quick" : "", run->trust ? ", --trust" : "");
}

static int print_history(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)user;
    (void)n;
    (void)names;
    printf("  %12lld %12lld %14.8g %14.8g %10.4g %9lld\n", (long long)cells[0].integer,
           (long long)cells[1].integer, ec_printable(cells[2].number),
           ec_printable(cells[3].number), ec_printable(cells[4].number),
           (long long)cells[5].integer);
    return EC_OK;
}

static int print_count(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    bool *first = user;

    (void)n;
    (void)names;
    printf("%s %lld %s", *first ? "  designs kept:" : ",", (long long)cells[1].integer,
           text_of(&cells[0]));
    *first = false;
    return EC_OK;
}

static int print_failures(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)user;
    (void)n;
    (void)names;
    printf("  failed: %lld kept with reason %s\n", (long long)cells[1].integer, text_of(&cells[0]));
    return EC_OK;
}

/* What is shown of a design, a line each; objectives come first. */
typedef struct shown {
    char *kinds[SHOWN_QUANTITIES], *labels[SHOWN_QUANTITIES], *columns[SHOWN_QUANTITIES];
    int n, more;
} shown;

static void release_shown(shown *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->kinds[i]);
        free(s->labels[i]);
        free(s->columns[i]);
    }
}

static int take_quantity(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    shown *s = user;

    (void)n;
    (void)names;
    if (s->n == SHOWN_QUANTITIES) {
        s->more++;
        return EC_OK;
    }
    s->kinds[s->n] = strdup(text_of(&cells[0]));
    s->labels[s->n] = strdup(text_of(&cells[1]));
    s->columns[s->n++] = strdup(text_of(&cells[2]));
    return EC_OK;
}

static void print_value(const ec_store_cell *cell)
{
    size_t n = cell->kind == EC_CELL_BLOB ? cell->size / sizeof(double) : 0;

    if (cell->kind != EC_CELL_BLOB)
        printf(" %.8g", ec_printable(cell->number));
    for (size_t i = 0; i < n && i < SHOWN_VALUES; i++) {
        double value;
        memcpy(&value, cell->text + i * sizeof value, sizeof value);
        printf(" %.8g", ec_printable(value));
    }
    if (n > SHOWN_VALUES)
        printf(" ... (%zu values)", n);
}

static int print_design(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    enum { OWN = 3 };
    const shown *s = user;

    (void)names;
    printf("  winner%s%s:\n", cells[0].integer ? ", failed: " : "", text_of(&cells[1]));
    for (int i = 0; OWN + i < n; i++) {
        printf("    %-10s %-20s", s->kinds[i] ? s->kinds[i] : "", s->labels[i] ? s->labels[i] : "");
        print_value(&cells[OWN + i]);
        printf("\n");
    }
    if (s->more > 0)
        printf("    ... and %d more\n", s->more);
    if (cells[2].number > 0)
        printf("    violation %.6g\n", cells[2].number);
    return EC_OK;
}

static int show_winner(ec_store *store, long long number)
{
    shown list = {.n = 0};
    char *sql = NULL;
    size_t size = 0;

    int status =
        ec_store_query(store,
                       "SELECT coalesce(goal, kind), name, \"column\" FROM quantity WHERE owner ="
                       " 'search' AND number = ?1 ORDER BY kind = 'variable', position",
                       number, &list, take_quantity);
    FILE *to = status == EC_OK ? open_memstream(&sql, &size) : NULL;
    if (to) {
        fputs("SELECT status, reason, violation", to);
        for (int i = 0; i < list.n; i++) {
            fputs(", ", to);
            ec_store_put_name(to, list.columns[i] ? list.columns[i] : "");
        }
        fprintf(to, " FROM designs_%lld WHERE stage = 'winner'", number);
        if (fclose(to) == 0)
            status = ec_store_query(store, sql, 0, &list, print_design);
    }
    free(sql);
    release_shown(&list);
    return status;
}

typedef struct numbered {
    long long number;
    char title[400], message[600];
    bool ended;
} numbered;

static int take_search(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    numbered *s = user;

    (void)n;
    (void)names;
    s->number = cells[0].integer;
    snprintf(s->title, sizeof s->title, "%.100s, %.40s, population %lld, seed %.24s, keep %.10s",
             text_of(&cells[1]), text_of(&cells[2]), (long long)cells[3].integer,
             text_of(&cells[4]), text_of(&cells[5]));
    snprintf(s->message, sizeof s->message, "%.550s", text_of(&cells[6]));
    s->ended = cells[7].kind != EC_CELL_NULL;
    return EC_OK;
}

static int show_search(ec_store *store, long long number)
{
    numbered s = {.number = 0};
    char sql[200];
    bool first = true;
    double states = 0;

    int status = ec_store_query(store,
                                "SELECT number, job, method, population, seed, keep, message, ended"
                                " FROM search WHERE number = ?1",
                                number, &s, take_search);
    if (status < 0 || s.number == 0)
        return status;
    printf("search %lld: %s\n  %s\n", number, s.title,
           s.ended ? s.message : "it has not come to its end");
    status = ec_store_query(store, "SELECT count(*) FROM checkpoint WHERE search = ?1", number,
                            &states, take_number);
    if (status == EC_OK && states > 0 && !s.ended)
        printf("  there is a state to go on from\n");
    if (status == EC_OK)
        printf("  %12s %12s %14s %14s %10s %9s\n", "generation", "evaluations", "best", "median",
               "spread", "failed");
    snprintf(sql, sizeof sql,
             "SELECT * FROM (SELECT generation, evaluations, best, median, spread, failed"
             " FROM history WHERE search = ?1 ORDER BY generation DESC LIMIT %d)"
             " ORDER BY generation",
             SHOWN_ROWS);
    if (status == EC_OK)
        status = ec_store_query(store, sql, number, NULL, print_history);
    if (status == EC_OK)
        status = show_winner(store, number);
    snprintf(sql, sizeof sql, "SELECT stage, count(*) FROM designs_%lld GROUP BY stage", number);
    if (status == EC_OK)
        status = ec_store_query(store, sql, 0, &first, print_count);
    if (!first)
        printf("\n");
    snprintf(sql, sizeof sql,
             "SELECT reason, count(*) FROM designs_%lld WHERE status <> 0 GROUP BY reason", number);
    if (status == EC_OK)
        status = ec_store_query(store, sql, 0, NULL, print_failures);
    return status;
}

static int print_sweep(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    ec_store *store = user;
    char sql[120], name[220];
    double rows = 0, failed = 0;
    long long number = cells[0].integer;

    (void)n;
    (void)names;
    snprintf(name, sizeof name, "%.200s", text_of(&cells[1]));
    snprintf(sql, sizeof sql, "SELECT count(*) FROM rows_%lld", number);
    int status = ec_store_query(store, sql, 0, &rows, take_number);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM rows_%lld WHERE status <> 0", number);
    if (status == EC_OK)
        status = ec_store_query(store, sql, 0, &failed, take_number);
    if (status == EC_OK)
        printf("sweep %s: %.0f rows, %.0f of them failed\n", name, rows, failed);
    return status;
}

static int show_all(const char *folder, ec_store *store)
{
    ec_store_run run;
    bool found = false;
    double searches = 0;

    int status = ec_store_run_read(store, &run, &found);
    if (status == EC_OK && !found)
        return ec_fail(EC_ERR_FILE, "'%s' holds no run that has begun", folder);
    if (status == EC_OK) {
        print_head(folder, &run);
        ec_store_run_release(&run);
        status = ec_store_query(store, "SELECT max(number) FROM search", 0, &searches, take_number);
    }
    for (long long i = 1; i <= (long long)searches && status == EC_OK; i++)
        status = show_search(store, i);
    if (status == EC_OK)
        status = ec_store_query(store, "SELECT number, name FROM sweep ORDER BY number", 0, store,
                                print_sweep);
    return status;
}

/* Of a store that is missing or cannot be read, and what it lacks. */
static int no_run(const char *folder)
{
    if (!ec_store_exists(folder))
        ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'", folder, folder);
    return print_error();
}

int ec_cli_show(int argc, char **argv)
{
    ec_store *store = NULL;

    if (argc != 1 || argv[0][0] == '-')
        return ec_cli_misused("show", "which run?", NULL);
    if (ec_store_open(argv[0], EC_STORE_READ, NULL, &store) != EC_OK)
        return no_run(argv[0]);
    ec_cli_warn_damage(store);
    int status = show_all(argv[0], store);
    ec_store_close(&store);
    return status == EC_OK ? EC_EXIT_OK : print_error();
}
