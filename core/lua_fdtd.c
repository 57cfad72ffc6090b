#include "lua_fdtd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lua_curve.h"
#include "lua_fdtd_fields.h"
#include "lua_fdtd_model_internal.h"
#include "lua_fdtd_parts.h"
#include "lua_fdtd_save.h"

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct fdtd_keys {
    int frequency, boundary, materials, domain, plane_wave, final;
    ec_lua_list cell;
    double cells_per_wavelength, growth, largest, smallest, air;
    int64_t least_cells, averaging, layers, max_steps, steps;
    bool snap, conformal, edge_correction;
    double pml_order, pml_kappa, pml_alpha, pml_alpha_order, pml_sigma;
    int pulse, precision;
    double pulse_centre, pulse_width, courant, decay_db;
} fdtd_keys;

#define ROW(key, kind, flags, initial, min, max, unit, words, help)                                \
    {                                                                                              \
#key, kind, flags, initial, min, max, unit, words, help, offsetof(fdtd_keys, key)          \
    }
#define LENGTH(key, help) ROW(key, EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "m", NULL, help)

static const ec_key fdtd_table[] = {
    ROW(frequency, EC_KEY_ANY, EC_KEY_REQUIRED, NAN, 0, 0, "Hz", NULL,
        "where results are wanted: ascending, as ec.range(1*ec.GHz, 4*ec.GHz, 301)"),
    ROW(materials, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "what names of materials stand for (see fdtd.material)"),
    ROW(boundary, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "pml, pec, pmc, periodic, or a table (see fdtd.boundary); default pml"),
    ROW(cell, EC_KEY_LIST, 0, NAN, 0, INFINITY, "m", NULL,
        "of a uniform grid: a number, or {dx, dy, dz} of which 0 is graded by itself (default: "
        "graded, with lines on the edges of objects)"),
    ROW(cells_per_wavelength, EC_KEY_NUMBER, 0, 20, 4, 1000, NULL, NULL,
        "of graded lines, in each material at the highest frequency"),
    ROW(growth, EC_KEY_NUMBER, 0, 1.4, 1.01, 10, NULL, NULL,
        "of graded lines: ratio of neighbours at most"),
    LENGTH(largest, "cell of graded lines (default: by cells_per_wavelength)"),
    LENGTH(smallest,
           "cell of graded lines: edges that are closer share a line (default: by the edges "
           "of objects)"),
    ROW(least_cells, EC_KEY_INTEGER, 0, 2, 1, 1000, NULL, NULL,
        "of graded lines, across the thickness of each object"),
    ROW(snap, EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
        "uniform lines: plane faces and ports go to the nearest line; else they have to be on one"),
    ROW(conformal, EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
        "conductors cut edges and faces of cells at their true surface, not at the nearest edge; "
        "halves the time step"),
    ROW(edge_correction, EC_KEY_FLAG, 0, 0, 0, 0, NULL, NULL,
        "cells at the edges of plates have static fields, not constant ones: lines a few cells "
        "wide "
        "have the impedance of their width; takes 0.7 of the time step, not with conformal"),
    ROW(averaging, EC_KEY_INTEGER, 0, 1, 1, 8, NULL, NULL,
        "samples a quarter of a cell's face and axis for the permittivity of an edge"),
    ROW(air, EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "m", NULL,
        "between objects and absorbing walls (default: a quarter wavelength in the middle of the "
        "frequencies)"),
    ROW(domain, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "{ from = {x, y, z}, to = {x, y, z} }, without absorbing layers (default: objects and "
        "air)"),
    ROW(plane_wave, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "that comes in (see fdtd.plane_wave), for model:far with excited_by = \"plane_wave\""),
    ROW(layers, EC_KEY_INTEGER, 0, 8, 1, 64, NULL, NULL, "of absorbing walls, in cells"),
    ROW(pml_order, EC_KEY_NUMBER, 0, 3, 1, 6, NULL, NULL, "of their polynomial grading"),
    ROW(pml_kappa, EC_KEY_NUMBER, 0, 8, 1, 100, NULL, NULL, "stretching at their outside"),
    ROW(pml_alpha, EC_KEY_NUMBER, 0, 0.05, 0, 10, "S/m", NULL, "shift of their poles"),
    ROW(pml_alpha_order, EC_KEY_NUMBER, 0, 1, 0, 6, NULL, NULL,
        "how fast that shift falls towards the outside, (1 - x)^order; 0, the same all through, "
        "takes fields that "
        "cling to conductors better, and waves below pml_alpha / (2 pi eps0), 0.9 GHz for 0.05 "
        "S/m, far worse"),
    ROW(pml_sigma, EC_KEY_NUMBER, 0, 1.1, 0, 10, NULL, NULL,
        "their conductivity over the optimum, 0.8 (order + 1) / (eta cell)"),
    ROW(pulse, EC_KEY_WORD, 0, 0, 0, 0, NULL, "auto|gaussian|differentiated|modulated",
        "of sources; a gaussian has a mean, the others have none; auto: modulated, or gaussian "
        "where "
        "the frequencies begin below a fifth of their end"),
    ROW(pulse_centre, EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", NULL,
        "of a modulated pulse (default: the middle of the frequencies)"),
    ROW(pulse_width, EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", NULL,
        "of its spectrum (default: by the frequencies)"),
    ROW(courant, EC_KEY_NUMBER, EC_KEY_ABOVE, 0.99, 0, 1, NULL, NULL,
        "time step over the limit of stability"),
    ROW(max_steps, EC_KEY_INTEGER, 0, 200000, 1, 1e9, NULL, NULL,
        "a candidate ends there, with a flag, where it has not decayed before"),
    ROW(decay_db, EC_KEY_NUMBER, EC_KEY_ABOVE, 40, 0, 300, "dB", NULL,
        "a candidate ends when its energy is so far below its peak"),
    ROW(steps, EC_KEY_INTEGER, 0, NAN, 1, 1e9, NULL, NULL,
        "exactly so many, instead of decay_db and max_steps: for what does not decay"),
    ROW(precision, EC_KEY_WORD, 0, 0, 0, 0, NULL, "float32|float64", "of the fields"),
    ROW(final, EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
        "what is finer where the best designs of a search are judged, and in all that is reported "
        "(see fdtd.final); the other keys are the search's")};
#undef ROW
#undef LENGTH

