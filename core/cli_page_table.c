#include "cli_page_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VARIABLES = 24,   /* elements of variables that are drawn */
    MOST_OTHERS = 24,      /* the same of objectives, constraints and recorded quantities */
    MOST_COUNTED = 100000, /* rows */
    LIVE_SHARE = 5         /* a page that follows its run has a fifth of the others' */
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "report: no memory");
}

double ec_page_cell_number(const ec_store_cell *cell)
{
    return cell->kind == EC_CELL_INTEGER || cell->kind == EC_CELL_NUMBER ? cell->number : NAN;
}

int ec_page_take_number(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(double *)user = ec_page_cell_number(&cells[0]);
    return EC_OK;
}

void ec_page_find_places(ec_page_quantities *q, int n, const char *const *names)
{
    for (int i = 0; i < q->n; i++)
        for (int k = 0; k < n && q->list[i].place < 0; k++)
            if (strcmp(q->list[i].column, names[k]) == 0)
                q->list[i].place = k;
}

enum {
    META = 4
}; /* numbers of a row in front of its values: generation, stage, status, violation */

typedef struct column {
    int quantity;
    int32_t element;
} column;

typedef struct table {
    ec_page_quantities *q;
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
        ec_page_find_places(t->q, n, names);
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
    to[0] = ec_page_cell_number(&cells[0]);
    to[1] = stage_code(&cells[1]);
    to[2] = ec_page_cell_number(&cells[2]);
    to[3] = ec_page_cell_number(&cells[3]);
    for (size_t i = 0; i < t->n_columns; i++) {
        const ec_page_quantity *q = &t->q->list[t->columns[i].quantity];
        to[META + i] = q->place < 0 ? NAN
                       : q->length > 0
                           ? ec_store_cell_element(&cells[q->place], t->columns[i].element)
                           : ec_page_cell_number(&cells[q->place]);
    }
    return EC_OK;
}

/* The columns that are drawn: the first elements of variables, of a sweep all of those that are numbers,
 * and as many of what is computed. */
static int choose_columns(ec_page_quantities *q, table *t)
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

size_t ec_page_stride(double rows, size_t width, size_t room)
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
    return ec_store_query(page->store, sql, 0, n, ec_page_take_number);
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

int ec_page_put_table(ec_page *page, const char *name, int64_t number, ec_page_quantities *q,
                      size_t room)
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
        status = ec_store_query(page->store, text, 0, &n_last, ec_page_take_number);
    size_t width = META + t.n_columns, every_last = ec_page_stride(n_last, width, room);
    double used = ceil(n_last / (double)every_last) * (double)width;
    size_t every =
        ec_page_stride(total - n_last, width, used < (double)room ? room - (size_t)used : width);
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
