-- expect: mask_upside_down.lua:4: array:excess_db: line 2 of the mask allows nothing: max = -30 lies below min = -20
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(-1, 1, 101) }
array:excess_db{ mask = { { -1, -0.5, max = -10 }, { 0.5, 1, max = -30, min = -20 } } }
