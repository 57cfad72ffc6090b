/* test_path_field.c: channels of whole scenes, from meshes and shapes to the complex gain: two
 * rays over a ground, cylinders and spheres of any tessellation against geometrical optics of the
 * true ones, the line of sight and plate of the seed's scene, exchange of the antennas. */
#include "path.h"
#include "path_field.h"
#include "random.h"
#include "scene_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

enum { MATERIALS = 8 };

/* A scene with what is needed to trace it. */
typedef struct model {
    ec_scene_builder *builder;
    ec_scene *scene;
    ec_path_plan *plan;
    ec_path_list list;
    ec_fresnel_face face[MATERIALS];
    double wavelength;
} model;

static double draw_in(uint32_t stream, uint32_t i, double low, double high)
{
    ec_random_stream s = ec_random_make(13, stream, 1, 0);
    uint32_t words[4];

    ec_random_words(&s, 0, i, words);
    return low + (high - low) * (words[0] + 0.5) / 4294967296.0;
}

static void model_begin(model *m)
{
    memset(m, 0, sizeof *m);
    assert_int_equal(ec_scene_builder_create(&m->builder), EC_OK);
}

static void model_add(model *m, const char *material, const ec_shape *shape)
{
    ec_material given;
    int32_t index;

    assert_int_equal(ec_material_by_name(material, &given), EC_OK);
    if (strcmp(material, "plasterboard") == 0)
        given.thickness = 0.013;
    assert_int_equal(ec_scene_builder_material(m->builder, &given, &index), EC_OK);
    assert_int_equal(ec_scene_builder_shape(m->builder, material, index, shape), EC_OK);
}

static void model_end(model *m, double wavelength, bool exact, int32_t depth, int32_t diffractions,
                      int32_t transmissions)
{
    ec_scene_options scene;
    ec_path_options paths;

    ec_scene_options_default(&scene);
    scene.exact = exact;
    assert_int_equal(ec_scene_build(m->builder, &scene, &m->scene), EC_OK);
    ec_path_options_default(&paths);
    paths.depth = depth;
    paths.diffractions = diffractions;
    paths.transmissions = transmissions;
    assert_int_equal(ec_path_plan_create(m->scene, &paths, &m->plan), EC_OK);
    m->wavelength = wavelength;
    assert_true(m->scene->n_materials <= MATERIALS);
    assert_int_equal(ec_path_faces(m->scene, EC_LIGHT_SPEED / wavelength, m->face), EC_OK);
}

static void model_free(model *m)
{
    ec_path_list_free(&m->list);
    ec_path_plan_destroy(&m->plan);
    ec_scene_destroy(&m->scene);
    ec_scene_builder_destroy(&m->builder);
}

static int list_paths(const model *m, const double tx[3], const double rx[3], ec_path_list *list)
{
    ec_path_sequences *sequences = NULL;
    ec_path_box box;

    memcpy(box.low, tx, sizeof box.low);
    memcpy(box.high, tx, sizeof box.high);
    int status = ec_path_enumerate(m->plan, &box, NULL, &sequences);
    ec_path_list_clear(list);
    if (status == EC_OK)
        status = ec_path_find(m->plan, sequences, tx, rx, list);
    ec_path_sequences_destroy(&sequences);
    return status;
}

static void model_paths(model *m, const double tx[3], const double rx[3])
{
    assert_int_equal(list_paths(m, tx, rx, &m->list), EC_OK);
}

static ec_c128 model_channel(const model *m, size_t i, const ec_antenna *a, const double tx[3],
                             const ec_antenna *b, const double rx[3])
{
    return ec_path_channel(m->scene, m->face, &m->list, i, a, tx, b, rx, m->wavelength);
}

static ec_antenna vertical(void)
{
    ec_antenna antenna;

    assert_int_equal(
        ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, (double[3]){0, 0, 1}, NULL, &antenna), EC_OK);
    return antenna;
}

/* The path with this many steps, the first of this kind; n if there is none. */
static size_t path_of(const ec_path_list *l, int32_t depth, uint32_t kind)
{
    size_t i = 0;

    for (i = 0; i < l->n; i++)
        if (l->path[i].depth == depth &&
            (depth == 0 || ec_path_kind(l->step[l->path[i].first]) == kind))
            break;
    return i;
}

static ec_c128 wave(double amplitude, double length, double wavelength)
{
    double phase = -2 * EC_PI * length / wavelength;
    return (ec_c128){amplitude * cos(phase), amplitude * sin(phase)};
}

static double error_of(ec_c128 a, ec_c128 b)
{
    return hypot(a.re - b.re, a.im - b.im) / hypot(b.re, b.im);
}

/* ---- two rays ---- */

