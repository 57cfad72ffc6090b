/* cli_page_files.c: tables (.csv) among the files of --out, as columns for the page of a report. */
#include "cli_page.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    MOST_FILES = 60,
    MOST_COLUMNS = 400,
    MOST_BYTES = 128 << 20, /* of a file that is read */
    FILE_NUMBERS = 40000,   /* of one file */
    TEXT_NUMBERS = 4        /* that a text is worth */
};

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "report: no memory");
}

/* ---- reading ---- */

typedef struct cell {
    const char *text; /* within the file; NULL: empty */
    double number;    /* NaN of what is none */
} cell;

typedef struct sheet {
    char *bytes;
    char *names[MOST_COLUMNS]; /* within the bytes */
    bool texts[MOST_COLUMNS];  /* some cell of the column is no number */
    size_t n_columns, n_rows, capacity;
    cell *cells; /* [row][column] */
} sheet;

static void release(sheet *s)
{
    free(s->bytes);
    free(s->cells);
}

/* Cuts the field that begins at *at (RFC 4180) and takes its quotes away; *at is what comes behind its
 * comma. last: it ends its line. */
static char *cut_field(char **at, bool *last)
{
    char *c = *at, *begin = c, *to = c;
    bool quoted = *c == '"';

    if (quoted) {
        for (c++; *c && !(c[0] == '"' && c[1] != '"'); c++) {
            if (*c == '"')
                c++;
            *to++ = *c;
        }
        c += *c == '"';
    }
    while (*c && *c != ',' && *c != '\n' && *c != '\r')
        *to++ = *c++;
    *last = *c != ',';
    if (*c == '\r' && c[1] == '\n')
        *c++ = 0;
    *at = *c ? c + 1 : c;
    *c = 0;
    *to = 0;
    return begin;
}

static cell cell_of(const char *text)
{
    char *end = NULL;
    cell c = {.text = *text ? text : NULL, .number = NAN};

    if (!*text)
        return c;
    double value = strtod(text, &end);
    if (end != text && !*end)
        return (cell){.text = NULL, .number = value};
    return c;
}

/* False: no memory, or the table is no table: rows of other lengths than its head. */
static bool read_rows(sheet *s, char *at)
{
    while (*at) {
        bool last = false;
        if (s->n_rows == s->capacity) {
            size_t capacity = 2 * s->capacity + 1024;
            cell *more = realloc(s->cells, sizeof *more * capacity * s->n_columns);
            if (!more)
                return false;
            s->cells = more;
            s->capacity = capacity;
        }
        cell *row = s->cells + s->n_rows * s->n_columns;
        for (size_t i = 0; i < s->n_columns; i++) {
            if (last)
                return false;
            row[i] = cell_of(cut_field(&at, &last));
            s->texts[i] |= row[i].text != NULL;
        }
        if (!last)
            return false;
        s->n_rows++;
    }
    return true;
}

/* Why a file is no table; NULL: it is one. */
static const char *read_sheet(const char *path, off_t size, sheet *s)
{
    bool last = false;

    memset(s, 0, sizeof *s);
    if (size > MOST_BYTES)
        return "it is too large to be drawn";
    FILE *file = fopen(path, "rb");
    s->bytes = file ? malloc((size_t)size + 1) : NULL;
    size_t n = s->bytes ? fread(s->bytes, 1, (size_t)size, file) : 0;
    if (file)
        fclose(file);
    if (!s->bytes)
        return "it cannot be read";
    s->bytes[n] = 0;
    if (strlen(s->bytes) != n)
        return "it is no text";
    char *at = s->bytes;
    while (*at && !last) {
        if (s->n_columns == MOST_COLUMNS)
            return "it has too many columns to be drawn";
        s->names[s->n_columns++] = cut_field(&at, &last);
    }
    if (s->n_columns == 0)
        return "it is empty";
    return read_rows(s, at) ? NULL : "its lines differ in length";
}

/* ---- thinning and writing ---- */

static const cell *cell_at(const sheet *s, size_t row, size_t column)
{
    return s->cells + row * s->n_columns + column;
}

/* Rows of the second axis of a table on a tensor grid of its first two columns, the second one fastest;
 * 0: it is none. */
static size_t grid_length(const sheet *s)
{
    size_t n = 1;

    if (s->n_columns < 3 || s->n_rows < 4 || s->texts[0] || s->texts[1])
        return 0;
    while (n < s->n_rows && cell_at(s, n, 0)->number == cell_at(s, 0, 0)->number)
        n++;
    if (n < 2 || n == s->n_rows || s->n_rows % n != 0)
        return 0;
    for (size_t i = 0; i < s->n_rows; i++)
        if (cell_at(s, i, 0)->number != cell_at(s, i - i % n, 0)->number ||
            cell_at(s, i, 1)->number != cell_at(s, i % n, 1)->number)
            return 0;
    return n;
}

/* Every step_0-th of blocks of `length` rows, and every step_1-th row of these. */
typedef struct thinning {
    size_t length, step[2];
} thinning;

