#include "lua_keys.h"

#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_values.h"

/* ---- lists ----------------------------------------------------------------------------------- */

int32_t ec_lua_list_length(lua_State *L, int index, const char *what)
{
    index = lua_absindex(L, index);
    int64_t count = 0, largest = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (!lua_isinteger(L, -2)) {
            lua_pushliteral(L, "x");
            if (lua_rawget(L, index) != LUA_TNIL)
                ec_lua_fail(L,
                            "%s: wants a list, got a table of the lists x, y, ...: give one of "
                            "them, as in g.x",
                            what);
            lua_pop(L, 1);
            const char *key = luaL_tolstring(L, -2, NULL);
            ec_lua_fail(L, "%s: wants a plain list of values, but this table has the key '%s'",
                        what, key);
        }
        lua_Integer key = lua_tointeger(L, -2);
        if (key < 1)
            ec_lua_fail(L, "%s: a list counts from 1, this one has an element %lld", what,
                        (long long)key);
        count++;
        if (key > largest)
            largest = key;
    }
    if (count == largest)
        return (int32_t)count;
    int64_t hole = 1;
    while (lua_rawgeti(L, index, hole) != LUA_TNIL) {
        lua_pop(L, 1);
        hole++;
    }
    lua_pop(L, 1);
    ec_lua_fail(L, "%s: the list has a hole: element %lld is nil, but there is an element %lld",
                what, (long long)hole, (long long)largest);
}

int ec_lua_table_copy(lua_State *L, int index)
{
    lua_newtable(L);
    int copy = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, copy);
    }
    return copy;
}

void ec_lua_keys_copy(lua_State *L, int index, const ec_noun *noun)
{
    lua_newtable(L);
    int to = lua_gettop(L);
    for (int i = 0; i < noun->n_keys; i++) {
        lua_pushstring(L, noun->keys[i].key);
        if (lua_rawget(L, index) == LUA_TTABLE)
            lua_replace(L, ec_lua_table_copy(L, lua_gettop(L)) - 1);
        lua_setfield(L, to, noun->keys[i].key);
    }
}

int32_t ec_lua_table_split(lua_State *L, int index, const char *what)
{
    lua_newtable(L);
    lua_newtable(L);
    int keys = lua_gettop(L) - 1, list = keys + 1;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, lua_isinteger(L, -2) ? list : keys);
    }
    return ec_lua_list_length(L, list, what);
}

static void check_finite(lua_State *L, double value, const char *what, int64_t i)
{
    if (isfinite(value))
        return;
    if (i < 0)
        ec_lua_fail(L, "%s: wants a finite number, got %g", what, value);
    ec_lua_fail(L, "%s: element %lld is %g, a finite number is needed", what, (long long)i + 1,
                value);
}

void ec_lua_list_get(lua_State *L, int index, const char *what, ec_lua_list *list)
{
    index = lua_absindex(L, index);
    int type = lua_type(L, index);
    const ec_lua_values *values = ec_lua_values_test(L, index);
    const ec_lua_expr *expr = luaL_testudata(L, index, EC_LUA_EXPR);
    *list = (ec_lua_list){.scalar = type == LUA_TNUMBER};
    if (type == LUA_TNUMBER) {
        double *to = ec_lua_values_new(L, 1);
        to[0] = lua_tonumber(L, index);
        check_finite(L, to[0], what, -1);
        *list = (ec_lua_list){to, 1, true};
    } else if (values) {
        double *to = ec_lua_values_new(L, values->length);
        for (int64_t i = 0; i < values->length; i++) {
            to[i] = values->data[i * values->stride];
            check_finite(L, to[i], what, i);
        }
        *list = (ec_lua_list){to, (int32_t)values->length, false};
    } else if (type == LUA_TTABLE) {
        int32_t n = ec_lua_list_length(L, index, what);
        double *to = ec_lua_values_new(L, n);
        for (int32_t i = 0; i < n; i++) {
            int element = lua_rawgeti(L, index, i + 1);
            if (element != LUA_TNUMBER)
                ec_lua_fail(L, "%s: element %d is a %s, a number is needed", what, (int)i + 1,
                            luaL_typename(L, -1));
            to[i] = lua_tonumber(L, -1);
            check_finite(L, to[i], what, i);
            lua_pop(L, 1);
        }
        *list = (ec_lua_list){to, n, false};
    } else if (expr) {
        if (!ec_lua_expr_constant(L, expr->expr, list))
            ec_lua_fail(
                L,
                "%s: wants a number or a list of numbers, got an expression with design variables",
                what);
    } else {
        ec_lua_fail(L, "%s: wants a number or a list of numbers, got a %s", what,
                    luaL_typename(L, index));
    }
    if (list->n < 1)
        ec_lua_fail(L, "%s: the list is empty", what);
}

