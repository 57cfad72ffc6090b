/* lua_array.h: antenna arrays as Lua sees them: ec.array{ ... } and the methods that are its
 * metrics. */
#ifndef EC_LUA_ARRAY_H
#define EC_LUA_ARRAY_H

#include "evaluators/array_pattern/array_pattern.h"
#include "lua_keys.h"

#define EC_LUA_ARRAY   "array"
#define EC_LUA_RADIANS (EC_PI / 180) /* a degree */

typedef struct ec_lua_array {
    ec_call *call; /* owned by the graph */
    ec_array_grid_kind kind;
} ec_lua_array;

/* Degrees in radians; pushes the memory. */
const double *ec_lua_radians(lua_State *L, const double *degrees, int32_t n);
void ec_lua_metric_open(lua_State *L);

extern const ec_noun ec_noun_array, ec_noun_sll, ec_noun_hpbw, ec_noun_fnbw, ec_noun_directivity,
    ec_noun_excess, ec_noun_level, ec_noun_null_depth;

#endif
