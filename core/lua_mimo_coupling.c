/* lua_mimo_coupling.c: scattering matrices of ports as Lua gives them. */
#include "lua_mimo_coupling.h"

#include <math.h>

#include "lua_patterns.h"

/* The entry on top of the stack, which stays. */
static ec_c128 entry(lua_State *L, const char *what, int32_t i, int32_t j)
{
    ec_c128 s = {0, 0};
    bool pair = lua_istable(L, -1) && lua_rawlen(L, -1) == 2;
    int re = LUA_TNONE, im = LUA_TNONE;

    if (lua_type(L, -1) == LUA_TNUMBER) {
        s.re = lua_tonumber(L, -1);
        re = im = LUA_TNUMBER;
    } else if (pair) {
        re = lua_rawgeti(L, -1, 1);
        im = lua_rawgeti(L, -2, 2);
        s = (ec_c128){lua_tonumber(L, -2), lua_tonumber(L, -1)};
        lua_pop(L, 2);
    }
    if (re == LUA_TNUMBER && im == LUA_TNUMBER && !(isfinite(s.re) && isfinite(s.im)))
        ec_lua_fail(L, "%s: entry (%d, %d) is not finite: %g, %g", what, (int)i + 1, (int)j + 1,
                    s.re, s.im);
    if (re != LUA_TNUMBER || im != LUA_TNUMBER)
        ec_lua_fail(L, "%s: entry (%d, %d) is a %s; it has to be a number or {re, im}", what,
                    (int)i + 1, (int)j + 1, luaL_typename(L, -1));
    return s;
}

static const ec_touchstone *read_rows(lua_State *L, const char *what, int index)
{
    int32_t n = ec_lua_list_length(L, index, what);
    ec_touchstone *data = lua_newuserdatauv(L, sizeof *data, 0);
    ec_c128 *s = lua_newuserdatauv(L, (size_t)n * (size_t)n * sizeof *s, 0);
    double *zero = lua_newuserdatauv(L, sizeof *zero, 0);

    if (n < 1)
        ec_lua_fail(L, "%s: the list is empty; it has a row for each antenna", what);
    *zero = 0;
    *data = (ec_touchstone){.n_ports = n, .n_frequencies = 1, .frequency = zero, .s = s};
    for (int32_t i = 0; i < n; i++) {
        lua_rawgeti(L, index, i + 1);
        if (!lua_istable(L, -1) || (int32_t)lua_rawlen(L, -1) != n)
            ec_lua_fail(L, "%s: row %d has to be a list of %d entries, as many as there are rows",
                        what, (int)i + 1, (int)n);
        for (int32_t j = 0; j < n; j++) {
            lua_rawgeti(L, -1, j + 1);
            s[i * n + j] = entry(L, what, i, j);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    return data;
}

const ec_touchstone *ec_lua_mimo_coupling(lua_State *L, const char *what, int index, int32_t group,
                                          int32_t count)
{
    if (!index)
        return NULL;
    const ec_lua_touchstone *file = ec_lua_touchstone_test(L, index);
    const char *name = lua_pushfstring(L, "%s: key 'coupling'", what);
    if (!file && !lua_istable(L, index))
        ec_lua_fail(
            L,
            "%s: wants a matrix of ec.load_touchstone or a list of rows, {{s11, s12}, {s21, "
            "s22}}, got a %s",
            name, luaL_typename(L, index));
    luaL_checkstack(L, 12, "too many values");
    const ec_touchstone *s = file ? file->data : read_rows(L, name, index);
    if (s->n_ports != group && s->n_ports != count)
        ec_lua_fail(L, "%s: the matrix has %d ports for %d antennas%s", name, (int)s->n_ports,
                    (int)group, group < count ? " about each place" : "");
    return s;
}
