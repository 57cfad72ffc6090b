/* test_scene.c: scenes from shapes and meshes: facets, wedges, curved surfaces, and what is done to
 * faulty meshes. */
#include "scene_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/status.h"

#include <cmocka.h>

/* ---- helpers ----------------------------------------------------------------------------------- */

static ec_scene_builder *begin(void)
{
    ec_scene_builder *b = NULL;
    ec_material pec;
    int32_t index;

    assert_int_equal(ec_scene_builder_create(&b), EC_OK);
    ec_material_pec("pec", &pec);
    assert_int_equal(ec_scene_builder_material(b, &pec, &index), EC_OK);
    assert_int_equal(index, 0);
    return b;
}

static int32_t add_material(ec_scene_builder *b, const char *name, double thickness)
{
    ec_material m;
    int32_t index;

    assert_int_equal(ec_material_by_name(name, &m), EC_OK);
    m.thickness = thickness;
    assert_int_equal(ec_scene_builder_material(b, &m, &index), EC_OK);
    return index;
}

static ec_scene *build_with(ec_scene_builder **b, const ec_scene_options *options)
{
    ec_scene *s = NULL;

    if (ec_scene_build(*b, options, &s) != EC_OK)
        fail_msg("%s", ec_error_text());
    ec_scene_builder_destroy(b);
    return s;
}

static ec_scene *build(ec_scene_builder **b)
{
    ec_scene_options options;

    ec_scene_options_default(&options);
    return build_with(b, &options);
}

static void add(ec_scene_builder *b, const char *name, int32_t material, const ec_shape *shape)
{
    if (ec_scene_builder_shape(b, name, material, shape) != EC_OK)
        fail_msg("%s", ec_error_text());
}

static ec_scene *scene_of(const ec_shape *shape)
{
    ec_scene_builder *b = begin();
    add(b, "thing", 0, shape);
    return build(&b);
}

/* Adds a mesh given by plain arrays. */
static void add_mesh(ec_scene_builder *b, const char *name, int32_t material,
                     const double (*vertex)[3], int32_t n_vertices, const int32_t (*triangle)[3],
                     int32_t n_triangles)
{
    ec_mesh_list list = {0};
    ec_mesh *mesh;

    assert_int_equal(ec_mesh_list_add(&list, name, "", n_vertices, n_triangles, &mesh), EC_OK);
    memcpy(mesh->vertex, vertex, (size_t)n_vertices * sizeof *vertex);
    memcpy(mesh->triangle, triangle, (size_t)n_triangles * sizeof *triangle);
    if (ec_scene_builder_mesh(b, name, material, mesh) != EC_OK)
        fail_msg("%s", ec_error_text());
    ec_mesh_list_clear(&list);
}

static double area_of(const ec_scene *s, int32_t t)
{
    double a[3], b[3], n[3];
    for (int k = 0; k < 3; k++) {
        a[k] = s->vertex[s->triangle[t][1]][k] - s->vertex[s->triangle[t][0]][k];
        b[k] = s->vertex[s->triangle[t][2]][k] - s->vertex[s->triangle[t][0]][k];
    }
    n[0] = a[1] * b[2] - a[2] * b[1];
    n[1] = a[2] * b[0] - a[0] * b[2];
    n[2] = a[0] * b[1] - a[1] * b[0];
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double a[3])
{
    return sqrt(dot(a, a));
}

static double facet_area(const ec_scene *s, int32_t f)
{
    double area = 0;
    for (int32_t i = 0; i < s->facet[f].count; i++)
        area += area_of(s, s->facet_triangle[s->facet[f].first + i]);
    return area;
}

static void near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%.17g, expected %.17g +- %g", got, wanted, tolerance);
}

static double wedge_length(const ec_wedge *g)
{
    double d[3] = {g->to[0] - g->from[0], g->to[1] - g->from[1], g->to[2] - g->from[2]};
    return length(d);
}

/* What scene.h promises of every scene. */
static void check(const ec_scene *s)
{
    for (int32_t t = 0; t < s->n_triangles; t++) {
        assert_true(area_of(s, t) > 0);
        assert_true(s->part[t] < s->n_facets && ~s->part[t] < s->n_surfaces);
    }
    int32_t in_parts = 0;
    for (int32_t f = 0; f < s->n_facets; f++) {
        const ec_facet *facet = &s->facet[f];
        double outline[3] = {0}; /* sum of cross products: twice the area, along the normal */
        near(length(facet->normal), 1, 1e-12);
        in_parts += facet->count;
        for (int32_t i = 0; i < facet->count; i++) {
            int32_t t = s->facet_triangle[facet->first + i];
            assert_int_equal(s->part[t], f);
            for (int k = 0; k < 3; k++)
                near(dot(s->vertex[s->triangle[t][k]], facet->normal), facet->offset,
                     2 * s->report.weld_tolerance);
        }
        for (int32_t i = 0; i < facet->n_edges; i++) {
            const int32_t *e = s->facet_edge[facet->first_edge + i];
            const double *a = s->vertex[e[0]], *b = s->vertex[e[1]];
            outline[0] += a[1] * b[2] - a[2] * b[1];
            outline[1] += a[2] * b[0] - a[0] * b[2];
            outline[2] += a[0] * b[1] - a[1] * b[0];
        }
        double area = facet_area(s, f);
        near(dot(outline, facet->normal) / 2, area, 1e-5 * area);
    }
    for (int32_t i = 0; i < s->n_surfaces; i++)
        for (int32_t j = 0; j < s->surface[i].count; j++) {
            int32_t t = s->surface_triangle[s->surface[i].first + j];
            assert_int_equal(s->part[t], ~i);
            for (int k = 0; k < 3; k++)
                near(length(s->vertex_normal[s->triangle[t][k]]), 1, 1e-12);
            in_parts++;
        }
    assert_int_equal(in_parts, s->n_triangles);
    for (int32_t i = 0; i < s->n_wedges; i++) {
        const ec_wedge *g = &s->wedge[i];
        double cs = cos(g->n * EC_PI), sn = sin(g->n * EC_PI), cross[3];
        const double *n0 = g->face_normal[0], *i0 = g->into[0];
        cross[0] = n0[1] * i0[2] - n0[2] * i0[1];
        cross[1] = n0[2] * i0[0] - n0[0] * i0[2];
        cross[2] = n0[0] * i0[1] - n0[1] * i0[0];
        assert_true(g->n > 0 && g->n <= 2 && wedge_length(g) > 0);
        for (int k = 0; k < 3; k++) {
            near(cross[k], g->tangent[k], 1e-9);
            near(g->tangent[k] * wedge_length(g), g->to[k] - g->from[k], 1e-9);
            near(g->into[1][k], cs * i0[k] + sn * n0[k], 1e-6);
            near(g->face_normal[1][k], sn * i0[k] - cs * n0[k], 1e-6);
        }
        assert_true(g->facet[1] == -1 || g->facet[1] > g->facet[0]);
        near(fabs(dot(n0, s->facet[g->facet[0]].normal)), 1, 1e-6);
        if (!s->facet[g->facet[0]].thin)
            assert_true(dot(n0, s->facet[g->facet[0]].normal) > 0);
    }
}

