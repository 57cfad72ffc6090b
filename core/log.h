/* log.h: messages with levels, to a sink that the caller owns. A NULL log drops everything below
 * a warning and writes warnings and errors to stderr. */
#ifndef EC_LOG_H
#define EC_LOG_H

#include "base.h"

EC_C_BEGIN

typedef enum ec_log_level { EC_LOG_DEBUG, EC_LOG_INFO, EC_LOG_WARNING, EC_LOG_ERROR } ec_log_level;

typedef struct ec_log {
    ec_log_level level; /* messages below it are dropped */
    void (*write)(void *user, ec_log_level level, const char *text); /* one line, no newline */
    void *user;
} ec_log;

EC_API void ec_log_write(ec_log *log, ec_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

EC_C_END
#endif
