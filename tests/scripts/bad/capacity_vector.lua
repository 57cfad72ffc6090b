-- expect: capacity_vector.lua:5: ec.capacity: H has rank 1: at least 2 is needed
local ec = require "eciton"

local h = ec.constant{ 1, 2, 3 }
print(ec.capacity(h, { snr_db = 20 }))