/* ---- flat shapes -------------------------------------------------------------------------------- */

static void test_plate(void **state)
{
    (void)state;
    for (int d = 1; d <= 30; d += 29) {
        ec_shape plate;
        ec_shape_default(EC_SHAPE_PLATE, &plate);
        plate.at[0] = 30;
        plate.axis[0] = -2; /* any length */
        plate.axis[2] = 0;
        plate.size[0] = 50;
        plate.size[1] = 15;
        plate.divisions = d;
        ec_scene *s = scene_of(&plate);
        check(s);
        assert_int_equal(s->n_triangles, 2 * d * d);
        assert_int_equal(s->n_facets, 1);
        assert_int_equal(s->facet[0].n_edges, 4);
        assert_true(s->facet[0].thin);
        near(facet_area(s, 0), 750, 1e-9);
        near(s->facet[0].normal[0], -1, 1e-15);
        near(s->facet[0].offset, -30, 1e-12);
        near(s->low[1], -25, 1e-12); /* size is along the horizontal, then up */
        near(s->high[2], 7.5, 1e-12);
        assert_int_equal(s->n_wedges, 4);
        for (int i = 0; i < 4; i++) {
            near(s->wedge[i].n, 2, 0);
            assert_int_equal(s->wedge[i].facet[1], -1);
            near(dot(s->wedge[i].face_normal[0], s->facet[0].normal), 1, 1e-12);
            /* away from the edge into the face: towards its middle */
            double to_middle[3] = {30 - s->wedge[i].from[0], -s->wedge[i].from[1],
                                   -s->wedge[i].from[2]};
            assert_true(dot(s->wedge[i].into[0], to_middle) > 7);
        }
        assert_int_equal(s->report.sheets, 1);
        ec_scene_destroy(&s);
        assert_null(s);
    }
}

static ec_shape box_of(double x, double y, double z, int divisions)
{
    ec_shape box;
    ec_shape_default(EC_SHAPE_BOX, &box);
    box.size[0] = x;
    box.size[1] = y;
    box.size[2] = z;
    box.divisions = divisions;
    return box;
}

static void test_box(void **state)
{
    ec_scene *first = NULL;
    (void)state;
    /* 12 and 12,288 triangles */
    for (int d = 1; d <= 32; d += 31) {
        ec_shape box = box_of(3, 4, 5, d);
        box.rotate_deg = 25;
        box.at[0] = 100;
        ec_scene *s = scene_of(&box);
        check(s);
        assert_int_equal(s->n_triangles, 12 * d * d);
        assert_int_equal(s->n_facets, 6);
        assert_int_equal(s->n_wedges, 12);
        assert_int_equal(s->n_surfaces, 0);
        assert_int_equal(s->report.solids, 1);
        assert_int_equal(s->report.rooms + s->report.sheets, 0);
        assert_int_equal(s->report.flipped + s->report.non_manifold + s->report.split, 0);
        double area = 0, edges = 0;
        for (int f = 0; f < 6; f++) {
            area += facet_area(s, f);
            assert_int_equal(s->facet[f].n_edges, 4);
            assert_false(s->facet[f].thin);
            double middle[3] = {100, 0, 0};
            assert_true(s->facet[f].offset - dot(middle, s->facet[f].normal) > 1.4);
        }
        near(area, 94, 1e-9);
        for (int i = 0; i < 12; i++) {
            near(s->wedge[i].n, 1.5, 1e-9);
            edges += wedge_length(&s->wedge[i]);
        }
        near(edges, 48, 1e-9);
        /* the same facets and wedges, to rounding */
        for (int f = 0; first && f < 6; f++)
            for (int k = 0; k < 3; k++)
                near(s->facet[f].normal[k], first->facet[f].normal[k], 1e-12);
        for (int i = 0; first && i < 12; i++) {
            int same = 0;
            for (int j = 0; j < 12; j++) {
                double off = 0;
                for (int k = 0; k < 3; k++)
                    off += fabs(s->wedge[i].from[k] - first->wedge[j].from[k]) +
                           fabs(s->wedge[i].to[k] - first->wedge[j].to[k]);
                same += off < 1e-9 && s->wedge[i].facet[0] == first->wedge[j].facet[0] &&
                        s->wedge[i].facet[1] == first->wedge[j].facet[1];
            }
            assert_int_equal(same, 1);
        }
        ec_scene_destroy(&first);
        first = s;
    }
    ec_scene_destroy(&first);
}

static void test_room(void **state)
{
    ec_shape box = box_of(5, 4, 3, 1);
    (void)state;

    box.inward = true;
    ec_scene *s = scene_of(&box);
    check(s);
    assert_int_equal(s->report.rooms, 1);
    assert_int_equal(s->n_wedges, 12);
    for (int i = 0; i < 12; i++)
        near(s->wedge[i].n, 0.5, 1e-9);
    ec_scene_destroy(&s);
}

