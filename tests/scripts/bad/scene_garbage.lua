-- expect: scene_garbage.lua:4: ec.scene: key 'file': '
-- expect: scene_garbage.obj' holds no triangle
local ec = require "eciton"
ec.scene{ file = "scene_garbage.obj", material = "pec" }
