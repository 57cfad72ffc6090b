/* test_mesh.c: meshes from files, and scenes from Mitsuba's XML. The files are written here. */
#include "scene_build.h"
#include "scene_xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/status.h"

#include <cmocka.h>

static char folder[256];

static const char *path_of(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/eciton_mesh.XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {
        "two.obj", "two.mtl", "quad.ply", "bin.ply",  "one.stl",   "node.gltf", "node.bin",
        "bad.obj", "bad.ply", "nan.ply",  "line.obj", "scene.xml", "saved.ply", "saved.vtk"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

static void import(const char *name, double unit, bool y_up, ec_mesh_list *list)
{
    ec_mesh_import_info info;

    ec_mesh_import_info_default(&info);
    info.unit = unit;
    info.y_up = y_up;
    if (ec_mesh_import(path_of(name), &info, list) != EC_OK)
        fail_msg("%s", ec_error_text());
}

static void refused(const char *name, int status, const char *sentence)
{
    ec_mesh_import_info info;
    ec_mesh_list list = {0};

    ec_mesh_import_info_default(&info);
    int got = ec_mesh_import(path_of(name), &info, &list);
    if (got != status || !strstr(ec_error_text(), sentence))
        fail_msg("%s: status %d, '%s'", name, got, ec_error_text());
    assert_int_equal(list.count, 0);
    ec_mesh_list_clear(&list);
}

/* Twice the area, along the normal, of all triangles. */
static void area_vector(const ec_mesh *m, double to[3])
{
    memset(to, 0, 3 * sizeof *to);
    for (int32_t t = 0; t < m->n_triangles; t++) {
        const double *p = m->vertex[m->triangle[t][0]];
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            a[k] = m->vertex[m->triangle[t][1]][k] - p[k];
            b[k] = m->vertex[m->triangle[t][2]][k] - p[k];
        }
        to[0] += a[1] * b[2] - a[2] * b[1];
        to[1] += a[2] * b[0] - a[0] * b[2];
        to[2] += a[0] * b[1] - a[1] * b[0];
    }
}

static void near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%.17g, expected %.17g +- %g", got, wanted, tolerance);
}

static const char two_obj[] = "mtllib two.mtl\n"
                              "v 0 0 0\nv 1000 0 0\nv 1000 2000 0\nv 0 2000 0\nv 0 0 500\n"
                              "o floor\nusemtl itu_concrete\nf 1 2 3 4\n"
                              "o sail\nusemtl canvas\nf 1 2 5\n";

static void test_obj(void **state)
{
    ec_mesh_list list = {0};
    double area[3];
    (void)state;

    write_text("two.obj", two_obj);
    write_text("two.mtl", "newmtl itu_concrete\nKd 1 1 1\nnewmtl canvas\nKd 1 0 0\n");
    import("two.obj", 1e-3, false, &list);
    assert_int_equal(list.count, 2);
    assert_int_equal(ec_mesh_list_triangles(&list), 3);
    assert_string_equal(list.mesh[0].name, "floor");
    assert_string_equal(list.mesh[0].material, "itu_concrete");
    assert_string_equal(list.mesh[1].name, "sail");
    assert_string_equal(list.mesh[1].material, "canvas");
    area_vector(&list.mesh[0], area);
    near(area[0], 0, 0);
    near(area[1], 0, 0);
    near(area[2], 4, 1e-6);            /* 1 m x 2 m, facing up */
    import("two.obj", 1, true, &list); /* appends */
    assert_int_equal(list.count, 4);
    area_vector(&list.mesh[2], area);
    near(area[1], -4e6, 1); /* z of the file is -y */
    ec_mesh_list_clear(&list);
    assert_null(list.mesh);
}

/* Materials that a file names are files too: with a guard that allows only the mesh they are not
 * opened. */
static bool only_obj(void *user, const char *path)
{
    int *asked = user;
    size_t n = strlen(path);
    bool obj = n > 4 && strcmp(path + n - 4, ".obj") == 0;
    *asked += !obj;
    return obj;
}

static bool nothing(void *user, const char *path)
{
    (void)user, (void)path;
    return false;
}

