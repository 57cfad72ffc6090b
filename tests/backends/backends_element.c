/* backends_element.c: elements, turned by a frame, in kernels on every backend: closed forms against
 * themselves written out with the library's trigonometry, a table against the field that it was
 * sampled from. */
#include "backends.h"
#include "backends_element_kernels.h"

#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(test_element, ec_test_element_args)

enum { LANES = 2000, SHORT = 3, HALF = 4, TABLE = 5, HALF_TABLE = 6 };

static const double axis[3] = {0.48, 0.6, 0.64};

/* Gain of the closed forms; the dipoles' from the cosine to their axis. */
static double gain_of(int pattern, double c, double z)
{
    const double q = 1.3;

    switch (pattern) {
    case 0:
        return 1;
    case 1:
        return z > 0;
    case 2:
        return z > 0 ? pow(z, q) : 0;
    case SHORT:
        return 1;
    default:
        return cos(0.5 * EC_PI * c) / (1 - c * c);
    }
}

/* Field of a pattern in its own axes, Cartesian. The table is that of the half-wave dipole with a
 * phase of its own. */
static void own_field(int pattern, const double d[3], ec_c128 e[3])
{
    double c = axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2];
    double theta = acos(d[2]), phi = atan2(d[1], d[0]);
    double t[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), -sin(theta)};
    double p[3] = {-sin(phi), cos(phi), 0};
    double gain = gain_of(pattern, c, d[2]);
    double turn = pattern >= TABLE ? 0.3 * d[0] - 0.2 * d[2] : 0;

    if (pattern == HALF_TABLE && d[2] < 0)
        gain = 0;
    for (int i = 0; i < 3; i++) {
        double v = pattern >= SHORT ? gain * (c * d[i] - axis[i])
                                    : gain * (t[i] * cos(phi) - p[i] * sin(phi));
        e[i].re = v * cos(2 * EC_PI * turn);
        e[i].im = v * sin(2 * EC_PI * turn);
    }
}

static void unit(double theta, double phi, double d[3])
{
    d[0] = sin(theta) * cos(phi);
    d[1] = sin(theta) * sin(phi);
    d[2] = cos(theta);
}

/* Table of 3 degrees; `half`: the upper half only. */
static int make_table(bool half, ec_element_pattern *pattern)
{
    enum { PHIS = 121 };
    int32_t n = half ? 31 : 61;
    double theta[61], phi[PHIS];
    ec_c128 *a = (ec_c128 *)calloc(61 * PHIS, sizeof *a),
            *b = (ec_c128 *)calloc(61 * PHIS, sizeof *b);
    ec_far_field *field = NULL;
    int status = a && b ? EC_OK : EC_ERR_MEMORY;

    for (int32_t k = 0; k < PHIS; k++)
        phi[k] = 3 * k * EC_PI / 180;
    for (int32_t i = 0; i < n && status == EC_OK; i++) {
        theta[i] = 3 * i * EC_PI / 180;
        for (int32_t k = 0; k < PHIS; k++) {
            double d[3];
            ec_c128 e[3];
            unit(theta[i], phi[k], d);
            own_field(TABLE, d, e);
            ec_element_project_f64(e, cos(theta[i]), sin(theta[i]), cos(phi[k]), sin(phi[k]),
                                   &a[i * PHIS + k], &b[i * PHIS + k]);
        }
    }
    if (status == EC_OK)
        status = ec_far_field_create(n, theta, PHIS, phi, a, b, 0, &field);
    if (status == EC_OK)
        status = ec_element_table_create(field, pattern);
    ec_far_field_destroy(&field);
    free(a);
    free(b);
    return status;
}

/* What the kernel should give for one pattern: [4][ld]. */
static void oracle(const ec_test_element_args *args, const double *direction, int pattern,
                   double *want)
{
    const ec_element_frame *f = &args->frame;
    size_t ld = args->ld;

    for (size_t c = 0; c < LANES; c++) {
        double d[3] = {direction[c], direction[c + ld], direction[c + 2 * ld]}, own[3] = {0, 0, 0};
        ec_c128 e[3], turned[3];
        for (int i = 0; i < 3; i++) {
            own[0] += f->x[i] * d[i];
            own[1] += f->y[i] * d[i];
            own[2] += f->z[i] * d[i];
        }
        own_field(pattern, own, e);
        for (int i = 0; i < 3; i++) {
            turned[i].re = f->x[i] * e[0].re + f->y[i] * e[1].re + f->z[i] * e[2].re;
            turned[i].im = f->x[i] * e[0].im + f->y[i] * e[1].im + f->z[i] * e[2].im;
        }
        double theta = acos(d[2]), phi = atan2(d[1], d[0]);
        ec_c128 a, b;
        ec_element_project_f64(turned, cos(theta), sin(theta), cos(phi), sin(phi), &a, &b);
        want[c] = a.re;
        want[c + ld] = a.im;
        want[c + 2 * ld] = b.re;
        want[c + 3 * ld] = b.im;
    }
}

