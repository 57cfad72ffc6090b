-- expect: no_directions.lua:3: ec.array: no directions: give u = ec.range
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1 }
