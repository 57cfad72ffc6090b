/* lua_library.h: what the modules in scripts/eciton/ get from the core: the key tables of their
 * functions, the parser for them, lists with arithmetic, and random numbers. The modules are Lua;
 * their tables are here, because the parser's messages, `eciton help` and the reference page come
 * from one place.
 */
#ifndef EC_LUA_LIBRARY_H
#define EC_LUA_LIBRARY_H

#include "lua_keys.h"

/* The offsets of their keys are 0: the parser lays the fields out itself. */
extern const ec_noun ec_lua_library[];
extern const int ec_lua_library_count;

#endif
