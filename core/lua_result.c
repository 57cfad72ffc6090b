/* What a solve found: best.variables, best.objectives, best.constraints, best.recorded,
 * best.search by name, best.front, best:value(expr), best:save(file). */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "evaluators/array_pattern/array_pattern_winner.h"
#include "lua_array.h"
#include "lua_expr.h"
#include "lua_files.h"
#include "lua_job.h"
#include "lua_fdtd.h"
#include "lua_fdtd_fields.h"
#include "lua_fdtd_save.h"
#include "lua_mimo.h"
#include "lua_mimo_save.h"

/* User values of a result: 1 the job, 2 a table of the fields that were read already. */
enum { JOB = 1, FIELDS = 2 };

ec_lua_result *ec_lua_result_new(lua_State *L, int job)
{
    job = lua_absindex(L, job);
    ec_lua_result *r = lua_newuserdatauv(L, sizeof *r, 2);
    *r = (ec_lua_result){NULL, 0};
    luaL_setmetatable(L, EC_LUA_RESULT);
    lua_pushvalue(L, job);
    lua_setiuservalue(L, -2, JOB);
    lua_newtable(L);
    lua_setiuservalue(L, -2, FIELDS);
    return r;
}

void ec_lua_result_hold(lua_State *L, ec_lua_result *result)
{
    const ec_result *r = result->result;
    size_t numbers = 0;
    for (int32_t i = 0; r->variable && r->variable[i]; i++)
        numbers += (size_t)r->variable_length[i];
    for (int32_t i = 0; r->record && r->record[i]; i++)
        numbers += (size_t)r->record_length[i];
    numbers += (size_t)r->n_objectives + (size_t)r->n_constraints;
    numbers = (numbers + (size_t)r->n_genes) * (1 + (size_t)r->front.n) + (size_t)r->n_group_genes;
    size_t bytes = sizeof *r + numbers * sizeof(double) + r->n_history * sizeof *r->history;
    ec_lua_budget_take(L, bytes);
    result->bytes = bytes;
}

static int result_gc(lua_State *L)
{
    ec_lua_result *r = luaL_checkudata(L, 1, EC_LUA_RESULT);
    ec_result_destroy(&r->result);
    ec_lua_budget_give(&ec_lua_host_of(L)->budget, r->bytes);
    r->bytes = 0;
    return 0;
}

static const ec_result *result_at(lua_State *L, const char *method)
{
    ec_lua_result *r = luaL_testudata(L, 1, EC_LUA_RESULT);
    if (!r || !r->result)
        ec_lua_fail(L, "%s: call it with a colon on a result, as in best%s", method,
                    strchr(method, ':'));
    return r->result;
}

ec_job *ec_lua_result_job(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    lua_getiuservalue(L, index, JOB);
    ec_lua_job *job = luaL_checkudata(L, -1, EC_LUA_JOB);
    lua_pop(L, 1);
    return job->job;
}

/* ---- tables by name -------------------------------------------------------------------------- */

/* Name i of what a job has in a field, or NULL behind the last one. */
static const char *entry_name(const ec_job *job, const char *field, int32_t i)
{
    switch (field[0]) {
    case 'v':
        return i < ec_job_variable_count(job) ? ec_job_variable(job, i)->name : NULL;
    case 'c':
        return i < ec_job_constraint_count(job) ? ec_job_constraint(job, i)->name : NULL;
    case 'r':
        return i < ec_job_record_count(job) ? ec_job_record(job, i)->name : NULL;
    default: /* objectives, search */
        return i < ec_job_objective_count(job) ? ec_job_objective(job, i)->name : NULL;
    }
}

/* How many of them the result has: the job may have got more since. */
static int32_t entry_count(const ec_result *r, const char *field)
{
    switch (field[0]) {
    case 'v':
        return r->n_variables;
    case 'c':
        return r->n_constraints;
    case 'r':
        return r->n_records;
    default:
        return r->n_objectives;
    }
}

