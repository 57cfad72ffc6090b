#include "cli_place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ec_cli_place(const char *from_bin, char *path, size_t size)
{
    char program[PATH_MAX], joined[PATH_MAX * 2];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = 0;
    snprintf(joined, sizeof joined, "%s/%s", slash ? program : ".", from_bin);
    char *real = realpath(joined, NULL);
    snprintf(path, size, "%s", real ? real : joined);
    free(real);
}
