#include "lua_array.h"

#include <math.h>
#include <string.h>

#include "evaluators/array_pattern/array_pattern.h"
#include "lua_expr.h"
#include "lua_files.h"
#include "lua_values.h"

static const double LIGHT_SPEED = 299792458.0; /* m/s, exact by definition */
static const double RADIANS = EC_PI / 180;

typedef struct lua_array {
    ec_call *call; /* owned by the graph */
    ec_array_grid_kind kind;
} lua_array;

/* ---- ec.array: keys ----------------------------------------------------------------------------------- */

typedef struct array_keys {
    ec_expr x, y, z, amplitude, phase, phase_deg, wavelength, frequency;
    ec_expr steer_u, steer_v, steer_theta, steer_phi;
    ec_lua_list u, v, theta, phi;
    int element, precision, method, integrate;
    double q;
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
    ROW("wavelength", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL,
        "wavelength; with 1, positions are in wavelengths", wavelength),
    ROW("frequency", EC_KEY_EXPR, 0, NAN, 0, 0, "Hz", NULL, "frequency, instead of wavelength",
        frequency),
    ROW("element", EC_KEY_WORD, 0, 0, 0, 0, NULL, "isotropic|cosq",
        "element factor; cosq: field cos^q of the angle from z, zero behind", element),
    ROW("q", EC_KEY_NUMBER, 0, 1, 0, 1000, NULL, NULL, "exponent of cosq", q),
    ROW("u", EC_KEY_LIST, 0, NAN, -2, 2, NULL, NULL,
        "grid of u = sin(theta) cos(phi): a cut, or with v a grid", u),
    ROW("v", EC_KEY_LIST, 0, NAN, -2, 2, NULL, NULL,
        "grid of v = sin(theta) sin(phi); a number is the v of a u cut (default 0)", v),
    ROW("theta_deg", EC_KEY_LIST, 0, NAN, -360, 360, "deg", NULL,
        "grid of theta from z; a number is the theta of a phi cut (default 90)", theta),
    ROW("phi_deg", EC_KEY_LIST, 0, NAN, -360, 720, "deg", NULL,
        "grid of phi from x; a number is the phi of a theta cut (default 0)", phi),
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
    ROW("method", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|direct|product",
        "how the pattern is computed; auto: by the shapes", method),
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

/* ---- ec.array: from keys to the call -------------------------------------------------------------------- */

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
static const double *radians(lua_State *L, const double *degrees, int32_t n)
{
    double *to = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++)
        to[i] = degrees[i] * RADIANS;
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
    c->a = radians(L, a->v, a->n);
    c->na = a->n;
    if (theta && phi) {
        c->b = radians(L, k->phi.v, k->phi.n);
        c->nb = k->phi.n;
    } else if (theta) {
        c->fixed = k->phi.v ? k->phi.v[0] * RADIANS : 0;
    } else {
        c->fixed = k->theta.v ? k->theta.v[0] * RADIANS : EC_PI / 2;
    }
}

static int32_t count_elements(lua_State *L, const array_keys *k)
{
    const struct {
        const char *key;
        ec_expr expr;
    } inputs[] = {{"x", k->x},         {"y", k->y},
                  {"z", k->z},         {"amplitude", k->amplitude},
                  {"phase", k->phase}, {"phase_deg", k->phase_deg}};
    const char *first = NULL;
    int32_t n = 1;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const ec_node *node = inputs[i].expr < 0 ? NULL : ec_lua_expr_node(L, inputs[i].expr);
        if (!node || node->rank == 0)
            continue;
        if (first && node->elements != n)
            ec_lua_fail(L, "ec.array: key '%s': %d values, but %s has %d", inputs[i].key,
                        (int)node->elements, first, (int)n);
        if (!first)
            first = inputs[i].key;
        n = node->elements;
    }
    return n;
}

