/* far_field_readers.c: one reader for each format of element_files.h. */
#include "far_field_internal.h"

#include "detmath.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static ec_c128 complex_of(const double *re_im)
{
    return (ec_c128){re_im[0], re_im[1]};
}

/* ---- .ffd ------------------------------------------------------------------------------------ */

typedef struct sweep {
    double start, stop;
    int64_t count;
} sweep;

static int read_sweep(ec_text *text, const char *expected, int64_t min, sweep *to)
{
    ec_text_line line;
    int status = ec_text_need_line(text, &line, expected);

    if (status == EC_OK)
        status = ec_text_number(text, &line, expected, &to->start);
    if (status == EC_OK)
        status = ec_text_number(text, &line, expected, &to->stop);
    if (status == EC_OK)
        status = ec_text_count(text, &line, expected, min, INT32_MAX, &to->count);
    if (status == EC_OK)
        status = ec_text_line_end(text, &line);
    if (status == EC_OK && to->count > 1 && !(to->stop > to->start))
        status = ec_text_wrong(text, line.number, "%g to %g degrees, expected %s that ascend",
                               to->start, to->stop, expected);
    return status;
}

static double sweep_at(const sweep *s, int64_t i)
{
    if (i == 0 || s->count == 1)
        return s->start;
    return i == s->count - 1 ? s->stop
                             : s->start + (s->stop - s->start) * (double)i / (double)(s->count - 1);
}

static int read_ffd_points(ec_text *text, const sweep *theta, const sweep *phi,
                           ec_far_field_points *points)
{
    static const char expected[] = "Re and Im of E_theta and E_phi";
    int status = EC_OK;

    for (int64_t i = 0; i < theta->count && status == EC_OK; i++)
        for (int64_t k = 0; k < phi->count && status == EC_OK; k++) {
            ec_text_line line;
            double v[4];
            status = ec_text_need_line(text, &line, expected);
            if (status == EC_OK)
                status = ec_text_numbers(text, &line, 4, expected, v);
            if (status == EC_OK)
                status = ec_far_field_add(text, points, line.number, sweep_at(theta, i),
                                          sweep_at(phi, k), complex_of(v), complex_of(v + 2));
        }
    return status;
}

/* "Frequency 1e9" */
static int read_ffd_frequency(ec_text *text, double *frequency)
{
    ec_text_line line;
    ec_text_word word;
    int status = ec_text_need_line(text, &line, "'Frequency' and its value");

    if (status != EC_OK)
        return status;
    ec_text_next_word(&line, &word);
    if (!ec_text_is(word, "frequency"))
        return ec_text_fail(text, line.number, word, "'Frequency' and its value");
    return ec_text_numbers(text, &line, 1, "the frequency in Hz", frequency);
}

int ec_far_field_read_ffd(ec_text *text, ec_far_field_points *points, ec_far_field_set *set)
{
    sweep theta, phi;
    int64_t blocks = 1;
    bool named = false;

    int status = read_sweep(text, "theta start, stop and count", 2, &theta);
    if (status == EC_OK)
        status = read_sweep(text, "phi start, stop and count", 1, &phi);
    if (status != EC_OK)
        return status;
    ec_text mark = *text;
    ec_text_line line;
    if (ec_text_next_line(text, &line) && ec_text_begins(&line, "frequencies")) {
        ec_text_word word;
        ec_text_next_word(&line, &word);
        named = true;
        status = ec_text_count(text, &line, "the number of frequencies", 1, INT32_MAX, &blocks);
        if (status == EC_OK)
            status = ec_text_line_end(text, &line);
    } else {
        *text = mark;
    }
    for (int64_t b = 0; b < blocks && status == EC_OK; b++) {
        double frequency = 0;
        if (named)
            status = read_ffd_frequency(text, &frequency);
        int64_t first = text->line + 1;
        if (status == EC_OK)
            status = read_ffd_points(text, &theta, &phi, points);
        if (status == EC_OK)
            status = ec_far_field_finish(text, first, frequency, points, set);
    }
    return status == EC_OK ? ec_text_need_end(text) : status;
}

/* ---- .cut ------------------------------------------------------------------------------------ */

typedef struct cut_head {
    double start, step, fixed;
    int64_t count, components, kind, line;
} cut_head;

