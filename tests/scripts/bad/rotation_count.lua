-- expect: rotation_count.lua:3: ec.array: key 'rotation_deg': 3 numbers, the array has 2 elements
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", rotation_deg = {0, 10, 20}, u = ec.range(-1, 1, 101) }
