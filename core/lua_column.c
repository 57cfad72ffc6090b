/* ec.host(function(columns) ... end, exprs): a function of the script as an evaluator.
 *
 * It is called once a generation with whole columns, under lua_pcall, and returns a list with a
 * number for each design. A failure marks every design of the call, a NaN or a missing number the
 * design. The columns are views of buffers that the evaluator holds; after the call they are empty.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "lua_expr.h"
#include "lua_values.h"

typedef struct column_evaluator column_evaluator;

/* What the call keeps: the graph destroys it, after Lua is closed. */
typedef struct column_config {
    ec_lua_host *host;
    int function; /* registry references */
    int columns;  /* table that the function gets */
    int line;
    const column_evaluator *active; /* whose designs the columns show, or NULL */
    size_t active_n;
} column_config;

struct column_evaluator {
    ec_evaluator head;
    column_config *config;
    ec_columns columns;
    int32_t n_in;
    bool reported;
    ec_log *log;
};

static void column_destroy(ec_evaluator **evaluator)
{
    column_evaluator *e = (column_evaluator *)*evaluator;
    if (!e)
        return;
    ec_columns_release(&e->columns);
    free(e);
    *evaluator = NULL;
}

static int column_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    column_evaluator *e = calloc(1, sizeof *e);
    if (!e)
        return ec_fail(EC_ERR_MEMORY, "ec.host: no memory for the columns");
    *evaluator = &e->head;
    e->head.def = info->call->def;
    e->head.backend = backend;
    e->config = info->call->config;
    e->log = info->log;
    e->n_in = info->n_in;
    int status = ec_columns_create(&e->columns, backend, info, 1, "ec.host");
    if (status != EC_OK)
        column_destroy(evaluator);
    return status;
}

/* ---- the call, in protected mode ------------------------------------------------------------- */

typedef struct column_call {
    column_evaluator *evaluator;
    size_t n;
} column_call;

/* Points the view, or the table of views, at index at columns of n values (or at nothing, NULL);
 * returns their number. */
static int32_t point_views(lua_State *L, int index, const double *const *column, size_t n)
{
    ec_lua_values *v = luaL_testudata(L, index, EC_LUA_VALUES);
    if (v) {
        v->data = column ? column[0] : NULL;
        v->length = (int64_t)n;
        return 1;
    }
    lua_Integer elements = (lua_Integer)lua_rawlen(L, index);
    for (lua_Integer k = 1; k <= elements; k++) {
        lua_rawgeti(L, index, k);
        v = luaL_testudata(L, -1, EC_LUA_VALUES);
        if (v) {
            v->data = column ? column[k - 1] : NULL;
            v->length = (int64_t)n;
        }
        lua_pop(L, 1);
    }
    return (int32_t)elements;
}

/* The views are also in an array by input, so that a script that changes its table changes
 * nothing. */
static void point_all(lua_State *L, const column_evaluator *e, size_t n, bool valid)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->config->columns);
    lua_getfield(L, -1, "views");
    for (int32_t i = 0, at = 0; i < e->n_in; i++) {
        lua_rawgeti(L, -1, i + 1);
        at += point_views(L, lua_gettop(L), valid ? e->columns.column + at : NULL, n);
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
}

static int call_function(lua_State *L)
{
    column_call *c = lua_touserdata(L, 1);
    column_evaluator *e = c->evaluator;
    point_all(L, e, c->n, true);
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->config->function);
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->config->columns);
    lua_getfield(L, -1, "table");
    lua_remove(L, -2);
    lua_call(L, 1, 1);
    double *to = e->columns.output[0];
    const ec_lua_values *v = luaL_testudata(L, -1, EC_LUA_VALUES);
    if (v && v->data) {
        if ((size_t)v->length != c->n)
            return luaL_error(L, "it returned %d values for %d designs", (int)v->length, (int)c->n);
        for (size_t k = 0; k < c->n; k++)
            to[k] = v->data[(int64_t)k * v->stride];
        return 0;
    }
    if (!lua_istable(L, -1))
        return luaL_error(L, "it must return a list with a number for each design, got a %s",
                          luaL_typename(L, -1));
    if (lua_rawlen(L, -1) != c->n)
        return luaL_error(L, "it returned a list of %d values for %d designs",
                          (int)lua_rawlen(L, -1), (int)c->n);
    for (size_t k = 0; k < c->n; k++) {
        int type = lua_rawgeti(L, -1, (lua_Integer)k + 1);
        to[k] = type == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
        lua_pop(L, 1);
    }
    return 0;
}

/* Whether it brought a value for each design; *stopped: the search wants to end. */
static bool run_function(column_evaluator *e, const ec_exec *exec, size_t n, bool *stopped)
{
    ec_lua_host *host = e->config->host;
    lua_State *L = host->thread;
    column_call call = {e, n};
    column_config *config = e->config;
    /* the function may evaluate itself, with best:value: its columns are its own again afterwards */
    const column_evaluator *outer = config->active;
    size_t outer_n = config->active_n;
    if (!lua_checkstack(L, 8))
        return false;
    ec_lua_budget_outer allowance = ec_lua_budget_begin_call(&host->budget, n, exec->interrupt);
    config->active = e;
    config->active_n = n;
    lua_pushcfunction(L, call_function);
    lua_pushlightuserdata(L, &call);
    int status = lua_pcall(L, 1, 0, 0);
    *stopped = ec_lua_budget_end_call(&host->budget, &allowance);
    if (status != LUA_OK) {
        bool own = !*stopped && !host->budget.expired;
        if (!e->reported && own)
            ec_log_write(
                e->log, EC_LOG_WARNING,
                "the function of ec.host (line %d) failed, its designs count as failed: %s",
                e->config->line,
                lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "not a text");
        e->reported = e->reported || own;
        lua_pop(L, 1);
    }
    config->active = outer;
    config->active_n = outer_n;
    if (outer)
        point_all(L, outer, outer_n, true);
    else
        point_all(L, e, n, false);
    return status == LUA_OK;
}

