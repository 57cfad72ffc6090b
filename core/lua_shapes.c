#include "lua_shapes.h"

#include <math.h>

#include "lua_expr.h"

/* ---- keys ------------------------------------------------------------------------------------- */

#define ROW(key, kind, flags, initial, min, max, unit, help)                                       \
    {                                                                                              \
#key, kind, flags, initial, min, max, unit, NULL, help, offsetof(ec_lua_shape_keys, key)   \
    }
#define FAR              1e9 /* m: rays are traced in single precision, whose squares would overflow beyond */
#define PLACE(key, help) ROW(key, EC_KEY_QUANTITY, 0, NAN, -FAR, FAR, "m", help)
#define SIZE(key, help)  ROW(key, EC_KEY_QUANTITY, EC_KEY_ABOVE, NAN, 0, FAR, "m", help)
#define LENGTH(key, help)                                                                          \
    ROW(key, EC_KEY_QUANTITY, EC_KEY_ABOVE | EC_KEY_SINGLE | EC_KEY_REQUIRED, NAN, 0, FAR, "m",    \
        help)
#define DIRECTION(key, help) ROW(key, EC_KEY_QUANTITY, 0, NAN, -INFINITY, INFINITY, NULL, help)
#define WHOLE(key, initial, least, most, help)                                                     \
    ROW(key, EC_KEY_INTEGER, 0, initial, least, most, NULL, help)
#define FLAG(key, initial, help) ROW(key, EC_KEY_FLAG, 0, initial, 0, 0, NULL, help)
#define FIGURE(key, least, most, unit, help)                                                       \
    ROW(key, EC_KEY_QUANTITY, EC_KEY_SINGLE, NAN, least, most, unit, help)

#define NAME ROW(name, EC_KEY_STRING, 0, NAN, 0, 0, NULL, "what it is called (default: its kind)")
#define MATERIAL                                                                                   \
    ROW(material, EC_KEY_ANY, 0, NAN, 0, 0, NULL,                                                  \
        "a name (pec, itu_concrete, ...; default pec) or a table of figures, as in the "           \
        "materials of ec.scene and ec.fdtd"),                                                      \
        FIGURE(eps_r, 1, EC_LUA_LARGEST_RELATIVE, NULL,                                            \
               "relative permittivity, instead of material"),                                      \
        FIGURE(conductivity, 0, EC_LUA_LARGEST_CONDUCTIVITY, "S/m", "with eps_r (default 0)"),     \
        FIGURE(loss_tangent, 0, EC_LUA_LARGEST_TANGENT, NULL, "with eps_r (default 0)")
#define PRIORITY                                                                                   \
    ROW(priority, EC_KEY_NUMBER, 0, 0, -INFINITY, INFINITY, NULL,                                  \
        "of ec.fdtd: where objects overlap the higher one counts, of equal ones the later")
