-- expect: geometry_spacing.lua:3: ec.geometry.triangle: key 'spacing': -0.5 is not allowed, it must be above 0
local ec = require "eciton"
local g = ec.geometry.triangle{ count_x = 4, count_y = 4, spacing = -0.5 }
