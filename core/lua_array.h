/* lua_array.h: antenna arrays as Lua sees them: ec.array{ ... }, the methods that are its metrics,
 * and ec.optimal{ ... }, weights for an array. */
#ifndef EC_LUA_ARRAY_H
#define EC_LUA_ARRAY_H

#include "evaluators/array_pattern/array_pattern.h"
#include "lua_keys.h"

#define EC_LUA_ARRAY   "array"
#define EC_LUA_RADIANS (EC_PI / 180) /* a degree */

/* User value 1 is the table of its keys, lists and expressions as they were when it was made. */
typedef struct ec_lua_array {
    ec_call *call; /* owned by the graph */
    ec_array_grid_kind kind;
    ec_expr amplitude; /* that the script gave, or its weights: before coupling */
    size_t bytes;      /* that the call keeps */
} ec_lua_array;

#define EC_LUA_WEIGHTS "optimal weights"

/* Optimal weights and what they were made for. */
typedef struct ec_lua_weights {
    ec_expr amplitude, phase;
    ec_expr x, y, z, wavelength;
    ec_expr look[3];
    int32_t elements;
} ec_lua_weights;

/* A list that is an input of each element, for messages by its key. */
typedef struct ec_lua_elements {
    const char *key;
    ec_expr expr; /* negative: not given */
} ec_lua_elements;

/* The number of elements that the given lists agree on, 1 when all are numbers. */
int32_t ec_lua_array_count(lua_State *L, const char *noun, const ec_lua_elements *inputs, size_t n);
/* The wavelength, of which one of both keys is given (negative: absent). */
ec_expr ec_lua_array_wavelength(lua_State *L, const char *noun, ec_expr wavelength,
                                ec_expr frequency);
/* A direction or a list of them as direction cosines, from key_u and key_v or from key_theta_deg
 * and key_phi_deg (absent: broadside). */
void ec_lua_array_direction(lua_State *L, const char *noun, const char *key, ec_expr u, ec_expr v,
                            ec_expr theta_deg, ec_expr phi_deg, ec_expr direction[3]);
void ec_lua_weights_open(lua_State *L);

/* A copy with some keys changed: (array, table) on the stack. */
int ec_lua_array_with(lua_State *L);
/* The array at index towards its one steering direction, for what needs no grid: as it is steered,
 * or steered to { u, v, theta, phi } (deg; NAN: not given, none: broadside). Pushes it. */
ec_lua_array *ec_lua_array_towards(lua_State *L, int index, const double *reference);

/* Degrees in radians; pushes the memory. */
const double *ec_lua_radians(lua_State *L, const double *degrees, int32_t n);
void ec_lua_metric_open(lua_State *L);

extern const ec_noun ec_noun_array, ec_noun_optimal, ec_noun_sll, ec_noun_xpol, ec_noun_hpbw,
    ec_noun_fnbw, ec_noun_directivity, ec_noun_excess, ec_noun_level, ec_noun_null_depth,
    ec_noun_sll_mean, ec_noun_pointing_error, ec_noun_scan_loss, ec_noun_dynamic_range,
    ec_noun_with;

#endif
