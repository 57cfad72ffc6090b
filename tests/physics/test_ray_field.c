/* test_ray_field.c: channels of paths against closed answers: free space, two rays, a canyon, corner
 * reflectors by images, the line-of-sight and plate cases of 4x4 antennas, and exchange of source
 * and receiver and rotation for paths over everything. */
#include "evaluators/mimo/ray_field.h"
#include "ray_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static const ec_fresnel_face pec = {EC_FACE_PEC, {0, 0}, 0};

static ec_antenna antenna_of(ec_element_kind kind, double x, double y, double z)
{
    const double axis[3] = {x, y, z};
    ec_antenna antenna;

    assert_int_equal(ec_antenna_init(kind, 0, axis, NULL, &antenna), EC_OK);
    return antenna;
}

/* exp(-jkr) / r */
static double complex wave(double r, double wavelength)
{
    return cexp(-2 * EC_PI * I * fmod(r / wavelength, 1)) / r;
}

static void facet_of(double nx, double ny, double nz, double offset, ec_facet *f)
{
    memset(f, 0, sizeof *f);
    f->normal[0] = nx;
    f->normal[1] = ny;
    f->normal[2] = nz;
    f->offset = offset;
}

/* Channel over mirrors in the order given, their points by images. */
static double complex over_mirrors(const ec_antenna *tx, const double from[3],
                                   const ec_facet *mirror, const ec_fresnel_face *face, int n,
                                   const ec_antenna *rx, const double to[3], double wavelength)
{
    ec_ray_event event[32];
    double image[33][3];

    memcpy(image[0], from, sizeof image[0]);
    for (int i = 0; i < n; i++) {
        double up = mirror[i].offset - ec_dot3(mirror[i].normal, image[i]);
        for (int k = 0; k < 3; k++)
            image[i + 1][k] = image[i][k] + 2 * up * mirror[i].normal[k];
    }
    double at[3] = {to[0], to[1], to[2]};
    for (int i = n - 1; i >= 0; i--) {
        double a = mirror[i].offset - ec_dot3(mirror[i].normal, at);
        double b = mirror[i].offset - ec_dot3(mirror[i].normal, image[i + 1]);
        for (int k = 0; k < 3; k++)
            at[k] += a / (a - b) * (image[i + 1][k] - at[k]);
        ec_ray_at_facet(&mirror[i], EC_RAY_REFLECTION, face, at, &event[i]);
    }
    return of_c(ec_ray_channel(tx, from, event, n, rx, to, wavelength));
}

/* ---- planes ---- */

static void test_free_space(void **state)
{
    const double from[3] = {1, 2, 3}, to[3] = {4, -2, 3};
    ec_antenna z = antenna_of(EC_ELEMENT_KIND_ISOTROPIC, 0, 0, 1);
    (void)state;

    double complex h = of_c(ec_ray_channel(&z, from, NULL, 0, &z, to, 0.3));
    assert_true(cabs(h - 0.3 / (4 * EC_PI) * wave(5, 0.3)) < 1e-16);
}

