-- expect: axis_without_dipole.lua:3: ec.array: key 'axis': only dipoles have an axis
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "cosq", axis = {0, 0, 1}, u = ec.range(-1, 1, 101) }