const ec_noun ec_noun_fdtd = {
    "ec.fdtd",
    "ec.fdtd{ frequency = ec.range(1*ec.GHz, 4*ec.GHz, 301), ec.box{ size = {w, l, h}, eps_r = 3.4 "
    "}, ec.port{ from = {0, 0, 0}, to = {0, 0, h} } }",
    "A structure on a Yee grid: objects (ec.box, ec.plate, ec.cylinder, ec.sphere, ec.polygon, "
    "ec.wire) and ports (ec.port, ec.lumped, ec.source, ec.probe) "
    "without a key, whose numbers may be expressions. "
    "model:s(i, j) is S_ij over frequency, ports by name or number, in power waves of each port's "
    "own resistance, port j the source; model:impedance(j) is V / I at port j; model:balance(j) "
    "the "
    "sum of |S_ij|^2 over i, at most 1 for what is passive; model:line_impedance(j) and "
    "model:gamma(j) the impedance and the propagation constant of a port's line: curves (see "
    "ec.curve). model:steps(j) and model:cells() are what a candidate takes, model:decay_db(j) is "
    "how far its "
    "energy has fallen at its end; model:modes{ ... } "
    "are resonances, model:far{ ... } far fields; model:plane{ ... } and model:pattern{ ... } are "
    "fields "
    "to be saved; model:report() "
    "says what the grid is.",
    EC_KEYS(fdtd_table)};

typedef struct wall_keys {
    int x, y, z, low[3], high[3];
} wall_keys;

static const char *const wall_words = "pec|pmc|pml|periodic"; /* as ec_fdtd_wall */

#define WALL(key, field, help)                                                                     \
    {                                                                                              \
        key, EC_KEY_WORD, 0, NAN, 0, 0, NULL, "pec|pmc|pml|periodic", help,                        \
            offsetof(wall_keys, field)                                                             \
    }
static const ec_key wall_table[] = {
    WALL("x", x, "both walls across x (default pml)"),
    WALL("y", y, "both walls across y"),
    WALL("z", z, "both walls across z"),
    WALL("x_low", low[0], "the lower wall across x; pec and pmc are planes of symmetry, too"),
    WALL("x_high", high[0], "the upper wall across x"),
    WALL("y_low", low[1], "the lower wall across y"),
    WALL("y_high", high[1], "the upper wall across y"),
    WALL("z_low", low[2], "the lower wall across z"),
    WALL("z_high", high[2], "the upper wall across z")};
const ec_noun ec_noun_fdtd_boundary = {
    "fdtd.boundary", "boundary = { x = \"pec\", z_low = \"pec\" }",
    "The walls of an FDTD domain; those that are not named are pml.", EC_KEYS(wall_table)};

typedef struct domain_keys {
    int from, to;
} domain_keys;

static const ec_key domain_table[] = {
    {"from", EC_KEY_QUANTITY, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, "m", NULL,
     "{x, y, z}, lowest corner", offsetof(domain_keys, from)},
    {"to", EC_KEY_QUANTITY, EC_KEY_REQUIRED, NAN, -INFINITY, INFINITY, "m", NULL,
     "{x, y, z}, highest corner", offsetof(domain_keys, to)}};
const ec_noun ec_noun_fdtd_domain = {
    "fdtd.domain", "domain = { from = {0, 0, 0}, to = {50*ec.mm, 20*ec.mm, 60*ec.mm} }",
    "The domain of ec.fdtd without absorbing layers. Objects that touch its end go on into them.",
    EC_KEYS(domain_table)};

typedef struct plane_wave_keys {
    int theta_deg, phi_deg, polarization_deg;
} plane_wave_keys;

static const ec_key plane_wave_table[] = {
    {"theta_deg", EC_KEY_QUANTITY, 0, NAN, -360, 360, "deg", NULL,
     "from where it comes, from z (default 0)", offsetof(plane_wave_keys, theta_deg)},
    {"phi_deg", EC_KEY_QUANTITY, 0, NAN, -720, 720, "deg", NULL, "the same, from x (default 0)",
     offsetof(plane_wave_keys, phi_deg)},
    {"polarization_deg", EC_KEY_QUANTITY, 0, NAN, -360, 360, "deg", NULL,
     "of E, from theta towards phi (default 0)", offsetof(plane_wave_keys, polarization_deg)}};
const ec_noun ec_noun_fdtd_plane_wave = {
    "fdtd.plane_wave", "plane_wave = { theta_deg = 180, polarization_deg = 90 }",
    "A plane wave in a box around all objects, which has to be at least 4 cells from the absorbing "
    "walls "
    "and a cell from objects; outside of it are scattered fields alone. Along an axis of the grid "
    "an "
    "empty box scatters nothing; in other directions a few 1e-4 of the wave on a uniform grid.",
    EC_KEYS(plane_wave_table)};

typedef struct final_keys {
    ec_lua_list cell;
    double cells_per_wavelength, growth, largest, smallest, decay_db;
    int64_t least_cells, averaging, layers, max_steps, steps;
    bool conformal, edge_correction;
    int precision;
} final_keys;

#define ROW(key, kind, flags, min, max, unit, words, help)                                         \
    {                                                                                              \
#key, kind, flags, NAN, min, max, unit, words, help, offsetof(final_keys, key)             \
    }
static const ec_key final_table[] = {
    ROW(cells_per_wavelength, EC_KEY_NUMBER, 0, 4, 1000, NULL, NULL, "of graded lines"),
    ROW(least_cells, EC_KEY_INTEGER, 0, 1, 1000, NULL, NULL,
        "of graded lines, across the thickness of each object"),
    ROW(growth, EC_KEY_NUMBER, 0, 1.01, 10, NULL, NULL, "of graded lines"),
    ROW(largest, EC_KEY_NUMBER, EC_KEY_ABOVE, 0, INFINITY, "m", NULL, "cell of graded lines"),
    ROW(smallest, EC_KEY_NUMBER, EC_KEY_ABOVE, 0, INFINITY, "m", NULL, "cell of graded lines"),
    ROW(cell, EC_KEY_LIST, 0, 0, INFINITY, "m", NULL,
        "of a uniform grid: a number, or {dx, dy, dz} of which 0 is graded"),
    ROW(conformal, EC_KEY_FLAG, 0, 0, 0, NULL, NULL, "conductors cut cells at their true surface"),
    ROW(edge_correction, EC_KEY_FLAG, 0, 0, 0, NULL, NULL, "static fields at the edges of plates"),
    ROW(averaging, EC_KEY_INTEGER, 0, 1, 8, NULL, NULL,
        "samples a quarter of a cell's face and axis for the permittivity of an edge"),
    ROW(layers, EC_KEY_INTEGER, 0, 1, 64, NULL, NULL, "of absorbing walls, in cells"),
    ROW(decay_db, EC_KEY_NUMBER, EC_KEY_ABOVE, 0, 300, "dB", NULL,
        "a candidate ends when its energy is so far below its peak"),
    ROW(max_steps, EC_KEY_INTEGER, 0, 1, 1e9, NULL, NULL, "a candidate ends there"),
    ROW(steps, EC_KEY_INTEGER, 0, 1, 1e9, NULL, NULL,
        "exactly so many, of a model with steps: finer cells have shorter ones"),
    ROW(precision, EC_KEY_WORD, 0, 0, 0, NULL, "float32|float64", "of the fields")};
