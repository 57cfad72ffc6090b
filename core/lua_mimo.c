#include "lua_mimo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/mimo/mimo.h"
#include "evaluators/mimo/mimo_places.h"
#include "lua_array.h"
#include "lua_expr.h"
#include "lua_matrix.h"
#include "lua_mimo_antennas.h"
#include "lua_mimo_coupling.h"
#include "lua_mimo_save.h"
#include "lua_scene.h"
#include "lua_values.h"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct mimo_keys {
    int scene, tx, rx, paths, frequency, wavelength;
    int64_t depth, diffraction, transmissions, rays;
    bool inner_wedges;
    double bandwidth, noise_figure_db;
} mimo_keys;

#define ROW(key, kind, flags, initial, min, max, unit, words, help, field)                         \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, words, help, offsetof(mimo_keys, field)         \
    }

static const ec_key mimo_table[] = {
    ROW("scene", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL, "of ec.scene{ ... }", scene),
    ROW("tx", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,
        "the transmitting antennas (see mimo.tx)", tx),
    ROW("rx", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL, "the receiving antennas", rx),
    ROW("frequency", EC_KEY_QUANTITY, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", NULL,
        "one or several, from one tracing; materials must have figures at the ends of what an "
        "expression can be",
        frequency),
    ROW("wavelength", EC_KEY_QUANTITY, EC_KEY_ABOVE, NAN, 0, INFINITY, "m", NULL,
        "instead of the frequency", wavelength),
    ROW("depth", EC_KEY_INTEGER, 0, 3, 0, 24, NULL, NULL,
        "interactions of a path at most, transmissions not counted; 0: line of sight", depth),
    ROW("diffraction", EC_KEY_INTEGER, 0, 0, 0, 2, NULL, NULL, "of them at edges at most",
        diffraction),
    ROW("transmissions", EC_KEY_INTEGER, 0, 0, 0, 24, NULL, NULL,
        "through slabs (materials with a thickness) at most; 0: nothing gets through",
        transmissions),
    ROW("inner_edges", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL, "edges of inner corners diffract too",
        inner_wedges),
    ROW("paths", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|exhaustive|launched",
        "all sequences of interactions that can be, or those that rays from where antennas may be "
        "meet; auto: rays for scenes of more than 256 parts",
        paths),
    ROW("rays", EC_KEY_INTEGER, 0, 100000, 1, 1e7, NULL, NULL,
        "of each of the places that a launched search begins at", rays),
    ROW("bandwidth", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", NULL,
        "of the noise of a link budget, for normalize = \"none\"", bandwidth),
    ROW("noise_figure_db", EC_KEY_NUMBER, 0, 0, 0, 100, "dB", NULL, "of the receivers, at 290 K",
        noise_figure_db)};
#undef ROW

const ec_noun ec_noun_mimo = {
    "ec.mimo", "ec.mimo{ scene = s, wavelength = 1, tx = { x = tx }, rx = { x = rx, y = 80 } }",
    "Links between antennas in a scene by ray tracing, fields with their polarization. What it "
    "gives "
    "has methods (eciton help link): expressions of the channel matrix H and its paths, "
    "link:report(), which says what was searched, and link:save(file).",
    EC_KEYS(mimo_table)};

typedef struct end_keys {
    ec_expr x, y, z, along;
    int at, coupling;
    ec_lua_antenna_keys antennas;
    ec_lua_list point, direction, from, to, power_dbm;
    int64_t count;
    double spacing;
} end_keys;

#define ROW(key, kind, flags, initial, min, max, unit, words, help, field)                         \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, words, help, offsetof(end_keys, field)          \
    }

static const ec_key end_table[] = {
    ROW("x", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL,
        "of each antenna: a number, a list or an expression (y and z alike; default 0)", x),
    ROW("y", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "of each antenna", y),
    ROW("z", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL, "of each antenna", z),
    ROW("along", EC_KEY_EXPR, 0, NAN, 0, 0, "m", NULL,
        "antennas on a line: the distance of each from point in direction", along),
    ROW("point", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, "m", NULL, "{x, y, z} of the line",
        point),
    ROW("direction", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
        "{x, y, z} of the line, or of the antennas of each place; default {1, 0, 0}", direction),
    ROW("at", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "places, as { x = , y = , z = }, ec.grid{ ... } or what job:choice gives: of rx, each is a "
        "receiver",
        at),
    ROW("count", EC_KEY_INTEGER, 0, 1, 1, 64, NULL, NULL, "antennas of each place", count),
    ROW("spacing", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "m", NULL,
        "between the antennas of a place, which is their middle", spacing),
    EC_LUA_ANTENNA_ROWS(end_keys, antennas),
    ROW("coupling", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "scattering matrix S of the antennas, or of those about a place, of ec.load_touchstone, or "
        "a "
        "list of rows of numbers or {re, im}: H becomes (I - S_rx) H (I - S_tx)",
        coupling),
    ROW("power_dbm", EC_KEY_LIST, 0, NAN, -300, 300, "dBm", NULL,
        "of all transmitting antennas together (for SINR and sum rate of each), or a list with the "
        "power of each; for normalize = \"none\"",
        power_dbm),
    ROW("from", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, "m", NULL,
        "{x, y, z}: lowest corner of the box that the antennas are in; a design with one outside "
        "fails (default: the ranges of their coordinates)",
        from),
    ROW("to", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, "m", NULL, "its highest corner", to)};
