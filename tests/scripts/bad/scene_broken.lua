-- expect: scene_broken.lua:3: ec.scene: key 'file': '
-- expect: scene_broken.ply' is not understood
local ec = require "eciton"
ec.scene{ file = "scene_broken.ply" }
