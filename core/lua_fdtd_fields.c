#include "lua_fdtd_fields.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "evaluators/fdtd/fdtd_fields.h"
#include "lua_expr.h"
#include "lua_fdtd_model_internal.h"
#include "lua_files.h"

#define FIELD "field of a model"

/* User value 1: the model; 2 to 4: lists of numbers; 5: the best design that was saved last. */
typedef struct field {
    ec_call *call;
    bool is_pattern;
    ec_fdtd_plane_info plane;
    ec_fdtd_pattern_info pattern;
    /* what was saved last, so that another file of it takes no other run: of `of`, NULL without design
     * variables */
    const ec_result *of;
    ec_fdtd_plane *made_plane;
    ec_fdtd_pattern *made_pattern;
} field;

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct plane_keys {
    int axis, excited_by;
    int at;
    ec_lua_list frequency;
} plane_keys;

static const char excited_help[] = "a port or source, or \"plane_wave\" (default: the plane wave "
                                   "where there is one, else the only "
                                   "port or source)";

static const ec_key plane_table[] = {
    {"axis", EC_KEY_WORD, EC_KEY_REQUIRED, 0, 0, 0, NULL, "x|y|z", "that the plane is across",
     offsetof(plane_keys, axis)},
    {"at", EC_KEY_QUANTITY, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, "m", NULL,
     "where on the axis; between lines of the grid fields are interpolated",
     offsetof(plane_keys, at)},
    {"frequency", EC_KEY_LIST, 0, NAN, 0, INFINITY, "Hz", NULL,
     "one of the model's, or a list of them (default: the only one)",
     offsetof(plane_keys, frequency)},
    {"excited_by", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL, excited_help,
     offsetof(plane_keys, excited_by)}};
const ec_noun ec_noun_fdtd_plane = {
    "model:plane",
    "best:save(\"fields.vtr\", model:plane{ axis = \"z\", at = h / 2, frequency = 2.45*ec.GHz })",
    "E and H on a plane, for best:save(file, plane) or, without design variables, "
    "plane:save(file): .vtr for ParaView (e_re, e_im, h_re, h_im, e_abs, h_abs, and power, 1/2 Re "
    "E "
    "x H*), .csv, or .png, a plot of |E| and |H|. Peak values at the middles of the grid's faces, "
    "for a "
    "wave of 1 sqrt(W) into a port, 1 A of a source or 1 V/m of the plane wave, without absorbing "
    "layers. The design is run once more for it, and for all files of the same plane.",
    EC_KEYS(plane_table)};

typedef struct pattern_keys {
    int excited_by, symmetry;
    ec_lua_list frequency, theta_deg, phi_deg;
} pattern_keys;

static const ec_key pattern_table[] = {
    {"frequency", EC_KEY_LIST, 0, NAN, 0, INFINITY, "Hz", NULL,
     "one of the model's, or a list of them (default: the only one)",
     offsetof(pattern_keys, frequency)},
    {"theta_deg", EC_KEY_LIST, 0, NAN, 0, 180, "deg", NULL, "ascending (default: 0, 2, ... 180)",
     offsetof(pattern_keys, theta_deg)},
    {"phi_deg", EC_KEY_LIST, 0, NAN, -360, 720, "deg", NULL, "ascending (default: 0, 5, ... 360)",
     offsetof(pattern_keys, phi_deg)},
    {"excited_by", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL, excited_help,
     offsetof(pattern_keys, excited_by)},
    {"symmetry", EC_KEY_WORD, 0, NAN, 0, 0, NULL, "x|y|z|xy|xz|yz",
     "axes whose pec or pmc wall is a plane of symmetry, as in model:far",
     offsetof(pattern_keys, symmetry)}};
const ec_noun ec_noun_fdtd_pattern = {
    "model:pattern", "best:save(\"patch.ffd\", model:pattern{ frequency = 2.45*ec.GHz })",
    "Far fields over all thetas and phis, for best:save(file, pattern) or, without design "
    "variables, "
    "pattern:save(file): .ffd (of all frequencies), .cut (of one), .csv (fields, directivity, gain "
    "and "
    "realized gain in dBi), or .png, a plot of the directivity from its table NAME_levels.csv. "
    "Units are those of e_theta of model:far; those of .ffd are amplitudes for 1 W that the port "
    "is offered, as HFSS has them. Directivity, gain and efficiency are printed. The design is run "
    "once more for it, and for all files of the same pattern.",
    EC_KEYS(pattern_table)};

/* ---- from keys to the core ------------------------------------------------------------------- */

