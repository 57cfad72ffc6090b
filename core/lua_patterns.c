#include "lua_patterns.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "lua_files.h"
#include "lua_values.h"

static const double DEGREE = EC_PI / 180;

/* Bytes that the core takes for each byte of a file while it is read, about: a direction has a line
 * of 40 to 80 characters, and up to 600 bytes as a point, in the grid and in the tables. */
enum { BYTES_PER_BYTE = 16 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes the bytes counted against the script's memory `wanted`. */
static void charge(lua_State *L, const char *what, size_t wanted, size_t *charged)
{
    ec_lua_budget *budget = &ec_lua_host_of(L)->budget;

    if (wanted > *charged && wanted - *charged > budget->memory_limit - budget->memory_used)
        ec_lua_fail(L,
                    "%s: not enough memory: the pattern or matrix needs %.3g GiB, the script may "
                    "use %.3g GiB "
                    "(--trust lifts the limit)",
                    what, (double)wanted / (1 << 30), (double)budget->memory_limit / (1 << 30));
    budget->memory_used += wanted - *charged; /* modulo 2^64: may become less */
    *charged = wanted;
}

/* The content of the file named by the first argument, on the stack. */
static const char *load(lua_State *L, const char *what, size_t *size)
{
    char real[PATH_MAX];

    if (lua_type(L, 1) != LUA_TSTRING)
        ec_lua_fail(L, "%s: wants the name of a file, got a %s", what, luaL_typename(L, 1));
    if (ec_lua_files_resolve(L, lua_tostring(L, 1), real, sizeof real) != EC_OK)
        ec_lua_fail_core(L, what);
    const char *text = ec_lua_files_slurp(L, real, size);
    if (!text)
        ec_lua_fail_core(L, what);
    return text;
}

/* ---- far fields ------------------------------------------------------------------------------ */

typedef struct pattern_keys {
    double frequency;
    int select;
} pattern_keys;

static const ec_key pattern_table[] = {
    {"frequency", EC_KEY_NUMBER, EC_KEY_ABOVE, NAN, 0, INFINITY, "Hz", NULL,
     "which field of a file that has several", offsetof(pattern_keys, frequency)},
    {"select", EC_KEY_WORD, 0, 0, 0, 0, NULL, "interpolate|nearest",
     "between the file's frequencies: real and imaginary parts linear in frequency, or the nearest "
     "field (outside of them too)",
     offsetof(pattern_keys, select)}};

const ec_noun ec_noun_load_pattern = {
    "ec.load_pattern", "ec.load_pattern(\"patch.ffd\", { frequency = 10*ec.GHz })",
    "The far field of an element from a file: .ffd (HFSS), .cut (TICRA GRASP), .ffe (FEKO), .ffs "
    "(CST) or .csv (columns theta_deg, phi_deg, e_theta_re, e_theta_im or e_theta_db, "
    "e_theta_phase_deg, and e_phi_... alike). It has n_theta, n_phi, theta_deg, phi_deg, frequency "
    "(0: not stated), peak (the largest |E|) and directivity_db (at the peak; zero field where the "
    "file has none); :field(theta_deg, phi_deg) gives the real and imaginary parts of E_theta and "
    "of E_phi. Files below the script's folder or --data.",
    EC_KEYS(pattern_table)};

const ec_lua_far_field *ec_lua_far_field_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, EC_LUA_FAR_FIELD);
}

static ec_lua_far_field *check_far_field(lua_State *L)
{
    ec_lua_far_field *p = luaL_testudata(L, 1, EC_LUA_FAR_FIELD);
    if (!p)
        ec_lua_fail(L, "a pattern of ec.load_pattern is needed, got a %s (use pattern:field(...))",
                    luaL_typename(L, 1));
    return p;
}

static size_t far_field_bytes(const ec_lua_far_field *p)
{
    size_t directions = (size_t)p->field->n_theta * (size_t)p->field->n_phi;
    return 2 * directions * sizeof(ec_c128) +
           ec_element_table_length(&p->element) * (sizeof(ec_c128) + sizeof(ec_c64));
}

