/* Methods of arrays: the metrics of a pattern, and masks. */
#include <math.h>
#include <string.h>

#include "lua_array.h"
#include "lua_expr.h"
#include "lua_files.h"

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

/* ---- metrics: keys --------------------------------------------------------------------------- */

typedef struct metric_keys {
    double look_u, look_v, look_deg, look_theta, look_phi;
    double exclude_u, exclude_v, exclude_deg, exclude_theta, exclude_phi;
    ec_lua_list u, v, theta, phi;
    bool relative;
    double soft, p;
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
               "half width on a theta or phi cut; half angle of a cone on a theta-phi grid",       \
               exclude_deg),                                                                       \
        METRIC("exclude_theta_deg", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 360, "deg",               \
               "half width in theta on a theta-phi grid", exclude_theta),                          \
        METRIC("exclude_phi_deg", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 360, "deg",                 \
               "half width in phi on a theta-phi grid", exclude_phi)

#define DIRECTION_ROWS                                                                             \
    METRIC("u", EC_KEY_LIST, 0, NAN, -1, 1, NULL, "u of each direction, or of all", u),            \
        METRIC("v", EC_KEY_LIST, 0, NAN, -1, 1, NULL,                                              \
               "v of each direction on a u-v grid, or of all", v),                                 \
        METRIC("theta_deg", EC_KEY_LIST, 0, NAN, -360, 360, "deg",                                 \
               "theta of each direction, or of all", theta),                                       \
        METRIC("phi_deg", EC_KEY_LIST, 0, NAN, -360, 720, "deg",                                   \
               "phi of each direction, or of all", phi)

#define RELATIVE_ROW                                                                               \
    METRIC("relative", EC_KEY_FLAG, 0, 1, 0, 0, NULL,                                              \
           "levels over the beam's peak; false: 20 log10 |F|", relative)

typedef struct reference_keys {
    double u, v, theta, phi;
    int gain;
} reference_keys;

static const ec_key reference_table[] = {
    {"reference_u", EC_KEY_NUMBER, 0, NAN, -1, 1, NULL, NULL,
     "u of the direction that the gain is compared with (default: broadside)",
     offsetof(reference_keys, u)},
    {"reference_v", EC_KEY_NUMBER, 0, NAN, -1, 1, NULL, NULL, "v of that direction",
     offsetof(reference_keys, v)},
    {"reference_theta_deg", EC_KEY_NUMBER, 0, NAN, -360, 360, "deg", NULL,
     "theta of that direction, instead of u and v", offsetof(reference_keys, theta)},
    {"reference_phi_deg", EC_KEY_NUMBER, 0, NAN, -360, 720, "deg", NULL, "phi of that direction",
     offsetof(reference_keys, phi)},
    {"gain", EC_KEY_WORD, 0, 0, 0, 0, NULL, "directivity|field",
     "what is compared; field: |F|^2 with the same amplitudes, which has the roll-off of the "
     "element's pattern and the losses that embedded patterns and coupling bring",
     offsetof(reference_keys, gain)}};

static const ec_key beam_table[] = {BEAM_ROWS};
static const ec_key sll_table[] = {
    BEAM_ROWS, EXCLUDE_ROWS,
    METRIC("soft", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 100, "dB",
           "a smooth level instead of the highest: soft x ln of the mean of exp(level / soft) over "
           "the "
           "grid's side lobes; 0.5 to 2 dB follow the highest ones; needs exclude_*",
           soft)};
static const ec_key level_table[] = {BEAM_ROWS, DIRECTION_ROWS, RELATIVE_ROW};
static const ec_key null_table[] = {BEAM_ROWS, DIRECTION_ROWS};
static const ec_key excess_table[] = {BEAM_ROWS, RELATIVE_ROW,
                                      METRIC("p", EC_KEY_NUMBER, 0, NAN, 2, 1000, NULL,
                                             "a smooth excess instead of the worst: (mean of "
                                             "max(0, excess in dB)^p)^(1/p) over the mask's "
                                             "directions of the grid, 0 inside the mask",
                                             p),
                                      METRIC("mask", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, "dB",
                                             "lines { from, to, max = , min = }, or a CSV file "
                                             "with the columns from, to, max, min; a limit is a "
                                             "number, or { at from, at to }",
                                             mask)};