static void test_two_rays(void **state)
{
    ec_antenna antenna = vertical();
    double tx[3] = {0, 0, 12}, rx[3] = {80, 30, 2};
    double ground = sqrt(6400 + 900), up = sqrt(ground * ground + 100),
           down = sqrt(ground * ground + 196);

    (void)state;
    for (int lossy = 0; lossy < 2; lossy++) {
        model m;
        ec_shape shape;
        ec_c128 sum = {0, 0}, eps, direct, reflected;
        model_begin(&m);
        ec_shape_default(EC_SHAPE_GROUND, &shape);
        shape.size[0] = shape.size[1] = 500;
        model_add(&m, lossy ? "concrete" : "pec", &shape);
        model_end(&m, 0.1, true, 3, 1, 0);
        model_paths(&m, tx, rx);
        assert_int_equal(m.list.n, 2);
        for (size_t i = 0; i < 2; i++) {
            ec_c128 h = model_channel(&m, i, &antenna, tx, &antenna, rx);
            sum.re += h.re;
            sum.im += h.im;
        }
        direct = wave(0.1 / (4 * EC_PI * up), up, 0.1);
        reflected = wave(0.1 / (4 * EC_PI * down), down, 0.1);
        if (lossy) { /* vertical polarisation by the real concrete: (eps c - q) / (eps c + q) */
            assert_int_equal(
                ec_material_permittivity(&m.scene->material[0], EC_LIGHT_SPEED / 0.1, &eps), EC_OK);
            double c = 14 / down, s2 = 1 - c * c;
            ec_c128 q = ec_c128_sqrt((ec_c128){eps.re - s2, eps.im});
            ec_c128 a = {eps.re * c - q.re, eps.im * c - q.im};
            ec_c128 b = {eps.re * c + q.re, eps.im * c + q.im};
            double n = b.re * b.re + b.im * b.im;
            ec_c128 r = {(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
            reflected = ec_c128_multiply(r, reflected);
        }
        direct.re += reflected.re;
        direct.im += reflected.im;
        assert_true(error_of(sum, direct) < 1e-9);
        model_free(&m);
    }
}

/* ---- curvature ---- */

/* Specular point of a circle about 0 by bisection of the difference of the angles of incidence. */
static bool circle_point(double radius, const double a[2], const double b[2], double p[2])
{
    double from = atan2(a[1], a[0]), to = from + remainder(atan2(b[1], b[0]) - from, 2 * EC_PI);
    double ia = 0, ib = 0;

    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (from + to);
        p[0] = radius * cos(middle);
        p[1] = radius * sin(middle);
        ia = fabs(remainder(atan2(a[1] - p[1], a[0] - p[0]) - middle, 2 * EC_PI));
        ib = fabs(remainder(atan2(b[1] - p[1], b[0] - p[0]) - middle, 2 * EC_PI));
        if (ia < ib)
            from = middle;
        else
            to = middle;
    }
    return ia < 0.5 * EC_PI && ib < 0.5 * EC_PI;
}

/* A body's echo between two antennas. */
typedef struct echo {
    double tx[3], rx[3];
    ec_c128 expected;
    double smooth; /* as of a path */
} echo;

/* How far the echoes of a body are from geometrical optics of the true one: decibels and degrees. */
typedef struct echo_errors {
    int32_t lit, missing, wrong;
    double db, degrees;
} echo_errors;

static void add_echo(const model *m, const ec_antenna *antenna, const echo *want, echo_errors *e)
{
    ec_path_list list = {0};

    if (want->smooth * 2 * EC_PI / m->wavelength < 1)
        return; /* grazing */
    e->lit++;
    int status = list_paths(m, want->tx, want->rx, &list);
    size_t i = path_of(&list, 1, EC_PATH_CURVED);
    if (status != EC_OK || i == list.n) {
        e->missing++;
    } else {
        ec_c128 h = ec_path_channel(m->scene, m->face, &list, i, antenna, want->tx, antenna,
                                    want->rx, m->wavelength);
        double off_db =
            fabs(20 * log10(hypot(h.re, h.im) / hypot(want->expected.re, want->expected.im)));
        double off = fabs(
            remainder(atan2(h.im, h.re) - atan2(want->expected.im, want->expected.re), 2 * EC_PI));
        e->db = fmax(e->db, off_db);
        e->degrees = fmax(e->degrees, off * 180 / EC_PI);
        e->wrong += off_db > 0.1 || off * 180 / EC_PI > 1 ||
                    fabs(list.path[i].smooth - want->smooth) > 0.02 * want->smooth + 1e-9;
    }
    ec_path_list_free(&list);
}

/* At 99 % of the lit receivers away from grazing within 0.1 dB and 1 degree; exact shapes always. */
static void check_echoes(const model *m, const char *name, int32_t n, const echo *want, bool exact,
                         int32_t least)
{
    int32_t lit = 0, missing = 0, wrong = 0;
    double db = 0, degrees = 0;
    ec_antenna antenna = vertical();

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : lit, missing, wrong)                   \
    reduction(max : db, degrees)
    for (int32_t k = 0; k < n; k++) {
        echo_errors e = {0};
        add_echo(m, &antenna, &want[k], &e);
        lit += e.lit;
        missing += e.missing;
        wrong += e.wrong;
        db = fmax(db, e.db);
        degrees = fmax(degrees, e.degrees);
    }
    printf("  %s%s: %d lit, %d missing, %d wrong, %.2g dB, %.2g degrees\n", name,
           exact ? ", exact" : "", (int)lit, (int)missing, (int)wrong, db, degrees);
    assert_true(lit > least);
    assert_true(missing + wrong <= lit / 100);
    assert_true(!exact || (missing == 0 && db < 1e-6 && degrees < 1e-6));
}

