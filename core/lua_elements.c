/* lua_elements.c: what the elements of an array are, from the keys of ec.array and ec.optimal. */
#include "lua_elements.h"

#include <math.h>

#include "lua_array.h"
#include "lua_patterns.h"

static const char *const element_words = "isotropic|hemispheric|cosq|short_dipole|halfwave_dipole";

static void read_vector(lua_State *L, const ec_noun *noun, const char *key, const ec_lua_list *list,
                        double to[3])
{
    if (!list->v)
        return;
    if (list->n != 3)
        ec_lua_fail(L, "%s: key '%s': wants a direction {x, y, z}, got %d numbers", noun->name, key,
                    (int)list->n);
    for (int i = 0; i < 3; i++)
        to[i] = list->v[i];
    if (!ec_lua_is_direction(to))
        ec_lua_fail(L, "%s: key '%s': a direction of zero length", noun->name, key);
}

/* A key that the array's element has no use for. */
static void refuse_key(lua_State *L, const ec_noun *noun, uint64_t given, const char *key,
                       const char *why)
{
    if (ec_lua_keys_given(noun, given, key))
        ec_lua_fail(L, "%s: key '%s': %s", noun->name, key, why);
}

/* Axes of every element from lists of normals and rotations. */
static void choose_frames(lua_State *L, const ec_noun *noun, const ec_lua_element_keys *k,
                          const double normal[3], ec_array_config *c)
{
    const char *what = lua_pushfstring(L, "%s: key 'normals'", noun->name);
    ec_lua_list part[3];
    bool turned = k->rotation.v && !k->rotation.scalar;

    luaL_checkstack(L, 12, "too many lists");
    if (k->normals) {
        if (!lua_istable(L, k->normals) || lua_rawlen(L, k->normals) != 3)
            ec_lua_fail(L, "%s: wants three lists {nx, ny, nz}", what);
        for (int i = 0; i < 3; i++) {
            lua_rawgeti(L, k->normals, i + 1);
            ec_lua_list_get(L, -1, what, &part[i]);
            if (part[i].n != c->elements)
                ec_lua_fail(L, "%s: list %d has %d numbers, the array has %d elements", what, i + 1,
                            (int)part[i].n, (int)c->elements);
        }
    }
    if (turned && k->rotation.n != c->elements)
        ec_lua_fail(L, "%s: key 'rotation_deg': %d numbers, the array has %d elements", noun->name,
                    (int)k->rotation.n, (int)c->elements);
    ec_element_frame *frames = lua_newuserdatauv(L, (size_t)c->elements * sizeof *frames, 0);
    for (int32_t m = 0; m < c->elements; m++) {
        double n[3] = {normal[0], normal[1], normal[2]};
        double angle = k->rotation.v ? k->rotation.v[turned ? m : 0] : 0;
        for (int i = 0; i < 3 && k->normals; i++)
            n[i] = part[i].v[m];
        if (!ec_lua_is_direction(n))
            ec_lua_fail(L, "%s: the normal of element %d has zero length", what, (int)m + 1);
        if (ec_element_frame_of(n, angle * EC_LUA_RADIANS, &frames[m]) != EC_OK)
            ec_lua_fail_core(L, noun->name);
    }
    c->frames = frames;
}

/* What the core keeps of a pattern. */
static size_t table_bytes(const ec_lua_far_field *p)
{
    return ec_element_table_length(&p->element) * sizeof(ec_c128);
}

/* A pattern of ec.load_pattern for each element. Returns what the core keeps of them. */
static size_t choose_each(lua_State *L, const ec_noun *noun, const ec_lua_element_keys *k,
                          ec_array_config *c)
{
    const char *what = lua_pushfstring(L, "%s: key 'element'", noun->name);
    int32_t n = ec_lua_list_length(L, k->element, what);
    size_t bytes = (size_t)n * sizeof *c->each;

    if (n != c->elements)
        ec_lua_fail(L, "%s: %d patterns, the array has %d elements", what, (int)n,
                    (int)c->elements);
    ec_element_pattern *each = lua_newuserdatauv(L, (size_t)n * sizeof *each, 0);
    for (int32_t m = 0; m < n; m++) {
        lua_rawgeti(L, k->element, m + 1);
        const ec_lua_far_field *loaded = ec_lua_far_field_test(L, -1);
        if (!loaded)
            ec_lua_fail(L, "%s: entry %d is a %s, each has to be a pattern of ec.load_pattern",
                        what, (int)m + 1, luaL_typename(L, -1));
        each[m] = loaded->element;
        int32_t first = 0;
        while (each[first].node_f64 != each[m].node_f64)
            first++;
        if (first == m)
            bytes += table_bytes(loaded);
        lua_pop(L, 1);
    }
    c->each = each;
    return bytes;
}

