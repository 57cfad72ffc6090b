/* fdtd_build_internal.h: a candidate's domain before it goes to the backend: lines, inverse spacings and
 * absorbing coefficients, objects, loads, sources and probes. */
#ifndef EC_FDTD_BUILD_INTERNAL_H
#define EC_FDTD_BUILD_INTERNAL_H

#include "fdtd_lines_internal.h"
#include "fdtd_raster_internal.h"

EC_C_BEGIN

/* Probes of a port: its voltage, known at s + 1 in units of dt after step s, and its current, at s +
 * 1/2. */
enum { EC_FDTD_VOLTAGE, EC_FDTD_THROUGH, EC_FDTD_PORT_PROBES };

/* What is the same for all candidates of a call. */
typedef struct ec_fdtd_setup {
    const ec_fdtd_model *model;
    const ec_fdtd_line_plan *lines;
    ec_fdtd_shape shape;
    bool magnetic; /* there are magnetic materials */
    int32_t n_probes;
    double pulse_centre, pulse_width; /* Hz: the spectrum is 20 dB down at centre +- width */
    ec_fdtd_pulse_kind pulse;
} ec_fdtd_setup;

typedef struct ec_fdtd_build {
    double *line[3]; /* [n + 1], m */
    double end[3][2];
    double dt;                 /* s */
    double *id_e[3], *id_h[3]; /* as in ec_fdtd_domain */
    double *be[3], *ce[3], *bh[3], *ch[3];
    int32_t n_solids, n_media, n_points, n_loads;
    ec_fdtd_solid *solid;
    ec_fdtd_medium *medium;
    double *point; /* pairs */
    ec_fdtd_load *load;
    int32_t n_e_terms, n_h_terms;
    ec_fdtd_term *e_term, *h_term;
    int32_t *n_sources; /* [port] with this port driven */
    ec_fdtd_source **source;
    int64_t n_wave;
    double *wave;
} ec_fdtd_build;

/* Fills setup from a model and its line plan, which it borrows. */
void ec_fdtd_setup_init(const ec_fdtd_model *model, const ec_fdtd_line_plan *lines,
                        ec_fdtd_setup *setup);
/* values: the candidate's numbers. A candidate that cannot be built is an error with a sentence. */
int ec_fdtd_build_create(const ec_fdtd_setup *setup, const double *values, ec_fdtd_build **build);
void ec_fdtd_build_destroy(const ec_fdtd_setup *setup, ec_fdtd_build **build);

EC_C_END
#endif
