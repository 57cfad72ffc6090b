#include "lua_curve.h"

#include <math.h>
#include <string.h>

#define METHODS "eciton.curve"

/* A userdata, user value 1 of the expression. */
typedef struct band {
    int32_t n;
    bool db; /* the values are in dB */
    double frequency[];
} band;

static ec_graph *graph_of(lua_State *L)
{
    return ec_lua_host_of(L)->graph;
}

static ec_expr number(lua_State *L, double value)
{
    return ec_graph_number(graph_of(L), value);
}

static ec_expr two(lua_State *L, ec_op op, ec_expr a, ec_expr b)
{
    return ec_graph_binary(graph_of(L), op, a, b);
}

static ec_expr list(lua_State *L, int32_t n, const double *values)
{
    return ec_graph_constant(graph_of(L), 1, &n, values);
}

/* The frequencies of the expression at index, NULL where it has none. They stay on the stack. */
static const band *band_test(lua_State *L, int index)
{
    if (!luaL_testudata(L, index, EC_LUA_EXPR) || lua_getiuservalue(L, index, 1) != LUA_TUSERDATA)
        return NULL;
    return lua_touserdata(L, -1);
}

static const band *curve_at(lua_State *L, const char *what, ec_expr *expr)
{
    lua_settop(L, lua_gettop(L) < 3 ? 3 : lua_gettop(L)); /* arguments that are not given are nil */
    const band *b = band_test(L, 1);
    if (!b)
        ec_lua_fail(L, "curve:%s: call it with a colon on a quantity over frequency", what);
    *expr = ((const ec_lua_expr *)lua_touserdata(L, 1))->expr;
    ec_lua_mark_line(L);
    return b;
}

static int push(lua_State *L, ec_expr expr, int32_t n, const double *frequency, bool db)
{
    if (expr < 0)
        ec_lua_fail_core(L, NULL);
    ec_lua_expr *e = lua_newuserdatauv(L, sizeof *e, 1);
    e->expr = expr;
    luaL_setmetatable(L, EC_LUA_EXPR);
    band *b = lua_newuserdatauv(L, sizeof *b + (size_t)n * sizeof *b->frequency, 0);
    b->n = n;
    b->db = db;
    memcpy(b->frequency, frequency, (size_t)n * sizeof *b->frequency);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

int ec_lua_curve_push(lua_State *L, ec_expr expr, int32_t n_frequencies, const double *frequency)
{
    return push(L, expr, n_frequencies, frequency, false);
}

/* The frequencies from..to are those from *first to *end; none: *first >= *end. */
static void find_part(const band *b, double from, double to, int32_t *first, int32_t *end)
{
    *first = 0;
    *end = b->n;
    while (*first < b->n && b->frequency[*first] < from * (1 - 1e-9))
        ++*first;
    while (*end > *first && b->frequency[*end - 1] > to * (1 + 1e-9))
        --*end;
}

/* ---- parts of it ----------------------------------------------------------------------------- */

static bool is_complex(lua_State *L, ec_expr expr)
{
    int dtype = ec_lua_expr_node(L, expr)->dtype;
    return dtype == EC_C64 || dtype == EC_C128;
}

/* 10 log10 |x|^2; a zero is no failure. */
static ec_expr in_db(lua_State *L, ec_expr x)
{
    ec_op square = is_complex(L, x) ? EC_OP_ABS2 : EC_OP_SQUARE;
    ec_expr power = two(L, EC_OP_MAX, ec_graph_unary(graph_of(L), square, x), number(L, 1e-30));
    return two(L, EC_OP_MUL, ec_graph_unary(graph_of(L), EC_OP_LOG10, power), number(L, 10));
}

/* What comparisons look at. */
static ec_expr compared(lua_State *L, ec_expr x)
{
    return is_complex(L, x) ? in_db(L, x) : x;
}

/* The same in dB, for methods whose name ends in _db. */
static ec_expr level(lua_State *L, const char *what, const band *b, ec_expr x)
{
    if (!is_complex(L, x) && !b->db)
        ec_lua_fail(L,
                    "curve:%s: the values are not in dB: call it on the complex quantity or on its "
                    "db()",
                    what);
    return compared(L, x);
}

static int curve_db(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "db", &x);
    return push(L, b->db ? x : in_db(L, x), b->n, b->frequency, true);
}