#undef ROW

const ec_noun ec_noun_mimo_end = {
    "mimo.tx", "tx = { x = x, y = -40, antenna = \"halfwave\", power_dbm = 20 }",
    "Antennas of one end of ec.mimo's links; rx likewise. With at, count antennas about each "
    "place: those of tx are one array, those of rx a receiver a place.",
    EC_KEYS(end_table)};

typedef struct place_keys {
    ec_lua_list from, to, step;
    int scene;
    double clearance;
} place_keys;

static const ec_key place_table[] = {
    {"from", EC_KEY_LIST, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, "m", NULL,
     "{x, y, z} of the first place", offsetof(place_keys, from)},
    {"to", EC_KEY_LIST, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, "m", NULL,
     "{x, y, z} that no place is beyond", offsetof(place_keys, to)},
    {"step", EC_KEY_LIST, EC_KEY_REQUIRED | EC_KEY_ABOVE, NAN, 0, INFINITY, "m", NULL,
     "a number or one for each axis", offsetof(place_keys, step)},
    {"scene", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "of ec.scene: places where antennas cannot be are left out: inside of solids, on surfaces, "
     "outside of a room",
     offsetof(place_keys, scene)},
    {"clearance", EC_KEY_NUMBER, 0, 0, 0, INFINITY, "m", NULL,
     "with scene: nor may there be anything of it so far to either side along x, y and z",
     offsetof(place_keys, clearance)}};

const ec_noun ec_noun_places = {
    "ec.grid", "ec.grid{ from = {1, 1, 1.2}, to = {19, 11, 1.2}, step = 1 }",
    "Places a step apart in a box, x first: lists x, y, z and their number n. With a scene only "
    "those where antennas can be.",
    EC_KEYS(place_table)};

/* ---- a link ---------------------------------------------------------------------------------- */

typedef struct ec_lua_mimo {
    ec_call *call;
    double snr_db; /* of all transmitters' power; NAN: there is no link budget */
    int32_t n_tx;
    double *share;     /* of it, of each transmitter: user value 1; NULL: alike */
    const char *lacks; /* keys that a link budget needs */
} ec_lua_mimo;

ec_call *ec_lua_mimo_test(lua_State *L, int index)
{
    const ec_lua_mimo *link = luaL_testudata(L, index, EC_LUA_MIMO);
    return link ? link->call : NULL;
}

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

static ec_expr number(lua_State *L, double value)
{
    return ec_graph_number(graph_of(L), value);
}

static ec_expr checked(lua_State *L, const char *what, ec_expr e)
{
    if (e < 0)
        ec_lua_fail_core(L, what);
    return e;
}

static void read_three(lua_State *L, const char *what, const char *key, const ec_lua_list *list,
                       double to[3])
{
    if (!list->v)
        return;
    if (list->n != 3 || list->scalar)
        ec_lua_fail(L, "%s: key '%s': wants {x, y, z}, got %d numbers", what, key, (int)list->n);
    memcpy(to, list->v, 3 * sizeof *to);
}

static void read_direction(lua_State *L, const char *what, const char *key, const ec_lua_list *list,
                           double to[3])
{
    read_three(L, what, key, list, to);
    if (!ec_lua_is_direction(to))
        ec_lua_fail(L, "%s: key '%s': the direction has no length", what, key);
}

bool ec_lua_mimo_is_places(lua_State *L, int index)
{
    if (!lua_istable(L, index))
        return false;
    int top = lua_gettop(L);
    index = lua_absindex(L, index);
    lua_pushliteral(L, "x");
    bool is = lua_rawget(L, index) != LUA_TNIL;
    lua_settop(L, top);
    return is;
}

