/* mimo.h: channels between antennas in a scene, as expressions: positions in, the matrix H out.
 *
 * H has the shape [frequency][receiver][n_rx][n_tx] without those of the first two that are 1; h =
 * (wavelength / 4 pi r) g_t . g_r e^(-jkr) for the free path, |h|^2 = path gain. Paths are line of
 * sight, reflections, diffractions and transmissions (path.h).
 *
 * What sequences of interactions there can be is settled when the call is made, for all places
 * within the box of each end: the ranges of the positions, unless given. So a design's channels
 * depend on the call and its positions alone. A candidate fails with an antenna outside of its
 * box, inside a solid, on a surface, or a receiver at a transmitter; fixed antennas of this kind
 * are errors of the call. */
#ifndef EC_MIMO_H
#define EC_MIMO_H

#include "../../core/element_pattern.h"
#include "../../core/evaluator.h"

EC_C_BEGIN

struct ec_scene;

typedef struct ec_mimo_antenna {
    ec_element_kind kind;
    const ec_element_pattern *table; /* of a table; its coefficients outlive all use of the call */
    double q;                        /* of cos^q */
    /* Dipoles: along it; isotropic: the polarization; others: where their own z points. Any length
     * > 0. */
    double axis[3];
    /* cos^q, hemispheric, table: where their own x points, as near as the axis allows; cos^q and
     * hemispheric are polarised along it. 0: turned by the least rotation that takes z to the axis. */
    double up[3];
} ec_mimo_antenna;

typedef struct ec_mimo_end {
    ec_expr at[3];               /* x, y, z in m, one number or one for each antenna */
    int32_t count;               /* antennas, of all receivers */
    double box[2][3];            /* where they may be; NAN: by the range of the positions */
    ec_mimo_antenna antenna;     /* of all, */
    const ec_mimo_antenna *each; /* or [count], each its own: copied; else NULL */
    /* Scattering matrix of the antennas (rx: of each receiver's), or of each run of as many as it has
     * ports: H becomes (I - S_rx) H (I - S_tx). One frequency of 0 Hz: the same at all. Copied; NULL: no
     * coupling. */
    const ec_touchstone *coupling;
} ec_mimo_end;

typedef enum ec_mimo_search { EC_MIMO_AUTO, EC_MIMO_EXHAUSTIVE, EC_MIMO_LAUNCHED } ec_mimo_search;

typedef struct ec_mimo_config {
    const struct ec_scene *scene; /* borrowed; outlives all use of the call */
    ec_mimo_end tx, rx;
    int32_t receivers; /* 1 or more; rx.count is a multiple */
    int32_t n_frequencies;
    const double *frequency; /* Hz; copied */
    /* Instead of these, in Hz, a number or a list, on any axes; -1: the list. Where positions do not
     * depend on the sample, paths are traced once for many of them. */
    ec_expr frequencies;
    int32_t depth, diffractions, transmissions;
    bool inner_wedges;
    ec_mimo_search search;
    int32_t rays; /* from each place, of a launched search */
    /* Link budget: of all transmitters together, and of a receiver's noise; NAN: none. Channels do
     * not depend on it; maps of a design do (mimo_design.h). */
    double power_dbm, noise_dbm;
    /* [tx.count], the part of the power that each transmitter has, their sum 1; copied; NULL: alike. */
    const double *power_share;
} ec_mimo_config;

typedef enum ec_mimo_output {
    EC_MIMO_CHANNEL,    /* H */
    EC_MIMO_PATHS,      /* how many, [receiver][n_rx][n_tx] */
    EC_MIMO_GRAZING,    /* of them inexact ones, at the lowest frequency that can be (path.h) */
    EC_MIMO_UNRESOLVED, /* sequences that no method was there for (path.h) */
    /* Of the paths of each pair, [frequency][receiver][n_rx][n_tx]; their definitions and how right
     * they are: path_moments.h. Without paths K is -150 dB and the others are 0. */
    EC_MIMO_K_FACTOR_DB,       /* strongest path over all others, at most 150 */
    EC_MIMO_MEAN_DELAY,        /* s, from the transmitter */
    EC_MIMO_DELAY_SPREAD,      /* s, RMS */
    EC_MIMO_TX_AZIMUTH_SPREAD, /* rad, RMS, circular */
    EC_MIMO_TX_ELEVATION_SPREAD,
    EC_MIMO_RX_AZIMUTH_SPREAD,
    EC_MIMO_RX_ELEVATION_SPREAD,
    EC_MIMO_GRAZING_SHARE, /* of the inexact paths in the sum of all |h|, 0 to 1 */
    EC_MIMO_OUTPUTS
} ec_mimo_output;

/* Isotropic antennas along z, one receiver, depth 3, no diffraction, 100,000 rays; no positions. */
EC_API void ec_mimo_config_default(ec_mimo_config *config);

/* Records a call. Errors name what is wrong with a sentence: also a material without figures at the
 * ends of what the frequencies can be. */
EC_API int ec_mimo_call(ec_graph *graph, const ec_mimo_config *config, ec_call **call);
EC_API ec_expr ec_mimo_value(ec_graph *graph, ec_call *call, ec_mimo_output output);
/* What the call's waves meet; borrowed. */
EC_API const struct ec_scene *ec_mimo_scene(const ec_call *call);
/* What sequences there are and how they were found, in a line. */
EC_API void ec_mimo_describe(const ec_call *call, char *text, size_t size);
/* Its plans need not log that line: who reads it has it. */
EC_API void ec_mimo_told(ec_call *call);
/* Whether a limit cut sequences off: paths may be missing. */
EC_API bool ec_mimo_is_cut(const ec_call *call);
/* The lowest and the highest frequency that there can be, Hz. */
EC_API void ec_mimo_frequency_range(const ec_call *call, double range[2]);
/* The least distance in m that two antennas of one array whose coupling is not given can have, as far as
 * can be told: 0 where the ranges of their positions overlap; INFINITY for single
 * antennas. */
EC_API double ec_mimo_least_spacing(const ec_call *call);

EC_API extern const ec_evaluator_def ec_evaluator_mimo;

EC_C_END

#endif
