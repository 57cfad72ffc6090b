-- expect: option_range.lua:6: job:solve: key 'CR': 1.5 is not allowed, it must be from 0 to 1
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ method = "rand1bin", CR = 1.5, generations = 5 }
