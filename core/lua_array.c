#include "lua_array.h"

#include <math.h>

#include "lua_elements.h"
#include "lua_expr.h"
#include "lua_values.h"

/* ---- ec.array: keys -------------------------------------------------------------------------- */

typedef struct array_keys {
    ec_expr x, y, z, amplitude, phase, phase_deg, wavelength, frequency;
    ec_expr steer_u, steer_v, steer_theta, steer_phi;
    ec_lua_list u, v, theta, phi;
    ec_lua_element_keys elements;
    int precision, method, integrate, expansion, partition, weights;
    double tolerance;
    int64_t terms, parts;
    ec_lua_list part;
    bool plane;
} array_keys;

#define ROW(key, kind, flags, initial, min, max, unit, words, help, field)                         \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, words, help, offsetof(array_keys, field)        \
    }

static const ec_key array_table[] = {
    ROW("x", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "x of each element, or of all", x),
    ROW("y", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "y of each element, or of all", y),
    ROW("z", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "z of each element, or of all", z),
    ROW("amplitude", EC_KEY_EXPR, 0, 1, 0, 0, NULL, NULL, "weight of each element, or of all",
        amplitude),
    ROW("phase", EC_KEY_EXPR, 0, NAN, 0, 0, "rad", NULL, "phase of each element, or of all", phase),
    ROW("phase_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL, "the same in degrees", phase_deg),
    ROW("weights", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "what ec.optimal{ ... } gives, instead of amplitude and phase; positions, wavelength, "
        "steering, elements and coupling are its own where they are not given",
        weights),
    ROW("wavelength", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL,
        "wavelength; with 1, positions are in wavelengths", wavelength),
    ROW("frequency", EC_KEY_EXPR, 0, NAN, 0, 0, "Hz", NULL, "frequency, instead of wavelength",
        frequency),
    EC_LUA_ELEMENT_ROWS(array_keys, elements),
    ROW("u", EC_KEY_LIST, 0, NAN, -2, 2, NULL, NULL,
        "grid of u = sin(theta) cos(phi): a cut, or with v a grid", u),
    ROW("v", EC_KEY_LIST, 0, NAN, -2, 2, NULL, NULL,
        "grid of v = sin(theta) sin(phi); a number is the v of a u cut (default 0)", v),
    ROW("theta_deg", EC_KEY_LIST, 0, NAN, -180, 180, "deg", NULL,
        "grid of theta from z, not below 0 on a theta-phi grid; a number is the theta of a phi cut "
        "(default 90)",
        theta),
    ROW("phi_deg", EC_KEY_LIST, 0, NAN, -360, 720, "deg", NULL,
        "grid of phi from x, a full turn at most; a number is the phi of a theta cut (default 0)",
        phi),
    ROW("steer_u", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL,
        "u that the beam is steered to (default 0)", steer_u),
    ROW("steer_v", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL,
        "v that the beam is steered to (default 0)", steer_v),
    ROW("steer_theta_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL,
        "theta that the beam is steered to", steer_theta),
    ROW("steer_phi_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL, "phi that the beam is steered to",
        steer_phi),
    ROW("precision", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|single|double",
        "of the pattern; auto: single in the search, double at final fidelity", precision),
    ROW("method", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|direct|product|nufft",
        "how the pattern is computed; auto: the least predicted time", method),
    ROW("tolerance", EC_KEY_NUMBER, 0, 0, 0, 0.1, NULL, NULL,
        "error of method = 'nufft' relative to the pattern's rms (default 1e-4, in double 1e-9)",
        tolerance),
    ROW("expansion", EC_KEY_WORD, 0, 0, 0, 0, NULL, "chebyshev|taylor",
        "of elements off a plane in method = 'nufft'; taylor is the p-series", expansion),
    ROW("terms", EC_KEY_INTEGER, 0, 0, 0, 64, NULL, NULL,
        "terms of the expansion (default 0: from tolerance)", terms),
    ROW("parts", EC_KEY_INTEGER, 0, 0, 0, 1024, NULL, NULL,
        "method = 'nufft', elements off a plane: the array is cut into parts x parts sub-arrays, "
        "on a "
        "u cut into parts (default 0: chosen)",
        parts),
    ROW("partition", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|grid|kd",
        "sub-arrays are cells of a grid over x and y, or of a k-d tree: of equally many elements",
        partition),
    ROW("part", EC_KEY_LIST, 0, NAN, 1, 1e9, NULL, NULL,
        "the same by a number for each element: elements of one number are a part", part),
    ROW("plane", EC_KEY_FLAG, 0, 1, 0, 0, NULL, NULL,
        "each part is expanded about its own plane, not about a constant z", plane),
    ROW("integrate", EC_KEY_WORD, 0, 0, 0, 0, NULL, "sphere|hemisphere",
        "region over which directivity integrates the radiated power", integrate)};

const ec_noun ec_noun_array = {"ec.array",
                               "ec.array{ x = x, wavelength = 1, u = ec.range(-1, 1, 2001) }",
                               "An antenna array and the directions it is looked at from: a u cut, "
                               "a u-v grid, a theta cut, a phi cut, or "
                               "a theta-phi grid. Positions, amplitudes, phases, wavelength and "
                               "steering may be constants, variables "
                               "or expressions.",
                               EC_KEYS(array_table)};

/* ---- ec.array: from keys to the call --------------------------------------------------------- */

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

/* An expression of the core's: a status becomes an error. */
static ec_expr sound(lua_State *L, ec_expr e)
{
    if (e < 0)
        ec_lua_fail_core(L, "ec.array");
    return e;
}

static ec_expr number(lua_State *L, double value)
{
    return sound(L, ec_graph_number(graph_of(L), value));
}

static ec_expr scaled(lua_State *L, ec_expr e, double factor)
{
    return sound(L, ec_graph_binary(graph_of(L), EC_OP_MUL, e, number(L, factor)));
}

static ec_expr unary(lua_State *L, ec_op op, ec_expr e)
{
    return sound(L, ec_graph_unary(graph_of(L), op, e));
}

static ec_expr binary(lua_State *L, ec_op op, ec_expr a, ec_expr b)
{
    return sound(L, ec_graph_binary(graph_of(L), op, a, b));
}

/* Numbers of the list in radians; pushes memory. */
const double *ec_lua_radians(lua_State *L, const double *degrees, int32_t n)
{
    double *to = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++)
        to[i] = degrees[i] * EC_LUA_RADIANS;
    return to;
}

