-- expect: no_budget.lua:6: job:solve:
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{}
