/* test_shadow_sides.c: a field has no step where a ray of geometrical optics ends: a receiver goes
 * through the shadow boundaries of direct, reflected and diffracted rays and through the planes of
 * faces and sheets, by steps from 1 mm down to nothing. What blocks a ray and on which side of its
 * boundary diffraction sees it have to be the same there. */
#include "path.h"
#include "path_field.h"
#include "scene_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A scene of one object, a receiver that moves from `at` along `along`. */
typedef struct sweep {
    const char *name, *material;
    ec_shape_kind kind;
    double place[3], size[3], angle_deg, rotate_deg;
    double tx[3], at[3], along[3];
    int32_t depth, diffractions;
    /* what the largest field may change by at once: 1e-6 of it, or more where two edges follow each
     * other in a transition region, where their coefficients are not exact, or a third edge would */
    double step;
} sweep;

#define BOX   .kind = EC_SHAPE_BOX, .material
#define PLATE .kind = EC_SHAPE_PLATE, .material

static const sweep sweeps[] = {
    /* in the plane of a face or sheet */
    {"box, receiver in the plane of its top", BOX = "pec", .place = {0, 0, -1}, .size = {4, 4, 2},
     .tx = {-5, 0, -0.3}, .at = {5, 0, 0}, .along = {0, 0, 1}, .depth = 2, .diffractions = 2,
     .step = 0.2},
    {"large box, far from the first edge's boundary", BOX = "pec", .place = {0, 0, -10},
     .size = {4, 60, 20}, .tx = {-3, 0, -1.8}, .at = {5, 0.5, 0}, .along = {0, 0, 1}, .depth = 2,
     .diffractions = 2, .step = 0.03},
    {"box, transmitter above", BOX = "pec", .place = {0, 0, -1}, .size = {4, 4, 2},
     .tx = {-5, 0, 0.5}, .at = {5, 0.5, 0}, .along = {0, 0, 1}, .depth = 2, .diffractions = 2,
     .step = 0.02},
    {"box, both in the plane", BOX = "pec", .place = {0, 0, -1}, .size = {4, 4, 2},
     .tx = {-5, 0, 0}, .at = {5, 0.5, 0}, .along = {0, 0, 1}, .depth = 2, .diffractions = 2,
     .step = 0.25},
    {"turned box, in the plane of a side", BOX = "pec", .place = {0, 0, 0}, .size = {2, 2, 20},
     .rotate_deg = 30, .tx = {-3, 0.2, 0.4},
     .at = {-0.633974596215561353, 3.09807621135331594, -0.2},
     .along = {0.866025403784438647, 0.5, 0}, .depth = 2, .diffractions = 2, .step = 0.005},
    {"sheet, receiver in its plane", PLATE = "pec", .place = {0, 0, 0}, .size = {4, 4, 1},
     .tx = {-5, 0, 0.5}, .at = {5, 0.5, 0}, .along = {0, 0, 1}, .depth = 2, .diffractions = 2,
     .step = 0.05},
    {"sheet, both in its plane", PLATE = "pec", .place = {0, 0, 0}, .size = {4, 4, 1},
     .tx = {-5, 0, 0}, .at = {5, 0.5, 0}, .along = {0, 0, 1}, .depth = 2, .diffractions = 2,
     .step = 2e-3},
    /* the direct ray */
    {"wedge of 60 degrees, sight line through its edge", .kind = EC_SHAPE_WEDGE, .material = "pec",
     .angle_deg = 60, .tx = {0.5, -0.5, -1.5}, .at = {-0.5, 0.5, -1}, .along = {0, 1, 0},
     .depth = 1, .diffractions = 1},
    {"box, sight line through its edge", BOX = "pec", .place = {0, 0, 0}, .size = {2, 2, 2},
     .tx = {2, 0, 0.2}, .at = {0, 2, -0.1}, .along = {1, 0, 0}, .depth = 1, .diffractions = 1},
    {"concrete box", BOX = "concrete", .place = {0, 0, 0}, .size = {2, 2, 2}, .tx = {2, 0, 0.2},
     .at = {0, 2, -0.1}, .along = {1, 0, 0}, .depth = 1, .diffractions = 1},
    {"turned box, far from the origin", BOX = "pec", .place = {31, 17, 0}, .size = {2, 2, 2},
     .rotate_deg = 17, .tx = {32.912609511926070873, 17.584743409445473, 0.2},
     .at = {30.415256590554527, 18.912609511926070873, -0.1}, .along = {1, 0, 0}, .depth = 1,
     .diffractions = 1},
    {"sheet", PLATE = "pec", .place = {0, 0, 0}, .size = {4, 4, 1}, .tx = {-5, 0, 0.5},
     .at = {5, 0, -0.5 * 3 / 7}, .along = {0, 0, 1}, .depth = 1, .diffractions = 1},
    {"slab", PLATE = "plasterboard", .place = {0, 0, 0}, .size = {4, 4, 1}, .tx = {-1, 0, 0.5},
     .at = {5, 0.3, -0.5}, .along = {0, 0, 1}, .depth = 1, .diffractions = 1},
    /* a reflected ray */
    {"box, reflection in an edge", BOX = "pec", .place = {0, 0, -1}, .size = {4, 4, 2},
     .tx = {-5, 0, 0.7}, .at = {5, 0, 0.3}, .along = {0, 0, 1}, .depth = 1, .diffractions = 1},
    {"concrete box, reflection in an edge, aslant", BOX = "concrete", .place = {0, 0, -1},
     .size = {4, 4, 2}, .tx = {-5, -0.3, 0.7}, .at = {5, 0.4, 0.3}, .along = {0.6, 0, 0.8},
     .depth = 1, .diffractions = 1},
    {"sheet, reflection in an edge, nearly grazing", PLATE = "pec", .place = {0, 0, 0},
     .size = {4, 4, 1}, .tx = {-5, 0, 7e-3}, .at = {5, 0, 3e-3}, .along = {0, 0, 1}, .depth = 2,
     .diffractions = 2},
};