#define VOLUME                                                                                     \
    MATERIAL, PRIORITY,                                                                            \
        FIGURE(mu_r, 1, EC_LUA_LARGEST_RELATIVE, NULL,                                             \
               "with eps_r, of ec.fdtd: relative permeability (default 1)"),                       \
        FIGURE(magnetic_conductivity, 0, EC_LUA_LARGEST_CONDUCTIVITY, "ohm/m",                     \
               "with eps_r, of ec.fdtd (default 0)"),                                              \
        ROW(loss_frequency, EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz",                   \
            "of ec.fdtd: where loss_tangent holds, which becomes a conductivity (default: the "    \
            "middle of the frequencies)"),                                                         \
        ROW(poles, EC_KEY_ANY, 0, NAN, 0, 0, NULL,                                                 \
            "with eps_r, of ec.fdtd: a list of ec.debye{ ... }, ec.drude{ ... }, ec.lorentz{ ... " \
            "} "                                                                                   \
            "that are added to eps_r")
#define SIDES WHOLE(sides, 72, 3, 100000, "flat sides around, for what needs triangles")
#define DIVISIONS                                                                                  \
    WHOLE(divisions, 1, 1, 10000, "of faces along each side, of mantles along the axis")
#define INWARD FLAG(inward, 0, "the outside is within: a room, a tunnel")
#define CAPS   FLAG(caps, 1, "with its flat ends")

static const ec_key plate_table[] = {
    NAME,
    MATERIAL,
    ROW(size, EC_KEY_QUANTITY, EC_KEY_ABOVE | EC_KEY_REQUIRED, NAN, 0, FAR, "m",
        "{a, b}: along x and y; of one that stands, along the horizontal and up"),
    PLACE(at, "its middle (default {0, 0, 0})"),
    DIRECTION(normal, "across it, to its front (default {0, 0, 1})"),
    DIVISIONS,
    PRIORITY,
    FIGURE(ohms, 1e-6, 1e12, "ohm",
           "of ec.fdtd: resistance of a square of a thin sheet, instead of pec")};

static const ec_key box_table[] = {NAME,
                                   VOLUME,
                                   ROW(size, EC_KEY_QUANTITY, EC_KEY_ABOVE | EC_KEY_REQUIRED, NAN,
                                       0, FAR, "m", "{x, y, z} before it is turned"),
                                   PLACE(at, "its middle (default {0, 0, 0})"),
                                   ROW(rotate_deg, EC_KEY_QUANTITY, EC_KEY_SINGLE, NAN, -INFINITY,
                                       INFINITY, "deg", "turned about z (default 0)"),
                                   DIVISIONS,
                                   INWARD};

static const ec_key wedge_table[] = {
    NAME,
    MATERIAL,
    ROW(angle_deg, EC_KEY_QUANTITY, EC_KEY_SINGLE | EC_KEY_ABOVE | EC_KEY_REQUIRED, NAN, 0, 179.9,
        "deg", "within the body, at its edge"),
    LENGTH(length, "of its edge"),
    LENGTH(width, "of the two faces, from the edge"),
    PLACE(at, "the middle of its edge (default {0, 0, 0})"),
    DIRECTION(axis, "along its edge (default {0, 0, 1})"),
    DIRECTION(towards, "from its edge into the body (default {1, 0, 0})"),
    DIVISIONS};

#define INNER                                                                                      \
    ROW(inner_radius, EC_KEY_QUANTITY, EC_KEY_SINGLE, NAN, 0, INFINITY, "m",                       \
        "of ec.fdtd: hollow up to it (default 0)")

static const ec_key cylinder_table[] = {
    NAME,
    VOLUME,
    LENGTH(radius, "of the true shape, on which its corners lie"),
    INNER,
    LENGTH(length, "along its axis"),
    PLACE(at, "its middle (default {0, 0, 0})"),
    DIRECTION(axis, "default {0, 0, 1}"),
    SIDES,
    DIVISIONS,
    CAPS,
    INWARD};

static const ec_key sphere_table[] = {NAME,
                                      VOLUME,
                                      LENGTH(radius, "of the true shape, on which its corners lie"),
                                      INNER,
                                      PLACE(at, "its middle (default {0, 0, 0})"),
                                      SIDES,
                                      INWARD};

static const ec_key cone_table[] = {
    NAME,
    MATERIAL,
    LENGTH(radius, "of its base"),
    LENGTH(length, "from its base to its apex"),
    PLACE(at, "the middle of its base (default {0, 0, 0})"),
    DIRECTION(axis, "from its base to its apex (default {0, 0, 1})"),
    SIDES,
    DIVISIONS,
    CAPS,
    INWARD};

static const ec_key ground_table[] = {NAME, MATERIAL,
                                      ROW(size, EC_KEY_QUANTITY, EC_KEY_ABOVE | EC_KEY_REQUIRED,
                                          NAN, 0, INFINITY, "m",
                                          "{x, y} that the scene needs of it"),
                                      PLACE(at, "its middle (default {0, 0, 0})"), DIVISIONS};

static const ec_key canyon_table[] = {
    NAME, MATERIAL,
    ROW(size, EC_KEY_QUANTITY, EC_KEY_ABOVE | EC_KEY_REQUIRED, NAN, 0, FAR, "m",
        "{length along x, width along y, height}"),
    PLACE(at, "the middle of its floor (default {0, 0, 0})"), DIVISIONS};

const ec_noun ec_noun_plate = {
    "ec.plate", "ec.plate{ size = {50, 15}, at = {30, 0, 0} }",
    "A flat rectangle without a thickness, which scatters on both sides.", EC_KEYS(plate_table)};
const ec_noun ec_noun_box = {"ec.box", "ec.box{ size = {4, 6, 10}, at = {0, 0, 5} }",
                             "A cuboid; inward: a room.", EC_KEYS(box_table)};
const ec_noun ec_noun_wedge = {"ec.wedge", "ec.wedge{ angle_deg = 90, length = 20, width = 10 }",
                               "A prism with one edge of a given angle.", EC_KEYS(wedge_table)};
const ec_noun ec_noun_cylinder = {"ec.cylinder",
                                  "ec.cylinder{ radius = 10, length = 15, sides = 360 }",
                                  "A round cylinder. Its sides are flat for what is traced through "
                                  "it only: reflections are those "
                                  "of the true shape.",
                                  EC_KEYS(cylinder_table)};
const ec_noun ec_noun_sphere = {"ec.sphere", "ec.sphere{ radius = 0.5, at = {0, 0, 2} }",
                                "A sphere; reflections are those of the true shape.",
                                EC_KEYS(sphere_table)};
const ec_noun ec_noun_cone = {"ec.cone", "ec.cone{ radius = 1, length = 2 }",
                              "A round cone; reflections are those of the true shape.",
                              EC_KEYS(cone_table)};
const ec_noun ec_noun_ground = {
    "ec.ground", "ec.ground{ size = {200, 200}, material = \"itu_wet_ground\" }",
    "A level ground, solid below; its outline does not diffract.", EC_KEYS(ground_table)};
const ec_noun ec_noun_canyon = {
    "ec.canyon", "ec.canyon{ size = {100, 20, 30}, material = \"itu_brick\" }",
    "The two walls of a street along x, facing each other, solid behind; their outlines do not "
    "diffract. Its floor is an ec.ground.",
    EC_KEYS(canyon_table)};

static const ec_noun *const nouns[] = {
    [EC_SHAPE_PLATE] = &ec_noun_plate,   [EC_SHAPE_BOX] = &ec_noun_box,
    [EC_SHAPE_WEDGE] = &ec_noun_wedge,   [EC_SHAPE_CYLINDER] = &ec_noun_cylinder,
    [EC_SHAPE_SPHERE] = &ec_noun_sphere, [EC_SHAPE_CONE] = &ec_noun_cone,
    [EC_SHAPE_GROUND] = &ec_noun_ground, [EC_SHAPE_CANYON] = &ec_noun_canyon};
enum { SHAPES = sizeof nouns / sizeof *nouns };

/* ---- making ------------------------------------------------------------------------------------ */

/* Quantities whose length is fixed: how many numbers, 0 for a single one. */
static const struct {
    const char *key;
    size_t offset;
    int count; /* -1: of the noun's size */
} lists[] = {{"size", offsetof(ec_lua_shape_keys, size), -1},
             {"at", offsetof(ec_lua_shape_keys, at), 3},
             {"normal", offsetof(ec_lua_shape_keys, normal), 3},
             {"axis", offsetof(ec_lua_shape_keys, axis), 3},
             {"towards", offsetof(ec_lua_shape_keys, towards), 3}};
enum { LISTS = sizeof lists / sizeof *lists };

static int count_of(int i, ec_shape_kind kind)
{
    if (lists[i].count > 0)
        return lists[i].count;
    return kind == EC_SHAPE_BOX || kind == EC_SHAPE_CANYON ? 3 : 2;
}

static int length_of(lua_State *L, int index)
{
    const ec_lua_expr *expr = luaL_testudata(L, index, EC_LUA_EXPR);
    if (expr)
        return (int)ec_lua_expr_node(L, expr->expr)->elements;
    return lua_istable(L, index) ? (int)lua_rawlen(L, index) : 1;
}

/* A third size, mostly 0, of what has two is named before its value is looked at. */
static void check_sizes(lua_State *L, int index, ec_shape_kind kind)
{
    lua_pushliteral(L, "size");
    if (lua_rawget(L, index) == LUA_TTABLE && lua_rawlen(L, -1) == 3 && count_of(0, kind) == 2)
        ec_lua_fail(L, "%s: key 'size': wants 2 numbers, got 3: %s has two sizes",
                    nouns[kind]->name, kind == EC_SHAPE_PLATE ? "a plate" : "it");
    lua_pop(L, 1);
}

static void parse(lua_State *L, int index, ec_shape_kind kind, ec_lua_shape_keys *keys)
{
    const ec_noun *noun = nouns[kind];
    check_sizes(L, index, kind);
    *keys = (ec_lua_shape_keys){.caps = true, .sides = 72, .divisions = 1, .loss_frequency = NAN};
    keys->given = ec_lua_keys_parse(L, index, noun, keys, NULL);
    for (int i = 0; i < LISTS; i++) {
        int at = *(const int *)((const char *)keys + lists[i].offset);
        if (at && length_of(L, at) != count_of(i, kind))
            ec_lua_fail(L, "%s: key '%s': wants %d numbers, got %d", noun->name, lists[i].key,
                        count_of(i, kind), length_of(L, at));
    }
    if (keys->material && keys->eps_r)
        ec_lua_fail(L, "%s: give material or eps_r, not both", noun->name);
    static const char *const figures[] = {"conductivity", "loss_tangent", "mu_r",
                                          "magnetic_conductivity", "poles"};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!keys->eps_r && ec_lua_keys_given(noun, keys->given, figures[i]))
            ec_lua_fail(L, "%s: key '%s': it goes with eps_r", noun->name, figures[i]);
    if (!isnan(keys->loss_frequency) && !keys->loss_tangent)
        ec_lua_fail(L, "%s: key 'loss_frequency': it goes with loss_tangent", noun->name);
}

