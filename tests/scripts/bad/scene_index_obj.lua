-- expect: scene_index_obj.lua:4: ec.scene: key 'file': '
-- expect: scene_index.obj' is not understood: OBJ: vertex index out of range
local ec = require "eciton"
ec.scene{ file = "scene_index.obj", material = "pec" }
