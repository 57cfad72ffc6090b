/* lua_mimo.h: links between antennas in a scene as Lua sees them: ec.mimo{ ... }, whose methods are
 * channels and what follows from them, and ec.grid{ ... }, places of users. */
#ifndef EC_LUA_MIMO_H
#define EC_LUA_MIMO_H

#include "evaluator.h"
#include "lua_keys.h"

#define EC_LUA_MIMO "link"

/* The call of the link at a stack index, or NULL when there is another value. */
ec_call *ec_lua_mimo_test(lua_State *L, int index);

/* Whether the value at a stack index is a table of places, with x, y and z. */
bool ec_lua_mimo_is_places(lua_State *L, int index);

/* The call of the link that a method (what) has as its first argument; an error for anything else, and
 * for a second argument where it has none. */
struct ec_call *ec_lua_mimo_call(lua_State *L, const char *what, bool has_keys);

/* Methods: metrics of paths (lua_mimo_metrics.c). */
int ec_lua_link_k_factor_db(lua_State *L);
int ec_lua_link_mean_delay(lua_State *L);
int ec_lua_link_delay_spread(lua_State *L);
int ec_lua_link_angular_spread_deg(lua_State *L);

/* What methods without keys are, ended by a NULL name (lua_mimo_help.c). */
extern const ec_noun ec_lua_link_methods[];
extern const ec_noun ec_noun_mimo, ec_noun_mimo_end, ec_noun_places, ec_noun_angular_spread;

#endif
