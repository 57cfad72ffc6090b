/* cli_page_store.c: what the page of a report has of the run store. */
#include "cli_page.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_NUMBERS = 1000,     /* searches, sweeps */
    MOST_VARIABLES = 24,     /* elements of variables that are drawn */
    MOST_OTHERS = 24,        /* the same of objectives, constraints and recorded quantities */
    MOST_ELEMENTS = 20000,   /* of a list of a winner */
    DESIGN_NUMBERS = 200000, /* of all searches */
    HISTORY_NUMBERS = 60000,
    SWEEP_NUMBERS = 80000,  /* of all sweeps */
    LIVE_SHARE = 5,         /* of these a page that follows its run has a fifth */
    MOST_COUNTED = 100000,  /* rows */
    LONGEST_SCRIPT = 400000 /* bytes */
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "report: no memory");
}

static const char *text_of(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_TEXT ? cell->text : NULL;
}

static double number_of(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_INTEGER || cell->kind == EC_CELL_NUMBER ? cell->number : NAN;
}

/* Its first elements, MOST_ELEMENTS at most. */
static void put_list(FILE *to, const ec_store_cell *cell, size_t n)
{
    n = n < MOST_ELEMENTS ? n : MOST_ELEMENTS;
    fputc('[', to);
    for (size_t k = 0; k < n; k++) {
        fputs(k ? "," : "", to);
        ec_page_number(to, ec_store_cell_element(cell, (int32_t)k), EC_PAGE_EXACT);
    }
    fputc(']', to);
}

static void put_cell(FILE *to, const ec_store_cell *cell)
{
    if (cell->kind == EC_CELL_INTEGER)
        fprintf(to, "%lld", (long long)cell->integer);
    else if (cell->kind == EC_CELL_NUMBER)
        ec_page_number(to, cell->number, EC_PAGE_EXACT);
    else if (cell->kind == EC_CELL_BLOB)
        put_list(to, cell, cell->size / sizeof(double));
    else
        ec_page_text(to, text_of(cell));
}

/* ---- rows as objects ---- */

typedef struct objects {
    FILE *to;
    bool more;
} objects;

static int put_object(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    objects *o = user;

    fputs(o->more ? ",\n{" : "{", o->to);
    for (int i = 0; i < n; i++) {
        fputs(i ? "," : "", o->to);
        ec_page_text(o->to, names[i]);
        fputc(':', o->to);
        put_cell(o->to, &cells[i]);
    }
    fputc('}', o->to);
    o->more = true;
    return EC_OK;
}

/* "name":[{...},...] of a query. */
static int put_objects(ec_page *page, const char *name, const char *sql, int64_t parameter)
{
    objects o = {.to = page->to};

    fprintf(page->to, ",\"%s\":[", name);
    int status = ec_store_query(page->store, sql, parameter, &o, put_object);
    fputc(']', page->to);
    return status;
}

static int take_number(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(double *)user = number_of(&cells[0]);
    return EC_OK;
}

/* ---- quantities ---- */

typedef struct quantity {
    char *kind, *column;
    int32_t length; /* 0: a number */
    int place;      /* of its column in the rows of a query; -1: not there */
} quantity;

typedef struct quantities {
    quantity *list;
    int n;
} quantities;

static int take_quantity(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    quantities *q = user;
    quantity *more = realloc(q->list, sizeof *more * ((size_t)q->n + 1));

    (void)n;
    (void)names;
    if (!more)
        return no_memory();
    q->list = more;
    quantity *last = &more[q->n];
    *last = (quantity){.length = (int32_t)cells[2].integer, .place = -1};
    last->kind = strdup(cells[0].kind == EC_CELL_TEXT ? cells[0].text : "");
    last->column = strdup(cells[1].kind == EC_CELL_TEXT ? cells[1].text : "");
    q->n++;
    return last->kind && last->column ? EC_OK : no_memory();
}

static int read_quantities(ec_page *page, const char *owner, int64_t number, quantities *q)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "SELECT kind, \"column\", length FROM quantity WHERE owner = '%s' AND number = ?1"
             " ORDER BY position",
             owner);
    *q = (quantities){.n = 0};
    return ec_store_query(page->store, sql, number, q, take_quantity);
}

static void release_quantities(quantities *q)
{
    for (int i = 0; i < q->n; i++) {
        free(q->list[i].kind);
        free(q->list[i].column);
    }
    free(q->list);
}

static void find_places(quantities *q, int n, const char *const *names)
{
    for (int i = 0; i < q->n; i++)
        for (int k = 0; k < n && q->list[i].place < 0; k++)
            if (strcmp(q->list[i].column, names[k]) == 0)
                q->list[i].place = k;
}

