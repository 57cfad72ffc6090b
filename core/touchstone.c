/* touchstone.c: scattering matrices from Touchstone files, versions 1 and 2.
 *
 * Touchstone File Format Specification, version 2.0, IBIS Open Forum, 2009. A network of N ports
 * has for each frequency a line that begins with it and 2 N^2 numbers, row by row, wrapped at will;
 * a triangle of a symmetric matrix in version 2 when "[Matrix Format]" says so.
 */
#include "element_files.h"
#include "far_field_text_internal.h"

#include "detmath.h"
#include "output_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_PORTS = 4096 };
enum { PAIR_MA, PAIR_DB, PAIR_RI };
enum { FULL, LOWER, UPPER };

typedef struct reader {
    ec_text text;
    int version; /* 1 or 2 */
    bool options, network;
    double unit; /* Hz */
    int pair;
    double reference;
    int64_t ports;       /* 0: unknown yet */
    int64_t frequencies; /* as version 2 states */
    int matrix;
    bool order_given, swapped; /* a two-port's S21 before S12 */
    double *references;        /* [ports], or NULL */
    ec_touchstone *data;
    size_t capacity; /* of data's frequencies */
} reader;

void ec_touchstone_destroy(ec_touchstone **data)
{
    if (!*data)
        return;
    free((*data)->frequency);
    free((*data)->s);
    free((*data)->reference);
    free(*data);
    *data = NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The next line that holds more than a comment. */
static bool next_line(reader *r, ec_text_line *line)
{
    while (ec_text_next_line(&r->text, line)) {
        const char *mark = memchr(line->at, '!', (size_t)(line->end - line->at));
        line->end = mark ? mark : line->end;
        ec_text_line rest = *line;
        ec_text_word word;
        if (ec_text_next_word(&rest, &word))
            return true;
    }
    return false;
}

static int need_line(reader *r, ec_text_line *line, const char *expected)
{
    if (next_line(r, line))
        return EC_OK;
    return ec_text_wrong(&r->text, r->text.line, "the file ends, expected %s", expected);
}

/* ---- the option line ------------------------------------------------------------------------- */

static bool option_word(reader *r, ec_text_word word, bool *resistance)
{
    static const struct {
        const char *name;
        double unit;
    } units[] = {{"hz", 1}, {"khz", 1e3}, {"mhz", 1e6}, {"ghz", 1e9}};
    static const char *const pairs[] = {"ma", "db", "ri"};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ec_text_is(word, units[i].name)) {
            r->unit = units[i].unit;
            return true;
        }
    for (int i = 0; i < 3; i++)
        if (ec_text_is(word, pairs[i])) {
            r->pair = i;
            return true;
        }
    *resistance = ec_text_is(word, "r");
    return *resistance || ec_text_is(word, "s");
}

/* "# GHz S MA R 50", in any order, each with this default. */
static int read_options(reader *r, ec_text_line line)
{
    ec_text_word word;

    if (r->options)
        return EC_OK; /* only the first one counts */
    r->options = true;
    line.at++;
    while (ec_text_next_word(&line, &word)) {
        bool resistance = false;
        for (const char *other = "yzgh"; *other; other++)
            if (word.size == 1 && (word.at[0] | 32) == *other)
                return ec_fail(EC_ERR_UNSUPPORTED,
                               "%s, line %lld: %c-parameters, expected S-parameters: only they are "
                               "read",
                               r->text.name, (long long)line.number, *other - 32);
        if (!option_word(r, word, &resistance))
            return ec_text_fail(&r->text, line.number, word,
                                "Hz, kHz, MHz or GHz, S, MA, DB or RI, R and the reference");
        if (!resistance)
            continue;
        int status = ec_text_number(&r->text, &line, "the reference in ohm", &r->reference);
        if (status != EC_OK)
            return status;
        if (!(r->reference > 0))
            return ec_text_wrong(&r->text, line.number,
                                 "the reference is %g ohm, expected a value above 0", r->reference);
    }
    return EC_OK;
}

/* ---- keywords of version 2 ------------------------------------------------------------------- */

