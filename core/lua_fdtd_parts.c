#include "lua_fdtd_parts.h"

#include <math.h>
#include <string.h>

#include "evaluators/mimo/material.h"
#include "lua_expr.h"
#include "lua_shapes.h"
#include "lua_values.h"

#define PART "part of a model"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct part_keys {
    const char *name;
    int material, points, poles;
    int eps_r, mu_r, conductivity, magnetic_conductivity, loss_tangent;
    double loss_frequency, priority;
    int from, to, at, radius, thickness;
    int ohms, henries, farads;
    int axis, connection, line, shape, plane, shift;
    int delta, tau, omega_p, omega_0, gamma;
    int metal;
    int64_t sides;
} part_keys;

/* Beyond these a slip of the pen is likelier than a structure, and steps would lose their digits. */
#define LARGEST_LENGTH  1e6  /* m */
#define LEAST_OHMS      1e-6 /* of a port */
#define LARGEST_OHMS    1e12
#define LEAST_HENRIES   1e-18
#define LARGEST_HENRIES 1e6
#define LEAST_FARADS    1e-21
#define LARGEST_FARADS  1e6
#define LEAST_TIME      1e-21 /* s */
#define LARGEST_TIME    1e6
#define LEAST_OMEGA     1e-3 /* rad/s */
#define LARGEST_OMEGA   1e20

#define ROW(key, kind, flags, initial, min, max, unit, words, help)                                \
    {                                                                                              \
#key, kind, flags, initial, min, max, unit, words, help, offsetof(part_keys, key)          \
    }
#define PLACE(key, flags, help)                                                                    \
    ROW(key, EC_KEY_QUANTITY, flags, NAN, -INFINITY, INFINITY, "m", NULL, help)
#define FIGURE(key, flags, least, most, unit, help)                                                \
    ROW(key, EC_KEY_QUANTITY, EC_KEY_SINGLE | (flags), NAN, least, most, unit, NULL, help)
#define PRIORITY                                                                                   \
    ROW(priority, EC_KEY_NUMBER, 0, 0, -INFINITY, INFINITY, NULL, NULL,                            \
        "where objects overlap the higher one counts, of equal ones the later")
