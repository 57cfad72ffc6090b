/* eciton compare: runs side by side. */
#include "cli_store.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "cli_table.h"

enum { RUNS_MAX = 8, LINES_MAX = 400, LABEL_WIDTH = 34, VALUE_WIDTH = 22 };

/* What a run is, as lines of a label and a text. */
typedef struct side {
    char labels[LINES_MAX][80], texts[LINES_MAX][200];
    int n;
    int64_t search; /* whose lines are added */
} side;

static void add(side *s, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(side *s, const char *label, const char *format, ...)
{
    va_list list;

    if (s->n == LINES_MAX)
        return;
    if (s->search)
        snprintf(s->labels[s->n], sizeof s->labels[0], "%d: %.70s", (int)s->search, label);
    else
        snprintf(s->labels[s->n], sizeof s->labels[0], "%.79s", label);
    va_start(list, format);
    vsnprintf(s->texts[s->n++], sizeof s->texts[0], format, list);
    va_end(list);
}

static const char *text_of(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_TEXT ? cell->text : "";
}

/* Every cell of a row as a line of its column's name. */
static int add_cells(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    for (int i = 0; i < n; i++) {
        if (cells[i].kind == EC_CELL_TEXT)
            add(user, names[i], "%s", cells[i].text);
        else if (cells[i].kind == EC_CELL_INTEGER)
            add(user, names[i], "%lld", (long long)cells[i].integer);
        else if (cells[i].kind == EC_CELL_NUMBER)
            add(user, names[i], "%.9g", ec_printable(cells[i].number));
        else if (cells[i].kind == EC_CELL_BLOB && cells[i].size >= sizeof(double)) {
            double first;
            memcpy(&first, cells[i].text, sizeof first);
            add(user, names[i], "%.7g ... (%zu)", ec_printable(first),
                cells[i].size / sizeof(double));
        }
    }
    return EC_OK;
}

static void add_run(side *s, const ec_store_run *run)
{
    char label[80];

    add(s, "script", "%s", run->script ? run->script : "");
    add(s, "status", "%s", run->status);
    add(s, "version", "%s", run->version);
    add(s, "backend", "%s %s", run->backend, run->isa);
    add(s, "device", "%s", run->device);
    if (run->seed[0])
        add(s, "--seed", "%s", run->seed);
    for (size_t i = 0; i < run->n_settings; i++) {
        snprintf(label, sizeof label, "--set %.60s", run->settings[i].name);
        add(s, label, "%s", run->settings[i].value);
    }
    if (run->ended > 0)
        add(s, "seconds", "%.2f", run->ended - run->started);
}

/* Objectives first, then constraints, recorded quantities and variables, as a list of columns. */
static int add_column(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    fputs(", \"", user);
    for (const char *c = text_of(&cells[0]); *c; c++)
        fputs(*c == '"' ? "\"\"" : (const char[]){*c, '\0'}, user);
    fputc('"', user);
    return EC_OK;
}

static int add_search(ec_store *store, side *s)
{
    char *sql = NULL;
    size_t size = 0;

    int status = ec_store_query(store,
                                "SELECT job, method, population, seed, stop, generations,"
                                " evaluations, failed, seconds FROM search WHERE number = ?1",
                                s->search, s, add_cells);
    FILE *to = status == EC_OK ? open_memstream(&sql, &size) : NULL;
    if (!to)
        return status < 0 ? status : ec_fail(EC_ERR_MEMORY, "compare: no memory");
    fputs("SELECT violation", to);
    status = ec_store_query(store,
                            "SELECT \"column\" FROM quantity WHERE owner = 'search' AND"
                            " number = ?1 ORDER BY kind = 'variable', position",
                            s->search, to, add_column);
    fprintf(to, " FROM designs_%lld WHERE stage = 'winner'", (long long)s->search);
    if (fclose(to) == 0 && status == EC_OK)
        status = ec_store_query(store, sql, 0, s, add_cells);
    free(sql);
    return status;
}

static int take_last(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(int64_t *)user = cells[0].integer;
    return EC_OK;
}

static int read_side(const char *folder, side *s)
{
    ec_store *store = NULL;
    ec_store_run run;
    bool found = false;
    int64_t searches = 0;

    if (!ec_store_exists(folder))
        return ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'", folder, folder);
    int status = ec_store_open(folder, EC_STORE_READ, NULL, &store);
    if (status == EC_OK)
        status = ec_store_run_read(store, &run, &found);
    if (status == EC_OK && !found)
        status = ec_fail(EC_ERR_FILE, "'%s' holds no run that has begun", folder);
    if (status == EC_OK) {
        ec_cli_warn_damage(store);
        add_run(s, &run);
        ec_store_run_release(&run);
        status = ec_store_query(store, "SELECT max(number) FROM search", 0, &searches, take_last);
    }
    for (s->search = 1; s->search <= searches && status == EC_OK; s->search++)
        status = add_search(store, s);
    ec_store_close(&store);
    return status;
}

/* The text of a label; NULL: the run has none. */
static const char *find(const side *s, const char *label)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->labels[i], label) == 0)
            return s->texts[i];
    return NULL;
}

static void print_line(const side *sides, int n, const char *label)
{
    const char *first = find(&sides[0], label);
    bool same = first != NULL;

    for (int i = 1; i < n; i++) {
        const char *text = find(&sides[i], label);
        same = same && text && strcmp(text, first) == 0;
    }
    printf("%c %-*.*s", same ? ' ' : '*', LABEL_WIDTH, LABEL_WIDTH, label);
    for (int i = 0; i < n; i++) {
        const char *text = find(&sides[i], label);
        printf("  %-*s", i + 1 < n ? VALUE_WIDTH : 0, text ? text : "-");
    }
    printf("\n");
}

int ec_cli_compare(int argc, char **argv)
{
    if (argc < 2 || argc > RUNS_MAX)
        return ec_cli_misused("compare", argc < 2 ? "which runs?" : "up to 8 runs:", NULL);
    side *sides = calloc((size_t)argc, sizeof *sides);
    int status = sides ? EC_OK : ec_fail(EC_ERR_MEMORY, "compare: no memory");
    for (int i = 0; i < argc && status == EC_OK; i++)
        status = read_side(argv[i], &sides[i]);
    if (status == EC_OK) {
        printf("  %-*s", LABEL_WIDTH, "");
        for (int i = 0; i < argc; i++)
            printf("  %-*s", i + 1 < argc ? VALUE_WIDTH : 0, argv[i]);
        printf("\n");
    }
    /* lines of the first, then those that only others have */
    for (int i = 0; i < argc && status == EC_OK; i++)
        for (int k = 0; k < sides[i].n; k++) {
            bool before = false;
            for (int j = 0; j < i; j++)
                before = before || find(&sides[j], sides[i].labels[k]);
            if (!before)
                print_line(sides, argc, sides[i].labels[k]);
        }
    free(sides);
    if (status == EC_OK)
        return EC_EXIT_OK;
    fprintf(stderr, "eciton: %s\n", ec_error_text());
    return EC_EXIT_ERROR;
}
