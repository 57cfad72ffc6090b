/* Jobs: variables, goals, solve; and the module functions about a run: ec.arg, ec.value, ec.range,
 * ec.over. */
#include "lua_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua_expr.h"

/* ---- key tables ------------------------------------------------------------------------------------- */

typedef struct job_keys {
    const char *name;
    int64_t seed;
} job_keys;

static const ec_key job_table[] = {
    {"name", EC_KEY_STRING, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,
     "name of the run, in all that it writes", offsetof(job_keys, name)},
    {"seed", EC_KEY_INTEGER, 0, 1, 0, 9e15, NULL, NULL,
     "seed of the random numbers; --seed N takes its place", offsetof(job_keys, seed)}};

const ec_noun ec_noun_job = {"ec.job", "ec.job{ name = \"line\", seed = 1 }",
                             "A design problem: variables, objectives, constraints.",
                             EC_KEYS(job_table)};

typedef struct variable_keys {
    const char *name;
    int64_t count, sum;
    ec_lua_list min, max;
    int start, from;
    bool group, distinct, symmetric;
    double aperture, min_gap;
} variable_keys;

#define KEY_NAME                                                                                   \
    {                                                                                              \
        "name", EC_KEY_STRING, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,                             \
            "name in results and files", offsetof(variable_keys, name)                             \
    }
#define KEY_COUNT                                                                                  \
    {                                                                                              \
        "count", EC_KEY_INTEGER, 0, NAN, 1, 1e6, NULL, NULL,                                       \
            "number of elements of a list; without it the variable is a single number",            \
            offsetof(variable_keys, count)                                                         \
    }
#define KEY_START                                                                                  \
    {                                                                                              \
        "start", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,                                             \
            "a design that the first population contains, or a list of such designs",              \
            offsetof(variable_keys, start)                                                         \
    }
#define KEY_GROUP                                                                                  \
    {                                                                                              \
        "group", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,                                              \
            "shared by a group of candidates (job:solve{ groups = ... })",                         \
            offsetof(variable_keys, group)                                                         \
    }

static const ec_key real_table[] = {
    KEY_NAME,
    {"min", EC_KEY_LIST, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, NULL, NULL,
     "lower bound, a number or one for each element", offsetof(variable_keys, min)},
    {"max", EC_KEY_LIST, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, NULL, NULL,
     "upper bound, a number or one for each element", offsetof(variable_keys, max)},
    KEY_COUNT,
    KEY_START,
    KEY_GROUP};

const ec_noun ec_noun_real = {"job:real", "job:real{ name = \"w\", count = 8, min = 0, max = 1 }",
                              "A real variable. Returns its expression.", EC_KEYS(real_table)};
const ec_noun ec_noun_integer = {"job:integer", "job:integer{ name = \"n\", min = 4, max = 12 }",
                                 "A whole number from min to max. Returns its expression.",
                                 EC_KEYS(real_table)};

static const ec_key binary_table[] = {KEY_NAME,
                                      {"count", EC_KEY_INTEGER, EC_KEY_REQUIRED, NAN, 1, 1e6, NULL,
                                       NULL, "number of bits", offsetof(variable_keys, count)},
                                      {"sum", EC_KEY_INTEGER, 0, NAN, 0, 1e6, NULL, NULL,
                                       "number of ones; without it any number",
                                       offsetof(variable_keys, sum)},
                                      KEY_START,
                                      KEY_GROUP};

const ec_noun ec_noun_binary = {"job:binary", "job:binary{ name = \"on\", count = 100, sum = 75 }",
                                "Zeros and ones. Returns their expression.", EC_KEYS(binary_table)};

static const ec_key choice_table[] = {
    KEY_NAME,
    {"from", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,
     "a list of numbers to choose from, or how many items there are",
     offsetof(variable_keys, from)},
    KEY_COUNT,
    {"distinct", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL, "no item twice",
     offsetof(variable_keys, distinct)},
    KEY_START,
    KEY_GROUP};

const ec_noun ec_noun_choice = {"job:choice", "job:choice{ name = \"h\", from = {0.8, 1.6, 3.2} }",
                                "One of several items. Returns the expression of the chosen "
                                "number, or of the item's index (from 1) "
                                "when from is a count. Results and start give indices.",
                                EC_KEYS(choice_table)};

