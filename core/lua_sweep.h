/* lua_sweep.h: sweeps as Lua sees them: a userdata owns the plan, the sweep and its table while it
 * runs, and pins its job (user value 1). */
#ifndef EC_LUA_SWEEP_H
#define EC_LUA_SWEEP_H

#include "lua_keys.h"
#include "sweep_table.h"

#define EC_LUA_SWEEP "sweep"

typedef struct ec_lua_sweep {
    ec_sweep_plan *plan;
    ec_sweep *sweep;
    ec_sweep_table *table;
    uint64_t
        script; /* what was read until now: stands for models that cannot tell what they compute,
                        functions of ec.host */
    size_t bytes;
} ec_lua_sweep;

int ec_lua_job_sweep(lua_State *L);
int ec_lua_job_sensitivity(lua_State *L);
/* Pushes an empty sweep whose job is at stack index `job`; destroyed by the collector. */
ec_lua_sweep *ec_lua_sweep_new(lua_State *L, int job);
/* Memory of the core for so many rows of the job, of which `varied` genes vary: counted as the
 * script's, before it is taken. */
void ec_lua_sweep_hold(lua_State *L, ec_lua_sweep *sweep, const ec_job *job, double rows,
                       int32_t varied);
/* Number of the variable that a name, "x" or "x[3]", means, and the element (-1: all); -1: none. */
int32_t ec_lua_sweep_variable(const ec_job *job, const char *name, int32_t *element);
/* Raises for a name that is no variable of the job. what: "job:sweep: key 'points'". */
int ec_lua_sweep_no_variable(lua_State *L, const ec_job *job, const char *what, const char *name)
    __attribute__((noreturn));
/* The list of names at a stack index (0: all variables, NULL is returned) as numbers. */
const int32_t *ec_lua_sweep_variables(lua_State *L, const ec_job *job, int index, const char *what,
                                      int32_t *n);
/* The name of the files (given, or the stem with a number) and, with --out, the table for the rows;
 * neither when nothing is reported. */
void ec_lua_sweep_table(lua_State *L, ec_lua_sweep *sweep, bool report, const char *given,
                        const char *stem, bool fresh, char *name, size_t size);
/* Of `eciton check`: prints its page and ends the script. */
void ec_lua_sweep_check(lua_State *L, const ec_lua_sweep *sweep, ec_job *job, const char *what,
                        ec_sweep_info *info);
/* Runs it: info's plan, store, interrupt and progress are set here. Raises what the core says. */
void ec_lua_sweep_run(lua_State *L, ec_lua_sweep *sweep, ec_job *job, const char *what, bool report,
                      ec_sweep_info *info);

extern const ec_noun ec_noun_sweep, ec_noun_sensitivity;

#endif
