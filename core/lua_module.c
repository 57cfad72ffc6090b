/* Functions of the module about a run: ec.arg, ec.value, ec.range. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/array_pattern/array_pattern.h"
#include "evaluators/mimo/mimo_warnings.h"
#include "lua_expr.h"
#include "lua_job.h"
#include "lua_values.h"

/* ---- arguments and values -------------------------------------------------------------------- */

static bool parse_flag(lua_State *L, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0)
        lua_pushboolean(L, 1);
    else if (strcmp(text, "false") == 0 || strcmp(text, "no") == 0 || strcmp(text, "0") == 0)
        lua_pushboolean(L, 0);
    else
        return false;
    return true;
}

/* ec.arg(name, default): the value of --set, of the default's type. */
static int module_arg(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    if (luaL_testudata(L, 1, EC_LUA_EXPR)) {
        const ec_lua_expr *e = lua_touserdata(L, 1);
        ec_lua_mark_line(L);
        return ec_lua_expr_push(L, ec_graph_unary(host->graph, EC_OP_ARG, e->expr));
    }
    if (lua_type(L, 1) != LUA_TSTRING)
        ec_lua_fail(L, "ec.arg: wants a name and a default value, as in ec.arg(\"count\", 32)");
    const char *name = lua_tostring(L, 1), *text = NULL;
    for (int i = 0; i < host->settings.n_sets; i++)
        if (strcmp(host->settings.sets[i].name, name) == 0) {
            host->settings.sets[i].asked = true;
            text = host->settings.sets[i].value;
        }
    int type = lua_type(L, 2);
    if (!text && strcmp(name, "seed") == 0 && host->settings.seed_given) {
        lua_pushinteger(L, (lua_Integer)host->settings.seed);
        return 1;
    }
    if (!text && (type == LUA_TNIL || type == LUA_TNONE))
        ec_lua_fail(L, "ec.arg: '%s' has no default, so it must be given: --set %s=VALUE", name,
                    name);
    if (!text) {
        lua_settop(L, 2);
        return 1;
    }
    if (type == LUA_TNUMBER) {
        if (lua_stringtonumber(L, text) != strlen(text) + 1)
            ec_lua_fail(L, "--set %s=%s: a number is needed, as the default is one", name, text);
    } else if (type == LUA_TBOOLEAN) {
        if (!parse_flag(L, text))
            ec_lua_fail(L, "--set %s=%s: true or false is needed, as the default is one", name,
                        text);
    } else if (type == LUA_TSTRING || type == LUA_TNIL || type == LUA_TNONE) {
        lua_pushstring(L, text);
    } else {
        ec_lua_fail(
            L, "ec.arg: the default of '%s' is a %s; a number, a text, true or false are allowed",
            name, lua_typename(L, type));
    }
    return 1;
}

/* False for a metric that was looked at before. */
static bool is_first_look(ec_lua_host *host, ec_expr e)
{
    int32_t n = ec_graph_count(host->graph);
    if (e >= host->n_looked_at) {
        uint8_t *more = realloc(host->looked_at, (size_t)n);
        if (!more)
            return false;
        memset(more + host->n_looked_at, 0, (size_t)(n - host->n_looked_at));
        host->looked_at = more;
        host->n_looked_at = n;
    }
    bool first = !host->looked_at[e];
    host->looked_at[e] = 1;
    return first;
}

/* What a search says of an array whose beam is elsewhere, or whose lengths are in two units. */
static void warn_array(ec_lua_host *host, ec_expr metric)
{
    ec_log silent = {EC_LOG_ERROR, NULL, NULL};
    char text[300];
    int32_t samples = ec_graph_sample_count(host->graph, false);
    double *level = malloc((size_t)(samples + 1) * sizeof *level);
    if (level && ec_array_extent_warning(host->graph, ec_graph_node(host->graph, metric)->call,
                                         text, sizeof text))
        ec_log_write(host->settings.log, EC_LOG_WARNING, "%s", text);
    ec_expr look = ec_array_look_level(host->graph, metric);
    if (level && look >= 0 &&
        ec_evaluate_once(host->graph, host->backend, EC_SEARCH, 1, &look, NULL, 0, NULL, 0, &level,
                         NULL, &silent) == EC_OK) {
        bool many = ec_graph_node(host->graph, look)->axes & EC_AXIS_SAMPLE, said = false;
        for (int32_t s = 0; s < (many ? samples : 1) && !said; s++)
            said = ec_array_look_warning(host->graph, metric, level[s], text, sizeof text);
        if (said)
            ec_log_write(host->settings.log, EC_LOG_WARNING, "%s", text);
    }
    free(level);
}