/* n elements of which every one is one of `from`, each `repeat` times, and an offset: a coordinate
 * of the antennas of places. */
static ec_expr repeated(lua_State *L, const char *what, ec_expr from, int32_t places,
                        int32_t repeat, const double *offset)
{
    int32_t n = places * repeat, elements = ec_lua_expr_node(L, from)->elements;
    int32_t *index = lua_newuserdatauv(L, (size_t)n * sizeof *index, 0);
    double *moved = lua_newuserdatauv(L, (size_t)n * sizeof *moved, 0);
    for (int32_t i = 0; i < n; i++) {
        index[i] = elements == 1 ? 0 : i / repeat;
        moved[i] = offset[i % repeat];
    }
    ec_graph *graph = graph_of(L);
    ec_expr at = checked(L, what, ec_graph_gather(graph, from, 1, &n, index));
    ec_expr by = checked(L, what, ec_graph_constant(graph, 1, &n, moved));
    return checked(L, what, ec_graph_binary(graph, EC_OP_ADD, at, by));
}

/* Coordinates from places; returns how many places there are. */
static int32_t take_places(lua_State *L, const char *what, const end_keys *k,
                           const double direction[3], ec_mimo_end *end)
{
    static const char *const axes[] = {"x", "y", "z"};
    ec_expr at[3];
    int32_t places = 1, count = (int32_t)k->count;
    if (k->x >= 0 || k->y >= 0 || k->z >= 0 || k->along >= 0)
        ec_lua_fail(L, "%s: give at, or x, y and z, or along, one of them", what);
    if (!ec_lua_mimo_is_places(L, k->at))
        ec_lua_fail(L,
                    "%s: key 'at': wants places, as { x = {1, 2}, y = 0, z = 3 } or "
                    "ec.grid{ ... }, got a %s",
                    what, luaL_typename(L, k->at));
    if (count > 1 && isnan(k->spacing))
        ec_lua_fail(L, "%s: key 'spacing' is missing: %d antennas at each place", what, (int)count);
    for (int i = 0; i < 3; i++) {
        const char *name = lua_pushfstring(L, "%s: key 'at': %s", what, axes[i]);
        lua_getfield(L, k->at, axes[i]);
        at[i] = lua_isnil(L, -1) ? number(L, 0) : ec_lua_expr_get(L, lua_gettop(L), name);
    }
    const ec_lua_elements lists[] = {{"x", at[0]}, {"y", at[1]}, {"z", at[2]}};
    places = ec_lua_array_count(L, what, lists, 3);
    double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                         direction[2] * direction[2]);
    for (int i = 0; i < 3; i++) {
        double offset[64];
        for (int32_t m = 0; m < count; m++)
            offset[m] =
                count == 1 ? 0 : (m - 0.5 * (count - 1)) * k->spacing * direction[i] / length;
        end->at[i] = repeated(L, what, at[i], places, count, offset);
    }
    end->count = places * count;
    return places;
}

/* Coordinates on a line. */
static void take_line(lua_State *L, const char *what, const end_keys *k, const double direction[3],
                      ec_mimo_end *end)
{
    double point[3] = {0};
    if (k->x >= 0 || k->y >= 0 || k->z >= 0)
        ec_lua_fail(L, "%s: give along, or x, y and z, not both", what);
    read_three(L, what, "point", &k->point, point);
    double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                         direction[2] * direction[2]);
    ec_graph *graph = graph_of(L);
    for (int i = 0; i < 3; i++) {
        ec_expr part =
            ec_graph_binary(graph, EC_OP_MUL, k->along, number(L, direction[i] / length));
        end->at[i] =
            direction[i] == 0
                ? number(L, point[i])
                : checked(L, what, ec_graph_binary(graph, EC_OP_ADD, part, number(L, point[i])));
    }
    end->count = ec_lua_expr_node(L, k->along)->elements;
}

/* Powers of so many transmitters: of all together, and with a list the part of each. */
typedef struct powers {
    double total_dbm;
    double *share; /* left on the stack; NULL: alike */
} powers;

static void read_powers(lua_State *L, const char *what, const ec_lua_list *list, int32_t n,
                        powers *power)
{
    *power = (powers){.total_dbm = list->v ? list->v[0] : NAN};
    if (!list->v || list->scalar)
        return;
    if (list->n != n)
        ec_lua_fail(
            L, "%s: key 'power_dbm': %d powers for %d antennas; one for each, or a number for all",
            what, (int)list->n, (int)n);
    double sum = 0;
    power->share = lua_newuserdatauv(L, (size_t)n * sizeof *power->share, 0);
    for (int32_t i = 0; i < n; i++) {
        power->share[i] = pow(10, 0.1 * list->v[i]);
        sum += power->share[i];
    }
    for (int32_t i = 0; i < n; i++)
        power->share[i] /= sum;
    power->total_dbm = 10 * log10(sum);
}

