/* The libraries that a script gets, `require`, and the guard of undeclared globals. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua_expr.h"
#include "lua_files.h"
#include "lua_host.h"
#include "lua_values.h"

/* ---- loading --------------------------------------------------------------------------------- */

int ec_lua_sandbox_load(lua_State *L, const char *path, const char *chunk_name)
{
    size_t size = 0;
    const char *text = ec_lua_files_slurp(L, path, &size); /* a userdata of Lua, or NULL */
    const char *name = chunk_name + 1;
    if (!text) {
        lua_pushfstring(L, "%s: %s", name, ec_error_text());
        return LUA_ERRFILE;
    }
    if (size > 0 && text[0] == LUA_SIGNATURE[0]) {
        lua_pop(L, 1);
        lua_pushfstring(L, "%s: this is bytecode; only scripts as text are run", name);
        return LUA_ERRSYNTAX;
    }
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    if (size > 0 && text[0] == '#') /* "#!/usr/bin/env ..." */
        while (size > 0 && text[0] != '\n') {
            text++;
            size--;
        }
    int status = luaL_loadbufferx(L, text, size, chunk_name, "t");
    lua_remove(L, -2);
    return status;
}

/* load(chunk, name, mode, env) for text only. */
static int load_text(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checkany(L, 1);
    if (n < 3)
        lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* A module is NAME.lua in the Lua library or below the script's folder. Returns its chunk and,
 * for the library, the core's table. */
static int search_module(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const char *name = luaL_checkstring(L, 1);
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", name[i])) {
            lua_pushfstring(
                L, "\n\tthe name '%s' has a character other than a-z, 0-9, '_', '-', '.'", name);
            return 1;
        }
    const char *relative = luaL_gsub(L, name, ".", "/");
    const char *folders[2] = {host->settings.library, host->script_dir};
    for (int i = 0; i < 2; i++) {
        const char *path = lua_pushfstring(L, "%s/%s.lua", folders[i], relative);
        if (access(path, R_OK) != 0)
            continue;
        char real[PATH_MAX];
        if (i == 1 && ec_lua_files_resolve(L, path, real, sizeof real) != EC_OK)
            ec_lua_fail_core(L, "require");
        const char *chunk = i == 0 ? lua_pushfstring(L, "=[eciton] %s.lua", relative)
                                   : lua_pushfstring(L, "@%s.lua", relative);
        if (ec_lua_sandbox_load(L, path, chunk) != LUA_OK)
            return lua_error(L);
        if (i == 0)
            lua_getfield(L, LUA_REGISTRYINDEX, EC_LUA_CORE);
        else
            lua_pushnil(L);
        return 2;
    }
    lua_pushfstring(L, "\n\tno file '%s.lua' beside the script or in the Lua library (%s)",
                    relative, host->settings.library);
    return 1;
}

static int require_module(lua_State *L)
{
    /* the message of Lua's own require names paths that are not searched here */
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, 2, name) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    if (lua_getfield(L, -1, name) == LUA_TNIL) {
        lua_pushcfunction(L, search_module);
        lua_pushvalue(L, 1);
        lua_call(L, 1, 2);
        if (!lua_isfunction(L, -2))
            ec_lua_fail(L, "module '%s' not found:%s", name, lua_tostring(L, -2));
    } else {
        lua_pushnil(L);
    }
    lua_pushvalue(L, 1);
    lua_insert(L, -2); /* the chunk gets its name and the core's table */
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
        lua_pushboolean(L, 1);
        lua_replace(L, -2);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

/* ---- wrappers -------------------------------------------------------------------------------- */

/* Wrappers call the C function of Lua's library in their own frame, so that its messages keep their
 * place; none of these functions has upvalues. */

/* Functions that the count hook does not reach note their place for the watchdog. */
static int noted(lua_State *L)
{
    ec_lua_budget_note(L);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* math.sin(x) of a design variable has no value while the script runs; math.max would even hand
 * back one of its operands. */
static int plain_math(lua_State *L)
{
    int n = lua_gettop(L);
    for (int i = 1; i <= n; i++)
        if (luaL_testudata(L, i, EC_LUA_EXPR) || luaL_testudata(L, i, EC_LUA_VALUES)) {
            const char *name = lua_tostring(L, lua_upvalueindex(2));
            lua_getfield(L, LUA_REGISTRYINDEX, "eciton.functions");
            bool has = lua_getfield(L, -1, name) != LUA_TNIL;
            bool expr = luaL_testudata(L, i, EC_LUA_EXPR) != NULL;
            if (has)
                ec_lua_fail(L, "math.%s wants numbers and got %s: use ec.%s", name,
                            expr ? "an expression" : "a list of values", name);
            ec_lua_fail(L, "math.%s wants numbers and got %s", name,
                        expr ? "an expression, which has no value while the script runs"
                             : "a list of values");
        }
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static void wrap_math(lua_State *L)
{
    lua_getglobal(L, "math");
    int math = lua_gettop(L);
    lua_newtable(L);
    int wrapped = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, math); lua_pop(L, 1))
        if (lua_isfunction(L, -1) && strncmp(lua_tostring(L, -2), "random", 6) != 0) {
            lua_pushvalue(L, -2); /* key of the new entry */
            lua_pushvalue(L, -2); /* upvalue 1: the function */
            lua_pushvalue(L, -4); /* upvalue 2: its name */
            lua_pushcclosure(L, plain_math, 2);
            lua_rawset(L, wrapped);
        }
    for (lua_pushnil(L); lua_next(L, wrapped); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, math);
    }
    lua_pop(L, 2);
}

/* A NaN has no sign where it is printed. */
static void make_printable(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TNUMBER || lua_isinteger(L, index))
        return;
    lua_pushnumber(L, ec_printable(lua_tonumber(L, index)));
    lua_replace(L, index);
}

