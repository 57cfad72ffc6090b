/* lua_job.h: jobs and results as Lua sees them. A job's userdata owns the ec_job; a result's
 * userdata owns the ec_result and pins its job (user value 1). Variables of one job cannot be
 * used in another: their genes would be someone else's. */
#ifndef EC_LUA_JOB_H
#define EC_LUA_JOB_H

#include "lua_keys.h"
#include "lua_values.h"

#define EC_LUA_JOB    "job"
#define EC_LUA_RESULT "result"

typedef struct ec_lua_job {
    ec_job *job;
    size_t bytes; /* of the core, in the script's budget */
} ec_lua_job;

typedef struct ec_lua_result {
    ec_result *result;
    size_t bytes;
} ec_lua_result;

/* The job at stack index 1; method names the caller in the message. */
ec_job *ec_lua_job_at(lua_State *L, const char *method);
int ec_lua_job_solve(lua_State *L);
/* Raises when the script has not asked for a --set: a typing mistake should not cost a search. */
void ec_lua_check_sets(lua_State *L);
/* Pushes an empty result whose job is at stack index `job`; destroyed by the collector. */
ec_lua_result *ec_lua_result_new(lua_State *L, int job);
/* Counts the memory of a result that was put into it. */
void ec_lua_result_hold(lua_State *L, ec_lua_result *result);

/* The job of the result at a stack index. */
ec_job *ec_lua_result_job(lua_State *L, int index);
/* Gives the table on top of the stack, which is owner.field of the result at index `result`, an error
 * for names that it does not have. */
void ec_lua_result_guard(lua_State *L, int result, const char *owner, const char *field);
/* Pushes the front of the result at a stack index (lua_front.c). */
void ec_lua_front_push(lua_State *L, int result);
void ec_lua_front_open(lua_State *L);

extern const ec_noun ec_noun_job, ec_noun_real, ec_noun_integer, ec_noun_binary, ec_noun_choice,
    ec_noun_spaced, ec_noun_subject_to, ec_noun_solve, ec_noun_over, ec_noun_combinations,
    ec_noun_normal, ec_noun_uniform, ec_noun_triangular, ec_noun_failures;

#endif
