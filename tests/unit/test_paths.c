/* test_paths.c: paths against an oracle that tries every sequence, canyons and corners with known
 * images, specular points of curved surfaces against minimisation, invariances, limits.
 *
 * ECITON_FULL_PATHS=1 compares 1,000 pairs of antennas in each scene, as ECITON_FULL_PATHS=n does
 * n. */
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
        scene_aligned_box(t, x, fmin(near, far), 0, x + draw_in(1, 40 + i, 12, 18), fmax(near, far),
                          draw_in(1, 60 + i, 8, 25), false, NO_FLOOR);
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
        double x = -6.0 + 5.0 * (i % 3), y = i / 3 ? 4 : -4, z0 = 0.2,
               z1 = draw_in(4, 10 + i, 1, 4);
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
            sequences->depth != options.depth ||
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
    printf("  %s: %d facets, %d wedges, %d pairs, %zu paths, %d wrong\n", name, (int)t->s.n_facets,
           (int)t->s.n_wedges, (int)pairs, total, wrong);
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
    compare("street", t, options_of(3, 0, 0), 23, pairs_wanted(40));
    compare("street, diffraction", t, options_of(2, 1, 0), 24, pairs_wanted(8));
}

static void test_complete_clutter(void **state)
{
    test_scene *t = *state;

    make_clutter(t, 1, 32);
    compare("clutter", t, options_of(3, 0, 0), 25, pairs_wanted(5));
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

/* ---- helpers ---- */

/* All paths of a pair, sequences for exactly this transmitter. */
static void find_paths(const test_scene *t, ec_path_options options, const double tx[3],
                       const double rx[3], ec_path_list *list)
{
    ec_path_plan *plan = NULL;
    ec_path_sequences *sequences = NULL;
    ec_path_box box = point_box(tx);

    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &box, NULL, &sequences), EC_OK);
    ec_path_list_clear(list);
    assert_int_equal(ec_path_find(plan, sequences, tx, rx, list), EC_OK);
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);
}

/* The path with the given steps, or n. */
static size_t find_steps(const ec_path_list *l, int32_t depth, const uint32_t *step)
{
    size_t i = 0;

    for (i = 0; i < l->n; i++)
        if (l->path[i].depth == depth &&
            memcmp(l->step + l->path[i].first, step, (size_t)depth * sizeof *step) == 0)
            break;
    return i;
}

/* Same sequences in the same order, lengths and points within the tolerance (0: bits). */
static void assert_same(const ec_path_list *a, const ec_path_list *b, double tolerance)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_steps, b->n_steps);
    assert_memory_equal(a->step, b->step, a->n_steps * sizeof *a->step);
    for (size_t i = 0; i < a->n; i++) {
        assert_int_equal(a->path[i].depth, b->path[i].depth);
        assert_near(a->path[i].length, b->path[i].length, tolerance);
    }
    for (size_t i = 0; i < a->n_steps && tolerance == 0; i++)
        assert_memory_equal(a->point[i], b->point[i], sizeof a->point[i]);
}

/* Reflected and diffracted as the laws say: directions of the same slope to facets, edges,
 * shapes. */
static void assert_lawful(const test_scene *t, const ec_path_list *l, double tolerance)
{
    for (size_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->path[i].depth; k++) {
            size_t at = l->path[i].first + (size_t)k;
            const double *in = l->direction[at];
            const double *out = k + 1 < l->path[i].depth ? l->direction[at + 1] : l->arrival[i];
            int32_t index = ec_path_index(l->step[at]);
            double n[3], back[3];
            switch (ec_path_kind(l->step[at])) {
            case EC_PATH_DIFFRACTION:
                assert_near(ec_path_dot(in, t->wedge[index].tangent),
                            ec_path_dot(out, t->wedge[index].tangent), tolerance);
                break;
            case EC_PATH_TRANSMISSION:
                assert_near(ec_path_dot(in, out), 1, tolerance);
                break;
            default:
                if (ec_path_kind(l->step[at]) == EC_PATH_CURVED)
                    ec_path_shape_normal(&t->surface[index], l->point[at], n);
                else
                    memcpy(n, t->facet[index].normal, sizeof n);
                ec_path_along(in, -2 * ec_path_dot(n, in), n, back);
                for (int d = 0; d < 3; d++)
                    assert_near(back[d], out[d], tolerance);
            }
        }
}

/* ---- images that are known ---- */

static void add_plate(test_scene *t, double cx, double cy, double cz, double ux, double uy,
                      double uz, double vx, double vy, double vz)
{
    scene_plate(t, (double[3]){cx, cy, cz}, (double[3]){ux, uy, uz}, (double[3]){vx, vy, vz}, 0);
}