static const ec_key spaced_table[] = {
    KEY_NAME,
    {"count", EC_KEY_INTEGER, EC_KEY_REQUIRED, NAN, 2, 1e6, NULL, NULL, "number of positions",
     offsetof(variable_keys, count)},
    {"aperture", EC_KEY_NUMBER, EC_KEY_REQUIRED | EC_KEY_ABOVE, NAN, 0, INFINITY, "m", NULL,
     "distance from the first to the last position, which are pinned",
     offsetof(variable_keys, aperture)},
    {"min_gap", EC_KEY_NUMBER, 0, 0, 0, INFINITY, "m", NULL, "smallest distance of neighbours",
     offsetof(variable_keys, min_gap)},
    {"symmetric", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL, "the left half mirrors the right one",
     offsetof(variable_keys, symmetric)},
    KEY_START,
    KEY_GROUP};

const ec_noun ec_noun_spaced = {
    "job:spaced", "job:spaced{ name = \"x\", count = 17, aperture = 9.744, min_gap = 0.5 }",
    "Ascending positions centred at 0 with a smallest gap and a fixed aperture, both by "
    "construction. "
    "Returns their expression.",
    EC_KEYS(spaced_table)};

typedef struct limit_keys {
    double min, max, equal, tolerance, scale;
} limit_keys;

static const ec_key limit_table[] = {{"min", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
                                      "lower limit", offsetof(limit_keys, min)},
                                     {"max", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL, NULL,
                                      "upper limit", offsetof(limit_keys, max)},
                                     {"equal", EC_KEY_NUMBER, 0, NAN, -INFINITY, INFINITY, NULL,
                                      NULL, "both limits", offsetof(limit_keys, equal)},
                                     {"tolerance", EC_KEY_NUMBER, 0, 0, 0, INFINITY, NULL, NULL,
                                      "excess that is allowed", offsetof(limit_keys, tolerance)},
                                     {"scale", EC_KEY_NUMBER, EC_KEY_ABOVE, 1, 0, INFINITY, NULL,
                                      NULL, "the excess over a limit is divided by it",
                                      offsetof(limit_keys, scale)}};

const ec_noun ec_noun_subject_to = {"job:subject_to",
                                    "job:subject_to(\"gap\", ec.min_gap(x), { min = 0.5 })",
                                    "A constraint: every element of the expression has to keep the "
                                    "limits. The violation of a design is the "
                                    "sum of the scaled excesses.",
                                    EC_KEYS(limit_table)};

typedef struct solve_keys {
    const char *method;
    int64_t population, groups, evaluations, generations, stagnation, polish_designs, keep, chunk;
    double seconds, target, stagnation_tolerance, spread;
    bool polish;
} solve_keys;

static const ec_key solve_table[] = {
    {"method", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "the search, \"lshade\" when absent; see below", offsetof(solve_keys, method)},
    {"population", EC_KEY_INTEGER, 0, 0, 1, 1e8, NULL, NULL,
     "designs in a generation (default: the method's own)", offsetof(solve_keys, population)},
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
     "stop after so many generations without a better design", offsetof(solve_keys, stagnation)},
    {"stagnation_tolerance", EC_KEY_NUMBER, 0, 0, 0, INFINITY, NULL, NULL,
     "smallest improvement of the objective that counts as one",
     offsetof(solve_keys, stagnation_tolerance)},
    {"spread", EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 0, 1, NULL, NULL,
     "stop when every variable's spread is below this share of its range",
     offsetof(solve_keys, spread)},
    {"polish", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "refine the best designs with gradients afterwards", offsetof(solve_keys, polish)},
    {"polish_designs", EC_KEY_INTEGER, 0, 0, 1, 1000, NULL, NULL, "how many designs are polished",
     offsetof(solve_keys, polish_designs)},
    {"keep", EC_KEY_INTEGER, 0, 0, 1, 1000, NULL, NULL,
     "best designs that are evaluated again at final fidelity (default 16)",
     offsetof(solve_keys, keep)},
    {"chunk", EC_KEY_INTEGER, 0, 0, 1, 1e8, NULL, NULL,
     "designs evaluated at a time (default: what the memory allows); changes no result",
     offsetof(solve_keys, chunk)}};