static bool is_grid(const ec_lua_list *list)
{
    return list->v && !list->scalar;
}

static void check_ascending(lua_State *L, const char *key, const ec_lua_list *list)
{
    if (list->n < 2)
        ec_lua_fail(L, "ec.array: key '%s': a grid of one direction; at least two are needed", key);
    for (int32_t i = 1; i < list->n; i++)
        if (list->v[i] <= list->v[i - 1])
            ec_lua_fail(
                L,
                "ec.array: key '%s': the directions must ascend, but element %d is %.14g and "
                "element %d is %.14g",
                key, (int)i, list->v[i - 1], (int)i + 1, list->v[i]);
}

static void choose_grid(lua_State *L, const array_keys *k, ec_array_config *c)
{
    bool cosines = k->u.v || k->v.v, angles = k->theta.v || k->phi.v;
    if (cosines && angles)
        ec_lua_fail(L, "ec.array: u and v are one kind of grid, theta_deg and phi_deg another: "
                       "give one of them");
    if (!is_grid(&k->u) && !is_grid(&k->theta) && !is_grid(&k->phi))
        ec_lua_fail(
            L,
            "ec.array: no directions: give u = ec.range(-1, 1, 2001), or u and v, or theta_deg = "
            "ec.range(-90, 90, 1801), or phi_deg%s",
            is_grid(&k->v) ? " (v alone is no grid: it needs u)" : "");
    const struct {
        const char *key;
        const ec_lua_list *list;
    } lists[] = {{"u", &k->u}, {"v", &k->v}, {"theta_deg", &k->theta}, {"phi_deg", &k->phi}};
    for (int i = 0; i < 4; i++)
        if (is_grid(lists[i].list))
            check_ascending(L, lists[i].key, lists[i].list);
    if (cosines) {
        c->kind = is_grid(&k->v) ? EC_ARRAY_GRID_UV : EC_ARRAY_CUT_U;
        c->a = k->u.v;
        c->na = k->u.n;
        if (c->kind == EC_ARRAY_GRID_UV) {
            c->b = k->v.v;
            c->nb = k->v.n;
        } else {
            c->fixed = k->v.v ? k->v.v[0] : 0;
        }
        return;
    }
    bool theta = is_grid(&k->theta), phi = is_grid(&k->phi);
    c->kind = theta && phi ? EC_ARRAY_GRID_THETA_PHI
              : theta      ? EC_ARRAY_CUT_THETA
                           : EC_ARRAY_CUT_PHI;
    const ec_lua_list *a = theta ? &k->theta : &k->phi;
    c->a = ec_lua_radians(L, a->v, a->n);
    c->na = a->n;
    if (theta && phi) {
        c->b = ec_lua_radians(L, k->phi.v, k->phi.n);
        c->nb = k->phi.n;
    } else if (theta) {
        c->fixed = k->phi.v ? k->phi.v[0] * EC_LUA_RADIANS : 0;
    } else {
        c->fixed = k->theta.v ? k->theta.v[0] * EC_LUA_RADIANS : EC_PI / 2;
    }
}