static int read_cut_head(ec_text *text, cut_head *head)
{
    static const char expected[] = "V_INI V_INC V_NUM C ICOMP ICUT NCOMP";
    ec_text_line line;
    int64_t n_components = 0;
    int status = ec_text_need_line(text, &line, expected);

    if (status == EC_OK)
        status = ec_text_number(text, &line, "V_INI", &head->start);
    if (status == EC_OK)
        status = ec_text_number(text, &line, "V_INC", &head->step);
    if (status == EC_OK)
        status = ec_text_count(text, &line, "V_NUM", 1, INT32_MAX, &head->count);
    if (status == EC_OK)
        status = ec_text_number(text, &line, "C", &head->fixed);
    if (status == EC_OK)
        status = ec_text_count(text, &line, "ICOMP: 1 (theta, phi), 2 (circular), 3 (co, cross)", 1,
                               3, &head->components);
    if (status == EC_OK)
        status =
            ec_text_count(text, &line, "ICUT: 1 (phi fixed), 2 (theta fixed)", 1, 2, &head->kind);
    if (status == EC_OK)
        status = ec_text_count(text, &line, "NCOMP of a far field", 2, 2, &n_components);
    if (status == EC_OK)
        status = ec_text_line_end(text, &line);
    if (status == EC_OK && head->count > 1 && !(head->step > 0))
        status =
            ec_text_wrong(text, line.number, "V_INC is %g, expected a value above 0", head->step);
    head->line = line.number;
    return status;
}

static int add_cut_point(const ec_text *text, const cut_head *head, int64_t line, double v,
                         const double f[4], ec_far_field_points *points)
{
    double theta = head->kind == 1 ? v : head->fixed;
    double phi = head->kind == 1 ? head->fixed : v;
    ec_c128 a = complex_of(f), b = complex_of(f + 2);

    if (head->components == 1)
        return ec_far_field_add(text, points, line, theta, phi, a, b);
    /* These components keep their meaning through theta = 0: convert where the point lies. */
    if (theta < 0) {
        theta = -theta;
        phi += 180;
        points->folded = true;
    }
    ec_c128 e_theta, e_phi;
    if (head->components == 2)
        ec_far_field_from_circular(phi, a, b, &e_theta, &e_phi);
    else
        ec_far_field_from_ludwig3(phi, a, b, &e_theta, &e_phi);
    size_t before = points->n;
    int status = ec_far_field_add(text, points, line, theta, phi, e_theta, e_phi);
    if (status == EC_OK)
        points->point[before].folded = (head->kind == 1 ? v : head->fixed) < 0;
    return status;
}

static int read_cut(ec_text *text, ec_far_field_points *points, cut_head *head)
{
    static const char expected[] = "Re and Im of two components";
    int status = read_cut_head(text, head);

    for (int64_t i = 0; i < head->count && status == EC_OK; i++) {
        ec_text_line line;
        double f[4];
        status = ec_text_need_line(text, &line, expected);
        if (status == EC_OK)
            status = ec_text_numbers(text, &line, 4, expected, f);
        if (status == EC_OK)
            status = add_cut_point(text, head, line.number, head->start + (double)i * head->step, f,
                                   points);
    }
    return status;
}

int ec_far_field_read_cut(ec_text *text, ec_far_field_points *points, ec_far_field_set *set)
{
    ec_text_line title;
    int status = EC_OK;
    int64_t kind = 0;

    /* the line of text may be empty */
    while (status == EC_OK && ec_text_any_line(text, &title)) {
        ec_text rest = *text;
        ec_text_line line;
        if (title.at == title.end && !ec_text_next_line(&rest, &line))
            break; /* blank lines at the end */
        cut_head head = {0, 0, 0, 0, 0, 0, 0};
        status = read_cut(text, points, &head);
        if (status == EC_OK && kind != 0 && head.kind != kind)
            status =
                ec_text_wrong(text, head.line, "ICUT is %d after %d, expected cuts of one kind",
                              (int)head.kind, (int)kind);
        kind = head.kind;
    }
    if (status == EC_OK && points->n == 0)
        status = ec_text_wrong(text, text->line, "the file ends, expected a line of text");
    return status == EC_OK ? ec_far_field_finish(text, 1, 0, points, set) : status;
}

/* ---- columns by their names ------------------------------------------------------------------ */

enum { MOST_COLUMNS = 64 };