const ec_noun ec_noun_solve = {"job:solve", "job:solve{ evaluations = 2e5, polish = true }",
                               "Searches for the best design. At least one of evaluations, "
                               "generations, seconds, target, stagnation and "
                               "spread is needed. Returns the result.",
                               EC_KEYS(solve_table)};

/* ---- job ---------------------------------------------------------------------------------------------- */

static ec_job *job_at(lua_State *L, const char *method)
{
    ec_lua_job *job = luaL_testudata(L, 1, EC_LUA_JOB);
    if (!job)
        ec_lua_fail(L, "%s: call it with a colon on a job, as in job%s", method,
                    strchr(method, ':'));
    return job->job;
}

static int job_new(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    job_keys keys;
    ec_lua_keys_parse(L, 1, &ec_noun_job, &keys, NULL);
    if (!keys.name[0])
        ec_lua_fail(L, "ec.job: key 'name': the text is empty");
    uint64_t seed = host->settings.seed_given ? host->settings.seed : (uint64_t)keys.seed;
    ec_lua_job *job = lua_newuserdatauv(L, sizeof *job, 0);
    job->job = NULL;
    luaL_setmetatable(L, EC_LUA_JOB);
    if (ec_job_create(host->graph, keys.name, seed, &job->job) != EC_OK)
        ec_lua_fail_core(L, "ec.job");
    return 1;
}

static int job_gc(lua_State *L)
{
    ec_lua_job *job = luaL_checkudata(L, 1, EC_LUA_JOB);
    ec_job_destroy(&job->job);
    return 0;
}

static int job_tostring(lua_State *L)
{
    lua_pushfstring(L, "job '%s'", ec_job_name(job_at(L, "job:")));
    return 1;
}

/* A node that depends on a variable of another job, or -1. */
static ec_expr foreign_variable(lua_State *L, const ec_job *job, ec_expr expr)
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    int32_t count = ec_graph_count(graph), n = ec_job_variable_count(job);
    bool *own = lua_newuserdatauv(L, (size_t)count, 0),
         *needed = lua_newuserdatauv(L, (size_t)count, 0);
    ec_expr *value = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *value, 0);
    for (int32_t i = 0; i < n; i++)
        value[i] = ec_job_variable(job, i)->value;
    ec_graph_reach(graph, n, value, own);
    ec_graph_reach(graph, 1, &expr, needed);
    ec_expr found = -1;
    for (int32_t i = 0; i < count && found < 0; i++)
        if (needed[i] && !own[i] && ec_graph_node(graph, i)->op == EC_OP_VARIABLE)
            found = i;
    lua_pop(L, 3);
    return found;
}

void ec_lua_job_check(lua_State *L, const ec_job *job, ec_expr expr, const char *what)
{
    ec_expr foreign = foreign_variable(L, job, expr);
    if (foreign < 0)
        return;
    ec_lua_fail(
        L,
        "%s: the expression has a variable of another job (made in line %d); a job can use only "
        "its own",
        what, (int)ec_lua_expr_node(L, foreign)->line);
}

/* ---- variables ------------------------------------------------------------------------------------------ */

/* A number for each of n elements; pushes memory. */
static const double *spread_bound(lua_State *L, const char *what, const char *key,
                                  const ec_lua_list *list, int32_t n)
{
    if (!list->scalar && list->n != n)
        ec_lua_fail(L, "%s: key '%s': %d values for %d element%s", what, key, (int)list->n, (int)n,
                    n == 1 ? "" : "s");
    double *to = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++)
        to[i] = list->scalar ? list->v[0] : list->v[i];
    return to;
}

