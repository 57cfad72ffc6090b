#include "lua_expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua_curve.h"
#include "lua_values.h"

const ec_node *ec_lua_expr_node(lua_State *L, ec_expr expr)
{
    return ec_graph_node(ec_lua_host_of(L)->graph, expr);
}

int ec_lua_expr_push(lua_State *L, ec_expr expr)
{
    if (expr < 0)
        ec_lua_fail_core(L, NULL);
    ec_lua_expr *e = lua_newuserdatauv(L, sizeof *e, 0);
    e->expr = expr;
    luaL_setmetatable(L, EC_LUA_EXPR);
    return 1;
}

/* ---- lists as constants ---------------------------------------------------------------------- */

static ec_expr checked(lua_State *L, ec_expr e, const char *what)
{
    if (e < 0)
        ec_lua_fail_core(L, what);
    return e;
}

/* {{1, 2}, {3, 4}}: a constant matrix. */
static ec_expr matrix(lua_State *L, int index, int32_t rows, const char *what)
{
    double *to = NULL;
    int32_t columns = 0;
    for (int32_t i = 0; i < rows; i++) {
        if (lua_rawgeti(L, index, i + 1) != LUA_TTABLE)
            ec_lua_fail(L, "%s: row %d is a %s, a list of numbers is needed", what, (int)i + 1,
                        luaL_typename(L, -1));
        ec_lua_list row;
        ec_lua_list_get(L, -1, what, &row);
        if (i == 0) {
            columns = row.n;
            to = ec_lua_values_new(L, (int64_t)rows * columns);
            lua_insert(L, -3);
        }
        if (row.n != columns)
            ec_lua_fail(L, "%s: row %d has %d elements, row 1 has %d", what, (int)i + 1, (int)row.n,
                        (int)columns);
        memcpy(to + (size_t)i * (size_t)columns, row.v, (size_t)columns * sizeof *to);
        lua_pop(L, 2);
    }
    ec_expr e = ec_graph_constant(ec_lua_host_of(L)->graph, 2, (int32_t[]){rows, columns}, to);
    lua_pop(L, 1);
    return checked(L, e, what);
}

static ec_expr joined(lua_State *L, int index, int32_t n, const char *what)
{
    ec_expr *part = lua_newuserdatauv(L, (size_t)n * sizeof *part, 0);
    for (int32_t i = 0; i < n; i++) {
        char element[200];
        snprintf(element, sizeof element, "%s: element %d", what, (int)i + 1);
        lua_rawgeti(L, index, i + 1);
        part[i] = ec_lua_expr_get(L, -1, element);
        lua_pop(L, 1);
    }
    ec_expr e = ec_graph_op(ec_lua_host_of(L)->graph, EC_OP_CONCAT, n, part, 0, NULL);
    lua_pop(L, 1);
    return checked(L, e, what);
}

static ec_expr from_table(lua_State *L, int index, const char *what)
{
    int32_t n = ec_lua_list_length(L, index, what);
    if (n < 1)
        ec_lua_fail(L, "%s: the list is empty", what);
    bool numbers = true, rows = true;
    for (int32_t i = 0; i < n; i++) {
        int type = lua_rawgeti(L, index, i + 1);
        numbers = numbers && type != LUA_TUSERDATA;
        rows = rows && type == LUA_TTABLE;
        lua_pop(L, 1);
    }
    if (rows)
        return matrix(L, index, n, what);
    if (!numbers)
        return joined(L, index, n, what);
    ec_lua_list list;
    ec_lua_list_get(L, index, what, &list);
    ec_expr e = ec_graph_constant(ec_lua_host_of(L)->graph, 1, &list.n, list.v);
    lua_pop(L, 1);
    return checked(L, e, what);
}

ec_expr ec_lua_expr_get(lua_State *L, int index, const char *what)
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    index = lua_absindex(L, index);
    luaL_checkstack(L, 12, "lists nested too deeply");
    const ec_lua_expr *expr = luaL_testudata(L, index, EC_LUA_EXPR);
    if (expr)
        return expr->expr;
    if (lua_type(L, index) == LUA_TNUMBER) {
        double value = lua_tonumber(L, index);
        if (!isfinite(value))
            ec_lua_fail(L, "%s: a number is %g, a finite one is needed", what, value);
        return checked(L, ec_graph_number(graph, value), what);
    }
    ec_lua_mark_line(L); /* a list is a new constant of the graph */
    if (luaL_testudata(L, index, EC_LUA_VALUES)) {
        ec_lua_list list;
        ec_lua_list_get(L, index, what, &list);
        ec_expr e = ec_graph_constant(graph, 1, &list.n, list.v);
        lua_pop(L, 1);
        return checked(L, e, what);
    }
    if (lua_istable(L, index)) {
        /* rank 4 at most, and a table may contain itself: the names of the elements grow with depth */
        if (strlen(what) > 150)
            ec_lua_fail(L, "%.60s...: lists are nested too deeply", what);
        return from_table(L, index, what);
    }
    ec_lua_fail(L, "%s: wants a number, a list or an expression, got a %s", what,
                luaL_typename(L, index));
}