/* Steering as direction cosines; w is that of the forward hemisphere. */
static void choose_steering(lua_State *L, const array_keys *k, ec_array_inputs *in)
{
    bool cosines = k->steer_u >= 0 || k->steer_v >= 0,
         angles = k->steer_theta >= 0 || k->steer_phi >= 0;
    if (cosines && angles)
        ec_lua_fail(
            L,
            "ec.array: give steer_u and steer_v, or steer_theta_deg and steer_phi_deg, not both");
    if (angles) {
        ec_expr theta = scaled(L, k->steer_theta >= 0 ? k->steer_theta : number(L, 90), RADIANS);
        ec_expr phi = scaled(L, k->steer_phi >= 0 ? k->steer_phi : number(L, 0), RADIANS);
        ec_expr s = unary(L, EC_OP_SIN, theta);
        in->u0 = binary(L, EC_OP_MUL, s, unary(L, EC_OP_COS, phi));
        in->v0 = binary(L, EC_OP_MUL, s, unary(L, EC_OP_SIN, phi));
        in->w0 = unary(L, EC_OP_COS, theta);
        return;
    }
    in->u0 = k->steer_u >= 0 ? k->steer_u : number(L, 0);
    in->v0 = k->steer_v >= 0 ? k->steer_v : number(L, 0);
    in->w0 = number(L, 1);
    if (cosines) {
        ec_expr uv =
            binary(L, EC_OP_ADD, unary(L, EC_OP_SQUARE, in->u0), unary(L, EC_OP_SQUARE, in->v0));
        ec_expr ww = binary(L, EC_OP_MAX, binary(L, EC_OP_SUB, number(L, 1), uv), number(L, 0));
        in->w0 = unary(L, EC_OP_SQRT, ww);
    }
}

static ec_expr choose_wavelength(lua_State *L, const array_keys *k)
{
    if ((k->wavelength >= 0) == (k->frequency >= 0))
        ec_lua_fail(L, "ec.array: one of the keys wavelength and frequency is needed (wavelength = "
                       "1: positions in "
                       "wavelengths)");
    ec_expr given = k->wavelength >= 0 ? k->wavelength : k->frequency;
    const char *key = k->wavelength >= 0 ? "wavelength" : "frequency";
    const ec_node *node = ec_lua_expr_node(L, given);
    if (node->elements != 1)
        ec_lua_fail(L,
                    "ec.array: key '%s': a list of %d; for several at once use %s = ec.over{ "
                    "values = ... }",
                    key, (int)node->elements, key);
    if (!(node->range.lo > 0))
        ec_lua_fail(L, "ec.array: key '%s': it can be %.14g, it must be above 0", key,
                    node->range.lo);
    return k->wavelength >= 0 ? k->wavelength
                              : binary(L, EC_OP_DIV, number(L, LIGHT_SPEED), k->frequency);
}

static int array_new(lua_State *L)
{
    array_keys k;
    ec_lua_keys_parse(L, 1, &ec_noun_array, &k, NULL);
    if (k.x < 0 && k.y < 0 && k.z < 0)
        ec_lua_fail(L, "ec.array: no positions: give x, y or z");
    if (k.phase >= 0 && k.phase_deg >= 0)
        ec_lua_fail(L, "ec.array: give phase or phase_deg, not both");
    ec_array_config config;
    ec_array_config_default(&config);
    choose_grid(L, &k, &config);
    config.elements = count_elements(L, &k);
    config.element = (ec_array_element)k.element;
    config.q = k.q;
    config.precision = (ec_array_precision)k.precision;
    config.method = (ec_array_method)k.method;
    config.integrate = (ec_array_integrate)k.integrate;
    ec_lua_mark_line(L);
    ec_array_inputs in = {.x = k.x >= 0 ? k.x : number(L, 0),
                          .y = k.y >= 0 ? k.y : number(L, 0),
                          .z = k.z >= 0 ? k.z : number(L, 0),
                          .amplitude = k.amplitude};
    in.phase = k.phase_deg >= 0 ? scaled(L, k.phase_deg, RADIANS)
               : k.phase >= 0   ? k.phase
                                : number(L, 0);
    in.wavelength = choose_wavelength(L, &k);
    choose_steering(L, &k, &in);
    lua_array *array = lua_newuserdatauv(L, sizeof *array, 0);
    array->call = NULL;
    array->kind = config.kind;
    luaL_setmetatable(L, EC_LUA_ARRAY);
    if (ec_array_call(graph_of(L), &config, &in, &array->call) != EC_OK)
        ec_lua_fail_core(L, "ec.array");
    return 1;
}

/* ---- metrics: keys ---------------------------------------------------------------------------------------- */

typedef struct metric_keys {
    double look_u, look_v, look_deg, look_theta, look_phi;
    double exclude_u, exclude_v, exclude_deg, exclude_theta, exclude_phi;
    ec_lua_list u, v, theta, phi;
    bool relative;
    int mask;
} metric_keys;

