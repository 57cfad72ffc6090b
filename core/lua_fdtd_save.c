#include "lua_fdtd_save.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "evaluators/fdtd/fdtd_view.h"
#include "lua_expr.h"
#include "lua_fdtd.h"
#include "lua_files.h"

typedef struct save_keys {
    double reference;
} save_keys;

static const ec_key save_table[] = {{"reference", EC_KEY_NUMBER, 0, NAN, 1e-6, 1e9, "ohm", NULL,
                                     "resistance to which the S-parameters of all ports refer in "
                                     "the file (default: each port's own)",
                                     offsetof(save_keys, reference)}};

const ec_noun ec_noun_fdtd_save = {
    "model:save",
    "best:save(\"filter.s2p\", model, { reference = 50 }), model:save(\"filter.csv\")",
    "The S-parameters of a model at the best design, into the folder of --out: .sNp of N ports "
    "(Touchstone, version 2 where their resistances differ) or .csv with a plot in dB, "
    "NAME_db.png; or its grid, .vtm for "
    "ParaView: cells "
    "with their materials, conductors, ports, and NAME_structure.csv with what it is made of, or "
    ".png: three cuts. model:save(file) writes those of "
    "a model without design variables. With --out DIR the models of a job's goals are written by "
    "themselves: structure.csv, sparameters.sNp, sparameters.csv and sparameters_db.png.",
    EC_KEYS(save_table)};

/* What the run of all ports would take, or the grid alone; `eciton check` goes on behind it. */
static void page_of(lua_State *L, ec_call *model, bool view)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const int32_t n = view ? 1 : ec_fdtd_port_count(model);
    if (host->paged == model) /* once for all files of a model */
        return;
    ec_expr *steps = lua_newuserdatauv(L, (size_t)n * sizeof *steps, 0);
    for (int32_t j = 0; j < n; j++) { /* ports with waves are the first of a model */
        const ec_fdtd_what what = {.output = view ? EC_FDTD_CELLS : EC_FDTD_STEPS, .i = j, .j = j};
        if ((steps[j] = ec_fdtd_value(host->graph, model, &what)) < 0)
            ec_lua_fail_core(L, NULL);
    }
    ec_lua_expr_page(L, n, steps);
    host->paged = model;
}

/* The file's name is at an index, keys may be at another. */
static int save(lua_State *L, const char *call, int file, int keys, ec_call *model,
                const ec_job *job, const ec_result *result)
{
    ec_noun noun = ec_noun_fdtd_save;
    save_keys k;
    noun.name = call;
    ec_lua_keys_parse(L, keys, &noun, &k, NULL);
    ec_lua_host *host = ec_lua_host_of(L);
    const char *name = lua_tostring(L, file), *ending = strrchr(name, '.');
    int32_t n = ec_fdtd_port_count(model);
    char path[PATH_MAX], touchstone[24];
    snprintf(touchstone, sizeof touchstone, ".s%dp", (int)n);
    bool view = ending && (strcmp(ending, ".vtm") == 0 || strcmp(ending, ".png") == 0);
    if (n == 0 && !view)
        ec_lua_fail(L, "%s: the model has no port, and so no S-parameters", call);
    if (!view && (!ending || (strcmp(ending, touchstone) != 0 && strcmp(ending, ".csv") != 0)))
        ec_lua_fail(L,
                    "%s: '%s': the S-parameters of %d port%s are saved as %s or .csv, its grid as "
                    ".vtm or .png",
                    call, name, (int)n, n == 1 ? "" : "s", touchstone);
    if (view && !isnan(k.reference))
        ec_lua_fail(L, "%s: key 'reference': it goes with S-parameters", call);
    if (host->settings.check) {
        page_of(L, model, view);
        return 0;
    }
    ec_lua_mark_line(L);
    if (ec_lua_files_target(L, name, path, sizeof path) != EC_OK)
        ec_lua_fail_core(L, call);
    const ec_fdtd_winner winner = {.graph = host->graph,
                                   .job = job,
                                   .result = result,
                                   .backend = host->backend,
                                   .call = model};
    ec_fdtd_network *design = NULL;
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    int status = view ? ec_fdtd_view_write(&winner, path, host->settings.log)
                      : ec_fdtd_network_create(&winner, &design);
    if (status == EC_OK && !view)
        ec_fdtd_network_say(design, name, host->settings.log);
    if (status == EC_OK && !view && !isnan(k.reference))
        status = ec_fdtd_network_renormalize(design, k.reference);
    if (status == EC_OK && !view)
        status = ec_fdtd_network_write(design, path);
    if (status == EC_OK && !view && strcmp(ending, ".csv") == 0)
        status = ec_fdtd_network_plot(design, path, host->settings.log);
    ec_fdtd_network_destroy(&design);
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    ec_lua_core_leave(L, caller);
    if (status < 0)
        ec_lua_fail_core(L, call);
    return 0;
}

int ec_lua_fdtd_save(lua_State *L, const ec_job *job, const ec_result *result)
{
    lua_settop(L, 4);
    return save(L, "best:save", 2, 4, ec_lua_fdtd_test(L, 3), job, result);
}

int ec_lua_fdtd_save_fixed(lua_State *L)
{
    ec_call *model = ec_lua_fdtd_test(L, 1);
    lua_settop(L, 3);
    if (!model)
        ec_lua_fail(L, "model:save: call it with a colon on a model of ec.fdtd");
    if (lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "model:save: wants the name of a file, as in model:save(\"filter.s2p\")");
    if (model->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP))
        ec_lua_fail(
            L,
            "model:save: the model has design variables: best:save(\"%s\", model) writes it "
            "at the best design",
            lua_tostring(L, 2));
    return save(L, "model:save", 2, 3, model, NULL, NULL);
}