const char *ec_lua_expr_advice(const ec_node *output)
{
    const char *name = output->call->out[output->output].name;
    if (strcmp(output->call->def->name, "array_weights") == 0)
        return "its constraints depend on each other (a null twice, or in the look direction), "
               "no element radiates towards the look direction, "
               "elements are too close for its noise, or no direction of its grid lies outside the "
               "main beam: move the nulls, give loading, or a smaller exclude_u";
    if (strcmp(name, "hpbw_deg") == 0)
        return "a half-power point is off the grid, or between too few directions: look at more of "
               "them, as in u = ec.range(-1, 1, n)";
    if (strcmp(name, "fnbw_deg") == 0)
        return "a first minimum is off the grid, or between too few directions: look at more of "
               "them, as in u = ec.range(-1, 1, n)";
    if (strcmp(output->call->def->name, "mimo") == 0)
        return "an antenna is inside a solid, on a surface, at an antenna of the other end, or "
               "outside of its box; one sample of ec.over where it is so is enough";
    if (strcmp(output->call->def->name, "matrix") == 0)
        return "a matrix has an element that is not finite, or nothing but zeros, which "
               "normalize = 'frobenius' and 'mean' cannot scale";
    if (strcmp(output->call->def->name, "fdtd") == 0)
        return "the structure does not fit its grid with these numbers, or the source has no "
               "energy "
               "at a frequency: a pulse without a mean has none at 0 Hz";
    if (strcmp(output->call->def->name, "host") == 0)
        return "the function of ec.host failed, or returned no finite number for it";
    return "the main beam is not on the grid, or nothing is radiated there: is the look or "
           "steering "
           "direction inside the grid, as with u = ec.range(-1, 1, n), and are all inputs finite?";
}

ec_expr ec_lua_expr_output(lua_State *L, ec_expr expr, ec_expr from)
{
    const ec_graph *graph = ec_lua_host_of(L)->graph;
    int32_t n = ec_graph_count(graph);
    /* not of Lua: a finalizer that runs as it allocates may let the graph grow */
    bool *needed = malloc((size_t)n);
    ec_expr found = -1;
    if (needed)
        ec_graph_reach(graph, 1, &expr, needed);
    for (int32_t i = from; needed && i < n && found < 0; i++) {
        const ec_node *node = ec_graph_node(graph, i);
        if (needed[i] && node->op == EC_OP_CALL_OUTPUT && node->call->mode == EC_MODE_RUN)
            found = i;
    }
    free(needed);
    return found;
}

/* Raises for an expression that an evaluator could not score: names the output that failed. others: one
 * of the expressions behind it may be the one. */
static void fail_constant(lua_State *L, ec_expr expr, bool others)
{
    ec_lua_host *host = ec_lua_host_of(L);
    for (ec_expr e = -1; (e = ec_lua_expr_output(L, expr, e + 1)) >= 0;) {
        const ec_node *node = ec_graph_node(host->graph, e);
        int64_t samples =
            node->axes & EC_AXIS_SAMPLE ? ec_graph_sample_count(host->graph, true) : 1;
        int width = node->dtype == EC_C64 || node->dtype == EC_C128 ? 2 : 1;
        double *to = ec_lua_values_new(L, node->elements * samples * width);
        uint8_t status = 0;
        ec_log silent = {EC_LOG_ERROR, NULL, NULL}; /* the warnings were said before */
        lua_State *caller = ec_lua_core_enter(L);
        int code = ec_evaluate_once(host->graph, host->backend, EC_FINAL, 1, &e, NULL, 0, NULL, 0,
                                    &to, &status, &silent);
        ec_lua_core_leave(L, caller);
        lua_pop(L, 1);
        if (code == EC_OK && (status & ~EC_CANDIDATE_NOT_FINITE))
            ec_lua_fail(L, "%s has no value: %s", node->call->out[node->output].name,
                        ec_lua_expr_advice(node));
    }
    if (!others)
        ec_lua_fail(L, "the value cannot be computed: an evaluator could not score it");
}