#undef ROW
const ec_noun ec_noun_fdtd_final = {
    "fdtd.final", "final = { cells_per_wavelength = 30, least_cells = 4, decay_db = 50 }",
    "What is finer at final fidelity than in a search; each key is by default that of the model, "
    "and "
    "none may be coarser. The best designs of a search are run again so, and the winner is chosen "
    "there; "
    "sweeps, values and files are of final fidelity too. The structure, its walls, its frequencies "
    "and its pulse are the same in both.",
    EC_KEYS(final_table)};

typedef struct far_keys {
    int quantity, excited_by, symmetry;
    double frequency;
    ec_lua_list theta_deg, phi_deg;
} far_keys;

static const ec_key far_table[] = {
    {"quantity", EC_KEY_WORD, EC_KEY_REQUIRED, 0, 0, 0, NULL,
     "e_theta|e_phi|directivity|gain|realized_gain|rcs|efficiency",
     "e_theta and e_phi are r E, complex, for a wave of amplitude 1 sqrt(W), 1/2 W, into a port "
     "(the rms fields for 1 W), 1 A of a source or 1 V/m of the plane wave; directivity, gain and "
     "realized_gain are over the power that is radiated, that "
     "the port takes, that it is offered; rcs in m^2; efficiency, without directions, is radiated "
     "power over "
     "what the port takes",
     offsetof(far_keys, quantity)},
    {"excited_by", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "a port or source, or \"plane_wave\" (default: the plane wave where there is one, else the "
     "only "
     "port or source)",
     offsetof(far_keys, excited_by)},
    {"frequency", EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "Hz", NULL,
     "one of the model's (default: the only one)", offsetof(far_keys, frequency)},
    {"theta_deg", EC_KEY_LIST, 0, NAN, -360, 360, "deg", NULL,
     "a number, or a list as long as phi_deg or for one phi_deg (default 0)",
     offsetof(far_keys, theta_deg)},
    {"phi_deg", EC_KEY_LIST, 0, NAN, -720, 720, "deg", NULL,
     "a number, or a list as long as theta_deg or for one theta_deg (default 0)",
     offsetof(far_keys, phi_deg)},
    {"symmetry", EC_KEY_WORD, 0, NAN, 0, 0, NULL, "x|y|z|xy|xz|yz",
     "axes whose pec or pmc wall is a plane of symmetry, so that power counts on both its sides; "
     "other "
     "such walls are a ground without end",
     offsetof(far_keys, symmetry)}};
const ec_noun ec_noun_fdtd_far = {
    "model:far",
    "model:far{ quantity = \"gain\", frequency = 2.45*ec.GHz, theta_deg = ec.range(-90, 90, 181) }",
    "Far fields, from those on a box around all objects, at least 2 cells from the absorbing walls "
    "and "
    "a cell from objects: a list with one element for each direction, a number where both angles "
    "are "
    "numbers; of a plane wave without "
    "directions one value, back to where it comes from. Linear: 10 * ec.log10(...) is in dB.",
    EC_KEYS(far_table)};

typedef struct mode_keys {
    int port, excited_by;
    int64_t count;
    double from, to;
} mode_keys;

static const ec_key mode_table[] = {
    {"port", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "whose voltage is looked at: the first probe, else the first port or source",
     offsetof(mode_keys, port)},
    {"excited_by", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,
     "by default the same one, or the first port or source where that is a probe",
     offsetof(mode_keys, excited_by)},
    {"count", EC_KEY_INTEGER, 0, 1, 1, 1000, NULL, NULL, "of the highest peaks",
     offsetof(mode_keys, count)},
    {"from", EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "Hz", NULL, "default: the lowest frequency",
     offsetof(mode_keys, from)},
    {"to", EC_KEY_NUMBER, 0, NAN, 0, INFINITY, "Hz", NULL, "default: the highest frequency",
     offsetof(mode_keys, to)}};
const ec_noun ec_noun_fdtd_modes = {
    "model:modes",
    "model:modes{ port = \"probe\", excited_by = \"in\", count = 6, to = 8.2*ec.GHz }",
    "Resonances in Hz: the frequencies of the highest peaks in the spectrum of a port's voltage, "
    "ascending; NaN behind the last one. model:q{ ... }, with the same keys, is the quality factor "
    "of each, "
    "by how fast it rings off once the pulse is over.",
    EC_KEYS(mode_table)};

/* ---- ec.fdtd: from keys to the core ---------------------------------------------------------- */

ec_call *ec_lua_fdtd_test(lua_State *L, int index)
{
    const ec_lua_fdtd *model = luaL_testudata(L, index, EC_LUA_FDTD);
    return model ? model->call : NULL;
}

/* The list stays on the stack. */
static void read_frequencies(lua_State *L, const fdtd_keys *k, ec_fdtd_config *c)
{
    ec_lua_list list;
    const char *what = "ec.fdtd: key 'frequency'";
    ec_lua_list_get(L, k->frequency, what, &list);
    for (int32_t i = 0; i < list.n; i++) {
        if (list.v[i] <= 0)
            ec_lua_fail(L, "%s: element %d is %.10g, it must be above 0", what, (int)i + 1,
                        list.v[i]);
        if (i > 0 && list.v[i] <= list.v[i - 1])
            ec_lua_fail(L,
                        "%s: element %d, %.10g, is not above the one before it; they have to be "
                        "ascending",
                        what, (int)i + 1, list.v[i]);
    }
    c->frequency = list.v;
    c->n_frequencies = list.n;
}

static void read_walls(lua_State *L, const fdtd_keys *k, ec_fdtd_config *c)
{
    const char *what = "ec.fdtd: key 'boundary'";
    wall_keys w;
    if (!k->boundary)
        return;
    if (!lua_istable(L, k->boundary)) {
        int all = ec_lua_word_get(L, k->boundary, what, wall_words);
        for (int i = 0; i < 6; i++)
            c->wall[i / 2][i % 2] = (ec_fdtd_wall)all;
    } else {
        ec_noun noun = ec_noun_fdtd_boundary;
        noun.name = what;
        ec_lua_keys_parse(L, ec_lua_table_copy(L, k->boundary), &noun, &w, NULL);
        const int both[3] = {w.x, w.y, w.z};
        for (int i = 0; i < 3; i++) {
            int low = w.low[i] >= 0 ? w.low[i] : both[i];
            int high = w.high[i] >= 0 ? w.high[i] : both[i];
            c->wall[i][0] = low < 0 ? EC_FDTD_WALL_PML : (ec_fdtd_wall)low;
            c->wall[i][1] = high < 0 ? EC_FDTD_WALL_PML : (ec_fdtd_wall)high;
        }
    }
    for (int i = 0; i < 3; i++)
        if ((c->wall[i][0] == EC_FDTD_WALL_PERIODIC) != (c->wall[i][1] == EC_FDTD_WALL_PERIODIC))
            ec_lua_fail(L, "%s: both walls across %c have to be periodic, or none", what, "xyz"[i]);
}

