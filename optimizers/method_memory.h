/* method_memory.h: how a method lays out one block of memory: the same function walks it with base
 * NULL for its size, then for the pointers. Every array begins on 256 bytes, as backends align. */
#ifndef EC_METHOD_MEMORY_H
#define EC_METHOD_MEMORY_H

#include "backend.h"

EC_C_BEGIN

typedef struct ec_method_memory {
    char *base; /* NULL: only sizes */
    size_t used;
} ec_method_memory;

static inline void *ec_method_take(ec_method_memory *memory, size_t bytes)
{
    void *at = memory->base ? memory->base + memory->used : NULL;

    memory->used += ec_round_up(bytes, 256);
    return at;
}

#define EC_METHOD_TAKE(memory, type, count)                                                        \
    ((type *)ec_method_take(memory, sizeof(type) * (size_t)(count)))

/* A block of the backend's memory, all zero. */
static inline int ec_method_block(ec_backend *backend, size_t bytes, char **block)
{
    int status = backend->ops->alloc(backend, bytes, (void **)block);

    return status == EC_OK ? backend->ops->fill(backend, *block, 0, bytes) : status;
}

EC_C_END
#endif