#define NAME(help)     ROW(name, EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL, help)
#define MATERIAL(help) ROW(material, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL, help)
#define FIGURES                                                                                    \
    FIGURE(mu_r, 0, 1, EC_LUA_LARGEST_RELATIVE, NULL, "relative permeability (default 1)"),        \
        FIGURE(conductivity, 0, 0, EC_LUA_LARGEST_CONDUCTIVITY, "S/m", "default 0"),               \
        FIGURE(magnetic_conductivity, 0, 0, EC_LUA_LARGEST_CONDUCTIVITY, "ohm/m", "default 0"),    \
        FIGURE(loss_tangent, 0, 0, EC_LUA_LARGEST_TANGENT, NULL, "default 0"),                     \
        ROW(loss_frequency, EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", NULL,             \
            "where loss_tangent holds, which becomes a conductivity (default: the middle of the "  \
            "frequencies)"),                                                                       \
        ROW(poles, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,                                           \
            "a list of ec.debye{ ... }, ec.drude{ ... }, ec.lorentz{ ... } that are added to "     \
            "eps_r")
#define AXIS(help) ROW(axis, EC_KEY_WORD, 0, NAN, 0, 0, NULL, "x|y|z", help)

static const ec_key wire_table[] = {
    NAME("for messages"),
    MATERIAL("\"pec\", the default"),
    PLACE(from, EC_KEY_REQUIRED, "{x, y, z} of one end"),
    PLACE(to, EC_KEY_REQUIRED, "{x, y, z} of the other one, along x, y or z from it"),
    FIGURE(radius, EC_KEY_ABOVE, 0, LARGEST_LENGTH, "m",
           "thinner than a cell (default: that of a row of edges)"),
    PRIORITY};

static const ec_key polygon_table[] = {
    NAME("for messages"),
    MATERIAL("a name of ec.fdtd's materials, \"pec\" (the default), \"air\", or a table of "
             "figures"),
    FIGURE(eps_r, 0, 1, EC_LUA_LARGEST_RELATIVE, NULL,
           "relative permittivity, instead of material"),
    FIGURES,
    ROW(points, EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, "m", NULL,
        "{ {x, y}, {x, y}, ... }: three or more corners in their order, relative to at; across x "
        "they are {y, z}, across y {z, x}"),
    PLACE(at, 0, "{x, y, z} of its origin, in its lower face (default {0, 0, 0})"),
    FIGURE(thickness, 0, 0, LARGEST_LENGTH, "m",
           "along its axis, from its origin on (default 0: a sheet)"),
    AXIS("that it is across; default z"),
    PRIORITY};

#define ENDS                                                                                       \
    PLACE(from, EC_KEY_REQUIRED, "{x, y, z} of its foot"),                                         \
        PLACE(to, EC_KEY_REQUIRED, "{x, y, z} of its other end"),                                  \
        AXIS("along which its current flows; needed where from and to differ along several: it "   \
             "is as wide as they say")

static const ec_key port_table[] = {
    NAME("what model:s and others call it (default: its number)"),
    ENDS,
    FIGURE(ohms, 0, LEAST_OHMS, LARGEST_OHMS, "ohm",
           "resistance of its source and of its waves (default 50; of a line without it: none, it "
           "goes on behind into an absorbing wall and waves are of its own impedance)"),
    ROW(line, EC_KEY_WORD, 0, NAN, 0, 0, NULL, "x|y|z|-x|-y|-z",
        "a port of a line: direction in which that runs from the port on into the structure"),
    ROW(shape, EC_KEY_WORD, 0, 0, 0, 0, NULL, "microstrip|coax",
        "of a line: from its ground to its strip, as wide as that, or from its outer conductor to "
        "the middle of its inner one"),
    FIGURE(plane, EC_KEY_ABOVE, 0, LARGEST_LENGTH, "m",
           "where the line is measured, from the port on: two cells or more, best some times its "
           "height"),
    ROW(shift, EC_KEY_QUANTITY, EC_KEY_SINGLE, NAN, -INFINITY, INFINITY, "m", NULL,
        "from there to the reference plane of its waves, positive into the structure (default 0)")};

static const ec_key source_table[] = {ROW(name, EC_KEY_STRING, EC_KEY_REQUIRED, NAN, 0, 0, NULL,
                                          NULL, "what model:modes and others call it"),
                                      ENDS};

static const ec_key lumped_table[] = {
    NAME("for messages"),
    ENDS,
    FIGURE(ohms, 0, 0, LARGEST_OHMS, "ohm", "resistance (default: none)"),
    FIGURE(henries, 0, LEAST_HENRIES, LARGEST_HENRIES, "H", "inductance (default: none)"),
    FIGURE(farads, 0, LEAST_FARADS, LARGEST_FARADS, "F", "capacitance (default: none)"),
    ROW(connection, EC_KEY_WORD, 0, 0, 0, 0, NULL, "series|parallel", "of two or three of them")};

static const ec_key debye_table[] = {
    FIGURE(delta, EC_KEY_REQUIRED, 0, EC_LUA_LARGEST_RELATIVE, NULL, "drop of the permittivity"),
    FIGURE(tau, EC_KEY_REQUIRED, LEAST_TIME, LARGEST_TIME, "s", "relaxation time")};
static const ec_key drude_table[] = {
    FIGURE(omega_p, EC_KEY_REQUIRED, 0, LARGEST_OMEGA, "rad/s", "plasma frequency"),
    FIGURE(gamma, EC_KEY_REQUIRED, 0, LARGEST_OMEGA, "rad/s", "collision frequency")};
static const ec_key lorentz_table[] = {
    FIGURE(delta, EC_KEY_REQUIRED, 0, EC_LUA_LARGEST_RELATIVE, NULL,
           "rise of the permittivity below the resonance"),
    FIGURE(omega_0, EC_KEY_REQUIRED, LEAST_OMEGA, LARGEST_OMEGA, "rad/s", "resonance"),
    FIGURE(gamma, EC_KEY_REQUIRED, 0, LARGEST_OMEGA, "rad/s", "damping, half of the line's width")};

static const ec_key material_table[] = {
    FIGURE(eps_r, 0, 1, EC_LUA_LARGEST_RELATIVE, NULL,
           "relative permittivity at high frequencies (default 1)"),
    FIGURES,
    FIGURE(
        metal, EC_KEY_ABOVE, 0, EC_LUA_LARGEST_CONDUCTIVITY, "S/m",
        "conductivity of a conductor with losses, in the place of all other figures: its surface "
        "has the impedance of the skin effect"),
    ROW(sides, EC_KEY_INTEGER, 0, 1, 1, 2, NULL, NULL,
        "of a plate of metal: its currents flow on one of them, or in equal parts on both")};

/* Metals that need no entry, S/m at 20 degrees. */
static const struct {
    const char *name;
    double conductivity;
} metals[] = {{"silver", 6.3e7}, {"copper", 5.8e7}, {"gold", 4.1e7}, {"aluminium", 3.77e7}};
enum { METALS = sizeof metals / sizeof *metals };

const ec_noun ec_noun_wire = {"ec.wire", "ec.wire{ from = {0, 0, 1*ec.mm}, to = {0, 0, 75*ec.mm} }",
                              "A straight conductor along edges of an FDTD grid.",
                              EC_KEYS(wire_table)};
const ec_noun ec_noun_polygon = {
    "ec.polygon", "ec.polygon{ points = { {0, 0}, {20*ec.mm, 0}, {0, w} }, at = {0, 0, h} }",
    "A flat body with straight sides, or a sheet, in an FDTD model.", EC_KEYS(polygon_table)};
const ec_noun ec_noun_port = {
    "ec.port", "ec.port{ name = \"in\", from = {x, 0, 0}, to = {x, 0, h}, ohms = 50 }",
    "A port of an FDTD model: a source with a resistance in series, between two conductors; or, "
    "with "
    "the key line, a line's beginning. Its voltage is that of `to` against `from`; waves are a, b "
    "= (V +- R I) / (2 sqrt R).",
    EC_KEYS(port_table)};
const ec_noun ec_noun_lumped = {
    "ec.lumped", "ec.lumped{ from = {x, 0, 0}, to = {x, 0, h}, ohms = 100 }",
    "A lumped resistor, inductor, capacitor or several of them in an FDTD model, without a source.",
    EC_KEYS(lumped_table)};
const ec_noun ec_noun_source = {
    "ec.source", "ec.source{ name = \"in\", from = {x, y, 0}, to = {x, y, 1*ec.mm} }",
    "A current source in an FDTD model, which loads nothing: it has no waves.",
    EC_KEYS(source_table)};
const ec_noun ec_noun_probe = {
    "ec.probe", "ec.probe{ name = \"out\", from = {x, y, 0}, to = {x, y, 1*ec.mm} }",
    "The voltage of `to` against `from` in an FDTD model, which loads nothing.",
    EC_KEYS(source_table)};
const ec_noun ec_noun_debye = {"ec.debye", "ec.debye{ delta = 73, tau = 8.3*ec.ps }",
                               "A term delta / (1 + j w tau) of a material's eps_r.",
                               EC_KEYS(debye_table)};
const ec_noun ec_noun_drude = {"ec.drude", "ec.drude{ omega_p = 1e11, gamma = 1e9 }",
                               "A term -omega_p^2 / (w^2 - j w gamma) of a material's eps_r.",
                               EC_KEYS(drude_table)};
const ec_noun ec_noun_lorentz = {
    "ec.lorentz", "ec.lorentz{ delta = 1.5, omega_0 = 4e10, gamma = 4e8 }",
    "A term delta omega_0^2 / (omega_0^2 + 2 j w gamma - w^2) of a material's eps_r.",
    EC_KEYS(lorentz_table)};
const ec_noun ec_noun_fdtd_material = {
    "fdtd.material", "materials = { fr4 = { eps_r = 4.3, loss_tangent = 0.02 } }",
    "A material of ec.fdtd's materials and of its objects, where a name says too little. pec, air, "
    "silver, copper, gold and aluminium are there without an entry.",
    EC_KEYS(material_table)};

static const ec_noun *const nouns[] = {&ec_noun_source,  &ec_noun_probe, &ec_noun_wire,
                                       &ec_noun_polygon, &ec_noun_port,  &ec_noun_lumped,
                                       &ec_noun_debye,   &ec_noun_drude, &ec_noun_lorentz};
enum { NOUNS = sizeof nouns / sizeof *nouns };

/* ---- making ---------------------------------------------------------------------------------- */

/* User value 1 is the table of its keys as they were when it was made. */
typedef struct fdtd_part {
    const ec_noun *noun;
} fdtd_part;

/* Keys of a port's line go with each other. */
static void check_line(lua_State *L, const ec_noun *noun, uint64_t given, const part_keys *k)
{
    static const char *const keys[] = {"shape", "plane", "shift"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (k->line < 0 && ec_lua_keys_given(noun, given, keys[i]))
            ec_lua_fail(L, "%s: key '%s': it goes with line", noun->name, keys[i]);
    if (k->line >= 0 && !k->plane)
        ec_lua_fail(L, "%s: key 'plane' is missing: where the line is measured, from the port on",
                    noun->name);
}

static void parse(lua_State *L, int index, const ec_noun *noun, part_keys *k)
{
    static const char *const figures[] = {"conductivity", "loss_tangent", "mu_r",
                                          "magnetic_conductivity", "poles"};
    memset(k, 0, sizeof *k);
    k->loss_frequency = NAN;
    uint64_t given = ec_lua_keys_parse(L, index, noun, k, NULL);
    bool material = noun->keys == material_table;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && k->metal; i++)
        if (k->eps_r || ec_lua_keys_given(noun, given, figures[i]))
            ec_lua_fail(L, "%s: key 'metal': it goes without %s", noun->name,
                        k->eps_r ? "eps_r" : figures[i]);
    if (material && !k->metal && ec_lua_keys_given(noun, given, "sides"))
        ec_lua_fail(L, "%s: key 'sides': it goes with metal", noun->name);
    if (k->material && k->eps_r)
        ec_lua_fail(L, "%s: give material or eps_r, not both", noun->name);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!material && !k->eps_r && ec_lua_keys_given(noun, given, figures[i]))
            ec_lua_fail(L, "%s: key '%s': it goes with eps_r", noun->name, figures[i]);
    if (!isnan(k->loss_frequency) && !k->loss_tangent)
        ec_lua_fail(L, "%s: key 'loss_frequency': it goes with loss_tangent", noun->name);
    if (noun == &ec_noun_port)
        check_line(L, noun, given, k);
    if (noun == &ec_noun_lumped && !k->ohms && !k->henries && !k->farads)
        ec_lua_fail(L, "%s: nothing is in it: give ohms, henries or farads", noun->name);
}

