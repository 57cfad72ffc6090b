/* antenna.c: antennas brought to their gain. */
#include "antenna.h"

#include "../../core/status.h"

static int finish(const ec_element_frame *frame, ec_antenna *antenna)
{
    static const ec_element_frame scene = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ec_element_gain gain;

    ec_element_gain_of(&antenna->pattern, &gain);
    if (!(gain.power > 0))
        return ec_fail(EC_ERR_ARGUMENT, "an antenna's pattern is zero in every direction");
    antenna->scale = sqrt(4 * EC_PI / gain.power);
    antenna->frame = frame ? *frame : scene;
    return EC_OK;
}

int ec_antenna_init(ec_element_kind kind, double q, const double axis[3],
                    const ec_element_frame *frame, ec_antenna *antenna)
{
    static const double z[3] = {0, 0, 1};
    /* the isotropic one's axis is checked and made a unit vector as a dipole's */
    bool isotropic = kind == EC_ELEMENT_KIND_ISOTROPIC;
    ec_element_kind checked = isotropic ? EC_ELEMENT_KIND_SHORT_DIPOLE : kind;
    ec_antenna made;

    int status = ec_element_pattern_init(checked, q, axis ? axis : z, &made.pattern);
    if (status < 0)
        return status;
    made.pattern.kind = kind;
    status = finish(frame, &made);
    if (status >= 0)
        *antenna = made;
    return status;
}

int ec_antenna_init_table(const ec_element_pattern *table, const ec_element_frame *frame,
                          ec_antenna *antenna)
{
    ec_antenna made;

    made.pattern = *table;
    int status = finish(frame, &made);
    if (status >= 0)
        *antenna = made;
    return status;
}
