/* mimo_sight_internal.h: a call that ec_mimo_call makes for each end of its links: its inputs are where the
 * antennas of that end are, so it runs as often as these differ: once where they are fixed, once a group
 * where group variables place them, once for all samples of a frequency. Its output, an input of the
 * channels, are the sequences of interactions that each antenna can have (path_lanes.h); its
 * statuses fail designs with an antenna where none can be. */
#ifndef EC_MIMO_SIGHT_INTERNAL_H
#define EC_MIMO_SIGHT_INTERNAL_H

#include "../../core/evaluator.h"
#include "path.h"

EC_C_BEGIN

typedef struct ec_mimo_sight_config {
    const ec_path_plan
        *plan; /* borrowed, like the sequences, from the channels' call of this graph */
    const ec_path_sequences *sequences;
    int32_t count;    /* antennas */
    double box[2][3]; /* where they may be, m */
    bool fixed;       /* they were checked: none fails */
    bool back;        /* paths end at them */
    int shift;        /* a bit stands for 2^shift sequences */
} ec_mimo_sight_config;

/* So many sequences a bit that an end's bits, of a design where they vary, keep within bounds. */
int ec_mimo_sight_shift(const ec_path_sequences *sequences, int32_t count, bool varies);
size_t ec_mimo_sight_words(const ec_path_sequences *sequences, int shift);
/* sight becomes the expression [count][words]. */
int ec_mimo_sight_call(ec_graph *graph, const ec_mimo_sight_config *config, const ec_expr at[3],
                       ec_expr *sight);

extern const ec_evaluator_def ec_evaluator_mimo_sight;

EC_C_END
#endif
