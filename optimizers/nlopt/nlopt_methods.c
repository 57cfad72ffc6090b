/* nlopt_methods.c: NLopt's algorithms as methods: `population` searches side by side, whose
 * evaluations are the designs of a generation.
 *
 * A generation is what all live searches ask about, in the order of their slots; when one ends, the
 * next start takes its slot. So the designs depend on the seed alone. The gradient is evaluated in
 * the generations in which a search asks for it.
 */
#include "multi_start.h"
#include "nlopt_search.h"

#include "../../core/random.h"
#include "optimizers/method_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEARCHES_LOCAL = 16, /* side by side, unless the script says how many */
    SEARCHES_MAX = 1024,
    STORAGE_DEFAULT = 10, /* pairs of vectors */
    STORAGE_SAFE = 5,  /* with fewer, memory that NLopt has not set could lead it out of bounds */
    FRUITLESS_MAX = 8, /* searches in a row that end without an evaluation */
    PURPOSE_SEED = 0x4d54 /* Philox purpose of NLopt's seeds */
};
/* Kept from inequality limits, in units of their scale: rounding then leaves the best design inside. */
static const double margin = 1e-9;

typedef struct ec_nlopt {
    ec_optimizer base;
    ec_multi_start common;
    const ec_nlopt_algorithm *algorithm;
    ec_nlopt_setup setup;
    ec_nlopt_pool *pool;
    size_t slots;
    bool *live;       /* [slots] a search has the slot */
    uint64_t started; /* searches */
    uint64_t most;    /* searches of the run */
    uint64_t ends[EC_NLOPT_ENDS];
    int fruitless;
    size_t *place;    /* [limits] of the job: where searches have them */
    uint32_t *asking; /* slots of the generation's designs */
    size_t n_asking;
    bool gradient;     /* some of them ask for it */
    double *point;     /* [n] */
    char message[160]; /* NLopt's last sentence about a search that failed */
    const ec_interrupt *interrupt;
    ec_log *log;
} ec_nlopt;

static ec_nlopt *self(ec_optimizer *optimizer)
{
    return (ec_nlopt *)optimizer;
}

static const ec_nlopt *self_const(const ec_optimizer *optimizer)
{
    return (const ec_nlopt *)optimizer;
}

/* ---- options ---- */

#define TOLERANCES                                                                                 \
    {"xtol",                                                                                       \
     EC_OPTION_NUMBER,                                                                             \
     1e-8,                                                                                         \
     0,                                                                                            \
     1,                                                                                            \
     NULL,                                                                                         \
     "a search ends when its step, as a share of the variables' ranges, is smaller"},              \
        {"ftol",                                                                                   \
         EC_OPTION_NUMBER,                                                                         \
         1e-12,                                                                                    \
         0,                                                                                        \
         1,                                                                                        \
         NULL,                                                                                     \
         "a search ends when the cost changes by a smaller share of itself"},                      \
    {                                                                                              \
        "search_evaluations", EC_OPTION_INTEGER, 0, 0, 1e9, NULL,                                  \
            "evaluations of one search, at most (0: no limit)"                                     \
    }
#define RESTARTS                                                                                   \
    {                                                                                              \
        "restarts", EC_OPTION_FLAG, 1, 0, 1, NULL,                                                 \
            "the next start begins when a search ends; false: `population` searches and no more"   \
    }
#define STEP                                                                                       \
    {                                                                                              \
        "step", EC_OPTION_NUMBER, 0, 0, 1, NULL,                                                   \
            "first step as a share of the variables' ranges (0: NLopt's choice)"                   \
    }
#define POINTS                                                                                     \
    {                                                                                              \
        "points", EC_OPTION_INTEGER, 0, 0, 1e6, NULL,                                              \
            "members of a search's own population (0: NLopt's choice)"                             \
    }
