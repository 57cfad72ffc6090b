/* lua_mimo.h: links between antennas in a scene as Lua sees them: ec.mimo{ ... }, whose methods are
 * channels and what follows from them, and ec.grid{ ... }, places of users. */
#ifndef EC_LUA_MIMO_H
#define EC_LUA_MIMO_H

#include "lua_keys.h"

#define EC_LUA_MIMO "link"

/* Whether the value at a stack index is a table of places, with x, y and z. */
bool ec_lua_mimo_is_places(lua_State *L, int index);

extern const ec_noun ec_noun_mimo, ec_noun_mimo_end, ec_noun_places;

#endif
