/* nlopt_search.c: threads, the rendezvous, and the log of answers. */
#include "nlopt_search.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 1 << 20,
    POLL_NANOSECONDS = 20000000, /* between two looks at the interrupt */
    BLIND_MAX = 1000             /* points in a row that are no numbers */
};
/* For threads to come back once they were told to stop. */
static const int grace_looks = 50;

/* One search: the part that the caller sees comes first. */
typedef struct search {
    ec_nlopt_search seen;
    ec_nlopt_pool *pool;
    pthread_t thread;
    pthread_cond_t go;
    nlopt_opt opt; /* lives as long as its thread */
    double *at;    /* point as NLopt gave it, of the answer that is at hand */
    double *x;     /* start, and where NLopt ends */
    unsigned long seed;
    bool answered, has_gradient, lost;
    double worst; /* of the answers */
    int blind;
    size_t calls; /* points that NLopt has asked about */
    uint64_t *log;
    size_t words, room;
} search;

struct ec_nlopt_pool {
    ec_nlopt_setup setup;
    size_t slots, limits;
    search *searches;
    pthread_mutex_t mutex;
    pthread_cond_t idle; /* told when the last one stops running */
    pthread_cond_t turn; /* told when one of those that compute is done */
    size_t running, lost;
    size_t computing, width; /* of the running ones, and at most: the others wait for their turn */
    bool stopping;
};

/* ---- on a search's thread ---- */

/* NLopt's original DIRECT, stopped before it has divided its box once, reads an index that it has not
 * set: until then it is answered blindly. */
static bool can_stop(const search *s)
{
    const ec_nlopt_setup *setup = &s->pool->setup;

    return strstr(setup->algorithm->word, "orig_direct") == NULL || s->calls > 4 * setup->n + 4;
}

/* The mutex is held. What NLopt does between two points cannot be interrupted, so only as many searches
 * do it as there are threads: when the time is up, the others stop before theirs. */
static void begin_turn(ec_nlopt_pool *pool)
{
    while (pool->computing >= pool->width && !pool->stopping)
        pthread_cond_wait(&pool->turn, &pool->mutex);
    pool->computing++;
}

static void end_turn(ec_nlopt_pool *pool)
{
    pool->computing--;
    pthread_cond_signal(&pool->turn);
}

/* Lets the caller have the point; true when there is an answer. */
static bool ask(search *s, bool gradient)
{
    ec_nlopt_pool *pool = s->pool;

    pthread_mutex_lock(&pool->mutex);
    s->seen.wants_gradient = gradient;
    if (!pool->stopping) {
        s->seen.state = EC_NLOPT_ASKS;
        end_turn(pool);
        if (--pool->running == 0)
            pthread_cond_signal(&pool->idle);
        while (s->seen.state == EC_NLOPT_ASKS)
            pthread_cond_wait(&s->go, &pool->mutex);
        begin_turn(pool);
    }
    bool stopped = pool->stopping;
    pthread_mutex_unlock(&pool->mutex);
    if (stopped && can_stop(s))
        nlopt_force_stop(s->opt);
    return !stopped;
}

static bool is_point(const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(y[i]))
            return false;
    return true;
}

/* The answer for a point that was not asked about. */
static void answer_blindly(search *s)
{
    size_t n = s->pool->setup.n;

    s->seen.cost = s->worst > -INFINITY ? s->worst : 0;
    memset(s->seen.gradient, 0, sizeof(double) * n);
    memset(s->seen.limit_gradient, 0, sizeof(double) * n * s->pool->limits);
    s->has_gradient = true;
}

/* Has the answer for y at hand, asks when it is another point than the last one. */
static void have(search *s, const double *y, bool gradient)
{
    size_t n = s->pool->setup.n;

    if (s->answered && memcmp(s->at, y, sizeof *y * n) == 0 && (!gradient || s->has_gradient))
        return;
    memcpy(s->at, y, sizeof *y * n);
    s->calls++;
    if (is_point(y, n)) {
        for (size_t i = 0; i < n; i++)
            s->seen.y[i] = fmin(fmax(y[i], 0), 1);
        s->blind = 0;
        if (!ask(s, gradient))
            answer_blindly(s);
        s->worst = fmax(s->worst, s->seen.cost);
    } else {
        answer_blindly(s);
        if (++s->blind >= BLIND_MAX)
            nlopt_force_stop(s->opt);
    }
    s->answered = true;
}

