-- expect: scene_shape_key.lua:3: ec.sphere: unknown key 'length', allowed are name, material, eps_r
local ec = require "eciton"
ec.sphere{ radius = 1, length = 2 }