/* What an element is: its kind; a list or a loaded pattern is a table. */
static ec_element_kind element_kind(lua_State *L, const ec_noun *noun, const ec_lua_element_keys *k)
{
    const char *what = lua_pushfstring(L, "%s: key 'element'", noun->name);

    if (!k->element)
        return EC_ELEMENT_KIND_ISOTROPIC;
    if (lua_istable(L, k->element) || ec_lua_far_field_test(L, k->element))
        return EC_ELEMENT_KIND_TABLE;
    if (lua_type(L, k->element) == LUA_TSTRING)
        return (ec_element_kind)ec_lua_word_get(L, k->element, what, element_words);
    ec_lua_fail(
        L,
        "%s: wants one of the words %s, a pattern of ec.load_pattern or a list of them, got "
        "a %s",
        what, element_words, luaL_typename(L, k->element));
}

/* Keys that turn elements leave isotropic ones as they are: so `element` alone can be changed. */
static void warn_key(lua_State *L, const ec_noun *noun, uint64_t given, const char *key)
{
    if (ec_lua_keys_given(noun, given, key))
        ec_lua_warn_idle(L, noun->name, key, "an isotropic element looks the same from everywhere");
}

static void check_element_keys(lua_State *L, const ec_noun *noun, const ec_lua_element_keys *k,
                               uint64_t given, ec_element_kind kind)
{
    static const char *const turning[] = {"normal", "normals", "rotation_deg"};

    if (kind != EC_ELEMENT_KIND_COSQ && ec_lua_keys_given(noun, given, "q"))
        ec_lua_fail(L, "%s: key 'q': %.14g, but only element = 'cosq' has an exponent", noun->name,
                    k->q);
    if (kind != EC_ELEMENT_KIND_SHORT_DIPOLE && kind != EC_ELEMENT_KIND_HALF_WAVE)
        refuse_key(L, noun, given, "axis", "only dipoles have an axis; turn others by normal");
    if (k->normal.v && k->normals)
        ec_lua_fail(L, "%s: give normal, that of all elements, or normals, not both", noun->name);
    if (kind != EC_ELEMENT_KIND_ISOTROPIC)
        return;
    for (int i = 0; i < 3; i++)
        warn_key(L, noun, given, turning[i]);
    if (k->polarization > EC_POLARIZATION_CO) /* co: all that it has */
        refuse_key(L, noun, given, "polarization",
                   "an isotropic element has no vector field, so only total and co are allowed; "
                   "give element = 'cosq', a dipole or a pattern of ec.load_pattern");
}

size_t ec_lua_elements_choose(lua_State *L, const ec_noun *noun, uint64_t given,
                              const ec_lua_element_keys *k, ec_array_config *c)
{
    ec_element_kind kind = element_kind(L, noun, k);
    size_t bytes = 0;
    double axis[3] = {1, 0, 0}, normal[3] = {0, 0, 1}, angle = 0;

    check_element_keys(L, noun, k, given, kind);
    read_vector(L, noun, "axis", &k->axis, axis);
    read_vector(L, noun, "normal", &k->normal, normal);
    const ec_lua_far_field *loaded = k->element ? ec_lua_far_field_test(L, k->element) : NULL;
    if (loaded) {
        c->element = loaded->element;
        bytes += table_bytes(loaded);
    } else if (kind == EC_ELEMENT_KIND_TABLE) {
        bytes += choose_each(L, noun, k, c);
    } else if (ec_element_pattern_init(kind, k->q, axis, &c->element) != EC_OK) {
        ec_lua_fail_core(L, noun->name);
    }
    c->polarization = (ec_array_polarization)k->polarization;
    c->copolar = k->copolar * EC_LUA_RADIANS;
    if (kind == EC_ELEMENT_KIND_ISOTROPIC) {
        c->polarization = EC_POLARIZATION_TOTAL;
        return bytes;
    }
    if (k->normals || (k->rotation.v && !k->rotation.scalar)) {
        choose_frames(L, noun, k, normal, c);
        bytes += (size_t)c->elements * sizeof *c->frames;
    }
    if (k->rotation.v && k->rotation.scalar)
        angle = k->rotation.v[0] * EC_LUA_RADIANS;
    if (ec_element_frame_of(normal, angle, &c->frame) != EC_OK)
        ec_lua_fail_core(L, noun->name);
    return bytes;
}

