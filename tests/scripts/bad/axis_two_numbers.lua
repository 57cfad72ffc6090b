-- expect: axis_two_numbers.lua:3: ec.array: key 'axis': wants a direction {x, y, z}, got 2 numbers
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "short_dipole", axis = {0, 1}, u = ec.range(-1, 1, 101) }
