/* test_paths.c: paths against an oracle that tries every sequence, canyons and corners with known
 * images, specular points of curved surfaces against minimisation, invariances, limits.
 *
 * ECITON_FULL_PATHS=1 compares 1,000 pairs of antennas in each scene, as ECITON_FULL_PATHS=n does n. */
#include "path.h"

#include "path_check.h"
#include "random.h"
#include "unit/path_oracle.h"
#include "unit/path_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static double draw(uint32_t stream, uint32_t i)
{
    ec_random_stream s = ec_random_make(11, stream, 1, 0);
    uint32_t words[4];

    ec_random_words(&s, 0, i, words);
    return (words[0] + 0.5) / 4294967296.0;
}

static double draw_in(uint32_t stream, uint32_t i, double low, double high)
{
    return low + (high - low) * draw(stream, i);
}

/* ---- scenes ---- */

enum { ALL_FACES = 63, NO_FLOOR = 63 - 16 };

/* A closed room with a table and two cupboards. */
static void make_room(test_scene *t, int32_t split)
{
    scene_begin(t, split);
    scene_aligned_box(t, 0, 0, 0, 6.1, 4.3, 2.7, true, ALL_FACES);
    scene_aligned_box(t, 2.1, 1.3, 0.7, 3.7, 2.2, 0.75, false, ALL_FACES);
    scene_aligned_box(t, 0.3, 0.2, 0.1, 1.1, 0.9, 1.9, false, ALL_FACES);
    scene_aligned_box(t, 4.6, 3.1, 0.05, 5.7, 3.9, 1.2, false, ALL_FACES);
    scene_end(t);
}

/* Ten buildings along a street, on a ground. */
static void make_street(test_scene *t, int32_t split)
{
    scene_begin(t, split);
    scene_aligned_box(t, -20, -60, -1, 220, 60, 0, false, 32);
    for (uint32_t i = 0; i < 10; i++) {
        double x = 20.0 * (i / 2) + draw_in(1, i, 0, 3), side = i % 2 ? 1 : -1;
        double near = side * draw_in(1, 20 + i, 8, 11), far = near + side * 15;
        scene_aligned_box(t, x, fmin(near, far), 0, x + draw_in(1, 40 + i, 12, 18),
                          fmax(near, far), draw_in(1, 60 + i, 8, 25), false, NO_FLOOR);
    }
    scene_end(t);
}

static void random_frame(uint32_t stream, uint32_t i, double e[3][3])
{
    double a[3], n[3];

    for (uint32_t d = 0; d < 3; d++)
        a[d] = draw_in(stream, 1000 + 3 * i + d, -1, 1);
    double zero[3] = {0, 0, 0};
    ec_path_unit(zero, a, n);
    ec_scene_frame(n, e[0], e[1]);
    memcpy(e[2], n, sizeof n);
}

/* A room with boxes turned at random, some of which cut each other. */
static void make_clutter(test_scene *t, int32_t split, uint32_t boxes)
{
    scene_begin(t, split);
    scene_aligned_box(t, -3, -3, -3, 15, 11, 11, true, ALL_FACES);
    for (uint32_t i = 0; i < boxes; i++) {
        double e[3][3], centre[3] = {4.0 * (i % 4), 4.0 * (i / 4 % 3), 4.0 * (i / 12)};
        random_frame(2, i, e);
        for (uint32_t d = 0; d < 3; d++)
            for (int k = 0; k < 3; k++)
                e[d][k] *= draw_in(2, 500 + 3 * i + d, 0.3, 1.1);
        scene_box(t, centre, e, false, ALL_FACES);
    }
    scene_end(t);
}

/* Thin plates, every second one lets waves through. */
static void make_plates(test_scene *t, int32_t split, uint32_t plates)
{
    scene_begin(t, split);
    for (uint32_t i = 0; i < plates; i++) {
        double e[3][3], centre[3];
        random_frame(3, i, e);
        for (uint32_t d = 0; d < 3; d++) {
            centre[d] = draw_in(3, 9000 + 3 * i + d, -4, 4);
            for (int k = 0; k < 3; k++)
                e[d][k] *= 1.2;
        }
        scene_plate(t, centre, e[0], e[1], i % 2);
    }
    scene_end(t);
}