/* Upvalues: the field, its names, the result, whose field it is. */
static int missing_name(lua_State *L)
{
    const char *field = lua_tostring(L, lua_upvalueindex(1));
    const char *name = luaL_tolstring(L, 2, NULL), *names = lua_tostring(L, lua_upvalueindex(2));
    const char *owner = lua_tostring(L, lua_upvalueindex(4));
    const ec_job *job = ec_lua_result_job(L, lua_upvalueindex(3));
    const char *later = "";
    for (int32_t i = 0; later && strcmp(later, name) != 0; i++)
        later = entry_name(job, field, i);
    if (later)
        ec_lua_fail(L, "%s.%s: '%s' was added to the job after this solve", owner, field, name);
    ec_lua_fail(L, "%s.%s has no '%s'%s%s", owner, field, name,
                names[0] ? "; it has " : ", it is empty", names);
}

void ec_lua_result_guard(lua_State *L, int result, const char *owner, const char *field)
{
    result = lua_absindex(L, result);
    const ec_job *job = ec_lua_result_job(L, result);
    const ec_result *r = ((ec_lua_result *)luaL_checkudata(L, result, EC_LUA_RESULT))->result;
    lua_newtable(L);
    lua_pushstring(L, field);
    luaL_Buffer names;
    luaL_buffinit(L, &names);
    for (int32_t i = 0; i < entry_count(r, field); i++) {
        luaL_addstring(&names, i ? ", " : "");
        luaL_addstring(&names, entry_name(job, field, i));
    }
    luaL_pushresult(&names);
    lua_pushvalue(L, result);
    lua_pushstring(L, owner);
    lua_pushcclosure(L, missing_name, 4);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

static void push_variables(lua_State *L, const ec_job *job, const ec_result *r)
{
    for (int32_t i = 0; i < r->n_variables; i++) {
        const ec_variable *v = ec_job_variable(job, i);
        if (v->count == 0)
            lua_pushnumber(L, r->variable[i][0]);
        else
            ec_lua_values_copy(L, r->variable[i], r->variable_length[i]);
        lua_setfield(L, -2, v->name);
    }
}

static void push_recorded(lua_State *L, const ec_job *job, const ec_result *r)
{
    for (int32_t i = 0; i < r->n_records; i++) {
        const ec_goal *goal = ec_job_record(job, i);
        const ec_node *node = ec_lua_expr_node(L, goal->expr);
        if (r->record_length[i] == 1 && node->rank == 0) {
            lua_pushnumber(L, r->record[i][0]);
        } else {
            ec_lua_values_copy(L, r->record[i], r->record_length[i]);
            ec_lua_values_shape(L, node, r->record_length[i]);
        }
        lua_setfield(L, -2, goal->name);
    }
}

/* Pushes best.<field> when it is one of the tables. The result is at index 1. */
static bool push_table(lua_State *L, const char *field, const ec_result *r)
{
    static const char *const tables[] = {"variables", "objectives", "search", "constraints",
                                         "recorded"};
    int which = 0;
    while (which < 5 && strcmp(tables[which], field) != 0)
        which++;
    if (which == 5)
        return false;
    if (!r->found)
        ec_lua_fail(L, "best.%s: no design was found (%s)", field, r->message);
    const ec_job *job = ec_lua_result_job(L, 1);
    lua_getiuservalue(L, 1, FIELDS);
    if (lua_getfield(L, -1, field) != LUA_TNIL)
        return true;
    lua_pop(L, 1);
    lua_newtable(L);
    if (which == 0)
        push_variables(L, job, r);
    for (int32_t i = 0; (which == 1 || which == 2) && i < r->n_objectives; i++) {
        lua_pushnumber(L, which == 1 ? r->objective_final[i] : r->objective_search[i]);
        lua_setfield(L, -2, ec_job_objective(job, i)->name);
    }
    for (int32_t i = 0; which == 3 && i < r->n_constraints; i++) {
        lua_pushnumber(L, r->constraint[i]);
        lua_setfield(L, -2, ec_job_constraint(job, i)->name);
    }
    if (which == 4)
        push_recorded(L, job, r);
    ec_lua_result_guard(L, 1, "best", field);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, field);
    return true;
}

/* ---- plain fields ---------------------------------------------------------------------------- */

static const char *status_word(const ec_result *r)
{
    return !r->found ? "none" : r->status ? "failed" : r->violation > 0 ? "infeasible" : "feasible";
}

