#include "lua_budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua_host.h"

/* Instructions between two looks at the clock: some 50 us. */
enum { HOOK_COUNT = 10000 };

/* Beyond the limit a pure Lua script has been stopped by the hook for this long, so what still
 * runs is out of the hook's reach. */
static const double GRACE_SECONDS = 1.0;

/* A call of a host function may take the script's limit, and this share of it for each design. */
static const double SHARE_OF_A_DESIGN = 0.1;

/* ---- memory ---------------------------------------------------------------------------------- */

void *ec_lua_budget_alloc(void *budget, void *memory, size_t old_size, size_t new_size)
{
    ec_lua_budget *b = budget;
    if (!memory)
        old_size = 0; /* Lua passes the kind of a new object here */
    if (new_size == 0) {
        free(memory);
        b->memory_used -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > b->memory_limit - b->memory_used)
        return NULL;
    void *moved = realloc(memory, new_size);
    if (moved)
        b->memory_used += new_size - old_size;
    return moved;
}

void ec_lua_budget_take(lua_State *L, size_t bytes)
{
    ec_lua_budget *b = &ec_lua_host_of(L)->budget;
    if (bytes > b->memory_limit - b->memory_used)
        lua_gc(L, LUA_GCCOLLECT);
    if (bytes > b->memory_limit - b->memory_used)
        ec_lua_fail(L, "not enough memory: the script may hold %.3g GiB (--trust lifts the limit)",
                    (double)b->memory_limit / (1 << 30));
    b->memory_used += bytes;
}

void ec_lua_budget_give(ec_lua_budget *b, size_t bytes)
{
    b->memory_used -= bytes;
}

/* ---- time ------------------------------------------------------------------------------------ */

double ec_lua_budget_clock(const ec_lua_budget *b)
{
    struct timespec t;
    clock_gettime(b->clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ec_lua_budget_pause(ec_lua_budget *b)
{
    pthread_mutex_lock(&b->mutex);
    b->paused++;
    pthread_mutex_unlock(&b->mutex);
}

void ec_lua_budget_resume(ec_lua_budget *b)
{
    pthread_mutex_lock(&b->mutex);
    b->paused--;
    pthread_mutex_unlock(&b->mutex);
}

void ec_lua_budget_extend(ec_lua_budget *b, double seconds)
{
    pthread_mutex_lock(&b->mutex);
    b->deadline += seconds;
    pthread_mutex_unlock(&b->mutex);
}

void ec_lua_budget_renew(ec_lua_budget *b)
{
    pthread_mutex_lock(&b->mutex);
    b->deadline = ec_lua_budget_clock(b) + b->seconds;
    b->allowed = b->seconds;
    pthread_mutex_unlock(&b->mutex);
}

ec_lua_budget_outer ec_lua_budget_begin_call(ec_lua_budget *b, size_t n, const ec_interrupt *search)
{
    ec_lua_budget_outer outer = {b->deadline, b->allowed, b->search};
    pthread_mutex_lock(&b->mutex);
    b->allowed = b->seconds * (1 + SHARE_OF_A_DESIGN * (double)n);
    b->deadline = ec_lua_budget_clock(b) + b->allowed;
    b->search = search;
    b->paused--;
    pthread_mutex_unlock(&b->mutex);
    return outer;
}

bool ec_lua_budget_end_call(ec_lua_budget *b, const ec_lua_budget_outer *outer)
{
    pthread_mutex_lock(&b->mutex);
    bool stopped = b->stopping;
    b->paused++;
    b->stopping = false;
    b->search = outer->search;
    b->deadline = outer->deadline;
    if (!b->expired) /* else a message is to come */
        b->allowed = outer->allowed;
    pthread_mutex_unlock(&b->mutex);
    return stopped;
}

void ec_lua_budget_note(lua_State *L)
{
    ec_lua_budget *b = &ec_lua_host_of(L)->budget;
    char file[200];
    int line = ec_lua_line(L, file, sizeof file);
    if (line > 0)
        snprintf(b->where, sizeof b->where, "%s:%d: ", file, line);
}

static void count_hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    ec_lua_host *host = ec_lua_host_of(L);
    ec_lua_budget *b = &host->budget;
    if (!b->expired) {
        ec_lua_budget_note(L);
        /* inside a search the signal is the search's to notice: it keeps its best */
        b->interrupted = *host->settings.interrupt && !host->stopped && !host->in_core;
        b->stopping = b->stopping || (b->search && b->search->asked(b->search->user));
        if (!b->interrupted && !b->stopping && ec_lua_budget_clock(b) <= b->deadline) {
            if (lua_gethook(L) == count_hook && lua_gethookcount(L) == 1) /* stopped before */
                ec_lua_budget_hook(L);
            return;
        }
        b->expired = !b->stopping;
    }
    /* at every instruction from now on: a pcall that catches this gets no further */
    lua_sethook(L, count_hook, LUA_MASKCOUNT, 1);
    if (b->stopping)
        ec_lua_fail(L, "the search ends here");
    if (b->interrupted) {
        host->ended_by_signal = true;
        ec_lua_fail(L, "interrupted");
    }
    if (b->search)
        ec_lua_fail(L, "the time of the call is used up");
    ec_lua_fail(
        L,
        "the script has run for %g s of its own (searches not counted), which is its limit: "
        "is this an endless loop? (--trust lifts the limit)",
        b->seconds);
}

void ec_lua_budget_check(lua_State *L)
{
    count_hook(L, NULL);
}

void ec_lua_budget_hook(lua_State *L)
{
    lua_sethook(L, count_hook, LUA_MASKCOUNT, HOOK_COUNT);
}

/* ---- watchdog -------------------------------------------------------------------------------- */

static void *watch(void *user)
{
    ec_lua_budget *b = user;
    pthread_mutex_lock(&b->mutex);
    while (!b->quit) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&b->wake, &b->mutex, &until);
        if (b->quit || b->paused || ec_lua_budget_clock(b) <= b->deadline + GRACE_SECONDS)
            continue;
        fprintf(stderr,
                "%sa function of Lua's own library has run past the script's limit of %g s and "
                "cannot be stopped otherwise: the program ends here (--trust lifts the limit)\n",
                b->where, b->allowed);
        fflush(NULL);
        _exit(1);
    }
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

int ec_lua_budget_start(ec_lua_budget *b, size_t memory, double seconds)
{
    memset(b, 0, sizeof *b);
    b->memory_limit = memory;
    b->seconds = seconds;
    if (pthread_getcpuclockid(pthread_self(), &b->clock) != 0)
        b->clock = CLOCK_MONOTONIC;
    b->paused = 1;
    b->allowed = seconds;
    b->deadline = ec_lua_budget_clock(b) + seconds;
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->wake, NULL);
    if (isfinite(seconds))
        b->watching = pthread_create(&b->watchdog, NULL, watch, b) == 0;
    if (isfinite(seconds) && !b->watching)
        return ec_fail(EC_ERR_MEMORY, "no thread for the watchdog of scripts");
    return EC_OK;
}

void ec_lua_budget_stop(ec_lua_budget *b)
{
    if (b->watching) {
        pthread_mutex_lock(&b->mutex);
        b->quit = true;
        pthread_cond_signal(&b->wake);
        pthread_mutex_unlock(&b->mutex);
        pthread_join(b->watchdog, NULL);
        b->watching = false;
    }
    pthread_cond_destroy(&b->wake);
    pthread_mutex_destroy(&b->mutex);
}