const ec_noun ec_noun_sll = {
    "array:sll_db", "array:sll_db{ look_u = 0, exclude_u = 0.06 }",
    "Side-lobe level: the highest level outside the main beam over the beam's peak, in dB.",
    EC_KEYS(sll_table)};
const ec_noun ec_noun_sll_mean = {
    "array:sll_mean_db", "array:sll_mean_db{ look_u = 0, exclude_u = 0.06 }",
    "Side-lobe average: the mean power outside the main beam over the beam's peak, in dB. A u cut "
    "weighs directions by u, a theta or phi cut by the angle, a u-v or theta-phi grid by the solid "
    "angle. Its gradient needs exclude_*.",
    EC_KEYS(sll_table)};
const ec_noun ec_noun_pointing_error = {
    "array:pointing_error_deg", "array:pointing_error_deg()",
    "Pointing error: the angle in degrees from the look direction to the highest peak of the grid; "
    "of peaks that are equal within 0.05 dB the nearest counts. It has no gradient.",
    EC_KEYS(beam_table)};
const ec_noun ec_noun_scan_loss = {
    "array:scan_loss_db", "array:scan_loss_db()",
    "Scan loss: how far the gain towards the steering direction lies below that of the same array "
    "steered to broadside or another reference, in dB. By default the gain is the directivity, "
    "that "
    "of an array without losses.",
    EC_KEYS(reference_table)};
const ec_noun ec_noun_dynamic_range = {
    "array:dynamic_range_db", "array:dynamic_range_db()",
    "Dynamic range ratio of the excitations: the largest amplitude over the smallest, in dB. "
    "Elements that are off, a billionth of the largest or less, are left out. Optimal weights "
    "count; with coupling it is that of the waves that feed the ports.",
    NULL, 0};
const ec_noun ec_noun_xpol = {"array:xpol_db", "array:xpol_db()",
                              "Cross-polar level: the highest cross-polar field of the grid over "
                              "the co-polar peak of the main "
                              "beam, in dB, by Ludwig's third definition (copolar_deg), whatever "
                              "the array's polarization is.",
                              EC_KEYS(beam_table)};
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

/* ---- metrics: from keys to the core ---------------------------------------------------------- */

static ec_lua_array *array_at(lua_State *L, const ec_noun *noun)
{
    ec_lua_array *array = luaL_testudata(L, 1, EC_LUA_ARRAY);
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
    "look_theta_deg and look_phi_deg (exclude_deg, or exclude_theta_deg and exclude_phi_deg)",
    "look_u and look_v"};

static const char *const grid_words[] = {"u cut",   "u-v grid",       "theta cut",
                                         "phi cut", "theta-phi grid", "list of directions"};

/* The first given key that belongs to another kind of grid. */
static const char *foreign_key(const metric_keys *k, bool cosines, bool cut, bool grid)
{
    const struct {
        const char *key;
        double value;
        bool own;
    } all[] = {{"look_u", k->look_u, cosines},
               {"look_v", k->look_v, cosines},
               {"exclude_u", k->exclude_u, cosines},
               {"exclude_v", k->exclude_v, cosines},
               {"look_deg", k->look_deg, cut},
               {"exclude_deg", k->exclude_deg, cut || grid},
               {"look_theta_deg", k->look_theta, grid},
               {"look_phi_deg", k->look_phi, grid},
               {"exclude_theta_deg", k->exclude_theta, grid},
               {"exclude_phi_deg", k->exclude_phi, grid}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i].own && !isnan(all[i].value))
            return all[i].key;
    return "";
}