/* Cells of a uniform grid. */
static void read_cell(lua_State *L, const char *what, const ec_lua_list *cell, ec_fdtd_grid *g)
{
    if (cell->v && !cell->scalar && cell->n != 3)
        ec_lua_fail(L, "%s: wants a number or {dx, dy, dz}, got a list of %d", what, (int)cell->n);
    for (int i = 0; cell->v && i < 3; i++)
        g->cell[i] = cell->v[cell->n == 3 ? i : 0];
    if (cell->v && cell->n == 1 && cell->v[0] == 0)
        ec_lua_fail(L, "%s: 0 is not allowed, it must be above 0", what);
}

static void read_grid(lua_State *L, const fdtd_keys *k, ec_fdtd_grid *g)
{
    g->cells_per_wavelength = k->cells_per_wavelength;
    g->growth = k->growth;
    g->largest = k->largest;
    g->smallest = k->smallest;
    g->least_cells = (int32_t)k->least_cells;
    g->snap = k->snap;
    g->conformal = k->conformal;
    g->edge_correction = k->edge_correction;
    g->averaging = (int)k->averaging;
    g->air = k->air;
    read_cell(L, "ec.fdtd: key 'cell'", &k->cell, g);
    if (k->largest < k->smallest)
        ec_lua_fail(L, "ec.fdtd: key 'largest': %.10g m is below smallest, %.10g m", k->largest,
                    k->smallest);
    if (k->snap && !k->cell.v)
        ec_lua_fail(L, "ec.fdtd: key 'snap' goes with cell: graded lines are on the edges of "
                       "objects");
    if (k->domain) {
        domain_keys d;
        ec_noun noun = ec_noun_fdtd_domain;
        noun.name = "ec.fdtd: key 'domain'";
        int table = lua_istable(L, k->domain) ? ec_lua_table_copy(L, k->domain) : k->domain;
        ec_lua_keys_parse(L, table, &noun, &d, NULL);
        static const char *const ends[2] = {"from", "to"};
        for (int i = 0; i < 2; i++) {
            lua_getfield(L, table, ends[i]);
            int value = lua_gettop(L);
            const char *what = lua_pushfstring(L, "%s: key '%s'", noun.name, ends[i]);
            ec_lua_fdtd_numbers(L, value, what, 3, g->domain[i]);
        }
    }
}

