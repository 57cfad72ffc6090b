/* test_ray_tube.c: the tubes of wavefront.h against rays traced one beside the other, the curvature
 * formulas of a sphere and a cylinder, caustics, and diffraction between curved surfaces. */
#include "evaluators/mimo/wavefront.h"
#include "ray_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const ec_fresnel_face pec = {EC_FACE_PEC, {0, 0}, 0};

static double make_unit(double v[3])
{
    double length = sqrt(ec_dot3(v, v));

    for (int i = 0; i < 3; i++)
        v[i] /= length;
    return length;
}

/* ---- exact rays ---- */

typedef struct shape {
    enum { SPHERE, CYLINDER, PLANE } kind;
    double point[3], axis[3], radius; /* plane: axis is its normal */
} shape;

/* Distance to the nearest crossing beyond 1e-6; infinite for none. normal: away from the centre. */
static double hit_of(const shape *s, const double o[3], const double d[3], double normal[3])
{
    double r[3], v[3], t;

    for (int i = 0; i < 3; i++) {
        r[i] = o[i] - s->point[i];
        v[i] = d[i];
    }
    if (s->kind == PLANE) {
        t = -ec_dot3(r, s->axis) / ec_dot3(d, s->axis);
        for (int i = 0; i < 3; i++)
            normal[i] = s->axis[i];
        return t > 1e-6 ? t : (double)INFINITY;
    }
    if (s->kind == CYLINDER) {
        double a = ec_dot3(r, s->axis), b = ec_dot3(d, s->axis);
        for (int i = 0; i < 3; i++) {
            r[i] -= a * s->axis[i];
            v[i] -= b * s->axis[i];
        }
    }
    double a = ec_dot3(v, v), b = ec_dot3(r, v), c = ec_dot3(r, r) - s->radius * s->radius;
    double root = b * b - a * c;
    if (root < 0)
        return (double)INFINITY;
    t = (-b - sqrt(root)) / a;
    if (t < 1e-6)
        t = (-b + sqrt(root)) / a;
    if (t < 1e-6)
        return (double)INFINITY;
    for (int i = 0; i < 3; i++)
        normal[i] = (r[i] + t * v[i]) / s->radius;
    return t;
}

static ec_curvature curvature_of(const shape *s, const double normal[3])
{
    ec_curvature c;

    memset(&c, 0, sizeof c);
    if (s->kind == CYLINDER) { /* u around, v along */
        ec_cross3(s->axis, normal, c.u);
        memcpy(c.v, s->axis, sizeof c.v);
        c.uu = 1 / s->radius;
    } else {
        ec_scene_frame(normal, c.u, c.v);
        c.uu = c.vv = s->kind == SPHERE ? 1 / s->radius : 0;
    }
    /* the same form in a basis turned by some angle */
    double a = 0.7, ca = cos(a), sa = sin(a), uu = c.uu, vv = c.vv;
    for (int i = 0; i < 3; i++) {
        double u = c.u[i], v = c.v[i];
        c.u[i] = ca * u + sa * v;
        c.v[i] = ca * v - sa * u;
    }
    c.uu = ca * ca * uu + sa * sa * vv;
    c.vv = sa * sa * uu + ca * ca * vv;
    c.uv = ca * sa * (vv - uu);
    return c;
}

/* One ray over the shapes and `last` further. False when one is missed. */
static bool trace(const shape *s, int n, double o[3], double d[3], double last)
{
    for (int i = 0; i < n; i++) {
        double normal[3], t = hit_of(&s[i], o, d, normal), out[3];
        if (isinf(t))
            return false;
        for (int k = 0; k < 3; k++)
            o[k] += t * d[k];
        ec_fresnel_mirror(normal, d, out);
        memcpy(d, out, sizeof out);
    }
    for (int k = 0; k < 3; k++)
        o[k] += last * d[k];
    return true;
}

