-- expect: aperture_too_small.lua:4: job:spaced:
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:spaced{ name = "x", count = 24, aperture = 10, min_gap = 0.5 }