static void test_wedge(void **state)
{
    static const double angles[] = {10, 60, 90, 150};
    (void)state;
    for (int a = 0; a < 4; a++) {
        ec_shape wedge;
        ec_shape_default(EC_SHAPE_WEDGE, &wedge);
        wedge.angle_deg = angles[a];
        wedge.width = 7;
        wedge.length = 20;
        wedge.axis[0] = 1; /* along x + z, the body towards what of x is across it */
        wedge.divisions = 3;
        ec_scene *s = scene_of(&wedge);
        check(s);
        assert_int_equal(s->n_facets, 5);
        assert_int_equal(s->n_wedges, 9);
        int found = 0;
        for (int i = 0; i < 9; i++) {
            double middle[3], axis[3] = {sqrt(0.5), 0, sqrt(0.5)};
            for (int k = 0; k < 3; k++)
                middle[k] = (s->wedge[i].from[k] + s->wedge[i].to[k]) / 2;
            if (length(middle) > 1e-9)
                continue;
            found++;
            near(s->wedge[i].n, 2 - angles[a] / 180, 1e-9);
            near(wedge_length(&s->wedge[i]), 20, 1e-9);
            near(fabs(dot(s->wedge[i].tangent, axis)), 1, 1e-12);
            /* the body is between the faces */
            double towards[3] = {sqrt(0.5), 0, -sqrt(0.5)};
            for (int j = 0; j < 2; j++) {
                near(dot(s->wedge[i].into[j], towards), cos(angles[a] * EC_PI / 360), 1e-9);
                near(dot(s->wedge[i].face_normal[j], towards), -sin(angles[a] * EC_PI / 360), 1e-9);
            }
        }
        assert_int_equal(found, 1);
        ec_scene_destroy(&s);
    }
}

/* Ground and canyon are idealisations: no outline, solid behind. */
static void test_ground(void **state)
{
    ec_shape ground, canyon;
    ec_scene_builder *b = begin();
    (void)state;

    ec_shape_default(EC_SHAPE_GROUND, &ground);
    ground.size[0] = ground.size[1] = 200;
    ec_shape_default(EC_SHAPE_CANYON, &canyon);
    canyon.size[0] = 100;
    canyon.size[1] = 20;
    canyon.size[2] = 30;
    canyon.at[2] = 1; /* off the ground: touching it is the next test */
    add(b, "ground", add_material(b, "wet_ground", 0), &ground);
    add(b, "canyon", add_material(b, "concrete", 0), &canyon);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 3);
    assert_int_equal(s->n_wedges, 0);
    for (int f = 0; f < 3; f++)
        assert_false(s->facet[f].thin);
    near(s->facet[0].normal[2], 1, 0);
    near(s->facet[1].normal[1], 1, 0); /* the wall at y = -10 */
    near(s->facet[1].offset, -10, 1e-12);
    near(s->facet[2].normal[1], -1, 0);
    near(s->facet[2].offset, -10, 1e-12);
    near(facet_area(s, 1), 3000, 1e-9);
    assert_int_equal(s->report.sheets, 0);
    ec_scene_destroy(&s);
}

/* A box on the ground: the edges that lie on it are none. */
static void test_resting(void **state)
{
    ec_shape ground, box = box_of(4, 6, 10, 2);
    ec_scene_builder *b = begin();
    (void)state;

    ec_shape_default(EC_SHAPE_GROUND, &ground);
    ground.size[0] = ground.size[1] = 200;
    box.at[2] = 5;
    box.rotate_deg = 30;
    add(b, "ground", 0, &ground);
    add(b, "box", 0, &box);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 7);
    assert_int_equal(s->n_wedges, 8);
    assert_int_equal(s->report.resting, 4);
    ec_scene_destroy(&s);
}

/* Ten buildings on a plate, all of it turned, moved, in f32 and differently cut: the same facets and
 * wedges. */
static void test_city(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        ec_scene_builder *b = begin();
        ec_shape plate;
        ec_shape_default(EC_SHAPE_PLATE, &plate);
        plate.size[0] = plate.size[1] = 200;
        plate.divisions = way == 2 ? 7 : 1;
        add(b, "plate", 0, &plate);
        for (int i = 0; i < 10; i++) {
            ec_shape box = box_of(8 + i, 9, 10 + 3 * i, way == 2 ? 1 + i % 4 : 1);
            box.at[0] = 36 * (i % 5) - 72;
            box.at[1] = i < 5 ? -30 : 30;
            box.at[2] = box.size[2] / 2;
            box.rotate_deg = 13 * i;
            add(b, "house", 0, &box);
        }
        ec_scene *s = build(&b);
        if (way > 0) {
            static const double m[3][4] = {{0.36, 0.48, -0.8, 1000}, /* a rotation */
                                           {-0.8, 0.6, 0, -300},
                                           {0.48, 0.64, 0.6, 50}};
            for (int32_t v = 0; v < s->n_vertices; v++) {
                double p[3];
                memcpy(p, s->vertex[v], sizeof p);
                for (int k = 0; k < 3; k++)
                    s->vertex[v][k] = (double)(float)(dot(m[k], p) + m[k][3]);
            }
            b = begin();
            add_mesh(b, "city", 0, (const double(*)[3])s->vertex, s->n_vertices,
                     (const int32_t(*)[3])s->triangle, s->n_triangles);
            ec_scene_destroy(&s);
            s = build(&b);
        }
        check(s);
        assert_int_equal(s->n_facets, 61);
        assert_int_equal(s->n_surfaces, 0);
        assert_int_equal(s->report.solids, 10);
        assert_int_equal(s->report.sheets, 1);
        assert_int_equal(s->report.resting, 40);
        assert_int_equal(s->n_wedges, 84);
        double edges = 0, wanted = 0;
        for (int i = 0; i < s->n_wedges; i++)
            edges += s->wedge[i].n < 1.9 ? wedge_length(&s->wedge[i]) : 0;
        for (int i = 0; i < 10; i++)
            wanted += 2 * (8 + i + 9) + 4 * (10 + 3 * i);
        near(edges, wanted, 1e-2);
        ec_scene_destroy(&s);
    }
}