/* The same as a tube. Cosine of the most grazing reflection; 0 when a shape is missed. */
static double follow(const shape *s, int n, double o[3], ec_wavefront *w, double last)
{
    double least = 1;

    for (int i = 0; i < n; i++) {
        double normal[3], t = hit_of(&s[i], o, w->direction, normal);
        if (isinf(t))
            return 0;
        for (int k = 0; k < 3; k++)
            o[k] += t * w->direction[k];
        least = fmin(least, fabs(ec_dot3(w->direction, normal)));
        ec_curvature c = curvature_of(&s[i], normal);
        ec_wavefront_advance(w, t);
        ec_wavefront_reflect(w, normal, s[i].kind == PLANE ? NULL : &c, &pec);
    }
    ec_wavefront_advance(w, last);
    for (int k = 0; k < 3; k++)
        o[k] += last * w->direction[k];
    return least;
}

static void random_shape(uint64_t *seed, shape *s)
{
    s->kind = (int)(2.5 * next_unit(seed));
    s->radius = 1 + 3 * next_unit(seed);
    random_unit(seed, s->axis);
    for (int i = 0; i < 3; i++)
        s->point[i] = 12 * next_unit(seed) - 6;
}

static void launch(const double d[3], ec_wavefront *w)
{
    double basis[2][3];
    ec_c128 e[3];

    ec_scene_frame(d, basis[0], basis[1]);
    for (int i = 0; i < 3; i++)
        e[i] = ec_c128_of(basis[0][i], 0.5 * basis[1][i]);
    ec_wavefront_source(d, e, w);
}

/* Spread and slope of any sequence of convex, concave and flat reflections against neighbours at
 * +-h in both directions, and the focal lines against the sign of the determinant along the way. */
static void test_neighbours(void **state)
{
    const double h = 1e-5;
    uint64_t seed = 7;
    int counted = 0, focal = 0;
    (void)state;

    for (int trial = 0; trial < 60000 && counted < 3000; trial++) {
        int n = 1 + trial % 3;
        shape s[3];
        double o[3] = {0, 0, 0}, d[3], end[3] = {0, 0, 0}, last = 2 + 5 * next_unit(&seed);
        ec_wavefront w, start;
        for (int i = 0; i < n; i++)
            random_shape(&seed, &s[i]);
        random_unit(&seed, d);
        launch(d, &w);
        start = w;
        if (follow(s, n, end, &w, last) < 0.25)
            continue;
        double a[2][2], b[2][2], size = 0;
        bool whole = true;
        for (int j = 0; j < 2 && whole; j++) {
            double p[2][3], v[2][3];
            for (int side = 0; side < 2; side++) {
                for (int k = 0; k < 3; k++) {
                    p[side][k] = o[k];
                    v[side][k] = d[k] + (side ? h : -h) * start.basis[j][k];
                }
                make_unit(v[side]);
                whole = whole && trace(s, n, p[side], v[side], last);
                /* on to the plane across the ray */
                double ahead = 0;
                for (int k = 0; k < 3; k++)
                    ahead += (end[k] - p[side][k]) * w.direction[k];
                ahead /= ec_dot3(v[side], w.direction);
                for (int k = 0; k < 3; k++)
                    p[side][k] += ahead * v[side][k];
            }
            for (int i = 0; i < 2; i++) {
                a[i][j] = b[i][j] = 0;
                for (int k = 0; k < 3; k++) {
                    a[i][j] += w.basis[i][k] * (p[1][k] - p[0][k]) / (2 * h);
                    b[i][j] += w.basis[i][k] * (v[1][k] - v[0][k]) / (2 * h);
                }
                size = fmax(size, fmax(fabs(a[i][j]), fabs(b[i][j])));
            }
        }
        if (!whole || size > 300) /* neighbours that see another part */
            continue;
        counted++;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                if (fabs(a[i][j] - w.spread[i][j]) > 1e-6 * size * fmax(1, size) ||
                    fabs(b[i][j] - w.slope[i][j]) > 1e-6 * size * fmax(1, size))
                    fail_msg("trial %d, %d bounces: A %.9g for %.9g, B %.9g for %.9g", trial, n,
                             w.spread[i][j], a[i][j], w.slope[i][j], b[i][j]);
        /* the amplitude is that of the tube's section */
        ec_c128 e[3];
        double power = 0, sent = 0;
        ec_wavefront_field(&w, e);
        for (int k = 0; k < 3; k++) {
            power += pow(cabs(of_c(e[k])), 2);
            sent += pow(cabs(of_c(start.field[k])), 2);
        }
        double section = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        assert_true(fabs(power * fabs(section) / sent - 1) < 1e-4 * fmax(1, size / fabs(section)));
        /* signs on a fine grid of every segment */
        int flips = 0;
        double at[3] = {0, 0, 0};
        ec_wavefront walk = start;
        for (int i = 0; i <= n; i++) {
            double normal[3] = {0, 0, 0}, t = last;
            if (i < n)
                t = hit_of(&s[i], at, walk.direction, normal);
            double before = i ? ec_wavefront_det(walk.spread) : 1;
            ec_wavefront step = walk;
            for (int m = 1; m <= 2000; m++) {
                step = walk;
                ec_wavefront_advance(&step, t * m / 2000);
                double now = ec_wavefront_det(step.spread);
                flips += now * before < 0;
                before = now;
            }
            walk = step;
            for (int k = 0; k < 3; k++)
                at[k] += t * walk.direction[k];
            if (i < n) {
                ec_curvature c = curvature_of(&s[i], normal);
                ec_wavefront_reflect(&walk, normal, s[i].kind == PLANE ? NULL : &c, &pec);
            }
        }
        if (flips != w.caustics && flips != w.caustics - 2) /* two within one step of the grid */
            fail_msg("trial %d: %d focal lines, %d seen", trial, w.caustics, flips);
        focal += w.caustics;
    }
    assert_true(counted == 3000 && focal > 300);
}

