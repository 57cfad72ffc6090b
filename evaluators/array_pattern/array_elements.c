/* array_elements.c: the elements' own fields, from a configuration to what kernels read. */
#include "array_internal.h"

#include "array_own.h"

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
    if (p->kind == EC_ELEMENT_KIND_TABLE && !p->node_f64)
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

    ec_cross3(f->x, f->y, z);
    bool sound = fabs(dot(f->x, f->x) - 1.0) < 1e-9 && fabs(dot(f->y, f->y) - 1.0) < 1e-9 &&
                 fabs(dot(f->x, f->y)) < 1e-9;
    for (int i = 0; i < 3; i++)
        sound = sound && fabs(z[i] - f->z[i]) < 1e-9;
    return sound ? EC_OK
                 : ec_fail(EC_ERR_ARGUMENT,
                           "array: the axes of an element are not orthonormal and right-handed "
                           "(ec_element_frame_of makes them)");
}

static bool is_isotropic(const ec_element_pattern *p)
{
    return p->kind == (int32_t)EC_ELEMENT_KIND_ISOTROPIC;
}

static int check_own(const ec_array_config *config)
{
    int status = EC_OK;

    for (int32_t m = 0; m < config->elements && status >= 0; m++) {
        if (config->each)
            status = check_pattern(&config->each[m]);
        if (status >= 0 && config->each && is_isotropic(&config->each[m]))
            status = ec_fail(EC_ERR_ARGUMENT,
                             "array: element %d is isotropic, which has no vector field", m + 1);
        if (status >= 0 && config->frames)
            status = check_frame(&config->frames[m]);
    }
    if (status >= 0 && !config->each && is_isotropic(&config->element))
        status = ec_fail(EC_ERR_ARGUMENT,
                         "array: axes for each element, but an isotropic element has none");
    if (status >= 0 && (config->method == EC_METHOD_PRODUCT || config->method == EC_METHOD_NUFFT))
        status = ec_fail(EC_ERR_ARGUMENT,
                         "array: method '%s' sums elements that are all alike; elements with "
                         "patterns or normals of their own need method 'direct' or 'auto'",
                         config->method == EC_METHOD_PRODUCT ? "product" : "nufft");
    return status;
}

bool ec_pattern_has_own(const ec_array_config *config)
{
    return config->each || config->frames;
}