static double objective(unsigned n, const double *y, double *gradient, void *user)
{
    search *s = (search *)user;

    have(s, y, gradient != NULL);
    if (gradient)
        memcpy(gradient, s->seen.gradient, sizeof *gradient * n);
    return s->seen.cost;
}

static void limits(search *s, size_t first, unsigned m, double *result, unsigned n, const double *y,
                   double *gradient)
{
    have(s, y, gradient != NULL);
    memcpy(result, s->seen.limit + first, sizeof *result * m);
    if (gradient)
        memcpy(gradient, s->seen.limit_gradient + first * n, sizeof *gradient * m * n);
}

static void inequalities(unsigned m, double *result, unsigned n, const double *y, double *gradient,
                         void *user)
{
    limits((search *)user, 0, m, result, n, y, gradient);
}

static void equalities(unsigned m, double *result, unsigned n, const double *y, double *gradient,
                       void *user)
{
    search *s = (search *)user;

    limits(s, s->pool->setup.n_inequalities, m, result, n, y, gradient);
}

static void search_release(search *s)
{
    pthread_cond_destroy(&s->go);
    free(s->seen.y);
    free(s->log);
    memset(s, 0, sizeof *s);
}

static void pool_free(ec_nlopt_pool *pool)
{
    for (size_t i = 0; i < pool->slots && pool->searches; i++)
        if (pool->searches[i].pool)
            search_release(&pool->searches[i]);
    free(pool->searches);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->turn);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

static void *run_search(void *user)
{
    search *s = (search *)user;
    ec_nlopt_pool *pool = s->pool;
    double value = 0;

    pthread_mutex_lock(&pool->mutex);
    begin_turn(pool);
    pthread_mutex_unlock(&pool->mutex);
    nlopt_srand(s->seed); /* NLopt's generator belongs to the thread */
    nlopt_result result = nlopt_optimize(s->opt, s->x, &value);
    const char *message = nlopt_get_errmsg(s->opt);
    snprintf(s->seen.message, sizeof s->seen.message, "%s", message ? message : "");
    pthread_mutex_lock(&pool->mutex);
    nlopt_destroy(s->opt);
    s->opt = NULL;
    s->seen.end =
        s->blind >= BLIND_MAX && !pool->stopping ? EC_NLOPT_ROUNDOFF : ec_nlopt_end_of(result);
    s->seen.state = EC_NLOPT_IS_OVER;
    end_turn(pool);
    if (--pool->running == 0)
        pthread_cond_signal(&pool->idle);
    /* The pool is gone for everybody else: the last thread that was left behind frees it. */
    bool last = s->lost && --pool->lost == 0;
    pthread_mutex_unlock(&pool->mutex);
    if (last)
        pool_free(pool);
    return NULL;
}

/* ---- pool ---- */

static int search_create(ec_nlopt_pool *pool, search *s)
{
    size_t n = pool->setup.n, m = pool->limits;
    double *memory = (double *)calloc(4 * n + m + m * n, sizeof *memory);

    if (!memory)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu searches", pool->slots);
    s->pool = pool;
    s->seen.y = memory;
    s->at = memory + n;
    s->x = s->at + n;
    s->seen.gradient = s->x + n;
    s->seen.limit = s->seen.gradient + n;
    s->seen.limit_gradient = s->seen.limit + m;
    pthread_cond_init(&s->go, NULL);
    return EC_OK;
}

int ec_nlopt_pool_create(const ec_nlopt_setup *setup, size_t slots, int threads,
                         ec_nlopt_pool **handle)
{
    ec_nlopt_pool *pool = (ec_nlopt_pool *)calloc(1, sizeof *pool);
    search *searches = (search *)calloc(slots, sizeof *searches);
    pthread_condattr_t clock;
    int status = EC_OK;

    if (!pool || !searches) {
        free(pool);
        free(searches);
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu searches", slots);
    }
    pool->setup = *setup;
    pool->setup.objective = objective;
    pool->setup.inequalities = inequalities;
    pool->setup.equalities = equalities;
    pool->limits = setup->n_inequalities + setup->n_equalities;
    pool->slots = slots;
    pool->searches = searches;
    pool->width = threads > 0 ? (size_t)threads : 1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->idle, &clock);
    pthread_condattr_destroy(&clock);
    pthread_cond_init(&pool->turn, NULL);
    for (size_t i = 0; i < slots && status == EC_OK; i++)
        status = search_create(pool, &searches[i]);
    *handle = pool;
    if (status < 0)
        ec_nlopt_pool_destroy(handle);
    return status;
}

