-- Every design fails.
local ec = require "eciton"
local job = ec.job{ name = "failed" }
local x = job:real{ name = "x", count = 3, min = 0, max = 1 }
job:minimize("f", ec.log(-1 - ec.sum(x ^ 2)))
job:solve{ evaluations = 200, population = 20 }
