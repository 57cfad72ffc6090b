/* cli_page_files.c: tables (.csv) and S-parameters (.sNp) among the files of --out, as columns for the page of
 * a report. */
#include "cli_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "element_files.h"

enum {
    MOST_FILES = 60,
    MOST_COLUMNS = 400,
    MOST_BYTES = 128 << 20, /* of a file that is read */
    FILE_NUMBERS = 60000,   /* of one file */
    TEXT_NUMBERS = 4        /* that a text is worth */
};

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

/* ".s2p" of a name, its ending; NULL: it is no Touchstone file. */
static const char *touchstone_ending(const char *name)
{
    const char *ending = strrchr(name, '.');
    size_t digits =
        ending && (ending[1] == 's' || ending[1] == 'S') ? strspn(ending + 2, "0123456789") : 0;

    return digits > 0 && strcasecmp(ending + 2 + digits, "p") == 0 ? ending : NULL;
}

/* Columns as sparameters.csv has them, without real and imaginary parts. */
static const char *lay_touchstone(const ec_touchstone *t, sheet *s)
{
    enum { NAME = 40 };
    const size_t n = (size_t)t->n_ports, rows = (size_t)t->n_frequencies;

    s->n_columns = 1 + 2 * n * n;
    if (n == 0 || s->n_columns > MOST_COLUMNS)
        return "it has too many ports to be drawn";
    s->bytes = malloc(NAME * s->n_columns);
    s->cells = malloc(sizeof *s->cells * s->n_columns * (rows + 1));
    if (!s->bytes || !s->cells)
        return "it cannot be read";
    for (size_t c = 0; c < s->n_columns; c++) {
        const size_t k = (c + 1) / 2 - 1;
        s->names[c] = s->bytes + NAME * c;
        if (c == 0)
            strcpy(s->names[c], "frequency_hz");
        else
            snprintf(s->names[c], NAME, "s_%zu_%zu_%s", k % n + 1, k / n + 1,
                     c % 2 ? "db" : "phase_deg");
    }
    for (s->n_rows = 0; s->n_rows < rows; s->n_rows++) {
        cell *row = s->cells + s->n_rows * s->n_columns;
        row[0] = (cell){.number = t->frequency[s->n_rows]};
        for (size_t k = 0; k < n * n; k++) {
            const ec_c128 v = t->s[(s->n_rows * n + k % n) * n + k / n];
            row[1 + 2 * k] = (cell){.number = 20 * log10(hypot(v.re, v.im))};
            row[2 + 2 * k] = (cell){.number = atan2(v.im, v.re) * (180 / EC_PI)};
        }
    }
    return NULL;
}

/* Why it cannot be drawn; NULL: it can. */
static const char *read_touchstone(const char *path, sheet *s)
{
    ec_touchstone *t = NULL;

    memset(s, 0, sizeof *s);
    if (ec_touchstone_read(path, &t) < 0)
        return "it is no Touchstone file that can be read";
    const char *why = lay_touchstone(t, s);
    ec_touchstone_destroy(&t);
    return why;
}

/* ---- thinning and writing ---- */

static const cell *cell_at(const sheet *s, size_t row, size_t column)
{
    return s->cells + row * s->n_columns + column;
}

/* How a table on a lattice repeats itself, the last axis fastest. Of `n` rows, `stride` apart, the first
 * column that changes between the first two of them comes back to its first value after so many;
 * 0: it does not, or not always in the same way. */
