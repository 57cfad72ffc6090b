/* far_field_text.c: files as lines, words and numbers. */
#include "far_field_text_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ----------------------------------------------------------------------------------- */

static int read_whole(int handle, const char *path, char **bytes, size_t *size)
{
    struct stat info;

    if (fstat(handle, &info) != 0)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return ec_fail(EC_ERR_FILE, "'%s' is not a file", path);
    if ((uint64_t)info.st_size > EC_TEXT_LARGEST)
        return ec_fail(EC_ERR_FILE, "'%s' has %lld bytes, at most %zu are read", path,
                       (long long)info.st_size, EC_TEXT_LARGEST);
    size_t wanted = (size_t)info.st_size, got = 0;
    char *to = (char *)malloc(wanted + 1);
    if (!to)
        return ec_fail(EC_ERR_MEMORY, "no memory for the %zu bytes of '%s'", wanted, path);
    while (got < wanted) {
        ssize_t n = read(handle, to + got, wanted - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(to);
            return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
        }
        if (n == 0) /* became shorter */
            break;
        got += (size_t)n;
    }
    *bytes = to;
    *size = got;
    return EC_OK;
}

int ec_text_load(const char *path, char **bytes, size_t *size)
{
    /* O_NONBLOCK: opening a pipe would wait for its other end */
    int handle = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (handle < 0)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    int status = read_whole(handle, path, bytes, size);
    close(handle);
    return status;
}

int ec_text_open(const char *name, const char *bytes, size_t size, ec_text *text)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'}; /* of UTF-8 */

    *text = (ec_text){name, bytes, bytes + size, 0, newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (text->locale == (locale_t)0)
        return ec_fail(EC_ERR_MEMORY, "no memory to read '%s'", name);
    if (size >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0)
        text->at += sizeof mark;
    return EC_OK;
}

