#include "lua_mimo_save.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/mimo/mimo_design.h"
#include "lua_expr.h"
#include "lua_files.h"
#include "lua_mimo.h"

typedef struct save_keys {
    int what, values;
    int64_t strongest;
    double floor_db;
} save_keys;

#define ROW(key, kind, flags, initial, min, max, unit, words, help, field)                         \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, words, help, offsetof(save_keys, field)         \
    }

static const ec_key save_table[] = {
    ROW("what", EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|channel|paths|coverage|antennas",
        "channel: H, .npy (complex, four axes [frequency][receiver][rx][tx]) or .csv; paths: .csv, "
        "a "
        "row a path, .vtk, lines, or .ply, the scene and edges; coverage: path gain, and with a "
        "link budget received power and capacity, over the receivers, NAME.csv and a map of each "
        "by gnuplot; antennas: where they are and point to, .csv; auto: paths for .vtk and .ply, "
        "else channel",
        what),
    ROW("strongest", EC_KEY_INTEGER, 0, NAN, 1, 1e6, NULL, NULL,
        "of paths, so many of each pair of antennas; default all", strongest),
    ROW("floor_db", EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "dB", NULL,
        "of paths, those at most so far below the strongest of their pair; default all", floor_db),
    ROW("values", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "of coverage, more to show: a table of names and expressions of the receivers (of "
        "more axes, as [frequency][receiver][rx][tx], the mean is shown); endings _db, _dbm and "
        "_bit_s_hz are "
        "units",
        values)};
#undef ROW

const ec_noun ec_noun_mimo_save = {
    "link:save", "best:save(\"paths.vtk\", link, { strongest = 10 }), link:save(\"h.npy\")",
    "Files of a link at the best design, into the folder of --out; link:save(file, { ... }) writes "
    "those of a link without design variables. With --out DIR the links of a job's goals are "
    "written "
    "by themselves: antennas.csv, channel.npy and .csv, paths.csv and .vtk (the 20 strongest of "
    "each pair, down "
    "to "
    "60 dB below the first), scene.vtk, and coverage.csv of several receivers, with maps.",
    EC_KEYS(save_table)};

enum { WHAT_AUTO, WHAT_CHANNEL, WHAT_PATHS, WHAT_COVERAGE, WHAT_ANTENNAS, VALUES_MAX = 29 };

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

/* What is written by the name of the file; an error where they do not fit. */
static int what_of(lua_State *L, const char *call, const char *file, int what)
{
    static const struct {
        const char *name;
        const char *ending[3];
    } kinds[] = {{"auto", {".npy", ".csv", ".vtk"}},
                 {"channel", {".npy", ".csv", ".csv"}},
                 {"paths", {".csv", ".vtk", ".ply"}},
                 {"coverage", {".csv", ".csv", ".csv"}},
                 {"antennas", {".csv", ".csv", ".csv"}}};
    if (what == WHAT_AUTO)
        what = ends_in(file, ".vtk") || ends_in(file, ".ply") ? WHAT_PATHS : WHAT_CHANNEL;
    for (int i = 0; i < 3; i++)
        if (ends_in(file, kinds[what].ending[i]))
            return what;
    ec_lua_fail(L, "%s: '%s': %s is written as %s", call, file, kinds[what].name,
                what == WHAT_CHANNEL ? ".npy or .csv, and paths as .csv, .vtk or .ply"
                : what == WHAT_PATHS ? ".csv, .vtk or .ply"
                                     : ".csv");
}

static int by_name(const void *left, const void *right)
{
    const ec_mimo_map_column *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* The table of names and expressions at index, sorted by name; the names stay on the stack. */
static int32_t read_values(lua_State *L, const char *call, int index, ec_mimo_map_column *column)
{
    int32_t n = 0;
    if (!index)
        return 0;
    if (!lua_istable(L, index))
        ec_lua_fail(L, "%s: key 'values': wants a table as { outage = expr }, got a %s", call,
                    luaL_typename(L, index));
    index = ec_lua_table_copy(L, index);
    int top = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            ec_lua_fail(L, "%s: key 'values': a value has no name; give { outage = expr }", call);
        if (n == VALUES_MAX)
            ec_lua_fail(L, "%s: key 'values': at most %d are shown", call, VALUES_MAX);
        const char *name = lua_tostring(L, -2); /* the table's own */
        const char *what = lua_pushfstring(L, "%s: key 'values': '%s'", call, name);
        column[n].name = name;
        column[n++].value = ec_lua_expr_get(L, top + 2, what);
        lua_settop(L, top + 1);
    }
    qsort(column, (size_t)n, sizeof *column, by_name);
    return n;
}

/* What is to be written, in plain terms. */
typedef struct order {
    int what;
    char path[PATH_MAX];
    ec_mimo_path_limits limits;
    int32_t n_values;
    ec_mimo_map_column value[VALUES_MAX];
    const char *title;
} order;

