-- expect: mask_line.lua:4: array:excess_db: key 'mask': line 1: no limit: give max or min
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(0, 0.5, 101) }
local e = array:excess_db{ mask = { { 0.2, 0.4 } } }
