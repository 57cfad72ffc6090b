/* status.c: names and sentences of status codes, and the last failure of each thread. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

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

int ec_fail(int status, const char *format, ...)
{
    /* The new sentence may quote the old one, so it is written beside it first. */
    char text[sizeof error_text];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(error_text, sizeof error_text, "%s", text);
    return status;
}

const char *ec_error_text(void)
{
    return error_text;
}
