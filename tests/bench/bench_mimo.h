/* bench_mimo.h: where the time of a search for antenna places goes. */
#ifndef BENCH_MIMO_H
#define BENCH_MIMO_H

#include "core/backend.h"

/* Prints the stages of a generation of `designs` designs, and what is done once before: the cylinder
 * and plate of the published placement (4 x 4, depth 3, one diffraction, found exhaustively), or a
 * furnished room (4 x 12, depth 2, found by rays). Stages within a kernel are told by runs that end
 * before the next one. A failure ends the program. */
void bench_mimo(ec_backend *backend, bool room, size_t designs);

#endif
