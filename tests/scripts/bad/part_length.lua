-- expect: part_length.lua:3: ec.array: key 'part' has 2 numbers, the array has 3 elements
local ec = require "eciton"
ec.array{ x = {0, 1, 2}, wavelength = 1, u = ec.range(-1, 1, 9), part = {1, 2} }
