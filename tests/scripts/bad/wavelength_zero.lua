-- expect: wavelength_zero.lua:3: ec.array: key 'wavelength': it can be 0, it must be above 0
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 0, u = ec.range(-1, 1, 101) }
