/* lua_fdtd_rows.c: sweep:save(file, model): the S-parameters of each row, from what the sweep recorded, so
 * that no model is run again. */
#include "lua_fdtd_rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/fdtd/fdtd_network.h"
#include "job_internal.h"
#include "lua_files.h"

enum { MOST_ROWS = 100000 };

/* The first of the columns in which the sweep has recorded an expression. */
static int32_t find_columns(const ec_sweep *s, ec_expr expr)
{
    for (int32_t c = s->n_variable_columns; c < s->n_columns; c++)
        if (s->columns[c].kind == EC_SWEEP_RECORD &&
            s->job->records[s->columns[c].index].expr == expr)
            return c;
    return -1;
}

/* Where the parts of all S_ij are: [receiving][source][re, im], a userdata that stays on the stack. */
static const int32_t *find_parts(lua_State *L, const ec_sweep *s, ec_call *model, int32_t n)
{
    static const char *const names[2] = {"re", "im"};
    static const ec_op parts[2] = {EC_OP_RE, EC_OP_IM};
    ec_graph *graph = ec_lua_host_of(L)->graph;
    int32_t *at = lua_newuserdatauv(L, (size_t)n * (size_t)n * 2 * sizeof *at, 0);
    for (int32_t k = 0; k < n * n; k++) { /* ports with waves are the first of a model */
        const ec_fdtd_what what = {.output = EC_FDTD_S, .i = k / n, .j = k % n};
        const ec_expr value = ec_fdtd_value(graph, model, &what);
        for (int p = 0; p < 2; p++) {
            const ec_expr part = value < 0 ? value : ec_graph_unary(graph, parts[p], value);
            if (part < 0)
                ec_lua_fail_core(L, "sweep:save");
            at[2 * k + p] = find_columns(s, part);
            if (at[2 * k + p] < 0)
                ec_lua_fail(
                    L,
                    "sweep:save: the rows have no S-parameters of the model: each model:s(i, "
                    "j) has to be recorded before the sweep, and model:s(%d, %d):%s() is "
                    "not, as job:record(\"s%d%d_%s\", model:s(%d, %d):%s())",
                    what.i + 1, what.j + 1, names[p], what.i + 1, what.j + 1, names[p], what.i + 1,
                    what.j + 1, names[p]);
        }
    }
    return at;
}

/* "filter_12.s2p" of "filter.s2p" */
static void name_row(const char *name, size_t row, char *to, size_t size)
{
    const char *ending = strrchr(name, '.');
    snprintf(to, size, "%.*s_%zu%s", (int)(ending - name), name, row, ending);
}

int ec_lua_fdtd_save_rows(lua_State *L, const ec_sweep *s, ec_call *model)
{
    const char *name = lua_tostring(L, 2), *ending = strrchr(name, '.');
    const int32_t n = ec_fdtd_port_count(model);
    char wanted[24], row[PATH_MAX], path[PATH_MAX];
    snprintf(wanted, sizeof wanted, ".s%dp", (int)n);
    if (n == 0)
        ec_lua_fail(L, "sweep:save: the model has no port, and so no S-parameters");
    if (!ending || strcmp(ending, wanted) != 0)
        ec_lua_fail(L, "sweep:save: '%s': the S-parameters of %d port%s are saved as %s", name,
                    (int)n, n == 1 ? "" : "s", wanted);
    if (strlen(name) > 200)
        ec_lua_fail(L, "sweep:save: '%s' is too long for a name", name);
    if (s->n > MOST_ROWS)
        ec_lua_fail(L, "sweep:save: %zu rows would be as many files: %d are possible", s->n,
                    (int)MOST_ROWS);
    const int32_t *part = find_parts(L, s, model, n);
    ec_fdtd_network *design = NULL;
    int status = ec_fdtd_network_fixed(model, &design);
    size_t written = 0;
    for (size_t i = 0; i < s->n && status == EC_OK; i++) {
        if (s->state[i] == EC_SWEEP_OPEN || s->status[i])
            continue;
        for (int32_t f = 0; f < design->s.n_frequencies; f++)
            for (int32_t k = 0; k < n * n; k++)
                design->s.s[(size_t)f * (size_t)(n * n) + (size_t)k] =
                    (ec_c128){ec_sweep_value(s, part[2 * k] + f, i),
                              ec_sweep_value(s, part[2 * k + 1] + f, i)};
        name_row(name, i + 1, row, sizeof row);
        status = ec_lua_files_target(L, row, path, sizeof path);
        if (status == EC_OK)
            status = ec_fdtd_network_write(design, path);
        written++;
    }
    ec_fdtd_network_destroy(&design);
    if (status < 0)
        ec_lua_fail_core(L, "sweep:save");
    if (written < s->n)
        ec_log_write(ec_lua_host_of(L)->settings.log, EC_LOG_INFO,
                     "%s: %zu of %zu rows have files; those without failed or were not run", name,
                     written, s->n);
    return 0;
}
