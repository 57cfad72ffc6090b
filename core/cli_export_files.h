/* cli_export_files.h: S-parameters and far fields of a run's winners, which the run wrote as files, for other
 * programs. */
#ifndef EC_CLI_EXPORT_FILES_H
#define EC_CLI_EXPORT_FILES_H

#include <stdbool.h>

/* Copies the Touchstone files (.s1p, .s2p, ...), or else the far fields (.ffd), of the folder `from`, which
 * holds a run, and prints what it has written. `to` is a folder, or a file with that ending where there
 * is one to take; NULL: the folder from/export. Errors: ERR_FILE, there is no such file (the text says
 * which there are), or one cannot be read or written; ERR_ARGUMENT, more than one for one name. */
int ec_cli_export_files(const char *from, const char *to, bool touchstone);

#endif
