#include "lua_help.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "evaluators/mimo/material.h"
#include "lua_array.h"
#include "lua_curve.h"
#include "lua_expr.h"
#include "lua_fdtd.h"
#include "lua_fdtd_fields.h"
#include "lua_fdtd_parts.h"
#include "lua_fdtd_save.h"
#include "lua_job.h"
#include "lua_key_text.h"
#include "lua_library.h"
#include "lua_matrix.h"
#include "lua_patterns.h"
#include "lua_mimo.h"
#include "lua_mimo_save.h"
#include "lua_scene.h"
#include "lua_shapes.h"
#include "lua_sweep.h"
#include "optimizer.h"

/* ---- what has no table of keys --------------------------------------------------------------- */

static const ec_noun minimize = {"job:minimize", "job:minimize(\"sll_db\", expr)",
                                 "The objective: a number, the smaller the better. More than "
                                 "one: several objectives (best.front).",
                                 NULL, 0};
static const ec_noun maximize = {"job:maximize", "job:maximize(\"gain_db\", expr)",
                                 "The objective: a number, the larger the better.", NULL, 0};
static const ec_noun record = {
    "job:record", "job:record(\"x\", expr)",
    "A quantity that is computed for the best design of a search, or for every row of a sweep, and "
    "written with it.",
    NULL, 0};
static const ec_noun pattern = {"array:pattern", "array:pattern()",
                                "The complex pattern F in every direction of the grid.", NULL, 0};
static const ec_noun value = {
    "best:value", "best:value(expr)",
    "Any expression of the job at the best design, at final fidelity: a number, or a list.", NULL,
    0};
static const ec_noun save = {
    "best:save",
    "best:save(\"best.csv\"), best:save(\"array.ffd\", array), best:save(\"h.npy\", link), "
    "best:save(\"s.s2p\", model)",
    "Variables, recorded quantities, objectives and constraints as columns, into the folder "
    "of --out; .csv or .npy. With an array: its far field at the best design on its theta-phi grid "
    "or theta cut, .ffd or .cut (E_theta and E_phi; an isotropic element's pattern is E_theta), or "
    "its elements, .csv (x, y, z in m, amplitude, phase_deg with the steering's phase, and nx, ny, "
    "nz of elements that are not isotropic). With a link of ec.mimo: H, paths, a map or "
    "places of antennas (see link:save). With a model of ec.fdtd: its S-parameters (see "
    "model:save).",
    NULL, 0};
static const ec_noun sweep_best = {
    "sweep:best", "sweep:best(\"gain_db\"), sweep:best(\"f0\", \"min\")",
    "The best row by an objective (or the least or largest of any other column): a table with row, "
    "variables, objectives, constraints and recorded. Rows that failed do not count, rows that "
    "meet "
    "the constraints come first; nil when there is none.",
    NULL, 0};
static const ec_noun sweep_design = {"sweep:design", "sweep:design(17)",
                                     "The same table of one row.", NULL, 0};
static const ec_noun sweep_save = {
    "sweep:save", "sweep:save(\"table.csv\"), sweep:save(\"filter.s2p\", model)",
    "All columns in the order of the plan, into the folder of --out; .csv or .npy. With a model of "
    "ec.fdtd the S-parameters of each row, filter_1.s2p, filter_2.s2p, ..., from real and "
    "imaginary "
    "parts that the sweep recorded: job:record(\"s21_re\", model:s(2, 1):re()) and so on.",
    NULL, 0};
static const ec_noun front = {
    "best.front", "best.front[1], #best.front, best.front.objectives.gain_db",
    "With several objectives: the feasible designs that no other one beats, sorted by the first "
    "objective. best.front[i] is a result; objectives, search, constraints, variables and recorded "
    "are lists over the members by name; hypervolume; reference; best, which member the result is: "
    "the nearest to the best of all objectives, each scaled to its range; "
    "best.front:save(\"front.csv\").",
    NULL, 0};