static int part(lua_State *L, const char *what, ec_op op, double factor)
{
    ec_expr x;
    const band *b = curve_at(L, what, &x);
    if (op != EC_OP_ABS && !is_complex(L, x))
        ec_lua_fail(L, "curve:%s: the values are real", what);
    ec_expr y = ec_graph_unary(graph_of(L), op, x);
    return push(L, factor == 1 ? y : two(L, EC_OP_MUL, y, number(L, factor)), b->n, b->frequency,
                false);
}

static int curve_abs(lua_State *L)
{
    return part(L, "abs", EC_OP_ABS, 1);
}

static int curve_re(lua_State *L)
{
    return part(L, "re", EC_OP_RE, 1);
}

static int curve_im(lua_State *L)
{
    return part(L, "im", EC_OP_IM, 1);
}

static int curve_phase(lua_State *L)
{
    return part(L, "phase_deg", EC_OP_ARG, 180 / EC_PI);
}

/* Without its frequencies. */
static int curve_value(lua_State *L)
{
    ec_expr x;
    curve_at(L, "value", &x);
    return ec_lua_expr_push(L, x);
}

static int curve_frequency(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "frequency", &x);
    ec_lua_list all = {b->frequency, b->n, false};
    ec_lua_list_push(L, &all);
    return 1;
}

/* Its frequencies from..to alone. */
static int curve_part(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "part", &x);
    int32_t first = 0, end = b->n;
    if (lua_type(L, 2) != LUA_TNUMBER || lua_type(L, 3) != LUA_TNUMBER)
        ec_lua_fail(L, "curve:part: wants two frequencies in Hz, as in curve:part(2*ec.GHz, "
                       "3*ec.GHz)");
    find_part(b, lua_tonumber(L, 2), lua_tonumber(L, 3), &first, &end);
    if (first >= end)
        ec_lua_fail(L,
                    "curve:part: no frequency lies from %.10g to %.10g Hz; there are %d, %.10g to "
                    "%.10g Hz",
                    lua_tonumber(L, 2), lua_tonumber(L, 3), (int)b->n, b->frequency[0],
                    b->frequency[b->n - 1]);
    return push(L, ec_graph_slice(graph_of(L), x, first, end - first), end - first,
                b->frequency + first, b->db);
}

/* ---- extremes -------------------------------------------------------------------------------- */

static int curve_min_db(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "min_db", &x);
    return ec_lua_expr_push(L, ec_graph_unary(graph_of(L), EC_OP_RMIN, level(L, "min_db", b, x)));
}

static int curve_max_db(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "max_db", &x);
    return ec_lua_expr_push(L, ec_graph_unary(graph_of(L), EC_OP_RMAX, level(L, "max_db", b, x)));
}

/* What argmin looks at: power, where it can be told. About a match the reflected wave passes zero as a straight line, so
 * its power is a parabola; its level in dB has a cusp there. */
static ec_expr powered(lua_State *L, const band *b, ec_expr x)
{
    if (is_complex(L, x))
        return ec_graph_unary(graph_of(L), EC_OP_ABS2, x);
    return b->db ? ec_graph_unary(graph_of(L), EC_OP_EXP,
                                  two(L, EC_OP_MUL, x, number(L, log(10) / 10)))
                 : x;
}

/* The frequency of the lowest point of y: the vertex of the parabola through it and its neighbours;
 * where it is the first or the last one, its own. */
