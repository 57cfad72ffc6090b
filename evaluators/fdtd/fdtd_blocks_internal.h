/* fdtd_blocks_internal.h: the distinct coefficients of a side, EC_FDTD_LANES elements of a row of all three
 * components at a time. Bodies and air are wide, so a domain has few of them: they stay in the nearest
 * cache, and a step of the CPU reads 2 bytes for eight cells in place of 192. */
#ifndef EC_FDTD_BLOCKS_INTERNAL_H
#define EC_FDTD_BLOCKS_INTERNAL_H

#include "../../core/status.h"
#include "fdtd_domain_internal.h"

EC_C_BEGIN

/* Zero-initialized, then released. */
typedef struct ec_fdtd_blocks {
    uint16_t *index; /* of each EC_FDTD_LANES elements of a component; NULL: there are too many */
    void *block;     /* [count][EC_FDTD_BLOCK] reals */
    size_t count;
} ec_fdtd_blocks;

/* Finds the blocks of a and b, [3] components of `elements` reals of `real` bytes, a multiple of
 * EC_FDTD_LANES; what `blocks` had is given up. More than a quarter of all, or than an index tells apart, are
 * too many. EC_ERR_MEMORY. */
int ec_fdtd_blocks_find(const void *a, const void *b, size_t elements, size_t real,
                        ec_fdtd_blocks *blocks);
void ec_fdtd_blocks_release(ec_fdtd_blocks *blocks);

EC_C_END

#endif