static const double steps[] = {1e-3, 1e-4,  1e-5,  1e-6,  1e-7,  3e-8,  1e-8,  3e-9,
                               1e-9, 6e-10, 3e-10, 1e-10, 3e-11, 1e-11, 1e-12, 0};
enum { STEPS = sizeof steps / sizeof *steps, PLACES = 2 * STEPS - 1 };

static double place_of(int i)
{
    return i < STEPS ? -steps[i] : steps[PLACES - 1 - i];
}

static ec_c128 channel(const ec_path_plan *plan, const ec_scene *scene,
                       const ec_path_sequences *sequences, const ec_antenna *a, const double tx[3],
                       const ec_antenna *b, const double rx[3], ec_path_list *list)
{
    ec_fresnel_face face[2];
    ec_c128 h = {0, 0};

    assert_int_equal(ec_path_faces(scene, EC_LIGHT_SPEED / 0.1, face), EC_OK);
    ec_path_list_clear(list);
    assert_int_equal(ec_path_find(plan, sequences, tx, rx, list), EC_OK);
    for (size_t i = 0; i < list->n; i++)
        h = ec_c128_add(h, ec_path_channel(scene, face, list, i, a, tx, b, rx, 0.1));
    return h;
}

static double apart(ec_c128 a, ec_c128 b)
{
    return hypot(a.re - b.re, a.im - b.im);
}

static int run(const sweep *w, const double axis[3])
{
    ec_scene_builder *builder = NULL;
    ec_scene *scene = NULL;
    ec_path_plan *plan = NULL;
    ec_path_sequences *sequences = NULL;
    ec_path_list list = {0};
    ec_scene_options options;
    ec_path_options paths;
    ec_material material;
    ec_shape shape;
    ec_antenna a;
    ec_path_box everywhere = {{-50, -50, -50}, {50, 50, 50}};
    ec_c128 h[PLACES];
    double largest = 0;
    int32_t index;
    int bad = 0;

    assert_int_equal(ec_scene_builder_create(&builder), EC_OK);
    assert_int_equal(ec_material_by_name(w->material, &material), EC_OK);
    material.thickness = strcmp(w->material, "plasterboard") == 0 ? 0.013 : 0;
    assert_int_equal(ec_scene_builder_material(builder, &material, &index), EC_OK);
    ec_shape_default(w->kind, &shape);
    memcpy(shape.at, w->place, sizeof shape.at);
    if (w->kind == EC_SHAPE_WEDGE) {
        shape.angle_deg = w->angle_deg;
        shape.length = 4;
        shape.width = 2;
    } else {
        memcpy(shape.size, w->size, sizeof shape.size);
        shape.rotate_deg = w->rotate_deg;
    }
    assert_int_equal(ec_scene_builder_shape(builder, "it", index, &shape), EC_OK);
    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(builder, &options, &scene), EC_OK);
    ec_path_options_default(&paths);
    paths.depth = w->depth;
    paths.diffractions = w->diffractions;
    paths.transmissions = material.thickness > 0 ? 1 : 0;
    assert_int_equal(ec_path_plan_create(scene, &paths, &plan), EC_OK);
    assert_int_equal(ec_path_enumerate(plan, &everywhere, NULL, &sequences), EC_OK);
    assert_int_equal(ec_antenna_init(EC_ELEMENT_KIND_SHORT_DIPOLE, 0, axis, NULL, &a), EC_OK);
    for (int i = 0; i < PLACES; i++) {
        double s = place_of(i), rx[3];
        for (int k = 0; k < 3; k++)
            rx[k] = w->at[k] + s * w->along[k];
        h[i] = channel(plan, scene, sequences, &a, w->tx, &a, rx, &list);
        ec_c128 back = channel(plan, scene, sequences, &a, rx, &a, w->tx, &list);
        double size = hypot(h[i].re, h[i].im);
        largest = fmax(largest, size);
        if (apart(h[i], back) > fmax(1e-9, 0.5 * w->step) * largest) {
            printf("%s: %.3g there, %.3g back, at %g\n", w->name, size, hypot(back.re, back.im), s);
            bad++;
        }
    }
    for (int i = 1; i < PLACES; i++) {
        double from = place_of(i - 1), to = place_of(i);
        double bound = largest * (fmax(1e-6, w->step) + 4 * 2 * EC_PI / 0.1 * (to - from));
        if (!(apart(h[i], h[i - 1]) <= bound)) {
            printf("%s: |h| is %.4g at %g, %.4g at %g\n", w->name, hypot(h[i - 1].re, h[i - 1].im),
                   from, hypot(h[i].re, h[i].im), to);
            bad++;
        }
    }
    ec_path_list_free(&list);
    ec_path_sequences_destroy(&sequences);
    ec_path_plan_destroy(&plan);
    ec_scene_destroy(&scene);
    ec_scene_builder_destroy(&builder);
    return bad;
}

static void test_sweeps(void **state)
{
    int bad = 0;
    (void)state;

    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
        bad += run(&sweeps[i], (double[3]){0, 0, 1});
        bad += run(&sweeps[i], (double[3]){0.3, 0.8, 0.5});
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
