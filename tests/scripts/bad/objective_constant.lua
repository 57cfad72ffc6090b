-- expect: objective_constant.lua:5: job:minimize:
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", 3)