/* A signal that ended a search lets the script go on with what was found. */
static bool is_interrupted(void *user)
{
    const ec_lua_host *host = user;
    return *host->settings.interrupt && !host->stopped;
}

/* Beyond this an evaluation is work that was asked for, not a loop that never ends. */
static const double counted_seconds = 1;

void ec_lua_expr_page(lua_State *L, int32_t n, const ec_expr *expr)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    lua_State *caller = ec_lua_core_enter(L);
    int status =
        events->value_check ? events->value_check(events->user, host->graph, n, expr) : EC_OK;
    ec_lua_core_leave(L, caller);
    if (status < 0)
        ec_lua_fail_core(L, NULL);
    host->paged = host;
}

void ec_lua_expr_check(lua_State *L, int32_t n, const ec_expr *expr)
{
    ec_lua_host *host = ec_lua_host_of(L);
    ec_lua_expr_page(L, n, expr);
    if (host->settings.log)
        ec_log_write(
            host->settings.log, EC_LOG_INFO,
            "the check ends at this value, of line %d: a search behind it was not looked at",
            ec_lua_line(L, NULL, 0));
    host->checked = true;
    ec_lua_fail(L, "the check ends here");
}

/* A check ends at the first value that takes long. */
static void check_values(lua_State *L, int32_t n, const ec_expr *expr)
{
    const ec_lua_host *host = ec_lua_host_of(L);
    if (!host->settings.check || host->in_core > 0)
        return;
    for (int32_t i = 0; i < n; i++)
        for (ec_expr e = -1; (e = ec_lua_expr_output(L, expr[i], e + 1)) >= 0;) {
            const ec_node *node = ec_graph_node(host->graph, e);
            ec_estimate one = {.least = 0};
            bool *wanted = lua_newuserdatauv(L, (size_t)node->call->n_out + 1, 0);
            memset(wanted, 0, (size_t)node->call->n_out + 1);
            wanted[node->output] = true;
            if (node->call->def->estimate &&
                node->call->def->estimate(node->call, EC_FINAL, wanted, NULL, &one) == EC_OK &&
                one.most > 0)
                ec_lua_expr_check(L, n, expr);
            lua_pop(L, 1);
        }
}

bool ec_lua_expr_constants(lua_State *L, int32_t n, const ec_expr *expr, ec_lua_list *list)
{
    ec_lua_host *host = ec_lua_host_of(L);
    double **to = lua_newuserdatauv(L, (size_t)n * sizeof *to, 0);
    luaL_checkstack(L, n + 8, "too many values");
    for (int32_t i = 0; i < n; i++) {
        const ec_node *node = ec_graph_node(host->graph, expr[i]);
        if (node->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP))
            return false;
        if (node->dtype == EC_C64 || node->dtype == EC_C128)
            ec_lua_fail(L, "a complex value: take ec.re, ec.im, ec.abs or ec.arg of it");
    }
    ec_lua_budget_check(L);
    check_values(L, n, expr);
    for (int32_t i = 0; i < n; i++) {
        const ec_node *node = ec_graph_node(host->graph, expr[i]);
        int64_t samples =
            node->axes & EC_AXIS_SAMPLE ? ec_graph_sample_count(host->graph, true) : 1;
        int64_t length = node->elements * samples;
        to[i] = ec_lua_values_new(L, length);
        list[i] = (ec_lua_list){to[i], (int32_t)length, node->rank == 0 && samples == 1};
    }
    uint8_t status = 0;
    ec_log warnings = ec_lua_warnings(host);
    ec_interrupt interrupt = {is_interrupted, host};
    bool in_search = host->in_core > 0; /* which notices the signal itself */
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    int code = ec_evaluate_until(host->graph, host->backend, EC_FINAL, n, expr, NULL, 0, NULL, 0,
                                 to, &status, in_search ? NULL : &interrupt, &warnings);
    double taken = ec_lua_budget_clock(&host->budget) - begun;
    if (taken > counted_seconds)
        ec_lua_budget_extend(&host->budget, taken - counted_seconds);
    ec_lua_core_leave(L, caller);
    if (code == EC_STOPPED) {
        host->ended_by_signal = true;
        ec_lua_fail(L, "interrupted");
    }
    if (code != EC_OK)
        ec_lua_fail_core(L, NULL);
    for (int32_t i = 0; i < n && (status & ~EC_CANDIDATE_NOT_FINITE); i++)
        fail_constant(L, expr[i], i + 1 < n);
    return true;
}

