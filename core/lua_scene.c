#include "lua_scene.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/mimo/scene_xml.h"
#include "lua_files.h"
#include "lua_shapes.h"
#include "lua_values.h"

/* ---- keys -------------------------------------------------------------------------------------- */

typedef struct scene_keys {
    const char *file;
    double unit, weld, crease_deg;
    int up, material, materials;
    bool exact;
} scene_keys;

static const ec_key scene_table[] = {
    {"file", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "OBJ, PLY, STL, glTF or what else Assimp reads, or .xml: Mitsuba's, as radio tools exchange "
     "it",
     offsetof(scene_keys, file)},
    {"unit", EC_KEY_NUMBER, EC_KEY_ABOVE, 1, 0, INFINITY, "m", NULL,
     "of the file's lengths, as ec.mm", offsetof(scene_keys, unit)},
    {"up", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|z|y",
     "what is up in the file; auto: y in glTF, else z", offsetof(scene_keys, up)},
    {"materials", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "what the names of materials or objects stand for: { wall = \"itu_concrete\", door = { eps_r "
     "= "
     "3, thickness = 0.04 } }",
     offsetof(scene_keys, materials)},
    {"material", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "of what has no other one: a name or a table", offsetof(scene_keys, material)},
    {"weld", EC_KEY_NUMBER, 0, 0, 0, INFINITY, "m", NULL,
     "vertices nearer than this are one (default 0: 1e-6 of the scene's size)",
     offsetof(scene_keys, weld)},
    {"crease_deg", EC_KEY_NUMBER, 0, 30, 0, 90, "deg", NULL,
     "six or more facets that meet at less are a curved surface; 0: none is",
     offsetof(scene_keys, crease_deg)},
    {"exact", EC_KEY_FLAG, 0, 1, 0, 0, NULL, NULL,
     "whole spheres, cylinders and cones are what they are, in files too; else curved surfaces are "
     "meshes with normals",
     offsetof(scene_keys, exact)}};

const ec_noun ec_noun_scene = {
    "ec.scene", "ec.scene{ file = \"room.obj\", materials = { wall = \"itu_concrete\" } }",
    "What waves meet: a mesh from a file, shapes (ec.box{ ... } and others, without a key), or "
    "both. "
    "scene:report() is what it is made of, as a text; scene:surface(name) is an object of it; "
    "scene:save(\"scene.ply\") writes it for a viewer, .ply or .vtk. It has n_triangles, n_facets, "
    "n_wedges, n_surfaces, low and high.",
    EC_KEYS(scene_table)};

typedef struct material_keys {
    const char *itu;
    double eps_r, conductivity, loss_tangent, thickness;
} material_keys;

static const ec_key material_table[] = {
    {"itu", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "a class of ITU-R P.2040, instead of figures, or pec", offsetof(material_keys, itu)},
    {"eps_r", EC_KEY_NUMBER, 0, NAN, 1, INFINITY, NULL, NULL, "relative permittivity",
     offsetof(material_keys, eps_r)},
    {"conductivity", EC_KEY_NUMBER, 0, 0, 0, INFINITY, "S/m", NULL, "with eps_r",
     offsetof(material_keys, conductivity)},
    {"loss_tangent", EC_KEY_NUMBER, 0, 0, 0, INFINITY, NULL, NULL, "with eps_r",
     offsetof(material_keys, loss_tangent)},
    {"thickness", EC_KEY_NUMBER, 0, 0, 0, INFINITY, "m", NULL,
     "above 0: its facets are slabs that waves pass through; else nothing gets through",
     offsetof(material_keys, thickness)}};

const ec_noun ec_noun_material = {
    "material", "{ eps_r = 3, conductivity = 0.01 }, { itu = \"glass\", thickness = 6*ec.mm }",
    "A material of ec.scene's materials and of shapes, where a name says too little; for the "
    "names: "
    "eciton help materials.",
    EC_KEYS(material_table)};

typedef struct grid_keys {
    double clearance, inset;
    ec_lua_list facing;
    int keep_out;
} grid_keys;