#define LOCAL                                                                                      \
    {                                                                                              \
        "inner", EC_OPTION_WORD, 0, 0, 17,                                                         \
            "auto|ld_lbfgs|ld_var1|ld_var2|ld_tnewton|ld_tnewton_restart|ld_tnewton_precond|"      \
            "ld_tnewton_precond_restart|ld_mma|ld_slsqp|ld_ccsaq|ln_praxis|ln_cobyla|ln_newuoa|"   \
            "ln_newuoa_bound|ln_neldermead|ln_sbplx|ln_bobyqa",                                    \
            "the local algorithm inside (auto: L-BFGS with gradients, else BOBYQA; SLSQP or "      \
            "COBYLA where "                                                                        \
            "it gets limits)"                                                                      \
    }
#define STORAGE                                                                                    \
    {                                                                                              \
        "storage", EC_OPTION_INTEGER, STORAGE_DEFAULT, 1, 10000, NULL,                             \
            "pairs of vectors that a search remembers"                                             \
    }

static const ec_option_def options_fixed[] = {TOLERANCES};
static const ec_option_def options_plain[] = {TOLERANCES, RESTARTS};
static const ec_option_def options_storage[] = {TOLERANCES, RESTARTS, STORAGE};
static const ec_option_def options_step[] = {TOLERANCES, RESTARTS, STEP};
static const ec_option_def options_points[] = {TOLERANCES, RESTARTS, POINTS};
static const ec_option_def options_auglag[] = {LOCAL, TOLERANCES, RESTARTS, STEP};
static const ec_option_def options_mlsl[] = {LOCAL, TOLERANCES, RESTARTS, STEP, POINTS};

static const ec_nlopt_algorithm *algorithm_of(const ec_optimizer_def *def)
{
    return ec_nlopt_algorithm_find(def->name + strlen("nlopt_"));
}

/* The word of the option `inner`, or the default where it is auto. */
static const ec_nlopt_algorithm *local_of(const ec_optimizer_def *def, const double *options)
{
    const ec_nlopt_algorithm *algorithm = algorithm_of(def);
    bool gets_limits = strstr(algorithm->word, "_eq") != NULL;
    const char *words = def->options[0].words;
    char word[40];

    for (int skip = options ? (int)options[0] : 0; skip > 0; skip--)
        words += strcspn(words, "|") + 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(words, "|"), words);
    if (strcmp(word, "auto") != 0)
        return ec_nlopt_algorithm_find(word);
    if (algorithm->traits & EC_NLOPT_GRADIENT)
        return ec_nlopt_algorithm_find(gets_limits ? "ld_slsqp" : "ld_lbfgs");
    return ec_nlopt_algorithm_find(gets_limits ? "ln_cobyla" : "ln_bobyqa");
}

static uint32_t needs(const ec_optimizer_def *def, const double *options)
{
    bool meta = algorithm_of(def)->traits & EC_NLOPT_META;
    bool local = meta && local_of(def, options)->traits & EC_NLOPT_GRADIENT;

    return def->flags | (local ? (uint32_t)EC_OPTIMIZER_GRADIENT : 0u);
}

/* ---- create ---- */

/* "nlopt_gn_isres, ..." of the global algorithms that take such limits. */
static void write_takers(uint32_t wanted, char *text, size_t size)
{
    const ec_nlopt_algorithm *a;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; (a = ec_nlopt_algorithm_at(i)) != NULL && used < size; i++)
        if ((a->traits & EC_NLOPT_GLOBAL) && (a->traits & wanted) == wanted)
            used +=
                (size_t)snprintf(text + used, size - used, "%snlopt_%s", used ? ", " : "", a->word);
}