static int put_quantities(ec_page *page, const char *owner, int64_t number)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT kind, name, \"column\", length, minimum, maximum FROM quantity"
             " WHERE owner = '%s' AND number = ?1 ORDER BY position",
             owner);
    return put_objects(page, "quantities", sql, number);
}

/* ---- one design with all of its values ---- */

typedef struct design {
    ec_page *page;
    quantities *q;
    bool found;
} design;

/* A value as it is in the script: a number, or a list. */
static void put_value(ec_page *page, const ec_store_cell *cell, int32_t length)
{
    if (length == 0) {
        ec_page_number(page->to, number_of(cell), EC_PAGE_EXACT);
        return;
    }
    size_t most = page->room / 4; /* exact ones are long */
    put_list(page->to, cell, (size_t)length < most ? (size_t)length : most);
    ec_page_measure(page);
}

static int put_design(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    design *d = user;
    FILE *to = d->page->to;

    find_places(d->q, n, names);
    fputs("{\"generation\":", to);
    put_cell(to, &cells[0]);
    fputs(",\"stage\":", to);
    put_cell(to, &cells[1]);
    fputs(",\"status\":", to);
    put_cell(to, &cells[2]);
    fputs(",\"reason\":", to);
    put_cell(to, &cells[3]);
    fputs(",\"violation\":", to);
    put_cell(to, &cells[4]);
    fputs(",\"values\":[", to);
    for (int i = 0; i < d->q->n; i++) {
        const quantity *q = &d->q->list[i];
        const ec_store_cell none = {.kind = EC_CELL_NULL};
        fputs(i ? ",\n" : "", to);
        put_value(d->page, q->place < 0 ? &none : &cells[q->place], q->length);
    }
    fputs("]}", to);
    d->found = true;
    return EC_OK;
}

/* "winner": of a search that has not come to its end the best of the designs that are kept, which is
 * the last one with the best figure of the history. */
static int put_winner(ec_page *page, int64_t number, quantities *q)
{
    static const char columns[] = "generation, stage, status, reason, violation, *";
    design d = {.page = page, .q = q};
    char head[200];
    const char *objective = NULL;
    int n_objectives = 0;

    fputs(",\"winner\":", page->to);
    snprintf(head, sizeof head, "SELECT %s FROM designs_%lld", columns, (long long)number);
    char *sql = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&sql, &size);
    if (!to)
        return no_memory();
    fprintf(to, "%s WHERE stage <> 'search' AND stage = 'winner' ORDER BY id DESC LIMIT 1", head);
    int status =
        fclose(to) == 0 ? ec_store_query(page->store, sql, 0, &d, put_design) : no_memory();
    free(sql);
    for (int i = 0; i < q->n; i++)
        if (strcmp(q->list[i].kind, "objective") == 0) {
            objective = q->list[i].column;
            n_objectives++;
        }
    if (status == EC_OK && !d.found && n_objectives == 1) {
        sql = NULL;
        to = open_memstream(&sql, &size);
        if (!to)
            return no_memory();
        fprintf(to, "%s WHERE stage = 'search' AND status = 0 AND ", head);
        ec_store_put_name(to, objective);
        fputs(" = (SELECT best FROM history WHERE search = ?1 AND best IS NOT NULL"
              " ORDER BY generation DESC LIMIT 1) ORDER BY id DESC LIMIT 1",
              to);
        status = fclose(to) == 0 ? ec_store_query(page->store, sql, number, &d, put_design)
                                 : no_memory();
        free(sql);
    }
    if (!d.found)
        fputs("null", page->to);
    return status;
}

/* ---- tables of designs and rows, thinned ---- */

enum {
    META = 4
}; /* numbers of a row in front of its values: generation, stage, status, violation */

typedef struct column {
    int quantity;
    int32_t element;
} column;

typedef struct table {
    quantities *q;
    column *columns;
    size_t n_columns, n_rows, capacity;
    double *numbers; /* [row][META + column] */
    bool placed;
} table;

static const char *const stages[] = {"search", "final", "winner", "front", "failed"};

static double stage_code(const ec_store_cell *cell)
{
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (cell->kind == EC_CELL_TEXT && strcmp(cell->text, stages[i]) == 0)
            return (double)i;
    return NAN;
}

