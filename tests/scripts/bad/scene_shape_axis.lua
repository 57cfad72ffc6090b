-- expect: scene_shape_axis.lua:3: ec.scene: plate 'plate': the length of its axis is 0; it must be above 0
local ec = require "eciton"
ec.scene{ ec.plate{ size = {1, 1}, normal = {0, 0, 0} } }