static void read_beam(lua_State *L, const ec_noun *noun, const ec_lua_array *array,
                      const metric_keys *k, ec_array_beam *beam)
{
    bool cosines = array->kind == EC_ARRAY_CUT_U || array->kind == EC_ARRAY_GRID_UV;
    bool cut = array->kind == EC_ARRAY_CUT_THETA || array->kind == EC_ARRAY_CUT_PHI;
    bool grid = array->kind == EC_ARRAY_GRID_THETA_PHI;
    bool has_cosines =
        !isnan(k->look_u) || !isnan(k->look_v) || !isnan(k->exclude_u) || !isnan(k->exclude_v);
    bool has_cut = !isnan(k->look_deg) || (!isnan(k->exclude_deg) && !grid);
    bool has_grid = !isnan(k->look_theta) || !isnan(k->look_phi) || !isnan(k->exclude_theta) ||
                    !isnan(k->exclude_phi);
    if ((has_cosines && !cosines) || (has_cut && !cut) || (has_grid && !grid))
        ec_lua_fail(L,
                    "%s: key '%s' does not belong to the array's grid, a %s, whose main beam is "
                    "given by %s",
                    noun->name, foreign_key(k, cosines, cut, grid), grid_words[array->kind],
                    beam_words[array->kind]);
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
        beam->look_a = k->look_deg * EC_LUA_RADIANS;
        beam->exclude_a = k->exclude_deg * EC_LUA_RADIANS;
    } else {
        if (isnan(k->look_theta) != isnan(k->look_phi) ||
            isnan(k->exclude_theta) != isnan(k->exclude_phi))
            ec_lua_fail(L,
                        "%s: on a theta-phi grid give look_theta_deg with look_phi_deg, and "
                        "exclude_theta_deg "
                        "with exclude_phi_deg",
                        noun->name);
        if (!isnan(k->exclude_deg) && !isnan(k->exclude_theta))
            ec_lua_fail(L, "%s: give exclude_deg, a cone, or exclude_theta_deg and exclude_phi_deg",
                        noun->name);
        if (k->exclude_deg > 180)
            ec_lua_fail(L, "%s: key 'exclude_deg': %.14g is not allowed, a cone has at most 180",
                        noun->name, k->exclude_deg);
        *beam = (ec_array_beam){k->look_theta * EC_LUA_RADIANS, k->look_phi * EC_LUA_RADIANS,
                                k->exclude_theta * EC_LUA_RADIANS, k->exclude_phi * EC_LUA_RADIANS};
        if (!isnan(k->exclude_deg))
            beam->exclude_a = k->exclude_deg * EC_LUA_RADIANS;
    }
}

static ec_lua_array *begin(lua_State *L, const ec_noun *noun, metric_keys *keys,
                           ec_array_beam *beam)
{
    ec_lua_array *array = array_at(L, noun);
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
                          .exclude_phi = NAN,
                          .soft = NAN,
                          .p = NAN};
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
    ec_lua_array *array = begin(L, &ec_noun_sll, &k, &beam);
    return push_metric(L, &ec_noun_sll,
                       isnan(k.soft)
                           ? ec_array_sll_db(graph_of(L), array->call, &beam)
                           : ec_array_soft_sll_db(graph_of(L), array->call, &beam, k.soft));
}

static int array_sll_mean(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_lua_array *array = begin(L, &ec_noun_sll_mean, &k, &beam);
    return push_metric(L, &ec_noun_sll_mean, ec_array_sll_mean_db(graph_of(L), array->call, &beam));
}

static int array_pointing_error(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_lua_array *array = begin(L, &ec_noun_pointing_error, &k, &beam);
    return push_metric(L, &ec_noun_pointing_error,
                       ec_array_pointing_error_deg(graph_of(L), array->call, &beam));
}

