/* element_pattern.h: the vector field of one element in a direction, in closed form or from a
 * table, for kernels on the CPU and on CUDA.
 *
 * A direction is a unit vector (x, y, z) = (sin th cos ph, sin th sin ph, cos th); the field is its
 * far field without exp(-jkr)/r, as Cartesian components or as (E_theta, E_phi). An element has
 * axes of its own (ec_element_frame), z its normal.
 *
 *   isotropic     |E| = 1
 *   hemispheric   |E| = 1 for z > 0, else 0
 *   cosq          |E| = z^q for z > 0, else 0
 *   short dipole  |E| = sin a, a the angle from the axis
 *   half-wave     |E| = cos(pi/2 cos a) / sin a
 *   table         a far field from a file or a program (ec_element_table_create)
 *
 * The first three are polarised along x by Ludwig's third definition: E_theta = |E| cos ph,
 * E_phi = -|E| sin ph, no cross-polar field (A. C. Ludwig, "The definition of cross polarization",
 * IEEE Trans. Antennas Propag. 21, 1973). Dipoles as in Balanis, "Antenna Theory", 4.2 and 4.6;
 * cos(pi/2 c) / (1 - c^2) is summed as its power series, which holds on the axis too.
 *
 * A table holds Cartesian components: E_theta and E_phi turn with phi at the poles, and components
 * by Ludwig's third definition do at theta = pi, while Cartesian ones are smooth on the whole
 * sphere, so the same bicubic B-spline serves everywhere; through a pole the grid goes on with the
 * opposite phi, and around phi it is periodic. Outside of a table's directions the field is zero.
 * Error of the interpolation, as a share of the largest field, for a half-wave dipole along x in a
 * table of 10, 5, 2 and 1 degrees: 4.1e-5, 2.4e-6, 6.2e-8 and 3.8e-9; the same dipole half a
 * wavelength off the origin: 7.9e-4, 4.1e-5, 9.9e-7 and 6.2e-8; at the ends of a part of the sphere
 * ten times as much. The error goes with the fourth power of the step times the size of the antenna
 * and its distance from the origin. float32: 3e-7 more. (tests/unit/test_element.c) A grid with
 * uneven steps is brought to even ones first, by Lagrange interpolation over six points.
 *
 * Work of a table's field: two arc tangents, 96 multiply-adds, 16 places of 3 complex numbers read.
 */
#ifndef EC_ELEMENT_PATTERN_H
#define EC_ELEMENT_PATTERN_H

#include "complex_math.h"
#include "element_files.h"

typedef enum ec_element_kind {
    EC_ELEMENT_KIND_ISOTROPIC,
    EC_ELEMENT_KIND_HEMISPHERIC,
    EC_ELEMENT_KIND_COSQ,
    EC_ELEMENT_KIND_SHORT_DIPOLE,
    EC_ELEMENT_KIND_HALF_WAVE,
    EC_ELEMENT_KIND_TABLE
} ec_element_kind;

/* Places of a table's B-spline coefficients: row i stands at theta0 + (i - 1) / rows_per_rad,
 * column k at phi0 + (k - 1) / columns_per_rad; each axis has a place before its range and at least
 * one after it. */
typedef struct ec_element_grid {
    int32_t rows, columns; /* >= 4 */
    double theta0, phi0, rows_per_rad, columns_per_rad;
    double theta_low, theta_high, phi_span; /* covered, a rounding error included */
} ec_element_grid;

/* Plain data: a copy with pointers into the device's memory serves there. */
typedef struct ec_element_pattern {
    int32_t kind;   /* ec_element_kind */
    double q;       /* cosq: 0 to 1000 */
    double axis[3]; /* dipoles: a unit vector */
    ec_element_grid grid;
    /* table: [rows][columns][3] in double and in single precision */
    const ec_c128 *node_f64;
    const ec_c64 *node_f32;
} ec_element_pattern;

/* Axes of an element in the coordinates of the array, orthonormal and right-handed. */
typedef struct ec_element_frame {
    double x[3], y[3], z[3];
} ec_element_frame;

EC_C_BEGIN

/* A closed form. q is that of cosq, axis (of any length > 0) that of a dipole; others ignore them.
 */
EC_API int ec_element_pattern_init(ec_element_kind kind, double q, const double axis[3],
                                   ec_element_pattern *pattern);
/* A table of a far field; the pattern owns its coefficients until it is cleared. Full circles of
 * phi and poles within one step of theta are recognised; one phi: the components are the same for
 * every phi. */
