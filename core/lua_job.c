/* Jobs: their variables and goals. */
#include "lua_job.h"

#include <math.h>
#include <string.h>

#include "lua_expr.h"
#include "lua_mimo.h"
#include "lua_sweep.h"

/* ---- key tables ------------------------------------------------------------------------------ */

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

static const ec_key choice_table[] = {KEY_NAME,
                                      {"from", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,
                                       "a list of numbers to choose from, or how many items there "
                                       "are, or places: the lists x, y, z of "
                                       "ec.grid{ ... } or scene:surface(name):grid(step)",
                                       offsetof(variable_keys, from)},
                                      KEY_COUNT,
                                      {"distinct", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
                                       "no item twice", offsetof(variable_keys, distinct)},
                                      KEY_START,
                                      KEY_GROUP};

const ec_noun ec_noun_choice = {"job:choice", "job:choice{ name = \"h\", from = {0.8, 1.6, 3.2} }",
                                "One of several items. Returns the expression of the chosen "
                                "number, or of the item's index (from 1) "
                                "when from is a count; of places a table of the expressions x, y, "
                                "z. Results and start give indices.",
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

/* ---- job ------------------------------------------------------------------------------------- */

ec_job *ec_lua_job_at(lua_State *L, const char *method)
{
    ec_lua_job *job = luaL_testudata(L, 1, EC_LUA_JOB);
    if (!job || !job->job) /* a finalizer may still hold one that is collected already */
        ec_lua_fail(L, "%s: call it with a colon on a job, as in job%s", method,
                    strchr(method, ':'));
    return job->job;
}

/* The core's memory of a job counts as the script's. */
static void hold(lua_State *L, ec_lua_job *job, size_t bytes)
{
    ec_lua_budget_take(L, bytes);
    job->bytes += bytes;
}

static int job_new(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    job_keys keys;
    ec_lua_keys_parse(L, 1, &ec_noun_job, &keys, NULL);
    if (!keys.name[0])
        ec_lua_fail(L, "ec.job: key 'name': the text is empty");
    ec_lua_check_open(L, "ec.job");
    uint64_t seed = host->settings.seed_given ? host->settings.seed : (uint64_t)keys.seed;
    ec_lua_job *job = lua_newuserdatauv(L, sizeof *job, 0);
    *job = (ec_lua_job){NULL, 0};
    luaL_setmetatable(L, EC_LUA_JOB);
    hold(L, job, strlen(keys.name));
    if (ec_job_create(host->graph, keys.name, seed, &job->job) != EC_OK)
        ec_lua_fail_core(L, "ec.job");
    return 1;
}

static int job_gc(lua_State *L)
{
    ec_lua_job *job = luaL_checkudata(L, 1, EC_LUA_JOB);
    ec_job_destroy(&job->job);
    ec_lua_budget_give(&ec_lua_host_of(L)->budget, job->bytes);
    job->bytes = 0;
    return 0;
}

static int job_tostring(lua_State *L)
{
    lua_pushfstring(L, "job '%s'", ec_job_name(ec_lua_job_at(L, "job:")));
    return 1;
}

/* ---- variables ------------------------------------------------------------------------------- */

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
                       ec_variable_info *info)
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
        if (scalar && nested && list.n != 1)
            ec_lua_fail(L,
                        "%s: design %d has %d values, but the variable is a single number: a list "
                        "of numbers is one design each, as in start = {0.5, 0.6}; a list of "
                        "elements needs count = %d",
                        key, (int)row + 1, (int)list.n, (int)list.n);
        if (!scalar && list.n != n)
            ec_lua_fail(L, "%s: design %d has %d values, the variable has %d", key, (int)row + 1,
                        (int)list.n, (int)n);
        for (int32_t i = 0; i < n; i++)
            to[(size_t)row * (size_t)n + (size_t)i] = scalar && !nested ? list.v[row] : list.v[i];
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
        read_start(L, what, keys->start, n, scalar, info);
    if (!keys->name[0])
        ec_lua_fail(L, "%s: key 'name': the text is empty", what);
    ec_lua_mark_line(L);
    enum { BOUNDS = 4, OVERHEAD = 300 }; /* of genes and values; an entry */
    hold(L, lua_touserdata(L, 1),
         (size_t)n * sizeof(double) * (BOUNDS + (size_t)info->n_start) + OVERHEAD +
             strlen(info->name));
    int number = ec_job_add_variable(job, info);
    if (number < 0)
        ec_lua_fail_core(L, what);
    return number;
}

static int add_bounded(lua_State *L, const ec_noun *noun, ec_variable_kind kind)
{
    ec_job *job = ec_lua_job_at(L, noun->name);
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
    ec_job *job = ec_lua_job_at(L, "job:binary");
    variable_keys keys = {.sum = -1};
    ec_lua_keys_parse(L, 2, &ec_noun_binary, &keys, NULL);
    if (keys.sum > keys.count)
        ec_lua_fail(L, "job:binary: key 'sum': %lld ones are more than count, %lld",
                    (long long)keys.sum, (long long)keys.count);
    ec_variable_info info = {.kind = EC_VARIABLE_BINARY, .sum = (int32_t)keys.sum};
    int number = add_variable(L, job, "job:binary", &info, &keys);
    return ec_lua_expr_push(L, ec_job_variable(job, number)->value);
}

