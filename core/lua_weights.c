/* ec.optimal: optimal weights for each design's geometry. */
#include <math.h>
#include <string.h>

#include "evaluators/array_pattern/array_weights.h"
#include "lua_array.h"
#include "lua_elements.h"
#include "lua_expr.h"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct weights_keys {
    int method, noise;
    ec_expr x, y, z, wavelength, frequency;
    ec_expr look_u, look_v, look_theta, look_phi;
    ec_expr null_u, null_v, null_theta, null_phi;
    ec_expr interference_u, interference_v, interference_db, start;
    ec_lua_list u, v;
    double exclude_u, flat_u, sll_db, loading;
    int64_t iterations, filled;
    ec_lua_element_keys elements;
} weights_keys;

#define ROW(key, kind, flags, initial, min, max, unit, words, help, field)                         \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, words, help, offsetof(weights_keys, field)      \
    }

static const ec_key weights_table[] = {
    ROW("method", EC_KEY_WORD, 0, 0, 0, 0, NULL, "lcmv|least_squares|minimum_sll|thinning",
        "lcmv: least noise power with unit gain in the look direction; least_squares: to a main "
        "beam and a side-lobe level over a grid; minimum_sll: lowest side lobes on a grid; "
        "thinning: "
        "0 or 1 for each element",
        method),
    ROW("x", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "x of each element, or of all", x),
    ROW("y", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "y of each element, or of all", y),
    ROW("z", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "z of each element, or of all", z),
    ROW("wavelength", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL,
        "wavelength; with 1, positions are in wavelengths", wavelength),
    ROW("frequency", EC_KEY_EXPR, 0, NAN, 0, 0, "Hz", NULL, "frequency, instead of wavelength",
        frequency),
    ROW("look_u", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL,
        "u of the direction with gain 1 (default 0)", look_u),
    ROW("look_v", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL, "v of that direction (default 0)", look_v),
    ROW("look_theta_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL, "theta of that direction",
        look_theta),
    ROW("look_phi_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL, "phi of that direction", look_phi),
    ROW("null_u", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL,
        "u of each direction with gain 0: fewer than there are elements (of elements of their own "
        "with polarization = 'total' fewer than half as many)",
        null_u),
    ROW("null_v", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL, "v of each null (default 0)", null_v),
    ROW("null_theta_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL, "theta of each null", null_theta),
    ROW("null_phi_deg", EC_KEY_EXPR, 0, NAN, 0, 0, "deg", NULL, "phi of each null (default 0)",
        null_phi),
    EC_LUA_ELEMENT_ROWS(weights_keys, elements),
    ROW("noise", EC_KEY_WORD, 0, 0, 0, 0, NULL, "white|isotropic",
        "lcmv: white: of each element, gives the smallest weights; isotropic: from all around, "
        "gives the highest directivity",
        noise),
    ROW("interference_u", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL, "lcmv: u of each interferer",
        interference_u),
    ROW("interference_v", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL,
        "lcmv: v of each interferer (default 0)", interference_v),
    ROW("interference_db", EC_KEY_EXPR, 0, NAN, 0, 0, "dB", NULL,
        "lcmv: power of each interferer, or of all, over the noise of one element (default 30)",
        interference_db),
    ROW("u", EC_KEY_LIST, 0, NAN, -2, 2, NULL, NULL, "all but lcmv: grid of u", u),
    ROW("v", EC_KEY_LIST, 0, NAN, -2, 2, NULL, NULL,
        "grid of v; a number is the v of all directions (default 0)", v),
    ROW("exclude_u", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, 2, NULL, NULL,
        "half width in u (and v) of the main beam; best with directions of the grid on its edge",
        exclude_u),
    ROW("flat_u", EC_KEY_NUMBER, 0, NAN, 0, 2, NULL, NULL,
        "least_squares: half width of the main beam's flat top (default 0); it falls from there to "
        "exclude_u as cos^2",
        flat_u),
    ROW("sll_db", EC_KEY_NUMBER, 0, NAN, -200, 0, "dB", NULL,
        "least_squares: a side lobe of this level weighs as much as an error of 1 in the main "
        "beam; thinning: side lobes above it are clipped to it (default -30)",
        sll_db),
    ROW("iterations", EC_KEY_INTEGER, 0, NAN, 1, 1000, NULL, NULL,
        "minimum_sll: rounds of reweighted least squares; thinning: rounds at most (default 20)",
        iterations),
    ROW("start", EC_KEY_EXPR, 0, NAN, 0, 0, NULL, NULL,
        "thinning: a first value for each element, most often variables from 0 to 1", start),
    ROW("filled", EC_KEY_INTEGER, 0, NAN, 1, 65536, NULL, NULL,
        "thinning: how many elements stay, those with the largest values", filled),
    ROW("loading", EC_KEY_NUMBER, 0, NAN, 0, 1e6, NULL, NULL,
        "added to the covariance's diagonal, times its mean: smaller weights (default: lcmv 0, "
        "else 1e-6)",
        loading)};

const ec_noun ec_noun_optimal = {
    "ec.optimal", "ec.optimal{ x = x, wavelength = 1, look_u = 0, null_u = {0.3, 0.5} }",
    "Optimal weights of each design's geometry, to be given to ec.array as weights. Its fields "
    "amplitude and phase (beyond the steering to the look direction) are expressions; of lcmv and "
    "least_squares they have a gradient over the positions. The array takes elements and coupling "
    "from the weights.",
    EC_KEYS(weights_table)};

/* ---- from keys to the core ------------------------------------------------------------------- */

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

static ec_expr sound(lua_State *L, ec_expr e)
{
    if (e < 0)
        ec_lua_fail_core(L, "ec.optimal");
    return e;
}

static ec_expr number(lua_State *L, double value)
{
    return sound(L, ec_graph_number(graph_of(L), value));
}

/* Keys that belong to one method only. */
static void check_method(lua_State *L, uint64_t given, int method)
{
    static const struct {
        const char *key;
        int methods; /* bits */
    } rows[] = {{"noise", 1},
                {"interference_u", 1},
                {"interference_v", 1},
                {"interference_db", 1},
                {"u", 14},
                {"v", 14},
                {"exclude_u", 14},
                {"flat_u", 2},
                {"sll_db", 10},
                {"iterations", 12},
                {"start", 8},
                {"filled", 8},
                {"loading", 7},
                {"null_u", 7},
                {"null_v", 7},
                {"null_theta_deg", 7},
                {"null_phi_deg", 7},
                {"coupling", 7}};
    static const char *const words[] = {"lcmv", "least_squares", "minimum_sll", "thinning"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ec_lua_keys_given(&ec_noun_optimal, given, rows[i].key) &&
            !(rows[i].methods & 1 << method))
            ec_lua_fail(L, "ec.optimal: key '%s' does not belong to method = '%s'", rows[i].key,
                        words[method]);
    if (method == EC_WEIGHTS_LCMV)
        return;
    if (!ec_lua_keys_given(&ec_noun_optimal, given, "u"))
        ec_lua_fail(L,
                    "ec.optimal: key 'u' is missing: method = '%s' needs directions, as in u = "
                    "ec.range(-1, 1, 401)",
                    words[method]);
    if (!ec_lua_keys_given(&ec_noun_optimal, given, "exclude_u"))
        ec_lua_fail(L, "ec.optimal: key 'exclude_u' is missing (half width of the main beam)");
    if (method == EC_WEIGHTS_THINNING && (!ec_lua_keys_given(&ec_noun_optimal, given, "start") ||
                                          !ec_lua_keys_given(&ec_noun_optimal, given, "filled")))
        ec_lua_fail(L, "ec.optimal: method = 'thinning' needs start (a value for each element) and "
                       "filled (how many stay)");
}

/* All directions of the grid; the memory stays on the stack. */
static void choose_grid(lua_State *L, const weights_keys *k, ec_weights_config *config)
{
    bool surface = k->v.v && !k->v.scalar;
    int64_t nu = k->u.n, nv = surface ? k->v.n : 1;
    if (nu * nv > INT32_MAX / 16)
        ec_lua_fail(L, "ec.optimal: a grid of %d x %d directions is too large", (int)nu, (int)nv);
    double *u = lua_newuserdatauv(L, 2 * (size_t)(nu * nv) * sizeof *u, 0), *v = u + nu * nv;
    for (int64_t i = 0; i < nu; i++)
        for (int64_t j = 0; j < nv; j++) {
            u[i * nv + j] = k->u.v[i];
            v[i * nv + j] = k->v.v ? k->v.v[j] : 0;
        }
    config->u = u;
    config->v = v;
    config->directions = (int32_t)(nu * nv);
}

static int32_t count_directions(lua_State *L, const char *first, ec_expr a, const char *second,
                                ec_expr b)
{
    const ec_lua_elements lists[] = {{first, a}, {second, b}};
    return a < 0 && b < 0 ? 0 : ec_lua_array_count(L, "ec.optimal", lists, 2);
}

static void choose_nulls(lua_State *L, const weights_keys *k, ec_weights_config *config,
                         ec_weights_inputs *in)
{
    ec_expr direction[3];
    config->nulls = count_directions(L, "null_u", k->null_u, "null_v", k->null_v);
    if (config->nulls == 0)
        config->nulls =
            count_directions(L, "null_theta_deg", k->null_theta, "null_phi_deg", k->null_phi);
    if (config->nulls == 0)
        return;
    ec_lua_array_direction(L, "ec.optimal", "null", k->null_u, k->null_v, k->null_theta,
                           k->null_phi, direction);
    in->null_u = direction[0];
    in->null_v = direction[1];
    in->null_w = direction[2];
}

static void choose_interference(lua_State *L, const weights_keys *k, ec_weights_config *config,
                                ec_weights_inputs *in)
{
    const double ln10 = 2.302585092994045684;
    config->interferers = count_directions(L, "interference_u", k->interference_u, "interference_v",
                                           k->interference_v);
    if (config->interferers == 0) {
        if (k->interference_db >= 0)
            ec_lua_fail(L, "ec.optimal: interference_db is given without interference_u");
        return;
    }
    in->interference_u = k->interference_u >= 0 ? k->interference_u : number(L, 0);
    in->interference_v = k->interference_v >= 0 ? k->interference_v : number(L, 0);
    ec_expr level = k->interference_db >= 0 ? k->interference_db : number(L, 30);
    ec_expr log_power =
        sound(L, ec_graph_binary(graph_of(L), EC_OP_MUL, level, number(L, ln10 / 10)));
    in->interference_power = sound(L, ec_graph_unary(graph_of(L), EC_OP_EXP, log_power));
}

static int weights_new(lua_State *L)
{
    weights_keys k;
    uint64_t given = ec_lua_keys_parse(L, 1, &ec_noun_optimal, &k, NULL);
    check_method(L, given, k.method);
    if (k.x < 0 && k.y < 0 && k.z < 0)
        ec_lua_fail(L, "ec.optimal: no positions: give x, y or z");
    const ec_lua_elements lists[] = {{"x", k.x}, {"y", k.y}, {"z", k.z}, {"start", k.start}};
    ec_weights_config config;
    ec_weights_config_default(&config);
    config.method = (ec_weights_method)k.method;
    config.noise = (ec_weights_noise)k.noise;
    config.elements = ec_lua_array_count(L, "ec.optimal", lists, 4);
    bool grid = config.method != EC_WEIGHTS_LCMV;
    config.loading = !isnan(k.loading) ? k.loading : grid ? 1e-6 : 0;
    if (grid)
        choose_grid(L, &k, &config);
    config.exclude = k.exclude_u;
    config.flat = isnan(k.flat_u) ? 0 : k.flat_u;
    if (!isnan(k.sll_db))
        config.sll_db = k.sll_db;
    if (k.iterations > 0)
        config.iterations = (int32_t)k.iterations;
    if (k.filled > 0)
        config.filled = (int32_t)k.filled;
    ec_array_config array;
    ec_array_config_default(&array);
    array.elements = config.elements;
    size_t bytes = ec_lua_elements_choose(L, &ec_noun_optimal, given, &k.elements, &array);
    config.array = &array;
    config.coupling = ec_lua_elements_coupling(L, &ec_noun_optimal, &k.elements, config.elements);
    ec_lua_mark_line(L);
    ec_weights_inputs in;
    ec_weights_inputs_default(&in);
    in.start = k.start;
    ec_lua_weights made = {.elements = config.elements};
    made.x = in.x = k.x >= 0 ? k.x : number(L, 0);
    made.y = in.y = k.y >= 0 ? k.y : number(L, 0);
    made.z = in.z = k.z >= 0 ? k.z : number(L, 0);
    made.wavelength = in.wavelength =
        ec_lua_array_wavelength(L, "ec.optimal", k.wavelength, k.frequency);
    ec_lua_array_direction(L, "ec.optimal", "look", k.look_u, k.look_v, k.look_theta, k.look_phi,
                           made.look);
    in.u0 = made.look[0];
    in.v0 = made.look[1];
    in.w0 = made.look[2];
    choose_nulls(L, &k, &config, &in);
    choose_interference(L, &k, &config, &in);
    ec_lua_weights *weights = lua_newuserdatauv(L, sizeof *weights, 1);
    luaL_setmetatable(L, EC_LUA_WEIGHTS);
    ec_lua_elements_keep(L, 1);
    lua_setiuservalue(L, -2, 1);
    /* the call copies grid and elements, and lives as long as the graph */
    ec_lua_budget_take(L, bytes + 3 * sizeof(double) * (size_t)config.directions);
    if (ec_weights_call(graph_of(L), &config, &in, &made.amplitude, &made.phase) != EC_OK)
        ec_lua_fail_core(L, "ec.optimal");
    *weights = made;
    return 1;
}

/* ---- module ---------------------------------------------------------------------------------- */

static int weights_index(lua_State *L)
{
    const ec_lua_weights *w = luaL_checkudata(L, 1, EC_LUA_WEIGHTS);
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "amplitude") == 0)
        return ec_lua_expr_push(L, w->amplitude);
    if (strcmp(name, "phase") == 0)
        return ec_lua_expr_push(L, w->phase);
    ec_lua_fail(L, "optimal weights have no field '%s', only amplitude and phase", name);
}

/* Adds ec.optimal to the module table on top of the stack. */
void ec_lua_weights_open(lua_State *L)
{
    luaL_newmetatable(L, EC_LUA_WEIGHTS);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushcfunction(L, weights_index);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, weights_new);
    lua_setfield(L, -2, "optimal");
}
