-- expect: normals_two_lists.lua:3: ec.array: key 'normals': wants three lists {nx, ny, nz}
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", normals = {{0, 0}, {1, 1}}, u = ec.range(-1, 1, 101) }