static field *push_field(lua_State *L, const ec_lua_fdtd *model)
{
    field *f = lua_newuserdatauv(L, sizeof *f, 5);
    *f = (field){.call = model->call};
    luaL_setmetatable(L, FIELD);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    return f;
}

/* The frequencies that are meant, as the field's user value 2. */
static const int32_t *frequencies(lua_State *L, const char *what, const ec_lua_list *list,
                                  int field_at, int32_t *count)
{
    const int32_t n = list->v ? list->n : 1;
    int32_t *to = lua_newuserdatauv(L, (size_t)n * sizeof *to + 1, 0);

    for (int32_t i = 0; i < n; i++)
        to[i] = ec_lua_fdtd_frequency(L, what, list->v ? list->v[i] : NAN);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (to[k] == to[i])
                ec_lua_fail(L, "%s: key 'frequency': %.10g Hz is there twice", what, list->v[i]);
    lua_setiuservalue(L, field_at, 2);
    *count = n;
    return to;
}

int ec_lua_fdtd_plane(lua_State *L)
{
    const char *what = "model:plane";
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, what);
    plane_keys k;
    lua_settop(L, 2);
    ec_lua_keys_parse(L, 2, &ec_noun_fdtd_plane, &k, NULL);
    field *f = push_field(L, model);
    const int at = lua_gettop(L);
    f->plane.axis = k.axis;
    f->plane.at = ec_lua_expr_get(L, k.at, "model:plane: key 'at'");
    if (ec_lua_expr_node(L, f->plane.at)->elements != 1)
        ec_lua_fail(L, "%s: key 'at': wants one number, got %d", what,
                    (int)ec_lua_expr_node(L, f->plane.at)->elements);
    f->plane.j = ec_lua_fdtd_driven(L, what, k.excited_by);
    f->plane.frequency = frequencies(L, what, &k.frequency, at, &f->plane.n_frequencies);
    lua_settop(L, at);
    return 1;
}

/* Angles in rad as a user value of the field. */
static const double *angles(lua_State *L, const char *what, const char *key,
                            const ec_lua_list *list, double end, double step, int field_at,
                            int user, int32_t *count)
{
    const int32_t n = list->v ? list->n : (int32_t)(end / step) + 1;
    double *to = lua_newuserdatauv(L, (size_t)n * sizeof *to + 1, 0);

    for (int32_t i = 0; i < n; i++) {
        const double degrees = list->v ? list->v[i] : i * step;
        to[i] = degrees * EC_PI / 180;
        if (i > 0 && to[i] <= to[i - 1])
            ec_lua_fail(L, "%s: key '%s': element %d, %.10g, is not above the one before it", what,
                        key, (int)i + 1, degrees);
    }
    lua_setiuservalue(L, field_at, user);
    *count = n;
    return to;
}

int ec_lua_fdtd_pattern(lua_State *L)
{
    const char *what = "model:pattern";
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, what);
    pattern_keys k;
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    ec_lua_keys_parse(L, 2, &ec_noun_fdtd_pattern, &k, NULL);
    field *f = push_field(L, model);
    const int at = lua_gettop(L);
    ec_fdtd_pattern_info *p = &f->pattern;
    f->is_pattern = true;
    p->j = ec_lua_fdtd_driven(L, what, k.excited_by);
    p->frequency = frequencies(L, what, &k.frequency, at, &p->n_frequencies);
    p->theta = angles(L, what, "theta_deg", &k.theta_deg, 180, 2, at, 3, &p->n_theta);
    p->phi = angles(L, what, "phi_deg", &k.phi_deg, 360, 5, at, 4, &p->n_phi);
    if (p->n_theta < 2)
        ec_lua_fail(L, "%s: key 'theta_deg': at least two angles are needed", what);
    ec_lua_fdtd_symmetry(k.symmetry, p->symmetry);
    /* what far fields want of a model is told here, not when a search is over */
    const double first[1][2] = {{p->theta[0], p->phi[0]}};
    ec_fdtd_far far = {.quantity = EC_FDTD_FAR_E_THETA,
                       .j = p->j,
                       .frequency = p->frequency[0],
                       .n = 1,
                       .direction = first};
    memcpy(far.symmetry, p->symmetry, sizeof far.symmetry);
    if (ec_fdtd_far_value(ec_lua_host_of(L)->graph, f->call, &far) < 0)
        ec_lua_fail_core(L, what);
    lua_settop(L, at);
    return 1;
}

/* ---- files ----------------------------------------------------------------------------------- */

bool ec_lua_fdtd_is_field(lua_State *L, int index)
{
    return luaL_testudata(L, index, FIELD) != NULL;
}