static const ec_noun constant_value = {
    "ec.value", "ec.value(expr), ec.value(a, b, c)",
    "The value of an expression without design variables: a number, or a list of values, whose "
    ":save(\"x.npy\") keeps the value's axes (samples of ec.over first, the last axis fastest); "
    ".csv is "
    "a number a line in that order. Lists of best:value, best.recorded alike. Several expressions "
    "are evaluated together.",
    NULL, 0};
static const ec_noun arg = {
    "ec.arg", "ec.arg(\"count\", 32)",
    "The value of --set count=..., of the default's type; else the default. ec.quick is true with "
    "--quick.",
    NULL, 0};
static const ec_noun range = {"ec.range", "ec.range(from, to, count)",
                              "Evenly spaced values, both ends included.", NULL, 0};
static const ec_noun load_csv = {
    "ec.load_csv", "ec.load_csv(\"table.csv\")",
    "Columns of a text file by number, and by name when its first row has words. Files "
    "below the script's folder or --data.",
    NULL, 0};
static const ec_noun load_touchstone = {
    "ec.load_touchstone", "ec.load_touchstone(\"coupling.s4p\")",
    "A scattering matrix from a Touchstone file, version 1 or 2. It has n_ports, frequency (a "
    "list, "
    "Hz) and reference (ohm, one a port); re, im = matrix:s(2, 1) are lists over the frequencies. "
    "Files below the script's folder or --data.",
    NULL, 0};
static const ec_noun host = {
    "ec.host", "ec.host(function(columns) ... end, { x = x })",
    "A Lua function as a model. It is called once a generation: columns.x[c] is the value of "
    "design c (columns.x[i][c] for element i of a list), and it returns a list with a number for "
    "each design. A NaN or an error counts the designs as failed.",
    NULL, 0};

/* ---- all of them ----------------------------------------------------------------------------- */

static const ec_noun *const nouns[] = {&ec_noun_job,
                                       &ec_noun_real,
                                       &ec_noun_integer,
                                       &ec_noun_binary,
                                       &ec_noun_choice,
                                       &ec_noun_spaced,
                                       &minimize,
                                       &maximize,
                                       &ec_noun_subject_to,
                                       &record,
                                       &ec_noun_solve,
                                       &ec_noun_sweep,
                                       &sweep_best,
                                       &sweep_design,
                                       &sweep_save,
                                       &ec_noun_sensitivity,
                                       &value,
                                       &save,
                                       &front,
                                       &ec_noun_array,
                                       &ec_noun_optimal,
                                       &ec_noun_sll,
                                       &ec_noun_sll_mean,
                                       &ec_noun_xpol,
                                       &ec_noun_hpbw,
                                       &ec_noun_fnbw,
                                       &ec_noun_directivity,
                                       &ec_noun_excess,
                                       &ec_noun_level,
                                       &ec_noun_null_depth,
                                       &ec_noun_pointing_error,
                                       &ec_noun_scan_loss,
                                       &ec_noun_dynamic_range,
                                       &pattern,
                                       &ec_noun_with,
                                       &ec_noun_scene,
                                       &ec_noun_material,
                                       &ec_noun_grid,
                                       &ec_noun_plate,
                                       &ec_noun_box,
                                       &ec_noun_wedge,
                                       &ec_noun_cylinder,
                                       &ec_noun_sphere,
                                       &ec_noun_cone,
                                       &ec_noun_ground,
                                       &ec_noun_canyon,
                                       &ec_noun_mimo,
                                       &ec_noun_mimo_end,
                                       &ec_noun_angular_spread,
                                       &ec_noun_mimo_save,
                                       &ec_noun_places,
                                       &arg,
                                       &range,
                                       &ec_noun_over,
                                       &ec_noun_fdtd,
                                       &ec_noun_fdtd_boundary,
                                       &ec_noun_fdtd_domain,
                                       &ec_noun_fdtd_material,
                                       &ec_noun_fdtd_plane_wave,
                                       &ec_noun_fdtd_final,
                                       &ec_noun_fdtd_modes,
                                       &ec_noun_fdtd_far,
                                       &ec_noun_fdtd_plane,
                                       &ec_noun_fdtd_pattern,
                                       &ec_noun_fdtd_save,
                                       &ec_noun_curve,
                                       &ec_noun_curve_mask,
                                       &ec_noun_wire,
                                       &ec_noun_polygon,
                                       &ec_noun_port,
                                       &ec_noun_lumped,
                                       &ec_noun_source,
                                       &ec_noun_probe,
                                       &ec_noun_debye,
                                       &ec_noun_drude,
                                       &ec_noun_lorentz,
                                       &ec_noun_combinations,
                                       &ec_noun_normal,
                                       &ec_noun_uniform,
                                       &ec_noun_triangular,
                                       &ec_noun_failures,
                                       &load_csv,
                                       &ec_noun_load_pattern,
                                       &load_touchstone,
                                       &host,
                                       &constant_value,
                                       &ec_noun_min_distance,
                                       &ec_noun_row,
                                       &ec_noun_mirror,
                                       &ec_noun_yield,
                                       &ec_noun_capacity,
                                       &ec_noun_singular_values,
                                       &ec_noun_sinr};