/* start = 3 | {1, 2, 3} | {{1, 2, 3}, {4, 5, 6}}: rows of n values; pushes memory. */
static void read_start(lua_State *L, const char *what, int index, int32_t n, bool scalar,
                       double shift, ec_variable_info *info)
{
    char key[120];
    snprintf(key, sizeof key, "%s: key 'start'", what);
    bool nested = false;
    if (lua_istable(L, index)) {
        int type = lua_rawgeti(L, index, 1);
        nested = type == LUA_TTABLE || luaL_testudata(L, -1, EC_LUA_VALUES);
        lua_pop(L, 1);
    }
    int32_t rows = nested ? ec_lua_list_length(L, index, key) : 1;
    ec_lua_list list;
    if (!nested) {
        ec_lua_list_get(L, index, key, &list);
        if (scalar)
            rows = list.n; /* one design a number */
    }
    double *to = ec_lua_values_new(L, (int64_t)rows * n);
    for (int32_t row = 0; row < rows; row++) {
        if (nested) {
            lua_rawgeti(L, index, row + 1);
            ec_lua_list_get(L, -1, key, &list);
        }
        if (!scalar && list.n != n)
            ec_lua_fail(L, "%s: design %d has %d values, the variable has %d", key, (int)row + 1,
                        (int)list.n, (int)n);
        for (int32_t i = 0; i < n; i++)
            to[(size_t)row * (size_t)n + (size_t)i] =
                (scalar && !nested ? list.v[row] : list.v[i]) + shift;
        if (nested)
            lua_pop(L, 2);
    }
    info->start = to;
    info->n_start = rows;
}

static int add_variable(lua_State *L, ec_job *job, const char *what, ec_variable_info *info,
                        const variable_keys *keys)
{
    bool scalar = keys->count < 0;
    int32_t n = scalar ? 1 : (int32_t)keys->count;
    info->name = keys->name;
    info->count = scalar ? 0 : n;
    info->group = keys->group;
    info->line = ec_lua_line(L, NULL, 0);
    if (keys->start)
        read_start(L, what, keys->start, n, scalar, info->kind == EC_VARIABLE_CHOICE ? -1 : 0,
                   info);
    if (!keys->name[0])
        ec_lua_fail(L, "%s: key 'name': the text is empty", what);
    ec_lua_mark_line(L);
    int number = ec_job_add_variable(job, info);
    if (number < 0)
        ec_lua_fail_core(L, what);
    return number;
}

static int add_bounded(lua_State *L, const ec_noun *noun, ec_variable_kind kind)
{
    ec_job *job = job_at(L, noun->name);
    variable_keys keys = {.sum = -1};
    ec_lua_keys_parse(L, 2, noun, &keys, NULL);
    int32_t n = keys.count < 0 ? 1 : (int32_t)keys.count;
    ec_variable_info info = {.kind = kind, .sum = -1};
    info.min = spread_bound(L, noun->name, "min", &keys.min, n);
    info.max = spread_bound(L, noun->name, "max", &keys.max, n);
    for (int32_t i = 0; i < n; i++) {
        if (info.min[i] > info.max[i])
            ec_lua_fail(L, "%s: key 'min': %.14g lies above max, %.14g", noun->name, info.min[i],
                        info.max[i]);
        if (kind == EC_VARIABLE_INTEGER &&
            (info.min[i] != floor(info.min[i]) || info.max[i] != floor(info.max[i])))
            ec_lua_fail(L, "%s: keys 'min' and 'max': %.14g and %.14g must be whole numbers",
                        noun->name, info.min[i], info.max[i]);
    }
    int number = add_variable(L, job, noun->name, &info, &keys);
    return ec_lua_expr_push(L, ec_job_variable(job, number)->value);
}

static int job_real(lua_State *L)
{
    return add_bounded(L, &ec_noun_real, EC_VARIABLE_REAL);
}

static int job_integer(lua_State *L)
{
    return add_bounded(L, &ec_noun_integer, EC_VARIABLE_INTEGER);
}

static int job_binary(lua_State *L)
{
    ec_job *job = job_at(L, "job:binary");
    variable_keys keys = {.sum = -1};
    ec_lua_keys_parse(L, 2, &ec_noun_binary, &keys, NULL);
    if (keys.sum > keys.count)
        ec_lua_fail(L, "job:binary: key 'sum': %lld ones are more than count, %lld",
                    (long long)keys.sum, (long long)keys.count);
    ec_variable_info info = {.kind = EC_VARIABLE_BINARY, .sum = (int32_t)keys.sum};
    int number = add_variable(L, job, "job:binary", &info, &keys);
    return ec_lua_expr_push(L, ec_job_variable(job, number)->value);
}