/* Letters and digits of a name, small; "Re(E_Theta)" becomes "reetheta". */
static void plain_name(ec_text_word word, char *to, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < word.size && n + 1 < size; i++) {
        char c = word.at[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + ('a' - 'A'));
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            to[n++] = c;
    }
    to[n] = 0;
}

/* ---- .ffe ------------------------------------------------------------------------------------ */

enum { FFE_THETA, FFE_PHI, FFE_RE_THETA, FFE_IM_THETA, FFE_RE_PHI, FFE_IM_PHI, FFE_COLUMNS };

typedef struct ffe_block {
    double frequency;
    int64_t n_theta, n_phi; /* 0: not stated */
    int column[FFE_COLUMNS], n_columns;
    int64_t line; /* of the first direction; 0: none yet */
} ffe_block;

/* Names in quotes, after the '#'. */
static int read_ffe_columns(const ec_text *text, ec_text_line line, ffe_block *block)
{
    static const char *const names[FFE_COLUMNS] = {"theta",    "phi",    "reetheta",
                                                   "imetheta", "reephi", "imephi"};
    int n = 0;

    for (int i = 0; i < FFE_COLUMNS; i++)
        block->column[i] = -1;
    for (const char *at = line.at; at < line.end && n < MOST_COLUMNS; n++) {
        const char *open = memchr(at, '"', (size_t)(line.end - at));
        const char *shut = open ? memchr(open + 1, '"', (size_t)(line.end - open - 1)) : NULL;
        char name[24];
        if (!shut)
            break;
        plain_name((ec_text_word){open + 1, (size_t)(shut - open - 1)}, name, sizeof name);
        for (int i = 0; i < FFE_COLUMNS; i++)
            if (strcmp(name, names[i]) == 0 && block->column[i] < 0)
                block->column[i] = n;
        at = shut + 1;
    }
    block->n_columns = n;
    for (int i = 0; i < FFE_COLUMNS; i++)
        if (block->column[i] < 0)
            return ec_text_wrong(text, line.number,
                                 "no column for '%s', expected \"Theta\" \"Phi\" \"Re(Etheta)\" "
                                 "\"Im(Etheta)\" \"Re(Ephi)\" \"Im(Ephi)\"",
                                 names[i]);
    return EC_OK;
}

static int finish_ffe(ec_text *text, ffe_block *block, ec_far_field_points *points,
                      ec_far_field_set *set)
{
    if (block->line == 0)
        return EC_OK;
    int64_t stated = block->n_theta * block->n_phi;
    if (stated != 0 && stated != (int64_t)points->n)
        return ec_text_wrong(text, text->line, "the block has %zu directions, expected %lld x %lld",
                             points->n, (long long)block->n_theta, (long long)block->n_phi);
    int status = ec_far_field_finish(text, block->line, block->frequency, points, set);
    *block = (ffe_block){.frequency = 0};
    return status;
}

/* "#Key: value". A key after directions begins a block. */
static int read_ffe_key(ec_text *text, ec_text_line line, ffe_block *block)
{
    const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
    ec_text_line value = {colon ? colon + 1 : line.end, line.end, line.number};
    ec_text_word key = {line.at, (size_t)((colon ? colon : line.end) - line.at)};
    char name[40];

    plain_name(key, name, sizeof name);
    if (memchr(line.at, '"', (size_t)(line.end - line.at)) && !colon)
        return read_ffe_columns(text, line, block);
    if (strcmp(name, "frequency") == 0)
        return ec_text_numbers(text, &value, 1, "the frequency in Hz", &block->frequency);
    if (strcmp(name, "noofthetasamples") == 0)
        return ec_text_count(text, &value, "the number of thetas", 2, INT32_MAX, &block->n_theta);
    if (strcmp(name, "noofphisamples") == 0)
        return ec_text_count(text, &value, "the number of phis", 1, INT32_MAX, &block->n_phi);
    if (strcmp(name, "coordinatesystem") == 0) {
        ec_text_word word;
        ec_text_next_word(&value, &word);
        if (!ec_text_is(word, "spherical"))
            return ec_text_fail(text, line.number, word, "the coordinate system Spherical");
    }
    return EC_OK;
}