/* Horizontal and vertical dipoles over a conducting and a lossy ground. */
static void test_two_rays(void **state)
{
    const double wavelength = 0.125, up = 10, low = 1.5;
    const ec_fresnel_face ground = {EC_FACE_HALF_SPACE, {15, -0.6}, 0};
    ec_facet floor_facet;
    (void)state;

    facet_of(0, 0, 1, 0, &floor_facet);
    for (double d = 3; d < 3000; d *= 1.37)
        for (int lossy = 0; lossy < 2; lossy++) {
            const double from[3] = {0, 0, up}, to[3] = {d, 0, low};
            double r1 = hypot(d, up - low), r2 = hypot(d, up + low), c = (up + low) / r2;
            double complex eps = 15 - 0.6 * I, q = csqrt(eps - 1 + c * c);
            double complex rs = lossy ? (c - q) / (c + q) : -1;
            double complex rp = lossy ? (eps * c - q) / (eps * c + q) : 1;
            const ec_fresnel_face *face = lossy ? &ground : &pec;
            ec_antenna a = antenna_of(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, 1, 0);
            double complex h = of_c(ec_ray_channel(&a, from, NULL, 0, &a, to, wavelength)) +
                               over_mirrors(&a, from, &floor_facet, face, 1, &a, to, wavelength);
            double unit = 1.5 * wavelength / (4 * EC_PI);
            double complex want = unit * (wave(r1, wavelength) + rs * wave(r2, wavelength));
            assert_true(cabs(h - want) < 1e-10 * unit / r1); /* 24,000 turns */
            a = antenna_of(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, 0, 1);
            h = of_c(ec_ray_channel(&a, from, NULL, 0, &a, to, wavelength)) +
                over_mirrors(&a, from, &floor_facet, face, 1, &a, to, wavelength);
            want = unit * (pow(d / r1, 2) * wave(r1, wavelength) +
                           rp * pow(d / r2, 2) * wave(r2, wavelength));
            assert_true(cabs(h - want) < 1e-10 * unit / r1); /* 24,000 turns */
        }
    /* the antenna's own echo from the floor */
    const double here[3] = {5, 6, 2};
    ec_antenna a = antenna_of(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, 1, 0);
    double complex h = over_mirrors(&a, here, &floor_facet, &pec, 1, &a, here, wavelength);
    assert_true(cabs(h + 1.5 * wavelength / (4 * EC_PI) * wave(4, wavelength)) < 1e-15);
}

/* Between conducting walls at x = 0 and x = 7: up to 12 reflections from either side first. */
static void test_canyon(void **state)
{
    enum { K = 12 };
    const double from[3] = {2, 0, 1}, to[3] = {5.5, 40, 1}, wavelength = 0.1, width = 7;
    ec_antenna z = antenna_of(EC_ELEMENT_KIND_ISOTROPIC, 0, 0, 1);
    double complex h = of_c(ec_ray_channel(&z, from, NULL, 0, &z, to, wavelength)), want = 0;
    ec_facet wall[2], list[K];
    (void)state;

    facet_of(1, 0, 0, 0, &wall[0]);
    facet_of(-1, 0, 0, -width, &wall[1]);
    for (int first = 0; first < 2; first++)
        for (int n = 1; n <= K; n++) {
            for (int i = 0; i < n; i++)
                list[i] = wall[(first + i) % 2];
            h += over_mirrors(&z, from, list, &pec, n, &z, to, wavelength);
        }
    for (int m = -K; m <= K; m++) { /* images at 2 m width + x and 2 m width - x */
        double even = hypot(to[0] - (2 * m * width + from[0]), 40);
        double odd = hypot(to[0] - (2 * m * width - from[0]), 40);
        if (2 * abs(m) <= K)
            want += wave(even, wavelength);
        if (abs(2 * m - 1) <= K)
            want -= wave(odd, wavelength);
    }
    want *= wavelength / (4 * EC_PI);
    assert_true(cabs(h - want) < 1e-12 * cabs(want) * 100);
}

/* Two or three conducting planes at right angles: 4 or 8 sources, dipoles of any direction and
 * their images (the part along a plane is turned, that across it is not). */