#define METRIC(key, kind, flags, initial, min, max, unit, help, field)                             \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, NULL, help, offsetof(metric_keys, field)        \
    }

#define BEAM_ROWS                                                                                  \
    METRIC("look_u", EC_KEY_NUMBER, 0, NAN, -1, 1, NULL,                                           \
           "u of the main beam (default: where the array is steered to)", look_u),                 \
        METRIC("look_v", EC_KEY_NUMBER, 0, NAN, -1, 1, NULL, "v of the main beam", look_v),        \
        METRIC("look_deg", EC_KEY_NUMBER, 0, NAN, -360, 720, "deg",                                \
               "angle of the main beam on a theta or phi cut", look_deg),                          \
        METRIC("look_theta_deg", EC_KEY_NUMBER, 0, NAN, -360, 360, "deg",                          \
               "theta of the main beam on a theta-phi grid", look_theta),                          \
        METRIC("look_phi_deg", EC_KEY_NUMBER, 0, NAN, -360, 720, "deg",                            \
               "phi of the main beam on a theta-phi grid", look_phi)

#define EXCLUDE_ROWS                                                                               \
    METRIC("exclude_u", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 2, NULL,                              \
           "half width in u of what counts as main beam (default: to the first minimum)",          \
           exclude_u),                                                                             \
        METRIC("exclude_v", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 2, NULL,                          \
               "half width in v on a u-v grid (default: exclude_u)", exclude_v),                   \
        METRIC("exclude_deg", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 360, "deg",                     \
               "half width on a theta or phi cut", exclude_deg),                                   \
        METRIC("exclude_theta_deg", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 360, "deg",               \
               "half width in theta on a theta-phi grid", exclude_theta),                          \
        METRIC("exclude_phi_deg", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 360, "deg",                 \
               "half width in phi on a theta-phi grid", exclude_phi)

#define DIRECTION_ROWS                                                                             \
    METRIC("u", EC_KEY_LIST, 0, NAN, -1, 1, NULL, "u of each direction", u),                       \
        METRIC("v", EC_KEY_LIST, 0, NAN, -1, 1, NULL, "v of each direction on a u-v grid", v),     \
        METRIC("theta_deg", EC_KEY_LIST, 0, NAN, -360, 360, "deg", "theta of each direction",      \
               theta),                                                                             \
        METRIC("phi_deg", EC_KEY_LIST, 0, NAN, -360, 720, "deg", "phi of each direction", phi)

#define RELATIVE_ROW                                                                               \
    METRIC("relative", EC_KEY_FLAG, 0, 1, 0, 0, NULL,                                              \
           "levels over the beam's peak; false: 20 log10 |F|", relative)

static const ec_key beam_table[] = {BEAM_ROWS};
static const ec_key sll_table[] = {BEAM_ROWS, EXCLUDE_ROWS};
static const ec_key level_table[] = {BEAM_ROWS, DIRECTION_ROWS, RELATIVE_ROW};
static const ec_key null_table[] = {BEAM_ROWS, DIRECTION_ROWS};
static const ec_key excess_table[] = {BEAM_ROWS, RELATIVE_ROW,
                                      METRIC("mask", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, "dB",
                                             "lines { from, to, max = , min = }, or a CSV file "
                                             "with the columns from, to, max, min; a limit is a "
                                             "number, or { at from, at to }",
                                             mask)};

const ec_noun ec_noun_sll = {
    "array:sll_db", "array:sll_db{ look_u = 0, exclude_u = 0.06 }",
    "Side-lobe level: the highest level outside the main beam over the beam's peak, in dB.",
    EC_KEYS(sll_table)};
const ec_noun ec_noun_hpbw = {"array:hpbw_deg", "array:hpbw_deg()",
                              "Half-power beam width in degrees.", EC_KEYS(beam_table)};
const ec_noun ec_noun_fnbw = {"array:fnbw_deg", "array:fnbw_deg()",
                              "Beam width between the first minima in degrees.",
                              EC_KEYS(beam_table)};
const ec_noun ec_noun_directivity = {"array:directivity_db", "array:directivity_db()",
                                     "Directivity in the look direction, dB over isotropic.",
                                     EC_KEYS(beam_table)};
