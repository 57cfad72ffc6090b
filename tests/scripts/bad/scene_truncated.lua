-- expect: scene_truncated.lua:4: ec.scene: key 'file': '
-- expect: scene_truncated.ply' is not understood: it ends within its vertices
local ec = require "eciton"
ec.scene{ file = "scene_truncated.ply", material = "pec" }