/* References follow on this line and the next ones. */
static int read_references(reader *r, ec_text_line line)
{
    int status = EC_OK;

    if (r->ports == 0)
        return ec_text_wrong(&r->text, line.number, "[Reference] before [Number of Ports]");
    if (r->references)
        return ec_text_wrong(&r->text, line.number, "a second [Reference], expected one");
    r->references = (double *)calloc((size_t)r->ports, sizeof *r->references);
    if (!r->references)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for %d ports", r->text.name, (int)r->ports);
    for (int64_t i = 0; i < r->ports && status == EC_OK; i++) {
        ec_text_line rest = line;
        ec_text_word word;
        if (!ec_text_next_word(&rest, &word))
            status = need_line(r, &line, "a reference for each port");
        if (status == EC_OK)
            status = ec_text_number(&r->text, &line, "a reference in ohm", &r->references[i]);
        if (status == EC_OK && !(r->references[i] > 0))
            status = ec_text_wrong(&r->text, line.number,
                                   "the reference is %g ohm, expected a value above 0",
                                   r->references[i]);
    }
    return status == EC_OK ? ec_text_line_end(&r->text, &line) : status;
}

static int read_word(reader *r, ec_text_line *line, const char *const *words, int n,
                     const char *expected, int *which)
{
    ec_text_word word;

    ec_text_next_word(line, &word);
    for (int i = 0; i < n; i++)
        if (ec_text_is(word, words[i])) {
            *which = i;
            return ec_text_line_end(&r->text, line);
        }
    return ec_text_fail(&r->text, line->number, word, "%s", expected);
}

static int read_ports(reader *r, ec_text_line *line)
{
    int64_t ports = 0;
    int status = ec_text_count(&r->text, line, "the number of ports", 1, MOST_PORTS, &ports);

    if (status == EC_OK && r->ports != 0 && r->ports != ports)
        status =
            ec_text_wrong(&r->text, line->number, "%d ports, expected the %d of the file's name",
                          (int)ports, (int)r->ports);
    r->ports = ports;
    return status == EC_OK ? ec_text_line_end(&r->text, line) : status;
}

static int skip_information(reader *r)
{
    ec_text_line line;
    int status;

    while ((status = need_line(r, &line, "[End Information]")) == EC_OK)
        if (ec_text_begins(&line, "[end information]"))
            return EC_OK;
    return status;
}

/* "[Keyword] arguments". *end: no data of the network follow. */
static int read_keyword(reader *r, ec_text_line line, bool *end)
{
    static const char *const orders[] = {"12_21", "21_12"}, *const matrices[] = {"full", "lower",
                                                                                 "upper"};
    const char *shut = memchr(line.at, ']', (size_t)(line.end - line.at));
    ec_text_line rest = {shut ? shut + 1 : line.end, line.end, line.number};
    int status, which = 0;

    if (ec_text_begins(&line, "[version]")) {
        double version = 0;
        status = ec_text_numbers(&r->text, &rest, 1, "the version", &version);
        if (status == EC_OK && version != 2.0 && version != 2.1)
            status = ec_text_wrong(&r->text, line.number, "version %g, expected 2.0", version);
        r->version = 2;
        return status;
    }
    if (r->version != 2)
        return ec_text_wrong(&r->text, line.number, "a keyword in brackets before [Version] 2.0");
    if (ec_text_begins(&line, "[number of ports]"))
        return read_ports(r, &rest);
    if (ec_text_begins(&line, "[two-port data order]")) {
        status = read_word(r, &rest, orders, 2, "12_21 or 21_12", &which);
        r->order_given = true;
        r->swapped = which == 1;
        return status;
    }
    if (ec_text_begins(&line, "[number of frequencies]"))
        return ec_text_count(&r->text, &rest, "the number of frequencies", 1, INT32_MAX,
                             &r->frequencies);
    if (ec_text_begins(&line, "[matrix format]"))
        return read_word(r, &rest, matrices, 3, "Full, Lower or Upper", &r->matrix);
    if (ec_text_begins(&line, "[reference]"))
        return read_references(r, rest);
    if (ec_text_begins(&line, "[mixed-mode order]"))
        return ec_fail(
            EC_ERR_UNSUPPORTED,
            "%s, line %lld: mixed-mode parameters, expected single-ended ones: only they "
            "are read",
            r->text.name, (long long)line.number);
    if (ec_text_begins(&line, "[begin information]"))
        return skip_information(r);
    if (ec_text_begins(&line, "[network data]")) {
        r->network = true;
        return ec_text_line_end(&r->text, &rest);
    }
    *end = ec_text_begins(&line, "[noise data]") || ec_text_begins(&line, "[end]");
    if (*end || ec_text_begins(&line, "[number of noise frequencies]"))
        return EC_OK;
    return ec_text_fail(&r->text, line.number,
                        (ec_text_word){line.at, (size_t)(line.end - line.at)},
                        "a keyword of Touchstone 2.0");
}