static int shape_new(lua_State *L)
{
    ec_shape_kind kind = (ec_shape_kind)lua_tointeger(L, lua_upvalueindex(1));
    ec_lua_shape_keys keys;
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "%s: wants a table of keys, as in %s, got a %s", nouns[kind]->name,
                    nouns[kind]->usage, luaL_typename(L, 1));
    ec_lua_keys_copy(L, 1, nouns[kind]); /* a copy that no finalizer of the script changes */
    parse(L, 1, kind, &keys);            /* for keys that are not the noun's */
    parse(L, 2, kind, &keys);
    ec_lua_shape *shape = lua_newuserdatauv(L, sizeof *shape, 1);
    *shape = (ec_lua_shape){kind, nouns[kind]};
    luaL_setmetatable(L, EC_LUA_SHAPE);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* ---- reading ------------------------------------------------------------------------------------ */

const ec_lua_shape *ec_lua_shape_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, EC_LUA_SHAPE);
}

const ec_lua_shape *ec_lua_shape_read(lua_State *L, int index, ec_lua_shape_keys *keys)
{
    const ec_lua_shape *shape = ec_lua_shape_test(L, index);
    lua_getiuservalue(L, index, 1);
    parse(L, lua_gettop(L), shape->kind, keys);
    return shape;
}