static bool has_exponent(const ec_mimo_end *end)
{
    bool has = end->antenna.kind == EC_ELEMENT_KIND_COSQ;
    for (int32_t i = 0; end->each && i < end->count; i++)
        has = has || end->each[i].kind == EC_ELEMENT_KIND_COSQ;
    return has;
}

/* Keys that go with others. */
static void check_end_keys(lua_State *L, const char *what, const ec_noun *noun, const end_keys *k,
                           uint64_t given)
{
    bool count = ec_lua_keys_given(noun, given, "count");
    if (!k->at && (count || !isnan(k->spacing)))
        ec_lua_fail(L, "%s: keys 'count' and 'spacing' go with at, antennas about each place",
                    what);
    if (!count && !isnan(k->spacing))
        ec_lua_fail(L, "%s: key 'spacing' goes with count: each place has one antenna", what);
    if (k->along < 0 && k->point.v)
        ec_lua_fail(L, "%s: key 'point' goes with along, distances on a line", what);
    if (k->along < 0 && !count && k->direction.v)
        ec_lua_fail(L, "%s: key 'direction' goes with along, or with count of at", what);
}

/* The table at index; returns the number of places, 1 where they are not given as such. */
static int32_t read_end(lua_State *L, const char *key, int index, ec_mimo_end *end, powers *power)
{
    end_keys k;
    double direction[3] = {1, 0, 0};
    int32_t places = 1;
    const char *what = lua_pushfstring(L, "ec.mimo: key '%s'", key);
    if (!lua_istable(L, index))
        ec_lua_fail(L, "%s: wants a table of antennas, as in %s, got a %s", what,
                    ec_noun_mimo_end.usage, luaL_typename(L, index));
    ec_noun noun = ec_noun_mimo_end;
    noun.name = what;
    uint64_t given = ec_lua_keys_parse(L, index, &noun, &k, NULL);
    read_direction(L, what, "direction", &k.direction, direction);
    if (!power && ec_lua_keys_given(&noun, given, "power_dbm"))
        ec_lua_fail(L, "%s: key 'power_dbm' is the transmitters': give it in tx", what);
    check_end_keys(L, what, &noun, &k, given);
    ec_lua_mark_line(L);
    if (k.at) {
        places = take_places(L, what, &k, direction, end);
    } else if (k.along >= 0) {
        take_line(L, what, &k, direction, end);
    } else {
        const ec_lua_elements lists[] = {{"x", k.x}, {"y", k.y}, {"z", k.z}};
        if (k.x < 0 && k.y < 0 && k.z < 0)
            ec_lua_fail(L, "%s: no positions: give x, y and z, or along, or at", what);
        end->count = ec_lua_array_count(L, what, lists, 3);
        end->at[0] = k.x >= 0 ? k.x : number(L, 0);
        end->at[1] = k.y >= 0 ? k.y : number(L, 0);
        end->at[2] = k.z >= 0 ? k.z : number(L, 0);
    }
    ec_lua_mimo_antennas(L, what, &k.antennas, end->count / places, end);
    if (ec_lua_keys_given(&noun, given, "q") && !has_exponent(end))
        ec_lua_fail(L, "%s: key 'q': %.14g, but only antenna = 'cosq' has an exponent", what,
                    k.antennas.q);
    end->coupling = ec_lua_mimo_coupling(L, what, k.coupling, end->count / places, end->count);
    read_three(L, what, "from", &k.from, end->box[0]);
    read_three(L, what, "to", &k.to, end->box[1]);
    if (power)
        read_powers(L, what, &k.power_dbm, end->count, power);
    return places;
}

/* Thermal noise power in dBm. */
static double noise_dbm(double bandwidth, double noise_figure_db)
{
    const double boltzmann = 1.380649e-23, kelvin = 290;
    return 10 * log10(boltzmann * kelvin * bandwidth * 1e3) + noise_figure_db;
}

/* The numbers at a stack index, a number or a table of them; false for an expression. */
static bool plain_numbers(lua_State *L, int index, const char *what, ec_lua_list *list)
{
    if (lua_type(L, index) != LUA_TNUMBER && !lua_istable(L, index))
        return false;
    ec_lua_list_get(L, index, what, list);
    if (list->n < 1)
        ec_lua_fail(L, "%s: the list is empty", what);
    return true;
}

