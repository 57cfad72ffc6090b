-- expect: look_degrees.lua:4: array:sll_db: key 'look_u': 30 is not allowed, it must be at least -1 and at most 1; u and v are sines of angles, not degrees
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(-1, 1, 101) }
ec.value(array:sll_db{ look_u = 30 })
