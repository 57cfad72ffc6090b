/* best.front: the Pareto front of a solve with several objectives: #front, front[i] (a result),
 * front.objectives, search, constraints, variables and recorded by name (a list over the members),
 * hypervolume, reference, best, front:save(file). */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "lua_expr.h"
#include "lua_files.h"
#include "lua_job.h"
#include "output.h"

/* User values of a front: 1 its result, 2 a table of what was read already. */
enum { RESULT = 1, FIELDS = 2 };

#define EC_LUA_FRONT "front"

void ec_lua_front_push(lua_State *L, int result)
{
    result = lua_absindex(L, result);
    lua_newuserdatauv(L, 0, 2);
    luaL_setmetatable(L, EC_LUA_FRONT);
    lua_pushvalue(L, result);
    lua_setiuservalue(L, -2, RESULT);
    lua_newtable(L);
    lua_setiuservalue(L, -2, FIELDS);
}

/* The result of the front at index 1; pushes it. */
static const ec_result *push_result(lua_State *L, const char *method)
{
    if (!luaL_testudata(L, 1, EC_LUA_FRONT))
        ec_lua_fail(L, "%s: call it with a colon on a front, as in best.%s", method, method);
    lua_getiuservalue(L, 1, RESULT);
    ec_lua_result *r = luaL_checkudata(L, -1, EC_LUA_RESULT);
    return r->result;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Column k of n rows of `width` numbers. */
static void push_column(lua_State *L, const double *rows, int32_t n, int32_t width, int32_t k)
{
    double *to = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++)
        to[i] = rows[(size_t)i * (size_t)width + (size_t)k];
}

/* A number a member, or a table of lists. */
static void push_rows(lua_State *L, const double *rows, int32_t n, int32_t length, bool scalar)
{
    if (scalar) {
        ec_lua_values_copy(L, rows, n);
        return;
    }
    lua_createtable(L, n, 0);
    for (int32_t i = 0; i < n; i++) {
        ec_lua_values_copy(L, rows + (size_t)i * (size_t)length, length);
        lua_rawseti(L, -2, i + 1);
    }
}

/* The result is on top of the stack; pushes a table of columns by name. */
static bool push_columns(lua_State *L, const char *field, const ec_result *r)
{
    const ec_front *f = &r->front;
    const ec_job *job = ec_lua_result_job(L, -1);
    lua_newtable(L);
    if (strcmp(field, "objectives") == 0 || strcmp(field, "search") == 0) {
        const double *rows = field[0] == 'o' ? f->objective_final : f->objective_search;
        for (int32_t k = 0; k < r->n_objectives; k++) {
            push_column(L, rows, f->n, r->n_objectives, k);
            lua_setfield(L, -2, ec_job_objective(job, k)->name);
        }
    } else if (strcmp(field, "constraints") == 0) {
        for (int32_t k = 0; k < r->n_constraints; k++) {
            push_column(L, f->constraint, f->n, r->n_constraints, k);
            lua_setfield(L, -2, ec_job_constraint(job, k)->name);
        }
    } else if (strcmp(field, "variables") == 0) {
        for (int32_t k = 0; k < r->n_variables; k++) {
            const ec_variable *v = ec_job_variable(job, k);
            bool any = f->n > 0;
            push_rows(L, any ? f->variable[k] : NULL, f->n, any ? r->variable_length[k] : 1,
                      v->count == 0);
            lua_setfield(L, -2, v->name);
        }
    } else if (strcmp(field, "recorded") == 0) {
        for (int32_t k = 0; k < r->n_records; k++) {
            const ec_goal *goal = ec_job_record(job, k);
            const ec_node *node = ec_lua_expr_node(L, goal->expr);
            bool any = f->n > 0;
            push_rows(L, any ? f->record[k] : NULL, f->n, any ? r->record_length[k] : 1,
                      node->rank == 0 && (!any || r->record_length[k] == 1));
            lua_setfield(L, -2, goal->name);
        }
    } else {
        lua_pop(L, 1);
        return false;
    }
    ec_lua_result_guard(L, -2, "best.front", field);
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

/* The result is on top of the stack; pushes member i (from 1), or nil behind the last one. */
static void push_member(lua_State *L, const ec_result *r, lua_Integer i)
{
    if (i < 1 || i > r->front.n) {
        lua_pushnil(L);
        return;
    }
    lua_getiuservalue(L, -1, 1); /* its job */
    ec_lua_result *member = ec_lua_result_new(L, -1);
    if (ec_result_member(r, (int32_t)(i - 1), &member->result) < 0)
        ec_lua_fail_core(L, "best.front");
    ec_lua_result_hold(L, member);
}

/* ---- methods --------------------------------------------------------------------------------- */

static int front_save(lua_State *L)
{
    const ec_result *r = push_result(L, "front:save");
    char path[PATH_MAX];
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "best.front:save: wants the name of a file, best.front:save(\"front.csv\")");
    const char *name = lua_tostring(L, 2), *ending = strrchr(name, '.');
    if (!ending || strcasecmp(ending, ".csv") != 0)
        ec_lua_fail(L, "best.front:save: '%s': a front is saved as .csv", name);
    if (ec_lua_files_target(L, name, path, sizeof path) != EC_OK)
        ec_lua_fail_core(L, "best.front:save");
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    if (ec_output_front(ec_lua_result_job(L, -1), r, slash ? path : ".",
                        slash ? slash + 1 : path) != EC_OK)
        ec_lua_fail_core(L, "best.front:save");
    return 0;
}

static int front_length(lua_State *L)
{
    lua_pushinteger(L, push_result(L, "front")->front.n);
    return 1;
}

static int front_index(lua_State *L)
{
    const ec_result *r = push_result(L, "front");
    int result = lua_gettop(L);
    lua_getiuservalue(L, 1, FIELDS);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL)
        return 1;
    lua_settop(L, result);
    const char *field = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (lua_isinteger(L, 2)) {
        push_member(L, r, lua_tointeger(L, 2));
        if (lua_isnil(L, -1))
            return 1;
    } else if (strcmp(field, "hypervolume") == 0) {
        lua_pushnumber(L, r->front.hypervolume);
    } else if (strcmp(field, "reference") == 0) {
        ec_lua_values_copy(L, r->front.reference, r->n_objectives);
    } else if (strcmp(field, "best") == 0) {
        lua_pushinteger(L, r->front.best + 1);
    } else if (strcmp(field, "save") == 0) {
        lua_pushcfunction(L, front_save);
    } else if (!push_columns(L, field, r)) {
        ec_lua_fail(L,
                    "best.front has no '%s'; it has objectives, search, constraints, variables, "
                    "recorded (lists over its members by name), hypervolume, reference, best (the "
                    "member that the result is), save(file), and its members as best.front[i]",
                    luaL_tolstring(L, 2, NULL));
    }
    lua_getiuservalue(L, 1, FIELDS);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return 1;
}

static int front_tostring(lua_State *L)
{
    lua_pushfstring(L, "front of %d designs", (int)push_result(L, "front")->front.n);
    return 1;
}

void ec_lua_front_open(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__len", front_length},
                                    {"__index", front_index},
                                    {"__tostring", front_tostring},
                                    {NULL, NULL}};
    luaL_newmetatable(L, EC_LUA_FRONT);
    luaL_setfuncs(L, meta, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