enum { ECHOES_MAX = 300 };

static void model_round(model *m, ec_shape_kind kind, double radius, double length, int32_t sides,
                        bool exact)
{
    ec_shape shape;

    model_begin(m);
    ec_shape_default(kind, &shape);
    shape.radius = radius;
    shape.length = length;
    shape.sides = sides;
    shape.open = kind == EC_SHAPE_CYLINDER;
    shape.divisions = kind == EC_SHAPE_CYLINDER ? 1 + sides / 50 : 1;
    model_add(m, "pec", &shape);
    model_end(m, 1, exact, 1, 0, 0);
    assert_int_equal(m->scene->n_surfaces, 1);
    assert_int_equal(m->scene->surface[0].kind == EC_SURFACE_MESH, !exact);
}

/* The variable asks for every tessellation instead of a few (1), or for every second (2) and so on;
 * 0 without it. */
static int32_t tessellation_step(void)
{
    const char *full = getenv("ECITON_FULL_CURVATURE");

    return full ? atoi(full) : 0;
}

/* Rays in any direction to the axis: amplitude by the curvature 1 / s1 + 2 sin^2 th / (a cos i). */
static void check_cylinder(int32_t sides, bool exact)
{
    model m;
    static echo want[ECHOES_MAX];
    char name[40];
    int32_t n = 0;

    model_round(&m, EC_SHAPE_CYLINDER, 10, 60, sides, exact);
    for (uint32_t k = 0; k < ECHOES_MAX; k++) {
        double *tx = want[n].tx, *rx = want[n].rx, p[2], a[2], b[2];
        for (uint32_t d = 0; d < 3; d++) {
            tx[d] = draw_in(1, 6 * k + d, d == 0 ? 11 : -40, 40) * (d == 2 ? 0.5 : 1);
            rx[d] = draw_in(1, 6 * k + 3 + d, d == 0 ? 11 : -40, 40) * (d == 2 ? 0.5 : 1);
        }
        for (int d = 0; d < 2; d++) {
            a[d] = tx[d];
            b[d] = rx[d];
        }
        if (!circle_point(10, a, b, p))
            continue;
        double r1 = hypot(a[0] - p[0], a[1] - p[1]), r2 = hypot(b[0] - p[0], b[1] - p[1]);
        double slope = hypot(1, (rx[2] - tx[2]) / (r1 + r2)), s1 = r1 * slope, s2 = r2 * slope;
        double cosine = ((a[0] - p[0]) * p[0] + (a[1] - p[1]) * p[1]) / (10 * s1);
        double sine2 = 1 / (slope * slope);
        double spread = (1 + s2 / s1) * (1 + s2 / s1 + s2 * 2 * sine2 / (10 * cosine));
        double amplitude = -1 / (4 * EC_PI * s1 * sqrt(spread));
        /* radius in the plane of incidence: across^2 / track^2 of the curvature */
        double track2 = 1 - cosine * cosine, across2 = sine2 - cosine * cosine;
        want[n].smooth = 5 * track2 / across2 * pow(cosine, 3);
        want[n++].expected = wave(amplitude, s1 + s2, 1);
    }
    snprintf(name, sizeof name, "cylinder, %d sides", (int)sides);
    check_echoes(&m, name, n, want, exact, 150);
    model_free(&m);
}

static void test_cylinder(void **state)
{
    int32_t step = tessellation_step();

    (void)state;
    check_cylinder(36, true);
    check_cylinder(1028, true);
    check_cylinder(36, false);
    check_cylinder(100, false);
    check_cylinder(1028, false);
    for (int32_t sides = 36; step > 0 && sides <= 1028; sides += step)
        check_cylinder(sides, false);
}

/* E across the plane of incidence or in it; in the plane 1 / s1 + 2 / (a cos i), across it
 * 1 / s1 + 2 cos i / a. */
