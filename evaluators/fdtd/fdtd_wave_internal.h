/* fdtd_wave_internal.h: a candidate's incident plane wave.
 *
 * Along its direction the wave runs on a line of its own, a Yee grid of one dimension with the domain's
 * time step. Along an axis of the grid its nodes are the domain's, and what it has is what the
 * domain would have: an empty box stays empty but for rounding. In any other direction p its cells are
 * all sqrt(sum d_i^2 p_i^4) long, which gives the line the domain's phase velocity up to terms of
 * (k d)^4 (in the manner of T. Guiffaut and K. Mahdjoubi, Antennas Propag. Soc. Symp., 2000), read by six
 * points; E and H are turned to be across the grid's wave vector in the middle of the band. */
#ifndef EC_FDTD_WAVE_INTERNAL_H
#define EC_FDTD_WAVE_INTERNAL_H

#include "fdtd_box_internal.h"

EC_C_BEGIN

typedef struct ec_fdtd_plane_wave {
    int64_t steps;
    int32_t n[2], taps, width;
    ec_fdtd_entry *entry[2]; /* as in ec_fdtd_incidence */
    double *weight[2], *line[2];
    double start; /* p . r of the line's first node, m */
} ec_fdtd_plane_wave;

/* values: the candidate's numbers. */
int ec_fdtd_plane_wave_create(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                              const double *values, ec_fdtd_plane_wave **wave);
void ec_fdtd_plane_wave_destroy(ec_fdtd_plane_wave **wave);
/* Bytes on the backend. */
size_t ec_fdtd_plane_wave_bytes(const ec_fdtd_plane_wave *wave, size_t real);
/* Spectrum of the incident field at the origin, V s / m. */
ec_c128 ec_fdtd_plane_wave_spectrum(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                                    const ec_fdtd_plane_wave *wave, double frequency);

EC_C_END
#endif
