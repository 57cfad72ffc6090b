-- No design of this job has a cost.
local ec = require "eciton"
local job = ec.job{ name = "all_failed" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", ec.sqrt(-1 - x))
job:solve{ generations = 4 }
