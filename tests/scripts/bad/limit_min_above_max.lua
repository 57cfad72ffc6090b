-- expect: limit_min_above_max.lua:5: job:subject_to: 'sum': key 'min': 2 lies above max, 1
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 2, min = 0, max = 1 }
job:subject_to("sum", ec.sum(x), { min = 2, max = 1 })