void ec_lua_list_push(lua_State *L, const ec_lua_list *list)
{
    lua_createtable(L, list->n, 0);
    for (int32_t i = 0; i < list->n; i++) {
        lua_pushnumber(L, list->v[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

bool ec_lua_is_direction(double v[3])
{
    double length = hypot(hypot(v[0], v[1]), v[2]);
    for (int i = 0; i < 3 && (length > 1e100 || length < 1e-100) && length > 0; i++)
        v[i] /= length;
    return length > 1e-150;
}

/* ---- one value ------------------------------------------------------------------------------- */

static const char *kind_text(const ec_key *key)
{
    switch (key->kind) {
    case EC_KEY_NUMBER:
        return "a number";
    case EC_KEY_INTEGER:
        return "a whole number";
    case EC_KEY_FLAG:
        return "true or false";
    case EC_KEY_WORD:
        return "a word";
    case EC_KEY_STRING:
        return "a text";
    case EC_KEY_LIST:
        return "a number or a list of numbers";
    case EC_KEY_EXPR:
        return "a number, a list or an expression";
    case EC_KEY_QUANTITY:
        return key->flags & EC_KEY_SINGLE ? "a number or an expression"
                                          : "a number, a list or an expression";
    default:
        return "a value";
    }
}

static const char *type_text(lua_State *L, int index)
{
    if (lua_type(L, index) == LUA_TSTRING)
        return lua_pushfstring(L, "the text '%s'", lua_tostring(L, index));
    if (lua_type(L, index) == LUA_TBOOLEAN)
        return lua_toboolean(L, index) ? "true" : "false";
    if (luaL_testudata(L, index, EC_LUA_EXPR))
        return "an expression";
    return lua_pushfstring(L, "a %s", luaL_typename(L, index));
}

static void wrong_type(lua_State *L, const char *what, const ec_key *key, int index)
{
    ec_lua_fail(L, "%s: wants %s, got %s", what, kind_text(key), type_text(L, index));
}

/* Direction cosines are what degrees are given for by mistake. */
static const char *sine_hint(const ec_key *key)
{
    const char *last = strrchr(key->key, '_'), *end = last ? last + 1 : key->key;
    return strcmp(end, "u") == 0 || strcmp(end, "v") == 0
               ? "; u and v are sines of angles, not degrees"
               : "";
}

static void check_range(lua_State *L, const char *what, const ec_key *key, double value)
{
    bool low = value < key->min || ((key->flags & EC_KEY_ABOVE) && value == key->min);
    if (!low && !(value > key->max))
        return;
    const char *relation = key->flags & EC_KEY_ABOVE ? "above" : "at least";
    if (isinf(key->max))
        ec_lua_fail(L, "%s: %.14g is not allowed, it must be %s %.14g", what, value, relation,
                    key->min);
    ec_lua_fail(L, "%s: %.14g is not allowed, it must be %s %.14g and at most %.14g%s", what, value,
                relation, key->min, key->max, sine_hint(key));
}

int ec_lua_word_get(lua_State *L, int index, const char *what, const char *words)
{
    if (lua_type(L, index) != LUA_TSTRING)
        ec_lua_fail(L, "%s: wants one of the words %s, got %s", what, words, type_text(L, index));
    const char *word = lua_tostring(L, index), *at = words;
    for (int i = 0; *at; i++) {
        size_t n = strcspn(at, "|");
        if (strlen(word) == n && strncmp(word, at, n) == 0)
            return i;
        at += n + (at[n] == '|');
    }
    ec_lua_fail(L, "%s: unknown word '%s', allowed are %s", what, word, words);
}

/* Whether several inputs that vary make the least (or the largest) value: the range of (a + b) - a is
 * wider than what it can be. */
static bool is_combined(lua_State *L, ec_expr expr, bool least)
{
    const ec_node *node = ec_lua_expr_node(L, expr);
    int32_t varied = 0;

    for (int32_t i = 0; i < node->n_in; i++) {
        const ec_node *in = ec_lua_expr_node(L, node->in[i]);
        bool worst = least ? in->range.lo == node->range.lo : in->range.hi == node->range.hi;
        if (node->op == EC_OP_CONCAT && worst)
            return is_combined(L, node->in[i], least);
        varied += (in->axes & EC_AXIS_CANDIDATE) != 0;
    }
    return node->op != EC_OP_CONCAT && varied > 1;
}

/* The range of an expression is known from the variables' bounds. */
static void check_expression(lua_State *L, const char *what, const ec_key *key, ec_expr expr)
{
    const ec_node *node = ec_lua_expr_node(L, expr);
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        ec_lua_fail(L, "%s: wants a real value, got a complex expression", what);
    if ((key->flags & EC_KEY_SINGLE) && node->elements != 1)
        ec_lua_fail(L, "%s: wants a single number, got an expression of %d", what,
                    (int)node->elements);
    bool low =
        node->range.lo < key->min || ((key->flags & EC_KEY_ABOVE) && node->range.lo == key->min);
    if (!low && node->range.hi <= key->max)
        return;
    bool combined = is_combined(L, expr, low);
    char most[40] = "";
    if (isfinite(key->max))
        snprintf(most, sizeof most, " and at most %.14g", key->max);
    ec_lua_fail(L, "%s: the expression can be %.14g, it must be %s %.14g%s%s", what,
                low ? node->range.lo : node->range.hi,
                key->flags & EC_KEY_ABOVE ? "above" : "at least", key->min, most,
                combined ? " (by the ranges of its parts, each by itself: leave out of it what "
                           "cancels between them)"
                         : "");
}

static bool has_expressions(lua_State *L, int index)
{
    bool found = false;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        found = found || luaL_testudata(L, -1, EC_LUA_EXPR);
    return found;
}

/* Pushes what the library computes with. */
static void read_quantity(lua_State *L, const char *what, const ec_key *key, int index)
{
    const ec_lua_expr *expr = luaL_testudata(L, index, EC_LUA_EXPR);
    bool list = lua_istable(L, index) || luaL_testudata(L, index, EC_LUA_VALUES);
    if (lua_type(L, index) == LUA_TNUMBER) {
        check_finite(L, lua_tonumber(L, index), what, -1);
        check_range(L, what, key, lua_tonumber(L, index));
        lua_pushvalue(L, index);
    } else if (expr) {
        check_expression(L, what, key, expr->expr);
        lua_pushvalue(L, index);
    } else if (!list || (key->flags & EC_KEY_SINGLE)) {
        wrong_type(L, what, key, index);
    } else if (lua_istable(L, index) && has_expressions(L, index)) {
        ec_expr joined = ec_lua_expr_get(L, index, what);
        check_expression(L, what, key, joined);
        ec_lua_expr_push(L, joined);
    } else {
        ec_lua_list numbers;
        ec_lua_list_get(L, index, what, &numbers);
        for (int32_t i = 0; i < numbers.n; i++)
            check_range(L, what, key, numbers.v[i]);
        ec_lua_list_push(L, &numbers);
    }
}

/* The value at index into its field. What has to live on is on the stack afterwards. */
static void read_value(lua_State *L, const ec_noun *noun, const ec_key *key, int index, void *to)
{
    char what[120];
    snprintf(what, sizeof what, "%s: key '%s'", noun->name, key->key);
    void *field = (char *)to + key->offset;
    luaL_checkstack(L, 8, "too many keys");
    switch (key->kind) {
    case EC_KEY_NUMBER:
    case EC_KEY_INTEGER: {
        if (lua_type(L, index) != LUA_TNUMBER)
            wrong_type(L, what, key, index);
        double value = lua_tonumber(L, index);
        check_finite(L, value, what, -1);
        if (key->kind == EC_KEY_INTEGER && value != floor(value))
            ec_lua_fail(L, "%s: %.14g is not a whole number", what, value);
        check_range(L, what, key, value);
        if (key->kind == EC_KEY_NUMBER)
            *(double *)field = value;
        else if (fabs(value) > 9e15)
            ec_lua_fail(L, "%s: %.14g is too large", what, value);
        else
            *(int64_t *)field = (int64_t)value;
        return;
    }
    case EC_KEY_FLAG:
        if (!lua_isboolean(L, index))
            wrong_type(L, what, key, index);
        *(bool *)field = lua_toboolean(L, index);
        return;
    case EC_KEY_WORD:
        *(int *)field = ec_lua_word_get(L, index, what, key->words);
        return;
    case EC_KEY_STRING:
        if (lua_type(L, index) != LUA_TSTRING)
            wrong_type(L, what, key, index);
        *(const char **)field = lua_tostring(L, index);
        lua_pushvalue(L, index);
        return;
    case EC_KEY_LIST: {
        ec_lua_list *list = field;
        ec_lua_list_get(L, index, what, list);
        for (int32_t i = 0; i < list->n; i++)
            check_range(L, what, key, list->v[i]);
        return;
    }
    case EC_KEY_EXPR:
        *(ec_expr *)field = ec_lua_expr_get(L, index, what);
        return;
    case EC_KEY_QUANTITY:
        read_quantity(L, what, key, index);
        *(int *)field = lua_gettop(L);
        return;
    case EC_KEY_ANY:
        lua_pushvalue(L, index);
        *(int *)field = lua_gettop(L);
        return;
    }
}

static void set_initial(lua_State *L, const ec_key *key, void *to)
{
    void *field = (char *)to + key->offset;
    switch (key->kind) {
    case EC_KEY_NUMBER:
        *(double *)field = key->initial;
        return;
    case EC_KEY_INTEGER:
        *(int64_t *)field = isnan(key->initial) ? -1 : (int64_t)key->initial;
        return;
    case EC_KEY_FLAG:
        *(bool *)field = key->initial == 1;
        return;
    case EC_KEY_WORD:
        *(int *)field = isnan(key->initial) ? -1 : (int)key->initial;
        return;
    case EC_KEY_STRING:
        *(const char **)field = NULL;
        return;
    case EC_KEY_LIST:
        *(ec_lua_list *)field = (ec_lua_list){0};
        return;
    case EC_KEY_EXPR:
        *(ec_expr *)field = -1;
        if (!isnan(key->initial)) {
            *(ec_expr *)field = ec_graph_number(ec_lua_host_of(L)->graph, key->initial);
            if (*(ec_expr *)field < 0)
                ec_lua_fail_core(L, NULL);
        }
        return;
    case EC_KEY_QUANTITY:
    case EC_KEY_ANY:
        *(int *)field = 0;
        return;
    }
}

/* ---- a table of keys ------------------------------------------------------------------------- */

static int find_key(const ec_noun *noun, const char *name)
{
    for (int i = 0; i < noun->n_keys; i++)
        if (strcmp(noun->keys[i].key, name) == 0)
            return i;
    return -1;
}

static void unknown_key(lua_State *L, const ec_noun *noun, const ec_key_extra *extra,
                        const char *name)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int n = 0;
    for (int i = 0; i < noun->n_keys && n < MOST; i++)
        names[n++] = noun->keys[i].key;
    for (int i = 0; extra && i < extra->n_names && n < MOST; i++)
        names[n++] = extra->names[i];
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "%s: unknown key '%s' (did you mean '%s'?)", noun->name, name, near);
    ec_lua_fail(L, "%s: unknown key '%s', allowed are %s", noun->name, name,
                ec_lua_push_names(L, names, n));
}

uint64_t ec_lua_keys_parse(lua_State *L, int index, const ec_noun *noun, void *to,
                           const ec_key_extra *extra)
{
    uint64_t given = 0;
    for (int i = 0; i < noun->n_keys; i++)
        set_initial(L, &noun->keys[i], to);
    if (!lua_isnoneornil(L, index)) {
        index = lua_absindex(L, index);
        if (!lua_istable(L, index))
            ec_lua_fail(L, "%s: wants a table of keys, as in %s, got %s", noun->name, noun->usage,
                        type_text(L, index));
        /* names first, so that a mistyped key is not reported as a missing one */
        for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
            if (lua_type(L, -2) != LUA_TSTRING)
                ec_lua_fail(L, "%s: a value without a key: write %s", noun->name, noun->usage);
            const char *name = lua_tostring(L, -2);
            if (find_key(noun, name) < 0 && !(extra && extra->take(L, extra->user, name)))
                unknown_key(L, noun, extra, name);
        }
        for (int i = 0; i < noun->n_keys; i++) {
            lua_pushstring(L, noun->keys[i].key);
            if (lua_rawget(L, index) == LUA_TNIL) {
                lua_pop(L, 1);
                continue;
            }
            int value = lua_gettop(L);
            read_value(L, noun, &noun->keys[i], value, to);
            given |= (uint64_t)1 << i;
            if (lua_gettop(L) == value)
                lua_pop(L, 1);
        }
    }
    for (int i = 0; i < noun->n_keys; i++)
        if ((noun->keys[i].flags & EC_KEY_REQUIRED) && !(given >> i & 1))
            ec_lua_fail(L, "%s: key '%s' is missing (%s)", noun->name, noun->keys[i].key,
                        noun->keys[i].help);
    return given;
}

bool ec_lua_keys_given(const ec_noun *noun, uint64_t given, const char *key)
{
    int i = find_key(noun, key);
    return i >= 0 && (given >> i & 1);
}

void ec_lua_warn_idle(lua_State *L, const char *what, const char *key, const char *why)
{
    char file[300];
    int line = ec_lua_line(L, file, sizeof file);
    ec_log_write(ec_lua_host_of(L)->settings.log, EC_LOG_WARNING,
                 "%s:%d: %s: key '%s' has no effect: %s", file, line, what, key, why);
}