static void test_canyon(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};
    double tx[3] = {0, 0.3, 0}, rx[3] = {7, -0.4, 0.2};
    const double half = 1; /* walls at y = -1 and y = 1 */

    scene_begin(t, 1);
    add_plate(t, 0, -half, 0, 1000, 0, 0, 0, 0, 1000);
    add_plate(t, 0, half, 0, 1000, 0, 0, 0, 0, 1000);
    scene_end(t);
    find_paths(t, options_of(12, 0, 0), tx, rx, &list);
    assert_int_equal(list.n, 1 + 2 * 12);
    for (uint32_t depth = 0; depth <= 12; depth++)
        for (uint32_t first = 0; first < (depth ? 2u : 1u); first++) {
            uint32_t step[12];
            double y = tx[1];
            for (uint32_t k = 0; k < depth; k++) {
                step[k] = (first + k) % 2;
                y = (step[k] ? 2 * half : -2 * half) - y;
            }
            size_t i = find_steps(&list, (int32_t)depth, step);
            assert_true(i < list.n);
            assert_near(list.path[i].length, sqrt(49 + 0.04 + (y - rx[1]) * (y - rx[1])), 1e-12);
        }
    ec_path_list_free(&list);
}

static void test_corner_reflectors(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};
    double tx[3] = {1.1, 2.2, 0.7}, rx[3] = {2.4, 0.9, 1.3}, same[3] = {1, 1, 1};

    for (int plates = 2; plates <= 3; plates++) {
        scene_begin(t, 1);
        add_plate(t, 0, 50, 0, 0, 50, 0, 0, 0, 50);
        add_plate(t, 50, 0, 0, 50, 0, 0, 0, 0, 50);
        if (plates == 3) /* whose corner is the origin */
            add_plate(t, 50, 50, 0, 50, 0, 0, 0, 50, 0);
        scene_end(t);
        find_paths(t, options_of(5, 0, 0), tx, rx, &list);
        assert_int_equal(list.n, plates == 2 ? 4 : 8);
        for (size_t i = 0; i < list.n; i++) {
            double image[3] = {tx[0], tx[1], tx[2]};
            for (int32_t k = 0; k < list.path[i].depth; k++)
                image[list.step[list.path[i].first + (size_t)k]] *= -1;
            assert_near(list.path[i].length, ec_path_distance(image, rx), 1e-12);
        }
        /* back to the antenna: straight through the edges and the corner, each once */
        find_paths(t, options_of(5, 0, 0), same, same, &list);
        assert_int_equal(list.n, plates == 2 ? 3 : 7);
    }
    /* 60 degrees: six images with the antenna itself */
    scene_begin(t, 1);
    add_plate(t, 50, 0, 0, 50, 0, 0, 0, 0, 50);
    add_plate(t, 25, 25 * sqrt(3), 0, 25, 25 * sqrt(3), 0, 0, 0, 50);
    scene_end(t);
    find_paths(t, options_of(5, 0, 0), (double[3]){3, 1, 0}, (double[3]){2.5, 2, 1}, &list);
    assert_int_equal(list.n, 6);
    ec_path_list_free(&list);
}

/* A convex edge has no such path, nor has the face of a box behind another. */
static void test_convex_edge(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};
    double same[3] = {2, 2, 0.5};

    scene_begin(t, 1);
    scene_aligned_box(t, 0, 0, 0, 1, 1, 1, false, ALL_FACES);
    scene_end(t);
    find_paths(t, options_of(3, 1, 0), same, same, &list);
    assert_int_equal(list.n, 3); /* off the edges that it sees: at (1, 0), (1, 1) and (0, 1) */
    for (size_t i = 0; i < list.n; i++) {
        assert_int_equal(ec_path_kind(list.step[list.path[i].first]), EC_PATH_DIFFRACTION);
        assert_near(list.path[i].length, 2 * sqrt(i == 1 ? 2 : 5), 1e-12);
    }
    ec_path_list_free(&list);
}