/* ---- sheets -------------------------------------------------------------------------------------- */

/* Two plates that share an edge: outside on both sides. */
static void test_sheet_corner(void **state)
{
    static const double vertex[6][3] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0},
                                        {0, 2, 0}, {0, 0, 1}, {0, 2, 1}};
    static const int32_t triangle[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {0, 5, 4}};
    ec_scene_builder *b = begin();
    (void)state;

    add_mesh(b, "corner", 0, vertex, 6, triangle, 4);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 2);
    assert_int_equal(s->n_wedges, 8);
    int outer = 0, inner = 0, half = 0;
    for (int i = 0; i < 8; i++) {
        const ec_wedge *g = &s->wedge[i];
        double open[3]; /* into the sector, half way */
        for (int k = 0; k < 3; k++)
            open[k] = cos(g->n * EC_PI / 2) * g->into[0][k] +
                      sin(g->n * EC_PI / 2) * g->face_normal[0][k];
        outer += fabs(g->n - 1.5) < 1e-9 && open[0] < -0.7 && open[2] < -0.7;
        inner += fabs(g->n - 0.5) < 1e-9 && open[0] > 0.7 && open[2] > 0.7;
        half += g->n == 2;
    }
    assert_int_equal(outer, 1);
    assert_int_equal(inner, 1);
    assert_int_equal(half, 6);
    ec_scene_destroy(&s);
}

/* Three walls that meet in one edge, and one that stands on the middle of another. */
static void test_walls_that_meet(void **state)
{
    static const double vertex[8][3] = {{0, 0, 0},  {0, 0, 1},  {1, 0, 0}, {1, 0, 1},
                                        {-1, 0, 0}, {-1, 0, 1}, {0, 1, 0}, {0, 1, 1}};
    static const int32_t triangle[6][3] = {{0, 2, 3}, {0, 3, 1}, {0, 1, 5},
                                           {0, 5, 4}, {0, 6, 7}, {0, 7, 1}};
    ec_scene_builder *b = begin();
    (void)state;

    add_mesh(b, "walls", 0, vertex, 8, triangle, 6);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 2); /* two walls are one */
    assert_int_equal(s->report.non_manifold, 1);
    int corners = 0;
    for (int i = 0; i < s->n_wedges; i++)
        corners += fabs(s->wedge[i].n - 0.5) < 1e-9;
    assert_int_equal(corners, 2);
    assert_int_equal(s->n_wedges,
                     2 + 4 + 3); /* corners, free edges of the long wall, of the other */
    ec_scene_destroy(&s);
}

/* A plate given with a front and a back is one sheet that is nothing inside. */
static void test_two_sided(void **state)
{
    static const double vertex[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    static const int32_t triangle[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 2, 1}, {0, 3, 2}};
    (void)state;
    for (int slab = 0; slab < 2; slab++) {
        ec_scene_builder *b = begin();
        add_mesh(b, "plate", slab ? add_material(b, "glass", 0.01) : 0, vertex, 4, triangle, 4);
        ec_scene *s = build(&b);
        check(s);
        assert_int_equal(s->n_triangles, slab ? 2 : 4);
        assert_int_equal(s->n_facets, slab ? 1 : 2);
        assert_int_equal(s->report.duplicate, slab ? 2 : 0);
        assert_int_equal(s->report.sheets, 1);
        assert_true(s->facet[0].thin == (slab == 1));
        assert_int_equal(s->n_wedges, 4);
        for (int i = 0; i < 4; i++)
            near(s->wedge[i].n, 2, 1e-9);
        ec_scene_destroy(&s);
    }
}

/* ---- faulty meshes ------------------------------------------------------------------------------- */

/* A unit cube as triangles that share no vertex, some turned round, with doubles and slivers, its
 * coordinates off by rounding. */
static void test_soup(void **state)
{
    static const int32_t face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    double vertex[48][3];
    int32_t triangle[16][3];
    int n = 0;
    (void)state;

    for (int f = 0; f < 6; f++)
        for (int half = 0; half < 2; half++) {
            int32_t corner[3] = {face[f][0], face[f][1 + half], face[f][2 + half]};
            bool turned = n == 1 || n == 6 || n == 7;
            for (int k = 0; k < 3; k++) {
                int32_t v = corner[turned ? 2 - k : k];
                for (int i = 0; i < 3; i++)
                    vertex[3 * n + k][i] = (v >> i & 1) + 1e-8 * (n % 3 - 1);
                triangle[n][k] = 3 * n + k;
            }
            n++;
        }
    memcpy(triangle[n], triangle[0], sizeof *triangle); /* double */
    triangle[n + 1][0] = triangle[n + 1][1] = 0;        /* a line */
    triangle[n + 1][2] = 1;
    ec_scene_builder *b = begin();
    add_mesh(b, "soup", 0, (const double(*)[3])vertex, 36, (const int32_t(*)[3])triangle, n + 2);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_vertices, 8);
    assert_int_equal(s->n_triangles, 12);
    assert_int_equal(s->n_facets, 6);
    assert_int_equal(s->n_wedges, 12);
    for (int i = 0; i < 12; i++)
        near(s->wedge[i].n, 1.5, 1e-6);
    assert_int_equal(s->report.welded, 28);
    assert_int_equal(s->report.degenerate, 1);
    assert_int_equal(s->report.duplicate, 1);
    assert_int_equal(s->report.flipped, 3);
    assert_int_equal(s->report.solids, 1);
    ec_scene_destroy(&s);
}

/* A cube whose top is four triangles about its middle while one side has an edge cut in three. */
static void test_stitched(void **state)
{
    static const double vertex[10][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},   {0, 0, 1},
                                         {1, 0, 1}, {1, 1, 1}, {0, 1, 1}, {0.3, 0, 1}, {0.6, 0, 1}};
    static const int32_t triangle[14][3] = {{0, 3, 2}, {0, 2, 1}, {4, 5, 6}, {4, 6, 7}, {0, 1, 8},
                                            {1, 9, 8}, {1, 5, 9}, {0, 8, 4}, {1, 2, 6}, {1, 6, 5},
                                            {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
    ec_scene_builder *b = begin();
    (void)state;

    add_mesh(b, "cube", 0, vertex, 10, triangle, 14);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->report.split, 1);
    assert_int_equal(s->n_triangles, 16);
    assert_int_equal(s->n_facets, 6);
    assert_int_equal(s->n_wedges, 12);
    assert_int_equal(s->report.solids, 1);
    ec_scene_destroy(&s);
}

