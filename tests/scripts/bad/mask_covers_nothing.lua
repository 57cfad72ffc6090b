-- expect: mask_covers_nothing.lua:4: array:excess_db:
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(0, 0.5, 101) }
local e = array:excess_db{ mask = { { 0.8, 0.9, max = -20 } } }