static void test_corner_reflectors(void **state)
{
    uint64_t seed = 3;
    (void)state;

    for (int planes = 2; planes <= 3; planes++)
        for (int trial = 0; trial < 50; trial++) {
            double from[3], to[3], p[3], q[3];
            const double wavelength = 0.3;
            double complex h = 0, want = 0;
            for (int i = 0; i < 3; i++) {
                from[i] = 0.5 + 4 * next_unit(&seed);
                to[i] = 0.5 + 4 * next_unit(&seed);
            }
            random_unit(&seed, p);
            random_unit(&seed, q);
            ec_antenna tx = antenna_of(EC_ELEMENT_KIND_SHORT_DIPOLE, p[0], p[1], p[2]);
            ec_antenna rx = antenna_of(EC_ELEMENT_KIND_SHORT_DIPOLE, q[0], q[1], q[2]);
            for (int set = 0; set < 1 << planes; set++) {
                double image[3], moment[3], d[3], when[3];
                int order[3], n = 0;
                for (int i = 0; i < 3; i++) {
                    image[i] = set >> i & 1 ? -from[i] : from[i];
                    moment[i] = p[i];
                }
                for (int i = 0; i < planes; i++)
                    if (set >> i & 1) {
                        for (int k = 0; k < 3; k++) /* -mirror */
                            moment[k] = k == i ? moment[k] : -moment[k];
                        order[n] = i;
                        when[n++] = image[i] / (image[i] - to[i]);
                    }
                double r = ec_ray_towards(image, to, d);
                double dot = ec_dot3(moment, q) - ec_dot3(moment, d) * ec_dot3(q, d);
                want += 1.5 * wavelength / (4 * EC_PI) * dot * wave(r, wavelength);
                /* the planes in the order in which the ray from the image crosses them */
                for (int i = 0; i < n; i++)
                    for (int k = i + 1; k < n; k++)
                        if (when[k] < when[i]) {
                            double t = when[i];
                            int o = order[i];
                            when[i] = when[k];
                            order[i] = order[k];
                            when[k] = t;
                            order[k] = o;
                        }
                ec_facet mirror[3];
                for (int i = 0; i < n; i++)
                    facet_of(order[i] == 0, order[i] == 1, order[i] == 2, 0, &mirror[i]);
                h += over_mirrors(&tx, from, mirror, &pec, n, &rx, to, wavelength);
            }
            assert_true(cabs(h - want) < 1e-14);
        }
}

/* Straight on through a wall: as behind the slab where it stands. */
static void test_wall(void **state)
{
    const double from[3] = {-3, 0, 0}, to[3] = {4, 2, 0}, wavelength = 0.05;
    const ec_fresnel_face wall = {EC_FACE_SLAB, {3, -0.05}, 2.2};
    ec_antenna z = antenna_of(EC_ELEMENT_KIND_ISOTROPIC, 0, 0, 1);
    const double point[3] = {0, 6 / 7.0, 0};
    ec_ray_event event;
    ec_facet facet;
    (void)state;

    facet_of(1, 0, 0, 0, &facet);
    ec_ray_at_facet(&facet, EC_RAY_TRANSMISSION, &wall, point, &event);
    double complex h = of_c(ec_ray_channel(&z, from, &event, 1, &z, to, wavelength));
    double r = sqrt(53), c = 7 / r;
    double complex eps = 3 - 0.05 * I, q = csqrt(eps - 1 + c * c), rs = (c - q) / (c + q);
    double complex u = cexp(-2 * EC_PI * I * 2.2 * q);
    double complex t = (1 - rs * rs) * u / (1 - rs * rs * u * u) * cexp(2 * EC_PI * I * 2.2 * c);
    assert_true(cabs(h - t * wavelength / (4 * EC_PI) * wave(r, wavelength)) < 1e-15);
}

/* ---- 4 x 4 antennas beside a plate ---- */

/* Equal-power capacity at 20 dB, ||H||_F^2 = 16: log2 det(I + 25 H H^H) by elimination. */
static double capacity(double complex h[4][4])
{
    double complex g[4][4];
    double norm = 0, bits = 0;

    for (int i = 0; i < 16; i++)
        norm += pow(cabs(h[i / 4][i % 4]), 2);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            g[i][j] = i == j;
            for (int k = 0; k < 4; k++)
                g[i][j] += 25 * 16 / norm * h[i][k] * conj(h[j][k]);
        }
    for (int k = 0; k < 4; k++) {
        bits += log2(creal(g[k][k]));
        for (int i = k + 1; i < 4; i++) {
            double complex f = g[i][k] / g[k][k];
            for (int j = k; j < 4; j++)
                g[i][j] -= f * g[k][j];
        }
    }
    return bits;
}