/* Two boxes side by side share a whole face, and the second touches a third along an edge. */
static void test_touching_boxes(void **state)
{
    ec_scene_builder *b = begin();
    (void)state;

    for (int i = 0; i < 3; i++) {
        ec_shape box = box_of(1, 1, 1, 1);
        box.at[0] = i;
        box.at[1] = i == 2 ? 1 : 0;
        add(b, "box", 0, &box);
    }
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->report.solids, 3);
    assert_int_equal(s->report.sheets, 0);
    assert_int_equal(s->report.flipped, 0);
    int outer = 0, inner = 0;
    double edges = 0;
    for (int i = 0; i < s->n_wedges; i++) {
        outer += fabs(s->wedge[i].n - 1.5) < 1e-9;
        inner += fabs(s->wedge[i].n - 0.5) < 1e-9;
        edges += s->wedge[i].n > 1 ? wedge_length(&s->wedge[i]) : 0;
    }
    /* the union: at the shared face its four edges are flat; where boxes 2 and 3 touch there are two
     * inner corners */
    assert_int_equal(inner, 2);
    near(edges, 3 * 12 - 8 - 2, 1e-9);
    assert_int_equal(outer, s->n_wedges - 2);
    ec_scene_destroy(&s);
}

/* Two materials in one plane are two facets without a wedge between them. */
static void test_two_materials(void **state)
{
    ec_shape plate;
    ec_scene_builder *b = begin();
    (void)state;

    ec_shape_default(EC_SHAPE_PLATE, &plate);
    add(b, "left", add_material(b, "brick", 0), &plate);
    plate.at[0] = 1;
    add(b, "right", add_material(b, "glass", 0), &plate);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 2);
    assert_int_equal(s->n_objects, 2);
    assert_int_equal(s->n_wedges, 6);
    for (int i = 0; i < 6; i++) {
        const ec_wedge *g = &s->wedge[i];
        near(g->n, 2, 0);
        assert_int_equal(g->material[0], s->facet[g->facet[0]].material);
        assert_int_equal(g->object, s->facet[g->facet[0]].object);
    }
    ec_scene_destroy(&s);
}

/* ---- curved shapes ------------------------------------------------------------------------------- */

/* The curvature along a unit tangent, 1/m. */
static double curvature_along(const ec_scene *s, int32_t v, const double tangent[3])
{
    double u[3], w[3];
    ec_scene_frame(s->vertex_normal[v], u, w);
    double a = dot(tangent, u), b = dot(tangent, w);
    const double *f = s->vertex_curvature[v];
    return f[0] * a * a + 2 * f[1] * a * b + f[2] * b * b;
}

static void test_cylinder(void **state)
{
    static const int sides[] = {36, 72, 360, 1028};
    (void)state;
    /* exact, a mesh that is recognised, a mesh */
    for (int way = 0; way < 3; way++)
        for (int i = 0; i < 4; i++) {
            ec_shape shape;
            ec_scene_options options;
            ec_scene_options_default(&options);
            options.exact = way != 2;
            ec_shape_default(EC_SHAPE_CYLINDER, &shape);
            shape.radius = 10;
            shape.length = 15;
            shape.at[1] = 3;
            shape.sides = sides[i];
            shape.divisions = way == 1 ? 1 : 5;
            shape.inward = i == 1;
            ec_scene_builder *b = begin();
            add(b, "cylinder", 0, &shape);
            ec_scene *s = build_with(&b, &options);
            if (way == 1) { /* again, from its triangles */
                b = begin();
                add_mesh(b, "cylinder", 0, (const double(*)[3])s->vertex, s->n_vertices,
                         (const int32_t(*)[3])s->triangle, s->n_triangles);
                ec_scene_destroy(&s);
                s = build_with(&b, &options);
            }
            check(s);
            assert_int_equal(s->n_triangles, 2 * sides[i] * (shape.divisions + 1));
            assert_int_equal(s->n_facets, 2);
            assert_int_equal(s->n_surfaces, 1);
            assert_int_equal(s->n_wedges, 0);
            assert_int_equal(s->report.curved_edges, 2);
            assert_int_equal(i == 1 ? s->report.rooms : s->report.solids, 1);
            const ec_surface *c = &s->surface[0];
            assert_int_equal(c->count, 2 * sides[i] * shape.divisions);
            assert_int_equal(c->kind, way == 2 ? EC_SURFACE_MESH : EC_SURFACE_CYLINDER);
            if (way < 2) {
                near(c->radius, 10, 1e-9);
                near(c->half_height, 7.5, 1e-9);
                near(fabs(c->axis[2]), 1, 1e-12);
                near(c->point[1], 3, 1e-9);
                near(c->point[2], 0, 1e-9);
                assert_true(c->inward == (i == 1));
            }
            double sign = i == 1 ? -1 : 1;
            for (int32_t j = 0; j < c->count; j++)
                for (int k = 0; k < 3; k++) {
                    int32_t v = s->triangle[s->surface_triangle[c->first + j]][k];
                    double x = s->vertex[v][0] / 10, y = (s->vertex[v][1] - 3) / 10;
                    const double around[3] = {-y, x, 0}, axis[3] = {0, 0, 1};
                    near(s->vertex_normal[v][0], sign * x, 1e-9);
                    near(s->vertex_normal[v][1], sign * y, 1e-9);
                    near(curvature_along(s, v, around), sign * 0.1, 1e-9);
                    near(curvature_along(s, v, axis), 0, 1e-9);
                }
            ec_scene_destroy(&s);
        }
}

