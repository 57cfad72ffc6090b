/* job:sweep: its keys, the plan of its designs, and the run. */
#include "lua_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job_internal.h"
#include "lua_files.h"
#include "lua_job.h"
#include "lua_values.h"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct sweep_keys {
    int points, variables;
    int method, fidelity;
    const char *name;
    double seconds;
    int64_t chunk;
    bool scramble, fresh, report;
} sweep_keys;

enum { GRID, ONE_AT_A_TIME, SOBOL, LHS, HALTON, RANDOM };
#define METHODS "grid|one_at_a_time|sobol|lhs|halton|random"

static const ec_key sweep_table[] = {
    {"points", EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, NULL, NULL,
     "{ width = 17, n = \"all\", x = {0, 0.1, 0.3} }: a grid; a number: so many designs (of a "
     "grid: "
     "values of each variable); a text: the designs of a CSV file",
     offsetof(sweep_keys, points)},
    {"method", EC_KEY_WORD, 0, NAN, 0, 0, NULL, METHODS,
     "default: grid for a table of points, sobol for a number", offsetof(sweep_keys, method)},
    {"variables", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "names of the variables that vary when points is a number (default: all)",
     offsetof(sweep_keys, variables)},
    {"scramble", EC_KEY_FLAG, 0, 1, 0, 0, NULL, NULL,
     "of sobol and halton: randomized by the job's seed; false: the plain sequences",
     offsetof(sweep_keys, scramble)},
    {"fidelity", EC_KEY_WORD, 0, 0, 0, 0, NULL, "final|search",
     "figures as a search reports them, or as it sees them", offsetof(sweep_keys, fidelity)},
    {"seconds", EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 0, INFINITY, "s", NULL,
     "stop after so long; with --out the next run goes on", offsetof(sweep_keys, seconds)},
    {"name", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "of the files in the folder of --out (default: sweep, sweep_2, ...)",
     offsetof(sweep_keys, name)},
    {"fresh", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "drop the rows that are in the table already, instead of taking them",
     offsetof(sweep_keys, fresh)},
    {"chunk", EC_KEY_INTEGER, 0, 0, 1, 1e8, NULL, NULL,
     "designs evaluated at a time (default: what the memory allows); changes no result",
     offsetof(sweep_keys, chunk)},
    {"report", EC_KEY_FLAG, 0, 1, 0, 0, NULL, NULL,
     "false: nothing is printed or written, for scripts with many sweeps",
     offsetof(sweep_keys, report)}};

const ec_noun ec_noun_sweep = {
    "job:sweep", "job:sweep{ points = { width = 17, length = 13 } }",
    "Evaluates a plan of designs, all of them, and returns a table: objectives, constraints and "
    "recorded quantities of each. With --out the rows go into run.db while it runs; run again, "
    "it "
    "takes those that are there and evaluates what lacks. Variables that are not named stay at "
    "their "
    "(first) start, or in the middle of their bounds.",
    EC_KEYS(sweep_table)};

/* ---- the userdata ---------------------------------------------------------------------------- */

ec_lua_sweep *ec_lua_sweep_new(lua_State *L, int job)
{
    job = lua_absindex(L, job);
    ec_lua_sweep *s = lua_newuserdatauv(L, sizeof *s, 2);
    *s = (ec_lua_sweep){.script = ec_lua_host_of(L)->read_hash};
    luaL_setmetatable(L, EC_LUA_SWEEP);
    lua_pushvalue(L, job);
    lua_setiuservalue(L, -2, 1);
    lua_newtable(L);
    lua_setiuservalue(L, -2, 2);
    return s;
}