int32_t ec_lua_array_count(lua_State *L, const char *noun, const ec_lua_elements *inputs, size_t n)
{
    const char *first = NULL;
    int32_t elements = 1;
    for (size_t i = 0; i < n; i++) {
        const ec_node *node = inputs[i].expr < 0 ? NULL : ec_lua_expr_node(L, inputs[i].expr);
        if (!node || node->rank == 0)
            continue;
        if (first && node->elements != elements)
            ec_lua_fail(L, "%s: key '%s': %d values, but %s has %d", noun, inputs[i].key,
                        (int)node->elements, first, (int)elements);
        if (!first)
            first = inputs[i].key;
        elements = node->elements;
    }
    return elements;
}

void ec_lua_array_direction(lua_State *L, const char *noun, const char *key, ec_expr u, ec_expr v,
                            ec_expr theta_deg, ec_expr phi_deg, ec_expr direction[3])
{
    bool cosines = u >= 0 || v >= 0, angles = theta_deg >= 0 || phi_deg >= 0;
    if (cosines && angles)
        ec_lua_fail(L, "%s: give %s_u and %s_v, or %s_theta_deg and %s_phi_deg, not both", noun,
                    key, key, key, key);
    if (angles) {
        ec_expr theta = scaled(L, theta_deg >= 0 ? theta_deg : number(L, 90), EC_LUA_RADIANS);
        ec_expr phi = scaled(L, phi_deg >= 0 ? phi_deg : number(L, 0), EC_LUA_RADIANS);
        ec_expr s = unary(L, EC_OP_SIN, theta);
        direction[0] = binary(L, EC_OP_MUL, s, unary(L, EC_OP_COS, phi));
        direction[1] = binary(L, EC_OP_MUL, s, unary(L, EC_OP_SIN, phi));
        direction[2] = unary(L, EC_OP_COS, theta);
        return;
    }
    direction[0] = u >= 0 ? u : number(L, 0);
    direction[1] = v >= 0 ? v : number(L, 0);
    direction[2] = number(L, 1);
    if (cosines) {
        ec_expr uv = binary(L, EC_OP_ADD, unary(L, EC_OP_SQUARE, direction[0]),
                            unary(L, EC_OP_SQUARE, direction[1]));
        ec_expr ww = binary(L, EC_OP_MAX, binary(L, EC_OP_SUB, number(L, 1), uv), number(L, 0));
        direction[2] = unary(L, EC_OP_SQRT, ww);
    }
}

ec_expr ec_lua_array_wavelength(lua_State *L, const char *noun, ec_expr wavelength,
                                ec_expr frequency)
{
    if (wavelength >= 0 && frequency >= 0)
        ec_lua_fail(L, "%s: keys 'wavelength' and 'frequency' say the same: give one of them",
                    noun);
    if (wavelength < 0 && frequency < 0)
        ec_lua_fail(L,
                    "%s: one of the keys wavelength and frequency is needed (wavelength = 1: "
                    "positions in wavelengths)",
                    noun);
    ec_expr given = wavelength >= 0 ? wavelength : frequency;
    const char *key = wavelength >= 0 ? "wavelength" : "frequency";
    const ec_node *node = ec_lua_expr_node(L, given);
    if (node->elements != 1)
        ec_lua_fail(L,
                    "%s: key '%s': a list of %d; for several at once use %s = ec.over{ "
                    "values = ... }",
                    noun, key, (int)node->elements, key);
    if (!(node->range.lo > 0))
        ec_lua_fail(L, "%s: key '%s': it can be %.14g, it must be above 0", noun, key,
                    node->range.lo);
    return wavelength >= 0 ? wavelength
                           : binary(L, EC_OP_DIV, number(L, EC_LIGHT_SPEED), frequency);
}

