-- expect: method 'cmaes' does not evolve group variables; use 'rand1bin'
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
local y = job:real{ name = "y", min = 0, max = 1, group = true }
job:minimize("f", x + y)
job:solve{ method = "cmaes", generations = 5 }
