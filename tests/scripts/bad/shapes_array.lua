-- expect: shapes_array.lua:3: ec.array: key 'amplitude': 3 values, but x has 2
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, amplitude = {1, 1, 1}, wavelength = 1, u = ec.range(-1, 1, 101) }
