/* array_radiation.c: what the radiated power of a directivity is made of: kernels over pairs of
 * elements where they are closed (array_power.h), else nodes and weights of a quadrature. */
#include "array_internal.h"

#include "array_own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for the radiated power");
}

/* Nodes and weights of Gauss-Legendre quadrature on [0, 1] (Newton's method on the recurrence). */
static void gauss_legendre(int32_t n, double *x, double *weight)
{
    for (int32_t i = 0; i < (n + 1) / 2; i++) {
        double t = cos(EC_PI * (i + 0.75) / (n + 0.5)), slope = 1.0;
        for (int round = 0; round < 60; round++) {
            double p0 = 1.0, p1 = t;
            for (int32_t k = 2; k <= n; k++) {
                double p = ((2.0 * k - 1.0) * t * p1 - (k - 1.0) * p0) / k;
                p0 = p1;
                p1 = p;
            }
            slope = n * (t * p1 - p0) / (t * t - 1.0);
            double move = p1 / slope;
            t -= move;
            if (fabs(move) < 1e-15)
                break;
        }
        double w = 1.0 / ((1.0 - t * t) * slope * slope);
        x[i] = 0.5 * (1.0 - t);
        x[n - 1 - i] = 0.5 * (1.0 + t);
        weight[i] = weight[n - 1 - i] = w;
    }
}

/* F(a) of array_power.h and its derivative near 0: the power series, safe up to a = 6. */
static void sonine_series(double order, double a, double f[2])
{
    double term = 1.0, z = 0.25 * a * a;

    f[0] = 1.0;
    f[1] = 0.0;
    for (int k = 1; k < 60; k++) {
        term *= -z / (k * (order + k));
        f[0] += term;
        f[1] += a > 0.0 ? 2.0 * k * term / a : 0.0;
    }
}

/* One step of Runge and Kutta's method for F'' = -F - (2 order + 1) / a F'. */
static void sonine_step(double order, double a, double h, double f[2])
{
    double k[4][2], at[4] = {a, a + 0.5 * h, a + 0.5 * h, a + h}, part[4] = {0.0, 0.5, 0.5, 1.0};

    for (int i = 0; i < 4; i++) {
        double y0 = f[0] + (i ? part[i] * h * k[i - 1][0] : 0.0);
        double y1 = f[1] + (i ? part[i] * h * k[i - 1][1] : 0.0);
        k[i][0] = y1;
        k[i][1] = -y0 - (2.0 * order + 1.0) / at[i] * y1;
    }
    for (int j = 0; j < 2; j++)
        f[j] += h / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
}

/* The radial kernel of planar cos^q elements over the array's largest distance. Cubic interpolation
 * between 128 samples a wavelength is good to 2e-8; 16 steps between samples keep the integration's
 * error below that for thousands of wavelengths. */
static int make_power_table(ec_pattern_memory *memory, double q, double extent,
                            ec_pattern_power *power)
{
    enum { PER_WAVELENGTH = 128, STEPS = 16 };
    const double order = q + 0.5, h = 2.0 * EC_PI / PER_WAVELENGTH;
    int32_t samples = (int32_t)(extent * PER_WAVELENGTH) + 4;
    size_t bytes = 2 * (size_t)samples * sizeof(double);
    double *table = memory->counted ? NULL : malloc(bytes), f[2] = {1.0, 0.0};
    const double full = 0.5 / (2.0 * q + 1.0);

    if (memory->counted)
        return ec_pattern_upload(memory, NULL, bytes, (const void **)&power->table);
    if (!table)
        return no_memory();
    for (int32_t i = 0; i < samples; i++) {
        double a = i * h;
        if (a < 5.0)
            sonine_series(order, a, f);
        else
            for (int k = 0; k < STEPS; k++)
                sonine_step(order, a - h + k * (h / STEPS), h / STEPS, f);
        table[2 * i] = full * f[0];
        table[2 * i + 1] = full * f[1] * 2.0 * EC_PI;
    }
    power->closed = 1;
    power->factor = 1.0;
    power->samples = samples;
    power->per_step = PER_WAVELENGTH;
    int status = ec_pattern_upload(memory, table, bytes, (const void **)&power->table);
    free(table);
    return status;
}

/* ---- quadrature ---- */

enum { NODES_MOST = 112 }; /* that elements of their own need beside those of the array */

/* A part of the sphere in axes of its own: z from low to high and phi over a span. half: z from 0
 * to 1 through z = s^2, for (normal . d)^2q is smooth over s at the horizon. band: the horizons of all
 * elements lie in |z| <= band, and nothing is radiated below; nodes of their own resolve it. */
typedef struct region {
    ec_element_frame frame;
    double low, high, phi, span, band;
    bool half, circle;
} region;