void ec_lua_sweep_hold(lua_State *L, ec_lua_sweep *s, const ec_job *job, double rows,
                       int32_t varied)
{
    enum { OVERHEAD = 24 }; /* of a row: its place in the index, status */
    double numbers = 2.0 * varied + job->n_objectives + job->n_constraints + 1;
    for (int32_t i = 0; i < job->n_records; i++)
        numbers += ec_graph_node(job->graph, job->records[i].expr)->elements;
    double bytes = rows * (numbers * sizeof(double) + OVERHEAD);
    if (rows > EC_SWEEP_ROWS_MAX)
        return; /* the core has a sentence for that */
    ec_lua_budget_take(L, (size_t)bytes);
    s->bytes += (size_t)bytes;
}

/* ---- names ----------------------------------------------------------------------------------- */

int32_t ec_lua_sweep_variable(const ec_job *job, const char *name, int32_t *element)
{
    *element = -1;
    for (int32_t v = 0; v < job->n_variables; v++)
        if (strcmp(job->variables[v]->variable.name, name) == 0)
            return v;
    const char *bracket = strrchr(name, '[');
    char *end;
    long number =
        bracket && bracket[1] >= '1' && bracket[1] <= '9' ? strtol(bracket + 1, &end, 10) : 0;
    if (number < 1 || number > INT32_MAX || strcmp(end, "]") != 0)
        return -1;
    size_t length = (size_t)(bracket - name);
    for (int32_t v = 0; v < job->n_variables; v++) {
        const char *other = job->variables[v]->variable.name;
        if (strlen(other) == length && strncmp(other, name, length) == 0) {
            *element = (int32_t)number - 1;
            return v;
        }
    }
    return -1;
}

int ec_lua_sweep_no_variable(lua_State *L, const ec_job *job, const char *what, const char *name)
{
    enum { MOST = 200 };
    const char *names[MOST];
    int n = 0;
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int32_t v = 0; v < job->n_variables && n < MOST; v++) {
        names[n] = job->variables[v]->variable.name;
        luaL_addstring(&b, n ? ", " : "");
        luaL_addstring(&b, names[n++]);
    }
    luaL_pushresult(&b);
    const char *near = ec_lua_nearest(name, names, n);
    if (near)
        ec_lua_fail(L, "%s: the job has no variable '%s' (did you mean '%s'?)", what, name, near);
    ec_lua_fail(L, "%s: the job has no variable '%s', it has %s", what, name, lua_tostring(L, -1));
}

const int32_t *ec_lua_sweep_variables(lua_State *L, const ec_job *job, int index, const char *what,
                                      int32_t *n)
{
    *n = 0;
    if (index == 0)
        return NULL;
    if (!lua_istable(L, index))
        ec_lua_fail(L, "%s: wants a list of names, as in { \"width\", \"length\" }, got a %s", what,
                    luaL_typename(L, index));
    *n = ec_lua_list_length(L, index, what);
    int32_t *list = lua_newuserdatauv(L, sizeof *list * ((size_t)*n + 1), 0);
    for (int32_t i = 0; i < *n; i++) {
        int32_t element;
        lua_rawgeti(L, index, i + 1);
        const char *name = luaL_tolstring(L, -1, NULL);
        list[i] = ec_lua_sweep_variable(job, name, &element);
        if (list[i] < 0)
            ec_lua_sweep_no_variable(L, job, what, name);
        if (element >= 0)
            ec_lua_fail(L, "%s: '%s': a variable varies with all its elements here", what, name);
        lua_pop(L, 2);
    }
    if (*n == 0)
        ec_lua_fail(L, "%s: the list is empty", what);
    return list;
}

/* ---- points of a grid ------------------------------------------------------------------------ */

/* --quick: so many values of an axis, and designs, are enough to see the script run. */
enum { QUICK_VALUES = 3, QUICK_DESIGNS = 32 };

typedef struct axis_list {
    ec_sweep_axis *axes;
    int32_t n;
} axis_list;