/* A number in degrees, or an expression. */
static void read_angle(lua_State *L, int table, const char *noun, const char *key,
                       ec_fdtd_number *to)
{
    lua_getfield(L, table, key);
    if (!lua_isnil(L, -1)) {
        const char *what = lua_pushfstring(L, "%s: key '%s'", noun, key);
        ec_graph *graph = ec_lua_host_of(L)->graph;
        ec_lua_fdtd_numbers(L, -2, what, 1, to);
        to->value *= EC_PI / 180;
        if (to->expr >= 0)
            to->expr =
                ec_graph_binary(graph, EC_OP_MUL, to->expr, ec_graph_number(graph, EC_PI / 180));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void read_plane_wave(lua_State *L, const fdtd_keys *k, ec_fdtd_config *c)
{
    ec_noun noun = ec_noun_fdtd_plane_wave;
    plane_wave_keys w;
    if (!k->plane_wave)
        return;
    noun.name = "ec.fdtd: key 'plane_wave'";
    int table = lua_istable(L, k->plane_wave) ? ec_lua_table_copy(L, k->plane_wave) : k->plane_wave;
    ec_lua_keys_parse(L, table, &noun, &w, NULL);
    read_angle(L, table, noun.name, "theta_deg", &c->wave.theta);
    read_angle(L, table, noun.name, "phi_deg", &c->wave.phi);
    read_angle(L, table, noun.name, "polarization_deg", &c->wave.polarization);
    c->wave.on = true;
}

static void read_run(lua_State *L, const fdtd_keys *k, uint64_t given, ec_fdtd_config *c)
{
    c->layers = (int32_t)k->layers;
    c->pml_order = k->pml_order;
    c->pml_kappa = k->pml_kappa;
    c->pml_alpha = k->pml_alpha;
    c->pml_alpha_order = k->pml_alpha_order;
    c->pml_sigma = k->pml_sigma;
    c->pulse = (ec_fdtd_pulse_kind)k->pulse;
    c->pulse_centre = k->pulse_centre;
    c->pulse_width = k->pulse_width;
    c->courant = k->courant;
    c->max_steps = k->max_steps;
    c->decay_db = k->decay_db;
    c->double_precision = k->precision == 1;
    if (!isnan(k->pulse_centre) && k->pulse != EC_FDTD_MODULATED)
        ec_lua_fail(L, "ec.fdtd: key 'pulse_centre' goes with pulse = \"modulated\"");
    if (k->steps < 0)
        return;
    if (ec_lua_keys_given(&ec_noun_fdtd, given, "max_steps") ||
        ec_lua_keys_given(&ec_noun_fdtd, given, "decay_db"))
        ec_lua_fail(L, "ec.fdtd: give steps, or max_steps and decay_db, not both");
    c->max_steps = k->steps;
    c->decay_db = INFINITY;
}

/* A key of ec.fdtd that the table of final fidelity does not have is no misspelling. */
static void check_final_keys(lua_State *L, const char *what, int table)
{
    const char *names[sizeof final_table / sizeof *final_table];
    const int n = (int)(sizeof final_table / sizeof *final_table);
    for (int i = 0; i < n; i++)
        names[i] = final_table[i].key;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        bool known = false, own = false;
        for (size_t i = 0; i < sizeof fdtd_table / sizeof *fdtd_table; i++)
            known = known || strcmp(fdtd_table[i].key, key) == 0;
        for (int i = 0; i < n; i++)
            own = own || strcmp(names[i], key) == 0;
        if (known && !own)
            ec_lua_fail(L,
                        "%s: '%s' is the same in a search and at final fidelity, where these may "
                        "be finer: %s",
                        what, key, ec_lua_push_names(L, names, n));
    }
}

/* What is given of the grid of final fidelity, over that of the search. */
static void read_final_grid(lua_State *L, const char *what, const final_keys *k, uint64_t given,
                            ec_fdtd_grid *g)
{
    const ec_noun *noun = &ec_noun_fdtd_final;
    if (ec_lua_keys_given(noun, given, "cells_per_wavelength"))
        g->cells_per_wavelength = k->cells_per_wavelength;
    if (ec_lua_keys_given(noun, given, "least_cells"))
        g->least_cells = (int32_t)k->least_cells;
    if (ec_lua_keys_given(noun, given, "growth"))
        g->growth = k->growth;
    if (ec_lua_keys_given(noun, given, "largest"))
        g->largest = k->largest;
    if (ec_lua_keys_given(noun, given, "smallest"))
        g->smallest = k->smallest;
    if (ec_lua_keys_given(noun, given, "conformal"))
        g->conformal = k->conformal;
    if (ec_lua_keys_given(noun, given, "edge_correction"))
        g->edge_correction = k->edge_correction;
    if (ec_lua_keys_given(noun, given, "averaging"))
        g->averaging = (int)k->averaging;
    read_cell(L, "ec.fdtd: key 'final': key 'cell'", &k->cell, g);
    if (g->largest < g->smallest)
        ec_lua_fail(L, "%s: largest, %.10g m, is below smallest, %.10g m", what, g->largest,
                    g->smallest);
}

static void read_final(lua_State *L, const fdtd_keys *k, ec_fdtd_config *c)
{
    const char *what = "ec.fdtd: key 'final'";
    const ec_noun *own = &ec_noun_fdtd_final;
    ec_noun noun = *own;
    final_keys f;
    if (!k->final)
        return;
    noun.name = what;
    int table = lua_istable(L, k->final) ? ec_lua_table_copy(L, k->final) : k->final;
    if (lua_istable(L, table))
        check_final_keys(L, what, table);
    const uint64_t given = ec_lua_keys_parse(L, table, &noun, &f, NULL);
    const bool fixed = k->steps >= 0;
    if (fixed != ec_lua_keys_given(own, given, "steps") &&
        (!fixed || ec_lua_keys_given(own, given, "max_steps") ||
         ec_lua_keys_given(own, given, "decay_db")))
        ec_lua_fail(L, "%s: the model has %s", what,
                    fixed ? "steps, so final fidelity has steps too, not max_steps and decay_db"
                          : "decay_db and max_steps, so final fidelity has no steps");
    ec_fdtd_final_default(c);
    read_final_grid(L, what, &f, given, &c->final.grid);
    if (ec_lua_keys_given(own, given, "layers"))
        c->final.layers = (int32_t)f.layers;
    if (ec_lua_keys_given(own, given, "decay_db"))
        c->final.decay_db = f.decay_db;
    if (ec_lua_keys_given(own, given, fixed ? "steps" : "max_steps"))
        c->final.max_steps = fixed ? f.steps : f.max_steps;
    if (ec_lua_keys_given(own, given, "precision"))
        c->final.double_precision = f.precision == 1;
}

/* How many entries of the list at index are of each kind; an error for what is not for a model. */
static void count_entries(lua_State *L, int list, int32_t n, ec_fdtd_config *c)
{
    for (int32_t i = 1; i <= n; i++) {
        lua_rawgeti(L, list, i);
        ec_lua_fdtd_kind kind = ec_lua_fdtd_kind_of(L, lua_gettop(L));
        if (kind == EC_LUA_FDTD_POLE)
            ec_lua_fail(L, "ec.fdtd: entry %d is a pole: it belongs to a material's poles", (int)i);
        if (kind == EC_LUA_FDTD_OTHER)
            ec_lua_fail(L,
                        "ec.fdtd: entry %d is a %s; without a key there are objects and ports, "
                        "as ec.box{ ... } and ec.port{ ... }",
                        (int)i, luaL_typename(L, -1));
        if (kind == EC_LUA_FDTD_OBJECT)
            c->n_objects++;
        else
            c->n_ports++;
        lua_pop(L, 1);
    }
}

/* The order of ports in a model: first those with waves, last those without a name. */
enum { PORT_WAVES, PORT_SOURCE, PORT_PROBE, PORT_ELEMENT, PORT_KINDS };

static int rank_of(const ec_fdtd_port *port)
{
    return port->kind == EC_FDTD_CURRENT   ? PORT_SOURCE
           : port->kind == EC_FDTD_PROBE   ? PORT_PROBE
           : port->kind == EC_FDTD_ELEMENT ? PORT_ELEMENT
                                           : PORT_WAVES;
}

/* How many ports come before those of a rank. */
static int32_t count_kinds(const ec_fdtd_port *port, int32_t n, int rank)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++)
        count += rank_of(port + i) < rank;
    return count;
}

/* Of the port that number i + 1 means. */
static void check_port_name(lua_State *L, const char *name, int32_t i)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)i + 1);
    if (!name[0])
        ec_lua_fail(L, "ec.fdtd: port %s: key 'name': the name is empty", number);
    if (name[strspn(name, "0123456789")] == '\0' && strcmp(name, number) != 0)
        ec_lua_fail(L,
                    "ec.fdtd: port %s: key 'name': '%s' would be taken for a number: ports with a "
                    "resistance, then sources, then probes are counted as they are given",
                    number, name);
}

/* Ports get numbers from 1 as names where they have none. Pushes the list of the names of all that
 * model:modes knows. */
static void name_ports(lua_State *L, ec_fdtd_port *port, int32_t n)
{
    int32_t named = count_kinds(port, n, PORT_ELEMENT);
    lua_newtable(L);
    int names = lua_gettop(L);
    for (int32_t i = 0; i < named; i++) {
        if (port[i].name)
            check_port_name(L, port[i].name, i);
        if (port[i].name)
            lua_pushstring(L, port[i].name);
        else
            port[i].name = lua_pushfstring(L, "%d", (int)i + 1);
        lua_rawseti(L, names, i + 1);
        for (int32_t k = 0; k < i; k++)
            if (strcmp(port[k].name, port[i].name) == 0)
                ec_lua_fail(L, "ec.fdtd: two ports have the name '%s'", port[i].name);
    }
    for (int32_t i = named; i < n; i++)
        if (!port[i].name)
            port[i].name = "lumped";
}

