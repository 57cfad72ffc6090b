/* job:sensitivity: its keys, the sweep of its designs, and the measures by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua_job.h"
#include "lua_sweep.h"
#include "sensitivity.h"

typedef struct sensitivity_keys {
    int method, fidelity, variables;
    int64_t points, trajectories, levels;
    const char *name;
    double seconds;
    bool fresh, report;
} sensitivity_keys;

static const ec_key sensitivity_table[] = {
    {"method", EC_KEY_WORD, 0, 0, 0, 0, NULL, "sobol|morris",
     "sobol: shares of the variance, points * (variables + 2) designs; morris: elementary effects, "
     "trajectories * (variables + 1) designs",
     offsetof(sensitivity_keys, method)},
    {"points", EC_KEY_INTEGER, 0, 0, 2, 1e8, NULL, NULL,
     "of sobol, best a power of two (default 1024)", offsetof(sensitivity_keys, points)},
    {"trajectories", EC_KEY_INTEGER, 0, 0, 2, 1e8, NULL, NULL, "of morris (default 20)",
     offsetof(sensitivity_keys, trajectories)},
    {"levels", EC_KEY_INTEGER, 0, 0, 2, 1000, NULL, NULL,
     "of morris: values of each variable, an even number (default 4)",
     offsetof(sensitivity_keys, levels)},
    {"variables", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "names of the variables that vary (default: all)", offsetof(sensitivity_keys, variables)},
    {"fidelity", EC_KEY_WORD, 0, 0, 0, 0, NULL, "final|search",
     "figures as a search reports them, or as it sees them", offsetof(sensitivity_keys, fidelity)},
    {"seconds", EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 0, INFINITY, "s", NULL,
     "stop after so long; with --out the next run goes on", offsetof(sensitivity_keys, seconds)},
    {"name", EC_KEY_STRING, 0, NAN, 0, 0, NULL, NULL,
     "of the files in the folder of --out (default: sensitivity, sensitivity_2, ...)",
     offsetof(sensitivity_keys, name)},
    {"fresh", EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
     "drop the rows that are in the table already, instead of taking them",
     offsetof(sensitivity_keys, fresh)},
    {"report", EC_KEY_FLAG, 0, 1, 0, 0, NULL, NULL, "false: nothing is printed or written",
     offsetof(sensitivity_keys, report)}};

const ec_noun ec_noun_sensitivity = {
    "job:sensitivity", "job:sensitivity{ method = \"sobol\", points = 1024 }",
    "Which variables objectives, constraints and recorded quantities depend on. Returns a table of "
    "the measures by output and variable: r.S1.gain_db.width, r.S1_conf, r.ST, r.ST_conf (95 % "
    "half "
    "widths) of sobol, r.mu, r.mu_star, r.sigma (change over a variable's whole range) of morris; "
    "elements of lists are called \"x[3]\". r.blocks and r.dropped count blocks of designs and "
    "those "
    "with a failed one, r.sweep is the sweep of all designs. Variables whose elements depend on "
    "each "
    "other (spaced, with a sum, distinct) cannot vary.",
    EC_KEYS(sensitivity_table)};

/* The measures in a collector's hands while Lua tables are made of them. */
static int holder_gc(lua_State *L)
{
    ec_sensitivity_destroy(lua_touserdata(L, 1));
    return 0;
}