static void test_guard(void **state)
{
    int asked = 0;
    ec_mesh_list list = {0};
    ec_mesh_import_info info;
    (void)state;

    write_text("two.obj", two_obj);
    write_text("two.mtl", "newmtl itu_concrete\nKd 1 1 1\nnewmtl canvas\nKd 1 0 0\n");
    ec_mesh_import_info_default(&info);
    info.may_read = only_obj;
    info.user = &asked;
    assert_int_equal(ec_mesh_import(path_of("two.obj"), &info, &list), EC_OK);
    assert_true(asked > 0);
    ec_mesh_list_clear(&list);
    info.may_read = nothing;
    assert_int_equal(ec_mesh_import(path_of("two.obj"), &info, &list), EC_ERR_FILE);
}

static void test_ply(void **state)
{
    ec_mesh_list list = {0};
    double area[3];
    char bytes[400];
    (void)state;

    write_text("quad.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\n"
                           "property float y\nproperty float z\nelement face 1\n"
                           "property list uchar int vertex_indices\nend_header\n"
                           "0 0 1\n2 0 1\n2 3 1\n0 3 1\n4 0 1 2 3\n");
    import("quad.ply", 1, false, &list);
    assert_int_equal(ec_mesh_list_triangles(&list), 2);
    area_vector(&list.mesh[0], area);
    near(area[2], 12, 1e-12);
    assert_string_equal(list.mesh[0].material, "");
    ec_mesh_list_clear(&list);

    int n = snprintf(bytes, sizeof bytes,
                     "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\n"
                     "property float y\nproperty float z\nelement face 1\n"
                     "property list uchar int vertex_index\nend_header\n");
    const float vertex[9] = {0, 0, 0, 4, 0, 0, 0, 5, 0};
    const int32_t corner[3] = {0, 1, 2};
    memcpy(bytes + n, vertex, sizeof vertex);
    bytes[n + 36] = 3;
    memcpy(bytes + n + 37, corner, sizeof corner);
    write_bytes("bin.ply", bytes, (size_t)n + 37 + sizeof corner);
    import("bin.ply", 1, false, &list);
    area_vector(&list.mesh[0], area);
    near(area[2], 20, 1e-12);
    ec_mesh_list_clear(&list);
}

/* A concave polygon as text with other properties about, and big-endian data that begin with a line
 * feed, of a closed form: an L of area 3. */
static void test_ply_kinds(void **state)
{
    static const char faces[] = "element face 1\nproperty uchar red\n"
                                "property list uchar ushort vertex_index\nend_header\n";
    static const double corner[6][2] = {{2, 1}, {1, 1}, {1, 2}, {0, 2}, {0, 0}, {2, 0}};
    ec_mesh_list list = {0};
    double area[3];
    char bytes[600];
    (void)state;

    int n = snprintf(bytes, sizeof bytes,
                     "ply\r\nformat ascii 1.0\ncomment an L\n\nelement vertex 6\n"
                     "property double y\nproperty list uchar float weights\nproperty double x\n"
                     "property double z\n%s",
                     faces);
    for (int i = 0; i < 6; i++)
        n += snprintf(bytes + n, sizeof bytes - (size_t)n, "%g 2 7 8 %.17g 0\n", corner[i][1],
                      corner[i][0] + 0.1);
    snprintf(bytes + n, sizeof bytes - (size_t)n, "255 6 0 1 2 3 4 5");
    write_text("quad.ply", bytes);
    import("quad.ply", 1, false, &list);
    assert_int_equal(ec_mesh_list_triangles(&list), 4);
    assert_string_equal(list.mesh[0].name, "quad");
    area_vector(&list.mesh[0], area);
    near(area[2], 6, 1e-12);
    for (int32_t t = 0; t < 4; t++) { /* none crosses another: each has its own area */
        ec_mesh one = list.mesh[0];
        one.triangle += t;
        one.n_triangles = 1;
        area_vector(&one, area);
        assert_true(area[2] > 0.5);
    }
    near(list.mesh[0].vertex[1][0], 1.1, 0); /* every digit */
    ec_mesh_list_clear(&list);

    n = snprintf(bytes, sizeof bytes,
                 "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty short x\n"
                 "property short y\nproperty short z\n%s",
                 faces);
    static const unsigned char data[] = {0x0a, 0x00, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
                                         0,    0,    0, 0, 0, 9, 3, 0, 0, 0, 1, 0, 2};
    memcpy(bytes + n, data, sizeof data);
    write_bytes("bin.ply", bytes, (size_t)n + sizeof data);
    import("bin.ply", 1, false, &list);
    assert_int_equal(ec_mesh_list_triangles(&list), 1);
    near(list.mesh[0].vertex[0][0], 2560, 0);
    near(list.mesh[0].vertex[1][1], 2, 0);
    ec_mesh_list_clear(&list);
    /* cut off anywhere it is refused, and never hangs */
    for (size_t cut = 0; cut < (size_t)n + sizeof data; cut++) {
        write_bytes("bad.ply", bytes, cut);
        refused("bad.ply", EC_ERR_FORMAT, "bad.ply' is not understood: ");
    }
}

