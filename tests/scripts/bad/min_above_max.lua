-- expect: min_above_max.lua:4: job:real: key 'min': 3 lies above max, 1
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 3, max = 1 }