static const ec_key grid_table[] = {
    {"clearance", EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "m", NULL,
     "distance off the surface (default a tenth of the step)", offsetof(grid_keys, clearance)},
    {"inset", EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "m", NULL,
     "distance from the outline (default the clearance)", offsetof(grid_keys, inset)},
    {"facing", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
     "{x, y, z}: only where the surface faces this way, within 60 degrees; sheets by either side",
     offsetof(grid_keys, facing)},
    {"keep_out", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "boxes without places: a list of { from = {x, y, z}, to = {x, y, z} }",
     offsetof(grid_keys, keep_out)}};

const ec_noun ec_noun_grid = {"surface:grid",
                              "scene:surface(\"ceiling\"):grid(0.5, { facing = {0, 0, -1} })",
                              "Places on the flat facets of an object, a step apart along the "
                              "horizontal and across it: lists "
                              "x, y, z and their number n.",
                              EC_KEYS(grid_table)};

/* ---- what is being made -------------------------------------------------------------------------- */

#define MAKING "scene in the making"

/* Owned by a userdata, so that errors of the script leave nothing behind. */
typedef struct making {
    ec_scene_builder *builder;
    ec_scene_xml read;
    size_t bytes;
    /* names in `materials`, as many as there are: whether something is made of them */
    bool *used;
    int n_named;
} making;

static int making_gc(lua_State *L)
{
    making *m = lua_touserdata(L, 1);
    ec_scene_builder_destroy(&m->builder);
    ec_scene_xml_clear(&m->read);
    ec_lua_budget_give(&ec_lua_host_of(L)->budget, m->bytes);
    m->bytes = 0;
    return 0;
}

/* ---- materials ------------------------------------------------------------------------------------ */

/* A class or "pec" by its name; one that there is not is an error that names what it is like. */
static void read_class(lua_State *L, const char *what, const char *name, ec_material *m)
{
    enum { MOST = 64 };
    const char *names[MOST] = {"pec"}, *known;
    int n = 1;
    if (ec_material_by_name(name, m) == EC_OK)
        return;
    luaL_checkstack(L, MOST, "too many materials");
    bool prefix = strncmp(name, "itu", 3) == 0;
    for (int32_t i = 0; (known = ec_material_itu_name(i)) && n < MOST; i++)
        names[n++] = prefix ? lua_pushfstring(L, "itu_%s", known) : known;
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "%s: unknown material '%s' (did you mean '%s'? eciton help materials)", what,
                    name, near);
    ec_lua_fail_core(L, what);
}

/* The value at index (a name or a table) as a material called `name`. */
static void read_material(lua_State *L, int index, const char *what, const char *name,
                          ec_material *m)
{
    int top = lua_gettop(L);
    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TSTRING) {
        read_class(L, what, lua_tostring(L, index), m);
    } else if (lua_istable(L, index)) {
        material_keys k;
        ec_lua_keys_parse(L, index, &ec_noun_material, &k, NULL);
        if ((k.itu != NULL) == !isnan(k.eps_r))
            ec_lua_fail(L, "%s: give itu or eps_r, one of them", what);
        if (k.itu && (k.conductivity > 0 || k.loss_tangent > 0))
            ec_lua_fail(L, "%s: conductivity and loss_tangent go with eps_r, not with itu", what);
        if (k.itu)
            read_class(L, what, k.itu, m);
        else if (ec_material_constant(name, k.eps_r, k.conductivity, k.loss_tangent, 0, m) != EC_OK)
            ec_lua_fail_core(L, what);
        if (k.thickness > 0 && m->kind == EC_MATERIAL_PEC)
            ec_lua_fail(L, "%s: nothing passes through a perfect conductor: no thickness", what);
        m->thickness = k.thickness;
    } else {
        ec_lua_fail(L, "%s: wants a material's name or a table of figures, got a %s", what,
                    luaL_typename(L, index));
    }
    lua_settop(L, top);
    ec_material_rename(m, name);
}

