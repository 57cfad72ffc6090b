-- expect: scene_no_triangle.lua:3: ec.scene: key 'file': '
local ec = require "eciton"
ec.scene{ file = "scene_line.obj", material = "pec" }
