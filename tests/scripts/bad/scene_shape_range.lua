-- expect: scene_shape_range.lua:3: ec.cylinder: key 'radius': 0 is not allowed, it must be above 0
local ec = require "eciton"
ec.cylinder{ radius = 0, length = 2 }