static int check_limits(const ec_optimizer_def *def, const ec_nlopt_setup *s, ec_log *log)
{
    uint32_t wanted = (s->n_inequalities > 0 ? EC_NLOPT_INEQUALITIES : 0u) |
                      (s->n_equalities > 0 ? EC_NLOPT_EQUALITIES : 0u);
    bool leaves = strstr(s->algorithm->word, "auglag_eq") && s->n_inequalities > 0;
    char takers[256];

    if (leaves && !(s->local->traits & EC_NLOPT_INEQUALITIES))
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "method '%s' leaves the inequalities to its local algorithm, and '%s' takes "
                       "none; ld_slsqp, ld_mma, ld_ccsaq and ln_cobyla do",
                       def->name, s->local->word);
    switch (ec_nlopt_way_of(s)) {
    case EC_NLOPT_CANNOT:
        write_takers(wanted, takers, sizeof takers);
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "method '%s' takes no %s; global methods that do: %s, lshade and the other "
                       "methods of Eciton itself",
                       def->name,
                       wanted == EC_NLOPT_EQUALITIES ? "equality constraints"
                                                     : "constraints of this kind",
                       takers);
    case EC_NLOPT_LAGRANGIAN:
    case EC_NLOPT_LAGRANGIAN_EQ:
        ec_log_write(log, EC_LOG_INFO,
                     "%s takes no %s: it runs inside NLopt's augmented Lagrangian", def->name,
                     s->algorithm->traits & EC_NLOPT_INEQUALITIES ? "equality constraints"
                                                                  : "constraints");
        return EC_OK;
    default:
        return EC_OK;
    }
}

static int check_local(const ec_optimizer_def *def, const ec_nlopt_setup *s)
{
    bool gradient = s->algorithm->traits & EC_NLOPT_GRADIENT;
    bool any = s->algorithm->word[1] != 'n' && !gradient; /* auglag, g_mlsl */

    if (any || gradient == ((s->local->traits & EC_NLOPT_GRADIENT) != 0))
        return EC_OK;
    return ec_fail(EC_ERR_ARGUMENT,
                   "method '%s' wants a local algorithm %s gradients, and '%s' is one %s; "
                   "nlopt_auglag and nlopt_g_mlsl take any",
                   def->name, gradient ? "with" : "without", s->local->word,
                   gradient ? "without" : "with");
}

/* Inequalities first, then equalities. */
static int sort_limits(ec_nlopt *o, const ec_optimizer_info *info)
{
    ec_nlopt_setup *s = &o->setup;
    size_t inequality = 0, equality = 0;

    o->place = (size_t *)malloc(sizeof *o->place * (info->n_limits + 1));
    if (!o->place)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu limits", info->n_limits);
    for (size_t k = 0; k < info->n_limits; k++)
        s->n_equalities += info->equal[k] ? 1 : 0;
    s->n_inequalities = info->n_limits - s->n_equalities;
    for (size_t k = 0; k < info->n_limits; k++)
        o->place[k] = info->equal[k] ? s->n_inequalities + equality++ : inequality++;
    return EC_OK;
}

/* 0 where the algorithm has no such option. */
static double option(const ec_optimizer_def *def, const ec_optimizer_info *info, const char *key)
{
    double value = ec_method_option(def, info, key);

    return isnan(value) ? 0 : value;
}

static int configure(ec_nlopt *o, const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    const uint32_t traits = o->algorithm->traits;
    ec_nlopt_setup *s = &o->setup;
    bool one = (traits & EC_NLOPT_STARTLESS) && !(traits & EC_NLOPT_RANDOM);
    bool restarts = !one && option(def, info, "restarts") != 0;

    o->slots = info->population ? info->population : traits & EC_NLOPT_GLOBAL ? 1 : SEARCHES_LOCAL;
    if (o->slots > SEARCHES_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too large for %s; at most %d searches are run side by "
                       "side",
                       o->slots, def->name, (int)SEARCHES_MAX);
    if (one && o->slots > 1) {
        ec_log_write(o->log, EC_LOG_INFO, "%s: searches would all be the same, so one is run",
                     def->name);
        o->slots = 1;
    }
    o->most = restarts ? UINT64_MAX : o->slots;
    s->algorithm = o->algorithm;
    s->xtol = option(def, info, "xtol");
    s->ftol = option(def, info, "ftol");
    s->step = option(def, info, "step");
    s->maxeval = (int)option(def, info, "search_evaluations");
    s->points = (unsigned)option(def, info, "points");
    s->storage = (unsigned)option(def, info, "storage");
    if (s->storage == 0) /* NLopt would take 10 MB a search */
        s->storage = STORAGE_DEFAULT;
    if (traits & EC_NLOPT_UNREPEATABLE && s->storage < STORAGE_SAFE)
        s->storage = STORAGE_SAFE;
    return sort_limits(o, info);
}