static size_t period(const sheet *s, size_t stride, size_t n, size_t *column)
{
    enum { AXES = 4 }; /* columns that may be axes */
    size_t c = 0, p = 1;

    if (n < 2)
        return 0;
    while (c < s->n_columns && c < AXES &&
           (s->texts[c] || !(cell_at(s, 0, c)->number != cell_at(s, stride, c)->number)))
        c++;
    if (c == s->n_columns || c == AXES)
        return 0;
    while (p < n && cell_at(s, p * stride, c)->number != cell_at(s, 0, c)->number)
        p++;
    if (n % p != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (cell_at(s, i * stride, c)->number != cell_at(s, i % p * stride, c)->number)
            return 0;
    *column = c;
    return p;
}

/* Rows in blocks of blocks: every step[0]-th of `blocks` blocks of `length` rows, and every step[1]-th row
 * of these. A table that is no lattice is one block. */
typedef struct thinning {
    size_t blocks, length, step[2];
    bool grid; /* its first two columns are the axes of all of it */
} thinning;

static thinning find_lattice(const sheet *s)
{
    size_t fast = 0, slow = 0, length = period(s, 1, s->n_rows, &fast);
    thinning t = {1, s->n_rows > 0 ? s->n_rows : 1, {1, 1}, false};

    if (length == 0 || length == s->n_rows)
        return t;
    t.length = length;
    size_t blocks = period(s, length, s->n_rows / length, &slow);
    t.blocks = blocks > 0 ? blocks : 1;
    t.grid = s->n_columns > 2 && fast == 1 && slow == 0 && blocks * length == s->n_rows;
    for (size_t i = 0; i < s->n_rows && t.grid; i++) /* along a block it stands still */
        t.grid = cell_at(s, i, 0)->number == cell_at(s, i - i % length, 0)->number;
    return t;
}

static size_t kept(size_t n, size_t step)
{
    return (n - 1) / step + 1;
}

static void thin(thinning *t, size_t n_rows, size_t most)
{
    size_t groups = n_rows / (t->blocks * t->length);

    while (groups * kept(t->blocks, t->step[0]) * kept(t->length, t->step[1]) > most &&
           (t->step[0] < t->blocks || t->step[1] < t->length)) {
        bool along = kept(t->blocks, t->step[0]) <= kept(t->length, t->step[1]);
        t->step[along] += t->blocks == 1 ? t->step[1] / 16 + 1 : 1;
    }
}

static size_t put_column(FILE *to, const sheet *s, size_t column, const thinning *t)
{
    size_t shown = 0, group = t->blocks * t->length;

    fputc('[', to);
    for (size_t g = 0; g < s->n_rows; g += group)
        for (size_t i = 0; i < t->blocks; i += t->step[0])
            for (size_t j = 0; j < t->length; j += t->step[1]) {
                const cell *c = cell_at(s, g + i * t->length + j, column);
                fputs(shown++ ? "," : "", to);
                if (s->texts[column] && c->text)
                    ec_page_text(to, c->text);
                else
                    ec_page_number(to, c->number, EC_PAGE_DRAWN);
            }
    fputc(']', to);
    return shown;
}

/* Numbers of a row from a column on. */
static size_t row_width(const sheet *s, size_t from)
{
    size_t width = 0;

    for (size_t i = from; i < s->n_columns; i++)
        width += s->texts[i] ? TEXT_NUMBERS : 1;
    return width;
}

/* A table with a column `path` has the paths of each pair of antennas by their strength, from 1: of one
 * that is too long the strongest stay. How many of each pair: 0, all. */
static size_t drop_weak(sheet *s, size_t most)
{
    enum { RANKS = 1000 };
    size_t column = 0, counts[RANKS + 1] = {0}, ranks = 0, rows = 0;

    while (column < s->n_columns && strcmp(s->names[column], "path") != 0)
        column++;
    if (column == s->n_columns || s->n_rows <= most)
        return 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        double rank = cell_at(s, i, column)->number;
        if (rank >= 1 && rank <= RANKS)
            counts[(size_t)rank]++;
    }
    while (ranks < RANKS && rows + counts[ranks + 1] <= most)
        rows += counts[++ranks];
    if (ranks == 0)
        return 0;
    rows = 0;
    for (size_t i = 0; i < s->n_rows; i++)
        if (cell_at(s, i, column)->number <= (double)ranks)
            memmove(s->cells + rows++ * s->n_columns, cell_at(s, i, 0),
                    sizeof *s->cells * s->n_columns);
    s->n_rows = rows;
    return ranks;
}

