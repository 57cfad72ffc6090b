/* The table of a sweep: sweep.variables, sweep.objectives, sweep.constraints, sweep.recorded by name
 * (columns, of a list one for each element), sweep.status, #sweep, sweep:best, sweep:design,
 * sweep:save. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_internal.h"
#include "lua_fdtd.h"
#include "lua_fdtd_rows.h"
#include "lua_files.h"
#include "lua_job.h"
#include "lua_sweep.h"
#include "lua_values.h"

/* The sweep at a stack index with its job alive; NULL: none. A finalizer of the script may still hold
 * one whose job is collected already. */
static const ec_lua_sweep *test_sweep(lua_State *L, int index)
{
    const ec_lua_sweep *s = luaL_testudata(L, index, EC_LUA_SWEEP);
    if (!s || !s->sweep)
        return NULL;
    lua_getiuservalue(L, index, 1);
    const ec_lua_job *job = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return job && job->job ? s : NULL;
}

static const ec_lua_sweep *sweep_at(lua_State *L, const char *method)
{
    const ec_lua_sweep *s = test_sweep(L, 1);
    if (!s)
        ec_lua_fail(L, "%s: call it with a colon on what job:sweep returns", method);
    return s;
}

/* ---- columns by name ------------------------------------------------------------------------- */

static const char *const fields[] = {[EC_SWEEP_VARIABLE] = "variables",
                                     [EC_SWEEP_OBJECTIVE] = "objectives",
                                     [EC_SWEEP_CONSTRAINT] = "constraints",
                                     [EC_SWEEP_VIOLATION] = "violation",
                                     [EC_SWEEP_RECORD] = "recorded"};
enum { FIELDS = sizeof fields / sizeof *fields };

static const char *quantity_name(const ec_sweep *s, const ec_sweep_column *c)
{
    switch (c->kind) {
    case EC_SWEEP_VARIABLE:
        return s->job->variables[c->index]->variable.name;
    case EC_SWEEP_OBJECTIVE:
        return s->job->objectives[c->index].name;
    case EC_SWEEP_CONSTRAINT:
        return s->job->constraints[c->index].name;
    case EC_SWEEP_RECORD:
        return s->job->records[c->index].name;
    default:
        return "violation";
    }
}

/* A copy that belongs to the script (lua_values.h says why). */
static void push_column(lua_State *L, const ec_sweep *s, const ec_sweep_column *c)
{
    if (c->stride > 0) {
        ec_lua_values_copy(L, c->data, (int64_t)s->n);
        return;
    }
    ec_lua_values_copy(L, c->data, 1);
    const ec_lua_values *one = ec_lua_values_test(L, -1);
    ec_lua_values_view(L, one->data, (int64_t)s->n, 0, -1);
    lua_remove(L, -2);
}

/* A name of a kind as its column, or a list of them. */
static int lazy_column(lua_State *L)
{
    const ec_lua_sweep *own = test_sweep(L, lua_upvalueindex(1));
    ec_sweep_kind kind = (ec_sweep_kind)lua_tointeger(L, lua_upvalueindex(2));
    if (!own)
        ec_lua_fail(L, "sweep.%s: the script has ended", fields[kind]);
    const ec_sweep *s = own->sweep;
    const char *name = luaL_tolstring(L, 2, NULL);
    bool found = false;
    for (int32_t c = 0; c < s->n_columns; c++) {
        const ec_sweep_column *column = &s->columns[c];
        if (column->kind != kind || strcmp(quantity_name(s, column), name) != 0)
            continue;
        if (column->element < 0) {
            push_column(L, s, column);
            found = true;
            break;
        }
        if (!found)
            lua_newtable(L);
        found = true;
        push_column(L, s, column);
        lua_rawseti(L, -2, column->element + 1);
    }
    if (!found) {
        luaL_Buffer b;
        luaL_buffinit(L, &b);
        const char *last = "";
        for (int32_t c = 0; c < s->n_columns; c++) {
            const char *other = quantity_name(s, &s->columns[c]);
            if (s->columns[c].kind != kind || strcmp(other, last) == 0)
                continue;
            luaL_addstring(&b, last[0] ? ", " : "; it has ");
            luaL_addstring(&b, other);
            last = other;
        }
        luaL_pushresult(&b);
        ec_lua_fail(L, "sweep.%s has no '%s'%s", fields[kind], name,
                    lua_tostring(L, -1)[0] ? lua_tostring(L, -1) : ", it is empty");
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1); /* the next time it is there */
    return 1;
}

/* sweep.variables and the like: tables that fill as they are read. */
static void push_group(lua_State *L, ec_sweep_kind kind)
{
    lua_getiuservalue(L, 1, 2);
    if (lua_getfield(L, -1, fields[kind]) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, kind);
    lua_pushcclosure(L, lazy_column, 2);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0); /* the function above is not for other tables */
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, fields[kind]);
}