typedef struct rule {
    size_t nodes;
    double *list; /* u, v, w and weight, [4][nodes] */
} rule;

/* nz nodes and weights along z; of a region with a band half of them in it. */
static void place_z(const region *r, int32_t nz, double *z, double *weight)
{
    int32_t inner = r->band > 0.0 ? nz / 2 : 0, outer = nz - inner;
    double low = r->band > 0.0 ? r->band : r->low;

    if (inner > 0)
        gauss_legendre(inner, z, weight);
    gauss_legendre(outer, z + inner, weight + inner);
    for (int32_t i = 0; i < nz; i++) {
        double t = z[i], rate = i < inner ? 2.0 * r->band : r->high - low;
        if (r->half) { /* z = t^2 */
            z[i] = t * t;
            weight[i] *= 2.0 * t;
            continue;
        }
        z[i] = (i < inner ? -r->band : low) + rate * t;
        weight[i] *= rate;
    }
}

/* nz by np nodes; weights of the mean over the whole sphere, with a gain times its power. */
static int make_rule(const ec_pattern_memory *memory, const region *r, const ec_pattern_gain *gain,
                     int32_t nz, int32_t np, rule *to)
{
    size_t nodes = (size_t)nz * (size_t)np, most = (size_t)(nz > np ? nz : np);
    double *z = malloc(4 * most * sizeof *z), *phi = z + 2 * most;
    int status = EC_OK;

    to->nodes = nodes;
    to->list = malloc(4 * nodes * sizeof *to->list);
    if (!z || !to->list) {
        free(z);
        free(to->list);
        to->list = NULL;
        return no_memory();
    }
    place_z(r, nz, z, z + nz);
    if (!r->circle)
        gauss_legendre(np, phi, phi + np);
    for (int32_t i = 0; i < nz && status >= 0; i++) {
        status = ec_pattern_go_on(memory);
        for (int32_t k = 0; k < np; k++) {
            double c = z[i];
            double angle = r->phi + r->span * (r->circle ? (k + 0.5) / np : phi[k]);
            double share = r->span / (4.0 * EC_PI) * (r->circle ? 1.0 / np : phi[np + k]);
            double s = sqrt(1.0 - c * c), x = s * cos(angle), y = s * sin(angle);
            const ec_element_frame *f = &r->frame;
            ec_direction d = {x * f->x[0] + y * f->y[0] + c * f->z[0],
                              x * f->x[1] + y * f->y[1] + c * f->z[1],
                              x * f->x[2] + y * f->y[2] + c * f->z[2]};
            size_t at = (size_t)i * (size_t)np + (size_t)k;
            to->list[at] = d.u;
            to->list[nodes + at] = d.v;
            to->list[2 * nodes + at] = d.w;
            to->list[3 * nodes + at] = z[nz + i] * share * (gain ? ec_gain_power(gain, d) : 1.0);
        }
    }
    free(z);
    if (status < 0) {
        free(to->list);
        to->list = NULL;
    }
    return status;
}

/* Nodes that the element needs beside those of the array: until the element's own power stands to
 * 1e-7, at most as many as its table has rows (then every harmonic of the table is integrated). */
static int element_nodes(const ec_pattern_memory *memory, const region *r,
                         const ec_pattern_gain *gain, int32_t *extra)
{
    bool table = gain->pattern.kind == (int32_t)EC_ELEMENT_KIND_TABLE;
    int32_t most = table ? gain->pattern.grid.rows + gain->pattern.grid.columns : 256;
    double before = 0.0;

    *extra = 0;
    for (int32_t n = 0; n <= most; n = 2 * n + 16) {
        rule one;
        double power = 0.0;
        int status = make_rule(memory, r, gain, 24 + n, 12 + 2 * n, &one);
        if (status < 0)
            return status;
        for (size_t i = 0; i < one.nodes; i++)
            power += one.list[3 * one.nodes + i];
        free(one.list);
        if (n > 0 && fabs(power - before) <= 1e-7 * power)
            break;
        before = power;
        *extra = n;
    }
    return EC_OK;
}

/* The same for elements of their own, whose horizons lie anywhere: until the sum of their powers
 * stands to 1e-4, which is 4e-4 dB. */
