/* lua_values.h: lists of numbers that Lua sees without copying them into a table: results of a
 * solve, ranges, columns of a file.
 *
 * A view has a length, a stride and a place in memory that it owns (the userdata's own block) or
 * that another view owns (user value 1 pins it). No memory of the core is shared with scripts,
 * because a finalizer could read it after its owner is gone; the exception are the columns of
 * ec.host, whose data is set to NULL after the call, so that reading them is an error. Scripts
 * cannot change views.
 */
#ifndef EC_LUA_VALUES_H
#define EC_LUA_VALUES_H

#include "lua_host.h"

#define EC_LUA_VALUES "list of values"

enum { EC_LUA_VALUES_RANK = EC_RANK_MAX + 1 };

typedef struct ec_lua_values {
    const double *data;
    int64_t length;
    int64_t stride;
    bool transient; /* a column of ec.host: slices copy it */
    /* Of a value: axes, the last one fastest, of which those of samples are the first; else rank 0, a
     * plain list. */
    int32_t rank;
    int64_t shape[EC_LUA_VALUES_RANK];
} ec_lua_values;

/* Pushes a view with memory of its own, to be filled: returns that memory. */
double *ec_lua_values_new(lua_State *L, int64_t length);
void ec_lua_values_copy(lua_State *L, const double *from, int64_t length);
/* Gives the list at the top of the stack the axes of a node's value of so many numbers. */
void ec_lua_values_shape(lua_State *L, const ec_node *node, int64_t length);
/* Pushes a view of memory that the value at `owner` (a stack index, or 0) keeps alive. */
ec_lua_values *ec_lua_values_view(lua_State *L, const double *data, int64_t length, int64_t stride,
                                  int owner);
/* The view at a stack index, or NULL when there is another value. Its memory is valid. */
const ec_lua_values *ec_lua_values_test(lua_State *L, int index);

#endif
