/* lua_mimo_save.h: files of a link's design: best:save(file, link, keys), link:save(file, keys). */
#ifndef EC_LUA_MIMO_SAVE_H
#define EC_LUA_MIMO_SAVE_H

#include "lua_keys.h"

/* best:save: the file's name at index 2, the link at index 3, keys at index 4; job and result of
 * the design. */
int ec_lua_mimo_save(lua_State *L, const ec_job *job, const ec_result *result);
/* link:save(file, keys), of a link without design variables. */
int ec_lua_mimo_save_fixed(lua_State *L);

extern const ec_noun ec_noun_mimo_save;

#endif