static void warn_link(ec_lua_host *host, ec_call *link)
{
    ec_mimo_winner fixed = {host->graph, NULL, NULL, host->backend, link};
    ec_mimo_warn(&fixed, host->settings.log); /* what cannot be computed ec.value has told */
}

static void warn_outputs(lua_State *L, ec_expr expr)
{
    ec_lua_host *host = ec_lua_host_of(L);
    if (host->in_core > 0)
        return; /* a function of ec.host, called for many designs */
    ec_lua_mark_line(L);
    for (ec_expr e = -1; (e = ec_lua_expr_output(L, expr, e + 1)) >= 0;) {
        const ec_node *node = ec_graph_node(host->graph, e);
        ec_call *call = node->call;
        bool link = call->def == &ec_evaluator_mimo;
        bool metric = call->def == &ec_evaluator_array_pattern && node->dtype == EC_F64;
        ec_expr of = link ? ec_mimo_value(host->graph, call, EC_MIMO_CHANNEL) : e;
        if ((!link && !metric) || of < 0 || !is_first_look(host, of))
            continue;
        lua_State *caller = ec_lua_core_enter(L);
        if (link)
            warn_link(host, call);
        else
            warn_array(host, e);
        ec_lua_core_leave(L, caller);
    }
}

/* ec.value(expr, ...): of expressions without design variables, evaluated together. */
static int module_value(lua_State *L)
{
    int n = lua_gettop(L) > 1 ? lua_gettop(L) : 1;
    ec_expr *expr = lua_newuserdatauv(L, (size_t)n * sizeof *expr, 0);
    ec_lua_list *list = lua_newuserdatauv(L, (size_t)n * sizeof *list, 0);
    for (int i = 0; i < n; i++)
        expr[i] = ec_lua_expr_get(L, i + 1, "ec.value");
    if (!ec_lua_expr_constants(L, n, expr, list))
        ec_lua_fail(
            L, "ec.value: the expression has design variables, so it has no value before a search: "
               "use best:value(expr) after job:solve");
    int first = lua_gettop(L) - n;
    for (int i = 0; i < n; i++) {
        warn_outputs(L, expr[i]);
        if (list[i].scalar) {
            lua_pushnumber(L, list[i].v[0]);
        } else {
            lua_pushvalue(L, first + 1 + i);
            ec_lua_values_shape(L, ec_lua_expr_node(L, expr[i]), list[i].n);
        }
        lua_replace(L, first + 1 + i);
    }
    return n;
}

/* ec.range(from, to, count): evenly spaced, both ends included. */
static int module_range(lua_State *L)
{
    static const char *const names[] = {"from", "to", "count"};
    static const double most = 1e7; /* beyond it a count within the span is taken for a step */
    double v[3];
    for (int i = 0; i < 3; i++) {
        if (lua_type(L, i + 1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, i + 1)))
            ec_lua_fail(L, "ec.range(from, to, count): %s must be a finite number, got a %s",
                        names[i], luaL_typename(L, i + 1));
        v[i] = lua_tonumber(L, i + 1);
    }
    const double span = fabs(v[1] - v[0]), steps = floor(span / fabs(v[2]) + 0.5);
    const bool whole = v[2] >= 1 && v[2] <= 1 << 28 && v[2] == floor(v[2]);
    if (!whole || (v[2] > most && v[2] <= span)) {
        char hint[160] = "";
        if (v[2] > 0 && steps >= 1 && steps < most)
            snprintf(
                hint, sizeof hint,
                "; it is how many, not a step: a step of %.14g is ec.range(%.14g, %.14g, %.0f)",
                v[2], v[0], v[1], steps + 1);
        ec_lua_fail(L, "ec.range(from, to, count): count %.14g is %s%s", v[2],
                    whole ? "too many" : "not a whole number above 0", hint);
    }
    int64_t n = (int64_t)v[2];
    double *to = ec_lua_values_new(L, n);
    for (int64_t i = 0; i < n; i++)
        to[i] = n == 1 ? v[0] : v[0] + (v[1] - v[0]) * ((double)i / (double)(n - 1));
    if (n > 1)
        to[n - 1] = v[1];
    return 1;
}

void ec_lua_module_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"arg", module_arg}, {"value", module_value}, {"range", module_range}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    lua_pushboolean(L, ec_lua_host_of(L)->settings.quick);
    lua_setfield(L, -2, "quick");
}
