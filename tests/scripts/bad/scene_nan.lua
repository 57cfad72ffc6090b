-- expect: scene_nan.lua:4: ec.scene: key 'file': '
-- expect: scene_nan.ply': vertex 2 is no finite number
local ec = require "eciton"
ec.scene{ file = "scene_nan.ply", material = "pec" }