/* The material called `name` in the script's `materials`; false when it is not there. */
static bool named_material(lua_State *L, making *m, int materials, const char *name,
                           ec_material *to)
{
    if (!materials || !name[0])
        return false;
    int i = 0, at = -1;
    for (lua_pushnil(L); lua_next(L, materials); lua_pop(L, 1), i++)
        if (strcmp(lua_tostring(L, -2), name) == 0)
            at = i;
    if (at < 0)
        return false;
    m->used[at] = true;
    lua_getfield(L, materials, name);
    const char *what = lua_pushfstring(L, "ec.scene: key 'materials': '%s'", name);
    read_material(L, -2, what, name, to);
    return true;
}

/* Names only, and room to note which of them were used. */
static void check_materials(lua_State *L, making *m, int materials)
{
    if (!materials)
        return;
    if (!lua_istable(L, materials))
        ec_lua_fail(L,
                    "ec.scene: key 'materials': wants a table of names, as in { wall = "
                    "\"itu_concrete\" }, got a %s",
                    luaL_typename(L, materials));
    for (lua_pushnil(L); lua_next(L, materials); lua_pop(L, 1), m->n_named++)
        if (lua_type(L, -2) != LUA_TSTRING)
            ec_lua_fail(L, "ec.scene: key 'materials': wants names with a material each, as in { "
                           "wall = \"itu_concrete\" }");
    m->used = lua_newuserdatauv(L, (size_t)m->n_named + 1, 0);
    memset(m->used, 0, (size_t)m->n_named + 1);
}

/* Every name has to stand for something: a mistyped one would be silently another material. */
static void check_used(lua_State *L, const making *m, int materials)
{
    int i = 0;
    if (!materials)
        return;
    for (lua_pushnil(L); lua_next(L, materials); lua_pop(L, 1), i++) {
        if (m->used[i])
            continue;
        const char *names[64];
        int n = 0;
        luaL_Buffer b;
        const char *name = lua_tostring(L, -2);
        for (int32_t j = 0; j < m->read.meshes.count && n + 2 <= 64; j++) {
            const ec_mesh *mesh = &m->read.meshes.mesh[j];
            if (mesh->material[0])
                names[n++] = mesh->material;
            names[n++] = mesh->name;
        }
        const char *near = ec_lua_nearest(name, names, n);
        if (near)
            ec_lua_fail(L,
                        "ec.scene: key 'materials': nothing is made of '%s' (did you mean '%s'?)",
                        name, near);
        luaL_buffinit(L, &b);
        for (int j = 0; j < n; j++) {
            bool before = false;
            for (int k = 0; k < j; k++)
                before = before || strcmp(names[j], names[k]) == 0;
            if (before)
                continue;
            luaL_addstring(&b, j ? ", " : ": it has ");
            luaL_addstring(&b, names[j]);
        }
        luaL_pushresult(&b);
        ec_lua_fail(
            L, "ec.scene: key 'materials': nothing in the scene is made of '%s' or called so%s",
            name, n ? lua_tostring(L, -1) : "");
    }
}

/* A known name without the ".001" that programs add to copies. */
static bool known_material(const char *name, ec_material *to)
{
    char plain[EC_MATERIAL_NAME];
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof plain)
        return false;
    memcpy(plain, name, n + 1);
    char *dot = strrchr(plain, '.');
    if (dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1))
        *dot = 0;
    if (ec_material_by_name(plain, to) != EC_OK)
        return false;
    ec_material_rename(to, name);
    return true;
}

