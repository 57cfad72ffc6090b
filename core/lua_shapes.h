/* lua_shapes.h: shapes as Lua sees them: ec.plate{ ... }, ec.box{ ... } and so on. A shape is a record
 * of its keys, checked when it is made; what builds something of shapes (a scene) reads them. Their
 * sizes and places may be expressions, for models whose shapes are varied; whoever needs plain
 * numbers says so.
 */
#ifndef EC_LUA_SHAPES_H
#define EC_LUA_SHAPES_H

#include "evaluators/mimo/scene_build.h"
#include "lua_keys.h"

#define EC_LUA_SHAPE "shape"

/* Figures of materials beyond these are slips of the pen. */
#define EC_LUA_LARGEST_RELATIVE     1e6  /* eps_r, mu_r */
#define EC_LUA_LARGEST_CONDUCTIVITY 1e12 /* S/m, ohm/m */
#define EC_LUA_LARGEST_TANGENT      1e3

/* User value 1 is the table of its keys, lists and expressions as they were when it was made. */
typedef struct ec_lua_shape {
    ec_shape_kind kind;
    const ec_noun *noun;
} ec_lua_shape;

/* A shape's keys. Quantities are stack indices, 0: not given; the others have their defaults. */
typedef struct ec_lua_shape_keys {
    const char *name;
    int material; /* a value: a name, a table of figures, 0 */
    int eps_r, conductivity, loss_tangent;
    int size, at, normal, axis, towards, radius, length, width, angle_deg, rotate_deg;
    int64_t sides, divisions;
    bool inward, caps;
    /* of ec.fdtd alone */
    int mu_r, magnetic_conductivity, poles, ohms, inner_radius;
    double loss_frequency, priority;
    uint64_t given; /* of the noun's keys */
} ec_lua_shape_keys;

/* Which keys mean nothing to one of those that take shapes. */
typedef enum ec_lua_shape_only { EC_LUA_SHAPE_FDTD, EC_LUA_SHAPE_SCENE } ec_lua_shape_only;

/* The value at a stack index, or NULL when there is another one. */
const ec_lua_shape *ec_lua_shape_test(lua_State *L, int index);
/* Reads the shape's keys; what they point to stays on the stack. */
const ec_lua_shape *ec_lua_shape_read(lua_State *L, int index, ec_lua_shape_keys *keys);
/* Raises where one of the keys is given that are for ec.fdtd, or for ec.scene, alone. who: "ec.scene". */
void ec_lua_shape_refuse(lua_State *L, const ec_lua_shape *shape, const ec_lua_shape_keys *keys,
                         ec_lua_shape_only only, const char *who);
/* The same as plain numbers, which is an error where there are design variables. */
void ec_lua_shape_numbers(lua_State *L, const ec_lua_shape *shape, const ec_lua_shape_keys *keys,
                          ec_shape *to);
void ec_lua_shapes_open(lua_State *L);

extern const ec_noun ec_noun_plate, ec_noun_box, ec_noun_wedge, ec_noun_cylinder, ec_noun_sphere,
    ec_noun_cone, ec_noun_ground, ec_noun_canyon;

#endif