static int read_ffe_point(ec_text *text, ec_text_line line, ffe_block *block,
                          ec_far_field_points *points)
{
    double v[MOST_COLUMNS];

    if (block->n_columns == 0)
        return ec_text_wrong(text, line.number,
                             "numbers before the names of their columns, expected a line "
                             "#\"Theta\" \"Phi\" \"Re(Etheta)\" ...");
    int status = ec_text_numbers(text, &line, block->n_columns, "a number for each column", v);
    if (status != EC_OK)
        return status;
    if (block->line == 0)
        block->line = line.number;
    const int *column = block->column;
    return ec_far_field_add(text, points, line.number, v[column[FFE_THETA]], v[column[FFE_PHI]],
                            (ec_c128){v[column[FFE_RE_THETA]], v[column[FFE_IM_THETA]]},
                            (ec_c128){v[column[FFE_RE_PHI]], v[column[FFE_IM_PHI]]});
}

int ec_far_field_read_ffe(ec_text *text, ec_far_field_points *points, ec_far_field_set *set)
{
    ffe_block block = {.frequency = 0};
    ec_text_line line;
    int status = EC_OK;

    while (status == EC_OK && ec_text_next_line(text, &line)) {
        for (const char *p = line.at; p + 1 < line.end; p++)
            if (p[0] == '*' && p[1] == '*')
                line.end = p;
        if (line.at == line.end || ec_text_begins(&line, "##"))
            continue;
        if (*line.at != '#') {
            status = read_ffe_point(text, line, &block, points);
            continue;
        }
        line.at++;
        status = finish_ffe(text, &block, points, set);
        if (status == EC_OK)
            status = read_ffe_key(text, line, &block);
    }
    if (status == EC_OK)
        status = finish_ffe(text, &block, points, set);
    if (status == EC_OK && set->n == 0)
        status = ec_text_wrong(text, text->line, "the file ends, expected directions");
    return status;
}

/* ---- .ffs ------------------------------------------------------------------------------------ */

/* A section is a line "// name" and the lines after it. */
enum ffs_section { FFS_OTHER, FFS_COUNT, FFS_POWER, FFS_AXIS_Z, FFS_AXIS_X, FFS_SIZE, FFS_DATA };

static enum ffs_section ffs_section_of(ec_text_line line)
{
    char name[80];

    plain_name((ec_text_word){line.at, (size_t)(line.end - line.at)}, name, sizeof name);
    if (strcmp(name, "frequencies") == 0)
        return FFS_COUNT;
    if (strcmp(name, "zaxis") == 0)
        return FFS_AXIS_Z;
    if (strcmp(name, "xaxis") == 0)
        return FFS_AXIS_X;
    if (strncmp(name, "totalphisamples", 15) == 0)
        return FFS_SIZE;
    if (strncmp(name, "phithetareetheta", 16) == 0)
        return FFS_DATA;
    if (strstr(name, "power") || strncmp(name, "frequency", 9) == 0)
        return FFS_POWER;
    return FFS_OTHER;
}

typedef struct ffs_state {
    int64_t blocks, n_phi, n_theta;
    double *frequency;
    size_t powers, n_frequencies, capacity; /* powers: numbers read, each fourth is a frequency */
} ffs_state;

static int ffs_add_power(const ec_text *text, ffs_state *state, double value)
{
    if (state->powers++ % 4 != 3)
        return EC_OK;
    if (state->n_frequencies == state->capacity) {
        size_t capacity = 2 * state->capacity + 8;
        void *moved = realloc(state->frequency, capacity * sizeof *state->frequency);
        if (!moved)
            return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu frequencies", text->name,
                           capacity);
        state->frequency = (double *)moved;
        state->capacity = capacity;
    }
    state->frequency[state->n_frequencies++] = value;
    return EC_OK;
}

static int read_ffs_axis(const ec_text *text, ec_text_line line, double x, double z)
{
    double v[3];
    int status = ec_text_numbers(text, &line, 3, "three components of an axis", v);

    if (status == EC_OK && !(fabs(v[0] - x) + fabs(v[1]) + fabs(v[2] - z) < 1e-6))
        status = ec_text_wrong(text, line.number,
                               "an axis %g %g %g, expected %g 0 %g: rotated fields are not read",
                               v[0], v[1], v[2], x, z);
    return status;
}