/* The mutex is held. Waits until nothing runs, or for one look's time. */
static bool wait_a_look(ec_nlopt_pool *pool)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (pool->running > 0)
        if (pthread_cond_timedwait(&pool->idle, &pool->mutex, &until) != 0)
            break;
    return pool->running == 0;
}

size_t ec_nlopt_pool_destroy(ec_nlopt_pool **handle)
{
    ec_nlopt_pool *pool = handle ? *handle : NULL;

    if (!pool)
        return 0;
    size_t lost = 0;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->turn);
    for (size_t i = 0; i < pool->slots; i++) {
        search *s = &pool->searches[i];
        if (s->opt && can_stop(s))
            nlopt_force_stop(s->opt);
        if (s->seen.state == EC_NLOPT_ASKS) {
            s->seen.state = EC_NLOPT_RUNS;
            pool->running++;
            pthread_cond_signal(&s->go);
        }
    }
    for (int i = 0; i < grace_looks && !wait_a_look(pool); i++) {
    }
    for (size_t i = 0; i < pool->slots; i++) { /* the thread's last words need the mutex */
        search *s = &pool->searches[i];
        if (s->seen.state != EC_NLOPT_IS_OVER)
            continue;
        pthread_mutex_unlock(&pool->mutex);
        ec_nlopt_pool_clear(pool, i);
        pthread_mutex_lock(&pool->mutex);
    }
    for (size_t i = 0; i < pool->slots; i++) {
        search *s = &pool->searches[i];
        s->lost = s->seen.state == EC_NLOPT_RUNS || s->seen.state == EC_NLOPT_IS_OVER;
        if (s->lost)
            pthread_detach(s->thread);
        lost += s->lost && s->seen.state == EC_NLOPT_RUNS ? 1 : 0;
    }
    pool->lost = lost;
    pthread_mutex_unlock(&pool->mutex);
    /* From here on the last thread that was left behind frees the pool. */
    if (lost == 0)
        pool_free(pool);
    *handle = NULL;
    return lost;
}

ec_nlopt_search *ec_nlopt_pool_search(ec_nlopt_pool *pool, size_t slot)
{
    return &pool->searches[slot].seen;
}

int ec_nlopt_pool_start(ec_nlopt_pool *pool, size_t slot, uint64_t number, const double *start,
                        uint64_t seed)
{
    search *s = &pool->searches[slot];
    pthread_attr_t attributes;
    sigset_t all, old;

    s->opt = ec_nlopt_open(&pool->setup, s);
    if (!s->opt)
        return ec_fail(EC_ERR_MEMORY, "NLopt has no memory for a search");
    memcpy(s->x, start, sizeof *start * pool->setup.n);
    s->seed = (unsigned long)(seed & 0xffffffffu);
    s->answered = s->has_gradient = false;
    s->worst = -INFINITY;
    s->blind = 0;
    s->calls = 0;
    s->words = 0;
    s->seen.number = number;
    s->seen.evaluations = 0;
    s->seen.state = EC_NLOPT_RUNS;
    pthread_mutex_lock(&pool->mutex);
    pool->running++;
    pthread_mutex_unlock(&pool->mutex);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); /* signals belong to the caller's threads */
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int failed = pthread_create(&s->thread, &attributes, run_search, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    if (!failed)
        return EC_OK;
    pthread_mutex_lock(&pool->mutex);
    pool->running--;
    pthread_mutex_unlock(&pool->mutex);
    nlopt_destroy(s->opt);
    s->opt = NULL;
    s->seen.state = EC_NLOPT_IDLE;
    return ec_fail(
        EC_ERR_MEMORY,
        "the system gives no thread for search %zu: %s; a smaller population needs fewer", slot + 1,
        strerror(failed));
}