/* Two ports on the same edges would be one with the resistance of both. */
static void check_places(lua_State *L, const ec_fdtd_port *port, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++) {
            bool same = port[i].axis == port[k].axis && port[i].kind != EC_FDTD_PROBE &&
                        port[k].kind != EC_FDTD_PROBE;
            for (int d = 0; d < 3; d++)
                same = same && ec_lua_fdtd_same(port[i].from[d], port[k].from[d]) &&
                       ec_lua_fdtd_same(port[i].to[d], port[k].to[d]);
            if (same)
                ec_lua_fail(L, "ec.fdtd: '%s' and '%s' are at the same place", port[k].name,
                            port[i].name);
        }
}

/* Objects, materials and ports of the list at an index; pushes the list of the ports' names. */
static void read_entries(lua_State *L, const fdtd_keys *k, int list, int32_t n, ec_fdtd_config *c)
{
    count_entries(L, list, n, c);
    ec_fdtd_object *object = lua_newuserdatauv(L, ((size_t)c->n_objects + 1) * sizeof *object, 0);
    ec_fdtd_port *port = lua_newuserdatauv(L, ((size_t)c->n_ports + 1) * sizeof *port, 0);
    ec_lua_fdtd_materials m = {
        .loss_frequency = 0.5 * (c->frequency[0] + c->frequency[c->n_frequencies - 1]),
        .all = lua_newuserdatauv(L, ((size_t)c->n_objects + 1) * sizeof *m.all, 0),
        .named = lua_newuserdatauv(L, (size_t)c->n_objects + 1, 0)};
    lua_newtable(L);
    m.keep = lua_gettop(L);
    lua_newtable(L);
    m.used = lua_gettop(L);
    if (k->materials && !lua_istable(L, k->materials))
        ec_lua_fail(L, "ec.fdtd: key 'materials': wants a table of names, as in %s, got a %s",
                    ec_noun_fdtd_material.usage, luaL_typename(L, k->materials));
    if (k->materials)
        m.names = ec_lua_table_copy(L, k->materials);
    for (lua_pushnil(L); m.names && lua_next(L, m.names); lua_pop(L, 1))
        if (lua_type(L, -2) != LUA_TSTRING)
            ec_lua_fail(L, "ec.fdtd: key 'materials': wants names with a material each, as in %s",
                        ec_noun_fdtd_material.usage);
    int32_t objects = 0, ports = 0;
    for (int kind = 0; kind < PORT_KINDS; kind++)
        for (int32_t i = 1; i <= n; i++) {
            lua_rawgeti(L, list, i);
            int index = lua_gettop(L);
            if (ec_lua_fdtd_kind_of(L, index) == EC_LUA_FDTD_PORT) {
                ec_lua_fdtd_port(L, index, &port[ports]);
                ports += rank_of(port + ports) == kind;
            } else if (kind == 0) {
                ec_lua_fdtd_object(L, index, &m, &object[objects++]);
            }
            lua_pop(L, 1);
        }
    ec_lua_fdtd_check_used(L, &m);
    c->objects = object;
    c->materials = m.all;
    c->n_materials = m.n;
    c->ports = port;
    name_ports(L, port, c->n_ports);
    check_places(L, port, c->n_ports);
}

static int fdtd_new(lua_State *L)
{
    fdtd_keys k;
    ec_fdtd_config config;
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        ec_lua_fail(L, "ec.fdtd: wants a table, as in %s, got a %s", ec_noun_fdtd.usage,
                    luaL_typename(L, 1));
    int32_t n = ec_lua_table_split(L, 1, "ec.fdtd"); /* 2: keys, 3: objects and ports */
    uint64_t given = ec_lua_keys_parse(L, 2, &ec_noun_fdtd, &k, NULL);
    if (n == 0)
        ec_lua_fail(L, "ec.fdtd: the model is empty: give objects, as ec.box{ ... }, and a port");
    ec_lua_mark_line(L);
    ec_fdtd_config_default(&config);
    read_frequencies(L, &k, &config);
    read_walls(L, &k, &config);
    read_grid(L, &k, &config.grid);
    read_run(L, &k, given, &config);
    read_plane_wave(L, &k, &config);
    read_final(L, &k, &config);
    read_entries(L, &k, 3, n, &config);
    int names = lua_gettop(L);
    ec_lua_fdtd *model = lua_newuserdatauv(L, sizeof *model, 2);
    *model = (ec_lua_fdtd){.n_ports = count_kinds(config.ports, config.n_ports, PORT_SOURCE),
                           .n_sources = count_kinds(config.ports, config.n_ports, PORT_PROBE),
                           .n_named = count_kinds(config.ports, config.n_ports, PORT_ELEMENT),
                           .n_frequencies = config.n_frequencies,
                           .has_wave = config.wave.on};
    luaL_setmetatable(L, EC_LUA_FDTD);
    lua_pushvalue(L, names);
    lua_setiuservalue(L, -2, 1);
    size_t bytes = (size_t)config.n_frequencies * sizeof *config.frequency;
    double *frequency = lua_newuserdatauv(L, bytes, 0);
    memcpy(frequency, config.frequency, bytes);
    model->frequency = frequency;
    lua_setiuservalue(L, -2, 2);
    lua_State *caller = ec_lua_core_enter(L);
    int rc = ec_fdtd_call(ec_lua_host_of(L)->graph, &config, &model->call);
    ec_lua_core_leave(L, caller);
    if (rc != EC_OK)
        ec_lua_fail_core(L, "ec.fdtd");
    return 1;
}

/* ---- methods --------------------------------------------------------------------------------- */

ec_lua_fdtd *ec_lua_fdtd_at(lua_State *L, const char *what)
{
    ec_lua_fdtd *model = luaL_testudata(L, 1, EC_LUA_FDTD);
    if (!model || !model->call)
        ec_lua_fail(L, "%s: call it with a colon on a model of ec.fdtd", what);
    ec_lua_mark_line(L);
    return model;
}

static void unknown_port(lua_State *L, const char *what, int names, int32_t n_names,
                         const char *name)
{
    enum { MOST = 64 };
    const char *all[MOST];
    int n = 0;
    for (int32_t i = 0; i < n_names && n < MOST; i++) {
        lua_rawgeti(L, names, i + 1);
        all[n++] = lua_tostring(L, -1); /* the list's own */
        lua_pop(L, 1);
    }
    const char *near = ec_lua_nearest(name, all, n);
    if (near)
        ec_lua_fail(L, "%s: there is no port '%s' (did you mean '%s'?)", what, name, near);
    ec_lua_fail(L, "%s: there is no port '%s'; the model has %s", what, name,
                ec_lua_push_names(L, all, n));
}