static void test_stl(void **state)
{
    ec_mesh_list list = {0};
    double area[3];
    (void)state;

    write_text("one.stl", "solid part\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"
                          "vertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid part\n");
    import("one.stl", 0.0254, false, &list);
    assert_int_equal(ec_mesh_list_triangles(&list), 1);
    area_vector(&list.mesh[0], area);
    near(area[2], 0.0254 * 0.0254, 1e-9);
    ec_mesh_list_clear(&list);
}

/* Nodes place their mesh, one within the other; y is up. */
static void test_gltf(void **state)
{
    ec_mesh_list list = {0};
    double area[3];
    const float vertex[9] = {0, 0, 0, 1, 0, 0, 0, 0, -1}; /* the normal is +y */
    const uint16_t index[3] = {0, 1, 2};
    char bytes[42];
    (void)state;

    memcpy(bytes, vertex, sizeof vertex);
    memcpy(bytes + sizeof vertex, index, sizeof index);
    write_bytes("node.bin", bytes, sizeof bytes);
    write_text("node.gltf",
               "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
               "\"nodes\":[{\"name\":\"frame\",\"translation\":[10,0,0],\"children\":[1]},"
               "{\"name\":\"tile\",\"mesh\":0,\"scale\":[2,2,2]}],"
               "\"materials\":[{\"name\":\"itu_wood\"}],"
               "\"meshes\":[{\"name\":\"m\",\"primitives\":[{\"attributes\":{\"POSITION\":0},"
               "\"indices\":1,\"material\":0}]}],"
               "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,"
               "\"type\":\"VEC3\",\"min\":[0,0,-1],\"max\":[1,0,0]},"
               "{\"bufferView\":1,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],"
               "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36},"
               "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":6}],"
               "\"buffers\":[{\"uri\":\"node.bin\",\"byteLength\":42}]}");
    import("node.gltf", 1, true, &list);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.mesh[0].name, "tile");
    assert_string_equal(list.mesh[0].material, "itu_wood");
    area_vector(&list.mesh[0], area);
    near(area[2], 4, 1e-6);
    near(list.mesh[0].vertex[0][0], 10, 1e-6);
    ec_mesh_list_clear(&list);
}