static int job_choice(lua_State *L)
{
    ec_job *job = job_at(L, "job:choice");
    ec_graph *graph = ec_lua_host_of(L)->graph;
    variable_keys keys = {.sum = -1};
    ec_lua_keys_parse(L, 2, &ec_noun_choice, &keys, NULL);
    ec_lua_list items;
    ec_lua_list_get(L, keys.from, "job:choice: key 'from'", &items);
    double n = items.scalar ? items.v[0] : items.n;
    if (!(n >= 1 && n <= 1 << 20 && n == floor(n)))
        ec_lua_fail(L, "job:choice: key 'from': %.14g is no number of items", n);
    if (keys.distinct && keys.count > n)
        ec_lua_fail(L, "job:choice: key 'count': %lld distinct items of %.14g",
                    (long long)keys.count, n);
    ec_variable_info info = {
        .kind = EC_VARIABLE_CHOICE, .sum = -1, .n_from = (int32_t)n, .distinct = keys.distinct};
    int number = add_variable(L, job, "job:choice", &info, &keys);
    ec_expr index = ec_job_variable(job, number)->value;
    if (items.scalar)
        return ec_lua_expr_push(
            L, ec_graph_binary(graph, EC_OP_ADD, index, ec_graph_number(graph, 1)));
    ec_expr list = ec_graph_constant(graph, 1, &items.n, items.v);
    return ec_lua_expr_push(L, ec_graph_binary(graph, EC_OP_TAKE, list, index));
}

static int job_spaced(lua_State *L)
{
    ec_job *job = job_at(L, "job:spaced");
    variable_keys keys = {.sum = -1};
    ec_lua_keys_parse(L, 2, &ec_noun_spaced, &keys, NULL);
    ec_variable_info info = {.kind = EC_VARIABLE_SPACED,
                             .sum = -1,
                             .aperture = keys.aperture,
                             .min_gap = keys.min_gap,
                             .symmetric = keys.symmetric};
    int number = add_variable(L, job, "job:spaced", &info, &keys);
    return ec_lua_expr_push(L, ec_job_variable(job, number)->value);
}

/* ---- goals ------------------------------------------------------------------------------------------------ */

/* (name, expr) of job:minimize and the like. */
static ec_expr goal(lua_State *L, ec_job *job, const char *what, const char **name)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(
            L, "%s: wants a name and an expression, as in %s(\"sll_db\", expr); the name is a %s",
            what, what, luaL_typename(L, 2));
    if (lua_isnoneornil(L, 3))
        ec_lua_fail(L, "%s: the expression of '%s' is missing (nil)", what, lua_tostring(L, 2));
    *name = lua_tostring(L, 2);
    char text[160];
    snprintf(text, sizeof text, "%s: '%s'", what, *name);
    ec_expr expr = ec_lua_expr_get(L, 3, text);
    ec_lua_job_check(L, job, expr, text);
    ec_lua_mark_line(L);
    return expr;
}

static int add_objective(lua_State *L, const char *what, bool maximize)
{
    ec_job *job = job_at(L, what);
    const char *name;
    ec_expr expr = goal(L, job, what, &name);
    if (ec_job_add_objective(job, name, expr, maximize, ec_lua_line(L, NULL, 0)) < 0)
        ec_lua_fail_core(L, what);
    return 0;
}

static int job_minimize(lua_State *L)
{
    return add_objective(L, "job:minimize", false);
}

static int job_maximize(lua_State *L)
{
    return add_objective(L, "job:maximize", true);
}

static int job_record(lua_State *L)
{
    ec_job *job = job_at(L, "job:record");
    const char *name;
    ec_expr expr = goal(L, job, "job:record", &name);
    if (ec_job_add_record(job, name, expr, ec_lua_line(L, NULL, 0)) < 0)
        ec_lua_fail_core(L, "job:record");
    return 0;
}

