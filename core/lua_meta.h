/* lua_meta.h: the module as annotations of the Lua language server (LuaLS), for editors that complete,
 * check and explain keys: scripts/eciton.meta.lua, which is never run by Eciton. */
#ifndef EC_LUA_META_H
#define EC_LUA_META_H

#include <stdio.h>

/* Every noun as a class of keys and a function, every function of expressions, units; with types, ranges
 * and defaults, from the tables of the parser (lua_keys.h). */
void ec_lua_meta(FILE *to);

#endif
