-- expect: normals_count.lua:3: ec.array: key 'normals': list 2 has 3 numbers, the array has 2 elements
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", normals = {{0, 0}, {0, 0, 0}, {1, 1}}, u = ec.range(-1, 1, 101) }
