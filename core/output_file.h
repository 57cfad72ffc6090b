/* output_file.h: a file that appears under its name only when it is complete: it is written beside
 * its place as NAME.part and renamed. A writer holds a lock on its NAME.part: another one waits for
 * it, and takes over what a writer that died has left. A link or a special file called NAME.part is
 * replaced, never followed. A NAME that is there has to be a file, or a link to one, which is replaced:
 * a device or a pipe is refused.
 */
#ifndef EC_OUTPUT_FILE_H
#define EC_OUTPUT_FILE_H

#include <stdio.h>

#include "status.h"

EC_C_BEGIN

typedef struct ec_output_file {
    FILE *stream; /* to write to; its errors are looked at when it is closed */
    char path[4400], part[4410];
} ec_output_file;

EC_API int ec_output_file_open(const char *path, ec_output_file *file);
/* Puts the file in its place when all of it could be written, else removes it. */
EC_API int ec_output_file_close(ec_output_file *file);
/* Gives it up: what was at its place stays. */
EC_API void ec_output_file_drop(ec_output_file *file);

EC_C_END
#endif
