-- expect: element_normal_zero.lua:3: ec.array: key 'normal': a direction of zero length
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", normal = {0, 0, 0}, u = ec.range(-1, 1, 101) }
