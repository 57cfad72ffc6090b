/* test_fresnel.c: fresnel.h against impedances, a transfer matrix, energy, and boundary conditions. */
#include "evaluators/mimo/fresnel.h"
#include "ray_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static ec_fresnel_face face_of(int32_t kind, double re, double im, double thickness)
{
    ec_fresnel_face face = {kind, {re, im}, thickness};

    return face;
}

/* ---- half spaces ---- */

/* By wave impedances: r = (Z2 - Z1) / (Z2 + Z1) of the fields along the face, where p's E along the
 * face points the other way after reflection. */
static void test_half_space(void **state)
{
    uint64_t seed = 1;
    (void)state;

    for (int i = 0; i < 2000; i++) {
        double complex eps = 1 + 20 * next_unit(&seed) - I * 10 * next_unit(&seed);
        double theta = 0.5 * EC_PI * next_unit(&seed);
        ec_fresnel_face face = face_of(EC_FACE_HALF_SPACE, creal(eps), cimag(eps), 0);
        ec_fresnel f = ec_fresnel_coefficients(&face, cos(theta));
        double complex inner = csqrt(1 - sin(theta) * sin(theta) / eps); /* cos of refraction */
        double complex z = 1 / csqrt(eps);
        double complex s = (z / inner - 1 / cos(theta)) / (z / inner + 1 / cos(theta));
        double complex p = (z * inner - cos(theta)) / (z * inner + cos(theta));
        assert_true(cabs(of_c(f.r_s) - s) < 1e-14);
        assert_true(cabs(of_c(f.r_p) + p) < 1e-14);
        assert_true(of_c(f.t_s) == 0 && of_c(f.t_p) == 0);
        assert_true(cabs(of_c(f.r_s)) < 1 && cabs(of_c(f.r_p)) < 1);
    }
}

static void test_special_angles(void **state)
{
    (void)state;
    for (double eps = 1.5; eps < 20; eps *= 1.7) {
        ec_fresnel_face face = face_of(EC_FACE_HALF_SPACE, eps, 0, 0);
        ec_fresnel f = ec_fresnel_coefficients(&face, 1);
        double normal = (1 - sqrt(eps)) / (1 + sqrt(eps));
        assert_true(cabs(of_c(f.r_s) - normal) < 1e-15 && cabs(of_c(f.r_p) + normal) < 1e-15);
        f = ec_fresnel_coefficients(&face, cos(atan(sqrt(eps)))); /* Brewster */
        assert_true(cabs(of_c(f.r_p)) < 1e-15 && cabs(of_c(f.r_s)) > 0.1);
        f = ec_fresnel_coefficients(&face, 0); /* grazing */
        assert_true(cabs(of_c(f.r_s) + 1) < 1e-15 && cabs(of_c(f.r_p) + 1) < 1e-15);
    }
    ec_fresnel_face copper = face_of(EC_FACE_HALF_SPACE, 1, -1e10, 0);
    ec_fresnel_face pec = face_of(EC_FACE_PEC, 0, 0, 0);
    ec_fresnel f = ec_fresnel_coefficients(&copper, 0.6), g = ec_fresnel_coefficients(&pec, 0.6);
    assert_true(cabs(of_c(f.r_s) - of_c(g.r_s)) < 3e-5);
    assert_true(cabs(of_c(f.r_p) - of_c(g.r_p)) < 5e-5);
    assert_true(of_c(g.r_s) == -1 && of_c(g.r_p) == 1 && of_c(g.t_p) == 0);
    ec_fresnel_face plasma = face_of(EC_FACE_HALF_SPACE, 0.5, 0, 0); /* total reflection */
    f = ec_fresnel_coefficients(&plasma, 0.5);
    assert_true(fabs(cabs(of_c(f.r_s)) - 1) < 1e-15 && cimag(of_c(f.r_s)) > 0.1);
}

/* ---- slabs ---- */

/* R and T of a stack of layers by 2x2 matrices of the fields along the face (Born and Wolf 1.6), s:
 * E across, p: H across; faces at the first and last surface. R in the convention of fresnel.h. */
