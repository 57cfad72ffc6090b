-- expect: parts_of_variables.lua:5: ec.array: parts needs x, y, z and a wavelength of finite ranges, in wavelengths
local ec = require "eciton"
local job = ec.job{ name = "parts" }
local z = 1 / job:real{ name = "z", count = 4, min = -1, max = 1 }
ec.array{ x = {0, 1, 2, 3}, y = 0, z = z, wavelength = 1, u = ec.range(-1, 1, 9), v = ec.range(-1, 1, 9), parts = 2 }
