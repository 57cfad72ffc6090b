/* lua_budget.h: what a script may use: memory and processor time.
 *
 * Memory is counted by the allocator: a request beyond the limit fails as if the machine had no
 * more. Memory of the core that the script holds is taken and given back by whoever makes it. Time
 * is the processor time of the script's thread, calls of the core included, searches not (their
 * time is added to the deadline). A call of a host function within a search has an allowance of its
 * own, and ends when the search wants to. A count hook looks at all that; once the time is used up
 * the hook fires at every instruction, so that no pcall can go on. What the hook does not reach (C
 * functions of Lua's library, finalizers) is ended by a watchdog thread: it prints where the script
 * was last seen and ends the process with status 1; while the core runs (pause and resume) it waits.
 */
#ifndef EC_LUA_BUDGET_H
#define EC_LUA_BUDGET_H

#include <lua.h>
#include <pthread.h>
#include <time.h>

#include "evaluator.h"

typedef struct ec_lua_budget {
    size_t memory_limit, memory_used;
    double seconds;             /* allowed; INFINITY: no limit */
    double deadline;            /* in processor seconds of the script's thread */
    int paused;                 /* depth of pauses; > 0: the core is running */
    bool expired;               /* no further instruction of the script runs */
    bool interrupted;           /* because of a signal */
    double allowed;             /* seconds that ended at the deadline, for messages */
    const ec_interrupt *search; /* within a call of a host function: whether the search wants to
                                   end; else NULL */
    bool stopping;              /* it does: the function runs no further */
    char where[300];            /* "file:line: " of a place the script passed lately */
    clockid_t clock;            /* of the script's thread */
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
/* Processor time of the script's thread. */
double ec_lua_budget_clock(const ec_lua_budget *budget);
/* Time that does not count as the script's: a search. */
void ec_lua_budget_extend(ec_lua_budget *budget, double seconds);
/* A fresh allowance for a piece of work of its own: the script, the finalizers at its end. */
void ec_lua_budget_renew(ec_lua_budget *budget);
/* One call of a host function for n designs, inside a pause: with an allowance of its own, and
 * ended when `search` (may be NULL) wants to. What begin returns is for end, which says whether the
 * search did. */
typedef struct ec_lua_budget_outer {
    double deadline, allowed;
    const ec_interrupt *search;
} ec_lua_budget_outer;
ec_lua_budget_outer ec_lua_budget_begin_call(ec_lua_budget *budget, size_t n,
                                             const ec_interrupt *search);
bool ec_lua_budget_end_call(ec_lua_budget *budget, const ec_lua_budget_outer *outer);
/* Memory of the core that the script holds: raises when there is not so much left, after what can
 * be collected is. */
void ec_lua_budget_take(lua_State *L, size_t bytes);
void ec_lua_budget_give(ec_lua_budget *budget, size_t bytes);
/* Remembers the running script line for the watchdog's message. */
void ec_lua_budget_note(lua_State *L);

#endif
