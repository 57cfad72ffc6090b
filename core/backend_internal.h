/* backend_internal.h: what backend.c shares with the two backends; not for users of a backend.
 *
 * A create function returns EC_OK and a complete backend, or an error and leaves *backend alone.
 * backend.c validates the name, the number of threads and the ISA level before it calls one. */
#ifndef EC_BACKEND_INTERNAL_H
#define EC_BACKEND_INTERNAL_H

#include "backend.h"

EC_C_BEGIN

int ec_backend_cpu_create(int threads, int isa, ec_log *log, ec_backend **backend);
int ec_backend_cuda_create(int device, ec_log *log, ec_backend **backend);
int ec_backend_cuda_count_impl(void);

/* Level named by word ("v1", "v3", "v4"; NULL or "" is the best there is). ERR_ARGUMENT for an
 * unknown word, ERR_BACKEND for a level that the processor lacks. */
int ec_isa_choose(const char *word, int *isa);

/* Shared argument checks, in words: a size in 1 .. INT32_MAX each, rank 1 or 2, sign -1 or +1. */
int ec_fft_check(const ec_fft_info *info);

EC_C_END
#endif
