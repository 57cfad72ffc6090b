/* cli_page_store.c: what the page of a report has of the run store. */
#include "cli_page_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_NUMBERS = 1000,     /* searches, sweeps */
    MOST_ELEMENTS = 20000,   /* of a list of a winner */
    DESIGN_NUMBERS = 200000, /* of all searches */
    HISTORY_NUMBERS = 60000,
    SWEEP_NUMBERS = 80000,  /* of all sweeps */
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

/* ---- quantities ---- */

static int take_quantity(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    ec_page_quantities *q = user;
    ec_page_quantity *more = realloc(q->list, sizeof *more * ((size_t)q->n + 1));

    (void)n;
    (void)names;
    if (!more)
        return no_memory();
    q->list = more;
    ec_page_quantity *last = &more[q->n];
    *last = (ec_page_quantity){.length = (int32_t)cells[2].integer, .place = -1};
    last->kind = strdup(cells[0].kind == EC_CELL_TEXT ? cells[0].text : "");
    last->column = strdup(cells[1].kind == EC_CELL_TEXT ? cells[1].text : "");
    q->n++;
    return last->kind && last->column ? EC_OK : no_memory();
}

static int read_quantities(ec_page *page, const char *owner, int64_t number, ec_page_quantities *q)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "SELECT kind, \"column\", length FROM quantity WHERE owner = '%s' AND number = ?1"
             " ORDER BY position",
             owner);
    *q = (ec_page_quantities){.n = 0};
    return ec_store_query(page->store, sql, number, q, take_quantity);
}

static void release_quantities(ec_page_quantities *q)
{
    for (int i = 0; i < q->n; i++) {
        free(q->list[i].kind);
        free(q->list[i].column);
    }
    free(q->list);
}

static int put_quantities(ec_page *page, const char *owner, int64_t number)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT kind, name, \"column\", length, minimum, maximum, goal FROM quantity"
             " WHERE owner = '%s' AND number = ?1 ORDER BY position",
             owner);
    return put_objects(page, "quantities", sql, number);
}

/* ---- one design with all of its values ---- */

typedef struct design {
    ec_page *page;
    ec_page_quantities *q;
    bool found;
} design;

/* A value as it is in the script: a number, or a list. */
static void put_value(ec_page *page, const ec_store_cell *cell, int32_t length)
{
    if (length == 0) {
        ec_page_number(page->to, ec_page_cell_number(cell), EC_PAGE_EXACT);
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

    ec_page_find_places(d->q, n, names);
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
        const ec_page_quantity *q = &d->q->list[i];
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
static int put_winner(ec_page *page, int64_t number, ec_page_quantities *q)
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

/* ---- failures ---- */

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
    int status = ec_store_query(page->store, sql, number, &total, ec_page_take_number);
    size_t every = ec_page_stride(total, COLUMNS, room);
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
    ec_page_quantities q;

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
        status = ec_page_put_table(page, name, number, &q,
                                   (size_t)(sweep ? SWEEP_NUMBERS : DESIGN_NUMBERS) / n);
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
