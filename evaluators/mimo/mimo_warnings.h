/* mimo_warnings.h: what a reader of a design's channels should know before believing them: gains
 * above 0 dB, which no passive antennas have, and pairs of antennas without any path.
 */
#ifndef EC_MIMO_WARNINGS_H
#define EC_MIMO_WARNINGS_H

#include "mimo_design.h"

EC_C_BEGIN

/* Computes the channels at final fidelity, of all samples, and writes a warning for each of the two;
 * nothing for a design whose channels cannot be computed, or are so many that it would take long (above
 * 1e8 sequences of all pairs and samples). Adds nodes to the call's graph. */
EC_API int ec_mimo_warn(const ec_mimo_winner *winner, ec_log *log);

EC_C_END

#endif
