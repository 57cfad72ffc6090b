/* array_elements.c: the elements' own fields, from a configuration to what kernels read. */
#include "array_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const polarization_names[] = {"total", "co", "cross", "theta", "phi"};

/* ---- checks ---------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int check_pattern(const ec_element_pattern *p)
{
    if (p->kind < 0 || p->kind > (int32_t)EC_ELEMENT_KIND_TABLE)
        return ec_fail(EC_ERR_ARGUMENT, "array: element %d is unknown", (int)p->kind);
    if (p->kind == EC_ELEMENT_KIND_COSQ && !(p->q >= 0.0 && p->q <= 1000.0))
        return ec_fail(EC_ERR_RANGE, "array: q = %g of the cosq element is not in 0 to 1000", p->q);
    if (p->kind == EC_ELEMENT_KIND_TABLE && (!p->node_f64 || !p->node_f32))
        return ec_fail(EC_ERR_ARGUMENT, "array: the element's table is empty");
    bool dipole = p->kind == EC_ELEMENT_KIND_SHORT_DIPOLE || p->kind == EC_ELEMENT_KIND_HALF_WAVE;
    if (dipole && !(fabs(dot(p->axis, p->axis) - 1.0) < 1e-9))
        return ec_fail(EC_ERR_ARGUMENT,
                       "array: the dipole's axis (%g, %g, %g) is no unit vector "
                       "(ec_element_pattern_init makes one)",
                       p->axis[0], p->axis[1], p->axis[2]);
    return EC_OK;
}

static int check_frame(const ec_element_frame *f)
{
    double z[3];

    ec_element_cross(f->x, f->y, z);
    bool sound = fabs(dot(f->x, f->x) - 1.0) < 1e-9 && fabs(dot(f->y, f->y) - 1.0) < 1e-9 &&
                 fabs(dot(f->x, f->y)) < 1e-9;
    for (int i = 0; i < 3; i++)
        sound = sound && fabs(z[i] - f->z[i]) < 1e-9;
    return sound ? EC_OK
                 : ec_fail(EC_ERR_ARGUMENT,
                           "array: the axes of an element are not orthonormal and right-handed "
                           "(ec_element_frame_of makes them)");
}

int ec_pattern_elements_check(const ec_array_config *config)
{
    int polarization = (int)config->polarization;
    int status = check_pattern(&config->element);

    if (status >= 0)
        status = check_frame(&config->frame);
    if (status < 0)
        return status;
    if (polarization < 0 || polarization > (int)EC_POLARIZATION_PHI)
        return ec_fail(EC_ERR_ARGUMENT, "array: polarization %d is unknown", polarization);
    if (!isfinite(config->copolar))
        return ec_fail(EC_ERR_RANGE, "array: the co-polar direction's angle is not finite");
    if (config->polarization != EC_POLARIZATION_TOTAL &&
        config->element.kind == EC_ELEMENT_KIND_ISOTROPIC)
        return ec_fail(EC_ERR_ARGUMENT,
                       "array: polarization '%s' needs elements with a vector field; an isotropic "
                       "element has none",
                       polarization_names[polarization]);
    return EC_OK;
}

const char *ec_pattern_polarization_text(const ec_array_config *config)
{
    static const char *const text[] = {"", ", co-polar field", ", cross-polar field",
                                       ", theta component", ", phi component"};

    return text[config->polarization];
}

/* ---- copies of tables ------------------------------------------------------------------------ */

static void *copy_block(const void *from, size_t bytes)
{
    void *to = malloc(bytes);

    if (to)
        memcpy(to, from, bytes);
    return to;
}