static int take_row(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    table *t = user;
    size_t width = META + t->n_columns;

    if (!t->placed)
        find_places(t->q, n, names);
    t->placed = true;
    if (t->n_rows == t->capacity) {
        size_t capacity = 2 * t->capacity + 256;
        double *more = realloc(t->numbers, sizeof *more * width * capacity);
        if (!more)
            return no_memory();
        t->numbers = more;
        t->capacity = capacity;
    }
    double *to = t->numbers + width * t->n_rows++;
    to[0] = number_of(&cells[0]);
    to[1] = stage_code(&cells[1]);
    to[2] = number_of(&cells[2]);
    to[3] = number_of(&cells[3]);
    for (size_t i = 0; i < t->n_columns; i++) {
        const quantity *q = &t->q->list[t->columns[i].quantity];
        to[META + i] = q->place < 0 ? NAN
                       : q->length > 0
                           ? ec_store_cell_element(&cells[q->place], t->columns[i].element)
                           : number_of(&cells[q->place]);
    }
    return EC_OK;
}

/* The columns that are drawn: the first elements of variables, of a sweep all of those that are numbers,
 * and as many of what is computed. */
static int choose_columns(quantities *q, table *t)
{
    size_t counts[2] = {0, 0};
    static const size_t most[2] = {MOST_VARIABLES, MOST_OTHERS};

    t->columns = malloc(sizeof *t->columns * (MOST_VARIABLES + MOST_OTHERS));
    if (!t->columns)
        return no_memory();
    for (int i = 0; i < q->n; i++) {
        size_t which = strcmp(q->list[i].kind, "variable") != 0;
        int32_t length = q->list[i].length > 0 ? q->list[i].length : 1;
        if (which && length > MOST_OTHERS / 2) /* a curve of each design */
            continue;
        for (int32_t k = 0; k < length && counts[which] < most[which]; k++, counts[which]++)
            t->columns[t->n_columns++] = (column){i, k};
    }
    return EC_OK;
}

static void put_table_columns(FILE *to, const table *t)
{
    size_t width = META + t->n_columns;
    static const char *const names[META] = {"generation", "stage", "status", "violation"};

    fputs("\"columns\":[", to);
    for (size_t i = 0; i < t->n_columns; i++) {
        int32_t length = t->q->list[t->columns[i].quantity].length;
        fprintf(to, "%s{\"quantity\":%d,\"element\":", i ? "," : "", t->columns[i].quantity);
        fprintf(to, length > 0 ? "%d}" : "null}", (int)t->columns[i].element + 1);
    }
    fputc(']', to);
    for (size_t i = 0; i < META; i++) {
        fprintf(to, ",\n\"%s\":", names[i]);
        ec_page_list(to, t->numbers + i, t->n_rows, width, EC_PAGE_DRAWN);
    }
    fputs(",\n\"values\":[", to);
    for (size_t i = 0; i < t->n_columns; i++) {
        fputs(i ? ",\n" : "", to);
        ec_page_list(to, t->numbers + META + i, t->n_rows, width, EC_PAGE_DRAWN);
    }
    fputc(']', to);
}

/* One row of so many, for `rows` rows of `width` numbers to fit. */
static size_t stride(double rows, size_t width, size_t room)
{
    double fit = (double)room / (double)width;
    double n = ceil(rows / (fit > 1 ? fit : 1));

    return n > 1 ? (size_t)n : 1;
}

/* How many rows a table has. Counting them reads it all; one of many has hardly a gap in its ids. */
static int count_rows(ec_page *page, const char *rows, double *n)
{
    char sql[300];

    snprintf(sql, sizeof sql,
             "SELECT CASE WHEN (SELECT max(id) FROM %s) > %d THEN (SELECT max(id) FROM %s)"
             " ELSE (SELECT count(*) FROM %s) END",
             rows, (int)MOST_COUNTED, rows, rows);
    *n = 0;
    return ec_store_query(page->store, sql, 0, n, take_number);
}

/* The winner, the front and those with final figures. "<> 'search'" lets SQLite take the index of them. */
#define OF_THE_END "stage <> 'search' AND stage IN ('winner', 'front', 'final')"

/* The text of a query of each `every`-th of the rows, found by its id, and of designs of each `every_last`-th of
 * the end; malloc'ed, NULL: no memory. */