static double plate_capacity(const double tx[4], const double rx[4], bool plate)
{
    ec_antenna z = antenna_of(EC_ELEMENT_KIND_ISOTROPIC, 0, 0, 1);
    double complex h[4][4];
    ec_facet facet;

    facet_of(-1, 0, 0, -30, &facet);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const double from[3] = {tx[j], -40, 0}, to[3] = {rx[i], 40, 0};
            h[i][j] = of_c(ec_ray_channel(&z, from, NULL, 0, &z, to, 1));
            if (plate)
                h[i][j] += over_mirrors(&z, from, &facet, &pec, 1, &z, to, 1);
            double r = hypot(tx[j] - rx[i], 80), image = hypot(60 - tx[j] - rx[i], 80);
            double complex want = wave(r, 1) - (plate ? wave(image, 1) : 0);
            assert_true(cabs(h[i][j] - want / (4 * EC_PI)) < 1e-6 * cabs(h[i][j]));
        }
    return capacity(h);
}

static void test_plate_capacity(void **state)
{
    static const struct {
        double gap, sight, plate;
    } row[] = {{0.5, 8.96, 14.47}, {1, 10.91, 16.11}, {1.5, 13.01, 20.66}, {2, 15.22, 19.78}};
    static const double tx[4] = {7.0, 12.6, 18.0, 20.9}, rx[4] = {7.08, 12.9, 17.1, 22.0};
    double x[4];
    (void)state;

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        for (int k = 0; k < 4; k++)
            x[k] = 15 + row[i].gap * (k - 1.5);
        assert_true(fabs(plate_capacity(x, x, false) - row[i].sight) < 0.01);
        assert_true(fabs(plate_capacity(x, x, true) - row[i].plate) < 0.01);
    }
    for (int k = 0; k < 4; k++)
        x[k] = 15 + sqrt(20) * (k - 1.5);
    assert_true(fabs(plate_capacity(x, x, false) - 26.63) < 0.01);
    assert_true(fabs(plate_capacity(tx, rx, true) - 23.65) < 0.01);
}

/* ---- shapes ---- */

static void shape_of(uint64_t *seed, int32_t kind, ec_surface *s)
{
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->radius = kind == EC_SURFACE_CONE ? 0.2 + 0.9 * next_unit(seed) : 1 + 3 * next_unit(seed);
    s->half_height = 5;
    random_unit(seed, s->axis);
    for (int i = 0; i < 3; i++)
        s->point[i] = 4 * next_unit(seed);
}

/* A point of the shape: angle around, place along. */
static void point_of(const ec_surface *s, double angle, double along, double p[3])
{
    double u[3], v[3], radius = s->radius, up = along;

    ec_scene_frame(s->axis, u, v);
    if (s->kind == EC_SURFACE_SPHERE) {
        radius = s->radius * cos(along);
        up = s->radius * sin(along);
    } else if (s->kind == EC_SURFACE_CONE) {
        up = along + 2;
        radius = up * tan(s->radius);
    }
    for (int i = 0; i < 3; i++)
        p[i] = s->point[i] + radius * (cos(angle) * u[i] + sin(angle) * v[i]) + up * s->axis[i];
}