/* Evenly spaced, both ends included; a single one in the middle. Whole numbers are rounded. */
static const double *spread_values(lua_State *L, const char *what, const ec_job_entry *entry,
                                   int32_t element, int32_t n)
{
    bool real = entry->variable.kind == EC_VARIABLE_REAL;
    double lo = entry->value_min[element], hi = entry->value_max[element];
    if (!real && n > hi - lo + 1)
        ec_lua_fail(L, "%s: %d values of '%s', but it has only %.14g, from %.14g to %.14g", what,
                    (int)n, entry->variable.name, hi - lo + 1, lo, hi);
    if (real && n > 1 && lo == hi)
        ec_lua_fail(L, "%s: %d values of '%s', but its bounds are equal, %.14g", what, (int)n,
                    entry->variable.name, lo);
    double *to = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++) {
        to[i] = n == 1 ? lo + (hi - lo) / 2 : i == n - 1 ? hi : lo + (hi - lo) * i / (n - 1);
        if (!real)
            to[i] = floor(to[i] + 0.5);
    }
    return to;
}

/* The first, the last and one between. */
static int32_t make_quick(double *values, int32_t n, int32_t width)
{
    if (n <= QUICK_VALUES)
        return n;
    for (int32_t i = 0; i < QUICK_VALUES; i++)
        memmove(values + (size_t)i * (size_t)width,
                values + (size_t)(i * (n - 1) / (QUICK_VALUES - 1)) * (size_t)width,
                sizeof *values * (size_t)width);
    return QUICK_VALUES;
}

static bool is_all(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TSTRING && strcmp(lua_tostring(L, index), "all") == 0;
}

/* The values at index as a list that is pushed; a number or "all" says how many. */
static ec_sweep_axis read_values(lua_State *L, const char *what, const ec_job_entry *entry,
                                 int32_t variable, int32_t element, int index)
{
    bool quick = ec_lua_host_of(L)->settings.quick;
    bool scalar = entry->variable.count == 0;
    int32_t at = element < 0 ? 0 : element;
    ec_sweep_axis axis = {.variable = variable, .element = scalar ? -1 : element};
    if (is_all(L, index)) {
        if (entry->variable.kind == EC_VARIABLE_REAL)
            ec_lua_fail(L, "%s: \"all\" values of '%s': it is a real variable, say how many", what,
                        entry->variable.name);
        axis.n = (int32_t)fmin(entry->value_max[at] - entry->value_min[at] + 1, EC_SWEEP_ROWS_MAX);
        axis.values = spread_values(L, what, entry, at, axis.n);
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        double n = lua_tonumber(L, index);
        if (!(n >= 1 && n <= EC_SWEEP_ROWS_MAX && n == floor(n)))
            ec_lua_fail(L, "%s: %.14g values of '%s': a whole number from 1 to %d is needed", what,
                        n, entry->variable.name, (int)EC_SWEEP_ROWS_MAX);
        axis.n = quick && n > QUICK_VALUES ? QUICK_VALUES : (int32_t)n;
        axis.values = spread_values(L, what, entry, at, axis.n);
    } else {
        ec_lua_list list;
        char text[300];
        snprintf(text, sizeof text, "%s: '%s'", what, entry->variable.name);
        ec_lua_list_get(L, index, text, &list);
        if (list.n < 1)
            ec_lua_fail(L, "%s: the list is empty", text);
        axis.n = list.n;
        axis.values = list.v;
    }
    if (quick && axis.n > QUICK_VALUES) {
        double *copy = ec_lua_values_new(L, axis.n);
        memcpy(copy, axis.values, sizeof *copy * (size_t)axis.n);
        axis.n = make_quick(copy, axis.n, 1);
        axis.values = copy;
    }
    return axis;
}