static int part_new(lua_State *L)
{
    const ec_noun *noun = nouns[lua_tointeger(L, lua_upvalueindex(1))];
    part_keys k;
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "%s: wants a table of keys, as in %s, got a %s", noun->name, noun->usage,
                    luaL_typename(L, 1));
    ec_lua_keys_copy(L, 1, noun); /* a copy that no finalizer of the script changes */
    parse(L, 1, noun, &k);        /* for keys that are not the noun's */
    parse(L, 2, noun, &k);
    fdtd_part *part = lua_newuserdatauv(L, sizeof *part, 1);
    part->noun = noun;
    luaL_setmetatable(L, PART);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

static int part_index(lua_State *L)
{
    const fdtd_part *part = luaL_testudata(L, 1, PART);
    ec_lua_fail(L, "what %s gives has no fields: it is for ec.fdtd{ ... }",
                part ? part->noun->name : "this");
}

ec_lua_fdtd_kind ec_lua_fdtd_kind_of(lua_State *L, int index)
{
    const fdtd_part *part = luaL_testudata(L, index, PART);
    if (ec_lua_shape_test(L, index))
        return EC_LUA_FDTD_OBJECT;
    if (!part)
        return EC_LUA_FDTD_OTHER;
    if (part->noun == &ec_noun_wire || part->noun == &ec_noun_polygon)
        return EC_LUA_FDTD_OBJECT;
    bool pole = part->noun == &ec_noun_debye || part->noun == &ec_noun_drude ||
                part->noun == &ec_noun_lorentz;
    return pole ? EC_LUA_FDTD_POLE : EC_LUA_FDTD_PORT;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static ec_fdtd_number constant(double value)
{
    return (ec_fdtd_number){value, -1};
}

static bool is_single(lua_State *L, int index)
{
    const ec_lua_expr *e = luaL_testudata(L, index, EC_LUA_EXPR);
    return lua_type(L, index) == LUA_TNUMBER || (e && ec_lua_expr_node(L, e->expr)->elements == 1);
}

/* n elements of an expression; one without design variables is a constant. */
static void read_expression(lua_State *L, ec_expr e, const char *what, int32_t n,
                            ec_fdtd_number *to)
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    const ec_node *node = ec_lua_expr_node(L, e);
    if (node->elements != n)
        ec_lua_fail(L, "%s: wants %d numbers, got an expression of %d", what, (int)n,
                    (int)node->elements);
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        ec_lua_fail(L, "%s: wants real values, got a complex expression", what);
    ec_lua_list list;
    if (node->axes == 0 && ec_lua_expr_constant(L, e, &list)) {
        for (int32_t i = 0; i < n; i++)
            to[i] = constant(list.v[i]);
        lua_pop(L, 1);
        return;
    }
    bool single = node->rank == 0;
    if (node->rank > 1)
        e = ec_graph_reshape(graph, e, 1, &n);
    for (int32_t i = 0; i < n; i++) {
        to[i] = (ec_fdtd_number){0, single ? e : ec_graph_slice(graph, e, i, 0)};
        if (to[i].expr < 0)
            ec_lua_fail_core(L, what);
    }
}