/* Points on the common edge of two coplanar facets, and on that of their triangles. */
static void test_common_edges(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};

    for (int turned = 0; turned < 2; turned++)
        for (int order = 0; order < 2; order++) {
            double u[3] = {1, 0, 0}, v[3] = {0, 1, 0}, w[3] = {0, 0, 1};
            if (turned) {
                memcpy(w, (double[3]){0.36, 0.48, 0.8}, sizeof w);
                ec_scene_frame(w, u, v);
            }
            scene_begin(t, 1);
            for (int k = 0; k < 4; k++) {
                double corner[4][3], x = (k + order) % 2, y = k / 2;
                for (int c = 0; c < 4; c++)
                    for (int d = 0; d < 3; d++)
                        corner[c][d] = 3 * w[d] + (x - 1 + (c == 1 || c == 2)) * u[d] +
                                       (y - 1 + (c > 1)) * v[d];
                scene_polygon(t, 4, (const double(*)[3])corner, false, 0, 1);
            }
            scene_end(t);
            for (int k = 0; k < 16; k++) {
                /* reflected at the middle, along the edges, at the outline, and off it */
                double place = k < 14 ? k % 7 / 3.0 - 1 : 1.001, tx[3], rx[3];
                bool on = k < 14;
                for (int d = 0; d < 3; d++) {
                    double p = place * (k < 7 || k == 14 ? u[d] : v[d]);
                    tx[d] = p + 4 * w[d] + 0.3 * u[d];
                    rx[d] = p + 4 * w[d] - 0.3 * u[d];
                }
                find_paths(t, options_of(1, 0, 0), tx, rx, &list);
                assert_int_equal(list.n, on ? 2 : 1);
            }
        }
    ec_path_list_free(&list);
}

/* ---- invariances ---- */

/* Turns a path's sequence round. */
static void reverse_of(const ec_path_list *l, size_t i, uint32_t *step)
{
    for (int32_t k = 0; k < l->path[i].depth; k++)
        step[k] = l->step[l->path[i].first + (size_t)(l->path[i].depth - 1 - k)];
}

static void test_reciprocity(void **state)
{
    test_scene *t = *state;
    ec_path_list there = {0}, back = {0};

    for (int scene = 0; scene < 3; scene++) {
        uint32_t i = 0;
        if (scene == 0)
            make_room(t, 1);
        else if (scene == 1)
            make_plates(t, 1, 12);
        else
            make_prisms(t, 1);
        for (int pair = 0; pair < 3; pair++) {
            double tx[3], rx[3];
            free_point(t, 41, &i, tx);
            free_point(t, 41, &i, rx);
            find_paths(t, options_of(2, 2, 2), tx, rx, &there);
            find_paths(t, options_of(2, 2, 2), rx, tx, &back);
            assert_int_equal(there.n, back.n);
            assert_true(there.n > 1);
            assert_lawful(t, &there, 1e-9);
            for (size_t k = 0; k < there.n; k++) {
                uint32_t step[EC_PATH_DEPTH_MAX];
                reverse_of(&there, k, step);
                size_t same = find_steps(&back, there.path[k].depth, step);
                assert_true(same < back.n);
                assert_near(there.path[k].length, back.path[same].length, 1e-10);
            }
        }
    }
    ec_path_list_free(&there);
    ec_path_list_free(&back);
}

static void turn_point(const double m[3][3], const double shift[3], double p[3])
{
    double q[3] = {p[0], p[1], p[2]};

    for (int d = 0; d < 3; d++)
        p[d] = ec_path_dot(m[d], q) + shift[d];
}

/* Turns and moves a scene as a whole. */
static void turn_scene(test_scene *t, const double m[3][3], const double shift[3])
{
    const double zero[3] = {0, 0, 0};

    for (int32_t i = 0; i < t->s.n_vertices; i++)
        turn_point(m, shift, t->vertex[i]);
    for (int32_t i = 0; i < t->s.n_facets; i++) {
        turn_point(m, zero, t->facet[i].normal);
        t->facet[i].offset = ec_path_dot(t->facet[i].normal, t->vertex[t->corner[i][0]]);
    }
    for (int32_t i = 0; i < t->s.n_surfaces; i++) {
        turn_point(m, shift, t->surface[i].point);
        turn_point(m, zero, t->surface[i].axis);
    }
    t->s.n_wedges = 0;
    scene_end(t);
}

static void test_rotation(void **state)
{
    test_scene *t = *state;
    ec_path_list before = {0}, after = {0};
    double m[3][3], shift[3] = {13, -7, 41};
    uint32_t i = 0;

    random_frame(5, 0, m);
    for (int pair = 0; pair < 3; pair++) {
        double tx[3], rx[3];
        make_prisms(t, 1);
        scene_round(t, EC_SURFACE_SPHERE, (double[3]){3, 0, 2}, (double[3]){0, 0, 1}, 1, 0, 96,
                    false);
        scene_end(t);
        t->s.n_wedges /= 2; /* were found twice */
        free_point(t, 42, &i, tx);
        free_point(t, 42, &i, rx);
        find_paths(t, options_of(2, 1, 0), tx, rx, &before);
        turn_scene(t, (const double(*)[3])m, shift);
        turn_point((const double(*)[3])m, shift, tx);
        turn_point((const double(*)[3])m, shift, rx);
        find_paths(t, options_of(2, 1, 0), tx, rx, &after);
        assert_true(before.n > 1);
        assert_same(&before, &after, 1e-10);
    }
    ec_path_list_free(&before);
    ec_path_list_free(&after);
}