static bool push_field(lua_State *L, const char *field, const ec_result *r)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"generations", r->generations}, {"evaluations", (double)r->evaluations},
                   {"failed", (double)r->failed},   {"seconds", r->seconds},
                   {"violation", r->violation},     {"seed", (double)r->seed}};
    const struct {
        const char *name, *value;
    } words[] = {{"stop", ec_stop_name(r->stop)}, {"message", r->message},
                 {"method", r->method},           {"backend", r->backend},
                 {"device", r->device},           {"status", status_word(r)}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, field) == 0) {
            double value = numbers[i].value;
            if (strcmp(field, "seconds") != 0 && strcmp(field, "violation") != 0)
                lua_pushinteger(L, (lua_Integer)value);
            else
                lua_pushnumber(L, value);
            return true;
        }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, field) == 0) {
            lua_pushstring(L, words[i].value);
            return true;
        }
    if (strcmp(field, "found") == 0) {
        lua_pushboolean(L, r->found);
        return true;
    }
    return false;
}

/* ---- methods --------------------------------------------------------------------------------- */

/* malloc'ed memory of the core in a collector's hands. */
typedef struct box {
    double *data;
} box;

static int box_gc(lua_State *L)
{
    box *b = lua_touserdata(L, 1);
    free(b->data);
    b->data = NULL;
    return 0;
}

/* A value that is none goes on as nan, with a warning that says why. */
static void warn_nan(lua_State *L, const ec_job *job, const ec_result *r, ec_expr expr)
{
    ec_lua_host *host = ec_lua_host_of(L);
    char place[160] = "", name[80] = "the value";
    int line = ec_lua_line(L, place, sizeof place);
    const char *advice = "an operation has no result at the best design";
    bool found = false;
    for (ec_expr e = -1; !found && (e = ec_lua_expr_output(L, expr, e + 1)) >= 0;) {
        const ec_node *node = ec_lua_expr_node(L, e);
        bool complex = node->dtype == EC_C64 || node->dtype == EC_C128;
        ec_expr probe = complex ? ec_graph_unary(host->graph, EC_OP_ABS2, e) : e;
        ec_log silent = {EC_LOG_ERROR, NULL, NULL}; /* the warnings were said before */
        double *data = NULL;
        int32_t length = 0;
        lua_State *caller = ec_lua_core_enter(L);
        int status = ec_result_value(job, r, host->backend, probe, &data, &length, &silent);
        ec_lua_core_leave(L, caller);
        node = ec_lua_expr_node(L, e); /* the graph has grown */
        for (int32_t i = 0; status == EC_OK && i < length; i++)
            found = found || isnan(data[i]);
        free(data);
        if (!found)
            continue;
        snprintf(name, sizeof name, "%s", node->call->out[node->output].name);
        advice = ec_lua_expr_advice(node);
    }
    ec_log_write(host->settings.log, EC_LOG_WARNING, "%s:%d: best:value: %s is nan: %s", place,
                 line, name, advice);
}

static int result_value(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_result *r = result_at(L, "best:value");
    const ec_job *job = ec_lua_result_job(L, 1);
    ec_expr expr = ec_lua_expr_get(L, 2, "best:value");
    if (!r->found)
        ec_lua_fail(L, "best:value: no design was found (%s)", r->message);
    const ec_node *node = ec_lua_expr_node(L, expr);
    if (node->dtype == EC_C64 || node->dtype == EC_C128)
        ec_lua_fail(L, "best:value: a complex value: take ec.re, ec.im, ec.abs or ec.arg of it");
    bool scalar = node->rank == 0;
    ec_lua_budget_check(L);
    box *b = lua_newuserdatauv(L, sizeof *b, 0);
    b->data = NULL;
    luaL_setmetatable(L, "eciton.box");
    int32_t length = 0;
    ec_log warnings = ec_lua_warnings(host);
    lua_State *caller = ec_lua_core_enter(L);
    int status = ec_result_value(job, r, host->backend, expr, &b->data, &length, &warnings);
    ec_lua_core_leave(L, caller);
    if (status < 0)
        ec_lua_fail_core(L, "best:value");
    bool none = false;
    for (int32_t i = 0; i < length; i++)
        none = none || isnan(b->data[i]);
    if (scalar && length == 1) {
        lua_pushnumber(L, b->data[0]);
    } else {
        ec_lua_values_copy(L, b->data, length);
        ec_lua_values_shape(L, node, length);
    }
    free(b->data);
    b->data = NULL;
    if (none)
        warn_nan(L, job, r, expr);
    return 1;
}