/* ---- data ------------------------------------------------------------------------------------ */

static ec_c128 complex_of_pair(const reader *r, const double v[2])
{
    if (r->pair == PAIR_RI)
        return (ec_c128){v[0], v[1]};
    double amplitude = r->pair == PAIR_DB ? pow(10, v[0] / 20) : v[0], s, c;
    ec_det_sincospi(v[1] / 180, &s, &c);
    return (ec_c128){amplitude * c, amplitude * s};
}

static int grow(reader *r)
{
    ec_touchstone *d = r->data;
    size_t cells = (size_t)r->ports * (size_t)r->ports;

    if ((size_t)d->n_frequencies < r->capacity)
        return EC_OK;
    size_t capacity = r->capacity + r->capacity / 2 + 8;
    if (cells > 256 && r->capacity == 0)
        capacity = 1;
    double *frequency = (double *)realloc(d->frequency, capacity * sizeof *frequency);
    d->frequency = frequency ? frequency : d->frequency;
    ec_c128 *s = (ec_c128 *)realloc(d->s, capacity * cells * sizeof *s);
    d->s = s ? s : d->s;
    if (!frequency || !s)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for %zu frequencies of %d ports", r->text.name,
                       capacity, (int)r->ports);
    r->capacity = capacity;
    return EC_OK;
}

/* The next number of a frequency's matrix, on this line or the next. */
static int next_number(reader *r, ec_text_line *line, double *value)
{
    static const char expected[] = "an S-parameter";
    ec_text_line rest = *line;
    ec_text_word word;
    int status = EC_OK;

    if (!ec_text_next_word(&rest, &word))
        status = need_line(r, line, expected);
    return status == EC_OK ? ec_text_number(&r->text, line, expected, value) : status;
}

static int read_matrix(reader *r, ec_text_line *line)
{
    ec_touchstone *d = r->data;
    int64_t n = r->ports;
    ec_c128 *s = d->s + (size_t)d->n_frequencies * (size_t)(n * n);
    bool transposed = n == 2 && r->swapped && r->matrix == FULL;

    for (int64_t i = 0; i < n; i++) {
        int64_t from = r->matrix == UPPER ? i : 0, to = r->matrix == LOWER ? i + 1 : n;
        for (int64_t k = from; k < to; k++) {
            double v[2];
            int64_t number = line->number;
            int status = next_number(r, line, &v[0]);
            if (status == EC_OK)
                status = next_number(r, line, &v[1]);
            if (status != EC_OK)
                return status;
            ec_c128 value = complex_of_pair(r, v);
            if (!(fabs(value.re) <= 1e100 && fabs(value.im) <= 1e100))
                return ec_text_wrong(&r->text, number, "an S-parameter is beyond 1e100");
            s[transposed ? k * n + i : i * n + k] = value;
            if (r->matrix != FULL)
                s[k * n + i] = value;
        }
    }
    return ec_text_line_end(&r->text, line);
}

/* A two-port of version 1 may be followed by noise parameters: five numbers a line, from a
 * frequency that is not above the last one. */
static bool begins_noise(const reader *r, ec_text_line line, double frequency)
{
    const ec_touchstone *d = r->data;
    ec_text_word word;
    int n = 0;

    while (ec_text_next_word(&line, &word))
        n++;
    return r->version == 1 && r->ports == 2 && d->n_frequencies > 0 && n == 4 &&
           frequency <= d->frequency[d->n_frequencies - 1];
}