/* Materials have figures at the ends of what the frequency can be. */
static void check_materials(lua_State *L, const char *what, const ec_scene *scene,
                            ec_interval range)
{
    const double ends[2] = {range.lo, range.hi};
    for (int32_t i = 0; i < scene->n_materials; i++)
        for (int k = 0; k < 2; k++)
            if (ec_material_check(&scene->material[i], ends[k]) < 0)
                ec_lua_fail(L, "%s: %s", what, ec_error_text());
}

static void read_frequencies(lua_State *L, const mimo_keys *k, ec_mimo_config *config)
{
    int index = k->frequency ? k->frequency : k->wavelength;
    if (k->frequency && k->wavelength)
        ec_lua_fail(L, "ec.mimo: keys 'wavelength' and 'frequency' say the same: give one of them");
    if (!index)
        ec_lua_fail(L, "ec.mimo: one of the keys wavelength and frequency is needed (wavelength = "
                       "1: lengths in wavelengths)");
    const char *what = k->frequency ? "ec.mimo: key 'frequency'" : "ec.mimo: key 'wavelength'";
    ec_lua_list list;
    ec_interval range = {INFINITY, 0};
    if (plain_numbers(L, index, what, &list)) {
        double *f = lua_newuserdatauv(L, (size_t)list.n * sizeof *f, 0);
        for (int32_t i = 0; i < list.n; i++) {
            f[i] = k->frequency ? list.v[i] : EC_LIGHT_SPEED / list.v[i];
            range.lo = fmin(range.lo, f[i]);
            range.hi = fmax(range.hi, f[i]);
        }
        config->frequency = f;
        config->n_frequencies = list.n;
    } else {
        ec_expr f = ec_lua_expr_get(L, index, what);
        if (k->wavelength)
            f = checked(L, what,
                        ec_graph_binary(graph_of(L), EC_OP_DIV, number(L, EC_LIGHT_SPEED), f));
        config->frequencies = f;
        range = ec_lua_expr_node(L, f)->range;
        if (ec_lua_expr_node(L, f)->rank > 1)
            ec_lua_fail(L, "%s: wants a number or a list, got %d x %d of them", what,
                        (int)ec_lua_expr_node(L, f)->shape[0],
                        (int)ec_lua_expr_node(L, f)->shape[1]);
        if (!isfinite(range.hi))
            ec_lua_fail(L,
                        "%s: the frequency can be from %.6g to %.6g Hz: a finite range is "
                        "needed",
                        what, range.lo, range.hi);
    }
    check_materials(L, what, config->scene, range);
}

/* Of materials whose figures are not known at a frequency. */
static void warn_materials(lua_State *L, const ec_scene *scene, double frequency)
{
    for (int32_t i = 0; i < scene->n_materials; i++)
        if (ec_material_check(&scene->material[i], frequency) > 0)
            ec_log_write(ec_lua_host_of(L)->settings.log, EC_LOG_WARNING, "ec.mimo: %s",
                         ec_error_text());
}

/* What a search left out; antennas that may be too near for a model without coupling. */
static void say(lua_State *L, const ec_call *call, const ec_mimo_config *config)
{
    ec_log *log = ec_lua_host_of(L)->settings.log;
    char text[256];
    double range[2];
    ec_mimo_describe(call, text, sizeof text); /* else its plan says it, when it is used */
    if (ec_mimo_is_cut(call))
        ec_log_write(log, EC_LOG_WARNING, "ec.mimo: %s", text);
    ec_mimo_frequency_range(call, range);
    warn_materials(L, config->scene, range[0]);
    if (range[1] > range[0])
        warn_materials(L, config->scene, range[1]);
    double half = 0.5 * EC_LIGHT_SPEED / range[1], least = ec_mimo_least_spacing(call);
    if (least < half * (1 - 1e-9))
        ec_log_write(log, EC_LOG_WARNING,
                     "ec.mimo: antennas of one end can be %.3g m apart, by where they may "
                     "be (limits of job:subject_to are not looked at); below half a wavelength, "
                     "%.3g m, they couple, which the channels leave out without the key coupling",
                     least, half);
}