/* The array of the third argument: its far field (.ffd, .cut) or its element table (.csv). */
static int save_array(lua_State *L, const ec_job *job, const ec_result *r)
{
    const ec_lua_array *array = luaL_testudata(L, 3, EC_LUA_ARRAY);
    const char *name = lua_tostring(L, 2), *ending = strrchr(name, '.');
    char path[PATH_MAX];
    if (!array || !array->call)
        ec_lua_fail(L,
                    "best:save: wants an array of ec.array, a link of ec.mimo or a model of "
                    "ec.fdtd behind the name of the file, got a %s",
                    luaL_typename(L, 3));
    bool table = ending && strcasecmp(ending, ".csv") == 0;
    if (!table && !(ending && (strcasecmp(ending, ".ffd") == 0 || strcasecmp(ending, ".cut") == 0)))
        ec_lua_fail(
            L,
            "best:save: '%s': an array is saved as .ffd or .cut, its far field, or as .csv, "
            "its elements",
            name);
    if (ec_lua_files_target(L, name, path, sizeof path) != EC_OK)
        ec_lua_fail_core(L, "best:save");
    ec_lua_mark_line(L);
    ec_array_winner winner = {job, r, ec_lua_host_of(L)->backend, array->call};
    lua_State *caller = ec_lua_core_enter(L);
    int status = table ? ec_array_winner_write_elements(&winner, path)
                       : ec_array_winner_write_far_field(&winner, path);
    ec_lua_core_leave(L, caller);
    if (status < 0)
        ec_lua_fail_core(L, "best:save");
    return 0;
}

/* Everything by name, a column each: objectives, constraints, variables, recorded; or an array. */
static int result_save(lua_State *L)
{
    const ec_result *r = result_at(L, "best:save");
    const ec_job *job = ec_lua_result_job(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "best:save: wants the name of a file, best:save(\"best.csv\")");
    if (!r->found)
        ec_lua_fail(L, "best:save: no design was found (%s)", r->message);
    if (ec_lua_mimo_test(L, 3))
        return ec_lua_mimo_save(L, job, r);
    if (ec_lua_fdtd_test(L, 3))
        return ec_lua_fdtd_save(L, job, r);
    if (ec_lua_fdtd_is_field(L, 3))
        return ec_lua_fdtd_field_save(L, job, r);
    if (!lua_isnone(L, 3))
        return save_array(L, job, r);
    int32_t no = r->n_objectives, nc = r->n_constraints;
    int32_t nv = r->n_variables, nr = r->n_records, n = no + nc + nv + nr, k = 0;
    const char **names = lua_newuserdatauv(L, (size_t)n * sizeof *names, 0);
    ec_lua_values *column = lua_newuserdatauv(L, (size_t)n * sizeof *column, 0);
    for (int32_t i = 0; i < nv; i++, k++) {
        names[k] = ec_job_variable(job, i)->name;
        column[k] =
            (ec_lua_values){.data = r->variable[i], .length = r->variable_length[i], .stride = 1};
    }
    for (int32_t i = 0; i < nr; i++, k++) {
        names[k] = ec_job_record(job, i)->name;
        column[k] =
            (ec_lua_values){.data = r->record[i], .length = r->record_length[i], .stride = 1};
    }
    for (int32_t i = 0; i < no; i++, k++) {
        names[k] = ec_job_objective(job, i)->name;
        column[k] = (ec_lua_values){.data = &r->objective_final[i], .length = 1, .stride = 1};
    }
    for (int32_t i = 0; i < nc; i++, k++) {
        names[k] = ec_job_constraint(job, i)->name;
        column[k] = (ec_lua_values){.data = &r->constraint[i], .length = 1, .stride = 1};
    }
    if (ec_lua_files_save_columns(L, lua_tostring(L, 2), n, names, column) != EC_OK)
        ec_lua_fail_core(L, "best:save");
    return 0;
}