/* ---- formulas ---- */

static double of_sphere_or_cylinder(bool sphere, double s1, double a, double theta, double tilt,
                                    double *across)
{
    /* centre behind the origin, normal x; the ray comes in at theta, its plane turned by tilt */
    shape s = {sphere ? SPHERE : CYLINDER, {-a, 0, 0}, {0, 0, 1}, a};
    double d[3] = {-cos(theta), sin(theta) * cos(tilt), sin(theta) * sin(tilt)}, o[3], in[3], b[3];
    ec_wavefront w;

    for (int i = 0; i < 3; i++)
        o[i] = -s1 * d[i];
    launch(d, &w);
    follow(&s, 1, o, &w, 0);
    b[0] = 0; /* across the plane of incidence */
    b[1] = -sin(tilt);
    b[2] = cos(tilt);
    ec_cross3(b, w.direction, in);
    ec_utd_curvature c = ec_wavefront_curvature_in(&w, in, b);
    *across = c.across;
    return c.along;
}

static void test_formulas(void **state)
{
    (void)state;
    for (double s1 = 2; s1 < 50; s1 *= 2.3)
        for (double theta = 0.05; theta < 1.45; theta += 0.2) {
            double a = 3.7, across, along;
            along = of_sphere_or_cylinder(true, s1, a, theta, 0.4, &across);
            assert_true(fabs(along - (1 / s1 + 2 / (a * cos(theta)))) < 1e-12);
            assert_true(fabs(across - (1 / s1 + 2 * cos(theta) / a)) < 1e-12);
            along = of_sphere_or_cylinder(false, s1, a, theta, 0, &across);
            assert_true(fabs(along - (1 / s1 + 2 / (a * cos(theta)))) < 1e-12);
            assert_true(fabs(across - 1 / s1) < 1e-12);
            /* the plane of incidence holds the axis */
            along = of_sphere_or_cylinder(false, s1, a, theta, EC_PI / 2, &across);
            assert_true(fabs(along - 1 / s1) < 1e-12);
            assert_true(fabs(across - (1 / s1 + 2 * cos(theta) / a)) < 1e-12);
            /* oblique: the added curvature is 2 sin^2(th) / (a cos i), th between ray and axis,
             * all of it in one direction (a trace of rank one) */
            double tilt = 0.6, axial = sin(theta) * sin(tilt);
            along = of_sphere_or_cylinder(false, s1, a, theta, tilt, &across);
            double want = 2 * (1 - axial * axial) / (a * cos(theta));
            assert_true(fabs(along + across - 2 / s1 - want) < 1e-12);
        }
}