static bool has_ending(const field *f, const char *name)
{
    static const char *const endings[2][5] = {{".vtr", ".csv", ".png", NULL},
                                              {".ffd", ".cut", ".csv", ".png", NULL}};
    const char *ending = strrchr(name, '.');
    for (int i = 0; ending && endings[f->is_pattern][i]; i++)
        if (strcmp(ending, endings[f->is_pattern][i]) == 0)
            return true;
    return false;
}

static void forget(field *f)
{
    ec_fdtd_plane_destroy(&f->made_plane);
    ec_fdtd_pattern_destroy(&f->made_pattern);
}

static int write_field(field *f, const ec_fdtd_winner *winner, const char *path, const char *name,
                       ec_log *log)
{
    int status = EC_OK;

    if (f->is_pattern && !f->made_pattern)
        status = ec_fdtd_pattern_create(winner, &f->pattern, &f->made_pattern);
    if (!f->is_pattern && !f->made_plane)
        status = ec_fdtd_plane_create(winner, &f->plane, &f->made_plane);
    if (status >= 0 && f->is_pattern)
        ec_fdtd_pattern_say(f->made_pattern, name, log);
    if (status < 0)
        return status;
    return f->is_pattern ? ec_fdtd_pattern_write(f->made_pattern, path, log)
                         : ec_fdtd_plane_write(f->made_plane, path, log);
}

static int field_gc(lua_State *L)
{
    forget(lua_touserdata(L, 1));
    return 0;
}

/* What the run would take; `eciton check` goes on behind it. */
static void page_of(lua_State *L, const field *f)
{
    ec_lua_host *host = ec_lua_host_of(L);
    if (host->paged == f->call) /* once for all files of a model */
        return;
    ec_fdtd_what what = {.output = EC_FDTD_STEPS, .j = f->is_pattern ? f->pattern.j : f->plane.j};
    what.i = what.j;
    ec_expr steps = ec_fdtd_value(host->graph, f->call, &what);
    if (steps < 0)
        ec_lua_fail_core(L, NULL);
    ec_lua_expr_page(L, 1, &steps);
    host->paged = f->call;
}

static int save(lua_State *L, const char *call, int file, field *f, const ec_job *job,
                const ec_result *result)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const char *name = lua_tostring(L, file);
    char path[PATH_MAX];

    if (!has_ending(f, name))
        ec_lua_fail(L, "%s: '%s': %s", call, name,
                    f->is_pattern ? "a pattern is saved as .ffd, .cut, .csv or .png"
                                  : "fields of a plane are saved as .vtr, .csv or .png");
    if (host->settings.check) {
        page_of(L, f);
        return 0;
    }
    ec_lua_mark_line(L);
    if (ec_lua_files_target(L, name, path, sizeof path) != EC_OK)
        ec_lua_fail_core(L, call);
    const ec_fdtd_winner winner = {.graph = host->graph,
                                   .job = job,
                                   .result = result,
                                   .backend = host->backend,
                                   .call = f->call};
    double begun = ec_lua_budget_clock(&host->budget);
    lua_State *caller = ec_lua_core_enter(L);
    int status = write_field(f, &winner, path, name, host->settings.log);
    ec_lua_budget_extend(&host->budget, ec_lua_budget_clock(&host->budget) - begun);
    ec_lua_core_leave(L, caller);
    if (status < 0)
        ec_lua_fail_core(L, call);
    return 0;
}

int ec_lua_fdtd_field_save(lua_State *L, const ec_job *job, const ec_result *result)
{
    lua_settop(L, 3);
    field *f = luaL_checkudata(L, 3, FIELD);
    if (f->of != result)
        forget(f);
    f->of = result;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 3, 5);
    return save(L, "best:save", 2, f, job, result);
}

static int save_fixed(lua_State *L)
{
    field *f = luaL_testudata(L, 1, FIELD);
    lua_settop(L, 2);
    if (!f || lua_type(L, 2) != LUA_TSTRING)
        ec_lua_fail(L, "save: wants the name of a file, as in model:plane{ ... }:save(\"e.vtr\")");
    const int level = f->is_pattern ? 0 : ec_lua_expr_node(L, f->plane.at)->axes;
    if ((f->call->axes | level) & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP))
        ec_lua_fail(L,
                    "save: the model has design variables: best:save(\"%s\", field) writes it at "
                    "the best design",
                    lua_tostring(L, 2));
    return save(L, "save", 2, f, NULL, NULL);
}

void ec_lua_fdtd_fields_open(lua_State *L)
{
    static const luaL_Reg methods[] = {{"save", save_fixed}, {NULL, NULL}};
    luaL_newmetatable(L, FIELD);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushcfunction(L, field_gc);
    lua_setfield(L, -2, "__gc");
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