/* Prisms of three sides between a floor and a back wall. */
static void make_prisms(test_scene *t, int32_t split)
{
    scene_begin(t, split);
    scene_aligned_box(t, -10, -10, -1, 10, 10, 0, false, 32);
    scene_aligned_box(t, -12, -10, 0.001, -10, 10, 6, false, 2);
    for (uint32_t i = 0; i < 6; i++) {
        double turn = draw_in(4, i, 0, 2), c[3][2], v[4][3];
        double x = -6.0 + 5.0 * (i % 3), y = i / 3 ? 4 : -4, z0 = 0.2, z1 = draw_in(4, 10 + i, 1, 4);
        int32_t solid = ++t->n_solids;
        for (int k = 0; k < 3; k++) {
            double angle = EC_PI * (turn + 2.0 * k / 3);
            c[k][0] = x + 1.5 * cos(angle);
            c[k][1] = y + 1.5 * sin(angle);
        }
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 4; j++) {
                const double *p = c[(k + (j == 1 || j == 2)) % 3];
                double at[3] = {p[0], p[1], j < 2 ? z0 : z1};
                memcpy(v[j], at, sizeof at);
            }
            scene_polygon(t, 4, (const double(*)[3])v, false, 0, solid);
        }
        for (int top = 0; top < 2; top++) {
            for (int k = 0; k < 3; k++) {
                const double *p = c[top ? k : 2 - k];
                double at[3] = {p[0], p[1], top ? z1 : z0};
                memcpy(v[k], at, sizeof at);
            }
            scene_polygon(t, 3, (const double(*)[3])v, false, 0, solid);
        }
    }
    scene_end(t);
}

/* Whether a point is outside of every solid with outward normals (rooms are let be). */
static bool is_free(const test_scene *t, const double p[3])
{
    for (int32_t solid = 1; solid <= t->n_solids; solid++) {
        bool inside = true, closed = false;
        int32_t faces = 0;
        for (int32_t f = 0; f < t->s.n_facets; f++) {
            if (t->solid[f] != solid || t->facet[f].thin)
                continue;
            faces++;
            inside = inside && side_of(&t->facet[f], p) < 0.01;
        }
        closed = faces >= 5;
        if (closed && inside)
            return false;
    }
    return true;
}

/* A point of the scene's box (shrunk, and from z low + 0.3) outside of solids. */
static void free_point(const test_scene *t, uint32_t stream, uint32_t *i, double p[3])
{
    do {
        for (int d = 0; d < 3; d++)
            p[d] = draw_in(stream, (*i)++, t->s.low[d] + 0.02, t->s.high[d] - 0.02);
    } while (!is_free(t, p));
}

/* ---- completeness ---- */

static int32_t pairs_wanted(int32_t few)
{
    const char *full = getenv("ECITON_FULL_PATHS");
    int n = full ? atoi(full) : 0;
    return n == 1 ? 1000 : n > 1 ? n : few;
}

static ec_path_box point_box(const double p[3])
{
    ec_path_box box;

    memcpy(box.low, p, sizeof box.low);
    memcpy(box.high, p, sizeof box.high);
    return box;
}

static bool same_steps(const ec_path_list *l, size_t i, const oracle_path *o)
{
    return l->path[i].depth == o->depth &&
           memcmp(l->step + l->path[i].first, o->step, (size_t)o->depth * sizeof *o->step) == 0;
}

static void print_path(const char *what, int32_t depth, const uint32_t *step, double length)
{
    printf("  %s:", what);
    for (int32_t i = 0; i < depth; i++)
        printf(" %c%d", "RCDT"[step[i] >> 28], (int)(step[i] & 0xfffffff));
    printf(" length %.12g\n", length);
}

/* How many paths differ between the list and the oracle: missing, in excess, twice. */
static int differences(const ec_path_list *l, const oracle *o)
{
    int wrong = 0;
    size_t i = 0;

    for (size_t k = 0; k < o->n; k++) {
        const oracle_path *p = &o->path[k];
        for (i = 0; i < l->n && !same_steps(l, i, p); i++) {
        }
        if (i == l->n || fabs(l->path[i].length - p->length) > 1e-8) {
            print_path("missing", p->depth, p->step, p->length);
            wrong++;
        }
    }
    for (i = 0; i < l->n; i++) {
        size_t k = 0;
        for (k = 0; k < o->n && !same_steps(l, i, &o->path[k]); k++) {
        }
        bool twice = false;
        for (size_t j = 0; j < i && !twice; j++)
            twice = l->path[j].depth == l->path[i].depth &&
                    memcmp(l->step + l->path[j].first, l->step + l->path[i].first,
                           (size_t)l->path[i].depth * sizeof *l->step) == 0;
        if (k == o->n || twice) {
            print_path(twice ? "twice" : "in excess", l->path[i].depth, l->step + l->path[i].first,
                       l->path[i].length);
            wrong++;
        }
    }
    return wrong;
}