/* NLopt's own sizes are products in an int, and most of its algorithms hold tables of the square of
 * the variables; those along gradients with a limited memory do not. */
static int check_sizes(const ec_optimizer_def *def, size_t n, ec_nlopt_setup *s)
{
    static const char *const slim[] = {"lbfgs", "tnewton", "var1", "var2", "mma", "ccsaq"};
    enum { VARIABLES_MAX = 2048, ELEMENTS_MAX = 1 << 28 };
    bool is_slim = false;

    for (size_t i = 0; i < sizeof slim / sizeof *slim; i++)
        is_slim = is_slim || strstr(def->name, slim[i]) != NULL;
    if (n > VARIABLES_MAX && !is_slim)
        return ec_fail(
            EC_ERR_ARGUMENT,
            "method '%s' holds tables of the square of the variables: %zu are too many, at "
            "most %d are allowed; 'lshade', 'lbfgs' and 'nlopt_ld_mma' take more",
            def->name, n, (int)VARIABLES_MAX);
    if ((double)s->points * (double)(n + 1) > ELEMENTS_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "method '%s': points = %u of %zu variables are too many; at most %zu are "
                       "allowed",
                       def->name, s->points, n, (size_t)ELEMENTS_MAX / (n + 1));
    /* DIRECT holds a row for each evaluation it may make */
    double most = ELEMENTS_MAX / (double)(n + 1) / 2;
    if (s->algorithm->traits & EC_NLOPT_STARTLESS && s->maxeval > most)
        s->maxeval = (int)most;
    return EC_OK;
}

static void ec_nlopt_destroy(ec_optimizer **handle);

static int ec_nlopt_create(const ec_optimizer_def *def, ec_backend *backend,
                           const ec_optimizer_info *info, ec_optimizer **optimizer)
{
    ec_nlopt *o = (ec_nlopt *)calloc(1, sizeof *o);

    if (!o)
        return ec_fail(EC_ERR_MEMORY, "no memory for %s", def->name);
    *optimizer = &o->base;
    o->base.def = def;
    o->base.backend = backend;
    o->algorithm = algorithm_of(def);
    o->interrupt = info->interrupt;
    o->log = info->log;
    int status = ec_nlopt_is_built(o->algorithm)
                     ? configure(o, def, info)
                     : ec_fail(EC_ERR_UNSUPPORTED,
                               "method '%s': NLopt was built without it on this system", def->name);
    if (status == EC_OK)
        status = ec_multi_start_create(&o->common, def, backend, info, o->slots);
    if (status == EC_OK) {
        o->setup.n = o->common.n;
        status = check_sizes(def, o->common.n, &o->setup);
    }
    if (status == EC_OK) {
        o->setup.local = o->algorithm->traits & EC_NLOPT_META ? local_of(def, info->options) : NULL;
        status = o->setup.local ? check_local(def, &o->setup) : EC_OK;
    }
    if (status == EC_OK)
        status = check_limits(def, &o->setup, o->log);
    o->live = (bool *)calloc(o->slots + 1, sizeof *o->live);
    o->asking = (uint32_t *)calloc(o->slots + 1, sizeof *o->asking);
    o->point = (double *)calloc(o->common.n + 1, sizeof *o->point);
    if (status == EC_OK && (!o->live || !o->asking || !o->point))
        status = ec_fail(EC_ERR_MEMORY, "no memory for %zu searches", o->slots);
    if (status == EC_OK && o->common.n > 0)
        status =
            ec_nlopt_pool_create(&o->setup, o->slots, ec_host_threads(o->base.backend), &o->pool);
    if (status == EC_OK && needs(def, info->options) & EC_OPTIMIZER_GRADIENT)
        ec_multi_start_say_integers(def, info);
    if (status == EC_OK && def->flags & EC_OPTIMIZER_UNREPEATABLE)
        ec_log_write(o->log, EC_LOG_WARNING,
                     "%s: NLopt reads memory in it that it has not set, so two runs may differ; "
                     "nlopt_ld_tnewton repeats",
                     def->name);
    if (status != EC_OK)
        ec_nlopt_destroy(optimizer);
    return status;
}