static int own_nodes(const ec_pattern_memory *memory, const region *r,
                     const ec_array_config *config, int32_t *extra)
{
    double before = 0.0;
    ec_pattern_own own;

    ec_pattern_own_of(config, &own);
    *extra = 0;
    for (int32_t n = 0; n <= NODES_MOST; n = 2 * n + 16) {
        rule one;
        double power = 0.0;
        int status = make_rule(memory, r, NULL, 24 + n, 12 + 2 * n, &one);
        if (status < 0)
            return status;
        for (size_t i = 0; i < one.nodes; i++) {
            const double *at = one.list + i;
            ec_direction d = {at[0], at[one.nodes], at[2 * one.nodes]};
            for (int32_t m = 0; m < config->elements; m++) {
                ec_c128 e[3];
                ec_own_field(&own, m, d, NULL, e);
                power += at[3 * one.nodes] * ec_own_power(3, e);
            }
        }
        free(one.list);
        if (n > 0 && fabs(power - before) <= 1e-4 * power)
            break;
        before = power;
        *extra = n;
    }
    return EC_OK;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool along_z(const ec_element_frame *frame)
{
    return frame->z[0] == 0.0 && frame->z[1] == 0.0;
}

/* The region of elements of their own that radiate nothing behind: before the x-y plane of the frame
 * that they have in common, or of their mean normal with a band about it; false when they point too
 * far apart, or are not of that kind. */
static bool choose_front(const ec_array_config *config, region *r)
{
    const double widest = 0.6; /* beyond it the band is no better than the whole sphere */
    int32_t kind = config->element.kind;
    const ec_element_frame *frame = config->frames;
    double mean[3] = {0.0, 0.0, 0.0}, most = 0.0;

    if (config->each || !frame ||
        (kind != (int32_t)EC_ELEMENT_KIND_HEMISPHERIC && kind != (int32_t)EC_ELEMENT_KIND_COSQ))
        return false;
    for (int32_t m = 0; m < config->elements; m++)
        for (int i = 0; i < 3; i++) {
            mean[i] += frame[m].z[i];
            most = fmax(most, fabs(frame[m].z[i] - frame[0].z[i]));
        }
    r->frame = frame[0];
    r->half = most == 0.0;
    if (r->half)
        return true;
    if (!ec_element_frame_from_normal(mean, 0.0, 1.0, &r->frame))
        return false;
    /* the sine of the largest tilt; with the frame's rounding no horizon is outside */
    double sine = 0.0;
    for (int32_t m = 0; m < config->elements; m++) {
        double cross[3];
        if (!(dot(r->frame.z, frame[m].z) > 0.0))
            return false;
        ec_cross3(r->frame.z, frame[m].z, cross);
        sine = fmax(sine, sqrt(dot(cross, cross)));
    }
    r->band = sine * (1.0 + 1e-9) + 1e-12;
    return r->band <= widest;
}

/* Where the element radiates (elements of their own without a common front: everywhere), cut to the
 * front half of the array with `half`. */
static int choose_region(const ec_pattern_gain *gain, const ec_array_config *config, bool half,
                         region *r)
{
    const region whole = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, -1.0, 1.0, 0.0, 2.0 * EC_PI, 0.0, half, true};
    const ec_element_grid *grid = &gain->pattern.grid;
    bool behind = gain->form == EC_GAIN_COSINE; /* nothing behind the element */
    bool turned = !(along_z(&gain->frame) && gain->frame.z[2] > 0.0);
    bool table =
        gain->form == EC_GAIN_FIELD && gain->pattern.kind == (int32_t)EC_ELEMENT_KIND_TABLE;

    *r = whole;
    if (choose_front(config, r) &&
        (!half || (r->half && along_z(&r->frame) && r->frame.z[2] > 0.0)))
        return EC_OK;
    *r = whole;
    bool part = table && (grid->theta_low > 1e-6 || grid->theta_high < EC_PI - 1e-6 ||
                          grid->phi_span < 2.0 * EC_PI - 1e-6);
    if ((behind || part) && half && turned)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "directivity_db: integrate = 'hemisphere' is not offered for %s that is "
                       "turned away from z",
                       table ? "a table of a part of the sphere" : "a cosq element");
    if (behind || part)
        r->frame = gain->frame;
    if (behind)
        r->half = true;
    if (!part)
        return EC_OK;
    r->low = cos(fmin(grid->theta_high, EC_PI));
    r->high = cos(fmax(grid->theta_low, 0.0));
    r->low = half ? fmax(r->low, 0.0) : r->low;
    r->half = false;
    if (grid->phi_span < 2.0 * EC_PI - 1e-6) {
        r->circle = false;
        r->phi = grid->phi0;
        r->span = grid->phi_span;
    }
    return r->low < r->high
               ? EC_OK
               : ec_fail(EC_ERR_UNSUPPORTED,
                         "directivity_db: the element's table has no direction in the hemisphere");
}