static ec_expr lowest(lua_State *L, const band *b, ec_expr y)
{
    ec_graph *graph = graph_of(L);
    ec_expr f = list(L, b->n, b->frequency), at = ec_graph_unary(graph, EC_OP_ARGMIN, y);
    if (b->n < 3)
        return two(L, EC_OP_TAKE, f, at);
    ec_expr bounds[] = {at, number(L, 1), number(L, b->n - 2)};
    ec_expr middle = ec_graph_op(graph, EC_OP_CLAMP, 3, bounds, 0, NULL);
    ec_expr before = two(L, EC_OP_SUB, middle, number(L, 1));
    ec_expr behind = two(L, EC_OP_ADD, middle, number(L, 1));
    ec_expr f1 = two(L, EC_OP_TAKE, f, middle), y1 = two(L, EC_OP_TAKE, y, middle);
    ec_expr left = two(L, EC_OP_SUB, f1, two(L, EC_OP_TAKE, f, before));
    ec_expr right = two(L, EC_OP_SUB, two(L, EC_OP_TAKE, f, behind), f1);
    ec_expr rise0 = two(L, EC_OP_SUB, two(L, EC_OP_TAKE, y, before), y1);
    ec_expr rise2 = two(L, EC_OP_SUB, two(L, EC_OP_TAKE, y, behind), y1);
    /* vertex - f1 = (right^2 rise0 - left^2 rise2) / 2 (right rise0 + left rise2) */
    ec_expr a = two(L, EC_OP_MUL, right, rise0), c = two(L, EC_OP_MUL, left, rise2);
    ec_expr bend = two(L, EC_OP_ADD, a, c);
    ec_expr over = two(L, EC_OP_SUB, two(L, EC_OP_MUL, right, a), two(L, EC_OP_MUL, left, c));
    ec_expr inside =
        two(L, EC_OP_AND, two(L, EC_OP_EQ, at, middle), two(L, EC_OP_LT, number(L, 0), bend));
    ec_expr shift = two(L, EC_OP_DIV, two(L, EC_OP_MUL, over, number(L, 0.5)),
                        ec_graph_where(graph, inside, bend, number(L, 1)));
    ec_expr vertex = two(L, EC_OP_ADD, f1, shift);
    ec_expr result = ec_graph_where(graph, inside, vertex, two(L, EC_OP_TAKE, f, at));
    return ec_graph_declare(graph, result, b->frequency[0], b->frequency[b->n - 1]);
}

static int curve_argmin(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "argmin", &x);
    return ec_lua_expr_push(L, lowest(L, b, powered(L, b, x)));
}

static int curve_argmax(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "argmax", &x);
    return ec_lua_expr_push(L,
                            lowest(L, b, ec_graph_unary(graph_of(L), EC_OP_NEG, compared(L, x))));
}

/* ---- values between the frequencies ---------------------------------------------------------- */

/* Place of a frequency on the list, from 0: each interval before it counts 1. */
static ec_expr place_of(lua_State *L, const band *b, ec_expr f)
{
    int32_t n = b->n - 1;
    if (n < 1)
        return number(L, 0);
    double *width = lua_newuserdatauv(L, (size_t)n * sizeof *width, 0);
    for (int32_t i = 0; i < n; i++)
        width[i] = b->frequency[i + 1] - b->frequency[i];
    ec_expr part =
        two(L, EC_OP_DIV, two(L, EC_OP_SUB, f, list(L, n, b->frequency)), list(L, n, width));
    ec_expr bounds[] = {part, number(L, 0), number(L, 1)};
    ec_expr sum = ec_graph_unary(graph_of(L), EC_OP_SUM,
                                 ec_graph_op(graph_of(L), EC_OP_CLAMP, 3, bounds, 0, NULL));
    return ec_graph_declare(graph_of(L), sum, 0, n);
}

/* x at a place, linear between its elements. */
static ec_expr between(lua_State *L, ec_expr x, ec_expr place)
{
    if (!is_complex(L, x))
        return two(L, EC_OP_INTERP, x, place);
    ec_graph *graph = graph_of(L);
    return two(L, EC_OP_COMPLEX, two(L, EC_OP_INTERP, ec_graph_unary(graph, EC_OP_RE, x), place),
               two(L, EC_OP_INTERP, ec_graph_unary(graph, EC_OP_IM, x), place));
}

static int curve_interpolated(lua_State *L)
{
    ec_expr x;
    const band *b = curve_at(L, "at", &x);
    if (lua_isnoneornil(L, 2))
        ec_lua_fail(L, "curve:at: wants a frequency in Hz, as in curve:at(2.45*ec.GHz)");
    ec_expr f = ec_lua_expr_get(L, 2, "curve:at: the frequency");
    const ec_node *node = ec_lua_expr_node(L, f);
    double low = b->frequency[0], high = b->frequency[b->n - 1], slack = 1e-9 * high;
    if (node->rank != 0)
        ec_lua_fail(L, "curve:at: wants a single frequency, got %d", (int)node->elements);
    if (node->range.hi < low - slack || node->range.lo > high + slack)
        ec_lua_fail(L, "curve:at: %.10g Hz is not among the frequencies, %.10g to %.10g Hz",
                    node->range.lo, low, high);
    return ec_lua_expr_push(L, between(L, x, place_of(L, b, f)));
}