/* The items of a list that a variable's indices name. */
static ec_expr chosen(lua_State *L, ec_expr index, const ec_lua_list *items)
{
    ec_graph *graph = ec_lua_host_of(L)->graph;
    ec_expr list = ec_graph_constant(graph, 1, &items->n, items->v);
    ec_expr place = ec_graph_binary(graph, EC_OP_SUB, index, ec_graph_number(graph, 1));
    return ec_graph_binary(graph, EC_OP_TAKE, list, place);
}

/* The lists x, y and z of places; a single number holds for all. How many places there are. */
static double read_places(lua_State *L, int index, ec_lua_list axis[3])
{
    static const char *const names[] = {"x", "y", "z"};
    static const double zero[1] = {0};
    int32_t n = -1;
    for (int i = 0; i < 3; i++) {
        const char *what = lua_pushfstring(L, "job:choice: key 'from': %s", names[i]);
        lua_getfield(L, index, names[i]);
        axis[i] = (ec_lua_list){.v = zero, .n = 1, .scalar = true};
        if (!lua_isnil(L, -1))
            ec_lua_list_get(L, lua_gettop(L), what, &axis[i]);
        if (!axis[i].scalar && n >= 0 && n != axis[i].n)
            ec_lua_fail(L, "%s has %d numbers, the lists before have %d", what, (int)axis[i].n,
                        (int)n);
        n = axis[i].scalar ? n : axis[i].n;
    }
    return n < 0 ? 1 : n;
}

static int push_places(lua_State *L, ec_expr index, const ec_lua_list axis[3])
{
    static const char *const names[] = {"x", "y", "z"};
    lua_newtable(L);
    for (int i = 0; i < 3; i++) {
        ec_lua_expr_push(L, axis[i].scalar ? ec_graph_number(ec_lua_host_of(L)->graph, axis[i].v[0])
                                           : chosen(L, index, &axis[i]));
        lua_setfield(L, -2, names[i]);
    }
    return 1;
}

static int job_choice(lua_State *L)
{
    ec_job *job = ec_lua_job_at(L, "job:choice");
    variable_keys keys = {.sum = -1};
    ec_lua_keys_parse(L, 2, &ec_noun_choice, &keys, NULL);
    ec_lua_list items = {0}, axis[3];
    bool places = ec_lua_mimo_is_places(L, keys.from);
    if (!places)
        ec_lua_list_get(L, keys.from, "job:choice: key 'from'", &items);
    double n = places ? read_places(L, keys.from, axis) : items.scalar ? items.v[0] : items.n;
    if (!(n >= 1 && n <= 1 << 20 && n == floor(n)))
        ec_lua_fail(L, "job:choice: key 'from': %.14g is no number of items", n);
    if (keys.distinct && keys.count > n)
        ec_lua_fail(L, "job:choice: key 'count': %lld distinct items of %.14g",
                    (long long)keys.count, n);
    ec_variable_info info = {
        .kind = EC_VARIABLE_CHOICE, .sum = -1, .n_from = (int32_t)n, .distinct = keys.distinct};
    int number = add_variable(L, job, "job:choice", &info, &keys);
    ec_expr index = ec_job_variable(job, number)->value;
    if (places)
        return push_places(L, index, axis);
    return ec_lua_expr_push(L, items.scalar ? index : chosen(L, index, &items));
}

static int job_spaced(lua_State *L)
{
    ec_job *job = ec_lua_job_at(L, "job:spaced");
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

/* ---- goals ----------------------------------------------------------------------------------- */

/* (name, expr) of job:minimize and the like. */
static ec_expr goal(lua_State *L, const char *what, const char **name)
{
    lua_settop(L, 4); /* what is missing is nil, whatever is pushed here */
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
    ec_lua_mark_line(L);
    hold(L, lua_touserdata(L, 1), sizeof(ec_constraint) + strlen(*name));
    return expr;
}

static int add_objective(lua_State *L, const char *what, bool maximize)
{
    ec_job *job = ec_lua_job_at(L, what);
    const char *name;
    ec_expr expr = goal(L, what, &name);
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
    ec_job *job = ec_lua_job_at(L, "job:record");
    const char *name;
    ec_expr expr = goal(L, "job:record", &name);
    if (ec_job_add_record(job, name, expr, ec_lua_line(L, NULL, 0)) < 0)
        ec_lua_fail_core(L, "job:record");
    return 0;
}

static int job_subject_to(lua_State *L)
{
    ec_job *job = ec_lua_job_at(L, "job:subject_to");
    const char *name;
    ec_expr expr = goal(L, "job:subject_to", &name);
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
static int job_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    static const char *const names[] = {"real",       "integer",  "binary",   "choice",
                                        "spaced",     "minimize", "maximize", "record",
                                        "subject_to", "solve",    "sweep",    "sensitivity"};
    enum { COUNT = sizeof names / sizeof *names };
    const char *name = luaL_tolstring(L, 2, NULL), *near = ec_lua_nearest(name, names, COUNT);
    if (near)
        ec_lua_fail(L, "a job has no method '%s' (did you mean '%s'?)", name, near);
    ec_lua_fail(L,
                "a job has no method '%s'; it has real, integer, binary, choice, spaced, minimize, "
                "maximize, record, subject_to, solve, sweep, sensitivity",
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
                                       {"solve", ec_lua_job_solve},
                                       {"sweep", ec_lua_job_sweep},
                                       {"sensitivity", ec_lua_job_sensitivity},
                                       {NULL, NULL}};
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
    lua_pushcfunction(L, job_new);
    lua_setfield(L, -2, "job");
}