static int job_subject_to(lua_State *L)
{
    ec_job *job = job_at(L, "job:subject_to");
    const char *name;
    ec_expr expr = goal(L, job, "job:subject_to", &name);
    limit_keys keys;
    ec_lua_keys_parse(L, 4, &ec_noun_subject_to, &keys, NULL);
    if (!isnan(keys.equal) && (!isnan(keys.min) || !isnan(keys.max)))
        ec_lua_fail(
            L,
            "job:subject_to: '%s': 'equal' stands for both limits, 'min' and 'max' cannot be "
            "given beside it",
            name);
    ec_constraint c = {.expr = expr,
                       .min = isnan(keys.min) ? -INFINITY : keys.min,
                       .max = isnan(keys.max) ? INFINITY : keys.max,
                       .tolerance = keys.tolerance,
                       .scale = keys.scale,
                       .line = ec_lua_line(L, NULL, 0)};
    if (!isnan(keys.equal))
        c.min = c.max = keys.equal;
    if (isinf(c.min) && isinf(c.max))
        ec_lua_fail(L, "job:subject_to: '%s': no limit: give min, max or equal", name);
    if (c.min > c.max)
        ec_lua_fail(L, "job:subject_to: '%s': key 'min': %.14g lies above max, %.14g", name, c.min,
                    c.max);
    if (ec_job_add_constraint(job, name, &c) < 0)
        ec_lua_fail_core(L, "job:subject_to");
    return 0;
}

/* ---- solve -------------------------------------------------------------------------------------------------- */

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
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    const ec_optimizer_def *const *all = ec_optimizer_table();
    for (int i = 0; all[i]; i++) {
        luaL_addstring(&b, i ? ", " : "");
        luaL_addstring(&b, all[i]->name);
    }
    luaL_pushresult(&b);
    ec_lua_fail(L, "job:solve: key 'method': unknown method '%s', known are %s",
                name ? name : "lshade", lua_tostring(L, -1));
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
static void make_quick(ec_solve_info *info)
{
    enum { GENERATIONS = 8, EVALUATIONS = 2000 };
    size_t least = 2 * info->population > EVALUATIONS ? 2 * info->population : EVALUATIONS;
    if (info->evaluations > least)
        info->evaluations = least;
    if (info->generations > GENERATIONS)
        info->generations = GENERATIONS;
    if (!info->evaluations && !info->generations)
        info->generations = GENERATIONS;
    if (info->seconds > 2)
        info->seconds = 2;
    info->polish_designs = 1;
}

static void read_solve(lua_State *L, ec_solve_info *info)
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
    ec_lua_keys_parse(L, 2, &ec_noun_solve, &keys, &extra);
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
    info->spread = keys.spread;
    info->polish = keys.polish;
    info->polish_designs = (int32_t)keys.polish_designs;
    info->keep = (int32_t)keys.keep;
    info->chunk = (size_t)keys.chunk;
    if (info->population && info->population < m.def->min_population)
        ec_lua_fail(L,
                    "job:solve: key 'population': %zu is too small, method '%s' needs at least %zu",
                    info->population, m.def->name, m.def->min_population);
    if (host->settings.quick)
        make_quick(info);
    info->interrupt = host->settings.interrupt;
    info->progress = host->settings.events.progress;
    info->progress_user = host->settings.events.user;
    info->log = host->settings.log;
}

static void warn_sets(ec_lua_host *host)
{
    for (int i = 0; !host->warned_sets && i < host->settings.n_sets; i++)
        if (!host->settings.sets[i].asked)
            ec_log_write(host->settings.log, EC_LOG_WARNING,
                         "--set %s: no line before this search asked for it with ec.arg",
                         host->settings.sets[i].name);
    host->warned_sets = true;
}

static int job_solve(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    ec_job *job = job_at(L, "job:solve");
    ec_solve_info info;
    read_solve(L, &info);
    if (ec_job_objective_count(job) == 0)
        ec_lua_fail(L,
                    "job:solve: the job has no objective: call job:minimize or job:maximize first");
    warn_sets(host);
    if (host->settings.check) {
        ec_lua_core_enter(L);
        int status = events->check ? events->check(events->user, job, &info) : EC_OK;
        ec_lua_core_leave(L);
        if (status < 0)
            ec_lua_fail_core(L, "job:solve");
        host->checked = true;
        ec_lua_fail(L, "the check ends here");
    }
    if (*host->settings.interrupt)
        ec_lua_fail(L, "job:solve: interrupted before this search began");
    ec_lua_result *result = ec_lua_result_new(L, 1);
    ec_lua_core_enter(L);
    if (events->solve)
        events->solve(events->user, job, &info);
    int status = ec_solve(job, host->backend, &info, &result->result);
    if (status >= 0 && result->result->stop == EC_STOP_INTERRUPT)
        host->stopped = true;
    if (status >= 0 && !host->budget.expired && events->result) {
        int written = events->result(events->user, job, result->result);
        status = written < 0 ? written : status;
    }
    ec_lua_core_leave(L);
    if (host->budget.expired)
        ec_lua_fail(
            L,
            "job:solve: a function of ec.host ran longer than %g s in one generation: is this an "
            "endless loop? (--trust lifts the limit)",
            host->budget.seconds);
    if (status < 0)
        ec_lua_fail_core(L, "job:solve");
    host->solves++;
    return 1;
}