static void stack(int n, const double complex *eps, const double *w, double theta, bool p,
                  double complex *r, double complex *t)
{
    double complex m[2][2] = {{1, 0}, {0, 1}};
    double outer = cos(theta); /* admittance of s, and impedance of p, of free space */

    for (int i = 0; i < n; i++) {
        double complex q = csqrt(eps[i] - sin(theta) * sin(theta)), d = 2 * EC_PI * w[i] * q;
        double complex y = p ? q / eps[i] : q;
        double complex layer[2][2] = {{ccos(d), I * csin(d) / y}, {I * y * csin(d), ccos(d)}};
        double complex next[2][2];
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                next[a][b] = m[a][0] * layer[0][b] + m[a][1] * layer[1][b];
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                m[a][b] = next[a][b];
    }
    double complex top = m[0][0] + m[0][1] * outer, bottom = m[1][0] + m[1][1] * outer;
    /* of E for s, of H for p, whose sign is that of fresnel.h's r_p */
    *r = (outer * top - bottom) / (outer * top + bottom);
    *t = 2 * outer / (outer * top + bottom);
}

static void test_slab(void **state)
{
    uint64_t seed = 2;
    (void)state;

    for (int i = 0; i < 3000; i++) {
        double complex eps = 1 + 8 * next_unit(&seed) - (i % 3 ? I * 3 * next_unit(&seed) : 0);
        double theta = 0.49 * EC_PI * next_unit(&seed), width = 2 * next_unit(&seed);
        ec_fresnel_face face = face_of(EC_FACE_SLAB, creal(eps), cimag(eps), width);
        ec_fresnel f = ec_fresnel_coefficients(&face, cos(theta));
        double complex middle = cexp(2 * EC_PI * I * width * cos(theta)), r, t;
        double complex layers[2] = {eps, eps};
        double widths[2] = {0.3 * width, 0.7 * width};
        stack(2, layers, widths, theta, false, &r, &t);
        assert_true(cabs(of_c(f.r_s) - r * middle) < 1e-12);
        assert_true(cabs(of_c(f.t_s) - t * middle) < 1e-12);
        stack(2, layers, widths, theta, true, &r, &t);
        assert_true(cabs(of_c(f.r_p) - r * middle) < 1e-12);
        assert_true(cabs(of_c(f.t_p) - t * middle) < 1e-12);
        double s = pow(cabs(of_c(f.r_s)), 2) + pow(cabs(of_c(f.t_s)), 2);
        double p = pow(cabs(of_c(f.r_p)), 2) + pow(cabs(of_c(f.t_p)), 2);
        if (cimag(eps) == 0)
            assert_true(fabs(s - 1) < 1e-13 && fabs(p - 1) < 1e-13);
        else
            assert_true(s < 1 && p < 1);
    }
}

static void test_slab_limits(void **state)
{
    (void)state;
    ec_fresnel_face air = face_of(EC_FACE_SLAB, 1, 0, 0.37), thin = face_of(EC_FACE_SLAB, 5, 0, 0);
    ec_fresnel_face half_wave = face_of(EC_FACE_SLAB, 4, 0, 0.25);
    ec_fresnel_face thick = face_of(EC_FACE_SLAB, 4, -2, 200);
    ec_fresnel_face half_space = face_of(EC_FACE_HALF_SPACE, 4, -2, 0);
    ec_fresnel f = ec_fresnel_coefficients(&air, 0.4);
    /* no wall: the straight ray as if nothing were there */
    assert_true(cabs(of_c(f.t_s) - 1) < 1e-14 && cabs(of_c(f.t_p) - 1) < 1e-14);
    f = ec_fresnel_coefficients(&thin, 0.4);
    assert_true(cabs(of_c(f.t_s) - 1) < 1e-15 && cabs(of_c(f.r_s)) < 1e-15);
    f = ec_fresnel_coefficients(&half_wave, 1);
    assert_true(cabs(of_c(f.r_s)) < 1e-15 && fabs(cabs(of_c(f.t_s)) - 1) < 1e-15);
    f = ec_fresnel_coefficients(&thick, 0.4);
    ec_fresnel g = ec_fresnel_coefficients(&half_space, 0.4);
    assert_true(cabs(of_c(f.t_s)) < 1e-100);
    assert_true(fabs(cabs(of_c(f.r_p)) - cabs(of_c(g.r_p))) < 1e-15);
}

/* ---- vectors ---- */