static int read_frequency(reader *r, ec_text_line line, bool *end)
{
    ec_touchstone *d = r->data;
    double frequency = 0;
    int status = ec_text_number(&r->text, &line, "a frequency", &frequency);

    if (status != EC_OK)
        return status;
    frequency *= r->unit;
    *end = begins_noise(r, line, frequency);
    if (*end)
        return EC_OK;
    double last = d->n_frequencies > 0 ? d->frequency[d->n_frequencies - 1] : -1;
    if (!(frequency > last) || !(frequency >= 0) || isinf(frequency))
        return ec_text_wrong(&r->text, line.number,
                             "the frequency %.10g Hz after %.10g Hz, expected one that is higher "
                             "(does the number of ports, %d, fit?)",
                             frequency, last < 0 ? 0 : last, (int)r->ports);
    if (d->n_frequencies == INT32_MAX)
        return ec_text_wrong(&r->text, line.number, "more than %d frequencies", INT32_MAX);
    status = grow(r);
    if (status == EC_OK)
        status = read_matrix(r, &line);
    if (status == EC_OK)
        d->frequency[d->n_frequencies++] = frequency;
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* N of an ending ".sNp", 0 of ".ts"; ERR_FILE of others. */
static int ports_of_name(const char *name, int64_t *ports)
{
    const char *point = strrchr(name, '.');
    int64_t n = 0;

    *ports = 0;
    if (point && strcasecmp(point, ".ts") == 0)
        return EC_OK;
    if (point && (point[1] | 32) == 's') {
        const char *p = point + 2;
        while (*p >= '0' && *p <= '9' && n <= MOST_PORTS)
            n = 10 * n + (*p++ - '0');
        if (n >= 1 && n <= MOST_PORTS && (p[0] | 32) == 'p' && p[1] == 0) {
            *ports = n;
            return EC_OK;
        }
    }
    return ec_fail(EC_ERR_FILE,
                   "'%s': the name of a Touchstone file ends in .s1p, .s2p, ... .s%dp or .ts", name,
                   MOST_PORTS);
}

/* line: the first one of the data, which begins at `from`. */
static int begin_data(reader *r, int64_t line, const char *from)
{
    if (r->ports == 0)
        return ec_text_wrong(&r->text, line, "data before [Number of Ports]");
    if (r->version == 2 && !r->network)
        return ec_text_wrong(&r->text, line, "data before [Network Data]");
    if (r->version == 2 && r->ports == 2 && !r->order_given)
        return ec_text_wrong(&r->text, line, "a two-port's data before [Two-Port Data Order]");
    if (r->version == 1)
        r->swapped = r->ports == 2;
    /* before memory for it is taken: each number and the blank after it need two bytes */
    if (2 * r->ports * (r->ports + 1) > r->text.end - from)
        return ec_text_wrong(&r->text, line, "the file ends before the matrix of %d ports does",
                             (int)r->ports);
    r->data = (ec_touchstone *)calloc(1, sizeof *r->data);
    if (!r->data)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory", r->text.name);
    r->data->n_ports = (int32_t)r->ports;
    return EC_OK;
}

static int read_lines(reader *r)
{
    ec_text_line line;
    bool end = false;
    int status = EC_OK;

    while (status == EC_OK && !end && next_line(r, &line)) {
        if (*line.at == '#') {
            status = read_options(r, line);
            continue;
        }
        if (*line.at == '[') {
            bool late = r->data && !ec_text_begins(&line, "[noise data]") &&
                        !ec_text_begins(&line, "[end]");
            status = late ? ec_text_wrong(&r->text, line.number,
                                          "a keyword amid the data, expected [End]")
                          : read_keyword(r, line, &end);
            continue;
        }
        if (!r->options)
            status = ec_text_wrong(&r->text, line.number,
                                   "data before the option line, expected # GHz S MA R 50");
        if (status == EC_OK && !r->data)
            status = begin_data(r, line.number, line.at);
        if (status == EC_OK)
            status = read_frequency(r, line, &end);
    }
    return status;
}

static int finish(reader *r)
{
    ec_touchstone *d = r->data;

    if (!d || d->n_frequencies == 0)
        return ec_text_wrong(&r->text, r->text.line, "the file ends, expected data of the network");
    if (r->version == 2 && r->frequencies == 0)
        return ec_text_wrong(&r->text, r->text.line, "no [Number of Frequencies] in the file");
    if (r->version == 2 && r->frequencies != d->n_frequencies)
        return ec_text_wrong(&r->text, r->text.line, "%d frequencies, expected %lld",
                             (int)d->n_frequencies, (long long)r->frequencies);
    d->reference = r->references;
    r->references = NULL;
    if (!d->reference) {
        d->reference = (double *)calloc((size_t)r->ports, sizeof *d->reference);
        if (!d->reference)
            return ec_fail(EC_ERR_MEMORY, "%s: no memory", r->text.name);
        for (int64_t i = 0; i < r->ports; i++)
            d->reference[i] = r->reference;
    }
    return EC_OK;
}

int ec_touchstone_parse(const char *name, const char *bytes, size_t size, ec_touchstone **data)
{
    reader r = {.version = 1, .unit = 1e9, .pair = PAIR_MA, .reference = 50, .matrix = FULL};
    int status = ports_of_name(name, &r.ports);

    if (status == EC_OK && size > EC_TEXT_LARGEST)
        status = ec_fail(EC_ERR_FILE, "'%s' has %zu bytes, at most %zu are read", name, size,
                         EC_TEXT_LARGEST);
    if (status == EC_OK)
        status = ec_text_open(name, bytes, size, &r.text);
    if (status != EC_OK)
        return status;
    status = read_lines(&r);
    if (status == EC_OK)
        status = finish(&r);
    if (status == EC_OK)
        *data = r.data;
    else
        ec_touchstone_destroy(&r.data);
    free(r.references);
    ec_text_close(&r.text);
    return status;
}

int ec_touchstone_read(const char *path, ec_touchstone **data)
{
    char *bytes = NULL;
    size_t size = 0;
    int status = ec_text_load(path, &bytes, &size);

    if (status == EC_OK)
        status = ec_touchstone_parse(path, bytes, size, data);
    free(bytes);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool has_ending(const char *path, int32_t ports)
{
    char ending[24];
    const char *dot = strrchr(path, '.');

    snprintf(ending, sizeof ending, ".s%dp", (int)ports);
    return dot && strcasecmp(dot, ending) == 0;
}

/* But for roundings, which change no S-parameter by as much. */
static bool same_references(const ec_touchstone *data)
{
    const double close = 1e-6 * data->reference[0];
    bool same = true;

    for (int32_t i = 1; i < data->n_ports; i++)
        same = same && fabs(data->reference[i] - data->reference[0]) <= close;
    return same;
}

static void write_head(const ec_touchstone *data, const char *note, bool second, FILE *to)
{
    if (note)
        fprintf(to, "! %s\n", note);
    if (second)
        fprintf(to, "[Version] 2.0\n");
    fprintf(to, "# Hz S RI R %.17g\n", data->reference[0]);
    if (!second)
        return;
    fprintf(to, "[Number of Ports] %d\n", (int)data->n_ports);
    if (data->n_ports == 2)
        fprintf(to, "[Two-Port Data Order] 21_12\n");
    fprintf(to, "[Number of Frequencies] %d\n[Reference]", (int)data->n_frequencies);
    for (int32_t i = 0; i < data->n_ports; i++)
        fprintf(to, "%s%.17g", i % 8 == 0 && i > 0 ? "\n" : " ", data->reference[i]);
    fprintf(to, "\n[Network Data]\n");
}

/* A line for one and two ports, else each row begins one, with four entries on it. */
static void write_matrix(const ec_c128 *s, int32_t n, FILE *to)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            const ec_c128 *entry = n == 2 ? &s[j * n + i] : &s[i * n + j]; /* S11 S21 S12 S22 */
            bool wrap = n > 2 && j % 4 == 0 && (i > 0 || j > 0);
            fprintf(to, "%s%.17g %.17g", wrap ? "\n  " : " ", entry->re, entry->im);
        }
    }
    fprintf(to, "\n");
}

int ec_touchstone_write(const ec_touchstone *data, const char *note, const char *path)
{
    ec_output_file file;
    bool second = !same_references(data);

    if (!has_ending(path, data->n_ports))
        return ec_fail(EC_ERR_ARGUMENT, "'%s': a matrix of %d port%s is written as .s%dp", path,
                       (int)data->n_ports, data->n_ports == 1 ? "" : "s", (int)data->n_ports);
    int status = ec_output_file_open(path, &file);
    if (status < 0)
        return status;
    write_head(data, note, second, file.stream);
    for (int32_t f = 0; f < data->n_frequencies; f++) {
        fprintf(file.stream, "%.17g", data->frequency[f]);
        write_matrix(data->s + (size_t)f * (size_t)data->n_ports * (size_t)data->n_ports,
                     data->n_ports, file.stream);
    }
    if (second)
        fprintf(file.stream, "[End]\n");
    return ec_output_file_close(&file);
}
