/* status.h: status codes. Every call that can fail returns one of these as int: 0 is success,
 * positive is a state worth knowing, negative is an error that left the objects unchanged.
 * ec_fail records a sentence (per thread) that says what was wrong with which value and what is
 * allowed; ec_error_text returns it. */
#ifndef EC_STATUS_H
#define EC_STATUS_H

#include "base.h"

/* code, value, sentence */
#define EC_STATUS_LIST(X)                                                                          \
    X(OK, 0, "success")                                                                            \
    X(STOPPED, 1, "stopped by request; results so far are kept")                                   \
    X(RETRY_SMALLER, 2, "a bounded buffer overflowed; run again with fewer candidates")            \
    X(ERR_ARGUMENT, -1, "an argument is outside its allowed values")                               \
    X(ERR_MEMORY, -2, "out of memory")                                                             \
    X(ERR_SHAPE, -3, "shapes do not fit together")                                                 \
    X(ERR_TYPE, -4, "a value has the wrong type")                                                  \
    X(ERR_RANGE, -5, "a range is empty, infinite or not a number")                                 \
    X(ERR_BACKEND, -6, "the backend is not available")                                             \
    X(ERR_DEVICE, -7, "the device reported an error")                                              \
    X(ERR_FILE, -8, "a file could not be read or written")                                         \
    X(ERR_FORMAT, -9, "a file's content is not understood")                                        \
    X(ERR_SCRIPT, -10, "the script failed")                                                        \
    X(ERR_UNSUPPORTED, -11, "not supported for these inputs")                                      \
    X(ERR_INTERNAL, -12, "an internal inconsistency; please report it")                            \
    X(ERR_NO_GRADIENT, -13, "the graph has a node without a gradient")

#define EC_STATUS_ENUM(name, value, sentence) EC_##name = value,
enum { EC_STATUS_LIST(EC_STATUS_ENUM) EC_STATUS_END = -100 };
#undef EC_STATUS_ENUM

/* Status of one candidate: bits, OR-ed along the graph. 0 is a good candidate. */
#define EC_CANDIDATE_STATUS_LIST(X)                                                                \
    X(NOT_FINITE, 1, "the cost or a constraint is not a finite number")                            \
    X(OUT_OF_RANGE, 2, "an evaluator input lies outside the range it was planned for")             \
    X(EVALUATOR, 4, "an evaluator could not score the design")                                     \
    X(OVERFLOW, 8, "a bounded buffer overflowed for this design")                                  \
    X(HOST, 16, "the script's host function failed for this design")                               \
    X(OFF_GRID, 32, "a half-power point or a first minimum of the beam is off the grid")           \
    X(MISPLACED, 64, "something is inside a solid, on a surface, or where something else is")

#define EC_CANDIDATE_ENUM(name, value, sentence) EC_CANDIDATE_##name = value,
enum { EC_CANDIDATE_STATUS_LIST(EC_CANDIDATE_ENUM) EC_CANDIDATE_OK = 0 };
#undef EC_CANDIDATE_ENUM

EC_C_BEGIN

/* Name ("ERR_SHAPE") and sentence of a status code; never NULL. */
EC_API const char *ec_status_name(int status);
EC_API const char *ec_status_text(int status);
/* The sentences of a candidate's status bits, joined by "; ". A cost that is none follows from
 * the other kinds, and is said only alone. */
EC_API void ec_candidate_text(uint8_t status, char *text, size_t size);

/* Records the printf-style sentence for this thread and returns status. */
EC_API int ec_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Turns the -nan that printf makes of some NaNs into nan, in place: what every message goes through. */
EC_API void ec_text_plain_nan(char *text);
/* The sentence of the last ec_fail on this thread ("" if none). */
EC_API const char *ec_error_text(void);

EC_C_END
#endif