int ec_nlopt_pool_wait(ec_nlopt_pool *pool, const ec_interrupt *interrupt)
{
    int status = EC_OK;

    pthread_mutex_lock(&pool->mutex);
    while (status == EC_OK && !wait_a_look(pool)) {
        pthread_mutex_unlock(&pool->mutex);
        if (interrupt && interrupt->asked(interrupt->user))
            status = EC_STOPPED;
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

void ec_nlopt_pool_clear(ec_nlopt_pool *pool, size_t slot)
{
    search *s = &pool->searches[slot];

    pthread_join(s->thread, NULL);
    s->seen.state = EC_NLOPT_IDLE;
    s->words = 0;
}

/* ---- answers and their log ---- */

static uint64_t hash_of(const double *y, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

/* Words of an entry: hash of y, whether gradients come, cost, limits; then the gradients. */
static size_t entry_words(const ec_nlopt_pool *pool, bool with_gradient)
{
    size_t n = pool->setup.n, m = pool->limits;

    return 3 + m + (with_gradient ? n + m * n : 0);
}

static int log_answer(ec_nlopt_pool *pool, search *s, bool with_gradient)
{
    size_t n = pool->setup.n, m = pool->limits, words = entry_words(pool, with_gradient);

    if (s->words + words > s->room) {
        size_t room = 2 * s->room + words + 256;
        uint64_t *log = (uint64_t *)realloc(s->log, room * sizeof *log);
        if (!log)
            return ec_fail(EC_ERR_MEMORY, "no memory for the evaluations of a search");
        s->log = log;
        s->room = room;
    }
    uint64_t *entry = s->log + s->words;
    entry[0] = hash_of(s->seen.y, n);
    entry[1] = with_gradient ? 1 : 0;
    memcpy(entry + 2, &s->seen.cost, sizeof(double));
    memcpy(entry + 3, s->seen.limit, sizeof(double) * m);
    if (with_gradient) {
        memcpy(entry + 3 + m, s->seen.gradient, sizeof(double) * n);
        memcpy(entry + 3 + m + n, s->seen.limit_gradient, sizeof(double) * m * n);
    }
    s->words += words;
    return EC_OK;
}

int ec_nlopt_pool_answer(ec_nlopt_pool *pool, size_t slot, bool with_gradient)
{
    search *s = &pool->searches[slot];

    int status = log_answer(pool, s, with_gradient);
    if (status < 0)
        return status;
    s->seen.evaluations++;
    s->has_gradient = with_gradient;
    pthread_mutex_lock(&pool->mutex);
    s->seen.state = EC_NLOPT_RUNS;
    pool->running++;
    pthread_cond_signal(&s->go);
    pthread_mutex_unlock(&pool->mutex);
    return EC_OK;
}

const uint64_t *ec_nlopt_pool_log(const ec_nlopt_pool *pool, size_t slot, size_t *words)
{
    *words = pool->searches[slot].words;
    return pool->searches[slot].log;
}

static int replay_one(ec_nlopt_pool *pool, size_t slot, const uint64_t *entry, size_t words)
{
    search *s = &pool->searches[slot];
    size_t n = pool->setup.n, m = pool->limits;
    bool with_gradient = words > 1 && entry[1];

    int status = ec_nlopt_pool_wait(pool, NULL);
    if (status != EC_OK)
        return status;
    if (words < entry_words(pool, with_gradient) || s->seen.state != EC_NLOPT_ASKS ||
        entry[0] != hash_of(s->seen.y, n) || (s->seen.wants_gradient && !with_gradient))
        return ec_fail(
            EC_ERR_FORMAT,
            "search %llu does not ask what it asked when its evaluation %llu was "
            "stored: another version of NLopt, other settings, or a method that does not repeat",
            (unsigned long long)s->seen.number + 1, (unsigned long long)s->seen.evaluations + 1);
    memcpy(&s->seen.cost, entry + 2, sizeof(double));
    memcpy(s->seen.limit, entry + 3, sizeof(double) * m);
    if (with_gradient) {
        memcpy(s->seen.gradient, entry + 3 + m, sizeof(double) * n);
        memcpy(s->seen.limit_gradient, entry + 3 + m + n, sizeof(double) * m * n);
    }
    return ec_nlopt_pool_answer(pool, slot, with_gradient);
}

int ec_nlopt_pool_replay(ec_nlopt_pool *pool, size_t slot, const uint64_t *log, size_t words)
{
    int status = EC_OK;

    for (size_t at = 0; at < words && status == EC_OK;) {
        size_t step = entry_words(pool, words - at > 1 && log[at + 1]);
        status = replay_one(pool, slot, log + at, words - at);
        at += step;
    }
    return status == EC_OK ? ec_nlopt_pool_wait(pool, NULL) : status;
}