const ec_noun ec_noun_excess = {
    "array:excess_db", "array:excess_db{ mask = { {-1, -0.1, max = -30}, {0.1, 1, max = -30} } }",
    "How far the worst direction lies beyond the mask, in dB; negative when the whole pattern is "
    "inside. "
    "from and to are u, or degrees on an angle cut; on a u-v grid the distance from the look "
    "direction.",
    EC_KEYS(excess_table)};
const ec_noun ec_noun_level = {
    "array:level_db", "array:level_db{ u = {0.25, 0.41} }",
    "Level in given directions, in dB: a list, or a number for a single direction.",
    EC_KEYS(level_table)};
const ec_noun ec_noun_null_depth = {
    "array:null_depth_db", "array:null_depth_db{ u = {0.25, 0.41, 0.66} }",
    "The highest level of the given directions over the beam's peak, in dB.", EC_KEYS(null_table)};

/* ---- metrics: from keys to the core ------------------------------------------------------------------------ */

static lua_array *array_at(lua_State *L, const ec_noun *noun)
{
    lua_array *array = luaL_testudata(L, 1, EC_LUA_ARRAY);
    if (!array || !array->call)
        ec_lua_fail(L, "%s: call it with a colon on an array, as in %s", noun->name, noun->usage);
    return array;
}

/* Which of the look and exclude keys belong to a grid kind. */
static const char *const beam_words[] = {
    "look_u and look_v (exclude_u)",
    "look_u and look_v (exclude_u and exclude_v)",
    "look_deg (exclude_deg)",
    "look_deg (exclude_deg)",
    "look_theta_deg and look_phi_deg (exclude_theta_deg, exclude_phi_deg)",
    "look_u and look_v"};

static void read_beam(lua_State *L, const ec_noun *noun, const lua_array *array,
                      const metric_keys *k, ec_array_beam *beam)
{
    bool cosines = array->kind == EC_ARRAY_CUT_U || array->kind == EC_ARRAY_GRID_UV;
    bool cut = array->kind == EC_ARRAY_CUT_THETA || array->kind == EC_ARRAY_CUT_PHI;
    bool grid = array->kind == EC_ARRAY_GRID_THETA_PHI;
    bool has_cosines =
        !isnan(k->look_u) || !isnan(k->look_v) || !isnan(k->exclude_u) || !isnan(k->exclude_v);
    bool has_cut = !isnan(k->look_deg) || !isnan(k->exclude_deg);
    bool has_grid = !isnan(k->look_theta) || !isnan(k->look_phi) || !isnan(k->exclude_theta) ||
                    !isnan(k->exclude_phi);
    if ((has_cosines && !cosines) || (has_cut && !cut) || (has_grid && !grid))
        ec_lua_fail(
            L, "%s: these keys do not belong to the array's grid, whose main beam is given by %s",
            noun->name, beam_words[array->kind]);
    *beam = (ec_array_beam){NAN, NAN, NAN, NAN};
    if (cosines) {
        *beam = (ec_array_beam){k->look_u, k->look_v, k->exclude_u, k->exclude_v};
        if (array->kind == EC_ARRAY_GRID_UV && isnan(beam->exclude_b))
            beam->exclude_b = beam->exclude_a;
        if (array->kind == EC_ARRAY_GRID_UV && isnan(beam->exclude_a))
            beam->exclude_a = beam->exclude_b;
        /* one given coordinate of the look direction leaves the other at 0 */
        if (isnan(beam->look_a) != isnan(beam->look_b) && array->kind == EC_ARRAY_GRID_UV) {
            beam->look_a = isnan(beam->look_a) ? 0 : beam->look_a;
            beam->look_b = isnan(beam->look_b) ? 0 : beam->look_b;
        }
    } else if (cut) {
        beam->look_a = k->look_deg * RADIANS;
        beam->exclude_a = k->exclude_deg * RADIANS;
    } else {
        if (isnan(k->look_theta) != isnan(k->look_phi) ||
            isnan(k->exclude_theta) != isnan(k->exclude_phi))
            ec_lua_fail(L,
                        "%s: on a theta-phi grid give look_theta_deg with look_phi_deg, and "
                        "exclude_theta_deg "
                        "with exclude_phi_deg",
                        noun->name);
        *beam = (ec_array_beam){k->look_theta * RADIANS, k->look_phi * RADIANS,
                                k->exclude_theta * RADIANS, k->exclude_phi * RADIANS};
    }
}

