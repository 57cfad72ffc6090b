/* lua_curve.h: quantities over frequency as Lua sees them: an expression with one element for each
 * frequency, whose methods argmin, at, band_below_db, mask and others know these frequencies.
 *
 * A curve is an expression in every other respect: it has elements and a length, takes part in
 * arithmetic (which gives plain expressions) and is an argument of functions. Where it is complex,
 * methods that compare look at 20 log10 of its magnitude, not below -300 dB.
 */
#ifndef EC_LUA_CURVE_H
#define EC_LUA_CURVE_H

#include "lua_expr.h"

/* Pushes expr, of n_frequencies elements over ascending frequencies in Hz, which are copied. A
 * negative expr is a status and becomes an error. */
int ec_lua_curve_push(lua_State *L, ec_expr expr, int32_t n_frequencies, const double *frequency);
/* The method of the curve at index 1 whose name is at index 2: pushed, and true. False where there is
 * none, or no curve. */
bool ec_lua_curve_method(lua_State *L);
/* The names of these methods, most of them at most; 0 where the value at index 1 is no curve. */
int ec_lua_curve_names(lua_State *L, const char **names, int most);
/* Adds ec.curve to the module table on top of the stack. */
void ec_lua_curve_open(lua_State *L);

extern const ec_noun ec_noun_curve, ec_noun_curve_mask;

#endif