static void test_bad_files(void **state)
{
    ec_mesh_import_info info;
    ec_mesh_list list = {0};
    (void)state;

    refused("nowhere.obj", EC_ERR_FILE, "nowhere.obj' cannot be read: No such file");
    write_text("bad.obj", "this is not a mesh\n");
    refused("bad.obj", EC_ERR_FORMAT, "bad.obj' holds no triangle");
    write_text("bad.ply", "ply\nformat ascii 1.0\nelement vertex many\n");
    refused("bad.ply", EC_ERR_FORMAT, "bad.ply' is not understood: ");
    write_text("line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
    refused("line.obj", EC_ERR_FORMAT, "line.obj'");
    write_text("nan.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"
                          "property float y\nproperty float z\nelement face 1\n"
                          "property list uchar int vertex_indices\nend_header\n"
                          "0 0 nan\n2 0 1\n2 3 1\n3 0 1 2\n");
    refused("nan.ply", EC_ERR_FORMAT, "nan.ply': vertex 1 is no finite number");
    write_text("nan.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n"
                          "property float y\nproperty float z\nelement face 1\n"
                          "property list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 1\n");
    refused("nan.ply", EC_ERR_FORMAT, "a face has a vertex 1 of 1");
    ec_mesh_import_info_default(&info);
    info.unit = 0;
    assert_int_equal(ec_mesh_import(path_of("quad.ply"), &info, &list), EC_ERR_ARGUMENT);
}

static void test_transform(void **state)
{
    static const double mirror[3][4] = {{-1, 0, 0, 1}, {0, 2, 0, 0}, {0, 0, 1, 3}};
    ec_mesh_list list = {0};
    ec_mesh *m;
    double area[3];
    (void)state;

    assert_int_equal(ec_mesh_list_add(&list, "t", NULL, 3, 1, &m), EC_OK);
    const double vertex[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    memcpy(m->vertex, vertex, sizeof vertex);
    for (int k = 0; k < 3; k++)
        m->triangle[0][k] = k;
    ec_mesh_transform(m, mirror);
    area_vector(m, area);
    near(area[2], 2, 0); /* still up */
    near(m->vertex[1][0], 0, 0);
    near(m->vertex[2][1], 2, 0);
    near(m->vertex[0][2], 3, 0);
    ec_mesh_list_clear(&list);
}

/* ---- Mitsuba's XML ------------------------------------------------------------------------------- */

static int read_xml(const char *text, ec_scene_xml *scene)
{
    ec_mesh_import_info info;

    write_text("scene.xml", text);
    ec_mesh_import_info_default(&info);
    return ec_scene_xml_read(path_of("scene.xml"), &info, scene);
}

static void test_xml(void **state)
{
    ec_scene_xml scene = {0};
    double area[3];
    (void)state;

    write_text("two.obj", two_obj);
    test_ply(state);
    int rc = read_xml(
        "<scene version=\"2.1.0\">\n<default name=\"spp\" value=\"16\"/>\n"
        "<default name=\"lift\" value=\"7\"/>\n"
        "<integrator type=\"path\"><integer name=\"max_depth\" value=\"12\"/></integrator>\n"
        "<bsdf type=\"twosided\" id=\"mat-itu_brick\"><bsdf type=\"diffuse\">"
        "<rgb value=\"0.2 0.3 0.4\" name=\"reflectance\"/></bsdf></bsdf>\n"
        "<bsdf type=\"itu-radio-material\" id=\"glazing\"><string name=\"type\" value=\"glass\"/>"
        "<float name=\"thickness\" value=\"0.02\"/></bsdf>\n"
        "<bsdf type=\"radio-material\" id=\"mat-foam\"><float name=\"relative_permittivity\" "
        "value=\"1.1\"/><float name=\"conductivity\" value=\"0.001\"/></bsdf>\n"
        "<emitter type=\"constant\"><shape type=\"sphere\"/></emitter>\n"
        "<shape type=\"ply\" id=\"mesh-roof\"><string name=\"filename\" value=\"quad.ply\"/>"
        "<boolean name=\"face_normals\" value=\"true\"/>"
        "<transform name=\"to_world\"><scale value=\"2\"/><rotate x=\"1\" angle=\"90\"/>"
        "<translate x=\"1\" y=\"2\" z=\"$lift\"/></transform>"
        "<ref id=\"mat-itu_brick\" name=\"bsdf\"/></shape>\n"
        "<shape type=\"obj\" id=\"two\"><string name=\"filename\" value=\"two.obj\"/>"
        "<transform name=\"to_world\"><matrix value=\"1 0 0 0 0 -1 0 0 0 0 1 0 0 0 0 1\"/>"
        "</transform><bsdf type=\"diffuse\" id=\"foam\"/></shape>\n</scene>\n",
        &scene);
    if (rc != EC_OK)
        fail_msg("%s", ec_error_text());
    assert_int_equal(scene.meshes.count, 3);
    const ec_mesh *m = scene.meshes.mesh;
    assert_string_equal(m[0].name, "mesh-roof");
    assert_string_equal(m[0].material, "itu_brick");
    area_vector(&m[0], area);
    near(area[1], -48, 1e-9); /* 4 m x 6 m, z turned to -y */
    double low = INFINITY;
    for (int32_t v = 0; v < m[0].n_vertices; v++) {
        near(m[0].vertex[v][1], 0, 1e-9); /* 2 - 2 */
        low = fmin(low, m[0].vertex[v][2]);
    }
    near(low, 7, 1e-9);
    assert_string_equal(m[1].name, "two");
    assert_string_equal(m[1].material, "foam");
    area_vector(&m[1], area);
    near(area[2], 4e6, 1); /* mirrored, and still facing up */
    assert_int_equal(scene.n_materials, 2);
    assert_string_equal(scene.material[0].name, "glazing");
    assert_int_equal(scene.material[0].kind, EC_MATERIAL_ITU);
    near(scene.material[0].thickness, 0.02, 0);
    assert_string_equal(scene.material[1].name, "foam");
    near(scene.material[1].eps_r, 1.1, 0);
    near(scene.material[1].conductivity, 0.001, 0);
    ec_scene_xml_clear(&scene);
}

static void xml_refused(const char *text, int status, const char *sentence)
{
    ec_scene_xml scene = {0};
    int rc = read_xml(text, &scene);
    if (rc != status || !strstr(ec_error_text(), sentence))
        fail_msg("status %d, '%s'", rc, ec_error_text());
    ec_scene_xml_clear(&scene);
}

static void test_bad_xml(void **state)
{
    (void)state;
    xml_refused("<scene>\n<shape", EC_ERR_FORMAT, "line 2: ");
    xml_refused("<scene></scene>", EC_ERR_FORMAT, "has no shape");
    xml_refused("<scene>\n\n<shape type=\"cube\"/></scene>", EC_ERR_FORMAT,
                "line 3: only shapes of type ply and obj are read, not 'cube'");
    xml_refused("<scene><shape type=\"ply\" id=\"a\"></shape></scene>", EC_ERR_FORMAT,
                "no file name in shape 'a'");
    xml_refused("<scene><shape type=\"ply\" id=\"a\"><string name=\"filename\" value=\"no.ply\"/>"
                "</shape></scene>",
                EC_ERR_FILE, "no.ply' cannot be read");
    xml_refused("<scene><shape type=\"ply\"><transform><matrix value=\"1 2\"/></transform></shape>"
                "</scene>",
                EC_ERR_FORMAT, "not sixteen numbers: '1 2'");
    xml_refused("<scene><bsdf type=\"itu-radio-material\" id=\"x\"><string name=\"type\" "
                "value=\"cheese\"/></bsdf></scene>",
                EC_ERR_FORMAT, "unknown material 'cheese'");
}

/* ---- from a scene to a file and back --------------------------------------------------------------- */

static void test_save(void **state)
{
    ec_scene_builder *b = NULL;
    ec_scene *scene = NULL;
    ec_scene_options options;
    ec_material pec;
    ec_shape box;
    ec_mesh_list list = {0};
    int32_t index;
    char line[80];
    (void)state;

    assert_int_equal(ec_scene_builder_create(&b), EC_OK);
    ec_material_pec("pec", &pec);
    assert_int_equal(ec_scene_builder_material(b, &pec, &index), EC_OK);
    ec_shape_default(EC_SHAPE_BOX, &box);
    box.divisions = 2;
    assert_int_equal(ec_scene_builder_shape(b, "box", index, &box), EC_OK);
    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(b, &options, &scene), EC_OK);
    ec_scene_builder_destroy(&b);
    assert_int_equal(ec_scene_save(scene, path_of("saved.ply")), EC_OK);
    import("saved.ply", 1, false, &list);
    assert_int_equal(ec_mesh_list_triangles(&list), 48);
    ec_mesh_list_clear(&list);
    assert_int_equal(ec_scene_save(scene, path_of("saved.vtk")), EC_OK);
    FILE *file = fopen(path_of("saved.vtk"), "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "# vtk DataFile Version 3.0\n");
    fclose(file);
    assert_int_equal(ec_scene_save(scene, path_of("saved.off")), EC_ERR_ARGUMENT);
    ec_scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obj),       cmocka_unit_test(test_guard),
        cmocka_unit_test(test_ply),       cmocka_unit_test(test_ply_kinds),
        cmocka_unit_test(test_stl),       cmocka_unit_test(test_gltf),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_transform),
        cmocka_unit_test(test_xml),       cmocka_unit_test(test_bad_xml),
        cmocka_unit_test(test_save),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
