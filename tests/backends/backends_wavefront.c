/* backends_wavefront.c: rays over a curved surface and an edge on every backend, against the textbook
 * formulas written out: the curvature matrix itself (Deschamps 1972), the wedge's four terms as
 * Kouyoumjian and Pathak print them, the transition function by quadrature. */
#include "backends.h"
#include "backends_wavefront_kernels.h"
#include "ray_numbers.h"

#include <stdlib.h>

EC_KERNEL_DECLARE(test_ray, ec_test_ray_args)

enum { LANES = 1500 };

/* ---- the oracle ---- */

/* F(x) = 2 j sqrt(x) e^(-j pi/4) times the integral of exp(-t^2 - 2 sqrt(x) t e^(j pi/4)) from 0 to
 * infinity: Gauss and Legendre's rule of eight points in 40 panels. */
static double complex transition(double x)
{
    static const double node[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                   0.9602898564975363};
    static const double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                     0.1012285362903763};
    double s = sqrt(x), end = fmin(6.5, 28 / s), panel = end / 40;
    double complex turn = cexp(I * EC_PI / 4), sum = 0;

    for (int p = 0; p < 40; p++)
        for (int i = 0; i < 8; i++) {
            double t = panel * (p + 0.5 + (i < 4 ? 0.5 : -0.5) * node[i & 3]);
            sum += 0.5 * panel * weight[i & 3] * cexp(-t * t - 2 * s * t * turn);
        }
    return 2 * I * s / turn * sum;
}

