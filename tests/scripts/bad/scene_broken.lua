-- expect: scene_broken.lua:4: ec.scene: key 'file': '
-- expect: scene_broken.ply' is not understood: an element's name or number
local ec = require "eciton"
ec.scene{ file = "scene_broken.ply" }