int ec_pattern_power_pairs(ec_pattern_memory *memory, const ec_array_config *config,
                           const ec_pattern_extent *extent, ec_pattern_power *power)
{
    bool half = config->integrate == EC_INTEGRATE_HEMISPHERE;
    double diagonal = sqrt(extent->x * extent->x + extent->y * extent->y);
    ec_pattern_gain gain;

    ec_pattern_gain_of(config, EC_POLARIZATION_TOTAL, &gain);
    memset(power, 0, sizeof *power);
    if (ec_pattern_has_own(config))
        return EC_OK;
    if (gain.form == EC_GAIN_ONE && (!half || extent->planar)) {
        power->closed = 1;
        power->factor = half ? 0.5 : 1.0;
        return EC_OK;
    }
    bool upright = along_z(&gain.frame) && gain.frame.z[2] > 0.0;
    if (gain.form != EC_GAIN_FIELD && upright && extent->planar && diagonal < 8192.0)
        return make_power_table(memory, gain.pattern.q, diagonal, power);
    return EC_OK;
}

int ec_pattern_power_nodes(const ec_pattern_memory *memory, const ec_array_config *config,
                           const ec_pattern_extent *extent, size_t *count, double **list)
{
    bool half = config->integrate == EC_INTEGRATE_HEMISPHERE, own = ec_pattern_has_own(config);
    double diagonal = sqrt(extent->x * extent->x + extent->y * extent->y);
    ec_pattern_gain gain; /* both polarizations are radiated */
    region where;
    rule nodes;
    int32_t extra = 0;

    ec_pattern_gain_of(config, EC_POLARIZATION_TOTAL, &gain);
    int status = choose_region(&gain, config, half, &where);
    if (status < 0)
        return status;
    /* |F|^2 has the phases of pair distances */
    double across = 2.0 * EC_PI * diagonal, deep = across + 2.0 * EC_PI * extent->z;
    if (!along_z(&where.frame))
        across = deep;
    if (!(deep < 6000.0))
        return ec_fail(
            EC_ERR_UNSUPPORTED,
            "the radiated power of %s needs quadrature, which an array of %g wavelengths makes "
            "too long; bound the positions",
            gain.form == EC_GAIN_ONE ? "a hemisphere of an array that is not planar"
                                     : "an element that is not isotropic",
            deep / (2.0 * EC_PI));
    /* an answer before the plan takes the most that there may be */
    extra = own || gain.form == EC_GAIN_FIELD ? NODES_MOST : 0;
    if (!memory->counted && gain.form == EC_GAIN_FIELD)
        status = element_nodes(memory, &where, &gain, &extra);
    if (!memory->counted && own)
        status = own_nodes(memory, &where, config, &extra);
    int32_t nz = (int32_t)(0.75 * deep) + 24 + extra;
    int32_t np = (int32_t)(across + 8.0 * cbrt(across)) + 12 + 2 * extra;
    np += np & 1;
    *count = (size_t)nz * (size_t)np;
    if (memory->counted)
        return EC_OK;
    if (status >= 0)
        status = make_rule(memory, &where, &gain, nz, np, &nodes);
    if (status < 0)
        return status;
    *count = nodes.nodes;
    *list = nodes.list;
    return EC_OK;
}

/* The bytes of a quadrature. */
static int count_rule(ec_pattern_memory *memory, const ec_array_config *config, size_t nodes,
                      ec_pattern_power *power)
{
    const double *const none[3] = {NULL, NULL, NULL};
    int status =
        ec_pattern_upload(memory, NULL, 4 * nodes * sizeof(double), (const void **)&power->u);

    if (status < 0 || !ec_pattern_has_own(config))
        return status;
    return ec_pattern_fields_make(memory, config, 3, none, 0, nodes, &power->field);
}

int ec_pattern_power_make(ec_pattern_memory *memory, const ec_array_config *config,
                          const ec_pattern_extent *extent, ec_pattern_args *args)
{
    ec_pattern_power *power = &args->power;
    size_t count = 0;
    double *list = NULL;

    int status = ec_pattern_power_pairs(memory, config, extent, power);
    if (status < 0 || power->closed)
        return status;
    status = ec_pattern_power_nodes(memory, config, extent, &count, &list);
    if (status < 0)
        return status;
    if (memory->counted)
        return count_rule(memory, config, count, power);
    const double **to[4] = {&power->u, &power->v, &power->w, &power->weight};
    power->nodes = (int32_t)count;
    for (size_t k = 0; k < 4 && status >= 0; k++)
        status =
            ec_pattern_upload(memory, list + k * count, count * sizeof *list, (const void **)to[k]);
    if (status >= 0 && ec_pattern_has_own(config)) {
        const double *const d[3] = {list, list + count, list + 2 * count};
        status = ec_pattern_fields_make(memory, config, 3, d, count, count, &power->field);
    }
    free(list);
    return status;
}