/* By the script's materials, the file's own figures, its name, the script's default. */
static void material_of_mesh(lua_State *L, making *m, const scene_keys *k, const ec_mesh *mesh,
                             ec_material *to)
{
    if (named_material(L, m, k->materials, mesh->material, to) ||
        named_material(L, m, k->materials, mesh->name, to))
        return;
    for (int32_t i = 0; i < m->read.n_materials; i++)
        if (strcmp(m->read.material[i].name, mesh->material) == 0) {
            *to = m->read.material[i];
            return;
        }
    if (known_material(mesh->material, to))
        return;
    if (k->material) {
        const char *own =
            lua_type(L, k->material) == LUA_TSTRING ? lua_tostring(L, k->material) : "material";
        read_material(L, k->material, "ec.scene: key 'material'",
                      mesh->material[0] ? mesh->material : own, to);
        return;
    }
    const char *name = mesh->material[0] ? mesh->material : mesh->name;
    ec_lua_fail(
        L,
        "ec.scene: object '%s' of '%s' %s%s%s: say what it is, as in materials = { [\"%s\"] "
        "= \"itu_concrete\" }, or give material = ... for all such",
        mesh->name, k->file,
        mesh->material[0] ? "is of the unknown material '"
                          : "has no "
                            "material",
        mesh->material, mesh->material[0] ? "'" : "", name);
}

static int32_t add_material(lua_State *L, making *m, const ec_material *material)
{
    int32_t index;
    if (ec_scene_builder_material(m->builder, material, &index) != EC_OK)
        ec_lua_fail_core(L, "ec.scene");
    return index;
}

/* ---- files ----------------------------------------------------------------------------------------- */

static bool may_read(void *user, const char *path)
{
    char real[PATH_MAX];
    return ec_lua_files_resolve(user, path, real, sizeof real) == EC_OK;
}

/* In any case. */
static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    for (size_t i = 0; n >= m && i < m; i++)
        if (tolower((unsigned char)path[n - m + i]) != ending[i])
            return false;
    return n >= m;
}

static void take_bytes(lua_State *L, making *m, size_t bytes)
{
    ec_lua_budget_take(L, bytes);
    m->bytes += bytes;
}

static void read_file(lua_State *L, making *m, const scene_keys *k)
{
    char real[PATH_MAX];
    ec_mesh_import_info info;
    if (!k->file)
        return;
    if (ec_lua_files_resolve(L, k->file, real, sizeof real) != EC_OK)
        ec_lua_fail_core(L, "ec.scene: key 'file'");
    ec_mesh_import_info_default(&info);
    info.unit = k->unit;
    info.y_up =
        k->up == 2 || (k->up == 0 && (has_ending(real, ".gltf") || has_ending(real, ".glb")));
    info.may_read = may_read;
    info.user = L;
    lua_State *caller = ec_lua_core_enter(L);
    int rc = has_ending(real, ".xml") ? ec_scene_xml_read(real, &info, &m->read)
                                      : ec_mesh_import(real, &info, &m->read.meshes);
    ec_lua_core_leave(L, caller);
    if (rc != EC_OK)
        ec_lua_fail_core(L, "ec.scene: key 'file'");
    if (m->read.meshes.left_out > 0)
        ec_log_write(ec_lua_host_of(L)->settings.log, EC_LOG_INFO,
                     "%s: %lld points, lines and faces of less than three corners are left out",
                     k->file, (long long)m->read.meshes.left_out);
    size_t bytes = 0;
    for (int32_t i = 0; i < m->read.meshes.count; i++) {
        const ec_mesh *mesh = &m->read.meshes.mesh[i];
        size_t vertices = (size_t)mesh->n_vertices * sizeof *mesh->vertex;
        size_t triangles = (size_t)mesh->n_triangles * sizeof *mesh->triangle;
        bytes += vertices + triangles;
        ec_lua_files_note(L, mesh->vertex, vertices);
        ec_lua_files_note(L, mesh->triangle, triangles);
    }
    take_bytes(L, m, bytes);
    for (int32_t i = 0; i < m->read.meshes.count; i++) {
        const ec_mesh *mesh = &m->read.meshes.mesh[i];
        ec_material material;
        int top = lua_gettop(L);
        material_of_mesh(L, m, k, mesh, &material);
        lua_settop(L, top);
        if (ec_scene_builder_mesh(m->builder, mesh->name, add_material(L, m, &material), mesh) !=
            EC_OK)
            ec_lua_fail_core(L, "ec.scene");
    }
}

/* ---- shapes ---------------------------------------------------------------------------------------- */