/* "strongest" (paths of each pair, null: all), "grid" (of the rows that are there, null without one),
 * "values", "shown". */
static void put_values(ec_page *page, sheet *s)
{
    size_t room = page->room < FILE_NUMBERS ? page->room : FILE_NUMBERS, shown = 0;
    size_t ranks = drop_weak(s, room / row_width(s, 0));
    thinning t = find_lattice(s);
    size_t width = row_width(s, t.grid ? 2 : 0);
    FILE *to = page->to;

    fprintf(to, ranks > 0 ? ",\"strongest\":%zu" : ",\"strongest\":null", ranks);
    thin(&t, s->n_rows, room / width > 16 ? room / width : 16);
    fputs(",\"grid\":", to);
    if (t.grid)
        fprintf(to, "[%zu,%zu]", kept(t.blocks, t.step[0]), kept(t.length, t.step[1]));
    else
        fputs("null", to);
    fputs(",\"values\":[", to);
    for (size_t i = 0; i < s->n_columns; i++) {
        thinning own = t;
        if (t.grid && i < 2) /* an axis once */
            own.step[i == 0] = i == 0 ? t.length : t.blocks;
        fputs(i ? ",\n" : "", to);
        size_t n = put_column(to, s, i, &own);
        shown = n > shown ? n : shown;
    }
    fprintf(to, "],\"shown\":%zu", shown);
}

static const char *read_file(const char *path, sheet *s)
{
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return "it is no file";
    if (!touchstone_ending(path))
        return read_sheet(path, info.st_size, s);
    return info.st_size > MOST_BYTES ? "it is too large to be drawn" : read_touchstone(path, s);
}

static void put_file(ec_page *page, const char *name, bool first)
{
    FILE *to = page->to;
    char path[4700];
    sheet s = {.n_rows = 0};

    snprintf(path, sizeof path, "%s/%s", page->folder, name);
    const char *why = read_file(path, &s);
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
        put_values(page, &s);
        ec_page_measure(page);
    }
    fputc('}', to);
    release(&s);
}

/* ---- the folder ---- */

static int is_table(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');

    return ending && strlen(entry->d_name) < 256 &&
           (strcasecmp(ending, ".csv") == 0 || touchstone_ending(entry->d_name));
}

/* A Touchstone file whose table is beside it. */
static bool has_table(const ec_page *page, const char *name)
{
    const char *ending = touchstone_ending(name);
    char path[4800];

    if (!ending)
        return false;
    snprintf(path, sizeof path, "%s/%.*s.csv", page->folder, (int)(ending - name), name);
    return access(path, F_OK) == 0;
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
    const char *slash = strrchr(name, '/');
    search_name k = {.name = slash ? slash + 1 : name};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        k.found |= strcmp(k.name, own[i]) == 0;
    int status = ec_store_query(page->store,
                                "SELECT name FROM sweep UNION SELECT sweep.name || '_' ||"
                                " quantity.name FROM sweep JOIN quantity ON owner = 'sweep' AND"
                                " quantity.number = sweep.number",
                                0, &k, compare_sweep);
    *is = k.found;
    return status;
}

typedef struct counts {
    int written, left_out;
} counts;

static int put_table(ec_page *page, void *user, const char *name)
{
    counts *n = user;
    bool known = has_table(page, name);

    int status = touchstone_ending(name) ? EC_OK : is_in_store(page, name, &known);
    if (status == EC_OK && !known && n->written == MOST_FILES)
        n->left_out++;
    else if (status == EC_OK && !known)
        put_file(page, name, n->written++ == 0);
    return status;
}

int ec_page_files(ec_page *page)
{
    counts n = {0, 0};

    fputs(",\n\"files\":[", page->to);
    int status = ec_page_each_file(page, is_table, put_table, &n);
    fprintf(page->to, "],\"files_left_out\":%d", n.left_out);
    return status;
}
