/* lua_expr.h: expressions as Lua sees them: userdata that name a node of the host's graph.
 *
 * Arithmetic and the functions of lua_functions.c record nodes; nothing is computed while the
 * script runs. Lists and single numbers become constants where they meet an expression. Indices
 * count from 1 in scripts and from 0 in the graph.
 */
#ifndef EC_LUA_EXPR_H
#define EC_LUA_EXPR_H

#include "lua_keys.h"

#define EC_LUA_EXPR "expression"

typedef struct ec_lua_expr {
    ec_expr expr;
} ec_lua_expr;

/* The value at index as a node: a number, a list (of numbers, of expressions, nested for a matrix),
 * a list of values, an expression. */
ec_expr ec_lua_expr_get(lua_State *L, int index, const char *what);
/* Pushes the expression; a negative one is a status and becomes an error. */
int ec_lua_expr_push(lua_State *L, ec_expr expr);
const ec_node *ec_lua_expr_node(lua_State *L, ec_expr expr);
/* A page of `eciton check`: what these values, which take long, would take. The script may go on. */
void ec_lua_expr_page(lua_State *L, int32_t n, const ec_expr *expr);
/* The same, and the check ends: what comes behind needs the values. */
void ec_lua_expr_check(lua_State *L, int32_t n, const ec_expr *expr) __attribute__((noreturn));
/* Pushes the values of an expression without design variables as a list; false if it has some. */
bool ec_lua_expr_constant(lua_State *L, ec_expr expr, ec_lua_list *list);
/* The same of n of them in one evaluation: n lists are on top of the stack afterwards. */
bool ec_lua_expr_constants(lua_State *L, int32_t n, const ec_expr *expr, ec_lua_list *list);

/* Why an evaluator's output has no value, with advice; and the next output, from *from on, that expr
 * is built from (-1: none). */
const char *ec_lua_expr_advice(const ec_node *output);
ec_expr ec_lua_expr_output(lua_State *L, ec_expr expr, ec_expr from);

/* op of the two values on the stack; the metamethods of comparisons, which only raise. */
int ec_lua_expr_binary(lua_State *L, ec_op op);
int ec_lua_expr_compare(lua_State *L);

/* One function of the module that is also a method of expressions. */
typedef struct ec_lua_function {
    const char *name, *usage, *help;
    lua_CFunction function; /* NULL: element-wise, by its op */
} ec_lua_function;

/* Ended by a NULL name (lua_functions.c). */
extern const ec_lua_function ec_lua_functions[];
extern const ec_noun ec_noun_row, ec_noun_mirror, ec_noun_min_distance, ec_noun_yield;

#endif