enum { NOUNS = sizeof nouns / sizeof *nouns };

const ec_noun *ec_lua_noun(int i)
{
    if (i < NOUNS)
        return nouns[i];
    i -= NOUNS;
    if (i < ec_lua_library_count)
        return &ec_lua_library[i];
    i -= ec_lua_library_count;
    for (const ec_noun *method = ec_lua_link_methods; method->name; method++)
        if (i-- == 0)
            return method;
    for (const ec_noun *const *function = ec_lua_link_functions; *function; function++)
        if (i-- == 0)
            return *function;
    return NULL;
}

/* The units of the module (scripts/eciton/units.lua). */
const char *const ec_lua_units[][2] = {{"length", "m, km, cm, mm, um, inch, mil"},
                                       {"frequency", "Hz, kHz, MHz, GHz, THz"},
                                       {"time", "s, ms, us, ns, ps"},
                                       {"angle", "rad, deg"},
                                       {"constants", "pi, c0 (speed of light, m/s)"},
                                       {NULL, NULL}};
static const char units_help[] =
    "Factors to SI units, numbers of the module: 3.5*ec.GHz, 0.5*ec.mm, 20*ec.deg. Keys are in SI "
    "units unless their name says otherwise (_deg, _db).";

static const char materials_help[] =
    "Names of materials in ec.scene and shapes: pec, a perfect conductor, and the classes of ITU-R "
    "P.2040-3, with the frequencies that they were measured at; up to a factor of two outside they "
    "are carried on, with a warning. Others by figures: { eps_r = 3, conductivity = 0.01 }.";

