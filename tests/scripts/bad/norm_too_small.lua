-- expect: norm_too_small.lua:4: array:excess_db: key 'p'
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5, 1.1}, wavelength = 1, u = ec.range(-1, 1, 101) }
local e = array:excess_db{ mask = { { 0.5, 1, max = -20 } }, p = 1 }
