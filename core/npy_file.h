/* npy_file.h: NumPy's .npy format, version 1.0 (NEP 1, Kern 2007): magic, version, length of the
 * header, a Python dictionary padded to 64 bytes, then the data in C order. Numbers are
 * little-endian, as on every machine that Eciton runs on. */
#ifndef EC_NPY_FILE_H
#define EC_NPY_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base.h"

EC_C_BEGIN

/* descr: of an element, "<f8" (double) or "<c16" (ec_c128); rank 1 to 5. The data are for the
 * caller to write. */
EC_API void ec_npy_write_header(FILE *file, const char *descr, int rank, const int64_t *shape);

EC_C_END
#endif