/* cot((pi + sign b) / 2n) F(k L a(b)). */
static double complex one_term(double sign, double b, double n, double kl)
{
    double whole = rint((b + sign * EC_PI) / (2 * EC_PI * n));
    double a = 2 * pow(cos((2 * n * EC_PI * whole - b) / 2), 2);
    double complex f = transition(fabs(kl) * a);

    return (kl < 0 ? conj(f) : f) / tan((EC_PI + sign * b) / (2 * n));
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Half-wave dipole's field of gain 1.6409 along axis. */
static void dipole(const double axis[3], const double d[3], double e[3])
{
    double c = ec_dot3(axis, d);
    double gain = sqrt(1.6409223769) * cos(EC_PI / 2 * c) / (1 - c * c);

    for (int i = 0; i < 3; i++)
        e[i] = gain * (c * d[i] - axis[i]);
}

/* 2x2 matrices as a[0] a[1]; a[2] a[3]. */
static void product2(const double a[4], const double b[4], double c[4])
{
    const double p[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                         a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};

    for (int i = 0; i < 4; i++)
        c[i] = p[i];
}

static void inverse2(const double a[4], double b[4])
{
    double det = a[0] * a[3] - a[1] * a[2];
    const double r[4] = {a[3] / det, -a[1] / det, -a[2] / det, a[0] / det};

    for (int i = 0; i < 4; i++)
        b[i] = r[i];
}

/* Spreading from a place with curvature Q to s behind it: 1 / sqrt(det(I + sQ)), +j a focal line. */
static double complex spreading(const double q[4], double s)
{
    double mean = 0.5 * (q[0] + q[3]);
    double root = sqrt(fmax(mean * mean - (q[0] * q[3] - q[1] * q[2]), 0));
    double complex factor = 1;

    for (int i = 0; i < 2; i++) {
        double ratio = 1 + s * (mean + (i ? root : -root));
        factor *= (ratio < 0 ? I : 1) / sqrt(fabs(ratio));
    }
    return factor;
}

static double complex channel(const ec_test_ray_args *a, const double *ray)
{
    double v[EC_TEST_RAY_NUMBERS];

    for (int i = 0; i < EC_TEST_RAY_NUMBERS; i++)
        v[i] = ray[(size_t)i * a->ld];
    const double *d = v + EC_TEST_RAY_DIRECTION, *normal = v + EC_TEST_RAY_NORMAL;
    const double *leg = v + EC_TEST_RAY_LEGS;
    double e[3], out[3], k = 2 * EC_PI / a->wavelength, cosine = -ec_dot3(d, normal);

    /* reflected direction and field of a conductor; E = 2 (n.E) n - E */
    dipole(a->tx.pattern.axis, d, e);
    double ne = ec_dot3(normal, e);
    for (int i = 0; i < 3; i++) {
        out[i] = d[i] + 2 * cosine * normal[i];
        e[i] = (2 * ne * normal[i] - e[i]) / leg[0];
    }
    /* bases across both rays: one vector across the plane of incidence, one in it */
    double across[3], in[3], in_out[3], u[2][3];
    ec_cross3(d, normal, across);
    double sine = length3(across);
    for (int i = 0; i < 3; i++)
        across[i] /= sine;
    ec_cross3(across, d, in);
    ec_cross3(across, out, in_out);
    ec_scene_frame(normal, u[0], u[1]);
    double theta_in[4], theta_out[4];
    for (int j = 0; j < 2; j++) {
        theta_in[j] = ec_dot3(across, u[j]);
        theta_in[2 + j] = ec_dot3(in, u[j]);
        theta_out[j] = ec_dot3(across, u[j]);
        theta_out[2 + j] = ec_dot3(in_out, u[j]);
    }
    /* Theta_r^T Q_r Theta_r = Theta_i^T Q_i Theta_i + 2 cos C */
    double t[4] = {theta_in[0], theta_in[2], theta_in[1], theta_in[3]}, q[4], inverse[4];
    product2(t, theta_in, q);
    const double *form = v + EC_TEST_RAY_FORM;
    const double c[4] = {form[0], form[1], form[1], form[2]};
    for (int i = 0; i < 4; i++)
        q[i] = q[i] / leg[0] + 2 * cosine * c[i];
    inverse2(theta_out, inverse);
    product2(q, inverse, q);
    const double turned[4] = {inverse[0], inverse[2], inverse[1], inverse[3]};
    product2(turned, q, q);
    /* on to the edge */
    double complex size = spreading(q, leg[1]);
    double grown[4] = {1 + leg[1] * q[0], leg[1] * q[1], leg[1] * q[2], 1 + leg[1] * q[3]};
    inverse2(grown, grown);
    product2(q, grown, q);
    /* the wedge */
    const double *x = v + EC_TEST_RAY_INTO, *y = v + EC_TEST_RAY_FACE;
    double n = v[EC_TEST_RAY_N], phi = v[EC_TEST_RAY_PHI], z[3], away[3];
    ec_cross3(x, y, z);
    double cone = ec_dot3(out, z), s0 = sqrt(1 - cone * cone);
    double phi_in = atan2(-ec_dot3(out, y), -ec_dot3(out, x));
    phi_in += phi_in < 0 ? 2 * EC_PI : 0;
    double phi_hat_in[3], beta_in[3], phi_hat[3], beta[3];
    for (int i = 0; i < 3; i++) {
        away[i] = s0 * (cos(phi) * x[i] + sin(phi) * y[i]) + cone * z[i];
        phi_hat_in[i] = -sin(phi_in) * x[i] + cos(phi_in) * y[i];
        phi_hat[i] = -sin(phi) * x[i] + cos(phi) * y[i];
    }
    ec_cross3(out, phi_hat_in, beta_in);
    ec_cross3(away, phi_hat, beta);
    /* curvature in the plane of ray and edge, along beta_in */
    double p[2] = {ec_dot3(across, beta_in), ec_dot3(in_out, beta_in)};
    double bent = p[0] * (q[0] * p[0] + q[1] * p[1]) + p[1] * (q[2] * p[0] + q[3] * p[1]);
    double det = (1 + leg[2] * q[0]) * (1 + leg[2] * q[3]) - leg[2] * leg[2] * q[1] * q[2];
    double kl = k * leg[2] * (1 + leg[2] * bent) * s0 * s0 / det;
    double minus = phi - phi_in, plus = phi + phi_in;
    double complex first = one_term(1, minus, n, kl) + one_term(-1, minus, n, kl);
    double complex second = one_term(1, plus, n, kl) + one_term(-1, plus, n, kl);
    double complex factor = -cexp(-I * EC_PI / 4) / (2 * n * sqrt(2 * EC_PI * k) * s0);
    double complex soft = factor * (first - second), hard = factor * (first + second);
    double tail = leg[2] * (1 + leg[2] * bent);
    size *= (tail < 0 ? I : 1) / sqrt(fabs(tail));
    double back[3] = {-away[0], -away[1], -away[2]}, g[3];
    dipole(a->rx.pattern.axis, back, g);
    double complex sum = -soft * ec_dot3(beta_in, e) * ec_dot3(beta, g) -
                         hard * ec_dot3(phi_hat_in, e) * ec_dot3(phi_hat, g);
    double turns = fmod((leg[0] + leg[1] + leg[2]) / a->wavelength, 1);
    return a->wavelength / (4 * EC_PI) * size * sum * cexp(-2 * EC_PI * I * turns);
}

/* ---- rays ---- */

static void make_ray(uint64_t *seed, double *ray, size_t ld)
{
    double v[EC_TEST_RAY_NUMBERS], out[3], along[3], across[3], other[3], cosine;
    double *d = v + EC_TEST_RAY_DIRECTION, *normal = v + EC_TEST_RAY_NORMAL;

    do {
        random_unit(seed, d);
        random_unit(seed, normal);
        cosine = ec_dot3(d, normal);
    } while (cosine > -0.3 || cosine < -0.98);
    for (int i = 0; i < 3; i++) {
        out[i] = d[i] - 2 * cosine * normal[i];
        v[EC_TEST_RAY_FORM + i] = 0.8 * next_unit(seed) - (i == 1 ? 0.4 : 0.15);
        v[EC_TEST_RAY_LEGS + i] = 0.5 + 4 * next_unit(seed);
    }
    double n = 1.1 + 0.9 * next_unit(seed), phi_in = (0.02 + 0.96 * next_unit(seed)) * n * EC_PI;
    v[EC_TEST_RAY_N] = n;
    v[EC_TEST_RAY_PHI] = (0.02 + 0.96 * next_unit(seed)) * n * EC_PI;
    do {
        random_unit(seed, along);
    } while (fabs(ec_dot3(along, out)) > 0.9);
    /* towards the source, across the edge; face 0 is phi_in before it */
    for (int i = 0; i < 3; i++)
        across[i] = -out[i] + ec_dot3(along, out) * along[i];
    cosine = length3(across);
    for (int i = 0; i < 3; i++)
        across[i] /= cosine;
    ec_cross3(along, across, other);
    for (int i = 0; i < 3; i++) {
        v[EC_TEST_RAY_INTO + i] = cos(phi_in) * across[i] - sin(phi_in) * other[i];
        v[EC_TEST_RAY_FACE + i] = sin(phi_in) * across[i] + cos(phi_in) * other[i];
    }
    for (int i = 0; i < EC_TEST_RAY_NUMBERS; i++)
        ray[(size_t)i * ld] = v[i];
}

/* Ratio to what is expected, so that no large channel hides a small one. */
static void relative(const ec_test_ray_args *args, const double *got, const double complex *want,
                     double *ratio)
{
    for (size_t c = 0; c < LANES; c++) {
        double complex r = (got[c] + I * got[args->ld + c]) / want[c];
        ratio[2 * c] = creal(r);
        ratio[2 * c + 1] = cimag(r);
    }
}

static int run_rays(ec_backend *backend)
{
    const double tx[3] = {0.6, 0, 0.8}, rx[3] = {0, 1, 0};
    size_t ld = ec_lane_ld(LANES), ray_bytes = EC_TEST_RAY_NUMBERS * ld * sizeof(double);
    size_t h_bytes = 4 * ld * sizeof(double);
    ec_test_ray_args args = {.wavelength = 0.07, .ld = ld};
    ec_guarded rays, channels;
    uint64_t seed = 17;
    double *ray = (double *)malloc(ray_bytes), *h = (double *)malloc(h_bytes);
    double complex *want = (double complex *)malloc(2 * LANES * sizeof *want);
    double *ratio = (double *)malloc(2 * LANES * sizeof *ratio);
    double *one = (double *)calloc(2 * LANES, sizeof *one);

    EC_CHECK(ray && h && want && ratio && one, "out of memory");
    EC_CHECK_CALL(ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, tx, NULL, &args.tx));
    EC_CHECK_CALL(ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, rx, NULL, &args.rx));
    args.surface = (ec_fresnel_face){EC_FACE_HALF_SPACE, {5.2, -0.6}, 0};
    args.slab = (ec_fresnel_face){EC_FACE_SLAB, {2.6, -0.1}, 0.4};
    args.wedge[0] = (ec_fresnel_face){EC_FACE_HALF_SPACE, {4, -0.3}, 0};
    args.wedge[1] = (ec_fresnel_face){EC_FACE_HALF_SPACE, {6, -2}, 0};
    for (size_t c = 0; c < ld; c++)
        make_ray(&seed, ray + c, ld);
    EC_CHECK_CALL(ec_guarded_create(backend, ray_bytes, &rays));
    EC_CHECK_CALL(ec_guarded_create(backend, h_bytes, &channels));
    EC_CHECK_CALL(backend->ops->upload(backend, rays.data, ray, ray_bytes));
    args.ray = (const double *)rays.data;
    args.h = (double *)channels.data;
    EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_ray, &args, LANES, 2));
    EC_CHECK_CALL(backend->ops->download(backend, h, channels.data, h_bytes));
    args.ray = ray;
    for (size_t c = 0; c < LANES; c++) {
        want[c] = channel(&args, ray + c);
        want[LANES + c] = of_c(ec_test_ray_channel(&args, ray + c, 1));
        one[2 * c] = 1;
    }
    /* Differences of angles and of determinants near shadow boundaries, caustics and nulls of
     * antennas leave rounding errors a thousand times the precision */
    relative(&args, h, want, ratio);
    int bad = ec_compare_f64("conductors, oracle", ratio, one, 2 * LANES, 1e-9);
    /* with losses: the same source, compiled for the host without SIMD and fused operations */
    relative(&args, h + 2 * ld, want + LANES, ratio);
    bad |= ec_compare_f64("lossy, reference", ratio, one, 2 * LANES, 1e-9);
    bad |= ec_guarded_check(backend, &channels, "channels");
    ec_guarded_release(backend, &rays);
    ec_guarded_release(backend, &channels);
    free(ray);
    free(h);
    free(want);
    free(ratio);
    free(one);
    return bad;
}

const ec_case ec_cases_wavefront[] = {
    {"wavefront/rays", run_rays},
    {NULL, NULL},
};