static double amplitude(const ec_wavefront *w)
{
    return 1 / sqrt(fabs(ec_wavefront_det(w->spread)));
}

static void test_known_echoes(void **state)
{
    (void)state;
    /* from (15, -40) over the cylinder of radius 10 to (15, 40): -15.25 dB against a plane */
    shape cylinder = {CYLINDER, {0, 0, 0}, {0, 0, 1}, 10};
    double o[3] = {15, -40, 0}, d[3] = {-5, 40, 0}, s = make_unit(d);
    ec_wavefront w;
    launch(d, &w);
    double cosine = follow(&cylinder, 1, o, &w, s);
    assert_true(fabs(o[0] - 15) < 1e-9 && fabs(o[1] - 40) < 1e-9);
    assert_true(fabs(cosine - 5 / s) < 1e-12 && fabs(s - 40.31) < 2e-3);
    assert_true(fabs(amplitude(&w) * 2 * s - 0.1728) < 5e-5);
    /* back to the transmitter from 30 off its face: half of the plane's */
    double from[3] = {40, 0, 0}, back[3] = {-1, 0, 0};
    launch(back, &w);
    follow(&cylinder, 1, from, &w, 30);
    assert_true(fabs(amplitude(&w) * 60 - 0.5) < 1e-12);
    /* from a sphere far away: a / 2 */
    shape sphere = {SPHERE, {0, 0, 0}, {0, 0, 1}, 2};
    double far[3] = {1e6, 0, 0};
    launch(back, &w);
    follow(&sphere, 1, far, &w, 1e6 - 2);
    assert_true(fabs(amplitude(&w) * (1e6 - 2) * (1e6 - 2) - 1) < 1e-5);
}

/* Point and line foci of hollow mirrors; a flat mirror between changes nothing. */
static void test_caustics(void **state)
{
    shape hollow = {SPHERE, {0, 0, 0}, {0, 0, 1}, 4}, tunnel = {CYLINDER, {0, 0, 0}, {0, 0, 1}, 4};
    const double d[3] = {1, 0, 0};
    ec_wavefront w;
    ec_c128 before[3], after[3];
    (void)state;

    double o[3] = {1, 0, 0};
    launch(d, &w);
    follow(&hollow, 1, o, &w, 1); /* image: 1/3 + 1/v = 2/4: v = 6 */
    assert_int_equal(w.caustics, 0);
    ec_wavefront_field(&w, before);
    ec_wavefront_advance(&w, 10);
    assert_int_equal(w.caustics, 2);
    ec_wavefront_field(&w, after); /* a point focus turns the sign */
    assert_true(cabs(of_c(after[1]) + of_c(before[1])) < 1e-12 && cabs(of_c(before[1])) > 0.1);
    double p[3] = {1, 0, 0};
    launch(d, &w);
    follow(&tunnel, 1, p, &w, 5);
    assert_int_equal(w.caustics, 0);
    ec_wavefront_field(&w, before);
    ec_wavefront_advance(&w, 2);
    assert_int_equal(w.caustics, 1);
    ec_wavefront_field(&w, after);
    assert_true(creal(of_c(after[1]) / (I * of_c(before[1]))) > 0); /* e^(+j pi/2) */
    /* a plane wave into the hollow: focus at half the radius */
    const ec_c128 e[3] = {{0, 0}, {1, 0}, {0, 0}};
    double q[3] = {0, 0, 0};
    ec_wavefront_plane(d, e, &w);
    follow(&hollow, 1, q, &w, 1.99);
    assert_int_equal(w.caustics, 0);
    ec_wavefront_advance(&w, 0.02);
    assert_int_equal(w.caustics, 2);
}

