/* path_channels.h: the channels of many pairs of antennas on a backend, along sequences that were
 * enumerated or discovered beforehand (path.h).
 *
 * Invariants: a pair's numbers are the same bits for any number of pairs and at any place among
 * them, and for any number of threads; on a GPU they agree with the CPU's to rounding. */
#ifndef EC_PATH_CHANNELS_H
#define EC_PATH_CHANNELS_H

#include "../../core/backend.h"
#include "path_antennas.h"
#include "path_field.h"
#include "path_lanes.h"

EC_C_BEGIN

typedef struct ec_path_channels ec_path_channels;

/* Copies what tracing needs to the backend. The plan and the backend must outlive it; the sequences
 * may go.
 * frequency: [n_frequencies] Hz; 0 of them: runs bring theirs. Errors of ec_path_faces; ERR_ARGUMENT for a frequency that is
 * not positive; ERR_MEMORY. */
EC_API int ec_path_channels_create(const ec_path_plan *plan, const ec_path_sequences *sequences,
                                   int32_t n_frequencies, const double *frequency,
                                   ec_backend *backend, ec_path_channels **channels);
EC_API void ec_path_channels_destroy(ec_path_channels **channels);

/* Which moments of the paths (path_moments.h) the next runs give too, a bit each; none at first. */
EC_API void ec_path_channels_want(ec_path_channels *channels, uint32_t moments);

/* Bytes of workspace for n pairs; the same before there are channels. */
EC_API size_t ec_path_channels_workspace(const ec_path_channels *channels, size_t n);
EC_API size_t ec_path_channels_bytes(const ec_path_sequences *sequences, int32_t n_frequencies,
                                     uint32_t moments, size_t n);
/* What tracing reads, on the backend (path_occlusion.h). */
EC_API const struct ec_path_view *ec_path_channels_view(const ec_path_channels *channels);

/* Pair c goes from tx_at[k * ld + c] to rx_at[k * ld + c], k = 0 to 2, ld = ec_lane_ld(n). sum:
 * [2 n_frequencies + 3][ld], rows real and imaginary part of h for each frequency, then how many
 * paths there are, how many of them are grazing at the lowest frequency ((ka/2)^(1/3) cos i below
 * 1), and how many sequences were not resolved; then the wanted moments, [n_frequencies][their
 * number][ld] in their order. All memory is the backend's. */
EC_API int ec_path_channels_run(ec_path_channels *channels, const ec_path_antennas *tx,
                                const ec_path_antennas *rx, const double *tx_at,
                                const double *rx_at, size_t n, void *workspace, double *sum);

/* What the pairs of a run have of their own. */
typedef struct ec_path_own {
    ec_path_lanes lanes;
    int32_t n_frequencies; /* of this run's tables; 0: those of the channels */
    double longest;        /* wavelength of these, m, for what is grazing */
    const int32_t *stop;   /* see ec_exec; may be NULL */
} ec_path_own;

/* The same; own may be NULL. The workspace is that of own's number of frequencies. */
EC_API int ec_path_channels_run_lanes(ec_path_channels *channels, const ec_path_antennas *tx,
                                      const ec_path_antennas *rx, const double *tx_at,
                                      const double *rx_at, size_t n, const ec_path_own *own,
                                      void *workspace, double *sum);

EC_C_END
#endif