/* A receiver alone or among 100, sequences for its place, for a box, or for anywhere; transmitters
 * in a box. */
static void test_alone_or_among_many(void **state)
{
    test_scene *t = *state;
    ec_path_options options = options_of(3, 1, 0);
    ec_path_plan *plan = NULL;
    ec_path_box tx_box = {{0.2, 3.9, 0.4}, {0.9, 4.2, 2.5}}, rx_box = {{2, 0.1, 1}, {6, 4.2, 1.5}};
    ec_path_sequences *all = NULL, *boxes = NULL;
    ec_path_list list = {0}, alone = {0};

    make_room(t, 1);
    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &tx_box, NULL, &all), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &tx_box, &rx_box, &boxes), EC_OK);
    assert_true(boxes->n < all->n && boxes->n > 100);
    for (uint32_t k = 0; k < 10; k++) {
        double tx[3], rx[10][3];
        ec_path_sequences *own = NULL;
        size_t first[11];
        for (uint32_t d = 0; d < 3; d++) {
            tx[d] = draw_in(43, 3 * k + d, tx_box.low[d], tx_box.high[d]);
            for (uint32_t j = 0; j < 10; j++)
                rx[j][d] = draw_in(44, 100 * k + 3 * j + d, rx_box.low[d], rx_box.high[d]);
        }
        ec_path_list_clear(&list);
        for (uint32_t j = 0; j < 10; j++) {
            first[j] = list.n;
            assert_int_equal(ec_path_find(plan, all, tx, rx[j], &list), EC_OK);
        }
        first[10] = list.n;
        for (uint32_t j = 0; j < 10; j++)
            for (int way = 0; way < 2; way++) {
                ec_path_box point = point_box(tx), end = point_box(rx[j]);
                ec_path_list_clear(&alone);
                if (way == 1)
                    assert_int_equal(ec_path_enumerate(plan, &point, &end, &own), EC_OK);
                assert_int_equal(ec_path_find(plan, way ? own : boxes, tx, rx[j], &alone), EC_OK);
                ec_path_sequences_destroy(&own);
                assert_int_equal(alone.n, first[j + 1] - first[j]);
                for (size_t i = 0; i < alone.n; i++) {
                    const ec_path *p = &alone.path[i], *q = &list.path[first[j] + i];
                    assert_int_equal(p->depth, q->depth);
                    assert_memory_equal(&p->length, &q->length, sizeof p->length);
                    assert_memory_equal(alone.step + p->first, list.step + q->first,
                                        (size_t)p->depth * sizeof *list.step);
                }
            }
    }
    ec_path_sequences_destroy(&all);
    ec_path_sequences_destroy(&boxes);
    ec_path_list_free(&list);
    ec_path_list_free(&alone);
    ec_path_plan_destroy(&plan);
}

static void test_more_triangles(void **state)
{
    test_scene *t = *state;
    ec_path_list few = {0}, many = {0};
    uint32_t i = 0;

    for (int pair = 0; pair < 4; pair++) {
        double tx[3], rx[3];
        ec_path_options plain = options_of(3, 1, 0);
        plain.plain_occlusion = pair == 3;
        make_room(t, 1);
        free_point(t, 45, &i, tx);
        free_point(t, 45, &i, rx);
        find_paths(t, options_of(3, 1, 0), tx, rx, &few);
        make_room(t, 16);
        find_paths(t, plain, tx, rx, &many);
        assert_true(few.n > 10);
        assert_same(&few, &many, 0);
    }
    ec_path_list_free(&few);
    ec_path_list_free(&many);
}

/* ---- discovery ---- */

/* Rays find next to all paths, and only those that there are; the same with any number of
 * threads. */