/* What the weights say: amplitude and phase, and where the script does not, the geometry that they
 * were made for. */
static void take_weights(lua_State *L, uint64_t given, array_keys *k, ec_array_inputs *in)
{
    static const char *const own[] = {"amplitude", "phase", "phase_deg"};
    const ec_lua_weights *w = luaL_testudata(L, k->weights, EC_LUA_WEIGHTS);
    if (!w)
        ec_lua_fail(L, "ec.array: key 'weights': wants what ec.optimal{ ... } gives, got a %s",
                    luaL_typename(L, k->weights));
    for (int i = 0; i < 3; i++)
        if (ec_lua_keys_given(&ec_noun_array, given, own[i]))
            ec_lua_fail(L, "ec.array: give weights or %s, not both", own[i]);
    if (k->x < 0 && k->y < 0 && k->z < 0) {
        k->x = w->x;
        k->y = w->y;
        k->z = w->z;
    }
    if (k->wavelength < 0 && k->frequency < 0)
        k->wavelength = w->wavelength;
    if (k->steer_u < 0 && k->steer_v < 0 && k->steer_theta < 0 && k->steer_phi < 0) {
        in->u0 = w->look[0];
        in->v0 = w->look[1];
        in->w0 = w->look[2];
    }
    k->amplitude = w->amplitude;
    k->phase = w->phase;
}

/* The list as whole numbers, owned by the stack. */
static const int32_t *part_numbers(lua_State *L, const ec_lua_list *list, int32_t elements)
{
    if (!list->v)
        return NULL;
    if (list->n != elements)
        ec_lua_fail(L, "ec.array: key 'part' has %d numbers, the array has %d elements", list->n,
                    elements);
    int32_t *part = lua_newuserdatauv(L, (size_t)elements * sizeof *part, 0);
    for (int32_t m = 0; m < elements; m++) {
        if (list->v[m] != floor(list->v[m]))
            ec_lua_fail(L, "ec.array: key 'part': number %d is %.14g, it must be whole", m + 1,
                        list->v[m]);
        part[m] = (int32_t)list->v[m];
    }
    return part;
}

/* ---- ec.array: a call ------------------------------------------------------------------------ */

/* The keys at index, or a table that is pushed with them and what their weights say of the elements. */
static int join_weights(lua_State *L, int index)
{
    if (!lua_istable(L, index))
        return index;
    int top = lua_gettop(L);
    lua_pushliteral(L, "weights");
    lua_rawget(L, index);
    if (!luaL_testudata(L, -1, EC_LUA_WEIGHTS)) {
        lua_settop(L, top);
        return index;
    }
    lua_getiuservalue(L, -1, 1);
    ec_lua_elements_join(L, &ec_noun_array, index, lua_gettop(L));
    return lua_gettop(L);
}

/* Pushes the value; of a plain table a copy, its lists copied as well. */
static void push_copy(lua_State *L, int index, int depth)
{
    index = lua_absindex(L, index);
    if (depth == 0 || !lua_istable(L, index)) {
        lua_pushvalue(L, index);
        return;
    }
    luaL_checkstack(L, 4, "too many lists");
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        push_copy(L, -2, depth - 1);
        lua_rawset(L, -5);
    }
}

