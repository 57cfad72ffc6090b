/* lua_key_text.h: what help, reference page and editor annotations say of a key or of a search method's
 * option. Texts that do not fit are cut at `size` characters. */
#ifndef EC_LUA_KEY_TEXT_H
#define EC_LUA_KEY_TEXT_H

#include <stddef.h>

#include "lua_keys.h"
#include "optimizer.h"

/* "whole number" */
const char *ec_lua_key_kind(const ec_key *key);
/* Kind with unit and allowed values: "number, m, above 0". */
void ec_lua_key_type(const ec_key *key, char *text, size_t size);
/* "required", the default, or "" where there is none or the help says it. */
void ec_lua_key_default(const ec_key *key, char *text, size_t size);
/* Both of a method's option; type and initial have the same size. */
void ec_lua_option_texts(const ec_option_def *option, char *type, char *initial, size_t size);

#endif