static void check_sphere(int32_t sides, bool exact, bool in_plane)
{
    model m;
    static echo want[ECHOES_MAX];
    char name[60];
    int32_t count = 0;
    int x = in_plane ? 2 : 0, y = 1, z = in_plane ? 0 : 2; /* the plane of antennas and centre */

    model_round(&m, EC_SHAPE_SPHERE, 10, 0, sides, exact);
    for (uint32_t k = 0; k < 200; k++) {
        double *tx = want[count].tx, *rx = want[count].rx, p[2], a[2], b[2];
        a[0] = draw_in(2, 4 * k, 11, 40);
        a[1] = draw_in(2, 4 * k + 1, -40, 40);
        b[0] = draw_in(2, 4 * k + 2, 11, 40);
        b[1] = draw_in(2, 4 * k + 3, -40, 40);
        tx[x] = a[0];
        tx[y] = a[1];
        rx[x] = b[0];
        rx[y] = b[1];
        tx[z] = rx[z] = 0;
        if (!circle_point(10, a, b, p))
            continue;
        double s1 = hypot(a[0] - p[0], a[1] - p[1]), s2 = hypot(b[0] - p[0], b[1] - p[1]);
        double cosine = ((a[0] - p[0]) * p[0] + (a[1] - p[1]) * p[1]) / (10 * s1);
        double in = 1 / s1 + 2 / (10 * cosine), across = 1 / s1 + 2 * cosine / 10;
        double amplitude = 1 / (4 * EC_PI * s1 * sqrt((1 + s2 * in) * (1 + s2 * across)));
        /* across the plane -1; in it the field along theta^ turns with the ray, by the parts of
         * both rays along z: the antennas' axis lies in the plane and theta^ is n x k or k x n */
        double sign = -1;
        if (in_plane) {
            double d1[2] = {(p[0] - a[0]) / s1, (p[1] - a[1]) / s1};
            double d2[2] = {(b[0] - p[0]) / s2, (b[1] - p[1]) / s2};
            double n[2] = {p[0] / 10, p[1] / 10};
            /* theta^ of a ray d in the plane (first coordinate z): z less its part along d */
            double t1[2] = {-(1 - d1[0] * d1[0]), d1[0] * d1[1]};
            double t2[2] = {-(1 - d2[0] * d2[0]), d2[0] * d2[1]};
            double l1 = hypot(t1[0], t1[1]), l2 = hypot(t2[0], t2[1]);
            double out = 2 * (t1[0] * n[0] + t1[1] * n[1]);
            sign = ((out * n[0] - t1[0]) * t2[0] + (out * n[1] - t1[1]) * t2[1]) / (l1 * l2);
        }
        want[count].smooth = 5 * pow(cosine, 3);
        want[count++].expected = wave(sign * amplitude, s1 + s2, 1);
    }
    snprintf(name, sizeof name, "sphere, %d sides, E %s the plane of incidence", (int)sides,
             in_plane ? "in" : "across");
    check_echoes(&m, name, count, want, exact, 100);
    model_free(&m);
}

static void test_sphere(void **state)
{
    int32_t step = tessellation_step();

    (void)state;
    for (int in_plane = 0; in_plane < 2; in_plane++) {
        check_sphere(36, true, in_plane);
        check_sphere(48, false, in_plane);
        check_sphere(160, false, in_plane);
        for (int32_t sides = 36; step > 0 && sides <= 1028; sides += 4 * step * (1 + sides / 64))
            check_sphere(sides, false, in_plane);
    }
}

/* Groups of triangles leave out none that has a specular point: the same bits as without them. */
static void test_groups(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        model m;
        ec_path_plan *whole = NULL, *grouped = NULL;
        ec_path_options options;
        ec_path_list with = {0};
        size_t curved = 0;
        model_round(&m, kind ? EC_SHAPE_SPHERE : EC_SHAPE_CYLINDER, 10, 60, kind ? 96 : 250, false);
        ec_path_options_default(&options);
        options.depth = 1;
        options.plain_occlusion = true; /* of such a plan there are no groups */
        assert_int_equal(ec_path_plan_create(m.scene, &options, &whole), EC_OK);
        grouped = m.plan;
        for (uint32_t k = 0; k < 24; k++) {
            double end[2][3];
            for (uint32_t i = 0; i < 6; i++)
                end[i / 3][i % 3] = draw_in(4, 6 * k + i, -1, 1) * (i % 3 == 2 ? 9 : 22);
            for (int i = 0; i < 2; i++) /* some so near that triangles are looked at in pieces */
                if (hypot(hypot(end[i][0], end[i][1]), kind * end[i][2]) < 10.1)
                    end[i][0] = 10.05 + 3 * i;
            m.plan = grouped;
            assert_int_equal(list_paths(&m, end[0], end[1], &with), EC_OK);
            m.plan = whole;
            model_paths(&m, end[0], end[1]);
            assert_int_equal(with.n, m.list.n);
            for (size_t i = 0; i < with.n; i++) {
                assert_memory_equal(&with.path[i].length, &m.list.path[i].length, sizeof(double));
                assert_int_equal(with.path[i].place.triangle, m.list.path[i].place.triangle);
                curved += with.path[i].depth == 1;
            }
        }
        assert_true(curved > 8);
        m.plan = grouped;
        ec_path_plan_destroy(&whole);
        ec_path_list_free(&with);
        model_free(&m);
    }
}