/* {{...}, {...}}: whole designs of a list variable. */
static ec_sweep_axis read_designs(lua_State *L, const char *what, const ec_job_entry *entry,
                                  int32_t variable, int index)
{
    char text[300];
    snprintf(text, sizeof text, "%s: '%s'", what, entry->variable.name);
    int32_t n = ec_lua_list_length(L, index, text), width = entry->variable.count;
    double *to = ec_lua_values_new(L, (int64_t)n * width);
    for (int32_t i = 0; i < n; i++) {
        ec_lua_list list;
        lua_rawgeti(L, index, i + 1);
        ec_lua_list_get(L, -1, text, &list);
        if (list.n != width)
            ec_lua_fail(L, "%s: design %d has %d values, the variable has %d", text, (int)i + 1,
                        (int)list.n, (int)width);
        memcpy(to + (size_t)i * (size_t)width, list.v, sizeof *to * (size_t)width);
        lua_pop(L, 2);
    }
    if (ec_lua_host_of(L)->settings.quick)
        n = make_quick(to, n, width);
    return (ec_sweep_axis){.variable = variable, .element = -1, .n = n, .values = to};
}

/* Every selection of different items, each in ascending order: 1 2 3, 1 2 4, ... */
static ec_sweep_axis all_selections(lua_State *L, const char *what, const ec_job_entry *entry,
                                    int32_t variable)
{
    int32_t k = entry->variable.count, items = entry->n_from;
    double rows = 1;
    for (int32_t i = 0; i < k; i++)
        rows = rows * (items - i) / (i + 1);
    if (rows > EC_SWEEP_ROWS_MAX)
        ec_lua_fail(L,
                    "%s: '%s': there are %.6g selections of %d from %d items, allowed are %d; give "
                    "a number of points with method \"sobol\", \"lhs\", \"halton\" or \"random\"",
                    what, entry->variable.name, rows, (int)k, (int)items, (int)EC_SWEEP_ROWS_MAX);
    int32_t n = (int32_t)(rows + 0.5);
    double *to = ec_lua_values_new(L, (int64_t)n * k);
    for (int32_t i = 0; i < k; i++)
        to[i] = entry->value_min[0] + i;
    for (int32_t row = 1; row < n; row++) {
        double *next = to + (size_t)row * (size_t)k;
        memcpy(next, next - k, (size_t)k * sizeof *to);
        int32_t last = k - 1; /* the last element that has a larger item left */
        while (next[last] == entry->value_max[0] - (k - 1 - last))
            last--;
        next[last]++;
        for (int32_t i = last + 1; i < k; i++)
            next[i] = next[i - 1] + 1;
    }
    if (ec_lua_host_of(L)->settings.quick)
        n = make_quick(to, n, k);
    return (ec_sweep_axis){.variable = variable, .element = -1, .n = n, .values = to};
}

static bool is_nested(lua_State *L, int index)
{
    if (!lua_istable(L, index))
        return false;
    int type = lua_rawgeti(L, index, 1);
    bool nested = type == LUA_TTABLE || luaL_testudata(L, -1, EC_LUA_VALUES);
    lua_pop(L, 1);
    return nested;
}

/* Adds the axes of one entry of `points`; the values stay on the stack. */
static void add_axes(lua_State *L, const ec_job *job, const char *what, int32_t variable,
                     int32_t element, int index, axis_list *list)
{
    const ec_job_entry *entry = job->variables[variable];
    int32_t count = entry->variable.count;
    bool whole = entry->variable.kind == EC_VARIABLE_SPACED || entry->distinct || entry->sum >= 0;
    luaL_checkstack(L, 4, "too many variables");
    if (element >= count && element >= 0)
        ec_lua_fail(L, "%s: '%s[%d]': %s", what, entry->variable.name, (int)element + 1,
                    count == 0 ? "the variable is a single number" : "the variable is shorter");
    if (count > 0 && element < 0 && is_nested(L, index)) {
        list->axes[list->n++] = read_designs(L, what, entry, variable, index);
        return;
    }
    if (entry->distinct && element < 0 && is_all(L, index)) {
        list->axes[list->n++] = all_selections(L, what, entry, variable);
        return;
    }
    if (whole)
        ec_lua_fail(
            L,
            "%s: '%s': its elements depend on each other; give whole designs, { {...}, {...} "
            "}%s, or a number of points with method \"sobol\", \"lhs\", \"halton\" or "
            "\"random\"",
            what, entry->variable.name,
            entry->distinct ? ", \"all\", every selection of different items," : "");
    if (count == 0 || element >= 0) {
        list->axes[list->n++] = read_values(L, what, entry, variable, element, index);
        return;
    }
    for (int32_t e = 0; e < count; e++) {
        luaL_checkstack(L, 4, "too many variables");
        list->axes[list->n++] = read_values(L, what, entry, variable, e, index);
    }
}