/* The normal is across the surface and turns as the form says: dn = C dx. */
static void test_shapes(void **state)
{
    uint64_t seed = 8;
    (void)state;

    for (int trial = 0; trial < 300; trial++) {
        double p[3], a[3], b[3], angle = 6 * next_unit(&seed), along = next_unit(&seed) - 0.5;
        double h = 1e-5, da = next_unit(&seed) - 0.5, dl = next_unit(&seed) - 0.5;
        ec_ray_event at, before, after;
        ec_surface s;
        shape_of(&seed, trial % 3, &s);
        point_of(&s, angle, along, p);
        point_of(&s, angle - h * da, along - h * dl, a);
        point_of(&s, angle + h * da, along + h * dl, b);
        bool there = ec_ray_at_shape(&s, &pec, p, &at) && ec_ray_at_shape(&s, &pec, a, &before) &&
                     ec_ray_at_shape(&s, &pec, b, &after);
        assert_true(there);
        if (!there)
            continue;
        double dx[3], dn[3];
        for (int i = 0; i < 3; i++) {
            dx[i] = (b[i] - a[i]) / (2 * h);
            dn[i] = (after.normal[i] - before.normal[i]) / (2 * h);
        }
        const ec_curvature *c = &at.curvature;
        double u = ec_dot3(c->u, dx), v = ec_dot3(c->v, dx);
        assert_true(fabs(ec_dot3(at.normal, dx)) < 1e-8);
        assert_true(fabs(ec_dot3(at.normal, at.normal) - 1) < 1e-14);
        assert_true(fabs(ec_dot3(c->u, c->v)) < 1e-14 && fabs(ec_dot3(c->u, at.normal)) < 1e-14);
        assert_true(fabs(ec_dot3(c->u, dn) - (c->uu * u + c->uv * v)) < 1e-8);
        assert_true(fabs(ec_dot3(c->v, dn) - (c->uv * u + c->vv * v)) < 1e-8);
    }
    ec_surface mesh;
    ec_ray_event event;
    const double p[3] = {0, 0, 0};
    shape_of(&seed, EC_SURFACE_SPHERE, &mesh);
    mesh.kind = EC_SURFACE_MESH;
    assert_false(ec_ray_at_shape(&mesh, &pec, p, &event));
}

/* ---- everything in one path ---- */

typedef struct path {
    double from[3], to[3];
    ec_ray_event event[8];
    int n;
} path;

/* A path that begins at random and does what it meets: each part is put where the ray is. */
static void random_path(uint64_t *seed, int n, path *p)
{
    double at[3], d[3];

    p->n = n;
    for (int i = 0; i < 3; i++)
        p->from[i] = at[i] = 10 * next_unit(seed);
    random_unit(seed, d);
    for (int k = 0; k < n; k++) {
        ec_ray_event *e = &p->event[k];
        double s = 0.5 + 4 * next_unit(seed), normal[3];
        memset(e, 0, sizeof *e);
        for (int i = 0; i < 3; i++)
            e->point[i] = at[i] += s * d[i];
        for (int f = 0; f < 2; f++) {
            e->face[f].kind = (int)(2.5 * next_unit(seed));
            e->face[f].permittivity = ec_c128_of(2 + 3 * next_unit(seed), -next_unit(seed));
            e->face[f].thickness = next_unit(seed);
        }
        do {
            random_unit(seed, normal);
        } while (fabs(ec_dot3(normal, d)) < 0.3 || fabs(ec_dot3(normal, d)) > 0.95);
        memcpy(e->normal, normal, sizeof normal);
        double pick = next_unit(seed);
        if (pick < 0.45) {
            e->kind = EC_RAY_REFLECTION;
            e->curved = pick < 0.3;
            ec_scene_frame(normal, e->curvature.u, e->curvature.v);
            e->curvature.uu = next_unit(seed) - 0.2;
            e->curvature.uv = 0.5 * next_unit(seed) - 0.2;
            e->curvature.vv = next_unit(seed) - 0.2;
            double out[3];
            ec_fresnel_mirror(normal, d, out);
            memcpy(d, out, sizeof out);
        } else if (pick < 0.6) {
            e->kind = EC_RAY_TRANSMISSION;
            e->face[0].kind = EC_FACE_SLAB;
        } else {
            e->kind = EC_RAY_DIFFRACTION;
            e->edge.touch = 0;
            e->edge.n = next_unit(seed) < 0.3 ? 2 : 1.1 + 0.9 * next_unit(seed);
            e->face[1] = e->edge.n == 2 ? e->face[0] : e->face[1];
            /* `normal` as the edge: the ray goes on somewhere on its cone */
            double x[3], y[3], cone = ec_dot3(d, normal), sine = sqrt(1 - cone * cone);
            for (int i = 0; i < 3; i++)
                x[i] = (-d[i] + cone * normal[i]) / sine;
            ec_cross3(normal, x, y);
            double phi_in = next_unit(seed) * e->edge.n * EC_PI;
            double phi = next_unit(seed) * e->edge.n * EC_PI;
            for (int i = 0; i < 3; i++) {
                e->edge.into[i] = cos(phi_in) * x[i] - sin(phi_in) * y[i];
                e->edge.normal[i] = sin(phi_in) * x[i] + cos(phi_in) * y[i];
                d[i] = cone * normal[i];
            }
            for (int i = 0; i < 3; i++)
                d[i] += sine * (cos(phi) * e->edge.into[i] + sin(phi) * e->edge.normal[i]);
        }
    }
    double s = 0.5 + 4 * next_unit(seed);
    for (int i = 0; i < 3; i++)
        p->to[i] = at[i] + s * d[i];
}

