/* fdtd_drive_internal.h: what a domain's fields are for, at one frequency. */
#ifndef EC_FDTD_DRIVE_INTERNAL_H
#define EC_FDTD_DRIVE_INTERNAL_H

#include "fdtd_waves_internal.h"

EC_C_BEGIN

typedef struct ec_fdtd_drive {
    /* Fields over this are those for a wave of 1 sqrt(W) into the port (of 1/2 |a|^2), for 1 A of a
     * current source, for 1 V/m of the plane wave. */
    ec_c128 unit;
    double accepted; /* power that the port or source gives, W s^2; of the plane wave 0 */
    double offered;  /* 1/2 |unit|^2 */
    bool known;      /* the pulse has something here */
} ec_fdtd_drive;

/* Ports that have a resistance, so that waves go into them. */
bool ec_fdtd_has_waves(const ec_fdtd_port *port);
/* Whether the pulse has too little at a frequency, Hz: results there are NaN. */
bool ec_fdtd_is_silent(const ec_fdtd_setup *setup, double frequency);
/* Of the domain that j drives (a port or EC_FDTD_WAVE) at frequency f of the config; wave: that of
 * ec_fdtd_waves. */
ec_fdtd_drive ec_fdtd_drive_of(const ec_fdtd_setup *setup, const ec_fdtd_result *result,
                               const ec_fdtd_wave *wave, int32_t j, int32_t f);

EC_C_END
#endif
