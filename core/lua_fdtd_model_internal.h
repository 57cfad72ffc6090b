/* lua_fdtd_model_internal.h: a model as Lua holds it, for its methods in several files. */
#ifndef EC_LUA_FDTD_MODEL_INTERNAL_H
#define EC_LUA_FDTD_MODEL_INTERNAL_H

#include "evaluators/fdtd/fdtd.h"
#include "lua_fdtd.h"

typedef struct ec_lua_fdtd {
    ec_call *call;
    int32_t n_ports;   /* with waves */
    int32_t n_sources; /* these, and current sources behind them */
    int32_t n_named;   /* these, and probes behind them; their names are user value 1 */
    int32_t n_frequencies;
    const double *frequency; /* user value 2 */
    bool has_wave;
} ec_lua_fdtd;

/* All of them are for methods of a model, which is at index 1; what: the method, for messages. */
ec_lua_fdtd *ec_lua_fdtd_at(lua_State *L, const char *what);
/* What the value of key excited_by at an index drives (0: there is none): a port or EC_FDTD_WAVE. */
int32_t ec_lua_fdtd_driven(lua_State *L, const char *what, int excited_by);
/* The model's frequency that is meant, from 0; NAN: its only one. */
int32_t ec_lua_fdtd_frequency(lua_State *L, const char *what, double wanted);
/* A word of "x|y|z|xy|xz|yz", -1 for none, as axes. */
void ec_lua_fdtd_symmetry(int word, bool symmetry[3]);

#endif