static void random_ray(uint64_t *seed, double d[3], double n[3], ec_c128 e[3])
{
    double length[2] = {0, 0};

    for (int i = 0; i < 3; i++) {
        d[i] = next_unit(seed) - 0.5;
        n[i] = next_unit(seed) - 0.5;
        length[0] += d[i] * d[i];
        length[1] += n[i] * n[i];
    }
    for (int i = 0; i < 3; i++) {
        d[i] /= sqrt(length[0]);
        n[i] /= sqrt(length[1]);
    }
    double re[3], im[3];
    for (int i = 0; i < 3; i++) {
        re[i] = next_unit(seed) - 0.5;
        im[i] = next_unit(seed) - 0.5;
    }
    double a = ec_dot3(re, d), b = ec_dot3(im, d);
    for (int i = 0; i < 3; i++)
        e[i] = ec_c128_of(re[i] - a * d[i], im[i] - b * d[i]);
}

/* Against the two polarisations written out. */
static void test_vectors(void **state)
{
    uint64_t seed = 3;
    (void)state;

    for (int trial = 0; trial < 2000; trial++) {
        double d[3], n[3], s[3], p[3], p_reflected[3], out[3];
        ec_c128 e[3], got[3], through[3];
        random_ray(&seed, d, n, e);
        ec_fresnel_face face = face_of(trial % 3, 4, -1, 0.2);
        ec_fresnel f = ec_fresnel_coefficients(&face, fabs(ec_dot3(d, n)));
        ec_cross3(d, n, s);
        double sine = sqrt(ec_dot3(s, s));
        for (int i = 0; i < 3; i++)
            s[i] /= sine;
        ec_fresnel_mirror(n, d, out);
        ec_cross3(s, d, p);
        ec_cross3(s, out, p_reflected);
        double complex es = of_c(ec_c128_dot3_real(s, e)), ep = of_c(ec_c128_dot3_real(p, e));
        ec_fresnel_reflect(&f, d, n, e, got);
        ec_fresnel_transmit(&f, d, n, e, through);
        for (int i = 0; i < 3; i++) {
            double complex want = of_c(f.r_s) * es * s[i] + of_c(f.r_p) * ep * p_reflected[i];
            assert_true(cabs(of_c(got[i]) - want) < 1e-13);
            want = of_c(f.t_s) * es * s[i] + of_c(f.t_p) * ep * p[i];
            assert_true(cabs(of_c(through[i]) - want) < 1e-13);
        }
        assert_true(cabs(of_c(ec_c128_dot3_real(out, got))) < 1e-14);
        if (face.kind == EC_FACE_PEC) /* nothing along the face */
            for (int i = 0; i < 3; i++) {
                double along[3] = {i == 0, i == 1, i == 2};
                for (int k = 0; k < 3; k++)
                    along[k] -= n[i] * n[k];
                double complex sum =
                    of_c(ec_c128_dot3_real(along, e)) + of_c(ec_c128_dot3_real(along, got));
                assert_true(cabs(sum) < 1e-14);
            }
    }
}

/* Through normal incidence, where the polarisations have no direction. */
static void test_normal_incidence(void **state)
{
    const double n[3] = {0, 0, 1};
    const ec_fresnel_face face = {EC_FACE_HALF_SPACE, {4, -1}, 0};
    (void)state;

    for (int i = 0; i < 40; i++) {
        double sine = i == 39 ? 0 : pow(2, -i), c = sqrt(1 - sine * sine);
        double d[3] = {0.6 * sine, 0.8 * sine, -c}, length = sqrt(d[0] * d[0] + c * c);
        ec_c128 e[3] = {{c / length, 0}, {0, 0}, {d[0] / length, 0}}, got[3]; /* in the x-z plane */
        ec_fresnel f = ec_fresnel_coefficients(&face, c);
        double complex r = of_c(f.r_s);
        ec_fresnel_reflect(&f, d, n, e, got);
        assert_true(cabs(of_c(got[0]) - r) < 3 * sine + 1e-15);
        assert_true(cabs(of_c(got[1])) < sine * sine + 1e-15);
        /* both polarisations from the direction that s tends to */
        const double s[3] = {0.8, -0.6, 0}, out[3] = {d[0], d[1], -d[2]};
        double p_in[3], p_out[3];
        ec_cross3(s, d, p_in);
        ec_cross3(s, out, p_out);
        for (int k = 0; k < 3; k++) {
            double complex want = r * of_c(ec_c128_dot3_real(s, e)) * s[k] +
                                  of_c(f.r_p) * of_c(ec_c128_dot3_real(p_in, e)) * p_out[k];
            assert_true(cabs(of_c(got[k]) - want) < 2e-15);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_space), cmocka_unit_test(test_special_angles),
        cmocka_unit_test(test_slab),       cmocka_unit_test(test_slab_limits),
        cmocka_unit_test(test_vectors),    cmocka_unit_test(test_normal_incidence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