/* Pushes the given keys as they are now: expressions for what is one, copies of lists. */
static void push_keys(lua_State *L, int index, const array_keys *k)
{
    lua_newtable(L);
    int to = lua_gettop(L);
    for (int i = 0; i < ec_noun_array.n_keys; i++) {
        const ec_key *key = &ec_noun_array.keys[i];
        lua_pushstring(L, key->key);
        if (lua_rawget(L, index) == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        if (key->kind == EC_KEY_EXPR)
            ec_lua_expr_push(L, *(const ec_expr *)((const char *)k + key->offset));
        else
            push_copy(L, -1, 2);
        lua_setfield(L, to, key->key);
        lua_pop(L, 1);
    }
}

/* Pushes the array of the keys in the table at index. towards: it has no grid but one direction,
 * which metrics of the steering direction do not read. */
static ec_lua_array *build(lua_State *L, int index, bool towards)
{
    static const double none[1] = {0}, up[1] = {1};
    array_keys k;
    uint64_t given = ec_lua_keys_parse(L, join_weights(L, index), &ec_noun_array, &k, NULL);
    ec_array_inputs in = {.u0 = -1, .v0 = -1, .w0 = -1};
    if (k.weights)
        take_weights(L, given, &k, &in);
    if (k.x < 0 && k.y < 0 && k.z < 0)
        ec_lua_fail(L, "ec.array: no positions: give x, y or z");
    if (k.phase >= 0 && k.phase_deg >= 0)
        ec_lua_fail(L, "ec.array: give phase or phase_deg, not both");
    ec_array_config config;
    ec_array_config_default(&config);
    choose_grid(L, &k, &config);
    const ec_lua_elements lists[] = {{"weights", k.weights ? k.amplitude : -1},
                                     {"x", k.x},
                                     {"y", k.y},
                                     {"z", k.z},
                                     {"amplitude", k.amplitude},
                                     {"phase", k.phase},
                                     {"phase_deg", k.phase_deg}};
    config.elements = ec_lua_array_count(L, "ec.array", lists, sizeof lists / sizeof *lists);
    size_t bytes = ec_lua_elements_choose(L, &ec_noun_array, given, &k.elements, &config);
    config.precision = (ec_array_precision)k.precision;
    config.method = (ec_array_method)k.method;
    config.tolerance = k.tolerance;
    config.expansion = (ec_array_expansion)k.expansion;
    config.terms = (int32_t)k.terms;
    config.parts = (int32_t)k.parts;
    config.part = part_numbers(L, &k.part, config.elements);
    config.partition = (ec_array_partition)k.partition;
    config.planes = k.plane;
    config.integrate = (ec_array_integrate)k.integrate;
    if (towards) {
        config.kind = EC_ARRAY_DIRECTIONS;
        config.a = config.b = none;
        config.c = up;
        config.na = config.nb = 1;
        config.method = EC_METHOD_AUTO;
    }
    ec_lua_mark_line(L);
    in.x = k.x >= 0 ? k.x : number(L, 0);
    in.y = k.y >= 0 ? k.y : number(L, 0);
    in.z = k.z >= 0 ? k.z : number(L, 0);
    in.amplitude = k.amplitude;
    in.phase = k.phase_deg >= 0 ? scaled(L, k.phase_deg, EC_LUA_RADIANS)
               : k.phase >= 0   ? k.phase
                                : number(L, 0);
    in.wavelength = ec_lua_array_wavelength(L, "ec.array", k.wavelength, k.frequency);
    if (in.u0 < 0) {
        ec_expr steer[3];
        ec_lua_array_direction(L, "ec.array", "steer", k.steer_u, k.steer_v, k.steer_theta,
                               k.steer_phi, steer);
        in.u0 = steer[0];
        in.v0 = steer[1];
        in.w0 = steer[2];
    }
    const ec_touchstone *coupling =
        ec_lua_elements_coupling(L, &ec_noun_array, &k.elements, config.elements);
    if (coupling && ec_array_couple(graph_of(L), coupling, config.elements, &in) != EC_OK)
        ec_lua_fail_core(L, "ec.array");
    ec_lua_array *array = lua_newuserdatauv(L, sizeof *array, 1);
    array->call = NULL;
    array->kind = config.kind;
    array->amplitude = k.amplitude;
    luaL_setmetatable(L, EC_LUA_ARRAY);
    push_keys(L, index, &k);
    lua_setiuservalue(L, -2, 1);
    /* the call copies grid and elements, and lives as long as the graph */
    array->bytes = bytes + (size_t)(config.na + config.nb) * sizeof(double);
    ec_lua_budget_take(L, array->bytes);
    if (ec_array_call(graph_of(L), &config, &in, &array->call) != EC_OK)
        ec_lua_fail_core(L, "ec.array");
    return array;
}

static int array_new(lua_State *L)
{
    lua_settop(L, 1);
    build(L, 1, false);
    return 1;
}

/* ---- copies with other keys ------------------------------------------------------------------ */

const ec_noun ec_noun_with = {
    "array:with", "array:with{ amplitude = w, steer_u = 0.2 }",
    "A copy of the array with some keys of ec.array changed, for several beams on shared "
    "elements: what is not given stays. A key takes the place of its other forms: phase_deg that "
    "of "
    "phase, frequency that of wavelength, steer_theta_deg and steer_phi_deg that of steer_u and "
    "steer_v, theta_deg and phi_deg that of u and v.",
    NULL, 0};

/* The same with the keys, to check the changes by. */
static const ec_noun changes = {"array:with", "array:with{ amplitude = w, steer_u = 0.2 }", "",
                                EC_KEYS(array_table)};

/* Keys that say one thing in two forms. */
static const struct {
    const char *form[2][2];
} forms[] = {{{{"phase", NULL}, {"phase_deg", NULL}}},
             {{{"wavelength", NULL}, {"frequency", NULL}}},
             {{{"steer_u", "steer_v"}, {"steer_theta_deg", "steer_phi_deg"}}},
             {{{"u", "v"}, {"theta_deg", "phi_deg"}}},
             {{{"normal", NULL}, {"normals", NULL}}},
             {{{"parts", NULL}, {"part", NULL}}}};

static bool has_field(lua_State *L, int table, const char *key)
{
    lua_pushstring(L, key);
    bool has = lua_rawget(L, table) != LUA_TNIL;
    lua_pop(L, 1);
    return has;
}

static void remove_field(lua_State *L, int table, const char *key)
{
    lua_pushnil(L);
    lua_setfield(L, table, key);
}

/* Removes from `keys` the other forms of what `change` gives. */
static void remove_forms(lua_State *L, int keys, int change)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int f = 0; f < 2; f++)
            for (int m = 0; m < 2; m++) {
                const char *const *other = forms[i].form[1 - f];
                if (!forms[i].form[f][m] || !has_field(L, change, forms[i].form[f][m]))
                    continue;
                for (int o = 0; o < 2 && other[o]; o++)
                    remove_field(L, keys, other[o]);
            }
}