static void test_discovery(void **state)
{
    test_scene *t = *state;
    ec_path_launch launch = {.points = 9, .rays = 10000, .threads = 1};
    ec_path_list some = {0}, all = {0};

    for (int scene = 0; scene < 3; scene++) {
        ec_path_options options = options_of(scene == 2 ? 2 : 3, scene == 2 ? 2 : 1, scene == 2);
        ec_path_plan *plan = NULL;
        ec_path_sequences *met = NULL, *again = NULL, *every = NULL;
        ec_path_box tx = {{0.2, 3.9, 0.4}, {0.9, 4.2, 2.5}}, rx = {{2, 0.1, 1}, {6, 4.2, 1.5}};
        size_t found = 0, total = 0;
        char text[200];
        if (scene == 0) {
            make_room(t, 4);
        } else if (scene == 1) {
            make_prisms(t, 1);
            scene_round(t, EC_SURFACE_CYLINDER, (double[3]){-1, 0, 2}, (double[3]){0, 0, 1}, 0.5, 1,
                        72, false);
            t->s.n_wedges = 0;
            scene_end(t);
            tx = (ec_path_box){{-9, -1, 0.2}, {-8, 1, 3}};
            rx = (ec_path_box){{6, -1, 0.2}, {7, 1, 3}};
        } else {
            make_plates(t, 1, 12);
            tx = (ec_path_box){{-3, -3, -3}, {-2, -2, -2}};
            rx = (ec_path_box){{2, 2, 2}, {3, 3, 3}};
        }
        assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
        assert_int_equal(ec_path_discover(plan, &launch, &tx, &rx, &met), EC_OK);
        launch.threads = 3;
        assert_int_equal(ec_path_discover(plan, &launch, &tx, &rx, &again), EC_OK);
        launch.threads = 1;
        assert_true(met->discovered && met->depth == options.depth);
        assert_int_equal(met->n, again->n);
        assert_memory_equal(met->first, again->first, (met->n + 1) * sizeof *met->first);
        assert_memory_equal(met->step, again->step, met->first[met->n] * sizeof *met->step);
        ec_path_sequences_describe(plan, met, text, sizeof text);
        assert_non_null(strstr(text, "met by rays"));
        assert_int_equal(ec_path_enumerate(plan, &tx, &rx, &every), EC_OK);
        for (uint32_t k = 0; k < 20; k++) {
            double a[3], b[3];
            for (uint32_t d = 0; d < 3; d++) {
                a[d] = draw_in(46, 100 * k + d, tx.low[d], tx.high[d]);
                b[d] = draw_in(46, 100 * k + 50 + d, rx.low[d], rx.high[d]);
            }
            ec_path_list_clear(&some);
            ec_path_list_clear(&all);
            assert_int_equal(ec_path_find(plan, met, a, b, &some), EC_OK);
            assert_int_equal(ec_path_find(plan, every, a, b, &all), EC_OK);
            size_t at = 0; /* in order */
            for (size_t i = 0; i < some.n; i++, at++) {
                for (; at < all.n &&
                       (all.path[at].depth != some.path[i].depth ||
                        memcmp(all.step + all.path[at].first, some.step + some.path[i].first,
                               (size_t)some.path[i].depth * sizeof *some.step) != 0);
                     at++) {
                }
                assert_true(at < all.n);
            }
            found += some.n;
            total += all.n;
        }
        printf("  %zu of %zu sequences, %zu of %zu paths\n", met->n, every->n, found, total);
        assert_true(found >= total - total / 10);
        ec_path_sequences_destroy(&met);
        ec_path_sequences_destroy(&again);
        ec_path_sequences_destroy(&every);
        ec_path_plan_destroy(&plan);
    }
    ec_path_list_free(&some);
    ec_path_list_free(&all);
}

/* ---- limits and errors ---- */

static void test_limits(void **state)
{
    test_scene *t = *state;
    ec_path_options options = options_of(20, 0, 0);
    ec_path_plan *plan = NULL;
    ec_path_sequences *sequences = NULL;
    ec_path_box box = {{0.1, 0.1, 0.1}, {6, 4, 2}};
    ec_path_list list = {0};
    char text[400];

    make_room(t, 1);
    options.sequences_max = 5000;
    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &box, NULL, &sequences), EC_OK);
    assert_true(sequences->n <= 5000 && sequences->depth >= 1 && sequences->depth < 20);
    ec_path_sequences_describe(plan, sequences, text, sizeof text);
    assert_non_null(strstr(text, "to 20, is cut"));
    int32_t complete = sequences->depth;
    size_t n = sequences->n;
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);

    /* exactly the sequences of the depth that it says */
    options = options_of(complete, 0, 0);
    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &box, NULL, &sequences), EC_OK);
    assert_int_equal(sequences->n, n);
    assert_int_equal(sequences->depth, complete);
    ec_path_sequences_describe(plan, sequences, text, sizeof text);
    assert_null(strstr(text, "cut"));
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);

    /* tests are a limit too */
    options = options_of(20, 0, 0);
    options.tests_max = 1e5;
    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &box, NULL, &sequences), EC_OK);
    assert_true(sequences->depth < 20);
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);

    /* an empty room is not too much for 12: its images are those of a lattice */
    scene_begin(t, 1);
    scene_aligned_box(t, 0, 0, 0, 3, 4, 2.5, true, ALL_FACES);
    scene_end(t);
    double tx[3] = {1, 1.1, 1.2}, rx[3] = {2.3, 3.1, 0.7};
    find_paths(t, options_of(12, 0, 0), tx, rx, &list);
    size_t images = 0;
    for (int x = -12; x <= 12; x++)
        for (int y = -12; y <= 12; y++)
            for (int z = -12; z <= 12; z++)
                images += abs(x) + abs(y) + abs(z) <= 12;
    assert_int_equal(list.n, images);
    ec_path_list_free(&list);
}

