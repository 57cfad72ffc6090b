/* fdtd_network.h: the S-parameters of one design of a model as files.
 *
 * A port of a line without a resistance has waves of the line's own impedance; its reference in a file is
 * that impedance in the middle of the frequencies. Everything is computed at final fidelity; of several samples (ec.over) it is the first one. Functions
 * add nodes to the call's graph. */
#ifndef EC_FDTD_NETWORK_H
#define EC_FDTD_NETWORK_H

#include "../../core/element_files.h"
#include "../../core/solve.h"
#include "fdtd.h"

EC_C_BEGIN

/* Which design: the best one of a search, or, with job and result NULL, the one that has the genes, or that
 * of a call without design variables. */
typedef struct ec_fdtd_winner {
    ec_graph *graph;
    const ec_job *job;       /* on that graph */
    const ec_result *result; /* found a design */
    ec_backend *backend;     /* computes S */
    ec_call *call;           /* of ec_fdtd_call, on the graph */
    /* With result NULL: a design's own genes, or NULL. */
    const double *genes, *group_genes;
    size_t n_genes, n_group_genes;
    bool at_search; /* a view is of the search's grid, not of that of final fidelity */
} ec_fdtd_winner;

typedef struct ec_fdtd_network {
    ec_touchstone s;          /* all of it is owned */
    char **name;              /* [n_ports] */
    int32_t *port;            /* [n_ports]: which of the call's ports, from 0 */
    double *steps, *decay_db; /* [n_ports] of the run with each port driven */
    int32_t samples;          /* of which it is the first */
    double *waves;            /* [frequency][n_ports] ohm, to which the waves of s refer */
} ec_fdtd_network;

/* A real number of the call's graph at the design, of the first sample. */
EC_API int ec_fdtd_winner_number(const ec_fdtd_winner *winner, ec_expr expr, double *value);
/* Ports with waves. */
EC_API int32_t ec_fdtd_port_count(const ec_call *call);
/* ERR_RANGE: the design cannot be computed. ERR_ARGUMENT: the model has no port. */
EC_API int ec_fdtd_network_create(const ec_fdtd_winner *winner, ec_fdtd_network **design);
/* One whose S is to be filled in: names, frequencies, and resistances of the ports. ERR_UNSUPPORTED: one depends
 * on the design, or is the line's own. */
EC_API int ec_fdtd_network_fixed(const ec_call *call, ec_fdtd_network **design);
EC_API void ec_fdtd_network_destroy(ec_fdtd_network **design);
/* Turns S and the references to `ohms` at all ports: with a port's waves a, b of R, those of R' are a' =
 * ((R + R') a + (R - R') b) / (2 sqrt(R R')), b' = ((R - R') a + (R + R') b) / (2 sqrt(R R')) (Kurokawa
 * 1965). ERR_RANGE: ohms is not above 0. */
EC_API int ec_fdtd_network_renormalize(ec_fdtd_network *design, double ohms);
/* A line in the log: steps and decay of the runs, the largest sum of |S_ij|^2 over i, and with several ports the largest
 * |S_ij - S_ji|. A warning where the structure would give power. name: of the file. */
EC_API void ec_fdtd_network_say(const ec_fdtd_network *design, const char *name, ec_log *log);
/* By the ending of the name: .sNp (Touchstone), or .csv, a row a frequency: frequency_hz, and for each
 * pair of ports s_I_J_re, s_I_J_im, s_I_J_db, s_I_J_phase_deg, column J first. */
EC_API int ec_fdtd_network_write(const ec_fdtd_network *design, const char *path);
/* Of NAME.csv that was written: NAME_db.gp and, by gnuplot, NAME_db.png beside it, all S_ij with i >= j in dB over
 * frequency; the log says why there is no picture. Nothing for a single frequency. */
EC_API int ec_fdtd_network_plot(const ec_fdtd_network *design, const char *path, ec_log *log);

EC_C_END

#endif
