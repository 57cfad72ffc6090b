/* lua_files.h: files of a script. Read only below the script's folder or --data, written only below
 * --out; links are resolved before the check. With --trust anywhere.
 */
#ifndef EC_LUA_FILES_H
#define EC_LUA_FILES_H

#include "lua_keys.h"
#include "lua_values.h"

/* Real path of a file that may be read: as given, or below the --data folder, or below the
 * script's. ERR_FILE with a sentence. */
int ec_lua_files_resolve(lua_State *L, const char *path, char *real, size_t size);
/* Path below --out where a file may be written. */
int ec_lua_files_target(lua_State *L, const char *name, char *path, size_t size);
/* Whole content as a userdata that is pushed; NULL (nothing pushed) with a sentence. */
const char *ec_lua_files_slurp(lua_State *L, const char *path, size_t *size);
/* The same of a text file, called `name` in messages: one with a zero byte is none. Lines end with \n or
 * \r\n, also of a file whose lines ended with \r. */
const char *ec_lua_files_text(lua_State *L, const char *path, const char *name);
/* Notes what was read of a file otherwise than by ec_lua_files_slurp, which does so itself. */
void ec_lua_files_note(lua_State *L, const void *bytes, size_t size);

/* A table of numbers in a text file: separated by commas, semicolons or blanks, '#' starts a
 * comment, a first row of words names the columns. Pushes the data ([columns][rows]) and the
 * names (a table). */
typedef struct ec_lua_csv {
    const double *data;
    int32_t rows, columns;
} ec_lua_csv;
int ec_lua_files_csv(lua_State *L, const char *path, ec_lua_csv *csv);

/* name ends in .csv (one value a line) or .npy. */
int ec_lua_files_save_values(lua_State *L, const char *name, const ec_lua_values *values);
/* Columns with a header line, or (.npy) a matrix [rows][columns]. */
int ec_lua_files_save_columns(lua_State *L, const char *name, int32_t columns,
                              const char *const *names, const ec_lua_values *column);

#endif