/* ---- two curved bounces ---- */

/* A sphere, or a cylinder along z without an end. */
typedef struct body {
    bool sphere;
    double at[3], radius;
} body;

/* Moves a ray to the body and reflects it there; false where it passes by. */
static bool bounce(const body *c, double p[3], double d[3], double *length)
{
    double o[3], n[3], a = 0, b = 0, e = -c->radius * c->radius, cosine = 0;
    int dimensions = c->sphere ? 3 : 2;

    for (int i = 0; i < dimensions; i++) {
        o[i] = p[i] - c->at[i];
        a += d[i] * d[i];
        b += o[i] * d[i];
        e += o[i] * o[i];
    }
    double root = b * b - a * e;
    if (!(root > 0) || !(b < 0))
        return false;
    double t = (-b - sqrt(root)) / a;
    *length += t;
    for (int i = 0; i < 3; i++) {
        p[i] += t * d[i];
        n[i] = i < dimensions ? (p[i] - c->at[i]) / c->radius : 0;
        cosine += n[i] * d[i];
    }
    for (int i = 0; i < 3; i++)
        d[i] -= 2 * cosine * n[i];
    return true;
}

/* From tx in direction d over both bodies to the plane across the last ray through rx. */
static bool send(const body *first, const body *second, const double tx[3], const double d[3],
                 const double rx[3], const double across[3], double p[3], double *length)
{
    double way[3] = {d[0], d[1], d[2]}, off = 0, along = 0;

    memcpy(p, tx, 3 * sizeof *p);
    *length = 0;
    if (!bounce(first, p, way, length) || !bounce(second, p, way, length))
        return false;
    for (int i = 0; i < 3; i++) {
        off += (rx[i] - p[i]) * across[i];
        along += way[i] * across[i];
    }
    for (int i = 0; i < 3; i++)
        p[i] += off / along * way[i];
    *length += off / along;
    return true;
}

/* Over two bodies in turn: length and power density as a tube of rays, followed from body to body
 * by hand, has them at the receiver. */
static void test_two_bodies(void **state)
{
    const body bodies[2][2] = {{{true, {0, 0, 0}, 3}, {false, {9, 1, 0}, 2}},
                               {{true, {0, 0, 0}, 2.5}, {true, {7, -2, 1}, 1.5}}};
    int32_t found = 0;

    (void)state;
    for (int scene = 0; scene < 2; scene++) {
        model m;
        model_begin(&m);
        for (int i = 0; i < 2; i++) {
            const body *c = &bodies[scene][i];
            ec_shape shape;
            ec_shape_default(c->sphere ? EC_SHAPE_SPHERE : EC_SHAPE_CYLINDER, &shape);
            memcpy(shape.at, c->at, sizeof shape.at);
            shape.radius = c->radius;
            shape.length = 80;
            shape.sides = 64;
            shape.open = !c->sphere;
            model_add(&m, "pec", &shape);
        }
        model_end(&m, 0.3, true, 2, 0, 0);
        for (uint32_t k = 0; k < 40; k++) {
            double tx[3], rx[3];
            for (uint32_t d = 0; d < 3; d++) {
                tx[d] = draw_in(5, 6 * k + d, d == 1 ? 4 : -3, d == 1 ? 12 : 10);
                rx[d] = draw_in(5, 6 * k + 3 + d, d == 1 ? 4 : -3, d == 1 ? 12 : 10);
            }
            model_paths(&m, tx, rx);
            for (size_t i = 0; i < m.list.n; i++) {
                if (m.list.path[i].depth != 2)
                    continue;
                size_t at = m.list.path[i].first;
                int32_t surface = ec_path_index(m.list.step[at]);
                bool swapped = m.scene->surface[surface].radius != bodies[scene][0].radius;
                const body *first = &bodies[scene][swapped], *second = &bodies[scene][!swapped];
                const double *d = m.list.direction[at], *across = m.list.arrival[i], h = 1e-5;
                double u[2][3], p[3], q[3], length, slope[2][3], area[3], power = 0;
                ec_scene_frame(d, u[0], u[1]);
                assert_true(send(first, second, tx, d, rx, across, p, &length));
                assert_near(length, m.list.path[i].length, 1e-9 * length);
                assert_near(ec_path_distance(p, rx), 0, 1e-7);
                bool whole = true;
                for (int j = 0; j < 2; j++) {
                    double left[3], right[3];
                    for (int c = 0; c < 3; c++) {
                        left[c] = cos(h) * d[c] - sin(h) * u[j][c];
                        right[c] = cos(h) * d[c] + sin(h) * u[j][c];
                    }
                    whole = whole && send(first, second, tx, left, rx, across, p, &length) &&
                            send(first, second, tx, right, rx, across, q, &length);
                    for (int c = 0; c < 3; c++)
                        slope[j][c] = (q[c] - p[c]) / (2 * h);
                }
                if (!whole || m.list.path[i].smooth < 0.05)
                    continue; /* a neighbour passes by */
                ec_path_cross(slope[0], slope[1], area);
                /* both polarisations together: antennas along two axes across the last ray */
                ec_scene_frame(across, u[0], u[1]);
                for (int j = 0; j < 2; j++) {
                    ec_antenna b, a = vertical();
                    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, u[j], NULL, &b),
                                     EC_OK);
                    ec_c128 g = model_channel(&m, i, &a, tx, &b, rx);
                    power += g.re * g.re + g.im * g.im;
                }
                double expected = pow(0.3 / (4 * EC_PI), 2) / fabs(ec_path_dot(area, across));
                assert_near(power, expected, 1e-4 * expected);
                found++;
            }
        }
        model_free(&m);
    }
    printf("  %d paths over two bodies\n", (int)found);
    assert_true(found > 20);
}