/* Steps from the lowest point of y, at index `at`, to where y rises to the level: the list goes on
 * far above it behind both ends, so that there always is such a place. */
static ec_expr steps_to(lua_State *L, ec_expr y, ec_expr at, double limit, double direction)
{
    enum { BEYOND = 1000000000 }; /* dB */
    ec_graph *graph = graph_of(L);
    double wall[] = {-(double)BEYOND}, par[] = {direction, 0};
    ec_expr end = list(L, 1, wall);
    ec_expr parts[] = {end, ec_graph_unary(graph, EC_OP_NEG, y), end};
    ec_expr from = two(L, EC_OP_ADD, at, number(L, 1));
    ec_expr in[] = {ec_graph_op(graph, EC_OP_CONCAT, 3, parts, 0, NULL), number(L, -limit), from};
    return ec_graph_op(graph, EC_OP_CROSSING, 3, in, 2, par);
}

/* The ends of the band about the lowest point where the level is below that of argument 2; *below is 0
 * where there is none. */
static const band *band_ends(lua_State *L, const char *what, ec_expr ends[2], ec_expr *below)
{
    ec_expr x;
    ec_graph *graph = graph_of(L);
    const band *b = curve_at(L, what, &x);
    if (lua_type(L, 2) != LUA_TNUMBER || !isfinite(lua_tonumber(L, 2)))
        ec_lua_fail(L, "curve:%s: wants a level in dB, as in curve:%s(-10)", what, what);
    double limit = lua_tonumber(L, 2);
    ec_expr y = level(L, what, b, x), f = list(L, b->n, b->frequency);
    ec_expr at = ec_graph_unary(graph, EC_OP_ARGMIN, y);
    ec_expr left = two(L, EC_OP_SUB, at, steps_to(L, y, at, limit, -1));
    ec_expr right = two(L, EC_OP_ADD, at, steps_to(L, y, at, limit, 1));
    ec_expr last = number(L, b->n - 1);
    ends[0] = two(L, EC_OP_INTERP, f, two(L, EC_OP_MAX, left, number(L, 0)));
    ends[1] = two(L, EC_OP_INTERP, f, two(L, EC_OP_MIN, right, last));
    *below = two(L, EC_OP_LT, ec_graph_unary(graph, EC_OP_RMIN, y), number(L, limit));
    return b;
}

static int curve_band_below(lua_State *L)
{
    ec_expr ends[2], below;
    const band *b = band_ends(L, "band_below_db", ends, &below);
    ec_expr width =
        ec_graph_where(graph_of(L), below, two(L, EC_OP_SUB, ends[1], ends[0]), number(L, 0));
    return ec_lua_expr_push(
        L, ec_graph_declare(graph_of(L), width, 0, b->frequency[b->n - 1] - b->frequency[0]));
}

/* Where there is no such band, both are the frequency of the lowest point. */
static int curve_edges_below(lua_State *L)
{
    ec_expr ends[2], below;
    ec_graph *graph = graph_of(L);
    const band *b = band_ends(L, "edges_below_db", ends, &below);
    ec_expr y = compared(L, ((const ec_lua_expr *)lua_touserdata(L, 1))->expr);
    ec_expr at =
        two(L, EC_OP_TAKE, list(L, b->n, b->frequency), ec_graph_unary(graph, EC_OP_ARGMIN, y));
    for (int i = 0; i < 2; i++)
        ends[i] = ec_graph_where(graph, below, ends[i], at);
    ec_expr both = ec_graph_op(graph, EC_OP_CONCAT, 2, ends, 0, NULL);
    return ec_lua_expr_push(L,
                            ec_graph_declare(graph, both, b->frequency[0], b->frequency[b->n - 1]));
}

/* ---- masks ----------------------------------------------------------------------------------- */

typedef struct mask_keys {
    double from, to;
    ec_lua_list max_db, min_db;
} mask_keys;