void ec_lua_fdtd_numbers(lua_State *L, int index, const char *what, int32_t n, ec_fdtd_number *to)
{
    index = lua_absindex(L, index);
    const ec_lua_expr *e = luaL_testudata(L, index, EC_LUA_EXPR);
    bool each = lua_istable(L, index) && (int32_t)lua_rawlen(L, index) == n;
    for (int32_t i = 1; each && i <= n; i++) {
        lua_rawgeti(L, index, i);
        each = is_single(L, -1);
        lua_pop(L, 1);
    }
    if (lua_type(L, index) == LUA_TNUMBER && n == 1) {
        *to = constant(lua_tonumber(L, index));
    } else if (e) {
        read_expression(L, e->expr, what, n, to);
    } else if (each) {
        for (int32_t i = 0; i < n; i++) {
            lua_rawgeti(L, index, i + 1);
            ec_lua_fdtd_numbers(L, -1, what, 1, &to[i]);
            lua_pop(L, 1);
        }
    } else {
        read_expression(L, ec_lua_expr_get(L, index, what), what, n, to);
    }
}

/* The key of the table at index, which may be absent. */
static void read_key(lua_State *L, int table, const ec_noun *noun, const char *key, int32_t n,
                     ec_fdtd_number *to)
{
    char what[80];
    snprintf(what, sizeof what, "%s: key '%s'", noun->name, key);
    lua_pushstring(L, key);
    if (lua_rawget(L, table) != LUA_TNIL)
        ec_lua_fdtd_numbers(L, -1, what, n, to);
    lua_pop(L, 1);
}

bool ec_lua_fdtd_same(ec_fdtd_number a, ec_fdtd_number b)
{
    return a.expr == b.expr && (a.expr >= 0 || a.value == b.value);
}

/* The axis of the constant direction at a key: its sign does not count. */
static int read_direction(lua_State *L, int table, const ec_noun *noun, const char *key)
{
    ec_fdtd_number d[3] = {constant(0), constant(0), constant(1)};
    int axis = -1, along = 0;
    read_key(L, table, noun, key, 3, d);
    for (int k = 0; k < 3; k++) {
        if (d[k].expr >= 0)
            ec_lua_fail(L, "%s: key '%s': ec.fdtd wants numbers, got design variables", noun->name,
                        key);
        if (d[k].value != 0) {
            axis = k;
            along++;
        }
    }
    if (along != 1)
        ec_lua_fail(L, "%s: key '%s': in ec.fdtd it has to be along x, y or z", noun->name, key);
    return axis;
}

/* ---- materials ------------------------------------------------------------------------------- */

/* Pushes nothing; what the model's structs point to stays with its table. */
static void *keep_block(lua_State *L, const ec_lua_fdtd_materials *m, size_t size)
{
    void *block = lua_newuserdatauv(L, size ? size : 1, 0);
    lua_rawseti(L, m->keep, (lua_Integer)lua_rawlen(L, m->keep) + 1);
    return block;
}