static int read_ffs_points(ec_text *text, const ffs_state *state, ec_far_field_points *points)
{
    static const char expected[] = "phi, theta, Re and Im of E_theta and E_phi";
    int64_t n = state->n_phi * state->n_theta;
    int status = EC_OK;

    if (n == 0)
        return ec_text_wrong(text, text->line,
                             "fields before their number, expected 'Total #phi samples, total "
                             "#theta samples'");
    for (int64_t i = 0; i < n && status == EC_OK; i++) {
        ec_text_line line;
        double v[6];
        status = ec_text_need_line(text, &line, expected);
        if (status == EC_OK)
            status = ec_text_numbers(text, &line, 6, expected, v);
        if (status == EC_OK)
            status = ec_far_field_add(text, points, line.number, v[1], v[0], complex_of(v + 2),
                                      complex_of(v + 4));
    }
    return status;
}

static int read_ffs_line(const ec_text *text, ec_text_line line, enum ffs_section section,
                         ffs_state *state)
{
    int status = EC_OK;
    ec_text_line rest = line;
    ec_text_word word;

    switch (section) {
    case FFS_COUNT:
        return ec_text_count(text, &line, "the number of frequencies", 1, INT32_MAX,
                             &state->blocks);
    case FFS_POWER:
        while (status == EC_OK && ec_text_next_word(&rest, &word)) {
            double value;
            status = ec_text_number(text, &line, "a power or a frequency", &value);
            if (status == EC_OK)
                status = ffs_add_power(text, state, value);
        }
        return status;
    case FFS_AXIS_Z:
        return read_ffs_axis(text, line, 0, 1);
    case FFS_AXIS_X:
        return read_ffs_axis(text, line, 1, 0);
    case FFS_SIZE:
        status = ec_text_count(text, &line, "the number of phis", 1, INT32_MAX, &state->n_phi);
        if (status == EC_OK)
            status =
                ec_text_count(text, &line, "the number of thetas", 2, INT32_MAX, &state->n_theta);
        return status == EC_OK ? ec_text_line_end(text, &line) : status;
    case FFS_DATA: /* more than the directions that were announced */
        ec_text_next_word(&rest, &word);
        return ec_text_fail(text, line.number, word, "a line that begins with //");
    case FFS_OTHER:
        break;
    }
    return EC_OK;
}

static int read_ffs_sections(ec_text *text, ffs_state *state, ec_far_field_points *points,
                             ec_far_field_set *set)
{
    enum ffs_section section = FFS_OTHER;
    ec_text_line line;
    int status = EC_OK;

    while (status == EC_OK && ec_text_next_line(text, &line)) {
        if (!ec_text_begins(&line, "//")) {
            status = read_ffs_line(text, line, section, state);
            continue;
        }
        section = ffs_section_of(line);
        if (section != FFS_DATA)
            continue;
        double frequency = set->n < state->n_frequencies ? state->frequency[set->n] : 0;
        status = read_ffs_points(text, state, points);
        if (status == EC_OK)
            status = ec_far_field_finish(text, line.number + 1, frequency, points, set);
    }
    if (status == EC_OK && (set->n == 0 || (int64_t)set->n != state->blocks))
        status = ec_text_wrong(text, text->line, "the file ends after %zu fields, expected %lld",
                               set->n, (long long)(state->blocks ? state->blocks : 1));
    return status;
}

int ec_far_field_read_ffs(ec_text *text, ec_far_field_points *points, ec_far_field_set *set)
{
    ffs_state state = {0, 0, 0, NULL, 0, 0, 0};
    int status = read_ffs_sections(text, &state, points, set);

    free(state.frequency);
    return status;
}

/* ---- .csv ------------------------------------------------------------------------------------ */

enum { CSV_THETA, CSV_PHI, CSV_RE, CSV_IM, CSV_DB, CSV_PHASE, CSV_COLUMNS = CSV_RE + 8 };

static const char *const csv_names[CSV_COLUMNS] = {
    "theta_deg",         "phi_deg",  "e_theta_re", "e_theta_im", "e_theta_db",
    "e_theta_phase_deg", "e_phi_re", "e_phi_im",   "e_phi_db",   "e_phi_phase_deg"};

typedef struct csv_layout {
    int column[CSV_COLUMNS]; /* -1: absent */
    int n;
} csv_layout;

static void drop_comment(ec_text_line *line)
{
    const char *mark = memchr(line->at, '#', (size_t)(line->end - line->at));

    line->end = mark ? mark : line->end;
}

/* A line with something before its comment. */
static bool next_csv_line(ec_text *text, ec_text_line *line)
{
    while (ec_text_next_line(text, line)) {
        drop_comment(line);
        ec_text_line rest = *line;
        ec_text_word word;
        if (ec_text_next_word(&rest, &word))
            return true;
    }
    return false;
}

