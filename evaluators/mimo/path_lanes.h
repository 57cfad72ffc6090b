/* path_lanes.h: what lanes of a batch of pairs have of their own besides two places: which sequences
 * either antenna can have (path_sight.h), and their frequencies.
 *
 * Lane l is pair (first + l) / n of candidate (first + l) % n, pair = r n_tx + t. Shared by C17 and
 * CUDA. */
#ifndef EC_PATH_LANES_H
#define EC_PATH_LANES_H

#include "fresnel.h"

/* Bits of an end's antennas, 32 in a word, words as numbers: bit i stands for 2^shift sequences from
 * i 2^shift on. word[(antenna words + w) ld + c]. NULL: all. */
typedef struct ec_path_seen {
    const double *word;
    size_t words, ld;
    bool varies; /* with the candidate */
} ec_path_seen;

typedef struct ec_path_lanes {
    size_t first, n; /* n 0: lanes have nothing of their own */
    size_t n_tx;
    ec_path_seen tx, rx;
    int shift;
    size_t tables;               /* of frequencies: 1, or n, one for each candidate */
    const double *wavelength;    /* [n_frequencies][tables] m */
    const ec_fresnel_face *face; /* [n_frequencies][tables][n_materials] */
} ec_path_lanes;

EC_FN uint32_t ec_path_seen_word(const ec_path_seen *s, size_t antenna, size_t c, size_t w)
{
    if (!s->word)
        return UINT32_MAX;
    return (uint32_t)s->word[(antenna * s->words + w) * s->ld + (s->varies ? c : 0)];
}

/* The sequences that both antennas of a lane's pair can have. */
EC_FN uint32_t ec_path_lane_word(const ec_path_lanes *p, size_t lane, size_t w)
{
    if (p->n == 0)
        return UINT32_MAX;
    size_t pair = (p->first + lane) / p->n, c = (p->first + lane) % p->n;
    return ec_path_seen_word(&p->tx, pair % p->n_tx, c, w) &
           ec_path_seen_word(&p->rx, pair / p->n_tx, c, w);
}

/* Index of a frequency of a lane among wavelengths, and among sets of faces. */
EC_FN size_t ec_path_lane_table(const ec_path_lanes *p, size_t frequency, size_t lane)
{
    return frequency * p->tables + (p->tables > 1 ? (p->first + lane) % p->n : 0);
}

#endif
