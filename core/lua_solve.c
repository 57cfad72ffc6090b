/* job:solve: its keys, the method's options, and the search itself. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_files.h"
#include "lua_host.h"
#include "lua_job.h"
#include "lua_values.h"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct solve_keys {
    const char *method, *start;
    int64_t population, groups, evaluations, generations, stagnation, polish_designs,
        polish_evaluations, final_designs, chunk;
    double seconds, target, stagnation_tolerance, spread, polish_seconds;
    double failure_value;
    int on_failure, keep;
    ec_lua_list reference;
    bool polish, report;
} solve_keys;

static const ec_key solve_table[] = {
    {"method", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "the search, \"lshade\" when absent; see below", offsetof(solve_keys, method)},
    {"population", EC_KEY_INTEGER, 0, 0, 1, 1e8, NULL, NULL,
     "designs in a generation, of each island or colony (default: the method's own)",
     offsetof(solve_keys, population)},
    {"start", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "CSV file of designs to begin with, below the script's folder or --data: a row each, columns "
     "x of a number and x[1], x[2], ... of a list; a best.csv and what best:save writes too",
     offsetof(solve_keys, start)},
    {"groups", EC_KEY_INTEGER, 0, 0, 1, 1e6, NULL, NULL,
     "groups of candidates for variables with group = true", offsetof(solve_keys, groups)},
    {"evaluations", EC_KEY_INTEGER, 0, 0, 1, 9e15, NULL, NULL, "stop after so many designs",
     offsetof(solve_keys, evaluations)},
    {"generations", EC_KEY_INTEGER, 0, 0, 1, 4e9, NULL, NULL, "stop after so many generations",
     offsetof(solve_keys, generations)},
    {"seconds", EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 0, INFINITY, "s", NULL, "stop after so long",
     offsetof(solve_keys, seconds)},
    {"target", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
     "stop when the objective is this good, confirmed at final fidelity",
     offsetof(solve_keys, target)},
    {"stagnation", EC_KEY_INTEGER, 0, 0, 1, 4e9, NULL, NULL,
     "stop after so many generations without a better design (several objectives: without a larger "
     "hypervolume)",
     offsetof(solve_keys, stagnation)},
    {"stagnation_tolerance", EC_KEY_NUMBER, 0, 0, 0, INFINITY, NULL, NULL,
     "smallest improvement of the objective that counts as one",
     offsetof(solve_keys, stagnation_tolerance)},
    {"reference", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
     "several objectives: the corner of the hypervolume, a number for each (default: the worst "
     "values in the first generation and a tenth of their range)",
     offsetof(solve_keys, reference)},
    {"spread", EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 0, 1, NULL, NULL,
     "stop when every variable's spread is below this share of its range",
     offsetof(solve_keys, spread)},
    {"polish", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "refine the best designs afterwards: real variables along slopes, the others by local "
     "search",
     offsetof(solve_keys, polish)},
    {"polish_designs", EC_KEY_INTEGER, 0, 0, 1, EC_POLISH_DESIGNS_MAX, NULL, NULL,
     "how many designs are polished (default 8)", offsetof(solve_keys, polish_designs)},
    {"polish_evaluations", EC_KEY_INTEGER, 0, 0, 1, INT32_MAX, NULL, NULL,
     "evaluations of each polished design, at most (default: 1500 along gradients, and those of "
     "300 "
     "slopes by differences; a local search gets half as many as the search used, for all designs "
     "together)",
     offsetof(solve_keys, polish_evaluations)},
    {"polish_seconds", EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 0, INFINITY, "s", NULL,
     "wall time of the polish, at most (default: as long as the search took, or 10 s when that is "
     "longer); a polish that it ends may fall short of the optimum and differ from run to run",
     offsetof(solve_keys, polish_seconds)},
    {"final_designs", EC_KEY_INTEGER, 0, 0, 1, 1000, NULL, NULL,
     "best designs that are evaluated again at final fidelity (default 16, of ec.fdtd without "
     "final "
     "1; several objectives: the whole front)",
     offsetof(solve_keys, final_designs)},
    {"keep", EC_KEY_WORD, 0, EC_KEEP_BEST, 0, 0, NULL, "best|elite|all",
     "designs in the run store of --out besides the winner (or front) and a sample of those that "
     "failed: the best whenever it gets better, what comes into the best final_designs, or all",
     offsetof(solve_keys, keep)},
    {"on_failure", EC_KEY_WORD, 0, EC_FAILURE_WORST, 0, 0, NULL, "worst|retry|value|stop",
     "a design that fails: ranks behind all others, is evaluated once more (for models that fail "
     "by chance), counts as one of the objective failure_value, or ends the run; value is of the "
     "search only: at final fidelity a design that fails ranks last",
     offsetof(solve_keys, on_failure)},
    {"failure_value", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
     "objective of a design that fails, with on_failure = \"value\"",
     offsetof(solve_keys, failure_value)},
    {"chunk", EC_KEY_INTEGER, 0, 0, 1, 1e8, NULL, NULL,
     "designs evaluated at a time (default: what the memory allows); changes no result",
     offsetof(solve_keys, chunk)},
    {"report", EC_KEY_FLAG, 0, 1, 0, 0, NULL, NULL,
     "false: nothing is printed or written of a search that finds a design, for scripts with many "
     "searches",
     offsetof(solve_keys, report)}};

const ec_noun ec_noun_solve = {"job:solve", "job:solve{ evaluations = 2e5, polish = true }",
                               "Searches for the best design. At least one of evaluations, "
                               "generations, seconds, target, stagnation and "
                               "spread is needed. Returns the result.",
                               EC_KEYS(solve_table)};

/* ---- the method's options -------------------------------------------------------------------- */