const ec_touchstone *ec_lua_elements_coupling(lua_State *L, const ec_noun *noun,
                                              const ec_lua_element_keys *k, int32_t elements)
{
    if (!k->coupling)
        return NULL;
    const ec_lua_touchstone *matrix = ec_lua_touchstone_test(L, k->coupling);
    if (!matrix)
        ec_lua_fail(L, "%s: key 'coupling': wants a matrix of ec.load_touchstone, got a %s",
                    noun->name, luaL_typename(L, k->coupling));
    if (matrix->data->n_ports != elements)
        ec_lua_fail(L, "%s: key 'coupling': the matrix has %d ports, the array has %d elements",
                    noun->name, (int)matrix->data->n_ports, (int)elements);
    return matrix->data;
}

/* ---- from weights to their array ------------------------------------------------------------- */

typedef struct alone {
    ec_lua_element_keys keys;
} alone;

static const ec_key element_rows[] = {EC_LUA_ELEMENT_ROWS(alone, keys)};
enum { ROWS = sizeof element_rows / sizeof *element_rows };

void ec_lua_elements_keep(lua_State *L, int index)
{
    lua_createtable(L, 0, ROWS);
    for (int i = 0; i < ROWS; i++) {
        lua_pushstring(L, element_rows[i].key);
        lua_pushvalue(L, -1);
        lua_rawget(L, index);
        lua_rawset(L, -3);
    }
}

/* Equal, or lists of equal values. */
static bool is_same(lua_State *L, int a, int b, int depth)
{
    if (lua_rawequal(L, a, b))
        return true;
    if (depth == 0 || !lua_istable(L, a) || !lua_istable(L, b) ||
        lua_rawlen(L, a) != lua_rawlen(L, b))
        return false;
    bool same = true;
    lua_Integer n = (lua_Integer)lua_rawlen(L, a);
    luaL_checkstack(L, 4, "too many lists");
    for (lua_Integer i = 1; i <= n && same; i++) {
        lua_rawgeti(L, a, i);
        lua_rawgeti(L, b, i);
        same = is_same(L, lua_gettop(L) - 1, lua_gettop(L), depth - 1);
        lua_pop(L, 2);
    }
    return same;
}

void ec_lua_elements_join(lua_State *L, const ec_noun *noun, int index, int kept)
{
    lua_newtable(L);
    int to = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, index);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
    for (int i = 0; i < ROWS; i++) {
        const char *key = element_rows[i].key;
        bool reads = element_rows[i].offset == offsetof(alone, keys.polarization) ||
                     element_rows[i].offset == offsetof(alone, keys.copolar);
        lua_pushstring(L, key);
        lua_rawget(L, to);
        lua_pushstring(L, key);
        lua_rawget(L, kept);
        if (lua_isnil(L, -2)) {
            lua_pushstring(L, key);
            lua_insert(L, -2);
            lua_rawset(L, to);
            lua_settop(L, to);
            continue;
        }
        if (!reads && lua_isnil(L, -1))
            ec_lua_fail(L,
                        "%s: key '%s': the weights were made without it; give it to ec.optimal, "
                        "from where the array takes it",
                        noun->name, key);
        if (!reads && !is_same(L, lua_gettop(L) - 1, lua_gettop(L), 2))
            ec_lua_fail(L,
                        "%s: key '%s' is not that of the weights; leave it out, as the array takes "
                        "it from them",
                        noun->name, key);
        lua_settop(L, to);
    }
}