/* best.failures: designs that failed, { generation =, reason =, variables = { name = value } }. */
static void push_failures(lua_State *L, const ec_job *job, const ec_result *r)
{
    const double *at = r->failure_values;
    lua_createtable(L, (int)r->n_failures, 0);
    for (size_t f = 0; at && f < r->n_failures; f++) {
        char reason[300];
        ec_candidate_text(r->failures[f].status, reason, sizeof reason);
        lua_createtable(L, 0, 3);
        lua_pushinteger(L, r->failures[f].generation);
        lua_setfield(L, -2, "generation");
        lua_pushstring(L, reason);
        lua_setfield(L, -2, "reason");
        lua_createtable(L, 0, r->n_variables);
        for (int32_t i = 0; i < r->n_variables; i++) {
            const ec_variable *v = ec_job_variable(job, i);
            int32_t n = ec_graph_node(ec_job_graph(job), v->value)->elements;
            if (v->count > 0)
                ec_lua_values_copy(L, at, n);
            else
                lua_pushnumber(L, at[0]);
            lua_setfield(L, -2, v->name);
            at += n;
        }
        lua_setfield(L, -2, "variables");
        lua_rawseti(L, -2, (lua_Integer)f + 1);
    }
}

/* best.front, of the result at index 1. */
static void push_front(lua_State *L, const ec_result *r)
{
    if (r->n_objectives < 2)
        ec_lua_fail(L, "best.front: the job has one objective; a front is of several");
    if (!r->found)
        ec_lua_fail(L, "best.front: no design was found (%s)", r->message);
    lua_getiuservalue(L, 1, FIELDS);
    if (lua_getfield(L, -1, "front") != LUA_TNIL)
        return;
    lua_pop(L, 1);
    ec_lua_front_push(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "front");
}

static int result_index(lua_State *L)
{
    const ec_result *r = result_at(L, "best:value");
    const char *field = luaL_tolstring(L, 2, NULL);
    if (push_table(L, field, r) || push_field(L, field, r))
        return 1;
    if (strcmp(field, "failures") == 0) {
        push_failures(L, ec_lua_result_job(L, 1), r);
        return 1;
    }
    if (strcmp(field, "front") == 0) {
        push_front(L, r);
        return 1;
    }
    if (strcmp(field, "value") == 0) {
        lua_pushcfunction(L, result_value);
        return 1;
    }
    if (strcmp(field, "save") == 0) {
        lua_pushcfunction(L, result_save);
        return 1;
    }
    static const char *const names[] = {
        "variables",   "objectives", "search",  "constraints", "recorded",  "generations",
        "evaluations", "failed",     "seconds", "seed",        "violation", "stop",
        "message",     "method",     "backend", "device",      "status",    "found",
        "failures",    "value",      "save",    "front"};
    const char *near = ec_lua_nearest(field, names, (int)(sizeof names / sizeof *names));
    if (near)
        ec_lua_fail(L, "a result has no '%s' (did you mean '%s'?)", field, near);
    ec_lua_fail(
        L,
        "a result has no '%s'; it has variables, objectives, search, constraints, recorded, "
        "generations, evaluations, failed, failures, seconds, seed, violation, status, stop, "
        "message, method, backend, device, found, front, value(expr), save(file), save(file, "
        "array), save(file, link, keys), save(file, model)",
        field);
}

static int result_tostring(lua_State *L)
{
    const ec_result *r = result_at(L, "best:");
    lua_pushfstring(L, "result (%s design, stopped by %s)", status_word(r), ec_stop_name(r->stop));
    return 1;
}

void ec_lua_result_open(lua_State *L)
{
    luaL_newmetatable(L, "eciton.box");
    lua_pushcfunction(L, box_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    static const luaL_Reg meta[] = {{"__gc", result_gc},
                                    {"__index", result_index},
                                    {"__tostring", result_tostring},
                                    {NULL, NULL}};
    luaL_newmetatable(L, EC_LUA_RESULT);
    luaL_setfuncs(L, meta, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    ec_lua_front_open(L);
}