/* Two arrays more, each at its own steering direction. */
static int array_scan_loss(lua_State *L)
{
    const ec_noun *noun = &ec_noun_scan_loss;
    reference_keys k;
    array_at(L, noun);
    ec_lua_keys_parse(L, 2, noun, &k, NULL);
    bool cosines = !isnan(k.u) || !isnan(k.v), angles = !isnan(k.theta) || !isnan(k.phi);
    if (cosines && angles)
        ec_lua_fail(L,
                    "%s: give reference_u and reference_v, or reference_theta_deg and "
                    "reference_phi_deg, not both",
                    noun->name);
    if (cosines && hypot(isnan(k.u) ? 0 : k.u, isnan(k.v) ? 0 : k.v) > 1)
        ec_lua_fail(L, "%s: there is no direction %.14g, %.14g: u^2 + v^2 must be at most 1",
                    noun->name, isnan(k.u) ? 0 : k.u, isnan(k.v) ? 0 : k.v);
    const double reference[4] = {k.u, k.v, k.theta, k.phi};
    ec_expr gain[2];
    for (int i = 0; i < 2; i++) {
        ec_lua_array *one = ec_lua_array_towards(L, 1, i ? reference : NULL);
        gain[i] = k.gain ? ec_array_towards_db(graph_of(L), one->call, NULL)
                         : ec_array_directivity_db(graph_of(L), one->call, NULL);
        if (gain[i] < 0)
            ec_lua_fail_core(L, noun->name);
    }
    return push_metric(L, noun, ec_graph_binary(graph_of(L), EC_OP_SUB, gain[1], gain[0]));
}

static int array_dynamic_range(lua_State *L)
{
    const ec_noun *noun = &ec_noun_dynamic_range;
    ec_lua_array *array = array_at(L, noun);
    ec_lua_mark_line(L);
    return push_metric(L, noun, ec_array_dynamic_range_db(graph_of(L), array->amplitude));
}

static int array_xpol(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_lua_array *array = begin(L, &ec_noun_xpol, &k, &beam);
    ec_lua_budget_take(L, 2 * array->bytes); /* the array again, twice */
    return push_metric(L, &ec_noun_xpol, ec_array_xpol_db(graph_of(L), array->call, &beam));
}

static int array_hpbw(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_lua_array *array = begin(L, &ec_noun_hpbw, &k, &beam);
    return push_metric(L, &ec_noun_hpbw, ec_array_hpbw_deg(graph_of(L), array->call, &beam));
}

static int array_fnbw(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_lua_array *array = begin(L, &ec_noun_fnbw, &k, &beam);
    return push_metric(L, &ec_noun_fnbw, ec_array_fnbw_deg(graph_of(L), array->call, &beam));
}

static int array_directivity(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    ec_lua_array *array = begin(L, &ec_noun_directivity, &k, &beam);
    return push_metric(L, &ec_noun_directivity,
                       ec_array_directivity_db(graph_of(L), array->call, &beam));
}

static int array_pattern(lua_State *L)
{
    static const ec_noun noun = {"array:pattern", "array:pattern()", "", NULL, 0};
    ec_lua_array *array = array_at(L, &noun);
    ec_lua_mark_line(L);
    return push_metric(L, &noun, ec_array_pattern(graph_of(L), array->call));
}

/* A number beside a list of n is that of all of them. Memory stays on the stack. */
static ec_lua_list spread(lua_State *L, const ec_lua_list *list, int32_t n)
{
    if (!list->scalar || n < 2)
        return *list;
    double *v = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++)
        v[i] = list->v[0];
    return (ec_lua_list){.v = v, .n = n, .scalar = true};
}