/* Of the first n that have names, which one the value at index names, or counts; from 0. */
static int32_t port_at(lua_State *L, const char *what, int index, int32_t n)
{
    const ec_lua_fdtd *model = lua_touserdata(L, 1);
    int top = lua_gettop(L);
    int32_t found = -1;
    if (n == 0)
        ec_lua_fail(L, "%s: the model has no %s", what,
                    n == model->n_named     ? "port, source or probe"
                    : n == model->n_sources ? "port and no source"
                                            : "port: give it an ec.port{ ... }");
    if (lua_type(L, index) == LUA_TNUMBER) {
        double number = lua_tonumber(L, index);
        if (!(number >= 1 && number <= n && number == floor(number)))
            ec_lua_fail(L, "%s: there is no port %.10g; the model has %d", what, number, (int)n);
        return (int32_t)number - 1;
    }
    if (lua_type(L, index) != LUA_TSTRING)
        ec_lua_fail(L, "%s: wants the name or number of a port, got a %s", what,
                    luaL_typename(L, index));
    lua_getiuservalue(L, 1, 1);
    for (int32_t i = 0; i < model->n_named && found < 0; i++) {
        lua_rawgeti(L, top + 1, i + 1);
        if (lua_rawequal(L, -1, index))
            found = i;
        lua_pop(L, 1);
    }
    if (found >= n)
        ec_lua_fail(L, "%s: '%s' is a %s", what, lua_tostring(L, index),
                    found < model->n_sources ? "source without waves"
                                             : "probe, which drives nothing");
    if (found < 0)
        unknown_port(L, what, top + 1, n, lua_tostring(L, index));
    lua_settop(L, top);
    return found;
}

/* The same of an optional argument: the only one. */
static int32_t only_port(lua_State *L, const char *what, int32_t n)
{
    if (lua_isnoneornil(L, 2) && n > 1)
        ec_lua_fail(L, "%s: which port? The model has %d: %s(1)", what, (int)n, what);
    if (lua_isnoneornil(L, 2)) {
        lua_settop(L, 1);
        lua_pushinteger(L, 1);
    }
    return port_at(L, what, 2, n);
}

static ec_expr output(lua_State *L, const ec_lua_fdtd *model, const char *what,
                      const ec_fdtd_what *wanted)
{
    ec_expr e = ec_fdtd_value(ec_lua_host_of(L)->graph, model->call, wanted);
    if (e < 0)
        ec_lua_fail_core(L, what);
    return e;
}

static int push_curve(lua_State *L, const ec_lua_fdtd *model, const char *what,
                      const ec_fdtd_what *wanted)
{
    return ec_lua_curve_push(L, output(L, model, what, wanted), model->n_frequencies,
                             model->frequency);
}

static int model_s(lua_State *L)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, "model:s");
    lua_settop(L, 3);
    if (lua_isnil(L, 2) || lua_isnil(L, 3))
        ec_lua_fail(L, "model:s: wants two ports, the receiving one and the source: model:s(2, 1)");
    ec_fdtd_what wanted = {.output = EC_FDTD_S};
    wanted.i = port_at(L, "model:s", 2, model->n_ports);
    wanted.j = port_at(L, "model:s", 3, model->n_ports);
    return push_curve(L, model, "model:s", &wanted);
}

static int model_impedance(lua_State *L)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, "model:impedance");
    int32_t j = only_port(L, "model:impedance", model->n_ports);
    return push_curve(L, model, "model:impedance",
                      &(ec_fdtd_what){.output = EC_FDTD_IMPEDANCE, .i = j, .j = j});
}

/* Of the line of a port, itself the source. */
static int push_line(lua_State *L, const char *what, ec_fdtd_output wanted)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, what);
    int32_t j = only_port(L, what, model->n_ports);
    return push_curve(L, model, what, &(ec_fdtd_what){.output = wanted, .i = j, .j = j});
}

static int model_line_impedance(lua_State *L)
{
    return push_line(L, "model:line_impedance", EC_FDTD_LINE_IMPEDANCE);
}

static int model_gamma(lua_State *L)
{
    return push_line(L, "model:gamma", EC_FDTD_GAMMA);
}

static int model_balance(lua_State *L)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, "model:balance");
    int32_t j = only_port(L, "model:balance", model->n_ports);
    return push_curve(L, model, "model:balance",
                      &(ec_fdtd_what){.output = EC_FDTD_BALANCE, .i = j, .j = j});
}

static int model_steps(lua_State *L)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, "model:steps");
    int32_t j = only_port(L, "model:steps", model->n_sources);
    return ec_lua_expr_push(L, output(L, model, "model:steps",
                                      &(ec_fdtd_what){.output = EC_FDTD_STEPS, .i = j, .j = j}));
}

static int model_cells(lua_State *L)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, "model:cells");
    return ec_lua_expr_push(
        L, output(L, model, "model:cells", &(ec_fdtd_what){.output = EC_FDTD_CELLS}));
}

/* How far the energy has fallen when a candidate ends. */
static int model_decay(lua_State *L)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, "model:decay_db");
    int32_t j = only_port(L, "model:decay_db", model->n_sources);
    return ec_lua_expr_push(L, output(L, model, "model:decay_db",
                                      &(ec_fdtd_what){.output = EC_FDTD_DECAY, .i = j, .j = j}));
}

static int push_modes(lua_State *L, const char *what, ec_fdtd_output of)
{
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, what);
    mode_keys k;
    lua_settop(L, 2);
    ec_noun noun = ec_noun_fdtd_modes;
    noun.name = what;
    ec_lua_keys_parse(L, 2, &noun, &k, NULL);
    ec_fdtd_what wanted = {.output = of, .count = (int32_t)k.count};
    int32_t probe = model->n_sources < model->n_named ? model->n_sources : 0;
    wanted.i = k.port ? port_at(L, "model:modes: key 'port'", k.port, model->n_named) : probe;
    if (k.excited_by)
        wanted.j = port_at(L, "model:modes: key 'excited_by'", k.excited_by, model->n_sources);
    else
        wanted.j = wanted.i < model->n_sources ? wanted.i : 0;
    if (model->n_sources == 0)
        ec_lua_fail(L, "%s: the model has no port and no source", what);
    wanted.from = isnan(k.from) ? model->frequency[0] : k.from;
    wanted.to = isnan(k.to) ? model->frequency[model->n_frequencies - 1] : k.to;
    if (!(wanted.from < wanted.to))
        ec_lua_fail(L, "%s: key 'to': %.10g Hz is not above from, %.10g Hz", what, wanted.to,
                    wanted.from);
    return ec_lua_expr_push(L, output(L, model, what, &wanted));
}

static int model_modes(lua_State *L)
{
    return push_modes(L, "model:modes", EC_FDTD_MODES);
}

static int model_q(lua_State *L)
{
    return push_modes(L, "model:q", EC_FDTD_Q);
}