static lua_array *begin(lua_State *L, const ec_noun *noun, metric_keys *keys, ec_array_beam *beam)
{
    lua_array *array = array_at(L, noun);
    /* a metric's table has some of the rows; the others are absent */
    *keys = (metric_keys){.look_u = NAN,
                          .look_v = NAN,
                          .look_deg = NAN,
                          .look_theta = NAN,
                          .look_phi = NAN,
                          .exclude_u = NAN,
                          .exclude_v = NAN,
                          .exclude_deg = NAN,
                          .exclude_theta = NAN,
                          .exclude_phi = NAN};
    ec_lua_keys_parse(L, 2, noun, keys, NULL);
    read_beam(L, noun, array, keys, beam);
    ec_lua_mark_line(L);
    return array;
}

static int push_metric(lua_State *L, const ec_noun *noun, ec_expr e)
{
    if (e < 0)
        ec_lua_fail_core(L, noun->name);
    return ec_lua_expr_push(L, e);
}

static int array_sll(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    lua_array *array = begin(L, &ec_noun_sll, &k, &beam);
    return push_metric(L, &ec_noun_sll, ec_array_sll_db(graph_of(L), array->call, &beam));
}

static int array_hpbw(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    lua_array *array = begin(L, &ec_noun_hpbw, &k, &beam);
    return push_metric(L, &ec_noun_hpbw, ec_array_hpbw_deg(graph_of(L), array->call, &beam));
}

static int array_fnbw(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    lua_array *array = begin(L, &ec_noun_fnbw, &k, &beam);
    return push_metric(L, &ec_noun_fnbw, ec_array_fnbw_deg(graph_of(L), array->call, &beam));
}

static int array_directivity(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    lua_array *array = begin(L, &ec_noun_directivity, &k, &beam);
    return push_metric(L, &ec_noun_directivity,
                       ec_array_directivity_db(graph_of(L), array->call, &beam));
}

static int array_pattern(lua_State *L)
{
    static const ec_noun noun = {"array:pattern", "array:pattern()", "", NULL, 0};
    lua_array *array = array_at(L, &noun);
    ec_lua_mark_line(L);
    return push_metric(L, &noun, ec_array_pattern(graph_of(L), array->call));
}

/* Directions in the grid's coordinates. Memory stays on the stack. */
static int32_t read_directions(lua_State *L, const ec_noun *noun, const lua_array *array,
                               const metric_keys *k, const double **a, const double **b,
                               bool *single)
{
    const ec_lua_list *first = &k->u, *second = &k->v;
    const char *names[2] = {"u", "v"};
    if (array->kind != EC_ARRAY_CUT_U && array->kind != EC_ARRAY_GRID_UV) {
        first = array->kind == EC_ARRAY_CUT_PHI ? &k->phi : &k->theta;
        second = &k->phi;
        names[0] = array->kind == EC_ARRAY_CUT_PHI ? "phi_deg" : "theta_deg";
        names[1] = "phi_deg";
    }
    bool two = array->kind == EC_ARRAY_GRID_UV || array->kind == EC_ARRAY_GRID_THETA_PHI;
    const ec_lua_list *all[] = {&k->u, &k->v, &k->theta, &k->phi};
    for (int i = 0; i < 4; i++)
        if (all[i]->v && all[i] != first && !(two && all[i] == second))
            ec_lua_fail(L, "%s: the directions of this array's grid are given by %s%s%s",
                        noun->name, names[0], two ? " and " : "", two ? names[1] : "");
    if (!first->v || (two && !second->v))
        ec_lua_fail(L, "%s: key '%s' is missing (the directions)", noun->name,
                    first->v ? names[1] : names[0]);
    if (two && first->n != second->n)
        ec_lua_fail(L, "%s: %s has %d directions, %s has %d", noun->name, names[0], (int)first->n,
                    names[1], (int)second->n);
    bool degrees = array->kind != EC_ARRAY_CUT_U && array->kind != EC_ARRAY_GRID_UV;
    *a = degrees ? radians(L, first->v, first->n) : first->v;
    *b = !two ? NULL : degrees ? radians(L, second->v, second->n) : second->v;
    *single = first->scalar;
    return first->n;
}