/* ---- the seed's scene ---- */

/* Equal-power capacity of a 4 x 4 channel of Frobenius norm 16 at 20 dB: log2 det(I + 25 H H^H). */
static double capacity(ec_c128 h[4][4])
{
    double norm = 0, sum = 0;
    ec_c128 g[4][4];

    for (int i = 0; i < 16; i++)
        norm += h[i / 4][i % 4].re * h[i / 4][i % 4].re + h[i / 4][i % 4].im * h[i / 4][i % 4].im;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            g[i][j] = (ec_c128){i == j, 0};
            for (int k = 0; k < 4; k++) {
                ec_c128 a = h[i][k], b = h[j][k];
                g[i][j].re += 25 * 16 / norm * (a.re * b.re + a.im * b.im);
                g[i][j].im += 25 * 16 / norm * (a.im * b.re - a.re * b.im);
            }
        }
    for (int j = 0; j < 4; j++) {
        sum += log2(g[j][j].re);
        for (int i = j + 1; i < 4; i++) {
            ec_c128 l = {g[i][j].re / g[j][j].re, g[i][j].im / g[j][j].re};
            for (int k = j + 1; k < 4; k++) {
                g[i][k].re -= l.re * g[j][k].re - l.im * g[j][k].im;
                g[i][k].im -= l.re * g[j][k].im + l.im * g[j][k].re;
            }
        }
    }
    return sum;
}

/* Capacity of antennas at these x; paths over the cylinder count only where asked. */
static double seed_capacity(model *m, const double tx_x[4], const double rx_x[4], bool echoes)
{
    ec_antenna antenna = vertical();
    ec_c128 h[4][4] = {{{0, 0}}};

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double tx[3] = {tx_x[j], -40, 0}, rx[3] = {rx_x[i], 40, 0};
            model_paths(m, tx, rx);
            for (size_t k = 0; k < m->list.n; k++) {
                const ec_path *p = &m->list.path[k];
                bool curved = false;
                for (int32_t s = 0; s < p->depth; s++)
                    curved = curved ||
                             ec_path_kind(m->list.step[p->first + (size_t)s]) == EC_PATH_CURVED;
                if (curved && !echoes)
                    continue;
                ec_c128 add = model_channel(m, k, &antenna, tx, &antenna, rx);
                h[i][j].re += add.re;
                h[i][j].im += add.im;
            }
        }
    return capacity(h);
}

static void seed_model(model *m, bool plate, bool cylinder, int32_t depth)
{
    ec_shape shape;

    model_begin(m);
    ec_shape_default(EC_SHAPE_PLATE, &shape);
    shape.at[0] = plate ? 30 : 3000;
    shape.axis[0] = -1;
    shape.axis[2] = 0;
    shape.size[0] = 50;
    shape.size[1] = 15;
    model_add(m, "pec", &shape);
    if (cylinder) {
        ec_shape_default(EC_SHAPE_CYLINDER, &shape);
        shape.radius = 10;
        shape.length = 15;
        shape.sides = 1028;
        shape.open = true;
        model_add(m, "pec", &shape);
    }
    model_end(m, 1, true, depth, 0, 0);
}