/* Most axes that the job can have. */
static axis_list new_axes(lua_State *L, const ec_job *job)
{
    size_t most = 1;
    for (int32_t v = 0; v < job->n_variables; v++)
        most += 2 * (size_t)job->variables[v]->variable.count + 1; /* as a whole and one by one */
    return (axis_list){lua_newuserdatauv(L, most * sizeof(ec_sweep_axis), 0), 0};
}

/* { width = 17, ["x[2]"] = {1, 2} } in the order of the job's variables. */
static axis_list read_table(lua_State *L, const ec_job *job, const char *what, int index)
{
    axis_list list = new_axes(L, job);
    int32_t entries = 0, element;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            ec_lua_fail(L,
                        "%s: wants a table by name, as in { width = 17, length = 13 }, a number or "
                        "the name of a file",
                        what);
        const char *name = lua_tostring(L, -2);
        if (ec_lua_sweep_variable(job, name, &element) < 0)
            ec_lua_sweep_no_variable(L, job, what, name);
        entries++;
    }
    if (entries == 0)
        ec_lua_fail(L, "%s: no variable is named", what);
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        char name[300];
        for (int32_t e = -1; e < variable->count; e++) {
            if (e < 0)
                snprintf(name, sizeof name, "%s", variable->name);
            else
                snprintf(name, sizeof name, "%.200s[%d]", variable->name, (int)e + 1);
            lua_pushstring(L, name);
            if (lua_rawget(L, index) == LUA_TNIL) {
                lua_pop(L, 1);
                continue;
            }
            if (e >= 0 && list.n > 0 && list.axes[list.n - 1].variable == v &&
                list.axes[list.n - 1].element < 0)
                ec_lua_fail(L, "%s: '%s' is given twice", what, name);
            add_axes(L, job, what, v, e, lua_gettop(L), &list);
            entries--;
        }
    }
    /* what is left over is an element that the variable does not have */
    for (lua_pushnil(L); entries > 0 && lua_next(L, index); lua_pop(L, 1)) {
        const char *name = lua_tostring(L, -2);
        int32_t v = ec_lua_sweep_variable(job, name, &element);
        if (element >= job->variables[v]->variable.count)
            add_axes(L, job, what, v, element, lua_gettop(L), &list);
    }
    return list;
}

/* The same number of values of every variable, or of those that are named. */
static axis_list read_number(lua_State *L, const ec_job *job, const char *what, int index,
                             const int32_t *variables, int32_t n_variables)
{
    axis_list list = new_axes(L, job);
    for (int32_t v = 0; v < job->n_variables; v++) {
        bool named = !variables;
        for (int32_t i = 0; i < n_variables && variables; i++)
            named = named || variables[i] == v;
        if (named)
            add_axes(L, job, what, v, -1, index, &list);
    }
    return list;
}

static int32_t varied_genes(const ec_job *job, const axis_list *list)
{
    int32_t n = 0;
    for (int32_t i = 0; i < list->n; i++)
        n += list->axes[i].element < 0 ? job->variables[list->axes[i].variable]->variable.n_genes
                                       : 1;
    return n;
}

/* A quick grid of many axes still has many designs: the last axes lose their values first. */
static void make_grid_quick(axis_list *list)
{
    double designs = 1;
    for (int32_t i = 0; i < list->n; i++)
        designs *= list->axes[i].n;
    for (int32_t i = list->n - 1; i >= 0 && designs > QUICK_DESIGNS; i--) {
        designs /= list->axes[i].n;
        list->axes[i].n = 1;
    }
}