/* Pairs of antennas: each traced with sequences of its own transmitter. */
static void compare(const char *name, const test_scene *t, ec_path_options options, uint32_t stream,
                    int32_t pairs)
{
    ec_path_plan *plan = NULL;
    int wrong = 0;
    size_t total = 0, resolved = 0;

    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : wrong, total, resolved)
    for (int32_t k = 0; k < pairs; k++) {
        oracle *o = malloc(sizeof *o);
        ec_path_list list = {0};
        ec_path_sequences *sequences = NULL;
        uint32_t i = 100000u * (uint32_t)k;
        o->t = t;
        o->depth = options.depth;
        o->diffractions = options.diffractions;
        o->transmissions = options.transmissions;
        free_point(t, stream, &i, o->tx);
        free_point(t, stream, &i, o->rx);
        ec_path_box box = point_box(o->tx);
        if (ec_path_enumerate(plan, &box, NULL, &sequences) != EC_OK ||
            sequences->complete != options.depth ||
            ec_path_find(plan, sequences, o->tx, o->rx, &list) != EC_OK) {
            wrong++;
        } else {
            oracle_find(o);
            int here = differences(&list, o);
            if (here)
                printf("  %s: pair %d, (%.17g, %.17g, %.17g) to (%.17g, %.17g, %.17g)\n", name,
                       (int)k, o->tx[0], o->tx[1], o->tx[2], o->rx[0], o->rx[1], o->rx[2]);
            wrong += here;
            total += o->n;
            resolved += list.unresolved == 0;
        }
        ec_path_sequences_destroy(&sequences);
        ec_path_list_free(&list);
        free(o);
    }
    printf("  %s: %d facets, %d wedges, %d pairs, %zu paths, %d wrong\n", name,
           (int)t->s.n_facets, (int)t->s.n_wedges, (int)pairs, total, wrong);
    ec_path_plan_destroy(&plan);
    assert_int_equal(wrong, 0);
    assert_int_equal(resolved, pairs);
    assert_true(total > (size_t)pairs / 2);
}

static ec_path_options options_of(int32_t depth, int32_t diffractions, int32_t transmissions)
{
    ec_path_options o;

    ec_path_options_default(&o);
    o.depth = depth;
    o.diffractions = diffractions;
    o.transmissions = transmissions;
    return o;
}

static void test_complete_room(void **state)
{
    test_scene *t = *state;

    make_room(t, 1);
    compare("room", t, options_of(3, 0, 0), 21, pairs_wanted(40));
    compare("room, diffraction", t, options_of(3, 1, 0), 22, pairs_wanted(2));
}

static void test_complete_street(void **state)
{
    test_scene *t = *state;

    make_street(t, 1);
    compare("street", t, options_of(3, 0, 0), 23, pairs_wanted(10));
    compare("street, diffraction", t, options_of(2, 1, 0), 24, pairs_wanted(8));
}

static void test_complete_clutter(void **state)
{
    test_scene *t = *state;

    make_clutter(t, 1, 32);
    compare("clutter", t, options_of(3, 0, 0), 25, pairs_wanted(1));
    compare("clutter, diffraction", t, options_of(2, 1, 0), 26, pairs_wanted(2));
}

static void test_complete_plates(void **state)
{
    test_scene *t = *state;

    make_plates(t, 1, 24);
    compare("plates", t, options_of(3, 0, 3), 27, pairs_wanted(40));
    compare("plates, diffraction", t, options_of(3, 1, 2), 28, pairs_wanted(2));
    make_plates(t, 1, 6);
    compare("plates, two diffractions", t, options_of(2, 2, 2), 29, pairs_wanted(4));
}

static void test_complete_prisms(void **state)
{
    test_scene *t = *state;

    make_prisms(t, 1);
    compare("prisms", t, options_of(3, 0, 0), 30, pairs_wanted(20));
    compare("prisms, diffraction", t, options_of(3, 1, 0), 31, pairs_wanted(1));
}

static int make_state(void **state)
{
    *state = malloc(sizeof(test_scene));
    return *state ? 0 : -1;
}

static int free_state(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete_room),    cmocka_unit_test(test_complete_street),
        cmocka_unit_test(test_complete_clutter), cmocka_unit_test(test_complete_plates),
        cmocka_unit_test(test_complete_prisms),
    };
    return cmocka_run_group_tests(tests, make_state, free_state);
}
