-- expect: theta_beyond.lua:3: ec.array: key 'theta_deg': 181 is not allowed, it must be at least -180 and at most 180
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, theta_deg = ec.range(0, 360, 361) }
