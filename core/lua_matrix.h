/* lua_matrix.h: functions of channel matrices as Lua calls them: ec.capacity(H, { ... }), methods of
 * expressions, and of links (link:capacity{ ... }), which have an SNR of their own. */
#ifndef EC_LUA_MATRIX_H
#define EC_LUA_MATRIX_H

#include "lua_keys.h"

/* Of the module and of expressions. */
int ec_lua_capacity(lua_State *L);
int ec_lua_singular_values(lua_State *L);
int ec_lua_condition_number(lua_State *L);
int ec_lua_condition_db(lua_State *L);
int ec_lua_effective_rank(lua_State *L);
int ec_lua_degrees_of_freedom(lua_State *L);
int ec_lua_sinr(lua_State *L);
int ec_lua_sum_rate(lua_State *L);

/* SNR that a link budget gives where H is not normalised. */
typedef struct ec_lua_snr {
    double db;           /* of all transmitters' power; NAN: there is no budget */
    const char *lacks;   /* what ec.mimo was not given for one: "power_dbm of tx and bandwidth" */
    int32_t n_tx;        /* columns of H */
    const double *share; /* of the power, of each transmitter; NULL: alike */
} ec_lua_snr;

/* The nouns of what links can do with H, ended by NULL: "link:capacity", ... */
extern const ec_noun *const ec_lua_link_functions[];
/* Calls the i-th of them with H at index 1 and the table of keys or nil at 2. */
int ec_lua_link_function(lua_State *L, int i, const ec_lua_snr *snr);

extern const ec_noun ec_noun_capacity, ec_noun_singular_values, ec_noun_sinr;

#endif