static void test_sphere(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        ec_shape shape;
        ec_scene_options options;
        ec_scene_options_default(&options);
        options.exact = way != 2;
        ec_shape_default(EC_SHAPE_SPHERE, &shape);
        shape.radius = 2;
        shape.at[2] = 5;
        shape.sides = 72;
        ec_scene_builder *b = begin();
        add(b, "sphere", 0, &shape);
        ec_scene *s = build_with(&b, &options);
        if (way == 1) {
            b = begin();
            add_mesh(b, "sphere", 0, (const double(*)[3])s->vertex, s->n_vertices,
                     (const int32_t(*)[3])s->triangle, s->n_triangles);
            ec_scene_destroy(&s);
            s = build_with(&b, &options);
        }
        check(s);
        assert_int_equal(s->n_triangles, 2 * 72 * 35);
        assert_int_equal(s->n_facets, 0);
        assert_int_equal(s->n_surfaces, 1);
        assert_int_equal(s->n_wedges, 0);
        assert_int_equal(s->report.curved_edges, 0);
        const ec_surface *c = &s->surface[0];
        assert_int_equal(c->kind, way == 2 ? EC_SURFACE_MESH : EC_SURFACE_SPHERE);
        if (way < 2) {
            near(c->radius, 2, 1e-9);
            near(c->point[2], 5, 1e-9);
            assert_false(c->inward);
        }
        double area = 0;
        for (int32_t t = 0; t < s->n_triangles; t++)
            area += area_of(s, t);
        near(area, 4 * EC_PI * 4, 0.15);
        for (int32_t v = 0; v < s->n_vertices; v++) {
            double n[3] = {s->vertex[v][0] / 2, s->vertex[v][1] / 2, (s->vertex[v][2] - 5) / 2};
            double u[3], w[3];
            ec_scene_frame(n, u, w);
            for (int k = 0; k < 3; k++)
                near(s->vertex_normal[v][k], n[k], 1e-9);
            near(curvature_along(s, v, u), 0.5, 1e-9);
            near(curvature_along(s, v, w), 0.5, 1e-9);
        }
        ec_scene_destroy(&s);
    }
}

static void test_cone(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        ec_shape shape;
        ec_shape_default(EC_SHAPE_CONE, &shape);
        shape.radius = 3;
        shape.length = 4;
        shape.axis[0] = 4; /* along (4, 0, 3) */
        shape.axis[2] = 3;
        shape.divisions = 6;
        ec_scene *s = scene_of(&shape);
        if (way == 1) {
            ec_scene_builder *b = begin();
            add_mesh(b, "cone", 0, (const double(*)[3])s->vertex, s->n_vertices,
                     (const int32_t(*)[3])s->triangle, s->n_triangles);
            ec_scene_destroy(&s);
            s = build(&b);
        }
        check(s);
        assert_int_equal(s->n_facets, 1);
        assert_int_equal(s->n_surfaces, 1);
        assert_int_equal(s->report.curved_edges, 1);
        const ec_surface *c = &s->surface[0];
        assert_int_equal(c->kind, EC_SURFACE_CONE);
        near(c->radius, atan2(3, 4), 1e-9);
        near(c->half_height, 4, 1e-8);
        near(c->point[0], 4 * 0.8, 1e-8);
        near(c->axis[0], -0.8, 1e-9);
        near(c->axis[2], -0.6, 1e-9);
        for (int32_t v = 0; v < s->n_vertices; v++) {
            double p[3], radial[3], around[3];
            if (length(s->vertex_normal[v]) < 0.5)
                continue; /* of the base only */
            for (int k = 0; k < 3; k++)
                p[k] = s->vertex[v][k] - c->point[k];
            double along = dot(p, c->axis), r = along * 0.75;
            if (along < 1e-6)
                continue;
            for (int k = 0; k < 3; k++)
                radial[k] = (p[k] - along * c->axis[k]) / r;
            around[0] = c->axis[1] * radial[2] - c->axis[2] * radial[1];
            around[1] = c->axis[2] * radial[0] - c->axis[0] * radial[2];
            around[2] = c->axis[0] * radial[1] - c->axis[1] * radial[0];
            near(dot(s->vertex_normal[v], radial), 0.8, 1e-7);
            near(dot(s->vertex_normal[v], c->axis), -0.6, 1e-7);
            near(curvature_along(s, v, around) * r, 0.8, 1e-6);
        }
        ec_scene_destroy(&s);
    }
}

/* An ellipsoid is no exact shape: normals and curvatures of its mesh come near the true ones, and
 * nearer with more triangles. */
static void test_ellipsoid(void **state)
{
    static const double axes[3] = {1, 2, 3};
    double error[2];
    (void)state;
    for (int fine = 0; fine < 2; fine++) {
        ec_shape shape;
        ec_shape_default(EC_SHAPE_SPHERE, &shape);
        shape.radius = 1;
        shape.sides = fine ? 192 : 96;
        ec_scene *s = scene_of(&shape);
        for (int32_t v = 0; v < s->n_vertices; v++)
            for (int k = 0; k < 3; k++)
                s->vertex[v][k] *= axes[k];
        ec_scene_builder *b = begin();
        add_mesh(b, "egg", 0, (const double(*)[3])s->vertex, s->n_vertices,
                 (const int32_t(*)[3])s->triangle, s->n_triangles);
        ec_scene_destroy(&s);
        s = build(&b);
        check(s);
        assert_int_equal(s->n_surfaces, 1);
        assert_int_equal(s->surface[0].kind, EC_SURFACE_MESH);
        error[fine] = 0;
        for (int32_t v = 0; v < s->n_vertices; v++) {
            /* normal n = g / |g| with g = (x / a^2); Gauss curvature 1 / (abc |g|^2)^2 */
            double g[3];
            for (int k = 0; k < 3; k++)
                g[k] = s->vertex[v][k] / (axes[k] * axes[k]);
            double gg = dot(g, g), gauss = 1 / (36 * gg * gg);
            const double *f = s->vertex_curvature[v];
            near(dot(s->vertex_normal[v], g) / sqrt(gg), 1, 1e-4);
            error[fine] = fmax(error[fine], fabs((f[0] * f[2] - f[1] * f[1]) / gauss - 1));
        }
        ec_scene_destroy(&s);
    }
    assert_true(error[0] < 0.1); /* at the poles, where triangles are needles */
    assert_true(error[1] < 0.5 * error[0]);
}