static void say_ends(const ec_nlopt *o)
{
    char failed[200];
    const char *texts[EC_NLOPT_ENDS];

    for (int end = 0; end < EC_NLOPT_ENDS; end++)
        texts[end] = ec_nlopt_end_text((ec_nlopt_end)end);
    if (o->message[0]) {
        snprintf(failed, sizeof failed, "%s (%s)", texts[EC_NLOPT_FAILED], o->message);
        texts[EC_NLOPT_FAILED] = failed;
    }
    ec_multi_start_say_ends(&o->common, o->base.def, o->log, "searches", o->started, EC_NLOPT_ENDS,
                            o->ends, texts);
    ec_multi_start_say_slopes(&o->common, o->base.def, o->log);
}

static void ec_nlopt_destroy(ec_optimizer **handle)
{
    ec_nlopt *o = handle && *handle ? self(*handle) : NULL;

    if (!o)
        return;
    say_ends(o);
    size_t lost = ec_nlopt_pool_destroy(&o->pool);
    if (lost > 0)
        ec_log_write(
            o->log, EC_LOG_WARNING,
            "%s: %zu searches did not come back when they were told to stop; their threads "
            "go on until the program ends",
            o->base.def->name, lost);
    ec_multi_start_release(&o->common);
    free(o->live);
    free(o->place);
    free(o->asking);
    free(o->point);
    free(o);
    *handle = NULL;
}

/* ---- a generation ---- */

static int start_search(ec_nlopt *o, ec_nlopt_pool *pool, size_t slot, uint64_t number)
{
    const ec_multi_start *m = &o->common;
    ec_random_stream stream =
        ec_random_make(m->seed, (uint32_t)(number >> 32), PURPOSE_SEED, m->island);
    uint32_t words[4];

    ec_random_words(&stream, 0, (uint32_t)number, words);
    ec_multi_start_point(m, number, o->point);
    return ec_nlopt_pool_start(pool, slot, number, o->point, words[0]);
}

/* Gives idle slots their next search. */
static int start_searches(ec_nlopt *o)
{
    int status = EC_OK;

    for (size_t slot = 0; slot < o->slots && status == EC_OK; slot++) {
        if (o->live[slot] || o->started == o->most)
            continue;
        status = start_search(o, o->pool, slot, o->started);
        if (status == EC_OK) {
            o->live[slot] = true;
            o->started++;
        }
    }
    return status;
}

/* Takes note of searches that are over; *some: there were some. */
static int note_ends(ec_nlopt *o, bool *some)
{
    *some = false;
    for (size_t slot = 0; slot < o->slots; slot++) {
        ec_nlopt_search *s = ec_nlopt_pool_search(o->pool, slot);
        if (!o->live[slot] || s->state != EC_NLOPT_IS_OVER)
            continue;
        *some = true;
        o->ends[s->end]++;
        o->fruitless = s->evaluations > 0 ? 0 : o->fruitless + 1;
        if (s->end == EC_NLOPT_FAILED)
            snprintf(o->message, sizeof o->message, "%s", s->message);
        ec_nlopt_pool_clear(o->pool, slot);
        o->live[slot] = false;
    }
    bool none = o->common.designs.stats.evaluations == 0 && o->fruitless > 0 &&
                (uint64_t)o->fruitless == o->most;
    if (o->fruitless < FRUITLESS_MAX && !none)
        return EC_OK;
    return ec_fail(EC_ERR_UNSUPPORTED,
                   "%s: NLopt ends its searches before their first evaluation%s%s",
                   o->base.def->name, o->message[0] ? ": " : "", o->message);
}