/* ---- edges ---- */

/* The tube behind an edge against neighbours on the edge and on the cone. */
static void test_edge_tube(void **state)
{
    uint64_t seed = 9;
    (void)state;

    for (int trial = 0; trial < 200; trial++) {
        const ec_utd_edge edge = {{1, 0, 0}, {0, 1, 0}, 2, 0};
        const ec_fresnel_face face[2] = {pec, pec};
        const ec_c128 none[3] = {{0, 0}, {0, 0}, {0, 0}};
        double s[3] = {1 + next_unit(&seed), 1 + next_unit(&seed), 4 * next_unit(&seed) - 2};
        double phi = 2 * EC_PI * next_unit(&seed), length = 5 * next_unit(&seed);
        double h = 1e-5, d[3] = {-s[0], -s[1], -s[2]}, end[3], out[3];
        double s1 = make_unit(d), sine = sqrt(1 - d[2] * d[2]);
        ec_wavefront w, back;

        out[0] = sine * cos(phi);
        out[1] = sine * sin(phi);
        out[2] = d[2];
        launch(d, &w);
        ec_wavefront_advance(&w, s1);
        ec_wavefront_source((double[3]){-out[0], -out[1], -out[2]}, none, &back);
        ec_wavefront_advance(&back, length);
        ec_wavefront_diffract(&w, &edge, face, out, &back, 0.1);
        ec_wavefront_advance(&w, length);
        assert_true(fabs(w.length - s1 - length) < 1e-14);
        for (int k = 0; k < 3; k++)
            end[k] = length * out[k];
        double section = ec_wavefront_det(w.spread);
        assert_true(fabs(section - length * (1 + length / s1)) < 1e-12); /* s (s + s') / s' */
        for (int j = 0; j < 2; j++) {
            double p[2][3];
            for (int side = 0; side < 2; side++) {
                double g = side ? h : -h, z = j == 1 ? g / sine : 0, v[3];
                double angle = phi + (j == 0 ? g / sine : 0);
                double in[3] = {-s[0], -s[1], z - s[2]};
                make_unit(in);
                double cone = sqrt(1 - in[2] * in[2]);
                v[0] = cone * cos(angle);
                v[1] = cone * sin(angle);
                v[2] = in[2];
                double q[3] = {0, 0, z}, ahead = 0;
                for (int k = 0; k < 3; k++)
                    ahead += (end[k] - q[k]) * out[k];
                ahead /= ec_dot3(v, out);
                for (int k = 0; k < 3; k++)
                    p[side][k] = q[k] + ahead * v[k];
            }
            for (int i = 0; i < 2; i++) {
                double a = 0;
                for (int k = 0; k < 3; k++)
                    a += w.basis[i][k] * (p[1][k] - p[0][k]) / (2 * h);
                assert_true(fabs(a - w.spread[i][j]) < 1e-7 * (1 + length));
            }
        }
    }
}

/* On its shadow boundaries an edge between curved mirrors sends half of the field that geometrical
 * optics has there, whatever curvatures and caustics are before and behind it. The wavelength is
 * so short that the other terms do not count. */