/* Gentle hills in f32: where they are flat to within the tolerance they are still one surface. */
static void test_hills(void **state)
{
    enum { N = 100 };
    double(*vertex)[3] = malloc(N * N * sizeof *vertex);
    int32_t(*triangle)[3] = malloc(2 * N * N * sizeof *triangle);
    int32_t t = 0;
    (void)state;

    assert_true(vertex && triangle);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double *p = vertex[i * N + j];
            p[0] = 0.5 * j;
            p[1] = 0.5 * i;
            p[2] = (double)(float)(sin(0.02 * p[0]) * cos(0.026 * p[1]));
            int32_t a = i * N + j;
            const int32_t cell[2][3] = {{a, a + 1, a + N + 1}, {a, a + N + 1, a + N}};
            if (i + 1 < N && j + 1 < N) {
                memcpy(triangle[t], cell, sizeof cell);
                t += 2;
            }
        }
    ec_scene_builder *b = begin();
    add_mesh(b, "hills", 0, (const double(*)[3])vertex, N * N, (const int32_t(*)[3])triangle, t);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 0);
    assert_int_equal(s->n_surfaces, 1);
    assert_int_equal(s->n_wedges, 0);
    assert_true(s->surface[0].thin);
    ec_scene_destroy(&s);
    free(vertex);
    free(triangle);
}

/* A disc is a flat facet whose outline stands for a circle; an octagon is what it is. */
static void test_disc(void **state)
{
    (void)state;
    for (int n = 8; n <= 64; n *= 2) {
        double vertex[65][3] = {{0}};
        int32_t triangle[64][3];
        for (int i = 0; i < n; i++) {
            vertex[i][0] = cos(2 * EC_PI * i / n);
            vertex[i][1] = sin(2 * EC_PI * i / n);
            triangle[i][0] = n;
            triangle[i][1] = i;
            triangle[i][2] = (i + 1) % n;
        }
        ec_scene_builder *b = begin();
        add_mesh(b, "disc", 0, (const double(*)[3])vertex, n + 1, (const int32_t(*)[3])triangle, n);
        ec_scene *s = build(&b);
        check(s);
        assert_int_equal(s->n_facets, 1);
        assert_int_equal(s->facet[0].n_edges, n);
        assert_int_equal(s->n_wedges, n == 8 ? 8 : 0);
        assert_int_equal(s->report.curved_outlines, n == 8 ? 0 : 1);
        ec_scene_destroy(&s);
    }
}

/* A box with one rounded edge: walls stay facets, the rounding is a surface, and straight edges that
 * touch neither stay wedges. */
static void test_rounded_box(void **state)
{
    enum { STEPS = 12, N = STEPS + 1 + 3 };
    double vertex[2 * N][3];
    int32_t triangle[4 * N][3];
    int n = 0, t = 0;
    (void)state;

    for (int i = 0; i <= STEPS; i++, n++) { /* the corner at (4, 4) with radius 1 */
        vertex[n][0] = 3 + cos(EC_PI / 2 * i / STEPS);
        vertex[n][1] = 3 + sin(EC_PI / 2 * i / STEPS);
    }
    static const double corner[3][2] = {{0, 4}, {0, 0}, {4, 0}};
    for (int i = 0; i < 3; i++, n++)
        memcpy(vertex[n], corner[i], sizeof corner[i]);
    assert_int_equal(n, N);
    for (int i = 0; i < N; i++) {
        vertex[i][2] = 0;
        memcpy(vertex[N + i], vertex[i], sizeof *vertex);
        vertex[N + i][2] = 5;
        int32_t j = (i + 1) % N;
        const int32_t side[2][3] = {{i, j, N + j}, {i, N + j, N + i}};
        memcpy(triangle[t], side, sizeof side);
        t += 2;
    }
    for (int i = 1; i + 1 < N; i++) {
        const int32_t ends[2][3] = {{0, i + 1, i}, {N, N + i, N + i + 1}};
        memcpy(triangle[t], ends, sizeof ends);
        t += 2;
    }
    ec_scene_builder *b = begin();
    add_mesh(b, "box", 0, (const double(*)[3])vertex, 2 * N, (const int32_t(*)[3])triangle, t);
    ec_scene *s = build(&b);
    check(s);
    assert_int_equal(s->n_facets, 6);
    assert_int_equal(s->n_surfaces, 1);
    assert_int_equal(s->surface[0].kind, EC_SURFACE_MESH); /* a quarter is not a cylinder */
    assert_int_equal(s->surface[0].count, 2 * STEPS);
    assert_int_equal(s->report.curved_edges, 1);
    assert_int_equal(s->n_wedges, 3 + 8);
    ec_scene_destroy(&s);
}

/* ---- places, files, errors ------------------------------------------------------------------------ */

