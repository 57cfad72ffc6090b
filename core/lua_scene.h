/* lua_scene.h: scenes as Lua sees them: ec.scene{ ... } of files and shapes, and the surfaces of its
 * objects.
 */
#ifndef EC_LUA_SCENE_H
#define EC_LUA_SCENE_H

#include "evaluators/mimo/scene_build.h"
#include "lua_keys.h"

#define EC_LUA_SCENE         "scene"
#define EC_LUA_SCENE_SURFACE "surface of a scene"

typedef struct ec_lua_scene {
    ec_scene *scene; /* owned; lives as long as the userdata */
    size_t bytes;    /* of it, taken from the script's memory */
    bool said;       /* what it is made of is in the log, or the script has its report */
} ec_lua_scene;

/* The scene at a stack index, or NULL when there is another value. */
const ec_lua_scene *ec_lua_scene_test(lua_State *L, int index);
/* Logs the first line of the report of the scene at an index, unless that was said before. */
void ec_lua_scene_say(lua_State *L, int index);
void ec_lua_scene_open(lua_State *L);

extern const ec_noun ec_noun_scene, ec_noun_material, ec_noun_grid;

#endif
