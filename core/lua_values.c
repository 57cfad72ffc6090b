#include "lua_values.h"

#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_files.h"

double *ec_lua_values_new(lua_State *L, int64_t length)
{
    enum { LARGE = 1000 };
    if (length > LARGE)
        ec_lua_budget_check(L);
    size_t head = ec_round_up(sizeof(ec_lua_values), 16);
    ec_lua_values *v = lua_newuserdatauv(L, head + (size_t)length * sizeof(double), 0);
    double *data = (double *)(void *)((char *)v + head);
    *v = (ec_lua_values){.data = data, .length = length, .stride = 1};
    luaL_setmetatable(L, EC_LUA_VALUES);
    return data;
}

void ec_lua_values_copy(lua_State *L, const double *from, int64_t length)
{
    double *to = ec_lua_values_new(L, length);
    if (length > 0)
        memcpy(to, from, (size_t)length * sizeof *to);
}

void ec_lua_values_shape(lua_State *L, const ec_node *node, int64_t length)
{
    ec_lua_values *v = luaL_checkudata(L, -1, EC_LUA_VALUES);
    if (length < 1 || length % node->elements != 0)
        return;
    v->rank = 0;
    if (node->axes & EC_AXIS_SAMPLE)
        v->shape[v->rank++] = length / node->elements;
    for (int32_t i = 0; i < node->rank; i++)
        v->shape[v->rank++] = node->shape[i];
}

ec_lua_values *ec_lua_values_view(lua_State *L, const double *data, int64_t length, int64_t stride,
                                  int owner)
{
    if (owner)
        owner = lua_absindex(L, owner);
    ec_lua_values *v = lua_newuserdatauv(L, sizeof *v, 1);
    *v = (ec_lua_values){.data = data, .length = length, .stride = stride};
    if (owner) {
        lua_pushvalue(L, owner);
        lua_setiuservalue(L, -2, 1);
    }
    luaL_setmetatable(L, EC_LUA_VALUES);
    return v;
}

const ec_lua_values *ec_lua_values_test(lua_State *L, int index)
{
    const ec_lua_values *v = luaL_testudata(L, index, EC_LUA_VALUES);
    if (v && !v->data && v->length)
        ec_lua_fail(L, "this column was valid only inside the function of ec.host");
    return v;
}

static const ec_lua_values *check(lua_State *L, int index)
{
    const ec_lua_values *v = ec_lua_values_test(L, index);
    if (!v)
        ec_lua_fail(L, "a list of values is needed, got %s", luaL_typename(L, index));
    return v;
}

static double at(const ec_lua_values *v, int64_t i)
{
    return ec_printable(v->data[i * v->stride]);
}

/* ---- methods --------------------------------------------------------------------------------- */

static int values_min(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    double least = INFINITY;
    for (int64_t i = 0; i < v->length; i++)
        if (at(v, i) < least)
            least = at(v, i);
    lua_pushnumber(L, least);
    return 1;
}

static int values_max(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    double most = -INFINITY;
    for (int64_t i = 0; i < v->length; i++)
        if (at(v, i) > most)
            most = at(v, i);
    lua_pushnumber(L, most);
    return 1;
}

static int values_sum(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    double sum = 0;
    for (int64_t i = 0; i < v->length; i++)
        sum += at(v, i);
    lua_pushnumber(L, sum);
    return 1;
}

static int values_mean(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    values_sum(L);
    lua_pushnumber(L, lua_tonumber(L, -1) / (double)v->length);
    return 1;
}

static int values_slice(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    int64_t first = luaL_checkinteger(L, 2), last = luaL_optinteger(L, 3, v->length);
    if (first < 1 || last > v->length || first > last)
        ec_lua_fail(L, "slice(%d, %d) is outside 1 .. %d", (int)first, (int)last, (int)v->length);
    int64_t n = last - first + 1;
    if (!v->transient) {
        ec_lua_values_view(L, v->data + (first - 1) * v->stride, n, v->stride, 1);
        return 1;
    }
    double *to = ec_lua_values_new(L, n);
    for (int64_t i = 0; i < n; i++)
        to[i] = at(v, first - 1 + i);
    return 1;
}