static int upload_tables(ec_backend *backend, ec_element_pattern *pattern, ec_guarded memory[2])
{
    size_t n = ec_element_table_length(pattern);

    EC_CHECK_CALL(ec_guarded_create(backend, n * sizeof(ec_c128), &memory[0]));
    EC_CHECK_CALL(ec_guarded_create(backend, n * sizeof(ec_c64), &memory[1]));
    EC_CHECK_CALL(
        backend->ops->upload(backend, memory[0].data, pattern->node_f64, n * sizeof(ec_c128)));
    EC_CHECK_CALL(
        backend->ops->upload(backend, memory[1].data, pattern->node_f32, n * sizeof(ec_c64)));
    pattern->node_f64 = (const ec_c128 *)memory[0].data;
    pattern->node_f32 = (const ec_c64 *)memory[1].data;
    return 0;
}

static int run_fields(ec_backend *backend)
{
    /* float64: the arithmetic's rounding; tables: their interpolation, at a step of 3 degrees, and
     * beside an edge; float32 adds its own rounding */
    static const double limit[EC_TEST_ELEMENTS] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 2e-6, 2e-5};
    const double normal[3] = {0.3, -0.8, -0.2};
    size_t ld = ec_lane_ld(LANES), block = 4 * ld, count = EC_TEST_ELEMENTS * block;
    ec_test_element_args args = {.ld = ld};
    ec_element_pattern full, half;
    ec_guarded tables[4], directions, m64, m32;
    double *d = (double *)calloc(3 * ld, sizeof *d), *want = (double *)calloc(block, sizeof *want);
    double *f64 = (double *)calloc(count, sizeof *f64);
    float *f32 = (float *)calloc(count, sizeof *f32);
    float *single = (float *)calloc(block, sizeof *single);

    EC_CHECK(d && want && f64 && f32 && single, "out of memory");
    EC_CHECK_CALL(ec_element_frame_of(normal, 0.7, &args.frame));
    for (int i = 0; i < TABLE; i++)
        EC_CHECK_CALL(ec_element_pattern_init((ec_element_kind)i, 1.3, axis, &args.pattern[i]));
    EC_CHECK_CALL(make_table(false, &full));
    EC_CHECK_CALL(make_table(true, &half));
    args.pattern[TABLE] = full;
    args.pattern[HALF_TABLE] = half;
    if (upload_tables(backend, &args.pattern[TABLE], tables) ||
        upload_tables(backend, &args.pattern[HALF_TABLE], tables + 2))
        return 1;
    for (size_t c = 0; c < ld; c++) { /* a spiral over the sphere */
        double e[3];
        unit(acos(1 - (2 * (double)c + 1) / (double)ld), 2.4 * (double)c, e);
        for (size_t i = 0; i < 3; i++)
            d[c + i * ld] = e[i];
    }
    EC_CHECK_CALL(ec_guarded_create(backend, 3 * ld * sizeof(double), &directions));
    EC_CHECK_CALL(ec_guarded_create(backend, count * sizeof(double), &m64));
    EC_CHECK_CALL(ec_guarded_create(backend, count * sizeof(float), &m32));
    EC_CHECK_CALL(backend->ops->upload(backend, directions.data, d, 3 * ld * sizeof(double)));
    args.direction = (const double *)directions.data;
    args.f64 = (double *)m64.data;
    args.f32 = (float *)m32.data;
    EC_CHECK_CALL(
        backend->ops->launch(backend, &ec_kernel_test_element, &args, LANES, EC_TEST_ELEMENTS));
    EC_CHECK_CALL(backend->ops->download(backend, f64, m64.data, count * sizeof *f64));
    EC_CHECK_CALL(backend->ops->download(backend, f32, m32.data, count * sizeof *f32));
    int bad = 0;
    for (int p = 0; p < EC_TEST_ELEMENTS; p++) {
        oracle(&args, d, p, want);
        for (size_t i = 0; i < block; i++)
            single[i] = (float)want[i];
        for (size_t row = 0; row < 4; row++) { /* padding is not compared */
            size_t at = (size_t)p * block + row * ld;
            double scale = 0;
            for (size_t c = 0; c < LANES; c++)
                scale = fmax(scale, fabs(want[row * ld + c]));
            if (scale == 0)
                continue;
            bad |= ec_compare_f64("float64", f64 + at, want + row * ld, LANES, limit[p]);
            bad |= ec_compare_f32("float32", f32 + at, single + row * ld, LANES, limit[p] + 1e-6);
        }
    }
    bad |= ec_guarded_check(backend, &m64, "f64") | ec_guarded_check(backend, &m32, "f32");
    for (int i = 0; i < 4; i++)
        ec_guarded_release(backend, &tables[i]);
    ec_guarded_release(backend, &directions);
    ec_guarded_release(backend, &m64);
    ec_guarded_release(backend, &m32);
    ec_element_table_destroy(&full);
    ec_element_table_destroy(&half);
    free(d);
    free(want);
    free(f64);
    free(f32);
    free(single);
    return bad;
}

const ec_case ec_cases_element[] = {
    {"element/fields", run_fields},
    {NULL, NULL},
};