/* All live searches have asked, and every slot that may have a search has one. */
static int rendezvous(ec_nlopt *o)
{
    bool again = true;
    int status = EC_OK;

    while (status == EC_OK && again) {
        status = start_searches(o);
        if (status == EC_OK)
            status = ec_nlopt_pool_wait(o->pool, o->interrupt);
        if (status == EC_OK)
            status = note_ends(o, &again);
    }
    return status;
}

static int ec_nlopt_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG,
                            const int32_t **group_map, size_t *n)
{
    ec_nlopt *o = self(optimizer);

    (void)XG;
    (void)group_map;
    *n = 0;
    o->n_asking = 0;
    o->gradient = false;
    if (o->common.n == 0) { /* every variable is fixed: there is one design */
        *n = o->common.designs.stats.evaluations == 0 ? 1 : 0;
        ec_multi_start_set(&o->common, 0, o->point);
        return *n ? ec_host_population_propose(&o->common.designs, 1, X) : EC_OK;
    }
    int status = rendezvous(o);
    if (status != EC_OK)
        return status;
    for (size_t slot = 0; slot < o->slots; slot++) {
        const ec_nlopt_search *s = ec_nlopt_pool_search(o->pool, slot);
        if (!o->live[slot])
            continue;
        ec_multi_start_set(&o->common, o->n_asking, s->y);
        o->asking[o->n_asking++] = (uint32_t)slot;
        o->gradient = o->gradient || s->wants_gradient;
    }
    *n = o->n_asking;
    return *n ? ec_host_population_propose(&o->common.designs, *n, X) : EC_OK;
}

static bool ec_nlopt_wants_gradient(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->gradient;
}

static void fill_answer(ec_nlopt *o, size_t c, bool gradient, ec_nlopt_search *s)
{
    ec_multi_start *m = &o->common;

    s->cost = ec_multi_start_cost(m, c);
    for (size_t k = 0; k < m->n_limits; k++) {
        size_t at = o->place[k];
        s->limit[at] = ec_multi_start_limit(m, c, k) + (at < o->setup.n_inequalities ? margin : 0);
        if (gradient)
            ec_multi_start_limit_gradient(m, c, k, s->limit_gradient + at * m->n);
    }
    if (gradient)
        ec_multi_start_gradient(m, c, s->gradient);
}

static int ec_nlopt_take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    ec_nlopt *o = self(optimizer);
    bool gradient = scores->cost_gradient != NULL, stopped = false;

    int status = ec_multi_start_fetch(&o->common, scores, n, &stopped);
    for (size_t c = 0; c < n && c < o->n_asking && status == EC_OK && !stopped; c++) {
        ec_nlopt_search *s = ec_nlopt_pool_search(o->pool, o->asking[c]);
        fill_answer(o, c, gradient, s);
        status = ec_nlopt_pool_answer(o->pool, o->asking[c], gradient);
    }
    return status;
}

static size_t ec_nlopt_max_population(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->slots;
}

static int ec_nlopt_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost,
                          double *violation, uint8_t *status, size_t *found)
{
    return ec_multi_start_elite(&self(optimizer)->common, k, X, cost, violation, status, found);
}

static const ec_optimizer_stats *ec_nlopt_stats(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->common.designs.device_stats;
}

static void ec_nlopt_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->common.designs.stop = stop;
}