static void push_status(lua_State *L, const ec_sweep *s)
{
    double *to = ec_lua_values_new(L, (int64_t)s->n);
    for (size_t i = 0; i < s->n; i++)
        to[i] = s->state[i] == EC_SWEEP_OPEN ? -1 : s->status[i];
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Numbers, and lists of them, by name. */
static void push_row(lua_State *L, const ec_sweep *s, size_t design)
{
    lua_newtable(L);
    lua_pushinteger(L, (lua_Integer)design + 1);
    lua_setfield(L, -2, "row");
    lua_pushinteger(L, s->status[design]);
    lua_setfield(L, -2, "status");
    for (int kind = 0; kind < FIELDS; kind++)
        if (kind != EC_SWEEP_VIOLATION) {
            lua_newtable(L);
            lua_setfield(L, -2, fields[kind]);
        }
    for (int32_t c = 0; c < s->n_columns; c++) {
        const ec_sweep_column *column = &s->columns[c];
        const char *name = quantity_name(s, column);
        double value = ec_sweep_value(s, c, design);
        if (column->kind == EC_SWEEP_VIOLATION) {
            lua_pushnumber(L, value);
            lua_setfield(L, -2, "violation");
            continue;
        }
        lua_getfield(L, -1, fields[column->kind]);
        if (column->element < 0) {
            lua_pushnumber(L, value);
            lua_setfield(L, -2, name);
        } else {
            if (lua_getfield(L, -1, name) == LUA_TNIL) {
                lua_pop(L, 1);
                lua_newtable(L);
                lua_pushvalue(L, -1);
                lua_setfield(L, -3, name);
            }
            lua_pushnumber(L, value);
            lua_rawseti(L, -2, column->element + 1);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

static int sweep_design(lua_State *L)
{
    const ec_sweep *s = sweep_at(L, "sweep:design")->sweep;
    double row = lua_tonumber(L, 2);
    if (!(row >= 1 && row <= (double)s->n && row == floor(row)))
        ec_lua_fail(L, "sweep:design: row %.14g is asked for, allowed are 1 to %zu", row, s->n);
    push_row(L, s, (size_t)row - 1);
    return 1;
}

/* The column that a name means: as in the table's head, or the name of a single quantity. */
static int32_t column_of(lua_State *L, const ec_sweep *s, const char *name)
{
    int32_t lists = -1;
    for (int pass = 0; pass < 2; pass++) /* goals before variables of the same name */
        for (int32_t c = 0; c < s->n_columns; c++) {
            const ec_sweep_column *column = &s->columns[c];
            if ((column->kind == EC_SWEEP_VARIABLE) != (pass == 1))
                continue;
            bool same = strcmp(quantity_name(s, column), name) == 0;
            if (strcmp(column->name, name) == 0 || (same && column->element < 0))
                return c;
            lists = same ? c : lists;
        }
    if (lists >= 0)
        ec_lua_fail(L, "sweep:best: '%s' is a list, name an element of it, as in \"%s[1]\"", name,
                    name);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int32_t c = s->n_variable_columns; c < s->n_columns && c < s->n_variable_columns + 20;
         c++) {
        luaL_addstring(&b, c > s->n_variable_columns ? ", " : "");
        luaL_addstring(&b, s->columns[c].name);
    }
    luaL_pushresult(&b);
    ec_lua_fail(L, "sweep:best: there is no column '%s', it has %s", name, lua_tostring(L, -1));
}

static int sweep_best(lua_State *L)
{
    const ec_sweep *s = sweep_at(L, "sweep:best")->sweep;
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "sweep:best: wants the name of an objective, as in sweep:best(\"gain_db\")");
    int32_t column = column_of(L, s, lua_tostring(L, 2));
    bool maximize;
    if (!lua_isnoneornil(L, 3))
        maximize = ec_lua_word_get(L, 3, "sweep:best: the second argument", "min|max") == 1;
    else if (s->columns[column].kind == EC_SWEEP_OBJECTIVE)
        maximize = s->job->objectives[s->columns[column].index].maximize;
    else
        ec_lua_fail(L, "sweep:best: '%s' is no objective: say \"min\" or \"max\" behind it",
                    lua_tostring(L, 2));
    size_t design;
    if (ec_sweep_best(s, column, maximize, &design))
        push_row(L, s, design);
    else
        lua_pushnil(L);
    return 1;
}

static int sweep_save(lua_State *L)
{
    const ec_sweep *s = sweep_at(L, "sweep:save")->sweep;
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "sweep:save: wants the name of a file, as in sweep:save(\"table.csv\")");
    if (!lua_isnoneornil(L, 3)) {
        ec_call *model = ec_lua_fdtd_test(L, 3);
        if (!model)
            ec_lua_fail(L, "sweep:save: the second argument is a model of ec.fdtd, got %s",
                        luaL_typename(L, 3));
        return ec_lua_fdtd_save_rows(L, s, model);
    }
    int32_t n = s->n_columns + 1;
    const char **names = lua_newuserdatauv(L, (size_t)n * sizeof *names, 0);
    ec_lua_values *column = lua_newuserdatauv(L, (size_t)n * sizeof *column, 0);
    for (int32_t c = 0; c < s->n_columns; c++) {
        names[c] = s->columns[c].name;
        column[c] = (ec_lua_values){.data = s->columns[c].data,
                                    .length = (int64_t)s->n,
                                    .stride = (int64_t)s->columns[c].stride};
    }
    push_status(L, s);
    names[n - 1] = "status";
    column[n - 1] = *ec_lua_values_test(L, -1);
    if (ec_lua_files_save_columns(L, lua_tostring(L, 2), n, names, column) != EC_OK)
        ec_lua_fail_core(L, "sweep:save");
    return 0;
}

/* ---- metamethods ----------------------------------------------------------------------------- */

static bool push_field(lua_State *L, const ec_lua_sweep *own, const char *field)
{
    const ec_sweep *s = own->sweep;
    const struct {
        const char *name;
        size_t value;
    } counts[] = {{"rows", s->n},        {"distinct", s->distinct},
                  {"found", s->found},   {"run", s->run},
                  {"failed", s->failed}, {"missing", s->distinct - s->found - s->run}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(counts[i].name, field) == 0) {
            lua_pushinteger(L, (lua_Integer)counts[i].value);
            return true;
        }
    for (int kind = 0; kind < FIELDS; kind++)
        if (kind != EC_SWEEP_VIOLATION && strcmp(fields[kind], field) == 0) {
            push_group(L, (ec_sweep_kind)kind);
            return true;
        }
    int32_t violation = ec_sweep_find(s, EC_SWEEP_VIOLATION, 0);
    if (strcmp(field, "violation") == 0 && violation >= 0) {
        push_column(L, s, &s->columns[violation]);
    } else if (strcmp(field, "status") == 0) {
        push_status(L, s);
    } else if (strcmp(field, "seconds") == 0) {
        lua_pushnumber(L, s->seconds);
    } else if (strcmp(field, "message") == 0) {
        lua_pushstring(L, s->message);
    } else if (strcmp(field, "stop") == 0) {
        lua_pushstring(L, s->stop == EC_STOP_NONE ? "complete" : ec_stop_name(s->stop));
    } else if (strcmp(field, "shape") == 0) {
        lua_createtable(L, own->plan->n_axes, 0);
        for (int32_t i = 0; i < own->plan->n_axes; i++) {
            lua_pushinteger(L, (lua_Integer)own->plan->axis_length[i]);
            lua_rawseti(L, -2, i + 1);
        }
    } else {
        return false;
    }
    return true;
}

static int sweep_index(lua_State *L)
{
    static const char *const names[] = {
        "variables", "objectives", "constraints", "violation", "recorded", "status", "rows",
        "distinct",  "found",      "run",         "failed",    "missing",  "shape",  "seconds",
        "stop",      "message",    "best",        "design",    "save"};
    const ec_lua_sweep *own = sweep_at(L, "sweep:best");
    const char *field = luaL_tolstring(L, 2, NULL);
    if (push_field(L, own, field))
        return 1;
    lua_CFunction method = strcmp(field, "best") == 0     ? sweep_best
                           : strcmp(field, "design") == 0 ? sweep_design
                           : strcmp(field, "save") == 0   ? sweep_save
                                                          : NULL;
    if (method) {
        lua_pushcfunction(L, method);
        return 1;
    }
    if (strcmp(field, "violation") == 0)
        ec_lua_fail(L, "this sweep has no violation: its job has no constraints");
    const char *near = ec_lua_nearest(field, names, (int)(sizeof names / sizeof *names));
    if (near)
        ec_lua_fail(L, "a sweep has no '%s' (did you mean '%s'?)", field, near);
    ec_lua_fail(
        L,
        "a sweep has no '%s'; it has variables, objectives, constraints, violation (with "
        "constraints), recorded, status, rows, distinct, found, run, failed, missing, shape, "
        "seconds, stop, message, best(name), design(row), save(file)",
        field);
}

static int sweep_len(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)sweep_at(L, "#sweep")->sweep->n);
    return 1;
}

static int sweep_tostring(lua_State *L)
{
    lua_pushfstring(L, "sweep (%s)", sweep_at(L, "sweep:")->sweep->message);
    return 1;
}

static int sweep_gc(lua_State *L)
{
    ec_lua_sweep *s = luaL_checkudata(L, 1, EC_LUA_SWEEP);
    ec_sweep_table_destroy(&s->table);
    ec_sweep_destroy(&s->sweep);
    ec_sweep_plan_destroy(&s->plan);
    ec_lua_budget_give(&ec_lua_host_of(L)->budget, s->bytes);
    s->bytes = 0;
    return 0;
}

void ec_lua_sweep_open(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", sweep_gc},
                                    {"__index", sweep_index},
                                    {"__len", sweep_len},
                                    {"__tostring", sweep_tostring},
                                    {NULL, NULL}};
    luaL_newmetatable(L, EC_LUA_SWEEP);
    luaL_setfuncs(L, meta, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