static int column_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                      ec_array *const *out, uint8_t *status, size_t n)
{
    column_evaluator *e = (column_evaluator *)evaluator;
    int code = ec_columns_read(&e->columns, in, n);
    if (code != EC_OK)
        return code;
    const ec_lua_budget *budget = &e->config->host->budget;
    bool stopped = false, good = !budget->expired && run_function(e, exec, n, &stopped);
    if (stopped)
        return EC_STOPPED;
    if (budget->expired)
        return ec_fail(EC_ERR_SCRIPT,
                       "the function of ec.host (line %d) ran longer than %.3g s for %zu designs: "
                       "is this an endless loop? (--trust lifts the limit)",
                       e->config->line, budget->allowed, n);
    if (!good)
        memset(e->columns.status, 1, n);
    return ec_columns_write(&e->columns, 1, out, status, EC_CANDIDATE_HOST, n);
}

static const ec_evaluator_def column_def = {.name = "host",
                                            .flags =
                                                EC_EVALUATOR_SELF_CHUNKING | EC_EVALUATOR_USERS,
                                            .plan = column_plan,
                                            .run = column_run,
                                            .destroy = column_destroy,
                                            .config_destroy = free};

/* ---- ec.host --------------------------------------------------------------------------------- */

/* Pushes the empty view of an input, or a table with one for each element. */
static void push_views(lua_State *L, int32_t elements, bool scalar)
{
    if (scalar) {
        ec_lua_values_view(L, NULL, 0, 1, 0)->transient = true;
        return;
    }
    lua_createtable(L, elements, 0);
    for (int32_t k = 0; k < elements; k++) {
        ec_lua_values_view(L, NULL, 0, 1, 0)->transient = true;
        lua_rawseti(L, -2, k + 1);
    }
}

/* Registry entry: { table = what the function gets, views = the same by number of input }. */
static int keep_columns(lua_State *L, int exprs, int32_t n, ec_expr *in)
{
    lua_newtable(L);
    int entry = lua_gettop(L);
    lua_createtable(L, n, 0);
    int views = lua_gettop(L);
    lua_newtable(L);
    int table = lua_gettop(L);
    int32_t i = 0;
    for (lua_pushnil(L); lua_next(L, exprs); lua_pop(L, 1), i++) {
        char what[120];
        snprintf(what, sizeof what, "ec.host: expression %d", (int)i + 1);
        in[i] = ec_lua_expr_get(L, -1, what);
        const ec_node *node = ec_lua_expr_node(L, in[i]);
        if (node->dtype == EC_C64 || node->dtype == EC_C128)
            ec_lua_fail(L, "%s is complex: take ec.re and ec.im of it", what);
        if (node->axes & EC_AXIS_SAMPLE)
            ec_lua_fail(L, "%s varies over samples: reduce it first, with :mean() for example",
                        what);
        push_views(L, node->elements, node->rank == 0);
        lua_pushvalue(L, -1);
        lua_rawseti(L, views, i + 1);
        lua_pushvalue(L, -3);
        lua_insert(L, -2);
        lua_rawset(L, table);
    }
    lua_setfield(L, entry, "table");
    lua_setfield(L, entry, "views");
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static int module_host(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    if (!lua_isfunction(L, 1) || !lua_istable(L, 2))
        ec_lua_fail(L, "ec.host: wants a function and a table of expressions, as in "
                       "ec.host(function(columns) ... end, { x = x })");
    int exprs = ec_lua_table_copy(L, 2);
    int32_t n = 0;
    for (lua_pushnil(L); lua_next(L, exprs); lua_pop(L, 1))
        n++;
    if (n == 0)
        ec_lua_fail(L, "ec.host: the table of expressions is empty");
    ec_expr *in = lua_newuserdatauv(L, (size_t)n * sizeof *in, 0);
    int columns = keep_columns(L, exprs, n, in);
    lua_pushvalue(L, 1);
    int function = luaL_ref(L, LUA_REGISTRYINDEX);
    int line = ec_lua_line(L, NULL, 0);
    ec_lua_mark_line(L);
    column_config *config = malloc(sizeof *config);
    if (!config)
        ec_lua_fail(L, "ec.host: no memory");
    *config = (column_config){.host = host, .function = function, .columns = columns, .line = line};
    ec_call *call = NULL;
    if (ec_graph_call(host->graph, &column_def, config, n, in, &call) != EC_OK)
        ec_lua_fail_core(L, "ec.host");
    ec_call_output output = {.name = "host", .dtype = EC_F64, .range = {-INFINITY, INFINITY}};
    return ec_lua_expr_push(L, ec_graph_call_output(host->graph, call, &output));
}

void ec_lua_column_open(lua_State *L)
{
    lua_pushcfunction(L, module_host);
    lua_setfield(L, -2, "host");
}
