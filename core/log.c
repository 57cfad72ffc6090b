/* log.c: formats a message and hands it to the caller's sink. */
#include "log.h"
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const level_words[] = {"debug", "info", "warning", "error"};

void ec_log_write(ec_log *log, ec_log_level level, const char *format, ...)
{
    char line[512];
    char *text = line;
    char *longer = NULL;
    va_list arguments, again;

    if (level < (log ? log->level : EC_LOG_WARNING))
        return;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(line, sizeof line, format, arguments);
    if (length >= (int)sizeof line) {
        longer = (char *)malloc((size_t)length + 1);
        /* Without memory the first part of the message is still worth more than none. */
        if (longer) {
            vsnprintf(longer, (size_t)length + 1, format, again);
            text = longer;
        }
    }
    va_end(again);
    va_end(arguments);
    if (length < 0)
        text = (char *)format;
    else
        ec_text_plain_nan(text);
    if (log && log->write)
        log->write(log->user, level, text);
    else
        fprintf(stderr, "eciton: %s: %s\n", level_words[level], text);
    free(longer);
}