static void test_edge_between_mirrors(void **state)
{
    uint64_t seed = 13;
    int counted = 0, negative = 0;
    (void)state;

    for (int trial = 0; trial < 200000 && counted < 2000; trial++) {
        int before = trial % 3, behind = trial / 3 % 3;
        bool reflects = trial / 9 % 2;
        const double wavelength = 1e-12;
        shape s[2], t[2], turned[2];
        double o[3] = {0, 0, 0}, d[3], q[3], gap = 0.5 + 2 * next_unit(&seed), end[3];
        double last = 0.5 + 4 * next_unit(&seed);
        ec_wavefront w, optics, back;
        const ec_c128 none[3] = {{0, 0}, {0, 0}, {0, 0}};
        const ec_fresnel_face face[2] = {pec, pec};
        ec_utd_edge edge;

        for (int i = 0; i < 2; i++) {
            random_shape(&seed, &s[i]);
            random_shape(&seed, &t[i]);
        }
        random_unit(&seed, d);
        launch(d, &w);
        if (follow(s, before, o, &w, gap) < 0.25)
            continue;
        memcpy(q, o, sizeof q);
        /* an edge across the ray; its face such that the ray grazes past it or meets it */
        double along[3], into[3], normal[3], lean;
        random_unit(&seed, along);
        double cosine = ec_dot3(along, w.direction);
        if (fabs(cosine) > 0.8)
            continue;
        do {
            random_unit(&seed, normal);
            lean = ec_dot3(normal, along);
            for (int k = 0; k < 3; k++)
                normal[k] -= lean * along[k];
            make_unit(normal);
            lean = ec_dot3(normal, w.direction);
        } while (fabs(lean) < 0.2);
        if (lean > 0)
            for (int k = 0; k < 3; k++)
                normal[k] = -normal[k];
        ec_cross3(normal, along, into); /* into x normal = along */
        memcpy(edge.into, into, sizeof into);
        memcpy(edge.normal, normal, sizeof normal);
        edge.n = 2;
        edge.touch = 0;
        optics = w;
        if (reflects)
            ec_wavefront_reflect(&optics, normal, NULL, &pec);
        double out[3], towards[3];
        memcpy(out, optics.direction, sizeof out);
        memcpy(end, q, sizeof end);
        if (follow(t, behind, end, &optics, last) < 0.25)
            continue;
        for (int k = 0; k < 3; k++)
            towards[k] = -optics.direction[k];
        ec_wavefront_source(towards, none, &back);
        for (int i = 0; i < behind; i++)
            turned[i] = t[behind - 1 - i];
        double way = optics.length - w.length, at[3];
        memcpy(at, end, sizeof at);
        /* backwards over the same mirrors: the last leg is what is left of the way */
        if (follow(turned, behind, at, &back, 0) < 0.25)
            continue;
        if (fabs(back.length - way) < 1e-9 || back.length > way)
            continue;
        ec_wavefront_advance(&back, way - back.length);
        double miss = 0;
        for (int k = 0; k < 3; k++)
            miss = fmax(miss, fabs(back.direction[k] + out[k]));
        if (miss > 1e-9) /* another crossing of the mirror came first */
            continue;
        ec_wavefront_diffract(&w, &edge, face, out, &back, wavelength);
        double start[3];
        memcpy(start, q, sizeof start);
        follow(t, behind, start, &w, last);
        ec_c128 got[3], want[3];
        ec_wavefront_field(&w, got);
        ec_wavefront_field(&optics, want);
        double complex top = 0;
        double bottom = 0;
        for (int k = 0; k < 3; k++) {
            top += of_c(got[k]) * conj(of_c(want[k]));
            bottom += pow(cabs(of_c(want[k])), 2);
        }
        double complex ratio = top / bottom;
        /* shadow side of the incident, lit side of the reflected ray; behind one caustic between
         * the edge and the receiver the sides are changed */
        double sign = reflects ? -1 : 1;
        counted++;
        negative += creal(ratio) * sign < 0;
        if (fabs(fabs(creal(ratio)) - 0.5) > 1e-3 || fabs(cimag(ratio)) > 1e-3)
            fail_msg("trial %d (%d before, %d behind): (%.6g, %.6g) of the field", trial, before,
                     behind, creal(ratio), cimag(ratio));
        if (behind == 0 && creal(ratio) * sign < 0)
            assert_true(before > 0);
    }
    assert_true(counted == 2000 && negative > 20 && negative < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours),   cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_known_echoes), cmocka_unit_test(test_caustics),
        cmocka_unit_test(test_edge_tube),    cmocka_unit_test(test_edge_between_mirrors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
