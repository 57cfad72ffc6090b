/* fdtd_blocks.c: a table of what was seen, open addresses. */
#include "fdtd_blocks_internal.h"

#include <stdlib.h>
#include <string.h>

void ec_fdtd_blocks_release(ec_fdtd_blocks *blocks)
{
    free(blocks->index);
    free(blocks->block);
    *blocks = (ec_fdtd_blocks){0};
}

static uint64_t hash(const unsigned char *data, size_t bytes)
{
    uint64_t h = 0x9e3779b97f4a7c15u, word;

    for (size_t i = 0; i < bytes; i += sizeof word) {
        memcpy(&word, data + i, sizeof word);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

int ec_fdtd_blocks_find(const void *a, const void *b, size_t elements, size_t real,
                        ec_fdtd_blocks *blocks)
{
    const size_t n = elements / EC_FDTD_LANES, part = EC_FDTD_LANES * real, bytes = 6 * part;
    const size_t most = n / 4 < UINT16_MAX ? n / 4 : UINT16_MAX;
    size_t places = 16, room = 0;

    ec_fdtd_blocks_release(blocks);
    if (most == 0)
        return EC_OK;
    while (places < 2 * most)
        places *= 2;
    /* 0: free, else the block's number and 1 */
    uint32_t *place = calloc(places, sizeof *place);
    ec_fdtd_blocks found = {.index = malloc(n * sizeof *found.index)};
    bool ok = place && found.index;
    for (size_t i = 0; ok && i < n; i++) {
        unsigned char block[EC_FDTD_BLOCK * sizeof(double)];
        for (size_t c = 0; c < 3; c++) {
            const size_t at = (c * elements + i * EC_FDTD_LANES) * real;
            memcpy(block + c * part, (const char *)a + at, part);
            memcpy(block + (3 + c) * part, (const char *)b + at, part);
        }
        size_t at = (size_t)hash(block, bytes) & (places - 1);
        while (place[at] &&
               memcmp((char *)found.block + (place[at] - 1) * bytes, block, bytes) != 0)
            at = (at + 1) & (places - 1);
        if (!place[at]) {
            if (found.count == most)
                break;
            if (found.count == room) {
                room = room ? 2 * room : 64;
                void *more = realloc(found.block, room * bytes);
                ok = more != NULL;
                if (!ok)
                    break;
                found.block = more;
            }
            memcpy((char *)found.block + found.count * bytes, block, bytes);
            place[at] = (uint32_t)++found.count;
        }
        found.index[i] = (uint16_t)(place[at] - 1);
        if (i + 1 == n)
            *blocks = found;
    }
    free(place);
    if (!blocks->index)
        ec_fdtd_blocks_release(&found);
    return ok ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for a domain's coefficients");
}