static void read_pole(lua_State *L, int index, const char *what, int number, ec_fdtd_pole *to)
{
    const fdtd_part *part = luaL_testudata(L, index, PART);
    if (ec_lua_fdtd_kind_of(L, index) != EC_LUA_FDTD_POLE)
        ec_lua_fail(L,
                    "%s: key 'poles': entry %d is a %s; wants ec.debye{ ... }, ec.drude{ ... } "
                    "or ec.lorentz{ ... }",
                    what, number, luaL_typename(L, index));
    lua_getiuservalue(L, index, 1);
    int keys = lua_gettop(L);
    const ec_noun *noun = part->noun;
    *to = (ec_fdtd_pole){.strength = constant(0),
                         .time = constant(0),
                         .resonance = constant(0),
                         .damping = constant(0)};
    to->kind = noun == &ec_noun_debye   ? EC_FDTD_DEBYE
               : noun == &ec_noun_drude ? EC_FDTD_DRUDE
                                        : EC_FDTD_LORENTZ;
    read_key(L, keys, noun, "delta", 1, &to->strength);
    read_key(L, keys, noun, "omega_p", 1, &to->strength);
    read_key(L, keys, noun, "tau", 1, &to->time);
    read_key(L, keys, noun, "omega_0", 1, &to->resonance);
    read_key(L, keys, noun, "gamma", 1, &to->damping);
    lua_pop(L, 1);
}

static void read_poles(lua_State *L, int index, const char *what, const ec_lua_fdtd_materials *m,
                       ec_fdtd_material *to)
{
    if (!lua_istable(L, index))
        ec_lua_fail(L, "%s: key 'poles': wants a list, as in poles = { %s }, got a %s", what,
                    ec_noun_debye.usage, luaL_typename(L, index));
    int list = ec_lua_table_copy(L, index);
    int32_t n = ec_lua_list_length(L, list, lua_pushfstring(L, "%s: key 'poles'", what));
    ec_fdtd_pole *poles = keep_block(L, m, (size_t)n * sizeof *poles);
    for (int32_t i = 0; i < n; i++) {
        lua_rawgeti(L, list, i + 1);
        read_pole(L, lua_gettop(L), what, (int)i + 1, &poles[i]);
        lua_pop(L, 1);
    }
    to->poles = poles;
    to->n_poles = n;
}

/* The figures among the keys of the table at index, which were checked. */
static void read_figures(lua_State *L, int table, const ec_noun *noun,
                         const ec_lua_fdtd_materials *m, const char *name, ec_fdtd_material *to)
{
    int top = lua_gettop(L);
    *to = (ec_fdtd_material){.name = name,
                             .eps_r = constant(1),
                             .mu_r = constant(1),
                             .conductivity = constant(0),
                             .magnetic_conductivity = constant(0),
                             .loss_tangent = constant(0),
                             .loss_frequency = m->loss_frequency};
    read_key(L, table, noun, "eps_r", 1, &to->eps_r);
    read_key(L, table, noun, "mu_r", 1, &to->mu_r);
    read_key(L, table, noun, "conductivity", 1, &to->conductivity);
    read_key(L, table, noun, "magnetic_conductivity", 1, &to->magnetic_conductivity);
    read_key(L, table, noun, "loss_tangent", 1, &to->loss_tangent);
    lua_pushliteral(L, "metal");
    to->metal = lua_rawget(L, table) != LUA_TNIL;
    if (to->metal)
        read_key(L, table, noun, "metal", 1, &to->conductivity);
    lua_pushliteral(L, "sides");
    to->both_sides = lua_rawget(L, table) != LUA_TNIL && lua_tointeger(L, -1) == 2;
    lua_pushliteral(L, "loss_frequency");
    if (lua_rawget(L, table) == LUA_TNUMBER)
        to->loss_frequency = lua_tonumber(L, -1);
    lua_pushliteral(L, "poles");
    if (lua_rawget(L, table) != LUA_TNIL)
        read_poles(L, lua_gettop(L), noun->name, m, to);
    lua_settop(L, top);
}

static bool same_figures(const ec_fdtd_material *a, const ec_fdtd_material *b)
{
    return ec_lua_fdtd_same(a->eps_r, b->eps_r) && ec_lua_fdtd_same(a->mu_r, b->mu_r) &&
           ec_lua_fdtd_same(a->conductivity, b->conductivity) &&
           ec_lua_fdtd_same(a->magnetic_conductivity, b->magnetic_conductivity) &&
           ec_lua_fdtd_same(a->loss_tangent, b->loss_tangent) &&
           a->loss_frequency == b->loss_frequency && a->n_poles == 0 && b->n_poles == 0 &&
           a->metal == b->metal && a->both_sides == b->both_sides;
}

static int32_t add_figures(ec_lua_fdtd_materials *m, const ec_fdtd_material *material)
{
    for (int32_t i = 0; i < m->n; i++)
        if (!m->named[i] && same_figures(&m->all[i], material))
            return i;
    m->named[m->n] = false;
    m->all[m->n] = *material;
    return m->n++;
}

static bool plain_material(const char *name, int32_t *to)
{
    *to = strcmp(name, "pec") == 0 ? EC_FDTD_PEC : EC_FDTD_FREE_SPACE;
    return *to == EC_FDTD_PEC || strcmp(name, "air") == 0 || strcmp(name, "vacuum") == 0;
}

/* One of the metals that need no entry. */
static bool known_metal(const char *name, ec_lua_fdtd_materials *m, int32_t *to)
{
    for (int i = 0; i < METALS; i++)
        if (strcmp(metals[i].name, name) == 0) {
            const ec_fdtd_material figures = {.name = metals[i].name,
                                              .eps_r = constant(1),
                                              .mu_r = constant(1),
                                              .conductivity = constant(metals[i].conductivity),
                                              .magnetic_conductivity = constant(0),
                                              .loss_tangent = constant(0),
                                              .loss_frequency = m->loss_frequency,
                                              .metal = true};
            *to = add_figures(m, &figures);
            return true;
        }
    return false;
}

