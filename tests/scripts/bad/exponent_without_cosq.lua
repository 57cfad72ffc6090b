-- expect: exponent_without_cosq.lua:3: ec.array: key 'q': 2, but only element = 'cosq' has an exponent
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, q = 2, u = ec.range(-1, 1, 101) }
