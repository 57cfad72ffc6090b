-- expect: count_not_whole.lua:4: job:spaced: key 'count': 24.5 is not a whole number
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:spaced{ name = "x", count = 24.5, aperture = 24 }