static ec_sensitivity **new_holder(lua_State *L)
{
    ec_sensitivity **holder = lua_newuserdatauv(L, sizeof(ec_sensitivity *), 0);
    *holder = NULL;
    if (luaL_newmetatable(L, "eciton.sensitivity")) {
        lua_pushcfunction(L, holder_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return holder;
}

static void push_names(lua_State *L, char *const *names, int32_t n)
{
    lua_createtable(L, n, 0);
    for (int32_t i = 0; i < n; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

/* r.S1[output][factor] */
static void push_measures(lua_State *L, const ec_sensitivity *r)
{
    lua_newtable(L);
    for (int m = 0; m < r->n_measures; m++) {
        lua_createtable(L, 0, r->n_outputs);
        for (int32_t o = 0; o < r->n_outputs; o++) {
            lua_createtable(L, 0, r->n_factors);
            for (int32_t i = 0; i < r->n_factors; i++) {
                lua_pushnumber(
                    L, ec_printable(r->value[m][(size_t)o * (size_t)r->n_factors + (size_t)i]));
                lua_setfield(L, -2, r->factor[i]);
            }
            lua_setfield(L, -2, r->output_name[o]);
        }
        lua_setfield(L, -2, r->measure[m]);
    }
    push_names(L, r->factor, r->n_factors);
    lua_setfield(L, -2, "factors");
    push_names(L, r->output_name, r->n_outputs);
    lua_setfield(L, -2, "outputs");
    lua_pushinteger(L, (lua_Integer)r->blocks);
    lua_setfield(L, -2, "blocks");
    lua_pushinteger(L, (lua_Integer)r->dropped);
    lua_setfield(L, -2, "dropped");
}

static void make_quick(ec_sensitivity_info *info)
{
    enum { POINTS = 8, TRAJECTORIES = 3 };
    if (info->points == 0 || info->points > POINTS)
        info->points = POINTS;
    if (info->trajectories == 0 || info->trajectories > TRAJECTORIES)
        info->trajectories = TRAJECTORIES;
}

static void check_keys(lua_State *L, const sensitivity_keys *keys, bool morris)
{
    if (morris && keys->points > 0)
        ec_lua_fail(L, "job:sensitivity: key 'points' belongs to method \"sobol\"; \"morris\" has "
                       "'trajectories'");
    if (!morris && (keys->trajectories > 0 || keys->levels > 0))
        ec_lua_fail(L, "job:sensitivity: key '%s' belongs to method \"morris\"",
                    keys->trajectories > 0 ? "trajectories" : "levels");
}

int ec_lua_job_sensitivity(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const ec_lua_events *events = &host->settings.events;
    lua_settop(L, 2);
    ec_job *job = ec_lua_job_at(L, "job:sensitivity");
    ec_lua_check_open(L, "job:sensitivity");
    sensitivity_keys keys;
    ec_lua_keys_parse(L, 2, &ec_noun_sensitivity, &keys, NULL);
    bool morris = keys.method == 1;
    check_keys(L, &keys, morris);
    ec_sensitivity_info info = {.method = morris ? EC_SENSITIVITY_MORRIS : EC_SENSITIVITY_SOBOL,
                                .points = (size_t)keys.points,
                                .trajectories = (size_t)keys.trajectories,
                                .levels = (int32_t)keys.levels,
                                .seed = ec_job_seed(job)};
    info.variables = ec_lua_sweep_variables(L, job, keys.variables,
                                            "job:sensitivity: key 'variables'", &info.n_variables);
    if (host->settings.quick)
        make_quick(&info);
    ec_lua_check_sets(L);
    ec_lua_sweep *s = ec_lua_sweep_new(L, 1);
    int place = lua_gettop(L);
    ec_lua_sweep_hold(L, s, job, (double)ec_sensitivity_rows(job, &info),
                      2 * ec_job_gene_count(job));
    if (ec_sensitivity_plan(job, &info, &s->plan) < 0)
        ec_lua_fail_core(L, "job:sensitivity");
    ec_sweep_info run = {.fidelity = keys.fidelity == 0 ? EC_FINAL : EC_SEARCH,
                         .seconds = keys.seconds};
    ec_lua_sweep_check(L, s, job, "job:sensitivity", &run);
    char name[220];
    ec_lua_sweep_table(L, s, keys.report, keys.name, "sensitivity", keys.fresh, name, sizeof name);
    ec_sensitivity **result = new_holder(L);
    ec_lua_sweep_run(L, s, job, "job:sensitivity", keys.report, &run);
    lua_State *caller = ec_lua_core_enter(L);
    int status = ec_sensitivity_create(&info, s->plan, s->sweep, result);
    if (status == EC_OK && events->sensitivity && keys.report)
        status = events->sensitivity(events->user, *result, s->sweep, name);
    ec_lua_core_leave(L, caller);
    if (status < 0)
        ec_lua_fail_core(L, "job:sensitivity");
    push_measures(L, *result);
    lua_pushvalue(L, place);
    lua_setfield(L, -2, "sweep");
    return 1;
}