bool ec_lua_expr_constant(lua_State *L, ec_expr expr, ec_lua_list *list)
{
    if (!ec_lua_expr_constants(L, 1, &expr, list))
        return false;
    lua_remove(L, -2); /* the list of places */
    return true;
}

/* ---- metamethods ----------------------------------------------------------------------------- */

int ec_lua_expr_binary(lua_State *L, ec_op op)
{
    static const char *const words[] = {"left side", "right side"};
    ec_expr in[2];
    for (int i = 0; i < 2; i++) {
        char what[60];
        snprintf(what, sizeof what, "%s of %s", words[i], ec_op_name(op));
        if (lua_type(L, i + 1) == LUA_TSTRING)
            ec_lua_fail(L, "%s: wants a number, a list or an expression, got the text '%s'", what,
                        lua_tostring(L, i + 1));
        in[i] = ec_lua_expr_get(L, i + 1, what);
    }
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_binary(ec_lua_host_of(L)->graph, op, in[0], in[1]));
}

static int expr_add(lua_State *L)
{
    return ec_lua_expr_binary(L, EC_OP_ADD);
}

static int expr_sub(lua_State *L)
{
    return ec_lua_expr_binary(L, EC_OP_SUB);
}

static int expr_mul(lua_State *L)
{
    return ec_lua_expr_binary(L, EC_OP_MUL);
}

static int expr_div(lua_State *L)
{
    return ec_lua_expr_binary(L, EC_OP_DIV);
}

static int expr_pow(lua_State *L)
{
    return ec_lua_expr_binary(L, EC_OP_POW);
}

static int expr_neg(lua_State *L)
{
    const ec_lua_expr *e = luaL_checkudata(L, 1, EC_LUA_EXPR);
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_unary(ec_lua_host_of(L)->graph, EC_OP_NEG, e->expr));
}

/* floor(a / b), and a - b floor(a / b), as Lua defines // and % */
static ec_expr floor_division(lua_State *L, ec_expr in[2])
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    in[0] = ec_lua_expr_get(L, 1, "left side of a division");
    in[1] = ec_lua_expr_get(L, 2, "right side of a division");
    ec_lua_mark_line(L);
    return ec_graph_unary(graph, EC_OP_FLOOR, ec_graph_binary(graph, EC_OP_DIV, in[0], in[1]));
}

static int expr_idiv(lua_State *L)
{
    ec_expr in[2];
    return ec_lua_expr_push(L, floor_division(L, in));
}

static int expr_mod(lua_State *L)
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    ec_expr in[2], whole = floor_division(L, in);
    ec_expr part = ec_graph_binary(graph, EC_OP_MUL, in[1], whole);
    return ec_lua_expr_push(L, ec_graph_binary(graph, EC_OP_SUB, in[0], part));
}

int ec_lua_expr_compare(lua_State *L)
{
    ec_lua_fail(
        L, "an expression has no value while the script runs, so it cannot be compared here: use "
           "ec.lt(a, b), ec.le(a, b), ec.where(test, yes, no), ec.min, ec.max, or "
           "job:subject_to(name, expr, { min=, max= })");
}

static int expr_eq(lua_State *L)
{
    ec_lua_fail(L, "an expression has no value while the script runs, so == cannot compare it: use "
                   "ec.eq(a, b), or job:subject_to(name, expr, { equal = ... })");
}

static int expr_concat(lua_State *L)
{
    ec_lua_fail(
        L, "an expression has no value while the script runs, so '..' cannot put it into a text: "
           "print best:value(expr) after job:solve (and join lists with ec.concat)");
}

static int expr_newindex(lua_State *L)
{
    ec_lua_fail(L, "an expression cannot be changed; build a new one, for example with ec.concat");
}

static int expr_call(lua_State *L)
{
    ec_lua_fail(L, "an expression is not a function (methods are called with ':', as in x:sum())");
}

static int expr_len(lua_State *L)
{
    const ec_lua_expr *e = luaL_checkudata(L, 1, EC_LUA_EXPR);
    const ec_node *node = ec_lua_expr_node(L, e->expr);
    if (node->rank == 0)
        ec_lua_fail(L, "# of an expression that is a single number, not a list");
    lua_pushinteger(L, node->shape[0]);
    return 1;
}

