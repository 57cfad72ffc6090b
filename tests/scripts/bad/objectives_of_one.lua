-- expect: objectives_of_one.lua:7: job:solve: job 'two' has 2 objectives, method 'lshade' takes one; for several use method = 'nsga2'
local ec = require "eciton"
local job = ec.job{ name = "two" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:maximize("g", x)
job:solve{ evaluations = 100 }