static int write_map(const order *o, const ec_mimo_design *design, ec_log *log)
{
    char folder[PATH_MAX], name[PATH_MAX];
    const char *slash = strrchr(o->path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - o->path) : 1,
             slash ? o->path : ".");
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : o->path);
    name[strlen(name) - strlen(".csv")] = 0;
    return ec_mimo_design_map(design, o->title, o->n_values, o->value, folder, name, log);
}

static int write_paths(const order *o, const ec_mimo_design *design)
{
    ec_mimo_paths *paths = NULL;
    int status = ec_mimo_design_paths(design, &o->limits, &paths);
    if (status == EC_OK)
        status = ec_mimo_paths_write(paths, o->path);
    ec_mimo_paths_destroy(&paths);
    return status;
}

static int write(const order *o, const ec_mimo_winner *winner, ec_log *log)
{
    ec_mimo_design *design = NULL;
    int status = ec_mimo_design_create(winner, &design);
    if (status < 0)
        return status;
    const char *slash = strrchr(o->path, '/'), *file = slash ? slash + 1 : o->path;
    if (o->what == WHAT_PATHS)
        status = write_paths(o, design);
    else if (o->what == WHAT_COVERAGE)
        status = write_map(o, design, log);
    else if (o->what == WHAT_ANTENNAS)
        status = ec_mimo_design_write_antennas(design, 1, o->path);
    else
        status = ec_mimo_design_write_channel(design, o->path);
    if (status == EC_OK && o->what == WHAT_CHANNEL)
        ec_log_write(log, EC_LOG_INFO,
                     "%s: [frequency][receiver][rx][tx] = %d x %d x %d x %d, complex128", file,
                     (int)design->n_frequencies, (int)design->receivers, (int)design->n_rx,
                     (int)design->n_tx);
    if (status == EC_OK && design->samples > 1)
        ec_log_write(log, EC_LOG_INFO, "%s: that of the first of %d samples (ec.over)", file,
                     (int)design->samples);
    ec_mimo_design_destroy(&design);
    return status;
}

/* The file's name, the link and the keys are at three indices from `file` on. */
static int save(lua_State *L, const char *call, int file, ec_call *link, int keys,
                const ec_job *job, const ec_result *result)
{
    ec_lua_host *host = ec_lua_host_of(L);
    order *o = lua_newuserdatauv(L, sizeof *o, 0);
    save_keys k;
    ec_noun noun = ec_noun_mimo_save;
    memset(o, 0, sizeof *o);
    noun.name = call;
    const char *name = lua_tostring(L, file);
    uint64_t given = ec_lua_keys_parse(L, keys, &noun, &k, NULL);
    o->what = what_of(L, call, name, k.what);
    static const char *const of_paths[] = {"strongest", "floor_db"};
    for (int i = 0; i < 2; i++)
        if (o->what != WHAT_PATHS && ec_lua_keys_given(&noun, given, of_paths[i]))
            ec_lua_fail(L, "%s: key '%s' is one of paths: give what = \"paths\"", call,
                        of_paths[i]);
    if (o->what != WHAT_COVERAGE && k.values)
        ec_lua_fail(L, "%s: key 'values' is one of coverage: give what = \"coverage\"", call);
    o->limits.strongest = k.strongest > 0 ? (int32_t)k.strongest : 0;
    o->limits.floor_db = isnan(k.floor_db) ? INFINITY : k.floor_db;
    ec_lua_mark_line(L);
    o->n_values = read_values(L, call, k.values, o->value);
    o->title = job ? ec_job_name(job) : NULL;
    if (ec_lua_files_target(L, name, o->path, sizeof o->path) != EC_OK)
        ec_lua_fail_core(L, call);
    ec_mimo_winner winner = {host->graph, job, result, host->backend, link};
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    int status = write(o, &winner, host->settings.log);
    ec_lua_core_leave(L, caller);
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    if (status < 0)
        ec_lua_fail_core(L, call);
    return 0;
}

int ec_lua_mimo_save(lua_State *L, const ec_job *job, const ec_result *result)
{
    ec_call *link = ec_lua_mimo_test(L, 3);
    lua_settop(L, 4);
    return save(L, "best:save", 2, link, 4, job, result);
}

int ec_lua_mimo_save_fixed(lua_State *L)
{
    ec_call *link = ec_lua_mimo_test(L, 1);
    lua_settop(L, 3);
    if (!link)
        ec_lua_fail(L, "link:save: call it with a colon on a link of ec.mimo");
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "link:save: wants the name of a file, as in link:save(\"h.npy\")");
    if (link->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP))
        ec_lua_fail(L,
                    "link:save: the link has design variables: best:save(\"%s\", link) writes "
                    "it at the best design",
                    lua_tostring(L, 2));
    return save(L, "link:save", 2, link, 3, NULL, NULL);
}