/* The frequencies of a class, "0.1 to 100, 220 to 450 GHz". */
static void material_ranges(int32_t itu, char *text, size_t size)
{
    double ends[2];
    size_t n = 0;
    for (int32_t row = 0; n < size && ec_material_itu_range(itu, row, ends); row++)
        n += (size_t)snprintf(text + n, size - n, "%s%g to %g", row ? ", " : "", ends[0] * 1e-9,
                              ends[1] * 1e-9);
    if (n < size)
        snprintf(text + n, size - n, " GHz");
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- for the terminal ------------------------------------------------------------------------ */

void ec_lua_help_list(FILE *to)
{
    fprintf(to, "topics of eciton help NOUN:\n\n");
    for (int i = 0; ec_lua_noun(i); i++)
        if (!strchr(ec_lua_noun(i)->name, ' ') && !starts(ec_lua_noun(i)->name, "link:"))
            fprintf(to, "  %-22s %s\n", ec_lua_noun(i)->name, ec_lua_noun(i)->usage);
    fprintf(to, "  %-22s %s\n", "functions", "ec.sin(x), x:sum(), ec.concat(a, b), ...");
    fprintf(to, "  %-22s %s\n", "link", "what ec.mimo gives: link:capacity{ ... }, link:h(), ...");
    fprintf(to, "  %-22s %s\n", "materials", "itu_concrete, itu_glass, ...");
    fprintf(to, "  %-22s %s\n", "units", "3.5*ec.GHz, 0.5*ec.mm, ...");
    fprintf(to, "  %-22s %s\n", "methods", "lshade, cmaes, aco, nsga2, nlopt_..., ...");
    fprintf(to, "  %-22s %s\n", "resume", "eciton resume DIR");
}

/* What the value of a noun can do. */
static void print_see_also(FILE *to, const ec_noun *noun)
{
    static const char *const follows[][2] = {{"ec.array", "array:"},
                                             {"ec.job", "job:"},
                                             {"job:solve", "best:"},
                                             {"job:sweep", "sweep:"},
                                             {"ec.mimo", "link:"}};
    for (size_t i = 0; i < sizeof follows / sizeof *follows; i++) {
        if (strcmp(noun->name, follows[i][0]) != 0)
            continue;
        fprintf(to, "\nsee also:");
        for (int k = 0, n = 0; ec_lua_noun(k); k++)
            if (strncmp(ec_lua_noun(k)->name, follows[i][1], strlen(follows[i][1])) == 0)
                fprintf(to, n++ ? ", %s" : " %s", ec_lua_noun(k)->name);
        char methods[512];
        ec_optimizer_names(0, 0, methods, sizeof methods);
        fprintf(to, strcmp(noun->name, "job:solve") == 0 ? ", %s\n" : "\n", methods);
    }
}

static void print_noun(FILE *to, const ec_noun *noun)
{
    char type[160], initial[80];
    fprintf(to, "%s\n\n    %s\n\n%s\n", noun->name, noun->usage, noun->help);
    if (noun->n_keys)
        fprintf(to, "\n");
    for (int i = 0; i < noun->n_keys; i++) {
        const ec_key *key = &noun->keys[i];
        ec_lua_key_type(key, type, sizeof type);
        ec_lua_key_default(key, initial, sizeof initial);
        bool required = key->flags & EC_KEY_REQUIRED;
        fprintf(to, "  %-20s %s", key->key, type);
        if (initial[0])
            fprintf(to, required ? " (%s)" : " (default %s)", initial);
        fprintf(to, "\n  %-20s   %s\n", "", key->help);
    }
    print_see_also(to, noun);
}

/* "link", "best": the methods of a value that is no noun itself; false where there are none. */
static bool print_methods_of(FILE *to, const char *whose)
{
    int n = 0;
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s:", whose);
    for (int i = 0; ec_lua_noun(i); i++)
        if (starts(ec_lua_noun(i)->name, prefix))
            fprintf(to, "%s%s\n      %s\n",
                    n++ ? "" : "\nmethods; eciton help and a name for more\n\n",
                    ec_lua_noun(i)->usage, ec_lua_noun(i)->help);
    return n > 0;
}

static void print_materials(FILE *to)
{
    const char *name;
    char text[80];
    fprintf(to, "%s\n\n  %-22s %s\n", materials_help, "pec", "at any frequency");
    for (int32_t i = 0; (name = ec_material_itu_name(i)); i++) {
        material_ranges(i, text, sizeof text);
        fprintf(to, "  itu_%-18s %s\n", name, text);
    }
}

static void print_units(FILE *to)
{
    fprintf(to, "%s\n\n", units_help);
    for (int i = 0; ec_lua_units[i][0]; i++)
        fprintf(to, "  %-10s %s\n", ec_lua_units[i][0], ec_lua_units[i][1]);
}

/* What stands behind the help of a method that this build lacks. */
static const char *missing_text(const ec_optimizer_def *def)
{
    return def->is_built && !def->is_built(def) ? " (this build of Eciton lacks it)" : "";
}

static void print_method(FILE *to, const ec_optimizer_def *def)
{
    char type[400], initial[400];
    fprintf(
        to,
        "%s\n\n    job:solve{ method = \"%s\", evaluations = 1e5 }\n\n%s%s\nsmallest population: "
        "%zu\n",
        def->name, def->name, def->help, missing_text(def), def->min_population);
    for (size_t i = 0; i < def->n_options; i++) {
        ec_lua_option_texts(&def->options[i], type, initial, sizeof type);
        fprintf(to, "%s  %-20s %s (default %s)\n  %-20s   %s\n", i ? "" : "\n", def->options[i].key,
                type, initial, "", def->options[i].help);
    }
}

/* ---- families of methods --------------------------------------------------------------------- */

/* Whether the method is the first of its family in the table. */
static bool begins_family(int i)
{
    const ec_optimizer_def *const *all = ec_optimizer_table();
    return all[i]->family && (i == 0 || all[i - 1]->family != all[i]->family);
}

enum { FAMILY_OPTIONS_MAX = 64 };

/* Options of all members of the family that begins at entry `first`, each key once. */
static int family_options(int first, const ec_option_def **options)
{
    const ec_optimizer_def *const *all = ec_optimizer_table();
    int n = 0;
    for (int i = first; all[i] && all[i]->family == all[first]->family; i++)
        for (size_t k = 0; k < all[i]->n_options; k++) {
            int at = 0;
            while (at < n && strcmp(options[at]->key, all[i]->options[k].key) != 0)
                at++;
            if (at == n && n < FAMILY_OPTIONS_MAX)
                options[n++] = &all[i]->options[k];
        }
    return n;
}

static void print_family(FILE *to, int first)
{
    const ec_optimizer_def *const *all = ec_optimizer_table();
    const ec_optimizer_family *family = all[first]->family;
    fprintf(to, "%s\n\n%s\n\n", family->title, family->help);
    for (int i = first; all[i] && all[i]->family == family; i++)
        fprintf(to, "  %s\n      %s%s\n", all[i]->name, all[i]->help, missing_text(all[i]));
    fprintf(to, "\noptions: eciton help and the name of a method\n");
}

static bool print_family_topic(FILE *to, const char *topic)
{
    for (int i = 0; ec_optimizer_table()[i]; i++)
        if (begins_family(i) && strcmp(ec_optimizer_table()[i]->family->name, topic) == 0) {
            print_family(to, i);
            return true;
        }
    return false;
}

/* Every method in a line, a family as one. */
static void print_methods(FILE *to)
{
    const ec_optimizer_def *const *all = ec_optimizer_table();
    fprintf(to, "The words of `method` in job:solve; eciton help and a word for its options.\n\n");
    for (int i = 0; all[i]; i++)
        if (begins_family(i))
            fprintf(to, "  %s\n      %s: eciton help %s\n", all[i]->family->name,
                    all[i]->family->title, all[i]->family->name);
        else if (!all[i]->family)
            fprintf(to, "  %s\n      %s\n", all[i]->name, all[i]->help);
}

static void print_functions(FILE *to)
{
    fprintf(to, "Functions of expressions; each is a method too, as in x:sum(). Numbers and lists "
                "may stand "
                "for expressions.\n\n");
    for (const ec_lua_function *f = ec_lua_functions; f->name; f++)
        fprintf(to, "  %s\n      %s\n", f->usage, f->help);
}

/* "ec.array", "array:sll_db", "array.sll_db" are names of what they mean. */
static bool is_noun(const char *topic, const ec_noun *noun)
{
    char dotted[120];
    snprintf(dotted, sizeof dotted, "%s", noun->name);
    for (char *p = dotted; *p; p++)
        *p = *p == ':' ? '.' : *p;
    return strcmp(topic, noun->name) == 0 || strcmp(topic, dotted) == 0;
}

/* What comes behind the last point or colon. */
static const char *last_part(const char *name)
{
    const char *last = name;
    for (const char *p = name; *p; p++)
        if ((*p == '.' || *p == ':') && p[1] && p[1] != ' ')
            last = p + 1;
    return last;
}

static bool has_key(const ec_noun *noun, const char *key)
{
    for (int i = 0; i < noun->n_keys; i++)
        if (strcmp(noun->keys[i].key, key) == 0)
            return true;
    return false;
}

enum { MOST_NAMES = 512 };

/* Those of nouns, functions and methods, behind the n that are there; returns how many there are. */
static int add_names(const char *names[MOST_NAMES], int n)
{
    for (int i = 0; ec_lua_noun(i) && n < MOST_NAMES; i++)
        if (!strchr(ec_lua_noun(i)->name, ' '))
            names[n++] = last_part(ec_lua_noun(i)->name);
    for (const ec_lua_function *f = ec_lua_functions; f->name && n < MOST_NAMES; f++)
        names[n++] = f->name;
    for (int i = 0; ec_optimizer_table()[i] && n < MOST_NAMES; i++)
        names[n++] = ec_optimizer_table()[i]->name;
    return n;
}

/* Names that look like the word, then nouns that have it as a key or in their help. */
void ec_lua_help_near(const char *topic, char *text, size_t size)
{
    enum { ALIKE = 3, SHOWN = 6 };
    const char *names[MOST_NAMES], *word = last_part(topic), *near[SHOWN];
    int n = add_names(names, 0), shown = 0;
    while (shown < ALIKE && (near[shown] = ec_lua_nearest(word, names, n)) != NULL) {
        for (int i = n - 1; i >= 0; i--)
            if (strcmp(names[i], near[shown]) == 0)
                memmove(names + i, names + i + 1, (size_t)(--n - i) * sizeof *names);
        shown++;
    }
    for (int i = 0; strlen(word) >= 4 && ec_lua_noun(i) && shown < SHOWN; i++)
        if (!strchr(ec_lua_noun(i)->name, ' ') &&
            (has_key(ec_lua_noun(i), word) || strcasestr(ec_lua_noun(i)->name, word) ||
             strcasestr(ec_lua_noun(i)->help, word)))
            near[shown++] = ec_lua_noun(i)->name;
    text[0] = 0;
    size_t used = 0;
    for (int i = 0; i < shown && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ", %s" : "%s", near[i]);
}

void ec_lua_help_words(FILE *to)
{
    static const char *const others[] = {"functions", "link", "materials", "units", "methods"};
    const char *names[MOST_NAMES];
    int n = 0;
    for (; n < (int)(sizeof others / sizeof *others); n++)
        names[n] = others[n];
    n = add_names(names, n);
    for (int i = 0; i < n; i++) {
        int first = 0;
        while (strcmp(names[first], names[i]) != 0)
            first++;
        if (first == i)
            fprintf(to, i ? " %s" : "%s", names[i]);
    }
}

const ec_noun *ec_lua_options_of(const char *name)
{
    for (int i = 0; ec_lua_noun(i); i++) {
        const char *list = ec_lua_noun(i)->name, *end = strstr(list, ": options");
        for (const char *at = list; end && at < end; at += strspn(at, ", ")) {
            size_t n = strcspn(at, ",:");
            if (n == strlen(name) + 3 && starts(at, "ec.") && strncmp(at + 3, name, n - 3) == 0)
                return ec_lua_noun(i);
            at += n;
        }
    }
    return NULL;
}

/* A function of the module, with its options, and where links have it as well. */
static bool print_function(FILE *to, const char *name)
{
    const ec_lua_function *f = ec_lua_functions;
    while (f->name && strcmp(name, f->name) != 0)
        f++;
    if (!f->name)
        return false;
    fprintf(to, "%s\n      %s\n", f->usage, f->help);
    const ec_noun *options = ec_lua_options_of(name);
    if (options) {
        fprintf(to, "\n");
        print_noun(to, options);
    }
    for (const ec_noun *const *link = ec_lua_link_functions; *link; link++)
        if (strcmp((*link)->name + strlen("link:"), name) == 0)
            fprintf(to, "\nsee also: %s\n", (*link)->name);
    return true;
}

bool ec_lua_help_topic(FILE *to, const char *topic)
{
    if (strcmp(topic, "units") == 0) {
        print_units(to);
        return true;
    }
    if (strcmp(topic, "methods") == 0) {
        print_methods(to);
        return true;
    }
    if (strcmp(topic, "functions") == 0) {
        print_functions(to);
        return true;
    }
    if (strcmp(topic, "materials") == 0 || starts(topic, "itu_")) {
        print_materials(to);
        return true;
    }
    for (int i = 0; ec_lua_noun(i); i++)
        if (is_noun(topic, ec_lua_noun(i))) {
            print_noun(to, ec_lua_noun(i));
            return true;
        }
    if (print_function(to, starts(topic, "ec.") ? topic + 3 : topic))
        return true;
    for (int i = 0; ec_lua_noun(i); i++) /* "array", "sll_db" */
        if (strcmp(topic, last_part(ec_lua_noun(i)->name)) == 0) {
            print_noun(to, ec_lua_noun(i));
            print_methods_of(to, topic);
            return true;
        }
    const ec_optimizer_def *def = ec_optimizer_find(topic);
    if (def) {
        print_method(to, def);
        return true;
    }
    return print_family_topic(to, topic) || print_methods_of(to, topic);
}

/* ---- the reference page ---------------------------------------------------------------------- */

/* '|' separates the columns of a Markdown table. */
static void cell(FILE *to, const char *text)
{
    for (; *text; text++)
        fprintf(to, *text == '|' ? "\\%c" : "%c", *text);
}

static void markdown_noun(FILE *to, const ec_noun *noun)
{
    char type[160], initial[80];
    fprintf(to, "\n### %s\n\n```lua\n%s\n```\n\n%s\n", noun->name, noun->usage, noun->help);
    if (noun->n_keys)
        fprintf(to, "\n| key | kind | default | |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < noun->n_keys; i++) {
        const ec_key *key = &noun->keys[i];
        ec_lua_key_type(key, type, sizeof type);
        ec_lua_key_default(key, initial, sizeof initial);
        fprintf(to, "| `%s` | ", key->key);
        cell(to, type);
        fprintf(to, " | %s | ", initial);
        cell(to, key->help);
        fprintf(to, " |\n");
    }
}

static void markdown_options(FILE *to, int n, const ec_option_def *const *options)
{
    char type[400], initial[400];
    if (n > 0)
        fprintf(to, "\n| option | kind | default | |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < n; i++) {
        ec_lua_option_texts(options[i], type, initial, sizeof type);
        fprintf(to, "| `%s` | ", options[i]->key);
        cell(to, type);
        fprintf(to, " | %s | ", initial);
        cell(to, options[i]->help);
        fprintf(to, " |\n");
    }
}

static void markdown_method(FILE *to, const ec_optimizer_def *def)
{
    const ec_option_def *options[FAMILY_OPTIONS_MAX];
    int n = 0;
    for (; n < (int)def->n_options && n < FAMILY_OPTIONS_MAX; n++)
        options[n] = &def->options[n];
    fprintf(to, "\n### %s\n\n%s. Smallest population: %zu.\n", def->name, def->help,
            def->min_population);
    markdown_options(to, n, options);
}

static void markdown_family(FILE *to, int first)
{
    const ec_optimizer_def *const *all = ec_optimizer_table();
    const ec_optimizer_family *family = all[first]->family;
    const ec_option_def *options[FAMILY_OPTIONS_MAX];
    fprintf(to, "\n### %s\n\n%s\n\n| method | |\n| --- | --- |\n", family->title, family->help);
    for (int i = first; all[i] && all[i]->family == family; i++) {
        fprintf(to, "| `%s` | ", all[i]->name);
        cell(to, all[i]->help);
        fprintf(to, "%s |\n", all[i]->is_built ? "; not in every build" : "");
    }
    fprintf(to, "\nTheir options; `eciton help` and a method's name tells which it has.\n");
    markdown_options(to, family_options(first, options), options);
}

void ec_lua_help_markdown(FILE *to)
{
    static const struct {
        const char *title, *prefix[16]; /* ended by NULL */
    } sections[] = {{"Jobs", {"ec.job", "job:", NULL}},
                    {"Results", {"best:", "sweep:", NULL}},
                    {"Antenna arrays", {"ec.array", "array:", NULL}},
                    {"Scenes",
                     {"ec.scene", "material", "surface:", "ec.plate", "ec.box", "ec.wedge",
                      "ec.cylinder", "ec.sphere", "ec.cone", "ec.ground", "ec.canyon", NULL}},
                    {"Links between antennas", {"ec.mimo", "mimo.", "ec.grid", "link:", NULL}},
                    {"Microwave structures",
                     {"ec.fdtd", "fdtd.", "model:", "ec.wire", "ec.polygon", "ec.port", "ec.lumped",
                      "ec.source", "ec.probe", "ec.debye", "ec.drude", "ec.lorentz", "ec.curve",
                      "curve:", NULL}},
                    {"Geometries and steering", {"ec.geometry", "ec.steering", NULL}},
                    {"Tapers, bases and element errors", {"ec.taper", "ec.basis", "ec.errors"}}};
    enum { SECTIONS = sizeof sections / sizeof *sections };
    fprintf(to,
            "# Reference of the Lua module\n\n"
            "Generated by `eciton help --markdown` from the tables that the parser uses. Keys "
            "are in SI units "
            "unless their name says otherwise (`_deg`, `_db`). The [guide](guide/README.md) has a "
            "first script.\n");
    enum { MOST = 256 };
    bool done[MOST] = {false};
    for (int s = 0; s < SECTIONS; s++) {
        fprintf(to, "\n## %s\n", sections[s].title);
        for (int i = 0; ec_lua_noun(i); i++)
            for (int p = 0; sections[s].prefix[p]; p++)
                if (i < MOST && !done[i] && starts(ec_lua_noun(i)->name, sections[s].prefix[p])) {
                    markdown_noun(to, ec_lua_noun(i));
                    done[i] = true;
                }
    }
    fprintf(to, "\n## Search methods\n\nThe words of `method` in `job:solve`, with the options "
                "that each adds to its "
                "keys.\n");
    for (int i = 0; ec_optimizer_table()[i]; i++)
        if (begins_family(i))
            markdown_family(to, i);
        else if (!ec_optimizer_table()[i]->family)
            markdown_method(to, ec_optimizer_table()[i]);
    fprintf(to,
            "\n## Functions\n\nNumbers and lists may stand for expressions; each function is a "
            "method of "
            "expressions too, as in `x:sum()`. Indices count from 1.\n\n| | |\n| --- | --- |\n");
    for (const ec_lua_function *f = ec_lua_functions; f->name; f++) {
        fprintf(to, "| `%s` | ", f->usage);
        cell(to, f->help);
        fprintf(to, " |\n");
    }
    fprintf(to, "\n## Materials\n\n%s\n\n| name | frequencies |\n| --- | --- |\n| `pec` | any |\n",
            materials_help);
    for (int32_t i = 0; ec_material_itu_name(i); i++) {
        char text[80];
        material_ranges(i, text, sizeof text);
        fprintf(to, "| `itu_%s` | %s |\n", ec_material_itu_name(i), text);
    }
    fprintf(to, "\n## Units\n\n%s\n\n| | |\n| --- | --- |\n", units_help);
    for (int i = 0; ec_lua_units[i][0]; i++)
        fprintf(to, "| %s | %s |\n", ec_lua_units[i][0], ec_lua_units[i][1]);
    fprintf(to, "\n## More of the module\n");
    for (int i = 0; ec_lua_noun(i); i++)
        if (i >= MOST || !done[i])
            markdown_noun(to, ec_lua_noun(i));
}
