/* lua_fdtd_fields.h: model:plane{ ... } and model:pattern{ ... }, fields of one design that are saved. */
#ifndef EC_LUA_FDTD_FIELDS_H
#define EC_LUA_FDTD_FIELDS_H

#include "lua_keys.h"

int ec_lua_fdtd_plane(lua_State *L);
int ec_lua_fdtd_pattern(lua_State *L);
/* Whether a value is one of theirs. */
bool ec_lua_fdtd_is_field(lua_State *L, int index);
/* best:save: the file's name at index 2, the field at index 3; job and result of the design. */
int ec_lua_fdtd_field_save(lua_State *L, const ec_job *job, const ec_result *result);
void ec_lua_fdtd_fields_open(lua_State *L);

extern const ec_noun ec_noun_fdtd_plane, ec_noun_fdtd_pattern;

#endif