static int array_level(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    const double *a, *b;
    bool single;
    lua_array *array = begin(L, &ec_noun_level, &k, &beam);
    int32_t n = read_directions(L, &ec_noun_level, array, &k, &a, &b, &single);
    ec_expr e = ec_array_level_db(graph_of(L), array->call, &beam, k.relative, n, a, b);
    if (e >= 0 && single)
        e = ec_graph_slice(graph_of(L), e, 0, 0);
    return push_metric(L, &ec_noun_level, e);
}

static int array_null_depth(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    const double *a, *b;
    bool single;
    lua_array *array = begin(L, &ec_noun_null_depth, &k, &beam);
    int32_t n = read_directions(L, &ec_noun_null_depth, array, &k, &a, &b, &single);
    return push_metric(L, &ec_noun_null_depth,
                       ec_array_null_depth_db(graph_of(L), array->call, &beam, n, a, b));
}

/* ---- masks ------------------------------------------------------------------------------------------------- */

/* max = -30 or max = {-20, -30}: [at from, at to]. */
static bool read_limit(lua_State *L, int line, const char *key, const char *what, double limit[2])
{
    lua_getfield(L, line, key);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    ec_lua_list list;
    ec_lua_list_get(L, -1, what, &list);
    if (list.n > 2)
        ec_lua_fail(L, "%s: %s has %d numbers, one or two (at from, at to) are allowed", what, key,
                    (int)list.n);
    limit[0] = list.v[0];
    limit[1] = list.v[list.n - 1];
    lua_pop(L, 2);
    return true;
}

