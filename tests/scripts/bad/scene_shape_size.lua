-- expect: scene_shape_size.lua:3: ec.plate: key 'size': wants 2 numbers, got 3
local ec = require "eciton"
ec.plate{ size = {1, 1, 1} }