static const ec_key mask_table[] = {{"from", EC_KEY_NUMBER, EC_KEY_REQUIRED, NAN, 0, INFINITY, "Hz",
                                     NULL, "where the line begins", offsetof(mask_keys, from)},
                                    {"to", EC_KEY_NUMBER, EC_KEY_REQUIRED, NAN, 0, INFINITY, "Hz",
                                     NULL, "where it ends", offsetof(mask_keys, to)},
                                    {"max_db", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, "dB", NULL,
                                     "the level is at most this: a number, or { at from, at to }",
                                     offsetof(mask_keys, max_db)},
                                    {"min_db", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, "dB", NULL,
                                     "the level is at least this", offsetof(mask_keys, min_db)}};

const ec_noun ec_noun_curve_mask = {
    "curve:mask",
    "model:s(2, 1):mask{ { from = 1*ec.GHz, to = 4*ec.GHz, min_db = -1 }, { from = 6*ec.GHz, to = "
    "8*ec.GHz, max_db = -20 } }",
    "How far the worst frequency lies beyond the lines of a mask, in dB; negative when all keep "
    "them. Of frequencies between from and to, both included.",
    EC_KEYS(mask_table)};

/* One limit of a line at the frequencies [first, end): what is compared is factor (y - limit). */
static int32_t add_limit(lua_State *L, const band *b, const char *what, const mask_keys *k,
                         const ec_lua_list *limit, double factor, int32_t first, int32_t end,
                         int32_t *index, double *sign, double *offset)
{
    if (!limit->v)
        return 0;
    if (limit->n > 2)
        ec_lua_fail(L, "%s: key '%s': %d numbers; one, or two (at from, at to) are allowed", what,
                    factor > 0 ? "max_db" : "min_db", (int)limit->n);
    for (int32_t i = first; i < end; i++) {
        double part = k->to > k->from ? (b->frequency[i] - k->from) / (k->to - k->from) : 0;
        double at = limit->v[0] + part * (limit->v[limit->n - 1] - limit->v[0]);
        index[i - first] = i;
        sign[i - first] = factor;
        offset[i - first] = factor * at;
    }
    return end - first;
}

static int curve_mask(lua_State *L)
{
    ec_expr x;
    ec_graph *graph = graph_of(L);
    const band *b = curve_at(L, "mask", &x);
    int32_t n = 0;
    if (!lua_istable(L, 2))
        ec_lua_fail(L, "curve:mask: wants a list of lines, as in %s, got a %s",
                    ec_noun_curve_mask.usage, luaL_typename(L, 2));
    int lines = ec_lua_table_copy(L, 2);
    int32_t n_lines = ec_lua_list_length(L, lines, "curve:mask");
    if (n_lines < 1)
        ec_lua_fail(L, "curve:mask: the list of lines is empty");
    size_t most = 2 * (size_t)n_lines * (size_t)b->n;
    int32_t *index = lua_newuserdatauv(L, most * sizeof *index, 0);
    double *sign = lua_newuserdatauv(L, most * sizeof *sign, 0);
    double *offset = lua_newuserdatauv(L, most * sizeof *offset, 0);
    for (int32_t i = 0; i < n_lines; i++) {
        mask_keys k;
        int top = lua_gettop(L);
        int32_t first = 0, end = b->n;
        ec_noun noun = ec_noun_curve_mask;
        noun.name = lua_pushfstring(L, "curve:mask: line %d", (int)i + 1);
        lua_rawgeti(L, lines, i + 1);
        ec_lua_keys_parse(L, lua_gettop(L), &noun, &k, NULL);
        if (k.from > k.to)
            ec_lua_fail(L, "%s: from, %.10g Hz, lies above to, %.10g Hz", noun.name, k.from, k.to);
        if (!k.max_db.v && !k.min_db.v)
            ec_lua_fail(L, "%s: no limit: give max_db or min_db", noun.name);
        find_part(b, k.from, k.to, &first, &end);
        if (first == end)
            ec_lua_fail(L,
                        "%s: no frequency lies from %.10g to %.10g Hz; there are %d, %.10g to "
                        "%.10g Hz",
                        noun.name, k.from, k.to, (int)b->n, b->frequency[0],
                        b->frequency[b->n - 1]);
        n += add_limit(L, b, noun.name, &k, &k.max_db, 1, first, end, index + n, sign + n,
                       offset + n);
        n += add_limit(L, b, noun.name, &k, &k.min_db, -1, first, end, index + n, sign + n,
                       offset + n);
        lua_settop(L, top);
    }
    ec_expr y = ec_graph_gather(graph, level(L, "mask", b, x), 1, &n, index);
    ec_expr excess = two(L, EC_OP_SUB, two(L, EC_OP_MUL, y, list(L, n, sign)), list(L, n, offset));
    return ec_lua_expr_push(L, ec_graph_unary(graph, EC_OP_RMAX, excess));
}