static int load_pattern(lua_State *L)
{
    static const char what[] = "ec.load_pattern";
    pattern_keys keys;
    size_t size = 0;

    ec_lua_keys_parse(L, 2, &ec_noun_load_pattern, &keys, NULL);
    const char *text = load(L, what, &size);
    ec_lua_far_field *p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = (ec_lua_far_field){.element = {.kind = EC_ELEMENT_KIND_ISOTROPIC}};
    luaL_setmetatable(L, EC_LUA_FAR_FIELD);
    ec_far_field_info info;
    ec_far_field_info_default(&info);
    info.frequency = isnan(keys.frequency) ? 0 : keys.frequency;
    info.select = keys.select ? EC_FAR_FIELD_NEAREST : EC_FAR_FIELD_INTERPOLATE;
    charge(L, what, BYTES_PER_BYTE * size, &p->bytes);
    if (ec_far_field_parse(lua_tostring(L, 1), text, size, &info, &p->field) != EC_OK ||
        ec_element_table_create(p->field, &p->element) != EC_OK)
        ec_lua_fail_core(L, what); /* the userdata frees what there is */
    charge(L, what, far_field_bytes(p), &p->bytes);
    return 1;
}

static int far_field_gc(lua_State *L)
{
    ec_lua_far_field *p = lua_touserdata(L, 1);
    charge(L, "", 0, &p->bytes);
    ec_element_table_destroy(&p->element);
    ec_far_field_destroy(&p->field);
    return 0;
}

static void push_degrees(lua_State *L, const double *angle, int32_t n)
{
    double *to = ec_lua_values_new(L, n);
    for (int32_t i = 0; i < n; i++)
        to[i] = angle[i] / DEGREE;
}

static const ec_element_gain *gain_of(ec_lua_far_field *p)
{
    if (!p->gained)
        ec_element_gain_of(&p->element, &p->gain);
    p->gained = true;
    return &p->gain;
}

/* pattern:field(theta_deg, phi_deg): four numbers. */
static int far_field_field(lua_State *L)
{
    const ec_lua_far_field *p = check_far_field(L);
    double angle[2], s[2], c[2];
    ec_c128 e[3], e_theta, e_phi;

    for (int i = 0; i < 2; i++) {
        angle[i] = lua_tonumber(L, i + 2);
        if (lua_type(L, i + 2) != LUA_TNUMBER || !isfinite(angle[i]))
            ec_lua_fail(L,
                        "pattern:field(theta_deg, phi_deg): %s must be a finite number, got a %s",
                        i ? "phi_deg" : "theta_deg", luaL_typename(L, i + 2));
        ec_det_sincospi(angle[i] / 180, &s[i], &c[i]);
    }
    ec_element_vector_f64(&p->element, s[0] * c[1], s[0] * s[1], c[0], e);
    ec_element_project_f64(e, c[0], s[0], c[1], s[1], &e_theta, &e_phi);
    lua_pushnumber(L, e_theta.re);
    lua_pushnumber(L, e_theta.im);
    lua_pushnumber(L, e_phi.re);
    lua_pushnumber(L, e_phi.im);
    return 4;
}

static int far_field_index(lua_State *L)
{
    static const char *const names[] = {"n_theta",   "n_phi", "theta_deg",      "phi_deg",
                                        "frequency", "peak",  "directivity_db", "field"};
    ec_lua_far_field *p = check_far_field(L);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    const ec_far_field *f = p->field;

    if (strcmp(name, "n_theta") == 0)
        lua_pushinteger(L, f->n_theta);
    else if (strcmp(name, "n_phi") == 0)
        lua_pushinteger(L, f->n_phi);
    else if (strcmp(name, "theta_deg") == 0)
        push_degrees(L, f->theta, f->n_theta);
    else if (strcmp(name, "phi_deg") == 0)
        push_degrees(L, f->phi, f->n_phi);
    else if (strcmp(name, "frequency") == 0)
        lua_pushnumber(L, f->frequency);
    else if (strcmp(name, "peak") == 0)
        lua_pushnumber(L, gain_of(p)->peak);
    else if (strcmp(name, "directivity_db") == 0)
        lua_pushnumber(L, 10 * log10(gain_of(p)->directivity));
    else if (strcmp(name, "field") == 0)
        lua_pushcfunction(L, far_field_field);
    else {
        const char *near = ec_lua_nearest(name, names, (int)(sizeof names / sizeof *names));
        ec_lua_fail(L, "a pattern has no '%s'%s%s%s", luaL_tolstring(L, 2, NULL),
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    return 1;
}

/* ---- scattering matrices --------------------------------------------------------------------- */

const ec_lua_touchstone *ec_lua_touchstone_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, EC_LUA_TOUCHSTONE);
}

