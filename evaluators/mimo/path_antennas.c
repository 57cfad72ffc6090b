/* path_antennas.c: antennas in one piece of a backend's memory, their tables behind them. */
#include "path_antennas.h"

#include <stdlib.h>

/* The first antenna that has the same table. */
static int32_t first_with(const ec_antenna *antenna, int32_t i)
{
    int32_t j = 0;
    while (antenna[j].pattern.kind != EC_ELEMENT_KIND_TABLE ||
           antenna[j].pattern.node_f64 != antenna[i].pattern.node_f64)
        j++;
    return j;
}

static size_t table_bytes(const ec_antenna *antenna)
{
    return ec_element_table_length(&antenna->pattern) * sizeof(ec_c128);
}

/* The antennas as they are on the backend, whose memory begins at base; uploads the tables. */
static int place(ec_backend *backend, int32_t n, const ec_antenna *from, char *base,
                 ec_antenna *placed)
{
    size_t at = ec_round_up((size_t)n * sizeof *placed, 64);
    int status = EC_OK;

    for (int32_t i = 0; i < n && status >= 0; i++) {
        placed[i] = from[i];
        placed[i].pattern.node_f32 = NULL;
        if (from[i].pattern.kind != EC_ELEMENT_KIND_TABLE)
            continue;
        int32_t first = first_with(from, i);
        if (first < i) {
            placed[i].pattern.node_f64 = placed[first].pattern.node_f64;
            continue;
        }
        placed[i].pattern.node_f64 = (const ec_c128 *)(void *)(base + at);
        status = backend->ops->upload(backend, base + at, from[i].pattern.node_f64,
                                      table_bytes(&from[i]));
        at += table_bytes(&from[i]);
    }
    return status;
}

size_t ec_path_antennas_bytes(int32_t n, const ec_antenna *antenna)
{
    size_t bytes = ec_round_up((size_t)n * sizeof *antenna, 64);

    for (int32_t i = 0; i < n; i++)
        if (antenna[i].pattern.kind == EC_ELEMENT_KIND_TABLE && first_with(antenna, i) == i)
            bytes += table_bytes(&antenna[i]);
    return bytes;
}

int ec_path_antennas_create(ec_backend *backend, int32_t n, const ec_antenna *antenna,
                            ec_path_antennas *antennas)
{
    size_t own = (size_t)n * sizeof *antenna;
    void *base = NULL;
    ec_antenna *placed = malloc(own);
    int status = placed ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for %d antennas", (int)n);
    if (status >= 0)
        status = backend->ops->alloc(backend, ec_path_antennas_bytes(n, antenna), &base);
    if (status >= 0)
        status = place(backend, n, antenna, base, placed);
    if (status >= 0)
        status = backend->ops->upload(backend, base, placed, own);
    free(placed);
    if (status < 0) {
        backend->ops->release(backend, base);
        return status;
    }
    *antennas = (ec_path_antennas){.antenna = base};
    return EC_OK;
}

void ec_path_antennas_destroy(ec_backend *backend, ec_path_antennas *antennas)
{
    backend->ops->release(backend, (void *)(uintptr_t)antennas->antenna);
    *antennas = (ec_path_antennas){0};
}
