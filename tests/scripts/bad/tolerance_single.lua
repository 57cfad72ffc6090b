-- expect: tolerance_single.lua:3: ec.array: tolerance = 1e-08; precision 'single' reaches 1e-06, and 0.1 is the most allowed
local ec = require "eciton"
ec.array{ x = {0, 1, 2}, wavelength = 1, u = ec.range(-1, 1, 9), method = "nufft", tolerance = 1e-8 }