/* Weights hold amplitude and phase: neither can take the place of the other. */
static void check_weights(lua_State *L, int keys, int change)
{
    static const char *const own[] = {"amplitude", "phase", "phase_deg"};
    for (int i = 0; i < 3; i++) {
        if (has_field(L, keys, "weights") && has_field(L, change, own[i]))
            ec_lua_fail(L, "array:with: key '%s': the array has weights, which hold it", own[i]);
        if (has_field(L, change, "weights") && has_field(L, keys, own[i]))
            ec_lua_fail(L, "array:with: key 'weights': the array has its own %s, which they hold",
                        own[i]);
    }
}

/* Pushes a new table with the array's keys. */
static int push_own_keys(lua_State *L, int index)
{
    lua_getiuservalue(L, index, 1);
    push_copy(L, -1, 1);
    lua_remove(L, -2);
    return lua_gettop(L);
}

int ec_lua_array_with(lua_State *L)
{
    array_keys unused;
    lua_settop(L, 2);
    ec_lua_array *array = luaL_testudata(L, 1, EC_LUA_ARRAY);
    if (!array || !array->call)
        ec_lua_fail(L, "array:with: call it with a colon on an array, as in %s", changes.usage);
    if (!lua_istable(L, 2))
        ec_lua_fail(L, "array:with: wants a table of keys, as in %s, got a %s", changes.usage,
                    luaL_typename(L, 2));
    ec_lua_keys_parse(L, 2, &changes, &unused, NULL);
    lua_settop(L, 2);
    int keys = push_own_keys(L, 1);
    check_weights(L, keys, 2);
    remove_forms(L, keys, 2);
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, keys);
    }
    build(L, keys, false);
    return 1;
}

ec_lua_array *ec_lua_array_towards(lua_State *L, int index, const double *reference)
{
    static const char *const names[] = {"steer_u", "steer_v", "steer_theta_deg", "steer_phi_deg"};
    int keys = push_own_keys(L, index);
    bool some = false;
    for (int i = 0; i < 4 && reference; i++) {
        remove_field(L, keys, names[i]);
        if (isnan(reference[i]))
            continue;
        some = true;
        lua_pushnumber(L, reference[i]);
        lua_setfield(L, keys, names[i]);
    }
    if (reference && !some) { /* broadside */
        lua_pushnumber(L, 0);
        lua_setfield(L, keys, "steer_u");
    }
    return build(L, keys, true);
}

/* ---- module ---------------------------------------------------------------------------------- */

void ec_lua_array_open(lua_State *L)
{
    ec_lua_metric_open(L);
    ec_lua_weights_open(L);
    lua_pushcfunction(L, array_new);
    lua_setfield(L, -2, "array");
}