/* ---- module functions --------------------------------------------------------------------------------------- */

static bool parse_flag(lua_State *L, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0)
        lua_pushboolean(L, 1);
    else if (strcmp(text, "false") == 0 || strcmp(text, "no") == 0 || strcmp(text, "0") == 0)
        lua_pushboolean(L, 0);
    else
        return false;
    return true;
}

/* ec.arg(name, default): the value of --set, of the default's type. */
static int module_arg(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    if (luaL_testudata(L, 1, EC_LUA_EXPR)) {
        const ec_lua_expr *e = lua_touserdata(L, 1);
        ec_lua_mark_line(L);
        return ec_lua_expr_push(L, ec_graph_unary(host->graph, EC_OP_ARG, e->expr));
    }
    if (lua_type(L, 1) != LUA_TSTRING)
        ec_lua_fail(L, "ec.arg: wants a name and a default value, as in ec.arg(\"count\", 32)");
    const char *name = lua_tostring(L, 1), *text = NULL;
    for (int i = 0; i < host->settings.n_sets; i++)
        if (strcmp(host->settings.sets[i].name, name) == 0) {
            host->settings.sets[i].asked = true;
            text = host->settings.sets[i].value;
        }
    int type = lua_type(L, 2);
    if (!text && strcmp(name, "seed") == 0 && host->settings.seed_given) {
        lua_pushinteger(L, (lua_Integer)host->settings.seed);
        return 1;
    }
    if (!text && (type == LUA_TNIL || type == LUA_TNONE))
        ec_lua_fail(L, "ec.arg: '%s' has no default, so it must be given: --set %s=VALUE", name,
                    name);
    if (!text) {
        lua_settop(L, 2);
        return 1;
    }
    if (type == LUA_TNUMBER) {
        if (lua_stringtonumber(L, text) != strlen(text) + 1)
            ec_lua_fail(L, "--set %s=%s: a number is needed, as the default is one", name, text);
    } else if (type == LUA_TBOOLEAN) {
        if (!parse_flag(L, text))
            ec_lua_fail(L, "--set %s=%s: true or false is needed, as the default is one", name,
                        text);
    } else if (type == LUA_TSTRING || type == LUA_TNIL || type == LUA_TNONE) {
        lua_pushstring(L, text);
    } else {
        ec_lua_fail(
            L, "ec.arg: the default of '%s' is a %s; a number, a text, true or false are allowed",
            name, lua_typename(L, type));
    }
    return 1;
}

/* ec.value(expr): of an expression without design variables. */
static int module_value(lua_State *L)
{
    ec_lua_list list;
    ec_expr expr = ec_lua_expr_get(L, 1, "ec.value");
    if (!ec_lua_expr_constant(L, expr, &list))
        ec_lua_fail(
            L, "ec.value: the expression has design variables, so it has no value before a search: "
               "use best:value(expr) after job:solve");
    if (list.scalar)
        lua_pushnumber(L, list.v[0]);
    return 1;
}

