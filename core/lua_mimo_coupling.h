/* lua_mimo_coupling.h: the key 'coupling' of an end of ec.mimo's links. */
#ifndef EC_LUA_MIMO_COUPLING_H
#define EC_LUA_MIMO_COUPLING_H

#include "element_files.h"
#include "lua_keys.h"

/* The scattering matrix at a stack index, with a port for each of `group` antennas about a place or of
 * `count` in all: of ec.load_touchstone, or a list of rows, the same at all frequencies, whose
 * entries are numbers or {re, im}. Owned by the stack. NULL for index 0. what: "ec.mimo: key 'tx'". */
const ec_touchstone *ec_lua_mimo_coupling(lua_State *L, const char *what, int index, int32_t group,
                                          int32_t count);

#endif