EC_API int ec_element_table_create(const ec_far_field *field, ec_element_pattern *pattern);
EC_API void ec_element_table_destroy(ec_element_pattern *pattern);
/* Numbers of type ec_c128 or ec_c64 that the table has. */
EC_API size_t ec_element_table_length(const ec_element_pattern *pattern);

/* Peak and radiated power: of closed forms exact, of a table by Gauss quadrature of its spline over
 * the directions it covers. */
typedef struct ec_element_gain {
    double power;       /* integral of |E|^2 over the sphere */
    double peak;        /* largest |E| */
    double at[3];       /* a direction of the peak */
    double directivity; /* 4 pi peak^2 / power; a ratio; NaN when the field is zero */
} ec_element_gain;

EC_API void ec_element_gain_of(const ec_element_pattern *pattern, ec_element_gain *gain);

/* Frame of a normal (of any length > 0, else ERR_ARGUMENT): the coordinate axes turned by the least
 * rotation that takes z to the normal, so that the element's x lies along the co-polar direction of
 * the array there; then turned about the normal by `rotation` (rad). */
EC_API int ec_element_frame_of(const double normal[3], double rotation, ec_element_frame *frame);

EC_C_END

/* ---- frames ---------------------------------------------------------------------------------- */

/* The unit vector along x of Ludwig's third definition: theta^ cos ph - phi^ sin ph. At z = -1,
 * where it depends on phi, that of phi = 0. */
EC_FN void ec_element_co_vector(double x, double y, double z, double co[3])
{
    double up = 1.0 + z;
    bool below = up < 1e-14;
    double share = x / (below ? 1.0 : up);

    co[0] = below ? -1.0 : 1.0 - x * share;
    co[1] = below ? 0.0 : -y * share;
    co[2] = below ? 0.0 : -x;
}

/* Turns x and y of a frame about z. */
EC_FN void ec_element_frame_turn(double sine, double cosine, ec_element_frame *frame)
{
    for (int i = 0; i < 3; i++) {
        double x = frame->x[i], y = frame->y[i];
        frame->x[i] = cosine * x + sine * y;
        frame->y[i] = cosine * y - sine * x;
    }
}

/* As ec_element_frame_of, with sine and cosine of the rotation; false (and no frame) for a normal
 * without a length. */
EC_FN bool ec_element_frame_from_normal(const double normal[3], double sine, double cosine,
                                        ec_element_frame *frame)
{
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);

    if (!(length > 1e-150 && length < 1e150))
        return false;
    for (int i = 0; i < 3; i++)
        frame->z[i] = normal[i] / length;
    ec_element_co_vector(frame->z[0], frame->z[1], frame->z[2], frame->x);
    ec_cross3(frame->z, frame->x, frame->y);
    ec_element_frame_turn(sine, cosine, frame);
    return true;
}

/* The frame whose x lies as near to `along` as the normal allows (the axis of a cylinder, for
 * elements polarised along it); false when one has no length or they are parallel. */
EC_FN bool ec_element_frame_along(const double normal[3], const double along[3],
                                  ec_element_frame *frame)
{
    double y[3];

    if (!ec_element_frame_from_normal(normal, 0.0, 1.0, frame))
        return false;
    ec_cross3(frame->z, along, y);
    double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    double whole = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
    if (!(length > 1e-9 * whole) || !(whole > 1e-150 && whole < 1e150))
        return false;
    for (int i = 0; i < 3; i++)
        frame->y[i] = y[i] / length;
    ec_cross3(frame->y, frame->z, frame->x);
    return true;
}

/* A direction of the array in the axes of the element. */
EC_FN void ec_element_to_local(const ec_element_frame *frame, double x, double y, double z,
                               double local[3])
{
    local[0] = frame->x[0] * x + frame->x[1] * y + frame->x[2] * z;
    local[1] = frame->y[0] * x + frame->y[1] * y + frame->y[2] * z;
    local[2] = frame->z[0] * x + frame->z[1] * y + frame->z[2] * z;
}

/* ---- closed forms ---------------------------------------------------------------------------- */

/* cos(pi/2 c) / (1 - c^2) for |c| <= 1, by partial sums of the cosine's series; error 2e-16. */
EC_FN double ec_element_half_wave(double c)
{
    double z = c * c;
    double p = 1.8278159503151068e-17;

    p = p * z - 3.4194610195954559e-15;
    p = p * z + 5.2602055905386692e-13;
    p = p * z - 6.5133610590740857e-11;
    p = p * z + 6.3214694732011114e-09;
    p = p * z - 4.6476600840861604e-07;
    p = p * z + 2.4737276364651989e-05;
    p = p * z - 8.9452299847477459e-04;
    p = p * z + 1.9968957764878186e-02;
    p = p * z - 2.3370055013616983e-01;
    return p * z + 1.0;
}