/* ---- save and load ---- */

/* What a blob holds: this, the common part, then for each live search its head and log. */
typedef struct saved {
    uint64_t slots, started, ends[EC_NLOPT_ENDS], n_live, fruitless;
} saved;

typedef struct saved_search {
    uint64_t slot, number, words;
} saved_search;

static int ec_nlopt_save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    ec_nlopt *o = self(optimizer);
    saved head = {.slots = o->slots, .started = o->started, .fruitless = (uint64_t)o->fruitless};
    size_t size = sizeof head + ec_multi_start_bytes(&o->common), words;

    memcpy(head.ends, o->ends, sizeof head.ends);
    for (size_t slot = 0; slot < o->slots; slot++) {
        if (!o->live[slot])
            continue;
        ec_nlopt_pool_log(o->pool, slot, &words);
        size += sizeof(saved_search) + words * sizeof(uint64_t);
        head.n_live++;
    }
    char *to = (char *)malloc(size);
    if (!to)
        return ec_fail(EC_ERR_MEMORY, "no memory for a checkpoint of %zu bytes", size);
    *blob = to;
    *bytes = size;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    ec_multi_start_write(&o->common, to);
    to += ec_multi_start_bytes(&o->common);
    for (size_t slot = 0; slot < o->slots; slot++) {
        if (!o->live[slot])
            continue;
        const uint64_t *log = ec_nlopt_pool_log(o->pool, slot, &words);
        saved_search search = {slot, ec_nlopt_pool_search(o->pool, slot)->number, words};
        memcpy(to, &search, sizeof search);
        if (words > 0)
            memcpy(to + sizeof search, log, words * sizeof *log);
        to += sizeof search + words * sizeof *log;
    }
    return EC_OK;
}

/* The stored searches run again through their logs. */
static int replay(ec_nlopt *o, ec_nlopt_pool *pool, const saved *head, const char *from,
                  size_t bytes, bool *live)
{
    saved_search search;
    int status = EC_OK;

    for (uint64_t i = 0; i < head->n_live && status == EC_OK; i++) {
        bool whole = bytes >= sizeof search;
        if (whole)
            memcpy(&search, from, sizeof search);
        whole = whole && search.slot < o->slots && !live[search.slot] &&
                search.words <= (bytes - sizeof search) / sizeof(uint64_t);
        if (!whole)
            return ec_fail(EC_ERR_FORMAT, "the stored searches are cut off");
        size_t size = (size_t)search.words * sizeof(uint64_t);
        uint64_t *log = (uint64_t *)malloc(size + 1); /* aligned */
        if (!log)
            return ec_fail(EC_ERR_MEMORY, "no memory for a stored search");
        memcpy(log, from + sizeof search, size);
        status = start_search(o, pool, (size_t)search.slot, search.number);
        live[search.slot] = status == EC_OK;
        if (status == EC_OK)
            status = ec_nlopt_pool_replay(pool, (size_t)search.slot, log, (size_t)search.words);
        free(log);
        from += sizeof search + size;
        bytes -= sizeof search + size;
    }
    return status;
}

static int ec_nlopt_load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_nlopt *o = self(optimizer);
    size_t common = ec_multi_start_bytes(&o->common);
    ec_nlopt_pool *pool = NULL;
    saved head;

    if (bytes < sizeof head + common)
        return ec_fail(EC_ERR_FORMAT, "the stored search is cut off");
    memcpy(&head, blob, sizeof head);
    if (head.slots != o->slots)
        return ec_fail(EC_ERR_FORMAT, "the stored run has %llu searches side by side, this one %zu",
                       (unsigned long long)head.slots, o->slots);
    bool *live = (bool *)calloc(o->slots, sizeof *live);
    int status = live ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for %zu searches", o->slots);
    const char *from = (const char *)blob + sizeof head;
    if (status == EC_OK && o->common.n > 0)
        status = ec_nlopt_pool_create(&o->setup, o->slots, ec_host_threads(o->base.backend), &pool);
    if (status == EC_OK && pool)
        status = replay(o, pool, &head, from + common, bytes - sizeof head - common, live);
    if (status == EC_OK)
        status = ec_multi_start_read(&o->common, from, common);
    if (status != EC_OK) {
        ec_nlopt_pool_destroy(&pool);
        free(live);
        return status;
    }
    ec_nlopt_pool_destroy(&o->pool);
    o->pool = pool;
    free(o->live);
    o->live = live;
    o->started = head.started;
    o->fruitless = (int)head.fruitless;
    memcpy(o->ends, head.ends, sizeof o->ends);
    return EC_OK;
}