void ec_lua_shape_refuse(lua_State *L, const ec_lua_shape *shape, const ec_lua_shape_keys *keys,
                         ec_lua_shape_only only, const char *who)
{
    static const char *const names[][8] = {
        [EC_LUA_SHAPE_FDTD] = {"priority", "mu_r", "magnetic_conductivity", "loss_frequency",
                               "poles", "ohms", "inner_radius"},
        [EC_LUA_SHAPE_SCENE] = {"sides", "divisions", "inward", "caps", "rotate_deg"}};
    for (int i = 0; names[only][i]; i++)
        if (ec_lua_keys_given(shape->noun, keys->given, names[only][i]))
            ec_lua_fail(L, "%s: %s has the key '%s', which is for %s alone", who, shape->noun->name,
                        names[only][i], only == EC_LUA_SHAPE_FDTD ? "ec.fdtd" : "ec.scene");
}

static void read_numbers(lua_State *L, const ec_noun *noun, const char *key, int index, double *to)
{
    ec_lua_list list;
    char what[80];
    if (!index)
        return;
    snprintf(what, sizeof what, "%s: key '%s'", noun->name, key);
    ec_lua_list_get(L, index, what, &list);
    for (int32_t i = 0; i < list.n; i++) /* its length was checked */
        to[i] = list.v[i];
}

void ec_lua_shape_numbers(lua_State *L, const ec_lua_shape *shape, const ec_lua_shape_keys *k,
                          ec_shape *to)
{
    const ec_noun *noun = shape->noun;
    luaL_checkstack(L, 20, "too many shapes");
    ec_shape_default(shape->kind, to);
    read_numbers(L, noun, "size", k->size, to->size);
    read_numbers(L, noun, "at", k->at, to->at);
    read_numbers(L, noun, "normal", k->normal, to->axis);
    read_numbers(L, noun, "axis", k->axis, to->axis);
    read_numbers(L, noun, "towards", k->towards, to->towards);
    ec_lua_is_direction(to->axis); /* one without a length is the scene's error, with its name */
    read_numbers(L, noun, "radius", k->radius, &to->radius);
    read_numbers(L, noun, "length", k->length, &to->length);
    read_numbers(L, noun, "width", k->width, &to->width);
    read_numbers(L, noun, "angle_deg", k->angle_deg, &to->angle_deg);
    read_numbers(L, noun, "rotate_deg", k->rotate_deg, &to->rotate_deg);
    to->sides = (int32_t)k->sides;
    to->divisions = (int32_t)k->divisions;
    to->inward = k->inward;
    to->open = !k->caps;
}

/* ---- module -------------------------------------------------------------------------------------- */

static int shape_index(lua_State *L)
{
    const ec_lua_shape *shape = ec_lua_shape_test(L, 1);
    ec_lua_fail(L, "a shape of %s has no fields: it is for ec.scene{ ... } or ec.fdtd{ ... }",
                shape ? shape->noun->name : "?");
}

void ec_lua_shapes_open(lua_State *L)
{
    luaL_newmetatable(L, EC_LUA_SHAPE);
    lua_pushcfunction(L, shape_index);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    for (int i = 0; i < SHAPES; i++) {
        lua_pushinteger(L, i);
        lua_pushcclosure(L, shape_new, 1);
        lua_setfield(L, -2, nouns[i]->name + 3); /* without "ec." */
    }
}
