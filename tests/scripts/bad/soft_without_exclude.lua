-- expect: soft_without_exclude.lua:4: array:sll_db: soft needs exclude
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5, 1.1}, wavelength = 1, u = ec.range(-1, 1, 101) }
local e = array:sll_db{ look_u = 0, soft = 1 }