/* ec.range(from, to, count): evenly spaced, both ends included. */
static int module_range(lua_State *L)
{
    static const char *const names[] = {"from", "to", "count"};
    double v[3];
    for (int i = 0; i < 3; i++) {
        if (lua_type(L, i + 1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, i + 1)))
            ec_lua_fail(L, "ec.range(from, to, count): %s must be a finite number, got a %s",
                        names[i], luaL_typename(L, i + 1));
        v[i] = lua_tonumber(L, i + 1);
    }
    if (!(v[2] >= 1 && v[2] <= 1 << 28 && v[2] == floor(v[2])))
        ec_lua_fail(L, "ec.range(from, to, count): count %.14g is not a whole number above 0",
                    v[2]);
    int64_t n = (int64_t)v[2];
    double *to = ec_lua_values_new(L, n);
    for (int64_t i = 0; i < n; i++)
        to[i] = n == 1 ? v[0] : v[0] + (v[1] - v[0]) * ((double)i / (double)(n - 1));
    if (n > 1)
        to[n - 1] = v[1];
    return 1;
}

typedef struct over_keys {
    int values;
} over_keys;

static const ec_key over_table[] = {{"values", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,
                                     "a number, or a list of numbers, for each sample",
                                     offsetof(over_keys, values)}};

const ec_noun ec_noun_over = {"ec.over", "ec.over{ values = {0.95, 1, 1.05} }",
                              "A quantity that takes several values for every design: frequencies, "
                              "tolerances, scenarios. What is "
                              "built from it varies over these samples too, until :mean(), :min(), "
                              ":max(), :sum() or :percentile(p) "
                              "reduces it.",
                              EC_KEYS(over_table)};

static int module_over(lua_State *L)
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    bool plain = !lua_istable(L, 1);
    if (!plain) {
        lua_rawgeti(L, 1, 1);
        plain = !lua_isnil(L, -1); /* ec.over{1, 2, 3} */
        lua_pop(L, 1);
    }
    over_keys keys = {.values = 1};
    if (!plain)
        ec_lua_keys_parse(L, 1, &ec_noun_over, &keys, NULL);
    bool nested = false;
    if (lua_istable(L, keys.values)) {
        nested = lua_rawgeti(L, keys.values, 1) != LUA_TNUMBER;
        lua_pop(L, 1);
    }
    ec_lua_mark_line(L);
    if (nested) {
        ec_expr m = ec_lua_expr_get(L, keys.values, "ec.over: key 'values'");
        const ec_node *node = ec_graph_node(graph, m);
        if (node->op != EC_OP_CONSTANT || node->rank != 2)
            ec_lua_fail(
                L, "ec.over: key 'values': wants numbers, or lists of numbers of equal length");
        return ec_lua_expr_push(
            L, ec_graph_samples(graph, node->shape[0], 1, &node->shape[1], node->data));
    }
    ec_lua_list list;
    ec_lua_list_get(L, keys.values, "ec.over: key 'values'", &list);
    return ec_lua_expr_push(L, ec_graph_samples(graph, list.n, 0, NULL, list.v));
}

static int job_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    static const char *const names[] = {"real",     "integer",  "binary", "choice",     "spaced",
                                        "minimize", "maximize", "record", "subject_to", "solve"};
    enum { COUNT = sizeof names / sizeof *names };
    const char *name = luaL_tolstring(L, 2, NULL), *near = ec_lua_nearest(name, names, COUNT);
    if (near)
        ec_lua_fail(L, "a job has no method '%s' (did you mean '%s'?)", name, near);
    ec_lua_fail(L,
                "a job has no method '%s'; it has real, integer, binary, choice, spaced, minimize, "
                "maximize, record, subject_to, solve",
                name);
}

void ec_lua_job_open(lua_State *L)
{
    static const luaL_Reg methods[] = {{"real", job_real},
                                       {"integer", job_integer},
                                       {"binary", job_binary},
                                       {"choice", job_choice},
                                       {"spaced", job_spaced},
                                       {"minimize", job_minimize},
                                       {"maximize", job_maximize},
                                       {"record", job_record},
                                       {"subject_to", job_subject_to},
                                       {"solve", job_solve},
                                       {NULL, NULL}};
    static const luaL_Reg module[] = {{"job", job_new},        {"arg", module_arg},
                                      {"value", module_value}, {"range", module_range},
                                      {"over", module_over},   {NULL, NULL}};
    luaL_newmetatable(L, EC_LUA_JOB);
    lua_pushcfunction(L, job_gc);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, job_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcclosure(L, job_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    luaL_setfuncs(L, module, 0);
    lua_pushboolean(L, ec_lua_host_of(L)->settings.quick);
    lua_setfield(L, -2, "quick");
}