/* Directions in the grid's coordinates. Memory stays on the stack. */
static int32_t read_directions(lua_State *L, const ec_noun *noun, const ec_lua_array *array,
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
    const ec_lua_list wide[2] = {spread(L, first, second->n), spread(L, second, first->n)};
    if (two) {
        first = &wide[0];
        second = &wide[1];
    }
    if (two && first->n != second->n)
        ec_lua_fail(L, "%s: %s has %d directions, %s has %d", noun->name, names[0], (int)first->n,
                    names[1], (int)second->n);
    bool degrees = array->kind != EC_ARRAY_CUT_U && array->kind != EC_ARRAY_GRID_UV;
    *a = degrees ? ec_lua_radians(L, first->v, first->n) : first->v;
    *b = !two ? NULL : degrees ? ec_lua_radians(L, second->v, second->n) : second->v;
    *single = first->scalar && (!two || second->scalar);
    return first->n;
}

static int array_level(lua_State *L)
{
    metric_keys k;
    ec_array_beam beam;
    const double *a, *b;
    bool single;
    ec_lua_array *array = begin(L, &ec_noun_level, &k, &beam);
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
    ec_lua_array *array = begin(L, &ec_noun_null_depth, &k, &beam);
    int32_t n = read_directions(L, &ec_noun_null_depth, array, &k, &a, &b, &single);
    return push_metric(L, &ec_noun_null_depth,
                       ec_array_null_depth_db(graph_of(L), array->call, &beam, n, a, b));
}

/* ---- masks ----------------------------------------------------------------------------------- */

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
    ec_lua_array *array = begin(L, &ec_noun_excess, &k, &beam);
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
        if (k.relative && fmin(lines[i].max[0], lines[i].max[1]) > 3.0 && isfinite(lines[i].max[0]))
            ec_log_write(ec_lua_host_of(L)->settings.log, EC_LOG_WARNING,
                         "array:excess_db: key 'mask': line %d: max = %.14g lies above the beam's "
                         "peak, which is 0 dB; is it meant to be negative?",
                         (int)i + 1, lines[i].max[0]);
        if (degrees) {
            lines[i].from *= EC_LUA_RADIANS;
            lines[i].to *= EC_LUA_RADIANS;
        }
    }
    return push_metric(
        L, &ec_noun_excess,
        isnan(k.p)
            ? ec_array_excess_db(graph_of(L), array->call, &beam, k.relative, n, lines)
            : ec_array_excess_norm_db(graph_of(L), array->call, &beam, k.relative, n, lines, k.p));
}

/* ---- module ---------------------------------------------------------------------------------- */

static const luaL_Reg methods[] = {{"sll_db", array_sll},
                                   {"sll_mean_db", array_sll_mean},
                                   {"xpol_db", array_xpol},
                                   {"hpbw_deg", array_hpbw},
                                   {"fnbw_deg", array_fnbw},
                                   {"directivity_db", array_directivity},
                                   {"excess_db", array_excess},
                                   {"level_db", array_level},
                                   {"null_depth_db", array_null_depth},
                                   {"pointing_error_deg", array_pointing_error},
                                   {"scan_loss_db", array_scan_loss},
                                   {"dynamic_range_db", array_dynamic_range},
                                   {"pattern", array_pattern},
                                   {"with", ec_lua_array_with},
                                   {NULL, NULL}};

static int array_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *names[sizeof methods / sizeof *methods], *name = luaL_tolstring(L, 2, NULL);
    int n = 0;
    for (; methods[n].name; n++)
        names[n] = methods[n].name;
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "an array has no method '%s' (did you mean '%s'?)", name, near);
    luaL_Buffer all;
    luaL_buffinit(L, &all);
    for (int i = 0; i < n; i++) {
        luaL_addstring(&all, i ? ", " : "");
        luaL_addstring(&all, names[i]);
    }
    luaL_pushresult(&all);
    ec_lua_fail(L, "an array has no method '%s'; it has %s", name, lua_tostring(L, -1));
}

/* The metatable of arrays. */
void ec_lua_metric_open(lua_State *L)
{
    luaL_newmetatable(L, EC_LUA_ARRAY);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcclosure(L, array_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