static void warn_idle_keys(lua_State *L, const mimo_keys *k, uint64_t given,
                           const ec_mimo_config *config)
{
    bool slabs = false;
    for (int32_t i = 0; i < config->scene->n_materials; i++)
        slabs = slabs || config->scene->material[i].thickness > 0;
    ec_lua_mark_line(L);
    if (k->diffraction > 0 && k->depth == 0)
        ec_lua_warn_idle(L, "ec.mimo", "diffraction", "depth = 0 is line of sight alone");
    if (k->inner_wedges && (k->diffraction == 0 || k->depth == 0))
        ec_lua_warn_idle(L, "ec.mimo", "inner_edges", "it goes with diffraction above 0");
    if (k->transmissions > 0 && !slabs)
        ec_lua_warn_idle(L, "ec.mimo", "transmissions", "no material of the scene has a thickness");
    if (ec_lua_keys_given(&ec_noun_mimo, given, "rays") && k->paths == EC_MIMO_EXHAUSTIVE)
        ec_lua_warn_idle(L, "ec.mimo", "rays", "paths = \"exhaustive\" launches none");
}

/* A noise without the rest of a link budget is none: later it would only be missed. */
static void check_budget(lua_State *L, const mimo_keys *k, uint64_t given, double power_dbm)
{
    bool bandwidth = !isnan(k->bandwidth);
    if (!bandwidth && ec_lua_keys_given(&ec_noun_mimo, given, "noise_figure_db"))
        ec_lua_fail(L,
                    "ec.mimo: key 'noise_figure_db' goes with bandwidth: they are the noise of a "
                    "link budget");
    if (bandwidth && isnan(power_dbm))
        ec_lua_fail(L, "ec.mimo: key 'tx': key 'power_dbm' is missing: bandwidth is that of a link "
                       "budget");
}

/* The keys that a link budget lacks, "power_dbm of tx and bandwidth". */
static const char *lacks(const mimo_keys *k, double power_dbm)
{
    return !isnan(k->bandwidth) ? "power_dbm of tx"
           : isnan(power_dbm)   ? "power_dbm of tx and bandwidth"
                                : "bandwidth";
}

static int mimo_new(lua_State *L)
{
    mimo_keys k;
    ec_mimo_config config;
    powers power;
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "ec.mimo: wants a table, as in %s, got a %s", ec_noun_mimo.usage,
                    luaL_typename(L, 1));
    uint64_t given = ec_lua_keys_parse(L, 1, &ec_noun_mimo, &k, NULL);
    const ec_lua_scene *scene = ec_lua_scene_test(L, k.scene);
    if (!scene || !scene->scene)
        ec_lua_fail(L, "ec.mimo: key 'scene': wants a scene of ec.scene{ ... }, got a %s",
                    luaL_typename(L, k.scene));
    ec_lua_scene_say(L, k.scene);
    ec_mimo_config_default(&config);
    config.scene = scene->scene;
    read_frequencies(L, &k, &config);
    config.depth = (int32_t)k.depth;
    config.diffractions = (int32_t)k.diffraction;
    config.transmissions = (int32_t)k.transmissions;
    config.inner_wedges = k.inner_wedges;
    config.search = (ec_mimo_search)k.paths;
    config.rays = (int32_t)k.rays;
    read_end(L, "tx", k.tx, &config.tx, &power);
    int share = power.share ? lua_gettop(L) : 0;
    config.receivers = read_end(L, "rx", k.rx, &config.rx, NULL);
    warn_idle_keys(L, &k, given, &config);
    check_budget(L, &k, given, power.total_dbm);
    ec_lua_mimo *link = lua_newuserdatauv(L, sizeof *link, 1);
    *link = (ec_lua_mimo){.n_tx = config.tx.count, .share = power.share};
    if (share) {
        lua_pushvalue(L, share);
        lua_setiuservalue(L, -2, 1);
    }
    config.power_dbm = power.total_dbm;
    config.power_share = power.share;
    config.noise_dbm = noise_dbm(k.bandwidth, k.noise_figure_db);
    link->snr_db = config.power_dbm - config.noise_dbm;
    link->lacks = lacks(&k, power.total_dbm);
    luaL_setmetatable(L, EC_LUA_MIMO);
    /* the call reads the scene as long as the graph lives */
    lua_pushvalue(L, k.scene);
    luaL_ref(L, LUA_REGISTRYINDEX);
    ec_lua_host *host = ec_lua_host_of(L);
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    int rc = ec_mimo_call(graph_of(L), &config, &link->call);
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    ec_lua_core_leave(L, caller);
    if (rc != EC_OK)
        ec_lua_fail_core(L, "ec.mimo");
    say(L, link->call, &config);
    return 1;
}

/* ---- methods --------------------------------------------------------------------------------- */

