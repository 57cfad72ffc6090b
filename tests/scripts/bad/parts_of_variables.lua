-- expect: parts_of_variables.lua:5: ec.array: parts needs x, y, z and a wavelength that are numbers, not variables or expressions of them
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 4, min = -1, max = 1 }
ec.array{ x = x, y = 0, z = {0, 1, 2, 3}, wavelength = 1, u = ec.range(-1, 1, 9), v = ec.range(-1, 1, 9), parts = 2 }