static void read_mask_line(lua_State *L, int index, int number, ec_array_mask_line *to)
{
    char what[80];
    snprintf(what, sizeof what, "array:excess_db: key 'mask': line %d", number);
    if (!lua_istable(L, index))
        ec_lua_fail(L, "%s: wants { from, to, max = level }, got a %s", what,
                    luaL_typename(L, index));
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        bool known =
            lua_isinteger(L, -2) && (lua_tointeger(L, -2) == 1 || lua_tointeger(L, -2) == 2);
        if (lua_type(L, -2) == LUA_TSTRING)
            known =
                strcmp(lua_tostring(L, -2), "max") == 0 || strcmp(lua_tostring(L, -2), "min") == 0;
        if (!known)
            ec_lua_fail(L, "%s: unknown key '%s', a line is { from, to, max = level, min = level }",
                        what, luaL_tolstring(L, -2, NULL));
    }
    double *ends[2] = {&to->from, &to->to};
    for (int i = 0; i < 2; i++) {
        if (lua_rawgeti(L, index, i + 1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
            ec_lua_fail(L, "%s: '%s' must be a finite number, got a %s", what, i ? "to" : "from",
                        luaL_typename(L, -1));
        *ends[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    bool some = read_limit(L, index, "max", what, to->max);
    some = read_limit(L, index, "min", what, to->min) || some;
    if (!some)
        ec_lua_fail(L, "%s: no limit: give max or min", what);
}

/* Columns from, to, max, min by name (max_to, min_to for sloping limits), or in this order. */
static int32_t read_mask_file(lua_State *L, const char *file, ec_array_mask_line **lines)
{
    static const char *const names[] = {"from", "to", "max", "min", "max_to", "min_to"};
    ec_lua_csv csv;
    if (ec_lua_files_csv(L, file, &csv) != EC_OK)
        ec_lua_fail_core(L, "array:excess_db: key 'mask'");
    int column[6] = {-1, -1, -1, -1, -1, -1}, header = lua_gettop(L);
    bool named = lua_rawlen(L, header) > 0;
    for (int i = 0; i < csv.columns; i++) {
        if (!named) {
            if (i >= 4)
                ec_lua_fail(L,
                            "array:excess_db: %s has %d columns without names, at most 4 are read: "
                            "from, to, "
                            "max, min",
                            file, (int)csv.columns);
            column[i] = i;
            continue;
        }
        lua_rawgeti(L, header, i + 1);
        int k = 0;
        while (k < 6 && strcmp(names[k], lua_tostring(L, -1)) != 0)
            k++;
        if (k == 6)
            ec_lua_fail(
                L,
                "array:excess_db: %s: unknown column '%s', allowed are from, to, max, min, max_to, "
                "min_to",
                file, lua_tostring(L, -1));
        column[k] = i;
        lua_pop(L, 1);
    }
    if (column[0] < 0 || column[1] < 0 || (column[2] < 0 && column[3] < 0))
        ec_lua_fail(L, "array:excess_db: %s needs the columns from, to and max or min", file);
    ec_array_mask_line *to = lua_newuserdatauv(L, (size_t)csv.rows * sizeof *to, 0);
    for (int32_t row = 0; row < csv.rows; row++) {
        double v[6];
        for (int k = 0; k < 6; k++)
            v[k] =
                column[k] < 0 ? NAN : csv.data[(size_t)column[k] * (size_t)csv.rows + (size_t)row];
        if (!isfinite(v[0]) || !isfinite(v[1]))
            ec_lua_fail(L, "array:excess_db: %s: row %d of from and to is not finite", file,
                        (int)row + 1);
        to[row] = (ec_array_mask_line){.from = v[0], .to = v[1]};
        for (int end = 0; end < 2; end++) {
            double max = end && !isnan(v[4]) ? v[4] : v[2], min = end && !isnan(v[5]) ? v[5] : v[3];
            to[row].max[end] = isnan(max) ? INFINITY : max;
            to[row].min[end] = isnan(min) ? -INFINITY : min;
        }
    }
    *lines = to;
    return csv.rows;
}

static int array_excess(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_array_mask_line *lines;
    lua_array *array = begin(L, &ec_noun_excess, &k, &beam);
    int32_t n;
    if (lua_type(L, k.mask) == LUA_TSTRING) {
        n = read_mask_file(L, lua_tostring(L, k.mask), &lines);
    } else if (lua_istable(L, k.mask)) {
        n = ec_lua_list_length(L, k.mask, "array:excess_db: key 'mask'");
        if (n < 1)
            ec_lua_fail(L, "array:excess_db: key 'mask': the list of lines is empty");
        lines = lua_newuserdatauv(L, (size_t)n * sizeof *lines, 0);
        for (int32_t i = 0; i < n; i++) {
            lines[i] =
                (ec_array_mask_line){.max = {INFINITY, INFINITY}, .min = {-INFINITY, -INFINITY}};
            lua_rawgeti(L, k.mask, i + 1);
            read_mask_line(L, lua_gettop(L), (int)i + 1, &lines[i]);
            lua_pop(L, 1);
        }
    } else {
        ec_lua_fail(L,
                    "array:excess_db: key 'mask': wants a list of lines or the name of a CSV file, "
                    "got a %s",
                    luaL_typename(L, k.mask));
    }
    bool degrees = array->kind == EC_ARRAY_CUT_THETA || array->kind == EC_ARRAY_CUT_PHI;
    for (int32_t i = 0; i < n; i++) {
        if (lines[i].from > lines[i].to)
            ec_lua_fail(L, "array:excess_db: key 'mask': line %d: from %.14g lies above to %.14g",
                        (int)i + 1, lines[i].from, lines[i].to);
        if (degrees) {
            lines[i].from *= RADIANS;
            lines[i].to *= RADIANS;
        }
    }
    return push_metric(L, &ec_noun_excess,
                       ec_array_excess_db(graph_of(L), array->call, &beam, k.relative, n, lines));
}

/* ---- module -------------------------------------------------------------------------------------------------- */

static const luaL_Reg methods[] = {{"sll_db", array_sll},
                                   {"hpbw_deg", array_hpbw},
                                   {"fnbw_deg", array_fnbw},
                                   {"directivity_db", array_directivity},
                                   {"excess_db", array_excess},
                                   {"level_db", array_level},
                                   {"null_depth_db", array_null_depth},
                                   {"pattern", array_pattern},
                                   {NULL, NULL}};

static int array_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *names[16], *name = luaL_tolstring(L, 2, NULL);
    int n = 0;
    for (; methods[n].name; n++)
        names[n] = methods[n].name;
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "an array has no method '%s' (did you mean '%s'?)", name, near);
    ec_lua_fail(L,
                "an array has no method '%s'; it has sll_db, hpbw_deg, fnbw_deg, directivity_db, "
                "excess_db, "
                "level_db, null_depth_db, pattern",
                name);
}

void ec_lua_array_open(lua_State *L)
{
    luaL_newmetatable(L, EC_LUA_ARRAY);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcclosure(L, array_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, array_new);
    lua_setfield(L, -2, "array");
}