static void test_wrong_options(void **state)
{
    test_scene *t = *state;
    ec_path_plan *plan = NULL;
    ec_path_sequences *sequences = NULL;
    ec_path_box box = {{0, 0, 0}, {1, -1, 1}};

    make_room(t, 1);
    const struct {
        ec_path_options options;
        const char *says;
    } wrong[] = {
        {options_of(-1, 0, 0), "depth is -1"},
        {options_of(25, 0, 0), "depth is 25; it is 0 to 24"},
        {options_of(3, 3, 0), "diffractions is 3"},
        {options_of(20, 0, 5), "transmissions is 5; it is 0 to 4"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(ec_path_plan_create(&t->s, &wrong[i].options, &plan), EC_ERR_ARGUMENT);
        assert_non_null(strstr(ec_error_text(), wrong[i].says));
        assert_null(plan);
    }
    ec_path_options options = options_of(3, 0, 0);
    assert_int_equal(ec_path_plan_create(&t->s, &options, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &box, NULL, &sequences), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "transmitter goes from 0 to -1 along y"));
    ec_path_plan_destroy(&plan);
}

/* ---- curved surfaces ---- */

/* The shortest way from a over the shape's outside to b by brute force: a grid of angles and
 * heights about the shape, refined. */
static double shortest_over(const ec_surface *c, const double a[3], const double b[3], double p[3])
{
    double u[3], v[3], low[2] = {-EC_PI, 0}, high[2] = {EC_PI, 0}, best = INFINITY, at[2] = {0, 0};
    bool sphere = c->kind == EC_SURFACE_SPHERE;

    ec_scene_frame(c->axis, u, v);
    const double bottom = sphere || c->kind == EC_SURFACE_CONE ? 0 : -c->half_height;
    const double top = sphere ? EC_PI : c->half_height;
    low[1] = bottom;
    high[1] = top;
    for (int round = 0; round < 14; round++) {
        for (int i = 0; i <= 40; i++)
            for (int j = 0; j <= 40; j++) {
                double x = low[0] + (high[0] - low[0]) * i / 40, q[3];
                double y = low[1] + (high[1] - low[1]) * j / 40;
                double r = sphere                       ? c->radius * sin(y)
                           : c->kind == EC_SURFACE_CONE ? y * tan(c->radius)
                                                        : c->radius;
                double z = sphere ? c->radius * cos(y) : y;
                for (int d = 0; d < 3; d++)
                    q[d] = c->point[d] + r * (cos(x) * u[d] + sin(x) * v[d]) + z * c->axis[d];
                double length = ec_path_distance(a, q) + ec_path_distance(q, b);
                if (length < best) {
                    best = length;
                    memcpy(p, q, 3 * sizeof *p);
                    at[0] = x;
                    at[1] = y;
                }
            }
        for (int k = 0; k < 2; k++) {
            double half = 0.15 * (high[k] - low[k]);
            low[k] = at[k] - half;
            high[k] = at[k] + half;
        }
        low[1] = fmax(low[1], bottom);
        high[1] = fmin(high[1], top);
    }
    return best;
}

