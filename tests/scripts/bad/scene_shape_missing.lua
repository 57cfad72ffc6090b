-- expect: scene_shape_missing.lua:3: ec.cone: key 'length' is missing (from its base to its apex)
local ec = require "eciton"
ec.cone{ radius = 1 }