static ec_lua_mimo *link_at(lua_State *L, const char *what, bool has_keys)
{
    ec_lua_mimo *link = luaL_testudata(L, 1, EC_LUA_MIMO);
    if (!link || !link->call)
        ec_lua_fail(L, "%s: call it with a colon on a link of ec.mimo", what);
    if (!has_keys && !lua_isnoneornil(L, 2))
        ec_lua_fail(L, "%s: takes nothing, got a %s", what, luaL_typename(L, 2));
    ec_lua_mark_line(L);
    return link;
}

ec_call *ec_lua_mimo_call(lua_State *L, const char *what, bool has_keys)
{
    return link_at(L, what, has_keys)->call;
}

static int push_output(lua_State *L, const char *what, ec_mimo_output output)
{
    ec_lua_mimo *link = link_at(L, what, false);
    return ec_lua_expr_push(L, checked(L, what, ec_mimo_value(graph_of(L), link->call, output)));
}

static int link_h(lua_State *L)
{
    return push_output(L, "link:h", EC_MIMO_CHANNEL);
}

static int link_paths(lua_State *L)
{
    return push_output(L, "link:paths", EC_MIMO_PATHS);
}

static int link_grazing(lua_State *L)
{
    return push_output(L, "link:grazing", EC_MIMO_GRAZING);
}

static int link_grazing_share(lua_State *L)
{
    return push_output(L, "link:grazing_share", EC_MIMO_GRAZING_SHARE);
}

static int link_unresolved(lua_State *L)
{
    return push_output(L, "link:unresolved", EC_MIMO_UNRESOLVED);
}

/* 10 log10 |h|^2, not below -300 dB: a pair without a path is no failure. */
static int link_path_gain(lua_State *L)
{
    const char *what = "link:path_gain_db";
    ec_graph *graph = graph_of(L);
    ec_lua_mimo *link = link_at(L, what, false);
    ec_expr h = checked(L, what, ec_mimo_value(graph, link->call, EC_MIMO_CHANNEL));
    ec_expr gain =
        ec_graph_binary(graph, EC_OP_MAX, ec_graph_unary(graph, EC_OP_ABS2, h), number(L, 1e-30));
    ec_expr log = ec_graph_unary(graph, EC_OP_LOG10, gain);
    return ec_lua_expr_push(
        L, checked(L, what, ec_graph_binary(graph, EC_OP_MUL, log, number(L, 10))));
}

static int link_snr(lua_State *L)
{
    const ec_lua_mimo *link = link_at(L, "link:snr_db", false);
    if (isnan(link->snr_db))
        ec_lua_fail(L, "link:snr_db: there is no link budget: ec.mimo lacks %s", link->lacks);
    lua_pushnumber(L, link->snr_db);
    return 1;
}

static int link_report(lua_State *L)
{
    char text[256];
    ec_call *call = link_at(L, "link:report", false)->call;
    ec_mimo_describe(call, text, sizeof text);
    ec_mimo_told(call);
    lua_pushstring(L, text);
    return 1;
}

/* A function of H (upvalue 1: which); its SNR can be that of the link budget. */
static int link_function(lua_State *L)
{
    int which = (int)lua_tointeger(L, lua_upvalueindex(1));
    const char *what = ec_lua_link_functions[which]->name;
    const ec_lua_mimo *link = link_at(L, what, true);
    const ec_lua_snr snr = {link->snr_db, link->lacks, link->n_tx, link->share};
    lua_settop(L, 2);
    lua_pushvalue(L, 1); /* keeps the shares */
    ec_lua_expr_push(L, checked(L, what, ec_mimo_value(graph_of(L), link->call, EC_MIMO_CHANNEL)));
    lua_replace(L, 1);
    return ec_lua_link_function(L, which, &snr);
}

static const luaL_Reg methods[] = {{"h", link_h},
                                   {"paths", link_paths},
                                   {"grazing", link_grazing},
                                   {"grazing_share", link_grazing_share},
                                   {"unresolved", link_unresolved},
                                   {"path_gain_db", link_path_gain},
                                   {"k_factor_db", ec_lua_link_k_factor_db},
                                   {"mean_delay", ec_lua_link_mean_delay},
                                   {"delay_spread", ec_lua_link_delay_spread},
                                   {"angular_spread_deg", ec_lua_link_angular_spread_deg},
                                   {"snr_db", link_snr},
                                   {"report", link_report},
                                   {"save", ec_lua_mimo_save_fixed},
                                   {NULL, NULL}};

enum { METHODS = sizeof methods / sizeof *methods - 1, NAMES_MAX = 64 };

