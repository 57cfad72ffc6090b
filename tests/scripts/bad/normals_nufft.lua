-- expect: array: method 'nufft' sums elements that are all alike; elements with patterns or normals of their own need method 'direct' or 'auto'
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", method = "nufft", normals = {{0, 0}, {0, 0}, {1, 1}}, u = ec.range(-1, 1, 101) }
