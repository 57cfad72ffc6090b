-- expect: scene_index.lua:4: ec.scene: key 'file': '
-- expect: scene_index.ply' is not understood: a face has a vertex 7 of 4
local ec = require "eciton"
ec.scene{ file = "scene_index.ply", material = "pec" }
