/* lua_fdtd_save.h: files of a model's design: best:save(file, model), model:save(file). */
#ifndef EC_LUA_FDTD_SAVE_H
#define EC_LUA_FDTD_SAVE_H

#include "lua_keys.h"

/* best:save: the file's name at index 2, the model at index 3; job and result of the design. */
int ec_lua_fdtd_save(lua_State *L, const ec_job *job, const ec_result *result);
/* model:save(file), of a model without design variables. */
int ec_lua_fdtd_save_fixed(lua_State *L);

extern const ec_noun ec_noun_fdtd_save;

#endif