static void material_of_shape(lua_State *L, making *m, const scene_keys *k,
                              const ec_lua_shape *shape, const ec_lua_shape_keys *keys,
                              const char *name, ec_material *to)
{
    double figure[3] = {1, 0, 0};
    const int given[3] = {keys->eps_r, keys->conductivity, keys->loss_tangent};
    const char *what = lua_pushfstring(L, "%s: key 'material'", shape->noun->name);
    if (keys->eps_r) {
        for (int i = 0; i < 3; i++) {
            ec_lua_list list;
            if (!given[i])
                continue;
            ec_lua_list_get(L, given[i], shape->noun->name, &list);
            figure[i] = list.v[0];
        }
        if (ec_material_constant(name, figure[0], figure[1], figure[2], 0, to) != EC_OK)
            ec_lua_fail_core(L, shape->noun->name);
    } else if (!keys->material && k->material) {
        const char *own =
            lua_type(L, k->material) == LUA_TSTRING ? lua_tostring(L, k->material) : "material";
        read_material(L, k->material, "ec.scene: key 'material'", own, to);
    } else if (!keys->material) {
        ec_material_pec("pec", to);
    } else if (lua_type(L, keys->material) != LUA_TSTRING ||
               !named_material(L, m, k->materials, lua_tostring(L, keys->material), to)) {
        read_material(L, keys->material, what,
                      lua_type(L, keys->material) == LUA_TSTRING ? lua_tostring(L, keys->material)
                                                                 : name,
                      to);
    }
}

static void add_shape(lua_State *L, making *m, const scene_keys *k, int index)
{
    ec_lua_shape_keys keys;
    ec_shape shape;
    ec_material material;
    int top = lua_gettop(L);
    luaL_checkstack(L, 60, "too many shapes");
    const ec_lua_shape *from = ec_lua_shape_read(L, index, &keys);
    ec_lua_shape_refuse(L, from, &keys, EC_LUA_SHAPE_FDTD, "ec.scene");
    const char *name = keys.name ? keys.name : from->noun->name + 3;
    ec_lua_shape_numbers(L, from, &keys, &shape);
    material_of_shape(L, m, k, from, &keys, name, &material);
    if (ec_scene_builder_shape(m->builder, name, add_material(L, m, &material), &shape) != EC_OK)
        ec_lua_fail_core(L, "ec.scene");
    lua_settop(L, top);
}

/* ---- ec.scene --------------------------------------------------------------------------------------- */