/* The field of a closed form, which is real. */
EC_FN void ec_element_closed_form(const ec_element_pattern *pattern, double x, double y, double z,
                                  double e[3])
{
    const double *axis = pattern->axis;

    if (pattern->kind >= EC_ELEMENT_KIND_SHORT_DIPOLE) {
        double c = axis[0] * x + axis[1] * y + axis[2] * z;
        double gain = pattern->kind == EC_ELEMENT_KIND_HALF_WAVE ? ec_element_half_wave(c) : 1.0;
        e[0] = gain * (c * x - axis[0]);
        e[1] = gain * (c * y - axis[1]);
        e[2] = gain * (c * z - axis[2]);
        return;
    }
    double gain = 1.0;
    if (pattern->kind != EC_ELEMENT_KIND_ISOTROPIC) {
        gain = z > 1e-12 ? 1.0 : 0.0; /* the horizon belongs to the back half */
        if (pattern->kind == EC_ELEMENT_KIND_COSQ && gain > 0.0)
            gain = ec_det_pow(z, pattern->q);
    }
    ec_element_co_vector(x, y, z, e);
    for (int i = 0; i < 3; i++)
        e[i] *= gain;
}

/* ---- fields in double and in single precision ------------------------------------------------ */

/* Cubic B-spline weights of the four places about a point, t from the second one. */
EC_FN void ec_element_weights(double t, double w[4])
{
    const double sixth = 1.0 / 6.0;
    double s = 1.0 - t;

    w[0] = sixth * s * s * s;
    w[1] = sixth * (4.0 + t * t * (3.0 * t - 6.0));
    w[2] = sixth * (4.0 + s * s * (3.0 * s - 6.0));
    w[3] = sixth * t * t * t;
}

/* Where a direction lies in a table: the first of four rows and columns and the offsets from the
 * second ones. False outside. */
EC_FN bool ec_element_place(const ec_element_grid *grid, double x, double y, double z, int32_t *row,
                            int32_t *column, double *row_offset, double *column_offset)
{
    const double turn = 6.283185307179586;
    double theta = ec_det_atan2(sqrt(x * x + y * y), z);
    double phi = ec_det_atan2(y, x) - grid->phi0;

    phi -= turn * ec_det_floor((phi + 1e-9) / turn);
    if (!(theta >= grid->theta_low && theta <= grid->theta_high && phi <= grid->phi_span))
        return false;
    double a = (theta - grid->theta0) * grid->rows_per_rad, b = phi * grid->columns_per_rad;
    int32_t i = (int32_t)a, k = (int32_t)b;
    i = i > grid->rows - 4 ? grid->rows - 4 : i < 0 ? 0 : i;
    k = k > grid->columns - 4 ? grid->columns - 4 : k < 0 ? 0 : k;
    *row = i;
    *column = k;
    *row_offset = a - i;
    *column_offset = b - k;
    return true;
}

/* Cosines and sines of theta and phi of a direction; phi is 0 at a pole. */
EC_FN void ec_element_angles(double x, double y, double z, double *cos_theta, double *sin_theta,
                             double *cos_phi, double *sin_phi)
{
    double s = sqrt(x * x + y * y);
    bool pole = s < 1e-14;

    *cos_theta = z;
    *sin_theta = s;
    *cos_phi = pole ? 1.0 : x / s;
    *sin_phi = pole ? 0.0 : y / s;
}

#define EC_REAL             double
#define EC_COMPLEX          ec_c128
#define EC_ELEMENT(name)    ec_element_##name##_f64
#define EC_ELEMENT_NODES(p) (p)->node_f64
#define EC_ELEMENT_FMA      ec_fma
#include "element_pattern_template.h"
#undef EC_REAL
#undef EC_COMPLEX
#undef EC_ELEMENT
#undef EC_ELEMENT_NODES
#undef EC_ELEMENT_FMA

#define EC_REAL             float
#define EC_COMPLEX          ec_c64
#define EC_ELEMENT(name)    ec_element_##name##_f32
#define EC_ELEMENT_NODES(p) (p)->node_f32
#define EC_ELEMENT_FMA      ec_fmaf
#include "element_pattern_template.h"
#undef EC_REAL
#undef EC_COMPLEX
#undef EC_ELEMENT
#undef EC_ELEMENT_NODES
#undef EC_ELEMENT_FMA

#endif
