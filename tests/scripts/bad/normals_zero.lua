-- expect: normals_zero.lua:3: ec.array: key 'normals': the normal of element 2 has zero length
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", normals = {{0, 0}, {0, 0}, {1, 0}}, u = ec.range(-1, 1, 101) }