typedef struct method_options {
    const ec_optimizer_def *def;
    double *values;
} method_options;

static const ec_optimizer_def *find_method(lua_State *L, int index)
{
    const char *name = NULL;
    if (lua_istable(L, index)) {
        lua_pushliteral(L, "method");
        if (lua_rawget(L, index) == LUA_TSTRING)
            name = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    const ec_optimizer_def *def = ec_optimizer_find(name ? name : "lshade");
    if (def)
        return def;
    enum { MOST = 256 };
    const char *names[MOST];
    char known[512];
    int n = 0;
    for (; ec_optimizer_table()[n] && n < MOST; n++)
        names[n] = ec_optimizer_table()[n]->name;
    const char *near = ec_lua_nearest(name, names, n);
    ec_optimizer_names(0, 0, known, sizeof known);
    ec_lua_fail(L, "job:solve: key 'method': unknown method '%s'%s%s%s, known are %s", name,
                near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", known);
}

static int word_index(const char *words, const char *word)
{
    for (int i = 0; words && *words; i++) {
        size_t n = strcspn(words, "|");
        if (strlen(word) == n && strncmp(words, word, n) == 0)
            return i;
        words += n + (words[n] == '|');
    }
    return -1;
}

/* A key of the method's own table. */
static bool take_option(lua_State *L, void *user, const char *key)
{
    method_options *m = user;
    size_t i = 0;
    while (i < m->def->n_options && strcmp(m->def->options[i].key, key) != 0)
        i++;
    if (i == m->def->n_options)
        return false;
    const ec_option_def *o = &m->def->options[i];
    if (o->kind == EC_OPTION_FLAG) {
        if (!lua_isboolean(L, -1))
            ec_lua_fail(L, "job:solve: key '%s': wants true or false, got a %s", key,
                        luaL_typename(L, -1));
        m->values[i] = lua_toboolean(L, -1);
        return true;
    }
    if (o->kind == EC_OPTION_WORD) {
        int word = lua_type(L, -1) == LUA_TSTRING ? word_index(o->words, lua_tostring(L, -1)) : -1;
        if (word < 0)
            ec_lua_fail(L, "job:solve: key '%s': wants one of the words %s, got %s", key, o->words,
                        luaL_tolstring(L, -1, NULL));
        m->values[i] = word;
        return true;
    }
    if (lua_type(L, -1) != LUA_TNUMBER)
        ec_lua_fail(L, "job:solve: key '%s': wants a number, got a %s", key, luaL_typename(L, -1));
    double value = lua_tonumber(L, -1);
    if (!(value >= o->min && value <= o->max))
        ec_lua_fail(L, "job:solve: key '%s': %.14g is not allowed, it must be from %.14g to %.14g",
                    key, value, o->min, o->max);
    if (o->kind == EC_OPTION_INTEGER && value != floor(value))
        ec_lua_fail(L, "job:solve: key '%s': %.14g is not a whole number", key, value);
    m->values[i] = value;
    return true;
}

/* --quick: enough to see that the script runs to its end. */
static void make_quick(ec_solve_info *info, size_t least_population, bool grouped)
{
    enum { GENERATIONS = 8, EVALUATIONS = 500, POPULATION = 32, POLISH_EVALUATIONS = 40 };
    if (least_population < POPULATION)
        least_population = POPULATION;
    if (!grouped && (!info->population || info->population > least_population))
        info->population = least_population;
    size_t least = 2 * info->population > EVALUATIONS ? 2 * info->population : EVALUATIONS;
    if (info->evaluations > least)
        info->evaluations = least;
    if (info->generations > GENERATIONS)
        info->generations = GENERATIONS;
    if (!info->evaluations && !info->generations)
        info->generations = GENERATIONS;
    if (info->seconds > 2)
        info->seconds = 2;
    info->polish_designs = info->polish ? 1 : 0;
    info->polish_evaluations = info->polish ? POLISH_EVALUATIONS : 0;
}

/* Designs of the file; pushes memory. */
static void read_start(lua_State *L, const char *name, ec_log *log, ec_solve_info *info)
{
    char real[PATH_MAX];
    const ec_job *job = ec_lua_job_at(L, "job:solve");
    const char *text = NULL;
    if (ec_lua_files_resolve(L, name, real, sizeof real) == EC_OK)
        text = ec_lua_files_text(L, real, name);
    if (!text || ec_job_read_designs(job, text, name, NULL, NULL, &info->n_start) != EC_OK)
        ec_lua_fail_core(L, "job:solve: key 'start'");
    double *genes = ec_lua_values_new(L, (int64_t)info->n_start * (ec_job_gene_count(job) + 1));
    if (ec_job_read_designs(job, text, name, log, genes, &info->n_start) != EC_OK)
        ec_lua_fail_core(L, "job:solve: key 'start'");
    info->start = genes;
}

/* Fills info; returns whether the search is reported. */
static bool read_solve(lua_State *L, ec_solve_info *info)
{
    enum { MOST_OPTIONS = 64 };
    ec_lua_host *host = ec_lua_host_of(L);
    solve_keys keys;
    method_options m = {.def = find_method(L, 2)};
    size_t n = m.def->n_options;
    const char *names[MOST_OPTIONS];
    m.values = ec_lua_values_new(L, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        m.values[i] = m.def->options[i].initial;
        if (i < MOST_OPTIONS)
            names[i] = m.def->options[i].key;
    }
    ec_key_extra extra = {take_option, &m, names, (int)(n < MOST_OPTIONS ? n : MOST_OPTIONS)};
    uint64_t given = ec_lua_keys_parse(L, 2, &ec_noun_solve, &keys, &extra);
    if (!keys.polish && ec_lua_keys_given(&ec_noun_solve, given, "polish")) {
        keys.polish_designs = keys.polish_evaluations = 0; /* turned off: they wait for it */
        keys.polish_seconds = 0;
    }
    ec_solve_info_default(info);
    info->method = m.def->name;
    info->options = m.values;
    info->population = (size_t)keys.population;
    info->groups = (size_t)keys.groups;
    info->evaluations = (size_t)keys.evaluations;
    info->generations = (size_t)keys.generations;
    info->seconds = keys.seconds;
    info->target = keys.target;
    info->stagnation = (uint32_t)keys.stagnation;
    info->stagnation_tolerance = keys.stagnation_tolerance;
    info->reference = keys.reference.v;
    info->n_reference = keys.reference.n;
    info->spread = keys.spread;
    info->polish = keys.polish;
    info->polish_designs = (int32_t)keys.polish_designs;
    info->polish_evaluations = (int32_t)keys.polish_evaluations;
    info->polish_seconds = keys.polish_seconds;
    info->keep = (int32_t)keys.final_designs;
    info->kept_designs = (ec_kept_designs)keys.keep;
    info->chunk = (size_t)keys.chunk;
    info->on_failure = (ec_failure_policy)keys.on_failure;
    if ((keys.on_failure == EC_FAILURE_VALUE) == isnan(keys.failure_value))
        ec_lua_fail(L,
                    isnan(keys.failure_value)
                        ? "job:solve: key 'failure_value' is missing: on_failure = \"value\" needs "
                          "the objective that a failed design gets"
                        : "job:solve: key 'failure_value' is for on_failure = \"value\" only");
    info->failure_value = keys.on_failure == EC_FAILURE_VALUE ? keys.failure_value : 0;
    if (keys.start)
        read_start(L, keys.start, keys.report ? host->settings.log : NULL, info);
    if (info->population && info->population < m.def->min_population)
        ec_lua_fail(L,
                    "job:solve: key 'population': %zu is too small, method '%s' needs at least %zu",
                    info->population, m.def->name, m.def->min_population);
    if (host->settings.quick)
        make_quick(info, m.def->min_population,
                   ec_job_group_gene_count(ec_lua_job_at(L, "job:solve")) > 0);
    info->interrupt = host->settings.interrupt;
    if (keys.report) {
        info->progress = host->settings.events.progress;
        info->progress_user = host->settings.events.user;
        info->log = host->settings.log;
    }
    return keys.report;
}

/* Searches of the script itself, in its order, are kept in the run store. One inside a function of
 * ec.host, or one that is not reported, is short: it is done again. */
static void set_store(ec_lua_host *host, bool report, ec_solve_info *info)
{
    const ec_lua_settings *s = &host->settings;
    if (!s->store || host->in_core > 0 || !report)
        return;
    info->store = s->store;
    info->store_number = ++host->stored;
    info->checkpoint_seconds = s->checkpoint_seconds;
    info->resume = s->resume;
    info->force = s->force;
    info->identity = host->read_hash;
}

void ec_lua_check_sets(lua_State *L)
{
    const ec_lua_host *host = ec_lua_host_of(L);
    for (int i = 0; i < host->settings.n_sets; i++)
        if (!host->settings.sets[i].asked)
            ec_lua_fail(L,
                        "--set %s=%s: no line before this search asked for it with ec.arg(\"%s\", "
                        "...); arguments are read before the first search",
                        host->settings.sets[i].name, host->settings.sets[i].value,
                        host->settings.sets[i].name);
}

int ec_lua_job_solve(lua_State *L)
{
    enum { DEEPEST = 4 };
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    lua_settop(L, 2); /* a missing table is nil, whatever is pushed here */
    ec_job *job = ec_lua_job_at(L, "job:solve");
    ec_lua_check_open(L, "job:solve");
    if (host->in_core >= DEEPEST)
        ec_lua_fail(L,
                    "job:solve: a search in a function of ec.host, nested deeper than %d: does the "
                    "function search with itself?",
                    DEEPEST);
    ec_solve_info info;
    bool report = read_solve(L, &info);
    if (ec_job_objective_count(job) == 0)
        ec_lua_fail(L,
                    "job:solve: the job has no objective: call job:minimize or job:maximize first");
    ec_lua_check_sets(L);
    if (host->settings.check) {
        lua_State *caller = ec_lua_core_enter(L);
        int status = events->check ? events->check(events->user, job, &info) : EC_OK;
        ec_lua_core_leave(L, caller);
        host->ended_by_signal = status < 0 && *host->settings.interrupt;
        if (status < 0)
            ec_lua_fail_core(L, "job:solve");
        host->checked = true;
        ec_lua_fail(L, "the check ends here");
    }
    if (*host->settings.interrupt) {
        host->ended_by_signal = true;
        ec_lua_fail(L, "job:solve: interrupted before this search began");
    }
    ec_lua_result *result = ec_lua_result_new(L, 1);
    double begun = ec_lua_budget_clock(&host->budget);
    set_store(host, report, &info);
    lua_State *caller = ec_lua_core_enter(L);
    int status = events->solve && report ? events->solve(events->user, job, &info) : EC_OK;
    if (status == EC_OK)
        status = ec_solve(job, host->backend, &info, &result->result);
    char error[1024];
    snprintf(error, sizeof error, "%s", ec_error_text());
    if (result->result) {
        host->solves++;
        host->stopped = host->stopped || result->result->stop == EC_STOP_INTERRUPT;
        const ec_result *r = result->result;
        bool told = report || !r->found || r->status || r->stop == EC_STOP_INTERRUPT;
        int written =
            events->result && told ? events->result(events->user, job, result->result) : EC_OK;
        if (written < 0 && status >= 0) {
            status = written;
            snprintf(error, sizeof error, "%s", ec_error_text());
        }
    }
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    ec_lua_core_leave(L, caller);
    if (status < 0) {
        ec_fail(status, "%s", error);
        ec_lua_fail_core(L, "job:solve");
    }
    ec_lua_result_hold(L, result);
    return 1;
}