static int link_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *names[NAMES_MAX], *name = luaL_tolstring(L, 2, NULL);
    int n = 0;
    for (int i = 0; i < METHODS; i++)
        names[n++] = methods[i].name;
    for (int i = 0; ec_lua_link_functions[i]; i++)
        names[n++] = ec_lua_link_functions[i]->name + strlen("link:");
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "a link has no method '%s' (did you mean '%s'?)", name, near);
    ec_lua_fail(L, "a link has no method '%s'; it has %s", name, ec_lua_push_names(L, names, n));
}

/* ---- ec.grid --------------------------------------------------------------------------------- */

/* Keeps of n places those where antennas can be, and returns how many. */
static int64_t free_places(lua_State *L, const place_keys *k, int64_t n, double (*at)[3])
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_scene *scene = ec_lua_scene_test(L, k->scene);
    int64_t kept = 0;
    if (!scene || !scene->scene)
        ec_lua_fail(L, "ec.grid: key 'scene': wants a scene of ec.scene{ ... }, got a %s",
                    luaL_typename(L, k->scene));
    bool *places = lua_newuserdatauv(L, (size_t)n * sizeof *places, 0);
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    int rc = ec_mimo_places_free(scene->scene, (int32_t)n, (const double(*)[3])at, k->clearance,
                                 host->backend->threads, places);
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    ec_lua_core_leave(L, caller);
    if (rc != EC_OK)
        ec_lua_fail_core(L, "ec.grid");
    for (int64_t j = 0; j < n; j++)
        if (places[j])
            memmove(at[kept++], at[j], sizeof *at);
    if (kept == 0)
        ec_lua_fail(L, "ec.grid: key 'scene': none of the %d places is free", (int)n);
    return kept;
}

static int grid_new(lua_State *L)
{
    static const char *const axes[] = {"x", "y", "z"};
    place_keys k;
    double from[3], to[3], step[3];
    int64_t n[3], all = 1;
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "ec.grid: wants a table, as in %s, got a %s", ec_noun_places.usage,
                    luaL_typename(L, 1));
    ec_lua_keys_parse(L, 1, &ec_noun_places, &k, NULL);
    if (k.clearance > 0 && !k.scene)
        ec_lua_fail(L, "ec.grid: key 'clearance' goes with scene");
    read_three(L, "ec.grid", "from", &k.from, from);
    read_three(L, "ec.grid", "to", &k.to, to);
    for (int i = 0; i < 3; i++)
        step[i] = k.step.v[0];
    if (!k.step.scalar && k.step.n != 1)
        read_three(L, "ec.grid", "step", &k.step, step);
    for (int i = 0; i < 3; i++) {
        double steps = floor((to[i] - from[i]) / step[i] + 1e-9);
        if (to[i] < from[i])
            ec_lua_fail(L, "ec.grid: key 'to': %s is %.14g, below from, %.14g", axes[i], to[i],
                        from[i]);
        if (!(steps < 1e6) || (double)all * (steps + 1) > 1e6)
            ec_lua_fail(L, "ec.grid: key 'step': %.14g m gives more than 1000000 places", step[i]);
        n[i] = (int64_t)steps + 1;
        all *= n[i];
    }
    double(*at)[3] = lua_newuserdatauv(L, (size_t)all * sizeof *at, 0);
    for (int64_t j = 0; j < all; j++) {
        const int64_t place[3] = {j % n[0], j / n[0] % n[1], j / (n[0] * n[1])};
        for (int i = 0; i < 3; i++)
            at[j][i] = from[i] + (double)place[i] * step[i];
    }
    int64_t kept = k.scene ? free_places(L, &k, all, at) : all;
    lua_newtable(L);
    for (int i = 0; i < 3; i++) {
        double *values = ec_lua_values_new(L, kept);
        for (int64_t j = 0; j < kept; j++)
            values[j] = at[j][i];
        lua_setfield(L, -2, axes[i]);
    }
    lua_pushinteger(L, kept);
    lua_setfield(L, -2, "n");
    return 1;
}

/* ---- module ---------------------------------------------------------------------------------- */

void ec_lua_mimo_open(lua_State *L)
{
    luaL_newmetatable(L, EC_LUA_MIMO);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    for (int i = 0; ec_lua_link_functions[i]; i++) {
        lua_pushinteger(L, i);
        lua_pushcclosure(L, link_function, 1);
        lua_setfield(L, -2, ec_lua_link_functions[i]->name + strlen("link:"));
    }
    lua_pushcclosure(L, link_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, mimo_new);
    lua_setfield(L, -2, "mimo");
    lua_pushcfunction(L, grid_new);
    lua_setfield(L, -2, "grid");
}
