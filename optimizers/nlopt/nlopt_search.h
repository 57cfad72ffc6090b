/* nlopt_search.h: searches of NLopt side by side, each on a thread of its own, that meet the caller
 * at a rendezvous: a search runs until it asks for a value, and waits for the answer.
 *
 * ec_nlopt_pool_wait returns when no search runs any more: each has asked or has ended. So what the
 * caller sees never depends on timing. Answers are logged: a pool that starts the same searches again
 * and gives them the logged answers stands where the old one stood, bit for bit.
 *
 * A search asks about y in [0, 1]^n; a point outside (some algorithms step there) counts as the
 * nearest one inside, and one that is no number (PRAXIS and COBYLA make some once they cannot get
 * further) is answered by the worst value so far without being asked. Answers must be finite.
 *
 * ec_nlopt_pool_destroy stops all searches; NLopt looks for that at each evaluation. A thread that
 * has not come back within a second is left behind with its memory: it cannot be ended safely.
 */
#ifndef EC_NLOPT_SEARCH_H
#define EC_NLOPT_SEARCH_H

#include "../../core/evaluator.h"
#include "nlopt_algorithms.h"

EC_C_BEGIN

typedef enum ec_nlopt_state {
    EC_NLOPT_IDLE,   /* not started, or its end was taken note of */
    EC_NLOPT_RUNS,   /* on its thread */
    EC_NLOPT_ASKS,   /* about y */
    EC_NLOPT_IS_OVER /* ended; end, evaluations and message say how */
} ec_nlopt_state;

typedef struct ec_nlopt_pool ec_nlopt_pool;

/* What the caller may read and write while no search runs. */
typedef struct ec_nlopt_search {
    ec_nlopt_state state;
    uint64_t number;     /* which search: 0, 1, 2 ... of a run */
    double *y;           /* asked about */
    bool wants_gradient; /* as well */
    /* the answer: written before ec_nlopt_pool_answer; limits inequalities first, then equalities */
    double cost, *gradient; /* [n] */
    double *limit;          /* [limits] */
    double *limit_gradient; /* [limits][n] */
    uint64_t evaluations;   /* answers so far */
    ec_nlopt_end end;
    char message[160];
} ec_nlopt_search;

/* `setup` without its functions; threads: searches that compute at once, the others that run wait for
 * their turn. */
int ec_nlopt_pool_create(const ec_nlopt_setup *setup, size_t slots, int threads,
                         ec_nlopt_pool **pool);
/* Returns the number of threads that were left behind. */
size_t ec_nlopt_pool_destroy(ec_nlopt_pool **pool);
ec_nlopt_search *ec_nlopt_pool_search(ec_nlopt_pool *pool, size_t slot);
/* Starts a search in an idle slot, from start [n], with NLopt's random numbers from `seed`. */
int ec_nlopt_pool_start(ec_nlopt_pool *pool, size_t slot, uint64_t number, const double *start,
                        uint64_t seed);
/* Waits until no search runs. EC_STOPPED: the interrupt (may be NULL) came first. */
int ec_nlopt_pool_wait(ec_nlopt_pool *pool, const ec_interrupt *interrupt);
/* Logs the answer that lies in the search, with gradients or without, and lets it run on. */
int ec_nlopt_pool_answer(ec_nlopt_pool *pool, size_t slot, bool with_gradient);
/* Frees the slot of a search that is over. */
void ec_nlopt_pool_clear(ec_nlopt_pool *pool, size_t slot);

/* The log of a search that is not over: 64-bit words. */
const uint64_t *ec_nlopt_pool_log(const ec_nlopt_pool *pool, size_t slot, size_t *words);
/* Runs a search that was just started through a log. ERR_FORMAT: it asks something else than it did
 * when the log was written. */
int ec_nlopt_pool_replay(ec_nlopt_pool *pool, size_t slot, const uint64_t *log, size_t words);

EC_C_END
#endif
