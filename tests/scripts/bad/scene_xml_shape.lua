-- expect: scene_shapes.xml', line 2: only shapes of type ply and obj are read, not 'sphere'
local ec = require "eciton"
ec.scene{ file = "scene_shapes.xml" }