static char *thinning_query(const char *rows, bool designs, size_t every, size_t every_last)
{
    char *sql = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&sql, &size);

    if (!to)
        return NULL;
    if (every > 1)
        fprintf(to,
                "WITH RECURSIVE k (i) AS (SELECT %zu UNION ALL SELECT i + %zu FROM k"
                " WHERE i + %zu <= (SELECT max(id) FROM %s)) ",
                every, every, every, rows);
    fprintf(to, "SELECT %s, t.* FROM ",
            designs ? "generation, stage, status, violation"
                    : "NULL AS id, NULL AS id, status, NULL AS id");
    if (every > 1)
        fprintf(to, "k CROSS JOIN %s t ON t.id = k.i", rows);
    else
        fprintf(to, "%s t", rows);
    if (designs)
        fprintf(to,
                " WHERE NOT (" OF_THE_END ") UNION ALL SELECT generation, stage, status, violation,"
                " t.* FROM %s t WHERE " OF_THE_END " AND id %% %zu = 0 ORDER BY id",
                rows, every_last);
    else if (every == 1)
        fputs(" ORDER BY t.id", to);
    if (fclose(to) == 0)
        return sql;
    free(sql);
    return NULL;
}

/* "designs" or "rows". Of designs those of the end come before those of the search. */
static int put_table(ec_page *page, const char *name, int64_t number, quantities *q, size_t room)
{
    bool designs = strcmp(name, "designs") == 0;
    char table_name[60], text[200];
    table t = {.q = q};
    double total = 0, n_last = 0;

    if (page->live)
        room /= LIVE_SHARE;
    if (room > page->room)
        room = page->room;
    snprintf(table_name, sizeof table_name, "%s_%lld", name, (long long)number);
    int status = choose_columns(q, &t);
    if (status == EC_OK)
        status = count_rows(page, table_name, &total);
    snprintf(text, sizeof text, "SELECT count(*) FROM %s WHERE " OF_THE_END, table_name);
    if (status == EC_OK && designs)
        status = ec_store_query(page->store, text, 0, &n_last, take_number);
    size_t width = META + t.n_columns, every_last = stride(n_last, width, room);
    double used = ceil(n_last / (double)every_last) * (double)width;
    size_t every = stride(total - n_last, width, used < (double)room ? room - (size_t)used : width);
    char *sql = status == EC_OK ? thinning_query(table_name, designs, every, every_last) : NULL;
    if (status == EC_OK)
        status = sql ? ec_store_query(page->store, sql, 0, &t, take_row) : no_memory();
    free(sql);
    if (status == EC_OK) {
        fprintf(page->to, ",\"%s\":{\"total\":%.0f,\"shown\":%zu,", name, total, t.n_rows);
        put_table_columns(page->to, &t);
        fputc('}', page->to);
        ec_page_measure(page);
    }
    free(t.columns);
    free(t.numbers);
    return status;
}

/* "reasons":[{reason, n}] of what failed among what is kept. */
static int put_reasons(ec_page *page, const char *table_name, int64_t number)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT reason, count(*) AS n FROM %s_%lld WHERE status <> 0"
             " GROUP BY reason ORDER BY n DESC",
             table_name, (long long)number);
    return put_objects(page, "reasons", sql, 0);
}

/* ---- history ---- */

static int put_history_row(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    objects *o = user;

    if (!o->more) { /* the columns go first */
        for (int i = 0; i < n; i++) {
            fputs(i ? "," : "", o->to);
            ec_page_text(o->to, names[i]);
        }
        fputs("],\"rows\":[", o->to);
    }
    fputs(o->more ? ",\n[" : "[", o->to);
    for (int i = 0; i < n; i++) {
        fputs(i ? "," : "", o->to);
        put_cell(o->to, &cells[i]);
    }
    fputc(']', o->to);
    o->more = true;
    return EC_OK;
}

/* The rows of history.csv, and the last one of a run that goes on; at most `room` numbers of them. */
static int put_history(ec_page *page, int64_t number, size_t room)
{
    enum { COLUMNS = 12 };
    static const char kept[] =
        "FROM history WHERE search = ?1 AND (kept = 1 OR"
        " generation = (SELECT max(generation) FROM history WHERE search = ?1))";
    objects o = {.to = page->to};
    char sql[1000];
    double total = 0;

    snprintf(sql, sizeof sql, "SELECT count(*) %s", kept);
    int status = ec_store_query(page->store, sql, number, &total, take_number);
    size_t every = stride(total, COLUMNS, room);
    snprintf(sql, sizeof sql,
             "SELECT generation, evaluations, failed, seconds, best, median, spread, violation,"
             " feasible, population, hypervolume, front FROM (SELECT *, row_number() OVER"
             " (ORDER BY generation DESC) AS place %s) WHERE (place - 1) %% %zu = 0"
             " ORDER BY generation",
             kept, every);
    fprintf(page->to, ",\"history\":{\"total\":%.0f,\"columns\":[", total);
    if (status == EC_OK)
        status = ec_store_query(page->store, sql, number, &o, put_history_row);
    fputs(o.more ? "]}" : "],\"rows\":[]}", page->to);
    ec_page_measure(page);
    return status;
}

