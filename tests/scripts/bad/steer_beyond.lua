-- expect: steer_beyond.lua:3: ec.array: steer_u is 1.5, allowed is -1 to 1; it is a sine, not an angle in degrees
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, steer_u = 1.5, u = ec.range(-1, 1, 101) }