int ec_pattern_elements_check(const ec_array_config *config)
{
    int polarization = (int)config->polarization;
    int status = config->each ? EC_OK : check_pattern(&config->element);

    if (status >= 0)
        status = check_frame(&config->frame);
    if (status >= 0 && ec_pattern_has_own(config))
        status = check_own(config);
    if (status < 0)
        return status;
    if (polarization < 0 || polarization > (int)EC_POLARIZATION_PHI)
        return ec_fail(EC_ERR_ARGUMENT, "array: polarization %d is unknown", polarization);
    if (!isfinite(config->copolar))
        return ec_fail(EC_ERR_RANGE, "array: the co-polar direction's angle is not finite");
    if (config->polarization != EC_POLARIZATION_TOTAL && !config->each &&
        is_isotropic(&config->element))
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

/* ---- copies ---------------------------------------------------------------------------------- */

static size_t table_length(const ec_element_pattern *p)
{
    return p->kind == (int32_t)EC_ELEMENT_KIND_TABLE ? ec_element_table_length(p) : 0;
}

/* The first of the patterns that has the same table as pattern m. */
static int32_t same_table(const ec_element_pattern *list, int32_t m)
{
    int32_t k = 0;

    while (table_length(&list[k]) == 0 || list[k].node_f64 != list[m].node_f64)
        k++;
    return k;
}

/* Copies of the patterns whose tables lie in the setup's own memory, each table once. */
static int copy_patterns(ec_pattern_setup *setup, const ec_element_pattern *from, int32_t n,
                         ec_element_pattern *to)
{
    size_t total = 0;

    for (int32_t m = 0; m < n; m++)
        if (table_length(&from[m]) > 0 && same_table(from, m) == m)
            total += table_length(&from[m]);
    setup->nodes = malloc((total + 1) * sizeof *setup->nodes);
    if (!setup->nodes)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for the patterns of its elements");
    for (int32_t m = 0; m < n; m++) {
        size_t length = table_length(&from[m]);
        to[m] = from[m];
        to[m].node_f32 = NULL;
        if (length == 0)
            continue;
        int32_t k = same_table(from, m);
        to[m].node_f64 = k < m ? to[k].node_f64 : setup->nodes + setup->n_nodes;
        if (k < m)
            continue;
        memcpy(setup->nodes + setup->n_nodes, from[m].node_f64, length * sizeof *setup->nodes);
        setup->n_nodes += length;
    }
    return EC_OK;
}

int ec_pattern_elements_copy(ec_pattern_setup *setup)
{
    ec_array_config *config = &setup->config;
    size_t n = (size_t)config->elements;
    ec_element_pattern common = config->element;

    if (config->frames) {
        setup->frames = malloc(n * sizeof *setup->frames);
        if (!setup->frames)
            return ec_fail(EC_ERR_MEMORY, "array: no memory for the axes of its elements");
        memcpy(setup->frames, config->frames, n * sizeof *setup->frames);
        config->frames = setup->frames;
    }
    if (!config->each)
        return copy_patterns(setup, &common, 1, &config->element);
    setup->each = malloc(n * sizeof *setup->each);
    if (!setup->each)
        return ec_fail(EC_ERR_MEMORY, "array: no memory for the patterns of its elements");
    int status = copy_patterns(setup, config->each, config->elements, setup->each);
    config->each = setup->each;
    config->element = (ec_element_pattern){0};
    return status;
}

void ec_pattern_elements_free(ec_pattern_setup *setup)
{
    free(setup->each);
    free(setup->frames);
    free(setup->nodes);
}

/* ---- what kernels read ----------------------------------------------------------------------- */

/* The square of a bound of |E|: the spline's weights are positive and sum to one, so no value of a
 * table exceeds its largest coefficient. */
static double bound(const ec_array_config *config)
{
    int32_t patterns = config->each ? config->elements : 1;
    double most = 0.0;

    for (int32_t m = 0; m < patterns; m++) {
        const ec_element_pattern *p = config->each ? &config->each[m] : &config->element;
        size_t n = table_length(p);
        if (n == 0)
            most = fmax(most, 1.0);
        if (n == 0 || (m > 0 && p->node_f64 == p[-1].node_f64))
            continue;
        for (const ec_c128 *e = p->node_f64; e < p->node_f64 + n; e += 3)
            most = fmax(most, e[0].re * e[0].re + e[0].im * e[0].im + e[1].re * e[1].re +
                                  e[1].im * e[1].im + e[2].re * e[2].re + e[2].im * e[2].im);
    }
    return most > 0.0 ? most : 1.0;
}

void ec_pattern_gain_of(const ec_array_config *config, ec_array_polarization polarization,
                        ec_pattern_gain *gain)
{
    double most = bound(config);
    bool cut = config->kind == EC_ARRAY_CUT_THETA;

    memset(gain, 0, sizeof *gain);
    gain->polarization = (int32_t)polarization;
    gain->pattern = config->element;
    gain->frame = config->frame;
    gain->share = 1.0 / most;
    gain->peak_log = log(most);
    gain->copolar_sin = sin(config->copolar);
    gain->copolar_cos = cos(config->copolar);
    gain->pole_sin = cut ? sin(config->fixed) : 0.0;
    gain->pole_cos = cut ? cos(config->fixed) : 1.0;
    gain->form = EC_GAIN_FIELD;
    if (ec_pattern_has_own(config) || is_isotropic(&config->element))
        gain->form = EC_GAIN_ONE;
    else if (config->element.kind <= (int32_t)EC_ELEMENT_KIND_COSQ &&
             polarization == EC_POLARIZATION_TOTAL)
        gain->form = EC_GAIN_COSINE;
    if (config->element.kind == (int32_t)EC_ELEMENT_KIND_HEMISPHERIC)
        gain->pattern.q = 0.0;
}

void ec_pattern_own_of(const ec_array_config *config, ec_pattern_own *own)
{
    memset(own, 0, sizeof *own);
    if (!ec_pattern_has_own(config))
        return;
    own->parts = config->polarization == EC_POLARIZATION_TOTAL ? 3 : 1;
    own->patterns = config->each ? config->elements : 1;
    own->frames = config->frames ? config->elements : 1;
    own->pattern = config->each ? config->each : &config->element;
    own->frame = config->frames ? config->frames : &config->frame;
    own->size = 1.0 / sqrt(bound(config));
}

static int upload_own(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                      const ec_c128 *nodes, ec_pattern_own *own)
{
    size_t n = (size_t)own->patterns;
    ec_element_pattern *list = malloc(n * sizeof *list);

    if (!list)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    for (size_t m = 0; m < n; m++) {
        list[m] = own->pattern[m];
        if (nodes && table_length(&list[m]) > 0)
            list[m].node_f64 = nodes + (list[m].node_f64 - setup->nodes);
    }
    int status = ec_pattern_upload(memory, list, n * sizeof *list, (const void **)&own->pattern);
    free(list);
    if (status >= 0)
        status = ec_pattern_upload(memory, own->frame, (size_t)own->frames * sizeof *own->frame,
                                   (const void **)&own->frame);
    return status;
}

int ec_pattern_elements_make(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                             ec_pattern_args *args)
{
    const ec_array_config *config = &setup->config;
    const ec_c128 *nodes = NULL;
    int status = EC_OK;

    ec_pattern_gain_of(config, config->polarization, &args->gain);
    ec_pattern_own_of(config, &args->own);
    if (setup->n_nodes > 0)
        status = ec_pattern_upload(memory, setup->nodes, setup->n_nodes * sizeof *nodes,
                                   (const void **)&nodes);
    if (status < 0)
        return status;
    if (args->own.parts)
        return upload_own(memory, setup, nodes, &args->own);
    if (table_length(&args->gain.pattern) > 0)
        args->gain.pattern.node_f64 = nodes;
    return EC_OK;
}

int ec_pattern_fields_make(ec_pattern_memory *memory, const ec_array_config *config, int32_t parts,
                           const double *const d[3], size_t n, size_t stride, const float **to)
{
    const size_t most = (size_t)128 << 20; /* bytes: some seconds of work for tables */
    size_t bytes = 2 * (size_t)parts * (size_t)config->elements * stride * sizeof(float);
    ec_pattern_gain gain;
    ec_pattern_own own;

    *to = NULL;
    if (bytes > most)
        return EC_OK;
    if (memory->counted)
        return ec_pattern_upload(memory, NULL, bytes, (const void **)to);
    float *list = calloc(bytes, 1);
    if (!list)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    ec_pattern_gain_of(config, config->polarization, &gain);
    ec_pattern_own_of(config, &own);
    ec_pattern_watch watch = {.interrupt = memory->interrupt};
#ifdef _OPENMP
#pragma omp parallel for num_threads(memory->backend->threads) if (memory->backend->threads > 1)
#endif
    for (int32_t m = 0; m < config->elements; m++) {
        bool ended = watch.interrupt && ec_pattern_is_over(&watch, ec_pattern_thread());
        for (size_t i = 0; i < n && !ended; i++) {
            ec_direction at = {d[0][i], d[1][i], d[2][i]};
            float *from = list + 2 * (size_t)m * (size_t)parts * stride + i;
            double unit[3];
            ec_c128 e[3];
            ec_gain_unit(&gain, at, unit);
            ec_own_field(&own, m, at, parts == 1 ? unit : NULL, e);
            for (int32_t p = 0; p < parts; p++) {
                from[2 * (size_t)p * stride] = (float)e[p].re;
                from[(2 * (size_t)p + 1) * stride] = (float)e[p].im;
            }
        }
    }
    int status = ec_pattern_go_on(memory);
    if (status >= 0)
        status = ec_pattern_upload(memory, list, bytes, (const void **)to);
    free(list);
    return status;
}