static int values_table(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    lua_createtable(L, (int)v->length, 0);
    for (int64_t i = 0; i < v->length; i++) {
        lua_pushnumber(L, at(v, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int values_save(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    if (ec_lua_files_save_values(L, name, v) != EC_OK)
        ec_lua_fail_core(L, "save");
    return 0;
}

static const luaL_Reg methods[] = {
    {"min", values_min},     {"max", values_max},     {"sum", values_sum},   {"mean", values_mean},
    {"slice", values_slice}, {"table", values_table}, {"save", values_save}, {NULL, NULL}};

/* ---- metamethods ----------------------------------------------------------------------------- */

static int values_index(lua_State *L)
{
    const ec_lua_values *v = check(L, 1);
    if (lua_isinteger(L, 2) || lua_type(L, 2) == LUA_TNUMBER) {
        double where = lua_tonumber(L, 2);
        /* nil behind the end, as in a table: ipairs stops there */
        if (where == (double)v->length + 1) {
            lua_pushnil(L);
            return 1;
        }
        if (!(where >= 1 && where <= (double)v->length && where == floor(where)))
            ec_lua_fail(L, "element %.14g is asked for, allowed are 1 to %lld", where,
                        (long long)v->length);
        lua_pushnumber(L, at(v, (int64_t)where - 1));
        return 1;
    }
    const char *name = luaL_tolstring(L, 2, NULL);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL)
        ec_lua_fail(L,
                    "a list of values has no '%s'; it has min, max, sum, mean, slice, table, save",
                    name);
    return 1;
}

static int values_len(lua_State *L)
{
    lua_pushinteger(L, ((const ec_lua_values *)luaL_checkudata(L, 1, EC_LUA_VALUES))->length);
    return 1;
}

static int values_newindex(lua_State *L)
{
    ec_lua_fail(L, "a list of values cannot be changed (values:table() gives a copy that can)");
}

static int values_tostring(lua_State *L)
{
    enum { SHOWN = 64 };
    const ec_lua_values *v = check(L, 1);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addchar(&b, '{');
    for (int64_t i = 0; i < v->length && i < SHOWN; i++) {
        char number[40];
        snprintf(number, sizeof number, i ? ", %.7g" : "%.7g", at(v, i));
        luaL_addstring(&b, number);
    }
    if (v->length > SHOWN) {
        char rest[60];
        snprintf(rest, sizeof rest, ", ... %lld values", (long long)v->length);
        luaL_addstring(&b, rest);
    }
    luaL_addchar(&b, '}');
    luaL_pushresult(&b);
    return 1;
}

/* Arithmetic of two lists, or of a list and a number; with an expression it becomes an
 * expression. */
typedef struct operand {
    const ec_lua_values *list;
    double number;
} operand;

static double operand_at(const operand *o, int64_t i)
{
    return o->list ? at(o->list, i) : o->number;
}

static int arithmetic(lua_State *L, ec_op op)
{
    operand o[2];
    for (int k = 0; k < 2; k++) {
        o[k].list = ec_lua_values_test(L, k + 1);
        o[k].number = lua_tonumber(L, k + 1);
        if (!o[k].list && lua_type(L, k + 1) != LUA_TNUMBER)
            return ec_lua_expr_binary(L, op);
    }
    int64_t n = o[0].list ? o[0].list->length : o[1].list->length;
    if (o[0].list && o[1].list && o[0].list->length != o[1].list->length)
        ec_lua_fail(L, "lists of %lld and %lld values do not fit", (long long)o[0].list->length,
                    (long long)o[1].list->length);
    double *to = ec_lua_values_new(L, n);
    const ec_lua_values *from = o[0].list ? o[0].list : o[1].list;
    ec_lua_values *made = lua_touserdata(L, -1);
    made->rank = from->rank;
    memcpy(made->shape, from->shape, sizeof made->shape);
    for (int64_t i = 0; i < n; i++) {
        double a = operand_at(&o[0], i), b = operand_at(&o[1], i);
        to[i] = op == EC_OP_ADD   ? a + b
                : op == EC_OP_SUB ? a - b
                : op == EC_OP_MUL ? a * b
                : op == EC_OP_DIV ? a / b
                                  : pow(a, b);
    }
    return 1;
}

static int values_add(lua_State *L)
{
    return arithmetic(L, EC_OP_ADD);
}

static int values_sub(lua_State *L)
{
    return arithmetic(L, EC_OP_SUB);
}

static int values_mul(lua_State *L)
{
    return arithmetic(L, EC_OP_MUL);
}

static int values_div(lua_State *L)
{
    return arithmetic(L, EC_OP_DIV);
}

static int values_pow(lua_State *L)
{
    return arithmetic(L, EC_OP_POW);
}

static int values_neg(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushnumber(L, -1);
    return arithmetic(L, EC_OP_MUL);
}

static int values_compare(lua_State *L)
{
    if (luaL_testudata(L, 1, EC_LUA_EXPR) || luaL_testudata(L, 2, EC_LUA_EXPR))
        return ec_lua_expr_compare(L);
    ec_lua_fail(L,
                "lists of values cannot be compared; compare their elements, or :min() and :max()");
}

void ec_lua_values_open(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__len", values_len},    {"__newindex", values_newindex}, {"__tostring", values_tostring},
        {"__add", values_add},    {"__sub", values_sub},           {"__mul", values_mul},
        {"__div", values_div},    {"__pow", values_pow},           {"__unm", values_neg},
        {"__lt", values_compare}, {"__le", values_compare},        {NULL, NULL}};
    luaL_newmetatable(L, EC_LUA_VALUES);
    luaL_setfuncs(L, meta, 0);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcclosure(L, values_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
