/* lua_fdtd_rows.h: S-parameters of the rows of a sweep as files. */
#ifndef EC_LUA_FDTD_ROWS_H
#define EC_LUA_FDTD_ROWS_H

#include "lua_keys.h"
#include "sweep.h"

/* sweep:save(file, model), the file's name at index 2: NAME_1.sNp, NAME_2.sNp, ..., by the rows' numbers. The real
 * and imaginary parts of all S_ij have to be recorded; rows that failed have no file. */
int ec_lua_fdtd_save_rows(lua_State *L, const ec_sweep *sweep, ec_call *model);

#endif