static int plan_axes(lua_State *L, const ec_job *job, axis_list *list, bool one_at_a_time,
                     ec_lua_sweep *s)
{
    if (ec_lua_host_of(L)->settings.quick && !one_at_a_time)
        make_grid_quick(list);
    double rows = 1;
    for (int32_t i = 0; i < list->n; i++)
        rows = one_at_a_time ? rows + list->axes[i].n : rows * list->axes[i].n;
    ec_lua_sweep_hold(L, s, job, rows, varied_genes(job, list));
    return one_at_a_time ? ec_sweep_one_at_a_time(job, list->n, list->axes, &s->plan)
                         : ec_sweep_grid(job, list->n, list->axes, &s->plan);
}

/* ---- samples and files ----------------------------------------------------------------------- */

static int plan_sample(lua_State *L, const ec_job *job, const char *what, const sweep_keys *keys,
                       const int32_t *variables, int32_t n_variables, ec_lua_sweep *s)
{
    static const ec_sampling methods[] = {
        [SOBOL] = EC_SAMPLING_SOBOL,
        [LHS] = EC_SAMPLING_LHS,
        [HALTON] = EC_SAMPLING_HALTON,
        [RANDOM] = EC_SAMPLING_RANDOM,
    };
    double n = lua_tonumber(L, keys->points);
    if (!(n >= 1 && n <= EC_SWEEP_ROWS_MAX && n == floor(n)))
        ec_lua_fail(L, "%s: %.14g designs: a whole number from 1 to %d is needed", what, n,
                    (int)EC_SWEEP_ROWS_MAX);
    if (ec_lua_host_of(L)->settings.quick && n > QUICK_DESIGNS)
        n = QUICK_DESIGNS;
    int32_t varied = 0;
    for (int32_t v = 0; v < job->n_variables; v++)
        varied += job->variables[v]->variable.n_genes;
    ec_lua_sweep_hold(L, s, job, n, varied);
    ec_sampling_info info = {.method = methods[keys->method],
                             .n = (size_t)n,
                             .seed = ec_job_seed(job),
                             .plain = !keys->scramble};
    return ec_sweep_sample(job, &info, n_variables, variables, &s->plan);
}

/* Whether a column holds a result of this job, as in a table that a sweep has written. */
static bool is_result(const ec_job *job, const char *name)
{
    char text[200];
    const char *colon = strchr(name, ':');
    snprintf(text, sizeof text, "%s", colon ? colon + 1 : name);
    char *bracket = strrchr(text, '[');
    if (bracket)
        *bracket = 0;
    bool found = strcmp(text, "violation") == 0 || strcmp(text, "status") == 0;
    for (int32_t i = 0; i < job->n_objectives; i++)
        found = found || strcmp(job->objectives[i].name, text) == 0;
    for (int32_t i = 0; i < job->n_constraints; i++)
        found = found || strcmp(job->constraints[i].name, text) == 0;
    for (int32_t i = 0; i < job->n_records; i++)
        found = found || strcmp(job->records[i].name, text) == 0;
    return found;
}