/* ---- module ---------------------------------------------------------------------------------- */

const ec_noun ec_noun_curve = {
    "ec.curve",
    "model:s(\"in\", \"in\"):db():argmin(), ec.curve(model:s(2, 1) - model:s(1, 2), "
    "frequencies):max_db()",
    "A quantity over frequency, as model:s, model:impedance and model:balance are: an expression "
    "with an element for each frequency; ec.curve(expr, frequencies) makes one of any list. "
    "Curves too: curve:db(), 20 log10 of its magnitude (not below -300), phase_deg(), abs(), re(), "
    "im(), and part(from, to) of the frequencies between. min_db() and max_db() are its lowest and "
    "highest level; argmin() and argmax() where it is lowest or highest, in Hz, by a parabola "
    "through that point and its neighbours (argmin of a complex curve and of one in dB: of its "
    "power, argmax of a complex one: of its level); at(f) is its value at f in Hz, linear between "
    "the frequencies (of a complex curve, of re and im); "
    "edges_below_db(level) the two ends in Hz of the band about the lowest point that is below the "
    "level, band_below_db(level) its width, 0 where there is none; mask{ ... } the largest excess "
    "over a mask. value() is the plain expression, frequency() the list of frequencies. Arithmetic "
    "gives plain expressions.",
    NULL, 0};

static int curve_new(lua_State *L)
{
    lua_settop(L, 2);
    if (lua_isnil(L, 1) || lua_isnil(L, 2))
        ec_lua_fail(L, "ec.curve: wants an expression and its frequencies: ec.curve(x, f)");
    ec_expr x = ec_lua_expr_get(L, 1, "ec.curve: the expression");
    const ec_node *node = ec_lua_expr_node(L, x);
    ec_lua_list f;
    ec_lua_list_get(L, 2, "ec.curve: the frequencies", &f);
    if (node->rank != 1 || node->shape[0] != f.n)
        ec_lua_fail(L, "ec.curve: the expression has %d elements for %d frequencies",
                    (int)node->elements, (int)f.n);
    for (int32_t i = 0; i < f.n; i++)
        if (f.v[i] < 0 || (i > 0 && f.v[i] <= f.v[i - 1]))
            ec_lua_fail(L,
                        "ec.curve: frequency %d is %.10g; they have to be at least 0 and "
                        "ascending",
                        (int)i + 1, f.v[i]);
    return push(L, x, f.n, f.v, false);
}

static const luaL_Reg methods[] = {{"db", curve_db},
                                   {"abs", curve_abs},
                                   {"re", curve_re},
                                   {"im", curve_im},
                                   {"phase_deg", curve_phase},
                                   {"value", curve_value},
                                   {"frequency", curve_frequency},
                                   {"part", curve_part},
                                   {"min_db", curve_min_db},
                                   {"max_db", curve_max_db},
                                   {"argmin", curve_argmin},
                                   {"argmax", curve_argmax},
                                   {"at", curve_interpolated},
                                   {"band_below_db", curve_band_below},
                                   {"edges_below_db", curve_edges_below},
                                   {"mask", curve_mask},
                                   {NULL, NULL}};

bool ec_lua_curve_method(lua_State *L)
{
    int top = lua_gettop(L);
    if (!band_test(L, 1)) {
        lua_settop(L, top);
        return false;
    }
    lua_getfield(L, LUA_REGISTRYINDEX, METHODS);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL)
        return true;
    lua_settop(L, top);
    return false;
}

int ec_lua_curve_names(lua_State *L, const char **names, int most)
{
    int top = lua_gettop(L), n = 0;
    bool is = band_test(L, 1) != NULL;
    lua_settop(L, top);
    for (const luaL_Reg *m = methods; is && m->name && n < most; m++)
        names[n++] = m->name;
    return n;
}

void ec_lua_curve_open(lua_State *L)
{
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, LUA_REGISTRYINDEX, METHODS);
    lua_pushcfunction(L, curve_new);
    lua_setfield(L, -2, "curve");
}