static void test_seed_scene(void **state)
{
    static const double gap[5] = {0.5, 1, 1.5, 2, 4.4721359549995796};
    static const double sight[5] = {8.96, 10.91, 13.01, 15.22, 26.63};
    static const double plate[4] = {14.47, 16.11, 20.66, 19.78};
    static const double tx[4] = {7.0, 12.6, 18.0, 20.9}, rx[4] = {7.08, 12.9, 17.1, 22.0};

    (void)state;
    for (int with = 0; with < 2; with++) {
        model m;
        seed_model(&m, with, false, with);
        for (int k = 0; k < (with ? 4 : 5); k++) {
            double x[4];
            for (int i = 0; i < 4; i++)
                x[i] = 15 + (i - 1.5) * gap[k];
            assert_near(seed_capacity(&m, x, x, false), with ? plate[k] : sight[k], 0.01);
        }
        if (with)
            assert_near(seed_capacity(&m, tx, rx, false), 23.65, 0.01);
        model_free(&m);
    }
    model m;
    seed_model(&m, true, true, 1);
    assert_near(seed_capacity(&m, tx, rx, false), 24.03, 0.01);
    model_free(&m);
}

/* ---- exchange of the antennas ---- */

static void test_exchange(void **state)
{
    model m;
    ec_shape shape;
    ec_antenna a = vertical(), b;
    size_t n = 0, slabs = 0;

    (void)state;
    assert_int_equal(
        ec_antenna_init(EC_ELEMENT_KIND_HALF_WAVE, 0, (double[3]){1, 0.4, -0.3}, NULL, &b), EC_OK);
    model_begin(&m);
    ec_shape_default(EC_SHAPE_BOX, &shape);
    shape.size[0] = 6.1;
    shape.size[1] = 4.3;
    shape.size[2] = 2.7;
    shape.inward = true;
    model_add(&m, "concrete", &shape);
    shape.inward = false;
    shape.size[0] = shape.size[1] = 0.8;
    shape.size[2] = 1.3;
    shape.at[0] = -1.8;
    shape.at[1] = 0.7;
    shape.rotate_deg = 20;
    model_add(&m, "wood", &shape);
    ec_shape_default(EC_SHAPE_PLATE, &shape);
    shape.axis[0] = 1;
    shape.axis[1] = 0.2;
    shape.axis[2] = 0;
    shape.at[0] = 0.5;
    shape.size[0] = 2;
    shape.size[1] = 1.9;
    model_add(&m, "plasterboard", &shape);
    ec_shape_default(EC_SHAPE_CYLINDER, &shape);
    shape.at[0] = 2;
    shape.at[1] = -1;
    shape.radius = 0.25;
    shape.length = 2.1;
    model_add(&m, "pec", &shape);
    model_end(&m, 0.0857, true, 3, 1, 1);
    for (uint32_t k = 0; k < 4; k++) {
        double tx[3], rx[3];
        ec_c128 there = {0, 0}, back = {0, 0};
        for (uint32_t d = 0; d < 3; d++) {
            tx[d] = draw_in(3, 6 * k + d, d == 0 ? -0.8 : -1.2, d == 0 ? 0.1 : 1.2);
            rx[d] = draw_in(3, 6 * k + 3 + d, d == 0 ? 1.0 : -0.5, d == 0 ? 2.9 : 1.2);
        }
        model_paths(&m, tx, rx);
        assert_int_equal(m.list.unresolved, 0);
        n += m.list.n;
        for (size_t i = 0; i < m.list.n; i++) {
            ec_c128 h = model_channel(&m, i, &a, tx, &b, rx);
            there.re += h.re;
            there.im += h.im;
            for (int32_t s = 0; s < m.list.path[i].depth; s++)
                slabs += ec_path_kind(m.list.step[m.list.path[i].first + (size_t)s]) ==
                         EC_PATH_TRANSMISSION;
        }
        model_paths(&m, rx, tx);
        for (size_t i = 0; i < m.list.n; i++) {
            ec_c128 h = model_channel(&m, i, &b, rx, &a, tx);
            back.re += h.re;
            back.im += h.im;
        }
        assert_true(error_of(back, there) < 1e-8);
    }
    printf("  %zu paths, %zu transmissions\n", n, slabs);
    assert_true(n > 200 && slabs > 50);
    model_free(&m);
}

