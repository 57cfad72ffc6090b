-- expect: zero_count.lua:4: job:spaced: key 'count': 0 is not allowed, it must be at least 2
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:spaced{ name = "x", count = 0, aperture = 5 }
