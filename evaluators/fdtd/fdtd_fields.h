/* fdtd_fields.h: fields of one design on a plane and far fields in all directions, as files.
 *
 * A design's domain is run once more for them, at final fidelity; of several samples (ec.over) it is the
 * first one. Phasors are peak values, for a wave of 1 sqrt(W) into the port (of 1/2 |a|^2), for 1 A of a
 * current source, for 1 V/m of the plane wave; e^(+jwt). Functions may add nodes to the call's graph. */
#ifndef EC_FDTD_FIELDS_H
#define EC_FDTD_FIELDS_H

#include "fdtd_network.h"

EC_C_BEGIN

/* Which frequencies: of the config's, from 0. */
typedef struct ec_fdtd_plane_info {
    int axis;   /* that the plane is across */
    ec_expr at; /* m, a real number */
    int32_t j;  /* driven port or EC_FDTD_WAVE */
    int32_t n_frequencies;
    const int32_t *frequency;
} ec_fdtd_plane_info;

/* E and H at the middles of the grid's faces in the plane: along the grid they are means of their neighbours,
 * across the plane linear between the two places where the grid has them. Absorbing layers are left out. */
typedef struct ec_fdtd_plane {
    int axis, u, v;  /* across; those of the plane, ascending */
    double at;       /* m */
    int32_t n[2];    /* faces along u and v */
    double *line[2]; /* [n + 1] m */
    int32_t n_frequencies;
    double *frequency; /* Hz */
    ec_c128 *e,
        *h; /* [frequency][v][u][3]: V/m, A/m over the drive; NaN where the pulse is silent */
} ec_fdtd_plane;

/* ERR_RANGE: the design cannot be computed, or the plane is outside of its domain. */
EC_API int ec_fdtd_plane_create(const ec_fdtd_winner *winner, const ec_fdtd_plane_info *info,
                                ec_fdtd_plane **plane);
EC_API void ec_fdtd_plane_destroy(ec_fdtd_plane **plane);
/* By the ending of the name: .vtr (VTK, data of cells: e_re, e_im, h_re, h_im vectors, e_abs, h_abs, power: 1/2
 * Re E x H*; names of further frequencies end in _2, ...), .csv (a row a frequency and face), .png (|E| and |H|
 * by gnuplot from NAME.gp). */
EC_API int ec_fdtd_plane_write(const ec_fdtd_plane *plane, const char *path, ec_log *log);

typedef struct ec_fdtd_pattern_info {
    int32_t j;
    int32_t n_frequencies;
    const int32_t *frequency;
    int32_t n_theta, n_phi;
    const double *theta, *phi; /* rad, ascending */
    bool symmetry[3];          /* as in ec_fdtd_far */
} ec_fdtd_pattern_info;

typedef struct ec_fdtd_pattern {
    int32_t n_theta, n_phi, n_frequencies;
    double *theta, *phi, *frequency;
    ec_c128 *e_theta, *e_phi; /* [frequency][theta][phi] r E, V over the drive */
    /* [frequency] W over the drive: radiated, accepted (0: of the plane wave), offered (0: there is no
     * resistance that offers it) */
    double *radiated, *accepted, *offered;
} ec_fdtd_pattern;

EC_API int ec_fdtd_pattern_create(const ec_fdtd_winner *winner, const ec_fdtd_pattern_info *info,
                                  ec_fdtd_pattern **pattern);
EC_API void ec_fdtd_pattern_destroy(ec_fdtd_pattern **pattern);
/* A line a frequency in the log: the largest directivity and where it is, gain, efficiency. A warning where
 * more is radiated than the port takes. */
EC_API void ec_fdtd_pattern_say(const ec_fdtd_pattern *pattern, const char *name, ec_log *log);
/* By the ending of the name: .ffd; .cut (of one frequency); .csv (a row a frequency and direction: fields,
 * directivity_dbi, gain_dbi, realized_gain_dbi); .png (directivity by gnuplot from NAME.gp and
 * NAME.csv, of further frequencies NAME_2 ...). */
EC_API int ec_fdtd_pattern_write(const ec_fdtd_pattern *pattern, const char *path, ec_log *log);

EC_C_END

#endif
