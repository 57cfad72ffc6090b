-- expect: sweep_no_column.lua:8: sweep.recorded has no 'z'; it has y
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local w = job:real{ name = "width", min = 1, max = 2 }
local n = job:integer{ name = "n", min = 1, max = 3 }
local x = job:spaced{ name = "x", count = 4, aperture = 4, min_gap = 1 }
job:record("y", w * n + x[2])
local _ = job:sweep{ points = { width = 3 } }.recorded.z
