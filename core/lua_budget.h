/* lua_budget.h: what a script may use: memory and processor time.
 *
 * Memory is counted by the allocator: a request beyond the limit fails as if the machine had no
 * more. Time is the processor time of the script's thread outside the core's long calls (pause and
 * resume). A count hook looks at it; once it is used up the hook fires at every instruction, so
 * that no pcall can go on. What the hook does not reach (C functions, finalizers) is ended by a
 * watchdog thread: it prints where the script was last seen and ends the process with status 1.
 */
#ifndef EC_LUA_BUDGET_H
#define EC_LUA_BUDGET_H

#include <lua.h>
#include <pthread.h>
#include <time.h>

#include "base.h"

typedef struct ec_lua_budget {
    size_t memory_limit, memory_used;
    double seconds;  /* allowed; INFINITY: no limit */
    double deadline; /* in processor seconds of the script's thread */
    int paused;      /* depth of pauses; > 0: the core is running */
    double paused_at;
    bool expired;     /* no further instruction of the script runs */
    bool interrupted; /* because of a signal */
    char where[300];  /* "file:line: " of a place the script passed lately */
    clockid_t clock;  /* of the script's thread */
    pthread_t watchdog;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool watching, quit;
} ec_lua_budget;

void *ec_lua_budget_alloc(void *budget, void *memory, size_t old_size, size_t new_size);
/* Starts the clock for the calling thread, paused, and the watchdog. */
int ec_lua_budget_start(ec_lua_budget *budget, size_t memory, double seconds);
void ec_lua_budget_stop(ec_lua_budget *budget);
void ec_lua_budget_hook(lua_State *L);
/* What the hook does, for functions of the host that take long while few instructions run. */
void ec_lua_budget_check(lua_State *L);
void ec_lua_budget_pause(ec_lua_budget *budget);
void ec_lua_budget_resume(ec_lua_budget *budget);
/* A fresh allowance for a piece of work of its own (one call of a host function); returns what was
 * left, for restore. */
double ec_lua_budget_renew(ec_lua_budget *budget);
void ec_lua_budget_restore(ec_lua_budget *budget, double left);
/* Remembers the running script line for the watchdog's message. */
void ec_lua_budget_note(lua_State *L);

#endif