static void rotate(const double r[3][3], double v[3])
{
    double t[3];

    for (int i = 0; i < 3; i++)
        t[i] = ec_dot3(r[i], v);
    memcpy(v, t, sizeof t);
}

static void test_exchange_and_rotation(void **state)
{
    const double wavelength = 0.05;
    uint64_t seed = 31;
    int counted = 0;
    (void)state;

    for (int trial = 0; trial < 2000; trial++) {
        double t[3], q[3], r[3][3];
        path p, turned;
        random_path(&seed, trial % 6, &p);
        random_unit(&seed, t);
        random_unit(&seed, q);
        ec_antenna tx = antenna_of(EC_ELEMENT_KIND_HALF_WAVE, t[0], t[1], t[2]);
        ec_antenna rx = antenna_of(EC_ELEMENT_KIND_ISOTROPIC, q[0], q[1], q[2]);
        double complex h = of_c(ec_ray_channel(&tx, p.from, p.event, p.n, &rx, p.to, wavelength));
        if (cabs(h) < 1e-14) /* a shadow of exp(-40): rounding alone */
            continue;
        counted++;
        for (int i = 0; i < p.n; i++)
            turned.event[i] = p.event[p.n - 1 - i];
        double complex back =
            of_c(ec_ray_channel(&rx, p.to, turned.event, p.n, &tx, p.from, wavelength));
        /* caustics and shadow boundaries make rounding larger */
        if (cabs(back - h) > 1e-7 * cabs(h))
            fail_msg("trial %d, %d interactions: (%g, %g) there, (%g, %g) back", trial, p.n,
                     creal(h), cimag(h), creal(back), cimag(back));
        /* turned and moved */
        random_unit(&seed, r[0]);
        ec_scene_frame(r[0], r[1], r[2]);
        turned = p;
        double *place[10] = {turned.from, turned.to};
        for (int i = 0; i < p.n; i++) {
            place[2 + i] = turned.event[i].point;
            rotate(r, turned.event[i].normal);
            rotate(r, turned.event[i].curvature.u);
            rotate(r, turned.event[i].curvature.v);
            rotate(r, turned.event[i].edge.into);
            rotate(r, turned.event[i].edge.normal);
        }
        for (int i = 0; i < p.n + 2; i++) {
            rotate(r, place[i]);
            for (int k = 0; k < 3; k++)
                place[i][k] += 10 * k - 7;
        }
        rotate(r, t);
        rotate(r, q);
        tx = antenna_of(EC_ELEMENT_KIND_HALF_WAVE, t[0], t[1], t[2]);
        rx = antenna_of(EC_ELEMENT_KIND_ISOTROPIC, q[0], q[1], q[2]);
        back =
            of_c(ec_ray_channel(&tx, turned.from, turned.event, p.n, &rx, turned.to, wavelength));
        if (cabs(back - h) > 1e-7 * cabs(h))
            fail_msg("trial %d, %d interactions: (%g, %g), turned (%g, %g)", trial, p.n, creal(h),
                     cimag(h), creal(back), cimag(back));
    }
    assert_true(counted > 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_space), cmocka_unit_test(test_two_rays),
        cmocka_unit_test(test_canyon),     cmocka_unit_test(test_corner_reflectors),
        cmocka_unit_test(test_wall),       cmocka_unit_test(test_plate_capacity),
        cmocka_unit_test(test_shapes),     cmocka_unit_test(test_exchange_and_rotation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
