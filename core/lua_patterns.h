/* lua_patterns.h: files of elements as Lua sees them: ec.load_pattern and ec.load_touchstone.
 *
 * Files are read below the script's folder or --data only. What a file becomes belongs to the core
 * and is freed with its userdata; its bytes count against the script's memory.
 */
#ifndef EC_LUA_PATTERNS_H
#define EC_LUA_PATTERNS_H

#include "element_pattern.h"
#include "lua_keys.h"

#define EC_LUA_FAR_FIELD  "pattern of an element"
#define EC_LUA_TOUCHSTONE "scattering matrix"

typedef struct ec_lua_far_field {
    ec_far_field *field;
    ec_element_pattern element; /* its table */
    bool gained;                /* gain is known */
    ec_element_gain gain;
    size_t bytes;
} ec_lua_far_field;

typedef struct ec_lua_touchstone {
    ec_touchstone *data;
    size_t bytes;
} ec_lua_touchstone;

/* The value at a stack index, or NULL when there is another one. */
const ec_lua_far_field *ec_lua_far_field_test(lua_State *L, int index);
const ec_lua_touchstone *ec_lua_touchstone_test(lua_State *L, int index);

extern const ec_noun ec_noun_load_pattern;

#endif