static void unknown_material(lua_State *L, const ec_lua_fdtd_materials *m, const char *what,
                             const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST] = {"pec", "air"};
    ec_material itu;
    int n = 2;
    for (int i = 0; i < METALS; i++)
        names[n++] = metals[i].name;
    for (lua_pushnil(L); m->names && lua_next(L, m->names); lua_pop(L, 1))
        if (n < MOST)
            names[n++] = lua_tostring(L, -2);
    if (m->names == 0)
        lua_pop(L, 1);
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "%s: unknown material '%s' (did you mean '%s'?)", what, name, near);
    if (ec_material_by_name(name, &itu) == EC_OK)
        ec_lua_fail(L,
                    "%s: '%s' is a material of ec.scene; in ec.fdtd give its eps_r and "
                    "conductivity, as in materials = { %s = { eps_r = 5 } }",
                    what, name, name);
    ec_lua_fail(L,
                "%s: unknown material '%s'; there are %s: give it an entry, as in materials = { "
                "%s = { eps_r = 4.3 } }",
                what, name, ec_lua_push_names(L, names, n), name);
}

/* An entry of the table of names, checked: its noun, with a copy of its table on top of the stack. */
static ec_noun check_named(lua_State *L, int value, const char *name)
{
    ec_noun noun = ec_noun_fdtd_material;
    int32_t plain;
    noun.name = lua_pushfstring(L, "ec.fdtd: key 'materials': '%s'", name);
    if (lua_istable(L, value)) {
        part_keys k;
        value = ec_lua_table_copy(L, value);
        parse(L, value, &noun, &k);
        lua_pushvalue(L, value);
    } else if (lua_type(L, value) != LUA_TSTRING) {
        ec_lua_fail(L, "%s: wants a table of figures, as in %s, got a %s", noun.name,
                    ec_noun_fdtd_material.usage, luaL_typename(L, value));
    } else if (!plain_material(lua_tostring(L, value), &plain)) {
        ec_lua_fail(L, "%s: wants a table of figures, \"pec\" or \"air\", got the text '%s'",
                    noun.name, lua_tostring(L, value));
    }
    return noun;
}