static int plan_file(lua_State *L, const ec_job *job, const char *what, const char *file,
                     ec_lua_sweep *s)
{
    ec_lua_csv csv;
    if (ec_lua_files_csv(L, file, &csv) != EC_OK)
        ec_lua_fail_core(L, what);
    int names = lua_gettop(L);
    if (lua_rawlen(L, names) == 0)
        ec_lua_fail(L, "%s: the first row of %s must have the names of its columns", what, file);
    axis_list list = new_axes(L, job);
    for (int32_t c = 0; c < csv.columns; c++) {
        int32_t element;
        lua_rawgeti(L, names, c + 1);
        const char *name = lua_tostring(L, -1);
        int32_t v = ec_lua_sweep_variable(job, name, &element);
        if (v < 0 && !is_result(job, name))
            ec_lua_sweep_no_variable(L, job, what, name);
        for (int32_t k = 0; k < list.n && v >= 0; k++)
            if (list.axes[k].variable == v && list.axes[k].element == element)
                ec_lua_fail(L, "%s: %s has two columns '%s'", what, file, name);
        if (v >= 0)
            list.axes[list.n++] =
                (ec_sweep_axis){.variable = v,
                                .element = element,
                                .n = csv.rows,
                                .values = csv.data + (size_t)c * (size_t)csv.rows};
        lua_pop(L, 1);
    }
    if (list.n == 0)
        ec_lua_fail(L, "%s: no column of %s is a variable of the job", what, file);
    for (int32_t i = 0; i < list.n; i++)
        if (ec_lua_host_of(L)->settings.quick && list.axes[i].n > QUICK_DESIGNS)
            list.axes[i].n = QUICK_DESIGNS;
    ec_lua_sweep_hold(L, s, job, csv.rows, varied_genes(job, &list));
    return ec_sweep_list(job, list.n, list.axes, &s->plan);
}

static void make_plan(lua_State *L, const ec_job *job, sweep_keys *keys, ec_lua_sweep *s)
{
    const char *what = "job:sweep: key 'points'";
    int type = lua_type(L, keys->points), status;
    int32_t n_variables;
    const int32_t *variables =
        ec_lua_sweep_variables(L, job, keys->variables, "job:sweep: key 'variables'", &n_variables);
    if (type != LUA_TNUMBER && variables)
        ec_lua_fail(L,
                    "job:sweep: key 'variables' goes with a number of points; a table names them");
    if (type == LUA_TSTRING) {
        if (keys->method >= 0)
            ec_lua_fail(L, "job:sweep: key 'method': the designs are those of the file");
        status = plan_file(L, job, what, lua_tostring(L, keys->points), s);
    } else if (type == LUA_TTABLE) {
        if (keys->method > ONE_AT_A_TIME)
            ec_lua_fail(L,
                        "job:sweep: key 'method': this method wants a number of points; variables "
                        "that vary go into key 'variables'");
        axis_list list = read_table(L, job, what, keys->points);
        status = plan_axes(L, job, &list, keys->method == ONE_AT_A_TIME, s);
    } else if (type == LUA_TNUMBER) {
        if (keys->method < 0)
            keys->method = SOBOL;
        if (keys->method <= ONE_AT_A_TIME) {
            axis_list list = read_number(L, job, what, keys->points, variables, n_variables);
            status = plan_axes(L, job, &list, keys->method == ONE_AT_A_TIME, s);
        } else {
            status = plan_sample(L, job, what, keys, variables, n_variables, s);
        }
    } else {
        ec_lua_fail(L, "%s: wants a table, a number or the name of a file, got a %s", what,
                    luaL_typename(L, keys->points));
    }
    if (status < 0)
        ec_lua_fail_core(L, "job:sweep");
}

/* ---- the run --------------------------------------------------------------------------------- */

void ec_lua_sweep_table(lua_State *L, ec_lua_sweep *s, bool report, const char *given,
                        const char *stem, bool fresh, char *name, size_t size)
{
    ec_lua_host *host = ec_lua_host_of(L);
    name[0] = 0;
    if (!report)
        return;
    int *count = strcmp(stem, "sweep") == 0 ? &host->sweeps : &host->sensitivities;
    ++*count;
    if (given)
        snprintf(name, size, "%s", given);
    else
        snprintf(name, size, *count > 1 ? "%s_%d" : "%s", stem, *count);
    if (!host->settings.store)
        return;
    ec_sweep_table_info info = {.store = host->settings.store,
                                .folder = host->out_dir,
                                .name = given ? given : name,
                                .script = s->script,
                                .share = host->settings.share,
                                .fresh = fresh && !host->settings.resume, /* dropped before */
                                .log = host->settings.log};
    char what[60];
    snprintf(what, sizeof what, "job:%s: key 'name'", stem);
    if (ec_sweep_table_create(&info, &s->table) < 0)
        ec_lua_fail_core(L, what);
}