static const ec_touchstone *check_touchstone(lua_State *L)
{
    const ec_lua_touchstone *t = ec_lua_touchstone_test(L, 1);
    if (!t)
        ec_lua_fail(L, "a matrix of ec.load_touchstone is needed, got a %s (use matrix:s(i, j))",
                    luaL_typename(L, 1));
    return t->data;
}

static int load_touchstone(lua_State *L)
{
    static const char what[] = "ec.load_touchstone";
    size_t size = 0;
    const char *text = load(L, what, &size);
    ec_lua_touchstone *t = lua_newuserdatauv(L, sizeof *t, 0);

    *t = (ec_lua_touchstone){NULL, 0};
    luaL_setmetatable(L, EC_LUA_TOUCHSTONE);
    charge(L, what, BYTES_PER_BYTE * size, &t->bytes);
    if (ec_touchstone_parse(lua_tostring(L, 1), text, size, &t->data) != EC_OK)
        ec_lua_fail_core(L, what);
    size_t ports = (size_t)t->data->n_ports;
    charge(L, what, (size_t)t->data->n_frequencies * ports * ports * sizeof(ec_c128), &t->bytes);
    return 1;
}

static int touchstone_gc(lua_State *L)
{
    ec_lua_touchstone *t = lua_touserdata(L, 1);
    charge(L, "", 0, &t->bytes);
    ec_touchstone_destroy(&t->data);
    return 0;
}

/* matrix:s(i, j): real and imaginary parts over the frequencies. */
static int touchstone_s(lua_State *L)
{
    const ec_touchstone *d = check_touchstone(L);
    size_t port[2];

    for (int i = 0; i < 2; i++) {
        lua_Number v = lua_tonumber(L, i + 2);
        if (lua_type(L, i + 2) != LUA_TNUMBER || !(v >= 1 && v <= d->n_ports) || v != floor(v))
            ec_lua_fail(L, "matrix:s(i, j): %s must be a port, 1 to %d, got %s", i ? "j" : "i",
                        (int)d->n_ports, luaL_tolstring(L, i + 2, NULL));
        port[i] = (size_t)v - 1;
    }
    double *re = ec_lua_values_new(L, d->n_frequencies);
    double *im = ec_lua_values_new(L, d->n_frequencies);
    for (int32_t f = 0; f < d->n_frequencies; f++) {
        size_t n = (size_t)d->n_ports;
        ec_c128 s = d->s[((size_t)f * n + port[0]) * n + port[1]];
        re[f] = s.re;
        im[f] = s.im;
    }
    return 2;
}

static int touchstone_index(lua_State *L)
{
    static const char *const names[] = {"n_ports", "frequency", "reference", "s"};
    const ec_touchstone *d = check_touchstone(L);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";

    if (strcmp(name, "n_ports") == 0)
        lua_pushinteger(L, d->n_ports);
    else if (strcmp(name, "frequency") == 0)
        ec_lua_values_copy(L, d->frequency, d->n_frequencies);
    else if (strcmp(name, "reference") == 0)
        ec_lua_values_copy(L, d->reference, d->n_ports);
    else if (strcmp(name, "s") == 0)
        lua_pushcfunction(L, touchstone_s);
    else {
        const char *near = ec_lua_nearest(name, names, (int)(sizeof names / sizeof *names));
        ec_lua_fail(L, "a scattering matrix has no '%s'%s%s%s", luaL_tolstring(L, 2, NULL),
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    return 1;
}

/* ---- module ---------------------------------------------------------------------------------- */

static void new_type(lua_State *L, const char *name, lua_CFunction index, lua_CFunction gc)
{
    luaL_newmetatable(L, name);
    lua_pushcfunction(L, index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, gc);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void ec_lua_patterns_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"load_pattern", load_pattern}, {"load_touchstone", load_touchstone}, {NULL, NULL}};
    new_type(L, EC_LUA_FAR_FIELD, far_field_index, far_field_gc);
    new_type(L, EC_LUA_TOUCHSTONE, touchstone_index, touchstone_gc);
    luaL_setfuncs(L, functions, 0);
}
