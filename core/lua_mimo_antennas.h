/* lua_mimo_antennas.h: the keys of an end of ec.mimo's links that say what its antennas are. */
#ifndef EC_LUA_MIMO_ANTENNAS_H
#define EC_LUA_MIMO_ANTENNAS_H

#include "evaluators/mimo/mimo.h"
#include "lua_keys.h"

typedef struct ec_lua_antenna_keys {
    int antenna, axis, up;
    double q;
} ec_lua_antenna_keys;

#define EC_LUA_ANTENNA_ROW(owner, member, key, kind, initial, min, max, help, field)               \
    {                                                                                              \
        key, kind, 0, initial, min, max, NULL, NULL, help, offsetof(owner, member.field)           \
    }

/* Rows of a key table whose struct `o` has an ec_lua_antenna_keys `m`. */
#define EC_LUA_ANTENNA_ROWS(o, m)                                                                  \
    EC_LUA_ANTENNA_ROW(o, m, "antenna", EC_KEY_ANY, 0, 0, 0,                                       \
                       "isotropic (default): unit gain, polarized along axis; halfwave, short: "   \
                       "dipoles along axis; cosq: field cos^q about axis; hemispheric; or a "      \
                       "pattern of ec.load_pattern; a list: each antenna's",                       \
                       antenna),                                                                   \
        EC_LUA_ANTENNA_ROW(o, m, "axis", EC_KEY_ANY, 0, 0, 0,                                      \
                           "{x, y, z} of dipoles and polarization, else where the antenna's own "  \
                           "z points; default {0, 0, 1}; a list of such: each antenna's",          \
                           axis),                                                                  \
        EC_LUA_ANTENNA_ROW(o, m, "up", EC_KEY_ANY, 0, 0, 0,                                        \
                           "{x, y, z} where the own x of a cosq, hemispheric or pattern antenna "  \
                           "points, as near as axis allows: the polarization of the first two; "   \
                           "default: turned by the least rotation that takes z to axis; a list: "  \
                           "each antenna's",                                                       \
                           up),                                                                    \
        EC_LUA_ANTENNA_ROW(o, m, "q", EC_KEY_NUMBER, 1, 0, 1000, "of cosq", q)

/* Brings them into an end whose number of antennas is set, `group` of them about each place; lists
 * have an entry for each of these, or for each of all. What end points to is owned by the stack,
 * patterns by the state. what: "ec.mimo: key 'tx'". */
void ec_lua_mimo_antennas(lua_State *L, const char *what, const ec_lua_antenna_keys *k,
                          int32_t group, ec_mimo_end *end);

#endif
