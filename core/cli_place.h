/* cli_place.h: where the files that belong to the program lie: the Lua library, the report's template. */
#ifndef EC_CLI_PLACE_H
#define EC_CLI_PLACE_H

#include <stddef.h>

/* The path of what lies at `from_bin`, seen from the program's folder, installed or in the build
 * folder. */
void ec_cli_place(const char *from_bin, char *path, size_t size);

#endif