int32_t ec_lua_fdtd_frequency(lua_State *L, const char *what, double wanted)
{
    const ec_lua_fdtd *model = lua_touserdata(L, 1);
    if (isnan(wanted) && model->n_frequencies > 1)
        ec_lua_fail(L, "%s: which frequency? The model has %d: give frequency", what,
                    (int)model->n_frequencies);
    int32_t best = 0;
    for (int32_t i = 1; i < model->n_frequencies && !isnan(wanted); i++)
        if (fabs(model->frequency[i] - wanted) < fabs(model->frequency[best] - wanted))
            best = i;
    if (fabs(model->frequency[best] - wanted) > 1e-9 * wanted)
        ec_lua_fail(
            L, "%s: key 'frequency': %.10g GHz is none of the model's; the nearest is %.10g GHz",
            what, 1e-9 * wanted, 1e-9 * model->frequency[best]);
    return best;
}

int32_t ec_lua_fdtd_driven(lua_State *L, const char *what, int excited_by)
{
    const ec_lua_fdtd *model = lua_touserdata(L, 1);
    const char *key = lua_pushfstring(L, "%s: key 'excited_by'", what);
    const bool is_wave = excited_by ? lua_type(L, excited_by) == LUA_TSTRING &&
                                          strcmp(lua_tostring(L, excited_by), "plane_wave") == 0
                                    : model->has_wave;
    if (is_wave)
        return EC_FDTD_WAVE;
    if (!excited_by && model->n_sources > 1)
        ec_lua_fail(L, "%s: excited by which port? The model has %d: give excited_by", what,
                    (int)model->n_sources);
    if (!excited_by) {
        lua_pushinteger(L, 1);
        excited_by = lua_gettop(L);
    }
    return port_at(L, key, excited_by, model->n_sources);
}

void ec_lua_fdtd_symmetry(int word, bool symmetry[3])
{
    static const bool axes[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                   {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    for (int i = 0; i < 3; i++)
        symmetry[i] = word >= 0 && axes[word][i];
}

/* Whether an angle is a number, or left out. */
static bool is_number(const ec_lua_list *angle)
{
    return !angle->v || angle->scalar;
}

/* Directions of model:far: pushes their memory. */
static int32_t directions_of(lua_State *L, const char *what, const far_keys *k,
                             const double (**to)[2])
{
    static const double none = 0;
    ec_lua_list angle[2] = {k->theta_deg, k->phi_deg};
    for (int a = 0; a < 2; a++)
        if (!angle[a].v)
            angle[a] = (ec_lua_list){.v = &none, .n = 1};
    if (angle[0].n != angle[1].n && angle[0].n != 1 && angle[1].n != 1)
        ec_lua_fail(L, "%s: theta_deg has %d and phi_deg %d elements: as many, or one", what,
                    (int)angle[0].n, (int)angle[1].n);
    const int32_t n = angle[0].n > angle[1].n ? angle[0].n : angle[1].n;
    double(*direction)[2] = lua_newuserdatauv(L, (size_t)n * sizeof *direction + 1, 0);
    for (int32_t i = 0; i < n; i++)
        for (int a = 0; a < 2; a++)
            direction[i][a] = angle[a].v[angle[a].n == 1 ? 0 : i] * EC_PI / 180;
    *to = (const double(*)[2])direction;
    return n;
}

static int model_far(lua_State *L)
{
    const char *what = "model:far";
    const ec_lua_fdtd *model = ec_lua_fdtd_at(L, what);
    far_keys k;
    lua_settop(L, 2);
    ec_lua_keys_parse(L, 2, &ec_noun_fdtd_far, &k, NULL);
    ec_fdtd_far far = {.quantity = (ec_fdtd_far_quantity)k.quantity,
                       .j = ec_lua_fdtd_driven(L, what, k.excited_by),
                       .frequency = ec_lua_fdtd_frequency(L, what, k.frequency)};
    const bool is_wave = far.j == EC_FDTD_WAVE;
    ec_lua_fdtd_symmetry(k.symmetry, far.symmetry);
    const bool everywhere = k.theta_deg.v || k.phi_deg.v;
    if (far.quantity != EC_FDTD_FAR_EFFICIENCY && (everywhere || !is_wave))
        far.n = directions_of(L, what, &k, &far.direction);
    else if (everywhere && far.quantity == EC_FDTD_FAR_EFFICIENCY)
        ec_lua_fail(L, "%s: an efficiency has no directions", what);
    ec_graph *graph = ec_lua_host_of(L)->graph;
    ec_expr e = ec_fdtd_far_value(graph, model->call, &far);
    if (e >= 0 && far.n == 1 && is_number(&k.theta_deg) && is_number(&k.phi_deg))
        e = ec_graph_unary(graph, EC_OP_SUM, e); /* of one element: a number */
    if (e < 0)
        ec_lua_fail_core(L, what);
    return ec_lua_expr_push(L, e);
}

static int model_report(lua_State *L)
{
    char text[EC_FDTD_DESCRIPTION];
    ec_fdtd_describe(ec_lua_fdtd_at(L, "model:report")->call, text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

static const luaL_Reg methods[] = {{"s", model_s},
                                   {"impedance", model_impedance},
                                   {"balance", model_balance},
                                   {"steps", model_steps},
                                   {"cells", model_cells},
                                   {"modes", model_modes},
                                   {"q", model_q},
                                   {"decay_db", model_decay},
                                   {"line_impedance", model_line_impedance},
                                   {"gamma", model_gamma},
                                   {"far", model_far},
                                   {"plane", ec_lua_fdtd_plane},
                                   {"pattern", ec_lua_fdtd_pattern},
                                   {"report", model_report},
                                   {"save", ec_lua_fdtd_save_fixed},
                                   {NULL, NULL}};
enum { METHODS = sizeof methods / sizeof *methods - 1 };

static int model_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *names[METHODS], *name = luaL_tolstring(L, 2, NULL);
    for (int i = 0; i < METHODS; i++)
        names[i] = methods[i].name;
    const char *near = ec_lua_nearest(name, names, METHODS);
    if (near)
        ec_lua_fail(L, "a model has no method '%s' (did you mean '%s'?)", name, near);
    ec_lua_fail(L, "a model has no method '%s'; it has %s", name,
                ec_lua_push_names(L, names, METHODS));
}

/* ---- module ---------------------------------------------------------------------------------- */

void ec_lua_fdtd_open(lua_State *L)
{
    luaL_newmetatable(L, EC_LUA_FDTD);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcclosure(L, model_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, fdtd_new);
    lua_setfield(L, -2, "fdtd");
    ec_lua_fdtd_parts_open(L);
    ec_lua_fdtd_fields_open(L);
}
