/* fdtd_far_internal.h: far fields of the currents on a box.
 *
 * E_theta = -jk e^(-jkr) / (4 pi r) (L_phi + eta N_theta), E_phi = jk e^(-jkr) / (4 pi r) (L_theta - eta
 * N_phi), N and L the sums of J and M area e^(jk r . r') (A. Taflove and S. C. Hagness 2005, section 8.6).
 * J and M of a pair are half a cell d apart along the face's normal n (fdtd_box_internal.h), so a wave
 * that goes on towards r comes out cos(k d n . r / 2) times too small: that is divided out. Electric and
 * magnetic walls at the box give images. */
#ifndef EC_FDTD_FAR_INTERNAL_H
#define EC_FDTD_FAR_INTERNAL_H

#include "fdtd_box_internal.h"

EC_C_BEGIN

/* What a domain's faces hold at the end. */
typedef struct ec_fdtd_faces {
    const ec_fdtd_pair *pair;
    int32_t n;
    int32_t n_frequencies;
    const void *sum; /* as in ec_fdtd_surface */
    bool double_precision;
} ec_fdtd_faces;

/* r e^(jkr) E_theta and E_phi towards n directions (theta, phi), V s: [n][2]. f: of the faces'
 * frequencies, that is `frequency` Hz. */
int ec_fdtd_far_fields(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                       const ec_fdtd_faces *faces, int32_t f, double frequency, int32_t n,
                       const double (*direction)[2], ec_c128 (*to)[2]);
/* Whether there is nothing in a direction (theta, phi): a ground is between; symmetry as in ec_fdtd_far. */
bool ec_fdtd_far_is_behind(const ec_fdtd_config *config, const bool *symmetry,
                           const double *direction);
/* 1/2 Re sum area E H*: power that leaves the domain's part of the box, W s^2. */
double ec_fdtd_far_power(const ec_fdtd_build *build, const ec_fdtd_faces *faces, int32_t f);

EC_C_END
#endif