static int tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    make_printable(L, 1);
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/* string.format("%.2f", x): an expression has no value, and only %s and %q can take it. */
static int format(lua_State *L)
{
    int argument = 1, n = lua_gettop(L);
    for (int i = 2; i <= n; i++)
        make_printable(L, i);
    for (const char *c = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : ""; *c; c++) {
        if (*c != '%' || *++c == '%')
            continue;
        c += strcspn(c, "aAcdeEfgGiopqsuxX");
        if (!*c)
            break;
        if (++argument > n || *c == 's')
            continue;
        if (luaL_testudata(L, argument, EC_LUA_EXPR))
            ec_lua_fail(L,
                        "string.format: value %d is an expression, which has no value while the "
                        "script runs: use best:value(expr) after job:solve, or ec.value(expr) "
                        "when it has no design variables",
                        argument - 1);
        if (luaL_testudata(L, argument, EC_LUA_VALUES))
            ec_lua_fail(L,
                        "string.format: value %d is a list of values: take an element, as in "
                        "x[1], or write %%s",
                        argument - 1);
    }
    return noted(L);
}

static void wrap_noted(lua_State *L, const char *library, const char *const *names)
{
    lua_getglobal(L, library);
    for (; *names; names++) {
        lua_getfield(L, -1, *names);
        lua_pushcclosure(L, strcmp(*names, "format") == 0 ? format : noted, 1);
        lua_setfield(L, -2, *names);
    }
    lua_pop(L, 1);
}

static int print(lua_State *L)
{
    FILE *to = ec_lua_host_of(L)->settings.print_to;
    int n = lua_gettop(L);
    for (int i = 1; i <= n; i++) {
        size_t length = 0;
        make_printable(L, i);
        const char *text = luaL_tolstring(L, i, &length);
        if (i > 1)
            fputc('\t', to);
        fwrite(text, 1, length, to);
        lua_pop(L, 1);
    }
    fputc('\n', to);
    fflush(to);
    return 0;
}

/* ---- globals --------------------------------------------------------------------------------- */

static int undeclared_read(lua_State *L)
{
    static const char *const closed[] = {"io", "debug", "dofile", "loadfile", "package"};
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (strcmp(name, closed[i]) == 0)
            ec_lua_fail(L, "'%s' is closed to scripts (--trust opens it for your own)", name);
    ec_lua_fail(
        L, "undeclared variable '%s' (a typing mistake, or a 'local %s = ...' is missing above)",
        name, name);
}

static int undeclared_write(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    ec_lua_fail(L, "undeclared variable '%s' is assigned to: write 'local %s%s'", name,
                lua_isfunction(L, 3) ? "function " : "", name);
}

static int closed_os(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    ec_lua_fail(L, "os.%s is closed to scripts (--trust opens it for your own)", name);
}

static void guard(lua_State *L, lua_CFunction read, lua_CFunction write)
{
    lua_newtable(L);
    lua_pushcfunction(L, read);
    lua_setfield(L, -2, "__index");
    if (write) {
        lua_pushcfunction(L, write);
        lua_setfield(L, -2, "__newindex");
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

static void remove_fields(lua_State *L, const char *table, const char *const *names)
{
    lua_getglobal(L, table);
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
    lua_pop(L, 1);
}

static void close_sandbox(lua_State *L)
{
    remove_fields(L, "_G", (const char *const[]){"dofile", "loadfile", NULL});
    remove_fields(L, "string", (const char *const[]){"dump", NULL});
    lua_getglobal(L, "load");
    lua_pushcclosure(L, load_text, 1);
    lua_setglobal(L, "load");
    /* of os, only the clock */
    lua_getglobal(L, "os");
    lua_newtable(L);
    static const char *const kept[] = {"time", "clock", "date", "difftime"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        lua_getfield(L, -2, kept[i]);
        lua_setfield(L, -2, kept[i]);
    }
    guard(L, closed_os, NULL);
    lua_setglobal(L, "os");
    lua_pop(L, 1);
}

void ec_lua_sandbox_open(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},       {LUA_STRLIBNAME, luaopen_string},
        {LUA_TABLIBNAME, luaopen_table}, {LUA_MATHLIBNAME, luaopen_math},
        {LUA_UTF8LIBNAME, luaopen_utf8}, {LUA_COLIBNAME, luaopen_coroutine},
        {LUA_OSLIBNAME, luaopen_os}};
    static const luaL_Reg trusted[] = {{LUA_LOADLIBNAME, luaopen_package},
                                       {LUA_IOLIBNAME, luaopen_io},
                                       {LUA_DBLIBNAME, luaopen_debug}};
    bool trust = ec_lua_host_of(L)->settings.trust;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    for (size_t i = 0; trust && i < sizeof trusted / sizeof *trusted; i++) {
        luaL_requiref(L, trusted[i].name, trusted[i].func, 1);
        lua_pop(L, 1);
    }
    wrap_math(L);
    wrap_noted(L, "string",
               (const char *const[]){"find", "match", "gmatch", "gsub", "rep", "format", NULL});
    wrap_noted(L, "table",
               (const char *const[]){"concat", "move", "insert", "remove", "unpack", "sort", NULL});
    if (!trust)
        close_sandbox(L);
    lua_pushcfunction(L, require_module);
    lua_setglobal(L, "require");
    lua_pushcfunction(L, print);
    lua_setglobal(L, "print");
    lua_pushcfunction(L, tostring);
    lua_setglobal(L, "tostring");
    lua_pushglobaltable(L);
    guard(L, undeclared_read, undeclared_write);
    lua_pop(L, 1);
}
