/* method_state.c: see method_state.h. */
#include "method_state.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'E', 'C', 'M', 'E', 'T', 'H', 'O', 'D'};
enum { BYTE_ORDER_MARK = 0x01020304 };

typedef struct head {
    char magic[8];
    uint32_t byte_order, version;
    char method[24];
    uint64_t seed, content, bytes;
    uint32_t island, n;
    double figure[EC_METHOD_FIGURES_MAX];
} head;

void ec_method_state_add(ec_method_state *state, const char *name, double value)
{
    if (state->n < EC_METHOD_FIGURES_MAX)
        state->figure[state->n++] = (ec_method_figure){name, value};
}

static head head_of(const ec_method_state *state, size_t size)
{
    head h;

    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof magic);
    h.byte_order = BYTE_ORDER_MARK;
    h.version = state->version;
    strncpy(h.method, state->def->name, sizeof h.method - 1);
    h.seed = state->seed;
    h.content = state->content;
    h.bytes = size;
    h.island = state->island;
    h.n = (uint32_t)state->n;
    for (size_t i = 0; i < state->n; i++)
        h.figure[i] = state->figure[i].value;
    return h;
}

int ec_method_state_save(const ec_method_state *state, ec_backend *backend, const void *from,
                         size_t size, void **blob, size_t *bytes)
{
    head h = head_of(state, size);
    char *fresh = (char *)malloc(sizeof h + size);
    int status = EC_OK;

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "no memory for a saved state of %zu bytes", sizeof h + size);
    memcpy(fresh, &h, sizeof h);
    if (backend)
        status = backend->ops->download(backend, fresh + sizeof h, from, size);
    else
        memcpy(fresh + sizeof h, from, size);
    if (status != EC_OK) {
        free(fresh);
        return status;
    }
    *blob = fresh;
    *bytes = sizeof h + size;
    return EC_OK;
}

int ec_method_state_open(const ec_method_state *state, const void *blob, size_t bytes,
                         const char **at, size_t *size)
{
    const char *name = state->def->name;
    head is, wanted = head_of(state, state->bytes);

    if (bytes < sizeof is)
        return ec_fail(EC_ERR_FORMAT, "a saved state of %zu bytes is too short for %s", bytes,
                       name);
    memcpy(&is, blob, sizeof is);
    if (memcmp(is.magic, magic, sizeof magic) != 0 || is.byte_order != wanted.byte_order)
        return ec_fail(EC_ERR_FORMAT, "this is no saved state of %s", name);
    if (memcmp(is.method, wanted.method, sizeof is.method) != 0)
        return ec_fail(EC_ERR_FORMAT, "the saved state is of method '%.23s', not of '%s'",
                       is.method, name);
    if (is.version != wanted.version)
        return ec_fail(EC_ERR_FORMAT, "the saved state has version %u; this program reads %u",
                       is.version, wanted.version);
    for (size_t i = 0; i < state->n; i++)
        if (is.figure[i] != wanted.figure[i])
            return ec_fail(EC_ERR_FORMAT, "the saved state has %s %g, this search %g",
                           state->figure[i].name, is.figure[i], wanted.figure[i]);
    if (is.seed != wanted.seed || is.island != wanted.island)
        return ec_fail(EC_ERR_FORMAT, "the saved state has another seed or island");
    if (is.content != wanted.content)
        return ec_fail(EC_ERR_FORMAT, "the saved state has other variables");
    if (bytes - sizeof is != is.bytes || (state->bytes > 0 && is.bytes != state->bytes))
        return ec_fail(EC_ERR_FORMAT, "the saved state is damaged: it has a wrong length");
    *at = (const char *)blob + sizeof is;
    *size = (size_t)is.bytes;
    return EC_OK;
}