static void test_specular_points(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};
    const uint32_t step = ec_path_step(EC_PATH_CURVED, 0);

    for (int kind = EC_SURFACE_CYLINDER; kind <= EC_SURFACE_CONE; kind++) {
        double axis[3][3], point[3] = {1, 2, 3};
        int32_t lit = 0, dark = 0;
        random_frame(6, (uint32_t)kind, axis);
        scene_begin(t, 1);
        scene_round(t, kind, point, axis[2], kind == EC_SURFACE_CONE ? 0.4 : 1.5, 4,
                    kind == EC_SURFACE_SPHERE ? 120 : 720, false);
        scene_end(t);
        for (uint32_t pair = 0; pair < 24; pair++) {
            double a[3], b[3], p[3] = {0, 0, 0}, n[3], da[3], db[3];
            for (uint32_t d = 0; d < 3; d++) {
                a[d] = point[d] + draw_in(7, 6 * pair + d, -7, 7);
                b[d] = point[d] + draw_in(7, 6 * pair + 3 + d, -7, 7);
                if (pair % 4 == 3) /* behind the body */
                    b[d] = point[d] - 0.8 * (a[d] - point[d]) + 0.02 * b[d];
            }
            double length = shortest_over(&t->surface[0], a, b, p);
            ec_path_shape_normal(&t->surface[0], p, n);
            ec_path_sub(a, p, da);
            ec_path_sub(b, p, db);
            double ca = ec_path_dot(n, da) / ec_path_norm(da);
            double cb = ec_path_dot(n, db) / ec_path_norm(db);
            find_paths(t, options_of(1, 0, 0), a, b, &list);
            assert_int_equal(list.unresolved, 0);
            size_t i = find_steps(&list, 1, &step);
            double dp[3];
            ec_path_sub(p, point, dp);
            double z = ec_path_dot(dp, axis[2]);
            if (kind == EC_SURFACE_CONE && z < 0.3)
                continue; /* the grid says nothing at the apex */
            bool on = kind == EC_SURFACE_SPHERE || fabs(z) < 3.99;
            if (ca > 0.02 && fabs(ca - cb) < 1e-5 && on) {
                assert_true(i < list.n);
                assert_near(list.path[i].length, length, 1e-9 * length);
                assert_true(ec_path_distance(list.point[list.path[i].first], p) < 1e-3);
                lit++;
            } else if (!on || fabs(ca) > 0.02) {
                assert_true(i == list.n);
                dark++;
            }
            assert_lawful(t, &list, 1e-12);
        }
        printf("  %d lit, %d not\n", (int)lit, (int)dark);
        assert_true(lit > 3 && dark > 3);
    }
    ec_path_list_free(&list);
}

/* Two and three bodies in a row, mirrors and edges between: the laws hold, backwards it is the
 * same. */
static void test_curved_sequences(void **state)
{
    test_scene *t = *state;
    ec_path_list there = {0}, back = {0};
    size_t deep = 0, mixed = 0;

    scene_begin(t, 1);
    scene_aligned_box(t, -9, -9, -1, 9, 9, 0, false, 32);
    add_plate(t, 0, 6, 2, 2, 0, 0, 0, 0.4, 2);
    scene_round(t, EC_SURFACE_CYLINDER, (double[3]){-3, 0, 2.5}, (double[3]){0, 0, 1}, 1, 2.4, 360,
                false);
    scene_round(t, EC_SURFACE_SPHERE, (double[3]){3, 1, 2}, (double[3]){0, 0, 1}, 1.2, 0, 128,
                false);
    scene_round(t, EC_SURFACE_CONE, (double[3]){0, -4, 4}, (double[3]){0, 0, -1}, 0.3, 3.9, 360,
                false);
    scene_end(t);
    for (uint32_t pair = 0; pair < 12; pair++) {
        double a[3], b[3];
        for (uint32_t d = 0; d < 3; d++) {
            a[d] = draw_in(8, 6 * pair + d, d == 2 ? 0.2 : -6, d == 2 ? 5 : 6);
            b[d] = draw_in(8, 6 * pair + 3 + d, d == 2 ? 0.2 : -6, d == 2 ? 5 : 6);
        }
        find_paths(t, options_of(3, 1, 0), a, b, &there);
        find_paths(t, options_of(3, 1, 0), b, a, &back);
        assert_int_equal(there.unresolved, 0);
        assert_lawful(t, &there, 1e-9);
        assert_int_equal(there.n, back.n);
        for (size_t k = 0; k < there.n; k++) {
            uint32_t step[EC_PATH_DEPTH_MAX];
            int32_t curved = 0, edges = 0;
            reverse_of(&there, k, step);
            for (int32_t i = 0; i < there.path[k].depth; i++) {
                curved += ec_path_kind(step[i]) == EC_PATH_CURVED;
                edges += ec_path_kind(step[i]) == EC_PATH_DIFFRACTION;
            }
            deep += curved == 3;
            mixed += curved > 0 && edges > 0;
            size_t same = find_steps(&back, there.path[k].depth, step);
            assert_true(same < back.n);
            assert_near(there.path[k].length, back.path[same].length, 1e-10);
        }
    }
    assert_true(deep > 0 && mixed > 10);
    ec_path_list_free(&there);
    ec_path_list_free(&back);
}

