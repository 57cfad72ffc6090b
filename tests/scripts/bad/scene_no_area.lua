-- expect: scene_no_area.lua:3: ec.scene: the scene has no triangle with an area: all 1 are thinner than
local ec = require "eciton"
ec.scene{ file = "scene_flat.obj", material = "pec" }