/* ---- all of it ---- */

typedef struct numbers {
    int64_t list[MOST_NUMBERS];
    int n;
} numbers;

static int take_listed(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    numbers *all = user;

    (void)n;
    (void)names;
    if (all->n == MOST_NUMBERS)
        return ec_fail(EC_ERR_UNSUPPORTED, "report: more than %d searches or sweeps",
                       (int)MOST_NUMBERS);
    all->list[all->n++] = cells[0].integer;
    return EC_OK;
}

/* Members of one of n searches or sweeps, in the object of its row. */
static int put_member(ec_page *page, bool sweep, int64_t number, size_t n)
{
    const char *owner = sweep ? "sweep" : "search", *name = sweep ? "rows" : "designs";
    quantities q;

    int status = read_quantities(page, owner, number, &q);
    if (status == EC_OK)
        status = put_quantities(page, owner, number);
    if (status == EC_OK && !sweep)
        status = put_history(page, number, HISTORY_NUMBERS / n);
    if (status == EC_OK && !sweep)
        status = put_winner(page, number, &q);
    for (int i = 0; i < q.n; i++) /* the rows of another query */
        q.list[i].place = -1;
    if (status == EC_OK)
        status =
            put_table(page, name, number, &q, (size_t)(sweep ? SWEEP_NUMBERS : DESIGN_NUMBERS) / n);
    if (status == EC_OK)
        status = put_reasons(page, name, number);
    release_quantities(&q);
    return status;
}

static int put_members(ec_page *page, bool sweep)
{
    numbers all = {.n = 0};
    char sql[120];

    int status = ec_store_query(page->store,
                                sweep ? "SELECT number FROM sweep ORDER BY number"
                                      : "SELECT number FROM search ORDER BY number",
                                0, &all, take_listed);
    fputs(sweep ? ",\n\"sweeps\":[" : ",\n\"searches\":[", page->to);
    for (int i = 0; i < all.n && status == EC_OK; i++) {
        fprintf(page->to, "%s{\"number\":%lld", i ? ",\n" : "", (long long)all.list[i]);
        snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE number = ?1", sweep ? "sweep" : "search");
        status = put_objects(page, "about", sql, all.list[i]);
        if (status == EC_OK)
            status = put_member(page, sweep, all.list[i], (size_t)all.n);
        fputc('}', page->to);
    }
    fputc(']', page->to);
    return status;
}

/* "run": how it was started, NULL without one (a store of sweeps that others wrote). */
static int put_run(ec_page *page)
{
    FILE *to = page->to;
    ec_store_run run;
    bool found = false;

    int status = ec_store_run_read(page->store, &run, &found);
    if (status < 0 || !found) {
        fputs("\"run\":null", to);
        return status;
    }
    if (run.text && strlen(run.text) > LONGEST_SCRIPT)
        strcpy(run.text + LONGEST_SCRIPT, "\n-- (the rest is left out)\n");
    const struct {
        const char *name, *text;
    } members[] = {{"status", run.status}, {"version", run.version}, {"script", run.script},
                   {"text", run.text},     {"data", run.data},       {"backend", run.backend},
                   {"device", run.device}, {"isa", run.isa},         {"seed", run.seed}};
    fprintf(to, "\"run\":{\"quick\":%s,\"trust\":%s,\"started\":", run.quick ? "true" : "false",
            run.trust ? "true" : "false");
    ec_page_number(to, run.started, EC_PAGE_EXACT);
    fputs(",\"ended\":", to);
    ec_page_number(to, run.ended > 0 ? run.ended : NAN, EC_PAGE_EXACT);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        fprintf(to, ",\"%s\":", members[i].name);
        ec_page_text(to, members[i].text);
    }
    fputs(",\"settings\":[", to);
    for (size_t i = 0; i < run.n_settings; i++) {
        fputs(i ? ",[" : "[", to);
        ec_page_text(to, run.settings[i].name);
        fputc(',', to);
        ec_page_text(to, run.settings[i].value);
        fputc(']', to);
    }
    fputs("]}", to);
    ec_store_run_release(&run);
    return EC_OK;
}

int ec_page_store(ec_page *page)
{
    int status = put_run(page);

    if (status == EC_OK)
        status = put_members(page, false);
    if (status == EC_OK)
        status = put_members(page, true);
    return status;
}