/* A tunnel: as many reflections as the slope of the length around the circle has zeros. */
static void test_hollow(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};
    size_t total = 0;

    scene_begin(t, 1);
    scene_round(t, EC_SURFACE_CYLINDER, (double[3]){0, 0, 0}, (double[3]){0, 0, 1}, 2, 50, 360,
                true);
    scene_end(t);
    for (uint32_t pair = 0; pair < 30; pair++) {
        double a[3], b[3], before = 0;
        size_t zeros = 0;
        for (uint32_t d = 0; d < 3; d++) {
            a[d] = draw_in(9, 6 * pair + d, -1.2, 1.2);
            b[d] = draw_in(9, 6 * pair + 3 + d, -1.2, 1.2);
        }
        for (int i = 0; i <= 100000; i++) {
            double phi = 2 * EC_PI * (i + 0.5) / 100000, h = 1e-6, slope = 0;
            for (int side = -1; side <= 1; side += 2) {
                double x = 2 * cos(phi + side * h), y = 2 * sin(phi + side * h);
                slope += side * (sqrt((a[0] - x) * (a[0] - x) + (a[1] - y) * (a[1] - y)) +
                                 sqrt((b[0] - x) * (b[0] - x) + (b[1] - y) * (b[1] - y)));
            }
            zeros += i > 0 && (slope < 0) != (before < 0);
            before = slope;
        }
        find_paths(t, options_of(1, 0, 0), a, b, &list);
        assert_int_equal(list.n, 1 + zeros);
        assert_lawful(t, &list, 1e-9);
        total += zeros;
    }
    assert_true(total > 60);
    ec_path_list_free(&list);
}

/* The page's case of the seed's scene, and half a cylinder. */
static void test_cylinder_case(void **state)
{
    test_scene *t = *state;
    ec_path_list list = {0};
    double tx[3] = {15, -40, 0}, rx[3] = {15, 40, 0};
    const double *in = NULL;

    scene_begin(t, 1);
    scene_round(t, EC_SURFACE_CYLINDER, (double[3]){0, 0, 0}, (double[3]){0, 0, 1}, 10, 7.5, 36,
                false);
    scene_end(t);
    find_paths(t, options_of(1, 0, 0), tx, rx, &list);
    assert_int_equal(list.n, 2);
    in = list.direction[list.path[1].first];
    assert_near(list.point[list.path[1].first][0], 10, 1e-12);
    assert_near(list.path[1].length, 2 * 40.31, 0.01);
    assert_near(-in[0], 0.124, 5e-4);
    assert_near(list.path[1].smooth, 5 * pow(-in[0], 3), 1e-12); /* a/2 cos^3 */
    assert_near(cbrt(2 * EC_PI * list.path[1].smooth), 0.39, 5e-3);
    /* without the triangles on the side of x > 0 nothing is there */
    int32_t kept = 0;
    for (int32_t i = 0; i < t->s.n_triangles; i++)
        if (t->vertex[t->triangle[i][0]][0] < 1)
            memcpy(t->triangle[kept++], t->triangle[i], sizeof t->triangle[0]);
    t->s.n_triangles = t->surface[0].count = kept;
    find_paths(t, options_of(1, 0, 0), tx, rx, &list);
    assert_int_equal(list.n, 1);
    rx[0] = tx[0] = -15;
    find_paths(t, options_of(1, 0, 0), tx, rx, &list);
    assert_int_equal(list.n, 2);
    ec_path_list_free(&list);
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

/* A pattern in the first argument chooses tests. */
int main(int n, char **argument)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete_room),
        cmocka_unit_test(test_complete_street),
        cmocka_unit_test(test_complete_clutter),
        cmocka_unit_test(test_complete_plates),
        cmocka_unit_test(test_complete_prisms),
        cmocka_unit_test(test_canyon),
        cmocka_unit_test(test_corner_reflectors),
        cmocka_unit_test(test_convex_edge),
        cmocka_unit_test(test_common_edges),
        cmocka_unit_test(test_reciprocity),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_alone_or_among_many),
        cmocka_unit_test(test_more_triangles),
        cmocka_unit_test(test_discovery),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_specular_points),
        cmocka_unit_test(test_curved_sequences),
        cmocka_unit_test(test_hollow),
        cmocka_unit_test(test_cylinder_case),
    };
    if (n > 1)
        cmocka_set_test_filter(argument[1]);
    return cmocka_run_group_tests(tests, make_state, free_state);
}
