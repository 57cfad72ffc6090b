/* lua_fdtd_parts.h: what a model of ec.fdtd is made of, beside shapes: ec.wire, ec.polygon, ec.port,
 * ec.lumped, ec.source, ec.probe, and poles of materials. Each is a record of its keys, checked when it is made; ec.fdtd
 * reads them, and shapes, into the structs of the evaluator.
 */
#ifndef EC_LUA_FDTD_PARTS_H
#define EC_LUA_FDTD_PARTS_H

#include "evaluators/fdtd/fdtd.h"
#include "lua_keys.h"

typedef enum ec_lua_fdtd_kind {
    EC_LUA_FDTD_OTHER, /* not for a model */
    EC_LUA_FDTD_OBJECT,
    EC_LUA_FDTD_PORT,
    EC_LUA_FDTD_POLE
} ec_lua_fdtd_kind;

/* What the value at a stack index is to a model. */
ec_lua_fdtd_kind ec_lua_fdtd_kind_of(lua_State *L, int index);

/* Materials of a model in the making. Memory that the structs point to is Lua's, held by `keep`. */
typedef struct ec_lua_fdtd_materials {
    int names;             /* stack index of the table of names, 0: none */
    int used;              /* of a table: names of it that objects are made of */
    int keep;              /* of a table */
    double loss_frequency; /* where it is not given, Hz */
    int32_t n;
    ec_fdtd_material *all; /* has room for one more of each object */
    bool *named;           /* of each: it is one of the table of names */
} ec_lua_fdtd_materials;

/* Reads the object at index (of kind EC_LUA_FDTD_OBJECT), and adds its material. */
void ec_lua_fdtd_object(lua_State *L, int index, ec_lua_fdtd_materials *materials,
                        ec_fdtd_object *to);
/* Reads the port, source, probe or lumped element at index. */
void ec_lua_fdtd_port(lua_State *L, int index, ec_fdtd_port *to);
/* Raises where a name of the table of materials is used by no object. */
void ec_lua_fdtd_check_used(lua_State *L, const ec_lua_fdtd_materials *materials);

/* The n numbers of the value at a stack index; constants stay constants. what: "ec.box: key 'at'". */
void ec_lua_fdtd_numbers(lua_State *L, int index, const char *what, int32_t n, ec_fdtd_number *to);
/* Whether two numbers are the same in every candidate, as far as is known. */
bool ec_lua_fdtd_same(ec_fdtd_number a, ec_fdtd_number b);
void ec_lua_fdtd_parts_open(lua_State *L);

extern const ec_noun ec_noun_wire, ec_noun_polygon, ec_noun_port, ec_noun_lumped, ec_noun_source,
    ec_noun_probe, ec_noun_debye, ec_noun_drude, ec_noun_lorentz, ec_noun_fdtd_material;

#endif