static void test_grid(void **state)
{
    ec_scene_builder *b = begin();
    ec_shape box = box_of(4, 3, 2.5, 1), plate;
    double(*p)[3];
    int32_t n;
    (void)state;

    box.inward = true;
    box.at[2] = 1.25;
    add(b, "room", 0, &box);
    ec_shape_default(EC_SHAPE_PLATE, &plate);
    plate.at[2] = 1;
    add(b, "table", 0, &plate);
    ec_shape_default(EC_SHAPE_SPHERE, &plate);
    plate.at[0] = -1;
    plate.at[2] = 2;
    plate.radius = 0.2;
    add(b, "lamp", 0, &plate);
    ec_scene *s = build(&b);

    static const double keep_out[1][2][3] = {{{0.9, -9, 0}, {9, 9, 9}}};
    ec_scene_grid g = {.step = 0.5, .clearance = 0.1, .inset = 0.25, .facing = {0, 0, -1}};
    assert_int_equal(ec_scene_grid_points(s, "room", &g, &p, &n), EC_OK); /* the ceiling */
    assert_int_equal(n, 8 * 6);
    for (int i = 0; i < n; i++) {
        near(p[i][2], 2.4, 1e-12);
        assert_true(fabs(p[i][0]) <= 1.75 + 1e-12 && fabs(p[i][1]) <= 1.25 + 1e-12);
    }
    near(p[0][0], -1.75, 1e-12);
    near(p[1][0] - p[0][0], 0.5, 1e-12);
    free(p);
    g.n_boxes = 1;
    g.box = keep_out;
    assert_int_equal(ec_scene_grid_points(s, "room", &g, &p, &n), EC_OK);
    assert_int_equal(n, 6 * 6);
    free(p);
    g.n_boxes = 0;
    assert_int_equal(ec_scene_grid_points(s, "table", &g, &p, &n), EC_OK); /* its underside */
    assert_int_equal(n, 4);
    near(p[0][2], 0.9, 1e-12);
    free(p);
    memset(g.facing, 0, sizeof g.facing);
    assert_int_equal(ec_scene_grid_points(s, "table", &g, &p, &n), EC_OK);
    near(p[0][2], 1.1, 1e-12);
    free(p);
    assert_int_equal(ec_scene_grid_points(s, "lamp", &g, &p, &n), EC_ERR_UNSUPPORTED);
    assert_int_equal(ec_scene_grid_points(s, "sofa", &g, &p, &n), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "no object 'sofa'; it has room, table, lamp"));
    g.step = 1e-5;
    assert_int_equal(ec_scene_grid_points(s, "room", &g, &p, &n), EC_ERR_ARGUMENT);
    g.step = 0;
    assert_int_equal(ec_scene_grid_points(s, "room", &g, &p, &n), EC_ERR_ARGUMENT);
    g.step = 0.5; /* the outline counts without an inset */
    g.inset = 0;
    assert_int_equal(ec_scene_grid_points(s, "table", &g, &p, &n), EC_OK);
    assert_int_equal(n, 9);
    free(p);
    g.step = 9; /* in the middle only */
    assert_int_equal(ec_scene_grid_points(s, "table", &g, &p, &n), EC_OK);
    assert_int_equal(n, 1);
    near(p[0][0], 0, 1e-12);
    free(p);
    ec_scene_destroy(&s);
}

static void test_report(void **state)
{
    ec_shape cylinder;
    char text[4000], cut[20];
    (void)state;

    ec_shape_default(EC_SHAPE_CYLINDER, &cylinder);
    ec_scene *s = scene_of(&cylinder);
    size_t n = ec_scene_report_text(s, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_non_null(
        strstr(text, "scene of 288 triangles in 1 objects: 2 facets, 0 wedges, 1 curved"));
    assert_non_null(strstr(text, "1 solids, 0 rooms, 0 sheets"));
    assert_non_null(strstr(text, "curved surfaces: 1 cylinders\n"));
    assert_non_null(strstr(text, "2 rims of curved surfaces"));
    assert_non_null(strstr(text, "object thing: 288 triangles\n"));
    assert_non_null(strstr(text, "material pec: 288 triangles, perfect conductor"));
    assert_int_equal(ec_scene_report_text(s, cut, sizeof cut), n);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    ec_scene_destroy(&s);
}

static void test_errors(void **state)
{
    ec_scene_builder *b = begin();
    ec_scene_options options;
    ec_scene *s = NULL;
    ec_shape shape = box_of(1, 0, 1, 1);
    static const double point[3][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
    static const int32_t line[1][3] = {{0, 1, 2}}, wrong[1][3] = {{0, 1, 3}};
    (void)state;

    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(b, &options, &s), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "the scene has no triangle"));
    assert_int_equal(ec_scene_builder_shape(b, "crate", 0, &shape), EC_ERR_ARGUMENT);
    assert_string_equal(ec_error_text(), "box 'crate': its size is 0; it must be above 0");
    assert_int_equal(ec_scene_builder_triangles(b), 0);
    shape = box_of(1, 1, 1, 1);
    assert_int_equal(ec_scene_builder_shape(b, "crate", 5, &shape), EC_ERR_ARGUMENT);
    ec_shape_default(EC_SHAPE_CYLINDER, &shape);
    shape.sides = 2;
    assert_int_equal(ec_scene_builder_shape(b, "tube", 0, &shape), EC_ERR_ARGUMENT);
    ec_shape_default(EC_SHAPE_WEDGE, &shape);
    shape.towards[0] = 0;
    shape.towards[2] = 1;
    assert_int_equal(ec_scene_builder_shape(b, "w", 0, &shape), EC_ERR_ARGUMENT);
    ec_mesh mesh = {.n_vertices = 3,
                    .n_triangles = 1,
                    .vertex = (double(*)[3])(uintptr_t)point,
                    .triangle = (int32_t(*)[3])(uintptr_t)wrong};
    assert_int_equal(ec_scene_builder_mesh(b, "m", 0, &mesh), EC_ERR_ARGUMENT);
    mesh.triangle = (int32_t(*)[3])(uintptr_t)line;
    assert_int_equal(ec_scene_builder_mesh(b, "m", 0, &mesh), EC_OK);
    assert_int_equal(ec_scene_build(b, &options, &s), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "no triangle with an area"));
    options.crease_deg = 100;
    assert_int_equal(ec_scene_build(b, &options, &s), EC_ERR_ARGUMENT);
    assert_null(s);
    ec_scene_builder_destroy(&b);
    assert_null(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plate),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_wedge),
        cmocka_unit_test(test_ground),
        cmocka_unit_test(test_resting),
        cmocka_unit_test(test_city),
        cmocka_unit_test(test_sheet_corner),
        cmocka_unit_test(test_walls_that_meet),
        cmocka_unit_test(test_two_sided),
        cmocka_unit_test(test_soup),
        cmocka_unit_test(test_stitched),
        cmocka_unit_test(test_touching_boxes),
        cmocka_unit_test(test_two_materials),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_cone),
        cmocka_unit_test(test_ellipsoid),
        cmocka_unit_test(test_hills),
        cmocka_unit_test(test_disc),
        cmocka_unit_test(test_rounded_box),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