void ec_lua_sweep_check(lua_State *L, const ec_lua_sweep *s, ec_job *job, const char *what,
                        ec_sweep_info *info)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    if (!host->settings.check)
        return;
    info->plan = s->plan;
    info->interrupt = host->settings.interrupt;
    lua_State *caller = ec_lua_core_enter(L);
    int status = events->sweep_check ? events->sweep_check(events->user, job, info) : EC_OK;
    ec_lua_core_leave(L, caller);
    host->ended_by_signal = status < 0 && *host->settings.interrupt;
    if (status < 0)
        ec_lua_fail_core(L, what);
    host->checked = true;
    ec_lua_fail(L, "the check ends here");
}

void ec_lua_sweep_run(lua_State *L, ec_lua_sweep *s, ec_job *job, const char *what, bool report,
                      ec_sweep_info *info)
{
    enum { DEEPEST = 4 };
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    if (host->in_core >= DEEPEST)
        ec_lua_fail(L, "%s: functions of ec.host that search or sweep are nested deeper than %d",
                    what, DEEPEST);
    info->plan = s->plan;
    info->interrupt = host->settings.interrupt;
    info->store = s->table ? ec_sweep_table_store(s->table) : NULL;
    info->log = report ? host->settings.log : NULL;
    info->progress = report ? events->sweep_progress : NULL;
    info->progress_user = events->user;
    if (*host->settings.interrupt) {
        host->ended_by_signal = true;
        ec_lua_fail(L, "%s: interrupted before it began", what);
    }
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    if (events->sweep && report)
        events->sweep(events->user, job, info);
    int status = ec_sweep_run(job, host->backend, info, &s->sweep);
    char error[1024];
    snprintf(error, sizeof error, "%s", ec_error_text());
    int closed = ec_sweep_table_destroy(&s->table);
    if (closed < 0 && status >= 0) {
        status = closed;
        snprintf(error, sizeof error, "%s", ec_error_text());
    }
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    ec_lua_core_leave(L, caller);
    if (s->sweep) {
        host->solves++;
        host->stopped = host->stopped || s->sweep->stop == EC_STOP_INTERRUPT;
    }
    if (status < 0) {
        host->ended_by_signal = !s->sweep && *host->settings.interrupt;
        ec_fail(status, "%s", error);
        ec_lua_fail_core(L, what);
    }
}

int ec_lua_job_sweep(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    lua_settop(L, 2);
    ec_job *job = ec_lua_job_at(L, "job:sweep");
    ec_lua_check_open(L, "job:sweep");
    sweep_keys keys;
    ec_lua_keys_parse(L, 2, &ec_noun_sweep, &keys, NULL);
    ec_lua_sweep *s = ec_lua_sweep_new(L, 1);
    int place = lua_gettop(L);
    make_plan(L, job, &keys, s);
    ec_lua_check_sets(L);
    ec_sweep_info info = {.fidelity = keys.fidelity == 0 ? EC_FINAL : EC_SEARCH,
                          .seconds = keys.seconds,
                          .chunk = (size_t)keys.chunk};
    ec_lua_sweep_check(L, s, job, "job:sweep", &info);
    char name[220];
    ec_lua_sweep_table(L, s, keys.report, keys.name, "sweep", keys.fresh, name, sizeof name);
    ec_lua_sweep_run(L, s, job, "job:sweep", keys.report, &info);
    if (events->sweep_result && keys.report) {
        lua_State *caller = ec_lua_core_enter(L);
        int status = events->sweep_result(events->user, s->sweep, s->plan, name);
        ec_lua_core_leave(L, caller);
        if (status < 0)
            ec_lua_fail_core(L, "job:sweep");
    }
    lua_pushvalue(L, place);
    return 1;
}
