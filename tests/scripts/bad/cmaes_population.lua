-- expect: population = 3 is too small for cmaes; the smallest allowed is 4
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ method = "cmaes", population = 3, generations = 5 }