/* ---- the methods ---- */

static const ec_optimizer_family family = {
    .name = "nlopt",
    .title = "NLopt methods",
    .help =
        "Every algorithm of NLopt 2.7 (Johnson), by its own name in lower case. `population` "
        "searches run side by side, from the starts of the script and then from random points of "
        "the box, and their evaluations are gathered into batches; the default is 16 for local "
        "methods (`l...`) and 1 for global ones (`g...`). When a search ends the next start takes "
        "its place, until the budget is used. `d` in `ld`, `gd`: along gradients, which every "
        "variable's expressions must have; `n`: without. Global methods take constraints only "
        "where "
        "the table says so; local ones that take none run inside NLopt's augmented Lagrangian. "
        "Variables are searched in units of their ranges. A failed design costs more than the "
        "worst "
        "one so far.",
    .members = "nlopt_... (eciton help nlopt)",
    .without_gradients = "nlopt_ln_..., nlopt_gn_... (eciton help nlopt)",
};

static bool is_built(const ec_optimizer_def *def)
{
    return ec_nlopt_is_built(ec_nlopt_algorithm_find(def->name + strlen("nlopt_")));
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FLAGS(traits)                                                                              \
    (EC_OPTIMIZER_ON_HOST | EC_OPTIMIZER_LIMITS |                                                  \
     ((traits)&EC_NLOPT_GRADIENT ? EC_OPTIMIZER_GRADIENT : 0) |                                    \
     ((traits)&EC_NLOPT_ABSOLUTE ? EC_OPTIMIZER_ABSOLUTE : 0) |                                    \
     ((traits)&EC_NLOPT_UNREPEATABLE ? EC_OPTIMIZER_UNREPEATABLE : 0))
#define METHOD(id, word, table, traits_, text)                                                     \
    const ec_optimizer_def ec_nlopt_##id = {                                                       \
        .name = "nlopt_" word,                                                                     \
        .help = text,                                                                              \
        .options = options_##table,                                                                \
        .n_options = COUNT(options_##table),                                                       \
        .flags = FLAGS(traits_),                                                                   \
        .min_population = 1,                                                                       \
        .family = &family,                                                                         \
        .is_built = (traits_)&EC_NLOPT_OPTIONAL ? is_built : NULL,                                 \
        .needs = needs,                                                                            \
        .create = ec_nlopt_create,                                                                 \
        .destroy = ec_nlopt_destroy,                                                               \
        .max_population = ec_nlopt_max_population,                                                 \
        .propose = ec_nlopt_propose,                                                               \
        .take = ec_nlopt_take,                                                                     \
        .elite = ec_nlopt_elite,                                                                   \
        .stats = ec_nlopt_stats,                                                                   \
        .set_stop_flag = ec_nlopt_set_stop_flag,                                                   \
        .save = ec_nlopt_save,                                                                     \
        .load = ec_nlopt_load,                                                                     \
        .wants_gradient = ec_nlopt_wants_gradient,                                                 \
    };
#define DECLARE(id, word, table, traits, text) extern const ec_optimizer_def ec_nlopt_##id;
EC_NLOPT_LIST(DECLARE)
EC_NLOPT_LIST(METHOD)
