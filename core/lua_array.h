/* lua_array.h: antenna arrays as Lua sees them: ec.array{ ... } and the methods that are its metrics. */
#ifndef EC_LUA_ARRAY_H
#define EC_LUA_ARRAY_H

#include "lua_keys.h"

#define EC_LUA_ARRAY "array"

extern const ec_noun ec_noun_array, ec_noun_sll, ec_noun_hpbw, ec_noun_fnbw, ec_noun_directivity,
    ec_noun_excess, ec_noun_level, ec_noun_null_depth;

#endif
