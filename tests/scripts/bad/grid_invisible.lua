-- expect: grid_invisible.lua:3: ec.array: no direction of the grid is visible: u runs from 0.8 to 1 and v from 0.7 to 1
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(0.8, 1, 11), v = ec.range(0.7, 1, 11) }