/* Of the table at index: pushes one of its keys and one of its list, which hold shapes. */
static int32_t split_table(lua_State *L, int index)
{
    int32_t n = ec_lua_table_split(L, index, "ec.scene");
    int list = lua_gettop(L);
    for (int32_t i = 1; i <= n; i++) {
        lua_rawgeti(L, list, i);
        if (!ec_lua_shape_test(L, -1))
            ec_lua_fail(
                L, "ec.scene: entry %d is a %s; without a key there are shapes, as ec.box{ ... }",
                (int)i, luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    return n;
}

/* What the scene keeps. */
static size_t bytes_of(const ec_scene *s)
{
    return (size_t)s->n_vertices * 3 * sizeof *s->vertex +
           (size_t)s->n_triangles * (sizeof *s->triangle + 2 * sizeof *s->part) +
           (size_t)s->n_facets * sizeof *s->facet + (size_t)s->n_wedges * sizeof *s->wedge +
           (size_t)s->n_surfaces * sizeof *s->surface;
}

void ec_lua_scene_say(lua_State *L, int index)
{
    ec_lua_scene *scene = luaL_checkudata(L, index, EC_LUA_SCENE);
    char text[512];
    if (scene->said)
        return;
    scene->said = true;
    ec_scene_report_text(scene->scene, text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    ec_log_write(ec_lua_host_of(L)->settings.log, EC_LOG_INFO, "%s", text);
}

static int scene_new(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    scene_keys k = {0};
    ec_scene_options options;
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "ec.scene: wants a table, as in %s, got a %s", ec_noun_scene.usage,
                    luaL_typename(L, 1));
    int n_shapes = split_table(L, 1); /* 2: keys, 3: shapes */
    ec_lua_keys_parse(L, 2, &ec_noun_scene, &k, NULL);
    if (k.materials && lua_istable(L, k.materials)) /* which no finalizer may change meanwhile */
        k.materials = ec_lua_table_copy(L, k.materials);
    if (!k.file && n_shapes == 0)
        ec_lua_fail(L, "ec.scene: the scene is empty: give a file, or shapes as ec.box{ ... }");

    making *m = lua_newuserdatauv(L, sizeof *m, 0);
    *m = (making){0};
    luaL_setmetatable(L, MAKING);
    ec_lua_scene *scene = lua_newuserdatauv(L, sizeof *scene, 0);
    *scene = (ec_lua_scene){0};
    luaL_setmetatable(L, EC_LUA_SCENE);
    int result = lua_gettop(L);
    if (ec_scene_builder_create(&m->builder) != EC_OK)
        ec_lua_fail_core(L, "ec.scene");
    check_materials(L, m, k.materials);
    double begun = ec_lua_budget_clock(&host->budget);
    read_file(L, m, &k);
    for (int i = 1; i <= n_shapes; i++) {
        lua_rawgeti(L, 3, i);
        add_shape(L, m, &k, lua_gettop(L));
        lua_pop(L, 1);
    }
    check_used(L, m, k.materials);
    ec_mesh_list_clear(&m->read.meshes);
    ec_scene_options_default(&options);
    options.weld_tolerance = k.weld;
    options.crease_deg = k.crease_deg;
    options.exact = k.exact;
    lua_State *caller = ec_lua_core_enter(L);
    int rc = ec_scene_build(m->builder, &options, &scene->scene);
    ec_lua_core_leave(L, caller);
    if (rc != EC_OK)
        ec_lua_fail_core(L, "ec.scene");
    ec_scene_builder_destroy(&m->builder);
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    size_t bytes = bytes_of(scene->scene);
    ec_lua_budget_take(L, bytes);
    scene->bytes = bytes;
    ec_scene_report_warn(scene->scene, host->settings.log);
    lua_pushvalue(L, result);
    return 1;
}

/* ---- a scene ----------------------------------------------------------------------------------------- */

const ec_lua_scene *ec_lua_scene_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, EC_LUA_SCENE);
}

static const ec_scene *scene_at(lua_State *L, const char *what)
{
    const ec_lua_scene *scene = ec_lua_scene_test(L, 1);
    if (!scene || !scene->scene)
        ec_lua_fail(L, "%s: call it with a colon on a scene of ec.scene", what);
    return scene->scene;
}

static int scene_gc(lua_State *L)
{
    ec_lua_scene *scene = lua_touserdata(L, 1);
    ec_scene_destroy(&scene->scene);
    ec_lua_budget_give(&ec_lua_host_of(L)->budget, scene->bytes);
    scene->bytes = 0;
    return 0;
}

static int scene_report(lua_State *L)
{
    const ec_scene *scene = scene_at(L, "scene:report");
    ((ec_lua_scene *)lua_touserdata(L, 1))->said = true;
    size_t size = ec_scene_report_text(scene, NULL, 0) + 1;
    char *text = lua_newuserdatauv(L, size, 0);
    ec_scene_report_text(scene, text, size);
    lua_pushstring(L, text);
    return 1;
}

static int scene_save(lua_State *L)
{
    const ec_scene *scene = scene_at(L, "scene:save");
    char path[PATH_MAX];
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L,
                    "scene:save: wants the name of a file, as in scene:save(\"scene.ply\"), got a "
                    "%s",
                    luaL_typename(L, 2));
    if (ec_lua_files_target(L, lua_tostring(L, 2), path, sizeof path) != EC_OK ||
        ec_scene_save(scene, path) != EC_OK)
        ec_lua_fail_core(L, "scene:save");
    return 0;
}

