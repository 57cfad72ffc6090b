/* lua_help.h: `eciton help` and the reference page, from the key tables, the functions and the
 * search methods' options: what the parser accepts is what the page says. */
#ifndef EC_LUA_HELP_H
#define EC_LUA_HELP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lua_keys.h"

/* The nouns in one line each. */
void ec_lua_help_list(FILE *to);
/* One noun ("array", "job.solve", "sll_db"), method ("lshade") or function ("sin"); false if
 * unknown. */
bool ec_lua_help_topic(FILE *to, const char *topic);
/* Topics whose names are like this one, "a, b"; "" when there is none. */
void ec_lua_help_near(const char *topic, char *text, size_t size);
/* The words that eciton help takes, without those of a command, with spaces between. */
void ec_lua_help_words(FILE *to);
/* Units of the module by what they measure, {"length", "m, km, cm"}; ended by NULL. */
extern const char *const ec_lua_units[][2];
/* The noun of the options of a function, "sinr", among those of several: "ec.sinr, ec.sum_rate: options".
 * NULL: it has none. */
const ec_noun *ec_lua_options_of(const char *name);
/* The whole reference as Markdown. */
void ec_lua_help_markdown(FILE *to);

#endif
