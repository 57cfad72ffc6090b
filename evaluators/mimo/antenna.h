/* antenna.h: the field that an antenna launches in a direction, and with the same numbers what it
 * receives from there.
 *
 * The field g of a direction d (unit, away from the antenna) is transverse to d, |g|^2 the gain
 * there, the same for both uses: in free space h = wavelength / (4 pi r) g_t(d) . g_r(-d) e^(-jkr),
 * neither conjugated, so transmitter and receiver may be exchanged. Antennas are lossless and
 * matched: the mean of |g|^2 over the sphere is 1.
 *
 *   isotropic     |g| = 1 in every direction; along the part of `axis` across d, that is, of the
 *                 direction of a dipole along the axis. No field has that everywhere: in the
 *                 direction of the axis itself it is the x of the least rotation that takes z to the
 *                 axis, against it the opposite, as on the great circle through x, so that a ray
 *                 along the axis and its echo agree. Near there it turns quickly; gains between two such antennas are meant for
 *                 rays across the axis.
 *   short dipole, half-wave dipole    along `axis`; gains 1.5 and 1.641
 *   cos^q         about the frame's z, polarised along its x (Ludwig's third definition)
 *   hemispheric, table                as in core/element_pattern.h
 *
 * A dipole's field is along theta^ of its axis: two parallel dipoles side by side receive with the
 * phase of the free path. */
#ifndef EC_ANTENNA_H
#define EC_ANTENNA_H

#include "../../core/element_pattern.h"
#include "wavefront.h"

/* Plain data; a copy whose table's pointers are the device's serves there. */
typedef struct ec_antenna {
    ec_element_pattern pattern; /* in the antenna's own axes */
    ec_element_frame frame;     /* of these, in the scene's coordinates */
    double scale;               /* the pattern's field times it is g */
} ec_antenna;

EC_C_BEGIN

/* An antenna in closed form. q: that of cos^q; axis (any length > 0; NULL: z): of the isotropic one's
 * polarization and of dipoles, in the antenna's own axes; frame: NULL for those of the scene.
 * ERR_ARGUMENT as in ec_element_pattern_init, and for a table. */
EC_API int ec_antenna_init(ec_element_kind kind, double q, const double axis[3],
                           const ec_element_frame *frame, ec_antenna *antenna);
/* From a table, whose coefficients are borrowed. ERR_ARGUMENT when its field is zero. */
EC_API int ec_antenna_init_table(const ec_element_pattern *table, const ec_element_frame *frame,
                                 ec_antenna *antenna);

EC_C_END

/* The isotropic antenna's field in its own axes. */
EC_FN void ec_antenna_isotropic(const double axis[3], const double d[3], double e[3])
{
    double c = ec_dot3(axis, d), across[3];

    for (int i = 0; i < 3; i++)
        across[i] = c * d[i] - axis[i];
    double sine = sqrt(ec_dot3(across, across));
    if (sine < 1e-12) {
        ec_element_co_vector(axis[0], axis[1], axis[2], e);
        for (int i = 0; i < 3 && c < 0; i++)
            e[i] = -e[i];
        return;
    }
    for (int i = 0; i < 3; i++)
        e[i] = across[i] / sine;
}

EC_FN void ec_antenna_field(const ec_antenna *antenna, const double d[3], ec_c128 g[3])
{
    const ec_element_frame *f = &antenna->frame;

    if (antenna->pattern.kind == EC_ELEMENT_KIND_ISOTROPIC) {
        double own[3], e[3];
        ec_element_to_local(f, d[0], d[1], d[2], own);
        ec_antenna_isotropic(antenna->pattern.axis, own, e);
        for (int i = 0; i < 3; i++)
            g[i] = ec_c128_of(f->x[i] * e[0] + f->y[i] * e[1] + f->z[i] * e[2], 0.0);
        return;
    }
    ec_element_vector_in_f64(&antenna->pattern, f, d[0], d[1], d[2], g);
    for (int i = 0; i < 3; i++)
        g[i] = ec_c128_scale(antenna->scale, g[i]);
}

/* A ray that leaves an antenna. */
EC_FN void ec_antenna_launch(const ec_antenna *antenna, const double direction[3], ec_wavefront *w)
{
    ec_c128 g[3];

    ec_antenna_field(antenna, direction, g);
    ec_wavefront_source(direction, g, w);
}

/* The channel of a ray that has arrived: |h|^2 is the path gain. */
EC_FN ec_c128 ec_antenna_receive(const ec_antenna *antenna, const ec_wavefront *w,
                                 double wavelength)
{
    double back[3];
    ec_c128 g[3];

    for (int i = 0; i < 3; i++)
        back[i] = -w->direction[i];
    ec_antenna_field(antenna, back, g);
    return ec_wavefront_receive(*w, g, wavelength);
}

#endif