static size_t put_column(FILE *to, const sheet *s, size_t column, const thinning *t)
{
    size_t shown = 0;

    fputc('[', to);
    for (size_t i = 0; i < s->n_rows; i += t->length * t->step[0])
        for (size_t j = i; j < i + t->length && j < s->n_rows; j += t->step[1]) {
            const cell *c = cell_at(s, j, column);
            fputs(shown++ ? "," : "", to);
            if (s->texts[column] && c->text)
                ec_page_text(to, c->text);
            else
                ec_page_number(to, c->number, EC_PAGE_DRAWN);
        }
    fputc(']', to);
    return shown;
}

/* "grid" (of the rows that are there, null without one), "shown", "values"; returns the numbers. */
static size_t put_values(ec_page *page, const sheet *s)
{
    size_t width = 0, room = page->room < FILE_NUMBERS ? page->room : FILE_NUMBERS, shown = 0;
    size_t length = grid_length(s);
    FILE *to = page->to;

    for (size_t i = length ? 2 : 0; i < s->n_columns; i++)
        width += s->texts[i] ? TEXT_NUMBERS : 1;
    size_t most = room / width > 16 ? room / width : 16;
    thinning t = {length ? length : s->n_rows + 1, {1, 1}};
    if (length) {
        while ((s->n_rows / length / t.step[0] + 1) * (length / t.step[1] + 1) > most &&
               s->n_rows > most)
            t.step[s->n_rows / length / t.step[0] < length / t.step[1]]++;
        fprintf(to, ",\"grid\":[%zu,%zu]", (s->n_rows / length - 1) / t.step[0] + 1,
                (length - 1) / t.step[1] + 1);
    } else {
        t.step[1] = (s->n_rows + most - 1) / most;
        t.step[1] += t.step[1] == 0;
        fputs(",\"grid\":null", to);
    }
    fputs(",\"values\":[", to);
    for (size_t i = 0; i < s->n_columns; i++) {
        thinning own = t;
        if (length && i == 0) /* an axis once */
            own.step[1] = length;
        if (length && i == 1)
            own.step[0] = s->n_rows / length;
        fputs(i ? ",\n" : "", to);
        size_t n = put_column(to, s, i, &own);
        shown = n > shown ? n : shown;
    }
    fprintf(to, "],\"shown\":%zu", shown);
    return shown * width;
}

static void put_file(ec_page *page, const char *name, bool first)
{
    FILE *to = page->to;
    char path[4700];
    struct stat info;
    sheet s = {.n_rows = 0};

    snprintf(path, sizeof path, "%s/%s", page->folder, name);
    const char *why = stat(path, &info) == 0 && S_ISREG(info.st_mode)
                          ? read_sheet(path, info.st_size, &s)
                          : "it is no file";
    fputs(first ? "{\"name\":" : ",\n{\"name\":", to);
    ec_page_text(to, name);
    fputs(",\"why\":", to);
    ec_page_text(to, why);
    if (!why) {
        fputs(",\"columns\":[", to);
        for (size_t i = 0; i < s.n_columns; i++) {
            fputs(i ? "," : "", to);
            ec_page_text(to, s.names[i]);
        }
        fprintf(to, "],\"total\":%zu", s.n_rows);
        size_t n = put_values(page, &s);
        page->room -= n < page->room ? n : page->room;
    }
    fputc('}', to);
    release(&s);
}

/* ---- the folder ---- */

static int is_table(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');

    return ending && strcasecmp(ending, ".csv") == 0 && strlen(entry->d_name) < 256;
}

typedef struct search_name {
    const char *name;
    bool found;
} search_name;

/* A sweep's tables are copies of its rows. */
static int compare_sweep(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    search_name *k = user;
    size_t length = strlen(k->name) - strlen(".csv");

    (void)n;
    (void)names;
    k->found |= cells[0].kind == EC_CELL_TEXT && strlen(cells[0].text) == length &&
                strncmp(cells[0].text, k->name, length) == 0;
    return EC_OK;
}

/* Whether the store has it too. */
static int is_in_store(ec_page *page, const char *name, bool *is)
{
    static const char *const own[] = {"best.csv", "history.csv", "failures.csv", "front.csv"};
    search_name k = {.name = name};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        k.found |= strcmp(name, own[i]) == 0;
    int status = ec_store_query(page->store,
                                "SELECT name FROM sweep UNION SELECT sweep.name || '_' ||"
                                " quantity.name FROM sweep JOIN quantity ON owner = 'sweep' AND"
                                " quantity.number = sweep.number",
                                0, &k, compare_sweep);
    *is = k.found;
    return status;
}

int ec_page_files(ec_page *page)
{
    struct dirent **list = NULL;
    int written = 0, left_out = 0, status = EC_OK;

    int n = scandir(page->folder, &list, is_table, alphasort);
    if (n < 0)
        return errno == ENOMEM
                   ? no_memory()
                   : ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", page->folder, strerror(errno));
    fputs(",\n\"files\":[", page->to);
    for (int i = 0; i < n; i++) {
        bool known = false;
        if (status == EC_OK)
            status = is_in_store(page, list[i]->d_name, &known);
        if (status == EC_OK && !known && written == MOST_FILES)
            left_out++;
        else if (status == EC_OK && !known)
            put_file(page, list[i]->d_name, written++ == 0);
        free(list[i]);
    }
    free(list);
    fprintf(page->to, "],\"files_left_out\":%d", left_out);
    return status;
}
