/* hash.h: a hash over bytes, numbers and texts, for fingerprints of what a table was computed from.
 * FNV-1a of 64 bits (Fowler, Noll, Vo): no protection against forgery, only against mistakes. */
#ifndef EC_HASH_H
#define EC_HASH_H

#include <string.h>

#include "base.h"

typedef struct ec_hash {
    uint64_t value;
} ec_hash;

static inline ec_hash ec_hash_begin(void)
{
    ec_hash hash = {14695981039346656037ull};
    return hash;
}

static inline void ec_hash_bytes(ec_hash *hash, const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t value = hash->value;

    for (size_t i = 0; i < size; i++)
        value = (value ^ at[i]) * 1099511628211ull;
    hash->value = value;
}

static inline void ec_hash_integer(ec_hash *hash, int64_t value)
{
    ec_hash_bytes(hash, &value, sizeof value);
}

static inline void ec_hash_number(ec_hash *hash, double value)
{
    ec_hash_bytes(hash, &value, sizeof value);
}

/* n numbers, or none when there is no list; its length counts. */
static inline void ec_hash_numbers(ec_hash *hash, const double *values, size_t n)
{
    ec_hash_integer(hash, values ? (int64_t)n : -1);
    if (values)
        ec_hash_bytes(hash, values, n * sizeof *values);
}

static inline void ec_hash_text(ec_hash *hash, const char *text)
{
    ec_hash_bytes(hash, text, strlen(text) + 1);
}

#endif
