/* mimo_design.h: the channels of one design as files: where its antennas are, H, the paths behind
 * it, maps over receivers.
 *
 *   ec_mimo_design_create      evaluates positions and H
 *   ec_mimo_design_write_antennas
 *   ec_mimo_design_write_channel
 *   ec_mimo_design_paths       follows the design's paths, on the host
 *   ec_mimo_paths_write
 *   ec_mimo_design_map         gain, received power and capacity of each receiver
 *
 * Everything is computed at final fidelity; of several samples (ec.over) it is the first one.
 * Receivers, antennas and paths count from 1 in files. Functions add nodes to the call's graph.
 */
#ifndef EC_MIMO_DESIGN_H
#define EC_MIMO_DESIGN_H

#include "../../core/solve.h"
#include "mimo.h"

EC_C_BEGIN

/* Which design: the best one of a search, or, with job and result NULL, that of a call without
 * design variables. */
typedef struct ec_mimo_winner {
    ec_graph *graph;
    const ec_job *job;       /* on that graph */
    const ec_result *result; /* found a design */
    ec_backend *backend;     /* computes H */
    ec_call *call;           /* of ec_mimo_call, on the graph */
} ec_mimo_winner;

typedef struct ec_mimo_design {
    ec_mimo_winner winner;
    int32_t n_tx, n_rx, receivers, n_frequencies; /* n_rx: of each receiver */
    double *frequency;                            /* Hz, of the first sample */
    double (*tx)[3], (*rx)[3];                    /* m; [n_tx], [receivers n_rx] */
    ec_c128 *h;                                   /* [n_frequencies][receivers][n_rx][n_tx] */
    int32_t samples;                              /* of which it is the first */
    bool tx_sampled, rx_sampled;                  /* places differ between samples */
    int threads;                                  /* for following paths */
} ec_mimo_design;

/* ERR_RANGE: the design's channels cannot be computed, for an antenna is where none can be. */
EC_API int ec_mimo_design_create(const ec_mimo_winner *winner, ec_mimo_design **design);
EC_API void ec_mimo_design_destroy(ec_mimo_design **design);

/* Where the antennas of an end are at the design, m, [count]; malloc'ed. *sampled (may be NULL): whether
 * places differ between samples, of which these are the first one's. */
EC_API int ec_mimo_design_places(const ec_mimo_winner *winner, bool receives, double (**at)[3],
                                 int32_t *count, bool *sampled);

/* A .csv with a row an antenna: link (the number that is given, for tables of several), side (tx or
 * rx), receiver (empty for tx), antenna (that of columns tx and rx in other files), x_m, y_m, z_m;
 * pattern (isotropic, halfwave, short, cosq, hemispheric, table); axis_x, axis_y, axis_z and up_x, up_y,
 * up_z, unit vectors, the latter empty where an antenna is the same all around its axis; sample, empty
 * where places are the same in all samples, else 1. */
EC_API int ec_mimo_design_write_antennas(const ec_mimo_design *design, int32_t link,
                                         const char *path);

/* H by the ending of the name. .npy: complex128 [frequency][receiver][rx][tx], always four axes.
 * .csv: a row an entry: frequency_hz, receiver, rx, tx, re, im, gain_db, which is 20 log10 |h|,
 * phase_deg. */
EC_API int ec_mimo_design_write_channel(const ec_mimo_design *design, const char *path);

/* Which paths of each pair of antennas. */
typedef struct ec_mimo_path_limits {
    int32_t strongest; /* so many; 0: all */
    double floor_db;   /* those at most so far below the pair's strongest, >= 0; INFINITY: all */
} ec_mimo_path_limits;

/* Pairs of antennas times sequences: what following all paths of a design costs. */
EC_API double ec_mimo_design_work(const ec_mimo_design *design);

typedef struct ec_mimo_paths ec_mimo_paths;

/* The paths of all pairs, by receiver, rx and tx, the strongest first (sum of |h|^2 over the
 * frequencies; of equal ones the one whose sequence comes first, path.h). Without limits their
 * gains sum up to H, that of the antennas without coupling. ERR_UNSUPPORTED: there are more than
 * 2,000,000. */
EC_API int ec_mimo_design_paths(const ec_mimo_design *design, const ec_mimo_path_limits *limits,
                                ec_mimo_paths **paths);
EC_API void ec_mimo_paths_destroy(ec_mimo_paths **paths);
EC_API size_t ec_mimo_paths_count(const ec_mimo_paths *paths);

/* By the ending of the name.
 * .csv  a row a path: receiver, rx, tx, path (1: the strongest of the pair), interactions (how
 *       many), kinds ("reflection", "diffraction", "transmission"), parts ("OBJECT/part 3", the
 *       number in files of the scene, or "OBJECT/wedge 1") and points ("x y z", m) in their order,
 *       each list with ";" between; length_m, delay_s; directions of departure and towards the
 *       place that the wave arrives from, azimuth from x to y and elevation from the x-y plane;
 *       grazing (1: near grazing at a curved surface, path.h, at the lowest frequency); and for
 *       each frequency frequency_hz, re, im, gain_db, phase_deg of the gain between the antennas; of
 *       several frequencies these are frequency_hz[1], ... phase_deg[1], frequency_hz[2], ...
 * .vtk  legacy ASCII polydata: a line a path from its transmitter to its receiver, with these
 *       figures as data of the cells, gain_db and phase_deg at the first frequency
 * .ply  the scene's triangles, and behind them edges for the segments of paths, with receiver, rx,
 *       tx, path and gain_db. */
EC_API int ec_mimo_paths_write(const ec_mimo_paths *paths, const char *path);

/* What a map shows of each receiver beside what it always does. */
typedef struct ec_mimo_map_column {
    const char *name; /* of the column; endings _db, _dbm and _bit_s_hz tell the unit */
    /* Real, [receivers][...] or [n_frequencies][receivers][...], of which the mean is shown. */
    ec_expr value;
} ec_mimo_map_column;

/* folder/name.csv and a picture of each column over the receivers' places (output_map.h):
 * path_gain_db, 10 log10 of the mean of |h|^2 over the receiver's pairs and the frequencies (-inf:
 * no path); with a link budget received_dbm, of the power of all transmitters together, and
 * capacity_bit_s_hz, with these powers, the mean over the frequencies (of up to 64 x 64 antennas);
 * then the other columns. A receiver's place is the middle of its antennas. Triangles are the
 * transmitters. ERR_SHAPE: a column is not one of the receivers; ERR_ARGUMENT: two have one name. */
EC_API int ec_mimo_design_map(const ec_mimo_design *design, const char *title, int32_t n_columns,
                              const ec_mimo_map_column *column, const char *folder,
                              const char *name, ec_log *log);

EC_C_END

#endif
