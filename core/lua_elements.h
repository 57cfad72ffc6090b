/* lua_elements.h: the keys of ec.array and ec.optimal that say what the elements of an array are: one
 * list of rows for both tables, and what the values mean for the core.
 */
#ifndef EC_LUA_ELEMENTS_H
#define EC_LUA_ELEMENTS_H

#include "evaluators/array_pattern/array_pattern.h"
#include "lua_keys.h"

typedef struct ec_lua_element_keys {
    int element, polarization;
    double q, copolar;
    ec_lua_list axis, normal, rotation;
    int normals, coupling;
} ec_lua_element_keys;

#define EC_LUA_ELEMENT_ROW(owner, member, key, kind, flags, initial, min, max, unit, words, help,  \
                           field)                                                                  \
    {                                                                                              \
        key, kind, flags, initial, min, max, unit, words, help, offsetof(owner, member.field)      \
    }

/* Rows of a key table whose struct `o` has an ec_lua_element_keys `m`. */
#define EC_LUA_ELEMENT_ROWS(o, m)                                                                  \
    EC_LUA_ELEMENT_ROW(o, m, "element", EC_KEY_ANY, 0, 0, 0, 0, NULL, NULL,                        \
                       "isotropic (default), hemispheric, cosq (field cos^q of the angle from "    \
                       "the normal, zero behind), short_dipole, halfwave_dipole, a pattern of "    \
                       "ec.load_pattern, or a list with such a pattern for each element",          \
                       element),                                                                   \
        EC_LUA_ELEMENT_ROW(o, m, "q", EC_KEY_NUMBER, 0, 1, 0, 1000, NULL, NULL,                    \
                           "exponent of element = 'cosq'", q),                                     \
        EC_LUA_ELEMENT_ROW(                                                                        \
            o, m, "axis", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, NULL, NULL,                    \
            "direction {x, y, z} of dipoles in the element's axes (default {1, 0, 0})", axis),     \
        EC_LUA_ELEMENT_ROW(o, m, "normal", EC_KEY_LIST, 0, NAN, -INFINITY, INFINITY, NULL, NULL,   \
                           "direction {x, y, z} that the element's own z points in (default {0, "  \
                           "0, 1}); its x stays as near to the array's x as it can",               \
                           normal),                                                                \
        EC_LUA_ELEMENT_ROW(o, m, "normals", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,                  \
                           "the normal of each element: {nx, ny, nz}, three lists of numbers",     \
                           normals),                                                               \
        EC_LUA_ELEMENT_ROW(o, m, "rotation_deg", EC_KEY_LIST, 0, NAN, -360, 360, "deg", NULL,      \
                           "turns the element about its normal; a list: each element", rotation),  \
        EC_LUA_ELEMENT_ROW(o, m, "polarization", EC_KEY_WORD, 0, 0, 0, 0, NULL,                    \
                           "total|co|cross|theta|phi",                                             \
                           "the part of the field that pattern, metrics and weights read; co and " \
                           "cross by Ludwig's third definition",                                   \
                           polarization),                                                          \
        EC_LUA_ELEMENT_ROW(o, m, "copolar_deg", EC_KEY_NUMBER, 0, 0, -360, 360, "deg", NULL,       \
                           "the co-polar direction at broadside, from x towards y", copolar),      \
        EC_LUA_ELEMENT_ROW(o, m, "coupling", EC_KEY_ANY, 0, NAN, 0, 0, NULL, NULL,                 \
                           "a matrix S of ec.load_touchstone with a port for each element: "       \
                           "amplitude and phase (with the steering) are waves a incident on the "  \
                           "ports, elements radiate their currents, a - S a",                      \
                           coupling)

/* Brings the elements into the configuration, whose number of elements is set; its lists are owned by
 * the stack. Returns what the core keeps of them in bytes. */
size_t ec_lua_elements_choose(lua_State *L, const ec_noun *noun, uint64_t given,
                              const ec_lua_element_keys *k, ec_array_config *c);
/* The matrix of the coupling, or NULL. */
const ec_touchstone *ec_lua_elements_coupling(lua_State *L, const ec_noun *noun,
                                              const ec_lua_element_keys *k, int32_t elements);

/* Pushes a table of those keys of the table at index that say what the elements are. */
void ec_lua_elements_keep(lua_State *L, int index);
/* Pushes a copy of the table at index with the kept keys that it lacks. An error when it has one that
 * differs (polarization and copolar_deg, which only choose what is read, may). */
void ec_lua_elements_join(lua_State *L, const ec_noun *noun, int index, int kept);

#endif
