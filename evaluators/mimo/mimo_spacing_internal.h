/* mimo_spacing_internal.h: how near two antennas of one array can come.
 *
 * By the ranges of their coordinates, less what two of them have in common (x + 0.04 and x + 0.08
 * are 0.04 apart wherever x is); exact where places are drawn without repetition from a list
 * (job:choice with distinct = true), the least distance of two places of the list; and where
 * positions are gaps above a least one, in their order (job:spaced), not below that. Arrays of more
 * than EC_MIMO_SPACING_PAIRS antennas are judged by ranges alone. */
#ifndef EC_MIMO_SPACING_INTERNAL_H
#define EC_MIMO_SPACING_INTERNAL_H

#include "../../core/graph.h"

enum { EC_MIMO_SPACING_PAIRS = 2048 };

/* at: of count antennas, one element or one each; each: their ranges, [3][count]; runs of `group` are
 * arrays. *least in m, INFINITY without a pair. ERR_MEMORY. */
int ec_mimo_spacing(const ec_graph *graph, const ec_expr at[3], int32_t count,
                    const ec_interval *each, int32_t group, double *least);

#endif
