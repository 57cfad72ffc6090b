/* mimo_sight_kernels.h: what is known of antennas from where they stand alone: whether antennas can
 * be there, and which sequences of interactions they can have. C17 and CUDA. */
#ifndef EC_MIMO_SIGHT_KERNELS_H
#define EC_MIMO_SIGHT_KERNELS_H

#include "mimo_kernels.h"
#include "path_sight.h"

/* The antennas of one end of the links. */
typedef struct ec_mimo_stand {
    ec_mimo_input at[3];
    size_t first, count; /* antennas that are looked at */
    size_t n, samples;   /* n: candidates */
    bool fixed;          /* checked when the call was made */
    double box[2][3];
    ec_path_view view;
    uint8_t *status;
    uint8_t outside, bad; /* bits of the status */
    const int32_t *stop;  /* see ec_exec; may be NULL */
} ec_mimo_stand;

typedef struct ec_mimo_sight {
    ec_mimo_stand stand;
    ec_path_sight sight;
    bool back; /* sequences end at these antennas */
    size_t n_sequences;
    const size_t *first; /* [n_sequences + 1] */
    const uint32_t *step;
    int shift; /* see ec_path_seen */
    size_t words;
    double *word; /* [count][words] */
    size_t ld, stride;
    bool varies;
} ec_mimo_sight;

EC_FN uint8_t ec_mimo_antenna_status(const ec_mimo_stand *a, const double p[3])
{
    if (!ec_mimo_in_box(a->box, p))
        return a->outside;
    return ec_mimo_is_on_surface(&a->view, p) || ec_mimo_is_inside(&a->view, p) ? a->bad : 0;
}

EC_FN void ec_mimo_stand_body(const ec_mimo_stand *a, size_t lane0, size_t y)
{
    (void)y;
    if (a->stop && *a->stop)
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l;
        uint8_t status = 0;
        double p[3];
        if (c >= a->n)
            break;
        for (size_t s = 0; s < a->samples; s++)
            for (size_t i = 0; i < a->count; i++) {
                ec_mimo_position(a->at, a->first + i, s, c, p);
                status |= ec_mimo_antenna_status(a, p);
            }
        a->status[c] |= status;
    }
}

/* Lane: (antenna - first) n + candidate; y: word and sample. */
EC_FN void ec_mimo_sight_body(const ec_mimo_sight *a, size_t lane0, size_t y)
{
    size_t n = a->stand.n, w = y % a->words, sample = y / a->words;

    if (a->stand.stop && *a->stand.stop)
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l, antenna = a->stand.first + lane / n, c = lane % n;
        uint32_t word = 0;
        double p[3];
        if (lane >= n * a->stand.count)
            break;
        ec_mimo_position(a->stand.at, antenna, sample, c, p);
        size_t begin = w << 5 << a->shift, end = (w + 1) << 5 << a->shift;
        for (size_t i = begin; i < end && i < a->n_sequences; i++) {
            uint32_t bit = (uint32_t)1 << ((i >> a->shift) & 31);
            if (!(word & bit) &&
                ec_path_in_sight(&a->sight, (int32_t)(a->first[i + 1] - a->first[i]),
                                 a->step + a->first[i], a->back, p))
                word |= bit;
        }
        a->word[sample * a->stride + (antenna * a->words + w) * a->ld + (a->varies ? c : 0)] = word;
    }
}

#endif