void ec_text_close(ec_text *text)
{
    if (text->locale != (locale_t)0)
        freelocale(text->locale);
    text->locale = (locale_t)0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The beginning of a word, with '?' for what a terminal may not show. */
static const char *show(ec_text_word word, char *to, size_t size)
{
    size_t n = word.size < size - 1 ? word.size : size - 1;

    for (size_t i = 0; i < n; i++)
        to[i] = word.at[i] >= ' ' && word.at[i] <= '~' ? word.at[i] : '?';
    to[n] = 0;
    if (word.size > n)
        memcpy(to + n - 3, "...", 3);
    return to;
}

int ec_text_fail(const ec_text *text, int64_t line, ec_text_word found, const char *expected, ...)
{
    char what[300], word[44];
    va_list arguments;

    va_start(arguments, expected);
    vsnprintf(what, sizeof what, expected, arguments);
    va_end(arguments);
    if (found.size == 0)
        return ec_fail(EC_ERR_FORMAT, "%s, line %lld: the line ends, expected %s", text->name,
                       (long long)line, what);
    return ec_fail(EC_ERR_FORMAT, "%s, line %lld: found '%s', expected %s", text->name,
                   (long long)line, show(found, word, sizeof word), what);
}

int ec_text_wrong(const ec_text *text, int64_t line, const char *format, ...)
{
    char what[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return ec_fail(EC_ERR_FORMAT, "%s, line %lld: %s", text->name, (long long)line, what);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

bool ec_text_any_line(ec_text *text, ec_text_line *line)
{
    if (text->at == text->end)
        return false;
    const char *from = text->at, *to = from;
    while (to < text->end && *to != '\n' && *to != '\r')
        to++;
    text->at = to;
    if (text->at < text->end) {
        bool both = *text->at == '\r' && text->end - text->at > 1 && text->at[1] == '\n';
        text->at += both ? 2 : 1;
    }
    while (from < to && is_blank(*from))
        from++;
    while (from < to && is_blank(to[-1]))
        to--;
    *line = (ec_text_line){from, to, ++text->line};
    return true;
}

bool ec_text_next_line(ec_text *text, ec_text_line *line)
{
    while (ec_text_any_line(text, line))
        if (line->at < line->end)
            return true;
    return false;
}

int ec_text_need_line(ec_text *text, ec_text_line *line, const char *expected)
{
    if (ec_text_next_line(text, line))
        return EC_OK;
    return ec_text_wrong(text, text->line, "the file ends, expected %s", expected);
}

int ec_text_need_end(ec_text *text)
{
    ec_text_line line;
    ec_text_word word;

    if (!ec_text_next_line(text, &line))
        return EC_OK;
    if (!ec_text_next_word(&line, &word)) /* separators only */
        word = (ec_text_word){line.at, (size_t)(line.end - line.at)};
    return ec_text_fail(text, line.number, word, "the end of the file");
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return is_blank(c) || c == ',' || c == ';';
}

bool ec_text_next_word(ec_text_line *line, ec_text_word *word)
{
    while (line->at < line->end && is_separator(*line->at))
        line->at++;
    word->at = line->at;
    while (line->at < line->end && !is_separator(*line->at))
        line->at++;
    word->size = (size_t)(line->at - word->at);
    return word->size > 0;
}

bool ec_text_parse(const ec_text *text, ec_text_word word, double *value)
{
    char to[72];
    size_t n = 0;

    if (word.size == 0 || word.size > 64)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.at[i];
        bool sign = c == '-' || c == '+';
        if (c == 'e' || c == 'd' || c == 'D')
            c = 'E';
        if (!(c >= '0' && c <= '9') && c != '.' && c != 'E' && !sign)
            return false;                        /* strtod would take "nan", "inf" and "0x1p3" */
        if (sign && i > 0 && to[n - 1] != 'E') { /* 1.25-101 */
            if (word.size - i != 4)
                return false;
            to[n++] = 'E';
        }
        if (n + 1 >= sizeof to)
            return false;
        to[n++] = c;
    }
    to[n] = 0;
    char *stop;
    *value = strtod_l(to, &stop, text->locale);
    return *stop == 0 && stop != to && isfinite(*value);
}

int ec_text_number(const ec_text *text, ec_text_line *line, const char *expected, double *value)
{
    ec_text_word word;

    ec_text_next_word(line, &word);
    if (ec_text_parse(text, word, value))
        return EC_OK;
    return ec_text_fail(text, line->number, word, "%s (a finite number)", expected);
}

int ec_text_count(const ec_text *text, ec_text_line *line, const char *expected, int64_t min,
                  int64_t max, int64_t *value)
{
    ec_text_word word;
    double number = 0;

    ec_text_next_word(line, &word);
    if (ec_text_parse(text, word, &number) && number == floor(number) && number >= (double)min &&
        number <= (double)max) {
        *value = (int64_t)number;
        return EC_OK;
    }
    return ec_text_fail(text, line->number, word, "%s (a whole number, %lld to %lld)", expected,
                        (long long)min, (long long)max);
}

int ec_text_numbers(const ec_text *text, ec_text_line *line, int32_t n, const char *expected,
                    double *values)
{
    for (int32_t i = 0; i < n; i++) {
        int status = ec_text_number(text, line, expected, &values[i]);
        if (status != EC_OK)
            return status;
    }
    return ec_text_line_end(text, line);
}

int ec_text_line_end(const ec_text *text, ec_text_line *line)
{
    ec_text_word word;

    if (!ec_text_next_word(line, &word))
        return EC_OK;
    return ec_text_fail(text, line->number, word, "the end of the line");
}

bool ec_text_is(ec_text_word word, const char *what)
{
    return word.size == strlen(what) && strncasecmp(word.at, what, word.size) == 0;
}

bool ec_text_begins(const ec_text_line *line, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(line->end - line->at) >= n && strncasecmp(line->at, with, n) == 0;
}
