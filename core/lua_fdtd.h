/* lua_fdtd.h: structures on a Yee grid as Lua sees them: ec.fdtd{ ... }, whose methods are
 * S-parameters and what follows from them, as curves over frequency (lua_curve.h). */
#ifndef EC_LUA_FDTD_H
#define EC_LUA_FDTD_H

#include "evaluator.h"
#include "lua_keys.h"

#define EC_LUA_FDTD "model"

/* The call of the model at a stack index, or NULL when there is another value. */
ec_call *ec_lua_fdtd_test(lua_State *L, int index);

extern const ec_noun ec_noun_fdtd, ec_noun_fdtd_boundary, ec_noun_fdtd_domain, ec_noun_fdtd_modes,
    ec_noun_fdtd_far, ec_noun_fdtd_plane_wave, ec_noun_fdtd_final;

#endif