static ec_text_word without_quotes(ec_text_word word)
{
    if (word.size >= 2 && word.at[0] == '"' && word.at[word.size - 1] == '"')
        return (ec_text_word){word.at + 1, word.size - 2};
    return word;
}

static int check_csv_layout(const ec_text *text, int64_t line, const csv_layout *layout)
{
    bool any = false;

    if (layout->column[CSV_THETA] < 0)
        return ec_text_wrong(text, line,
                             "no column theta_deg, expected theta_deg, phi_deg, "
                             "e_theta_re, e_theta_im, e_phi_re, e_phi_im");
    for (int c = 0; c < 2; c++) {
        const int *column = layout->column + 4 * c;
        bool re = column[CSV_RE] >= 0, im = column[CSV_IM] >= 0;
        bool db = column[CSV_DB] >= 0, phase = column[CSV_PHASE] >= 0;
        const char *name = c ? "e_phi" : "e_theta";
        if ((re || im) && (db || phase))
            return ec_text_wrong(text, line, "%s as Re and Im and in dB, expected one of them",
                                 name);
        if ((im && !re) || (phase && !db))
            return ec_text_wrong(text, line, "a column %s%s without %s%s", name,
                                 im ? "_im" : "_phase_deg", name, im ? "_re" : "_db");
        any = any || re || db;
    }
    if (!any)
        return ec_text_wrong(text, line,
                             "no column of a field, expected e_theta_re, e_theta_im or "
                             "e_theta_db, e_theta_phase_deg, and so for e_phi");
    return EC_OK;
}

static int read_csv_names(const ec_text *text, ec_text_line line, csv_layout *layout)
{
    ec_text_word word;

    layout->n = 0;
    for (int i = 0; i < CSV_COLUMNS; i++)
        layout->column[i] = -1;
    for (; ec_text_next_word(&line, &word); layout->n++) {
        if (layout->n == MOST_COLUMNS)
            return ec_text_wrong(text, line.number, "more than %d columns", MOST_COLUMNS);
        for (int i = 0; i < CSV_COLUMNS; i++) {
            if (!ec_text_is(without_quotes(word), csv_names[i]))
                continue;
            if (layout->column[i] >= 0)
                return ec_text_wrong(text, line.number, "two columns %s, expected one",
                                     csv_names[i]);
            layout->column[i] = layout->n;
        }
    }
    return check_csv_layout(text, line.number, layout);
}

/* Component 0 (E_theta) or 1 (E_phi) of a row. */
static ec_c128 csv_component(const csv_layout *layout, const double *v, int component)
{
    const int *column = layout->column + 4 * component;

    if (column[CSV_DB] >= 0) {
        double amplitude = pow(10, v[column[CSV_DB]] / 20);
        double half_turns = column[CSV_PHASE] >= 0 ? v[column[CSV_PHASE]] / 180 : 0, s, c;
        ec_det_sincospi(half_turns, &s, &c);
        return (ec_c128){amplitude * c, amplitude * s};
    }
    return (ec_c128){column[CSV_RE] >= 0 ? v[column[CSV_RE]] : 0,
                     column[CSV_IM] >= 0 ? v[column[CSV_IM]] : 0};
}

int ec_far_field_read_csv(ec_text *text, ec_far_field_points *points, ec_far_field_set *set)
{
    csv_layout layout;
    ec_text_line line;
    double v[MOST_COLUMNS];

    if (!next_csv_line(text, &line))
        return ec_text_wrong(text, text->line, "the file ends, expected the names of columns");
    int status = read_csv_names(text, line, &layout);
    int64_t first = line.number + 1;
    while (status == EC_OK && next_csv_line(text, &line)) {
        status = ec_text_numbers(text, &line, layout.n, "a number for each column", v);
        if (status == EC_OK)
            status = ec_far_field_add(text, points, line.number, v[layout.column[CSV_THETA]],
                                      layout.column[CSV_PHI] >= 0 ? v[layout.column[CSV_PHI]] : 0,
                                      csv_component(&layout, v, 0), csv_component(&layout, v, 1));
    }
    if (status == EC_OK && points->n == 0)
        status = ec_text_wrong(text, text->line, "the file ends, expected directions");
    return status == EC_OK ? ec_far_field_finish(text, first, 0, points, set) : status;
}