static int expr_index(lua_State *L)
{
    const ec_lua_expr *e = luaL_checkudata(L, 1, EC_LUA_EXPR);
    const ec_node *node = ec_lua_expr_node(L, e->expr);
    if (lua_type(L, 2) == LUA_TNUMBER) {
        double where = lua_tonumber(L, 2);
        if (node->rank == 0)
            ec_lua_fail(L, "element %.14g of an expression that is a single number, not a list",
                        where);
        if (!(where >= 1 && where <= node->shape[0] && where == floor(where)))
            ec_lua_fail(L,
                        "element %.14g is asked for, allowed are 1 to %d (a loop over them is "
                        "for i = 1, #x do)",
                        where, (int)node->shape[0]);
        ec_lua_mark_line(L);
        return ec_lua_expr_push(
            L, ec_graph_slice(ec_lua_host_of(L)->graph, e->expr, (int32_t)where - 1, 0));
    }
    if (luaL_testudata(L, 2, EC_LUA_EXPR))
        ec_lua_fail(L, "the index is an expression: use x:at(index)");
    if (ec_lua_curve_method(L))
        return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *name = luaL_tolstring(L, 2, NULL);
    enum { MOST = 128 };
    const char *names[MOST];
    int n = ec_lua_curve_names(L, names, MOST);
    for (const ec_lua_function *f = ec_lua_functions; f->name && n < MOST; f++)
        names[n++] = f->name;
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "expressions have no method '%s' (did you mean '%s'?)", name, near);
    ec_lua_fail(L, "expressions have no method '%s' (eciton help functions lists them)", name);
}

static int expr_tostring(lua_State *L)
{
    const ec_lua_expr *e = luaL_checkudata(L, 1, EC_LUA_EXPR);
    const ec_node *node = ec_lua_expr_node(L, e->expr);
    char shape[80] = "a number";
    if (node->rank == 1)
        snprintf(shape, sizeof shape, "%d numbers", (int)node->shape[0]);
    for (int i = 0, used = 0; node->rank > 1 && i < node->rank; i++)
        used += snprintf(shape + used, sizeof shape - (size_t)used, i ? " x %d" : "%d",
                         (int)node->shape[i]);
    char text[280];
    bool varies = node->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP);
    snprintf(text, sizeof text, "expression (%s, %s, from %.6g to %.6g; for its value write %s)",
             ec_op_name(node->op), shape, node->range.lo, node->range.hi,
             varies ? "best:value(expr) after job:solve" : "ec.value(expr)");
    lua_pushstring(L, text);
    return 1;
}

/* ---- module ---------------------------------------------------------------------------------- */

/* ec.sin(x), x:sin(): the op is upvalue 1. */
static int elementwise(lua_State *L)
{
    ec_op op = (ec_op)lua_tointeger(L, lua_upvalueindex(1));
    int n = ec_op_inputs(op);
    ec_expr in[3];
    if (lua_gettop(L) != n)
        ec_lua_fail(L, "ec.%s: wants %d value%s, got %d", ec_op_name(op), n, n == 1 ? "" : "s",
                    lua_gettop(L));
    for (int i = 0; i < n; i++) {
        char what[60];
        snprintf(what, sizeof what, "ec.%s: value %d", ec_op_name(op), i + 1);
        in[i] = ec_lua_expr_get(L, i + 1, what);
    }
    ec_lua_mark_line(L);
    return ec_lua_expr_push(L, ec_graph_op(ec_lua_host_of(L)->graph, op, n, in, 0, NULL));
}

static void push_function(lua_State *L, const ec_lua_function *f)
{
    if (f->function) {
        lua_pushcfunction(L, f->function);
        return;
    }
    lua_pushinteger(L, ec_op_find(f->name));
    lua_pushcclosure(L, elementwise, 1);
}

void ec_lua_expr_open(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__add", expr_add},           {"__sub", expr_sub},   {"__mul", expr_mul},
        {"__div", expr_div},           {"__pow", expr_pow},   {"__unm", expr_neg},
        {"__idiv", expr_idiv},         {"__mod", expr_mod},   {"__lt", ec_lua_expr_compare},
        {"__le", ec_lua_expr_compare}, {"__eq", expr_eq},     {"__concat", expr_concat},
        {"__newindex", expr_newindex}, {"__call", expr_call}, {"__len", expr_len},
        {"__tostring", expr_tostring}, {NULL, NULL}};
    luaL_newmetatable(L, EC_LUA_EXPR);
    luaL_setfuncs(L, meta, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L); /* methods, which are functions of the module too */
    for (const ec_lua_function *f = ec_lua_functions; f->name; f++) {
        push_function(L, f);
        lua_pushvalue(L, -1);
        lua_setfield(L, -5, f->name);
        lua_setfield(L, -2, f->name);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "eciton.functions");
    lua_pushcclosure(L, expr_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    ec_lua_curve_open(L);
}
