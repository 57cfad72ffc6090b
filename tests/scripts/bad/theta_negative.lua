-- expect: theta_negative.lua:3: ec.array: theta_deg runs from -90 to 90, allowed is 0 to 180
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, theta_deg = ec.range(-90, 90, 91), phi_deg = ec.range(0, 180, 91) }