/* A pattern with the setup's own copy of its table. */
static int copy_table(ec_pattern_setup *setup, ec_element_pattern *pattern)
{
    size_t n = ec_element_table_length(pattern);

    if (pattern->kind != EC_ELEMENT_KIND_TABLE)
        return EC_OK;
    ec_pattern_table *table = &setup->table[setup->n_tables];
    *table =
        (ec_pattern_table){pattern->node_f64, copy_block(pattern->node_f64, n * sizeof(ec_c128)),
                           copy_block(pattern->node_f32, n * sizeof(ec_c64))};
    setup->n_tables++;
    if (!table->node_f64 || !table->node_f32)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for the element's table");
    pattern->node_f64 = table->node_f64;
    pattern->node_f32 = table->node_f32;
    return EC_OK;
}

int ec_pattern_elements_copy(ec_pattern_setup *setup)
{
    setup->table = calloc(1, sizeof *setup->table);
    if (!setup->table)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for its elements");
    return copy_table(setup, &setup->config.element);
}

void ec_pattern_elements_free(ec_pattern_setup *setup)
{
    for (int32_t i = 0; i < setup->n_tables; i++) {
        free(setup->table[i].node_f64);
        free(setup->table[i].node_f32);
    }
    free(setup->table);
}

/* ---- the common element ---------------------------------------------------------------------- */

/* The square of a bound of |E|: the spline's weights are positive and sum to one, so no value of a
 * table exceeds its largest coefficient. */
static double bound(const ec_element_pattern *pattern)
{
    size_t n = pattern->kind == EC_ELEMENT_KIND_TABLE ? ec_element_table_length(pattern) : 0;
    double most = 0.0;

    for (size_t i = 0; i + 2 < n; i += 3) {
        const ec_c128 *e = pattern->node_f64 + i;
        most = fmax(most, e[0].re * e[0].re + e[0].im * e[0].im + e[1].re * e[1].re +
                              e[1].im * e[1].im + e[2].re * e[2].re + e[2].im * e[2].im);
    }
    return most > 0.0 ? most : 1.0;
}

void ec_pattern_gain_of(const ec_array_config *config, ec_array_polarization polarization,
                        ec_pattern_gain *gain)
{
    double most = bound(&config->element);

    memset(gain, 0, sizeof *gain);
    gain->polarization = (int32_t)polarization;
    gain->pattern = config->element;
    gain->frame = config->frame;
    gain->share = 1.0 / most;
    gain->peak_log = log(most);
    gain->copolar_sin = sin(config->copolar);
    gain->copolar_cos = cos(config->copolar);
    bool cut = config->kind == EC_ARRAY_CUT_THETA;
    gain->pole_sin = cut ? sin(config->fixed) : 0.0;
    gain->pole_cos = cut ? cos(config->fixed) : 1.0;
    gain->form = EC_GAIN_FIELD;
    if (config->element.kind == EC_ELEMENT_KIND_ISOTROPIC)
        gain->form = EC_GAIN_ONE;
    else if (config->element.kind <= (int32_t)EC_ELEMENT_KIND_COSQ &&
             polarization == EC_POLARIZATION_TOTAL)
        gain->form = EC_GAIN_COSINE;
    if (config->element.kind == EC_ELEMENT_KIND_HEMISPHERIC)
        gain->pattern.q = 0.0;
}

static int upload_table(ec_pattern_memory *memory, ec_element_pattern *pattern)
{
    size_t n = ec_element_table_length(pattern);

    if (pattern->kind != EC_ELEMENT_KIND_TABLE)
        return EC_OK;
    int status = ec_pattern_upload(memory, pattern->node_f64, n * sizeof(ec_c128),
                                   (const void **)&pattern->node_f64);
    if (status >= 0)
        status = ec_pattern_upload(memory, pattern->node_f32, n * sizeof(ec_c64),
                                   (const void **)&pattern->node_f32);
    return status;
}

int ec_pattern_gain_make(ec_pattern_memory *memory, const ec_array_config *config,
                         ec_pattern_gain *gain)
{
    ec_pattern_gain_of(config, config->polarization, gain);
    return upload_table(memory, &gain->pattern);
}