static int scene_surface(lua_State *L)
{
    const ec_scene *scene = scene_at(L, "scene:surface");
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "scene:surface: wants the name of an object, got a %s", luaL_typename(L, 2));
    const char *name = lua_tostring(L, 2), *names[128];
    bool known = false;
    int n = 0;
    for (int32_t i = 0; i < scene->n_objects; i++) {
        known = known || strcmp(scene->object[i], name) == 0;
        if (n < 128)
            names[n++] = scene->object[i];
    }
    if (!known) {
        const char *near = ec_lua_nearest(name, names, n);
        ec_lua_fail(L, "scene:surface: the scene has no object '%s'%s%s%s; it has %s", name,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                    ec_lua_push_names(L, names, n));
    }
    lua_newuserdatauv(L, 1, 2);
    luaL_setmetatable(L, EC_LUA_SCENE_SURFACE);
    for (int i = 1; i <= 2; i++) {
        lua_pushvalue(L, i);
        lua_setiuservalue(L, -2, i);
    }
    return 1;
}

static void push_corner(lua_State *L, const double p[3])
{
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushnumber(L, p[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static int scene_index(lua_State *L)
{
    static const struct {
        const char *name;
        lua_CFunction method;
    } methods[] = {{"report", scene_report}, {"save", scene_save}, {"surface", scene_surface}};
    static const char *const names[] = {"report",      "save",     "surface",
                                        "n_triangles", "n_facets", "n_wedges",
                                        "n_surfaces",  "low",      "high"};
    const ec_scene *s = scene_at(L, "scene");
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(name, methods[i].name) == 0) {
            lua_pushcfunction(L, methods[i].method);
            return 1;
        }
    const struct {
        const char *name;
        int32_t value;
    } counts[] = {{"n_triangles", s->n_triangles},
                  {"n_facets", s->n_facets},
                  {"n_wedges", s->n_wedges},
                  {"n_surfaces", s->n_surfaces}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(name, counts[i].name) == 0) {
            lua_pushinteger(L, counts[i].value);
            return 1;
        }
    if (strcmp(name, "low") == 0 || strcmp(name, "high") == 0) {
        push_corner(L, name[0] == 'l' ? s->low : s->high);
        return 1;
    }
    const char *near = ec_lua_nearest(name, names, (int)(sizeof names / sizeof *names));
    ec_lua_fail(L, "a scene has no '%s'%s%s%s", luaL_tolstring(L, 2, NULL),
                near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* ---- places on a surface ------------------------------------------------------------------------------ */

static void read_corner(lua_State *L, int box, const char *key, int number, double to[3])
{
    ec_lua_list list;
    const char *what =
        lua_pushfstring(L, "surface:grid: key 'keep_out': box %d: '%s'", number, key);
    lua_getfield(L, box, key);
    ec_lua_list_get(L, -1, what, &list);
    if (list.n != 3)
        ec_lua_fail(L, "%s: wants a place {x, y, z}, got %d numbers", what, (int)list.n);
    for (int i = 0; i < 3; i++)
        to[i] = list.v[i];
}

static void read_boxes(lua_State *L, int index, ec_scene_grid *grid)
{
    if (!index)
        return;
    if (!lua_istable(L, index))
        ec_lua_fail(L,
                    "surface:grid: key 'keep_out': wants a list of boxes, as in { { from = {0, 0, "
                    "2}, to = {1, 1, 3} } }, got a %s",
                    luaL_typename(L, index));
    int32_t n = ec_lua_list_length(L, index, "surface:grid: key 'keep_out'");
    double(*box)[2][3] = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *box, 0);
    for (int32_t i = 0; i < n; i++) {
        int top = lua_gettop(L);
        lua_rawgeti(L, index, i + 1);
        if (!lua_istable(L, -1))
            ec_lua_fail(L,
                        "surface:grid: key 'keep_out': box %d is a %s, wants { from = {x, y, z}, "
                        "to = {x, y, z} }",
                        (int)i + 1, luaL_typename(L, -1));
        read_corner(L, top + 1, "from", i + 1, box[i][0]);
        read_corner(L, top + 1, "to", i + 1, box[i][1]);
        lua_settop(L, top);
    }
    grid->n_boxes = n;
    grid->box = (const double(*)[2][3])box;
}

/* Owns the places until they are lists of Lua's. */
#define PLACES "places of a surface"
typedef struct places {
    double (*point)[3];
} places;

static int places_gc(lua_State *L)
{
    places *p = lua_touserdata(L, 1);
    free(p->point);
    p->point = NULL;
    return 0;
}

static int surface_grid(lua_State *L)
{
    static const char *const axes[] = {"x", "y", "z"};
    grid_keys k;
    int32_t n = 0;
    if (!luaL_testudata(L, 1, EC_LUA_SCENE_SURFACE))
        ec_lua_fail(L, "surface:grid: call it with a colon on scene:surface(name)");
    if (lua_type(L, 2) != LUA_TNUMBER)
        ec_lua_fail(L, "surface:grid: wants a step in m, as in %s, got a %s", ec_noun_grid.usage,
                    luaL_typename(L, 2));
    ec_scene_grid grid = {.step = lua_tonumber(L, 2)};
    ec_lua_keys_parse(L, 3, &ec_noun_grid, &k, NULL);
    grid.clearance = isnan(k.clearance) ? grid.step / 10 : k.clearance;
    grid.inset = isnan(k.inset) ? grid.clearance : k.inset;
    if (k.facing.v && k.facing.n != 3)
        ec_lua_fail(L, "surface:grid: key 'facing': wants a direction {x, y, z}, got %d numbers",
                    (int)k.facing.n);
    for (int i = 0; k.facing.v && i < 3; i++)
        grid.facing[i] = k.facing.v[i];
    read_boxes(L, k.keep_out, &grid);
    places *p = lua_newuserdatauv(L, sizeof *p, 0);
    p->point = NULL;
    luaL_setmetatable(L, PLACES);
    lua_getiuservalue(L, 1, 1);
    lua_getiuservalue(L, 1, 2);
    const ec_scene *scene = ec_lua_scene_test(L, -2)->scene;
    const char *name = lua_tostring(L, -1);
    if (ec_scene_grid_points(scene, name, &grid, &p->point, &n) != EC_OK)
        ec_lua_fail_core(L, "surface:grid");
    if (n == 0)
        ec_lua_fail(L, "surface:grid: no place is left on '%s': step %g m, inset %g m%s%s", name,
                    grid.step, grid.inset, k.facing.v ? ", facing" : "",
                    grid.n_boxes ? ", keep_out" : "");
    lua_newtable(L);
    for (int i = 0; i < 3; i++) {
        double *to = ec_lua_values_new(L, n);
        for (int32_t j = 0; j < n; j++)
            to[j] = p->point[j][i];
        lua_setfield(L, -2, axes[i]);
    }
    lua_pushinteger(L, n);
    lua_setfield(L, -2, "n");
    return 1;
}

static int surface_index(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(name, "grid") != 0)
        ec_lua_fail(L, "a surface of a scene has no '%s'; it has grid", luaL_tolstring(L, 2, NULL));
    lua_pushcfunction(L, surface_grid);
    return 1;
}

/* ---- module ------------------------------------------------------------------------------------------- */

static void new_type(lua_State *L, const char *name, lua_CFunction index, lua_CFunction gc)
{
    luaL_newmetatable(L, name);
    if (index) {
        lua_pushcfunction(L, index);
        lua_setfield(L, -2, "__index");
    }
    if (gc) {
        lua_pushcfunction(L, gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void ec_lua_scene_open(lua_State *L)
{
    new_type(L, EC_LUA_SCENE, scene_index, scene_gc);
    new_type(L, EC_LUA_SCENE_SURFACE, surface_index, NULL);
    new_type(L, MAKING, NULL, making_gc);
    new_type(L, PLACES, NULL, places_gc);
    lua_pushcfunction(L, scene_new);
    lua_setfield(L, -2, "scene");
    ec_lua_shapes_open(L);
}
