/* status.c: names and sentences of status codes, and the last failure of each thread. */
#include "status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One sentence a thread, so that two workers that fail at once keep their own words. */
static _Thread_local char error_text[1024];

const char *ec_status_name(int status)
{
    switch (status) {
#define EC_STATUS_CASE(name, value, sentence)                                                      \
    case value:                                                                                    \
        return #name;
        EC_STATUS_LIST(EC_STATUS_CASE)
#undef EC_STATUS_CASE
    default:
        return "ERR_UNKNOWN";
    }
}

const char *ec_status_text(int status)
{
    switch (status) {
#define EC_STATUS_CASE(name, value, sentence)                                                      \
    case value:                                                                                    \
        return sentence;
        EC_STATUS_LIST(EC_STATUS_CASE)
#undef EC_STATUS_CASE
    default:
        return "a status code that this version does not know";
    }
}

void ec_candidate_text(uint8_t status, char *text, size_t size)
{
#define EC_CANDIDATE_SENTENCE(name, value, sentence) {value, sentence},
    static const struct {
        uint8_t bit;
        const char *sentence;
    } kinds[] = {EC_CANDIDATE_STATUS_LIST(EC_CANDIDATE_SENTENCE)};
#undef EC_CANDIDATE_SENTENCE
    uint8_t cause = status & (uint8_t)~EC_CANDIDATE_NOT_FINITE;
    size_t used = 0;

    if (size > 0)
        text[0] = '\0';
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && used < size; k++)
        if ((cause ? cause : status) & kinds[k].bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "",
                                     kinds[k].sentence);
}

/* Not within a word, as in a file's name. */
static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void ec_text_plain_nan(char *text)
{
    for (char *at = strstr(text, "-nan"); at; at = strstr(at + 1, "-nan"))
        if ((at == text || !in_word(at[-1])) && !in_word(at[4]))
            memmove(at, at + 1, strlen(at));
}

int ec_fail(int status, const char *format, ...)
{
    /* The new sentence may quote the old one, so it is written beside it first. */
    char text[sizeof error_text];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ec_text_plain_nan(text);
    snprintf(error_text, sizeof error_text, "%s", text);
    return status;
}

const char *ec_error_text(void)
{
    return error_text;
}
