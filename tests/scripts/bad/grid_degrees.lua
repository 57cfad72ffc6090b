-- expect: grid_degrees.lua:4: ec.array: key 'u'
-- expect: u and v are sines of angles, not degrees
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(-90, 90, 181) }