/* Of the table of names: each of them is one material, however often it is used. */
static bool named_material(lua_State *L, const char *name, ec_lua_fdtd_materials *m, int32_t *to)
{
    if (!m->names)
        return false;
    lua_pushboolean(L, 1);
    lua_setfield(L, m->used, name);
    for (int32_t i = 0; i < m->n; i++)
        if (m->named[i] && strcmp(m->all[i].name, name) == 0) {
            *to = i;
            return true;
        }
    lua_pushstring(L, name);
    if (lua_rawget(L, m->names) == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    int value = lua_gettop(L);
    ec_noun noun = check_named(L, value, name);
    if (lua_istable(L, value)) {
        read_figures(L, lua_gettop(L), &noun, m, name, &m->all[m->n]);
        m->named[m->n] = true;
        *to = m->n++;
    } else {
        plain_material(lua_tostring(L, value), to);
    }
    return true;
}

/* The value at index: a name or a table of figures. */
static int32_t read_material(lua_State *L, int index, const char *what, const char *name,
                             ec_lua_fdtd_materials *m)
{
    int32_t material;
    if (lua_type(L, index) == LUA_TSTRING) {
        const char *text = lua_tostring(L, index);
        if (!named_material(L, text, m, &material) && !plain_material(text, &material) &&
            !known_metal(text, m, &material))
            unknown_material(L, m, what, text);
        return material;
    }
    if (!lua_istable(L, index))
        ec_lua_fail(L, "%s: wants a name or a table of figures, got a %s", what,
                    luaL_typename(L, index));
    part_keys k;
    ec_fdtd_material figures;
    ec_noun noun = ec_noun_fdtd_material;
    noun.name = what;
    index = ec_lua_table_copy(L, index);
    parse(L, index, &noun, &k);
    read_figures(L, index, &noun, m, name, &figures);
    return add_figures(m, &figures);
}

/* That of an object whose keys are in the table at index. */
static int32_t material_of(lua_State *L, int table, const ec_noun *noun, const char *name,
                           ec_lua_fdtd_materials *m)
{
    ec_fdtd_material figures;
    lua_pushliteral(L, "material");
    if (lua_rawget(L, table) != LUA_TNIL) {
        const char *what = lua_pushfstring(L, "%s: key 'material'", noun->name);
        return read_material(L, lua_gettop(L) - 1, what, name, m);
    }
    lua_pushliteral(L, "eps_r");
    if (lua_rawget(L, table) == LUA_TNIL)
        return EC_FDTD_PEC;
    read_figures(L, table, noun, m, name, &figures);
    return add_figures(m, &figures);
}

void ec_lua_fdtd_check_used(lua_State *L, const ec_lua_fdtd_materials *m)
{
    if (!m->names)
        return;
    for (lua_pushnil(L); lua_next(L, m->names); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        if (lua_rawget(L, m->used) == LUA_TNIL) {
            const char *name = lua_tostring(L, -3);
            check_named(L, lua_gettop(L) - 1, name); /* its own mistakes come first */
            ec_lua_fail(L, "ec.fdtd: key 'materials': nothing is made of '%s'", name);
        }
        lua_pop(L, 1);
    }
}

/* ---- objects --------------------------------------------------------------------------------- */

/* A sheet: it has no volume for a dielectric. */
static void check_sheet(lua_State *L, const ec_noun *noun, const ec_lua_fdtd_materials *m,
                        int32_t material, const char *instead)
{
    if (material >= 0 && !m->all[material].metal)
        ec_lua_fail(L,
                    "%s: key 'material': it has no thickness: it can be pec, a metal or air; a "
                    "dielectric is %s",
                    noun->name, instead);
}

static void read_plate(lua_State *L, int keys, const ec_noun *noun, const ec_lua_fdtd_materials *m,
                       ec_fdtd_object *to)
{
    ec_fdtd_number size[2] = {constant(0), constant(0)}, ohms = constant(NAN);
    to->axis = read_direction(L, keys, noun, "normal");
    read_key(L, keys, noun, "size", 2, size);
    /* along x and y, or along the horizontal and up */
    to->size[to->axis] = constant(0);
    to->size[to->axis == 0 ? 1 : 0] = size[0];
    to->size[to->axis == 2 ? 1 : 2] = size[1];
    read_key(L, keys, noun, "ohms", 1, &ohms);
    bool sheet = ohms.expr >= 0 || !isnan(ohms.value);
    lua_pushliteral(L, "material");
    bool material = lua_rawget(L, keys) != LUA_TNIL;
    lua_pop(L, 1);
    if (sheet && material)
        ec_lua_fail(L, "%s: give material or ohms, not both", noun->name);
    check_sheet(L, noun, m, to->material, "an ec.box");
    if (sheet) {
        to->material = EC_FDTD_FREE_SPACE;
        to->ohms = ohms;
    }
}

static void read_shape(lua_State *L, int index, int *keys, const ec_noun **noun, ec_fdtd_object *to)
{
    ec_lua_shape_keys k;
    const ec_lua_shape *shape = ec_lua_shape_read(L, index, &k);
    static const ec_fdtd_kind kinds[] = {[EC_SHAPE_PLATE] = EC_FDTD_PLATE,
                                         [EC_SHAPE_BOX] = EC_FDTD_BOX,
                                         [EC_SHAPE_CYLINDER] = EC_FDTD_CYLINDER,
                                         [EC_SHAPE_SPHERE] = EC_FDTD_SPHERE};
    if (shape->kind != EC_SHAPE_PLATE && shape->kind != EC_SHAPE_BOX &&
        shape->kind != EC_SHAPE_CYLINDER && shape->kind != EC_SHAPE_SPHERE)
        ec_lua_fail(L,
                    "ec.fdtd: %s is for ec.scene alone; there are ec.box, ec.plate, "
                    "ec.cylinder, ec.sphere, ec.polygon and ec.wire",
                    shape->noun->name);
    ec_lua_shape_refuse(L, shape, &k, EC_LUA_SHAPE_SCENE, "ec.fdtd");
    *noun = shape->noun;
    to->kind = kinds[shape->kind];
    to->name = k.name ? k.name : shape->noun->name + 3;
    to->priority = k.priority;
    lua_getiuservalue(L, index, 1);
    *keys = lua_gettop(L);
}

static void read_part(lua_State *L, int index, int *keys, const ec_noun **noun, part_keys *k,
                      ec_fdtd_object *to)
{
    const fdtd_part *part = luaL_testudata(L, index, PART);
    *noun = part->noun;
    lua_getiuservalue(L, index, 1);
    *keys = lua_gettop(L);
    parse(L, *keys, *noun, k);
    to->kind = *noun == &ec_noun_wire ? EC_FDTD_WIRE : EC_FDTD_POLYGON;
    to->name = k->name ? k->name : (*noun)->name + 3;
    to->priority = k->priority;
}

/* {{x, y}, ...} */
static void read_points(lua_State *L, int index, const ec_lua_fdtd_materials *m, ec_fdtd_object *to)
{
    const char *name = "ec.polygon: key 'points'";
    if (!lua_istable(L, index))
        ec_lua_fail(L,
                    "%s: wants a list of corners, as in points = { {0, 0}, {1, 0}, {0, 1} }, "
                    "got a %s",
                    name, luaL_typename(L, index));
    int list = ec_lua_table_copy(L, index);
    int32_t n = ec_lua_list_length(L, list, name);
    if (n < 3)
        ec_lua_fail(L, "%s: %d corners; three are the least", name, (int)n);
    ec_fdtd_number(*points)[2] = keep_block(L, m, (size_t)n * sizeof *points);
    for (int32_t i = 0; i < n; i++) {
        char what[80];
        snprintf(what, sizeof what, "%s: corner %d", name, (int)i + 1);
        lua_rawgeti(L, list, i + 1);
        ec_lua_fdtd_numbers(L, -1, what, 2, points[i]);
        lua_pop(L, 1);
    }
    to->points = (const ec_fdtd_number(*)[2])points;
    to->n_points = n;
}

/* Which axis `from` and `to` differ along, counted in *several. */
static int difference(const ec_fdtd_number from[3], const ec_fdtd_number to[3], int *several)
{
    int axis = -1;
    *several = 0;
    for (int k = 0; k < 3; k++)
        if (!ec_lua_fdtd_same(from[k], to[k])) {
            axis = k;
            ++*several;
        }
    return axis;
}

void ec_lua_fdtd_object(lua_State *L, int index, ec_lua_fdtd_materials *m, ec_fdtd_object *to)
{
    const ec_noun *noun;
    part_keys k;
    int top = lua_gettop(L), keys, several;
    luaL_checkstack(L, 80, "too many objects");
    *to = (ec_fdtd_object){.axis = 2,
                           .radius = constant(0),
                           .inner_radius = constant(0),
                           .length = constant(0),
                           .ohms = constant(INFINITY)};
    for (int i = 0; i < 3; i++)
        to->at[i] = to->to[i] = to->size[i] = constant(0);
    if (ec_lua_shape_test(L, index))
        read_shape(L, index, &keys, &noun, to);
    else
        read_part(L, index, &keys, &noun, &k, to);
    to->material = material_of(L, keys, noun, to->name, m);
    read_key(L, keys, noun, to->kind == EC_FDTD_WIRE ? "from" : "at", 3, to->at);
    switch (to->kind) {
    case EC_FDTD_BOX:
        read_key(L, keys, noun, "size", 3, to->size);
        break;
    case EC_FDTD_PLATE:
        read_plate(L, keys, noun, m, to);
        break;
    case EC_FDTD_CYLINDER:
        to->axis = read_direction(L, keys, noun, "axis");
        read_key(L, keys, noun, "length", 1, &to->length);
        break;
    case EC_FDTD_SPHERE:
        break;
    case EC_FDTD_POLYGON:
        to->axis = k.axis < 0 ? 2 : k.axis;
        read_points(L, k.points, m, to);
        read_key(L, keys, noun, "thickness", 1, &to->length);
        if (to->length.expr < 0 && to->length.value == 0)
            check_sheet(L, noun, m, to->material, "one with a thickness");
        break;
    case EC_FDTD_WIRE:
        read_key(L, keys, noun, "to", 3, to->to);
        to->axis = difference(to->at, to->to, &several);
        if (several != 1)
            ec_lua_fail(L,
                        "%s: from and to have to differ along one of x, y and z, they do along "
                        "%d",
                        noun->name, several);
        if (to->material != EC_FDTD_PEC)
            ec_lua_fail(L,
                        "%s: key 'material': a wire is pec; a rod of another material is an "
                        "ec.cylinder",
                        noun->name);
        break;
    }
    read_key(L, keys, noun, "radius", 1, &to->radius);
    read_key(L, keys, noun, "inner_radius", 1, &to->inner_radius);
    if (to->inner_radius.expr < 0 && to->radius.expr < 0 && to->inner_radius.value > 0 &&
        to->inner_radius.value >= to->radius.value)
        ec_lua_fail(L, "%s: key 'inner_radius': %.10g is not below radius, %.10g", noun->name,
                    to->inner_radius.value, to->radius.value);
    lua_settop(L, top);
}

void ec_lua_fdtd_port(lua_State *L, int index, ec_fdtd_port *to)
{
    const fdtd_part *part = luaL_testudata(L, index, PART);
    const ec_noun *noun = part->noun;
    part_keys k;
    int top = lua_gettop(L), several;
    bool port = noun == &ec_noun_port;
    luaL_checkstack(L, 40, "too many ports");
    lua_getiuservalue(L, index, 1);
    int keys = lua_gettop(L);
    parse(L, keys, noun, &k);
    ec_fdtd_port_kind kind = port                      ? EC_FDTD_LUMPED
                             : noun == &ec_noun_source ? EC_FDTD_CURRENT
                             : noun == &ec_noun_probe  ? EC_FDTD_PROBE
                                                       : EC_FDTD_ELEMENT;
    bool line = port && k.line >= 0;
    if (line)
        kind = k.shape == 0 ? EC_FDTD_MICROSTRIP : EC_FDTD_COAX;
    bool alone = !!k.ohms + !!k.henries + !!k.farads < 2;
    *to = (ec_fdtd_port){.kind = kind,
                         .name = k.name,
                         .ohms = constant(port && !line ? 50 : INFINITY),
                         .henries = constant(0),
                         .farads = constant(0),
                         .series = !alone && k.connection == 0,
                         .driven = port || noun == &ec_noun_source,
                         .line_axis = line ? k.line % 3 : 0,
                         .line_sign = line && k.line >= 3 ? -1 : 1,
                         .plane = constant(0),
                         .shift = constant(0)};
    read_key(L, keys, noun, "from", 3, to->from);
    read_key(L, keys, noun, "to", 3, to->to);
    read_key(L, keys, noun, "ohms", 1, &to->ohms);
    read_key(L, keys, noun, "henries", 1, &to->henries);
    read_key(L, keys, noun, "farads", 1, &to->farads);
    read_key(L, keys, noun, "plane", 1, &to->plane);
    read_key(L, keys, noun, "shift", 1, &to->shift);
    int axis = difference(to->from, to->to, &several);
    to->axis = k.axis < 0 ? axis : k.axis;
    if (several == 0)
        ec_lua_fail(L, "%s: from and to are the same place", noun->name);
    if (several > 1 && k.axis < 0)
        ec_lua_fail(L, "%s: key 'axis' is missing: from and to differ along %d axes", noun->name,
                    several);
    if (ec_lua_fdtd_same(to->from[to->axis], to->to[to->axis]))
        ec_lua_fail(L, "%s: key 'axis': from and to do not differ along %c", noun->name,
                    "xyz"[to->axis]);
    lua_settop(L, top);
}

/* ---- module ---------------------------------------------------------------------------------- */

void ec_lua_fdtd_parts_open(lua_State *L)
{
    luaL_newmetatable(L, PART);
    lua_pushcfunction(L, part_index);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    for (int i = 0; i < NOUNS; i++) {
        lua_pushinteger(L, i);
        lua_pushcclosure(L, part_new, 1);
        lua_setfield(L, -2, nouns[i]->name + 3); /* without "ec." */
    }
}
