/* lua_mimo_antennas.c: antennas of an end, alike or each its own. */
#include "lua_mimo_antennas.h"

#include <math.h>
#include <string.h>

#include "lua_patterns.h"

static const char *const words = "isotropic|halfwave|short|cosq|hemispheric";
static const ec_element_kind kinds[] = {EC_ELEMENT_KIND_ISOTROPIC, EC_ELEMENT_KIND_HALF_WAVE,
                                        EC_ELEMENT_KIND_SHORT_DIPOLE, EC_ELEMENT_KIND_COSQ,
                                        EC_ELEMENT_KIND_HEMISPHERIC};

/* Whether the value at index is a list with something for each antenna. */
static bool is_each(lua_State *L, int index, bool vectors)
{
    if (!index || !lua_istable(L, index))
        return false;
    bool is = !vectors || lua_rawgeti(L, index, 1) == LUA_TTABLE;
    if (vectors)
        lua_pop(L, 1);
    return is;
}

/* Pushes what the key at index has for antenna i: an entry of its list, or itself. */
static void push_entry(lua_State *L, int index, bool each, int32_t i)
{
    if (!each) {
        lua_pushvalue(L, index);
        return;
    }
    lua_rawgeti(L, index, i % (lua_Integer)lua_rawlen(L, index) + 1);
}

static void check_list(lua_State *L, const char *what, const char *key, int index, int32_t group,
                       int32_t count)
{
    int32_t n = ec_lua_list_length(L, index, lua_pushfstring(L, "%s: key '%s'", what, key));
    lua_pop(L, 1);
    if (n == count || n == group)
        return;
    if (group < count)
        ec_lua_fail(L,
                    "%s: key '%s': %d entries for %d antennas about each place, %d in all; one for "
                    "each of either is needed",
                    what, key, (int)n, (int)group, (int)count);
    ec_lua_fail(L, "%s: key '%s': %d entries for %d antennas", what, key, (int)n, (int)count);
}

/* The direction on top of the stack, which is popped. */
static void take_direction(lua_State *L, const char *what, const char *key, double to[3])
{
    ec_lua_list list;
    int top = lua_gettop(L) - 1;
    const char *name = lua_pushfstring(L, "%s: key '%s'", what, key);
    if (!lua_istable(L, top + 1))
        ec_lua_fail(L, "%s: wants {x, y, z} or a list of them, got a %s", name,
                    luaL_typename(L, top + 1));
    ec_lua_list_get(L, top + 1, name, &list);
    if (list.n != 3)
        ec_lua_fail(L, "%s: wants {x, y, z}, got %d numbers", name, (int)list.n);
    memcpy(to, list.v, 3 * sizeof *to);
    if (!ec_lua_is_direction(to))
        ec_lua_fail(L, "%s: the direction has no length", name);
    lua_settop(L, top);
}

/* The word or pattern on top of the stack, which is popped. */
static void take_kind(lua_State *L, const char *what, ec_mimo_antenna *antenna)
{
    const char *name = lua_pushfstring(L, "%s: key 'antenna'", what);
    const ec_lua_far_field *loaded = ec_lua_far_field_test(L, -2);
    if (loaded) {
        antenna->kind = EC_ELEMENT_KIND_TABLE;
        antenna->table = &loaded->element;
        lua_pushvalue(L, -2);
        luaL_ref(L, LUA_REGISTRYINDEX); /* the call reads it as long as the graph lives */
    } else if (lua_type(L, -2) == LUA_TSTRING) {
        antenna->kind = kinds[ec_lua_word_get(L, lua_gettop(L) - 1, name, words)];
    } else {
        ec_lua_fail(L,
                    "%s: wants one of %s, a pattern of ec.load_pattern or a list of them, got a %s",
                    name, words, luaL_typename(L, -2));
    }
    lua_pop(L, 2);
}

void ec_lua_mimo_antennas(lua_State *L, const char *what, const ec_lua_antenna_keys *k,
                          int32_t group, ec_mimo_end *end)
{
    bool kind = is_each(L, k->antenna, false), axis = is_each(L, k->axis, true);
    bool up = is_each(L, k->up, true), each = kind || axis || up;
    int32_t n = each ? end->count : 1;

    if (kind)
        check_list(L, what, "antenna", k->antenna, group, end->count);
    if (axis)
        check_list(L, what, "axis", k->axis, group, end->count);
    if (up)
        check_list(L, what, "up", k->up, group, end->count);
    luaL_checkstack(L, 8, "too many values");
    ec_mimo_antenna *all = lua_newuserdatauv(L, (size_t)n * sizeof *all, 0);
    for (int32_t i = 0; i < n; i++) {
        ec_mimo_antenna *a = &all[i];
        *a = (ec_mimo_antenna){.kind = EC_ELEMENT_KIND_ISOTROPIC, .q = k->q, .axis = {0, 0, 1}};
        if (k->antenna) {
            push_entry(L, k->antenna, kind, i);
            take_kind(L, what, a);
        }
        if (k->axis) {
            push_entry(L, k->axis, axis, i);
            take_direction(L, what, "axis", a->axis);
        }
        if (k->up) {
            push_entry(L, k->up, up, i);
            take_direction(L, what, "up", a->up);
        }
    }
    end->antenna = all[0];
    end->each = each ? all : NULL;
}
