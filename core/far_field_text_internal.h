/* far_field_text_internal.h: text of a file, line by line, for the readers of element_files.h.
 *
 * A file is read whole (regular files up to EC_TEXT_LARGEST bytes), so what a reader allocates is
 * bounded by what the file holds, never by a count that it declares. Lines end with LF, CRLF or CR.
 * Words are separated by blanks, tabs, commas and semicolons. A number is decimal, with a point
 * whatever the locale says; an exponent may be written with E, e, D or d or, as Fortran does for
 * three digits, with its sign alone. "nan", "inf" and what overflows are no numbers. Every mistake
 * is ERR_FORMAT with a sentence "NAME, line 7: found 'x', expected ...".
 */
#ifndef EC_FAR_FIELD_TEXT_INTERNAL_H
#define EC_FAR_FIELD_TEXT_INTERNAL_H

#include "status.h"

#include <locale.h>

#define EC_TEXT_LARGEST ((size_t)512 << 20)

typedef struct ec_text {
    const char *name; /* for messages */
    const char *at, *end;
    int64_t line;    /* number of the line read last */
    locale_t locale; /* "C" */
} ec_text;

/* A line without its end and without the blanks around it. */
typedef struct ec_text_line {
    const char *at, *end; /* what is not read yet */
    int64_t number;
} ec_text_line;

typedef struct ec_text_word {
    const char *at;
    size_t size;
} ec_text_word;

/* Content of a file, malloc'ed. ERR_FILE: not there, not a regular file, too large. */
int ec_text_load(const char *path, char **bytes, size_t *size);
/* Lends `bytes`; name is that of messages. close after a failed open does nothing. */
int ec_text_open(const char *name, const char *bytes, size_t size, ec_text *text);
void ec_text_close(ec_text *text);

/* The next line, blank ones included or passed over; false at the end of the text. */
bool ec_text_any_line(ec_text *text, ec_text_line *line);
bool ec_text_next_line(ec_text *text, ec_text_line *line);
/* The next line that is not blank, or the sentence that the file ends here. */
int ec_text_need_line(ec_text *text, ec_text_line *line, const char *expected);
/* Only blank lines are left. */
int ec_text_need_end(ec_text *text);

/* The next word of a line; false at its end. */
bool ec_text_next_word(ec_text_line *line, ec_text_word *word);
/* A number; a whole number; n numbers that fill the rest of the line. */
int ec_text_number(const ec_text *text, ec_text_line *line, const char *expected, double *value);
int ec_text_count(const ec_text *text, ec_text_line *line, const char *expected, int64_t min,
                  int64_t max, int64_t *value);
int ec_text_numbers(const ec_text *text, ec_text_line *line, int32_t n, const char *expected,
                    double *values);
bool ec_text_parse(const ec_text *text, ec_text_word word, double *value);
/* Nothing is left of the line. */
int ec_text_line_end(const ec_text *text, ec_text_line *line);

/* Without regard to upper and lower case. */
bool ec_text_is(ec_text_word word, const char *what);
bool ec_text_begins(const ec_text_line *line, const char *with);

/* "NAME, line N: found 'WORD', expected ..."; a word of size 0 is the line's end. */
int ec_text_fail(const ec_text *text, int64_t line, ec_text_word found, const char *expected, ...)
    __attribute__((format(printf, 4, 5)));
/* "NAME, line N: ..." */
int ec_text_wrong(const ec_text *text, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
