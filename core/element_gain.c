/* element_gain.c: elements in closed form, their frames, and gains of elements. */
#include "element_pattern.h"

#include <string.h>

static const double TURN = 6.283185307179586;

/* ---- closed forms and frames ----------------------------------------------------------------- */

static int unit_vector(const double v[3], const char *what, double to[3])
{
    double length = v ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : 0;

    if (!(length > 1e-150 && length < 1e150))
        return ec_fail(EC_ERR_ARGUMENT, "element: %s has the length %g, a direction is needed",
                       what, length);
    for (int i = 0; i < 3; i++)
        to[i] = v[i] / length;
    return EC_OK;
}

int ec_element_pattern_init(ec_element_kind kind, double q, const double axis[3],
                            ec_element_pattern *pattern)
{
    ec_element_pattern p = {.kind = (int32_t)kind, .axis = {0, 0, 1}};
    bool dipole = kind == EC_ELEMENT_KIND_SHORT_DIPOLE || kind == EC_ELEMENT_KIND_HALF_WAVE;

    if ((int)kind < 0 || kind >= EC_ELEMENT_KIND_TABLE)
        return ec_fail(EC_ERR_ARGUMENT, "element: kind %d is no closed form", (int)kind);
    if (kind == EC_ELEMENT_KIND_COSQ) {
        if (!(q >= 0 && q <= 1000))
            return ec_fail(EC_ERR_RANGE, "element: q = %g of cosq is not in 0 to 1000", q);
        p.q = q;
    }
    if (dipole) {
        int status = unit_vector(axis, "the dipole's axis", p.axis);
        if (status != EC_OK)
            return status;
    }
    *pattern = p;
    return EC_OK;
}

int ec_element_frame_of(const double normal[3], double rotation, ec_element_frame *frame)
{
    double unit[3], s, c;
    int status = unit_vector(normal, "the normal", unit);

    if (status != EC_OK)
        return status;
    if (!isfinite(rotation))
        return ec_fail(EC_ERR_RANGE, "element: the rotation is %g", rotation);
    ec_det_sincos(rotation, &s, &c);
    ec_element_frame_from_normal(unit, s, c, frame);
    return EC_OK;
}

/* ---- gain ------------------------------------------------------------------------------------ */

static double power_at(const ec_element_pattern *p, const double d[3])
{
    ec_c128 e[3];

    ec_element_vector_f64(p, d[0], d[1], d[2], e);
    return e[0].re * e[0].re + e[0].im * e[0].im + e[1].re * e[1].re + e[1].im * e[1].im +
           e[2].re * e[2].re + e[2].im * e[2].im;
}

static void direction(double theta, double phi, double d[3])
{
    double st, ct, sp, cp;

    ec_det_sincos(theta, &st, &ct);
    ec_det_sincos(phi, &sp, &cp);
    d[0] = st * cp;
    d[1] = st * sp;
    d[2] = ct;
}

/* Gauss points in each step: three along theta; along an open phi two, on a circle one (which is
 * exact for the harmonics that the samples hold). */
static double table_power(const ec_element_pattern *p)
{
    static const double at3[3] = {0.11270166537925831, 0.5, 0.88729833462074169};
    static const double weight3[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    static const double at2[2] = {0.21132486540518712, 0.78867513459481288};
    const ec_element_grid *g = &p->grid;
    double dt = 1 / g->rows_per_rad, dp = 1 / g->columns_per_rad, sum = 0;
    bool circle = g->phi_span > TURN;
    int32_t columns = g->columns - 3;

    for (int32_t i = 0; i < g->rows - 3; i++)
        for (int a = 0; a < 3; a++) {
            double theta = g->theta0 + (i + at3[a]) * dt, row = 0, d[3];
            for (int32_t k = 0; k < columns; k++)
                for (int b = 0; b < (circle ? 1 : 2); b++) {
                    direction(theta, g->phi0 + (k + (circle ? 0.5 : at2[b])) * dp, d);
                    row += power_at(p, d) / (circle ? 1 : 2);
                }
            sum += weight3[a] * ec_det_sin(theta) * row;
        }
    return sum * dt * dp;
}

/* Climbs from d by steps in the plane across it, each halved when it no longer helps. */
static double climb(const ec_element_pattern *p, double step, double d[3])
{
    double best = power_at(p, d);

    while (step > 1e-9) {
        double across[2][3];
        bool better = false;
        ec_element_co_vector(d[0], d[1], d[2], across[0]);
        ec_cross3(d, across[0], across[1]);
        for (int s = 0; s < 4; s++) {
            const double *along = across[s / 2];
            double size = s % 2 ? -step : step, next[3], length = 0;
            for (int i = 0; i < 3; i++) {
                next[i] = d[i] + size * along[i];
                length += next[i] * next[i];
            }
            for (int i = 0; i < 3; i++)
                next[i] /= sqrt(length);
            double power = power_at(p, next);
            if (power > best) {
                best = power;
                better = true;
                memcpy(d, next, sizeof next);
                break;
            }
        }
        step = better ? step : 0.5 * step;
    }
    return best;
}

static double table_peak(const ec_element_pattern *p, double at[3])
{
    const ec_element_grid *g = &p->grid;
    double best = -1, d[3];

    for (int32_t i = 0; i < g->rows - 2; i++)
        for (int32_t k = 0; k < g->columns - 2; k++) {
            direction(g->theta0 + i / g->rows_per_rad, g->phi0 + k / g->columns_per_rad, d);
            double power = power_at(p, d);
            if (power > best) {
                best = power;
                memcpy(at, d, sizeof d);
            }
        }
    return sqrt(climb(p, 0.5 / g->rows_per_rad, at));
}

void ec_element_gain_of(const ec_element_pattern *pattern, ec_element_gain *gain)
{
    *gain = (ec_element_gain){.peak = 1, .at = {0, 0, 1}};
    switch (pattern->kind) {
    case EC_ELEMENT_KIND_ISOTROPIC:
        gain->power = 2 * TURN;
        break;
    case EC_ELEMENT_KIND_HEMISPHERIC:
        gain->power = TURN;
        break;
    case EC_ELEMENT_KIND_COSQ:
        gain->power = TURN / (2 * pattern->q + 1);
        break;
    case EC_ELEMENT_KIND_TABLE:
        gain->power = table_power(pattern);
        gain->peak = table_peak(pattern, gain->at);
        break;
    default: /* dipoles: 8 pi / 3; pi Cin(2 pi) */
        ec_element_co_vector(pattern->axis[0], pattern->axis[1], pattern->axis[2], gain->at);
        gain->power =
            pattern->kind == EC_ELEMENT_KIND_SHORT_DIPOLE ? 4 * TURN / 3 : 7.6581139916268089;
        break;
    }
    gain->directivity = 2 * TURN * gain->peak * gain->peak / gain->power;
}