/* Over two edges of one sheet, whichever face rounding would have the ray between them on. */
static void test_exchange_over_sheet(void **state)
{
    int32_t over = 0;

    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        model m;
        ec_shape shape;
        double n[3] = {0, 0, 1}, u[3], v[3];
        for (uint32_t d = 0; d < 3 && turn; d++)
            n[d] = draw_in(6, 100 + 3 * (uint32_t)turn + d, -1, 1);
        model_begin(&m);
        ec_shape_default(EC_SHAPE_PLATE, &shape);
        shape.size[0] = shape.size[1] = 1.4;
        memcpy(shape.axis, n, sizeof n);
        model_add(&m, "pec", &shape);
        model_end(&m, 0.1, true, 2, 2, 0);
        ec_scene_frame(m.scene->facet[0].normal, u, v);
        for (uint32_t k = 0; k < 8; k++) {
            double at[2][3];
            ec_antenna antenna;
            ec_c128 h[2] = {{0, 0}, {0, 0}};
            assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_ISOTROPIC, 0, m.scene->facet[0].normal,
                                             NULL, &antenna),
                             EC_OK);
            for (uint32_t i = 0; i < 2; i++) {
                double r = draw_in(6, 4 * k + 2 * i, 0.9, 2) * (i ? -1 : 1);
                double z = draw_in(6, 4 * k + 2 * i + 1, 0.2, 1) * (k % 2 && i ? -1 : 1);
                for (int d = 0; d < 3; d++)
                    at[i][d] = r * u[d] + 0.1 * v[d] + z * m.scene->facet[0].normal[d];
            }
            for (int way = 0; way < 2; way++) {
                model_paths(&m, at[way], at[!way]);
                for (size_t i = 0; i < m.list.n; i++) {
                    ec_c128 g = model_channel(&m, i, &antenna, at[way], &antenna, at[!way]);
                    h[way].re += g.re;
                    h[way].im += g.im;
                    over += m.list.path[i].depth == 2 && hypot(g.re, g.im) > 1e-6;
                }
            }
            assert_true(error_of(h[1], h[0]) < 1e-9);
        }
        model_free(&m);
    }
    assert_true(over > 40);
}

/* An antenna in front of a corner gets its own echo over the edge once. */
static void test_corner_echo(void **state)
{
    model m;
    ec_shape shape;
    ec_antenna antenna = vertical();
    double tx[3] = {-2, -2, 0.1};

    (void)state;
    model_begin(&m);
    ec_shape_default(EC_SHAPE_BOX, &shape);
    shape.size[0] = shape.size[1] = 50;
    shape.size[2] = 90;
    shape.at[0] = shape.at[1] = -25; /* two walls meet at x = y = 0 */
    shape.inward = true;
    model_add(&m, "pec", &shape);
    model_end(&m, 1, true, 2, 0, 0);
    model_paths(&m, tx, tx);
    size_t found = 0;
    for (size_t i = 0; i < m.list.n; i++) {
        if (m.list.path[i].depth != 2 || fabs(m.list.path[i].length - 2 * sqrt(8)) > 1e-9)
            continue;
        ec_c128 h = model_channel(&m, i, &antenna, tx, &antenna, tx);
        double length = m.list.path[i].length;
        found++;
        assert_true(error_of(h, wave(1 / (4 * EC_PI * length), length, 1)) < 1e-6);
    }
    assert_int_equal(found, 1);
    model_free(&m);
}

/* In a hollow ball: what comes back from behind the transmitter is focused, by its law of mirrors, and
 * flagged there; not a third of the radius away. */
static void test_focus(void **state)
{
    const double radius = 10, behind = 14, image = 1 / (2 / radius - 1 / behind);
    int flagged[2] = {0, 0}, seen[2] = {0, 0};
    model m;
    ec_shape shape;

    (void)state;
    model_begin(&m);
    ec_shape_default(EC_SHAPE_SPHERE, &shape);
    shape.radius = radius;
    shape.sides = 40;
    shape.inward = true;
    model_add(&m, "pec", &shape);
    model_end(&m, 0.1, true, 1, 0, 0);
    for (int away = 0; away < 2; away++) {
        double tx[3] = {behind - radius, 0, 0}, rx[3] = {image + 3 * away - radius, 1e-3, 0};
        model_paths(&m, tx, rx);
        for (size_t i = 0; i < m.list.n; i++) {
            const ec_path *p = &m.list.path[i];
            if (p->depth != 1 || m.list.point[p->first][0] > -9.9)
                continue;
            seen[away]++;
            flagged[away] += 2 * EC_PI * p->smooth < 0.1;
        }
    }
    assert_true(seen[0] >= 1 && seen[1] >= 1);
    assert_true(flagged[0] == seen[0] && flagged[1] == 0);
    model_free(&m);
}

/* A pattern in the first argument chooses tests. */
int main(int n, char **argument)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_rays),    cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_sphere),      cmocka_unit_test(test_groups),
        cmocka_unit_test(test_two_bodies),  cmocka_unit_test(test_seed_scene),
        cmocka_unit_test(test_exchange),    cmocka_unit_test(test_exchange_over_sheet),
        cmocka_unit_test(test_corner_echo), cmocka_unit_test(test_focus),
    };
    if (n > 1)
        cmocka_set_test_filter(argument[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
